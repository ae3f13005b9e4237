"""From a metric to its values, one step a function: whose convention and which joined
data (`in_force`), the credit of the hits, averages over users, the basis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from recnb.conventions import Convention, presets
from recnb.data import Joined
from recnb.data.source import UserCounts
from recnb.display.language import N_, _, ngettext, use_noun
from recnb.errors import OptionError
from recnb.metrics.gain import as_column
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS, Credit, Given, Metric
from recnb.metrics.recommendation_lists import FILLED, PerUser, Whole
from recnb.results.evaluation_data import EvaluationData
from recnb.results.values import (
    OWN,
    Basis,
    Values,
    WordedBasis,
    follows,
    train_in_words,
    weights_in_words,
)


def values_of(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Values:
    """Compute a metric: of accuracy for the users evaluated, beyond it for all who have
    a list.
    """
    if not metric.is_accuracy:
        return _values_beyond_accuracy(data, metric, k, options)
    cuts_nothing = data.library or metric.as_printed
    if cuts_nothing and None in k.values and len(k) > 1:
        return _with_whole_lists(data, metric, k, options)
    scoring = in_force(data, metric, options, whole=k.values == (None,))
    joined = scoring.joined
    credit = credit_of(scoring, k)
    matrix, mean = average(credit, joined.convention, joined.user_weight)
    basis = basis_of(data, scoring, k, options)
    return Values(
        measure=scoring.measure,
        k=k,
        users=joined.users,
        matrix=matrix,
        mean=mean,
        convention=basis.convention,
        basis=basis,
        weights=joined.user_weight,
    )


def values_of_users(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Floats:
    """Return a metric's value for each user evaluated at each cut-off; NaN for one who
    is left out at the last.
    """
    values = values_of(data, metric, k, options)
    is_evaluated = values.users.is_in(data.joined.users.implode()).to_numpy()
    others = values.matrix[~is_evaluated]
    if is_evaluated.sum() < data.n_users or np.isfinite(others).any():
        raise OptionError(
            f"{data.library} averages {metric.name} over other users than its other "
            f"metrics: ask for its mean, .table([{metric.name!r}])."
        )
    evaluated: Floats = values.matrix[is_evaluated]
    return evaluated


# ---- whose convention, and which joined data


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as an evaluation computes it: on which joined data, with which options
    and weights.
    """

    joined: Joined
    measure: Measure
    whole: bool = False  #: whether there is no cut-off
    #: The evaluation, whose train and items a metric of the caller's may look at.
    data: EvaluationData | None = None

    @property
    def convention(self) -> Convention:
        """The convention of the data, which says where lists are cut."""
        convention = self.joined.convention
        return convention.without_k() if self.whole else convention

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The decisions that the words of the number leave out: that there is no
        cut-off, which the number itself says.
        """
        is_given = self.convention.cutoff == self.joined.convention.cutoff
        return () if is_given else ("cutoff",)

    @property
    def in_force(self) -> Convention:
        """The convention of the data with the metric's own options."""
        return self.convention.with_metric(self.measure.chosen)


def in_force(
    data: EvaluationData, metric: Metric[...], options: Given, *, whole: bool = False
) -> Scoring:
    """Return a metric on the data and with the options in force: the evaluation's own,
    or a library's.
    """
    recorded = _recorded(data, metric, whole=whole)
    of_library = {} if recorded is None else dict(recorded.options)
    options = {**of_library, **metric.given, **options}
    has_weights = data.joined.all_hits.truth_weight is not None
    measure = Measure(metric, options, weighted=has_weights and metric.takes_weights)
    joined = data.joined
    convention = _convention_of(data, metric, recorded, whole=whole)
    if convention is not None:
        joined = data.source.under(data.source.as_given(convention))
    return Scoring(joined, measure, whole, data)


