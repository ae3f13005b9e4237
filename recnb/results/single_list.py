"""One list, plain Python: the textbook's own calls, and several lists at once.

`ndcg([3, 2, 0, 1])` takes the grades of a list in rank order; `ndcg(["a", "b"], {"b": 2})` a ranking and what is
relevant; `ndcg(y_true=[3, 0, 2], y_score=[0.2, 0.9, 0.5])` the grades and scores of items in any order; a list of
rankings with a list of truths gives the mean. All end in the same `Hits` that frames end in.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MappingView, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Number
from typing import Any, ParamSpec, Protocol, overload

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, options_in_words, shown_at
from recnb.conventions.convention import PHRASES, Ties
from recnb.data.load import read
from recnb.display.language import _, ngettext, use_language
from recnb.errors import Argument, OptionError, RecnbError, is_number, is_several, is_word, near
from recnb.metrics.hits import HIGHEST, Cutoffs, Hits
from recnb.metrics.metric import Metric, standard_metric
from recnb.results.explanation import Explanation
from recnb.results.explanation import explain as explanation_of
from recnb.results.score import Score

P = ParamSpec("P")

Ranking = Sequence[Any] | Mapping[Any, float] | np.ndarray[Any, Any]
Truth = Mapping[Any, float] | Collection[Any]

#: A user with nothing relevant: the articles give such a list 0, and there is no population to leave it out of.
LISTS = Convention(order="row", no_relevant="zero")


#: The rules for equal scores that need no ids of items.
TIES: tuple[Ties, ...] = ("first", "last", "expected", "max_rank", "floor_mean_rank", "worst")


class OneList(Protocol[P]):
    """A metric as a function of one ranking and what is relevant, or of several; or of grades and scores."""

    __name__: str

    @overload
    def __call__(
        self, ranking: Ranking, truth: Truth | None = None, /, *args: P.args, **options: P.kwargs
    ) -> Score: ...
    @overload
    def __call__(self, *, y_true: Any, y_score: Any, k: int | None = None, **options: Any) -> Score: ...


@dataclass(frozen=True)
class Pair:
    """A ranking and its truth."""

    items: Sequence[Any]  #: in rank order; the ranks, if grades were given
    grades: Sequence[float]  #: relevance of each rank
    truth: Sequence[tuple[Any, float]]  #: the relevant items in the order listed, and how relevant each is
    named: bool = True  #: whether items were given, and not grades


def describe(
    call: Callable[..., Any], metric: Metric[...], leading: Sequence[str], returned: str, trailing: Sequence[str] = ()
) -> Any:
    """The callable with the metric's name, documentation and signature; `leading` are its parameters before `k`, `trailing` the last."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = [
        inspect.Parameter(name, kind, default=inspect.Parameter.empty if name == "self" else None) for name in leading
    ]
    of_metric = list(inspect.signature(metric.function).parameters.values())[1:]
    last = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in trailing]
    call.__name__ = call.__qualname__ = metric.name
    call.__doc__ = documentation(metric, leading, returned, trailing)
    vars(call)["__signature__"] = inspect.Signature([*first, *of_metric, *last], return_annotation=returned)
    return call


#: The parameters of every metric, and what it returns.
PARAMETERS = {
    "ranking": "ranking : list\n    Items from rank 1 down, or the relevance of each rank; a list of such lists gives their mean.",
    "truth": "truth : mapping, list or set, optional\n    Relevance of each item, or the relevant items; for several rankings, one for each.",
    "k": "k : int, optional\n    Cut-off: the rank after which the list is cut. None: the whole list of each user",
    "y_true": "y_true, y_score : array-like, optional\n    In place of a ranking: the relevance and the score of each item, in any order; equal scores keep their order.",
    "ties": 'ties : {"first", "last", "expected", "max_rank", "floor_mean_rank", "worst"}, optional\n    The order of equal scores, as in `Convention`; "expected" is the mean over all orders.',
}
RETURNS = {
    "Score": "Score\n    A float with `per_user`, `interval()`, `plot()` and its convention.",
    "CatalogueScore": "CatalogueScore\n    A float with `per_item`, `plot()` and its convention.",
}


