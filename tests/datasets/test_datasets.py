"""The data sets: the made sample against what its docstring promises, MovieLens on a tiny copy."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recnb.datasets
from recnb.datasets import Sample, load_movielens, load_sample, movielens
from recnb.display.language import use_language
from recnb.errors import RecnbError
from tests.tools import make_sample

SAMPLE_FOLDER = Path(recnb.datasets.__file__).parent / "sample"


@pytest.fixture(scope="module")
def sample() -> Sample:
    """The sample, read once; no test here changes it."""
    return load_sample()


# The sample


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["user"], frame["item"], strict=True))


COLUMNS = {
    "train": ["user", "item", "rating", "day"],
    "test": ["user", "item", "rating"],
    "items": ["item", "title", "genres", "year", "minutes"],
    "users": ["user", "segment", "branch", "joined"],
    "recommendations": ["model", "user", "item", "rank", "score"],
}


def test_columns_ids_and_values(sample: Sample) -> None:
    users, items = set(sample.users["user"]), set(sample.items["item"])
    assert (len(users), len(items)) == (len(sample.users), len(sample.items)) == (300, 250)
    for name, columns in COLUMNS.items():
        frame = getattr(sample, name)
        assert list(frame) == columns
        assert not frame.isna().any().any()
        assert frame.index.equals(pd.RangeIndex(len(frame)))
        assert set(frame.get("user", [])) <= users
        assert set(frame.get("item", [])) <= items
        assert frame.get("rating", pd.Series([1, 2, 3, 4, 5])).drop_duplicates().sort_values().to_list() == [
            1,
            2,
            3,
            4,
            5,
        ]
    assert sample.train["day"].between(0, make_sample.SPLIT_DAY - 1).all()
    assert [str(kind) for kind in sample.recommendations.dtypes.iloc[3:]] == ["int64", "float64"]
    assert all(re.fullmatch(r"u\d{3}", user) for user in users)
    assert all(re.fullmatch(r"i\d{3}", item) for item in items)
    assert sample.items["title"].is_unique
    assert set("|".join(sample.items["genres"]).split("|")) == set(make_sample.GENRES)


def test_pairs_ranks_and_scores(sample: Sample) -> None:
    train, test = pairs(sample.train), pairs(sample.test)
    assert (len(train), len(test), train & test) == (len(sample.train), len(sample.test), set())
    assert list(sample.models) == ["item-knn", "factors", "popular"]
    for frame in sample.models.values():
        assert list(frame) == COLUMNS["recommendations"][1:]
        assert len(pairs(frame) - train) == len(frame)
        for _, part in frame.groupby("user"):
            assert part["rank"].to_list() == list(range(1, 21))
            assert (np.diff(part["score"]) < 0).all()
    joined = pd.concat([frame.assign(model=name) for name, frame in sample.models.items()], ignore_index=True)
    pd.testing.assert_frame_equal(joined[COLUMNS["recommendations"]], sample.recommendations)


def test_users_at_the_edges_segments_and_a_long_tail(sample: Sample) -> None:
    users, tested = set(sample.users["user"]), set(sample.test["user"])
    served = {frozenset(frame["user"]) for frame in sample.models.values()}
    assert served == {frozenset(sample.train["user"])}
    late = users - set(sample.train["user"])
    assert late <= tested
    assert len(late) == make_sample.LATE_USERS
    assert 10 <= len(users - tested) <= 60
    assert 3 < len(sample.test) / len(tested) < 6
    seen = sample.train["item"].value_counts().to_numpy()
    assert 0.3 < seen[:25].sum() / seen.sum() < 0.5  # the top tenth of the films
    assert seen[0] > 5 * np.median(seen)
    rated = pd.concat([sample.train["user"], sample.test["user"]]).value_counts()
    assert sample.train["user"].value_counts().mean() > 1.15 * sample.train["user"].value_counts().median()
    counts = {name: rated.reindex(part["user"]) for name, part in sample.users.groupby("segment")}
    assert max(counts["new"]) < min(counts["regular"]) <= max(counts["regular"]) < min(counts["devoted"])
    assert min(map(len, counts.values())) >= 30


def naive_ndcg(recommended: pd.DataFrame, test: pd.DataFrame, k: int = 10) -> pd.Series:
    """NDCG@k of each user with a test item, gain linear in the rating; 0 without a list."""
    discounts = np.log2(np.arange(2, k + 2))
    lists = {user: part["item"].to_list()[:k] for user, part in recommended.groupby("user")}
    values = {}
    for user, part in test.groupby("user"):
        gain = dict(zip(part["item"], part["rating"], strict=True))
        found, best = [gain.get(item, 0) for item in lists.get(user, [])], sorted(gain.values(), reverse=True)[:k]
        values[user] = sum(found / discounts[: len(found)]) / sum(best / discounts[: len(best)])
    return pd.Series(values)


def test_two_recommenders_are_close_and_the_third_is_behind(sample: Sample) -> None:
    ndcg = pd.DataFrame({name: naive_ndcg(frame, sample.test) for name, frame in sample.models.items()})
    assert ndcg.mean().to_list() == pytest.approx([0.26, 0.26, 0.17], abs=0.005)
    apart = {
        (one, other): (ndcg[one] - ndcg[other]).mean() / (ndcg[one] - ndcg[other]).sem()
        for one, other in (("item-knn", "factors"), ("item-knn", "popular"), ("factors", "popular"))
    }
    assert abs(apart["item-knn", "factors"]) < 1
    assert min(apart["item-knn", "popular"], apart["factors", "popular"]) > 4


def test_popular_is_what_its_name_says(sample: Sample) -> None:
    share = sample.train["item"].value_counts() / make_sample.N_USERS
    popular = sample.models["popular"]
    # A tie costs one last digit, so scores may lie a little under the share.
    below = popular["item"].map(share) - popular["score"]
    assert below.between(-0.0001, 0.002).all()


def test_the_sample_is_small_says_what_it_is_and_is_fresh_each_time() -> None:
    assert sum(path.stat().st_size for path in SAMPLE_FOLDER.iterdir()) < 500_000
    first, second = load_sample(), load_sample()
    assert repr(first).startswith("Sample(300 users, 250 items, 5,073 train and 1,084 test ratings, models item-knn, ")
    with use_language("ko"):
        assert repr(first).startswith(
            "예제 데이터(사용자 300명, 아이템 250개, 학습 평점 5,073개, 테스트 평점 1,084개, 모델 "
        )
    first.train["rating"] = 0
    popular = first.models["popular"]
    popular["rank"] = 0
    assert (second.train["rating"].min(), first.recommendations["rank"].min()) == (1, 1)
    pd.testing.assert_frame_equal(load_sample().recommendations, second.recommendations)


def test_sample_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    written = make_sample.write(tmp_path / "new")
    assert sorted(path.name for path in written) == sorted(path.name for path in SAMPLE_FOLDER.glob("*.csv"))
    for path in written:
        made = path.read_bytes()
        assert b"\r" not in made
        # A checkout on Windows may have changed the line ends of the committed file.
        assert made == (SAMPLE_FOLDER / path.name).read_bytes().replace(b"\r\n", b"\n"), path.name


def test_import_is_light() -> None:
    # Counted from after recnb itself: what that imports is not the matter here.
    code = (
        "import sys, recnb; before = set(sys.modules)\n"
        "import recnb.datasets; new = set(sys.modules) - before\n"
        "print(sorted(new & {'pooch', 'requests', 'scipy', 'matplotlib', 'IPython'}))"
    )
    top = Path(recnb.datasets.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=top, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_split_by_time_is_a_line_of_pandas(sample: Sample) -> None:
    with pytest.raises(AttributeError, match="the last fifth of each user's ratings are") as refused:
        recnb.datasets.split_by_time  # noqa: B018
    code = str(refused.value).partition(" are ")[2].removesuffix(".")
    late = eval(code, {"ratings": sample.train.rename(columns={"day": "timestamp"})})
    last = sample.train.drop(late.index).groupby("user")["day"].max()
    assert (last.reindex(late["user"]).to_numpy() <= late["timestamp"]).all()
    assert len(late) == pytest.approx(len(sample.train) / 5, rel=0.15)
    with pytest.raises(AttributeError, match=r"no 'load_netflix'"):
        recnb.datasets.load_netflix  # noqa: B018


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


def assert_tiny(read: recnb.datasets.MovieLens) -> None:
    assert read.ratings.to_dict("list") == {
        "user": [1, 3, 1, 2], "item": [2, 1, 3, 3], "rating": [5, 3, 4, 1], "timestamp": [874965758, 876893171, 878542960, 876893119],
    }  # fmt: skip
    assert read.items.astype({"year": "Float64"}).fillna({"year": 0}).to_dict("list") == {
        "item": [1, 2, 3], "title": ["Toy Box (1995)", "Café Été (1996)", "unknown"],
        "genres": ["Animation|Comedy", "Comedy", "unknown"], "year": [1995, 1996, 0],
    }  # fmt: skip
    assert list(read.users) == ["user", "age", "gender", "occupation", "zip"]
    assert (read.users["age"].sum(), read.users["zip"].to_list()) == (100, ["85711", "04401", "T8H1N"])
    assert repr(read) == "MovieLens(3 users, 3 items, 4 ratings)"


def test_a_local_copy_is_a_folder_or_a_zip_by_path_or_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, inner = write_folder(tmp_path / "copy"), write_folder(tmp_path / "outer" / "ml-100k").parent
    archive = write_zip(tmp_path / "ml-100k.zip")
    for path in (folder, str(inner), archive, tmp_path):  # the folder with the zip will do
        assert_tiny(load_movielens(path=path))
    monkeypatch.setenv("RECNB_DATA_DIR", str(folder))
    assert_tiny(load_movielens())
    monkeypatch.setenv("RECNB_DATA_DIR", str(tmp_path / "gone"))
    with pytest.raises(RecnbError, match=r"gone.* is no folder and no zip.*RECNB_DATA_DIR"):
        load_movielens()
    assert_tiny(load_movielens(path=folder))  # path= goes before the variable


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


# Downloads, from a folder in the place of the server


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny archive at the address of the official one, and a cache of the test's own."""
    import pooch

    archive = write_zip(tmp_path / "ml-100k.zip")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(movielens, "ADDRESS", "https://example.org/ml-100k.zip")
    monkeypatch.setattr(movielens, "CHECKSUM", "sha256:" + hashlib.sha256(archive.read_bytes()).hexdigest())

    def send(url: str, output: str, _pooch: object) -> None:
        Path(output).write_bytes(archive.read_bytes())  # raises what requests raises where nothing is sent

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda url, progressbar=False: send)
    return archive


def test_a_download_is_kept_and_checked(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_tiny(load_movielens())
    kept = tmp_path / "cache" / "recnb" / "ml-100k.zip"
    assert kept.exists()
    mirror.unlink()  # the second time nothing is asked of the server
    assert_tiny(load_movielens())
    kept.unlink()
    with pytest.raises(RecnbError, match=r"example\.org/ml-100k\.zip was not sent as expected: .*path="):
        load_movielens()
    write_zip(mirror)
    monkeypatch.setattr(movielens, "CHECKSUM", "md5:0e33842e24a9c977be4e0107933c0723")  # of the official archive
    with pytest.raises(RecnbError, match=r"(?s)not sent as expected.*0e33842e24a9c977be4e0107933c0723"):
        load_movielens()
    assert not kept.exists()


def test_pooch_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(RecnbError, match=r'pip install "recnb\[datasets\]"'):
        load_movielens()
    assert_tiny(load_movielens(path=write_folder(tmp_path)))  # a local copy needs no pooch
