"""Frames in: which column is what, whether the rows can be evaluated, and the join that leaves only hits.

pandas, Polars and Arrow end here: what goes on to the metrics is numpy columns.
"""

from recnb.frames.prepare import Counts, NoUsersError, Prepared, Source, prepare, read, read_lists
from recnb.frames.read import NAMES, Frame, table_of

__all__ = [
    "NAMES",
    "Counts",
    "Frame",
    "NoUsersError",
    "Prepared",
    "Source",
    "prepare",
    "read",
    "read_lists",
    "table_of",
]
