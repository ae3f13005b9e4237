"""Frames that are elsewhere, in files, with Dask or Spark, give the numbers of pandas;
what is wrong with them is refused as there.
"""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb import errors
from recnb.conventions import Convention
from recnb.data.parts import Parts
from recnb.errors import FrameError
from recnb.metrics import Credit
from recnb.metrics.metric import LIST_METRICS
from recnb.metrics.metric import METRICS as METRICS_OF_HITS
from recnb.results.user_lists import user_lists_of
from tests.distributed.conftest import ENGINES
from tests.laws.test_splits import frames_of
from tests.random_frames import (
    CONVENTIONS,
    METRICS,
    K,
    random_frames,
    shuffled,
    sized,
)
from tests.refused import names
from tests.rows import hold_refused, read_rows
from tests.spark_sessions import agree

pytestmark = pytest.mark.thin

rng = np.random.default_rng
WEIGHTED = ["ndcg", "precision", "recall", "rbp"]
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


@pytest.fixture(autouse=True)
def _own_metrics():
    """Metrics of the caller's, which the rows of data name."""

    @recnb.metric(symbol="H", credit="relevance / rank^2")
    def of_hits(hits, k=None):
        return Credit(hits, k, hits.relevance / hits.rank**2)

    @recnb.metric(symbol="L", over="list")
    def of_lists(lists, k=None):
        return lists.groupby("user")["rank"].mean()

    yield
    del METRICS_OF_HITS["of_hits"], LIST_METRICS["of_lists"]


def named(**more):
    """What the rows of data name."""
    of_hits, of_lists = METRICS_OF_HITS["of_hits"], LIST_METRICS["of_lists"]
    return {**globals(), "of_hits": of_hits, "of_lists": of_lists, **more}


def with_giant(at):
    """Frames with a user of many rows among small ones."""
    recs, truth = random_frames(rng(3), 12)
    giant = pd.DataFrame({"user": 99, "item": range(300), "score": rng(1).random(300)})
    liked = pd.DataFrame({"user": 99, "item": range(0, 600, 3), "relevance": 1})
    parts = [recs[:at], giant, recs[at:] if at is not None else recs[:0]]
    return pd.concat(parts), pd.concat([truth, liked])


def in_splits(seed, held, **options):
    """Lists in splits, and a truth that holds some of their columns."""
    columns = ["fold", "seed"] if seed == 21 else ["fold"]
    recs, truth, _keys = frames_of(seed, columns, **options)
    truth = truth[["user", "item", "relevance", *held]]
    return recs, truth.drop_duplicates(["user", "item", *held])


def both(kind, recs, truth, n_pieces=3, **options):
    """The evaluation of frames elsewhere, and that of pandas."""
    made = kind.evaluate(kind.parted(recs, n_pieces), kind.parted(truth, 3), **options)
    return made, recnb.evaluate(recs, truth, **options)


def alike(made, expected):
    """Hold an answer against that of pandas, to the last digits or to the letter."""
    if isinstance(expected, pd.DataFrame | pd.Series):
        frames = (pd.DataFrame(one).sort_index() for one in (made, expected))
        pd.testing.assert_frame_equal(*frames, check_exact=False, rtol=0, atol=1e-12)
        if isinstance(expected, recnb.Table):
            assert made.attrs["basis"] == expected.attrs["basis"]
    elif isinstance(expected, np.ndarray):
        np.testing.assert_allclose(made, expected, rtol=1e-12)
    elif isinstance(expected, pl.DataFrame):
        assert made.equals(expected)
    elif isinstance(expected, recnb.Score | recnb.CatalogueScore):
        assert made == pytest.approx(expected, abs=1e-12)
        assert made.basis == expected.basis
        alike(made.to_frame(), expected.to_frame())
        if expected.has_interval:
            np.testing.assert_allclose(made.interval(), expected.interval(), 1e-9)
    else:
        assert repr(made) == repr(expected)
        shown = (getattr(one, "_repr_html_", str)() for one in (made, expected))
        assert len({*shown}) == 1


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_numbers_are_those_of_pandas(kind, number):
    ids = IDS[number % len(IDS)]
    recs, truth = random_frames(rng(100 + number), 40, text=ids == "text")
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


ALIKE = read_rows("distributed/alike.toml")


@pytest.mark.parametrize("name", ALIKE)
def test_answers_are_those_of_pandas(kind, name):
    data = named(n_pieces=3, options={})
    exec(ALIKE[name]["data"], data)
    frames = data["recs"], data["truth"], data["n_pieces"]
    made, expected = both(kind, *frames, **data["options"])
    user = expected.ndcg(k=3).per_user.idxmax()
    for call in ALIKE[name]["calls"]:
        mine, theirs = (
            eval(f"ev.{call}", {**data, "ev": ev, "user": user})
            for ev in (made, expected)
        )
        alike(mine, theirs)


