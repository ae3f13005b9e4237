"""The sample data set that comes with recnb: synthetic ratings of films, drawn from a fixed seed by `tests/make_sample.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import pandas as pd

from recnb.errors import RecnbError

MODELS = ("item-knn", "factors", "popular")


@dataclass(frozen=True, repr=False, eq=False)
class Sample:
    """The sample data set: ratings before and after a day, and the lists of three recommenders.

    Attributes
    ----------
    train
        A row per rating before day 150: user, item (str), rating (int, 1 to 5), day (int, from 0).
    test
        A row per rating from day 150 on: user, item, rating.
    items
        A row per film: item, title, genres (``"comedy|drama"``), year, minutes.
    users
        A row per user: user, segment (``"new"``, ``"regular"`` or ``"devoted"``, by number of ratings), branch (of the
        imaginary library), joined (day).
    recommendations
        A row per model, user and rank: model, user, item, rank (from 1), score (descending, without ties in a list). 20
        films a user, none of them in the user's train rows.

    Some users have no test row, and two joined too late to be in train: those two have test rows and no recommendations.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    items: pd.DataFrame
    users: pd.DataFrame
    recommendations: pd.DataFrame

    @property
    def models(self) -> dict[str, pd.DataFrame]:
        """Recommendations by model: new frames of user, item, rank and score.

        >>> list(load_sample().models)
        ['item-knn', 'factors', 'popular']
        """
        parts = self.recommendations.groupby("model", sort=False, observed=True)
        return {str(name): part.drop(columns="model").reset_index(drop=True) for name, part in parts}

    def __repr__(self) -> str:
        names = ", ".join(str(name) for name in self.recommendations["model"].unique())
        return (
            f"Sample({len(self.users):,} users, {len(self.items):,} items, {len(self.train):,} train and "
            f"{len(self.test):,} test ratings, models {names})"
        )


def load_sample() -> Sample:
    """Read the sample data set from the files of the package.

    It needs no network and takes some hundredths of a second. The data are synthetic: an imaginary library of short films,
    with a realistic popularity, activity and taste. Two of the three recommenders, ``"item-knn"`` and ``"factors"``, are
    about equally good (nDCG@10 of about 0.26) and ``"popular"`` is clearly behind (0.17), by construction.

    Returns
    -------
    Sample
        New frames in each call, which may be changed.

    Raises
    ------
    RecnbError
        A file of the sample is missing from the installed package.

    Examples
    --------
    >>> sample = load_sample()
    >>> sample
    Sample(300 users, 250 items, 5,073 train and 1,084 test ratings, models item-knn, factors, popular)
    >>> sample.models["popular"].head(2)
       user  item  rank   score
    0  u001  i027     1  0.4267
    1  u001  i076     2  0.3167
    """
    ids = {"user": "str", "item": "str"}
    lists = [_read(f"recommendations-{name}", {**ids, "score": "float64"}) for name in MODELS]
    for name, frame in zip(MODELS, lists, strict=True):
        frame.insert(0, "model", name)
        # The files hold each list in rank order.
        frame.insert(3, "rank", frame.groupby("user", sort=False).cumcount() + 1)
    return Sample(
        train=_read("train", {**ids, "rating": "int64", "day": "int64"}),
        test=_read("test", {**ids, "rating": "int64"}),
        items=_read("items", {"item": "str", "title": "str", "genres": "str", "year": "int64", "minutes": "int64"}),
        users=_read("users", {"user": "str", "segment": "str", "branch": "str", "joined": "int64"}),
        recommendations=pd.concat(lists, ignore_index=True),
    )


def _read(name: str, dtypes: Mapping[str, str]) -> pd.DataFrame:
    """A file of the sample as a frame."""
    file = resources.files("recnb.datasets").joinpath("sample", f"{name}.csv")
    try:
        with file.open("rb") as stream:
            return pd.read_csv(stream, dtype=dict(dtypes))
    except FileNotFoundError:
        raise RecnbError(
            f"The sample data set lacks its file {name}.csv, so recnb is not completely installed. "
            "Install it again: pip install --force-reinstall recnb"
        ) from None
