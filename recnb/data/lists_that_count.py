"""Lists of users whom the truth lacks, which are joined when something needs them.

Where the truth decides who is averaged, a list of a user without a row of the truth
changes no value of a metric of accuracy: hits, ranks, ties and repeats are within a
user. The lists that count are the others, those of *truth users*, who have a row of the
truth. `ListsThatCount` joins them alone, as its `of_truth_users`. Its `of_all_users` is
the source of all lists, for what looks at them: metrics beyond accuracy, other users
averaged, numbers of rows, the lint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import Labels
from recnb.data.in_memory import Sheets
from recnb.data.sheet import Sheet
from recnb.data.source import Joined, JoinedRows, Origin, RowCounts, Source
from recnb.metrics.hits import cached_property

#: Rows of lists from which on users are looked up in the truth: measured with 15 % of
#: the users there, that pays from 2**16 rows of text and 2**17 of whole numbers on.
MANY = 2**17
#: Lists are left out if no more than this share of users stays: to leave out fewer costs
#: as much as joining them.
MOST_KEPT = 3 / 4
#: Rows from which the share is estimated.
SAMPLE = 1000
#: Rows of lists left out whose users may wait to be told apart: see `_remember`.
WAITING = 2**22


class AllLists:
    """The source of all lists, which is read when it is first asked for."""

    def __init__(self, read: Callable[[], Source]) -> None:
        self._read = read
        self._weights: tuple[pl.DataFrame | None, pl.DataFrame | None] | None = None

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs and users have weights, once the source is read."""
        self._weights = (propensity, user_weights)
        if self._is_read:
            self.source.weigh(propensity, user_weights)

    @cached_property
    def source(self) -> Source:
        """The source of all lists.

        An invalid row of a list that was left out raises its error here, or when the
        source is joined.
        """
        source = self._read()
        if self._weights is not None:
            propensity, user_weights = self._weights
            source.weigh(propensity, user_weights)
        return source

    @property
    def _is_read(self) -> bool:
        return "source" in vars(self)

    def forget(self) -> None:
        """Let go of what was joined."""
        if self._is_read:
            self.source.forget()

    # How it is read may be known to this process alone: what pickles it reads it first.
    # The source that was read has been weighed, so it is all that is needed then: it is
    # kept where the cached property keeps its value.

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source}


class RowsOfAll(JoinedRows):
    """The rows behind the hits of truth users, with the lists of all users."""

    def __init__(
        self,
        rows_of_truth_users: JoinedRows,
        all_lists: AllLists,
        n_rows_of_all: int | None,
        convention: Convention,
    ) -> None:
        self._rows_of_truth_users = rows_of_truth_users
        self._all_lists = all_lists
        self._n_rows_of_all = n_rows_of_all
        self._convention = convention

    @property
    def _joined(self) -> Joined:
        return self._all_lists.source.under(self._convention)

    @property
    def lists(self) -> pl.DataFrame:
        """The ranked rows of all lists."""
        return self._joined.recs

    @property
    def row_counts(self) -> RowCounts:
        """Counts of the rows of all lists."""
        return self._joined.row_counts

    @property
    def n_recommended(self) -> int | None:
        """Number of rows of all lists; None if these have to be read or joined for it."""
        if self._convention.judged_only:
            return self._rows_of_truth_users.n_recommended  # no other row is judged
        if self._convention.duplicates == "dedupe":
            return None  # repeated rows are still to be merged
        return self._n_rows_of_all

    def among(self, users: pl.Series) -> JoinedRows:
        """Return the rows of some of the users evaluated, whose lists are here."""
        return self._rows_of_truth_users.among(users)

    @property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self._rows_of_truth_users.judged

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self._rows_of_truth_users.truth

    @property
    def truth_is_here(self) -> bool:
        """Whether the relevant rows are in memory or cheap to make."""
        return self._rows_of_truth_users.truth_is_here


