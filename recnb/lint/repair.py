"""What puts a problem right: frames changed, as code for the caller's own, or options; and the metric of what is put right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from recnb.conventions.convention import DECISIONS, ROW_ORDERS
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


class RepairStep(NamedTuple):
    """A change of one frame by roles, and the code that makes it in the caller's: "" if only words can say it, None if an option does."""

    frame: str
    change: Callable[[pl.DataFrame], pl.DataFrame]
    code: str | None


@dataclass(frozen=True)
class Repair:
    """What puts a problem right: steps, options of the data, or a cut-off or an option of the metric."""

    steps: Sequence[RepairStep] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    of_metric: Mapping[str, Any] = field(default_factory=dict)


def code_for(data: LintData, frame: str, roles: Sequence[str], *, pandas: str, polars: str, other: str = "") -> str:
    """Write a change of one of the caller's frames, from a template for each library with the names of columns.

    There is no code ("") if one frame holds both sides, and for what is no frame of pandas or Polars, or two of different kinds.
    """
    call = data.side.call.frames
    here, there = call.get(frame), call.get(other or frame)
    if "truth" not in call or here is None or there is None or not here.library or here.library != there.library:
        return ""
    types = [[given.types.get(role) for role in roles] for given in (here, there)]
    if here.library != "pandas" and (types[0] != types[1] or {"Categorical", "Enum"} & {*map(str, types[0])}):
        return ""
    columns, others = ([given.labels.get(role, role) for role in roles] for given in (here, there))
    on = f"on={columns!r}" if columns == others else f"left_on={columns!r}, right_on={others!r}"
    plain = columns[0].isidentifier() and not iskeyword(columns[0])
    names = {"frame": frame, "columns": columns, "column": columns[0], "others": others, "other": other, "on": on}
    if here.library != "pandas":
        return f"{frame} = {frame}{polars.format(**names)}"
    written = pandas.format(**names)
    if not written.startswith(("[", ".")):  # values of a column
        written = f".assign({columns[0]}={written})" if plain else f".assign(**{{{columns[0]!r}: {written}}})"
    return f"{frame} = {frame}{written}"


def spelled(data: LintData, frame: str, role: str, way: str) -> RepairStep:
    """Write the ids of a frame in one way."""
    change, pandas, polars = SPELLINGS[way]
    pandas, polars = f"{{frame}}[{{column!r}}].str.{pandas}", f".with_columns(pl.col({{column!r}}).str.{polars})"
    code = code_for(data, frame, [role], pandas=pandas, polars=polars)
    return RepairStep(frame, lambda rows: rows.with_columns(change(pl.col(role))), code)


def turned(data: LintData) -> RepairStep:
    """Turn the scores, so that the lowest is the highest."""
    code = code_for(
        data, "recs", ["score"],
        pandas="{frame}[{column!r}] * -1.0", polars=".with_columns(pl.col({column!r}) * -1.0)",
    )  # fmt: skip
    return RepairStep("recs", lambda rows: rows.with_columns(pl.col("score").cast(pl.Float64) * -1.0), code)


def closed_up(data: LintData, frame: str = "recs") -> list[RepairStep]:
    """Number the places of each list anew, if ranks order the lists; what is taken out of the truth leaves no place empty."""
    if data.convention.order != "rank" or "rank" not in data.source.recs.columns or frame != "recs":
        return []
    code = code_for(
        data, "recs", ["rank", "user"],
        pandas="{frame}.groupby({columns[1]!r}, observed=True)[{column!r}].rank(method='first').astype(int)",
        polars=".with_columns(pl.col({column!r}).rank('ordinal').over({columns[1]!r}))",
    )  # fmt: skip
    places = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
    return [RepairStep("recs", lambda rows: rows.with_columns(places), code)]


def without(data: LintData, frame: str, role: str, values: Sequence[Any]) -> RepairStep:
    """Leave out the rows with some values of a column."""
    code = code_for(
        data, frame, [role],
        pandas=f"[~{{frame}}[{{column!r}}].isin({values})]", polars=f".filter(~pl.col({{column!r}}).is_in({values}))",
    )  # fmt: skip
    return RepairStep(frame, lambda rows: rows.filter(~pl.col(role).is_in(values)), code)


