"""Formulas as text: `gain / log(1 + rank)` is converted to LaTeX, to a line with numbers, and to a value.

A metric has its formula as text in addition to its code. The text is independent of the code: the tests
evaluate it and compare it with what the code returns, so a printed formula cannot drift from the number.

The text is an arithmetic expression in Python's syntax, with `^` for powers, comparisons that count 1 or 0, and the
functions `log`, `min`, `max` and `ideal` (the sum of its argument over the ideal list).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.display.language import N_, _, pgettext

#: Names of formulas in LaTeX.
LATEX: dict[str, str] = {
    "rank": "i",
    "relevance": r"\mathrm{rel}_i",
    "max_relevance": r"\mathrm{rel}_{\max}",
    "nth": N_(r"\mathrm{hits}_{\le i}"),
    "first": N_(r"[\text{first hit}]"),
    "preferred": N_(r"[\text{most preferred}]"),
    "reach": N_(r"\textstyle\prod_{j<i} (1 - \mathrm{stop}_j)"),
    "n_relevant": N_(r"|\mathrm{relevant}|"),
    "n_hits": N_(r"|\mathrm{hits}|"),
    "list_length": N_(r"|\mathrm{list}|"),
    "beta": r"\beta",
    "hits": N_(r"\mathrm{hits}"),
    "ideal": N_(r"\mathrm{ideal}"),
    "alpha": r"\alpha",
    "count": N_(r"\mathrm{count}_i"),
    "total": N_(r"\mathrm{total}"),
    "place": N_(r"\mathrm{place}_i"),
    "times": N_(r"\mathrm{times}_i"),
    "tail": N_(r"[i \in \mathrm{tail}]"),
    "shown": N_(r"[i \text{ is shown}]"),
    "share": N_(r"\mathrm{share}_i"),
    "cosine": r"\cos(i, j)",
    "jaccard": N_(r"\mathrm{jaccard}(i, j)"),
    "together": N_(r"\mathrm{together}(i, j)"),
    "distance": N_(r"\mathrm{distance}(i, j)"),
    "differing": N_(r"\mathrm{differing}(i, j)"),
    "overlap": N_(r"\mathrm{overlap}(u, v)"),
    "expected_rank": N_(r"\mathrm{expected}_i"),
    "popular_place": N_(r"\mathrm{popular}_i"),
    "depth": "k",
    "at_least": r"n_{\min}",
    "n_shown": N_(r"|\mathrm{list}|"),
    "n_users": N_(r"|\mathrm{users}|"),
    "n_items": N_(r"|\mathrm{items}|"),
    "n_different": N_(r"|\mathrm{shown~items}|"),
    "n_places": N_(r"|\mathrm{places}|"),
    "n_lists": N_(r"|\mathrm{lists}|"),
}

#: What a formula sums over.
OVER: dict[str, str] = {
    "hits": N_("hits"),
    "ideal": N_("the ideal list"),
    "list": N_("list"),
    "pairs": N_("pairs"),
    "genres": N_("genres"),
    "items": N_("items"),
    "user pairs": N_("pairs of users"),
    "users": N_("users"),
}

#: The same in LaTeX, below the sum sign.
OVER_LATEX: dict[str, str] = {
    "hits": N_(r"i \in \mathrm{hits}"),
    "ideal": N_(r"i \in \mathrm{ideal}"),
    "list": N_(r"i \in \mathrm{list}"),
    "pairs": N_(r"\{i, j\} \subset \mathrm{list}"),
    "genres": N_(r"g \in \mathrm{genres}"),
    "items": N_(r"i \in \mathrm{items}"),
    "user pairs": N_(r"\{u, v\} \subset \mathrm{users}"),
    "users": N_(r"u \in \mathrm{users}"),
}


#: The names of formulas that mathematics writes in another way, as the table of strings has it; i is a rank.
SYMBOLS = (
    "rank", "relevance", "max_relevance", "nth", "first", "preferred", "reach", "n_relevant", "n_hits", "list_length", "beta",
)  # fmt: skip

_LEVEL: dict[type[ast.AST], int] = {
    ast.Compare: 1, ast.Add: 2, ast.Sub: 2, ast.Mult: 3, ast.Div: 3, ast.USub: 4, ast.Pow: 5,
}  # fmt: skip
_ATOM = 9
_SIGN: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.LtE: "<=", ast.Eq: "="}
_TEX_SIGN: dict[type[ast.AST], str] = {
    ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \cdot ", ast.LtE: r" \le ", ast.Eq: " = ",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.LtE: np.less_equal,
    ast.Eq: np.equal,
}


def number(value: float, digits: int = 6) -> str:
    """A number as written by hand, without trailing zeros.

    >>> number(5.0), number(0.5), number(1 / 3)
    ('5', '0.5', '0.333333')
    """
    return f"{value:.{digits}g}"


@functools.lru_cache(maxsize=1000)
def _parsed(text: str, meanings: tuple[tuple[str, str], ...]) -> ast.expr:
    """The tree of a formula, with each name that has a meaning replaced by it."""
    trees = {name: ast.parse(meaning.replace("^", "**"), mode="eval").body for name, meaning in meanings}
    tree: ast.expr = _Put(trees).visit(ast.parse(text.replace("^", "**"), mode="eval").body)
    return tree


@functools.lru_cache(maxsize=1000)
def _names(tree: ast.expr) -> frozenset[str]:
    """The names of a tree other than those of functions."""
    nodes = list(ast.walk(tree))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return frozenset({node.id for node in nodes if isinstance(node, ast.Name)} - called)


@dataclass(frozen=True)
class Formula:
    """One expression; `log_base` is the base of `log`."""

    tree: ast.expr
    log_base: float = 2

    @classmethod
    def of(cls, text: str, meanings: Mapping[str, str] | None = None, log_base: float = 2) -> Formula:
        """Parse a formula, with each name that has a meaning replaced by it.

        >>> Formula.of("gain / discount", {"gain": "2^relevance - 1", "discount": "log(1 + rank)"}).text()
        '(2^relevance-1)/log2(1+rank)'
        """
        return cls(_parsed(text, tuple((meanings or {}).items())), log_base)

    def text(self, numbers: Mapping[str, float] | None = None) -> str:
        """The formula on one line, its names in the language in force; those that have a number are replaced by it.

        >>> Formula.of("relevance / log(1 + rank)").text({"relevance": 5, "rank": 2})
        '5/log2(1+2)'
        >>> from recnb.display.language import use_language
        >>> with use_language("ko"):
        ...     Formula.of("relevance / log(1 + rank)").text()
        '관련도/log2(1+순위)'
        """
        return self._text(self.tree, 0, numbers or {})

    def latex(self, *, summed: bool = False) -> str:
        r"""The formula in LaTeX; under a sum sign, a sum of its own needs brackets.

        >>> Formula.of("relevance / log(1 + rank)").latex()
        '\\frac{\\mathrm{rel}_i}{\\log_{2}(1 + i)}'
        >>> Formula.of("2^relevance - 1").latex(summed=True)
        '\\left(2^{\\mathrm{rel}_i} - 1\\right)'
        """
        return self._latex(self.tree, _LEVEL[ast.Mult] if summed else 0)

    def value(self, values: Mapping[str, Any], functions: Mapping[str, Callable[[Formula], Any]] | None = None) -> Any:
        """The formula worked out; values may be arrays.

        >>> float(Formula.of("relevance / log(1 + rank)").value({"relevance": 3, "rank": 3}))
        1.5
        """
        return self._value(self.tree, values, functions or {})

    def names(self) -> frozenset[str]:
        """The names that the formula needs numbers for."""
        return _names(self.tree)

    def ideal(self) -> Formula | None:
        """What is summed over the ideal list, if anything is."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _called(node) == "ideal":
                return Formula(node.args[0], self.log_base)
        return None

    def _text(self, node: ast.expr, level: int, numbers: Mapping[str, float]) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.Name):
            return number(numbers[node.id]) if node.id in numbers else _worded(node.id)
        if isinstance(node, ast.Call):
            arguments = ", ".join(self._text(argument, 0, numbers) for argument in node.args)
            name = _called(node)
            return f"{_log_name(self.log_base) if name == 'log' else _worded(name)}({arguments})"
        if isinstance(node, ast.Compare):
            left, right = self._text(node.left, 2, numbers), self._text(node.comparators[0], 2, numbers)
            return f"[{left}{_SIGN[type(node.ops[0])]}{right}]"
        assert isinstance(node, ast.BinOp), ast.dump(node)
        own = _LEVEL[type(node.op)]
        if isinstance(node.op, ast.Pow):
            written = f"{self._text(node.left, _ATOM, numbers)}^{self._text(node.right, _ATOM, numbers)}"
        else:
            # The right side of - and / needs brackets at its own level: a/(b*c) is not a/b*c.
            tight = isinstance(node.op, (ast.Sub, ast.Div))
            left, right = self._text(node.left, own, numbers), self._text(node.right, own + tight, numbers)
            written = f"{left}{_SIGN[type(node.op)]}{right}"
        return f"({written})" if own < level else written

    def _latex(self, node: ast.expr, level: int) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.Name):
            return _(LATEX[node.id]) if node.id in LATEX else _upright(node.id)
        if isinstance(node, ast.Call):
            return self._latex_call(node)
        if isinstance(node, ast.Compare):
            left, right = self._latex(node.left, 2), self._latex(node.comparators[0], 2)
            return f"[{left}{_TEX_SIGN[type(node.ops[0])]}{right}]"
        assert isinstance(node, ast.BinOp), ast.dump(node)
        if isinstance(node.op, ast.Div):
            return rf"\frac{{{self._latex(node.left, 0)}}}{{{self._latex(node.right, 0)}}}"
        if isinstance(node.op, ast.Pow):
            return f"{self._latex(node.left, _ATOM)}^{{{self._latex(node.right, 0)}}}"
        own = _LEVEL[type(node.op)]
        right_level = own + isinstance(node.op, ast.Sub)
        written = self._latex(node.left, own) + _TEX_SIGN[type(node.op)] + self._latex(node.right, right_level)
        return rf"\left({written}\right)" if own < level else written

    def _latex_call(self, node: ast.Call) -> str:
        inside = ", ".join(self._latex(argument, 0) for argument in node.args)
        name = _called(node)
        if name == "log":
            return (
                rf"\ln({inside})" if np.isclose(self.log_base, np.e) else rf"\log_{{{number(self.log_base)}}}({inside})"
            )
        if name == "ideal":
            summed = self._latex(node.args[0], _LEVEL[ast.Mult])
            return rf"\sum_{{i \in {_(LATEX['ideal'])}, i \le k}} {summed}"
        return rf"\{name}({inside})"

    def _value(
        self, node: ast.expr, values: Mapping[str, Any], functions: Mapping[str, Callable[[Formula], Any]]
    ) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return np.asarray(values[node.id], dtype=np.float64)
        if isinstance(node, ast.Call):
            name = _called(node)
            if name in functions:
                return functions[name](Formula(node.args[0], self.log_base))
            arguments = [self._value(argument, values, functions) for argument in node.args]
            if name == "log":
                return np.log(arguments[0]) / np.log(self.log_base)
            return functools.reduce({"min": np.minimum, "max": np.maximum}[name], arguments)
        sign: type[ast.AST]
        if isinstance(node, ast.Compare):
            left, right, sign = node.left, node.comparators[0], type(node.ops[0])
        else:
            assert isinstance(node, ast.BinOp), ast.dump(node)
            left, right, sign = node.left, node.right, type(node.op)
        return _ARITHMETIC[sign](self._value(left, values, functions), self._value(right, values, functions)) * 1.0


class _Put(ast.NodeTransformer):
    """Replace names by their meanings, repeatedly, until none is left."""

    def __init__(self, meanings: Mapping[str, ast.expr]) -> None:
        self.meanings = meanings

    def visit_Name(self, node: ast.Name) -> ast.AST:
        meaning = self.meanings.get(node.id)
        if meaning is None or (isinstance(meaning, ast.Name) and meaning.id == node.id):
            return node
        return self.visit(ast.parse(ast.unparse(meaning), mode="eval").body)  # type: ignore[no-any-return]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node


def _called(node: ast.Call) -> str:
    assert isinstance(node.func, ast.Name)
    return node.func.id


def _worded(name: str) -> str:
    # In English a name is its own word: the text can be read as a formula again.
    return pgettext("formula", name)


def _log_name(base: float) -> str:
    if np.isclose(base, np.e):
        return "ln"
    return f"log{number(base)}" if float(base).is_integer() else f"log_{number(base)}"


def _upright(name: str) -> str:
    """A name without LaTeX of its own: a letter as it is, a word upright."""
    return name if len(name) == 1 else rf"\mathrm{{{name.replace('_', '~')}}}"
