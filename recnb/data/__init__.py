"""Frames in: which column is what, checks of the rows, and the join that leaves hits.

`tables_of` makes tables of any form, and `read_tables` checks them: a `Source`.
`Source.under(convention)` joins it: a `Joined`. What is larger than memory is put into
files by parts of users (`file_parts`), which are joined one by one and merged (`parts`),
as partitions of Dask and groups of Spark are. pandas, Polars and Arrow end here: what goes
on to the metrics is numpy columns.
"""

from recnb.data import forms  # noqa: F401  # which registers its forms of input
from recnb.data.names import NAMES
from recnb.data.read import read_tables
from recnb.data.roles import Layout
from recnb.data.source import Counts, Joined, Source
from recnb.data.tables import Frame, InputTable

__all__ = [
    "NAMES",
    "Counts",
    "Frame",
    "InputTable",
    "Joined",
    "Layout",
    "Source",
    "read_tables",
]
