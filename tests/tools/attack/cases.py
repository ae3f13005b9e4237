"""A data set of whole numbers: what is in it, in which order, under which options, by
which way in; and a strategy of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recnb import METRICS
from recnb.conventions.convention import WORDS
from tests.strategies import Options, values_of
from tests.tools.attack.kinds import GRADES, IDS, SCORES, THRESHOLDS

#: How often each way in is tried.
WAYS = {
    "pandas": 12,
    "accessor": 4,
    "pandas on arrow": 3,
    "polars": 8,
    "lazy": 4,
    "arrow": 5,
    "dataset": 3,
    "duckdb": 4,
    "streamed lazy": 4,
    "streamed dataset": 4,
    "streamed duckdb": 3,
    "streamed files": 3,
}

Row = tuple[int, int, int, int]


@dataclass(frozen=True)
class Case:
    """One data set: rows as (user, item, level of score, rank) and (user, item, level
    of relevance).
    """

    users: tuple[str, str]  #: kind of the ids in recommendations, and in the truth
    items: tuple[str, str]
    scores: str
    grades: str
    recs: tuple[Row, ...]
    truth: tuple[tuple[int, int, int], ...]
    columns: tuple[str, ...]  #: score, rank or both
    options: Options = field(default_factory=dict)  #: of the data
    metrics: dict[str, Options] = field(default_factory=dict)
    k: tuple[int | None, ...] = (1, None)
    way: str = "pandas"
    seed: int = 0

    def choices(self, more: int = 0) -> Random:
        """Return what a way in decides, the same each time."""
        return Random(self.seed + more)


def chance(share: float) -> st.SearchStrategy[bool]:
    """Draw whether something is done, in this share of the cases; it shrinks to no."""
    return st.floats(0, 1, exclude_max=True).map(lambda drawn: drawn > 1 - share)


@st.composite
def ids(draw: st.DrawFn) -> tuple[str, str]:
    """A kind of ids for each side: mostly the same, or another with the same values."""
    kind = IDS[draw(st.sampled_from(list(IDS)))]
    kin = [
        other.name
        for other in IDS.values()
        if kind.family and other.family == kind.family
    ]
    return kind.name, draw(st.sampled_from(kin)) if kin and draw(
        chance(0.3)
    ) else kind.name


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Users with lists and judged items, some with one of them, under options, by a way
    in.
    """
    way = draw(
        st.sampled_from([way for way, weight in WAYS.items() for _ in range(weight)])
    )
    users, items = draw(ids()), draw(ids())
    scores, grades = (
        draw(st.sampled_from(list(SCORES))),
        draw(st.sampled_from(list(GRADES))),
    )
    options = draw(data_options(scores, grades))
    # Ties in plenty between two scores that stand next to each other, or next to none.
    n_levels = len(SCORES[scores].values)
    lowest = draw(st.integers(0, n_levels - 2))
    levels = (
        st.integers(lowest, lowest + 1)
        if draw(st.booleans())
        else st.integers(0, n_levels - 1)
    )
    longest = 6 if options.get("ties") == "expected" else 12
    repeats = draw(chance(0.2)) or options.get("duplicates", "error") != "error"
    gap, of_grades = (
        st.sampled_from([1, 1, 1, 1, 2]),
        st.integers(0, len(GRADES[grades].values) - 1),
    )
    an_item = st.integers(0, len(IDS[items[0]].values) - 1)
    recs: list[Row] = []
    truth: list[tuple[int, int, int]] = []
    population = st.lists(
        st.integers(0, len(IDS[users[0]].values) - 1),
        min_size=1,
        max_size=7,
        unique=True,
    )
    for number, user in enumerate(draw(population)):
        if number == 0 or not draw(chance(0.2)):
            listed = draw(
                st.lists(an_item, min_size=1, max_size=longest, unique=not repeats)
            )
            ranks = np.cumsum([draw(gap) for _ in listed]).tolist()
            recs += [
                (user, item, draw(levels), rank)
                for item, rank in zip(listed, ranks, strict=True)
            ]
        if number == 0 or not draw(chance(0.2)):
            judged = draw(st.lists(an_item, min_size=1, max_size=8, unique=not repeats))
            truth += [(user, item, draw(of_grades)) for item in judged]
    columns = draw(
        st.sampled_from([("score",), ("score",), ("rank",), ("rank", "score")])
    )
    if columns == ("rank", "score") and draw(chance(0.7)):
        recs = agreeing(recs)
    usual = draw(st.booleans())
    metrics: dict[str, Options] = {
        name: {}
        if usual
        else {
            option: draw(st.sampled_from(values))
            for option, values in values_of(metric).items()
        }
        for name, metric in METRICS.items()
    }
    how = draw(st.sampled_from(["in order", "together", "mixed"]))
    return Case(
        users=users,
        items=items,
        scores=scores,
        grades=grades,
        recs=arranged(recs, columns[0], draw(st.permutations(recs)), how),
        truth=tuple(draw(st.permutations(truth))),
        columns=columns,
        options=options,
        metrics=metrics,
        k=draw(
            st.sampled_from(
                [(1, 3, None), (2, 5, 10), (None, 1), (1, 2, 3, 5, 20), (4,)]
            )
        ),
        way=way,
        seed=draw(st.integers(0, 2**31)),
    )


