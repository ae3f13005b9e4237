"""Users in parts: an evaluation's data with a row for each user and part of the truth or of the list, such as a week."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.encoding import positions
from recnb.data.population import is_averaged
from recnb.data.relevance import LazyRows
from recnb.data.source import Prepared
from recnb.errors import OptionError, quoted
from recnb.metrics.hits import Ints

#: Conventions that place the items of a list by the user's whole truth, so that its parts have no places of their own.
WHOLE = {"ties": ("expected", "worst"), "candidates": ("padded", "catalogue")}


@dataclass(frozen=True, eq=False)
class UserParts:
    """Parts of users: which rows of the truth and of the lists belong to each.

    A part is evaluated by the hits among its rows, at the ranks that they have in the whole list, against the relevant items of
    its rows. Parts are identified by their position in `table`.
    """

    table: pl.DataFrame  #: a row a part: user, truth, list (the number of its part of either; -1: none)
    truth: pl.DataFrame | None  #: user, item, truth; None: parts are of lists alone
    lists: pl.DataFrame | None  #: user, item, list

    def user(self, parts: pl.Series) -> Ints:
        """A number for the user of each of some parts."""
        users = self.table["user"]
        return positions(users.unique(maintain_order=True), users.gather(parts))

    def split(self, prepared: Prepared) -> Prepared:
        """The same data, whose users are the parts that count under its convention."""
        _check(prepared.convention)
        hits, pairs = prepared.all_hits, prepared.truth.select("user", "item")
        place = pl.DataFrame({"user": prepared.users}).with_row_index("at")
        parts = self.table.with_row_index("part").join(place, on="user", maintain_order="left").with_row_index("row")
        relevant = _numbered(pairs, self.truth, "truth").select(
            "truth", pl.Series("at", hits.truth_user, dtype=pl.UInt32)
        )
        rows = relevant.with_row_index("truth_row").join(parts, on=["at", "truth"]).sort("row", "truth_row")
        places = rows.select("truth_row", "list", "row").with_row_index("new_row")
        hit = _numbered(pairs[hits.truth_row], self.lists, "list").with_row_index("hit")
        at_row = pl.Series("truth_row", hits.truth_row, dtype=pl.UInt32)
        hit = hit.select("hit", "list", pl.Series("rank", hits.rank), at_row)
        found = hit.join(places, on=["truth_row", "list"]).sort("row", "rank", "hit")
        assert found.height == hit.height, "a hit is in one part"
        old, of_truth = found["hit"].to_numpy(), rows["truth_row"].to_numpy()
        divided = replace(
            hits,
            user=_ints(found["row"]),
            rank=hits.rank[old],
            list_length=hits.list_length[parts["at"].to_numpy()],
            relevance=hits.relevance[old],
            truth_row=_ints(found["new_row"]),
            truth_user=_ints(rows["row"]),
            truth_relevance=hits.truth_relevance[of_truth],
        )
        with_truth = parts["user"].is_in(prepared.judged["user"].implode()).to_numpy()
        has_relevant = divided.n_relevant > 0
        kept = is_averaged(divided.list_length > 0, with_truth, has_relevant, prepared.convention)
        return replace(
            prepared,
            truth_rows=LazyRows.of(prepared.truth, of_truth[kept[divided.truth_user]].astype(np.int64)),
            users=parts["part"].cast(pl.Int64).filter(pl.Series(kept)),
            all_hits=divided.with_users(kept),
            n_without_relevant=int((~has_relevant).sum()),
            source=None,
            _cut={},
        )


def _check(convention: Convention) -> None:
    for axis, words in WHOLE.items():
        value = getattr(convention, axis)
        if value in words:
            problem = " places items by the whole truth of a user, so it cannot be split into parts: choose "
            plain = f"{axis}={quoted({'ties': 'first', 'candidates': 'list'}[axis])}"
            raise OptionError(f"{axis}={quoted(value)}", problem, plain, ".")


def _numbered(pairs: pl.DataFrame, parts: pl.DataFrame | None, name: str) -> pl.DataFrame:
    """Pairs of user and item with the number of the part that each is in; 0 without parts."""
    if parts is None:
        return pairs.with_columns(pl.lit(0, dtype=pl.Int64).alias(name))
    return pairs.join(parts, on=["user", "item"], how="left", maintain_order="left")


def _ints(column: pl.Series) -> Ints:
    return column.cast(pl.Int64).to_numpy()


__all__ = ["UserParts"]
