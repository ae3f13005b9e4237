"""The sample and its comparison, and small frames whose numbers can be worked out by
hand.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import recnb
from tests.rows import read_rows
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
#: The fields of a usual difference.
USUAL = read_rows("comparison/usual.toml")


def many_models(n: int) -> pd.DataFrame:
    """Lists of so many models, each with more chance than the one before."""
    rng = np.random.default_rng(1)
    frames = []
    for model in range(n):
        recs = SAMPLE.models["item-knn"].copy()
        moved = rng.random(len(recs)) < 0.02 * model
        recs["item"] = recs["item"].where(~moved, "none " + recs["rank"].astype(str))
        frames.append(recs[["user", "item", "rank"]].assign(model=f"run{model:02}"))
    return pd.concat(frames)


def models_at_random(seed: int) -> tuple[dict[str, Any], dict[int, list[str]]]:
    """Two to four models of 2 to 40 users, some of which are nearly the same."""
    rng = np.random.default_rng(seed)
    users = range(int(rng.integers(2, 41)))
    truth = {user: rng.choice(list("abcdef"), 2, False).tolist() for user in users}
    first = {user: rng.choice(list("abcdef"), 4, False).tolist() for user in users}
    models = {"first": first}
    for name in "xyz"[: rng.integers(1, 4)]:
        changed = rng.random(len(users)) < rng.choice([0.05, 0.4, 1.0])
        models[name] = {
            user: [*truth[user], "g"] if changed[user] else first[user]
            for user in users
        }
    return models, truth
