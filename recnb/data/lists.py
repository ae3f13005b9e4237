"""Lists before they are joined: what puts them in order, and whether ranks, scores and pairs can be used."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.columns import roles_of, with_series
from recnb.data.encoding import repeats_follow
from recnb.errors import ColumnError, FrameError, quoted


def check_lists(
    table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]
) -> tuple[pl.DataFrame, Convention]:
    """Return the lists with ranks and scores as numbers, and the convention with the order that they are in."""
    by = _order_of(table, convention, labels)
    given = convention.order
    if by == "score":
        table = with_series(table, validation.scores(table, "recommendations", labels).alias("score"))
    elif by == "rank":
        table = with_series(table, validation.ranks(table, "recommendations", labels).alias("rank"))
        if "score" in table.columns and given == "auto":
            _refuse_disagreement(table, labels)
    return table, convention.ordered_by(by)


def _order_of(table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]) -> str:
    """Return which column puts lists in order: rank, score, or none but the rows themselves."""
    has = [role for role in ("rank", "score") if role in table.columns]
    if convention.order == "auto":
        if not has:
            columns = ("rank='...'", " or ", "score='...'")
            row = ("; or, if rows stand in rank order already, ", "order='row'", ".")
            raise ColumnError(
                "recommendations have no rank or score column that recnb knows.",
                fix=("Say which one puts a list in order, ", *columns, *row),
            )
        return has[0]
    if convention.order != "row" and convention.order not in has:
        lacks = (", but ", "recommendations", f" have no {convention.order} column: say ")
        column = f"{convention.order}='...'"
        raise ColumnError(f"order={quoted(convention.order)}", *lacks, column, ".")
    return convention.order


def refuse_repeated_pairs(table: pl.DataFrame, labels: Mapping[str, str], *, merge: bool = True) -> None:
    """Raise an error if a pair of user and item is repeated; `merge`: whether the convention could merge them."""
    pair = f"{labels['user']!r}, {labels['item']!r}"
    drop = roles_of(labels).code(
        f"frame.drop_duplicates([{pair}])", f"frame.unique([{pair}], keep='first', maintain_order=True)"
    )
    in_lists = labels["item"] == labels.get("rank")
    first = ("List each item once",) if in_lists else ("Drop the repeats", drop)
    separate = (
        ("," if in_lists else ";"),
        " or say ",
        "duplicates='dedupe'",
        " to keep the one ranked highest",
    )
    remedy = (*first, *(separate if merge else ()), ".")
    validation.no_pair_twice(table, "recommendations", remedy)


def _refuse_disagreement(table: pl.DataFrame, labels: Mapping[str, str]) -> None:
    """Raise an error if an item is ranked above one with a higher score."""
    ordered = table.with_columns(score=validation.scores(table, "recommendations", labels))
    same_user = pl.col("user").shift() == pl.col("user")
    stands = (
        repeats_follow(table["user"])
        and table.select((~same_user | (pl.col("rank") > pl.col("rank").shift())).all()).item()
    )
    ordered = ordered if stands else ordered.sort("user", "rank")
    higher = same_user & (pl.col("score") > pl.col("score").shift())
    where = ordered.select(higher.fill_null(value=False).arg_true()).to_series()
    if len(where) == 0:
        return
    lower, upper = ordered.row(where[0], named=True), ordered.row(where[0] - 1, named=True)
    raise FrameError(
        "recommendations"
        f": {labels['rank']!r} and {labels['score']!r} disagree in {len(where):,} place{'s' * (len(where) > 1)}. User {lower['user']!r} "
        f"has item {upper['item']!r} at rank {upper['rank']} with score {upper['score']:g}, above item {lower['item']!r} at rank "
        f"{lower['rank']} with score {lower['score']:g}.",
        fix=("Say which one is the order: order='rank' or order='score'."),
    )


__all__ = ["check_lists", "refuse_repeated_pairs"]
