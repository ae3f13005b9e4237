"""Items: how often each is recommended, beside its share of the training data, and how often it is a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recnb.data.encoding import positions
from recnb.display.language import _, ngettext
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
    is_hit = np.isin(evaluated.user * n_items + evaluated.item, prepared.truth_user * n_items + of_truth)
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
