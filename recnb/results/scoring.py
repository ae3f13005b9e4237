"""From a metric to its values, one step a function.

Whose convention and which joined data (`scoring_of`), the credit of the hits, averages
over users, the basis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data import Joined
from recnb.display.language import N_, _, ngettext, use_noun
from recnb.errors import OptionError
from recnb.metrics.catalogue import Catalogue
from recnb.metrics.gain import as_column
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS, Credit, Given, Metric
from recnb.metrics.recommendation_lists import FILLED, PerUser, Whole
from recnb.results.evaluation_data import EvaluationData, lists_behind
from recnb.results.values import (
    OWN,
    Basis,
    ListCounts,
    Values,
    WordedBasis,
    follows,
    train_in_words,
    weights_in_words,
)
from recnb.stats import means

T = TypeVar("T")


def values_of(data: EvaluationData, measure: Measure, k: Cutoffs) -> Values:
    """Compute a measure, of accuracy or beyond it, at these cut-offs."""
    if not measure.metric.is_accuracy:
        return _values_beyond_accuracy(data, measure, k)
    has_whole_lists_too = None in k.values and not k.is_whole
    if data.library is not None and has_whole_lists_too:
        raise OptionError(
            f"whole lists may follow other rules of {data.library} than lists that are "
            f"cut: ask for k=None alone."
        )
    scoring = scoring_of(data, measure, whole=k.is_whole)
    joined = scoring.joined
    matrix, mean = averaged(scoring, k)
    basis = basis_of(data, scoring, k, measure.options_beside_text)
    return Values(
        measure=scoring.measure,
        k=k,
        users=joined.users,
        matrix=matrix,
        mean=mean,
        convention=basis.convention,
        basis=basis,
        weights=joined.user_weight,
        keys=data.keys,
        clusters=partial(data.clusters_of, joined.users),
    )


def values_of_users(data: EvaluationData, measure: Measure, k: Cutoffs) -> Floats:
    """Return users × cut-offs of the users evaluated; NaN where a user has no value.

    Refused where a library averages this metric over other users: some of those
    evaluated are not among them, or some others have a value.
    """
    values = values_of(data, measure, k)
    is_evaluated = values.users.is_in(data.joined.users.implode()).to_numpy()
    lacks_users = is_evaluated.sum() < data.n_lists
    has_other_users = np.isfinite(values.matrix[~is_evaluated]).any()
    if lacks_users or has_other_users:
        raise OptionError(
            f"{data.library} averages {measure.name} over other users than its other "
            f"metrics: ask for its mean, .table([{measure.name!r}])."
        )
    evaluated: Floats = values.matrix[is_evaluated]
    return evaluated


# ---- whose convention, and which joined data


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure as an evaluation computes it: on which data, with which weights."""

    joined: Joined
    measure: Measure
    whole: bool = False  #: whether there is no cut-off

    @property
    def cuts_nothing(self) -> bool:
        """Whether no list is cut, the ideal one neither."""
        return self.whole or self.joined.convention.cutoff == "none"

    @property
    def full_convention(self) -> Convention:
        """The convention of the data with all options of the metric."""
        return self.joined.convention.with_metric(self.measure.chosen)


def scoring_of(
    data: EvaluationData, measure: Measure, *, whole: bool = False
) -> Scoring:
    """Return how a measure is computed: as the evaluation does, or as a library does."""
    recorded = _recorded(data, measure.metric, whole=whole)
    as_computed = _as_computed(data, measure, recorded)
    convention = _convention_of(data, measure, recorded, whole=whole)
    if convention is None:
        return Scoring(data.joined, as_computed, whole)
    # A library's convention may go by scores where these frames have ranks alone.
    with_order_of_frames = data.source.as_given(convention)
    joined = data.source.under(with_order_of_frames)
    return Scoring(joined, as_computed, whole)


def _as_computed(
    data: EvaluationData, measure: Measure, recorded: presets.Preset | None
) -> Measure:
    """Return a measure with the options of the library that it lacks, and weights."""
    of_library = {} if recorded is None else dict(recorded.options)
    return replace(
        measure,
        options={**of_library, **measure.options},
        weighted=data.joined.is_weighted and measure.metric.takes_weights,
    )


