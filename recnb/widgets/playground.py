"""The playground: a list whose items are moved, and its metrics after each step.

`recnb.explain` makes every number. Code does all that is done by hand in a notebook.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf
from types import EllipsisType
from typing import Any, NamedTuple

import pandas as pd

from recnb.display.language import N_, _, checked, use_language
from recnb.display.templates import macro, write
from recnb.display.text import one_line, trimmed
from recnb.errors import OptionError, RecnbError
from recnb.metrics.formula import number
from recnb.metrics.hits import WHOLE_LISTS, one_cutoff
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import ACCURACY
from recnb.results.arguments import Metrics, asked_of
from recnb.results.explanation import Explanation
from recnb.results.single_list import Ranking, Truth, explain, read_pair
from recnb.widgets.live import Live, check_choice

#: What is shown by default: the list is not in the best order, and one relevant item is
#: missing.
METRICS = ("precision", "recall", "average_precision", "ndcg")
RANKING = ("A", "B", "C", "D", "E", "F")
TRUTH = {"A": 2.0, "C": 3.0, "E": 1.0, "G": 2.0}

GAINS = (N_("linear"), N_("exponential"), N_("binary"))

#: The longest list that is moved by hand.
LONGEST_LIST = 100


class Setting(NamedTuple):
    """The list, the relevance of its items, and how it is evaluated."""

    order: tuple[Any, ...]  #: the items in rank order
    #: Of all items, in the order of the truth: it decides between equally relevant
    #: ones.
    relevance: Mapping[Any, float]
    k: int
    gain: str


class Term(NamedTuple):
    """What one item adds to a metric."""

    text: str = "0"  #: with the numbers put in: 3/log2(1+4)
    credit: float = 0.0

    def __str__(self) -> str:
        if self.text == number(self.credit):
            return self.text
        return f"{self.text} = {trimmed(self.credit)}"


class TermChange(NamedTuple):
    """The term of one item before the last step and now."""

    item: Any
    before: Term
    now: Term
    change: float


class Playground(Live):
    """Show a ranked list whose items can be moved, and how that changes its metrics.

    As a widget it needs `recnb[notebook]`.

    In a notebook items are dragged, or moved with Alt and an arrow key, taken into the
    list and put out; relevance, the cut-off k and the gain are changed in place.
    `move`, `remove`, `change`, `undo` and `reset` do the same by code; what cannot be
    evaluated is refused and changes nothing.

    `now` and `before` are the list now and before the last step, each with `order`,
    `relevance`, `k` and `gain`; `action` is the last step in words, and `focus` the
    metric that is explained.

    Parameters
    ----------
    ranking : list, optional
        Items in rank order, or the grades of a list alone. By default a small example.
    truth : mapping, list or set, optional
        Relevance of each item, or the relevant items.
    metrics : str, list or dict
        Names of metrics, or a mapping of each to its options; at first the last one is
        explained.
    k : int, optional
        The cut-off, by default the length of the list.
    gain : {"linear", "exponential", "binary"}, default "linear"
        The gain of those metrics that have one.
    lang : {"en", "ko"}, optional
        The language, by default the one that is set.

    Examples
    --------
    >>> import recnb
    >>> play = recnb.playground(["A", "B", "C"], {"B": 2, "C": 1}, ["recall", "ndcg"])
    >>> play.move("B", 1)
    >>> play.table().round(4)
            before     now  change
    metric
    recall  1.0000  1.0000  0.0000
    ndcg    0.6697  0.9502  0.2806
    >>> [str(term.now) for term in play.terms()]
    ['2/log2(1+1) = 2']
    >>> play.look_at("recall")
    >>> print(play.explain().numbers)
    (1 + 1) / 2 = 2 / 2 = 1
    >>> play.undo()
    >>> play.remove("A")
    >>> print(play.sentence())
    A was put out of the list, from rank 1. Recall@3 stays 1.0000.
    >>> play.reset()
    >>> play.now.order
    ('A', 'B', 'C')
    """

    def __init__(
        self,
        ranking: Ranking | None = None,
        truth: Truth | None = None,
        metrics: Metrics = METRICS,
        *,
        k: int | None = None,
        gain: str = "linear",
        lang: str | None = None,
    ) -> None:
        self.lang = checked(lang)
        if ranking is None and truth is None:
            ranking, truth = RANKING, TRUTH
        with use_language(self.lang):
            asked = asked_of(None, metrics, WHOLE_LISTS, {})
            for measure in asked:
                _refuse_measure(measure)
            order, relevance = _read(ranking, truth)
            #: All items: the list in its first order, then the others.
            self.items = tuple(dict.fromkeys([*order, *relevance]))
            cutoff = one_cutoff(k) or len(order)
        #: What is explained, in the order given, each with its options.
        self.metrics = {measure.name: measure for measure in asked}
        self.focus = list(self.metrics)[-1]
        self.first = Setting(order, relevance, cutoff, gain)
        self.now = self.first
        self.before = self.first
        #: What `undo` goes back to, the last one at the end.
        self.past: list[Setting] = []
        #: The item that the last step moved.
        self.moved: Any = None
        self.action = self._words("start")
        # It holds each metric now and before the last step.
        self._explained = lru_cache(2 * len(self.metrics))(self._explain)
        self._check(self.now)

    @property
    def outside(self) -> tuple[Any, ...]:
        """The items that are not in the list."""
        return tuple(item for item in self.items if item not in self.now.order)

    @property
    def has_gain(self) -> bool:
        """Whether any of the metrics has a gain that can be chosen."""
        return any(
            "gain" in measure.metric.defaults.keys() - measure.options
            for measure in self.metrics.values()
        )

    def name(self, item: Any, longest: int = 60) -> str:
        """Return an item as text on one line."""
        return one_line(item, longest)

    # Steps.

    def move(self, item: Any, rank: int) -> None:
        """Move an item to a rank; one that is not in the list is taken in.

        Parameters
        ----------
        item : hashable
            The item.
        rank : int
            From 1 down.
        """
        others = self._others(item)
        if type(rank) is not int or not 1 <= rank <= len(others) + 1:
            raise RecnbError(
                f"rank={rank!r}: {item!r} can have the ranks 1 to {len(others) + 1}."
            )
        others.insert(rank - 1, item)
        self._do(self.now._replace(order=tuple(others)), moved=item)

    def remove(self, item: Any) -> None:
        """Put an item out of the list.

        Parameters
        ----------
        item : hashable
            The item.
        """
        order = tuple(self._others(item))
        self._do(self.now._replace(order=order), moved=item)

    def change(
        self,
        *,
        order: Sequence[Any] | None = None,
        relevance: Mapping[Any, float] | None = None,
        k: int | EllipsisType | None = ...,
        gain: str | None = None,
    ) -> None:
        """Change the order, the relevance of some items, the cut-off or the gain.

        Parameters
        ----------
        order : list, optional
            The items in rank order.
        relevance : mapping, optional
            The new relevance of some items.
        k : int, optional
            The cut-off; None is the length of the list.
        gain : {"linear", "exponential", "binary"}, optional
            The gain.

        Examples
        --------
        >>> import recnb
        >>> play = recnb.playground(["A", "B", "C"], {"B": 2, "C": 1})
        >>> play.change(order=["C", "B"], relevance={"A": 1}, k=1)
        >>> play.now.order, play.outside
        (('C', 'B'), ('A',))
        """
        now = self.now
        if order is not None:
            now = now._replace(order=tuple(order))
        if relevance is not None:
            changed = {item: self._grade(item, relevance[item]) for item in relevance}
            now = now._replace(relevance={**now.relevance, **changed})
        if k is not ...:
            now = now._replace(k=one_cutoff(k) or len(now.order))
        if gain is not None:
            now = now._replace(gain=gain)
        self._do(now)

    def look_at(self, metric: Any) -> None:
        """Explain another of the metrics.

        Parameters
        ----------
        metric : str
            One of the metrics of the playground.
        """
        self.focus = self._metric_name(metric)
        self._draw()

    def undo(self) -> None:
        """Take the last step back; without one, nothing happens."""
        if self.past:
            self.before = self.now
            self.now = self.past.pop()
            self.moved = None
            self.action = self._words("undone")
            self._draw()

    def reset(self) -> None:
        """Go back to the first list, which can be undone as any step."""
        self._do(self.first, action="reset")

    # Results.

    def table(self) -> pd.DataFrame:
        """Return each metric before the last step and now, and the difference.

        Returns
        -------
        DataFrame
            A row per metric.
        """
        rows = []
        for name in self.metrics:
            before = self.explain(name, self.before).value
            now = self.explain(name, self.now).value
            rows.append((before, now, now - before))
        metrics = pd.Index(self.metrics, name="metric")
        return pd.DataFrame(rows, metrics, ["before", "now", "change"])

    def explain(
        self, metric: Any = None, setting: Setting | None = None
    ) -> Explanation:
        """Explain a metric of the list as it is now.

        Parameters
        ----------
        metric : str, optional
            One of the metrics, by default the one in focus.
        setting : Setting, optional
            Another state of the list, such as `before`.

        Returns
        -------
        Explanation
            The formula, its numbers and a row per rank.
        """
        name = self._metric_name(metric or self.focus)
        order, relevance, k, gain = setting or self.now
        return self._explained(name, order, tuple(relevance.items()), k, gain)

    def terms(self) -> list[TermChange]:
        """Return the terms of the metric in focus that the last step changed.

        Returns
        -------
        list of TermChange
            The item that moved is first, the others follow down the list.
        """
        before, now = map(_terms_of, self._explained_twice())
        items = [*self.now.order, *self.items]
        if self.moved is not None:
            items.insert(0, self.moved)
        changes = []
        for item in dict.fromkeys(items):
            old = before.get(item, Term())
            new = now.get(item, Term())
            if old.credit != new.credit:
                changes.append(TermChange(item, old, new, new.credit - old.credit))
        return changes

    def sentence(self) -> str:
        """Describe the last step and what it changed.

        Returns
        -------
        str
            What was done, which terms changed, their sum, and the metric before and after.
        """
        if self.before == self.now:
            return self.action
        return self._words("sentence", *self._explained_twice())

    def __repr__(self) -> str:
        return self._words("text", between="\n  ")

    # What is shown, and what its controls do.

    def _html(self, live: bool) -> str:
        before, now = self._explained_twice()
        terms = self.terms()
        return write(
            "widgets/playground.jinja",
            "html",
            play=self,
            live=live,
            gains=GAINS,
            table=self.table().itertuples(),
            before=before,
            now=now,
            terms=terms,
            term_of=_terms_of(now),
            change_of={term.item: term.change for term in terms},
        )

    def _worked(self) -> list[str]:
        return [self.explain()._repr_html_()]

    def _use(self, name: str, value: str, key: str) -> None:
        item = self.items[int(key)] if key else None
        match name:
            case "rank":
                self._move_or_remove(item, int(value))
            case "by":
                self._move_by(item, int(value))
            case "step":
                # Without the rounding, 0.1 + 1 - 1 would be 0.10000000000000009.
                grade = round(self.now.relevance[item] + int(value), 6)
                self.change(relevance={item: max(0.0, grade)})
            case "relevance":
                if not 0 <= float(value or "nan") < inf:
                    problem = _(
                        "The relevance of {item} is a number from 0 up.",
                        item=self.name(item),
                    )
                    raise RecnbError(problem)
                self.change(relevance={item: float(value)})
            case "k":
                self.change(k=int(value))
            case "gain":
                self.change(gain=value)
            case "focus":
                self.look_at(value)
            case "undo":
                self.undo()
            case "reset":
                self.reset()
            case _:
                raise KeyError(name)

    def _move_by(self, item: Any, ranks: int) -> None:
        """Move an item down by so many ranks, or up if they are below 0.

        Below the last rank is out of the list, and up from there is its last rank.
        """
        order = self.now.order
        if item not in order:
            self.move(item, len(order) + 1)
            return
        rank = max(1, order.index(item) + 1 + ranks)
        self._move_or_remove(item, rank if rank <= len(order) else 0)

    def _move_or_remove(self, item: Any, rank: int) -> None:
        """Move an item to a rank, or out of the list at rank 0."""
        if rank > 0:
            self.move(item, rank)
        elif self.now.order == (item,):
            raise RecnbError(_("The list holds at least one {item}."))
        else:
            self.remove(item)

    # Below.

    def _do(self, now: Setting, *, moved: Any = None, action: str = "step") -> None:
        """Do a step, unless it changes nothing."""
        if now == self.now:
            return
        self._check(now)
        self.past.append(self.now)
        self.before = self.now
        self.now = now
        self.moved = moved
        self.action = self._words(action)
        self._draw()

    def _check(self, setting: Setting) -> None:
        """Raise an error if a setting cannot be evaluated."""
        items = set(setting.order)
        is_repeated = len(items) < len(setting.order)
        if not items or is_repeated or not items <= set(self.items):
            raise RecnbError(
                f"order={list(setting.order)!r}: a list holds at least one of the items "
                f"{list(self.items)!r}, each once."
            )
        check_choice("gain", setting.gain, GAINS)
        for name in self.metrics:
            self.explain(name, setting)

    def _explain(
        self, name: str, order: Sequence[Any], relevance: Any, k: int, gain: str
    ) -> Explanation:
        measure = self.metrics[name]
        options = dict(measure.options)
        if "gain" in measure.metric.defaults:
            options.setdefault("gain", gain)
        return explain(name, order, dict(relevance), k, lang=self.lang, **options)

    def _others(self, item: Any) -> list[Any]:
        """Return the list without an item."""
        check_choice("item", item, self.items)
        return [other for other in self.now.order if other != item]

    def _grade(self, item: Any, grade: Any) -> float:
        """Return the relevance that an item is given, or raise why it cannot be."""
        check_choice("item", item, self.items)
        _order, relevance = _read([item], {item: grade})
        return relevance[item]

    def _metric_name(self, metric: Any) -> str:
        """Return the name of a metric, or raise an error if it is not explained here."""
        name = measure_named(metric, ACCURACY).metric.name
        check_choice("metric", name, self.metrics)
        return name

    def _explained_twice(self) -> tuple[Explanation, Explanation]:
        """Explain the metric in focus before the last step and now."""
        return self.explain(setting=self.before), self.explain()

    def _words(self, what: str, *given: Explanation, between: str = " ") -> str:
        """Return what a macro of the sentences writes, its lines joined."""
        template = "widgets/playground_words.jinja"
        with use_language(self.lang):
            lines = macro(template, what, "lines", self, *given).splitlines()
        return between.join(lines)


def _refuse_measure(measure: Measure) -> None:
    """Refuse a metric that is not of accuracy, and a text with a cut-off."""
    measure_named(measure, ACCURACY)
    if measure.k is not None:
        raise OptionError(
            f"{measure.asked_as!r} has a cut-off, which is k= here: type {measure.name!r} and "
            f"k={measure.k}."
        )


def _terms_of(explanation: Explanation) -> dict[Any, Term]:
    """Return the terms by item, without those that add nothing."""
    rows = explanation.rows[["item", "term", "credit"]]
    terms = {}
    for item, term, credit in rows.itertuples(index=False):
        if credit != 0:
            terms[item] = Term(term, credit)
    return terms


def _read(ranking: Any, truth: Any) -> tuple[tuple[Any, ...], dict[Any, float]]:
    """Return the items in rank order, and the relevance of all items.

    The latter are in the order of the truth.
    """
    if ranking is None:
        raise RecnbError(
            "a truth was given without a ranking: give the items in rank order first."
        )
    pair = read_pair(ranking, truth, ACCURACY["cg"])
    n = len(pair.items)
    if not 1 <= n <= LONGEST_LIST:
        raise RecnbError(
            f"the ranking holds {n} items: give from 1 to {LONGEST_LIST}, which are "
            "moved by hand."
        )
    if not pair.named:
        letters = _letters(n)
        grades = [pair.truth.get(rank, 0.0) for rank in pair.items]
        return letters, dict(zip(letters, grades, strict=True))
    relevance = dict(pair.truth)
    judged = truth if isinstance(truth, Mapping) else ()
    for item in (*judged, *pair.items):
        relevance.setdefault(item, 0.0)
    return tuple(pair.items), relevance


def _letters(n: int) -> tuple[str, ...]:
    """Return names for items of which the grades alone are known."""
    if n <= len(string.ascii_uppercase):
        return tuple(string.ascii_uppercase[:n])
    return tuple(f"#{rank}" for rank in range(1, n + 1))
