import os
import pickle
import signal
import time
from contextlib import contextmanager

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recnb
import recnb.dask
from recnb.errors import (
    ColumnError,
    ElsewhereError,
    FrameError,
    NoUsersError,
    OptionError,
    RecnbError,
    UnknownUserError,
)
from tests.random_frames import CONVENTIONS, METRICS, conventions_by_number, random_frames

K = [1, 3, None]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def parted(frame, n):
    """Rows in partitions as they come, users torn apart; some partitions are empty."""
    edges = np.sort(np.random.default_rng(len(frame) + n).integers(0, len(frame) + 1, n - 1))
    pieces = [frame.iloc[a:b] for a, b in zip([0, *edges], [*edges, len(frame)], strict=True)]
    return dd.from_map(lambda piece: piece, pieces, meta=frame.iloc[:0])


def agree(made, expected):
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    assert made.attrs["basis"] == expected.attrs["basis"]
    assert made.attrs["n_users"] == expected.attrs["n_users"]
    assert list(made.columns) == list(expected.columns)
    assert list(made.index) == list(expected.index)


@pytest.mark.parametrize("number", conventions_by_number(0))
def test_partitions_give_the_numbers_of_pandas(number):
    seed, convention, text = 100 + number, CONVENTIONS[number], number % 2 == 0
    n, m = np.random.default_rng(seed).integers(1, 8, 2)
    recs, truth = random_frames(np.random.default_rng(seed), 25, text)
    recs = recs.sample(frac=1, random_state=seed)
    expected = recnb.evaluate(recs, truth, **convention)
    made = parted(recs, n).rec.against(parted(truth, m), **convention)
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))
    score = made.ndcg(k=3)
    per_user = score.per_user
    assert isinstance(per_user, dd.Series)
    pd.testing.assert_series_equal(
        per_user.compute().sort_index(), expected.ndcg(k=3).per_user.sort_index(), check_exact=False, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("users", ["recs", "both", "union", "truth"])
@pytest.mark.parametrize("judged", ["truth", "list"])
def test_the_scale_of_err_is_that_of_the_truth_everywhere(users, judged):
    recs, truth = random_frames(np.random.default_rng(1))
    asked = {"users": users, "judged": judged, "no_relevant": "zero"}
    made = parted(recs, 5).rec.against(parted(truth, 3), **asked)
    expected = recnb.evaluate(recs, truth, **asked)
    agree(made.table(["err", "ndcg"], 5), expected.table(["err", "ndcg"], 5))
    values = made.per_user(["err", "ndcg"], [2, 5]).compute().sort_index()
    assert list(values.columns) == ["err@2", "err@5", "ndcg@2", "ndcg@5"]
    np.testing.assert_allclose(values["err@5"], expected.err(k=5).per_user, atol=1e-12)
    assert values.index.equals(expected.users)


@pytest.mark.parametrize("shuffle", ["tasks", "disk"])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_equal_scores_keep_the_order_of_rows_through_a_shuffle(shuffle, ties):
    recs, truth = random_frames(np.random.default_rng(2), 60)
    recs = recs.assign(score=1.0).sample(frac=1, random_state=2)
    with dask.config.set({"dataframe.shuffle.method": shuffle}, scheduler="threads"):
        made = parted(recs, 40).rec.against(parted(truth, 40), ties=ties, npartitions=37).table(k=[1, 5])
    agree(made, recnb.evaluate(recs, truth, ties=ties).table(k=[1, 5]))


def test_a_pandas_frame_may_stand_on_either_side():
    recs, truth = random_frames(np.random.default_rng(15))
    expected = recnb.evaluate(recs, truth).table(k=5)
    for left, right in ((recs, parted(truth, 3)), (parted(recs, 3), truth), (recs, truth)):
        agree(recnb.dask.evaluate(left, right).table(k=5), expected)
    with pytest.raises(FrameError, match=r"recnb\.dask\.evaluate\(recs, truth\)"):
        recnb.evaluate(recs, parted(truth, 3))


def test_one_giant_user_among_small_ones():
    rng = np.random.default_rng(3)
    recs, truth = random_frames(rng, 20)
    giant = pd.DataFrame({"user": 99, "item": np.arange(20_000), "score": rng.random(20_000)})
    liked = pd.DataFrame({"user": 99, "item": rng.permutation(40_000)[:15_000], "relevance": 1})
    recs, truth = pd.concat([recs, giant], ignore_index=True), pd.concat([truth, liked], ignore_index=True)
    agree(
        parted(recs, 6).rec.against(parted(truth, 6)).table(k=[10, None]),
        recnb.evaluate(recs, truth).table(k=[10, None]),
    )


IDS = {
    "int32": lambda ids: ids.astype("int32"),
    "Int64": lambda ids: ids.astype("Int64"),
    "float64": lambda ids: ids.astype("float64"),
    "category of numbers": lambda ids: ids.astype("category"),
    "object of numbers": lambda ids: ids.astype(object),
}
TEXTS = {
    "str": lambda ids: ids.astype(str),
    "object": lambda ids: ids.astype(str).astype(object),
    "string": lambda ids: ids.astype("string"),
    "category": lambda ids: ids.astype(str).astype("category"),
    "arrow": lambda ids: ids.astype("string[pyarrow]"),
}


@pytest.mark.parametrize("kinds", [IDS, TEXTS])
def test_ids_of_one_kind_meet_however_they_are_stored(kinds):
    recs, truth = random_frames(np.random.default_rng(4))
    expected = recnb.evaluate(recs, truth).table(k=5).to_numpy()
    plain = next(iter(kinds.values()))
    with dask.config.set({"dataframe.convert-string": False}):
        for cast in kinds.values():
            left = recs.assign(user=plain(recs.user), item=cast(recs.item))
            right = truth.assign(user=cast(truth.user), item=plain(truth.item))
            made = parted(left, 4).rec.against(parted(right, 3)).table(k=5)
            np.testing.assert_allclose(made.to_numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("number", [*IDS])
@pytest.mark.parametrize("text", [*TEXTS])
def test_ids_of_different_kinds_are_refused_before_anything_is_moved(number, text):
    recs, truth = random_frames(np.random.default_rng(5), 8)
    read = []

    def counted(frame):
        read.append(len(frame))
        return frame

    with dask.config.set({"dataframe.convert-string": False}):
        for role in ("user", "item"):
            left, right = (
                recs.assign(**{role: IDS[number](recs[role])}),
                truth.assign(**{role: TEXTS[text](truth[role])}),
            )
            left, right = (
                dd.from_map(counted, [one.iloc[:9], one.iloc[9:18], one.iloc[18:]], meta=one.iloc[:0])
                for one in (left, right)
            )
            with pytest.raises(
                FrameError, match=f"the {role} ids are of different kinds: recommendations hold whole numbers"
            ):
                left.rec.against(right)
    assert len(read) <= 8  # two for the message, two for types that do not tell, for each role


def test_a_part_whose_ids_are_of_another_kind_than_said_is_refused():
    recs, truth = random_frames(np.random.default_rng(6), 8)
    left = recs.assign(item=[str(one) if row > 20 else one for row, one in enumerate(recs.item)])
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(FrameError, match=r"more than one kind|different kinds"),
    ):
        parted(left.astype({"item": object}), 3).rec.against(parted(truth, 2)).table(k=5)


def test_what_is_wrong_is_said_as_for_pandas():
    recs, truth = random_frames(np.random.default_rng(7))
    drecs, dtruth = parted(recs, 4), parted(truth, 3)

    def refused(kind, match, left=drecs, right=dtruth, **options):
        with pytest.raises(kind, match=match):
            left.rec.against(right, **options).table(["ndcg"], k=5)

    refused(FrameError, "no user is in both frames", parted(recs.assign(user=recs.user + 1000), 3))
    refused(NoUsersError, "relevance must be 9 or more and the highest in the truth is 5", relevant_from=9)
    refused(FrameError, "recommendations is empty", parted(recs[:0], 2))
    refused(FrameError, "truth is empty", right=parted(truth[:0], 2))
    refused(FrameError, "is repeated", parted(pd.concat([recs, recs[5:6]]), 3))
    refused(FrameError, "negative relevance", right=parted(truth.assign(relevance=-1), 3))
    # A number of a row would be that of a partition, which nobody knows.
    nobody = r"has missing user ids, such as that beside item \d+\. Drop those rows"
    refused(FrameError, nobody, parted(recs.assign(user=recs.user.where(recs.user != 3)), 3))
    nothing = r"has missing item ids, such as that beside user \d+\. Drop those rows"
    refused(FrameError, nothing, right=parted(truth.assign(item=truth.item.where(truth.item != 3)), 3))
    refused(FrameError, "lists of 2 models", parted(recs.assign(model=np.where(recs.user < 9, "a", "b")), 3))
    refused(ColumnError, "no user column", parted(recs.rename(columns={"user": "x"}), 3))
    refused(OptionError, "ties='lst' is no convention", ties="lst")
    refused(OptionError, "candidates='catalogue'", candidates="catalogue")
    refused(FrameError, "train= is looked at here, and not with an engine", train=dtruth)
    refused(FrameError, "items is a list", items=[1])
    refused(OptionError, "npartitions=0", npartitions=0)
    refused(FrameError, "truth is a list", right=[1])
    evaluation = drecs.rec.against(dtruth)
    with pytest.raises(OptionError, match="Did you mean 'ndcg'"):
        evaluation.table(["ndgc"], k=5)
    with pytest.raises(OptionError, match="gain='exp'"):
        evaluation.ndcg(k=5, gain="exp")
    with pytest.raises(OptionError, match="whole numbers"):
        evaluation.curve("ndcg", [None])
    for name in ("why", "identify", "spread", "beyond", "coverage"):
        with pytest.raises(ElsewhereError, match=r"every row of the lists.*evaluate\(recs.compute\(\), truth.compute"):
            getattr(evaluation, name)()
    with pytest.raises(OptionError, match="beyond accuracy"):
        evaluation.table(["ndcg", "coverage"], k=5)
    with pytest.raises(UnknownUserError, match="neither frame"):
        evaluation.explain("ndcg", 12345, k=5)
    with pytest.raises(FrameError, match=r"import recnb\.dask"):
        recnb.evaluate(drecs, dtruth)


def test_nothing_is_computed_before_a_number_is_asked_for_and_then_once():
    recs, truth = random_frames(np.random.default_rng(8))
    read = []

    def counted(frame):
        read.append(len(frame))
        return frame

    left, right = (dd.from_map(counted, [one[:40], one[40:]], meta=one[:0]) for one in (recs, truth))
    evaluation = left.rec.against(right)
    later = evaluation.partial(["ndcg", "err"], [5, 10], compute=False)
    per_user = evaluation.per_user(["ndcg", "err"], [5, 10])
    assert "nothing computed yet" in repr(evaluation)
    assert read == []
    partial = later.compute()
    assert len(read) == 4  # each partition once, for two metrics at two cut-offs
    agree(partial.table(), recnb.evaluate(recs, truth).table(["ndcg", "err"], [5, 10]))
    assert len(per_user.compute()) == partial.n_users
    read.clear()
    kept = evaluation.persist()
    read.clear()
    agree(kept.table(k=5), recnb.evaluate(recs, truth).table(k=5))
    assert read == []


def test_only_the_columns_that_are_read_are_moved():
    recs, truth = random_frames(np.random.default_rng(9))
    evaluation = parted(recs.assign(other=1, more="x"), 2).rec.against(parted(truth.assign(other=1), 2))
    assert sorted(evaluation._shuffled[0].columns) == ["item", "recnb_bucket", "recnb_row", "score", "user"]
    assert sorted(evaluation._shuffled[1].columns) == ["item", "recnb_bucket", "recnb_row", "relevance", "user"]


def test_scores_curves_and_explanations_read_as_those_of_pandas():
    recs, truth = random_frames(np.random.default_rng(10), 60)
    evaluation, expected = parted(recs, 4).rec.against(truth), recnb.evaluate(recs, truth)
    score, other = evaluation.mrr(k=5, target="preferred"), expected.mrr(k=5, target="preferred")
    assert repr(score) == repr(other)
    np.testing.assert_allclose(score.interval(), other.interval(), atol=1e-12)
    assert "nothing computed yet" in evaluation._repr_html_()
    again = pickle.loads(pickle.dumps(score))
    assert (repr(again), again.interval()) == (repr(score), score.interval())
    with pytest.raises(RecnbError, match="stayed where"):
        _ = again.per_user
    curve = evaluation.curve("ndcg", range(1, 8), gain="exponential")
    np.testing.assert_allclose(curve, expected.curve("ndcg", range(1, 8), gain="exponential"), atol=1e-12)
    assert curve.attrs["basis"].endswith("95% intervals")
    user = expected.users[3]
    for lang in (None, "ko"):
        mine, theirs = (one.explain("ndcg", user, k=5, lang=lang)._repr_html_() for one in (evaluation, expected))
        assert mine == theirs
    assert float(evaluation.explain("err", user, k=5).value) == pytest.approx(
        expected.err(k=5).per_user[user], abs=1e-12
    )
    agree(evaluation.under("ranx").table(k=[2, 5]), expected.under("ranx").table(k=[2, 5]))
    pd.testing.assert_frame_equal(recs, random_frames(np.random.default_rng(10), 60)[0])


def test_columns_are_named_as_for_pandas():
    recs, truth = random_frames(np.random.default_rng(11))
    left, right = (
        recs.rename(columns={"user": "who", "item": "what"}),
        truth.rename(columns={"user": "who", "relevance": "stars"}),
    )
    asked = {"user": "who", "relevance": "stars"}
    left = left.rename(columns={"what": "sku"})
    made = parted(left, 3).rec.against(parted(right, 2), item="sku", **asked)
    agree(made.table(k=5), recnb.evaluate(left, right, item="sku", **asked).table(k=5))


def test_results_of_two_days_add_up():
    rng = np.random.default_rng(12)
    first, second = random_frames(rng), random_frames(rng)
    second = tuple(one.assign(user=one.user + 1000) for one in second)
    days = [parted(recs, 3).rec.against(parted(truth, 3)).partial(["ndcg"], 5) for recs, truth in (first, second)]
    both = [pd.concat(pair, ignore_index=True) for pair in zip(first, second, strict=True)]
    made, expected = (days[0] + days[1]).table(), recnb.evaluate(*both).table(["ndcg"], 5)
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    assert "a user in two of them counts twice" in made.attrs["basis"]


@contextmanager
def two_workers(recs, truth):
    """A cluster, and frames whose partitions take a while to read."""
    import distributed

    def slow(piece):
        time.sleep(0.3)
        return piece

    frames = (
        dd.from_map(slow, [one.iloc[rows] for rows in np.array_split(np.arange(len(one)), 8)], meta=one.iloc[:0])
        for one in (recs, truth)
    )
    settings = {"distributed.comm.timeouts.connect": "10s", "distributed.worker.memory.terminate": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
        dask.config.set(scheduler="dask.distributed"),
    ):
        yield client, *frames


def lose_one(client, done):
    """Kill the worker that holds most, while rows are read and moved; the workers there were."""
    pids = client.run(os.getpid)
    while sum(map(bool, client.who_has().values())) < 4:
        time.sleep(0.05)
    assert not done()
    held = [workers[0] for workers in client.who_has().values() if workers]
    os.kill(pids[max(held, key=held.count)], signal.SIGKILL)
    return set(pids.values())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_lost_in_mid_run_changes_nothing():
    recs, truth = random_frames(np.random.default_rng(13), 200)
    expected = recnb.evaluate(recs, truth)
    with two_workers(recs, truth) as (client, left, right):
        future = client.compute(left.rec.against(right).partial(["ndcg", "err"], [1, 5], compute=False))
        before = lose_one(client, future.done)
        partial = future.result(timeout=120)
        assert set(client.run(os.getpid).values()) != before
    agree(partial.table(), expected.table(["ndcg", "err"], [1, 5]))


def test_most_partitions_may_be_empty():
    recs, truth = random_frames(np.random.default_rng(14), 3)
    left = dd.from_map(lambda piece: piece, [recs[:0], recs, recs[:0], recs[:0]], meta=recs[:0])
    evaluation = left.rec.against(parted(truth, 2), npartitions=20, averaged_users="union", no_relevant="zero")
    expected = recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero")
    agree(evaluation.table(METRICS, k=K), expected.table(METRICS, k=K))
    assert len(evaluation.per_user(["ndcg"], 5).compute()) == expected.n_users


def test_the_bundled_sample_agrees():
    sample = recnb.datasets.load_sample()
    for recs in sample.models.values():
        made = parted(recs, 5).rec.against(parted(sample.test, 3), relevant_from=4)
        agree(made.table(k=[5, 10, 20]), recnb.evaluate(recs, sample.test, relevant_from=4).table(k=[5, 10, 20]))


def test_users_of_a_type_that_is_no_id_are_refused():
    recs, truth = random_frames(np.random.default_rng(12), 8)
    with dask.config.set({"dataframe.convert-string": False}):
        recs, truth = (one.assign(user=[[user] for user in one.user]) for one in (recs, truth))
        with pytest.raises(FrameError, match=r"column 'user' holds List.*one id a row is needed"):
            parted(recs, 2).rec.against(parted(truth, 2)).table(k=5)


def test_objects_without_rows_are_refused():
    recs, truth = random_frames(np.random.default_rng(13), 8, text=True)
    with dask.config.set({"dataframe.convert-string": False}):
        recs, truth = (one.astype({"user": object, "item": object}) for one in (recs, truth))
        with pytest.raises(FrameError, match="recommendations is empty"):
            parted(recs[:0], 1).rec.against(parted(truth, 2)).table(k=5)
