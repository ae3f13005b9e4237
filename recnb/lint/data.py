"""What checks read: the frames, the lists in order, and one metric at one cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.metrics.hits import Cutoffs, Floats, Hits
from recnb.metrics.metric import Metric
from recnb.results.evaluation_data import EvaluationData, average, cutoffs_under

Mask = NDArray[np.bool_]
PAIR = ["user", "item"]
#: The frames that a check may look at, by the names of their arguments.
FRAMES = ("recs", "truth", "train", "items", "users")


class LintData:
    """One metric at one cut-off on the data of an evaluation; each part is computed when it is first used."""

    def __init__(
        self, evaluation: EvaluationData, metric: Metric[...], options: Mapping[str, Any], k: int | None
    ) -> None:
        self.evaluation, self.metric, self.options, self.asked_k = evaluation, metric, dict(options), k
        self.scoring = evaluation.scoring(metric, options, whole=k is None)
        self.prepared, self.side = self.scoring.prepared, evaluation.side_data
        self.convention = self.prepared.convention
        self.source = self.prepared.source
        #: The cut-off; None where whole lists count, and k is only what some denominators say.
        self.k = None if self.convention.cutoff == "none" else k

    # The metric

    @cached_property
    def averaged(self) -> tuple[Floats, Floats]:
        """The metric as it is: the values of the users, and their mean."""
        return self.scoring.averaged(Cutoffs.one(self.asked_k))

    @property
    def measured(self) -> tuple[str, float, int]:
        """The metric's label, its mean, and the number of users behind it."""
        values, mean = self.averaged
        return self.metric.label(self.asked_k), float(mean[0]), int(np.count_nonzero(~np.isnan(values)))

    @cached_property
    def hits(self) -> Hits:
        """The hits in whole lists."""
        return self.prepared.hits(None)

    def values_of(self, hits: Hits) -> tuple[Floats, float]:
        """Compute the metric of hits of the same users: their values, and the mean."""
        credit = self.metric.at(hits, cutoffs_under(self.convention, Cutoffs.one(self.asked_k)), self.scoring.options)
        matrix, mean = average(credit, self.convention)
        return np.nan_to_num(matrix[:, 0]), float(mean[0])

    # The frames

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
        frame, none = self.frame(name), pl.Series(role, [], dtype=pl.String)
        return frame[role].unique(maintain_order=True) if role in frame.columns else none

    # The users evaluated

    @cached_property
    def listed(self) -> Mask:
        """Which of the users evaluated have a list."""
        return np.asarray(self.prepared.list_length > 0)

    def users(self, chosen: Mask) -> pl.DataFrame:
        """Return some of the users evaluated as rows."""
        return self.prepared.users.filter(pl.Series(chosen)).alias("user").to_frame()

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated, without those of relevance 0 that only a convention counts."""
        return self.prepared.truth.filter(pl.col("relevance") > 0)

    def relevant_of(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return those of the relevant pairs of the users evaluated that are among these."""
        return self.relevant.select(PAIR).join(pairs, on=PAIR, how="semi", maintain_order="left")
