"""The playground without its view: one list, what can be done to it, and how that changes its metrics.

Every number is read off the `Credit` that makes the score, the one that `recnb.ndcg` and `recnb.explain` use. The class
imports no widgets, so all of it can be used, and tested, without a browser:

    state = PlaygroundState(["A", "B", "C"], {"A": 1, "C": 3})
    state.move("C", 1)
    print(state.sentence())
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from recnb.data import Frame, table_of
from recnb.data.columns import columns_of, find
from recnb.display import text
from recnb.display.language import N_, _, checked, use_language
from recnb.display.templates import plain_lines
from recnb.errors import FrameError, OptionError, RecnbError, near
from recnb.metrics.formula import number
from recnb.metrics.gain import Gain
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import ACCURACY, Metric
from recnb.results.arguments import Metrics, asked_of
from recnb.results.evaluation_data import TITLES
from recnb.results.explanation import Explanation
from recnb.results.single_list import Pair, Ranking, Truth, explain, hits_of

#: The metrics shown by default.
METRICS = ("precision", "recall", "average_precision", "ndcg")

#: The list shown by default: not in the best order, with grades of relevance, and one relevant item missing.
RANKING = ("A", "B", "C", "D", "E", "F")
TRUTH = {"A": 2.0, "C": 3.0, "E": 1.0, "G": 2.0}

#: The longest list that can be moved by hand.
MOST = 100

GAINS = (N_("linear"), N_("exponential"), N_("binary"))


@dataclass(frozen=True)
class PlaygroundList:
    """The list, the relevance of its items, and how it is evaluated."""

    order: tuple[Any, ...]  #: the items in rank order
    #: Of every item, those outside the list included, in the order of the truth: it decides between equally relevant ones.
    relevance: Mapping[Any, float] = field(hash=False)
    k: int
    gain: Gain


@dataclass(frozen=True)
class Action:
    """The last step."""

    kind: Literal["move", "order", "relevance", "k", "gain", "undo", "reset"]
    before: PlaygroundList
    item: Any = None  #: the item that was moved, or whose relevance was changed


#: What was done, by the kind of step, and the value of a list that such a step changes.
ACTIONS: dict[str, tuple[str, Callable[[PlaygroundList, Any], object]]] = {
    "move": (N_("{item} moved from rank {before} to rank {now}."), lambda at, item: at.order.index(item) + 1),
    "order": (N_("The list was put in another order."), lambda _at, _item: ""),
    "relevance": (
        N_("The relevance of {item} went from {before} to {now}."),
        lambda at, item: number(at.relevance[item]),
    ),
    "k": (N_("The cut-off k went from {before} to {now}."), lambda at, _item: at.k),
    "gain": (N_("The gain is {now} instead of {before}."), lambda at, _item: _(at.gain)),
    "undo": (N_("The last step was taken back."), lambda _at, _item: ""),
    "reset": (N_("The list is back at the start."), lambda _at, _item: ""),
}


class Term(NamedTuple):
    """The credit of one item."""

    item: Any
    rank: int
    text: str  #: with the numbers put in: 3/log2(1+4)
    credit: float

    def __str__(self) -> str:
        return self.text if self.text == number(self.credit) else f"{self.text} = {text.trimmed(self.credit)}"


@dataclass(frozen=True)
class Worked:
    """A metric of one list, taken apart."""

    terms: Mapping[Any, Term]  #: by item, without those that add nothing
    total: float  #: the sum of the terms
    out_of: float | None  #: the divisor of the sum; None: it is not divided
    value: float


class Value(NamedTuple):
    """A metric now, before the last step, and the difference."""

    now: float
    before: float
    change: float


class TermChange(NamedTuple):
    """The term of one item before the last step and now; None: the item adds nothing."""

    item: Any
    before: Term | None
    now: Term | None
    change: float


@dataclass(frozen=True)
class Changed:
    """The change of the metric in focus by the last step."""

    terms: tuple[TermChange, ...]  #: those that changed: the item that was moved first, then down the list
    before: Worked
    now: Worked
    change: float  #: of the metric
    total_change: float  #: of the sum, which is the sum of the changes of its terms


class PlaygroundState:
    """A list whose items can be moved, and its metrics before and after each step.

    Parameters
    ----------
    ranking, truth
        Items in rank order and the relevant items, as `recnb.ndcg` takes them; or the grades of a list alone.
        By default a small example.
    metrics
        Names of metrics, or a mapping of each to its options.
    k
        The cut-off, by default the length of the list.
    gain
        "linear", "exponential" or "binary", for the metrics that have a gain.
    focus
        The metric that is explained, by default the last one.
    lang
        "en" or "ko", by default the language in force.
    items
        Titles of items, which are shown before their ids: a mapping of item to title, or a frame with the items in a
        column `item` and their titles in `title`, `name` or `label`.
    """

    def __init__(
        self,
        ranking: Ranking | None = None,
        truth: Truth | None = None,
        metrics: Metrics = METRICS,
        *,
        k: int | None = None,
        gain: Gain = "linear",
        focus: str | None = None,
        lang: str | None = None,
        items: Mapping[Any, str] | Frame | None = None,
    ) -> None:
        self.lang = checked(lang)
        asked = asked_of(None, metrics, {}, among=ACCURACY)
        self.metrics: dict[str, Metric[...]] = {metric.name: metric for _name, metric, _own in asked}
        self._own_options = {metric.name: own for _name, metric, own in asked}
        if ranking is None and truth is None:
            ranking, truth = RANKING, TRUTH
        order, relevance = _ranking_and_relevance(ranking, truth)
        cutoff = Cutoffs.one(k).values[0]
        #: All of them: those of the list in their first order, then the others.
        self.items = tuple(dict.fromkeys([*order, *relevance]))
        self.titles = _titles(items, self.items)  #: of the items that have one
        self.focus = asked[-1].metric.name if focus is None else self._metric_name(focus)
        self.setting = PlaygroundList(order, relevance, cutoff or len(order), _checked_gain(gain))
        self.first = self.setting
        self.past: list[PlaygroundList] = []  #: what `undo` goes back to, the last one at the end
        self.step: Action | None = None
        self.watchers: list[Callable[[], None]] = []  #: called after each change
        self._explained = lru_cache(2)(self._explain)  #: a change is the difference of two lists
        self._check(self.setting)

    @property
    def order(self) -> tuple[Any, ...]:
        """The items in rank order."""
        return self.setting.order

    @property
    def outside(self) -> tuple[Any, ...]:
        """The items that are not in the list."""
        inside = set(self.setting.order)
        return tuple(item for item in self.items if item not in inside)

    @property
    def relevance(self) -> dict[Any, float]:
        """The relevance of each item, those that are not in the list included."""
        return {item: self.setting.relevance[item] for item in self.items}

    @property
    def k(self) -> int:
        """The cut-off."""
        return self.setting.k

    @property
    def gain(self) -> Gain:
        """The gain of the metrics that have one."""
        return self.setting.gain

    @property
    def has_gain(self) -> bool:
        """Whether any of the metrics has a gain that can be chosen."""
        return any(
            "gain" in metric.defaults and "gain" not in self._own_options[name] for name, metric in self.metrics.items()
        )

    def rank(self, item: Any) -> int:
        """Return the rank of an item of the list."""
        _require(item, self.order)
        return self.order.index(item) + 1

    def name(self, item: Any, longest: int = 60) -> str:
        """Return an item as text on one line: its title and its id, or the id alone."""
        title = self.titles.get(item)
        return text.one_line(" ".join(f"{item if title is None else f'{title} ({item})'}".split()), longest)

    # Steps. Each checks first: what cannot be evaluated raises, and nothing has changed.

    def move(self, item: Any, rank: int) -> None:
        """Move an item of the list to a rank."""
        if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool) or not 1 <= rank <= len(self.order):
            raise RecnbError(f"rank={rank!r}: the list has the ranks 1 to {len(self.order)}.")
        _require(item, self.order)
        others = [other for other in self.order if other != item]
        self.reorder([*others[: rank - 1], item, *others[rank - 1 :]], moved=item)

    def reorder(self, order: Sequence[Any], moved: Any = None) -> None:
        """Put the items of the list in another order; `moved` is the item that was moved."""
        new = tuple(order)
        if len(new) != len(self.order) or set(new) != set(self.order):
            raise RecnbError(
                f"{list(new)!r} does not hold the items of the list once each: a playground only moves them."
            )
        item = _moved(self.order, new, moved)
        self._do("order" if item is None else "move", item, order=new)

    def set_relevance(self, item: Any, relevance: float) -> None:
        """Set the relevance of an item, in the list or outside; 0 is not relevant."""
        _require(item, self.items)
        grade = float(explain("cg", [item], {item: relevance}).rows["relevance"].iloc[0])
        self._do("relevance", item, relevance={**self.setting.relevance, item: grade})

    def set_k(self, k: int | None, *, sliding: bool = False) -> None:
        """Set the cut-off; None is the length of the list. The positions of a sliding slider are one step."""
        cutoff = Cutoffs.one(k).values[0] or len(self.order)
        if sliding and cutoff != self.k and self.step is not None and self.step.kind == "k":
            self._check(replace(self.setting, k=cutoff))
            self.setting, self.step = self.past.pop(), None
            if cutoff == self.k:
                self._notify()
        self._do("k", k=cutoff)

    def set_gain(self, gain: Gain | str) -> None:
        """Set the gain: "linear", "exponential" or "binary"."""
        self._do("gain", gain=_checked_gain(gain))

    def look_at(self, metric: str) -> None:
        """Explain another of the metrics."""
        self.focus = self._metric_name(metric)
        self._notify()

    def undo(self) -> None:
        """Undo the last step; without one, nothing happens."""
        if self.past:
            self.step = Action("undo", self.setting)
            self.setting = self.past.pop()
            self._notify()

    def reset(self) -> None:
        """Go back to the first list, which can be undone as any step."""
        self._do("reset", **vars(self.first))

    # Results.

    def values(self) -> dict[str, Value]:
        """Return each metric now, before the last step, and the difference."""
        pairs = {name: (self._value(name, self.setting), self._value(name, self._before)) for name in self.metrics}
        return {name: Value(now, before, now - before) for name, (now, before) in pairs.items()}

    def worked(self, metric: str | None = None, setting: PlaygroundList | None = None) -> Worked:
        """Take a metric apart: by default the one in focus, of the list as it is now."""
        explanation = self.explanation(metric, setting)
        rows = explanation.rows
        columns = zip(*(rows[name].tolist() for name in ("item", "rank", "term", "credit")), strict=True)
        terms = {term.item: term for term in map(Term._make, columns) if term.credit != 0}
        out_of = explanation.out_of if explanation.out_of_terms else None
        return Worked(terms, [0.0, *rows["running"].tolist()][-1], out_of, explanation.value)

    def explanation(self, metric: str | None = None, setting: PlaygroundList | None = None) -> Explanation:
        """Explain a metric: by default the one in focus, of the list as it is now."""
        return self._explained(self.focus if metric is None else self._metric_name(metric), setting or self.setting)

    def _explain(self, name: str, setting: PlaygroundList) -> Explanation:
        options = self._options(name, setting)
        explanation = explain(name, setting.order, setting.relevance, setting.k, lang=self.lang, **options)
        return replace(explanation, titles=self.titles)

    def changed(self) -> Changed:
        """Return how the last step changed the metric in focus, term by term."""
        before, now = self.worked(setting=self._before), self.worked()
        moved = None if self.step is None else self.step.item
        terms = []
        # The item that was moved comes first, then the list, then the other items.
        for item in dict.fromkeys([*([] if moved is None else [moved]), *self.order, *self.items]):
            old, new = before.terms.get(item), now.terms.get(item)
            change = (new.credit if new else 0.0) - (old.credit if old else 0.0)
            if change != 0:
                terms.append(TermChange(item, old, new, change))
        return Changed(tuple(terms), before, now, now.value - before.value, sum(term.change for term in terms))

    # In words.

    def action(self) -> str:
        """Describe the last step."""
        with use_language(self.lang):
            if self.step is None:
                return _("Move an item to see what changes.")
            item, (message, value_of) = self.step.item, ACTIONS[self.step.kind]
            before, now = value_of(self.step.before, item), value_of(self.setting, item)
            return _(message, item=self.name(item), before=before, now=now)

    def result(self) -> str:
        """Describe the metric in focus before and after the last step."""
        value = self.values()[self.focus]
        return self._in_words("result", self.metrics[self.focus].label(self.k), value.before, value.now)

    def sentence(self) -> str:
        """Describe the last step: what was done, which terms changed, their sum, and the metric before and after."""
        return self.action() if self.step is None else self._in_words("sentence", self, self.changed())

    def _in_words(self, words: str, *values: Any) -> str:
        with use_language(self.lang):
            return " ".join(plain_lines("widgets/playground/step.txt.jinja", words, *values))

    def announcement(self) -> str:
        """Describe the last step in a few words, for screen readers: the rank of the item, and the metric in focus."""
        if self.step is None:
            return ""
        if self.step.kind != "move":
            return f"{self.action()} {self.result()}"
        item, n = self.step.item, len(self.order)
        with use_language(self.lang):
            place = _("{item}, now rank {rank} of {n}.", item=self.name(item), rank=self.rank(item), n=n)
        return f"{place} {self.result()}"

    def __repr__(self) -> str:
        graded = [f"{self.name(item)} ({self.setting.relevance[item]:g})" for item in (*self.order, *self.outside)]
        listed, missed = graded[: len(self.order)], ", ".join(graded[len(self.order) :])
        values = [
            f"{self.metrics[name].label(self.k)} {text.fixed(value.now)}" for name, value in self.values().items()
        ]
        with use_language(self.lang):
            heading = (
                N_("Playground: {n} items, k={k}, {gain} gain; relevance in brackets")
                if self.has_gain
                else N_("Playground: {n} items, k={k}; relevance in brackets")
            )
            lines = [
                _(heading, n=len(self.order), k=self.k, gain=_(self.gain)),
                "  " + ", ".join(f"{rank}. {item}" for rank, item in enumerate(listed, 1)),
                *(["  " + _("not in the list: {items}", items=missed)] if missed else []),
                "  " + ", ".join(values),
            ]
        return "\n".join(lines)

    @property
    def _before(self) -> PlaygroundList:
        """The list before the last step."""
        return self.setting if self.step is None else self.step.before

    def _do(self, kind: Any, item: Any = None, **changes: Any) -> None:
        """Do a step, unless it changes nothing."""
        setting = replace(self.setting, **changes)
        if setting == self.setting:
            return
        self._check(setting)
        self.past.append(self.setting)
        self.step = Action(kind, self.setting, item)
        self.setting = setting
        self._notify()

    def _check(self, setting: PlaygroundList) -> None:
        """Raise what the metrics raise of a list that they cannot evaluate."""
        for name in self.metrics:
            self._value(name, setting)

    def _notify(self) -> None:
        for watcher in list(self.watchers):
            watcher()

    def _options(self, name: str, setting: PlaygroundList) -> dict[str, Any]:
        gain = {"gain": setting.gain} if "gain" in self.metrics[name].defaults else {}
        return {**gain, **self._own_options[name]}

    def _value(self, name: str, setting: PlaygroundList) -> float:
        relevant = [(item, grade) for item, grade in setting.relevance.items() if grade > 0]
        pair = Pair(setting.order, [setting.relevance[item] for item in setting.order], relevant)
        credit = self.metrics[name].at(hits_of([pair]), Cutoffs.one(setting.k), self._options(name, setting))
        return float(credit.value[0, 0])

    def _metric_name(self, metric: str) -> str:
        name = metric_named(metric).name
        if name not in self.metrics:
            raise OptionError(f"{name!r} is not among the metrics of this playground. {near(name, self.metrics)}")
        return name


def _ranking_and_relevance(ranking: Ranking | None, truth: Truth | None) -> tuple[tuple[Any, ...], dict[Any, float]]:
    """Return the items in rank order, and the relevance of all items in the order of the truth."""
    if ranking is None:
        raise RecnbError("a truth was given without a ranking: give the items in rank order first.")
    if hasattr(ranking, "columns"):
        raise RecnbError(
            "the ranking is a frame, and a playground takes one list: give the items of one user in rank order."
        )
    if isinstance(ranking, Mapping):
        raise RecnbError(
            "the ranking is a mapping, which has no order: give the items in rank order first and the mapping second."
        )
    explanation = explain("cg", ranking, truth)
    grades = [float(grade) for grade in explanation.rows["relevance"]]
    n = len(grades)
    if n == 0:
        raise RecnbError("the ranking is empty: give at least one item to move.")
    if n > MOST:
        raise RecnbError(
            f"the ranking holds {n} items, more than one moves by hand: give the first {MOST} at most, ranking[:{MOST}]."
        )
    letters = string.ascii_uppercase[:n] if n <= 26 else [f"#{rank}" for rank in range(1, n + 1)]
    order = tuple(letters if truth is None else ranking)
    judged = dict(truth) if isinstance(truth, Mapping) else dict.fromkeys(explanation.missed, 1.0)
    relevance = {**judged, **dict(zip(order, grades, strict=True))}
    listed = sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else () if truth is None else truth
    return order, {item: float(relevance[item]) for item in dict.fromkeys([*listed, *relevance])}


def _titles(items: Mapping[Any, str] | Frame | None, wanted: Sequence[Any]) -> dict[Any, str]:
    """Return the titles of the items that have one."""
    if items is None:
        return {}
    if not isinstance(items, Mapping):
        title = next((column for column in columns_of(items, "items") if column.lower() in TITLES), None)
        if title is None:
            raise FrameError(
                f"items has no column of titles: name one of its columns {' or '.join(map(repr, TITLES))}."
            )
        frame = table_of(items, "items", {**find(items, "items", ["item"], {}), "title": title})
        items = dict(zip(frame["item"].to_list(), frame["title"].to_list(), strict=True))
    return {item: str(items[item]) for item in wanted if items.get(item) is not None}


def _require(item: Any, items: Sequence[Any]) -> None:
    if item not in items:
        raise OptionError(f"{item!r} is not an item here. {near(item, items)}")


def _moved(before: tuple[Any, ...], now: tuple[Any, ...], guess: Any) -> Any:
    """Return the one item that was moved, or None if several were: `guess`, if that is possible."""
    for item in (guess, *(old for old, new in zip(before, now, strict=True) if old != new), *now):
        if item in before and [old for old in before if old != item] == [new for new in now if new != item]:
            return item
    return None


def _checked_gain(gain: Gain | str) -> Gain:
    if gain not in GAINS:
        raise OptionError(f"gain={gain!r} is no gain. {near(gain, GAINS)}")
    return cast(Gain, gain)


__all__ = ["Action", "Changed", "PlaygroundList", "PlaygroundState", "Term", "TermChange", "Value", "Worked"]
