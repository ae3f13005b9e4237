"""The conventions behind a number: how lists are ordered, what is relevant, which users count, and a metric's options.

Two libraries that report NDCG@10 of the same data rarely agree, because each decides these things silently. A
`Convention` is one value that names every decision, and says it in words beside each number.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recnb.errors import OptionError, is_number, is_word, near
from recnb.strings import known, say

Order = Literal["auto", "score", "rank", "row"]
ScoreDtype = Literal["float64", "float32"]
Ties = Literal["first", "last", "item_asc", "item_desc", "expected", "max_rank", "floor_mean_rank", "worst"]
Duplicates = Literal["error", "dedupe", "hit_once", "keep", "rows"]
NonpositiveScores = Literal["keep", "never_hit"]
Candidates = Literal["list", "padded", "catalogue"]
Cutoff = Literal["k", "none"]
Relevant = Literal[">0", "any", "!=0"]
Judged = Literal["truth", "list"]
NegativeRelevance = Literal["error", "zero", "keep"]
Users = Literal["truth", "recs", "both", "union"]
NoRelevant = Literal["skip", "zero", "one", "nan", "error"]
NoList = Literal["zero", "nan", "error"]
NoHit = Literal["zero", "skip", "error"]
Average = Literal["user", "pooled", "of_means", "geometric"]


@dataclass(frozen=True)
class Convention:
    """The decisions about data that come before any metric, with recnb's defaults.

    Its words are in the language in force; its `spec` is the same in any.

    >>> print(Convention(users="both", relevant_from=4).in_words())
    those in both frames; ordered by score, or by rank; relevant: relevance of 4 or more
    >>> Convention(users="everyone")
    Traceback (most recent call last):
        ...
    recnb.errors.OptionError: users='everyone' is no convention. Known: 'truth', 'recs', 'both', 'union'.
    """

    order: Order = "auto"  #: what puts a list in order
    score_dtype: ScoreDtype = "float64"  #: how finely scores are told apart
    ties: Ties = "first"  #: where equal scores stand
    duplicates: Duplicates = "error"  #: a pair recommended twice
    nonpositive_scores: NonpositiveScores = "keep"  #: whether a score of 0 or less can be a hit
    candidates: Candidates = "list"  #: what is ranked
    cutoff: Cutoff = "k"  #: whether k cuts the list
    relevant: Relevant = ">0"  #: which judged items are relevant
    relevant_from: float | None = None  #: the threshold, where there is one
    judged: Judged = "truth"  #: whose judgements are seen
    negative_relevance: NegativeRelevance = "error"
    users: Users = "truth"  #: who is averaged
    no_relevant: NoRelevant = "skip"  #: a user with nothing to find
    no_list: NoList = "zero"  #: a user with no recommendations
    no_hit: NoHit = "zero"  #: a user with no hit
    average: Average = "user"  #: how users are put together
    metric: tuple[tuple[str, Any], ...] = ()  #: the metric's own options

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            value = getattr(self, name)
            if not is_word(value, words):
                raise OptionError(f"{name}={value!r} is no convention. {near(value, words)}")
        threshold = self.relevant_from
        if threshold is not None and not (is_number(threshold) and threshold > 0):
            raise OptionError(
                f"relevant_from={threshold!r} is no threshold: give a number above 0, such as relevant_from=4."
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Convention:
        """A convention from options, refusing names that are none."""
        return cls(**cls.checked(options))

    @classmethod
    def checked(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options, all of which a convention has."""
        known = [one.name for one in fields(cls) if one.name != "metric"]
        for name in options:
            if name not in known:
                raise OptionError(f"{name!r} is no option for the data. {near(name, known)}")
        return dict(options)

    def spec(self) -> str:
        """What differs from the default, as text that `parse` reads back.

        >>> Convention(ties="expected", relevant_from=4).spec()
        'ties=expected; relevant_from=4'
        >>> Convention.parse("ties=expected; relevant_from=4") == Convention(ties="expected", relevant_from=4)
        True
        """
        own = ((one.name, getattr(self, one.name), one.default) for one in fields(self) if one.name != "metric")
        pairs = [(name, value) for name, value, default in own if value != default]
        return "; ".join(f"{name}={_text_of(value)}" for name, value in [*pairs, *self.metric])

    @classmethod
    def parse(cls, text: str) -> Convention:
        """A convention from its `spec`."""
        pairs = [part.split("=", 1) for part in text.split("; ") if part]
        known = {one.name for one in fields(cls)} - {"metric"}
        options = {name: value_of(value) for name, value in pairs if name in known}
        return cls(**options).with_metric({name: value_of(value) for name, value in pairs if name not in known})

    def with_metric(self, options: Mapping[str, Any]) -> Convention:
        """The same data under a metric's options."""
        return replace(self, metric=tuple(options.items()))

    def ordered_by(self, column: str) -> Convention:
        """The same convention, now that it is known which column gave the order."""
        return replace(self, order=typing.cast("Order", column)) if self.order == "auto" else self

    def in_words(self) -> str:
        """One line that a reader can hold against a paper."""
        users = say(f"convention.users.{self.users}")
        without = [say(f"convention.no_relevant.{self.no_relevant}")] if self.no_relevant != "skip" else []
        return "; ".join([users, *without, *self.phrases(graded=True)])

    @property
    def users_phrase(self) -> str:
        """Which users count, where it is not those of the truth."""
        return "" if self.users == "truth" else f", {say(f'convention.users.{self.users}')}"

    def phrases(self, *, graded: bool) -> list[str]:
        """Each decision in words; what is usual goes unsaid where a reader would take it so."""
        parts = [say(f"convention.order.{self.order}")]
        for name in _UNUSUAL:
            value = getattr(self, name)
            if value != _USUAL[name]:
                parts.append(say(f"convention.{name}.{value}"))
        if self.relevant_from is not None or graded:
            parts.append(say("convention.relevant_is", what=self.relevant_in_words))
        else:
            parts.append(say("convention.relevant_is_given"))
        return parts + options_in_words(dict(self.metric))

    @property
    def relevant_in_words(self) -> str:
        """Which judged items are relevant."""
        if self.relevant_from is not None:
            return say("convention.relevant_from", least=self.relevant_from)
        return say(f"convention.relevant.{self.relevant}")

    def __str__(self) -> str:
        return self.in_words()


