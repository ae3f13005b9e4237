"""One user's list: what is at each rank, which of it is relevant, and the relevant items that were missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from recnb.data.relevance import is_relevant
from recnb.display.language import _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.results.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData


def user_list_of(data: EvaluationData, user: Any, k: object) -> Table:
    """Return a row for each place of one user's list: rank, item, title, score, relevance, hit, judged; `missed` has the others.

    A row of `missed` is a relevant item that is not among them, with its rank below k, NaN if it is not in the list.
    """
    (cutoff,) = Cutoffs.one(k).values
    position = data.position(user)
    rows = data.prepared.rows.of(data.prepared.users[[position]]).sort("rank", maintain_order=True)
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
