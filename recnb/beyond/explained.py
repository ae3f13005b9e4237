"""The explanation of a number beyond accuracy, made of `TermRows`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from recnb.beyond.recommendation_lists import TermRows, Whole
from recnb.display.language import N_, named
from recnb.errors import OptionError, RecnbError
from recnb.metrics.formula import Formula
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData, index_of
from recnb.results.explanation import (
    COLUMNS,
    ROWS_SHOWN,
    Explanation,
    printed_in_sum,
)
from recnb.results.values import Values
from recnb.results.worked import (
    MANY_ORDERS,
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


def explanation_of_lists(
    metric: Metric[...], data: EvaluationData, measure: Measure, user: Any
) -> Explanation:
    """Explain the value of a user's list, or the one number of all lists."""
    values: Values = metric.values(data, measure, measure.cutoffs())
    (cutoff,) = values.cutoffs
    measure = replace(values.measure, k=cutoff)
    value, rows = _value_and_rows(data, values, user)
    term = measure.credit
    terms = []
    if metric.per_row_texts:
        terms = terms_of(term, rows.names, rows.earned)
    items = []
    if rows.items is not None:
        items = [data.item_data.items[int(item)] for item in rows.items.ravel()]
    divisor = _divisor(measure, rows)
    out_of = measure.out_of.text(rows.names)
    return Explanation(
        **about(measure),
        user=user,
        value=value,
        line=_line_in_place_of_a_sum(measure, rows, value, divisor),
        out_of=divisor,
        n_rows=rows.n_rows,
        terms=tuple(terms) if metric.of == "user" else (),
        out_of_terms=() if out_of == "1" else (out_of,),
        total=float(np.sum(rows.earned)) if rows.total is None else rows.total,
        rows=_frame(rows, term, terms, items),
        basis="; ".join(values.basis.phrases()),
        titles=data.item_titles(list(dict.fromkeys(items[: 2 * ROWS_SHOWN]))),
    )


def _value_and_rows(
    data: EvaluationData, values: Values, user: Any
) -> tuple[float, TermRows]:
    """Return the value of a user, or the one of all lists, and the rows behind it."""
    metric = values.measure.metric
    (cutoff,), (result,) = values.cutoffs, values.results
    if isinstance(result, Whole):
        if user is not None:
            raise OptionError(
                named(
                    "{metric} is one number of all lists together, and no {user} has a "
                    "value of their own: type .explain({metric!r}, k={cutoff!r}).",
                    metric=metric.name,
                    cutoff=cutoff,
                )
            )
        return float(result.value), result.rows()
    if "truth" in metric.needs and data.joined.hits.tied is not None:
        raise OptionError(MANY_ORDERS)
    are = values.basis.averaged_users
    position = index_of(user, values.users, data.keys, are)
    if np.isnan(result.value[position]):
        raise RecnbError(
            named(
                "{metric}: {user} {id} has no value. {why}",
                metric=metric.name,
                id=repr(data.keys.in_words(user)),
                why=metric.no_value,
            )
        )
    return float(result.value[position]), result.rows(position)


def _divisor(measure: Measure, rows: TermRows) -> float:
    """Return what the sum of the rows is divided by; 1 if no row is written out."""
    if not rows.names or rows.undefined or not measure.metric.per_row_texts:
        return 1.0
    return float(np.ravel(measure.out_of.value(rows.names))[0])


def _line_in_place_of_a_sum(
    measure: Measure, rows: TermRows, value: float, divisor: float
) -> str:
    """Say why there is nothing to add up, or the mean of too many rows to write out.

    "" where the sum is written.
    """
    if rows.undefined:
        return nothing_to_divide(value, undefined=True)
    if not rows.names or divisor == 0:  # no list at all, or no pair of lists
        return nothing_to_divide(value)
    if measure.metric.per_row_texts:
        return ""
    return f"{measure.credit.text(rows.names)} = {printed_in_sum(value)}"


def _frame(
    rows: TermRows, term: Formula, terms: Sequence[str], items: Sequence[Any]
) -> pd.DataFrame:
    """Return the rows as a frame: what they are of, the numbers of each, its credit."""
    columns: dict[str, Any] = {}
    if rows.rank is not None:
        columns["rank"] = rows.rank
    if rows.items is not None:
        width = 2 if rows.items.ndim == 2 else 1
        columns |= {
            name: items[at::width]
            for at, name in enumerate(("item", "other_item")[:width])
        }
    if rows.labels:
        columns["genre"] = list(rows.labels)
    shown = ["times", *sorted(term.names() - {"times"})]
    columns |= {
        name: rows.names[name] for name in shown if np.ndim(rows.names.get(name, 0))
    }
    if terms:
        columns["term"] = terms
    columns["credit"] = rows.earned + 0.0  # 0 in the place of -0
    return pd.DataFrame(columns)
