"""A check is a header of words and a search, which yields problems.

A problem becomes a finding in sentences; a lint is all findings, as text, HTML and a
frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from recnb.display.forms import Line, Mark, Name, with_code
from recnb.display.language import N_, Message, _, use_language
from recnb.display.plain import wrapped
from recnb.display.templates import write
from recnb.display.text import one_line
from recnb.errors import ElsewhereError, OptionError, RecnbError, Suggesting, near
from recnb.lint.data import LintData, NotCheckedError, quoted_id

if TYPE_CHECKING:
    import pandas as pd

    from recnb.lint.repair import Repair


SEVERITIES = {"warning": N_("warning"), "note": N_("note")}
#: The effect of every problem that can be put right: the metric as it is, and with the
#: repair.
EFFECT = N_("{label} is {value:.4f}; {changed}, {other_label} is {other:.4f}.")
OF_OTHER_USERS = N_(
    "{label} is {value:.4f}; {changed}, {other_label} is {other:.4f}, {users}: "
    "{other_users:,} instead of {n_users:,}."
)
OF_OTHER_LISTS = N_(
    "{label} is {value:.4f}; {changed}, {other_label} is {other:.4f}, lists: "
    "{other_users:,} instead of {n_users:,}."
)
EXAMPLE = N_("Such as {example}.")
#: Columns that are called as what they hold.
ROLES = {
    "user": N_("{user}"),
    "item": N_("{item}"),
    "rank": N_("rank"),
    "score": N_("score"),
    "relevance": N_("relevance"),
    "rating": N_("rating"),
    "model": N_("model"),
    "rows": N_("rows"),
}


@dataclass(frozen=True, eq=False)
class Finding(Suggesting):
    """What a check has found in the data.

    It says what and how many, its effect on the numbers, an example, what to type.

    A `warning` changes how a number may be read or compared; a `note` is good to know.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> lint = recnb.evaluate(sample.models["popular"], sample.test).lint()
    >>> finding = lint["users_without_list"]
    >>> finding.severity, finding.n, finding.of
    ('note', 2, 261)
    """

    name: str  #: of the check, such as "seen_in_train"
    severity: str  #: "warning" or "note"
    word: str  #: the same in the language of the finding
    n: int  #: how many
    of: int  #: out of how many
    short: str  #: the problem and its number of cases
    effect: str  #: on the numbers
    example: str
    advice: str  #: the fix in words
    code: str  #: and as lines of Python for the caller's frames
    #: The numbers in its sentences.
    facts: Mapping[str, Any]

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
    """A problem, and how it is put right.

    It has the rows concerned, one of which is the example, or their number.

    Sentences that are not given are the check's. They hold `facts`, {n}, {of}, {k},
    {label} and {value}.
    """

    rows: pl.DataFrame | int
    of: int
    repair: Repair | None = None
    grave: bool = True  #: whether it is a warning
    frame: str = "recs"  #: whose columns the rows have
    facts: dict[str, Any] = field(default_factory=dict)
    short: Message = ""
    why: Message = ""
    advice: Message = ""

    @property
    def n(self) -> int:
        """The number of rows concerned."""
        return self.rows if isinstance(self.rows, int) else self.rows.height

    def example(self, data: LintData) -> str:
        """Return one of the rows as a sentence, under the caller's names of columns."""
        if isinstance(self.rows, int):
            return ""
        labels = data.source.recs.labels
        if self.frame == "truth":
            labels = data.source.truth.labels
        # The same row in whatever order rows are given.
        first = self.rows.bottom_k(1, by=self.rows.columns[:2])
        lists = data.joined.users
        # A row of users themselves, as of ids written otherwise, has no lists.
        if "user" in first.columns and first["user"].dtype == lists.dtype:
            first = first.with_columns(data.source.keys.names(first["user"]))
        cells = []
        for role, cell in first.row(0, named=True).items():
            column = str(labels.get(role, role))
            # A column that is called as its role is called so in words.
            name = _(ROLES.get(column, "")) or quoted_id(column)[1:-1]
            cells.append(f"{name} {quoted_id(cell)}")
        return _(EXAMPLE, example=", ".join(cells))


Search = Callable[[LintData], Iterator[Problem]]


