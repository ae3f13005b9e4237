"""Spark DataFrames give the numbers of pandas; one session serves all tests of this file, and starts tasks again that failed."""

import os
import pickle
import signal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recnb
from recnb.errors import (
    ColumnError,
    ElsewhereError,
    FrameError,
    NoUsersError,
    OptionError,
    RecnbError,
    UnknownUserError,
)
from tests.random_frames import CONVENTIONS, METRICS, K, random_frames
from tests.spark_sessions import agree, session

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


#: A metric as it would be defined in a notebook.
OWN = '''
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import Credit, metric


@metric(symbol="Mine", credit="1", bounds=(0, 1), references=[], sentence="A metric of one's own.")
def mine(hits, k=None):
    """Hits."""
    return Credit(hits, Cutoffs.of(k), hits.weight)
'''


@pytest.fixture(scope="module")
def spark():
    if os.environ.get("RECNB_REQUIRE_ALL") != "1":
        pytest.importorskip("pyspark")
    import recnb.spark  # noqa: F401

    made = session("local[2,4]")
    yield made
    made.stop()


def parted(spark, frame, n=3):
    """Rows in partitions as they come, users torn apart; some partitions are empty."""
    edges = np.sort(np.random.default_rng(len(frame) + n).integers(0, len(frame) + 1, n - 1))
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    pieces = [whole[a:b] for a, b in zip([0, *edges, len(frame)], [*edges, len(frame), len(frame)], strict=True)]
    made = spark.createDataFrame(pieces[0])
    for piece in pieces[1:]:
        made = made.union(spark.createDataFrame(piece))
    return made


def both(spark, recs, truth, n=3, **options):
    return recnb.spark.evaluate(parted(spark, recs, n), parted(spark, truth, 2), **options)


def jobs(spark):
    """What Spark's own pages call the jobs that were run, the last one first."""
    listed = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    told = (listed.apply(at).description() for at in range(listed.size()))
    return [one.get() if one.isDefined() else None for one in told]


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_buckets_give_the_numbers_of_pandas(spark, number):
    seed, convention, text = 200 + number, CONVENTIONS[number], number % 2 == 0
    recs, truth = random_frames(np.random.default_rng(seed), 25, text)
    recs = recs.sample(frac=1, random_state=seed)
    expected = recnb.evaluate(recs, truth, **convention)
    # Some buckets hold no users, or users of one frame only.
    made = both(spark, recs, truth, 2, npartitions=[1, 3, 40][number % 3], **convention)
    agree(made.table(METRICS, k=K), expected.table(METRICS, k=K))


@pytest.mark.parametrize("asked", [{"averaged_users": "union", "no_relevant": "zero"}, {"averaged_users": "both"}])
def test_values_of_users_are_those_of_pandas(spark, asked):
    recs, truth = random_frames(np.random.default_rng(1))
    made, expected = both(spark, recs, truth, **asked), recnb.evaluate(recs, truth, **asked)
    values = made.per_user(["err", "ndcg"], [2, None]).toArrow().to_pandas().sort_values("user").set_index("user")
    assert list(values.columns) == ["err@2", "err", "ndcg@2", "ndcg"]
    assert values.index.dtype == np.int64
    assert list(values.index) == list(expected.users)
    for column, own in {"err@2": expected.err(k=2), "ndcg": expected.ndcg()}.items():
        np.testing.assert_allclose(values[column].dropna(), own.per_user, atol=1e-12)
    score = made.ndcg(k=3)
    mine = score.per_user.toArrow().to_pandas().sort_values("user").set_index("user")["ndcg@3"]
    pd.testing.assert_series_equal(mine, expected.ndcg(k=3).per_user, check_exact=False, rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(score))
    assert (repr(again), again.interval()) == (repr(score), score.interval())
    with pytest.raises(RecnbError, match="stayed where"):
        _ = again.per_user


