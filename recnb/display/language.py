"""Translations of what is shown, and the language in force.

English stands in the code, in the place where it is shown: `_("No interval")`
translates the sentence and puts the values in. Other languages are gettext catalogues,
`locale/<language>/LC_MESSAGES/recnb.po`, which `python -m tests.tools.translations`
brings up to date and compiles. Users and items are fields, `_("no {user}, no {item}")`,
which are filled by the noun of the data. Tables, explanations, gates, reports and widgets
keep the language they were made in, and with it the noun, `current()`: each is shown `with
use_language(self.lang)`. Scores and evaluations, whose words are made when they are shown,
follow the language in force then.
"""

from __future__ import annotations

import gettext
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from unicodedata import east_asian_width

from recnb.errors import OptionError, is_word, quoted

T = TypeVar("T")

LANGUAGES = ("en", "ko")
LOCALE = Path(__file__).parents[1] / "locale"


class Noun(NamedTuple):
    """The words for those whose lists are ranked, and for what is in the lists."""

    user: str = "user"
    item: str = "item"


#: What ranks are for, by the name of its column without _ and "id": how sentences call
#: the users.
NOUNS = {
    "q": "query",
    "query": "query",
    "question": "query",
    "userinput": "query",
    "topic": "topic",
    "session": "session",
    "customer": "customer",
    "member": "member",
    "visitor": "visitor",
}
#: The names of columns, in the same way, whose items are documents.
DOCUMENTS = ("doc", "docno", "document", "corpus")

#: Plurals in English that are not made with an s alone.
_PLURALS = {"query": "queries"}
#: The nouns in Korean, which has no plurals.
_KOREAN = {
    "user": "사용자",
    "query": "질의",
    "topic": "토픽",
    "session": "세션",
    "customer": "고객",
    "member": "회원",
    "visitor": "방문자",
    "list": "목록",
    "item": "아이템",
    "document": "문서",
}
#: Those who are not counted as people are.
_THINGS = ("query", "topic", "session", "list")


class Language(str):
    """A language with the noun in the fields of its messages."""

    noun: Noun

    def __new__(cls, lang: str, noun: Noun | None = None) -> Self:
        """Pack the name of the language with the noun."""
        self = super().__new__(cls, lang)
        self.noun = noun or Noun()
        return self

    @property
    def fields(self) -> dict[str, str]:
        """What stands for the noun in the fields of messages.

        {user}, {users}, {item} and {items}, and the same with a capital.
        """
        return _fields(str(self), self.noun)


@cache
def _fields(lang: str, noun: Noun) -> dict[str, str]:
    if lang == "en":
        words = noun._asdict()
        for name, word in noun._asdict().items():
            words[f"{name}s"] = _PLURALS.get(word, f"{word}s")
    else:
        words = _korean_fields(noun)
    return words | {
        name.capitalize(): word.capitalize() for name, word in words.items()
    }


def _korean_fields(noun: Noun) -> dict[str, str]:
    """Return the fields of Korean messages.

    Beside the fields of English, {counter} is what users are counted with, and {list}
    what one of them may lack.
    """
    user, item = _KOREAN[noun.user], _KOREAN[noun.item]
    return {
        "user": user,
        "users": user,
        "item": item,
        "items": item,
        "counter": "개" if noun.user in _THINGS else "명",
        "list": f"추천 {item}" if noun.user == "list" else _KOREAN["list"],
    }


#: The setting. A notebook runs each cell in a context of its own, so a context variable
#: would forget it.
_setting = [Language("en")]
_in_use: ContextVar[Language | None] = ContextVar("recnb_language", default=None)


def language(lang: str | None = None) -> str | None:
    """Set the language of all that is shown, or return it.

    Explanations, reports, widgets and plots are in it.

    Parameters
    ----------
    lang : {"en", "ko"}, optional
        The language; without it nothing is set.

    Returns
    -------
    str or None
        The language that is set; None where the call sets it, so that a notebook shows
        nothing.

    Examples
    --------
    >>> import recnb
    >>> recnb.language("en")
    >>> recnb.language()
    'en'
    """
    if lang is None:
        return _setting[0]
    _setting[0] = Language(checked(lang))
    return None


def current() -> Language:
    """Return the language in force: of `use_language`, or else the setting."""
    return _in_use.get() or _setting[0]


def checked(lang: str | None) -> Language:
    """Return a language of recnb: `lang`, or the language in force if it is None."""
    if lang is not None and not is_word(lang, LANGUAGES):
        raise OptionError(
            f"lang={quoted(lang)} is no language of recnb. Known: 'en' (English), "
            f"'ko' (Korean, 한국어)."
        )
    if lang is None:
        return current()
    if isinstance(lang, Language):
        return lang
    return Language(lang, current().noun)


@contextmanager
def use_language(lang: str | None) -> Iterator[str]:
    """Use a language within a block, with the noun that it has.

    None: the one in force.
    """
    chosen = checked(lang)
    token = _in_use.set(chosen)
    try:
        yield chosen
    finally:
        _in_use.reset(token)


