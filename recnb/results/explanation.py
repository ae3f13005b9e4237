"""The worked explanation of a score: the formula, the same with numbers, and the rows that it sums over.

For a metric of accuracy it is made from the `Credit` of the score: the sum of the credit column, divided by the
denominator, is the score. For a metric beyond accuracy it is made from `TermRows`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from recnb.conventions import Convention, shown_at
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, current, ngettext, pgettext, use_language
from recnb.display.svg import COLOURS
from recnb.display.templates import joined, name, render, translated, user_text
from recnb.display.text import one_line, trimmed
from recnb.errors import OptionError, RecnbError, Suggesting
from recnb.metrics.accuracy import reach
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Cutoff, Cutoffs, Floats, Hits, Ints
from recnb.metrics.metric import Credit, Metric
from recnb.metrics.recommendation_lists import TermRows, Whole
from recnb.results.arguments import check_options, measure_at
from recnb.results.evaluation_data import NOTHING_RELEVANT, cutoffs_under, not_evaluated, position_of, undefined_in
from recnb.results.plots import axes, plain
from recnb.results.provenance import console, titled
from recnb.results.values import many_orders, of_evaluated, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData

#: Columns of explanations and lists.
COLUMNS: dict[str, str] = {
    "rank": N_("rank"),
    "item": N_("item"),
    "relevance": N_("relevance"),
    "judged": N_("judged"),
    "gain": N_("gain"),
    "discount": N_("discount"),
    "term": N_("term"),
    "credit": N_("credit"),
    "running": N_("running sum"),
    "share": N_("share"),
    "hit": N_("hit, relevance"),
    "other_item": N_("other item"),
    "genre": N_("genre"),
    "count": N_("count"),
    "times": N_("times shown"),
    "place": N_("place"),
    "cosine": N_("cosine"),
    "jaccard": N_("jaccard"),
    "together": N_("together"),
    "distance": N_("distance"),
    "differing": N_("differing"),
    "expected_rank": N_("expected rank"),
    "popular_place": N_("place by popularity"),
    "tail": N_("in the tail"),
    "p": N_("p, history"),
    "q": N_("q, list"),
}

#: Terms and rows beyond these are counted, not shown; the frames hold them all.
TERMS_SHOWN, ROWS_SHOWN = 12, 30

#: Columns that are read down as much as across: the same decimals in each row.
FIXED = ("discount", "credit", "running")


@dataclass(frozen=True, eq=False)
class Explanation(Suggesting):
    """The computation of a score: of one user's list or, if `user` is None, of a list given by itself or of all lists.

    `rows` holds what the formula sums over: the list with a row per rank or, beyond accuracy, a row for each item, pair of
    items or genre, with its term and what it adds.
    """

    metric: str
    symbol: str
    user: Any  #: whose list it is; None for a list given by itself, and for all lists together
    k: int | None
    value: float
    reads: str
    formula: str  #: as text: add gain/log2(1+rank) for each hit, divide by …
    latex: str
    terms: tuple[str, ...]  #: the credit of each row as a formula with numbers
    rows: pd.DataFrame  #: those that the formula sums over
    basis: str
    out_of_terms: tuple[str, ...] = ()  #: the denominator as formulas with numbers; () if there is none
    out_of: float = 1.0  #: the denominator
    ideal: pd.DataFrame | None = None  #: the ideal list, where the metric has one
    missed: tuple[Any, ...] = ()  #: relevant items that are not in the list down to k, the most relevant first
    line: str = ""  #: the formula with numbers if it is not the sum of `terms`, or why there is nothing to add up
    n_rows: int | None = None  #: the rows that the formula sums over, if `rows` holds the first of them only
    titles: Mapping[Any, str] = field(default_factory=dict)  #: titles of the items that have one
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def numbers(self) -> str:
        """The formula with all numbers; beyond accuracy, many rows are given as their sum."""
        with use_language(self.lang):
            return self._numbers(len(self.terms) + len(self.out_of_terms))

    def _numbers(self, most: int) -> str:
        if self.line:
            return self.line
        over = _sum(self.terms, most)
        if self.out_of_terms:
            quotient = f"{_printed(float(self.rows['credit'].sum()))} / {_printed(self.out_of)}"
            over = " = ".join(dict.fromkeys([_divided(over, _sum(self.out_of_terms, most)), quotient]))
        return f"{over} = {_printed(self.value)}"

    @property
    def _lists(self) -> list[pd.DataFrame]:
        """The rows and, if the metric has another list, those of the ideal list."""
        return [self.rows] if self.ideal is None or self.ideal is self.rows else [self.rows, self.ideal]

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_frame(self) -> pd.DataFrame:
        """Return the rows that the formula sums over: of a list, a row per rank with item, relevance, gain, discount, term, credit, running sum."""
        return self.rows.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the credit of each row, beside that of the ideal list if there is one, on `ax` or on a new figure."""
        ax = axes(ax)
        n_lists = len(self._lists)
        with lettering(self.lang, rc=True) as fonts:
            names = [_("The list"), _("The ideal list")]
            for at, rows in enumerate(self._lists):
                place = np.asarray(rows["rank"]) if "rank" in rows else np.arange(1, len(rows) + 1)
                place = place + 0.8 * ((at + 0.5) / n_lists - 0.5)
                ax.bar(place, rows["credit"], 0.8 / n_lists, color=COLOURS[at], label=names[at])
            ax.set_xlabel(_("rank") if "rank" in self.rows else "", **fonts)
            ax.set_ylabel(_("credit"), **fonts)
            ax.set_title(self._headline(plain(one_line(self.user))), **fonts)
            if n_lists > 1:
                ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        with use_language(self.lang):
            parts = [
                self._headline(one_line(repr(self.user.item() if isinstance(self.user, np.integer) else self.user))),
                f"  {self.formula}",
                f"  {self._numbers(TERMS_SHOWN)}",
                f"\n{_('ideal list:')}\n".join(map(self._as_text, self._lists)),
            ]
            if self.missed:
                parts.append(self._missing(_listed(self.missed, self._titled)))
            return "\n".join([*parts, self.basis])

    def _headline(self, user: str) -> str:
        label, value = self.label, f"{self.value:.4f}"
        if self.user is None:
            return _("{label} = {value}", label=label, value=value)
        return translated(N_("{label} of user {user} = {value}"), label=label, user=user, value=value)

    def _missing(self, items: str) -> str:
        """Below a cut-off, an item may still be in the list."""
        if self.k is None:
            return translated(N_("relevant, not in the list: {items}"), items=items)
        return translated(N_("relevant, not in the first {k}: {items}"), k=self.k, items=items)

    def _titled(self, item: Any) -> str:
        """Return an item on one line, its title first if it has one."""
        title = self.titles.get(item)
        return one_line(item) if title is None else f"{one_line(title)} ({one_line(item)})"

    def _as_text(self, rows: pd.DataFrame) -> str:
        """Return the rows for a console, what the user calls items and genres on one line each."""
        if not len(rows) and "running" in rows:
            return f"  {_('(no items)')}"
        more = self._more(rows)
        shown = rows.head(ROWS_SHOWN)
        shown = shown.assign(**{column: shown[column].map(self._titled) for column in _NAMED if column in shown})
        fixed = {column: "{:.4f}".format for column in FIXED if column in rows and "running" in rows}
        if current() != "en":
            headers = {column: _header(column) for column in map(str, shown)}
            shown, fixed = shown.rename(columns=headers), {headers[column]: how for column, how in fixed.items()}
        table = console(shown, index=False, formatters=fixed, float_format=number)
        return f"{table}\n  {more}" if more else table

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            captions = [_("The list"), _("The ideal list")] if "running" in self.rows else ["", ""]
            lists = map(self._as_html, self._lists, captions[self.ideal is self.rows :])
            return str(render(
                "results/explanation.jinja", explanation=self, headline=self._headline(name(self.user)),
                numbers=self._numbers(TERMS_SHOWN), lists=list(lists),
                missed=self._missing(_listed(self.missed, lambda item: titled(item, self.titles))) if self.missed else "",
            ))  # fmt: skip

    def _as_html(self, rows: pd.DataFrame, caption: str) -> dict[str, Any]:
        """Return the rows as a template shows them."""
        shown = rows.head(ROWS_SHOWN)
        if "gain" in shown and (shown["gain"] == shown["relevance"]).all():
            # A linear gain repeats the relevance, and without it two lists fit side by side.
            shown = shown.drop(columns="gain")
        exact = "running" in shown
        cells = ([self._cell(column, value, exact=exact) for value in shown[column]] for column in map(str, shown))
        hits = np.flatnonzero(shown["relevance"] > 0).tolist() if "relevance" in shown else []
        numbers_from = max(sum(column in (*_NAMED, "rank") for column in shown), 1)
        header = [_header(str(column)) for column in shown]
        table = {"header": header, "rows": list(zip(*cells, strict=True)), "numbers_from": numbers_from}
        return {**table, "caption": caption, "hits": hits, "more": self._more(rows)}

    def _more(self, rows: pd.DataFrame) -> str:
        """Return the number of rows that are not shown, if any are not."""
        n = (self.n_rows or len(rows)) - ROWS_SHOWN
        if n > 0 and "running" in rows:
            return _("… {n:,} more ranks", n=n)
        return ngettext("… {n:,} more row", "… {n:,} more rows", n) if n > 0 else ""

    def _cell(self, column: str, value: Any, *, exact: bool) -> str:
        if column == "term":
            return Markup('<code style="white-space: nowrap;">{}</code>').format(user_text(value)) if value else ""
        if column in FIXED and (exact or abs(value) < 10):
            return f"{value:.4f}"
        if "item" in column:
            return titled(value, self.titles)
        if not isinstance(value, (float, np.floating)):
            return user_text(value)
        # All digits before the point are shown, unless they are too many to be read.
        digits = len(f"{abs(value):.0f}")
        return user_text(number(float(value), max(6 if exact else 4, digits if digits < 12 else 0)))


