import json
from dataclasses import replace
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recnb
from recnb import Partial
from recnb.distributed.partial import PartialCounts
from recnb.errors import CutoffError, FrameError, OptionError, RecnbError
from recnb.stats import Moments
from tests.examples import examples

METRICS = {
    "ndcg": {"gain": "exponential"},
    "average_precision": {},
    "err": {"max_relevance": 5},
    "precision": {"out_of": "list"},
}
K = [1, 3, None]


def frames_of(rng, n_users=12, n_items=9, first=0):
    """Lists with ties, grades with zeros; some users in one frame only."""
    users = np.arange(first, first + n_users)
    pairs = [(user, item) for user in users for item in rng.permutation(n_items)[: rng.integers(0, n_items)]]
    recs = pd.DataFrame(pairs, columns=["user", "item"]).assign(score=rng.integers(0, 4, len(pairs)).astype(float))
    pairs = [(user, item) for user in users for item in rng.permutation(n_items)[: rng.integers(0, n_items)]]
    truth = pd.DataFrame(pairs, columns=["user", "item"]).assign(relevance=rng.integers(0, 6, len(pairs)).astype(float))
    # One user of each kind, so that any set of them can be evaluated.
    recs = pd.concat([recs, pd.DataFrame({"user": [first + n_users], "item": [0], "score": [1.0]})])
    truth = pd.concat([truth, pd.DataFrame({"user": [first + n_users], "item": [0], "relevance": [5.0]})])
    return recs.reset_index(drop=True), truth.reset_index(drop=True)


def parts_of(recs, truth, groups, **options):
    return [
        Partial.of(recnb.evaluate(recs[recs.user.isin(group)], truth[truth.user.isin(group)], **options), METRICS, K)
        for group in groups
    ]


def close(a, b):
    assert a.counts == b.counts
    for own, other in zip(a.moments, b.moments, strict=True):
        one, another = (sum_split(x) for x in (own, other))
        np.testing.assert_allclose(one, another, rtol=1e-12, atol=1e-12)


def of_no_users(partial):
    """The same sums of no users."""
    none = tuple(tuple(Moments.of(np.empty((0, 1)), one.bounds) for one in own) for own in partial.moments)
    behind = (PartialCounts(),) * len(partial.measures)
    return replace(partial, moments=none, counts=PartialCounts(), behind=behind, grades=())


def sum_split(moments):
    stacked = [np.concatenate([getattr(one, name) for one in moments]) for name in ("mean", "squares")]
    n = np.concatenate([np.full(len(one.mean), one.n) for one in moments])
    return np.stack([np.asarray(n, dtype=float), *stacked])


CONVENTIONS = [
    {},
    {"averaged_users": "union", "no_relevant": "zero"},
    {"averaged_users": "both", "ties": "item_desc"},
    {"no_relevant": "one", "averaged_users": "recs"},
    {"ties": "last", "relevant_from": 3},
    {"judged": "list", "no_relevant": "skip"},
    {"ties": "max_rank"},
]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.sampled_from(CONVENTIONS))
def test_parts_add_up_to_the_whole_in_any_order_and_grouping(seed, convention):
    rng = np.random.default_rng(seed)
    four = [frames_of(rng, n_users=5, first=100 * part) for part in range(4)]
    recs, truth = (pd.concat([pair[side] for pair in four], ignore_index=True) for side in (0, 1))
    a, b, c, d = parts_of(recs, truth, [range(100 * part, 100 * part + 100) for part in range(4)], **convention)
    whole = Partial.of(recnb.evaluate(recs, truth, **convention), METRICS, K)
    for grouped in ((a + b) + (c + d), a + (b + (c + d)), ((d + c) + b) + a, (b + d) + (a + c)):
        close(grouped, whole)
    close(a + b, b + a)
    table = recnb.evaluate(recs, truth, **convention).table(METRICS, k=K)
    made = sum([a, b, c, d]).table()
    np.testing.assert_allclose(made.to_numpy(), table.to_numpy(), rtol=0, atol=1e-12)
    assert {*table.attrs["basis"].split("; ")} <= {*made.attrs["basis"].split("; ")}
    assert list(made.columns) == list(table.columns)
    assert list(made.index) == list(table.index)
    assert made.attrs["n_users"] == table.attrs["n_users"]


def test_no_users_change_nothing():
    rng = np.random.default_rng(1)
    recs, truth = frames_of(rng)
    one = Partial.of(recnb.evaluate(recs, truth), ["ndcg"], K)
    none = of_no_users(one)
    close(one + none, one)
    close(none + one, one)
    close(sum([one]), one)
    assert none.table().isna().all().all()