def documentation(metric: Metric[...], leading: Sequence[str], returned: str, trailing: Sequence[str] = ()) -> str:
    """The docstring of a metric: its own text, and every option with the values that its type allows."""
    text, example, after = (inspect.getdoc(metric.function) or "").partition(">>>")
    hints = typing.get_type_hints(metric.function)
    ideal = ", with the ideal list cut at its length." if "ideal" in metric.defaults else "."
    lines = [*(PARAMETERS[name] for name in leading if name != "self"), PARAMETERS["k"] + ideal]
    for name, default in metric.defaults.items():
        words = metric.words.get(name)
        kind = f"{{{', '.join(map(json.dumps, words))}}}" if words else _type_name(hints[name])
        shown = json.dumps(default) if isinstance(default, str) else default
        lines.append(f"{name} : {kind}, {'optional' if default is None else f'default {shown}'}")
        if meanings := metric.meanings.get(name):
            lines.append(f"    {'; '.join(f'{json.dumps(word)}: {meaning}' for word, meaning in meanings.items())}.")
    lines += [PARAMETERS[name] for name in trailing if name in PARAMETERS]
    parts = [text.rstrip(), "Parameters\n----------\n" + "\n".join(lines), f"Returns\n-------\n{RETURNS[returned]}"]
    return "\n\n".join([*parts, *([f"Examples\n--------\n{example}{after}"] if example else [])])


def _type_name(hint: Any) -> str:
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not type(None)]
    return " or ".join(kind.__name__ for kind in kinds)


def on_lists(metric: Metric[P]) -> OneList[P]:
    """The plain function of a metric."""

    def call(
        ranking: Ranking | None = None, truth: Truth | None = None, k: int | None = None,
        *, y_true: Any = None, y_score: Any = None, ties: Ties | None = None, **options: Any,
    ) -> Score:  # fmt: skip
        for name in options:
            if name in ("qid", "group"):
                raise OptionError(
                    f"{name}= is no option of one list. For the lists of several queries, type "
                    f"recnb.evaluate_groups(y_true, y_score, {name}=...).{metric.name}()."
                )
            if name not in metric.defaults:
                known = near(name, ["ranking", "truth", "k", "y_true", "y_score", "ties", *metric.defaults])
                raise OptionError(f"{metric.name} has no option {name!r}. {known}")
        metric.check(options)
        ranking, truth, y_true, y_score = map(_kept, (ranking, truth, y_true, y_score))
        scores = None
        if y_true is not None or y_score is not None:
            if ranking is not None or truth is not None or y_true is None or y_score is None:
                raise RecnbError(
                    "y_true= and y_score= go together, and without another list: give both, or a ranking and its truth."
                )
            ranking, scores = _by_score(y_true, y_score), y_score
        pairs = _pairs(ranking, truth, metric)
        cutoff = Cutoffs.one(k)
        convention = LISTS.with_metric({**metric.defaults, **options})
        if ties is None:
            hits = hits_of(pairs)
        else:
            convention = replace(convention, order="score", ties=_checked_ties(ties, scores))
            hits = _hits_of_scores(y_true, y_score, convention)
        values = metric.at(hits, cutoff, options).value[:, 0]
        return Score(
            values.mean(), metric.name, cutoff.values[0], convention, _basis(pairs, metric, k, options, scores, convention.ties),
            values=values, users=partial(pd.RangeIndex, len(pairs), name="list"),
        )  # fmt: skip

    call.__module__ = "recnb"
    function: OneList[P] = describe(call, metric, ["ranking", "truth"], "Score", ["y_true", "y_score", "ties"])
    return function


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
    pairs = _pairs(_kept(ranking), _kept(truth), chosen)
    if len(pairs) > 1:
        raise RecnbError(f"explain takes one list, and {len(pairs)} were given: pick one.")
    pair = pairs[0]
    items = dict(enumerate(pair.items if pair.named else [None] * len(pair.items), 1))
    truth_items = [item for item, _ignored in pair.truth] if pair.named else None
    cutoff = Cutoffs.one(k).values[0]
    with use_language(lang):
        return explanation_of(
            chosen, hits_of(pairs), cutoff, options, items=items, truth_items=truth_items, user=None,
            convention=LISTS, basis=_basis(pairs, chosen, k, options),
        )  # fmt: skip