def _convention_of(
    data: EvaluationData,
    measure: Measure,
    recorded: presets.Preset | None,
    *,
    whole: bool,
) -> Convention | None:
    """Return the convention that a measure has of its own; None: the evaluation's.

    | metric          | library | measure                    | starts from               |
    |-----------------|---------|----------------------------|---------------------------|
    | beyond accuracy | any     | any                        | None                      |
    | of accuracy     | none    | decides nothing: "nDCG@10" | None                      |
    |                 | none    | decides: "AP(rel=2)"       | the evaluation's          |
    |                 | given   | recorded there             | the record's; nothing cut |
    |                 |         |                            | if there is no k          |
    |                 | given   | not recorded               | the evaluation's, with    |
    |                 |         |                            | what is recnb's own       |

    Then come the decisions that the caller overrides, then those of the measure's text.
    """
    if not measure.metric.is_accuracy:
        return None
    of_text = measure.decisions
    if data.library is None and not of_text:
        return None
    if data.library is None:
        return replace(data.convention, **of_text)
    decisions: dict[str, Any] = {}
    if recorded is None:
        start = data.convention
        decisions |= _recnbs_own(start)
    else:
        start = recorded.convention
        if whole:
            decisions["cutoff"] = "none"
    decisions |= data.overrides
    decisions |= of_text
    return replace(start, **decisions)


def _recnbs_own(convention: Convention) -> dict[str, str]:
    """Return how recnb defines what a library lacks, on the library's users and order.

    A user with nothing to find is left out where the library leaves such users out, but
    never counts 1: that is a definition of the library's own metrics.
    """
    no_relevant = convention.no_relevant
    if no_relevant == "one":
        no_relevant = "zero"
    return {"cutoff": "k", "relevant": ">0", "no_relevant": no_relevant}


def _recorded(
    data: EvaluationData, metric: Metric[...], *, whole: bool = False
) -> presets.Preset | None:
    """Return what is recorded of a metric in the library.

    None if nothing is, or if the library never cuts it and a cut-off is asked for.
    """
    if data.library is None:
        return None
    if not metric.is_accuracy:
        return _recorded_beyond_accuracy(data.library, metric.name)
    preset = presets.default_of(data.library, metric.name, whole=whole)
    if preset is None:
        return None
    is_never_cut = preset.convention.cutoff == "none"
    if is_never_cut and not whole:
        return None
    return preset


def _recorded_beyond_accuracy(library: str, name: str) -> presets.Preset | None:
    """Return the library's record of a metric; None: it has none.

    Of several variants it is the first that is called as the metric is, such as
    "coverage[catalogue]" of coverage, else the first, such as "coverage_count".
    """
    variants = presets.of_metric(name, library)
    if not variants:
        return None
    for preset in variants:
        name_of_variant = preset.variant.split("[")[0]
        if name_of_variant == name:
            return preset
    return variants[0]


# ---- credit, and averages over users


def credit_of(scoring: Scoring, cutoffs: Cutoffs) -> Credit:
    """Return the credit of the hits at these cut-offs."""
    cutoffs = cutoffs_under(scoring.joined.convention, cutoffs)
    hits = hits_for(scoring, cutoffs)
    credit: Credit = scoring.measure.at(hits, cutoffs)
    return credit


def averaged(scoring: Scoring, cutoffs: Cutoffs) -> tuple[Floats, Floats]:
    """Return the values, users × cut-offs, NaN where left out, and their means."""
    joined = scoring.joined
    matrix = filled(credit_of(scoring, cutoffs), joined.convention)
    return matrix, means(matrix, joined.user_weight)


def _depth_of(scoring: Scoring, cutoffs: Cutoffs) -> int | None:
    """Return the rank below which no hit counts; None: whole lists count."""
    return None if scoring.measure.needs_whole_list else cutoffs.deepest


def hits_for(scoring: Scoring, cutoffs: Cutoffs) -> Hits:
    """Return the hits that the metric needs at these cut-offs.

    A metric that counts judged items gets these as well.
    """
    hits = scoring.joined.hits(_depth_of(scoring, cutoffs))
    if "judged" in scoring.measure.metric.needs:
        return replace(hits, judged=scoring.joined.judged_hits())
    return hits


