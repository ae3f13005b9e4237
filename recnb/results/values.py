"""`Values`, of which every result is made, and the words below a number.

These say its users, and by which convention it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention, options_in_words
from recnb.conventions.presets import Preset
from recnb.data.source import UserCounts
from recnb.data.splits import BY_USER, Keys
from recnb.data.weights import Weighting
from recnb.display.language import N_, Sentence, _, named, ngettext, use_noun
from recnb.display.text import one_line, users_in_words
from recnb.errors import UnknownUserError, quoted
from recnb.metrics.hits import Bools, Cutoffs, Floats, Ints
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Given
from recnb.metrics.recommendation_lists import PerUser, Whole
from recnb.stats import Clusters, interval_of_pairs, intervals

#: Users with no relevant item, by what the convention does with them.
NO_RELEVANT: dict[str, str] = {
    "skip": N_("{n:,} with no relevant item left out"),
    "zero": N_("{n:,} of them with no relevant item, which counts 0"),
    "one": N_("{n:,} of them with no relevant item, which counts 1"),
}
#: The same of a cost that says what a list without a hit adds.
AS_MISSED = N_(
    "{n:,} of them with no relevant item, which counts as a list without a hit"
)
#: Users whom the truth lacks, where those with no relevant item in it count.
NOT_JUDGED = N_("{n:,} without judgements left out")

#: A number under a library's conventions that the library has not.
OWN = N_("recnb's own: that of {library} is not recorded")


@dataclass(frozen=True, eq=False)
class ListCounts:
    """Lists in a split, and how many users and splits they are of."""

    keys: Keys
    lists: pl.Series  #: their ids

    def in_words(self) -> str:
        """Return the number of lists, of users and of values of the split."""
        table = self.keys.of(self.lists)
        n_values = table.select(self.keys.columns).n_unique()
        return ngettext(
            "{n:,} list of {users} in {values}",
            "{n:,} lists of {users} in {values}",
            len(self.lists),
            users=users_in_words(table["user"].n_unique()),
            values=self._values_in_words(n_values),
        )

    def _values_in_words(self, n: int) -> str:
        *others, last = map(one_line, self.keys.columns)
        if not others:
            return ngettext(
                "{n:,} value of {column}", "{n:,} values of {column}", n, column=last
            )
        return ngettext(
            "{n:,} combination of {columns} and {last}",
            "{n:,} combinations of {columns} and {last}",
            n,
            columns=", ".join(others),
            last=last,
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """What a mean over users rests on: the users and the decisions in force."""

    counts: UserCounts
    convention: Convention  #: with the metric's options
    graded: bool  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...]
    #: The highest relevance, where the metric takes its scale from the truth.
    scale: float | None = None
    library: str | None = None  #: whose conventions are followed
    given: tuple[str, ...] = ()  #: the names of what was given on top of these
    options: Given = field(default_factory=dict)  #: of the metric, as given in the call
    #: Whether the number is recnb's own, since the library has none.
    is_own: bool = False
    preset: Preset | None = None  #: what is recorded of the metric in the library
    weights: Weighting | None = None  #: of relevant pairs
    user_weight: Floats | None = None
    #: whether an item of negative relevance is one that is not judged
    below_0_unjudged: bool = False
    user_label: str = "user"  #: what the caller calls the column of users
    noun: str = "user"  #: what sentences call them
    #: Whether the metric says what a list without a hit adds.
    has_missed: bool = False
    whole: bool = False  #: whether there is no cut-off
    lists: ListCounts | None = None  #: those averaged, where users have several

    def users_in_words(self) -> list[str]:
        """Return the users behind the mean in words; other phrases say more of them.

        Those are weights, users who count 0 without a list, users with nothing to find
        and users left out.
        """
        with use_noun(self.noun):
            return self._users_in_words()

    def _users_in_words(self) -> list[str]:
        counts = self.counts
        who = users_in_words(counts.n_users)
        if self.lists is not None:
            who = self.lists.in_words()
        words = [who + self.convention.users_phrase]
        words += weights_in_words(self.user_weight, of_lists=self.lists is not None)
        words += self._without_list_in_words(counts.n_without_list)
        words += no_relevant_in_words(
            self.convention,
            counts.n_nothing_to_find,
            counts.n_left_out,
            has_missed=self.has_missed,
        )
        return words

    def _without_list_in_words(self, n: int) -> list[str]:
        """Say how many users have no list, or none with a judged item."""
        if not n:
            return []
        words = N_("{n:,} of them without a list, which counts 0")
        if self.convention.judged_only:
            words = N_("{n:,} of them without a judged item in a list, which counts 0")
        elif self.lists is not None:
            words = N_("{n:,} of them without a recommended item, which counts 0")
        if self.has_missed:
            words = N_("{n:,} of them without a list, which has no hit")
        return [_(words, n=n)]

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the users and the decisions in words.

        `brief`: the name of a library says its decisions.
        """
        with use_noun(self.noun):
            return self._phrases(brief=brief)

    def _phrases(self, *, brief: bool) -> list[str]:
        given = self.convention.given_in_words(self.given)
        scale = [] if self.scale is None else [scale_in_words(self.scale)]
        notes = [*map(str, self.notes), *pairs_in_words(self.weights)]
        if self.preset is not None and self.preset.caveat:
            notes.append(self.preset.caveat_in_words)
        users = self.users_in_words()
        if brief:
            # Among those of other metrics, all that is said of users stands together.
            users = ["; ".join(users)]
        if self.library and brief and not self.is_own:
            return [
                follows(self.library, given),
                *users,
                *options_in_words(self.options),
                *scale,
                *notes,
            ]
        decisions = self.convention.phrases(
            graded=self.graded,
            below_0_unjudged=self.below_0_unjudged,
            whole=self.whole,
        )
        words = [*users, *decisions, *notes, *scale]
        if self.library and self.is_own:
            words.append(_(OWN, library=self.library))
        elif self.library:
            words[0] = follows(self.library, given, words[0])
        return words