def agreeing(recs: list[Row]) -> list[Row]:
    """Return rows whose scores fall as ranks rise."""
    by_rank = sorted(recs, key=lambda row: (row[0], row[3]))
    by_level = sorted(recs, key=lambda row: (row[0], -row[2]))
    return [
        (user, item, below[2], rank)
        for (user, item, _, rank), below in zip(by_rank, by_level, strict=True)
    ]


def arranged(
    recs: list[Row], by: str, shuffled: Sequence[Row], how: str
) -> tuple[Row, ...]:
    """Return rows in order of users and lists, with each user's list together in any
    order of users, or mixed.
    """
    if how == "mixed":
        return tuple(shuffled)
    users = list(
        dict.fromkeys(
            row[0] for row in (sorted(recs) if how == "in order" else shuffled)
        )
    )
    return tuple(
        sorted(
            shuffled,
            key=lambda row: (users.index(row[0]), row[3] if by == "rank" else -row[2]),
        )
    )


@st.composite
def data_options(draw: st.DrawFn, scores: str, grades: str) -> Options:
    """Options of the data; none in a third of the cases, which is what most users
    have.
    """
    if draw(chance(0.33)):
        return {}
    floats = SCORES[scores].family == "floats"
    words: dict[str, tuple[float, tuple[Any, ...]]] = {
        "order": (0.3, ("score", "rank", "row")),
        "ties": (0.45, tuple(word for word in WORDS["ties"] if word != "first")),
        "duplicates": (0.35, ("dedupe", "hit_once", "keep", "rows")),
        "candidates": (0.25, ("padded", "padded", "catalogue")),
        "judged": (0.15, ("list",)),
        "relevant": (0.12, ("any", "!=0")),
        "negative_relevance": (0.5 if grades == "signed" else 0.05, ("zero", "keep")),
        "averaged_users": (0.4, ("recs", "both", "union")),
        "no_relevant": (0.4, ("zero", "one")),
        "score_dtype": (0.1 if floats else 0, ("float32",)),
        "nonpositive_scores": (0.1 if floats else 0, ("never_hit",)),
    }
    chosen = {
        name: draw(st.sampled_from(values))
        for name, (share, values) in words.items()
        if share and draw(chance(share))
    }
    if grades in THRESHOLDS and "relevant" not in chosen and draw(chance(0.35)):
        chosen["relevant_from"] = draw(st.sampled_from(THRESHOLDS[grades]))
    return chosen
