"""Reference for conventions: every decision in plain Python and in recnb's words, one user at a time, to be read as a specification.

`evaluate(metric, options, case)` walks the pipeline in the order of this file: ranking, relevance, users; what a metric makes
of a ranking is in tests/reference.py. Options are the decisions of a `Convention` and those of the metric. A case has `recs`
(user, item, score, rank; in input order), `truth` (user, item, relevance) and `k`. The recorded values of libraries settle
all edge rules but those marked *by choice*.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, permutations, product
from typing import Any

from recnb.conventions import Convention
from tests.reference import DEFINITIONS, Line, Ranking, idcg

Options = dict[str, Any]
Case = dict[str, Any]

DEFAULTS: Options = vars(Convention())
Group = Sequence[Line]  # lines tied with one another


# 1. Ranking


def candidates(case: Case, user: Any, options: Options) -> list[Line]:
    """The lines of one user in input order, with the items that the option adds below the recommended ones."""
    recs = [row for row in case["recs"] if row["user"] == user]
    shown = {row["item"] for row in recs}
    added: list[Any] = {
        "list": [],
        # the user's unretrieved judged items, relevant or not, in the order of truth (by choice)
        "padded": [row["item"] for row in case["truth"] if row["user"] == user and row["item"] not in shown],
        # all unretrieved items in the recs and truth of all users, in the order of their names (by choice)
        "catalogue": sorted({row["item"] for row in case["recs"] + case["truth"]} - shown),
    }[options["candidates"]]
    lines = [Line(row["item"], stored(row["score"], options), row["rank"], n) for n, row in enumerate(recs)]
    # added items are tied with one another, below every recommended item whatever its score
    lines += [Line(item, -math.inf, len(recs) + 1, len(recs) + n) for n, item in enumerate(added)]
    grades = relevant_items(case, user, options)
    return [replace(line, grade=grades.get(line.item, 0), relevant=line.item in grades) for line in lines]


def stored(score: float, options: Options) -> float:
    """The score as the library holds it; float32 turns gaps below about 1e-7 of the score into ties."""
    return struct.unpack("f", struct.pack("f", score))[0] if options["score_dtype"] == "float32" else score


def sort_key(line: Line, options: Options) -> float:
    """What the list is sorted by, ascending; equal values are tied. In the order of rows nothing is ever tied."""
    return {"score": -line.score, "rank": line.rank, "row": line.row}[options["order"]]


def orders(lines: list[Line], options: Options) -> list[list[Line]]:
    """The ranked list with its positions; with ties=expected all equally likely ones."""
    lines = sorted(lines, key=lambda line: sort_key(line, options))  # stable: ties stay in input order
    groups = [list(group) for _, group in groupby(lines, key=lambda line: sort_key(line, options))]
    if options["ties"] == "expected":  # the metric is the mean over all orders of all tied groups
        return [place(choice, options) for choice in product(*(list(permutations(group)) for group in groups))]
    arrange: dict[str, Callable[[Group], Group]] = {
        "last": lambda group: group[::-1],  # input order reversed
        "item_desc": lambda group: sorted(group, key=lambda line: line.item, reverse=True),
        "item_asc": lambda group: sorted(group, key=lambda line: line.item),
        "worst": lambda group: sorted(group, key=lambda line: line.grade),  # lowest grade first, then input (by choice)
    }
    return [place([arrange.get(options["ties"], list)(group) for group in groups], options)]


def place(groups: Sequence[Group], options: Options) -> list[Line]:
    """Every line with its position: 1, 2, …, or one position for all tied lines."""
    ranked: list[Line] = []
    for group in groups:
        above, size = len(ranked), len(group)
        # the last position of the group, and its mean position rounded down
        shared = {"max_rank": above + size, "floor_mean_rank": (above + 1 + above + size) // 2}
        ranked += [replace(line, position=shared.get(options["ties"], above + i)) for i, line in enumerate(group, 1)]
    return ranked


def without_duplicates(lines: list[Line], options: Options) -> list[Line]:
    """Lines without repeated items if duplicates=dedupe, which moves the items below them up; all other rules keep the lines."""
    if options["duplicates"] != "dedupe":
        return lines
    # the best placed line of each item (by choice); with ties=expected its tied copies are all the same
    first = options | {"ties": "first"} if options["ties"] == "expected" else options
    kept = {line.item: line.row for line in reversed(orders(lines, first)[0])}.values()
    return [line for line in lines if line.row in kept]


# 2. Relevance


def relevant_items(case: Case, user: Any, options: Options) -> dict[Any, float]:
    """The grade of each relevant item of one user; all other items have grade 0."""
    judged = {row["item"]: row["relevance"] for row in case["truth"] if row["user"] == user}
    negative, least = options["negative_relevance"], options["relevant_from"]
    if negative == "error" and any(grade < 0 for grade in judged.values()):
        raise ValueError("a grade is negative")
    if negative == "zero":
        judged = {item: max(grade, 0) for item, grade in judged.items()}
    passes: Callable[[float], bool] = {
        ">0": lambda grade: grade > 0,
        "!=0": lambda grade: grade != 0,
        "any": lambda grade: True,  # with grade 0 or below too; negative grades stay negative gains
    }[options["relevant"]]
    return {item: grade for item, grade in judged.items() if (passes(grade) if least is None else grade >= least)}


def relevant_grades(case: Case, user: Any, lines: list[Line], options: Options) -> list[float]:
    """One grade for each relevant item that is to be found, and that the ideal list has."""
    result = []
    for item, grade in relevant_items(case, user, options).items():
        copies = sum(line.item == item for line in lines)
        if options["duplicates"] != "rows":
            copies = min(copies, 1)  # an item counts once however often it was recommended
        if options["judged"] == "truth":
            copies = max(copies, 1)  # judged=list does not see relevant items outside the list
        result += [grade] * copies
    return result


def mark_hits(lines: list[Line], options: Options) -> list[Line]:
    """The lines, with those marked that count as hits."""
    marked: list[Line] = []
    for i, line in enumerate(lines):
        again = options["duplicates"] == "hit_once" and line.item in {above.item for above in lines[:i]}
        never = options["nonpositive_scores"] == "never_hit" and line.score <= 0  # added items have no positive score
        marked.append(replace(line, hit=line.relevant and not again and not never))
    return marked


def rankings(case: Case, user: Any, options: Options) -> list[Ranking]:
    """One user's ranking, or all equally likely ones if ties=expected."""
    lines = without_duplicates(candidates(case, user, options), options)
    grades = relevant_grades(case, user, lines, options)
    depth = math.inf if options["cutoff"] == "none" else case["k"]
    seen = {line.item for line in lines}
    relevant = {
        item: grade
        for item, grade in relevant_items(case, user, options).items()
        if options["judged"] == "truth" or item in seen
    }
    return [
        Ranking(mark_hits(order, options), relevant, grades, len(lines), case["k"], depth)
        for order in orders(lines, options)
    ]


