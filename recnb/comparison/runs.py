"""Splits as the sample: models over folds and seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from recnb.display.language import N_, _
from recnb.display.text import one_line
from recnb.errors import OptionError, quoted
from recnb.metrics.metric import label_of
from recnb.results.evaluation_data import Models
from recnb.results.numbers import Numbers
from recnb.results.segments import Division, division_by
from recnb.results.shown import Shown
from recnb.results.table import Table
from recnb.results.verdicts import verdict_of
from recnb.stats import holm, means, resampled, without_rounding

#: What the tests are, and what their intervals cover.
FOLDS = N_(
    "Corrected resampled t test over {n} splits by {columns}, of which a fold tests "
    "{share:.3g} of the data (Nadeau and Bengio 2003; Bouckaert and Frank 2004). Its "
    "{confidence:g}% intervals cover other folds of these data and other training "
    "runs, and no other {users}."
)
OTHERS = N_(
    "Paired t test over {n} splits by {columns}. Its {confidence:g}% intervals cover "
    "other splits by {columns} like these, and no other {users}. Folds train on data in "
    "common: for them give test_share=."
)
OF_USERS = N_(
    "The intervals of found.differences() cover other {users}, with these splits and "
    "runs; neither covers both."
)
CORRECTED = N_("p_holm is corrected by Holm's method over {n} tests.")


def splits_of(models: Models) -> Division:
    """Return the splits of `split=`, each a part of the data; refuse data without."""
    first = next(iter(models.values()))
    if not first.keys.columns:
        raise OptionError(
            "runs are over splits, and there are none: recnb.compare(models, truth, "
            "split='fold')."
        )
    return division_by(models, list(first.keys.columns))


def runs_table(
    numbers: Numbers, basis: Sequence[str], test_share: float | None
) -> Table:
    """Return the numbers of models over splits, and the differences of pairs.

    `numbers` are of one metric, each split a part.
    """
    columns = [*numbers.division.labels]
    keys = [numbers.division.keys[place.part] for place in numbers.places]
    index = pd.MultiIndex.from_tuples(keys, names=columns)
    by_split = pd.DataFrame(numbers.mean, index, list(numbers.models))
    if len(by_split) < 2:
        raise OptionError(
            f"runs are over splits, and {', '.join(columns)} has one: give several "
            "folds or seeds."
        )
    place = numbers.places[0]
    without_value = by_split[by_split.isna().any(axis=1)].index.to_frame(index=False)
    if len(without_value):
        split = without_value.astype(str).iloc[0].to_dict()
        raise OptionError(
            f"{place.measure.symbol} has no value in a split, {quoted(split)}: leave it "
            "out."
        )
    differences = _differences(numbers, test_share)
    numbers_of_models = {
        "mean": means(by_split.to_numpy()),
        "sd": by_split.std(ddof=1),
        "n_splits": len(by_split),
    }
    notes = _notes(numbers, differences, test_share)
    shown = Shown(
        title=_("{label} over splits", label=label_of(place.measure.symbol, place.k)),
        basis=basis,
        remarks=notes,
        notes=notes,
        below=differences,
    )
    frame = pd.DataFrame(numbers_of_models).rename_axis("model")
    table = Table(frame, shown=shown)
    table.differences = differences
    table.by_split = by_split
    return table


def _notes(
    numbers: Numbers, differences: pd.DataFrame, test_share: float | None
) -> list[str]:
    """Say what the tests are, and what their intervals cover."""
    notes = [
        _(
            OTHERS if test_share is None else FOLDS,
            n=len(numbers.places),
            columns=one_line(", ".join(numbers.division.labels)),
            share=test_share,
            confidence=100 * numbers.settings.confidence,
        ),
        _(OF_USERS),
    ]
    n_tests = int(differences["p"].notna().sum())
    if n_tests > 1:
        notes.append(_(CORRECTED, n=n_tests))
    return notes


def _differences(numbers: Numbers, test_share: float | None) -> Table:
    """Return a row for each pair with the test of its differences over splits."""
    ours, theirs = np.transpose(numbers.positions)
    differences = without_rounding(numbers.mean[:, ours] - numbers.mean[:, theirs])
    all_tied = (differences == 0).all(axis=0)
    settings, better = numbers.settings, numbers.places[0].measure.metric.better
    tests = resampled(differences, settings.confidence, test_share)
    corrected = tests._replace(p=holm(tests.p))
    columns = {
        "model": [model for model, _baseline in numbers.pairs],
        "baseline": [baseline for _model, baseline in numbers.pairs],
        "difference": tests.mean,
        "low": tests.low,
        "high": tests.high,
        "p": tests.p,
        "p_holm": corrected.p,
        "n_splits": len(differences),
        "verdict": [
            verdict_of(*test, alpha=settings.alpha, better=better, all_tied=is_tied)
            for *test, is_tied in zip(*corrected, all_tied, strict=True)
        ],
    }
    shown = Shown(
        title=_("Differences over splits"),
        index=["model", "baseline"],
        cells={"verdict": "verdict"},
    )
    return Table(columns, shown=shown)