def _convention_of(
    data: EvaluationData,
    metric: Metric[...],
    recorded: presets.Preset | None,
    *,
    whole: bool,
) -> Convention | None:
    """Return the convention that a metric has of its own, by its text or by the
    library's record; None: that of the evaluation.

    What a library lacks is worked out as recnb defines it, relevance above 0 included,
    on the library's users and order.
    """
    nothing_cut = {"cutoff": "none"} if whole else {}
    of_text = dict(metric.data)
    if metric.as_printed and "ideal" in metric.defaults:
        of_text |= nothing_cut
    if not metric.is_accuracy or (data.library is None and not of_text):
        return None
    convention = data.convention
    if data.library is None:
        return replace(convention, **of_text)
    if recorded is not None:
        decisions = {**nothing_cut, **data.overrides, **of_text}
        return replace(recorded.convention, **decisions)
    no_relevant = convention.no_relevant
    if no_relevant == "one":
        no_relevant = "zero"
    plain = {"cutoff": "k", "relevant": ">0", "no_relevant": no_relevant}
    return replace(convention, **{**plain, **data.overrides, **of_text})


def _recorded(
    data: EvaluationData, metric: Metric[...], *, whole: bool = False
) -> presets.Preset | None:
    """Return what is recorded of a metric in the library; nothing of one that it never
    cuts, if a cut-off is asked for.
    """
    if data.library is None:
        return None
    name = metric.plain_name
    if not metric.is_accuracy:
        # Of several ways that go by one formula, the one that has its name.
        variants = presets.of_metric(name, data.library)
        for variant in variants:
            if variant.variant.split("[")[0] == name:
                return variant
        return next(iter(variants), None)
    preset = presets.default_of(data.library, name, whole=whole)
    if preset is None or (preset.convention.cutoff == "none" and not whole):
        return None
    return preset


def _is_own(data: EvaluationData, metric: Metric[...], *, whole: bool = False) -> bool:
    """Return whether a number under a library's conventions is recnb's own, since
    nothing is recorded of it there.
    """
    return data.library is not None and _recorded(data, metric, whole=whole) is None


# ---- credit, and averages over users


def credit_of(scoring: Scoring, cutoffs: Cutoffs) -> Credit:
    """Return the credit of the hits at these cut-offs."""
    cutoffs = cutoffs_under(scoring.joined.convention, cutoffs)
    hits = hits_for(scoring, cutoffs)
    credit: Credit = scoring.measure.at(hits, cutoffs)
    return credit


def averaged(scoring: Scoring, cutoffs: Cutoffs) -> tuple[Floats, Floats]:
    """Return the values of users × cut-offs, NaN where not averaged, and their mean."""
    joined = scoring.joined
    credit = credit_of(scoring, cutoffs)
    return average(credit, joined.convention, joined.user_weight)


def hits_for(scoring: Scoring, cutoffs: Cutoffs) -> Hits:
    """Return the hits that the metric needs at these cut-offs, with all judged items if
    it counts these.
    """
    depth = None if scoring.measure.needs_whole_list else cutoffs.deepest
    hits = scoring.joined.hits(depth)
    if "judged" in scoring.measure.metric.needs:
        return replace(hits, judged=scoring.joined.judged_hits())
    return with_items(scoring, hits)


def with_items(scoring: Scoring, hits: Hits) -> Hits:
    """Return hits with what is known of the item of each, if a metric of the caller's
    needs it.
    """
    metric, data = scoring.measure.metric, scoring.data
    if data is None or not (metric.own and metric.needs):
        return hits
    if scoring.joined is not data.joined:
        data = EvaluationData.of(scoring.joined, side_data=data.side_data)
    return data.item_data.hits_with_items(hits, metric)


def cutoffs_under(convention: Convention, cutoffs: Cutoffs) -> Cutoffs:
    """Return the cut-offs; under a convention that does not cut, they only label the
    numbers.
    """
    return replace(cutoffs, cut=convention.cutoff)


