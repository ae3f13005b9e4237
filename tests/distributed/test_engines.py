"""Frames of engines give the numbers of pandas: means from sums, all else from hits that are fetched when asked for."""

import pickle

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import ColumnError, ElsewhereError, FrameError, NoUsersError, OptionError, UnknownUserError
from tests.random_frames import CONVENTIONS, METRICS, K, random_frames
from tests.spark_sessions import agree


def both(engine, recs, truth, **options):
    """The evaluation of an engine, and that of pandas."""
    made = engine.evaluate(engine.parted(recs), engine.parted(truth, 3), npartitions=3, **options)
    return made, recnb.evaluate(recs, truth, **options)


def fetched(evaluation):
    """Whether hits and users are here."""
    return "prepared" in vars(evaluation._data)


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_numbers_are_those_of_pandas(engine, number):
    recs, truth = random_frames(np.random.default_rng(100 + number), 25, text=number % 2 == 0)
    made, expected = both(engine, recs.sample(frac=1, random_state=number), truth, **CONVENTIONS[number])
    summed = {name: METRICS[name] for name in METRICS if name != "err"}
    agree(made.table(summed, k=K), expected.table(summed, k=K))
    assert not fetched(made)
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    score = expected.ndcg(k=3)
    pd.testing.assert_series_equal(made.ndcg(k=3).per_user, score.per_user, check_exact=False, rtol=0, atol=1e-12)
    for name in ("user", "rank", "list_length", "relevance", "truth_user", "truth_relevance", "max_relevance"):
        np.testing.assert_array_equal(getattr(made.hits(), name), getattr(expected.hits(), name), err_msg=name)
    pd.testing.assert_frame_equal(made.to_frame(), expected.to_frame())
    for name in ("n_items_recommended", "n_items_relevant", "n_not_relevant", "n_gaps", "n_without_relevant"):
        assert getattr(made.counts, name) == getattr(expected.counts, name), name


@pytest.mark.parametrize("ties", ["first", "last"])
def test_equal_scores_keep_the_order_of_rows_through_a_shuffle(engine, ties):
    recs, truth = random_frames(np.random.default_rng(2), 60)
    made, expected = both(engine, recs.assign(score=1.0).sample(frac=1, random_state=2), truth, ties=ties)
    agree(made.table(k=[1, 5]), expected.table(k=[1, 5]))


def test_a_pandas_frame_may_stand_on_either_side(engine):
    recs, truth = random_frames(np.random.default_rng(15))
    expected = recnb.evaluate(recs, truth).table(k=5)
    for left, right in ((recs, engine.parted(truth)), (engine.parted(recs), truth)):
        agree(engine.evaluate(left, right).table(k=5), expected)
    with pytest.raises(FrameError, match=rf"recnb\.{engine.name}\.evaluate\(recs, truth\)"):
        recnb.evaluate(recs, engine.parted(truth))


def test_one_giant_user_among_small_ones_and_parts_without_rows(engine):
    rng = np.random.default_rng(3)
    recs, truth = random_frames(rng, 12)
    giant = pd.DataFrame({"user": 99, "item": np.arange(20_000), "score": rng.random(20_000)})
    liked = pd.DataFrame({"user": 99, "item": rng.permutation(40_000)[:15_000], "relevance": 1})
    recs, truth = pd.concat([recs, giant], ignore_index=True), pd.concat([truth, liked], ignore_index=True)
    made = engine.evaluate(engine.parted(recs), engine.parted(truth), npartitions=25)
    agree(made.table(k=[10, None]), recnb.evaluate(recs, truth).table(k=[10, None]))


def test_nothing_is_computed_before_a_number_is_asked_for_and_sums_are_small(engine, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(8), 200)
    made, expected = both(engine, recs, truth)
    asked, each = [], type(made._parts).each

    def watched(self, work):
        found = list(each(self, work))
        asked.append(sum(len(pickle.dumps(one)) for one in found))
        return found

    monkeypatch.setattr(type(made._parts), "each", watched)
    assert "nothing computed yet" in repr(made)
    assert "nothing computed yet" in made._repr_html_()
    assert asked == []
    agree(
        made.table(["ndcg", "recall"], [5, 10], intervals=True),
        expected.table(["ndcg", "recall"], [5, 10], intervals=True),
    )
    few = asked.pop()
    recs, truth = random_frames(np.random.default_rng(8), 1_000)
    both(engine, recs, truth)[0].table(["ndcg", "recall"], [5, 10])
    assert asked.pop() == pytest.approx(few, rel=0.1)  # of five times the users
    score = made.ndcg(k=5)
    _ = made.n_users, score.per_user, made.hits(), made.to_frame(), made.recall(k=5)
    assert len(asked) == 2  # the sums of one number, and hits once


