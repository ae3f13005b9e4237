"""What an evaluation answers with: frozen data first, and apart from it how each shows itself."""

from recnb.results.catalogue_score import CatalogueScore
from recnb.results.curve import Curve
from recnb.results.explanation import Explanation
from recnb.results.score import Interval, Score
from recnb.results.table import Table

__all__ = ["CatalogueScore", "Curve", "Explanation", "Interval", "Score", "Table"]
