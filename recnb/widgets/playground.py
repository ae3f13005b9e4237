"""The playground: a list whose items are moved, and its metrics before and after each
step.

Every number is that of `recnb.explain`. What is done by hand in a notebook is done by
code as well.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf
from types import EllipsisType
from typing import Any, NamedTuple

import pandas as pd

from recnb.display.language import N_, _, checked, use_language
from recnb.display.templates import plain_lines, render
from recnb.display.text import one_line, trimmed
from recnb.errors import OptionError, RecnbError, is_word, near, quoted
from recnb.metrics.formula import number
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import ACCURACY, Metric
from recnb.results.arguments import Metrics, asked_of
from recnb.results.explanation import Explanation
from recnb.results.single_list import Ranking, Truth, explain
from recnb.widgets.live import Live

#: What is shown by default: the list is not in the best order, and one relevant item is
#: missing.
METRICS = ("precision", "recall", "average_precision", "ndcg")
RANKING = ("A", "B", "C", "D", "E", "F")
TRUTH = {"A": 2.0, "C": 3.0, "E": 1.0, "G": 2.0}

GAINS = (N_("linear"), N_("exponential"), N_("binary"))

#: The longest list that is moved by hand.
MOST = 100


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
        return (
            self.text
            if self.text == number(self.credit)
            else f"{self.text} = {trimmed(self.credit)}"
        )


class TermChange(NamedTuple):
    """The term of one item before the last step and now."""

    item: Any
    before: Term
    now: Term
    change: float


class Playground(Live):
    """Show a ranked list whose items can be moved, and how each step changes its
    metrics. As a widget it needs `recnb[notebook]`.

    In a notebook items are dragged, or moved with Alt and an arrow key, taken into the
    list and put out; relevance, the cut-off k and the gain are changed in place.
    `move`, `remove`, `change`, `undo` and `reset` do the same by code; what cannot be
    evaluated is refused and changes nothing.

    Parameters
    ----------
    ranking, truth
        Items in rank order and the relevant items, as `recnb.ndcg` takes them; or the
        grades of a list alone. By default a small example.
    metrics
        Names of metrics, or a mapping of each to its options; at first the last one is
        explained.
    k
        The cut-off, by default the length of the list.
    gain
        "linear", "exponential" or "binary", for the metrics that have a gain.
    lang
        "en" or "ko", by default the language that is set.
    items
        Titles of items, by item.

    `now` and `before` are the list now and before the last step, each with `order`,
    `relevance`, `k` and `gain`; `action` is the last step in words, and `focus` the
    metric that is explained.
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
        items: Mapping[Any, str] | None = None,
    ) -> None:
        self.lang = checked(lang)
        with use_language(self.lang):
            self._start(ranking, truth, metrics, k, gain, items)

    def _start(
        self,
        ranking: Ranking | None,
        truth: Truth | None,
        metrics: Metrics,
        k: int | None,
        gain: str,
        items: Mapping[Any, str] | None,
    ) -> None:
        """Read what is given, and set up the first list."""
        if items is not None and not isinstance(items, Mapping):
            problem = N_(
                "items= maps items to titles: give a dictionary, such as "
                "dict(zip(items, titles))."
            )
            raise RecnbError(_(problem))
        asked = asked_of(None, metrics, {}, among=ACCURACY)
        self.metrics: dict[str, Metric[...]] = {
            metric.name: metric for _name, metric, _own in asked
        }
        self._options = {metric.name: own for _name, metric, own in asked}
        order, relevance = _read(
            *(
                (RANKING, TRUTH)
                if ranking is None and truth is None
                else (ranking, truth)
            )
        )
        #: All of them: those of the list in their first order, then the others.
        self.items = tuple(dict.fromkeys([*order, *relevance]))
        self.titles = {
            item: str(items[item])
            for item in self.items
            if items and items.get(item) is not None
        }
        self.focus = asked[-1].metric.name
        self.now = self.before = self.first = Setting(
            order, relevance, Cutoffs.one(k).values[0] or len(order), gain
        )
        self.past: list[
            Setting
        ] = []  #: what `undo` goes back to, the last one at the end
        self.moved: Any = None  #: the item that the last step moved
        self.action = self._words("start")
        self._explained = lru_cache(2 * len(asked))(
            self._explain
        )  #: each metric now and before
        self._check(self.now)

    @property
    def outside(self) -> tuple[Any, ...]:
        """The items that are not in the list."""
        return tuple(item for item in self.items if item not in self.now.order)

    @property
    def has_gain(self) -> bool:
        """Whether any of the metrics has a gain that can be chosen."""
        return any(
            "gain" in metric.defaults.keys() - self._options[name]
            for name, metric in self.metrics.items()
        )

    def name(self, item: Any, longest: int = 60) -> str:
        """Return an item as text on one line: its title and its id, or the id alone."""
        return one_line(
            f"{self.titles[item]} ({item})" if item in self.titles else item, longest
        )

    # Steps.

    def move(self, item: Any, rank: int) -> None:
        """Move an item to a rank; one that is not in the list is taken in."""
        others = [other for other in self.now.order if other != self._item(item)]
        if type(rank) is not int or not 1 <= rank <= len(others) + 1:
            raise self._refused(
                N_("rank={rank}: {item} can have the ranks 1 to {last}."),
                rank=repr(rank),
                item=repr(item),
                last=len(others) + 1,
            )
        self._do(
            self.now._replace(order=(*others[: rank - 1], item, *others[rank - 1 :])),
            moved=item,
        )

    def remove(self, item: Any) -> None:
        """Put an item out of the list."""
        order = tuple(other for other in self.now.order if other != self._item(item))
        self._do(self.now._replace(order=order), moved=item)

    def change(
        self,
        *,
        order: Sequence[Any] | None = None,
        relevance: Mapping[Any, float] | None = None,
        k: int | EllipsisType | None = ...,
        gain: str | None = None,
    ) -> None:
        """Change the order, the relevance of some items, the cut-off (None: the length
        of the list) or the gain.
        """
        graded = {
            self._item(item): _read([item], {item: grade})[1][item]
            for item, grade in (relevance or {}).items()
        }
        listed = self.now.order if order is None else tuple(order)
        cutoff = self.now.k if k is ... else Cutoffs.one(k).values[0] or len(listed)
        now = Setting(
            listed,
            {**self.now.relevance, **graded},
            cutoff,
            self.now.gain if gain is None else gain,
        )
        at_any_k = [
            setting._replace(k=0) for setting in (now, self.now, *self.past[-1:])
        ]
        if now != self.now and self.past and at_any_k[0] == at_any_k[1] == at_any_k[2]:
            self.now = self.past.pop()  # what a slider passes is one step
            self.action = self._words("start")
        self._do(now)

    def look_at(self, metric: Any) -> None:
        """Explain another of the metrics."""
        self.focus = self._name(metric)
        self._draw()

    def undo(self) -> None:
        """Take the last step back; without one, nothing happens."""
        if self.past:
            self.before, self.now, self.moved = self.now, self.past.pop(), None
            self.action = self._words("undone")
            self._draw()

    def reset(self) -> None:
        """Go back to the first list, which can be undone as any step."""
        self._do(self.first, said="reset")

    # Results.

    def table(self) -> pd.DataFrame:
        """Return each metric before the last step and now, and the difference."""
        values = {
            name: [self.explain(name, at).value for at in (self.before, self.now)]
            for name in self.metrics
        }
        frame = pd.DataFrame.from_dict(
            values, orient="index", columns=["before", "now"]
        ).rename_axis("metric")
        return frame.assign(change=frame["now"] - frame["before"])

    def explain(
        self, metric: Any = None, setting: Setting | None = None
    ) -> Explanation:
        """Explain a metric: by default the one in focus, of the list as it is now."""
        name, at = self._name(metric or self.focus), setting or self.now
        return self._explained(
            name, at.order, tuple(at.relevance.items()), at.k, at.gain
        )

    def terms(self) -> list[TermChange]:
        """Return the terms that the last step changed, of the metric in focus: the item
        that moved, then down the list.
        """
        before, now = map(_terms_of, self._explained_twice())
        items = dict.fromkeys(
            [
                *([] if self.moved is None else [self.moved]),
                *self.now.order,
                *self.items,
            ]
        )
        pairs = [
            (item, before.get(item, Term()), now.get(item, Term())) for item in items
        ]
        turned = [
            (item, old, new) for item, old, new in pairs if old.credit != new.credit
        ]
        return [
            TermChange(item, old, new, new.credit - old.credit)
            for item, old, new in turned
        ]

    def sentence(self) -> str:
        """Describe the last step: what was done, which terms changed, their sum, and
        the metric before and after.
        """
        return (
            self.action
            if self.before == self.now
            else self._words("sentence", *self._explained_twice())
        )

    def result(self) -> str:
        """Describe the metric in focus before and after the last step."""
        return self._words("result", *self._explained_twice())

    def __repr__(self) -> str:
        return self._words("text", between="\n  ")

    # What is shown, and what its controls do.

    def _html(self, live: bool) -> str:
        (before, now), terms = self._explained_twice(), self.terms()
        return render(
            "widgets/playground.jinja",
            play=self,
            live=live,
            gains=GAINS,
            table=self.table().itertuples(),
            before=before,
            now=now,
            terms=terms,
            worth=_terms_of(now),
            turned={term.item: term.change for term in terms},
        )

    def _worked(self) -> list[str]:
        return [self.explain()._repr_html_()]

    def _use(self, name: str, value: str, key: str) -> None:
        item = self.items[int(key)] if key else None
        if self.now.order == (item,) and (name, value) in (("rank", "0"), ("by", "1")):
            raise RecnbError(_("The list holds at least one item."))
        if name == "rank":
            self.move(item, int(value)) if int(value) else self.remove(item)
        elif (
            name == "by"
        ):  # by keys; below the last rank is out of the list, and up from there is in
            inside, n = item in self.now.order, len(self.now.order)
            rank = self.now.order.index(item) + 1 + int(value) if inside else n + 1
            self.move(item, max(rank, 1)) if rank <= n or not inside else self.remove(
                item
            )
        elif (
            name == "step"
        ):  # without the rounding, 0.1 + 1 - 1 would be 0.10000000000000009
            self.change(
                relevance={
                    item: max(0.0, round(self.now.relevance[item] + int(value), 6))
                }
            )
        elif name == "relevance":
            if not 0 <= float(value or "nan") < inf:
                raise RecnbError(
                    _(
                        "The relevance of {item} is a number from 0 up.",
                        item=self.name(item),
                    )
                )
            self.change(relevance={item: float(value)})
        elif name == "k":
            self.change(k=int(value))
        elif name == "gain":
            self.change(gain=value)
        elif name == "focus":
            self.look_at(value)
        else:
            {"undo": self.undo, "reset": self.reset}[name]()

    # Below.

    def _do(self, now: Setting, *, moved: Any = None, said: str = "step") -> None:
        """Do a step, unless it changes nothing."""
        if now != self.now:
            self._check(now)
            self.past.append(self.now)
            self.before, self.now, self.moved = self.now, now, moved
            self.action = self._words(said)
            self._draw()

    def _check(self, at: Setting) -> None:
        """Raise what cannot be evaluated."""
        if (
            not at.order
            or len({*at.order}) < len(at.order)
            or not {*at.order} <= {*self.items}
        ):
            raise self._refused(
                N_(
                    "order={order}: a list holds at least one of the items {items}, "
                    "each once."
                ),
                order=repr([*at.order]),
                items=repr([*self.items]),
            )
        if not is_word(at.gain, GAINS):
            problem = N_("gain={gain} is no gain.")
            raise self._unknown(problem, at.gain, GAINS, gain=quoted(at.gain))
        for name in self.metrics:
            self.explain(name, at)

    def _explain(
        self, name: str, order: Sequence[Any], relevance: Any, k: int, gain: str
    ) -> Explanation:
        options = {
            **({"gain": gain} if "gain" in self.metrics[name].defaults else {}),
            **self._options[name],
        }
        return replace(
            explain(name, order, dict(relevance), k, lang=self.lang, **options),
            titles=self.titles,
        )

    def _item(self, item: Any) -> Any:
        if item not in self.items:
            problem = N_("{item} is not an item here.")
            raise self._unknown(problem, item, self.items, item=repr(item))
        return item

    def _refused(self, problem: str, **values: Any) -> RecnbError:
        """Return the error for a step that is not possible."""
        with use_language(self.lang):
            return RecnbError(_(problem, **values))

    def _unknown(
        self, problem: str, name: object, known: Iterable[object], **values: Any
    ) -> OptionError:
        """Return the error for a name that is not here, with those that are."""
        with use_language(self.lang):
            return OptionError(_(problem, **values), fix=near(name, known, _))

    def _name(self, metric: Any) -> str:
        with use_language(self.lang):
            name = metric_named(metric, ACCURACY).name
        if name not in self.metrics:
            problem = N_("{metric} is not among the metrics of this playground.")
            raise self._unknown(problem, name, self.metrics, metric=repr(name))
        return name

    def _explained_twice(self) -> tuple[Explanation, Explanation]:
        """Explain the metric in focus before the last step and now."""
        return self.explain(setting=self.before), self.explain()

    def _words(self, words: str, *given: Explanation, between: str = " ") -> str:
        with use_language(self.lang):
            return between.join(
                plain_lines("widgets/playground.txt.jinja", words, self, *given)
            )


