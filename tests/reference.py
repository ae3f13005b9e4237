"""The naive reference: every metric and every convention in plain Python, one user at a
time, that shares nothing with recnb.

A `Ranking` holds the lines of a list with their positions, and what was relevant.
`of_list` makes one of a plain list, `rankings` of rows under the decisions of a
`Convention`; `evaluate` goes on to the mean. The recorded values of libraries settle
all edge rules but those marked *by choice*.

>>> REFERENCE["ndcg"](["x", "a", "b"], {"a": 1, "b": 3}, k=3) == (1 / math.log2(3) + 3 / 2) / (3 + 1 / math.log2(3))
True
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations, product
from typing import Any, NamedTuple

import numpy as np

from recnb.conventions import Convention


class Line(NamedTuple):
    """One line of a user's list."""

    item: Any
    score: float = 0  # -inf for an item that was added, not recommended
    rank: int = 0
    row: int = 0  # number of the input line
    grade: float = 0  # 0 if the item is not relevant
    relevant: bool = False
    hit: bool = False
    position: int = (
        0  # 1 = top; tied lines may share a position (max_rank, floor_mean_rank)
    )


@dataclass(frozen=True)
class Ranking:
    """One user's ranked list with what is known of the user's relevant items."""

    lines: Sequence[Line]  # the whole list, before the cut-off
    relevant: Mapping[
        Any, float
    ]  # relevant item -> relevance, in the order of the truth
    grades: Sequence[float]  # one for each relevant item that is to be found
    places: int  # in the list, empty ones too
    k: int
    depth: (
        float  # the cut-off: k, without k the list's end, or infinity with cutoff=none
    )
    ideal_depth: float  # the same of the ideal list: without k infinity

    @property
    def hits(self) -> list[Line]:
        """Hits above the cut-off. With shared positions there may be more or fewer than
        k lines.
        """
        return [line for line in self.lines if line.hit and line.position <= self.depth]

    @property
    def length(self) -> float:
        return min(self.depth, self.places)


def of_list(items: Sequence[Any], truth: Mapping[Any, float], k: int | None) -> Ranking:
    """The ranking of a plain list: None is an empty place, and `k=None` the list's own
    length.
    """
    relevant = {item: grade for item, grade in truth.items() if grade > 0}
    lines = [
        Line(
            item,
            grade=relevant.get(item, 0),
            relevant=item in relevant,
            hit=item in relevant,
            position=position,
        )
        for position, item in enumerate(items, 1)
        if item is not None
    ]
    ideal_depth = math.inf if k is None else k
    k = len(items) if k is None else k
    grades = list(relevant.values())
    return Ranking(lines, relevant, grades, len(items), k, k, ideal_depth)


def ratio(part: float, whole: float) -> float:
    """0 where nothing could be earned."""
    return part / whole if whole else 0.0


def divisor(ranking: Ranking, out_of: str) -> float:
    """What the hits, or the sum of precisions, are divided by."""
    relevant = len(ranking.grades)
    return {
        "k": ranking.k,  # also with cutoff=none
        "list": ranking.length,
        "relevant": relevant,
        "min(k, relevant)": min(ranking.k, relevant),
        "min(list, relevant)": min(ranking.length, relevant),
        "hits": len(ranking.hits),
    }[out_of]


# Sets


def precision(ranking: Ranking, out_of: str = "k") -> float:
    return ratio(len(ranking.hits), divisor(ranking, out_of))


def recall(ranking: Ranking, out_of: str = "relevant") -> float:
    return ratio(len(ranking.hits), divisor(ranking, out_of))


def fbeta(ranking: Ranking, beta: float = 1) -> float:
    """The harmonic mean as van Rijsbergen has it: (1 + beta²) P R / (beta² P + R)."""
    p, r = precision(ranking), recall(ranking)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def hit_rate(ranking: Ranking) -> float:
    return float(len(ranking.hits) > 0)


# Ranks


def reciprocal_rank(ranking: Ranking, target: str = "first") -> float:
    # max() keeps the first of equal ones, which is the first listed.
    preferred = max(ranking.relevant, key=ranking.relevant.__getitem__, default=None)
    wanted = [
        line for line in ranking.hits if target == "first" or line.item == preferred
    ]
    return max((1 / line.position for line in wanted), default=0.0)


def average_precision(ranking: Ranking, out_of: str = "relevant") -> float:
    """The precision at each hit's place, added up; hits that share a position all count
    in one another's precision.
    """
    above = [
        sum(other.position <= line.position for other in ranking.hits)
        for line in ranking.hits
    ]
    precisions = [
        n / line.position for n, line in zip(above, ranking.hits, strict=True)
    ]
    return ratio(sum(precisions), divisor(ranking, out_of))


