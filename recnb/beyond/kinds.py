"""The two kinds of metrics beyond accuracy, by what their function returns."""

from __future__ import annotations

from recnb.beyond.explained import explanation_of_lists
from recnb.beyond.scoring import values_of_lists
from recnb.metrics.metric import KINDS, Metric, P


class OfLists(Metric[P]):
    """A metric of all rows of the lists."""

    values = values_of_lists
    explanation = explanation_of_lists


class ListMetric(OfLists[P]):
    """A metric of the rows of each list: it returns `PerUser`."""

    @property
    def of_evaluated(self) -> bool:
        """Whether its values are of the users evaluated, not of all with a list."""
        return self.over == "users" or "truth" in self.needs


class CatalogueMetric(OfLists[P]):
    """One number of all lists together: it returns `Whole`."""

    of = "all"


KINDS |= {"PerUser": ListMetric, "Whole": CatalogueMetric}
