"""What a report shows, held against files: after a change of words, `python -m
tests.report.test_shown` writes them and git shows the difference. The lint in it looks
for unjudged items with `recnb.search`.
"""

from functools import cache
from pathlib import Path
from unittest import mock

import pytest

import recnb
from tests.sample import SAMPLE

SHOWN = Path(__file__).parent / "shown"


SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)


@cache
def report(name):
    if name == "several":
        return FOUND.report(
            k=[5, 10],
            metrics=["ndcg", "recall", "coverage"],
            by="activity",
            movers=1,
            lang="en",
        )
    ev = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)
    return ev.report(k=[5, 10], by="activity", lang="en")


def comparison():
    """What the methods of a comparison show; of many differences the conclusions do not
    stand below.
    """
    shown = [
        FOUND,
        FOUND.differences("ndcg", k=5),
        FOUND.differences(k=5),
        FOUND.differences("ndcg", k=10, by="activity"),
    ]
    shown += [
        FOUND.movers("ndcg", k=5, n=1),
        FOUND.overlap(k=5),
        FOUND.beyond(k=5),
        FOUND.curve(k=[1, 5]),
    ]
    shown += [
        recnb.compare(FOUND, pairs="all").report(k=[5, 10]),
    ]
    shown += [
        FOUND.not_worse("ndcg", k=10, model="factors"),
        FOUND["popular"].at_least("ndcg", 0.3, k=10),
    ]
    return "\n\n".join([*map(repr, shown), shown[1].to_latex()])


FORMS = {
    "txt": repr,
    "md": lambda one: one.to_markdown(),
}
FILES = [f"{name}.{form}" for name in ("one", "several") for form in FORMS]
FILES.append("comparison.txt")


def text(file):
    name, form = file.split(".")
    made = {"SOURCE_DATE_EPOCH": "1767225600"}
    version = mock.patch("recnb.version.__version__", "1.2.3")
    with version, mock.patch.dict("os.environ", made):
        shown = comparison() if name == "comparison" else FORMS[form](report(name))
    return shown.rstrip("\n") + "\n"


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    assert text(file) == (SHOWN / file).read_text("utf-8")


if __name__ == "__main__":
    SHOWN.mkdir(exist_ok=True)
    for file in FILES:
        (SHOWN / file).write_text(text(file), "utf-8")
