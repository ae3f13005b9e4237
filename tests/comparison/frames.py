"""The sample and its comparison, and small frames whose numbers can be worked out by
hand.
"""

from functools import cache

import pandas as pd

import recnb
from tests.sample import SAMPLE

SIDES = {"train": SAMPLE.train, "items": SAMPLE.items}


@cache
def compared():
    """The models of the sample against the most popular items."""
    return recnb.compare(
        SAMPLE.recommendations, SAMPLE.test, baseline="popular", **SIDES
    )


def lists(**users):
    """A frame of recommendations from user="items in order"."""
    rows = [
        (user, item, rank)
        for user, items in users.items()
        for rank, item in enumerate(items, 1)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "rank"])


TRUTH = pd.DataFrame({"user": list("abcd"), "item": list("xxxx")})
FIRST = lists(a="xy", b="yx", c="pq", d="xq")  # reciprocal ranks 1, 1/2, 0, 1
SECOND = lists(a="yx", b="yx", c="pq", d="qx")  # 1/2, 1/2, 0, 1/2
