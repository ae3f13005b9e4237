"""Parts of a comparison that look at users and lists: movers, overlap, segments, what is left out."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import recnb
from recnb.cli import main
from recnb.errors import FrameError, OptionError, UnknownUserError
from tests.comparison.frames import FIRST, SECOND, TRUTH, lists


def test_movers_are_those_whose_value_changed_most():
    found = recnb.compare({"old": SECOND, "new": lists(a="xy", b="qp", c="px", d="xq")}, TRUTH)
    movers = found.movers("mrr", k=2, n=2)
    frame = movers.to_frame()
    assert frame.user.tolist() == ["a", "c", "b"]
    assert frame.change.tolist() == [0.5, 0.5, -0.5]
    assert frame.old.tolist() == [["y", "x"], ["p", "q"], ["y", "x"]]
    gained, lost = movers.groups
    assert gained.counts == lost.counts == (3, 0, 1)
    assert [item.relevance for item in gained.users[0].lists[1]] == [1.0, 0.0]
    assert gained.users[0].n_relevant == 1
    back = found.movers("mrr", k=2, model="old", baseline="new").to_frame()
    assert back.change.tolist() == [0.5, -0.5, -0.5, -0.5]
    for wrong in ({"n": -1}, {"model": "other"}, {"model": "old"}):
        with pytest.raises(OptionError):
            found.movers("mrr", k=2, **wrong)


def test_overlap_of_models_is_the_mean_over_users(sample, compared):
    frame = compared.overlap(k=5)
    assert list(zip(frame.model, frame.other, strict=True)) == [
        ("item-knn", "factors"),
        ("item-knn", "popular"),
        ("factors", "popular"),
    ]
    users = set(compared.users)
    tops = {
        name: {u: list(part.sort_values("rank")["item"])[:5] for u, part in one.groupby("user") if u in users}
        for name, one in sample.models.items()
    }
    for row in frame.itertuples():
        shares = [
            len({*tops[row.model][u]} & {*tops[row.other][u]}) / len({*tops[row.model][u]} | {*tops[row.other][u]})
            for u in tops[row.model]
        ]
        assert row.jaccard == pytest.approx(np.mean(shares), abs=1e-12)
        assert row.n_users == len(shares)
        assert row.n_identical == sum(tops[row.model][u] == tops[row.other][u] for u in tops[row.model])


def test_overlap_sees_order_and_gaps():
    gaps = FIRST.assign(rank=FIRST["rank"] * 2)
    found = recnb.compare({"one": FIRST, "gaps": gaps, "turned": SECOND}, TRUTH)
    frame = found.overlap().set_index(["model", "other"])
    assert frame.loc[("one", "gaps")].tolist()[1:] == [1.0, 4, 4]
    assert frame.loc[("one", "turned")].tolist()[1:] == [1.0, 4, 2]
    fewer = recnb.compare({"one": FIRST, "none": FIRST[FIRST["user"] == "b"]}, TRUTH).overlap(1).iloc[0]
    assert (fewer.jaccard, fewer.n_users, fewer.n_identical) == (0.25, 4, 1)


def test_curve(sample, compared):
    curves = compared.curve("recall", k=[1, 5, 10])
    assert curves.to_frame().query("model == 'factors' and k == 5")["mean"].item() == pytest.approx(
        float(sample.models["factors"].rec.against(sample.test).recall(k=5))
    )
    with pytest.raises(OptionError, match="leave None out"):
        compared.curve(k=[1, None])


def test_an_unknown_user_of_a_restricted_evaluation_is_refused():
    found = recnb.compare({"one": lists(a="xy", b="xy"), "two": lists(b="xy")}, TRUTH, averaged_users="recs")
    with pytest.raises(UnknownUserError):
        found.models["one"].explain("mrr", "a", k=2)


@pytest.mark.parametrize("duplicates", ["keep", "rows", "hit_once"])
def test_overlap_counts_an_item_once_where_a_list_repeats_it(duplicates):
    twice = pd.DataFrame({"user": ["a"] * 3, "item": ["x", "x", "y"], "rank": [1, 2, 3]})
    found = recnb.compare({"one": twice, "two": lists(a="xy")}, TRUTH.head(1), duplicates=duplicates)
    assert found.overlap().loc[0, ["jaccard", "n_identical"]].tolist() == [1, 1]


def test_overlap_of_restricted_models_is_over_the_common_users():
    first, second = lists(a="xy", b="yx", c="pq"), lists(b="yx", c="rs", d="xq")
    row = recnb.compare({"one": first, "two": second}, TRUTH, averaged_users="recs").overlap(2).iloc[0]
    assert (row.n_users, row.jaccard, row.n_identical) == (2, 0.5, 1)


@pytest.mark.slow
def test_false_findings_are_no_more_than_the_level_over_all_that_is_compared():
    """Two models that differ by luck alone, in 3 metrics at 2 cut-offs: rarely anything is called better."""
    rng = np.random.default_rng(0)
    n, runs, wrong = 200, 300, 0
    users = np.repeat(np.arange(n), 5)
    truth = pl.DataFrame({"user": np.arange(n), "item": np.zeros(n, dtype=int)})
    for _ in range(runs):
        models = {
            name: pl.DataFrame(
                {
                    "user": users,
                    "item": rng.permuted(np.tile(np.arange(12), (n, 1)), axis=1)[:, :5].ravel(),
                    "rank": np.tile(np.arange(1, 6), n),
                }
            )
            for name in ("one", "two")
        }
        found = recnb.compare(models, truth).differences(["ndcg", "mrr", "recall"], k=[2, 5])
        wrong += bool(found.verdict.isin(["better", "worse"]).any())
    assert wrong / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_differences_by_segment_are_those_of_the_users_in_it(sample):
    models = {name: sample.models[name] for name in ("factors", "popular")}
    found = recnb.compare(models, sample.test, users=sample.users)
    frame = found.differences("ndcg", k=[5, 10], by="segment")
    assert frame.n_users.sum() == 2 * found.n_users
    of = sample.users.set_index("user")["segment"]
    values = {name: one.ndcg(k=10).per_user for name, one in found.models.items()}
    for row in frame[frame.k == 10].itertuples():
        mine = [user for user in found.users if of[user] == row.segment]
        new, old = values["popular"].loc[mine], values["factors"].loc[mine]
        assert row.difference == pytest.approx((new - old).mean())
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue)
    order = np.sort(frame.p.to_numpy())
    assert frame.p_holm.min() == pytest.approx(min(order[0] * len(frame), 1))


def test_users_of_whom_nothing_is_known_are_a_segment_of_their_own():
    found = recnb.compare({"one": FIRST, "two": SECOND}, TRUTH)
    frame = found.differences("mrr", k=2, by={"a": "early", "b": "late", "c": "early"})
    assert dict(zip(frame.segment, frame.n_users, strict=True)) == {"early": 2, "late": 1, "not known": 1}
    assert frame.difference.tolist() == [-0.25, 0.0, -0.5]
    with pytest.raises(OptionError, match="nothing of the users"):
        found.differences("mrr", k=2, by={"x": "early"})


@pytest.mark.parametrize("view", ["table", "differences", "report"])
def test_a_column_that_differs_within_users_is_compared_value_by_value(sample, view):
    truth = sample.test.assign(week=np.arange(len(sample.test)) % 3)
    with pytest.raises(OptionError) as refused:
        getattr(recnb.compare(sample.models, truth), view)(k=10, by="week")
    (advised,) = re.findall(r"recnb\.compare\(.*\)", str(refused.value))
    made = eval(advised, {"recnb": recnb, "models": sample.models, "truth": truth, "value": 1})
    assert len(made.differences("ndcg", k=10)) == 2


def test_lists_of_different_users_are_parts_of_one_run(tmp_path, capsys):
    parts = {"part1": lists(a="xy", b="yx"), "part2": lists(c="pq", d="xq")}
    for models in (parts, {"whole": FIRST, **parts}, {name: part.rec.against(TRUTH) for name, part in parts.items()}):
        with pytest.raises(
            FrameError, match="'part1' and 'part2' have lists of different users, so they are parts of one run"
        ):
            recnb.compare(models, TRUTH if isinstance(models["part1"], pd.DataFrame) else None)
    for name, part in parts.items():
        part.to_parquet(tmp_path / f"{name}.parquet")
    TRUTH.to_parquet(tmp_path / "truth.parquet")
    arguments = [str(tmp_path / "part1.parquet"), str(tmp_path / "truth.parquet"), "--metrics", "mrr@2"]
    assert main(["report", str(tmp_path / "part2.parquet"), *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "parts of one run" in told.err
    assert "pl.scan_parquet('recs_*.parquet').sink_parquet('recs.parquet')" in told.err
    pl.scan_parquet(tmp_path / "part*.parquet").sink_parquet(tmp_path / "recs.parquet")
    assert main(["report", str(tmp_path / "recs.parquet"), *arguments[1:], "--format", "csv"]) == 0
    assert "0.625" in capsys.readouterr().out