#: Columns of what the user has names for.
_NAMED = ("item", "other_item", "genre")


def explanation_of(
    data: EvaluationData, metric: str, user: Any, k: int | None, options: Mapping[str, Any], lang: str | None = None
) -> Explanation:
    """Return the explanation of a metric of accuracy or beyond it, of one user's list or of all lists together."""
    with use_language(lang):
        chosen, k = measure_at(metric, k)
        if chosen.over == "hits" and not chosen.per_row_texts:
            asked = metric if chosen.cutoff == k else f"{metric}@{k}"
            raise OptionError(
                f"{chosen.symbol} counts rows and has no terms to explain: see .measure({asked!r}).per_user."
            )
        if user is None and chosen.of == "user":
            users = data.prepared.users if chosen.is_accuracy else data.item_data.users
            raise OptionError(f"say whose list: .explain({metric!r}, user, k={k!r}), such as user={users[0]!r}.")
        return (_of_accuracy if chosen.is_accuracy else _beyond_accuracy)(data, chosen, user, k, options)


def _of_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: int | None, options: Mapping[str, Any]
) -> Explanation:
    check_options(metric, options)
    if data.library is not None or metric.data:
        scoring = data.scoring(metric, options, whole=k is None)
        metric = replace(metric, data={})
        of_library = type(data)(scoring.prepared, side_data=data.side_data)
        return _of_accuracy(of_library, metric, user, k, scoring.options)
    cutoffs = cutoffs_under(data.convention, Cutoffs.one(k))
    position = data.position(user)
    hits = data.scoring(metric, options).hits(cutoffs).of_user(position)
    if hits.tied is not None:
        if (hits.tied.weight < 1).any():
            raise many_orders()
        hits = replace(hits, tied=None)  # equal scores, if there are any, are of others
    convention = data.convention.with_metric(shown_at(cutoffs.values[0], {**metric.defaults, **options}))
    items, truth_items = data.list_of(position), data.truth_of(position)["item"].to_list()
    explanation = explain(
        metric, hits, cutoffs, options, items=items, truth_items=truth_items, user=user, convention=data.convention,
        basis="; ".join([*convention.phrases(graded=data.prepared.graded), *data.notes]),
    )  # fmt: skip
    return replace(explanation, titles=data.item_titles(list(dict.fromkeys([*items.values(), *truth_items]))))


