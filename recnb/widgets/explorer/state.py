"""The explorer without its view: which users are shown, in which order, and on which page.

Each change is a method; its effects are computed when they are needed, and cached. Hits are kept down to the end of
every list, so that another k, option or metric needs no other join.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import presets
from recnb.data.encoding import place_of
from recnb.display.language import N_, _, checked, use_language
from recnb.display.text import fixed
from recnb.errors import OptionError, RecnbError, is_number, near
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import METRICS, Metric, standard_metric
from recnb.report.data import SAME
from recnb.results.arguments import check_options
from recnb.results.evaluation_data import EvaluationData
from recnb.widgets.explorer.data import KEPT, MetricOfUsers, UserSegments, common_users, segment_columns
from recnb.widgets.explorer.histogram import BARS, Bar, bar_edges, bar_labels, bar_of

if TYPE_CHECKING:
    import pandas as pd

#: Rows of the table on a page.
PAGE = 20

#: The longest search.
SEARCHED = 200

#: What the histogram may show.
SHAPES: dict[str, str] = {"value": N_("values"), "difference": N_("differences")}

Mask = np.ndarray[Any, np.dtype[np.bool_]]


class ExplorerState:
    """The models by their names, the metric with its cut-off and its options, and the users shown."""

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
        self.names = [str(name) for name in evaluations]
        self.evaluations = list(evaluations.values())
        #: The metrics to choose from: all, or those of the libraries whose conventions are in force.
        libraries = {evaluation.library for evaluation in self.evaluations} - {None}
        self.metrics = [name for name in METRICS if all(presets.of_metric(name, library) for library in libraries)]
        self.model, self.other = 0, min(1, len(self.names) - 1)
        self.shape = "difference" if self.paired else "value"
        self.problem = ""  #: why the last change was refused
        self.segment: str | None = None
        self.parts: UserSegments | None = None  #: the segments of users by the column chosen
        self.part: int | None = None
        self.picked: frozenset[int] = frozenset()
        self.text, self.page = "", 0
        self.users = pl.Series()  #: those that all models have in common, sorted
        self._looks = lru_cache(KEPT)(self._make_looks)
        self._sorted, self._columns_under = lru_cache(KEPT)(self._sort), lru_cache(KEPT // 2)(self._make_columns)
        with use_language(self.lang):
            self._look(standard_metric(metric), Cutoffs.one(k).values[0], dict(options or {}))
            self.segments = segment_columns(self.evaluations)
        self.sorted_by, self.descending = self.shape, True
        distance = np.abs(self.values() - self.mean())
        #: Whose list is shown: at first, that of the user nearest to the mean, the first of equal ones.
        self.user: Any = self.users[0 if np.isnan(distance).all() else int(np.nanargmin(distance))]
        self.chosen_by_hand = False

    @property
    def paired(self) -> bool:
        """Whether models are compared."""
        return len(self.names) > 1

    # The metric and the models

    def _look(self, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> None:
        """Compute the metric of every model; nothing changes if it is refused for one of them."""
        check_options(metric, options)
        looks, users, positions = self._looks(metric, tuple(sorted(options.items())))
        for look in looks:
            look.values(k)
        self.metric, self.k, self.options = metric, k, dict(options)
        self.looks = looks  #: the metric for the users of each model
        self.positions = positions  #: of the users in common, in each model
        if not users.equals(self.users):
            self.users = users
            self._divide(self.segment)
            self.search(self.text)

    def _make_looks(
        self, metric: Metric[...], options: tuple[tuple[str, Any], ...]
    ) -> tuple[list[MetricOfUsers], pl.Series, list[Ints]]:
        looks = [MetricOfUsers(evaluation, metric, dict(options)) for evaluation in self.evaluations]
        return looks, *common_users({name: look.users for name, look in zip(self.names, looks, strict=True)})

    def ask(self, *, metric: str | None = None, k: int | str | None = "", **options: Any) -> bool:
        """Change metric, cut-off or options; if recnb refuses them, nothing changes, and `problem` is the reason."""
        self.problem = ""
        before = self.edges()
        try:
            chosen = self.metric if metric is None else standard_metric(metric)
            kept = {
                name: value
                for name, value in self.options.items()
                if name in chosen.defaults and value in chosen.words.get(name, (value,))
            }
            with use_language(self.lang):
                self._look(chosen, self.k if k == "" else Cutoffs.one(k).values[0], {**kept, **options})
        except RecnbError as refused:
            self.problem = str(refused)
            return False
        self.picked, self.page = self.picked if self.edges() == before else frozenset(), 0
        return True

    def choose_model(self, name: str, other: str | None = None) -> None:
        """Choose the model whose lists are shown, and the one that it is compared with."""
        self.model = self._index_of(name)
        if other is not None:
            self.other = self._index_of(other)
        if self.other == self.model:
            self.other = next((index for index in range(len(self.names)) if index != self.model), self.model)
        self.picked, self.page = frozenset(), 0

    def _index_of(self, name: str) -> int:
        if name not in self.names:
            raise OptionError(f"{name!r} is no model here. {near(name, self.names)}")
        return self.names.index(name)

    def choose_shape(self, shape: str) -> None:
        """Choose what the histogram shows: "value", of the model, or "difference" from the other."""
        shapes = list(SHAPES)[: 1 + self.paired]
        if shape not in shapes:
            raise OptionError(f"{shape!r} has no distribution here. {near(shape, shapes)}")
        self.shape, self.picked, self.page = shape, frozenset(), 0

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return self.metric.label(self.k)

    def options_in_force(self) -> dict[str, Any]:
        """Return the metric's options, a library's own where none were chosen."""
        look = self.looks[self.model]
        options = {name: look.options[name] for name in self.metric.defaults}
        if options.get("max_relevance", 0) is None:
            options["max_relevance"] = look.hits.max_relevance
        return {name: value for name, value in options.items() if name in self.metric.words or is_number(value)}

    # Columns: a number for each user

    @property
    def n_users(self) -> int:
        """The number of users that all models have in common."""
        return len(self.users)

    @property
    def table(self) -> dict[str, np.ndarray[Any, Any]]:
        """The columns of the table: a number for each user, in the order of ids."""
        return self._columns_under(*self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        """All that the columns depend on."""
        return self.metric, tuple(self.options.items()), self.k, self.model, self.other, self.segment

    def _make_columns(self, *_key: Any) -> dict[str, np.ndarray[Any, Any]]:
        values = [look.values(self.k)[at] for look, at in zip(self.looks, self.positions, strict=True)]
        look, at = self.looks[self.model], self.positions[self.model]
        columns: dict[str, np.ndarray[Any, Any]] = {"user": np.arange(self.n_users)}
        columns |= {self._column_of(index): numbers for index, numbers in enumerate(values)}
        if self.paired:
            columns["difference"] = values[self.model] - values[self.other]
        columns |= {
            "hits": look.n_hits(self.k)[at],
            "relevant": look.hits.n_relevant[at],
            "length": look.hits.list_length[at],
        }
        return columns if self.parts is None else {**columns, "segment": self.parts.codes}

    def values(self, model: int | None = None) -> Floats:
        """Return the metric of every user; NaN where the convention leaves one out."""
        return self.table[self._column_of(self.model if model is None else model)]

    def _column_of(self, model: int) -> str:
        return f"value:{model}" if self.paired else "value"

    def header(self, name: str) -> str:
        """Return the header of a column: a metric, a model, the column of a segment, or else its name."""
        if name.startswith("value:"):
            return self.names[int(name[6:])]
        return {"value": self.label, "segment": self.segment or ""}.get(name, name)

    # Filters and order

    def choose_segment(self, column: str | None) -> None:
        """Choose the column that divides users into segments; None for none."""
        if column is not None and column not in self.segments:
            raise OptionError(f"{column!r} divides users into no segments. {near(column, self.segments)}")
        self._divide(column)
        if self.sorted_by == "segment":
            self.sorted_by, self.descending = "value", True

    def _divide(self, column: str | None) -> None:
        with use_language(self.lang):
            self.parts = None if column is None else self.segments[column](self.users)
        self.segment, self.part, self.page = column, None, 0

    def pick_part(self, index: int) -> None:
        """Show only the users of a segment; of all, if it is picked already."""
        if self.parts is not None and 0 <= index < len(self.parts.labels):
            self.part, self.page = None if self.part == index else index, 0

    def pick_bar(self, index: int) -> None:
        """Show the users of a bar, and of others that are picked; if it is picked already, no longer."""
        if 0 <= index < len(self.bars()):
            self.picked, self.page = self.picked ^ {index}, 0

    def search(self, text: str) -> None:
        """Show the users whose id contains a text, whatever its case."""
        self.text, self.page = text[:SEARCHED], 0
        ids, part = (column.cast(pl.String).str.to_lowercase() for column in (self.users, pl.Series([self.text])))
        self._found = ids.str.contains(part[0], literal=True).to_numpy() if self.text else None

    def show_all(self) -> None:
        """Drop all filters."""
        self.search("")
        self.part, self.picked = None, frozenset()

    def sort(self, column: str) -> None:
        """Sort by a column: numbers from the largest, ids from the first; the second time, in reverse."""
        if column in self.table or column == "value":
            self.descending = not self.descending if column == self.sorting else column not in ("user", "segment")
            self.sorted_by, self.page = column, 0

    @property
    def sorting(self) -> str:
        """The column that the table is sorted by."""
        return self.sorted_by if self.sorted_by in self.table else self._column_of(self.model)

    def turn(self, page: int) -> None:
        """Go to a page, from 0; to the first or the last if there is no such page."""
        self.page = min(max(page, 0), self.pages - 1)

    def in_part(self) -> Mask:
        """Return which users are in the segment picked; all, if none is."""
        if self.parts is None or self.part is None:
            return np.ones(self.n_users, dtype=bool)
        return np.asarray(self.parts.codes == self.part)

    def shown(self) -> Ints:
        """Return the positions of the users shown, in their order."""
        mask = self.in_part()
        if self.picked:
            mask = mask & np.isin(self._bar_of(), list(self.picked))
        if self._found is not None:
            mask = mask & self._found
        order = self._sorted(self.sorting, self.descending, self._key)
        return order if mask.all() else order[mask[order]]

    def _sort(self, name: str, descending: bool, _key: Any) -> Ints:
        """Sort all users; equal ones in the order of their ids, those without a value last."""
        numbers = self.table[name]
        return np.argsort(-numbers if descending else numbers, kind="stable")

    @property
    def pages(self) -> int:
        """The number of pages, at least one."""
        return max(1, -(-len(self.shown()) // PAGE))

    def on_page(self) -> Ints:
        """Return the positions of the users on the page."""
        return self.shown()[self.page * PAGE : (self.page + 1) * PAGE]

    # Histogram and means

    def spread_of(self) -> Floats:
        """Return the numbers of the histogram."""
        return self.table["difference"] if self.shape == "difference" else self.values()

    def edges(self) -> tuple[float, ...]:
        """Return the edges of the bars, without that of 0."""
        bounded = self.shape == "value" and self.metric.bounds[1] == 1
        return bar_edges(self.spread_of(), signed=self.shape == "difference", bounded=bounded)

    def _bar_of(self) -> Ints:
        return bar_of(self.spread_of(), self.edges())

    def bars(self) -> list[Bar]:
        """Return the histogram of the users in the segment picked."""
        all_bars = self._bar_of()
        bars = all_bars[self.in_part()]
        counts = np.bincount(bars, minlength=BARS + 2)
        labels = bar_labels(self.edges())
        if (all_bars == BARS + 1).any():
            with use_language(self.lang):
                labels.append(_("no value"))
        shares = (counts / max(len(bars), 1)).tolist()
        return [Bar(label, int(counts[bar]), shares[bar], bar in self.picked) for bar, label in enumerate(labels)]

    def means_of_parts(self) -> list[Bar]:
        """Return each segment with its number of users and its mean."""
        if self.parts is None:
            return []
        codes, numbers = self.parts.codes, self.spread_of()
        valued, users = ~np.isnan(numbers), np.bincount(codes, minlength=len(self.parts.labels)).tolist()
        sizes, sums = (np.bincount(codes[valued], of, len(users)) for of in (None, numbers[valued]))
        means = np.divide(sums, sizes, out=np.full(len(users), np.nan), where=sizes > 0).tolist()
        return [Bar(label, users[part], means[part], part == self.part) for part, label in enumerate(self.parts.labels)]

    def mean(self, model: int | None = None, *, part: bool = False) -> float:
        """Return the mean over all users; of a segment, over its users."""
        index = self.model if model is None else model
        numbers = self.values(index)
        if part and self.part is not None:
            numbers = numbers[self.in_part()]
        numbers = numbers[~np.isnan(numbers)]
        return float(numbers.mean()) if len(numbers) else float("nan")

    def better_worse_same(self) -> tuple[int, int, int]:
        """Return for how many users the model is better than the other, worse, and the same."""
        difference = self.table["difference"][self.in_part()]
        difference = difference[~np.isnan(difference)]
        better, worse = int((difference > SAME).sum()), int((difference < -SAME).sum())
        return better, worse, len(difference) - better - worse

    # One user

    def choose(self, at: int) -> None:
        """Show the user at a position."""
        if 0 <= at < self.n_users:
            self.user, self.chosen_by_hand = self.users[at], True

    @property
    def at(self) -> int | None:
        """The position of the user shown; None for one that this metric leaves out."""
        return place_of(self.user, self.users)

    def to_frame(self) -> pd.DataFrame:
        """Return the users shown, in their order, with all columns of the table."""
        import pandas as pd

        shown = self.shown()
        columns: dict[str, Any] = {}
        for name in list(self.table)[1:]:
            numbers: Any = self.table[name][shown]
            label = self.header(name) if name != "value" else name
            if name == "segment" and self.parts is not None:
                numbers = [self.parts.labels[code] for code in numbers.tolist()]
            columns[label if label not in columns else f"{label} ({name})"] = numbers
        return pd.DataFrame(columns, index=pd.Index(self.users.to_numpy()[shown], name="user"))

    def __repr__(self) -> str:
        with use_language(self.lang):
            names = f"{', '.join(self.names)}: " if self.paired else ""
            means = ", ".join(fixed(self.mean(model)) for model in range(len(self.names)))
            return f"{names}{self.label} = {means} ({self.looks[self.model].basis})"
