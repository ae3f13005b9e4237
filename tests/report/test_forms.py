"""The forms of a report: complete, the same each time, and proof against whatever
stands in a user's frame.
"""

import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.display import svg
from recnb.display.forms import HTML, with_code
from recnb.display.language import width
from recnb.errors import UnknownNameError
from recnb.metrics import Credit
from recnb.metrics.metric import METRICS
from tests.display.test_escaping import COLUMN, EVIL, Page, comparison, evaluation
from tests.lint_planted import CLEAN
from tests.sample import SAMPLE
from tests.stats.samples import paired

LONGEST = 200_000
SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)


def one():
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
    return ev.report(k=[5, 10], by="activity")


REPORTS = {
    "one": one(),
    "several": FOUND.report(k=[5, 10], by="activity"),
    "Korean": FOUND.report(k=[5, 10], by="activity", lang="ko"),
    "hostile": evaluation().report(k=[3, 5, 12], by=COLUMN),
    "hostile models": comparison().report(k=[3, 12], by=COLUMN, movers=5),
}


@pytest.fixture(params=REPORTS)
def report(request):
    return REPORTS[request.param]


def forms(report):
    return [
        report.to_html(),
        report._repr_html_(),
        repr(report),
        report.to_markdown(),
    ]


def tabs(report):
    return re.findall(r"</span>([^<]*)</label>", report.to_html())


def attributes(page, tag):
    return [attributes for name, attributes in page.seen if name == tag]


def test_calling_twice_gives_the_same_and_the_order_of_rows_changes_nothing():
    again = one()
    assert [*forms(again), again.to_json()] == [
        *forms(REPORTS["one"]),
        REPORTS["one"].to_json(),
    ]
    frames = SAMPLE.models["item-knn"], SAMPLE.test
    report = frames[0].rec.against(frames[1]).report(k=[5, 10, 20])
    recs, truth = (
        pl.from_pandas(frame.sample(frac=1, random_state=1)) for frame in frames
    )
    # Which of several misses come first is the truth's own order, and so is the example
    # of a finding.
    own = r"missed:.*?</div>|For example,.*?</div>|recnb-\w{12}"
    shuffled = recs.rec.against(truth).report(k=[5, 10, 20])
    assert re.sub(own, "", shuffled.to_html()) == re.sub(own, "", report.to_html())


@pytest.mark.parametrize("form", ["to_html", "to_json", "to_markdown"])
def test_a_form_is_returned_or_written(report, tmp_path, form):
    write = getattr(report, form)
    assert write(tmp_path / "file") is None
    assert write() == (tmp_path / "file").read_bytes().decode("utf-8")


def test_a_document_stands_by_itself(report):
    """It runs nothing and fetches nothing; its headings go down a level at a time; a
    title is the user's as well.
    """
    title = "</title><script>alert('http://x')</script>"
    text = report.to_html(title=title)
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert attributes(page, "html") == [{"lang": report._data.lang}]
    policy = next(
        meta["content"] for meta in attributes(page, "meta") if "http-equiv" in meta
    )
    assert (
        policy
        == "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
    )
    assert {"name": "color-scheme", "content": "light dark"} in attributes(page, "meta")
    levels = [
        int(tag[1]) for tag, _attributes in page.seen if re.fullmatch(r"h\d", tag)
    ]
    assert levels[0] == 1
    assert all(1 < below <= above + 1 for above, below in pairwise(levels))
    assert not re.search(r"https?://|url\(", text)
    assert page.text.count(title) == 2
    assert f"{report._data.basis}." in page.text
    assert len(text.encode()) < (2 if EVIL[0] in report._data.models else 1) * LONGEST


def test_names_are_shown_as_text():
    page = "".join(Page(REPORTS["hostile"].to_html()).text)
    for name in (*EVIL[:5], EVIL[8], "two lines", "&lt;b&gt;"):
        assert name in page


def test_pictures_are_valid_and_say_their_numbers(report):
    pictures = attributes(Page(report.to_html()), "img")
    assert len(pictures) > 1
    for picture in pictures:
        drawn = ET.fromstring(b64decode(picture["src"].split(",", 1)[1]))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert not re.search(r"\bnan\b|\binf\b", ET.tostring(drawn, encoding="unicode"))
        assert re.search(r"\d", picture["alt"])


def test_bars_are_drawn_of_what_has_a_height():
    picture = svg.bars(
        edges=[0.0, 0.5, 1.0],
        shares=[0.0, 1.0],
        at_lowest=0.0,
        quartiles=[0.6, 0.7, 0.8],
        labels=["0 users", "4 users"],
        xlabel="value",
        ylabel="users",
    )
    heights = re.findall(r'<rect [^>]*height="([\d.]+)"', picture)
    assert len(heights) == 1
    assert float(heights[0]) > 0


