"""The ways in: recommendations and truth in any form, joined into an Evaluation.

Keywords are told apart: those that name columns, side data, and conventions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd

from recnb.conventions import WORDS, Convention, presets
from recnb.conventions.convention import DECISIONS, Order, Ties
from recnb.data import Source
from recnb.data.names import BOTH, IDS, NAMES, RECS, TRUTH, Named
from recnb.data.read import SIDE_FRAMES, Input, read_tables, tables_of
from recnb.data.side_data import Call, read_side_data
from recnb.data.tables import MadeTable, Tables, package_of
from recnb.data.weights import WEIGHTS, read_weights
from recnb.display.text import one_line
from recnb.errors import (
    FrameError,
    OptionError,
    instead_of,
    is_several,
    is_word,
    near,
    quoted,
)
from recnb.evaluation import Evaluation
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
COLUMNS: tuple[str, ...] = (*(role for role in NAMES if role != "model"), "split")
#: The roles that several columns may be named for.
TAKE_SEVERAL = (*IDS, "split")
#: Keywords that `evaluate_groups` refuses: arrays have no columns, and no ids of items.
NEED_FRAMES = {*COLUMNS, "cluster", "train", "items"} - {*DECISIONS}
#: The convention where nothing is decided; made once, as making one checks it.
USUAL = Convention()

#: Evaluates recommendations and truth, of which one may be local, with options.
Engine = Callable[..., Evaluation]

#: The engine of each package that stores frames, entered by its module
#: (`recnb/dask.py`) when that is imported.
ENGINES: dict[str, Engine] = {}


def engine_of(*frames: Any) -> Engine | None:
    """Return the engine of the first frame that has one, if its module was imported."""
    engines = [ENGINES.get(package_of(frame)) for frame in frames]
    return next(filter(None, engines), None)


def with_options_listed(function: F) -> F:
    """Put the keywords of `Options` in the place of `**options` that help shows."""
    signature = inspect.signature(function)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    left_out = {*signature.parameters}
    takes_arrays = "y_true" in signature.parameters
    if takes_arrays:
        left_out |= NEED_FRAMES
    for name, kind in Options.__annotations__.items():
        if name not in left_out:
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
        file (Parquet, CSV, TSV, a run of TREC), or of a folder or pattern of Parquet,
        `"recs/"`, `"recs/*.parquet"`. Frames are those of pandas, Polars, pyarrow and
        DuckDB; Parquet, a LazyFrame, a dataset of pyarrow and a relation of DuckDB may be
        larger than memory. A matrix is `dict(zip(users, matrix.tolist()))`. A list of
        lists, `[["d1", "d2"], ["d3"]]`, is of queries numbered from 0. A list of records
        is a frame, and numbers by pair, `{("ann", "a"): 4.5}`, are scores.
    truth : frame, mapping, Series or path, optional
        The relevant items in any of these forms: a frame with a row per item, and
        relevance if it is graded; a mapping of user to items, or to a mapping of item
        to relevance; a column of lists, `relevant`; qrels of TREC; a folder of BEIR.
        None if `recs` has both sides, as a log of what was retrieved for each question
        and what should have been; one with both and no item column is learning to
        rank, and each row is an item. An empty list counts as no list.
    user, item, rank, score, relevance, recommended, relevant : str, optional
        Names of columns, as `user="member"`; of users and items one for each frame,
        where they differ: `user=["cust", "customer_uuid"]`. `relevant` may also be a
        word of `recnb.Convention`: ">0", "any" or "!=0".
    split : str or list of str, optional
        Columns of the recommendations that tell the lists of a user apart, such as
        `split="day"` or `split=["fold", "seed"]`. A list is judged by the truth of its
        user in its split; a truth without such a column holds for all of its values.
        Means are over lists, but users are still the sample.
    train, items, users : frame, mapping or path, optional
        What users had before, with a row per item or as lists by user; items with their
        titles and attributes; users with their columns, for segments.
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
        or a Series by item, as `recnb.popularity_propensity` gives. A pair weighs 1 /
        propensity wherever it is counted. This removes the bias of what was seen from
        precision, cg, dcg and rbp, if users of whom nothing was seen count 0
        (`averaged_users="recs", no_relevant="zero"`); from recall, except for what
        falls with 1 / relevant items; but not from ndcg, whose ideal is what was seen.
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
        If input is unusable, such as repeated pairs or missing ids. The error names
        the frame, the column, an example and the fix.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "rank": [1, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    >>> recnb.evaluate(recs, truth).reciprocal_rank(k=2)
    RR@2 = 0.7500 (95% 0.1228–0.9862, 2 users)
    >>> ev = recnb.evaluate({1: ["a", "b"], 2: ["a"]}, {2: {"a": 3}, 1: {"b": 1}})
    >>> round(ev.ndcg(k=2), 4)
    0.8155
    """
    parsed = parse_options(options)
    given = {RECS: recs, TRUTH: truth, **parsed.side_data}
    tables, named = tables_of(given, parsed.columns)
    source = read_tables(tables, named)
    ev = evaluation_with(parsed, source, tables, named)
    if truth is None and TRUTH in tables:
        # The truth was made of lists in the one frame: the caller has no second frame to
        # change by code, or to keep for other lists.
        return ev.without_frame("truth")
    return ev


