"""`Table`: a DataFrame with the line of users and convention below it. Every result of several numbers is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from pandas.plotting import PlotAccessor

from recnb.data.files import written
from recnb.display.document import (
    Block,
    Estimate,
    Line,
    Name,
    Note,
    Rows,
    aligned_rows,
    html,
    inline,
    joined,
    latex,
    plain,
)  # fmt: skip
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import framed
from recnb.display.text import NAME_SHOWN
from recnb.errors import OptionError, quoted
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.results.plots import DRAWINGS, parts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of a table that are shown.
MOST = 50

#: Formats of the numbers of some columns, by the beginning of their names; others have four decimals.
FORMATS = {"gap": "{:+.4f}", "rank": "{:g}", "relevance": "{:g}", "score": "{:#.5g}"}


class Table(pd.DataFrame):
    """Numbers with the users and the convention behind them.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention. What is
    cut out of it is a plain DataFrame. `attrs["basis"]` holds the line. `plot()` draws it; `to_markdown()` and `to_latex()`
    write it as it is shown.
    """

    _metadata: ClassVar = ["missed"]
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
        """Return a table; `copy()` is one of pandas' methods, which return a plain frame."""
        again = type(self)(self.to_frame().copy())
        again.attrs = dict(self.attrs)
        for name in self._metadata:
            setattr(again, name, getattr(self, name))
        return again

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers alone."""
        return pd.DataFrame(self)

    @property
    def plot(self) -> Plot:
        """Draw the table with its intervals, `table.plot()`; `table.plot.bar()` and its like are those of pandas."""
        return Plot(self)

    def _draw(self, ax: Axes | None, color: Any, **options: Any) -> Axes:
        return DRAWINGS[self.attrs.get("drawn", "means")](self, ax, color, **options)

    def _parts(self) -> Sequence[pd.DataFrame]:
        """Return the means, with the ends of their intervals if they are known and the numbers were not changed."""
        if {"low", "high"} <= {*self.columns.get_level_values(-1)}:
            return parts_of(self)
        parts = self._measured() if self._measured else []
        changed = not parts or parts[0].shape != self.shape or not np.allclose(parts[0], self, equal_nan=True)
        return [pd.DataFrame(self), *([] if changed else parts[1:])]

    # What is shown; the tables of a comparison have their own.

    def _shown(self) -> pd.DataFrame:
        """Return the rows and columns that are shown."""
        return pd.DataFrame(self).head(self.attrs.get("most", MOST))

    def _cell(self, value: Any, label: object, column: object) -> Line:
        """Return a cell: a number, a mark of what is true, or text."""
        if isinstance(value, (bool, np.bool_)):
            return "✓" if value else ""
        if isinstance(value, float):
            return number_in(str(column), value)
        if isinstance(value, (int, np.integer)):
            return str(value)
        return Name(value, self.attrs.get("longest", NAME_SHOWN))

    def _head(self, column: Any, symbols: bool) -> Line:
        """Return the name of a column; `symbols`: metrics as papers print them."""
        return " ".join(map(_label, column if isinstance(column, tuple) else [column]))

    def _below(self) -> list[Line]:
        """Return the lines between the table and its basis."""
        left_out = len(self) - len(self._shown())
        more = ngettext("{n:,} more row in .to_frame()", "{n:,} more rows in .to_frame()", left_out)
        return [more] if left_out else []

    def _rows(self, *, symbols: bool) -> Rows:
        """Return the table as a block of a document."""
        frame = self._shown()
        numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        if frame.columns.nlevels > 1:  # a mean and its interval in one cell
            means = parts_of(frame)
            header: list[Line] = [_label(k) for k in means[0]]
            places = range(len(header))
            columns: list[Sequence[Line]] = [[*map(_estimate, *(part.iloc[:, at] for part in means))] for at in places]
        else:
            header = [self._head(column, symbols) for column in frame.columns]
            columns = [
                [self._cell(value, label, column) for label, value in zip(frame.index, values.array, strict=True)]
                for column, values in frame.items()
            ]
        if frame.index.names == [None]:  # rows have no names
            left = max((at + 1 for at, is_number in enumerate(numeric) if not is_number), default=1)
        else:
            names = [str(name or "") for name in frame.index.names]
            if frame.columns.names[0] is not None:
                names[-1] = f"{names[-1]} × {frame.columns.names[0]}".removeprefix(" × ")
            header = [*names, *header]
            columns = [*(_level(frame.index, at, symbols) for at in range(len(names))), *columns]
            left = len(names) + (numeric.index(True) if True in numeric else 0)
        tinted = frozenset(np.flatnonzero(frame["hit"]).tolist()) if "hit" in frame else frozenset()
        return Rows(header, list(zip(*columns, strict=True)), self.attrs.get("title", ""), left, tinted)

    def _blocks(self, *, symbols: bool = False) -> list[Block]:
        """Return the table with the lines below it as blocks of a document."""
        missed = [] if self.missed is None or self.missed.empty else [self.missed._rows(symbols=symbols)]
        return [self._rows(symbols=symbols), *missed, *map(Note, self._notes())]

    def _notes(self) -> list[Line]:
        return [line for line in [*self._below(), str(self.attrs.get("basis", ""))] if line]

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            return in_lines(self._blocks())

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            return str(framed(self.attrs.get("title") or _("metrics at cut-offs"), html(self._blocks())))

    def to_markdown(self, buf: Any = None, *others: Any, **options: Any) -> Any:
        """Return the table in Markdown, or write it to a file."""
        _refuse(others, options, "to_markdown", "buf; for the options of pandas type table.to_frame().to_markdown()")
        with use_language(self.attrs.get("lang")):
            return written(plain(self._blocks(symbols=True), "md") + "\n", buf)

    def to_latex(
        self, buf: Any = None, *others: Any, caption: Any = None, label: str | None = None, **options: Any
    ) -> Any:
        """Return the table in LaTeX with booktabs, or write it to a file.

        `caption` and `label` are LaTeX; the line with users and convention stands below the table.
        """
        known = "buf, caption and label; for the options of pandas type table.to_frame().to_latex()"
        _refuse(others, options, "to_latex", known)
        for argument, text in (("caption", caption), ("label", label)):
            if text is not None and not isinstance(text, str):
                raise OptionError(f"{argument}={quoted(text)}: give LaTeX as text.")
        with use_language(self.attrs.get("lang")):
            table = self._rows(symbols=True)
            lines = [line.removesuffix(".") if isinstance(line, str) else line for line in self._notes()]
            words = caption or inline(table.caption or _("metrics at cut-offs"), "tex")
            text = latex(table, words, label, joined(lines, ". "))
            return written("\n".join([_(r"% needs \usepackage{booktabs}"), text, ""]), buf)


class Plot(PlotAccessor):
    """What `table.plot` is: called, it draws the table with its intervals; its methods are those of pandas."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.to_frame())
        self._table = table

    def __call__(self, ax: Axes | None = None, *others: Any, color: Any = None, **options: Any) -> Any:
        """Draw the table on `ax`, or on the axes of a new figure; with `kind`, as pandas does."""
        if "kind" in options:
            options |= {name: value for name, value in (("ax", ax), ("color", color)) if value is not None}
            return super().__call__(*others, **options)
        known = "ax and color; for what pandas draws type table.to_frame().plot(...)"
        _refuse(others, {} if self._table.attrs.get("drawn") == "curve" else options, "plot", known)
        return self._table._draw(ax, color, **options)


