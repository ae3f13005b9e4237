"""What a sentence below a number says, read back into options and counts; the same
counts made naively; and the small frames that both are tried on.

The phrases are written out here and not taken from the package, so that one that says
another thing than it did is found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from recnb.conventions.convention import PHRASES
from recnb.display.language import _
from tests import reference
from tests.rows import read_rows
from tests.strategies import Data, Options, values_of

#: What each phrase decides, beside those with numbers in `NUMBERED`.
MEANINGS: dict[str, Options] = read_rows("laws/sentences.toml")

#: Phrases with numbers, and the names of the options or counts that these are.
NUMBERED: dict[str, tuple[str, ...]] = {
    r"relevant: relevance of (\S+) or more": ("relevant_from",),
    r"highest relevance (\S+), that of the truth": ("max_relevance",),
    r"beta = (\S+)": ("beta",),
    r"p = (\S+)": ("p",),
    r"max_relevance = (\S+)": ("max_relevance",),
    r"discount log(?:_?([\d.]+))\(1 \+ rank\)": ("log_base",),
    r"discount max\(1, log_?([\d.]+)\(rank\)\)": ("log_base",),
}
COUNTED: dict[str, str] = {
    r"([\d,]+) users?": "users",
    r"([\d,]+) of them without a list, which counts 0": "without a list",
    r"([\d,]+) of them without a judged item in a list, which counts 0": (
        "without a judged item"
    ),
    r"([\d,]+) of them with no relevant item, which counts 0": "counts 0",
    r"([\d,]+) of them with no relevant item, which counts 1": "counts 1",
    r"([\d,]+) left out, with no relevant item": "left out",
    r"([\d,]+) left out, without judgements": "left out",
}
Counts = dict[str, int]


@dataclass
class Reading:
    """What a line below a number says."""

    options: Options = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)
    library: str = ""
    is_own: bool = False  #: whether the library has no such number

    def take(self, phrases: str) -> None:
        """Read phrases that are parted by commas, which some have themselves; an error
        if nobody knows what one means.
        """
        while phrases:
            phrase = first_phrase(phrases)
            self._take_one(phrase)
            phrases = phrases[len(phrase) :].removeprefix(", ")

    def _take_one(self, phrase: str) -> None:
        if phrase in MEANINGS:
            self._put(MEANINGS[phrase])
        for words, names in NUMBERED.items():
            if numbers := re.fullmatch(words, phrase):
                values = map(number_of, numbers.groups())
                self._put(dict(zip(names, values, strict=True)))
                if phrase.startswith("discount"):
                    is_log = phrase.startswith("discount log")
                    self._put({"discount": "log" if is_log else "clipped_log"})
        for words, name in COUNTED.items():
            if number := re.fullmatch(words, phrase):
                assert name not in self.counts, f"said twice: {phrase}"
                self.counts[name] = int(number[1].replace(",", ""))

    def _put(self, decided: Options) -> None:
        for name, value in decided.items():
            assert self.options.setdefault(name, value) == value, f"two of {name}"


def first_phrase(text: str) -> str:
    """Return the phrase that a text begins with."""
    longest_first = sorted(MEANINGS, key=len, reverse=True)
    for words in [*map(re.escape, longest_first), *NUMBERED, *COUNTED]:
        if found := re.match(f"{words}(?=, |$)", text):
            return found[0]
    raise AssertionError(f"a phrase that no test knows: {text!r}")


def number_of(text: str) -> float:
    """Return a number of a sentence, which has four digits of e."""
    return math.e if text == "2.718" else float(text)


#: What a library refuses.
CAVEATS = {_(words) for (axis, _word), words in PHRASES.items() if axis == "caveat"}


def read(basis: str, metric: str = "", *, is_whole: bool = False) -> Reading:
    """Return what the line says of a metric, which is named before its own phrases in
    the line of a table or report.

    `is_whole`: of its number of whole lists, where others are of lists that are cut.
    """
    reading = Reading()
    for phrase in basis.split("; "):
        library = re.fullmatch(
            r"by the conventions of ([\w.-]+)(?:, with ([^:]+))?(?:: (.*))?", phrase
        )
        own = re.fullmatch(r"recnb's own: that of ([\w.-]+) is not recorded", phrase)
        of_metrics = re.fullmatch(r"([\w, -]+): (.*)", phrase)
        if phrase.split(": ")[-1].removeprefix(f"{reading.library} ") in CAVEATS:
            continue  # of other frames than those whose number this is
        if own:
            reading.library, reading.is_own = own[1], True
        elif library:
            reading.library = library[1]
            for phrases_of_library in filter(None, library.groups()[1:]):
                reading.take(phrases_of_library)
        elif of_metrics and of_metrics[1] not in ("relevant", "ideal"):
            if metric in of_metrics[1].split(", "):
                of_cut, *of_whole = of_metrics[2].split(", for whole lists, ")
                reading.take(of_cut)
                if is_whole:
                    whole = Reading()
                    for phrases_of_whole in of_whole:
                        whole.take(phrases_of_whole)
                    reading.options.update(whole.options)
        else:
            reading.take(phrase)
    return reading


# Small frames


@dataclass(frozen=True)
class Frames(Data):
    """Lists of (item, score) and relevance of items, by user, and the options."""

    options: Options = field(default_factory=dict)

    @property
    def recs(self) -> pd.DataFrame:
        """user, item, score."""
        rows = [
            (user, item, score)
            for user, ranking in self.lists.items()
            for item, score in ranking
        ]
        return pd.DataFrame(rows, columns=["user", "item", "score"])

    relevance = Data.relevant

    def case(self, k: int | None) -> reference.Case:
        """The frames as the naive reference takes them."""
        recs = self.recs.assign(rank=range(len(self.recs)))
        return {
            "recs": recs.to_dict("records"),
            "truth": self.relevance.to_dict("records"),
            "k": k,
        }


USERS = ("ann", "ben", "cem", "dee", "eva", "fox")
ITEMS = ("a", "b", "c", "d", "e")
#: Relevance of the first user's first item, which is relevant under every option.
HIGH = 3.0


@st.composite
def frames(draw: st.DrawFn, *, plain: bool = False) -> Frames:
    """Up to six users: some without a list or not judged, with nothing relevant, with
    items that nobody judged and with equal scores; under any options, or `plain` ones.
    """
    lists: dict[str, list[tuple[str, float]]] = {}
    truth: dict[str, dict[str, float]] = {}
    items = st.lists(st.sampled_from(ITEMS), unique=True, max_size=5)
    signed = draw(st.booleans())
    grades = st.sampled_from([0, 1, 2, HIGH, *([-1, -2] if signed else [])])
    for user in USERS[: draw(st.integers(1, 6))]:
        ranking = draw(items)
        judged = {item: float(draw(grades)) for item in draw(items)}
        if user == USERS[0]:
            ranking = [*ranking, *({"a"} - {*ranking})]
            judged["a"] = HIGH
        if ranking:
            score = st.integers(0, 3).map(float)
            lists[user] = [(item, draw(score)) for item in ranking]
        if judged:
            truth[user] = judged
    if plain:
        has_negative = any(min(each.values()) < 0 for each in truth.values())
        return Frames(
            lists, truth, {"negative_relevance": "zero"} if has_negative else {}
        )
    return Frames(lists, truth, draw(data_options(truth)))


@st.composite
def data_options(draw: st.DrawFn, truth: dict[str, dict[str, float]]) -> Options:
    """Options of the data, each in some of the cases."""
    options: Options = {
        "averaged_users": draw(st.sampled_from(["truth", "recs", "both", "union"])),
        "no_relevant": draw(st.sampled_from(["skip", "zero", "one"])),
    }
    if draw(st.booleans()):
        options["judged_only"] = True
        ties = ["first", "last", "item_asc", "item_desc", "worst"]
    else:
        ties = ["last", "item_asc", "item_desc", "expected", "max_rank", "worst"]
        ties.append("floor_mean_rank")
        if draw(st.integers(0, 3)) == 0:
            options["candidates"] = "padded"
    if draw(st.booleans()):
        options["ties"] = draw(st.sampled_from(ties))
    if draw(st.integers(0, 3)) == 0:
        options["judged"] = "list"
    if draw(st.integers(0, 3)) == 0:
        options["relevant_from"] = 2
    elif draw(st.integers(0, 3)) == 0:
        options["relevant"] = draw(st.sampled_from(["any", "!=0"]))
    if (
        any(min(each.values()) < 0 for each in truth.values())
        or draw(st.integers(0, 3)) == 0
    ):
        options["negative_relevance"] = "zero"
    return options


@st.composite
def metric_options(draw: st.DrawFn, metric: Any) -> Options:
    """Options of a metric, half of the time none."""
    if draw(st.booleans()):
        return {}
    return {
        name: draw(st.sampled_from(values))
        for name, values in values_of(metric).items()
    }


# Naive counts


def as_read(frames: Frames, options: Options) -> Frames:
    """The frames without what `judged_only` leaves out of the lists."""
    if not options.get("judged_only"):
        return frames
    lists = {}
    for user, ranking in frames.lists.items():
        judged = frames.truth.get(user, {})
        kept = [row for row in ranking if row[0] in judged and judged[row[0]] >= 0]
        if kept:
            lists[user] = kept
    return replace(frames, lists=lists)


def averaged_users(frames: Frames, options: Options) -> list[str]:
    """The users who may be averaged, in order."""
    return reference.averaged_users(
        frames.case(None), {**reference.DEFAULTS, **options}
    )


def naive_values(
    frames: Frames, metric: str, options: Options, k: int | None
) -> dict[str, float]:
    """The value of each user who is averaged."""
    case = as_read(frames, options).case(k)
    options = {**reference.DEFAULTS, "order": "score", **options}
    values = {}
    for user in averaged_users(frames, options):
        value = reference.of_user(metric, case, user, options)
        if value is not None:
            values[user] = value
    return values


def has_nothing_to_find(frames: Frames, user: str, options: Options) -> bool:
    """Whether no relevant item of a user is known."""
    options = {**reference.DEFAULTS, **options}
    here = as_read(frames, options)
    case = here.case(None)
    relevant = reference.relevant_items(case, user, options)
    if options["judged"] == "list":
        lines = reference.candidates(case, user, options)
        shown = {line.item for line in lines}
        relevant = {item: grade for item, grade in relevant.items() if item in shown}
    return not relevant


def naive_counts(frames: Frames, options: Options, defined: set[str]) -> Counts:
    """The counts of users that a line has, without those that are 0; `defined`: the
    users for whom the metric has something to find.
    """
    no_relevant = options.get("no_relevant", "skip")
    is_strict = options.get("judged_only", False)
    without_list = "without a judged item" if is_strict else "without a list"
    candidates = options.get("candidates", "list")
    listed = as_read(frames, options).lists
    may_count = averaged_users(frames, options)
    counts = Counter[str]()
    for user in {*frames.lists, *frames.truth}:
        is_defined = user in defined
        if user not in may_count or (not is_defined and no_relevant == "skip"):
            # Either nothing is relevant, or all that is has no gain.
            nothing = has_nothing_to_find(frames, user, options)
            if not is_defined and (nothing or user in may_count):
                counts["left out"] += 1
            continue
        counts["users"] += 1
        counts_1 = not is_defined and no_relevant == "one"
        if not is_defined:
            counts["counts 1" if counts_1 else "counts 0"] += 1
        is_padded = candidates == "catalogue" or (
            candidates == "padded" and user in frames.truth
        )
        if user not in listed and not is_padded and not counts_1:
            counts[without_list] += 1
    return dict(counts)
