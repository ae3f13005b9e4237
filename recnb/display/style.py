"""The look that pictures and plots share: colours, dashes, letters of plots.

matplotlib draws boxes for Korean letters unless it is given a font.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recnb.display.language import use_language

# Colours of middle lightness are read on white as on near black; dashes go with them.
ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
OTHER = "#c2601a"
NEUTRAL = "#9a62b8"  # of a finding that is not good or bad
COLOURS = (ACCENT, OTHER, "#3b8f55", NEUTRAL, "#a1801f", "#bf5a7d", "#4a8f96", QUIET)
DASHES = ("", "7 4", "2 4", "10 3 2 3", "4 2", "1 3", "12 4", "")

#: The first that is installed is taken. Of a collection, matplotlib sees the first font
#: alone; Noto's JP has all letters.
KOREAN = (
    "Noto Sans CJK KR",
    "NanumGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "Noto Sans KR",
    "Noto Sans CJK JP",
)


@contextmanager
def lettering(lang: str) -> Iterator[dict[str, Any]]:
    """Use a language in which plots can be labelled, and its font, while one is drawn.

    Yields the font as an option of a text. Where no Korean font is installed the labels
    are in English, and a warning says so.
    """
    import matplotlib as mpl
    from matplotlib import font_manager

    if lang != "ko":
        with use_language(lang):
            yield {}
        return
    installed = font_manager.get_font_names()
    korean = [name for name in KOREAN if name in installed]
    if not korean:
        warnings.warn(
            f"no font with Korean letters is installed, so the labels of this plot are "
            f"in English. Install one of: {', '.join(KOREAN[:4])}",
            stacklevel=4,
        )
        with use_language(lang), use_language("en"):  # with the noun of `lang`
            yield {}
        return
    # DejaVu has signs that a Korean font lacks, such as the minus of mathematics; after
    # it, or labels with mathematics break.
    fonts = [korean[0], "DejaVu Sans"]
    with use_language(lang), mpl.rc_context({"font.family": fonts}):
        yield {"fontfamily": fonts}
