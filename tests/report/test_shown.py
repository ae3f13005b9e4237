"""What a report shows, held against files of calls: `python -m tests.report.test_shown`
writes what each shows, and git the difference. The lint in it looks for unjudged items
with `recnb.search`.
"""

import re
from base64 import b64decode
from math import nan

import pandas as pd
import pytest

import recnb
from recnb.display import svg
from recnb.report import sections
from tests.drawn import html_of
from tests.report import models
from tests.sample import SAMPLE
from tests.shown import Recorded, text_of

BARE = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test)


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
#: Eight models, of which every two are compared.
EIGHT = {}
for at in range(8):
    lists = list(SAMPLE.models.values())[at % 3]
    EIGHT[f"m{at}"] = lists[lists["rank"] > at // 3]
SIX = ["hit_rate", "ndcg", "precision", "recall", "f1", "rbp"]
TEAMS = pd.Series(["x", "y"] * 6, TWELVE, name="team")
#: Ten models of one mean, and nine and another.
HALF = {user: ["a" if user % 2 else "b"] for user in range(24)}
ALIKE = {f"m{at}": {user: ["a"] for user in HALF} for at in range(10)}
NINE_ALIKE = ALIKE | {"m9": {user: ["x"] for user in HALF}}
#: Three users, one of whom has most of the weight.
THREE = pd.DataFrame({"user": [*"abc"], "weight": [100.0, 1, 1]})
THREE_LISTS = {user: ["x"] for user in "abc"}
#: Models whose lists lack more and more rows, and models with rows that repeat.
GAPS = {
    f"m{at}": SAMPLE.models["popular"].sample(frac=1 - at / 20, random_state=1)
    for at in range(6)
}
REPEATED = {
    name: pd.concat([frame, frame[:5]]).drop(columns="rank")
    for name, frame in SAMPLE.models.items()
}


def with_hits(n_hits):
    """Return 30 users of two teams, so many of whom find something."""
    users = pd.DataFrame({"user": range(30), "team": [*"ab"] * 15})
    items = ["a"] * n_hits + ["b"] * (30 - n_hits)
    recs = pd.DataFrame({"user": range(30), "item": items, "rank": 1})
    truth = recs.assign(item="a").drop(columns="rank")
    return {"recs": recs, "truth": truth, "users": users}


def headline_of(report):
    """Return what a report says first, above its tables."""
    return repr(report).partition("\n\nMeans ")[0]


def page_of(report):
    """Return a page without its last line, the version and the date."""
    return report.to_markdown().rpartition("\n\nrecnb ")[0]


def foot_in_notebook(report):
    """Return the last line of what a notebook shows."""
    page = re.sub("<[^>]*>", "", report._repr_html_())
    return page[page.rindex("The same numbers") :]


def section(report, *titles):
    """Return sections of a page; behind the last one is the foot of the page."""
    sections = page_of(report).split("\n### ")
    found = [[each for each in sections if each.startswith(title)] for title in titles]
    return "\n".join(text for (text,) in found)


def reading(report):
    """Return how to read a report, without the table of metrics."""
    lines = section(report, "How to read").splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("|"))


def pictures_of(drawn):
    """Return the pictures of a report with their words, or one, a shape a line."""
    pictures = [("", drawn)]
    if not isinstance(drawn, str):
        images = re.findall('base64,([^"]+)" alt="([^"]*)"', drawn.to_html())
        pictures = [(words, b64decode(image).decode()) for image, words in images]
    lines = [line for words, picture in pictures for line in (words, picture)]
    drawn = "\n".join(lines).strip()
    return re.sub(r"><(?=(?:circle|g|path|rect|svg)\b)", ">\n<", drawn)


FILES = {
    "one.txt": repr,
    "one.md": page_of,
    "several.txt": repr,
    "several.md": page_of,
    "headlines.txt": headline_of,
    "sections.txt": text_of,
    "pictures.txt": pictures_of,
    "pages.html": lambda report: html_of(report._repr_html_()),
}
NAMES = vars(models) | globals() | {"means": sections.means, "nan": nan, "svg": svg}
RECORDED = Recorded(__file__, FILES, NAMES)


@pytest.mark.parametrize("file", FILES)
def test_what_is_shown_is_what_is_written_down(file):
    RECORDED.hold(file)


if __name__ == "__main__":
    RECORDED.write()
