"""Lists larger than memory give the numbers of lists in memory, from any source that is read in batches."""

import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recnb
from recnb.data import buckets, parts
from recnb.errors import ElsewhereError, FrameError, RecnbError
from tests.examples import examples
from tests.random_frames import CONVENTIONS, METRICS, K, random_frames


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Whatever has more than 30 rows is put into files, read in batches of 7, in blocks of 20 and buckets of as many."""
    sized(monkeypatch, whole=30, rows=20, batch=7)


def sized(monkeypatch, whole, rows, batch):
    monkeypatch.setattr(buckets, "WHOLE", whole)
    monkeypatch.setattr(buckets, "SHARE", 0)
    monkeypatch.setattr(buckets, "BLOCK", rows // 4 + 1)
    monkeypatch.setattr(buckets, "BUCKET", 24 * rows)
    monkeypatch.setattr(buckets, "SLOTS", 8)
    monkeypatch.setattr(buckets, "ROWS", batch)


def in_batches(frame):
    """A dataset whose batches are small, and some of them empty."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return ds.dataset([*table[:9].to_batches(), *table[:0].to_batches(), *table[9:].to_batches(max_chunksize=5)])


KINDS = {"lazy": lambda frame: pl.from_pandas(frame).lazy(), "dataset": in_batches, "duckdb": duckdb.from_df}


def shuffled(frame, seed=0):
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def same(streamed_, whole, metrics=METRICS, k=K):
    """All that an evaluation says of its users."""
    made, expected = streamed_.table(metrics, k=k), whole.table(metrics, k=k)
    np.testing.assert_allclose(made.to_numpy(), expected.to_numpy(), rtol=0, atol=1e-12)
    assert made.attrs["basis"] == expected.attrs["basis"]
    pd.testing.assert_frame_equal(streamed_.to_frame(), whole.to_frame())
    for name in [name for name in dir(whole.counts) if name.startswith("n_")]:
        assert getattr(streamed_.counts, name) == getattr(whole.counts, name), name
    assert streamed_._data.prepared.truth.equals(whole._data.prepared.truth)
    by_user = [one._data.prepared.judged.sort("user", maintain_order=True) for one in (streamed_, whole)]
    assert by_user[0].equals(by_user[1])


def lists_are_away(evaluation):
    with pytest.raises(ElsewhereError):
        evaluation._data.prepared.recs.height  # noqa: B018
    return True


