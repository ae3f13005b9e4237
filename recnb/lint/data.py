"""What checks read: the frames, the lists in order, and one metric at one cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.data.validation import in_floats
from recnb.metrics.hits import Cutoffs, Floats, Hits, Ints, in_order
from recnb.metrics.metric import Metric
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

    def places(self, hits: Hits) -> Ints:
        """Find the row of each hit; -1 for a hit below the lists."""
        stride = int(self.rank.max(initial=0)) + 1
        key, wanted = np.r_[self.user * stride + self.rank, -1], hits.user * stride + hits.rank
        at = np.minimum(np.searchsorted(key[:-1], wanted), len(key) - 1)
        return np.where((key[at] == wanted) & (hits.rank < stride), at, -1)


class LintData:
    """One metric at one cut-off on the data of an evaluation; each part is computed when it is first used."""

    def __init__(
        self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any], k: int | None
    ) -> None:
        self.evaluation, self.metric, self.options, self.asked_k = evaluation, metric, dict(options), k
        self.scoring: Scoring = evaluation.scoring(metric, options, whole=k is None)
        self.prepared, self.side = self.scoring.prepared, evaluation.side_data
        self.convention = self.prepared.convention
        assert self.prepared.source is not None
        self.source = self.prepared.source
        #: The cut-off; None where whole lists count, and k is only what some denominators say.
        self.k = None if self.convention.cutoff == "none" else k
        self._ids: dict[tuple[str, str], pl.Series] = {}

    @cached_property
    def hits(self) -> Hits:
        """The hits of whole lists."""
        return self.prepared.hits(None)

    @cached_property
    def averaged(self) -> tuple[Floats, Floats]:
        """The metric as it is: the values of the users, and their mean."""
        return self.scoring.averaged(Cutoffs.one(self.asked_k))

    @property
    def own(self) -> tuple[str, float, int]:
        """The metric's label, its mean and its users."""
        return labelled(self.averaged, self.metric, self.asked_k)

    def of_hits(self, hits: Hits) -> tuple[Floats, float]:
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
        """Return the users or items of a frame, each once."""
        if (name, role) not in self._ids:
            frame = self.frame(name) if name in self.given else pl.DataFrame()
            self._ids[name, role] = (
                frame[role].unique(maintain_order=True) if role in frame.columns else pl.Series(role, [])
            )
        return self._ids[name, role]

    def unlisted(self, name: str, role: str) -> pl.Series:
        """Return the users or items of a frame that no list has."""
        if ("un" + name, role) not in self._ids:
            ids = self.ids(name, role)
            self._ids["un" + name, role] = ids.filter(~ids.is_in(self.ids("recs", role).implode())) if len(ids) else ids
        return self._ids["un" + name, role]

    @cached_property
    def rows(self) -> ListRows | None:
        """The lists of the users evaluated, in order; None if they have no scores that are numbers."""
        recs, users = self.prepared.recs, self.prepared.users
        if "score" not in recs.columns or not (recs["score"].dtype.is_numeric() or recs["score"].dtype == pl.Boolean):
            return None
        runs = recs["user"].rle_id().to_numpy()
        known = users.alias("user").to_frame().with_row_index("place")
        starts = recs["user"].gather(np.flatnonzero(np.r_[True, runs[1:] != runs[:-1]])).to_frame()
        place = starts.join(known, on="user", how="left", maintain_order="left")["place"].cast(pl.Int64).fill_null(-1)
        user = place.to_numpy()[runs]
        row = np.flatnonzero(user >= 0)
        rank, score = recs["rank"].to_numpy(), in_floats(recs["score"])
        key = user[row] * (int(rank.max(initial=0)) + 1) + rank[row]
        row = row if (key[1:] > key[:-1]).all() else row[in_order(key)]
        return ListRows(user[row], rank[row], score[row], row)

    @cached_property
    def listed(self) -> Mask:
        """Whether each user evaluated has a list."""
        return np.asarray(self.prepared.list_length > 0)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated, without those of relevance 0 that only a convention counts."""
        graded = {**self.metric.defaults, **self.scoring.options}.get("gain", "binary") != "binary"
        truth = self.prepared.truth
        return truth.filter(pl.col("relevance") > 0) if self.convention.relevant == "any" and graded else truth

    def of_users(self, chosen: Mask) -> pl.DataFrame:
        """Return some of the users evaluated as rows."""
        return self.prepared.users.filter(pl.Series(chosen)).alias("user").to_frame()


def labelled(found: tuple[Floats, Floats], metric: Metric[...], k: int | None) -> tuple[str, float, int]:
    """Return a metric's label, its mean at one cut-off, and its users."""
    return metric.label(k), float(found[1][0]), int(np.count_nonzero(~np.isnan(found[0])))
