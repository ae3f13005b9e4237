"""Everything that recnb raises on purpose.

    RecnbError (a ValueError)
    ├── FrameError         what a frame holds: missing ids, repeated pairs, impossible ranks
    │   ├── ColumnError    which column plays which role
    │   └── NoUsersError   no user is left to average
    ├── OptionError        an unknown metric, option or word for an option
    ├── CutoffError        a k that cuts nothing
    ├── UnknownUserError   a user that is not in the evaluation
    └── ElsewhereError     rows that are needed here stay in files or with an engine

Each message says what was found, where, and what to type next.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Container, Iterable
from numbers import Real
from typing import Any, TypeGuard


class RecnbError(ValueError):
    """What recnb was given cannot be evaluated; the message says why and what to do."""


class FrameError(RecnbError):
    """A frame holds something that would make the numbers wrong."""


class ColumnError(FrameError):
    """No column, or more than one, can play a role."""


class NoUsersError(FrameError):
    """No user is left to average."""


class OptionError(RecnbError):
    """A name that recnb does not know: of a metric, an option or a value of an option."""


class CutoffError(RecnbError):
    """k is not a whole number of ranks from 1 up."""


class UnknownUserError(RecnbError):
    """The user asked for is not among those evaluated."""


class ElsewhereError(RecnbError):
    """Every row of the lists is needed, and they are not in memory."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether an option was given a finite number; numpy's count, True does not."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_several(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether something gives one value after the other; text is one value, and so is an array without a dimension."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0


def is_word(value: object, words: Container[str]) -> bool:
    """Whether an option is one of its words; what is no text is none, whether it can be compared and hashed or not."""
    return isinstance(value, str) and value in words


def near(word: object, known: Iterable[object]) -> str:
    """The names nearest to a misspelt word, as a sentence to end a message with.

    >>> near("ndgc", ["ndcg", "dcg", "recall"])
    "Did you mean 'ndcg'? Known: 'ndcg', 'dcg', 'recall'."
    """
    names = [str(name) for name in known]
    close = difflib.get_close_matches(str(word), names, n=2, cutoff=0.6)
    question = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return f"{question}Known: {', '.join(map(repr, names))}."
