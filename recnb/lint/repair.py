"""What puts a problem right: a change of frames, as code for the caller's own, or of options; and the metric of what is put right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions.convention import ROW_ORDERS
from recnb.data.call import GivenFrame
from recnb.data.relevance import LazyRows
from recnb.data.source import InMemoryRows
from recnb.display.language import N_
from recnb.errors import FrameError
from recnb.lint.data import FRAMES, PAIR, LintData, labelled
from recnb.metrics.hits import Cutoffs
from recnb.results.evaluation_data import EvaluationData

#: The most rows that are joined once more under rules that take several times as long as recnb's own.
MOST_ROWS = 2**19

#: How ids may be written otherwise: in words; in one way by Polars; and the same as code of pandas and of Polars.
SPELLINGS: dict[str, tuple[Callable[[pl.Expr], pl.Expr], str, str]] = {
    N_("blanks at the ends"): (lambda ids: ids.str.strip_chars(), "strip()", "strip_chars()"),
    N_("upper and lower case"): (lambda ids: ids.str.to_lowercase(), "lower()", "to_lowercase()"),
    N_("zeros before a number"): (lambda ids: ids.str.replace(r"^0+(\d+)$", "$1"), r'replace(r"^0+(\d+)$", r"\1", regex=True)', r'replace(r"^0+(\d+)$", "$1")'),
    N_(".0 after a number"): (lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"), r'replace(r"^(\d+)\.0$", r"\1", regex=True)', r'replace(r"^(\d+)\.0$", "$1")'),
    N_("characters that look the same"): (lambda ids: ids.str.normalize("NFC"), 'normalize("NFC")', 'normalize("NFC")'),
}  # fmt: skip


@dataclass(frozen=True)
class FrameChange:
    """A change of one frame by roles, and the code that makes it in the caller's: "" if only words can say it, None if an option does."""

    frame: str
    change: Callable[[pl.DataFrame], pl.DataFrame]
    code: str | None


@dataclass(frozen=True)
class Repair:
    """What puts a problem right: steps, conventions, columns, or a cut-off or option of the metric."""

    steps: Sequence[FrameChange] = ()
    conventions: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    of_metric: Mapping[str, Any] = field(default_factory=dict)


class FrameCode:
    """Writes code for one of the caller's frames; the code is "" if it is of no library for which there is some."""

    def __init__(self, data: LintData, frame: str, *others: str) -> None:
        given = data.side.call.frames
        self.frame, self.given, self.types = frame, given.get(frame, GivenFrame()), data.source.truth.schema
        libraries = {given.get(name, GivenFrame()).library.replace("lazy", "polars") for name in (frame, *others)}
        # A frame that holds both sides is not changed by code for one of them.
        self.library = libraries.pop() if len(libraries) == 1 and "truth" in given else ""

    def either(self, pandas: str, polars: str) -> str:
        """Choose what the library of the frame takes."""
        return pandas if self.library == "pandas" else polars

    def label(self, role: str) -> str:
        """Name the caller's column of a role."""
        return self.given.labels.get(role, role)

    def column(self, role: str, *, text: bool = False) -> str:
        """Write the column of a role; `text`: categories of Polars as text."""
        cast = ".cast(pl.String)" if text and self.given.types.get(role) in ("Categorical", "Enum") else ""
        return self.either(f"{self.frame}[{self.label(role)!r}]", f"pl.col({self.label(role)!r}){cast}")

    def assigned(self, role: str, value: str) -> str:
        """Write that a column gets values."""
        name = self.label(role)
        pandas = f"{name}={value}" if name.isidentifier() and not iskeyword(name) else f"**{{{name!r}: {value}}}"
        return self._statement(self.either(f".assign({pandas})", f".with_columns({value})"))

    def kept(self, condition: str) -> str:
        """Write that the rows are kept for which a condition is true."""
        return self._statement(self.either(f"[{condition}]", f".filter({condition})"))

    def joined(self, other: FrameCode, roles: Sequence[str], how: str) -> str:
        """Write that the rows are kept whose ids are in another frame ("semi"), or are not ("anti")."""
        here, there = ([one.label(role) for role in roles] for one in (self, other))
        if self.library == "pandas":
            index = f"{self.frame}.set_index({here!r}).index.isin({other.frame}.set_index({there!r}).index)"
            one = f"{self.frame}[{here[0]!r}].isin({other.frame}[{there[0]!r}])"
            return self.kept(("" if how == "semi" else "~") + (one if len(roles) == 1 else index))
        on = f"on={here!r}" if here == there else f"left_on={here!r}, right_on={there!r}"
        if any(self.given.types.get(role) != other.given.types.get(role) for role in roles):
            left, right = (", ".join(f"{one.column(role)}.cast(pl.{self.types[role]})" for role in roles) for one in (self, other))  # fmt: skip
            on = f"left_on=[{left}], right_on=[{right}]"
        kinds = self.given.library, other.given.library
        other_frame = other.frame + {("polars", "lazy"): ".collect()", ("lazy", "polars"): ".lazy()"}.get(kinds, "")
        return self._statement(f'.join({other_frame}, {on}, how="{how}", maintain_order="left")')

    def _statement(self, change: str) -> str:
        return f"{self.frame} = {self.frame}{change}" if self.library else ""


