"""From rows to ranked lists: by rank, by score or by row, with a stated rule for ties and for repeated pairs."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from recnb.conventions import Convention
from recnb.data import validation
from recnb.data.runs import Runs
from recnb.errors import COLUMN, Argument, Code, ColumnError, FrameError, FrameName
from recnb.metrics.hits import count_within


def ranked(
    table: pl.DataFrame, convention: Convention, labels: Mapping[str, str], runs: Runs | None = None
) -> tuple[pl.DataFrame, str]:
    """Recommended rows as user, item, rank, and score where there is one; and which column put them in order."""
    name = "recommendations"
    by = order_by(table, convention, labels)
    if convention.duplicates == "error":
        drop = Code(f": frame.drop_duplicates([{labels['user']!r}, {labels['item']!r}])")
        first = ("List each item once,",) if labels["item"] == labels.get("rank") else ("Drop the repeats", drop, ";")
        dedupe = Argument("duplicates", "dedupe")
        validation.no_pair_twice(table, name, (*first, " or say ", dedupe, " to keep the one ranked highest."), runs)
    if by == "rank":
        table = by_rank(table, convention, labels, runs)
    elif by == "score":
        scores = validation.scores(table, name, labels["score"])
        if runs is not None and _in_order(scores, runs, strictly=convention.ties != "first", falling=True):
            table = table.with_columns(score=scores, rank=pl.Series(runs.within()))
        else:
            table = _rank_by_score(table.with_columns(score=scores), convention.ties)
    else:
        table = table.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
    table = table.select("user", "item", "rank", *(["score"] if "score" in table.columns else []))
    return (_deduped(table, by) if convention.duplicates == "dedupe" else table), by


def by_rank(
    table: pl.DataFrame, convention: Convention, labels: Mapping[str, str], runs: Runs | None = None
) -> pl.DataFrame:
    """Check ranks: whole numbers from 1, each once in a list, and in agreement with scores unless `order` is given."""
    table = table.with_columns(rank=validation.ranks(table, "recommendations", labels["rank"]))
    strict = _in_order(table["rank"], runs, strictly=True)
    if not strict:
        validation.no_rank_twice(table, "recommendations", labels["rank"])
    if "score" in table.columns and convention.order == "auto":
        _scores_agree(table, strict, labels)
    return table


def in_lists(
    table: pl.DataFrame, by: str, convention: Convention, labels: Mapping[str, str], runs: Runs
) -> pl.DataFrame | None:
    """Return user, item, rank and score as if each list were sorted, to be verified by the join; None if it cannot be."""
    ends = runs.starts + runs.lengths - 1
    if by == "row":
        table = table.with_columns(rank=pl.Series(runs.within()))
    else:
        values = table[by]
        if not values.dtype.is_numeric() or values.dtype.is_decimal() or values.null_count():
            return None
        first, last = values.gather(runs.starts), values.gather(ends)
        if by == "score":
            if first.dtype.is_float() and not (first.is_finite().all() and last.is_finite().all()):
                return None
            table = table.with_columns(rank=pl.Series(runs.within()))
        elif not values.dtype.is_integer() or not _are_ranks(first, last):
            return None
        else:
            table = table.with_columns(pl.col("rank").cast(pl.Int64))
            if "score" in table.columns and convention.order == "auto":
                scores = validation.scores(table, "recommendations", labels["score"])
                if not _in_order(scores, runs, strictly=False, falling=True):
                    return None
    return table.select("user", "item", "rank", *(["score"] if "score" in table.columns else []))


def _are_ranks(first: pl.Series, last: pl.Series) -> bool:
    lowest, highest = first.min(), last.max()
    return isinstance(lowest, int) and isinstance(highest, int) and lowest >= 1 and highest <= 2**31


def order_by(table: pl.DataFrame, convention: Convention, labels: Mapping[str, str]) -> str:
    """Which column puts lists in order under a convention: rank, score, or none but the rows themselves."""
    has = [role for role in ("rank", "score") if role in table.columns]
    if convention.order == "auto":
        if not has:
            columns = (Argument("rank", COLUMN), " or ", Argument("score", COLUMN))
            row = ("; or, if rows stand in rank order already, ", Argument("order", "row"), ".")
            raise ColumnError(
                FrameName("recommendations"),
                " have no rank or score column that recnb knows.",
                fix=("Say which one puts a list in order, ", *columns, *row),
            )
        return has[0]
    if convention.order != "row" and convention.order not in has:
        lacks = (", but ", FrameName("recommendations"), f" have no {convention.order} column: say ")
        column = Argument(convention.order, COLUMN)
        raise ColumnError(Argument("order", convention.order), *lacks, column, ".")
    return convention.order


def _in_order(values: pl.Series, runs: Runs | None, *, strictly: bool, falling: bool = False) -> bool:
    """Whether the rows of each user are adjacent and values rise (or fall) within each list."""
    if runs is None:
        return False
    value = pl.lit(values).alias("value")
    lower, upper = (value.shift(), value) if falling else (value, value.shift())
    breaks = lower <= upper if strictly else lower < upper
    return runs.only_at_starts(pl.select(breaks.arg_true()).to_series())


def _scores_agree(table: pl.DataFrame, is_sorted: bool, labels: Mapping[str, str]) -> None:
    scores = validation.scores(table, "recommendations", labels["score"])
    ordered = table.with_columns(score=scores)
    ordered = ordered if is_sorted else ordered.sort("user", "rank")
    rises = (pl.col("user").shift() == pl.col("user")) & (pl.col("score") > pl.col("score").shift())
    where = ordered.select(rises.fill_null(value=False).arg_true()).to_series()
    if len(where) == 0:
        return
    lower, upper = ordered.row(where[0], named=True), ordered.row(where[0] - 1, named=True)
    raise FrameError(
        FrameName("recommendations"),
        f": {labels['rank']!r} and {labels['score']!r} disagree in {len(where):,} places. User {lower['user']!r} "
        f"has item {upper['item']!r} at rank {upper['rank']} with score {upper['score']:g}, above item {lower['item']!r} at rank "
        f"{lower['rank']} with score {lower['score']:g}.",
        fix=("Say which one is the order: ", Argument("order", "rank"), " or ", Argument("order", "score"), "."),
    )


def _rank_by_score(table: pl.DataFrame, ties: str) -> pl.DataFrame:
    """Number each user's rows from the highest score; sorts are stable, so what is equal keeps the order it had."""
    if ties == "last":
        table = table.reverse()
    keys, downward = ["user", "score"], [False, True]
    if ties.startswith("item"):
        keys, downward = [*keys, "item"], [*downward, ties == "item_desc"]
    return _numbered(table.sort(keys, descending=downward, maintain_order=True))


def _numbered(table: pl.DataFrame) -> pl.DataFrame:
    """Add ranks from 1 to a table sorted by user and place."""
    return table.with_columns(rank=pl.Series(count_within(table["user"].rle_id().to_numpy())))


def _deduped(table: pl.DataFrame, by: str) -> pl.DataFrame:
    """Keep the highest place of each pair and close the gaps: those that this leaves, and those that ranks have."""
    if by != "rank" and validation.repeated(table, ["user", "item"]).height == 0:
        return table
    return _numbered(table.sort("user", "rank").unique(["user", "item"], keep="first", maintain_order=True))
