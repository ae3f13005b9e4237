"""The explorer without its looks: which users, in which order, on which page, and what the view is told.

Each change is a method; what follows from it is worked out when it is asked for, and kept. Nothing is joined after
the first look at a model: hits are kept down to the end of every list, so that k, options and metric only add up again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.display.language import _, checked, use_language
from recnb.errors import OptionError, RecnbError, is_number, near
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import Metric, metric_named
from recnb.report.data import SAME
from recnb.widgets.explorer.data import ExplorerModel, ExplorerSegments, ExplorerUsers, Kept, Look, Parts, key_of
from recnb.widgets.explorer.histogram import BARS, Bar, bar_labels, bar_of, edges_of

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData

#: Rows of the table that are shown at a time.
PAGE = 20

#: A search is not longer than this; what the distribution may be of.
SEARCHED = 200
SHAPES = ("value", "difference")

Mask = np.ndarray[Any, np.dtype[np.bool_]]


class ExplorerState:
    """Who is looked at by which metric, in which order, and on which page."""

    def __init__(
        self,
        evaluations: Mapping[str, EvaluationData],
        metric: str = "ndcg",
        k: int | None = 10,
        options: Mapping[str, Any] | None = None,
        lang: str | None = None,
    ) -> None:
        if not evaluations:
            raise OptionError("there is no evaluation to explore: give at least one, by its name.")
        self.lang = checked(lang)
        self.models = [ExplorerModel(str(name), evaluation) for name, evaluation in evaluations.items()]
        self.names = [model.name for model in self.models]
        self.metrics = [name for name in self.models[0].metrics if all(name in one.metrics for one in self.models)]
        self.metric: Metric[...] = metric_named(metric)
        self.k = Cutoffs.one(k).values[0]
        self.options = dict(options or {})
        self.model, self.other = 0, min(1, len(self.models) - 1)
        self.shape = "value"
        self.problem = ""  #: why the last change was refused
        self.segment: str | None = None
        self.part: int | None = None
        self.picked: frozenset[int] = frozenset()
        self.text = ""
        self.page = 0
        self._kept = Kept()
        with use_language(self.lang):
            self._look(self.metric, self.k, self.options)
            self.segments = ExplorerSegments([model.evaluation for model in self.models])
        self.shape = "difference" if self.paired else "value"
        self.sorted_by, self.descending = self.shape, True
        self.user: Any = self.nearest_to_mean()
        self.chosen_by_hand = False

    @property
    def paired(self) -> bool:
        """Whether models are compared."""
        return len(self.models) > 1

    @property
    def longest(self) -> int:
        """The deepest k that there is to choose."""
        return max(self.k or 1, *(model.longest for model in self.models))

    # What is looked at

    def _look(self, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> None:
        """Look at every model anew; nothing changes if one of them refuses."""
        metric.check(options)
        looks = [model.under(metric, options) for model in self.models]
        for look in looks:
            look.values(k)
        known = getattr(self, "population", None)
        if known is None or not known.is_of(looks):
            self.population = ExplorerUsers.of(self.names, looks)
            self._kept = Kept()
            self.part, self.page = None, 0
        self.looks: list[Look] = looks
        self.metric, self.k, self.options = metric, k, dict(options)
        self._asked = (metric.name, k, key_of(options))

    def ask(self, *, metric: str | None = None, k: int | str | None = "", **options: Any) -> bool:
        """Change metric, cut-off or options; what recnb refuses leaves all as it was, and `problem` says why."""
        self.problem = ""
        before = self.edges()
        try:
            chosen = self.metric if metric is None else metric_named(metric)
            kept = {name: value for name, value in self.options.items() if name in chosen.defaults}
            kept = {name: value for name, value in kept.items() if value in chosen.words.get(name, (value,))}
            with use_language(self.lang):
                self._look(chosen, self.k if k == "" else Cutoffs.one(k).values[0], {**kept, **options})
        except RecnbError as refused:
            self.problem = str(refused)
            return False
        if self.edges() != before:
            self.picked = frozenset()
        self.page = 0
        return True

    def choose_model(self, name: str, other: str | None = None) -> None:
        """Whose lists are looked at, and which model's they are compared with."""
        self.model = self._index_of(name)
        if other is not None:
            self.other = self._index_of(other)
        if self.other == self.model:
            self.other = next((one for one in range(len(self.models)) if one != self.model), self.model)
        self.picked = frozenset()
        self.page = 0

    def _index_of(self, name: str) -> int:
        if name not in self.names:
            raise OptionError(f"{name!r} is no model here. {near(name, self.names)}")
        return self.names.index(name)

    def choose_shape(self, shape: str) -> None:
        """What the distribution is of: values of the model, or differences from the other."""
        if shape not in SHAPES[: 1 + self.paired]:
            raise OptionError(f"{shape!r} has no distribution here. {near(shape, SHAPES[: 1 + self.paired])}")
        self.shape = shape
        self.picked = frozenset()
        self.page = 0

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return self.metric.label(self.k)

    def options_in_force(self) -> dict[str, Any]:
        """The metric's options as they are, a library's own where none were given."""
        look = self.looks[self.model]
        known = {name: look.options[name] for name in self.metric.defaults}
        if known.get("max_relevance", 0) is None:
            known["max_relevance"] = look.hits.max_relevance
        return {name: value for name, value in known.items() if name in self.metric.words or is_number(value)}

    # The columns: a number for each user

    @property
    def n_users(self) -> int:
        """How many users there are to look at."""
        return len(self.population.users)

    def values(self, model: int | None = None) -> Floats:
        """The metric of every user; NaN where the convention leaves one out."""
        one = self.model if model is None else model
        key = ("values", one, self._asked)
        return self._kept.get(key, lambda: np.asarray(self.population.part(one, self.looks[one].values(self.k))))

    def difference(self) -> Floats:
        """The model's value less the other's."""
        return np.asarray(self.values() - self.values(self.other))

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """A column of the table as numbers, in the order of users."""
        hits = self.looks[self.model].hits
        if name.startswith("value:"):
            return self.values(int(name[6:]))
        if name == "value":
            return self.values()
        if name == "difference":
            return self.difference()
        if name == "hits":
            return np.asarray(self.population.part(self.model, self.looks[self.model].found(self.k)))
        if name == "relevant":
            return np.asarray(self.population.part(self.model, hits.n_relevant))
        if name == "length":
            return np.asarray(self.population.part(self.model, hits.list_length))
        if name == "segment" and self.parts is not None:
            return self.parts.codes
        return np.arange(self.n_users)

    @property
    def columns(self) -> list[str]:
        """The columns of the table."""
        values = [f"value:{one}" for one in range(len(self.models))] + ["difference"] if self.paired else ["value"]
        return ["user", *values, "hits", "relevant", "length", *(["segment"] if self.segment else [])]

    # Who is shown

    @property
    def parts(self) -> Parts | None:
        """The parts that the chosen column makes of the users."""
        if self.segment is None:
            return None
        name = self.segment
        with use_language(self.lang):
            return self._kept.get(
                ("parts", name), lambda: self.segments.of(name, self.population.users, _("none given"))
            )

    def choose_segment(self, column: str | None) -> None:
        """The column that parts the users; None for none."""
        if column is not None and column not in self.segments.names:
            raise OptionError(f"{column!r} parts no users here. {near(column, self.segments.names)}")
        self.segment, self.part, self.page = column, None, 0
        if self.sorted_by == "segment":
            self.sorted_by, self.descending = "value", True

    def pick_part(self, index: int) -> None:
        """Show the users of one part alone; picked again, all of them."""
        if self.parts is not None and 0 <= index < len(self.parts.labels):
            self.part = None if self.part == index else index
            self.page = 0

    def pick_bar(self, index: int) -> None:
        """Show the users of a bar, beside those of others that are picked; picked again, it is let go."""
        if 0 <= index < len(self.bars()):
            self.picked = self.picked ^ {index}
            self.page = 0

    def search(self, text: str) -> None:
        """Show the users whose id holds a text, in capitals or not."""
        self.text, self.page = text[:SEARCHED], 0

    def show_all(self) -> None:
        """Let go of every filter."""
        self.text, self.part, self.picked, self.page = "", None, frozenset(), 0

    def sort(self, column: str) -> None:
        """Sort by a column: from the largest, by id from the first; again, the other way round."""
        if column in self.columns or column == "value":
            first = column not in ("user", "segment")
            self.descending = not self.descending if column == self.sorting else first
            self.sorted_by, self.page = column, 0

    @property
    def sorting(self) -> str:
        """The column that the table is sorted by."""
        if self.sorted_by in self.columns:
            return self.sorted_by
        return f"value:{self.model}" if self.paired else "value"

    def turn(self, page: int) -> None:
        """Go to a page, from 0; to the first or the last if there is none such."""
        self.page = min(max(page, 0), self.pages - 1)

    def in_part(self) -> Mask:
        """Which users belong to the part that is looked at."""
        parts = self.parts
        if parts is None or self.part is None:
            return np.ones(self.n_users, dtype=bool)
        return np.asarray(parts.codes == self.part)

    def shown(self) -> Ints:
        """The positions of the users that are shown, in their order."""
        mask = self.in_part()
        if self.picked:
            mask = mask & np.isin(self._bar_of(), list(self.picked))
        if self.text:
            mask = mask & self._kept.get(("search", self.text), lambda: self._matching(self.text))
        order = self._order()
        return order if mask.all() else order[mask[order]]

    def _matching(self, text: str) -> Mask:
        needle = str(pl.Series([text]).str.to_lowercase()[0])
        return self.population.texts.str.contains(needle, literal=True).to_numpy()

    def _order(self) -> Ints:
        """All users sorted; equal ones in the order of their ids, and those without a value last."""
        name = self.sorting
        of = (self.model, self.other, self.segment, self._asked)

        def sort() -> Ints:
            if name == "user":
                return np.arange(self.n_users)[:: -1 if self.descending else 1]
            numbers = self.column(name)
            return np.argsort(-numbers if self.descending else numbers, kind="stable")

        return self._kept.get(("order", name, self.descending, of), sort)

    @property
    def pages(self) -> int:
        """How many pages there are, one at least."""
        return max(1, -(-len(self.shown()) // PAGE))

    def on_page(self) -> Ints:
        """The positions of the users on the page."""
        return self.shown()[self.page * PAGE : (self.page + 1) * PAGE]

    # How they are spread

    def spread_of(self) -> Floats:
        """The numbers that the distribution is of."""
        return self.difference() if self.shape == "difference" else self.values()

    def edges(self) -> tuple[float, ...]:
        """Where the bars end, that of 0 left aside."""
        bounded = self.shape == "value" and self.metric.bounds[1] == 1
        return edges_of(self.spread_of(), signed=self.shape == "difference", bounded=bounded)

    def _bar_of(self) -> Ints:
        """The bar of each user: those of exactly 0 have one of their own, those without a value the last."""
        of = (self.shape, self.model, self.other, self._asked)
        return self._kept.get(("bars", of), lambda: bar_of(self.spread_of(), self.edges()))

    def bars(self) -> list[Bar]:
        """The distribution over the users looked at."""
        bars = self._bar_of()
        mine = bars[self.in_part()]
        counts = np.bincount(mine, minlength=BARS + 2)
        labels = bar_labels(self.edges())
        with use_language(self.lang):
            if (bars == BARS + 1).any():
                labels.append(_("no value"))
        shares = (counts / max(len(mine), 1)).tolist()
        return [Bar(label, int(counts[at]), shares[at], at in self.picked) for at, label in enumerate(labels)]

    def means_of_parts(self) -> list[Bar]:
        """Each part of the users with its mean."""
        parts = self.parts
        if parts is None:
            return []
        numbers, n = self.spread_of(), len(parts.labels)
        there = ~np.isnan(numbers)
        counts = np.bincount(parts.codes[there], minlength=n)
        sums = np.bincount(parts.codes[there], numbers[there], minlength=n)
        means = np.divide(sums, counts, out=np.full(n, np.nan), where=counts > 0)
        people = np.bincount(parts.codes, minlength=n)
        return [
            Bar(label, int(count), float(mean), index == self.part)
            for index, (label, count, mean) in enumerate(zip(parts.labels, people, means, strict=True))
        ]

    def mean(self, model: int | None = None, *, part: bool = False) -> float:
        """The mean over all users, as the convention makes it; over those of the part looked at, of their values."""
        one = self.model if model is None else model
        look, numbers = self.looks[one], self.values(one)
        if part and self.part is not None:
            numbers = numbers[self.in_part()]
        elif look.prepared.convention.average != "user" and self.population.at[one] is None:
            return look.mean(self.k)
        there = numbers[~np.isnan(numbers)]
        return float(there.mean()) if len(there) else float("nan")

    def better_worse_same(self) -> tuple[int, int, int]:
        """For how many users the model is better than the other, worse, and the same."""
        apart = self.difference()[self.in_part()]
        apart = apart[~np.isnan(apart)]
        better, worse = int((apart > SAME).sum()), int((apart < -SAME).sum())
        return better, worse, len(apart) - better - worse

    # One user

    def choose(self, at: int) -> None:
        """Look at the user at a position."""
        if 0 <= at < self.n_users:
            self.user, self.chosen_by_hand = self.population.users[at], True

    def nearest_to_mean(self) -> Any:
        """The user whose value is nearest to the mean: of equal ones the first."""
        away = np.abs(self.values() - self.mean())
        return self.population.users[0 if np.isnan(away).all() else int(np.nanargmin(away))]

    @property
    def at(self) -> int | None:
        """Where the user looked at stands; None for one that this metric leaves out."""
        return self.population.position(self.user)

    def to_frame(self) -> pd.DataFrame:
        """The users that are shown, in their order, with all columns of the table."""
        import pandas as pd

        shown = self.shown()
        columns: dict[str, Any] = {}
        for name in self.columns[1:]:
            numbers: Any = self.column(name)[shown]
            label = self.names[int(name[6:])] if name.startswith("value:") else name
            if name == "segment" and self.parts is not None:
                label, labels = self.parts.column, self.parts.labels
                numbers = [labels[code] for code in numbers.tolist()]
            columns[label if label not in columns else f"{label} ({name})"] = numbers
        users = pd.Index(self.population.users.to_numpy()[shown], name="user")
        return pd.DataFrame(columns, index=users)

    def __repr__(self) -> str:
        with use_language(self.lang):
            names = f"{', '.join(self.names)}: " if self.paired else ""
            means = ", ".join(f"{self.mean(one):.4f}" for one in range(len(self.models)))
            return f"{names}{self.label} = {means} ({self.looks[self.model].basis})"
