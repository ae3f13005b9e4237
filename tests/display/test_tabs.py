"""Tabs without a script: every section is there when the style sheet is not, and no two
sets of tabs share a button.
"""

import re
from functools import cache

import pytest

import recnb
from tests.lab import chromium
from tests.sample import SAMPLE


@cache
def reports():
    ev = SAMPLE.models["item-knn"].rec.against(SAMPLE.test)
    found = recnb.compare(SAMPLE.models, SAMPLE.test)
    return [ev.report(k=5), ev.report(k=[5, 10]), found.report(k=5)]


@cache
def pages():
    return [report._repr_html_() for report in reports()]


def test_each_set_of_tabs_has_its_own_buttons_by_its_content():
    button = r'<input type="radio" name="([^"]+)"'
    names = [{*re.findall(button, page)} for page in pages()]
    assert [len(of_page) for of_page in names] == [1, 1, 1]
    assert len(set.union(*names)) == 3
    for page in pages():
        assert not re.search(r"\sid=", page)
    assert reports()[0]._repr_html_() == pages()[0]


def test_every_section_stands_under_its_heading_without_a_style_sheet():
    for page in pages():
        bare = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
        order = re.findall(r'<h3|<div class="recnb-panel"', bare)
        assert order == ["<h3", '<div class="recnb-panel"'] * (len(order) // 2)
        assert len(order) >= 10
        # What is hidden is hidden by the style sheet alone, but for the buttons, which
        # need it.
        hidden = re.findall(
            r"<(\w+)[^>]*(?:display: none|visibility: hidden|\shidden)[^>]*>", bare
        )
        assert set(hidden) == {"span"}
        assert bare.count('<span style="display: none;"><input ') == len(hidden)


@pytest.mark.browser
def test_letters_of_a_printed_page_have_no_opacity_which_cuts_their_edges(tmp_path):
    file = tmp_path / "report.html"
    reports()[2].to_html(file)
    faint = """[...document.body.querySelectorAll('*')].filter(
        element => element.innerText?.trim() && getComputedStyle(element).opacity < 1
    ).length"""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(file.as_uri())
        assert page.evaluate(faint) > 0
        page.emulate_media(media="print")
        assert page.evaluate(faint) == 0


@pytest.mark.browser
def test_tabs_in_a_browser(tmp_path):
    file = tmp_path / "page.html"
    of_one, _other, of_several = pages()
    head = "<!DOCTYPE html><meta charset='utf-8'>"
    file.write_text(f"{head}{of_one}{of_one}{of_several}", encoding="utf-8")
    shown = (
        "form => [...form.querySelectorAll(':scope > section > "
        ".recnb-panel')].map(one => one.checkVisibility())"
    )
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 420, "height": 800})
        page.goto(file.as_uri())
        forms = page.locator(".recnb-tabs").all()
        forms[1].locator("label").nth(2).click()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert page.url == file.as_uri()
        for one, at in zip(forms, [0, 3, 0], strict=True):
            assert [
                place for place, is_shown in enumerate(one.evaluate(shown)) if is_shown
            ] == [at]
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        page.emulate_media(media="print")
        assert all(all(one.evaluate(shown)) for one in forms)
