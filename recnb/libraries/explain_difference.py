"""`why`: from one number to another, one axis of the convention switched at a time, with the effect of each switch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset, library_named, of_metric, preset
from recnb.data.encoding import distinct
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, ngettext
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_number, near
from recnb.libraries.variant import ABSENT, Found, MetricVariant, Side, VariantValues, axes_of, scratch, stage_of
from recnb.metrics.metric import Metric
from recnb.results import Explanation
from recnb.results.arguments import standard_at
from recnb.results.evaluation_data import EvaluationData
from recnb.results.plots import axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: A column that a library reads and the frames lack.
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
    before: float  #: NaN: not counted
    after: float  #: NaN: not counted

    def in_words(self) -> str:
        """The values before and after."""
        before, after = (_("not counted") if isnan(value) else f"{value:.4f}" for value in (self.before, self.after))
        return f"{before} → {after}"


@dataclass(frozen=True, eq=False)
class Step:
    """One switch: usually of one axis, of several if one alone gives no number."""

    axes: tuple[str, ...]
    stage: str  #: data, ranking, relevance, users, metric or average
    was: str
    now: str
    value: float  #: after the switch
    change: float
    n_moved: int
    movers: tuple[UserChange, ...]  #: the users whose values changed most
    explanation: Explanation | None  #: of the first of them, after the switch
    note: str = ""  #: why several axes were switched at once

    @property
    def stage_name(self) -> str:
        """The stage in words."""
        return _(self.stage)

    def moved(self) -> str:
        """In words, how many users have another value, and whose changed most."""
        if not self.n_moved:
            return _("no user's value; {stage}", stage=self.stage_name)
        most = "; ".join(f"{one_line(repr(mover.user))}: {mover.in_words()}" for mover in self.movers)
        return ngettext(
            "{n:,} user moved, most of all {most}", "{n:,} users moved, most of all {most}", self.n_moved, most=most
        )


@dataclass(frozen=True, eq=False, repr=False)
class Why(Found):
    """The steps from one number to another; their changes add up to the difference."""

    one: str  #: whose number is at the start
    other: str
    start: float
    end: float
    n_users: tuple[int, int]  #: users counted at the start and at the end
    steps: tuple[Step, ...]
    unchanged: tuple[str, ...]  #: in words, the switches that change nothing on these frames
    template = "libraries/explain_difference.jinja"

    @property
    def headline(self) -> str:
        """Both ends and the difference, on one line."""
        return f"{self.label}: {self.start:.4f} {self.one}, {self.end:.4f} {self.other}, {self.end - self.start:+.4f}"

    def to_frame(self) -> pd.DataFrame:
        """A row per step: stage, axis, from, to, value, change, users moved and who moved most."""
        import pandas as pd

        rows = [
            (step.stage, ", ".join(step.axes), step.was, step.now, step.value, step.change, step.n_moved,
             step.movers[0].user if step.movers else None)
            for step in self.steps
        ]  # fmt: skip
        names = ["stage", "axis", "from", "to", "value", "change", "n_moved", "moved_most"]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a waterfall: a bar from each value to the next."""
        ax = axes(ax, 0.5 * len(self.steps) + 1.6, 8)
        names = [one_line(self.one), *(one_line(step.now, 60) for step in self.steps), one_line(self.other)]
        before = [0.0, *(step.value - step.change for step in self.steps), 0.0]
        widths = [self.start, *(step.change for step in self.steps), self.end]
        colours = [QUIET, *(ACCENT if step.change >= 0 else "#b5533c" for step in self.steps), QUIET]
        bars = ax.barh(range(len(names)), widths, 0.62, left=before, color=colours)
        changes = [f"{self.start:.4f}", *(f"{step.change:+.4f}" for step in self.steps), f"{self.end:.4f}"]
        ax.bar_label(bars, changes, padding=3, fontsize=8)
        with lettering(self.lang) as fonts:
            if self.lang != "en" and not fonts:
                # No font has the letters of the steps.
                names = [_("start"), *(", ".join(step.axes) for step in self.steps), _("end")]
            ax.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names], **fonts)
        ax.invert_yaxis()
        ax.margins(x=0.14)
        ax.set(xlabel=self.label)
        return ax

    def lines(self) -> list[str]:
        """Both ends and the steps between them, each with the users it moved."""
        lines = [self.headline, f"  {self.start:.4f}           {self.one}"]
        for step in self.steps:
            lines.append(f"  {step.value:.4f}  {step.change:+.4f}  {step.was} → {step.now}")
            lines += [f"                   {words}" for words in (step.moved(), step.note) if words]
        return [*lines, f"  {self.end:.4f}           {self.other}"]