def evaluation_with(
    parsed: ParsedOptions, source: Source, tables: Tables, named: Named
) -> Evaluation:
    """Return the evaluation of tables that were read, with weights and side data."""
    side_data = read_side_data(source, tables, named, parsed.cluster)
    if parsed.weights:
        weights = read_weights(
            parsed.weights,
            side_data.items,
            side_data.users,
            truth_has_propensity=source.has_propensities,
        )
        source = source.with_weights(*weights)
    convention = parsed.convention
    if parsed.library is not None:
        # A library reads another column where the lists lack its own.
        convention = source.with_order_of_lists(convention)
    return Evaluation(
        source.under(convention),
        library=parsed.library,
        overrides=parsed.overrides,
        side_data=replace(side_data, call=parsed.call),
    )


@dataclass(frozen=True, eq=False)
class ParsedOptions:
    """The options of an evaluation by kind."""

    #: As named by keyword; a propensity may be one, of the truth.
    columns: Mapping[str, Any]
    convention: Convention  #: the first of a library's, if one is named
    library: str | None
    overrides: Mapping[str, Any]  #: conventions given in addition to a library
    side_data: Mapping[str, Any]  #: frames train, items and users
    weights: Mapping[str, Any]  #: propensity and user_weight, as given
    cluster: str | None  #: a column of users=
    call: Call  #: what other lists, or code that repairs the data, will need again


def parse_options(given: Mapping[str, Any]) -> ParsedOptions:
    """Separate options into columns, side data and conventions; refuse any others."""
    options = dict(given)
    asked = options.pop("convention", None)
    side_data, weights, noted_weights = {}, {}, {}
    for name in SIDE_FRAMES:
        if name in options:
            side_data[name] = options.pop(name)
    for name in WEIGHTS:
        weight = options.pop(name, None)
        if weight is not None:
            weights[name] = weight
            noted_weights[name] = weight if isinstance(weight, str) else name
    cluster = options.pop("cluster", None)
    if cluster is not None:
        _refuse_other_clusters(cluster, side_data.get("users"))
    if options.get("min_propensity") is not None and "propensity" not in weights:
        raise OptionError(
            "min_propensity= is the least of propensity=, which is not given: give "
            "both."
        )
    columns = _columns_named(options)
    for name in options:
        if name not in DECISIONS:
            raise unknown_option(name, "an evaluation", KEYWORDS)
    library, convention = _convention_asked(asked, options)
    named = dict(columns)
    if isinstance(weights.get("propensity"), str):
        named["propensity"] = weights["propensity"]
    return ParsedOptions(
        columns=named,
        convention=convention,
        library=library,
        overrides={} if library is None else options,
        side_data=side_data,
        weights=weights,
        cluster=cluster,
        call=Call(columns, convention.order, noted_weights),
    )


def _columns_named(options: dict[str, Any]) -> dict[str, Any]:
    """Take the columns that are named out of the options, by role."""
    columns = {}
    for role in COLUMNS:
        # `relevant` names a column unless it is a word of the convention.
        if role in options and not is_word(options[role], WORDS.get(role, ())):
            column = options.pop(role)
            if column is not None:
                _refuse_other_names(role, column)
                columns[role] = column
    return columns


