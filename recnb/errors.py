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
from collections.abc import Iterable
from numbers import Real
from typing import TypeGuard


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
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def near(word: object, known: Iterable[object]) -> str:
    """The names nearest to a misspelt word, as a sentence to end a message with.

    >>> near("ndgc", ["ndcg", "dcg", "recall"])
    "Did you mean 'ndcg'? Known: 'ndcg', 'dcg', 'recall'."
    """
    names = [str(name) for name in known]
    close = difflib.get_close_matches(str(word), names, n=2, cutoff=0.6)
    question = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    return f"{question}Known: {', '.join(map(repr, names))}."