def _terms_of(explanation: Explanation) -> dict[Any, Term]:
    """Return the terms by item, without those that add nothing."""
    columns = (explanation.rows[name].tolist() for name in ("item", "term", "credit"))
    return {
        item: Term(term, credit)
        for item, term, credit in zip(*columns, strict=True)
        if credit != 0
    }


def _read(ranking: Any, truth: Any) -> tuple[tuple[Any, ...], dict[Any, float]]:
    """Return the items in rank order, and the relevance of all items in the order of
    the truth.
    """
    if ranking is None:
        problem = N_(
            "a truth was given without a ranking: give the items in rank order first."
        )
        raise RecnbError(_(problem))
    ranking, truth = (
        list(given) if isinstance(given, Iterator) else given
        for given in (ranking, truth)
    )
    grades = explain("cg", ranking, truth).rows["relevance"].tolist()
    n = len(grades)
    if not 1 <= n <= MOST:
        problem = N_(
            "the ranking holds {n} items: give from 1 to {most}, which are moved by hand."
        )
        raise RecnbError(_(problem, n=n, most=MOST))
    if truth is None:
        letters = (
            string.ascii_uppercase[:n]
            if n <= 26
            else [f"#{rank}" for rank in range(1, n + 1)]
        )
        ranking, truth = letters, dict(zip(letters, grades, strict=True))
    if not isinstance(truth, Mapping):
        truth = dict.fromkeys(
            sorted(truth, key=str) if isinstance(truth, (set, frozenset)) else truth,
            1.0,
        )
    return tuple(ranking), {
        item: float(truth.get(item, 0.0)) for item in dict.fromkeys([*truth, *ranking])
    }
