"""The three recommenders of the sample data set, an imaginary library of short films:
`python -m tests.tools.make_sample`.

They are real, if small, and see the train ratings only; the films, users and ratings
were drawn once, and are data. The command writes the recommendations again, the same
bytes each time: scores are rounded before they are ordered, and ties go to the lower
position, so that the last bits of a sum, which differ between builds of NumPy, decide
nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

import recnb.datasets

Floats = npt.NDArray[np.float64]

FOLDER = Path(recnb.datasets.__file__).parent / "sample"
LIST_LENGTH = 20
NEIGHBOURS, SHRINKAGE = 40, 5.0  # item-knn
FACTORS = 6
DIGITS = 4  # decimals kept in a written score


def item_knn(seen: Floats) -> Floats:
    """Scores (users, items) by cosine similarity to the user's films, nearest
    neighbours only.
    """
    together = seen.T @ seen
    size = np.sqrt(np.diag(together))
    # Shrinkage: a similarity that rests on two or three users is mostly luck.
    similarity = np.round(together / (np.outer(size, size) + SHRINKAGE), 9)
    np.fill_diagonal(similarity, 0.0)
    far = np.argsort(-similarity, axis=1, kind="stable")[:, NEIGHBOURS:]
    np.put_along_axis(similarity, far, 0.0, axis=1)
    # A little popularity orders what no neighbour reaches, which users with few ratings
    # need.
    return np.asarray(seen @ similarity.T + 0.01 * popular(seen))


def factors(seen: Floats) -> Floats:
    """Scores (users, items) from the truncated singular value decomposition of who saw
    what.
    """
    left, strength, right = np.linalg.svd(seen, full_matrices=False)
    return np.asarray((left[:, :FACTORS] * strength[:FACTORS]) @ right[:FACTORS])


def popular(seen: Floats) -> Floats:
    """Scores (users, items): the share of users who saw the film, the same for
    everybody.
    """
    share = seen.mean(axis=0)
    order = np.argsort(-np.round(share, 9), kind="stable")
    share[order] = distinct(share[order])
    return np.tile(share, (len(seen), 1))


def distinct(scores: Floats) -> Floats:
    """Descending scores as rounded numbers with no two alike: a tie goes one last digit
    lower.
    """
    steps = np.round(scores * 10**DIGITS).astype(np.int64)
    for place in range(1, len(steps)):
        steps[place] = min(steps[place], steps[place - 1] - 1)
    return np.asarray(steps / 10.0**DIGITS)


def recommendations(model: str) -> pd.DataFrame:
    """The LIST_LENGTH best unseen films (user, item, score) of each user with a past,
    best first.
    """
    sample = recnb.datasets.load_sample()
    users, items = sample.users["user"], sample.items["item"]
    seen = pd.crosstab(sample.train["user"], sample.train["item"]).reindex(
        index=users, columns=items, fill_value=0
    )
    had = seen.to_numpy(dtype=float)
    scores = np.where(had > 0, -np.inf, np.round(MODELS[model](had), DIGITS))
    parts = []
    for user in np.flatnonzero(had.any(axis=1)):
        best = np.argsort(-scores[user], kind="stable")[:LIST_LENGTH]
        parts.append(
            pd.DataFrame(
                {
                    "user": users[user],
                    "item": items[best],
                    "score": distinct(scores[user, best]),
                }
            )
        )
    return pd.concat(parts)


def written(model: str) -> bytes:
    """The file of a model's recommendations, with the same line ends on every system."""
    return (
        recommendations(model)
        .to_csv(index=False, lineterminator="\n", float_format=f"%.{DIGITS}f")
        .encode()
    )


MODELS = {"item-knn": item_knn, "factors": factors, "popular": popular}

if __name__ == "__main__":
    for name in MODELS:
        (FOLDER / f"recommendations-{name}.csv").write_bytes(written(name))
