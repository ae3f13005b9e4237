"""recnb: evaluate rankings and recommendations, and see how every number is made.

    recs.rec.against(truth).report()                       two frames
    df.rec.ndcg(k=10)                                      one frame that holds both sides
    recnb.ndcg(["a", "b", "c"], {"b": 2, "d": 1}, k=3)     one list

Importing recnb registers `.rec` on pandas and Polars frames.
"""

from recnb import conventions, datasets, errors
from recnb.accessor import RecAccessor, register
from recnb.chunks import ChunkedEvaluation, evaluate_chunks
from recnb.comparison import Comparison, compare
from recnb.conventions import Convention
from recnb.entry import evaluate
from recnb.evaluation import Evaluation
from recnb.list_metric import LIST_METRICS
from recnb.metric import METRICS
from recnb.metrics import accuracy
from recnb.model import evaluate_model
from recnb.one_list import explain, on_lists
from recnb.partial import Partial
from recnb.quizzes import quiz
from recnb.results import CatalogueScore, Curve, Explanation, Interval, Score, Table, glossary
from recnb.strings import language
from recnb.trec import read_trec_qrels, read_trec_run, write_trec_qrels, write_trec_run
from recnb.uncertainty import users_needed
from recnb.whose import as_in
from recnb.widgets import playground, quiz_view

precision = on_lists(accuracy.precision)
recall = on_lists(accuracy.recall)
f1 = on_lists(accuracy.f1)
fbeta = on_lists(accuracy.fbeta)
hit_rate = on_lists(accuracy.hit_rate)
reciprocal_rank = on_lists(accuracy.reciprocal_rank)
mrr = reciprocal_rank
average_precision = on_lists(accuracy.average_precision)
map = average_precision
cg = on_lists(accuracy.cg)
dcg = on_lists(accuracy.dcg)
idcg = on_lists(accuracy.idcg)
ndcg = on_lists(accuracy.ndcg)
r_precision = on_lists(accuracy.r_precision)
rbp = on_lists(accuracy.rbp)
err = on_lists(accuracy.err)

register()
quiz_view.register()

__version__ = "0.1.0"

__all__ = [
    "LIST_METRICS", "METRICS", "CatalogueScore", "ChunkedEvaluation", "Comparison", "Convention", "Curve", "Evaluation", "Explanation", "Interval", "Partial", "RecAccessor", "Score", "Table",
    "as_in", "average_precision", "cg", "compare", "conventions", "datasets", "dcg", "err", "errors", "evaluate", "evaluate_chunks", "evaluate_model", "explain", "f1", "fbeta",
    "glossary", "hit_rate", "idcg", "language", "map", "mrr", "ndcg", "playground", "precision", "quiz", "r_precision", "rbp", "read_trec_qrels", "read_trec_run", "recall", "reciprocal_rank",
    "users_needed", "write_trec_qrels", "write_trec_run",
]  # fmt: skip
