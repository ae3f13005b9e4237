"""All Korean text follows the list of terms, `notebooks/ko/terms.md`."""

import re
from collections.abc import Iterator

import pytest

from recnb.display.language import _, use_language
from recnb.metrics.metric import EVERY_METRIC
from tests.tools.notebooks import BUILT, SOURCES
from tests.tools.translations import stored

CATALOGUE = stored("ko")
#: Pages and sources of notebooks, which are written in Korean.
PAGES = [
    path
    for path in (*(SOURCES / "ko").glob("*.py"), *(BUILT / "ko").glob("*.md"))
    if path.name != "terms.md"
]


def rows(title: str) -> list[list[str]]:
    """The rows of the table under a title."""
    page = (BUILT / "ko/terms.md").read_text("utf-8")
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", section, re.M)[1:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


TERMS = rows("용어")
AVOIDED = [row[0] for row in rows("쓰지 않는 말")]


def texts() -> Iterator[tuple[str, str]]:
    """Every Korean text with where it stands."""
    for message in CATALOGUE:
        if message.id:
            forms = message.string
            for text in [forms] if isinstance(forms, str) else forms:
                yield text, str(message.id)
    for path in PAGES:
        # A line break of a comment in a source is a blank.
        text = re.sub(r"\s*\n#?\s*", " ", path.read_text("utf-8"))
        yield text, path.name


def test_there_are_terms() -> None:
    assert len(TERMS) >= 40
    assert len(AVOIDED) > 20
    assert {"04_dcg_ndcg.py", "words.py", "teaching.md"} <= {p.name for p in PAGES}


@pytest.mark.parametrize("row", TERMS, ids=[row[0] for row in TERMS])
def test_a_term_is_translated_as_the_list_has_it(row: list[str]) -> None:
    english, korean = row[:2]
    with_fields = re.sub(r"\b(user|item)(s?)\b", r"{\1\2}", english)
    message = CATALOGUE.get(english) or CATALOGUE.get(with_fields)
    assert message is not None, "no message of the catalogue"
    with use_language("ko"):
        assert _(message.id) == korean


@pytest.mark.parametrize("words", AVOIDED)
def test_words_of_the_list_are_avoided(words: str) -> None:
    # Two letters may be part of another word, as 쪽과 is of 오른쪽과.
    before = r"(?<![가-힣])" if len(words) == 2 else ""
    found = re.compile(before + re.escape(words))
    assert [where for text, where in texts() if found.search(text)] == []


def test_what_is_to_be_done_is_said_in_one_form() -> None:
    other = re.compile(r"하라[.:]|십시오|[가-힣]세요")
    assert [where for text, where in texts() if other.search(text)] == []


def test_every_metric_of_accuracy_is_in_the_list() -> None:
    listed = {row[0] for row in TERMS}
    names = {"precision", "recall", "f1", "hit_rate", "ndcg", "dcg", "cg", "idcg"}
    names |= {"reciprocal_rank", "average_precision", "r_precision", "rbp", "err"}
    with use_language("en"):
        assert {EVERY_METRIC[name].term for name in names} <= listed
