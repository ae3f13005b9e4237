"""The numbers of a report against plain loops and against the metrics asked one by
one.
"""

import json
import re
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS
from recnb.report.distribution import Distribution
from recnb.report.request import curve_points
from recnb.results.files import json_values
from recnb.results.numbers import DifferenceRow
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE

BARE = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
EV = recnb.evaluate(
    SAMPLE.models["item-knn"],
    SAMPLE.test,
    train=SAMPLE.train,
    items=SAMPLE.items,
    users=SAMPLE.users,
)
FOUND = recnb.compare(
    SAMPLE.models,
    SAMPLE.test,
    train=SAMPLE.train,
    items=SAMPLE.items,
    baseline="popular",
)
REPORT = EV.report(k=[5, 10, 20], by="activity")
COMPARED = FOUND.report(k=[5, 10], by="activity")


def test_metrics_beyond_accuracy_stand_beside_the_number_of_their_users():
    all_lists = "over all users with a list, also those without a relevant item"
    for report in (REPORT, COMPARED):
        shown = report.to_markdown().split("### Beyond accuracy")[1]
        assert all_lists in shown
        data = report._data
        for metric in data.metrics:
            means = data.means_of(metric.metric, data.lead_k)
            if means and not metric.is_accuracy:
                (n_users,) = {mean.n_users for mean in means}
                assert re.search(rf"\| {metric.symbol}( ↓)? \| {n_users} \|", shown)
    few = {"all": SAMPLE.models["popular"], "few": SAMPLE.models["popular"].head(900)}
    found = recnb.compare(few, SAMPLE.test, train=SAMPLE.train)
    assert "| Novelty | 45–298 |" in found.report(k=10).to_markdown()
    judged = SAMPLE.models["popular"].merge(SAMPLE.test[["user"]].drop_duplicates())
    same_users = recnb.evaluate(judged, SAMPLE.test, train=SAMPLE.train)
    assert all_lists not in same_users.report(k=10).to_markdown()


def shown(report):
    return [user for group in report.users for user in group.users]


def test_a_frame_of_a_report_has_a_row_for_each_mean_with_its_users():
    frame = REPORT.to_frame()
    assert list(frame.columns) == ["metric", "k", "mean", "low", "high", "n_users"]
    assert len(frame) == (7 + len(LIST_METRICS)) * 3
    for row in frame.itertuples():
        score = getattr(EV, row.metric)(k=row.k)
        assert not score.has_interval or row.n_users == getattr(score, "n_users", 298)
    assert not any(mean.best or mean.near_best for mean in REPORT.means)


def test_a_frame_of_a_comparison_has_each_mean_beside_its_difference():
    frame, differences = COMPARED.to_frame(), FOUND.differences(k=[5, 10])
    assert len(frame) == (7 + len(LIST_METRICS)) * 2 * 3
    differences = differences.set_index(["metric", "k", "model"])
    columns = ["difference", "low", "high", "p_holm"]
    for row in frame.itertuples():
        if row.metric in LIST_METRICS:
            continue
        numbers = [getattr(row, column) for column in columns]
        if row.model == "popular":
            assert np.isnan(row.difference)
        else:
            expected = differences.loc[(row.metric, row.k, row.model), columns]
            assert numbers == expected.tolist()


def test_the_best_model_and_those_near_it_are_marked():
    every_pair = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all")
    for report, is_near in (
        (COMPARED, False),  # with item-knn and factors not compared
        (every_pair.report(k=10), True),
    ):
        marks = {
            mean.model: (mean.best, mean.near_best)
            for mean in report._data.means_of("ndcg", 10)
        }
        assert marks == {
            "item-knn": (False, is_near),
            "factors": (True, False),
            "popular": (False, False),
        }


def test_users_who_gain_are_those_whom_the_difference_counts():
    (row,) = (
        row
        for row in COMPARED.differences
        if (row.model, row.label) == ("item-knn", "nDCG@10")
    )
    assert COMPARED.users[0].counts == (row.won, row.tied, row.lost)


AT = np.arange(len(SAMPLE.test)) % 4
DATES = pd.date_range("2024-01-01", periods=4, freq="MS")[AT]
TIMES = {
    "dates": DATES,
    "days": DATES.date,
    "weeks": DATES.to_period("W"),
    "months": DATES.to_period("M"),
    "texts": DATES.strftime("%G-W%V"),
    "quarters": pd.PeriodIndex(["2024Q1", "2024Q2"], freq="Q")[AT % 2],
    "week": AT,
    "hours": [None if at == 3 else f"2024-01-01 1{at}:00" for at in AT],
}


