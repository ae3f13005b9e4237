"""Whatever a user's ids, titles, columns and models are called: it is text in every
form of every result.

Nothing opens a tag or is typeset in HTML, nothing is markup in Markdown, nothing is a
command in LaTeX, and in plain text a name stays on its line and turns no other text
round.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest

import recnb
from recnb.widgets.explorer import Explorer
from tests.rows import read_rows

EVIL = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</div></td></table><b>",
    "$x^2$ and \\(y\\) $$z$$",
    "'quotes' & \"more\" `code`",
    "a|b *c* _d_ # [e](http://f)",
    "\\input{secret} 50% & {g}",
    "אבג \u202eabc",
    "مرحبا",
    "👩‍🔬🇰🇷",
    "two\nlines\r\tx",
    "L" + 300 * "o" + "ng",
    "{0} {n} %s",
    "<!-- ",
    "&lt;b&gt;",
    "\x1b[31mred",
)
TAGS = set(read_rows("display/tags.toml")["tags"])
#: Tags that recnb puts around names and words, and that no name here has.
OWN_TAG = re.compile(r"</?(bdi|span|code|strong|em|small)\b")
EMPTY = {"img", "input", "br", "hr", "meta"}


class Page(HTMLParser):
    """What a browser would make of HTML: only tags and attributes that do nothing, and
    where mathematics is on.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.typeset: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], "tags are left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"<{tag}>"
        self.seen.append((tag, dict(attrs)))
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert not OWN_TAG.search(value or ""), "a tag is in an attribute"
            if name in ("src", "href"):
                assert (value or "").startswith(("data:image/svg+xml", "#")), value
                if name == "src":
                    assert not OWN_TAG.search(
                        unescape(b64decode((value or "").split(",")[1]).decode())
                    ), "in a picture"
        off = any(
            "mathjax_ignore" in (value or "")
            for name, value in attrs
            if name == "class"
        )
        if tag not in EMPTY:
            self.open.append((tag, off or (bool(self.open) and self.open[-1][1])))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag, "tags are closed in another order"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        assert not OWN_TAG.search(data), "a tag of recnb's own is escaped"
        if not (
            self.open and (self.open[-1][1] or self.open[-1][0] in ("style", "title"))
        ):
            self.typeset.append(data)


ITEMS = [f"{one} i" for one in EVIL]
COLUMN = EVIL[0] + EVIL[3]


@cache
def frames() -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """Recommendations, truth and side data, in which everything is named so."""
    places = range(len(ITEMS))
    listed = [
        (user, ITEMS[b], (7 * a + 3 * b) % 17 + b / 100)
        for a, user in enumerate(EVIL)
        for b in places
    ]
    judged = [
        (user, ITEMS[(2 * a + 4 * b) % 16], 1 + (a + b) % 3)
        for a, user in enumerate(EVIL)
        for b in range(3)
    ]
    recs = pd.DataFrame(listed, columns=["user", "item", "score"])
    truth = pd.DataFrame(judged, columns=["user", "item", "relevance"])
    train = truth.assign(item=[ITEMS[at % len(ITEMS)] for at in range(len(truth))])[
        ["user", "item"]
    ]
    users = pd.DataFrame(
        {"user": EVIL, COLUMN: [EVIL[at % 4] for at in range(len(EVIL))]}
    )
    genres = [EVIL[at % 5] for at in range(len(ITEMS))]
    about = pd.DataFrame(
        {"item": ITEMS, "title": [f"{one} t" for one in ITEMS], "genres": genres}
    )
    return recs, truth, {"users": users, "items": about, "train": train}


@cache
def evaluation() -> recnb.Evaluation:
    recs, truth, side_data = frames()
    return recnb.evaluate(recs, truth, **side_data)


@cache
def comparison() -> recnb.Comparison:
    recs, truth, side_data = frames()
    signs = zip((*EVIL[:4], EVIL[10]), (1, -1, 2, 3, -2), strict=True)
    models = {name: recs.assign(score=recs["score"] * sign % 5) for name, sign in signs}
    return recnb.compare(models, truth, **side_data)


def explorer() -> Explorer:
    made = evaluation().explore()
    made.choose(by=COLUMN, search=EVIL[0][:6])
    return made


def playground() -> recnb.widgets.Playground:
    play = recnb.playground(ITEMS, dict.fromkeys(ITEMS[::2], 2) | {EVIL[3]: 3}, k=9)
    play.move(ITEMS[4], 1)
    return play


KINDS: dict[str, str] = {
    **read_rows("display/results.toml")["kinds"],
    "explorer that searches": "explorer()",
    "playground in use": "playground()",
}


@cache
def made(name: str) -> Any:
    names = {"ev": evaluation(), "found": comparison(), "USER": EVIL[0]}
    return eval(KINDS[name], globals() | names)


#: Text of a sheet is shown in full, whatever its length.
SHORT_EVIL = [each for each in EVIL if len(each) < 100]
OF_WIDGETS = dict.fromkeys(
    [name for name in KINDS if re.match("explorer|playground", name)],
    lambda one: one.widget().children[0].html,
)
HTML: dict[str, Callable[[Any], str]] = {
    **OF_WIDGETS,
    **dict.fromkeys(
        ("report", "comparison report"), lambda one: one.to_html(title=EVIL[0])
    ),
    "quiz": lambda one: one.to_html(
        None,
        ([*SHORT_EVIL, [SHORT_EVIL, SHORT_EVIL]], SHORT_EVIL),
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_html_opens_no_tag_and_typesets_nothing_of_the_users(name: str) -> None:
    one = made(name)
    shown = [one._repr_html_()] if hasattr(one, "_repr_html_") else []
    assert all(type(html) is str for html in shown)
    shown += [HTML[name](one)] if name in HTML else []
    assert shown or name in ("gate", "power")  # which have one form
    for html in shown:
        page = Page(html)
        in_notebook = not html.lower().startswith(
            "<!doctype html>"
        )  # a page by itself has no script that typesets
        for text in page.typeset if in_notebook else ():
            if text.strip():
                assert re.fullmatch(r"\s*\$\\displaystyle [^$]*\$\s*", text), (
                    f"mathematics is on around {text!r}"
                )
                assert not any(evil in text for evil in EVIL)
        assert (
            "\u202e" not in "".join(page.text).replace("אבג \u202eabc", "")
            or "bdi" in html
        )
        assert "L" + 300 * "o" not in html


@pytest.mark.parametrize("name", KINDS)
def test_the_plain_forms_are_text(name: str) -> None:
    """A name stays on its line, turns nothing round, and is no markup of Markdown and
    no command of LaTeX.
    """
    one = made(name)
    forms = {
        form: getattr(one, form)()
        for form in ("to_markdown", "to_latex")
        if hasattr(one, form)
    }
    for text in (repr(one), *forms.values()):
        assert "two\nlines" not in text
        assert not {
            sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs", "Cf")
        } - {"\n", "\u200d", "\t"}
        assert "L" + 100 * "o" not in text
    for line in forms.get("to_markdown", "").splitlines():
        plain = (
            ""
            if line.startswith("    ")
            else re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        )
        assert not re.search(
            r"(?<!\\)<(?=[a-z!/])|(?<!\\)\]\(http|\$x\^2\$|://", plain
        ), line
    assert not any(
        command in forms.get("to_latex", "")
        for command in (r"\input", "$x^2$", "50% &")
    )