def _beyond_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: object, options: Mapping[str, Any]
) -> Explanation:
    check_options(metric, options)
    found = values_of(data, metric, Cutoffs.one(k), options)
    (cutoff,), (result,) = found.k, found.results
    if isinstance(result, Whole):
        if user is not None:
            raise OptionError(
                f"{metric.name} is one number of all lists together, and no user has a value of their own: "
                f"type .explain({metric.name!r}, k={cutoff!r})."
            )
        rows, value = TermRows(np.zeros(0), {}) if result.rows is None else result.rows(), float(result)
    else:
        position = position_of(user, found.users, evaluated=of_evaluated(metric))
        if not result.counted[position]:
            raise RecnbError(f"{metric.name}: user {user!r} has no value. {metric.no_value}")
        assert result.rows is not None
        rows, value = result.rows(position), float(result.value[position])
    term, out_of = metric.formulas(found.options)
    terms = _terms(rows, term, short=True) if metric.per_row_texts else []
    items = [] if rows.items is None else [data.item_data.items[int(item)] for item in rows.items.ravel()]
    return Explanation(
        **_about(metric, cutoff, found.options),
        user=user,
        value=value,
        terms=tuple(terms),
        rows=_frame(rows, term, terms, items),
        basis="; ".join(found.basis.phrases()),
        line=_by_convention(value) if rows.undefined else _line(metric, rows, terms, term, out_of, value),
        n_rows=rows.n_rows,
        titles=data.item_titles(list(dict.fromkeys(items[: 2 * ROWS_SHOWN]))),
    )


