"""One user's list: what is at each rank, which of it is relevant, and the relevant items that were missed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl

from recnb.data.relevance import is_relevant
from recnb.display.language import N_, _, current, use_language
from recnb.display.templates import name, render, translated, user_text
from recnb.display.text import one_line
from recnb.errors import Suggesting
from recnb.metrics.hits import Cutoffs
from recnb.results.provenance import console

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True, eq=False)
class UserList(Suggesting):
    """One user's list down to k, and the relevant items that it misses.

    Attributes
    ----------
    rows
        A row for each place: rank, item, title if `items=` has one, score if lists have one, relevance (0 if the item is not
        relevant) and hit; judged, if the truth holds items that are not relevant.
    missed
        A row for each relevant item that is not among them: item, title, relevance, and its rank below k, NaN if it is not in
        the list.
    """

    user: Any
    k: int | None
    rows: pd.DataFrame
    missed: pd.DataFrame
    basis: str
    lang: str = field(default_factory=current)

    def to_frame(self) -> pd.DataFrame:
        """The rows of the list."""
        return self.rows.copy()

    def _headline(self, user: str) -> str:
        hits = int(self.rows["hit"].sum())
        found = _("found {n:,} of {relevant:,} relevant", n=hits, relevant=hits + len(self.missed))
        return translated(N_("user {user}: {found}"), user=user, found=found)

    def __repr__(self) -> str:
        with use_language(self.lang):
            parts = [self._headline(one_line(repr(self.user))), _as_text(self.rows)]
            if len(self.missed):
                parts += [_("relevant, and not among them"), _as_text(self.missed)]
            return "\n".join([*parts, self.basis])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(render(
                "results/user_list.jinja", headline=self._headline(name(self.user)), basis=self.basis, list=_cells(self.rows),
                hits=self.rows["hit"].to_numpy().nonzero()[0].tolist(), missed=_cells(self.missed) if len(self.missed) else None,
            ))  # fmt: skip


def _as_text(rows: pd.DataFrame) -> str:
    shown = {column: rows[column].map(one_line) for column in ("item", "title") if column in rows}
    return console(rows.assign(**shown), index=False, float_format="{:g}".format)


def _cells(rows: pd.DataFrame) -> tuple[list[str], list[list[str]], int]:
    columns = [_column(rows[column]) for column in rows]
    cells = [list(row) for row in zip(*columns, strict=True)]
    return list(rows.columns), cells, list(rows.columns).index("title" if "title" in rows else "item") + 1


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "✓" if value else ""
    if isinstance(value, float):
        return "–" if value != value else f"{value:g}"
    return user_text(value)


def _column(values: pd.Series[Any]) -> list[str]:
    """The cells of a column: numbers have the decimals of the one that has most, so that they stand under each other."""
    cells = [_cell(value) for value in values]
    if values.dtype.kind != "f" or any("e" in cell for cell in cells):
        return cells
    most = max((len(cell.partition(".")[2]) for cell in cells), default=0)
    return [cell if cell == "–" or "inf" in cell else f"{float(cell):.{most}f}" for cell in cells]


def user_list_of(data: EvaluationData, user: Any, k: object) -> UserList:
    """The list of one user, of whom alone the rows are looked at."""
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
    return UserList(
        user,
        cutoff,
        _titled(listed, titles),
        _titled(missed.sort("relevance", descending=True, maintain_order=True), titles),
        data.basis(),
    )


def _titled(rows: pl.DataFrame, titles: dict[Any, str]) -> pd.DataFrame:
    frame = rows.to_pandas()
    if titles:
        frame.insert(rows.columns.index("item") + 1, "title", frame["item"].map(titles).fillna(""))
    return frame