@pytest.mark.parametrize("by", TIMES)
def test_segments_that_are_times_are_drawn_as_a_line(by):
    ev = recnb.evaluate(
        SAMPLE.models["item-knn"], SAMPLE.test.assign(**{by: TIMES[by], "shelf": AT})
    )
    table, report = (
        ev.table("ndcg", k=10, by=by),
        ev.report(k=10, metrics=["ndcg"], by=by),
    )
    known = table.to_frame().query(f"`{by}` != 'not known'")["mean"]
    assert (
        f"nDCG@10 by {by}. {table.index[0][2]}: {known.iloc[0]:.4f}" in report.to_html()
    )
    assert (
        "nDCG@10 by shelf. "
        not in ev.report(k=10, metrics=["ndcg"], by="shelf").to_html()
    )


@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_of_twenty_models_a_page_can_be_read(pairs):
    models = {
        f"m{at}": list(SAMPLE.models.values())[at % 3].query(f"rank > {at // 3}")
        for at in range(20)
    }
    found = recnb.compare(models, SAMPLE.test, pairs=pairs)
    report = found.report(
        k=[5, 10],
        movers=0,
        by=pd.Series(2020 + np.arange(found.n_users) % 3, found.users, name="year"),
    )
    page, order = (
        report.to_html(),
        found.table("ndcg", k=10)["ndcg@10"].sort_values(
            ascending=False, kind="stable"
        ),
    )
    above = page.split("<form")[0]
    assert above.count(".</div>") <= 5
    assert (
        f"highest with <b><bdi>{order.index[0]}</bdi></b>, {order.iloc[0]:.4f}" in above
    )
    assert f"over {len(found.pairs)} comparisons" in above
    assert report._data.ranked == order.index.tolist()
    first = order.index[0]
    differences = report.to_markdown().split("### Differences")[1].split("###")[0]
    if pairs == "all":
        assert f"minus {first}" in differences
        of_best = {
            row.model if row.baseline == first else row.baseline: row
            for row in report.differences
            if row.k == 10
            and row.metric == "ndcg"
            and first in (row.model, row.baseline)
        }
        for model, row in of_best.items():
            (line,) = re.findall(rf"\| nDCG \| {model} \|.*", differences)
            sign = -1 if row.model == first else 1
            assert f"{sign * row.difference:+.4f}" in line or row.difference == 0
            counts = [row.won, row.tied, row.lost][::sign]
            assert " / ".join(map(str, counts)) in line
            assert ("▲" in line, "▼" in line) == (
                False,
                row.verdict in ("better", "worse"),
            )
    assert differences.count("| nDCG | ") == 19
    assert "Tests of nDCG alone" in differences


def test_confidence_and_options_are_used():
    asked = {"gain": "exponential", "ratio": 0.5}
    report = EV.report(k=10, metrics=["ndcg", "tail_share"], **asked)
    (share,) = report._data.means_of("tail_share", 10)
    assert share.mean == EV.tail_share(k=10, ratio=0.5)
    assert "gain 2^relevance - 1" in report._data.lead.convention
    found = recnb.compare(SAMPLE.models, SAMPLE.test, confidence=0.9)
    report = found.report(k=5, metrics={"ndcg": {"gain": "exponential"}}, movers=0)
    assert (report._data.settings.confidence, report.users) == (0.9, ())
    one_model = EV.report(k=5, metrics=["ndcg"], confidence=0.9)
    assert "90% intervals" in one_model.to_markdown()
    assert report._data.means_of("ndcg", 5)[0].mean == pytest.approx(
        FOUND["item-knn"].ndcg(k=5, gain="exponential")
    )


def test_a_metric_that_a_library_averages_over_other_users_is_refused():
    ev = recnb.evaluate(
        SAMPLE.models["item-knn"], SAMPLE.test, convention="recommenders"
    )
    for models in (
        ev,
        recnb.compare(SAMPLE.models, SAMPLE.test, convention="recommenders"),
    ):
        with pytest.raises(
            OptionError, match="over other users than its other metrics"
        ):
            models.report(k=5, metrics=["precision", "ndcg"])


@given(st.sets(st.integers(1, 1000), min_size=1, max_size=60))
def test_a_curve_has_few_points_from_1_to_the_deepest(at):
    points = curve_points(sorted(at))
    assert (points[0], points[-1]) == (1, max(at))
    assert list(points) == sorted(set(points))
    assert len(points) <= 40
    assert len(at) > 10 or at <= set(points)


