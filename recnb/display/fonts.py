"""Letters for plots: a Korean font for as long as a plot is drawn, and English where there is none.

matplotlib brings no Korean letters, and draws boxes in their place without an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from recnb.display.language import _, use_language

#: The first that is installed is taken. Of a collection, matplotlib sees the first font alone; Noto's JP has all letters.
KOREAN = ("Noto Sans CJK KR", "NanumGothic", "Malgun Gothic", "Apple SD Gothic Neo", "Noto Sans KR", "Noto Sans CJK JP")


def installed() -> set[str]:
    """Return the fonts that matplotlib has found."""
    from matplotlib import font_manager

    return set(font_manager.get_font_names())


@contextmanager
def lettering(lang: str, *, rc: bool = False) -> Iterator[dict[str, Any]]:
    """Use a language in which plots can be labelled; yields the font for its texts as an option of each.

    With `rc` the font is in force for all that is drawn meanwhile, and for that alone. Where no Korean font is
    installed the labels are in English, and a warning says so.
    """
    names = installed() if lang == "ko" else set()
    # DejaVu has signs that a Korean font lacks, such as the minus of mathematics; after it, or labels with mathematics break.
    fonts = next(([name, "DejaVu Sans"] for name in KOREAN if name in names), [])
    if lang == "ko" and not fonts:
        with use_language(lang):
            problem = _("No font with Korean letters is installed, so the labels of this plot are in English. Install one of: {fonts}.", fonts=", ".join(KOREAN[:4]))  # fmt: skip
        warnings.warn(problem, stacklevel=4)
    import matplotlib as mpl

    with (
        use_language(lang if fonts else "en"),
        mpl.rc_context({"font.family": fonts}) if rc and fonts else nullcontext(),
    ):
        yield {"fontfamily": fonts} if fonts else {}
