"""The numbers and the libraries of the page that says how they differ, made of the
presets: `python -m tests.tools.conventions_page`.
"""

from __future__ import annotations

import pathlib
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

import polars as pl

import recnb
from recnb.conventions import Convention, in_words, names
from recnb.conventions.presets import ALIASES, Preset, of_library
from recnb.libraries import as_in
from recnb.libraries.number import Variant
from recnb.metrics.measure import Measure
from recnb.metrics.metric import EVERY_METRIC, LIST_METRICS
from recnb.results.score import score_of
from tests.tools.readme import filled, table

PAGE = (
    pathlib.Path(__file__).resolve().parents[2] / "recnb" / "conventions" / "README.md"
)
#: The six metrics of the tables: what each is called there, and the names under which
#: recnb lists a library's own.
SIX = {
    "nDCG": ("ndcg",),
    "precision": ("precision",),
    "recall": ("recall",),
    "AP": ("average_precision",),
    "HR": ("hit_rate",),
    "RR": ("reciprocal_rank",),
}
OURS = {
    name: Preset("recnb", "", metrics[0], metrics[0], (), Convention(), 0.0)
    for name, metrics in SIX.items()
}
RARE = ("score_dtype", "duplicates", "nonpositive_scores", "negative_relevance")

SHOWN, LIKED = (
    {"u1": "abcde", "u2": "bx", "u4": "abcde"},
    {"u1": "acz", "u2": "b", "u3": "ab"},
)
RECS = pl.DataFrame(
    {
        "user": SHOWN.keys(),
        "item": map(list, SHOWN.values()),
        "score": [range(9, 9 - len(one), -1) for one in SHOWN.values()],
    }
).explode("item", "score")
TRUTH = pl.DataFrame({"user": LIKED.keys(), "item": map(list, LIKED.values())}).explode(
    "item"
)

Defaults = dict[str, Preset]


def sides() -> dict[str, Defaults]:
    """Each library's defaults for the six metrics, by what it is given; what does the
    same stands once.
    """
    made: dict[str, Defaults] = {}
    for library in names():
        found: dict[str, Defaults] = {}
        for one in of_library(library):
            for name in (
                name for name, metrics in SIX.items() if one.metric in metrics
            ):
                found.setdefault(_suffix(one), {}).setdefault(name, one)
        groups: dict[str, list[str]] = {}
        for suffix, own in found.items():
            same = (
                first
                for first in groups
                if _rules(own).items() <= _rules(found[first]).items()
            )
            groups.setdefault(next(same, suffix), []).append(suffix)
        for first, suffixes in groups.items():
            label = " ".join([library, *(f"`{one}`" for one in suffixes if first)])
            made[label] = found[first]
    return made


def _rules(own: Defaults) -> dict[str, object]:
    return {
        name: (one.metric, one.options, one.convention) for name, one in own.items()
    }


def value_row(own: Defaults) -> list[str]:
    """What each metric says of the four users."""
    return [_value(own[name]) if name in own else "–" for name in SIX]


@cache
def _value(one: Preset) -> str:
    if one.library == "recnb":
        measure = Measure(EVERY_METRIC[one.metric], k=5)
        return f"{score_of(recnb.evaluate(RECS, TRUTH), measure):.4f}"
    number = as_in(one.library, one.variant, RECS, TRUTH, k=5 if one.uses_k else None)
    defect = "*" if one.note else ""
    caveat = "†" if one.caveat else ""
    return f"{number:.4f}{defect}{caveat}"


def values() -> str:
    """The table of values, recnb first."""
    rows = [
        [label, *value_row(own)]
        for label, own in {"**recnb**": OURS, **sides()}.items()
    ]
    return table(["library", *SIX], rows)


