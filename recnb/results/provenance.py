"""Words under numbers: how many users, who was left out, by which convention; and frames as a console shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from recnb.conventions import options_in_words
from recnb.display.language import N_, Sentence, _, current, ngettext
from recnb.display.templates import BESIDE_TITLE, name

if TYPE_CHECKING:
    from recnb.conventions import Convention


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


@dataclass(frozen=True)
class Basis:
    """What the mean of a metric of accuracy rests on: its users and the decisions in force, in words when they are shown."""

    counts: tuple[int, int, int]  #: users averaged, of these without a list, and users with no relevant item
    convention: Convention  #: with the metric's options
    graded: bool  #: whether the truth says how relevant an item is
    notes: tuple[str | Sentence, ...]
    scale: float | None = None  #: the highest relevance, where the metric takes its scale from the truth
    library: str | None = None  #: whose conventions are followed
    given: tuple[str, ...] = ()  #: the names of what was given on top of these
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the metric, as given in the call
    why_own: str | None = None  #: why the number is recnb's own nevertheless, a key of WHY_OWN

    def users_in_words(self) -> list[str]:
        """Return the users behind the mean, and those that are not, in words."""
        return users_in_words(*self.counts, self.convention)

    def phrases(self, *, brief: bool = False) -> list[str]:
        """Return the users and the decisions in words; `brief`: the name of a library says its decisions."""
        on_top = self.convention.given_in_words(self.given)
        scale = [] if self.scale is None else [scale_in_words(self.scale)]
        notes = list(map(str, self.notes))
        # Among those of other metrics, all that is said of users stands together.
        users = ["; ".join(self.users_in_words())] if brief else self.users_in_words()
        if brief and self.library and not self.why_own:
            return [follows(self.library, on_top), *users, *options_in_words(self.options), *scale, *notes]
        words = [
            *users,
            *self.convention.phrases(graded=self.graded),
        ]
        words += [*notes, *scale]
        if self.why_own:
            return [*words, _(WHY_OWN[self.why_own], library=self.library)]
        if self.library:
            words[0] = follows(self.library, on_top, words[0])
        return words


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
    return [*shared, *(key + ", ".join(own).replace("; ", ", ") for key, own in together.items() if key not in names)]


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


def scale_in_words(highest: float) -> str:
    """Return the scale of grades that a metric takes from the truth, in words."""
    return _("highest relevance {value:g}, that of the truth", value=highest)


def users_in_words(n_users: int, n_without_list: int, n_without_relevant: int, convention: Convention) -> list[str]:
    """Return the users behind a mean, and those that are not, in words."""
    parts = [ngettext("{n:,} user", "{n:,} users", n_users) + convention.users_phrase]
    if n_without_list:
        parts.append(_("{n:,} of them without a list, which counts 0", n=n_without_list))
    if n_without_relevant:
        parts.append(_(NO_RELEVANT[convention.no_relevant], n=n_without_relevant))
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
