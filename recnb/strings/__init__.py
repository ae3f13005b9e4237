"""Every sentence that recnb shows, in English and in Korean: one table, `strings.csv`, and the language in force.

The language is a setting, as `recnb.language("ko")`, or an argument, as `ev.report(lang="ko")`. What is shown later than
it is made (a result in a notebook) keeps the language it was made in: it is drawn `with speaking(self.lang)`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from typing import Any

from recnb.errors import OptionError, near

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
    if lang not in LANGUAGES:
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


@cache
def table() -> dict[str, tuple[str, ...]]:
    """Key to texts, one for each language."""
    text = resources.files(__name__).joinpath("strings.csv").read_text(encoding="utf-8")
    return {row["key"]: tuple(row[lang] for lang in LANGUAGES) for row in csv.DictReader(text.splitlines())}
