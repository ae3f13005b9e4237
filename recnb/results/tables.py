"""What makes a `Table`: metrics at cut-offs, segments, curves, one user's list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import polars as pl

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_several, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import plain_text, symbol_of
from recnb.metrics.metric import Given
from recnb.results import views
from recnb.results.arguments import (
    Asked,
    Metrics,
    asked_of,
    measure_of_curve,
    refuse_whole_metrics,
    with_options,
)
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import Bases, Numbers, measured
from recnb.results.segments import PartsOfSplit, division_by, part_in_words
from recnb.results.table import Shown, Table, WordedLater
from recnb.results.user_lists import UserList, each_once
from recnb.results.values import (
    merged,
    pairs_in_words,
    taken_as_known,
    weights_in_words,
)
from recnb.stats import Settings

#: What stands below a table of segments.
GAPS = N_(
    "by {by}: {confidence}% intervals, not corrected for the number of "
    "comparisons; gap to all other users "
    "by the more careful of Welch's t and Student's, p corrected by Holm over the "
    "segments of each column"
)
#: The same where no gap is tested.
WITHOUT_TESTS = N_(
    "by {by}: {confidence}% intervals, not corrected for the number of comparisons"
)


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
    have_cutoffs = any(each.measure.k is not None for each in asked)
    if have_cutoffs:
        asked = _in_one_column(asked, cutoffs)
    settings = Settings(confidence)
    numbers = measured({"": data}, asked, cutoffs, settings=settings)
    frame = views.by_cutoff(numbers, cutoffs, intervals=intervals)
    if have_cutoffs:
        frame.columns = pd.Index(["mean", "low", "high"] if intervals else ["mean"])
    bases = numbers.bases

    def words() -> list[str]:
        phrases = phrases_of(bases)
        if intervals:
            phrases += intervals_in_words(data, confidence)
        return phrases

    shown = Shown(basis=WordedLater(words), attrs={"n_users": data.n_users})
    return Table(frame, shown=shown)


def _in_one_column(asked: Sequence[Asked], cutoffs: Cutoffs) -> list[Asked]:
    """Return metrics of which some have cut-offs: the name of each says its own."""
    if len(cutoffs) > 1:
        name = next(each.name for each in asked if each.measure.k is not None)
        raise OptionError(
            f"{name!r} has its cut-off, and k={quoted(list(cutoffs))} has columns for "
            "others: give each name its own cut-off, or none."
        )
    (k,) = cutoffs.values
    named = []
    for each in asked:
        if each.measure.k is None and k is not None:
            each = each._replace(name=f"{each.name}@{k}")
        named.append(each)
    return named


def intervals_of(confidence: float) -> str:
    """Return the phrase of intervals below a table."""
    return _("{confidence}% intervals", confidence=f"{100 * confidence:g}")


def intervals_in_words(data: EvaluationData, confidence: float) -> list[str]:
    """Return the phrases of intervals: what they are clustered by, and do not cover."""
    return [
        intervals_of(confidence),
        *data.clustering_in_words,
        *taken_as_known(data.source.weighted),
    ]


def phrases_of(bases: Bases, *of_each: str) -> list[str]:
    """Return the phrases below the numbers of one model; `of_each`: of every metric."""
    phrases = {}
    for name, (basis,) in bases.items():
        phrases[symbol_of(name)] = [*basis.phrases(brief=True), *of_each]
    return merged(phrases)


def table_by(
    data: EvaluationData,
    metrics: Metrics,
    k: object,
    options: Given,
    *,
    by: Any,
    confidence: float = 0.95,
) -> Table:
    """Return each metric at each cut-off in each segment.

    A row has its mean with the interval, and the gap to all other users.
    """
    asked = asked_of(data, metrics, options)
    cutoffs = Cutoffs.of(k)
    division = division_by({"": data}, by)
    if not isinstance(division, PartsOfSplit):
        refuse_whole_metrics(asked)
    settings = Settings(confidence)
    numbers = measured({"": data}, asked, cutoffs, division=division, settings=settings)
    by_in_words = ", ".join(division.labels)
    label = one_line(by_in_words)
    shown = Shown(
        title=_("By {by}", by=label),
        basis=_basis_of_segments(data, numbers, label),
        attrs={
            "n_users": data.n_users,
            "by": by_in_words,
            "n_tests": numbers.n_tests,
        },
        plot="segments",
        by=by_in_words,
    )
    return Table(views.by_segment(numbers), shown=shown)


def _basis_of_segments(data: EvaluationData, numbers: Numbers, label: str) -> list[str]:
    """Return the phrases below a table of segments."""
    bases = numbers.bases
    if numbers.division.has_gaps:
        confidence = f"{100 * numbers.settings.confidence:g}"
        words = GAPS if numbers.n_tests else WITHOUT_TESTS
        return [*phrases_of(bases), _(words, by=label, confidence=confidence)]
    weights = [
        *weights_in_words(data.joined.user_weight, of_lists=bool(data.keys.columns)),
        *pairs_in_words(data.joined.weighting),
    ]
    return [*phrases_of(bases, *weights), part_in_words(data, numbers.division)]


def lack_in_words(metric: str, problem: RecnbError) -> str:
    """Say what a metric lacks: the message of an error without the metric's name."""
    return _(str(problem).removeprefix(metric).lstrip(": "))


