"""Data with all that can be said of it, what a result says when it is shown, and which
of that is English.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from html.parser import HTMLParser

import pandas as pd

import recnb
from recnb import LIST_METRICS, METRICS
from recnb.metrics.metric import RETRIEVAL_METRICS
from tests.results.test_shown import RANKED, RELEVANT
from tests.tools.translations import updated

RECS, TRUTH = RANKED, RELEVANT
EV = recnb.evaluate(RECS, TRUTH)

ONE = recnb.evaluate(RECS[RECS["user"] == "a"], {"a": TRUTH["a"]})
EVALUATIONS = {
    "all": (EV, [1, 3, 5]),
    "one user": (ONE, [2]),
    "many cut-offs": (EV, list(range(1, 25))),
    "union": (
        recnb.evaluate(RECS, TRUTH, averaged_users="union", no_relevant="zero"),
        [3],
    ),
    "one frame": (recnb.evaluate(RECS.assign(relevance=RECS["item"] % 2)), [3]),
    "threshold": (
        recnb.evaluate(RECS, TRUTH, averaged_users="both", relevant_from=2),
        [3],
    ),
    "lists of two days": (
        recnb.evaluate(
            pd.concat([RECS.assign(날짜="월"), RECS.assign(날짜="화")]),
            TRUTH,
            split="날짜",
        ),
        [3],
    ),
}


class Shown(HTMLParser):
    """What a page says to a reader, pictures and labels for screen readers included."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.lang: str | None = None
        self.hidden = False
        self.is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag == "style"
        self.is_code = tag == "code"
        for name, value in attrs:
            if name in ("alt", "title", "aria-label"):
                self.said.append(value or "")
            if name == "src" and value:
                self.said += re.findall(
                    r">([^<]+)<", base64.b64decode(value.split("base64,")[1]).decode()
                )
            if name == "lang":
                self.lang = value

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self.is_code = False

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        # Calls are Python; a formula or the name of a metric is of this language.
        is_call = self.is_code and data.startswith(("ev.", "found.", "{"))
        if not is_call:
            self.said.append(data)


def page(html: str) -> str:
    shown = Shown()
    shown.feed(html)
    return "\n".join(shown.said)


EVERY = (*METRICS.values(), *RETRIEVAL_METRICS.values(), *LIST_METRICS.values())
OPTIONS = {
    name
    for metric in EVERY
    for name in (*metric.defaults, *sum(metric.words.values(), ()))
}
ALLOWED = (
    {
        part
        for metric in EVERY
        for part in re.findall("[A-Za-z]+", f"{metric.name} {metric.symbol}")
    }
    | {part for name in OPTIONS for part in re.findall("[A-Za-z]+", name)}
    | {
        "HTML",
        "log",
        "min",
        "max",
        "NaN",
        "nan",
        "None",
        "MRR",
        "MAP",
        "rel",
        "IDCG",
        "DCG",
        "rectools",
    }
    | {
        "report",
        "table",
        "explain",
        "user",
        "frame",
        "html",
        "item",
        "markdown",
        "rank",
        "rows",
    }  # calls that are to be typed
    | {"recnb"}
)


def english_in(text: str) -> set[str]:
    """Words of three letters and more that are neither code nor a symbol."""
    text = re.sub(
        r"\\usepackage\{\w+\}|\\(begin|end)\{\w+\}(\{[lrc]+\})?|\\cmidrule\(lr\)",
        " ",
        text,
    )
    text = re.sub(r"\\[A-Za-z]+", " ", text)
    text = re.sub(r"`+ ?(ev\.|found\.|\{).*?`+", " ", text)  # calls, in Markdown
    return set(re.findall("[A-Za-z]{3,}", text)) - ALLOWED - waiting()


@cache
def waiting() -> set[str]:
    """Words of messages that are not translated yet, which test_translations.py finds
    where a release is made.
    """
    left = [
        message
        for message in updated("ko")
        if message.id and not all(message.string or [""])
    ]
    texts = [
        text
        for message in left
        for text in ([message.id] if isinstance(message.id, str) else message.id)
    ]
    return {word for text in texts for word in re.findall("[A-Za-z]{3,}", text)}
