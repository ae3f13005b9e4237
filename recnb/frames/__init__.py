"""Frames in: which column is what, whether the rows can be evaluated, and the join that leaves only hits.

pandas, Polars and Arrow end here: what goes on to the metrics is numpy columns.
"""

from recnb.frames.parts import Facts, Layout, part_of, rows_of
from recnb.frames.prepare import Counts, Prepared, Source
from recnb.frames.read import NAMES, Frame, table_of
from recnb.frames.sources import prepare, read, read_lists

__all__ = [
    "NAMES",
    "Counts",
    "Facts",
    "Frame",
    "Layout",
    "Prepared",
    "Source",
    "part_of",
    "prepare",
    "read",
    "read_lists",
    "rows_of",
    "table_of",
]
