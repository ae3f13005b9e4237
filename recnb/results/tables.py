"""What makes a `Table`: metrics at cut-offs, curves, items, one user's list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.data.ids import positions
from recnb.display.language import _, pgettext
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_several, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure, plain_text
from recnb.metrics.metric import LIST_METRICS, Given
from recnb.results.arguments import (
    Asked,
    Metrics,
    asked_of,
    measure_of_curve,
    with_options,
)
from recnb.results.columns import Column, metric_columns
from recnb.results.evaluation_data import EvaluationData
from recnb.results.measuring import measured, numbers_of
from recnb.results.numbers import Numbers
from recnb.results.scoring import recorded_in, users_with_lists_in_words
from recnb.results.table import Table
from recnb.results.values import merged, taken_as_known
from recnb.stats import Settings


def table_of(
    data: EvaluationData,
    metrics: Metrics,
    k: Any,
    options: Given,
    *,
    intervals: bool = False,
    confidence: float = 0.95,
) -> Table:
    """Return means over users, or the one number of all lists.

    One row per metric, one column per cut-off, or three with intervals.
    """
    cutoffs = Cutoffs.of(k)
    asked = asked_of(data, metrics, options, "k", "intervals", "confidence", "by")
    with_cutoff = next(
        (each.name for each in asked if each.measure.k is not None), None
    )
    if with_cutoff is not None and len(cutoffs) > 1:
        rest = " has columns for others: give each name its own cut-off, or none."
        raise OptionError(
            f"{with_cutoff!r} has its cut-off, and k={quoted(list(cutoffs))}{rest}"
        )
    if with_cutoff is not None and cutoffs.values[0] is not None:
        asked = [_with_cutoff(each, cutoffs.values[0]) for each in asked]
    settings = Settings(confidence)
    numbers = measured(
        {"": data}, asked, cutoffs, settings=settings, intervals=intervals
    )
    words = []
    if intervals:
        words = [intervals_of(confidence), *data.clustering_in_words]
        words += taken_as_known(data.source.weighted)
    table = wide_table(numbers, cutoffs, words, intervals=intervals)
    table.attrs["n_users"] = data.n_users
    if with_cutoff is not None:
        table.columns = pd.Index(["mean", "low", "high"] if intervals else ["mean"])
    return table


def _with_cutoff(asked: Asked, k: int) -> Asked:
    """Return a metric whose name says at which cut-off it is computed."""
    return asked if asked.measure.k else asked._replace(name=f"{asked.name}@{k}")


def wide_table(
    numbers: Numbers,
    cutoffs: Cutoffs,
    words: Sequence[str],
    *,
    intervals: bool = False,
) -> Table:
    """Return a table of metrics × cut-offs of one model.

    It is of means, or of means and the ends of their intervals.
    """
    # As objects, whole numbers stay whole beside a None.
    columns = pd.Index(
        list(cutoffs), dtype=object if None in cutoffs.values else None, name="k"
    )
    parts = [numbers.means.mean]
    if intervals:
        parts = [numbers.means.mean, numbers.means.low, numbers.means.high]
        columns = pd.MultiIndex.from_product(
            [list(columns), ["mean", "low", "high"]], names=["k", None]
        )
    cells = np.hstack(parts).reshape(len(numbers.bases), len(columns))
    phrases = _phrases_of(numbers)
    rows = pd.Index([*phrases], name="metric")
    return Table.made(pd.DataFrame(cells, rows, columns), [*merged(phrases), *words])


def intervals_of(confidence: float) -> str:
    """Return the phrase of intervals below a table."""
    return _("{confidence}% intervals", confidence=f"{100 * confidence:g}")


def _phrases_of(numbers: Numbers) -> dict[str, list[str]]:
    """Return the phrases below the numbers of one model, by metric."""
    return {name: bases[0].phrases(brief=True) for name, bases in numbers.bases.items()}


def lack_in_words(metric: str, problem: RecnbError) -> str:
    """Say what a metric lacks: the message of an error without the metric's name."""
    return _(str(problem).removeprefix(metric).lstrip(": "))


