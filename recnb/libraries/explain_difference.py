"""From our number to another's, one axis switched at a time: what each switch did, and to whom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset, library_named, preset
from recnb.data import Source
from recnb.data.encoding import distinct, positions
from recnb.display.language import N_, _, current, use_language
from recnb.errors import OptionError, RecnbError, near
from recnb.libraries.explain_difference_html import as_html, as_text, plotted
from recnb.libraries.variant import ABSENT, MetricVariant, VariantValues, axes_of, presets_of, scratch, stage_of
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import Metric, metric_named
from recnb.results import Explanation
from recnb.results.evaluation_data import EvaluationData

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData

#: What a library reads that frames lack.
READS: dict[str, str] = {
    "rank": N_("{name} reads ranks, which these frames lack: given what they have"),
    "score": N_("{name} reads scores, which these frames lack: given what they have"),
}


#: Values nearer than this are the same.
SAME, MOVERS_SHOWN = 1e-12, 3


@dataclass(frozen=True)
class UserChange:
    """A user whose value a step changed."""

    user: Any
    before: float  #: NaN: did not count
    after: float  #: NaN: does not count


@dataclass(frozen=True, eq=False)
class Step:
    """One switch on the way: usually of one axis, of several where one alone gives no number."""

    axes: tuple[str, ...]
    stage: str  #: data, ranking, relevance, users, metric or average
    was: str
    now: str
    value: float  #: after the switch
    change: float
    n_moved: int
    movers: tuple[UserChange, ...]  #: the few that moved most
    explanation: Explanation | None  #: of the first mover, after the switch
    note: str = ""  #: why several axes were switched at once


@dataclass(frozen=True, eq=False)
class Why:
    """The way from one number to another; the changes of its steps add up to the difference."""

    metric: str
    symbol: str
    k: int | None
    one: str  #: whose number it starts at
    other: str
    start: float
    end: float
    n_users: tuple[int, int]  #: who count at the start and at the end
    steps: tuple[Step, ...]
    unchanged: tuple[str, ...]  #: in words, the switches that change nothing on these frames
    notes: tuple[str, ...] = ()
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    def to_frame(self) -> pd.DataFrame:
        """A row per step: stage, axis, from, to, value, change, users moved and who moved most."""
        import pandas as pd

        rows = [
            {
                "stage": step.stage, "axis": ", ".join(step.axes), "from": step.was, "to": step.now, "value": step.value,
                "change": step.change, "n_moved": step.n_moved, "moved_most": step.movers[0].user if step.movers else None,
            }
            for step in self.steps
        ]  # fmt: skip
        names = ["stage", "axis", "from", "to", "value", "change", "n_moved", "moved_most"]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the way as a waterfall: a bar from each value to the next."""
        return plotted(self, ax)

    def __repr__(self) -> str:
        with use_language(self.lang):
            return as_text(self)

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return as_html(self)


@dataclass(frozen=True, eq=False)
class Side:
    """One end of the way."""

    name: str
    source: Source
    setting: MetricVariant


def why(
    evaluation: EvaluationData,
    metric: str,
    k: int | None = None,
    *,
    other: Any,
    variant: str | None = None,
    **options: Any,
) -> Why:
    """From an Evaluation's number to another's: a library's (`variant` picks one of several), a Convention's, or an Evaluation's."""
    chosen = metric_named(metric)
    k = Cutoffs.one(k).values[0]
    here = side_of(evaluation, chosen, options)
    return way(here, _other(here, chosen, other, variant, options), k)


def why_between(
    source: Source, metric: str, k: int | None, one: str, other: str, variants: tuple[str | None, str | None] = (None, None)
) -> Why:  # fmt: skip
    """From one library's number to another's."""
    chosen = metric_named(metric)
    sides = [
        _of_preset(source, _preset(chosen, name, variant)) for name, variant in zip((one, other), variants, strict=True)
    ]
    return way(sides[0], sides[1], Cutoffs.one(k).values[0])


def source_of(evaluation: EvaluationData) -> Source:
    """The frames behind an evaluation, as they were read."""
    source = evaluation.prepared.source
    if source is None:
        raise OptionError("this evaluation was not made of frames, so it cannot be looked at under another convention.")
    return source


def side_of(evaluation: EvaluationData, metric: Metric[...], options: dict[str, Any]) -> Side:
    """An evaluation as one end of the way."""
    setting = MetricVariant.of_evaluation(evaluation, metric, options)
    library = evaluation.library
    return Side(_("as {library}", library=library) if library else "recnb", source_of(evaluation), setting)


def _other(here: Side, metric: Metric[...], other: Any, variant: str | None, options: dict[str, Any]) -> Side:
    if isinstance(other, str):
        return _of_preset(here.source, _preset(metric, other, variant))
    if variant is not None:
        raise OptionError(f"variant={variant!r} picks one of a library's metrics: name the library, other='rectools'.")
    if isinstance(other, Convention):
        known = here.source.under(other).convention
        name = _("the other convention")
        return Side(name, here.source, MetricVariant.of(known, metric, {**options, **dict(other.metric)}))
    if isinstance(other, EvaluationData):
        return _named_apart(here, side_of(other, metric, options))
    raise OptionError(
        f"other={other!r}: name a library, such as other='rectools', or give a Convention or an Evaluation."
    )


def _named_apart(here: Side, there: Side) -> Side:
    name = _("the other evaluation") if there.name == here.name else there.name
    same = here.source.recs.equals(there.source.recs) and here.source.truth.equals(there.source.truth)
    return Side(name, here.source if same else there.source, there.setting)


