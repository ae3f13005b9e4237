"""Reference for metric conventions: every option in plain Python, one user at a time, to be read as a specification.

`evaluate(formula, options, case)` walks the pipeline in the order of this file:

1. ranking    which items a user's list holds, in which order, at which position
2. relevance  which judged items are relevant, which lines of the list are hits
3. users      who is averaged, and what an undefined user contributes
4. metric     one value per user
5. average    one value per table

A case has `recs` (user, item, score, rank; in input order), `truth` (user, item, relevance) and `k`. The comments give
the edge rules. The recorded values settle all of them but those marked *by choice*.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations, product
from typing import Any

Options = dict[str, Any]
Case = dict[str, Any]

# Named by every tuple of options: order, score_dtype, ties, duplicates, candidates, cutoff, relevant, judged, users,
# no_relevant, no_recs, average. Off when absent: all_miss, no_hit, normalize, relevance_at, undefined.
DEFAULTS: Options = {
    "nonpositive_scores": "keep",
    "gain": "linear",
    "discount": "log2(i+1)",
    "ideal": "relevant",
    "hit": "any",
    "of": "first",
    "stop": "(2^g-1)/2^max_grade",
    "all_skipped": math.nan,  # value of the table when every user was skipped
}


@dataclass(frozen=True)
class Line:
    """One line of a user's list."""

    item: str
    score: float  # -inf for an item that was added, not recommended
    rank: int
    row: int  # number of the input line
    grade: float = 0  # 0 if the item is not relevant
    relevant: bool = False
    hit: bool = False
    position: int = 0  # 1 = top; tied lines may share a position (max_rank, floor_mean_rank)


Group = Sequence[Line]  # lines tied with one another


@dataclass(frozen=True)
class Ranking:
    """One user's ranked list with what is known of the user's relevant items."""

    lines: list[Line]  # the whole list, before the cutoff
    grades: list[float]  # one per relevant item: |R| is their number, the ideal list their order
    k: int
    depth: float  # the cutoff: k, or infinity with cutoff=none

    @property
    def top(self) -> list[Line]:
        """Lines above the cutoff. With shared positions these may be more or fewer than k."""
        return [line for line in self.lines if line.position <= self.depth]

    @property
    def hits(self) -> list[Line]:
        return [line for line in self.top if line.hit]

    @property
    def length(self) -> float:
        """Lines above the cutoff if nobody shared a position: min(k, len(list))."""
        return min(self.depth, len(self.lines))


# 1. Ranking -----------------------------------------------------------------------------------------------------------


def candidates(case: Case, user: str, options: Options) -> list[Line]:
    """List the lines of one user in input order, with the items that the option adds below the recommended ones."""
    recs = [row for row in case["recs"] if row["user"] == user]
    shown = {row["item"] for row in recs}
    added: list[str] = {
        "list": [],
        # the user's unretrieved judged items, relevant or not, in the order of truth (by choice)
        "padded": [row["item"] for row in case["truth"] if row["user"] == user and row["item"] not in shown],
        # all unretrieved items in the recs and truth of all users, in the order of their names (by choice)
        "catalogue": sorted({row["item"] for row in case["recs"] + case["truth"]} - shown),
    }[options["candidates"]]
    grades = relevant_items(case, user, options)
    lines = [Line(row["item"], stored(row["score"], options), row["rank"], n) for n, row in enumerate(recs)]
    # added items are tied with one another, below every recommended item whatever its score
    lines += [Line(item, -math.inf, len(recs) + 1, len(recs) + n) for n, item in enumerate(added)]
    return [replace(line, grade=grades.get(line.item, 0), relevant=line.item in grades) for line in lines]


def stored(score: float, options: Options) -> float:
    """Return the score as the library holds it; float32 turns gaps below about 1e-7 of the score into ties."""
    return struct.unpack("f", struct.pack("f", score))[0] if options["score_dtype"] == "float32" else score


def sort_key(line: Line, options: Options) -> float:
    """Return what the list is sorted by, ascending; equal values are tied."""
    # row: the input order is the ranking, so nothing is ever tied ("ties=not applicable")
    return {"score": -line.score, "rank": line.rank, "row": line.row}[options["order"]]


