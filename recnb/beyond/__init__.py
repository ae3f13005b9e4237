"""Metrics beyond accuracy, and the data they read: all lists and their items.

Importing this room enters its kinds of metrics, its metrics and its reader of items in
the tables of the layers below. `Evaluation` has the methods of `BeyondMethods`.
"""

from recnb.beyond import kinds  # isort: skip

# In the order in which tables show them.
from recnb.beyond import coverage  # isort: skip
from recnb.beyond import novelty  # isort: skip
from recnb.beyond import diversity  # isort: skip
from recnb.beyond import history  # isort: skip

from recnb.beyond import own
from recnb.beyond.item_data import ItemData
from recnb.results.evaluation_data import EvaluationData

EvaluationData.item_reader = ItemData

__all__ = [
    "coverage",
    "diversity",
    "history",
    "kinds",
    "novelty",
    "own",
]
