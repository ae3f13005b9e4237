"""What puts a problem right, and the metric of what is put right.

Frames are changed, as code for the caller's own, or options are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any, NamedTuple, Self

import numpy as np
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
    """A change as code of pandas and of Polars.

    It stands behind the frame, or gives a column.

    {frame} is the name of the frame, {columns} are its columns and {column} is the
    first of them; {other}, {others} and {on} are a second frame, its columns and how
    both are joined.
    """

    pandas: str
    polars: str


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

Change = Callable[[pl.DataFrame], pl.DataFrame]


class Repair:
    """Changes of frames, one after the other, and options of the evaluation.

    Each change has its code for the caller's frames.
    """

    def __init__(self, data: LintData, **options: Any) -> None:
        self.data = data
        self.options = options
        self.changes: list[tuple[str, Change]] = []  #: frames, by roles
        self.lines: list[str] = []  #: of code; "" where only words can say it
        #: the rows that are not in another frame, or are
        self.left_out = pl.DataFrame()

    # What can be put right

    def respell(self, frame: str, role: str, way: str) -> Self:
        """Write the ids of a frame in one way."""
        plain, code = SPELLINGS[way]
        pandas = f"{{frame}}[{{column!r}}].str.{code.pandas}"
        polars = f"pl.col({{column!r}}).str.{code.polars}"
        return self._set(frame, [role], plain(pl.col(role)), Code(pandas, polars))

    def negate_scores(self) -> Self:
        """Turn the scores, so that the lowest is the highest."""
        code = Code("{frame}[{column!r}] * -1.0", "pl.col({column!r}) * -1.0")
        score = pl.col("score").cast(pl.Float64) * -1.0
        return self._set("recs", ["score"], score, code)

    def close_gaps(self, frame: str = "recs") -> Self:
        """Rank each list anew, if ranks order the lists.

        What is taken out of the truth leaves no place empty.
        """
        is_ranked = self.data.convention.order == "rank"
        if frame != "recs" or not is_ranked or "rank" not in self.data.frame(frame):
            return self
        places = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
        code = Code(
            "{frame}.groupby({columns[1]!r}, observed=True)[{column!r}]"
            ".rank(method='first').astype(int)",
            "pl.col({column!r}).rank('ordinal').over({columns[1]!r})",
        )
        return self._set(frame, ["rank", "user"], places, code)

    def drop_rows(self, frame: str, role: str, values: Sequence[Any]) -> Self:
        """Leave out the rows with some values of a column."""
        code = Code(
            f"[~{{frame}}[{{column!r}}].isin({values})]",
            f".filter(~pl.col({{column!r}}).is_in({values}))",
        )

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(~pl.col(role).is_in(values))

        return self._select(frame, [role], change, code)

    def drop_repeats(self, frame: str) -> Self:
        """Keep each pair once: at its highest place, or with its highest relevance."""
        by = self.data.convention.order if frame == "recs" else "relevance"
        falling = by != "rank"
        roles = list(PAIR)
        pandas = ".drop_duplicates([{columns[0]!r}, {columns[1]!r}])"
        polars = (
            ".unique([{columns[0]!r}, {columns[1]!r}], keep='first', "
            "maintain_order=True)"
        )
        if by in self.data.frame(frame):
            roles.append(by)
            sort = f".sort_values({{columns[2]!r}}, ascending={not falling}, "
            pandas = f"{sort}kind='stable'){pandas}"
            sort = f".sort({{columns[2]!r}}, descending={falling}, "
            polars = f"{sort}maintain_order=True){polars}"

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            if by in rows:
                rows = rows.sort(by, descending=falling, maintain_order=True)
            return rows.unique(PAIR, keep="first", maintain_order=True)

        return self._select(frame, roles, change, Code(pandas, polars))

    def match_rows(self, frame: str, other: str, roles: list[str], how: Any) -> Self:
        """Keep the rows of a frame by whether their ids are in another one.

        `roles`: the ids, of pairs or of items; `how`: "semi" keeps those that
        are, "anti" those that are not.
        """
        rows = self.data.frame(frame)
        ids = self.data.ids_of(other, roles)
        numbered = rows.select(roles).with_row_index("row")
        kept = np.zeros(rows.height, dtype=bool)
        kept[numbered.join(ids, on=roles, how=how)["row"].to_numpy()] = True
        self.left_out = rows.filter(pl.Series(~kept))
        not_ = "~" if how == "anti" else ""
        code = Code(
            f"[{not_}{{frame}}.set_index({{columns!r}}).index"
            ".isin({other}.set_index({others!r}).index)]",
            f".join({{other}}, {{on}}, how={how!r}, maintain_order='left')",
        )

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(pl.Series(kept))

        return self._select(frame, roles, change, code, other)

    # Changes and their code

    def change(self, frame: str, change: Change) -> Self:
        """Add a change of a frame by roles that an option says to the caller's."""
        self.changes.append((frame, change))
        return self

    def _set(self, frame: str, roles: list[str], values: pl.Expr, code: Code) -> Self:
        """Set the column of the first of these roles."""
        behind = Code(
            f".assign({{keyword}}{code.pandas}{{end}})", f".with_columns({code.polars})"
        )
        self.lines.append(self._line(frame, roles, behind))
        return self.change(frame, lambda rows: rows.with_columns(values))

    def _select(
        self,
        frame: str,
        roles: list[str],
        change: Change,
        code: Code,
        other: str = "",
    ) -> Self:
        """Keep some of the rows, which may leave places empty."""
        self.lines.append(self._line(frame, roles, code, other))
        return self.change(frame, change).close_gaps(frame)

    def _line(self, frame: str, roles: list[str], code: Code, other: str = "") -> str:
        """Return a line of code for the caller's frames.

        "" if one frame holds both sides, and for what is no frame of pandas or
        Polars, or two that cannot be joined.
        """
        if "user" in roles and self.data.source.splits is not None:
            return ""  # lists go by more columns than the user's
        given = self.data.side.call.frames
        here = given.get(frame)
        there = given.get(other or frame)
        if "truth" not in given or here is None or there is None:
            return ""
        if not _are_joinable(here, there, roles):
            return ""
        columns = [here.labels.get(role, role) for role in roles]
        others = [there.labels.get(role, role) for role in roles]
        on = f"left_on={columns!r}, right_on={others!r}"
        if columns == others:
            on = f"on={columns!r}"
        keyword, end = _as_keyword(columns[0])
        template = code.pandas if here.library == "pandas" else code.polars
        behind = template.format(
            frame=frame,
            columns=columns,
            column=columns[0],
            keyword=keyword,
            end=end,
            other=other,
            others=others,
            on=on,
        )
        return f"{frame} = {frame}{behind}"

    @property
    def code(self) -> str:
        """The lines to type for the caller's frames, with all their options.

        "" if only words can say it.
        """
        call = self.data.side.call
        if not call.frames or not all(self.lines):
            return ""
        library = self.data.evaluation.library
        options = call.options if call.library == library else {"convention": library}
        keywords = {**call.columns, **options, **self.options}
        arguments = ["recs", "truth"] if "truth" in call.frames else ["df"]
        arguments += [f"{name}={name}" for name in FRAMES[2:] if name in call.frames]
        arguments += [f"{name}={code}" for name, code in call.weights.items()]
        arguments += [f"{name}={value!r}" for name, value in keywords.items()]
        return "\n".join([*self.lines, f"ev = recnb.evaluate({', '.join(arguments)})"])

    @property
    def in_words(self) -> str:
        """What is done, in a sentence.

        An option or rows left out may be another choice, and no correction.
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
        source = data.source.of_all_users
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


def _as_keyword(column: str) -> tuple[str, str]:
    """Return what stands before and behind the value of a column that is set.

    A name that is none of Python's is set by `**{"list price": value}`.
    """
    if column.isidentifier() and not iskeyword(column):
        return f"{column}=", ""
    return f"**{{{column!r}: ", "}"


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
