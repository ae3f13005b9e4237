"""What an evaluation amounts to: who was evaluated, the metrics with their intervals, and the users behind the means.

Here the numbers are gathered, frozen; `report_html`, `report_text`, `chart` and `figure` draw them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.conventions import options_in_words
from recnb.errors import OptionError
from recnb.hits import Cutoffs, Floats, Hits, Ints
from recnb.metric import metric_named
from recnb.results.curve import Curve
from recnb.results.report_data import (
    DRAWS,
    Distribution,
    Measured,
    Missed,
    Place,
    Population,
    Spread,
    UserList,
    distribution_of,
)
from recnb.results.words import users_in_words
from recnb.strings import current, speaking
from recnb.uncertainty import intervals

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from recnb.evaluation import Evaluation
    from recnb.metric import Metric

USERS_SHOWN, RANKS_SHOWN, MISSED_SHOWN = 3, 20, 5
CURVE_POINTS = 30

#: Names the layout of `to_dict`; it changes when a key does.
SCHEMA = "recnb.report/1"


@dataclass(frozen=True, eq=False)
class Report:
    """What was evaluated, each metric with its interval, the curve over k, and the users behind the mean.

    In a notebook it shows itself; `to_html`, `to_markdown`, `to_latex`, `to_frame`, `to_dict`, `to_json` and `figure`
    are its other forms.
    """

    population: Population
    k: tuple[int, ...]
    lead_k: int  #: the cut-off at which users are looked at: the middle one
    metrics: tuple[Measured, ...]  #: the first is the lead metric
    confidence: float
    method: str  #: of the intervals
    curve: Curve
    distribution: Distribution
    best: tuple[UserList, ...]
    worst: tuple[UserList, ...]
    basis: str
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def n_users(self) -> int:
        """How many users the means are over."""
        return self.population.n_users

    @property
    def lead(self) -> Measured:
        """The metric that the curve and the users are shown by."""
        return self.metrics[0]

    def to_frame(self) -> pd.DataFrame:
        """The means as a long frame: metric, k, mean, low, high, n_users."""
        import pandas as pd

        rows = [
            (one.metric, k, mean, low, high, self.n_users)
            for one in self.metrics
            for k, mean, low, high in zip(one.k, one.mean, one.low, one.high, strict=True)
        ]
        return pd.DataFrame(rows, columns=["metric", "k", "mean", "low", "high", "n_users"])

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain Python that `json` can write; NaN is None.

        Keys: `schema`, `basis`, `users`, `conventions`, `notes` (texts); `counts`; `list_length`, `relevant_per_user`
        (min, median, mean, max); `interval` (confidence, method); `k`, `lead_k`; `metrics`, a list of metric, symbol,
        reads, formula, convention and `values` (k, mean, low, high); `curve` (metric, k, mean, low, high);
        `distribution` (metric, k, edges, counts, shares, n_zero, n_top, n_without_value, mean, quartiles); `best` and `worst`,
        lists of user, value, n_hits, n_relevant, n_places, `places` (rank, item, relevance), `missed` (item, relevance,
        rank) and n_missed. Ids that are neither whole numbers nor text are written as text. Keys are the same in any
        language; texts are in that of the report.
        """
        curve, population = self.curve, asdict(self.population)
        told: dict[str, Any] = _plain(
            {
                "schema": SCHEMA,
                "basis": self.basis,
                **{
                    name: population[name]
                    for name in ("users", "conventions", "notes", "list_length", "relevant_per_user")
                },
                "counts": {name: count for name, count in population.items() if name.startswith("n_")},
                "interval": {"confidence": self.confidence, "method": self.method},
                "k": self.k,
                "lead_k": self.lead_k,
                "metrics": [_measured_as_dict(one) for one in self.metrics],
                "curve": {
                    "metric": curve.metric,
                    "k": curve.k,
                    "mean": curve.value,
                    "low": curve.low,
                    "high": curve.high,
                },
                "distribution": asdict(self.distribution),
                "best": [asdict(one) for one in self.best],
                "worst": [asdict(one) for one in self.worst],
            }
        )
        return told

    def to_json(self, path: str | Path | None = None) -> str:
        """`to_dict` as JSON text, written to `path` if one is given."""
        return _written(json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", path)

    def to_html(self, path: str | Path | None = None, title: str | None = None) -> str:
        """A document that stands by itself, written to `path` if one is given: no script, nothing fetched."""
        from recnb.results.report_html import document

        with speaking(self.lang):
            page = document(self, title)
        return _written(page, path)

    def to_markdown(self) -> str:
        """The report in Markdown, tables as GitHub has them."""
        from recnb.results.report_text import markdown

        with speaking(self.lang):
            return markdown(self)

    def to_latex(self) -> str:
        """The metrics as a LaTeX table for a paper, with users and convention in its caption; needs booktabs."""
        from recnb.results.report_text import latex

        with speaking(self.lang):
            return latex(self)

    def figure(self) -> Figure:
        """The curve and the distribution side by side, drawn by matplotlib."""
        from recnb.results.figure import figure

        return figure(self)

    def __repr__(self) -> str:
        from recnb.results.report_text import text

        with speaking(self.lang):
            return text(self)

    def _repr_html_(self) -> str:
        from recnb.results.report_html import fragment

        with speaking(self.lang):
            return fragment(self)


def report_of(
    evaluation: Evaluation,
    k: int | Sequence[int],
    metrics: Iterable[str] | None,
    confidence: float,
    options: Mapping[str, Any],
) -> Report:
    """Gather a report: every value per user once, and all intervals from the same draws of users."""
    at = _whole_numbers(k)
    # The table checks the names and the options, joins as deep as they need and knows their basis.
    table = evaluation.table(metrics, max(at), **options)
    chosen = [metric_named(name) for name in table.index]
    own = [{name: value for name, value in options.items() if name in metric.defaults} for metric in chosen]
    hits = evaluation.hits(max(at))
    points = curve_points(at)
    lead_at = tuple(sorted({*points, *at}))
    asked = [lead_at, *[at] * (len(chosen) - 1)]
    values = _stacked(evaluation, chosen, own, asked)
    low, high, method = intervals(values, confidence, resamples=DRAWS)
    mean = values.mean(axis=0)
    starts = np.cumsum([0, *map(len, asked)])
    columns = [[int(start) + ks.index(one) for one in at] for start, ks in zip(starts, asked, strict=False)]
    measured = tuple(
        _measured(metric, mine, at, (mean[mine_at], low[mine_at], high[mine_at]))
        for metric, mine, mine_at in zip(chosen, own, columns, strict=True)
    )
    basis = str(table.attrs["basis"])
    drawn = [lead_at.index(one) for one in points]
    curve = Curve(
        measured[0].metric,
        measured[0].symbol,
        k=points,
        value=tuple(mean[drawn].tolist()),
        low=tuple(low[drawn].tolist()),
        high=tuple(high[drawn].tolist()),
        n_users=evaluation.n_users,
        basis=basis,
    )
    lead_k = sorted(at)[len(at) // 2]
    lead_values = values[:, lead_at.index(lead_k)]
    best, worst = _extremes(evaluation, hits, lead_values, lead_k)
    return Report(
        population=_population(evaluation, hits, basis),
        k=at,
        lead_k=lead_k,
        metrics=measured,
        confidence=float(confidence),
        method=method,
        curve=curve,
        distribution=distribution_of(lead_values, measured[0], lead_k),
        best=best,
        worst=worst,
        basis=basis,
    )


def curve_points(at: Sequence[int]) -> tuple[int, ...]:
    """The cut-offs of the curve: from 1 to the deepest, evenly, and those of the table if they are few.

    >>> curve_points([5]), len(curve_points([5, 10, 1000])) <= 33
    ((1, 2, 3, 4, 5), True)
    """
    even = np.unique(np.linspace(1, max(at), min(CURVE_POINTS, max(at))).round().astype(int)).tolist()
    return tuple(sorted({*even, *at})) if len(at) <= CURVE_POINTS // 3 else tuple(even)


def _whole_numbers(k: object) -> tuple[int, ...]:
    at = Cutoffs.of(k)
    finite = tuple(one for one in at if one is not None)
    if len(finite) < len(at):
        raise OptionError(
            "a report needs whole numbers for k, such as k=[5, 10, 20]: its curve runs from 1 to the largest. For whole lists ask .table(k=None)."
        )
    return finite


def _stacked(
    evaluation: Evaluation,
    metrics: Sequence[Metric[...]],
    options: Sequence[Mapping[str, Any]],
    asked: Sequence[Sequence[int]],
) -> Floats:
    """The values of users, a column for each metric at each of its cut-offs."""
    values = np.empty((evaluation.n_users, sum(map(len, asked))))
    start = 0
    for metric, mine, ks in zip(metrics, options, asked, strict=True):
        values[:, start : start + len(ks)] = evaluation.values(metric, Cutoffs.of(ks), mine)
        start += len(ks)
    return values


def _measured(
    metric: Metric[...], options: Mapping[str, Any], at: tuple[int, ...], numbers: tuple[Floats, Floats, Floats]
) -> Measured:
    mean, low, high = (tuple(map(float, column)) for column in numbers)
    return Measured(
        metric=metric.name,
        symbol=metric.symbol,
        title=metric.title,
        reads=metric.reads,
        formula=metric.formula_text(options),
        convention="; ".join(options_in_words({**metric.defaults, **options})),
        bounds=metric.bounds,
        k=at,
        mean=mean,
        low=low,
        high=high,
    )


def _population(evaluation: Evaluation, hits: Hits, basis: str) -> Population:
    counts = evaluation.counts
    users = tuple(users_in_words(counts, evaluation.convention))
    said = basis.removeprefix("; ".join(users)).removesuffix("; ".join(evaluation.notes))
    return Population(
        n_users=counts.n_users,
        n_without_list=counts.n_without_list,
        n_without_relevant=counts.n_without_relevant,
        n_recommended=counts.n_recommended,
        n_relevant=counts.n_relevant,
        n_items_recommended=counts.n_items_recommended,
        n_items_relevant=counts.n_items_relevant,
        n_not_relevant=counts.n_not_relevant,
        n_gaps=counts.n_gaps,
        list_length=Spread.of(hits.list_length[hits.list_length > 0]),
        relevant_per_user=Spread.of(hits.n_relevant),
        users=users,
        conventions=tuple(phrase for phrase in said.split("; ") if phrase),
        notes=evaluation.notes,
    )


def _extremes(
    evaluation: Evaluation, hits: Hits, values: Floats, k: int
) -> tuple[tuple[UserList, ...], tuple[UserList, ...]]:
    """The best and the worst users: of few, the better and the worse half."""
    found = np.bincount(hits.user[hits.rank <= k], minlength=hits.n_users)
    there = np.flatnonzero(~np.isnan(values))
    level = values.round(12)
    best = _first(there, -level, -found, min(USERS_SHOWN, -(-len(there) // 2)))
    rest = there[~np.isin(there, best)]
    worst = _first(rest, level, found - hits.n_relevant, min(USERS_SHOWN, len(there) // 2))
    users = evaluation.users
    best_lists, worst_lists = (
        tuple(_user_list(evaluation, hits, users[int(one)], int(one), float(values[one]), k) for one in some)
        for some in (best, worst)
    )
    return best_lists, worst_lists


def _first(among: Ints, key: Floats, then: Ints, n: int) -> Ints:
    """The `n` positions that come first by `key`, then by the second key, then by their own order."""
    if n == 0:
        return among[:0]
    mine = key[among]
    near = among[mine <= np.partition(mine, n - 1)[n - 1]]
    order: Ints = np.lexsort((near, then[near], key[near]))[:n]
    return np.asarray(near[order])


def _user_list(evaluation: Evaluation, hits: Hits, user: Any, position: int, value: float, k: int) -> UserList:
    items = evaluation.list_of(position)
    truth = evaluation.truth_of(position)
    mine = hits.of(position)
    inside = mine.rank <= k
    relevance = dict(zip(mine.rank[inside].tolist(), mine.relevance[inside].tolist(), strict=True))
    ranks = [rank for rank in items if rank <= k]
    found = set(mine.truth_row[inside].tolist())
    rows = [row for row in np.argsort(-mine.truth_relevance, kind="stable").tolist() if row not in found]
    further = {item: rank for rank, item in reversed(items.items()) if rank > k}
    missed = [(truth["item"][row], float(truth["relevance"][row])) for row in rows[:MISSED_SHOWN]]
    return UserList(
        user=_id(user),
        value=value,
        n_hits=int(inside.sum()),
        n_relevant=len(mine.truth_relevance),
        n_places=len(ranks),
        places=tuple(Place(rank, _id(items[rank]), relevance.get(rank, 0.0)) for rank in ranks[:RANKS_SHOWN]),
        missed=tuple(Missed(_id(item), grade, further.get(item)) for item, grade in missed),
        n_missed=len(rows),
    )


def _id(value: Any) -> Any:
    """A user or item as plain Python."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (bool, int, str)) else str(plain)


def _measured_as_dict(one: Measured) -> dict[str, Any]:
    values = [
        dict(zip(("k", "mean", "low", "high"), row, strict=True))
        for row in zip(one.k, one.mean, one.low, one.high, strict=True)
    ]
    said = {name: getattr(one, name) for name in ("metric", "symbol", "reads", "formula", "convention")}
    return {**said, "values": values}


def _plain(value: Any) -> Any:
    """Nested data with lists for tuples and None for NaN."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _written(content: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(content, encoding="utf-8", newline="\n")
    return content
