"""A user's list as a metric reads it: its places with their hits, and what it misses.

`user` is the table of a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.display.language import _
from recnb.display.text import beginning, one_line
from recnb.metrics.hits import Hits, one_cutoff
from recnb.results.evaluation_data import EvaluationData
from recnb.results.shown import Shown
from recnb.results.table import Table


class ListPlace(NamedTuple):
    """A rank of a list, and the item that counts there."""

    rank: int
    item: Any
    relevance: float  #: 0 if it is no hit
    hit: int  #: its position among the hits; -1: it is none
    listed: int | None  #: the rank that it has in the list as given


@dataclass(frozen=True)
class RankedItem:
    """An item that is shown; its relevance is 0 if it is not relevant."""

    rank: int | None  #: None: it is not in the list
    item: Any
    relevance: float
    title: str


@dataclass(frozen=True, eq=False)
class UserList:
    """A user's list, its hits down to a cut-off, and the relevant items.

    A convention may put a hit elsewhere than in the list as given: equal scores on one
    shared rank, items that were missed below the end. It is then where it counts, and
    there only.
    """

    hits: Hits  #: of the one user, each on one rank
    items: dict[int, Any]  #: at each rank of the whole list, in their order
    #: The relevant items, in the order of the entries of hits; None: they have no names.
    truth: Sequence[Any] | None
    k: int | None = None
    titles: Mapping[Any, str] = field(default_factory=dict)  #: of items that have one
    text: str = ""  #: of a query, if users= has one

    @property
    def depth(self) -> int:
        """The last rank that counts."""
        return int(self.hits.list_length[0]) if self.k is None else self.k

    @property
    def found(self) -> set[int]:
        """The entries of the truth that are hits down to the cut-off."""
        return set(self.hits.entry[self.hits.rank <= self.depth].tolist())

    @property
    def n_relevant(self) -> int:
        """The number of relevant items."""
        return len(self.hits.truth_relevance)

    @property
    def places(self) -> list[ListPlace]:
        """The places down to the cut-off; of those on one rank the hits come first.

        Of a list a b c, where b is a hit that counts on rank 3, being tied with c:

            rank     1  3  3
            item     a  b  c
            hit     -1  0 -1
            listed   1  2  3
        """
        places, moved = list[ListPlace](), set[Any]()
        columns = (self.hits.rank, self.hits.entry, self.hits.relevance)
        hits = zip(*(column.tolist() for column in columns), strict=True)
        for hit, (rank, entry, relevance) in enumerate(hits):
            item, listed = self._name_of(entry), rank
            if self.items.get(rank) != item:
                listed = self.first_rank.get(item)
                moved.add(item)
            places.append(ListPlace(rank, item, relevance, hit, listed))
        as_listed = {place.listed for place in places}
        for rank, item in self.items.items():
            if rank not in as_listed and item not in moved:
                places.append(ListPlace(rank, item, 0.0, -1, rank))
        inside = [place for place in places if place.rank <= self.depth]
        return sorted(inside, key=lambda place: place.rank)

    @property
    def missed(self) -> list[RankedItem]:
        """The relevant items that are no hits, in the order of the truth.

        They have a rank where they are listed below the cut-off.
        """
        if self.truth is None:
            return []
        missed, found = [], self.found
        grades = self.hits.truth_relevance.tolist()
        for entry, (item, grade) in enumerate(zip(self.truth, grades, strict=True)):
            if entry not in found:
                rank = self.first_rank.get(item, 0)
                below = rank if rank > self.depth else None
                title = self.titles.get(item, "")
                missed.append(RankedItem(below, item, grade, title))
        return missed

    @cached_property
    def first_rank(self) -> dict[Any, int]:
        """The rank of each item in the list as given; of one listed twice the first."""
        return {item: rank for rank, item in reversed(self.items.items())}

    def titled(self, item: Any) -> Any:
        """Return the title of an item, or else the item as it is."""
        return self.titles.get(item) or item

    def _name_of(self, entry: int) -> Any:
        if entry < 0:
            return _("as good as the best")
        return None if self.truth is None else self.truth[entry]


def user_lists_of(
    data: EvaluationData,
    positions: Sequence[int],
    k: int | None,
    hits: Hits | None = None,
) -> list[UserList]:
    """Return the lists of the users at some positions, fetched at once.

    `hits`: those of all users, if not the ones down to k.
    """
    users, rows = data.joined.users[list(positions)], data.joined.rows
    listed = rows.lists_of(users)[:, ["user", "rank", "item"]]
    relevant = rows.relevant_of(users)[:, ["user", "item"]]
    items = listed.sort("rank", maintain_order=True).rows_by_key("user")
    truth = relevant.rows_by_key("user")
    hits = data.hits(k) if hits is None else hits
    titles = data.item_titles([*listed["item"], *relevant["item"]])
    texts = data.user_texts(users.to_list())
    return [
        UserList(
            hits=_on_one_rank(hits.of_user(position)),
            items=dict(items[user]),
            truth=[item for (item,) in truth[user]],
            k=k,
            titles=titles,
            text=texts.get(user, ""),
        )
        for position, user in zip(positions, users, strict=True)
    ]


def _on_one_rank(hits: Hits) -> Hits:
    """Return hits on one rank each, of which the mean over orders has several."""
    if hits.tied is None:
        return hits
    _entries, first = np.unique(hits.entry, return_index=True)
    return replace(hits, tied=None).with_rows(np.sort(first))


# The table of a list


def user(data: EvaluationData, user: Any, k: int | None = None) -> Table:
    """Return one user's list down to k: rank, item, score, relevance, hit.

    Parameters
    ----------
    user : hashable
        The id of the user; in a split a tuple, as in `explain`.
    k : int, optional
        The cut-off; None is the whole list.

    Returns
    -------
    Table
        A row per item of the list. Its `missed` has the relevant items that
        it lacks.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.user("u026", k=3).to_frame()
       rank  item   score  relevance    hit
    0     1  i062  0.4200        0.0  False
    1     2  i128  0.3600        0.0  False
    2     3  i076  0.3167        0.0  False
    """
    cutoff = one_cutoff(k)
    position = data.position(user)
    (user_list,) = user_lists_of(data, [position], cutoff)
    rows = data.joined.rows.lists_of(data.joined.users[[position]])
    listed = _listed(user_list, rows)
    # Columns have one type, whatever the list holds.
    types: dict[str, Any] = {
        "item": rows.schema["item"],
        "relevance": pl.Float64,
        "rank": pl.Float64,
    }
    of_missed = [(each.item, each.relevance, each.rank) for each in user_list.missed]
    missed = pl.DataFrame(of_missed, types, orient="row").to_pandas()
    titles = user_list.titles
    if any(item in titles for item in (*listed["item"], *missed["item"])):
        _insert_titles(listed, titles)
        _insert_titles(missed, titles)
    headings = {
        "rank": _("rank"),
        "item": _("{item}"),
        "title": _("title"),
        "score": _("score"),
        "relevance": _("relevance"),
        "hit": _("hit"),
    }
    most = max(len(listed), len(missed))
    alike = Shown(headings=headings, cells={"title": "text"}, most=most)
    title = _("relevant, and not among them")
    missed_items = Table(missed, shown=replace(alike, title=title, index=["item"]))
    shown = replace(
        alike,
        title=_title(data, user, user_list),
        index=["rank", "item"],
        basis=[data.basis],
        below=missed_items,
    )
    listed_items = Table(listed, shown=shown)
    listed_items.missed = missed_items
    return listed_items


def _title(data: EvaluationData, user: Any, user_list: UserList) -> str:
    """Say who a user is, and how many relevant items their list has."""
    who = one_line(data.keys.in_words(user))
    if user_list.text:
        who = f"{who} ({beginning(user_list.text, 120)})"
    found = _(
        "found {n:,} of {relevant:,} relevant",
        n=len(user_list.found),
        relevant=user_list.n_relevant,
    )
    title = _("{user} {id}: {found}", id=who, found=found)
    if user_list.k is None:
        return title
    return f"{title}, {_('list cut at {k}', k=user_list.k)}"


def _listed(user_list: UserList, rows: pl.DataFrame) -> pd.DataFrame:
    """Return a row for each place of a list, with the score that its item has in `rows`."""
    types: dict[str, Any] = {
        "rank": pl.Int64,
        "item": rows.schema["item"],
        "relevance": pl.Float64,
        "hit": pl.Boolean,
    }
    places = user_list.places
    cells = [(each.rank, each.item, each.relevance, each.hit >= 0) for each in places]
    table = pl.DataFrame(cells, types, orient="row")
    if "score" in rows.columns:
        score_at = dict(rows.select("rank", "score").iter_rows())
        scores = [score_at.get(place.listed) for place in places]
        score = pl.Series("score", scores, dtype=rows.schema["score"])
        table.insert_column(2, score)
    return table.to_pandas()


def _insert_titles(frame: pd.DataFrame, titles: Mapping[Any, str]) -> None:
    """Put a column of titles behind that of items, "" where one has none."""
    texts = [titles.get(item, "") for item in frame["item"]]
    position = [*frame].index("item") + 1
    frame.insert(position, "title", pd.Series(texts, dtype=str))  # it may be empty
