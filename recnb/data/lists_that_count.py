"""Lists of users whom the truth lacks, taken out before the join where no number needs
them, and joined when something does.

Where the truth decides who is averaged, a list of a user without a row of the truth
changes no value of a metric of accuracy: hits, ranks, ties and repeats are within a
user. `ListsThatCount` joins the other lists alone. `everyone` is the source of all
lists, for what looks at them: metrics beyond accuracy, other users averaged, counts of
rows, the lint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.data.columns import Labels
from recnb.data.encoding import each_once, repeats_follow, run_starts
from recnb.data.in_memory import Sheets
from recnb.data.sheet import Sheet
from recnb.data.source import Joined, JoinedRows, RowCounts, Source
from recnb.metrics.hits import Bools, cached_property

#: Rows of lists from which on users are looked up in the truth: measured with 15 % of
#: the users there, that pays from 2**16 rows of text and 2**17 of whole numbers on.
MANY = 2**17
#: Lists are taken out if no more than this share of rows, or of users where rows are in
#: files, is of users of the truth: to take out fewer costs as much as joining them.
MOST_LEFT = 3 / 4
#: Rows from which the share is estimated.
SAMPLE = 1000


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

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source}


class RowsOfAll(JoinedRows):
    """The rows behind the hits of some lists: lists are those of all users."""

    def __init__(
        self,
        counted: JoinedRows,
        all_lists: AllLists,
        n_rows: int | None,
        convention: Convention,
    ) -> None:
        self._counted = counted
        self._all_lists = all_lists
        self._n_rows = n_rows
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
        """Number of rows of all lists; None if repeated ones are still to be merged."""
        if self._convention.judged_only:
            return self._counted.n_recommended  # no other row is judged
        if self._convention.duplicates == "dedupe":
            return None
        return self._n_rows

    def among(self, users: pl.Series) -> JoinedRows:
        """Return the rows of some of the users evaluated, whose lists are here."""
        return self._counted.among(users)

    @property
    def judged(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self._counted.judged

    @property
    def truth(self) -> pl.DataFrame:
        """The relevant rows of the users evaluated."""
        return self._counted.truth

    @property
    def truth_is_here(self) -> bool:
        """Whether the relevant rows are in memory or cheap to make."""
        return self._counted.truth_is_here


class ListsThatCount(Source):
    """The lists of the users of the truth, joined alone wherever that suffices; all
    lists otherwise.
    """

    def __init__(
        self,
        counted: Source,
        left_out: pl.Series,
        all_lists: AllLists,
        n_rows: int | None = None,
    ) -> None:
        self.counted = counted  #: the lists of users of the truth, with the truth
        self.left_out = left_out  #: users with a list whom the truth lacks, each once
        self._all_lists = all_lists
        self._n_rows = n_rows  # of all lists, if they were counted
        self.notes = counted.notes
        self.user_weights = counted.user_weights

    @property
    def everyone(self) -> Source:
        """The source of all lists."""
        return self._all_lists.source

    @property
    def where(self) -> str:  # type: ignore[override]
        """What holds rows that are not in memory, in words."""
        return self.everyone.where

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """What to type to have them there."""
        return self.everyone.remedy

    @property
    def labels(self) -> Labels:
        """Which column of the recommendations plays which role."""
        return self.counted.labels

    @property
    def truth_labels(self) -> Labels:
        """Which column of the truth plays which role."""
        return self.counted.truth_labels

    @property
    def recs(self) -> pl.DataFrame:
        """All rows of the recommendations; an error if they are not in memory."""
        return self.everyone.recs

    @property
    def truth(self) -> pl.DataFrame:
        """All rows of the truth."""
        return self.counted.truth

    def example(self) -> Sheet:
        """Return a user and an item of the lists."""
        return self.counted.example()

    @property
    def weighted(self) -> bool:
        """Whether relevant pairs have propensities."""
        return self.counted.weighted

    def weigh(
        self, propensity: pl.DataFrame | None, user_weights: pl.DataFrame | None
    ) -> None:
        """Let relevant pairs and users have weights."""
        # Users are weighed here, in `under`, and not once more in the lists that count.
        self.user_weights = user_weights
        self.counted.weigh(propensity, None)
        self._all_lists.weigh(propensity, user_weights)

    def join(self, convention: Convention) -> Joined:
        """Join the lists that count, or all where others count as well."""
        if not others_change_nothing(convention):
            joined = self.everyone.under(convention)
            return replace(joined, _source=None)  # `under` sets this source
        joined = self.counted.under(convention)
        rows = RowsOfAll(joined.rows, self._all_lists, self._n_rows, joined.convention)
        return replace(
            joined,
            rows=rows,
            n_without_relevant=joined.n_without_relevant + len(self.left_out),
            known_counts=None,  # which are those of the lists that count
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
        has_left_out = users.is_in(self.left_out.implode()).any()
        if has_left_out or not others_change_nothing(convention):
            return self.everyone
        return self.counted

    def among(self, users: pl.Series) -> ListsThatCount:
        """Return the rows of some users."""
        all_lists = self._all_lists
        some = ListsThatCount(
            self.counted.among(users),
            self.left_out.filter(self.left_out.is_in(users.implode())),
            AllLists(lambda: all_lists.source.among(users)),
        )
        some.user_weights = self.user_weights
        return some

    def forget(self) -> None:
        """Let go of what was joined."""
        super().forget()
        self.counted.forget()
        self._all_lists.forget()


def others_change_nothing(convention: Convention) -> bool:
    """Return whether lists of users whom the truth lacks change no number.

    They do where their users are averaged, and where the catalogue, which has every
    item of all lists, is ranked below each list.
    """
    is_by_truth = convention.averaged_users in ("truth", "both")
    return is_by_truth and convention.candidates != "catalogue"


def without_others(source: Sheets) -> Source:
    """Leave out lists of users whom the truth lacks, if there are many; return the
    source as it is if not.
    """
    users, judged_users = source.recs["user"], source.truth["user"]
    n_rows = len(users)
    if n_rows < MANY:
        return source
    sample = users.gather_every(max(n_rows // SAMPLE, 1))
    if sample.is_in(judged_users.implode()).to_numpy().mean() > MOST_LEFT:
        return source
    is_counted, left_out = _split(users, judged_users)
    if not is_counted.any() or not len(left_out):
        return source
    rows = source.recs.filter(pl.Series(is_counted))
    counted = replace(source, lists=source.lists.with_rows(rows))
    return ListsThatCount(counted, left_out, AllLists(lambda: source), n_rows)


def _split(users: pl.Series, judged_users: pl.Series) -> tuple[Bools, pl.Series]:
    """Return which rows are of users of the truth, and the other users, each once."""
    if not repeats_follow(users):
        is_counted = users.is_in(judged_users.implode())
        return is_counted.to_numpy(), each_once(users.filter(~is_counted))
    # A look at the first row of each run of a user says it of the whole run.
    starts = run_starts(users)
    lengths = np.diff(starts, append=len(users))
    user_of_run = users.gather(starts)
    is_counted = user_of_run.is_in(judged_users.implode())
    left_out = each_once(user_of_run.filter(~is_counted))
    return np.repeat(is_counted.to_numpy(), lengths), left_out
