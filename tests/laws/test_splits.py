"""Lists in a split against a plain loop: each value of its columns evaluated alone, and
the values of all put together.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.errors import FrameError, OptionError
from recnb.metrics import Credit, out_of_count
from recnb.metrics.metric import LIST_METRICS
from recnb.metrics.metric import METRICS as METRICS_OF_HITS
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
        "month": ["May"],
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
                lists += [
                    (user, item, rng.integers(0, 5) / 4, *key)
                    for item in rng.permutation(9)[: rng.integers(1, 7)]
                ]
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


def hold_loop(
    ev: recnb.Evaluation,
    alone: dict[tuple[Any, ...], recnb.Evaluation],
    columns: list[str],
    metric: Any,
    weight: pd.Series | None = None,
    **asked: Any,
) -> None:
    """Hold the values of a metric, their mean and the table by split against those of
    each split alone.
    """
    score = ev.measure(metric, **asked)
    parts = {key: part.measure(metric, **asked) for key, part in alone.items()}
    of_parts = {key: part.per_user for key, part in parts.items()}
    wanted = put_together(of_parts, columns)
    found = as_dict(score.per_user)
    assert found == pytest.approx(as_dict(wanted), abs=1e-12)
    assert [*found] == [*as_dict(wanted)]
    weights = None
    if weight is not None:
        weights = weight.loc[wanted.index.get_level_values("user")]
    mean = np.average(wanted, weights=weights)
    assert float(score) == pytest.approx(mean, abs=1e-12)
    hold_table(ev, parts, columns, metric, **asked)


def hold_table(
    ev: recnb.Evaluation,
    parts: dict[tuple[Any, ...], Any],
    columns: list[str],
    metric: Any,
    **asked: Any,
) -> None:
    """Hold the rows of a table by split against the numbers of each alone."""
    by = ev.table([metric], by=columns, **asked).to_frame()
    means = [float(part) for part in parts.values()]
    assert by["mean"].to_list() == pytest.approx(means, abs=1e-12)
    assert by["n_users"].to_list() == [part.n_users for part in parts.values()]


SPLITS = st.sampled_from(
    [["fold"], ["day"], ["seed"], ["month"], ["fold", "seed"], ["seed", "day"]]
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
            hold_loop(ev, alone, columns, metric, options.get("user_weight"), k=k)


ITEMS = pd.DataFrame(
    {"item": range(12), "genre": ["a|b", "b", "c", "a"] * 3, "year": range(1990, 2002)}
)
BEYOND: dict[str, Kwargs] = {
    "novelty": {},
    "popularity": {},
    "diversity": {"features": "genre"},
    "serendipity": {},
    "calibration": {"genre": "genre"},
    "tail_share": {},
}


def train_of(
    seed: int, keys: list[tuple[Any, ...]], columns: list[str]
) -> pd.DataFrame:
    """What users had before each fold: some of them have no list there."""
    rng = np.random.default_rng(seed)
    rows = [
        (user, item, *key)
        for key in keys
        for user in range(15)
        for item in rng.permutation(12)[: rng.integers(0, 6)]
    ]
    return pd.DataFrame(rows, columns=["user", "item", *columns])


@given(seed=st.integers(0, 10**6), columns=SPLITS, of_each=st.booleans())
@settings(max_examples=examples(16))
def test_metrics_beyond_accuracy_are_those_of_each_split_alone(
    seed: int, columns: list[str], of_each: bool
) -> None:
    recs, truth, keys = frames_of(seed, columns)
    train = train_of(seed, keys, columns)
    if not of_each:
        train = train.drop(columns=columns).drop_duplicates()
    options: Kwargs = {"items": ITEMS, "train": train}
    ev = recnb.evaluate(recs, truth, split=columns, **options)
    alone = dict(each_alone(recs, truth, columns, keys, **options))
    for metric, given_options in BEYOND.items():
        hold_loop(ev, alone, columns, metric, k=3, **given_options)
    # One number of all lists is over the rows of all splits, and says so.
    as_one = recs.assign(user=recs["user"].astype(str))
    for column in columns:
        as_one["user"] += " " + as_one[column].astype(str)
    whole = recnb.evaluate(as_one, as_one, items=ITEMS, score="score")
    for metric in ("coverage", "gini", "entropy"):
        score = getattr(ev, metric)(k=3)
        assert float(score) == pytest.approx(float(getattr(whole, metric)(k=3)))
        assert "taken together" in score.basis
        parts = {key: part.measure(metric, k=3) for key, part in alone.items()}
        hold_table(ev, parts, columns, metric, k=3)


def test_explanations_and_lists_go_by_the_keys_of_results() -> None:
    recs, truth, keys = frames_of(3, ["fold", "day"], text=True)
    train = train_of(3, keys, ["fold", "day"])
    train["user"] = "u" + train["user"].astype(str)
    options: Kwargs = {"items": ITEMS, "train": train}
    ev = recnb.evaluate(recs, truth, split=["fold", "day"], **options)
    alone = dict(each_alone(recs, truth, ["fold", "day"], keys, **options))
    assert [*ev.users] == sorted(ev.users)
    for metric, given_options in {"ndcg": {}, **BEYOND}.items():
        values = getattr(ev, metric)(k=3, **given_options).per_user
        for key in [values.index[0], values.index[-1], values.index[len(values) // 2]]:
            user, fold, day = key
            made = ev.explain(metric, key, k=3, **given_options)
            wanted = alone[fold, day.date()].explain(metric, user, k=3, **given_options)
            assert float(made.value) == pytest.approx(values[key])
            pd.testing.assert_frame_equal(made.to_frame(), wanted.to_frame())
    for user, fold, day in ev.users[::5]:
        listed = ev.user((user, fold, day), k=4)
        wanted = alone[fold, day.date()].user(user, k=4)
        pd.testing.assert_frame_equal(listed.to_frame(), wanted.to_frame())
        assert f"{user} [fold={fold}, day={day.date()}]" in repr(listed)
    assert ev.user(("u0", 0, DAY)).equals(ev.user(("u0", 0, "2024-05-01")))
    unknown_keys = [("u0", 7, DAY), ("u0", 0), (0, 0, DAY), ("nobody", 0, DAY), "u0"]
    for unknown in [*unknown_keys, ("u0", 0, "2024-05"), ("u0", 0, None), ()]:
        words = "has 9 lists" if unknown == "u0" else "not evaluated"
        with pytest.raises(recnb.errors.UnknownUserError, match=words):
            ev.explain("ndcg", unknown, k=3)


@given(seed=st.integers(0, 10**6), text=st.booleans())
@settings(max_examples=examples(12))
def test_weights_and_segments_go_by_the_user_of_a_list(seed: int, text: bool) -> None:
    recs, truth, keys = frames_of(seed, ["fold"], text=text)
    rng = np.random.default_rng(seed)
    truth["p"] = rng.integers(1, 9, len(truth)) / 8
    ids = sorted({*recs["user"], *truth["user"]})
    users = pd.DataFrame({"user": ids, "country": list("abc" * 9)[: len(ids)]})
    users["weight"] = rng.integers(1, 9, len(ids))
    by_item = pd.Series(rng.integers(1, 9, 9) / 8, range(9))
    pairs = pd.MultiIndex.from_product([ids, range(9)], names=["user", "item"])
    by_pair = pd.Series(rng.integers(1, 9, len(pairs)) / 8, pairs)
    of_user = users.set_index("user")
    for propensity in ("p", by_item, by_pair):
        options: Kwargs = {"users": users, "propensity": propensity}
        options["user_weight"] = "weight"
        ev = recnb.evaluate(recs, truth, split="fold", **options)
        alone = dict(each_alone(recs, truth, ["fold"], keys, **options))
        hold_loop(ev, alone, ["fold"], "dcg", of_user["weight"], k=4)
        values = ev.dcg(k=4).per_user
        of_lists = of_user.loc[values.index.get_level_values("user")]
        segments = ev.table(["dcg"], k=4, by="country").to_frame()
        for (_metric, _k, country), mean in segments["mean"].items():
            inside = (of_lists["country"] == country).to_numpy()
            weights = of_lists["weight"][inside]
            wanted = np.average(values[inside], weights=weights)
            assert mean == pytest.approx(wanted, abs=1e-12)


def test_users_drawn_as_one_are_those_of_a_cluster() -> None:
    recs, truth, _keys = frames_of(5, ["fold"])
    users = pd.DataFrame({"user": range(12), "topic": [n // 3 for n in range(12)]})
    ev = recnb.evaluate(recs, truth, split="fold", users=users, cluster="topic")
    of_users = ev.keys.users_of(ev.joined.users).to_numpy()
    codes = ev.sample.codes
    assert codes is not None
    np.testing.assert_array_equal(codes, of_users // 3)
    by_user = recnb.evaluate(recs, truth, split="fold").sample.codes
    assert by_user is not None
    np.testing.assert_array_equal(by_user, of_users)
    one_list_each = recnb.evaluate(recs[recs["fold"] == 0], truth[truth["fold"] == 0])
    assert one_list_each.sample.codes is None
    lacking = {"split": "fold", "users": users[:11], "cluster": "topic"}
    with pytest.raises(FrameError, match=r"cluster= has no value .* user 11"):
        _ = recnb.evaluate(recs, truth, **lacking).sample
    with pytest.raises(OptionError, match="give users="):
        recnb.evaluate(recs, truth, split="fold", cluster="topic")
    with pytest.raises(FrameError, match="'household' is no column of users="):
        recnb.evaluate(recs, truth, users=users, split="fold", cluster="household")


def test_models_are_compared_on_the_lists_that_all_have() -> None:
    recs, truth, keys = frames_of(6, ["fold"])
    rng = np.random.default_rng(6)
    others = recs.assign(score=rng.random(len(recs)))
    others = others[(others["fold"] > 0) | (others["user"] < 8)]
    models = {"a": recs, "b": others}
    averaged: Kwargs = {"averaged_users": "both"}
    found = recnb.compare(models, truth, split="fold", **averaged)
    values = {}
    for name, rows in models.items():
        parts = each_alone(rows, truth, ["fold"], keys, **averaged)
        of_model = {key: part.ndcg(k=3).per_user for key, part in parts}
        values[name] = put_together(of_model, ["fold"])
    lists = values["a"].index.intersection(values["b"].index)
    table = found.table(["ndcg", "recall"], k=3).to_frame()
    by = found.table("ndcg", k=3, by="fold").to_frame()
    for name, of_all in values.items():
        wanted = of_all[lists]
        assert table.loc[name].iloc[0] == pytest.approx(wanted.mean(), abs=1e-12)
        assert as_dict(found[name].ndcg(k=3).per_user) == pytest.approx(as_dict(wanted))
        for fold, of_fold in wanted.groupby(level="fold"):
            assert by.loc[(fold, name)].iloc[0] == pytest.approx(of_fold.mean())
    assert len(found["a"].users) == len(lists)
    one_frame = pd.concat([rows.assign(model=name) for name, rows in models.items()])
    fewer = {"a": recs, "b": others[others["fold"] > 0]}
    of_all = truth.drop(columns="fold").drop_duplicates(["user", "item"])
    with pytest.raises(OptionError, match="only 'a' has fold=0"):
        recnb.compare(fewer, of_all, split="fold")
    in_split = recnb.evaluate(recs, truth, split="fold")
    plain = recnb.evaluate(*(frame[frame["fold"] == 0] for frame in (recs, truth)))
    with pytest.raises(OptionError, match="'b' have lists in other values of split="):
        recnb.compare({"a": in_split, "b": plain})
    same = recnb.compare(one_frame, truth, split="fold", **averaged)
    pd.testing.assert_frame_equal(same.table(["ndcg", "recall"], k=3).to_frame(), table)


def test_models_with_lists_of_other_users_are_compared_by_user_and_split() -> None:
    truth = pd.DataFrame(
        {"user": [1, 2, 5] * 2, "item": "x", "fold": [0] * 3 + [1] * 3}
    )
    first = truth.assign(user=[1, 2, 3, 1, 2, 4], item=[*"xyxyxx"], rank=1)
    second = truth.assign(user=[0, 1, 2, 0, 1, 2], item=[*"xxyxxy"], rank=1)
    evaluations = {
        name: recnb.evaluate(rows, truth, split="fold", averaged_users="both")
        for name, rows in {"a": first, "b": second}.items()
    }
    for joined in (False, True):
        if joined:
            assert all(ev.recall(k=1) == 0.5 for ev in evaluations.values())
        found = recnb.compare(evaluations)
        values = {name: found[name].recall(k=1).per_user.to_dict() for name in "ab"}
        keys = [(1, 0), (1, 1), (2, 0), (2, 1)]
        assert values["a"] == dict(zip(keys, [1.0, 0.0, 0.0, 1.0], strict=True))
        assert values["b"] == dict(zip(keys, [1.0, 1.0, 0.0, 0.0], strict=True))
        assert found.overlap(k=1).to_frame()["n_identical"].to_list() == [2]
        movers = found.movers("recall", k=1).to_frame()
        assert movers["user"].to_list() == ["1 [fold=1]", "2 [fold=1]"]
        assert found["a"].explain("recall", (2, 1), k=1).value == 1
    other_truth = recnb.evaluate(second, truth.assign(item=[*"xzxxxx"]), split="fold")
    with pytest.raises(FrameError, match=r"has user '2 \[fold=0\]', item '[xz]'"):
        recnb.compare(
            {"a": recnb.evaluate(first, truth, split="fold"), "b": other_truth}
        )
    as_text = [rows.assign(user=rows["user"].astype(str)) for rows in (second, truth)]
    texts = recnb.evaluate(*as_text, split="fold", averaged_users="both")
    with pytest.raises(FrameError, match="different kinds in the models"):
        recnb.compare({"a": evaluations["a"], "b": texts})


def test_errors_and_the_lint_name_lists_by_user_and_split() -> None:
    truth = pd.DataFrame({"user": ["u", "nan"] * 2, "item": "x", "fold": [0, 0, 1, 1]})
    recs = truth.assign(score=1.0)
    lint = str(recnb.evaluate(recs, truth, split="fold").lint(1))
    assert "Rows whose user stands for a missing value: 4 of 8" in lint
    assert "Such as user 'nan [fold=0]', item 'x'." in lint
    twice = pd.concat([recs, recs[3:]])
    bad = recs.assign(score=[1, 1, 1, np.nan])
    for lists, words in ((twice, "such as"), (bad, "for")):
        with pytest.raises(
            FrameError, match=rf"{words} user 'nan \[fold=1\]', item 'x'"
        ):
            recnb.evaluate(lists, truth, split="fold").ndcg(k=1)


@pytest.fixture
def own_metrics() -> Iterator[list[Any]]:
    """Metrics of the caller's: of hits, of hits with train, and of lists with train."""

    @recnb.metric(symbol="Steep", credit="1 / rank^2", out_of="k")
    def steep(hits, k=None):
        """How high the hits are."""
        return Credit(hits, k, 1 / hits.rank**2, out_of_count(hits, k, "k"))

    @recnb.metric(symbol="Found", over="list")
    def relevance_by_rank(lists, k=None):
        """Relevance of the items, of less worth further down."""
        earned = lists["relevance"] / lists["rank"]
        return earned.groupby(lists["user"]).sum()

    yield [steep, relevance_by_rank]
    for metrics in (METRICS_OF_HITS, LIST_METRICS):
        for name in [name for name, metric in metrics.items() if metric.own]:
            del metrics[name]


