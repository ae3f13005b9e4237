"""Which models are compared and on whom: every form of them, what is refused, users in
common; identical lists have identical values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.conventions import presets
from recnb.errors import (
    FrameError,
    OptionError,
    UnknownUserError,
)
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.comparison.frames import FIRST, SAMPLE, SECOND, TRUTH, lists
from tests.rows import hold_refused, read_rows

EVALUATED = FIRST.rec.against(TRUTH)
SEVERAL = pd.concat(
    [FIRST.assign(model="new"), SECOND.assign(model="old")], ignore_index=True
)
PREDICTED = pd.DataFrame(
    {"qid": [1, 1], "label": [0, 1], "a": [0.1, 0.2], "b": [0.2, 0.1]}
)
PARTS = {"part1": lists(a="xy", b="yx"), "part2": lists(c="pq", d="xq")}
KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame: pl.from_pandas(frame).to_arrow(),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_one_frame_with_a_column_of_models(kind):
    for column, options in (("model", {}), ("which", {"model": "which"})):
        found = recnb.compare(
            kind(SEVERAL.rename(columns={"model": column})), kind(TRUTH), **options
        )
        assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {
            "new": 0.625,
            "old": 0.375,
        }
    assert SEVERAL.columns.tolist() == ["user", "item", "rank", "model"]


@pytest.mark.parametrize("kind", list(KINDS.values())[:3], ids=list(KINDS)[:3])
@pytest.mark.parametrize("with_items", [True, False])
def test_columns_of_predictions(kind, with_items):
    """Each column is a model, as if it was the one score of the frame."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "qid": np.repeat(np.arange(20), 5),
            "label": rng.integers(0, 3, 100),
            "f1": rng.random(100),
        }
    )
    frame = frame.assign(
        y_pred=rng.random(100), xgb_pred=frame["label"] + rng.random(100)
    )
    if with_items:
        frame["item"] = np.tile(np.arange(5), 20)
    found = recnb.compare(kind(frame), score=["y_pred", "xgb_pred"])
    for name, other in (("y_pred", "xgb_pred"), ("xgb_pred", "y_pred")):
        assert found[name].ndcg(k=3) == recnb.evaluate(
            frame.drop(columns=other), score=name
        ).ndcg(k=3)
    assert found["xgb_pred"].ndcg(k=3) > found["y_pred"].ndcg(k=3)


def test_other_forms_of_models():
    assert (
        SEVERAL.rec.compare(TRUTH, baseline="old").names
        == pl.from_pandas(SEVERAL).rec.compare(TRUTH).names
    )
    both = SEVERAL.merge(TRUTH.assign(relevance=1), how="left").fillna({"relevance": 0})
    assert recnb.compare(both, averaged_users="recs")["new"].mrr(k=2) == pytest.approx(
        2.5 / 3
    )
    for models, truth in (
        ({"new": EVALUATED, "old": SECOND}, TRUTH),
        ({"new": EVALUATED, "old": SECOND.rec.against(TRUTH.iloc[::-1])}, None),
    ):
        assert recnb.compare(models, truth).table("mrr", k=2).iloc[:, 0].tolist() == [
            0.625,
            0.375,
        ]
    # One list may have scores where another has ranks.
    scored = (
        SECOND.assign(score=-SECOND["rank"]).drop(columns="rank").rec.against(TRUTH)
    )
    found = recnb.compare({"a": EVALUATED, "b": scored})
    assert found.table("mrr", k=2).iloc[1, 0] == 0.375
    assert "ordered by score, or by rank" in found.basis


def two(**options):
    return recnb.compare({"a": FIRST, "b": SECOND}, TRUTH, **options)


def beside(other, *truth, **options):
    return recnb.compare({"a": EVALUATED, "b": other}, *truth, **options)