@given(st.floats(1e-6, 1e6), st.integers(3, 10))
def test_steps_of_an_axis_are_the_smallest_round_ones_that_are_few_enough(top, most):
    round_numbers = [
        factor * 10.0**power for power in range(-8, 8) for factor in (1, 2, 2.5, 5)
    ]
    few_enough = [step for step in round_numbers if top / step <= most * (1 + 1e-9)]
    drawn = svg.ticks(top, most)
    expected = np.arange(len(drawn)) * min(few_enough)
    assert drawn == pytest.approx(expected.tolist())
    assert top - min(few_enough) * (1 + 1e-9) < drawn[-1] <= top * (1 + 1e-9)


def test_labels_of_an_axis_have_room_and_the_last_is_kept():
    def shown(places, gap):
        return svg._with_room(places, lambda place: 10.0 * place, gap)

    assert shown([1, 2, 3], 10) == [1, 2, 3]
    assert shown([1, 2, 3], 11) == [1, 3]


def test_names_of_curves_stand_apart():
    drawn = svg.curves(
        [(name, [(k, 0.5, 0.4, 0.6) for k in (1, 2)]) for name in "abc"], "k", "mean"
    )
    heights = sorted(
        float(y)
        for y in re.findall(r'y="([\d.]+)" text-anchor="start"[^>]*>[abc]<', drawn)
    )
    assert len(heights) == 3
    assert min(np.diff(heights)) >= 14


def test_tables_and_hits_are_told_without_colour(report):
    text = report.to_html()
    page = Page(text)
    assert len(attributes(page, "table")) > 6
    assert all(cell.get("scope") in ("col", "row") for cell in attributes(page, "th"))
    assert all(
        one.get("aria-label")
        for one in attributes(page, "div")
        if one.get("role") == "region"
    )
    shown = [user for group in report.users for user in group.users]
    hits = sum(
        bool(item.relevance) for user in shown for items in user.lists for item in items
    )
    assert text.count("✓</span> ") == hits > 0
    assert len(re.findall(r"<small>(hit|적중), ", text)) == hits
    assert all(metric.formula in page.text for metric in report._data.metrics)


def test_tables_of_markdown_are_whole(report):
    for table in re.findall(r"(?:^\|.*\n)+", report.to_markdown() + "\n", re.M):
        assert (
            len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()})
            == 1
        )
        assert all(line.endswith(" |") for line in table.splitlines())


def test_the_console_has_at_most_60_lines_of_100_columns(report):
    lines = repr(report).splitlines()
    assert len(lines) <= 60
    assert max(map(width, lines)) <= 100


@pytest.mark.parametrize(
    ("n_models", "name"), [(4, "model"), (12, "a model with a long name, " * 3)]
)
def test_the_console_has_at_most_60_lines_of_many_models_too(n_models, name):
    recs = list(SAMPLE.models.values())
    models = {f"{name}{at}": recs[at % 3] for at in range(n_models)}
    activity = SAMPLE.train.groupby("user").size().rename("activity")
    found = recnb.compare(models, SAMPLE.test, **SIDE_DATA).report(
        by=pd.qcut(activity, 8), movers=0
    )
    test_the_console_has_at_most_60_lines_of_100_columns(found)


def test_many_cutoffs_and_models_fit_every_form():
    ev = (
        SAMPLE.models["item-knn"]
        .rec.against(SAMPLE.test)
        .report(k=range(1, 101), metrics=["ndcg", "recall"])
    )
    models = {
        f"{'long ' * 7}{name} {at}": recs
        for at in (1, 2, 3)
        for name, recs in SAMPLE.models.items()
    }
    pairs = recnb.compare(models, SAMPLE.test, pairs="all").report(k=[5, 10])
    for report in (ev, pairs):
        test_the_console_has_at_most_60_lines_of_100_columns(report)
        assert len(report.to_html()) < 3 * LONGEST
    assert len(ev.to_frame()) == 200
    assert "Of 36 pairs, " in pairs.to_html()
    assert "Tests of nDCG alone; those of all" in pairs.to_html()
    assert len({(group.model, group.baseline) for group in pairs.users}) == 3
    assert "▲ better, ▼ worse than" not in pairs.to_html()


