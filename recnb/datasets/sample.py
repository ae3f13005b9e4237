"""The sample data set that comes with recnb: synthetic ratings of films.

Its lists are what `tests/tools/make_sample.py` recommends from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from recnb.datasets.bundled import frames_by, read_bundled
from recnb.display.language import _

MODELS = ("item-knn", "factors", "popular")


@dataclass(frozen=True, repr=False, eq=False)
class Sample:
    """Ratings of an imaginary library's films, and the lists of three recommenders.

    Ratings before day 150 are in train, the others in test. Some users have no test
    row, and two joined too late to be in train: those two have test rows and no
    recommendations.

    Parameters
    ----------
    train : DataFrame
        Columns user, item, rating (1 to 5), day (from 0).
    test : DataFrame
        Columns user, item, rating, from day 150 on.
    items : DataFrame
        Columns item, title, genres ("comedy|drama"), year, minutes.
    users : DataFrame
        Columns user, segment ("new", "regular" or "devoted", by number of ratings),
        branch, joined (day).
    recommendations : DataFrame
        Columns model, user, item, rank, score (falling, without ties): 20 films a user,
        none of them in the user's train rows.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> list(sample.models)
    ['item-knn', 'factors', 'popular']
    """

    train: pd.DataFrame  #: user, item, rating (1 to 5), day (from 0)
    test: pd.DataFrame  #: user, item, rating, from day 150 on
    items: pd.DataFrame  #: item, title, genres ("comedy|drama"), year, minutes
    #: user, segment ("new", "regular" or "devoted", by number of ratings), branch,
    #: joined (day)
    users: pd.DataFrame
    #: model, user, item, rank, score (falling, without ties): 20 films a user, none of
    #: them in the user's train rows
    recommendations: pd.DataFrame

    @property
    def models(self) -> dict[str, pd.DataFrame]:
        """Recommendations by model: new frames of user, item, rank and score."""
        return frames_by(self.recommendations, "model")

    def __repr__(self) -> str:
        return _(
            "Sample({n_users:,} {users}, {n_items:,} {items}, {train:,} train and "
            "{test:,} test ratings, models {names})",
            n_users=len(self.users),
            n_items=len(self.items),
            train=len(self.train),
            test=len(self.test),
            names=", ".join(self.models),
        )


def load_sample() -> Sample:
    """Read the sample data set, in new frames.

    `"item-knn"` and `"factors"` are about equally good, `"popular"` is behind.

    Returns
    -------
    Sample
        Frames of ratings, films, users and recommendations.

    Examples
    --------
    >>> import recnb
    >>> recnb.datasets.load_sample()
    Sample(300 users, 250 items, 5,073 train and 1,084 test ratings,
    models item-knn, factors, popular)
    """
    lists = []
    for model in MODELS:
        rows = read_bundled("sample", f"recommendations-{model}")
        # A file holds each list in rank order.
        rank = rows.groupby("user").cumcount() + 1
        lists.append(rows.assign(model=model, rank=rank))
    recommendations = pd.concat(lists, ignore_index=True)
    return Sample(
        train=read_bundled("sample", "train"),
        test=read_bundled("sample", "test"),
        items=read_bundled("sample", "items"),
        users=read_bundled("sample", "users"),
        recommendations=recommendations[["model", "user", "item", "rank", "score"]],
    )
