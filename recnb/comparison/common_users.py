"""Which users all models are judged on, and the models' values for them, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.results import ModelUsers
from recnb.conventions import Convention, presets
from recnb.data import Prepared, validation
from recnb.data.encoding import distinct
from recnb.data.join import InMemoryRows
from recnb.data.relevance import is_relevant
from recnb.data.subset import among
from recnb.display.language import Plural, Sentence
from recnb.errors import FrameError, NoUsersError, OptionError
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import PerUser
from recnb.results.beyond_accuracy import result_of
from recnb.results.evaluation_data import EvaluationData

#: Whom models are compared on.
COMMON_USERS = Plural(
    "compared on the {n:,} user that all {models} models are judged on",
    "compared on the {n:,} users that all {models} models are judged on",
)


#: How a list is put in order follows from the column it came with; it changes nobody's list.
FREE = ("order", "metric")


def one_convention(models: Mapping[str, EvaluationData]) -> None:
    """Refuse models that were judged in different ways: the difference would be that of the ways."""
    first, *others = models
    library, mine = models[first].library, models[first].convention
    for name in others:
        if models[name].library != library:
            left, right = (f"as {one}" if one else "as recnb" for one in (library, models[name].library))
            raise OptionError(
                f"{first!r} is evaluated {left} and {name!r} {right}, so their numbers cannot be compared: evaluate both with the same convention=."
            )
        theirs = models[name].convention
        for one in fields(Convention):
            left, right = getattr(mine, one.name), getattr(theirs, one.name)
            if one.name not in FREE and left != right:
                raise OptionError(
                    f"{first!r} and {name!r} are evaluated under different conventions: {one.name}={left!r} and {one.name}={right!r}. "
                    f"Evaluate both with the same {one.name}=, or give frames and let compare() evaluate them."
                )
    if mine.average != "user":
        raise OptionError(
            f"average={mine.average!r} is no mean over users, so users cannot be compared one by one: leave average='user'."
        )


def one_truth(models: Mapping[str, EvaluationData]) -> None:
    """Refuse models that were judged against different relevant items."""
    first, *others = models
    mine = _judged(models[first].prepared)
    for name in others:
        theirs = _judged(models[name].prepared)
        if mine is theirs:
            continue
        for role in ("user", "item"):
            if validation.kind(mine[role].dtype) != validation.kind(theirs[role].dtype):
                raise FrameError(
                    f"the {role} ids of {first!r} are {validation.kind(mine[role].dtype)}, those of {name!r} {validation.kind(theirs[role].dtype)}: "
                    "make them one kind, .astype(str)."
                )
        if mine.height == theirs.height and np.array_equal(_fingerprint(mine), _fingerprint(theirs)):
            continue
        only = mine.join(theirs, on=mine.columns, how="anti")
        whose, example = (first, only) if only.height else (name, theirs.join(mine, on=mine.columns, how="anti"))
        user, item, relevance = example.row(0)
        raise FrameError(
            f"{first!r} and {name!r} are judged against different relevant items ({mine.height:,} and {theirs.height:,}): only "
            f"{whose!r} has user {user!r}, item {item!r}, relevance {relevance:g}. Give compare() frames of recommendations and one truth."
        )


def one_beside(models: Mapping[str, EvaluationData]) -> None:
    """Refuse metrics of what is known of items where that is not the same for all models."""
    first, *others = models
    for what in ("train", "items"):
        mine = getattr(models[first].side_data, what)
        for name in others:
            theirs = getattr(models[name].side_data, what)
            if mine is None or theirs is None or mine is theirs:
                continue
            if mine.schema != theirs.schema or not np.array_equal(_fingerprint(mine), _fingerprint(theirs)):
                raise FrameError(
                    f"{first!r} and {name!r} have different {what}=, of which this metric is made, so the difference would be that of "
                    f"{what}=: give compare() one {what}= and frames of recommendations, or evaluate both with the same."
                )


def _judged(prepared: Prepared) -> pl.DataFrame:
    """What must be the same: the relevant rows, and all judged ones where those enter the ranking."""
    judged = prepared.judged.select("user", "item", "relevance")
    return judged if prepared.convention.candidates != "list" else judged.filter(is_relevant(prepared.convention))


def _fingerprint(table: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.sort(table.hash_rows().to_numpy())


def one_catalogue(models: Mapping[str, EvaluationData]) -> Mapping[str, EvaluationData]:
    """The models with every item of any of them below their lists, where the convention ranks the catalogue there."""
    first = next(iter(models.values()))
    ways = (
        [first.convention] if first.library is None else [one.convention for one in presets.of_library(first.library)]
    )
    sources = [one.prepared.source for one in models.values()]
    held = [one for one in sources if one is not None and isinstance(one.rows, InMemoryRows)]
    if len(held) < len(models) or not any(one.candidates == "catalogue" for one in ways):
        return models
    items = distinct(pl.concat([one.items for one in held]))
    shared = [replace(one, catalogue=items, _known={}) for one in held]
    return {
        name: one.restricted(source.under(one.convention))
        for (name, one), source in zip(models.items(), shared, strict=True)
    }


def common(models: Mapping[str, EvaluationData]) -> tuple[dict[str, EvaluationData], tuple[ModelUsers, ...]]:
    """The models, each for the users that all of them are judged on; and how many that left out."""
    sides = {name: one.prepared.users for name, one in models.items()}
    users, *others = sides.values()
    for theirs in others:
        if not users.equals(theirs):
            users = users.filter(users.is_in(theirs.implode()))
    if len(users) == 0:
        counts = ", ".join(f"{name!r} {len(one):,} (such as {one[0]!r})" for name, one in sides.items())
        raise NoUsersError(f"no user is judged in every model: {counts}. Check that all lists are of the same users.")
    note = Sentence(COMMON_USERS, {"n": len(users), "models": len(models)})
    kept = {
        name: one if len(sides[name]) == len(users) else one.restricted(among(one.prepared, users, note))
        for name, one in models.items()
    }
    judged = tuple(
        ModelUsers(name, len(sides[name]), len(sides[name]) - len(users), kept[name].counts.n_without_list)
        for name in models
    )
    return kept, judged


def values(
    models: Mapping[str, EvaluationData], metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
) -> list[Floats]:
    """For each cut-off users × models: every user who has a value in all of the models."""
    if not metric.is_accuracy:
        return [_of_lists(models, metric, k, options) for k in cutoffs]
    if any(one.library for one in models.values()):
        return [_of_libraries(models, metric, k, options) for k in cutoffs]
    # Models last, and each cut-off by itself: a column of differences then lies together.
    stacked = np.stack([one.values(metric, cutoffs, options) for one in models.values()])
    found = []
    for at in range(len(cutoffs)):
        block = stacked[:, :, at]
        there = ~np.isnan(block).any(axis=0)
        found.append(block.T if there.all() else block[:, there].T)
    return found


def _of_lists(
    models: Mapping[str, EvaluationData], metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Floats:
    """Of metrics beyond accuracy: the users to whom every model gives a list with a value, judged or not."""
    if metric.needs:
        one_beside(models)
    everyone: pl.Series | None = None
    sides: list[tuple[pl.Series, Floats]] = []
    for one in models.values():
        there = result_of(one, metric, k, options)
        if there.average != "user":
            raise OptionError(
                f"{one.library} averages {metric.name} over rows and not over users, so users cannot be compared one by one: "
                "leave convention= out."
            )
        result = there.result
        assert isinstance(result, PerUser)
        users = there.users.filter(pl.Series(result.counted, dtype=pl.Boolean))
        sides.append((users, result.value[result.counted]))
        everyone = users if everyone is None else everyone.filter(everyone.is_in(users.implode()))
    assert everyone is not None
    # Users are sorted on every side, so those in common come in one order.
    return np.stack([value[users.is_in(everyone.implode()).to_numpy()] for users, value in sides], axis=1)


def _of_libraries(
    models: Mapping[str, EvaluationData], metric: Metric[...], k: int | None, options: Mapping[str, Any]
) -> Floats:
    """A library may have other users for each metric, so they are met by id."""
    import pandas as pd

    columns = [one.score(metric, k, options).per_user for one in models.values()]
    return pd.concat(columns, axis=1, join="inner").dropna().to_numpy(dtype=np.float64)
