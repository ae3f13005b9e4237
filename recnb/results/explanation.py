"""The worked explanation of a score: the formula, the same with numbers, and the rows
that it sums over.

It is made from the `Credit` of the score or, beyond accuracy, from `TermRows`: the
credit column, added up and divided by the denominator, is the score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import escape

from recnb.conventions import Convention
from recnb.display.document import (
    Block,
    Line,
    Mark,
    Name,
    Note,
    Rows,
    Section,
    Side,
    html,
    joined,
    say,
)
from recnb.display.language import (
    N_,
    _,
    current,
    named,
    ngettext,
    pgettext,
    use_language,
)
from recnb.display.templates import framed
from recnb.display.text import trimmed
from recnb.errors import OptionError, RecnbError, Suggesting, UnknownUserError
from recnb.metrics.accuracy import reach
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Cutoff, Cutoffs, Floats, Hits
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import Credit, Given, Metric
from recnb.metrics.recommendation_lists import TermRows, Whole
from recnb.results.arguments import check_options
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import (
    MANY_ORDERS,
    cutoffs_under,
    hits_for,
    in_force,
    undefined_in,
    values_of,
)
from recnb.results.table import in_lines
from recnb.results.values import index_of, pairs_in_words

#: Columns of the rows.
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
    "other_item": N_("other item"),
    "genre": N_("genre"),
    "count": N_("count"),
    "times": N_("times shown"),
    "place": N_("place"),
    "cosine": N_("cosine"),
    "jaccard": N_("jaccard"),
    "expected_rank": N_("expected rank"),
    "tail": N_("in the tail"),
    "weight": N_("weight"),
    "p": N_("p, history"),
    "q": N_("q, list"),
}

#: Terms, rows and missed items beyond these are counted, not shown; the frames hold
#: them all.
TERMS_SHOWN, ROWS_SHOWN, MISSED_SHOWN = 12, 30, 10

#: Columns of what the user has names for, and those that have the same decimals in each
#: row.
NAMED, FIXED = ("item", "other_item", "genre"), ("discount", "credit", "running")

#: Names of formulas that are attributes of the hits: one for the user, one for each
#: hit.
OF_USER = {"n_relevant", "n_nonrelevant", "list_length", "relevant_weight"}
OF_HIT = {
    "rank",
    "relevance",
    "weight",
    "nth",
    "first",
    "preferred",
    "nonrelevant_above",
}


@dataclass(frozen=True, eq=False)
class Explanation(Suggesting):
    """The computation of a score: of one user's list or, if `user` is None, of a list
    given by itself or of all lists.

    `rows` holds what the formula sums over: the list with a row per rank or, beyond
    accuracy, a row for each item, pair of items or genre, with its term and what it
    adds.
    """

    metric: str
    symbol: str
    user: Any  #: whose list it is; None for a list given by itself, and for all lists together
    k: int | None
    value: float
    reads: str
    formula: str  #: as text: add gain/log2(1+rank) for each hit, divide by …
    latex: str
    terms: tuple[
        str, ...
    ]  #: the credit of each row as a formula with numbers; () where `total` says it
    rows: pd.DataFrame  #: those that the formula sums over
    basis: str
    total: float  #: the credit of all rows
    missed_term: str = ""  #: what a cost adds for a list without a hit, with numbers
    out_of_terms: tuple[
        str, ...
    ] = ()  #: the denominator as formulas with numbers; () if there is none
    out_of: float = 1.0  #: the denominator
    ideal: pd.DataFrame | None = None  #: the ideal list, where the metric has one
    missed: tuple[
        Any, ...
    ] = ()  #: relevant items that are not in the list down to k, the most relevant first
    line: str = ""  #: the formula with numbers if it is no sum, or why there is nothing to add up
    n_rows: int | None = (
        None  #: the rows that the formula sums over, if `rows` holds the first of them only
    )
    titles: Mapping[Any, str] = field(
        default_factory=dict
    )  #: titles of the items that have one
    lang: str = field(
        default_factory=current
    )  #: the language of its words, in which it is shown

    @property
    def numbers(self) -> str:
        """The formula with its numbers; of many terms the first."""
        if self.line:
            return self.line
        with use_language(self.lang):
            terms = _sum(self.terms, self.n_rows)
            over = " + ".join(filter(None, [terms, self.missed_term]))
            over = over or _printed(self.total)
            if self.out_of_terms:
                worked = f"{_bracketed(over)} / {_bracketed(_sum(self.out_of_terms))}"
                over = " = ".join(
                    dict.fromkeys(
                        [worked, f"{_printed(self.total)} / {_printed(self.out_of)}"]
                    )
                )
        return f"{over} = {_printed(self.value)}"

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_frame(self) -> pd.DataFrame:
        """Return the rows that the formula sums over: of a list, a row per rank with
        item, relevance, gain, discount, term, credit, running sum.
        """
        return self.rows.copy()

    def worked(self) -> list[Block]:
        """Return the formula as text, the same with numbers, the rows of each list, and
        the basis.
        """
        tables = [block for of_list in self._tables for block in of_list]
        return [
            Note(f"  {self.formula}"),
            Note(f"  {self.numbers}"),
            *tables,
            *self._notes,
        ]

    def __repr__(self) -> str:
        with use_language(self.lang):
            return in_lines([Note(self._headline), *self.worked()])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            head = framed(
                self.label,
                html(
                    [Note([Mark("strong", self._headline), " · ", self.reads], "plain")]
                ),
            )
            # Outside of the frame, which switches mathematics off; a formula holds
            # nothing of the user's.
            formula = (
                f'<div style="margin: 0.4em 0; text-align: left;">$\\displaystyle '
                f"{escape(self.latex)}$</div>"
            )
            lists = Side([Section("", blocks) for blocks in self._tables], "auto")
            body = [Note(Mark("code", self.numbers), "plain"), lists, *self._notes]
            return f"{head}{formula}{framed(_('explanation of {label}', label=self.label), html(body))}"  # noqa: E501

    @property
    def _headline(self) -> Line:
        values = {"label": self.label, "value": f"{self.value:.4f}"}
        if self.user is None:
            return say(N_("{label} = {value}"), **values)
        return say(
            N_("{label} of user {user} = {value}"), user=Name(self.user), **values
        )

    @property
    def _notes(self) -> list[Block]:
        """The relevant items that are missed, and the basis; below a cut-off, an item
        may still be in the list.
        """
        items = joined(
            [
                *map(self._titled, self.missed[:MISSED_SHOWN]),
                *["…"] * (len(self.missed) > MISSED_SHOWN),
            ]
        )
        whole, cut = (
            N_("relevant, not in the list: {items}"),
            N_("relevant, not in the first {k}: {items}"),
        )
        missed = say(whole if self.k is None else cut, items=items, k=str(self.k))
        return [*([Note(missed)] if self.missed else []), Note(self.basis)]

    @property
    def _tables(self) -> list[list[Block]]:
        """The rows of each list, with the number of those that are not shown."""
        ideal = (
            [] if self.ideal is None else [self._table(self.ideal, _("The ideal list"))]
        )
        if self.ideal is self.rows:
            return ideal
        return [
            self._table(self.rows, _("The list") if "running" in self.rows else ""),
            *ideal,
        ]

    def _table(self, rows: pd.DataFrame, caption: str) -> list[Block]:
        shown = rows.head(ROWS_SHOWN)
        if "gain" in shown and (shown["gain"] == shown["relevance"]).all():
            # A linear gain repeats the relevance, and without it two lists fit side by
            # side.
            shown = shown.drop(columns="gain")
        names = [*map(str, shown)]
        cells = zip(
            *([self._cell(name, value) for value in shown[name]] for name in names),
            strict=True,
        )
        hits = (
            np.flatnonzero(shown["relevance"] > 0).tolist()
            if "relevance" in shown
            else []
        )
        left = max(sum(name in (*NAMED, "rank") for name in names), 1)
        n = (self.n_rows or len(rows)) - ROWS_SHOWN
        more = ngettext("… {n:,} more row", "… {n:,} more rows", n)
        header = [
            _(COLUMNS[name]) if name in COLUMNS else pgettext("formula", name)
            for name in names
        ]
        table = Rows(header, list(cells), caption, left, frozenset(hits))
        return [table, Note(more)] if n > 0 else [table]

    def _cell(self, column: str, value: Any) -> Line:
        """Return a cell of the rows."""
        if column == "term":
            return Mark("code", value) if value else ""
        if column in NAMED:
            return self._titled(value)
        if not isinstance(value, float):
            return str(value)
        return (
            f"{value:.4f}"
            if column in FIXED and abs(value) < 1e6
            else number(float(value))
        )

    def _titled(self, item: Any) -> Line:
        """Return an item, its title first if it has one."""
        return (
            [Name(self.titles[item]), " (", Name(item), ")"]
            if item in self.titles
            else Name(item)
        )


def explanation_of(
    data: EvaluationData,
    metric: Any,
    user: Any,
    k: int | None,
    options: Given,
    lang: str | None = None,
) -> Explanation:
    """Return the explanation of a metric of accuracy or beyond it, of one user's list
    or of all lists together.
    """
    with use_language(lang):
        chosen = metric_named(metric)
        k = chosen.cut_at(k)
        if chosen.over == "hits" and not chosen.per_row_texts:
            asked = metric if chosen.cutoff == k else f"{metric}@{k}"
            raise OptionError(
                f"{chosen.symbol} has no terms to explain: see .measure({asked!r}).per_user."
            )
        if user is None and chosen.of == "user":
            users = data.joined.users if chosen.is_accuracy else data.item_data.users
            raise OptionError(
                f"say whose list: .explain({metric!r}, user, k={k!r}), such as user={users[0]!r}."
            )
        check_options(chosen, options)
        return (_of_accuracy if chosen.is_accuracy else _beyond_accuracy)(
            data, chosen, user, k, options
        )


def _of_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: int | None, options: Given
) -> Explanation:
    scoring = in_force(data, metric, options, whole=k is None)
    metric = scoring.metric
    data = EvaluationData.of(scoring.joined, side_data=data.side_data)
    cutoffs = cutoffs_under(data.convention, Cutoffs.one(k))
    position = data.position(user)
    hits = hits_for(scoring, cutoffs).of_user(position)
    if hits.tied is not None:
        if (hits.tied.weight < 1).any():
            raise OptionError(MANY_ORDERS)
        hits = replace(hits, tied=None)  # equal scores, if there are any, are of others
    items = data.lists_of([position])[0]
    truth_items = data.truth_of(position)["item"].to_list()
    decisions = scoring.in_force.phrases(
        graded=data.joined.graded,
        unsaid=scoring.unsaid,
        below_0_unjudged=metric.plain_name == "bpref",
    )
    basis = [*decisions, *data.notes, *pairs_in_words(data.joined.weighting)]
    return explain(
        metric,
        hits,
        cutoffs,
        scoring.options,
        items=items,
        truth_items=truth_items,
        user=user,
        convention=data.convention,
        basis="; ".join(basis),
        titles=data.item_titles(list(dict.fromkeys([*items.values(), *truth_items]))),
    )


def _beyond_accuracy(
    data: EvaluationData, metric: Metric[...], user: Any, k: object, options: Given
) -> Explanation:
    found = values_of(data, metric, Cutoffs.one(k), options)
    (cutoff,), (result,) = found.k, found.results
    if isinstance(result, Whole):
        if user is not None:
            problem = named(
                "{metric} is one number of all lists together, and no user has a value "
                "of their own: ",
                metric=metric.name,
            )
            raise OptionError(f"{problem}type .explain({metric.name!r}, k={cutoff!r}).")
        rows, value = (
            TermRows(np.zeros(0), {}) if result.rows is None else result.rows(),
            float(result),
        )
    else:
        position = index_of(user, found.users, *found.basis.users_in_words())
        if not result.counted[position]:
            raise RecnbError(
                named(
                    "{metric}: user {user} has no value. {why}",
                    metric=metric.name,
                    user=repr(user),
                    why=named(metric.no_value),
                )
            )
        assert result.rows is not None
        rows, value = result.rows(position), float(result.value[position])
    term, out_of = metric.formulas(found.options)
    terms = _terms(term, rows.names, rows.earned) if metric.per_row_texts else []
    items = (
        []
        if rows.items is None
        else [data.item_data.items[int(item)] for item in rows.items.ravel()]
    )
    under, line, divisor = _first(out_of, rows.names), "", 1.0
    if rows.names and not rows.undefined and metric.per_row_texts:
        divisor = float(out_of.value(under))
    if rows.undefined:
        line = _nothing(value, undefined=True)
    elif not rows.names or divisor == 0:  # no list at all, or no pair of lists
        line = _nothing(value)
    elif not metric.per_row_texts:  # too many rows to write: their mean
        line = f"{term.text(_first(term, rows.names))} = {_printed(value)}"
    return Explanation(
        **_about(metric, cutoff, found.options),
        user=user,
        value=value,
        line=line,
        out_of=divisor,
        n_rows=rows.n_rows,
        terms=tuple(terms) if metric.of == "user" else (),
        out_of_terms=() if out_of.text(under) == "1" else (out_of.text(under),),
        total=float(np.sum(rows.earned)) if rows.total is None else rows.total,
        rows=_frame(rows, term, terms, items),
        basis="; ".join(found.basis.phrases()),
        titles=data.item_titles(list(dict.fromkeys(items[: 2 * ROWS_SHOWN]))),
    )


def explain(
    metric: Metric[...],
    hits: Hits,
    k: Cutoff,
    options: Given,
    *,
    items: Mapping[int, Any],
    truth_items: Sequence[Any] | None,
    user: Any,
    convention: Convention,
    basis: str,
    titles: Mapping[Any, str] | None = None,
) -> Explanation:
    """Explain the score of the one user in `hits`: `items` holds the list's items by
    rank, `truth_items` the truth's, if named.
    """
    cutoffs, chosen = Cutoffs.of(k), {**metric.defaults, **options}
    result = metric.at(hits, cutoffs, options)
    credit, (formula, under) = result.by_rank, metric.formulas(options)
    if metric.own:
        compare_with_formula(
            metric,
            credit,
            options,
            "of one list" if user is None else f"of user {user!r}",
        )
    depth = int(cutoffs.depth(hits.list_length)[0, 0])

    def rows_of(credit: Credit) -> pd.DataFrame:
        """Return a row per rank down to the cut-off."""
        earning, terms = (
            credit.rows,
            _terms(formula, numbers_of(credit, chosen, formula), credit.earned),
        )
        rows = _places(earning, items if earning is hits else {}, truth_items)
        rows = rows[rows["rank"] <= depth].reset_index(drop=True)
        # -1, where there is no hit, takes the 0 at the end.
        at, ranks = rows.pop("at").to_numpy(), rows["rank"].to_numpy()
        rows["relevance"] = np.append(earning.relevance, 0.0)[at]
        if earning.truth_weight is not None:
            rows["weight"] = np.append(earning.weight, 0.0)[at]
        if earning.judged is not None:
            judged = earning.judged  # a grade below 0 is of what was not judged
            rows["judged"] = np.isin(ranks, judged.rank[judged.relevance >= 0])
        if "gain" in metric.meanings:
            rows["gain"] = np.append(gain_of(earning.relevance, chosen["gain"]), 0.0)[
                at
            ]
        if "discount" in metric.meanings:
            rows["discount"] = discount_of(
                ranks, chosen["discount"], chosen["log_base"]
            )
        earned = np.append(credit.earned, 0.0)[at]
        rows["term"] = np.where(
            earned == 0, "", np.array([*terms, ""], dtype=object)[at]
        )
        return rows.assign(credit=earned, running=np.cumsum(earned))

    rows, ideal, out_of_terms = rows_of(credit), None, tuple[str, ...]()
    if isinstance(credit.out_of, Credit):
        ideal = rows_of(credit.out_of.by_rank)
        out_of_terms = tuple(filter(None, ideal["term"])) or ("0",)
    elif under.text() != "1":
        out_of_terms = (under.text(_first(under, numbers_of(credit, chosen, under))),)
    if "max_relevance" in chosen and not chosen["max_relevance"]:
        top = _(
            "grades from 0 to {top}, the highest in the truth",
            top=number(hits.max_relevance),
        )
        basis = f"{basis}; {top}"
    missed_cost, missed_term = float(np.ravel(credit.missed)[0]), ""
    if missed_cost != 0:
        cost = metric.missed_formula(options)
        missed_term = cost.text(_first(cost, numbers_of(credit, chosen, cost)))
    value, possible = float(result.value[0, 0]), np.asarray(credit.possible).item()
    line = "" if possible else _nothing(value)
    undefined = undefined_in(result, convention)
    if undefined is not None and undefined.any():
        if convention.no_relevant == "skip":
            raise UnknownUserError(
                named(
                    "user {user} is not evaluated: none of their items in the truth is "
                    "relevant.",
                    user=repr(user),
                )
            )
        if not credit.has_missed:
            value = 1.0 if convention.no_relevant == "one" else value
            line = _nothing(value, undefined=True)
    about = _about(metric, cutoffs.values[0], options)
    if hits.truth_weight is not None:
        about["reads"] = _(
            "Relevant pairs weigh 1 / propensity: read the mean over users, and "
            "not one user's number."
        )
    of_ideal, found = (
        metric.over == "ideal",
        set(hits.truth_row[hits.rank <= depth].tolist()),
    )
    missed = (
        []
        if of_ideal
        else [item for row, item in enumerate(truth_items or ()) if row not in found]
    )
    return Explanation(
        **about,
        user=user,
        value=value,
        line=line,
        terms=tuple(filter(None, rows["term"])),
        total=float(rows["credit"].sum()) + missed_cost,
        missed_term=missed_term,
        out_of_terms=out_of_terms,
        out_of=possible,
        rows=rows,
        missed=tuple(missed),
        basis=basis,
        ideal=rows if of_ideal else ideal,
        titles=titles or {},
    )


def _nothing(value: float, *, undefined: bool = False) -> str:
    """Say why there is nothing to add up."""
    words = (
        N_("no relevant item, so by convention {value}")
        if undefined
        else N_("nothing to divide by, so {value}")
    )
    return _(words, value=f"{value:g}")


def _about(metric: Metric[...], k: int | None, options: Given) -> dict[str, Any]:
    """Return the fields of an explanation that describe the metric."""
    return {
        "metric": metric.name,
        "symbol": metric.symbol,
        "k": k,
        "reads": metric.reads,
        "formula": metric.formula_text(options),
        "latex": metric.latex(k, options),
    }


def numbers_of(
    credit: Credit, chosen: Mapping[str, Any], formula: Formula
) -> dict[str, Any]:
    """Return the numbers behind the names of a formula: one, or one for each hit."""
    hits, names = credit.rows, formula.names()
    depth, size = (
        credit.k.depth(hits.list_length)[0, 0],
        credit.k.size(hits.list_length)[0, 0],
    )
    if (
        credit.k.cut != "k" and "list_length" in names
    ):  # the smaller of the two is then the length
        size = hits.list_length[0]
    top = chosen.get("max_relevance") or hits.max_relevance
    numbers = {
        **chosen,
        "k": size,
        "n_hits": (hits.rank <= depth).sum(),
        "no_hit": float((hits.rank > depth).all()),
        "max_relevance": top,
        "rise": credit.earned,
    }
    numbers["best_weight"] = np.ravel(credit.possible)[0]
    numbers |= {name: getattr(hits, name)[0] for name in names & OF_USER}
    numbers |= {name: getattr(hits, name) for name in names & OF_HIT}
    if "reach" in names:
        numbers["reach"] = reach(hits, (np.exp2(hits.relevance) - 1.0) / 2.0**top)
    return numbers


def compare_with_formula(
    metric: Metric[...], credit: Credit, options: Mapping[str, Any], where: str
) -> None:
    """Refuse credit of one user's hits at one cut-off that is another than the formula
    says.
    """
    (earns, under), below, chosen = (
        metric.formulas(options),
        credit.out_of,
        {**metric.defaults, **options},
    )
    sides = [
        (earns, credit, credit.earned),
        (under, credit, np.ravel(np.asarray(credit.possible))[:1]),
    ]
    if (ideal := under.ideal()) is not None:
        if not isinstance(below, Credit):
            stated = f"{metric.name}: out_of={str(metric.out_of)!r}"
            fix = (
                "return Credit(hits, k, earned, Credit(hits.ideal, k, earned by each "
                "of hits.ideal))."
            )
            raise OptionError(
                f"{stated}, and the function gives no credit of the ideal list: {fix}"
            )
        sides[1] = (ideal, below, below.earned)
    cost = np.ravel(np.asarray(credit.missed, dtype=np.float64))[:1]
    sides.append((metric.missed_formula(options), credit, cost))
    for formula, of, computed in sides:
        values = formula.value(numbers_of(of, chosen, formula))
        if not np.allclose(values, computed):
            numbers, own = (
                ", ".join(f"{one:.6g}" for one in np.ravel(each))
                for each in (values, computed)
            )
            said = (
                f"the formula {formula.text()} gives {numbers}, and the function {own}."
            )
            raise OptionError(f"{metric.name} {where}: {said}")


def _places(
    hits: Hits, items: Mapping[int, Any], truth_items: Sequence[Any] | None
) -> pd.DataFrame:
    """Return the ranks, the hit at each (-1: none), and the items if they have names.

    A convention may put a hit elsewhere than in the list as given: equal scores on one
    shared rank, items that were missed below the end. Its row is then where it counts,
    and there only.
    """
    rows = hits.truth_row.tolist()
    added = _("as good as the best")
    names = [
        None if truth_items is None else truth_items[row] if row >= 0 else added
        for row in rows
    ]
    counted = list(zip(hits.rank.tolist(), names, strict=True))
    moved = {item for rank, item in counted if items.get(rank) != item}
    in_place = {rank for rank, item in counted if item not in moved}
    places = [(rank, at, item) for at, (rank, item) in enumerate(counted)]
    places += [
        (rank, -1, item)
        for rank, item in items.items()
        if rank not in in_place and item not in moved
    ]
    places.sort(key=lambda place: place[0])
    frame = pd.DataFrame(places, columns=["rank", "at", "item"]).astype(
        {"rank": np.int64, "at": np.int64}
    )
    return frame.drop(columns="item") if truth_items is None else frame


def _first(formula: Formula, names: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of the names of a formula, of many the first."""
    known = {name: np.ravel(names[name]) for name in formula.names() if name in names}
    return {name: float(values[0]) for name, values in known.items() if len(values)}


