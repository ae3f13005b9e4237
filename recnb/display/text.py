"""Text of the user's made safe for each form of output, and numbers as they are shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from math import isfinite

from recnb.display.language import _

#: The longest name that is shown whole.
NAME_SHOWN = 60

_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": r"\textasciigrave{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"}, "−": "--", "–": "--", "×": r"$\times$", "…": r"\ldots{}",
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
    kept = "".join(" " if one in _SPACES else one for one in plain if one in _SPACES or _shows(one))
    return kept if len(plain) <= longest else kept[: longest - 1] + "…"


def _shows(one: str) -> bool:
    return one not in _TURNS and unicodedata.category(one) not in ("Cc", "Cs")


def latex_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of LaTeX.

    >>> print(latex_text("50% of {a_b} & $c^2$"))
    50\% of \{a\_b\} \& \$c\textasciicircum{}2\$
    """
    return "".join(_LATEX.get(one, one) for one in one_line(value, longest))


def markdown_text(value: object, longest: int = NAME_SHOWN) -> str:
    r"""Anything of the user's as text of Markdown, also within a table.

    >>> print(markdown_text("a|b <i> *c* $5"))
    a\|b &lt;i&gt; \*c\* &#36;5
    """
    escaped = "".join(_MARKDOWN.get(one, one) for one in one_line(value, longest))
    return escaped.replace("://", "&#58;//")  # an address is not to become a link


def fixed(value: float) -> str:
    """A mean as it is shown.

    >>> fixed(0.25), fixed(2.0**70), fixed(float("nan"))
    ('0.2500', '1.181e+21', 'n/a')
    """
    if not isfinite(value):
        return _("n/a")
    return f"{value:.4f}" if abs(value) < 1e6 else f"{value:.4g}"


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


def some(values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values, spread evenly, the first and the last among them.

    >>> some(range(1, 101), 4), some([5, 10], 4)
    ([1, 34, 67, 100], [5, 10])
    """
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def signed(value: float) -> str:
    """A difference as it is shown.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.2500', '-0.2500', '0.0000')
    """
    return f"+{fixed(value)}" if isfinite(value) and value > 0 else fixed(value)