COMPARED = read_rows("distributed/compared.toml")


@pytest.mark.parametrize("name", COMPARED)
def test_models_are_compared_as_those_of_pandas(kind, name):
    data = named(options={})
    exec(COMPARED[name]["data"], data)
    models, truth, options = data["models"], data["truth"], data["options"]
    expected = recnb.compare(models, truth, **options)
    user = expected["a"].ndcg(k=3).per_user.idxmax()
    first, second = (kind.parted(rows) for rows in models.values())
    judged = kind.parted(truth)
    evaluated = {"a": kind.evaluate(first, judged, **options)}
    evaluated["b"] = recnb.evaluate(models["b"], truth, **options)
    for made in (
        recnb.compare({"a": first, "b": second}, judged, **options),
        recnb.compare(evaluated),
    ):
        for call in COMPARED[name]["calls"]:
            mine, theirs = (
                eval(f"found{call}", {"found": found, "user": user})
                for found in (made, expected)
            )
            alike(mine, theirs)
        assert "nDCG@5" in made.report(k=[2, 5]).to_markdown()


def test_frames_of_an_engine_go_together(engine):
    recs, truth = random_frames(rng(15))
    made = engine.evaluate(engine.parted(recs, 3), engine.parted(truth, 2))
    agree(made.table(k=5), recnb.evaluate(recs, truth).table(k=5))
    for frames in ((recs, engine.parted(truth)), (engine.parted(recs), truth)):
        with pytest.raises(FrameError, match=r"is a DataFrame: give a .*\(frame"):
            engine.evaluate(*frames)
    call = rf"recnb\.{engine.name}\.evaluate\(recs, truth\)"
    with pytest.raises(FrameError, match=call):
        recnb.evaluate(recs, engine.parted(truth))
    with pytest.raises(FrameError, match="train= is looked at here, and not with an"):
        engine.evaluate(*map(engine.parted, (recs, truth)), train=engine.parted(truth))


def test_hits_come_once(engine, monkeypatch):
    recs, truth = random_frames(rng(8), 1_000)
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


def test_only_the_columns_that_are_read_are_moved(engine):
    recs, truth = random_frames(rng(9))
    parts = engine.evaluate(
        engine.parted(recs.assign(other=1, more="x")),
        engine.parted(truth.assign(other=1)),
    ).source
    tables = parts.stored._rows.values()
    names = [{*one.columns} - {"recnb_row", "recnb_bucket"} for one in tables]
    assert names == [{"item", "score", "user"}, {"item", "relevance", "user"}]


def test_a_report_and_the_lint_say_what_is_not_looked_at(kind):
    recs, truth = random_frames(rng(10), 60)
    train = pd.DataFrame(
        {"user": np.arange(300) % 97, "item": np.arange(300) ** 2 % 13}
    )
    made, expected = both(kind, recs, truth, train=train)
    report = made.report(k=[3, 5])
    mine, theirs = (one.to_frame() for one in (report, expected.report(k=[3, 5])))
    alike(mine, theirs[theirs["metric"].isin(mine["metric"])].reset_index(drop=True))
    assert "every row of the lists" in report._repr_html_()
    found = made.lint(5)
    for name in ("ties", "seen_in_train"):
        assert found.not_checked[name] == "The rows of the lists are not in memory."
    assert set(found.names) <= set(expected.lint(5).names)


FRAMES = read_rows("refused/frames.toml") | {
    f"in a split: {name}": row for name, row in read_rows("refused/splits.toml").items()
}
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


REFUSED = read_rows("distributed/refused.toml")


def test_what_cannot_be_asked_is_refused(kind):
    recs, truth = random_frames(rng(7))
    lists, judged, _keys = frames_of(22, ["fold"])

    def ask(recs, truth, **options):
        return kind.evaluate(kind.parted(recs), kind.parted(truth, 3), **options)

    given = {"recs": recs, "truth": truth, "lists": lists, "judged": judged}
    given |= {
        "made": ask(recs, truth),
        "kind": kind,
        "ask": ask,
    }
    for call, row in REFUSED.items():
        hold_refused(call, row, named(**given))


def test_some_users_of_rows_elsewhere_have_the_example_of_all(kind):
    recs, truth = random_frames(rng(5), 20)
    source = both(kind, recs, truth)[0].joined.source
    some = source.among(source.under(Convention()).users[:3])
    assert some.example().rows.equals(source.example().rows)
