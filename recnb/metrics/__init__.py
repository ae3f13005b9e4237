"""The metrics, by name.

Importing this package enters them in `recnb.metrics.metric.METRICS`, `RETRIEVAL_METRICS` and
`LIST_METRICS`.
"""

from recnb.display.data_file import rows_of

# In the order in which tables show them.
from recnb.metrics import accuracy  # isort: skip
from recnb.metrics import retrieval  # isort: skip
from recnb.metrics import coverage  # isort: skip
from recnb.metrics import novelty  # isort: skip
from recnb.metrics import diversity  # isort: skip
from recnb.metrics import history  # isort: skip

from recnb.metrics.gain import as_column, out_of_count
from recnb.metrics.metric import Credit

#: The publications that define the metrics: citation key -> authors, year, title,
#: where, doi.
REFERENCES = {row["key"]: row for row in rows_of("metrics/references.csv")}

__all__ = [
    "REFERENCES",
    "Credit",
    "accuracy",
    "as_column",
    "coverage",
    "diversity",
    "history",
    "novelty",
    "out_of_count",
    "retrieval",
]