def test_intervals_are_those_of_moments():
    rng = np.random.default_rng(2)
    recs, truth = frames_of(rng, 200)
    evaluation = recnb.evaluate(recs, truth)
    half = parts_of(recs, truth, [range(100), range(100, 300)])
    both = half[0] + half[1]
    score = evaluation.average_precision(k=3)
    for method in ("beta", "t"):
        expected = score.interval(0.9, method=method)
        np.testing.assert_allclose(both.interval("map", 3, 0.9, method), expected, atol=1e-12)
        np.testing.assert_allclose(both.score("map", 3).interval(0.9, method), expected, atol=1e-12)
    assert "beta" in repr(both.interval("map", 3))
    curve = Partial.of(evaluation, ["ndcg"], range(1, 6)).curve("ndcg")
    assert curve.index.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(curve, evaluation.curve("ndcg", range(1, 6)), atol=1e-12)
    with pytest.raises(OptionError, match="makes no interval here"):
        both.interval("map", 3, method="bootstrap")


def test_a_score_reads_as_that_of_an_evaluation():
    rng = np.random.default_rng(3)
    recs, truth = frames_of(rng, 30)
    evaluation = recnb.evaluate(recs, truth)
    score = Partial.of(evaluation, {"ndcg": {"gain": "exponential"}}, [5]).score("ndcg", 5)
    other = evaluation.ndcg(k=5, gain="exponential")
    assert repr(score) == repr(other)
    assert score == pytest.approx(float(other), abs=1e-12)
    assert (score.label, score.n_users, score.k) == ("ndcg@5", other.n_users, 5)
    assert score.convention == other.convention
    assert "ndcg@5" in score._repr_html_()
    import pickle

    assert repr(pickle.loads(pickle.dumps(score))) == repr(score)


def test_what_was_measured_otherwise_is_refused():
    rng = np.random.default_rng(4)
    recs, truth = frames_of(rng)
    evaluation = recnb.evaluate(recs, truth)
    one = Partial.of(evaluation, ["ndcg"], [5])
    with pytest.raises(OptionError, match="one holds ndcg, the other recall"):
        one + Partial.of(evaluation, ["recall"], [5])
    with pytest.raises(OptionError, match=r"k=\[5\], the other k=\[10\]"):
        one + Partial.of(evaluation, ["ndcg"], [10])
    with pytest.raises(OptionError, match="gain='binary'"):
        one + Partial.of(evaluation, ["ndcg"], [5], gain="binary")
    with pytest.raises(OptionError, match="ties='first', the other ties='last'"):
        one + Partial.of(recnb.evaluate(recs, truth, ties="last"), ["ndcg"], [5])
    with pytest.raises(OptionError, match="as recnb has it, the other as ranx"):
        one + Partial.of(evaluation.under("ranx"), ["ndcg"], [5])
    high = Partial.of(evaluation, ["err"], [5])
    low = Partial.of(recnb.evaluate(recs, truth.assign(relevance=truth.relevance.clip(upper=2))), ["err"], [5])
    with pytest.raises(OptionError, match=r"max_relevance=5.*Give all parts one scale"):
        high + low
    with pytest.raises(OptionError, match="grades"):
        one + Partial.of(recnb.evaluate(recs, truth[truth.relevance > 0][["user", "item"]]), ["ndcg"], [5])
    with pytest.raises(TypeError):
        one + 1
    with pytest.raises(OptionError, match="not asked for"):
        one.score("recall", 5)
    with pytest.raises(CutoffError, match=r"it holds k=\[5\]"):
        one.score("ndcg", 6)


def test_users_in_both_are_refused_where_they_were_kept():
    rng = np.random.default_rng(5)
    recs, truth = frames_of(rng)
    evaluation = recnb.evaluate(recs, truth)
    one = Partial.of(evaluation, ["ndcg"], [5], keep_users=True)
    with pytest.raises(FrameError, match="users are in both partials, such as"):
        one + one
    recs, truth = frames_of(rng, first=50)
    other = Partial.of(recnb.evaluate(recs, truth), ["ndcg"], [5], keep_users=True)
    both = one + other
    assert both.users is not None
    assert len(both.users) == both.n_users
    assert (one + Partial.of(recnb.evaluate(recs, truth), ["ndcg"], [5])).users is None
    in_text = recnb.evaluate(recs.astype({"user": str}), truth.astype({"user": str}))
    text = Partial.of(in_text, ["ndcg"], [5], keep_users=True)
    with pytest.raises(FrameError, match="users of one partial are"):
        one + text


