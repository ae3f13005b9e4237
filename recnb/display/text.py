"""Text of the user's made safe for each form; numbers as they are shown.

The forms are plain text, HTML, Markdown and LaTeX.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime, time
from math import isfinite
from typing import Any, Self

from markupsafe import Markup, escape

from recnb.display.language import _, current, ngettext, pgettext

#: The longest name that is shown whole.
NAME_SHOWN = 60

#: Letters of a title, or of the text of an item that has none.
TEXT_SHOWN = 80

#: A difference closer to 0 than this is what sums in another order leave of none.
ROUNDING = 1e-12


class Phrase(str):
    """A phrase below a number that the one line of a score has too, in few words.

    A phrase that is plain text changes no number, or goes without saying.
    """

    short: str

    def __new__(cls, words: str, short: str | None = None) -> Self:
        """Pack the phrase with its few words; None: it has few."""
        self = super().__new__(cls, words)
        self.short = words if short is None else short
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.short)


_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_TURNS = frozenset(
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "`": r"\textasciigrave{}",
        # Where a row of a table begins, these belong to the command that ends the last.
        "[": "{[}",
        "*": "{*}",
        **{sign: "\\" + sign for sign in "&%$#_{}"},
        "\0": "{}",
        "−": "--",
        "–": "--",
        "×": r"$\times$",
        "…": r"\ldots{}",
        "▲": r"$\ast$",
        "▼": r"$\ddagger$",
        "°": r"$\circ$",
        "○": r"$\circ$",
        "◇": r"$\diamond$",
        "△": r"$\triangle$",
        "▽": r"$\nabla$",
        "✓": r"$\surd$",
        "→": r"$\to$",
    }
)
_MARKDOWN = str.maketrans(
    {sign: "\\" + sign for sign in "\\`*_[]#~|"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;"}
)

#: A hyphen before another one; an address of mail, whose sign nDCG@10 has as well.
_HYPHENS = re.compile("-(?=-)")
_MAIL = re.compile(r"([\w.+-])@([\w-]+\.\w)")


def one_line(value: object, longest: int = NAME_SHOWN) -> str:
    """Return anything of the user's on one line.

    It has no line breaks, and nothing that turns the direction of what follows.
    """
    # Cut before looking at each character: a name may be as long as a book.
    plain = cut(str(value), longest)
    if plain.isprintable():
        return plain
    return "".join(map(_shown, plain))


def beginning(text: str, longest: int = TEXT_SHOWN) -> str:
    """Return the beginning of a title or of a text, on one line."""
    if len(text) <= longest:
        return one_line(text, longest)
    return one_line(text[: longest - 1], longest) + "…"


def cut(text: str, longest: int) -> str:
    """Cut a text in its middle to so many letters.

    Names that differ at their ends, as versions do, are told apart.
    """
    if len(text) <= longest:
        return text
    n_last = longest // 3
    return f"{text[: longest - 1 - n_last]}…{text[len(text) - n_last :]}"


def _shown(sign: str) -> str:
    """Return a sign as it is shown: spaces for breaks, nothing for what is unseen."""
    if sign in _SPACES:
        return " "
    if sign in _TURNS or unicodedata.category(sign) in ("Cc", "Cs"):
        return ""
    return sign


def dates_alone(values: Sequence[Any]) -> list[Any]:
    """Return values, of times the dates if all of them are at midnight."""
    times = [value for value in values if _is_time(value)]
    if any(value.time() != time() for value in times):
        return [*values]
    return [value.date() if _is_time(value) else value for value in values]


def _is_time(value: Any) -> bool:
    """Return whether a value is a time, and not pandas' missing one."""
    return isinstance(value, datetime) and value == value


def html_text(value: object, longest: int = NAME_SHOWN) -> Markup:
    """Return anything of the user's as text of HTML.

    An address is not to become a link.
    """
    escaped = str(escape(one_line(value, longest)))
    return Markup(escaped.replace("://", ":&#47;&#47;"))


def latex_text(value: object, longest: int = NAME_SHOWN) -> str:
    """Return anything of the user's as text of LaTeX.

    LaTeX would make one dash of two hyphens.
    """
    text = _HYPHENS.sub("-\0", one_line(value, longest))
    return text.translate(_LATEX)


