import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb.data import user_buckets
from recnb.errors import ColumnError, FrameError, NoUsersError, OptionError
from tests.examples import examples

METRICS = {
    "ndcg": {"gain": "exponential"},
    "err": {},
    "average_precision": {},
    "reciprocal_rank": {"target": "preferred"},
    "f1": {},
}
K = [1, 3, None]


def random_frames(rng, n_users=40, text=False):
    """Users in one frame only, ties, grades from 0, rows of all users mixed in the truth and together in the lists."""
    lists, truths = [], []
    for user in range(n_users):
        if rng.random() < 0.85:
            items = rng.permutation(12)[: rng.integers(1, 10)]
            lists.append((np.full(len(items), user), items, rng.integers(0, 4, len(items)) / 2))
        if rng.random() < 0.85:
            items = rng.permutation(12)[: rng.integers(1, 8)]
            truths.append((np.full(len(items), user), items, rng.integers(0, 6, len(items))))
    recs, truth = (
        pd.DataFrame(dict(zip(names, map(np.concatenate, zip(*parts, strict=True)), strict=True)))
        for names, parts in ((["user", "item", "score"], lists), (["user", "item", "relevance"], truths))
    )
    # Labels of rows that repeat, which nothing may depend on.
    truth.index = np.concatenate([np.arange(len(items)) for _, items, _ in truths])
    truth = truth.sample(frac=1, random_state=int(rng.integers(1e6)))
    if text:
        recs, truth = (
            one.assign(user="u" + one.user.astype(str), item="i" + one.item.astype(str)) for one in (recs, truth)
        )
    return recs, truth


def cut(recs, n):
    """Chunks of whole users, some of them empty."""
    users = recs.user.unique()
    return [recs[recs.user.isin(some)] for some in np.array_split(users, n)]


CONVENTIONS = [
    {},
    {"ties": "last"},
    {"ties": "item_desc", "duplicates": "dedupe"},
    {"ties": "max_rank", "users": "union", "no_relevant": "zero"},
    {"ties": "worst"},
    {"users": "union", "no_relevant": "one"},
    {"relevant_from": 3},
    {"relevant": "any", "no_relevant": "skip"},
    {"candidates": "padded"},
    {"cutoff": "none"},
    {"score_dtype": "float32"},
    {"nonpositive_scores": "never_hit"},
    {"order": "row"},
]


def conventions_by_number(in_command):
    """The numbers of all conventions, of which CI alone tries every other pair."""
    numbers = range(len(CONVENTIONS))
    return [
        number if number // 2 % 2 == in_command else pytest.param(number, marks=pytest.mark.slow) for number in numbers
    ]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(CONVENTIONS), st.integers(1, 35), st.booleans())
def test_chunks_give_the_numbers_of_the_whole(seed, convention, n_chunks, text):
    recs, truth = random_frames(np.random.default_rng(seed), n_users=25, text=text)
    expected = recnb.evaluate(recs, truth, **convention).table(METRICS, k=K)
    made = recnb.evaluate_chunks(cut(recs, n_chunks), truth, METRICS, K, **convention)
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    assert made.table().attrs["basis"] == expected.attrs["basis"]
    assert made.n_chunks == n_chunks


@pytest.mark.parametrize("users", ["recs", "both"])
@pytest.mark.parametrize("judged", ["truth", "list"])
def test_users_of_the_lists_count_too(users, judged):
    recs, truth = random_frames(np.random.default_rng(1))
    asked = {"users": users, "judged": judged, "no_relevant": "zero"}
    expected = recnb.evaluate(recs, truth, **asked).table(["ndcg", "err"], k=5)
    made = recnb.evaluate_chunks(cut(recs, 7), truth, ["ndcg", "err"], 5, **asked)
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), atol=1e-12)


def test_the_scale_of_err_is_that_of_all_users():
    recs = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "relevance": [1, 4]})
    made = recnb.evaluate_chunks([recs[:1], recs[1:]], truth, ["err"], 1)
    assert made.score("err", 1) == pytest.approx((1 / 16 + 15 / 16) / 2, abs=1e-15)


