"""Lines and tables of text: what a console shows, Markdown and LaTeX."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from recnb.display.forms import (
    CONSOLE,
    LATEX,
    MARKDOWN,
    Estimate,
    Line,
    Mark,
    Rows,
)
from recnb.display.language import N_, _, ngettext, width
from recnb.display.text import cut

#: The columns of a console, and of a line of small print on it.
COLUMNS = 100
SMALL_PRINT = 88
BETWEEN = "  "  #: columns of a table
WITHOUT_INTERVALS = N_("Intervals have no room here: HTML and Markdown have them.")
SHORTEST = 8  #: columns of a name, of several that share a line


def markdown_table(table: Rows) -> str:
    """Return a table of Markdown, its caption above and its note below."""
    header, rows = MARKDOWN.cells(table)
    n_numbers = len(header) - table.left
    rule = ["---"] * table.left + ["---:"] * n_numbers
    lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
    title = ""
    if table.caption:
        title = MARKDOWN.write(Mark("strong", table.caption))
    parts = [title, "\n".join(lines), MARKDOWN.write(table.note)]
    return "\n\n".join(filter(None, parts))


def console_table(table: Rows) -> str:
    """Return a table on a page of a console, without intervals if they have no room.

    A line says so. What is still too wide is written in parts.
    """
    shown = replace(table, rows=table.rows[: table.most])
    left_out = ""
    if max(map(width, aligned_rows(shown))) > COLUMNS and _has_interval(shown):
        shown = shown.with_cells(_without_interval)
        left_out = wrapped(_(WITHOUT_INTERVALS))
    lines = fitted_rows(shown)
    n_left_out = len(table.rows) - len(shown.rows)
    more = ""
    if n_left_out:
        more = f"({ngettext('{n} more row', '{n} more rows', n_left_out)})"
    caption = wrapped(CONSOLE.write(table.caption))
    note = wrapped(CONSOLE.write(table.note))
    return "\n".join(filter(None, [caption, *lines, more, note, left_out]))


def printed(tables: Iterable[Rows], notes: Iterable[Line]) -> str:
    """Return tables and the small print below them for a console, in its columns."""
    lines = list[str]()
    for table in tables:
        lines += [wrapped(CONSOLE.write(table.caption)), *fitted_rows(table)]
    for note in notes:
        lines.append(wrapped(CONSOLE.write(note), columns=SMALL_PRINT))
    return "\n".join(filter(None, lines))


def whole_table(table: Rows) -> str:
    """Return a table for a console with all its rows, however wide they are."""
    caption, note = CONSOLE.write(table.caption), CONSOLE.write(table.note)
    return "\n".join(filter(None, [caption, *aligned_rows(table), note]))


def latex_table(
    table: Rows, caption: str, label: str | None = None, below: Line = ""
) -> str:
    """Return a table in the style of booktabs with what is below it.

    Caption and label are LaTeX.
    """
    header, rows = LATEX.cells(table)
    columns = "l" * table.left + "r" * (len(header) - table.left)
    lines = [r"\begin{table}", r"\centering"]
    if caption:
        lines.append(rf"\caption{{{caption}}}")
    if label:
        lines.append(rf"\label{{{label}}}")
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(header) + r" \\", r"\midrule"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    note = LATEX.write(below).strip()
    if note:
        lines += ["", r"\smallskip", rf"{{\footnotesize\raggedright {note}\par}}"]
    return "\n".join([*lines, r"\end{table}"])


def aligned_rows(table: Rows) -> list[str]:
    """Return the lines of a table for a console, in its whole width.

    Columns of numbers are aligned to the right.
    """
    header, rows = CONSOLE.cells(table)
    return _aligned_lines([header, *rows], table.left)


def fitted_rows(table: Rows) -> list[str]:
    """Return the lines of a table for a console, a wide one in parts below each other.

    Each part begins with the columns that name the rows, which take half of it at most.
    What is longer than there is room for is cut in its middle.
    """
    lines = aligned_rows(table)
    if max(map(width, lines)) <= COLUMNS:
        return lines
    header, rows = CONSOLE.cells(table)
    columns: list[Sequence[str]] = [*zip(header, *rows, strict=True)]
    n_names = table.left if table.n_names is None else table.n_names
    names = _names_in_half(columns[:n_names])
    room = COLUMNS - _width_of(names) - len(BETWEEN)
    others = [[_shortened(cell, room) for cell in each] for each in columns[n_names:]]
    n_left = table.left - n_names  # columns of text among the others, which come first
    lines = []
    while others:
        part = _that_fit(others, room)
        in_rows = [*zip(*names, *part, strict=True)]
        lines += _aligned_lines(in_rows, n_names + max(0, min(n_left, len(part))))
        others, n_left = others[len(part) :], n_left - len(part)
    return lines


def _names_in_half(columns: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return columns of names, the longest cut so that all take half of a line."""
    longest = COLUMNS // 2
    names = columns
    while _width_of(names) > COLUMNS // 2 and longest > SHORTEST:
        longest -= 1
        names = [[_shortened(cell, longest) for cell in column] for column in columns]
    return names


def _that_fit(columns: Sequence[Sequence[str]], room: int) -> Sequence[Sequence[str]]:
    """Return the first of some columns, as many as there is room for."""
    n_columns = 1
    while n_columns < len(columns) and _width_of(columns[: n_columns + 1]) <= room:
        n_columns += 1
    return columns[:n_columns]


def _width_of(columns: Sequence[Sequence[str]]) -> int:
    """Return how wide columns are beside each other."""
    widths = [max(map(width, column)) for column in columns]
    return sum(widths) + len(BETWEEN) * (len(columns) - 1)


def _aligned_lines(rows: Sequence[Sequence[str]], n_left: int) -> list[str]:
    """Put the cells of rows into columns, the first ones aligned to the left."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for column, (cell, wide) in enumerate(zip(row, widths, strict=True)):
            # A Korean letter takes two columns, which str.ljust does not know.
            gap = " " * (wide - width(cell))
            cells.append(cell + gap if column < n_left else gap + cell)
        lines.append(BETWEEN.join(cells).rstrip())
    return lines


def _has_interval(table: Rows) -> bool:
    """Return whether some cell of a table has an interval."""
    cells = chain.from_iterable(table.rows)
    return any(isinstance(cell, Estimate) and cell.ends for cell in cells)


def _without_interval(cell: Line) -> Line:
    """Return a cell without its interval."""
    return replace(cell, ends=None) if isinstance(cell, Estimate) else cell


def wrapped(
    words: str, first: str = "", most: int | None = None, columns: int = COLUMNS
) -> str:
    """Break words into lines of a console, at most so many.

    `first` begins the first line.
    """
    # A Korean letter takes two columns, which textwrap does not know: each is followed
    # by a sign that is taken out again.
    plain_words = " ".join(str(words).split())
    letters = [letter + "\0" * (width(letter) - 1) for letter in plain_words]
    filled = textwrap.fill(
        "".join(letters),
        columns,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" …",
    )
    return filled.replace("\0", "")


def _shortened(cell: str, columns: int) -> str:
    """Cut a cell of a console to a width."""
    shown, longest = cell, columns
    while width(shown) > columns:  # where a letter takes two columns, again
        shown = cut(cell, longest)
        longest -= 1
    return shown
