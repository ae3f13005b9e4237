"""How a lint shows itself: text, HTML, Markdown, a frame; in both languages; and what comes from frames, made safe."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import recnb
from recnb.display.language import use_language
from recnb.lint import Lint
from recnb.lint.findings import quoted_id
from tests.lint_planted import CLEAN, METRIC, PLANTED
from tests.tools.translations import stored

HOSTILE = "<script>alert('x')</script> $x^2$ `code` | [a](http://b.c) \u202eabc \u05d0\u05d1 \N{PARTY POPPER}\nnext"


def sample() -> Lint:
    data = recnb.datasets.load_sample()
    return recnb.evaluate(data.models["popular"], data.test).lint()


def hostile() -> Lint:
    """Ids and columns of the worst kind in every place where an example stands."""
    user, item, rel = (f"{role} {HOSTILE}" for role in ("user", "item", "rel"))
    recs = pd.DataFrame({user: [user] * 3, item: [item, item, "b"], f"score {HOSTILE}": [2, 2, 2]})
    truth = pd.DataFrame({user: [user, "v"], item: [item, f" {item}"], rel: [5, 5]})
    side = {"train": pd.DataFrame({user: [user], item: [item]}), "items": pd.DataFrame({item: ["z"]})}
    names = {"user": user, "item": item, "score": f"score {HOSTILE}", "relevance": rel}
    return recnb.evaluate(recs, truth, **names, duplicates="keep", **side).lint(2)


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_text_stands_alone() -> None:
    lines = repr(sample()).splitlines()
    assert lines[0] == "Lint: 1 warning, 1 note, of 17 checks"
    assert lines[1] == "Effects are measured with nDCG@10: 0.1725 over 261 users."
    assert "warning: Relevance looks like ratings from 1 to 5, and all 1,084 rows count as relevant" in lines
    assert "    ev = recnb.evaluate(recs, truth, relevant_from=4)" in lines
    assert "261 users" in "".join(lines[-4:])
    assert max(map(len, lines)) <= 100


def test_frame() -> None:
    lint = sample()
    frame = lint.to_frame()
    assert list(frame.columns) == ["finding", "severity", "n", "of", "short", "effect", "example", "advice", "code"]
    assert frame["finding"].tolist() == lint.names == [one.name for one in lint]
    assert frame["n"].tolist() == [462, 2]
    assert CLEAN.lint().to_frame().shape == (0, 9)


def test_html_has_no_script_and_what_is_the_users_is_text() -> None:
    lint = hostile()
    assert {"duplicates", "ids_written_otherwise", "seen_in_train", "outside_items"} <= set(lint.names)
    for page in (lint._repr_html_(), sample()._repr_html_()):
        assert Tags(page).seen <= {"div", "b", "span", "bdi", "code", "details", "summary"}
        assert 'role="region"' in page
        assert "mathjax_ignore" in page
        assert "\u202e" not in page
        assert "://" not in page
        # Severity is a word, not a colour.
        assert re.search(r"<b><span[^>]*>warning</span>", page)
        assert not re.search(r"(?<!-)color: (?!inherit)", page)
    assert "&lt;script&gt;" in lint._repr_html_()
    markdown = lint.to_markdown()
    assert all("<script>" not in line.split("`` ")[0] for line in markdown.splitlines())
    assert "alert" in markdown
    assert "\u202e" not in repr(lint)
    assert all("\n" not in one.short + one.effect + one.example + one.advice for one in lint)


def test_ids_show_their_kind() -> None:
    assert [quoted_id(value) for value in (1, "1", 0.5, "a`b")] == ["1", "'1'", "0.5", "'a'b'"]
    assert len(quoted_id("x" * 500)) <= 40


@pytest.mark.parametrize("name", PLANTED)
def test_every_sentence_in_korean(name: str) -> None:
    """It is shown in the language it was made in."""
    with use_language("ko"):
        lint = PLANTED[name][0].lint(*METRIC.get(name, (10, "ndcg")))
    for sentence in (lint[name.split(":")[0]].word, lint.headline, lint.measured):
        assert re.search("[가-힣]", sentence)
    for shown in (repr(lint), lint._repr_html_()):
        assert "경고" in shown or "참고" in shown


def test_both_languages_name_the_same_values_and_hold_no_markup() -> None:
    rows = [one for one in stored("ko") if any("lint" in place for place, _line in one.locations)]
    assert len(rows) > 100
    for message in rows:
        forms = [*([message.id] if isinstance(message.id, str) else message.id)]
        forms += [*([message.string] if isinstance(message.string, str) else message.string)]
        assert not set("<>&") & set("".join(forms)), message.id
        fields = [set(re.findall(r"{(\w+)", form)) for form in forms]
        # A sentence about one thing may leave its number out.
        assert all(one | {"n"} == fields[0] | {"n"} for one in fields), message.id
        assert all(form.count("`") % 2 == 0 for form in forms), message.id