def test_err_of_a_truth_without_anything_relevant_is_that_of_the_whole():
    recs = pd.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 2], "relevance": [0, 0]})
    whole = recnb.evaluate(recs, truth, no_relevant="one")
    parts = recnb.evaluate_chunks([recs[:1], recs[1:]], truth, metrics={"err": {}}, k=1, no_relevant="one")
    assert parts.table().loc["err", 1] == whole.err(k=1) == 1.0


def test_any_frames_will_do_and_they_stay_as_they_are():
    recs, truth = random_frames(np.random.default_rng(2))
    before = recs.copy(), truth.copy()
    expected = recnb.evaluate(recs, truth).table(k=5)
    parts = cut(recs, 4)
    mixed = [parts[0], pl.from_pandas(parts[1]), pl.from_pandas(parts[2]).lazy(), pl.from_pandas(parts[3]).to_arrow()]
    made = recnb.evaluate_chunks(iter(mixed), pl.from_pandas(truth).lazy(), k=5)
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), atol=1e-12)
    pd.testing.assert_frame_equal(recs, before[0])
    pd.testing.assert_frame_equal(truth, before[1])


def test_columns_and_libraries_are_named_as_for_evaluate():
    recs, truth = random_frames(np.random.default_rng(3))
    recs, truth = recs.rename(columns={"user": "who"}), truth.rename(columns={"user": "who", "relevance": "stars"})
    chunks = [part.rename(columns={"user": "who"}) for part in cut(recs.rename(columns={"who": "user"}), 3)]
    expected = recnb.evaluate(recs, truth, user="who", relevance="stars").table(k=[2, 4])
    made = recnb.evaluate_chunks(chunks, truth, k=[2, 4], user="who", relevance="stars")
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), atol=1e-12)
    for library in ("ranx", "rectools"):
        expected = recnb.evaluate(recs, truth, user="who", relevance="stars", convention=library).table(k=[2, 4])
        made = recnb.evaluate_chunks(chunks, truth, k=[2, 4], user="who", relevance="stars", convention=library)
        np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), atol=1e-12)
        assert made.table().attrs["basis"] == expected.attrs["basis"]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("whole", [50, 10_000])
def test_a_list_may_be_spread_over_chunks(text, whole, monkeypatch):
    monkeypatch.setattr(user_buckets, "WHOLE", whole)
    recs, truth = random_frames(np.random.default_rng(4), text=text)
    shuffled = recs.sample(frac=1, random_state=4)
    chunks = [shuffled[start : start + 13] for start in range(0, len(recs), 13)]
    made = recnb.evaluate_chunks(chunks, truth, METRICS, K)
    expected = recnb.evaluate(shuffled, truth).table(METRICS, k=K)
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    with pytest.raises(FrameError, match="1 pair of user and item is repeated"):
        recnb.evaluate_chunks([*chunks, recs[:1]], truth, k=5)


def test_what_is_wrong_is_said():
    recs, truth = random_frames(np.random.default_rng(6))
    with pytest.raises(FrameError, match="no chunk"):
        recnb.evaluate_chunks([], truth)
    with pytest.raises(FrameError, match="chunks is one DataFrame"):
        recnb.evaluate_chunks(recs, truth)
    with pytest.raises(FrameError, match="recommendations: there are no rows"):
        recnb.evaluate_chunks([recs[:0]], truth)
    with pytest.raises(FrameError, match="truth: there are no rows"):
        recnb.evaluate_chunks([recs], truth[:0])
    with pytest.raises(FrameError, match="no user is in both frames"):
        recnb.evaluate_chunks(cut(recs.assign(user=recs.user + 1000), 3), truth)
    with pytest.raises(NoUsersError, match="relevance must be 9 or more and the highest in the truth is 5"):
        recnb.evaluate_chunks(cut(recs, 3), truth, relevant_from=9)
    with pytest.raises(FrameError, match="user ids are of different kinds"):
        recnb.evaluate_chunks([recs, recs.assign(user=recs.user.astype(str) + "x")], truth)
    with pytest.raises(ColumnError, match="no user column"):
        recnb.evaluate_chunks([recs.rename(columns={"user": "x"})], truth)
    with pytest.raises(FrameError, match="chunk 2 has other columns than the first"):
        recnb.evaluate_chunks([recs[:5], recs[5:].rename(columns={"score": "rank"})], truth)
    with pytest.raises(FrameError, match="negative relevance"):
        recnb.evaluate_chunks([recs], truth.assign(relevance=-1))
    with pytest.raises(FrameError, match="lists of 2 models"):
        recnb.evaluate_chunks([part.assign(model=n) for n, part in zip("ab", cut(recs, 2), strict=True)], truth)
    with pytest.raises(OptionError, match="is no option of an evaluation"):
        recnb.evaluate_chunks([recs], truth, k=5, gian="binary")
    with pytest.raises(OptionError, match="train= serves"):
        recnb.evaluate_chunks([recs], truth, k=5, train=truth)
    for options in ({"candidates": "catalogue"},):
        with pytest.raises(OptionError, match=f"{next(iter(options))}=.*evaluate all users at once"):
            recnb.evaluate_chunks([recs], truth, k=5, **options)


