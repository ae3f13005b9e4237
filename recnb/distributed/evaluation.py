"""An evaluation whose rows stay with an engine: means from sums, output per user from fetched hits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import pandas as pd
import polars as pl

from recnb.comparison.models import Fetchable, engine_of
from recnb.conventions import Convention
from recnb.data import Layout, Source
from recnb.data.columns import columns_of
from recnb.data.parts import Kept, Parts
from recnb.data.relevance import LazyRows
from recnb.data.side_data import read_side_data
from recnb.data.source import elsewhere
from recnb.display.templates import render
from recnb.distributed import kernel
from recnb.distributed.kernel import Plan
from recnb.distributed.partial import Partial, Question, refuse_unless_mean
from recnb.errors import FrameError, OptionError, RecnbError, UnknownUserError
from recnb.evaluation import Evaluation
from recnb.metrics.hits import Hits
from recnb.metrics.metric import Metric
from recnb.options import parse_options
from recnb.results import Explanation, Table
from recnb.results.arguments import Metrics
from recnb.results.explanation import explanation_of
from recnb.results.metric_methods import Methods
from recnb.results.score import PartialScore

if TYPE_CHECKING:
    from recnb.lint.findings import Lint
    from recnb.report.report import Report
    from recnb.stats import Detectable
    from recnb.widgets.explorer_view import Explorer


class _EngineParts(Parts):
    """The parts of an engine, of which hits and counts are gathered."""

    def __init__(self, evaluation: PartedEvaluation) -> None:
        self._evaluation, self.layout = evaluation, evaluation._plan.layout
        self.where, self.remedy = evaluation.engine, evaluation.remedy

    def each(self, work: Any) -> Any:
        """Return what is kept of each part."""
        refuse_unless_mean(work.args[0], self.where)
        return self._evaluation._gathered(work.args[0])

    def rows_of(self, users: pl.Series) -> Source:
        """Return the rows of some users."""
        return self._evaluation._source_of(users)


class PartedScore(PartialScore):
    """A metric's mean over users; its interval comes of sums, and `per_user` stays with the engine."""

    _values: Callable[[], Any]

    @property
    def per_user(self) -> Any:
        """The value of each user as the engine's own lazy column, indexed or named by user."""
        if not hasattr(self, "_values"):
            raise RecnbError(
                "the values of users stayed where this score was pickled: ask the evaluation for them again."
            )
        return self._values()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_values"}


