"""What Dask evaluations fetch: hits, truth and counts of each user, and all that follows from them without the lists."""

import os
from collections import Counter
from threading import Thread

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback
from dask.utils import key_split

import recnb
import recnb.dask
from recnb.display.language import _, use_language
from recnb.errors import ElsewhereError, FrameError, OptionError
from tests.distributed.test_dask import K, agree, lose_one, parted, two_workers
from tests.random_frames import CONVENTIONS, METRICS, conventions_by_number, random_frames


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def same_hits(made, expected):
    for name in ("user", "rank", "list_length", "relevance", "truth_user", "truth_relevance", "max_relevance"):
        np.testing.assert_array_equal(getattr(made, name), getattr(expected, name), err_msg=name)


def counted(frame, read, n=2):
    """A frame in partitions that write down when they are read."""

    def reading(piece):
        read.append(len(piece))
        return piece

    pieces = [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n)]
    return dd.from_map(reading, pieces, meta=frame.iloc[:0])


def same_report(made, expected, but=("findings", "lints")):
    mine, theirs = made.to_dict(), expected.to_dict()
    assert mine.keys() == theirs.keys()
    for key in mine:
        if key not in but:
            assert nearly(mine[key], theirs[key]), key


def nearly(one, other):
    """The same values, numbers to the last digits but one."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(nearly(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(nearly, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-12
    return one == other


@pytest.mark.parametrize("number", conventions_by_number(1))
def test_what_is_fetched_is_what_pandas_has(number):
    seed, convention, text = 200 + number, CONVENTIONS[number], number % 2 == 1
    n, m = np.random.default_rng(seed).integers(1, 8, 2)
    recs, truth = random_frames(np.random.default_rng(seed), 25, text)
    recs = recs.sample(frac=1, random_state=seed)
    expected = recnb.evaluate(recs, truth, **convention)
    made = parted(recs, n).rec.against(parted(truth, m), **convention).fetch()
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    same_hits(made.hits(), expected.hits())
    assert made.users.equals(expected.users)
    assert repr(made) == repr(expected)
    pd.testing.assert_frame_equal(made.to_frame(), expected.to_frame())
    pd.testing.assert_series_equal(made.ndcg(k=3).per_user, expected.ndcg(k=3).per_user)
    for name in ("n_items_recommended", "n_items_relevant", "n_not_relevant", "n_gaps", "n_without_relevant"):
        assert getattr(made.counts, name) == getattr(expected.counts, name), name
    user = expected.users[2]
    if convention.get("ties") not in ("max_rank",) and convention.get("candidates") != "padded":
        mine, theirs = (one._data.list_of(one._data.position(user)) for one in (made, expected))
        assert mine == theirs


def test_empty_partitions_and_a_giant_user_are_fetched():
    rng = np.random.default_rng(3)
    recs, truth = random_frames(rng, 12)
    giant = pd.DataFrame({"user": 99, "item": np.arange(5_000), "score": rng.random(5_000)})
    liked = pd.DataFrame({"user": 99, "item": rng.permutation(9_000)[:4_000], "relevance": 1})
    recs, truth = pd.concat([recs, giant], ignore_index=True), pd.concat([truth, liked], ignore_index=True)
    left = dd.from_map(lambda piece: piece, [recs[:0], recs, recs[:0]], meta=recs[:0])
    made = left.rec.against(parted(truth, 2), npartitions=30, averaged_users="union", no_relevant="zero").fetch()
    expected = recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero")
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    same_hits(made.hits(), expected.hits())


def test_a_report_is_that_of_pandas_but_for_what_takes_every_row():
    recs, truth = random_frames(np.random.default_rng(20), 120, text=True)
    asked = {
        "train": truth.sample(frac=0.3, random_state=1)[["user", "item"]],
        "users": pd.DataFrame({"user": [f"u{n}" for n in range(120)], "age": np.arange(120) % 3}),
    }
    made = parted(recs, 4).rec.against(parted(truth, 3), **asked)
    expected = recnb.evaluate(recs, truth, **asked)
    report = made.report(k=[3, 5], by="age")
    same_report(report, expected.report(k=[3, 5], by="age"), but=("findings", "lints", "means", "metrics", "lacking"))
    assert set(report.lacking) == set(recnb.metrics.metric.LIST_METRICS)
    assert "novelty" in report._repr_html_()
    assert "every row of the lists" in report._repr_html_()
    plain = parted(recs, 4).rec.against(parted(truth, 3)).report(k=3, lang="ko")
    same_report(plain, recnb.evaluate(recs, truth).report(k=3, lang="ko"))


@pytest.mark.parametrize("by", ["age", "activity", "popularity_taste"])
def test_segments_are_those_of_pandas(by):
    recs, truth = random_frames(np.random.default_rng(21), 120)
    asked = {
        "train": pd.DataFrame({"user": np.arange(300) % 97, "item": np.arange(300) ** 2 % 13}),
        "users": pd.DataFrame({"user": range(120), "age": np.arange(120) % 3}),
    }
    made = parted(recs, 4).rec.against(parted(truth, 3), **asked)
    expected = recnb.evaluate(recs, truth, **asked)
    mine, theirs = (one.table(["ndcg", "precision"], k=[3, 5], by=by) for one in (made, expected))
    pd.testing.assert_frame_equal(mine, theirs, check_exact=False, rtol=0, atol=1e-12)
    assert mine.attrs == theirs.attrs
    assert made.detectable("ndcg", 5).words == expected.detectable("ndcg", 5).words
    half = truth[["user", "item"]].assign(score=truth.item % 5)
    mine, theirs = parted(half, 3).rec.against(truth), recnb.evaluate(half, truth)
    assert made.detectable("ndcg", 5, against=mine).words == expected.detectable("ndcg", 5, against=theirs).words


def test_a_librarys_conventions_are_fetched_as_well():
    recs, truth = random_frames(np.random.default_rng(22), 60)
    made = parted(recs, 4).rec.against(truth).under("rectools").fetch()
    agree(made.table(k=[2, 5]), recnb.evaluate(recs, truth).under("rectools").table(k=[2, 5]))


def two_models(seed=23, n_users=90):
    rng = np.random.default_rng(seed)
    recs, truth = random_frames(rng, n_users)
    other = recs[recs.user % 7 != 0].assign(score=lambda frame: rng.integers(0, 9, len(frame)))
    return recs, other, truth


def ways_in():
    yield lambda a, b, truth: ({"A": parted(a, 4), "B": parted(b, 3)}, parted(truth, 2))
    yield lambda a, b, truth: (parted(pd.concat([a.assign(model="A"), b.assign(model="B")]), 5), parted(truth, 2))
    yield lambda a, b, truth: ({"A": a, "B": b}, parted(truth, 2))
    yield lambda a, b, truth: ({"A": parted(a, 4), "B": b}, truth)
    yield lambda a, b, truth: (
        {"A": parted(a, 4).rec.against(truth), "B": recnb.evaluate(b, truth)}, None
    )  # fmt: skip


@pytest.mark.parametrize("way", list(ways_in()))
def test_models_are_compared_as_those_of_pandas(way):
    a, b, truth = two_models()
    models, against = way(a, b, truth)
    made, expected = recnb.compare(models, against), recnb.compare({"A": a, "B": b}, truth)
    asked = {"metrics": ["ndcg", "err"], "k": [2, 5]}
    pd.testing.assert_frame_equal(made.differences(**asked), expected.differences(**asked), rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(made.table(**asked), expected.table(**asked), rtol=0, atol=1e-12)
    assert made.differences(**asked).conclusions == expected.differences(**asked).conclusions
    assert repr(made.movers("ndcg", 5)) == repr(expected.movers("ndcg", 5))
    assert made.basis() == expected.basis()
    assert repr(made) == repr(expected)


def test_a_comparison_of_some_of_the_users_knows_what_it_does_not_know():
    a, b, truth = two_models()
    asked = {"averaged_users": "both", "train": truth[["user", "item"]].sample(frac=0.3, random_state=0)}
    made = recnb.compare({"A": parted(a, 4), "B": parted(b, 3)}, parted(truth, 2), **asked)
    expected = recnb.compare({"A": a, "B": b}, truth, **asked)
    assert made.users_by_model == expected.users_by_model
    assert made.users_by_model[0].n_left_out > 0
    report = made.report(k=[2, 5], by="activity")
    same_report(
        report,
        expected.report(k=[2, 5], by="activity"),
        but=("findings", "lints", "overlaps", "means", "metrics", "populations", "lacking", "left_out"),
    )
    assert report.overlaps == ()
    assert all(metric.is_accuracy for metric in report.metrics)
    assert len(report.left_out) == 3
    for shown in (repr(report), report.to_markdown(), report._repr_html_()):
        plain = " ".join(shown.split())
        assert all(words in plain for words in report.left_out)
    for refused in (made.overlap, made.beyond, made.models["A"].report, made.models["A"].coverage):
        with pytest.raises(ElsewhereError, match="the partitions of Dask DataFrames"):
            refused(k=5)
    assert "some users' lists" in repr(made.models["A"])
    # Some of the users under another convention, gathered anew and taken from all.
    mine, theirs = (one.models["A"].under("ranx").table(k=5) for one in (made, expected))
    np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_a_comparison_refuses_what_it_cannot_compare():
    a, b, truth = two_models()
    with pytest.raises(OptionError, match="one Evaluation is one model"):
        recnb.compare(parted(a, 2).rec.against(truth))
    both = pd.concat([a.assign(model="A"), b.assign(model=None)])
    with pytest.raises(FrameError, match="rows without a model"):
        recnb.compare(parted(both, 3), truth)
    with pytest.raises(FrameError, match="model 'B': recommendations is empty"):
        recnb.compare({"A": parted(a, 4), "B": parted(b[:0], 2)}, truth)
    with pytest.raises(FrameError, match="judged against different relevant items"):
        recnb.compare({"A": parted(a, 4).rec.against(truth), "B": recnb.evaluate(b, truth[3:])})
    # A column that is called fetch makes no evaluation of a frame.
    assert recnb.compare({"A": a.assign(fetch=1), "B": b.assign(fetch=1)}, truth).names == ["A", "B"]


def test_the_lint_says_what_it_did_not_look_at():
    recs, truth = random_frames(np.random.default_rng(24), 60)
    asked = {"train": truth[["user", "item"]].sample(frac=0.3, random_state=0)}
    made = parted(recs.astype({"user": float}), 4).rec.against(parted(truth, 3), **asked).lint(5)
    expected = recnb.evaluate(recs.astype({"user": float}), truth, **asked).lint(5)
    assert made.n_checks + len(made.elsewhere) == expected.n_checks
    theirs = {one.name: one for one in expected}
    assert set(made.names) == set(theirs) - set(made.elsewhere)
    assert {"users_without_list", "train_in_truth"} <= set(made.names)
    assert {"ties", "seen_in_train"} <= set(made.elsewhere)
    for one in made:
        assert (one.short, one.example) == (theirs[one.name].short, theirs[one.name].example)
    assert np.isnan([made.lower, made.upper]).all()
    for lang in ("en", "ko"):
        with use_language(lang):
            told = parted(recs, 4).rec.against(parted(truth, 3)).lint(5)
            what = _("equal scores")
        for shown in (repr(told), told._repr_html_(), told.to_markdown()):
            assert what in " ".join(shown.split())


def test_lists_that_are_ordered_by_rank_are_looked_at_without_their_rows_where_no_score_is_read():
    recs, truth = random_frames(np.random.default_rng(25), 40)
    ranks = recs.assign(rank=recs.groupby("user").cumcount() + 1).drop(columns="score")
    made = parted(ranks, 4).rec.against(parted(truth, 3)).lint(5)
    scores = {"ties", "rank_against_score", "upside_down", "filler_score"}
    assert not scores & set(made.elsewhere)


def test_rows_are_read_once_for_all_that_is_fetched_and_never_after_persist():
    recs, truth = random_frames(np.random.default_rng(27), 60)
    read = []
    evaluation = counted(recs, read).rec.against(counted(truth, read))
    assert read == []
    evaluation.fetch()
    assert len(read) == 4
    for ask in (evaluation.lint, evaluation.fetch, lambda: evaluation.table("ndcg", 5, by=dict.fromkeys(range(60), 1))):
        ask()
    assert len(read) == 4
    evaluation.report(k=5)  # and once more for the lists of the users shown
    assert len(read) == 8
    kept = evaluation.persist()
    read.clear()
    kept.report(k=5)
    kept.explain("err", recs.user[0], k=5)
    assert read == []


def test_tasks_are_named_for_what_they_do():
    recs, truth = random_frames(np.random.default_rng(28), 20)
    evaluation = parted(recs, 3).rec.against(parted(truth, 3))
    seen = Counter()
    with Callback(posttask=lambda key, *_ignored: seen.update([key_split(key)])):
        evaluation.table(["ndcg", "err"], 5)
        evaluation.per_user("ndcg", 5).compute()
        evaluation.fetch()
    names = {name for name in seen if name.startswith("recnb-")}
    assert names >= {
        "recnb-join",
        "recnb-scale",
        "recnb-sums",
        "recnb-add",
        "recnb-settle",
        "recnb-values",
        "recnb-hits",
    }
    assert seen["recnb-join"] == 9


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_lost_while_hits_are_fetched_changes_nothing():
    recs, truth = random_frames(np.random.default_rng(29), 200)
    with two_workers(recs, truth) as (client, left, right):
        made = []
        evaluation = left.rec.against(right)
        asking = Thread(target=lambda: made.append(evaluation.fetch()))
        asking.start()
        before = lose_one(client, lambda: made)
        asking.join(timeout=120)
        assert set(client.run(os.getpid).values()) != before
        expected = recnb.evaluate(recs, truth)
        agree(made[0].table(METRICS, k=K), expected.table(METRICS, k=K))
        same_hits(made[0].hits(), expected.hits())
        same_report(evaluation.report(k=5), expected.report(k=5))


def test_hits_and_lists_are_those_of_pandas():
    recs, truth = random_frames(np.random.default_rng(18))
    made, expected = parted(recs, 3).rec.against(parted(truth, 2)), recnb.evaluate(recs, truth)
    user = expected.users[0]
    assert repr(made.user(user, k=5)) == repr(expected.user(user, k=5))
    for name in ("user", "rank", "relevance", "truth_relevance"):
        np.testing.assert_array_equal(getattr(made.hits(3), name), getattr(expected.hits(3), name))
