"""The worked explanation of a metric beyond accuracy: the formula, the numbers put in, and the rows it sums over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display import html
from recnb.display.language import _, ngettext
from recnb.display.text import one_line
from recnb.metrics.formula import Formula, number
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import TermRows
from recnb.results.explanation import Explanation, on_one_line
from recnb.results.provenance import COLUMNS, console

if TYPE_CHECKING:
    import pandas as pd

#: Terms and rows beyond these are counted, not shown; the frame holds them all.
TERMS_SHOWN, ROWS_SHOWN = 10, 20


@dataclass(frozen=True, eq=False, repr=False)
class ListExplanation(Explanation):
    """How a metric beyond accuracy came by its value: of one user's list or, where `user` is None, of all lists together.

    `rows` holds what the formula sums over: a row for each item, pair of items or genre, with its term and what it adds.
    """

    line: str = ""  #: the formula with the numbers put in

    @property
    def numbers(self) -> str:
        """The formula with the numbers put in; of many rows their sum."""
        return self.line

    def to_frame(self) -> pd.DataFrame:
        """What the formula sums over: a row for each item, pair of items or genre, with its term and what that adds."""
        return self.rows.copy()

    def _text(self) -> str:
        more = len(self.rows) - ROWS_SHOWN
        shown = on_one_line(self.rows.head(ROWS_SHOWN)).rename(columns=_column)
        table = console(shown, index=False, float_format=number)
        rest = [f"  {ngettext('… {n:,} more row', '… {n:,} more rows', more)}"] if more > 0 else []
        head = [self._headline(self.label, one_line(repr(self.user))), f"  {self.formula}", f"  {self.line}"]
        return "\n".join([*head, table, *rest, self.basis])

    def _html(self) -> str:
        headline = self._headline(html.text(self.label), html.text(self.user))
        title = f"<div><b>{headline}</b> · {html.text(self.reads, 400)}</div>"
        worked = f'<div style="margin: 0.5em 0;"><code>{html.text(self.line, 3000)}</code></div>'
        shown = self.rows.head(ROWS_SHOWN)
        names = list(shown.columns)
        cells = [[_cell(name, value) for name, value in zip(names, row, strict=True)] for row in shown.itertuples(index=False)]  # fmt: skip
        words = sum(name in ("rank", "item", "other_item", "genre") for name in names)
        table = html.table([html.text(_column(name)) for name in names], cells, numbers_from=max(words, 1))
        table = f'<div style="overflow-x: auto; overflow-wrap: normal; word-break: keep-all;">{table}</div>'
        more = len(self.rows) - ROWS_SHOWN
        notes = [html.note(ngettext("… {n:,} more row", "… {n:,} more rows", more))] if more > 0 else []
        # The formula stands outside the part where mathematics is switched off; it holds nothing of the user's.
        formula = html.formula(self.latex)
        basis = html.note(html.text(self.basis, 2000))
        label = _("explanation of {label}", label=self.label)
        return html.root(title, label=self.label) + formula + html.root(worked, table, *notes, basis, label=label)


def explained(
    metric: Metric[...],
    rows: TermRows,
    value: float,
    k: int | None,
    options: Mapping[str, Any],
    *,
    named: Any,
    user: Any,
    basis: str,
) -> ListExplanation:
    """Explain a value by the rows that it is the sum of; `named` says what the item at a position is called."""
    term, out_of = metric.formulas(options)
    terms = _terms(metric, rows, term)
    return ListExplanation(
        metric=metric.name,
        symbol=metric.symbol,
        user=user,
        k=k,
        value=value,
        reads=metric.reads,
        formula=metric.formula_text(options),
        latex=metric.latex(k, options),
        terms=tuple(terms),
        out_of_terms=(),
        rows=_frame(rows, term, terms, named),
        ideal=None,
        missed=(),
        basis=basis,
        line=_numbers(metric, rows, terms, term, out_of, value),
    )


def _of_row(rows: TermRows, names: set[str], row: int) -> dict[str, float]:
    """The numbers behind the names of a formula for one row."""
    known_here = {name: rows.names[name] for name in names if name in rows.names}
    there = {name: what[row] if np.ndim(what) else what for name, what in known_here.items() if np.size(what)}
    return {name: float(what) for name, what in there.items()}


def _terms(metric: Metric[...], rows: TermRows, term: Formula) -> list[str]:
    if not metric.per_row_texts:
        return []
    texts = []
    for row, earned in enumerate(rows.earned.tolist()):
        names = _of_row(rows, term.names(), row)
        with np.errstate(all="ignore"):
            plain = np.isfinite(term.value(names))
        text = term.text(_short(names)) if plain else number(earned)  # 0 log 0 counts 0, and is not written out
        texts.append(number(earned) if text.startswith("[") else text)
    return texts


def _short(names: Mapping[str, float]) -> dict[str, float]:
    """Numbers as they are written out: four digits, whole ones as they are."""
    return {name: what if what == int(what) else float(f"{what:.4g}") for name, what in names.items()}


def _numbers(
    metric: Metric[...], rows: TermRows, terms: Sequence[str], term: Formula, out_of: Formula, value: float
) -> str:
    under = out_of.text(_short(_of_row(rows, out_of.names(), 0)))
    if not metric.per_row_texts:  # too many rows to write: their mean
        return f"{term.text(_short(_of_row(rows, term.names(), 0)))} = {number(value, 4)}"
    if metric.of == "all":
        over = number(float(np.sum(rows.earned)))
    else:
        more = [_("… ({n} more)", n=len(terms) - TERMS_SHOWN)] if len(terms) > TERMS_SHOWN else []
        over = " + ".join([*terms[:TERMS_SHOWN], *more]) or "0"
    if under == "1":
        return f"{over} = {number(value, 4)}"
    over = f"({over})" if any(sign in over for sign in " /+*") else over
    under = f"({under})" if any(sign in under for sign in "/+*") else under
    return f"{over} / {under} = {number(value, 4)}"


def _frame(rows: TermRows, term: Formula, terms: Sequence[str], named: Any) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, Any] = {}
    if rows.rank is not None:
        columns["rank"] = rows.rank
    if rows.items is not None:
        items = rows.items if rows.items.ndim == 2 else rows.items[:, np.newaxis]
        for name, of_row in zip(("item", "other_item"), items.T, strict=False):
            columns[name] = [named(int(item)) for item in of_row]
    if rows.labels:
        columns["genre"] = list(rows.labels)
    shown = ["times", *sorted(term.names() - {"times", "rank"})]
    columns |= {name: rows.names[name] for name in shown if np.ndim(rows.names.get(name, 0))}
    if terms:
        columns["term"] = terms
    columns["credit"] = rows.earned
    return pd.DataFrame(columns)


def _column(name: str) -> str:
    return _(COLUMNS[name]) if name in COLUMNS else name


def _cell(name: str, value: Any) -> str:
    if name == "term":
        return f'<code style="white-space: nowrap;">{html.text(value)}</code>'
    if name == "credit":
        return f"{value:.4f}" if abs(value) < 10 else number(float(value))
    if "item" in name:
        return html.name(value)
    return html.text(number(float(value), 4) if isinstance(value, (float, np.floating)) else value)
