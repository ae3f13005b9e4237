"""What is odd about the data and what it does to the numbers: findings as frozen data, and how they show themselves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from recnb.display import html
from recnb.display.language import N_, Message, Plural, _, ngettext, use_language
from recnb.display.text import markdown_text
from recnb.errors import OptionError, near
from recnb.lint import html as lint_html
from recnb.lint.values import Form, Theirs, in_form

if TYPE_CHECKING:
    import pandas as pd

#: Severities.
SEVERITIES: dict[str, str] = {
    "warning": N_("warning"),
    "note": N_("note"),
}

#: Numbers of findings.
COUNTS: dict[str, Message] = {
    "warning": Plural("{n:,} warning", "{n:,} warnings"),
    "note": Plural("{n:,} note", "{n:,} notes"),
}

#: Names of checks.
CHECK_NAMES: dict[str, str] = {
    "cold_users": N_("new users"),
    "users_only_in_train": N_("users in train alone"),
    "users_undescribed": N_("users without a row"),
    "seen_in_train": N_("items seen before"),
    "train_in_truth": N_("leakage from train to truth"),
    "cold_relevant": N_("new relevant items"),
    "cold_recommended": N_("new recommended items"),
    "recommended_outside_items": N_("recommended items outside the catalogue"),
    "relevant_outside_items": N_("relevant items outside the catalogue"),
    "ids_with_blanks": N_("ids with blanks"),
    "ids_by_case": N_("ids in upper and lower case"),
    "ids_with_zeros": N_("ids with zeros before them"),
    "ids_with_point": N_("ids with a decimal point"),
    "ids_by_accent": N_("ids by accents"),
    "ids_of_nothing": N_("ids of missing values"),
    "float_ids": N_("ids as floats"),
    "duplicates": N_("repeated pairs"),
    "ties": N_("equal scores"),
    "rank_against_score": N_("ranks against scores"),
    "upside_down": N_("lists upside down"),
    "one_score": N_("scores that are all one"),
    "filler_score": N_("filled-in scores"),
    "short_lists": N_("short lists"),
    "rank_gaps": N_("empty places"),
    "same_list": N_("one list for everybody"),
    "list_lengths": N_("lists of different length"),
    "no_item_meets": N_("lists and truth without an item in common"),
    "perfect": N_("perfect values"),
    "ratings": N_("relevance that is ratings"),
    "alike": N_("one relevance throughout"),
    "negative_relevance": N_("negative relevance"),
    "duplicates_in_truth": N_("repeated pairs of the truth"),
    "one_relevant_each": N_("one relevant item each"),
    "few_relevant": N_("few relevant items"),
    "more_relevant_than_places": N_("more relevant items than places"),
    "sampled_candidates": N_("sampled candidates"),
    "nothing_missed": N_("nothing that was missed"),
    "users_without_list": N_("users without a list"),
    "users_without_truth": N_("users without relevant items"),
    "k_above_catalogue": N_("a cut-off above the catalogue"),
}


Severity = Literal["warning", "note"]
WIDE = 100


@dataclass(frozen=True, eq=False)
class Finding:
    """One thing that is odd: what, how many, an example, what it does to the numbers, what to type.

    A `warning` changes how a number may be read or compared; a `note` is good to know.
    """

    name: str  #: what kind of finding it is, such as "seen_in_train"
    severity: Severity
    n: int  #: how many
    of: int  #: out of how many
    facts: Mapping[str, Any] = field(default_factory=dict)  #: the numbers and ids of its sentences
    code: str = ""  #: what to type
    sentences: Mapping[str, Message] = field(default_factory=dict)  #: "short", "effect", "example" and "advice"
    lang: str = "en"

    @property
    def short(self) -> str:
        """What was found and how many, in a line."""
        return self.said("short")

    @property
    def effect(self) -> str:
        """What it does to the numbers."""
        return self.said("effect")

    @property
    def example(self) -> str:
        """One case of it; empty where there is none to show."""
        return self.said("example")

    @property
    def advice(self) -> str:
        """What to do about it; `code` is what to type."""
        return self.said("advice")

    @property
    def long(self) -> str:
        """Effect, example and advice in sentences."""
        parts = [self.effect, self.example, self.advice]
        return " ".join([*(part for part in parts if part), *([self.code] if self.code else [])])

    def said(self, part: str, form: Form = "text") -> str:
        """A sentence of the finding, with what comes from frames made safe for plain text, HTML or Markdown."""
        message = self.sentences.get(part)
        if not message:
            return ""
        with use_language(self.lang):
            numbers = {"n": self.n, "of": self.of, **self.facts}
            return in_form(_(message, **{name: _for(value, form) for name, value in numbers.items()}), form)

    @property
    def word(self) -> str:
        """The severity as a word of the language."""
        with use_language(self.lang):
            return _(SEVERITIES[self.severity])

    def __repr__(self) -> str:
        return "\n".join([f"{self.word}: {self.short}", *_long_lines(self)])

    def _repr_html_(self) -> str:
        return html.root(lint_html.finding(self), label=self.word)


def _for(value: Any, form: Form) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return _NoNumber()
    return value.shown(form) if isinstance(value, Theirs) else value


class _NoNumber:
    """What could not be worked out, whatever format a sentence has for it."""

    def __format__(self, spec: str) -> str:
        return "n/a"


@dataclass(frozen=True, eq=False)
class Lint:
    """What is odd about the data, the gravest first. It is true where something was found.

    `findings` are the things found, `unchecked` what could not be looked at for want of a frame, `elsewhere` what takes
    rows of the lists that are not here, and `lower` and `upper` how far the metric's mean could move if equal scores stood
    in another order.
    """

    findings: tuple[Finding, ...]
    n_checks: int  #: how many things were looked for
    unchecked: Mapping[str, tuple[str, ...]]  #: the frame that was not given -> names of the findings it is needed for
    label: str  #: the metric that effects are told by, such as nDCG@10
    k: int | None
    value: float  #: its mean
    lower: float  #: with all equal scores in their worst order
    upper: float  #: with all equal scores in their best order; NaN where no bound is known
    n_users: int
    basis: str
    lang: str = "en"
    elsewhere: tuple[str, ...] = ()  #: names of the findings that take every row of the lists, which stayed elsewhere

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of this name."""
        found = next((one for one in self.findings if one.name == name), None)
        if found is None:
            raise OptionError(f"nothing was found under {name!r}. {near(name, self.names) if self.findings else ''}")
        return found

    @property
    def names(self) -> list[str]:
        """The names of what was found."""
        return [one.name for one in self.findings]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What changes how a number may be read or compared."""
        return tuple(one for one in self.findings if one.severity == "warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What is good to know."""
        return tuple(one for one in self.findings if one.severity == "note")

    @property
    def headline(self) -> str:
        """How many findings, and of what evaluation."""
        with use_language(self.lang):
            if not self.findings:
                return _("Lint: nothing odd in {checks} checks", checks=self.n_checks)
            counts = [
                _(COUNTS[severity], n=len(found))
                for severity, found in (("warning", self.warnings), ("note", self.notes))
                if found
            ]
            return _("Lint: {counts}, of {checks} checks", counts=", ".join(counts), checks=self.n_checks)

    @property
    def measured(self) -> str:
        """The number that effects are told by, and whose it is."""
        with use_language(self.lang):
            mean = f"{self.value:.4f}" if isfinite(self.value) else "n/a"
            told = _(
                "Effects are told by {label}, {value} over {users}.",
                label=self.label,
                value=mean,
                users=ngettext("{n:,} user", "{n:,} users", self.n_users),
            )
            if isfinite(self.upper) and self.upper > self.lower:
                told += " " + _(
                    "With equal scores in another order it could be anything from {low:.4f} to {high:.4f}.",
                    low=self.lower,
                    high=self.upper,
                )
            return told

    @property
    def not_checked(self) -> tuple[str, ...]:
        """A line for each frame that was not given, and one for rows that are not here: what they would have shown."""
        with use_language(self.lang):
            lines = [
                _("Not checked: {what}. Give `{frame}=` to check.", frame=frame, what=_named(names))
                for frame, names in self.unchecked.items()
            ]
            return (*lines, *elsewhere_in_words(self.elsewhere))

    def to_frame(self) -> pd.DataFrame:
        """A row per finding: name, severity, n, of, and its sentences."""
        import pandas as pd

        sentences = ["short", "effect", "example", "advice", "code"]
        names = ["finding", "severity", "n", "of", *sentences]
        rows = [
            [one.name, one.severity, one.n, one.of, *(getattr(one, name) for name in sentences)]
            for one in self.findings
        ]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def to_markdown(self) -> str:
        """The findings as a list in Markdown."""
        blocks = []
        for one in self.findings:
            parts = [one.said(part, "markdown") for part in ("effect", "example", "advice")]
            code = f"`` {_one_code_line(one.code)} ``" if one.code else ""
            said = " ".join(part for part in [*parts, code] if part)
            blocks.append(f"- **{one.word}**: {one.said('short', 'markdown')}\n  {said}".rstrip())
        lists = ["\n".join(blocks)] if blocks else []
        told = [f"**{self.headline}** {self.measured}", *lists, *self.not_checked, markdown_text(self.basis, 2000)]
        return "\n\n".join(told) + "\n"

    def lines(self) -> list[str]:
        """A line per finding, for the head of a report in text."""
        return [f"{one.word}: {one.short}" for one in self.findings] or [self.headline]

    def in_report(self) -> str:
        """The findings for the head of a report in HTML: a line each, which unfolds."""
        return lint_html.folded(self)

    def __repr__(self) -> str:
        out = [self.headline, *_wrapped(self.measured, "")]
        for one in self.findings:
            out += ["", *_wrapped(f"{one.word}: {one.short}", ""), *_long_lines(one)]
        small = [line for said in (*self.not_checked, self.basis) for line in _wrapped(said, "")]
        return "\n".join([*out, "", *small])

    def _repr_html_(self) -> str:
        return lint_html.whole(self)


def elsewhere_in_words(checks: Iterable[str]) -> list[str]:
    """What was not looked at for want of the rows of the lists, if there is anything."""
    what = _named(checks)
    return (
        [_("Not looked at, since it takes every row of the lists and they are not here: {what}.", what=what)]
        if what
        else []
    )


def _named(checks: Iterable[str]) -> str:
    return ", ".join(_(CHECK_NAMES[name]) for name in checks)


def _long_lines(one: Finding) -> list[str]:
    parts = [one.effect, one.example, one.advice]
    lines = [line for part in parts if part for line in _wrapped(part, "  ")]
    return [*lines, *([f"    {_one_code_line(one.code)}"] if one.code else [])]


def _wrapped(said: str, indent: str) -> list[str]:
    return textwrap.wrap(said, WIDE, initial_indent=indent, subsequent_indent=indent or "  ", break_on_hyphens=False)


def _one_code_line(code: str) -> str:
    return " ".join(code.split()).replace("``", "` `")
