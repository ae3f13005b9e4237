"""Numbers: means with intervals and differences with tests, each once.

They are of all users or of each part of a division, and computed when they are read.
Their two tables, of means and of differences, have one key: part, metric, cut-off and
model, of a difference the baseline as well. Tables, curves, segments and reports are
views of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.display.text import sample_in_words
from recnb.errors import NoUsersError
from recnb.metrics.hits import Bools, Cutoffs, Floats
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Better, Metric, label_of
from recnb.results.arguments import refuse_whole_metrics
from recnb.results.basis import Basis, Worded
from recnb.results.evaluation_data import OF_ITEMS, Models, check_side_data
from recnb.results.scoring import values_of
from recnb.results.segments import EVERYONE, DataParts, Division, Segments
from recnb.results.values import Panel, panels
from recnb.results.verdicts import FOUND, NOT_FOUND, verdicts_of_pairs
from recnb.stats import ROUNDING, Paired, Settings, UserSample, holm

#: A mean, and the ends of its interval.
ESTIMATE = ["mean", "low", "high"]

#: Models, each with the one that it is compared with.
Pairs = Sequence[tuple[str, str]]

#: What the number of each model rests on, by metric as it is asked for.
Bases = Mapping[str, Sequence[Basis]]

#: The columns that identify a difference.
NAMES = ("metric", "k", "model", "baseline")

#: Fields of rows that are not exported: a position in the division, which is not
#: exported, and the direction of a metric, which the verdict has.
NOT_EXPORTED = ("part", "better")


# The rows of the two tables


class _Row:
    """What a row of means and one of differences have in common."""

    metric: str
    symbol: str
    k: int | None
    n_users: int
    n_lists: int | None
    cluster: str

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off: tests of a label are corrected together."""
        return label_of(self.symbol, self.k)

    @property
    def users_phrase(self) -> str:
        """The users in words, with the number of their lists if they have several."""
        return sample_in_words(self.n_users, self.n_lists, self.cluster)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain Python, with its lists if users have several."""
        values = vars(self)
        left_out = {*NOT_EXPORTED}
        if self.n_lists is None:
            left_out.add("n_lists")
        if not self.cluster:
            left_out.add("cluster")
        return {name: values[name] for name in values if name not in left_out}


@dataclass(frozen=True)
class MeanRow(_Row):
    """One model's number of a metric at a cut-off, with its interval."""

    model: str
    metric: str
    symbol: str
    k: int | None
    mean: float
    low: float  #: NaN without an interval
    high: float
    n_users: int  #: what is drawn at random: users, or clusters of `cluster=`
    best: bool = False  #: of several models the best, or the same to the last digits
    near_best: bool = False  #: not shown to differ from the best
    mark: str = ""  #: beside it, one of `MARKS`
    n_lists: int | None = None  #: None where each user has one
    cluster: str = ""  #: the column whose values are clusters; "" of users
    part: int = 0  #: its position in the keys of the division


@dataclass(frozen=True)
class DifferenceRow(_Row):
    """One model against another in a metric at a cut-off, over the users of both.

    In segments of one model it is of their users against all others, and names none.
    """

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    difference: float
    low: float  #: NaN, as p is, where nothing is tested
    high: float
    p: float
    p_holm: float  #: corrected with all others of the metric at the cut-off
    effect_size: float
    won: int
    tied: int
    lost: int
    n_users: int  #: what is drawn at random: users, or clusters of `cluster=`
    detectable: float  #: the smallest difference found with 80 % power
    better: Better
    verdict: str
    n_lists: int | None = None  #: None where each user has one
    cluster: str = ""  #: the column whose values are clusters; "" of users
    part: int = 0  #: its position in the keys of the division

    @property
    def is_found(self) -> bool:
        """Whether the two are shown to differ."""
        return self.verdict in FOUND


# The numbers


