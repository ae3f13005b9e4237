"""Errors, whose messages say what to type in Python, as the command line says them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from recnb.cli.arguments import SIDE_DATA, flag_of
from recnb.evaluate import KEYWORDS

_NAMES = "|".join([*KEYWORDS, "k", "by", "baseline", "confidence", "model"])

#: A keyword with its value: text in quotes, a list, a word, or nothing. In the path of a
#: file it is a folder.
KEYWORD = re.compile(rf"(?<![\w/'-])({_NAMES})=('[^']*'|\[[^]]*\]|[\w.]*\b|)")

#: What messages say to call in Python, and what is typed here.
CALLS = {
    r"recs\.rec\.against\(truth, ([^()]*)\)": r"\1",
    r"recnb\.compare\(recs, truth\)": "--model COLUMN",
    r"recnb\.compare\(\{'a': recs_a, 'b': recs_b\}, truth\)": "--model a=FILES --model b=FILES",
    r"; or name the columns of predictions: recnb\.compare\([^()]*\)": "",
}

#: How messages say in Python that a column of text becomes one of dates.
DATES = re.compile(r"(\w+)\[('.*?')\] = pandas\.to_datetime\(.*?\]\)\.dt\.date")


def in_words(problem: Exception, files: Mapping[str, str]) -> str:
    """Return the message of an error on one line, in words of the command line.

    Flags stand in place of keywords. `files` has the file of each frame by the name that
    messages begin with; the file is added to it.
    """
    text = " ".join(str(problem).split())
    for call, typed in CALLS.items():
        text = re.sub(call, typed, text)
    text = KEYWORD.sub(_as_flag, text)
    text = DATES.sub(r"write the \1 as Parquet, with dates in column \2", text)
    for frame, file in files.items():
        if text.startswith((f"{frame}:", f"{frame} ")):
            return text.replace(frame, f"{frame} ({file})", 1)
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