def hits_of(pairs: Sequence[Pair]) -> Hits:
    """The hits of several lists, each a user of its own."""
    hits: list[tuple[int, int, float, int]] = []  # user, rank, relevance, row of the truth
    truth: list[tuple[int, float]] = []
    for at, pair in enumerate(pairs):
        row_of = {item: row for row, (item, _ignored) in enumerate(pair.truth, len(truth))}
        graded = enumerate(zip(pair.items, pair.grades, strict=True), 1)
        hits += [(at, rank, grade, row_of[item]) for rank, (item, grade) in graded if grade > 0]
        truth += [(at, grade) for _ignored, grade in pair.truth]
    of_hits = np.array(hits, dtype=np.float64).reshape(-1, 4)
    of_truth = np.array(truth, dtype=np.float64).reshape(-1, 2)
    user, rank, _, row = of_hits.astype(np.int64).T
    return Hits(
        user=user,
        rank=rank,
        list_length=np.array([len(pair.grades) for pair in pairs], dtype=np.int64),
        relevance=of_hits[:, 2],
        truth_row=row,
        truth_user=of_truth[:, 0].astype(np.int64),
        truth_relevance=of_truth[:, 1],
        max_relevance=max((grade for _ignored, grade in truth), default=0.0),
    )


def _by_score(y_true: Any, y_score: Any) -> list[Any]:
    """The grades of a list in the order of its scores, the highest first; equal scores keep their order. Or of several lists."""
    grades, scores = _sequence(y_true, "y_true"), _sequence(y_score, "y_score")
    if len(grades) != len(scores):
        raise RecnbError(f"y_true has {len(grades)} values and y_score {len(scores)}: each item has one of both.")
    if grades and all(map(_is_sequence, (*grades, *scores))):
        return [_by_score(*pair) for pair in zip(grades, scores, strict=True)]
    if any(map(_is_sequence, grades)):
        raise RecnbError("y_true holds lists, and y_score does not: give a list of both for each user.")
    for score in scores:
        if not is_number(score):
            raise RecnbError(f"y_score holds {score!r}: a score is a finite number.")
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return [grades[at] for at in order]


def _checked_ties(ties: Any, scores: Any) -> Ties:
    """A rule for equal scores that needs no ids."""
    if scores is None:
        raise OptionError(Argument("ties", ties), " orders equal scores: give them, y_true= and y_score=.")
    if not is_word(ties, TIES):
        raise OptionError(Argument("ties", ties), " is no order of equal scores of one list.", fix=near(ties, TIES))
    return TIES[TIES.index(ties)]


def _hits_of_scores(y_true: Any, y_score: Any, convention: Convention) -> Hits:
    """The hits of one list or several under a rule for equal scores."""
    several = _is_sequence(next(iter(y_true)))
    grades, scores = (list(values) if several else [values] for values in (y_true, y_score))
    rows = {
        "user": np.repeat(np.arange(len(grades)), [len(of_list) for of_list in grades]),
        "score": np.concatenate([np.asarray(of_list, dtype=np.float64) for of_list in scores]),
        "relevance": np.concatenate([np.asarray(of_list, dtype=np.float64) for of_list in grades]),
    }
    return read(pl.DataFrame(rows), None, {}).under(convention).all_hits


def _pairs(ranking: Ranking | None, truth: Truth | None, metric: Metric[...]) -> list[Pair]:
    """One pair or several: several if the entries of the ranking are lists themselves."""
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
    entries = _sequence(ranking, "the ranking")
    if truth is None:
        if entries and all(_is_sequence(entry) for entry in entries):
            return [_graded(list(entry)) for entry in entries]
        return [_graded(entries)]
    if _is_sequence(truth) and len(truth) and all(map(_is_truth, truth)) and all(map(_is_sequence, entries)):
        if all(isinstance(entry, tuple) for entry in (*entries, *truth)):
            raise RecnbError(
                f"the entries of ranking and truth are tuples, such as {_shown(next(iter((*entries, *truth))))}, which may be items or whole lists. Items of one "
                "list: give the relevant ones as a set, set(truth). Several lists: [list(one) for one in ranking]."
            )
        if len(truth) != len(entries):
            raise RecnbError(
                f"{len(entries)} rankings stand against {len(truth)} truths: give one truth for each ranking."
            )
        return [
            _matched(_sequence(entry, f"ranking {at}"), relevant, metric)
            for at, (entry, relevant) in enumerate(zip(entries, truth, strict=True))
        ]
    return [_matched(entries, truth, metric)]


