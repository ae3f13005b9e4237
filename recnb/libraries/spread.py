"""`spread`: the numbers of all libraries for the same frames; `identify`: those that are printed like a given one."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from recnb.conventions.presets import of_metric
from recnb.data import Source
from recnb.display.language import N_, _, ngettext
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.variant import AGREE, Measurement, Variant, VariantTable, measure_each, order_lacking, source_of
from recnb.libraries.why import walk
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS, Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.table import Table

#: How a number fits the printed one, the better first.
FITS = (N_("rounds to it"), N_("only if cut off, not rounded"), N_("one of the nearest"))
#: How many of the nearest numbers are shown.
NEAREST = 5
#: Columns that libraries read and frames lack.
LACKING: dict[str, str] = {
    "rank": N_("No rank in these frames: libraries that read it are given the order that there is."),
    "score": N_("No score in these frames: libraries that read it are given the order that there is."),
}


def _numbers(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: dict[str, Any]
) -> tuple[Source, dict[Variant, Measurement | RecnbError], list[str]]:
    """Compute ours, and that of each library, in the order of presets; and say which columns are lacking."""
    source, ours = source_of(evaluation), Variant.of_evaluation(evaluation, metric, options)
    variants = [ours, *map(Variant.of_preset, of_metric(metric.name))]
    found = dict(measure_each(source, variants, k))
    lacking = {order_lacking(source, variant) for variant in variants} - {""}
    return source, {one: found[one] for one in variants}, [_(LACKING[order]) for order in sorted(lacking)]


def spread(evaluation: EvaluationData, metric: str, k: int | None, **options: Any) -> Table:
    """Compute the numbers of all libraries, in each of their variants; the arguments are those of `Evaluation.spread`."""
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    source, found, notes = _numbers(evaluation, chosen, k, options)
    if len(found) == 1:
        raise OptionError(f"no library's {chosen.name} is recorded, so there is nothing to spread: try 'ndcg' or 'recall'.")  # fmt: skip
    ours, *others = found
    mine = ours.measure(source, k)
    values = {one: nan if isinstance(number, RecnbError) else number.value for one, number in found.items()}
    otherwise = {one: str(number).removeprefix(f"{one.name} ") for one, number in found.items() if isinstance(number, RecnbError)}  # fmt: skip
    agreeing = _agreeing(others, values)
    for group in agreeing:
        # What differs and matters is the same for all: the switches to the one with the fewest decisions of its own.
        simplest = min(group, key=lambda one: len(ours.differing_axes(one)))
        same = abs(values[simplest] - mine.value) <= AGREE
        steps = [] if same else walk(source, ours, source, simplest, k).steps
        otherwise |= dict.fromkeys(group, "; ".join(step.now for step in steps))
        source._known.clear()
    numbers = np.array([*values.values()])
    words = [otherwise.get(one, "") for one in found]
    columns = {"otherwise": words, "value": numbers, "difference": numbers - mine.value}
    frame = pd.DataFrame(columns, index=pd.Index([one.name for one in found], name="library"))
    finite = [value for value in values.values() if isfinite(value)]
    n_numbers = len(_agreeing(found, values))
    ends = {"low": f"{min(finite, default=nan):.4f}", "high": f"{max(finite, default=nan):.4f}"}
    headline = _("{label}: {n} different numbers from {all}, {low} to {high}", label=chosen.label(k), n=n_numbers, all=len(finite), **ends)  # fmt: skip
    users = ngettext("{n:,} user", "{n:,} users", len(mine.users))
    convention = ours.convention.with_metric(dict(ours.options))
    basis = [headline, f"{ours.name}: {users}", *convention.phrases(graded="relevance" in source.truth.columns), *notes]
    return VariantTable.made(frame.sort_values("value", kind="stable"), basis, _("{label} by library", label=chosen.label(k)))  # fmt: skip


def _agreeing(variants: Iterable[Variant], values: dict[Variant, float]) -> list[list[Variant]]:
    """Return the variants that have a number in groups whose numbers agree."""
    groups: list[list[Variant]] = []
    for one in sorted((one for one in variants if isfinite(values[one])), key=values.__getitem__):
        if groups and values[one] - values[groups[-1][0]] <= AGREE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def identify(
    evaluation: EvaluationData, metric: str, value: Any, k: int | None, digits: int | None, **options: Any
) -> Table:
    """Find the conventions that give a printed number; the arguments are those of `Evaluation.identify`."""
    if hasattr(value, "items"):
        raise OptionError(
            "identify takes one printed number, not one for each user: give the printed mean, or compare the users' "
            "values with ev.ndcg(k=10).per_user."
        )
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    printed, digits = printed_number(value, digits)
    _source, found, notes = _numbers(evaluation, chosen, k, options)
    rows = []
    for one, number in found.items():
        if not isinstance(number, RecnbError) and isfinite(number.value):
            slack, apart, unit = max(AGREE, one.preset.tolerance if one.preset else 0), number.value - printed, 10.0**-digits  # fmt: skip
            outward = apart if printed >= 0 else -apart
            fit = 0 if abs(apart) <= 0.5 * unit + slack else 1 if -slack <= outward < unit - slack else 2
            rows.append((fit, abs(apart) if fit == 2 else 0.0, one.name, number.value, apart))
    fitting = [row for row in rows if row[0] < 2]
    shown = sorted(fitting or rows, key=lambda row: row[:2])[: None if fitting else NEAREST]
    frame = pd.DataFrame(
        [(name, value, apart, _(FITS[fit])) for fit, _far, name, value, apart in shown],
        columns=pd.Index(["convention", "value", "difference", "fit"]),
    ).set_index("convention")
    said = _("{label} printed as {value}", label=chosen.label(k), value=f"{printed:.{digits}f}")
    headline = N_("{printed}: {found:,} conventions of {n:,} give it") if fitting else N_("{printed}: none of {n:,} conventions gives it; the nearest are")  # fmt: skip
    headline = _(headline, printed=said, found=len(fitting), n=len(found))
    return VariantTable.made(frame, [headline, *notes], _("which convention prints {label}", label=chosen.label(k)))


def printed_number(value: Any, digits: int | None = None) -> tuple[float, int]:
    """Return a number as it was printed, and its decimals; a float is read as Python writes it.

    >>> printed_number("0.3680"), printed_number(0.368), printed_number("36.8%")
    ((0.368, 4), (0.368, 3), (0.368, 3))
    """
    text = value.strip() if isinstance(value, str) else repr(float(value)) if is_number(value) else ""
    try:
        number = Decimal(text.rstrip("%"))
    except InvalidOperation:
        number = Decimal("NaN")
    decimals = number.as_tuple().exponent
    if not isinstance(decimals, int):
        raise OptionError(f"{quoted(value)} is no printed number: give it as it is printed, such as '0.3680' or 0.368.")
    if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 20):
        raise OptionError(f"digits={digits!r} is no number of decimals: give a whole number to 20, such as digits=4.")
    percent = text.endswith("%")
    printed = max(0, -decimals) + 2 * percent
    return float(number / 100 if percent else number), printed if digits is None else digits
