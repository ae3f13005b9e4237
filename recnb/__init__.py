"""recnb: evaluate rankings and recommendations, and see how every number is made.

    ev = recnb.evaluate(recs, truth)          two frames, mappings or files
    ev.ndcg(k=10)                             a number with its users and its interval
    ev.table(k=[5, 10])                       the usual metrics
    ev.report()                               the whole picture
    ev.explain("ndcg", user, k=10)            the sum behind the number of one user
    ev.worst("ndcg", k=10)                    the users to look at
    recnb.compare({"a": recs, "b": others}, truth).report()     which is better
    df.rec.ndcg(k=10)                         of one frame that holds both sides
    recnb.ndcg(["a", "b"], {"b": 2}, k=2)     of one list
    recnb.as_in("ranx", "ndcg", recs, truth, k=10)     as another library counts

Importing recnb registers `.rec` on pandas and Polars frames.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from recnb import accuracy, conventions, datasets, errors, inputs
from recnb.accessor import RecAccessor, register
from recnb.accuracy import *  # noqa: F403
from recnb.accuracy import average_precision as map  # noqa: F401
from recnb.conventions import Convention
from recnb.data.files import read_trec_qrels, read_trec_run
from recnb.data.weights import popularity_propensity
from recnb.display.language import language
from recnb.evaluate import evaluate, evaluate_groups
from recnb.evaluation import Evaluation
from recnb.metrics import measure
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.results import CatalogueScore, Explanation, Interval, Score, Table
from recnb.results.detectable import users_needed
from recnb.results.own_metric import metric
from recnb.results.single_list import explain
from recnb.results.stored_values import interval, paired
from recnb.version import __version__

if TYPE_CHECKING:
    from recnb.comparison import Comparison, compare
    from recnb.libraries import as_in
    from recnb.model_predictions import evaluate_model
    from recnb.report.report import read_report
    from recnb.search import auc
    from recnb.widgets import playground
    from recnb.widgets.quiz import quiz

for _module in iter_modules(inputs.__path__, "recnb.inputs."):
    import_module(_module.name)
register()

#: `map` is left out: `from recnb import *` would replace Python's.
__all__ = [
    *accuracy.__all__,
    "LIST_METRICS",
    "METRICS",
    "CatalogueScore",
    "Comparison",
    "Convention",
    "Evaluation",
    "Explanation",
    "Interval",
    "RecAccessor",
    "Score",
    "Table",
    "__version__",
    "as_in",
    "auc",
    "compare",
    "conventions",
    "datasets",
    "errors",
    "evaluate",
    "evaluate_groups",
    "evaluate_model",
    "explain",
    "interval",
    "language",
    "metric",
    "paired",
    "playground",
    "popularity_propensity",
    "quiz",
    "read_report",
    "read_trec_qrels",
    "read_trec_run",
    "users_needed",
]


def __dir__() -> list[str]:
    """Return the public names, which Tab completes and help shows.

    `Table` is left out: its help would be that of pandas.
    """
    return [*({*__all__} - {"Table"})]


#: The module of each name that is imported when it is used, and the folders that are.
_MODULES = {
    "Comparison": "comparison",
    "as_in": "libraries",
    "auc": "search",
    "compare": "comparison",
    "evaluate_model": "model_predictions",
    "playground": "widgets",
    "quiz": "widgets.quiz",
    "read_report": "report.report",
}
_FOLDERS = (
    "cli",
    "comparison",
    "distributed",
    "libraries",
    "lint",
    "report",
    "widgets",
)


def _instead_of(name: str) -> str:
    """Say what to type for a name that recnb lacks; empty if nothing is known."""
    call = measure.call_of(name)
    metric, _bracket, cutoff = call.partition("(")
    if metric in METRICS:
        return f"Type recnb.{metric}(ranking, relevant, {cutoff}."
    if call:
        return f"Type recnb.evaluate(recs, truth).{call}."
    return errors.instead_of(["recnb"], name)


if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        if name in _FOLDERS:
            return import_module(f"recnb.{name}")
        if name not in _MODULES:
            raise errors.no_attribute("recnb", name, __all__, _instead_of(name))
        return getattr(import_module(f"recnb.{_MODULES[name]}"), name)
