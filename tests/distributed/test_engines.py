"""Frames that are elsewhere, in files, with Dask or Spark, give the numbers of pandas;
what is wrong with them is refused as there.
"""

import importlib
import pickle
import sys
from importlib import import_module
from itertools import product

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb import errors
from recnb.conventions import Convention
from recnb.data.parts import Parts
from recnb.errors import (
    ElsewhereError,
    FrameError,
    OptionError,
    UnknownUserError,
)
from recnb.metrics.metric import LIST_METRICS
from recnb.metrics.metric import METRICS as METRICS_OF_HITS
from recnb.results.user_lists import user_lists_of
from tests.distributed.conftest import ENGINES
from tests.random_frames import (
    CONVENTIONS,
    METRICS,
    K,
    random_frames,
    shuffled,
    sized,
)
from tests.refused import names
from tests.rows import read_rows
from tests.spark_sessions import agree

pytestmark = pytest.mark.thin

IDS = ["int64", "text", "int32", "float64"]
COUNTS = (
    "n_users",
    "n_recommended",
    "n_relevant",
    "n_items_recommended",
    "n_items_relevant",
    "n_not_relevant",
    "n_gaps",
    "n_without_relevant",
)


def both(kind, recs, truth, **options):
    """The evaluation of frames elsewhere, and that of pandas."""
    made = kind.evaluate(
        kind.parted(recs), kind.parted(truth, 3), npartitions=3, **options
    )
    return made, recnb.evaluate(recs, truth, **options)


