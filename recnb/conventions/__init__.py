"""The conventions behind a number: how lists are ordered, what is relevant, which users count, and a metric's options.

Two libraries that report NDCG@10 of the same data rarely agree, because each decides these things silently. A
`Convention` is one value that names every decision, and says it in words beside each number.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recnb.errors import OptionError, is_number, near

Order = Literal["auto", "score", "rank", "row"]
Ties = Literal["first", "last", "item_asc", "item_desc"]
Duplicates = Literal["error", "dedupe", "hit_once", "keep"]
Candidates = Literal["list", "padded"]
Judged = Literal["truth", "list"]
Users = Literal["truth", "recs", "both", "union"]
NoRelevant = Literal["skip", "zero", "one", "nan", "error"]


@dataclass(frozen=True)
class Convention:
    """The decisions about data that come before any metric, with recnb's defaults.

    >>> print(Convention(users="both", relevant_from=4).in_words())
    those in both frames; ordered by score, or by rank; relevant: relevance of 4 or more
    >>> Convention(users="everyone")
    Traceback (most recent call last):
        ...
    recnb.errors.OptionError: users='everyone' is no convention. Known: 'truth', 'recs', 'both', 'union'.
    """

    order: Order = "auto"
    ties: Ties = "first"
    duplicates: Duplicates = "error"
    candidates: Candidates = "list"
    judged: Judged = "truth"
    relevant_from: float | None = None
    users: Users = "truth"
    no_relevant: NoRelevant = "skip"
    metric: tuple[tuple[str, Any], ...] = ()  #: the metric's own options

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            value = getattr(self, name)
            if value not in words:
                raise OptionError(f"{name}={value!r} is no convention. {near(value, words)}")
        threshold = self.relevant_from
        if threshold is not None and not (is_number(threshold) and threshold > 0):
            raise OptionError(
                f"relevant_from={threshold!r} is no threshold: give a number above 0, such as relevant_from=4."
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Convention:
        """A convention from options, refusing names that are none."""
        known = [one.name for one in fields(cls) if one.name != "metric"]
        for name in options:
            if name not in known:
                raise OptionError(f"{name!r} is no option for the data. {near(name, known)}")
        return cls(**options)

    def with_metric(self, options: Mapping[str, Any]) -> Convention:
        """The same data under a metric's options."""
        return replace(self, metric=tuple(options.items()))

    def ordered_by(self, column: str) -> Convention:
        """The same convention, now that it is known which column gave the order."""
        return replace(self, order=typing.cast("Order", column)) if self.order == "auto" else self

    def in_words(self) -> str:
        """One line that a reader can hold against a paper."""
        users = self.users_phrase.lstrip(", ") or "users of the truth"
        return "; ".join([users, *self.phrases(graded=True)])

    @property
    def users_phrase(self) -> str:
        """Which users count, where it is not those of the truth."""
        return _USERS[self.users]

    def phrases(self, *, graded: bool) -> list[str]:
        """Each decision in words; what is usual goes unsaid where a reader would take it so."""
        parts = [_ORDER[self.order]]
        parts += [text for name, words in _UNUSUAL.items() if (text := words.get(getattr(self, name)))]
        if self.relevant_from is not None:
            parts.append(f"relevant: relevance of {self.relevant_from:g} or more")
        else:
            parts.append("relevant: relevance above 0" if graded else "relevant: every pair of the truth")
        return parts + options_in_words(dict(self.metric))

    def __str__(self) -> str:
        return self.in_words()


#: The options that are words, and the words each takes.
WORDS: dict[str, tuple[str, ...]] = {
    name: typing.get_args(hint)
    for name, hint in typing.get_type_hints(Convention).items()
    if typing.get_origin(hint) is Literal
}

_ORDER = {
    "auto": "ordered by score, or by rank",
    "score": "ordered by score",
    "rank": "ordered by rank",
    "row": "in the order given",
}
_USERS = {
    "truth": "",
    "recs": ", those with a list",
    "both": ", those in both frames",
    "union": ", those in either frame",
}
_UNUSUAL: dict[str, dict[str, str]] = {
    "ties": {
        "last": "equal scores in reverse order",
        "item_asc": "equal scores by item, ascending",
        "item_desc": "equal scores by item, descending",
    },
    "duplicates": {
        "dedupe": "a pair recommended twice keeps its highest place",
        "hit_once": "a pair recommended twice hits once",
        "keep": "a pair recommended twice counts twice",
    },
    "candidates": {"padded": "judged items that were not recommended stand below the list"},
    "judged": {"list": "only recommended items are judged"},
}

_OUT_OF = {
    "k": "out of k",
    "list": "out of the list's length",
    "relevant": "out of all relevant items",
    "hits": "out of the hits",
    "min(k, relevant)": "out of min(k, relevant items)",
    "min(list, relevant)": "out of min(list's length, relevant items)",
}
_METRIC_WORDS: dict[str, dict[str, str]] = {
    "gain": {"linear": "linear gain", "exponential": "gain 2^relevance - 1", "binary": "binary gain"},
    "discount": {
        "log": "discount log2(1 + rank)",
        "clipped_log": "discount max(1, log2(rank))",
        "rank": "discount rank",
    },
    "ideal": {
        "relevant": "ideal: all relevant items, cut at k",
        "k": "ideal: k items as good as the best",
        "list": "ideal: the list's own items, best first",
    },
    "out_of": _OUT_OF,
    "target": {"first": "first relevant item", "preferred": "most preferred item"},
}


def options_in_words(options: Mapping[str, Any]) -> list[str]:
    """A metric's options as phrases.

    >>> options_in_words({"gain": "exponential", "discount": "log", "log_base": 10})
    ['gain 2^relevance - 1', 'discount log10(1 + rank)']
    """
    base = options.get("log_base", 2)
    phrases = {name: option_in_words(name, value) for name, value in options.items()}
    if base != 2 and "discount" in phrases:
        phrases["discount"] = phrases["discount"].replace(
            "log2(", f"log{base:g}(" if base % 1 == 0 else f"log_{base:.4g}("
        )
        del phrases["log_base"]
    return [phrase for phrase in phrases.values() if phrase]


def option_in_words(name: str, value: object) -> str:
    """One option as a phrase; nothing where there is nothing to say."""
    if name in _METRIC_WORDS:
        return _METRIC_WORDS[name].get(str(value), f"{name} = {value}")
    if name == "log_base":
        return "" if value == 2 else f"logarithm of base {value}"
    return "" if value is None else f"{name} = {value}"


__all__ = ["WORDS", "Convention", "option_in_words", "options_in_words"]
