"""Metrics beyond accuracy of lists, train, vectors and a catalogue, as recorded cases and plain loops have them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

import recnb
from recnb.data import read
from recnb.data.side_data import read_side_data
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.values import Values, values_of

#: The metrics beyond accuracy that libraries have.
FORMULAS = {name: metric for name, metric in LIST_METRICS.items() if metric.over not in ("hits", "users", "genres")}


def as_frame(features: Mapping[Any, Collection[float]]) -> pl.DataFrame:
    """Vectors as a frame of items with a column for each number."""
    width = len(next(iter(features.values())))
    columns = {f"x{at}": [float(vector[at]) for vector in map(list, features.values())] for at in range(width)}
    return pl.DataFrame({"item": list(features), **columns})


class Beyond:
    """Lists with what metrics beyond accuracy need: each is given the frame of items that it reads."""

    def __init__(
        self,
        recs: pl.DataFrame,
        train: pl.DataFrame | None = None,
        features: Mapping[Any, Collection[float]] | None = None,
        catalogue: Collection[Any] | None = None,
    ) -> None:
        frames = {
            True: None if features is None else as_frame(features),
            False: None if catalogue is None else pl.DataFrame({"item": list(catalogue)}),
        }
        source = read(recs, recs.select("user", "item"), {})
        self.data = {
            of_features: EvaluationData(
                source.under(recnb.Convention()), side_data=read_side_data(source, None, {}, train=train, items=items)
            )
            for of_features, items in frames.items()
        }
        self.names = [] if features is None else [name for name in frames[True].columns if name != "item"]  # type: ignore[union-attr]

    def values(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> Values:
        """The values of a metric."""
        of_features = formula == "diversity" and options.get("distance") != "cooccurrence"
        own = {"features": self.names} if of_features and self.names else {}
        return values_of(self.data[of_features], LIST_METRICS[formula], Cutoffs.one(k), {**options, **own})

    def value(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> float:
        """The mean over users, or the one number there is."""
        return float(self.values(formula, options, k).mean[0])
