"""Results of some users that add up to those of all: a few sums for each metric and cut-off, and how much is behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, shown_at
from recnb.display.language import _
from recnb.errors import CutoffError, FrameError, OptionError, RecnbError, is_several, near
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Metric, metric_named
from recnb.results import Interval, Table
from recnb.results.aggregation import BLOCK, Scoring, average, cutoffs_under, hits_for, users_behind
from recnb.results.arguments import Metrics, asked_of, chosen_metrics, options_of
from recnb.results.evaluation_data import EvaluationData
from recnb.results.means import wide_table
from recnb.results.provenance import Basis, merged
from recnb.results.score import PartialScore, interval_of
from recnb.results.table import parts_of
from recnb.stats import Moments
from recnb.stats.moments import COLUMNS, SumsMethod

if TYPE_CHECKING:
    import pandas as pd

#: Names the layout of `to_dict`; it changes when a key does.
SCHEMA = "recnb.distributed.partial/5"


@dataclass(frozen=True)
class PartialCounts:
    """Sizes of the data behind the sums, and of what was left out."""

    n_users: int = 0  #: evaluated
    n_without_list: int = 0  #: of these, with no recommendations
    n_without_relevant: int = 0  #: users of either frame with no relevant item
    n_recommended: int = 0  #: rows of recommendations
    n_relevant: int = 0  #: pairs of an evaluated user and a relevant item
    n_hits: int = 0  #: of these, the ones in the lists, down to the deepest cut-off

    def __add__(self, other: PartialCounts) -> PartialCounts:
        names = [one.name for one in fields(self)]
        return PartialCounts(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, eq=False)
class Question:
    """Several metrics at several cut-offs, each with its options."""

    metrics: Metrics
    k: Cutoffs
    options: Mapping[str, Any]

    @classmethod
    def of(cls, library: str | None, metrics: Metrics, k: object, options: Mapping[str, Any]) -> Question:
        """The metrics of a call, by default those that a library has; what is misspelt raises an error here."""
        if metrics is None:
            metrics = [each.name for each in asked_of(library, None, {})]
        elif is_several(metrics) and not isinstance(metrics, Mapping):
            metrics = list(metrics)
        question = cls(metrics, Cutoffs.of(k), dict(options))
        question.chosen()
        return question

    def chosen(self) -> list[tuple[Metric[...], dict[str, Any]]]:
        """The metrics with their options, all of which they have."""
        metrics = chosen_metrics(self.metrics)
        return [(metric, options_of(metric, self.metrics, self.options, metrics)) for metric in metrics]

    @property
    def labels(self) -> list[str]:
        """Names of the columns of all metrics."""
        return [label for metric, _own in self.chosen() for label in self.labels_of(metric)]

    def labels_of(self, metric: Metric[...]) -> list[str]:
        """Names of the columns of a metric, as of the series of a Score."""
        return [metric.name if one is None else f"{metric.name}@{one}" for one in self.k]

    @property
    def needs_scale(self) -> bool:
        """Whether a metric uses the highest relevance of all users."""
        return any(takes_scale(metric, own) for metric, own in self.chosen())


@dataclass(frozen=True)
class Measure:
    """A metric, its options and the convention in force for it."""

    metric: str
    options: tuple[tuple[str, Any], ...]
    convention: Convention
    scale: float | None = None  #: the highest relevance, where the metric takes its scale from the data

    def __str__(self) -> str:
        own = [f"{name}={value!r}" for name, value in self.options]
        return f"{self.metric}({', '.join(own + ([] if self.scale is None else [f'max_relevance={self.scale:g}']))})"


@dataclass(frozen=True, eq=False)
class Partial:
    """The sums of some users; `+` puts those of other users to them.

    The users of two partials must not overlap: a user in both, such as one who comes back on another day, would count twice, and
    intervals would be too narrow. The sums cannot tell, and their basis mentions it, unless both were made with `keep_users=True`,
    which keeps the ids and refuses what overlaps. Order and grouping of additions do
    not matter, and a partial of no users changes nothing.

    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> popular = sample.models["popular"]
    >>> first = popular[popular.user < "u100"], sample.test[sample.test.user < "u100"]
    >>> other = popular[popular.user >= "u100"], sample.test[sample.test.user >= "u100"]
    >>> both = sum(recnb.Partial.of(recnb.evaluate(*frames), ["ndcg"], k=10) for frames in (first, other))
    >>> round(both.score("ndcg", 10), 6) == round(recnb.evaluate(popular, sample.test).ndcg(k=10), 6)
    True
    """

    measures: tuple[Measure, ...]
    k: tuple[int | None, ...]
    moments: tuple[tuple[Moments, ...], ...]  #: by metric, then by cut-off
    counts: PartialCounts
    #: The users of each metric, who are others where a library or a measure has its own.
    behind: tuple[PartialCounts, ...]
    convention: Convention  #: of the data
    library: str | None = None  #: whose conventions each metric follows
    graded: bool = True  #: whether the truth says how relevant an item is
    grades: tuple[float, ...] = ()  #: of the relevant items, the lowest and the highest
    notes: tuple[str, ...] = ()
    users: pl.Series | None = None  #: who they are, sorted, if that was kept
    given: tuple[str, ...] = ()  #: names of the decisions that were given on top of the library's

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        keep_users: bool = False,
        scale: float | None = None,
        **options: Any,
    ) -> Partial:
        """The sums of an evaluation's users, for several metrics and cut-offs as `table` takes them.

        `scale` is the highest relevance of all parts, for ERR without `max_relevance=`; without it, that of this one.
        """
        if not isinstance(evaluation, Evaluation):
            raise OptionError(
                f"a partial is made of an Evaluation, not of a {type(evaluation).__name__}: recnb.evaluate(recs, truth)."
            )
        if not isinstance(keep_users, bool):
            raise OptionError(f"keep_users={keep_users!r}: say True or False.")
        question = Question.of(evaluation._data.library, metrics, k, options)
        return partial_of(evaluation._data, question, keep_users=keep_users, scale=scale)

    @property
    def n_users(self) -> int:
        """Number of users evaluated."""
        return self.counts.n_users

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(measure.metric for measure in self.measures)

    @property
    def basis(self) -> str:
        """In words: how many users, who was left out, and by which convention."""
        phrases = {
            measure.metric: self._basis(measure, counts).phrases(brief=True)
            for measure, counts in zip(self.measures, self.behind, strict=True)
        }
        return "; ".join(merged(phrases))

    def _basis(self, measure: Measure, counts: PartialCounts) -> Basis:
        """Return what the mean of a measure rests on."""
        options = {**metric_named(measure.metric).defaults, **dict(measure.options)}
        shown = shown_at(None, options) if self.library is None and self.k == (None,) else options
        return Basis(
            counts=(counts.n_users, counts.n_without_list, counts.n_without_relevant),
            convention=measure.convention.with_metric(shown),
            graded=self.graded,
            notes=self.notes,
            scale=measure.scale,
            library=self.library,
            given=tuple(self.given),
        )

    def __add__(self, other: object) -> Partial:
        if not isinstance(other, Partial):
            return NotImplemented
        total = self.plus(other)
        if total.users is not None or not (self.n_users and other.n_users):
            return total
        unknown = _(
            "added up from parts whose user ids were not kept: a user in two of them counts twice, and intervals are then too narrow"
        )
        return replace(total, notes=tuple(sorted({*total.notes, unknown})))

    def plus(self, other: Partial) -> Partial:
        """Add two sums of different users."""
        _same(self, other)
        return replace(
            self,
            moments=tuple(_added(a, b) for a, b in zip(self.moments, other.moments, strict=True)),
            counts=self.counts + other.counts,
            behind=tuple(mine + theirs for mine, theirs in zip(self.behind, other.behind, strict=True)),
            grades=_ends_of((*self.grades, *other.grades)),
            notes=tuple(sorted({*self.notes, *other.notes})),
            users=_both(self.users, other.users),
        )

    def __radd__(self, other: object) -> Partial:
        # sum() starts from 0.
        return self if other == 0 and isinstance(other, int) else NotImplemented

    def table(self, *, intervals: bool = False) -> Table:
        """Return means over users, a row per metric and a column per cut-off, as the `table` of an evaluation."""
        means = np.array([[_mean(moments) for moments in own] for own in self.moments])
        numbers: Any = (
            [means, *np.array([_ends(own) for own in self.moments]).transpose(1, 0, 2)] if intervals else [means]
        )
        bases = zip(self.measures, self.behind, strict=True)
        decisions = {measure.metric: self._basis(measure, counts).convention.decisions() for measure, counts in bases}
        table = wide_table(self.metrics, numbers, Cutoffs(self.k), [self.basis, *[_("95% intervals")] * intervals])
        table.attrs |= {"n_users": self.n_users, "convention": "; ".join(merged(decisions))}
        if not intervals:
            table._measured = lambda: parts_of(self.table(intervals=True))
        return table

    def score(self, metric: str, k: int | None = None) -> PartialScore:
        """Return the mean of a metric at one cut-off, with its interval."""
        row, column = self._place(metric, k)
        measure = self.measures[row]
        basis = self._basis(measure, self.behind[row])
        return PartialScore(
            self.moments[row][column], measure.metric, self.k[column], basis.convention, "; ".join(basis.phrases())
        )

    def interval(
        self, metric: str, k: int | None = None, confidence: float = 0.95, method: SumsMethod = "beta"
    ) -> Interval:
        """Interval for a mean, taking the users as a sample: the same that `Score.interval` gives, from sums."""
        return self.score(metric, k).interval(confidence, method)

    def curve(self, metric: str) -> Table:
        """A metric at all cut-offs, with a 95% interval at each."""
        row = self._place(metric, self.k[0])[0]
        at = {k: moments for k, moments in zip(self.k, self.moments[row], strict=True) if k is not None}
        if not at:
            raise OptionError("a curve runs over whole numbers, and this partial holds whole lists alone.")
        chosen, ends = metric_named(self.measures[row].metric), _ends([*at.values()])
        frame = pd.DataFrame(
            np.transpose([[*map(_mean, at.values())], *ends]), pd.Index([*at], name="k"), [chosen.name, "low", "high"]
        )
        table = Table.made(frame, [self.basis, _("95% intervals")])
        table.attrs |= {"drawn": "curve", "symbol": chosen.symbol, "n_users": self.n_users}
        return table

    def to_frame(self) -> pd.DataFrame:
        """A long frame: metric, k, mean, low, high (95%), n_users."""
        import pandas as pd

        rows = [
            (name, k, _mean(moments), *interval_of(moments, 0.95), moments.n)
            for name, own in zip(self.metrics, self.moments, strict=True)
            for k, moments in zip(self.k, own, strict=True)
        ]
        return pd.DataFrame(rows, columns=["metric", "k", "mean", "low", "high", "n_users"])

    def _place(self, metric: str, k: int | None) -> tuple[int, int]:
        name = metric_named(metric).name
        if name not in self.metrics:
            raise OptionError(f"{metric!r} was not asked for when this was made. {near(name, self.metrics)}")
        (cutoff,) = Cutoffs.one(k).values
        if cutoff not in self.k:
            raise CutoffError(f"k={k!r} was not asked for when this was made: it holds k={list(self.k)}.")
        return self.metrics.index(name), self.k.index(cutoff)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python that `json` can write and `from_dict` reads: to be kept, and added up another day."""
        measures = [
            {
                "metric": measure.metric,
                "options": dict(measure.options),
                "convention": _differing(measure.convention),
                "scale": measure.scale,
                "counts": asdict(counts),
                "moments": [{"n": one.n, **{name: _numbers(getattr(one, name)) for name in COLUMNS}} for one in own],
            }
            for measure, counts, own in zip(self.measures, self.behind, self.moments, strict=True)
        ]
        return {
            "schema": SCHEMA,
            "k": list(self.k),
            "metrics": measures,
            "counts": asdict(self.counts),
            "convention": _differing(self.convention),
            "library": self.library,
            "graded": self.graded,
            "grades": list(self.grades),
            "notes": list(self.notes),
            "users": None if self.users is None else self.users.to_list(),
            "given": list(self.given),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Partial:
        """A partial from what `to_dict` gave."""
        found = stored.get("schema") if isinstance(stored, Mapping) else None
        if not isinstance(found, str) or found != SCHEMA:
            problem = f"this is no stored partial that this version reads: its schema is {found!r}, not {SCHEMA!r}."
            raise RecnbError(problem)
        try:
            cutoffs, metrics = Cutoffs.of(stored["k"]).values, stored["metrics"]
            return Partial(
                tuple(map(_stored_measure, metrics)),
                cutoffs,
                tuple(_stored_moments(one, len(cutoffs)) for one in metrics),
                PartialCounts(**stored["counts"]),
                tuple(PartialCounts(**one["counts"]) for one in metrics),
                Convention.of(stored["convention"]),
                stored["library"],
                bool(stored["graded"]),
                _ends_of(stored["grades"]),
                tuple(stored["notes"]),
                None if stored["users"] is None else pl.Series("user", stored["users"]),
                tuple(stored["given"]),
            )
        except RecnbError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as problem:
            raise RecnbError(f"this stored partial is broken: {type(problem).__name__} {problem}.") from problem

    def __repr__(self) -> str:
        return f"{self._heading()}\n{self.table()!r}"

    def _heading(self) -> str:
        counts = self.counts
        return _(
            "Partial of {rows:,} recommended rows against {relevant:,} relevant items, {hits:,} of them hit",
            rows=counts.n_recommended, relevant=counts.n_relevant, hits=counts.n_hits,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def partial_of(
    data: EvaluationData, question: Question, *, keep_users: bool = False, scale: float | None = None
) -> Partial:
    """The sums of the users of an evaluation's data."""
    cutoffs = question.k
    measures, moments, behind = _measured(data, question.chosen(), cutoffs, scale)
    prepared, counts = data.prepared, data.counts
    return Partial(
        measures,
        cutoffs.values,
        moments,
        PartialCounts(
            counts.n_users,
            counts.n_without_list,
            counts.n_without_relevant,
            counts.n_recommended,
            counts.n_relevant,
            _n_hits(prepared.hits(cutoffs.deepest), cutoffs.deepest),
        ),
        behind,
        prepared.convention,
        data.library,
        prepared.graded,
        _ends_of(prepared.all_hits.truth_relevance),
        data.notes,
        prepared.users if keep_users else None,
        tuple(data.overrides),
    )


def _ends_of(grades: Sequence[float] | Floats) -> tuple[float, ...]:
    """The lowest and the highest of some grades, if there are any."""
    return (float(np.min(grades)), float(np.max(grades))) if len(grades) else ()


def _measured(
    data: EvaluationData, requests: Sequence[tuple[Metric[...], dict[str, Any]]], cutoffs: Cutoffs, scale: float | None
) -> tuple[tuple[Measure, ...], tuple[tuple[Moments, ...], ...], tuple[PartialCounts, ...]]:
    """Return the metrics, the moments of their values, computed for blocks of users, and the users behind each."""
    whole = cutoffs.values == (None,)
    scorings = [data.scoring(metric, options, whole=whole) for metric, options in requests]
    measures, own = zip(*(_measure(scoring, scale) for scoring in scorings), strict=True)
    moments: dict[int, tuple[Moments, ...]] = {}
    # Metrics of the same data see the same block of users, of which much is worked out once.
    for prepared in {id(scoring.prepared): scoring.prepared for scoring in scorings}.values():
        rows = [row for row, scoring in enumerate(scorings) if scoring.prepared is prepared]
        under = cutoffs_under(prepared.convention, cutoffs)
        hits = hits_for(prepared, [(scorings[row].metric, own[row]) for row in rows], under)
        for start, stop in hits.blocks(BLOCK):
            block = hits.user_range(start, stop)
            for row in rows:
                added = _moments_of(block, scorings[row], own[row], under)
                moments[row] = _added(moments[row], added) if row in moments else added
    behind = tuple(_users_behind(scoring, cutoffs) for scoring in scorings)
    return measures, tuple(moments[row] for row in range(len(scorings))), behind


def _users_behind(scoring: Scoring, cutoffs: Cutoffs) -> PartialCounts:
    return PartialCounts(*users_behind(scoring.prepared, scoring.n_undefined(scoring.metric.cutoffs(cutoffs))))


def _measure(scoring: Scoring, scale: float | None) -> tuple[Measure, dict[str, Any]]:
    """Return a metric's key and its options with the scale of grades."""
    metric, convention = scoring.metric, scoring.convention
    refuse_unless_mean(convention, metric.name)
    own, top = dict(scoring.options), None
    if takes_scale(metric, own):
        top = scoring.prepared.max_relevance if scale is None else scale
        own["max_relevance"] = top or None  # where nothing is relevant, the data have no scale, and need none
    given = tuple(sorted((name, _plain(value)) for name, value in scoring.options.items()))
    return Measure(metric.name, given, convention, top), own


def takes_scale(metric: Metric[...], options: Mapping[str, Any]) -> bool:
    """Whether a metric with these options uses the highest relevance of all users."""
    return options.get("max_relevance", metric.defaults.get("max_relevance", 0)) is None


def _moments_of(block: Hits, scoring: Scoring, options: Mapping[str, Any], cutoffs: Cutoffs) -> tuple[Moments, ...]:
    credit = scoring.metric.at(block, cutoffs, options)
    matrix, _mean = average(credit, scoring.convention)
    kept = ~np.isnan(matrix)
    if kept.all():
        return _by_cutoff(Moments.of(matrix, scoring.metric.bounds))
    both = zip(matrix.T, kept.T, strict=True)
    return tuple(Moments.of(values[rows, np.newaxis], scoring.metric.bounds) for values, rows in both)


def refuse_unless_mean(convention: Convention, what: str) -> None:
    """Only what a user's own rows decide can be worked out in parts."""
    if convention.candidates == "catalogue":
        raise OptionError(
            f"{what}: candidates='catalogue' ranks every item of all users below each list, which a part of the users "
            "does not know: evaluate all users at once, recnb.evaluate(recs, truth)."
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _n_hits(hits: Hits, depth: int | None) -> int:
    inside = np.ones(len(hits.rank), dtype=bool) if depth is None else hits.rank <= depth
    return int((inside if hits.tied is None else inside & hits.tied.top).sum())


def _mean(moments: Moments) -> float:
    return float(moments.mean[0]) if moments.n else np.nan


def _by_cutoff(moments: Moments) -> tuple[Moments, ...]:
    """One for each column."""
    return tuple(moments.at(slice(i, i + 1)) for i in range(len(moments.mean)))


def _added(a: Sequence[Moments], b: Sequence[Moments]) -> tuple[Moments, ...]:
    return tuple(left + right for left, right in zip(a, b, strict=True))


def _same(a: Partial, b: Partial) -> None:
    """Refuse to add up what was not measured alike."""
    problem = "partial results add up only if they were measured alike"
    if a.library != b.library:
        raise OptionError(f"{problem}: one is as {a.library or 'recnb'} has it, the other as {b.library or 'recnb'}.")
    if a.metrics != b.metrics:
        raise OptionError(f"{problem}: one holds {', '.join(a.metrics)}, the other {', '.join(b.metrics)}.")
    if a.k != b.k:
        raise OptionError(f"{problem}: one holds k={list(a.k)}, the other k={list(b.k)}.")
    pairs = [(a.convention, b.convention)]
    pairs += [(x.convention, y.convention) for x, y in zip(a.measures, b.measures, strict=True)]
    for one, other in pairs:
        for name in (field.name for field in fields(Convention)):
            mine, theirs = getattr(one, name), getattr(other, name)
            if mine != theirs:
                raise OptionError(f"{problem}: one has {name}={mine!r}, the other {name}={theirs!r}.")
    if a.graded != b.graded:
        raise OptionError(f"{problem}: one truth has grades of relevance, the other none.")
    for mine_, theirs_ in zip(a.measures, b.measures, strict=True):
        if (mine_.options, mine_.scale) != (theirs_.options, theirs_.scale):
            tip = " Give all parts one scale, max_relevance=." if mine_.scale != theirs_.scale else ""
            raise OptionError(f"{problem}: one holds {mine_}, the other {theirs_}.{tip}")


def _ends(moments: Sequence[Moments]) -> list[Floats]:
    """The lower and the upper ends of the intervals of all columns."""
    return [np.concatenate(ends) for ends in zip(*(moment.interval() for moment in moments), strict=True)]


def _both(a: pl.Series | None, b: pl.Series | None) -> pl.Series | None:
    """Return the sorted users of both; a user in both raises an error. None if users of either are not recorded."""
    if a is None or b is None:
        return None
    if a.dtype != b.dtype:
        raise FrameError(
            f"the users of one partial are {a.dtype}, such as {a[0]!r}, of the other {b.dtype}, such as {b[0]!r}."
        )
    twice = a.filter(a.is_in(b.implode()))
    if len(twice):
        raise FrameError(
            f"{len(twice):,} users are in both partials, such as {twice[0]!r}, and would count twice: give each user to one part."
        )
    return pl.concat([a, b]).sort()


def _stored_measure(stored: Mapping[str, Any]) -> Measure:
    options, convention = tuple(sorted(stored["options"].items())), Convention.of(stored["convention"])
    return Measure(metric_named(stored["metric"]).name, options, convention, stored["scale"])


def _stored_moments(stored: Mapping[str, Any], n: int) -> tuple[Moments, ...]:
    """The moments at each of n cut-offs, which are stored one by one or all in one."""
    bounds = metric_named(stored["metric"]).bounds
    moments = [
        Moments(int(one["n"]), bounds=bounds, **{name: np.array(one[name], dtype=np.float64) for name in COLUMNS})
        for one in stored["moments"]
    ]
    at_cutoffs = tuple(at for several in moments for at in _by_cutoff(several))
    if len(at_cutoffs) != n:
        raise ValueError(f"{stored['metric']} has moments at {len(at_cutoffs)} cut-offs, and k holds {n}")
    return at_cutoffs


def _differing(convention: Convention) -> dict[str, Any]:
    return {
        one.name: getattr(convention, one.name)
        for one in fields(convention)
        if one.name != "metric" and getattr(convention, one.name) != one.default
    }


def _numbers(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


__all__ = ["Measure", "Partial", "PartialCounts", "Question", "refuse_unless_mean"]
