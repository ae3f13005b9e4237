"""The words of recnb and what they mean, in the language in force: for a reader of its numbers, or for a course."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recnb.results import html
from recnb.results.report_text import aligned
from recnb.strings import current, say, speaking, table

if TYPE_CHECKING:
    import pandas as pd

#: The words that are no metrics, in the order in which one needs them.
WORDS = (
    "user", "item", "list", "rank", "cut-off", "truth", "relevance", "relevant item", "hit", "gain", "discount",
    "ideal list", "credit", "out of", "convention", "basis",
)  # fmt: skip


@dataclass(frozen=True)
class Term:
    """One word: as code and English documents have it, what it is called, and what it means."""

    term: str
    name: str
    meaning: str


@dataclass(frozen=True)
class Glossary:
    """Words and metrics with their meanings; in a notebook it shows itself."""

    terms: tuple[Term, ...]
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """A row per term: term, name, meaning."""
        import pandas as pd

        rows = [(one.term, one.name, one.meaning) for one in self.terms]
        return pd.DataFrame(rows, columns=["term", "name", "meaning"])

    def __repr__(self) -> str:
        with speaking(self.lang):
            rows = [(one.term, one.name, one.meaning) for one in self.terms]
            return "\n".join(aligned([_header(), *rows], left=True))

    def _repr_html_(self) -> str:
        with speaking(self.lang):
            rows = [
                [f"<code>{html.text(one.term)}</code>", html.text(one.name), html.text(one.meaning, 400)]
                for one in self.terms
            ]
            return html.root(html.table(_header(), rows, numbers_from=3), label=say("glossary.region"))


def _header() -> list[str]:
    return [say("glossary.term"), say("column.name"), say("column.meaning")]


def glossary(lang: str | None = None) -> Glossary:
    """The words and the metrics of recnb with what they mean, in the language that is set or in `lang`.

    >>> glossary().to_frame().set_index("term").loc["hit", "meaning"]
    'A recommended item that is relevant.'
    >>> glossary("ko").to_frame().set_index("term").loc["ndcg", "name"]
    '정규화 할인 누적 이득'
    """
    with speaking(lang):
        words = [(word, f"glossary.{word.replace(' ', '_').replace('-', '_')}") for word in WORDS]
        terms = [Term(word, say(f"{key}.name"), say(f"{key}.meaning")) for word, key in words]
        names = [key.split(".")[1] for key in table() if re.fullmatch(r"metric\.\w+\.name", key)]
        metrics = [Term(name, say(f"metric.{name}.name"), say(f"metric.{name}.title")) for name in names]
        return Glossary((*terms, *metrics))
