"""The models of a comparison: evaluated by name, and restricted to common users.

Models that cannot be compared are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NoReturn

import pandas as pd
import polars as pl

from recnb.data.forms import opened
from recnb.data.names import RECS, TRUTH
from recnb.data.read import SIDE_FRAMES, Input, match_kinds
from recnb.data.roles import as_named, labels_of
from recnb.data.tables import FileTable, InputTable, is_file, is_frame
from recnb.errors import (
    ColumnError,
    FrameError,
    LeftMergeWarning,
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
    unknown_option,
)
from recnb.evaluation import Evaluation

#: The keywords of `compare` that are not passed on to `evaluate`.
OWN = ("baseline", "pairs", "confidence", "model")

#: What to type for several models.
NAME_EACH = "recnb.compare({'a': recs_a, 'b': recs_b}, truth)"
#: What to type for columns of predictions in one frame.
NAME_PREDICTIONS = (
    "; or name the columns of predictions: "
    "recnb.compare(frame, score=['pred_a', 'pred_b'])"
)

#: What the command line has in place of these calls.
TYPED = {
    NAME_EACH: "--model a=FILES --model b=FILES",
    NAME_PREDICTIONS: "",
}


def models_of(
    models: Any, truth: Input | None, column: str | None, options: dict[str, Any]
) -> Mapping[str, Evaluation]:
    """Evaluate every model, in the order given.

    `column`: that of models, if they are in one frame.
    """
    known = [*OWN, *KEYWORDS]
    for name in options:
        if name not in known:
            raise unknown_option(name, "a comparison", known)
    models, truth = _opened(models, truth, options)
    scores = options.get("score")
    has_score_of_each = is_several(scores)
    is_by_name = isinstance(models, Mapping)
    frames: Mapping[Any, Any]
    if has_score_of_each:
        frames = _by_score(models, scores, column)
    elif is_by_name and column is not None:
        raise OptionError(
            "model= names the column of models in one frame; a mapping has their "
            "names: leave it out."
        )
    elif is_by_name:
        frames = models
    else:
        frames = _by_model(models, column)
    frames = _named(frames)
    _refuse_extra(frames, truth, options)
    evaluated = {}
    with warnings.catch_warnings():
        for name, frame in frames.items():
            of_model = options | {"score": name} if has_score_of_each else options
            model = evaluated[name] = _evaluated(name, frame, truth, of_model)
            if not is_by_name:
                model.forget_lists()
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
        return labels_of(table, named, {"model": True})["model"]
    except ColumnError as problem:
        fix = f"Or give one frame for each model: {NAME_EACH}{NAME_PREDICTIONS}."
        raise ColumnError(f"{problem} {fix}", TYPED) from problem


def _models_in(table: InputTable, label: str) -> list[Any]:
    """Return the values of the column of models, in the order they come in."""
    models = table.distinct(label)
    if models.null_count():
        raise FrameError(
            f"{RECS}: column {label!r} has rows without a model: fill them in or drop "
            "them."
        )
    return models.to_list()


def _evaluated(
    name: str, model: Any, truth: Input | None, options: Mapping[str, Any]
) -> Evaluation:
    """Return the data of a model."""
    if isinstance(model, Evaluation):
        return model
    with _of_model(name):
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine(_frame_of(model), _frame_of(truth), **options)
        return evaluate(model, truth, **options)
