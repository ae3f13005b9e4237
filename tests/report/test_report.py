"""The numbers of a report against plain loops and against the metrics asked one by
one.
"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError
from recnb.report.distribution import Distribution
from recnb.report.request import curve_points
from tests.report.models import EV, FOUND
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE


@given(st.sets(st.integers(1, 1000), min_size=1, max_size=60))
def test_a_curve_has_few_points_from_1_to_the_deepest(at):
    points = curve_points(sorted(at))
    assert (points[0], points[-1]) == (1, max(at))
    assert list(points) == sorted(set(points))
    assert at <= set(points)
    assert len(points) <= 30 + len(at)


@pytest.mark.parametrize(
    ("values", "bounds", "ends"), read_rows("report/spreads.toml")["rows"]
)
def test_bins_go_from_bound_to_bound_and_without_one_to_the_last_value(
    values, bounds, ends
):
    spread = Distribution.of(np.array([*values, np.nan]), bounds)
    edges = np.linspace(*ends, 11)
    assert spread.edges == pytest.approx(edges)
    assert [*spread.counts] == np.histogram(values, edges)[0].tolist()
    n_at_ends = (spread.n_bottom, spread.n_top)
    assert n_at_ends == (values.count(ends[0]), values.count(ends[1]))
    assert (spread.n_users, spread.n_without_value) == (len(values), 1)


def test_a_value_a_hair_below_an_edge_is_on_it():
    near = [0.8, np.nextafter(0.8, 0), 1.0, np.nextafter(1, 0), 1e-16, 0.1]
    spread = Distribution.of(np.array(near), (0.0, 1.0))
    assert [*spread.counts] == [1, 1, 0, 0, 0, 0, 0, 0, 2, 2]
    assert (spread.n_bottom, spread.n_top) == (1, 2)


def test_of_equal_users_those_with_more_at_stake_come_first():
    frame = EV.ndcg(k=10).per_user.round(12).rename("value").reset_index()
    relevant = SAMPLE.test[SAMPLE.test["rating"] > 0].groupby("user").size()
    hits = EV.hits(10)
    frame["found"] = np.bincount(hits.user[hits.rank <= 10], minlength=len(frame))
    frame["lost"] = frame["user"].map(relevant) - frame["found"]
    best = frame.sort_values(["value", "found", "user"], ascending=[False, False, True])
    worst = frame.sort_values(["value", "lost", "user"], ascending=[True, False, True])
    report = EV.report(k=10, metrics=["ndcg"])
    shown = [user.user for group in report.users for user in group.users]
    assert shown == [*best["user"][:3], *worst["user"][:3]]


REFUSED = read_rows("report/refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_request_is_refused(call):
    for models in (EV, FOUND):
        hold_refused(call, REFUSED[call], {**globals(), "models": models})


def test_what_the_numbers_are_made_with_is_in_json(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    given = {
        "user": "who",
        "relevant_from": 4,
        "users": SAMPLE.users.assign(spent=1.0),
        "user_weight": "spent",
        "split": "day",
        "convention": "rectools",
    }
    recs = SAMPLE.models["item-knn"].rename(columns={"user": "who"}).assign(day=1)
    ev = recnb.evaluate(recs, SAMPLE.test.rename(columns={"user": "who"}), **given)
    report = ev.report(k=5, metrics=["ndcg"])
    told = json.loads(report.to_json())["made_with"]
    assert {*told["versions"]} == {
        *("recnb", "python", "pandas", "polars", "numpy", "pyarrow")
    }
    assert told["convention"]["relevant_from"] == 4
    assert (told["time"], told["library"]) == ("1970-01-02T00:00:00Z", "rectools")
    del given["users"], given["convention"]
    assert told["options"] == given
    line = f"recnb {recnb.__version__}, 1970-01-02"
    assert report.to_markdown().rstrip().endswith(line)
    assert f">{line}<" in report.to_html()
    assert line not in report._repr_html_()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(OptionError, match=r"SOURCE_DATE_EPOCH='yesterday'.*seconds"):
        ev.report(k=5, metrics=["ndcg"])


def test_decisions_that_are_not_the_usual_ones_are_options():
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, relevant_from=4)
    made_with = ev.report(k=5, metrics=["ndcg"]).to_dict()["made_with"]
    assert made_with["options"] == {"order": "rank", "relevant_from": 4}