def cutoffs_under(convention: Convention, cutoffs: Cutoffs) -> Cutoffs:
    """Return the cut-offs under a convention.

    If it does not cut, they label the numbers, and are what some denominators take.
    """
    return replace(cutoffs, cut=convention.cutoff)


def filled(credit: Credit, convention: Convention) -> Floats:
    """Return the values of a credit, users × cut-offs.

    A user with nothing to find is left out (NaN) or has the convention's value.
    """
    matrix = credit.value
    undefined = undefined_in(credit, convention)
    if undefined is None or not undefined.any():
        return matrix
    rule = convention.no_relevant
    # A cost has a value for a list without a hit, such as the length of the list. A user
    # who is averaged keeps it: the convention's 0 would be the best cost there is.
    keeps_its_value = credit.has_missed and rule != "skip"
    if keeps_its_value:
        return matrix
    return np.where(undefined, FILLED[rule], matrix)


def undefined_in(credit: Credit, convention: Convention) -> Bools | None:
    """Mark users who had nothing to find, users × 1 or × cut-offs; None: nobody.

    | items relevant to the user | the metric divides by       | nothing to find |
    |----------------------------|-----------------------------|-----------------|
    | none                       | anything                    | yes             |
    | some, all of grade 0       | what an ideal list earns: 0 | yes             |
    | some, all of grade 0       | anything else               | no              |
    """
    ideal_list = credit.out_of
    grade_0_may_be_relevant = convention.relevant != ">0"
    # Only nDCG and its like divide by a Credit, that of the ideal list; others divide by
    # numbers, such as counts.
    if grade_0_may_be_relevant and isinstance(ideal_list, Credit):
        # So does that of a user without relevant items.
        return ideal_list.earns_nothing
    hits = credit.rows
    n_relevant = hits.n_relevant
    if n_relevant.all():
        return None
    return as_column(n_relevant == 0)


# ---- what a number rests on


def basis_of(
    data: EvaluationData,
    scoring: Scoring,
    cutoffs: Cutoffs,
    options: Mapping[str, Any] | None = None,
) -> Basis:
    """Return what a metric's number at the deepest of these cut-offs rests on.

    `options`: those of the call.
    """
    joined, metric = scoring.joined, scoring.measure.metric
    recorded = _recorded(data, metric, whole=scoring.whole)
    nothing_to_find = _nothing_to_find(scoring, cutoffs)
    has_missed = metric.missed != "0"
    return Basis(
        # The data, as they are joined under the convention of the measure.
        counts=joined.counts_of_users(nothing_to_find, has_missed=has_missed),
        lists=lists_behind(joined, nothing_to_find),
        scale=_scale_of(scoring),
        weights=joined.weighting,
        user_weight=joined.user_weight,
        # The evaluation, the same under every convention. Notes are read here, as
        # another join of its frames lacks those of a comparison, such as which users it
        # leaves out.
        graded=data.joined.graded,
        user_label=data.user_label,
        noun=data.noun,
        notes=(*data.joined.notes, *data.no_item_meets),
        # The metric, as it is asked for.
        convention=scoring.full_convention,
        options=dict(options or {}),
        has_missed=has_missed,
        below_0_unjudged=metric.below_0_unjudged,
        whole=scoring.whole,
        # The library.
        library=data.library,
        given=tuple(data.overrides),
        is_own=data.library is not None and recorded is None,
        preset=recorded,
    )


def _scale_of(scoring: Scoring) -> float | None:
    """Return the highest relevance of the truth, if it is the metric's scale.

    It is if the metric has an option max_relevance, which is not given.
    """
    options = scoring.measure.chosen
    if "max_relevance" in options and options["max_relevance"] is None:
        return scoring.joined.max_relevance
    return None


def _nothing_to_find(scoring: Scoring, cutoffs: Cutoffs) -> Bools:
    """Mark users who have nothing to find at the deepest cut-off."""
    joined = scoring.joined
    has_none = np.asarray(joined.n_relevant == 0)
    if joined.convention.relevant == ">0":
        return has_none  # as `undefined_in`, for which no credit is needed
    deepest = Cutoffs.one(cutoffs.deepest)
    undefined = undefined_in(credit_of(scoring, deepest), joined.convention)
    if undefined is None:
        return has_none  # the metric has no ideal list
    return undefined.ravel()


# ---- beyond accuracy


