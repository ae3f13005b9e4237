"""The models of a comparison: evaluated by name, refused where they cannot be compared,
restricted to the users of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pandas as pd
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data import Frame, Joined, table_of
from recnb.data.buckets import batches_of
from recnb.data.columns import (
    Scanned,
    columns_of,
    find,
    is_dataset,
    is_relation,
    read_stream,
)
from recnb.data.encoding import distinct
from recnb.data.files import Wanted, is_file, read_together
from recnb.data.in_memory import Sheets
from recnb.data.load import SIDES, Input
from recnb.data.sheet import IDS, RECS, kind, relevant_only
from recnb.display.language import N_, Plural, Sentence, _, named, use_noun
from recnb.display.progress import steps
from recnb.display.text import one_line
from recnb.errors import (
    ColumnError,
    FrameError,
    NoUsersError,
    OptionError,
    is_several,
    listed,
    quoted,
)
from recnb.evaluate import (
    COLUMNS,
    KEYWORDS,
    evaluate,
    refuse_word_for_users,
    unknown_option,
)
from recnb.evaluation import Evaluation
from recnb.report.data import ModelUsers
from recnb.results.columns import same_rows, users_in_common
from recnb.results.values import merged, no_relevant_in_words

#: Evaluates recommendations and truth, of which one may be local, with options.
Engine = Callable[[Any, Any, Mapping[str, Any]], Evaluation]

#: The engine of each package, registered by `recnb.distributed` when it is imported.
_ENGINES: dict[str, Engine] = {}

#: The keywords of `compare` that are not passed on to `evaluate`.
OWN = ("baseline", "pairs", "confidence", "test", "model")

#: What to type for several models.
NAME_EACH = "recnb.compare({'a': recs_a, 'b': recs_b}, truth)"

#: What to type for parts of one run.
PARTS = (
    "Give the parts as one frame, or as files by a pattern in quotes, "
    "recnb.evaluate('recs_*.parquet', truth)."
)

#: Whom models are compared on.
JUDGED_BY_BOTH = Plural(
    "{n:,} user that both models are judged on",
    "{n:,} users that both models are judged on",
)
JUDGED_BY_ALL = Plural(
    "{n:,} user that all {models} models are judged on",
    "{n:,} users that all {models} models are judged on",
)
#: How many models are named in a clause each; of more, one clause tells all.
NAMED = 3
#: Of many models: whether they share one number -> the clause.
LEFT_OUT_OF_MANY = {
    True: N_(
        "{low:,} users of each of {models:,} models left out, not judged in "
        "every other model"
    ),
    False: N_(
        "{low:,} to {high:,} users of each of {models:,} models left out, not "
        "judged in every other model"
    ),
}
WITHOUT_LIST = {
    True: N_("{low:,} without a list in each of {models:,} models, which counts 0"),
    False: N_(
        "{low:,} to {high:,} without a list in each of {models:,} models, which "
        "counts 0"
    ),
}
WITHOUT_JUDGED = {
    True: N_(
        "{low:,} without a judged item in a list in each of {models:,} models, "
        "which counts 0"
    ),
    False: N_(
        "{low:,} to {high:,} without a judged item in a list in each of {models:,} "
        "models, which counts 0"
    ),
}
LEFT_OUT = Plural(
    "{n:,} user of {model} left out, not judged in every other model",
    "{n:,} users of {model} left out, not judged in every other model",
)

#: Axes that may differ: the order follows from the columns of a frame, and does not
#: change the list.
FREE = ("order", "metric")


def register(package: str, engine: Engine) -> None:
    """Register what evaluates the frames of a package."""
    _ENGINES[package] = engine


def engine_of(*frames: Any) -> Engine | None:
    """Return what evaluates one of these frames, if its module was imported."""
    packages = (type(frame).__module__.split(".", 1)[0] for frame in frames)
    return next(
        (_ENGINES[package] for package in packages if package in _ENGINES), None
    )


def models_of(
    models: Any, truth: Input | None, column: str | None, options: dict[str, Any]
) -> Mapping[str, Evaluation]:
    """Evaluate every model, in the order given; `column` is that of the models of one
    frame.
    """
    known = [*OWN, *KEYWORDS]
    for name in options:
        if name not in known:
            raise unknown_option(name, "a comparison", known)
    refuse_word_for_users(options.get("users"))
    models, truth = _read(models, truth, options)
    scores = options.get("score")
    if is_several(scores):
        columns = list(scores)
        if (
            isinstance(models, Mapping)
            or column is not None
            or not all(isinstance(each, str) for each in columns)
        ):
            problem = (
                f"score={quoted(scores)} names several columns of predictions, a "
                f"model each, in one frame: "
            )
            raise OptionError(
                problem,
                "give one frame, and its columns, such as score=['pred_a', 'pred_b'].",
            )
        models = dict.fromkeys(columns, models)
    elif not isinstance(models, Mapping):
        models = _by_model(models, column)
    elif column is not None:
        raise OptionError(
            "model= names the column of models in one frame; a mapping has their "
            "names: leave it out."
        )
    if len(models) < 2:
        given = f"only {next(iter(models))!r} is given" if models else "none is given"
        raise OptionError(
            f"a comparison needs two models at least, and {given}: {NAME_EACH}."
        )
    named = {str(name): model for name, model in models.items()}
    if len(named) < len(models) or not all(map(str.strip, named)):
        raise OptionError(
            f"the names of the models are {listed(models)}: name each by a text of its own."
        )
    if all(isinstance(model, Evaluation) for model in named.values()) and (
        truth is not None or options
    ):
        extra = (
            "the truth"
            if truth is not None
            else ", ".join(f"{name}=" for name in options)
        )
        raise OptionError(
            f"all models are Evaluations, which know their truth and conventions: "
            f"leave out {extra}."
        )
    return {
        name: _evaluated(
            name,
            model,
            truth,
            options | {"score": name} if is_several(scores) else options,
        )
        for name, model in steps(list(named.items()), _("comparing"))
    }


def _read(models: Any, truth: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Read files together, so that their ids meet, and streams once; side data are read
    in place.
    """
    truth = read_stream(truth)
    if isinstance(models, Mapping):
        models = {name: read_stream(model) for name, model in models.items()}
    else:
        models = read_stream(models)
    for name in ("train", "items", "users"):
        if name in options:
            options[name] = read_stream(options[name])
    named = dict(models) if isinstance(models, Mapping) else {RECS: models}
    side = {
        name: options[name]
        for name in ("train", "items", "users")
        if options.get(name) is not None
    }
    if any(map(is_file, (*named.values(), truth, *side.values()))):
        given: list[Wanted] = [(truth, "qrels", IDS)]
        given += [
            (model, None if truth is None else "run", IDS) for model in named.values()
        ]
        given += [(frame, None, SIDES.get(name, IDS)) for name, frame in side.items()]
        columns = {
            role: column
            for role in COLUMNS
            if (column := options.get(role)) is not None
        }
        truth, *tables = read_together(given, columns)
        options |= dict(zip(side, tables[len(named) :], strict=True))
        models = (
            dict(zip(named, tables, strict=False))
            if isinstance(models, Mapping)
            else tables[0]
        )
    return models, truth