# 3. Users


def averaged_users(case: Case, options: Options) -> list[Any]:
    """Who is averaged. A user with zero grades only is in truth."""
    truth, recs = ({row["user"] for row in case[table]} for table in ("truth", "recs"))
    return sorted(
        {"truth": truth, "recs": recs, "both": truth & recs, "union": truth | recs}[options["averaged_users"]]
    )


def evaluate(metric: str, options: Options, case: Case) -> float:
    """The value of one metric on one case; NaN if every user is left out."""
    options = DEFAULTS | options
    values = [
        value for user in averaged_users(case, options) if (value := of_user(metric, case, user, options)) is not None
    ]
    return sum(values) / len(values) if values else math.nan


def of_user(metric: str, case: Case, user: Any, options: Options) -> float | None:
    """One user's value; None for one who is left out."""
    possible = rankings(case, user, options)
    chosen = {name: value for name, value in options.items() if name not in DEFAULTS}
    # no relevant item is visible; for ndcg also: the ideal is 0 as all grades are
    if not possible[0].grades or (metric == "ndcg" and idcg(possible[0], **chosen) == 0):
        return {"skip": None, "zero": 0.0, "one": 1.0}[options["no_relevant"]]
    return sum(DEFINITIONS[metric](each, **chosen) for each in possible) / len(possible)
