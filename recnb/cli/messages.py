"""Errors, whose messages say what to type in Python, as the command line says them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from recnb.cli.arguments import SIDE_DATA, flag_of
from recnb.errors import RecnbError
from recnb.evaluate import KEYWORDS

_NAMES = "|".join([*KEYWORDS, "k", "by", "baseline"])

#: A keyword with its value as Python writes them: text in quotes, a list, a word, or
#: nothing. In the path of a file it is a folder. A parser of Python does not find where
#: they begin and end in a sentence.
KEYWORD = re.compile(rf"(?<![\w/'-])({_NAMES})=('[^']*'|\[[^]]*\]|-?[\w.]+\b|)")


def in_words(problem: Exception, names: Mapping[str, str]) -> str:
    """Return the message of an error on one line, in words of the command line.

    Flags stand in place of keywords, and what the error says is typed here in place of
    calls. `names` has what the command line calls a frame, by the name that messages begin
    with.
    """
    text = " ".join(str(problem).split())
    cause: BaseException | None = problem
    while isinstance(cause, RecnbError):  # whose message is part of this one
        for call, typed in cause.typed.items():
            text = text.replace(call, typed)
        cause = cause.__cause__
    text = KEYWORD.sub(_as_flag, text)
    # A message about a frame begins with its name, wherever it is raised.
    for name, shown in names.items():
        if text.startswith((f"{name}:", f"{name} ")):
            return text.replace(name, shown, 1)
    return text


def _as_flag(match: re.Match[str]) -> str:
    """Return a keyword with its value as flags.

    `user=['cust', 'id']` becomes `--user cust --user id`, `k=[5, 10]` becomes
    `--k 5 10`, and `items=frame` becomes `--items FILE`.
    """
    keyword, value = match.groups()
    if "'" in value:
        values = [shlex.quote(text) for text in re.findall("'([^']*)'", value)]
    elif keyword in SIDE_DATA and value:
        values = ["FILE"]
    else:
        values = [value.strip("[]").replace(",", "")]
    flags = [f"{flag_of(keyword)} {value}".rstrip() for value in values]
    return " ".join(flags)
