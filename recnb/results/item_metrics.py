"""Metrics beyond accuracy from frames, in the words that name the libraries' conventions.

>>> import polars as pl
>>> recs = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rank": [1, 2, 1]})
>>> train = pl.DataFrame({"user": ["ann", "bob", "bob"], "item": ["z", "y", "z"]})
>>> beyond("coverage", {"catalogue": "train", "count_only_catalogue": True}, recs, train=train)
0.5
>>> beyond("gini", {"population": "catalogue"}, recs, train=train)
Traceback (most recent call last):
    ...
recnb.errors.RecnbError: gini needs all items there are: type catalogue=..., a list of items.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
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
from recnb.metrics import coverage, novelty
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Bools, PerUser

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse


#: Options that name columns of a frame of items, where conventions are given features as they are.
READ = ("features", "distances")


@dataclass(frozen=True)
class LibraryFormula:
    """A metric under the name that the conventions have for it."""

    metric: Metric[...]
    renamed: Mapping[str, str] = field(default_factory=dict)  #: option of a convention -> option of the metric
    implied: Mapping[str, Any] = field(default_factory=dict)  #: what a convention means that does not say
    pooled: bool = False  #: whether all rows can be averaged at once

    @property
    def options(self) -> list[str]:
        """What a convention can say of it."""
        back = {new: old for old, new in self.renamed.items()}
        read = [name for name in self.metric.defaults if name not in READ]
        return [back.get(name, name) for name in read] + (["average"] if self.pooled else [])

    def arguments(self, formula: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the metric for the options of a convention."""
        given = {**self.implied, **options}
        words = self.metric.words
        found: dict[str, Any] = {}
        for name, value in given.items():
            if name not in self.options:
                raise OptionError(f"{formula} has no option {name!r}. {near(name, self.options)}")
            option = self.renamed.get(name, name)
            if option in words and not isinstance(value, bool) and (value is None or value == 0):
                value = "none" if value is None else "zero"  # where a word is meant, a bare 0 is the word for it
            found[option] = value
        return found


FORMULAS: dict[str, LibraryFormula] = {
    "coverage": LibraryFormula(coverage.coverage, {"catalogue": "population", "round": "digits"}),
    "novelty": LibraryFormula(novelty.novelty, pooled=True),
    "popularity": LibraryFormula(novelty.popularity, pooled=True),
    "popularity_rank": LibraryFormula(novelty.popularity_rank, pooled=True),
    "tail": LibraryFormula(novelty.tail_share, pooled=True),
    "ild": LibraryFormula(novelty.diversity, {"as": "measure"}, {"single": "zero"}),
    "personalization": LibraryFormula(coverage.personalization),
    "gini": LibraryFormula(coverage.gini),
    "entropy": LibraryFormula(coverage.entropy),
}


def beyond(
    formula: str,
    options: Mapping[str, Any],
    recs: Frame,
    train: Frame | None = None,
    features: Frame | Mapping[Any, Any] | None = None,
    catalogue: Collection[Any] | None = None,
    k: int | None = None,
) -> float:
    """The value of a metric beyond accuracy under a library's convention: the mean over users, or the one number there is."""
    return ItemMetrics(recs, train, features, catalogue).value(formula, options, k)


