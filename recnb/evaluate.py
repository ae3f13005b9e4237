"""The way in: two frames, or one that holds both sides, joined into an Evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recnb.conventions import WORDS, Convention, presets
from recnb.data import NAMES, Frame, Source, read
from recnb.data.model_predictions import Model, model_lists
from recnb.data.side_data import SideData, read_side_data
from recnb.errors import Argument, OptionError, is_word, near
from recnb.evaluation import Evaluation
from recnb.results import Table
from recnb.results.evaluation_data import EvaluationData


def evaluate(recs: Frame, truth: Frame | None = None, **options: Any) -> Evaluation:
    """Join recommendations with the truth.

    Columns are found by their usual names, as `user_id`, `movieId` or `prediction`, or named by keyword.

    Parameters
    ----------
    recs : pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.Table, pyarrow.Dataset or DuckDBPyRelation
        A row per recommended item: user, item, and rank or score. Frames are never changed, and may be changed later
        without an effect on the evaluation. Recommendations may be larger than memory: a LazyFrame of files, a pyarrow
        dataset and a DuckDB relation are streamed.
    truth
        A row per relevant item: user, item, and relevance if it is graded. None if `recs` has both sides.
    user, item, rank, score, relevance : str
        Names of columns, as `user="member"`.
    train : frame, optional
        User and item: what users interacted with before. For metrics beyond accuracy, and for the lint.
    items : frame, optional
        Item and its columns: titles, which are shown beside ids, and attributes such as a genre.
    users : frame or str, optional
        User and their columns, for segments; or the convention that says which users are averaged.
    convention : Convention or str, optional
        All conventions at once, or the name of a library, as "rectools".
    **options
        Single conventions, which take precedence over `convention`: `order`, `ties`, `duplicates`, `candidates`,
        `judged`, `relevant_from`, `users`, `no_relevant` and the others of `recnb.Convention`.

    Returns
    -------
    Evaluation

    Raises
    ------
    recnb.errors.RecnbError
        If a column is missing or ambiguous, or if its values would make a number wrong.

    See Also
    --------
    recnb.dask.evaluate, recnb.spark.evaluate : For frames of Dask and Spark.
    recnb.compare : Several models.

    Examples
    --------
    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank; relevant: every pair of the truth; first relevant item)
    """
    parsed = parse_options(options)
    source = read(recs, truth, parsed.columns)
    other = {} if truth is None else {"recs": recs}
    side_data = read_side_data(source, recs if truth is None else truth, parsed.columns, **parsed.side_data, **other)
    return parsed.evaluation(source, side_data)


def evaluate_model(
    model: Model,
    test: Any,
    train: Any = None,
    k: int | Sequence[int] = 10,
    metrics: Iterable[str] | None = None,
    **options: Any,
) -> Table:
    """Evaluate a model that scores all items for a user.

    Items of `train` are removed from a user's ranking. The others are ranked from the highest score; of equal scores, the
    lower item number is first. Users without test items are left out.

    Parameters
    ----------
    model
        An object whose `predict(user)` returns one score per item, shape (n_items,).
    test, train
        SciPy sparse matrices, shape (n_users, n_items). An entry above 0 is a relevant item and its relevance.
    k
        Cut-off or cut-offs.
    metrics
        Names of metrics; None: the usual ones.
    **options
        Options of the metrics.

    Returns
    -------
    Table
        One row per metric, one column per cut-off.

    Examples
    --------
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
    """Return the Evaluation of such a model's lists, down to the largest k."""
    return Evaluation(EvaluationData(model_lists(model, test, train, k)))


@dataclass(frozen=True, eq=False)
class Options:
    """The options of an evaluation by kind."""

    columns: Mapping[str, str | None]  #: role -> column, as named by keyword
    convention: Convention  #: the first of a library's, if one is named
    library: str | None
    overrides: Mapping[str, Any]  #: conventions given in addition to a library
    side_data: Mapping[str, Any]  #: frames train, items and users

    def convention_for(self, source: Source) -> Convention:
        """The convention for these frames: a library's reads another column where they lack its own."""
        return self.convention if self.library is None else source.as_given(self.convention)

    def evaluation(self, source: Source, side_data: SideData | None = None) -> Evaluation:
        """The evaluation of frames that were read."""
        return Evaluation(self.data(source, side_data))

    def data(self, source: Source, side_data: SideData | None = None) -> EvaluationData:
        """The data of that evaluation."""
        return EvaluationData(source.under(self.convention_for(source)), self.library, self.overrides, side_data)


def parse_options(options: Mapping[str, Any]) -> Options:
    """Separate options into columns, conventions and frames; anything else raises an error."""
    options = dict(options)
    convention = options.pop("convention", None)
    frames: dict[str, Any] = {name: options.pop(name) for name in ("train", "items") if name in options}
    # `users` is a frame of them, or the word that says which of them are averaged.
    if hasattr(type(options.get("users")), "columns"):  # asked of the class: a lazy frame would resolve its schema
        frames["users"] = options.pop("users")
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
            fix = "If yours are not: frame.columns = frame.columns.map(str)."
            raise OptionError(Argument(role, column), ": a column is named as text.", fix=fix)
    if isinstance(convention, str):
        library = presets.library_named(convention)
        first = presets.of_library(library)[0].convention
        return Options(columns, replace(first, **options), library, options, frames)
    if convention is not None and not isinstance(convention, Convention):
        example = Argument("convention", "trec_eval")
        raise OptionError(
            f"convention={convention!r}: give a recnb.Convention or the name of a library, such as ", example, "."
        )
    convention = Convention.of(options) if convention is None else replace(convention, **Convention.checked(options))
    return Options(columns, convention, None, {}, frames)


def options_known() -> list[str]:
    """Every keyword that `evaluate` takes."""
    conventions = [name for name in Convention.__dataclass_fields__ if name != "metric"]
    return list(dict.fromkeys([*columns_known(), "train", "items", "convention", *conventions]))


def columns_known() -> list[str]:
    """The roles that a keyword can name a column for."""
    return [role for role in NAMES if role != "model"]
