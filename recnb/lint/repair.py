"""What puts a problem right: frames changed, as code for the caller's own, or options;
and the metric of what is put right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any, Self

import numpy as np
import polars as pl

from recnb.conventions.convention import DECISIONS, ROW_ORDERS
from recnb.data.in_memory import Sheets
from recnb.display.language import N_, _
from recnb.errors import FrameError
from recnb.lint.data import FRAMES, PAIR, LintData
from recnb.results.evaluation_data import EvaluationData

#: The most rows that are joined once more under rules that take several times as long
#: as recnb's own.
MOST_ROWS = 2**19

#: How ids may be written otherwise: in words; in one way by Polars; and the same as
#: code of pandas and of Polars.
SPELLINGS: dict[str, tuple[Callable[[pl.Expr], pl.Expr], str, str]] = {
    N_("blanks at the ends"): (
        lambda ids: ids.str.strip_chars(),
        "strip()",
        "strip_chars()",
    ),
    N_("upper and lower case"): (
        lambda ids: ids.str.to_lowercase(),
        "lower()",
        "to_lowercase()",
    ),
    N_("zeros before a number"): (
        lambda ids: ids.str.replace(r"^0+(\d+)$", "$1"),
        r'replace(r"^0+(\d+)$", r"\1", regex=True)',
        r'replace(r"^0+(\d+)$", "$1")',
    ),
    N_(".0 after a number"): (
        lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"),
        r'replace(r"^(\d+)\.0$", r"\1", regex=True)',
        r'replace(r"^(\d+)\.0$", "$1")',
    ),
    N_("characters that look the same"): (
        lambda ids: ids.str.normalize("NFC"),
        'normalize("NFC")',
        'normalize("NFC")',
    ),
}


class Repair:
    """Changes of frames, one after the other, each with its code for the caller's
    frames; and options of the evaluation.
    """

    def __init__(self, data: LintData, **options: Any) -> None:
        self.data, self.options = data, options
        self.changes: list[tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = []
        self.lines: list[str] = []  #: of code; "" where only words can say it
        self.left_out = (
            pl.DataFrame()
        )  #: the rows that are not in another frame, or are

    def change(
        self, frame: str, change: Callable[[pl.DataFrame], pl.DataFrame], *code: str
    ) -> Self:
        """Add a change of a frame by roles; without code if an option says the same to
        the caller's frames.
        """
        self.changes.append((frame, change))
        self.lines += code
        return self

    def respell(self, frame: str, role: str, way: str) -> Self:
        """Write the ids of a frame in one way."""
        plain, pandas, polars = SPELLINGS[way]
        pandas, polars = (
            f"{{frame}}[{{column!r}}].str.{pandas}",
            f".with_columns(pl.col({{column!r}}).str.{polars})",
        )
        return self._step(
            frame,
            lambda rows: rows.with_columns(plain(pl.col(role))),
            [role],
            pandas,
            polars,
        )

    def negate_scores(self) -> Self:
        """Turn the scores, so that the lowest is the highest."""
        pandas, polars = (
            "{frame}[{column!r}] * -1.0",
            ".with_columns(pl.col({column!r}) * -1.0)",
        )
        score = pl.col("score").cast(pl.Float64) * -1.0
        return self._step(
            "recs", lambda rows: rows.with_columns(score), ["score"], pandas, polars
        )

    def drop_rows(self, frame: str, role: str, values: Sequence[Any]) -> Self:
        """Leave out the rows with some values of a column."""
        pandas, polars = (
            f"[~{{frame}}[{{column!r}}].isin({values})]",
            f".filter(~pl.col({{column!r}}).is_in({values}))",
        )
        self._step(
            frame,
            lambda rows: rows.filter(~pl.col(role).is_in(values)),
            [role],
            pandas,
            polars,
        )
        return self.close_gaps(frame)

    def drop_repeats(self, frame: str) -> Self:
        """Keep each pair once: at its highest place, or with its highest relevance."""
        by = self.data.convention.order if frame == "recs" else "relevance"
        known, up = by in self.data.frame(frame).columns, by == "rank"
        pandas = (
            f".sort_values({{columns[2]!r}}, ascending={up}, kind='stable')"
            if known
            else ""
        )
        polars = (
            f".sort({{columns[2]!r}}, descending={not up}, maintain_order=True)"
            if known
            else ""
        )
        pandas += ".drop_duplicates([{columns[0]!r}, {columns[1]!r}])"
        polars += ".unique([{columns[0]!r}, {columns[1]!r}], keep='first', maintain_order=True)"

        def change(rows: pl.DataFrame) -> pl.DataFrame:
            ordered = (
                rows.sort(by, descending=not up, maintain_order=True) if known else rows
            )
            return ordered.unique(PAIR, keep="first", maintain_order=True)

        return self._step(
            frame, change, [*PAIR, by] if known else PAIR, pandas, polars
        ).close_gaps(frame)

    def match_rows(self, frame: str, other: str, roles: list[str], how: Any) -> Self:
        """Keep the rows of a frame whose pairs or items are in another one ("semi"), or
        are not ("anti").
        """
        rows, ids = self.data.frame(frame), self.data.frame(other).select(roles)
        kept = np.zeros(rows.height, dtype=bool)
        kept[
            rows.select(roles)
            .with_row_index("row")
            .join(ids, on=roles, how=how)["row"]
            .to_numpy()
        ] = True
        self.left_out = rows.filter(pl.Series(~kept))
        pandas = f"[{'~' * (how == 'anti')}{{frame}}.set_index({{columns!r}}).index.isin({{other}}.set_index({{others!r}}).index)]"  # noqa: E501
        polars = f".join({{other}}, {{on}}, how={how!r}, maintain_order='left')"
        self._step(
            frame, lambda one: one.filter(pl.Series(kept)), roles, pandas, polars, other
        )
        return self.close_gaps(frame)

    def close_gaps(self, frame: str = "recs") -> Self:
        """Rank each list anew, if ranks order the lists; what is taken out of the truth
        leaves no place empty.
        """
        if (
            frame != "recs"
            or self.data.convention.order != "rank"
            or "rank" not in self.data.source.recs.columns
        ):
            return self
        pandas = (
            "{frame}.groupby({columns[1]!r}, "
            "observed=True)[{column!r}].rank(method='first').astype(int)"
        )
        polars = (
            ".with_columns(pl.col({column!r}).rank('ordinal').over({columns[1]!r}))"
        )
        places = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
        return self._step(
            "recs",
            lambda rows: rows.with_columns(places),
            ["rank", "user"],
            pandas,
            polars,
        )

    def _step(
        self,
        frame: str,
        change: Callable[[pl.DataFrame], pl.DataFrame],
        roles: Sequence[str],
        pandas: str,
        polars: str,
        other: str = "",
    ) -> Self:
        """Add a change, and its code from a template for each library with the names of
        columns.

        There is no code ("") if one frame holds both sides, and for what is no frame of
        pandas or Polars, or two of different kinds.
        """
        given = self.data.side.call.frames
        here, there = given.get(frame), given.get(other or frame)
        if (
            "truth" not in given
            or here is None
            or there is None
            or not here.library
            or here.library != there.library
        ):
            return self.change(frame, change, "")
        types = [[one.types.get(role) for role in roles] for one in (here, there)]
        if here.library != "pandas" and (
            types[0] != types[1] or {"Categorical", "Enum"} & {*map(str, types[0])}
        ):
            return self.change(frame, change, "")
        columns, others = (
            [one.labels.get(role, role) for role in roles] for one in (here, there)
        )
        on = (
            f"on={columns!r}"
            if columns == others
            else f"left_on={columns!r}, right_on={others!r}"
        )
        template = pandas if here.library == "pandas" else polars
        written = template.format(
            frame=frame,
            columns=columns,
            column=columns[0],
            others=others,
            other=other,
            on=on,
        )
        if not written.startswith(("[", ".")):  # values of a column
            plain = columns[0].isidentifier() and not iskeyword(columns[0])
            written = (
                f".assign({columns[0]}={written})"
                if plain
                else f".assign(**{{{columns[0]!r}: {written}}})"
            )
        return self.change(frame, change, f"{frame} = {frame}{written}")

    @property
    def code(self) -> str:
        """The lines to type for the caller's frames, with all their options; "" if only
        words can say it.
        """
        call, library = self.data.side.call, self.data.evaluation.library
        if not call.frames or not all(self.lines):
            return ""
        arguments = ["recs", "truth"] if "truth" in call.frames else ["df"]
        arguments += [f"{name}={name}" for name in FRAMES[2:] if name in call.frames]
        arguments += [f"{name}={code}" for name, code in call.weights.items()]
        options = call.options if call.library == library else {"convention": library}
        arguments += [
            f"{name}={value!r}"
            for name, value in {**call.columns, **options, **self.options}.items()
        ]
        return "\n".join([*self.lines, f"ev = recnb.evaluate({', '.join(arguments)})"])

    @property
    def in_words(self) -> str:
        """What is done, in a sentence: an option or rows left out may be another
        choice, and no correction.
        """
        if self.options:
            return _(
                "with {options}",
                options=", ".join(
                    f"{name}={value!r}" for name, value in self.options.items()
                ),
            )
        return _("without these rows") if self.left_out.height else _("put right")

    def changed(self, name: str) -> pl.DataFrame:
        """Return a frame with all its changes."""
        frame = self.data.frame(name)
        for of_frame, change in self.changes:
            frame = change(frame) if of_frame == name else frame
        return frame

    def measured(self) -> tuple[str, float, int] | None:
        """Compute the metric of what is put right, under the same options; None if it
        would take long.
        """
        data, evaluation = self.data, self.data.evaluation
        source = data.source.everyone
        conventions = {
            name: value for name, value in self.options.items() if name in DECISIONS
        }
        plain = (
            evaluation.library is None
            and conventions.get("ties", data.convention.ties) in ROW_ORDERS
        )
        if not isinstance(source, Sheets) or (
            not plain and source.recs.height > MOST_ROWS
        ):
            return None
        frames: dict[str, Any] = {
            name: self.changed(name) for name, _change in self.changes
        }
        if empty := [name for name, frame in frames.items() if frame.height == 0]:
            raise FrameError(f"nothing is left of {empty[0]}.")
        lists, judgements = source.lists, source.judgements
        if "recs" in frames:
            lists = lists.with_rows(frames.pop("recs"))
        if "truth" in frames:
            truth = frames.pop("truth")
            labels = {role: role for role in truth.columns} | {**judgements.labels}
            judgements = replace(judgements, rows=truth, labels=labels)
        source = replace(source, lists=lists, judgements=judgements)
        joined = source.under(replace(evaluation.convention, **conventions))
        put_right = EvaluationData.of(
            joined,
            library=evaluation.library,
            overrides={**evaluation.overrides, **conventions},
            side_data=replace(data.side, **frames),
        )
        return LintData(put_right, data.metric, data.options, data.asked_k).measured