def beyond_table(data: EvaluationData, k: object) -> Table:
    """Return every metric beyond accuracy that the data allow, a row each.

    What the others need is said below.
    """
    cutoffs, recorded = Cutoffs.of(k), recorded_in(data.library)
    if not recorded:
        raise OptionError(
            f"{data.library} has no metric beyond accuracy that recnb has recorded."
        )
    columns = list[Column]()
    lacks: dict[str, list[str]] = {}  # what is missing, with the metrics that lack it
    for name in recorded:
        asked = Asked(name, Measure(LIST_METRICS[name]))
        lack = _(asked.metric.no_value)
        try:
            of_metric = list(metric_columns({"": data}, asked, cutoffs))
        except RecnbError as problem:
            lack = lack_in_words(name, problem)
        else:
            if not all(np.isnan(column.mean).all() for column in of_metric):
                columns += of_metric
                continue
        lacks.setdefault(lack.removesuffix("."), []).append(name)
    absent = [
        _("not here: {names} ({why})", names=", ".join(names), why=why)
        for why, names in lacks.items()
    ]
    return wide_table(numbers_of(columns, [""], intervals=False), cutoffs, absent)


def measures_of(
    data: EvaluationData, names: Any, options: Given, *, confidence: float
) -> Table:
    """Return a row per measure, each at its own cut-off.

    It has the mean, the ends of its interval and the number of users.
    """
    names = [plain_text(name) for name in (names if is_several(names) else [names])]
    if not names:
        raise OptionError(
            "no measure is named: give at least one, such as names=['nDCG@10']."
        )
    asked = [
        Asked(str(text), each.measure)
        for text, each in zip(names, asked_of(data, names, options), strict=True)
    ]
    settings = Settings(confidence)
    numbers = measured({"": data}, asked, Cutoffs.of(None), settings=settings)
    columns = {
        "mean": numbers.means.mean[:, 0],
        "low": numbers.means.low[:, 0],
        "high": numbers.means.high[:, 0],
        "users": [place.n_users for place in numbers.places],
    }
    rows = pd.Index([place.name for place in numbers.places], name="measure")
    words = intervals_of(confidence)
    return Table.made(
        pd.DataFrame(columns, rows), [*merged(_phrases_of(numbers)), words]
    )


def curve_of(
    data: EvaluationData,
    metric: Any,
    k: Any,
    options: Given,
    *,
    confidence: float = 0.95,
) -> Table:
    """Return a row per cut-off: a metric and the ends of its interval.

    These are NaN where it has none.
    """
    chosen, cutoffs = measure_of_curve(metric, k)
    asked = Asked(chosen.name, with_options(chosen, options))
    columns_of_curve = metric_columns({"": data}, asked, cutoffs)
    numbers = numbers_of(columns_of_curve, [""], settings=Settings(confidence))
    means = numbers.means
    columns = {
        chosen.name: means.mean[:, 0],
        "low": means.low[:, 0],
        "high": means.high[:, 0],
    }
    (basis,) = numbers.bases[chosen.name]
    table = Table.made(
        pd.DataFrame(columns, pd.Index([*cutoffs], name="k")),
        [*basis.phrases(), intervals_of(confidence)],
    )
    sample = numbers.places[-1]
    table.attrs |= {
        "drawn": "curve",
        "symbol": chosen.symbol,
        "n_users": None if chosen.metric.of == "all" else sample.n_users,
        "n_lists": sample.n_lists,
        "cluster": sample.cluster,
        "headings": {chosen.name: f"{chosen.symbol}@k"},
    }
    return table


def items_of(data: EvaluationData, k: object) -> Table:
    """Count how often each item is recommended and found, the most recommended first.

    Each item of frames, train and `items=` is there once.
    """
    (cutoff,) = Cutoffs.one(k).values
    items = data.item_data.items
    frame = pd.DataFrame(
        {**_shown_counts(data, cutoff), **_hit_counts(data, cutoff)},
        index=pd.Index(items.to_numpy(), name="item"),
    )
    titles = data.item_titles(items.to_list())
    if titles:
        frame.insert(0, "title", frame.index.map(titles).fillna(""))
    frame = frame.sort_values("shown", ascending=False, kind="stable")
    depth = _lists_in_words(cutoff)
    users = users_with_lists_in_words(data, data.item_data.users)
    of_lists = _("shown and share: {users}, {at}", users=users, at=depth)
    basis = [of_lists, f"{_('hits and relevant')}: {data.basis}"]
    table = Table.made(frame, basis, depth)
    headings = {
        "item": _("item"),
        "title": _("title"),
        "shown": pgettext("of an item", "shown"),
        "share": pgettext("of an item", "share"),
        "share_in_train": pgettext("of an item", "share_in_train"),
        "ratio": pgettext("of an item", "ratio"),
        "hits": pgettext("of an item", "hits"),
        "relevant": pgettext("of an item", "relevant"),
    }
    table.attrs |= {"drawn": "", "most": 20, "headings": headings}
    return table