def test_the_distribution_counts_every_user_once():
    values, (spread,) = EV.ndcg(k=10).per_user.to_numpy(), REPORT._data.distributions
    edges = pairwise(tenth / 10 for tenth in range(11))
    by_hand = [
        sum(low <= one < high or one == high == 1 for one in values)
        for low, high in edges
    ]
    assert [*spread.counts] == by_hand
    assert sum(by_hand) == spread.n_users == len(values)
    assert spread.shares == pytest.approx([count / len(values) for count in by_hand])
    assert (spread.n_zero, spread.n_top) == (
        (values == 0).sum(),
        (values > 1 - 1e-9).sum(),
    )
    assert spread.quartiles == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))
    assert spread.mean == pytest.approx(values.mean())


def test_a_value_a_hair_below_an_edge_is_on_it_and_one_without_a_value_is_counted():
    near = [0.8, np.nextafter(0.8, 0), 1.0, np.nextafter(1, 0), 1e-16, 0.1, np.nan]
    spread = Distribution.of("", np.array(near), (0.0, 1.0))
    assert [*spread.counts] == [1, 1, 0, 0, 0, 0, 0, 0, 2, 2]
    assert [
        getattr(spread, name)
        for name in ("n_zero", "n_top", "n_users", "n_without_value")
    ] == [1, 2, 6, 1]


@pytest.mark.parametrize(
    ("largest", "top", "end"), [(0.0, np.inf, 1.0), (7.3, np.inf, 7.3), (0.3, 1.0, 1.0)]
)
def test_bins_go_up_to_the_upper_bound_and_without_one_to_the_highest_value(
    largest, top, end
):
    spread = Distribution.of("", np.array([0.0, largest]), (0.0, top))
    assert (spread.edges[-1], spread.n_top, sum(spread.counts)) == (
        end,
        int(largest == end),
        2,
    )


@pytest.mark.parametrize(
    ("values", "bounds", "ends"),
    [
        ([-0.8, -0.35, 0.0], (-1.0, 0.0), (-1.0, 0.0)),
        ([-3.0, 2.0], (-np.inf, np.inf), (-3.0, 2.0)),
        ([-3.0, -1.0], (-np.inf, 0.0), (-3.0, 0.0)),
        ([1.0, 4.0], (1.0, np.inf), (1.0, 4.0)),
        ([-2.0, -2.0], (-2.0, np.inf), (-2.0, 0.0)),
        ([0.0, 0.0], (-np.inf, 0.0), (0.0, 1.0)),
    ],
)
def test_bins_go_down_to_the_lower_bound_and_without_one_to_the_lowest_value(
    values, bounds, ends
):
    spread = Distribution.of("", np.array(values), bounds)
    edges = np.linspace(*ends, 11)
    assert spread.edges == pytest.approx(edges)
    assert [*spread.counts] == np.histogram(values, edges)[0].tolist()
    assert spread.n_bottom == values.count(ends[0])


def test_who_and_what_is_evaluated_is_counted():
    recs, truth = SAMPLE.models["item-knn"], SAMPLE.test
    counts = REPORT.to_dict()["made_with"]["counts"]
    wanted = {
        "model": "",
        "n_users": truth["user"].nunique(),
        "n_relevant": len(truth),
        "n_recommended": len(recs),
        "n_items_recommended": recs["item"].nunique(),
        "n_items_relevant": truth["item"].nunique(),
    }
    assert {name: counts[name] for name in wanted} == {
        name: [n] for name, n in wanted.items()
    }
    of_models = COMPARED.to_dict()["made_with"]["counts"]
    assert of_models["model"] == list(SAMPLE.models)
    for name in of_models.keys() - {"model"}:
        assert of_models[name] == [
            getattr(model.counts, name) for model in FOUND.values()
        ]


def test_of_equal_users_those_with_more_at_stake_come_first():
    frame = EV.ndcg(k=10).per_user.round(12).rename("value").reset_index()
    relevant = SAMPLE.test[SAMPLE.test["rating"] > 0].groupby("user").size()
    frame["n_relevant"] = frame["user"].map(relevant)
    hits = EV.hits(10)
    frame["found"] = np.bincount(hits.user[hits.rank <= 10], minlength=len(frame))
    frame["lost"] = frame["n_relevant"] - frame["found"]
    best = frame.sort_values(
        ["value", "found", "user"], ascending=[False, False, True]
    )["user"][:3]
    worst = frame.sort_values(["value", "lost", "user"], ascending=[True, False, True])[
        "user"
    ][:3]
    assert [user.user for user in shown(REPORT)] == [*best, *worst]


