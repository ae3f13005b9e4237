"""The publications that define the metrics: `references.csv`, a row for each."""

from __future__ import annotations

from dataclasses import dataclass

from recnb.display.data_file import rows_of


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


#: Citation key -> publication.
REFERENCES: dict[str, Reference] = {
    row["key"]: Reference(row["authors"], int(row["year"]), row["title"], row["where"], row["doi"])
    for row in rows_of("metrics/references.csv")
}
