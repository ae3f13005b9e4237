"""MovieLens, read from a local copy or downloaded on the user's own machine.

The licence of MovieLens forbids passing the data on, so no part of it comes with recnb. Whoever
uses it in a publication cites:

    F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context.
    ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19.
    https://doi.org/10.1145/2827872
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from recnb.errors import RecnbError

BASE_URL = "https://files.grouplens.org/datasets/movielens/"
# GroupLens publishes these sums next to the archives, as <archive>.md5.
CHECKSUMS = {"100k": "md5:0e33842e24a9c977be4e0107933c0723"}
DATA_DIR = "RECNB_DATA_DIR"
FILES = ("u.data", "u.item", "u.user", "u.genre")


@dataclass(frozen=True, repr=False, eq=False)
class MovieLens:
    """A MovieLens data set as three pandas frames.

    Attributes:
        ratings: user, item, rating (1 to 5), timestamp (seconds since 1970, UTC), all int64, in
            the order of the file.
        items: item (int64), title, genres (``"Comedy|Drama"``), year (Int64, missing where the
            file has no date).
        users: user, age (int64), gender, occupation, zip (text: some begin with 0 or have letters).
    """

    ratings: pd.DataFrame
    items: pd.DataFrame
    users: pd.DataFrame

    def __repr__(self) -> str:
        return f"MovieLens({len(self.users):,} users, {len(self.items):,} items, {len(self.ratings):,} ratings)"


def load_movielens(
    name: str = "100k",
    path: str | os.PathLike[str] | None = None,
    *,
    base_url: str = BASE_URL,
    checksum: str | None = None,
) -> MovieLens:
    """MovieLens ratings, films and users, from a local copy or from the official address.

    The data is never bundled with recnb: its licence forbids redistribution. It is downloaded on
    the user's machine, once, into the user's cache folder, and the download needs
    ``pip install "recnb[datasets]"``. Terms of use: https://grouplens.org/datasets/movielens/.
    Cite Harper & Konstan (2015), https://doi.org/10.1145/2827872.

    Args:
        name: which set; ``"100k"`` is the one there is.
        path: a folder or zip with the official files u.data, u.item, u.user and u.genre, read
            instead of downloading. Without it the environment variable RECNB_DATA_DIR may name
            one. A folder that holds ``ml-100k`` or ``ml-100k.zip`` will do as well.
        base_url: the address (http or https) of the folder with the archive, for mirrors.
        checksum: what the archive must have, as ``"md5:…"`` or ``"sha256:…"`` (default: the
            official one). Local copies are not checked.

    Returns:
        A MovieLens; for ``"100k"`` 943 users, 1,682 items and 100,000 ratings.

    Raises:
        RecnbError: an unknown name, a download that failed or has another checksum, pooch not
            installed, a file that is missing, or a line that cannot be read.
    """
    if name not in CHECKSUMS:
        raise RecnbError(f"There is no MovieLens set {name!r} here. Known: {', '.join(map(repr, CHECKSUMS))}.")
    archive = f"ml-{name}.zip"
    if path is not None:
        return _parse(_texts(Path(path).expanduser(), archive, "path="))
    if folder := os.environ.get(DATA_DIR):
        return _parse(_texts(Path(folder).expanduser(), archive, f"The environment variable {DATA_DIR}"))
    return _parse(_texts(_download(archive, base_url, checksum or CHECKSUMS[name]), archive, "The download"))


def split_by_time(
    ratings: pd.DataFrame, test_share: float = 0.2, *, user: str = "user", time: str = "timestamp"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train and test ratings: of each user, the last ``test_share`` in time are the test.

    Each user's own time order counts, so that nobody's test lies before their train; between users
    the times overlap. The number of test rows of a user is rounded down: at 0.2, who has fewer
    than five ratings has none. Of rows with the same time, the later in the frame is the later.

    Args:
        ratings: a frame with one row per rating.
        test_share: above 0 and below 1.
        user: the column of user ids.
        time: the column of times: numbers or dates.

    Returns:
        Two frames (train, test) with all columns; rows keep their order and their index.

    Raises:
        RecnbError: a share outside those bounds, a missing column, or missing values in one.

    >>> ratings = pd.DataFrame({"user": list("aaaab"), "item": [1, 2, 3, 4, 1], "timestamp": [4, 3, 2, 1, 5]})
    >>> train, test = split_by_time(ratings, test_share=0.5)
    >>> test["item"].to_list()
    [1, 2]
    """
    if not 0 < test_share < 1:
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
    except OSError as error:  # every error of requests is one; so is a cache that cannot be written
        raise RecnbError(
            f"{url} could not be downloaded: {error}. "
            f"Try again, or download {archive} by other means and give load_movielens(path=...) the file."
        ) from error
    except ValueError as error:  # how pooch says that the checksum is another
        raise RecnbError(
            f"The file at {url} is not the expected one. {error} "
            "Try again, or give checksum= if this mirror has another archive on purpose."
        ) from error