def _values_beyond_accuracy(
    data: EvaluationData, measure: Measure, k: Cutoffs
) -> Values:
    """Compute a metric beyond accuracy.

    Its users are all who have a list or, as the metric says, those evaluated.
    """
    metric = measure.metric
    measure = _as_computed(data, measure, _recorded(data, metric))
    # `results` has one result for each cut-off.
    users, results = _computed(data, metric, k, measure.options)
    matrix = _matrix_of(results)
    if metric.of == "all":
        weights = None
        mean = np.array(results, dtype=np.float64)  # each is the number itself
    else:
        weights = data.source.weight_of(users)
        mean = means(matrix, weights)
    # Both those given and the metric's defaults.
    options_in_words = {
        name: _plain_option(value)
        for name, value in measure.chosen.items()
        if value is not None
    }
    result_at_deepest = results[k.values.index(k.deepest)]
    basis = _worded_basis(data, measure, result_at_deepest, users, weights)
    return Values(
        measure=measure,
        k=k,
        users=users,
        matrix=matrix,
        mean=mean,
        convention=data.convention.with_metric(options_in_words),
        basis=basis,
        results=tuple(results),
        weights=weights,
        keys=data.keys,
        clusters=partial(data.clusters_of, users),
    )


def _computed(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Mapping[str, Any]
) -> tuple[pl.Series, list[PerUser | Whole]]:
    """Compute a metric beyond accuracy; return the users of the values as well."""
    if metric.of == "all":
        return data.item_data.values_of_users(metric, k, options)
    parts = [part.values_of_users(metric, k, options) for part in data.alone]
    if len(parts) == 1:
        return parts[0]
    users = pl.concat([lists for lists, _values in parts])
    order = users.arg_sort()
    by_cutoff = zip(*(values for _lists, values in parts), strict=True)
    together = [PerUser.together(values, order.to_numpy()) for values in by_cutoff]
    return users.gather(order), [*together]


def _worded_basis(
    data: EvaluationData,
    measure: Measure,
    result: PerUser | Whole,
    users: pl.Series,
    weights: Floats | None,
) -> WordedBasis:
    """Return what a number beyond accuracy rests on, in words.

    The words for the users are made at once, as a table compares them with those of its
    other numbers; the rest is made when the number is printed.
    """
    who = _averaged_in_words(data, measure.metric, users, weights)
    words = partial(_of_lists_in_words, data, measure, result, who)
    return WordedBasis(words, who, data.user_label, data.noun)


def _matrix_of(results: Sequence[PerUser | Whole]) -> Floats:
    """Return users × cut-offs, NaN where a user does not count.

    No rows where the metric has one value for all users.
    """
    of_users = [result for result in results if isinstance(result, PerUser)]
    if not of_users:
        return np.zeros((0, len(results)))
    columns = [np.where(result.counted, result.value, np.nan) for result in of_users]
    # The values at a cut-off lie together in memory, so that a sum does not depend on
    # the cut-offs beside it.
    matrix: Floats = np.stack(columns).T
    return matrix


def _averaged_in_words(
    data: EvaluationData, metric: Metric[...], users: pl.Series, weights: Floats | None
) -> str:
    """Return the users behind a number beyond accuracy and their weights, in words."""
    with use_noun(data.noun):
        phrases = [
            _users_in_words(data, metric, users),
            *weights_in_words(weights, of_lists=bool(data.keys.columns)),
        ]
        return "; ".join(phrases)


def _users_in_words(data: EvaluationData, metric: Metric[...], users: pl.Series) -> str:
    """Return the users behind a number beyond accuracy, in words."""
    if data.keys.columns and metric.of == "all":
        lists = users_with_lists_in_words(data, users)
        return _("{lists}, taken together", lists=lists)
    if not data.keys.columns and metric.of_evaluated:
        return ngettext("{n:,} user evaluated", "{n:,} users evaluated", len(users))
    return users_with_lists_in_words(data, users)


def users_with_lists_in_words(data: EvaluationData, users: pl.Series) -> str:
    """Say in words how many users have a list, or how many lists there are of users."""
    if data.keys.columns:
        return ListCounts(data.keys, users).in_words()
    return ngettext("{n:,} user with a list", "{n:,} users with a list", len(users))