def noun_of(column: str, item_column: str = "item") -> Noun:
    """Return the words for those whose lists are ranked and for what is in them.

    They are told by the names of their columns.
    """
    is_document = _without_id(item_column) in DOCUMENTS
    return Noun(
        NOUNS.get(_without_id(column), "user"), "document" if is_document else "item"
    )


def _without_id(column: str) -> str:
    """Return the name of a column in lower case without _, -, blanks and "id"."""
    plain = column.lower().replace("_", "").replace("-", "").replace(" ", "")
    return plain.removesuffix("id")


def use_noun(noun: Noun) -> AbstractContextManager[str]:
    """Put a noun into the fields of messages within a block, in the language in force."""
    return use_language(Language(current(), noun))


def with_noun(kind: type[T]) -> type[T]:
    """Put `self._noun` into what a class's own public methods say, and their errors."""
    for name, method in [*vars(kind).items()]:
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(kind, name, _with_noun(method))
    return kind


def _with_noun(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        with use_noun(self._noun):
            return method(self, *arguments, **options)

    return call


def named(message: str, /, **values: Any) -> str:
    """Put the noun in force and values into the English sentence of an error."""
    return message.format_map(Language("en", current().noun).fields | values)


class Plural(NamedTuple):
    """A message with two forms in English: for one, and for any other number `n`."""

    one: str
    many: str


Message = str | Plural


def N_(message: str) -> str:
    """Mark a message for translation; `_` translates it where it is shown."""
    return message


def _(message: Message, /, **values: Any) -> str:
    """Translate a message into the language in force and put the values in."""
    text = template(message, values.get("n", 1))
    filled = text.format_map(current().fields | values)
    if current() == "ko" and _PARTICLE.search(text):
        return with_particles(filled)
    return filled


def template(message: Message, n: float = 1) -> str:
    """Translate a message, in the form for `n`, and leave its fields as they are."""
    if not message:
        return ""  # which gettext has the head of the catalogue for
    catalogue = _catalogue(str(current()))
    if isinstance(message, Plural):
        # A fraction takes the form of many.
        count = int(n) if float(n).is_integer() else 2
        return catalogue.ngettext(message.one, message.many, count)
    text = catalogue.gettext(message)
    if text == message:
        # It may be the singular of a plural, where Python 3.11.2 does not look.
        text = catalogue.ngettext(message, message, 1)
    return text.rpartition("\4")[2]  # behind its context


def ngettext(one: str, many: str, n: float, /, **values: Any) -> str:
    """Translate a message in the form for `n`, which is one of its values."""
    return _(Plural(one, many), n=n, **values)


def pgettext(context: str, message: str, /, **values: Any) -> str:
    """Translate a message whose translation depends on the context."""
    return _(f"{context}\4{message}", **values)  # the form that gettext has it in


@dataclass(frozen=True)
class Sentence:
    """A message with its values, translated when it is shown.

    `str()` of it is in the language in force.
    """

    message: Message
    values: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return _(self.message, **self.values)


@cache
def _catalogue(lang: str) -> gettext.NullTranslations:
    """Return the catalogue of a language; without its file all is English."""
    return gettext.translation("recnb", LOCALE, [lang], fallback=True)


#: Korean particles as catalogues have them; one depends on the last sound before it:
#: after a consonant, after a vowel.
_PARTICLES = {
    "(으)로": ("으로", "로"),
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
}
_PARTICLE = re.compile("|".join(map(re.escape, _PARTICLES)))
#: A digit, a Korean letter, % or the last letter of an abbreviation, quotes or brackets
#: that close, and a particle.
_WORD_AND_PARTICLE = re.compile(
    f"([0-9가-힣%]|(?<![a-z])[A-Z]|(?<![A-Za-z])[a-z])([\"'”’)\\]]*)({_PARTICLE.pattern})"
)
#: Digits and signs as they are read aloud; the names of other letters than these end in
#: a vowel.
_READ = dict(zip("0123456789%LMNR", "영일이삼사오육칠팔구트엘엠엔알", strict=True))


def with_particles(text: str) -> str:
    """Choose Korean particles by what is before them.

    That is a digit, a Korean letter or an abbreviation; a name keeps both forms.
    """
    return _WORD_AND_PARTICLE.sub(_fitting, text)


def _fitting(match: re.Match[str]) -> str:
    """Write the form of a particle that fits the sound before it."""
    last, closing, particle = match.groups()
    letter = last
    if not "가" <= last <= "힣":
        letter = _READ.get(last.upper(), "가")
    after_consonant, after_vowel = _PARTICLES[particle]
    # The consonant at the end of a syllable: 0 is none, 8 is an L.
    final = (ord(letter) - ord("가")) % 28
    if final == 0 or (final == 8 and particle == "(으)로"):
        return last + closing + after_vowel
    return last + closing + after_consonant


def width(text: str) -> int:
    """Return how many columns a text takes on a console.

    A Korean letter takes two.
    """
    if text.isascii():
        return len(text)
    n_wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return len(text) + n_wide