def _texts(path: Path, archive: str, source: str) -> dict[str, str]:
    """The text of each of FILES, from a folder or a zip.

    ``source`` says, for the errors, where the path was given.
    """
    if not path.exists():
        raise RecnbError(f"{source} says {str(path)!r}, which does not exist. Give the folder or zip with {FILES[0]}.")
    if path.is_dir():
        for inner in (path / archive.removesuffix(".zip"), path / archive):
            if inner.exists() and not (path / FILES[0]).exists():
                return _texts(inner, archive, source)
        found = {file: path / file for file in FILES if (path / file).is_file()}
        _demand_all(found.keys(), path)
        # latin-1 is what GroupLens wrote; read as UTF-8 the accented titles fail.
        return {file: place.read_bytes().decode("latin-1") for file, place in found.items()}
    try:
        with zipfile.ZipFile(path) as opened:
            members = {PurePosixPath(member).name: member for member in opened.namelist()}
            _demand_all(members.keys(), path)
            return {file: opened.read(members[file]).decode("latin-1") for file in FILES}
    except (zipfile.BadZipFile, zlib.error):
        raise RecnbError(f"{source} says {str(path)!r}, which is neither a folder nor a zip that opens.") from None


def _demand_all(found: Collection[str], path: Path) -> None:
    """Refuse a copy that lacks one of FILES."""
    if missing := [file for file in FILES if file not in found]:
        raise RecnbError(
            f"{str(path)!r} lacks {', '.join(missing)}. A copy of MovieLens 100K holds {', '.join(FILES)}; "
            "give the folder or the zip that has them all."
        )


def _parse(texts: Mapping[str, str]) -> MovieLens:
    """The frames out of the four texts."""
    genres = [name for name, _ in _table(texts, "u.genre", "|", (str, int))]
    ratings = _table(texts, "u.data", "\t", (int, int, int, int))
    users = _table(texts, "u.user", "|", (int, int, str, str, str))
    # After the title: the release date, the video date, an address, and a flag per genre.
    items = _table(texts, "u.item", "|", (int, str, _year, str, str, *[_flag] * len(genres)))
    return MovieLens(
        ratings=pd.DataFrame(ratings, columns=["user", "item", "rating", "timestamp"]),
        items=pd.DataFrame(
            {
                "item": [row[0] for row in items],
                "title": [row[1] for row in items],
                "genres": ["|".join(compress(genres, row[5:])) for row in items],
                "year": pd.array([row[2] for row in items], dtype="Int64"),
            }
        ),
        users=pd.DataFrame(users, columns=["user", "age", "gender", "occupation", "zip"]),
    )


def _table(
    texts: Mapping[str, str], file: str, separator: str, kinds: Sequence[Callable[[str], Any]]
) -> list[tuple[Any, ...]]:
    """The rows of a file, each field read by its kind; a line that does not fit is named."""
    rows = []
    # Not splitlines: in latin-1 text that would also break lines at the character 0x85.
    for number, line in enumerate(texts[file].split("\n"), start=1):
        fields = line.rstrip("\r").split(separator)
        if fields == [""]:
            continue
        try:
            if len(fields) != len(kinds):
                raise ValueError(f"{len(fields)} fields")
            rows.append(tuple(kind(field) for kind, field in zip(kinds, fields, strict=True)))
        except ValueError as error:
            raise RecnbError(
                f"Line {number} of {file} cannot be read: {line.rstrip()[:80]!r} ({error}). "
                f"It should have {len(kinds)} fields with {separator!r} between them, as in the official "
                "file; get the archive again."
            ) from None
    if not rows:
        raise RecnbError(f"{file} is empty; get the archive again.")
    return rows


def _year(date: str) -> int | None:
    """The year of a date like 01-Jan-1995; None of an empty one, which one film has."""
    return int(date.rsplit("-", 1)[-1]) if date else None


def _flag(field: str) -> bool:
    """Whether a 0 or 1 is a 1."""
    if field not in ("0", "1"):
        raise ValueError(f"{field!r} is neither 0 nor 1")
    return field == "1"