def test_metrics_of_ones_own_in_a_split(own_metrics: list[Any]) -> None:
    recs, truth, keys = frames_of(8, ["fold"])
    ev = recnb.evaluate(recs, truth, split="fold")
    alone = dict(each_alone(recs, truth, ["fold"], keys))
    for metric in own_metrics:
        hold_loop(ev, alone, ["fold"], metric, k=3)


def test_a_frame_of_all_lists_has_the_columns_of_the_split() -> None:
    recs, truth, _keys = frames_of(8, ["fold"])
    frames = []

    @recnb.metric(symbol="N", over="all")
    def n_lists(lists, k=None):
        frames.append(lists)
        return len(lists.groupby(["user", "fold"]))

    number = recnb.evaluate(recs, truth, split="fold").measure(n_lists, k=3)
    del LIST_METRICS["n_lists"]
    listed = recs[["user", "fold"]].drop_duplicates()
    assert number == len(listed)
    (frame,) = frames
    assert set(map(tuple, frame[["user", "fold"]].to_numpy())) == set(
        map(tuple, listed.to_numpy())
    )


def test_the_line_below_a_number_counts_lists_users_and_values() -> None:
    recs, truth, _keys = frames_of(9, ["fold", "seed"])
    in_folds = recs[recs["seed"] == "a"], truth[truth["seed"] == "a"]
    score = recnb.evaluate(*in_folds, split="fold").ndcg(k=3)
    n_users = score.per_user.index.get_level_values("user").nunique()
    line = f"{len(score.per_user)} lists of {n_users} users in 3 values of fold"
    assert score.basis.startswith(line)
    both = recnb.evaluate(recs, truth, split=["fold", "seed"]).ndcg(k=3)
    assert "users in 6 combinations of fold and seed" in both.basis


