"""How numbers of libraries differ: `why`, one decision after the other; `spread`, all
of them; `identify`, those printed like one.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import groupby
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention
from recnb.conventions.presets import of_metric, recorded
from recnb.data import Source
from recnb.data.encoding import distinct, positions
from recnb.display.language import N_, _
from recnb.display.progress import steps
from recnb.display.text import one_line, users_in_words
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.refusals import NoRuleError
from recnb.libraries.variant import (
    AGREE,
    Measurement,
    Variant,
    VariantTable,
    lacking_in,
)
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS, Metric
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


def walk(
    source: Source, ours: Variant, other_source: Source, theirs: Variant, k: int | None
) -> Way:
    """Switch one decision after the other; a switch that gives no number alone is made
    together with the next.
    """
    start = now = ours.measure(source, k)
    theirs.measure(
        other_source, k
    )  # what a library refuses is told before the way to it
    # No library computes what is between the two ends, so nothing is refused there.
    variant, goal = replace(ours, preset=None), replace(theirs, preset=None)
    way, waiting, reason = Way(start, now, [], [], []), list[tuple[str, str, str]](), ""
    for axis in [
        *([] if other_source is source else ["frames"]),
        *ours.differing_axes(theirs),
    ]:
        if axis == "frames":
            source, was, becomes = (
                other_source,
                _("the frames of the first"),
                _("the frames of the second"),
            )
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
            reason = reason or _(
                "{now} alone gives no number: {problem}", now=becomes, problem=problem
            )
            continue
        change, (n_moved, most) = after.value - now.value, _moved(now, after)
        if n_moved == 0 and abs(change) <= SAME:
            way.unchanged.extend(
                f"{before} → {words}" for _axis, before, words in waiting
            )
        else:
            axes, befores, words = zip(*waiting, strict=True)
            way.steps.append(
                Step(
                    axes,
                    "; ".join(befores),
                    "; ".join(words),
                    after.value,
                    change,
                    n_moved,
                    most,
                )
            )
            if len(waiting) > 1 and reason:
                way.notes.append(_("switched together, since {reason}", reason=reason))
        # The value that is shown last is the one that the next change starts from.
        now, waiting, reason = after, [], ""
    return way._replace(end=now)


def _moved(before: Measurement, after: Measurement) -> tuple[int, str]:
    """Count the users whose values changed, those who come or go among them, and say
    whose changed most.
    """
    users = distinct(pl.concat([before.users, after.users]))
    a, b = (
        np.append(one.values, np.nan)[positions(one.users, users)]
        for one in (before, after)
    )
    apart, change = (
        np.isnan(a) != np.isnan(b),
        np.abs(np.nan_to_num(b) - np.nan_to_num(a)),
    )
    moved = np.flatnonzero(apart | (change > SAME))
    if len(moved) == 0:
        return 0, ""
    # Of equal changes, users who count before and after come first: they show what
    # changed in a list.
    most = moved[np.lexsort((moved, apart[moved], -change[moved]))[0]]
    values = " → ".join(
        _("not counted") if isnan(value) else f"{value:.4f}"
        for value in (a[most], b[most])
    )
    return len(moved), f"{one_line(repr(users[int(most)]))}: {values}"


def refuse_weights(evaluation: EvaluationData) -> None:
    """Refuse weights, which no library has."""
    if evaluation.source.weighted or evaluation.source.user_weights is not None:
        raise OptionError(
            "no library has weights: leave out propensity= and user_weight= for its numbers."
        )


def why(
    evaluation: EvaluationData, metric: Any, k: int | None, other: Any, **options: Any
) -> Table:
    """Explain the difference between an evaluation's number and another; the arguments
    are those of `Evaluation.why`.
    """
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    refuse_weights(evaluation)
    source = evaluation.source
    ours = Variant.of_evaluation(evaluation, chosen, k, options)
    other_source, theirs = _other_side(source, ours, other, k, options)
    way, label, names = (
        walk(source, ours, other_source, theirs, k),
        chosen.label(k),
        [one_line(one.name) for one in (ours, theirs)],
    )
    start, end = way.start, way.end
    rows = [("", "", names[0], start.value, np.nan, len(start.users), "")]
    rows += [(", ".join(step.axes), *step[1:]) for step in way.steps]
    n, n_end = (int(np.count_nonzero(~np.isnan(one.values))) for one in (start, end))
    notes = [
        (
            f"{label}: {start.value:.4f} {names[0]}, {end.value:.4f} {names[1]}, "
            f"{end.value - start.value:+.4f}"
        ),
        users_in_words(n)
        if n == n_end
        else _("{n:,} users at the start, {other:,} at the end", n=n, other=n_end),
        *way.notes,
    ]
    if way.unchanged:
        notes.append(
            _(
                "Differs, and changes nothing on these frames: {what}",
                what="; ".join(way.unchanged),
            )
        )
    notes += dict.fromkeys(
        [*lacking_in(source, [ours]), *lacking_in(other_source, [theirs])]
    )
    frame = pd.DataFrame(rows, columns=pd.Index(COLUMNS)).set_index("decision")
    return VariantTable.made(frame, notes, _("why {label} differs", label=label))


def _other_side(
    source: Source,
    ours: Variant,
    other: Any,
    k: int | None,
    options: dict[str, Any],
) -> tuple[Source, Variant]:
    """Return the frames and the definition of the number to which the difference is
    explained.
    """
    chosen = metric_named(ours.metric)
    if isinstance(other, str) and other != "recnb":
        return source, Variant.of_preset(recorded(chosen.name, other).at(k))
    if isinstance(other, (Convention, str)):
        given, name = (
            (Convention(), other)
            if isinstance(other, str)
            else (other, _("the other convention"))
        )
        convention = source.under(given).convention
        return source, Variant.made(
            name,
            convention.without_k() if k is None else convention,
            chosen,
            {**options, **dict(given.metric)},
        )
    if isinstance(other, EvaluationData):
        second = other.source
        theirs = Variant.of_evaluation(other, chosen, k, options)
        name = _("the other evaluation") if theirs.name == ours.name else theirs.name
        same = source.recs.equals(second.recs) and source.truth.equals(second.truth)
        return source if same else second, replace(theirs, name=name)
    printed = (
        "for the convention behind a printed number type .identify(metric, number), or "
        if is_number(other)
        else ""
    )
    raise OptionError(
        f"other={quoted(other)}: {printed}name the library that gives the other "
        f"number, such as other='rectools', or give a Convention or an Evaluation."
    )


#: How a number fits the printed one, the better first.
FITS = (
    N_("rounds to it"),
    N_("only if cut off, not rounded"),
    N_("one of the nearest"),
)
#: Conventions of which nobody can say whether they give a number.
NOT_EXCLUDED = N_(
    "not excluded, since their numbers for these frames follow no recorded rule: {names}"
)
#: How many of the nearest numbers are shown.
NEAREST = 5


def _numbers(
    evaluation: EvaluationData,
    metric: Metric[...],
    k: int | None,
    options: dict[str, Any],
) -> tuple[Source, dict[Variant, Measurement | RecnbError], list[str]]:
    """Compute ours, and that of each library, in the order of presets; and say which
    columns are lacking.
    """
    refuse_weights(evaluation)
    source = evaluation.source
    ours = Variant.of_evaluation(evaluation, metric, k, options)
    variants, found = [ours], dict[Variant, Measurement | RecnbError]()
    for preset in of_metric(metric.name):
        try:
            variants.append(Variant.of_preset(preset.at(k)))
        except OptionError as error:  # it always cuts, and is asked without a cut-off
            variants.append(Variant.of_preset(preset))
            found[variants[-1]] = error
    # Variants that read the data alike follow each other, and share the join.
    of_data = {
        one: repr(one.convention.with_metric({})) for one in variants
    }.__getitem__
    groups = [
        list(group)
        for _convention, group in groupby(sorted(variants, key=of_data), key=of_data)
    ]
    for group in steps(groups, _("conventions tried")):
        for variant in group:
            if variant in found:
                continue
            try:
                found[variant] = variant.measure(source, k)
            except RecnbError as error:
                found[variant] = error
        source.forget()
    return source, {one: found[one] for one in variants}, lacking_in(source, variants)


def spread(
    evaluation: EvaluationData, metric: Any, k: int | None, **options: Any
) -> Table:
    """Compute the numbers of all libraries, in each of their variants; the arguments
    are those of `Evaluation.spread`.
    """
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    source, found, notes = _numbers(evaluation, chosen, k, options)
    ours, *others = found
    if not others:
        raise OptionError(
            f"no library's {chosen.name} is recorded, so there is nothing to "
            f"spread: try 'ndcg' or 'recall'."
        )
    mine, label = ours.measure(source, k), chosen.label(k)
    values, otherwise = dict.fromkeys(found, nan), dict.fromkeys(found, "")
    for one, number in found.items():
        if isinstance(number, RecnbError):
            otherwise[one] = str(number).removeprefix(f"{one.name} ")
        else:
            values[one] = number.value
    for group in _agreeing({one: values[one] for one in others}):
        # What differs and matters is the same for all: the switches to the one with the
        # fewest decisions of its own.
        simplest = min(group, key=lambda one: len(ours.differing_axes(one)))
        if abs(values[simplest] - mine.value) > AGREE:
            steps = walk(source, ours, source, simplest, k).steps
            otherwise |= dict.fromkeys(group, "; ".join(step.now for step in steps))
        source.forget()
    columns = {"otherwise": [*otherwise.values()], "value": [*values.values()]}
    frame = pd.DataFrame(columns, pd.Index([one.name for one in found], name="library"))
    frame["difference"] = frame["value"] - mine.value
    finite = [value for value in values.values() if isfinite(value)]
    ends = {
        "low": f"{min(finite, default=nan):.4f}",
        "high": f"{max(finite, default=nan):.4f}",
    }
    headline = _(
        "{label}: {n} different numbers from {all}, {low} to {high}",
        label=label,
        n=len(_agreeing(values)),
        all=len(finite),
        **ends,
    )
    users = users_in_words(len(mine.users))
    phrases = ours.convention.phrases(graded="relevance" in source.truth.columns)
    basis = [headline, f"{ours.name}: {users}", *phrases, *notes]
    return VariantTable.made(
        frame.sort_values("value", kind="stable"),
        basis,
        _("{label} by library", label=label),
    )


def _agreeing(values: dict[Variant, float]) -> list[list[Variant]]:
    """Return the variants that have a number in groups whose numbers agree."""
    groups: list[list[Variant]] = []
    for one in sorted(
        (one for one in values if isfinite(values[one])), key=values.__getitem__
    ):
        if groups and values[one] - values[groups[-1][0]] <= AGREE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def identify(
    evaluation: EvaluationData, metric: Any, value: Any, k: int | None, **options: Any
) -> Table:
    """Find the conventions that give a printed number; the arguments are those of
    `Evaluation.identify`.
    """
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    printed, digits = printed_number(value)
    _source, found, notes = _numbers(evaluation, chosen, k, options)
    unit = 10.0**-digits
    rows = []
    for one, number in found.items():
        if not isinstance(number, RecnbError) and isfinite(number.value):
            slack, apart = (
                max(AGREE, one.preset.tolerance if one.preset else 0),
                number.value - printed,
            )
            outward = apart if printed >= 0 else -apart
            fit = (
                0
                if abs(apart) <= 0.5 * unit + slack
                else 1
                if -slack <= outward < unit - slack
                else 2
            )
            rows.append(
                (fit, abs(apart) if fit == 2 else 0.0, one.name, number.value, apart)
            )
    rows.sort(key=lambda row: row[:2])
    fitting = [row for row in rows if row[0] < 2]
    shown = [
        (name, value, apart, _(FITS[fit]))
        for fit, _far, name, value, apart in fitting or rows[:NEAREST]
    ]
    frame = pd.DataFrame(
        shown, columns=pd.Index(["convention", "value", "difference", "fit"])
    ).set_index("convention")
    said = _(
        "{label} printed as {value}",
        label=chosen.label(k),
        value=f"{printed:.{digits}f}",
    )
    headline = (
        N_("{printed}: {found:,} conventions of {n:,} give it")
        if fitting
        else N_("{printed}: none of {n:,} conventions gives it; here are the nearest")
    )
    n_numbers = sum(not isinstance(number, RecnbError) for number in found.values())
    headline = _(headline, printed=said, found=len(fitting), n=n_numbers)
    open_ones = [
        one.name for one, number in found.items() if isinstance(number, NoRuleError)
    ]
    if open_ones:
        names = ", ".join(open_ones)
        notes = [_(NOT_EXCLUDED, n=len(open_ones), names=names), *notes]
    return VariantTable.made(
        frame,
        [headline, *notes],
        _("which convention prints {label}", label=chosen.label(k)),
    )


def printed_number(value: Any) -> tuple[float, int]:
    """Return a number as it was printed, and its decimals; a float is read as Python
    writes it.
    """
    text = (
        value.strip()
        if isinstance(value, str)
        else repr(float(value))
        if is_number(value)
        else ""
    )
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
