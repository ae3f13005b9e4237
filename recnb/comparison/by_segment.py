"""Differences within segments of the users: each segment a comparison of its own, corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recnb.comparison.measured import Asked, corrected, measure
from recnb.evaluation import Evaluation
from recnb.frames.among import among
from recnb.results.comparison_data import Difference, Settings
from recnb.segments import segments_of
from recnb.strings import say


def differences_by(
    models: Mapping[str, Evaluation], asked: Asked, settings: Settings, by: Any, bins: int
) -> list[tuple[str, Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    known = next(iter(models.values())).prepared.users
    segments = segments_of(next(iter(models.values())), by, bins)
    code = segments.of(known)
    found: list[Difference] = []
    names: list[str] = []
    # Users of whom nothing is known come last.
    for at, name in [*enumerate(segments.names), (-1, say("segments.unknown"))]:
        users = known.filter(pl.Series(code == at, dtype=pl.Boolean))
        if len(users) == 0:
            continue
        inside = {model: one.restricted(among(one.prepared, users)) for model, one in models.items()}
        made = measure(inside, asked, settings).differences
        found += made
        names += [name] * len(made)
    return list(zip(names, corrected(found), strict=True))
