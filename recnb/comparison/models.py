"""The models of a comparison: frames or Evaluations by name, or one frame with a column of models; and frames of engines.

How Dask's and Spark's frames are evaluated is registered by `recnb.distributed` when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl

from recnb.data import Frame, table_of
from recnb.data.columns import columns_of, find, is_dataset, is_relation
from recnb.data.forms import RECS, TRUTH, Input
from recnb.data.load import is_file, tables_of
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.errors import ColumnError, FrameError, OptionError, is_several, is_word, listed, near, quoted
from recnb.evaluate import data_of
from recnb.evaluation import Evaluation
from recnb.options import KEYWORDS, unknown_option
from recnb.report.conclusions import Settings
from recnb.results.evaluation_data import EvaluationData
from recnb.stats import TESTS, Test, checked_confidence
from recnb.stats.intervals import RESAMPLES, check_draws, check_method
from recnb.stats.paired import PAIRED_METHODS, PERMUTATIONS

#: The keywords of `compare` that are not passed on to `evaluate`.
OWN = ("baseline", "pairs", "confidence", "test", "method", "resamples", "permutations", "seed")


@dataclass(frozen=True, eq=False)
class Engine:
    """The functions of an engine for its frames."""

    #: Recommendations, truth (one of them may be a local frame) and the options of `evaluate`.
    evaluated: Callable[[Any, Any, Mapping[str, Any]], Evaluation]
    #: A frame of several models and the column that names them -> the rows of each, in the order models come in.
    by_model: Callable[[Any, str], dict[Any, Any]]
    #: A frame without rows that has the columns of one.
    columns: Callable[[Any], Any]


_ENGINES: dict[str, Engine] = {}


def register(package: str, engine: Engine) -> None:
    """Register an engine for the frames of a package."""
    _ENGINES[package] = engine


def engine_of(*frames: Any) -> Engine | None:
    """The engine that holds one of these frames, if its module was imported."""
    packages = (type(frame).__module__.split(".", 1)[0] for frame in frames)
    return next((_ENGINES[package] for package in packages if package in _ENGINES), None)


def models_of(models: Any, truth: Input | None, options: dict[str, Any]) -> dict[str, EvaluationData]:
    """Every model evaluated, in the order given."""
    options_of_compare = [*OWN, "model", *KEYWORDS]
    for name in options:
        if name in ("metrics", "k"):
            raise OptionError(
                f"{name!r} is no option of a comparison: metrics are asked of it afterwards.",
                fix="Type recnb.compare(models, truth).table(['nDCG@10', 'AP']), or .table(k=[5, 10]).",
            )
        if name not in options_of_compare:
            raise unknown_option(name, options[name], "a comparison", options_of_compare)
    if isinstance(models, Evaluation):
        raise OptionError(
            "one Evaluation is one model, and a comparison needs two: recnb.compare({'mine': ev, 'popular': other})."
        )
    if is_file(models):
        models = tables_of({RECS: models, TRUTH: truth}, {})[0][RECS]
    is_frame = (
        isinstance(models, pl.LazyFrame) or is_relation(models) or is_dataset(models) or hasattr(models, "columns")
    )
    if not isinstance(models, Mapping) and not is_frame:
        raise OptionError(
            f"models is a {type(models).__name__}: give each model a name, recnb.compare({{'a': models[0], 'b': models[1]}}, truth)."
        )
    scores = options.get("score")
    if is_several(scores):
        if isinstance(scores, Mapping):
            problem, columns = ": name the columns alone, which name the models: ", [*scores.values()]
            raise OptionError(f"score={quoted(scores)}", problem, f"score={quoted(columns)}.")
        if isinstance(models, Mapping) or "model" in options:
            raise OptionError(
                "score= names several columns of predictions, a model each, in one frame: leave out model=, or give one score="
                " for the frames of all models."
            )
        scores = list(scores)
        if not all(isinstance(column, str) for column in scores):
            raise OptionError(f"score={quoted(scores)}: a column is named as text.")
        if len(set(scores)) < len(scores):
            raise OptionError(f"score={scores!r} names a column more than once.")
        models = dict.fromkeys(scores, models)
    if not isinstance(models, Mapping):
        models = _by_model(models, options.pop("model", None))
    elif "model" in options:
        raise OptionError(
            "model= names the column of models in one frame; a mapping has their names already: leave it out."
        )
    named = _named(models)
    frames = [name for name, model in named.items() if not isinstance(model, Evaluation)]
    if not frames and (truth is not None or options):
        extra = "the truth" if truth is not None else ", ".join(f"{name}=" for name in options)
        raise OptionError(f"all models are Evaluations, which know their truth and conventions: leave out {extra}.")
    if isinstance(truth, pl.LazyFrame):  # it is collected once, and not for each model
        with suppress(pl.exceptions.PolarsError):  # which evaluate() raises
            truth = truth.collect()
    return {
        name: _evaluated(name, model, truth, options | {"score": name} if is_several(scores) else options)
        for name, model in steps(list(named.items()), _("comparing"))
    }


def _named(models: Mapping[Any, Any]) -> dict[str, Any]:
    if len(models) < 2:
        given = f"only {next(iter(models))!r} is given" if models else "none is given"
        raise OptionError(
            f"a comparison needs two models at least, and {given}: recnb.compare({{'a': recs_a, 'b': recs_b}}, truth)."
        )
    named = {str(name): model for name, model in models.items()}
    if len(named) < len(models):
        raise OptionError(f"two models have the same name as text: {', '.join(map(repr, models))}. Name them apart.")
    blank = next((name for name in named if not name.strip()), None)
    if blank is not None:
        raise OptionError(f"the name of a model is {blank!r}: name each model with some text.")
    return named


def _evaluated(name: str, model: Any, truth: Input | None, options: Mapping[str, Any]) -> EvaluationData:
    """Return the data of a model."""
    if isinstance(model, Evaluation):
        return model._data
    try:
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine.evaluated(model, truth, options)._data
        return data_of(model, truth, options)
    except FrameError as problem:
        raise type(problem)(f"model {name!r}: {problem}") from problem


def _by_model(frame: Frame, column: str | None) -> dict[str, Frame]:
    """The parts of one frame by its column of models, in the order they come in."""
    name = "recommendations"
    if column is not None and not isinstance(column, str):
        raise OptionError(f"model={column!r}: a column is named as text.")
    engine = engine_of(frame)
    columns = frame if engine is None else engine.columns(frame)
    try:
        label = find(columns, name, ["model"], {"model": column})["model"]
        if column not in (None, label):
            has = listed(columns_of(columns, name))
            raise ColumnError(name, f": there is no column {column!r}. Its columns: {has}.")
    except ColumnError as problem:
        for_each = (
            "If a column holds the predictions of each model, name these columns: recnb.compare(frame, score=['pred_a', 'pred_b'])."
            " Or give one frame for each model: recnb.compare({'a': recs_a, 'b': recs_b}, truth)."
        )
        raise ColumnError(str(problem), fix=for_each) from problem
    if engine is not None:
        parts = engine.by_model(frame, label)
        if any(pd.isna(model) for model in parts):
            raise FrameError(f"{name}: column {label!r} has rows without a model: fill them in or drop them.")
        return parts
    if isinstance(frame, pl.LazyFrame):
        frame = table_of(frame, name, {column: column for column in columns_of(frame, name)})
    names = table_of(frame, name, {"model": label})["model"]
    if names.null_count():
        row = int(names.is_null().to_numpy().argmax())
        rows = f"{names.null_count():,} rows without a model, the first is row {row}"
        raise FrameError(f"{name}: column {label!r} has {rows}: fill them in or drop them.")
    if isinstance(frame, pd.DataFrame):
        rest = frame.drop(columns=label)
        return {model: rest.loc[(names == model).to_numpy()] for model in names.unique(maintain_order=True).to_list()}
    table = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
    rest_of = table.drop(label)
    return {model: rest_of.filter(names == model) for model in names.unique(maintain_order=True).to_list()}


def reference_of(baseline: str | None, pairs: str, names: Sequence[str]) -> str | None:
    """The model that the others are compared with: the first, unless another is named."""
    if baseline is None:
        return names[0]
    if str(baseline) not in names:
        raise OptionError(f"baseline={quoted(baseline)} is none of the models.", fix=near(baseline, names))
    return str(baseline)


def settings_of(
    confidence: float,
    test: Test,
    method: str | None,
    resamples: int | None,
    permutations: int | None,
    seed: int | None,
) -> Settings:
    """The settings of tests and intervals, each checked, and refused where it would change nothing."""
    checked_confidence(confidence)
    if not is_word(test, TESTS):
        raise OptionError(f"test={quoted(test)} is no test of recnb.", fix=near(test, TESTS))
    if method is not None:
        check_method(method, PAIRED_METHODS)
        if test != "t":
            raise OptionError(f"test={quoted(test)} has an interval of its own: leave out method={quoted(method)}.")
    method = method or test
    check_draws("method", "bootstrap", method, resamples=resamples)
    check_draws("test", "randomization", test, permutations=permutations)
    if test != "randomization":
        check_draws("method", "bootstrap", method, seed=seed)
    else:
        check_draws("test", "randomization", test, seed=seed)
    return Settings(
        confidence=float(confidence),
        test=test,
        method=method,
        resamples=int(resamples or RESAMPLES),
        permutations=int(permutations or PERMUTATIONS),
        seed=int(seed or 0),
    )
