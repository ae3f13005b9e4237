"""The worked explanation of one score: the formula, the numbers put in, a row per rank, the ideal list beside it.

It is read off the same `Credit` that makes the score: the credit column added up, over what it is out of, is the
number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.display import html
from recnb.display.language import _, capital, current, use_language
from recnb.display.text import one_line
from recnb.metrics.accuracy import reach
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Cutoffs, Hits, Ints
from recnb.metrics.metric import Credit, Metric
from recnb.results.provenance import COLUMNS, console

if TYPE_CHECKING:
    import pandas as pd

#: Terms and rows beyond these are counted, not shown; the frames hold them all.
TERMS_SHOWN, ROWS_SHOWN = 12, 30

#: Columns that are read down as much as across: the same decimals in each row.
FIXED = ("discount", "credit", "running")


@dataclass(frozen=True, eq=False)
class Explanation:
    """How one list came by its score."""

    metric: str
    symbol: str
    user: Any  #: whose list it is; None for a list given by itself
    k: int | None
    value: float
    reads: str
    formula: str  #: as text: sum over hits of gain/log2(1+rank), out of …
    latex: str
    terms: tuple[str, ...]  #: what each hit adds, with the numbers put in
    out_of_terms: tuple[str, ...]  #: what that is out of; () where it is out of nothing
    rows: pd.DataFrame  #: the list, a row per rank
    ideal: pd.DataFrame | None  #: the ideal list, where the metric has one
    missed: tuple[Any, ...]  #: relevant items that do not stand in the list down to k, the most relevant first
    basis: str
    by_convention: bool = False  #: whether the value was decided for a user with no relevant item
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def decided(self, value: float) -> Explanation:
        """The same list where the convention, not the formula, gives the value: that of a user with no relevant item."""
        return replace(self, value=value, rows=self.rows.assign(running=value), by_convention=True)

    @property
    def numbers(self) -> str:
        """The formula with every number put in, as one would write it on a board."""
        with use_language(self.lang):
            return self._numbers(len(self.terms) + len(self.out_of_terms))

    def _numbers(self, most: int) -> str:
        if self.by_convention:
            return _("no relevant item, so by convention {value}", value=self._answer())
        over = _sum(self.terms, most)
        if not self.out_of_terms:
            return f"{over} = {self._answer()}"
        over = f"({over})" if len(self.terms) > 1 or any(sign in over for sign in "/+*") else over
        under = _sum(self.out_of_terms, most)
        bracket = len(self.out_of_terms) > 1 or (any(sign in under for sign in "/+*") and not under.startswith("min"))
        return f"{over} / {f'({under})' if bracket else under} = {self._answer()}"

    def _answer(self) -> str:
        return (
            f"{self.value:.4f}".rstrip("0").rstrip(".") if round(self.value, 4) == self.value else f"{self.value:.4f}"
        )

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_frame(self) -> pd.DataFrame:
        """The list, a row per rank: rank, item, relevance, gain, discount, term, credit, running value."""
        return self.rows.copy()

    def __repr__(self) -> str:
        with use_language(self.lang):
            return self._text()

    def _text(self) -> str:
        parts = [
            self._headline(self.label, one_line(repr(self.user))),
            f"  {self.formula}",
            f"  {self._numbers(TERMS_SHOWN)}",
            _as_text(self.rows),
        ]
        if self.ideal is not None and self.ideal is not self.rows:
            parts += [_("ideal list:"), _as_text(self.ideal)]
        if self.missed:
            parts.append(self._missing(_listed(self.missed)))
        return "\n".join([*parts, self.basis])

    def _headline(self, label: str, user: str) -> str:
        value = f"{self.value:.4f}"
        if self.user is None:
            return _("{label} = {value}", label=label, value=value)
        return _("{label} of user {user} = {value}", label=label, user=user, value=value)

    def _missing(self, items: str) -> str:
        """Below a cut-off, an item may still stand in the list."""
        return (
            _("relevant, not in the list: {items}", items=items)
            if self.k is None
            else _("relevant, not in the first {k}: {items}", k=self.k, items=items)
        )

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return self._html()

    def _html(self) -> str:
        headline = self._headline(html.text(self.label), html.name(self.user))
        title = f"<div><b>{headline}</b> · {html.text(self.reads, 400)}</div>"
        worked = f'<div style="margin: 0.5em 0;"><code>{html.text(self._numbers(TERMS_SHOWN), 3000)}</code></div>'
        caption, ideal = _("The list"), _("The ideal list")
        tables = [_as_html(self.rows, caption if self.metric != "idcg" else ideal, self.symbol)]
        if self.ideal is not None and self.ideal is not self.rows:
            tables.append(_as_html(self.ideal, ideal, "IDCG"))
        side = "".join(f'<div style="flex: 0 1 auto;">{one}</div>' for one in tables)
        lists = f'<div style="display: flex; flex-wrap: wrap; gap: 0 2.5em; align-items: flex-start;">{side}</div>'
        missed = capital(self._missing(_listed(self.missed, html.name))) if self.missed else ""
        # The formula stands outside the part where mathematics is switched off; it holds nothing of the user's.
        formula = html.formula(self.latex)
        notes = [html.note(missed)] if missed else []
        label = _("explanation of {label}", label=self.label)
        body = html.root(worked, lists, *notes, html.note(html.text(self.basis, 2000)), label=label)
        return html.root(title, label=self.label) + formula + body


def explain(
    metric: Metric[...],
    hits: Hits,
    k: int | None,
    options: Mapping[str, Any],
    *,
    items: Mapping[int, Any] | None,
    truth_items: Sequence[Any] | None,
    user: Any,
    basis: str,
    length: int | None = None,
) -> Explanation:
    """Explain the score of the one user in `hits`; `items` holds the list's items by rank, `truth_items` the truth's."""
    cutoffs = Cutoffs.of(k)
    made = metric.at(hits, cutoffs, options)
    credit = made.spelled
    depth = int(cutoffs.depth(hits.list_length)[0, 0])
    formula, under = metric.formulas(options)
    chosen = {**metric.defaults, **options}
    of_list = credit.rows is hits
    rows = _rows(
        metric, credit, depth, chosen, formula, items if of_list else None, truth_items, length if of_list else None
    )
    ideal = None
    out_of_terms: tuple[str, ...] = ()
    possible = credit.out_of.spelled if isinstance(credit.out_of, Credit) else None
    if possible is not None:
        ideal = _rows(metric, possible, depth, chosen, formula, None, truth_items, None)
        out_of_terms = tuple(_terms(possible, chosen, formula)[possible.rows.rank <= depth]) or ("0",)
    elif under.text() != "1":
        out_of_terms = (under.text(_named(credit, chosen, under, 0)),)
    inside = credit.rows.rank <= depth
    terms = _terms(credit, chosen, formula)
    found = set(hits.truth_row[hits.rank <= depth].tolist())
    missed = () if truth_items is None else tuple(item for row, item in enumerate(truth_items) if row not in found)
    _run(rows, credit)
    if ideal is not None and possible is not None:
        _run(ideal, possible)
    return Explanation(
        metric=metric.name,
        symbol=metric.symbol,
        user=user,
        k=k,
        value=float(made.value[0, 0]),
        reads=metric.reads,
        formula=metric.formula_text(options),
        latex=metric.latex(k, options),
        terms=tuple(terms[inside & (credit.earned != 0)]),
        out_of_terms=out_of_terms,
        rows=rows,
        ideal=rows if metric.over == "ideal" else ideal,
        missed=missed,
        basis=basis,
    )


def _named(credit: Credit, chosen: Mapping[str, Any], formula: Formula, row: int) -> dict[str, float]:
    """The numbers behind the names of a formula, for one row of the list."""
    hits = credit.rows
    names = formula.names()
    depth = credit.k.depth(hits.list_length)[0, 0]
    known: dict[str, Any] = {
        "k": depth,
        "n_relevant": hits.n_relevant[0],
        "n_hits": (hits.rank <= depth).sum(),
        "list_length": hits.list_length[0],
        "max_relevance": chosen.get("max_relevance") or hits.max_relevance,
        **{name: value for name, value in chosen.items() if name in ("beta", "p")},
    }
    if len(hits.rank):
        known |= {
            "rank": hits.rank[row],
            "relevance": hits.relevance[row],
            "nth": hits.nth[row],
            "first": hits.nth[row] == 1,
        }
        if "preferred" in names:
            known["preferred"] = hits.preferred[row]
        if "reach" in names:
            stop = (np.exp2(hits.relevance) - 1.0) / 2.0 ** known["max_relevance"]
            known["reach"] = reach(hits, stop)[row]
    return {name: float(value) for name, value in known.items() if name in names}


def _terms(credit: Credit, chosen: Mapping[str, Any], formula: Formula) -> np.ndarray[Any, Any]:
    texts = [formula.text(_named(credit, chosen, formula, row)) for row in range(len(credit.rows.rank))]
    return np.array([text if not text.startswith("[") else "1" for text in texts], dtype=object)


def _rows(
    metric: Metric[...],
    credit: Credit,
    depth: int,
    chosen: Mapping[str, Any],
    formula: Formula,
    items: Mapping[int, Any] | None,
    truth_items: Sequence[Any] | None,
    length: int | None,
) -> pd.DataFrame:
    """A row per rank down to the cut-off: all of the list, or all of the ideal one."""
    import pandas as pd

    hits = credit.rows
    ranks, at, names = _places(hits, depth, items, truth_items, length)
    is_hit = at >= 0
    columns: dict[str, Any] = {"rank": ranks}
    if names is not None:
        columns["item"] = names
    columns["relevance"] = _where(is_hit, hits.relevance, at)
    if "gain" in metric.meanings:
        columns["gain"] = _where(is_hit, gain_of(hits.relevance, chosen["gain"]), at)
    if "discount" in metric.meanings:
        columns["discount"] = discount_of(ranks, chosen["discount"], chosen["log_base"])
    terms = _terms(credit, chosen, formula)
    earned = _where(is_hit, credit.earned, at)
    columns["term"] = [terms[row] if hit and value else "" for row, hit, value in zip(at, is_hit, earned, strict=True)]
    columns["credit"] = earned
    return pd.DataFrame(columns)


def _places(
    hits: Hits, depth: int, items: Mapping[int, Any] | None, truth_items: Sequence[Any] | None, length: int | None
) -> tuple[Ints, Ints, list[Any] | None]:
    """Ranks down to the cut-off, which hit stands on each (-1: none), and the items if they have names.

    A convention may put a hit elsewhere than in the list as given: equal scores on one shared rank, items that were
    missed below the end. Its row is then where it counts, and there only.
    """
    given: Mapping[int, Any] = dict.fromkeys(range(1, min(length or 0, depth) + 1)) if items is None else items
    named = [
        None if truth_items is None else truth_items[row] if row >= 0 else _("as good as the best")
        for row in hits.truth_row.tolist()
    ]
    counted = list(zip(hits.rank.tolist(), named, strict=True))
    moved = {item for rank, item in counted if items is not None and items.get(rank) != item}
    stands = {rank for rank, item in counted if item not in moved}
    rows = [(rank, index, item) for index, (rank, item) in enumerate(counted)]
    rows += [(rank, -1, item) for rank, item in given.items() if rank not in stands and item not in moved]
    rows = sorted((row for row in rows if row[0] <= depth), key=lambda row: row[0])
    ranks, at = (np.array([row[part] for row in rows], dtype=np.int64) for part in (0, 1))
    return ranks, at, None if items is None and truth_items is None else [row[2] for row in rows]


def _where(is_hit: np.ndarray[Any, Any], values: Any, at: np.ndarray[Any, Any]) -> Any:
    return np.where(is_hit, np.asarray(values)[at], 0.0) if len(values) else np.zeros(len(at))


def _run(rows: pd.DataFrame, credit: Credit) -> None:
    """The value as it stands at each rank; it ends at the score."""
    possible = (
        credit.possible if isinstance(credit.possible, float) else float(np.broadcast_to(credit.possible, (1, 1))[0, 0])
    )
    rows["running"] = rows["credit"].cumsum() / possible if possible else 0.0


def _sum(terms: Sequence[str], most: int) -> str:
    if not terms:
        return "0"
    shown = list(terms[:most])
    more = [_("… ({n} more)", n=len(terms) - most)] if len(terms) > most else []
    return " + ".join([*shown, *more])


def _listed(items: Sequence[Any], shown: Callable[[Any], str] = one_line, most: int = 10) -> str:
    more = f" {_('and {n:,} more', n=len(items) - most)}" if len(items) > most else ""
    return ", ".join(map(shown, items[:most])) + more


def on_one_line(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as a console may show them: what the user calls items and genres on one line each."""
    return rows.assign(**{name: rows[name].map(one_line) for name in ("item", "other_item", "genre") if name in rows})


