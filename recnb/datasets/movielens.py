"""MovieLens, read from a local copy or downloaded; its licence forbids that it comes
with recnb.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import pandas as pd

from recnb.display.language import N_, _
from recnb.errors import RecnbError

ADDRESS = "https://files.grouplens.org/datasets/movielens/ml-100k.zip"
CHECKSUM = "md5:0e33842e24a9c977be4e0107933c0723"  # published beside the archive

FILMS = dict.fromkeys(["item", "title", "date", "video", "address"], "str") | {
    "item": "int64"
}
USERS = dict.fromkeys(["user", "age", "gender", "occupation", "zip"], "str") | {
    "user": "int64",
    "age": "int64",
}


@dataclass(frozen=True, repr=False, eq=False)
class MovieLens:
    """A MovieLens data set as pandas frames."""

    # : user, item, rating (1 to 5), timestamp (seconds since 1970), in the order of the
    # file
    ratings: pd.DataFrame
    # : item, title, genres ("Comedy|Drama"), year (missing where the file has no date)
    items: pd.DataFrame
    users: pd.DataFrame  #: user, age, gender, occupation, zip (text)

    def __repr__(self) -> str:
        words = N_("MovieLens({users:,} users, {items:,} items, {ratings:,} ratings)")
        return _(
            words,
            users=len(self.users),
            items=len(self.items),
            ratings=len(self.ratings),
        )


def load_movielens(
    name: str = "100k", path: str | os.PathLike[str] | None = None
) -> MovieLens:
    """Load the ratings, films and users of MovieLens 100K
    (https://grouplens.org/datasets/movielens/).

    `path` is a folder or zip with the official files, read instead of downloading; by
    default the environment variable RECNB_DATA_DIR. A download is kept in the user's
    cache, and is checked; it needs pooch.

    References
    ----------
    F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and
    Context. ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19.
    https://doi.org/10.1145/2827872
    """
    if name != "100k":
        raise RecnbError(f"Unknown MovieLens set {name!r}. Known: '100k'.")
    given = path or os.environ.get("RECNB_DATA_DIR")
    folder = _folder(Path(given).expanduser() if given else _download())
    genres = _table(folder, "u.genre", {"genre": "str", "number": "int64"})[
        "genre"
    ].to_list()
    films = _table(folder, "u.item", FILMS | dict.fromkeys(genres, "int64"))
    year = pd.to_numeric(films["date"].str[-4:], errors="coerce").astype("Int64")
    named = ["|".join(compress(genres, flags)) for flags in films[genres].to_numpy()]
    ratings = _table(
        folder,
        "u.data",
        dict.fromkeys(["user", "item", "rating", "timestamp"], "int64"),
        "\t",
    )
    items = films[["item", "title"]].assign(genres=named, year=year)
    return MovieLens(ratings, items, _table(folder, "u.user", USERS))


def _download() -> Path:
    try:
        import pooch  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return Path(
            pooch.retrieve(
                ADDRESS, CHECKSUM, "ml-100k.zip", path=pooch.os_cache("recnb")
            )
        )
    except ImportError as error:
        raise RecnbError(
            'pooch downloads MovieLens: pip install "recnb[datasets]", or give path= a copy.'
        ) from error
    except (
        OSError,
        ValueError,
    ) as error:  # no connection, no such file, or another checksum
        raise RecnbError(
            f"{ADDRESS} was not sent as expected: {error} Try again, or give path= a copy."
        ) from error


def _folder(path: Path) -> Path | zipfile.Path:
    """Return the folder with the files: `path`, or in it, or in a zip."""
    roots: list[Path | zipfile.Path] = [path]
    roots += [
        zipfile.Path(place)
        for place in (path, path / "ml-100k.zip")
        if zipfile.is_zipfile(place)
    ]
    for folder in [*roots, *(root / "ml-100k" for root in roots)]:
        if (folder / "u.data").is_file():
            return folder
    raise RecnbError(
        f"{str(path)!r} is no folder and no zip with u.data: give path= or "
        f"RECNB_DATA_DIR one that is."
    )


def _table(
    folder: Path | zipfile.Path, file: str, types: dict[str, str], separator: str = "|"
) -> pd.DataFrame:
    try:
        with (folder / file).open("rb") as lines:
            table = pd.read_csv(
                lines,
                sep=separator,
                names=[*types],
                index_col=False,
                dtype=dict(types),
                encoding="latin-1",
                quoting=3,
                keep_default_na=False,
                na_values={"date": [""]},
            )
        if table.empty:
            raise ValueError("it is empty.")
    except (OSError, KeyError, ValueError) as error:
        raise RecnbError(
            f"{file} of {str(folder)!r} cannot be read: {error}. Get the archive again."
        ) from error
    return table
