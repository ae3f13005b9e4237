"""The number of an answer: reading it, and comparing it with the right value and those of common mistakes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Literal

from recnb.display.language import _
from recnb.display.text import one_line
from recnb.errors import RecnbError, is_number
from recnb.widgets.quiz.mistakes import Mistake

#: An answer with fewer decimals is never right, however far it is from the numbers of mistakes.
FEWEST = 2

#: The error of floating-point arithmetic, far below any digit of an answer.
FLOAT = 1e-9

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")

Verdict = Literal["right", "short", "undecided", "wrong"]


@dataclass(frozen=True)
class Number:
    """The number of an answer."""

    shown: str
    value: float
    decimals: int | None  #: the number of decimals; None for a fraction, which is exact


def read(answer: object) -> Number:
    """Read a number, or text as one writes it: "0.8732", "0,8732", "2/3", "87.32%".

    >>> read("0,87"), read("2/3").decimals, read("87.3 %").value
    (Number(shown='0,87', value=0.87, decimals=2), None, 0.873)
    """
    if isinstance(answer, Decimal):
        answer = str(answer)
    if isinstance(answer, Fraction):
        return Number(str(answer), float(answer), None)
    if is_number(answer):
        # The decimals of a float are those of its shortest form; a whole number has none.
        text = str(int(answer)) if isinstance(answer, Rational) else repr(float(answer))
        return Number(text if len(text) < 12 else f"{float(answer):.6g}", float(answer), _decimals(Decimal(text)))
    if not isinstance(answer, str):
        text = one_line(repr(answer), 60)
        shown = text if len(text) < 60 else f"a {type(answer).__name__}"
        raise RecnbError(f"the answer is {shown}: give a number, such as 0.1234, or text, such as '2/3'.")
    number = _read_text(answer)
    if number is None:
        shown = repr(one_line(answer, 40))
        raise RecnbError(
            _("{text} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%'.", text=shown)
        )
    return number


def _read_text(answer: str) -> Number | None:
    shown = one_line(answer.strip(), 40)
    # Korean and Japanese keyboards type full-width digits.
    text = unicodedata.normalize("NFKC", answer).strip().replace("−", "-").lower()
    if "/" in text:
        over, under = map(_decimal, text.split("/", 1))
        return None if over is None or not under else Number(shown, float(Fraction(over) / Fraction(under)), None)
    value = _decimal(text.removesuffix("%"))
    if value is None:
        return None
    if text.endswith("%"):
        value = value.scaleb(-2)
    return Number(shown, float(value), _decimals(value))


def _decimal(text: str) -> Decimal | None:
    text = text.strip()
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:  # an exponent of many digits
        return None
    return value if abs(value.adjusted()) < 100 else None  # larger numbers may be no floats


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def judge(
    answer: Number, value: float, slips: Sequence[Mistake], digits: int
) -> tuple[Verdict, tuple[Mistake, ...], bool]:
    """Return whether an answer is right, the mistakes that give its number, and whether only its last digit is wrong.

    It is right if it is the value rounded to `digits` decimals. With fewer decimals it is compared at these: right
    ("short") if they distinguish the value from those of all mistakes, else undecided; with less than two undecided.
    """

    def equals(number: float, decimals: int) -> bool:
        return abs(answer.value - number) <= 0.5 * 10.0**-decimals + FLOAT

    if equals(value, digits):
        return "right", (), False
    decimals = digits if answer.decimals is None else min(answer.decimals, digits)
    enough = decimals >= FEWEST
    fitting = tuple(slip for slip in slips if equals(slip.value, digits))
    if enough and not fitting:
        fitting = tuple(slip for slip in slips if equals(slip.value, decimals))
    if decimals < digits and equals(value, decimals) and (enough or not fitting):
        return ("short" if enough and not fitting else "undecided"), (), False
    near = enough and not fitting and abs(answer.value - value) <= 1.5 * 10.0**-decimals + FLOAT
    return "wrong", fitting, near
