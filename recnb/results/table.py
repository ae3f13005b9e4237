"""`Table`: a DataFrame with the line of users and convention below it. Every result of several numbers is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
import pandas as pd
from markupsafe import Markup
from pandas.plotting import PlotAccessor

from recnb.data.files import written
from recnb.display.fonts import lettering
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import breakable, in_one_line, name, render, user_text
from recnb.display.text import LatexTable, aligned, latex_text, markdown_table, markdown_text, one_line
from recnb.errors import OptionError, RecnbError
from recnb.metrics.metric import LIST_METRICS, METRICS, measure_named
from recnb.results.plots import draw_scales, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Form(NamedTuple):
    """How a form of a table shows text of the user's, and numbers: plain ones, those near the best, and the best."""

    safe: Callable[..., str]
    plain: str = "{}"
    near: str = "{}°"
    best: str = "{}"
    symbols: bool = False  #: whether metrics have their symbols, as papers have them
    number: Callable[[float], str] | None = None  #: for other than four decimals


TEXT = Form(one_line, " {} ", " {}°", "*{}*")
MARKDOWN = Form(markdown_text, best="**{}**", symbols=True)
LATEX = Form(latex_text, near=r"{}$^{{\circ}}$", best=r"\textbf{{{}}}", symbols=True)
BOLD = Markup('<b style="font-weight: 700; text-decoration: underline;">{}</b>')
HTML = Form(user_text, Markup("{}\u00a0"), Markup("{}°"), BOLD + "\u00a0")  # numbers stay under each other

#: Rows of a table that are shown.
MOST = 50

#: Only a name with more letters is broken into lines where the page is narrow.
LONG = 16

#: Columns whose numbers are shown as they are, all with the decimals of the one that has most.
AS_GIVEN = ("rank", "score", "relevance")


