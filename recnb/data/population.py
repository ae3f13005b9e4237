"""Users whose values are averaged, the lengths of their lists, and the error if there are none."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recnb.conventions import Convention
from recnb.errors import FrameError, NoUsersError, quoted

Mask = NDArray[np.bool_]


def is_averaged(with_list: Mask, with_truth: Mask, has_relevant: Mask, convention: Convention) -> Mask:
    """Tell which users count in a mean, from whether each has a list, rows of the truth and a relevant item."""
    among = {
        "truth": with_truth,
        "recs": with_list,
        "both": with_list & with_truth,
        "union": with_list | with_truth,
    }[convention.averaged_users]
    return among & has_relevant if convention.no_relevant == "skip" else among


def no_users(highest: object, convention: Convention) -> NoUsersError:
    """Return the error for data without users to average."""
    threshold = convention.relevant_from
    return NoUsersError(
        "no user that counts has a relevant item: relevance must be "
        f"{'above 0' if threshold is None else f'{threshold:g} or more'} and the highest in the "
        "truth"
        f" is {highest!r}; "
        f"averaged_users={quoted(convention.averaged_users)}"
        ".",
        fix=("Check relevant_from= and averaged_users=."),
    )


def users_meet(with_list: pl.Series, with_truth: pl.Series) -> None:
    """Refuse frames that have no user in common."""
    if not with_list.is_in(with_truth.unique().implode()).any():
        raise FrameError(
            "no user is in both frames: "
            "recommendations"
            f" hold users such as {with_list[0]!r}, "
            "truth"
            f" holds users such as {with_truth[0]!r}.",
            fix=("Check that both frames use the same ids, and the user= column."),
        )
