"""Findings about the data of an evaluation, as frozen data with their text, Markdown and HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from recnb.display.language import N_, Message, Plural, _, ngettext, use_language
from recnb.display.templates import code, joined, macro, name, translated
from recnb.display.text import ends, fixed, markdown_text, one_line
from recnb.errors import OptionError, Suggesting, near

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["text", "html", "markdown"]

SEVERITIES = {"warning": N_("warning"), "note": N_("note")}
COUNTS = {"warning": Plural("{n:,} warning", "{n:,} warnings"), "note": Plural("{n:,} note", "{n:,} notes")}
#: What each check looks for, by its name; filled by the decorator `check`.
TITLES: dict[str, str] = {}
#: Columns of text, and the longest value of a frame that is shown whole.
WIDTH, LONGEST = 100, 40


class Quoted:
    """Ids from the caller's frames, shown as in Python: 1 is a number, '1' is text; of a row, with the names of its columns."""

    def __init__(self, *values: Any, **row: Any) -> None:
        self.values = [("", value) for value in values] + [(f"{column} ", value) for column, value in row.items()]

    def shown(self, form: Form) -> str:
        """Return the values on one line, escaped.

        >>> Quoted("<b>", 7).shown("html"), Quoted(user="u1").shown("text")
        (Markup('<bdi>&#39;&lt;b&gt;&#39;</bdi>, <bdi>7</bdi>'), "user 'u1'")
        """
        pairs = ((column, f"{value:g}" if isinstance(value, float) else repr(value)) for column, value in self.values)
        values = [(one_line(column, LONGEST), one_line(value, LONGEST)) for column, value in pairs]
        if form == "html":
            # A backtick of the user's is not the beginning of code.
            parts = [
                Markup("{}{}").format(column, name(value)).replace("`", Markup("&#96;")) for column, value in values
            ]
            return Markup(", ").join(parts)
        safe = markdown_text if form == "markdown" else str
        return ", ".join(safe(column) + safe(value) for column, value in values)


class _NotANumber:
    """NaN or an infinite number in a sentence, whatever its format."""

    def __format__(self, spec: str) -> str:
        return "n/a"


def _sentence(part: str, describe: str) -> Any:
    return property(lambda finding: finding.sentence(part), doc=describe)


@dataclass(frozen=True, eq=False)
class Finding(Suggesting):
    """One finding: what and how many, an example, its effect on the numbers, what to type.

    A `warning` changes how a number may be read or compared; a `note` is good to know.
    """

    name: str  #: of the check, such as "seen_in_train"
    severity: str
    n: int  #: how many
    of: int  #: out of how many
    facts: Mapping[str, Any] = field(default_factory=dict)  #: the numbers and ids in its sentences
    code: str = ""  #: lines of Python for the caller's frames
    sentences: Mapping[str, Message] = field(default_factory=dict)  #: "short", "why", "effect", "example" and "advice"
    lang: str = "en"

    short = _sentence("short", "The problem and its number of cases, in a line.")
    effect = _sentence("effect", "The effect on the numbers.")
    example = _sentence("example", "An example; empty if there is none to show.")
    advice = _sentence("advice", "The fix in words; `code` is what to type.")

    def sentence(self, part: str, form: Form = "text") -> str:
        """Return a sentence of the finding, with the values from frames escaped for plain text, HTML or Markdown."""
        values: dict[str, Any] = {"n": self.n, "of": self.of, **self.facts}
        for key, value in values.items():
            if isinstance(value, Quoted):
                values[key] = value.shown(form)
            elif isinstance(value, float) and not isfinite(value):
                values[key] = _NotANumber()
        messages = [self.sentences.get(one, "") for one in (("why", "effect") if part == "effect" else (part,))]
        with use_language(self.lang):
            said = [code(translated(one, **values)) if form == "html" else _(one, **values) for one in messages if one]
        words = joined(said, " ")
        # Advice that no code follows ends as a sentence.
        return words[:-1] + "." if part == "advice" and not self.code and words.endswith(":") else words

    @property
    def word(self) -> str:
        """The severity in words."""
        with use_language(self.lang):
            return _(SEVERITIES[self.severity])

    @property
    def code_lines(self) -> list[str]:
        """The lines of code; names of columns stand in them as Python writes them."""
        return [one_line(line, 1000) for line in self.code.splitlines()]

    def as_item(self, effects: Iterable[str], whose: str = "") -> str:
        """Return the finding as an item of a list in Markdown: its effects, and the models it is about."""
        typed = "; ".join(self.code_lines).replace("``", "` `")
        parts = " ".join(filter(None, [*effects, self.sentence("advice", "markdown"), typed and f"`` {typed} ``"]))
        title = f"- **{self.word}**: {self.sentence('short', 'markdown')}{whose and f' ({whose})'}"
        return f"{title}\n  {parts}".rstrip()

    def __repr__(self) -> str:
        lines = _wrapped(f"{self.word}: {self.short}")
        for sentence in (self.effect, self.example, self.advice):
            lines += _wrapped(sentence, "  ")
        return "\n".join([*lines, *(f"    {line}" for line in self.code_lines)])

    def _repr_html_(self) -> str:
        return str(macro("lint/lint.jinja", "alone", self))