def _of_lists_in_words(
    data: EvaluationData, measure: Measure, result: PerUser | Whole, who: str
) -> list[str]:
    """Return in words what a number beyond accuracy rests on.

    `result`: that at the deepest cut-off; `who`: the users in words.
    """
    metric, options = measure.metric, measure.chosen
    is_own = data.library is not None and _recorded(data, metric) is None
    if data.library is not None and not is_own:
        who = follows(data.library, words=who)
    words = [
        who,
        *_lists_without_value_in_words(metric, result),
        *_catalogue_in_words(data, metric, options),
        data.convention.order_in_words,
        *_list_options_in_words(metric, options),
    ]
    if is_own:
        words.append(_(OWN, library=data.library))
    return [*words, *data.notes]


def _lists_without_value_in_words(
    metric: Metric[...], result: PerUser | Whole
) -> list[str]:
    """Say how many users have a list and no value, if some do."""
    if not isinstance(result, PerUser) or metric.of_evaluated:
        return []
    n_left_out = int((~result.counted).sum())
    if not n_left_out:
        return []
    return [_("{n:,} with a list without a value, left out", n=n_left_out)]


def _list_options_in_words(metric: Metric[...], options: Given) -> list[str]:
    """Return the options of a metric beyond accuracy, but for those that are not set."""
    return [
        f"{name}={_plain_option(value)}"
        for name, value in options.items()
        if not _goes_without_saying(metric, name, _plain_option(value))
    ]


def _goes_without_saying(metric: Metric[...], option: str, shown: object) -> bool:
    """Return whether a number is read the same without the words of an option.

    | option             | as in                                  |
    |--------------------|----------------------------------------|
    | not set            | features=None of diversity             |
    | a cut-off at k     | cutoff="k"                             |
    | off, as it usually | normalize=False of novelty; but not of |
    | is                 | coverage, which is usually normalized  |
    """
    is_set = shown is not None and shown != ""
    is_cut_at_k = option == "cutoff" and shown == "k"
    is_usually_off = shown is False and metric.defaults.get(option) is False
    return not is_set or is_cut_at_k or is_usually_off


def _catalogue_in_words(
    data: EvaluationData, metric: Metric[...], options: Given
) -> list[str]:
    """Return in words the items that a number is out of, and the users of train."""
    catalogue = data.item_data.catalogue
    words = []
    if _is_out_of_catalogue(catalogue, metric, options):
        words += _items_in_words(data, metric, _population(options))
    if catalogue.users is not None and "train" in metric.needs:
        words += train_in_words(catalogue.n_users)
    return words


def _is_out_of_catalogue(
    catalogue: Catalogue, metric: Metric[...], options: Given
) -> bool:
    """Return whether a number is out of all items that could have been recommended."""
    is_out_of_shown_items = _population(options) == "recommended"
    has_catalogue = catalogue.listed is not None
    return "catalogue" in metric.needs and has_catalogue and not is_out_of_shown_items


def _population(options: Given) -> str:
    """Return which items could have been recommended."""
    population: str = options.get("population", "catalogue")
    return population


def _items_in_words(
    data: EvaluationData, metric: Metric[...], population: str
) -> list[str]:
    """Return in words how many items could have been recommended."""
    # Without items= the catalogue is the items of train.
    is_of_train = population == "train" or data.side_data.items is None
    if is_of_train:
        listed, out_of = "train", N_("out of {n:,} items of train")
    else:
        listed, out_of = "catalogue", N_("out of {n:,} items of items=")
    members = data.item_data.catalogue.members(listed, metric.name)
    words = [_(out_of, n=int(members.sum()))]
    if population == "catalogue+padding":
        words.append(_("and one more, of padding"))
    return words


def recorded_in(library: str | None) -> list[str]:
    """Return the metrics beyond accuracy whose numbers in a library are recorded.

    Without a library, all that recnb has. A metric of the caller's is never among them.
    """
    if library is None:
        return [name for name, metric in LIST_METRICS.items() if not metric.own]
    recorded = {preset.metric for preset in presets.of_library(library)}
    return [name for name in LIST_METRICS if name in recorded]


def _plain_option(value: object) -> Any:
    """Return an option as a word or number.

    Anything else, such as a frame, is "given".
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if not isinstance(value, (list, tuple)):
        return "given"
    if not all(isinstance(part, str) for part in value):
        return "given"
    return ", ".join(value)
