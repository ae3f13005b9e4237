"""The models of a comparison: evaluated by name, and restricted to common users.

Models that cannot be compared are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NoReturn

import pandas as pd
import polars as pl

from recnb.conventions import presets
from recnb.data import Joined
from recnb.data.batches import batches_of
from recnb.data.columns import kind
from recnb.data.files import is_file
from recnb.data.forms import opened
from recnb.data.ids import each_once
from recnb.data.in_memory import Sheets
from recnb.data.matches import relevant_only
from recnb.data.names import RECS, TRUTH
from recnb.data.read import SIDE_FRAMES, Input, match_kinds
from recnb.data.roles import as_named, settle
from recnb.data.splits import Keys
from recnb.data.tables import FileTable, InputTable, is_frame
from recnb.display.language import Plural, Sentence, _, named, use_noun
from recnb.display.progress import steps
from recnb.errors import (
    ColumnError,
    FrameError,
    LeftMergeWarning,
    NoUsersError,
    OptionError,
    is_several,
    listed,
    quoted,
)
from recnb.evaluate import (
    COLUMNS,
    KEYWORDS,
    engine_of,
    evaluate,
    refuse_word_for_users,
    unknown_option,
)
from recnb.evaluation import Evaluation
from recnb.results.evaluation_data import same_rows, users_in_common

#: Whom models are compared on.
JUDGED_BY_BOTH = Plural(
    "{n:,} user that both models are judged on",
    "{n:,} users that both models are judged on",
)
JUDGED_BY_ALL = Plural(
    "{n:,} user that all {models} models are judged on",
    "{n:,} users that all {models} models are judged on",
)

#: The keywords of `compare` that are not passed on to `evaluate`.
OWN = ("baseline", "pairs", "confidence", "model")

#: What to type for several models.
NAME_EACH = "recnb.compare({'a': recs_a, 'b': recs_b}, truth)"
#: What to type for columns of predictions in one frame.
NAME_PREDICTIONS = (
    "; or name the columns of predictions: "
    "recnb.compare(frame, score=['pred_a', 'pred_b'])"
)

#: What to type for parts of one run.
PATTERN = "recnb.evaluate('recs_*.parquet', truth)"
PARTS = f"Give the parts as one frame, or as files by a pattern in quotes, {PATTERN}."

#: What the command line has in place of these calls.
TYPED = {
    NAME_EACH: "--model a=FILES --model b=FILES",
    NAME_PREDICTIONS: "",
    PATTERN: "'recs_*.parquet'",
}

#: Axes that may differ: the order follows from the columns of a frame, and does not
#: change the list.
FREE = ("order", "metric")


def models_of(
    models: Any, truth: Input | None, column: str | None, options: dict[str, Any]
) -> Mapping[str, Evaluation]:
    """Evaluate every model, in the order given.

    `column` is that of the models of one frame.
    """
    known = [*OWN, *KEYWORDS]
    for name in options:
        if name not in known:
            raise unknown_option(name, "a comparison", known)
    refuse_word_for_users(options.get("users"))
    models, truth = _opened(models, truth, options)
    scores = options.get("score")
    has_score_of_each = is_several(scores)
    frames: Mapping[Any, Any]
    if has_score_of_each:
        frames = _by_score(models, scores, column)
    elif isinstance(models, Mapping):
        frames = _by_name(models, column)
    else:
        frames = _by_model(models, column)
    frames = _named(frames)
    _refuse_extra(frames, truth, options)
    evaluated = {}
    with warnings.catch_warnings():
        for name, frame in steps(list(frames.items()), _("comparing")):
            of_model = options | {"score": name} if has_score_of_each else options
            model = evaluated[name] = _evaluated(name, frame, truth, of_model)
            if model.source.is_left_merge:  # one warning is enough
                warnings.simplefilter("ignore", LeftMergeWarning)
    return evaluated


def _by_score(models: Any, scores: Any, column: str | None) -> Mapping[Any, Any]:
    """Return one frame for each of its columns of predictions."""
    columns = list(scores)
    is_one_frame = not isinstance(models, Mapping) and column is None
    if not is_one_frame or not all(isinstance(name, str) for name in columns):
        problem = (
            f"score={quoted(scores)} names several columns of predictions, a "
            f"model each, in one frame: "
        )
        raise OptionError(
            f"{problem}give one frame, and its columns, such as score=['pred_a', "
            "'pred_b']."
        )
    return dict.fromkeys(columns, models)


def _by_name(models: Mapping[Any, Any], column: str | None) -> Mapping[Any, Any]:
    """Return models that are given by name; a column of names is refused."""
    if column is not None:
        raise OptionError(
            "model= names the column of models in one frame; a mapping has their "
            "names: leave it out."
        )
    return models


def _named(models: Mapping[Any, Any]) -> dict[str, Any]:
    """Return two models at least, whose names are made text."""
    if len(models) < 2:
        given = f"only {next(iter(models))!r} is given" if models else "none is given"
        raise OptionError(
            f"a comparison needs two models at least, and {given}: {NAME_EACH}.",
            TYPED,
        )
    by_name = {str(name): model for name, model in models.items()}
    if len(by_name) < len(models) or not all(map(str.strip, by_name)):
        raise OptionError(
            f"the names of the models are {listed(models)}: name each by a text of its own."
        )
    return by_name


def _refuse_extra(
    models: Mapping[str, Any], truth: Input | None, options: Mapping[str, Any]
) -> None:
    """Refuse truth and options of models that are all evaluated already."""
    if not all(isinstance(model, Evaluation) for model in models.values()):
        return
    if truth is None and not options:
        return
    extra = "the truth"
    if truth is None:
        extra = ", ".join(f"{name}=" for name in options)
    raise OptionError(
        f"all models are Evaluations, which know their truth and conventions: "
        f"leave out {extra}."
    )


def _opened(models: Any, truth: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Open what is given together, so that ids in files meet and streams are read once.

    Side data are opened in place, in `options`. What is evaluated already, or stays with
    an engine, is left as it is.
    """
    named = as_named({role: options.get(role) for role in COLUMNS})
    is_mapping = isinstance(models, Mapping)
    given = models if is_mapping else {RECS: _one_table(models)}
    tables: dict[tuple[str, Any], InputTable] = {}
    for name, model in given.items():
        if not isinstance(model, Evaluation) and engine_of(model) is None:
            with _of_model(name) if is_mapping else nullcontext():
                tables[RECS, name] = opened(model, RECS, named)
    for name, frame in {TRUTH: truth, **options}.items():
        takes_frame = name == TRUTH or name in SIDE_FRAMES
        if takes_frame and frame is not None and engine_of(frame) is None:
            tables[name, None] = opened(frame, name, named)
    match_kinds(tables, named)
    opened_models = {name: tables.get((RECS, name), given[name]) for name in given}
    for name in SIDE_FRAMES:
        if (name, None) in tables:
            options[name] = tables[name, None]
    truth = tables.get((TRUTH, None), truth)
    return (opened_models if is_mapping else opened_models[RECS]), truth


