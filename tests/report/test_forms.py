"""The forms of a report: complete, and proof against whatever stands in a user's frame."""

import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from functools import cache
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
from tests.display.test_escaping import COLUMN, EVIL, Page, comparison, evaluation
from tests.report.models import EV, FOUND, SIDE_DATA
from tests.sample import SAMPLE

LONGEST = 200_000
REPORTS = {
    "one": lambda: EV.report(k=[5, 10], by="activity"),
    "several": lambda: FOUND.report(k=[5, 10], by="activity"),
    "Korean": lambda: FOUND.report(k=[5, 10], by="activity", lang="ko"),
    "hostile": lambda: evaluation().report(k=[3, 5, 12], by=COLUMN),
    "hostile models": lambda: comparison().report(k=[3, 12], by=COLUMN, movers=5),
}


@cache
def report_of(name):
    return REPORTS[name]()


@pytest.fixture(params=REPORTS)
def report(request):
    return report_of(request.param)


def tabs(report):
    return re.findall(r"</span>([^<]*)</label>", report.to_html())


def attributes(page, tag):
    return [attributes for name, attributes in page.seen if name == tag]


def test_the_order_of_rows_changes_nothing():
    frames = SAMPLE.models["item-knn"], SAMPLE.test
    shuffled = (frame.sample(frac=1, random_state=1) for frame in frames)
    # Which of several misses come first is the truth's own order, and so is the example
    # of a finding.
    own = r"missed:.*?</div>|For example,.*?</div>|recnb-\w{12}"
    pages = set()
    for recs, truth in (frames, map(pl.from_pandas, shuffled)):
        page = recs.rec.against(truth).report(k=[5, 10]).to_html()
        pages.add(re.sub(own, "", page))
    assert len(pages) == 1


@pytest.mark.parametrize("form", ["to_html", "to_json", "to_markdown"])
def test_a_form_is_returned_or_written(tmp_path, form):
    write = getattr(report_of("hostile"), form)
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
    assert (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
        in [meta["content"] for meta in attributes(page, "meta") if "content" in meta]
    )
    levels = [int(tag[1]) for tag, _seen in page.seen if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(1 < below <= above + 1 for above, below in pairwise(levels))
    assert not re.search(r"https?://|url\(", text)
    assert page.text.count(title) == 2
    # There is no notebook in which these would be known.
    assert not re.search(r"\b(?:ev|found|report)\.|\.lint\(", "".join(page.text))
    assert f"{report._data.basis}." in page.text
    assert len(text.encode()) < (2 if EVIL[0] in report._data.models else 1) * LONGEST


def test_pictures_are_valid_and_say_their_numbers(report):
    pictures = attributes(Page(report.to_html()), "img")
    assert len(pictures) > 1
    for picture in pictures:
        drawn = ET.fromstring(b64decode(picture["src"].split(",", 1)[1]))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert not re.search(r"\bnan\b|\binf\b", ET.tostring(drawn, encoding="unicode"))
        assert re.search(r"\d", picture["alt"])


@given(st.floats(0, 1e6), st.floats(1e-6, 1e6), st.integers(3, 10))
def test_steps_of_an_axis_are_the_smallest_round_ones_that_are_few(below, above, most):
    reach = max(below, above)
    few = [
        factor * 10.0**power
        for power in range(-8, 8)
        for factor in (1, 2, 2.5, 5)
        if reach / (factor * 10.0**power) <= most * (1 + 1e-9)
    ]
    drawn = svg.steps(-below, above, most)
    assert 0 in drawn
    assert np.diff(drawn) == pytest.approx(min(few))
    for last, end in ((drawn[-1], above), (-drawn[0], below)):
        assert end - min(few) * (1 + 1e-9) < last <= end * (1 + 1e-9) + 1e-9


def test_tables_and_hits_are_told_without_colour(report):
    text = report.to_html()
    page = Page(text)
    assert len(attributes(page, "table")) > 6
    assert all(cell.get("scope") in ("col", "row") for cell in attributes(page, "th"))
    regions = [one for one in attributes(page, "div") if one.get("role") == "region"]
    assert all(one.get("aria-label") for one in regions)
    shown = [user for group in report.users for user in group.users]
    items = [item for user in shown for listed in user.lists for item in listed]
    hits = sum(bool(item.relevance) for item in items)
    assert text.count("✓</span> ") == hits > 0
    assert len(re.findall(r"<small>(hit|적중), ", text)) == hits
    assert all(metric.formula in page.text for metric in report._data.metrics)


def test_tables_of_markdown_are_whole(report):
    for table in re.findall(r"(?:^\|.*\n)+", report.to_markdown() + "\n", re.M):
        lines = table.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
        assert all(line.endswith(" |") for line in lines)


def test_the_console_has_at_most_60_lines_of_100_columns(report):
    lines = repr(report).splitlines()
    assert len(lines) <= 60
    assert max(map(width, lines)) <= 100


LONG_NAMES = {
    f"{'a model with a long name, ' * 3}{name} {at}": recs
    for at in range(4)
    for name, recs in SAMPLE.models.items()
}


def test_many_cutoffs_and_models_fit_every_form():
    bare = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)
    cutoffs = bare.report(k=range(1, 101), metrics=["ndcg", "recall"])
    activity = SAMPLE.train.groupby("user").size().rename("activity")
    models = recnb.compare(LONG_NAMES, SAMPLE.test, pairs="all", **SIDE_DATA).report(
        by=pd.qcut(activity, 8)
    )
    for report in (cutoffs, models):
        test_the_console_has_at_most_60_lines_of_100_columns(report)
        assert len(report.to_html()) < 3 * LONGEST
    assert len(cutoffs.to_frame()) == 200
    assert len({(group.model, group.baseline) for group in models.users}) == 3