def markdown_text(value: object, longest: int = NAME_SHOWN) -> str:
    """Return anything of the user's as text of Markdown, also within a table.

    An address is not to become a link.
    """
    text = one_line(value, longest).translate(_MARKDOWN)
    text = text.replace("://", "&#58;//").replace("www.", "www&#46;")
    return _MAIL.sub(r"\1&#64;\2", text)


def fixed(value: float) -> str:
    """Return a number as it is shown, with four decimals.

    A small one is not rounded to none.
    """
    if not isfinite(value):
        return _("n/a")
    if 0 < abs(value) < 0.00005:
        return f"{value:.1e}"
    if 1e6 <= abs(value) < 1e15:
        return f"{value:.0f}"
    if abs(value) < 1e6:
        return f"{value:.4f}"
    return f"{value:.4g}"


def signed(value: float, digits: int | None = None) -> str:
    """Return a difference as it is shown, or with so many digits.

    One of rounding alone is none.
    """
    if abs(value) < ROUNDING:
        value = 0.0
    shown = fixed(value) if digits is None else f"{value:.{digits}f}"
    if isfinite(value) and value > 0:
        return f"+{shown}"
    return shown


def sign_between(low: str) -> str:
    """Return the sign between the ends of an interval.

    A dash is not put after a lower end that has a sign.
    """
    return "–" if low[:1].isdigit() else " … "


def arrow(value: float) -> str:
    """Return a change with an arrow; nothing for none.

    So its direction is seen without colour.
    """
    if abs(value) < ROUNDING:
        return ""
    direction = "▲" if value > 0 else "▼"
    return f"{direction} {signed(value)}"


def trimmed(value: float) -> str:
    """Return a value without zeros at the end, where it has no other decimals."""
    if round(value, 4) == value:
        return f"{value:.10g}"
    return fixed(value)


def short(value: float) -> str:
    """Return a number on an axis."""
    return f"{value:.6g}"


def bin_in_words(low: float, high: float, has_low: bool, has_high: bool) -> str:
    """Return a bin with its ends, and whether it holds each of them."""
    ends = {"low": short(low), "high": short(high)}
    if has_low and has_high:
        return pgettext("last bin", "{low} to {high}", **ends)
    if has_low:
        return _("{low} to <{high}", **ends)
    if has_high:
        return _(">{low} to {high}", **ends)
    return _(">{low} to <{high}", **ends)


def whole(value: float) -> str:
    """Return a number that somebody typed, with all its digits."""
    return repr(float(value)).removesuffix(".0")


def told_apart(value: float, *others: float) -> str:
    """Return a number with four decimals, or with more.

    It has as many as others have and as show on which side of them it lies.
    """
    least = 4
    for other in others:
        least = max(least, len(whole(other).partition(".")[2]))
    for decimals in range(least, 18):
        text = f"{value:.{decimals}f}"
        if _sides(float(text), others) == _sides(value, others):
            return text
    return repr(float(value))


def _sides(value: float, others: tuple[float, ...]) -> list[tuple[bool, bool]]:
    """Say of each other number whether a value is above it, and below it."""
    return [(value > other, value < other) for other in others]


def users_in_words(n: int) -> str:
    """Return a number of users in words."""
    return ngettext("{n:,} {user}", "{n:,} {users}", n)


def sample_in_words(n_users: int, n_lists: int | None = None, cluster: str = "") -> str:
    """Return a number of users in words, with that of lists if they have several.

    `cluster`: the column whose values are drawn instead of users.
    """
    if n_lists is not None and cluster:
        values = ngettext(
            "{n:,} value of {column}",
            "{n:,} values of {column}",
            n_users,
            column=one_line(cluster),
        )
        return ngettext(
            "{n:,} list in {values}", "{n:,} lists in {values}", n_lists, values=values
        )
    users = users_in_words(n_users)
    if n_lists is None:
        return users
    return ngettext(
        "{n:,} list of {users}", "{n:,} lists of {users}", n_lists, users=users
    )


def with_symbol(term: str, symbol: str) -> str:
    """Return what a metric is called where it has a row of its own.

    Its symbol, which is English, and in other languages the words before it.
    """
    if current() == "en":
        return symbol
    return f"{term}({symbol})"


def at_k(k: int | None) -> str:
    """Return a cut-off as the header of a column."""
    if k is None:
        return _("whole list")
    return f"@{k}"
