"""The terms and the metrics of recnb with their meanings, for a reader of its numbers or a course."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from recnb.display.document import Line, Rows
from recnb.display.language import N_, NC_, _, use_language
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS
from recnb.results.table import Table

#: The terms other than metrics, in the order in which a reader needs them: name and meaning.
WORDS = {
    "user": (N_("user"), N_("Who receives the list; in search, a query.")),
    "item": (N_("item"), N_("What is ranked and recommended.")),
    "list": (NC_("glossary", "list"), N_("The items recommended to a user, from rank 1 down.")),
    "rank": (N_("rank"), N_("The place of an item in the list; 1 is the top.")),
    "cut-off": (N_("cut-off k"), N_("The depth at which a list is cut: only the first k places count.")),
    "truth": (N_("truth"), N_("The judged items of each user, and how relevant each is.")),
    "relevance": (N_("relevance"), N_("How relevant an item is to a user; 0 is not at all.")),
    "relevant item": (N_("relevant item"), N_("An item of the truth whose relevance is high enough to count, by default above 0.")),
    "hit": (N_("hit"), N_("A recommended item that is relevant.")),
    "gain": (N_("gain"), N_("What a hit is worth: its relevance, or 2^relevance - 1.")),
    "discount": (N_("discount"), N_("The divisor of a gain that grows with the rank, usually log2(1 + rank).")),
    "ideal list": (N_("ideal list"), N_("The list that would earn the most: all relevant items, the most relevant first.")),
    "credit": (N_("credit"), N_("What one row of a list adds to its score.")),
    "out of": (N_("out of"), N_("What the sum of credit is divided by: what the list could have earned.")),
    "convention": (N_("convention"), N_("A decision about the data that a number depends on, such as which users are averaged and how ties are ordered.")),
    "basis": (N_("basis"), N_("How many users are behind a number, who was left out, and by which conventions.")),
}  # fmt: skip
#: Metrics whose names in Korean are given beside those that other books use.
NAMES = {
    "hit_rate": NC_("glossary", "hit rate"), "cg": NC_("glossary", "cumulative gain"), "dcg": NC_("glossary", "discounted cumulative gain"),
}  # fmt: skip
HEADS = {"term": NC_("glossary", "term"), "name": N_("name"), "meaning": N_("meaning")}


class Glossary(Table):
    """A row per term and metric: the term as in code and English documents, its name and its meaning in a language."""

    def _head(self, column: Any, symbols: bool) -> Line:
        return _(HEADS[column])

    def _rows(self, *, symbols: bool) -> Rows:
        return replace(super()._rows(symbols=symbols), wraps=True)


def glossary(lang: str | None = None) -> Glossary:
    """Return the terms and the metrics of recnb with their meanings, in the language that is set or in `lang`.

    >>> glossary().set_index("term").loc["hit", "meaning"]
    'A recommended item that is relevant.'
    >>> glossary("ko").set_index("term").loc["ndcg", "name"]
    '정규화 할인 누적 이득'
    """
    with use_language(lang):
        rows = [(term, _(name), _(meaning)) for term, (name, meaning) in WORDS.items()]
        metrics = [*METRICS.values(), *RETRIEVAL_METRICS.values(), *LIST_METRICS.values()]
        rows += [(metric.name, _(NAMES.get(metric.name, metric.called)), metric.title) for metric in metrics]
        made = Glossary.made(pd.DataFrame(rows, columns=["term", "name", "meaning"]), [], _("glossary"))
        made.attrs |= {"longest": 1000, "most": len(made)}
        return made
