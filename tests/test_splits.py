"""Lists in a split against a plain loop: each value of its columns evaluated alone, and
the values of all put together.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.errors import FrameError, OptionError, RecnbError
from tests.examples import examples

METRICS = ["ndcg", "average_precision", "reciprocal_rank", "f1", "precision"]
CONVENTIONS: list[dict[str, Any]] = [
    {},
    {"averaged_users": "recs", "no_relevant": "zero"},
    {"averaged_users": "union", "no_relevant": "one"},
    {"averaged_users": "both"},
    {"relevant_from": 2, "ties": "expected"},
    {"convention": "rectools"},
]
DAY = dt.date(2024, 5, 1)

Kwargs = dict[str, Any]


def frames_of(
    seed: int, columns: list[str], *, text: bool = False, n_users: int = 12
) -> tuple[pd.DataFrame, pd.DataFrame, list[tuple[Any, ...]]]:
    """Make lists and truth of users in the combinations of a split's columns, in any
    order of rows, and the combinations.
    """
    rng = np.random.default_rng(seed)
    kinds: dict[str, list[Any]] = {
        "fold": [0, 1, 10],
        "seed": ["a", "b"],
        "day": [DAY + dt.timedelta(days=day) for day in range(3)],
    }
    keys: list[tuple[Any, ...]] = [()]
    for column in columns:
        keys = [(*key, value) for key in keys for value in kinds[column]]
    lists, judged = [], []
    for key in keys:
        for user in range(n_users):
            # User 0 is on both sides of each: others may be on one, or on none.
            if user == 0 or rng.random() < 0.7:
                items = rng.permutation(9)[: rng.integers(1, 7)]
                for item in items:
                    lists.append((user, item, rng.integers(0, 5) / 4, *key))
            if user == 0 or rng.random() < 0.7:
                for item in rng.permutation(9)[: rng.integers(1, 5)]:
                    grade = 3 if user == 0 else rng.integers(0, 4)
                    judged.append((user, item, grade, *key))
    recs = pd.DataFrame(lists, columns=["user", "item", "score", *columns])
    truth = pd.DataFrame(judged, columns=["user", "item", "relevance", *columns])
    if text:
        recs["user"] = "u" + recs["user"].astype(str)
        truth["user"] = "u" + truth["user"].astype(str)
    order = int(rng.integers(1e6))
    return recs.sample(frac=1, random_state=order), truth, keys


def rows_of(frame: pd.DataFrame, columns: list[str], key: tuple[Any, ...]) -> Any:
    """The rows of a combination; those of a frame that lacks a column hold for each of
    its values.
    """
    for column, value in zip(columns, key, strict=True):
        if column in frame:
            frame = frame[frame[column] == value].drop(columns=column)
    return frame


def each_alone(
    recs: pd.DataFrame,
    truth: pd.DataFrame,
    columns: list[str],
    keys: list[tuple[Any, ...]],
    **options: Any,
) -> Iterator[tuple[tuple[Any, ...], recnb.evaluation.Evaluation]]:
    """Evaluate each combination by itself."""
    train = options.pop("train", None)
    for key in keys:
        if train is not None:
            options["train"] = rows_of(train, columns, key)
        lists = rows_of(recs, columns, key)
        yield key, recnb.evaluate(lists, rows_of(truth, columns, key), **options)


def put_together(values: dict[tuple[Any, ...], pd.Series], columns: list[str]) -> Any:
    """The values of all lists by user and split, sorted."""
    rows = {
        (user, *key): value
        for key, of_users in values.items()
        for user, value in of_users.items()
    }
    index = pd.MultiIndex.from_tuples([*rows], names=["user", *columns])
    return pd.Series([*rows.values()], index, dtype=float).sort_index()


def as_dict(values: pd.Series) -> dict[tuple[Any, ...], float]:
    """Values by user and split, with days as dates."""
    return {
        tuple(
            part.date() if isinstance(part, pd.Timestamp) else part for part in key
        ): v
        for key, v in values.items()
    }


SPLITS = st.sampled_from(
    [["fold"], ["day"], ["seed"], ["fold", "seed"], ["seed", "day"]]
)


@given(
    seed=st.integers(0, 10**6),
    columns=SPLITS,
    held=st.sampled_from(["all", "first", "none"]),
    text=st.booleans(),
    convention=st.sampled_from(CONVENTIONS),
    weighted=st.booleans(),
)
@settings(max_examples=examples(40))
def test_a_split_is_the_loop_over_its_values(
    seed: int,
    columns: list[str],
    held: str,
    text: bool,
    convention: Kwargs,
    weighted: bool,
) -> None:
    recs, truth, keys = frames_of(seed, columns, text=text)
    kept = {"all": columns, "first": columns[:1], "none": []}[held]
    lacking = [column for column in columns if column not in kept]
    truth = truth.drop(columns=lacking).drop_duplicates(["user", "item", *kept])
    options: Kwargs = dict(convention)
    users = sorted({*recs["user"], *truth["user"]})
    weight = pd.Series(np.arange(1, len(users) + 1) / 7, users)
    if weighted:
        options["user_weight"] = weight
    ev = recnb.evaluate(recs, truth, split=columns, **options)
    alone = dict(each_alone(recs, truth, columns, keys, **options))
    for metric in METRICS:
        for k in (2, None):
            score = getattr(ev, metric)(k=k)
            parts = {key: getattr(part, metric)(k=k) for key, part in alone.items()}
            of_parts = {key: part.per_user for key, part in parts.items()}
            wanted = put_together(of_parts, columns)
            assert as_dict(score.per_user) == pytest.approx(as_dict(wanted), abs=1e-12)
            assert [*as_dict(score.per_user)] == [*as_dict(wanted)]
            assert score.n_users == len(wanted)
            weights = 1.0
            if weighted:
                weights = wanted.index.get_level_values("user").map(weight).to_numpy()
            mean = np.average(wanted, weights=np.broadcast_to(weights, len(wanted)))
            assert float(score) == pytest.approx(mean, abs=1e-12)
            by = ev.table([metric], k=k, by=columns).to_frame()
            means = [float(part) for part in parts.values()]
            assert by["mean"].to_list() == pytest.approx(means, abs=1e-12)
            assert by["n_users"].to_list() == [part.n_users for part in parts.values()]
