"""The worked explanation of a score: the formula, the same with numbers, and the rows that it sums over.

For a metric of accuracy it is made from the `Credit` of the score: the sum of the credit column, divided by the
denominator, is the score. For a metric beyond accuracy it is made from `TermRows`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from recnb.display.language import N_, _, current, ngettext, use_language
from recnb.display.templates import name, render, translated, user_text
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError
from recnb.metrics.accuracy import reach
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Cutoffs, Hits, Ints
from recnb.metrics.metric import Credit, Metric, any_metric
from recnb.metrics.recommendation_lists import TermRows, Whole
from recnb.results import beyond_accuracy
from recnb.results.aggregation import cutoffs_under
from recnb.results.arguments import position_of
from recnb.results.provenance import COLUMNS, console, titled

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData

#: Terms and rows beyond these are counted, not shown; the frames hold them all.
TERMS_SHOWN, ROWS_SHOWN = 12, 30

#: Columns that are read down as much as across: the same decimals in each row.
FIXED = ("discount", "credit", "running")


@dataclass(frozen=True, eq=False)
class Explanation:
    """How a score is computed: of one user's list or, if `user` is None, of a list given by itself or of all lists.

    `rows` holds what the formula sums over: the list with a row per rank or, beyond accuracy, a row for each item, pair of
    items or genre, with its term and what it adds.
    """

    metric: str
    symbol: str
    user: Any  #: whose list it is; None for a list given by itself, and for all lists together
    k: int | None
    value: float
    reads: str
    formula: str  #: as text: sum over hits of gain/log2(1+rank), out of …
    latex: str
    terms: tuple[str, ...]  #: the credit of each row as a formula with numbers
    out_of_terms: tuple[str, ...]  #: the denominator as formulas with numbers; () if there is none
    rows: pd.DataFrame  #: what the formula sums over
    ideal: pd.DataFrame | None  #: the ideal list, where the metric has one
    missed: tuple[Any, ...]  #: relevant items that are not in the list down to k, the most relevant first
    basis: str
    by_convention: bool = False  #: whether the value is set by the convention, for a user with no relevant item
    line: str = ""  #: beyond accuracy, the formula with numbers
    titles: Mapping[Any, str] = field(default_factory=dict)  #: titles of the items that have one
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def _decided(self, value: float) -> Explanation:
        """The explanation for a user with no relevant item, whose value is set by the convention."""
        return replace(self, value=value, rows=self.rows.assign(running=value), by_convention=True)

    @property
    def numbers(self) -> str:
        """The formula with all numbers; beyond accuracy, many rows are given as their sum."""
        with use_language(self.lang):
            return self._numbers(len(self.terms) + len(self.out_of_terms))

    def _numbers(self, most: int) -> str:
        if self.line:
            return self.line
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
        """What the formula sums over: of a list, a row per rank with item, relevance, gain, discount, term, credit, running value."""
        return self.rows.copy()

    def __repr__(self) -> str:
        with use_language(self.lang):
            parts = [
                self._headline(one_line(repr(self.user.item() if isinstance(self.user, np.integer) else self.user))),
                f"  {self.formula}",
                f"  {self._numbers(TERMS_SHOWN)}",
                self._as_text(self.rows),
            ]
            if self.ideal is not None and self.ideal is not self.rows:
                parts += [_("ideal list:"), self._as_text(self.ideal)]
            if self.missed:
                parts.append(self._missing(_listed(self.missed, self._titled)))
            return "\n".join([*parts, self.basis])

    def _headline(self, user: str) -> str:
        if self.user is None:
            return _("{label} = {value}", label=self.label, value=f"{self.value:.4f}")
        return translated(
            N_("{label} of user {user} = {value}"), label=self.label, user=user, value=f"{self.value:.4f}"
        )

    def _missing(self, items: str) -> str:
        """Below a cut-off, an item may still be in the list."""
        return (
            translated(N_("relevant, not in the list: {items}"), items=items)
            if self.k is None
            else translated(N_("relevant, not in the first {k}: {items}"), k=self.k, items=items)
        )

    def _titled(self, item: Any) -> str:
        """An item on one line, its title first if it has one."""
        title = self.titles.get(item)
        return one_line(item) if title is None else f"{one_line(title)} ({one_line(item)})"

    def _titled_html(self, item: Any) -> Markup:
        return titled(item, self.titles)

    def _as_text(self, rows: pd.DataFrame) -> str:
        """The rows for a console, what the user calls items and genres on one line each."""
        if not len(rows) and "running" in rows:
            return f"  {_('(no items)')}"
        more = _more(rows)
        shown = rows.head(ROWS_SHOWN)
        shown = shown.assign(**{column: shown[column].map(self._titled) for column in _NAMED if column in shown})
        headers = {column: _header(column) for column in map(str, shown)}
        fixed = {headers[column]: "{:.4f}".format for column in FIXED if column in rows and "running" in rows}
        table = console(shown.rename(columns=headers), index=False, formatters=fixed, float_format=number)
        return f"{table}\n  {more}" if more else table

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            caption, ideal = (_("The list"), _("The ideal list")) if "running" in self.rows else ("", "")
            lists = [self._as_html(self.rows, caption if self.metric != "idcg" else ideal, self.symbol)]
            if self.ideal is not None and self.ideal is not self.rows:
                lists.append(self._as_html(self.ideal, ideal, "IDCG"))
            return str(render(
                "results/explanation.jinja", explanation=self, headline=self._headline(name(self.user)),
                numbers=self._numbers(TERMS_SHOWN), lists=lists,
                missed=self._missing(_listed(self.missed, self._titled_html)) if self.missed else "",
            ))  # fmt: skip

    def _as_html(self, rows: pd.DataFrame, caption: str, symbol: str) -> dict[str, Any]:
        """The rows as a template shows them."""
        shown = rows.head(ROWS_SHOWN)
        if "gain" in shown and (shown["gain"] == shown["relevance"]).all():
            # A linear gain repeats the relevance, and without it two lists fit side by side.
            shown = shown.drop(columns="gain")
        running = _("running {symbol}", symbol=symbol)
        cells = [
            [
                self._cell(column, value, exact="running" in shown)
                for column, value in zip(map(str, shown), row, strict=True)
            ]
            for row in shown.itertuples(index=False)
        ]
        return {
            "header": [running if column == "running" else _header(str(column)) for column in shown],
            "rows": cells,
            "caption": caption,
            "numbers_from": max(sum(column in (*_NAMED, "rank") for column in shown), 1),
            "hits": [at for at, value in enumerate(shown["relevance"]) if value > 0] if "relevance" in shown else [],
            "more": _more(rows),
        }

    def _cell(self, column: str, value: Any, *, exact: bool) -> str:
        if column == "term":
            return Markup('<code style="white-space: nowrap;">{}</code>').format(user_text(value)) if value else ""
        if column in FIXED and (exact or abs(value) < 10):
            return f"{value:.4f}"
        if "item" in column:
            return self._titled_html(value)
        return user_text(number(float(value), 6 if exact else 4) if isinstance(value, (float, np.floating)) else value)


#: Columns of what the user has names for.
_NAMED = ("item", "other_item", "genre")


def explanation_of(
    data: EvaluationData, metric: str, user: Any, k: int | None, options: Mapping[str, Any], lang: str | None = None
) -> Explanation:
    """The explanation of a metric of accuracy or beyond it, of one user's list or of all lists together."""
    with use_language(lang):
        chosen = any_metric(metric)
        return (_of_accuracy if chosen.is_accuracy else _beyond_accuracy)(data, chosen, user, k, options)