@dataclass(frozen=True, eq=False)
class Check:
    """A header of words and a search, which has the name of the findings.

    The words are in the catalogue of translations without a mark such as `N_`.
    """

    search: Search
    title: str  #: what it looks for, in lists of checks that were not made
    short: Message  #: the problem and its number of cases
    why: Message  #: what it means for the numbers
    advice: Message  #: it ends with a colon if code may follow
    needs: Sequence[str]  #: what it cannot do without, words of `NEEDS`
    weighted: bool  #: whether it is made of weighted pairs alone

    @property
    def name(self) -> str:
        """The name of its findings."""
        return self.search.__name__

    def findings(self, data: LintData) -> list[Finding]:
        """Make findings of what the search yields, with their effect and code.

        A NotCheckedError says why the search cannot be made.
        """
        data.require(*self.needs)
        try:
            problems = [problem for problem in self.search(data) if problem.n]
            return [self._finding(data, problem) for problem in problems]
        except ElsewhereError:
            raise NotCheckedError("The rows of the lists are not in memory.") from None

    def _finding(self, data: LintData, problem: Problem) -> Finding:
        value, n_values = data.measured
        facts = {
            "label": data.measure.label,
            "value": value,
            "n_users": n_values,
            "k": data.k or 0,
            "n": problem.n,
            "of": problem.of,
            **problem.facts,
        }
        effect = _(problem.why or self.why, **facts)
        code = ""
        if problem.repair is not None:
            # What is put right may be nothing to evaluate: no number, and no code.
            with suppress(RecnbError):
                measured = problem.repair.measured()
                if measured is not None:
                    facts["other_label"] = data.measure.label
                    facts["other"], facts["other_users"] = measured
                    words = _words_of_change(data, facts)
                    changed = problem.repair.in_words
                    effect = f"{effect} {_(words, **facts, changed=changed)}"
                code = problem.repair.code
        advice = _(problem.advice or self.advice, **facts)
        if advice.endswith(":") and not code:
            advice = f"{advice[:-1]}."
        severity = "warning" if problem.grave else "note"
        return Finding(
            name=self.name,
            severity=severity,
            word=_(SEVERITIES[severity]),
            n=problem.n,
            of=problem.of,
            short=_(problem.short or self.short, **facts),
            effect=effect,
            example=problem.example(data),
            advice=advice,
            code=code,
            facts=facts,
        )


def _words_of_change(data: LintData, facts: Mapping[str, Any]) -> str:
    """Return the words for a metric before and after what is put right."""
    if facts["other_users"] == facts["n_users"]:
        return EFFECT
    return OF_OTHER_LISTS if data.source.keys.columns else OF_OTHER_USERS


def check(
    title: str,
    *,
    why: Message,
    advice: Message,
    short: Message = "",
    needs: Sequence[str] = (),
    weighted: bool = False,
) -> Callable[[Search], Check]:
    """Make a search a check; `short` is left out where each problem has its own."""

    def with_words(search: Search) -> Check:
        return Check(search, title, short, why, advice, needs, weighted)

    return with_words


@dataclass(frozen=True, eq=False)
class Lint(Suggesting):
    """Findings about the data of an evaluation, warnings first.

    It is true if there are any, and iterates over them.

    `not_checked` has the checks that could not be made, with the reason. The facts of
    "ties" bound the metric's mean over all orders of equal scores, `lower` and `upper`.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> lint = recnb.evaluate(sample.models["popular"], sample.test).lint()
    >>> lint.names
    ['ratings', 'users_without_list']
    """

    findings: tuple[Finding, ...]
    n_checks: int  #: how many checks were made
    not_checked: Mapping[str, str]  #: the name of a check -> why it was not made
    label: str  #: the metric by which effects are measured, such as nDCG@10
    value: float  #: its mean
    headline: str  #: the numbers of warnings and notes
    measured: str  #: the number by which effects are measured
    not_checked_lines: tuple[str, ...]  #: the same in words, a line for each reason
    basis: str
    lang: str

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """Return the finding of this name; the first, if there are several."""
        if name in self.names:
            return self.findings[self.names.index(name)]
        nearest = near(name, self.names)
        raise OptionError(f"nothing was found under {name!r}. {nearest}".strip())

    @property
    def names(self) -> list[str]:
        """The names of the findings."""
        return [finding.name for finding in self.findings]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that change how a number may be read or compared."""
        return tuple(finding for finding in self if finding.severity == "warning")

    def to_frame(self) -> pd.DataFrame:
        """Return a row per finding: name, severity, n, of, and its sentences.

        Returns
        -------
        DataFrame
            Warnings first.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> lint = recnb.evaluate(sample.models["popular"], sample.test).lint()
        >>> lint.to_frame()["severity"].tolist()
        ['warning', 'note']
        """
        import pandas as pd

        names = [
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
        rows = pd.DataFrame(map(vars, self), columns=pd.Index(names))
        return rows.rename(columns={"name": "finding"})

    def __repr__(self) -> str:
        lines = [self.headline, wrapped(self.measured)]
        lines += [f"\n{finding!r}" for finding in self]
        below = [*self.not_checked_lines, self.basis]
        return "\n".join([*lines, "", *map(wrapped, below)])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return write("lint/lint.jinja", "html", lint=self)
