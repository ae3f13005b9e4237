"""The metrics; importing this enters them in `recnb.metrics.metric.METRICS` and `recnb.metrics.list_metric.LIST_METRICS`."""

from recnb.metrics import accuracy, calibration, coverage, novelty, serendipity
from recnb.metrics.references import REFERENCES

__all__ = ["REFERENCES", "accuracy", "calibration", "coverage", "novelty", "serendipity"]
