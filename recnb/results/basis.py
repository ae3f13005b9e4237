"""What a number rests on, in words: its users, and by which convention it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data import Joined
from recnb.data.splits import Keys
from recnb.display.language import N_, Message, Noun, Plural, _, ngettext, use_noun
from recnb.display.text import Phrase, one_line, users_in_words
from recnb.metrics.hits import Bools, Floats

#: What is said of users with no relevant item, by `no_relevant` of the convention; and a
#: short form for the one line of a score.
NO_RELEVANT = {
    "skip": (
        N_("{n:,} left out, with no relevant {item}"),
        N_("{n:,} left out"),
    ),
    "zero": (
        N_("{n:,} of them with no relevant {item}, which counts 0"),
        N_("{n:,} with nothing to find as 0"),
    ),
    "one": (
        N_("{n:,} of them with no relevant {item}, which counts 1"),
        N_("{n:,} with nothing to find as 1"),
    ),
}
#: In place of "skip", in a split.
LISTS_LEFT_OUT = (
    Plural(
        "{n:,} list left out, with no relevant {item}",
        "{n:,} lists left out, with no relevant {item}",
    ),
    N_("{n:,} left out"),
)
#: In place of "zero" and "one", for a cost that says what a list without a hit adds.
AS_MISSED = (
    N_("{n:,} of them with no relevant {item}, which counts as a list without a hit"),
    N_("{n:,} with nothing to find"),
)
#: What is said of users whom the truth lacks, if users with no relevant item count.
NOT_JUDGED = (
    N_("{n:,} left out, without judgements"),
    N_("{n:,} not judged left out"),
)

#: A number under a library's conventions that the library has not.
OWN = N_("recnb's own: that of {library} is not recorded")


class Basis(ABC):
    """What a number rests on, in words that are made when they are shown.

    Words are those of the language in force then.
    """

    @property
    def noun(self) -> Noun:
        """What sentences call users and items."""
        return Noun()

    def followed(self) -> Sequence[str]:
        """Return whose conventions are followed, if they are those of a library."""
        return ()

    def who(self) -> Sequence[str]:
        """Return who is averaged, how some count, and who is left out."""
        return ()

    @abstractmethod
    def rules(self, *, brief: bool) -> Sequence[str]:
        """Return the notes on the data, the decisions and the options.

        Brief ones stand beside those of other metrics, and under a library its name
        stands for its decisions.
        """

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the words of all parts; if brief, the users are one phrase."""
        with use_noun(self.noun):
            users = [*self.who()]
            if brief and users:
                users = ["; ".join(users)]
            rules = self.rules(brief=brief)
            # The one line of a score may have room for the first two alone.
            return [*users[:1], *self.followed(), *users[1:], *rules]

    def of_any_users(self) -> list[str]:
        """Return the brief words that hold whichever users are averaged."""
        with use_noun(self.noun):
            return [*self.followed(), *self.rules(brief=True)]


@dataclass(frozen=True, eq=False)
class Worded(Basis):
    """A basis whose words are made already, brief in any case."""

    made: Sequence[str]

    def rules(self, *, brief: bool) -> Sequence[str]:
        """Return the words."""
        return self.made


