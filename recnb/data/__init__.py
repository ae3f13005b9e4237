"""Frames in: which column is what, whether the rows can be evaluated, and the join that leaves only hits.

pandas, Polars and Arrow end here: what goes on to the metrics is numpy columns.
"""

from recnb.data.columns import NAMES, Frame, table_of
from recnb.data.counts import Counts
from recnb.data.join import Prepared, Source
from recnb.data.load import prepare, read, read_lists
from recnb.data.partition import Layout, PartSummary, part_of, rows_of

__all__ = [
    "NAMES",
    "Counts",
    "Frame",
    "Layout",
    "PartSummary",
    "Prepared",
    "Source",
    "part_of",
    "prepare",
    "read",
    "read_lists",
    "rows_of",
    "table_of",
]
