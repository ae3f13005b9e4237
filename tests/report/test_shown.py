"""What a report shows, held against files of calls: `python -m tests.report.test_shown`
writes what each shows, and git the difference. The lint in it looks for unjudged items
with `recnb.search`.
"""

import pytest

import recnb
from tests.shown import Recorded, text_of

SAMPLE = recnb.datasets.load_sample()
SIDE_DATA = {"train": SAMPLE.train, "items": SAMPLE.items}
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", **SIDE_DATA)
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDE_DATA)


def page_of(report):
    """Return a page without its last line, the version and the date."""
    return report.to_markdown().rpartition("\n\nrecnb ")[0]


FILES = {
    "one.txt": repr,
    "one.md": page_of,
    "several.txt": repr,
    "several.md": page_of,
    "comparison.txt": text_of,
}
RECORDED = Recorded(__file__, FILES, globals())


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    RECORDED.hold(file)


if __name__ == "__main__":
    RECORDED.write()