def _terms(formula: Formula, names: Mapping[str, Any], earned: Floats) -> list[str]:
    """Return the credit of each row as a formula with its numbers."""
    n = len(earned)
    columns = {
        name: np.broadcast_to(names[name], n)
        for name in formula.names()
        if n and name in names
    }
    with np.errstate(all="ignore"):  # 0 log 0 counts 0, and is not written out
        written = np.broadcast_to(np.isfinite(formula.value(columns)), n) if n else ()
    rows = [
        {name: float(values[row]) for name, values in columns.items()}
        for row in range(n)
    ]
    texts = [
        formula.text(row) if is_written else "["
        for row, is_written in zip(rows, written, strict=True)
    ]
    return [
        number(one) if text.startswith("[") else text
        for text, one in zip(texts, earned.tolist(), strict=True)
    ]


def _frame(
    rows: TermRows, term: Formula, terms: Sequence[str], items: Sequence[Any]
) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    if rows.rank is not None:
        columns["rank"] = rows.rank
    if rows.items is not None:
        width = 2 if rows.items.ndim == 2 else 1
        columns |= {
            name: items[at::width]
            for at, name in enumerate(("item", "other_item")[:width])
        }
    if rows.labels:
        columns["genre"] = list(rows.labels)
    shown = ["times", *sorted(term.names() - {"times", "rank"})]
    columns |= {
        name: rows.names[name] for name in shown if np.ndim(rows.names.get(name, 0))
    }
    if terms:
        columns["term"] = terms
    columns["credit"] = rows.earned + 0.0  # 0 in the place of -0
    return pd.DataFrame(columns)


def _printed(value: float) -> str:
    return number(value, 4) if 0 < abs(value) < 1e-3 else trimmed(value)


def _sum(terms: Sequence[str], n: int | None = None) -> str:
    """Return the first terms added up, and how many of all n there are besides."""
    left_out = (n or len(terms)) - TERMS_SHOWN
    more = [_("… ({n} more)", n=left_out)] if terms and left_out > 0 else []
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