def r_precision(ranking: Ranking) -> float:
    n_relevant = len(ranking.grades)
    return ratio(
        len(replace(ranking, depth=min(ranking.depth, n_relevant)).hits), n_relevant
    )


def rbp(ranking: Ranking, p: float = 0.8, out_of: str = "1") -> float:
    """A reader looks at each next place with probability p."""
    met = (1 - p) * sum(p ** (line.position - 1) for line in ranking.hits)
    return met if out_of == "1" else ratio(met, len(ranking.grades))


def err(ranking: Ranking, max_relevance: float | None = None) -> float:
    """Algorithm 2 of Chapelle et al. (2009): go down the list, keeping the chance that
    the reader is still there.
    """
    best = max(ranking.grades, default=0)
    top = best if max_relevance is None else max_relevance
    if best > top:
        raise ValueError("a grade is above the top of the scale")
    value, still_here = 0.0, 1.0
    for line in ranking.hits:
        stop = (2**line.grade - 1) / 2**top
        value += still_here * stop / line.position
        still_here *= 1 - stop
    return value


# Gains


def gain_of(grade: float, gain: str) -> float:
    exponential = math.expm1(
        grade * math.log(2)
    )  # 2**grade - 1, which is 0 in floats for tiny grades
    return {"linear": grade, "exponential": exponential, "binary": 1.0}[gain]


def discount_of(position: int, discount: str, log_base: float) -> float:
    if discount == "clipped_log":
        # Järvelin and Kekäläinen (2002): ranks above the base of the logarithm are not
        # discounted.
        return 1 if position < log_base else math.log(position) / math.log(log_base)
    return {"log": math.log(position + 1) / math.log(log_base), "rank": position}[
        discount
    ]


def best_grades(ranking: Ranking, ideal: str = "relevant") -> list[float]:
    """Relevance of each place of the best list, from rank 1 down to the cut-off."""
    if ideal == "k":
        return [max(ranking.grades)] * ranking.k if ranking.grades else []
    deepest = {"min(k, list)": ranking.length, "all": math.inf}.get(
        ideal, ranking.ideal_depth
    )
    best = enumerate(sorted(ranking.grades, reverse=True), 1)
    return [grade for place, grade in best if place <= deepest]


def cg(ranking: Ranking, gain: str = "linear") -> float:
    return sum(gain_of(line.grade, gain) for line in ranking.hits)


def dcg(
    ranking: Ranking,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
    out_of: str = "1",
) -> float:
    gained = sum(
        gain_of(line.grade, gain) / discount_of(line.position, discount, log_base)
        for line in ranking.hits
    )
    return gained if out_of == "1" else ratio(gained, len(ranking.grades))


def idcg(
    ranking: Ranking,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
    ideal: str = "relevant",
) -> float:
    grades = enumerate(best_grades(ranking, ideal), 1)
    return sum(
        gain_of(grade, gain) / discount_of(place, discount, log_base)
        for place, grade in grades
    )


def ndcg(
    ranking: Ranking,
    gain: str = "linear",
    discount: str = "log",
    log_base: float = 2,
    ideal: str = "relevant",
) -> float:
    return ratio(
        dcg(ranking, gain, discount, log_base),
        idcg(ranking, gain, discount, log_base, ideal),
    )


DEFINITIONS: dict[str, Callable[..., float]] = {
    one.__name__: one
    for one in (
        precision,
        recall,
        fbeta,
        hit_rate,
        reciprocal_rank,
        average_precision,
        cg,
        dcg,
        idcg,
        ndcg,
        r_precision,
        rbp,
        err,
    )
} | {"f1": fbeta}


def _of_list(metric: str) -> Callable[..., float]:
    def value(
        items: Sequence[Any],
        truth: Mapping[Any, float],
        k: int | None = None,
        **options: Any,
    ) -> float:
        return DEFINITIONS[metric](of_list(items, truth, k), **options)

    return value


#: The metrics of a plain list: `REFERENCE["ndcg"](items, truth, k, gain="linear")`.
REFERENCE = {metric: _of_list(metric) for metric in DEFINITIONS}


Options = dict[str, Any]
#: Frames as `recs` (user, item, score, rank; in input order) and `truth` (user, item,
#: relevance), and the cut-off `k`.
Case = dict[str, Any]

DEFAULTS: Options = vars(Convention())
Group = Sequence[Line]  # lines tied with one another


# Rows under a convention: 1. ranking


