"""Tables of users: the list of one and what it misses, and those with the worst values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import Joined
from recnb.display.language import N_, _, ngettext, use_noun
from recnb.display.text import one_line, users_in_words
from recnb.errors import OptionError, is_number, quoted
from recnb.metrics.hits import Bools, Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import label_of
from recnb.results.scoring import scoring_of, values_of
from recnb.results.table import Cell, Shown, Table

LOWEST = N_("{label}: the lowest of {users}")
HIGHEST = N_("{label}, of which less is better: the highest of {users}")

#: Columns of titles and texts.
TEXTS: dict[str, Cell] = dict.fromkeys(("title", "text", "first", "missing"), "text")


def user_list_of(data: EvaluationData, user: Any, k: object) -> Table:
    """Return a row for each place of one user's list.

    `missed` has the other relevant items, with their ranks below k, else NaN.
    """
    (cutoff,) = Cutoffs.one(k).values
    users = data.joined.users[[data.position(user)]]
    listed, missed = _listed_and_missed(data.joined, users, cutoff)
    titles = data.item_titles([*listed["item"].to_list(), *missed["item"].to_list()])
    n_hits = int(listed["hit"].sum())
    found = _(
        "found {n:,} of {relevant:,} relevant", n=n_hits, relevant=n_hits + len(missed)
    )
    who = one_line(data.keys.in_words(user))
    if text := data.user_texts([user]).get(user):
        who = f"{who} ({one_line(text, 120)})"
    title = _("user {user}: {found}", user=who, found=found)
    if cutoff is not None:
        title = f"{title}, {_('list cut at {k}', k=cutoff)}"
    shown = Shown(
        title=_("relevant, and not among them"),
        headings=_headings(),
        cells=TEXTS,
        most=max(len(listed), len(missed)),
        plot="",
    )
    table_of_missed = Table(_titled(missed, titles), shown=shown)
    shown = replace(shown, title=title, basis=[data.basis], below=table_of_missed)
    table = Table(_titled(listed, titles), shown=shown)
    table.missed = table_of_missed
    return table


def worst_of(data: EvaluationData, measure: Measure, n: object) -> Table:
    """Return a row for each of the n users with the worst values of a metric.

    Of users with equal values those with more relevant items come first.
    """
    if not is_number(n) or int(n) != n or n < 1:
        raise OptionError(f"n={quoted(n)}: give a whole number of users from 1 up.")
    values = values_of(data, measure, Cutoffs.one(measure.k))
    joined = scoring_of(data, measure, whole=measure.k is None).joined
    hits = joined.hits.down_to(measure.k)
    n_found = np.bincount(hits.user, minlength=hits.n_users)
    value = values.matrix[:, 0]
    is_cost = measure.metric.better == "low"
    # Who has no value, NaN, comes last.
    order = np.lexsort((-hits.n_relevant, -value if is_cost else value))
    n_users = int(np.count_nonzero(~np.isnan(value)))
    worst = order[: min(int(n), n_users)]
    columns: dict[str, Any] = {
        "n_relevant": hits.n_relevant[worst],
        "n_found": n_found[worst],
        "n_missed": (hits.n_relevant - n_found)[worst],
    }
    users = values.users.gather(worst)
    columns |= _in_words(data, joined, users, measure.k, columns["n_missed"] > 0)
    index = data.keys.index(users, data.user_label)
    name = label_of(measure.name, measure.k)
    if name in columns or name in index.names:  # a metric of one's own
        name = f"value of {name}"
    with use_noun(data.noun_of_lists):
        title = _(
            HIGHEST if is_cost else LOWEST,
            label=measure.label,
            users=users_in_words(n_users),
        )
        is_last = np.isin(value, value[worst[-1:]])
        notes = _others_in_words(int(is_last.sum() - is_last[worst].sum()))
    shown = Shown(
        title=title,
        basis=values.basis.phrases(),
        notes=notes,
        headings={name: measure.label, **_headings()},
        cells=TEXTS,
        most=len(worst),
        plot="",
    )
    return Table(pd.DataFrame({name: value[worst], **columns}, index), shown=shown)


def _listed_and_missed(
    joined: Joined, users: pl.Series, k: int | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the places of users' lists down to a cut-off, and what these miss.

    The most relevant come first. An item that is missed has its rank below the cut-off,
    or none.
    """
    pair = ["user", "item"]
    rows = joined.rows.lists_of(users).sort("rank", maintain_order=True)
    columns = [
        name for name in ("user", "rank", "item", "score") if name in rows.columns
    ]
    truth = joined.rows.truth_of(users).select(*pair, "relevance")
    places = rows.select(columns).join(
        truth, on=pair, how="left", maintain_order="left"
    )
    inside = places if k is None else places.filter(pl.col("rank") <= k)
    listed = inside.with_columns(
        pl.col("relevance").fill_null(0), hit=pl.col("relevance").is_not_null()
    )
    ranks = places.select(*pair, pl.col("rank").cast(pl.Float64))
    missed = truth.join(inside, on=pair, how="anti", maintain_order="left")
    missed = missed.join(ranks, on=pair, how="left", maintain_order="left")
    return listed, missed.sort("relevance", descending=True, maintain_order=True)


def _titled(rows: pl.DataFrame, titles: Mapping[Any, str]) -> pd.DataFrame:
    """Return rows of one user with the titles of their items, if any has one."""
    frame = rows.drop("user").to_pandas()
    if titles:
        named = frame["item"].map(titles).fillna("")
        frame.insert(frame.columns.get_loc("item") + 1, "title", named)
    return frame


def _in_words(
    data: EvaluationData,
    joined: Joined,
    users: pl.Series,
    k: int | None,
    have_missed: Bools,
) -> dict[str, Any]:
    """Return columns of texts of queries, and of items: on top, and missed.

    These are by title, or else as they are.
    """
    listed, missed = _listed_and_missed(joined, users, k)
    first = _first_of_each(listed, users)
    missing = _first_of_each(missed, users).set(pl.Series(~have_missed), None)
    titles = data.item_titles([*first.drop_nulls(), *missing.drop_nulls()])
    columns: dict[str, Any] = {}
    texts = data.user_texts(users.to_list())
    if texts:
        columns["text"] = [texts.get(user, "") for user in users]
    # As objects ids stay as they are beside users without an item.
    for name, items in (("first", first), ("missing", missing)):
        shown = items.to_list()
        if titles:
            named = {item: str(titles.get(item, item)) for item in items.drop_nulls()}
            shown = [named.get(item) for item in shown]
        columns[name] = np.array([*shown, None], dtype=object)[:-1]
    return columns


def _first_of_each(rows: pl.DataFrame, users: pl.Series) -> pl.Series:
    """Return the first item of each user; None of who has none."""
    first = rows.group_by("user").agg(pl.col("item").first())
    of_users = users.to_frame("user")
    return of_users.join(first, on="user", how="left", maintain_order="left")["item"]


def _others_in_words(n: int) -> list[str]:
    """Say how many other users have the value of the last row, if some have."""
    if not n:
        return []
    return [
        ngettext(
            "{n:,} more user has the value of the last row",
            "{n:,} more users have the value of the last row",
            n,
        )
    ]


def _headings() -> dict[str, str]:
    """Return what stands above the columns."""
    return {
        "rank": _("rank"),
        "item": _("item"),
        "title": _("title"),
        "score": _("score"),
        "relevance": _("relevance"),
        "hit": _("hit"),
        "n_relevant": _("relevant"),
        "n_found": _("found"),
        "n_missed": _("missed"),
        "text": _("text"),
        "first": _("first of the list"),
        "missing": _("most relevant missed"),
    }