REFUSED = read_rows("comparison/models_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_compared_is_refused(call):
    hold_refused(call, REFUSED[call], globals())


# Users in common


def test_only_users_that_all_models_are_judged_on():
    found = recnb.compare(
        {"one": lists(a="xy", b="yx", c="pq"), "two": lists(b="xy", c="xp", d="xq")},
        TRUTH,
        averaged_users="recs",
    )
    assert found.table("mrr", k=2)["reciprocal_rank@2"].to_dict() == {
        "one": 0.25,
        "two": 1.0,
    }
    assert (
        "2 users that both models are judged on; 1 user of one left out" in found.basis
    )
    for one in found.models.values():
        assert (one.users.tolist(), one.counts.n_users) == (["b", "c"], 2)
        assert "left out" not in repr(one.mrr(k=2))
    # What is known of a user stays as it was.
    assert found["two"].explain("mrr", "c", k=2).value == 1.0
    assert found["two"].under("ranx").n_users == 2
    assert [one.not_in_all for one in found.left_out.values()] == [1, 1]
    assert found.overlap(2).loc[0, ["n_users", "jaccard", "n_identical"]].tolist() == [
        2,
        pytest.approx(2 / 3),
        0,
    ]
    with pytest.raises(UnknownUserError):
        found["one"].explain("mrr", "a", k=2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "expected"},
        {"candidates": "padded"},
        {"averaged_users": "union", "no_relevant": "zero"},
    ],
)
def test_restricted_users_keep_their_values_and_explanations(options):
    models = {
        **SAMPLE.models,
        "popular": SAMPLE.models["popular"].query("user > 'u100'"),
    }
    options = {"order": "score", "averaged_users": "recs", **options}
    found = recnb.compare(models, SAMPLE.test, **options)
    for name, frame in models.items():
        whole, mine = frame.rec.against(SAMPLE.test, **options), found[name]
        for metric in ("ndcg", "mrr"):
            values = getattr(mine, metric)(k=10).per_user
            pd.testing.assert_series_equal(
                values, getattr(whole, metric)(k=10).per_user.loc[values.index]
            )
        for user in found.users[[0, -1]]:
            ours, theirs = (
                mine.explain("ndcg", user, k=10),
                whole.explain("ndcg", user, k=10),
            )
            assert (ours.value, ours.missed, ours.terms) == (
                theirs.value,
                theirs.missed,
                theirs.terms,
            )


def test_what_users_with_nothing_to_find_count_is_not_said_where_metrics_differ_in_it():
    recs = {"u": {"x": 1.0, "z": 0.5}, "v": {"y": 1.0}}
    truth = {"u": {"x": 1, "z": 0}, "v": {"y": 0}}
    models = {"a": recs, "b": recs}
    for library, is_said in (("lightgbm", True), ("catboost", False)):
        found = recnb.compare(models, truth, convention=library)
        assert ("with no relevant item" in found.basis) == is_said


# Nothing that two models do not share may make a difference between them.

#: Conventions under which what is of all users can enter the value of one.
CONVENTIONS: list[dict[str, Any]] = [
    {},
    {"averaged_users": "both"},
    {"averaged_users": "recs", "no_relevant": "zero"},
    {"averaged_users": "union", "no_relevant": "zero"},
    {"judged": "list", "averaged_users": "both"},
    {"relevant_from": 3},
    {"averaged_users": "both", "candidates": "catalogue", "ties": "first"},
    {
        "averaged_users": "both",
        "candidates": "catalogue",
        "ties": "max_rank",
        "order": "score",
    },
    {"averaged_users": "both", "candidates": "padded"},
    {"averaged_users": "both", "relevant": "any"},
    {
        "averaged_users": "both",
        "duplicates": "dedupe",
        "ties": "item_asc",
        "order": "score",
    },
    *(
        {"convention": library}
        for library in ("cornac", "rectools", "ranx", "trec_eval", "recbole")
    ),
]


