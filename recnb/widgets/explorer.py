"""The explorer without its view: from the mean of a metric to its users, and to one user's list.

It asks evaluations what a reader could ask: the values of users, one user's list, the explanation of its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.language import _, checked, use_language
from recnb.display.templates import render
from recnb.display.text import fixed, one_line, short
from recnb.errors import OptionError, RecnbError, near
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS

#: Users that are listed, and bars of the histogram.
LISTED, BARS = 200, 10
#: A column with more values than this is cut into quarters of the users, if it holds numbers, and is no segment if not.
MOST_SEGMENTS = 30
#: Values nearer than this are equal.
SAME = 1e-12


class ExplorerState:
    """One metric of one model or several, and the users who are shown.

    Attributes
    ----------
    models
        Each `Evaluation` by its name.
    metric, k, options
        What is asked of each evaluation.
    user
        The id of the user whose list is shown; at first, of the one nearest to the mean.
    problem
        Why the last change was refused; empty if it was not.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        metric: str = "ndcg",
        k: int | None = 10,
        options: Mapping[str, Any] | None = None,
        lang: str | None = None,
    ) -> None:
        if not models:
            raise OptionError("there is no evaluation to explore: give at least one, by its name.")
        self.models, self.lang = dict(models), checked(lang)
        self.other, *_rest, self.model = [*self.models, *self.models][: max(2, len(self.models))]
        self.metric, self.k, self.options = metric_named(metric, METRICS).name, k, dict(options or {})
        self.searched, self.segment, self.part, self.bar = "", "", "", ""
        self.sorting, self.descending = "difference" if self.is_paired else "value", True
        self.problem = ""
        self._values = self._read_values(self.metric, self.k, self.options)
        self.segments = _segments_of(next(iter(self.models.values())), self._values.index)
        values = self._values["value"]
        self.user: Any = (values - values.mean()).abs().idxmin()

    @property
    def is_paired(self) -> bool:
        """Whether a model is compared with another."""
        return len(self.models) > 1

    @property
    def label(self) -> str:
        """The metric's symbol at the cut-off."""
        return METRICS[self.metric].label(self.k)

    def _read_values(self, metric: str, k: int | None, options: Mapping[str, Any]) -> pd.DataFrame:
        """Return the metric of the users that all models have in common, with what their lists hold."""
        scores = {name: getattr(ev, metric)(k=k, **options).per_user for name, ev in self.models.items()}
        values = pd.concat(scores, axis=1, join="inner")
        if values.empty:
            raise OptionError("the models have no user in common: evaluate them on the same users.")
        frame = pd.DataFrame({"value": values[self.model]})
        if self.is_paired:
            frame = values.assign(value=values[self.model], difference=values[self.model] - values[self.other])
        shown = self.models[self.model]
        lists = shown.to_frame().reindex(frame.index)
        hits = shown.cg(k=k, gain="binary").per_user.reindex(frame.index)
        return frame.assign(hits=hits, relevant=lists["n_relevant"], length=lists["list_length"])

    def ask(self, *, metric: str | None = None, k: int | str | None = "", **options: Any) -> bool:
        """Change metric, cut-off or options; what is refused changes nothing, and `problem` says why."""
        self.problem = ""
        try:
            chosen = metric_named(metric or self.metric, METRICS)
            kept = {
                name: value
                for name, value in {**self.options, **options}.items()
                if name in options or (name in chosen.defaults and value in chosen.words.get(name, (value,)))
            }
            depth = self.k if isinstance(k, str) else k
            self._values = self._read_values(chosen.name, depth, kept)
        except RecnbError as refused:
            self.problem = str(refused)
            return False
        self.metric, self.k, self.options, self.bar = chosen.name, depth, kept, ""
        return True

    def choose_models(self, model: str, other: str | None = None) -> None:
        """Choose the model whose lists are shown, and the one that it is compared with."""
        for name in (model, other or model):
            if name not in self.models:
                raise OptionError(f"{name!r} is no model here. {near(name, list(self.models))}")
        others = [name for name in self.models if name != model]
        self.model, self.other = model, other if other in others else (others or [model])[0]
        self._values, self.bar = self._read_values(self.metric, self.k, self.options), ""

    # Which users are shown

    def search(self, text: str) -> None:
        """Show the users whose id contains a text, whatever its case."""
        self.searched = text

    def sort(self, column: str) -> None:
        """Sort by a column, from the largest; the second time, from the smallest."""
        if column not in self._values.columns:
            raise OptionError(f"{column!r} is no column to sort by. {near(column, list(self._values.columns))}")
        self.descending = not self.descending if column == self.sorting else True
        self.sorting = column

    def choose_segment(self, column: str) -> None:
        """Choose what divides users into segments; "" for nothing."""
        if column and column not in self.segments:
            raise OptionError(f"{column!r} divides users into no segments. {near(column, list(self.segments))}")
        self.segment, self.part = column, ""

    def choose_part(self, label: str) -> None:
        """Show the users of one segment; "" for all."""
        if label and label not in self.means_of_segments():
            raise OptionError(f"{label!r} is no segment. {near(label, list(self.means_of_segments()))}")
        self.part = label

    def choose_bar(self, label: str) -> None:
        """Show the users of one bar of the histogram; "" for all."""
        if label and label not in self.bars():
            raise OptionError(f"{label!r} is no bar. {near(label, list(self.bars()))}")
        self.bar = label

    def choose(self, user: Any) -> None:
        """Choose the user whose list is shown."""
        if user not in self._values.index:
            raise OptionError(f"{user!r} is no user here. {near(str(user), map(str, self._values.index))}")
        self.user = user

    def show_all(self) -> None:
        """Drop the search, the segment and the bar."""
        self.searched, self.part, self.bar = "", "", ""

    def to_frame(self) -> pd.DataFrame:
        """Return the users shown, in their order: value, hits, relevant items, length of the list, and the segment."""
        frame = self._values
        if self.segment:
            name = self.segment if self.segment not in frame else f"{self.segment} (segment)"
            frame = frame.assign(**{name: self.segments[self.segment]})
        order = np.argsort(
            -frame[self.sorting].to_numpy() if self.descending else frame[self.sorting].to_numpy(), kind="stable"
        )
        kept = self._in_part() & self.searched_users()
        if self.bar:
            kept &= self._bar_of() == self.bar
        return frame.iloc[order[kept[order]]]

    def searched_users(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return whether each user's id contains the text that is searched."""
        ids = self._values.index.astype(str)
        return np.asarray(ids.str.contains(self.searched, case=False, regex=False))

    def _in_part(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        if not self.part:
            return np.ones(len(self._values), dtype=bool)
        return np.asarray(self.segments[self.segment].to_numpy() == self.part)

    # Numbers above the list of users

    @property
    def histogram_column(self) -> str:
        """The column that the histogram is of."""
        return "difference" if self.is_paired else "value"

    def means(self) -> dict[str, float]:
        """Return the mean of each model over the users of the segment that is shown."""
        shown = self._values[self._in_part()]
        return {name: float(shown[name if self.is_paired else "value"].mean()) for name in self.models}

    def means_of_segments(self) -> dict[str, tuple[int, float]]:
        """Return the users and the mean of each segment."""
        if not self.segment:
            return {}
        grouped = self._values[self.histogram_column].groupby(self.segments[self.segment], observed=True, sort=False)
        found = {str(label): (int(part.count()), float(part.mean())) for label, part in grouped}
        return {label: found[label] for label in self._labels() if label in found}

    def _labels(self) -> list[str]:
        labels = self.segments[self.segment]
        return list(labels.cat.categories) if isinstance(labels.dtype, pd.CategoricalDtype) else sorted(labels.unique())

    def bars(self) -> dict[str, int]:
        """Return the number of users of the segment in each bar of the histogram; those of exactly 0 have their own."""
        counts = pd.Series(self._bar_of()[self._in_part()]).value_counts()
        return {label: int(counts.get(label, 0)) for label in self._bar_labels()}

    def _edges(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        numbers = self._values[self.histogram_column].to_numpy()
        top = float(np.nanmax(np.abs(numbers), initial=0.0)) or 1.0
        if top <= 1 + SAME and METRICS[self.metric].bounds[1] == 1:
            top = 1.0
        low = -top if self.is_paired or np.nanmin(numbers, initial=0.0) < -SAME else 0.0
        return np.linspace(low, top, BARS + 1)

    def _bar_labels(self) -> list[str]:
        edges = self._edges()
        labels = [f"{short(float(low))} – {short(float(high))}" for low, high in pairwise(edges)]
        return [*labels[: int((edges < -SAME).sum())], "0", *labels[int((edges < -SAME).sum()) :]]

    def _bar_of(self) -> np.ndarray[Any, Any]:
        """Return the label of each user's bar; a number on an edge belongs to the bar that is nearer to 0."""
        numbers, edges, labels = (
            self._values[self.histogram_column].to_numpy(),
            self._edges(),
            np.array(self._bar_labels()),
        )
        n_below = int((edges < -SAME).sum())
        above = np.searchsorted(edges, numbers - SAME, side="left")  # 1 for the first bar
        below = np.searchsorted(edges, numbers + SAME, side="right") - 1
        bar = np.where(numbers > 0, np.maximum(above, n_below + 1), np.minimum(below, n_below - 1))
        return labels[np.where(np.abs(numbers) <= SAME, n_below, np.clip(bar, 0, len(labels) - 1))]

    # What is shown

    def cells(self, most: int = LISTED) -> list[list[str]]:
        """Return the cells of the users shown: the id, and the numbers of `headers`."""
        frame = self.to_frame().head(most)
        columns = [[_cell(name, value) for value in frame[name]] for name in self._numbers()]
        return [list(row) for row in zip((one_line(str(user), 24) for user in frame.index), *columns, strict=True)]

    def lines(self) -> tuple[str, list[tuple[str, Any]]]:
        """Return a line of headers, and for each user shown a line of text with its id; columns stand below each other."""
        rows = [self.headers(), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        texts = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
        return texts[0], list(zip(texts[1:], self.to_frame().index, strict=False))

    def _numbers(self) -> list[str]:
        models = list(self.models) if self.is_paired else ["value"]
        return [*models, *(["difference"] if self.is_paired else []), "hits", "relevant", "length"]

    def headers(self) -> list[str]:
        """Return the headers of the columns of `lines`."""
        words = {
            "value": self.label,
            "difference": _("difference"),
            "hits": _("hits"),
            "relevant": _("relevant"),
            "length": _("length"),
        }
        return [_("user"), *(words.get(name, one_line(name, 24)) for name in self._numbers())]

    def better_worse_same(self) -> tuple[int, int, int]:
        """Return for how many users of the segment the model is better than the other, worse, and the same."""
        difference = self._values["difference"][self._in_part()]
        better, worse = int((difference > SAME).sum()), int((difference < -SAME).sum())
        return better, worse, len(difference) - better - worse

    @property
    def basis(self) -> str:
        """The line below the numbers of the model."""
        score = getattr(self.models[self.model], self.metric)(k=self.k, **self.options)
        return str(score.basis)

    def summary(self) -> str:
        """Return the means and what is behind them, as HTML."""
        with use_language(self.lang):
            return str(render("widgets/explorer.jinja", state=self, part="summary"))

    def detail(self) -> str:
        """Return the list of the user who is chosen under each model, and how the number is made, as HTML."""
        with use_language(self.lang):
            return str(render("widgets/explorer.jinja", state=self, part="detail", detail=self._detail()))

    def _detail(self) -> tuple[list[tuple[str, str]], str]:
        """Return the list of the user under each model compared, and how the number is made; if it is not, why."""
        lists = []
        for name in (self.other, self.model) if self.is_paired else (self.model,):
            try:
                lists.append(
                    (name if self.is_paired else "", self.models[name].user(self.user, k=self.k)._repr_html_())
                )
            except RecnbError as refused:
                return lists, render("widgets/explorer.jinja", state=self, part="problem", problem=str(refused))
        try:
            shown = self.models[self.model].explain(self.metric, self.user, k=self.k, **self.options)._repr_html_()
        except RecnbError as refused:
            shown = render("widgets/explorer.jinja", state=self, part="problem", problem=str(refused))
        return lists, shown

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render("widgets/explorer.jinja", state=self, part="still", detail=self._detail()))

    def __repr__(self) -> str:
        with use_language(self.lang):
            means = "; ".join(
                f"{one_line(name)} {fixed(mean)}" if name else fixed(mean) for name, mean in self.means().items()
            )
            return f"{self.label} = {means}\n{self.basis}"


def _cell(column: str, value: float) -> str:
    """Return a count as it is, and another number to four decimals."""
    if value != value:
        return "–"
    return f"{value:g}" if column in ("hits", "relevant", "length") else fixed(value)


def _segments_of(ev: Any, users: pd.Index[Any]) -> dict[str, pd.Series[Any]]:
    """Return the columns that divide users: of `users=`, and how much each did in `train=`."""
    columns: dict[str, pd.Series[Any]] = {}
    side = ev._data.side_data
    if side.users is not None:
        for name, column in side.users.to_pandas().set_index("user").items():
            columns[str(name)] = column.reindex(users)
    if side.train is not None:
        columns["activity"] = side.train.to_pandas().groupby("user").size().reindex(users, fill_value=0)
    made = {name: _labels_of(column) for name, column in columns.items()}
    return {name: labels for name, labels in made.items() if labels is not None and labels.nunique() > 1}


def _labels_of(column: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return a label for each user: the values, or quarters of many numbers; None for a column that divides nothing."""
    missing = _("not known")
    if column.nunique() <= MOST_SEGMENTS:
        return column.astype(object).where(column.notna(), missing).map(str)
    if not pd.api.types.is_numeric_dtype(column):
        return None
    cut = pd.qcut(column, 4, duplicates="drop")
    names = {
        part: f"{column[cut == part].min():,.4g} – {column[cut == part].max():,.4g}" for part in cut.cat.categories
    }
    labels = cut.cat.rename_categories(names)
    return labels.cat.add_categories(missing).fillna(missing) if labels.isna().any() else labels