@pytest.mark.parametrize("ties", ["first", "last"])
def test_equal_scores_keep_the_order_in_which_spark_reads_rows(spark, ties):
    recs, truth = random_frames(np.random.default_rng(2), 60)
    recs = recs.assign(score=1.0).sample(frac=1, random_state=2)
    made = both(spark, recs, truth, 9, ties=ties, npartitions=7)
    agree(made.table(k=[1, 5]), recnb.evaluate(recs, truth, ties=ties).table(k=[1, 5]))


def test_one_giant_user_among_small_ones(spark):
    rng = np.random.default_rng(3)
    recs, truth = random_frames(rng, 20)
    giant = pd.DataFrame({"user": 99, "item": np.arange(50_000), "score": rng.random(50_000)})
    liked = pd.DataFrame({"user": 99, "item": rng.permutation(90_000)[:30_000], "relevance": 1})
    recs, truth = pd.concat([recs, giant], ignore_index=True), pd.concat([truth, liked], ignore_index=True)
    made, expected = both(spark, recs, truth), recnb.evaluate(recs, truth)
    agree(made.table(k=[10, None]), expected.table(k=[10, None]))
    agree(made.fetch().table(k=[10, None]), expected.table(k=[10, None]))


def test_what_a_worker_sends_comes_in_pieces(spark, monkeypatch):
    from recnb.distributed import spark_parts

    recs, truth = random_frames(np.random.default_rng(4))
    monkeypatch.setattr(spark_parts, "PIECE", 1000)
    made = both(spark, recs, truth, npartitions=2)
    assert made._received(lambda part: bytes(2500) + bytes([1]), "pieces") == [bytes(2500) + bytes([1])] * 2


def test_what_can_be_remedied_in_spark_is_said(spark):
    from recnb.distributed.spark import _explained, _parts_of

    recs, truth = random_frames(np.random.default_rng(4))
    with pytest.raises(RecnbError, match=r"larger\s+spark.driver.maxResultSize"):
        both(spark, recs, truth, npartitions=3)._received(lambda part: os.urandom(20 * 2**20), "too much")
    told = _explained(Exception("PythonException: ... ModuleNotFoundError: No module named 'recnb'"))
    assert "install it where they run" in str(told)
    assert _parts_of(SimpleNamespace(conf={"spark.sql.shuffle.partitions": "auto"})) == 200  # as Databricks may have it
    broken = both(spark, recs, truth)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        broken._received(lambda part: 1 / 0, "a defect")


def test_ids_of_one_kind_meet_however_they_are_stored(spark):
    recs, truth = random_frames(np.random.default_rng(4))
    left, right = spark.createDataFrame(recs), spark.createDataFrame(truth)
    expected = recnb.evaluate(recs, truth).table(["ndcg"], k=5)
    for kind, other in [("tinyint", "bigint"), ("double", "int"), ("float", "double")]:
        one, two = left.withColumn("user", left.user.cast(kind)), right.withColumn("item", right.item.cast(other))
        agree(recnb.spark.evaluate(one, two).table(["ndcg"], k=5), expected)
    # What is no number and no text meets its like alone.
    for kind in ("decimal(12,0)", "binary", "date", "timestamp"):
        start = {"binary": "cast({} as string)", "date": "date_add(date'2020-01-01', cast({} as int))"}
        text = {**start, "timestamp": "timestamp_seconds({})"}.get(kind, "{}")
        one, two = (
            frame.selectExpr(f"cast({text.format('user')} as {kind}) user", "item", value)
            for frame, value in ((left, "score"), (right, "relevance"))
        )
        made = recnb.spark.evaluate(one, two)
        agree(made.table(["ndcg"], k=5), expected)
        assert made.per_user(["ndcg"], 5).schema["user"].dataType == one.schema["user"].dataType
    text = [frame.withColumn("user", frame.user.cast("string")) for frame in (left, right)]
    agree(recnb.spark.evaluate(*text).table(["ndcg"], k=5), expected)