def _by_model(frame: Any, column: str | None) -> dict[Any, Frame]:
    """Split one frame by its column of models, in the order they come in."""
    is_table = (
        isinstance(frame, pl.LazyFrame)
        or is_relation(frame)
        or is_dataset(frame)
        or hasattr(frame, "columns")
    )
    if not is_table or engine_of(frame):
        problem = (
            f"models is one {type(frame).__name__}, and a comparison needs two models "
            f"at least: "
        )
        if isinstance(frame, Sequence):
            problem = f"models is a {type(frame).__name__} of {len(frame)}, without their names: "
        raise OptionError(problem, f"give each a name, {NAME_EACH}.")
    try:
        if column is not None and column not in (has := columns_of(frame, RECS)):
            raise ColumnError(
                f"{RECS}: there is no column {column!r}. Its columns: {listed(has)}."
            )
        label = find(frame, RECS, ["model"], {"model": column})["model"]
    except ColumnError as problem:
        predictions = "recnb.compare(frame, score=['pred_a', 'pred_b'])"
        fix = (
            f"Or give one frame for each model: {NAME_EACH}; or name the columns of "
            f"predictions: {predictions}."
        )
        raise ColumnError(str(problem), fix=fix) from problem
    if isinstance(frame, pl.LazyFrame) and not isinstance(frame, Scanned):
        frame = table_of(
            frame, RECS, {column: column for column in columns_of(frame, RECS)}
        )
    n, found = 0, []
    for batch in batches_of(frame, RECS, {"model": label}):
        n += batch["model"].null_count()
        found.append(batch["model"].unique(maintain_order=True))
    if n:
        raise FrameError(
            f"{RECS}: column {label!r} has {n:,} rows without a model: fill them in or drop them."
        )
    models = pl.concat(found).unique(maintain_order=True).to_list() if found else []
    if isinstance(frame, Scanned):
        return {
            model: frame.filter(pl.col(label) == model).drop(label) for model in models
        }
    names = table_of(frame, RECS, {"model": label})["model"]
    if isinstance(frame, pd.DataFrame):
        rest = frame.drop(columns=label)
        return {model: rest.loc[(names == model).to_numpy()] for model in models}
    table = pl.DataFrame(frame).drop(label)
    return {model: table.filter(names == model) for model in models}