def _one_table(models: Any) -> Any:
    """Return several models in one table; refuse other things than tables."""
    if is_file(models) or engine_of(models):
        return models
    if not is_frame(models):
        _refuse_unnamed(models)
    return models


def _refuse_unnamed(models: Any) -> NoReturn:
    """Refuse one model without a name, and what has no column of models."""
    kind_of_models = type(models).__name__
    problem = (
        f"models is one {kind_of_models}, and a comparison needs two models at least: "
    )
    if isinstance(models, Sequence):
        problem = (
            f"models is a {kind_of_models} of {len(models)}, without their names: "
        )
    raise OptionError(f"{problem}give each a name, {NAME_EACH}.")


@contextmanager
def _of_model(name: Any) -> Iterator[None]:
    """Name the model in errors of its frames."""
    try:
        yield
    except FrameError as problem:
        raise type(problem)(f"model {name!r}: {problem}") from problem


def _frame_of(given: Any) -> Any:
    """Return the frame of what was opened, as an engine reads it."""
    return given.frame if isinstance(given, InputTable) else given


def _by_model(table: Any, column: str | None) -> Mapping[Any, InputTable]:
    """Split one table by its column of models, in the order they come in."""
    if not isinstance(table, InputTable):
        _refuse_unnamed(table)
    label = _label_of_models(table, column)
    frame = table.frame
    is_scanned = isinstance(table, FileTable) and isinstance(frame, pl.LazyFrame)
    if isinstance(frame, pl.LazyFrame) and not is_scanned:
        frame = table.select({name: name for name in table.columns})
    models = _models_in(table, label)
    of_row = None
    if not is_scanned and not isinstance(frame, pl.DataFrame):
        of_row = table.select({"model": label})["model"]
    parts: dict[Any, Any] = {}
    for model in models:
        if of_row is None:
            parts[model] = frame.filter(pl.col(label) == model).drop(label)
        elif isinstance(frame, pd.DataFrame):
            parts[model] = frame.loc[(of_row == model).to_numpy()].drop(columns=label)
        else:
            parts[model] = pl.DataFrame(frame).drop(label).filter(of_row == model)
    columns = [name for name in table.columns if name != label]
    return {
        model: replace(table, frame=rows, columns=columns)
        for model, rows in parts.items()
    }