def test_ids_that_cannot_meet_are_refused_before_any_job(spark):
    recs, truth = random_frames(np.random.default_rng(5), 8)
    left, right = spark.createDataFrame(recs), spark.createDataFrame(truth)
    before = len(jobs(spark))
    for role in ("user", "item"):
        text = right.withColumn(role, right[role].cast("string"))
        with pytest.raises(
            FrameError, match=f"the {role} ids are of .* whole numbers .bigint. in column '{role}', .* text .string"
        ):
            recnb.spark.evaluate(left, text)
        with pytest.raises(
            FrameError, match=rf"truth = truth.withColumn\('{role}', truth\['{role}'\].cast\('string'\)\)"
        ):
            recnb.spark.evaluate(left.withColumn(role, left[role].cast("string")), right)
        with pytest.raises(FrameError, match="recommendations hold date in column"):
            recnb.spark.evaluate(left.selectExpr("*").withColumn(role, spark_date(left)), right)
        with pytest.raises(FrameError, match=f"holds array<bigint>, which is no {role} id: .*explode"):
            recnb.spark.evaluate(left.selectExpr("*").withColumn(role, spark_array(left)), right)
        with pytest.raises(FrameError, match="text"):
            recnb.spark.evaluate(left, truth.assign(**{role: truth[role].astype(str)}))
    with pytest.raises(FrameError, match="'score' holds array<bigint>, which is no score: "):
        recnb.spark.evaluate(left.withColumn("score", spark_array(left)), right)
    with pytest.raises(FrameError, match=r"is a Spark DataFrame: type import recnb\.spark"):
        recnb.evaluate(left, truth)
    with pytest.raises(FrameError, match="truth is a list, which is nothing that recnb reads"):
        recnb.spark.evaluate(left, [1])
    with pytest.raises(FrameError, match="neither frame is of Spark"):
        recnb.spark.evaluate(recs, truth)
    with pytest.raises(ColumnError, match="no user column"):
        recnb.spark.evaluate(left.withColumnRenamed("user", "x"), right)
    with pytest.raises(ColumnError, match="more than one column called 'item'"):
        recnb.spark.evaluate(left.select("user", "item", left.score.alias("item")), right)
    assert len(jobs(spark)) == before


def spark_date(frame):
    return frame.user.cast("timestamp").cast("date")


def spark_array(frame):
    from pyspark.sql import functions as fn

    return fn.array(frame.user)


def test_what_is_wrong_is_said_as_for_pandas(spark):
    recs, truth = random_frames(np.random.default_rng(7))
    right = parted(spark, truth, 2)

    def refused(kind, left=recs, right=right, **options):
        """The same error, word for word, but for ids missing, which pandas tells by the number of a row."""
        own = truth if right is not None and not isinstance(right, pd.DataFrame) else right
        with pytest.raises(kind) as expected:
            recnb.evaluate(left, own, **options).table(["ndcg"], k=5)
        given = right if not isinstance(right, pd.DataFrame) else parted(spark, right, 2)
        with pytest.raises(kind) as found:
            recnb.spark.evaluate(parted(spark, left, 2), given, npartitions=3, **options).table(["ndcg"], k=5)
        assert type(found.value) is type(expected.value)
        return str(found.value), str(expected.value)

    def same(*asked, **options):
        found, expected = refused(*asked, **options)
        assert found == expected

    same(NoUsersError, relevant_from=9)
    same(FrameError, recs[:0])
    same(FrameError, recs, truth[:0])
    same(FrameError, pd.concat([recs, recs[5:6]]))
    same(FrameError, recs, truth.assign(relevance=np.where(truth.user == 3, -1, truth.relevance)))
    same(FrameError, recs.assign(model=np.where(recs.user < 9, "a", "b")))
    ranked = recs.drop(columns="score").assign(rank=recs.groupby("user").cumcount())
    same(FrameError, ranked[ranked.user == ranked.user.iloc[0]])
    assert "no user is in both frames" in refused(FrameError, recs.assign(user=recs.user + 1000))[0]
    missing = recs.assign(user=recs.user.astype("Int64").where(recs.user != 3))
    assert "recommendations: column 'user' has" in refused(FrameError, missing)[0]
    assert "missing user ids" in refused(FrameError, missing)[0]
    evaluation = both(spark, recs, truth)
    with pytest.raises(OptionError, match="Did you mean 'ndcg'"):
        evaluation.table(["ndgc"], k=5)
    with pytest.raises(OptionError, match="npartitions=0"):
        both(spark, recs, truth, npartitions=0)
    with pytest.raises(ElsewhereError, match=r"recnb.evaluate\(recs.toPandas\(\), truth.toPandas\(\)\)"):
        evaluation.coverage(k=5)
    for user in (12345, "u1"):
        with pytest.raises(UnknownUserError, match="neither frame"):
            evaluation.explain("ndcg", user, k=5)
    wrong = both(spark, pd.concat([recs, recs[5:6]]), truth).per_user(["ndcg"], 5)
    with pytest.raises(Exception, match="is repeated"):
        wrong.count()


