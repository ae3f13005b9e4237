"""Models within segments of the users: each segment a comparison of its own, corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.measured import Asked, Measured, corrected, measure
from recnb.evaluation import Evaluation
from recnb.frames.among import among
from recnb.progress import steps
from recnb.results.comparison_data import Difference, Settings
from recnb.segments import segments_of
from recnb.strings import say
from recnb.uncertainty import ENOUGH


def measured_by(
    models: Mapping[str, Evaluation], asked: Asked, settings: Settings, by: Any, bins: int
) -> dict[str, Measured]:
    """Means and differences within each segment that has users, p-values corrected within it alone."""
    known = next(iter(models.values())).prepared.users
    segments = segments_of(next(iter(models.values())), by, bins)
    code, unknown = segments.of(known), say("segments.unknown")
    # Users of whom nothing is known come last.
    names = [*segments.names, *([unknown] if unknown not in segments.names else [])]
    code = np.where(code < 0, len(names) - 1, code)
    made: dict[str, Measured] = {}
    for at, name in steps(list(enumerate(names)), say("compare.progress")):
        users = known.filter(pl.Series(code == at, dtype=pl.Boolean))
        if len(users) == 0:
            continue
        inside = {model: one.restricted(among(one.prepared, users)) for model, one in models.items()}
        found = measure(inside, asked, settings)
        made[name] = replace(found, differences=tuple(map(_enough, found.differences)))
    return made


def _enough(one: Difference) -> Difference:
    """A difference of too few users without its tests: of many segments some would look sure by chance."""
    if one.n_users >= ENOUGH:
        return one
    nan = float("nan")
    return replace(
        one, low=nan, high=nan, p=nan, t_p=nan, wilcoxon_p=nan, randomization_p=nan, p_holm=nan, p_bh=nan, detectable=nan
    )  # fmt: skip


def differences_by(
    models: Mapping[str, Evaluation], asked: Asked, settings: Settings, by: Any, bins: int
) -> list[tuple[str, Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    made = measured_by(models, asked, settings, by, bins)
    names = [name for name, one in made.items() for _ in one.differences]
    found = [difference for one in made.values() for difference in one.differences]
    return list(zip(names, corrected(found), strict=True))
