"""The models of a comparison: frames or Evaluations by name, or one frame with a column of models; and frames of engines.

How Dask's and Spark's frames are evaluated is registered by `recnb.distributed` when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pandas as pd
import polars as pl

from recnb.data import Frame, table_of
from recnb.data.columns import columns_of, find, is_dataset, is_relation
from recnb.data.files import IDS, Wanted, read_together
from recnb.data.forms import RECS, Input
from recnb.data.load import DESCRIBED, is_file
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import ColumnError, FrameError, OptionError, is_several, listed, quoted
from recnb.evaluate import COLUMNS, KEYWORDS, data_of, unknown_option
from recnb.evaluation import Evaluation
from recnb.results.evaluation_data import EvaluationData

#: The keywords of `compare` that are not passed on to `evaluate`.
OWN = {"baseline", "pairs", "confidence", "test", "method", "resamples", "permutations", "seed"}

#: What to type for several models.
NAME_EACH = "recnb.compare({'a': recs_a, 'b': recs_b}, truth)"


#: Of each package of an engine, what evaluates its frames: recommendations, truth (one of them may be local) and options.
_ENGINES: dict[str, Callable[[Any, Any, Mapping[str, Any]], Evaluation]] = {}


def register(package: str, evaluated: Callable[[Any, Any, Mapping[str, Any]], Evaluation]) -> None:
    """Register what evaluates the frames of a package."""
    _ENGINES[package] = evaluated


def engine_of(*frames: Any) -> Callable[[Any, Any, Mapping[str, Any]], Evaluation] | None:
    """Return what evaluates one of these frames, if its module was imported."""
    packages = (type(frame).__module__.split(".", 1)[0] for frame in frames)
    return next((_ENGINES[package] for package in packages if package in _ENGINES), None)


def models_of(models: Any, truth: Input | None, options: dict[str, Any]) -> dict[str, EvaluationData]:
    """Evaluate every model, in the order given."""
    for name in options:
        if name in ("metrics", "k"):
            fix = "Type recnb.compare(models, truth).table(['nDCG@10', 'AP']), or .table(k=[5, 10])."
            raise OptionError(f"{name!r} is no option of a comparison: metrics are asked of it afterwards.", fix=fix)
        if name not in (known := [*OWN, "model", *KEYWORDS]):
            raise unknown_option(name, "a comparison", known)
    models, truth = _read(models, truth, options)
    scores, column = options.get("score"), options.pop("model", None)
    if is_several(scores):
        columns = list(scores)
        unnamed = isinstance(models, Mapping) or isinstance(scores, Mapping) or column is not None
        if unnamed or not all(isinstance(each, str) for each in columns) or len({*columns}) < len(columns):
            problem = f"score={quoted(scores)} names several columns of predictions, a model each, in one frame: "
            raise OptionError(problem, "give one frame, and each column once, such as score=['pred_a', 'pred_b'].")
        models = dict.fromkeys(columns, models)
    elif not isinstance(models, Mapping):
        models = _by_model(models, column)
    elif column is not None:
        raise OptionError("model= names the column of models in one frame; a mapping has their names: leave it out.")
    named = _named(models)
    if all(isinstance(model, Evaluation) for model in named.values()) and (truth is not None or options):
        extra = "the truth" if truth is not None else ", ".join(f"{name}=" for name in options)
        raise OptionError(f"all models are Evaluations, which know their truth and conventions: leave out {extra}.")
    return {
        name: _evaluated(name, model, truth, options | {"score": name} if is_several(scores) else options)
        for name, model in steps(list(named.items()), _("comparing"))
    }


def _read(models: Any, truth: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Read files together, so that their ids meet, and a lazy truth once; side data are read in place."""
    named = dict(models) if isinstance(models, Mapping) else {RECS: models}
    side = {name: options[name] for name in ("train", "items", "users") if options.get(name) is not None}
    if any(map(is_file, (*named.values(), truth, *side.values()))):
        given: list[Wanted] = [(truth, "qrels", IDS)]
        given += [(model, None if truth is None else "run", IDS) for model in named.values()]
        given += [(frame, None, DESCRIBED.get(name, IDS)) for name, frame in side.items()]
        columns = {role: column for role in COLUMNS if isinstance(column := options.get(role), str)}
        truth, *tables = read_together(given, columns)
        options |= dict(zip(side, tables[len(named) :], strict=True))
        models = dict(zip(named, tables, strict=False)) if isinstance(models, Mapping) else tables[0]
    if isinstance(truth, pl.LazyFrame):
        with suppress(pl.exceptions.PolarsError):  # which evaluate() raises
            truth = truth.collect()
    return models, truth


def _named(models: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the models by their names as text, each with one of its own."""
    if len(models) < 2:
        given = f"only {next(iter(models))!r} is given" if models else "none is given"
        raise OptionError(f"a comparison needs two models at least, and {given}: {NAME_EACH}.")
    named = {str(name): model for name, model in models.items()}
    if len(named) < len(models) or not all(map(str.strip, named)):
        raise OptionError(
            f"the names of the models are {', '.join(map(repr, models))}: name each by a text of its own."
        )
    return named


def _evaluated(name: str, model: Any, truth: Input | None, options: Mapping[str, Any]) -> EvaluationData:
    """Return the data of a model."""
    if isinstance(model, Evaluation):
        return model._data
    try:
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine(model, truth, options)._data
        return data_of(model, truth, options)
    except FrameError as problem:
        raise type(problem)(f"model {name!r}: {problem}") from problem


def _by_model(frame: Any, column: str | None) -> dict[Any, Frame]:
    """Split one frame by its column of models, in the order they come in."""
    is_table = isinstance(frame, pl.LazyFrame) or is_relation(frame) or is_dataset(frame) or hasattr(frame, "columns")
    if not is_table or engine_of(frame):
        problem = (
            f"models is one {type(frame).__name__}, and a comparison needs two models at least: give each a name, "
        )
        raise OptionError(problem, f"{NAME_EACH}.")
    try:
        if column is not None and column not in (has := columns_of(frame, RECS)):
            raise ColumnError(f"{RECS}: there is no column {column!r}. Its columns: {listed(has)}.")
        label = find(frame, RECS, ["model"], {"model": column})["model"]
    except ColumnError as problem:
        predictions = "recnb.compare(frame, score=['pred_a', 'pred_b'])"
        fix = f"Or give one frame for each model: {NAME_EACH}; or name the columns of predictions: {predictions}."
        raise ColumnError(str(problem), fix=fix) from problem
    if isinstance(frame, pl.LazyFrame):
        frame = table_of(frame, RECS, {column: column for column in columns_of(frame, RECS)})
    names = table_of(frame, RECS, {"model": label})["model"]
    if n := names.null_count():
        raise FrameError(f"{RECS}: column {label!r} has {n:,} rows without a model: fill them in or drop them.")
    models = names.unique(maintain_order=True).to_list()
    if isinstance(frame, pd.DataFrame):
        rest = frame.drop(columns=label)
        return {model: rest.loc[(names == model).to_numpy()] for model in models}
    table = pl.DataFrame(frame).drop(label)
    return {model: table.filter(names == model) for model in models}