def _text_of(value: Any) -> str:
    """A value as text that `value_of` reads back: short where that is exact."""
    if not is_number(value):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else str(value)


def value_of(text: str) -> Any:
    """A value from its text: a number, a switch or a word."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d*\.?\d+(e[-+]?\d+)?", text):
        return float(text)
    return {"true": True, "false": False}.get(text, text)


#: The options that are words, and the words each takes.
WORDS: dict[str, tuple[str, ...]] = {
    name: typing.get_args(hint)
    for name, hint in typing.get_type_hints(Convention).items()
    if typing.get_origin(hint) is Literal
}

#: The decisions that go unsaid where they are the usual ones, in the order in which they are said.
_UNUSUAL = (
    "score_dtype", "ties", "duplicates", "nonpositive_scores", "candidates", "cutoff", "judged", "negative_relevance",
    "no_list", "no_hit", "average",
)  # fmt: skip
_USUAL = {one.name: one.default for one in fields(Convention)}


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
    if name == "log_base":
        return "" if value == 2 else say("option.log_base", base=value)
    key = f"option.{name}.{value}"
    if known(key):
        return say(key)
    return "" if value is None else f"{name} = {value}"


def names() -> list[str]:
    """The libraries whose conventions are recorded, for `as_in`, `under` and `convention=`."""
    from recnb.conventions import presets

    return presets.names()


def metrics(library: str) -> list[str]:
    """The names of a library's metrics, for `as_in`."""
    from recnb.conventions import presets

    return presets.variants(library)


__all__ = ["WORDS", "Convention", "metrics", "names", "option_in_words", "options_in_words", "value_of"]
