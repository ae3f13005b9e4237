"""What the numbers of a comparison rest on, in words.

The users compared and those left out, the convention, and what some metrics do otherwise.
What is said of all models stands once, other words behind the names of models; these
are the user's, and escaped where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import polars as pl

from recnb.comparison.common import LeftOut, judged_by, users_in_common
from recnb.display.forms import CONSOLE
from recnb.display.language import N_, Plural, _, use_noun
from recnb.display.text import one_line
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, symbol_of
from recnb.results.basis import (
    AveragedUsers,
    Basis,
    lists_in_words,
    merged,
    no_relevant_in_words,
)
from recnb.results.means_tables import intervals_in_words
from recnb.results.numbers import Bases, Numbers
from recnb.results.score import unweighted_in_words
from recnb.results.scoring import scoring_of
from recnb.results.segments import part_in_words
from recnb.results.shown import WordedLater

LEFT_OUT = Plural(
    "{n:,} {user} of {model} left out, not judged in every other model",
    "{n:,} {users} of {model} left out, not judged in every other model",
)
#: Whom metrics beyond accuracy of each user are averaged over.
OVER_VALUES = N_("metrics beyond accuracy over the {users} with a value in every model")


@dataclass(frozen=True, eq=False)
class ComparedBasis:
    """What numbers of models on the same users rest on, in words."""

    models: Mapping[str, Evaluation]
    left_out: Mapping[str, LeftOut]  #: the users of each model who are not compared

    @property
    def first(self) -> Evaluation:
        """The first model; all have its truth and its conventions."""
        return next(iter(self.models.values()))

    def of_all(self) -> list[str]:
        """Return what is behind every metric: the users and the convention."""
        averaged, rules = {}, {}
        with use_noun(self.first.noun):
            for name, model in self.models.items():
                # Where the metrics of a library have several rules, each says its own.
                if model.metrics_share_no_relevant:
                    averaged[name] = model.averaged_users
                rules[name] = model.rules
            users = self._users(self.first.joined.users, averaged)
            return [*users, *self._rules(rules)]

    def of_metrics(
        self, asked: Sequence[Measure], cutoffs: Cutoffs, bases: Bases | None = None
    ) -> list[str]:
        """Return what the numbers of some metrics rest on, options included.

        Metrics beyond accuracy need the `bases` of the numbers.
        """
        phrases = {}
        with use_noun(self.first.noun):
            for measure in asked:
                name = measure.asked_as
                if measure.metric.is_accuracy:
                    words = self._of_accuracy(measure, measure.cutoffs(cutoffs))
                else:
                    words = self._users(self.first.joined.users, {})
                    if bases and name in bases:  # else no segment has a value
                        words += self._beyond_accuracy(measure, bases[name])
                phrases[symbol_of(name)] = words
        return merged(phrases)

    def of_means(
        self,
        numbers: Numbers,
        asked: Sequence[Measure],
        cutoffs: Cutoffs,
        *,
        intervals: bool,
    ) -> WordedLater:
        """Return the phrases below means, and of their intervals if these are shown."""
        # The words are made later, and hold these alone: numbers hold arrays of users.
        division, bases = numbers.division, numbers.bases
        interval_phrases = intervals_in_words(self.first, numbers) if intervals else []

        def words() -> list[str]:
            phrases = self.of_metrics(asked, cutoffs, bases)
            if not division.is_tested:
                phrases.append(part_in_words(self.first, division))
            accuracy_measures = [each for each in asked if each.metric.is_accuracy]
            unweighted = unweighted_in_words(self.models, accuracy_measures, cutoffs)
            if unweighted:
                phrases.append(unweighted.removesuffix("."))
            return [*phrases, *interval_phrases]

        return WordedLater(words)

    def of_differences(
        self, numbers: Numbers, asked: Sequence[Measure], cutoffs: Cutoffs
    ) -> WordedLater:
        """Return the phrases below differences."""
        division, bases = numbers.division, numbers.bases

        def words() -> list[str]:
            phrases = self.of_metrics(asked, cutoffs, bases)
            phrases += self.first.clustering_in_words
            if division.of_split:
                phrases.append(part_in_words(self.first, division))
            return phrases

        return WordedLater(words)

    def _of_accuracy(self, measure: Measure, cutoffs: Cutoffs) -> list[str]:
        """Return what a metric of accuracy rests on in all models.

        It may have users of its own, as AP(rel=2).
        """
        averaged, rules, users = {}, {}, []
        for name, model in self.models.items():
            scoring = scoring_of(model, measure, cutoffs)
            averaged[name] = scoring.averaged_users
            rules[name] = scoring.of_any_users()
            users.append(scoring.joined.users)
        compared = self._users(users_in_common(users), averaged)
        return [*compared, *self._rules(rules)]

    def _beyond_accuracy(self, measure: Measure, bases: Sequence[Basis]) -> list[str]:
        """Return what a metric beyond accuracy rests on, but for the users compared."""
        rules = {}
        for name, basis in zip(self.models, bases, strict=True):
            if measure.metric.of == "all":
                rules[name] = basis.phrases(brief=True)
            else:
                rules[name] = [_(OVER_VALUES), *basis.of_any_users()]
        return self._rules(rules)

    def _users(
        self, users: pl.Series, averaged: Mapping[str, AveragedUsers]
    ) -> list[str]:
        """Return the users that all models are judged on, and how some of them count."""
        first = self.first
        with use_noun(first.noun_of_lists):  # users may have several lists: these count
            words = [str(judged_by(len(self.models), len(users)))]
            for name, each in self.left_out.items():
                if each.not_in_all:
                    words.append(_(LEFT_OUT, n=each.not_in_all, model=one_line(name)))
        if first.keys.columns:
            lists = lists_in_words(first.keys, users)
            words[0] = _("{lists} that all models are judged on", lists=lists)
        words += self._exceptions(averaged)
        if len(users) != first.n_lists:
            # One phrase: below a table that has other metrics too, "of them" means these
            # users alone.
            return ["; ".join(words)]
        return words

    def _exceptions(self, averaged: Mapping[str, AveragedUsers]) -> list[str]:
        """Return how some users count; what is said of all models stands once.

        Of models a and b, 2 of whose users lack a list:

            the same users     2 of them without a list, which counts 0
            different users    in each model 2 of them without a list, which counts 0
        """
        exceptions, without_list = {}, []
        for name, users in averaged.items():
            exceptions[name] = users.exceptions()
            if users.joined is self.models[name].joined:
                # Whom a model leaves out, also if it was restricted to others since.
                n = self.left_out[name].without_relevant
                rule = users.joined.convention
                exceptions[name] += no_relevant_in_words(
                    rule, 0, n, of_lists=users.is_split
                )
            without_list.append(users.without_list_in_words())
        words = _of_models(exceptions)
        is_alike = all(each and each == without_list[0] for each in without_list)
        lacking = [model.averaged_users.without_list for model in self.models.values()]
        if words and is_alike and any((each != lacking[0]).any() for each in lacking):
            words[0] = _("in each model {what}", what=words[0])
        return words

    def _rules(self, rules: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the rules of models, without the note on whom these are compared on."""
        # A model whose users were restricted has it among its notes.
        note = str(judged_by(len(self.models), self.first.n_lists))
        without_note = {
            name: [words for words in rules_of_one if words != note]
            for name, rules_of_one in rules.items()
        }
        return _of_models(without_note)


def _of_models(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Return phrases of all models, then others behind the names of models."""
    return merged({one_line(name): words for name, words in phrases.items()})


def warnings_of(
    models: Mapping[str, Evaluation], measure: Measure, cutoffs: Cutoffs
) -> list[str]:
    """Say in which models equal scores decide a metric at the last cut-off.

    One more sentence says if unjudged items decide the order of the models.
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
