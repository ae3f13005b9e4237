"""Models beside each other: means, paired differences and tests of all users or within
segments, and how alike lists are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.display.text import one_line
from recnb.errors import FrameError, quoted
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Given, Metric
from recnb.report.conclusions import POWER, Difference
from recnb.report.data import SAME, Mean, Pairs
from recnb.results.arguments import Asked
from recnb.results.evaluation_data import EvaluationData, Models, values_of
from recnb.results.segments import (
    Segments,
    part_in_words,
    parts_of,
    rows_naming_segments,
    segments_of,
    unlisted,
)
from recnb.stats import Moments, Settings, detectable, holm, paired

#: Differences of users that are tested at once: so few that the processor's cache holds
#: them.
CELLS = 2**18

#: The values of a segment in each of its columns; () is all users.
Key = tuple[Any, ...]


class PairedValues(NamedTuple):
    """One metric at one cut-off: the values of the users who have one in every model."""

    metric: Metric[...]
    k: int | None
    users: pl.Series
    values: Floats  #: users × models
    weights: Floats | None  #: of the users; None: all count the same


class Compared(NamedTuple):
    """Means and differences, each with the segment it is of."""

    means: list[tuple[Key, Mean]]
    differences: list[tuple[Key, Difference]]
    labels: Sequence[str] = ()  #: what segments are defined by
    parts: str = ""  #: that each segment is a truth of its own, in words


def paired_values(
    models: Models, metric: Metric[...], k: Cutoffs, options: Given
) -> list[PairedValues]:
    """Compute a metric of every model; return the values of the users in common, for
    each cut-off.
    """
    if metric.needs:
        check_side_data(models)
    cutoffs = metric.cutoffs(k)
    sides = [values_of(model, metric, cutoffs, options) for model in models.values()]
    users = users_in_common([side.users for side in sides])
    # Users are sorted on every side, so those in common come in one order.
    weights = next(iter(models.values())).source.weight_of(users)
    kept = [side.matrix[side.users.is_in(users.implode()).to_numpy()] for side in sides]
    blocks = []
    for at, cutoff in enumerate(cutoffs):
        # The values of a model lie together, so that a sum does not depend on what was
        # computed with it.
        values = np.stack([matrix[:, at] for matrix in kept])
        known = ~np.isnan(values).any(axis=0)
        values = np.compress(known, values, axis=1).T
        own = None if weights is None else weights[known]
        found = sides[0].metric.bounded(options)
        blocks.append(
            PairedValues(found, cutoff, users.filter(pl.Series(known)), values, own)
        )
    return blocks


def compared(
    models: Models,
    asked: Sequence[Asked],
    k: Cutoffs,
    pairs: Pairs,
    settings: Settings,
    by: Any = None,
    bins: int = 4,
    *,
    apart: bool = False,
) -> Compared:
    """Compare models over all users or in segments; `apart`: or, without tests, by each
    value that is a truth of its own.
    """
    by, first, found = unlisted(by), next(iter(models.values())), Compared([], [])
    if by is not None:
        check_segments(models, by)
    parts = [
        parts_of(model, by, bins)
        for model in models.values()
        if apart and by is not None
    ]
    if not parts or None in parts:
        segments = None if by is None else segments_of(first, by, bins)
        blocks = (
            block
            for _, metric, own in asked
            for block in paired_values(models, metric, k, own)
        )
        return measure(
            blocks, list(models), pairs, settings, segments, first.joined.users
        )
    for of_value in zip(*filter(None, parts), strict=True):
        key, here = (
            of_value[0][:1],
            dict(zip(models, (part for _value, part in of_value), strict=True)),
        )
        for _name, metric, own in (
            asked if all(part.n_users for part in here.values()) else ()
        ):
            for block in paired_values(here, metric, k, own):
                about, n = (metric.name, metric.symbol, block.k), len(block.values)
                found.means.extend(
                    (key, mean)
                    for mean in means_of(block, [*models], settings.confidence)
                )
                found.differences.extend(
                    (key, Difference(*about, *pair, n_users=n, better=metric.better))
                    for pair in pairs
                )
    return found._replace(labels=[by], parts=part_in_words(first, one_line(by)))


def plain_means(
    models: Models, asked: Sequence[tuple[Metric[...], Given]], k: Cutoffs
) -> str:
    """Return the means of the first metric without propensities beside those with them,
    and by which metrics the order of the models is another.
    """
    if not all(model.source.weighted for model in models.values()):
        return ""
    sentences, same = list[str](), list[str]()
    for metric, options in asked:
        cutoff = metric.cutoffs(k).values[-1]
        label = metric.label(cutoff)
        weighted, plain = _with_and_without(models, metric, cutoff, options)
        if not sentences:
            each = ", ".join(
                f"{one_line(name)} {plain[name]:.4f} ({weighted[name]:.4f})".strip()
                for name in models
            )
            said = N_("{label} without propensities (with them): {values}.")
            sentences.append(_(said, label=label, values=each))
        order, other = _in_order(weighted, plain), _in_order(plain, weighted)
        if order == other:
            same.append(label)
            continue
        said = N_(
            "By {label} the order of the models is another without them: {models}."
        )
        names = ", ".join(map(one_line, other))
        sentences.append(_(said, label=label, models=names))
    if same and len(models) > 1:
        said = N_("By {labels} the order of the models is the same.")
        sentences.append(_(said, labels=", ".join(same)))
    return " ".join(sentences)


def _in_order(means: Mapping[str, float], others: Mapping[str, float]) -> list[str]:
    """Return models by their means, and where these are the same but for rounding by
    the other ones, so that two orders differ where a pair of models changes places.
    """
    settled = {name: float(f"{mean:.12g}") for name, mean in means.items()}
    then = {name: float(f"{mean:.12g}") for name, mean in others.items()}
    return sorted(settled, key=lambda name: (-settled[name], -then[name]))


def _with_and_without(
    models: Models, metric: Metric[...], k: int | None, options: Given
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the means of models with their propensities and without them."""
    weighted, plain = dict[str, float](), dict[str, float]()
    for name, model in models.items():
        for means, data in ((weighted, model), (plain, model.unweighted)):
            values = values_of(data, metric, Cutoffs.of(k), options)
            means[name] = float(values.mean[-1])
    return weighted, plain