def test_lists_and_misses_that_are_shown():
    """A missed item says where it stands further down; long lists and many misses are
    cut; ids are as in the frame.
    """
    recs = pd.DataFrame({"user": 1, "item": list("abcdef"), "rank": range(1, 7)})
    truth = pd.DataFrame({"user": 1, "item": list("faz"), "relevance": [1, 1, 3]})
    (user,) = shown(recs.rec.against(truth).report(k=2))
    assert [(miss.item, miss.relevance, miss.rank) for miss in user.missed] == [
        ("z", 3.0, None),
        ("f", 1.0, 6),
    ]
    recs = pd.DataFrame({"user": 1, "item": range(100), "rank": range(1, 101)})
    truth = pd.DataFrame({"user": 1, "item": [*range(1000, 1050), 99]})
    (user,) = shown(recs.rec.against(truth).report(k=50))
    assert (len(user.lists[0]), user.n_places, len(user.missed), user.n_missed) == (
        20,
        50,
        5,
        51,
    )
    assert type(user.user) is int


def test_findings_are_those_of_the_lint_once_and_whose():
    own = [(one.name, one.short) for one in EV.lint(10)]
    assert [(one.name, one.short) for _models, (one,) in REPORT.findings] == own
    severities = [found[0].severity for _models, found in COMPARED.findings]
    assert severities == sorted(severities, reverse=True)
    for model, one in FOUND.models.items():
        told = {
            found[0].short for models, found in COMPARED.findings if model in models
        }
        assert told == {finding.short for finding in one.lint(10)}
    # Lists have 20 items: of 50, the options of the lead metric tell.
    report = EV.report(k=[50], metrics={"precision": {"out_of": "list"}, "ndcg": {}})
    assert report._data.lints[""].label == "Precision@50"
    assert report._data.lints[""].value == pytest.approx(
        report._data.means_of("precision", 50)[0].mean
    )


def test_what_to_type_is_of_a_model_that_is_named_where_others_type_something_else():
    models = {
        name: pd.concat([frame, frame[:5]]).drop(columns="rank")
        for name, frame in SAMPLE.models.items()
    }
    found = recnb.compare(models, SAMPLE.test, duplicates="dedupe").report(k=5)
    told = found.to_markdown()
    assert "**item-knn**: Keep each pair once:\n\n`` recs = models['item-knn']" in told
    assert "\n\nSet the lowest rating that counts as relevant:" in told, "one for all"


def test_metrics_beyond_accuracy_are_named_or_come_with_the_frames():
    assert all(metric.is_accuracy for metric in BARE.report(k=5)._data.metrics)
    assert [
        metric.metric
        for metric in EV.report(k=5, metrics=["coverage", "ndcg"])._data.metrics
    ] == ["ndcg", "coverage"]
    alone = recnb.evaluate({"u": ["a"]}, {"u": ["a"]}, train={"u": ["z"]}).report(k=1)
    assert alone._data.lacking["personalization"].startswith("It compares")
    assert "personalization" not in {mean.metric for mean in alone.means}
    lacking = BARE.report(k=5, metrics=["ndcg", "novelty"])
    novelty = "needs what users had before: give train, a frame of user and item"
    assert lacking._data.lacking["novelty"] == f"{novelty}."
    assert f"Not here: novelty ({novelty})." in lacking.to_html()
    with pytest.raises(OptionError, match="train="):
        recnb.compare(SAMPLE.models, SAMPLE.test).report(
            k=5, metrics=["ndcg", "novelty"]
        )


def test_a_metric_of_retrieval_does_not_lead_though_it_is_named_first():
    report = EV.report(metrics=["Judged@5", "nDCG@5"])
    assert report._data.lead.metric == "ndcg"


def test_each_measure_has_the_cutoff_of_its_name():
    """One without a cut-off among others with one is of the whole list; no other number
    is computed or shown.
    """
    ev = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test, train=SAMPLE.train)
    report = ev.report(
        metrics=["AP", "nDCG@10", "P@5", "Bpref", "coverage@5"], by="activity"
    )
    assert {(mean.metric, mean.k): mean.mean for mean in report.means} == pytest.approx(
        {
            ("ndcg", 10): ev.ndcg(k=10),
            ("average_precision", None): ev.average_precision(),
            ("precision", 5): ev.precision(k=5),
            ("bpref", None): ev.measure("bpref"),
            ("coverage", 5): ev.coverage(k=5),
        }
    )
    assert (report._data.lead.metric, report._data.lead_k, report._data.k) == (
        "ndcg",
        10,
        (5, 10, None),
    )
    assert [one.metric for one in report._data.metrics] == [
        "ndcg",
        "average_precision",
        "precision",
        "bpref",
        "coverage",
    ]
    assert {row.metric for row in report._data.segments.means} == {"ndcg"}
    for text in (repr(report), report.to_html(), report.to_markdown()):
        assert (
            f"{ev.measure('bpref'):.4f}" in text,
            f"{ev.precision(k=10):.4f}" in text,
        ) == (
            True,
            False,
        )
    assert set(ev.report(metrics=["nDCG@10", "AP"], k=[5]).to_frame()["k"]) == {5, 10}
    report = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular").report(
        metrics=["nDCG@10", "AP", "P@5"]
    )
    measured = {("ndcg", 10), ("average_precision", None), ("precision", 5)}
    assert {(row.metric, row.k) for row in report.differences} == measured
    assert "| model | nDCG@10 | AP | Precision@5 |" in report.to_markdown()


