"""The metrics; importing this enters them in `recnb.metric.METRICS`."""

from recnb.metrics import accuracy
from recnb.metrics.references import REFERENCES

__all__ = ["REFERENCES", "accuracy"]
