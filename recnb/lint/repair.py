"""What puts a problem right, and the metric of what is put right.

A repair changes frames, with code that does so to the caller's own, or changes options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any, Literal, NamedTuple, Self

import polars as pl

from recnb.conventions.convention import DECISIONS, ROW_ORDERS
from recnb.data.in_memory import Sheets
from recnb.data.side_data import GivenFrame
from recnb.display.language import N_, _
from recnb.errors import FrameError
from recnb.lint.data import FRAMES, PAIR, SIDES, LintData, Measured
from recnb.results.evaluation_data import EvaluationData

#: The most rows that are joined once more under rules that take several times as long
#: as recnb's own.
MOST_ROWS = 2**19


class Code(NamedTuple):
    """The same code for pandas and for Polars."""

    pandas: str
    polars: str


class Names(NamedTuple):
    """What code is written with: the caller's names of frames and of columns."""

    frame: str
    columns: list[str]
    other: str  #: a second frame, whose ids are looked up
    others: list[str]  #: its columns

    @property
    def column(self) -> str:
        """The first column, as Python writes it."""
        return repr(self.columns[0])


#: Code for the caller's frames: what stands behind the frame, or gives a column.
CodeOf = Callable[[Names], Code]


class Spelling(NamedTuple):
    """One way to write ids: by Polars, and as code behind `.str.`."""

    plain: Callable[[pl.Expr], pl.Expr]
    code: Code


#: How ids may be written otherwise, in words, and how they are written in one way.
SPELLINGS = {
    N_("blanks at the ends"): Spelling(
        lambda ids: ids.str.strip_chars(), Code("strip()", "strip_chars()")
    ),
    N_("upper and lower case"): Spelling(
        lambda ids: ids.str.to_lowercase(), Code("lower()", "to_lowercase()")
    ),
    N_("zeros before a number"): Spelling(
        lambda ids: ids.str.replace(r"^0+(\d+)$", "$1"),
        Code(
            r'replace(r"^0+(\d+)$", r"\1", regex=True)',
            r'replace(r"^0+(\d+)$", "$1")',
        ),
    ),
    N_(".0 after a number"): Spelling(
        lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"),
        Code(
            r'replace(r"^(\d+)\.0$", r"\1", regex=True)',
            r'replace(r"^(\d+)\.0$", "$1")',
        ),
    ),
    N_("characters that look the same"): Spelling(
        lambda ids: ids.str.normalize("NFC"),
        Code('normalize("NFC")', 'normalize("NFC")'),
    ),
}

#: What puts a frame right, whose columns are named by roles.
Change = Callable[[pl.DataFrame], pl.DataFrame]

Matching = Literal["semi", "anti"]