def _evaluated(
    name: str, model: Any, truth: Input | None, options: Mapping[str, Any]
) -> Evaluation:
    """Return the data of a model."""
    if isinstance(model, Evaluation):
        return model
    try:
        engine = engine_of(model, truth)
        if engine is not None and truth is not None:
            return engine(model, truth, options)
        return evaluate(model, truth, **options)
    except FrameError as problem:
        raise type(problem)(f"model {name!r}: {problem}") from problem


def check_models(models: Mapping[str, Evaluation]) -> None:
    """Refuse models evaluated under different conventions or on different truths: the
    difference would be that of these.
    """
    (first, ours), *others = models.items()
    for name, theirs in others:
        mine, differing = (
            {"convention": one.library or "recnb", **vars(one.convention)}
            for one in (ours, theirs)
        )
        for axis in [
            axis for axis in mine if axis not in FREE and mine[axis] != differing[axis]
        ]:
            both = f"{axis}={mine[axis]!r} and {axis}={differing[axis]!r}"
            fix = (
                f"Evaluate both with the same {axis}=, or give frames and let "
                f"compare() evaluate them."
            )
            raise OptionError(
                f"{first!r} and {name!r} are evaluated under different conventions: {both}.",
                fix=fix,
            )
        judged, other = _judged(ours.joined), _judged(theirs.joined)
        one, another = ours.source.user_weights, theirs.source.user_weights
        is_same = one is another or (
            one is not None and another is not None and same_rows(one, another)
        )
        if judged.columns != other.columns or not is_same:
            problem = (
                f"{first!r} and {name!r} are weighted otherwise: evaluate both with "
                f"the same propensity= and user_weight=, or "
            )
            raise OptionError(problem, "give frames and let compare() evaluate them.")
        kinds = [
            kind(table[role].dtype)
            for table in (judged, other)
            for role in ("user", "item")
        ]
        if kinds[:2] != kinds[2:]:
            problem = (
                f"users and items of {first!r} are {kinds[0]} and {kinds[1]}, those "
                f"of {name!r} {kinds[2]} and {kinds[3]}: "
            )
            raise FrameError(problem, "make them one kind, .astype(str).")
        if same_rows(judged, other):
            continue
        only = judged.join(other, on=judged.columns, how="anti")
        whose, example = (
            (first, only)
            if only.height
            else (name, other.join(judged, on=judged.columns, how="anti"))
        )
        user, item, relevance, *weight = example.row(0)
        counts, weighs = (
            f"{judged.height:,} and {other.height:,}",
            "".join(f", weight {one:g}" for one in weight),
        )
        problem = f"{first!r} and {name!r} are judged against different relevant items ({counts}): "
        held = f"only {whose!r} has user {user!r}, item {item!r}, relevance {relevance:g}{weighs}."
        raise FrameError(
            problem, held, fix="Give compare() frames of recommendations and one truth."
        )


def _judged(joined: Joined) -> pl.DataFrame:
    """Return the rows that must be the same: relevant ones, and all rows of the truth
    if those enter the ranking.
    """
    judged = joined.judged.select("user", "item", "relevance", "^weight$")
    return (
        judged
        if joined.convention.candidates != "list"
        else relevant_only(judged, joined.convention)
    )


def share_catalogue(models: Mapping[str, Evaluation]) -> Mapping[str, Evaluation]:
    """Let all models rank the items of all of them, if the convention ranks the
    catalogue below the lists.
    """
    first = next(iter(models.values()))
    variants: Any = (
        [first] if first.library is None else presets.of_library(first.library)
    )
    if not any(one.convention.candidates == "catalogue" for one in variants):
        return models
    sources = [
        source
        for model in models.values()
        if isinstance(source := model.joined.source.of_all_users, Sheets)
    ]
    if len(sources) < len(models):
        return models
    items = distinct(pl.concat([source.items for source in sources]))
    return {
        name: model.restricted(replace(source, catalogue=items).under(model.convention))
        for (name, model), source in zip(models.items(), sources, strict=True)
    }