def in_lines(blocks: Iterable[Block]) -> str:
    """Write tables and notes for a console, each table in its whole width."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Rows):
            lines += [inline(block.caption, "txt"), *aligned_rows(block)]
        elif isinstance(block, Note):
            lines.append(inline(block.line, "txt"))
    return "\n".join(filter(None, lines))


def number_in(column: str, value: float) -> str:
    """Return a number of a column: a gap with its sign, a small p not rounded to 0."""
    if value != value:
        return "–"
    if column in ("p", "p_holm") and value < 0.0001:
        return "<0.0001"
    form = next((form for start, form in FORMATS.items() if column.startswith(start)), "{:.4f}")
    return form.format(value)


def symbol_of(name: str) -> str:
    """Return the symbol of a metric, "nDCG@10" for "ndcg@10"; another name as it is."""
    plain_name, at, k = name.partition("@")
    metric = {**METRICS, **LIST_METRICS}.get(plain_name)
    return name if metric is None else f"{metric.symbol}{at}{k}"


def _estimate(mean: float, low: float, high: float) -> Estimate:
    ends = None if low != low else (number_in("", low), number_in("", high))
    return Estimate(number_in("", mean), ends, signed=True)


def _level(index: Any, at: int, symbols: bool) -> list[Line]:
    """Return the labels of the rows at one level of the index."""
    labels = index.get_level_values(at)
    if index.names[at] == "k":
        return [_label(k) for k in labels]
    if index.names[at] == "metric" and symbols:
        return [symbol_of(name) for name in labels]
    return [Name(label, NAME_SHOWN) for label in labels]


def _label(part: Any) -> str:
    """Return the name of a column; None, which is NaN among numbers, is the whole list."""
    if part is None or part != part:
        return _("whole list")
    return str(int(part) if isinstance(part, float) and part.is_integer() else part)


def _refuse(others: Sequence[Any], options: Mapping[str, Any], method: str, known: str) -> None:
    for option in (*options, *others):
        raise OptionError(f"{method}() of a table has no option {quoted(option)}.", fix=f"It has {known}.")
