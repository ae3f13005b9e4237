"""What puts a problem right, and the metric of what is put right.

A repair changes frames, with code that does so to the caller's own, or changes options.
The code that is measured is the code that is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any, Literal, NamedTuple, Self

import polars as pl

from recnb.conventions.convention import DECISIONS, ROW_ORDERS
from recnb.data.in_memory import InMemory
from recnb.data.names import Labels
from recnb.data.side_data import GivenFrame
from recnb.display.language import N_, _
from recnb.errors import FrameError
from recnb.lint.data import PAIR, LintData, Measured

#: The most rows that are joined once more under rules that take several times as long
#: as recnb's own.
MOST_ROWS = 2**19


class Code(NamedTuple):
    """The same code for pandas and for Polars."""

    pandas: str
    polars: str


#: How ids may be written otherwise, in words, and how they are written in one way:
#: what stands behind `.str.`.
SPELLINGS = {
    N_("blanks at the ends"): Code("strip()", "strip_chars()"),
    N_("upper and lower case"): Code("lower()", "to_lowercase()"),
    N_("zeros before a number"): Code(
        r'replace(r"^0+(\d+)$", r"\1", regex=True)', r'replace(r"^0+(\d+)$", "$1")'
    ),
    N_(".0 after a number"): Code(
        r'replace(r"^(\d+)\.0$", r"\1", regex=True)', r'replace(r"^(\d+)\.0$", "$1")'
    ),
    N_("characters that look the same"): Code('normalize("NFC")', 'normalize("NFC")'),
}

# Values of a column that is set. {0}, {1}, ... are the columns of a change.
RESPELT = Code("{frame}[{0}].str.", "pl.col({0}).str.")
NEGATED = Code("{frame}[{0}] * -1.0", "pl.col({0}) * -1.0")
RANKED_ANEW = Code(
    "{frame}.groupby({1}, observed=True)[{0}].rank(method='first').astype(int)",
    "pl.col({0}).rank('ordinal').over({1})",
)
# What stands behind a frame, some rows of which are kept.
DROP = Code("[~{frame}[{0}].isin({value})]", ".filter(~pl.col({0}).is_in({value}))")
DROP_REPEATS = Code(
    ".drop_duplicates([{0}, {1}])",
    ".unique([{0}, {1}], keep='first', maintain_order=True)",
)
SORT_RISING = Code(
    ".sort_values({2}, ascending=True, kind='stable')",
    ".sort({2}, descending=False, maintain_order=True)",
)
SORT_FALLING = Code(
    ".sort_values({2}, ascending=False, kind='stable')",
    ".sort({2}, descending=True, maintain_order=True)",
)
MATCH = {
    "semi": Code(
        "[{frame}.set_index({names}).index.isin({other}.set_index({others}).index)]",
        ".join({other}, {on}, how='semi', maintain_order='left')",
    ),
    "anti": Code(
        "[~{frame}.set_index({names}).index.isin({other}.set_index({others}).index)]",
        ".join({other}, {on}, how='anti', maintain_order='left')",
    ),
}


def respelt(ids: pl.Expr, way: str) -> pl.Expr:
    """Write ids in one way."""
    expression: pl.Expr = run(f"ids.str.{SPELLINGS[way].polars}", ids=ids)
    return expression


def run(code: str, **values: Any) -> Any:
    """Evaluate a line of Polars, so that what is measured is what is printed.

    The line is made of the templates above and of roles. What the caller has, values
    and names of columns, is never a part of it: values are variables.
    """
    return eval(code, {"pl": pl, **values})


class Change(NamedTuple):
    """A line of code that changes a frame.

    It is written once, with roles for the names of columns. Its line for Polars is run
    on the frames of the lint; its line for the caller's library is printed.
    """

    frame: str
    codes: Sequence[Code]  #: what it becomes, one behind the other
    roles: Sequence[str]  #: of the columns; the first is set, if one is
    is_set: bool = False  #: whether the code gives a column, else some of the rows
    value: Any = None  #: what the code compares with
    other: str = ""  #: a second frame, whose ids are looked up

    def line(
        self, library: str, labels: Labels, labels_of_other: Labels, value: str
    ) -> str:
        """Return what the frame becomes, as code with these names of columns."""
        names = [labels.get(role, role) for role in self.roles]
        others = [labels_of_other.get(role, role) for role in self.roles]
        on = f"left_on={names!r}, right_on={others!r}"
        if names == others:
            on = f"on={names!r}"
        template = "".join(
            each.pandas if library == "pandas" else each.polars for each in self.codes
        )
        code = template.format(
            *map(repr, names),
            frame=self.frame,
            value=value,
            other=self.other,
            names=names,
            others=others,
            on=on,
        )
        if self.is_set and library == "pandas":
            code = f".assign({_as_keyword(names[0], code)})"
        elif self.is_set:
            code = f".with_columns({code})"
        return f"{self.frame}{code}"

    def after(self, rows: pl.DataFrame, ids: pl.DataFrame | None) -> pl.DataFrame:
        """Return the rows after the change; `ids`: of the second frame."""
        frames = {self.frame: rows, "value": self.value}
        if ids is not None:
            frames[self.other] = ids
        changed: pl.DataFrame = run(self.line("polars", {}, {}, "value"), **frames)
        return changed


class Repair:
    """Changes of frames, one after the other, and options of the evaluation."""

    def __init__(self, data: LintData, **options: Any) -> None:
        self.data = data
        self.options = options
        self.changes: list[Change] = []
        self.columns: dict[str, pl.Series] = {}  #: that an option reads, by frame
        #: What `match_rows` leaves out; without rows after other changes.
        self.left_out = pl.DataFrame()

    # What can be put right

    def respell(self, frame: str, role: str, way: str) -> Self:
        """Write the ids of a frame in one way."""
        codes = [RESPELT, SPELLINGS[way]]
        self.changes.append(Change(frame, codes, [role], is_set=True))
        return self

    def negate_scores(self) -> Self:
        """Turn the scores, so that the lowest is the highest."""
        self.changes.append(Change("recs", [NEGATED], ["score"], is_set=True))
        return self

    def close_gaps(self) -> Self:
        """Rank each list anew from 1 up, where the convention orders lists by rank."""
        is_ranked = self.data.convention.order == "rank"
        if is_ranked and "rank" in self.data.frame("recs"):
            self.changes.append(
                Change("recs", [RANKED_ANEW], ["rank", "user"], is_set=True)
            )
        return self

    def drop_rows(self, frame: str, role: str, values: Sequence[Any]) -> Self:
        """Leave out the rows with some values of a column."""
        return self._select(Change(frame, [DROP], [role], value=values))

    def drop_repeats(self, frame: str) -> Self:
        """Keep each pair once: at its highest place, or with its highest relevance."""
        by = self.data.convention.order if frame == "recs" else "relevance"
        if by not in self.data.frame(frame):
            return self._select(Change(frame, [DROP_REPEATS], PAIR))
        in_order = SORT_RISING if by == "rank" else SORT_FALLING
        codes = [in_order, DROP_REPEATS]
        return self._select(Change(frame, codes, [*PAIR, by]))

    def match_rows(
        self, frame: str, other: str, roles: list[str], how: Literal["semi", "anti"]
    ) -> Self:
        """Keep the rows of a frame by whether their ids are in another frame.

        `roles`: the ids, of pairs or of items; `how`: "semi" keeps rows whose ids are
        there, "anti" those whose ids are not.
        """
        opposite = "anti" if how == "semi" else "semi"
        leave_out = Change(frame, [MATCH[opposite]], roles, other=other)
        ids = self.data.ids_of(other, roles)
        self.left_out = leave_out.after(self.data.frame(frame), ids)
        return self._select(Change(frame, [MATCH[how]], roles, other=other))

    def _select(self, change: Change) -> Self:
        """Keep some of the rows, and close the gaps that they leave in lists.

        Where lists have gaps of their own, which are another finding, all ranks stay.
        """
        self.changes.append(change)
        if change.frame == "recs" and not self.data.joined.has_gaps:
            self.close_gaps()
        return self

    # Code for the caller

    def _line(self, change: Change) -> str:
        """Return the line of a step for the caller's frames.

        "" if one frame holds both sides or several models, and for what is no frame of
        pandas or Polars, or two that cannot be joined.
        """
        if "user" in change.roles and self.data.source.keys.columns:
            return ""  # lists go by more columns than the user's
        given = self.data.side.frames
        here = given.get(change.frame)
        there = given.get(change.other or change.frame)
        if "truth" not in given or here is None or there is None:
            return ""
        if not _are_joinable(here, there, change.roles):
            return ""
        code = change.line(here.library, here.labels, there.labels, repr(change.value))
        return f"{change.frame} = {code}"

    @property
    def code(self) -> str:
        """What to type: lines that change the caller's frames, or options to give.

        "" if only words can say it.
        """
        if self.options:
            return self._options
        lines = [self._line(change) for change in self.changes]
        return "\n".join(lines) if all(lines) else ""

    @property
    def _options(self) -> str:
        """The options as they are typed."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())

    @property
    def in_words(self) -> str:
        """What the frames are beside those given: "put right", if it is a correction.

        Another option, or rows that another frame decides on, may be another choice, and
        so these are named. Rows that are wrong in themselves are put right by dropping.
        """
        if self.options:
            return _("with {options}", options=self._options)
        return _("without these rows") if self.left_out.height else _("put right")

    # What is put right, and its metric

    def changed(self, name: str) -> pl.DataFrame:
        """Return a frame with all its changes; an error if nothing is left of it."""
        rows = self.data.frame(name)
        if name in self.columns:
            rows = rows.with_columns(self.columns[name])
        for change in self.changes:
            if change.frame == name:
                ids = None
                if change.other:
                    ids = self.data.ids_of(change.other, list(change.roles))
                rows = change.after(rows, ids)
        if rows.is_empty():
            raise FrameError(f"nothing is left of {name}.")
        return rows

    def measured(self) -> Measured | None:
        """Compute the metric of what is put right, under the same options.

        None if it would take long.
        """
        data = self.data
        evaluation = data.evaluation
        source = data.source
        if "split" in self.options:
            return None  # of other lists than these
        if not isinstance(source, InMemory) or self._takes_long(source):
            return None
        decided = {
            name: value for name, value in self.options.items() if name in DECISIONS
        }
        convention = replace(evaluation.convention, **decided)
        joined = self._put_right(source).under(convention)
        overrides = {**evaluation.overrides, **decided}
        repaired = replace(evaluation, joined=joined, overrides=overrides)
        return LintData(repaired, data.measure).measured

    def _takes_long(self, source: InMemory) -> bool:
        if source.recs_rows.height <= MOST_ROWS:
            return False
        ties = self.options.get("ties", self.data.convention.ties)
        return self.data.evaluation.library is not None or ties not in ROW_ORDERS

    def _put_right(self, source: InMemory) -> InMemory:
        """Return the source with the rows that are put right."""
        recs, truth = source.recs, source.truth
        changed = [*self.columns, *(change.frame for change in self.changes)]
        if "recs" in changed:
            recs = recs.with_rows(self.changed("recs"))
        if "truth" in changed:
            rows = self.changed("truth")
            labels = {role: role for role in rows.columns} | {**truth.labels}
            truth = replace(truth, rows=rows, labels=labels)
        return replace(source, recs=recs, truth=truth)


def _are_joinable(here: GivenFrame, there: GivenFrame, roles: Sequence[str]) -> bool:
    """Say whether two frames are of one library, which joins these columns.

    Polars joins columns of the same type alone, and none of categories.
    """
    if not here.library or here.library != there.library:
        return False
    if here.library == "pandas":
        return True
    types = [here.types.get(role) for role in roles]
    is_coded = pl.Categorical in types or pl.Enum in types
    return not is_coded and types == [there.types.get(role) for role in roles]


def _as_keyword(column: str, value: str) -> str:
    """Return the argument of pandas' `assign` that sets a column to a value, as code.

    A name that is no name of Python's is set by `**{"list price": value}`.
    """
    if column.isidentifier() and not iskeyword(column):
        return f"{column}={value}"
    of_text = "{" + f"{column!r}: {value}" + "}"
    return f"**{of_text}"