def alike(made, expected):
    """Hold frames against each other, to the last digits."""
    pd.testing.assert_frame_equal(
        *map(pd.DataFrame, (made, expected)), check_exact=False, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_numbers_are_those_of_pandas(kind, number):
    ids = IDS[number % len(IDS)]
    recs, truth = random_frames(
        np.random.default_rng(100 + number), 40, text=ids == "text"
    )
    recs, truth = (
        shuffled(recs, number),
        truth.sort_values(["user", "item"], ignore_index=True),
    )
    if number < 2:
        recs["score"] = 1.0
    if "relevant_from" in CONVENTIONS[number]:
        recs = recs.assign(rank=recs.groupby("user").cumcount() * 2 + 1).drop(
            columns="score"
        )  # with gaps
    if ids != "text":
        recs, truth = recs.astype({"user": ids}), truth.astype({"item": ids})
    made, expected = both(kind, recs, truth, **CONVENTIONS[number])
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    score = expected.ndcg(k=3)
    pd.testing.assert_series_equal(
        made.ndcg(k=3).per_user, score.per_user, check_exact=False, rtol=0, atol=1e-12
    )
    for name in (
        "user",
        "rank",
        "list_length",
        "relevance",
        "truth_user",
        "truth_relevance",
        "max_relevance",
    ):
        np.testing.assert_array_equal(
            getattr(made.hits(), name), getattr(expected.hits(), name), err_msg=name
        )
    for name in COUNTS:
        assert getattr(made.counts, name) == getattr(expected.counts, name), name
    at = number % expected.n_users
    ((mine,), (theirs,)) = (user_lists_of(ev, [at], None) for ev in (made, expected))
    assert (mine.items, mine.truth) == (theirs.items, theirs.truth)
    judged = [one.joined.rows.truth.sort("user", "item") for one in (made, expected)]
    assert judged[0].equals(judged[1])


def test_means_over_equal_scores_and_lists_of_judged_items(kind):
    recs, truth = random_frames(np.random.default_rng(21))
    for options in ({"ties": "expected"}, {"judged_only": True}):
        made, expected = both(kind, recs, truth, **options)
        agree(made.table(["ndcg", "f1"], k=K), expected.table(["ndcg", "f1"], k=K))
    pd.testing.assert_frame_equal(
        made.user(made.users[0]), expected.user(expected.users[0])
    )


def test_a_pandas_frame_may_stand_on_either_side_and_frames_have_their_own_parts(
    engine,
):
    recs, truth = random_frames(np.random.default_rng(15))
    expected = recnb.evaluate(recs, truth).table(k=5)
    for left, right in (
        (recs, engine.parted(truth)),
        (engine.parted(recs), truth),
        (engine.parted(recs, 3), engine.parted(truth, 2)),
    ):
        agree(engine.evaluate(left, right).table(k=5), expected)
    with pytest.raises(
        FrameError, match=rf"recnb\.{engine.name}\.evaluate\(recs, truth\)"
    ):
        recnb.evaluate(recs, engine.parted(truth))
    with pytest.raises(
        FrameError, match="train= is looked at here, and not with an engine"
    ):
        engine.evaluate(engine.parted(recs), truth, train=engine.parted(truth))


@pytest.mark.parametrize("at", [0, 20, None])
def test_one_giant_user_among_small_ones_and_parts_without_rows(kind, at):
    rng = np.random.default_rng(3)
    recs, truth = random_frames(rng, 12)
    giant = pd.DataFrame({"user": 99, "item": np.arange(300), "score": rng.random(300)})
    liked = pd.DataFrame(
        {"user": 99, "item": rng.permutation(600)[:200], "relevance": 1}
    )
    recs, truth = (
        pd.concat([recs[:at], giant, recs[at:] if at is not None else recs[:0]]),
        pd.concat([truth, liked]),
    )
    made = kind.evaluate(kind.parted(recs), kind.parted(truth), npartitions=25)
    expected = recnb.evaluate(recs, truth)
    agree(made.table(k=[10, None]), expected.table(k=[10, None]))


@pytest.mark.parametrize("text", [False, True])
def test_rows_of_the_truth_are_those_of_pandas_where_parts_have_no_rows(kind, text):
    recs, truth = random_frames(np.random.default_rng(4), 6, text=text)
    made = kind.evaluate(kind.parted(recs), kind.parted(truth), npartitions=25)
    expected = recnb.evaluate(recs, truth)
    assert made.counts == expected.counts
    for name in ("truth", "relevant"):
        rows, wanted = (
            getattr(ev.joined.rows, name).sort("user", "item")
            for ev in (made, expected)
        )
        assert rows.equals(wanted), name
    assert made.joined.rows.relevant["user"].is_sorted()


@pytest.mark.parametrize("given", ["column", "item", "pair"])
def test_weights_are_those_of_pandas_where_parts_have_no_rows(kind, given):
    """Ids of a part without rows have no type; and rows that are not relevant need no
    propensity.
    """
    rng = np.random.default_rng(6)
    recs, truth = random_frames(rng, 6, text=True)
    is_relevant = truth["relevance"] > 0
    assert not is_relevant.all()
    truth = truth.assign(p=rng.uniform(0.05, 1, len(truth))).assign(
        p=lambda rows: rows["p"].where(is_relevant)
    )
    known = truth[is_relevant]
    propensity = {
        "column": "p",
        "item": known.groupby("item")["p"].mean(),
        "pair": known.set_index(["user", "item"])["p"],
    }[given]
    made = kind.evaluate(
        kind.parted(recs), kind.parted(truth), npartitions=25, propensity=propensity
    )
    expected = recnb.evaluate(recs, truth, propensity=propensity)
    metrics = ["ndcg", "precision", "recall", "rbp"]
    agree(made.table(metrics, k=K), expected.table(metrics, k=K))


def test_hits_come_once(engine, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(8), 1_000)
    sent, each = [], Parts.each

    def watched(self, work):
        results = list(each(self, work))
        sent.append(sum(len(pickle.dumps(result)) for result in results))
        return results

    monkeypatch.setattr(Parts, "each", watched)
    made, expected = both(engine, recs, truth)
    given = ["ndcg", "recall"], [5, 10]
    agree(made.table(*given, intervals=True), expected.table(*given, intervals=True))
    score = made.ndcg(k=5)
    _ = made.n_users, score.per_user, made.hits(), made.recall(k=5)
    _ = made.err(k=5), score.interval(), made.under("rectools").n_users
    repr(made.explain("ndcg", made.users[0], k=5))
    assert [made.user(user).equals(expected.user(user)) for user in made.users[:2]]
    assert len(sent) == 2  # under recnb's convention, and under a library's
    per_user = [n_bytes / 1_000 for n_bytes in sent]
    assert max(per_user) < 130  # hits and counts; with the rows of the truth 100 more
    assert made.joined.rows.truth is not None, "the truth is read where it is"
    assert len(sent) == 3


def test_some_users_of_rows_elsewhere_follow_the_conventions_of_a_library(kind):
    recs, truth = random_frames(np.random.default_rng(24), 60)
    fewer = recs[recs.user % 5 != 0]
    options = {"convention": "evidently", "averaged_users": "both"}
    expected = recnb.compare({"A": recs, "B": fewer}, truth, **options)
    made = recnb.compare({"A": kind.parted(recs), "B": fewer}, truth, **options)
    assert made.n_users < recnb.evaluate(recs, truth, **options).n_users
    metrics = ["ndcg", "hit_rate", "judged"]
    alike(made.table(metrics, k=3), expected.table(metrics, k=3))
    alike(made["A"].table(metrics, k=3), expected["A"].table(metrics, k=3))
    user = made.users[2]
    for ask in ("explain", "user"):
        call = ("ndcg", user) if ask == "explain" else (user,)
        mine = getattr(made["A"], ask)(*call, k=3)
        assert repr(mine) == repr(getattr(expected["A"], ask)(*call, k=3))


def test_side_data_that_are_read_first_are_read_under_no_convention(engine):
    """Not under that of no caller, which would refuse a relevance below 0."""
    recs, truth = random_frames(np.random.default_rng(9))
    truth.loc[3, "relevance"] = -1
    users = pd.DataFrame({"user": truth["user"].unique()})
    users["age"] = np.arange(len(users)) % 2
    made, expected = both(engine, recs, truth, users=users, negative_relevance="zero")
    alike(
        made.table(k=3, by="age").to_frame(), expected.table(k=3, by="age").to_frame()
    )


def test_only_the_columns_that_are_read_are_moved(engine):
    recs, truth = random_frames(np.random.default_rng(9))
    parts = engine.evaluate(
        engine.parted(recs.assign(other=1, more="x")),
        engine.parted(truth.assign(other=1)),
    ).source
    tables = parts.stored._rows.values()
    names = [{*one.columns} - {"recnb_row", "recnb_bucket"} for one in tables]
    assert names == [{"item", "score", "user"}, {"item", "relevance", "user"}]


def test_results_read_as_those_of_pandas(kind):
    recs, truth = random_frames(np.random.default_rng(10), 60)
    recs, truth = (
        recs.rename(columns={"user": "who"}),
        truth.rename(columns={"user": "who", "relevance": "stars"}),
    )
    asked = {
        "train": pd.DataFrame(
            {"who": np.arange(300) % 97, "item": np.arange(300) ** 2 % 13}
        ),
        "users": pd.DataFrame({"who": range(60), "age": np.arange(60) % 3}),
    }
    made, expected = both(kind, recs, truth, user="who", relevance="stars", **asked)
    score, other = (
        made.mrr(k=5, target="preferred"),
        expected.mrr(k=5, target="preferred"),
    )
    assert repr(score) == repr(other)
    np.testing.assert_allclose(score.interval(), other.interval(), atol=1e-12)
    alike(
        *(
            one.curve("ndcg", range(1, 8), gain="exponential").to_frame()
            for one in (made, expected)
        )
    )
    user = expected.users[3]
    assert repr(made.user(user, k=5)) == repr(expected.user(user, k=5))
    for lang in (None, "ko"):
        mine, theirs = (
            one.explain("ndcg", user, k=5, lang=lang)._repr_html_()
            for one in (made, expected)
        )
        assert mine == theirs
    alike(
        *(one.table(["ndcg", "precision"], k=5, by="age") for one in (made, expected))
    )
    assert made.detectable("ndcg", 5) == expected.detectable("ndcg", 5)
    report = made.report(k=[3, 5])
    mine, theirs = (one.to_frame() for one in (report, expected.report(k=[3, 5])))
    alike(mine, theirs[theirs["metric"].isin(mine["metric"])].reset_index(drop=True))
    assert "every row of the lists" in report._repr_html_()
    for library in ("ranx", "rectools"):
        agree(
            made.under(library).table(k=[2, 5]), expected.under(library).table(k=[2, 5])
        )
    found = made.lint(5)
    for name in ("ties", "seen_in_train"):
        assert found.not_checked[name] == "The rows of the lists are not in memory."
    assert set(found.names) <= set(expected.lint(5).names)


def test_models_are_compared_as_those_of_pandas(kind):
    rng = np.random.default_rng(23)
    recs, truth = random_frames(rng, 90)
    other = recs[recs.user % 7 != 0].assign(
        score=lambda frame: rng.integers(0, 9, len(frame))
    )
    expected = recnb.compare({"A": recs, "B": other}, truth)
    parted = kind.parted
    for models, against in (
        ({"A": parted(recs), "B": parted(other)}, parted(truth)),
        ({"A": parted(recs), "B": other}, truth),
        (
            {
                "A": kind.evaluate(parted(recs), truth),
                "B": recnb.evaluate(other, truth),
            },
            None,
        ),
    ):
        made = recnb.compare(models, against)
        for asked in (made.table, made.differences):
            wanted = getattr(expected, asked.__name__)(
                metrics=["ndcg", "err"], k=[2, 5]
            )
            alike(asked(metrics=["ndcg", "err"], k=[2, 5]), wanted)
        assert made.basis == expected.basis
    assert repr(made.movers("ndcg", k=5)) == repr(expected.movers("ndcg", k=5))
    assert "nDCG@5" in made.report(k=[2, 5]).to_markdown()
    with pytest.raises(OptionError, match="a comparison needs two models"):
        recnb.compare(kind.evaluate(parted(recs), truth))
    with pytest.raises(ElsewhereError):
        made.overlap(k=5)


FRAMES = read_rows("refused/frames.toml")
DASK, SPARK = ENGINES


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *product(["lazy", DASK], FRAMES),
        *(
            pytest.param(*SPARK.values, name, marks=SPARK.marks)
            for name, row in FRAMES.items()
            if row.get("spark")
        ),
    ],
    indirect=["kind"],
)
def test_what_is_wrong_is_said_as_for_pandas(kind, name, monkeypatch):
    """What is refused of a part does not know which frame it was of: one kind of those
    that are read in batches is enough.
    """
    sized(monkeypatch, held=0)

    def evaluate(recs, truth, **options):
        made = kind.evaluate(kind.parted(recs), kind.parted(truth), **options)
        return made.table(["ndcg"], k=5)

    row = FRAMES[name]
    with pytest.raises(getattr(errors, row["error"])) as raised:
        eval(row["call"], {**vars(names), "evaluate": evaluate})
    for words in row.get("parts", row["words"]):
        assert words in str(raised.value) or words == "nan"


