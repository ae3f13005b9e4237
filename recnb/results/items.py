"""Items: how often each is recommended and found; and one user's list, with the relevant items that were missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.encoding import positions
from recnb.data.relevance import is_relevant
from recnb.display.language import _, ngettext
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.results.table import Table

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def items_of(data: EvaluationData, k: object) -> Table:
    """Count how often each item is recommended and found, the most recommended first: each item of frames, train and `items=` once.

    Columns: title, if `items=` has one; shown, the number of lists with the item down to k; share, of all places of the
    lists; with `train=`, share_in_train, of its rows, and ratio, share over share_in_train; hits, the number of users
    evaluated for whom it is a hit; relevant, the number of users for whom it is relevant.
    """
    (cutoff,) = Cutoffs.one(k).values
    item_data, prepared = data.item_data, data.prepared
    items, n_items = item_data.items, len(item_data.items)
    lists = item_data.lists.upto(cutoff)
    shown = lists.times_shown
    frame = pd.DataFrame({"shown": shown, "share": shown / max(len(lists.item), 1)})
    if (had := item_data.catalogue.interactions) is not None:
        frame["share_in_train"] = had / max(had.sum(), 1)
        frame["ratio"] = (frame["share"] / frame["share_in_train"]).where(frame["share_in_train"] > 0)
    of_truth = positions(items, prepared.truth["item"])
    # Pairs of user and item as one number: a place of a list is a hit if its pair is in the truth.
    evaluated = item_data.lists_of_evaluated.upto(cutoff)
    is_hit = np.isin(evaluated.user * n_items + evaluated.item, prepared.all_hits.truth_user * n_items + of_truth)
    frame["hits"] = np.bincount(evaluated.item[is_hit], minlength=n_items)
    frame["relevant"] = np.bincount(of_truth, minlength=n_items)
    frame.index = pd.Index(items.to_numpy(), name="item")
    if titles := data.item_titles(items.to_list()):
        frame.insert(0, "title", frame.index.map(titles).fillna(""))
    at = _("whole lists") if cutoff is None else _("lists cut at {k}", k=cutoff)
    n_lists = len(item_data.users)
    users = ngettext("{n:,} user with a list", "{n:,} users with a list", n_lists)
    of_lists = _("shown and share: {users}, {at}", users=users, at=at)
    frame = frame.sort_values("shown", ascending=False, kind="stable")
    table = Table.made(frame, [of_lists, f"{_('hits and relevant')}: {data.basis()}"])
    table.attrs |= {"drawn": "items", "most": 20}
    return table


def user_list_of(data: EvaluationData, user: Any, k: object) -> Table:
    """Return a row for each place of one user's list: rank, item, title, score, relevance, hit, judged; `missed` has the others.

    A row of `missed` is a relevant item that is not among them, with its rank below k, NaN if it is not in the list.
    """
    (cutoff,) = Cutoffs.one(k).values
    position = data.position(user)
    rows = data.prepared.lists_of(data.prepared.users[[position]]).sort("rank", maintain_order=True)
    truth, judged = data.truth_of(position), data.prepared.judged
    titles = data.item_titles([*rows["item"].to_list(), *truth["item"].to_list()])
    columns = [name for name in ("rank", "item", "score") if name in rows.columns]
    places = rows.select(columns).join(truth, on="item", how="left", maintain_order="left")
    inside = places if cutoff is None else places.filter(pl.col("rank") <= cutoff)
    listed = inside.with_columns(pl.col("relevance").fill_null(0), hit=pl.col("relevance").is_not_null())
    if not is_relevant(judged["relevance"].to_numpy(), data.convention).all():  # some are judged and not relevant
        of_user = judged.filter(pl.col("user") == data.prepared.users[[position]])["item"]
        listed = listed.with_columns(judged=pl.col("item").is_in(of_user.implode()))
    ranks = places.select("item", pl.col("rank").cast(pl.Float64))
    missed = truth.join(inside, on="item", how="anti", maintain_order="left").join(
        ranks, on="item", how="left", maintain_order="left"
    )
    n_hits = int(listed["hit"].sum())
    found = _("found {n:,} of {relevant:,} relevant", n=n_hits, relevant=n_hits + len(missed))
    title = _("user {user}: {found}", user=one_line(user), found=found)
    table = Table.made(_titled(listed, titles), [data.basis()], title)
    others = missed.sort("relevance", descending=True, maintain_order=True)
    table.missed = Table.made(_titled(others, titles), [], _("relevant, and not among them"))
    table.attrs["most"] = table.missed.attrs["most"] = max(len(listed), len(others))
    return table


def _titled(rows: pl.DataFrame, titles: dict[Any, str]) -> pd.DataFrame:
    frame = rows.to_pandas()
    if titles:
        frame.insert(rows.columns.index("item") + 1, "title", frame["item"].map(titles).fillna(""))
    return frame
