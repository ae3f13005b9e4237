"""Partial results as plain Python that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import polars as pl

from recnb.conventions import Convention
from recnb.errors import RecnbError
from recnb.hits import Cutoffs
from recnb.metric import metric_named
from recnb.partial.sums import Measure, Partial, PartialCounts
from recnb.uncertainty import Moments
from recnb.uncertainty.moments import COLUMNS


def stored(partial: Partial, schema: str) -> dict[str, Any]:
    """Everything of a partial: `schema`, `k`, `metrics` (metric, options, convention, scale, moments), `counts`, `convention`,
    `library`, `graded`, `notes` and `users`. Of a convention, what differs from the default; NaN is None.
    """  # fmt: skip
    measures = [
        {
            "metric": measure.metric,
            "options": dict(measure.options),
            "convention": _differing(measure.convention),
            "scale": measure.scale,
            "moments": [{"n": one.n, **{name: _numbers(getattr(one, name)) for name in COLUMNS}} for one in own],
        }
        for measure, own in zip(partial.measures, partial.moments, strict=True)
    ]
    return {
        "schema": schema,
        "k": list(partial.k),
        "metrics": measures,
        "counts": asdict(partial.counts),
        "convention": _differing(partial.convention),
        "library": partial.library,
        "graded": partial.graded,
        "notes": list(partial.notes),
        "users": None if partial.users is None else partial.users.to_list(),
    }


def restored(told: Mapping[str, Any], schema: str) -> Partial:
    """The partial that was stored."""
    found = told.get("schema") if isinstance(told, Mapping) else None
    if not isinstance(found, str) or found != schema:
        raise RecnbError(f"this is no stored partial that this version reads: its schema is {found!r}, not {schema!r}.")
    try:
        measures = tuple(
            Measure(
                metric_named(one["metric"]).name,
                tuple(sorted(one["options"].items())),
                Convention.of(one["convention"]),
                one["scale"],
            )
            for one in told["metrics"]
        )
        moments = tuple(
            tuple(
                Moments(
                    n=int(own["n"]),
                    bounds=metric_named(one["metric"]).bounds,
                    **{name: np.array(own[name], dtype=np.float64) for name in COLUMNS},
                )
                for own in one["moments"]
            )
            for one in told["metrics"]
        )
        return Partial(
            measures,
            Cutoffs.of(told["k"]).values,
            moments,
            PartialCounts(**told["counts"]),
            Convention.of(told["convention"]),
            told["library"],
            bool(told["graded"]),
            tuple(told["notes"]),
            None if told["users"] is None else pl.Series("user", told["users"]),
        )
    except RecnbError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as problem:
        raise RecnbError(f"this stored partial is broken: {type(problem).__name__} {problem}.") from problem


def _differing(convention: Convention) -> dict[str, Any]:
    return {
        one.name: getattr(convention, one.name)
        for one in fields(convention)
        if one.name != "metric" and getattr(convention, one.name) != one.default
    }


def _numbers(values: Any) -> list[float | None]:
    return [float(one) if np.isfinite(one) else None for one in values]