def _refuse_other_clusters(cluster: object, users: object) -> None:
    """Refuse as `cluster=` what cannot be a column of `users=`."""
    if not isinstance(cluster, str) or users is None:
        raise OptionError(
            f"cluster={quoted(cluster)} is to be a column of users=: name one as text, "
            "and give users=."
        )


def _refuse_other_names(role: str, given: object) -> None:
    """Refuse what is no name of a column, or no names where there may be several."""
    names = [given]
    if is_several(given) and role in TAKE_SEVERAL:
        names = [*given]
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"{role}={quoted(given)}: a column is named as text, {role}='...', or {role}= "
            "is left out. If yours are not: frame.columns = frame.columns.map(str)."
        )


def _convention_asked(
    asked: object, decisions: Mapping[str, Any]
) -> tuple[str | None, Convention]:
    """Return the library that `convention=` names, if it does, and the convention.

    The convention is that of the library with the decisions that were given.
    """
    if asked is None:
        asked = USUAL
    if isinstance(asked, str):
        library = presets.library_named(asked)
        return library, replace(presets.data_convention(library), **decisions)
    if isinstance(asked, Convention):
        return None, replace(asked, **decisions) if decisions else asked
    raise OptionError(
        f"convention={quoted(asked)}: give a recnb.Convention or the name of a "
        f"library, such as convention='trec_eval'."
    )


def unknown_option(name: str, of: str, known: Iterable[str]) -> OptionError:
    """Return the error for a keyword that is none."""
    fix = instead_of(["evaluate"], name) or near(name, known)
    return OptionError(f"{name!r} is no option of {of}. {fix}")


@with_options_listed
def evaluate_groups(
    y_true: Any,
    y_score: Any,
    group: Sequence[int] | None = None,
    *,
    qid: Any = None,
    **options: Unpack[Options],
) -> Evaluation:
    """Evaluate learning-to-rank predictions: a label, score and query for each row.

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
    refused = sorted(name for name in NEED_FRAMES if options.get(name) is not None)
    if refused:
        raise OptionError(
            f"{refused[0]!r} is no option of evaluate_groups, of which each row is an item "
            "of its own: leave it out, or give frames to recnb.evaluate."
        )
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
    columns = {query: queries, "y_score": scores, "y_true": labels}
    # Side by side as they stand, whatever their labels are.
    rows = pd.DataFrame({name: column.array for name, column in columns.items()})
    named: Any = {"user": query, "score": "y_score", "relevance": "y_true"}
    return evaluate(MadeTable.of(rows, BOTH), **options | named)


def _queries(group: Any, n: int) -> pd.Series[Any]:
    """Return the query of each of `n` rows, from 0, by how many rows each query has."""
    sizes = _column(group, "group")
    are_counts = pd.api.types.is_integer_dtype(sizes) and not (sizes < 1).any()
    if not are_counts or sizes.sum() != n:
        raise FrameError(
            f"group= is the number of rows of each query: whole numbers from 1 up that "
            f"add up to the {n:,} rows of y_true. The query of each row is qid=."
        )
    if len(sizes) == n > 1:
        # These are most likely the query of each row.
        raise FrameError(
            f"group= is 1 for each of the {n:,} rows of y_true, which may be all of one "
            f"query, or each of its own. Say which: group=[{n}] or qid=range({n})."
        )
    return pd.Series(np.repeat(np.arange(len(sizes)), sizes))


def _column(values: Any, name: str) -> pd.Series[Any]:
    """Return values as a column; of a Series with its index."""
    if isinstance(values, pd.Series):
        return values
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        raise _no_column(values, name) from None
    if array.dtype.kind == "U" and not all(isinstance(each, str) for each in values):
        # numpy makes 1 and "1" the same text.
        array = np.asarray(values, dtype=object)
    if array.ndim != 1 and array.shape[1:] != (1,):
        raise _no_column(values, name)
    return pd.Series(array.ravel())


def _no_column(values: Any, name: str) -> FrameError:
    """Return the error for what is no column of values."""
    return FrameError(
        f"{name} is {one_line(quoted(values), 80)}: give a list, an array of one "
        "dimension or a column, frame['...']."
    )
