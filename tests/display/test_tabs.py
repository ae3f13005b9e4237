"""Tabs without a script: every section is there when the style sheet is not, and no two sets of tabs share a button."""

import re
from html.parser import HTMLParser

import pytest

import recnb
from recnb.display.document import Note, Section, tabs
from recnb.display.templates import style_sheet

STYLE = style_sheet("tabs")


class Buttons(HTMLParser):
    """The radio buttons of a page by form and name, and what a reader meets in which order."""

    def __init__(self, page):
        super().__init__()
        self.form, self.buttons, self.ids, self.order = 0, [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.form += tag == "form"
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "input":
            self.buttons.append((self.form, found["name"], "checked" in found))
        if tag in ("h2", "h3") or found.get("class") == "recnb-panel":
            self.order.append(tag)


@pytest.fixture(scope="module")
def sample():
    return recnb.datasets.load_sample()


@pytest.fixture(scope="module")
def pages(sample):
    one = sample.models["item-knn"].rec.against(sample.test)
    other = sample.models["popular"].rec.against(sample.test)
    return [
        one.report(k=5)._repr_html_(),
        one.report(k=[5, 10])._repr_html_(),
        other.report(k=5)._repr_html_(),
        recnb.compare(sample.models, sample.test).report(k=5)._repr_html_(),
    ]


def test_each_set_of_tabs_has_its_own_buttons_by_its_content(sample, pages):
    found = Buttons("".join(pages))
    assert found.ids == []
    names = {form: {name for one, name, _ in found.buttons if one == form} for form, _, _ in found.buttons}
    assert len(set.union(*names.values())) == len(names) == len(pages)
    for form in names:
        is_open = [is_open for one, _, is_open in found.buttons if one == form]
        assert is_open == [True] + [False] * (len(is_open) - 1)
    assert {form for form, _, _ in Buttons(pages[0] * 2).buttons} == {1, 2}
    assert sample.models["item-knn"].rec.against(sample.test).report(k=5)._repr_html_() == pages[0]


def test_every_section_stands_under_its_heading_without_a_style_sheet(pages):
    for page in pages:
        bare = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
        assert "<style" not in bare
        order = Buttons(bare).order
        assert order == ["h3", "div"] * (len(order) // 2)
        assert len(order) >= 10
        # What is hidden is hidden by the style sheet alone, but for the buttons, which need it.
        hidden = re.findall(r"<(\w+)[^>]*(?:display: none|visibility: hidden|\shidden)[^>]*>", bare)
        assert set(hidden) == {"span"}
        assert bare.count('<span style="display: none;"><input ') == len(hidden)


def test_the_style_sheet_hides_on_screens_alone_and_has_no_colour_of_its_own():
    assert STYLE.index("@media screen") < STYLE.index("display: none")
    screen, paper = STYLE.split("@media print")
    assert (".recnb-panel" in screen, ".recnb-panel" in paper) == (True, False)
    assert "details-content" in paper
    assert not re.search(r"#(fff|000)|\bwhite\b|\bblack\b", STYLE)


def test_nothing_is_run_fetched_or_sent(pages):
    for page in [*pages, STYLE]:
        assert not re.search(r"url\(|@import|<script|javascript|\son\w+=|action=|http", page)
    for page in pages:
        assert re.findall(r"<form [^>]*>", page)[0].count('method="dialog"') == 1


def test_a_section_of_other_forms_has_no_tab():
    sections = [Section("one", [Note("1")]), Section("none", [Note("0")], ("txt",)), Section("two", [Note("2")])]
    made = tabs(sections, "<label>")
    assert made.count("<section") == made.count("<input") == 2
    assert "none</label>" not in made
    assert 'aria-label="&lt;label&gt;"' in made


@pytest.mark.browser
def test_tabs_in_a_browser(pages, tmp_path):
    import os
    import shutil

    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RECNB_CHROMIUM") or shutil.which("chromium")
    assert chromium, "no Chromium is on the path: name one by RECNB_CHROMIUM"
    file = tmp_path / "page.html"
    file.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{pages[0]}{pages[0]}{pages[3]}", encoding="utf-8")
    shown = "form => [...form.querySelectorAll(':scope > section > .recnb-panel')].map(one => one.checkVisibility())"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": 420, "height": 800})
            page.goto(file.as_uri())
            forms = page.locator(".recnb-tabs").all()
            assert [one.evaluate(shown).index(True) for one in forms] == [0, 0, 0]
            forms[1].locator("label").nth(2).click()
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            assert page.url == file.as_uri()
            for one, at in zip(forms, [0, 3, 0], strict=True):
                visible = one.evaluate(shown)
                assert [place for place, is_shown in enumerate(visible) if is_shown] == [at]
            assert page.evaluate("document.documentElement.scrollWidth") <= 420
            page.emulate_media(media="print")
            assert all(all(one.evaluate(shown)) for one in forms)
        finally:
            browser.close()
