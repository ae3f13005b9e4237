"""The times of train and of the truth, made comparable."""

from __future__ import annotations

import polars as pl

from recnb.data.names import says_when
from recnb.display.language import N_, _
from recnb.errors import FrameError
from recnb.lint.data import LintData, NotCheckedError, quoted_id

#: The frames whose rows may say when.
DATED = ("train", "truth")
#: What times are, in words.
NUMBERS = N_("numbers")
DATES = N_("dates")
OTHER_KIND = N_("neither numbers nor dates")


def comparable_times(data: LintData) -> tuple[pl.Series, pl.Series]:
    """Return when, of each row of train and of the truth.

    Both are numbers, times or, where one is a day or text, days. An error says why they
    cannot be compared.
    """
    if data.source.keys.columns:
        raise NotCheckedError("Give the rows of one value of `split=` alone.")
    times = list[pl.Series]()
    for name, column in zip(DATED, _columns_of_times(data), strict=True):
        if len(column) != data.frame(name).height:
            raise NotCheckedError(
                "Rows of `{frame}` were left out or put together.", frame=name
            )
        times.append(_days(column, name))
    train, truth = times
    kind, kind_of_truth = _kind_of_time(train), _kind_of_time(truth)
    if kind != kind_of_truth or kind == OTHER_KIND:
        raise NotCheckedError(
            "The times are {train} in `train` and {truth} in `truth`: give both as "
            "dates, or both as numbers.",
            train=_(kind),
            truth=_(kind_of_truth),
        )
    if kind == NUMBERS:
        return _numbers(train), _numbers(truth)
    is_day = pl.Date in (train.dtype, truth.dtype)
    shared = pl.Date() if is_day else pl.Datetime("us")
    return train.cast(shared), truth.cast(shared)


def _columns_of_times(data: LintData) -> list[pl.Series]:
    """Return the columns of train and of the truth that say when, as they are.

    They are those of one name, or the only one of each frame.
    """
    tables = [data.side.train_times, data.side.truth_columns]
    of_train, of_truth = (
        [] if table is None else [*filter(says_when, table.columns)] for table in tables
    )
    names = [(name, name) for name in of_train if name in of_truth]
    if len(of_train) == len(of_truth) == 1:
        names.append((of_train[0], of_truth[0]))
    if not names:
        raise NotCheckedError(
            "No column of `train` and of `truth` is known to say when: call it "
            "`timestamp` in both."
        )
    try:
        return [
            table[name].alias(name)
            for table, name in zip(tables, names[0], strict=True)
            if table is not None
        ]
    except FrameError:
        raise NotCheckedError(
            "A column of times holds values of several kinds."
        ) from None


def _days(column: pl.Series, frame: str) -> pl.Series:
    """Return text as days, and any other column as it is."""
    if column.dtype != pl.String:
        return column
    days = column.str.head(10).str.to_date("%Y-%m-%d", strict=False)
    unread = column.filter(days.is_null() & column.is_not_null())
    if len(unread):
        raise NotCheckedError(
            "Column {column} of `{frame}` holds text that is no day such as "
            "2026-01-31: {example}.",
            frame=frame,
            column=quoted_id(column.name),
            example=quoted_id(unread[0]),
        )
    return days


def _kind_of_time(column: pl.Series) -> str:
    if column.dtype.is_numeric():
        return NUMBERS
    return DATES if column.dtype in (pl.Date, pl.Datetime) else OTHER_KIND


def _numbers(column: pl.Series) -> pl.Series:
    return column.cast(pl.Float64).fill_nan(None)