def _of_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: int | None, options: Mapping[str, Any]
) -> Explanation:
    metric.check(options)
    if data.library is not None:
        scoring = data.scoring(metric, options)
        own = type(data)(scoring.prepared, side_data=data.side_data)
        return _of_accuracy(own, metric, user, k, scoring.options)
    cutoffs = cutoffs_under(data.convention, Cutoffs.one(k))
    position = data.position(user)
    hits = data.scoring(metric, options).hits(cutoffs).of(position)
    if hits.tied is not None:
        raise beyond_accuracy.many_orders()
    convention = data.convention.with_metric({**metric.defaults, **options})
    items, truth_items = data.list_of(position), data.truth_of(position)["item"].to_list()
    explanation = explain(
        metric, hits, cutoffs.values[0], options, items=items, truth_items=truth_items, user=user,
        basis="; ".join([*convention.phrases(graded=data.prepared.graded), *data.notes]),
    )  # fmt: skip
    titles = data.item_titles(list(dict.fromkeys([*items.values(), *truth_items])))
    explanation = replace(explanation, titles=titles)
    if hits.n_relevant[0] == 0 and data.convention.no_relevant in ("one", "nan"):
        return explanation._decided(1.0 if data.convention.no_relevant == "one" else np.nan)
    return explanation


