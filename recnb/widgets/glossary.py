"""The words of recnb and what they mean, in the language in force: for a reader of its numbers, or for a course."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recnb.display import html
from recnb.display.language import N_, NC_, _, current, pgettext, use_language
from recnb.display.text import aligned
from recnb.metrics.metric import LIST_METRICS, METRICS

if TYPE_CHECKING:
    import pandas as pd

#: The words that are no metrics, in the order in which one needs them.
WORDS = {
    "user": (N_("user"), N_("Whose list it is; a query, in search.")),
    "item": (N_("item"), N_("What is ranked and recommended.")),
    "list": (NC_("glossary", "list"), N_("The items recommended to a user, from rank 1 down.")),
    "rank": (N_("rank"), N_("The place of an item in the list; 1 is the top.")),
    "cut-off": (N_("cut-off k"), N_("The depth at which a list is cut: only the first k places count.")),
    "truth": (N_("truth"), N_("The judged items of each user, and how relevant each is.")),
    "relevance": (N_("relevance"), N_("How relevant an item is to a user; 0 is not at all.")),
    "relevant item": (
        N_("relevant item"),
        N_("An item of the truth whose relevance is high enough to count, which is above 0 unless said otherwise."),
    ),
    "hit": (N_("hit"), N_("A recommended item that is relevant.")),
    "gain": (N_("gain"), N_("What a hit is worth: its relevance, or 2^relevance - 1.")),
    "discount": (N_("discount"), N_("What a gain is divided by for standing further down, log2(1 + rank) as a rule.")),
    "ideal list": (
        N_("ideal list"),
        N_("The list that would earn the most: all relevant items, the most relevant first."),
    ),
    "credit": (N_("credit"), N_("What one row of a list adds to its score.")),
    "out of": (N_("out of"), N_("What the sum of credit is divided by: what the list could have earned.")),
    "convention": (
        N_("convention"),
        N_("A decision about the data that a number depends on, such as who is averaged and how ties stand."),
    ),
    "basis": (N_("basis"), N_("How many users are behind a number, who was left out, and by which conventions.")),
}


@dataclass(frozen=True)
class GlossaryEntry:
    """One word: as code and English documents have it, what it is called, and what it means."""

    term: str
    name: str
    meaning: str


@dataclass(frozen=True)
class Glossary:
    """Words and metrics with their meanings; in a notebook it shows itself."""

    terms: tuple[GlossaryEntry, ...]
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """A row per term: term, name, meaning."""
        import pandas as pd

        rows = [(one.term, one.name, one.meaning) for one in self.terms]
        return pd.DataFrame(rows, columns=["term", "name", "meaning"])

    def __repr__(self) -> str:
        with use_language(self.lang):
            rows = [(one.term, one.name, one.meaning) for one in self.terms]
            return "\n".join(aligned([_header(), *rows], left=3))

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            rows = [
                [f"<code>{html.text(one.term)}</code>", html.text(one.name), html.text(one.meaning, 400)]
                for one in self.terms
            ]
            return html.root(html.table(_header(), rows, numbers_from=3), label=_("glossary"))


def _header() -> list[str]:
    return [pgettext("glossary", "term"), _("name"), _("meaning")]


def glossary(lang: str | None = None) -> Glossary:
    """The words and the metrics of recnb with what they mean, in the language that is set or in `lang`.

    >>> glossary().to_frame().set_index("term").loc["hit", "meaning"]
    'A recommended item that is relevant.'
    >>> glossary("ko").to_frame().set_index("term").loc["ndcg", "name"]
    '정규화 할인 누적 이득'
    """
    with use_language(lang):
        terms = [GlossaryEntry(word, _(name), _(meaning)) for word, (name, meaning) in WORDS.items()]
        metrics = [GlossaryEntry(one.name, _(one.called), one.title) for one in METRICS.values()]
        metrics += [GlossaryEntry(one.name, _(one.called), one.title) for one in LIST_METRICS.values()]
        return Glossary((*terms, *metrics))
