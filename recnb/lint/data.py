"""What checks read: the frames, and one metric at one cut-off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.data.role_table import RoleTable, rows_of_users
from recnb.display.language import Message, _
from recnb.display.text import one_line, sample_in_words
from recnb.metrics.gain import Gain
from recnb.metrics.hits import Floats, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import RETRIEVAL_METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import scoring_of, values_of_hits
from recnb.stats import mean_of

Mask = NDArray[np.bool_]
PAIR = ["user", "item"]
#: The frames that there always are, by the names of their arguments.
SIDES = ("recs", "truth")
#: Users, or places, for which a common property is not taken for chance.
ENOUGH_FOR_A_RULE = 10
#: All frames that a check may look at.
FRAMES = (*SIDES, "train", "items", "users")


class NotCheckedError(Exception):
    """A check cannot be made; the message says why, and what to give.

    It is in the catalogue of translations without a mark, and holds `facts`.
    """

    def __init__(self, message: Message, **facts: Any) -> None:
        super().__init__(_(message, **facts))


def quoted_id(value: Any) -> str:
    """Return an id as Python writes it, so that 1 is told from '1', on one line.

    A backtick would begin code.
    """
    words = str(value)
    if isinstance(value, str):
        words = repr(value)
    elif isinstance(value, float):
        words = f"{value:.0f}" if value.is_integer() else f"{value:g}"
    return one_line(words, 40).replace("`", "'")


class Measured(NamedTuple):
    """A metric's mean, and the number of values behind it."""

    value: float
    n_values: int  #: one of each user, or of each list where users have several


