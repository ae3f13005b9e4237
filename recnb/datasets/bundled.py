"""The files of data sets that come with recnb."""

from __future__ import annotations

from importlib import resources

import pandas as pd

#: The columns that hold text.
TEXT = dict.fromkeys(
    [
        "user",
        "item",
        "title",
        "genres",
        "segment",
        "branch",
        "query",
        "doc",
        "text",
    ],
    "str",
)


def read_bundled(folder: str, name: str) -> pd.DataFrame:
    """Read a CSV file of a bundled data set."""
    files = resources.files("recnb.datasets").joinpath(folder)
    with files.joinpath(f"{name}.csv").open("rb") as file:
        return pd.read_csv(file, dtype=TEXT)


def frames_by(table: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Return the rows of each value of a column, without it, as new frames."""
    parts = table.groupby(column, sort=False, observed=True)
    return {
        str(value): part.drop(columns=column).reset_index(drop=True)
        for value, part in parts
    }
