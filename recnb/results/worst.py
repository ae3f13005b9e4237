"""The users or queries with the worst values of a metric, and what they missed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl

from recnb.data import Joined
from recnb.display.language import N_, _, ngettext, use_noun
from recnb.display.text import users_in_words
from recnb.errors import OptionError, is_number, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import label_of
from recnb.results.scoring import scoring_of, values_of
from recnb.results.table import Shown, Table
from recnb.results.values import Values

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
    users = _worst_first(values, joined)
    worst = users.head(int(n))
    items = _first_and_missing(joined, worst["user"], measure.k)
    rows = worst.join(items, on="user", how="left", maintain_order="left")
    has_missed = pl.col("n_missed") > 0
    rows = rows.with_columns(pl.when(has_missed).then("missing").alias("missing"))
    rows = _with_texts(data, rows)
    name = label_of(measure.name, measure.k)
    frame = rows.drop("user").rename({"value": name}).to_pandas()
    for column in ("first", "missing"):  # ids stay as they are beside users without one
        frame[column] = pd.Series(rows[column].to_list(), dtype=object)
    frame.index = data.keys.index(worst["user"], data.user_label)
    title = HIGHEST if measure.metric.better == "low" else LOWEST
    with use_noun(data.noun_of_lists):
        of_users = users_in_words(len(users))
        notes = _others_in_words(users, worst)
    shown = Shown(
        title=_(title, label=measure.label, users=of_users),
        basis=values.basis.phrases(),
        notes=notes,
        headings={name: measure.label, **_headings()},
        cells={"text": "text", "first": "text", "missing": "text"},
        most=len(frame),
        plot="",
    )
    return Table(frame, shown=shown)


def _worst_first(values: Values, joined: Joined) -> pl.DataFrame:
    """Return the users who have a value, with it and the hits that it is made of."""
    hits = joined.hits.down_to(values.measure.k)
    n_found = np.bincount(hits.user, minlength=hits.n_users)
    users = pl.DataFrame(
        {
            "user": values.users,
            "value": values.matrix[:, 0],
            "n_relevant": hits.n_relevant,
            "n_found": n_found,
            "n_missed": hits.n_relevant - n_found,
        }
    )
    is_cost = values.measure.metric.better == "low"
    return users.filter(pl.col("value").is_not_nan()).sort(
        ["value", "n_relevant"], descending=[is_cost, True], maintain_order=True
    )


def _first_and_missing(joined: Joined, users: pl.Series, k: int | None) -> pl.DataFrame:
    """Return the item on top of each list, and the most relevant one missed down to k."""
    lists = joined.rows.lists_of(users).sort("rank", maintain_order=True)
    if k is not None:
        lists = lists.filter(pl.col("rank") <= k)
    truth = joined.rows.truth_of(users)
    truth = truth.sort("relevance", descending=True, maintain_order=True)
    missed = truth.join(lists, on=["user", "item"], how="anti", maintain_order="left")
    first = lists.group_by("user").agg(first=pl.col("item").first())
    missing = missed.group_by("user").agg(missing=pl.col("item").first())
    rows = users.to_frame("user")
    rows = rows.join(first, on="user", how="left", maintain_order="left")
    return rows.join(missing, on="user", how="left", maintain_order="left")


def _with_texts(data: EvaluationData, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the texts of queries, and with items by their titles."""
    items = [*rows["first"].drop_nulls(), *rows["missing"].drop_nulls()]
    titles = data.item_titles(items)
    if titles:
        shown = pl.col("first", "missing").cast(pl.String)
        named = {str(item): title for item, title in titles.items()}
        rows = rows.with_columns(shown.replace(named))
    users = rows["user"].to_list()
    texts = data.user_texts(users)
    if texts:
        of_users = pl.Series("text", [texts.get(user, "") for user in users])
        rows = rows.insert_column(rows.columns.index("first"), of_users)
    return rows


def _others_in_words(users: pl.DataFrame, worst: pl.DataFrame) -> list[str]:
    """Say how many other users have the value of the last row, if some have."""
    last = worst["value"].last()
    n_others = len(users.filter(value=last)) - len(worst.filter(value=last))
    if not n_others:
        return []
    return [
        ngettext(
            "{n:,} more user has the value of the last row",
            "{n:,} more users have the value of the last row",
            n_others,
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
