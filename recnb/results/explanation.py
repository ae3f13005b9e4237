"""The worked explanation of a score, which `worked.py` makes.

It has the formula, the same with numbers, and the rows that it sums over: their credit,
added up and divided by the denominator, is the score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.forms import Line, Mark, Name, Rows, joined, opening, say
from recnb.display.language import N_, _, current, ngettext, pgettext, use_language
from recnb.display.templates import write
from recnb.display.text import trimmed
from recnb.errors import Suggesting
from recnb.metrics.formula import number
from recnb.metrics.metric import label_of

#: Columns of the rows; a room enters those of its metrics.
COLUMNS: dict[str, str] = {
    "rank": N_("rank"),
    "item": N_("{item}"),
    "relevance": N_("relevance"),
    "judged": N_("judged"),
    "gain": N_("gain"),
    "discount": N_("discount"),
    "term": N_("term"),
    "credit": N_("credit"),
    "running": N_("running sum"),
    "weight": N_("weight"),
}

#: What an infinite number in a column means; a room enters it.
INFINITE: dict[str, str] = {}

#: Terms, rows and missed items beyond these are counted, not shown; the frames hold
#: them all.
TERMS_SHOWN, ROWS_SHOWN, MISSED_SHOWN = 12, 30, 10

#: Columns of what the user has names for.
NAMED = ("item", "other_item", "genre")
#: Columns with the same decimals in each row.
FIXED = ("discount", "credit", "running")


@dataclass(frozen=True, eq=False)
class Explanation(Suggesting):
    """The computation of a score, a row for each term of its sum.

    It is of one user's list or, if `user` is None, of a list given by itself or of all
    lists.

    `rows` holds what the formula sums over: the list with a row per rank or, beyond
    accuracy, a row for each item, pair of items or genre, with its term and what it
    adds.

    Examples
    --------
    >>> import recnb
    >>> explanation = recnb.explain("precision", ["a", "x", "b"], ["a", "b"])
    >>> round(explanation.value, 4), explanation.numbers
    (0.6667, '(1 + 1) / 3 = 2 / 3 = 0.6667')
    """

    metric: str
    symbol: str
    #: Whose list it is; None for a list given by itself, and for all lists together.
    user: Any
    k: int | None
    value: float
    reads: str
    #: As text: add gain/log2(1+rank) for each hit, divide by …
    formula: str
    latex: str
    #: The credit of each row as a formula with numbers; () where `total` says it.
    terms: tuple[str, ...]
    #: The rows that the formula sums over.
    rows: pd.DataFrame
    basis: str
    #: The credit of all rows.
    total: float
    #: What a cost adds for a list without a hit, with numbers.
    missed_term: str = ""
    #: The denominator as formulas with numbers; () if there is none.
    out_of_terms: tuple[str, ...] = ()
    #: The denominator.
    out_of: float = 1.0
    #: The ideal list, where the metric has one.
    ideal: pd.DataFrame | None = None
    #: Relevant items that are not in the list down to k, the most relevant first.
    missed: tuple[Any, ...] = ()
    #: The formula with numbers if it is no sum, or why there is nothing to add up.
    line: str = ""
    #: Titles of the items that have one.
    titles: Mapping[Any, str] = field(default_factory=dict)
    #: The text of the query whose list it is, if users= has one.
    text: str = ""
    #: The language of its words, in which it is shown.
    lang: str = field(default_factory=current)

    @property
    def numbers(self) -> str:
        """The formula with its numbers; of many terms the first."""
        if self.line:
            return self.line
        with use_language(self.lang):
            terms = _sum(self.terms)
            total, out_of = map(printed_in_sum, (self.total, self.out_of))
            steps = " + ".join(filter(None, [terms, self.missed_term])) or total
            if self.out_of_terms:
                steps = f"{_bracketed(steps)} / {_bracketed(_sum(self.out_of_terms))}"
                quotient = f"{total} / {out_of}"
                if steps != quotient:
                    steps = f"{steps} = {quotient}"
        return f"{steps} = {printed_in_sum(self.value)}"

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return label_of(self.symbol, self.k)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows that the formula sums over.

        Returns
        -------
        DataFrame
            Of a list, a row per rank with item, relevance, gain, discount, term, credit,
            running sum.

        Examples
        --------
        >>> import recnb
        >>> recnb.explain("dcg", [3, 2, 0, 1]).to_frame()["credit"].round(3).tolist()
        [3.0, 1.262, 0.0, 0.431]
        """
        return self.rows.copy()

    def __repr__(self) -> str:
        with use_language(self.lang):
            return write("results/explanation.jinja", "lines", explanation=self)

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return write("results/explanation.jinja", "html", explanation=self)

    @property
    def _headline(self) -> Line:
        values = {"label": self.label, "value": f"{self.value:.4f}"}
        if self.user is None:
            return say(N_("{label} = {value}"), **values)
        who: Line = Name(self.user)
        if self.text:
            who = [who, " (", opening(self.text, 120), ")"]
        return say(N_("{label} of {user} {id} = {value}"), id=who, **values)

    @property
    def _missed_in_words(self) -> Line:
        """The relevant items that are missed, or nothing.

        Below a cut-off, an item may still be in the list.
        """
        if not self.missed:
            return ""
        items = [self._titled(item) for item in self.missed[:MISSED_SHOWN]]
        if len(self.missed) > MISSED_SHOWN:
            items.append("…")
        words = N_("relevant, not in the first {k}: {items}")
        if self.k is None:
            words = N_("relevant, not in the list: {items}")
        return say(words, items=joined(items), k=str(self.k))

    def _table(self, rows: pd.DataFrame, caption: str) -> Rows:
        """Return the first rows of a list as a table, with its hits tinted."""
        shown = rows.head(ROWS_SHOWN)
        if "gain" in shown and (shown["gain"] == shown["relevance"]).all():
            # A linear gain repeats the relevance, and without it two lists fit side by
            # side.
            shown = shown.drop(columns="gain")
        hits = np.flatnonzero(shown.get("relevance", 0.0) > 0)
        header, columns = [], []
        for name in map(str, shown):
            words = _(COLUMNS[name]) if name in COLUMNS else pgettext("formula", name)
            header.append(words)
            columns.append([self._cell(name, value) for value in shown[name]])
        n_named = len({"rank", *NAMED}.intersection(shown))
        n_more = len(rows) - ROWS_SHOWN
        more = ngettext("… {n:,} more row", "… {n:,} more rows", n_more)
        return Rows(
            header,
            list(zip(*columns, strict=True)),
            caption,
            left=max(n_named, 1),
            tinted=frozenset(hits.tolist()),
            note=more if n_more > 0 else "",
        )

    def _cell(self, column: str, value: Any) -> Line:
        """Return a cell of the rows."""
        if column == "term":
            return Mark("code", value) if value else ""
        if column in NAMED:
            return self._titled(value)
        if not isinstance(value, float):
            return str(value)
        if np.isnan(value):  # what is known of the items of hits alone
            return ""
        if np.isinf(value) and column in INFINITE:
            return _(INFINITE[column])
        if column in FIXED and abs(value) < 1e6:
            return f"{value:.4f}"
        return number(float(value))

    def _titled(self, item: Any) -> Line:
        """Return an item, its title first if it has one."""
        if item in self.titles:
            return [opening(self.titles[item], 40), " (", Name(item), ")"]
        return Name(item)


def printed_in_sum(value: float) -> str:
    """Return a value as it is printed in a sum."""
    return number(value, 4) if 0 < abs(value) < 1e-3 else trimmed(value)


def _sum(terms: Sequence[str]) -> str:
    """Return the first terms added up, and how many there are besides."""
    left_out = len(terms) - TERMS_SHOWN
    more = [_("… ({n} more)", n=left_out)] if left_out > 0 else []
    shown = [
        f"({term})" if len(terms) > 1 and _is_sum(term) else term
        for term in terms[:TERMS_SHOWN]
    ]
    return " + ".join([*shown, *more])


def _is_sum(term: str) -> bool:
    """Say whether a formula adds or subtracts outside of all brackets."""
    while (flat := re.sub(r"\([^()]*\)", "", term)) != term:
        term = flat
    return "+" in term or "-" in term


def _bracketed(text: str) -> str:
    """Put one side of a division in brackets, if it is a calculation itself."""
    return text if re.fullmatch(r"min\([^()]*\)|[^-/+*^]*", text) else f"({text})"
