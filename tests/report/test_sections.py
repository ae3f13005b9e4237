"""Findings, segments and what lies beyond accuracy in a report: their numbers, and that every form tells them."""

import importlib
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.display import svg
from recnb.display.language import _, use_language
from recnb.display.text import latex_text
from recnb.errors import OptionError
from recnb.metrics.metric import LIST_METRICS
from recnb.report.section import Cells, Section, computed_by
from tests.lint_planted import CLEAN

EVIL = "<img src=x onerror=alert(1)>|$a_b$ http://x.org"


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def evaluation(sample):
    return recnb.evaluate(sample.models["item-knn"], sample.test, train=sample.train, items=sample.items)


@pytest.fixture(scope="module")
def report(evaluation):
    return evaluation.report(k=[5, 10], metrics=["ndcg", "recall"], by="activity")


def forms(report):
    return {
        "html": report.to_html(), "notebook": report._repr_html_(), "text": repr(report), "markdown": report.to_markdown(),
    }  # fmt: skip


def test_findings_are_those_of_the_lint(evaluation, report):
    lint = evaluation.lint(10, "ndcg")
    assert [(one.name, one.short) for one in report.findings] == [(one.name, one.short) for one in lint]
    assert lint.warnings
    made = forms(report)
    for one in lint:
        assert one.short in made["text"]
        assert one.sentence("short", "markdown") in made["markdown"]
        for name in ("html", "notebook"):
            assert one.sentence("short", "html") in made[name]
            assert one.sentence("effect", "html") in made[name]


def test_the_overview_comes_first_with_a_line_for_each_finding(report):
    page = report.to_html()
    tabs = re.findall(r"</span>([^<]*)</label>", page)
    assert tabs[:2] == ["Overview", f"Findings ({len(report.findings)})"]
    overview = page.split("</section>")[0]
    numbers, lines = overview.index("<table"), overview.index("</table>")
    for one in report.findings:
        short = one.sentence("short", "html")
        assert overview.count(short) == 1
        assert numbers < lines < overview.index(short)
        assert one.sentence("effect", "html") not in overview
        assert one.sentence("effect", "html") in page
    lines = repr(report).splitlines()
    shown = [at for at, line in enumerate(lines) if line.startswith(("warning: ", "note: "))]
    assert [lines[at] for at in shown] == report.findings.lines()
    metrics = [at for at, line in enumerate(lines) if line.startswith(("ndcg ", "recall "))]
    assert max(metrics) < min(shown)


def test_nothing_odd_is_said_and_the_overview_comes_first():
    report = CLEAN.evaluate().report(k=10, metrics=["ndcg"])
    assert not report.findings
    tabs = re.findall(r"</span>([^<]*)</label>", report.to_html())
    assert tabs[0] == "Overview"
    assert tabs[-1] == "No findings"
    for form in forms(report).values():
        assert "no findings in" in form


def test_findings_are_told_by_the_lead_metric_and_its_options(evaluation):
    # Lists have 20 items: of 50, the options tell.
    report = evaluation.report(k=[50], metrics={"precision": {"out_of": "list"}, "ndcg": {}})
    assert report.findings.label == "Precision@50"
    assert report.findings.value == pytest.approx(report.lead.mean[0])


def test_segments_are_those_of_the_table(evaluation, report):
    table = evaluation.table(["ndcg", "recall"], k=10, by="activity")
    frame = report.segments.to_frame().set_index(["metric", "k", "segment"])
    for column in ("n_users", "mean", "low", "high", "gap", "gap_low", "gap_high", "p", "p_holm"):
        assert frame[column].to_numpy() == pytest.approx(table[column].to_numpy(), nan_ok=True), column
    assert report.segments.by == "activity"
    for form in forms(report).values():
        for one in report.segments.of("ndcg"):
            assert f"{one.mean:.4f}" in form
            assert one.segment in form
    assert report.to_latex().count(r"\begin{tabular}") == 2
    assert "Segments</label>" not in evaluation.report(k=5, metrics=["ndcg"]).to_html()


