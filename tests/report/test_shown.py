"""What a report shows, held against files: after a change of words, `python -m tests.report.test_shown` writes them and git shows the difference."""

from functools import cache
from pathlib import Path

import pytest

import recnb
from recnb.display.language import use_language

SHOWN = Path(__file__).parent / "shown"


@cache
def report(name, lang):
    sample = recnb.datasets.load_sample()
    side_data = {"train": sample.train, "items": sample.items}
    if name == "one":
        return recnb.evaluate(sample.models["item-knn"], sample.test, **side_data).report(
            k=[5, 10], by="activity", lang=lang
        )
    found = recnb.compare(sample.models, sample.test, baseline="popular", **side_data)
    return found.report(k=[5, 10], metrics=["ndcg", "recall", "coverage"], by="activity", movers=1, lang=lang)


#: Each file, and what it holds.
FILES = {
    f"{name}.{ending}": (name, lang, form)
    for name in ("one", "several")
    for ending, lang, form in (
        ("txt", "en", repr),
        ("md", "en", lambda one: one.to_markdown()),
        ("tex", "en", lambda one: one.to_latex()),
    )
}


def text(file):
    name, lang, form = FILES[file]
    with use_language("en"):
        return form(report(name, lang)).rstrip("\n") + "\n"


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    assert text(file) == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    SHOWN.mkdir(exist_ok=True)
    for file in FILES:
        (SHOWN / file).write_text(text(file), "utf-8")
