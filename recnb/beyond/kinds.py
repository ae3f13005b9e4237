"""The two kinds of metrics beyond accuracy, and the words of their formulas.

What the function of a metric returns tells its kind.
"""

from __future__ import annotations

from recnb.beyond.explained import explanation_of_lists
from recnb.beyond.scoring import values_of_lists
from recnb.display.language import N_
from recnb.metrics.formula import LATEX, OVER
from recnb.metrics.metric import KINDS, Metric, P


class ListMetric(Metric[P]):
    """A metric of all rows of the lists: it returns `PerUser`."""

    values = values_of_lists
    explanation = explanation_of_lists


class CatalogueMetric(ListMetric[P]):
    """One number of all lists together: it returns `Whole`."""

    of = "all"


OVER |= {
    "list": (N_("{item} of the list"), N_(r"i \in \mathrm{list}")),
    "pairs": (N_("pair of {items}"), N_(r"\{i, j\} \subset \mathrm{list}")),
    "genres": (N_("genre"), N_(r"g \in \mathrm{genres}")),
    "items": (N_("{item}"), N_(r"i \in \mathrm{items}")),
    "user pairs": (N_("pair of {users}"), N_(r"\{u, v\} \subset \mathrm{users}")),
    "users": (N_("{user}"), N_(r"u \in \mathrm{users}")),
}
LATEX |= {
    "alpha": r"\alpha",
    "count": N_(r"\mathrm{count}_i"),
    "total": N_(r"\mathrm{total}"),
    "place": N_(r"\mathrm{place}_i"),
    "times": N_(r"\mathrm{times}_i"),
    "tail": N_(r"[i \in \mathrm{tail}]"),
    "shown": N_(r"[i \text{ is shown}]"),
    "share": N_(r"\mathrm{share}_i"),
    "cosine": r"\cos(i, j)",
    "jaccard": N_(r"\mathrm{jaccard}(i, j)"),
    "overlap": N_(r"\mathrm{overlap}(u, v)"),
    "expected_rank": N_(r"\mathrm{expected}_i"),
    "n_shown": N_(r"|\mathrm{list}|"),
    "n_users": N_(r"|\mathrm{users}|"),
    "n_items": N_(r"|\mathrm{items}|"),
    "n_places": N_(r"|\mathrm{places}|"),
    "n_lists": N_(r"|\mathrm{lists}|"),
}
KINDS |= {"PerUser": ListMetric, "Whole": CatalogueMetric}
