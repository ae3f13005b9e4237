"""How an explanation is made of `Credit`, with a row for each term that is summed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from recnb.conventions import Convention
from recnb.display.language import N_, _, named, use_language
from recnb.errors import OptionError, UnknownUserError
from recnb.metrics.formula import Formula, number
from recnb.metrics.gain import discount_of, gain_of
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import Credit, label_of
from recnb.results.arguments import AnyMetric
from recnb.results.basis import pairs_in_words
from recnb.results.evaluation_data import EvaluationData
from recnb.results.explanation import Explanation
from recnb.results.scoring import (
    cutoffs_under,
    filled,
    hits_for,
    scale_of,
    scoring_of,
    undefined_in,
)
from recnb.results.user_lists import ListPlace, UserList, user_lists_of

#: Why there is no explanation.
MANY_ORDERS = (
    "ties='expected' averages many orders, and a worked explanation follows one: "
    "choose ties='first'."
)


def explain(
    data: EvaluationData,
    metric: AnyMetric,
    user: Any = None,
    k: int | None = None,
    *,
    lang: str | None = None,
    **options: Any,
) -> Explanation:
    """Return the worked computation of one user's score.

    It shows formula, values, a row per rank and the ideal list.

    Parameters
    ----------
    metric : str or Metric
        The metric.
    user : hashable, optional
        The id of the user; with `split=` a tuple, as in `per_user.index`:
        `("u1", "2024-05-01")`. A metric of all lists together needs none.
    k : int, optional
        The cut-off; None is the whole list.
    lang : {"en", "ko"}, optional
        The language; None is that of `recnb.language`.
    **options
        Options of the metric.

    Returns
    -------
    Explanation
        Its `numbers` are the formula with the numbers of the user.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    >>> print(ev.explain("recall", "u026", k=10).numbers)
    (1 + 1) / 3 = 2 / 3 = 0.6667
    """
    with use_language(lang):
        measure = measure_named(metric).cut_at(k)
        _refuse_without_terms(measure)
        if user is None and measure.metric.of == "user":
            call = f".explain({metric!r}, user, k={measure.k!r})"
            example = data.joined.users[0]
            raise OptionError(f"say whose list: {call}, such as user={example!r}.")
        measure = measure.with_options(options)
        if measure.metric.is_accuracy:
            explanation = _of_accuracy(data, measure, user)
        else:
            explanation = measure.metric.explanation(data, measure, user)
        text = data.user_texts([user]).get(user, "")
        return replace(explanation, user=data.keys.in_words(user), text=text)


def _refuse_without_terms(measure: Measure) -> None:
    """Refuse a metric without a formula, or of hits that do not add up row by row."""
    metric = measure.metric
    is_of_hits_together = metric.over == "hits" and not metric.per_row_texts
    if is_of_hits_together or not metric.credit:
        label = label_of(measure.name, measure.k)
        raise OptionError(
            f"{measure.symbol} has no terms to explain: see .measure({label!r}).per_user."
        )


def _of_accuracy(data: EvaluationData, measure: Measure, user: Any) -> Explanation:
    """Explain the value of a user, with the data that the measure is computed on."""
    k = Cutoffs((measure.k,))
    scoring = scoring_of(data, measure, k)
    joined = scoring.joined
    data = replace(data, joined=joined)
    position = data.position(user)
    hits = hits_for(joined, measure, cutoffs_under(joined.convention, k))
    tied = hits.of_user(position).tied
    if tied is not None and (tied.weight < 1).any():
        raise OptionError(MANY_ORDERS)
    (user_list,) = user_lists_of(data, [position], None, hits)
    basis = [
        *scoring.decisions_in_words(),
        *data.notes,
        *pairs_in_words(joined.hits.truth_weight),
    ]
    explanation = explained(scoring.measure, user_list, joined.convention, basis)
    if np.isnan(explanation.value):
        raise UnknownUserError(
            named(
                "{user} {id} is not evaluated: none of their {items} in the truth is "
                "relevant.",
                id=repr(user),
            )
        )
    return explanation


def explained(
    measure: Measure,
    user_list: UserList,
    convention: Convention,
    basis: Sequence[str],
) -> Explanation:
    """Return the explanation of the score of a list."""
    hits = user_list.hits
    cutoffs = cutoffs_under(convention, measure.cutoffs())
    credit: Credit = measure.at(hits, cutoffs)
    of_list = ListSum(measure, credit.by_rank)
    if measure.metric.own:
        of_list.refuse_other_formula("of one list")
    rows = of_list.rows(user_list)
    of_ideal = of_list.of_ideal
    ideal = None
    if of_ideal is not None:
        ideal = of_ideal.rows(user_list)
    value, line = _value_by_convention(credit, convention)
    described = about(measure)
    if hits.truth_weight is not None:
        described["reads"] = _(
            "Relevant pairs weigh 1 / propensity: read the mean over {users}, and not "
            "one {user}'s number."
        )
    missed_items = replace(user_list, k=of_list.depth).missed
    missed_cost = of_list.missed
    is_of_ideal = measure.metric.over == "ideal"
    return Explanation(
        **described,
        user=None,
        value=value,
        line=line,
        terms=tuple(filter(None, rows["term"])),
        total=float(rows["credit"].sum()) + missed_cost,
        missed_term=of_list.text(measure.missed) if missed_cost else "",
        out_of_terms=_terms_of_denominator(of_list, ideal),
        out_of=of_list.out_of,
        rows=rows,
        missed=() if is_of_ideal else tuple(each.item for each in missed_items),
        basis="; ".join([*basis, *scale_of(measure, hits)]),
        ideal=rows if is_of_ideal else ideal,
        titles=user_list.titles,
    )


@dataclass(frozen=True, eq=False)
class ListSum:
    """The sum that a measure is of one list, at one cut-off, with its numbers."""

    measure: Measure
    credit: Credit  #: with a row for each rank that contributes

    @property
    def depth(self) -> int:
        """The last rank that counts, which an ideal list may have below the list's."""
        return self.credit.k.depths[0]

    @property
    def missed(self) -> float:
        """What is added for a list without a hit."""
        return float(np.ravel(self.credit.missed)[0])

    @property
    def out_of(self) -> Any:
        """What the sum is divided by."""
        return np.ravel(self.credit.possible)[0].item()

    @property
    def of_ideal(self) -> ListSum | None:
        """The sum of the ideal list, if that is what this is divided by."""
        out_of = self.credit.out_of
        if isinstance(out_of, Credit):
            return ListSum(self.measure, out_of.by_rank)
        return None

    def numbers(self, formula: Formula) -> dict[str, Any]:
        """Return the numbers behind the names of a formula: one, or one for each hit.

        A new name of formulas is entered in `LATEX` (`metrics/formula.py`). Its number is
        an attribute of `Hits`, here, or what the metric's function gives to
        `Credit(names=)`.
        """
        credit, chosen = self.credit, self.measure.chosen
        hits, names = credit.rows, formula.names()
        size = credit.k.size(hits.list_length)[0, 0]
        # A list that is not cut has no k, of which min(k, list_length) would be the
        # smaller.
        if credit.k.cut != "k" and "list_length" in names:
            size = hits.list_length[0]
        of_hits = {name: getattr(hits, name) for name in names if hasattr(hits, name)}
        return {
            **of_hits,
            **chosen,
            "k": size,
            "n_hits": (hits.rank <= self.depth).sum(),
            "no_hit": float((hits.rank > self.depth).all()),
            # The highest grade of the data, unless an option gives one.
            "max_relevance": chosen.get("max_relevance") or hits.max_relevance,
            # Of pairs with weights: the denominator, which is that of the heaviest.
            "best_weight": self.out_of,
            # The names that the metric's function computes of each hit.
            **credit.names,
        }

    def text(self, formula: Formula) -> str:
        """Return a formula with the numbers of the list."""
        return formula.text(self.numbers(formula))

    def rows(self, user_list: UserList) -> pd.DataFrame:
        """Return a row per rank down to the cut-off, with what it earns.

        Of another list than the user's own, such as the ideal one, hits are all that is
        known.
        """
        credit, measure = self.credit, self.measure
        hits, chosen, meanings = credit.rows, measure.chosen, measure.metric.meanings
        items = user_list.items if hits is user_list.hits else {}
        shown = replace(user_list, hits=hits, items=items, k=self.depth)
        places = pd.DataFrame(shown.places, columns=ListPlace._fields)
        ranks, hit = places["rank"].to_numpy(np.int64), places["hit"].to_numpy(np.int64)

        def of_rows(values: Any, without_hit: Any = 0.0) -> Any:
            """Return values of hits by row, and another where there is no hit."""
            return np.append(values, without_hit)[hit]  # which is -1 there, the last

        earned = of_rows(credit.earned)
        rows: dict[str, Any] = {"rank": ranks}
        if user_list.truth is not None:
            rows["item"] = places["item"]
        rows["relevance"] = of_rows(hits.relevance)
        for name, values in credit.names.items():
            if measure.metric.own and name in measure.credit.names():
                rows[name] = of_rows(values, np.nan)
        if hits.truth_weight is not None:
            rows["weight"] = of_rows(hits.weight)
        if hits.judged is not None:
            # A grade below 0 is of what was not judged.
            is_judged = hits.judged.relevance >= 0
            rows["judged"] = np.isin(ranks, hits.judged.rank[is_judged])
        if "gain" in meanings:
            rows["gain"] = of_rows(gain_of(hits.relevance, chosen["gain"]))
        if "discount" in meanings:
            discount, base = chosen["discount"], chosen["log_base"]
            rows["discount"] = discount_of(ranks, discount, base)
        numbers = self.numbers(measure.credit)
        terms = terms_of(measure.credit, numbers, credit.earned)
        term = of_rows(np.array(terms, dtype=object), "")
        rows["term"] = np.where(earned == 0, "", term)
        return pd.DataFrame({**rows, "credit": earned, "running": np.cumsum(earned)})

    def refuse_other_formula(self, where: str) -> None:
        """Refuse a function whose numbers a formula of the metric does not give."""
        measure, of_ideal = self.measure, self.of_ideal
        metric, ideal = measure.metric, measure.out_of.ideal()
        if ideal is None:
            divisor = (measure.out_of, self, self.out_of)
        elif of_ideal is not None:
            divisor = (ideal, of_ideal, of_ideal.credit.earned)
        else:
            raise OptionError(
                f"{metric.name}: out_of={str(metric.out_of)!r}, and the function gives "
                f"no credit of the ideal list: return Credit(hits, k, earned, "
                f"Credit(hits.ideal, k, earned by each of hits.ideal))."
            )
        compared = [
            (measure.credit, self, self.credit.earned),
            divisor,
            (measure.missed, self, self.missed),
        ]
        for formula, of_list, by_function in compared:
            by_formula = formula.value(of_list.numbers(formula))
            if not np.allclose(by_formula, by_function):
                raise OptionError(
                    f"{metric.name} {where}: the formula {formula.text()} gives "
                    f"{_in_digits(by_formula)}, and the function {_in_digits(by_function)}."
                )


