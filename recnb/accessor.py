"""The accessor `df.rec` of pandas and Polars frames.

pandas makes an accessor anew at every `df.rec` and at every press of Tab, so it has no
state and checks nothing before a method is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import getmembers, isfunction, signature
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd
import polars as pl

from recnb.data import Frame
from recnb.data.names import BOTH, NAMES
from recnb.data.read import Input
from recnb.data.tables import InputTable
from recnb.errors import OptionError, RecnbError
from recnb.evaluate import KEYWORDS, Options, evaluate, with_options_listed
from recnb.evaluation import Evaluation, EvaluationMethods

if TYPE_CHECKING:
    from recnb.comparison import Comparison


@cache  # one method for a metric and its other name, such as `mrr`
def _of_frame(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a method of an evaluation into one of a frame.

    Keywords of `recnb.evaluate` are for the evaluation, others for the method. A keyword
    of both, such as `user` of `explain`, is for the method, unless the call has given the
    method's by position.
    """
    _self, *parameters = signature(method).parameters

    @wraps(method)
    def call(self: RecAccessor, *given: Any, **options: Any) -> Any:
        if given and hasattr(given[0], "columns"):
            name = method.__name__
            raise OptionError(
                f"df.rec.{name} takes no truth. Type recs.rec.against(truth).{name}(...)."
            )
        not_yet_given = parameters[len(given) :]
        data_options, method_options = {}, {}
        for name, value in options.items():
            if name in KEYWORDS and name not in not_yet_given:
                data_options[name] = value
            else:
                method_options[name] = value
        return method(
            evaluate(self._frame, None, **data_options), *given, **method_options
        )

    return call


class RecAccessor(EvaluationMethods):
    """Evaluate recommendations from their frame: `df.rec`.

    `recs.rec.against(truth)` joins two frames and returns an Evaluation, to be kept for
    several questions. A frame that has both sides is evaluated directly:
    `df.rec.ndcg(k=10)`, `df.rec.report()`. Each method takes columns and conventions by
    keyword as well, `df.rec.ndcg(k=10, user="query", ties="expected")`;
    `df.rec.evaluation(...)` takes them alone.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> df = pd.DataFrame({"query": [1, 1], "label": [0, 1], "prediction": [0.9, 0.4]})
    >>> round(df.rec.ndcg(k=10), 4)
    0.6309
    """

    _typed_as = "df.rec"

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    @with_options_listed
    def against(self, truth: Input, **options: Unpack[Options]) -> Evaluation:
        """Join these recommendations with the truth.

        Parameters
        ----------
        truth : frame, mapping, Series or path
            Any form that `recnb.evaluate` takes.
        **options
            Those of `recnb.evaluate`.

        Returns
        -------
        Evaluation
            To be kept for several questions.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = sample.models["item-knn"].rec.against(sample.test)
        >>> round(ev.ndcg(k=10), 4)
        0.2589
        """
        return evaluate(self._frame, truth, **options)

    @with_options_listed
    def evaluation(self, **options: Unpack[Options]) -> Evaluation:
        """Return the Evaluation of a frame that has both sides.

        Parameters
        ----------
        **options
            Those of `recnb.evaluate`.

        Returns
        -------
        Evaluation
            To be kept for several questions.

        Examples
        --------
        >>> import pandas as pd, recnb
        >>> df = pd.DataFrame({"query": [1, 1], "label": [0, 1], "prediction": [0.9, 0.4]})
        >>> df.rec.evaluation(user="query").reciprocal_rank().per_user.to_dict()
        {1: 0.5}
        """
        return evaluate(self._frame, None, **options)

    def compare(self, truth: Input | None = None, **options: Any) -> Comparison:
        """Compare the models of a frame with a `model` column.

        Parameters
        ----------
        truth : frame, mapping, Series or path, optional
            Any form that `recnb.evaluate` takes; None if the frame has both sides.
        **options
            Those of `recnb.compare`.

        Returns
        -------
        Comparison
            A mapping of names to Evaluations, with a report, tables and differences.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> list(sample.recommendations.rec.compare(sample.test))
        ['item-knn', 'factors', 'popular']
        """
        from recnb.comparison import compare

        return compare(self._frame, truth, **options)

    def __repr__(self) -> str:
        """Say which roles columns play by their names, and what to type next."""
        try:
            by_role = InputTable.of(self._frame, BOTH).by_role
        except RecnbError as problem:
            return f"df.rec: {problem}"
        found = {role: by_role[role] for role in NAMES if role in by_role}
        roles = ", ".join(
            f"{role} {' or '.join(map(repr, names))}" for role, names in found.items()
        )
        return (
            f"df.rec: {roles or 'no column that recnb knows by its name'}\n"
            "Methods: .against(truth); .compare(truth) where a column names the "
            "model; of a frame with both sides .report(), "
            ".ndcg(k=10), .table(k=[5, 10]). Columns are named by user=, item=, "
            "rank=, score=, relevance=."
        )


# Each method that is inherited is that of an evaluation, and becomes one of a frame.
for _name, _method in getmembers(EvaluationMethods, isfunction):
    if not _name.startswith("_"):
        setattr(RecAccessor, _name, _of_frame(_method))


def register() -> None:
    """Register `.rec` with pandas and Polars.

    The accessor of a former import of this module is replaced without a warning.
    """
    for frame, register_accessor in (
        (pd.DataFrame, pd.api.extensions.register_dataframe_accessor),
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        if getattr(getattr(frame, "rec", None), "__module__", None) == __name__:
            delattr(frame, "rec")
        register_accessor("rec")(RecAccessor)