def explain(
    metric: Metric[...],
    hits: Hits,
    k: Cutoff,
    options: Mapping[str, Any],
    *,
    items: Mapping[int, Any],
    truth_items: Sequence[Any] | None,
    user: Any,
    convention: Convention,
    basis: str,
) -> Explanation:
    """Explain the score of the one user in `hits`: `items` holds the list's items by rank, `truth_items` the truth's, if named."""
    cutoffs = Cutoffs.of(k)
    result = metric.at(hits, cutoffs, options)
    credit = result.by_rank
    depth = int(cutoffs.depth(hits.list_length)[0, 0])
    formula, under = metric.formulas(options)
    chosen = {**metric.defaults, **options}

    def rows_of(credit: Credit) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Return a row per rank down to the cut-off, and the terms of the hits there."""
        of_list, earning = credit.rows is hits, credit.rows
        texts = _terms(_term_rows(credit, chosen, formula), formula)
        ranks, at, names = _places(earning, depth, items if of_list else {}, truth_items)
        columns: dict[str, Any] = {"rank": ranks} if names is None else {"rank": ranks, "item": names}
        columns["relevance"] = _at(earning.relevance, at)
        if earning.judged is not None:
            columns["judged"] = np.isin(ranks, earning.judged.rank)
        if "gain" in metric.meanings:
            columns["gain"] = _at(gain_of(earning.relevance, chosen["gain"]), at)
        if "discount" in metric.meanings:
            columns["discount"] = discount_of(ranks, chosen["discount"], chosen["log_base"])
        earned = _at(credit.earned, at)
        columns["term"] = [texts[row] if value else "" for row, value in zip(at, earned, strict=True)]
        columns |= {"credit": earned, "running": np.cumsum(earned)}
        return pd.DataFrame(columns), tuple(texts[row] for row in np.flatnonzero(earning.rank <= depth))

    rows, _all_terms = rows_of(credit)
    ideal: pd.DataFrame | None = None
    out_of_terms: tuple[str, ...] = ()
    if isinstance(credit.out_of, Credit):
        ideal, out_of_terms = rows_of(credit.out_of.by_rank)
        out_of_terms = out_of_terms or ("0",)
    elif under.text() != "1":
        out_of_terms = (_text(_term_rows(credit, chosen, under), under, 0),)
    if "max_relevance" in chosen and not chosen["max_relevance"]:
        top = _("grades from 0 to {top}, the highest in the truth", top=number(hits.max_relevance))
        basis = f"{basis}; {top}"
    value, possible = float(result.value[0, 0]), np.asarray(credit.possible).item()
    line = "" if possible else _("nothing to divide by, so {value}", value=f"{value:g}")
    undefined = undefined_in(result, convention)
    if undefined is not None and undefined.any():
        if convention.no_relevant == "skip":
            raise not_evaluated(user, NOTHING_RELEVANT)
        value = 1.0 if convention.no_relevant == "one" else value
        line = _by_convention(value)
    found = set(hits.truth_row[hits.rank <= depth].tolist())
    missed = [] if metric.over == "ideal" else [item for row, item in enumerate(truth_items or ()) if row not in found]
    return Explanation(
        **_about(metric, cutoffs.values[0], options),
        user=user,
        value=value,
        line=line,
        terms=tuple(filter(None, rows["term"])),
        out_of_terms=out_of_terms,
        out_of=possible,
        rows=rows,
        missed=tuple(missed),
        basis=basis,
        ideal=rows if metric.over == "ideal" else ideal,
    )


def _by_convention(value: float) -> str:
    return _("no relevant item, so by convention {value}", value=f"{value:g}")


def _about(metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an explanation that describe the metric."""
    return {
        "metric": metric.name, "symbol": metric.symbol, "k": k, "reads": metric.reads,
        "formula": metric.formula_text(options), "latex": metric.latex(k, options),
    }  # fmt: skip