def _preset(metric: Metric[...], library: str, variant: str | None) -> Preset:
    """A library's preset: the variant named, or the first that is listed for the metric."""
    name = library_named(library)
    known = [one for one in presets_of(metric.name) if one.library == name]
    if variant is not None:
        found = preset(name, variant)
        if found not in known:
            has = near(variant, [one.variant for one in known])
            raise OptionError(f"{name} {variant} computes {found.metric}, not {metric.name}. {has}")
        return found
    if not known:
        libraries = list(dict.fromkeys(one.library for one in presets_of(metric.name)))
        raise OptionError(f"{name} has no {metric.name} that recnb has recorded. {near(name, libraries)}")
    return known[0]


def _of_preset(source: Source, chosen: Preset) -> Side:
    return Side(chosen.label, source, MetricVariant.of_preset(chosen))


def way(one: Side, other: Side, k: int | None) -> Why:
    """Switch axis after axis; a switch that gives no number alone is made together with the next."""
    source = scratch(one.source)
    now = one.setting.measured(source, k)
    if other.setting.refuses:
        other.setting.measured(source if other.source is one.source else other.source, k)
    # What a library refuses is asked of both ends; between them nobody stands.
    setting, goal = replace(one.setting, refuses=(), _key={}), replace(other.setting, refuses=(), _key={})
    start, n_start, plain = now.value, _n(now), setting.on(source, k)
    steps: list[Step] = []
    unchanged: list[str] = []
    waiting: list[tuple[str, str, str]] = []
    reason = ""
    if other.source is not one.source:
        waiting.append(("frames", _("the frames of the first"), _("the frames of the second")))
        source = scratch(other.source)
    todo = axes_of(setting, goal)
    for axis in [*([""] if waiting else []), *todo]:
        if axis:
            if setting.at(axis) == goal.at(axis) or goal.at(axis) is ABSENT:
                continue
            taken = setting.taking(axis, goal)
            waiting.append((axis, setting.words(axis), taken.words(axis)))
            setting = taken
            if len(waiting) == 1 and setting.on(source, k) == plain:
                unchanged.append(_switch(waiting.pop()))
                continue
        after = _try(setting, source, k, last=setting == goal)
        if isinstance(after, str):
            reason = reason or _("{now} alone gives no number: {problem}", now=waiting[-1][2], problem=after)
            continue
        moved = _moved(now, after)
        if moved[0] == 0 and abs(after.value - now.value) <= SAME:
            unchanged += map(_switch, waiting)
        else:
            steps.append(_step(waiting, now, after, moved, reason, setting, source, k))
        # The value that is shown last is the one that the next change starts from.
        now, plain, waiting, reason = after, setting.on(source, k), [], ""
    notes = tuple(
        _(READS[side.setting.convention.order], name=side.name)
        for side in (one, other)
        if side.setting.convention.order not in ("auto", setting.on(source).convention.order)
        and side.setting.convention.order not in (*side.source.rows.columns, "row")
    )
    metric = other.setting.how
    return Why(
        one.setting.metric, metric.symbol, k, one.name, other.name, start, now.value, (n_start, _n(now)), tuple(steps),
        tuple(unchanged), notes,
    )  # fmt: skip


def _try(setting: MetricVariant, source: Source, k: int | None, *, last: bool) -> VariantValues | str:
    """What a setting gives, or why it gives no number; the last one's is taken as it is, errors included."""
    try:
        after = setting.measured(source, k)
    except RecnbError as problem:
        if last:
            raise
        return str(problem).split(". ")[0].rstrip(".:")
    return after if np.isfinite(after.value) or last else _("it is NaN")


def _switch(switched: tuple[str, str, str]) -> str:
    return f"{switched[1]} → {switched[2]}"


def _n(measured: VariantValues) -> int:
    return int((~np.isnan(measured.values)).sum())


def _step(
    waiting: list[tuple[str, str, str]], before: VariantValues, after: VariantValues, moved: tuple[int, tuple[UserChange, ...]], reason: str,
    setting: MetricVariant, source: Source, k: int | None,
) -> Step:  # fmt: skip
    n_moved, movers = moved
    shown = next((one.user for one in movers if not np.isnan(one.after)), None)
    axes = tuple(axis for axis, _ignored, _ignored in waiting)
    return Step(
        axes=axes,
        stage=stage_of(axes[0]),
        was="; ".join(was for _ignored, was, _ignored in waiting),
        now="; ".join(now for _ignored, _ignored, now in waiting),
        value=after.value,
        change=after.value - before.value,
        n_moved=n_moved,
        movers=movers,
        explanation=None if shown is None else setting.explanation(source, after, shown, k),
        note=_("switched together, since {reason}", reason=reason) if len(waiting) > 1 and reason else "",
    )


def _moved(before: VariantValues, after: VariantValues) -> tuple[int, tuple[UserChange, ...]]:
    """How many users have another value than before, those who come or go among them, and the few that moved most."""
    if before.users.dtype == after.users.dtype and before.users.equals(after.users):
        users, a, b = before.users, before.values, after.values
    else:
        users = distinct(pl.concat([before.users, after.users]))
        a, b = (_spread_over(users, one) for one in (before, after))
    apart = np.isnan(a) != np.isnan(b)
    change = np.abs(np.nan_to_num(b) - np.nan_to_num(a))
    moved = np.flatnonzero(apart | (change > SAME))
    if len(moved) == 0:
        return 0, ()
    # Of equal moves, those who count before and after come first: they show what changed in a list.
    most = moved[np.lexsort((moved, apart[moved], -change[moved]))[:MOVERS_SHOWN]]
    names = users.gather(most).to_list()
    return len(moved), tuple(UserChange(user, float(a[at]), float(b[at])) for user, at in zip(names, most, strict=True))


def _spread_over(users: pl.Series, measured: VariantValues) -> Floats:
    values = np.full(len(users), np.nan)
    if len(measured.users):
        values[positions(users, measured.users)] = measured.values
    return values
