"""The site: what is checked of its links, and, where it can be built, what is on it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recnb
from tests.lab import chromium
from tests.rows import read_rows
from tests.tools.notebooks import ROOT, stored
from tests.tools.site.links import problems
from tests.tools.site.pages import PAGES, BrokenLinkError, Sources
from tests.tools.site.reference import (
    RETURNED,
    members_of,
    public_names,
    summary_of,
)

NOTEBOOKS = [path.relative_to(ROOT).with_suffix("") for path in stored()]
ROWS = read_rows("site.toml")


# What is checked, on pages made for it.


def page(folder: Path, body: str, name: str = "page.html") -> Path:
    """A folder with one more page."""
    folder.joinpath(name).write_text(body, "utf-8")
    return folder


@pytest.mark.parametrize("body", ROWS["right"])
def test_a_page_whose_links_lead_somewhere_has_no_problem(tmp_path, body):
    assert problems(page(tmp_path, body)) == []


@pytest.mark.parametrize("body, problem", ROWS["wrong"])
def test_a_link_to_nothing_and_a_request_are_problems(tmp_path, body, problem):
    (line,) = problems(page(tmp_path, body))
    assert line.startswith("page.html: ")
    assert problem in line


def test_a_style_sheet_that_asks_for_a_font_is_a_problem(tmp_path):
    page(tmp_path, "@font-face { src: url(https://fonts.org/a.woff2) }", "site.css")
    assert problems(tmp_path) == ["site.css: asks for https://fonts.org/a.woff2"]


@pytest.mark.parametrize("file, written, on_site", ROWS["links"])
def test_a_link_of_the_repository_is_one_of_the_site(tmp_path, file, written, on_site):
    assert Sources(tmp_path).linked(written, file) == on_site


def test_a_link_to_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BrokenLinkError, match=r"README.md links to gone.md"):
        Sources(tmp_path).linked("[a](gone.md)", "README.md")


def test_every_markdown_file_that_a_page_links_to_is_a_page(tmp_path):
    site = Sources(tmp_path)
    for file in PAGES:
        site.linked((ROOT / file).read_text("utf-8"), file)
    assert [*tmp_path.rglob("*.md")] == []


def test_every_public_name_has_a_page_of_the_reference():
    named = {name for names in public_names().values() for name in names}
    assert {f"recnb.{name}" for name in recnb.__all__} - named == {"recnb.__version__"}
    assert {"ndcg", "table", "report", "lint", "why"} <= {*members_of(recnb.Evaluation)}
    assert not {"joined", "side_data"} & {*members_of(recnb.Evaluation)}
    assert {"to_html", "to_markdown"} <= {*members_of(RETURNED[0])}


def test_every_public_name_has_a_sentence_where_the_reference_lists_it():
    for names in public_names().values():
        for name in names:
            assert re.search(r"\w.*\.$", summary_of(name)), name
    assert summary_of("recnb.playground").startswith("Show a ranked list")
    assert summary_of("recnb.METRICS") == "Metrics of accuracy by their names."


# The site itself.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, whose links are checked as it is built."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.site", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stderr == ""
    return folder / "html"


@pytest.mark.site
def test_the_site_has_every_page_and_nothing_of_it_asks_another_computer(site):
    assert problems(site) == []
    for target in PAGES.values():
        assert (site / target).with_suffix(".html").is_file()
    # A link that is taken away is missed: the checks have looked at these pages.
    copy = shutil.copytree(site, site.parent / "copy")
    (copy / "metrics.html").unlink()
    assert any("metrics.html" in line for line in problems(copy))


@pytest.mark.site
def test_every_public_name_and_method_is_where_links_expect_it(site):
    ids: set[str] = set()
    for path in (site / "reference").glob("*.html"):
        ids |= {*re.findall(r' id="([\w.]+)"', path.read_text("utf-8"))}
    assert {f"recnb.{name}" for name in recnb.__all__} - ids <= {
        "recnb.__version__",
        "recnb.conventions",
        "recnb.datasets",
        "recnb.errors",
    }
    for cls in (recnb.Evaluation, recnb.Comparison, recnb.Score, recnb.RecAccessor):
        missing = {f"recnb.{cls.__name__}.{name}" for name in members_of(cls)} - ids
        assert missing == set()


@pytest.mark.site
def test_the_front_page_has_six_cards_and_every_notebook(site):
    front = (site / "index.html").read_text("utf-8")
    cards, gallery = re.findall(r'<ul class="recnb-\w+.*?</ul>', front, re.DOTALL)
    assert cards.count("<li>") == 6
    linked = {*re.findall(r'href="notebooks/([\w/]+)\.html"', gallery)}
    assert linked == {path.relative_to("notebooks").as_posix() for path in NOTEBOOKS}
    assert "pictures/report.png" in front.replace("_images/", "pictures/")


@pytest.mark.site
@pytest.mark.parametrize("name", NOTEBOOKS, ids=str)
def test_a_notebook_has_its_stored_outputs_and_formulas_without_latex(site, name):
    text = (site / name).with_suffix(".html").read_text("utf-8")
    cells = json.loads((ROOT / name).with_suffix(".ipynb").read_text("utf-8"))["cells"]
    shown = [out for cell in cells for out in cell.get("outputs", [])]
    html = ["".join(out.get("data", {}).get("text/html", "")) for out in shown]
    for output in filter(None, html):
        assert output.partition("$")[0].strip() in text
    n_formulas = sum(output.count("$\\displaystyle") for output in html)
    assert text.count('displaystyle="true"') == n_formulas
    assert "$\\displaystyle" not in text
    lang = "ko" if name.parent.name == "ko" else "en"
    assert f'<html lang="{lang}"' in text


@pytest.mark.site
def test_pages_open_in_light_and_dark_and_narrow_without_a_request(site):
    with chromium() as browser:
        for name, scheme, words in ROWS["opened"]:
            opened = browser.new_page(color_scheme=scheme)
            asked: list[str] = []
            errors: list[str] = []
            opened.on("request", lambda request, asked=asked: asked.append(request.url))
            opened.on("pageerror", lambda error, errors=errors: errors.append(error))
            opened.goto((site / name).as_uri())
            assert words in opened.inner_text("article")
            assert opened.get_attribute("html", "data-theme") == scheme
            opened.set_viewport_size({"width": 400, "height": 800})
            width = "document.documentElement.scrollWidth"
            assert opened.evaluate(width) <= 400, name
            assert [
                url for url in asked if not url.startswith(("file:", "data:"))
            ] == []
            assert errors == []
            opened.close()


@pytest.mark.site
def test_the_playground_of_the_front_page_shows_each_move_without_a_kernel(site):
    with chromium() as browser:
        opened = browser.new_page()
        opened.goto((site / "index.html").as_uri())
        moves = opened.locator(".recnb-tabs")
        assert moves.locator(".recnb-panel:visible").count() == 1
        assert "0.6828" in moves.inner_text()
        moves.get_by_text("Move C to the top").click()
        assert moves.locator(".recnb-panel:visible").count() == 1
        after = recnb.ndcg(list("CABDEF"), {"A": 2, "C": 3, "E": 1, "G": 2})
        assert f"{after:.4f}" in moves.inner_text()


@pytest.mark.site
@pytest.mark.parametrize("words, page_found", ROWS["searches"])
def test_the_search_finds_names_questions_and_korean(site, words, page_found):
    with chromium() as browser:
        opened = browser.new_page()
        opened.goto(f"{(site / 'search.html').as_uri()}?q={words}")
        results = opened.locator("#search-results a")
        results.first.wait_for()
        addresses = [link.get_attribute("href") for link in results.all()]
        assert any(page_found in address for address in addresses if address)
