"""Every sentence that recnb shows, in English and in Korean: one table, `strings.csv`, and the language in force.

The language is a setting, as `recnb.language("ko")`, or an argument, as `ev.report(lang="ko")`. What is shown later than
it is made (a result in a notebook) keeps the language it was made in: it is drawn `with speaking(self.lang)`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from recnb.errors import OptionError, is_word, near

LANGUAGES = ("en", "ko")

#: The setting. A notebook runs each cell in a context of its own, so a context variable would forget it.
_setting = ["en"]
_spoken: ContextVar[str | None] = ContextVar("recnb_spoken", default=None)


def language(lang: str | None = None) -> str:
    """Set the language of explanations, reports, widgets and plots: "en" or "ko"; without an argument, say which is set.

    >>> language()
    'en'
    >>> language("english")
    Traceback (most recent call last):
        ...
    recnb.errors.OptionError: lang='english' is no language of recnb. Known: 'en', 'ko'.
    """
    if lang is not None:
        _setting[0] = checked(lang)
    return _setting[0]


def current() -> str:
    """The language in force: the one spoken for a while, else the setting."""
    return _spoken.get() or _setting[0]


def checked(lang: str | None) -> str:
    """A language that recnb speaks: the one named, or the one in force."""
    if lang is None:
        return current()
    if not is_word(lang, LANGUAGES):
        raise OptionError(f"lang={lang!r} is no language of recnb. {near(lang, LANGUAGES)}")
    return lang


@contextmanager
def speaking(lang: str | None) -> Iterator[str]:
    """Speak a language for a while; None: the one in force."""
    token = _spoken.set(checked(lang))
    try:
        yield current()
    finally:
        _spoken.reset(token)


def say(key: str, /, **values: Any) -> str:
    """The text of a key in the language in force, with the values put in.

    A text with a bar has two forms, for `n` of one and for any other.

    >>> say("count.users", n=1), say("count.users", n=2000)
    ('1 user', '2,000 users')
    >>> with speaking("ko"):
    ...     print(say("count.users", n=2000))
    사용자 2,000명
    """
    text = table()[key][LANGUAGES.index(current())]
    if "n" in values and "|" in text:
        one, many = text.split("|")
        text = one if values["n"] == 1 else many
    return text.format_map(values) if values else text


def known(key: str) -> bool:
    """Whether the table holds a key."""
    return key in table()


def capital(words: str) -> str:
    """A sentence begun in the middle, now at the head of a line."""
    return words[:1].upper() + words[1:]


def width(text: str) -> int:
    """How many columns a text takes on a console, where a Korean letter takes two.

    >>> width("rank"), width("순위")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(1 + (east_asian_width(one) in "WF") for one in text)


@dataclass(frozen=True)
class Sentence:
    """What is to be said, before it is known in which language: as text, it is in the one in force."""

    key: str
    values: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return say(self.key, **self.values)


@cache
def table() -> dict[str, tuple[str, ...]]:
    """Key to texts, one for each language."""
    text = Path(__file__).with_name("strings.csv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines())
    header = next(rows)
    columns = [header.index(lang) for lang in LANGUAGES]
    return {row[0]: tuple(row[column] for column in columns) for row in rows if row}