# One test of many draws: a fixture set once for all of them is what is meant.
drawn = settings(max_examples=examples(70), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(("share", "n"), [(1, 1), (0.999, 2), (0.25, 4), (1e-9, 8)])
def test_buckets_are_as_many_as_their_size_asks_for(share, n, monkeypatch):
    table = buckets.Buckets([pl.DataFrame({"user": range(100), "item": range(100)})])
    monkeypatch.setattr(buckets, "BUCKET", int(share * table.n_bytes))
    assert buckets.ranges_of(table) == [(8 * at // n, 8 * (at + 1) // n) for at in range(n)]


@drawn
@given(
    seed=st.integers(0, 10_000),
    convention=st.sampled_from([*CONVENTIONS, {"ties": "expected"}, {"judged_only": True}]),
    kinds=st.tuples(st.sampled_from([*KINDS]), st.sampled_from(["pandas", *KINDS])),
    ids=st.sampled_from(["int64", "int32", "float64", "category", "text"]),
    torn=st.booleans(),
)
def test_batches_give_the_numbers_of_the_whole(seed, convention, kinds, ids, torn):
    recs, truth = random_frames(np.random.default_rng(seed), n_users=25, text=ids == "text")
    # DuckDB may give the truth in an order of its own, which shows nowhere else.
    recs, truth = shuffled(recs, seed) if torn else recs, truth.sort_values(["user", "item"], ignore_index=True)
    if ids != "text":
        kind = (lambda users: users.astype(str).astype(ids)) if ids == "category" else (lambda users: users.astype(ids))
        recs, truth = (frame.assign(user=kind(frame["user"])) for frame in (recs, truth))
    whole = recnb.evaluate(recs, truth, **convention)
    made = recnb.evaluate(KINDS[kinds[0]](recs), KINDS.get(kinds[1], lambda frame: frame)(truth), **convention)
    assert lists_are_away(made)
    untied = convention != {"ties": "expected"}
    same(made, whole, {name: METRICS[name] for name in METRICS if untied or name not in ("err", "reciprocal_rank")})
    if "judged_only" in convention:
        return  # its lists are not fetched
    at = seed % whole.n_users
    assert made._data.lists_of([at])[0] == whole._data.lists_of([at])[0]
    assert made._data.truth_of(at).equals(whole._data.truth_of(at))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", ["rows", "a share of the memory"])
def test_what_fits_is_held_in_memory(kind, bound, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(2))
    expected, size = recnb.evaluate(recs, truth), pl.from_pandas(recs).estimated_size()
    for fits in (True, False):
        if bound == "rows":
            monkeypatch.setattr(buckets, "WHOLE", len(recs) if fits else len(recs) - 1)
        else:
            monkeypatch.setattr(buckets, "SHARE", 1 / 32)
            monkeypatch.setattr(buckets, "available_memory", lambda fits=fits: 32 * size if fits else size)
        made = recnb.evaluate(KINDS[kind](recs), truth)
        assert made._data.source.in_memory is fits
        same(made, expected)


FILES = {
    "files": lambda folder, files: pl.scan_parquet(files),
    "one file, filtered": lambda folder, files: pl.scan_parquet(folder / "one.parquet").filter("keep"),
    "duckdb": lambda folder, files: duckdb.read_parquet(files),
    "dataset": lambda folder, files: ds.dataset(files),
    "dataset, filtered": lambda folder, files: ds.dataset(folder / "one.parquet").filter(ds.field("keep")),
}


@pytest.mark.parametrize("where", FILES)
def test_files(where, tmp_path):
    """Lists of users are torn over the files, beside columns that are not read."""
    recs, truth = random_frames(np.random.default_rng(3), n_users=45, text=True)
    recs, truth = (frame.rename(columns={"user": "who"}) for frame in (shuffled(recs), truth))
    recs = recs.assign(more="x", other=1.5, model="a")
    for number, start in enumerate(range(0, len(recs), 31)):
        recs[start : start + 31].to_parquet(tmp_path / f"{number:03}.parquet", row_group_size=10)
    recs.assign(keep=True).to_parquet(tmp_path / "one.parquet")
    source = FILES[where](tmp_path, sorted(map(str, tmp_path.glob("0*.parquet"))))
    made, whole = (recnb.evaluate(one, truth, user="who") for one in (source, recs))
    assert lists_are_away(made)
    same(made, whole)
    assert made._data.lists_of([5])[0] == whole._data.lists_of([5])[0]


@pytest.mark.parametrize("place", ["first", "amid", "last", "alone"])
def test_one_user_has_more_rows_than_a_batch(place):
    recs, truth = random_frames(np.random.default_rng(4))
    giant = pd.DataFrame({"user": 1000, "item": np.arange(150), "score": np.arange(150) % 7})
    parts = {"first": [giant, recs], "amid": [recs[:60], giant, recs[60:]], "last": [recs, giant], "alone": [giant]}
    recs = pd.concat(parts[place], ignore_index=True)
    truth = pd.concat([truth, pd.DataFrame({"user": 1000, "item": [3, 149, 200], "relevance": [1, 2, 3]})])
    same(recnb.evaluate(pl.from_pandas(recs).lazy(), truth), recnb.evaluate(recs, truth))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_read_once(kind, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(9))
    begun, read = [], parts.batches_of
    monkeypatch.setattr(parts, "batches_of", lambda *given: begun.append((given[1], [*given[2]])) or read(*given))
    made = recnb.evaluate(KINDS[kind](recs.assign(more=1)), truth)
    made.table()
    under = [one.under("ranx").table() for one in (made, recnb.evaluate(recs, truth))]
    np.testing.assert_allclose(under[0].to_numpy(), under[1].to_numpy(), atol=1e-12)
    assert made._data.lists_of([3])[0] == recnb.evaluate(recs, truth)._data.lists_of([3])[0]
    assert begun == [("truth", ["user", "item", "relevance"]), ("recommendations", ["user", "item", "score"])]


def test_a_connection_may_be_asked_other_things_meanwhile():
    recs, truth = random_frames(np.random.default_rng(10))
    frames = {"recs": recs, "truth": truth, "train": recs[["user", "item"]]}
    connection = duckdb.connect()
    for name, frame in frames.items():
        connection.register(name, frame)
    recs_, truth_, train = (connection.table(name) for name in frames)
    same(recnb.evaluate(recs_, truth_, train=train), recnb.evaluate(recs, truth))


# ---- what is wrong ------------------------------------------------------------------------------------------------


def said(recs, truth, **options):
    with pytest.raises(RecnbError) as found:
        recnb.evaluate(recs, truth, **options)
    return found.type, str(found.value)


def with_last(frame, **values):
    """The frame with other values in its last row."""
    last = frame.index == len(frame) - 1
    return frame.assign(**{name: frame[name].mask(last, value) for name, value in values.items()})


#: What is changed of lists by score, lists by rank and the truth, and whether one part of the rows can tell.
REFUSED = {
    "a pair twice": (lambda scored, ranked, truth: (pd.concat([scored, scored[-1:]]), truth, {}), True),
    "an infinite score": (lambda scored, ranked, truth: (with_last(scored, score=np.inf), truth, {}), True),
    "a rank from 0": (lambda scored, ranked, truth: (with_last(ranked, rank=0), truth, {}), True),
    "half a rank": (lambda scored, ranked, truth: (with_last(ranked, rank=1.5), truth, {}), True),
    "a rank twice": (lambda scored, ranked, truth: (ranked.assign(rank=1), truth, {}), True),
    "rank against score": (lambda scored, ranked, truth: (ranked.assign(score=ranked["rank"] * 1.0), truth, {}), True),
    "a negative grade": (lambda scored, ranked, truth: (scored, truth.assign(relevance=-1), {}), True),
    "a repeated truth": (lambda scored, ranked, truth: (scored, pd.concat([truth, truth[:1]]), {}), True),
    "several models": (lambda scored, ranked, truth: (pd.concat([scored.assign(model=name) for name in "abc"]), truth, {}), False),
    "other users": (lambda scored, ranked, truth: (scored.assign(user=scored.user + 1000), truth, {}), False),
    "nothing relevant": (lambda scored, ranked, truth: (scored, truth, {"relevant_from": 9}), False),
    "no truth": (lambda scored, ranked, truth: (scored, truth[:0], {}), False),
    "no order": (lambda scored, ranked, truth: (scored[["user", "item"]], truth, {}), True),
    "no rank": (lambda scored, ranked, truth: (scored, truth, {"order": "rank"}), True),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused_in_memory_is_refused(kind, what):
    scored, truth = random_frames(np.random.default_rng(12))
    change, one_part = REFUSED[what]
    ranked = scored.assign(rank=scored.groupby("user").cumcount() + 1).drop(columns="score")
    recs, truth, options = change(scored, ranked, truth)
    expected_error, expected = said(recs, truth, **options)
    error, message = said(KINDS[kind](recs), truth, **options)
    assert error is expected_error
    assert message.endswith("in one part of the frame: there may be more.)") is (one_part and error is FrameError)
    # Of several rows at fault some of one part are named, and of all users those of the first part.
    made, wanted = (re.sub(r"\d+", "1", text.split(",")[0].split(" for ")[0]) for text in (message, expected))
    assert made.replace("pairs of user and item are", "pair of user and item is").startswith(wanted)
    if what in ("a pair twice", "an infinite score", "a rank from 0", "half a rank"):
        assert message.startswith(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["user", "item"])
def test_missing_ids_are_refused_with_their_row(kind, column):
    recs, truth = random_frames(np.random.default_rng(11), text=column == "user")
    bad = recs.astype({column: object})
    bad.loc[[1, len(recs) - 3], column] = None
    error, message = said(KINDS[kind](bad.convert_dtypes()), truth)
    assert error is FrameError
    assert f"recommendations: column '{column}' has 1 missing {column} id, the first in row 1." in message


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_other_kinds_are_refused_by_the_first_batch(kind, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(14))
    monkeypatch.setattr(buckets.Buckets, "_write", lambda self: pytest.fail("more was read"))
    text = truth.assign(item=truth["item"].astype(str))[:20]
    assert said(KINDS[kind](recs), text) == said(recs, text)
    assert "item ids are of different kinds" in said(KINDS[kind](recs), text)[1]


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("lazy", r"a lazy frame.*frame\.collect"), ("dataset", r"dataset\.to_table"), ("duckdb", r"relation\.to_arrow_table")],
)  # fmt: skip
def test_what_all_rows_together_decide_is_refused(kind, remedy):
    recs, truth = random_frames(np.random.default_rng(15))
    with pytest.raises(ElsewhereError, match=rf"candidates='catalogue' ranks .* stay in .*{remedy}"):
        recnb.evaluate(KINDS[kind](recs), truth, candidates="catalogue", ties="first")
    made = recnb.evaluate(KINDS[kind](recs), truth, train=recs)
    for ask in (made.personalization, made.items):
        with pytest.raises(ElsewhereError, match=rf"every row of the lists.*{remedy}"):
            ask(k=2)


def test_lists_of_judged_items_alone_are_fetched():
    recs, truth = random_frames(np.random.default_rng(21))
    made = recnb.evaluate(pl.from_pandas(recs).lazy(), truth, judged_only=True)
    assert made.ndcg(k=5) == pytest.approx(float(recnb.evaluate(recs, truth, judged_only=True).ndcg(k=5)), abs=1e-12)
    expected = recnb.evaluate(recs, truth, judged_only=True).user(made.users[0])
    pd.testing.assert_frame_equal(made.user(made.users[0]), expected)


# ---- all that one in memory answers ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture
def pair(sample, monkeypatch):
    sized(monkeypatch, whole=500, rows=300, batch=100)
    popular = sample.models["popular"]
    return recnb.evaluate(pl.from_pandas(popular).lazy(), sample.test), recnb.evaluate(popular, sample.test)


def test_users_lists_and_explanations(pair):
    made, whole = pair
    assert lists_are_away(made)
    same(made, whole)
    for user in whole.users[[0, 7, 30]]:
        assert made.explain("ndcg", user, k=5)._repr_html_() == whole.explain("ndcg", user, k=5)._repr_html_()
    pd.testing.assert_series_equal(made.ndcg(k=10).per_user, whole.ndcg(k=10).per_user)
    curves = (one.curve("recall", k=range(1, 6)).to_frame() for one in pair)
    pd.testing.assert_frame_equal(*curves, rtol=1e-12)
    assert repr(made) == repr(whole)
    assert made._repr_html_() == whole._repr_html_()
    assert made.detectable("ndcg", k=10).words == whole.detectable("ndcg", k=10).words


def test_segments_comparison_and_report(pair, sample):
    made, whole = pair
    groups = pd.Series(np.where(np.arange(len(whole.users)) % 2, "odd", "even"), index=whole.users)
    pd.testing.assert_frame_equal(made.table(by=groups), whole.table(by=groups))
    assert "nDCG" in made.report(k=[5, 10]).to_markdown()
    other = sample.models[next(name for name in sample.models if name != "popular")]
    both = recnb.compare({"popular": made, "other": recnb.evaluate(pl.from_pandas(other).lazy(), sample.test)})
    expected = recnb.compare({"popular": whole, "other": recnb.evaluate(other, sample.test)})
    pd.testing.assert_frame_equal(both.table(k=[5, 10]), expected.table(k=[5, 10]))
    pd.testing.assert_frame_equal(both.differences(k=10), expected.differences(k=10))
    assert repr(both.movers("ndcg", k=10)) == repr(expected.movers("ndcg", k=10))
    assert "nDCG@10" in both.report(k=[5, 10]).to_markdown()
    frames = {"popular": pl.from_pandas(sample.models["popular"]).lazy(), "other": pl.from_pandas(other).lazy()}
    pd.testing.assert_frame_equal(recnb.compare(frames, sample.test).table(), expected.table())
