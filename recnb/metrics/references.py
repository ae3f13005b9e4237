"""The publications that define the metrics: `references.csv`, a row for each."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Reference:
    """A publication."""

    authors: str
    year: int
    title: str
    where: str
    doi: str = ""

    def __str__(self) -> str:
        doi = f" doi:{self.doi}" if self.doi else ""
        return f"{self.authors} ({self.year}). {self.title}. {self.where}.{doi}"


def _read() -> dict[str, Reference]:
    text = resources.files("recnb").joinpath("metrics/references.csv").read_text("utf-8")
    return {
        row["key"]: Reference(row["authors"], int(row["year"]), row["title"], row["where"], row["doi"])
        for row in csv.DictReader(text.splitlines())
    }


#: Citation key -> publication.
REFERENCES = _read()
