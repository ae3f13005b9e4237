"""Everything that recnb raises or warns of on purpose.

Each message says what was found, where, and what to type next.
"""

from __future__ import annotations

import csv
import difflib
import functools
import math
import typing
from collections.abc import Container, Iterable, Mapping
from importlib import resources
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeGuard


class RecnbError(ValueError):
    """What recnb was given cannot be evaluated: the message says why, and the fix."""

    #: Of a metric without a number: what it lacks, without its name and any call.
    lack: str = ""

    def __init__(
        self, message: str = "", typed: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        #: A call in the message -> what is typed on the command line in its place.
        self.typed = dict(typed or {})


class FrameError(RecnbError):
    """A frame holds something that would make the numbers wrong."""


class ColumnError(FrameError):
    """No column, or more than one, can play a role."""


class NoRowsError(FrameError):
    """A table has no rows."""


class NoUsersError(FrameError):
    """No user is left to average."""


class OptionError(RecnbError):
    """A name that recnb does not know: of a metric, an option or a value of an option."""


class UnknownNameError(OptionError, AttributeError):
    """An attribute that does not exist, such as a misspelt metric.

    `hasattr` is False for it.
    """


class UnknownModelError(OptionError, KeyError):
    """The model asked for is not in the comparison.

    `get` and `in` work as for any mapping.
    """

    __str__ = ValueError.__str__  # KeyError's shows the message in quotes


class CutoffError(RecnbError):
    """A cut-off is not a whole number of ranks from 1 up."""


class UnknownUserError(RecnbError):
    """The user asked for is not among those evaluated."""


class ElsewhereError(RecnbError):
    """Every row of the lists is needed, and they are not in memory."""


class WriteError(RecnbError):
    """A file cannot be written: the disk is full, or the permission is missing."""


class LeftMergeWarning(UserWarning):
    """One frame with both sides looks like recommendations merged with a truth.

    Relevant items that were not recommended are not in it.
    """

    # Python's own warnings have no signature that the site could show.
    def __init__(self, message: str = "") -> None:
        super().__init__(message)


def is_number(value: object) -> TypeGuard[float]:
    """Whether an option was given a finite number; numpy's count, True does not."""
    try:
        return (
            isinstance(value, Real)
            and not isinstance(value, bool)
            and math.isfinite(value)
        )
    except OverflowError:  # a whole number beyond all floats
        return False


def is_several(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether something gives one value after the other.

    Text is one value, and so is an array without a dimension.
    """
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes))
        and getattr(value, "ndim", 1) > 0
    )


def is_word(value: object, words: Container[str]) -> bool:
    """Whether an option is one of its words.

    What is no text is none, whether it can be compared and hashed or not.
    """
    return isinstance(value, str) and value in words


def words_of(annotated: Any) -> dict[str, tuple[str, ...]]:
    """Return the parameters or fields whose values are words, and the words of each."""
    hints = typing.get_type_hints(annotated)
    return {
        name: typing.get_args(hint)
        for name, hint in hints.items()
        if typing.get_origin(hint) is Literal
    }


def quoted(value: object) -> str:
    """Return how Python writes a value, for a sentence.

    Of a frame, or what else takes several lines, its type.
    """
    written = repr(value)
    return f"<{type(value).__name__}>" if "\n" in written else written


def listed(names: Iterable[object]) -> str:
    """Return names as a list in a sentence, of many the first ten."""
    shown = [*map(repr, names)]
    more = f" and {len(shown) - 10:,} more" if len(shown) > 10 else ""
    return f"{', '.join(shown[:10])}{more}"


#: The most names that follow a suggestion; more would hide it.
MOST_KNOWN = 12


def near(word: object, known: Iterable[object]) -> str:
    """Return a sentence to end a message with.

    "Did you mean 'ndcg'? Known: 'ndcg', 'dcg', 'recall'.".
    """
    names = [*map(str, known)]
    if not names:
        return ""
    by_letters = {name.lower(): name for name in names}
    nearest = difflib.get_close_matches(str(word).lower(), by_letters, n=2, cutoff=0.65)
    is_known = isinstance(word, str) and word in names
    close = [word] if is_known else [by_letters[name] for name in nearest]
    all_known = f"Known: {', '.join(map(repr, names))}."
    if not close:
        return all_known
    meant = f"Did you mean {' or '.join(map(repr, close))}?"
    return f"{meant} {all_known}" if len(names) <= MOST_KNOWN else meant


@functools.cache
def _other_names() -> dict[tuple[str, str], str]:
    """Return what to type in place of names that recnb lacks, by their place and name.

    Some it had until a version; names between bars are told the same.
    """
    text = resources.files("recnb").joinpath("other_names.csv").read_text("utf-8")
    told = {}
    for row in csv.DictReader(text.splitlines()):
        for name in row["name"].split("|"):
            told[row["of"], name.lower()] = row["say"]
    return told


def instead_of(of: Iterable[str], name: str, typed_as: str = "") -> str:
    """Say what to type in place of a name that recnb lacks; empty if nothing is known.

    `of`: "recnb", the classes of an object, or the function whose keyword it is;
    `typed_as`: what the object is called in the call.
    """
    told = _other_names()
    for place in of:
        words = told.get((place, name.lower()), "")
        if words:
            return words.replace("{it}", typed_as).replace("{name}", name)
    return ""


def no_attribute(
    of: str, name: str, known: Iterable[str], instead: str = ""
) -> AttributeError:
    """Return the error for an attribute that does not exist.

    It says what to type `instead`, or names the nearest one.
    """
    if name.startswith("_"):  # asked for by Python, IPython and pickle, and not typed
        return AttributeError(f"{of} has no attribute {name!r}")
    fix = instead or near(name, [each for each in known if each[0] != "_"])
    return UnknownNameError(f"{of} has no {name!r}. {fix}")


class Suggesting:
    """A class whose objects answer a misspelt or guessed attribute with what to type."""

    _typed_as = ""  #: what an object is called in the calls that it tells

    def _instead_of(self, name: str) -> str:
        """Say what to type for a name that it lacks; empty if nothing is known."""
        places = [each.__name__ for each in type(self).__mro__]
        return instead_of(places, name, self._typed_as)

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> NoReturn:
            instead = "" if name.startswith("_") else self._instead_of(name)
            raise no_attribute(type(self).__name__, name, dir(self), instead)