class LintData:
    """One metric at one cut-off on the data of an evaluation.

    Frames are there in two states:

    - `source.recs_rows` and `source.truth_rows` have all rows as they were given, which checks of
      the frames themselves read; `frame(name)` is one of these by its name.
    - `joined.rows.lists` has the rows that are left under the convention, with ranks.
      `joined.rows.truth` has the rows of the truth, `joined.rows.relevant` the relevant
      ones of the users evaluated, which checks of the number read.

    The rest is computed when it is first used.
    """

    def __init__(self, evaluation: EvaluationData, measure: Measure) -> None:
        self.evaluation = evaluation
        self.measure = measure  #: as it is asked for
        self.scoring = scoring_of(evaluation, measure, measure.cutoffs())
        self.metric = measure.metric
        self.joined = self.scoring.joined
        self.side = evaluation.side_data
        self.convention = self.joined.convention
        self.source = self.joined.source
        #: The cut-off; None where whole lists count, and k is only what some
        #: denominators say.
        self.k = measure.k if self.convention.cutoff == "k" else None
        #: The gain that orders items with weights: binary for a metric without one.
        self.gain: Gain = self.scoring.measure.chosen.get("gain", "binary")

    @cached_property
    def values(self) -> Floats:
        """The metric as it is, by user."""
        scoring = self.scoring
        return values_of_hits(self.joined, scoring.measure, scoring.cutoffs)[:, 0]

    @property
    def measured(self) -> Measured:
        """The metric as it is, in one number."""
        return Measured(
            value=mean_of(self.values, self.joined.user_weight),
            n_values=int(np.count_nonzero(~np.isnan(self.values))),
        )

    @property
    def in_words(self) -> str:
        """The number that effects are measured by, and the users who have a value."""
        has_value = ~np.isnan(self.values)
        users = self.joined.users.filter(pl.Series(has_value))
        counts = self.evaluation.n_users_and_lists(users)
        return _(
            "Effects are measured with {label}: {value} over {users}.",
            label=self.measure.label,
            value=f"{self.measured.value:.4f}",
            users=sample_in_words(counts["n_users"], counts.get("n_lists")),
        )

    @cached_property
    def hits(self) -> Hits:
        """The hits in whole lists."""
        return self.joined.hits.down_to(None)

    def values_of(self, hits: Hits) -> tuple[Floats, float]:
        """Compute the metric of hits of the same users: their values, and the mean."""
        scoring = self.scoring
        values = values_of_hits(self.joined, scoring.measure, scoring.cutoffs, hits)
        by_user = values[:, 0]
        return np.nan_to_num(by_user), mean_of(by_user, self.joined.user_weight)

    @property
    def given(self) -> list[str]:
        """The names of the frames that there are."""
        return [
            name
            for name in FRAMES
            if name in SIDES or getattr(self.side, name) is not None
        ]

    def frame(self, name: str) -> pl.DataFrame:
        """Return one of the frames, by roles; an error if its rows are not in memory."""
        if name == "recs":
            return self.source.recs_rows
        if name == "truth":
            return self.source.truth_rows
        frame: pl.DataFrame = getattr(self.side, name)
        return frame

    def ids_of(self, name: str, roles: list[str]) -> pl.DataFrame:
        """Return ids in the rows of a frame; users of train as the lists that they have."""
        frame = self.frame(name)
        if name == "train" and "user" in roles:
            frame = self.source.keys.numbered(RoleTable("train", frame, {})).rows
        return frame.select(roles)

    def ids(self, name: str, role: str) -> pl.Series:
        """Return the users or items of a frame, each once.

        None of a frame that has no such column.
        """
        frame = self.frame(name)
        if role not in frame.columns:
            return pl.Series(role, [], dtype=pl.String)
        ids = frame[role]
        if role == "user" and name in SIDES:
            ids = self.source.keys.users_of(ids)
        return ids.unique(maintain_order=True)

    @cached_property
    def listed(self) -> Mask:
        """Which of the users evaluated have a list."""
        return self.joined.has_list

    def users(self, chosen: Mask) -> pl.DataFrame:
        """Return some of the users evaluated as rows."""
        return self.joined.users.filter(pl.Series(chosen)).alias("user").to_frame()

    @property
    def lists(self) -> pl.DataFrame:
        """The rows of the users evaluated; an error if rows are not in memory."""
        return rows_of_users(self.joined.rows.lists, self.joined.users)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated.

        Rows of relevance 0, which only a convention counts, are left out.
        """
        return self.joined.rows.relevant.filter(pl.col("relevance") > 0)

    def relevant_of(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return the relevant pairs of the users evaluated that are among these."""
        relevant = self.relevant.select(PAIR)
        return relevant.join(pairs, on=PAIR, how="semi", maintain_order="left")

    @property
    def best_value(self) -> float:
        """The value of the metric than which none is better; NaN without a direction."""
        if self.metric.better is None:
            return np.nan
        lowest, highest = self.scoring.measure.bounds
        return highest if self.metric.better == "high" else lowest

    def require(self, *needs: str) -> None:
        """Raise an error that names the first of these, words of `NEEDS`, that lacks."""
        for need in needs:
            is_there, words = NEEDS[need]
            if not is_there(self):
                raise NotCheckedError(
                    words, label=self.measure.label, least=ENOUGH_FOR_A_RULE
                )


class Need(NamedTuple):
    """What a check cannot do without.

    The words are in the catalogue of translations without a mark.
    """

    is_there: Callable[[LintData], bool]
    words: Message  #: the reason why the check is not made


NEEDS = {
    "train": Need(lambda data: data.side.train is not None, "Give `train=` to check."),
    "items": Need(lambda data: data.side.items is not None, "Give `items=` to check."),
    "k": Need(lambda data: data.measure.k is not None, "Give `k=` to check."),
    "score": Need(
        lambda data: "score" in data.source.recs.labels,
        "The lists have no scores.",
    ),
    "judged": Need(
        lambda data: "judged" in RETRIEVAL_METRICS,
        "The package lacks the measures of search.",
    ),
    "direction": Need(
        lambda data: data.metric.better is not None,
        "{label} has no direction: a value is neither good nor bad.",
    ),
    "best value": Need(
        lambda data: bool(np.isfinite(data.best_value)),
        "{label} has no highest value.",
    ),
    "lists": Need(
        lambda data: bool(data.listed.sum() >= ENOUGH_FOR_A_RULE),
        "It takes {least} {users} with a list.",
    ),
}
