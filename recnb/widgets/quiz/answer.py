"""The number of an answer: reading it, and comparing it with the right value and those of common mistakes."""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, NamedTuple

from recnb.display.language import _
from recnb.display.text import one_line
from recnb.errors import RecnbError, is_number
from recnb.widgets.quiz.mistakes import Mistake

#: An answer with fewer decimals is never right, however far it is from the numbers of mistakes.
FEWEST = 2

#: The error of floating-point arithmetic, far below any digit of an answer.
FLOAT = 1e-9

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?")
_SIGNS: dict[Any, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip
_FUNCTIONS: dict[str, Any] = {"log2": math.log2, "log10": math.log10, "ln": math.log, "max": max, "min": min}

Verdict = Literal["right", "short", "undecided", "wrong"]


class Number(NamedTuple):
    """The number of an answer."""

    shown: str
    value: float
    decimals: int | None  #: the number of decimals; None for a fraction and a sum, which are exact


def read(answer: object) -> Number:
    """Read a number, or text as one writes it: "0.8732", "0,8732", "87.32%", "2/3", "(1+2/3)/4".

    >>> read("0,87"), read("2/3").decimals, read("87.3 %").value
    (Number(shown='0,87', value=0.87, decimals=2), None, 0.873)
    """
    if is_number(answer):  # the decimals of a float are those of its shortest form
        answer = str(answer) if isinstance(answer, Rational) else repr(float(answer))
    elif isinstance(answer, Decimal):
        answer = str(answer)
    if not isinstance(answer, str):
        shown = one_line(repr(answer), 60)
        shown = shown if len(shown) < 60 else f"a {type(answer).__name__}"
        raise RecnbError(f"the answer is {shown}: give a number, such as 0.1234, or text, such as '2/3'.")
    # Korean and Japanese keyboards type full-width digits.
    plain = unicodedata.normalize("NFKC", answer).strip().lower().translate(str.maketrans("−×·÷", "-**/"))
    plain = re.sub(r",(?=\d)", ".", plain).replace("^", "**")
    decimal, decimals = plain.removesuffix("%").strip(), None
    try:
        if len(decimal) <= 40 and _DECIMAL.fullmatch(decimal):
            exact = Decimal(decimal).scaleb(-2 if plain.endswith("%") else 0)
            value, decimals = float(exact), max(0, -int(exact.as_tuple().exponent))
        else:
            value = float(_worked_out(ast.parse(plain if len(plain) <= 400 else "", mode="eval").body))
    except (SyntaxError, ValueError, TypeError, ArithmeticError, KeyError, RecursionError, MemoryError):
        value = math.inf
    if not abs(value) < 1e100:
        told = _(
            "{text} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%'.",
            text=repr(one_line(answer, 40)),
        )
        raise RecnbError(told)
    return Number(one_line(answer.strip(), 40), value, decimals)


def _worked_out(node: ast.AST) -> Any:
    """Return the value of a sum as solutions print it, such as "(1 + 2/3)/4" or "3/log2(1+1)"."""
    match node:
        case ast.BinOp(op=sign, left=left, right=right):
            values = [_worked_out(left), _worked_out(right)]
            if isinstance(sign, ast.Pow) and max(map(abs, values)) > 100:
                raise ValueError
            return _SIGNS[type(sign)](*values)
        case ast.UnaryOp(op=sign, operand=operand):
            return _SIGNS[type(sign)](_worked_out(operand))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _FUNCTIONS[name](*map(_worked_out, arguments))
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
    raise ValueError


def judge(
    answer: Number, value: float, slips: Iterable[Mistake], digits: int
) -> tuple[Verdict, tuple[Mistake, ...], bool]:
    """Return whether an answer is right, the mistakes that give its number, and whether only its last digit is wrong.

    It is right if it is the value rounded to `digits` decimals. With fewer decimals it is compared at these: right
    ("short") if they distinguish the value from those of all mistakes, else undecided; with less than two undecided.
    """

    def equals(number: float, decimals: int, units: float = 0.5) -> bool:
        return abs(answer.value - number) <= units * 10.0**-decimals + FLOAT

    decimals = digits if answer.decimals is None else min(answer.decimals, digits)
    enough = decimals >= FEWEST
    if equals(value, digits):
        return "right", (), False
    fitting = tuple(slip for slip in slips if equals(slip.value, digits))
    if enough and not fitting:
        fitting = tuple(slip for slip in slips if equals(slip.value, decimals))
    if equals(value, decimals) and (enough or not fitting):
        return ("short" if enough and not fitting else "undecided"), (), False
    return "wrong", fitting, enough and not fitting and equals(value, decimals, 1.5)