@dataclass(frozen=True, eq=False)
class AveragedUsers:
    """The users behind a mean, how some of them count, and those left out."""

    joined: Joined
    nothing_to_find: Bools  #: which users have nothing to find
    #: Whether the metric says what a list without a hit adds: who has nothing to find
    #: then counts as one.
    has_missed: bool = False

    @property
    def without_list(self) -> Bools:
        """Which users have no rank in their lists, and so no hit."""
        is_empty: Bools = self.joined.hits.list_length == 0
        rule = self.joined.convention.no_relevant
        # Under "one" a user with nothing to find counts 1, list or not; a cost with a
        # value for lists without a hit (`missed`) keeps that value.
        if rule == "skip" or (rule == "one" and not self.has_missed):
            is_empty &= ~self.nothing_to_find
        return is_empty

    @property
    def is_split(self) -> bool:
        """Whether a user may have several lists."""
        return bool(self.joined.source.keys.columns)

    @property
    def n_left_out(self) -> int:
        """The number of lists left out, with no relevant item."""
        joined = self.joined
        n = joined.n_without_relevant - int((joined.hits.n_relevant == 0).sum())
        if joined.convention.no_relevant == "skip":
            n += int(self.nothing_to_find.sum())
        return n

    def in_words(self) -> list[str]:
        """Return who is averaged, how some count, and who is left out."""
        keys, convention = self.joined.source.keys, self.joined.convention
        is_left_out = self.nothing_to_find & (convention.no_relevant == "skip")
        who = users_in_words(int((~is_left_out).sum()))
        if self.is_split:
            lists = self.joined.users.filter(pl.Series(~is_left_out))
            who = lists_in_words(keys, lists)
        who += convention.users_phrase
        return [Phrase(who), *self.exceptions()]

    def exceptions(self) -> list[str]:
        """Return how some count, who is left out, and what users and pairs weigh."""
        convention = self.joined.convention
        n_nothing = 0
        if convention.no_relevant != "skip":
            n_nothing = int(self.nothing_to_find.sum())
        return [
            *self.without_list_in_words(),
            *no_relevant_in_words(
                convention,
                n_nothing,
                self.n_left_out,
                has_missed=self.has_missed,
                of_lists=self.is_split,
            ),
            *all_weights_in_words(self.joined),
        ]

    def without_list_in_words(self) -> list[str]:
        """Say how many of those averaged have no list; nothing if all have one."""
        n = int(self.without_list.sum())
        if not n:
            return []
        judged_only = self.joined.convention.judged_only
        words: Message = N_("{n:,} of them without a list, which counts 0")
        if self.has_missed:
            words = N_("{n:,} of them without a list, which has no hit")
        elif judged_only:
            words = N_(
                "{n:,} of them without a judged {item} in a list, which counts 0"
            )
        elif self.is_split:
            words = Plural(
                "{n:,} list without a recommended {item}, which counts 0",
                "{n:,} lists without a recommended {item}, which count 0",
            )
        short = ngettext("{n:,} lacks a list", "{n:,} lack a list", n)
        if judged_only:
            short = ngettext(
                "{n:,} lacks a judged {item}", "{n:,} lack a judged {item}", n
            )
        return [Phrase(_(words, n=n), short)]


def lists_in_words(keys: Keys, lists: pl.Series) -> str:
    """Return the number of lists in a split, of users and of values of the split."""
    table = keys.keys_of(lists)
    n_values = table.select(keys.columns).n_unique()
    *others, last = map(one_line, keys.columns)
    if others:
        values = ngettext(
            "{n:,} combination of {columns} and {last}",
            "{n:,} combinations of {columns} and {last}",
            n_values,
            columns=", ".join(others),
            last=last,
        )
    else:
        values = ngettext(
            "{n:,} value of {column}",
            "{n:,} values of {column}",
            n_values,
            column=last,
        )
    return ngettext(
        "{n:,} list of {users} in {values}",
        "{n:,} lists of {users} in {values}",
        len(lists),
        users=users_in_words(table["user"].n_unique()),
        values=values,
    )


def depth_in_words(k: int | None) -> str:
    """Say how deep lists are read."""
    if k is None:
        return _("whole lists")
    return _("lists cut at {k}", k=k)


def follows(library: str, given: str = "") -> Phrase:
    """Say whose conventions a number follows.

    `given`: the decisions that take precedence. It is no promise of the library's own
    number.
    """
    if not given:
        return Phrase(
            _("by the conventions of {library}", library=library),
            _("as {library}", library=library),
        )
    names = {"library": library, "given": given}
    return Phrase(
        _("by the conventions of {library}, with {given}", **names),
        _("as {library}, with {given}", **names),
    )