class Repair:
    """Changes of frames, one after the other, and options of the evaluation.

    Each change has its code for the caller's frames.
    """

    def __init__(self, data: LintData, **options: Any) -> None:
        self.data = data
        self.options = options
        self.changes: list[tuple[str, Change]] = []  #: frames, by roles
        self.lines: list[str] = []  #: of code; "" where only words can say it
        #: What `match_rows` leaves out; without rows after other changes.
        self.left_out = pl.DataFrame()

    # What can be put right

    def respell(self, frame: str, role: str, way: str) -> Self:
        """Write the ids of a frame in one way."""
        plain, spelt = SPELLINGS[way]

        def code(names: Names) -> Code:
            return Code(
                pandas=f"{names.frame}[{names.column}].str.{spelt.pandas}",
                polars=f"pl.col({names.column}).str.{spelt.polars}",
            )

        return self._set(frame, [role], plain(pl.col(role)), code)

    def negate_scores(self) -> Self:
        """Turn the scores, so that the lowest is the highest."""

        def code(names: Names) -> Code:
            return Code(
                pandas=f"{names.frame}[{names.column}] * -1.0",
                polars=f"pl.col({names.column}) * -1.0",
            )

        score = pl.col("score").cast(pl.Float64) * -1.0
        return self._set("recs", ["score"], score, code)

    def close_gaps(self, frame: str = "recs") -> Self:
        """Rank each list anew from 1 up, where the convention orders lists by rank.

        Other frames than the recommendations have no ranks, and stay.
        """
        is_ranked = self.data.convention.order == "rank"
        if frame != "recs" or not is_ranked or "rank" not in self.data.frame(frame):
            return self

        def code(names: Names) -> Code:
            user = repr(names.columns[1])
            return Code(
                pandas=f"{names.frame}.groupby({user}, observed=True)[{names.column}]"
                ".rank(method='first').astype(int)",
                polars=f"pl.col({names.column}).rank('ordinal').over({user})",
            )

        places = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
        return self._set(frame, ["rank", "user"], places, code)

    def drop_rows(self, frame: str, role: str, values: Sequence[Any]) -> Self:
        """Leave out the rows with some values of a column."""

        def code(names: Names) -> Code:
            return Code(
                pandas=f"[~{names.frame}[{names.column}].isin({values})]",
                polars=f".filter(~pl.col({names.column}).is_in({values}))",
            )

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(~pl.col(role).is_in(values))

        return self._select(frame, [role], change, code)

    def drop_repeats(self, frame: str) -> Self:
        """Keep each pair once: at its highest place, or with its highest relevance."""
        by = self.data.convention.order if frame == "recs" else "relevance"
        is_sorted = by in self.data.frame(frame)
        falling = by != "rank"

        def code(names: Names) -> Code:
            user, item, *_by = map(repr, names.columns)
            first_of_pair = Code(
                pandas=f".drop_duplicates([{user}, {item}])",
                polars=f".unique([{user}, {item}], keep='first', maintain_order=True)",
            )
            if not is_sorted:
                return first_of_pair
            column = repr(names.columns[2])
            in_order = Code(
                pandas=f".sort_values({column}, ascending={not falling}, kind='stable')",
                polars=f".sort({column}, descending={falling}, maintain_order=True)",
            )
            return Code(
                pandas=in_order.pandas + first_of_pair.pandas,
                polars=in_order.polars + first_of_pair.polars,
            )

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            if is_sorted:
                rows = rows.sort(by, descending=falling, maintain_order=True)
            return rows.unique(PAIR, keep="first", maintain_order=True)

        roles = [*PAIR, by] if is_sorted else list(PAIR)
        return self._select(frame, roles, change, code)

    def match_rows(
        self, frame: str, other: str, roles: list[str], how: Matching
    ) -> Self:
        """Keep the rows of a frame by whether their ids are in another frame.

        `roles`: the ids, of pairs or of items; `how`: "semi" keeps rows whose ids are
        there, "anti" those whose ids are not.
        """
        ids = self.data.ids_of(other, roles)
        how_left_out: Matching = "anti" if how == "semi" else "semi"

        def matched(rows: pl.DataFrame, how: Matching) -> pl.DataFrame:
            return rows.join(ids, on=roles, how=how, maintain_order="left")

        def code(names: Names) -> Code:
            ids_here = f"{names.frame}.set_index({names.columns!r}).index"
            ids_there = f"{names.other}.set_index({names.others!r}).index"
            is_kept = f"{ids_here}.isin({ids_there})"
            if how == "anti":
                is_kept = f"~{is_kept}"
            on = f"left_on={names.columns!r}, right_on={names.others!r}"
            if names.columns == names.others:
                on = f"on={names.columns!r}"
            return Code(
                pandas=f"[{is_kept}]",
                polars=f".join({names.other}, {on}, how={how!r}, maintain_order='left')",
            )

        self.left_out = matched(self.data.frame(frame), how_left_out)
        return self._select(frame, roles, lambda rows: matched(rows, how), code, other)

    # Changes and their code

    def change(self, frame: str, change: Change) -> Self:
        """Add a change that needs no line of code: an option of the call makes it."""
        self.changes.append((frame, change))
        return self

    def _set(self, frame: str, roles: list[str], values: pl.Expr, code: CodeOf) -> Self:
        """Set the column of the first of these roles."""

        def assignment(names: Names) -> Code:
            of_column = code(names)
            keyword = _as_keyword(names.columns[0], of_column.pandas)
            return Code(
                pandas=f".assign({keyword})",
                polars=f".with_columns({of_column.polars})",
            )

        self.lines.append(self._line(frame, roles, assignment))
        return self.change(frame, lambda rows: rows.with_columns(values))

    def _select(
        self,
        frame: str,
        roles: list[str],
        change: Change,
        code: CodeOf,
        other: str = "",
    ) -> Self:
        """Keep some of the rows, and close the gaps that they leave in lists.

        Where lists have gaps of their own, which are another finding, all ranks stay.
        """
        self.lines.append(self._line(frame, roles, code, other))
        self.change(frame, change)
        return self if self.data.joined.has_gaps else self.close_gaps(frame)

    def _line(self, frame: str, roles: list[str], code: CodeOf, other: str = "") -> str:
        """Return a line of code for the caller's frames.

        "" if one frame holds both sides, and for what is no frame of pandas or
        Polars, or two that cannot be joined.
        """
        if "user" in roles and self.data.source.keys.columns:
            return ""  # lists go by more columns than the user's
        given = self.data.side.call.frames
        here = given.get(frame)
        there = given.get(other or frame)
        if "truth" not in given or here is None or there is None:
            return ""
        if not _are_joinable(here, there, roles):
            return ""
        names = Names(
            frame=frame,
            columns=[here.labels.get(role, role) for role in roles],
            other=other,
            others=[there.labels.get(role, role) for role in roles],
        )
        of_libraries = code(names)
        behind = of_libraries.polars
        if here.library == "pandas":
            behind = of_libraries.pandas
        return f"{frame} = {frame}{behind}"

    @property
    def code(self) -> str:
        """The lines to type for the caller's frames, with all their options.

        "" if only words can say it.
        """
        call = self.data.side.call
        if not call.frames or not all(self.lines):
            return ""
        arguments = ", ".join(self._arguments())
        return "\n".join([*self.lines, f"ev = recnb.evaluate({arguments})"])

    def _arguments(self) -> list[str]:
        """Return the arguments of the call that evaluates what is put right."""
        call = self.data.side.call
        arguments = list(SIDES) if "truth" in call.frames else ["df"]
        for name in FRAMES:
            if name in call.frames and name not in SIDES:
                arguments.append(f"{name}={name}")
        for name, code in call.weights.items():
            arguments.append(f"{name}={code}")
        # An evaluation by `ev.under(library)` is one with convention=library.
        library = self.data.evaluation.library
        options = call.options if call.library == library else {"convention": library}
        keywords = {**call.columns, **options, **self.options}
        for name, value in keywords.items():
            arguments.append(f"{name}={value!r}")
        return arguments

    @property
    def in_words(self) -> str:
        """What the frames are beside those given: "put right", if it is a correction.

        Another option, or rows that another frame decides on, may be another choice, and
        so these are named. Rows that are wrong in themselves are put right by dropping.
        """
        if self.options:
            options = [f"{name}={value!r}" for name, value in self.options.items()]
            return _("with {options}", options=", ".join(options))
        return _("without these rows") if self.left_out.height else _("put right")

    # What is put right, and its metric

    def changed(self, name: str) -> pl.DataFrame:
        """Return a frame with all its changes."""
        rows = self.data.frame(name)
        for frame, change in self.changes:
            if frame == name:
                rows = change(rows)
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
        if not isinstance(source, Sheets) or self._takes_long(source):
            return None
        frames = self._changed_frames()
        decided = {
            name: value for name, value in self.options.items() if name in DECISIONS
        }
        convention = replace(evaluation.convention, **decided)
        side = {name: frame for name, frame in frames.items() if name not in SIDES}
        put_right = EvaluationData.of(
            _with_frames(source, frames).under(convention),
            library=evaluation.library,
            overrides={**evaluation.overrides, **decided},
            side_data=replace(data.side, **side),
        )
        return LintData(put_right, data.measure).measured

    def _takes_long(self, source: Sheets) -> bool:
        if source.recs.height <= MOST_ROWS:
            return False
        ties = self.options.get("ties", self.data.convention.ties)
        return self.data.evaluation.library is not None or ties not in ROW_ORDERS

    def _changed_frames(self) -> dict[str, Any]:
        frames = {name: self.changed(name) for name, _change in self.changes}
        for name, frame in frames.items():
            if frame.height == 0:
                raise FrameError(f"nothing is left of {name}.")
        return frames