class ItemMetrics(ItemData):
    """Recommendations, train, vectors of features and a catalogue as a library takes them, for any number of metrics.

    Parameters
    ----------
    recs
        Columns user, item and rank.
    train
        Columns user and item.
    features
        A mapping from item to vector, or a frame of item and numbers.
    catalogue
        All items there are.
    """

    ask: ClassVar[Mapping[str, tuple[object, ...]]] = {}

    def __init__(
        self,
        recs: Frame,
        train: Frame | None = None,
        features: Frame | Mapping[Any, Any] | None = None,
        catalogue: Collection[Any] | None = None,
    ) -> None:
        self._given_recs, self._given_train, self._given_features = recs, train, features
        self._given_catalogue = catalogue
        self._read = {}

    def value(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> float:
        """The mean over users, or the one number there is."""
        options = dict(options)
        result = self.evaluate(formula, options, k)
        if isinstance(result, PerUser):
            return result.mean(options.get("average", "user"))
        return result

    def evaluate(self, formula: str, options: Mapping[str, Any], k: int | None = None) -> PerUser | float:
        """The value of each of `users`, or the one number there is."""
        if formula not in FORMULAS:
            raise OptionError(f"{formula!r} is no metric beyond accuracy. {near(formula, FORMULAS)}")
        chosen = FORMULAS[formula]
        arguments = chosen.arguments(formula, options)
        average = arguments.pop("average", "user")
        if average not in ("user", "pooled"):
            raise OptionError(f"average={average!r} is no option of {formula}. {near(average, ['user', 'pooled'])}")
        k = Cutoffs.one(k).values[0]
        return chosen.metric.at(self.lists, k, arguments)

    @cached_property
    def side_data(self) -> SideData:  # type: ignore[override]  # read when it is needed
        """Train, as a frame that was checked."""
        return SideData(train=self._tables.get("train"))

    @cached_property
    def recs(self) -> pl.DataFrame:
        """The rows of the lists."""
        return self._tables["recs"]

    @cached_property
    def items(self) -> pl.Series:
        """Every item there is, anywhere, sorted."""
        return distinct(pl.concat([distinct(table["item"]) for table in self._tables.values()]))

    def listed(self) -> Bools | None:
        """Which items the catalogue lists; None if there is none."""
        return self.marked(self._tables["catalogue"]["item"]) if "catalogue" in self._tables else None

    def features(self, columns: object, metric: str) -> tuple[Sparse, Bools]:
        """Items × features, and which items have a vector."""
        from scipy import sparse

        if self._given_features is None:
            raise self.catalogue.missing(metric, "what items are like", "features")
        items = self._tables["features"]["item"]
        vectors = sparse.coo_array(self._vectors[1])
        row = positions(self.items, items)[vectors.row]
        shape = (len(self.items), vectors.shape[1])
        return sparse.csr_array((vectors.data, (row, vectors.col)), shape=shape), self.marked(items)

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        """The frames, checked."""
        labels = find(self._given_recs, "recommendations", ["user", "item", "rank"], {})
        recs = validation.ids(table_of(self._given_recs, "recommendations", labels), "recommendations", labels)
        recs = recs.with_columns(rank=validation.ranks(recs, "recommendations", labels["rank"]))
        validation.no_pair_twice(recs, "recommendations", "Keep one of each before counting what is shown.")
        validation.no_rank_twice(recs, "recommendations", labels["rank"])
        tables = {"recs": recs}
        if self._given_train is not None:
            of_train = find(self._given_train, "train", ["user", "item"], {})
            tables["train"] = validation.ids(table_of(self._given_train, "train", of_train), "train", of_train)
        if self._given_features is not None:
            tables["features"] = _item_ids(self._vectors[0], "features")
            twice = validation.repeated(tables["features"], ["item"])
            if twice.height:
                raise FrameError(f"features: item {twice['item'][0]!r} has {twice['len'][0]} rows: give each item one.")
        if self._given_catalogue is not None:
            tables["catalogue"] = _item_ids(_listed(self._given_catalogue), "catalogue")
        for name, table in tables.items():
            if validation.kind(table["item"].dtype) != validation.kind(recs["item"].dtype):
                raise FrameError(
                    f"the item ids are of different kinds: recommendations hold {validation.kind(recs['item'].dtype)} (such as "
                    f"{recs['item'][0]!r}), {name} holds {validation.kind(table['item'].dtype)} (such as {table['item'][0]!r}). "
                    "They would never match: make both text or both whole numbers."
                )
        return tables

    @cached_property
    def _vectors(self) -> tuple[pl.Series, Floats]:
        """Items and their vectors."""
        if isinstance(self._given_features, Mapping):
            return _listed(self._given_features), _matrix(list(self._given_features.values()))
        labels = find(self._given_features, "features", ["item"], {})
        others = [name for name in columns_of(self._given_features, "features") if name != labels["item"]]
        roles = {"item": labels["item"], **{f"feature {name}": name for name in others}}
        table = table_of(self._given_features, "features", roles)
        columns = table.drop("item")
        if columns.width == 1 and isinstance(columns.dtypes[0], (pl.List, pl.Array)):
            return table["item"], _matrix(columns.to_series().to_list())
        for name, kind in columns.schema.items():
            if not (kind.is_numeric() or kind == pl.Boolean):
                raise FrameError(
                    f"features: column {name.removeprefix('feature ')!r} holds {validation.kind(kind)}, where numbers are needed: "
                    "a column of 0 and 1 for each word, such as frame.to_dummies() or pd.get_dummies(frame) makes."
                )
        return table["item"], _finite(columns.cast(pl.Float64).to_numpy())


def _item_ids(items: pl.Series, name: str) -> pl.DataFrame:
    table = items.alias("item").to_frame().with_columns(user=pl.lit(0))
    return validation.ids(table, name, {}).select("item")


def _listed(items: Any) -> pl.Series:
    if isinstance(items, pl.Series):
        return items
    if isinstance(items, str):
        raise FrameError(f"catalogue={items!r} is one text: give a list of items, [{items!r}].")
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
        return _finite(np.asarray([list(vector) for vector in vectors], dtype=np.float64))
    except (TypeError, ValueError) as problem:
        if isinstance(problem, FrameError):
            raise
        raise FrameError(
            "features: the vectors hold something that is no number: give numbers, such as 0 and 1."
        ) from problem


def _finite(matrix: Floats) -> Floats:
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise FrameError(
            f"features: row {row} holds a number that is missing or infinite: fill it in, or leave the item out."
        )
    return matrix