def twins():
    """Two models with the same lists for six users, of whom one serves another two as
    well, with items of their own.
    """
    rng = np.random.default_rng(7)
    items = [f"i{number:02}" for number in range(12)]
    rows = [
        (f"u{user}", item, 9.0 - at)
        for user in range(6)
        for at, item in enumerate(rng.permutation(items)[:5])
    ]
    both = pd.DataFrame(rows, columns=["user", "item", "score"])
    # Items that sort before, between and after the others; one of the users is the only
    # one with the highest grade.
    own = [
        ("v1", item, 9.0 - at) for at, item in enumerate(["a00", "i03", "i05x", "z99"])
    ]
    own += [("v2", "a01", 3.0), ("v2", "i00", 2.0)]
    judged = [
        (f"u{user}", item, int(rng.integers(0, 4)))
        for user in range(6)
        for item in rng.permutation(items)[:6]
    ]
    judged += [("v1", "i03", 5), ("v2", "q50", 4), ("w1", "i01", 6)]
    train = [(f"u{user}", items[user + at]) for user in range(6) for at in range(3)]
    known = [*items, "a00", "i05x", "z99", "a01", "q50"]
    sides = {
        "train": pd.DataFrame(train, columns=["user", "item"]),
        "items": pd.DataFrame(
            {
                "item": known,
                "genres": [["rock", "folk"][at % 2] for at in range(len(known))],
            }
        ),
    }
    more = pd.concat([pd.DataFrame(own, columns=both.columns), both], ignore_index=True)
    return (
        {"these": both, "and more": more},
        pd.DataFrame(judged, columns=["user", "item", "relevance"]),
        sides,
    )


@pytest.mark.thin
@pytest.mark.parametrize("evaluated", [False, True])
@pytest.mark.parametrize("convention", CONVENTIONS, ids=str)
def test_no_metric_of_accuracy_differs(convention, evaluated):
    models, truth, _ = twins()
    library = convention.get("convention")
    names = [
        name for name in METRICS if library is None or presets.of_metric(name, library)
    ]
    assert len(names) >= 3
    if evaluated:
        evaluations = {
            name: recnb.evaluate(one, truth, **convention)
            for name, one in models.items()
        }
        found = recnb.compare(evaluations)
    else:
        found = recnb.compare(models, truth, **convention)
    for name in names:
        for k in (1, 3, 50, None) if library is None else (3,):
            values = [getattr(found[model], name)(k=k).per_user for model in models]
            one, other = (each[each.index.str.startswith("u")] for each in values)
            pd.testing.assert_series_equal(
                one, other, rtol=0, atol=0, obj=f"{name}@{k}"
            )


@pytest.mark.parametrize("with_items", [False, True])
def test_no_metric_beyond_accuracy_differs(with_items):
    models, truth, sides = twins()
    sides = sides if with_items else {"train": sides["train"]}
    found = recnb.compare(models, truth, averaged_users="both", **sides)
    names = [
        one.name
        for one in LIST_METRICS.values()
        if one.of != "all" and (with_items or not {"features", "genre"} & {*one.needs})
    ]
    assert len(names) >= 4
    assert (found.differences(names, k=[2, 3, 5]).difference == 0).all()


@pytest.mark.parametrize(
    ("changed", "metric"), [("train", "novelty"), ("items", "diversity")]
)
def test_what_is_known_of_items_must_be_one_where_it_enters(changed, metric):
    models, truth, kept = twins()
    both = {"a": kept, "b": {**kept, changed: kept[changed].iloc[:-2]}}
    found = recnb.compare(
        {
            name: recnb.evaluate(models["these"], truth, **side)
            for name, side in both.items()
        }
    )
    assert found.differences("ndcg", k=3).difference.item() == 0
    for call in (lambda: found.differences(metric, k=3), lambda: found.beyond(k=3)):
        with pytest.raises(
            FrameError,
            match=rf"'a' and 'b' have different {changed}=.*give compare\(\) one {changed}=",
        ):
            call()


def test_items_must_be_one_for_a_function_that_is_given_them_and_not_for_judgments():
    models, truth, kept = twins()
    both = {"a": kept, "b": {**kept, "items": kept["items"].iloc[:-2]}}
    found = recnb.compare(
        {
            name: recnb.evaluate(models["these"], truth, **side)
            for name, side in both.items()
        }
    )
    assert found.differences(["judged", "bpref"], k=3)["difference"].tolist() == [0, 0]

    @recnb.metric(symbol="Depth", over="list")
    def depth(lists, k=None):
        """Mean rank of the items shown."""
        return lists.groupby("user")["rank"].mean()

    try:
        with pytest.raises(FrameError, match="'a' and 'b' have different items="):
            found.differences(depth, k=3)
    finally:
        del LIST_METRICS["depth"]


DAYS = pd.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": list("pqpq"),
        "day": list("xyxy"),
        "half": list("aabb"),
    }
)
USERS = pd.DataFrame({"user": [1, 2], "group": ["u", "v"]})
ITEMS = pd.DataFrame({"item": list("pq"), "genre": ["s", "t"]})


