"""The metrics; importing this enters them in `recnb.metric.METRICS` and `recnb.list_metric.LIST_METRICS`."""

from recnb.metrics import accuracy, calibration, catalogue, lists, serendipity
from recnb.metrics.references import REFERENCES

__all__ = ["REFERENCES", "accuracy", "calibration", "catalogue", "lists", "serendipity"]
