"""What a report shows, held against files of calls: `python -m tests.report.test_shown`
writes what each shows, and git the difference. The lint in it looks for unjudged items
with `recnb.search`.
"""

import pytest

import recnb
from tests.sample import SAMPLE
from tests.shown import Recorded

SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)


#: Users of whom some find anything, and models that they find it with.
ALL = {user: ["a"] for user in range(1000)}
FEW = {0: ["b"], 1: ["a"], 2: ["b"]}
WITH_ONE_HIT = {user: ["b" if user else "a"] for user in ALL}
WITH_ONE_MISS = {user: ["a" if user else "b"] for user in ALL}
TWELVE = {user: ["a"] for user in range(12)}
MODELS = {
    name: {user: ["a" if user < n_found else "b"] for user in TWELVE}
    for name, n_found in {"e": 1, "d": 2, "c": 4, "b": 6, "a": 8}.items()
}
#: Ten models of one mean, and nine and another.
HALF = {user: ["a" if user % 2 else "b"] for user in range(24)}
ALIKE = {f"m{at}": {user: ["a"] for user in HALF} for at in range(10)}
NINE_ALIKE = ALIKE | {"m9": {user: ["x"] for user in HALF}}


def headline_of(report):
    """Return what a report says first, above its tables."""
    return repr(report).partition("\n\nMeans ")[0]


def page_of(report):
    """Return a page without its last line, the version and the date."""
    return report.to_markdown().rpartition("\n\nrecnb ")[0]


FILES = {
    "one.txt": repr,
    "one.md": page_of,
    "several.txt": repr,
    "several.md": page_of,
    "headlines.txt": headline_of,
}
RECORDED = Recorded(__file__, FILES, globals())


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    RECORDED.hold(file)


if __name__ == "__main__":
    RECORDED.write()
