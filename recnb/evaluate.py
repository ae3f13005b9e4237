"""The way in: two frames, or one that holds both sides, joined into an Evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recnb.conventions import WORDS, Convention, presets
from recnb.data import NAMES, Frame, Source, read
from recnb.data.model_predictions import Model, model_lists
from recnb.data.side_data import SideData, read_side_data
from recnb.errors import OptionError, is_word, near
from recnb.evaluation import Evaluation
from recnb.results import Table
from recnb.results.evaluation_data import EvaluationData


def evaluate(recs: Frame, truth: Frame | None = None, **options: Any) -> Evaluation:
    """Join recommendations with the truth, once; the Evaluation that is returned answers everything else.

    `recs` has a row for each recommended item (user, item, and rank or score); `truth` one for each relevant item
    (user, item, and relevance if there are grades). `recs` alone serves if it holds both sides. Columns are found by
    their common names and set by keyword: `user="member"`, `item=`, `rank=`, `score=`, `relevance=`. The other
    keywords are the conventions: `order`, `ties`, `duplicates`, `candidates`, `judged`, `relevant_from`, `users`,
    `no_relevant` and the rarer ones of `recnb.Convention`; `convention=` takes one whole, or the name of a library, and
    what is given beside it overrides it.

    What else is known may be given as frames: `train` (user, item: what users had before) and `items` (item and its
    columns, such as a genre) for metrics beyond accuracy, `users` (user and their columns) for segments.

    Frames are pandas, Polars (eager or lazy), pyarrow or DuckDB; they are never changed, and may be changed afterwards. Recommendations may be larger than
    memory: a `LazyFrame` of files (`polars.scan_parquet`), a pyarrow dataset and a DuckDB relation are streamed, and what is
    kept is hits, truth and a few counts of each user. Dask and Spark DataFrames stay with their workers: `import recnb.dask`
    and `recnb.dask.evaluate(recs, truth)` or `ddf.rec.against(truth)`; `import recnb.spark` and `recnb.spark.evaluate(recs,
    truth)`. What these give has `fetch()`, an Evaluation here, and `recnb.compare` takes such frames as they are.

    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank; relevant: every pair of the truth; first relevant item)
    """
    given = given_of(options)
    source = read(recs, truth, given.columns)
    with_these = read_side_data(source, recs if truth is None else truth, given.columns, **given.side_data)
    return given.evaluation(source, with_these)


def evaluate_model(
    model: Model,
    test: Any,
    train: Any = None,
    k: int | Sequence[int] = 10,
    metrics: Iterable[str] | None = None,
    **options: Any,
) -> Table:
    """Metrics of a model over the users that have test items: one row per metric, one column per k.

    `test` and `train` are SciPy sparse matrices of users × items; an entry above 0 is a relevant item, and its value
    the relevance. `model.predict(user)` gives one score per item, higher is better; the user's items of `train` are
    taken out of the ranking, the rest is ranked from the highest score (equal scores: lower item number first), and
    users without test items are left out.

    >>> import numpy as np, scipy.sparse as sp
    >>> class Same:
    ...     def predict(self, user): return np.array([0.9, 0.5, 0.1])
    >>> test = sp.csr_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> evaluate_model(Same(), test, k=2, metrics=["precision", "recall"]).to_frame()
    k            2
    metric
    precision  0.25
    recall     0.50
    """
    return model_evaluation(model, test, train, k).table(metrics, k, **options)


def model_evaluation(model: Model, test: Any, train: Any = None, k: int | Sequence[int] = 10) -> Evaluation:
    """The same as an Evaluation of lists of the largest k, for reports and explanations; users and items are numbers."""
    return Evaluation(EvaluationData(model_lists(model, test, train, k)))


@dataclass(frozen=True, eq=False)
class Given:
    """What the options of an evaluation amount to."""

    columns: Mapping[str, str | None]  #: role -> column, as named by keyword
    convention: Convention  #: the first of a library's, if one is named
    library: str | None
    overrides: Mapping[str, Any]  #: what is given beside a library
    side_data: Mapping[str, Any]  #: frames of what else is known

    def convention_for(self, source: Source) -> Convention:
        """The convention for these frames: a library's reads another column where they lack its own."""
        return self.convention if self.library is None else source.as_given(self.convention)

    def evaluation(self, source: Source, with_these: SideData | None = None) -> Evaluation:
        """The evaluation of frames that were read."""
        return Evaluation(self.data(source, with_these))

    def data(self, source: Source, with_these: SideData | None = None) -> EvaluationData:
        """The data of that evaluation."""
        return EvaluationData(source.under(self.convention_for(source)), self.library, self.overrides, with_these)


def given_of(options: Mapping[str, Any]) -> Given:
    """Options told apart into columns, conventions and what else is known; one that is none of these is refused."""
    options = dict(options)
    convention = options.pop("convention", None)
    known_beside: dict[str, Any] = {name: options.pop(name) for name in ("train", "items") if name in options}
    # `users` is a frame of them, or the word that says which of them are averaged.
    if hasattr(type(options.get("users")), "columns"):  # asked of the class: a lazy frame would resolve its schema
        known_beside["users"] = options.pop("users")
    # `relevant` names a column of lists, or says which judged items are relevant: the words of the latter are no names.
    columns = {
        role: options.pop(role)
        for role in columns_known()
        if role in options and not is_word(options[role], WORDS.get(role, ()))
    }
    for name in options:
        if name not in Convention.__dataclass_fields__ or name == "metric":
            raise OptionError(f"{name!r} is no option of an evaluation. {near(name, options_known())}")
    for role, column in columns.items():
        if column is not None and not isinstance(column, str):
            raise OptionError(
                f"{role}={column!r}: a column is named as text. If yours are not: frame.columns = frame.columns.map(str)."
            )
    if isinstance(convention, str):
        library = presets.library_named(convention)
        first = presets.of_library(library)[0].convention
        return Given(columns, replace(first, **options), library, options, known_beside)
    if convention is not None and not isinstance(convention, Convention):
        raise OptionError(
            f"convention={convention!r}: give a recnb.Convention or the name of a library, such as convention='trec_eval'."
        )
    made = Convention.of(options) if convention is None else replace(convention, **Convention.checked(options))
    return Given(columns, made, None, {}, known_beside)


def options_known() -> list[str]:
    """Every keyword that `evaluate` takes."""
    conventions = [name for name in Convention.__dataclass_fields__ if name != "metric"]
    return list(dict.fromkeys([*columns_known(), "train", "items", "convention", *conventions]))


def columns_known() -> list[str]:
    """The roles that a keyword can name a column for."""
    return [role for role in NAMES if role != "model"]
