"""`Form.write` makes every value safe in every form: text stays text, on one line, and
the marks around it are recnb's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb.display import forms, language, plain, svg, templates, text
from recnb.display.forms import (
    CONSOLE,
    HTML,
    LATEX,
    MARKDOWN,
    Estimate,
    Line,
    Mark,
    Name,
    Number,
    Picture,
    Rows,
    say,
    with_digits,
)
from recnb.display.language import use_language
from recnb.display.text import one_line
from tests.display.test_escaping import EVIL
from tests.results.test_shown import RECORDED
from tests.rows import hold_calls, read_rows

FORMS = {"HTML": HTML, "Markdown": MARKDOWN, "console": CONSOLE, "LaTeX": LATEX}

#: Long ones are cut, which is tested where names are.
NAMES = [name for name in EVIL if len(name) < 40]

#: Every kind of value that has text of the user's in it.
VALUES: dict[str, Callable[[str], Line]] = {
    "name": Name,
    "strong": lambda text: Mark("strong", Name(text)),
    "best": lambda text: Mark("best", text),
    "hit": lambda text: Mark("hit", [Name(text), " ", text]),
    "badge": lambda text: Mark("badge", text),
    "estimate": lambda text: Estimate(text, (text, text), best=True, signs=text),
    "sentence": lambda text: say("{label} = {value}", label=text, value=Name(text)),
    "parts": lambda text: [text, ": ", [Name(text), Mark("small", text)]],
    "picture": lambda text: Picture("<svg/>", text),
}

#: What LaTeX writes for signs that it would read as commands.
OF_LATEX = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textasciigrave{}": "`",
    "''": '"',
    "{[}": "[",
    "{*}": "*",
    "-{}": "-",
    **{rf"\{sign}": sign for sign in "&%$#_{}"},
}
LATEX_SIGNS = re.compile("|".join(map(re.escape, OF_LATEX)))
MARKDOWN_SIGNS = re.compile(r"\\([\\`*_\[\]#~|])")


def read_html(written: str) -> str:
    assert not re.search("[<>\"']|://", written)
    return unescape(written)


def read_markdown(written: str) -> str:
    left = MARKDOWN_SIGNS.sub("", written)
    assert not re.search(r"[\\`*_\[\]~|<>$]|://|www\.", left)
    return unescape(MARKDOWN_SIGNS.sub(r"\1", written))


def read_latex(written: str) -> str:
    left = LATEX_SIGNS.sub("", written)
    assert not re.search(r"[\\&%$#_{}~^\[*|<>]|--", left)
    return LATEX_SIGNS.sub(lambda found: OF_LATEX[found[0]], written)


READ: dict[str, Callable[[str], str]] = {
    "HTML": read_html,
    "Markdown": read_markdown,
    "console": str,
    "LaTeX": read_latex,
}

#: The signs of recnb's own that LaTeX has as mathematics.
SIGNS = "−–×…▲▼°○◇△▽✓→"


@pytest.mark.parametrize("form", FORMS)
@given(text=st.text(st.characters(exclude_characters=SIGNS + "'"), max_size=60))
def test_text_is_read_as_it_is_and_opens_no_markup(form: str, text: str) -> None:
    written = FORMS[form].write(text)
    assert READ[form](str(written)) == one_line(text)


@pytest.mark.thin
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_text_is_read_as_it_is(form: str, name: str) -> None:
    text = name.replace("'", "")  # two of which are a quote of LaTeX
    assert READ[form](str(FORMS[form].write(text))) == one_line(text)


@pytest.mark.thin
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_text_in_a_value_is_as_safe_as_text_alone(
    form: str, kind: str, lang: str
) -> None:
    written_by = FORMS[form]
    with use_language(lang):
        around = written_by.write(VALUES[kind]("XYZZY"))
        for name in NAMES:
            written = written_by.write(VALUES[kind](name))
            assert written == around.replace("XYZZY", written_by.write(name))


def test_code_of_markdown_ends_where_it_ends() -> None:
    """Nothing is escaped in it, so that it holds no end of itself and no address."""
    for name in (*NAMES, "a``b"):
        written = MARKDOWN.write(Mark("code", name))
        assert (written[:3], written[-3:]) == ("`` ", " ``")
        assert "``" not in written[3:-3]
        assert "://" not in written


NUMBERS = read_rows("display/numbers.toml")


@pytest.mark.parametrize("call", NUMBERS)
def test_a_number_has_its_look_and_the_digits_asked_for(call: str) -> None:
    shown, with_two = NUMBERS[call]
    number = eval(call, {"Number": Number})
    cell = Estimate(number, (number, number))
    table = Rows(["a", "b", "c"], [[number, cell, "1.23456"]])
    ((first, estimate, text),) = with_digits(table, 2).rows
    assert (str(number), str(first), text) == (shown, with_two, "1.23456")
    assert CONSOLE.write(estimate) == f"{with_two} [{with_two}, {with_two}]"


SHOWN = (
    vars(templates)
    | vars(text)
    | vars(language)
    | vars(forms)
    | vars(plain)
    | vars(svg)
)
test_a_call_comes_to = hold_calls(read_rows("display/text.toml"), SHOWN)


@pytest.mark.parametrize("form", FORMS)
def test_words_behind_a_value_are_made_safe_once(form: str) -> None:
    name, words, write_in = Name("a"), '\'s "list" < & >', FORMS[form].write
    sentence = say("{name}" + words, name=name)
    assert write_in(sentence) == write_in(name) + write_in(words)


def test_latex_is_ascii_but_for_names_of_the_users() -> None:
    """What LaTeX has no sign for is mathematics, or pdflatex would stop."""
    assert (RECORDED.folder / "tables.tex").read_text("utf-8").isascii()
    for sign in SIGNS:
        assert LATEX.write(sign).isascii(), sign
    hit = recnb.evaluate({"사용자": ["가"]}, {"사용자": ["가"]}).user("사용자")
    text = hit.to_latex()
    assert r"$\surd$" in text
    assert {sign for sign in text if not sign.isascii()} == set("사용자가")