def _are_joinable(here: GivenFrame, there: GivenFrame, roles: Sequence[str]) -> bool:
    """Say whether two frames are of one library, which joins these columns.

    Polars joins columns of the same type alone, and none of categories.
    """
    if not here.library or here.library != there.library:
        return False
    if here.library == "pandas":
        return True
    types = [here.types.get(role) for role in roles]
    is_coded = not {"Categorical", "Enum"}.isdisjoint(map(str, types))
    return not is_coded and types == [there.types.get(role) for role in roles]


def _as_keyword(column: str, value: str) -> str:
    """Return the argument of pandas' `assign` that sets a column to a value, as code.

    A name that is no name of Python's is set by `**{"list price": value}`.
    """
    if column.isidentifier() and not iskeyword(column):
        return f"{column}={value}"
    of_text = "{" + f"{column!r}: {value}" + "}"
    return f"**{of_text}"


def _with_frames(source: Sheets, frames: dict[str, pl.DataFrame]) -> Sheets:
    """Return the source with other rows of recommendations and truth, if given."""
    lists = source.lists
    if "recs" in frames:
        lists = lists.with_rows(frames["recs"])
    judgements = source.judgements
    if "truth" in frames:
        truth = frames["truth"]
        labels = {role: role for role in truth.columns} | {**judgements.labels}
        judgements = replace(judgements, rows=truth, labels=labels)
    return replace(source, lists=lists, judgements=judgements)