# ---- steps


def spelled(data: LintData, frame: str, role: str, way: str) -> FrameChange:
    """Write the ids of a frame in one way."""
    (change, *codes), code = SPELLINGS[way], FrameCode(data, frame)
    written = code.assigned(role, f"{code.column(role, text=True)}.str.{code.either(*codes)}")
    return FrameChange(frame, lambda rows: rows.with_columns(change(pl.col(role))), written)


def turned(data: LintData) -> FrameChange:
    """Turn the scores, so that the lowest is the highest."""
    code, unsigned = FrameCode(data, "recs"), data.source.recs["score"].dtype.is_unsigned_integer()
    written = code.assigned("score", f"{code.column('score')} * -1.0" if unsigned else f"-{code.column('score')}")
    change = pl.col("score") * -1.0 if unsigned else -pl.col("score")
    return FrameChange("recs", lambda rows: rows.with_columns(change.alias("score")), written)


def closed_up(data: LintData, frame: str = "recs") -> list[FrameChange]:
    """Number the places of each list anew, if ranks order the lists; what is taken out of the truth leaves no place empty."""
    if data.convention.order != "rank" or "rank" not in data.source.recs.columns or frame != "recs":
        return []
    code = FrameCode(data, "recs")
    user, rank = code.label("user"), code.label("rank")
    pandas = f"recs.groupby({user!r}, observed=True)[{rank!r}].rank(method='first').astype(int)"
    written = code.assigned("rank", code.either(pandas, f"pl.col({rank!r}).rank('ordinal').over({user!r})"))
    change = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
    return [FrameChange("recs", lambda rows: rows.with_columns(change), written)]


def without(data: LintData, frame: str, role: str, values: Sequence[Any]) -> FrameChange:
    """Leave out the rows with some values of a column."""
    code = FrameCode(data, frame)
    each = [f"({code.column(role)} != {value!r})" for value in values]
    written = code.kept(" & ".join(each) if len(each) > 1 else each[0][1:-1])
    return FrameChange(frame, lambda rows: rows.filter(~pl.col(role).is_in(values)), written)


