"""Lists of users whom the truth lacks: numbers, words and rows are the same whether they
are joined or left out, and an error in such a row is raised when it is read.
"""

import contextlib
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recnb
from recnb.data import in_memory, lists_that_count
from recnb.data.lists_that_count import ListsThatCount, TruthUserFilter, keys_of
from recnb.errors import FrameError, RecnbError
from tests.data.test_join import DECISIONS
from tests.examples import examples
from tests.random_frames import STREAMED, random_frames, sized
from tests.tools.attack import frames
from tests.tools.attack.cases import WAYS, cases
from tests.tools.attack.check import place_for

NEVER = 2**62


@contextlib.contextmanager
def left_out_from(n_rows):
    """Leave lists out from so many rows on, however few of them go."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lists_that_count, "MANY", n_rows)
        patched.setattr(lists_that_count, "MOST_KEPT", 1)
        yield


@pytest.fixture
def leaves_out():
    with left_out_from(0):
        yield


def evaluated(recs, truth, options, from_rows):
    with left_out_from(from_rows):
        return recnb.evaluate(recs, truth, **options)


def is_reduced(evaluation):
    return isinstance(evaluation.source, ListsThatCount)


def was_read(evaluation):
    """Whether the lists that do not count were asked for."""
    return "source" in vars(evaluation.source._all_lists)


def hold_hits(some, everyone):
    """Hold the hits of an evaluation against those of another, to the bit."""
    joined, other = some.joined, everyone.joined
    assert joined.users.to_list() == other.users.to_list()
    assert joined.n_without_relevant == other.n_without_relevant
    assert joined.convention == other.convention
    assert joined.truth.equals(other.truth)
    assert joined.judged.equals(other.judged)
    for column in fields(joined.all_hits):
        mine, theirs = (
            getattr(hits, column.name) for hits in (joined.all_hits, other.all_hits)
        )
        if column.name == "tied" and theirs is not None:
            mine, theirs = (list(vars(tied).values()) for tied in (mine, theirs))
            assert all(map(np.array_equal, mine, theirs))
        else:
            assert np.array_equal(mine, theirs), column.name


def hold_rows(some, everyone):
    """Hold what looks at all lists against the same of another evaluation."""
    try:
        counts = everyone.counts
    except RecnbError as problem:
        with pytest.raises(type(problem)):
            some.counts  # noqa: B018
        return
    assert some.counts == counts
    if everyone.source.in_memory:
        assert some.source.in_memory
        assert some.joined.recs.equals(everyone.joined.recs)
        assert some.source.recs.equals(everyone.source.recs)


def hold(recs, truth, options, metrics=("ndcg", "recall"), k=(1, None)):
    """Hold an evaluation without lists that do not count against one with all; return
    whether there are such lists.
    """
    try:
        everyone = evaluated(recs, truth, options, NEVER)
    except RecnbError as problem:
        # Of all errors, those in rows that are left out alone are not raised.
        with contextlib.suppress(type(problem)):
            evaluated(recs, truth, options, 0)
        return False
    some = evaluated(recs, truth, options, 0)
    hold_hits(some, everyone)
    for name in metrics:
        for cut in k:
            assert repr(getattr(some, name)(k=cut)) == repr(
                getattr(everyone, name)(k=cut)
            )
    hold_rows(some, everyone)
    return is_reduced(some)


def as_given(case, options, way):
    """Return a case by a way in, under options in place of its own."""
    column = "rank" if options.get("order") == "rank" else "score"
    return replace(case, options=options, columns=(column,), way=way)


def build(case, folder):
    try:
        return frames.build(case, folder)
    except Exception:  # each library has its own words for what it has no place for
        return None


@settings(max_examples=examples(240), suppress_health_check=list(HealthCheck))
@given(cases(), st.sampled_from(sorted(WAYS)))
def test_numbers_are_the_same_with_and_without_lists_that_do_not_count(case, way):
    case = replace(case, way=way)
    with place_for(case) as folder:
        built = build(case, folder)
        if built is not None:
            hold(*built, case.options, k=case.k)


@pytest.mark.parametrize("options", DECISIONS, ids=str)
@settings(max_examples=examples(32), suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_each_decision_gives_the_same_without_lists_that_do_not_count(options, case):
    case = as_given(case, options, "polars")
    with place_for(case) as folder:
        built = build(case, folder)
        if built is not None:
            hold(*built, options, k=case.k)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("way", ["pandas", "polars", "files", *STREAMED])
def test_every_way_in_leaves_lists_out(way, mixed, text, tmp_path):
    recs, truth = random_frames(np.random.default_rng(3), 60, text=text)
    if mixed:
        recs = recs.sample(frac=1, random_state=1)
    given = {"pandas": lambda frame: frame, "polars": pl.from_pandas, **STREAMED}
    if way == "files":
        for name, frame in {"recs": recs, "truth": truth}.items():
            frame.to_parquet(tmp_path / f"{name}.parquet", index=False)
        frames = tmp_path / "recs.parquet", tmp_path / "truth.parquet"
    else:
        frames = given[way](recs), given[way](truth)
    assert hold(*frames, {}, k=(1, 3, None))


@pytest.mark.parametrize("text", [False, True])
def test_numbers_are_the_same_where_users_share_a_key(text, monkeypatch):
    hashes = lists_that_count.hashes_of
    monkeypatch.setattr(
        lists_that_count, "hashes_of", lambda values: hashes(values) & np.uint64(15)
    )
    recs, truth = random_frames(np.random.default_rng(2), 60, text=text)
    truth = truth[truth["user"].isin(truth["user"].unique()[:6])]
    everyone = evaluated(recs, truth, {}, NEVER)
    some = evaluated(recs, truth, {}, 0)
    assert is_reduced(some)
    for name in ("ndcg", "recall", "average_precision"):
        assert float(getattr(some, name)(k=3)) == float(getattr(everyone, name)(k=3))
    user = everyone.joined.users[0]
    assert some.user(user).to_frame().equals(everyone.user(user).to_frame())


@pytest.mark.parametrize("waiting", [0, 7, 2**22])
@pytest.mark.parametrize("text", [False, True])
def test_users_of_many_batches_are_left_out_once(
    text, waiting, monkeypatch, leaves_out
):
    monkeypatch.setattr(lists_that_count, "WAITING", waiting)
    users = pl.Series("user", np.random.default_rng(2).integers(0, 50, 400))
    truth_users = pl.Series(range(0, 60, 3))
    if text:
        users, truth_users = users.cast(pl.String), truth_users.cast(pl.String)
    user_filter = TruthUserFilter(truth_users)
    rows = users.to_frame().with_row_index()
    kept = pl.concat([user_filter.kept(batch) for batch in rows.iter_slices(13)])
    assert kept.equals(rows.filter(users.is_in(truth_users.implode())))
    left_out = set(users) - set(truth_users)
    assert len(user_filter.left_out) == len(left_out)
    assert set(user_filter.left_out) == set(keys_of(pl.Series([*left_out])))
    assert (user_filter.n_rows, user_filter.n_rows_kept) == (400, kept.height)


def test_a_missing_id_in_a_file_is_an_error_whoever_counts(tmp_path, leaves_out):
    recs, truth = random_frames(np.random.default_rng(3), 60, text=True)
    row = recs.index[~recs["user"].isin(truth["user"])][0]
    recs.loc[row, "item"] = None
    recs.to_parquet(tmp_path / "recs.parquet", index=False)
    with pytest.raises(FrameError, match=r"recommendations: .*item"):
        recnb.evaluate(tmp_path / "recs.parquet", truth)


def test_files_larger_than_memory_leave_lists_out(tmp_path, monkeypatch):
    recs, truth = random_frames(np.random.default_rng(3), 60)
    recs.to_parquet(tmp_path / "recs.parquet", index=False)
    sized(monkeypatch)
    paths = tmp_path / "recs.parquet", truth
    monkeypatch.setattr(recnb.data.buckets, "WHOLE", 400)
    assert hold(*paths, {}, k=(1, 3, None))
    monkeypatch.setattr(recnb.data.buckets, "WHOLE", 30)
    everyone = evaluated(*paths, {}, NEVER)
    some = evaluated(*paths, {}, 0)
    assert str(some.beyond(k=3)) == str(everyone.beyond(k=3))
    assert not some.source.in_memory


def test_a_lazy_scan_reads_lists_as_files_do_and_any_other_query_runs_once(
    tmp_path, leaves_out
):
    recs, truth = random_frames(np.random.default_rng(3), 60)
    recs.to_parquet(tmp_path / "recs.parquet", index=False)
    runs = []
    scan = pl.scan_parquet(tmp_path / "recs.parquet")
    query = scan.map_batches(lambda table: runs.append(table.height) or table)
    of_scan = recnb.evaluate(scan, truth)
    of_query = recnb.evaluate(query, truth)
    assert repr(of_scan.ndcg(k=3)) == repr(of_query.ndcg(k=3))
    assert of_scan.source.of_truth_users.recs.height < len(recs)
    assert not was_read(of_scan)
    assert str(of_scan.beyond(k=3)) == str(of_query.beyond(k=3))
    assert sum(runs) == len(recs)


@pytest.fixture
def night():
    """Lists of 60 users, of whom some have no truth, and more users of the truth."""
    return random_frames(np.random.default_rng(5), 60, text=True)


def test_numbers_and_their_words_need_no_other_lists(night, leaves_out):
    ev = recnb.evaluate(*night)
    str(ev.table(["ndcg", "recall", "judged", "bpref"], k=[1, 3]))
    str(ev.ndcg(k=3).interval())
    ev.explain("ndcg", ev.ndcg(k=3).per_user.index[0], k=3)
    ev.user(ev.ndcg(k=3).per_user.index[0])
    assert is_reduced(ev)
    assert not was_read(ev)


@pytest.mark.parametrize(
    "ask",
    [
        lambda ev: str(ev.beyond(k=3)),
        lambda ev: ev.items(k=3).to_frame().to_csv(),
        lambda ev: str(ev.lint(k=3)),
        lambda ev: str(ev.counts),
        lambda ev: ev.report(k=[3]).to_markdown(),
        lambda ev: repr(ev.under("ranx").ndcg(k=3)),
        lambda ev: str(ev.identify("ndcg", float(ev.ndcg(k=3)), k=3)),
        lambda ev: str(pickle.loads(pickle.dumps(ev)).beyond(k=3)),
    ],
)
def test_what_looks_at_all_lists_finds_them(ask, night):
    everyone = evaluated(*night, {}, NEVER)
    some = evaluated(*night, {}, 0)
    with left_out_from(0):
        assert ask(some) == ask(everyone)


def test_weights_are_those_of_all_lists(night):
    recs, truth = night
    chance = np.random.default_rng(1).uniform(0.1, 1, len(truth))
    users = pd.Series(range(1, 61), [f"u{number}" for number in range(60)])
    options = {"propensity": "p", "user_weight": users, "no_relevant": "zero"}
    truth = truth.assign(p=chance)
    everyone = evaluated(recs, truth, options, NEVER)
    some = evaluated(recs, truth, options, 0)
    for name in ("recall", "precision", "ndcg"):
        assert repr(getattr(some, name)(k=3)) == repr(getattr(everyone, name)(k=3))
    assert str(some.beyond(k=3)) == str(everyone.beyond(k=3))


def test_models_are_compared_without_lists_that_do_not_count(night):
    recs, truth = night
    other = recs.assign(score=-recs["score"])
    other = other[other["user"] != truth["user"].iloc[0]]  # other users, in part
    models = {"a": recs, "b": other}
    with left_out_from(NEVER):
        everyone = recnb.compare(models, truth, averaged_users="both")
    with left_out_from(0):
        some = recnb.compare(models, truth, averaged_users="both")
        assert str(some.table(k=3)) == str(everyone.table(k=3))
        assert not was_read(some["a"])
        assert some.report(k=[3]).to_markdown() == everyone.report(k=[3]).to_markdown()


@pytest.mark.parametrize("averaged", ["truth", "recs"])
def test_each_week_of_the_truth_joins_the_lists_of_its_users_alone(
    averaged, night, monkeypatch
):
    recs, truth = night
    truth = truth.assign(week=np.arange(len(truth)) % 3)
    options = {"averaged_users": averaged, "no_relevant": "zero"}
    n_rows = []
    join = in_memory.join

    def counting(lists, *others):
        n_rows.append(lists.height)
        return join(lists, *others)

    monkeypatch.setattr(in_memory, "join", counting)
    with left_out_from(0):
        table = recnb.evaluate(recs, truth, **options).table("ndcg", k=3, by="week")
    joined = n_rows[-3:]
    everyone = evaluated(recs, truth, options, NEVER)
    assert str(everyone.table("ndcg", k=3, by="week")) == str(table)
    for week, of_week in truth.groupby("week"):
        alone = evaluated(recs, of_week, options, NEVER).ndcg(k=3)
        row = table.to_frame().loc["ndcg", 3, week]
        assert row["mean"] == float(alone)
        assert row["n_users"] == alone.n_users
        counts = recs["user"].isin(of_week["user"])
        assert 0 < counts.sum() < len(recs)
        assert joined[week] == (counts.sum() if averaged == "truth" else len(recs))


def with_a_repeat(recs, truth):
    """Return lists with a repeated pair of a user whom the truth lacks."""
    other = recs[~recs["user"].isin(truth["user"])].iloc[:1]
    return pd.concat([recs, other])


@pytest.mark.parametrize(
    "ask",
    [
        lambda ev: ev.gini(k=3),
        lambda ev: ev.lint(k=3),
        lambda ev: ev.counts,
    ],
)
def test_an_error_in_a_row_that_does_not_count_is_raised_where_it_is_read(
    ask, night, leaves_out
):
    recs, truth = night
    ev = recnb.evaluate(with_a_repeat(recs, truth), truth)
    assert float(ev.ndcg(k=3)) == float(recnb.evaluate(recs, truth).ndcg(k=3))
    assert repr(ev).startswith(f"Evaluation of {len(recs) + 1} recommended rows")
    with pytest.raises(FrameError, match="1 pair of user and item is repeated"):
        ask(ev)


@pytest.mark.parametrize("users", ["recs", "union"])
def test_an_error_is_raised_at_once_where_every_list_counts(users, night, leaves_out):
    recs, truth = night
    with pytest.raises(FrameError, match="1 pair of user and item is repeated"):
        recnb.evaluate(with_a_repeat(recs, truth), truth, averaged_users=users)


@pytest.mark.parametrize("role", ["user", "item"])
def test_ids_of_another_kind_are_refused(role, night, leaves_out, tmp_path):
    recs, truth = night
    numbers = recs.assign(**{role: range(len(recs))})
    numbers.to_parquet(tmp_path / "recs.parquet")
    for lists in (numbers, tmp_path / "recs.parquet"):
        with pytest.raises(FrameError, match=f"the {role} ids are of different kinds"):
            recnb.evaluate(lists, truth)


@pytest.mark.parametrize("role", ["user", "item"])
def test_a_missing_id_is_refused(role, night, leaves_out, tmp_path):
    recs, truth = night
    row = recs["user"].isin(truth["user"]).argmax()
    recs.iloc[row, recs.columns.get_loc(role)] = None
    recs.to_parquet(tmp_path / "recs.parquet")
    for lists in (recs, tmp_path / "recs.parquet"):
        with pytest.raises(FrameError, match=f"has 1 missing {role} id"):
            recnb.evaluate(lists, truth)


def test_files_that_changed_before_all_lists_are_read_are_refused(
    night, leaves_out, tmp_path
):
    recs, truth = night
    file = tmp_path / "recs.parquet"
    plain = {"compression": "none", "use_dictionary": False}
    recs.to_parquet(file, **plain)
    ev = recnb.evaluate(file, truth)
    score = ev.ndcg(k=3)
    recs.assign(score=recs["score"] + 1).to_parquet(file, **plain)
    with pytest.raises(FrameError, match="other lists than when they were first read"):
        ev.gini(k=3)
    assert "users" in repr(score)


@pytest.mark.parametrize("way", ["frame", "file"])
@pytest.mark.parametrize(
    "options", [{}, {"judged_only": True}, {"duplicates": "keep"}], ids=str
)
def test_to_show_an_evaluation_joins_no_more_lists(
    options, way, night, leaves_out, tmp_path
):
    recs, truth = night
    lists = recs
    if way == "file":
        lists = tmp_path / "recs.parquet"
        recs.to_parquet(lists)
    everyone = evaluated(lists, truth, options, NEVER)
    some = recnb.evaluate(lists, truth, **options)
    assert is_reduced(some)
    assert repr(some) == repr(everyone)
    assert not was_read(some)


def test_to_show_an_evaluation_that_merges_repeats_joins_no_more_lists(
    night, leaves_out
):
    recs, truth = night
    ev = recnb.evaluate(with_a_repeat(recs, truth), truth, duplicates="dedupe")
    assert repr(ev).startswith("Evaluation against ")
    assert not was_read(ev)


def test_weights_given_after_all_lists_were_read_count(night, leaves_out):
    recs, truth = night
    source = recnb.evaluate(recs, truth).source
    everyone = source.of_all_users
    users = pl.Series("user", sorted(set(recs["user"])))
    weights = users.to_frame().with_columns(user_weight=pl.lit(2.0))
    source.weigh(None, weights)
    assert everyone.user_weights is weights


def test_few_rows_are_joined_whole(night):
    assert not is_reduced(recnb.evaluate(*night))