class ListsThatCount(Source):
    """The lists of truth users, joined alone where these suffice; otherwise all."""

    def __init__(
        self,
        of_truth_users: Source,
        left_out: pl.Series,
        all_lists: AllLists,
        n_rows_of_all: int | None = None,
    ) -> None:
        self.of_truth_users = of_truth_users  #: their lists, and the truth
        #: Keys of the users with a list whom the truth lacks, each once.
        self.left_out = left_out
        self._all_lists = all_lists
        self._n_rows_of_all = n_rows_of_all  # None: not known
        self.notes = of_truth_users.notes
        self.user_weights = of_truth_users.user_weights
        self.splits = of_truth_users.splits
        self.users_without_items = of_truth_users.users_without_items

    @property
    def of_all_users(self) -> Source:
        """The source of all lists."""
        return self._all_lists.source

    @property
    def origin(self) -> Origin:
        """What holds rows that are not in memory."""
        # Whether all rows fit into memory is known once they are read.
        return self.of_all_users.origin

    @property
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""
        return self.of_truth_users.labels

    @property
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""
        return self.of_truth_users.truth_labels

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""
        return self.of_all_users.recs

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.of_truth_users.truth

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        return self.of_truth_users.example()

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.of_truth_users.weighted

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs and users have weights."""
        # `under` of this source weighs the users of what `join` returns, by the weights
        # that this source has. So `of_truth_users`, whose `under` comes first, needs none.
        self.user_weights = user_weights
        self.of_truth_users.weigh(propensity, None)
        self._all_lists.weigh(propensity, user_weights)

    def join(self, convention: Convention) -> Joined:
        """Join the lists of truth users if these suffice, else all.

        What is returned has no source. Each `under` sets `_source` to the source it is
        called on: those called here set one of the sources inside, which is cleared. The
        `under` of this source, which calls this method, then sets this one.
        """
        if not truth_users_suffice(convention):
            return replace(self.of_all_users.under(convention), _source=None)
        joined = self.of_truth_users.under(convention)
        rows_of_all = RowsOfAll(
            joined.rows,
            self._all_lists,
            self._n_rows_of_all,
            joined.convention,  # with its order settled
        )
        return replace(
            joined,
            rows=rows_of_all,
            n_without_relevant=joined.n_without_relevant + len(self.left_out),
            known_counts=None,  # they are of the lists of truth users alone
            _source=None,
        )

    def lists_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the ranked rows of some users' lists."""
        return self._source_of(users, convention).lists_of(users, convention)

    def truth_of(self, users: pl.Series, convention: Convention) -> pl.DataFrame:
        """Return the relevant rows of some users."""
        return self._source_of(users, convention).truth_of(users, convention)

    def _source_of(self, users: pl.Series, convention: Convention) -> Source:
        """Return the source that has the rows of some users."""
        has_left_out = keys_of(users).is_in(self.left_out.implode()).any()
        if has_left_out or not truth_users_suffice(convention):
            return self.of_all_users
        return self.of_truth_users

    def among(self, users: pl.Series) -> ListsThatCount:
        """Return the rows of some users."""
        all_lists = self._all_lists
        some = ListsThatCount(
            self.of_truth_users.among(users),
            self.left_out.filter(self.left_out.is_in(keys_of(users).implode())),
            AllLists(lambda: all_lists.source.among(users)),
        )
        some.user_weights = self.user_weights
        return some

    def forget(self) -> None:
        """Let go of what was joined."""
        super().forget()
        self.of_truth_users.forget()
        self._all_lists.forget()


def truth_users_suffice(convention: Convention) -> bool:
    """Return whether hits and values follow from the lists of truth users alone.

    They do not where other users are averaged as well, and where the catalogue, which
    has every item of all lists, is ranked below each list.
    """
    is_by_truth = convention.averaged_users in ("truth", "both")
    return is_by_truth and convention.candidates != "catalogue"


