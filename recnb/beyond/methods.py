"""Metrics beyond accuracy as methods of evaluations and of `df.rec`, a line each."""

from __future__ import annotations

from recnb.beyond import coverage as of_all
from recnb.beyond import diversity, history
from recnb.beyond import novelty as of_lists
from recnb.results.calls import method
from recnb.results.score import CatalogueScore


class BeyondMethods:
    """The metrics beyond accuracy, of the data of an evaluation."""

    coverage = method(of_all.coverage, CatalogueScore)
    user_coverage = method(of_all.user_coverage)
    gini = method(of_all.gini, CatalogueScore)
    entropy = method(of_all.entropy, CatalogueScore)
    personalization = method(of_all.personalization, CatalogueScore)
    novelty = method(of_lists.novelty)
    popularity = method(of_lists.popularity)
    popularity_rank = method(of_lists.popularity_rank)
    tail_share = method(of_lists.tail_share)
    diversity = method(diversity.diversity)
    serendipity = method(history.serendipity)
    calibration = method(history.calibration)
