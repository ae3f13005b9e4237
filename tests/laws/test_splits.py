"""Lists in a split against a plain loop: each value of its columns evaluated alone, and
the values of all put together, with the clusters that a loop finds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import LIST_METRICS
from recnb.metrics.metric import METRICS as METRICS_OF_HITS
from recnb.stats import Moments, UserSample, gap_to_rest
from recnb.stats import paired as paired_of
from tests.examples import examples
from tests.random_frames import random_frames
from tests.rows import hold_refusals, read_rows

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
#: The values of each column that a split may have.
VALUES: dict[str, list[Any]] = {
    "month": ["May"],
    "fold": [0, 1, 10],
    "seed": ["a", "b"],
    "day": [DAY + dt.timedelta(days=day) for day in range(3)],
}
SEEDS = st.integers(0, 10**6)
SPLITS = st.sampled_from(
    [["fold"], ["day"], ["seed"], ["month"], ["fold", "seed"], ["seed", "day"]]
)
N_USERS = 40
USERS = pd.DataFrame(
    {
        "user": range(N_USERS),
        "topic": [user % 14 for user in range(N_USERS)],
        "country": ["a" if user < 21 else "b" for user in range(N_USERS)],
        "weight": [1 + user % 4 / 3 for user in range(N_USERS)],
    }
).set_index("user", drop=False)
ITEMS = pd.DataFrame(
    {
        "item": range(12),
        "genre": ["a|b", "b", "c", "a"] * 3,
        "year": range(1990, 2002),
    }
)
#: Metrics beyond accuracy, with options.
BEYOND: dict[str, dict[str, Any]] = {
    "novelty": {},
    "popularity": {},
    "diversity": {"features": "genre"},
    "serendipity": {},
    "calibration": {"genre": "genre"},
    "tail_share": {},
}

Key = tuple[Any, ...]
Kwargs = dict[str, Any]


def frames_of(
    seed: int, columns: list[str], *, text: bool = False, n_users: int = 12
) -> tuple[pd.DataFrame, pd.DataFrame, list[Key]]:
    """Make lists and truth of users in the combinations of a split's columns, in any
    order of rows, and the combinations.
    """
    rng = np.random.default_rng(seed)
    keys = [*product(*(VALUES[column] for column in columns))]
    parts = []
    for key in keys:
        values = dict(zip(columns, key, strict=True))
        frames = random_frames(rng, n_users, n_items=9)
        parts.append([frame.assign(**values) for frame in frames])
    recs, truth = (pd.concat(frames) for frames in zip(*parts, strict=True))
    if text:
        recs["user"] = "u" + recs["user"].astype(str)
        truth["user"] = "u" + truth["user"].astype(str)
    return recs.sample(frac=1, random_state=seed), truth, keys


def train_of(seed: int, columns: list[str], *, of_each: bool) -> pd.DataFrame:
    """What users had before each value of the split, or before all: some of them have
    no list there.
    """
    _recs, train, _keys = frames_of(seed + 1, columns, n_users=15)
    train = train.drop(columns="relevance")
    return train if of_each else train[["user", "item"]].drop_duplicates()


def rows_of(frame: pd.DataFrame, columns: list[str], key: Key) -> pd.DataFrame:
    """The rows of a combination; those of a frame that lacks a column hold for each of
    its values.
    """
    for column, value in zip(columns, key, strict=True):
        if column in frame:
            frame = frame[frame[column] == value].drop(columns=column)
    return frame


def as_dict(values: pd.Series) -> dict[Key, float]:
    """Values by user and split, with days as dates."""
    return {as_dates(key): value for key, value in values.items()}


def as_dates(key: Key) -> Key:
    """A key whose days are dates."""
    return tuple(
        part.date() if isinstance(part, pd.Timestamp) else part for part in key
    )


class Loop:
    """Lists in a split: evaluated together, and each value of the split alone; without
    columns of a split, one list a user.
    """

    def __init__(
        self,
        recs: pd.DataFrame,
        truth: pd.DataFrame,
        columns: list[str],
        **options: Any,
    ) -> None:
        self.columns = columns
        self.weight = options.get("user_weight")
        self.ev = recnb.evaluate(recs, truth, split=columns or None, **options)
        self.alone: dict[Key, recnb.Evaluation] = {}
        for key in product(*(sorted({*recs[column]}) for column in columns)):
            given = {"recs": recs, "truth": truth, **options}
            for name in {"recs", "truth", "train"} & {*given}:
                given[name] = rows_of(given[name], columns, key)
            self.alone[key] = recnb.evaluate(**given)

    def values(self, metric: Any, **asked: Any) -> pd.Series:
        """The values of all lists by user and split, sorted."""
        parts = {
            key: part.measure(metric, **asked).per_user
            for key, part in self.alone.items()
        }
        if not self.columns:
            return parts[()]
        together = pd.concat(parts, names=[*self.columns, "user"])
        return together.reorder_levels(["user", *self.columns]).sort_index()

    def weights(self, values: pd.Series) -> np.ndarray | None:
        """The weight of the user of each list."""
        if self.weight is None:
            return None
        users = values.index.get_level_values("user")
        return self.weight.loc[users].to_numpy()

    def hold(self, metric: Any, **asked: Any) -> None:
        """Hold the values of a metric, their mean and the table by split against those
        of each value of the split alone.
        """
        score, wanted = self.ev.measure(metric, **asked), self.values(metric, **asked)
        found = as_dict(score.per_user)
        assert found == pytest.approx(as_dict(wanted), abs=1e-12)
        assert [*found] == [*as_dict(wanted)]
        mean = np.average(wanted, weights=self.weights(wanted))
        assert float(score) == pytest.approx(mean, abs=1e-12)
        self.hold_table(metric, **asked)

    def hold_table(self, metric: Any, **asked: Any) -> None:
        """Hold the rows of a table by split against the numbers of each alone."""
        by = self.ev.table([metric], by=self.columns, **asked).to_frame()
        parts = [part.measure(metric, **asked) for part in self.alone.values()]
        means = [float(part) for part in parts]
        assert by["mean"].to_list() == pytest.approx(means, abs=1e-12)
        assert by["n_users"].to_list() == [part.n_users for part in parts]


@given(
    seed=SEEDS,
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
    recs, truth, _keys = frames_of(seed, columns, text=text)
    kept = {"all": columns, "first": columns[:1], "none": []}[held]
    lacking = [column for column in columns if column not in kept]
    truth = truth.drop(columns=lacking).drop_duplicates(["user", "item", *kept])
    options: Kwargs = dict(convention)
    if weighted:
        users = sorted({*recs["user"], *truth["user"]})
        options["user_weight"] = pd.Series(np.arange(1, len(users) + 1) / 7, users)
    loop = Loop(recs, truth, columns, **options)
    for metric, k in product(METRICS, (2, None)):
        loop.hold(metric, k=k)


@given(seed=SEEDS, columns=SPLITS, of_each=st.booleans())
@settings(max_examples=examples(16))
def test_metrics_beyond_accuracy_are_those_of_each_split_alone(
    seed: int, columns: list[str], of_each: bool
) -> None:
    recs, truth, _keys = frames_of(seed, columns)
    train = train_of(seed, columns, of_each=of_each)
    loop = Loop(recs, truth, columns, items=ITEMS, train=train)
    for metric, options in BEYOND.items():
        loop.hold(metric, k=3, **options)
    # One number of all lists is over the rows of all splits, and says so.
    as_one = recs.assign(user=recs["user"].astype(str))
    for column in columns:
        as_one["user"] += " " + as_one[column].astype(str)
    whole = recnb.evaluate(as_one, as_one, items=ITEMS, score="score")
    for metric in ("coverage", "gini", "entropy"):
        score = loop.ev.measure(metric, k=3)
        assert float(score) == pytest.approx(float(whole.measure(metric, k=3)))
        assert "taken together" in score.basis
        loop.hold_table(metric, k=3)


def test_explanations_and_lists_go_by_the_keys_of_results() -> None:
    columns = ["fold", "day"]
    recs, truth, _keys = frames_of(3, columns, text=True)
    train = train_of(3, columns, of_each=True)
    train["user"] = "u" + train["user"].astype(str)
    loop = Loop(recs, truth, columns, items=ITEMS, train=train)
    ev = loop.ev
    assert [*ev.users] == sorted(ev.users)
    for metric, options in {"ndcg": {}, **BEYOND}.items():
        values = ev.measure(metric, k=3, **options).per_user
        for key in [values.index[0], values.index[-1], values.index[len(values) // 2]]:
            user, *of_split = as_dates(key)
            made = ev.explain(metric, key, k=3, **options)
            alone = loop.alone[tuple(of_split)]
            wanted = alone.explain(metric, user, k=3, **options)
            assert float(made.value) == pytest.approx(values[key])
            pd.testing.assert_frame_equal(made.to_frame(), wanted.to_frame())
    for key in ev.users[::5]:
        user, fold, day = as_dates(key)
        listed, wanted = ev.user(key, k=4), loop.alone[fold, day].user(user, k=4)
        pd.testing.assert_frame_equal(listed.to_frame(), wanted.to_frame())
        assert f"{user} [fold={fold}, day={day}]" in repr(listed)


# Intervals, tests and weights


def of_users(values: pd.Series, column: str) -> np.ndarray:
    """A column of USERS, for each list by its user."""
    return USERS[column].loc[values.index.get_level_values("user")].to_numpy()


def sample_of(loop: Loop, values: pd.Series, cluster: str) -> UserSample:
    """The lists that are drawn together."""
    codes, _clusters = pd.factorize(of_users(values, cluster))
    return UserSample(len(values), loop.weights(values), codes)


def hold_interval(
    loop: Loop, values: pd.Series, cluster: str, bounds: Any, ends: Any
) -> None:
    """Hold an interval against that of the values of lists."""
    sample = sample_of(loop, values, cluster)
    moments = Moments(values.to_numpy()[:, np.newaxis], sample, bounds)
    low, high, *_rest = moments.interval()
    assert [*ends] == pytest.approx([low[0], high[0]], abs=1e-10, nan_ok=True)


def options_of(weighted: bool, cluster: str) -> Kwargs:
    """Options by which users weigh, and are drawn together."""
    options: Kwargs = {"users": USERS}
    if weighted:
        options["user_weight"] = USERS["weight"]
    if cluster != "user":
        options["cluster"] = cluster
    return options


COLUMNS = st.sampled_from([["fold"], ["day"], ["fold", "seed"]])
CLUSTERS = st.sampled_from(["user", "topic"])


@pytest.mark.parametrize("propensity", ["none", "of rows", "of items"])
@given(
    seed=SEEDS,
    columns=COLUMNS | st.just([]),
    weighted=st.booleans(),
    cluster=CLUSTERS,
)
@settings(max_examples=examples(20))
def test_weights_and_intervals_are_of_the_lists_of_all_splits_by_their_users(
    propensity: str, seed: int, columns: list[str], weighted: bool, cluster: str
) -> None:
    recs, truth, _keys = frames_of(seed, columns, n_users=N_USERS)
    options = options_of(weighted, cluster)
    metric, bounds = "precision", (0.0, 1.0)
    if propensity != "none":
        metric, bounds = "dcg", (0.0, np.inf)
        rng = np.random.default_rng(seed)
        truth["p"] = rng.integers(1, 9, len(truth)) / 8
        by_item = truth.groupby("item")["p"].first()
        given_as = {"of rows": "p", "of items": by_item}
        options["propensity"] = given_as[propensity]
    loop = Loop(recs, truth, columns, **options)
    if columns:
        loop.hold(metric, k=3)
    score, values = loop.ev.measure(metric, k=3), loop.values(metric, k=3)
    hold_interval(loop, values, cluster, bounds, score.interval())
    assert score.n_users == len({*of_users(values, cluster)})
    assert score.n_lists == len(values)
    sample = sample_of(loop, values, cluster)
    by_country = loop.ev.table(metric, k=3, by="country").to_frame().reset_index()
    for row in by_country.itertuples():
        is_inside = of_users(values, "country") == row.country
        inside = values[is_inside]
        mean = np.average(inside, weights=loop.weights(inside))
        assert row.mean == pytest.approx(mean, abs=1e-12)
        hold_interval(loop, inside, cluster, bounds, [row.low, row.high])
        gap = gap_to_rest(values.to_numpy()[:, np.newaxis], sample, is_inside)
        wanted = [gap.low[0], gap.high[0], gap.p[0]]
        found = [row.gap_low, row.gap_high, row.p]
        assert found == pytest.approx(wanted, abs=1e-10, nan_ok=True)


@dataclass
class Models:
    """Two models on lists in a split, of which `b` may lack some, compared."""

    loops: dict[str, Loop]
    keys: list[Key]
    cluster: str
    found: recnb.Comparison


GIVEN_AS = ["frames", "evaluations", "evaluations asked before"]


@st.composite
def models(draw: st.DrawFn, given_as: str) -> Models:
    """Models, compared as frames or as evaluations."""
    seed, columns, cluster = draw(SEEDS), draw(COLUMNS), draw(CLUSTERS)
    recs, truth, keys = frames_of(seed, columns, n_users=N_USERS)
    others = recs.assign(score=np.random.default_rng(seed).random(len(recs)))
    if draw(st.booleans()):
        others = others[(others[columns[0]] != keys[0][0]) | (others["user"] > 10)]
    frames = {"a": recs, "b": others}
    options = options_of(draw(st.booleans()), cluster)
    options["averaged_users"] = "both"
    loops = {
        name: Loop(rows, truth, columns, **options) for name, rows in frames.items()
    }
    if given_as == "frames":
        found = recnb.compare(frames, truth, split=columns, baseline="a", **options)
    else:
        evaluations = {name: loop.ev for name, loop in loops.items()}
        if given_as == "evaluations asked before":
            assert all(ev.ndcg(k=3) for ev in evaluations.values())
        found = recnb.compare(evaluations, baseline="a")
    return Models(loops, keys, cluster, found)


@pytest.mark.parametrize("given_as", GIVEN_AS)
@given(draw=st.data())
@settings(max_examples=examples(20))
def test_models_are_compared_on_the_lists_that_all_have(
    given_as: str, draw: Any
) -> None:
    compared = draw.draw(models(given_as))
    found, loop = compared.found, compared.loops["a"]
    values = {name: loop.values("ndcg", k=3) for name, loop in compared.loops.items()}
    lists = values["a"].index.intersection(values["b"].index)
    values = {name: of_model[lists] for name, of_model in values.items()}
    assert len(found["a"].users) == len(lists)
    for name, of_model in values.items():
        score = found[name].ndcg(k=3)
        assert as_dict(score.per_user) == pytest.approx(as_dict(of_model))
        mean = np.average(of_model, weights=loop.weights(of_model))
        assert found.table("ndcg", k=3).loc[name].iloc[0] == pytest.approx(mean)
    key = lists[len(lists) // 2]
    explained = found["b"].explain("ndcg", key, k=3)
    assert float(explained.value) == pytest.approx(values["b"][key])

    differences = values["b"] - values["a"]
    sample = sample_of(loop, differences, compared.cluster)
    in_a_column = differences.to_numpy()[:, np.newaxis]
    wanted = paired_of(in_a_column, sample, bounds=(-1.0, 1.0))
    row = found.differences("ndcg", k=3).iloc[0]
    mean = np.average(differences, weights=sample.weights)
    assert row.difference == pytest.approx(mean)
    for name in ("low", "high", "p", "effect_size"):
        value = getattr(wanted, name)[0]
        assert row[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name


@given(st.sampled_from(GIVEN_AS).flatmap(models))
@settings(max_examples=examples(20))
def test_each_value_of_a_split_is_the_comparison_of_its_lists(models: Models) -> None:
    found, columns = models.found, models.loops["a"].columns
    by_split = found.runs("ndcg", k=3).by_split
    table = found.table("ndcg", k=3, by=columns).to_frame()
    by = found.differences("ndcg", k=3, by=columns).to_frame()
    assert len(by) == len(models.keys)
    has_test = by["p"].notna()
    assert (by["p"] <= by["p_holm"])[has_test].all()
    for row in by.itertuples():
        key = tuple(getattr(row, column) for column in columns)
        of_key = {name: one.alone[as_dates(key)] for name, one in models.loops.items()}
        alone = recnb.compare(of_key, baseline="a")
        means = {name: float(ev.ndcg(k=3)) for name, ev in alone.items()}
        assert by_split.loc[key].squeeze().to_dict() == pytest.approx(means)
        in_table = table.loc[key if len(key) > 1 else key[0]].squeeze().to_dict()
        assert in_table == pytest.approx(means)
        of_alone = alone.differences("ndcg", k=3).iloc[0]
        for name in ("difference", "low", "high", "p", "n_users", "won", "lost"):
            value = pytest.approx(of_alone[name], abs=1e-9, nan_ok=True)
            assert getattr(row, name) == value, name


# What is said and refused

#: Two users in two folds.
TRUTH = pd.DataFrame({"user": ["u", "nan"] * 2, "item": "x", "fold": [0, 0, 1, 1]})
RECS = TRUTH.assign(score=1.0)
FOLD = RECS[RECS["fold"] == 0]
IN_FOLDS, IN_ONE_FOLD = (
    recnb.evaluate(rows, TRUTH[TRUTH["fold"].isin(rows["fold"])], **options)
    for rows, options in ((RECS, {"split": "fold"}), (FOLD, {}))
)


test_refused = hold_refusals(read_rows("laws/splits_refused.toml"), globals())


def test_the_lint_names_lists_by_user_and_split() -> None:
    lint = str(IN_FOLDS.lint(1))
    assert "Rows whose user stands for a missing value: 4 of 8" in lint
    assert "Such as user 'nan [fold=0]', item 'x'." in lint


@pytest.mark.parametrize("of_each", [True, False], ids=["of each", "of all"])
def test_train_is_that_of_the_user_in_the_split(of_each: bool) -> None:
    columns = ["fold", "seed"]
    recs, truth, _keys = frames_of(18, columns)
    train = train_of(18, columns, of_each=of_each)
    loop = Loop(recs, truth, columns, train=train)
    lint = loop.ev.lint(k=3)
    lints = [part.lint(k=3) for part in loop.alone.values()]
    for name in ("seen_in_train", "train_in_truth"):
        assert lint[name].n == sum(part[name].n for part in lints)
        assert lint[name].of == sum(part[name].of for part in lints)
    # Segments by what users had: of each list in the train of its split.
    values = loop.ev.ndcg(k=3).per_user
    n_rows = [
        (rows_of(train, columns, tuple(key))["user"] == user).sum()
        for user, *key in values.index
    ]
    means = loop.ev.table("ndcg", k=3, by="activity").to_frame()["mean"]
    if len({*n_rows}) <= 8:  # more are put into bins
        wanted = values.groupby(n_rows).mean()
        assert means.to_list() == pytest.approx(wanted.to_list(), abs=1e-12)
    else:
        assert not of_each


# Metrics of one's own


@pytest.fixture
def own_metrics() -> Iterator[list[Any]]:
    """Metrics of the caller's: of hits, of lists, and of all lists."""

    @recnb.metric(symbol="Steep", credit="1 / rank^2", out_of="k")
    def steep(hits, k=None):
        """How high the hits are."""
        return Credit(hits, k, 1 / hits.rank**2, out_of_count(hits, k, "k"))

    @recnb.metric(symbol="Found", over="list")
    def relevance_by_rank(lists, k=None):
        """Relevance of the items, of less worth further down."""
        earned = lists["relevance"] / lists["rank"]
        return earned.groupby(lists["user"]).sum()

    @recnb.metric(symbol="N", over="all")
    def n_lists(lists, k=None):
        """How many lists there are, by the columns of the split."""
        return len(lists.groupby(["user", "fold"]))

    yield [steep, relevance_by_rank, n_lists]
    for metrics in (METRICS_OF_HITS, LIST_METRICS):
        for name in [name for name, metric in metrics.items() if metric.own]:
            del metrics[name]


def test_metrics_of_ones_own_in_a_split(own_metrics: list[Any]) -> None:
    recs, truth, _keys = frames_of(8, ["fold"])
    loop = Loop(recs, truth, ["fold"])
    *of_users, n_lists = own_metrics
    for metric in of_users:
        loop.hold(metric, k=3)
    listed = recs[["user", "fold"]].drop_duplicates()
    assert loop.ev.measure(n_lists, k=3) == len(listed)