def users_in_common(users_of_each: Sequence[pl.Series]) -> pl.Series:
    """Return the users of all models, in the order that the first has them."""
    users, *others = users_of_each
    for other in others:
        if not users.equals(other):
            users = users.filter(users.is_in(other.implode()))
    return users


def check_side_data(models: Models) -> None:
    """Refuse metrics of side data that are not the same for all models."""
    (first, ours), *others = models.items()
    for role, (name, theirs) in product(("train", "items"), others):
        frame, other = getattr(ours.side_data, role), getattr(theirs.side_data, role)
        if not (
            frame is None or other is None or frame is other or same_rows(frame, other)
        ):
            problem = (
                f"{first!r} and {name!r} have different {role}=, of which this metric "
                f"is made, so the difference would be "
            )
            fix = (
                f"that of {role}=: give compare() one {role}= and frames of "
                f"recommendations, or evaluate both with the same."
            )
            raise FrameError(problem, fix)


def check_segments(models: Models, by: Any) -> None:
    """Refuse segments by a column that has not the same values for all models: each
    would be judged in segments of its own.
    """
    (first, ours), *others = models.items()
    columns = by if isinstance(by, list) else [by]
    for column, (name, theirs) in product(columns, others):
        if not isinstance(column, str):
            continue
        one = rows_naming_segments(ours, column)
        other = rows_naming_segments(theirs, column)
        if one is None or other is None or one.equals(other) or same_rows(one, other):
            continue
        raise FrameError(
            f"by={quoted(column)} is not the same column in {first!r} and {name!r}, so "
            f"their segments are not the same.",
            fix="Give compare() frames of recommendations, and one truth, users= and "
            "items= for all.",
        )


