"""The two kinds of metrics beyond accuracy, by what their function returns."""

from __future__ import annotations

from typing import Any

from recnb.beyond.explained import explanation_of_lists
from recnb.beyond.scoring import values_of_lists
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import KINDS, Metric, P


class OfLists(Metric[P]):
    """A metric of all rows of the lists."""

    def values(self, data: Any, measure: Any, k: Cutoffs) -> Any:
        """Return the values, of users or of all lists."""
        return values_of_lists(data, measure, k)

    def explanation(self, data: Any, measure: Any, user: Any) -> Any:
        """Return the explanation of the value of a user, or of all lists."""
        return explanation_of_lists(data, measure, user)


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