def test_nothing_is_computed_before_a_number_is_asked_for_and_jobs_say_what_they_are_for(spark):
    recs, truth = random_frames(np.random.default_rng(8))
    left, right = spark.createDataFrame(recs), spark.createDataFrame(truth)
    spark.sparkContext.setJobDescription("mine")
    try:
        before = len(jobs(spark))
        evaluation = recnb.spark.evaluate(left, right)
        values = evaluation.per_user(["ndcg", "err"], [5, 10])
        assert "nothing computed yet" in repr(evaluation)
        assert "nothing computed yet" in evaluation._repr_html_()
        assert len(jobs(spark)) == before
        evaluation.table(["ndcg", "err"], [5, 10])
        assert spark.sparkContext.getLocalProperty("spark.job.description") == "mine"
    finally:
        spark.sparkContext.setJobDescription(None)
    told = jobs(spark)[: len(jobs(spark)) - before]
    assert set(told) == {"recnb: ndcg@5 ndcg@10 err@5 err@10", "recnb: ndcg@5 ndcg@10 err@5 err@10, scale of grades"}
    assert values.columns == ["user", "ndcg@5", "ndcg@10", "err@5", "err@10"]


def test_only_the_columns_that_are_read_are_moved(spark):
    recs, truth = random_frames(np.random.default_rng(9))
    evaluation = both(spark, recs.assign(other=1, more="x"), truth.assign(other=1))
    assert sorted(evaluation._rows[0].columns) == ["item", "recnb_bucket", "recnb_row", "score", "user"]
    assert sorted(evaluation._rows[1].columns) == ["item", "recnb_bucket", "recnb_row", "relevance", "user"]


def test_reports_tables_by_group_comparisons_and_explanations_are_those_of_pandas(spark):
    recs, truth = random_frames(np.random.default_rng(10), 60)
    users = pd.DataFrame({"user": np.arange(60), "group": np.arange(60) % 3})
    made, expected = both(spark, recs, truth, averaged_users=users), recnb.evaluate(recs, truth, averaged_users=users)
    report, other = made.report(k=[1, 5]), expected.report(k=[1, 5])
    pd.testing.assert_frame_equal(report.to_frame(), other.to_frame())
    assert (report.users, report.populations) == (other.users, other.populations)
    pd.testing.assert_frame_equal(
        pd.DataFrame(made.table(["ndcg"], k=5, by="group")), pd.DataFrame(expected.table(["ndcg"], k=5, by="group"))
    )
    assert made.detectable("ndcg", 5) == expected.detectable("ndcg", 5)
    curve, other = (
        made.curve("ndcg", range(1, 8), gain="exponential"),
        expected.curve("ndcg", range(1, 8), gain="exponential"),
    )
    np.testing.assert_allclose(curve, other, atol=1e-12)
    user = expected.users[3]
    assert made.explain("ndcg", user, k=5)._repr_html_() == expected.explain("ndcg", user, k=5)._repr_html_()
    assert float(made.explain("err", user, k=5).value) == pytest.approx(expected.err(k=5).per_user[user], abs=1e-12)
    agree(made.under("ranx").table(["ndcg"], k=5), expected.under("ranx").table(["ndcg"], k=5))
    worse = recs.assign(score=-recs.score)
    frames = {"one": parted(spark, recs), "other": parted(spark, worse)}
    compared = recnb.compare(frames, parted(spark, truth))
    expected = recnb.compare({"one": recs, "other": worse}, truth)
    assert repr(compared.table(["ndcg"], k=5)) == repr(expected.table(["ndcg"], k=5))
    of_models = parted(spark, pd.concat([recs.assign(model="one"), worse.assign(model="other")]))
    assert repr(recnb.compare(of_models, truth).table(["ndcg"], k=5)) == repr(expected.table(["ndcg"], k=5))
    pd.testing.assert_frame_equal(recs, random_frames(np.random.default_rng(10), 60)[0])


