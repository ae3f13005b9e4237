"""Metrics beyond accuracy from frames, in the words that name the libraries' conventions.

>>> import polars as pl
>>> recs = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rank": [1, 2, 1]})
>>> train = pl.DataFrame({"user": ["ann", "bob", "bob"], "item": ["z", "y", "z"]})
>>> ItemMetrics(recs, train).value("coverage", {"population": "train", "count_only_catalogue": True})
0.5
>>> ItemMetrics(recs, train).value("gini", {"population": "catalogue"})
Traceback (most recent call last):
    ...
recnb.errors.RecnbError: gini needs all items there are: type catalogue=..., a list of items.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from recnb.data import validation
from recnb.data.columns import Frame, columns_of, find, table_of
from recnb.data.encoding import distinct, positions
from recnb.data.item_data import ItemData
from recnb.data.side_data import SideData
from recnb.errors import FrameError, OptionError, near
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, Metric
from recnb.metrics.recommendation_lists import Bools, PerUser

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse


#: Options that name columns of a frame of items, where conventions are given features as they are.
READ = ("features", "distances")

#: The metrics beyond accuracy that libraries have.
FORMULAS = {name: metric for name, metric in LIST_METRICS.items() if metric.over not in ("hits", "users", "genres")}


def arguments_of(metric: Metric[...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options that a convention has for a metric."""
    possible = [name for name in metric.defaults if name not in READ]
    for name in options:
        if name not in possible:
            raise OptionError(f"{metric.name} has no option {name!r}. {near(name, possible)}")
    return dict(options)


class ItemMetrics(ItemData):
    """Recommendations (user, item, rank), train (user, item), vectors of features and all items, as a library takes them.

    Features are a mapping from item to vector, or a frame of item and numbers.
    """

    ask: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        recs: Frame,
        train: Frame | None = None,
        features: Frame | Mapping[Any, Any] | None = None,
        catalogue: Collection[Any] | None = None,
    ) -> None:
        self._read = {}
        self.recs = _recommendations(recs)
        ids = {"recommendations": self.recs["item"]}
        table = None
        if train is not None:
            table = _table(train, "train", ["user", "item"])[0]
            ids["train"] = table["item"]
        self.side_data = SideData(train=table)
        if features is not None:
            ids["features"], self._vectors = _vectors(features)
        if catalogue is not None:
            ids["catalogue"] = _item_ids(_listed(catalogue), "catalogue")
        recommended, kind = ids["recommendations"], validation.kind
        for name, items in ids.items():
            if kind(items.dtype) != kind(recommended.dtype):
                raise FrameError(
                    f"the item ids are of different kinds: recommendations hold {kind(recommended.dtype)} (such as "
                    f"{recommended[0]!r}), {name} holds {kind(items.dtype)} (such as {items[0]!r}). "
                    "They would never match: make both text or both whole numbers."
                )
        self._ids = ids
        self.items = distinct(pl.concat([distinct(items) for items in ids.values()]))

    def value(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> float:
        """The mean over users, or the one number there is."""
        result = self.evaluate(formula, options, k)
        return result.mean() if isinstance(result, PerUser) else result

    def evaluate(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> PerUser | float:
        """The value of each of `users`, or the one number there is."""
        if formula not in FORMULAS:
            raise OptionError(f"{formula!r} is no metric beyond accuracy. {near(formula, FORMULAS)}")
        arguments = arguments_of(FORMULAS[formula], options)
        return FORMULAS[formula].at(self.lists, Cutoffs.one(k).values[0], arguments)

    @cached_property
    def listed(self) -> Bools | None:
        """Which items the catalogue lists; None if there is none."""
        return self.marked(self._ids["catalogue"]) if "catalogue" in self._ids else None

    def features(self, columns: object, metric: str) -> tuple[Sparse, Bools]:
        """Items × features, and which items have a vector."""
        from scipy import sparse

        if "features" not in self._ids:
            raise self.catalogue.missing(metric, "features")
        items, vectors = self._ids["features"], sparse.coo_array(self._vectors)
        row = positions(self.items, items)[vectors.row]
        shape = (len(self.items), vectors.shape[1])
        return sparse.csr_array((vectors.data, (row, vectors.col)), shape=shape), self.marked(items)


def _table(frame: Frame, name: str, roles: list[str]) -> tuple[pl.DataFrame, dict[str, str]]:
    """The columns of these roles, ids checked, and what they are called."""
    labels = find(frame, name, roles, {})
    return validation.ids(table_of(frame, name, labels), name, labels), labels


def _recommendations(frame: Frame) -> pl.DataFrame:
    recs, labels = _table(frame, "recommendations", ["user", "item", "rank"])
    recs = recs.with_columns(rank=validation.ranks(recs, "recommendations", labels))
    validation.no_pair_twice(recs, "recommendations", "Keep one of each before counting what is shown.")
    validation.no_rank_twice(recs, "recommendations", labels)
    return recs


def _vectors(given: Frame | Mapping[Any, Any]) -> tuple[pl.Series, Floats]:
    """Items, each once, and their vectors."""
    if isinstance(given, Mapping):
        items, matrix = _listed(given), _matrix(list(given.values()))
    else:
        labels = find(given, "features", ["item"], {})
        others = [name for name in columns_of(given, "features") if name != labels["item"]]
        roles = {"item": labels["item"], **{f"feature {name}": name for name in others}}
        table = table_of(given, "features", roles)
        items, columns = table["item"], table.drop("item")
        if columns.width == 1 and isinstance(columns.dtypes[0], (pl.List, pl.Array)):
            matrix = _matrix(columns.to_series().to_list())
        else:
            for name, kind in columns.schema.items():
                if not (kind.is_numeric() or kind == pl.Boolean):
                    raise FrameError(
                        f"features: column {name.removeprefix('feature ')!r} holds {validation.kind(kind)}, where numbers are needed: "
                        "a column of 0 and 1 for each word, such as frame.to_dummies() or pd.get_dummies(frame) makes."
                    )
            matrix = columns.cast(pl.Float64).to_numpy()
    items = _item_ids(items, "features")
    twice = validation.repeated(items.to_frame(), ["item"])
    if twice.height:
        raise FrameError(f"features: item {twice['item'][0]!r} has {twice['len'][0]} rows: give each item one.")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise FrameError(
            f"features: row {int(np.argmin(finite))} holds a number that is missing or infinite: fill it in, or leave the item out."
        )
    return items, matrix


def _item_ids(items: pl.Series, name: str) -> pl.Series:
    return validation.ids(items.alias("item").to_frame().with_columns(user=pl.lit(0)), name, {})["item"]


def _listed(items: Any) -> pl.Series:
    if isinstance(items, pl.Series):
        return items
    if isinstance(items, str):
        raise FrameError(f"catalogue={items!r} is one text: give a list of items, [{items!r}].")
    if hasattr(items, "columns"):
        raise FrameError("catalogue= is a frame, which lists its columns: give its column of items, items['item'].")
    try:
        return pl.Series("item", list(items), strict=True)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise FrameError(
            "the item ids are of more than one kind: make all of them text or all whole numbers."
        ) from problem


def _matrix(vectors: list[Any]) -> Floats:
    if not vectors:
        raise FrameError("features is empty: give a vector for each item.")
    lengths = {0 if vector is None else len(vector) for vector in vectors}
    if len(lengths) != 1:
        raise FrameError(
            f"features: the vectors have {sorted(lengths)} numbers: give every item one of the same length."
        )
    try:
        return np.asarray([list(vector) for vector in vectors], dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise FrameError(
            "features: the vectors hold something that is no number: give numbers, such as 0 and 1."
        ) from problem