def library_part(library: str) -> str:
    """What one library does otherwise than recnb, and how its variants differ from one
    another.
    """
    listed = of_library(library)
    alias = "".join(
        f", also `{short}`" for short, full in ALIASES.items() if full == library
    )
    lines = [f"### {library} {listed[0].version}{alias}"]
    accuracy = [one for one in listed if one.metric not in LIST_METRICS]
    shared: dict[str, list[str]] = {}
    rest: dict[Preset, str] = {}
    for suffix in dict.fromkeys(map(_suffix, accuracy)):
        said = {one: _differing(one) for one in accuracy if _suffix(one) == suffix}
        first = next(iter(said.values()))
        common = [
            axis
            for axis, text in first.items()
            if all(own.get(axis) == text for own in said.values())
        ]
        shared.setdefault("; ".join(first[axis] for axis in common), []).append(suffix)
        rest |= {
            one: "; ".join(own[axis] for axis in own if axis not in common)
            for one, own in said.items()
        }
    for text, suffixes in shared.items():
        given = (
            ""
            if len(shared) == 1
            else "".join(
                f", `{suffix}`" if suffix else ", others" for suffix in suffixes
            )
        )
        lines += [f"- **All metrics{given}**: {text or 'as recnb'}."]
    lines += [
        f"- {who}: {text or 'nothing more'}." for text, who in _by_text(rest.items())
    ]
    rare = [_rare(accuracy, axis) for axis in RARE if accuracy]
    lines += [f"- *Rarely met*: {'; '.join(filter(None, rare))}."] if any(rare) else []
    beyond = [one for one in listed if one.metric in LIST_METRICS]
    options = (
        (one, ", ".join(in_words(name, value) for name, value in one.options))
        for one in beyond
    )
    said_beyond = [f"{who}: {text or 'as recnb'}" for text, who in _by_text(options)]
    lines += [f"- *Beyond accuracy*. {'; '.join(said_beyond)}."] if beyond else []
    caveats = _by_text(
        (one, in_words("caveat", one.caveat)) for one in listed if one.caveat
    )
    lines += [f"- **Said below a number**, {who}: {text}." for text, who in caveats]
    lines += [
        f"- **Without k**, {who}: {text}."
        for text, who in _by_text((one, _without_k(one)) for one in accuracy)
        if text
    ]
    notes = _by_text((one, one.note) for one in listed if one.note)
    lines += [f"- **By defect**, {who}: {text}." for text, who in notes]
    return "\n".join(lines)


def _without_k(one: Preset) -> str:
    """What a library that always cuts does without a cut-off."""
    if one.without_k == "error":
        return "a cut-off must be given"
    return f"lists are cut at {one.without_k}" if one.without_k else ""


def _suffix(one: Preset) -> str:
    return "".join(re.findall(r"\[\w+\]", one.variant))


def _differing(one: Preset) -> dict[str, str]:
    mine, theirs = (
        Variant.made("recnb", Convention(), EVERY_METRIC[one.metric], {}),
        Variant.of_preset(one),
    )
    axes = [axis for axis in mine.differing_axes(theirs) if axis not in RARE]
    return {
        axis: theirs.words(axis)
        if axis != "relevant"
        else f"relevant: {theirs.words(axis)}"
        for axis in axes
    }


def _by_text(said: Iterable[tuple[Preset, str]]) -> list[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for one, text in said:
        found.setdefault(text, []).append(f"`{one.variant}`{_meaning(one)}")
    return [(text, ", ".join(variants)) for text, variants in found.items()]


def _rare(group: list[Preset], axis: str) -> str:
    said = {one: Variant.of_preset(one).words(axis) for one in group}
    usual = Counter(said.values()).most_common(1)[0][0]
    if set(said.values()) == {
        Variant.made("recnb", Convention(), EVERY_METRIC[group[0].metric], {}).words(
            axis
        )
    }:
        return ""
    others = _by_text((one, text) for one, text in said.items() if text != usual)
    return usual + "".join(f" ({who}: {text})" for text, who in others)


def _meaning(one: Preset) -> str:
    """What is computed, where the library's name for it does not say."""
    short = {
        "average_precision": "ap",
        "reciprocal_rank": "rr",
        "hit_rate": "hit",
        "r_precision": "rprec",
    }
    known = one.variant.startswith((short.get(one.metric, one.metric), one.metric))
    return "" if known else f" ({one.metric.replace('_', ' ')})"


def page(text: str) -> str:
    """The page with the made parts put in again."""
    parts = {
        "values": values(),
        "libraries": "\n\n".join(map(library_part, names())),
    }
    return filled(text, "tests.tools.conventions_page", parts)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
