"""The record of numbers, by which anybody can check them later.

It has versions, time, inputs with their fingerprints, convention and options.
"""

from __future__ import annotations

import ast
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from recnb import version
from recnb.conventions import Convention
from recnb.data.files import json_values
from recnb.data.fingerprint import Fingerprint
from recnb.data.sheet import RECS, TRUTH
from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import ElsewhereError, OptionError, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.arguments import Asked
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.measuring import measured
from recnb.results.numbers import MeanRow
from recnb.results.scoring import scoring_of
from recnb.stats import Settings

#: The form of a record, a higher number for another.
SCHEMA = 1

#: Columns of cells that have one text in every library.
PLAIN = (
    cs.string(include_categorical=True)
    | cs.enum()
    | cs.numeric()
    | cs.boolean()
    | cs.date()
    | cs.datetime()
)

#: Digits of a fingerprint that a line has room for, and inputs that it names.
SHORT, MOST_NAMED = 8, 8

#: What the names of inputs begin with, in words.
INPUTS = {
    RECS: N_("recommendations"),
    "model": N_("model"),
    TRUTH: N_("truth"),
    "train": N_("train"),
    "items": N_("items"),
    "users": N_("users"),
    "propensity": N_("propensity"),
    "user_weight": N_("user weights"),
}


def record_of(
    models: Models,
    rows: Iterable[MeanRow],
    measures: Iterable[Measure],
    confidence: float,
    baseline: str | None = None,
) -> dict[str, Any]:
    """Return the record of means, as plain Python that `json` can write.

    `measures` are those of the rows, with the options that were asked for.
    """
    first = next(iter(models.values()))
    record = {
        "schema": SCHEMA,
        "made": time_in_words(),
        "versions": versions(),
        "inputs": _inputs(models),
        "convention": convention_in_force(first),
        "library": first.library,
        "options": _options(first),
        "split": [] if first.splits is None else list(first.splits.columns),
        "cluster": first.side_data.cluster,
        "baseline": baseline,
        "confidence": confidence,
        "numbers": recorded_numbers(first, rows, measures),
    }
    return dict(json_values(record))


def record_of_measures(
    models: Models,
    asked: Sequence[Asked],
    k: Cutoffs,
    settings: Settings,
    baseline: str | None = None,
) -> dict[str, Any]:
    """Compute measures, and return the record of them."""
    numbers = measured(models, asked, k, settings=settings)
    measures = [each.measure for each in asked]
    rows = numbers.mean_rows()
    return record_of(models, rows, measures, settings.confidence, baseline)