def _label_of_models(table: InputTable, column: str | None) -> str:
    """Return the name of the column of models: as given, or as it is found."""
    named = {} if column is None else {"model": [column]}
    try:
        if column is not None and column not in table.columns:
            raise ColumnError(
                f"{RECS}: there is no column {column!r}. Its columns: "
                f"{listed(table.columns)}."
            )
        return settle(table, named, {"model": True})["model"]
    except ColumnError as problem:
        fix = f"Or give one frame for each model: {NAME_EACH}{NAME_PREDICTIONS}."
        raise ColumnError(f"{problem} {fix}", TYPED) from problem


def _models_in(table: InputTable, label: str) -> list[Any]:
    """Return the values of the column of models, in the order they come in."""
    n_missing, models = 0, list[pl.Series]()
    for batch in batches_of(table, {"model": label}):
        n_missing += batch["model"].null_count()
        models.append(batch["model"].unique(maintain_order=True))
    if n_missing:
        raise FrameError(
            f"{RECS}: column {label!r} has {n_missing:,} rows without a model: "
            f"fill them in or drop them."
        )
    if not models:
        return []
    return pl.concat(models).unique(maintain_order=True).to_list()


def _evaluated(
    name: str, model: Any, truth: Input | None, options: Mapping[str, Any]
) -> Evaluation:
    """Return the data of a model."""
    if isinstance(model, Evaluation):
        return model
    with _of_model(name):
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine(_frame_of(model), _frame_of(truth), options)
        return evaluate(model, truth, **options)


def numbered_alike(models: Mapping[str, Evaluation]) -> Mapping[str, Evaluation]:
    """Return models in whose split a list has one number."""
    (first, ours), *others = models.items()
    for name, theirs in others:
        _check_splits((first, name), ours, theirs)
    if not ours.keys.columns:
        return models
    keys = ours.keys.together([theirs.keys for _name, theirs in others])
    return {name: model.numbered_as(keys) for name, model in models.items()}


def check_models(models: Mapping[str, Evaluation]) -> None:
    """Refuse models of different conventions or truths.

    Their difference would be that of these.
    """
    (first, ours), *others = models.items()
    for name, theirs in others:
        _check_conventions((first, name), ours, theirs)
        _check_weights((first, name), ours, theirs)
        judged, other = _judged(ours.joined), _judged(theirs.joined)
        _check_kinds((first, name), judged, other)
        _check_truths((first, name), judged, other, ours.keys)


def _check_conventions(
    names: tuple[str, str], ours: Evaluation, theirs: Evaluation
) -> None:
    """Refuse two models of different conventions."""
    first, name = names
    choices, others = _choices_of(ours), _choices_of(theirs)
    for axis, choice in choices.items():
        if axis in FREE or choice == others[axis]:
            continue
        both = f"{axis}={choice!r} and {axis}={others[axis]!r}"
        fix = (
            f"Evaluate both with the same {axis}=, or give frames and let "
            f"compare() evaluate them."
        )
        raise OptionError(
            f"{first!r} and {name!r} are evaluated under different conventions: "
            f"{both}. {fix}"
        )


