"""The playground without its view: one list, what can be done to it, and what that did to its metrics.

Every number is read off the `Credit` that makes the score, the one that `recnb.ndcg` and `recnb.explain` use; what a move
changed is the difference of two of them. The class knows no widgets, so all of it is used, and tested, without a browser:

    state = PlaygroundState(["A", "B", "C"], {"A": 1, "C": 3})
    state.move("C", 1)
    print(state.sentence())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from recnb.display.language import checked, use_language
from recnb.errors import OptionError, RecnbError, near
from recnb.metrics.gain import Gain
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Metric, metric_named
from recnb.results import Explanation
from recnb.results.arguments import Metrics, chosen_metrics, options_of
from recnb.results.single_list import Pair, Ranking, Truth, explain, hits_of
from recnb.widgets.playground import wording as words
from recnb.widgets.playground.inputs import RANKING, TRUTH, as_listed, given

#: What is looked at if nothing else is named.
METRICS = ("precision", "recall", "average_precision", "ndcg")


@dataclass(frozen=True)
class PlaygroundList:
    """A list as it stands, and how it is looked at."""

    order: tuple[Any, ...]  #: the items in rank order
    relevance: Mapping[Any, float]  #: of every item, those that are not in the list included
    k: int
    gain: Gain


@dataclass(frozen=True)
class Action:
    """What was done last."""

    kind: Literal["move", "order", "relevance", "k", "gain", "undo", "reset"]
    before: PlaygroundList
    item: Any = None  #: what was moved, or has another relevance


@dataclass(frozen=True)
class Term:
    """What one item adds to the sum."""

    item: Any
    rank: int
    text: str  #: with the numbers put in: 3/log2(1+4)
    credit: float


@dataclass(frozen=True)
class Worked:
    """A metric of one setting, taken apart."""

    terms: Mapping[Any, Term]  #: by item; those that add nothing are not among them
    total: float  #: the terms added up
    out_of: float | None  #: what that is divided by; None: by nothing
    value: float


class Value(NamedTuple):
    """A metric now, before the last step, and the difference."""

    now: float
    before: float
    change: float


class TermChange(NamedTuple):
    """What one item added before the last step and adds now; None: nothing."""

    item: Any
    before: Term | None
    now: Term | None
    change: float


@dataclass(frozen=True)
class Changed:
    """What the last step did to the metric in focus."""

    metric: str
    label: str
    terms: tuple[TermChange, ...]  #: those that changed: the item that was moved first, then down the list
    before: Worked
    now: Worked

    @property
    def change(self) -> float:
        """The difference of the metric."""
        return self.now.value - self.before.value

    @property
    def total_change(self) -> float:
        """The difference of the sum: that of the terms, added up."""
        return sum(one.change for one in self.terms)


class PlaygroundState:
    """A list whose items are moved, and what that does to its metrics."""

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
    ) -> None:
        self.lang = checked(lang)
        asked = chosen_metrics(metrics)
        self.metrics: dict[str, Metric[...]] = {metric.name: metric for metric in asked}
        self._own = {metric.name: options_of(metric, metrics, {}, asked) for metric in asked}
        if ranking is None and truth is None:
            ranking, truth = RANKING, TRUTH
        order, relevance = given(ranking, truth)
        cutoff = Cutoffs.one(k).values[0]
        self.items = tuple(relevance)  #: all of them: those of the list in their first order, then the others
        self._listed = as_listed(truth, relevance)
        self.focus = asked[-1].name if focus is None else self._named(focus)
        self.setting = PlaygroundList(order, relevance, cutoff or len(order), _gain(gain))
        self.first = self.setting
        self.past: list[PlaygroundList] = []  #: to go back to, the last one at the end
        self.step: Action | None = None
        self.watchers: list[Callable[[], None]] = []  #: called after each change, as the view does to show it
        #: The last two, which are asked for again and again: a change is the difference of two settings.
        self._explained: list[tuple[str, PlaygroundList, Explanation]] = []
        self._check(self.setting)

    # What it is.

    @property
    def order(self) -> tuple[Any, ...]:
        """The items in rank order."""
        return self.setting.order

    @property
    def outside(self) -> tuple[Any, ...]:
        """The items that are not in the list; relevant or not, they can only be missed."""
        inside = set(self.setting.order)
        return tuple(item for item in self.items if item not in inside)

    @property
    def relevance(self) -> dict[Any, float]:
        """How relevant each item is, those that are not in the list included."""
        return dict(self.setting.relevance)

    @property
    def k(self) -> int:
        """The cut-off."""
        return self.setting.k

    @property
    def gain(self) -> Gain:
        """What relevance is worth, in the metrics that have a gain."""
        return self.setting.gain

    @property
    def has_gain(self) -> bool:
        """Whether any of the metrics has a gain that can be chosen."""
        return any("gain" in metric.defaults and "gain" not in self._own[name] for name, metric in self.metrics.items())

    def rank(self, item: Any) -> int:
        """Where an item of the list stands."""
        self._known(item, self.order)
        return self.order.index(item) + 1

    # What can be done. Each checks first: what cannot be evaluated raises, and nothing has changed.

    def move(self, item: Any, rank: int) -> None:
        """Put an item of the list on a rank; those between make room."""
        if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool) or not 1 <= rank <= len(self.order):
            raise RecnbError(f"rank={rank!r}: the list has the ranks 1 to {len(self.order)}.")
        self._known(item, self.order)
        others = [one for one in self.order if one != item]
        self.reorder([*others[: rank - 1], item, *others[rank - 1 :]], moved=item)

    def reorder(self, order: Sequence[Any], moved: Any = None) -> None:
        """Put the items of the list in another order; `moved` is the one that was taken to another place."""
        new = tuple(order)
        if len(new) != len(self.order) or set(new) != set(self.order):
            raise RecnbError(
                f"{list(new)!r} does not hold the items of the list once each: a playground only moves them."
            )
        if new != self.order:
            item = _moved(self.order, new, moved)
            self._do("order" if item is None else "move", replace(self.setting, order=new), item)

    def set_relevance(self, item: Any, relevance: float) -> None:
        """Say how relevant an item is, in the list or outside; 0 is not at all."""
        self._known(item, self.items)
        checked_by_recnb = explain("cg", [item], {item: relevance}).rows["relevance"]
        grade = float(checked_by_recnb.iloc[0])
        if grade != self.setting.relevance[item]:
            self._do("relevance", replace(self.setting, relevance={**self.setting.relevance, item: grade}), item)

    def set_k(self, k: int | None, *, sliding: bool = False) -> None:
        """Cut the list at another depth; None is its length. What a slider passes on its way is one step."""
        cutoff = Cutoffs.one(k).values[0] or len(self.order)
        if cutoff == self.k:
            return
        setting = replace(self.setting, k=cutoff)
        if not (sliding and self.step is not None and self.step.kind == "k"):
            self._do("k", setting)
            return
        self._check(setting)
        self.setting = setting
        if cutoff == self.step.before.k:
            self.past.pop()
            self.step = None
        self._tell()

    def set_gain(self, gain: Gain | str) -> None:
        """Let relevance be worth something else: "linear", "exponential" or "binary"."""
        chosen = _gain(gain)
        if chosen != self.gain:
            self._do("gain", replace(self.setting, gain=chosen))

    def look_at(self, metric: str) -> None:
        """Explain another of the metrics."""
        self.focus = self._named(metric)
        self._tell()

    def undo(self) -> None:
        """Take the last step back; without one, nothing happens."""
        if self.past:
            self.step = Action("undo", self.setting)
            self.setting = self.past.pop()
            self._tell()

    def reset(self) -> None:
        """Go back to the start, which can be undone as any step."""
        if self.setting != self.first:
            self._do("reset", self.first)

    # What comes of it.

    def values(self) -> dict[str, Value]:
        """Each metric now, before the last step, and the difference."""
        now = {name: self._value(name, self.setting) for name in self.metrics}
        before = now if self.step is None else {name: self._value(name, self.step.before) for name in self.metrics}
        return {name: Value(now[name], before[name], now[name] - before[name]) for name in now}

    def worked(self, metric: str | None = None, setting: PlaygroundList | None = None) -> Worked:
        """A metric taken apart: by default the one in focus, as the list stands now."""
        name, at = self.focus if metric is None else self._named(metric), setting or self.setting
        credit, texts = self._credit(name, at), self.explanation(name, at).rows["term"].tolist()
        relevant = [item for item, grade in self._truth(at).items() if grade > 0]
        rows = zip(credit.rows.truth_row.tolist(), credit.rows.rank.tolist(), credit.earned.tolist(), strict=True)
        terms = {
            (item := relevant[row]): Term(item, rank, texts[rank - 1], earned)
            for row, rank, earned in rows
            if rank <= at.k and earned != 0
        }
        possible = credit.possible
        out_of = None if isinstance(possible, float) else float(np.broadcast_to(possible, (1, 1))[0, 0])
        return Worked(terms, float(credit.total[0, 0]), out_of, float(credit.value[0, 0]))

    def explanation(self, metric: str | None = None, setting: PlaygroundList | None = None) -> Explanation:
        """The worked explanation of a metric: by default of the one in focus, as the list stands now."""
        name, at = self.focus if metric is None else self._named(metric), setting or self.setting
        for metric_made, setting_made, made in self._explained:
            if metric_made == name and setting_made is at:
                return made
        with use_language(self.lang):
            made = explain(name, at.order, self._truth(at), at.k, **self._options(name, at))
        self._explained = [*self._explained[-1:], (name, at, made)]
        return made

    def changed(self) -> Changed:
        """What the last step did to the metric in focus, term by term; nothing if there was none."""
        now = self.worked()
        before = now if self.step is None else self.worked(setting=self.step.before)
        touched = None if self.step is None else self.step.item
        differences = []
        for item in self.items:
            old, new = before.terms.get(item), now.terms.get(item)
            change = (new.credit if new else 0.0) - (old.credit if old else 0.0)
            if change != 0:
                differences.append(TermChange(item, old, new, change))
        place = {item: rank for rank, item in enumerate(self.order)}
        differences.sort(key=lambda one: (one.item != touched, place.get(one.item, len(place))))
        metric = self.metrics[self.focus]
        return Changed(metric.name, metric.label(self.k), tuple(differences), before, now)

    def sentence(self) -> str:
        """The last step in words: what was done, which terms changed, and the metric before and after."""
        with use_language(self.lang):
            return words.sentence(self)

    def announcement(self) -> str:
        """The last step in a few words, for those who listen: what stands where, and the metric in focus."""
        with use_language(self.lang):
            return words.announcement(self)

    def __repr__(self) -> str:
        graded = [f"{words.name(item)} ({self.setting.relevance[item]:g})" for item in self.order]
        missed = [f"{words.name(item)} ({self.setting.relevance[item]:g})" for item in self.outside]
        metrics = [f"{self.metrics[name].label(self.k)} {words.value(one.now)}" for name, one in self.values().items()]
        gain = f", {self.gain} gain" if self.has_gain else ""
        return "\n".join(
            [
                f"Playground: {len(self.order)} items, k={self.k}{gain}; relevance in brackets",
                "  " + ", ".join(f"{rank}. {text}" for rank, text in enumerate(graded, 1)),
                *(["  not in the list: " + ", ".join(missed)] if missed else []),
                "  " + ", ".join(metrics),
            ]
        )

    # How.

    def _do(self, kind: Any, setting: PlaygroundList, item: Any = None) -> None:
        self._check(setting)
        self.past.append(self.setting)
        self.step = Action(kind, self.setting, item)
        self.setting = setting
        self._tell()

    def _check(self, setting: PlaygroundList) -> None:
        """Raise what recnb's metrics raise of a setting that they cannot evaluate."""
        for name in self.metrics:
            self._value(name, setting)

    def _tell(self) -> None:
        for watcher in list(self.watchers):
            watcher()

    def _truth(self, setting: PlaygroundList) -> dict[Any, float]:
        """The relevance of the items in the order that the truth was given in, which decides between equal ones."""
        return {item: setting.relevance[item] for item in self._listed}

    def _options(self, name: str, setting: PlaygroundList) -> dict[str, Any]:
        gain = {"gain": setting.gain} if "gain" in self.metrics[name].defaults else {}
        return {**gain, **self._own[name]}

    def _credit(self, name: str, setting: PlaygroundList) -> Any:
        truth = tuple((item, grade) for item, grade in self._truth(setting).items() if grade > 0)
        pair = Pair(setting.order, tuple(setting.relevance[item] for item in setting.order), truth)
        return self.metrics[name].at(hits_of([pair]), Cutoffs.one(setting.k), self._options(name, setting))

    def _value(self, name: str, setting: PlaygroundList) -> float:
        return float(self._credit(name, setting).value[0, 0])

    def _named(self, metric: str) -> str:
        name = metric_named(metric).name
        if name not in self.metrics:
            raise OptionError(f"{name!r} is not among the metrics of this playground. {near(name, self.metrics)}")
        return name

    def _known(self, item: Any, items: Sequence[Any]) -> None:
        if item not in items:
            raise OptionError(f"{item!r} is not an item here. {near(item, items)}")


def _moved(before: tuple[Any, ...], now: tuple[Any, ...], guess: Any) -> Any:
    """The one item that was taken to another place, if it was one: the one that is said to, where there is a choice."""
    for item in (guess, *(old for old, new in zip(before, now, strict=True) if old != new), *now):
        if item in before and [one for one in before if one != item] == [one for one in now if one != item]:
            return item
    return None


def _gain(gain: Any) -> Gain:
    if gain not in get_args(Gain):
        raise OptionError(f"gain={gain!r} is no gain. {near(gain, get_args(Gain))}")
    return gain  # type: ignore[no-any-return]


__all__ = ["Action", "Changed", "PlaygroundList", "PlaygroundState", "Term", "TermChange", "Value", "Worked"]
