"""The way in: two frames, or one that holds both sides, joined into an Evaluation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from recnb.beside import beside
from recnb.conventions import WORDS, Convention, presets
from recnb.errors import OptionError, near
from recnb.evaluation import Evaluation
from recnb.frames import NAMES, Frame, read


def evaluate(recs: Frame, truth: Frame | None = None, **options: Any) -> Evaluation:
    """Join recommendations with the truth, once; the Evaluation that is returned answers everything else.

    `recs` has a row for each recommended item (user, item, and rank or score); `truth` one for each relevant item
    (user, item, and relevance if there are grades). `recs` alone serves if it holds both sides. Columns are found by
    their common names and set by keyword: `user="member"`, `item=`, `rank=`, `score=`, `relevance=`. The other
    keywords are the conventions: `order`, `ties`, `duplicates`, `candidates`, `judged`, `relevant_from`, `users`,
    `no_relevant` and the rarer ones of `recnb.Convention`; `convention=` takes one whole, or the name of a library, and
    what is given beside it overrides it.

    What else is known may be given as frames: `train` (user, item: what users had before) and `items` (item and its
    columns, such as a genre) for metrics beyond accuracy, `users` (user and their columns) for segments. Frames are pandas, Polars (eager or lazy), pyarrow or DuckDB; they are never changed.

    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank; relevant: every pair of the truth; first relevant item)
    """
    convention = options.pop("convention", None)
    known_beside: dict[str, Any] = {name: options.pop(name) for name in ("train", "items") if name in options}
    # `users` is a frame of them, or the word that says which of them are averaged.
    if hasattr(options.get("users"), "columns"):
        known_beside["users"] = options.pop("users")
    # `relevant` names a column of lists, or says which judged items are relevant: the words of the latter are no names.
    columns = {
        role: options.pop(role)
        for role in columns_known()
        if role in options and options[role] not in WORDS.get(role, ())
    }
    for name in options:
        if name not in Convention.__dataclass_fields__ or name == "metric":
            raise OptionError(f"{name!r} is no option of an evaluation. {near(name, options_known())}")
    for role, column in columns.items():
        if column is not None and not isinstance(column, str):
            raise OptionError(
                f"{role}={column!r}: a column is named as text. If yours are not: frame.columns = frame.columns.astype(str)."
            )
    source = read(recs, truth, columns)
    with_these = beside(source, recs if truth is None else truth, columns, **known_beside)
    if isinstance(convention, str):
        library = presets.library_named(convention)
        first = presets.of_library(library)[0].convention
        prepared = source.under(source.as_given(replace(first, **options)))
        return Evaluation(prepared, library, options, with_these)
    made = Convention.of(options) if convention is None else replace(convention, **Convention.checked(options))
    return Evaluation(source.under(made), beside=with_these)


def options_known() -> list[str]:
    """Every keyword that `evaluate` takes."""
    conventions = [name for name in Convention.__dataclass_fields__ if name != "metric"]
    return list(dict.fromkeys([*columns_known(), "train", "items", "convention", *conventions]))


def columns_known() -> list[str]:
    """The roles that a keyword can name a column for."""
    return [role for role in NAMES if role != "model"]