def _as_text(rows: pd.DataFrame) -> str:
    if not len(rows):
        return f"  {_('(no items)')}"
    more = f"\n  {_('… {n:,} more ranks', n=len(rows) - ROWS_SHOWN)}" if len(rows) > ROWS_SHOWN else ""
    shown = on_one_line(rows.head(ROWS_SHOWN))
    shown = shown.rename(columns={column: _(COLUMNS[column]) for column in rows.columns})
    fixed = {_(COLUMNS[column]): "{:.4f}".format for column in FIXED if column in rows}
    return console(shown, index=False, formatters=fixed, float_format=number) + more


def _as_html(rows: pd.DataFrame, caption: str, symbol: str) -> str:
    shown = rows.head(ROWS_SHOWN)
    if "gain" in shown and (shown["gain"] == shown["relevance"]).all():
        # A linear gain repeats the relevance, and without it two lists fit side by side.
        shown = shown.drop(columns="gain")
    first_number = 2 if "item" in shown else 1
    cells = [
        [_cell(column, value) for column, value in zip(shown.columns, row, strict=True)]
        for row in shown.itertuples(index=False)
    ]
    running = _("running {symbol}", symbol=symbol)
    header = [running if column == "running" else _(COLUMNS[column]) for column in shown.columns]
    hits = [index for index, value in enumerate(shown["relevance"]) if value > 0]
    more = html.note(_("… {n:,} more ranks", n=len(rows) - ROWS_SHOWN)) if len(rows) > ROWS_SHOWN else ""
    return html.table(header, cells, caption=caption, numbers_from=first_number, marked=hits) + more


def _cell(column: str, value: Any) -> str:
    if column == "term":
        return f"<code>{html.text(value)}</code>" if value else ""
    if column in FIXED:
        return f"{value:.4f}"
    if column == "item":
        return html.name(value)
    return html.text(number(float(value)) if isinstance(value, (float, np.floating)) else value)