def _shown_counts(data: EvaluationData, cutoff: int | None) -> dict[str, Any]:
    """Count how often each item is shown, beside its share of train if there is one."""
    lists = data.item_data.lists().upto(cutoff)
    shown = lists.times_shown
    share = shown / max(len(lists.item), 1)
    counts = {"shown": shown, "share": share}
    interactions = data.item_data.catalogue.interactions
    if interactions is None:
        return counts
    in_train = interactions / max(interactions.sum(), 1)
    ratio = np.full(len(share), np.nan)
    np.divide(share, in_train, out=ratio, where=in_train > 0)
    return {**counts, "share_in_train": in_train, "ratio": ratio}


def _hit_counts(data: EvaluationData, cutoff: int | None) -> dict[str, Any]:
    """Count the hits of each item, and the users to whom it is relevant."""
    n_items = len(data.item_data.items)
    lists = data.item_data.lists(evaluated=True).upto(cutoff)
    truth_item = positions(data.item_data.items, data.joined.truth["item"])
    # A user and an item are one number: a place is a hit if its pair is in the truth.
    pair = lists.user * n_items + lists.item
    truth_pair = data.joined.all_hits.truth_user * n_items + truth_item
    is_hit = np.isin(pair, truth_pair)
    return {
        "hits": np.bincount(lists.item[is_hit], minlength=n_items),
        "relevant": np.bincount(truth_item, minlength=n_items),
    }


def user_list_of(data: EvaluationData, user: Any, k: object) -> Table:
    """Return a row for each place of one user's list.

    `missed` has the other relevant items, with their ranks below k, else NaN.
    """
    (cutoff,) = Cutoffs.one(k).values
    position = data.position(user)
    listed, missed = _listed_and_missed(data, position, cutoff)
    titles = data.item_titles([*listed["item"].to_list(), *missed["item"].to_list()])
    n_hits = int(listed["hit"].sum())
    found = _(
        "found {n:,} of {relevant:,} relevant", n=n_hits, relevant=n_hits + len(missed)
    )
    who = one_line(data.keys.called(user))
    if text := data.user_texts([user]).get(user):
        who = f"{who} ({one_line(text, 120)})"
    title = _("user {user}: {found}", user=who, found=found)
    if cutoff is not None:
        title = f"{title}, {_('list cut at {k}', k=cutoff)}"
    table = Table.made(_titled(listed, titles), [data.basis], title)
    table.missed = Table.made(
        _titled(missed, titles), [], _("relevant, and not among them")
    )
    headings = {
        "rank": _("rank"),
        "item": _("item"),
        "title": _("title"),
        "score": _("score"),
        "relevance": _("relevance"),
        "hit": _("hit"),
    }
    most = max(len(listed), len(missed))
    for part in (table, table.missed):
        part.attrs |= {"drawn": "", "most": most, "headings": headings}
    return table


def _listed_and_missed(
    data: EvaluationData, position: int, cutoff: int | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the places of a user's list down to a cut-off, and what it misses.

    An item that is missed has its rank below the cut-off, or none.
    """
    rows = data.joined.lists_of(data.joined.users[[position]])
    rows = rows.sort("rank", maintain_order=True)
    columns = [name for name in ("rank", "item", "score") if name in rows.columns]
    truth = data.truth_of(position)
    places = rows.select(columns).join(
        truth, on="item", how="left", maintain_order="left"
    )
    inside = places if cutoff is None else places.filter(pl.col("rank") <= cutoff)
    listed = inside.with_columns(
        pl.col("relevance").fill_null(0), hit=pl.col("relevance").is_not_null()
    )
    ranks = places.select("item", pl.col("rank").cast(pl.Float64))
    missed = truth.join(inside, on="item", how="anti", maintain_order="left")
    missed = missed.join(ranks, on="item", how="left", maintain_order="left")
    return listed, missed.sort("relevance", descending=True, maintain_order=True)


def _lists_in_words(k: int | None) -> str:
    """Say how deep lists are read."""
    if k is None:
        return _("whole lists")
    return _("lists cut at {k}", k=k)


def _titled(rows: pl.DataFrame, titles: dict[Any, str]) -> pd.DataFrame:
    frame = rows.to_pandas()
    if titles:
        frame.insert(
            rows.columns.index("item") + 1,
            "title",
            frame["item"].map(titles).fillna(""),
        )
    return frame
