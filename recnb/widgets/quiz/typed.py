"""Answers as people type them: a number, a fraction or a sum, with words around it in
English or Korean.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import RecnbError

#: The error of floating-point arithmetic.
FLOAT = 1e-9

#: The longest text that is worked out.
LONGEST = 400

#: Words around a number, and what stands for them, in this order.
WORDS: tuple[tuple[str, str], ...] = (
    (r"^[^\d:]*(?:@\d+)?\s*:\s*", ""),  # "답: 0.45", "nDCG@3: 0.45"
    (r"^(?:(?:정답은|정답|답은|답|약|대략|about|~)\s*)+", ""),
    (r"(?:\s*(?:입니다|이에요|예요|이요|요|이다|정도|쯤|점)\.?)+$", ""),
    (r"\s*(?:퍼센트|프로|per ?cent)$", "%"),
    (r"([\d.]+)\s*분의\s*([\d.]+)", r"(\2/\1)"),  # "5분의 3" is 3/5
)

_SIGNS: dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Any] = {
    "log2": math.log2,
    "log10": math.log10,
    "log": math.log10,  # as in school and on the key of a calculator
    "ln": math.log,
    "max": max,
    "min": min,
}


class Number(NamedTuple):
    """The number of an answer."""

    value: float
    decimals: int | None  #: None for a fraction and a sum, which are exact

    def fits(self, value: float, digits: int, units: float = 0.5) -> bool:
        """Say whether the number is a value rounded to so many digits, or up to so many
        units of the last one off.
        """
        return abs(self.value - value) <= units * 10.0**-digits + FLOAT


def read_answer(answer: object) -> Number:
    """Read a number, or text as one writes it: "0.8732", "0,8732", "87.32%", "2/3",
    "5분의 3", "about 0.6", "(1+2/3)/4"; of "2/3 = 0.6667" the end.
    """
    plain = _plain(answer)
    is_per_cent = plain.endswith("%")
    plain = plain.removesuffix("%").strip()
    try:
        value = _value_of(plain)
    except ZeroDivisionError:
        message = N_(
            "{text} divides by 0, and has no value. log2(1) is 0: the "
            "discount of rank i is log2(i + 1)."
        )
        raise _unread(message, answer) from None
    except (
        SyntaxError,
        ValueError,
        TypeError,
        ArithmeticError,
        KeyError,
        RecursionError,
        MemoryError,
    ):
        message = N_(
            "{text} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%'."
        )
        if plain.count("(") != plain.count(")"):
            message = N_("{text} is not read as a number: a bracket is missing.")
        raise _unread(message, answer) from None
    decimal = re.fullmatch(r"[+-]?\d*\.?(\d*)", plain)
    decimals = None if decimal is None else len(decimal[1])
    if not is_per_cent:
        return Number(value, decimals)
    return Number(value / 100, None if decimals is None else decimals + 2)


def as_fractions(answer: object) -> Iterator[tuple[str, Number]]:
    """Read a sum with each of its divisions in turn as one fraction: of "1+2 / 3+4",
    "(1+2) / (3+4)".
    """
    plain = _plain(answer)
    if "+" not in plain:
        return
    depth = 0
    for place, sign in enumerate(plain):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "/" and depth == 0:
            above = _in_brackets(plain[:place].strip())
            below = _in_brackets(plain[place + 1 :].strip())
            fraction = f"{above} / {below}"
            try:
                yield fraction, read_answer(fraction)
            except RecnbError:  # another division leaves a side that has no value
                continue


def _in_brackets(side: str) -> str:
    """Put a side of a fraction into brackets unless it is a number or has them."""
    alone = re.fullmatch(r"[\d.]+|\([^()]*\)", side)
    return side if alone else f"({side})"


def _unread(message: str, answer: object) -> RecnbError:
    return RecnbError(_(message, text=repr(one_line(answer, 40))))


def _plain(answer: object) -> str:
    """Write an answer as Python does, without words around it, from the last "=" on."""
    # The base of a logarithm is a sign of its own or stands apart: log₂3, log2 3.
    text = re.sub(r"log_\{?(2|10)\}?", r"log\1", str(answer))
    text = re.sub(r"log(?:₂\s*|2\s+)(\d+)", r"log2(\1)", text)
    text = re.sub(r"\bln\s*(\d+)", r"ln(\1)", text)
    # Korean and Japanese keyboards type full-width digits.
    text = unicodedata.normalize("NFKC", text).lower()
    text = text.translate(str.maketrans("−×·÷⁄≈", "-**//="))
    text = text.translate(str.maketrans("[]", "()", "'\"‘’“”")).strip()
    for words, sign in WORDS:
        text = re.sub(words, sign, text)
    text = re.sub(r"(?<=[\d)])\s*x\s*(?=[\d(l])", "*", text)
    text = re.sub(r",(?=\d)", ".", text)
    return text.rpartition("=")[2].strip().removesuffix(".")


def _value_of(text: str) -> float:
    """Work out a number or a sum, which is not run as a program."""
    if len(text) > LONGEST:
        raise ValueError
    return float(_worked_out(ast.parse(text.replace("^", "**"), mode="eval").body))


def _worked_out(node: ast.AST) -> Any:
    """Return the value of a sum as solutions print it, such as "(1 + 2/3)/4" or
    "3/log2(1+1)".
    """
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