def test_many_users_stay_small():
    def page(n):
        user, rank = np.repeat(np.arange(n), 10), np.tile(np.arange(1, 11), n)
        name = pl.lit("<&é" * 30) + pl.col("item").cast(pl.String)
        recs = pl.DataFrame(
            {"user": user, "item": (user * 7 + rank * 13) % 3000, "rank": rank}
        ).with_columns(item=name)
        truth = recs.filter(pl.Series(rank == user % 10 + 1)).select("user", "item")
        train = recs.select("user", "item").with_columns(
            pl.col("item").shift(5).fill_null("x")
        )
        report = recnb.evaluate(recs, truth, train=train.unique()).report(by="activity")
        return len(report.to_html().encode()), len(report.to_markdown())

    (few, _text), (many, text) = page(300), page(6_000)
    assert many < 1.15 * few
    assert many < LONGEST
    assert text < 60_000


def test_a_report_shows_ten_names_and_says_what_to_type_for_others():
    report = REPORTS["several"]
    assert [name for name in dir(report) if name[0] != "_"] == [
        "differences",
        "findings",
        "means",
        "n_users",
        "to_dict",
        "to_frame",
        "to_html",
        "to_json",
        "to_markdown",
        "users",
    ]
    with pytest.raises(UnknownNameError, match=r"found\.table\(.*\)\.to_latex\(\)"):
        report.to_latex()


def test_findings_of_a_check_in_many_models_are_one_line_with_their_range():
    models = {
        f"m{at}": recs.sample(frac=1 - at / 20, random_state=1)
        for at, recs in enumerate([SAMPLE.models["popular"]] * 6)
    }
    report = recnb.compare(models, SAMPLE.test).report(k=10, metrics=["ndcg"])
    gaps = [found for _m, (found, *_o) in report.findings if found.name == "rank_gaps"]
    counts = [found.n for found in gaps]
    assert len(gaps) > 2
    of_model = {
        found.n: model
        for models, (found, *_o) in report.findings
        for model in models
        if found.name == "rank_gaps"
    }
    low, high = min(counts), max(counts)
    ends = f"from {low:,} in {of_model[low]} to {high:,} in {of_model[high]}"
    words = f"in {len(gaps)} of 6 models, {ends}"
    text = " ".join(repr(report).split())
    assert text.count(words) == text.count("Lists whose ranks leave places empty") == 1
    assert text.startswith("Comparison of m0, m1, m2, m3, and 2 more ")
    overview = report.to_html().split("</ul>")[0]
    assert overview.count("<li") <= 4


def test_a_mark_is_a_row_of_differences():
    """No difference is tested of two users: none is called near the best."""
    lists = {"A": ["a", "b"], "B": ["x", "x2"], "C": ["x", "b"]}
    models = {
        name: {"u": [first], "v": [second]} for name, (first, second) in lists.items()
    }
    report = recnb.compare(models, {"u": ["a"], "v": ["b"]}).report(k=1)
    assert {row.verdict for row in report.differences} == {"untested"}
    assert "°" not in repr(report)
    no_test = "– no test: too few users or differences."
    assert no_test in report.to_markdown()
    every_pair = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all").report(k=10)
    assert "*0.2635*" in repr(every_pair)
    assert "0.2589°" in repr(every_pair)
    assert "0.1725°" not in repr(every_pair)
    assert no_test not in every_pair.to_markdown()


def test_one_user_has_no_interval_and_says_so():
    recs = pd.DataFrame({"user": ["<b>"], "item": ["a"], "rank": [1]})
    report = recs.rec.against(recs.drop(columns="rank")).report(k=1)
    assert not any(re.search(r"\bnan\b", form) for form in forms(report))
    assert all(
        "one user is no sample" in form
        for form in (repr(report), report.to_html(), report.to_markdown())
    )
    assert [group.kind for group in report.users] == ["only"]


@pytest.mark.parametrize(("n_hits", "says"), [(9, True), (10, False)])
def test_few_hits_have_no_interval_in_a_metric_without_an_upper_bound(n_hits, says):
    items = ["a"] * n_hits + ["b"] * (30 - n_hits)
    recs = pd.DataFrame({"user": range(30), "item": items, "rank": 1})
    ev = recnb.evaluate(recs, recs.assign(item="a").drop(columns="rank"))
    words = " ".join(ev.report(1, ["ndcg", "dcg"]).to_markdown().split())
    assert ("without an upper bound" in words) == says


def test_where_one_user_has_most_of_the_weight_a_report_says_so():
    users = pd.DataFrame({"user": [*"abc"], "weight": [100.0, 1, 1]})
    lists, truth = {user: ["x"] for user in "abc"}, {"a": ["x"], "b": ["y"], "c": ["x"]}
    ev = recnb.evaluate(lists, truth, users=users, user_weight="weight")
    words = " ".join(ev.report(1, ["recall", "dcg"]).to_markdown().split())
    assert "By their weights the 3 users count as fewer than 2" in words
    assert "without an upper bound" not in words