def _term_rows(credit: Credit, chosen: Mapping[str, Any], formula: Formula) -> TermRows:
    """Return the hits of one user, with the numbers behind the names of a formula."""
    hits, names = credit.rows, formula.names()
    depth, size = credit.k.depth(hits.list_length)[0, 0], credit.k.size(hits.list_length)[0, 0]
    if credit.k.uncut and "list_length" in names:  # the smaller of the two is then the length
        size = hits.list_length[0]
    top = chosen.get("max_relevance") or hits.max_relevance
    numbers: dict[str, Any] = {
        "k": size, "n_relevant": hits.n_relevant[0], "n_hits": (hits.rank <= depth).sum(), "list_length": hits.list_length[0],
        "max_relevance": top, "rank": hits.rank, "relevance": hits.relevance, "nth": hits.nth, "first": hits.first,
    }  # fmt: skip
    if {"nonrelevant_above", "n_nonrelevant"} & names:
        numbers |= {
            "nonrelevant_above": hits.nonrelevant_above,
            "n_nonrelevant": hits.n_nonrelevant[0],
        }  # fmt: skip
    if "rise" in names:
        numbers["rise"] = credit.earned
    if "preferred" in names:
        numbers["preferred"] = hits.preferred
    if "reach" in names:
        numbers["reach"] = reach(hits, (np.exp2(hits.relevance) - 1.0) / 2.0**top)
    return TermRows(credit.earned, {**chosen, **numbers})


def _places(
    hits: Hits, depth: int, items: Mapping[int, Any], truth_items: Sequence[Any] | None
) -> tuple[Ints, Ints, list[Any] | None]:
    """Ranks down to the cut-off, the hit at each (-1: none), and the items if they have names.

    A convention may put a hit elsewhere than in the list as given: equal scores on one shared rank, items that were
    missed below the end. Its row is then where it counts, and there only.
    """
    named = [
        None if truth_items is None else truth_items[row] if row >= 0 else _("as good as the best")
        for row in hits.truth_row.tolist()
    ]
    counted = list(zip(hits.rank.tolist(), named, strict=True))
    moved = {item for rank, item in counted if items and items.get(rank) != item}
    in_place = {rank for rank, item in counted if item not in moved}
    rows = [(rank, index, item) for index, (rank, item) in enumerate(counted)]
    rows += [(rank, -1, item) for rank, item in items.items() if rank not in in_place and item not in moved]
    rows = sorted((row for row in rows if row[0] <= depth), key=lambda row: row[0])
    ranks, at = (np.array([row[part] for row in rows], dtype=np.int64) for part in (0, 1))
    return ranks, at, None if truth_items is None else [row[2] for row in rows]


