"""The data of metrics beyond accuracy: lists, training data, attributes of items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.convention import TRUTH_ORDERS
from recnb.data import Joined
from recnb.data.checks import kind
from recnb.data.ids import each_once, positions
from recnb.data.in_memory import Sheets, ranked
from recnb.data.names import IDS, RECS
from recnb.data.parts import Parts
from recnb.data.sheet import Sheet, repeated
from recnb.data.side_data import SideData
from recnb.data.source import elsewhere
from recnb.display.text import one_line
from recnb.errors import (
    FrameError,
    OptionError,
    is_several,
    listed,
    near,
    quoted,
)
from recnb.metrics.catalogue import Catalogue, missing
from recnb.metrics.history import expected_ranks
from recnb.metrics.hits import (
    Bools,
    Cutoffs,
    Floats,
    Ints,
    in_order,
    order_by_user_and_rank,
)
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Lists, PerUser, TermRows, Whole

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse

#: Columns that are taken for genres if nothing else is said.
GENRES = ("genre", "genres", "category", "categories", "tag", "tags")
#: Types of columns of words.
WORDS = (pl.String, pl.Categorical, pl.Enum, pl.List, pl.Array)
#: What parts have of the whole: numbers of items, and what train and items= say of
#: them.
SHARED = ("items", "listed", "_counts", "_unique_train", "_read")


class ItemData:
    """The lists of all users who have one, and data about the items.

    Each part is computed on first use.
    """

    def __init__(self, joined: Joined, side_data: SideData) -> None:
        self.joined = joined
        self.side_data = side_data
        self._read: dict[tuple[str, ...], Any] = {}  #: of columns of items=

    def values_of_users(
        self, metric: Metric[...], cutoffs: Cutoffs, options: Mapping[str, Any]
    ) -> tuple[pl.Series, list[PerUser | Whole]]:
        """Compute a metric at each cut-off; return the users of the values as well."""
        users = self.joined.users if metric.of_evaluated else self.users
        return users, [self.compute(metric, k, options) for k in cutoffs]

    @cached_property
    def recs(self) -> pl.DataFrame:
        """Return every recommended row: user, item, rank."""
        joined = self.joined
        convention, recs = joined.convention, joined.recs
        if convention.ties in TRUTH_ORDERS or convention.score_dtype != "float64":
            # An order that looks at the truth, or at rounded scores, is none that
            # anyone was shown.
            shown = Convention(order=convention.order, duplicates="dedupe")
            source = joined.source
            recs = ranked(Sheet(RECS, source.recs, source.labels), shown)
        elif convention.duplicates == "error":
            joined.refuse_repeated_pairs()
        elif convention.duplicates != "dedupe":
            recs = recs.sort("rank").unique(
                ["user", "item"], keep="first", maintain_order=True
            )
        return recs.select("user", "item", "rank")

    @cached_property
    def users(self) -> pl.Series:
        """The users with a list, sorted."""
        return each_once(self.recs["user"])

    @cached_property
    def items(self) -> pl.Series:
        """Every item there is, anywhere, sorted."""
        frames = [self.shown, self.joined.truth]
        given = (self.side_data.train, self.side_data.items)
        frames += [frame for frame in given if frame is not None]
        return each_once(*[frame["item"] for frame in frames])

    @property
    def shown(self) -> pl.DataFrame:
        """The items of the lists, and their ranks."""
        return self.recs

    def compute(
        self, metric: Metric[...], k: int | None, options: Mapping[str, Any]
    ) -> PerUser | Whole:
        """Compute a metric of the users evaluated, or of all who have a list."""
        lists = self.lists(evaluated=metric.of_evaluated)
        if metric.own:
            shown = lists.upto(k)
            own: PerUser | Whole = metric.at(
                replace(shown, frame=self.frame(shown)), k, options
            )
            return own
        if "truth" not in metric.needs:
            of_lists: PerUser | Whole = metric.at(lists, k, options)
            return of_lists
        convention = self.joined.convention
        cutoffs = replace(Cutoffs.one(k), cut=convention.cutoff)
        hits = self.joined.hits(cutoffs.deepest)
        lists = replace(lists, hits=hits, truth_item=self._truth_item)
        values: PerUser = metric.at(lists, cutoffs, options)
        return values.filled_in(hits.n_relevant == 0, convention.no_relevant)

    # The catalogue refers to this object, to read further attributes. It is not kept
    # here, and neither are lists that hold it: a cycle of references would keep all
    # rows in memory until Python looks for cycles.

    def lists(self, *, evaluated: bool = False) -> Lists:
        """Return the rows of all lists, or of the users evaluated.

        Of these some may have no list.
        """
        lists = self._lists_of_evaluated if evaluated else self._lists_of_all
        return replace(lists, catalogue=self.catalogue)

    @cached_property
    def _lists_of_all(self) -> Lists:
        return self._lists(self.users)

    @cached_property
    def _lists_of_evaluated(self) -> Lists:
        return self._lists(self.joined.users)

    def frame(self, lists: Lists) -> pd.DataFrame:
        """Return rows of lists: user, item, rank, relevance and the columns of items=.

        Relevance is 0 of a pair that the truth lacks, and of a user who is not
        evaluated. What else tells the lists of a user apart is behind the user.
        """
        rows = pl.DataFrame(
            {
                "user": self.users.gather(lists.user),
                "item": self.items.gather(lists.item),
                "rank": lists.rank,
            }
        )
        judged = self.joined.truth.select(*IDS).with_columns(
            relevance=self.joined.all_hits.truth_relevance
        )
        rows = rows.join(judged, on=[*IDS], how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("relevance").fill_null(0.0))
        described = self.side_data.items
        if described is not None:
            columns = [name for name in described.columns if name not in rows.columns]
            described = described.select("item", *columns)
            rows = rows.join(described, on="item", how="left", maintain_order="left")
        keys = self.joined.source.keys.of(rows["user"])
        rows = keys.hstack(rows.drop("user", *keys.columns, strict=False))
        return rows.to_pandas()

    @cached_property
    def _truth_item(self) -> Ints:
        """The position of the item of each relevant row."""
        return positions(self.items, self.joined.truth["item"])

    @property
    def catalogue(self) -> Catalogue:
        """Data about the items."""
        return Catalogue(**self._counts, listed=self.listed, reader=self)

    def _lists(self, users: pl.Series) -> Lists:
        recs, items = self.recs, self.items
        user = positions(users, recs["user"])
        rank = recs["rank"].to_numpy()
        item = positions(items, recs["item"])
        order = order_by_user_and_rank(user, rank)
        order = order[user[order] >= 0]
        user, rank = user[order], rank[order]
        list_length = np.zeros(len(users), dtype=np.int64)
        is_last = np.r_[user[1:] != user[:-1], True][: len(user)]
        list_length[user[is_last]] = rank[is_last]
        return Lists(
            user=user,
            rank=rank,
            item=item[order],
            list_length=list_length,
            n_items=len(items),
            named=items.__getitem__,
        )

    @cached_property
    def _counts(self) -> dict[str, Any]:
        """Count the users and rows of train that hold each item, and its users.

        There is nothing to count without train.
        """
        train = self.side_data.train
        if train is None:
            return {}
        return {
            "users": self._times_in(self._unique_train),
            "interactions": self._times_in(train),
            "n_users": train["user"].n_unique(),
        }

    def _times_in(self, frame: pl.DataFrame) -> Ints:
        """Count the rows of a frame that hold each item."""
        item = positions(self.items, frame["item"])
        return np.bincount(item, minlength=len(self.items))

    @cached_property
    def listed(self) -> Bools | None:
        """Mark the items of the catalogue: those of items=, or those of train.

        None without either.
        """
        if self.side_data.items is not None:
            return self.marked(self.side_data.items["item"])
        if self.side_data.train is not None:
            return self.marked(self._unique_train["item"])
        return None

    @cached_property
    def _unique_train(self) -> pl.DataFrame:
        train = self.side_data.train
        assert train is not None
        if repeated(train, [*IDS]).height == 0:
            return train
        return train.unique([*IDS])

    def marked(self, items: pl.Series) -> Bools:
        """Mark the items that are among these."""
        marked = np.zeros(len(self.items), dtype=bool)
        marked[positions(self.items, items)] = True
        return marked

    # What metrics ask to be read

    def history(self, *, evaluated: bool = False) -> tuple[Ints, Ints]:
        """Return the training items of users with a list, or of those evaluated.

        Each is there once, as positions of user and item, sorted by user.
        """
        had = self._unique_train
        users = self.joined.users if evaluated else self.users
        user = positions(users, had["user"])
        inside = np.flatnonzero(user >= 0)
        order = inside[in_order(user[inside])]
        return user[order], positions(self.items, had["item"])[order]

    @cached_property
    def expected_rank(self) -> Ints:
        """Where each relevant row would be in a list of the most popular items.

        These are of the items that its user has not had.
        """
        return expected_ranks(
            user=self.joined.all_hits.truth_user,
            item=self._truth_item,
            had=self.history(evaluated=True),
            count=self.catalogue.counts("interactions", "serendipity"),
        )

    def features(self, columns: object, metric: str) -> tuple[Sparse, Bools]:
        """Return items × features, and which items are described.

        Features are genres as words, or numbers.
        """
        matrix, _labels = self._described(columns, "features", metric)
        assert self.side_data.items is not None
        return matrix, self.marked(self.side_data.items["item"])

    def genres(self, column: object, metric: str) -> tuple[Sparse, Sequence[str]]:
        """Return items × genres, and what the genres are called.

        It is 1 where the item has the genre.
        """
        return self._described(column, "genre", metric)

    def _described(
        self, columns: object, argument: str, metric: str
    ) -> tuple[Sparse, Sequence[str]]:
        """Return items × words of one column or numbers of several, and their names.

        Rows are positions of items.
        """
        from scipy import sparse

        items = self.side_data.items
        if items is None:
            raise missing(metric, argument)
        chosen = _columns(items, columns, argument, metric)
        if (argument, *chosen) not in self._read:
            table, labels = _cells(items, chosen, argument)
            item = positions(self.items, items["item"])
            cells = (table.data, (item[table.row], table.col))
            shape = (len(self.items), len(labels))
            self._read[argument, *chosen] = sparse.csr_array(cells, shape=shape), labels
        described, labels = self._read[argument, *chosen]
        return described, labels


def _exposure_of(data: ItemData) -> tuple[pl.Series, pl.DataFrame]:
    """Return the users with a list, and how many lists have each item at each rank."""
    return data.users, data.recs.group_by("item", "rank").len("times")


class ItemDataOfParts(ItemData):
    """The same of lists that are elsewhere.

    Parts count how often they show each item, and compute the values of their users.
    """

    @property
    def _parts(self) -> Parts:
        parts = self.joined.source
        assert isinstance(parts, Parts)
        if parts.whole is not None:  # each holds the rows of other users as well
            raise elsewhere(parts)
        return parts

    def _on_part(self, work: Callable[[ItemData], Any]) -> Callable[[Sheets], Any]:
        """Make a function of a part out of one of its data.

        It returns None for a part without rows, whose ids have no type.
        """
        convention = self.joined.convention
        side_data = SideData(items=self.side_data.items)
        known = {name: value for name, value in vars(self).items() if name in SHARED}

        def on_part(part: Sheets) -> Any:
            if not part.has_rows:
                return None
            data = ItemData(part.under(convention), side_data)
            vars(data).update(known)
            return work(data)

        return on_part

    @cached_property
    def _exposure(self) -> tuple[pl.Series, pl.DataFrame]:
        counts = self._parts.each(self._on_part(_exposure_of))
        users, shown = zip(*filter(None, counts), strict=True)
        by_place = pl.concat(shown).group_by("item", "rank")
        added_up = by_place.agg(pl.col("times").sum().cast(pl.Int64))
        return each_once(*users), added_up

    @property
    def users(self) -> pl.Series:
        """The users with a list, sorted."""
        return self._exposure[0]

    @property
    def shown(self) -> pl.DataFrame:
        """The items of the lists, their ranks, and how many lists have them there."""
        return self._exposure[1]

    @cached_property
    def _lists_of_all(self) -> Lists:
        """A row for all lists that have an item at a rank.

        It says nothing of single users.
        """
        shown = self.shown
        return Lists(
            user=np.zeros(shown.height, dtype=np.int64),
            rank=shown["rank"].to_numpy(),
            item=positions(self.items, shown["item"]),
            list_length=np.zeros(len(self.users), dtype=np.int64),
            n_items=len(self.items),
            named=self.items.__getitem__,
            times=shown["times"].to_numpy(),
        )

    def compute(
        self, metric: Metric[...], k: int | None, options: Mapping[str, Any]
    ) -> PerUser | Whole:
        """Compute a metric of counts of items, or of users part by part.

        One that compares the lists of users, or a function of the caller's that is
        given all of them, is refused.
        """
        if metric.own or metric.over == "user pairs":
            raise elsewhere(self._parts)
        if metric.of == "all":
            return super().compute(metric, k, options)
        _ = self.items, self.catalogue  # which parts share

        def values(data: ItemData) -> Any:
            return data.compute(metric, k, options)

        def of_users(data: ItemData) -> pl.DataFrame:
            users = data.joined.users if metric.of_evaluated else data.users
            of_part = values(data)
            return pl.DataFrame(
                {
                    "user": users,
                    "total": of_part.total,
                    "out_of": of_part.out_of,
                    "counted": of_part.counted,
                }
            )

        def rows(user: int) -> TermRows:
            """Return the rows behind the value of a user, whose list is fetched."""
            of_user = self._parts.rows_of(table["user"][[user]])
            explained: TermRows = self._on_part(values)(of_user).rows(0)
            return explained

        tables = self._parts.each(self._on_part(of_users))
        with_rows = [table for table in tables if table is not None]
        table = pl.concat(with_rows, how="vertical_relaxed").sort("user")
        total, out_of, counted = table.drop("user").get_columns()
        return PerUser(total.to_numpy(), out_of.to_numpy(), counted.to_numpy(), rows)


def _cells(
    items: pl.DataFrame, columns: Sequence[str], argument: str
) -> tuple[Any, Sequence[str]]:
    """Return a row an item of words or numbers, and the names of the columns.

    The rows are a sparse table.
    """
    from scipy import sparse

    first = items[columns[0]]
    if len(columns) == 1 and _holds_vectors(first, argument):
        vectors = _vectors(items, columns[0])
        labels = [f"{columns[0]}[{n}]" for n in range(vectors.shape[1])]
        return sparse.coo_array(vectors), labels
    if len(columns) == 1 and first.dtype in WORDS:
        row, words = words_of(first)
        names = words.unique().sort()
        cells = (np.ones(len(row)), (row, positions(names, words)))
        return sparse.coo_array(cells), names.to_list()
    numbers = [_numbers(items[name], argument) for name in columns]
    return sparse.coo_array(np.stack(numbers, axis=1)), columns


def _columns(
    items: pl.DataFrame, columns: object, argument: str, metric: str
) -> tuple[str, ...]:
    """Return the columns of items that were named, or those that speak for themselves."""
    names = [name for name in items.columns if name != "item"]
    if columns is None:
        return _columns_of_genres(items.select(names), argument, metric)
    given = [columns] if isinstance(columns, str) else columns
    chosen = tuple(map(str, given)) if is_several(given) else ()
    if not chosen:
        raise OptionError(
            f"{argument}={quoted(columns)} names no column of items=: name one, or "
            f"several in a list."
        )
    for name in chosen:
        if name not in names:
            raise OptionError(
                f"{argument}={quoted(columns)}: items= has no column {name!r}. "
                f"{near(name, names)}"
            )
    return chosen


def _columns_of_genres(
    items: pl.DataFrame, argument: str, metric: str
) -> tuple[str, ...]:
    """Return the one column of words named as genres are, or all of 0 and 1."""
    of_words = [
        name
        for name in items.columns
        if name.lower() in GENRES and items[name].dtype in WORDS
    ]
    if len(of_words) == 1:
        return tuple(of_words)
    flags = [name for name in items.columns if _is_flag(items[name])]
    if flags and not of_words:
        return tuple(flags)
    problem = "has no column of genres"
    if of_words:
        problem = f"{' and '.join(map(repr, of_words))} could each be meant"
    example = [*of_words, *items.columns, "genres"][0]
    raise OptionError(
        f"{metric}: items= {problem}. Its columns: "
        f"{listed(items.columns) or 'none'}. Say which: "
        f"{argument}={quoted(example)}."
    )


def _is_flag(column: pl.Series) -> bool:
    """Return whether a column is 0 and 1, or True and False."""
    if not column.dtype.is_numeric() or column.null_count():
        return column.dtype == pl.Boolean
    return bool(((column == 0) | (column == 1)).all())


def words_of(column: pl.Series) -> tuple[Ints, pl.Series]:
    """Return the row and the word of each genre.

    Genres are lists, or text such as "comedy|drama".
    """
    if isinstance(column.dtype, (pl.List, pl.Array)):
        if column.dtype.inner in (pl.List, pl.Array, pl.Object):
            example = one_line(repr(column.drop_nulls().to_list()[:1])[1:-1], 60)
            raise FrameError(
                f"items: column {column.name!r} holds lists of lists, such as "
                f"{example}: give each item one list."
            )
        lists = column.cast(pl.List(pl.String))
    else:
        lists = column.cast(pl.String).str.split("|")
    table = pl.DataFrame({"row": np.arange(len(column)), "word": lists}).explode("word")
    table = table.with_columns(pl.col("word").str.strip_chars())
    table = table.filter(~pl.col("word").is_in(["", "(no genres listed)"])).unique(
        maintain_order=True
    )
    return table["row"].to_numpy(), table["word"]


def _holds_vectors(column: pl.Series, argument: str) -> bool:
    """Return whether a column holds lists of numbers, as embeddings are.

    Those that may be either vectors or ids of genres are refused.
    """
    dtype = column.dtype
    if not isinstance(dtype, (pl.List, pl.Array)):
        return False
    kind = dtype.inner
    if not (kind.is_numeric() or kind == pl.Boolean):
        return False
    example = one_line(repr(column.drop_nulls().head(1).to_list())[1:-1], 60)
    held = f"items: column {column.name!r} holds lists of numbers, such as {example}"
    if argument == "genre":
        if kind.is_integer():
            return False
        raise FrameError(f"{held}, which name no genre.")
    if isinstance(dtype, pl.List) and kind.is_integer():
        raise FrameError(
            f"{held}, which may be vectors or ids of genres. Make vectors floats, "
            "and ids text."
        )
    return True


def _vectors(items: pl.DataFrame, name: str) -> Floats:
    """Return a column of vectors as a table, items × numbers."""
    vectors = items[name].cast(pl.List(pl.Float64))
    where = f"items: column {name!r} holds"
    if vectors.null_count():
        item = items["item"].filter(vectors.is_null())[0]
        raise FrameError(
            f"{where} no vector for item {item!r}. Leave out items without one."
        )
    lengths = vectors.list.len().unique().sort().to_list()
    if len(lengths) > 1 or lengths == [0]:
        raise FrameError(
            f"{where} vectors of {lengths[0]} and of {lengths[-1]} numbers: "
            f"make all of one length, above 0."
        )
    table = vectors.explode().to_numpy().reshape(len(vectors), lengths[0])
    is_finite = np.isfinite(table).all(axis=1)
    if not is_finite.all():
        item = items["item"].filter(pl.Series(~is_finite))[0]
        raise FrameError(
            f"{where} a number that is missing or infinite for item {item!r}: fill it in."
        )
    return np.asarray(table, dtype=np.float64)


def _numbers(column: pl.Series, argument: str) -> Floats:
    """Return the numbers of one of several columns.

    Those that name a genre are 0 and 1.
    """
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise FrameError(
            f"items: column {column.name!r} holds {kind(column.dtype)}, and several "
            f"columns of {argument}= must hold numbers: name one column of words, or "
            f"columns of numbers."
        )
    numbers = np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise FrameError(
            f"items: column {column.name!r} holds a number that is missing or infinite: fill it in."
        )
    if argument == "genre" and not np.isin(numbers, (0, 1)).all():
        raise FrameError(
            f"items: column {column.name!r} holds other numbers than 0 and 1, which name no genre."
        )
    return numbers