def test_of_clusters_too_few_are_values_of_the_column():
    users = pd.DataFrame({"user": range(30), "team": [*"ab"] * 15})
    recs = pd.DataFrame({"user": range(30), "item": "a", "rank": 1})
    truth = recs.drop(columns="rank")
    ev = recnb.evaluate(recs, truth, users=users, cluster="team")
    words = " ".join(ev.report(1, ["ndcg", "dcg"]).to_markdown().split())
    assert "fewer than 10 values of team have a value above 0" in words


def test_a_comparison_has_the_interval_of_the_test_and_names_it():
    found = recnb.compare(SAMPLE.models, SAMPLE.test)
    (row, _other) = found.differences("ndcg", k=10).itertuples()
    want = paired(
        (
            found["factors"].ndcg(k=10).per_user - found["item-knn"].ndcg(k=10).per_user
        ).to_numpy()
    )
    made = (row.difference, row.low, row.high, row.p)
    assert made == pytest.approx(np.array(want[:4])[:, 0])
    assert (
        "Student's t over the users"
        in found.report(k=10, metrics=["ndcg"]).to_markdown()
    )


@pytest.mark.parametrize("name", ["one", "several"])
def test_the_overview_has_a_line_for_each_finding_and_its_effect_stands_in_the_next_tab(
    name,
):
    report = REPORTS[name]
    overview, findings = report.to_html().split("</section>")[:2]
    assert tabs(report)[:2] == ["Overview", f"Findings ({len(report.findings)})"]
    for _models, (found, *_others) in report.findings:
        short, effect = (
            str(HTML.write(with_code(words))) for words in (found.short, found.effect)
        )
        assert (short in overview, effect in overview, effect in findings) == (
            True,
            False,
            True,
        )


@pytest.mark.parametrize("several", [False, True])
def test_nothing_found_is_said_in_the_overview(several):
    models = (
        recnb.compare({name: CLEAN.evaluate() for name in ("first", "second")})
        if several
        else CLEAN.evaluate()
    )
    report = models.report(k=[5, 10])
    assert not any("indings" in tab for tab in tabs(report))
    n_checks = min(lint.n_checks for lint in report._data.lints.values())
    said = f"Lint: no findings in {n_checks} checks"
    assert all(
        said in form for form in (repr(report), report.to_markdown(), report.to_html())
    )


def test_sections_without_numbers_are_not_shown():
    report = (
        SAMPLE.models["popular"].rec.against(SAMPLE.test).report(k=5, metrics=["ndcg"])
    )
    findings = f"Findings ({len(report.findings)})"
    assert tabs(report) == [
        "Overview",
        findings,
        "Users",
        "Curve and distribution",
        "How to read",
    ]


@pytest.mark.parametrize("name", ["one", "several", "Korean"])
def test_what_is_bold_in_markdown_is_in_nothing_bold(name):
    report = REPORTS[name]
    page = re.sub(r"``.*?``", "", report.to_markdown()).replace(r"\*", "")
    for line in page.splitlines():
        parts = line.split("**")
        assert len(parts) % 2, line
        for bold in parts[1::2]:
            assert bold == bold.strip() != "", line


def test_headings_name_the_cutoff_that_they_depend_on():
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
    every_pair = recnb.compare(SAMPLE.models, SAMPLE.test, **SIDE_DATA)
    for data in (ev, FOUND, every_pair):
        page = data.report(k=[3, 7, 12], by="activity").to_html()
        headings = re.findall(r"<h3 style[^>]*>(.*?)</h3>", page)
        assert len(headings) >= 3
        for heading in headings:
            assert re.search(r"@7|k = 7|against k", heading), heading
        captions = re.findall(r"<caption[^>]*>(.*?)</caption>", page)
        # The columns of means name their cut-offs; a user stands below a heading.
        tables = [
            words for words in captions if not re.match("<b>|Means over|Beyond", words)
        ]
        assert len(tables) >= 1
        for caption in tables:
            assert re.search(r"@7|k = (3|7|12)\b", caption), caption


def test_a_scale_that_is_not_from_0_to_1_is_said():
    bare = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)

    @recnb.metric(symbol="Stars", credit="5 * (rank <= 1)", bounds=(0, 5))
    def stars(hits, k=None):
        """Stars of the first item."""
        return Credit(hits, k, 5.0 * (hits.rank <= 1))

    try:
        page = bare.report(10, ["ndcg", "stars"]).to_html()
    finally:
        del METRICS["stars"]
    assert "@10, 0 to the upper bound" in page
    assert "@10, 0 to 1" in bare.report(10, ["ndcg", "dcg"]).to_html()
