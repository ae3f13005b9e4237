"""Text of the user's made safe for plain text, Markdown and LaTeX; numbers as they are shown; tables of text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import NamedTuple, TypeVar

from recnb.display.language import _, width

T = TypeVar("T")

#: The longest name that is shown whole.
NAME_SHOWN = 60

_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": r"\textasciigrave{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"}, "−": "--", "–": "--", "×": r"$\times$", "…": r"\ldots{}",
    "▲": r"$\ast$", "▼": r"$\ddagger$", "°": r"$\circ$", "○": r"$\circ$", "◇": r"$\diamond$", "△": r"$\triangle$", "▽": r"$\nabla$",
}  # fmt: skip
_MARKDOWN = {
    **{sign: "\\" + sign for sign in "\\`*_[]#~|"}, "&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;",
}  # fmt: skip


def one_line(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's on one line: no line breaks, nothing that turns the direction of what follows.

    >>> one_line("two\nlines"), one_line("x" * 100, 5)
    ('two lines', 'xxxx…')
    """
    # Cut before looking at each character: a name may be as long as a book.
    plain = str(value)[: longest + 1]
    if plain.isprintable():
        kept = plain
    else:
        kept = "".join(" " if sign in _SPACES else sign for sign in plain if sign in _SPACES or _shows(sign))
    return kept if len(plain) <= longest else kept[: longest - 1] + "…"


def _shows(sign: str) -> bool:
    return sign not in _TURNS and unicodedata.category(sign) not in ("Cc", "Cs")


def latex_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of LaTeX.

    >>> print(latex_text("50% of {a_b} & $c^2$"))
    50\% of \{a\_b\} \& \$c\textasciicircum{}2\$
    """
    return "".join(_LATEX.get(sign, sign) for sign in one_line(value, longest))


def markdown_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of Markdown, also within a table.

    >>> print(markdown_text("a|b <i> *c* $5"))
    a\|b &lt;i&gt; \*c\* &#36;5
    """
    escaped = "".join(_MARKDOWN.get(sign, sign) for sign in one_line(value, longest))
    return escaped.replace("://", "&#58;//")  # an address is not to become a link


def fixed(value: float) -> str:
    """A mean as it is shown.

    >>> fixed(0.25), fixed(2.0**70), fixed(float("nan"))
    ('0.2500', '1.181e+21', 'n/a')
    """
    if not isfinite(value):
        return _("n/a")
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"


def whole(value: float) -> str:
    """A number that somebody typed, with all its digits.

    >>> whole(0.258903123), whole(1.0)
    ('0.258903123', '1')
    """
    return repr(float(value)).removesuffix(".0")


def told_apart(value: float, *others: float) -> str:
    """A number with four decimals, or with as many as others have and as show on which side of them it lies.

    >>> told_apart(0.25, 0.3), told_apart(0.30001, 0.3), told_apart(0.25891, 0.258903)
    ('0.2500', '0.30001', '0.258910')
    """

    def sides(number: float) -> list[int]:
        return [(number > other) - (number < other) for other in others]

    least = max([4, *(len(whole(other).partition(".")[2]) for other in others)])
    texts = (f"{value:.{decimals}f}" for decimals in range(least, 18))
    return next((text for text in texts if sides(float(text)) == sides(value)), repr(float(value)))


def trimmed(value: float) -> str:
    """A value without zeros at the end, where it has no other decimals.

    >>> trimmed(3.0), trimmed(0.5), trimmed(1 / 3)
    ('3', '0.5', '0.3333')
    """
    digits = fixed(value)
    return digits.rstrip("0").rstrip(".") if "." in digits and round(value, 4) == value else digits


def change(value: float) -> str:
    """The effect of one step: a difference with its sign, of which a small one is not rounded to none.

    >>> change(0.25), change(-1.5), change(0.0), change(2e-7)
    ('+0.2500', '−1.5000', '±0', '+2e-07')
    """
    if value == 0:
        return "±0"
    return ("+" if value > 0 else "−") + (fixed(abs(value)) if abs(value) >= 5e-5 else f"{abs(value):.0e}")


def arrow(value: float) -> str:
    """A change with an arrow, so that its direction is seen without colour; nothing for none.

    >>> arrow(0.25), arrow(0.0)
    ('▲ +0.2500', '')
    """
    return "" if value == 0 else f"{'▲' if value > 0 else '▼'} {change(value)}"


def ends(low: float, high: float, between: str = "–") -> str:
    """An interval as it is shown.

    >>> ends(0.1, 0.3), ends(float("nan"), float("nan"))
    ('0.1000–0.3000', 'n/a')
    """
    return f"{fixed(low)}{between}{fixed(high)}" if isfinite(low) and isfinite(high) else _("n/a")


def some(values: Sequence[T], most: int) -> list[T]:
    """At most so many of the values, spread evenly, the first and the last among them.

    >>> some(range(1, 101), 4), some([5, 10], 4)
    ([1, 34, 67, 100], [5, 10])
    """
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def at_k(k: int | None) -> str:
    """A cut-off as the header of a column."""
    return _("whole list") if k is None else f"@{k}"


def signed(value: float) -> str:
    """A difference as it is shown.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.2500', '-0.2500', '0.0000')
    """
    return f"+{fixed(value)}" if isfinite(value) and value > 0 else fixed(value)


def short(value: float) -> str:
    """A number on an axis.

    >>> short(0.5), short(20.0), short(0.25)
    ('0.5', '20', '0.25')
    """
    return f"{value:.6g}"


def percent(share: float) -> str:
    """A share in few characters; a small one is not rounded to 0.

    >>> percent(0.314), percent(0.0), percent(0.002), percent(1.0), percent(0.999)
    ('31%', '0%', '<1%', '100%', '>99%')
    """
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table for a console: the first columns are aligned to the left, the others to the right.

    >>> aligned([["metric", "@5"], ["ndcg", "0.25"]])
    ['metric    @5', 'ndcg    0.25']
    """
    # A Korean letter takes two columns, which str.ljust and str.rjust do not know.
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        rooms = [" " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)]
        cells = zip(row, rooms, strict=True)
        padded = [f"{cell}{room}" if at < left else f"{room}{cell}" for at, (cell, room) in enumerate(cells)]
        lines.append("  ".join(padded).rstrip())
    return lines


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table of Markdown, of cells that are Markdown already; columns are aligned as in `aligned`.

    >>> print(markdown_table(["metric", "@5"], [["ndcg", "0.25"]]))
    | metric | @5 |
    | --- | ---: |
    | ndcg | 0.25 |
    """
    rule = ["---" if at < left else "---:" for at in range(len(header))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


class LatexTable(NamedTuple):
    """A table of LaTeX in the style of booktabs; its parts are LaTeX already, and a row of text is a rule."""

    columns: str
    rows: Sequence[Sequence[str] | str]
    caption: str  #: one sentence
    note: str = ""  #: below the table

    def text(self, label: str | None = None) -> str:
        """The table with its caption above it, and its note below."""
        body = [row if isinstance(row, str) else " & ".join(row) + r" \\" for row in self.rows]
        named = [rf"\caption{{{self.caption}}}", *([rf"\label{{{label}}}"] if label else [])]
        head = [r"\begin{table}", r"\centering", *named, rf"\begin{{tabular}}{{{self.columns}}}", r"\toprule"]
        note = ["", r"\smallskip", rf"{{\footnotesize\raggedright {self.note}\par}}"] if self.note else []
        return "\n".join([*head, *body, r"\bottomrule", r"\end{tabular}", *note, r"\end{table}"])