def once(data: LintData, frame: str) -> RepairStep:
    """Keep each pair once: at its highest place, or with its highest relevance."""
    by = data.convention.order if frame == "recs" else "relevance"
    known, up = by in data.frame(frame).columns, by == "rank"
    pandas = f".sort_values({{columns[2]!r}}, ascending={up}, kind='stable')" if known else ""
    polars = f".sort({{columns[2]!r}}, descending={not up}, maintain_order=True)" if known else ""
    pair = "[{columns[0]!r}, {columns[1]!r}]"
    code = code_for(
        data, frame, [*PAIR, by] if known else PAIR,
        pandas=f"{pandas}.drop_duplicates({pair})", polars=f"{polars}.unique({pair}, keep='first', maintain_order=True)",
    )  # fmt: skip

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        ordered = rows.sort(by, descending=not up, maintain_order=True) if known else rows
        return ordered.unique(PAIR, keep="first", maintain_order=True)

    return RepairStep(frame, change, code)


def against(data: LintData, frame: str, other: str, roles: list[str], how: Any) -> tuple[pl.DataFrame, RepairStep]:
    """Keep the rows of a frame whose pairs or items are in another ("semi"), or are not ("anti"); return the others with that."""
    rows, ids = data.frame(frame), data.frame(other).select(roles)
    kept = np.zeros(rows.height, dtype=bool)
    kept[rows.select(roles).with_row_index("row").join(ids, on=roles, how=how)["row"].to_numpy()] = True
    code = code_for(
        data, frame, roles, other=other,
        pandas=f"[{'~' * (how == 'anti')}{{frame}}.set_index({{columns!r}}).index.isin({{other}}.set_index({{others!r}}).index)]",
        polars=f".join({{other}}, {{on}}, how={how!r}, maintain_order='left')",
    )  # fmt: skip
    return rows.filter(pl.Series(~kept)), RepairStep(frame, lambda one: one.filter(pl.Series(kept)), code)


# The effect, and the call


def put_right(data: LintData, repair: Repair) -> tuple[str, float, int] | None:
    """Evaluate what is put right under the same options: the metric's label, its mean and its users; None if it would take long."""
    evaluation, options = data.evaluation, {**data.options, **repair.of_metric}
    conventions = {name: value for name, value in repair.options.items() if name in DECISIONS}
    if repair.steps or conventions:
        plain = evaluation.library is None and conventions.get("ties", data.convention.ties) in ROW_ORDERS
        if not isinstance(data.source.rows, InMemoryRows) or (not plain and data.source.recs.height > MOST_ROWS):
            return None
        frames: dict[str, Any] = {}
        for frame, change, _code in repair.steps:
            frames[frame] = change(frames.get(frame, data.frame(frame)))
            if frames[frame].height == 0:
                raise FrameError(f"nothing is left of {frame}.")
        changed: dict[str, Any] = {"rows": InMemoryRows(LazyRows.of(frames.pop("recs")))} if "recs" in frames else {}
        if (truth := frames.pop("truth", None)) is not None:
            labels = {role: role for role in truth.columns} | {**data.source.truth_labels}
            changed |= {"truth_rows": LazyRows.of(truth), "truth_labels": labels}
        source = replace(data.source, **changed, _known={}) if changed else data.source
        prepared = source.under(replace(evaluation.convention, **conventions))
        overrides = {**evaluation.overrides, **conventions}
        evaluation = EvaluationData(prepared, evaluation.library, overrides, replace(data.side, **frames))
    k = options.pop("k", data.asked_k)
    return labelled(evaluation.scoring(data.metric, options, whole=k is None).averaged(Cutoffs.one(k)), data.metric, k)


def code_of(data: LintData, repair: Repair) -> str:
    """Write what is to be typed: for the caller's frames, with all their options; "" if only words can say it."""
    call, evaluation = data.side.call, data.evaluation
    if repair.of_metric:
        return f"ev.{data.metric.name}({_keywords({'k': data.asked_k, **data.options, **repair.of_metric})})"
    both = [*FRAMES[:2]] if "truth" in call.frames else ["df"] if call.frames else []
    options = call.options if call.library == evaluation.library else {"convention": evaluation.library}
    lines = [step.code for step in repair.steps if step.code is not None]
    if not both or not all(lines):
        return ""
    arguments = [*both, *(f"{name}={name}" for name in FRAMES[2:] if name in call.frames)]
    if options := {**call.columns, **options, **repair.options}:
        arguments.append(_keywords(options))
    return "\n".join([*lines, f"ev = recnb.evaluate({', '.join(arguments)})"])


def _keywords(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())
