"""Words under numbers: how many users, who was left out, by which convention; and frames as a console shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recnb.strings import Sentence, current, say

if TYPE_CHECKING:
    import pandas as pd

    from recnb.conventions import Convention
    from recnb.frames import Counts


def basis_of(counts: Counts, convention: Convention, notes: Sequence[str | Sentence], *, graded: bool) -> str:
    """One line that goes with every number."""
    return "; ".join([*users_in_words(counts, convention), *convention.phrases(graded=graded), *map(str, notes)])


def users_in_words(counts: Counts, convention: Convention) -> list[str]:
    """The users behind a mean, and those that are not."""
    parts = [say("count.users", n=counts.n_users) + convention.users_phrase]
    if counts.n_without_list:
        parts.append(say("basis.without_list", n=counts.n_without_list))
    if counts.n_without_relevant:
        parts.append(say(f"basis.no_relevant.{convention.no_relevant}", n=counts.n_without_relevant))
    return parts


def console(frame: pd.DataFrame, **how: Any) -> str:
    """A frame as text in the language in force, its columns in line where letters are two columns wide."""
    import pandas as pd

    wide = current() != "en" or pd.get_option("display.unicode.east_asian_width")
    with pd.option_context("display.unicode.east_asian_width", wide):
        return str(frame.to_string(**how))
