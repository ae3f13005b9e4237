"""`spread`: the numbers of all libraries for the same frames; `identify`: those that are printed like a given one."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import groupby
from math import isfinite, nan
from typing import Any

import pandas as pd

from recnb.conventions.presets import of_metric
from recnb.data import Source
from recnb.display.language import N_, _, ngettext
from recnb.display.progress import steps
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.variant import AGREE, Measurement, Variant, VariantTable, lacking_in
from recnb.libraries.why import walk
from recnb.metrics.measure import metric_named
from recnb.metrics.metric import METRICS, Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.table import Table

#: How a number fits the printed one, the better first.
FITS = (N_("rounds to it"), N_("only if cut off, not rounded"), N_("one of the nearest"))
#: How many of the nearest numbers are shown.
NEAREST = 5


def _numbers(
    evaluation: EvaluationData, metric: Metric[...], k: int | None, options: dict[str, Any]
) -> tuple[Source, dict[Variant, Measurement | RecnbError], list[str]]:
    """Compute ours, and that of each library, in the order of presets; and say which columns are lacking."""

    def of_data(variant: Variant) -> str:
        return repr(variant.convention.with_metric({}))

    source, ours = evaluation.source, Variant.of_evaluation(evaluation, metric, options)
    variants, found = [ours, *map(Variant.of_preset, of_metric(metric.name))], dict[Variant, Measurement | RecnbError]()
    # Variants that read the data alike follow each other, and share the join.
    groups = [list(group) for _convention, group in groupby(sorted(variants, key=of_data), key=of_data)]
    for group in steps(groups, _("conventions tried")):
        for variant in group:
            try:
                found[variant] = variant.measure(source, k)
            except RecnbError as error:
                found[variant] = error
        source.forget()
    return source, {one: found[one] for one in variants}, lacking_in(source, variants)


def spread(evaluation: EvaluationData, metric: str, k: int | None, **options: Any) -> Table:
    """Compute the numbers of all libraries, in each of their variants; the arguments are those of `Evaluation.spread`."""
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    source, found, notes = _numbers(evaluation, chosen, k, options)
    ours, *others = found
    if not others:
        raise OptionError(f"no library's {chosen.name} is recorded, so there is nothing to spread: try 'ndcg' or 'recall'.")  # fmt: skip
    mine, label = ours.measure(source, k), chosen.label(k)
    values, otherwise = dict.fromkeys(found, nan), dict.fromkeys(found, "")
    for one, number in found.items():
        if isinstance(number, RecnbError):
            otherwise[one] = str(number).removeprefix(f"{one.name} ")
        else:
            values[one] = number.value
    for group in _agreeing({one: values[one] for one in others}):
        # What differs and matters is the same for all: the switches to the one with the fewest decisions of its own.
        simplest = min(group, key=lambda one: len(ours.differing_axes(one)))
        if abs(values[simplest] - mine.value) > AGREE:
            steps = walk(source, ours, source, simplest, k).steps
            otherwise |= dict.fromkeys(group, "; ".join(step.now for step in steps))
        source.forget()
    frame = pd.DataFrame(
        {"otherwise": [*otherwise.values()], "value": [*values.values()]},
        index=pd.Index([one.name for one in found], name="library"),
    )
    frame["difference"] = frame["value"] - mine.value
    finite = [value for value in values.values() if isfinite(value)]
    ends = {"low": f"{min(finite, default=nan):.4f}", "high": f"{max(finite, default=nan):.4f}"}
    headline = _("{label}: {n} different numbers from {all}, {low} to {high}", label=label, n=len(_agreeing(values)), all=len(finite), **ends)  # fmt: skip
    users = ngettext("{n:,} user", "{n:,} users", len(mine.users))
    phrases = ours.convention.phrases(graded="relevance" in source.truth.columns)
    basis = [headline, f"{ours.name}: {users}", *phrases, *notes]
    return VariantTable.made(frame.sort_values("value", kind="stable"), basis, _("{label} by library", label=label))


def _agreeing(values: dict[Variant, float]) -> list[list[Variant]]:
    """Return the variants that have a number in groups whose numbers agree."""
    groups: list[list[Variant]] = []
    for one in sorted((one for one in values if isfinite(values[one])), key=values.__getitem__):
        if groups and values[one] - values[groups[-1][0]] <= AGREE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def identify(evaluation: EvaluationData, metric: str, value: Any, k: int | None, **options: Any) -> Table:
    """Find the conventions that give a printed number; the arguments are those of `Evaluation.identify`."""
    chosen = metric_named(metric, METRICS)
    k = chosen.cut_at(k)
    printed, digits = printed_number(value)
    _source, found, notes = _numbers(evaluation, chosen, k, options)
    unit = 10.0**-digits
    rows = []
    for one, number in found.items():
        if not isinstance(number, RecnbError) and isfinite(number.value):
            slack, apart = max(AGREE, one.preset.tolerance if one.preset else 0), number.value - printed
            outward = apart if printed >= 0 else -apart
            fit = 0 if abs(apart) <= 0.5 * unit + slack else 1 if -slack <= outward < unit - slack else 2
            rows.append((fit, abs(apart) if fit == 2 else 0.0, one.name, number.value, apart))
    rows.sort(key=lambda row: row[:2])
    fitting = [row for row in rows if row[0] < 2]
    shown = [(name, value, apart, _(FITS[fit])) for fit, _far, name, value, apart in fitting or rows[:NEAREST]]
    frame = pd.DataFrame(shown, columns=pd.Index(["convention", "value", "difference", "fit"])).set_index("convention")
    said = _("{label} printed as {value}", label=chosen.label(k), value=f"{printed:.{digits}f}")
    headline = N_("{printed}: {found:,} conventions of {n:,} give it") if fitting else N_("{printed}: none of {n:,} conventions gives it; the nearest are")  # fmt: skip
    headline = _(headline, printed=said, found=len(fitting), n=len(found))
    return VariantTable.made(frame, [headline, *notes], _("which convention prints {label}", label=chosen.label(k)))


def printed_number(value: Any) -> tuple[float, int]:
    """Return a number as it was printed, and its decimals; a float is read as Python writes it."""
    text = value.strip() if isinstance(value, str) else repr(float(value)) if is_number(value) else ""
    try:
        number = Decimal(text.rstrip("%"))
    except InvalidOperation:
        number = Decimal("NaN")
    decimals = number.as_tuple().exponent
    if not isinstance(decimals, int):
        raise OptionError(f"{quoted(value)} is no printed number: give it as it is printed, such as '0.3680' or 0.368.")
    percent = text.endswith("%")
    return float(number / 100 if percent else number), max(0, -decimals) + 2 * percent
