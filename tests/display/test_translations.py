"""The catalogue of translations: complete, compiled, in step with the code, with the
metrics and with their formulas.
"""

import re

import pytest

from recnb import METRICS
from recnb.beyond.catalogue import NEEDED, missing
from recnb.display.language import _, pgettext, use_language
from recnb.metrics.measure import EVERY_METRIC, Measure
from tests.strategies import each_word
from tests.tools.translations import mo_of, path_of, po_of, problems, stored, updated

CATALOGUE = stored("ko")
COMMAND = "run: python -m tests.tools.translations"


def messages():
    for message in CATALOGUE:
        if message.id:
            yield (
                message,
                *(
                    [text] if isinstance(text, str) else [*text]
                    for text in (message.id, message.string)
                ),
            )


@pytest.mark.slow
def test_the_catalogue_is_in_step_with_the_code():
    """Of all tests this one alone fails for a missing translation, and in CI, where a
    release is made.
    """
    made = updated("ko")
    assert problems(made) == [], COMMAND
    assert po_of(made).decode() == path_of("ko").read_text("utf-8"), COMMAND
    assert mo_of(made) == path_of("ko").with_suffix(".mo").read_bytes(), COMMAND
    with use_language("ko"):
        assert _("{users}") != pgettext("number", "{users}")
    assert (pgettext("number", "{users}"), _("")) == ("users", "")
    assert len(made) > 800


#: Messages that are no sentences with fields: names of metrics, the first lines of their
#: docstrings, and errors that are shown as well, which speak of frames and columns.
WITHOUT_FIELDS = {
    *(metric.called for metric in EVERY_METRIC.values()),
    *(metric.title for metric in EVERY_METRIC.values()),
    *(metric.no_value for metric in EVERY_METRIC.values()),
    *(missing("", needed).lack for needed in NEEDED),
}
#: Names in code: a column, an option, a value of one.
CODE = re.compile(r"`[^`]*`|\w+=|\w+\([^)]*\)|\{[^}]*\}")
A_NOUN = re.compile(r"\b([Uu]sers?|[Ii]tems?)\b|사용자|아이템")


def test_users_and_items_are_fields():
    bare = {
        text
        for message, english, korean in messages()
        if message.context != "formula" and english[0] not in WITHOUT_FIELDS
        for text in (*english, *korean)
        if "\\" not in text and A_NOUN.search(CODE.sub("", text))
    }
    # Korean calls the reader of a list a user.
    readers = {
        CATALOGUE[message.id].string
        for message, english, _korean in messages()
        if "reader" in english[0]
    }
    assert bare <= readers


def test_korean_is_korean():
    for message, english, korean in messages():
        if message.context != "formula" and "\\" not in "".join(english):
            letters = re.sub(r"\{[^}]*\}|\\\w+", "", "".join(english))
            assert re.search("[가-힣]", "".join(korean)) or not re.search(
                "[a-z]{4}", letters
            ), message.id
        assert not re.search("[가-힣]", "".join(english)), message.id


@pytest.mark.parametrize("name", METRICS)
def test_a_formula_is_the_same_in_korean(name):
    """Word by word it is the English one, which tests evaluate."""
    metric = METRICS[name]
    words = {
        message.string: message.id
        for message, *_texts in messages()
        if message.context == "formula"
    }
    for options in each_word(metric):
        measure = Measure(metric, options, 3)
        english = [measure.credit.text(), measure.out_of.text()]
        plain = measure.latex()
        with use_language("ko"):
            korean = [measure.credit.text(), measure.out_of.text()]
            line, latex = measure.formula_text(), measure.latex()
        assert line.startswith(f"{CATALOGUE[metric.called].string} = ")
        assert korean[0] in line or korean[0] == "1", "a number of rows"
        for text, expected in zip(korean, english, strict=True):
            # The longest first: "순위" is part of no other word, "관련도" is of "최대 관련도".
            for own in sorted(words, key=len, reverse=True):
                text = text.replace(own, words[own])
            assert text == expected
        assert all(
            latex.count(opening) == latex.count(closing)
            for opening, closing in ("{}", "()", "[]")
        )
        assert (
            len(
                {re.sub(r"\\(text|mathrm)\{[^}]*\}", "", one) for one in (latex, plain)}
            )
            == 1
        )
