"""Parts of both frames with whole users, and checks that need all parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import Frame, columns_of, find, role_of, roles_of
from recnb.data.population import no_users, users_meet
from recnb.data.relevance import LazyRows
from recnb.data.source import InMemoryRows, Source, named_columns_exist, one_model
from recnb.errors import FrameError


@dataclass(frozen=True)
class Layout:
    """Which column plays which role in either frame, and which names models, if one does."""

    recs: Mapping[str, str]
    truth: Mapping[str, str]
    model: str | None

    @classmethod
    def of(cls, recs: Frame, truth: Frame, columns: Mapping[str, str | None]) -> Layout:
        """Find the columns by role; frames without rows suffice."""
        named_columns_exist(columns, recs, truth)
        return cls(
            find(recs, "recommendations", ["user", "item"], columns, ["rank", "score"]),
            find(truth, "truth", ["user", "item"], columns, ["relevance"]),
            next((name for name in columns_of(recs, "recommendations") if role_of(name) == "model"), None),
        )

    @property
    def recs_read(self) -> dict[str, str]:
        """All that is read of the recommendations, by role."""
        return {**self.recs, **({} if self.model is None else {"model": self.model})}


def source_of(
    recs: pl.DataFrame, truth: pl.DataFrame, labels: Mapping[str, str], truth_labels: Mapping[str, str], **known: Any
) -> Source:
    """The source of rows in memory, ids given one type."""
    validation.same_kind(recs, truth, labels, truth_labels)
    return Source(InMemoryRows(LazyRows.of(recs)), LazyRows.of(truth), labels, truth_labels, **known)


def part_of(recs: pl.DataFrame, truth: pl.DataFrame, layout: Layout) -> Source:
    """The source of some users, from rows of either frame; ids of an empty side are of the other's kind."""
    recs, truth = (_typed_as(one, other) if one.height == 0 else one for one, other in ((recs, truth), (truth, recs)))
    return source_of(recs.drop("model", strict=False), truth, layout.recs, layout.truth, part=True)


def _typed_as(empty: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """An empty table with the id types of another."""
    types = {role: other[role].dtype if role in validation.IDS and other.height else pl.Int64 for role in empty.columns}
    return pl.DataFrame(schema=types)


@dataclass(frozen=True)
class PartSummary:
    """Facts about all rows that are checked before a mean is returned."""

    n_recs: int = 0
    n_truth: int = 0
    met: bool = False  #: whether some user is in both frames
    with_list: Any = None  #: a user with a list
    with_truth: Any = None  #: a user of the truth
    highest: float | None = None  #: the highest relevance
    models: frozenset[Any] = frozenset()  #: two at most: one more than there may be

    @classmethod
    def of(cls, recs: pl.DataFrame, truth: pl.DataFrame) -> PartSummary:
        """The facts of one part."""
        models = recs["model"].drop_nulls().unique().sort().head(2).to_list() if "model" in recs.columns else []
        highest = truth["relevance"].cast(pl.Float64).max() if "relevance" in truth.columns else 1.0
        some = [recs["user"].head(64), recs["user"]] if recs.height and truth.height else []
        return cls(
            n_recs=recs.height,
            n_truth=truth.height,
            met=any(bool(users.is_in(truth["user"].implode()).any()) for users in some),
            with_list=recs["user"][0] if recs.height else None,
            with_truth=truth["user"][0] if truth.height else None,
            highest=highest if isinstance(highest, float) else None,
            models=frozenset(models),
        )

    def __add__(self, other: PartSummary) -> PartSummary:
        known = [highest for highest in (self.highest, other.highest) if highest is not None]
        return PartSummary(
            self.n_recs + other.n_recs,
            self.n_truth + other.n_truth,
            self.met or other.met,
            self.with_list if self.with_list is not None else other.with_list,
            self.with_truth if self.with_truth is not None else other.with_truth,
            max(known, default=None),
            frozenset(sorted(self.models | other.models)[:2]),
        )

    def check(self, n_users: int, n_relevant: int, convention: Convention, layout: Layout) -> None:
        """Raise an error if no user can be averaged."""
        for name, rows in (("recommendations", self.n_recs), ("truth", self.n_truth)):
            if rows == 0:
                raise FrameError(f"{name} is empty: it has no rows to evaluate.")
        if layout.model is not None:
            one_model(pl.Series(sorted(self.models)), layout.model, roles_of(layout.recs).library)
        if not self.met:
            users_meet(pl.Series([self.with_list]), pl.Series([self.with_truth]))
        if n_users == 0 or (n_relevant == 0 and convention.no_relevant == "skip"):
            raise no_users(self.highest, convention)


__all__ = ["Layout", "PartSummary", "part_of", "source_of"]