@pytest.mark.parametrize("library", [None, "ranx"])
def test_a_sum_whose_users_were_not_kept_mentions_that_some_may_count_twice(library):
    rng = np.random.default_rng(6)
    frames = [frames_of(rng), frames_of(rng, first=50)]
    evs = [recnb.evaluate(*pair) if library is None else recnb.evaluate(*pair).under(library) for pair in frames]
    unknown, kept = ([Partial.of(ev, ["ndcg"], [5], keep_users=keep) for ev in evs] for keep in (False, True))
    said = "a user in two of them counts twice"
    for made in (sum(unknown), unknown[0] + kept[1], Partial.from_dict(json.loads(json.dumps(sum(unknown).to_dict())))):
        assert made.basis.count(said) == made.score("ndcg", 5).basis.count(said) == 1
        assert said in made.table().attrs["basis"]
    for made in (
        sum(kept),
        unknown[0],
        sum(unknown[:1]),
        unknown[0] + of_no_users(unknown[0]),
    ):
        assert said not in made.basis + made.score("ndcg", 5).basis


@pytest.mark.parametrize("options", [{}, {"averaged_users": "union", "no_relevant": "one"}])
def test_json_keeps_everything(options):
    rng = np.random.default_rng(6)
    recs, truth = frames_of(rng)
    one = Partial.of(recnb.evaluate(recs, truth, **options), METRICS, K, keep_users=True)
    again = Partial.from_dict(json.loads(json.dumps(one.to_dict(), allow_nan=False)))
    assert again.measures == one.measures
    assert again.to_dict() == one.to_dict()
    assert repr(again) == repr(one)
    pd.testing.assert_frame_equal(again.table().to_frame(), one.table().to_frame())
    more = frames_of(rng, first=50)
    later = Partial.of(recnb.evaluate(*more, **options), METRICS, K, keep_users=True)
    close(again + later, one + later)


def test_sums_stored_for_all_cutoffs_in_one_are_read():
    one = Partial.of(recnb.evaluate(*frames_of(np.random.default_rng(9))), METRICS, K)
    stored = one.to_dict()
    for metric in stored["metrics"]:
        at = metric["moments"]
        metric["moments"] = [{"n": at[0]["n"], **{name: [own[name][0] for own in at] for name in at[0] if name != "n"}}]
    assert Partial.from_dict(stored).to_dict() == one.to_dict()


def test_stored_sums_at_other_cutoffs_than_k_are_refused():
    stored = Partial.of(recnb.evaluate(*frames_of(np.random.default_rng(9))), METRICS, K).to_dict()
    del stored["metrics"][0]["moments"][-1]
    with pytest.raises(RecnbError, match=f"stored partial is broken: .*{len(K) - 1} cut-offs, and k holds {len(K)}"):
        Partial.from_dict(stored)


def test_what_is_no_stored_partial_is_refused():
    with pytest.raises(RecnbError, match="schema is None"):
        Partial.from_dict({})
    rng = np.random.default_rng(7)
    broken = Partial.of(recnb.evaluate(*frames_of(rng)), ["ndcg"], [5]).to_dict()
    del broken["counts"]
    with pytest.raises(RecnbError, match="broken: KeyError 'counts'"):
        Partial.from_dict(broken)


def test_a_library_is_followed_metric_by_metric():
    rng = np.random.default_rng(8)
    whole = frames_of(rng, 20), frames_of(rng, 20, first=50)
    recs, truth = (pd.concat([pair[side] for pair in whole], ignore_index=True) for side in (0, 1))
    parts = [Partial.of(recnb.evaluate(*pair).under("ranx"), None, [5]) for pair in whole]
    expected = recnb.evaluate(recs, truth).under("ranx").table(k=[5])
    made = reduce(lambda a, b: a + b, parts)
    np.testing.assert_allclose(made.table().to_numpy(), expected.to_numpy(), atol=1e-12)
    assert made.basis.startswith(expected.attrs["basis"])
    alone = recnb.evaluate(recs, truth).under("ranx")
    assert Partial.of(alone, ["ndcg"], [5]).score("ndcg", 5).basis == alone.ndcg(k=5).basis
    assert made.score("ndcg", 5).basis.startswith("by the conventions of ranx: ")
