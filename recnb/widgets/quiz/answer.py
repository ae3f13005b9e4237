"""The number of an answer, as people write it."""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from fractions import Fraction
from typing import Any, NamedTuple

from recnb.display.language import _
from recnb.display.text import one_line
from recnb.errors import RecnbError

#: The error of floating-point arithmetic, far below any digit of an answer.
FLOAT = 1e-9

_SIGNS: dict[Any, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip
_FUNCTIONS: dict[str, Any] = {"log2": math.log2, "log10": math.log10, "ln": math.log, "max": max, "min": min}


class Number(NamedTuple):
    """The number of an answer."""

    value: float
    decimals: int | None  #: None for a fraction and a sum, which are exact

    def fits(self, value: float, digits: int, units: float = 0.5) -> bool:
        """Say whether the number is a value rounded to so many digits, or up to so many units of the last one off."""
        return abs(self.value - value) <= units * 10.0**-digits + FLOAT


def read(answer: object) -> Number:
    """Read a number, or text as one writes it: "0.8732", "0,8732", "87.32%", "2/3", "(1+2/3)/4".

    >>> read("0,87"), read("87.3 %"), read("1/2")
    (Number(value=0.87, decimals=2), Number(value=0.873, decimals=3), Number(value=0.5, decimals=None))
    """
    # Korean and Japanese keyboards type full-width digits.
    plain = unicodedata.normalize("NFKC", str(answer)).lower().translate(str.maketrans("−×·÷⁄", "-**//"))
    plain = re.sub(r",(?=\d)", ".", plain).strip()
    per_cent = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    try:
        tree = ast.parse(plain.replace("^", "**") if len(plain) <= 400 else "", mode="eval").body
        value = float(_worked_out(tree) / (100 if per_cent else 1))
    except (SyntaxError, ValueError, TypeError, ArithmeticError, KeyError, RecursionError, MemoryError):
        text = repr(one_line(answer, 40))
        message = _("{text} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%'.", text=text)
        raise RecnbError(message) from None
    decimal = re.fullmatch(r"[+-]?\d*\.?(\d*)", plain)
    return Number(value, len(decimal[1]) + 2 * per_cent if decimal else None)


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
