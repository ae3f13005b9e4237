"""Segments: who is in which, what each gives, and how far it stands from the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import ttest_ind

import recnb
from recnb.errors import OptionError, RecnbError
from recnb.results.segments import SegmentTable, segments_of
from recnb.stats.multiple_testing import holm

SAMPLE = recnb.datasets.load_sample()
EV = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, users=SAMPLE.users, train=SAMPLE.train)


def test_each_segment_is_the_mean_of_its_users() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10], by="segment")
    assert isinstance(table, SegmentTable)
    assert len(table) == 2 * 2 * 3
    segment = SAMPLE.users.set_index("user")["segment"]
    for metric, k in (("ndcg", 5), ("recall", 10)):
        values = getattr(EV, metric)(k=k).per_user
        groups = values.groupby(segment.reindex(values.index))
        rows = table.loc[(metric, k)]
        assert rows["mean"].to_dict() == pytest.approx(groups.mean().to_dict())
        assert rows["n_users"].to_dict() == groups.size().to_dict()
        for name, mine in groups:
            rest = values[~values.index.isin(mine.index)]
            theirs = max(
                (ttest_ind(mine, rest, equal_var=equal) for equal in (False, True)), key=lambda one: one.pvalue
            )
            row = rows.loc[name]
            assert row["gap"] == pytest.approx(mine.mean() - rest.mean(), abs=1e-12)
            assert row["p"] == pytest.approx(theirs.pvalue, abs=1e-12)
            ends = theirs.confidence_interval(0.95)
            assert (row["gap_low"], row["gap_high"]) == pytest.approx((ends.low, ends.high), abs=1e-12)
            low, high = values[mine.index].pipe(lambda one: (one.min(), one.max()))
            assert low <= row["low"] < row["mean"] < row["high"] <= high
    assert table["p_holm"].to_numpy() == pytest.approx(holm(table["p"].to_numpy()))


def test_the_same_segments_by_any_way_of_saying_them() -> None:
    by_column = EV.table("ndcg", k=10, by="segment")
    series = SAMPLE.users.set_index("user")["segment"]
    for by in (series, series.to_dict()):
        assert EV.table("ndcg", k=10, by=by).to_numpy(float) == pytest.approx(by_column.to_numpy(float), nan_ok=True)
    of_truth = SAMPLE.test.merge(SAMPLE.users[["user", "segment"]])
    ev = pl.from_pandas(SAMPLE.models["item-knn"]).rec.against(pl.from_pandas(of_truth))
    assert ev.table("ndcg", k=10, by="segment").to_numpy(float) == pytest.approx(by_column.to_numpy(float))
    assert SAMPLE.models["item-knn"].rec.against(of_truth).table("ndcg", k=10, by="segment").shape == by_column.shape


def test_numbers_are_put_into_bins_of_equal_size() -> None:
    segments = segments_of(EV._data, "activity", bins=4)
    sizes = np.bincount(segments.of(EV._data.prepared.users))
    assert len(sizes) == 4
    assert sizes.sum() == EV.n_users
    assert sizes.min() > EV.n_users / 4 * 0.8
    counts = SAMPLE.train.groupby("user").size().reindex(EV.users, fill_value=0).to_numpy()
    codes = segments.of(EV._data.prepared.users)
    tops = [counts[codes == code].max() for code in range(4)]
    assert all(counts[codes == code].min() > tops[code - 1] for code in range(1, 4))
    few = pd.Series(np.arange(EV.n_users) % 3, index=EV.users, name="third")
    assert segments_of(EV._data, few).names == ("0", "1", "2")


def test_taste_is_the_mean_share_of_users_who_had_what_a_user_had() -> None:
    train = pd.DataFrame({"user": [1, 1, 2, 3], "item": list("abaa")})
    recs = pd.DataFrame({"user": [1, 2, 3], "item": ["c"] * 3, "rank": 1})
    ev = recs.rec.against(recs[["user", "item"]], train=train)
    segments = segments_of(ev._data, "popularity_taste")
    names = [segments.names[code] for code in segments.of(ev._data.prepared.users)]
    assert names == ["0.6666666666666666", "1.0", "1.0"]


def test_users_of_whom_nothing_is_known_are_a_segment() -> None:
    known = SAMPLE.users.set_index("user")["segment"].iloc[:100]
    table = EV.table("ndcg", k=10, by=known)
    assert table["n_users"].sum() == EV.n_users
    assert "not known" in table.index.get_level_values("segment")
    missing = SAMPLE.users.assign(joined=SAMPLE.users["joined"].where(SAMPLE.users["joined"] > 20))
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test, users=missing)
    assert ev.table("ndcg", k=10, by="joined").index.get_level_values("segment")[-1] == "not known"


def test_small_segments_are_marked_and_the_smallest_not_tested() -> None:
    by = pd.Series(["few"] * 10 + ["two"] * 2 + ["rest"] * (EV.n_users - 12), index=EV.users)
    rows = EV.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
    assert rows["small"].to_dict() == {"few": True, "rest": False, "two": True}
    assert rows["p"].isna().to_dict() == {"few": False, "rest": False, "two": True}
    assert "  True" in repr(EV.table("ndcg", k=10, by=by))
    alone = EV.table("ndcg", k=10, by=pd.Series("all", index=EV.users))
    assert alone["gap"].isna().all()
    assert alone.loc[("ndcg", 10, "all"), "mean"] == pytest.approx(float(EV.ndcg(k=10)))


def test_metrics_beyond_accuracy_that_have_a_value_for_each_user() -> None:
    table = EV.table(["novelty", "ndcg"], k=10, by="segment")
    values = EV.novelty(k=10).per_user
    segment = SAMPLE.users.set_index("user")["segment"].reindex(values.index)
    assert table.loc[("novelty", 10)]["mean"].to_dict() == pytest.approx(values.groupby(segment).mean().to_dict())
    assert table.loc[("novelty", 10)]["n_users"].sum() == len(values)
    with pytest.raises(OptionError, match="coverage is one number of all lists"):
        EV.table(["coverage"], k=10, by="segment")


def test_under_a_library() -> None:
    table = EV.under("rectools").table("ndcg", k=10, by="segment")
    assert table["mean"].mul(table["n_users"]).sum() / table["n_users"].sum() == pytest.approx(
        float(EV.under("rectools").ndcg(k=10))
    )


def test_strings_of_users_are_shown_as_text() -> None:
    by = pd.Series(["<script>alert(1)</script>"] * EV.n_users, index=EV.users, name="<b>$x$")
    shown = EV.table("ndcg", k=10, by=by)._repr_html_()
    assert "<script>" not in shown
    assert "<b>$x$" not in shown
    assert "mathjax_ignore" in shown


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("segmnt", "Did you mean 'segment'"),
        ("rating", "more than one value for user"),
        (3, "name a column of the users frame"),
        ({"nobody": 1}, "says nothing of the users evaluated"),
    ],
)
def test_what_makes_no_segments(by: object, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        EV.table("ndcg", k=10, by=by)


def test_what_is_missing_is_named() -> None:
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test)
    with pytest.raises(RecnbError, match=r"needs what users had before: type recs\.rec\.against\(truth, train=frame\)"):
        ev.table("ndcg", k=10, by="activity")
    with pytest.raises(OptionError, match=r"users=frame"):
        ev.table("ndcg", k=10, by="segment")
    with pytest.raises(OptionError, match="bins=1"):
        EV.table("ndcg", k=10, by="activity", bins=1)


def test_two_segments_are_one_test() -> None:
    half = pd.Series({user: "even" if at % 2 else "odd" for at, user in enumerate(EV.users)})
    table = EV.table("ndcg", k=10, by=half)
    assert table["p_holm"].tolist() == pytest.approx(table["p"].tolist(), abs=1e-12)
    two = EV.table(["ndcg", "recall"], k=10, by=half)
    assert two["p_holm"].to_numpy()[::2] == pytest.approx(holm(two["p"].to_numpy()[::2]), abs=1e-12)


def test_a_missing_value_among_words_is_no_segment() -> None:
    users = list(EV.users)
    table = EV.table("ndcg", k=10, by=pd.Series({users[0]: "a", users[1]: np.nan, users[2]: None, users[3]: "a"}))
    assert table.reset_index().set_index("segment")["n_users"].to_dict() == {"a": 2, "not known": len(users) - 2}