def _graded(grades: list[Any]) -> Pair:
    if not grades:
        raise RecnbError("the list of grades is empty: give the relevance of each rank, such as [3, 2, 0, 1].")
    numbers = [_grade(grade, f"rank {at}", alone=True) for at, grade in enumerate(grades, 1)]
    ranks = range(1, len(numbers) + 1)
    relevant = [(rank, grade) for rank, grade in zip(ranks, numbers, strict=True) if grade > 0]
    return Pair(ranks, numbers, relevant, named=False)


def _matched(ranking: list[Any], truth: Any, metric: Metric[...]) -> Pair:
    if hasattr(truth, "columns") or not _is_truth(truth):
        raise RecnbError(
            f"the truth is {_shown(truth)}: give a mapping of item to relevance, or the relevant items in a list or set."
        )
    listed = sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else list(truth)
    _refuse_grades(ranking, [] if isinstance(truth, Mapping) else listed, truth, metric.name)
    for items, what in ((listed, "the truth"), (ranking, "the ranking")):
        _hashable(items, what)
    _comparable(ranking, listed)
    if 0 < sum(isinstance(item, (bool, np.bool_)) for item in ranking) < len(ranking):
        raise RecnbError(
            "the ranking holds True or False beside other items, and True equals 1: make all items text, [str(item) for item in ranking]."
        )
    _same_kind(ranking, listed, truth)
    for items, verb, advice in (
        (listed, "the truth lists", ": list each relevant item once."),
        (ranking, "the ranking holds", ", which would count twice: recommend each item once."),
    ):
        if len(set(items)) < len(items):
            twice = next(item for at, item in enumerate(items) if item in items[:at])
            raise RecnbError(f"{verb} {twice!r} more than once{advice}")
    graded = truth if isinstance(truth, Mapping) else dict.fromkeys(listed, 1.0)
    judged = {item: _grade(grade, f"item {item!r}") for item, grade in graded.items()}
    relevant = [(item, grade) for item, grade in judged.items() if grade > 0]
    return Pair(ranking, [judged.get(item, 0.0) for item in ranking], relevant)


def _grade(grade: Any, where: str, *, alone: bool = False) -> float:
    if isinstance(grade, (int, float, np.integer, np.floating, np.bool_)):
        number = grade if isinstance(grade, int) else float(grade)  # a whole number may be beyond all floats
        if 0 <= number <= HIGHEST:
            return float(number)
    ways = (
        " A ranking of items needs its truth: give the relevant items as the second argument."
        if alone and not isinstance(grade, (int, float))
        else ""
    )
    most = f", at most {HIGHEST:g}" if isinstance(grade, (int, float)) and grade > HIGHEST else ""
    raise RecnbError(f"the relevance at {where} is {grade!r}: a grade is a number from 0 up{most}.{ways}")


def _sequence(values: Any, what: str) -> list[Any]:
    if not _is_sequence(values):
        raise RecnbError(f"{what} is {_shown(values)}: give a list, from rank 1 down.")
    return list(values)


def _kept(values: Any) -> Any:
    """What gives its values once, or shows those of a mapping, as a list."""
    return [*values] if isinstance(values, Iterable) and isinstance(values, (Iterator, MappingView)) else values


def _is_sequence(value: Any) -> bool:
    ordered = isinstance(value, (Sequence, np.ndarray)) or type(value).__name__ in ("Series", "Index")
    return (ordered or isinstance(value, (Iterator, MappingView))) and is_several(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, Collection) and is_several(value)


