"""The metrics of accuracy, by name; rooms beside this package have others.

Importing it enters them in `recnb.metrics.metric.METRICS`.
"""

from recnb.metrics import accuracy
from recnb.metrics.calls import REFERENCES
from recnb.metrics.gain import as_column, out_of_count
from recnb.metrics.metric import Credit

__all__ = [
    "REFERENCES",
    "Credit",
    "accuracy",
    "as_column",
    "out_of_count",
]