def leave_out_lists(source: Sheets) -> Source:
    """Leave out lists of users whom the truth lacks, if there are many."""
    user_filter = TruthUserFilter(source.truth["user"])
    rows = user_filter.kept(source.recs)
    if rows.height in (0, user_filter.n_rows):
        return source  # no list stays, which the join refuses; or each does
    of_truth_users = replace(source, lists=source.lists.with_rows(rows))
    all_lists = AllLists(lambda: source)
    return ListsThatCount(
        of_truth_users, user_filter.left_out, all_lists, user_filter.n_rows
    )


class TruthUserFilter:
    """Keeps the rows of truth users, batch by batch.

    Whether that saves time is seen from the first batch: if its users are nearly all in
    the truth, all rows are kept, of later batches as well.

    Users are told apart by their keys, which takes half the time of telling ids apart.
    Two users may have one key. The list of a user who has that of a truth user stays, and
    changes no number. Two users left out who have one are counted as one: of ten million
    users, that happens once in 370,000 evaluations.
    """

    def __init__(self, truth_users: pl.Series) -> None:
        self._truth_users = truth_users
        #: Whether to leave out lists saves time, by the first batch; None before it.
        self._saves_time: bool | None = None
        #: Keys of users left out, of the rows that were merged: each once.
        self._merged_keys = keys_of(truth_users.clear())
        #: Keys of the rows left out since, not merged yet: one a row.
        self._unmerged_keys: list[pl.Series] = []
        self.n_rows = 0  #: of all batches
        self.n_rows_kept = 0

    def kept(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of truth users."""
        if self._saves_time is None:
            self._saves_time = pays_off(batch["user"], self._truth_users)
        self.n_rows += batch.height
        if self._saves_time:
            keys = keys_of(batch["user"])
            is_kept = _are_in(keys, self._truth_keys)
            batch = batch.filter(is_kept)
            self._remember(keys.filter(~is_kept))
        self.n_rows_kept += batch.height
        return batch

    @cached_property
    def _truth_keys(self) -> pl.Series:
        """Keys of the truth users."""
        return keys_of(self._truth_users)

    def _remember(self, keys: pl.Series) -> None:
        """Remember the keys of rows that were left out."""
        self._unmerged_keys.append(keys)
        # To merge them after each batch would take much time; never to merge them, much
        # memory. They are merged once they are as many as the merged ones, and WAITING
        # more: so they take little more memory than these, and each merge has more new
        # keys than old ones.
        n_unmerged = sum(map(len, self._unmerged_keys))
        if n_unmerged > len(self._merged_keys) + WAITING:
            self._merge_keys()

    def _merge_keys(self) -> None:
        """Put the keys of all batches together, each once."""
        keys = pl.concat([self._merged_keys, *self._unmerged_keys])
        self._merged_keys = keys.unique()
        self._unmerged_keys = []

    @property
    def left_out(self) -> pl.Series:
        """Keys of the users left out, each once."""
        if self._unmerged_keys:
            self._merge_keys()
        return self._merged_keys


def keys_of(users: pl.Series) -> pl.Series:
    """Return the hash of each user's id, of 64 bits."""
    return users.hash().alias("key")


def pays_off(users: pl.Series, truth_users: pl.Series) -> bool:
    """Estimate from the users of rows whether it saves time to leave out lists."""
    if len(users) < MANY:
        return False
    sample = users.gather_every(len(users) // SAMPLE + 1).unique()
    # Looked up in a hash table of the few users drawn, which is made in less time than
    # one of the truth's users.
    is_drawn = truth_users.is_in(sample.implode())
    return truth_users.filter(is_drawn).n_unique() <= MOST_KEPT * len(sample)


def _are_in(keys: pl.Series, others: pl.Series) -> pl.Series:
    """Return which of the keys are among others, looked up on all cores."""
    is_among = pl.col("key").is_in(others.implode())
    looked_up = keys.to_frame().lazy().select(is_among)
    return looked_up.collect(engine="streaming").to_series()