class Place(NamedTuple):
    """Where numbers of models stand: a metric at a cut-off in one part, and its users."""

    k: int | None
    measure: Measure
    part: int  #: its position in the keys of the division
    sample: UserSample

    @property
    def column(self) -> tuple[str, int | None]:
        """The metric and the cut-off: tests of a column are corrected together."""
        return self.measure.name, self.k

    @property
    def key(self) -> dict[str, Any]:
        """What rows of the place have in common, by the names that they have there."""
        return {
            "part": self.part,
            "metric": self.measure.name,
            "symbol": self.measure.symbol,
            "k": self.k,
            **self.sample.counted,
        }


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is measured of models: arrays of places × models, and of places × pairs."""

    panels: Sequence[Panel]  #: in the order of the metrics as asked for
    models: Sequence[str]
    pairs: Pairs = ()
    settings: Settings = field(default_factory=Settings)
    division: Division = EVERYONE

    @cached_property
    def places(self) -> list[Place]:
        """The rows of the arrays: those of a panel together."""
        places = list[Place]()
        for panel in self.panels:
            shared = panel.measure, panel.part, panel.sample
            places += [Place(k, *shared) for k in panel.ks]
        return places

    @property
    def bases(self) -> Bases:
        """What the numbers of a metric rest on, at any cut-off and in any part."""
        return {panel.measure.asked_as: panel.bases for panel in self.panels}

    # Means

    @cached_property
    def mean(self) -> Floats:
        """The means: places × models."""
        none = np.empty((0, len(self.models)))
        return np.concatenate([none, *(panel.mean for panel in self.panels)])

    @cached_property
    def estimates(self) -> Floats:
        """The means with the ends of their intervals, NaN without one.

        They are places × models × 3.
        """
        estimates = [np.empty((0, len(self.models), len(ESTIMATE)))]
        for panel in self.panels:
            ends = panel.interval(self.settings.confidence)
            estimates.append(np.stack([panel.mean, *ends], axis=2))
        return np.concatenate(estimates)

    @cached_property
    def best(self) -> Bools:
        """Which means are the best of several models, or the same to the last digits.

        No mean is the best if all are the same, or if the metric has no better direction.
        """
        best = np.zeros(self.mean.shape, dtype=bool)
        for row, place in enumerate(self.places):
            metric = place.measure.metric
            if metric.better is None or metric.of == "all":
                continue
            ordered = metric.sign * self.mean[row]
            is_best = ordered >= ordered.max() - ROUNDING
            if not is_best.all():
                best[row] = is_best
        return best

    @cached_property
    def near_best(self) -> Bools:
        """Which means the test against the best of their place does not show to differ.

        Of equal means the first counts as the best. A mean that is not tested against it
        is not near it.
        """
        near = np.zeros(self.mean.shape, dtype=bool)
        has_best = self.best.any(axis=1)
        first_best = np.argmax(self.best, axis=1)
        for pair, (one, other) in enumerate(self.positions):
            verdicts = self.tests["verdict"][:, pair]
            not_found = has_best & np.isin(verdicts, NOT_FOUND)
            near[:, one] |= not_found & (first_best == other)
            near[:, other] |= not_found & (first_best == one)
        return near & ~self.best

    def marks(self, *, against_baseline: bool) -> NDArray[Any]:
        """Return the mark of each mean, places × models; "" without one.

        Against the baseline of all pairs it is the finding, one of `FOUND`; else it is
        "near_best" where a mean is not shown to differ from the best.
        """
        marks = np.full(self.mean.shape, "", dtype=object)
        if not against_baseline:
            marks[self.near_best] = "near_best"
            return marks
        for pair, (model, _baseline) in enumerate(self.positions):
            verdicts = self.tests["verdict"][:, pair]
            is_found = np.isin(verdicts, FOUND)
            marks[:, model] = np.where(is_found, verdicts, "")
        return marks

    # Differences

    @cached_property
    def tests(self) -> Mapping[str, NDArray[Any]]:
        """The differences with their tests: arrays of places × pairs, by name.

        Names are those of `Paired`, "p_holm", "is_test" and "verdict". The p-values of a
        column are corrected together.
        """
        of_panels = Paired.joined([self._tests_of(panel) for panel in self.panels])
        shape = len(self.places), len(self.pairs)
        tests = Paired._make(numbers.reshape(shape) for numbers in of_panels)
        p_holm, is_test = self._corrected(tests.p)
        corrected = tests._replace(p=p_holm)
        verdict = np.empty(shape, dtype=object)
        for row, place in enumerate(self.places):
            verdict[row] = verdicts_of_pairs(
                Paired._make(numbers[row] for numbers in corrected),
                place.sample,
                self.settings,
                place.measure.metric.better,
            )
        others = {"p_holm": p_holm, "is_test": is_test, "verdict": verdict}
        return tests._asdict() | others

    @property
    def n_tests(self) -> int:
        """The number of tests of all columns; those of a column are corrected together."""
        return int(self.tests["is_test"].sum())

    @property
    def has_gaps(self) -> bool:
        """Whether differences are gaps of segments of one model to all other users."""
        return len(self.models) == 1 and isinstance(self.division, Segments)

    @property
    def positions(self) -> list[tuple[int, int]]:
        """The positions of the two models of each pair."""
        position = list(self.models).index
        return [(position(model), position(other)) for model, other in self.pairs]

    def _tests_of(self, panel: Panel) -> Paired:
        """Return the tests of a panel, by cut-off and then by pair."""
        if not self.pairs or not self.division.is_tested or panel.of_all:
            return Paired.untested(len(panel.ks) * len(self.pairs))
        if self.has_gaps:
            return panel.gaps(self.settings.confidence)
        return panel.tests(self.positions, self.settings)

    def _corrected(self, p: Floats) -> tuple[Floats, Bools]:
        """Correct p-values by Holm's method, over the places of each column together.

        Return them, and which of them are tests.
        """
        corrected, is_test = np.empty_like(p), ~np.isnan(p)
        rows_of = dict[tuple[str, int | None], list[int]]()
        for row, place in enumerate(self.places):
            rows_of.setdefault(place.column, []).append(row)
        for rows in rows_of.values():
            corrected[rows] = holm(p[rows])
            # Of two segments each is the rest of the other: they are one test.
            if self.has_gaps and len(rows) == 2:
                corrected[rows] = p[rows]
                is_test[rows[1]] = False
        return corrected, is_test

    # The two tables

    def mean_rows(self, *, against_baseline: bool = False) -> list[MeanRow]:
        """Return a row for each mean with its mark, those of a part together."""
        mean, low, high = np.moveaxis(self.estimates, 2, 0)
        arrays = {
            "mean": mean,
            "low": low,
            "high": high,
            "best": self.best,
            "near_best": self.near_best,
            "mark": self.marks(against_baseline=against_baseline),
        }
        rows = []
        for place, cells in self._rows_of(arrays):
            for model, values in zip(self.models, cells, strict=True):
                rows.append(MeanRow(model=model, **place.key, **values))
        return rows

    def difference_rows(self, *, even_untested: bool = False) -> list[DifferenceRow]:
        """Return a row for each difference, those of a part together.

        `even_untested`: also what is not tested has an interval, within the bounds.
        """
        if not self.pairs:
            return []
        arrays = {**self.tests}
        del arrays["is_test"]
        low, high = arrays.pop("low_even_untested"), arrays.pop("high_even_untested")
        if even_untested:
            arrays |= {"low": low, "high": high}
        rows = []
        for place, cells in self._rows_of(arrays):
            better = place.measure.metric.better
            for (model, baseline), values in zip(self.pairs, cells, strict=True):
                values |= {"model": model, "baseline": baseline, "better": better}
                rows.append(DifferenceRow(**place.key, **values))
        return rows

    def _rows_of(
        self, arrays: Mapping[str, NDArray[Any]]
    ) -> Iterator[tuple[Place, list[dict[str, Any]]]]:
        """Give each place with its values, for each model or pair a mapping by name.

        The places of a part come together.
        """
        lists = [array.tolist() for array in arrays.values()]
        rows = list(zip(self.places, *lists, strict=True))
        for place, *columns in sorted(rows, key=lambda row: row[0].part):
            cells = zip(*columns, strict=True)
            yield place, [dict(zip(arrays, values, strict=True)) for values in cells]


# To measure


def measured(
    models: Models,
    measures: Sequence[Measure],
    cutoffs: Cutoffs,
    *,
    division: Division = EVERYONE,
    pairs: Pairs = (),
    settings: Settings,
) -> Numbers:
    """Measure metrics of models in each part of a division.

    Measured are means, and the differences of `pairs` with tests. For one model in
    segments, these are the gaps of a segment to all others.
    """
    if division is not EVERYONE and not division.of_split:
        refuse_whole_metrics(measures, "by= cannot break it down: leave it out.")
    if len(models) == 1 and isinstance(division, Segments):  # gaps: one for each place
        pairs = [(model, model) for model in models]
    of_parts = [*_panels_of_parts(models, measures, cutoffs, division)]
    return Numbers(of_parts, list(models), pairs, settings, division)


def _panels_of_parts(
    models: Models, measures: Sequence[Measure], cutoffs: Cutoffs, division: Division
) -> Iterator[Panel]:
    """Compute metrics of every model in each part, at their own cut-offs or at these.

    Segments are cut out of the values of all users; a part of the truth is evaluated by
    itself.
    """
    if isinstance(division, DataParts):
        for part, part_models in division.evaluations_of(models):
            for panel in _panels_of_parts(part_models, measures, cutoffs, EVERYONE):
                # Worded at once, so that the data of a part are not kept for its words.
                bases = [Worded(basis.of_any_users()) for basis in panel.bases]
                yield replace(panel, part=part, bases=bases)
        return
    for measure in measures:
        for panel in panels_of(models, measure, measure.cutoffs(cutoffs)):
            if isinstance(division, Segments):
                yield from _segments_of(panel, division)
            else:
                yield panel


def _segments_of(everyone: Panel, segments: Segments) -> Iterator[Panel]:
    """Give the panel of each segment that has users with a value."""
    segment_of_user = segments.of(everyone.users)  # -1: in none
    for segment in np.unique(segment_of_user[segment_of_user >= 0]).tolist():
        inside = segment_of_user == segment
        yield replace(everyone.among(inside), part=segment, whole=(everyone, inside))


def panels_of(models: Models, measure: Measure, cutoffs: Cutoffs) -> list[Panel]:
    """Compute a metric of every model at some cut-offs."""
    check_side_data(models, _side_data_of(measure.metric))
    return panels([values_of(model, measure, cutoffs) for model in models.values()])


def panels_beyond(models: Models, measure: Measure, cutoffs: Cutoffs) -> list[Panel]:
    """Compute a metric beyond accuracy, or say why it has no number."""
    computed = panels_of(models, measure, cutoffs)
    if not any(np.isfinite(panel.mean).any() for panel in computed):
        raise NoUsersError(measure.metric.no_value)
    return computed


def _side_data_of(metric: Metric[...]) -> Sequence[str]:
    """Return the frames of side data that the values of a metric may depend on."""
    if metric.is_accuracy:
        return ()
    if metric.own:  # the function of which has the columns of items=
        return ("items",)
    return OF_ITEMS if metric.needs else ()