def _hashable(items: list[Any], what: str) -> None:
    for item in items:
        try:
            hash(item)
        except TypeError as problem:
            raise RecnbError(
                f"{what} holds {_shown(item)}, which cannot be an item: items are text or numbers."
            ) from problem
        if pd.isna(item):
            raise RecnbError(f"{what} holds a missing item, {item!r}: drop it.")


def _comparable(ranking: list[Any], listed: list[Any]) -> None:
    """Refuse items of which one cannot be compared with another, as a Decimal with a number of numpy."""
    for first, second in ((ranking, listed), (listed, ranking)):
        try:
            set(first).union(second)
        except TypeError as problem:
            both = [*ranking, *listed]
            raise RecnbError(
                f"ranking and truth hold items such as {_shown(both[0])} and {_shown(both[-1])}, which cannot be compared: "
                "make all items text, such as [str(item) for item in ranking]."
            ) from problem


def _refuse_grades(ranking: list[Any], judged: list[Any], truth: Any, metric: str) -> None:
    """Refuse numbers that may be grades or scores by position, and not ids of items."""
    numbers = all(isinstance(value, (bool, np.bool_)) or is_number(value) for value in (*ranking, *judged))
    fix = f"if they are grades and scores, type recnb.{metric}(y_true=..., y_score=...); if they are ids of items, "
    if numbers and 0 < len(judged) == len(ranking) and _is_sequence(truth):
        raise RecnbError(
            f"ranking and truth are lists of {len(ranking)} number{'s' * (len(ranking) > 1)} each: {fix}give the relevant ones as a set, "
            "set(truth), or of several lists [set(one) for one in truth]."
        )
    odd = next((value for value in (*ranking, *judged) if _is_no_id(value)), None)
    if odd is not None and numbers:
        raise RecnbError(f"ranking and truth hold items, and {odd!r} is no id of one: {fix}make them text.")


def _is_no_id(value: Any) -> bool:
    """Whether a value is True, False or a fraction."""
    return isinstance(value, (bool, np.bool_)) or (is_number(value) and value % 1 != 0)


def _same_kind(ranking: list[Any], judged: list[Any], truth: Any) -> None:
    """1 and "1" never meet: such a list would score 0 for the kind of its ids alone."""
    if {*ranking} & {*judged} or not ranking or not judged:
        return
    index: Any = getattr(truth, "index", ())
    if hasattr(truth, "to_dict") and any(item in index for item in ranking):
        raise RecnbError(
            "the truth is a Series with the items in its index: give truth.to_dict() for the relevance by item, or truth.index."
        )
    if {*map(_kind, ranking)} & {*map(_kind, judged)}:
        return
    by_text = {str(item): item for item in judged}
    ranked = next((item for item in ranking if str(item) in by_text), ranking[0])
    relevant, fix = by_text.get(str(ranked), judged[0]), "make both text or both numbers."
    if str(ranked) not in by_text and _kind(judged[0]) == "number" and len(judged) == len(ranking):
        fix = "if they are the grades of the items, give a mapping, dict(zip(items, grades)); else " + fix
    if tuple in map(type, (ranking[0], judged[0])):
        fix = "if they are pairs of item and number, give the items alone as ranking, and dict(pairs) as truth."
    raise RecnbError(f"the ranking holds {ranked!r} and the truth {relevant!r}, which never match: {fix}")


def _kind(item: Any) -> str:
    return "text" if isinstance(item, str) else "number" if isinstance(item, Number) else type(item).__name__


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
    n = len(pairs)
    count = _("one list of {n}", n=len(pairs[0].grades)) if n == 1 else _("mean of {n} lists", n=n)
    empty = sum(not pair.truth for pair in pairs)
    zeros = ngettext("{n} list with no relevant item counts 0", "{n} lists with no relevant item count 0", empty)
    scores = [] if scores is None else scores
    lists = scores if all(map(_is_sequence, scores)) else [scores]
    equal = any(len({*of_list}) < len(of_list) for of_list in lists)
    order = [_(PHRASES["ties", ties])] * equal
    in_force = options_in_words(shown_at(k, {**metric.defaults, **options}))
    return "; ".join([count, *[zeros] * bool(empty), *order, *in_force])
