"""`Table`: a DataFrame with the line of users and convention below it.

Every result of several numbers is one.
"""

from __future__ import annotations

import contextlib
import pickle
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from recnb.data.files import written
from recnb.display.document import (
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
)
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.style import COLOURS, lettering
from recnb.display.templates import framed
from recnb.display.text import (
    NAME_SHOWN,
    at_k,
    dates_alone,
    one_line,
    sample_in_words,
)
from recnb.errors import OptionError, quoted
from recnb.metrics.metric import LIST_METRICS, METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of a table that are shown.
MOST_ROWS = 50

#: Names of columns whose numbers are times.
TIMES = {"time", "hour", "day", "date", "week", "month", "quarter", "year", "period"}

#: Markers of the columns of a plot.
DOTS = ("o", "s", "^", "D", "v", "P", "X", "*")

#: Formats of the numbers of some columns, by the beginning of their names; others have
#: four decimals.
FORMATS = {
    "gap": "{:+.{decimals}f}",
    "rank": "{:g}",
    "relevance": "{:g}",
    "score": "{:#.5g}",
}


class Table(pd.DataFrame):
    """Numbers with the users and the convention behind them.

    It is a DataFrame; shown whole, it has a line of small print with users and
    convention, `attrs["basis"]`. What is cut out of it is a plain DataFrame. `plot()`,
    `to_markdown()` and `to_latex()` are recnb's, and take none of the options of
    pandas: these are those of `table.to_frame()`.

    Examples
    --------
    >>> import recnb
    >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
    >>> table = ev.table("recall", k=[1, 2])
    >>> table.attrs["basis"]
    '1 user; ordered by rank; relevant: every pair of the truth; out of all relevant items'
    """

    _metadata: ClassVar = ["missed"]
    #: Of one user's list: the relevant items that are not among its rows.
    missed: Table | None = None

    @classmethod
    def made(cls, frame: pd.DataFrame, basis: Iterable[str], title: str = "") -> Self:
        """Return a table of a frame with its basis, in the language in force."""
        table = cls(frame)
        # Text and numbers only: pandas writes attrs as JSON where it writes them.
        table.attrs = {"basis": "; ".join(basis), "title": title, "lang": current()}
        return table

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a table: pandas would return a plain frame."""
        again: Self = pickle.loads(pickle.dumps(self))
        return again

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers alone, as a frame of its own.

        With intervals its columns are mean@10, low@10 and high@10 for k=10, of a
        comparison ndcg@10, ndcg@10 low and ndcg@10 high, so that Great Tables and
        spreadsheets take it; the table has two levels, `table[10]`. Great Tables shows
        the names of rows after `reset_index()`.

        Returns
        -------
        DataFrame
            With one level of columns.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"], "bob": ["c"]}, {"ann": ["b"], "bob": ["c"]})
        >>> ev.table("recall", k=1, intervals=True).to_frame().columns.tolist()
        ['mean@1', 'low@1', 'high@1']
        """
        frame = pd.DataFrame(self, copy=True)
        if frame.columns.nlevels == 1:
            return frame
        levels = (frame.columns.get_level_values(level) for level in (0, 1))
        names = [self._flat(*column) for column in zip(*levels, strict=True)]
        return frame.set_axis(names, axis=1)

    def _flat(self, column: Any, part: str) -> str:
        """Return one name for the two levels of a column of a table with intervals."""
        return part if _is_whole(column) else f"{part}@{_label(column)}"

    def plot(self, ax: Axes | None = None, *, color: Any = None, **line: Any) -> Axes:  # type: ignore[override]
        """Draw the table, with the intervals that it has.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where it is drawn, else in a new figure.
        color : optional
            The colour, as matplotlib takes it.
        **line
            Options of the line of a curve.

        Returns
        -------
        matplotlib.axes.Axes
            Where it is drawn.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> ev.curve("ndcg").plot().get_xlabel()
        'k'
        """
        drawn = self.attrs.get("drawn", "means")
        if not drawn or (line and drawn != "curve"):
            what = f"no option {[*line]}" if line else "no figure of its own"
            fix = "the plots of pandas are those of table.to_frame().plot."
            raise OptionError(f"plot() of this table has {what}: {fix}")
        return self._draw(ax, color, **line)

    def _draw(self, ax: Axes | None, color: Any, **line: Any) -> Axes:
        if self.attrs.get("drawn"):
            return draw_curve(self, ax, color, **line)
        if "by" in self.attrs:
            segments = list(dict.fromkeys(_segment(key) for key in self.index))
            times = times_of(self.attrs["by"], segments)
            if times:
                time_of = dict(zip(segments, times, strict=True))
                return draw_over_time(self, time_of, ax, color)
        with lettering(self.attrs.get("lang", "en")) as fonts:
            parts = [self._drawn_part(part) for part in parts_of(self)]
            ax = draw_means(ax, parts, _("value"), color=color, **fonts)
            title = as_text(self.attrs.get("title", ""))
            if title and not ax.get_title():
                ax.set_title(title, fontsize="medium", **fonts)
        return ax

    def _drawn_part(self, part: pd.DataFrame) -> pd.DataFrame:
        """Return the numbers of a plot, each row named by its metric.

        The cut-off stands behind the metric, unless each of several has a colour.
        """
        names = list(part.index)
        if "by" in self.attrs:
            names = [
                f"{metric}{_behind(k)} {', '.join(map(str, segment))}"
                for metric, k, *segment in part.index
            ]
        elif part.columns.name == "k" and len(part.columns) == 1:
            cutoff = _behind(part.columns[0])
            names = [f"{name}{cutoff}" for name in part.index]
        numbers = part.select_dtypes("number").rename(columns=_label)
        return numbers.set_axis(pd.Index(names, tupleize_cols=False), axis=0)

    # What is shown; the tables of a comparison have their own.

    def _shown(self) -> pd.DataFrame:
        """Return the rows and columns that are shown."""
        return pd.DataFrame(self).head(self.attrs.get("most", MOST_ROWS))

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        """Return a cell: a number, a mark of what is true, or text."""
        if column == "k":
            return _label(value)
        if isinstance(value, (bool, np.bool_)):
            return "✓" if value else ""
        if isinstance(value, float):
            return number_in(str(column), value, digits)
        if isinstance(value, (int, np.integer)):
            return str(value)
        return Name(value, NAME_SHOWN)

    def _interval(
        self,
        numbers: Sequence[float],
        label: object,
        column: object,
        digits: int | None,
    ) -> Line:
        """Return a cell of a mean with the ends of its interval."""
        return estimate_of(numbers, digits)

    def _head(self, column: Any, symbols: bool) -> Line:
        """Return the name of a column; `symbols`: metrics as papers print them."""
        headings = self.attrs.get("headings", {})
        if isinstance(column, str) and column in headings:
            return str(headings[column])
        levels = column if isinstance(column, tuple) else (column,)
        return " ".join(map(_label, levels))

    def _below(self) -> list[Line]:
        """Return the lines between the table and its basis."""
        left_out = len(self) - len(self._shown())
        more = ngettext(
            "{n:,} more row in .to_frame()", "{n:,} more rows in .to_frame()", left_out
        )
        return [more] if left_out else []

    def _rows(self, *, symbols: bool, digits: int | None = None) -> Rows:
        """Return the table as a block of a document; `digits`: decimals of numbers."""
        frame = self._shown()
        names, columns = self._columns_of_cells(frame, digits)
        header = [self._head(name, symbols) for name in names]
        is_numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        if frame.index.names == [None]:  # rows have no names
            of_text = [index for index, numeric in enumerate(is_numeric) if not numeric]
            left = of_text[-1] + 1 if of_text else 1
        else:
            levels = self._names_of_levels(frame)
            header = [*levels, *header]
            labels = [
                _level(frame.index, level, symbols) for level in range(len(levels))
            ]
            columns = [*labels, *columns]
            first_number = is_numeric.index(True) if True in is_numeric else 0
            left = len(levels) + first_number
        hits = np.flatnonzero(frame["hit"]).tolist() if "hit" in frame else []
        return Rows(
            header=header,
            rows=list(zip(*columns, strict=True)),
            caption=self.attrs.get("title", ""),
            left=left,
            tinted=frozenset(hits),
        )

    def _columns_of_cells(
        self, frame: pd.DataFrame, digits: int | None
    ) -> tuple[list[Any], list[Sequence[Line]]]:
        """Return the names of the columns, and the cells of each.

        With two levels of columns, a mean and its interval are one cell.
        """
        columns = list[Sequence[Line]]()
        if frame.columns.nlevels == 1:
            for name, values in frame.items():
                rows = zip(frame.index, values.array, strict=True)
                columns.append(
                    [self._cell(value, label, name, digits) for label, value in rows]
                )
            return list(frame.columns), columns
        parts = parts_of(frame)
        names = list(parts[0].columns)
        for index, name in enumerate(names):
            estimates = zip(*(part.iloc[:, index] for part in parts), strict=True)
            rows = zip(frame.index, estimates, strict=True)
            columns.append(
                [
                    self._interval(numbers, label, name, digits)
                    for label, numbers in rows
                ]
            )
        return names, columns

    def _names_of_levels(self, frame: pd.DataFrame) -> list[Line]:
        """Return what stands above the names of rows, for each level of the index."""
        headings = self.attrs.get("headings", {})
        names = [str(headings.get(name, name or "")) for name in frame.index.names]
        of_columns = frame.columns.names[0]
        if of_columns is not None:
            names[-1] = f"{names[-1]} × {of_columns}".removeprefix(" × ")
        return [*names]

    def _blocks(
        self, *, symbols: bool = False, digits: int | None = None
    ) -> list[Rows | Note]:
        """Return the table with the lines below it as blocks of a document."""
        blocks: list[Rows | Note] = [self._rows(symbols=symbols, digits=digits)]
        if self.missed is not None and not self.missed.empty:
            blocks.append(self.missed._rows(symbols=symbols, digits=digits))
        return [*blocks, *map(Note, self._notes())]

    def _notes(self) -> list[Line]:
        return [
            line for line in [*self._below(), str(self.attrs.get("basis", ""))] if line
        ]

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            return in_lines(self._blocks())

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            return str(
                framed(
                    self.attrs.get("title") or _("metrics at cut-offs"),
                    html(self._blocks()),
                )
            )

    def to_markdown(  # type: ignore[override]
        self, buf: Any = None, *, digits: int | None = None, note: bool = True
    ) -> Any:
        """Return the table in Markdown, or write it to a file.

        Parameters
        ----------
        buf : path or file, optional
            Where it is written; without it text is returned.
        digits : int, optional
            Decimals of the numbers, by default four.
        note : bool, default True
            False leaves out the lines below the table, with marks, users and convention.

        Returns
        -------
        str or None
            The Markdown, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
        >>> print(ev.table("recall", k=[1, 2]).to_markdown(digits=2, note=False))
        | metric × k | 1 | 2 |
        | --- | ---: | ---: |
        | Recall | 0.00 | 1.00 |
        """
        check_flag("note", note)
        check_digits(digits)
        with use_language(self.attrs.get("lang")):
            blocks = self._blocks(symbols=True, digits=digits)
            kept = [block for block in blocks if note or not isinstance(block, Note)]
            return written(plain(kept, "md") + "\n", buf)

    def to_latex(  # type: ignore[override]
        self,
        buf: Any = None,
        *,
        caption: str | None = None,
        label: str | None = None,
        digits: int | None = None,
        note: bool = True,
    ) -> Any:
        """Return the table in LaTeX with booktabs, or write it to a file.

        The line with users and convention stands below the table.

        Parameters
        ----------
        buf : path or file, optional
            Where it is written; without it text is returned.
        caption : str, optional
            LaTeX of the caption.
        label : str, optional
            LaTeX of the label.
        digits : int, optional
            Decimals of the numbers, by default four.
        note : bool, default True
            False leaves out the lines below the table.

        Returns
        -------
        str or None
            The LaTeX, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
        >>> "toprule" in ev.table("recall", k=[1, 2]).to_latex(digits=2, note=False)
        True
        """
        check_flag("note", note)
        check_digits(digits)
        with use_language(self.attrs.get("lang")):
            table = self._rows(symbols=True, digits=digits)
            lines = [
                line.removesuffix(".") if isinstance(line, str) else line
                for line in (self._notes() if note else [])
            ]
            words = caption or inline(table.caption or _("metrics at cut-offs"), "tex")
            text = latex(table, words, label, joined(lines, ". "))
            return written(
                "\n".join([_(r"% needs \usepackage{booktabs}"), text, ""]), buf
            )


