"""`why`: from one number to another, one decision switched at a time, with the effect of each switch."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import recorded
from recnb.data import Source
from recnb.data.encoding import distinct, positions
from recnb.display.language import _, ngettext
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.variant import Measurement, Variant, VariantTable, lacking_in
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.table import Table

#: Values nearer than this are the same.
SAME = 1e-12
COLUMNS = ["decision", "from", "to", "value", "change", "n_moved", "moved_most"]


class Step(NamedTuple):
    """One switch: usually of one decision, of several if one alone gives no number."""

    axes: tuple[str, ...]
    was: str
    now: str
    value: float  #: after the switch
    change: float
    n_moved: int  #: users whose values changed
    most: str  #: the one whose value changed most, and how


class Way(NamedTuple):
    """The switches from one number to another; their changes add up to the difference."""

    start: Measurement
    end: Measurement
    steps: list[Step]
    unchanged: list[str]  #: in words, the switches that change nothing on these frames
    notes: list[str]  #: why several decisions were switched at once


def walk(source: Source, ours: Variant, other_source: Source, theirs: Variant, k: int | None) -> Way:
    """Switch one decision after the other; a switch that gives no number alone is made together with the next."""
    start = now = ours.measure(source, k)
    theirs.measure(other_source, k)  # what a library refuses is told before the way to it
    # No library computes what is between the two ends, so nothing is refused there.
    variant, goal = replace(ours, preset=None), replace(theirs, preset=None)
    way, waiting, reason = Way(start, now, [], [], []), list[tuple[str, str, str]](), ""
    for axis in [*([] if other_source is source else ["frames"]), *ours.differing_axes(theirs)]:
        if axis == "frames":
            source, was, becomes = other_source, _("the frames of the first"), _("the frames of the second")
        elif axis not in variant.differing_axes(goal):  # options come with their metric
            continue
        else:
            was, variant = variant.words(axis), variant.taking(axis, goal)
            becomes = variant.words(axis)
        waiting.append((axis, was, becomes))
        is_last = not variant.differing_axes(goal)
        try:
            after = variant.measure(source, k)
            problem = "" if is_last or isfinite(after.value) else _("it is NaN")
        except RecnbError as error:
            if is_last:
                raise
            after, problem = now, error.problem.rstrip(".:")
        if problem:
            reason = reason or _("{now} alone gives no number: {problem}", now=becomes, problem=problem)
            continue
        change, (n_moved, most) = after.value - now.value, _moved(now, after)
        if n_moved == 0 and abs(change) <= SAME:
            way.unchanged.extend(f"{before} → {words}" for _axis, before, words in waiting)
        else:
            axes, befores, words = zip(*waiting, strict=True)
            way.steps.append(Step(axes, "; ".join(befores), "; ".join(words), after.value, change, n_moved, most))
            if len(waiting) > 1 and reason:
                way.notes.append(_("switched together, since {reason}", reason=reason))
        # The value that is shown last is the one that the next change starts from.
        now, waiting, reason = after, [], ""
    return way._replace(end=now)


def _moved(before: Measurement, after: Measurement) -> tuple[int, str]:
    """Count the users whose values changed, those who come or go among them, and say whose changed most."""
    users = distinct(pl.concat([before.users, after.users]))
    a, b = (np.append(one.values, np.nan)[positions(one.users, users)] for one in (before, after))
    apart, change = np.isnan(a) != np.isnan(b), np.abs(np.nan_to_num(b) - np.nan_to_num(a))
    moved = np.flatnonzero(apart | (change > SAME))
    if len(moved) == 0:
        return 0, ""
    # Of equal changes, users who count before and after come first: they show what changed in a list.
    most = moved[np.lexsort((moved, apart[moved], -change[moved]))[0]]
    values = " → ".join(_("not counted") if isnan(value) else f"{value:.4f}" for value in (a[most], b[most]))
    return len(moved), f"{one_line(repr(users[int(most)]))}: {values}"


def why(evaluation: EvaluationData, metric: str, k: int | None, other: Any, **options: Any) -> Table:
    """Explain the difference between an evaluation's number and another; the arguments are those of `Evaluation.why`."""
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    source, ours = evaluation.source, Variant.of_evaluation(evaluation, chosen, options)
    other_source, theirs = _other_side(source, ours, other, options)
    way, label, names = walk(source, ours, other_source, theirs, k), chosen.label(k), [one_line(one.name) for one in (ours, theirs)]  # fmt: skip
    start, end = way.start, way.end
    rows = [("", "", names[0], start.value, np.nan, len(start.users), "")]
    rows += [(", ".join(step.axes), *step[1:]) for step in way.steps]
    n, n_end = (int(np.count_nonzero(~np.isnan(one.values))) for one in (start, end))
    notes = [
        f"{label}: {start.value:.4f} {names[0]}, {end.value:.4f} {names[1]}, {end.value - start.value:+.4f}",
        ngettext("{n:,} user", "{n:,} users", n) if n == n_end else _("{n:,} users at the start, {other:,} at the end", n=n, other=n_end),
        *way.notes,
    ]  # fmt: skip
    if way.unchanged:
        notes.append(_("Differs, and changes nothing on these frames: {what}", what="; ".join(way.unchanged)))
    notes += dict.fromkeys([*lacking_in(source, [ours]), *lacking_in(other_source, [theirs])])
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS)).set_index("decision")
    return VariantTable.made(frame, notes, _("why {label} differs", label=label))


def _other_side(source: Source, ours: Variant, other: Any, options: dict[str, Any]) -> tuple[Source, Variant]:
    """Return the frames and the definition of the number to which the difference is explained."""
    chosen = metric_named(ours.metric)
    if isinstance(other, str) and other != "recnb":
        return source, Variant.of_preset(recorded(chosen.name, other))
    if isinstance(other, (Convention, str)):
        given, name = (Convention(), other) if isinstance(other, str) else (other, _("the other convention"))
        return source, Variant.made(name, source.under(given).convention, chosen, {**options, **dict(given.metric)})
    if isinstance(other, EvaluationData):
        second, theirs = other.source, Variant.of_evaluation(other, chosen, options)
        name = _("the other evaluation") if theirs.name == ours.name else theirs.name
        same = source.recs.equals(second.recs) and source.truth.equals(second.truth)
        return source if same else second, replace(theirs, name=name)
    printed = "for the convention behind a printed number type .identify(metric, number), or " if is_number(other) else ""  # fmt: skip
    raise OptionError(f"other={quoted(other)}: {printed}name the library that gives the other number, such as other='rectools', or give a Convention or an Evaluation.")  # fmt: skip