def _beyond_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: object, options: Mapping[str, Any]
) -> Explanation:
    found = beyond_accuracy.result_of(data, metric, Cutoffs.one(k).values[0], options)
    result = found.result
    if isinstance(result, Whole):
        if user is not None:
            raise OptionError(
                f"{metric.name} is one number of all lists together, and no user has a value of their own: "
                f"type .explain({metric.name!r}, k={found.k!r})."
            )
        rows = TermRows(np.zeros(0), {}) if result.rows is None else result.rows()
        value = float(result)
    else:
        if user is None:
            raise OptionError(
                f"say whose list: .explain({metric.name!r}, user, k={found.k!r}), such as user={found.users[0]!r}."
            )
        position = position_of(user, found.users, evaluated=found.of_evaluated)
        if not result.counted[position]:
            raise RecnbError(f"{metric.name}: user {user!r} has no value. {metric.no_value}")
        assert result.rows is not None
        rows, value = result.rows(position), float(result.value[position])
    term, out_of = metric.formulas(found.options)
    terms = _terms_of_rows(metric, rows, term)
    items = [] if rows.items is None else [data.item_data.items[int(item)] for item in rows.items.ravel()]
    frame = _frame(rows, term, terms, items)
    return Explanation(
        **_about(metric, found.k, found.options),
        user=user,
        value=value,
        terms=tuple(terms),
        out_of_terms=(),
        rows=frame,
        ideal=None,
        missed=(),
        basis=found.basis(),
        line=_line(metric, rows, terms, term, out_of, value),
        titles=data.item_titles(list(dict.fromkeys(items[: 2 * ROWS_SHOWN]))),
    )


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
    result = metric.at(hits, cutoffs, options)
    credit = result.spelled
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
        **_about(metric, k, options),
        user=user,
        value=float(result.value[0, 0]),
        terms=tuple(terms[inside & (credit.earned != 0)]),
        out_of_terms=out_of_terms,
        rows=rows,
        ideal=rows if metric.over == "ideal" else ideal,
        missed=missed,
        basis=basis,
    )


