"""MovieLens 100K, downloaded or read from a local copy.

Its licence forbids that it comes with recnb.
"""

from __future__ import annotations

import csv
import os
import zipfile
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import pandas as pd

from recnb.display.language import _
from recnb.errors import RecnbError

ADDRESS = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
CHECKSUM = "md5:0e33842e24a9c977be4e0107933c0723"  # published beside the archive

#: The columns of each file, in its order, with their types.
RATINGS = {"user": "int64", "item": "int64", "rating": "int64", "timestamp": "int64"}
USERS = {
    "user": "int64",
    "age": "int64",
    "gender": "str",
    "occupation": "str",
    "zip": "str",
}
GENRES = {"genre": "str", "number": "int64"}
#: A flag for each genre follows.
FILMS = {
    "item": "int64",
    "title": "str",
    "date": "str",
    "video": "str",
    "address": "str",
}


@dataclass(frozen=True, repr=False, eq=False)
class MovieLens:
    """A MovieLens data set as pandas frames.

    Parameters
    ----------
    ratings : DataFrame
        Columns user, item, rating (1 to 5), timestamp (seconds since 1970), in the order
        of the file.
    items : DataFrame
        Columns item, title, genres ("Comedy|Drama"), year (missing where the file has no
        date).
    users : DataFrame
        Columns user, age, gender, occupation, zip (text).

    See Also
    --------
    load_movielens : How it is made.
    """

    #: user, item, rating (1 to 5), timestamp (seconds since 1970), in the order of the
    #: file
    ratings: pd.DataFrame
    #: item, title, genres ("Comedy|Drama"), year (missing where the file has no date)
    items: pd.DataFrame
    users: pd.DataFrame  #: user, age, gender, occupation, zip (text)

    def __repr__(self) -> str:
        return _(
            "MovieLens({n_users:,} {users}, {n_items:,} {items}, {ratings:,} ratings)",
            n_users=len(self.users),
            n_items=len(self.items),
            ratings=len(self.ratings),
        )


def load_movielens(path: str | os.PathLike[str] | None = None) -> MovieLens:
    """Load the ratings, films and users of MovieLens 100K.

    The data is that of https://grouplens.org/datasets/movielens/. A download is kept in
    the user's cache, and is checked; it needs pooch.

    Parameters
    ----------
    path : path, optional
        A folder or zip with the official files, read instead of downloading.

    Returns
    -------
    MovieLens
        Frames of ratings, films and users.

    Raises
    ------
    RecnbError
        There is no copy at `path`, or no download.

    References
    ----------
    F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and
    Context. ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19.
    https://doi.org/10.1145/2827872
    """
    folder = _folder(Path(path).expanduser() if path else _download())
    return MovieLens(
        ratings=_table(folder, "u.data", RATINGS, separator="\t"),
        items=_films(folder),
        users=_table(folder, "u.user", USERS),
    )


def _films(folder: Path | zipfile.Path) -> pd.DataFrame:
    """Read the films, with their genres as text and the year of their date."""
    genres = _table(folder, "u.genre", GENRES)["genre"].to_list()
    flag_types = dict.fromkeys(genres, "int64")
    films = _table(folder, "u.item", {**FILMS, **flag_types})
    flags = films[genres].to_numpy()
    genres_of_films = ["|".join(compress(genres, row)) for row in flags]
    year = films["date"].str[-4:]  # 01-Jan-1995
    return films[["item", "title"]].assign(
        genres=genres_of_films,
        year=pd.to_numeric(year, errors="coerce").astype("Int64"),
    )


def _download() -> Path:
    try:
        import pooch  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        raise RecnbError(
            'pooch downloads MovieLens: pip install "recnb[datasets]", or give path= a copy.'
        ) from error
    cache = pooch.os_cache("recnb")
    try:
        file = pooch.retrieve(ADDRESS, CHECKSUM, "ml-100k.zip", path=cache)
    except (OSError, ValueError) as error:
        # There is no connection, no such file, or it has another checksum.
        raise RecnbError(
            f"{ADDRESS} was not sent as expected: {error} Try again, or give path= a copy."
        ) from error
    return Path(file)


def _folder(path: Path) -> Path | zipfile.Path:
    """Return the folder with the files: `path`, or the one in the official zip."""
    folder: Path | zipfile.Path = path
    if zipfile.is_zipfile(path):
        folder = zipfile.Path(path) / "ml-100k"
    if (folder / "u.data").is_file():
        return folder
    raise RecnbError(
        f"{str(path)!r} is no folder and no zip with u.data: give path= one that is."
    )


def _table(
    folder: Path | zipfile.Path,
    file: str,
    types: dict[str, str],
    separator: str = "|",
) -> pd.DataFrame:
    """Read a file of the data set, whose columns have the names and types of `types`."""
    try:
        with (folder / file).open("rb") as lines:
            table = pd.read_csv(
                lines,
                sep=separator,
                names=list(types),
                index_col=False,
                dtype=types,
                encoding="latin-1",
                quoting=csv.QUOTE_NONE,
                keep_default_na=False,
                na_values={"date": [""]},
            )
        if table.empty:
            raise ValueError("it is empty")
    except (OSError, KeyError, ValueError) as error:
        raise RecnbError(
            f"{file} of {str(folder)!r} cannot be read: {error}. Get the archive again."
        ) from error
    return table