@pytest.mark.parametrize(
    ("column", "by"),
    [
        ("day", "day"),
        ("half", "half"),
        ("half", ["half", "group"]),
        ("group", "group"),
    ],
)
def test_segments_are_the_same_for_all_models_or_refused(column, by):
    """Each model would be judged in segments of its own."""
    recs = pd.DataFrame({"user": [1, 2], "item": ["p", "q"], "rank": 1})

    def evaluated(change=None):
        frames = []
        for frame in (DAYS, USERS, ITEMS):
            is_changed = change is not None and column in frame
            frames.append(frame.assign(**{column: change}) if is_changed else frame)
        truth, users, items = frames
        return recnb.evaluate(recs, truth[::-1], users=users, items=items)

    found = recnb.compare({"a": evaluated(), "b": evaluated()}, baseline="a")
    assert found.table("recall", k=1, by=by)["recall@1"].notna().all()
    values = next(frame for frame in (DAYS, USERS, ITEMS) if column in frame)[column]
    other = evaluated(values[::-1].to_numpy())
    found = recnb.compare({"a": evaluated(), "b": other}, baseline="a")
    calls = (
        lambda: found.table("recall", k=1, by=by),
        lambda: found.report(k=1, metrics="recall", by=by),
    )
    for call in calls:
        with pytest.raises(
            FrameError, match=rf"by='{column}' is not the same column in 'a' and 'b'"
        ):
            call()
    given = {"users": USERS, "items": ITEMS}
    recnb.compare({"a": recs, "b": recs}, DAYS, **given).table("recall", k=1, by=by)


def test_activity_is_the_same_where_users_have_as_many_rows_in_train():
    recs = pd.DataFrame({"user": [1, 2], "item": ["p", "q"], "rank": 1})

    def evaluated(users):
        train = pd.DataFrame({"user": users, "item": list("rst")})
        return recnb.evaluate(recs, DAYS, train=train)

    same = recnb.compare({"a": evaluated([1, 1, 2]), "b": evaluated([2, 1, 1])})
    assert len(same.table("recall", k=1, by="activity")) == 4
    other = recnb.compare({"a": evaluated([1, 1, 2]), "b": evaluated([1, 2, 2])})
    with pytest.raises(FrameError, match="by='activity' is not the same column"):
        other.table("recall", k=1, by="activity")


@pytest.mark.parametrize("with_list", [(8, 10), (10, 8)])
def test_users_in_common_are_those_of_metrics_that_a_library_averages_otherwise(
    with_list,
):
    """For its nDCG recommenders takes all users, for others those in both frames."""
    truth = pd.DataFrame({"user": range(12), "item": "a", "relevance": 1})
    models = {
        name: pd.DataFrame({"user": range(n), "item": "a", "rank": 1})
        for name, n in zip("xy", with_list, strict=True)
    }
    found = recnb.compare(models, truth, convention="recommenders")
    means = found.table("ndcg", k=1)["ndcg@1"]
    for name in models:
        score = found[name].ndcg(k=1)
        assert (float(score), score.n_users) == (means[name], 8) == (1.0, 8)
    assert found.report(k=1, metrics=["ndcg"]).n_users == 8


def test_a_metric_over_other_users_is_refused_with_advice_that_works():
    truth = pd.DataFrame({"user": range(12), "item": "a", "relevance": 1})
    recs = pd.DataFrame({"user": range(9), "item": "a", "rank": 1})
    ev = recnb.evaluate(recs, truth, convention="recommenders")
    found = recnb.compare({"x": recs, "y": recs}, truth, convention="recommenders")
    words = r"ndcg over other users than its other metrics: ask for its mean, \.table"
    for call in (ev.report, found.report, found.movers):
        with pytest.raises(OptionError, match=words):
            call(k=1, **({} if call == found.movers else {"metrics": ["ndcg"]}))
    assert ev.table(["ndcg"], k=1).loc["ndcg", 1] == pytest.approx(9 / 12)
    table = found.table(["ndcg", "precision"], k=1)
    assert table["ndcg@1"].tolist() == pytest.approx([9 / 12] * 2)
    assert "9 users that both models" in table.attrs["basis"]
    assert "nDCG: 12 users" in table.attrs["basis"]
