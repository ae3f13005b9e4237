"""The number of an answer: reading it, and comparing it with the right value and those of common mistakes."""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal

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
    value = _decimal(text.removesuffix("%"))
    if value is None:
        worked_out = _arithmetic(text)
        return None if worked_out is None else Number(shown, worked_out, None)
    if text.endswith("%"):
        value = value.scaleb(-2)
    return Number(shown, float(value), _decimals(value))


_SIGNS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip


def _arithmetic(text: str) -> float | None:
    """The value of a sum as solutions print it, such as "(1+2/3)/4" or "3/log2(1+1)"; None if it is none.

    >>> _arithmetic("(1 + 2/3)/4 * 3"), _arithmetic("3/log2(1+1)"), _arithmetic("1/0"), _arithmetic("open(1)")
    (1.25, 3.0, None, None)
    """
    plain = (
        re.sub(r"(?<=\d),(?=\d)", ".", text).replace("^", "**").replace("×", "*").replace("·", "*").replace("÷", "/")
    )
    if len(plain) > 400:
        return None
    try:
        tree = ast.parse(plain, mode="eval").body
        if isinstance(tree, ast.Constant):
            return None
        value = float(_worked_out(tree))
    except (SyntaxError, ValueError, TypeError, ArithmeticError, KeyError, RecursionError, MemoryError):
        return None
    return value if math.isfinite(value) else None


def _worked_out(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.BinOp(left=left, op=sign, right=right):
            first, second = _worked_out(left), _worked_out(right)
            if isinstance(sign, ast.Pow) and max(abs(first), abs(second)) > 100:
                raise ValueError
            return _SIGNS[type(sign)](first, second)
        case ast.UnaryOp(op=sign, operand=operand):
            return _SIGNS[type(sign)](_worked_out(operand))
        case ast.Call(func=ast.Name(id="log2"), args=[argument], keywords=[]):
            return math.log2(_worked_out(argument))
    raise ValueError


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
