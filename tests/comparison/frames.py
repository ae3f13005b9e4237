"""Small frames whose numbers can be worked out by hand."""

import pandas as pd


def lists(**users):
    """A frame of recommendations from user="items in order"."""
    rows = [(user, item, rank) for user, items in users.items() for rank, item in enumerate(items, 1)]
    return pd.DataFrame(rows, columns=["user", "item", "rank"])


TRUTH = pd.DataFrame({"user": list("abcd"), "item": list("xxxx")})
FIRST = lists(a="xy", b="yx", c="pq", d="xq")  # reciprocal ranks 1, 1/2, 0, 1
SECOND = lists(a="yx", b="yx", c="pq", d="qx")  # 1/2, 1/2, 0, 1/2
