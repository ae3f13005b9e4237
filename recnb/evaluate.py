"""The way in: recommendations and truth in any form, or one frame that holds both sides, joined into an Evaluation."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import WORDS, Convention, presets
from recnb.conventions.convention import DECISIONS
from recnb.data import NAMES, Source, read
from recnb.data.call import Call, call_of
from recnb.data.input import RECS, TRUTH, Input, read_inputs, refuse_unused
from recnb.data.model_predictions import Model, model_lists
from recnb.data.side_data import SideData, read_side_data
from recnb.display.language import N_, Sentence
from recnb.display.text import one_line
from recnb.errors import Argument, Code, FrameError, OptionError, RecnbError, is_number, is_several, is_word, near
from recnb.evaluation import Evaluation
from recnb.metrics.metric import METRICS
from recnb.results import Table
from recnb.results.evaluation_data import EvaluationData


def evaluate(
    recs: Input, truth: Input | None = None, *others: Never, user_ids: Any = None, **options: Any
) -> Evaluation:
    """Join recommendations with the truth.

    Columns are found by their usual names, as `user_id`, `movieId` or `prediction`, or named by keyword.

    Parameters
    ----------
    recs : frame, mapping, Series, array, list or path
        The recommendations, in one of these forms:

        - a frame with a row per recommended item: user, item, and rank or score;
        - a mapping or Series of user to items in rank order, or to a mapping of item to score;
        - a frame with a column of such lists, `user, recommended`, or with a column for each rank, 1 to k, and users in a
          column or in the index;
        - rows of items in rank order, as a matrix or nested lists, whose users are `user_ids`; a list may end early, with
          None or NaN;
        - the path of a file with such a frame: Parquet, Arrow, CSV, TSV, JSON lines, or a run of TREC.

        Frames are those of pandas, Polars (eager or lazy), pyarrow (table or dataset) and DuckDB. What is given is never
        changed, and may be changed later without an effect on the evaluation. Recommendations may be larger than memory: a
        LazyFrame of files, a pyarrow dataset and a DuckDB relation are streamed.
    truth
        The relevant items in any of these forms, whatever that of `recs`: a frame with a row per item, and relevance if it
        is graded; a mapping of user to a list or set of items, or to a mapping of item to relevance; the column of lists is
        `relevant`; qrels of TREC. None if `recs` is a frame or file with both sides; one with both and no item column is
        learning to rank, and each row is an item. Users meet by their ids, never by position. An empty list is no list: its
        user has none, or no relevant item.
    user_ids : sequence, optional
        The user of each row of a matrix or of nested lists, in their order.
    user, item, rank, score, relevance, recommended, relevant : str
        Names of columns, as `user="member"`.
    train : optional
        User and item, in any form of a truth: what users interacted with before. For metrics beyond accuracy, and for the lint.
    items : frame or path, optional
        Item and its columns: titles, which are shown beside ids, and attributes such as a genre.
    users : frame, pathlib.Path or str, optional
        User and their columns, for segments; or the convention that says which users are averaged.
    convention : Convention or str, optional
        All conventions at once, or the name of a library, as "rectools" or "ir_measures".
    **options
        Single conventions, which take precedence over `convention`: `order`, `ties`, `duplicates`, `candidates`,
        `judged`, `judged_only`, `relevant_from`, `users`, `no_relevant` and the others of `recnb.Convention`.

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
    recnb.evaluate_groups : Labels and scores of learning to rank.

    Examples
    --------
    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank; relevant: every pair of the truth; first relevant item)
    >>> round(evaluate({1: ["a", "b"], 2: ["a"]}, {2: {"a": 3}, 1: {"b": 1}}).ndcg(k=2), 4)
    0.8155
    """
    refuse_positional(others, "evaluate", "recommendations")
    if _are_numbers(recs) and _are_numbers(truth):
        raise FrameError(
            "recommendations and truth are lists of numbers, with no users: for labels and scores of learning to rank, type "
            "recnb.evaluate_groups(y_true, y_score, group=sizes), or qid= for the query of each row; for one list, "
            "recnb.ndcg(y_true=..., y_score=...)."
        )
    data, used = data_of(recs, truth, user_ids, options)
    refuse_unused(user_ids, used=used)
    return Evaluation(data)


def refuse_positional(others: Sequence[object], function: str, first: str) -> None:
    """Raise an error for more than two arguments without a name."""
    if others:
        raise OptionError(
            f"recnb.{function} takes {first} first and the truth second; name what else you give, as train=. Metrics are asked of "
            "what it returns: .measures(['nDCG@10']); several models go in one mapping: recnb.compare({'a': recs, 'b': others}, truth)."
        )


def data_of(recs: Input, truth: Input | None, user_ids: Any, options: Mapping[str, Any]) -> tuple[EvaluationData, bool]:
    """The data of an evaluation, and whether `user_ids` were needed."""
    parsed = parse_options(options)
    inputs = {"recs": recs, **({} if truth is None else {"truth": truth}), **parsed.side_data}
    given = read_inputs({RECS: recs, TRUTH: truth, **parsed.side_data}, parsed.columns, user_ids)
    mappings = isinstance(recs, Mapping) and isinstance(truth, Mapping)
    with given.errors():
        frames = dict(given.frames)
        recs, truth = frames.pop(RECS), frames.pop(TRUTH, None)
        source = given.noted(read(recs, truth, given.columns))
        source = _in_order(source, parsed.library) if mappings else source
        other = {} if truth is None else {"recs": recs}
        side_data = read_side_data(source, recs if truth is None else truth, given.columns, **frames, **other)
        labels = {"recs": source.labels, **({} if truth is None else {"truth": source.truth_labels})}
        converted = {"recs" if name == RECS else name for name in given.converted}
        side_data = replace(side_data, call=parsed.call(inputs, labels, converted))
        try:
            return parsed.data(source, side_data), given.used_ids
        except FrameError as problem:
            model = side_data.model_column(source) if problem.problem[0] == RECS else None
            if model is None:
                raise
            compare = Code(f"recnb.compare(recs, truth, model={model!r})", Argument("model", model))
            models = (f"If column {model!r} is the model, compare them: ", compare, ". Else: ")
            raise FrameError(*problem.problem, fix=(*models, *problem.fix)) from problem


#: Libraries whose functions take the truth first.
TRUTH_FIRST = ("pytrec_eval-terrier", "ir-measures", "ranx")
#: A scale of grades has not more values.
FEW = 10
EXCHANGED = Sentence(
    N_("scores look like relevance and relevance like scores: recommendations come first here, and the truth second")
)


def _in_order(source: Source, library: str | None) -> Source:
    """Frames made of mappings, with a note if one looks like the other, as other libraries take the truth first."""
    if "score" not in source.recs.columns or "relevance" not in source.truth.columns:
        return source
    scores, grades = source.recs["score"], source.truth["relevance"]
    if not (scores.dtype.is_numeric() and grades.dtype.is_numeric()) or (scores % 1 != 0).any():
        return source
    # Whole grades as well may be scores: many, none of which a user has twice, beside few values of scores.
    fractions, many = (grades % 1 != 0).any(), grades.n_unique() > 2 * scores.n_unique() > 0
    repeated = source.truth.select(pl.struct("user", "relevance").is_duplicated().any()).item() if many else True
    if not fractions and (repeated or scores.n_unique() > FEW):
        return source
    if library in TRUTH_FIRST or (fractions and (grades < 0).any()):
        example: float = grades.filter(grades % 1 != 0)[0] if fractions else grades[0]
        raise FrameError(
            f"the scores are whole numbers such as {scores[0]:g}, and look like relevance; the relevance, such as {example:g}, "
            "looks like scores: recommendations come first here, and the truth second.",
            fix="Give them in this order: recnb.evaluate(run, qrels).",
        )
    return replace(source, notes=(*source.notes, EXCHANGED))


def evaluate_groups(
    y_true: Any, y_score: Any, group: Sequence[int] | None = None, *, qid: Any = None, **options: Any
) -> Evaluation:
    """Evaluate predictions of learning to rank: a label and a score for each row, and the query of each.

    Parameters
    ----------
    y_true, y_score : array-like, shape (n_rows,)
        Relevance of each row, from 0 up; and its predicted score: a higher one is ranked higher, equal ones keep their order.
    group : array-like of int
        Number of rows of each query, one query after the other, as LightGBM and XGBoost have it; the queries are 0, 1, ….
    qid : array-like, shape (n_rows,)
        The query of each row, in any order. Give this or `group`.
    **options
        Conventions, as in `recnb.evaluate`.

    Returns
    -------
    Evaluation
        Its users are the queries, and each row is an item of its own.

    Examples
    --------
    >>> ev = evaluate_groups([3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], group=[3, 2])
    >>> ev.ndcg(k=10).per_user.round(4).to_dict()
    {0: 0.648, 1: 0.6309}
    """
    if (group is None) == (qid is None):
        each = " for the number of rows of each query, or qid= for the query of each row: "
        given_sizes = Argument("group", [3, 2])
        raise OptionError("the query of each row is needed once: ", given_sizes, each, "a list, an array or a column.")
    given = {"y_true": y_true, "y_score": y_score} | ({"qid": qid} if group is None else {"group": group})
    columns = {name: _column(values, name) for name, values in given.items()}
    sizes, n, index = columns.pop("group", None), len(columns["y_true"]), columns["y_true"].index
    if n == 0:
        raise FrameError("y_true is empty: there are no rows to evaluate.")
    for name, column in columns.items():
        if len(column) != n:
            raise FrameError(f"y_true has {n:,} values, and {name} {len(column):,}: each row has one of both.")
        if not column.index.equals(index) and len(column.index.symmetric_difference(index)) == 0:
            problem = f"y_true and {name} have the same index in another order: "
            raise FrameError(problem, f"give both in one, {name}.loc[y_true.index].")
    if sizes is not None:
        each = " If it is the query of each row, it is qid=." if len(sizes) == n else ""
        if not pd.api.types.is_integer_dtype(sizes) or (sizes < 1).any():
            raise FrameError(f"group= is the number of rows of each query: whole numbers from 1 up.{each}")
        if sizes.sum() != n:
            raise FrameError(f"group= adds up to {sizes.sum():,} rows, and y_true has {n:,}.{each}")
        if len(sizes) == n > 1:
            problem = f"group= makes each of the {n:,} rows a query of its own.{each}"
            raise FrameError(problem, fix=f"If each row is a query: qid=range({n}).")
        columns["group"] = pd.Series(np.repeat(np.arange(len(sizes)), sizes))
    frame = pd.DataFrame({name: column.reset_index(drop=True) for name, column in columns.items()})
    users = frame.columns[-1]
    try:
        return evaluate(frame, **{"user": users, "score": "y_score", "relevance": "y_true", **options})
    except RecnbError as problem:
        raise problem.without_frame() from problem


def _are_numbers(values: Any) -> bool:
    """Whether values are numbers in a list, an array or a Series."""
    if isinstance(values, (list, tuple)):
        return bool(values) and all(map(is_number, values))
    is_column = isinstance(values, (np.ndarray, pd.Series, pl.Series)) and np.ndim(values) == 1
    return is_column and np.asarray(values).dtype.kind in "iuf"


def _column(values: Any, name: str) -> pd.Series[Any]:
    """Values as a column."""
    values = values.to_pandas() if isinstance(values, (pl.Series, pl.DataFrame)) else values
    shape: tuple[int, ...] = getattr(values, "shape", ())
    if len(shape) == 2 and shape[1] == 1:  # a column
        values = values.iloc[:, 0] if isinstance(values, pd.DataFrame) else values[:, 0]
    elif len(shape) == 2:
        fix = f"give one value a row, {name}.ravel(), with group=[{shape[1]}] * {shape[0]}."
        raise FrameError(f"{name} has the shape {shape}: ", fix)
    if not is_several(values) or isinstance(values, Mapping) or any(map(is_several, [*values][:1])):
        models = "{'a': recnb.evaluate_groups(y_true, a, ...), 'b': recnb.evaluate_groups(y_true, b, ...)}"
        fix = f"For a column of a frame: frame[{values!r}]." if isinstance(values, str) else ""
        fix = f"To compare models: recnb.compare({models})." if isinstance(values, Mapping) else fix
        problem = f"{name} is {one_line(repr(values))}: give a list, an array of one dimension or a Series."
        raise FrameError(problem, fix=fix)
    if isinstance(values, pd.Series):
        return values
    return pd.Series(values if isinstance(values, np.ndarray) else list(values))


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
        An object whose `predict(user)` returns one score per item, shape (n_items,), or a function of the user that does.
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
    given: Mapping[str, Any]  #: conventions as they were given

    def call(
        self, given: Mapping[str, Any], labels: Mapping[str, Mapping[str, str]], converted: Collection[str]
    ) -> Call:
        """The call with these options, for code that is shown."""
        return call_of(given, labels, self.columns, self.given, library=self.library, converted=converted)

    def convention_for(self, source: Source) -> Convention:
        """The convention for these frames: a library's reads another column where they lack its own."""
        return self.convention if self.library is None else source.as_given(self.convention)

    def data(self, source: Source, side_data: SideData | None = None) -> EvaluationData:
        """The data of the evaluation of frames that were read."""
        return EvaluationData(source.under(self.convention_for(source)), self.library, self.overrides, side_data)


