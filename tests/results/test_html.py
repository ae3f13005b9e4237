"""How results show themselves in a notebook: the users' text stays text, and nothing comes from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pandas as pd
import pytest

import recnb
from recnb.display.text import NAME_SHOWN, one_line

EVIL = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "$x^2$ and \\(y\\)", "&lt;b&gt; & &amp;",
    "</div></div></table>", "אבג \u202eabc", "👩‍🔬🇰🇷", "<!-- ", "`code` *bold* |",
]  # fmt: skip


class Page(HTMLParser):
    """What a browser would make of HTML: its tags, and its text, each with whether mathematics is switched off there."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()
        assert self.open == [], "tags are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        off = any("mathjax_ignore" in (value or "") for name, value in attrs if name == "class")
        self.open.append((tag, off or (bool(self.open) and self.open[-1][1])))
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag, "tags are closed in another order"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.text.append((data, bool(self.open) and self.open[-1][1]))


def pages(evil: str) -> dict[str, Callable[[], str]]:
    recs = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil, evil + "2", evil], "rank": [1, 2, 1]})
    truth = pd.DataFrame({"user": [evil, evil, "b"], "item": [evil + "3", evil, evil]})
    ev = recnb.evaluate(recs.rename(columns={"item": evil}), truth, item=evil)
    return {
        "explanation": ev.explain("ndcg", evil, k=2)._repr_html_,
        "explanation of idcg": ev.explain("idcg", evil, k=2)._repr_html_,
        "table": ev.table(k=[1])._repr_html_,
        "table with intervals": ev.table(k=[1], intervals=True)._repr_html_,
        "items": ev.items(k=1)._repr_html_,
        "user": ev.user(evil, k=1)._repr_html_,
        "comparison": recnb.compare({evil: ev, evil + "2": ev}).table("ndcg", k=1)._repr_html_,
        "curve": ev.curve("ndcg", k=[1])._repr_html_,
        "score": ev.ndcg(k=1)._repr_html_,
        "evaluation": ev._repr_html_,
        "list": recnb.explain("map", [evil, "x"], [evil, evil + "4"])._repr_html_,
    }


@pytest.mark.parametrize("evil", EVIL)
def test_text_of_the_users_is_text(evil: str) -> None:
    for name, html in pages(evil).items():
        page = Page(html())
        assert page.tags <= {
            "div",
            "b",
            "bdi",
            "code",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "span",
            "u",
            "small",
            "br",
            "style",
        }, name
        assert page.attributes <= {
            "class",
            "style",
            "role",
            "aria-label",
            "scope",
            "tabindex",
            "align",
            "cellpadding",
        }, name
        text = "".join(text for text, _ in page.text)
        if name in ("explanation", "list"):
            assert text.count(one_line(evil)) >= 2, "the text is shown"
        for piece, off in page.text:
            if evil in piece or piece.count("$") not in (0, 2):
                assert off, f"mathematics is on around {piece!r}"
            if "$" in piece and evil not in piece:
                assert not off, "the formula alone is mathematics"
                assert piece.startswith("$\\displaystyle")
                assert piece.endswith("$")


def test_long_text_is_cut() -> None:
    long = "x" * 1000
    for name in ("explanation", "list"):
        text = "".join(piece for piece, _ in Page(pages(long)[name]()).text)
        assert "x…" in text
        assert "x" * NAME_SHOWN not in text


def test_html_reads_in_light_and_dark_and_needs_nothing_from_elsewhere() -> None:
    for html in (one() for one in pages("plain").values()):
        lowered = html.lower()
        assert "<script" not in lowered
        assert "http" not in lowered
        assert "url(" not in lowered
        assert "#fff" not in lowered
        assert "black" not in lowered
        assert "white;" not in lowered
