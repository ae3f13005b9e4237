"""How groups of users are shown: what each is, and a card of lists for each user.

The template is `users.jinja`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recnb.display.forms import Line, Mark, Name, Rows, joined, opening, say, strong
from recnb.display.language import N_, Message, Sentence, _, ngettext
from recnb.display.text import fixed, short, signed
from recnb.results.user_groups import ShownUser, UserGroup
from recnb.results.user_lists import RankedItem

GAIN_AND_LOSE = N_(
    "{model} instead of {baseline}, {label}: {users} with a gain {won}, with the same "
    "value {tied}, with a loss {lost}"
)
RISE_AND_FALL = N_(
    "{model} instead of {baseline}, {label}: {users} with a higher value {won}, with the "
    "same value {tied}, with a lower one {lost}"
)
#: What a group of users is, by its kind.
GROUPS: dict[str, Message] = {
    "best": N_("Best {users} by {label}"),
    "worst": N_("Worst {users} by {label}"),
    "highest": N_("Highest {label}"),
    "lowest": N_("Lowest {label}"),
    "only": N_("The {user}"),
    "gained": N_("Largest gains in {label} with {model}"),
    "lost": N_("Largest losses in {label} with {model}"),
    "risen": N_("Largest rises of {label} with {model}"),
    "fallen": N_("Largest falls of {label} with {model}"),
}


@dataclass(frozen=True, eq=False)
class UserCards:
    """Groups of users, and what is said of them."""

    groups: Sequence[UserGroup]
    label: str  #: of the metric whose values they have
    nouns: Mapping[str, str]  #: what they are called

    def heading(self, group: UserGroup) -> Sentence:
        """Return what a group of users is."""
        model = Name(group.model)
        return say(GROUPS[group.kind], **self.nouns, model=model, label=self.label)

    def counts(self, group: UserGroup) -> Sentence:
        """Say how many users gain and lose with one model instead of another."""
        words = GAIN_AND_LOSE
        if group.kind in ("risen", "fallen"):
            words = RISE_AND_FALL
        won, tied, lost = group.counts or (0, 0, 0)
        return say(
            words,
            model=strong(group.model),
            baseline=strong(group.baseline),
            label=self.label,
            users=self.nouns["users"],
            won=f"{won:,}",
            tied=f"{tied:,}",
            lost=f"{lost:,}",
        )

    def card(self, group: UserGroup, user: ShownUser) -> Rows:
        """Return the lists of a user, of one model or of two beside each other."""
        who: list[Line] = [strong(user.user), " "]
        if user.text:
            who += ["(", opening(user.text, 120), ") "]
        header: list[Line] = ["#"]
        if group.baseline is None:
            who.append(
                f"{self.label} {fixed(user.values[0])} · {_found_in_words(user)}"
            )
            header.append(_("list"))
        else:
            who.append(_change_in_words(user))
            models = (group.baseline, group.model)
            for model, value in zip(models, user.values, strict=True):
                header.append([Name(model, 20), f": {fixed(value)}"])
        rows = _rows_of_lists(user)
        below = [*_below(user, len(rows))]
        return Rows(header, rows, who, len(header), wraps=True, note=below)


def _found_in_words(user: ShownUser) -> str:
    """Say how many relevant items the list of one model has."""
    if not user.n_relevant:
        return _("no relevant {item}")
    words = N_("found {n:,} of {relevant:,} relevant")
    return _(words, n=user.n_hits, relevant=user.n_relevant)


def _change_in_words(user: ShownUser) -> str:
    """Say how far the value of the second model is from that of the first."""
    before, after = user.values
    relevant = ngettext(
        "{n:,} relevant {item}", "{n:,} relevant {items}", user.n_relevant
    )
    words = N_("{change}, {relevant}")
    return _(words, change=signed(after - before), relevant=relevant)


def _rows_of_lists(user: ShownUser) -> list[list[Line]]:
    """Return a row for each place shown, with the item of each list."""
    by_place = [_by_place(items) for items in user.lists]
    places = sorted(set().union(*by_place))
    rows = list[list[Line]]()
    for place in places:
        rank, _number = place
        row: list[Line] = [str(rank)]
        for items in by_place:
            if items:
                row.append(_cell(items.get(place)))
            else:
                row.append(_("no list") if not rows else "")
        rows.append(row)
    return rows


def _by_place(items: Sequence[RankedItem]) -> dict[tuple[Any, int], RankedItem]:
    """Return items by rank and, where equal scores share one, by their number there."""
    n_there = Counter[int | None]()
    by_place = {}
    for item in items:
        by_place[item.rank, n_there[item.rank]] = item
        n_there[item.rank] += 1
    return by_place


def _cell(item: RankedItem | None) -> Line:
    """Return an item of a list; a hit is marked."""
    if item is None:
        return "–"
    if not item.relevance:
        return _titled(item)
    hit = _("hit, {relevance}", relevance=short(item.relevance))
    return [Mark("hit", _titled(item)), Mark("aside", hit)]


def _titled(item: RankedItem) -> Line:
    """Return an item, its title first if it has one."""
    if not item.title:
        return Name(item.item, 60)
    id_of_item = Mark("small", ["(", Name(item.item), ")"])
    return [opening(item.title, 60), " ", id_of_item]


def _below(user: ShownUser, n_rows: int) -> Iterator[Line]:
    """Give what stands below lists: how many ranks are not shown, what is missed."""
    n_more = user.n_places - n_rows
    if n_more > 0:
        yield f"{ngettext('… {n:,} more rank', '… {n:,} more ranks', n_more)} "
    if len(user.lists) == 1 and not n_rows:
        yield f"{_('No list: nothing was recommended.')} "
    if user.missed:
        yield say(N_("missed: {items}"), items=_missed(user))


def _missed(user: ShownUser) -> list[Line]:
    """Return the relevant items that a list misses."""
    items = []
    for item in user.missed:
        at_rank = f" {_('(at rank {rank})', rank=item.rank)}" if item.rank else ""
        items.append([_titled(item), at_rank])
    n_more = user.n_missed - len(items)
    more = [" ", _("and {n:,} more", n=n_more)] if n_more else []
    return [*joined(items), *more]