@dataclass(frozen=True, eq=False)
class Lint(Suggesting):
    """Findings about the data of an evaluation, warnings first. It is true if there are any, and iterates over them.

    `unchecked` are the checks that need a frame which was not given, `elsewhere` those that need rows of the lists which
    are not in memory; `lower` and `upper` bound the metric's mean over all orders of equal scores.
    """

    findings: tuple[Finding, ...]
    n_checks: int  #: how many checks were made
    unchecked: Mapping[str, tuple[str, ...]]  #: the frame that was not given -> names of the checks that need it
    label: str  #: the metric by which effects are measured, such as nDCG@10
    k: int | None
    value: float  #: its mean
    lower: float  #: with all equal scores in their worst order
    upper: float  #: with all equal scores in their best order; NaN if no bound is known
    n_users: int
    basis: str
    lang: str = "en"
    elsewhere: tuple[str, ...] = ()  #: names of the checks that need all rows of the lists, which are not in memory

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """Return the finding of this name; the first, if there are several."""
        if name in self.names:
            return self.findings[self.names.index(name)]
        raise OptionError(f"nothing was found under {name!r}. {near(name, self.names) if self.findings else ''}")

    @property
    def names(self) -> list[str]:
        """The names of the findings."""
        return [finding.name for finding in self.findings]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that change how a number may be read or compared."""
        return tuple(finding for finding in self if finding.severity == "warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Findings that are good to know."""
        return tuple(finding for finding in self if finding.severity == "note")

    @property
    def headline(self) -> str:
        """The numbers of warnings and notes."""
        with use_language(self.lang):
            if not self.findings:
                return _("Lint: no findings in {checks} checks", checks=self.n_checks)
            numbers = {"warning": len(self.warnings), "note": len(self.notes)}
            counts = ", ".join(_(COUNTS[severity], n=n) for severity, n in numbers.items() if n)
            return _("Lint: {counts}, of {checks} checks", counts=counts, checks=self.n_checks)

    @property
    def measured(self) -> str:
        """The number by which effects are measured, and its bounds over orders of equal scores."""
        with use_language(self.lang):
            measured = N_("Effects are measured with {label}: {value} over {users}.")
            users = ngettext("{n:,} user", "{n:,} users", self.n_users)
            words = _(measured, label=self.label, value=fixed(self.value), users=users)
            if not (isfinite(self.upper) and self.upper > self.lower):
                return words
            bounds = N_("With equal scores in another order it could be anything from {low} to {high}.")
            low, high = ends(self.lower, self.upper, "\n").split("\n")
            return f"{words} {_(bounds, low=low, high=high)}"

    @property
    def not_checked(self) -> tuple[str, ...]:
        """A line for each frame that was not given, and one for rows that are not in memory: what was not checked."""
        with use_language(self.lang):
            unchecked = N_("Not checked: {what}. Give `{frame}=` to check.")
            lines = [_(unchecked, frame=frame, what=_titles(names)) for frame, names in self.unchecked.items()]
            return (*lines, *elsewhere_in_words(self.elsewhere))

    def to_frame(self) -> pd.DataFrame:
        """Return a row per finding: name, severity, n, of, and its sentences."""
        import pandas as pd

        columns = ["severity", "n", "of", "short", "effect", "example", "advice", "code"]
        rows = [[finding.name, *(getattr(finding, column) for column in columns)] for finding in self.findings]
        return pd.DataFrame(rows, columns=pd.Index(["finding", *columns]))

    def to_markdown(self) -> str:
        """Return the findings as a list in Markdown."""
        parts = ((finding, [finding.sentence(part, "markdown") for part in ("effect", "example")]) for finding in self)
        items = "\n".join(finding.as_item(sentences) for finding, sentences in parts)
        head = f"**{self.headline}** {self.measured}"
        return "\n\n".join(filter(None, [head, items, *self.not_checked, markdown_text(self.basis, 2000)])) + "\n"

    def __repr__(self) -> str:
        findings = [line for finding in self for line in ("", repr(finding))]
        below = [line for words in (*self.not_checked, self.basis) for line in _wrapped(words)]
        return "\n".join([self.headline, *_wrapped(self.measured), *findings, "", *below])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return str(macro("lint/lint.jinja", "whole", self))


def elsewhere_in_words(checks: Iterable[str]) -> list[str]:
    """Say which checks were not made, since they need all rows of the lists and these are not in memory."""
    titles = _titles(checks)
    return [_("Not checked, since the rows of the lists are not in memory: {what}.", what=titles)] if titles else []


def _titles(checks: Iterable[str]) -> str:
    return ", ".join(_(TITLES[name]) for name in checks)


def _wrapped(words: str, indent: str = "") -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent=indent, subsequent_indent=indent or "  ", break_on_hyphens=False)
