"""What the numbers of a comparison rest on, in words.

The users compared and those left out, the convention, and what some metrics do otherwise.
What is said of all models stands once, other words behind the names of models; these
are the user's, and escaped where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import polars as pl

from recnb.comparison.common import LeftOut, judged_by
from recnb.display.forms import CONSOLE
from recnb.display.language import N_, Plural, _, use_noun
from recnb.display.text import one_line
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, symbol_of
from recnb.results.basis import Basis, lists_in_words, merged, no_relevant_in_words
from recnb.results.evaluation_data import users_in_common
from recnb.results.numbers import Bases
from recnb.results.scoring import scoring_of
from recnb.results.segments import Division, part_in_words
from recnb.results.unweighted import plain_means

#: Models by name, which are evaluated on the same users.
Compared = Mapping[str, Evaluation]

LEFT_OUT = Plural(
    "{n:,} {user} of {model} left out, not judged in every other model",
    "{n:,} {users} of {model} left out, not judged in every other model",
)


def basis_of(models: Compared, left_out: Mapping[str, LeftOut]) -> list[str]:
    """Return what is behind every metric: the users and the convention.

    `left_out`: the users of each model who are not compared.
    """
    first = next(iter(models.values()))
    averaged, rules = {}, {}
    with use_noun(first.noun):
        for name, model in models.items():
            # Where the metrics of a library have several rules, each says its own.
            if model.one_no_relevant_rule:
                averaged[name] = [
                    *model.users_in_words,
                    *_left_out_by_itself(model, left_out[name]),
                ]
            rules[name] = model.rules
        users = _users_of(models, left_out, first.joined.users, averaged)
        return [*users, *_rules_of(models, rules)]


def basis_of_metrics(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    asked: Sequence[Measure],
    cutoffs: Cutoffs,
    bases: Bases | None = None,
) -> list[str]:
    """Return what the numbers of some metrics rest on, options included.

    `bases`: those of the numbers, which metrics beyond accuracy need.
    """
    first = next(iter(models.values()))
    phrases = {}
    with use_noun(first.noun):
        for measure in asked:
            if measure.metric.is_accuracy:
                words = _of_accuracy(models, left_out, measure, cutoffs)
            else:
                assert bases is not None
                of_each = dict(zip(models, bases[measure.asked_as], strict=True))
                compared = _users_of(models, left_out, first.joined.users)
                words = [*compared, *_beyond_accuracy(models, measure, of_each)]
            phrases[symbol_of(measure.asked_as)] = words
    return merged(phrases)


def basis_of_table(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    asked: Sequence[Measure],
    cutoffs: Cutoffs,
    division: Division,
    bases: Bases,
) -> list[str]:
    """Return the phrases below a table of means and of numbers of all lists."""
    words = basis_of_metrics(models, left_out, asked, cutoffs, bases)
    if not division.is_tested:
        words.append(part_in_words(next(iter(models.values())), division))
    accuracy_measures = [each for each in asked if each.metric.is_accuracy]
    unweighted = plain_means(models, accuracy_measures, cutoffs)
    if unweighted:
        words.append(unweighted.removesuffix("."))
    return words


def _of_accuracy(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    measure: Measure,
    cutoffs: Cutoffs,
) -> list[str]:
    """Return what a metric of accuracy rests on in all models.

    It may have users of its own, as AP(rel=2).
    """
    averaged, rules, users = {}, {}, []
    for name, model in models.items():
        scoring = scoring_of(model, measure, measure.cutoffs(cutoffs))
        averaged[name], rules[name] = scoring.averaged(), scoring.of_any_users()
        users.append(scoring.joined.users)
        if scoring.joined is model.joined:
            averaged[name] += _left_out_by_itself(model, left_out[name])
    compared = _users_of(models, left_out, users_in_common(users), averaged)
    return [*compared, *_rules_of(models, rules)]


def _beyond_accuracy(
    models: Compared, measure: Measure, bases: Mapping[str, Basis]
) -> list[str]:
    """Return what a metric beyond accuracy rests on, besides the users compared."""
    if measure.metric.of == "all":
        phrases = {name: basis.phrases(brief=True) for name, basis in bases.items()}
        return _rules_of(models, phrases)
    over = N_("metrics beyond accuracy over the {users} with a value in every model")
    rules = {name: basis.of_any_users() for name, basis in bases.items()}
    return [_(over), *_rules_of(models, rules)]


def _users_of(
    models: Compared,
    left_out: Mapping[str, LeftOut],
    users: pl.Series,
    averaged: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Return the users that all models are judged on, how some count, those left out.

    `averaged`: those of each model in words, which begin with how many they are.
    """
    first = next(iter(models.values()))
    with use_noun(first.noun_of_lists):  # where users have several lists, these count
        words = [str(judged_by(len(models), len(users)))]
        for name, each in left_out.items():
            if each.not_in_all:
                words.append(_(LEFT_OUT, n=each.not_in_all, model=one_line(name)))
    if first.keys.columns:
        lists = lists_in_words(first.keys, users)
        words[0] = _("{lists} that all models are judged on", lists=lists)
    others = {name: of_one[1:] for name, of_one in (averaged or {}).items()}
    words += _of_models(others)
    if len(users) != first.n_lists:  # beside other metrics, "of them" is of these alone
        return ["; ".join(words)]
    return words


def _left_out_by_itself(model: Evaluation, left_out: LeftOut) -> list[str]:
    """Return whom a model leaves out, also if it was restricted to others since."""
    return no_relevant_in_words(model.convention, 0, left_out.without_relevant)


def _rules_of(models: Compared, rules: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the rules of models, without the note on whom these are compared on."""
    first = next(iter(models.values()))
    # A model whose users were restricted has it among its notes.
    note = str(judged_by(len(models), first.n_lists))
    return _of_models(
        {
            name: [words for words in rules_of_one if words != note]
            for name, rules_of_one in rules.items()
        }
    )


def _of_models(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return phrases of all models, then others behind the names of models."""
    return merged({one_line(name): words for name, words in phrases.items()})


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
