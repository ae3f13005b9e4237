"""What must come out of a case: worked out user by user, from the definitions in the two references of the tests."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from recnb.conventions.convention import ROW_ORDERS, TRUTH_ORDERS
from tests.conventions import reference as lines
from tests.reference import DEFINITIONS, Ranking, idcg
from tests.strategies import Options
from tests.tools.attack.cases import Case
from tests.tools.attack.kinds import GRADES, SCORES, reaches

UNTIED = (*ROW_ORDERS, *TRUTH_ORDERS)


class RefusedError(Exception):
    """recnb must refuse the case."""


class UndefinedError(Exception):
    """The references have no definition of this: it is not looked at."""


@dataclass(frozen=True)
class Expected:
    """Each user's ranking, or all equally likely ones, and who is averaged."""

    rankings: dict[int, list[Ranking]]
    top: float  #: the highest relevance of the truth
    options: Options
    gaps: frozenset[int] = frozenset()  #: users whose ranks leave places empty

    def of(self, metric: str, chosen: Options, k: int | None) -> dict[int, float]:
        """The value of each user who counts."""
        values = {}
        for user, rankings in self.rankings.items():
            if rankings[0].grades:
                if user in self.gaps and self.shares and "list" in str(chosen.get("out_of")):
                    raise UndefinedError  # the length of a list is its last place, which the reference has not
                each = [self._value(metric, chosen, one, k) for one in rankings]
                values[user] = math.fsum(each) / len(each)
            elif (word := self.options.get("no_relevant", "skip")) != "skip":
                values[user] = {"zero": 0.0, "one": 1.0}[word]
        return values

    @property
    def shares(self) -> bool:
        """Whether equal scores share a place."""
        return self.options.get("ties", "first") not in (*UNTIED, "expected")

    def _value(self, metric: str, chosen: Options, ranking: Ranking, k: int | None) -> float:
        k = ranking.places if k is None else k
        ranking = replace(ranking, k=k, depth=k)
        if metric == "err" and chosen.get("max_relevance") is None:
            chosen = {**chosen, "max_relevance": self.top}
        if "relevant" in self.options or self.shares or self.options.get("negative_relevance") == "keep":
            self._refuse_undefined(metric, chosen, ranking)
        return float(DEFINITIONS[metric](ranking, **chosen))

    def _refuse_undefined(self, metric: str, chosen: Options, ranking: Ranking) -> None:
        """Refuse what the papers leave open: places that several lines share, items that are relevant without a gain."""
        if metric == "ndcg" and idcg(ranking, **chosen) <= 0:
            raise UndefinedError


def order_of(case: Case) -> str:
    asked = case.options.get("order")
    if asked == "row":
        return "row"
    if asked is not None:
        if asked not in case.columns:
            raise RefusedError
        return str(asked)
    return case.columns[0]


def expected(case: Case) -> Expected:
    """The rankings of all users who are averaged; RefusedError where recnb must refuse the frames."""
    options, by = case.options, order_of(case)
    grade_of = GRADES[case.grades].values
    truth: dict[tuple[int, int], Any] = {}
    for user, item, level in case.truth:
        truth[user, item] = max(truth.get((user, item), grade_of[level]), grade_of[level])
    duplicates = options.get("duplicates", "error")
    pairs = [row[:2] for row in case.recs]
    if duplicates == "error" and (len(truth) < len(case.truth) or len(set(pairs)) < len(pairs)):
        raise RefusedError
    negative = options.get("negative_relevance", "error")
    if negative == "error" and any(grade_of[level] < 0 for _user, _item, level in case.truth):
        raise RefusedError
    if by == case.columns[0] == "rank" and "score" in case.columns and "order" not in options and case.recs != ():
        disagreeing(case)
    if not case.recs or not case.truth or not {row[0] for row in case.recs} & {user for user, _ in truth}:
        raise RefusedError
    if by == "row" and options.get("candidates", "list") != "list" and options.get("ties", "first") != "first":
        raise UndefinedError  # whether what was added is tied, where nothing else can be
    expects = options.get("ties") == "expected"
    if expects and duplicates == "hit_once":
        raise RefusedError
    if options.get("candidates") == "catalogue" and options.get("ties", "first") not in ("first", "max_rank"):
        raise RefusedError
    return ranked(case, truth, by)


