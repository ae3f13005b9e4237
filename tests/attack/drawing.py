"""A data set of whole numbers, drawn from a seed: what is in it, in which order, under which options, by which way in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recnb import METRICS
from recnb.conventions.convention import WORDS
from tests.attack.kinds import GRADES, IDS, SCORES, THRESHOLDS
from tests.strategies import Options, values_of

#: How often each way in is tried.
WAYS = {
    "pandas": 12, "accessor": 4, "pandas on arrow": 3, "polars": 8, "lazy": 4, "arrow": 5, "arrow over numpy": 3, "polars over numpy": 2, "dataset": 3, "duckdb": 4,
    "streamed lazy": 4, "streamed dataset": 4, "streamed duckdb": 3, "streamed files": 3, "one frame": 6, "frame of lists": 5,
    "one list": 5, "dask": 3, "compare": 5, "beyond": 6, "spoiled": 8,
}  # fmt: skip

#: What is done to a frame that must then be refused.
SPOILS = (
    "user missing", "item missing", "score missing", "score infinite", "relevance missing", "relevance below 0", "score as text", "rank 0", "rank 1.5",
    "rank twice", "no rows", "items as lists", "ids of other kind", "ids of two kinds", "floats above 2**53", "float32 above 2**24", "fractions as ids", "column twice",
    "complex scores",
)  # fmt: skip

Row = tuple[int, int, int, int]


@dataclass(frozen=True)
class Case:
    """One data set: rows as (user, item, level of score, rank) and (user, item, level of relevance)."""

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
    changed: bool = False  #: whether the caller changes frames once they are evaluated
    seed: int = 0  #: for what a way in decides: where to cut, what to spoil


class Drawer:
    """Draws from numpy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def one(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def some(self, n: int, most: int) -> list[int]:
        """Up to so many different numbers below n, in any order."""
        return [int(one) for one in self.rng.permutation(n)[: self.rng.integers(0, min(n, most) + 1)]]


def ids(draw: Drawer) -> tuple[str, str]:
    """A kind of ids for each side: mostly the same, or another with the same values."""
    kind = IDS[draw.one(list(IDS))]
    kin = [other.name for other in IDS.values() if kind.family and other.family == kind.family]
    return kind.name, draw.one(kin) if kin and draw.chance(0.3) else kind.name


def draw_case(seed: int, number: int) -> Case:
    """The data set of this number."""
    draw = Drawer(np.random.default_rng([seed, number]))
    way = str(draw.rng.choice(list(WAYS), p=np.array(list(WAYS.values())) / sum(WAYS.values())))
    users, items = ids(draw), ids(draw)
    scores, grades = draw.one(list(SCORES)), draw.one(list(GRADES))
    options = data_options(draw, way, scores, grades)
    n_users, n_items = (len(IDS[side[0]].values) for side in (users, items))
    n_items = min(n_items, 8) if way == "beyond" else n_items
    # Ties in plenty between two scores that stand next to each other, or next to none.
    n_levels = len(SCORES[scores].values)
    lowest, highest = (one := int(draw.rng.integers(n_levels - 1)), one + 2) if draw.chance(0.5) else (0, n_levels)
    longest = 6 if options.get("ties") == "expected" else 12
    levels = list(range(len(GRADES[grades].values)))
    recs: list[Row] = []
    truth: list[tuple[int, int, int]] = []
    no_repeat = draw.chance(0.8) and options.get("duplicates", "error") == "error"
    population = draw.some(n_users, 7) or [0]
    for user in population:
        if user == population[0] or draw.chance(0.8):
            items_of = draw.some(n_items, longest) or [0]
            if not no_repeat and draw.chance(0.5):
                items_of = [draw.one(items_of) for _ in items_of]
            ranks = np.cumsum(draw.rng.choice([1, 1, 1, 1, 2], size=len(items_of))).tolist()
            recs += [
                (user, item, int(draw.rng.integers(lowest, highest)), rank)
                for item, rank in zip(items_of, ranks, strict=True)
            ]
        if user == population[0] or draw.chance(0.8):
            judged = draw.some(n_items, 8) or [0]
            if not no_repeat and draw.chance(0.3):
                judged = [draw.one(judged) for _ in judged]
            truth += [(user, item, draw.one(levels)) for item in judged]
    columns = draw.one([("score",), ("score",), ("rank",), ("rank", "score")])
    if columns == ("rank", "score") and draw.chance(0.7):
        recs = agreeing(recs)
    return Case(
        users, items, scores, grades, arranged(draw, recs, columns[0]), tuple(truth[at] for at in draw.rng.permutation(len(truth))) if draw.chance(0.7) else tuple(truth),
        columns, options, metric_options(draw), tuple(draw.one([(1, 3, None), (2, 5, 10), (None, 1), (1, 2, 3, 5, 20), (4,)])), way, draw.chance(0.4), int(draw.rng.integers(2**31)),
    )  # fmt: skip


def agreeing(recs: list[Row]) -> list[Row]:
    """Scores that fall as ranks rise."""
    made = []
    for user in dict.fromkeys(row[0] for row in recs):
        mine = [row for row in recs if row[0] == user]
        levels = sorted((row[2] for row in mine), reverse=True)
        by_rank = sorted(mine, key=lambda row: row[3])
        made += [(u, item, level, rank) for (u, item, _, rank), level in zip(by_rank, levels, strict=True)]
    return made


def arranged(draw: Drawer, recs: list[Row], by: str) -> tuple[Row, ...]:
    """Rows together by user and in order, together in any order, or shuffled."""
    shuffled = [recs[at] for at in draw.rng.permutation(len(recs))]
    how = draw.one(["in order", "in order", "together", "users shuffled", "shuffled", "shuffled"])
    if how == "shuffled":
        return tuple(shuffled)
    users = [row[0] for row in (sorted(recs) if how == "in order" else shuffled)]
    if how != "users shuffled":
        shuffled.sort(key=lambda row: row[3] if by == "rank" else -row[2])
    place = {user: at for at, user in enumerate(dict.fromkeys(users))}
    return tuple(sorted(shuffled, key=lambda row: place[row[0]]))


def data_options(draw: Drawer, way: str, scores: str, grades: str) -> Options:
    """Options of the data; none in a third of the cases, which is what most users have."""
    if way in ("one list", "frame of lists", "beyond", "spoiled") or draw.chance(0.33):
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
    chosen = {name: draw.one(values) for name, (share, values) in words.items() if draw.chance(share)}
    if grades in THRESHOLDS and "relevant" not in chosen and draw.chance(0.35):
        chosen["relevant_from"] = draw.one(THRESHOLDS[grades])
    return chosen


def metric_options(draw: Drawer) -> dict[str, Options]:
    """Every metric, with options of its own in half of the cases."""
    usual = draw.chance(0.5)
    return {
        name: {} if usual else {option: draw.one(values) for option, values in values_of(metric).items()}
        for name, metric in METRICS.items()
    }
