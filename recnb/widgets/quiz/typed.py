"""Answers as people type them: a number, a fraction or a sum that Python reads.

Words around it may be English or Korean.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from typing import Any, NamedTuple

from recnb.display.language import N_, _
from recnb.display.text import beginning
from recnb.errors import RecnbError

#: The error of floating-point arithmetic.
FLOAT = 1e-9

#: Words around a number, and what stands for them, in this order.
WORDS: tuple[tuple[str, str], ...] = (
    (r"^[^\d:]*(?:@\d+)?\s*:\s*", ""),  # "답: 0.45", "nDCG@3: 0.45"
    (r"^(?:(?:정답은|정답|답은|답|약|대략|about|~)\s*)+", ""),
    (r"(?:\s*(?:입니다|이에요|예요|이요|요|이다|정도|쯤|점)\.?)+$", ""),
    (r"\s*(?:퍼센트|프로|per ?cent)$", "%"),
    (r"([\d.]+)\s*분의\s*([\d.]+)", r"(\2/\1)"),  # "5분의 3" is 3/5
)

UNREAD = N_(
    "{text} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%', "
    "or a sum as in Python, '3/log2(2) + 2/log2(3)'."
)
BY_ZERO = N_(
    "{text} divides by 0, and has no value. log2(1) is 0: the "
    "discount of rank i is log2(i + 1)."
)

_SIGNS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


class TypedNumber(NamedTuple):
    """The number of an answer."""

    value: float
    decimals: int | None  #: None for a fraction and a sum, which are exact

    def fits(self, value: float, digits: int, units: float = 0.5) -> bool:
        """Say whether the number is a value rounded to so many digits.

        It may be off by so many `units` of the last digit.
        """
        return abs(self.value - value) <= units * 10.0**-digits + FLOAT


def read_answer(answer: object) -> TypedNumber:
    """Read a number, or text as one writes it.

    "0.8732", "0,8732", "87.32%", "2/3", "5분의 3", "about 0.6" and "(1+2/3)/4" are read;
    of "2/3 = 0.6667" it is the end.
    """
    plain = _plain(answer)
    is_per_cent = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    try:
        value = float(_worked_out(ast.parse(plain, mode="eval").body))
    except ZeroDivisionError:
        raise _unread(BY_ZERO, answer) from None
    except (
        SyntaxError,
        ValueError,
        TypeError,
        ArithmeticError,
        KeyError,
        RecursionError,
        MemoryError,
    ):
        raise _unread(UNREAD, answer) from None
    if not math.isfinite(value):
        raise _unread(UNREAD, answer)
    decimal = re.fullmatch(r"[+-]?\d*\.?(\d*)", plain)
    decimals = None if decimal is None else len(decimal[1])
    if not is_per_cent:
        return TypedNumber(value, decimals)
    return TypedNumber(value / 100, None if decimals is None else decimals + 2)


def _unread(message: str, answer: object) -> RecnbError:
    return RecnbError(_(message, text=repr(beginning(str(answer), 40))))


def _plain(answer: object) -> str:
    """Write an answer as Python does, without words around it, from the last "=" on."""
    # Korean and Japanese keyboards type full-width digits.
    text = unicodedata.normalize("NFKC", str(answer)).lower()
    text = text.translate(str.maketrans("−⁄≈", "-/=", "'\"‘’“”")).strip()
    for words, sign in WORDS:
        text = re.sub(words, sign, text)
    text = re.sub(r",(?=\d)", ".", text)
    text = text.replace("^", "**")  # as the formulas of recnb have it
    return text.rpartition("=")[2].strip().removesuffix(".")


def _worked_out(node: ast.AST) -> Any:
    """Return the value of a sum, such as "(1 + 2/3)/4" or "3/log2(1+1)"."""
    match node:
        case ast.BinOp(op=sign, left=left, right=right):
            return _SIGNS[type(sign)](_worked_out(left), _worked_out(right))
        case ast.UnaryOp(op=sign, operand=operand):
            return _SIGNS[type(sign)](_worked_out(operand))
        case ast.Call(func=ast.Name(id="log2"), args=[number], keywords=[]):
            return math.log2(_worked_out(number))
        case ast.Constant(value=int() | float() as number):
            return float(number)  # whole numbers have powers without end
    raise ValueError