def disagreeing(case: Case) -> None:
    """Refuse scores that rise where ranks do."""
    for user in {row[0] for row in case.recs}:
        levels = [row[2] for row in sorted((row for row in case.recs if row[0] == user), key=lambda row: row[3])]
        if levels != sorted(levels, reverse=True):
            raise RefusedError


def ranked(case: Case, truth: dict[tuple[int, int], Any], by: str) -> Expected:
    """Lists in order, with the hits in them, and the users who count."""
    options = case.options
    threshold, negative = options.get("relevant_from"), options.get("negative_relevance")
    grades = {pair: float(grade) for pair, grade in truth.items()}
    if threshold is not None:
        grades = {pair: at_threshold(grade, threshold, case.grades) for pair, grade in grades.items()}
    if negative == "zero":
        grades = {pair: max(grade, 0.0) for pair, grade in grades.items()}
    # Ranks leave places empty; the reference numbers lines from 1, and the places are put back below.
    place: dict[tuple[int, int], int] = {}
    for user in {row[0] for row in case.recs}:
        ranks = sorted(row[3] for row in case.recs if row[0] == user)
        place |= {(user, n): rank for n, rank in enumerate(ranks, 1)}
    compact = {(user, rank): n for (user, n), rank in place.items()}
    data: lines.Case = {
        "recs": [
            {"user": user, "item": item, "score": score(case, level), "rank": compact[user, rank]}
            for user, item, level, rank in case.recs
        ],
        "truth": [{"user": user, "item": item, "relevance": grade} for (user, item), grade in grades.items()],
        "k": 1,
    }
    named = ("ties", "candidates", "relevant", "judged", "score_dtype", "averaged_users")
    asked: Options = {
        **lines.DEFAULTS, **{name: options[name] for name in named if name in options},
        "order": by, "duplicates": options.get("duplicates", "keep"), "negative_relevance": "keep",
        "nonpositive_scores": options.get("nonpositive_scores", "keep") if by == "score" else "keep",
    }  # fmt: skip
    gaps = by == "rank" and asked["duplicates"] != "dedupe"
    found: dict[int, list[Ranking]] = {}
    for user in lines.averaged_users(data, asked):
        if asked["ties"] == "expected" and too_many(data, user, asked):
            raise UndefinedError
        rankings = lines.rankings(data, user, asked)
        if gaps:
            n = sum(row[0] == user for row in case.recs)
            last = place.get((user, n), 0)
            put_back = {position: place.get((user, position), last + position - n) for position in range(1, n + 30)}
            rankings = [
                replace(
                    one,
                    lines=[replace(line, position=put_back[line.position]) for line in one.lines],
                    places=put_back[one.places] if one.places else 0,
                )
                for one in rankings
            ]
        if not rankings[0].grades and options.get("no_relevant", "skip") == "error":
            raise RefusedError
        found[user] = rankings
    if options.get("no_relevant", "skip") == "skip" and not any(rankings[0].grades for rankings in found.values()):
        raise RefusedError
    gapped = frozenset(user for (user, n), rank in place.items() if rank > n) if gaps else frozenset()
    return Expected(found, max(grades.values(), default=0.0), options, gapped)


def at_threshold(grade: float, threshold: float, kind: str) -> float:
    """Relevance below the threshold is none; in single precision, what equals the threshold is taken for what was typed."""
    if not reaches(grade, threshold, kind):
        return 0.0
    return float(threshold) if kind == "float32" and np.float32(grade) == np.float32(threshold) else grade


def score(case: Case, level: int) -> Any:
    """A level tells scores apart as their values do; where single precision or the sign counts, the value itself."""
    if {"score_dtype", "nonpositive_scores"} & set(case.options):
        return (
            Single(SCORES[case.scores].values[level])
            if "score_dtype" in case.options
            else SCORES[case.scores].values[level]
        )
    return level


class Single(float):
    """A score that the reference packs into single precision, where 1e300 has no place."""

    def __new__(cls, value: Any) -> Self:
        with np.errstate(over="ignore"):
            return super().__new__(cls, np.float32(value))


def too_many(data: lines.Case, user: int, asked: Options) -> bool:
    """Whether the equal scores of a user have too many orders to go through."""
    rows = lines.without_duplicates(lines.candidates(data, user, asked), asked)
    return math.prod(math.factorial(n) for n in Counter(lines.sort_key(line, asked) for line in rows).values()) > 800
