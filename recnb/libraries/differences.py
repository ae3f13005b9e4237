"""How numbers of libraries differ: `why` and `identify`.

`why` changes one decision after the other; `identify` finds the conventions of a printed
number.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import groupby
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recnb.conventions import Convention
from recnb.conventions.presets import of_metric, recorded
from recnb.data import Source
from recnb.data.ids import each_once
from recnb.data.source import EmptyTruthError
from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.display.text import one_line, users_in_words
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.variant import (
    AGREE,
    Measurement,
    Variant,
    VariantTable,
    caveats_of,
    lacking_in,
)
from recnb.metrics.measure import Measure, measure_named, metric_named
from recnb.metrics.metric import METRICS, Given
from recnb.results.evaluation_data import EvaluationData
from recnb.results.numbers import SAME
from recnb.results.table import Table

COLUMNS = ["decision", "from", "to", "value", "change", "n_moved", "moved_most"]


class Switch(NamedTuple):
    """One decision changed to another's."""

    axis: str
    before: str  #: in words
    after: str


class Step(NamedTuple):
    """One or more switches made together.

    Usually of one decision, of several if one alone gives no number.
    """

    switches: list[Switch]
    value: float  #: after them
    change: float
    n_moved: int  #: users whose values changed
    most: str  #: the one whose value changed most, and how

    @property
    def cells(self) -> tuple[str, str, str, float, float, int, str]:
        """Its row in the table of `why`."""
        return (
            ", ".join(switch.axis for switch in self.switches),
            "; ".join(switch.before for switch in self.switches),
            "; ".join(switch.after for switch in self.switches),
            self.value,
            self.change,
            self.n_moved,
            self.most,
        )


class Way:
    """The switches from one number to another; their changes add up to the difference.

    A switch that gives no number alone is made together with the next.
    """

    def __init__(self, start: Measurement, k: int | None) -> None:
        self.start = self.end = start
        self.k = k
        self.steps: list[Step] = []
        self.unchanged: list[str] = []
        self.notes: list[str] = []
        self.waiting: list[Switch] = []  #: made, without a number yet
        self.reason = ""  #: why the first of them gives no number

    def take(
        self, switch: Switch, variant: Variant, source: Source, *, is_last: bool
    ) -> None:
        """Make a switch, after which the number is this variant's on these frames."""
        self.waiting.append(switch)
        try:
            after = variant.measure(source, self.k)
        except RecnbError as error:
            if is_last:
                raise
            self._wait(str(error).rstrip("."))
            return
        if not is_last and not isfinite(after.value):
            self._wait(_("it is NaN"))
            return
        self._arrive(after)

    def _wait(self, problem: str) -> None:
        if not self.reason:
            words = N_("{now} alone gives no number: {problem}")
            self.reason = _(words, now=self.waiting[-1].after, problem=problem)

    def _arrive(self, after: Measurement) -> None:
        """Put down what the switches that waited change."""
        change = after.value - self.end.value
        n_moved, most = _moved(self.end, after)
        if n_moved == 0 and abs(change) <= SAME:
            for switch in self.waiting:
                self.unchanged.append(f"{switch.before} → {switch.after}")
        else:
            self.steps.append(Step(self.waiting, after.value, change, n_moved, most))
            if len(self.waiting) > 1 and self.reason:
                self.notes.append(
                    _("switched together, since {reason}", reason=self.reason)
                )
        # The value that is shown last is the one that the next change starts from.
        self.end = after
        self.waiting, self.reason = [], ""


def walk(
    source: Source, ours: Variant, other_source: Source, theirs: Variant, k: int | None
) -> Way:
    """Switch one decision after the other."""
    way = Way(ours.measure(source, k), k)
    # What a library refuses is raised before the way to it.
    theirs.measure(other_source, k)
    # No library computes what is between the two ends, so nothing is refused there.
    variant = replace(ours, preset=None)
    goal = replace(theirs, preset=None)
    axes = ours.differing_axes(theirs)
    if other_source is not source:
        source = other_source
        of_frames = Switch(
            "frames", _("the frames of the first"), _("the frames of the second")
        )
        way.take(of_frames, variant, source, is_last=not axes)
    for axis in axes:
        if axis not in variant.differing_axes(goal):  # options come with their metric
            continue
        before = variant.words(axis)
        variant = variant.taking(axis, goal)
        switch = Switch(axis, before, variant.words(axis))
        is_last = not variant.differing_axes(goal)
        way.take(switch, variant, source, is_last=is_last)
    return way


def _moved(before: Measurement, after: Measurement) -> tuple[int, str]:
    """Count the users whose values changed, and say whose changed most.

    Those who come or go are among them.
    """
    users = each_once(before.users, after.users)
    old = before.values_of(users)
    new = after.values_of(users)
    comes_or_goes = np.isnan(old) != np.isnan(new)
    change = np.abs(np.nan_to_num(new) - np.nan_to_num(old))
    moved = np.flatnonzero(comes_or_goes | (change > SAME))
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


