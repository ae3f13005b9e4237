"""What every metric is made of: hits, credit, options, formulas, measures by name.

`recnb/accuracy.py` has the metrics of accuracy, and rooms beside it have others.
"""

from recnb.metrics.gain import out_of_count
from recnb.metrics.metric import REFERENCES, Credit, as_column

__all__ = [
    "REFERENCES",
    "Credit",
    "as_column",
    "out_of_count",
]