def test_confidence_holds_for_segments(evaluation):
    wide = evaluation.report(k=5, metrics=["ndcg"], by="activity", confidence=0.999).segments
    usual = evaluation.report(k=5, metrics=["ndcg"], by="activity").segments
    for one, other in zip(wide.rows, usual.rows, strict=True):
        assert one.low < other.low < other.high < one.high
        assert one.gap_low < other.gap_low
    with pytest.raises(OptionError, match="bins"):
        evaluation.report(k=5, by="activity", bins=1)
    with pytest.raises(OptionError, match="activity"):
        evaluation.report(k=5, by="activty")


def test_a_segment_that_stands_out_is_marked():
    rng = np.random.default_rng(3)
    rows = [(user, rank, rank) for user in range(200) for rank in range(1, 6)]
    recs = pd.DataFrame(rows, columns=["user", "item", "rank"])
    truth = pd.DataFrame(
        {"user": range(200), "item": [1 + user % 2 if user < 100 else int(rng.integers(3, 9)) for user in range(200)]}
    )
    kind = pd.Series(["good" if user < 100 else "bad" for user in range(200)], name="kind")
    report = recs.rec.against(truth).report(k=5, metrics=["ndcg"], by=kind)
    for form in forms(report).values():
        assert "▲ above" in form
        assert "▼ below" in form
    assert report.to_latex().count(r"$^{\ast}$") == 2


def test_beyond_accuracy_stands_beside_it(evaluation, report):
    told = {one.metric: one for one in report.beyond}
    for name in ("coverage", "novelty", "gini", "diversity", "serendipity"):
        score = getattr(evaluation, name)(k=10)
        value, low, high = told[name].values[1]
        assert value == pytest.approx(float(score))
        if name in ("novelty", "diversity", "serendipity"):
            assert (low, high) == pytest.approx(score.interval()[:2])
        else:
            assert np.isnan(low)
        for form in [*forms(report).values(), report.to_latex()]:
            assert f"{value:.4f}" in form
    frame = report.to_frame()
    assert frame.set_index(["metric", "k"]).loc[("coverage", 10), "mean"] == pytest.approx(
        told["coverage"].values[1][0]
    )
    assert frame["n_users"].dtype.kind == "i"


def test_means_with_and_without_an_interval_stand_under_each_other(report):
    overview = report._repr_html_().split("Beyond accuracy</i>")[1].split("</table>")[0]
    means = re.findall(r"<b [^>]*>[\d.]+</b>(.*?)</td>", overview)
    assert len(means) > 20
    assert {"–" in after for after in means} == {True, False}
    assert all("display: inline-block; min-width: 12.5ch;" in after for after in means)


def test_beyond_accuracy_is_named_or_comes_with_the_frames(sample, evaluation):
    bare = sample.models["item-knn"].rec.against(sample.test)
    assert bare.report(k=5).beyond == ()
    named = evaluation.report(k=5, metrics=["coverage", "ndcg"])
    assert [one.metric for one in named.beyond] == ["coverage"]
    assert [one.metric for one in named.metrics] == ["ndcg"]
    (lacking,) = bare.report(k=5, metrics=["ndcg", "novelty"]).beyond
    assert "train=" in lacking.needs
    assert lacking.values == ()
    for form in (bare.report(k=5, metrics=["ndcg", "novelty"]).to_html(),):
        assert "train=" in form
    with pytest.raises(OptionError, match="a metric of accuracy"):
        evaluation.report(k=5, metrics=["coverage"])
    with pytest.raises(OptionError, match="has an option"):
        evaluation.report(k=5, metrics=["ndcg", "coverage"], featurez="genre")


def test_options_reach_both_kinds(evaluation):
    report = evaluation.report(k=5, metrics=["ndcg", "tail_share"], gain="exponential", ratio=0.5)
    assert report.lead.mean[0] == pytest.approx(float(evaluation.ndcg(k=5, gain="exponential")))
    assert report.beyond[0].values[0][0] == pytest.approx(float(evaluation.tail_share(k=5, ratio=0.5)))


def test_dictionary_is_whole(report):
    told = json.loads(report.to_json())
    assert {one["name"] for one in told["findings"]["found"]} == set(report.findings.names)
    assert told["segments"]["rows"][0].keys() >= {"segment", "mean", "gap", "p_holm", "small"}
    assert [one["metric"] for one in told["beyond"]] == [one.metric for one in report.beyond]
    assert told["beyond"][0]["values"][0].keys() == {"k", "value", "low", "high"}