def test_many_users_stay_small():
    def page(n):
        user, rank = np.repeat(np.arange(n), 10), np.tile(np.arange(1, 11), n)
        name = pl.lit("<&é" * 30) + pl.col("item").cast(pl.String)
        recs = pl.DataFrame(
            {"user": user, "item": (user * 7 + rank * 13) % 3000, "rank": rank}
        ).with_columns(item=name)
        truth = recs.filter(pl.Series(rank == user % 10 + 1)).select("user", "item")
        report = recnb.evaluate(recs, truth).report()
        return len(report.to_html().encode()), len(report.to_markdown())

    (few, _text), (many, text) = page(300), page(6_000)
    assert many < 1.15 * few
    assert many < LONGEST
    assert text < 60_000


def test_a_report_shows_ten_names_and_says_what_to_type_for_others():
    report = report_of("several")
    names = "differences findings means n_users to_dict to_frame to_html to_json"
    shown = " ".join(name for name in dir(report) if name[0] != "_")
    assert shown == f"{names} to_markdown users"
    with pytest.raises(UnknownNameError, match=r"found\.table\(.*\)\.to_latex\(\)"):
        report.to_latex()


@pytest.mark.parametrize("name", ["one", "several"])
def test_the_overview_has_a_line_for_each_finding_and_the_next_tab_its_effect(name):
    report = report_of(name)
    overview, findings = report.to_html().split("</section>")[:2]
    assert tabs(report)[:2] == ["Overview", f"Findings ({len(report.findings)})"]
    for _models, (found, *_others) in report.findings:
        short = str(HTML.write(with_code(found.short)))
        effect = str(HTML.write(with_code(found.effect)))
        assert short in overview
        assert effect not in overview
        assert effect in findings


def test_sections_without_numbers_are_not_shown():
    recs = {user: ["a", "b"] for user in range(12)}
    report = recnb.evaluate(recs, recs).report(k=1)
    assert tabs(report)[-2:] == ["Curve and distribution", "How to read"]
    assert not {"Segments", "Beyond accuracy", "Differences"} & {*tabs(report)}