def versions() -> dict[str, str]:
    """Return the versions of recnb and of what its numbers are computed with."""
    return {
        "recnb": version.__version__,
        "python": platform.python_version(),
        "pandas": pd.__version__,
        "polars": pl.__version__,
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def time_in_words() -> str:
    """Return the time in UTC.

    It is that of SOURCE_DATE_EPOCH, if this is set, so that a file can be made again
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


# ---- what was evaluated


def _inputs(models: Models) -> dict[str, Any]:
    """Return what is known of each table, by the name that errors call it."""
    inputs = {}
    for name, data in models.items():
        called = f"model {name!r}" if name else RECS
        inputs[called] = _recommendations(data)
    first = next(iter(models.values()))
    inputs[TRUTH] = _pairs(first, TRUTH, first.source.truth_labels)
    for name in ("train", "items", "users"):
        table = getattr(first.side_data, name)
        if table is not None:
            inputs[name] = _side_table(first, name, table)
    for name, table in first.side_data.weights.items():
        inputs[name] = _weights(table)
    return inputs


def _weights(table: pl.DataFrame) -> dict[str, Any]:
    """Return what is known of weights by id, which are no column of a frame."""
    return {
        "files": [],
        "rows": table.height,
        "columns": {role: role for role in table.columns},
        "fingerprint": str(Fingerprint.of(table)),
    }


def _recommendations(data: EvaluationData) -> dict[str, Any]:
    in_order = data.convention.order == "row"
    return _pairs(data, RECS, data.source.labels, in_order=in_order)


def _pairs(
    data: EvaluationData,
    name: str,
    labels: Mapping[str, str],
    *,
    in_order: bool = False,
) -> dict[str, Any]:
    """Return what is known of a table of users and items."""
    known = {"files": _files(data, name), "columns": dict(labels), "fingerprint": None}
    try:
        facts = data.source.facts(name, in_order=in_order)
    except ElsewhereError:  # the rows stayed where the evaluation was pickled
        return known
    return known | {
        "rows": facts.fingerprint.n_rows,
        "users": data.source.users_of(facts.users).n_unique(),
        "lists": len(facts.users),
        "items": len(facts.items),
        "fingerprint": str(facts.fingerprint),
    }


def _side_table(data: EvaluationData, name: str, table: pl.DataFrame) -> dict[str, Any]:
    """Return what is known of train, items or users.

    Columns whose cells are not text, numbers, days or times have no part in the
    fingerprint.
    """
    plain = table.select(PLAIN)
    columns = {role: role for role in plain.columns}
    counts = {
        f"{role}s": table[role].n_unique() for role in data.side_data.labels[name]
    }
    return {
        "files": _files(data, name),
        "rows": table.height,
        **counts,
        "columns": columns | dict(data.side_data.labels[name]),
        "fingerprint": str(Fingerprint.of(plain)),
    }


def _files(data: EvaluationData, name: str) -> list[str]:
    """Return the path that a table was read from, if it was."""
    path = data.side_data.call.files.get(name)
    return [] if path is None else [path]


# ---- by which decisions


def convention_in_force(data: EvaluationData) -> dict[str, Any]:
    """Return every decision about the data."""
    decisions = asdict(data.convention)
    del decisions["metric"]
    return decisions


def _options(data: EvaluationData) -> dict[str, Any]:
    """Return the keywords that were typed, but for tables, library, split and cluster.

    A weight that is no name of a column is None.
    """
    call = data.side_data.call
    decisions: Mapping[str, Any] = data.overrides
    if data.library is None:
        usual = Convention()
        decisions = {
            name: value
            for name, value in convention_in_force(data).items()
            if value != getattr(usual, name)
        }
        decisions.pop("order", None)  # as a rule the columns decide it
        if "order" in call.options:
            decisions["order"] = call.options["order"]
    weights = {name: _column_in(code) for name, code in call.weights.items()}
    options = {**call.columns, **decisions, **weights}
    options.pop("split", None)
    return options


def _column_in(code: str) -> str | None:
    """Return the name of a column of its code, which is in quotes."""
    return ast.literal_eval(code) if code[0] in "'\"" else None


# ---- the numbers


def recorded_numbers(
    data: EvaluationData, rows: Iterable[MeanRow], measures: Iterable[Measure]
) -> list[dict[str, Any]]:
    """Return each mean with its metric, by a name that finds it, and its options."""
    # A metric may be asked for at several cut-offs, each with options of its own.
    asked = {(measure.name, measure.k): measure for measure in measures}
    numbers = []
    for row in rows:
        has_own_cutoff = (row.metric, row.k) in asked
        measure = asked[row.metric, row.k if has_own_cutoff else None]
        scoring = scoring_of(data, measure, whole=row.k is None)
        numbers.append(
            {
                "model": row.model,
                "metric": measure.name,
                "options": scoring.measure.chosen,
                "k": row.k,
                "mean": row.mean,
                "low": row.low,
                "high": row.high,
                "n_users": row.n_users,
                "n_lists": row.n_users if row.n_lists is None else row.n_lists,
            }
        )
    return numbers


# ---- one line of a record


def in_brief(record: Mapping[str, Any]) -> str:
    """Return a record on one line: version, day, and the beginning of fingerprints."""
    inputs = [
        f"{_input_in_words(name)} {table['fingerprint'][:SHORT]}"
        for name, table in record["inputs"].items()
        if table["fingerprint"] is not None
    ]
    if len(inputs) > MOST_NAMED:
        inputs = inputs[:MOST_NAMED]
        inputs.append("…")
    day = record["made"].partition("T")[0]
    return "; ".join([f"recnb {record['versions']['recnb']}, {day}", ", ".join(inputs)])


def _input_in_words(name: str) -> str:
    """Return the name of an input of a record, such as "model 'als'", in words."""
    kind, blank, model = name.partition(" ")
    return f"{_(INPUTS[kind])}{blank}{one_line(model)}"
