"""The data sets: the made sample against what its docstring promises, MovieLens on a
tiny copy.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.datasets import (
    MovieLens,
    load_movielens,
    load_questions,
    load_sample,
    movielens,
)
from recnb.display.language import use_language
from recnb.errors import RecnbError
from tests.test_import import printed
from tests.tools import make_questions, make_sample

SAMPLE_FOLDER = Path(recnb.datasets.__file__).parent / "sample"
QUESTIONS_FOLDER = SAMPLE_FOLDER.with_name("questions")


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["user"], frame["item"], strict=True))


def test_the_sample_is_what_it_says() -> None:
    """What is in its files follows from how they are made, below."""
    sample = load_sample()
    shapes = {
        name: getattr(sample, name).shape
        for name in ("train", "test", "items", "users", "recommendations")
    }
    assert shapes == {
        "train": (5073, 4),
        "test": (1084, 3),
        "items": (250, 5),
        "users": (300, 4),
        "recommendations": (17880, 5),
    }
    assert list(sample.models) == ["item-knn", "factors", "popular"]
    train, test = pairs(sample.train), pairs(sample.test)
    assert (len(train), len(test), train & test) == (5073, 1084, set())
    for frame in sample.models.values():
        assert (list(frame), len(pairs(frame) - train)) == (
            ["user", "item", "rank", "score"],
            len(frame),
        )
        for _, part in frame.groupby("user"):
            assert part["rank"].to_list() == list(range(1, 21))
            assert (np.diff(part["score"]) < 0).all()
    joined = pd.concat(
        [frame.assign(model=name) for name, frame in sample.models.items()],
        ignore_index=True,
    )
    pd.testing.assert_frame_equal(
        joined[[*sample.recommendations]], sample.recommendations
    )


def test_two_recommenders_are_close_and_the_third_is_behind() -> None:
    sample = load_sample()
    found = {
        name: recnb.evaluate(frame, sample.test).ndcg(k=10).per_user
        for name, frame in sample.models.items()
    }
    knn, factors, popular = found.values()
    close, *behind = (
        float(gap.mean() / gap.sem())
        for gap in (knn - factors, knn - popular, factors - popular)
    )
    assert abs(close) < 1
    assert min(behind) > 4


def test_the_sample_is_small_and_fresh_each_time() -> None:
    assert sum(path.stat().st_size for path in SAMPLE_FOLDER.iterdir()) < 500_000
    first, second = load_sample(), load_sample()
    with use_language("ko"):
        assert repr(first).startswith("예제 데이터(사용자 300명, 아이템 250개, ")
    first.train["rating"] = 0
    popular = first.models["popular"]
    popular["rank"] = 0
    assert (second.train["rating"].min(), first.recommendations["rank"].min()) == (1, 1)


@pytest.mark.parametrize("model", make_sample.MODELS)
def test_recommendations_are_made_again_byte_for_byte(model: str) -> None:
    # A checkout on Windows may have changed the line ends of the committed file.
    stored = (
        (SAMPLE_FOLDER / f"recommendations-{model}.csv")
        .read_bytes()
        .replace(b"\r\n", b"\n")
    )
    assert make_sample.written(model) == stored


@pytest.mark.parametrize("retriever", make_questions.RETRIEVERS)
def test_lists_of_passages_are_made_again_byte_for_byte(retriever: str) -> None:
    stored = (QUESTIONS_FOLDER / f"run-{retriever}.csv").read_bytes()
    assert make_questions.written(retriever) == stored.replace(b"\r\n", b"\n")


def test_the_questions_are_what_they_say() -> None:
    data = load_questions()
    assert (data.queries.shape, data.passages.shape) == ((20, 2), (48, 2))
    assert [*data.retrievers] == [*make_questions.RETRIEVERS]
    assert {*data.truth["query"]} == {*data.queries["query"]}
    assert {*data.truth["doc"]} <= {*data.passages["doc"]}
    assert {*data.truth["relevance"]} == {1, 2}
    assert not data.truth.duplicated(["query", "doc"]).any()
    for frame in data.retrievers.values():
        assert [*frame] == ["query", "doc", "score"]
        assert not frame.duplicated(["query", "doc"]).any()
        for _, part in frame.groupby("query"):
            assert len(part) <= 10
            assert (np.diff(part["score"]) <= 0).all()
    unanswered = 20 - data.retrievers["words"]["query"].nunique()
    assert unanswered == 3
    with use_language("ko"):
        assert repr(data).startswith("질문 데이터(질문 20개, 문단 48개")


def test_the_questions_are_small_and_fresh_each_time() -> None:
    assert sum(path.stat().st_size for path in QUESTIONS_FOLDER.iterdir()) < 50_000
    first, second = load_questions(), load_questions()
    first.truth.loc[0, "relevance"] = 0
    assert second.truth["relevance"].min() == 1


def test_import_is_light() -> None:
    code = (
        "import sys, recnb; before = set(sys.modules); import recnb.datasets; new = "
        "set(sys.modules) - before"
    )
    assert (
        printed(
            f"{code}; print(*new & {{'pooch', 'requests', 'scipy', 'matplotlib', 'IPython'}})"
        )
        == ""
    )


# MovieLens, on a copy of three users and three films
TINY = {
    "u.data": "1\t2\t5\t874965758\n3\t1\t3\t876893171\n1\t3\t4\t878542960\n2\t3\t1\t876893119\n",
    "u.item": (
        "1|Toy\x85 Box (1995)|01-Jan-1995||http://example.org/1|0|1|1\r\n"
        "2|Café Été (1996)|12-Mar-1996||http://example.org/2|0|0|1\r\n"
        "3|unknown||||1|0|0\r\n"
        "\r\n"
    ),
    "u.user": "1|24|M|technician|85711\n2|53|F|other|04401\n3|23|M|writer|T8H1N\n",
    "u.genre": "unknown|0\nAnimation|1\nComedy|2\n\n",
}


def write_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TINY.items():
        (folder / name).write_bytes(text.encode("latin-1"))
    return folder


def write_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in TINY.items():
            archive.writestr(f"ml-100k/{name}", text.encode("latin-1"))
    return path


def assert_tiny(read: MovieLens) -> None:
    assert read.ratings.to_dict("list") == {
        "user": [1, 3, 1, 2],
        "item": [2, 1, 3, 3],
        "rating": [5, 3, 4, 1],
        "timestamp": [874965758, 876893171, 878542960, 876893119],
    }
    assert read.items.astype({"year": "Float64"}).fillna({"year": 0}).to_dict("list") == {
        "item": [1, 2, 3], "title": ["Toy\x85 Box (1995)", "Café Été (1996)", "unknown"],
        "genres": ["Animation|Comedy", "Comedy", "unknown"], "year": [1995, 1996, 0],
    }  # fmt: skip
    assert list(read.users) == ["user", "age", "gender", "occupation", "zip"]
    assert (read.users["age"].sum(), read.users["zip"].to_list()) == (
        100,
        ["85711", "04401", "T8H1N"],
    )
    assert repr(read) == "MovieLens(3 users, 3 items, 4 ratings)"


def test_a_local_copy_is_a_folder_or_a_zip_and_needs_no_pooch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    folder = write_folder(tmp_path / "copy")
    for path in (folder, str(write_zip(tmp_path / "ml-100k.zip"))):
        assert_tiny(load_movielens(path=path))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("u.data", "1\t2\t5\t874965758\n1\t3\t4\n"),
        ("u.data", "1\t2\tgood\t874965758\n"),
        ("u.data", ""),
        ("u.item", "1|Toy Box|01-Jan-1995||x|0|yes|1\n"),
        ("u.user", None),
    ],
)
def test_a_file_that_cannot_be_read_or_is_missing_is_named(
    tmp_path: Path, file: str, text: str | None
) -> None:
    folder = write_folder(tmp_path)
    (folder / file).unlink() if text is None else (folder / file).write_text(text)
    with pytest.raises(
        RecnbError,
        match=rf"^{file} of .* cannot be read: .*[^.]\. Get the archive again",
    ):
        load_movielens(path=folder)


def test_what_is_no_copy_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", write_folder(tmp_path / "copy") / "u.data"):
        with pytest.raises(RecnbError, match=rf"{path.name}.* is no folder and no zip"):
            load_movielens(path=path)


def test_a_download_is_kept_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a tiny archive in the place of the official one, into a cache of the test's
    own.
    """
    import pooch

    mirror, kept = (
        write_zip(tmp_path / "ml-100k.zip"),
        tmp_path / "cache" / "recnb" / "ml-100k.zip",
    )
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(movielens, "ADDRESS", "https://example.org/ml-100k.zip")
    monkeypatch.setattr(
        movielens,
        "CHECKSUM",
        "sha256:" + hashlib.sha256(mirror.read_bytes()).hexdigest(),
    )

    def send(url: str, output: str, _pooch: object) -> None:
        Path(output).write_bytes(
            mirror.read_bytes()
        )  # raises what requests raises where nothing is sent

    monkeypatch.setattr(
        pooch.core, "choose_downloader", lambda url, progressbar=False: send
    )
    assert_tiny(load_movielens())
    mirror.unlink()  # the second time nothing is asked of the server
    assert_tiny(load_movielens())
    kept.unlink()
    with pytest.raises(
        RecnbError, match=r"example\.org/ml-100k\.zip was not sent as expected: .*path="
    ):
        load_movielens()
    write_zip(mirror)
    monkeypatch.setattr(
        movielens, "CHECKSUM", "md5:0e33842e24a9c977be4e0107933c0723"
    )  # of the official archive
    with pytest.raises(
        RecnbError, match=r"(?s)not sent as expected.*0e33842e24a9c977be4e0107933c0723"
    ):
        load_movielens()
    assert not kept.exists()
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(RecnbError, match=r'pip install "recnb\[datasets\]"'):
        load_movielens()
