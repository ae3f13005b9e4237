"""Metrics beyond accuracy as they are shown: the table of all of them, curves, rows of a report, explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.data.encoding import place_of
from recnb.display.language import _, current
from recnb.errors import OptionError, RecnbError, UnknownUserError, near
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.metrics.recommendation_lists import Bools, TermRows, Whole
from recnb.results import Curve, Score, Table
from recnb.results.beyond_accuracy import (
    ListMetricResult,
    made,
    means_and_basis,
    recorded_in,
    score_of,
)
from recnb.results.catalogue_score import CatalogueScore
from recnb.results.list_explanation import ListExplanation, explained

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def beyond_table(evaluation: EvaluationData, k: object) -> Table:
    """Every metric beyond accuracy that the data allow, a row each; what the others need is said below."""
    import pandas as pd

    cutoffs = Cutoffs.of(k)
    rows: dict[str, Floats] = {}
    missing: dict[str, str] = {}
    parts: dict[str, None] = {}  # of the small print, each once
    has = recorded_in(evaluation.library)
    if not has:
        raise OptionError(f"{evaluation.library} has no metric beyond accuracy that recnb has recorded.")
    for name in (name for name in LIST_METRICS if name in has):
        try:
            means, basis = means_and_basis(evaluation, LIST_METRICS[name], cutoffs, {})
        except RecnbError as problem:
            missing[name] = str(problem)
            continue
        if np.isnan(means).all():
            missing[name] = LIST_METRICS[name].no_value
        else:
            rows[name] = means
            parts |= dict.fromkeys(basis.split("; "))
    columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
    values = np.array(list(rows.values())).reshape(len(rows), len(cutoffs))
    table = Table(values, pd.Index(list(rows), name="metric"), columns)
    basis = "; ".join([*parts, *_lacks(missing)])
    table.attrs = {"basis": basis, "missing": missing, "lang": current()}
    return table


def _lacks(missing: Mapping[str, str]) -> list[str]:
    """What is missing, in words; metrics that lack the same are named together."""
    lacks: dict[str, list[str]] = {}
    for name, problem in missing.items():
        lacks.setdefault(problem.removeprefix(name).lstrip(": ").removesuffix("."), []).append(name)
    return [_("not here: {names} ({why})", names=", ".join(names), why=why) for why, names in lacks.items()]


def interval_ends(score: Score | CatalogueScore, confidence: float) -> tuple[float, float]:
    """The ends of a score's interval; NaN where it has none."""
    if not score.has_interval:
        return np.nan, np.nan
    return score.interval(confidence)[:2]


def curve_of(evaluation: EvaluationData, metric: Metric[...], k: object, options: Mapping[str, Any]) -> Curve:
    """A metric beyond accuracy at many cut-offs; with an interval at each if users have values of their own."""
    cutoffs = Cutoffs.of(k)
    if cutoffs.deepest is None:
        raise OptionError("a curve runs over whole numbers: leave None out of k, such as k=range(1, 21).")
    scores = [score_of(evaluation, metric, one, options) for one in cutoffs]
    ends = [interval_ends(one, 0.95) for one in scores]
    low, high = tuple(one[0] for one in ends), tuple(one[1] for one in ends)
    finite = tuple(one for one in cutoffs if one is not None)
    n_users = len(made(evaluation, metric, cutoffs.deepest, options).users)
    value = tuple(map(float, scores))
    return Curve(metric.name, metric.symbol, finite, value, low, high, n_users=n_users, basis=scores[-1].basis)


def also(
    evaluation: EvaluationData, metrics: Sequence[Any], cutoffs: Cutoffs, options: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What a table's small print says of its metrics beyond accuracy, if it has any."""
    named = [(metric, own) for metric, own in zip(metrics, options, strict=True) if not metric.is_accuracy]
    return [f"{metric.name}: {made(evaluation, metric, cutoffs.deepest, own).basis()}" for metric, own in named]


def explain_of(
    evaluation: EvaluationData, metric: Metric[...], user: Any, k: object, options: Mapping[str, Any]
) -> ListExplanation:
    """How a value comes about: of one user's list, or of all lists together."""
    one = made(evaluation, metric, Cutoffs.one(k).values[0], options)
    result, named = one.result, evaluation.item_data.items.__getitem__
    if isinstance(result, Whole):
        if user is not None:
            raise OptionError(
                f"{metric.name} is one number of all lists together, and no user has a value of their own: "
                f"type .explain({metric.name!r}, k={one.k!r})."
            )
        rows = TermRows(np.zeros(0), {}) if result.rows is None else result.rows()
        value = float(result)
    else:
        position = _position(one, user)
        _has_value(one, user, result.counted, position)
        assert result.rows is not None
        rows, value = result.rows(position), float(result.value[position])
    return explained(metric, rows, value, one.k, one.options, named=named, user=user, basis=one.basis())


def _has_value(one: ListMetricResult, user: Any, counted: Bools, position: int) -> None:
    if not counted[position]:
        raise RecnbError(f"{one.metric.name}: user {user!r} has no value. {one.metric.no_value}")


def _position(one: ListMetricResult, user: Any) -> int:
    """Where a user stands among those who have a value."""
    users = one.users
    if user is None:
        raise OptionError(
            f"say whose list: .explain({one.metric.name!r}, user, k={one.k!r}), such as user={users[0]!r}."
        )
    found = place_of(user, users)
    if found is None:
        whose = "have a list" if users is one.evaluation.item_data.users else "are evaluated"
        alike = near(user, map(str, users.head(10_000).to_list())).split("Known")[0]
        shown = ", ".join(map(repr, users.head(5).to_list()))
        raise UnknownUserError(
            f"user {user!r} is not among the {len(users):,} users who {whose}. {alike}They are {shown}{', …' if len(users) > 5 else ''}."
        )
    return found
