"""What must come out of a case: worked out user by user by the naive reference, or
refused.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recnb.conventions.convention import ROW_ORDERS, TRUTH_ORDERS
from tests import reference
from tests.strategies import Options
from tests.tools.attack.cases import Case
from tests.tools.attack.kinds import GRADES, SCORES

#: Rules of equal scores that give each row a place of its own.
UNTIED = ("first", *ROW_ORDERS, *TRUTH_ORDERS, "expected")


class RefusedError(Exception):
    """recnb must refuse the case."""


class SkippedError(Exception):
    """The reference has no definition of this, or no library has such a frame: it is
    not looked at.
    """


@dataclass(frozen=True)
class Expected:
    """Each user's ranking, or all equally likely ones, and who is averaged."""

    rankings: dict[int, list[reference.Ranking]]
    top: float  #: the highest relevance of the truth
    options: Options
    gaps: frozenset[int]  #: users whose ranks leave places empty

    def of(self, metric: str, chosen: Options, k: int | None) -> dict[int, float]:
        """The value of each user who counts."""
        values = {}
        shares = self.options.get("ties", "first") not in UNTIED
        for user, rankings in self.rankings.items():
            if rankings[0].grades:
                if user in self.gaps and shares and "list" in str(chosen.get("out_of")):
                    # the length of a list is its last place, which the reference has
                    # not
                    raise SkippedError
                each = [self._value(metric, chosen, one, k, shares) for one in rankings]
                values[user] = math.fsum(each) / len(each)
            elif (word := self.options.get("no_relevant", "skip")) != "skip":
                values[user] = {"zero": 0.0, "one": 1.0}[word]
        return values

    def _value(
        self,
        metric: str,
        chosen: Options,
        ranking: reference.Ranking,
        k: int | None,
        shares: bool,
    ) -> float:
        ideal_depth = math.inf if k is None else k
        k = ranking.places if k is None else k
        ranking = replace(ranking, k=k, depth=k, ideal_depth=ideal_depth)
        if metric == "err" and chosen.get("max_relevance") is None:
            chosen = {**chosen, "max_relevance": self.top}
        unusual = (
            shares
            or "relevant" in self.options
            or self.options.get("negative_relevance") == "keep"
        )
        if unusual and metric == "ndcg" and reference.idcg(ranking, **chosen) <= 0:
            raise SkippedError  # items that are relevant without a gain
        return float(reference.DEFINITIONS[metric](ranking, **chosen))


def expected(case: Case) -> Expected:
    """The rankings of all users who are averaged; RefusedError where recnb must refuse
    the frames.
    """
    options = {**reference.DEFAULTS, "duplicates": "error", **case.options}
    by = case.columns[0] if options["order"] == "auto" else options["order"]
    graded = [(row[:2], grade_of(case, row[2])) for row in case.truth]
    truth: dict[tuple[int, int], float] = {}
    for pair, grade in graded:
        truth[pair] = max(truth.get(pair, -math.inf), grade)
    pairs = {row[:2] for row in case.recs}
    catalogue = options["candidates"] == "catalogue"
    # By given ranks an item that nobody judged may be repeated, and so may any in a list
    # that no number sees.
    judged_users = {user for user, _ in truth}
    all_count = catalogue or options["averaged_users"] in ("recs", "union")
    may_count = [
        row[:2]
        for row in case.recs
        if (by != "rank" or row[:2] in truth) and (all_count or row[0] in judged_users)
    ]
    repeated = len(truth) < len(case.truth) or len({*may_count}) < len(may_count)
    if (
        (by not in case.columns and by != "row")
        or (options["duplicates"] == "error" and repeated)
        # a negative relevance is refused in a row that "dedupe" leaves out, too
        or (
            options["negative_relevance"] == "error"
            and any(grade < 0 for _, grade in graded)
        )
        or (
            case.columns == ("rank", "score")
            and "order" not in case.options
            and disagreeing(case)
        )
        or not {user for user, _ in pairs} & {user for user, _ in truth}
    ):
        raise RefusedError
    if by == "row" and options["candidates"] != "list" and options["ties"] != "first":
        raise SkippedError  # whether what was added is tied, where nothing else can be
    if (options["ties"] == "expected" and options["duplicates"] == "hit_once") or (
        catalogue and options["ties"] not in ("first", "max_rank")
    ):
        raise RefusedError
    return ranked(case, truth, {**options, "order": by})


def grade_of(case: Case, level: int) -> float:
    """The relevance; in single precision, what equals the threshold is taken for what
    was typed.
    """
    grade, threshold = (
        float(GRADES[case.grades].values[level]),
        case.options.get("relevant_from"),
    )
    return (
        threshold
        if case.grades == "float32" and threshold and grade == np.float32(threshold)
        else grade
    )


def disagreeing(case: Case) -> bool:
    """Whether scores rise where ranks do."""
    by_rank = sorted(case.recs, key=lambda row: (row[0], row[3]))
    return any(
        one[0] == below[0] and one[2] < below[2]
        for one, below in itertools.pairwise(by_rank)
    )


def ranked(
    case: Case, truth: dict[tuple[int, int], float], options: Options
) -> Expected:
    """Lists in order, with the hits in them, and the users who count."""
    by_rank = options["order"] == "rank"
    if options["order"] != "score":
        options = {**options, "nonpositive_scores": "keep"}
    # A level tells scores apart as their values do; where single precision or the sign
    # counts, the value itself.
    valued = {"score_dtype", "nonpositive_scores"} & set(case.options)
    levels = (
        SCORES[case.scores].values if valued else range(len(SCORES[case.scores].values))
    )
    data: reference.Case = {
        "recs": [
            {"user": user, "item": item, "score": levels[level], "rank": rank}
            for user, item, level, rank in case.recs
        ],
        "truth": [
            {"user": user, "item": item, "relevance": grade}
            for (user, item), grade in truth.items()
        ],
        "k": 1,
    }
    found: dict[int, list[reference.Ranking]] = {}
    for user in reference.averaged_users(data, options):
        if options["ties"] == "expected" and too_many(data, user, options):
            raise SkippedError
        found[user] = reference.rankings(data, user, options)
    if options["no_relevant"] == "skip" and not any(
        rankings[0].grades for rankings in found.values()
    ):
        raise RefusedError
    length = Counter(row[0] for row in case.recs)
    gaps = (
        frozenset(row[0] for row in case.recs if row[3] > length[row[0]])
        if by_rank and options["duplicates"] != "dedupe"
        else frozenset()
    )
    top = max(
        (max(grade, 0) for grade in truth.values()), default=0
    )  # the scale of ERR starts at 0
    return Expected(found, top, case.options, gaps)


def too_many(data: reference.Case, user: int, options: Options) -> bool:
    """Whether the equal scores of a user have too many orders to go through."""
    rows: Any = reference.without_duplicates(
        reference.candidates(data, user, options), options
    )
    tied = Counter(reference.sort_key(line, options) for line in rows)
    return math.prod(map(math.factorial, tied.values())) > 800
