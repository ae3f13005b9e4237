"""Tables that are part of the package: a csv file beside the module that reads it."""

from __future__ import annotations

import csv
from importlib import resources


def rows_of(path: str) -> list[dict[str, str]]:
    """Return the rows of a file by its path within the package, as "metrics/references.csv".

    >>> rows_of("metrics/references.csv")[0]["year"]
    '1979'
    """
    return list(csv.DictReader(resources.files("recnb").joinpath(path).read_text("utf-8").splitlines()))