def restrict_to_common_users(
    models: Mapping[str, Evaluation],
) -> tuple[dict[str, Evaluation], tuple[ModelUsers, ...]]:
    """Restrict the models to the users that all of them are evaluated on, and count
    those left out.
    """
    users_of = {name: model.joined.users for name, model in models.items()}
    users = users_in_common(list(users_of.values()))
    if len(users) == 0:
        counts = ", ".join(
            f"{name!r} {len(judged):,} (such as {judged[0]!r})"
            for name, judged in users_of.items()
        )
        with use_noun(next(iter(models.values())).noun):
            problem = named(
                "no user is judged in every model: {counts}. Check that all lists are "
                "of the same users.",
                counts=counts,
            )
        raise NoUsersError(problem, fix=PARTS)
    note = Sentence(
        JUDGED_BY_BOTH if len(models) == 2 else JUDGED_BY_ALL,
        {"n": len(users), "models": len(models)},
    )
    n_left_out = {
        name: len(of_model) - len(users) for name, of_model in users_of.items()
    }
    kept: dict[str, Evaluation] = {}
    for name, model in models.items():
        if n_left_out[name]:
            kept[name] = model.restricted(model.joined.among(users, note))
        elif any(n_left_out.values()) and averages_others(model):
            kept[name] = model.restricted(model.joined.among(users))
        else:
            kept[name] = model
    has_list = {
        name: model.joined.all_hits.list_length > 0 for name, model in kept.items()
    }
    for first, other in combinations(
        [name for name in kept if has_list[name].any()], 2
    ):
        if not (has_list[first] & has_list[other]).any():
            problem = (
                f"{first!r} and {other!r} have lists of different users, so they are "
                f"parts of one run and not two models."
            )
            raise FrameError(problem, fix=PARTS)
    counted = []
    for name, model in models.items():
        _n, n_without_list, n_without_relevant, _n = kept[name].joined.user_counts
        counted.append(
            ModelUsers(
                model=name,
                n_users=len(users_of[name]),
                n_left_out=len(users_of[name]) - len(users),
                n_without_list=n_without_list,
                n_without_relevant=n_without_relevant,
                n_skipped=model.joined.user_counts[3],
            )
        )
    return kept, tuple(counted)


def averages_others(model: Evaluation) -> bool:
    """Return whether the library whose conventions are followed averages some metric
    over other users than the rest.
    """
    if model.library is None:
        return False
    averaged = {
        (one.convention.averaged_users, one.convention.no_relevant)
        for one in presets.of_library(model.library)
    }
    return len(averaged) > 1


def users_in_words(
    judged: Sequence[ModelUsers],
    n_users: int,
    convention: Convention,
    *,
    has_missed: bool = False,
) -> list[str]:
    """Return the users that models are compared on, and those left out; names are the
    user's, not yet escaped. `has_missed`: a list without a hit does not count 0.
    """
    words = [
        _(
            JUDGED_BY_BOTH if len(judged) == 2 else JUDGED_BY_ALL,
            n=n_users,
            models=len(judged),
        )
    ]
    words += left_out_in_words([one for one in judged if one.n_left_out])
    alike = len({one.n_without_list for one in judged}) == 1
    each, all_alike = (
        N_("{n:,} without a list from {model}, which counts 0"),
        N_("in each model {n:,} without a list, which counts 0"),
    )
    if convention.judged_only:
        each = N_("{n:,} without a judged item in a list from {model}, which counts 0")
        all_alike = N_(
            "in each model {n:,} without a judged item in a list, which counts 0"
        )
    if has_missed:
        each = N_("{n:,} without a list from {model}, which has no hit")
        all_alike = N_("in each model {n:,} without a list, which has no hit")
    without = [one for one in (judged[:1] if alike else judged) if one.n_without_list]
    if len(without) > NAMED:
        of_many = WITHOUT_JUDGED if convention.judged_only else WITHOUT_LIST
        return [*words, in_range(of_many, [one.n_without_list for one in without])]
    words += [
        _(all_alike if alike else each, n=one.n_without_list, model=one_line(one.model))
        for one in without
    ]
    return words


def without_relevant_in_words(
    models: Sequence[ModelUsers], convention: Convention, *, has_missed: bool = False
) -> list[str]:
    """Say how many users have no relevant item, of those compared and of others; names
    of models stand before what does not hold of all.
    """
    words = {
        one_line(one.model): no_relevant_in_words(
            convention, one.n_without_relevant, one.n_skipped, has_missed=has_missed
        )
        for one in models
    }
    return merged(words)


def left_out_in_words(models: Sequence[ModelUsers]) -> list[str]:
    """Say how many users of each model are left out; of many models, in one clause."""
    if len(models) > NAMED:
        return [in_range(LEFT_OUT_OF_MANY, [one.n_left_out for one in models])]
    return [_(LEFT_OUT, n=one.n_left_out, model=one_line(one.model)) for one in models]


def in_range(words: Mapping[bool, str], counts: Sequence[int]) -> str:
    """Say the counts of many models in one clause: the one number that they share, or
    from which to which.
    """
    low, high = min(counts), max(counts)
    return _(words[low == high], models=len(counts), low=low, high=high)
