"""Korean for what the cells of notebooks show: headers of tables, labels and printed lines.

The notebooks in `ko` have the code of the English ones, so what the code itself writes is English. `use` makes this
notebook show it in Korean. Only what is shown changes: a column keeps the name that it has in the code.
"""

from __future__ import annotations

import builtins
import re
from functools import cache
from typing import Any

import pandas as pd
from IPython.core.getipython import get_ipython

#: English and Korean, whole texts; `{}` is any part that differs, such as a number, and is kept.
WORDS = {
    # worked.compare
    "printed": "제시값",
    "agrees": "일치",
    "MISPRINT: {}": "오타: {}",
    # words of many tables
    "yes": "예",
    "no": "아니요",
    "user": "사용자",
    "item": "아이템",
    "rank": "순위",
    "rank i": "순위 i",
}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile("(.+?)".join(map(re.escape, text.split("{}")))), WORDS[text]) for text in WORDS if "{}" in text]


def korean(text: Any) -> Any:
    """The Korean of a text, line by line; what has none, or is no text, stays as it is.

    >>> korean("MISPRINT: 4.6546 / 6.8928 = 0.6753")
    '오타: 4.6546 / 6.8928 = 0.6753'
    >>> korean("nDCG"), korean(3)
    ('nDCG', 3)
    """
    if not isinstance(text, str):
        return text
    if "\n" in text:
        return "\n".join(map(korean, text.split("\n")))
    if text in WORDS:
        return WORDS[text]
    matches = ((pattern.fullmatch(text), words) for pattern, words in _patterns())
    return next((words.format(*map(korean, match.groups())) for match, words in matches if match), text)


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its headers, labels and texts in Korean.

    >>> table(pd.DataFrame({"printed": [1.0], "agrees": "yes"}, index=pd.Index([2], name="rank")))
        제시값 일치
    순위
    2   1.0  예
    """
    return frame.map(korean).rename(index=korean, columns=korean).rename_axis(index=korean, columns=korean)


def use() -> None:
    """Show tables and printed lines of this notebook in Korean."""
    shell = get_ipython()
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(pd.DataFrame, lambda frame: _shown(frame)._repr_html_())
    formatters["text/plain"].for_type(pd.DataFrame, lambda frame, printer, _cycle: printer.text(repr(_shown(frame))))
    shell.user_ns["print"] = lambda *values, **options: builtins.print(*map(_shown, values), **options)


def _shown(value: Any) -> Any:
    """What is shown of a value; the tables of recnb, which have a type of their own, are in Korean by themselves."""
    return table(value) if type(value) is pd.DataFrame else korean(value)
