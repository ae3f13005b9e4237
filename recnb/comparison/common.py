"""What models have in common, or are refused without: conventions, truth, users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from recnb.data import Joined
from recnb.data.ids import each_once
from recnb.data.in_memory import InMemory
from recnb.data.names import IDS
from recnb.data.role_table import kind
from recnb.data.truth import relevant_only
from recnb.display.language import Plural, Sentence, named, use_noun
from recnb.errors import FrameError, NoUsersError, OptionError
from recnb.evaluation import Evaluation
from recnb.results.evaluation_data import same_rows

#: Whom models are compared on.
JUDGED_BY_BOTH = Plural(
    "{n:,} {user} that both models are judged on",
    "{n:,} {users} that both models are judged on",
)
JUDGED_BY_ALL = Plural(
    "{n:,} {user} that all {models} models are judged on",
    "{n:,} {users} that all {models} models are judged on",
)

NO_WEIGHTS = pl.DataFrame({"user": []})
#: What to type for parts of one run.
PATTERN = "recnb.evaluate('recs_*.parquet', truth)"
PARTS = f"Give the parts as one frame, or as files by a pattern in quotes, {PATTERN}."
#: What the command line has in place of this call.
TYPED_PARTS = {PATTERN: "'recs_*.parquet'"}


class LeftOut(NamedTuple):
    """The numbers of users of one model who are not compared.

    Where users have several lists, these are counted.
    """

    not_in_all: int  #: evaluated, but not in every other model
    without_relevant: int  #: with no relevant item, not evaluated


def on_common_users(
    models: Mapping[str, Evaluation],
) -> tuple[dict[str, Evaluation], dict[str, LeftOut]]:
    """Restrict models to the users of all of them, and count those left out.

    Models that differ in more than their lists are refused, each against the first.
    """
    _check_splits(models)
    models = _numbered_alike(models)
    _check_choices(models)
    _check_weights(models)
    _check_kinds(models)
    _check_truths(models)
    return _restricted(_with_one_catalogue(models))


def _numbered_alike(models: Mapping[str, Evaluation]) -> Mapping[str, Evaluation]:
    """Return models whose lists have the same numbers, if a split numbers them."""
    first, *others = models.values()
    if not first.keys.columns:
        return models
    keys = first.keys.together([other.keys for other in others])
    numbered = dict(models)
    for name, model in models.items():
        if model.keys.table.height < keys.table.height:  # else they are the same
            numbers = model.keys.places_in(keys)
            source = model.source.numbered_as(keys, numbers)
            joined = replace(source.under(model.convention), notes=model.joined.notes)
            numbered[name] = replace(model, joined=joined)
    return numbered


def _against_first(
    models: Mapping[str, Evaluation],
) -> list[tuple[str, Evaluation, str, Evaluation]]:
    """Return the first model with each of the others, and their names."""
    first, *others = models.items()
    return [(*first, *other) for other in others]


def _check_splits(models: Mapping[str, Evaluation]) -> None:
    """Refuse models whose lists are told apart otherwise."""
    for first, ours, other, theirs in _against_first(models):
        values = {*ours.keys.combinations_in_words["words"]}
        other_values = {*theirs.keys.combinations_in_words["words"]}
        if values == other_values:
            continue
        alone = min(values ^ other_values)
        whose = first if alone in values else other
        raise OptionError(
            f"{first!r} and {other!r} have lists in other values of split=: only "
            f"{whose!r} has {alone}. Give both the same split= and lists of the same "
            "values."
        )


def _check_choices(models: Mapping[str, Evaluation]) -> None:
    """Refuse models of different conventions, or of different clusters."""
    for first, ours, other, theirs in _against_first(models):
        choices = _choices(ours)
        for keyword, choice in _choices(theirs).items():
            if choice == choices[keyword]:
                continue
            raise OptionError(
                f"{first!r} and {other!r} are evaluated under different conventions: "
                f"{keyword}={choices[keyword]!r} and {keyword}={choice!r}. Evaluate both "
                f"with the same {keyword}=, or give frames and let compare() evaluate them."
            )


def _choices(model: Evaluation) -> dict[str, Any]:
    """Return what is chosen for an evaluation, by keyword."""
    choices = {"convention": model.library or "recnb", **vars(model.convention)}
    # The order follows from the columns of a frame, and does not change the list.
    del choices["order"], choices["metric"]
    cluster, split = model.side_data.cluster, [*model.keys.columns] or None
    return {**choices, "cluster": cluster, "split": split}


def _check_weights(models: Mapping[str, Evaluation]) -> None:
    """Refuse models if users weigh otherwise, or if pairs weigh in one alone."""
    for first, ours, other, theirs in _against_first(models):
        users_are_alike = same_rows(_user_weights(ours), _user_weights(theirs))
        if users_are_alike and ours.joined.is_weighted == theirs.joined.is_weighted:
            continue
        raise OptionError(
            f"{first!r} and {other!r} are weighted otherwise: evaluate both with the "
            "same propensity= and user_weight=, or give frames and let compare() "
            "evaluate them."
        )


def _user_weights(model: Evaluation) -> pl.DataFrame:
    """Return the weights of users; no row if they have none."""
    weights = model.source.user_weights
    return NO_WEIGHTS if weights is None else weights


def _check_kinds(models: Mapping[str, Evaluation]) -> None:
    """Refuse models whose ids are of different kinds."""
    for first, ours, other, theirs in _against_first(models):
        for role in IDS:
            one = kind(ours.joined.rows.truth[role].dtype)
            another = kind(theirs.joined.rows.truth[role].dtype)
            if one != another:
                raise FrameError(
                    f"{role}s of {first!r} are {one}, those of {other!r} {another}: make "
                    "them one kind, .astype(str)."
                )


def _check_truths(models: Mapping[str, Evaluation]) -> None:
    """Refuse models with different relevant items, and name one of them."""
    for first, ours, other, theirs in _against_first(models):
        if theirs.joined.rows.truth is ours.joined.rows.truth:
            continue  # `compare` reads one truth for all
        judged = _judged(ours.joined)
        other_judged = _judged(theirs.joined)
        if same_rows(judged, other_judged):
            continue
        on = judged.columns
        whose, alone = first, judged.join(other_judged, on=on, how="anti")
        if not alone.height:
            whose, alone = other, other_judged.join(judged, on=on, how="anti")
        _user, item, relevance, *weights = alone.row(0)
        user = ours.keys.names(alone["user"])[0]
        row = f"user {user!r}, item {item!r}, relevance {relevance:g}"
        for weight in weights:
            row += f", weight {weight:g}"
        counts = f"{judged.height:,} and {other_judged.height:,}"
        raise FrameError(
            f"{first!r} and {other!r} are judged against different relevant items "
            f"({counts}): only {whose!r} has {row}. Give compare() frames of "
            "recommendations and one truth."
        )


def _judged(joined: Joined) -> pl.DataFrame:
    """Return the rows of the truth that must be the same.

    These are the relevant ones, and all if those that are not enter the ranking.
    """
    judged = joined.rows.truth.select("user", "item", "relevance", "^weight$")
    if joined.convention.candidates != "list":
        return judged
    return relevant_only(judged, joined.convention)


def _with_one_catalogue(models: Mapping[str, Evaluation]) -> Mapping[str, Evaluation]:
    """Let all models rank the items of all, if the catalogue is ranked below lists."""
    conventions = next(iter(models.values())).metric_conventions
    sources = [model.joined.source for model in models.values()]
    in_memory = [source for source in sources if isinstance(source, InMemory)]
    ranks_catalogue = any(each.candidates == "catalogue" for each in conventions)
    if not ranks_catalogue or len(in_memory) < len(models):
        return models
    items = each_once(*[source.items for source in in_memory])
    shared = {}
    for (name, model), source in zip(models.items(), in_memory, strict=True):
        source = replace(source, catalogue=items)
        shared[name] = replace(model, joined=source.under(model.convention))
    return shared


def _restricted(
    models: Mapping[str, Evaluation],
) -> tuple[dict[str, Evaluation], dict[str, LeftOut]]:
    """Restrict the models to the users of all of them, and count those left out."""
    users = users_in_common([model.joined.users for model in models.values()])
    if len(users) == 0:
        raise _no_users_in_common(models)
    note = judged_by(len(models), len(users))
    are_all_the_same = all(
        len(model.joined.users) == len(users) for model in models.values()
    )
    left_out = dict[str, LeftOut]()
    kept = dict(models)
    for name, model in models.items():
        joined = model.joined
        n_not_in_all = len(joined.users) - len(users)
        left_out[name] = LeftOut(n_not_in_all, model.averaged_users.n_left_out)
        if n_not_in_all:
            kept[name] = replace(model, joined=joined.among(users, note))
        # Its own users are the common ones, but metrics that its library averages over
        # others would not keep to them.
        elif not are_all_the_same and _averages_others(model):
            kept[name] = replace(model, joined=joined.among(users))
    _refuse_parts_of_one_run(kept)
    return kept, left_out


def users_in_common(users_of_each: Sequence[pl.Series]) -> pl.Series:
    """Return the users of all models, in the order that the first has them."""
    users, *others = users_of_each
    for other in others:
        if not users.equals(other):
            users = users.filter(users.is_in(other.implode()))
    return users


def _no_users_in_common(models: Mapping[str, Evaluation]) -> NoUsersError:
    """Return the error for models without a user that all of them are judged on."""
    first = next(iter(models.values()))
    counts = []
    for name, model in models.items():
        users = model.joined.users
        example = first.keys.names(users.head(1))[0]
        counts.append(f"{name!r} {len(users):,} (such as {example!r})")
    with use_noun(first.noun):
        problem = named(
            "no {user} is judged in every model: {counts}. Check that all lists are of "
            "the same {users}.",
            counts=", ".join(counts),
        )
    return NoUsersError(f"{problem} {PARTS}", TYPED_PARTS)


def _refuse_parts_of_one_run(models: Mapping[str, Evaluation]) -> None:
    """Refuse models of which no user has two lists."""
    has_list = {}
    for name, model in models.items():
        mask = model.joined.has_list
        if mask.any():
            has_list[name] = mask
    for first, other in combinations(has_list, 2):
        if not (has_list[first] & has_list[other]).any():
            raise FrameError(
                f"{first!r} and {other!r} have lists of different users, so they are "
                f"parts of one run and not two models. {PARTS}",
                TYPED_PARTS,
            )


def _averages_others(model: Evaluation) -> bool:
    """Return whether the model's library averages some metrics over other users."""
    averaged = {
        (convention.averaged_users, convention.no_relevant)
        for convention in model.metric_conventions
    }
    return len(averaged) > 1


def judged_by(n_models: int, n_users: int) -> Sentence:
    """Say whom models are compared on."""
    message = JUDGED_BY_BOTH if n_models == 2 else JUDGED_BY_ALL
    return Sentence(message, {"n": n_users, "models": n_models})
