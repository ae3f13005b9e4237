"""A check finds a problem, which becomes a finding in sentences; a lint is all
findings, as text, HTML and a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from recnb.display.document import (
    Fold,
    Line,
    Mark,
    Name,
    Note,
    html,
    with_code,
    wrapped,
)
from recnb.display.language import N_, Message, _, use_language
from recnb.display.templates import framed
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, Suggesting, near
from recnb.lint.data import LintData, quoted_id

if TYPE_CHECKING:
    import pandas as pd

    from recnb.lint.repair import Repair


SEVERITIES = {"warning": N_("warning"), "note": N_("note")}
#: The effect of every problem that can be put right: the metric as it is, and with the
#: repair.
EFFECT = N_("{label} is {value:.4f}; {changed}, {other_label} is {other:.4f}.")
OF_OTHER_USERS = N_(
    "{label} is {value:.4f}; {changed}, {other_label} is {other:.4f}, users: "
    "{other_users:,} instead of {users:,}."
)
EXAMPLE = N_("Such as {example}.")
#: Columns that are called as what they hold.
ROLES = {
    name: name
    for name in (
        N_("user"),
        N_("item"),
        N_("rank"),
        N_("score"),
        N_("relevance"),
        N_("rating"),
        N_("model"),
    )
}


@dataclass(frozen=True, eq=False)
class Finding(Suggesting):
    """One finding: what and how many, its effect on the numbers, an example, what to
    type.

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
    facts: Mapping[str, Any] = field(
        default_factory=dict
    )  #: the numbers in its sentences

    @property
    def sentences(self) -> list[str]:
        """Effect, example and advice."""
        return [*filter(None, (self.effect, self.example, self.advice))]

    @property
    def code_lines(self) -> list[str]:
        """The lines of code; names of columns stand in them as Python writes them."""
        return [one_line(line, 1000) for line in self.code.splitlines()]

    def __repr__(self) -> str:
        lines = [
            wrapped(f"{self.word}: {self.short}"),
            *(wrapped(sentence, "  ") for sentence in self.sentences),
        ]
        return "\n".join([*lines, *(f"    {line}" for line in self.code_lines)])

    @property
    def title(self) -> list[Line]:
        """Severity and problem."""
        return [Mark("badge", self.word), " ", *with_code(self.short)]

    @property
    def details(self) -> list[Line]:
        """The sentences, and the lines of code."""
        return [
            *map(with_code, self.sentences),
            *(Mark("code", Name(line, 1000)) for line in self.code_lines),
        ]