def once(data: LintData, frame: str) -> FrameChange:
    """Keep each pair once: at its highest place, or with its highest relevance."""
    code = FrameCode(data, frame)
    by = data.convention.order if frame == "recs" else "relevance"
    pair = [code.label(role) for role in PAIR]
    if by not in data.frame(frame).columns:
        pandas, polars = f".drop_duplicates({pair!r})", f".unique({pair!r}, keep='first', maintain_order=True)"
        written = f"{frame} = {frame}{code.either(pandas, polars)}" if code.library else ""
        return FrameChange(frame, lambda rows: rows.unique(PAIR, keep="first", maintain_order=True), written)
    down = by != "rank"
    pandas = f"{frame}.groupby({pair!r}, observed=True)[{code.label(by)!r}].rank(method='first', ascending={not down})"
    polars = f"{code.column(by)}.rank('ordinal', descending={down}).over({pair!r})"
    change = pl.col(by).rank("ordinal", descending=down).over(PAIR) == 1
    return FrameChange(frame, lambda rows: rows.filter(change), code.kept(f"{code.either(pandas, polars)} == 1"))


def against(data: LintData, frame: str, other: str, roles: list[str], how: Any) -> tuple[pl.DataFrame, FrameChange]:
    """Keep the rows of a frame whose pairs or items are in another ("semi"), or are not ("anti"); return the others with that."""
    rows, ids = data.frame(frame), data.frame(other).select(roles)
    mask = np.zeros(rows.height, dtype=bool)
    mask[rows.select(roles).with_row_index("row").join(ids, on=roles, how=how)["row"].to_numpy()] = True
    kept = pl.Series(mask)
    written = FrameCode(data, frame, other).joined(FrameCode(data, other), roles, how)
    return rows.filter(~kept), FrameChange(frame, lambda one: one.filter(kept), written)


# ---- the effect, and the call


def measured(data: LintData, repair: Repair) -> tuple[str, float, int] | None:
    """Evaluate what is put right under the same options: the metric's label, its mean and its users; None if it would take long."""
    evaluation, options = data.evaluation, {**data.options, **repair.of_metric}
    if repair.steps or repair.conventions:
        plain = evaluation.library is None and repair.conventions.get("ties", data.convention.ties) in ROW_ORDERS
        if not isinstance(data.source.rows, InMemoryRows) or (not plain and data.source.recs.height > MOST_ROWS):
            return None
        frames: dict[str, Any] = {}
        for step in repair.steps:
            frames[step.frame] = step.change(frames.get(step.frame, data.frame(step.frame)))
            if frames[step.frame].height == 0:
                raise FrameError(f"nothing is left of {step.frame}.")
        changed: dict[str, Any] = {"rows": InMemoryRows(LazyRows.of(frames.pop("recs")))} if "recs" in frames else {}
        if (truth := frames.pop("truth", None)) is not None:
            labels = {role: role for role in truth.columns} | {**data.source.truth_labels}
            changed |= {"truth_rows": LazyRows.of(truth), "truth_labels": labels}
        source = replace(data.source, **changed, _known={}) if changed else data.source
        prepared = source.under(replace(evaluation.convention, **repair.conventions))
        side = replace(data.side, **frames)
        evaluation = EvaluationData(prepared, evaluation.library, {**evaluation.overrides, **repair.conventions}, side)
    k = options.pop("k", data.asked_k)
    return labelled(evaluation.scoring(data.metric, options, whole=k is None).averaged(Cutoffs.one(k)), data.metric, k)


def code_of(data: LintData, repair: Repair) -> str:
    """Write what is to be typed: for the caller's frames, with all their options; "" if only words can say it."""
    call, evaluation = data.side.call, data.evaluation
    if repair.of_metric:
        return f"ev.{data.metric.name}({_arguments({'k': data.asked_k, **data.options, **repair.of_metric})})"
    both = [*FRAMES[:2]] if "truth" in call.frames else ["df"] if call.frames else []
    beside = [name for name in FRAMES[2:] if name in call.frames]
    options = call.options if call.library == evaluation.library else {"convention": evaluation.library}
    options = {**call.columns, **options, **repair.conventions, **repair.columns}
    lines = [step.code for step in repair.steps if step.code is not None]
    if not both or not all(lines):
        return ""
    arguments = [*both, *(f"{name}={name}" for name in beside), *([_arguments(options)] if options else [])]
    return "\n".join([*lines, f"ev = recnb.evaluate({', '.join(arguments)})"])


def _arguments(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())
