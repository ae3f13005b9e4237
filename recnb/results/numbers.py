"""Numbers: means with intervals and differences with tests, each once.

They are of all users or of each part of a division. Tables, curves, segments, gates and
reports are views of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recnb.display.text import sample_in_words
from recnb.metrics.hits import Bools, Floats, Ints
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Better
from recnb.results.segments import Division
from recnb.results.values import Basis, WordedBasis
from recnb.results.verdicts import FOUND

#: Values closer than this are the same: sums taken in another order differ in the last
#: places.
SAME = 1e-12

#: The power of the difference that is called detectable.
POWER = 0.8

#: Models, each with the one that it is compared with.
Pairs = Sequence[tuple[str, str]]


class Place(NamedTuple):
    """What numbers are of: a metric at a cut-off, in one part of a division."""

    part: int  #: its position in the keys of the division
    name: str  #: of the metric, as it is asked for
    measure: Measure
    k: int | None
    n_users: int  #: what is drawn at random: users, or clusters of `cluster=`
    n_lists: int | None = None  #: None where each user has one
    cluster: str = ""  #: the column whose values are clusters; "" of users


class MeanArrays(NamedTuple):
    """Means, places × models."""

    mean: Floats
    low: Floats  #: NaN without an interval
    high: Floats
    best: Bools  #: of several models the best, or the same to the last digits
    near_best: Bools  #: not shown to differ from the best


class DifferenceArrays(NamedTuple):
    """Differences, places × pairs; NaN where they are not tested."""

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_holm: Floats  #: corrected with all others of the column
    effect_size: Floats
    won: Ints
    tied: Ints
    lost: Ints
    detectable: Floats  #: the smallest difference found with 80 % power
    verdict: NDArray[Any]
    is_test: Bools  #: whether it is a test of its own


@dataclass(frozen=True, slots=True)
class MeanRow:
    """One model's number of a metric at a cut-off, with its interval.

    The ends are NaN where it has none.
    """

    model: str
    metric: str
    symbol: str
    k: int | None
    mean: float
    low: float
    high: float
    n_users: int
    best: bool = False
    near_best: bool = False
    mark: str = ""  #: beside it, one of `MARKS`
    n_lists: int | None = None  #: None where each user has one
    cluster: str = ""  #: the column whose values are clusters; "" of users

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return label_of(self.symbol, self.k)


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One model against another in a metric at a cut-off, over the users of both.

    In segments of one model it is of their users against all others, and names none.
    """

    metric: str
    symbol: str
    k: int | None
    model: str
    baseline: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    effect_size: float
    won: int
    tied: int
    lost: int
    n_users: int
    detectable: float
    better: Better
    verdict: str
    n_lists: int | None = None  #: None where each user has one
    cluster: str = ""  #: the column whose values are clusters; "" of users

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return label_of(self.symbol, self.k)

    @property
    def column(self) -> tuple[str, int | None]:
        """The metric and the cut-off: tests of a column are corrected together."""
        return self.metric, self.k

    @property
    def sample(self) -> str:
        """The users in words, with the number of their lists if they have several."""
        return sample_in_words(self.n_users, self.n_lists, self.cluster)

    @property
    def is_found(self) -> bool:
        """Whether the two are shown to differ."""
        return self.verdict in FOUND

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain Python; its verdict says what is better."""
        values = as_plain(self)
        del values["better"]
        return values


def as_plain(row: MeanRow | DifferenceRow) -> dict[str, Any]:
    """Return a row as plain Python, with its number of lists if users have several."""
    values = asdict(row)
    if row.n_lists is None:
        del values["n_lists"]
    if not row.cluster:
        del values["cluster"]
    return values


def label_of(symbol: str, k: int | None) -> str:
    """Return a metric at a cut-off, as nDCG@10."""
    return symbol if k is None else f"{symbol}@{k}"


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is measured of models."""

    places: Sequence[Place]  #: those of a part together
    models: Sequence[str]
    pairs: Pairs
    means: MeanArrays
    differences: DifferenceArrays
    #: Of each model, by metric as it is asked for, in this order.
    bases: Mapping[str, Sequence[Basis | WordedBasis]]
    division: Division

    def marks(self, against: str | None) -> NDArray[Any]:
        """Return the mark of each mean, places × models; "" without one.

        Against a baseline it is the finding, one of `FOUND`; against None it is
        "near_best" where a mean is not shown to differ from the best.
        """
        marks = np.full(self.means.mean.shape, "", dtype=object)
        if against is None:
            marks[self.means.near_best] = "near_best"
            return marks
        for pair, (model, baseline) in enumerate(self.pairs):
            if baseline != against:
                continue
            verdicts = self.differences.verdict[:, pair]
            is_found = np.isin(verdicts.astype(str), FOUND)
            index = list(self.models).index(model)
            marks[:, index] = np.where(is_found, verdicts, "")
        return marks

    def mean_rows(self, marked_against: str | None = None) -> Iterator[MeanRow]:
        """Give each mean with its mark, models of a place together."""
        # The fields of `MeanArrays` and the marks, which `MeanRow` has under these names.
        arrays = self.means._asdict() | {"mark": self.marks(marked_against)}
        lists = {name: array.tolist() for name, array in arrays.items()}
        for index, place in enumerate(self.places):
            for model, model_name in enumerate(self.models):
                values = {name: array[index][model] for name, array in lists.items()}
                yield MeanRow(
                    model=model_name,
                    metric=place.measure.name,
                    symbol=place.measure.symbol,
                    k=place.k,
                    n_users=place.n_users,
                    n_lists=place.n_lists,
                    cluster=place.cluster,
                    **values,
                )

    def difference_rows(self) -> Iterator[DifferenceRow]:
        """Give each difference, pairs of a place together."""
        # The fields of `DifferenceArrays`, which `DifferenceRow` has under these names.
        arrays = self.differences._asdict()
        del arrays["is_test"]
        lists = {name: array.tolist() for name, array in arrays.items()}
        for index, place in enumerate(self.places):
            for pair, (model, baseline) in enumerate(self.pairs):
                values = {name: array[index][pair] for name, array in lists.items()}
                yield DifferenceRow(
                    metric=place.measure.name,
                    symbol=place.measure.symbol,
                    k=place.k,
                    model=model,
                    baseline=baseline,
                    n_users=place.n_users,
                    n_lists=place.n_lists,
                    cluster=place.cluster,
                    better=place.measure.metric.better,
                    **values,
                )
