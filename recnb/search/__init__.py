"""Measures of search: of judgments, sets and counts.

Importing this room enters them in the tables of the layers below, with the hits that
they read, and `auc` among the metrics of one list.
"""

from recnb.results.calls import function
from recnb.results.scoring import READERS_OF_HITS
from recnb.results.single_list import OF_SEARCH
from recnb.search import measures

READERS_OF_HITS["judged"] = measures.with_judged
OF_SEARCH[measures.auc.name] = measures.auc
auc = function(measures.auc)

__all__ = ["auc", "measures"]