def measures_of(
    data: EvaluationData, names: Any, options: Given, *, confidence: float
) -> Table:
    """Return a row per measure, each at its own cut-off.

    It has the mean, the ends of its interval and the number of users.
    """
    if isinstance(names, Mapping):
        raise OptionError(
            "names is a mapping, and a measure has its options in its name: give a list, "
            "such as names=[\"nDCG(dcg='exp-log2')@10\"], or use table."
        )
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
    bases = numbers.bases

    def words() -> list[str]:
        return [*phrases_of(bases), intervals_of(confidence)]

    return Table(views.by_measure(numbers), shown=Shown(basis=WordedLater(words)))


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
    settings = Settings(confidence)
    numbers = measured({"": data}, [asked], cutoffs, settings=settings)
    (basis,) = numbers.bases[chosen.name]
    sample, of_users = numbers.places[-1].sample, chosen.metric.of != "all"
    of_curve = sample.n_units, sample.n_lists, sample.cluster

    def words() -> list[str]:
        return [*basis.phrases(), intervals_of(confidence)]

    shown = Shown(
        basis=WordedLater(words),
        attrs={"n_users": sample.n_units if of_users else None},
        headings={chosen.name: f"{chosen.symbol}@k"},
        plot="curve",
        symbol=chosen.symbol,
        sample=of_curve if of_users else None,
    )
    return Table(views.curve(numbers, chosen.name), shown=shown)


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
    who = one_line(data.keys.in_words(user))
    if text := data.user_texts([user]).get(user):
        who = f"{who} ({one_line(text, 120)})"
    title = _("user {user}: {found}", user=who, found=found)
    if cutoff is not None:
        title = f"{title}, {_('list cut at {k}', k=cutoff)}"
    headings = {
        "rank": _("rank"),
        "item": _("item"),
        "title": _("title"),
        "score": _("score"),
        "relevance": _("relevance"),
        "hit": _("hit"),
    }
    shown = Shown(
        title=_("relevant, and not among them"),
        headings=headings,
        cells={"title": "text"},
        most=max(len(listed), len(missed)),
        plot="",
    )
    table_of_missed = Table(_titled(missed, titles), shown=shown)
    shown = replace(shown, title=title, basis=[data.basis], below=table_of_missed)
    table = Table(_titled(listed, titles), shown=shown)
    table.missed = table_of_missed
    return table


def _listed_and_missed(
    data: EvaluationData, position: int, cutoff: int | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the places of a user's list down to a cut-off, and what it misses.

    An item that is missed has its rank below the cut-off, or none.
    """
    rows = data.joined.rows.lists_of(data.joined.users[[position]]).sort("rank")
    of_user = UserList(
        each_once(data.hits(cutoff).of_user(position)),
        items=dict(rows.select("rank", "item").iter_rows()),
        truth=data.truth_of(position)["item"].to_list(),
        k=cutoff,
    )
    types: dict[str, Any] = {"rank": pl.Int64, "item": rows.schema["item"]}
    types |= {"hit": pl.Int64, "listed": pl.Int64}
    places = pl.DataFrame(of_user.places, types, orient="row")
    if "score" in rows.columns:
        scores = rows.select("score", listed=pl.col("rank").cast(pl.Int64))
        places = places.join(scores, on="listed", how="left", maintain_order="left")
    relevance = pl.Series([*of_user.hits.relevance, 0.0])  # the last is of no hit
    columns = [name for name in ("rank", "item", "score") if name in places.columns]
    listed = places.select(
        *columns, relevance=relevance[places["hit"]], hit=pl.col("hit") >= 0
    )
    types = {"item": types["item"], "relevance": pl.Float64, "rank": pl.Float64}
    return listed, pl.DataFrame(of_user.missed, types, orient="row")


def depth_in_words(k: int | None) -> str:
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