def test_korean(evaluation):
    report = evaluation.report(k=5, metrics=["ndcg"], by="activity", lang="ko")
    page = report.to_html()
    tabs = re.findall(r"</span>([^<]*)</label>", page)
    assert tabs == [
        "요약",
        f"눈에 띄는 점 ({len(report.findings)})",
        "곡선과 분포",
        "집단",
        "정확도 이외의 지표",
        "사용자",
        "읽는 법",
    ]
    assert "활동" not in report.segments.by
    assert '<html lang="ko">' in page


def test_ranges_are_those_of_the_metrics():
    with use_language("ko"):
        for metric in LIST_METRICS.values():
            assert "to" not in _(metric.range_text).split()


def test_names_of_segments_are_made_safe(sample):
    ev = sample.models["popular"].rec.against(sample.test)
    by = pd.Series({user: EVIL if at % 2 else "plain" for at, user in enumerate(ev.users)}, name=EVIL)
    report = ev.report(k=5, metrics=["ndcg"], by=by)
    for page in (report.to_html(), report._repr_html_()):
        assert "<img src=x" not in page
        assert "http://" not in page
    for line in report.to_markdown().splitlines():
        if line.startswith("|"):
            assert "<img" not in line
            assert "://" not in line
    assert r"\$a\_b\$" in report.to_latex()


def test_gap_is_drawn_about_its_middle():
    drawn = svg.gap(0.0, float("nan"), float("nan"), 1.0)
    assert f'cx="{svg.STRIP / 2:.1f}"' in drawn
    right, left = (float(re.search(r'cx="([\d.]+)"', svg.gap(one, -1, 1, 1.0))[1]) for one in (1.0, -1.0))
    assert right - svg.STRIP / 2 == svg.STRIP / 2 - left > 50
    assert float(re.search(r'cx="([\d.]+)"', svg.gap(50.0, -1, 1, 1.0))[1]) <= svg.STRIP


def test_size_does_not_grow_with_users():
    def page(n):
        user, rank = np.repeat(np.arange(n), 10), np.tile(np.arange(1, 11), n)
        recs = pl.DataFrame({"user": user, "item": (user * 7 + rank * 13) % 3000, "rank": rank})
        truth = recs.filter(pl.Series(rank == user % 10 + 1)).select("user", "item")
        train = pl.DataFrame({"user": user, "item": (user * 5 + rank) % 3000})
        return recnb.evaluate(recs, truth, train=train).report(by="activity").to_html()

    few, many = len(page(300)), len(page(6_000))
    assert many < 1.15 * few
    assert many < 200_000


def test_comparison_tells_findings_once_and_whose(sample):
    compared = recnb.compare(sample.models, sample.test, train=sample.train, baseline="popular")
    report = compared.report(k=[5, 10], metrics=["ndcg"], movers=0)
    found = {one.finding.name: one for one in report.data.findings}
    assert found["ratings"].models == tuple(compared.names)
    names = [one.finding.severity for one in report.data.findings]
    assert names == sorted(names, key=lambda one: one != "warning")
    for model, one in compared.models.items():
        told = {each.finding.short for each in report.data.findings if model in each.models}
        assert told == {finding.short for finding in one.lint(10)}
    for form in (report.to_html(), repr(report), report.to_markdown()):
        assert "all models" in form
    tabs = re.findall(r"</span>([^<]*)</label>", report.to_html())
    assert tabs[:2] == ["Overview", f"Findings ({len(report.data.findings)})"]
    overview = report.to_html().split("</section>")[0]
    assert all(each.finding.sentence("short", "html") in overview for each in report.data.findings)
    assert repr(report).index("nDCG@5") < repr(report).index("! ")
    told = json.loads(report.to_json())
    assert told["findings"][0].keys() == {
        "models",
        "name",
        "severity",
        "n",
        "of",
        "short",
        "effects",
        "example",
        "advice",
        "code",
    }


def test_comparison_by_segment(sample):
    compared = recnb.compare(sample.models, sample.test, train=sample.train, baseline="popular")
    report = compared.report(k=10, metrics=["ndcg"], movers=0, by="activity")
    frame = compared.differences("ndcg", k=10, by="activity")
    rows = report.data.segments.rows
    assert [one.difference for _ignored, one in rows] == frame["difference"].tolist()
    assert [one.p_holm for _ignored, one in rows] == frame["p_holm"].tolist()
    assert [name for name, _ignored in rows] == frame["activity"].tolist()
    for form in (report.to_html(), repr(report), report.to_markdown()):
        for name, one in rows:
            assert name in form
            assert f"{one.difference:+.4f}" in form
    assert json.loads(report.to_json())["segments"]["rows"][0]["segment"] == rows[0][0]