def refuse_weights(evaluation: EvaluationData) -> None:
    """Refuse weights, which no library has."""
    if evaluation.source.weighted or evaluation.source.user_weights is not None:
        raise OptionError(
            "no library has weights: leave out propensity= and user_weight= for its numbers."
        )


def why(
    evaluation: EvaluationData, metric: Any, k: int | None, other: Any, **options: Any
) -> Table:
    """Explain the difference between an evaluation's number and another.

    The arguments are those of `Evaluation.why`.
    """
    measure = measure_named(metric, METRICS).cut_at(k).with_options(options)
    k = measure.k
    refuse_weights(evaluation)
    source = evaluation.source
    ours = Variant.of_evaluation(evaluation, measure)
    other_source, theirs = _other_side(source, ours, other, k, options)
    way = walk(source, ours, other_source, theirs, k)
    label = measure.label
    start, end = way.start, way.end
    our_name, their_name = one_line(ours.name), one_line(theirs.name)
    first = ("", "", our_name, start.value, np.nan, len(start.users), "")
    rows = [first, *(step.cells for step in way.steps)]
    numbers = f"{start.value:.4f} {our_name}, {end.value:.4f} {their_name}"
    headline = f"{label}: {numbers}, {end.value - start.value:+.4f}"
    notes = [headline, _users_of(start, end), *way.notes]
    if way.unchanged:
        words = N_("Differs, and changes nothing on these frames: {what}")
        notes.append(_(words, what="; ".join(way.unchanged)))
    notes += caveats_of([theirs])
    lacking = [*lacking_in(source, [ours]), *lacking_in(other_source, [theirs])]
    notes += dict.fromkeys(lacking)
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS)).set_index("decision")
    return VariantTable.made(frame, notes, _("why {label} differs", label=label))


def _users_of(start: Measurement, end: Measurement) -> str:
    """Say how many users the numbers are of."""
    if start.n_counted == end.n_counted:
        return users_in_words(start.n_counted)
    words = N_("{n:,} users at the start, {other:,} at the end")
    return _(words, n=start.n_counted, other=end.n_counted)


def _other_side(
    source: Source,
    ours: Variant,
    other: Any,
    k: int | None,
    options: dict[str, Any],
) -> tuple[Source, Variant]:
    """Return the frames and the definition of the number that is the other side."""
    if isinstance(other, str) and other != "recnb":
        preset = recorded(metric_named(ours.metric).name, other).at(k)
        return source, Variant.of_preset(preset)
    if isinstance(other, str):
        return source, _variant_under(source, Convention(), other, ours, k, options)
    if isinstance(other, Convention):
        name = _("the other convention")
        return source, _variant_under(source, other, name, ours, k, options)
    if isinstance(other, EvaluationData):
        return _side_of_evaluation(source, ours, other, k, options)
    problem = f"other={quoted(other)}: "
    if is_number(other):
        problem += (
            "for the convention behind a printed number type "
            ".identify(metric, number), or "
        )
    raise OptionError(
        f"{problem}name the library that gives the other number, such as "
        f"other='rectools', or give a Convention or an Evaluation."
    )


def _variant_under(
    source: Source,
    given: Convention,
    name: str,
    ours: Variant,
    k: int | None,
    options: Given,
) -> Variant:
    """Return the definition of our metric under another convention."""
    convention = source.under(given).convention
    options = {**options, **dict(given.metric)}
    return Variant.made(name, convention, metric_named(ours.metric), options)


def _side_of_evaluation(
    source: Source,
    ours: Variant,
    other: EvaluationData,
    k: int | None,
    options: Given,
) -> tuple[Source, Variant]:
    """Return the frames of another evaluation, and its definition of our metric.

    The frames are ours if they are the same.
    """
    second = other.source
    measure = Measure(metric_named(ours.metric), options, k)
    theirs = Variant.of_evaluation(other, measure)
    if theirs.name == ours.name:
        theirs = replace(theirs, name=_("the other evaluation"))
    if source.recs.equals(second.recs) and source.truth.equals(second.truth):
        return source, theirs
    return second, theirs


#: How a number fits the printed one.
ROUNDS = N_("rounds to it")
CUT_OFF = N_("only if cut off, not rounded")
NEAR = N_("one of the nearest")
#: The better first.
FITS = (ROUNDS, CUT_OFF, NEAR)
#: What stands above each column.
HEADINGS = {
    "convention": N_("convention"),
    "value": N_("value"),
    "difference": N_("difference"),
    "fit": N_("fit"),
}
#: How many of the nearest numbers are shown.
N_NEAREST = 5
SOME_FIT = N_("{printed}: {found:,} conventions of {n:,} give it")
NONE_FITS = N_("{printed}: none of {n:,} conventions gives it; here are the nearest")
#: Conventions that count users for whom the truth has no row.
NOT_TRIED = N_("not tried, since they count users whose truth is empty: {names}")


