"""Words under numbers: how many users, who was left out, by which convention; and frames as a console shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd
from markupsafe import Markup

from recnb.display.language import N_, Sentence, _, current, ngettext
from recnb.display.templates import BESIDE_TITLE, name

if TYPE_CHECKING:
    from recnb.conventions import Convention


class UserCounts(Protocol):
    """How many users there are, as an evaluation or a part of one counts them."""

    @property
    def n_users(self) -> int:
        """Users evaluated."""
        ...

    @property
    def n_without_list(self) -> int:
        """Of these, users with no recommendations."""
        ...

    @property
    def n_without_relevant(self) -> int:
        """Users of either frame with no relevant item."""
        ...


#: Users with no relevant item, by what the convention does with them.
NO_RELEVANT: dict[str, str] = {
    "skip": N_("{n:,} with no relevant item left out"),
    "zero": N_("{n:,} with no relevant item counting 0 where evaluated"),
    "one": N_("{n:,} with no relevant item counting 1 where evaluated"),
}

#: Columns of explanations and lists.
COLUMNS: dict[str, str] = {
    "rank": N_("rank"),
    "item": N_("item"),
    "relevance": N_("relevance"),
    "judged": N_("judged"),
    "gain": N_("gain"),
    "discount": N_("discount"),
    "term": N_("term"),
    "credit": N_("credit"),
    "running": N_("running sum"),
    "share": N_("share"),
    "hit": N_("hit, relevance"),
    "other_item": N_("other item"),
    "genre": N_("genre"),
    "count": N_("count"),
    "times": N_("times shown"),
    "place": N_("place"),
    "cosine": N_("cosine"),
    "jaccard": N_("jaccard"),
    "together": N_("together"),
    "distance": N_("distance"),
    "differing": N_("differing"),
    "expected_rank": N_("expected rank"),
    "popular_place": N_("place by popularity"),
    "tail": N_("in the tail"),
    "p": N_("p, history"),
    "q": N_("q, list"),
}


def as_library_has_it(library: str | None, given: str) -> str:
    """Whose conventions a metric follows, and in words what was given on top of them."""
    if given:
        return _("by the conventions of {library}, with {given}", library=library, given=given)
    return _("by the conventions of {library}", library=library)


def as_library(library: str | None, given: str, words: str) -> str:
    """The words of a number that follows a library, and what was given on top of its conventions.

    They promise no number of the library itself, which may raise an error on these frames: that is what `as_in` is for.
    """
    if given:
        return _("by the conventions of {library} with {given}: {words}", library=library, given=given, words=words)
    return _("by the conventions of {library}: {words}", library=library, words=words)


#: Marks a number that is recnb's own, under the conventions of a library that has none.
OWN = "†"


def merged(phrases: Mapping[str, Sequence[str]]) -> list[str]:
    """Join the phrases of several metrics: each phrase once, behind the names of its metrics unless it is that of all.

    >>> merged({"dcg": ["gain 2^relevance - 1", "9 users"], "ndcg": ["linear gain", "9 users", "ideal: all"]})
    ['9 users', 'dcg: gain 2^relevance - 1', 'ndcg: linear gain, ideal: all']
    """
    names: dict[str, list[str]] = {}
    for metric, of_metric in phrases.items():
        for phrase in dict.fromkeys(of_metric):
            names.setdefault(phrase, []).append(metric)
    together: dict[str, list[str]] = {}
    for phrase, having in names.items():
        key = phrase if len(having) == len(phrases) else f"{', '.join(having)}: "
        together.setdefault(key, []).append(phrase)
    shared = [phrase for phrase in together if phrase in names]
    return [*shared, *(key + ", ".join(own) for key, own in together.items() if key not in names)]


def basis_of(
    counts: UserCounts,
    convention: Convention,
    notes: Sequence[str | Sentence],
    *,
    graded: bool,
    n_undefined: int | None = None,
) -> str:
    """One line that goes with every number."""
    return "; ".join(phrases_of(counts, convention, notes, graded=graded, n_undefined=n_undefined))


def scale_in_words(highest: float) -> str:
    """Return the scale of grades that a metric takes from the truth, in words."""
    return _("highest relevance {value:g}, that of the truth", value=highest)


def phrases_of(
    counts: UserCounts,
    convention: Convention,
    notes: Sequence[str | Sentence],
    *,
    graded: bool,
    n_undefined: int | None = None,
) -> list[str]:
    """Return the parts of the line that goes with every number."""
    return [*users_in_words(counts, convention, n_undefined), *convention.phrases(graded=graded), *map(str, notes)]


def users_of_mean(counts: UserCounts, convention: Convention, n_undefined: int | None) -> tuple[int, int]:
    """The number of users behind a mean, and of those with no relevant item; `n_undefined` as in `users_in_words`."""
    if n_undefined is None:
        return counts.n_users, counts.n_without_relevant
    if convention.no_relevant == "skip":  # those counted are others, who are left out before
        return counts.n_users - n_undefined, counts.n_without_relevant + n_undefined
    return counts.n_users, n_undefined


def users_in_words(counts: UserCounts, convention: Convention, n_undefined: int | None = None) -> list[str]:
    """The users behind a mean, and those that are not; `n_undefined`: those of a metric whose relevant items give no gain."""
    n_users, without = users_of_mean(counts, convention, n_undefined)
    parts = [ngettext("{n:,} user", "{n:,} users", n_users) + convention.users_phrase]
    if counts.n_without_list:
        parts.append(_("{n:,} of them without a list, which counts 0", n=counts.n_without_list))
    if without:
        parts.append(_(NO_RELEVANT[convention.no_relevant], n=without))
    return parts


def titled(item: Any, titles: Mapping[Any, str]) -> Markup:
    """An item as HTML, its title first if it has one."""
    if item not in titles:
        return name(item)
    return Markup('{} <span style="{}">{}</span>').format(name(titles[item]), BESIDE_TITLE, name(item))


#: Why a number under a library's conventions is recnb's own.
WHY_OWN: dict[str, str] = {
    "none": N_("recnb's own: {library} has none"),
    "uncut": N_("recnb's own: {library} does not cut it at k"),
    "refused": N_("recnb's own: {library} refuses such relevance"),
    "unruled": N_("recnb's own: on such relevance the number of {library} follows no rule that is recorded"),
}


def console(frame: pd.DataFrame, **how: Any) -> str:
    """A frame as text in the language in force, its columns in line where letters are two columns wide."""
    wide = current() != "en" or pd.get_option("display.unicode.east_asian_width")
    with pd.option_context("display.unicode.east_asian_width", wide):
        return str(frame.to_string(**how))
