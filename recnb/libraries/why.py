"""`why`: from one number to another, one decision after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import numpy as np
import pandas as pd

from recnb.conventions import Convention
from recnb.conventions.presets import recorded
from recnb.data import Source
from recnb.data.ids import each_once
from recnb.display.language import N_, _
from recnb.display.text import fixed, one_line, signed, users_in_words
from recnb.errors import OptionError, RecnbError, quoted
from recnb.libraries.number import (
    Measurement,
    Variant,
    caveats_of,
    lacking_in,
    refuse_weights,
)
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import METRICS, Given
from recnb.results.evaluation_data import EvaluationData
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.stats import ROUNDING

COLUMNS = ["decision", "from", "to", "value", "change", "n_moved", "moved_most"]

#: The axis on which two evaluations have other frames.
FRAMES = "frames"

TOGETHER = N_("switched together, since {now} alone gives no number: {problem}")
UNCHANGED = N_("Differs, and changes nothing on these frames: {what}")


def why(
    evaluation: EvaluationData, metric: Any, k: int | None, other: Any, **options: Any
) -> Table:
    """Explain the difference between an evaluation's number and another.

    The arguments are those of `Evaluation.why`.
    """
    measure = measure_named(metric, METRICS).with_options(options).cut_at(k)
    k = measure.k
    refuse_weights(evaluation)
    source = evaluation.source
    ours = Variant.of_evaluation(evaluation, measure)
    other_source, theirs = _other_side(source, ours, other, k, options)
    start = ours.measure(source, k)
    end = theirs.measure(other_source, k)  # what a library refuses is raised first
    axes = ours.differing_axes(theirs)
    if other_source is not source:
        axes.insert(0, FRAMES)
    first_row = ("", "", ours.name, start.value, np.nan, 0, "")
    rows, notes = walk(axes, ours, theirs, start, end, other_source, k)
    numbers = f"{fixed(start.value)} {ours.name}, {fixed(end.value)} {theirs.name}"
    headline = f"{measure.label}: {numbers}, {signed(end.value - start.value)}"
    lacking = [*lacking_in(source, [ours]), *lacking_in(other_source, [theirs])]
    notes = [headline, _users_of(start, end), *notes, *caveats_of([theirs])]
    notes += dict.fromkeys(lacking)
    frame = pd.DataFrame([first_row, *rows], columns=pd.Index(COLUMNS))
    shown = Shown(
        title=_("why {label} differs", label=measure.label),
        basis=notes,
        cells={
            "from": "words",
            "to": "words",
            "change": "signed",
            "moved_most": "words",
        },
    )
    return Table(frame.set_index("decision"), shown=shown)


def walk(
    axes: Sequence[str],
    ours: Variant,
    theirs: Variant,
    start: Measurement,
    end: Measurement,
    source: Source,
    k: int | None,
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Take over one decision after the other, and measure after each.

    Returned are rows, whose changes add up to the difference, and what is said below
    them: of decisions that change nothing, and of those that give no number alone, which
    are taken over together with the next.
    """
    rows: list[tuple[Any, ...]] = []
    notes: list[str] = []
    unchanged: list[str] = []
    variant = replace(ours, preset=None)  # no library computes what is between
    number = start
    taken: list[tuple[str, str, str]] = []  # decision, ours and theirs, not yet a row
    for axis in axes:
        if axis == FRAMES:
            words = _("the frames of the first"), _("the frames of the second")
        else:
            before, variant = variant, variant.taking(axis, theirs)
            words = before.words(axis), variant.words(axis)
        taken.append((axis, *words))
        after = end if axis == axes[-1] else _number(variant, source, k)
        if isinstance(after, str):
            if len(taken) == 1:
                notes.append(_(TOGETHER, now=words[1], problem=after))
            continue
        change = after.value - number.value
        n_moved, most = _moved(number, after)
        if n_moved == 0:
            unchanged += [f"{one} → {other}" for _axis, one, other in taken]
        else:
            decisions, our_words, their_words = zip(*taken, strict=True)
            cells = ", ".join(decisions), "; ".join(our_words), "; ".join(their_words)
            rows.append((*cells, after.value, change, n_moved, most))
        number, taken = after, []
    if unchanged:
        notes.append(_(UNCHANGED, what="; ".join(unchanged)))
    return rows, notes


def _number(variant: Variant, source: Source, k: int | None) -> Measurement | str:
    """Measure a number between the two ends, or say why there is none."""
    try:
        number = variant.measure(source, k)
    except RecnbError as error:
        return str(error).rstrip(".")
    return number if isfinite(number.value) else _("it is NaN")


def _moved(before: Measurement, after: Measurement) -> tuple[int, str]:
    """Count the users whose values changed, and say whose changed most.

    Those who come or go are among them.
    """
    users = each_once(before.users, after.users)
    old = before.values_of(users)
    new = after.values_of(users)
    comes_or_goes = np.isnan(old) != np.isnan(new)
    change = np.abs(np.nan_to_num(new) - np.nan_to_num(old))
    moved = np.flatnonzero(comes_or_goes | (change > ROUNDING))
    if len(moved) == 0:
        return 0, ""
    # Of equal changes, users who count before and after come first: they show what
    # changed in a list.
    largest_first = np.lexsort((moved, comes_or_goes[moved], -change[moved]))
    most = int(moved[largest_first[0]])
    user = one_line(repr(users[most]))
    return len(moved), f"{user}: {_value(old[most])} → {_value(new[most])}"


def _value(value: float) -> str:
    return _("not counted") if isnan(value) else f"{value:.4f}"


def _users_of(start: Measurement, end: Measurement) -> str:
    """Say how many users the numbers are of."""
    users = users_in_words(start.n_counted)
    if start.n_counted == end.n_counted:
        return users
    return _("{start} at the start, {end:,} at the end", start=users, end=end.n_counted)


def _other_side(
    source: Source,
    ours: Variant,
    other: Any,
    k: int | None,
    options: Given,
) -> tuple[Source, Variant]:
    """Return the frames and the definition of the number that is the other side.

    The frames are ours if they are the same.
    """
    if isinstance(other, str):
        preset = recorded(ours.metric.name, other).at(k)
        return source, Variant.of_preset(preset)
    if isinstance(other, Convention):
        convention = source.under(other).convention
        options = {**options, **dict(other.metric)}
        name = _("the other convention")
        return source, Variant.made(name, convention, ours.metric, options)
    if isinstance(other, EvaluationData):
        second = other.source
        theirs = Variant.of_evaluation(other, Measure(ours.metric, options, k))
        if theirs.name == ours.name:
            theirs = replace(theirs, name=_("the other evaluation"))
        is_same = source.recs_rows.equals(
            second.recs_rows
        ) and source.truth_rows.equals(second.truth_rows)
        return source if is_same else second, theirs
    raise OptionError(
        f"other={quoted(other)}: name the library that gives the other number, such as "
        f"other='rectools', or give a Convention or an Evaluation."
    )
