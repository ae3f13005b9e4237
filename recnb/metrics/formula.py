"""Formulas as text, such as `gain / log(1 + rank)`.

They are converted to LaTeX, to a line with numbers, and to a value.

The text of a metric's formula is independent of its code: the tests evaluate it and
compare it with what the code returns. The text is an arithmetic expression in Python's
syntax, with `^` for powers, comparisons that count 1 or 0, and the functions `log`,
`log2`, `min` and `max`; around a whole denominator, `ideal` is the sum of its argument over the
ideal list.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recnb.display.language import N_, pgettext, template

#: Names of formulas in LaTeX; a room enters those of its metrics.
LATEX: dict[str, str] = {
    "rank": "i",
    "relevance": r"\mathrm{rel}_i",
    "max_relevance": r"\mathrm{rel}_{\max}",
    "nth": N_(r"\mathrm{hits}_{\le i}"),
    "first": N_(r"[\text{first hit}]"),
    "preferred": N_(r"[\text{most preferred}]"),
    "reach": r"\textstyle\left(\prod_{j<i} \left(1 - \frac{2^{\mathrm{rel}_j} - "
    r"1}{2^{\mathrm{rel}_{\max}}}\right)\right)",
    "no_hit": N_(r"[\text{no hit}]"),
    "n_relevant": N_(r"|\mathrm{relevant}|"),
    "n_hits": N_(r"|\mathrm{hits}|"),
    "list_length": N_(r"|\mathrm{list}|"),
    "relevant_weight": N_(r"w(\mathrm{relevant})"),
    "best_weight": N_(r"w(\mathrm{best})"),
    "weight": "w_i",
    "beta": r"\beta",
    "ideal": N_(r"\mathrm{ideal}"),
}

#: What a formula sums over: one row in words, and all in LaTeX, below the sum sign. A
#: room enters what its metrics sum over.
OVER: dict[str, tuple[str, str]] = {
    "hits": (N_("hit"), N_(r"i \in \mathrm{hits}")),
    "ideal": (N_("{item} of the ideal list"), N_(r"i \in \mathrm{ideal}")),
}


class Operation(NamedTuple):
    """The notation of an operation.

    It is put in brackets where something of a higher level is needed.
    """

    level: int
    left: int  #: the level that the left side needs
    right: int
    text: str
    latex: str


SUM, PRODUCT, ATOM = 2, 3, 9
FUNCTIONS = {"log", "log2", "min", "max"}

OPERATIONS: dict[type[ast.AST], Operation] = {
    ast.LtE: Operation(ATOM, SUM, SUM, "[{}<={}]", r"[{} \le {}]"),
    ast.Add: Operation(SUM, SUM, SUM, "{}+{}", "{} + {}"),
    ast.Sub: Operation(SUM, SUM, PRODUCT, "{}-{}", "{} - {}"),
    ast.Mult: Operation(PRODUCT, PRODUCT, PRODUCT, "{}*{}", r"{} \cdot {}"),
    # The right side of / needs brackets at its own level: a/(b*c) is not a/b*c.
    ast.Div: Operation(PRODUCT, PRODUCT, 4, "{}/{}", r"\frac{{{}}}{{{}}}"),
    ast.Pow: Operation(5, ATOM, ATOM, "{}^{}", "{}^{{{}}}"),
}

#: In LaTeX, fractions and exponents need no brackets.
LATEX_OPERATIONS = {
    **OPERATIONS,
    ast.Div: OPERATIONS[ast.Div]._replace(level=ATOM, left=0, right=0),
    ast.Pow: OPERATIONS[ast.Pow]._replace(level=ATOM, right=0),
}


def number(value: float, digits: int = 6) -> str:
    """Return a number as written by hand: 5, 0.5, 0.333333.

    A large one has all digits before the point.
    """
    is_large = 10**digits - 0.5 <= abs(value) < 1e15
    return f"{value:.0f}" if is_large else f"{value:.{digits}g}"


class UnknownPartError(Exception):
    """A part of a formula that is none of numbers, names, operations and functions."""


@functools.lru_cache(maxsize=1000)
def _parsed(text: str, meanings: tuple[tuple[str, str], ...]) -> ast.expr:
    """Return the tree of a formula, with each name that has a meaning replaced by it."""
    return ast.parse(
        _replaced(text, dict(meanings)).replace("^", "**"), mode="eval"
    ).body


@dataclass(frozen=True)
class Formula:
    """One expression; `log_base` is the base of `log`."""

    tree: ast.expr
    log_base: float

    @classmethod
    def of(
        cls, text: str, meanings: Mapping[str, str] | None = None, log_base: float = 2
    ) -> Formula:
        """Parse a formula, and put the meaning of a name, such as "gain", in its place."""
        return cls(_parsed(text, tuple((meanings or {}).items())), log_base)

    def text(
        self, numbers: Mapping[str, Any] | None = None, *, divides: bool = False
    ) -> str:
        """Return the formula on one line, with names or with numbers.

        Names are in the language in force; with numbers it is 5/log2(1+2), of arrays of
        them with the first.

        A sum that divides something is in brackets.
        """
        return self._written(PRODUCT if divides else 0, numbers or {}, latex=False)

    def latex(self, *, summed: bool = False) -> str:
        """Return the formula in LaTeX.

        Under a sum sign, a sum of its own needs brackets.
        """
        return self._written(PRODUCT if summed else 0, {}, latex=True)

    def value(self, values: Mapping[str, Any]) -> Any:
        """Work the formula out, as Python does; values may be arrays."""
        known: dict[str, Any] = {
            "log": lambda number: np.log(number) / np.log(self.log_base),
            "log2": np.log2,
            "min": lambda *numbers: functools.reduce(np.minimum, numbers),
            "max": lambda *numbers: functools.reduce(np.maximum, numbers),
        }
        for name in self.names():
            known[name] = np.asarray(values[name], dtype=np.float64)
        code = compile(ast.Expression(self.tree), "formula", "eval")
        return eval(code, {"__builtins__": {}}, known) * 1.0

    def names(self) -> frozenset[str]:
        """Return the names that the formula needs numbers for."""
        nodes = ast.walk(self.tree)
        names = frozenset(node.id for node in nodes if isinstance(node, ast.Name))
        return names - FUNCTIONS

    def unknown(self, names: Collection[str]) -> str:
        """Return the first part that is not understood; "" if there is none.

        Understood is what can be written, with these names.
        """
        try:
            self.text()
        except UnknownPartError as part:
            return str(part)
        summed = self.ideal() or self
        return min(summed.names().difference(names), default="")

    def ideal(self) -> Formula | None:
        """Return what is summed over the ideal list, if the formula is such a sum."""
        if isinstance(self.tree, ast.Call) and ast.unparse(self.tree.func) == "ideal":
            return Formula(self.tree.args[0], self.log_base)
        return None

    def _written(self, level: int, numbers: Mapping[str, Any], *, latex: bool) -> str:
        """Return the formula as text or in LaTeX, in brackets if a higher level is needed."""

        def write(node: ast.expr, level: int) -> str:
            match node:
                case ast.Constant(int() | float() as value):
                    return str(value)
                case ast.Name(word) if latex:
                    return _latex_name(word)
                case ast.Name(word) if np.size(numbers.get(word, ())):
                    return number(float(np.ravel(numbers[word])[0]))
                case ast.Name(word):
                    return pgettext("formula", word)
                case ast.Call(ast.Name("ideal"), [summed]) if latex:
                    below = rf"i \in {_latex_name('ideal')}, i \le k"
                    return rf"\sum_{{{below}}} {write(summed, PRODUCT)}"
                case ast.Call(ast.Name(word), arguments, []):
                    inside = ", ".join(write(each, 0) for each in arguments)
                    return f"{self._function(word, latex=latex)}({inside})"
                case ast.BinOp(left, operation, right) | ast.Compare(
                    left, [operation], [right]
                ) if type(operation) in OPERATIONS:
                    operations = LATEX_OPERATIONS if latex else OPERATIONS
                    notation = operations[type(operation)]
                    sides = write(left, notation.left), write(right, notation.right)
                    form = notation.latex if latex else notation.text
                    text = form.format(*sides)
                    if notation.level >= level:
                        return text
                    return rf"\left({text}\right)" if latex else f"({text})"
            raise UnknownPartError(ast.unparse(node))

        return write(self.tree, level)

    def _function(self, word: str, *, latex: bool) -> str:
        """Return a function as it is written in front of its arguments."""
        if word == "log2":
            return r"\log_{2}" if latex else word
        if word != "log":
            return rf"\{word}" if latex else pgettext("formula", word)
        if np.isclose(self.log_base, np.e):
            return r"\ln" if latex else "ln"
        base = number(self.log_base)
        if latex:
            return rf"\log_{{{base}}}"
        return f"log{base}" if float(self.log_base).is_integer() else f"log_{base}"


def _latex_name(word: str) -> str:
    if word in LATEX:
        return template(LATEX[word])
    return word if len(word) == 1 else rf"\mathrm{{{word.replace('_', '~')}}}"


def _replaced(text: str, meanings: Mapping[str, str]) -> str:
    """Replace the names of a formula by their meanings until none is left."""

    def meaning(match: re.Match[str]) -> str:
        name = match[0]
        if meanings.get(name, name) == name:
            return name
        return f"({_replaced(meanings[name], meanings)})"

    return re.sub(r"[A-Za-z_]\w*", meaning, text)