def test_only_the_columns_that_are_read_are_moved(engine):
    recs, truth = random_frames(np.random.default_rng(9))
    parts = engine.evaluate(engine.parted(recs.assign(other=1, more="x")), engine.parted(truth.assign(other=1)))._parts
    names = [{*one.columns} - {"recnb_row", "recnb_bucket"} for one in parts._rows]
    assert names == [{"item", "score", "user"}, {"item", "relevance", "user"}]


def test_results_read_as_those_of_pandas(engine):
    recs, truth = random_frames(np.random.default_rng(10), 60)
    asked = {
        "train": pd.DataFrame({"user": np.arange(300) % 97, "item": np.arange(300) ** 2 % 13}),
        "users": pd.DataFrame({"user": range(60), "age": np.arange(60) % 3}),
    }
    made, expected = both(engine, recs, truth, **asked)
    score, other = made.mrr(k=5, target="preferred"), expected.mrr(k=5, target="preferred")
    assert repr(score) == repr(other)
    np.testing.assert_allclose(score.interval(), other.interval(), atol=1e-12)
    curves = [one.curve("ndcg", range(1, 8), gain="exponential").to_frame() for one in (made, expected)]
    np.testing.assert_allclose(*(curve.to_numpy(dtype=float) for curve in curves), atol=1e-12)
    user = expected.users[3]
    assert repr(made.user(user, k=5)) == repr(expected.user(user, k=5))
    for lang in (None, "ko"):
        mine, theirs = (one.explain("ndcg", user, k=5, lang=lang)._repr_html_() for one in (made, expected))
        assert mine == theirs
    tables = [one.table(["ndcg", "precision"], k=5, by="age") for one in (made, expected)]
    pd.testing.assert_frame_equal(*map(pd.DataFrame, tables), check_exact=False, rtol=0, atol=1e-12)
    assert made.detectable("ndcg", 5) == expected.detectable("ndcg", 5)
    reports = [one.report(k=[3, 5]) for one in (made, expected)]
    mine, theirs = (report.to_frame() for report in reports)
    accuracy = theirs[theirs["metric"].isin(mine["metric"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, accuracy, check_exact=False, rtol=0, atol=1e-12)
    assert "every row of the lists" in reports[0]._repr_html_()
    for library in ("ranx", "rectools"):
        agree(made.under(library).table(k=[2, 5]), expected.under(library).table(k=[2, 5]))
    found = made.lint(5)
    assert {"ties", "seen_in_train"} <= set(found.elsewhere)
    assert set(found.names) <= set(expected.lint(5).names)


def test_models_are_compared_as_those_of_pandas(engine):
    rng = np.random.default_rng(23)
    recs, truth = random_frames(rng, 90)
    other = recs[recs.user % 7 != 0].assign(score=lambda frame: rng.integers(0, 9, len(frame)))
    expected = recnb.compare({"A": recs, "B": other}, truth)
    parted = engine.parted
    for models, against in (
        ({"A": parted(recs), "B": parted(other)}, parted(truth)),
        ({"A": parted(recs), "B": other}, truth),
        ({"A": engine.evaluate(parted(recs), truth), "B": recnb.evaluate(other, truth)}, None),
    ):
        made = recnb.compare(models, against)
        for asked in (made.table, made.differences):
            wanted = getattr(expected, asked.__name__)(metrics=["ndcg", "err"], k=[2, 5])
            found = asked(metrics=["ndcg", "err"], k=[2, 5])
            pd.testing.assert_frame_equal(found, wanted, check_exact=False, rtol=0, atol=1e-12)
        assert made.basis() == expected.basis()
    with pytest.raises(OptionError, match="a comparison needs two models"):
        recnb.compare(engine.evaluate(parted(recs), truth))
    with pytest.raises(ElsewhereError):
        made.overlap(k=5)


def test_columns_are_named_as_for_pandas(engine):
    recs, truth = random_frames(np.random.default_rng(11))
    recs, truth = recs.rename(columns={"user": "who"}), truth.rename(columns={"user": "who", "relevance": "stars"})
    made, expected = both(engine, recs, truth, user="who", relevance="stars")
    agree(made.table(k=5), expected.table(k=5))


REFUSED = {
    "no user in both": (lambda r, t: (r.assign(user=r.user + 1000), t), {}, FrameError, "no user is in both frames"),
    "nothing relevant": (lambda r, t: (r, t), {"relevant_from": 9}, NoUsersError, "9 or more and the highest in the truth is 5"),
    "no rows": (lambda r, t: (r[:0], t), {}, FrameError, "recommendations is empty"),
    "no truth": (lambda r, t: (r, t[:0]), {}, FrameError, "truth is empty"),
    "a pair twice": (lambda r, t: (pd.concat([r, r[5:6]]), t), {}, FrameError, "is repeated"),
    "negative": (lambda r, t: (r, t.assign(relevance=-1)), {}, FrameError, "negative relevance"),
    "a missing user": (lambda r, t: (r.assign(user=r.user.astype("Int64").where(r.user != 3)), t), {}, FrameError, "column 'user' has [0-9]+ missing user ids.*in one part of the frame"),
    "two models": (lambda r, t: (r.assign(model=np.where(r.user < 9, "a", "b")), t), {}, FrameError, "have a column of models, 'model'"),
    "no user column": (lambda r, t: (r.rename(columns={"user": "x"}), t), {}, ColumnError, "no column is known to be the user"),
    "a wrong word": (lambda r, t: (r, t), {"ties": "lst"}, OptionError, "ties='lst' is no convention"),
    "a catalogue": (lambda r, t: (r, t), {"candidates": "catalogue"}, ElsewhereError, "candidates='catalogue'"),
    "users of other kinds": (lambda r, t: (r, t.assign(user=t.user.astype(str))), {}, FrameError, "user ids are of different kinds"),
    "items of other kinds": (lambda r, t: (r.assign(item=r.item.astype(str)), t), {}, FrameError, "item ids are of different kinds"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_is_said_as_for_pandas(engine, what):
    change, options, kind, words = REFUSED[what]
    recs, truth = change(*random_frames(np.random.default_rng(7)))
    with pytest.raises(kind, match=words):
        engine.evaluate(engine.parted(recs), engine.parted(truth), **options).table(["ndcg"], k=5)


def test_what_cannot_be_asked_is_refused(engine):
    recs, truth = random_frames(np.random.default_rng(7))
    made, _expected = both(engine, recs, truth)
    for kind, words, ask in (
        (OptionError, "Did you mean 'ndcg'", lambda: made.table(["ndgc"], k=5)),
        (OptionError, "gain='exp'", lambda: made.ndcg(k=5, gain="exp")),
        (OptionError, "whole numbers", lambda: made.curve("ndcg", [None])),
        (ElsewhereError, "every row of the lists", lambda: made.table(["ndcg", "personalization"], k=5)),
        (OptionError, "intervals=3: say True or False", lambda: made.table(intervals=3)),
        (ElsewhereError, r"every row of the lists.*recnb\.evaluate\(recs\.", lambda: made.personalization(k=5)),
        (UnknownUserError, "12345", lambda: made.explain("ndcg", 12345, k=5)),
        (FrameError, "train= is looked at here, and not with an engine", lambda: engine.evaluate(engine.parted(recs), truth, train=engine.parted(truth))),
        (FrameError, "truth is a list", lambda: engine.evaluate(engine.parted(recs), [1])),
    ):  # fmt: skip
        with pytest.raises(kind, match=words):
            ask()


@pytest.mark.parametrize("cast", ["int32", "float64"])
def test_ids_of_one_kind_meet_however_they_are_stored(engine, cast):
    recs, truth = random_frames(np.random.default_rng(4))
    expected = recnb.evaluate(recs, truth).table(k=5)
    left, right = recs.astype({"user": cast}), truth.astype({"item": cast})
    agree(engine.evaluate(engine.parted(left), engine.parted(right)).table(k=5), expected)


def test_metrics_beyond_accuracy_are_those_of_frames_in_memory(engine):
    recs, truth = random_frames(np.random.default_rng(21), text=True)
    items = pd.DataFrame({"item": sorted({*recs["item"], *truth["item"]})})
    items["genre"] = np.array(list("xyz"))[np.arange(len(items)) % 3]
    made, expected = both(engine, recs, truth, train=truth[["user", "item"]].iloc[::2], items=items)
    wanted = expected.beyond(k=[2, 5]).drop("personalization")
    pd.testing.assert_frame_equal(made.beyond(k=[2, 5]), wanted, check_exact=False, rtol=0, atol=1e-12)
    assert made.table(["ndcg", "gini"], k=5).loc["gini", 5] == pytest.approx(wanted.loc["gini", 5], abs=1e-12)
    user = expected.users[3]
    assert repr(made.explain("novelty", user, k=5)) == repr(expected.explain("novelty", user, k=5))
    small = engine.evaluate(engine.parted(recs[:20]), truth, npartitions=25)  # most parts have no rows
    assert small.entropy(k=2) == pytest.approx(recnb.evaluate(recs[:20], truth).entropy(k=2), abs=1e-12)
    assert small.user_coverage() == pytest.approx(recnb.evaluate(recs[:20], truth).user_coverage(), abs=1e-12)
