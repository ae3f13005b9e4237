"""How a `Table` is shown: `Shown`, pickled as plain data, and names of its parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from recnb.caching import cached_property
from recnb.display.forms import Line
from recnb.display.language import _, current, use_language

#: Kinds of cells, for columns whose values do not say it: a cut-off, a verdict, words of
#: recnb's own, a title or text of the caller's, or the look of a number.
Cell = Literal[
    "cutoff",
    "verdict",
    "words",
    "text",
    "difference",
    "signed",
    "p",
    "grade",
    "score",
]

#: The kind of cell of columns that are alike in every table, by name.
CELL_KINDS: dict[Any, Cell] = {
    "k": "cutoff",
    "p": "p",
    "p_holm": "p",
    "gap": "signed",
    "gap_low": "signed",
    "gap_high": "signed",
    "rank": "grade",
    "relevance": "grade",
    "score": "score",
}


class WordedLater(Sequence[str]):
    """Phrases that are worded when they are first read, of data that are let go then.

    They are in the language in force when they were asked for. A pickle has the words.
    """

    def __init__(self, make: Callable[[], Sequence[str]]) -> None:
        self._make, self._lang = make, current()

    @cached_property
    def _words(self) -> list[str]:
        with use_language(self._lang):
            words = list(self._make())
        self._make = lambda: words  # also for a thread that reads them meanwhile
        return words

    def __getitem__(self, index: Any) -> Any:
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._words,)


@dataclass(frozen=True, eq=False)
class Shown:
    """How a table is shown; it is pickled with the table as plain data."""

    title: str = ""
    basis: Sequence[str] = ()  #: the phrases of the line with users and convention
    remarks: Sequence[Line] = ()  #: lines between the table and its basis
    lang: str = field(default_factory=current)
    most: int = 50  #: rows that are shown

    index: Sequence[str] = ()  #: columns that name the rows, if the index does not
    columns: Sequence[str] = ()  #: the columns shown beside them; all if none is named
    #: The columns whose values are the rows, the columns and the cells of what is shown.
    pivot: tuple[str, str, str] | None = None
    headings: Mapping[Any, str] = field(default_factory=dict)  #: of columns and levels
    cells: Mapping[str, Cell] = field(default_factory=dict)  #: by column
    #: Of means of models: by the kind of mark and the column, the labels of its rows.
    marks: Mapping[Any, Mapping[str, Sequence[Hashable]]] | None = None
    below: pd.DataFrame | None = None  #: a second table, between this one and the notes
    #: The lists of users (`UserCards`), on a console and in HTML in place of the rows.
    cards: Any = None
    frame_title: str = ""  #: what a screen reader says of the HTML, if not the title

    conclusions: Sequence[str] = ()  #: of differences: what may be concluded of each
    notes: Sequence[str] = ()  #: of differences and runs: what all of them rest on

    plot: str = ""  #: a name of `PLOTS`, or nothing for a table without a figure
    drawn_as: Sequence[str] = ()  #: the names of rows there, if not those of the index
    symbol: str = ""  #: of the metric of a curve
    #: Whom a curve is the mean of, as `UserSample.counted`.
    counted: Mapping[str, Any] | None = None


def means_and_ends(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the means of a table, and the ends of their intervals if it has them."""
    names = ("mean", "low", "high")
    if "low" not in table.columns.get_level_values(-1):
        return [pd.DataFrame(table)]
    if table.columns.nlevels == 1:
        return [table[[name]].set_axis(["mean"], axis=1) for name in names]
    return [pd.DataFrame(table.xs(name, axis=1, level=1)) for name in names]


def cutoff_label(part: Any) -> str:
    """Return the name of a column, such as a cut-off."""
    if is_whole(part):
        return _("whole list")
    if isinstance(part, float) and part.is_integer():
        return str(int(part))
    return str(part)


def at_cutoff(k: Any) -> str:
    """Return a cut-off behind the name of a metric; nothing for the whole list."""
    return "" if is_whole(k) else f"@{cutoff_label(k)}"


def is_whole(k: Any) -> bool:
    """Return whether a cut-off is the whole list: None, which is NaN among numbers."""
    return k is None or k != k
