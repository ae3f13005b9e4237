"""The models of a comparison, each evaluated under its name.

They are given by name, or are the parts of one frame.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd
import polars as pl

from recnb.data.names import RECS, TRUTH
from recnb.data.read import SIDE_FRAMES, Input, match_kinds
from recnb.data.roles import as_named, labels_of
from recnb.data.tables import FileTable, InputTable, is_frame, is_path, opened
from recnb.errors import (
    ColumnError,
    FrameError,
    LeftMergeWarning,
    OptionError,
    is_several,
    listed,
    near,
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
    models: Any,
    truth: Input | None,
    column: str | None,
    baseline: str | None,
    options: dict[str, Any],
) -> Mapping[str, Evaluation]:
    """Evaluate every model, in the order given.

    `column` names the models, if they are in one frame; `baseline` must be one of them.
    """
    known = [*OWN, *KEYWORDS]
    for name in options:
        if name not in known:
            raise unknown_option(name, "a comparison", known)
    is_by_name = isinstance(models, Mapping)
    if not (is_by_name or is_path(models) or is_frame(models)):
        raise _no_names_error(models)
    # Without names there is one frame, which holds all models.
    given = models if is_by_name else {None: models}
    frames, truth, options = _opened(given, truth, options)
    scores: Any = options.get("score")
    is_in_scores = is_several(scores)  # a model in each column of predictions
    if is_in_scores:
        _check_scores(scores, is_one_frame=not is_by_name and column is None)
        frames = dict.fromkeys(scores, frames[None])
    elif not is_by_name:
        frames = _by_model(frames[None], column)
    elif column is not None:
        raise OptionError(
            "model= names the column of models in one frame; a mapping has their "
            "names: leave it out."
        )
    frames = _names_as_text(frames)
    if baseline is not None and str(baseline) not in frames:
        raise OptionError(
            f"baseline={quoted(baseline)} is none of the models. {near(baseline, frames)}"
        )
    _refuse_extra(frames, truth, options)
    evaluated = {}
    with warnings.catch_warnings():
        for name, frame in frames.items():
            if is_in_scores:
                options["score"] = name
            model = _evaluated(name, frame, truth, options)
            if model.source.one_frame.is_left_merge:  # one warning is enough
                warnings.simplefilter("ignore", LeftMergeWarning)
            if not is_by_name:  # its lists are a part of the caller's frame
                model = model.without_frame("recs")
            evaluated[name] = model
    return evaluated


def _check_scores(scores: Sequence[Any], *, is_one_frame: bool) -> None:
    """Refuse columns of predictions that are not named, or not in one frame."""
    if is_one_frame and all(isinstance(name, str) for name in scores):
        return
    raise OptionError(
        f"score={quoted(scores)} names several columns of predictions, a model each, in "
        "one frame: give one frame, and its columns, such as score=['pred_a', 'pred_b']."
    )


def _names_as_text(models: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the models by their names as text; refuse one alone, and names alike."""
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
    named_options = ", ".join(f"{name}=" for name in options)
    extra = named_options if truth is None else "the truth"
    raise OptionError(
        f"all models are Evaluations, which know their truth and conventions: "
        f"leave out {extra}."
    )


def _opened(
    models: Mapping[Any, Any], truth: Any, options: Mapping[str, Any]
) -> tuple[Mapping[Any, Any], Any, dict[str, Any]]:
    """Open what is given together, so that ids in files meet and streams are read once.

    Returned are the models, the truth and the options, with their side data. What is
    evaluated already, or stays with an engine, is left as it is.
    """
    named = as_named({role: options.get(role) for role in COLUMNS})
    given = {(RECS, name): model for name, model in models.items()}
    for name in (TRUTH, *SIDE_FRAMES):
        frame = truth if name == TRUTH else options.get(name)
        if frame is not None:
            given[name, None] = frame
    tables: dict[tuple[str, Any], InputTable] = {}
    for (name, model), frame in given.items():
        if not isinstance(frame, Evaluation) and engine_of(frame) is None:
            with _named_in_errors(model):
                tables[name, model] = opened(frame, name, named)
    match_kinds(tables, named)
    given |= tables
    frames = {name: given[RECS, name] for name in models}
    side_frames = {
        name: given[name, None] for name in SIDE_FRAMES if (name, None) in given
    }
    return frames, given.get((TRUTH, None)), {**options, **side_frames}


def _no_names_error(models: Any) -> OptionError:
    """Return the error for one model without a name, or several in a list."""
    kind_of_models = type(models).__name__
    problem = (
        f"models is one {kind_of_models}, and a comparison needs two models at least: "
    )
    if isinstance(models, Sequence):
        problem = (
            f"models is a {kind_of_models} of {len(models)}, without their names: "
        )
    return OptionError(f"{problem}give each a name, {NAME_EACH}.")


@contextmanager
def _named_in_errors(name: Any) -> Iterator[None]:
    """Name the model, if it has a name, in errors of its frames."""
    try:
        yield
    except FrameError as problem:
        if name is None:
            raise
        raise type(problem)(f"model {name!r}: {problem}") from problem


def _frame_of(given: Any) -> Any:
    """Return the frame of what was opened, as an engine reads it."""
    return given.frame if isinstance(given, InputTable) else given


def _by_model(table: Any, column: str | None) -> Mapping[Any, InputTable]:
    """Split one table by its column of models, in the order they come in."""
    if not isinstance(table, InputTable):  # rows of an engine
        raise _no_names_error(table)
    label = _label_of_models(table, column)
    if not isinstance(table, FileTable):  # a query of the caller's runs once
        table = table.fetched(table.columns)
    models = table.distinct(label)
    if models.null_count():
        raise FrameError(
            f"{RECS}: column {label!r} has rows without a model: fill them in or drop "
            "them."
        )
    columns = [name for name in table.columns if name != label]
    return {
        model: replace(table, frame=_rows_of(table, label, model), columns=columns)
        for model in models.to_list()
    }


def _rows_of(table: InputTable, label: str, model: Any) -> Any:
    """Return the rows of one model, of files as a query."""
    frame = table.frame
    if isinstance(frame, pl.LazyFrame):
        return frame.filter(pl.col(label) == model)
    is_of_model = table.select({"model": label})["model"] == model
    if isinstance(frame, pd.DataFrame):
        return frame.loc[is_of_model.to_numpy()]
    return frame.filter(is_of_model)


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


def _evaluated(
    name: str, model: Any, truth: Input | None, options: Mapping[str, Any]
) -> Evaluation:
    """Return the evaluation of a model, by its engine if rows stay with one."""
    if isinstance(model, Evaluation):
        return model
    with _named_in_errors(name):
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine(_frame_of(model), _frame_of(truth), **options)
        return evaluate(model, truth, **options)