def test_comparison_takes_confidence_and_metrics_beyond_accuracy(sample):
    compared = recnb.compare(sample.models, sample.test, train=sample.train, items=sample.items)
    report = compared.report(k=5, metrics=["ndcg", "coverage"], movers=0, confidence=0.9)
    assert report.data.settings.confidence == 0.9
    assert [one.metric for one in report.data.beyond] == ["coverage"]
    assert compared.settings.confidence == 0.95
    bare = recnb.compare(sample.models, sample.test)
    with pytest.raises(OptionError, match="train="):
        bare.report(k=5, metrics=["ndcg", "novelty"])


def test_items_are_shown_by_their_titles(sample, evaluation):
    report = evaluation.report(k=5, metrics=["ndcg"])
    titles = sample.items.set_index("item")["title"]
    for user in (*report.best, *report.worst):
        for item in (*user.places, *user.missed):
            assert item.title == titles[item.item]
    first = report.best[0].places[0]
    assert f"{first.title} ({first.item})" in repr(report)
    assert f"**✓ {first.title} ({first.item})**" in report.to_markdown()
    assert re.search(rf"<bdi>{first.title}</bdi> <span [^>]*><bdi>{first.item}</bdi></span>", report.to_html())
    assert json.loads(report.to_json())["best"][0]["places"][0]["title"] == first.title


def test_titles_are_made_safe(sample):
    items = sample.items.assign(title=EVIL)
    report = recnb.evaluate(sample.models["popular"], sample.test, items=items).report(k=5, metrics=["ndcg"])
    for page in (report.to_html(), report._repr_html_(), report.to_markdown()):
        assert "<img src=x" not in page
        assert "http://" not in page


class ListLengths(Section):
    """A section with numbers of its own, shown by its table."""

    name, title = "list_lengths", "List lengths"

    @staticmethod
    def compute(models, request):
        return {name: float(model.hits(request.lead_k).list_length.mean()) for name, model in models.items()}

    def table(self, safe):
        return Cells(["model", "mean length"], [[safe(name), f"{mean:.3f}"] for name, mean in self.numbers.items()])

    def latex(self):
        return [self.table(latex_text).latex(self.heading(latex_text))]


def test_two_sections_of_one_name_are_refused():
    with pytest.raises(TypeError, match=r"Two sections have one name: \['list_lengths', 'list_lengths'\]"):
        computed_by((ListLengths, ListLengths), {}, None)


@pytest.mark.parametrize("folder", ["report", "comparison"])
def test_a_section_is_a_class_and_a_line_in_the_list(sample, monkeypatch, folder):
    for module in ("report", "build"):
        name = f"recnb.{folder}.{module}.SECTIONS"
        sections = importlib.import_module(f"recnb.{folder}.sections").SECTIONS
        monkeypatch.setattr(name, (*sections[:-1], ListLengths, sections[-1]))
    models = {EVIL: sample.models["popular"], "other": sample.models["factors"]}
    if folder == "report":
        report, names = models[EVIL].rec.against(sample.test).report(k=5, metrics=["ndcg"]), [""]
    else:
        report, names = recnb.compare(models, sample.test).report(k=5, metrics=["ndcg"], movers=0), list(models)
    for form in [*forms(report).values(), report.to_latex()]:
        assert "List lengths" in form
        assert form.count("19.847") == len(names)
        assert form == repr(report) or EVIL not in form
    assert list(json.loads(report.to_json())["list_lengths"]) == names


def test_the_number_of_tests_is_that_of_the_correction() -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["item-knn"], sample.test)
    halves = pd.Series({user: at % 2 for at, user in enumerate(ev.users)})
    report = ev.report(k=5, metrics=["ndcg", "recall"], by=halves)
    assert "over 2 tests" in report.segments.basis  # of two segments each is the rest of the other: one test a metric
    thirds = pd.Series({user: at % 3 for at, user in enumerate(ev.users)})
    assert "over 6 tests" in ev.report(k=5, metrics=["ndcg", "recall"], by=thirds).segments.basis
