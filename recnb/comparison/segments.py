"""Models within segments of the users: each segment a comparison of its own, corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from recnb.comparison.differences import ComparedMetrics, MetricRequest, corrected, measure
from recnb.comparison.results import Difference, Settings
from recnb.data.subset import among
from recnb.display.language import _
from recnb.display.progress import steps
from recnb.results.evaluation_data import EvaluationData
from recnb.results.segments import segments_of
from recnb.stats import ENOUGH


def measured_by(
    models: Mapping[str, EvaluationData], asked: MetricRequest, settings: Settings, by: Any, bins: int
) -> dict[str, ComparedMetrics]:
    """Means and differences within each segment that has users, p-values corrected within it alone."""
    known = next(iter(models.values())).prepared.users
    segments = segments_of(next(iter(models.values())), by, bins)
    code, unknown = segments.of(known), _("not known")
    # Users of whom nothing is known come last.
    names = [*segments.names, *([unknown] if unknown not in segments.names else [])]
    code = np.where(code < 0, len(names) - 1, code)
    made: dict[str, ComparedMetrics] = {}
    for at, name in steps(list(enumerate(names)), _("comparing")):
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
    models: Mapping[str, EvaluationData], asked: MetricRequest, settings: Settings, by: Any, bins: int
) -> list[tuple[str, Difference]]:
    """Each difference with the segment it is of; p-values are corrected over all segments, metrics and cut-offs."""
    made = measured_by(models, asked, settings, by, bins)
    names = [name for name, one in made.items() for _ignored in one.differences]
    found = [difference for one in made.values() for difference in one.differences]
    return list(zip(names, corrected(found), strict=True))
