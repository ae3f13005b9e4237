"""Findings about the data of an evaluation, in sentences, as text, Markdown, HTML and a frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recnb.display.document import Fold, Items, Line, Mark, Name, Note, html, joined, plain, with_code, wrapped
from recnb.display.language import _, use_language
from recnb.display.templates import framed
from recnb.display.text import one_line
from recnb.errors import OptionError, Suggesting, near

if TYPE_CHECKING:
    import pandas as pd


def quoted_id(value: Any) -> str:
    """Return an id as Python writes it, so that 1 is told from '1', on one line; a backtick would begin code.

    >>> quoted_id("a`b"), quoted_id(1), quoted_id(0.5)
    ("'a'b'", '1', '0.5')
    """
    return one_line(f"{value:g}" if isinstance(value, float) else repr(value), 40).replace("`", "'")


@dataclass(frozen=True, eq=False)
class Finding(Suggesting):
    """One finding: what and how many, its effect on the numbers, an example, what to type.

    A `warning` changes how a number may be read or compared; a `note` is good to know.
    """

    name: str  #: of the check, such as "seen_in_train"
    severity: str  #: "warning" or "note"
    word: str  #: the same in the language of the finding
    n: int  #: how many
    of: int  #: out of how many
    short: str  #: the problem and its number of cases
    effect: str = ""  #: on the numbers
    example: str = ""
    advice: str = ""  #: the fix in words
    code: str = ""  #: and as lines of Python for the caller's frames
    facts: Mapping[str, Any] = field(default_factory=dict)  #: the numbers in its sentences

    @property
    def sentences(self) -> list[str]:
        """Effect, example and advice."""
        return [sentence for sentence in (self.effect, self.example, self.advice) if sentence]

    @property
    def code_lines(self) -> list[str]:
        """The lines of code; names of columns stand in them as Python writes them."""
        return [one_line(line, 1000) for line in self.code.splitlines()]

    def __repr__(self) -> str:
        sentences = (wrapped(sentence, "  ") for sentence in self.sentences)
        return "\n".join(
            [wrapped(f"{self.word}: {self.short}"), *sentences, *(f"    {line}" for line in self.code_lines)]
        )

    @property
    def title(self) -> list[Line]:
        """Severity and problem."""
        return [Mark("badge", self.word), " ", *with_code(self.short)]

    @property
    def details(self) -> list[Line]:
        """The sentences, and the lines of code."""
        return [*map(with_code, self.sentences), *(Mark("code", Name(line, 1000)) for line in self.code_lines)]


@dataclass(frozen=True, eq=False)
class Lint(Suggesting):
    """Findings about the data of an evaluation, warnings first. It is true if there are any, and iterates over them.

    `unchecked` are the checks that need a frame which was not given, `elsewhere` those that need rows of the lists which
    are not in memory; `lower` and `upper` bound the metric's mean over all orders of equal scores.
    """

    findings: tuple[Finding, ...]
    n_checks: int  #: how many checks were made
    unchecked: Mapping[str, tuple[str, ...]]  #: the frame that was not given -> names of the checks that need it
    elsewhere: tuple[str, ...]
    label: str  #: the metric by which effects are measured, such as nDCG@10
    k: int | None
    value: float  #: its mean
    lower: float  #: with all equal scores in their worst order
    upper: float  #: with all equal scores in their best order; NaN if no bound is known
    headline: str  #: the numbers of warnings and notes
    measured: str  #: the number by which effects are measured, and its bounds
    not_checked: tuple[str, ...]  #: a line for each reason why checks were not made
    basis: str
    lang: str = "en"

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

    def to_frame(self) -> pd.DataFrame:
        """Return a row per finding: name, severity, n, of, and its sentences."""
        import pandas as pd

        columns = ["name", "severity", "n", "of", "short", "effect", "example", "advice", "code"]
        rows = [[getattr(finding, column) for column in columns] for finding in self.findings]
        return pd.DataFrame(rows, columns=pd.Index(["finding", *columns[1:]]))

    def to_markdown(self) -> str:
        """Return the findings as a list in Markdown."""
        head: Line = [Mark("strong", self.headline), " ", *with_code(self.measured)]
        findings = Items([[*one.title, " — ", *joined(one.details, " ")] for one in self])
        return plain([Note(head), findings, *self._below()], "md") + "\n"

    def __repr__(self) -> str:
        findings = (f"\n{finding!r}" for finding in self)
        return "\n".join(
            [self.headline, wrapped(self.measured), *findings, "", *map(wrapped, self.not_checked), wrapped(self.basis)]
        )

    def _repr_html_(self) -> str:
        head = [Note(Mark("strong", self.headline), "plain"), Note(self.measured)]
        folds = (
            Fold(Mark("strong", one.title), [Note(line, "plain") for line in one.details], opened=True) for one in self
        )
        with use_language(self.lang):
            label = _("findings about the data, by {label}", label=self.label)
            return str(framed(label, html([*head, *folds, *self._below()])))

    def _below(self) -> list[Note]:
        return [Note(with_code(line)) for line in (*self.not_checked, self.basis)]
