"""The explorer: what it shows is what pandas makes of the values of users, and its
controls change that.
"""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import NoUsersError, OptionError, RecnbError
from recnb.metrics import Credit
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import LISTED, Explorer
from tests.laws.test_splits import frames_of
from tests.sample import SAMPLE

SIDE: dict[str, Any] = {
    "users": SAMPLE.users,
    "train": SAMPLE.train,
    "items": SAMPLE.items,
}
EV = SAMPLE.models["item-knn"].rec.against(SAMPLE.test, **SIDE)
MODELS = {
    name: SAMPLE.models[name].rec.against(SAMPLE.test, **SIDE)
    for name in ("popular", "item-knn")
}


def shown(page: str) -> str:
    """The text of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.parametrize(
    "library", [None, "rectools", "lenskit", "trec_eval", "lightgbm"]
)
def test_values_are_those_of_the_evaluation(library: str | None) -> None:
    ev = EV if library is None else EV.under(library)
    explorer = ev.explore()
    for metric in METRICS if library is None else ["ndcg"]:
        for k in (10, None):
            explorer.choose(metric=metric, k=k)
            score = getattr(ev, metric)(k=k)
            values = explorer.to_frame()["value"].sort_index()
            pd.testing.assert_series_equal(
                values, score.per_user.sort_index(), check_names=False
            )
            assert explorer.means() == {"": pytest.approx(float(score))}
            assert repr(explorer).endswith(score.basis)
    explorer.choose(k=5)
    assert library or explorer.to_frame()["hits"].sum() == len(EV.hits(5).rank)


@pytest.mark.parametrize("is_paired", [False, True], ids=["one model", "two"])
def test_lists_of_a_split_are_shown_one_by_one(is_paired: bool) -> None:
    recs, truth, _keys = frames_of(31, ["fold"])
    users = pd.DataFrame({"user": range(12), "country": list("abc" * 4)})
    users["weight"] = users["user"] % 3 + 1.0
    options: dict[str, Any] = {"users": users, "user_weight": "weight"}
    ev = recnb.evaluate(recs, truth, split="fold", **options)
    explorer = ev.explore(k=3)
    if is_paired:
        other = recs.assign(score=recs["score"].to_numpy()[::-1])
        models = {"a": other, "b": recs}
        found = recnb.compare(models, truth, split="fold", **options)
        ev, explorer = found["b"], found.explore(k=3)
    score = ev.ndcg(k=3)
    wanted = {
        f"{user} [fold={fold}]": value for (user, fold), value in score.per_user.items()
    }
    assert explorer.to_frame()["value"].to_dict() == pytest.approx(wanted)
    assert explorer.means()["b" if is_paired else ""] == pytest.approx(float(score))
    explorer.choose(user="7 [fold=10]", by="country", segment="b")
    assert "7 [fold=10]" in shown(explorer._repr_html_())
    of_segment = ev.table("ndcg", k=3, by="country").to_frame()["mean"].iloc[1]
    assert explorer.means()["b" if is_paired else ""] == pytest.approx(of_segment)
    ids = [int(name.split()[0]) for name in explorer.to_frame().index]
    assert {user % 3 for user in ids} == {1}
    explorer.choose(search="fold=10", segment="")
    assert {name.partition(" ")[2] for name in explorer.to_frame().index} == {
        "[fold=10]"
    }
    assert "[fold=1]" not in shown(explorer._repr_html_())
    with pytest.raises(OptionError, match=r"7 .fold=10."):
        explorer.choose(user="7")


def test_means_follow_the_weights_of_users() -> None:
    weights = dict(zip(SAMPLE.users["user"], np.linspace(0.1, 5, 300), strict=True))
    ev = recnb.evaluate(
        SAMPLE.models["item-knn"], SAMPLE.test, **SIDE, user_weight=weights
    )
    explorer = ev.explore("recall")
    assert explorer.means() == {"": pytest.approx(float(ev.recall(k=10)))}
    explorer.choose(by="segment")
    means = ev.table("recall", k=10, by="segment")["mean"]
    assert explorer.segments()["mean"].tolist() == pytest.approx(means.tolist())
    found = recnb.compare(SAMPLE.models, SAMPLE.test, user_weight=weights)
    explorer = found.explore("recall")
    assert explorer.means() == pytest.approx(
        {name: float(found[name].recall(k=10)) for name in found}
    )


def test_hits_are_counted_whatever_pairs_weigh() -> None:
    propensity = recnb.popularity_propensity(
        SAMPLE.train, gamma=2.0, items=SAMPLE.test["item"]
    )
    recs = SAMPLE.models["item-knn"]
    weighted = recnb.evaluate(recs, SAMPLE.test, propensity=propensity).explore(k=5)
    assert weighted.to_frame()["hits"].sum() == len(EV.hits(5).rank)


def test_a_metric_of_which_no_user_has_a_value_is_refused() -> None:
    """Of items that count as relevant and earn no gain nDCG has no ideal."""
    ev = recnb.evaluate({"u": ["a"]}, {"u": {"a": 0}}, relevant="any")
    with pytest.raises(NoUsersError, match="no user has a value of nDCG@10"):
        ev.explore("ndcg")
    explorer = ev.explore("recall")
    with pytest.raises(NoUsersError, match="no user has a value of nDCG@10"):
        explorer.choose(metric="ndcg")
    assert explorer.means() == {"": 1}
    with pytest.raises(NoUsersError, match="no user has a value of ndcg@10"):
        ev.detectable("ndcg", k=10)


@pytest.mark.parametrize(
    ("column", "ascending"),
    [("value", True), ("hits", False), ("relevant", True), ("length", False)],
)
def test_what_is_shown_is_what_pandas_would_show(column: str, ascending: bool) -> None:
    explorer = EV.explore(gain="exponential")
    assert explorer.means()[""] == pytest.approx(
        float(EV.ndcg(k=10, gain="exponential"))
    )
    explorer.choose(metric="recall")  # which has no gain
    explorer.choose(
        by="segment", segment="regular", search="U01", sort=column, ascending=ascending
    )
    segment = SAMPLE.users.set_index("user")["segment"]
    want = explorer.values[segment.reindex(explorer.values.index) == "regular"]
    want = want[want.index.str.contains("u01")].sort_values(
        column, ascending=ascending, kind="stable"
    )
    assert explorer.to_frame().index.tolist() == want.index.tolist()
    assert explorer.to_frame()["segment"].eq("regular").all()
    explorer.choose(segment="", search="")
    assert len(explorer.to_frame()) == 261


@pytest.mark.parametrize("models", [{"": EV}, MODELS], ids=["one", "two"])
@pytest.mark.parametrize("metric", ["ndcg", "dcg", "hit_rate"])
def test_each_user_is_in_one_bar_between_its_ends(
    models: dict[str, recnb.Evaluation], metric: str
) -> None:
    explorer = Explorer(models, metric)
    numbers, counts = explorer.to_frame()[explorer.column], explorer.bars()
    assert counts["0"] == (numbers.abs() <= 1e-12).sum()
    for label in counts.keys() - {"0"}:
        signs_and_ends = re.fullmatch(r"(>?)(\S+) to (<?)(\S+)", label)
        assert signs_and_ends is not None, label
        above, low, below, high = signs_and_ends.groups()
        explorer.choose(bar=label)
        within = explorer.to_frame()[explorer.column].round(12)
        # The ends of other metrics are shown with six digits.
        least, most = (
            float(end) if METRICS[metric].bounds[1] == 1 else float(end) + by
            for end, by in ((low, -1e-5), (high, 1e-5))
        )
        assert (within > least if above else within >= least).all(), label
        assert (within < most if below else within <= most).all(), label
    assert sum(counts.values()) == len(numbers)


def test_the_bars_are_those_of_a_report() -> None:
    for metric in ("ndcg", "precision", "hit_rate", "dcg"):
        for lang in ("en", "ko"):
            report = EV.report(10, [metric], lang=lang)
            told = report.to_dict()["distribution"]
            n_bottom, (least, *others) = told["n_bottom"], told["counts"]
            counts = [n_bottom, least - n_bottom, *others]
            bars = EV.explore(metric, lang=lang).bars().values()
            assert list(filter(None, bars)) == list(filter(None, counts)), metric


def test_segments_are_those_of_by() -> None:
    explorer = EV.explore()
    assert explorer.columns == ["segment", "branch", "joined", "activity"]
    for by in ("segment", "activity"):
        explorer.choose(by=by)
        want = EV.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
        assert explorer.segments().index.tolist() == want.index.tolist()
        np.testing.assert_array_equal(explorer.segments()["count"], want["n_users"])
        np.testing.assert_allclose(explorer.segments()["mean"], want["mean"])
    explorer.choose(segment=explorer.segments().index[0])
    explorer.choose(by="segment")
    assert explorer.shown.segment == ""
    explorer.choose(by="")
    assert "segment" not in explorer.to_frame()
    users = SAMPLE.users.assign(
        team=["x", "y", None] * 100,
        age=[None if at % 7 == 0 else at for at in range(300)],
    )
    explorer = recnb.evaluate(
        SAMPLE.models["item-knn"], SAMPLE.test, users=users
    ).explore()
    for by in ("team", "age"):
        explorer.choose(by=by)
        assert explorer.segments()["count"].sum() == 261
        assert "not known" in explorer.segments().index


REFUSED: list[dict[str, Any]] = [
    {"k": 0},
    {"metric": "ngdc"},
    {"by": "sgment"},
    {"segment": "x"},
    {"bar": "x"},
    {"user": "nobody"},
    {"sort": "hots"},
    {"model": "x"},
    {"color": "red"},
    {"k": 5, "user": "nobody"},
]


@pytest.mark.parametrize("choice", REFUSED, ids=str)
def test_what_is_refused_changes_nothing(choice: dict[str, Any]) -> None:
    explorer = EV.explore()
    before = explorer.shown, explorer.to_frame()
    with pytest.raises(RecnbError):
        explorer.choose(**choice)
    assert explorer.shown == before[0]
    pd.testing.assert_frame_equal(explorer.to_frame(), before[1])


def test_of_two_choices_that_are_refused_the_first_of_the_explorer_is_named() -> None:
    explorer = EV.explore()
    for choices in ({"bar": "x", "user": "nobody"}, {"user": "nobody", "bar": "x"}):
        with pytest.raises(RecnbError, match="user='nobody'"):
            explorer.choose(**choices)


def test_the_user_near_the_mean_comes_first_and_another_is_chosen() -> None:
    explorer, values = EV.explore(), EV.ndcg(k=10).per_user
    assert (
        abs(values[explorer.shown.user] - values.mean())
        == (values - values.mean()).abs().min()
    )
    explorer.choose(user="u026")
    (worked,) = explorer._worked()
    assert EV.user("u026", k=10)._repr_html_() in worked
    assert EV.explain("ndcg", "u026", k=10)._repr_html_() in worked


def test_models_are_compared_over_the_users_they_have_in_common() -> None:
    explorer = Explorer(MODELS)
    a, b = (ev.ndcg(k=10).per_user for ev in MODELS.values())
    assert (explorer.shown.model, explorer.shown.other, explorer.shown.sort) == (
        "item-knn",
        "popular",
        "difference",
    )
    np.testing.assert_allclose(
        explorer.to_frame()["difference"],
        (b - a).sort_values(ascending=False, kind="stable"),
    )
    counted = (
        f"{(b > a).sum()} better, {(b < a).sum()} worse, {(b == a).sum()} the same"
    )
    assert explorer.counts_in_words() == counted
    assert explorer._worked()[0].count("user u") >= 2
    for name, value in (("model", "0"), ("other", "1")):
        explorer.use(name, value)
    assert explorer.shown[2:4] == ("popular", "item-knn")
    assert explorer.to_frame()["difference"].sum() == pytest.approx((a - b).sum())
    some = SAMPLE.test[SAMPLE.test["user"] < "u100"]
    fewer = Explorer({"all": EV, "some": SAMPLE.models["popular"].rec.against(some)})
    assert len(fewer.to_frame()) == some["user"].nunique()
    found = recnb.compare(
        SAMPLE.recommendations, SAMPLE.test, baseline="popular"
    ).explore()
    assert found.shown[2:4] == ("factors", "popular")
    assert list(found.means()) == ["popular", "item-knn", "factors"]


def test_controls_choose_what_is_shown() -> None:
    explorer = EV.explore()
    top, worked = explorer.widget().children

    def used(*uses: str) -> pd.DataFrame:
        for use in uses:
            explorer.use(*use.split(" "))
            assert explorer.problem == ""
        return explorer.to_frame()

    frame = used(
        "metric recall", "k 0", "k 5", "metric ndcg", "by 1", "segment 1", "search u0"
    )
    assert explorer.shown[:2] == ("ndcg", 5)
    assert frame["segment"].eq("new").all()
    assert frame.index.str.contains("u0").all()
    assert (
        used("segment 1", "search ", "bar 0")["value"] == 0
    ).all()  # a segment or a bar again: all
    assert len(used("k 4")) == len(used("k 5", "bar 0", "bar 0")) == 261
    for ascending in (False, True, False):
        used("sort hits")
        assert explorer.shown.ascending == ascending
    user = used("user 3").index[3]
    assert EV.explain("ndcg", user, k=5)._repr_html_() in worked.value
    assert re.search(rf'aria-pressed="true"><bdi>{user}<', top.html)
    assert top.html.count('name="user"') == LISTED


def test_values_that_differ_below_the_12th_digit_are_the_same() -> None:
    truth = {user: {"x": 1.0, "y": 1.0 + 3e-13} for user in range(12)}
    models = {item: {user: [item] for user in truth} for item in "xy"}
    explorer = recnb.compare(models, truth).explore("dcg", k=1)
    assert explorer.counts_in_words() == "0 better, 0 worse, 12 the same"


@pytest.mark.parametrize(
    ("better", "words"),
    [
        ("high", "{won} better, {lost} worse, {tied} the same"),
        ("low", "{lost} better, {won} worse, {tied} the same"),
        (None, "{won} higher, {lost} lower, {tied} the same"),
    ],
)
def test_users_are_counted_by_the_direction_of_the_metric(
    better: Any, words: str
) -> None:
    @recnb.metric(symbol="Found", credit="1", better=better)
    def found(hits, k=None):
        return Credit(hits, k, np.ones(len(hits.rank)))

    try:
        explorer = recnb.compare(MODELS, baseline="popular").explore(found)
        page = shown(explorer._html(live=False))
    finally:
        del METRICS["found"]
    own, other = (MODELS[name].cg(k=10, gain="binary").per_user for name in MODELS)
    change = other - own
    counts = {"won": change > 0, "lost": change < 0, "tied": change == 0}
    said = words.format(**{name: int(users.sum()) for name, users in counts.items()})
    assert said in page