def why(
    evaluation: EvaluationData,
    metric: str,
    k: int | None = None,
    *,
    other: Any = None,
    variant: str | None = None,
    **options: Any,
) -> Why:
    """Explain the difference between an evaluation's number and another; the arguments are those of `Evaluation.why`."""
    if other is None:
        raise OptionError(
            "why explains the difference to another number: name the library that gives it, such as "
            ".why('ndcg', k=10, other='rectools'), or give a Convention or an Evaluation."
        )
    chosen, k = standard_at(metric, k)
    here = Side.of_evaluation(evaluation, chosen, options)
    return steps_between(here, _other_side(here, chosen, other, variant, options), k)


def _other_side(here: Side, metric: Metric[...], other: Any, variant: str | None, options: dict[str, Any]) -> Side:
    if isinstance(other, str) and other != "recnb":
        return Side.of_preset(here.source, preset_of(metric, other, variant))
    if variant is not None:
        raise OptionError(f"variant={variant!r} picks one of a library's metrics: name the library, other='rectools'.")
    if isinstance(other, (Convention, str)):
        given, name = (Convention(), other) if isinstance(other, str) else (other, _("the other convention"))
        convention = here.source.under(given).convention
        return Side(name, here.source, MetricVariant.of(convention, metric, {**options, **dict(given.metric)}))
    if isinstance(other, EvaluationData):
        second = Side.of_evaluation(other, metric, options)
        name = _("the other evaluation") if second.name == here.name else second.name
        same = here.source.recs.equals(second.source.recs) and here.source.truth.equals(second.source.truth)
        return Side(name, here.source if same else second.source, second.variant)
    number = (
        "for the convention behind a printed number type .identify(metric, number), or " if is_number(other) else ""
    )
    raise OptionError(
        f"other={other!r}: {number}name a library, such as other='rectools', or give a Convention or an Evaluation."
    )


def preset_of(metric: Metric[...], library: str, variant: str | None = None) -> Preset:
    """A library's preset: the variant named, which may follow the library, or the first that is recorded for the metric."""
    if variant is None and " " in library.strip():
        library, variant = library.split(maxsplit=1)
    name = library_named(library)
    recorded = of_metric(metric.name)
    presets = [preset for preset in recorded if preset.library == name]
    if variant is not None:
        chosen = preset(name, variant)
        if chosen not in presets:
            hint = near(variant, [preset.variant for preset in presets])
            raise OptionError(f"{name} {variant} computes {chosen.metric}, not {metric.name}. {hint}")
        return chosen
    if not presets:
        libraries = list(dict.fromkeys(preset.library for preset in recorded))
        raise OptionError(f"{name} has no {metric.name} that recnb has recorded. {near(name, libraries)}")
    return presets[0]


