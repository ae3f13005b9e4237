"""Frames with every awkward case of conventions."""

from __future__ import annotations

import numpy as np
import pandas as pd


def awkward(
    seed: int, grades: tuple[float, ...] = (1.0, 0.0, 2.0, 4.0, 0.5, -1.0)
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """String ids, ties, scores of 0 and below, repeated pairs, short lists, users in one frame only, grades of 0 and below."""
    rng = np.random.default_rng(seed)
    users, items = [f"u{n}" for n in (2, 10, 1, 3, 33, 4, 21)], [*"bacdäXz", "i9", "i10"]
    recs, truth = [], []
    for place, user in enumerate(users):
        n = 0 if place == 3 else int(rng.integers(1, 8))
        chosen = rng.choice(items, size=n)  # with repeats
        scores = rng.choice([2.0, 1.0, 1.0 + 1e-9, 0.5, 0.0, -1.0], size=n)
        recs += [
            {"user": user, "item": item, "score": score, "rank": rank}
            for item, score, rank in zip(chosen, scores, rng.permutation(n) + 1, strict=True)
        ]
        m = 0 if place == 4 else int(rng.integers(1, 6))
        found = rng.choice(items, size=m, replace=False)
        own = (0.0,) if place == 5 else grades
        truth += [{"user": user, "item": item, "relevance": rng.choice(own)} for item in found]
    return pd.DataFrame(recs), pd.DataFrame(truth)
