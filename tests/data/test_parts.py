"""The hits of parts of the users, put together, are those of all users to the bit."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.data.parts import hits_together
from recnb.metrics.hits import Hits
from recnb.metrics.metric import METRICS
from tests.random_frames import random_frames

WEIGHTS = {"propensity": "p"}
CASES = {
    "plain": {},
    "weighted": WEIGHTS,
    "ties": {"ties": "expected"},
    "weighted ties": {"ties": "expected", **WEIGHTS},
    "everything relevant": {"relevant": "any", "no_relevant": "zero"},
    "repeats": {"duplicates": "rows"},
}


@pytest.mark.thin
@pytest.mark.parametrize("n_parts", [1, 3, 50])
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_hits_of_parts_are_those_of_all(options, n_parts):
    rng = np.random.default_rng(11)
    recs, truth = random_frames(rng, 40)
    truth = truth.assign(p=rng.uniform(0.01, 1, len(truth)))
    want = recnb.evaluate(recs, truth, **options).joined.hits
    part_of_user = rng.integers(0, n_parts, want.n_users)
    parts = [want.with_users(part_of_user == part) for part in range(n_parts)]
    position = np.argsort(part_of_user, kind="stable")
    got = hits_together(parts, position)
    for column in fields(Hits):
        value, other = getattr(got, column.name), getattr(want, column.name)
        if column.name == "tied" and other is not None:
            assert all(map(np.array_equal, vars(value).values(), vars(other).values()))
        elif isinstance(other, np.ndarray):
            assert value.dtype == other.dtype, column.name
            assert np.array_equal(value, other), column.name
        else:
            assert value == other, column.name


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_blocks_of_users_have_the_numbers_of_all(options, monkeypatch):
    rng = np.random.default_rng(12)
    recs, truth = random_frames(rng, 40)
    truth = truth.assign(p=rng.uniform(0.01, 1, len(truth)))
    ev = recnb.evaluate(recs, truth, **options)
    names = [name for name, metric in METRICS.items() if metric.is_accuracy]
    if "propensity" in options:
        names = [name for name in names if METRICS[name].takes_weights]
    if "ties" in options:
        names = [name for name in names if name != "err"]  # it needs one order
    want = {name: ev.measure(name, k=3).per_user for name in names}
    monkeypatch.setattr("recnb.metrics.hits.USERS_AT_ONCE", 7)
    blocks = recnb.evaluate(recs, truth, **options)
    for name in names:
        got = blocks.measure(name, k=3).per_user
        pd.testing.assert_series_equal(got, want[name], check_exact=True)