def identify(
    evaluation: EvaluationData, metric: Any, value: Any, k: int | None, **options: Any
) -> Table:
    """Find the conventions that give a printed number.

    The arguments are those of `Evaluation.identify`.
    """
    measure = measure_named(metric, METRICS).cut_at(k).with_options(options)
    k = measure.k
    printed, digits = printed_number(value)
    refuse_weights(evaluation)
    source = evaluation.source
    variants = [Variant.of_evaluation(evaluation, measure)]
    for preset in of_metric(measure.name):
        # Without k, a library that always cuts has no number.
        with suppress(OptionError):
            variants.append(Variant.of_preset(preset.at(k)))
    numbers = _numbers(source, variants, k)
    candidates = list[Candidate]()
    not_tried = list[str]()
    for variant, number in numbers.items():
        if isinstance(number, EmptyTruthError):
            not_tried.append(variant.name)
        elif isinstance(number, Measurement) and isfinite(number.value):
            candidates.append(_candidate(variant, number.value, printed, digits))
    candidates.sort(key=_nearness)
    fitting = [candidate for candidate in candidates if candidate.fit != NEAR]
    label = measure.label
    n_numbers = sum(isinstance(number, Measurement) for number in numbers.values())
    value_words = _(
        "{label} printed as {value}", label=label, value=f"{printed:.{digits}f}"
    )
    headline = SOME_FIT if fitting else NONE_FITS
    notes = [_(headline, printed=value_words, found=len(fitting), n=n_numbers)]
    if not_tried:
        notes.append(_(NOT_TRIED, names=", ".join(not_tried)))
    named = {candidate.convention for candidate in fitting}
    notes += caveats_of(variant for variant in variants if variant.name in named)
    notes += lacking_in(source, variants)
    frame = pd.DataFrame(fitting or candidates[:N_NEAREST], columns=Candidate._fields)
    frame["fit"] = [_(fit) for fit in frame["fit"]]
    title = _("which convention prints {label}", label=label)
    table = VariantTable.made(frame.set_index("convention"), notes, title)
    table.attrs["headings"] = {name: _(HEADINGS[name]) for name in Candidate._fields}
    return table


class Candidate(NamedTuple):
    """A convention and how its number fits one that was printed."""

    convention: str
    value: float
    difference: float
    fit: str


def _candidate(
    variant: Variant, value: float, printed: float, digits: int
) -> Candidate:
    slack = AGREE
    if variant.preset is not None:
        slack = max(AGREE, variant.preset.tolerance)
    unit = 10.0**-digits
    difference = value - printed
    lost = difference if printed >= 0 else -difference  # by cutting digits off
    fit = NEAR
    if abs(difference) <= 0.5 * unit + slack:
        fit = ROUNDS
    elif -slack <= lost < unit - slack:
        fit = CUT_OFF
    return Candidate(variant.name, value, difference, fit)


def _nearness(candidate: Candidate) -> tuple[int, float]:
    far = abs(candidate.difference) if candidate.fit == NEAR else 0.0
    return FITS.index(candidate.fit), far


def _numbers(
    source: Source, variants: Sequence[Variant], k: int | None
) -> dict[Variant, Measurement | RecnbError]:
    """Compute the number of each variant, or find the error that its data raise."""
    numbers: dict[Variant, Measurement | RecnbError] = {}

    def data_of(variant: Variant) -> str:
        return repr(variant.convention.with_metric({}))

    # Variants that read the data alike follow each other, and share the join.
    by_data = groupby(sorted(variants, key=data_of), data_of)
    groups = [list(group) for _data, group in by_data]
    for group in steps(groups, _("conventions tried")):
        for variant in group:
            try:
                numbers[variant] = variant.measure(source, k)
            except RecnbError as error:
                numbers[variant] = error
        source.forget()
    return {variant: numbers[variant] for variant in variants}


def printed_number(value: Any) -> tuple[float, int]:
    """Return a number as it was printed, and its decimals.

    A float is read as Python writes it.
    """
    text = ""
    if isinstance(value, str):
        text = value.strip()
    elif is_number(value):
        text = repr(float(value))
    try:
        number = Decimal(text.rstrip("%"))
    except InvalidOperation:
        number = Decimal("NaN")
    decimals = number.as_tuple().exponent
    if not isinstance(decimals, int):
        raise OptionError(
            f"{quoted(value)} is no printed number: give it as it is printed, "
            f"such as '0.3680' or 0.368."
        )
    percent = text.endswith("%")
    return float(number / 100 if percent else number), max(0, -decimals) + 2 * percent
