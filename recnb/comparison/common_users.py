"""The users that all models are evaluated on, what must be the same for all of them, and these users in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl

from recnb.conventions import presets
from recnb.data import Prepared, validation
from recnb.data.encoding import distinct
from recnb.data.relevance import relevant_only
from recnb.data.source import Tables
from recnb.display.language import N_, Plural, Sentence, _
from recnb.display.text import one_line
from recnb.errors import FrameError, NoUsersError, OptionError
from recnb.report.data import ModelUsers
from recnb.report.differences import same_rows, users_in_common
from recnb.results.evaluation_data import EvaluationData
from recnb.results.provenance import NO_RELEVANT

Models = Mapping[str, EvaluationData]

#: Whom models are compared on.
JUDGED_BY_BOTH = Plural("{n:,} user that both models are judged on", "{n:,} users that both models are judged on")
JUDGED_BY_ALL = Plural("{n:,} user that all {models} models are judged on", "{n:,} users that all {models} models are judged on")  # fmt: skip
LEFT_OUT = Plural("{n:,} user of {model} left out, not judged in every other model", "{n:,} users of {model} left out, not judged in every other model")  # fmt: skip

#: Axes that may differ: the order follows from the columns of a frame, and does not change the list.
FREE = ("order", "metric")


def check_models(models: Models) -> None:
    """Refuse models evaluated under different conventions or on different truths: the difference would be that of these."""
    (first, ours), *others = models.items()
    for name, theirs in others:
        mine, differing = ({"convention": one.library or "recnb", **vars(one.convention)} for one in (ours, theirs))
        for axis in [axis for axis in mine if axis not in FREE and mine[axis] != differing[axis]]:
            raise OptionError(
                f"{first!r} and {name!r} are evaluated under different conventions: {axis}={mine[axis]!r} and {axis}={differing[axis]!r}. "
                f"Evaluate both with the same {axis}=, or give frames and let compare() evaluate them."
            )
        judged, other = _judged(ours.prepared), _judged(theirs.prepared)
        for role in ("user", "item"):
            kinds = [validation.kind(table[role].dtype) for table in (judged, other)]
            if kinds[0] != kinds[1]:
                problem = f"the {role} ids of {first!r} are {kinds[0]}, those of {name!r} {kinds[1]}: "
                raise FrameError(problem, "make them one kind, .astype(str).")
        if same_rows(judged, other):
            continue
        only = judged.join(other, on=judged.columns, how="anti")
        whose, example = (first, only) if only.height else (name, other.join(judged, on=judged.columns, how="anti"))
        user, item, relevance = example.row(0)
        raise FrameError(
            f"{first!r} and {name!r} are judged against different relevant items ({judged.height:,} and {other.height:,}): only "
            f"{whose!r} has user {user!r}, item {item!r}, relevance {relevance:g}. Give compare() frames of recommendations and one truth."
        )


def _judged(prepared: Prepared) -> pl.DataFrame:
    """Return the rows that must be the same: relevant ones, and all rows of the truth if those enter the ranking."""
    judged = prepared.judged.select("user", "item", "relevance")
    return judged if prepared.convention.candidates != "list" else relevant_only(judged, prepared.convention)


def share_catalogue(models: Models) -> Models:
    """Let all models rank the items of all of them, if the convention ranks the catalogue below the lists."""
    first = next(iter(models.values()))
    variants: Any = [first] if first.library is None else presets.of_library(first.library)
    sources = [source for model in models.values() if isinstance(source := model.prepared.source, Tables)]
    if len(sources) < len(models) or not any(one.convention.candidates == "catalogue" for one in variants):
        return models
    items = distinct(pl.concat([source.items for source in sources]))
    return {
        name: model.restricted(replace(source, catalogue=items).under(model.convention))
        for (name, model), source in zip(models.items(), sources, strict=True)
    }


def restrict_to_common_users(models: Models) -> tuple[dict[str, EvaluationData], tuple[ModelUsers, ...]]:
    """Restrict the models to the users that all of them are evaluated on, and count those left out."""
    users_of = {name: model.prepared.users for name, model in models.items()}
    users = users_in_common(list(users_of.values()))
    if len(users) == 0:
        counts = ", ".join(f"{name!r} {len(judged):,} (such as {judged[0]!r})" for name, judged in users_of.items())
        raise NoUsersError(f"no user is judged in every model: {counts}. Check that all lists are of the same users.")
    note = Sentence(JUDGED_BY_BOTH if len(models) == 2 else JUDGED_BY_ALL, {"n": len(users), "models": len(models)})
    kept = {
        name: model if len(users_of[name]) == len(users) else model.restricted(model.prepared.among(users, note))
        for name, model in models.items()
    }
    has_list = {name: model.prepared.list_length > 0 for name, model in kept.items()}
    for first, other in combinations([name for name in kept if has_list[name].any()], 2):
        if not (has_list[first] & has_list[other]).any():
            problem = f"{first!r} and {other!r} have lists of different users, so they are parts of one run and not two models. "
            together = "Put the parts into one frame or file, as by pl.scan_parquet('recs_*.parquet').sink_parquet('recs.parquet'), "
            raise FrameError(problem, f"{together}and evaluate it as one model.")
    counted = [(name, len(users_of[name]), kept[name].counts.n_without_list) for name in models]
    return kept, tuple(ModelUsers(name, n, n - len(users), without) for name, n, without in counted)


def users_in_words(judged: Iterable[ModelUsers], n_users: int, n_without: int, no_relevant: str) -> list[str]:
    """Return the users that models are compared on, and those left out; names are the user's, not yet escaped."""
    judged = list(judged)
    words = [_(JUDGED_BY_BOTH if len(judged) == 2 else JUDGED_BY_ALL, n=n_users, models=len(judged))]
    words += [_(LEFT_OUT, n=one.n_left_out, model=one_line(one.model)) for one in judged if one.n_left_out]
    alike = len({one.n_without_list for one in judged}) == 1
    each, all_alike = N_("{n:,} without a list from {model}, which counts 0"), N_("in each model {n:,} without a list, which counts 0")  # fmt: skip
    without = [one for one in (judged[:1] if alike else judged) if one.n_without_list]
    words += [_(all_alike if alike else each, n=one.n_without_list, model=one_line(one.model)) for one in without]
    return [*words, *([_(NO_RELEVANT[no_relevant], n=n_without)] if n_without else [])]
