"""Errors, which speak to who writes Python, in words of the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recnb.command.arguments import COLUMNS, DATA_OPTIONS, FLAGS, OPTIONS

#: How a keyword of Python is typed; `users` is a file or, as a word, an option of the data.
TYPED = {
    **{name: f"--option {name}=" for name in OPTIONS},
    **{name: f"--data-option {name}=" for name in DATA_OPTIONS},
    **{name: f"--{name.replace('_', '-')} " for name in (*FLAGS, *COLUMNS)},
}
FILES = ("train", "items", "users")

FRAME = re.compile(r"\b(recommendations|truth|train|items|users)\b(?=:| has | have | holds? | is )")
VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|-?\w[\w.+-]*\w|\w|(?=[ .,;:])"
KEYWORD = re.compile(rf"(?<![\w.(-])({'|'.join(TYPED)})=({VALUE})")
#: A call that takes the truth, of which only what else it takes can be typed; and code that makes up a clause of its own.
CALL = re.compile(r"\b[\w.]+\((?:recs, )?truth, (\w+=\w+)\)")
CODE = re.compile(
    r"(?:,|:|, such as|: such as) (?:(?:frame|recs|truth)\[[^\]]*\] = )?(?:frame|recs|truth)?(?:\[[^\]]*\])?(?:\.\w+\([^()]*\))+(?=[.;,]|$)"
)


def in_words(message: str, files: Mapping[str, str]) -> str:
    """A message with frames by the names of their files, flags for keywords, and no code.

    >>> in_words("truth has no user column. Say which one it is: user='who'.", {"truth": "t.csv"})
    'truth (t.csv) has no user column. Say which one it is: --user who.'
    >>> in_words("Drop those rows: frame.dropna(subset=['user']).", {})
    'Drop those rows.'
    """
    model = re.match(r"model '.*?'(?=: )", message)
    named = {**files, "recommendations": files[model[0]]} if model and model[0] in files else files
    message = FRAME.sub(lambda found: f"{found[1]} ({named[found[1]]})" if found[1] in named else found[1], message)
    message = KEYWORD.sub(_typed, CODE.sub("", CALL.sub(r"\1", message)))
    return " ".join(message.split())


def _typed(found: re.Match[str]) -> str:
    name, value = found.groups()
    plain = value.strip("[]").replace(", ", " ")
    if " " not in value.strip("[]").strip("'\"") or value.startswith("["):
        plain = plain.replace("'", "").replace('"', "")
    if name in FILES and value == "frame":
        plain = "FILE"
    elif name == "users":
        return f"--data-option users={plain}"
    return (TYPED[name] + ("COLUMN" if plain == "..." else plain)).rstrip()
