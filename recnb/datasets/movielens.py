"""MovieLens, read from a local copy or downloaded; its licence forbids that it comes with recnb."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.language import _
from recnb.errors import RecnbError, is_number

BASE_URL = "https://files.grouplens.org/datasets/movielens/"
# GroupLens publishes these sums next to the archives, as <archive>.md5.
CHECKSUMS = {"100k": "md5:0e33842e24a9c977be4e0107933c0723"}
DATA_DIR = "RECNB_DATA_DIR"
FILES = ("u.data", "u.item", "u.user", "u.genre")

#: What a field may hold, as regular expressions. One film has no date.
INTEGER, TEXT, DATE, FLAG = r"-?\d+", r"(?s:.*)", r"(\d\d?-\w+-\d{4})?", "[01]"


@dataclass(frozen=True, repr=False, eq=False)
class MovieLens:
    """A MovieLens data set as three pandas frames.

    Attributes
    ----------
    ratings
        user, item, rating (1 to 5), timestamp (seconds since 1970, UTC), all int64, in the order of the file.
    items
        item (int64), title, genres (``"Comedy|Drama"``), year (Int64, missing where the file has no date).
    users
        user, age (int64), gender, occupation, zip (text: some begin with 0 or have letters).
    """

    ratings: pd.DataFrame
    items: pd.DataFrame
    users: pd.DataFrame

    def __repr__(self) -> str:
        counts = {name: len(getattr(self, name)) for name in ("users", "items", "ratings")}
        return _("MovieLens({users:,} users, {items:,} items, {ratings:,} ratings)", **counts)


def load_movielens(
    name: str = "100k",
    path: str | os.PathLike[str] | None = None,
    *,
    base_url: str = BASE_URL,
    checksum: str | None = None,
) -> MovieLens:
    """Load the ratings, films and users of MovieLens, from a local copy or from the official address.

    The data do not come with recnb, since their licence forbids redistribution. They are downloaded once, into the
    user's cache folder, which needs ``pip install "recnb[datasets]"``. Terms of use:
    https://grouplens.org/datasets/movielens/.

    Parameters
    ----------
    name
        The data set; ``"100k"`` is the only one.
    path
        A folder or zip with the official files u.data, u.item, u.user and u.genre, or a folder that holds ``ml-100k`` or
        ``ml-100k.zip``; read instead of downloading. Default: the environment variable RECNB_DATA_DIR, if it is set.
    base_url
        The address (http or https) of the folder with the archive, for mirrors.
    checksum
        The checksum of the archive, as ``"md5:…"`` or ``"sha256:…"``; default: the official one. Local copies are not
        checked.

    Returns
    -------
    MovieLens
        For ``"100k"`` 943 users, 1,682 items and 100,000 ratings.

    Raises
    ------
    RecnbError
        Unknown name, failed download, other checksum, pooch not installed, missing file, or a line that cannot be read.

    References
    ----------
    F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. ACM Transactions on
    Interactive Intelligent Systems 5, 4, Article 19. https://doi.org/10.1145/2827872
    """
    if name not in CHECKSUMS:
        raise RecnbError(f"Unknown MovieLens set {name!r}. Known: {', '.join(map(repr, CHECKSUMS))}.")
    archive = f"ml-{name}.zip"
    if path is not None:
        return _parse(_texts(Path(path).expanduser(), archive, "path="))
    if folder := os.environ.get(DATA_DIR):
        return _parse(_texts(Path(folder).expanduser(), archive, f"The environment variable {DATA_DIR}"))
    return _parse(_texts(_download(archive, base_url, checksum or CHECKSUMS[name]), archive, "The download"))


def split_by_time(
    ratings: pd.DataFrame, test_share: float = 0.2, *, user: str = "user", time: str = "timestamp"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split ratings in time: the last ``test_share`` of each user's ratings are the test set.

    Each user is split by their own times, so that no test rating of a user lies before a train rating of theirs; between
    users the times overlap. The number of test ratings of a user is rounded down: at 0.2, a user with fewer than five
    ratings has none. Of ratings with the same time, the later row is the later rating.

    Parameters
    ----------
    ratings
        A frame with one row per rating.
    test_share
        Above 0 and below 1.
    user, time
        The columns of user ids and of times, which may be numbers or dates.

    Returns
    -------
    train, test : DataFrame
        All columns; rows keep their order and their index.

    Raises
    ------
    RecnbError
        A share out of bounds, a missing column, or missing values in one of the columns.

    Examples
    --------
    >>> ratings = pd.DataFrame({"user": list("aaaab"), "item": [1, 2, 3, 4, 1], "timestamp": [4, 3, 2, 1, 5]})
    >>> train, test = split_by_time(ratings, test_share=0.5)
    >>> test["item"].to_list()
    [1, 2]
    """
    if not isinstance(ratings, pd.DataFrame):
        raise RecnbError(
            f"The ratings are a {type(ratings).__name__}: give a pandas frame, such as ratings.to_pandas()."
        )
    if not is_number(test_share) or not 0 < test_share < 1:
        raise RecnbError(f"test_share is {test_share!r}; it must lie between 0 and 1, for example test_share=0.2.")
    for word, column in (("user", user), ("time", time)):
        if column not in ratings.columns:
            found = ", ".join(map(repr, ratings.columns))
            raise RecnbError(f"The ratings have no column {column!r}, only {found}. Name it with {word}=.")
        if missing := int(ratings[column].isna().sum()):
            raise RecnbError(
                f"{missing} of {len(ratings)} rows have no value in {column!r}. "
                f"Drop them first: ratings.dropna(subset=[{column!r}])"
            )
    codes = pd.factorize(ratings[user])[0]
    sizes = np.bincount(codes, minlength=1)
    # The small addition keeps 0.29 * 100 from counting as 28.
    first_test = sizes - np.floor(sizes * test_share + 1e-9).astype(np.int64)
    order = np.argsort(ratings[time].to_numpy(), kind="stable")
    by_time = codes[order]
    place = pd.Series(by_time).groupby(by_time).cumcount().to_numpy()
    is_test = np.zeros(len(ratings), dtype=bool)
    is_test[order] = place >= first_test[by_time]
    return ratings.loc[~is_test].copy(), ratings.loc[is_test].copy()


