"""recnb: evaluate rankings and recommendations, and see how every number is made.

    recs.rec.against(truth).report()                       two frames
    df.rec.ndcg(k=10)                                      one frame that holds both sides
    recnb.ndcg(["a", "b", "c"], {"b": 2, "d": 1}, k=3)     one list

Importing recnb registers `.rec` on pandas and Polars frames.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from recnb import conventions, datasets, errors, inputs
from recnb.accessor import RecAccessor, register
from recnb.conventions import Convention
from recnb.data.files import read_trec_qrels, read_trec_run
from recnb.data.weights import popularity_propensity
from recnb.display.language import language
from recnb.evaluate import evaluate, evaluate_groups, evaluate_model
from recnb.evaluation import Evaluation
from recnb.metrics import measure
from recnb.metrics.metric import LIST_METRICS, METRICS
from recnb.results import CatalogueScore, Explanation, Interval, Score, Table
from recnb.results.metric_methods import (  # noqa: F401 (map)
    auc,
    average_precision,
    cg,
    dcg,
    err,
    f1,
    fbeta,
    hit_rate,
    idcg,
    map,
    mrr,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
    reciprocal_rank,
)
from recnb.results.own_metric import metric
from recnb.results.single_list import explain
from recnb.results.stored_values import interval, paired
from recnb.stats import users_needed
from recnb.version import __version__

if TYPE_CHECKING:
    from recnb.comparison import Comparison, compare
    from recnb.libraries import as_in
    from recnb.widgets import playground
    from recnb.widgets.quiz import quiz

for _module in iter_modules(inputs.__path__, "recnb.inputs."):
    import_module(_module.name)
register()

#: `map` is left out: `from recnb import *` would replace Python's.
__all__ = [
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
    "average_precision",
    "cg",
    "compare",
    "conventions",
    "datasets",
    "dcg",
    "err",
    "errors",
    "evaluate",
    "evaluate_groups",
    "evaluate_model",
    "explain",
    "f1",
    "fbeta",
    "hit_rate",
    "idcg",
    "interval",
    "language",
    "metric",
    "mrr",
    "ndcg",
    "paired",
    "playground",
    "popularity_propensity",
    "precision",
    "quiz",
    "r_precision",
    "rbp",
    "read_trec_qrels",
    "read_trec_run",
    "recall",
    "reciprocal_rank",
    "users_needed",
]


def __dir__() -> list[str]:
    """Return the public names, which Tab completes and help shows.

    Frames are not among them: their help is that of pandas.
    """
    return sorted({*__all__} - {"Table"})


#: The module of each name that is imported when it is used, and the folders of these,
#: which are most of recnb's code.
_MODULES = {
    "Comparison": "comparison",
    "as_in": "libraries",
    "compare": "comparison",
    "playground": "widgets",
    "quiz": "widgets.quiz",
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

if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        if name in _FOLDERS:
            return import_module(f"recnb.{name}")
        if name not in _MODULES:
            raise errors.no_attribute("recnb", name, __all__, measure.called(name))
        return getattr(import_module(f"recnb.{_MODULES[name]}"), name)
