"""The ways in: recommendations and truth in any form, joined into an Evaluation.

Keywords are told apart: those that name columns, side data, and conventions.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import WORDS, Convention, presets
from recnb.conventions.convention import DECISIONS, Order, Ties
from recnb.data import NAMES, Source
from recnb.data.convert import from_pandas
from recnb.data.names import BOTH, IDS, RECS, TRUTH, Labels, as_named
from recnb.data.read import SIDE_FRAMES, Input, read, tables_of
from recnb.data.side_data import (
    Call,
    GivenFrame,
    columns_of_lists,
    differing_columns,
    read_side_data,
)
from recnb.data.tables import InputTable
from recnb.data.weights import read_weights
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, is_several, is_word, near, quoted
from recnb.evaluation import Evaluation
from recnb.metrics.metric import METRICS
from recnb.results import Table
from recnb.results.single_list import refuse_other_number, refuse_other_order

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """The keywords of `recnb.evaluate`."""

    #: Several: each frame has one of them; items likewise.
    user: str | Sequence[str] | None
    item: str | Sequence[str] | None
    rank: str | None
    score: str | Sequence[str] | None  #: several: a model for each, of `recnb.compare`
    relevance: str | None
    recommended: str | None
    relevant: str | None
    split: str | Sequence[str] | None  #: what tells the lists of a user apart
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
    propensity: str | pd.Series[Any] | Mapping[Any, float] | None
    min_propensity: float | None
    user_weight: str | pd.Series[Any] | Mapping[Any, float] | None
    cluster: str | None  #: a column of users=: what is drawn as one


#: Every keyword that `evaluate` takes, and the roles that a keyword can name a column
#: for.
KEYWORDS: tuple[str, ...] = tuple(Options.__annotations__)
WEIGHTS = ("propensity", "user_weight")
COLUMNS: tuple[str, ...] = (*(role for role in NAMES if role != "model"), "split")
#: What the arguments of the two tables are called.
NAMES_OF_ARGUMENTS = {RECS: "recs"}
#: Those that several columns may be named for.
OF_SEVERAL = (*IDS, "split")
OF_FRAMES = {*COLUMNS, "cluster"} - {*DECISIONS}  #: what arrays have no use for


def with_options_listed(function: F) -> F:
    """Put the keywords of `Options` in the place of `**options` that help shows."""
    signature = inspect.signature(function)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    taken = {*signature.parameters}
    if "y_true" in taken:
        taken |= OF_FRAMES
    for name, kind in Options.__annotations__.items():
        if name not in taken:
            option = inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(Convention, name, None),
                annotation=kind.__forward_arg__,
            )
            parameters.append(option)
    vars(function)["__signature__"] = signature.replace(parameters=parameters)
    return function


@with_options_listed
def evaluate(
    recs: Input, truth: Input | None = None, **options: Unpack[Options]
) -> Evaluation:
    """Join recommendations with the truth.

    Columns are found by their usual names, as `user_id`, `movieId` or `prediction`, or
    named by keyword. Users and items are matched by id, never by position. Frames are
    never changed.

    Parameters
    ----------
    recs : frame, mapping, Series or path
        A frame with a row per recommended item: user, item, and rank or score; a
        mapping or Series of user to items in rank order, or to a mapping of item to
        score; a frame with a column of such lists, `user, recommended`; the path of a
        file (Parquet, Arrow, CSV, TSV, JSON lines, a run of TREC), or of a folder or
        pattern of files of one form, `"recs/"`, `"recs/*.parquet"`. Frames are those of
        pandas, Polars, pyarrow and DuckDB; Parquet, a LazyFrame, a dataset of pyarrow
        and a relation of DuckDB may be larger than memory. A matrix is `dict(zip(users,
        matrix.tolist()))`. A list of lists, `[["d1", "d2"], ["d3"]]`, is of queries
        numbered from 0. A list of records is a frame, and numbers by pair, `{("ann", "a"):
        4.5}`, are scores.
    truth : frame, mapping, Series or path, optional
        The relevant items in any of these forms: a frame with a row per item, and
        relevance if it is graded; a mapping of user to items, or to a mapping of item
        to relevance; a column of lists, `relevant`; qrels of TREC; a folder of BEIR.
        None if `recs` has both sides, as a log of what was retrieved for each question
        and what should have been; one with both and no item column is learning to
        rank, and each row is an item. An empty list counts as no list.
    user, item, rank, score, relevance, recommended, relevant : str, optional
        Names of columns, as `user="member"`; of users and items one for each frame,
        where they differ: `user=["cust", "customer_uuid"]`.
    split : str or list of str, optional
        Columns of the recommendations that tell the lists of a user apart, as
        `split="day"` or `split=["fold", "seed"]`. A list is judged by the truth of its
        user in its split; a truth without such a column holds for each of its values.
        Means are over lists, and users are still the sample.
    train, items, users : frame or path, optional
        What users had before; items with their titles and attributes; users with their
        columns, for segments.
    convention : Convention or str, optional
        All conventions at once, or the name of a library, as "rectools" or
        "ir_measures".
    order, score_dtype, ties, duplicates, nonpositive_scores, candidates, cutoff : str
        Single conventions, as in `recnb.Convention`, which take precedence over
        `convention`.
    relevant_from : float, optional
        The least relevance of a relevant item.
    judged : {"truth", "list"}
        Which items are judged, as in `recnb.Convention`.
    judged_only : bool
        Whether items that are not judged leave the lists.
    negative_relevance, averaged_users, no_relevant : str
        Single conventions, as in `recnb.Convention`.
    propensity : str, Series or mapping, optional
        The chance that a relevant pair was seen: a column of the truth or of `items=`,
        or a Series by item, as `recnb.popularity_propensity` gives, or by user and item
        (then an evaluation takes twice the time). A pair weighs 1 / propensity wherever
        it is counted. That takes the bias of what was seen out of precision, cg, dcg
        and rbp, if users of whom nothing was seen count 0 (`averaged_users="recs",
        no_relevant="zero"`); out of recall but for what falls with 1 / relevant items;
        and not out of ndcg, whose ideal is what was seen.
    min_propensity : float, optional
        The least propensity, between 0 and 1: a pair weighs 1 / `min_propensity` at
        most.
    user_weight : str, Series or mapping, optional
        What each user counts in means, above 0: a column of `users=`, or a Series by
        user.
    cluster : str, optional
        A column of `users=` whose values are the sample, in the place of users: the
        topic of several queries, or a household.

    Returns
    -------
    Evaluation
        A method for each metric, tables, a report and explanations.

    Raises
    ------
    RecnbError
        Unusable input, such as repeated pairs or missing ids: names the frame, the
        column, an example and the fix.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> recnb.evaluate(recs, truth).reciprocal_rank(k=2)
    reciprocal_rank@2 = 0.7500 (2 users; ordered by rank;
    relevant: every pair of the truth; first relevant item)
    >>> ev = recnb.evaluate({1: ["a", "b"], 2: ["a"]}, {2: {"a": 3}, 1: {"b": 1}})
    >>> round(ev.ndcg(k=2), 4)
    0.8155
    """
    parsed = parse_options(options)
    given = {RECS: recs, TRUTH: truth, **parsed.side_data}
    tables, named = tables_of(given, parsed.columns)
    if parsed.weights:
        parsed = parsed.with_columns_of(tables.get(TRUTH, tables[RECS]).columns)
        if "propensity" in parsed.columns:
            named = {**named, "propensity": [parsed.columns["propensity"]]}
    source = read(tables, named)
    parsed.weigh(source, tables)
    side_data = read_side_data(source, tables, named, cluster=parsed.cluster)
    if TRUTH in tables:
        differing = differing_columns(tables[RECS], tables[TRUTH], source)
        apart = columns_of_lists(tables[RECS], tables[TRUTH], source, differing)
        side_data = replace(side_data, differing=differing, apart=apart)
    labels = {RECS: source.labels, TRUTH: source.truth_labels, **side_data.labels}
    return Evaluation.of(
        source.under(parsed.convention_of(source)),
        library=parsed.library,
        overrides=parsed.overrides,
        side_data=replace(side_data, call=_call_of(parsed, tables, labels)),
    )


@dataclass(frozen=True, eq=False)
class ParsedOptions:
    """The options of an evaluation by kind."""

    columns: Mapping[str, Any]  #: as named by keyword
    convention: Convention  #: the first of a library's, if one is named
    library: str | None
    overrides: Mapping[str, Any]  #: conventions given in addition to a library
    side_data: Mapping[str, Any]  #: frames train, items and users
    weights: Mapping[str, Any]  #: propensity and user_weight, as given
    cluster: str | None = None  #: a column of users=

    def with_columns_of(self, truth: Sequence[object]) -> ParsedOptions:
        """Take a propensity among the columns if it is one of these of the truth."""
        weights = dict(self.weights)
        propensity = weights.pop("propensity", None)
        if not isinstance(propensity, str) or propensity not in truth:
            return self
        columns = {**self.columns, "propensity": propensity}
        return replace(self, columns=columns, weights=weights)

    def weigh(self, source: Source, tables: Mapping[str, InputTable]) -> None:
        """Read weights that are no column of the truth, as of items or users."""
        if not self.weights and "propensity" not in self.columns:
            return
        named = as_named(self.columns)
        propensity = read_weights(
            self.weights.get("propensity"),
            "propensity",
            tables.get("items"),
            named,
            highest=1.0,
        )
        user_weights = read_weights(
            self.weights.get("user_weight"),
            "user_weight",
            tables.get("users"),
            named,
        )
        source.weigh(propensity, user_weights)

    @property
    def stated(self) -> dict[str, Any]:
        """The conventions as they are typed one by one."""
        if self.library is not None:
            return {"convention": self.library, **self.overrides}
        given = {name: getattr(self.convention, name) for name in DECISIONS}
        return {
            name: value
            for name, value in given.items()
            if value != getattr(Convention, name)
        }

    def convention_of(self, source: Source) -> Convention:
        """Return the convention of frames that were read.

        A library reads another column where they lack its own.
        """
        if self.library is None:
            return self.convention
        return source.as_given(self.convention)


def _call_of(
    parsed: ParsedOptions,
    tables: Mapping[str, InputTable],
    labels: Mapping[str, Labels],
) -> Call:
    """Note how an evaluation was called, for code that is shown."""
    weights = {}
    for name, given in parsed.weights.items():
        weights[name] = repr(given) if isinstance(given, str) else name
    return Call(
        frames={
            NAMES_OF_ARGUMENTS.get(name, name): GivenFrame.of(table, labels[name])
            for name, table in tables.items()
        },
        columns={
            role: column
            for role, column in parsed.columns.items()
            if column is not None
        },
        options=parsed.stated,
        library=parsed.library,
        weights=weights,
    )


def parse_options(given: Mapping[str, Any]) -> ParsedOptions:
    """Separate options into columns, side data and conventions; refuse any others."""
    options = dict(given)
    asked = options.pop("convention", None)
    refuse_word_for_users(options.get("users"))
    side_data = {name: options.pop(name) for name in SIDE_FRAMES if name in options}
    weights = {name: options.pop(name, None) for name in WEIGHTS}
    weights = {name: value for name, value in weights.items() if value is not None}
    cluster = options.pop("cluster", None)
    refuse_no_cluster(cluster, side_data)
    if options.get("min_propensity") is not None and "propensity" not in weights:
        raise OptionError(
            "min_propensity= is the least of propensity=, which is not given: give "
            "both."
        )
    columns = {}
    for role in COLUMNS:
        # `relevant` names a column unless it is a word of the convention.
        if role in options and not is_word(options[role], WORDS.get(role, ())):
            columns[role] = options.pop(role)
            _refuse_other_names(role, columns[role])
    for name in options:
        if name not in DECISIONS:
            raise unknown_option(name, "an evaluation", KEYWORDS)
    library, convention = _convention_asked(asked)
    return ParsedOptions(
        columns=columns,
        convention=replace(convention, **options),
        library=library,
        overrides={} if library is None else options,
        side_data=side_data,
        weights=weights,
        cluster=cluster,
    )


def refuse_no_cluster(cluster: object, side_data: Mapping[str, Any]) -> None:
    """Refuse as `cluster=` what cannot be a column of `users=`."""
    if cluster is None:
        return
    if not isinstance(cluster, str) or side_data.get("users") is None:
        raise OptionError(
            f"cluster={quoted(cluster)} is to be a column of users=: name one as text, "
            "and give users=."
        )


def _refuse_other_names(role: str, given: object) -> None:
    """Refuse what is no name of a column, or no names where there may be several."""
    if given is None:
        return
    names = [given]
    if is_several(given) and role in OF_SEVERAL:
        names = [*given]
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"{role}={quoted(given)}: a column is named as text. If yours are not: "
            "frame.columns = frame.columns.map(str)."
        )


def _convention_asked(asked: object) -> tuple[str | None, Convention]:
    """Return the library that `convention=` names, if it does, and the convention."""
    if asked is None:
        return None, Convention()
    if isinstance(asked, str):
        library = presets.library_named(asked)
        return library, presets.data_convention(library)
    if isinstance(asked, Convention):
        return None, asked
    raise OptionError(
        f"convention={quoted(asked)}: give a recnb.Convention or the name of a "
        f"library, such as convention='trec_eval'."
    )


def refuse_word_for_users(users: object) -> None:
    """Refuse a word for who is averaged as `users=`, unless there is such a file."""
    is_such_a_word = isinstance(users, str) and users in WORDS["averaged_users"]
    if not is_such_a_word or os.path.exists(str(users)):
        return
    raise OptionError(
        f"users={users!r} is no file of users, which users= takes, as it takes a "
        "frame; who is averaged is averaged_users=. Type "
        f"averaged_users={users!r}."
    )


def unknown_option(name: str, of: str, known: Iterable[str]) -> OptionError:
    """Return the error for a keyword that is none."""
    of_metrics = {option for metric in METRICS.values() for option in metric.defaults}
    if name in {"k", "metrics", *of_metrics}:
        return OptionError(
            f"{name!r} is no option of {of}: k, metrics and options such as gain "
            "belong to a metric. Type ev.measures(['nDCG@10', 'AP']), or "
            "ev.table(k=10, gain='exponential')."
        )
    return OptionError(f"{name!r} is no option of {of}. {near(name, known)}")


@with_options_listed
def evaluate_groups(
    y_true: Any,
    y_score: Any,
    group: Sequence[int] | None = None,
    *,
    qid: Any = None,
    **options: Unpack[Options],
) -> Evaluation:
    """Evaluate predictions of learning to rank: of each row label, score and query.

    Parameters
    ----------
    y_true, y_score : array-like, shape (n_rows,)
        Relevance of each row, from 0 up, and its score.
    group : array-like, shape (n_queries,), optional
        Number of rows of each query, one after the other, as LightGBM and XGBoost have
        it.
    qid : array-like, shape (n_rows,), optional
        In place of `group`, the query of each row, in any order.
    **options
        Conventions, as in `recnb.evaluate`.

    Returns
    -------
    Evaluation
        Its users are the queries, and each row is an item of its own.

    Examples
    --------
    >>> import recnb
    >>> y_true, y_score = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7]
    >>> ev = recnb.evaluate_groups(y_true, y_score, group=[3, 2])
    >>> ev.ndcg(k=10).per_user.round(4).to_dict()
    {0: 0.648, 1: 0.6309}
    """
    if (group is None) == (qid is None):
        ways = "group=[3, 2], the rows of each query, or qid=, the query of each row."
        raise OptionError(f"the query of each row is needed once: {ways}")
    for option in sorted({*options} & OF_FRAMES):
        raise unknown_option(option, "evaluate_groups", DECISIONS)
    labels = _column(y_true, "y_true")
    scores = _column(y_score, "y_score")
    if group is None:
        query = "qid"
        queries = _column(qid, query)
        refuse_other_number(labels, queries, query)
        refuse_other_order(y_true, qid, query)
        refuse_other_order(y_score, qid, query, beside="y_score")
    else:
        query = "group"
        queries = _queries(group, len(labels))
    refuse_other_number(labels, scores, "y_score")
    refuse_other_order(y_true, y_score, "y_score")
    rows = pl.DataFrame(
        {
            query: from_pandas(queries, BOTH, query, "user"),
            "y_score": from_pandas(scores, BOTH, "y_score", "score"),
            "y_true": from_pandas(labels, BOTH, "y_true", "relevance"),
        }
    )
    named: Any = {"user": query, "score": "y_score", "relevance": "y_true"}
    return evaluate(InputTable.of_rows(BOTH, rows), **named | options)


def _queries(group: Any, n: int) -> pd.Series[Any]:
    """Give each row the number of its query; a query has so many rows."""
    sizes = _column(group, "group")
    are_counts = pd.api.types.is_integer_dtype(sizes) and not (sizes < 1).any()
    # As many sizes as rows are most likely the query of each row.
    if not are_counts or sizes.sum() != n or len(sizes) == n > 1:
        raise FrameError(
            f"group= is the number of rows of each query: whole numbers from 1 up that "
            f"add up to the {n:,} rows of y_true. The query of each row is qid=."
        )
    return pd.Series(np.repeat(np.arange(len(sizes)), sizes))


def _column(values: Any, name: str) -> pd.Series[Any]:
    """Return values as a column; of a Series with its index."""
    if isinstance(values, pd.Series):
        return values
    array = np.asarray(values)
    if array.dtype.kind == "U" and not all(isinstance(each, str) for each in values):
        # numpy makes 1 and "1" the same text.
        array = np.asarray(values, dtype=object)
    if array.ndim != 1 and array.shape[1:] != (1,):
        fix = "give a list, an array of one dimension or a column, frame['...']"
        raise FrameError(f"{name} is {one_line(quoted(values), 80)}: {fix}.")
    return pd.Series(array.ravel())


def evaluate_model(
    model: Any,
    test: Any,
    train: Any = None,
    k: int | Sequence[int] = 10,
    metrics: Iterable[str] | None = None,
    **options: Any,
) -> Table:
    """Evaluate a model that scores all items for a user.

    Items that a user has in `train` are left out, and so are users without test items;
    of equal scores, the lower item number is first.

    Parameters
    ----------
    model : object or callable
        An object whose `predict(user)` returns one score per item, shape (n_items,), or
        a function of the user that does.
    test : sparse matrix, shape (n_users, n_items)
        Of SciPy. An entry above 0 is a relevant item and its relevance.
    train : sparse matrix, shape (n_users, n_items), optional
        What users had before.
    k : int or list of int, default 10
        Cut-off or cut-offs.
    metrics : str or list of str, optional
        As in `Evaluation.table`.
    **options
        Options of the metrics.

    Returns
    -------
    Table
        A row per metric, a column per cut-off.

    Examples
    --------
    >>> import numpy as np, recnb, scipy.sparse as sp
    >>> class Same:
    ...     def predict(self, user): return np.array([0.9, 0.5, 0.1])
    >>> test = sp.csr_matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    >>> recnb.evaluate_model(Same(), test, k=2, metrics=["precision", "recall"]).to_frame()
    k             2
    metric
    precision  0.25
    recall     0.50
    """
    # Which can be taken out.
    from recnb.data.model_predictions import model_lists

    joined = model_lists(model, test, train, k)
    return Evaluation.of(joined).table(metrics, k, **options)