def parse_options(options: Mapping[str, Any]) -> Options:
    """Separate options into columns, conventions and frames; anything else raises an error."""
    options = dict(options)
    convention = options.pop("convention", None)
    frames: dict[str, Any] = {name: options.pop(name) for name in ("train", "items") if name in options}
    # `users` is a frame of them, or the word for those that are averaged. Columns are looked for in the class of a frame,
    # since a lazy frame resolves its schema for them.
    users = options.get("users")
    if hasattr(type(users), "columns") or isinstance(users, (os.PathLike, Mapping, pd.Series)):
        frames["users"] = options.pop("users")
    # `relevant` names a column of lists, or says which judged items are relevant: the words of the latter are no names.
    columns = {
        role: options.pop(role)
        for role in columns_known()
        if role in options and not is_word(options[role], WORDS.get(role, ()))
    }
    for name in options:
        if name in DECISIONS:
            continue
        if name in ("k", "metrics") or any(name in metric.defaults for metric in METRICS.values()):
            problem = f"{name!r} is no option of an evaluation: k, metrics and options such as gain belong to a metric."
            fix = "Type ev.measures(['nDCG@10', 'AP']), or ev.table(k=10, gain='exponential')."
            raise OptionError(problem, fix=fix)
        raise unknown_option(name, options[name], "an evaluation", options_known())
    for role, column in columns.items():
        if column is not None and not isinstance(column, str):
            fix = "If yours are not: frame.columns = frame.columns.map(str)."
            if role == "score" and is_several(column):
                fix = "A model for each column of predictions: recnb.compare(frame, score=[...])."
            raise OptionError(Argument(role, column), ": a column is named as text.", fix=fix)
    if isinstance(convention, str):
        library = presets.library_named(convention)
        return Options(columns, replace(presets.data_convention(library), **options), library, options, frames, options)
    if convention is not None and not isinstance(convention, Convention):
        problem = f"convention={convention!r}: give a recnb.Convention or the name of a library, such as "
        raise OptionError(problem, Argument("convention", "trec_eval"), ".")
    given = options if convention is None else {"convention": convention, **options}
    return Options(columns, replace(convention or Convention(), **options), None, {}, frames, given)