def test_a_frame_that_is_here_serves_beside_one_of_spark(spark):
    recs, truth = random_frames(np.random.default_rng(11), 30, text=True)
    left = recs.rename(columns={"user": "who", "item": "s.k`u"})
    asked = {"user": "who", "relevance": "stars", "item": "s.k`u"}
    right = truth.rename(columns={"user": "who", "relevance": "stars"}).astype({"who": "category"})
    expected = recnb.evaluate(left, right, **asked).table(k=5)
    agree(recnb.spark.evaluate(parted(spark, left), right, **asked).table(k=5), expected)
    agree(recnb.spark.evaluate(left, spark.createDataFrame(right.astype({"who": "str"})), **asked).table(k=5), expected)


def test_rows_that_are_kept_are_read_once(spark):
    recs, truth = random_frames(np.random.default_rng(12))
    expected = recnb.evaluate(recs, truth)
    kept = both(spark, recs, truth, npartitions=4).persist()
    try:
        agree(kept.table(["ndcg"], k=5), expected.table(["ndcg"], k=5))
        assert kept._rows[0].is_cached
        later = kept.per_user(["ndcg"], 10)._jdf.queryExecution().executedPlan().toString()
        assert "REPARTITION_BY_NUM" in later
        assert "ENSURE_REQUIREMENTS" not in later  # no other shuffle
        user = expected.users[0]
        assert kept.explain("ndcg", user, 5).value == expected.explain("ndcg", user, 5).value
    finally:
        kept.unpersist()
    assert not kept._rows[0].is_cached


def test_a_metric_of_ones_own_is_known_to_workers(spark):
    from recnb.metrics.metric import METRICS as REGISTERED

    recs, truth = random_frames(np.random.default_rng(13))
    exec(OWN, {"__name__": "__main__"})
    try:
        agree(both(spark, recs, truth).table(["mine"], k=3), recnb.evaluate(recs, truth).table(["mine"], k=3))
    finally:
        REGISTERED.pop("mine")


@pytest.mark.parametrize("where", ["reading", "joining"])
def test_a_task_that_fails_in_mid_run_changes_nothing(spark, tmp_path, monkeypatch, where):
    from recnb.distributed import spark_parts

    recs, truth = random_frames(np.random.default_rng(14), 100)
    marker = str(tmp_path / "killed")

    def die_once():
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    def reading(batches):
        for batch in batches:
            if batch.num_rows:
                die_once()
            yield batch

    left = parted(spark, recs, 4)
    if where == "reading":
        left = left.mapInArrow(reading, left.schema)
    else:
        plain = spark_parts.sent

        def sent(*asked):
            work = plain(*asked)

            def dying(key, one, other):
                if key[0].as_py() == 3:
                    die_once()
                return work(key, one, other)

            return dying

        monkeypatch.setattr(spark_parts, "sent", sent)
    made = recnb.spark.evaluate(left, parted(spark, truth), npartitions=8).table(["ndcg", "recall"], k=[1, 5])
    assert os.path.exists(marker)
    agree(made, recnb.evaluate(recs, truth).table(["ndcg", "recall"], k=[1, 5]))
