"""`identify`: the conventions that give a printed number."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import groupby
from math import isfinite
from typing import Any

import pandas as pd

from recnb.conventions.presets import of_metric
from recnb.data import Source
from recnb.display.language import N_, _
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.number import (
    Variant,
    caveats_of,
    lacking_in,
    refuse_weights,
)
from recnb.metrics.measure import Measure, measure_named
from recnb.metrics.metric import METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.shown import Shown
from recnb.results.table import Table

#: Numbers nearer than this agree.
AGREE = 1e-9
#: How a number fits the printed one.
ROUNDS = N_("rounds to it")
NEAR = N_("one of the nearest")
#: The columns, and what stands above each.
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


def identify(
    evaluation: EvaluationData, metric: Any, value: Any, k: int | None, **options: Any
) -> Table:
    """Find the conventions that give a printed number.

    The arguments are those of `Evaluation.identify`.
    """
    measure = measure_named(metric, METRICS).with_options(options).cut_at(k)
    k = measure.k
    printed, digits = printed_number(value)
    refuse_weights(evaluation)
    source = evaluation.source
    variants = _variants_of(evaluation, measure)
    numbers = _numbers(source, variants.values(), k)
    rows = [
        (name, number, number - printed)
        for name, number in numbers.items()
        if isfinite(number)
    ]
    half = 0.5 * 10.0**-digits
    fitting = [row for row in rows if abs(row[2]) <= half + _slack(variants[row[0]])]
    nearest = sorted(rows, key=lambda row: abs(row[2]))[:N_NEAREST]
    fit = _(ROUNDS if fitting else NEAR)
    shown_rows = [(*row, fit) for row in fitting or nearest]
    frame = pd.DataFrame(shown_rows, columns=pd.Index(HEADINGS))
    label = measure.label
    as_printed = f"{printed:.{digits}f}"
    as_printed = _("{label} printed as {value}", label=label, value=as_printed)
    headline = SOME_FIT if fitting else NONE_FITS
    notes = [_(headline, printed=as_printed, found=len(fitting), n=len(numbers))]
    notes += caveats_of(variants[row[0]] for row in fitting)
    notes += lacking_in(source, variants.values())
    title = _("which convention prints {label}", label=label)
    shown = Shown(
        title=title,
        basis=notes,
        headings={name: _(words) for name, words in HEADINGS.items()},
        cells={"difference": "signed", "fit": "words"},
    )
    return Table(frame.set_index("convention"), shown=shown)


def _variants_of(evaluation: EvaluationData, measure: Measure) -> dict[str, Variant]:
    """Return how we and how libraries define a number, by name."""
    ours = Variant.of_evaluation(evaluation, measure)
    variants = {ours.name: ours}
    for preset in of_metric(measure.name):
        # Without k, a library that always cuts has no number.
        with suppress(OptionError):
            theirs = Variant.of_preset(preset.at(measure.k))
            variants[theirs.name] = theirs
    return variants


def _slack(variant: Variant) -> float:
    """Return how far a number may be from a printed one beyond its rounding."""
    return AGREE if variant.preset is None else variant.preset.tolerance


def _numbers(
    source: Source, variants: Iterable[Variant], k: int | None
) -> dict[str, float]:
    """Compute the number of each variant, by name, where these data have one."""
    numbers: dict[str, float] = {}

    def data_of(variant: Variant) -> str:
        return repr(variant.convention.with_metric({}))

    # Variants that read the data alike follow each other, and share the join.
    by_data = groupby(sorted(variants, key=data_of), data_of)
    for _data, group in by_data:
        # A copy keeps what it joins to itself, until the next group.
        tried = replace(source)
        for variant in group:
            with suppress(RecnbError):  # these data have no such number
                numbers[variant.name] = variant.measure(tried, k).value
    return {one.name: numbers[one.name] for one in variants if one.name in numbers}


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
        number = Decimal(text.removesuffix("%"))
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
