"""The forms of a report: complete, the same each time, and proof against whatever stands in a user's frame."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64decode
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.display import svg
from recnb.display.text import latex_text

LONGEST = 300_000
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a|b",
    "50% of $5 & $6_a^b~{c}#\\d",
    "two\nlines\r\nand\ttabs",
    "`code` **bold** [link](http://example.com)",
    "https://example.com/film/1",
    "محمد علي",
    "\u202eturned\u202c",
    "👩‍👩‍👧 중국어",
    "x" * 5000,
    "bell\x07\x00",
]


@pytest.fixture(scope="module")
def sample():
    data = recnb.datasets.load_sample()
    return data.models["item-knn"].rec.against(data.test)


@pytest.fixture(scope="module")
def report(sample):
    return sample.report(k=[5, 10, 20])


@pytest.fixture(scope="module")
def hostile():
    """Every hostile string as a user, as a hit, as a miss and as an item that is neither."""
    recs = pd.DataFrame(
        [(user, item, rank) for user in HOSTILE[:6] for rank, item in enumerate(HOSTILE, 1)]
        + [(user, "plain", 1) for user in HOSTILE[6:]],
        columns=["user", "item", "rank"],
    )
    truth = pd.DataFrame([(user, item) for user in HOSTILE for item in HOSTILE[::2]], columns=["user", "item"])
    evaluation = recs.rec.against(truth)
    return [evaluation.report(k=[3, 12, 15]), recnb.evaluate(recs.iloc[:12], truth.iloc[:6]).report(k=12)]


class Page(HTMLParser):
    """What a browser makes of a page: elements with attributes, balanced, and the text."""

    VOID = {"img", "meta", "br", "hr", "input"}  # noqa: RUF012

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.seen if name == tag]


def test_every_form_holds_the_numbers(report):
    shown = [f"{mean:.4f}" for mean in report.to_frame()["mean"]]
    for form in (report._repr_html_(), report.to_html(), repr(report), report.to_markdown(), report.to_latex()):
        assert all(number in form for number in shown)
        assert f"{report.lead.low[1]:.4f}" in form
        assert "261 users" in form
        assert "39 with no relevant item left out" in form


def test_calling_twice_gives_the_same(sample, report):
    again = sample.report(k=[5, 10, 20])
    assert again.to_html() == report.to_html() == report.to_html()
    assert again.to_json() == report.to_json()
    assert (repr(again), again.to_markdown(), again.to_latex()) == (
        repr(report),
        report.to_markdown(),
        report.to_latex(),
    )


def test_row_order_changes_nothing(report):
    data = recnb.datasets.load_sample()
    recs, truth = (frame.sample(frac=1, random_state=1) for frame in (data.models["item-knn"], data.test))
    shuffled = pl.from_pandas(recs).rec.against(pl.from_pandas(truth)).report(k=[5, 10, 20])
    # Which of several misses come first is the truth's own order, and so is the example of a finding.
    own = r"Missed:.*?</div>|User <bdi>[^<]*</bdi> gave .*?</div>"
    assert re.sub(own, "", shuffled.to_html()) == re.sub(own, "", report.to_html())


@pytest.mark.parametrize("form", ["to_html", "to_json", "to_markdown", "to_latex"])
def test_a_form_is_returned_or_written(report, tmp_path, form):
    write = getattr(report, form)
    assert write(tmp_path / "file") is None
    assert write() == (tmp_path / "file").read_bytes().decode("utf-8")


def test_a_document_has_the_title_given(report, tmp_path):
    report.to_html(str(tmp_path / "r.html"), title="A & <b>")
    assert "<title>A &amp; &lt;b&gt;</title>" in (tmp_path / "r.html").read_text("utf-8")


def test_document_stands_by_itself(report):
    text = report.to_html()
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert page.all("html") == [{"lang": "en"}]
    metas = page.all("meta")
    assert {"charset": "utf-8"} in metas
    assert {"name": "color-scheme", "content": "light dark"} in metas
    policy = next(one["content"] for one in metas if one.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
    assert not {"script", "link", "iframe", "svg", "object"} & {tag for tag, _ in page.seen}
    assert len(page.all("h1")) == 1
    # Headings go down a level at a time: the page, its sections, what is in them.
    levels = [int(tag[1]) for tag, _ in page.seen if re.fullmatch(r"h\d", tag)]
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert set(levels) == {1, 2, 3}


@pytest.mark.parametrize("form", ["_repr_html_", "to_html"])
def test_nothing_is_fetched_or_run(hostile, form):
    for report in hostile:
        text = getattr(report, form)()
        page = Page(text)
        assert "http://" not in text
        assert "https://" not in text
        assert "<script" not in text
        for tag, attributes in page.seen:
            assert tag != "script"
            assert not [name for name in attributes if name.startswith("on") or name in ("href", "srcset")]
            assert attributes.get("src", "data:image/svg+xml;base64,").startswith("data:image/svg+xml;base64,")
            assert "url(" not in (attributes.get("style") or "")
        assert len(text.encode()) < LONGEST


def test_user_strings_are_shown_as_text(hostile):
    text = "".join(Page(hostile[0].to_html()).text)
    for one in (
        *HOSTILE[:2],
        "a|b",
        "50% of $5 & $6_a^b~{c}#\\d",
        "two lines",
        "https://example.com/film/1",
        "محمد علي",
    ):
        assert one in text
    assert "x" * 50 not in text
    assert not re.search("[\u202a-\u202e\x00\x07]", hostile[0].to_html())
    names = [text for text in re.findall(r"<bdi>(.*?)</bdi>", hostile[0].to_html()) if "film" in text]
    assert names


def test_mathematics_is_switched_off_for_user_strings(hostile):
    (root, *_) = Page(hostile[0]._repr_html_()).seen
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(root[1]["class"].split())


def test_title_is_the_users_as_well(report):
    text = report.to_html(title="</title><script>alert('http://x')</script>")
    assert "<script" not in text
    assert "http://" not in text
    assert Page(text).all("title") == [{}]


def test_pictures_are_valid_and_say_their_numbers(report):
    pictures = Page(report.to_html()).all("img")
    assert len(pictures) == 7 + 2
    for one in pictures:
        drawn = ET.fromstring(b64decode(one["src"].split(",", 1)[1]))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert not re.search(r"nan|inf", ET.tostring(drawn, encoding="unicode").replace("-inf", ""))
        assert re.search(r"\d", one["alt"])
    assert "10: 0.2589" in pictures[7]["alt"]
    assert "0 to <0.1: 34%" in pictures[8]["alt"]


def test_hits_are_marked_by_sign_and_word(report):
    text = report.to_html()
    n_hits = sum(1 for one in (*report.best, *report.worst) for place in one.places if place.relevance)
    assert text.count("✓</span> hit, ") == n_hits > 0


def test_tables_are_told_to_screen_readers(report):
    page = Page(report.to_html())
    assert len(page.all("table")) > 6
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    assert all(one.get("aria-label") for one in page.all("div") if one.get("role") == "region")
    assert len(page.all("caption")) == 1 + 5
    for one in report.metrics:
        assert one.reads.split("'")[0] in "".join(page.text)
        assert one.formula in page.text


def test_markdown_escapes(hostile):
    for report in hostile:
        text = report.to_markdown()
        assert "<script" not in text
        assert "<img" not in text
        assert "$5" not in text
        assert not re.search(r"(?<!\\)\]\(", text)
        assert "://" not in text
        for line in text.splitlines():
            if line.startswith("|"):
                # A table has as many cells in each row as in its head, escaped bars not counted.
                assert line.endswith(" |")
                assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 5, 6)
        rows = [line for line in text.splitlines() if line.startswith("|") and "relevant" in line and "found" in line]
        assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in rows)


def test_plain_text_is_one_line_a_user(hostile):
    text = repr(hostile[0])
    assert not re.search("[\u202a-\u202e\x00\x07\r\t]", text)
    assert "two lines and tabs" in text.replace("  ", " ")
    assert max(map(len, text.splitlines())) < 3000


@pytest.mark.parametrize("raw", HOSTILE)
def test_latex_of_any_string(raw):
    text = latex_text(raw, 6000)
    bare = re.sub(r"\\[a-z]+\{\}|\\[&%$#_{}]|\$\\times\$", "", text)
    assert not re.search(r"[\\&%$#_{}^~<>|\n\r\t]", bare)


def test_latex_is_one_balanced_table(report, hostile):
    for one in (report, *hostile):
        text = one.to_latex()
        begun, ended = re.findall(r"\\begin\{(\w+)\}", text), re.findall(r"\\end\{(\w+)\}", text)
        assert begun == ["table", "tabular"]
        assert ended == begun[::-1]
        depth = 0
        for sign in re.sub(r"\\[{}]", "", text):
            depth += (sign == "{") - (sign == "}")
            assert depth >= 0
        assert depth == 0
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 1 + len(one.metrics)
        assert all(len(re.findall(r"(?<!\\)&", line)) == 2 * len(one.k) for line in rows[1:])
        assert [rule for rule in (r"\toprule", r"\bottomrule") if rule not in text] == []
        assert re.search(r"\\footnotesize.*users?.*relevant", text)


def test_dictionary_survives_json(report, hostile):
    for one in (report, *hostile):
        told = one.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told == json.loads(one.to_json())
        assert told["schema"] == "recnb.report/3"
    told = report.to_dict()
    values = {(one["metric"], row["k"]): row["mean"] for one in told["metrics"] for row in one["values"]}
    frame = report.to_frame().set_index(["metric", "k"])["mean"]
    assert values == frame.to_dict()
    assert told["counts"]["n_users"] == report.n_users
    assert set(told["best"][0]) >= {"user", "value", "places", "missed", "n_missed"}


def test_one_user_has_no_interval_and_says_so():
    recs = pd.DataFrame({"user": ["<b>"], "item": ["a"], "rank": [1]})
    report = recs.rec.against(recs.drop(columns="rank")).report(k=1)
    assert report.to_frame()["low"].isna().all()
    assert report.to_dict()["metrics"][0]["values"] == [{"k": 1, "mean": 1.0, "low": None, "high": None}]
    for form in (report.to_html(), repr(report), report.to_markdown(), report.to_latex()):
        assert "n/a" in form
        assert not re.search(r"\bnan\b", form)
        assert "one user is no sample" in form
    assert (len(report.best), report.worst) == (1, ())


def test_many_cutoffs_are_counted_not_shown(sample):
    report = sample.report(k=range(1, 101), metrics=["ndcg", "recall"])
    assert "88 more cut-offs" in report.to_html()
    assert "92 more cut-offs" in repr(report)
    assert len(report.to_frame()) == 200
    assert len(report.to_html()) < LONGEST


def test_many_users_stay_small():
    n = 60_000
    user, rank = np.repeat(np.arange(n), 10), np.tile(np.arange(1, 11), n)
    name = pl.lit("<&é" * 30) + pl.col("item").cast(pl.String)
    recs = pl.DataFrame({"user": user, "item": (user * 7 + rank) % 5000, "rank": rank}).with_columns(item=name)
    report = recs.rec.against(recs.filter(rank == user % 10 + 1).select("user", "item")).report()
    assert (report.method, report.n_users) == ("beta", n)
    # What is shown does not grow with the users: six lists of twenty at most, and strings of bounded length.
    assert len(report.to_html().encode()) < LONGEST / 2
    assert len(repr(report)) + len(report.to_markdown()) < LONGEST / 5


def test_axis_and_share_read_well():
    assert svg.ticks(0.0) == [0.0]
    for top in (0.003, 0.31, 1.0, 7.0, 1234.0):
        steps = svg.ticks(top)
        assert 2 <= len(steps) <= 6
        assert top * 0.6 < steps[-1] <= top * (1 + 1e-9)


def test_figure_is_drawn_and_matplotlib_waits_for_it(report):
    code = (
        "import sys, recnb; data = recnb.datasets.load_sample(); r = data.models['popular'].rec.against(data.test).report(k=5);"
        "r.to_html(), repr(r), r.to_latex(); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    figure = report.figure()
    left, right = figure.axes
    assert left.lines[0].get_ydata().tolist() == pytest.approx(report.curve.value)
    assert [bar.get_height() for bar in right.containers[0]] == pytest.approx(report.distribution.shares)
