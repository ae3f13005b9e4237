"""The times of train and of the truth, made comparable."""

from __future__ import annotations

import polars as pl

from recnb.errors import FrameError
from recnb.lint.data import LintData, NotCheckedError


def comparable_times(data: LintData) -> tuple[pl.Series, pl.Series]:
    """Return when, of each row of train and of the truth.

    Both are numbers, times or, where one is a day, days. An error says why they cannot
    be compared.
    """
    if data.source.keys.columns:
        raise NotCheckedError("Give the rows of one value of `split=` alone.")
    try:
        train, truth = _columns_of_times(data)
    except FrameError:
        raise NotCheckedError(
            "A column of times holds values of several kinds."
        ) from None
    for name, column in (("train", train), ("truth", truth)):
        if len(column) != data.frame(name).height:
            raise NotCheckedError(
                "Rows of `{frame}` were left out or put together.", frame=name
            )
    if train.dtype.is_numeric() and truth.dtype.is_numeric():
        return _numbers(train), _numbers(truth)
    types = [train.dtype.base_type(), truth.dtype.base_type()]
    if not {*types} <= {pl.Date, pl.Datetime}:
        raise NotCheckedError(
            "The times are {train} in `train` and {truth} in `truth`: give both as "
            "dates, or both as numbers.",
            train=types[0],
            truth=types[1],
        )
    shared = pl.Date() if pl.Date in types else pl.Datetime("us")
    return train.cast(shared), truth.cast(shared)


def _columns_of_times(data: LintData) -> tuple[pl.Series, pl.Series]:
    """Return the columns of train and of the truth that say when, of one name."""
    train, truth = data.side.train_times, data.side.truth_columns
    if train is not None and truth is not None:
        for name in train.columns:
            if name in truth.columns:
                return train[name].alias(name), truth[name]
    raise NotCheckedError(
        "No column of `train` and of `truth` is known to say when: call it "
        "`timestamp` in both."
    )


def _numbers(column: pl.Series) -> pl.Series:
    return column.cast(pl.Float64).fill_nan(None)
