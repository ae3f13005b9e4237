"""`Table`: a DataFrame with the line of users and convention below it.

Every result of several numbers is one. Its numbers are those of the frame, and how they
are shown is said by `Shown`, in plain data: `table.jinja` writes it for a console,
as HTML and as Markdown, and `plots.py` draws the figures.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd

from recnb.display.forms import (
    LATEX,
    Estimate,
    Line,
    Name,
    Number,
    Rows,
    estimate,
    joined,
    opening,
    with_digits,
)
from recnb.display.language import _, ngettext, use_language
from recnb.display.plain import latex_table, printed
from recnb.display.style import lettering
from recnb.display.templates import FormName, framed, write
from recnb.display.text import NAME_SHOWN, TEXT_SHOWN, dates_alone, one_line
from recnb.errors import OptionError, quoted
from recnb.metrics.measure import symbol_of
from recnb.results.files import written
from recnb.results.plots import PLOTS, in_letters
from recnb.results.shown import (
    CELL_KINDS,
    Shown,
    at_cutoff,
    cutoff_label,
    means_and_ends,
)
from recnb.results.verdicts import MARKS, verdict_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Letters of a cell of words.
MOST_LETTERS = 200
#: The template of lists of users.
CARDS = "results/users.jinja"


class Table(pd.DataFrame):
    """Numbers with the users and the convention behind them.

    It is a DataFrame; shown whole, it has a line of small print with users and
    convention, `attrs["basis"]`. What is cut out of it is a plain DataFrame. `plot()`,
    `to_markdown()` and `to_latex()` are recnb's, and take none of the options of
    pandas: these are those of `table.to_frame()`.

    Of means of models `attrs["best"]`, `attrs["near_best"]`, `attrs["better"]` and so on
    have the labels of the rows with these marks, by column.

    Examples
    --------
    >>> import recnb
    >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b"]})
    >>> table = ev.table("recall", k=[1, 2])
    >>> table.attrs["basis"]
    '1 user; ordered by rank; relevant: every pair of the truth; out of all relevant items'
    """

    # What pandas pickles beside the numbers and `attrs`.
    _metadata: ClassVar = [
        "_shown",
        "missed",
        "differences",
        "by_split",
    ]
    _shown: Shown = Shown(lang="en")
    _attrs: dict[Hashable, Any] | None  # None until `attrs` are read
    #: Of one user's list: the relevant items that are not among its rows.
    missed: Table | None = None
    # Tables of `Comparison.runs` alone have these two.
    differences: Table  #: of runs: a row for each pair of models
    by_split: pd.DataFrame  #: of runs: the mean of each split and model

    def __init__(
        self, data: Any = None, *args: Any, shown: Shown | None = None, **options: Any
    ) -> None:
        super().__init__(data, *args, **options)  # type: ignore[call-arg]
        if shown is not None:
            self._shown = shown
            self._attrs = None

    @property
    def attrs(self) -> dict[Hashable, Any]:
        """The basis in words, the title and marks, made when they are read."""
        if self._attrs is None:
            shown = self._shown
            # Text and labels only: pandas writes attrs as JSON where it writes them.
            self._attrs = {
                "basis": "; ".join(shown.basis),
                "title": shown.title,
                **(shown.marks or {}),
            }
        return self._attrs

    @attrs.setter
    def attrs(self, value: Mapping[Hashable, Any]) -> None:
        self._attrs = dict(value)

    @property
    def conclusions(self) -> list[str]:
        """Of differences: what may be concluded of each, in a sentence."""
        return list(self._shown.conclusions)

    @property
    def notes(self) -> list[str]:
        """Of differences and runs: what all of them rest on."""
        return list(self._shown.notes)

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a table: pandas would return a plain frame."""
        again: Self = pickle.loads(pickle.dumps(self))
        return again

    __copy__ = __deepcopy__

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
        has_cutoffs = frame.columns.names[0] == "k"
        levels = [frame.columns.get_level_values(level) for level in (0, 1)]
        names = []
        for column, part in zip(*levels, strict=True):
            if has_cutoffs:
                names.append(f"{part}{at_cutoff(column)}")
            else:
                names.append(str(column) if part == "mean" else f"{column} {part}")
        return frame.set_axis(names, axis=1)

    def plot(self, ax: Axes | None = None, **line: Any) -> Axes:  # type: ignore[override]
        """Draw the table, with the intervals that it has.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where it is drawn, else in a new figure.
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
        shown = self._shown
        if not shown.plot or (line and shown.plot != "curve"):
            what = f"no option {[*line]}" if line else "no figure of its own"
            fix = "the plots of pandas are those of table.to_frame().plot."
            raise OptionError(f"plot() of this table has {what}: {fix}")
        numbers = pd.DataFrame(self)
        if shown.drawn_as:
            numbers = numbers.set_axis([*shown.drawn_as])
        with lettering(shown.lang) as font:
            drawn = PLOTS[shown.plot](numbers, shown, ax, **line)
            return in_letters(drawn, font)

    def __repr__(self) -> str:
        with use_language(self._shown.lang):
            if self._shown.cards is not None:
                return write(CARDS, "txt", cards=self._shown.cards)
            return printed(self._tables(), self._lines_below())

    def _repr_html_(self) -> str:
        shown = self._shown
        with use_language(shown.lang):
            title = shown.frame_title or shown.title or _("metrics at cut-offs")
            if shown.cards is not None:
                return str(framed(title, write(CARDS, "html", cards=shown.cards)))
            return str(framed(title, self._written("html")))

    def to_markdown(  # type: ignore[override]
        self, buf: Any = None, *, digits: int | None = None, note: bool = True
    ) -> Any:
        """Return the table in Markdown, or write it to a file.

        Parameters
        ----------
        buf : path, optional
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
        with use_language(self._shown.lang):
            text = self._written("md", digits=digits, note=note)
            return written(text + "\n", buf)

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
        buf : path, optional
            Where it is written; without it text is returned.
        caption : str, optional
            LaTeX of the caption, by default the title of the table if it has one.
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
        with use_language(self._shown.lang):
            table = with_digits(self._rows(), digits)
            title = caption or LATEX.write(table.caption)
            below: Line = ""
            if note:
                below = joined(map(_without_full_stop, self._lines_below()), ". ")
            lines = [
                _("% needs \\usepackage{{booktabs}}"),
                latex_table(table, title, label, below),
                "",
            ]
            return written("\n".join(lines), buf)

    def _written(
        self, form: FormName, *, digits: int | None = None, note: bool = True
    ) -> str:
        """Write the table, the second one below it and the lines below both."""
        tables = [with_digits(table, digits) for table in self._tables()]
        notes = self._lines_below() if note else []
        return write("results/table.jinja", form, tables=tables, notes=notes)

    def _tables(self) -> list[Rows]:
        """Return the table, and the one below it, as they are shown."""
        tables = [self._rows()]
        below = self._shown.below
        if isinstance(below, Table) and not below.empty:
            tables.append(below._rows())
        return tables

    def _lines_below(self) -> list[Line]:
        """Return the lines below the table, the last of which is its basis."""
        left_out = 0
        if self._shown.pivot is None:  # else models stand side by side, and none is out
            left_out = max(len(self) - self._shown.most, 0)
        more = ngettext(
            "{n:,} more row in .to_frame()", "{n:,} more rows in .to_frame()", left_out
        )
        basis = "; ".join(self._shown.basis)
        lines = [more if left_out else "", *self._shown.remarks, basis]
        return [line for line in lines if line]

    def _frame_shown(self) -> pd.DataFrame:
        """Return the rows and columns that are shown."""
        shown = self._shown
        frame = pd.DataFrame(self)
        if shown.pivot is not None:
            rows, columns, values = shown.pivot
            wide = frame.pivot(index=rows, columns=columns, values=values)
            return wide[frame[columns].unique()]
        frame = frame.head(shown.most)
        if shown.columns:
            frame = frame[[*shown.index, *shown.columns]]
        return frame.set_index([*shown.index]) if shown.index else frame

    def _rows(self) -> Rows:
        """Return the table as it is shown."""
        frame = self._frame_shown()
        names, columns = self._columns_of_cells(frame)
        levels = self._names_of_levels(frame)
        labels = [_labels_of_rows(frame.index, level) for level in range(len(levels))]
        is_numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
        first_number = [*is_numeric, True].index(True)  # or the end
        hits = np.flatnonzero(frame["hit"]).tolist() if "hit" in frame else []
        return Rows(
            header=[*levels, *map(self._heading, names)],
            rows=list(zip(*labels, *columns, strict=True)),
            caption=self._shown.title,
            left=len(levels) + first_number,
            tinted=frozenset(hits),
            n_names=len(levels),
        )

    def _columns_of_cells(
        self, frame: pd.DataFrame
    ) -> tuple[list[Any], list[Sequence[Line]]]:
        """Return the names of the columns, and the cells of each.

        With two levels of columns, a mean and its interval are one cell.
        """
        parts = [frame] if frame.columns.nlevels == 1 else means_and_ends(frame)
        names = list(parts[0].columns)
        columns = list[Sequence[Line]]()
        for index, name in enumerate(names):
            values = zip(*(part.iloc[:, index].array for part in parts), strict=True)
            rows = zip(frame.index, values, strict=True)
            columns.append([self._cell(cell, label, name) for label, cell in rows])
        return names, columns

    def _cell(self, values: Sequence[Any], label: Hashable, column: Any) -> Line:
        """Return a cell: a mean with what is beside it, or a value by its kind."""
        if self._shown.marks is not None or len(values) > 1:
            return self._estimate(values, label, column)
        (value,) = values
        kind = self._shown.cells.get(column)
        if kind is None and self._shown.pivot is None:  # whose columns are the caller's
            kind = CELL_KINDS.get(column)
        match kind, value:
            case "cutoff", _:
                return cutoff_label(value)
            case "verdict", _:
                return verdict_in_words(value)
            case "text", None:
                return ""
            case "text", str():
                return opening(value, TEXT_SHOWN)
            case "words", str():
                return one_line(value, MOST_LETTERS)
            case "difference" | "signed" | "p" | "grade" | "score", float():
                return Number(value, kind)
            case _, bool() | np.bool_():
                return "✓" if value else ""
            case _, float():
                return Number(value)
            case _, int() | np.integer():
                return str(value)
        return Name(value, NAME_SHOWN)

    def _estimate(
        self, numbers: Sequence[float], label: Hashable, column: Any
    ) -> Estimate:
        """Return a cell of a mean, with the ends of its interval and its marks."""
        mean, *ends = numbers
        low, high = ends or (nan, nan)
        marks = self._shown.marks or {}
        kinds = {kind for kind in marks if label in marks[kind].get(column, ())}
        return estimate(
            mean,
            low,
            high,
            Number,
            best="best" in kinds,
            signs="".join(sign for kind, sign in MARKS.items() if kind in kinds),
            of_several=True,
        )

    def _heading(self, column: Any) -> Line:
        """Return the name of a column."""
        if isinstance(column, str) and column in self._shown.headings:
            return self._shown.headings[column]
        if self._shown.marks is not None:
            shown: str = symbol_of(column)
            return shown
        levels = column if isinstance(column, tuple) else (column,)
        return " ".join(map(cutoff_label, levels))

    def _names_of_levels(self, frame: pd.DataFrame) -> list[Line]:
        """Return what stands above the names of rows, for each level of the index."""
        headings = self._shown.headings
        names = [str(headings.get(name, name or "")) for name in frame.index.names]
        columns_name = frame.columns.names[0]
        if columns_name is not None:
            names[-1] = f"{names[-1]} × {columns_name}".removeprefix(" × ")
        return [*names]


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


def _without_full_stop(line: Line) -> Line:
    """Return a line that is followed by a full stop."""
    return line.removesuffix(".") if isinstance(line, str) else line


def _labels_of_rows(index: Any, level: int) -> list[Line]:
    """Return the labels of the rows at one level of the index."""
    labels = index.get_level_values(level)
    if index.names[level] == "k":
        return [cutoff_label(k) for k in labels]
    if index.names[level] in ("metric", "measure"):
        return [symbol_of(name) for name in labels]
    return [Name(label, NAME_SHOWN) for label in dates_alone(labels)]
