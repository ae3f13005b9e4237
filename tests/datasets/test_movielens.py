"""The MovieLens loader: local copies, downloads from a loopback server, and what it refuses."""

from __future__ import annotations

import hashlib
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import recnb.datasets
from recnb.datasets import load_movielens
from recnb.errors import RecnbError

# MovieLens, on a copy of three users and three films
TINY = {
    "u.data": "1\t2\t5\t874965758\n3\t1\t3\t876893171\n1\t3\t4\t878542960\n2\t3\t1\t876893119\n",
    "u.item": (
        "1|Toy Box (1995)|01-Jan-1995||http://example.org/1|0|1|1\n"
        "2|Café Été (1996)|12-Mar-1996||http://example.org/2|0|0|1\n"
        "3|unknown||||1|0|0\n"
        "\n"
    ),
    "u.user": "1|24|M|technician|85711\n2|53|F|other|04401\n3|23|M|writer|T8H1N\n",
    "u.genre": "unknown|0\nAnimation|1\nComedy|2\n\n",
}


@pytest.fixture(autouse=True)
def no_data_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a RECNB_DATA_DIR of the developer's own out of the tests."""
    monkeypatch.delenv("RECNB_DATA_DIR", raising=False)


def write_folder(folder: Path, **changed: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TINY.items():
        (folder / name).write_bytes(changed.get(name.replace(".", "_"), text).encode("latin-1"))
    return folder


def write_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ml-100k/README", "tiny")
        for name, text in TINY.items():
            archive.writestr(f"ml-100k/{name}", text.encode("latin-1"))
    return path


def assert_tiny(movielens: recnb.datasets.MovieLens) -> None:
    ratings, items, users = movielens.ratings, movielens.items, movielens.users
    assert list(ratings) == ["user", "item", "rating", "timestamp"]
    assert (ratings.dtypes == np.int64).all()
    assert ratings.to_numpy().tolist()[1] == [3, 1, 3, 876893171]
    assert list(items) == ["item", "title", "genres", "year"]
    assert items["title"].to_list() == ["Toy Box (1995)", "Café Été (1996)", "unknown"]
    assert items["genres"].to_list() == ["Animation|Comedy", "Comedy", "unknown"]
    assert items["year"].to_list()[:2] == [1995, 1996]
    assert items["year"].isna().to_list() == [False, False, True]
    assert list(users) == ["user", "age", "gender", "occupation", "zip"]
    assert users["zip"].to_list() == ["85711", "04401", "T8H1N"]
    assert repr(movielens) == "MovieLens(3 users, 3 items, 4 ratings)"


@pytest.mark.parametrize("inner", ["", "ml-100k"])
def test_local_folder(tmp_path: Path, inner: str) -> None:
    write_folder(tmp_path / inner)
    assert_tiny(load_movielens(path=tmp_path))
    assert_tiny(load_movielens("100k", str(tmp_path)))


def test_local_zip(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "ml-100k.zip")
    assert_tiny(load_movielens(path=archive))
    assert_tiny(load_movielens(path=tmp_path))  # the folder with the zip will do


def test_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECNB_DATA_DIR", str(write_folder(tmp_path / "copy")))
    assert_tiny(load_movielens())
    monkeypatch.setenv("RECNB_DATA_DIR", str(tmp_path / "gone"))
    with pytest.raises(RecnbError, match=r"gone.* is no folder and no zip.*RECNB_DATA_DIR"):
        load_movielens()
    assert_tiny(load_movielens(path=tmp_path / "copy"))  # path= goes before the variable


def test_unknown_name_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(RecnbError, match=r"'1m'.*Known: '100k'"):
        load_movielens("1m")
    with pytest.raises(RecnbError, match=r"nowhere.* is no folder"):
        load_movielens(path=tmp_path / "nowhere")
    folder = write_folder(tmp_path / "copy")
    (folder / "u.user").unlink()
    with pytest.raises(RecnbError, match=r"u\.user of .*copy.* cannot be read"):
        load_movielens(path=folder)
    with zipfile.ZipFile(tmp_path / "half.zip", "w") as archive:
        archive.writestr("u.data", TINY["u.data"])
    with pytest.raises(RecnbError, match=r"u\.genre of .*half\.zip.* cannot be read"):
        load_movielens(path=tmp_path / "half.zip")
    with pytest.raises(RecnbError, match="is no folder and no zip"):
        load_movielens(path=folder / "u.data")


@pytest.mark.parametrize(
    ("changed", "file"),
    [
        ({"u_data": "1\t2\t5\t874965758\n1\t3\t4\n"}, "u.data"),
        ({"u_data": "1\t2\tgood\t874965758\n"}, "u.data"),
        ({"u_data": ""}, "u.data"),
        ({"u_item": "1|Toy Box|01-Jan-1995||x|0|yes|1\n"}, "u.item"),
        ({"u_user": "\n1|old|M|technician|85711\n"}, "u.user"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, changed: dict[str, str], file: str) -> None:
    with pytest.raises(RecnbError, match=rf"^{file} of .* cannot be read: .*Get the archive again"):
        load_movielens(path=write_folder(tmp_path, **changed))


def test_windows_line_ends_and_the_character_0x85(tmp_path: Path) -> None:
    write_folder(tmp_path, u_item=TINY["u.item"].replace("Toy", "Toy\x85").replace("\n", "\r\n"))
    items = load_movielens(path=tmp_path).items
    assert items["title"][0] == "Toy\x85 Box (1995)"
    assert items["genres"][0] == "Animation|Comedy"


class QuietHandler(SimpleHTTPRequestHandler):
    """The standard file server without its log lines."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mirror with the tiny archive on the loopback address, and a cache of the test's own."""
    import pooch

    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    served = tmp_path / "served"
    served.mkdir()
    write_zip(served / "ml-100k.zip")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(served)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


def test_download_and_cache(mirror: str, tmp_path: Path) -> None:
    archive = tmp_path / "served" / "ml-100k.zip"
    checksum = "sha256:" + hashlib.sha256(archive.read_bytes()).hexdigest()
    assert_tiny(load_movielens(base_url=mirror, checksum=checksum))
    assert (tmp_path / "cache" / "recnb" / "ml-100k.zip").exists()
    archive.unlink()  # the second time nothing is asked of the server
    assert_tiny(load_movielens(base_url=mirror.rstrip("/"), checksum=checksum))


def test_wrong_checksum(mirror: str, tmp_path: Path) -> None:
    # The tiny archive is not the official one, whose checksum is the default.
    with pytest.raises(RecnbError, match=r"(?s)not sent ml-100k.zip as expected.*0e33842e24a9c977be4e0107933c0723"):
        load_movielens(base_url=mirror)
    assert not (tmp_path / "cache" / "recnb" / "ml-100k.zip").exists()


def test_failed_downloads(mirror: str, tmp_path: Path) -> None:
    (tmp_path / "served" / "ml-100k.zip").unlink()
    with pytest.raises(RecnbError, match=r"not sent.*404.*path="):
        load_movielens(base_url=mirror)
    with pytest.raises(RecnbError, match="not sent"):
        load_movielens(base_url="http://127.0.0.1:1/")  # nobody listens there
    with pytest.raises(RecnbError, match=r"/data has not sent"):
        load_movielens(base_url="/data")


def test_pooch_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(RecnbError, match=r'pip install "recnb\[datasets\]"'):
        load_movielens()
    assert_tiny(load_movielens(path=write_folder(tmp_path)))  # a local copy needs no pooch
