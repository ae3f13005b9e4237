"""The explanation of a number beyond accuracy, made of `TermRows`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.beyond.recommendation_lists import TermRows
from recnb.display.language import N_, named
from recnb.errors import OptionError, RecnbError
from recnb.metrics.formula import Formula
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.explanation import (
    COLUMNS,
    INFINITE,
    ROWS_SHOWN,
    Explanation,
    printed_in_sum,
)
from recnb.results.values import Values
from recnb.results.worked import (
    about,
    nothing_to_divide,
    terms_of,
)

COLUMNS |= {
    "other_item": N_("other {item}"),
    "genre": N_("genre"),
    "count": N_("count"),
    "share": N_("share"),
    "times": N_("times shown"),
    "place": N_("place"),
    "cosine": N_("cosine"),
    "jaccard": N_("jaccard"),
    "expected_rank": N_("expected rank"),
    "tail": N_("in the tail"),
    "p": N_("p, history"),
    "q": N_("q, list"),
}
INFINITE["expected_rank"] = N_("not in train")


def explanation_of_lists(
    metric: Metric[...], data: EvaluationData, measure: Measure, user: Any
) -> Explanation:
    """Explain the value of a user's list, or the one number of all lists."""
    values: Values = metric.values(data, measure, measure.cutoffs())
    measure = values.measure
    value, rows, items = _value_and_rows(data, values, user)
    terms = []
    if metric.per_row_texts:
        terms = terms_of(measure.credit, rows.names, rows.earned)
    frame = _frame(rows, measure.credit, terms, items)
    line, divisor = _line_and_divisor(measure, rows, value)
    out_of = measure.out_of.text(rows.names)
    shown = frame.head(ROWS_SHOWN)
    return Explanation(
        **about(measure),
        user=user,
        value=value,
        line=line,
        out_of=divisor,
        terms=tuple(terms) if metric.of == "user" else (),
        out_of_terms=() if out_of == "1" else (out_of,),
        total=float(np.sum(rows.earned)),
        rows=frame,
        basis="; ".join(values.basis.phrases()),
        titles=data.item_titles([*shown.get("item", ()), *shown.get("other_item", ())]),
    )


def _value_and_rows(
    data: EvaluationData, values: Values, user: Any
) -> tuple[float, TermRows, pl.Series]:
    """Return the value of a user, or the one of all lists, the rows behind it, and items.

    The rows name items by their position.
    """
    measure, metric = values.measure, values.measure.metric
    if values.is_of_all:
        if user is not None:
            raise OptionError(
                named(
                    "{metric} is one number of all lists together, and no {user} has a "
                    "value of their own: type .explain({metric!r}, k={cutoff!r}).",
                    metric=metric.name,
                    cutoff=measure.k,
                )
            )
        (whole,) = values.wholes
        return float(whole.value), whole.rows, data.item_data.catalogue.ids
    list_id = values.users[data.position(user, values.users, values.basis.who)]
    parts = data.item_data.parts_for(metric)
    (lists,) = [part for part in parts if list_id in part.users]
    result = metric.at(lists, measure.k, measure.options)
    place = lists.users.index_of(list_id)
    value = float(result.value[place])
    if np.isnan(value):
        raise RecnbError(
            named(
                "{metric}: {user} {id} has no value. {why}",
                metric=metric.name,
                id=repr(data.keys.in_words(user)),
                why=metric.no_value,
            )
        )
    return value, result.rows(place), lists.catalogue.ids


def _line_and_divisor(
    measure: Measure, rows: TermRows, value: float
) -> tuple[str, float]:
    """Return the line in place of a sum, and what the sum is divided by.

    The line says why there is nothing to add up, or is the mean of too many rows to
    write out; it is "" where the sum is written.
    """
    if rows.undefined:
        return nothing_to_divide(value, undefined=True), 1.0
    if not rows.names:  # no list at all
        return nothing_to_divide(value), 1.0
    if not measure.metric.per_row_texts:
        mean = measure.credit.text(rows.names)
        return f"{mean} = {printed_in_sum(value)}", 1.0
    divisor = float(np.ravel(measure.out_of.value(rows.names))[0])
    return "" if divisor else nothing_to_divide(value), divisor


def _frame(
    rows: TermRows, term: Formula, terms: Sequence[str], items: pl.Series
) -> pd.DataFrame:
    """Return the rows as a frame: what they are of, the numbers of each, its credit."""
    columns = dict(rows.of)
    for role in ("item", "other_item"):
        if role in columns:
            columns[role] = items.gather(columns[role]).to_list()
    for name in ["times", *sorted(term.names() - {"times"})]:
        if np.ndim(rows.names.get(name, 0)):
            columns[name] = rows.names[name]
    if terms:
        columns["term"] = terms
    columns["credit"] = rows.earned + 0.0  # 0 in the place of -0
    return pd.DataFrame(columns)