def _choices_of(model: Evaluation) -> dict[str, Any]:
    """Return what is chosen on each axis of the conventions."""
    return {"convention": model.library or "recnb", **vars(model.convention)}


def _check_weights(
    names: tuple[str, str], ours: Evaluation, theirs: Evaluation
) -> None:
    """Refuse two models if users weigh otherwise, or if pairs weigh in one alone."""
    first, name = names
    users_are_alike = _is_same(ours.source.user_weights, theirs.source.user_weights)
    if users_are_alike and _has_pair_weights(ours) == _has_pair_weights(theirs):
        return
    problem = (
        f"{first!r} and {name!r} are weighted otherwise: evaluate both with "
        f"the same propensity= and user_weight=, or "
    )
    raise OptionError(f"{problem}give frames and let compare() evaluate them.")


def _check_splits(names: tuple[str, str], ours: Evaluation, theirs: Evaluation) -> None:
    """Refuse two models whose lists are told apart, or are drawn together, otherwise."""
    first, name = names
    if ours.side_data.cluster != theirs.side_data.cluster:
        raise OptionError(
            f"{first!r} and {name!r} have another cluster=: evaluate both with one."
        )
    of_each = [{*model.keys.combinations_in_words["words"]} for model in (ours, theirs)]
    for whose, lacking in (
        (first, of_each[0] - of_each[1]),
        (name, of_each[1] - of_each[0]),
    ):
        if lacking:
            raise OptionError(
                f"{first!r} and {name!r} have lists in other values of split=: only "
                f"{whose!r} has {min(lacking)}. Give both the same split= and lists of "
                "the same values."
            )


def _is_same(weights: pl.DataFrame | None, other: pl.DataFrame | None) -> bool:
    if weights is None or other is None or weights is other:
        return weights is other
    return same_rows(weights, other)


def _has_pair_weights(model: Evaluation) -> bool:
    return "weight" in model.joined.rows.judged.columns


def _check_kinds(
    names: tuple[str, str], judged: pl.DataFrame, other: pl.DataFrame
) -> None:
    """Refuse two models whose ids are of different kinds."""
    first, name = names
    user, item = kind(judged["user"].dtype), kind(judged["item"].dtype)
    other_user, other_item = kind(other["user"].dtype), kind(other["item"].dtype)
    if (user, item) == (other_user, other_item):
        return
    problem = (
        f"users and items of {first!r} are {user} and {item}, those "
        f"of {name!r} {other_user} and {other_item}: "
    )
    raise FrameError(f"{problem}make them one kind, .astype(str).")


def _check_truths(
    names: tuple[str, str], judged: pl.DataFrame, other: pl.DataFrame, keys: Keys
) -> None:
    """Refuse two models with different relevant items, and name one of them."""
    if same_rows(judged, other):
        return
    first, name = names
    whose, example = first, judged.join(other, on=judged.columns, how="anti")
    if not example.height:
        whose, example = name, other.join(judged, on=judged.columns, how="anti")
    _user, item, relevance, *weights = example.row(0)
    user = keys.names(example["user"])[0]
    row = f"user {user!r}, item {item!r}, relevance {relevance:g}"
    for weight in weights:
        row += f", weight {weight:g}"
    counts = f"{judged.height:,} and {other.height:,}"
    raise FrameError(
        f"{first!r} and {name!r} are judged against different relevant items "
        f"({counts}): only {whose!r} has {row}. Give compare() frames of "
        "recommendations and one truth."
    )


def _judged(joined: Joined) -> pl.DataFrame:
    """Return the rows of the truth that must be the same.

    These are the relevant ones, and all if those that are not enter the ranking.
    """
    judged = joined.rows.judged.select("user", "item", "relevance", "^weight$")
    if joined.convention.candidates != "list":
        return judged
    return relevant_only(judged, joined.convention)