def same_rows(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Return whether two tables have the same rows, in whatever order."""
    left, right = (np.sort(table.hash_rows().to_numpy()) for table in (one, other))
    return one.columns == other.columns and np.array_equal(left, right)


def measure(
    blocks: Iterable[PairedValues],
    names: Sequence[str],
    pairs: Pairs,
    settings: Settings,
    segments: Segments | None = None,
    evaluated: pl.Series | None = None,
) -> Compared:
    """Measure every mean and every difference of all users, or of the users evaluated
    in each segment.

    p-values are corrected over all differences or within each metric, those of means
    against the best also within each segment. A mean is near the best if its difference
    from it is none that is found; only a pair that is not among `pairs` has a test of
    its own for that.
    """
    means, made = dict[Key, list[tuple[Mean, float]]](), dict[Key, list[Difference]]()
    if settings.test == "randomization":
        blocks = list(blocks)
        metrics = [block.metric.name for block in blocks]
        n_columns = (
            len(blocks)
            if settings.correction == "all"
            else max(map(metrics.count, metrics))
        )
        n_segments = 1 if segments is None else len(segments.keys)
        settings = settings.of_tests(
            n_columns * n_segments * max(len(pairs), len(names))
        )
    for block in steps(blocks, _("comparing")):
        for key, part in _by_segment(block, segments, evaluated):
            of_part = means_of(part, names, settings.confidence)
            means.setdefault(key, []).extend(
                zip(of_part, _against_best(part, of_part, pairs, settings), strict=True)
            )
            made.setdefault(key, []).extend(
                _differences(part, names, pairs, settings) if pairs else []
            )
    tested = [(key, difference) for key in means for difference in made[key]]
    p, metrics = [one.p for _key, one in tested], [one.metric for _key, one in tested]
    corrected = _corrected(p, metrics, settings).tolist()
    differences = [
        (key, replace(one, p_holm=p))
        for (key, one), p in zip(tested, corrected, strict=True)
    ]
    within: dict[Key, list[Difference]] = {key: [] for key in means}
    for key, row in differences:
        within[key].append(row)
    marked = list[tuple[Key, Mean]]()
    for key, rows in means.items():
        column = _with_near_best(rows, within[key], len(names), settings)
        marked.extend((key, mean) for mean in column)
    return Compared(marked, differences, segments.labels if segments else ())


def _with_near_best(
    rows: Sequence[tuple[Mean, float]],
    differences: Sequence[Difference],
    n_models: int,
    settings: Settings,
) -> Iterator[Mean]:
    """Mark the means that are not shown to differ from the best of their column: by the
    verdict of the pair, or by the p-value beside the mean where the pair is not tested.
    """
    p_holm = _corrected(
        [p for _mean, p in rows], [mean.metric for mean, _p in rows], settings
    )
    found = {
        (row.metric, row.k, row.model, row.baseline)
        for row in differences
        if row.is_found
    }
    for start in range(0, len(rows), n_models):
        column = [mean for mean, _p in rows[start : start + n_models]]
        best = _best_of(column)
        for at, mean in enumerate(column, start):
            about = mean.metric, mean.k
            is_apart = best is None or bool(p_holm[at] <= settings.alpha)
            if best is not None:
                is_apart |= not found.isdisjoint(
                    {
                        (*about, mean.model, best.model),
                        (*about, best.model, mean.model),
                    }
                )
            is_near = not (mean.best or is_apart or mean.n_users == 0)
            yield replace(mean, near_best=is_near)


def _best_of(column: Sequence[Mean]) -> Mean | None:
    """Return the best of the means of a column, of equal ones the first; None where
    none is called that.
    """
    return next((mean for mean in column if mean.best), None)


def _corrected(
    p: Sequence[float], metrics: Sequence[str], settings: Settings
) -> Floats:
    """Correct p-values by Holm's method, over all of them or over those of each
    metric.
    """
    values, metric = (
        np.array(p),
        np.array(metrics if settings.correction == "metric" else [""] * len(p)),
    )
    corrected = np.empty(len(values))
    for one in np.unique(metric):
        corrected[metric == one] = holm(values[metric == one])
    return corrected


def _by_segment(
    block: PairedValues, segments: Segments | None, evaluated: pl.Series | None
) -> Iterator[tuple[Key, PairedValues]]:
    """Return the values of all users, or of those of each segment that has any; one who
    is not evaluated is in none.
    """
    if segments is None or evaluated is None:
        yield (), block
        return
    code = np.where(
        block.users.is_in(evaluated.implode()).to_numpy(), segments.of(block.users), -1
    )
    for at in np.unique(code[code >= 0]).tolist():
        values = np.compress(code == at, block.values.T, axis=1).T
        weights = None if block.weights is None else block.weights[code == at]
        yield segments.keys[at], block._replace(values=values, weights=weights)


def means_of(
    block: PairedValues, names: Sequence[str], confidence: float
) -> list[Mean]:
    """Return the mean of every model with its interval, the best of several marked."""
    metric, moments = (
        block.metric,
        Moments.of(block.values, block.metric.bounds, block.weights),
    )
    mean = moments.mean if moments.n else np.full(len(names), nan)
    # Where neither more nor less is better, none is the best.
    of_several = metric.better is not None and len(names) > 1
    ordered = metric.sign * mean
    best = np.full(len(names), of_several) & (ordered >= ordered.max() - SAME)
    if best.all():  # all are the same, and none is the best
        best[:] = False
    columns = (each.tolist() for each in (mean, *moments.interval(confidence), best))
    rows, n = zip(names, *columns, strict=True), len(block.values)
    about = metric.name, metric.symbol, block.k
    return [
        Mean(name, *about, at, low, high, n, is_best)
        for name, at, low, high, is_best in rows
    ]


def _against_best(
    block: PairedValues, means: Sequence[Mean], pairs: Pairs, settings: Settings
) -> list[float]:
    """Return the p-value of each model against the best; NaN for those that are, and
    for those whose difference from it is tested as a pair.
    """
    p, best = [nan] * len(means), _best_of(means)
    if best is None:
        return p
    tested = {*pairs, *((baseline, model) for model, baseline in pairs)}
    others = [
        at
        for at, mean in enumerate(means)
        if not (mean.best or (mean.model, best.model) in tested)
    ]
    if others:
        behind = block.values[:, [means.index(best)]] - block.values[:, others]
        found = paired(behind, settings, weights=block.weights).p
        for at, of_other in zip(others, found.tolist(), strict=True):
            p[at] = of_other
    return p


def _differences(
    block: PairedValues, names: Sequence[str], pairs: Pairs, settings: Settings
) -> Iterator[Difference]:
    """Test each pair of models, so many at a time as are fast; all at once where they
    share the signs that are drawn.
    """
    at_once = max(1, CELLS // max(len(block.values), 1))
    if settings.test == "randomization":
        at_once = len(pairs)
    for start in range(0, len(pairs), at_once):
        yield from _tested(block, names, pairs[start : start + at_once], settings)


def _tested(
    block: PairedValues, names: Sequence[str], pairs: Pairs, settings: Settings
) -> Iterator[Difference]:
    """Test pairs of models; where less is better, a user is won by the lower value."""
    (lowest, highest), values = block.metric.bounds, block.values
    apart = [
        values[:, names.index(model)] - values[:, names.index(baseline)]
        for model, baseline in pairs
    ]
    tests = paired(
        np.stack(apart, axis=1),
        settings,
        (lowest - highest, highest - lowest),
        block.weights,
    )
    if block.metric.better == "low":
        tests = tests._replace(won=tests.lost, lost=tests.won)
    columns = ("low", "high", "p", "effect_size", "won", "tied", "lost")
    for at, (model, baseline) in enumerate(pairs):
        # If few users differ, how far others would differ cannot be estimated.
        sd, n = float(tests.sd[at]), tests.n_effective
        smallest = (
            nan
            if isnan(tests.p[at])
            else detectable(sd, n, POWER, settings.alpha) + tests.reach[at].item()
        )
        about = (
            block.metric.name,
            block.metric.symbol,
            block.k,
            model,
            baseline,
            float(tests.mean[at]),
        )
        numbers = {name: getattr(tests, name)[at].item() for name in columns}
        yield Difference(
            *about,
            **numbers,
            detectable=smallest,
            alpha=settings.alpha,
            n_users=tests.n,
            better=block.metric.better,
        )


def overlaps(models: Models, k: int | None) -> list[dict[str, Any]]:
    """Compare the lists of each two models, over the users with a list from either of
    them.
    """
    lists, found = {name: _lists(model, k) for name, model in models.items()}, []
    in_both = pl.col("rank").is_not_null() & pl.col("rank_right").is_not_null()
    of_user = {
        "shared": in_both.sum(),
        "either": pl.len(),
        "in_place": (pl.col("rank") == pl.col("rank_right")).sum(),
    }
    for model, other in steps(list(combinations(models, 2)), _("comparing")):
        rows = lists[model].join(
            lists[other], on=["user", "item"], how="full", coalesce=True
        )
        users = rows.group_by("user").agg(**of_user).sort("user")
        shares = (users["shared"] / users["either"]).to_numpy()
        found.append(
            {
                "model": model,
                "other": other,
                "k": k,
                "jaccard": float(shares.mean()) if len(shares) else float("nan"),
                "n_users": len(shares),
                "n_identical": int((users["in_place"] == users["either"]).sum()),
            }
        )
    return found


def _lists(model: EvaluationData, k: int | None) -> pl.DataFrame:
    """Return the rows down to k of the users evaluated: user, item once, and rank
    without gaps.
    """
    joined = model.joined
    recs = joined.recs if k is None else joined.recs.filter(pl.col("rank") <= k)
    kept = recs.select("user", "item", "rank").filter(
        pl.col("user").is_in(joined.users.implode())
    )
    rows = kept.sort("user", "rank", maintain_order=True)
    if joined.convention.duplicates not in ("error", "dedupe"):
        rows = rows.unique(["user", "item"], keep="first", maintain_order=True)
    return rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("user"))
