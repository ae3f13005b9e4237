"""One list, plain Python: the textbook's own calls, and several lists at once.

`ndcg([3, 2, 0, 1])` takes the grades of a list in rank order; `ndcg(["a", "b"], {"b":
2})` a ranking and what is relevant; `ndcg(y_true=[3, 0, 2], y_score=[0.2, 0.9, 0.5])`
the grades and scores of items in any order; a list of rankings with a list of truths
gives the mean. All end in the same `Hits` that frames end in.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, options_in_words
from recnb.conventions.convention import PHRASES
from recnb.display.language import Noun, _, use_language
from recnb.display.text import Phrase, one_line
from recnb.errors import (
    FrameError,
    OptionError,
    RecnbError,
    is_number,
    is_several,
    quoted,
)
from recnb.metrics.hits import HIGHEST, Hits, one_cutoff
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import METRICS, Metric
from recnb.results.basis import Basis, given_marked, no_relevant_in_words
from recnb.results.explanation import Explanation
from recnb.results.score import Score
from recnb.results.user_lists import UserList
from recnb.results.values import Values, WithoutData
from recnb.results.worked import explained, nothing_to_divide

Ranking = Sequence[Any] | Mapping[Any, float] | np.ndarray[Any, Any]
Truth = Mapping[Any, float] | Collection[Any]

#: A list with nothing relevant: the articles give it 0, and there is no population to
#: leave it out of.
CONVENTION = Convention(order="row", no_relevant="zero")
LIST = Noun(user="list")


class Pair(NamedTuple):
    """A ranking and its truth."""

    items: Sequence[Any]  #: in rank order; the ranks, if grades were given
    #: The relevant items as listed, and how relevant each is.
    truth: Mapping[Any, float]
    named: bool = True  #: whether items were given, and not grades


#: Measures of search that a list and what is relevant are enough for, by name; the room
#: of search enters them.
OF_SEARCH: dict[str, Metric[...]] = {}

#: The metrics that are computed, explained and asked of one list, by name.
OF_ONE_LIST = ChainMap(OF_SEARCH, METRICS)


def score_lists(
    metric: Metric[...],
    /,
    ranking: Any = None,
    truth: Any = None,
    k: Any = None,
    *,
    y_true: Any = None,
    y_score: Any = None,
    **options: Any,
) -> Score:
    """Compute a metric of one list or the mean of several."""
    metric.check(options)
    has_columns = y_true is not None and y_score is not None
    if y_true is None and y_score is None:
        pairs = read_pairs(ranking, truth, metric)
    elif has_columns and ranking is None and truth is None:
        pairs = _scored(y_true, y_score)
    else:
        raise RecnbError("y_true= and y_score= go together, and without another list.")
    measure = Measure(metric, options, one_cutoff(k))
    cutoffs = measure.cutoffs()
    ties = [] if y_score is None else [_(PHRASES["ties", "first"])]
    values = Values(
        measure=measure,
        cutoffs=cutoffs,
        users=pl.Series("list", range(len(pairs))),
        matrix=measure.at(hits_of(pairs), cutoffs).value,
        basis=GivenLists(pairs, measure, ties),
        decided=CONVENTION,
        data=WithoutData(user_label="list", noun=LIST),
    )
    return Score(values)


def explain(
    metric: Any = None,
    ranking: Ranking | None = None,
    truth: Truth | None = None,
    k: int | None = None,
    *,
    lang: str | None = None,
    **options: Any,
) -> Explanation:
    """Explain the score of one list: formula, numbers, a row per rank, the ideal list.

    Parameters
    ----------
    metric : str or Metric
        A metric of accuracy, which may have a cut-off: "ndcg", "nDCG@3".
    ranking : list
        Items from rank 1 down, or the relevance of each rank.
    truth : mapping, list or set, optional
        Relevance of each item, or the relevant items.
    k : int, optional
        The cut-off; None is the whole list.
    lang : {"en", "ko"}, optional
        The language; None is the one that is set.
    **options
        Options of the metric.

    Returns
    -------
    Explanation
        Shown in a notebook; its `numbers` are the formula with the numbers of the list.

    Examples
    --------
    >>> import recnb
    >>> print(recnb.explain("dcg", [3, 2, 0, 1]).numbers)
    3/log2(1+1) + 2/log2(1+2) + 1/log2(1+4) = 4.6925
    """
    with use_language(lang):
        if ranking is None:
            raise OptionError(
                "explain takes a metric and a list: recnb.explain('ndcg', [3, 2, 0, 1])."
            )
        measure = measure_named(metric, OF_ONE_LIST).with_options(options).cut_at(k)
        pair = read_pair(ranking, truth, measure.metric)
        items = pair.items if pair.named else [None] * len(pair.items)
        user_list = UserList(
            hits_of([pair]),
            items=dict(enumerate(items, 1)),
            truth=[*pair.truth] if pair.named else None,
        )
        basis = GivenLists([pair], measure).phrases()
        return explained(measure, user_list, CONVENTION, basis)


def hits_of(pairs: Sequence[Pair]) -> Hits:
    """Join several lists with their truths, each a user of its own."""
    hits: list[tuple[int, int, int]] = []  # user, rank, row of the truth
    truth: list[tuple[int, float]] = []
    for user, pair in enumerate(pairs):
        row_of = {item: row for row, item in enumerate(pair.truth, len(truth))}
        for rank, item in enumerate(pair.items, 1):
            if item in row_of:
                hits.append((user, rank, row_of[item]))
        truth += [(user, grade) for grade in pair.truth.values()]
    users, ranks, rows = np.array(hits, dtype=np.int64).reshape(-1, 3).T
    truth_user, grades = np.array(truth, dtype=np.float64).reshape(-1, 2).T
    return Hits(
        user=users,
        rank=ranks,
        list_length=np.array([len(pair.items) for pair in pairs], dtype=np.int64),
        relevance=grades[rows],
        entry=rows,
        truth_user=truth_user.astype(np.int64),
        truth_relevance=grades,
        max_relevance=grades.max(initial=0.0),
    )


def _scored(y_true: Any, y_score: Any) -> list[Pair]:
    """Read the grades and scores of one list or several.

    Items are ranked by score; equal scores keep their order.
    """
    grades, scores = _as_list(y_true, "y_true"), _as_list(y_score, "y_score")
    refuse_other_number(grades, scores, "y_score")
    refuse_other_order(y_true, y_score, "y_score")
    if _are_lists(grades) and _are_lists(scores):
        pairs = []
        for one_grades, one_scores in zip(grades, scores, strict=True):
            pairs += _scored(one_grades, one_scores)
        return pairs
    if odd := [score for score in scores if not is_number(score)]:
        raise RecnbError(f"y_score holds {_shown(odd[0])}: a score is a finite number.")
    # Items are numbered as given, which says which of equal ones is preferred.
    order = np.argsort(-np.array(scores), kind="stable") + 1
    return [_graded(grades)._replace(items=order.tolist())]


def refuse_other_number(y_true: Sized, column: Sized, name: str) -> None:
    """Refuse a column that has not as many rows as y_true."""
    if len(column) != len(y_true):
        raise FrameError(
            f"y_true has {len(y_true):,} values, and {name} {len(column):,}: each row "
            f"has one of both."
        )


def refuse_other_order(
    first: Any, column: Any, name: str, beside: str = "y_true"
) -> None:
    """Refuse a column of pandas whose index is that of the first in another order."""
    of_pandas = (pd.Series, pd.DataFrame)
    if not isinstance(first, of_pandas) or not isinstance(column, of_pandas):
        return
    if column.index.equals(first.index) or {*column.index} != {*first.index}:
        return
    fix = f"give both in one, {name}.loc[{beside}.index]."
    if not first.index.is_unique:
        # .loc would return each row once for each repeat.
        fix = f"its labels repeat, so pair them by position, {name}.to_numpy()."
    raise FrameError(f"{beside} and {name} have the same index in another order: {fix}")


def read_pair(ranking: Any, truth: Any, metric: Metric[...]) -> Pair:
    """Read one pair; several are refused."""
    pair, *others = read_pairs(ranking, truth, metric)
    if others:
        raise RecnbError(
            f"one list is needed here, and {len(others) + 1} were given: pick one."
        )
    return pair


def read_pairs(ranking: Any, truth: Any, metric: Metric[...]) -> list[Pair]:
    """Read one pair, or several if the entries of the ranking are lists themselves."""
    if isinstance(ranking, Mapping) and truth is None and metric.over == "ideal":
        # A truth alone, of which this is the metric.
        return [_graded(list(ranking.values()))]
    if ranking is None:
        raise RecnbError(
            f"no list was given: type recnb.{metric.name}(['A', 'B', 'C'], {{'A': 1}})."
        )
    entries = _as_list(ranking, "the ranking")
    if truth is None:
        lists = entries if _are_lists(entries) else [entries]
        return [_graded(list(one), metric.name) for one in lists]
    truth = [*truth] if isinstance(truth, Iterator) else truth
    has_truths = _is_list(truth) and len(truth) and all(map(_is_truth, truth))
    if not has_truths or not all(map(_is_list, entries)):
        return [_matched(entries, truth, metric.name)]
    if all(isinstance(entry, tuple) for entry in (*entries, *truth)):
        raise RecnbError(
            f"ranking and truth hold tuples, such as {[*entries, *truth][0]!r}, "
            "which may be items or whole lists: make lists of lists, [list(one) for "
            "one in ranking]; of items give the relevant ones as a set, set(truth)."
        )
    if len(truth) != len(entries):
        raise RecnbError(
            f"{len(entries)} rankings stand against {len(truth)} truths: give one "
            "truth for each ranking."
        )
    return [
        _matched(list(one), relevant, metric.name)
        for one, relevant in zip(entries, truth, strict=True)
    ]


def _graded(grades: list[Any], metric: str = "ndcg") -> Pair:
    """Make a pair of the relevance of each rank."""
    if not grades:
        raise RecnbError(
            "the list of grades is empty: give the relevance of each rank, such as "
            "[3, 2, 0, 1]."
        )
    for item in grades:
        if isinstance(item, str):
            given = ", ".join(map(_shown, grades[:3]))
            call = f"recnb.{metric}([{given}], {{{_shown(item)}: 1}})"
            raise RecnbError(
                f"{_shown(item)} is an item, and what is relevant was not given: type "
                f"{call}, with the relevant items second."
            )
    ranks = range(1, len(grades) + 1)
    judged = dict(zip(ranks, grades, strict=True))
    return Pair(ranks, _relevant(judged, "rank {item}"), named=False)


def _matched(ranking: list[Any], truth: Any, metric: str) -> Pair:
    """Make a pair of items in rank order and what is relevant."""
    if hasattr(truth, "columns") or not _is_truth(truth):
        raise RecnbError(
            f"the truth is {_shown(truth)}: give a mapping of item to relevance, "
            "such as {'A': 1}, or the relevant items in a list or set."
        )
    has_order = not isinstance(truth, (set, frozenset))
    listed = list(truth) if has_order else sorted(truth, key=str)
    _refuse_numbers(ranking, truth, metric)
    _refuse_items(listed, "the truth")
    _refuse_items(ranking, "the ranking")
    _refuse_kinds(ranking, listed)
    judged = truth if isinstance(truth, Mapping) else dict.fromkeys(listed, 1.0)
    return Pair(ranking, _relevant(judged, "item {item!r}"))


def _relevant(judged: Mapping[Any, Any], where: str) -> dict[Any, float]:
    """Return the grades above 0, and refuse what is no grade."""
    for item, grade in judged.items():
        if not _is_grade(grade) or not 0 <= float(grade) <= HIGHEST:
            raise RecnbError(
                f"the relevance at {where.format(item=item)} is {_shown(grade)}: a "
                f"grade is a number from 0 up to {HIGHEST:g}, such as 3."
            )
    return {item: float(grade) for item, grade in judged.items() if grade > 0}


def _refuse_numbers(ranking: list[Any], truth: Any, metric: str) -> None:
    """Refuse grades and scores of one list, which look like ids of items."""
    values = [*ranking, *truth]
    if isinstance(truth, Mapping) or not all(map(_is_grade, values)):
        return
    odd = [value for value in values if not is_number(value) or value % 1 != 0]
    are_columns = _is_list(truth) and 0 < len(ranking) == len(truth)
    if odd or are_columns:
        value = (odd or ranking)[0]
        raise RecnbError(
            f"ranking and truth hold numbers, such as {value!r}: if they are grades "
            f"and scores, type recnb.{metric}(y_true=..., y_score=...); if they are "
            "ids of items, give the relevant ones as a set, set(truth), or of "
            "several lists [set(one) for one in truth]; fractions are ids as text."
        )


def _refuse_kinds(ranking: list[Any], listed: list[Any]) -> None:
    """Refuse items that differ in kind: 1 against "1" would score 0 for that alone."""
    if not ranking or not listed:
        return
    has_one_kind = not {*map(_kind, ranking)}.isdisjoint(map(_kind, listed))
    has_match = not {*ranking}.isdisjoint(listed)
    if has_one_kind or has_match:
        return
    raise RecnbError(
        f"the ranking holds {ranking[0]!r} and the truth {listed[0]!r}, which "
        "never match: give items of one kind on both sides; grades of the items "
        "are a mapping, dict(zip(items, grades)) or series.to_dict()."
    )


def _refuse_items(items: list[Any], what: str) -> None:
    """Refuse what is no item, and items that are repeated.

    An item can be hashed and compared with a number of numpy, and is not missing.
    """
    for item in items:
        is_missing = item is None or item is pd.NA
        is_of_a_kind = isinstance(item, Hashable) and not isinstance(item, Decimal)
        if is_missing or not is_of_a_kind or item != item:
            raise RecnbError(
                f"{what} holds {_shown(item)}, which cannot be an item: items are text "
                "or numbers, and none is missing; [str(item) for item in items] makes "
                "them text."
            )
    if len({*items}) < len(items):
        twice = next(item for place, item in enumerate(items) if item in items[:place])
        raise RecnbError(f"{what} holds {twice!r} more than once: list each item once.")


def _kind(item: Any) -> type:
    """Return the type of an item; all text is one, and so are all numbers."""
    if isinstance(item, str):
        return str
    return float if is_number(item) else type(item)


def _as_list(values: Any, what: str) -> list[Any]:
    """Return what was given as a list, or refuse what has no order."""
    if not _is_list(values):
        raise RecnbError(
            f"{what} is {_shown(values)}: give a list, from rank 1 down; frames are "
            "evaluated by recnb.evaluate(recs, truth), and scores of items are "
            "ranked by sorted(scores, key=scores.get, reverse=True); an Evaluation "
            "has .measure(metric, k=10)."
        )
    return list(values)


def _is_grade(value: Any) -> bool:
    return is_number(value) or isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    has_order = not isinstance(value, (Mapping, set, frozenset))
    return is_several(value) and has_order and not hasattr(value, "columns")


def _are_lists(entries: list[Any]) -> bool:
    return bool(entries) and all(map(_is_list, entries))


def _is_truth(value: Any) -> bool:
    return isinstance(value, Collection) and is_several(value)


def _shown(value: Any) -> str:
    return one_line(quoted(value), 80)


@dataclass(frozen=True, eq=False)
class GivenLists(Basis):
    """How many lists there are, and by which rules, in words."""

    pairs: Sequence[Pair]
    measure: Measure
    ties: Sequence[str] = ()

    @property
    def noun(self) -> Noun:
        """What sentences call a list."""
        return LIST

    def who(self) -> Sequence[str]:
        """Return how many lists there are, and how some count."""
        n = len(self.pairs)
        n_empty = sum(not pair.truth for pair in self.pairs)
        has_missed = self.measure.metric.missed != "0"
        if n > 1:
            lists = _("mean of {n} lists", n=n)
            empty = no_relevant_in_words(CONVENTION, n_empty, 0, has_missed=has_missed)
            return [Phrase(lists), *empty]
        words = [Phrase(_("one list of {n}", n=len(self.pairs[0].items)))]
        if n_empty and not has_missed:
            words.append(Phrase(nothing_to_divide(0.0, undefined=True)))
        return words

    def rules(self, *, brief: bool) -> list[str]:
        """Return the rules, brief or not."""
        measure = self.measure
        given = options_in_words(measure.options, whole=measure.k is None)
        rules = options_in_words(measure.chosen, whole=measure.k is None)
        return [*self.ties, *given_marked(rules, given)]
