"""What checks read: the frames, the lists in order, and one metric at one cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.encoding import positions
from recnb.data.validation import in_floats
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import Metric
from recnb.metrics.sorting import in_order
from recnb.results.evaluation_data import EvaluationData, Scoring, average, cutoffs_under

Mask = NDArray[np.bool_]
PAIR = ["user", "item"]
#: The frames that a check may look at, by the names of their arguments.
FRAMES = ("recs", "truth", "train", "items", "users")


@dataclass(frozen=True, eq=False)
class ListRows:
    """The lists of the users evaluated, by user, then rank; every array has a value for each row."""

    user: Ints  #: position among the users evaluated
    rank: Ints
    score: Floats
    row: Ints  #: position in the prepared recommendations

    @cached_property
    def same_user(self) -> Mask:
        """Whether a row and the one before are of one user; one shorter than the rows."""
        return np.asarray(self.user[1:] == self.user[:-1])


class LintData:
    """One metric at one cut-off on the data of an evaluation; each part is computed when it is first used."""

    def __init__(
        self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any], k: int | None, scoring: Scoring | None = None,
    ) -> None:  # fmt: skip
        self.evaluation, self.metric, self.options, self.asked_k = evaluation, metric, dict(options), k
        self.scoring = scoring or evaluation.scoring(metric, options, whole=k is None)
        self.prepared, self.side = self.scoring.prepared, evaluation.side_data
        self.convention, self.hits = self.prepared.convention, self.prepared.hits(None)
        assert self.prepared.source is not None
        self.source = self.prepared.source
        #: The cut-off; None where whole lists count, and k is only what some denominators say.
        self.k = None if self.convention.cutoff == "none" else k
        self.listed: Mask = np.asarray(self.prepared.list_length > 0)
        self._ids: dict[tuple[str, str], pl.Series] = {}

    @cached_property
    def averaged(self) -> tuple[Floats, Floats]:
        """The metric as it is: the values of the users, and their mean."""
        return self.scoring.averaged(Cutoffs.one(self.asked_k))

    @property
    def own(self) -> tuple[str, float, int]:
        """The metric's label, its mean and its users."""
        return labelled(self.averaged, self.metric, self.asked_k)

    def values_of(self, hits: Hits) -> tuple[Floats, float]:
        """Compute the metric of hits of the same users: their values, and the mean."""
        credit = self.metric.at(hits, cutoffs_under(self.convention, Cutoffs.one(self.asked_k)), self.scoring.options)
        matrix, mean = average(credit, self.convention)
        return np.nan_to_num(matrix[:, 0]), float(mean[0])

    @property
    def given(self) -> list[str]:
        """The names of the frames that there are."""
        return [name for name in FRAMES if name in FRAMES[:2] or getattr(self.side, name) is not None]

    def frame(self, name: str) -> pl.DataFrame:
        """Return one of the frames, by roles; an error if its rows are not in memory."""
        frame: pl.DataFrame = getattr(self.source if name in FRAMES[:2] else self.side, name)
        return frame

    def ids(self, name: str, role: str) -> pl.Series:
        """Return the users or items of a frame, each once; none of a frame that has no such column."""
        if (name, role) not in self._ids:
            frame = self.frame(name)
            none = pl.Series(role, [], dtype=pl.String)
            self._ids[name, role] = frame[role].unique(maintain_order=True) if role in frame.columns else none
        return self._ids[name, role]

    @cached_property
    def rows(self) -> ListRows | None:
        """The lists of the users evaluated, in order; None if they have no scores that are numbers."""
        if "score" not in self.prepared.rows.columns:
            return None
        recs = self.prepared.recs
        if not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
            return None
        user, rank = positions(self.prepared.users, recs["user"]), recs["rank"].to_numpy()
        row = np.flatnonzero(user >= 0)
        key = user[row] * (int(rank.max(initial=0)) + 1) + rank[row]
        row = row if (key[1:] > key[:-1]).all() else row[in_order(key)]
        return ListRows(user[row], rank[row], in_floats(recs["score"])[row], row)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated, without those of relevance 0 that only a convention counts."""
        graded = {**self.metric.defaults, **self.scoring.options}.get("gain", "binary") != "binary"
        truth = self.prepared.truth
        return truth.filter(pl.col("relevance") > 0) if self.convention.relevant == "any" and graded else truth

    def relevant_of(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return those of the relevant pairs of the users evaluated that are among these."""
        return self.relevant.select(PAIR).join(pairs, on=PAIR, how="semi", maintain_order="left")

    def users(self, chosen: Mask) -> pl.DataFrame:
        """Return some of the users evaluated as rows."""
        return self.prepared.users.filter(pl.Series(chosen)).alias("user").to_frame()


def labelled(found: tuple[Floats, Floats], metric: Metric[...], k: int | None) -> tuple[str, float, int]:
    """Return a metric's label, its mean at one cut-off, and its users."""
    return metric.label(k), float(found[1][0]), int(np.count_nonzero(~np.isnan(found[0])))