def share_catalogue(models: Mapping[str, Evaluation]) -> Mapping[str, Evaluation]:
    """Let all models rank the items of all of them.

    That is, if the convention ranks the catalogue below the lists.
    """
    first = next(iter(models.values()))
    conventions = [first.convention]
    if first.library is not None:
        of_library = presets.of_library(first.library)
        conventions = [preset.convention for preset in of_library]
    if not any(convention.candidates == "catalogue" for convention in conventions):
        return models
    sources = {}
    for name, model in models.items():
        source = model.joined.source
        if not isinstance(source, Sheets):
            return models
        sources[name] = source
    items = each_once(*[source.items for source in sources.values()])
    shared = {}
    for name, model in models.items():
        source = sources[name].within(items)
        shared[name] = model.restricted(source.under(model.convention))
    return shared


@dataclass(frozen=True)
class ModelUsers:
    """The number of users one model was evaluated on, and of those left out.

    Where users have several lists, these are counted.
    """

    model: str
    n_users: int  #: evaluated
    n_left_out: int  #: of these, not evaluated in every other model
    n_without_list: int  #: of those compared, without a list, which counts 0
    n_without_relevant: int = 0  #: of those compared, with no relevant item
    n_skipped: int = 0  #: with no relevant item, not evaluated


def restrict_to_common_users(
    models: Mapping[str, Evaluation],
) -> tuple[dict[str, Evaluation], tuple[ModelUsers, ...]]:
    """Restrict the models to the users of all of them, and count those left out."""
    users = users_in_common([model.joined.users for model in models.values()])
    if len(users) == 0:
        raise _no_users_in_common(models)
    note = Sentence(
        JUDGED_BY_BOTH if len(models) == 2 else JUDGED_BY_ALL,
        {"n": len(users), "models": len(models)},
    )
    n_left_out = {
        name: len(model.joined.users) - len(users) for name, model in models.items()
    }
    kept: dict[str, Evaluation] = {}
    for name, model in models.items():
        if n_left_out[name]:
            kept[name] = model.restricted(model.joined.among(users, note))
        elif any(n_left_out.values()) and averages_others(model):
            kept[name] = model.restricted(model.joined.among(users))
        else:
            kept[name] = model
    _refuse_parts_of_one_run(kept)
    counts = []
    for name, model in models.items():
        of_all, of_kept = model.joined.user_counts(), kept[name].joined.user_counts()
        of_model = ModelUsers(
            model=name,
            n_users=len(model.joined.users),
            n_left_out=n_left_out[name],
            n_without_list=of_kept.n_without_list,
            n_without_relevant=of_kept.n_nothing_to_find,
            n_skipped=of_all.n_left_out,
        )
        counts.append(of_model)
    return kept, tuple(counts)


def _no_users_in_common(models: Mapping[str, Evaluation]) -> NoUsersError:
    """Return the error for models without a user that all of them are judged on."""
    users_of = {name: model.joined.users for name, model in models.items()}
    keys = next(iter(models.values())).keys
    counts = ", ".join(
        f"{name!r} {len(users):,} (such as {keys.names(users.head(1))[0]!r})"
        for name, users in users_of.items()
    )
    with use_noun(next(iter(models.values())).noun):
        problem = named(
            "no user is judged in every model: {counts}. Check that all lists are "
            "of the same users.",
            counts=counts,
        )
    return NoUsersError(f"{problem} {PARTS}", TYPED)


def _refuse_parts_of_one_run(models: Mapping[str, Evaluation]) -> None:
    """Refuse two models no user of which has a list of both."""
    has_list = {}
    for name, model in models.items():
        of_users = model.joined.hits.list_length > 0
        if of_users.any():
            has_list[name] = of_users
    for first, other in combinations(has_list, 2):
        if not (has_list[first] & has_list[other]).any():
            problem = (
                f"{first!r} and {other!r} have lists of different users, so they are "
                f"parts of one run and not two models."
            )
            raise FrameError(f"{problem} {PARTS}", TYPED)


def averages_others(model: Evaluation) -> bool:
    """Return whether the model's library averages some metrics over other users."""
    if model.library is None:
        return False
    conventions = [preset.convention for preset in presets.of_library(model.library)]
    averaged = {
        (convention.averaged_users, convention.no_relevant)
        for convention in conventions
    }
    return len(averaged) > 1