def _about(metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an explanation that describe the metric."""
    return {
        "metric": metric.name, "symbol": metric.symbol, "k": k, "reads": metric.reads,
        "formula": metric.formula_text(options), "latex": metric.latex(k, options),
    }  # fmt: skip


def _named(credit: Credit, chosen: Mapping[str, Any], formula: Formula, row: int) -> dict[str, float]:
    """The numbers behind the names of a formula, for one row of the list."""
    hits = credit.rows
    names = formula.names()
    depth = credit.k.depth(hits.list_length)[0, 0]
    numbers: dict[str, Any] = {
        "k": depth,
        "n_relevant": hits.n_relevant[0],
        "n_hits": (hits.rank <= depth).sum(),
        "list_length": hits.list_length[0],
        "max_relevance": chosen.get("max_relevance") or hits.max_relevance,
        **{name: value for name, value in chosen.items() if name in ("beta", "p")},
    }
    if len(hits.rank):
        numbers |= {
            "rank": hits.rank[row],
            "relevance": hits.relevance[row],
            "nth": hits.nth[row],
            "first": hits.nth[row] == 1,
        }
        if "preferred" in names:
            numbers["preferred"] = hits.preferred[row]
        if "reach" in names:
            stop = (np.exp2(hits.relevance) - 1.0) / 2.0 ** numbers["max_relevance"]
            numbers["reach"] = reach(hits, stop)[row]
    return {name: float(value) for name, value in numbers.items() if name in names}


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
    """Ranks down to the cut-off, the hit at each (-1: none), and the items if they have names.

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
    in_place = {rank for rank, item in counted if item not in moved}
    rows = [(rank, index, item) for index, (rank, item) in enumerate(counted)]
    rows += [(rank, -1, item) for rank, item in given.items() if rank not in in_place and item not in moved]
    rows = sorted((row for row in rows if row[0] <= depth), key=lambda row: row[0])
    ranks, at = (np.array([row[part] for row in rows], dtype=np.int64) for part in (0, 1))
    return ranks, at, None if items is None and truth_items is None else [row[2] for row in rows]


def _where(is_hit: np.ndarray[Any, Any], values: Any, at: np.ndarray[Any, Any]) -> Any:
    return np.where(is_hit, np.asarray(values)[at], 0.0) if len(values) else np.zeros(len(at))


def _run(rows: pd.DataFrame, credit: Credit) -> None:
    """Add the value at each rank as a column; the last is the score."""
    possible = (
        credit.possible if isinstance(credit.possible, float) else float(np.broadcast_to(credit.possible, (1, 1))[0, 0])
    )
    rows["running"] = rows["credit"].cumsum() / possible if possible else 0.0


def _of_row(rows: TermRows, names: frozenset[str], row: int) -> dict[str, float]:
    """The numbers behind the names of a formula for one row: four digits, whole ones as they are."""
    values = {name: rows.names[name] for name in names if name in rows.names}
    of_row = {name: value[row] if np.ndim(value) else value for name, value in values.items() if np.size(value)}
    return {name: float(value) for name, value in of_row.items()}


def _short(names: Mapping[str, float]) -> dict[str, float]:
    """Numbers as they are written out: four digits, whole ones as they are."""
    return {name: value if value == int(value) else float(f"{value:.4g}") for name, value in names.items()}


def _terms_of_rows(metric: Metric[...], rows: TermRows, term: Formula) -> list[str]:
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


def _line(
    metric: Metric[...], rows: TermRows, terms: Sequence[str], term: Formula, out_of: Formula, value: float
) -> str:
    under = out_of.text(_short(_of_row(rows, out_of.names(), 0)))
    if not metric.per_row_texts:  # too many rows to write: their mean
        return f"{term.text(_short(_of_row(rows, term.names(), 0)))} = {number(value, 4)}"
    over = number(float(np.sum(rows.earned))) if metric.of == "all" else _sum(terms, TERMS_SHOWN)
    if under == "1":
        return f"{over} = {number(value, 4)}"
    over = f"({over})" if any(sign in over for sign in " /+*") else over
    under = f"({under})" if any(sign in under for sign in "/+*") else under
    return f"{over} / {under} = {number(value, 4)}"


def _frame(rows: TermRows, term: Formula, terms: Sequence[str], items: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, Any] = {}
    if rows.rank is not None:
        columns["rank"] = rows.rank
    if rows.items is not None:
        width = 2 if rows.items.ndim == 2 else 1
        columns |= {name: items[at::width] for at, name in enumerate(("item", "other_item")[:width])}
    if rows.labels:
        columns["genre"] = list(rows.labels)
    shown = ["times", *sorted(term.names() - {"times", "rank"})]
    columns |= {name: rows.names[name] for name in shown if np.ndim(rows.names.get(name, 0))}
    if terms:
        columns["term"] = terms
    columns["credit"] = rows.earned
    return pd.DataFrame(columns)


def _sum(terms: Sequence[str], most: int) -> str:
    more = [_("… ({n} more)", n=len(terms) - most)] if len(terms) > most else []
    return " + ".join([*terms[:most], *more]) or "0"


def _listed(items: Sequence[Any], shown: Callable[[Any], str], most: int = 10) -> str:
    more = f" {_('and {n:,} more', n=len(items) - most)}" if len(items) > most else ""
    texts = [shown(item) for item in items[:most]]
    return (Markup(", ") if isinstance(texts[0], Markup) else ", ").join(texts) + more


def _header(column: str) -> str:
    return _(COLUMNS[column]) if column in COLUMNS else column


def _more(rows: pd.DataFrame) -> str:
    """How many rows are not shown, if any."""
    n = len(rows) - ROWS_SHOWN
    if n <= 0:
        return ""
    if "running" in rows:
        return _("… {n:,} more ranks", n=n)
    return ngettext("… {n:,} more row", "… {n:,} more rows", n)