REFUSED = read_rows("report/refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_request_is_refused(call):
    for models in (EV, FOUND):
        hold_refused(call, REFUSED[call], {"models": models})


@pytest.mark.parametrize("report", [REPORT, COMPARED])
def test_json_is_the_data_by_column(report):
    told = json.loads(report.to_json())
    assert told == report.to_dict()
    assert {"schema", *vars(report._data)} == {*told}
    assert told["schema"] == "recnb.report/10"
    rows = {"means": report.means, "differences": report.differences}
    for name, expected in rows.items():
        columns = [field.name for field in fields(type(report.means[0]))]
        if name == "differences":
            columns = [field.name for field in fields(DifferenceRow)]
        assert [*told[name]] == columns, "also without a row"
        frame = pd.DataFrame(told[name], dtype=object)
        cells = frame.where(frame.notna(), None).to_numpy().tolist()
        assert cells == [
            [json_values(getattr(row, column)) for column in columns]
            for row in expected
        ]
    named = {
        name for lint in told["lints"].values() for name in lint["findings"]["name"]
    }
    assert named == {found[0].name for _models, found in report.findings}
    first = told["users"]["users"][0]
    assert first["user"] == [user.user for user in report.users[0].users]
    items = first["lists"][0][0]
    assert items.keys() == {"rank", "item", "relevance", "title"}


def test_what_the_numbers_are_made_with_is_in_json(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    users = SAMPLE.users.assign(spent=1.0)
    recs = SAMPLE.models["item-knn"].rename(columns={"user": "who"})
    given = {"user": "who", "relevant_from": 4, "users": users, "user_weight": "spent"}
    truth = SAMPLE.test.rename(columns={"user": "who"})
    ev = recnb.evaluate(recs, truth, **given)
    report = ev.report(k=5, metrics=["ndcg"])
    told = json.loads(report.to_json())["made_with"]
    assert told == json_values(report._data.made_with)
    assert {*told.pop("versions")} == {
        *("recnb", "python", "pandas", "polars", "numpy", "pyarrow")
    }
    convention = told.pop("convention")
    assert told.pop("counts")["n_users"] == [ev.n_users]
    assert (convention["relevant_from"], convention["ties"]) == (4, "first")
    options = {"user": "who", "order": "rank", "relevant_from": 4}
    assert told == {
        "time": "1970-01-02T00:00:00Z",
        "library": None,
        "options": {**options, "user_weight": "spent"},
    }
    line = f"recnb {recnb.__version__}, 1970-01-02"
    assert report.to_markdown().rstrip().endswith(line)
    assert f">{line}<" in report.to_html()
    assert line not in report._repr_html_()


def test_the_decisions_beside_a_library_and_the_split_are_in_json():
    recs = SAMPLE.models["item-knn"].assign(day=1)
    ev = recnb.evaluate(
        recs, SAMPLE.test, split="day", convention="rectools", relevant_from=4
    )
    told = ev.report(k=5, metrics=["ndcg"]).to_dict()["made_with"]
    assert told["library"] == "rectools"
    assert told["options"] == {"split": "day", "relevant_from": 4}


def test_a_time_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(OptionError, match=r"SOURCE_DATE_EPOCH='yesterday'.*seconds"):
        EV.report(k=5, metrics=["ndcg"])


def test_three_differences_by_segment_are_shown_and_of_more_it_is_said_where_they_are():
    models = {
        f"m{at}": SAMPLE.models["popular"].query(f"rank > {at}") for at in range(5)
    }
    for n_models, is_said in ((4, False), (5, True)):
        found = recnb.compare(
            dict([*models.items()][:n_models]),
            SAMPLE.test,
            baseline="m0",
            users=SAMPLE.users,
        )
        page = found.report(k=5, metrics=["ndcg"], by="segment", movers=0).to_markdown()
        assert ("found.differences(by=...)" in page) == is_said
        assert ("nDCG@5 by segment: difference" in page) != is_said
