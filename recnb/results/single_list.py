"""One list, plain Python: the textbook's own calls, and several lists at once.

`ndcg([3, 2, 0, 1])` takes the grades of a list in rank order; `ndcg(["a", "b"], {"b": 2})` a ranking and what is
relevant; `ndcg(y_true=[3, 0, 2], y_score=[0.2, 0.9, 0.5])` the grades and scores of items in any order; a list of
rankings with a list of truths gives the mean. All end in the same `Hits` that frames end in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MappingView, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, options_in_words, shown_at
from recnb.conventions.convention import PHRASES
from recnb.data.load import read
from recnb.display.language import _, ngettext, use_language
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_number, is_several, is_word, near, quoted
from recnb.metrics.hits import HIGHEST, Cutoffs, Hits
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS, Metric
from recnb.results.explanation import Explanation
from recnb.results.explanation import explain as explain_hits
from recnb.results.provenance import Said
from recnb.results.score import Score
from recnb.results.values import Values

Ranking = Sequence[Any] | Mapping[Any, float] | np.ndarray[Any, Any]
Truth = Mapping[Any, float] | Collection[Any]

#: A list with nothing relevant: the articles give it 0, and there is no population to leave it out of.
LISTS = Convention(order="row", no_relevant="zero")

#: The rules for equal scores that need no ids of items.
TIES = ("first", "last", "expected", "max_rank", "floor_mean_rank", "worst")


class Pair(NamedTuple):
    """A ranking and its truth."""

    items: Sequence[Any]  #: in rank order; the ranks, if grades were given
    grades: Sequence[float]  #: relevance of each rank
    truth: Sequence[tuple[Any, float]]  #: the relevant items in the order listed, and how relevant each is
    named: bool = True  #: whether items were given, and not grades


def score_lists(
    metric: Metric[...], ranking: Any, truth: Any, k: Any, options: Mapping[str, Any],
    *, y_true: Any = None, y_score: Any = None, ties: Any = None,
) -> Score:  # fmt: skip
    """Compute a metric of one list or the mean of several."""
    if odd := [name for name in options if name not in metric.defaults]:
        known = near(odd[0], ["ranking", "truth", "k", "y_true", "y_score", "ties", *metric.defaults])
        several = f" Lists of several queries: recnb.evaluate_groups(y_true, y_score, group=...).{metric.name}()."
        raise OptionError(f"{metric.name} has no option {odd[0]!r}. {known}{several}")
    convention, scored = LISTS.with_metric({**metric.defaults, **options}), list[tuple[list[Any], list[Any]]]()
    if y_true is None and y_score is None:
        pairs = _read_pairs(ranking, truth, metric)
    elif ranking is not None or truth is not None or y_true is None or y_score is None:
        problem = "y_true= and y_score= go together, and without another list: "
        raise RecnbError(problem + "give both, or a ranking and its truth.")
    else:
        scored = _with_scores(_as_list(y_true, "y_true"), _as_list(y_score, "y_score"))
        orders = [(grades, np.argsort(-np.array(scores), kind="stable")) for grades, scores in scored]
        pairs = [_graded([grades[place] for place in order]) for grades, order in orders]
    hits, cutoff = hits_of(pairs), Cutoffs.one(k)
    if ties is not None:
        if not scored or not is_word(ties, TIES):
            problem = f"ties={quoted(ties)} is no order of equal scores of lists, y_true= and y_score=."
            raise OptionError(problem, fix=near(ties, TIES))
        convention = replace(convention, order="score", ties=ties)
        rows = [(user, *row) for user, sides in enumerate(scored) for row in zip(*sides, strict=True)]
        frame = pl.DataFrame(np.array(rows, dtype=np.float64), ["user", "relevance", "score"])
        hits = read(frame, None, {}).under(convention).all_hits
    matrix = metric.at(hits, cutoff, options).value
    tied = [_(PHRASES["ties", convention.ties])] * any(len({*scores}) < len(scores) for _grades, scores in scored)
    basis, users = Said(_basis(pairs, metric, k, options, tied)), pl.Series("list", range(len(pairs)))
    mean = np.array([matrix[:, 0].mean()])
    return Score(Values(metric, options, cutoff, users, matrix, mean, convention, basis), _label="list")


def explain(
    metric: str, ranking: Ranking, truth: Truth | None = None, k: int | None = None, *, lang: str | None = None, **options: Any
) -> Explanation:  # fmt: skip
    """Explain the score of one list: formula, the same with numbers, a row per rank, the ideal list.

    `lang` is "en" or "ko"; by default the language that is set.

    >>> print(explain("dcg", [3, 2, 0, 1]).numbers)
    3/log2(1+1) + 2/log2(1+2) + 1/log2(1+4) = 4.6925
    """
    chosen = metric_named(metric, METRICS)
    chosen.check(options)
    pair, *others = pairs = _read_pairs(ranking, truth, chosen)
    if others:
        raise RecnbError(f"explain takes one list, and {len(pairs)} were given: pick one.")
    with use_language(lang):
        return explain_hits(
            chosen, hits_of(pairs), Cutoffs.one(k), options,
            items=dict(enumerate(pair.items if pair.named else [None] * len(pair.items), 1)),
            truth_items=[item for item, _grade in pair.truth] if pair.named else None,
            user=None, convention=LISTS, basis=_basis(pairs, chosen, k, options),
        )  # fmt: skip


def hits_of(pairs: Sequence[Pair]) -> Hits:
    """Join several lists with their truths, each a user of its own."""
    hits: list[tuple[int, int, float, int]] = []  # user, rank, relevance, row of the truth
    truth: list[tuple[int, float]] = []
    for user, pair in enumerate(pairs):
        row_of = {item: row for row, (item, _grade) in enumerate(pair.truth, len(truth))}
        graded = enumerate(zip(pair.items, pair.grades, strict=True), 1)
        hits += [(user, rank, grade, row_of[item]) for rank, (item, grade) in graded if grade > 0]
        truth += [(user, grade) for _item, grade in pair.truth]
    whose, rank, relevance, row = np.array(hits, dtype=np.float64).reshape(-1, 4).T
    truth_user, grades = np.array(truth, dtype=np.float64).reshape(-1, 2).T
    return Hits(
        user=whose.astype(np.int64),
        rank=rank.astype(np.int64),
        list_length=np.array([len(pair.grades) for pair in pairs], dtype=np.int64),
        relevance=relevance,
        truth_row=row.astype(np.int64),
        truth_user=truth_user.astype(np.int64),
        truth_relevance=grades,
        max_relevance=grades.max(initial=0.0),
    )


def _with_scores(grades: list[Any], scores: list[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Return the grades and the scores of each list."""
    if len(grades) != len(scores):
        raise RecnbError(f"y_true has {len(grades)} values and y_score {len(scores)}: each item has one of both.")
    if grades and all(map(_is_list, (*grades, *scores))):
        return [pair for sides in zip(grades, scores, strict=True) for pair in _with_scores(*map(list, sides))]
    if odd := [score for score in scores if not is_number(score)]:
        raise RecnbError(f"y_score holds {odd[0]!r}: a score is a finite number.")
    return [(grades, scores)]


