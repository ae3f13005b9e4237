"""The metrics; importing this enters them in `recnb.metrics.metric.METRICS`, `RETRIEVAL_METRICS` and `LIST_METRICS`."""

# In the order in which tables show them.
from recnb.metrics import accuracy  # isort: skip
from recnb.metrics import retrieval  # isort: skip
from recnb.metrics import coverage  # isort: skip
from recnb.metrics import novelty  # isort: skip
from recnb.metrics import serendipity  # isort: skip
from recnb.metrics import calibration  # isort: skip
from recnb.metrics.references import REFERENCES

__all__ = ["REFERENCES", "accuracy", "calibration", "coverage", "novelty", "retrieval", "serendipity"]
