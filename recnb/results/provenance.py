"""Words under numbers, made when they are shown: how many users, who was left out, by which convention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recnb.conventions import options_in_words
from recnb.display.language import N_, Sentence, _, ngettext

if TYPE_CHECKING:
    from recnb.conventions import Convention

#: Users with no relevant item, by what the convention does with them.
NO_RELEVANT: dict[str, str] = {
    "skip": N_("{n:,} with no relevant item left out"),
    "zero": N_("{n:,} with no relevant item counting 0 where evaluated"),
    "one": N_("{n:,} with no relevant item counting 1 where evaluated"),
}


@dataclass(frozen=True, eq=False)
class Basis:
    """What a mean over users rests on: the users and the decisions in force."""

    counts: tuple[int, int, int]  #: users averaged, of these without a list, and users with no relevant item
    convention: Convention  #: with the metric's options
    graded: bool  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...]
    scale: float | None = None  #: the highest relevance, where the metric takes its scale from the truth
    library: str | None = None  #: whose conventions are followed
    given: tuple[str, ...] = ()  #: the names of what was given on top of these
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the metric, as given in the call
    is_own: bool = False  #: whether the number is recnb's own, since the library has none

    def users_in_words(self) -> list[str]:
        """Return the users behind the mean, and those that are not, in words."""
        n_users, n_without_list, n_without_relevant = self.counts
        parts = [ngettext("{n:,} user", "{n:,} users", n_users) + self.convention.users_phrase]
        if n_without_list:
            parts.append(_("{n:,} of them without a list, which counts 0", n=n_without_list))
        if n_without_relevant:
            parts.append(_(NO_RELEVANT[self.convention.no_relevant], n=n_without_relevant))
        return parts

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the users and the decisions in words; `brief`: the name of a library says its decisions."""
        given = self.convention.given_in_words(self.given)
        scale = [] if self.scale is None else [scale_in_words(self.scale)]
        notes, users = list(map(str, self.notes)), self.users_in_words()
        if brief:  # among those of other metrics, all that is said of users stands together
            users = ["; ".join(users)]
        if self.library and brief and not self.is_own:
            return [follows(self.library, given), *users, *options_in_words(self.options), *scale, *notes]
        words = [*users, *self.convention.phrases(graded=self.graded), *notes, *scale]
        if self.library and self.is_own:
            words.append(recnbs_own(self.library))
        elif self.library:
            words[0] = follows(self.library, given, words[0])
        return words


@dataclass(frozen=True)
class Said:
    """A basis in words that are made already."""

    words: str

    def users_in_words(self) -> list[str]:
        """Return nothing: the users are among the words."""
        return []

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the words."""
        return [self.words]


def follows(library: str, given: str = "", words: str = "") -> str:
    """Say whose conventions a number follows, what was given on top of them, and the words after it.

    This promises no number of the library itself, which may raise an error on these frames: that is what `as_in` is for.
    """
    values = {"library": library, "given": given, "words": words}
    if words and given:
        return _("by the conventions of {library} with {given}: {words}", **values)
    if words:
        return _("by the conventions of {library}: {words}", **values)
    if given:
        return _("by the conventions of {library}, with {given}", **values)
    return _("by the conventions of {library}", **values)


def recnbs_own(library: str) -> str:
    """Say that a number under a library's conventions is recnb's own."""
    return _("recnb's own: {library} has no such number", library=library)


def scale_in_words(highest: float) -> str:
    """Return the scale of grades that a metric takes from the truth, in words."""
    return _("highest relevance {value:g}, that of the truth", value=highest)


def merged(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Join the phrases of several metrics: each phrase once, behind the names of its metrics unless it is that of all.

    >>> merged({"dcg": ["gain 2^relevance - 1", "9 users"], "ndcg": ["linear gain", "9 users", "ideal: all"]})
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
    return [*shared, *(f"{having}: {', '.join(words)}" for having, words in own.items())]