def test_it_shows_itself():
    recs, truth = random_frames(np.random.default_rng(7))
    made = recnb.evaluate_chunks(cut(recs, 3), truth, ["ndcg"], [5, 10])
    assert repr(made).startswith(f"Evaluation of {len(recs):,} recommended rows in 3 chunks against")
    assert "ndcg" in made._repr_html_()
    assert list(made.to_frame().columns) == ["metric", "k", "mean", "low", "high", "n_users"]
    assert made.curve("ndcg").k == (5, 10)
    assert made.interval("ndcg", 5).low < made.score("ndcg", 5) < made.interval("ndcg", 5).high
    assert made.n_users == made.partial.n_users
    assert made.convention == made.partial.convention
    assert type(made.partial) is recnb.Partial
    assert repr(made.partial).startswith(f"Partial of {len(recs):,} recommended rows against")
    other = recs.assign(user=recs.user + 100), truth.assign(user=truth.user + 100)
    later = recnb.evaluate_chunks(cut(other[0], 2), other[1], ["ndcg"], [5, 10])
    for total in (made + later, made + later.partial, made.partial + later):
        assert type(total) is recnb.Partial
        assert total.n_users == made.n_users + later.n_users


def test_metrics_may_be_any_iterable(monkeypatch):
    monkeypatch.setattr(user_buckets, "WHOLE", 50)
    recs, truth = random_frames(np.random.default_rng(8))
    with pytest.raises(OptionError, match="metrics=5: name them in a list"):
        recnb.evaluate_chunks(cut(recs, 3), truth, 5)
    with pytest.raises(OptionError, match="Did you mean 'ndcg'"):
        recnb.evaluate_chunks((pytest.fail("a chunk was read") for _ in recs), truth, ["ndgc"])
    made = recnb.evaluate_chunks(cut(recs, 3), truth, iter(["ndcg", "recall"]), 5)
    assert made.metrics == ("ndcg", "recall")


def test_one_user_is_enough():
    """One of the two relevant items is shown, at rank 2 of 3."""
    recs = pd.DataFrame({"user": 7, "item": [1, 2, 3], "rank": [1, 2, 3]})
    made = recnb.evaluate_chunks([recs], pd.DataFrame({"user": 7, "item": [2, 9]}), ["recall", "reciprocal_rank"], [3])
    assert made.n_users == 1
    assert (made.score("recall", 3), made.score("reciprocal_rank", 3)) == (0.5, 0.5)


def test_a_mean_over_the_orders_of_equal_scores_is_the_same_in_chunks():
    recs, truth = random_frames(np.random.default_rng(19))
    convention = {"ties": "expected", "users": "union", "no_relevant": "zero"}
    whole = recnb.evaluate(recs, truth, **convention)
    made = recnb.evaluate_chunks(cut(recs, 4), truth, ["ndcg", "average_precision", "reciprocal_rank"], K, **convention)
    for metric in ("ndcg", "average_precision", "reciprocal_rank"):
        for k in K:
            assert made.score(metric, k) == pytest.approx(float(getattr(whole, metric)(k=k)), abs=1e-12)
