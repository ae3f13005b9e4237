"""One list, plain Python: the textbook's own calls, and several lists at once.

`ndcg([3, 2, 0, 1])` takes the grades of a list in rank order; `ndcg(["a", "b"], {"b": 2})` a ranking and what is
relevant; `ndcg(y_true=[3, 0, 2], y_score=[0.2, 0.9, 0.5])` the grades and scores of items in any order; a list of
rankings with a list of truths gives the mean. All end in the same `Hits` that frames end in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, options_in_words, shown_at
from recnb.conventions.convention import PHRASES, Ties
from recnb.data.load import read
from recnb.display.language import _, ngettext, use_language
from recnb.errors import OptionError, RecnbError, is_number, is_several, is_word, near, quoted
from recnb.metrics.hits import HIGHEST, Cutoffs, Hits
from recnb.metrics.metric import Metric, standard_metric
from recnb.results.explanation import Explanation
from recnb.results.explanation import explain as explain_hits
from recnb.results.score import Score
from recnb.results.values import Said, Values

Ranking = Sequence[Any] | Mapping[Any, float] | np.ndarray[Any, Any]
Truth = Mapping[Any, float] | Collection[Any]

#: A list with nothing relevant: the articles give it 0, and there is no population to leave it out of.
LISTS = Convention(order="row", no_relevant="zero")

#: The rules for equal scores that need no ids of items.
TIES: tuple[Ties, ...] = ("first", "last", "expected", "max_rank", "floor_mean_rank", "worst")


@dataclass(frozen=True)
class Pair:
    """A ranking and its truth."""

    items: Sequence[Any]  #: in rank order; the ranks, if grades were given
    grades: Sequence[float]  #: relevance of each rank
    truth: Sequence[tuple[Any, float]]  #: the relevant items in the order listed, and how relevant each is
    named: bool = True  #: whether items were given, and not grades


def score_lists(
    metric: Metric[...],
    ranking: Any,
    truth: Any,
    k: Any,
    options: Mapping[str, Any],
    *,
    y_true: Any = None,
    y_score: Any = None,
    ties: Any = None,
) -> Score:
    """Compute a metric of one list or the mean of several."""
    for name in options:
        if name in ("qid", "group"):
            raise OptionError(
                f"{name}= is no option of one list. For the lists of several queries, type "
                f"recnb.evaluate_groups(y_true, y_score, {name}=...).{metric.name}()."
            )
        if name not in metric.defaults:
            known = near(name, ["ranking", "truth", "k", "y_true", "y_score", "ties", *metric.defaults])
            raise OptionError(f"{metric.name} has no option {name!r}. {known}")
    ranking, truth, y_true, y_score = map(_keep, (ranking, truth, y_true, y_score))
    by_score = y_true is not None or y_score is not None
    if by_score:
        if ranking is not None or truth is not None or y_true is None or y_score is None:
            raise RecnbError(
                "y_true= and y_score= go together, and without another list: give both, or a ranking and its truth."
            )
        ranking = _order_by_score(y_true, y_score)
    pairs, cutoff = _read_pairs(ranking, truth, metric), Cutoffs.one(k)
    convention = LISTS.with_metric({**metric.defaults, **options})
    if ties is None:
        hits = hits_of(pairs)
    elif not by_score:
        raise OptionError(f"ties={quoted(ties)} orders equal scores: give them, y_true= and y_score=.")
    elif not is_word(ties, TIES):
        raise OptionError(f"ties={quoted(ties)} is no order of equal scores of one list.", fix=near(ties, TIES))
    else:
        convention = replace(convention, order="score", ties=ties)
        hits = _join_scores(y_true, y_score, convention)
    matrix = metric.at(hits, cutoff, options).value
    basis = Said(_basis(pairs, metric, k, options, y_score, convention.ties))
    users, mean = pl.Series("list", range(len(pairs))), np.array([matrix[:, 0].mean()])
    return Score(Values(metric, options, cutoff, users, matrix, mean, convention, basis), _label="list")


def explain(
    metric: str,
    ranking: Ranking,
    truth: Truth | None = None,
    k: int | None = None,
    *,
    lang: str | None = None,
    **options: Any,
) -> Explanation:
    """Explain the score of one list: formula, the same with numbers, a row per rank, the ideal list.

    `lang` is "en" or "ko"; by default the language that is set.

    >>> print(explain("dcg", [3, 2, 0, 1]).numbers)
    3/log2(1+1) + 2/log2(1+2) + 1/log2(1+4) = 4.6925
    """
    chosen = standard_metric(metric)
    chosen.check(options)
    pairs = _read_pairs(_keep(ranking), _keep(truth), chosen)
    if len(pairs) > 1:
        raise RecnbError(f"explain takes one list, and {len(pairs)} were given: pick one.")
    pair, cutoff = pairs[0], Cutoffs.one(k)
    with use_language(lang):
        return explain_hits(
            chosen, hits_of(pairs), cutoff, options,
            items=dict(enumerate(pair.items if pair.named else [None] * len(pair.items), 1)),
            truth_items=[item for item, _ignored in pair.truth] if pair.named else None,
            user=None, convention=LISTS, basis=_basis(pairs, chosen, k, options),
        )  # fmt: skip


def hits_of(pairs: Sequence[Pair]) -> Hits:
    """Join several lists with their truths, each a user of its own."""
    hits: list[tuple[int, int, float, int]] = []  # user, rank, relevance, row of the truth
    truth: list[tuple[int, float]] = []
    for user, pair in enumerate(pairs):
        row_of = {item: row for row, (item, _ignored) in enumerate(pair.truth, len(truth))}
        graded = enumerate(zip(pair.items, pair.grades, strict=True), 1)
        hits += [(user, rank, grade, row_of[item]) for rank, (item, grade) in graded if grade > 0]
        truth += [(user, grade) for _ignored, grade in pair.truth]
    of_hits = np.array(hits, dtype=np.float64).reshape(-1, 4)
    of_truth = np.array(truth, dtype=np.float64).reshape(-1, 2)
    whose, rank, _, row = of_hits.astype(np.int64).T
    return Hits(
        user=whose,
        rank=rank,
        list_length=np.array([len(pair.grades) for pair in pairs], dtype=np.int64),
        relevance=of_hits[:, 2],
        truth_row=row,
        truth_user=of_truth[:, 0].astype(np.int64),
        truth_relevance=of_truth[:, 1],
        max_relevance=max((grade for _ignored, grade in truth), default=0.0),
    )


def _join_scores(y_true: Any, y_score: Any, convention: Convention) -> Hits:
    """Join grades and scores of one list or several under a rule for equal scores."""
    several = _is_list(next(iter(y_true)))
    grades, scores = (list(values) if several else [values] for values in (y_true, y_score))
    rows = {
        "user": np.repeat(np.arange(len(grades)), [len(of_list) for of_list in grades]),
        "score": np.concatenate([np.asarray(of_list, dtype=np.float64) for of_list in scores]),
        "relevance": np.concatenate([np.asarray(of_list, dtype=np.float64) for of_list in grades]),
    }
    return read(pl.DataFrame(rows), None, {}).under(convention).all_hits


def _order_by_score(y_true: Any, y_score: Any) -> list[Any]:
    """Sort the grades of one list or several from the highest score; equal scores keep their order."""
    grades, scores = _as_list(y_true, "y_true"), _as_list(y_score, "y_score")
    if len(grades) != len(scores):
        raise RecnbError(f"y_true has {len(grades)} values and y_score {len(scores)}: each item has one of both.")
    if grades and all(map(_is_list, (*grades, *scores))):
        return [_order_by_score(*pair) for pair in zip(grades, scores, strict=True)]
    if any(map(_is_list, grades)):
        raise RecnbError("y_true holds lists, and y_score does not: give a list of both for each user.")
    for score in scores:
        if not is_number(score):
            raise RecnbError(f"y_score holds {score!r}: a score is a finite number.")
    return [grades[place] for place in sorted(range(len(scores)), key=lambda place: -scores[place])]


def _read_pairs(ranking: Any, truth: Any, metric: Metric[...]) -> list[Pair]:
    """Read one pair, or several if the entries of the ranking are lists themselves."""
    if isinstance(ranking, Mapping):
        if truth is not None or metric.over != "ideal":
            raise RecnbError(
                f"{metric.name} was given a mapping for the ranking, which has no order: give the items in rank order first "
                f"and the mapping second, recnb.{metric.name}(ranking, relevance). By scores: sorted(scores, key=scores.get, reverse=True)."
            )
        return [_graded(list(ranking.values()))]
    if hasattr(ranking, "columns"):
        raise RecnbError(
            f"{metric.name} of recnb takes lists, and the ranking is a frame: type recnb.evaluate(recs, truth).{metric.name}(k=10)."
        )
    entries = _as_list(ranking, "the ranking")
    if truth is None:
        several = bool(entries) and all(map(_is_list, entries))
        return [_graded(list(one)) for one in (entries if several else [entries])]
    of_lists = _is_list(truth) and len(truth) and all(map(_is_truth, truth)) and all(map(_is_list, entries))
    if not of_lists:
        return [_matched(entries, truth, metric)]
    if all(isinstance(entry, tuple) for entry in (*entries, *truth)):
        raise RecnbError(
            f"the entries of ranking and truth are tuples, such as {_shown(next(iter((*entries, *truth))))}, which may be items or whole lists. Items of one "
            "list: give the relevant ones as a set, set(truth). Several lists: [list(one) for one in ranking]."
        )
    if len(truth) != len(entries):
        raise RecnbError(f"{len(entries)} rankings stand against {len(truth)} truths: give one truth for each ranking.")
    return [_matched(list(one), relevant, metric) for one, relevant in zip(entries, truth, strict=True)]


def _graded(grades: list[Any]) -> Pair:
    """Make a pair of the relevance of each rank."""
    if not grades:
        raise RecnbError("the list of grades is empty: give the relevance of each rank, such as [3, 2, 0, 1].")
    numbers = [_grade(grade, f"rank {rank}", alone=True) for rank, grade in enumerate(grades, 1)]
    relevant = [(rank, grade) for rank, grade in enumerate(numbers, 1) if grade > 0]
    return Pair(range(1, len(numbers) + 1), numbers, relevant, named=False)


def _matched(ranking: list[Any], truth: Any, metric: Metric[...]) -> Pair:
    """Make a pair of items in rank order and what is relevant."""
    if hasattr(truth, "columns") or not _is_truth(truth):
        raise RecnbError(
            f"the truth is {_shown(truth)}: give a mapping of item to relevance, or the relevant items in a list or set."
        )
    listed = sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else list(truth)
    _refuse_grades_and_scores(ranking, truth, metric.name)
    _refuse_odd_items(ranking, listed)
    _refuse_ids_that_never_match(ranking, listed, truth)
    for items, verb, advice in (
        (listed, "the truth lists", ": list each relevant item once."),
        (ranking, "the ranking holds", ", which would count twice: recommend each item once."),
    ):
        if len(set(items)) < len(items):
            twice = next(item for place, item in enumerate(items) if item in items[:place])
            raise RecnbError(f"{verb} {twice!r} more than once{advice}")
    graded = truth if isinstance(truth, Mapping) else dict.fromkeys(listed, 1.0)
    judged = {item: _grade(grade, f"item {item!r}") for item, grade in graded.items()}
    return Pair(ranking, [judged.get(item, 0.0) for item in ranking], [pair for pair in judged.items() if pair[1] > 0])


def _grade(grade: Any, where: str, *, alone: bool = False) -> float:
    """Return a grade as a number, and refuse what is none."""
    if isinstance(grade, (int, float, np.integer, np.floating, np.bool_)):
        number = grade if isinstance(grade, int) else float(grade)  # a whole number may be beyond all floats
        if 0 <= number <= HIGHEST:
            return float(number)
        most, ways = (f", at most {HIGHEST:g}" if number > HIGHEST else ""), ""
    else:
        most = ""
        ways = " A ranking of items needs its truth: give the relevant items as the second argument." if alone else ""
    raise RecnbError(f"the relevance at {where} is {grade!r}: a grade is a number from 0 up{most}.{ways}")


def _refuse_grades_and_scores(ranking: list[Any], truth: Any, metric: str) -> None:
    """Refuse numbers by position: grades and scores of one list look like ids of items."""
    judged = [] if isinstance(truth, Mapping) else list(truth)
    if not all(isinstance(value, (bool, np.bool_)) or is_number(value) for value in (*ranking, *judged)):
        return
    fix = f"if they are grades and scores, type recnb.{metric}(y_true=..., y_score=...); if they are ids of items, "
    if _is_list(truth) and 0 < len(judged) == len(ranking):
        raise RecnbError(
            f"ranking and truth are lists of {len(ranking)} number{'s' * (len(ranking) > 1)} each: {fix}give the relevant ones as a set, "
            "set(truth), or of several lists [set(one) for one in truth]."
        )
    odd = next((one for one in (*ranking, *judged) if isinstance(one, (bool, np.bool_)) or one % 1 != 0), None)
    if odd is not None:
        raise RecnbError(f"ranking and truth hold items, and {odd!r} is no id of one: {fix}make them text.")


def _refuse_odd_items(ranking: list[Any], listed: list[Any]) -> None:
    """Refuse items that are missing, cannot be hashed, or cannot be compared, as a Decimal with a number of numpy."""
    for items, what in ((listed, "the truth"), (ranking, "the ranking")):
        for item in items:
            if getattr(item, "__hash__", None) is None:
                raise RecnbError(f"{what} holds {_shown(item)}, which cannot be an item: items are text or numbers.")
            if pd.api.types.is_scalar(item) and pd.isna(item):
                raise RecnbError(f"{what} holds a missing item, {item!r}: drop it.")
    try:
        {*ranking}.union(listed), {*listed}.union(ranking)
    except TypeError as problem:
        both = [*ranking, *listed]
        raise RecnbError(
            f"ranking and truth hold items such as {_shown(both[0])} and {_shown(both[-1])}, which cannot be compared: "
            "make all items text, such as [str(item) for item in ranking]."
        ) from problem


def _refuse_ids_that_never_match(ranking: list[Any], listed: list[Any], truth: Any) -> None:
    """Refuse 1 against "1": such a list would score 0 for the kind of its ids alone."""
    if not ranking or not listed or {*ranking} & {*listed}:
        return
    index: Any = getattr(truth, "index", ())
    if hasattr(truth, "to_dict") and any(item in index for item in ranking):
        raise RecnbError(
            "the truth is a Series with the items in its index: give truth.to_dict() for the relevance by item, or truth.index."
        )
    kinds = [
        {str if isinstance(item, str) else float if is_number(item) else type(item) for item in items}
        for items in (ranking, listed)
    ]
    if kinds[0] & kinds[1]:
        return
    fix = "make both text or both numbers."
    if tuple in kinds[0] | kinds[1]:
        fix = "if they are pairs of item and number, give the items alone as ranking, and dict(pairs) as truth."
    elif kinds[1] == {float} and len(listed) == len(ranking):
        fix = "if they are the grades of the items, give a mapping, dict(zip(items, grades)); else " + fix
    raise RecnbError(f"the ranking holds {ranking[0]!r} and the truth {listed[0]!r}, which never match: {fix}")


def _keep(values: Any) -> Any:
    """Turn what gives its values once, or a view of a mapping, into a list."""
    return [*values] if isinstance(values, (Iterator, MappingView)) else values  # type: ignore[misc]


def _as_list(values: Any, what: str) -> list[Any]:
    if not _is_list(values):
        raise RecnbError(f"{what} is {_shown(values)}: give a list, from rank 1 down.")
    return list(values)


def _is_list(value: Any) -> bool:
    ordered = isinstance(value, (Sequence, np.ndarray, Iterator, MappingView)) or type(value).__name__ in (
        "Series",
        "Index",
    )
    return ordered and is_several(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, Collection) and is_several(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"a {type(value).__name__}"


def _basis(
    pairs: Sequence[Pair],
    metric: Metric[...],
    k: object,
    options: Mapping[str, Any],
    scores: Any = None,
    ties: Ties = "first",
) -> str:
    """Say in words how many lists there are, and by which rules."""
    n, empty = len(pairs), sum(not pair.truth for pair in pairs)
    parts = [_("one list of {n}", n=len(pairs[0].grades)) if n == 1 else _("mean of {n} lists", n=n)]
    if empty:
        zeros = ngettext("{n} list with no relevant item counts 0", "{n} lists with no relevant item count 0", empty)
        parts.append(zeros)
    lists = [] if scores is None else scores if all(map(_is_list, scores)) else [scores]
    if any(len({*of_list}) < len(of_list) for of_list in lists):
        parts.append(_(PHRASES["ties", ties]))
    return "; ".join([*parts, *options_in_words(shown_at(k, {**metric.defaults, **options}))])
