"""The line of small print: how many users, who was left out, and by which convention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recnb.conventions import Convention
    from recnb.frames import Counts


def basis_of(counts: Counts, convention: Convention, notes: Sequence[str], *, graded: bool) -> str:
    """One line that goes with every number."""
    return "; ".join([*users_in_words(counts, convention), *convention.phrases(graded=graded), *notes])


def users_in_words(counts: Counts, convention: Convention) -> list[str]:
    """The users behind a mean, and those that are not."""
    parts = [f"{counts.n_users:,} user{'s' if counts.n_users != 1 else ''}" + convention.users_phrase]
    if counts.n_without_list:
        parts.append(f"{counts.n_without_list:,} of them without a list, which counts 0")
    if counts.n_without_relevant:
        fate = {
            "skip": "left out",
            "zero": "counting 0",
            "one": "counting 1",
            "nan": "counting NaN",
            "error": "refused",
        }
        kept = convention.no_relevant
        where = "" if kept in ("skip", "error") else " where evaluated"
        parts.append(f"{counts.n_without_relevant:,} with no relevant item {fate[kept]}{where}")
    return parts
