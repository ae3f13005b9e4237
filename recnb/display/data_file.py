"""Tables that are part of the package: a csv file beside the module that reads it."""

import csv
from importlib import resources


def rows_of(path: str) -> list[dict[str, str]]:
    """Return the rows of a file of the package, as "metrics/references.csv"."""
    text = resources.files("recnb").joinpath(path).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