class PartedEvaluation(Methods, Fetchable):
    """One model's data in an engine; computed on the first number.

    `table`, the metrics, `curve` and `partial` bring back sums: a few numbers of all users. `per_user` is the engine's own
    lazy frame. `report`, `table(by=...)`, `detectable`, `lint`, `explore` and `recnb.compare` look at users side by side: they
    work on `fetch()`, which brings hits, truth and a few counts of each user here, and leaves the rows of the lists.

    Intervals come of sums, and are those of an Evaluation.
    """

    name: ClassVar[str]  #: of the engine
    engine: ClassVar[str]  #: where the rows stay, in words
    parts: ClassVar[str]  #: what users are put into, in words
    remedy: ClassVar[str]  #: what to type to have all rows here
    scored: ClassVar[type[PartedScore]] = PartedScore  #: what its scores are
    _n: int  #: how many parts users are put into
    _floats: tuple[str, ...] = ()  #: columns whose ids are floats, as the lint names them: recs['user']

    def __init__(self, recs: Any, truth: Any, options: Mapping[str, Any], npartitions: int | None = None) -> None:
        if npartitions is not None and not (isinstance(npartitions, int) and npartitions >= 1):
            raise OptionError(f"npartitions={npartitions!r} is no number of parts: give a whole number from 1 up.")
        given = parse_options(options)
        self._given, self._options = (recs, truth), dict(options)
        self._plan = Plan(given, Layout.of(self._empty(recs), self._empty(truth), given.columns))
        refuse_unless_mean(given.convention, f"{self.name} frames")
        for name, frame in given.side_data.items():
            if engine_of(frame) is not None:
                raise FrameError(
                    f"{name}= is looked at here, and not with an engine: give a pandas or Polars frame of it."
                )
            columns_of(frame, name)

    # ---- what an engine does ----------------------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def _empty(frame: Any) -> Any:
        """A frame without rows that has the columns of the engine's."""

    @abstractmethod
    def partial(self, metrics: Metrics = None, k: Any = None, **options: Any) -> Any:
        """The sums of all users as a `Partial`, which adds up with others."""

    @abstractmethod
    def _values(self, question: Question, *, drop: bool = False) -> Any:
        """Each user's values as the engine's own lazy frame; with `drop`, those of one metric, without users who are left out."""

    @abstractmethod
    def _gathered(self, convention: Convention) -> Iterable[Kept]:
        """Hits and counts of each part, under a convention."""

    @abstractmethod
    def _rows_of(self, users: pl.Series) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The rows of a few users on either side, with columns named by role as `kernel.part` takes them."""

    @abstractmethod
    def _scale(self, question: Question) -> float:
        """The highest relevance that counts among all users."""

    # ---- what follows -----------------------------------------------------------------------------------------

    def under(self, library: str) -> Self:
        """The same data under another library's conventions."""
        given = self._plan.given
        return type(self)(*self._given, {**given.columns, **given.side_data, "convention": library}, self._n)

    @property
    def convention(self) -> Convention:
        """The conventions given."""
        return self._plan.given.convention

    def _score(self, metric: Metric[...], k: int | None, options: Mapping[str, Any]) -> PartedScore:
        if not metric.is_accuracy:  # these look at all lists together, which no part holds
            raise elsewhere(self.engine, self.remedy)
        mean = self._partial([metric.name], k, options).score(metric.name, k)
        score = self.scored(mean.moments, mean.metric, mean.k, mean.convention, mean.basis)
        score._values = lambda: self._values(self._question([metric.name], k, options), drop=True)
        return score

    def per_user(self, metrics: Metrics = None, k: Any = None, **options: Any) -> Any:
        """Each user's values, a column for each metric at each cut-off; NaN where a user is left out.

        A Dask DataFrame is indexed by user, and a Spark DataFrame has a column of users. Both are lazy.
        """
        return self._values(self._question(metrics, k, options))

    def table(
        self,
        metrics: Metrics = None,
        k: int | Sequence[int | None] | None = None,
        *,
        intervals: bool = False,
        by: Any = None,
        bins: int = 4,
        **options: Any,
    ) -> Table:
        """Means over users: one row per metric, one column per cut-off; `intervals` and `by` are those of an Evaluation."""
        if by is not None:
            return self.fetch().table(metrics, k, by=by, bins=bins, **options)
        return self._partial(metrics, k, options).table(intervals=intervals)

    def curve(self, metric: str, k: Iterable[int] = range(1, 21), **options: Any) -> Table:
        """A metric at many cut-offs, with a 95% interval at each."""
        return self._partial([metric], list(k), options).curve(metric)

    def explain(
        self, metric: str, user: Any, k: int | None = None, *, lang: str | None = None, **options: Any
    ) -> Explanation:
        """Return the worked computation of one user's score; only that user's rows are fetched."""
        question = self._question([metric], k, options)
        rows = self._rows_of(pl.Series("user", [user]))
        if not any(map(len, rows)):
            raise UnknownUserError(f"user {user!r} is in neither frame.")
        if question.needs_scale:
            options = {**options, "max_relevance": self._scale(question) or None}
        return explanation_of(kernel.part(*rows, self._plan).data, metric, user, k, options, lang)

    def fetch(self) -> Evaluation:
        """Return an Evaluation in this process, of the hits, the truth and a few counts per user, without the rows of the lists.

        It needs memory for hits, truth and users, and not for recommendations. What looks at every row of the lists
        (metrics beyond accuracy, conventions compared row by row) is an error that says so.
        """
        return self._fetched

    @cached_property
    def _fetched(self) -> Evaluation:
        given, layout = self._plan.given, self._plan.layout
        parts = _EngineParts(self)

        def truth() -> pl.DataFrame:
            return source.under(given.convention_for(source)).judged.select(*layout.truth)

        source = Source(parts.away, LazyRows(truth), layout.recs, layout.truth, floats=self._floats)
        return Evaluation(given.data(source, read_side_data(source, None, given.columns, **given.side_data)))

    def _source_of(self, users: pl.Series) -> Source:
        source = kernel.part(*self._rows_of(users), self._plan).data.prepared.source
        assert source is not None
        return source

    def hits(self, depth: int | None = None) -> Hits:
        """The hits of `fetch()` down to a rank."""
        return self.fetch().hits(depth)

    def report(
        self, k: int | Sequence[int] = (5, 10, 20), metrics: Metrics = None, *, by: Any = None, **options: Any
    ) -> Report:
        """A report as an Evaluation gives it, of what `fetch` brings."""
        return self.fetch().report(k, metrics, by=by, **options)

    def detectable(self, metric: str, k: int | None = None, power: float = 0.8, **options: Any) -> Detectable:
        """The smallest difference that these users can show, as for an Evaluation; `against` may be one of these as well."""
        if isinstance(against := options.get("against"), Fetchable):
            options["against"] = against.fetch()
        return self.fetch().detectable(metric, k, power, **options)

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        """Check the data for problems, except for checks that need all rows of the lists."""
        return self.fetch().lint(k, metric, **options)

    def explore(self, metric: str = "ndcg", k: int | None = 10, **options: Any) -> Explorer:
        """The widget of an Evaluation; lists are fetched one user at a time."""
        return self.fetch().explore(metric, k, **options)

    def user(self, user: Any, k: int | None = None) -> Table:
        """One user's list, as for an Evaluation; only that user's rows are fetched."""
        return self.fetch().user(user, k)

    def why(self, *args: Any, **options: Any) -> NoReturn:
        """Not to be had of parts: it prepares the same rows under several conventions."""
        raise elsewhere(self.engine, self.remedy)

    identify = spread = beyond = items = why

    def _partial(self, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Partial:
        partial: Partial = self.partial(metrics, k, **options)
        return partial

    def _question(self, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> Question:
        return Question.of(self._plan.given.library, metrics, k, options)

    def __repr__(self) -> str:
        return (
            f"Evaluation of {self.name} DataFrames, {self._n:,} {self.parts}, nothing computed yet; {self.convention}\n"
            "Methods: .table(k=[5, 10]), .ndcg(k=10), .curve('ndcg'), .per_user(['ndcg'], k=10), .report(), .fetch()"
        )

    def _repr_html_(self) -> str:
        return str(render("distributed/evaluation.jinja", lines=repr(self).split("\n")))