def orders(lines: list[Line], options: Options) -> list[list[Line]]:
    """Return the ranked list with its positions; with ties=expected all equally likely ones."""
    lines = sorted(lines, key=lambda line: sort_key(line, options))  # stable: ties stay in input order
    groups = [list(group) for _, group in groupby(lines, key=lambda line: sort_key(line, options))]
    if options["ties"] == "expected":  # the metric is the mean over all orders of all tied groups
        return [place(choice, options) for choice in product(*(list(permutations(group)) for group in groups))]
    arrange: Callable[[Group], Group] = {
        "first": lambda group: group,  # input order
        "not applicable": lambda group: group,  # order=row
        "max_rank": lambda group: group,
        "floor_mean_rank": lambda group: group,
        "last": lambda group: group[::-1],  # input order reversed
        "item_desc": lambda group: sorted(group, key=lambda line: line.item, reverse=True),
        "item_asc": lambda group: sorted(group, key=lambda line: line.item),
        "worst": lambda group: sorted(group, key=lambda line: line.grade),  # lowest grade first, then input (by choice)
    }[options["ties"]]
    return [place([arrange(group) for group in groups], options)]


def place(groups: Sequence[Group], options: Options) -> list[Line]:
    """Give every line its position: 1, 2, …, or one position for all tied lines."""
    ranked: list[Line] = []
    for group in groups:
        above, size = len(ranked), len(group)
        # the last position of the group, and its mean position rounded down
        shared = {"max_rank": above + size, "floor_mean_rank": (above + 1 + above + size) // 2}
        ranked += [replace(line, position=shared.get(options["ties"], above + i)) for i, line in enumerate(group, 1)]
    return ranked


def without_duplicates(lines: list[Line], options: Options) -> list[Line]:
    """Drop repeated items if duplicates=dedupe, which moves the items below them up; all other rules keep the lines."""
    if options["duplicates"] != "dedupe":
        return lines
    # the best placed line of each item (by choice); with ties=expected its tied copies are all the same
    first = options | {"ties": "first"} if options["ties"] == "expected" else options
    kept = {line.item: line.row for line in reversed(orders(lines, first)[0])}.values()
    return [line for line in lines if line.row in kept]


# 2. Relevance ---------------------------------------------------------------------------------------------------------


def relevant_items(case: Case, user: str, options: Options) -> dict[str, float]:
    """Return the grade of each relevant item of one user; all other items have grade 0."""
    passes: Callable[[float], bool] = {
        ">0": lambda grade: grade > 0,
        ">=1": lambda grade: grade >= 1,
        "!=0": lambda grade: grade != 0,
        # every row of truth is relevant, with grade 0 or below too; negative grades stay negative gains
        "any": lambda grade: True,
    }[options["relevant"]]
    return {row["item"]: row["relevance"] for row in case["truth"] if row["user"] == user and passes(row["relevance"])}


def relevant_grades(case: Case, user: str, lines: list[Line], options: Options) -> list[float]:
    """Return one grade for each relevant item that counts in |R| and in the ideal list."""
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
    """Mark the lines that count as hits."""
    marked: list[Line] = []
    for i, line in enumerate(lines):
        hit = line.relevant
        if options["duplicates"] == "hit_once" and line.item in {above.item for above in lines[:i]}:
            hit = False  # the repeated line keeps its position and is a miss
        if options["nonpositive_scores"] == "never hit" and line.score <= 0:
            hit = False  # still a line of the list, still counted in |R|; added items have no positive score
        marked.append(replace(line, hit=hit))
    return marked


def rankings(case: Case, user: str, options: Options) -> list[Ranking]:
    """Return one user's ranking, or all equally likely ones if ties=expected."""
    lines = without_duplicates(candidates(case, user, options), options)
    grades = relevant_grades(case, user, lines, options)
    depth = math.inf if options["cutoff"] == "none" else case["k"]
    return [Ranking(mark_hits(order, options), grades, case["k"], depth) for order in orders(lines, options)]


# 3. Users -------------------------------------------------------------------------------------------------------------


def averaged_users(case: Case, options: Options) -> list[str]:
    """Return who is averaged. A user with zero grades only is in truth."""
    truth, recs = ({row["user"] for row in case[table]} for table in ("truth", "recs"))
    return sorted({"truth": truth, "recs": recs, "both": truth & recs, "union": truth | recs}[options["users"]])


def special_value(formula: str, ranking: Ranking, options: Options) -> Any:
    """Return what a user contributes for whom the metric is undefined ('skip' or a number), else None."""
    # no relevant item is visible; for ndcg also: the ideal is 0 as all grades are. Goes before no_recs (by choice)
    if not ranking.grades or (formula == "ndcg" and ideal_dcg(ranking, options) == 0):
        return options["no_relevant"]
    if not ranking.lines:  # an added item counts as a line, so this needs candidates=list
        return options.get("undefined", options.get("no_hit", options["no_recs"]))
    found = {line.item for line in ranking.hits}
    if options["of"] == "every relevant" and len(found) < len(ranking.grades):
        return options.get("undefined")  # a relevant item without a rank
    return None


# 4. Metric ------------------------------------------------------------------------------------------------------------


def divisor(ranking: Ranking, options: Options) -> float:
    """Return what the hits, or the sum of precisions, are divided by."""
    relevant = len(ranking.grades)
    return {
        "k": ranking.k,  # also with cutoff=none
        "list": ranking.length,
        "relevant": relevant,
        "min(k,relevant)": min(ranking.k, relevant),
        "min(list,relevant)": min(ranking.length, relevant),
        "hits": len(ranking.hits),
    }[options["divisor"]]


def ratio(part: float, whole: float) -> float:
    """Divide, with 0 for nothing out of nothing."""
    return part / whole if whole else 0.0


def precision(ranking: Ranking, options: Options) -> float:
    return ratio(len(ranking.hits), divisor(ranking, options))


def recall(ranking: Ranking, options: Options) -> float:
    return ratio(len(ranking.hits), divisor(ranking, {"divisor": "relevant"} | options))


def harmonic(p: float, r: float) -> float:
    return ratio(2 * p * r, p + r)


def f1(ranking: Ranking, options: Options) -> float:
    # the option names the divisor of precision; recall is always over |R|
    return harmonic(precision(ranking, options), recall(ranking, options | {"divisor": "relevant"}))


def setmap(ranking: Ranking, options: Options) -> float:
    # trec_eval's set_map: precision times recall of the whole list
    return precision(ranking, {"divisor": "list"}) * recall(ranking, {"divisor": "relevant"})


def hit(ranking: Ranking, options: Options) -> float:
    return len(ranking.hits) if options["hit"] == "count" else float(len(ranking.hits) > 0)


def rr(ranking: Ranking, options: Options) -> float:
    if options["of"] == "every relevant":  # the mean over all relevant items of 1/(first position)
        first = {line.item: line.position for line in reversed(ranking.hits)}
        return ratio(sum(1 / position for position in first.values()), len(ranking.grades))
    return max((1 / line.position for line in ranking.hits), default=0.0)


def rprec(ranking: Ranking, options: Options) -> float:
    relevant = len(ranking.grades)
    # cutoff=k is ignored: R-precision looks at |R| lines. cutoff=min(k,R) looks at fewer, still divided by |R|
    depth = min(ranking.k, relevant) if options["cutoff"] == "min(k,R)" else relevant
    return ratio(len(replace(ranking, depth=depth).hits), relevant)


def ap(ranking: Ranking, options: Options) -> float:
    if options.get("relevance_at") == "last row":
        return sum(part * relevant for part, _, relevant in last_row_terms(ranking)) / len(ranking.grades)
    # hits that share a position all count in one another's precision
    above = [sum(other.position <= line.position for other in ranking.hits) for line in ranking.hits]
    precisions = [n / line.position for n, line in zip(above, ranking.hits, strict=True)]
    return ratio(sum(precisions), divisor(ranking, options))


def mar(ranking: Ranking, options: Options) -> float:
    # mean average recall, known from Evidently only: like its average precision, with recall for precision
    return sum(part * relevant for _, part, relevant in last_row_terms(ranking)) / len(ranking.grades)


def last_row_terms(ranking: Ranking) -> Iterator[tuple[float, float, bool]]:
    """Yield precision and recall at i = 1 … k, and whether the last INPUT line placed at or above i is relevant."""
    for i in range(1, ranking.k + 1):
        at = replace(ranking, depth=i)
        last = max(at.top, key=lambda line: line.row, default=None)
        yield ratio(len(at.hits), at.length), len(at.hits) / len(ranking.grades), bool(last and last.relevant)


def gain(grade: float, options: Options) -> float:
    return {"linear": grade, "exp2": 2.0**grade - 1, "binary": 1.0}[options["gain"]]


def discount(position: int, options: Options) -> float:
    return {
        "log2(i+1)": math.log2(position + 1),
        "log2(max(i,2))": math.log2(max(position, 2)),  # Järvelin and Kekäläinen 2002: none for ranks 1 and 2
        "i": position,
    }[options["discount"]]


def dcg(ranking: Ranking, options: Options) -> float:
    return sum(gain(line.grade, options) / discount(line.position, options) for line in ranking.hits)


def ideal_dcg(ranking: Ranking, options: Options) -> float:
    """Return the DCG of the best list: all visible relevant items, best first, down to the cutoff."""
    best = sorted(ranking.grades, reverse=True)  # grades of 0 and below too, with relevant=any
    if options["ideal"] == "k":
        best = [1.0] * ranking.k  # k relevant items of grade 1, however many there are
    places = [(i, grade) for i, grade in enumerate(best, start=1) if i <= ranking.depth]  # not: i <= len(list)
    return sum(gain(grade, options) / discount(i, options) for i, grade in places)


def ndcg(ranking: Ranking, options: Options) -> float:
    return ratio(dcg(ranking, options), ideal_dcg(ranking, options))


def rbp(ranking: Ranking, options: Options) -> float:
    p: float = options["p"]
    total = sum(gain(line.grade, options) * p ** (line.position - 1) for line in ranking.hits)
    if options.get("normalize"):
        return total / sum(p**i for i in range(int(min(len(ranking.grades), ranking.length))))
    return (1 - p) * total


def err(ranking: Ranking, options: Options) -> float:
    value, reach = 0.0, 1.0  # reach: the probability that the reader gets to this line
    for line in ranking.top:
        grade = line.grade if line.hit else 0
        stop = grade if options["stop"] == "label" else (2**grade - 1) / 2 ** options["max_grade"]
        value += reach * stop / line.position
        reach *= 1 - stop
    return value


FORMULAS = {one.__name__: one for one in (ndcg, dcg, precision, recall, f1, ap, rr, hit, rprec, rbp, err, mar, setmap)}


# 5. Average -----------------------------------------------------------------------------------------------------------


def user_values(formula: str, case: Case, options: Options) -> list[float]:
    """Return one value for each averaged user that is not skipped."""
    values = []
    for user in averaged_users(case, options):
        possible = rankings(case, user, options)
        value = special_value(formula, possible[0], options)
        if value is None:
            value = mean([FORMULAS[formula](ranking, options) for ranking in possible], math.nan)
            if value == 0 and "no_hit" in options:  # the formula found no hit (rprec: in the first |R| lines)
                value = options["no_hit"]
        if value == "error":
            raise ValueError(f"{formula} is undefined for user {user}")
        if value != "skip":
            values.append(float(value))
    return values


def mean(values: list[float], empty: float) -> float:
    return sum(values) / len(values) if values else empty


def evaluate(formula: str, options: Options, case: Case) -> float:
    """Return the value of one metric on one case under one tuple of options."""
    options = DEFAULTS | options
    users = [ranking for user in averaged_users(case, options) for ranking in rankings(case, user, options)]
    if "all_miss" in options and not any(ranking.hits for ranking in users):
        return float(options["all_miss"])  # nobody has a hit in the top k
    empty = float(options["all_skipped"])
    if options["average"] == "pooled":  # all users' hits over all users' divisors; nobody is skipped
        return ratio(sum(len(r.hits) for r in users), sum(divisor(r, options) for r in users))
    if options["average"] == "of_means":  # F of the mean precision and the mean recall, not the mean of users' F
        p = mean(user_values("precision", case, options), empty)
        r = mean(user_values("recall", case, options | {"divisor": "relevant"}), empty)
        return harmonic(p, r) if p + r else math.nan  # 0/0 is 0 for one user's F, undefined for the table's
    values = user_values(formula, case, options)  # average=user
    if options["average"] == "geometric":  # values below 1e-5 count as 1e-5
        return math.exp(mean([math.log(max(value, 1e-5)) for value in values], empty))
    return mean(values, empty)