@pytest.mark.parametrize("of_each", [True, False], ids=["of each", "of all"])
def test_train_is_that_of_the_user_in_the_split(of_each: bool) -> None:
    recs, truth, keys = frames_of(18, ["fold", "seed"])
    train = train_of(18, keys, ["fold", "seed"])
    if not of_each:
        train = train.drop(columns=["fold", "seed"]).drop_duplicates()
    ev = recnb.evaluate(recs, truth, split=["fold", "seed"], train=train)
    alone = dict(each_alone(recs, truth, ["fold", "seed"], keys, train=train))
    lint, lints = ev.lint(k=3), [part.lint(k=3) for part in alone.values()]
    for name in ("seen_in_train", "train_in_truth"):
        assert lint[name].n == sum(part[name].n for part in lints)
        assert lint[name].of == sum(part[name].of for part in lints)
    # Segments by what users had: of each list in the train of its split.
    values = ev.ndcg(k=3).per_user
    n_rows = [
        len(rows[rows["user"] == user])
        for user, *key in values.index
        for rows in [rows_of(train, ["fold", "seed"], tuple(key))]
    ]
    if len({*n_rows}) <= 8:  # more are put into bins
        wanted = values.groupby(n_rows).mean()
        means = ev.table("ndcg", k=3, by="activity").to_frame()["mean"]
        assert means.to_list() == pytest.approx(wanted.to_list(), abs=1e-12)
    else:
        assert not of_each


def test_train_that_lacks_a_value_of_the_split_is_refused():
    recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": 1, "fold": [0, 1]})
    truth = pd.DataFrame({"user": [1, 1], "item": ["a", "a"], "fold": [0, 1]})
    train = pd.DataFrame({"user": [2, 2], "item": ["a", "b"], "fold": [0, 0]})
    with pytest.raises(recnb.errors.FrameError, match="no row of fold=1"):
        recnb.evaluate(recs, truth, split="fold", train=train)
    of_all = train.drop(columns="fold")  # the fix
    ev = recnb.evaluate(recs, truth, split="fold", train=of_all)
    assert ev.novelty(k=1) == pytest.approx(0.0)