def in_lines(blocks: Iterable[object]) -> str:
    """Write tables and notes for a console, each table in its whole width."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Rows):
            lines += [inline(block.caption, "txt"), *aligned_rows(block)]
        elif isinstance(block, Note):
            lines.append(inline(block.line, "txt"))
    return "\n".join(filter(None, lines))


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise OptionError(f"{name}={quoted(value)}: say True or False.")


def check_digits(digits: Any) -> None:
    """Refuse a number of decimals that no number can be shown with."""
    if digits is None:
        return
    is_whole = isinstance(digits, (int, np.integer)) and not isinstance(digits, bool)
    if not is_whole or not 1 <= digits <= 15:
        raise OptionError(f"digits={quoted(digits)}: give a whole number from 1 to 15.")


def number_in(column: str, value: float, digits: int | None = None) -> str:
    """Return a number of a column: a gap with its sign, a small p not rounded to 0."""
    if value != value:
        return "–"
    decimals = 4 if digits is None else digits
    smallest = 10.0**-decimals
    if column in ("p", "p_holm") and value < smallest:
        return f"<{smallest:.{decimals}f}"
    for start, form in FORMATS.items():
        if column.startswith(start):
            return form.format(value, decimals=decimals)
    return f"{value:.{decimals}f}"


def symbol_of(name: str) -> str:
    """Return the symbol of a metric, "nDCG@10" for "ndcg@10"; another name as it is."""
    plain_name, at, k = name.partition("@")
    metric = {**METRICS, **LIST_METRICS}.get(plain_name)
    return name if metric is None else f"{metric.symbol}{at}{k}"


def estimate_of(numbers: Sequence[float], digits: int | None = None) -> Estimate:
    """Return a mean with the ends of its interval, if it has one."""
    mean, low, high = numbers
    value = number_in("", mean, digits)
    if low != low:
        return Estimate(value, signed=True)
    ends = number_in("", low, digits), number_in("", high, digits)
    return Estimate(value, ends, signed=True)


def _level(index: Any, level: int, symbols: bool) -> list[Line]:
    """Return the labels of the rows at one level of the index."""
    labels = index.get_level_values(level)
    if index.names[level] == "k":
        return [_label(k) for k in labels]
    if index.names[level] == "metric" and symbols:
        return [symbol_of(name) for name in labels]
    return [Name(label, NAME_SHOWN) for label in dates_alone(labels)]


def _label(part: Any) -> str:
    """Return the name of a column, such as a cut-off."""
    if _is_whole(part):
        return _("whole list")
    if isinstance(part, float) and part.is_integer():
        return str(int(part))
    return str(part)


def _behind(k: Any) -> str:
    """Return a cut-off behind the name of a metric; nothing for the whole list."""
    return "" if _is_whole(k) else f"@{_label(k)}"


def _is_whole(k: Any) -> bool:
    """Return whether a cut-off is the whole list: None, which is NaN among numbers."""
    return k is None or k != k


# Drawing with matplotlib


def axes(ax: Axes | None, height: float | None = None) -> Axes:
    """Return the axes given, or those of a new figure, `height` inches high."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    if ax is None:
        size = None if height is None else (plt.rcParams["figure.figsize"][0], height)
        ax = plt.figure(figsize=size, layout="constrained").add_subplot()
    elif not isinstance(ax, Axes):
        raise OptionError(
            f"ax= is of type {type(ax).__name__}: give one Axes of matplotlib, such as ax=axes[0]."
        )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def as_text(name: object) -> str:
    """Return a name as text of matplotlib, for which a $ begins a formula."""
    levels = name if isinstance(name, tuple) else (name,)
    text = " ".join(str(level) for level in levels if not pd.isna(level))
    return one_line(text).replace("$", r"\$")


