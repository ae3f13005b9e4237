"""The options of an evaluation: columns, side data and conventions, told apart by keyword."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar

from recnb.conventions import WORDS, Convention, presets
from recnb.conventions.convention import DECISIONS, Order, Ties
from recnb.data import NAMES, Source
from recnb.data.call import Call, GivenFrame
from recnb.data.forms import Input
from recnb.data.side_data import SIDES, SideData
from recnb.errors import OptionError, is_number, is_several, is_word, near, quoted
from recnb.metrics.metric import METRICS
from recnb.results.evaluation_data import EvaluationData

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """The keywords of `recnb.evaluate`."""

    user: str | None
    item: str | None
    rank: str | None
    score: str | Sequence[str] | None  #: several: a model for each, of `recnb.compare`
    relevance: str | None
    recommended: str | None
    relevant: str | None
    train: Input | None
    items: Input | None
    users: Input | None
    convention: Convention | str | None
    order: Order
    score_dtype: Literal["float64", "float32"]
    ties: Ties
    duplicates: Literal["error", "dedupe", "hit_once", "keep", "rows"]
    nonpositive_scores: Literal["keep", "never_hit"]
    candidates: Literal["list", "padded", "catalogue"]
    cutoff: Literal["k", "none"]
    relevant_from: float | None
    judged: Literal["truth", "list"]
    judged_only: bool
    negative_relevance: Literal["error", "zero", "keep"]
    averaged_users: Literal["truth", "recs", "both", "union"]
    no_relevant: Literal["skip", "zero", "one"]


#: Every keyword that `evaluate` takes, and the roles that a keyword can name a column for.
KEYWORDS: tuple[str, ...] = tuple(Options.__annotations__)
COLUMNS: tuple[str, ...] = tuple(role for role in NAMES if role != "model")


def with_options_listed(function: F) -> F:
    """Put the keywords of `Options` into the signature that Tab and help show, in place of `**options`."""
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    listed = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(Convention, name, None), annotation=kind
        )
        for name, kind in Options.__annotations__.items()
        if name not in signature.parameters
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*own, *listed])
    return function


@dataclass(frozen=True, eq=False)
class ParsedOptions:
    """The options of an evaluation by kind."""

    columns: Mapping[str, str | None]  #: role -> column, as named by keyword
    convention: Convention  #: the first of a library's, if one is named
    library: str | None
    overrides: Mapping[str, Any]  #: conventions given in addition to a library
    side_data: Mapping[str, Any]  #: frames train, items and users
    stated: Mapping[str, Any]  #: conventions as they are typed one by one

    def convention_for(self, source: Source) -> Convention:
        """Return the convention for these frames: a library's reads another column where they lack its own."""
        return self.convention if self.library is None else source.as_given(self.convention)

    def call(self, frames: Mapping[str, GivenFrame]) -> Call:
        """Return the call with these options, for code that is shown."""
        columns = {role: column for role, column in self.columns.items() if column is not None}
        return Call(frames, columns, self.stated, self.library)

    def data(self, source: Source, side_data: SideData | None = None) -> EvaluationData:
        """Return the data of the evaluation of frames that were read."""
        return EvaluationData(source.under(self.convention_for(source)), self.library, self.overrides, side_data)


def parse_options(given: Mapping[str, Any]) -> ParsedOptions:
    """Separate options into columns, conventions and frames; anything else raises an error."""
    options = dict(given)
    convention = options.pop("convention", None)
    if is_word(options.get("users"), WORDS["averaged_users"]):
        users = options.pop("users")
        warnings.warn(
            f"users={users!r}, the convention of who is averaged, is averaged_users={users!r} now; users= is the frame of users.",
            FutureWarning, stacklevel=4,
        )  # fmt: skip
        options.setdefault("averaged_users", users)
    frames = {name: options.pop(name) for name in SIDES if name in options}
    if isinstance(users := frames.get("users"), str) and not os.path.exists(users):
        known = near(users, WORDS["averaged_users"])
        raise OptionError(f"users={users!r} is no file of users. Who is averaged is said by averaged_users=. {known}")
    columns = _columns_in(options)
    for name in options:
        if name not in DECISIONS:
            raise unknown_option(name, options[name], "an evaluation", KEYWORDS)
    if isinstance(convention, str):
        library = presets.library_named(convention)
        in_force, stated = presets.data_convention(library), {"convention": library, **options}
        return ParsedOptions(columns, replace(in_force, **options), library, options, frames, stated)
    if convention is not None and not isinstance(convention, Convention):
        fix = "give a recnb.Convention or the name of a library, such as convention='trec_eval'."
        raise OptionError(f"convention={quoted(convention)}: {fix}")
    stated = {} if convention is None else {name: getattr(convention, name) for name in DECISIONS}
    stated = {name: value for name, value in stated.items() if value != getattr(Convention, name)} | options
    return ParsedOptions(columns, replace(convention or Convention(), **options), None, {}, frames, stated)


def _columns_in(options: dict[str, Any]) -> dict[str, str | None]:
    """Take the names of columns out of the options; `relevant` names one unless it is a word of the convention."""
    columns = {
        role: options.pop(role)
        for role in COLUMNS
        if role in options and not is_word(options[role], WORDS.get(role, ()))
    }
    for role, column in columns.items():
        if column is not None and not isinstance(column, str):
            fix = "If yours are not: frame.columns = frame.columns.map(str)."
            if role == "score" and is_several(column):
                fix = "A model for each column of predictions: recnb.compare(frame, score=[...])."
            raise OptionError(f"{role}={quoted(column)}: a column is named as text.", fix=fix)
    return columns


#: Keywords of other libraries and of earlier versions, and what recnb has for them.
ANSWERS: dict[str, str] = {
    "label_gain": "gains are those of a metric: ev.ndcg(k=10, gain='exponential') is 2**label - 1, gain='linear' the label.",
    **dict.fromkeys(("weight", "weights", "sample_weight"), "every user, or query, counts the same."),
    **dict.fromkeys(
        ("group", "qid"),
        "labels and scores without a frame are recnb.evaluate_groups(y_true, y_score, group=...), of several models "
        "recnb.compare({'a': that, …}); a column of queries is user='qid'.",
    ),
    **dict.fromkeys(
        ("alpha", "confidence"),
        "intervals have a confidence, ev.measures(['nDCG@10'], confidence=0.9), or recnb.compare(models, truth, confidence=0.9).",
    ),
    "complete": "users without a list count 0 by averaged_users='truth'.",
    "user_ids": "rows of items by user are a mapping, dict(zip(users, rows)).",
}


def unknown_option(name: str, value: object, of: str, known: Collection[str]) -> OptionError:
    """Return the error for a keyword that is none."""
    if name in ("k", "metrics") or any(name in metric.defaults for metric in METRICS.values()):
        problem = f"{name!r} is no option of an evaluation: k, metrics and options such as gain belong to a metric."
        return OptionError(problem, fix="Type ev.measures(['nDCG@10', 'AP']), or ev.table(k=10, gain='exponential').")
    if name in ("rel", "relevance_level", "threshold"):
        grade = value if is_number(value) and value > 0 else 2
        return OptionError(f"{name}= is no option of {of}: the lowest relevant grade is relevant_from={grade!r}.")
    if name in ANSWERS and name not in known:
        return OptionError(f"{name}= is no option of {of}: {ANSWERS[name]}")
    return OptionError(f"{name!r} is no option of {of}. {near(name, known)}")


__all__ = ["COLUMNS", "KEYWORDS", "Options", "ParsedOptions", "parse_options", "unknown_option", "with_options_listed"]