def test_what_cannot_be_asked_is_refused(kind):
    recs, truth = random_frames(np.random.default_rng(7))
    made, _expected = both(kind, recs, truth)
    every_row = "every row of the lists"
    for error, words, ask in (
        (OptionError, "Did you mean 'ndcg'", lambda: made.table(["ndgc"], k=5)),
        (OptionError, "gain='exp'", lambda: made.ndcg(k=5, gain="exp")),
        (OptionError, "whole numbers", lambda: made.curve("ndcg", [None])),
        (
            OptionError,
            "intervals=3: say True or False",
            lambda: made.table(intervals=3),
        ),
        (ElsewhereError, every_row, lambda: made.table(["ndcg", "gini"], k=5)),
        (
            ElsewhereError,
            rf"{every_row}.*{made.source.stored.remedy.partition('(')[0]}",
            lambda: made.coverage(k=5),
        ),
        (ElsewhereError, every_row, lambda: made.items(k=2)),
        (UnknownUserError, "12345", lambda: made.explain("ndcg", 12345, k=5)),
        (FrameError, "truth is a list", lambda: kind.evaluate(kind.parted(recs), [1])),
        (
            ElsewhereError,
            r"candidates='catalogue' ranks .* stay in .*\. If they fit into memory: .*\(",
            lambda: kind.evaluate(
                kind.parted(recs), kind.parted(truth), candidates="catalogue"
            ).ndcg(k=5),
        ),
    ):
        with pytest.raises(error, match=words):
            ask()