def parts_of(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the means of a table, and the ends of their intervals if it has them."""
    names = ("mean", "low", "high")
    if "low" not in table.columns.get_level_values(-1):
        return [pd.DataFrame(table)]
    if table.columns.nlevels == 1:
        return [table[[name]].set_axis(["mean"], axis=1) for name in names]
    return [pd.DataFrame(table.xs(name, axis=1, level=1)) for name in names]


def draw_intervals(
    ax: Axes | None, parts: Sequence[pd.DataFrame], *, color: Any = None
) -> Axes:
    """Draw points in groups: a line for each row, a colour for each column.

    `parts`: means, and the ends of their intervals if known.
    """
    means, *ends = parts
    n_rows, n_columns = means.shape
    ax = axes(ax)
    for column in range(n_columns):
        mean = means.iloc[:, column].to_numpy(dtype=float)
        offset = 0.7 * ((column + 0.5) / n_columns - 0.5)
        lengths = [
            np.abs(end.iloc[:, column].to_numpy(dtype=float) - mean) for end in ends
        ]
        # Before 3.11 matplotlib takes arrays of one number for numbers, with a warning.
        lengths_of_bars = [length.tolist() for length in lengths]
        ax.errorbar(
            mean,
            [row + offset for row in range(n_rows)],
            xerr=lengths_of_bars or None,
            capsize=3,
            label=as_text(means.columns[column]),
            color=_colour_of(column, color),
            marker=DOTS[column % len(DOTS)],
            linestyle="",
        )
    ax.set_yticks(range(n_rows), [as_text(name) for name in means.index])
    ax.set_ylim(n_rows - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    if n_columns > 1:  # beside the points, of which a row may be anywhere
        ax.legend(
            title=means.columns.name,
            frameon=False,
            loc="upper left",
            bbox_to_anchor=(1, 1),
        )
    return ax


def _colour_of(column: int, color: Any) -> Any:
    """Return the colour of a column; `color`: the one of all, or a list of them."""
    if color is None:
        return COLOURS[column % len(COLOURS)]
    if isinstance(color, list):
        return color[column % len(color)]
    return color


def draw_means(
    ax: Axes | None,
    parts: Sequence[pd.DataFrame],
    label: str,
    *,
    color: Any = None,
    **fonts: Any,
) -> Axes:
    """Draw points of metrics, which are the rows.

    The axis is logarithmic if their scales are far apart.
    """
    largest = parts[0].abs().max(axis=1)
    ax = draw_intervals(axes(ax, 1.7 + 0.25 * parts[0].size), parts, color=color)
    if largest.max() > max(1, 10 * largest.min()):
        ax.set_xscale("symlog", linthresh=0.1)
        label = _("{label}, on a logarithmic scale beyond 0.1", label=label)
    ax.set_xlabel(label, **fonts)
    return ax


def times_of(by: str, segments: Iterable[str]) -> list[Any]:
    """Return when each segment begins; nothing if they are no times.

    That is a date, or the number of a week or year; None of a last one not known.
    """
    words = re.split(r"[\W_\d]+", by.casefold())
    is_named = not TIMES.isdisjoint(words)
    times = [_time_of(segment, is_named) for segment in segments]
    known = times[:-1] if None in times else times
    kinds = {type(time) for time in known}
    if len(times) < 2 or len(kinds) != 1 or type(None) in kinds:
        return []
    return times


def _time_of(segment: str, is_named: bool) -> Any:
    """Return when a segment begins; `is_named`: a whole number is one of a time."""
    start = segment.partition("/")[0]
    with contextlib.suppress(ValueError):
        if re.match(r"\d{4}-W", start):
            return pd.Timestamp.fromisoformat(start)
        if re.match(r"\d{4}(-\d|Q)", start):
            return pd.Period(start).start_time
    return int(start) if is_named and start.isdecimal() else None


def draw_over_time(
    table: pd.DataFrame, times: Mapping[str, Any], ax: Axes | None, color: Any
) -> Axes:
    """Draw each metric of a table of segments at each cut-off as a line over time."""
    of_each: Any = table.groupby(level=[0, 1], sort=False, dropna=False)
    for (name, k), rows in of_each:
        places = pd.Index(
            [times[_segment(key)] for key in rows.index], name=table.attrs["by"]
        )
        line = rows[["mean", "low", "high"]].set_axis(places)
        line.attrs = {"symbol": f"{symbol_of(name)}{at_k(k)}", "n_users": None}
        ax = draw_curve(line[places.notna()], ax, color, marker="o")
    assert ax is not None
    return ax


def _segment(key: tuple[Any, ...]) -> str:
    return ", ".join(map(str, key[2:]))


def draw_curve(
    table: pd.DataFrame, ax: Axes | None = None, color: Any = None, **line: Any
) -> Axes:
    """Draw a line over the index of a table, with its band of intervals.

    `line` goes to matplotlib's plot.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes(ax)
    symbol, n_users = str(table.attrs["symbol"]), table.attrs["n_users"]
    look: dict[str, Any] = {"marker": "o" if len(table) <= 12 else "", "label": symbol}
    if color is not None:
        look["color"] = color
    value, low, high = table.to_numpy(dtype=float).T
    (drawn,) = ax.plot(table.index, value, **look | line)
    colour = drawn.get_color()
    ax.fill_between(table.index, low, high, alpha=0.2, color=colour, linewidth=0)
    if ax.get_autoscaley_on() and not (value < 0).any():
        ax.set_ylim(bottom=0, auto=True)
    if pd.api.types.is_numeric_dtype(table.index):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        ax.tick_params(axis="x", rotation=30)
    with lettering(table.attrs.get("lang", "en")) as fonts:
        along = as_text(table.index.name or "k")
        words = f"{symbol}@k" if along == "k" else as_text(symbol)
        if n_users is not None:
            words = _(
                "{symbol}@{axis}, mean of {users}",
                symbol=symbol,
                axis="k",
                users=sample_in_words(
                    n_users, table.attrs["n_lists"], table.attrs["cluster"]
                ),
            )
        ax.set_xlabel(along, **fonts)
        ax.set_ylabel(words if ax.get_ylabel() in ("", words) else _("value"), **fonts)
    _handles, labels = ax.get_legend_handles_labels()
    if len(set(labels)) > 1:
        ax.legend(frameon=False)
    return ax
