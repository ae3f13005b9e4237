"""The explorer: what it shows is what pandas makes of the values of users, and its
controls change that.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.metrics.metric import METRICS
from recnb.widgets.explorer import LISTED
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE

RECS, TRUTH, USERS = SAMPLE.models["item-knn"], SAMPLE.test, SAMPLE.users
EV = recnb.evaluate(RECS, TRUTH, users=USERS, train=SAMPLE.train)
PROPENSITY = recnb.popularity_propensity(SAMPLE.train, gamma=2.0, items=TRUTH["item"])
WEIGHTED = USERS.assign(weight=np.linspace(0.1, 5, 300))
UNKNOWN = USERS.assign(
    team=["x", "y", None] * 100, age=USERS["joined"].where(USERS.index % 7 > 0)
)
#: Evaluations of the same lists.
EVALUATIONS = {
    "plain": EV,
    "pairs with weights": recnb.evaluate(RECS, TRUTH, propensity=PROPENSITY),
    "users with weights": recnb.evaluate(
        RECS, TRUTH, users=WEIGHTED, user_weight="weight"
    ),
    "users not known": recnb.evaluate(RECS, TRUTH, users=UNKNOWN),
    **{
        library: EV.under(library)
        for library in ("rectools", "lenskit", "trec_eval", "lightgbm")
    },
}
#: Items that count as relevant and earn no gain: nDCG has no ideal list.
UNEARNED = recnb.evaluate({"u": ["a"]}, {"u": {"a": 0}}, relevant="any")
DAYS = pd.DataFrame({"user": "u", "item": "a", "rank": 1, "day": ["mon", "tue"]})


@pytest.mark.parametrize("name", EVALUATIONS)
def test_values_are_those_of_the_evaluation(name: str) -> None:
    ev = EVALUATIONS[name]
    explorer = ev.explore()
    for metric in METRICS if ev is EV else ["ndcg"]:
        for k in (10, None):
            explorer.choose(metric=metric, k=k)
            score = getattr(ev, metric)(k=k)
            values = explorer.to_frame()["value"].sort_index()
            wanted = score.per_user.sort_index()
            pd.testing.assert_series_equal(values, wanted, check_names=False)
            assert explorer.mean() == pytest.approx(float(score))
            assert repr(explorer).endswith(score.basis)
    explorer.choose(k=5)
    is_usual = str(ev.convention) == str(EV.convention)
    assert not is_usual or explorer.to_frame()["hits"].sum() == len(EV.hits(5).rank)


@pytest.mark.parametrize("name", ["plain", "users with weights", "users not known"])
def test_segments_are_those_of_by(name: str) -> None:
    ev = EVALUATIONS[name]
    explorer = ev.explore()
    for by in explorer.columns:
        explorer.choose(by=by)
        assert explorer.shown.segment == ""
        wanted = ev.table("ndcg", k=10, by=by).loc[("ndcg", 10)]
        segments = explorer.segments()
        assert segments.index.tolist() == wanted.index.tolist()
        np.testing.assert_allclose(segments, wanted[["n_users", "mean"]])
        explorer.choose(segment=segments.index[0])
        assert explorer.mean() == pytest.approx(wanted["mean"].iloc[0])
    explorer.choose(by="")
    assert list(explorer.to_frame()) == ["value", "hits", "relevant", "length"]


def test_users_are_divided_by_what_is_known_of_them() -> None:
    assert EV.explore().columns == ["segment", "branch", "joined", "activity"]


@pytest.mark.parametrize(
    ("column", "ascending"),
    [("value", True), ("hits", False), ("relevant", True), ("length", False)],
)
def test_what_is_shown_is_what_pandas_would_show(column: str, ascending: bool) -> None:
    explorer = EV.explore(gain="exponential")
    score = EV.ndcg(k=10, gain="exponential")
    assert explorer.mean() == pytest.approx(float(score))
    explorer.choose(metric="recall", by="segment", segment="regular")  # it has no gain
    explorer.choose(search="U01", sort=column, ascending=ascending)
    segment = USERS.set_index("user")["segment"]
    wanted = explorer.values.join(segment).query("segment == 'regular'")
    wanted = wanted[wanted.index.str.contains("u01")]
    wanted = wanted.sort_values(column, ascending=ascending, kind="stable")
    frame = explorer.to_frame().astype({"segment": "str"})
    pd.testing.assert_frame_equal(frame, wanted, check_dtype=False)
    explorer.choose(segment="", search="u.1")
    assert explorer.to_frame().empty
    explorer.choose(search="")
    assert len(explorer.to_frame()) == 261


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("metric", ["ndcg", "precision", "hit_rate", "dcg"])
def test_bars_are_those_of_a_report(metric: str, lang: str) -> None:
    told = EV.report(10, [metric], lang=lang).to_dict()["distribution"]
    n_bottom, (least, *others) = told["n_bottom"], told["counts"]
    counts = [n_bottom, least - n_bottom, *others]
    explorer = EV.explore(metric, lang=lang)
    bars = explorer.bars()
    assert list(filter(None, bars.values())) == list(filter(None, counts))
    for bar, n in bars.items():
        explorer.choose(bar=bar)
        assert len(explorer.to_frame()) == n


REFUSED = read_rows("widgets/explorer_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused_changes_nothing(call: str) -> None:
    explorer = EV.explore()
    before = explorer.shown, explorer.to_frame()
    hold_refused(call, REFUSED[call], {**globals(), "explorer": explorer})
    assert explorer.shown == before[0]
    pd.testing.assert_frame_equal(explorer.to_frame(), before[1])


def test_the_user_near_the_mean_comes_first_and_another_is_chosen() -> None:
    explorer, values = EV.explore(), EV.ndcg(k=10).per_user
    from_mean = (values - values.mean()).abs()
    assert from_mean[explorer.shown.user] == from_mean.min()
    explorer.choose(user="u026")
    (worked,) = explorer._worked()
    assert EV.user("u026", k=10)._repr_html_() in worked
    assert EV.explain("ndcg", "u026", k=10)._repr_html_() in worked


def test_controls_choose_what_is_shown() -> None:
    explorer = EV.explore()
    top, worked = explorer.widget().children

    def used(*uses: str) -> pd.DataFrame:
        for use in uses:
            explorer.use(*use.split(" "))
            assert explorer.problem == ""
        return explorer.to_frame()

    used("metric recall", "k ")
    assert explorer.shown[:2] == ("recall", None)
    frame = used("k 0", "k 5", "metric ndcg", "by 1", "segment 1", "search u0")
    assert explorer.shown[:2] == ("ndcg", 5)
    assert frame["segment"].eq("new").all()
    assert frame.index.str.contains("u0").all()
    # A segment or a bar that is chosen again: all users.
    assert (used("segment 1", "search ", "bar 0")["value"] == 0).all()
    assert len(used("k 4")) == len(used("k 5", "bar 0", "bar 0")) == 261
    for ascending in (False, True, False):
        used("sort hits")
        assert explorer.shown.ascending == ascending
    user = used("user 3").index[3]
    assert EV.explain("ndcg", user, k=5)._repr_html_() in worked.value
    assert re.search(rf'aria-pressed="true"><bdi>{user}<', top.html)
    assert top.html.count('name="user"') == LISTED
