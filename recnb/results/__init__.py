"""The data of an evaluation, and its scores, tables, curves and explanations."""

from recnb.results.explanation import Explanation
from recnb.results.score import CatalogueScore, Interval, Score
from recnb.results.table import Table

__all__ = ["CatalogueScore", "Explanation", "Interval", "Score", "Table"]
