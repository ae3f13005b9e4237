"""What the numbers of a report are made with: versions, time, convention, options and counts."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from recnb import version
from recnb.conventions import Convention
from recnb.errors import OptionError, quoted
from recnb.results.evaluation_data import EvaluationData, Models


def made_with(models: Models) -> dict[str, Any]:
    """Return the versions, the time, every decision about the data, and its counts."""
    data = next(iter(models.values()))
    convention = asdict(data.convention)
    del convention["metric"]
    return {
        "versions": {
            "recnb": version.__version__,
            "python": platform.python_version(),
            "pandas": pd.__version__,
            "polars": pl.__version__,
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
        },
        "time": _time(),
        "library": data.library,
        "convention": convention,
        "options": _options(data, convention),
        "counts": _counts(models),
    }


def _time() -> str:
    """Return the time in UTC.

    SOURCE_DATE_EPOCH, if it is set, gives the time, so that a file can be made again
    byte for byte.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if not given:
        return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    try:
        time = datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"SOURCE_DATE_EPOCH={quoted(given)} in the environment is no time: give "
            "whole seconds since 1970, or unset it."
        ) from None
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _options(data: EvaluationData, convention: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that were named, and the decisions that are not the usual ones.

    Where a library is followed, its decisions are the usual ones.
    """
    call = data.side_data.call
    decisions = data.overrides
    if data.library is None:
        usual = asdict(Convention())
        decisions = {
            name: value for name, value in convention.items() if value != usual[name]
        }
    return {**call.columns, **decisions, **call.weights}


def _counts(models: Models) -> dict[str, list[Any]]:
    """Count who and what each model is evaluated on, by column.

    Of several models whose rows are elsewhere they would be counted again: none.
    """
    is_here = all(model.source.in_memory for model in models.values())
    if len(models) > 1 and not is_here:
        return {}
    counts: dict[str, list[Any]] = {"model": [*models]}
    for model in models.values():
        for name, n in asdict(model.joined.counts).items():
            counts.setdefault(name, []).append(n)
    return counts