def _download(archive: str, base_url: str, checksum: str) -> Path:
    """The archive in the user's cache, downloaded if it is not there yet."""
    try:
        import pooch  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise RecnbError(
            'Downloading MovieLens needs pooch. Install it: pip install "recnb[datasets]" '
            f"(or give path= or {DATA_DIR} a copy of {archive})."
        ) from None
    url = f"{base_url.rstrip('/')}/{archive}"
    if not url.startswith(("http://", "https://")):
        raise RecnbError(f"base_url is {base_url!r}; it must begin with http:// or https://. For a folder use path=.")
    try:
        return Path(pooch.retrieve(url, known_hash=checksum, fname=archive, path=pooch.os_cache("recnb")))
    except OSError as error:  # any error of requests, or a cache that cannot be written
        raise RecnbError(
            f"{url} could not be downloaded: {error}. "
            f"Try again, or download {archive} by other means and give load_movielens(path=...) the file."
        ) from error
    except ValueError as error:  # another checksum
        raise RecnbError(
            f"The file at {url} is not the expected one. {error} "
            "Try again, or give checksum= if this mirror has another archive on purpose."
        ) from error


def _texts(path: Path, archive: str, source: str) -> dict[str, str]:
    """The text of each of FILES, from a folder or a zip; ``source``: where the path was given, for the errors."""
    if not path.exists():
        raise RecnbError(f"{source} is {str(path)!r}, which does not exist. Give the folder or zip with {FILES[0]}.")
    for inner in (path / archive.removesuffix(".zip"), path / archive):
        if inner.exists() and not (path / FILES[0]).exists():
            return _texts(inner, archive, source)
    try:
        if path.is_dir():
            found = {file: (path / file).read_bytes() for file in FILES if (path / file).is_file()}
        else:
            with zipfile.ZipFile(path) as opened:
                members = {PurePosixPath(member).name: member for member in opened.namelist()}
                found = {file: opened.read(members[file]) for file in FILES if file in members}
    except (zipfile.BadZipFile, zlib.error):
        raise RecnbError(f"{source} is {str(path)!r}, which is neither a folder nor a zip that opens.") from None
    if missing := [file for file in FILES if file not in found]:
        raise RecnbError(
            f"{str(path)!r} lacks {', '.join(missing)}. A copy of MovieLens 100K holds {', '.join(FILES)}; "
            "give the folder or the zip that has them all."
        )
    # latin-1 is what GroupLens wrote; read as UTF-8 the accented titles fail.
    return {file: data.decode("latin-1") for file, data in found.items()}


def _parse(texts: Mapping[str, str]) -> MovieLens:
    """The three frames from the texts of the four files."""
    genres = _table(texts, "u.genre", "|", {"genre": TEXT, "number": INTEGER})["genre"].to_list()
    ratings = _table(texts, "u.data", "\t", dict.fromkeys(("user", "item", "rating", "timestamp"), INTEGER))
    of_users = {"user": INTEGER, "age": INTEGER, "gender": TEXT, "occupation": TEXT, "zip": TEXT}
    of_films = {"item": INTEGER, "title": TEXT, "release date": DATE, "video date": TEXT, "address": TEXT}
    films = _table(texts, "u.item", "|", {**of_films, **dict.fromkeys(genres, FLAG)})
    items = films[["item", "title"]].assign(
        genres=["|".join(compress(genres, flags)) for flags in (films[genres].to_numpy() == "1")],
        year=pd.to_numeric(films["release date"].str.split("-").str[-1]).astype("Int64"),
    )
    return MovieLens(ratings, items, _table(texts, "u.user", "|", of_users))


def _table(texts: Mapping[str, str], file: str, separator: str, columns: dict[str, str]) -> pd.DataFrame:
    """The table in a file; `columns` maps names to patterns. A line that does not fit is named in the error."""
    # Not read_csv, which fills short lines up, and not splitlines(), which in Latin-1 text breaks lines at 0x85.
    lines: Any = pd.Series(texts[file].split("\n")).str.removesuffix("\r")
    lines = lines[lines != ""]
    if lines.empty:
        raise RecnbError(f"{file} is empty; get the archive again.")
    fields = lines.str.split(separator, regex=False)
    n_fields = fields.str.len()
    problems = (n_fields[n_fields != len(columns)].astype(str) + " fields").to_dict()
    table = pd.DataFrame(
        fields.drop(list(problems)).to_list(), fields.index.drop(list(problems)), [*columns], dtype=str
    )
    for name, pattern in columns.items():
        wrong = table.loc[~table[name].str.fullmatch(pattern), name]
        problems |= {line: f"{name} is {value!r}" for line, value in zip(wrong.index.tolist(), wrong, strict=True)}
    if problems:
        first = min(problems)
        raise RecnbError(
            f"Line {first + 1} of {file} cannot be read: {lines[first][:80]!r} ({problems[first]}). "
            f"It should have {len(columns)} fields with {separator!r} between them, as in the official "
            "file; get the archive again."
        )
    integers = {name: "int64" for name, pattern in columns.items() if pattern == INTEGER}
    return table.reset_index(drop=True).astype(integers)
