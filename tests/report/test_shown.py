"""What a report shows, held against files: after a change of words, `python -m tests.report.test_shown` writes them and git shows the difference."""

from functools import cache
from pathlib import Path

import pytest

import recnb

SHOWN = Path(__file__).parent / "shown"


@cache
def report(name):
    sample = recnb.datasets.load_sample()
    side_data = {"train": sample.train, "items": sample.items}
    if name == "one":
        ev = recnb.evaluate(sample.models["item-knn"], sample.test, **side_data)
        return ev.report(k=[5, 10], by="activity", lang="en")
    found = recnb.compare(sample.models, sample.test, baseline="popular", **side_data)
    return found.report(k=[5, 10], metrics=["ndcg", "recall", "coverage"], by="activity", movers=1, lang="en")


FORMS = {"txt": repr, "md": lambda one: one.to_markdown(), "tex": lambda one: one.to_latex()}
FILES = [f"{name}.{form}" for name in ("one", "several") for form in FORMS]


def text(file):
    name, form = file.split(".")
    return FORMS[form](report(name)).rstrip("\n") + "\n"


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    assert text(file) == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    SHOWN.mkdir(exist_ok=True)
    for file in FILES:
        (SHOWN / file).write_text(text(file), "utf-8")