@dataclass(frozen=True)
class WordedBasis:
    """A basis that is worded where the number is made.

    It is of one list, of metrics beyond accuracy, or of what was pickled.
    """

    words: Callable[[], list[str]]
    users: str = ""  #: the words for the users, which are among these
    user_label: str = "user"  #: what the caller calls the column of users
    noun: str = "user"  #: what sentences call them

    def users_in_words(self) -> list[str]:
        """Return the users behind the number, in words."""
        return [self.users]

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the words, brief or not."""
        with use_noun(self.noun):
            return self.words()


def unclustered() -> None:
    """Say that each user is a cluster."""


@dataclass(frozen=True, eq=False)
class Values:
    """A metric at some cut-offs: values of users, their mean, what they rest on."""

    measure: Measure  #: the metric with the options in force, of each cut-off
    k: Cutoffs
    #: One for each row of the matrix; of one number of all lists, those with a list.
    users: pl.Series
    matrix: Floats  #: users × cut-offs; NaN: not averaged
    mean: Floats  #: by cut-off
    convention: Convention  #: with the metric's options
    basis: Basis | WordedBasis
    #: Of a metric beyond accuracy, by cut-off: with the rows behind the values.
    results: tuple[PerUser | Whole, ...] = ()
    #: Of users, by row of the matrix; None: all count the same.
    weights: Floats | None = None
    keys: Keys = BY_USER  #: whose lists `users` are
    #: A code for each row of the matrix, equal within a cluster; None: each is its own.
    clusters: Callable[[], Ints | None] = unclustered

    @property
    def of_all(self) -> tuple[Whole, ...]:
        """The one number of all lists, by cut-off.

        Empty where users have a value.
        """
        return tuple(each for each in self.results if isinstance(each, Whole))

    @property
    def n_users(self) -> Ints:
        """The number of users averaged, by cut-off.

        Of one number of all lists, the number of lists.
        """
        if self.of_all:
            return np.full(len(self.k), len(self.users))
        return np.asarray(np.count_nonzero(~np.isnan(self.matrix), axis=0))

    def sample(self, index: int) -> tuple[Bools, Clusters | None]:
        """Return which users have a value at a cut-off, and their clusters."""
        has_value = ~np.isnan(self.matrix[:, index])
        codes = self.clusters()
        return has_value, None if codes is None else Clusters.of(codes[has_value])

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the interval of each mean, NaN where there is none.

        Most numbers of all lists together have none.
        """
        ends: list[Any]
        if self.of_all:
            ends = [
                interval_of_all(number, confidence, self.clusters)
                for number in self.of_all
            ]
        else:
            ends = [
                self._interval_at(index, confidence) for index in range(len(self.k))
            ]
        low, high = np.array(ends, dtype=np.float64).T
        return low, high

    def _interval_at(self, index: int, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval of the mean at a cut-off."""
        has_value, clusters = self.sample(index)
        low, high = intervals(
            self.matrix[has_value, index : index + 1],
            confidence,
            self.measure.bounds,
            None if self.weights is None else self.weights[has_value],
            clusters,
        )
        return float(low[0]), float(high[0])

    def in_words(self) -> Values:
        """Return the same without the data behind it.

        Its basis is in words, the values of users are at hand.
        """
        wholes = [
            Whole(one, of_users=one.of_users and partial(np.asarray, one.of_users()))
            for one in self.of_all
        ]
        basis = WordedBasis(
            partial(list, self.basis.phrases()),
            user_label=self.basis.user_label,
            noun=self.basis.noun,
        )
        plain = {
            name: value
            for name, value in self.measure.options.items()
            if isinstance(value, (str, int, float))
        }
        measure = replace(self.measure, options=plain)
        return replace(
            self,
            measure=measure,
            basis=basis,
            results=tuple(wholes),
            clusters=partial(_as_it_is, self.clusters()),
        )


def _as_it_is(codes: Ints | None) -> Ints | None:
    """Return codes that are at hand, as a function that can be pickled."""
    return codes


def interval_of_all(
    number: Whole, confidence: float, codes: Callable[[], Ints | None]
) -> tuple[float, float]:
    """Return the ends of the interval of a number of all lists.

    There is one of a mean over pairs of users, and NaN of others.
    """
    if number.of_users is None:
        return np.nan, np.nan
    return interval_of_pairs(number.of_users(), confidence, Clusters.of(codes()))


def index_of(user: Any, users: pl.Series, keys: Keys, are: str) -> int:
    """Return the position of a user, or of a list in a split, among some.

    `are` says in words who they are.
    """
    index = None
    # An id of another kind is none of them.
    with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        index = users.index_of(keys.find(user))
    if index is None:
        _refuse_user_of_lists(user, users, keys)
        examples = ", ".join(map(repr, keys.names(users.head(5)).to_list()))
        if len(users) > 5:
            examples += ", …"
        raise UnknownUserError(
            named(
                "user {user} is not evaluated. Those evaluated are {examples}: {are}.",
                user=quoted(keys.called(user)),
                examples=examples,
                are=are,
            )
        )
    return index


def _refuse_user_of_lists(user: Any, users: pl.Series, keys: Keys) -> None:
    """Raise an error for a user alone, where users have lists in a split."""
    if not keys.columns:
        return
    lists = users.filter(keys.users_of(users).cast(pl.String) == str(user))
    if len(lists):
        raise UnknownUserError(
            named(
                "user {user} has {n:,} lists: name one, such as {example}.",
                user=one_line(user),
                n=len(lists),
                example=repr(keys.names(lists)[0]),
            )
        )


def follows(library: str, given: str = "", words: str = "") -> str:
    """Say whose conventions a number follows, and what was given on top.

    It is no promise of the library's own number.
    """
    convention = _("by the conventions of {library}", library=library)
    if given:
        convention = _(
            "by the conventions of {library}, with {given}",
            library=library,
            given=given,
        )
    return f"{convention}: {words}" if words else convention


def no_relevant_in_words(
    convention: Convention,
    n_evaluated: int,
    n_left_out: int,
    *,
    has_missed: bool = False,
) -> list[str]:
    """Say how many users have no relevant item, of those evaluated and of others.

    `has_missed`: whether one evaluated counts as a list without a hit.
    """
    counted = NO_RELEVANT[convention.no_relevant]
    if has_missed and convention.no_relevant != "skip":
        counted = AS_MISSED
    words = [_(counted, n=n_evaluated)] if n_evaluated else []
    if n_left_out:
        all_of_truth = convention.averaged_users == "truth"
        left_out = NO_RELEVANT["skip"]
        if all_of_truth and convention.no_relevant != "skip":
            left_out = NOT_JUDGED
        words.append(_(left_out, n=n_left_out))
    return words


def train_in_words(n: int) -> list[str]:
    """Say whose training items a number looks at; nothing if it is nobody's."""
    if not n:
        return []
    return [
        ngettext("what {n:,} user had in train", "what {n:,} users had in train", n)
    ]


def pairs_in_words(weights: Weighting | None) -> list[str]:
    """Return the weights of relevant pairs in words, if they have some."""
    words = N_(
        "relevant pairs weigh 1 / propensity, from {low} to {high}: the {n:,} "
        "pairs count as {n_equal:,.0f} of equal weight"
    )
    return [] if weights is None else [weights.in_words(words)]


def taken_as_known(is_weighted: bool) -> list[str]:
    """Return what intervals do not cover where pairs are weighted by propensities."""
    words = N_("intervals and tests take the propensities as known")
    return [_(words)] if is_weighted else []


def weights_in_words(of_users: Floats | None, *, of_lists: bool) -> list[str]:
    """Return the weights of users in words, if they have some.

    `of_lists`: whether each is that of a list, of which users have several.
    """
    words = N_(
        "users weigh from {low} to {high} of the heaviest: the {n:,} users count as "
        "{n_equal:,.0f} of equal weight"
    )
    if of_lists:
        words = N_(
            "users weigh from {low} to {high} of the heaviest: the {n:,} lists count "
            "as {n_equal:,.0f} of equal weight"
        )
    return [found.in_words(words) for found in [Weighting.of(of_users)] if found]


def scale_in_words(highest: float) -> str:
    """Return the scale of grades that a metric takes from the truth, in words."""
    return _("highest relevance {value:g}, that of the truth", value=highest)


def merged(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Join the phrases of several metrics, each phrase once.

    It is behind the names of its metrics, unless it is that of all.

    >>> dcg = ["gain 2^relevance - 1", "9 users"]
    >>> merged({"dcg": dcg, "ndcg": ["linear gain", "9 users", "ideal: all"]})
    ['9 users', 'dcg: gain 2^relevance - 1', 'ndcg: linear gain, ideal: all']
    """
    names: dict[str, list[str]] = {}
    for metric, of_metric in phrases.items():
        for phrase in dict.fromkeys(of_metric):
            names.setdefault(phrase, []).append(metric)
    own: dict[str, list[str]] = {}
    for phrase, having in names.items():
        if len(having) < len(phrases):
            own.setdefault(", ".join(having), []).append(phrase.replace("; ", ", "))
    shared = [phrase for phrase, having in names.items() if len(having) == len(phrases)]
    return [
        *shared,
        *(f"{having}: {', '.join(words)}" for having, words in own.items()),
    ]