class TablePlot(PlotAccessor):
    """`table.plot()`: what the table is drawn as; with a `kind` what pandas draws."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._table = table

    def __call__(
        self, ax: Axes | None = None, *, title: Any = None, color: Any = None, kind: Any = None, **options: Any
    ) -> Any:
        """Draw the table on `ax`, or on the axes of a new figure; `kind` and its options are those of pandas."""
        if kind is not None:
            options |= {name: given for name, given in (("title", title), ("color", color)) if given is not None}
            return self._of_pandas(kind, ax, options)
        if options and self._table.attrs.get("drawn") != "curve":
            problem = f"plot() of a table has no option {next(iter(options))!r}."
            raise OptionError(
                problem, fix="It has ax, title and color; with kind='bar' and others, the options of pandas."
            )
        ax = self._table._draw(ax, color, **options)
        if title is not None:
            ax.set_title(title)
        return ax

    def _of_pandas(self, kind: str, ax: Axes | None, options: dict[str, Any]) -> Any:
        """Draw by pandas; bars and lines of means have their intervals as error bars, if the table shows them."""
        error = {"bar": "yerr", "line": "yerr", "barh": "xerr"}.get(kind)
        if error is None or not {"mean", "low", "high"} <= {*self._table.columns.get_level_values(-1)}:
            return super().__call__(**{"kind": kind, "ax": ax, **options})
        mean, low, high = parts_of(self._table)
        ends = np.stack([mean - low, high - mean]).clip(min=0).transpose(2, 0, 1)
        drawn: dict[str, Any] = {"kind": kind, "ax": ax, error: ends, **options}
        return mean.rename(columns=_at).plot(**drawn)


class Table(pd.DataFrame):
    """Numbers with the users and the convention behind them.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention. What is
    cut out of it is a plain DataFrame. `attrs["basis"]` holds the line. `plot()` draws it; `to_markdown()` and `to_latex()`
    write it as it is shown.
    """

    _metadata: ClassVar = ["missed"]
    #: How tables other than of means are drawn, by `attrs["drawn"]`.
    _drawings: ClassVar[dict[str, Callable[..., Axes]]] = {}
    #: Computes means, lower and upper ends of intervals, for a plot; not kept by copies and pickles.
    _measured: Callable[[], Sequence[pd.DataFrame]] | None = None
    missed: Table | None = None  #: of one user's list: the relevant items that are not among its rows

    @classmethod
    def made(cls, frame: pd.DataFrame, basis: Iterable[str], title: str = "") -> Self:
        """Return a table of a frame with the phrases of its basis, in the language in force."""
        table = cls(frame)
        # Text and numbers only: pandas writes attrs as JSON where it writes them.
        table.attrs = {"basis": "; ".join(basis), "title": title, "lang": current()}
        return table

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a table, as pickle does; `copy()` is one of pandas' methods, which return a plain frame."""
        again = type(self)(self.copy())
        again.attrs = deepcopy(self.attrs, memo)
        for attribute in self._metadata:
            setattr(again, attribute, deepcopy(getattr(self, attribute), memo))
        return again

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers alone."""
        return pd.DataFrame(self)

    @property
    def per_user(self) -> NoReturn:
        """There is none: a table has means."""
        raise OptionError(
            "a table has means over users.", fix="The values of users are in .to_frame(metrics, k) of the evaluation."
        )

    @property
    def plot(self) -> TablePlot:
        """Draw the table: `table.plot()`, with `ax=`, `title=` and `color=`; `table.plot(kind="bar")` is that of pandas."""
        return TablePlot(self)

    def _parts(self) -> list[pd.DataFrame]:
        """Return the means; with the lower and the upper ends of their intervals, unless the numbers were changed."""
        if {"low", "high"} <= {*self.columns.get_level_values(-1)}:
            return parts_of(self)
        parts = self._measured() if self._measured else []
        same = (
            len(parts) > 0 and parts[0].shape == self.shape and np.allclose(parts[0], self, rtol=1e-9, equal_nan=True)
        )
        return [pd.DataFrame(self), *parts[1:]] if same else [pd.DataFrame(self)]

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        """Draw the means with their intervals; those of segments have a line for each segment."""
        lang, by = self.attrs.get("lang", "en"), self.attrs.get("by")
        if (drawn := self.attrs.get("drawn")) is not None:
            return self._drawings[drawn](self, ax, color, **options)
        with lettering(lang, rc=True) as fonts:
            if by is not None:
                return draw_scales(ax, self._by_segment(), _of_metrics, axis=1, color=color, ylabel=plain(by), **fonts)
            parts = [part.rename(columns=_at) for part in self._parts()]
            return draw_scales(ax, parts, values_in_words, color=color, **fonts)

    def _by_segment(self) -> list[pd.DataFrame]:
        """Return means and ends of intervals, a row for each segment and a column for each metric."""
        index: Any = self.index
        cuts = zip(*map(index.get_level_values, ("metric", "k")), strict=True)
        names = [metric if pd.isna(k) else f"{metric}@{k:.0f}" for metric, k in cuts]
        # Segments are told apart by their values, which may read alike.
        codes, keys = pd.factorize(pd.Series([tuple(key[2:]) for key in index], dtype=object))
        shown: Any = self.set_axis(pd.MultiIndex.from_arrays([codes, names]))
        labels = [", ".join(map(str, key)) for key in keys]
        return [shown[part].unstack(sort=False).set_axis(labels, axis=0) for part in ("mean", "low", "high")]

    def _cell(self, value: Any, label: object, column: object, form: Form) -> str:
        """Return a cell in a form: a number with four decimals, a mark of what is true, or text."""
        if isinstance(value, (bool, np.bool_)):
            return "✓" if value else ""
        if not isinstance(value, float):
            return form.safe(value)
        if form.number is not None and value == value:
            return form.number(value)
        number = self._number(value, column)
        return form.safe(number) if number.startswith("<") else number

    def _number(self, value: float, column: object) -> str:
        """Return a number of a column: gaps with their sign, a small p not rounded to 0."""
        if value != value:
            return "–"
        if column in ("p", "p_holm") and value < 0.0001:
            return "<0.0001"
        if column in AS_GIVEN:
            return f"{value:g}"
        return f"{value:+.4f}" if str(column).startswith("gap") and np.isfinite(value) else f"{value:.4f}"

    def _cells(self, form: Form) -> tuple[list[str], list[list[str]], int]:
        """Return header, rows and the number of columns before the first number, as a form shows them."""
        shown = pd.DataFrame(self).head(self._most)
        columns = []
        for at, column in enumerate(shown.columns):
            cells = zip(shown.index, shown.iloc[:, at].array, strict=True)
            columns.append(_aligned_numbers([self._cell(value, label, column, form) for label, value in cells], column))
        header = [form.safe(self._head(column, form)) for column in self.columns]
        rows = [[column[at] for column in columns] for at in range(len(shown))]
        kinds = [pd.api.types.is_numeric_dtype(kind) for kind in self.dtypes]
        if self.index.names == [None]:  # rows have no names
            return header, rows, max((at + 1 for at, is_number in enumerate(kinds) if not is_number), default=1)
        names = [form.safe("" if name is None else name) for name in self.index.names]
        if self.columns.names[0] is not None:
            names[-1] = f"{names[-1]} × {form.safe(self.columns.names[0])}".removeprefix(" × ")
        if form is not HTML and self.columns.nlevels > 1:  # a mean and its interval in one cell
            header = [form.safe(_shown(k)) for k in self.columns.get_level_values(0)[::3]]
            rows = [["{} [{}, {}]".format(*row[at : at + 3]) for at in range(0, len(row), 3)] for row in rows]
        labels = [self._label(label if isinstance(label, tuple) else (label,), form) for label in shown.index]
        rows = [[*label, *row] for label, row in zip(labels, rows, strict=True)]
        return [*names, *header], rows, len(names) + (kinds.index(True) if True in kinds else 0)

    def _label(self, parts: tuple[Any, ...], form: Form) -> list[str]:
        """Return the names of a row; a table for a paper has the symbols of metrics."""
        levels = zip(self.index.names, parts, strict=True)
        return [
            form.safe(_shown(part) if level == "k" else named(part, form) if level == "metric" else part)
            for level, part in levels
        ]

    def _head(self, column: Any, form: Form) -> str:
        """Return the name of a column."""
        return " ".join(str(_shown(part)) for part in (column if isinstance(column, tuple) else (column,)))

    def _legend(self, form: Form) -> list[str]:
        """Return what marks mean, in a form."""
        return []

    def _notes(self, form: Form) -> list[str]:
        """Return the lines below the table, in a form; the basis follows them."""
        left_out = len(self) - self._most
        more = ngettext("{n:,} more row in .to_frame()", "{n:,} more rows in .to_frame()", left_out)
        return [*([form.safe(more)] if left_out > 0 else []), *self._legend(form)]

    @property
    def _basis(self) -> str:
        return str(self.attrs.get("basis", ""))

    @property
    def _most(self) -> int:
        """The number of rows that are shown; the frame has them all."""
        return int(self.attrs.get("most", MOST))

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(TEXT)
            parts = [*aligned([header, *rows], left), *self._notes(TEXT)]
            if self.missed is not None:
                parts = [self.attrs["title"], *parts, repr(self.missed)]
            return "\n".join(filter(None, [*parts, self._basis]))

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            label = self.attrs.get("title") or _("metrics at cut-offs")
            parts = {"tables": self._in_html(), "lines": self._notes(HTML), "basis": self._basis}
            return str(render("results/table.jinja", label=label, **parts))

    def _in_html(self) -> list[dict[str, Any]]:
        """Return what the template shows: this table, and the one of missed items below it."""
        header, rows, left = self._cells(HTML)
        for row in rows:
            row[: len(self.index.names)] = [
                in_one_line(label) if len(label) <= LONG else label for label in row[: len(self.index.names)]
            ]
        table = {
            "header": [breakable(words) if len(words) > LONG else words for words in header], "rows": rows, "numbers_from": left,
            "title": name(title, 200) if (title := self.attrs.get("title")) else "", "tinted": np.flatnonzero(self["hit"]).tolist() if "hit" in self else [],
        }  # fmt: skip
        return [table, *([] if self.missed is None or not len(self.missed) else self.missed._in_html())]

    def to_markdown(self, path: Any = None, *, index: bool = True, **options: Any) -> Any:  # type: ignore[override]
        """Return the table in Markdown, or write it to a file; `index=False` leaves the labels of the rows out."""
        if options:
            problem = f"to_markdown() of a table has no option {next(iter(options))!r}."
            raise OptionError(
                problem, fix="It has path and index; for those of pandas type table.to_frame().to_markdown()."
            )
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(MARKDOWN)
            labels = 0 if index else len(self.index.names)
            table = markdown_table(header[labels:], [row[labels:] for row in rows], left - labels)
            parts = [table, *self._notes(MARKDOWN), markdown_text(self._basis, 4000)]
        return written("\n\n".join(filter(None, parts)) + "\n", path)

    def to_latex(
        self, *args: Any, caption: Any = None, label: Any = None, float_format: Any = None, **options: Any
    ) -> Any:
        """Return the table in LaTeX with booktabs, or write it to a file; with other options of pandas, as pandas writes it.

        `caption` and `label` are LaTeX; the line with users and convention stands below the table. `float_format="%.3f"`, or a
        function, is how numbers are written.
        """
        if options or len(args) > 1 or isinstance(caption, tuple):  # a long and a short one
            return super().to_latex(*args, caption=caption, label=label, float_format=float_format, **options)
        number = float_format.__mod__ if isinstance(float_format, str) else float_format
        form = LATEX._replace(number=number)
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(form)
            lines = self._notes(form)
        columns = "l" * left + "r" * (len(header) - left)
        note = ". ".join([*lines, latex_text(self._basis, 4000)])
        words = caption or latex_text(self.attrs.get("title") or _("metrics at cut-offs"))
        table = LatexTable(columns, [header, r"\midrule", *rows], words, note)
        return written(
            "\n".join([_(r"% needs \usepackage{booktabs}"), table.text(label), ""]), args[0] if args else None
        )


def _aligned_numbers(cells: list[str], column: object) -> list[str]:
    """Give numbers that are shown as given the decimals of the one that has most, so that they stand under each other."""
    if column not in AS_GIVEN or any("e" in cell for cell in cells):
        return cells
    most = max((len(cell.partition(".")[2]) for cell in cells), default=0)
    return [cell if cell == "–" or "inf" in cell else f"{float(cell):.{most}f}" for cell in cells]


def values_in_words(metrics: Iterable[str]) -> str:
    """Say what the values of metrics are, as the label of an axis."""
    try:
        whole = any(measure_named(name).over in ("items", "user pairs") for name in metrics)
    except RecnbError:  # a row was renamed
        whole = True
    return _("value") if whole else _("mean over users")


def _of_metrics(metrics: Sequence[str]) -> str:
    """Return the label of an axis of means; several metrics are in the legend."""
    return _("{label}, mean over users", label=metrics[0]) if len(metrics) == 1 else _("mean over users")


def parts_of(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the means, the lower ends and the upper ends of a table with intervals."""
    if table.columns.nlevels == 1:
        return [table[[part]].set_axis(["mean"], axis=1) for part in ("mean", "low", "high")]
    return [pd.DataFrame(table.xs(part, axis=1, level=1)) for part in ("mean", "low", "high")]


def named(metric: str, form: Form) -> str:
    """Return a metric's name, with its cut-off if it has one; in a table for a paper its symbol."""
    plain_name, at, k = metric.partition("@")
    known = {**METRICS, **LIST_METRICS}.get(plain_name)
    return metric if known is None or not form.symbols else f"{known.symbol}{at}{k}"


def _shown(part: Any) -> Any:
    """Return a name as it is shown: None, which is NaN among numbers and makes whole ones floats, is the whole list."""
    if part is None or part != part:
        return _("whole list")
    return int(part) if isinstance(part, float) and part.is_integer() else part


def _at(k: Any) -> str:
    if k == "mean":
        return _("mean")
    return _("whole list") if pd.isna(k) else f"@{k}"