def average(
    credit: Credit, convention: Convention, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Fill in and leave out users who have nothing to find, and average the others, who
    may have weights.

    A cost that says what a list without a hit adds has a value for those who have
    nothing to find: 0 would be the best there is.
    """
    matrix = credit.value
    undefined = undefined_in(credit, convention)
    if undefined is not None and undefined.any():
        rule = convention.no_relevant
        if rule == "skip" or not credit.has_missed:
            matrix = np.where(undefined, FILLED[rule], matrix)
    elif len(matrix) and weights is None:
        return matrix, np.asarray(matrix.mean(axis=0))
    return matrix, mean_of(matrix, weights)


def mean_of(matrix: Floats, weights: Floats | None) -> Floats:
    """Return the mean of each column over the users who have a value, of users with
    weights sum(w x) / sum(w); NaN if none has.
    """
    weight = 1.0 if weights is None else as_column(weights)
    n = (~np.isnan(matrix) * weight).sum(axis=0)
    total = np.nansum(matrix * weight, axis=0)
    none = np.full(len(total), np.nan)
    return np.asarray(np.divide(total, n, out=none, where=n > 0))


def undefined_in(credit: Credit, convention: Convention) -> Bools | None:
    """Mark users who had nothing to find: no relevant item or, where an item of no gain
    can be relevant, an ideal of 0.
    """
    if convention.relevant != ">0" and isinstance(credit.out_of, Credit):
        return np.asarray(np.asarray(credit.possible) == 0)
    n_relevant = credit.rows.n_relevant
    if n_relevant.all():
        return None
    return as_column(n_relevant == 0)


# ---- what a number rests on


def basis_of(
    data: EvaluationData,
    scoring: Scoring,
    cutoffs: Cutoffs,
    given: Mapping[str, Any] | None = None,
) -> Basis:
    """Return what a metric's number at the deepest of these cut-offs rests on; `given`:
    the options of the call.
    """
    joined, metric = scoring.joined, scoring.measure.metric
    convention = scoring.in_force
    scale = None
    if dict(convention.metric).get("max_relevance", "") is None:
        scale = joined.all_hits.max_relevance
    return Basis(
        counts=_users_behind(scoring, cutoffs),
        convention=convention,
        graded=data.joined.graded,
        notes=(*data.joined.notes, *data.apart),
        scale=scale,
        library=data.library,
        given=tuple(data.overrides),
        options=dict(given or {}),
        is_own=_is_own(data, metric, whole=cutoffs.values == (None,)),
        weights=joined.weighting,
        user_weight=joined.user_weight,
        unsaid=scoring.unsaid,
        below_0_unjudged=metric.plain_name == "bpref",
        user_label=data.user_label,
        has_missed=metric.missed != "0",
        also_whole=None in cutoffs.values and not scoring.whole,
        n_train=n_train_of(scoring),
    )


def n_train_of(scoring: Scoring) -> int:
    """Count the users of train, if a metric of hits looks at what they had."""
    if scoring.data is None or "train" not in scoring.measure.metric.needs:
        return 0
    return scoring.data.item_data.catalogue.n_users


def _users_behind(scoring: Scoring, cutoffs: Cutoffs) -> UserCounts:
    """Count the users behind the mean at the deepest cut-off, those of them without a
    list and those with no relevant item; and users with no relevant item who are left
    out. One who counts 1 is not among those without a list, who count 0.
    """
    joined = scoring.joined
    nothing_to_find = joined.all_hits.n_relevant == 0
    # Where an item of no gain can be relevant, an ideal of 0 says that there is nothing
    # to find.
    if joined.convention.relevant != ">0":
        credit = credit_of(scoring, Cutoffs.one(cutoffs.deepest))
        if isinstance(credit.out_of, Credit):
            nothing_to_find = (np.asarray(credit.possible) == 0).ravel()
    has_missed = scoring.measure.metric.missed != "0"
    return joined.counts_of_users(nothing_to_find, has_missed=has_missed)


# ---- whole lists beside cut-offs


def _with_whole_lists(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Values:
    """Compute a metric that does otherwise with whole lists than at a cut-off, at both;
    its basis is that of whole lists, which are the deepest.
    """
    depths = [cutoff for cutoff in k if cutoff is not None]
    cut = values_of(data, metric, Cutoffs.of(depths), options)
    whole = values_of(data, metric, Cutoffs.one(None), options)
    if not cut.users.equals(whole.users):
        raise OptionError(
            f"{data.library} averages {metric.name} of whole lists over other users "
            f"than at a cut-off: ask for k=None alone."
        )
    order = [[*depths, None].index(cutoff) for cutoff in k]
    return replace(
        whole,
        k=k,
        matrix=np.hstack([cut.matrix, whole.matrix])[:, order],
        mean=np.append(cut.mean, whole.mean)[order],
    )


# ---- beyond accuracy


def _values_beyond_accuracy(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Values:
    """Compute a metric beyond accuracy for all who have a list, or for the users
    evaluated.
    """
    measure = in_force(data, metric, options, whole=k.values == (None,)).measure
    results = tuple(
        data.item_data.compute(metric, cutoff, measure.options) for cutoff in k
    )
    users = data.joined.users if metric.of_evaluated else data.item_data.users
    of_users = [result for result in results if isinstance(result, PerUser)]
    matrix = np.zeros((0, len(k)))
    weights = None
    if of_users:
        columns = [np.where(each.counted, each.value, np.nan) for each in of_users]
        matrix = np.stack(columns, axis=-1)
        weights = data.source.weight_of(users)
    if weights is None:
        mean = np.array([result.mean() for result in results])
    else:
        mean = mean_of(matrix, weights)
    chosen = measure.chosen
    plain = {
        name: as_plain(value) for name, value in chosen.items() if value is not None
    }
    with use_noun(data.noun):
        who = "; ".join(
            [_users_in_words(metric, len(users)), *weights_in_words(weights)]
        )
    words = partial(_of_lists_in_words, data, metric, chosen, k, results, who)
    return Values(
        measure=measure,
        k=k,
        users=users,
        matrix=matrix,
        mean=mean,
        convention=data.convention.with_metric(plain),
        basis=WordedBasis(words, who, data.user_label),
        results=results,
        weights=weights,
    )


def _users_in_words(metric: Metric[...], n: int) -> str:
    """Return the users behind a number beyond accuracy, in words."""
    if metric.of_evaluated:
        return ngettext("{n:,} user evaluated", "{n:,} users evaluated", n)
    return ngettext("{n:,} user with a list", "{n:,} users with a list", n)


def _of_lists_in_words(
    data: EvaluationData,
    metric: Metric[...],
    options: Given,
    k: Cutoffs,
    results: Sequence[PerUser | Whole],
    users: str,
) -> list[str]:
    """Return in words what a number beyond accuracy rests on at the deepest cut-off:
    users, items, order and options.
    """
    is_own = _is_own(data, metric)
    words = [users]
    if data.library is not None and not is_own:
        words = [follows(data.library, words=users)]
    result = results[k.values.index(k.deepest)]
    if isinstance(result, PerUser) and not metric.of_evaluated:
        n_left_out = int((~result.counted).sum())
        if n_left_out:
            words.append(_("{n:,} with a list without a value, left out", n=n_left_out))
    words += _catalogue_in_words(data, metric, options)
    order = replace(data.convention, relevant_from=None).phrases(graded=False)[0]
    words.append(order)
    for name, value in options.items():
        shown = as_plain(value)
        if shown and (name, shown) != ("cutoff", "k"):
            words.append(f"{name}={shown}")
    if is_own:
        words.append(_(OWN, library=data.library))
    return [*words, *data.notes]


def _catalogue_in_words(
    data: EvaluationData, metric: Metric[...], options: Given
) -> list[str]:
    """Return in words the items that a number is out of, and the users of train."""
    catalogue = data.item_data.catalogue
    population = options.get("population", "catalogue")
    is_counted = "catalogue" in metric.needs or options.get("normalize")
    words = []
    if is_counted and population != "recommended" and catalogue.listed is not None:
        of_train = population == "train" or data.side_data.items is None
        members = catalogue.members("train" if of_train else "catalogue", metric.name)
        out_of = N_("out of {n:,} items of items=")
        if of_train:
            out_of = N_("out of {n:,} items of train")
        words.append(_(out_of, n=int(members.sum())))
        if population == "catalogue+padding":
            words.append(_("and one more, of padding"))
    if catalogue.users is not None and "train" in metric.needs:
        words += train_in_words(catalogue.n_users)
    return words


def recorded_in(library: str | None) -> list[str]:
    """Return the metrics beyond accuracy whose numbers in a library are recorded; all,
    for recnb's own.
    """
    if library is None:
        return [name for name, metric in LIST_METRICS.items() if not metric.own]
    recorded = {preset.metric for preset in presets.of_library(library)}
    return [name for name in LIST_METRICS if name in recorded]


def as_plain(value: object) -> Any:
    """Return an option as a word or number; what is bigger, such as a frame, as
    "given".
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if not isinstance(value, (list, tuple)):
        return "given"
    if not all(isinstance(part, str) for part in value):
        return "given"
    return ", ".join(value)
