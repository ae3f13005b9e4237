"""The sample data set that comes with recnb: synthetic ratings of films, and what
`tests/tools/make_sample.py` recommends from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import pandas as pd

from recnb.display.language import N_, _

MODELS = ("item-knn", "factors", "popular")
TEXT = dict.fromkeys(["user", "item", "title", "genres", "segment", "branch"], "str")


@dataclass(frozen=True, repr=False, eq=False)
class Sample:
    """Ratings of an imaginary library's films before and after day 150, and the lists
    of three recommenders.

    Some users have no test row, and two joined too late to be in train: those two have
    test rows and no recommendations.
    """

    train: pd.DataFrame  #: user, item, rating (1 to 5), day (from 0)
    test: pd.DataFrame  #: user, item, rating, from day 150 on
    items: pd.DataFrame  #: item, title, genres ("comedy|drama"), year, minutes
    # : user, segment ("new", "regular" or "devoted", by number of ratings), branch,
    # joined (day)
    users: pd.DataFrame
    #: model, user, item, rank, score (falling, without ties): 20 films a user, none of
    #: them in the user's train rows
    recommendations: pd.DataFrame

    @property
    def models(self) -> dict[str, pd.DataFrame]:
        """Recommendations by model: new frames of user, item, rank and score."""
        parts = self.recommendations.groupby("model", sort=False, observed=True)
        return {
            str(name): part.drop(columns="model").reset_index(drop=True)
            for name, part in parts
        }

    def __repr__(self) -> str:
        counts = {
            name: len(getattr(self, name))
            for name in ("users", "items", "train", "test")
        }
        text = N_(
            "Sample({users:,} users, {items:,} items, {train:,} train and "
            "{test:,} test ratings, models {names})"
        )
        return _(text, **counts, names=", ".join(self.models))


def load_sample() -> Sample:
    """Read the sample data set, in new frames. `"item-knn"` and `"factors"` are about
    equally good, `"popular"` is behind.

    >>> load_sample()
    Sample(300 users, 250 items, 5,073 train and 1,084 test ratings,
    models item-knn, factors, popular)
    """
    lists = pd.concat(
        [_read(f"recommendations-{name}").assign(model=name) for name in MODELS],
        ignore_index=True,
    )
    lists["rank"] = (
        lists.groupby(["model", "user"]).cumcount() + 1
    )  # the files hold each list in rank order
    frames = {name: _read(name) for name in ("train", "test", "items", "users")}
    return Sample(
        **frames, recommendations=lists[["model", "user", "item", "rank", "score"]]
    )


def _read(name: str) -> pd.DataFrame:
    with (
        resources.files("recnb.datasets")
        .joinpath("sample", f"{name}.csv")
        .open("rb") as file
    ):
        return pd.read_csv(file, dtype=TEXT)