def candidates(case: Case, user: Any, options: Options) -> list[Line]:
    """The lines of one user in input order, with the items that the option adds below
    the recommended ones.
    """
    recs = [row for row in case["recs"] if row["user"] == user]
    shown = {row["item"] for row in recs}
    added: list[Any] = {
        "list": [],
        # the user's unretrieved judged items, relevant or not, in the order of truth
        # (by choice)
        "padded": [
            row["item"]
            for row in case["truth"]
            if row["user"] == user and row["item"] not in shown
        ],
        # all unretrieved items in the recs and truth of all users, in the order of
        # their names (by choice)
        "catalogue": sorted(
            {row["item"] for row in case["recs"] + case["truth"]} - shown
        ),
    }[options["candidates"]]
    lines = [
        Line(row["item"], stored(row["score"], options), row["rank"], n)
        for n, row in enumerate(recs)
    ]
    # added items are tied with one another, below every recommended item whatever its
    # score
    last = max((line.rank for line in lines), default=0)
    lines += [
        Line(item, -math.inf, last + 1, len(recs) + n) for n, item in enumerate(added)
    ]
    grades = relevant_items(case, user, options)
    return [
        line._replace(grade=grades.get(line.item, 0), relevant=line.item in grades)
        for line in lines
    ]


def stored(score: float, options: Options) -> float:
    """The score as the library holds it; float32 turns gaps below about 1e-7 of the
    score into ties.
    """
    with np.errstate(over="ignore"):
        return (
            float(np.float32(score)) if options["score_dtype"] == "float32" else score
        )


def sort_key(line: Line, options: Options) -> float:
    """What the list is sorted by, ascending; equal values are tied. In the order of
    rows nothing is ever tied.
    """
    return {"score": -line.score, "rank": line.rank, "row": line.row}[options["order"]]


def orders(lines: list[Line], options: Options) -> list[list[Line]]:
    """The ranked list with its positions; with ties=expected all equally likely ones."""
    lines = sorted(
        lines, key=lambda line: sort_key(line, options)
    )  # stable: ties stay in input order
    groups = [
        list(group)
        for _, group in groupby(lines, key=lambda line: sort_key(line, options))
    ]
    if (
        options["ties"] == "expected"
    ):  # the metric is the mean over all orders of all tied groups
        return [
            place(choice, options)
            for choice in product(*(list(permutations(group)) for group in groups))
        ]
    arrange: dict[str, Callable[[Group], Group]] = {
        "last": lambda group: group[::-1],  # input order reversed
        "item_desc": lambda group: sorted(
            group, key=lambda line: line.item, reverse=True
        ),
        "item_asc": lambda group: sorted(group, key=lambda line: line.item),
        "worst": lambda group: sorted(
            group, key=lambda line: line.grade
        ),  # lowest grade first, then input (by choice)
    }
    return [
        place([arrange.get(options["ties"], list)(group) for group in groups], options)
    ]


def place(groups: Sequence[Group], options: Options) -> list[Line]:
    """Every line with its position: 1, 2, …, or one position for all tied lines."""
    ranked: list[Line] = []
    for group in groups:
        above, size = len(ranked), len(group)
        # the last position of the group, and its mean position rounded down
        shared = {
            "max_rank": above + size,
            "floor_mean_rank": (above + 1 + above + size) // 2,
        }
        ranked += [
            line._replace(position=shared.get(options["ties"], above + i))
            for i, line in enumerate(group, 1)
        ]
    return ranked


def without_duplicates(lines: list[Line], options: Options) -> list[Line]:
    """Lines without repeated items if duplicates=dedupe, which moves the items below
    them up; all other rules keep the lines.
    """
    if options["duplicates"] != "dedupe":
        return lines
    # the best placed line of each item (by choice); with ties=expected its tied copies
    # are all the same
    first = options | {"ties": "first"} if options["ties"] == "expected" else options
    kept = {line.item: line.row for line in reversed(orders(lines, first)[0])}.values()
    return [line for line in lines if line.row in kept]


# 2. relevance


def relevant_items(case: Case, user: Any, options: Options) -> dict[Any, float]:
    """The grade of each relevant item of one user; all other items have grade 0."""
    judged = {
        row["item"]: row["relevance"] for row in case["truth"] if row["user"] == user
    }
    negative, least = options["negative_relevance"], options["relevant_from"]
    if negative == "error" and any(grade < 0 for grade in judged.values()):
        raise ValueError("a grade is negative")
    if negative == "zero":
        judged = {item: max(grade, 0) for item, grade in judged.items()}
    passes: Callable[[float], bool] = {
        ">0": lambda grade: grade > 0,
        "!=0": lambda grade: grade != 0,
        "any": lambda grade: (
            True
        ),  # with grade 0 or below too; negative grades stay negative gains
    }[options["relevant"]]
    return {
        item: grade
        for item, grade in judged.items()
        if (passes(grade) if least is None else grade >= least)
    }