def _read_pairs(ranking: Any, truth: Any, metric: Metric[...]) -> list[Pair]:
    """Read one pair, or several if the entries of the ranking are lists themselves."""
    if isinstance(ranking, Mapping) and truth is None and metric.over == "ideal":
        return [_graded(list(ranking.values()))]
    if isinstance(ranking, Mapping) or hasattr(ranking, "columns"):
        what = "mapping, which has no order" if isinstance(ranking, Mapping) else "frame"
        raise RecnbError(
            f"the ranking is a {what}: give the items in rank order first and what is relevant second, "
            f"recnb.{metric.name}(ranking, relevance). By scores: sorted(scores, key=scores.get, reverse=True). "
            f"Of frames: recnb.evaluate(recs, truth).{metric.name}(k=10)."
        )
    entries = _as_list(ranking, "the ranking")
    if truth is None:
        several = bool(entries) and all(map(_is_list, entries))
        return [_graded(list(one)) for one in (entries if several else [entries])]
    truth = [*truth] if isinstance(truth, Iterator) else truth
    if not (_is_list(truth) and len(truth) and all(map(_is_truth, truth)) and all(map(_is_list, entries))):
        return [_matched(entries, truth, metric.name)]
    if all(isinstance(entry, tuple) for entry in (*entries, *truth)):
        raise RecnbError(
            f"the entries of ranking and truth are tuples, such as {[*entries, *truth][0]!r}, which may be items or whole "
            "lists. Items of one list: give the relevant ones as a set, set(truth). Several lists: [list(one) for one in ranking]."
        )
    if len(truth) != len(entries):
        raise RecnbError(f"{len(entries)} rankings stand against {len(truth)} truths: give one truth for each ranking.")
    return [_matched(list(one), relevant, metric.name) for one, relevant in zip(entries, truth, strict=True)]


def _graded(grades: list[Any]) -> Pair:
    """Make a pair of the relevance of each rank."""
    if not grades:
        raise RecnbError("the list of grades is empty: give the relevance of each rank, such as [3, 2, 0, 1].")
    numbers = [_grade(grade, f"rank {rank}") for rank, grade in enumerate(grades, 1)]
    relevant = [(rank, grade) for rank, grade in enumerate(numbers, 1) if grade > 0]
    return Pair(range(1, len(numbers) + 1), numbers, relevant, named=False)


