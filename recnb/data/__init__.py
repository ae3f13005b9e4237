"""Read frames: find which column is what, check the rows, and join them to hits.

Modules in the order of the road. Where pandas, Polars and Arrow differ ends here:

    names, role_table, ids        words for columns; checked rows; ids as numbers
    columns, tables               columns and tables of any library
    files, lists, forms           files, lists in cells, and other forms as tables
    roles                         which column plays which role
    read                          `tables_of`, and `read_tables`, which makes a `Source`
    splits, weights               lists of a user told apart; propensities, weights of users
    list_order, truth             by what lists are ordered; the truth, graded
    matches, ranking              lists matched with the truth, and put in order
    rows                          the rows behind the hits
    join, expected_ties           hits, and what there was to find
    source, in_memory             `Source.under(convention)`: a `Joined`
    parts, file_parts             parts of users, joined one by one and merged, in files
                                  or, by Dask and Spark, where they are
    side_data                     train, items and users; columns without a role; what was
                                  given, for code that is shown
"""

from recnb.data import forms  # noqa: F401  # which registers its forms of input
from recnb.data.read import read_tables
from recnb.data.roles import Layout
from recnb.data.source import Counts, Joined, Source
from recnb.data.tables import Frame, InputTable

__all__ = [
    "Counts",
    "Frame",
    "InputTable",
    "Joined",
    "Layout",
    "Source",
    "read_tables",
]
