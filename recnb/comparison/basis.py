"""What the numbers of a comparison rest on, in words.

The users compared and those left out, the convention, and what some metrics do otherwise.
Names of models are the user's, and escaped where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

from recnb.comparison.common import LeftOut, judged_by
from recnb.conventions import Convention, options_in_words
from recnb.display.forms import CONSOLE
from recnb.display.language import N_, Message, Plural, _, use_noun
from recnb.display.text import one_line, sample_in_words
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, symbol_of
from recnb.results.basis import (
    Basis,
    follows,
    lists_in_words,
    merged,
    no_relevant_in_words,
    pairs_in_words,
    weights_in_words,
)
from recnb.results.evaluation_data import users_in_common
from recnb.results.numbers import Bases
from recnb.results.scoring import scale_of, scoring_of, worded_for
from recnb.results.segments import Division, part_in_words
from recnb.results.unweighted import plain_means

#: Models by name, which are evaluated on the same users.
Compared = Mapping[str, Evaluation]


class Clause(NamedTuple):
    """A clause on users of models: of one, and of each if they have as many."""

    of_one: Message
    of_each: Message


WITHOUT_LIST = Clause(
    of_one=N_("{n:,} without a list from {model}, which counts 0"),
    of_each=N_("in each model {n:,} without a list, which counts 0"),
)
WITHOUT_JUDGED = Clause(
    of_one=N_("{n:,} without a judged {item} in a list from {model}, which counts 0"),
    of_each=N_("in each model {n:,} without a judged {item} in a list, which counts 0"),
)
#: The same of metrics by which a list without a hit does not count 0.
MISSED = Clause(
    of_one=N_("{n:,} without a list from {model}, which has no hit"),
    of_each=N_("in each model {n:,} without a list, which has no hit"),
)
LEFT_OUT = Clause(
    of_one=Plural(
        "{n:,} {user} of {model} left out, not judged in every other model",
        "{n:,} {users} of {model} left out, not judged in every other model",
    ),
    of_each="",  # each leaves out users of its own
)


def basis_of(
    models: Compared, left_out: Mapping[str, LeftOut], asked: Sequence[Measure] = ()
) -> list[str]:
    """Return the users and the convention behind some metrics.

    `left_out`: the users of each model who are not compared.
    """
    first = next(iter(models.values()))
    convention = _convention_of(models)
    has_missed = any(each.metric.missed != "0" for each in asked)
    with use_noun(first.noun):
        users, notes = _users_and_notes(
            models, left_out, convention, has_missed=has_missed
        )
        decisions = convention.phrases(graded=first.joined.graded)
        if first.library:
            given = convention.given_in_words(first.overrides)
            decisions = [follows(first.library, given), *decisions]
        no_item_meets = {
            one_line(name): [*map(str, model.no_item_meets)]
            for name, model in models.items()
        }
        return [
            *users,
            *weights_in_words(
                first.joined.user_weight, of_lists=bool(first.keys.columns)
            ),
            *notes,
            *merged(no_item_meets),
            *pairs_in_words(first.joined.weighting),
            *decisions,
            *_other_data(models, asked),
        ]


def _convention_of(models: Compared) -> Convention:
    """Return the convention of all models, whose lists may be ordered otherwise."""
    conventions = [model.convention for model in models.values()]
    if len({convention.order for convention in conventions}) > 1:
        return replace(conventions[0], order="auto")
    return conventions[0]


def _other_data(models: Compared, asked: Sequence[Measure]) -> list[str]:
    """Name the metrics with relevant items or users of their own, as AP(rel=2).

    A phrase says which items these are, or how many users.
    """
    first = next(iter(models.values()))
    known = first.convention.phrases(graded=first.joined.graded)
    phrases = []
    for measure in asked:
        others = [scoring_of(model, measure).joined for model in models.values()]
        ours = [model.joined for model in models.values()]
        if all(other is our for other, our in zip(others, ours, strict=True)):
            continue
        words = []
        users = users_in_common([other.users for other in others])
        if len(users) != first.n_lists:
            words = [sample_in_words(**first.counted(users))]
        if first.library is None:  # the name of a library says its decisions
            decisions = others[0].convention.phrases(graded=first.joined.graded)
            words += [phrase for phrase in decisions if phrase not in known]
        if words:
            phrases.append(f"{symbol_of(measure.asked_as)}: {', '.join(words)}")
    return phrases


# Options, and tables


def options_of(
    models: Compared, asked: Sequence[Measure], cutoffs: Cutoffs
) -> dict[str, list[str]]:
    """Return the options of each metric, defaults included."""
    first = next(iter(models.values()))
    phrases = {}
    for measure in asked:
        k = measure.cutoffs(cutoffs)
        scoring = scoring_of(first, measure, k)
        convention = scoring.joined.convention
        options = measure.chosen
        if measure.metric.is_accuracy:  # with those of the library
            options = scoring.measure.chosen
        in_words = partial(options_in_words, options, cutoff=convention.cutoff)
        phrases[symbol_of(measure.asked_as)] = [
            *worded_for(k, in_words),
            *scale_of(measure, scoring.joined.hits),
        ]
    return phrases


def basis_of_table(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    asked: Sequence[Measure],
    cutoffs: Cutoffs,
    division: Division,
    bases: Bases,
) -> list[str]:
    """Return the phrases below a table of means and of numbers of all lists."""
    first = next(iter(models.values()))
    user_measures = [each for each in asked if each.metric.of != "all"]
    accuracy_measures = [each for each in user_measures if each.metric.is_accuracy]
    basis = basis_of(models, left_out, user_measures)
    words = [*basis]
    if not division.is_tested:
        words.append(part_in_words(first, division))
    if len(accuracy_measures) < len(user_measures):
        beyond = N_(
            "metrics beyond accuracy over the {users} with a value in every model"
        )
        words.append(_(beyond))
    unweighted = plain_means(models, accuracy_measures, cutoffs)
    if unweighted:
        words.append(unweighted.removesuffix("."))
    phrases = options_of(models, user_measures, cutoffs)
    for each in asked:
        if each.metric.of == "all":
            bases_by_model = dict(zip(models, bases[each.asked_as], strict=True))
            phrases |= _of_all_lists(each.asked_as, bases_by_model, basis)
    return [*words, *merged(phrases)]


def _of_all_lists(
    name: str, bases: Mapping[str, Basis], known: Sequence[str]
) -> dict[str, list[str]]:
    """Return the phrases of a number of all lists, without those that are `known`.

    Of each model by itself where these differ.
    """
    phrases_by_label = {}
    for model, basis in bases.items():
        phrases = basis.phrases(brief=True)
        label = f"{symbol_of(name)} ({one_line(model)})"
        phrases_by_label[label] = [phrase for phrase in phrases if phrase not in known]
    first, *others = phrases_by_label.values()
    if all(phrases == first for phrases in others):
        return {symbol_of(name): first}
    return phrases_by_label


def warnings_of(models: Compared, measure: Measure, cutoffs: Cutoffs) -> list[str]:
    """Return a sentence for each model whose equal scores decide a metric.

    It is at the last cut-off. One more says if unjudged items decide the order.
    """
    if find_spec("recnb.lint") is None:  # the room may be deleted
        return []
    from recnb.lint import checks, finding_of, judged_order, order_in_words

    measure = measure.cut_at(measure.cutoffs(cutoffs).values[-1])
    if not measure.metric.is_accuracy:
        return []
    warnings = []
    for name, model in models.items():
        ties = finding_of(checks.ties, model, measure)
        if ties and ties.severity == "warning":
            warnings.append(f"{one_line(name)}: {ties.short}.")
    judged_means = judged_order(models, measure)
    if judged_means:
        order = order_in_words(measure.label, judged_means)
        warnings.append(str(CONSOLE.write(order)))
    return warnings


# Users


def _users_and_notes(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    convention: Convention,
    *,
    has_missed: bool,
) -> tuple[list[str], list[str]]:
    """Return the users compared and those left out, and notes on the data.

    `has_missed`: a list without a hit does not count 0.
    """
    first = next(iter(models.values()))
    counts = {name: models[name].joined.user_counts() for name in left_out}
    clause = WITHOUT_JUDGED if convention.judged_only else WITHOUT_LIST
    if has_missed:
        clause = MISSED
    n_not_in_all = {name: each.not_in_all for name, each in left_out.items()}
    n_empty = {name: each.n_empty for name, each in counts.items()}
    with use_noun(first.noun_of_lists):  # where users have several lists, these count
        compared = str(judged_by(len(models), first.n_lists))
        # A model whose users were restricted has it among its notes.
        notes = [note for note in map(str, first.joined.notes) if note != compared]
        users = _of_models(LEFT_OUT, n_not_in_all)
        users += _of_models(clause, n_empty)
        if first.one_no_relevant_rule:
            phrases_by_model = {}
            for name, count in counts.items():
                phrases_by_model[one_line(name)] = no_relevant_in_words(
                    convention,
                    count.n_nothing_to_find,
                    left_out[name].without_relevant,
                    has_missed=has_missed,
                )
            # What is not of all models stands behind their names.
            users += merged(phrases_by_model)
    if first.keys.columns:
        lists = lists_in_words(first.keys, first.joined.users)
        compared = _("{lists} that all models are judged on", lists=lists)
    return [compared, *users], notes


def _of_models(clause: Clause, counts: Mapping[str, int]) -> list[str]:
    """Say a count of each model that has some, or one clause of all alike."""
    numbers = {*counts.values()}
    if clause.of_each and len(numbers) == 1:
        (n,) = numbers
        return [_(clause.of_each, n=n)] if n else []
    return [
        _(clause.of_one, n=n, model=one_line(model)) for model, n in counts.items() if n
    ]
