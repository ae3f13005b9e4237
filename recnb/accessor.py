"""`df.rec`: the way in from any frame.

pandas builds an accessor anew at every `df.rec`, and at every press of Tab, so it keeps nothing and checks nothing
until a method is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl

from recnb.comparison import Comparison, compare
from recnb.evaluate import evaluate
from recnb.evaluation import Evaluation
from recnb.metrics.metric import Metric
from recnb.results import CatalogueScore, Curve, Explanation, Score, Table
from recnb.results.arguments import Metrics
from recnb.results.metric_methods import Methods

if TYPE_CHECKING:
    from recnb.data import Frame
    from recnb.lint.findings import Lint
    from recnb.report.report import Report


class RecAccessor(Methods):
    """Evaluate recommendations from the frame that holds them.

    `recs.rec.against(truth)` joins two frames and is what one keeps to ask several things. A frame that holds both
    sides answers directly: `df.rec.ndcg(k=10)`, `df.rec.report()`; `df.rec.evaluation(...)` sets its columns and
    conventions.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def against(self, truth: Frame, **options: Any) -> Evaluation:
        """These recommendations against a frame of relevant items; columns and conventions are set by keyword.

        >>> import pandas as pd, recnb
        >>> recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
        >>> round(recs.rec.against(pd.DataFrame({"user": [1], "item": ["b"]})).ndcg(k=2), 4)
        0.6309
        """
        return evaluate(self._frame, truth, **options)

    def evaluation(self, **options: Any) -> Evaluation:
        """The evaluation of a frame that holds both sides; columns and conventions are set by keyword."""
        return evaluate(self._frame, None, **options)

    def compare(self, truth: Frame | None = None, **options: Any) -> Comparison:
        """The models of a frame with a `model` column, held against each other; options are those of `recnb.compare`."""
        return compare(self._frame, truth, **options)

    def _score(self, metric: Metric[...], k: int | None, options: dict[str, Any]) -> Score | CatalogueScore:
        return self.evaluation()._score(metric, k, options)

    def table(self, metrics: Metrics = None, k: int | Sequence[int | None] | None = None, **options: Any) -> Table:
        """Means over users: one row per metric, one column per cut-off."""
        return self.evaluation().table(metrics, k, **options)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Curve:
        """A metric at many cut-offs, with a 95% interval at each."""
        return self.evaluation().curve(metric, k, **options)

    def explain(
        self, metric: str, user: Any = None, k: int | None = None, *, lang: str | None = None, **options: Any
    ) -> Explanation:
        """How one user's list comes by its score, in the language that is set or in `lang`."""
        return self.evaluation().explain(metric, user, k, lang=lang, **options)

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        """What is odd about the data, and what it does to the numbers."""
        return self.evaluation().lint(k, metric, **options)

    def report(
        self,
        k: int | Sequence[int] = (5, 10, 20),
        metrics: Metrics = None,
        *,
        by: Any = None,
        bins: int = 4,
        confidence: float = 0.95,
        lang: str | None = None,
        **options: Any,
    ) -> Report:
        """What is odd about the data, each metric with its interval, the curve over k, and the users behind the mean."""
        return self.evaluation().report(k, metrics, by=by, bins=bins, confidence=confidence, lang=lang, **options)


def register() -> None:
    """Make `.rec` known to pandas and to Polars."""
    for frame, registered in (
        (pd.DataFrame, pd.api.extensions.register_dataframe_accessor),
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        known = getattr(frame, "rec", None)
        if known is RecAccessor:
            continue
        if getattr(known, "__module__", None) == __name__:
            # This module was loaded anew: its former accessor gives way without a warning, another's does not.
            delattr(frame, "rec")
        registered("rec")(RecAccessor)