def _matched(ranking: list[Any], truth: Any, metric: str) -> Pair:
    """Make a pair of items in rank order and what is relevant."""
    if hasattr(truth, "columns") or not _is_truth(truth):
        advice = "give a mapping of item to relevance, or the relevant items in a list or set."
        raise RecnbError(f"the truth is {_shown(truth)}: {advice}")
    listed = sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else list(truth)
    if not isinstance(truth, Mapping):
        _refuse_numbers_by_position(ranking, listed, metric, _is_list(truth))
    _refuse_items(listed, "the truth")
    _refuse_items(ranking, "the ranking")
    if ranking and listed and {*map(_kind, ranking)}.isdisjoint(map(_kind, listed)) and {*ranking}.isdisjoint(listed):
        raise RecnbError(  # 1 against "1" would score 0 for the kind of its ids alone
            f"the ranking holds {ranking[0]!r} and the truth {listed[0]!r}, which never match: make both text or both numbers. "
            "Grades of the items are a mapping, dict(zip(items, grades)) or series.to_dict(); of pairs of item and number, "
            "give the items alone as ranking, and dict(pairs) as truth."
        )
    graded = truth if isinstance(truth, Mapping) else dict.fromkeys(listed, 1.0)
    judged = {item: _grade(grade, f"item {item!r}") for item, grade in graded.items()}
    return Pair(ranking, [judged.get(item, 0.0) for item in ranking], [pair for pair in judged.items() if pair[1] > 0])


def _grade(grade: Any, where: str) -> float:
    """Return a grade as a number, and refuse what is none."""
    if isinstance(grade, (int, float, np.integer, np.floating, np.bool_)):
        number = grade if isinstance(grade, int) else float(grade)  # a whole number may be beyond all floats
        if 0 <= number <= HIGHEST:
            return float(number)
    advice = "A ranking of items needs its truth: give the relevant items as the second argument."
    raise RecnbError(
        f"the relevance at {where} is {grade!r}: a grade is a number from 0 up, at most {HIGHEST:g}. {advice}"
    )


def _refuse_numbers_by_position(ranking: list[Any], listed: list[Any], metric: str, ordered: bool) -> None:
    """Refuse grades and scores of one list, which look like ids of items."""
    values = [*ranking, *listed]
    flags = [value for value in values if isinstance(value, (bool, np.bool_))]
    if len(flags) + sum(map(is_number, values)) < len(values):
        return
    odd = flags or [value for value in values if value % 1 != 0]
    if odd or (ordered and 0 < len(ranking) == len(listed)):
        raise RecnbError(
            f"ranking and truth hold numbers, such as {(odd or ranking)[0]!r}: if they are grades and scores, type "
            f"recnb.{metric}(y_true=..., y_score=...); if they are ids of items, give the relevant ones as a set, set(truth), "
            "or of several lists [set(one) for one in truth]; fractions are ids as text."
        )


def _refuse_items(items: list[Any], what: str) -> None:
    """Refuse items that cannot be hashed, are missing, cannot be compared with a number of numpy, or are repeated."""
    for item in items:
        has_hash = getattr(item, "__hash__", None) is not None
        if not has_hash or item is None or item is pd.NA or isinstance(item, Decimal) or item != item:
            advice = "items are text or numbers, and none is missing; [str(item) for item in items] makes them text."
            raise RecnbError(f"{what} holds {_shown(item)}, which cannot be an item: {advice}")
    if len({*items}) < len(items):
        twice = next(item for place, item in enumerate(items) if item in items[:place])
        raise RecnbError(f"{what} holds {twice!r} more than once: list each item once.")


def _kind(item: Any) -> type:
    return str if isinstance(item, str) else float if is_number(item) else type(item)


def _as_list(values: Any, what: str) -> list[Any]:
    if not _is_list(values):
        raise RecnbError(f"{what} is {_shown(values)}: give a list, from rank 1 down.")
    return list(values)


def _is_list(value: Any) -> bool:
    kinds = (Sequence, np.ndarray, Iterator, MappingView, pd.Series, pd.Index, pl.Series)
    return isinstance(value, kinds) and is_several(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, Collection) and is_several(value)


def _shown(value: Any) -> str:
    return one_line(quoted(value), 80)


def _basis(
    pairs: Sequence[Pair], metric: Metric[...], k: object, options: Mapping[str, Any], ties: Sequence[str] = ()
) -> str:
    """Say in words how many lists there are, and by which rules."""
    n, empty = len(pairs), sum(not pair.truth for pair in pairs)
    lists = _("one list of {n}", n=len(pairs[0].grades)) if n == 1 else _("mean of {n} lists", n=n)
    zeros = ngettext("{n} list with no relevant item counts 0", "{n} lists with no relevant item count 0", empty)
    rules = options_in_words(shown_at(k, {**metric.defaults, **options}))
    return "; ".join([lists, *[zeros] * bool(empty), *ties, *rules])
