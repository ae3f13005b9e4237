"""`why`: from one number to another, one axis of the convention switched at a time, with the effect of each switch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import Preset, library_named, of_metric, preset
from recnb.data import Source
from recnb.data.encoding import distinct
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, ngettext
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_number, near, quoted
from recnb.libraries.variant import STAGES, Found, Variant, VariantValues, source_of
from recnb.metrics.metric import Metric
from recnb.results import Explanation
from recnb.results.arguments import measure_at
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
    template = "libraries/why.jinja"

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
    chosen, k = measure_at(metric, k, standard=True)
    source, ours = source_of(evaluation), Variant.of_evaluation(evaluation, chosen, options)
    return steps_between((source, ours), _other_side(source, ours, other, variant, options), k)


#: The frames and the definition of a number.
Side = tuple[Source, Variant]


def _other_side(source: Source, ours: Variant, other: Any, variant: str | None, options: dict[str, Any]) -> Side:
    """Return what the difference is explained to."""
    metric = ours.definition
    if isinstance(other, str) and other != "recnb":
        return source, Variant.of_preset(preset_of(metric, other, variant))
    if variant is not None:
        raise OptionError(f"variant={variant!r} picks one of a library's metrics: name the library, other='rectools'.")
    if isinstance(other, (Convention, str)):
        given, name = (Convention(), other) if isinstance(other, str) else (other, _("the other convention"))
        convention = source.under(given).convention
        return source, Variant.of(name, convention, metric, {**options, **dict(given.metric)})
    if isinstance(other, EvaluationData):
        second, theirs = source_of(other), Variant.of_evaluation(other, metric, options)
        name = _("the other evaluation") if theirs.name == ours.name else theirs.name
        same = source.recs.equals(second.recs) and source.truth.equals(second.truth)
        return source if same else second, replace(theirs, name=name)
    number = (
        "for the convention behind a printed number type .identify(metric, number), or " if is_number(other) else ""
    )
    raise OptionError(
        f"other={quoted(other)}: {number}name a library, such as other='rectools', or give a Convention or an Evaluation."
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
    """Switch one decision after the other; a switch that gives no number alone is made together with the next."""
    (source, ours), (other_source, theirs) = first, second
    start = now = ours.measure(source, k)
    theirs.measure(other_source, k)  # what a library refuses is told before the way to it
    # No library computes what is between the two ends, so nothing is refused there.
    variant, goal = replace(ours, preset=None), replace(theirs, preset=None)
    steps: list[Step] = []
    unchanged: list[str] = []
    waiting: list[tuple[str, str, str]] = []  # axis, and in words what was and what is on it
    reason = ""
    for axis in [*([] if other_source is source else ["frames"]), *ours.differing_axes(theirs)]:
        if axis == "frames":
            waiting.append((axis, _("the frames of the first"), _("the frames of the second")))
            source = other_source
        elif variant.decision(axis) == goal.decision(axis):  # options come with their metric
            continue
        else:
            words, variant = variant.words(axis), variant.taking(axis, goal)
            waiting.append((axis, words, variant.words(axis)))
        is_last = not variant.differing_axes(goal) and source is other_source
        try:
            after = variant.measure(source, k)
            problem = "" if np.isfinite(after.value) or is_last else _("it is NaN")
        except RecnbError as error:
            if is_last:
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
                    stage=next((stage for stage, axes in STAGES.items() if switched[0] in axes), N_("metric")),
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
        now, waiting, reason = after, [], ""
    if start.n_users == now.n_users:
        depth = _("the whole list") if k is None else k
        notes = [_("{n:,} users at both ends; k = {k}", n=now.n_users, k=depth)]
    else:
        notes = [_("{n:,} users at the start, {other:,} at the end", n=start.n_users, other=now.n_users)]
    if unchanged:
        notes.append(_("Differs, and changes nothing on these frames: {what}", what="; ".join(unchanged)))
    for frames, one in (first, second):
        if one.convention.order not in ("auto", "row", *frames.rows.columns):
            notes.append(_(READS[one.convention.order], name=one.name))
    counts = start.n_users, now.n_users
    ends = (ours.name, theirs.name, start.value, now.value, counts)
    return Why(theirs.definition.label(k), tuple(notes), *ends, tuple(steps), tuple(unchanged))


def _moved(before: VariantValues, after: VariantValues) -> tuple[int, tuple[UserChange, ...]]:
    """The number of users whose values changed, those who come or go among them, and the largest changes."""
    if before.users.dtype == after.users.dtype and before.users.equals(after.users):
        users, a, b = before.users, before.values, after.values
    else:
        users = distinct(pl.concat([before.users, after.users]))
        a, b = before.values_of(users), after.values_of(users)
    apart = np.isnan(a) != np.isnan(b)
    change = np.abs(np.nan_to_num(b) - np.nan_to_num(a))
    moved = np.flatnonzero(apart | (change > SAME))
    if len(moved) == 0:
        return 0, ()
    # Of equal changes, users who count before and after come first: they show what changed in a list.
    most = moved[np.lexsort((moved, apart[moved], -change[moved]))[:MOVERS_SHOWN]]
    names = users.gather(most).to_list()
    return len(moved), tuple(UserChange(user, float(a[at]), float(b[at])) for user, at in zip(names, most, strict=True))
