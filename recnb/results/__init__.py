"""The data of an evaluation, and its scores, tables, curves and explanations.

From the data to what is shown:

    evaluation_data               the frames under a convention, users and names
    arguments, calls              what a call asks for; a metric as method and function
    scoring                       how a metric is computed: convention, data, options
    values                        `Values` of one model; `Panel` of several
    basis                         the words below a number
    score                         a number, with its users and its interval
    segment_columns, segments     what `by=` names, and the parts that it makes
    numbers                       means, differences, tests
    verdicts, conclusions, gate   what may be concluded of a difference
    detectable                    which difference the users could show
    table, shown, plots, bins     the class of every table; how it is shown and drawn
    means_tables                  tables of means: at cut-offs, in segments, of a curve
    user_lists, user_groups       the list of a user, and whom to look at
    user_cards                    how these are shown
    worked, explanation           the sum behind a number
    single_list                   a metric of lists that are given without frames
    own_metric, stored_values     metrics of the caller's, and values stored before
    files                         results as files
"""

from recnb.results.explanation import Explanation
from recnb.results.score import CatalogueScore, Interval, Score
from recnb.results.table import Table

__all__ = ["CatalogueScore", "Explanation", "Interval", "Score", "Table"]