def _terms_of_denominator(
    of_list: ListSum, ideal: pd.DataFrame | None
) -> tuple[str, ...]:
    """Return what the sum is divided by: the terms of the ideal list, or one.

    Nothing if it is 1.
    """
    if ideal is not None:
        return tuple(filter(None, ideal["term"])) or ("0",)
    out_of = of_list.measure.out_of
    return () if out_of.text() == "1" else (of_list.text(out_of),)


def _value_by_convention(result: Credit, convention: Convention) -> tuple[float, str]:
    """Return the value, and why it is that where nothing is divided."""
    value = float(filled(result, convention)[0, 0])
    if undefined_in(result, convention).any() and not result.has_missed:
        return value, nothing_to_divide(value, undefined=True)
    possible = np.ravel(result.possible)[0]
    return value, "" if possible else nothing_to_divide(value)


def nothing_to_divide(value: float, *, undefined: bool = False) -> str:
    """Say why there is nothing to add up."""
    words = N_("nothing to divide by, so {value}")
    if undefined:
        words = N_("no relevant {item}, so by convention {value}")
    return _(words, value=f"{value:g}")


def about(measure: Measure) -> dict[str, Any]:
    """Return the fields of an explanation that describe the measure."""
    return {
        "metric": measure.name,
        "symbol": measure.symbol,
        "k": measure.k,
        "reads": measure.metric.reads,
        "formula": measure.formula_text(),
        "latex": measure.latex(),
    }


def _in_digits(numbers: Floats) -> str:
    """Return numbers in a sentence, to six digits."""
    return ", ".join(f"{value:.6g}" for value in np.ravel(numbers))


def terms_of(formula: Formula, names: Mapping[str, Any], earned: Floats) -> list[str]:
    """Return the credit of each row as a formula with its numbers."""
    n = len(earned)
    if n == 0:  # no list: its names have no numbers
        return []
    columns = {name: np.broadcast_to(names[name], n) for name in formula.names()}
    with np.errstate(all="ignore"):  # 0 log 0 counts 0, and is not written out
        has_value = np.broadcast_to(np.isfinite(formula.value(columns)), n)
    terms = []
    for row, value in enumerate(earned.tolist()):
        text = formula.text({name: values[row] for name, values in columns.items()})
        is_condition = text.startswith("[")  # such as [1<=3]
        is_written = has_value[row] and not is_condition
        terms.append(text if is_written else number(value))
    return terms
