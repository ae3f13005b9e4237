"""Segments: who is in which, what each gives, and how far it stands from the rest."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import ttest_ind

import recnb
from recnb.errors import OptionError, RecnbError
from recnb.results.segments import segments_of
from recnb.stats import holm

SAMPLE = recnb.datasets.load_sample()
EV = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, users=SAMPLE.users, train=SAMPLE.train)


def test_each_segment_is_the_mean_of_its_users() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10], by="segment")
    assert isinstance(table, recnb.Table)
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
    assert len(sizes) == 4 == len(segments.keys) - 1
    assert sizes.sum() == EV.n_users
    assert sizes.min() > EV.n_users / 4 * 0.8
    counts = SAMPLE.train.groupby("user").size().reindex(EV.users, fill_value=0).to_numpy()
    codes = segments.of(EV._data.prepared.users)
    tops = [counts[codes == code].max() for code in range(4)]
    assert all(counts[codes == code].min() > tops[code - 1] for code in range(1, 4))
    few = pd.Series(np.arange(EV.n_users) % 3, index=EV.users, name="third")
    assert segments_of(EV._data, few).keys == [(0,), (1,), (2,), ("not known",)]


def test_taste_is_the_mean_share_of_users_who_had_what_a_user_had() -> None:
    train = pd.DataFrame({"user": [1, 1, 2, 3], "item": list("abaa")})
    recs = pd.DataFrame({"user": [1, 2, 3], "item": ["c"] * 3, "rank": 1})
    ev = recs.rec.against(recs[["user", "item"]], train=train)
    segments = segments_of(ev._data, "popularity_taste")
    keys = [segments.keys[code] for code in segments.of(ev._data.prepared.users)]
    assert keys == [(2 / 3,), (1.0,), (1.0,)]


def test_users_of_whom_nothing_is_known_are_a_segment() -> None:
    known = SAMPLE.users.set_index("user")["segment"].iloc[:100]
    table = EV.table("ndcg", k=10, by=known)
    assert table["n_users"].sum() == EV.n_users
    assert "not known" in table.index.get_level_values("segment")
    missing = SAMPLE.users.assign(joined=SAMPLE.users["joined"].where(SAMPLE.users["joined"] > 20))
    ev = SAMPLE.models["popular"].rec.against(SAMPLE.test, users=missing)
    assert ev.table("ndcg", k=10, by="joined").index.get_level_values("joined")[-1] == "not known"


def test_small_segments_are_marked_and_the_smallest_not_tested() -> None:
    by = pd.Series(["few"] * 10 + ["two"] * 2 + ["rest"] * (EV.n_users - 12), index=EV.users)
    rows = EV.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
    assert rows["small"].to_dict() == {"few": True, "rest": False, "two": True}
    assert rows["p"].isna().to_dict() == {"few": False, "rest": False, "two": True}
    assert "✓" in repr(EV.table("ndcg", k=10, by=by))
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
        (["segment", "segment"], "name at least one column, each once"),
        ([], "name at least one column, each once"),
        (3, "Name a column of"),
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


def _by_report(by: object) -> list[str]:
    """The segments that the reports of one model and of two have in JSON."""
    users = SAMPLE.users.assign(by=by)
    alone = SAMPLE.models["popular"].rec.against(SAMPLE.test, users=users).report(k=5, metrics=["ndcg"], by="by")
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=users).report(k=5, metrics=["ndcg"], by="by")
    of_each = [json.loads(report.to_json())["segments"]["rows"] for report in (alone, found)]
    names, of_models = ([row["segment"] for row in rows] for rows in of_each)
    assert list(dict.fromkeys(of_models)) == names
    return names


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (2020 + np.linspace(0, 0.01, len(SAMPLE.users)), 4),
        (1_700_000_000 + np.arange(len(SAMPLE.users)), 4),
        (1e15 + np.arange(len(SAMPLE.users)) / 8, 4),
        (np.repeat([0.12345678 + 1e-7 * i for i in range(12)], 25), 4),
        (np.arange(len(SAMPLE.users)), 4),
    ],
)  # fmt: skip
def test_bins_have_as_many_digits_as_tell_them_apart(values: np.ndarray, names: int) -> None:
    users = SAMPLE.users.assign(by=values[: len(SAMPLE.users)])
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=users)
    table = found.table("ndcg", k=10, by="by")
    bins = list(dict.fromkeys(table.index.get_level_values("by")))
    assert len(bins) == names
    assert all(len(set(name.split(" to "))) == 2 for name in bins)
    assert len(table) == len(bins) * 3
    assert len(found.differences("ndcg", k=10, by="by")) == len(bins) * 2
    assert EV.table("ndcg", k=10, by=users.set_index("user")["by"])["n_users"].sum() == EV.n_users
    assert len(_by_report(users["by"])) == names


def test_a_value_called_not_known_is_none_of_those_missing() -> None:
    by = pd.Series([("not known", None, "a")[at % 3] for at in range(EV.n_users)], index=EV.users, name="kind")
    rows = EV.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
    assert rows["n_users"].to_dict() == {"a": 87, "not known": 87, "(not known)": 87}
    assert len(EV.table("ndcg", k=10, by=by.dropna()).loc[("ndcg", 10)]) == 3


def test_segments_that_read_alike_are_drawn_apart() -> None:
    users = SAMPLE.users.assign(
        one=np.where(np.arange(len(SAMPLE.users)) % 2, "a, b", "a"), two=np.where(np.arange(len(SAMPLE.users)) % 2, "c", "b, c")
    )  # fmt: skip
    ax = SAMPLE.models["popular"].rec.against(SAMPLE.test, users=users).table("ndcg", k=5, by=["one", "two"]).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a, b, c"] * 2
    plt.close(ax.figure)


@pytest.mark.parametrize("kind", [datetime.date, datetime.datetime, lambda *day: Decimal(f"0.{day[2]}5")])
def test_dates_and_decimals_are_text_in_json(kind: Callable[..., object]) -> None:
    values = [kind(2024, 1, 1 + at % 3) for at in range(len(SAMPLE.users))]
    assert _by_report(pd.Series(values, dtype=object)) == [str(value) for value in values[:3]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_several_values_of_a_user_are_no_segment(frame: Callable[..., Any]) -> None:
    users = frame({"user": SAMPLE.users["user"].tolist(), "genres": [["x", "y"]] * len(SAMPLE.users)})
    with pytest.raises(OptionError, match=r"by='genres' holds \['x', 'y'\], which names no segment"):
        SAMPLE.models["popular"].rec.against(SAMPLE.test, users=users).table("ndcg", k=5, by="genres")


# Several columns

USERS = SAMPLE.users.assign(half=np.arange(len(SAMPLE.users)) % 2)
WEEKS = SAMPLE.test.assign(week=np.arange(len(SAMPLE.test)) % 3, day=np.arange(len(SAMPLE.test)) % 12)
LISTS = SAMPLE.models["item-knn"].assign(
    arm=np.where(np.arange(len(SAMPLE.models["item-knn"])) % 3, "b", "a"),
    country=SAMPLE.models["item-knn"]["user"].str[-1].map(lambda last: "KR" if last < "5" else "JP"),
)


def test_several_columns_are_the_segments_of_their_combinations() -> None:
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, users=USERS)
    table = ev.table("ndcg", k=10, by=["segment", "half"])
    values = ev.ndcg(k=10).per_user
    known = USERS.set_index("user").reindex(values.index)
    groups = values.groupby([known["segment"], known["half"]])
    rows = table.loc[("ndcg", 10)]
    assert rows["mean"].to_dict() == pytest.approx(groups.mean().to_dict())
    assert rows["n_users"].to_dict() == groups.size().to_dict()
    frame = table.to_frame().reset_index()
    assert list(frame.columns[:4]) == ["metric", "k", "segment", "half"]
    assert set(frame["half"]) == {0, 1}
    both = known["half"].rename("half")
    assert ev.table("ndcg", k=10, by=["segment", both]).to_numpy(float) == pytest.approx(table.to_numpy(float))


def test_columns_with_names_of_the_table_are_told_apart() -> None:
    by = pd.Series(np.arange(EV.n_users) % 2, index=EV.users, name="mean")
    assert list(EV.table("ndcg", k=10, by=by).to_frame().reset_index().columns[:4]) == [
        "metric",
        "k",
        "segment mean",
        "n_users",
    ]


# Parts of the truth


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("options", [{}, {"judged_only": True}])
def test_each_value_of_the_truth_is_a_truth_of_its_own(frame: type, options: dict[str, Any]) -> None:
    table = recnb.evaluate(frame(LISTS), frame(WEEKS), **options).table(["ndcg", "recall"], k=[5, 10], by="week")
    assert list(table.columns) == ["n_users", "mean", "low", "high", "small"]
    for metric, k, week in table.index:
        alone = getattr(LISTS.rec.against(WEEKS[WEEKS["week"] == week], **options), metric)(k=k)
        row = table.loc[(metric, k, week)]
        assert row["mean"] == pytest.approx(float(alone), abs=1e-12)
        assert row["n_users"] == alone.n_users
        assert (row["low"], row["high"]) == pytest.approx((alone.interval().low, alone.interval().high), abs=1e-12)
    assert "each week is a truth of its own" in repr(table)
    assert "gap" not in repr(table)
    assert len(table.plot().get_yticklabels()) == 3
    plt.close()


@pytest.mark.parametrize(
    "options",
    [
        {"no_relevant": "zero"},
        {"relevant_from": 4, "no_relevant": "zero"},
        {"duplicates": "keep"},
        {"judged": "list", "no_relevant": "zero"},
        {"convention": "ranx"},
        {"ties": "max_rank"},
        {"ties": "expected"},
    ],
)
def test_parts_of_the_truth_under_other_conventions(options: dict[str, object]) -> None:
    scored = LISTS.assign(score=(-LISTS["rank"]) // 2).drop(columns="rank") if "ties" in options else LISTS
    table = scored.rec.against(WEEKS, train=SAMPLE.train, **options).table(["ndcg", "novelty"], k=5, by="week")
    for metric, k, week in table.index:
        alone = scored.rec.against(WEEKS[WEEKS["week"] == week], train=SAMPLE.train, **options)
        assert table.loc[(metric, k, week), "mean"] == pytest.approx(float(getattr(alone, metric)(k=k)), abs=1e-12)
        assert table.loc[(metric, k, week), "n_users"] == getattr(alone, metric)(k=k).n_users


def test_a_missing_part_is_not_known_and_one_without_users_has_no_row() -> None:
    truth = pd.DataFrame({"user": [1, 1, 2], "item": list("aba"), "relevance": [1, 1, 0], "week": ["x", None, "y"]})
    recs = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rank": 1})
    table = recs.rec.against(truth).table("recall", k=1, by="week")
    assert table["mean"].to_dict() == {("recall", 1, "x"): 1.0, ("recall", 1, "not known"): 0.0}


def test_one_frame_with_both_sides_by_its_column() -> None:
    frame = pd.DataFrame({
        "user": [1, 1, 1, 2, 2, 2], "item": list("abcabc"), "rank": [1, 2, 3] * 2, "relevance": [1, 0, 1, 0, 1, 1], "kind": list("xxyxyy")
    })  # fmt: skip
    table = frame.rec.evaluation().table("recall", k=2, by="kind").to_frame()
    assert table["mean"].to_dict() == {("recall", 2, "x"): 1.0, ("recall", 2, "y"): 0.25}


def test_a_column_of_the_recommendations_is_given_with_the_users() -> None:
    countries = LISTS[["user", "country"]].drop_duplicates()
    table = LISTS.rec.against(SAMPLE.test, users=countries).table("ndcg", k=10, by="country")
    by_series = LISTS.rec.against(SAMPLE.test).table("ndcg", k=10, by=countries.set_index("user")["country"])
    assert table.to_numpy(float) == pytest.approx(by_series.to_numpy(float), nan_ok=True)


FOUND = recnb.compare({"a": LISTS, "b": SAMPLE.models["popular"]}, WEEKS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LISTS.rec.against(SAMPLE.test).table("ndcg", k=10, by="arm"), r"users=recs\[\['user', 'arm'\]\]\.drop_duplicates\(\)"),
        (lambda: LISTS.rec.against(WEEKS, users=USERS).table("ndcg", k=10, by=["week", "segment"]), r"by='week' .*\.table\(by='week'\)"),
        (lambda: FOUND.table("ndcg", k=10, by="week"), r"differs within users.*\.table\(by='week'\), of one model"),
        (lambda: LISTS.rec.against(pd.concat([WEEKS, WEEKS.assign(week=9)]), duplicates="dedupe").table("ndcg", k=10, by="week"), "more than one value for user"),
    ],
    ids=["recommendations", "several", "comparison", "two values"],
)  # fmt: skip
def test_columns_that_split_users_are_refused_with_what_to_type(call: Callable[[], object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        call()
    alone = LISTS[LISTS["arm"] == "a"].rec.against(SAMPLE.test).ndcg(k=10)
    assert 0 < alone < 1
    assert len(FOUND["a"].table("ndcg", k=10, by="week")) == 3


def test_a_report_by_parts_of_the_truth() -> None:
    ev = LISTS.rec.against(WEEKS)
    report, table = ev.report(k=10, metrics=["ndcg"], by="week"), ev.table("ndcg", k=10, by="week")
    assert [row["mean"] for row in report.segments.rows] == table["mean"].tolist()
    for form in (repr(report), report._repr_html_(), report.to_markdown()):
        assert "each week is a truth of its own" in form


def test_a_column_of_the_users_and_of_the_truth_is_refused() -> None:
    truth = SAMPLE.test.merge(SAMPLE.users)
    with pytest.raises(OptionError, match=r"users= and of the truth\. Rename one of them: users\.rename"):
        recnb.evaluate(LISTS, truth, users=SAMPLE.users).table("ndcg", k=10, by="segment")


def test_a_series_by_the_numbers_of_rows_is_refused() -> None:
    users = pd.DataFrame({"user": [1, 2, 3], "city": ["x", "y", "y"]})
    truth = pd.DataFrame({"user": [1, 2, 3], "item": 5})
    ev = recnb.evaluate(truth.assign(rank=1), truth)
    with pytest.raises(OptionError, match=r"not those of the users.*users\.set_index\('user'\)\['city'\]"):
        ev.table("precision", k=1, by=users["city"])
    right = ev.table("precision", k=1, by=users.set_index("user")["city"])
    assert right.n_users.to_dict() == {("precision", 1, "x"): 1, ("precision", 1, "y"): 2}
    from_1 = users["city"].set_axis(pd.RangeIndex(1, 4))
    assert ev.table("precision", k=1, by=from_1).equals(right)
    at_0 = truth.assign(user=truth["user"] - 1)
    ev = recnb.evaluate(at_0.assign(rank=1), at_0)
    assert ev.table("precision", k=1, by=users["city"]).n_users.to_list() == [1, 2]


def test_where_a_column_of_segments_could_come_from_is_told() -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    with pytest.raises(OptionError, match=r"no column of users= or of the truth.* users=frame"):
        ev.table("ndcg", k=10, by="segment")


# Columns as pandas makes them

COUNTS = SAMPLE.train.groupby("user").size().rename("n")


@pytest.mark.parametrize("named", [True, False])
def test_bins_of_pandas_have_their_names_and_order(named: bool) -> None:
    """pd.cut gives intervals or ordered words; groups keep their order and print as pandas prints them."""
    labels = ["few", "some", "many"] if named else None
    cut = pd.cut(COUNTS, [0, 9, 20, 1000], labels=labels)
    want = labels or ["(0, 9]", "(9, 20]", "(20, 1000]"]
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, users=cut.rename("b").reset_index())
    found = recnb.compare({"a": ev, "b": ev}).table("ndcg", k=10, by="b")
    assert list(dict.fromkeys(found.index.get_level_values("b")))[:3] == want
    assert "few" in ev.report(k=10, by="b").to_html() or not named
    for by in ("b", cut):
        rows = ev.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
        assert rows.index.tolist() == [*want, "not known"]
        values = ev.ndcg(k=10).per_user
        sizes = cut.astype(str).reindex(values.index).value_counts()
        assert rows["n_users"].drop("not known").to_dict() == {name: sizes[name] for name in want}


@pytest.mark.parametrize("named", [True, False])
def test_bins_of_pandas_may_leave_values_out(named: bool) -> None:
    """Of what is in no bin the bin is missing: not known, whether or not the column is one of segments."""
    labels = ["few", "some", "many"] if named else None
    cut = pd.cut(COUNTS, [0, 9, 20, 50], labels=labels)
    assert cut.isna().any()
    items = SAMPLE.items.assign(b=pd.cut(np.arange(len(SAMPLE.items)), [0, 9, 20], labels=labels and labels[:2]))
    frames = {"users": cut.rename("b").reset_index(), "items": items}
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, **frames)
    assert ev.ndcg(k=10) == SAMPLE.models["item-knn"].rec.against(SAMPLE.test).ndcg(k=10)
    want = [*(labels or ["(0, 9]", "(9, 20]", "(20, 50]"]), "not known"]
    sizes = cut.reindex(ev.ndcg(k=10).per_user.index).value_counts(sort=False, dropna=False)
    for by in ("b", cut):
        rows = ev.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
        assert rows.index.tolist() == want
        assert rows["n_users"].tolist() == sizes.tolist()
    rated = SAMPLE.test.assign(c=pd.cut(SAMPLE.test["rating"], [0, 2, 4], labels=["z", "a"] if named else None))
    rows = SAMPLE.models["item-knn"].rec.against(rated).table("ndcg", k=10, by="c").loc[("ndcg", 10)]
    assert rows.index.tolist() == [*(["z", "a"] if named else ["(0, 2]", "(2, 4]"]), "not known"]


def test_periods_are_named_as_pandas_prints_them() -> None:
    months = pd.PeriodIndex(np.where(np.arange(len(SAMPLE.test)) % 2, "2024-01", "2024-02"), freq="M")
    table = SAMPLE.models["popular"].rec.against(SAMPLE.test.assign(m=months)).table("ndcg", k=10, by="m")
    assert table.index.get_level_values("m").tolist() == ["2024-01", "2024-02"]


def test_bins_of_ones_own_are_a_column() -> None:
    with pytest.raises(OptionError, match=r"whole number from 2 up\. For bins of your own .*pd\.cut"):
        EV.table("ndcg", k=10, by="activity", **dict[str, Any](bins=[10, 20]))


def test_a_user_is_in_one_segment() -> None:
    twice = pd.Series(["a", "b"], index=[EV.users[0]] * 2)
    with pytest.raises(OptionError, match="more than one value for user"):
        EV.table("ndcg", k=10, by=twice)


def test_the_line_below_names_the_users_of_metrics_beyond_accuracy() -> None:
    table = EV.table("novelty", k=10, by="activity")
    assert table.attrs["basis"].startswith(f"{table['n_users'].sum()} users with a list; ")
    assert EV.table("ndcg", k=10, by="activity").attrs["basis"].startswith(f"{EV.n_users} users; ")


SMALL = recnb.evaluate(
    pd.DataFrame({"user": np.repeat([1, 2, 3], 2), "item": list("ababab"), "rank": [1, 2] * 3}),
    pd.DataFrame({"user": [1, 2, 3], "item": list("aba")}),
)


def test_values_of_several_kinds_are_text() -> None:
    table = SMALL.table("ndcg", k=2, by=pd.Series({1: "x", 2: 7, 3: None}, name="group"))
    assert table["n_users"].droplevel(["metric", "k"]).to_dict() == {"7": 1, "x": 1, "not known": 1}


@pytest.mark.parametrize("value", [["x"], {"x"}, {"x": 1}])
def test_what_holds_several_values_names_no_segment(value: object) -> None:
    with pytest.raises(OptionError, match="which names no segment: give each user a text or a number"):
        SMALL.table("ndcg", k=2, by=dict.fromkeys([1, 2, 3], value))


def test_users_of_another_kind_are_refused() -> None:
    with pytest.raises(OptionError, match="its users are String, such as '1', and those evaluated Int64, such as 1"):
        SMALL.table("ndcg", k=2, by={"1": "x", "2": "y", "3": "z", "4 times": "z"})


def test_a_column_of_a_frame_whose_rows_are_items() -> None:
    frame = pd.DataFrame({"user": [1, 1, 1, 2], "score": [4, 3, 2, 1], "relevance": [0, 1, 1, 1], "week": [1, 1, 2, 1]})
    table = recnb.evaluate(frame).table("reciprocal_rank", by="week")
    assert table["mean"].droplevel(["metric", "k"]).to_dict() == pytest.approx({1: (1 / 2 + 1) / 2, 2: 1 / 3})
    assert table["n_users"].tolist() == [2, 1]
