"""From a metric to its values, one step a function.

`scoring_of` chooses the convention and so the joined data, `values_of_hits` computes the
credit of the hits and the value of each user, and `Scoring` says what these rest on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recnb.conventions import Convention, options_in_words, presets
from recnb.data import Joined
from recnb.data.ids import positions
from recnb.data.in_memory import InMemory
from recnb.display.language import N_, Noun, _
from recnb.display.text import Phrase
from recnb.errors import NoUsersError, OptionError
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits
from recnb.metrics.measure import Measure
from recnb.metrics.metric import FILLED, LIST_METRICS, Credit, Metric, as_column
from recnb.results.basis import OWN, AveragedUsers, Basis, given_marked
from recnb.results.evaluation_data import EvaluationData
from recnb.results.values import Values

#: The rows of lists in which equal scores are looked for when a number is shown.
LOOKED_AT = 1_000_000

#: What a metric of accuracy needs -> the hits with it; rooms enter theirs.
READERS_OF_HITS: dict[str, Callable[[Joined, Hits], Hits]] = {}


def values_of(data: EvaluationData, measure: Measure, cutoffs: Cutoffs) -> Values:
    """Compute a measure at these cut-offs, as its kind of metric does."""
    if not measure.metric.is_accuracy:
        values: Values = measure.metric.values(data, measure, cutoffs)
        return values
    if data.library is not None and cutoffs.is_mixed:
        raise OptionError(
            f"whole lists may follow other rules of {data.library} than lists that are "
            f"cut: ask for k=None alone."
        )
    scoring = scoring_of(data, measure, cutoffs)
    joined = scoring.joined
    return Values(
        measure=scoring.measure,
        cutoffs=cutoffs,
        users=joined.users,
        matrix=values_of_hits(joined, scoring.measure, cutoffs),
        basis=scoring,
        decided=joined.convention,
        data=data,
        weights=joined.user_weight,
    )


def values_of_users(data: EvaluationData, measure: Measure, cutoffs: Cutoffs) -> Floats:
    """Return users × cut-offs of the users evaluated; NaN where a user has no value.

    Refused where a library averages this metric over other users: some of those
    evaluated are not among them, or some others have a value.
    """
    values = values_of(data, measure, cutoffs)
    is_evaluated = positions(data.joined.users, values.users) >= 0
    lacks_users = is_evaluated.sum() < data.n_lists
    has_other_users = np.isfinite(values.matrix[~is_evaluated]).any()
    if lacks_users or has_other_users:
        raise OptionError(
            f"{data.library or 'recnb'} averages {measure.name} over other users than its other "
            f"metrics: ask for its mean, .table([{measure.name!r}])."
        )
    evaluated: Floats = values.matrix[is_evaluated]
    return evaluated


# Whose convention, and which joined data

#: Any cut-off: some conventions depend on whether there is one.
ANY_CUTOFF = Cutoffs((1,))


def scoring_of(
    data: EvaluationData, measure: Measure, cutoffs: Cutoffs = ANY_CUTOFF
) -> Scoring:
    """Return how a measure is computed: as the evaluation does, or as a library does."""
    recorded = recorded_of(data, measure.metric, cutoffs)
    computed = as_computed(data, measure, recorded)
    joined, convention = data.joined, _convention_of(data, measure, recorded)
    if convention is not joined.convention:
        # A library's convention may go by scores where these frames have ranks alone.
        convention = data.source.with_order_of_lists(convention)
        try:
            joined = data.source.under(convention)
        except NoUsersError as problem:
            _refuse_level_of_text(data, measure, problem)
            raise
    return Scoring(data, measure, cutoffs, joined, computed, recorded)


def _refuse_level_of_text(
    data: EvaluationData, measure: Measure, problem: NoUsersError
) -> None:
    """Refuse a level of relevance, as in AP(rel=2), that nothing in the truth reaches."""
    level = measure.decisions.get("relevant_from")
    highest = data.joined.hits.max_relevance
    if level is not None and level > highest:
        raise NoUsersError(
            f"{measure.name} counts items of relevance {level:g} or more, and the "
            f"highest in the truth is {highest:g}: give rel= a level that it has."
        ) from problem


def as_computed(
    data: EvaluationData, measure: Measure, recorded: presets.Preset | None
) -> Measure:
    """Return a measure with the options of the library that it lacks, and weights."""
    is_weighted = data.joined.is_weighted and measure.metric.takes_weights
    if recorded is None and not is_weighted:
        return measure
    library_options = {} if recorded is None else dict(recorded.options)
    return replace(
        measure,
        options={**library_options, **measure.options},
        weighted=is_weighted,
    )


def _convention_of(
    data: EvaluationData, measure: Measure, recorded: presets.Preset | None
) -> Convention:
    """Return the convention that a measure is computed under.

    Without a library it is the evaluation's; so it is beyond accuracy. A library has one
    for each metric of accuracy: the one that is recorded or, of a metric that it lacks,
    recnb's own definition on the library's users and order. What the caller decides in
    addition to the library comes next, and last what the measure's text decides, as
    "AP(rel=2)" does.
    """
    convention, decisions = data.convention, measure.decisions
    if not measure.metric.is_accuracy:
        return convention
    if data.library is None:
        return replace(convention, **decisions) if decisions else convention
    if recorded is not None:
        convention = recorded.convention
    else:
        no_relevant = convention.no_relevant
        # A user with nothing to find counts 1 by definition of the library's own metrics
        # alone; where the library leaves such users out, so does recnb.
        if no_relevant == "one":
            no_relevant = "zero"
        convention = replace(
            convention, cutoff="k", relevant=">0", no_relevant=no_relevant
        )
    return replace(convention, **{**data.overrides, **decisions})


def recorded_of(
    data: EvaluationData, metric: Metric[...], cutoffs: Cutoffs = ANY_CUTOFF
) -> presets.Preset | None:
    """Return what is recorded of a metric in the library, cut or not.

    None if nothing is, or if the library never cuts it and a cut-off is asked for.
    """
    if data.library is None:
        return None
    if not metric.is_accuracy:
        # Of several variants the first is called as the metric is.
        return next(iter(presets.of_metric(metric.name, data.library)), None)
    preset = presets.default_of(data.library, metric.name)
    if preset is None:
        return None
    if cutoffs.is_whole:
        return preset.uncut
    return None if preset.convention.cutoff == "none" else preset


def recorded_in(library: str | None) -> list[str]:
    """Return the metrics beyond accuracy whose numbers in a library are recorded.

    Without a library, all that recnb has. A metric of the caller's is never among them.
    """
    if library is None:
        return [name for name, metric in LIST_METRICS.items() if not metric.own]
    return [name for name in LIST_METRICS if presets.of_metric(name, library)]


# Credit, and the value of each user


def values_of_hits(
    joined: Joined, measure: Measure, cutoffs: Cutoffs, hits: Hits | None = None
) -> Floats:
    """Return the values of a measure, users × cut-offs; NaN where left out.

    `hits`: others of the same users; None: those that the metric needs.
    """
    cutoffs = cutoffs_under(joined.convention, cutoffs)
    if hits is None:
        hits = hits_for(joined, measure, cutoffs)
    blocks = []
    for block in hits.blocks():
        credit: Credit = measure.at(block, cutoffs)
        blocks.append(filled(credit, joined.convention))
    return np.concatenate(blocks)


def cutoffs_under(convention: Convention, cutoffs: Cutoffs) -> Cutoffs:
    """Return the cut-offs under a convention.

    If it does not cut, they label the numbers, and are what some denominators take.
    """
    return Cutoffs(cutoffs.values, cut=convention.cutoff)


def hits_for(joined: Joined, measure: Measure, cutoffs: Cutoffs) -> Hits:
    """Return the hits that a metric needs at cut-offs under the convention."""
    hits = joined.hits.down_to(cutoffs.deepest)
    for need in measure.metric.needs:
        hits = READERS_OF_HITS[need](joined, hits)
    return hits


def filled(credit: Credit, convention: Convention) -> Floats:
    """Return the values of a credit, users × cut-offs.

    A user with nothing to find is left out (NaN) or has the convention's value.
    """
    undefined = undefined_in(credit, convention)
    rule = convention.no_relevant
    # A cost has a value for a list without a hit, such as the length of the list. A user
    # who is averaged keeps it: the convention's 0 would be the best cost there is.
    keeps_its_value = credit.has_missed and rule != "skip"
    if keeps_its_value or not undefined.any():
        return credit.value
    return np.where(undefined, FILLED[rule], credit.value)


def undefined_in(credit: Credit, convention: Convention) -> Bools:
    """Mark users who had nothing to find, users × 1 or × cut-offs.

    | items relevant to the user | the metric divides by       | nothing to find |
    |----------------------------|-----------------------------|-----------------|
    | none                       | anything                    | yes             |
    | some, all of grade 0       | what an ideal list earns: 0 | yes             |
    | some, all of grade 0       | anything else               | no              |
    """
    out_of = credit.out_of
    grade_0_may_be_relevant = convention.relevant != ">0"
    # Only nDCG and its like divide by a Credit, that of the ideal list, which without a
    # relevant item is empty and earns 0 as well; others divide by numbers.
    if grade_0_may_be_relevant and isinstance(out_of, Credit):
        return out_of.earns_nothing
    return as_column(credit.rows.n_relevant == 0)


# What a number rests on


@dataclass(frozen=True, eq=False)
class Scoring(Basis):
    """A measure as an evaluation computes it, and in words what its number rests on.

    Words are of the deepest cut-off.
    """

    data: EvaluationData
    asked: Measure  #: as the call has it, without the options of a library
    cutoffs: Cutoffs
    joined: Joined  #: the data under the convention of the measure
    measure: Measure  #: with the options and weights that it is computed with
    recorded: presets.Preset | None  #: of the metric in the library

    @property
    def noun(self) -> Noun:
        """What sentences call users and items."""
        return self.data.noun

    @property
    def averaged_users(self) -> AveragedUsers:
        """The users behind a mean at the deepest cut-off."""
        has_missed = self.measure.metric.missed != "0"
        return AveragedUsers(self.joined, self._nothing_to_find(), has_missed)

    def who(self) -> list[str]:
        """Return the users behind a mean in words."""
        return self.averaged_users.in_words()

    def _nothing_to_find(self) -> Bools:
        """Mark users who have nothing to find at the deepest cut-off."""
        joined = self.joined
        if joined.convention.relevant == ">0":  # as in `undefined_in`, without credit
            return np.asarray(joined.hits.n_relevant == 0)
        k = cutoffs_under(joined.convention, Cutoffs((self.cutoffs.deepest,)))
        credit = self.measure.at(hits_for(joined, self.measure, k), k)
        return undefined_in(credit, joined.convention).ravel()

    def followed(self) -> list[str]:
        """Return the library in force, if it has the metric."""
        if self.recorded is None:
            return []
        return self.data.followed(self.joined.convention)

    def rules(self, *, brief: bool) -> list[str]:
        """Return the notes and the decisions behind a metric of accuracy in words."""
        # Notes are those of the evaluation, as another join of its frames lacks those
        # of a comparison, such as which users it leaves out.
        words, recorded = [*self.data.notes], self.recorded
        if recorded is not None and recorded.caveat:
            words.append(recorded.caveat_in_words)
        if not brief:
            words += self._marked_decisions()
        elif recorded is None:
            words += self.decisions_in_words()
        else:  # the name of the library says its decisions
            words += options_in_words(self.asked.options_beside_text)
        words += scale_of(self.measure, self.joined.hits)
        if recorded is None and self.data.library is not None:
            own = _(OWN, library=self.data.library)
            words.append(Phrase(own, _("recnb's own")))
        return words

    def decisions_in_words(self) -> list[str]:
        """Return the decisions about the data and the options in words.

        Of some lists that are cut and some that are whole, those of the latter that
        differ come last.
        """
        decided = self.joined.convention.with_metric(self.measure.chosen)
        of_data = {
            "graded": self.joined.is_graded,
            "below_0_unjudged": self.measure.metric.below_0_unjudged,
        }
        phrases = decided.phrases(**of_data, whole=self.cutoffs.is_whole)
        if self.cutoffs.is_mixed:
            for words in decided.phrases(**of_data, whole=True):
                if words not in phrases:
                    phrases.append(_("for whole lists, {what}", what=words))
        return phrases

    def _marked_decisions(self) -> list[str]:
        """Return the decisions; those of the line of a score as `Phrase`.

        These are the unusual ones, and none of a library, whose name says them.
        """
        convention = self.joined.convention
        phrases = self.decisions_in_words()
        if self.data.library is not None:
            phrases = [str(phrase) for phrase in phrases]
        elif ties_may_decide(self.joined):
            order = phrases.index(convention.order_in_words)
            phrases[order] = Phrase(phrases[order], _("ties as given"))
        given = options_in_words(
            self.asked.options_beside_text,
            whole=self.cutoffs.is_whole,
            cutoff=convention.cutoff,
        )
        return given_marked(phrases, given)


def ties_may_decide(joined: Joined) -> bool:
    """Return whether a relevant item may have the score of another of its list.

    It is looked for in lists of up to `LOOKED_AT` rows, where the usual rule orders
    equal scores; any other rule has a phrase of its own.
    """
    convention, source = joined.convention, joined.source
    if convention.order != "score" or convention.ties != Convention.ties:
        return False
    if not isinstance(source, InMemory) or source.recs_rows.height > LOOKED_AT:
        return True
    scores = joined.rows.lists.select("user", "item", "score")
    hits = scores.join(joined.rows.relevant, on=["user", "item"], how="semi")
    places = hits.select("user", "score").unique()
    n_equal = scores.join(places, on=["user", "score"], how="semi").height
    return n_equal > places.height


def scale_of(measure: Measure, hits: Hits) -> list[str]:
    """Return the highest relevance of the truth in words, if it is the metric's scale.

    It is if the metric has an option max_relevance, which is not given.
    """
    chosen = measure.chosen
    if "max_relevance" not in chosen or chosen["max_relevance"] is not None:
        return []
    words = N_("highest relevance {value:g}, that of the truth")
    return [_(words, value=hits.max_relevance)]
