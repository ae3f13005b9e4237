"""Random data for libraries that may not be installed here, and what their functions
read of it.

Data are plain lists and dictionaries, so that JSON carries them; nothing but the
standard library is needed here.

A data set is what a probe case is: `recs` (user, item, score, rank; the order of the
rows is nobody's ranking), `truth` (user, item, relevance) and `k`; for metrics beyond
accuracy also `lists` (user, item, rank), `train` (user, item), `features` (item to
vector) and `catalogue`. `kind` names what is special about it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

DataSet = dict[str, Any]
Metric = Callable[[DataSet], Any]

#: What is special about a data set. "same users": the users of one frame are those of
#: the other. "tied": scores are equal. "close": scores differ, but not in single
#: precision. "nonpositive": scores are 0 and less. "rank": the column of ranks is
#: another order than that of the scores. "no zeros": every judged item is relevant.
#: "found": all users have a list, which has their judged items but for one at most.
#: "repeated": pairs are recommended twice. "long": lists of 17 to 40 items, where
#: sorting routines change their ways; "long, tied": the same with equal scores.
#: "shallow": no list is as long as k. "odd grades": relevance is -1, 0, 0.5, 1, 2 or 4.
#: "in order": rows fall in score, every list has nine items, all relevant ones among
#: them, and each of them was had by somebody.
KINDS = (
    "same users", "tied", "plain", "close", "no zeros", "nonpositive", "rank", "found",
    "repeated", "long", "shallow", "long, tied", "odd grades", "in order",
)  # fmt: skip
#: Shortest and longest list.
LENGTHS = {"long": (17, 40), "long, tied": (17, 40), "in order": (9, 9)}
ODD_GRADES = (-1, 0, 0.5, 1, 2, 4)


def data_sets(seed: int, number: int) -> list[DataSet]:
    """As many data sets as asked for, the kinds in turn, binary and graded, letters and
    longer names.
    """
    return [
        data_set(random.Random(1000 * seed + n), KINDS[n % len(KINDS)])
        for n in range(number)
    ]


def data_set(rng: random.Random, kind: str) -> DataSet:
    """One data set: three to five users, one of them at least in both frames, with
    lists of 1 to 9 items or 17 to 40.
    """
    n_items = rng.randint(40, 60) if kind.startswith("long") else rng.randint(12, 24)
    items = (
        [chr(97 + n) for n in range(n_items)]
        if rng.random() < 0.5
        else [f"item{n}" for n in range(n_items)]
    )
    users = [str(n) for n in rng.sample(range(1, 200), rng.randint(3, 5))]
    top = 1 if kind == "in order" else rng.choice((1, 1, 2, 4))
    listed, judged = set(users), set(users)
    if kind not in ("same users", "found", "in order"):
        listed -= set(rng.sample(users, rng.choice((0, 0, 1))))
        judged -= set(rng.sample(users, rng.choice((0, 0, 1))))
    recs: list[list[Any]] = []
    truth: list[list[Any]] = []
    for user in users:
        if user in listed:
            recs += one_list(rng, user, items, kind)
        if user in judged:
            some = rng.sample(items, rng.randint(1, 7))
            if kind in ("found", "in order"):
                shown = [item for one, item, *_ in recs if one == user]
                some = [
                    *rng.sample(shown, rng.randint(1, len(shown))),
                    *(
                        item
                        for item in some[:1]
                        if item not in shown and kind == "found"
                    ),
                ]
            lowest = 1 if kind == "no zeros" else rng.choice((0, 0, 1))
            truth += [
                [
                    user,
                    item,
                    rng.choice(ODD_GRADES)
                    if kind == "odd grades"
                    else rng.randint(lowest, top),
                ]
                for item in some
            ]
    if kind == "repeated":
        recs += [
            [*row[:2], row[2] - rng.choice((0, 1, 3)) / 16, row[3] + 20 + n]
            for n, row in enumerate(rng.sample(recs, 2))
        ]
    if kind != "in order":
        rng.shuffle(recs)
    rng.shuffle(truth)
    return {
        "kind": kind,
        "k": rng.randint(10, 12)
        if kind == "shallow"
        else rng.randint(1, 25 if kind.startswith("long") else 8),
        "recs": recs,
        "truth": truth,
        "lists": [[user, item, n] for user, item, n in ranked(recs)],
        **about_items(rng, recs, users, items, warm=kind == "in order"),
    }


def one_list(
    rng: random.Random, user: str, items: list[str], kind: str
) -> list[list[Any]]:
    """The list of one user: item, score and rank, best first."""
    chosen = rng.sample(items, rng.randint(*LENGTHS.get(kind, (1, 9))))
    length = len(chosen)
    scores = {
        "tied": [rng.randint(1, 3) / 4 for _ in chosen],
        "long, tied": [rng.randint(1, 12) / 4 for _ in chosen],
        "close": [1 + rng.randint(0, 3) + n * 1e-9 for n in range(length)],
        "nonpositive": [s / 8 for s in rng.sample(range(-40, 30), length)],
    }.get(kind, [s / 8 for s in rng.sample(range(1, 160), length)])
    scores.sort(reverse=True)
    ranks = list(range(1, length + 1))
    if kind == "rank":
        rng.shuffle(ranks)
    return [
        [user, item, score, rank]
        for item, score, rank in zip(chosen, scores, ranks, strict=True)
    ]


def ranked(recs: list[list[Any]]) -> list[tuple[str, str, int]]:
    """User, item and rank, from 1 on, in the order of the scores."""
    seen: dict[str, int] = {}
    found = []
    for user, item in dict.fromkeys(
        (user, item) for user, item, _, _ in sorted(recs, key=lambda row: -row[2])
    ):
        seen[user] = seen.get(user, 0) + 1
        found.append((user, item, seen[user]))
    return found


def about_items(
    rng: random.Random,
    recs: list[list[Any]],
    users: list[str],
    items: list[str],
    *,
    warm: bool,
) -> DataSet:
    """What users had before (never what they are recommended), vectors of zeros and
    ones, and all items there are.
    """
    shown = {(user, item) for user, item, *_ in recs}
    had = items if warm else rng.sample(items, len(items) - rng.randint(0, 3))
    train = [
        [user, item]
        for user in [*users, "201", "202", "203"]
        for item in rng.sample(had, rng.randint(2, 7))
        if (user, item) not in shown
    ]
    train += [["204", item] for item in items if warm]
    features = {item: [1, *(rng.randint(0, 1) for _ in range(4))] for item in items}
    return {"train": train, "features": features, "catalogue": items}


# What libraries read
# ---------------------------------------------------------------------------------------------------  # noqa: E501


def variants(
    ask: Callable[..., Any], asked: Mapping[str, Any], suffix: str = "", **options: Any
) -> dict[str, Metric]:
    """A metric for each variant: `ask`, called with a data set, what stands for the
    variant, and options.
    """
    return {
        name + suffix: lambda data, what=what: ask(data, what, **options)
        for name, what in asked.items()
    }


def runs(data: DataSet) -> dict[str, dict[str, float]]:
    """Score of every item, by user, as trec_eval and its kin read it: of a pair that is
    there twice, the higher one.
    """
    found: dict[str, dict[str, float]] = {}
    for user, item, score, _ in data["recs"]:
        scores = found.setdefault(user, {})
        if score > scores.get(item, -math.inf):
            scores.pop(item, None)
            scores[item] = score
    return found


def qrels(data: DataSet) -> dict[str, dict[str, float]]:
    """Relevance of every judged item, by user."""
    found: dict[str, dict[str, float]] = {}
    for user, item, relevance in data["truth"]:
        found.setdefault(user, {})[item] = relevance
    return found


def lists(data: DataSet, *, by_row: bool = False) -> dict[str, list[str]]:
    """Items of every user, by score or in the order of the rows, repeats and all."""
    return listed(
        data["recs"] if by_row else sorted(data["recs"], key=lambda row: -row[2])
    )


def listed(rows: Iterable[Any]) -> dict[str, list[str]]:
    """Items of every user, in the order of the rows."""
    found: dict[str, list[str]] = {}
    for user, item, *_ in rows:
        found.setdefault(user, []).append(item)
    return found


def candidates(
    data: DataSet, *, full: bool
) -> dict[str, list[tuple[str, float, float]]]:
    """Item, score and relevance of every recommended row, by user; if `full`, also of
    judged items that were missed, at -9.
    """
    truth = qrels(data)
    found: dict[str, list[tuple[str, float, float]]] = {}
    for user, item, score, _ in data["recs"]:
        found.setdefault(user, []).append(
            (item, score, truth.get(user, {}).get(item, 0))
        )
    if full:
        recs = runs(data)
        for user, grades in truth.items():
            missed = [
                (item, -9.0, grade)
                for item, grade in grades.items()
                if item not in recs.get(user, {})
            ]
            found[user] = found.get(user, []) + missed
    return found


def mean(values: Iterable[float]) -> float:
    """Mean of some numbers; NaN of none."""
    given = list(values)
    return sum(given) / len(given) if given else math.nan
