"""Rows of data that tests try: TOML files beside them, and what a row says of a call."""

from __future__ import annotations

import builtins
import collections.abc
import copy
import datetime
import json
import math
import pickle
import pydoc
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest

import recnb
from recnb import errors

#: What a row names beside the names of the file that tries it.
LIBRARIES = {
    "Decimal": Decimal,
    "MappingProxyType": MappingProxyType,
    "collections": collections,
    "copy": copy,
    "ds": pyarrow.dataset,
    "dt": datetime,
    "json": json,
    "math": math,
    "np": np,
    "pd": pd,
    "pickle": pickle,
    "pl": pl,
    "pydoc": pydoc,
    "recnb": recnb,
    "replace": replace,
}


def read_rows(file: str) -> dict[str, Any]:
    """Read the rows of a file by their names; its path is that from `tests`."""
    return tomllib.loads((Path(__file__).parent / file).read_text("utf-8"))


def value_of(code: str, names: Mapping[str, Any]) -> Any:
    """Evaluate the expression of a row."""
    return eval(code, {**LIBRARIES, **names})


def evaluated(rows: Mapping[str, str], names: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate rows, each of which is an expression."""
    return {name: value_of(code, names) for name, code in rows.items()}


def hold_calls(rows: Mapping[str, str], names: dict[str, Any]) -> Callable[[str], None]:
    """Return a test of each call, that it comes to what its row says."""

    @pytest.mark.parametrize("call", rows)
    def hold(call: str) -> None:
        assert value_of(call, names) == value_of(rows[call], names)

    return hold


def hold_refusals(
    rows: Mapping[str, dict[str, str]], names: dict[str, Any]
) -> Callable[[str], None]:
    """Return a test of each call, that it raises the error of its row."""

    @pytest.mark.parametrize("call", rows)
    def hold(call: str) -> None:
        hold_refused(call, rows[call], names)

    return hold


def hold_refused(call: str, row: dict[str, str], names: dict[str, Any]) -> None:
    """Hold that a call raises the error of its row, with its message or words."""
    kind = getattr(errors, row["error"], None) or getattr(builtins, row["error"])
    with pytest.raises(kind) as raised:
        value_of(call, names)
    told = str(raised.value)
    if "message" in row:
        assert told == row["message"]
    else:
        assert re.search(row.get("match") or re.escape(row["words"]), told), told