def test_metrics_of_the_caller_are_of_hits_and_none_of_a_frame(kind):
    """A frame would hold every row of the lists."""

    # Made anew for each engine, as they are taken away again below.
    own = sys.modules.get("tests.distributed.own_metrics")
    own = (
        importlib.reload(own) if own else import_module("tests.distributed.own_metrics")
    )
    recs, truth = random_frames(np.random.default_rng(22), text=True)
    made, expected = both(kind, recs, truth, averaged_users="union", no_relevant="zero")
    try:
        alike(
            made.table([own.of_hits], k=[2, None]),
            expected.table([own.of_hits], k=[2, None]),
        )
        score = made.measure(own.of_hits, k=2)
        other = expected.measure(own.of_hits, k=2)
        assert (score, score.basis) == (pytest.approx(other), other.basis)
        pd.testing.assert_series_equal(score.per_user, other.per_user)
        user = other.per_user[other.per_user > 0].index[3]
        assert repr(made.explain(own.of_hits, user, k=2)) == repr(
            expected.explain(own.of_hits, user, k=2)
        )
        with pytest.raises(ElsewhereError, match="looks at every row of the lists"):
            made.measure(own.of_lists, k=2)
    finally:
        METRICS_OF_HITS.pop("of_hits")
        LIST_METRICS.pop("of_lists")


