"""What a comparison shows, held against a file of calls: `python -m
tests.comparison.test_shown` writes what each shows, and git the difference.
"""

import numpy as np
import pandas as pd

import recnb
from tests.comparison.frames import FIRST, SAMPLE, SECOND, TRUTH, compared, lists
from tests.shown import Recorded, text_of

FOUND = compared()
EVERY_PAIR = recnb.compare(SAMPLE.models, SAMPLE.test, pairs="all")
FIRST_MODEL = recnb.compare(SAMPLE.models, SAMPLE.test)
TWO_MODELS = {name: SAMPLE.models[name] for name in ("factors", "popular")}
#: Some users are too few for a test.
FEW = SAMPLE.users.assign(few=np.where(SAMPLE.users["user"] < "u006", "few", "many"))
BY_FEW = recnb.compare(SAMPLE.models, SAMPLE.test, baseline="popular", users=FEW)
WEEKS = SAMPLE.test.assign(week=SAMPLE.test.index % 2)
#: The other model has one list, of which no two can differ.
ONE_LIST = {"all": SAMPLE.models["factors"]}
ONE_LIST["one"] = ONE_LIST["all"].query("user == 'u002'")

NEW = lists(a="xy", b="qp", c="px", d="xq")
MOVED = recnb.compare({"old": SECOND, "new": NEW}, TRUTH)
NOTHING, HALF = (
    lists(a="pq", b="pq", c="pq", d="pq"),
    lists(a="px", b="px", c="px", d="px"),
)
SHARED = {"none": NOTHING, "one": FIRST, "same": FIRST, "half": HALF}
THREE = {"a": FIRST, "b": SECOND, "c": lists(a="px", b="xp")}
GAPS = FIRST.assign(rank=FIRST["rank"] * 2)
TWICE = pd.DataFrame({"user": "a", "item": [*"xxy"], "rank": [1, 2, 3]})
#: Equal scores decide for one of two models.
EQUAL = pd.DataFrame(
    {"qid": np.repeat(np.arange(60), 8), "label": [1, 1, *[0] * 6] * 60}
)
EQUAL = EQUAL.assign(pred=0.0, pred2=np.random.default_rng(0).normal(size=480))
#: Of thirty users ten have an item of relevance 3.
GRADED = pd.DataFrame(
    {"user": range(30), "item": "a", "relevance": [1] * 20 + [3] * 10}
)
HITS = GRADED[["user", "item"]].assign(rank=1)
BY_GRADE = recnb.compare({"x": HITS, "y": HITS[:25]}, GRADED, baseline="x")
#: Of items that are judged not relevant, and of some that nobody judged.
ITEMS = [f"i{at:02d}" for at in range(10)]
JUDGED = dict.fromkeys(
    range(40), dict.fromkeys(ITEMS[:3], 1) | dict.fromkeys(ITEMS[3:6], 0)
)
RANKINGS = {
    "*usual*": [ITEMS[3], ITEMS[0], *ITEMS[4:6]],
    "new": [*ITEMS[8:], *ITEMS[:3]],
    "same": [ITEMS[4], ITEMS[5]],
}
UNJUDGED = {name: dict.fromkeys(range(40), items) for name, items in RANKINGS.items()}

RECORDED = Recorded(__file__, {"comparison.txt": text_of}, globals())


def test_what_is_shown_is_what_is_written_down() -> None:
    RECORDED.hold("comparison.txt")


if __name__ == "__main__":
    RECORDED.write()