def no_relevant_in_words(
    convention: Convention,
    n_evaluated: int,
    n_left_out: int,
    *,
    has_missed: bool = False,
    of_lists: bool = False,
) -> list[str]:
    """Say how many users have no relevant item, of those evaluated and of others.

    `has_missed`: whether one evaluated counts as a list without a hit. `of_lists`: in a
    split.
    """
    counted = NO_RELEVANT[convention.no_relevant]
    left_out = LISTS_LEFT_OUT if of_lists else NO_RELEVANT["skip"]
    they_count = convention.no_relevant != "skip"
    if they_count and has_missed:
        counted = AS_MISSED
    if they_count and convention.averaged_users == "truth":
        left_out = NOT_JUDGED
    numbers = [(counted, n_evaluated), (left_out, n_left_out)]
    return [Phrase(_(long, n=n), _(short, n=n)) for (long, short), n in numbers if n]


def all_weights_in_words(joined: Joined) -> list[str]:
    """Return the weights of users and of relevant pairs in words, if they have some."""
    has_several = bool(joined.source.keys.columns)
    return [
        *weights_in_words(joined.user_weight, of_lists=has_several),
        *pairs_in_words(joined.hits.truth_weight),
    ]


def pairs_in_words(of_pairs: Floats | None) -> list[str]:
    """Return the weights of relevant pairs in words, if they have some."""
    words = N_(
        "relevant pairs weigh 1 / propensity, from {low} to {high}: the {n:,} "
        "pairs count as {n_equal:,.0f} of equal weight"
    )
    if of_pairs is None or not len(of_pairs):
        return []
    return [Phrase(_with_range(words, of_pairs), _("pairs weigh 1 / propensity"))]


def _with_range(words: str, weights: Floats) -> str:
    """Fill in the range of weights, and how many of equal weight they count as."""
    squares = float(np.einsum("i,i", weights, weights))
    return _(
        words,
        low=_end(weights.min()),
        high=_end(weights.max()),
        n=len(weights),
        n_equal=float(weights.sum()) ** 2 / squares,  # Kish 1965
    )


def _end(weight: float) -> str:
    """Return an end of the range of weights as text."""
    return f"{weight:,.0f}" if weight >= 999.5 else f"{weight:.3g}"


def taken_as_known(is_weighted: bool) -> list[str]:
    """Return what intervals do not cover where pairs are weighted by propensities."""
    words = N_("intervals and tests take the propensities as known")
    return [_(words)] if is_weighted else []


def weights_in_words(of_users: Floats | None, *, of_lists: bool) -> list[str]:
    """Return the weights of users in words, if they have some.

    `of_lists`: whether each is that of a list, of which users have several.
    """
    words = N_(
        "{users} weigh from {low} to {high} of the heaviest: the {n:,} {users} count "
        "as {n_equal:,.0f} of equal weight"
    )
    if of_lists:
        words = N_(
            "{users} weigh from {low} to {high} of the heaviest: the {n:,} lists count "
            "as {n_equal:,.0f} of equal weight"
        )
    if of_users is None or not len(of_users):
        return []
    return [Phrase(_with_range(words, of_users), _("weighted"))]


def given_marked(phrases: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return phrases with those that were given marked for the line of a score."""
    return [Phrase(words) if words in given else words for words in phrases]


def merged(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Join the phrases of several metrics: those of all, then others behind the names.

    Each phrase is there once.

    >>> dcg = ["gain 2^relevance - 1", "9 users"]
    >>> merged({"dcg": dcg, "ndcg": ["linear gain", "9 users", "ideal: all"]})
    ['9 users', 'dcg: gain 2^relevance - 1', 'ndcg: linear gain, ideal: all']
    """
    metrics_with: dict[str, list[str]] = {}  # each phrase
    for metric, metric_phrases in phrases.items():
        for phrase in dict.fromkeys(metric_phrases):
            metrics_with.setdefault(phrase, []).append(metric)
    shared, own = list[str](), dict[str, list[str]]()
    for phrase, metrics in metrics_with.items():
        if len(metrics) == len(phrases):
            shared.append(phrase)
        else:
            own.setdefault(", ".join(metrics), []).append(phrase.replace("; ", ", "))
    return [*shared, *(f"{names}: {', '.join(words)}" for names, words in own.items())]
