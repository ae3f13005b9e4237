"""Figures as an article prints them, beside the same figures computed.

The notebooks that retrace worked examples import this file from their own folder; it needs pandas and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

#: A reason is a sentence, and a table should show all of it, in one piece where it is printed as text.
pd.set_option("display.max_colwidth", None, "display.width", 200)

#: Decimals beyond the printed ones that are shown of a computed figure, so that one sees how it was rounded, and the
#: most that are shown at all: the last digits of a float differ between computers.
MORE, MOST = 2, 12


def compare(
    printed: Mapping[str, float], derived: Mapping[str, float], digits: int, note: str | Mapping[str, str] = ""
) -> pd.DataFrame:
    """A row for each figure: as printed, as recnb computes it, and whether the two agree to `digits` decimals.

    A figure that disagrees needs a reason in words, `note` (one for all of them, or one by name); a disagreement
    without a reason is an error, and so is a reason without a disagreement.

    >>> compare({"DCG": 4.5, "NDCG": 1.0}, {"DCG": 4.76185951, "NDCG": 1.0}, 4, "one term is wrong")
         printed     recnb                      agrees
    DCG      4.5  4.761860  MISPRINT: one term is wrong
    NDCG     1.0  1.000000                         yes
    """
    if list(printed) != list(derived):
        raise ValueError(f"printed has {list(printed)} and derived {list(derived)}: name the same figures")
    wrong = [name for name in printed if not agrees(printed[name], derived[name], digits)]
    if isinstance(note, str):
        note = dict.fromkeys(wrong or ["none of them"], note) if note else {}
    if set(note) != set(wrong):
        raise ValueError(f"these disagree: {wrong}; reasons are given for: {list(note)}")
    decimals = min(digits + MORE, MOST)
    return pd.DataFrame(
        {
            "printed": [str(value) for value in printed.values()],
            "recnb": [f"{float(value):.{decimals}f}" for value in derived.values()],
            "agrees": [f"MISPRINT: {note[name]}" if name in wrong else "yes" for name in printed],
        },
        index=list(printed),
    )


def agrees(printed: float, derived: float, digits: int) -> bool:
    """Whether a figure rounds to the printed one.

    >>> agrees(5.6925, 5.692536, 4), agrees(0.6953, 0.675292, 4)
    (True, False)
    """
    return abs(printed - derived) <= 0.5 * 10**-digits + 1e-12
