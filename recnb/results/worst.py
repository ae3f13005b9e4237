"""The users or queries with the worst values of a metric, and what they missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import Joined
from recnb.display.language import N_, _, ngettext, use_noun
from recnb.display.text import users_in_words
from recnb.errors import OptionError, is_number, quoted
from recnb.metrics.hits import Bools, Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import label_of
from recnb.results.scoring import scoring_of, values_of
from recnb.results.table import Shown, Table

LOWEST = N_("{label}: the lowest of {users}")
HIGHEST = N_("{label}, of which less is better: the highest of {users}")


def worst_of(data: EvaluationData, measure: Measure, n: object) -> Table:
    """Return a row for each of the n users with the worst values of a metric.

    Of users with equal values those with more relevant items come first.
    """
    if not is_number(n) or int(n) != n or n < 1:
        raise OptionError(f"n={quoted(n)}: give a whole number of users from 1 up.")
    values = values_of(data, measure, Cutoffs.one(measure.k))
    joined = scoring_of(data, measure, whole=measure.k is None).joined
    hits = joined.hits.down_to(measure.k)
    found = np.unique(hits.entry)  # of equal scores a hit may have several ranks
    n_found = np.bincount(hits.truth_user[found], minlength=hits.n_users)
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
    if name in _headings() or name in index.names:  # a metric of one's own
        name = f"value of {name}"
    is_last = np.isin(value, value[worst[-1:]])
    n_others = int(is_last.sum() - is_last[worst].sum())
    with use_noun(data.noun_of_lists):
        title, notes = _title_of(measure, n_users), _others_in_words(n_others)
    shown = Shown(
        title=title,
        basis=values.basis.phrases(),
        notes=notes,
        headings={name: measure.label, **_headings()},
        cells=dict.fromkeys(("text", "first", "missing"), "text"),
        most=len(worst),
        plot="",
    )
    frame = pd.DataFrame({name: value[worst], **columns})
    return Table(frame.set_axis(index), shown=shown)


def _title_of(measure: Measure, n_users: int) -> str:
    """Name the metric, and the users of whom the worst are shown."""
    words = HIGHEST if measure.metric.better == "low" else LOWEST
    return _(words, label=measure.label, users=users_in_words(n_users))


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
    lists = joined.rows.lists_of(users).sort("rank", maintain_order=True)
    if k is not None:
        lists = lists.filter(pl.col("rank") <= k)
    relevant = joined.rows.relevant_of(users)
    relevant = relevant.sort("relevance", descending=True, maintain_order=True)
    missed = relevant.join(
        lists, on=["user", "item"], how="anti", maintain_order="left"
    )
    first = _first_of_each(lists, users)
    missing = _first_of_each(missed, users).set(pl.Series(~have_missed), None)
    titles = data.item_titles([*first.drop_nulls(), *missing.drop_nulls()])
    columns: dict[str, Any] = {}
    texts = data.user_texts(users.to_list())
    if texts:
        columns["text"] = [texts.get(user, "") for user in users]
    # As objects, ids stay as they are beside users without an item.
    for name, items in (("first", first), ("missing", missing)):
        shown = items.to_list()
        if titles:
            named = {item: str(titles.get(item, item)) for item in items.drop_nulls()}
            shown = [named.get(item) for item in shown]
        columns[name] = pd.Series(shown, dtype=object)
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
        "n_relevant": _("relevant"),
        "n_found": _("found"),
        "n_missed": _("missed"),
        "text": _("text"),
        "first": _("first of the list"),
        "missing": _("most relevant missed"),
    }
