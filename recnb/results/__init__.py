"""The data of an evaluation, and its scores, tables, curves and explanations.

From the data to what is shown, each after the modules that it imports:

    basis                         the words below a number
    evaluation_data               the frames under a convention, users and names
    arguments                     what a call asks for
    values                        `Values` of one model; `Panel` of several
    scoring                       how a metric is computed: convention, data, options
    segment_columns, segments     what `by=` names, and the parts that it makes
    verdicts, numbers             means, differences, tests, and what these conclude
    conclusions, detectable       that in sentences; which difference the users could show
    files                         results as files
    shown, plots, table           the class of every table; how it is shown and drawn
    bins                          bins of values, for reports and the explorer
    means_tables                  tables of means: at cut-offs, in segments, of a curve
    score, gate                   a number, with its users and interval; limits on numbers
    user_lists, user_groups       the list of a user, and whom to look at
    user_cards                    how these are shown
    explanation, worked           the sum behind a number
    single_list, calls            a metric as function of lists, and as method
    own_metric, stored_values     metrics of the caller's, and values stored before
"""

from recnb.results.explanation import Explanation
from recnb.results.score import CatalogueScore, Interval, Score
from recnb.results.table import Table

__all__ = ["CatalogueScore", "Explanation", "Interval", "Score", "Table"]
