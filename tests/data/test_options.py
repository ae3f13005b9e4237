"""The options for the data, each held by a plain computation per user."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import recnb
from recnb.errors import FrameError, RecnbError

Lists = dict[str, list[tuple[int, int]]]  #: user -> (rank, item), by rank
Truth = dict[str, dict[int, float]]  #: user -> item -> relevance, in the order of the truth
USERS = ["truth", "recs", "both", "union"]
NO_RELEVANT = ["skip", "zero", "one"]
METRICS = ["precision", "recall", "ndcg", "dcg", "average_precision", "reciprocal_rank", "idcg"]


@dataclass(frozen=True)
class Drawn:
    """Lists and truths, and the frames that hold them, rows in some order."""

    lists: Lists
    truth: Truth
    recs_frame: pd.DataFrame
    truth_frame: pd.DataFrame


@st.composite
def data(draw: st.DrawFn, *, repeats: bool = False, top: int = 3) -> Drawn:
    """Up to five users with lists (gaps in the ranks, maybe items twice) and truths (some with nothing relevant)."""
    lists: Lists = {}
    truth: Truth = {}
    for user in "abcde":
        items = draw(st.lists(st.integers(0, 6), max_size=6, unique=not repeats))
        steps = draw(st.lists(st.sampled_from([1, 1, 1, 2]), min_size=len(items), max_size=len(items)))
        if items:
            lists[user] = list(zip(np.cumsum(steps).tolist(), items, strict=True))
        judged = draw(st.dictionaries(st.integers(0, 8), st.integers(0, top).map(float), max_size=5))
        if judged:
            truth[user] = judged
    assume(lists and truth)
    recs = [(user, item, rank) for user, ranked in lists.items() for rank, item in ranked]
    rows = [(user, item, grade) for user, judged in truth.items() for item, grade in judged.items()]
    random.Random(draw(st.integers(0, 99))).shuffle(recs)
    return Drawn(
        lists,
        truth,
        pd.DataFrame(recs, columns=["user", "item", "rank"]),
        pd.DataFrame(rows, columns=["user", "item", "relevance"]),
    )


def one_user(
    ranked: list[tuple[int, int]], judged: dict[int, float], k: int | None, threshold: float | None
) -> dict[str, float]:
    """The metrics of one list, as a textbook has them."""
    relevant = {item: grade for item, grade in judged.items() if (grade >= threshold if threshold else grade > 0)}
    depth = k if k is not None else max((rank for rank, _ in ranked), default=0)
    hits = [(rank, relevant[item]) for rank, item in ranked if rank <= depth and item in relevant]
    ideal = sorted(relevant.values(), reverse=True)[:depth]
    dcg = sum(grade / math.log2(rank + 1) for rank, grade in hits)
    idcg = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    n = len(relevant)
    return {
        "precision": len(hits) / depth if depth else 0.0,
        "recall": len(hits) / n if n else 0.0,
        "dcg": dcg,
        "idcg": idcg,
        "ndcg": dcg / idcg if idcg else 0.0,
        "average_precision": sum(nth / rank for nth, (rank, _) in enumerate(hits, 1)) / n if n else 0.0,
        "reciprocal_rank": 1 / hits[0][0] if hits else 0.0,
        "n_relevant": n,
    }


def naive(
    lists: Lists,
    truth: Truth,
    k: int | None,
    users: str = "truth",
    no_relevant: str = "skip",
    threshold: float | None = None,
) -> dict[str, dict[str, float]]:
    """The metrics of each user that counts; ValueError where recnb refuses."""
    population = {
        "truth": set(truth),
        "recs": set(lists),
        "both": set(lists) & set(truth),
        "union": set(lists) | set(truth),
    }[users]
    values = {user: one_user(lists.get(user, []), truth.get(user, {}), k, threshold) for user in sorted(population)}
    nothing = [user for user, value in values.items() if value["n_relevant"] == 0]
    if not set(lists) & set(truth):
        raise ValueError
    if no_relevant == "skip":
        values = {user: value for user, value in values.items() if user not in nothing}
        if not values:
            raise ValueError
    for user in nothing:
        if no_relevant == "one":
            values[user] = dict.fromkeys(METRICS, 1.0)
    return values


def same(given: float, wanted: float) -> bool:
    """Within 1e-12 of each other, or both NaN: pytest.approx takes long here."""
    return abs(given - wanted) <= 1e-12 or (math.isnan(given) and math.isnan(wanted))


def hold(
    drawn: Drawn, want: dict[str, dict[str, float]] | None, k: int | None, **options: Any
) -> recnb.Evaluation | None:
    """Whether recnb gives these values per user, and their mean; None: it must refuse."""
    if want is None:
        with pytest.raises(RecnbError):
            recnb.evaluate(drawn.recs_frame, drawn.truth_frame, **options)
        return None
    ev = recnb.evaluate(drawn.recs_frame, drawn.truth_frame, **options)
    table = ev.table(METRICS, k=[k])
    for metric in METRICS:
        score = getattr(ev, metric)(k=k)
        per_user, given_per_user = [value[metric] for value in want.values()], score.per_user
        assert given_per_user.index.tolist() == list(want)
        given_values, mean = given_per_user.tolist(), math.fsum(per_user) / len(per_user)
        assert len(given_values) == len(per_user)
        assert all(map(same, given_values, per_user)), metric
        assert same(float(score), mean)
        assert same(float(table.loc[metric].iloc[0]), mean)
    return ev


CUTOFFS = st.sampled_from([1, 2, 4, 10, None])


@given(drawn=data(), k=CUTOFFS)
def test_users_and_users_with_nothing_relevant(drawn: Drawn, k: int | None) -> None:
    for users, no_relevant in itertools.product(USERS, NO_RELEVANT):
        note(f"{users=}, {no_relevant=}")
        users_are(users, no_relevant, drawn, k)


def users_are(users: str, no_relevant: str, drawn: Drawn, k: int | None) -> None:
    """Whether recnb has the numbers and the counts of a plain computation under both options."""
    try:
        want = naive(drawn.lists, drawn.truth, k, users, no_relevant)
    except ValueError:
        want = None
    ev = hold(drawn, want, k, averaged_users=users, no_relevant=no_relevant)
    if ev is not None and want is not None:
        assert ev.counts.n_without_list == len(set(want) - set(drawn.lists))
        assert ev.counts.n_gaps == sum(ranked[-1][0] != len(ranked) for ranked in drawn.lists.values())
        everyone = set(drawn.lists) | set(drawn.truth)
        assert ev.counts.n_without_relevant == sum(not any(drawn.truth.get(user, {}).values()) for user in everyone)
        assert ev.counts.n_relevant == sum(grade > 0 for user in want for grade in drawn.truth.get(user, {}).values())
        assert ev.counts.n_not_relevant == sum(
            grade == 0 for judged in drawn.truth.values() for grade in judged.values()
        )


@given(
    drawn=data(top=5),
    k=CUTOFFS,
    threshold=st.sampled_from([0.5, 1, 2, 3.5, 5]),
    no_relevant=st.sampled_from(["skip", "zero"]),
)
def test_relevant_from(drawn: Drawn, k: int | None, threshold: float, no_relevant: str) -> None:
    try:
        want = naive(drawn.lists, drawn.truth, k, no_relevant=no_relevant, threshold=threshold)
    except ValueError:
        want = None
    ev = hold(drawn, want, k, relevant_from=threshold, no_relevant=no_relevant)
    if ev is not None:
        assert f"relevance of {threshold:g} or more" in ev.basis()


@given(drawn=data(), k=CUTOFFS, users=st.sampled_from(["truth", "union"]))
def test_candidates_padded(drawn: Drawn, k: int | None, users: str) -> None:
    """Judged items that were not recommended follow the list, in the order of the truth."""
    padded = {user: list(ranked) for user, ranked in drawn.lists.items()}
    for user, judged in drawn.truth.items():
        shown = {item for _, item in padded.get(user, [])}
        end = padded[user][-1][0] if user in padded else 0
        padded[user] = padded.get(user, []) + list(enumerate((item for item in judged if item not in shown), end + 1))
    try:
        want = naive(padded, drawn.truth, k, users)
        assume(set(drawn.lists) & set(drawn.truth))
    except ValueError:
        want = None
    ev = hold(drawn, want, k, candidates="padded", averaged_users=users)
    if ev is not None:
        assert ev.recall(k=None) == 1.0
        assert "ranked below the list" in ev.basis()


@given(drawn=data(), k=CUTOFFS, no_relevant=st.sampled_from(["skip", "zero"]))
def test_judged_list(drawn: Drawn, k: int | None, no_relevant: str) -> None:
    """What was not recommended is not judged: no longer relevant, but its user stays a user of the truth."""
    shown = {user: {item for _, item in ranked} for user, ranked in drawn.lists.items()}
    judged = {
        user: {item: grade for item, grade in truth.items() if item in shown.get(user, ())}
        for user, truth in drawn.truth.items()
    }
    try:
        want = naive(drawn.lists, judged, k, no_relevant=no_relevant)
    except ValueError:
        want = None
    ev = hold(drawn, want, k, judged="list", no_relevant=no_relevant)
    if ev is not None:
        assert "only recommended items are judged" in ev.basis()


@given(drawn=data(repeats=True), k=CUTOFFS)
def test_a_pair_recommended_twice(drawn: Drawn, k: int | None) -> None:
    assume(set(drawn.lists) & {user for user, judged in drawn.truth.items() if any(judged.values())})
    truth = {user: judged for user, judged in drawn.truth.items() if any(judged.values())}
    repeated = any(len({item for _, item in ranked}) < len(ranked) for ranked in drawn.lists.values())
    if repeated:
        with pytest.raises(FrameError, match=r"of user and item (?:is|are) repeated"):
            recnb.evaluate(drawn.recs_frame, drawn.truth_frame)
    # dedupe: the highest place stays and the list closes up.
    once = {user: list(enumerate(dict.fromkeys(item for _, item in ranked), 1)) for user, ranked in drawn.lists.items()}
    hold(drawn, naive(once, truth, k), k, duplicates="dedupe")
    # keep: each place hits.
    hold(drawn, naive(drawn.lists, truth, k), k, duplicates="keep")
    # hit_once: places stay, and only the highest hits; the length of a list is its last rank whatever hits there.
    first = {
        user: [
            (rank, item if item not in [other for _, other in ranked[:at]] else -1)
            for at, (rank, item) in enumerate(ranked)
        ]
        for user, ranked in drawn.lists.items()
    }
    hold(drawn, naive(first, truth, k), k, duplicates="hit_once")


def test_a_pair_recommended_twice_by_score_and_by_row() -> None:
    recs = pd.DataFrame({"user": 1, "item": ["a", "b", "a", "c"], "score": [1, 3, 2, 0]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "c"]})
    places = {"dedupe": ([2, 3], [1, 3]), "keep": ([2, 3, 4], [1, 3, 4]), "hit_once": ([2, 4], [1, 4])}
    for mode, (by_score, by_row) in places.items():
        assert recnb.evaluate(recs, truth, duplicates=mode).hits().rank.tolist() == by_score
        assert recnb.evaluate(recs, truth, duplicates=mode, order="row").hits().rank.tolist() == by_row


def test_a_pair_judged_twice() -> None:
    recs = pd.DataFrame({"user": 1, "item": ["a", "b"], "rank": [1, 2]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "b", "a"], "relevance": [1, 2, 3]})
    with pytest.raises(
        FrameError,
        match=r"truth: 1 pair of.*user 1, item 'a' \(2 times\).*drop_duplicates\(\['user', 'item'\]\).*duplicates='dedupe'",
    ):
        recnb.evaluate(recs, truth)
    for mode in ("dedupe", "keep", "hit_once"):
        ev = recnb.evaluate(recs, truth, duplicates=mode)
        assert ev.dcg(k=2) == pytest.approx(3 + 2 / math.log2(3))
        assert ev.counts.n_relevant == 2


@pytest.mark.parametrize("users", USERS)
@pytest.mark.parametrize("no_relevant", NO_RELEVANT)
@pytest.mark.parametrize("more", [{}, {"candidates": "padded"}, {"judged": "list"}])
def test_no_user_in_common_is_refused_whoever_counts(users: str, no_relevant: str, more: dict[str, Any]) -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [3, 4], "item": [10, 11]})
    with pytest.raises(
        FrameError,
        match=r"no user is in both frames.*such as 1.*such as 3"
        if no_relevant != "error"
        else "no user is in both|no relevant item",
    ):
        recnb.evaluate(recs, truth, averaged_users=users, no_relevant=no_relevant, **more)


@pytest.mark.parametrize("users", USERS)
def test_whose_values_are_averaged_is_said(users: str) -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]})
    ev = recnb.evaluate(recs, recs[["user", "item"]], averaged_users=users)
    phrase = {
        "truth": "2 users;",
        "recs": "2 users, those with a list",
        "both": "2 users, those in both frames",
        "union": "2 users, those in either frame",
    }
    assert ev.basis().startswith(phrase[users])


def test_a_user_with_nothing_relevant_is_said() -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": [10, 11], "relevance": [1, 0]})
    said = [recnb.evaluate(recs, truth, no_relevant=word).basis() for word in ("skip", "zero", "one")]
    assert all("1 with no relevant item" in basis for basis in said)
    assert len(set(said)) == 3, "what becomes of such users is said"
    assert "left out" in said[0]


LONG_WAY = [{"ties": "worst"}, {"candidates": "padded"}, {"duplicates": "rows"}, {"score_dtype": "float32"}]


@pytest.mark.parametrize("options", [{}, *LONG_WAY], ids=str)
def test_ranks_are_looked_at_whatever_the_other_options(options: dict[str, Any]) -> None:
    recs = pd.DataFrame({"user": 1, "item": [10, 11], "rank": [1, 2], "score": [0.1, 0.2]})
    truth = recs[["user", "item"]]
    with pytest.raises(FrameError, match="'rank' and 'score' disagree"):
        recnb.evaluate(recs, truth, **options)
    assert recnb.evaluate(recs, truth, order="rank", **options)._data.list_of(0) == {1: 10, 2: 11}
    with pytest.raises(FrameError, match="user 1 has 10 and 11 at rank 1"):
        recnb.evaluate(recs.assign(rank=1), truth, order="rank", **options)


@pytest.mark.parametrize("more", [{}, {"ties": "worst"}], ids=str)
def test_dedupe_closes_gaps_of_ranks_whoever_repeats_an_item(more: dict[str, Any]) -> None:
    """A list with empty places is not read in another way because another user's list repeats an item, or none does."""
    gap = pd.DataFrame({"user": 1, "item": [10, 11], "rank": [1, 5]})
    repeats = pd.DataFrame({"user": 2, "item": [10, 10], "rank": [1, 2]})
    truth = pd.DataFrame({"user": [1, 2], "item": [11, 10]})
    for recs in (gap, pd.concat([gap, repeats]), pd.concat([gap, repeats]).sample(frac=1, random_state=1)):
        ev = recnb.evaluate(recs, truth, duplicates="dedupe", **more)
        assert ev.reciprocal_rank(k=2).per_user[1] == 1 / 2


