"""The users that all models are evaluated on, and the values of the models for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data import Prepared, validation
from recnb.data.encoding import distinct
from recnb.data.relevance import relevant_only
from recnb.data.source import InMemoryRows
from recnb.data.subset import among
from recnb.display.language import N_, Plural, Sentence, _, ngettext
from recnb.display.text import one_line
from recnb.errors import FrameError, NoUsersError, OptionError
from recnb.report.data import ModelUsers
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import NO_RELEVANT

#: Whom models are compared on.
COMMON_TO_BOTH = Plural(
    "compared on the {n:,} user that both models are judged on",
    "compared on the {n:,} users that both models are judged on",
)
COMMON_TO_ALL = Plural(
    "compared on the {n:,} user that all {models} models are judged on",
    "compared on the {n:,} users that all {models} models are judged on",
)


#: Whom models are compared on.
JUDGED_BY_BOTH = Plural("{n:,} user that both models are judged on", "{n:,} users that both models are judged on")
JUDGED_BY_ALL = Plural(
    "{n:,} user that all {models} models are judged on", "{n:,} users that all {models} models are judged on"
)

#: Axes that may differ: the order follows from the columns of a frame, and does not change the list.
FREE = ("order", "metric")


def check_conventions(models: Mapping[str, EvaluationData]) -> None:
    """Refuse models evaluated under different conventions: the difference would be that of the conventions."""
    first, *others = models
    library, convention = models[first].library, models[first].convention
    for name in others:
        if models[name].library != library:
            left, right = (f"as {name}" if name else "as recnb" for name in (library, models[name].library))
            raise OptionError(
                f"{first!r} is evaluated {left} and {name!r} {right}, so their numbers cannot be compared: evaluate both with the same convention=."
            )
        other = models[name].convention
        for axis in fields(Convention):
            left, right = getattr(convention, axis.name), getattr(other, axis.name)
            if axis.name not in FREE and left != right:
                raise OptionError(
                    f"{first!r} and {name!r} are evaluated under different conventions: {axis.name}={left!r} and {axis.name}={right!r}. "
                    f"Evaluate both with the same {axis.name}=, or give frames and let compare() evaluate them."
                )


def check_truths(models: Mapping[str, EvaluationData]) -> None:
    """Refuse models evaluated on different truths."""
    first, *others = models
    judged = _judged(models[first].prepared)
    for name in others:
        other = _judged(models[name].prepared)
        for role in ("user", "item"):
            if validation.kind(judged[role].dtype) != validation.kind(other[role].dtype):
                raise FrameError(
                    f"the {role} ids of {first!r} are {validation.kind(judged[role].dtype)}, those of {name!r} {validation.kind(other[role].dtype)}: "
                    "make them one kind, .astype(str)."
                )
        if judged.height == other.height and np.array_equal(_fingerprint(judged), _fingerprint(other)):
            continue
        only = judged.join(other, on=judged.columns, how="anti")
        whose, example = (first, only) if only.height else (name, other.join(judged, on=judged.columns, how="anti"))
        user, item, relevance = example.row(0)
        raise FrameError(
            f"{first!r} and {name!r} are judged against different relevant items ({judged.height:,} and {other.height:,}): only "
            f"{whose!r} has user {user!r}, item {item!r}, relevance {relevance:g}. Give compare() frames of recommendations and one truth."
        )


def check_side_data(models: Mapping[str, EvaluationData]) -> None:
    """Refuse metrics of side data that are not the same for all models."""
    first, *others = models
    for role in ("train", "items"):
        frame = getattr(models[first].side_data, role)
        for name in others:
            other = getattr(models[name].side_data, role)
            if frame is None or other is None or frame is other:
                continue
            if frame.schema != other.schema or not np.array_equal(_fingerprint(frame), _fingerprint(other)):
                raise FrameError(
                    f"{first!r} and {name!r} have different {role}=, of which this metric is made, so the difference would be that of "
                    f"{role}=: give compare() one {role}= and frames of recommendations, or evaluate both with the same."
                )


def check_lists_of_common_users(models: Mapping[str, EvaluationData]) -> None:
    """Refuse models of which two have no user with a list in common, by whom they could be compared: parts of one run."""
    has_list = {name: model.prepared.list_length > 0 for name, model in models.items()}
    for first, other in combinations(models, 2):
        if has_list[first].any() and has_list[other].any() and not (has_list[first] & has_list[other]).any():
            raise FrameError(
                f"{first!r} and {other!r} have lists of different users, so they are parts of one run and not two models. "
                "A run in parts is put together into one frame or file, as pl.scan_parquet('recs_*.parquet').sink_parquet('recs.parquet') "
                "does with files, and evaluated as one model."
            )


def _judged(prepared: Prepared) -> pl.DataFrame:
    """The rows that must be the same: relevant ones, and all rows of the truth if those enter the ranking."""
    judged = prepared.judged.select("user", "item", "relevance")
    return judged if prepared.convention.candidates != "list" else relevant_only(judged, prepared.convention)


def _fingerprint(table: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.sort(table.hash_rows().to_numpy())


def share_catalogue(models: Mapping[str, EvaluationData]) -> Mapping[str, EvaluationData]:
    """Let all models rank the items of all of them, if the convention ranks the catalogue below the lists."""
    first = next(iter(models.values()))
    conventions = (
        [first.convention]
        if first.library is None
        else [variant.convention for variant in presets.of_library(first.library)]
    )
    sources = [model.prepared.source for model in models.values()]
    held = [source for source in sources if source is not None and isinstance(source.rows, InMemoryRows)]
    if len(held) < len(models) or not any(convention.candidates == "catalogue" for convention in conventions):
        return models
    items = distinct(pl.concat([source.items for source in held]))
    shared = [replace(source, catalogue=items, _known={}) for source in held]
    return {
        name: model.restricted(source.under(model.convention))
        for (name, model), source in zip(models.items(), shared, strict=True)
    }


def users_in_common(users_of_each: Sequence[pl.Series]) -> pl.Series:
    """The users of all models, in the order that the first has them."""
    users, *others = users_of_each
    for other in others:
        if not users.equals(other):
            users = users.filter(users.is_in(other.implode()))
    return users


def restrict_to_common_users(
    models: Mapping[str, EvaluationData],
) -> tuple[dict[str, EvaluationData], tuple[ModelUsers, ...]]:
    """Restrict the models to the users that all of them are evaluated on, and count those left out."""
    users_of = {name: model.prepared.users for name, model in models.items()}
    users = users_in_common(list(users_of.values()))
    if len(users) == 0:
        counts = ", ".join(f"{name!r} {len(judged):,} (such as {judged[0]!r})" for name, judged in users_of.items())
        raise NoUsersError(f"no user is judged in every model: {counts}. Check that all lists are of the same users.")
    note = Sentence(COMMON_TO_BOTH if len(models) == 2 else COMMON_TO_ALL, {"n": len(users), "models": len(models)})
    kept = {
        name: model if len(users_of[name]) == len(users) else model.restricted(among(model.prepared, users, note))
        for name, model in models.items()
    }
    judged = tuple(
        ModelUsers(name, len(users_of[name]), len(users_of[name]) - len(users), kept[name].counts.n_without_list)
        for name in models
    )
    return kept, judged


def population_in_words(
    judged: Iterable[ModelUsers], n_users: int, n_without: int = 0, no_relevant: str = "skip"
) -> list[str]:
    """The users that models are compared on, and those left out; names are the user's, on one line and not yet escaped."""
    judged = list(judged)
    words = [_(JUDGED_BY_BOTH if len(judged) == 2 else JUDGED_BY_ALL, n=n_users, models=len(judged))]
    words += [
        ngettext(
            "{n:,} user of {model} left out, not judged in every other model",
            "{n:,} users of {model} left out, not judged in every other model",
            counts.n_left_out,
            model=one_line(counts.model),
        )
        for counts in judged
        if counts.n_left_out
    ]
    if len({counts.n_without_list for counts in judged}) == 1:
        in_each, without = N_("in each model {n:,} without a list, which counts 0"), judged[:1]
    else:
        in_each, without = N_("{n:,} without a list from {model}, which counts 0"), judged
    words += [
        _(in_each, n=counts.n_without_list, model=one_line(counts.model)) for counts in without if counts.n_without_list
    ]
    if n_without:
        words.append(_(NO_RELEVANT[no_relevant], n=n_without))
    return words