def _at(values: Floats, at: Ints) -> Floats:
    """Return values of hits at some places; 0 where there is none."""
    return np.where(at >= 0, values[at], 0.0) if len(values) else np.zeros(len(at))


def _text(rows: TermRows, formula: Formula, row: int, *, short: bool = False) -> str:
    """Return a formula with the numbers of one row; `short`: with four digits, whole ones as they are."""
    names = _numbers_of(rows, formula, row)
    if short:
        names = {name: value if value == int(value) else float(f"{value:.4g}") for name, value in names.items()}
    return formula.text(names)


def _numbers_of(rows: TermRows, formula: Formula, row: int) -> dict[str, float]:
    values = {name: rows.names[name] for name in formula.names() if name in rows.names}
    return {name: float(value[row] if np.ndim(value) else value) for name, value in values.items() if np.size(value)}


def _terms(rows: TermRows, term: Formula, *, short: bool = False) -> list[str]:
    """Return the credit of each row as a formula with its numbers."""
    texts = []
    for row, earned in enumerate(rows.earned.tolist()):
        with np.errstate(all="ignore"):
            plain = np.isfinite(term.value(_numbers_of(rows, term, row)))
        text = _text(rows, term, row, short=short) if plain else "["  # 0 log 0 counts 0, and is not written out
        texts.append(number(earned) if text.startswith("[") else text)
    return texts


def _line(
    metric: Metric[...], rows: TermRows, terms: Sequence[str], term: Formula, out_of: Formula, value: float
) -> str:
    if not rows.names:  # no list at all, or no pair of lists
        return _("nothing to divide by, so {value}", value=f"{value:g}")
    if not metric.per_row_texts:  # too many rows to write: their mean
        return f"{_text(rows, term, 0, short=True)} = {number(value, 4)}"
    total = float(np.sum(rows.earned)) if rows.total is None else rows.total
    over = number(total) if metric.of == "all" else _sum(terms, TERMS_SHOWN, rows.n_rows)
    under = _text(rows, out_of, 0, short=True)
    if under != "1":
        divisor = float(out_of.value(_numbers_of(rows, out_of, 0)))
        if divisor == 0:
            return _("nothing to divide by, so {value}", value=f"{value:g}")
        over = " = ".join(dict.fromkeys([_divided(over, under), f"{number(total)} / {number(divisor)}"]))
    return f"{over} = {number(value, 4)}"


def _divided(over: str, under: str) -> str:
    under = f"({under})" if re.search(r"[-/+*^]", under) and not re.fullmatch(r"min\([^()]*\)", under) else under
    return f"{f'({over})' if re.search(r'[-/+*]', over) else over} / {under}"


def _frame(rows: TermRows, term: Formula, terms: Sequence[str], items: Sequence[Any]) -> pd.DataFrame:
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
    columns["credit"] = rows.earned + 0.0  # 0 in the place of -0
    return pd.DataFrame(columns)


def _printed(value: float) -> str:
    return number(value, 4) if 0 < abs(value) < 1e-3 else trimmed(value)


def _sum(terms: Sequence[str], most: int, n: int | None = None) -> str:
    """Return the first terms added up, and how many of all n there are besides."""
    n = n or len(terms)
    more = [_("… ({n} more)", n=n - most)] if n > most else []
    shown = [f"({term})" if len(terms) > 1 and _is_sum(term) else term for term in terms[:most]]
    return " + ".join([*shown, *more]) or "0"


def _is_sum(term: str) -> bool:
    """Say whether a formula adds or subtracts outside of all brackets."""
    flat, n = term, 1
    while n:
        flat, n = re.subn(r"\([^()]*\)", "", flat)
    return "+" in flat or "-" in flat


def _listed(items: Sequence[Any], shown: Callable[[Any], str], most: int = 10) -> str:
    more = f" {_('and {n:,} more', n=len(items) - most)}" if len(items) > most else ""
    return joined(map(shown, items[:most])) + more


def _header(column: str) -> str:
    return _(COLUMNS[column]) if column in COLUMNS else pgettext("formula", column)
