"""One user's list: what is at each rank, which of it is relevant, and the relevant items that were missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl

from recnb.data.relevance import is_relevant
from recnb.display.language import _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.results.table import Table

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


def user_list_of(data: EvaluationData, user: Any, k: object) -> Table:
    """Return a row for each place of one user's list: rank, item, title, score, relevance, hit, judged; `missed` has the others.

    A row of `missed` is a relevant item that is not among them, with its rank below k, NaN if it is not in the list.
    """
    (cutoff,) = Cutoffs.one(k).values
    position = data.position(user)
    rows = data.prepared.rows.of(data.prepared.users[[position]]).sort("rank", maintain_order=True)
    truth = data.truth_of(position)
    columns = ["rank", "item", *(["score"] if "score" in rows.columns else [])]
    places = rows.select(columns).join(truth, on="item", how="left", maintain_order="left")
    titles = data.item_titles([*places["item"].to_list(), *truth["item"].to_list()])
    inside = places if cutoff is None else places.filter(pl.col("rank") <= cutoff)
    missed = truth.join(inside, on="item", how="anti", maintain_order="left").join(
        places.select("item", pl.col("rank").cast(pl.Float64)), on="item", how="left", maintain_order="left"
    )
    listed = inside.with_columns(pl.col("relevance").fill_null(0), hit=pl.col("relevance").is_not_null())
    judged = data.prepared.judged
    if not is_relevant(judged["relevance"].to_numpy(), data.convention).all():  # some are judged and not relevant
        of_user = judged.filter(pl.col("user") == data.prepared.users[[position]])["item"]
        listed = listed.with_columns(judged=pl.col("item").is_in(of_user.implode()))
    others = _titled(missed.sort("relevance", descending=True, maintain_order=True), titles)
    n_hits = int(listed["hit"].sum())
    found = _("found {n:,} of {relevant:,} relevant", n=n_hits, relevant=n_hits + len(others))
    title = _("user {user}: {found}", user=one_line(user), found=found)
    table = Table.made(_titled(listed, titles), [data.basis()], title)
    table.attrs["most"] = len(table)
    table.missed = Table.made(others, [], _("relevant, and not among them"))
    table.missed.attrs["most"] = len(others)
    return table


def _titled(rows: pl.DataFrame, titles: dict[Any, str]) -> pd.DataFrame:
    frame = rows.to_pandas()
    if titles:
        frame.insert(rows.columns.index("item") + 1, "title", frame["item"].map(titles).fillna(""))
    return frame