@pytest.mark.parametrize("given", ["column", "item", "pair", "user"])
def test_weights_are_those_of_pandas(kind, given):
    """Propensities of a column, of items and of pairs; users with weights, whose values
    are fetched.
    """
    rng = np.random.default_rng(5)
    recs, truth = random_frames(rng, 40)
    truth = truth.assign(p=rng.uniform(0.05, 1, len(truth)))
    options = {
        "column": {"propensity": "p", "min_propensity": 0.1},
        "item": {"propensity": truth.groupby("item")["p"].mean()},
        "pair": {"propensity": truth.set_index(["user", "item"])["p"]},
        "user": {
            "user_weight": pd.Series(rng.uniform(0.5, 2, 40), range(40)),
            "propensity": "p",
        },
    }[given]
    made, expected = both(kind, recs, truth, **options)
    metrics = ["ndcg", "precision", "recall", "rbp"]
    agree(made.table(metrics, k=K), expected.table(metrics, k=K))
    agree(
        made.table(metrics, k=[1, 3], intervals=True),
        expected.table(metrics, k=[1, 3], intervals=True),
    )
    assert made.ndcg(k=3).basis.count("equal weight") == expected.ndcg(k=3).basis.count(
        "equal weight"
    )
    np.testing.assert_allclose(
        made.hits().truth_weight, expected.hits().truth_weight, rtol=1e-12
    )
    pd.testing.assert_series_equal(
        made.ndcg(k=3).per_user, expected.ndcg(k=3).per_user, rtol=0, atol=1e-12
    )
    with pytest.raises(OptionError, match="under propensity= the nearest"):
        made.hit_rate(k=3)
    if given == "item":
        few = options["propensity"].iloc[:3]
        with pytest.raises(FrameError, match="has no value for"):
            kind.evaluate(
                kind.parted(recs), kind.parted(truth, 3), npartitions=3, propensity=few
            ).ndcg(k=3)


def test_some_users_of_rows_elsewhere_have_the_example_of_all(kind):
    recs, truth = random_frames(np.random.default_rng(5), 20)
    source = both(kind, recs, truth)[0].joined.source
    some = source.among(source.under(Convention()).users[:3])
    assert some.example().rows.equals(source.example().rows)