def relevant_grades(
    case: Case, user: Any, lines: list[Line], options: Options
) -> list[float]:
    """One grade for each relevant item that is to be found, and that the ideal list
    has.
    """
    result = []
    for item, grade in relevant_items(case, user, options).items():
        copies = sum(line.item == item for line in lines)
        if options["duplicates"] != "rows":
            copies = min(
                copies, 1
            )  # an item counts once however often it was recommended
        if options["judged"] == "truth":
            copies = max(
                copies, 1
            )  # judged=list does not see relevant items outside the list
        result += [grade] * copies
    return result


def mark_hits(lines: list[Line], options: Options) -> list[Line]:
    """The lines, with those marked that count as hits."""
    marked: list[Line] = []
    for i, line in enumerate(lines):
        again = options["duplicates"] == "hit_once" and line.item in {
            above.item for above in lines[:i]
        }
        never = (
            options["nonpositive_scores"] == "never_hit" and line.score <= 0
        )  # added items have no positive score
        marked.append(line._replace(hit=line.relevant and not again and not never))
    return marked


def put_back(ranking: Ranking, ranks: list[int]) -> Ranking:
    """The ranking with the places that its ranks leave empty; what was added stands
    right below the last one.
    """
    last = ranks[-1] - len(ranks) if ranks else 0
    places = [
        0,
        *ranks,
        *(last + position for position in range(len(ranks) + 1, ranking.places + 1)),
    ]
    lines = [line._replace(position=places[line.position]) for line in ranking.lines]
    return replace(ranking, lines=lines, places=places[ranking.places])


def rankings(case: Case, user: Any, options: Options) -> list[Ranking]:
    """One user's ranking, or all equally likely ones if ties=expected."""
    lines = without_duplicates(candidates(case, user, options), options)
    grades = relevant_grades(case, user, lines, options)
    k = len(lines) if case["k"] is None else case["k"]
    depth = {"k": k, "none": math.inf}[options["cutoff"]]
    ideal_depth = math.inf if case["k"] is None else depth
    seen = {line.item for line in lines}
    relevant = {
        item: grade
        for item, grade in relevant_items(case, user, options).items()
        if options["judged"] == "truth" or item in seen
    }
    made = [
        Ranking(
            mark_hits(order, options),
            relevant,
            grades,
            len(lines),
            k,
            depth,
            ideal_depth,
        )
        for order in orders(lines, options)
    ]
    ranks = sorted(row["rank"] for row in case["recs"] if row["user"] == user)
    gaps = (
        options["order"] == "rank"
        and options["duplicates"] != "dedupe"
        and len(set(ranks)) == len(ranks)
    )
    if not gaps:
        return made
    made = [put_back(one, ranks) for one in made]
    if case["k"] is None and options["cutoff"] == "k":
        made = [replace(one, depth=one.places) for one in made]
    if case["k"] is None:
        made = [replace(one, k=one.places) for one in made]
    return made


# 3. users


def averaged_users(case: Case, options: Options) -> list[Any]:
    """Who is averaged. A user with zero grades only is in truth."""
    truth, recs = ({row["user"] for row in case[table]} for table in ("truth", "recs"))
    return sorted(
        {"truth": truth, "recs": recs, "both": truth & recs, "union": truth | recs}[
            options["averaged_users"]
        ]
    )


def evaluate(metric: str, options: Options, case: Case) -> float:
    """The value of one metric on one case; NaN if every user is left out."""
    options = DEFAULTS | options
    values = [
        value
        for user in averaged_users(case, options)
        if (value := of_user(metric, case, user, options)) is not None
    ]
    return sum(values) / len(values) if values else math.nan


def of_user(metric: str, case: Case, user: Any, options: Options) -> float | None:
    """One user's value; None for one who is left out."""
    possible = rankings(case, user, options)
    chosen = {name: value for name, value in options.items() if name not in DEFAULTS}
    # no relevant item is visible; for ndcg also: the ideal is 0 as all grades are, and
    # not as an empty list ends at once
    best = replace(possible[0], k=max(possible[0].k, 1))
    if options["cutoff"] == "none":
        best = replace(best, depth=math.inf)
    # Where a relevant item has a gain, a list of none of them is worth 0, though its own
    # items have no better order.
    has_no_gain = options["relevant"] != ">0" and metric == "ndcg"
    if not possible[0].grades or (has_no_gain and idcg(best, **chosen) == 0):
        return {"skip": None, "zero": 0.0, "one": 1.0}[options["no_relevant"]]
    return sum(DEFINITIONS[metric](each, **chosen) for each in possible) / len(possible)