def test_scores_too_large_for_single_precision_raise_no_warning() -> None:
    recs = pd.DataFrame({"user": 1, "item": [10, 11, 12], "score": [-1e300, 1e300, 0.0]})
    ev = recnb.evaluate(recs, recs[["user", "item"]], score_dtype="float32")
    assert ev._data.list_of(0) == {1: 11, 2: 12, 3: 10}


@pytest.mark.parametrize(
    "ranks, duplicates, place",
    [([1, 2], "error", 4), ([1, 7], "error", 9), ([1, 2, 3], "keep", 5), ([1, 3, 7], "hit_once", 9)],
)
def test_the_catalogue_stands_below_empty_places_and_repeats(ranks: list[int], duplicates: Any, place: int) -> None:
    """Items a and b in a list, once or twice; c and d of the catalogue follow it."""
    recs = pd.DataFrame({"user": 1, "item": ["b", "a", "a"][: len(ranks)], "rank": ranks})
    truth = pd.DataFrame({"user": 1, "item": ["c", "d"], "relevance": [0, 1]})
    for ties in ("first", "max_rank"):
        ev = recnb.evaluate(recs, truth, candidates="catalogue", duplicates=duplicates, ties=ties)
        assert ev.reciprocal_rank() == 1 / place
        assert ev.precision() == 1 / place
