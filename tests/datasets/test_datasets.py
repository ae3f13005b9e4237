"""The data sets: the made sample against what its docstring promises, MovieLens on a tiny copy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recnb.datasets
from recnb.datasets import Sample, load_sample
from recnb.display.language import use_language
from tests import make_sample

SAMPLE_FOLDER = Path(recnb.datasets.__file__).parent / "sample"


@pytest.fixture(scope="module")
def sample() -> Sample:
    """The sample, read once; no test here changes it."""
    return load_sample()


# The sample


def pairs(frame: pd.DataFrame) -> set[tuple[str, str]]:
    return set(zip(frame["user"], frame["item"], strict=True))


def test_sample_columns_and_types(sample: Sample) -> None:
    assert list(sample.train) == ["user", "item", "rating", "day"]
    assert list(sample.test) == ["user", "item", "rating"]
    assert list(sample.items) == ["item", "title", "genres", "year", "minutes"]
    assert list(sample.users) == ["user", "segment", "branch", "joined"]
    assert list(sample.recommendations) == ["model", "user", "item", "rank", "score"]
    for frame in (sample.train, sample.test):
        assert frame["rating"].dtype == np.int64
        assert frame["rating"].between(1, 5).all()
        assert set(frame["rating"]) == {1, 2, 3, 4, 5}
    assert sample.train["day"].between(0, make_sample.SPLIT_DAY - 1).all()
    assert sample.recommendations["rank"].dtype == np.int64
    assert sample.recommendations["score"].dtype == np.float64
    for frame in (sample.train, sample.test, sample.items, sample.users, sample.recommendations):
        assert not frame.isna().any().any()
        assert frame.index.equals(pd.RangeIndex(len(frame)))


def test_sample_ids_and_titles(sample: Sample) -> None:
    users, items = set(sample.users["user"]), set(sample.items["item"])
    assert len(users) == len(sample.users) == 300
    assert len(items) == len(sample.items) == 250
    assert sample.users["user"].str.fullmatch(r"u\d{3}").all()
    assert sample.items["item"].str.fullmatch(r"i\d{3}").all()
    for frame in (sample.train, sample.test, sample.recommendations):
        assert set(frame["user"]) <= users
        assert set(frame["item"]) <= items
    assert sample.items["title"].is_unique
    assert set("|".join(sample.items["genres"]).split("|")) == set(make_sample.GENRES)


def test_sample_pairs_ranks_and_scores(sample: Sample) -> None:
    train, test = pairs(sample.train), pairs(sample.test)
    assert len(train) == len(sample.train)
    assert len(test) == len(sample.test)
    assert not train & test
    for frame in sample.models.values():
        assert list(frame) == ["user", "item", "rank", "score"]
        assert len(pairs(frame)) == len(frame)
        assert not pairs(frame) & train
        for _, part in frame.groupby("user"):
            assert part["rank"].to_list() == list(range(1, 21))
            assert (np.diff(part["score"]) < 0).all()

    assert list(sample.models) == ["item-knn", "factors", "popular"]
    parts = [frame.assign(model=name) for name, frame in sample.models.items()]
    joined = pd.concat(parts, ignore_index=True)[list(sample.recommendations)]
    pd.testing.assert_frame_equal(joined, sample.recommendations)


def test_sample_users_at_the_edges(sample: Sample) -> None:
    users, tested = set(sample.users["user"]), set(sample.test["user"])
    served = [set(frame["user"]) for frame in sample.models.values()]
    assert served[0] == served[1] == served[2] == set(sample.train["user"])
    late = users - served[0]
    assert len(late) == make_sample.LATE_USERS
    assert late <= tested
    assert 10 <= len(users - tested) <= 60
    assert 3 < len(sample.test) / len(tested) < 6


def test_sample_has_a_long_tail(sample: Sample) -> None:
    seen = sample.train["item"].value_counts().to_numpy()
    assert 0.3 < seen[:25].sum() / seen.sum() < 0.5  # the top tenth of the films
    assert seen[0] > 5 * np.median(seen)
    activity = sample.train["user"].value_counts().to_numpy()
    assert activity.mean() > 1.15 * np.median(activity)


def test_sample_segments_follow_activity(sample: Sample) -> None:
    activity = pd.concat([sample.train["user"], sample.test["user"]]).value_counts()
    counts = {
        str(segment): activity.reindex(part["user"]).to_list() for segment, part in sample.users.groupby("segment")
    }
    assert max(counts["new"]) < min(counts["regular"])
    assert max(counts["regular"]) < min(counts["devoted"])
    assert min(len(users) for users in counts.values()) >= 30


def naive_ndcg(recommended: pd.DataFrame, test: pd.DataFrame, k: int = 10) -> pd.Series:
    """NDCG@k of each user with a test item, gain linear in the rating; 0 without a list."""
    lists = {user: part["item"].to_list()[:k] for user, part in recommended.groupby("user")}
    values = {}
    for user, part in test.groupby("user"):
        gain = dict(zip(part["item"], part["rating"], strict=True))
        dcg = sum(gain.get(item, 0) / np.log2(place + 2) for place, item in enumerate(lists.get(user, [])))
        best = sorted(gain.values(), reverse=True)[:k]
        values[user] = dcg / sum(rating / np.log2(place + 2) for place, rating in enumerate(best))
    return pd.Series(values)


def test_two_recommenders_are_close_and_the_third_is_behind(sample: Sample) -> None:
    ndcg = {name: naive_ndcg(frame, sample.test) for name, frame in sample.models.items()}

    def standard_errors(one: str, other: str) -> float:
        difference = ndcg[one] - ndcg[other]
        return float(difference.mean() / (difference.std() / np.sqrt(len(difference))))

    # The two numbers that the docstring of load_sample states.
    assert ndcg["item-knn"].mean() == pytest.approx(0.26, abs=0.005)
    assert ndcg["factors"].mean() == pytest.approx(0.26, abs=0.005)
    assert ndcg["popular"].mean() == pytest.approx(0.17, abs=0.005)
    assert abs(standard_errors("item-knn", "factors")) < 1
    assert standard_errors("item-knn", "popular") > 4
    assert standard_errors("factors", "popular") > 4


def test_popular_is_what_its_name_says(sample: Sample) -> None:
    share = sample.train["item"].value_counts() / make_sample.N_USERS
    popular = sample.models["popular"]
    # A tie costs one last digit, so scores may lie a little under the share.
    below = popular["item"].map(share) - popular["score"]
    assert below.between(-0.0001, 0.002).all()


def test_sample_repr_and_size(sample: Sample) -> None:
    assert sum(path.stat().st_size for path in SAMPLE_FOLDER.iterdir()) < 500_000
    assert repr(sample) == (
        "Sample(300 users, 250 items, 5,073 train and 1,084 test ratings, models item-knn, factors, popular)"
    )
    with use_language("ko"):
        assert repr(sample) == (
            "예제 데이터(사용자 300명, 아이템 250개, 학습 평점 5,073개, 테스트 평점 1,084개, 모델 item-knn, factors, popular)"
        )


def test_sample_frames_are_fresh() -> None:
    first, second = load_sample(), load_sample()
    first.train["rating"] = 0
    first.recommendations["score"] = 0.0
    popular = first.models["popular"]
    popular["rank"] = 0
    assert second.train["rating"].min() == 1
    assert first.recommendations["rank"].min() == 1
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
