"""Users whose values are averaged, the lengths of their lists, and the error if there are none."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.data.encoding import counted, distinct, positions
from recnb.data.runs import Runs
from recnb.errors import Argument, FrameError, FrameName, NoUsersError
from recnb.metrics.hits import Ints

Mask = NDArray[np.bool_]


def population(recs: pl.DataFrame, judged: pl.DataFrame, relevant: pl.DataFrame, convention: Convention) -> pl.Series:
    """The users whose values are averaged, sorted."""
    with_relevant = distinct(relevant["user"])
    if convention.no_relevant == "skip" and convention.users in ("truth", "union"):
        return with_relevant  # the rule below, without looking at all rows
    users = distinct(pl.concat([recs["user"], judged["user"]]))
    with_list, with_truth, has_relevant = (
        users.is_in(some.implode()).to_numpy()
        for some in (distinct(recs["user"]), distinct(judged["user"]), with_relevant)
    )
    return users.filter(pl.Series(is_averaged(users, with_list, with_truth, has_relevant, convention)))


def is_averaged(
    users: pl.Series, with_list: Mask, with_truth: Mask, has_relevant: Mask, convention: Convention
) -> Mask:
    """Which users count in a mean.

    Parameters
    ----------
    users
        The users of both frames, shape (n,).
    with_list, with_truth, has_relevant
        Whether each has recommendations, rows of the truth and a relevant item, shape (n,).
    convention
        `users` and `no_relevant` of it decide.

    Raises
    ------
    FrameError
        If a user has no relevant item and the convention refuses such users.
    """
    among = {
        "truth": with_truth,
        "recs": with_list,
        "both": with_list & with_truth,
        "union": with_list | with_truth,
    }[convention.users]
    if convention.no_relevant == "skip":
        return among & has_relevant
    without = among & ~has_relevant
    if convention.no_relevant == "error" and without.any():
        error, skip = Argument("no_relevant", "error"), Argument("no_relevant", "skip")
        example = f"{int(without.sum()):,} users have no relevant item, such as {users[int(without.argmax())]!r}, and "
        raise FrameError(example, error, " refuses them: say ", skip, " to leave them out or 'zero' to count 0.")
    return among


def no_users(highest: object, convention: Convention) -> NoUsersError:
    """Return the error for data without users to average."""
    threshold = convention.relevant_from
    return NoUsersError(
        "no user that counts has a relevant item: relevance must be "
        f"{'above 0' if threshold is None else f'{threshold:g} or more'} and the highest in the ",
        FrameName("truth"),
        f" is {highest!r}; ",
        Argument("users", convention.users),
        ".",
        fix=("Check ", Argument("relevant_from"), " and ", Argument("users"), "."),
    )


def users_meet(with_list: pl.Series, with_truth: pl.Series) -> None:
    """Refuse frames that have no user in common."""
    if not with_list.is_in(with_truth.unique().implode()).any():
        raise FrameError(
            "no user is in both frames: ",
            FrameName("recommendations"),
            f" hold users such as {with_list[0]!r}, ",
            FrameName("truth"),
            f" holds users such as {with_truth[0]!r}.",
            fix=("Check that both frames use the same ids, and the ", Argument("user"), " column."),
        )


def list_lengths(recs: pl.DataFrame, users: pl.Series, runs: Runs | None) -> tuple[Ints, bool, int]:
    """The last rank of each user's list, whether some list leaves a rank empty, and how many lists are of other users.

    Ranks of a user are different whole numbers from 1, so they leave nothing empty exactly if they add up to
    n (n + 1) / 2; then the length is the count.
    """
    with_list, length = counted(recs["user"]) if runs is None else (runs.users, runs.lengths)
    has_gaps = int(recs["rank"].sum()) != int((length * (length + 1) // 2).sum())
    if has_gaps:
        last = recs.group_by("user").agg(length=pl.col("rank").max())
        with_list, length = last["user"], last["length"].to_numpy()
    position = positions(users, with_list)
    out = np.zeros(len(users), dtype=np.int64)
    out[position[position >= 0]] = length[position >= 0]
    return out, has_gaps, int((position < 0).sum())