#: Keywords of other libraries, and what recnb has for them.
OF_LIBRARIES: dict[str, tuple[object, ...]] = {
    "label_gain": (
        "gains are those of a metric: ev.ndcg(k=10, gain='exponential') is 2**label - 1, gain='linear' the label.",
    ),
    **dict.fromkeys(("weight", "weights", "sample_weight"), ("every user, or query, counts the same.",)),
    "complete": ("users without a list count 0 by ", Argument("users", "truth"), "."),
}


def unknown_option(name: str, value: object, of: str, known: Collection[str]) -> OptionError:
    """The error for a keyword that is none."""
    no_option = f"{name}= is no option of {of}: "
    if name in ("group", "qid"):
        call = f"recnb.evaluate_groups(y_true, y_score, {name}=...)"
        problem = f"{name}= is that of labels and scores without a frame: type {call}, for several models recnb.compare({{'a': {call}, …}})."
        return OptionError(problem, fix=("For a column of queries: ", Argument("user", name), "."))
    if name in ("rel", "relevance_level", "threshold"):
        grade = Argument("relevant_from", value if is_number(value) and value > 0 else 2)
        return OptionError(no_option, "the lowest relevant grade is ", grade, ".")
    if name in ("alpha", "confidence"):
        level = value if name == "confidence" else round(1.0 - value, 12) if is_number(value) else None
        confidence = Argument("confidence", level if is_number(level) and 0 < level < 1 else 0.95)
        if "confidence" in known:
            return OptionError(no_option, "tests have the level 1 - confidence, here ", confidence, ".")
        fix = f"Type ev.measures(['nDCG@10'], {confidence}), or recnb.compare(models, truth, {confidence})."
        return OptionError(no_option, "intervals and tests have a confidence.", fix=fix)
    if name in OF_LIBRARIES:
        return OptionError(no_option, *OF_LIBRARIES[name])
    return OptionError(f"{name!r} is no option of {of}. {near(name, known)}")


def options_known() -> list[str]:
    """Every keyword that `evaluate` takes."""
    return list(dict.fromkeys([*columns_known(), "user_ids", "train", "items", "convention", *DECISIONS]))


def columns_known() -> list[str]:
    """The roles that a keyword can name a column for."""
    return [role for role in NAMES if role != "model"]