@dataclass(frozen=True)
class Problem:
    """A problem: the rows concerned, one of which is the example, or their number, and
    how they are put right.

    Its sentences are in the catalogue of translations without a mark such as `N_`; they
    hold `facts`, {n}, {of}, {k}, {label} and {value}.
    """

    rows: pl.DataFrame | int
    of: int
    short: Message
    why: Message  #: what it means for the numbers
    advice: Message
    repair: Repair | None = None
    grave: bool = True  #: whether it is a warning
    frame: str = "recs"  #: whose columns the rows have
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A function that looks for one thing, and has the name of its findings; `needs`:
    the frame without which there is nothing to look at.
    """

    function: Callable[[LintData], Iterator[Problem]]
    title: str  #: what it looks for, in lists of checks that were not made
    needs: str | None

    @property
    def name(self) -> str:
        """The name of its findings."""
        return self.function.__name__

    def findings(self, data: LintData) -> Iterator[Finding]:
        """Make findings of what was found, with their effect and code."""
        label, value, users = data.measured
        for found in self.function(data):
            n = found.rows if isinstance(found.rows, int) else found.rows.height
            facts = {
                "label": label,
                "value": value,
                "users": users,
                "k": data.k or 0,
                "n": n,
                "of": found.of,
            }
            if n:
                yield self._finding(data, found, facts | found.facts)

    def _finding(
        self, data: LintData, found: Problem, facts: dict[str, Any]
    ) -> Finding:
        effect, code, severity = (
            _(found.why, **facts),
            "",
            "warning" if found.grave else "note",
        )
        with suppress(
            RecnbError
        ):  # what is put right may be nothing to evaluate: no number, and no code
            if (
                found.repair is not None
                and (other := found.repair.measured()) is not None
            ):
                facts |= dict(
                    zip(("other_label", "other", "other_users"), other, strict=True)
                )
                same_users = facts["other_users"] == facts["users"]
                effect += " " + _(
                    EFFECT if same_users else OF_OTHER_USERS,
                    **facts,
                    changed=found.repair.in_words,
                )
            code = "" if found.repair is None else found.repair.code
        advice, example = _(found.advice, **facts), _example(data, found)
        advice = advice if code or not advice.endswith(":") else f"{advice[:-1]}."
        title, word = _(found.short, **facts), _(SEVERITIES[severity])
        return Finding(
            self.name,
            severity,
            word,
            facts["n"],
            found.of,
            title,
            effect,
            example,
            advice,
            code,
            facts,
        )


def _example(data: LintData, found: Problem) -> str:
    if isinstance(found.rows, int):
        return ""
    first = found.rows.bottom_k(
        1, by=found.rows.columns[:2]
    )  # the same in whatever order rows are given
    labels = data.source.truth_labels if found.frame == "truth" else data.source.labels
    cells = []
    for role, cell in first.row(0, named=True).items():
        column = str(labels.get(role, role))
        # A column that is called as its role is called so in words.
        name = _(ROLES.get(column, "")) or quoted_id(column)[1:-1]
        cells.append(f"{name} {quoted_id(cell)}")
    return _(EXAMPLE, example=", ".join(cells))


def check(
    title: str, needs: str | None = None
) -> Callable[[Callable[[LintData], Iterator[Problem]]], Check]:
    """Make a function a check."""
    return lambda function: Check(function, title, needs)


@dataclass(frozen=True, eq=False)
class Lint(Suggesting):
    """Findings about the data of an evaluation, warnings first. It is true if there are
    any, and iterates over them.

    `unchecked` are the checks that need a frame which was not given, `elsewhere` those
    that need rows of the lists which are not in memory, `undecided` those that need
    something else; `lower` and `upper` bound the metric's mean over all orders of equal
    scores.
    """

    findings: tuple[Finding, ...]
    n_checks: int  #: how many checks were made
    unchecked: Mapping[
        str, tuple[str, ...]
    ]  #: the frame that was not given -> names of the checks that need it
    elsewhere: tuple[str, ...]
    undecided: Mapping[str, str]  #: the name of a check -> why it was not made
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
        raise OptionError(
            f"nothing was found under {name!r}. {near(name, self.names) if self.findings else ''}"
        )

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

        columns = [
            "name",
            "severity",
            "n",
            "of",
            "short",
            "effect",
            "example",
            "advice",
            "code",
        ]
        rows = [
            [getattr(finding, column) for column in columns]
            for finding in self.findings
        ]
        return pd.DataFrame(rows, columns=pd.Index(["finding", *columns[1:]]))

    def __repr__(self) -> str:
        lines = [
            self.headline,
            wrapped(self.measured),
            *(f"\n{finding!r}" for finding in self),
            "",
        ]
        return "\n".join([*lines, *map(wrapped, self.not_checked), wrapped(self.basis)])

    def _repr_html_(self) -> str:
        head = [Note(Mark("strong", self.headline), "plain"), Note(self.measured)]
        folds = [
            Fold(
                Mark("strong", one.title),
                [Note(line, "plain") for line in one.details],
                True,
            )
            for one in self
        ]
        below = [Note(with_code(line)) for line in (*self.not_checked, self.basis)]
        with use_language(self.lang):
            label = _("findings about the data, by {label}", label=self.label)
            return str(framed(label, html([*head, *folds, *below])))