def steps_between(first: Side, second: Side, k: int | None) -> Why:
    """Switch axis after axis; a switch that gives no number alone is made together with the next."""
    source = scratch(first.source)
    now = first.variant.measured(source, k)
    if second.variant.refuses:
        second.variant.measured(source if second.source is first.source else second.source, k, second.preset)
    # The frames that libraries refuse were checked for both ends; no library computes what is between.
    variant, goal = replace(first.variant, refuses=()), replace(second.variant, refuses=())
    start, n_start, plain = now.value, now.n_users, variant.on(source, k)
    steps: list[Step] = []
    unchanged: list[str] = []
    waiting: list[tuple[str, str, str]] = []  # axis, and in words what was and what is on it
    reason = ""
    for axis in [*([] if second.source is first.source else ["frames"]), *axes_of(variant, goal)]:
        if axis == "frames":
            waiting.append((axis, _("the frames of the first"), _("the frames of the second")))
            source = scratch(second.source)
        elif variant.at(axis) == goal.at(axis) or goal.at(axis) is ABSENT:
            continue
        else:
            words = variant.words(axis)
            variant = variant.taking(axis, goal)
            waiting.append((axis, words, variant.words(axis)))
            if len(waiting) == 1 and variant.on(source, k) == plain:
                unchanged.append(f"{words} → {variant.words(axis)}")
                waiting = []
                continue
        try:
            after = variant.measured(source, k)
            problem = "" if np.isfinite(after.value) or variant == goal else _("it is NaN")
        except RecnbError as error:
            if variant == goal:
                raise
            after, problem = now, error.reason
        if problem:
            reason = reason or _("{now} alone gives no number: {problem}", now=waiting[-1][2], problem=problem)
            continue
        n_moved, movers = _moved(now, after)
        switched, was, becomes = zip(*waiting, strict=True)
        if n_moved == 0 and abs(after.value - now.value) <= SAME:
            unchanged += [f"{before} → {words}" for before, words in zip(was, becomes, strict=True)]
        else:
            shown = next((mover.user for mover in movers if not np.isnan(mover.after)), None)
            steps.append(
                Step(
                    axes=switched,
                    stage=stage_of(switched[0]),
                    was="; ".join(was),
                    now="; ".join(becomes),
                    value=after.value,
                    change=after.value - now.value,
                    n_moved=n_moved,
                    movers=movers,
                    explanation=None if shown is None else variant.explanation(after, shown, k),
                    note=_("switched together, since {reason}", reason=reason) if len(waiting) > 1 and reason else "",
                )
            )
        # The value that is shown last is the one that the next change starts from.
        now, plain, waiting, reason = after, variant.on(source, k), [], ""
    if n_start == now.n_users:
        depth = _("the whole list") if k is None else k
        notes = [_("{n:,} users at both ends; k = {k}", n=n_start, k=depth)]
    else:
        notes = [_("{n:,} users at the start, {other:,} at the end", n=n_start, other=now.n_users)]
    if unchanged:
        notes.append(_("Differs, and changes nothing on these frames: {what}", what="; ".join(unchanged)))
    for side in (first, second):
        order = side.variant.convention.order
        if order not in ("auto", "row", variant.on(source).convention.order, *side.source.rows.columns):
            notes.append(_(READS[order], name=side.name))
    label = second.variant.definition.label(k)
    ends = (start, now.value, (n_start, now.n_users))
    return Why(label, tuple(notes), first.name, second.name, *ends, tuple(steps), tuple(unchanged))


def _moved(before: VariantValues, after: VariantValues) -> tuple[int, tuple[UserChange, ...]]:
    """The number of users whose values changed, those who come or go among them, and the largest changes."""
    if before.users.dtype == after.users.dtype and before.users.equals(after.users):
        users, a, b = before.users, before.values, after.values
    else:
        users = distinct(pl.concat([before.users, after.users]))
        a, b = before.of(users), after.of(users)
    apart = np.isnan(a) != np.isnan(b)
    change = np.abs(np.nan_to_num(b) - np.nan_to_num(a))
    moved = np.flatnonzero(apart | (change > SAME))
    if len(moved) == 0:
        return 0, ()
    # Of equal changes, users who count before and after come first: they show what changed in a list.
    most = moved[np.lexsort((moved, apart[moved], -change[moved]))[:MOVERS_SHOWN]]
    names = users.gather(most).to_list()
    return len(moved), tuple(UserChange(user, float(a[at]), float(b[at])) for user, at in zip(names, most, strict=True))
