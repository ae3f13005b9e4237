"""Frames in: which column is what, whether the rows can be evaluated, and the join that leaves only hits.

1. `load` makes tables of any form, finds the columns of the roles (`columns`), copies them and checks the ids (`validation`): a `Source`.
2. `Source.under(convention)` joins it: ranks or scores and grades are checked, ids are numbered (`encoding`), pairs matched and
   lists ordered (`order`), and hits kept of the users who are averaged: a `Prepared`.
3. What is larger than memory is put into files of whole users (`buckets`); each part is joined as above, and one `Prepared` is
   merged (`parts`). Partitions of Dask and groups of Spark are such parts as well.

pandas, Polars and Arrow end here: what goes on to the metrics is numpy columns.
"""

from recnb.data.columns import NAMES, Frame, table_of
from recnb.data.load import read, read_lists
from recnb.data.parts import Facts, Layout
from recnb.data.source import Counts, Prepared, Source

__all__ = [
    "NAMES",
    "Counts",
    "Facts",
    "Frame",
    "Layout",
    "Prepared",
    "Source",
    "read",
    "read_lists",
    "table_of",
]
