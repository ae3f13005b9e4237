"""Two frames in: which column is what, and the order that rows are put in."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.data import NAMES
from recnb.errors import ColumnError, FrameError

RECS = pd.DataFrame({"user": [1, 1, 1, 2, 2], "item": [10, 11, 12, 10, 13], "rank": [1, 2, 3, 1, 2]})
TRUTH = pd.DataFrame({"user": [1, 1, 2], "item": [11, 14, 10], "relevance": [3.0, 1.0, 2.0]})
#: User 1 hits at rank 2 with relevance 3 (ideal 3, 1), user 2 at rank 1 with relevance 2.
DCG = [3 / np.log2(3), 2.0]


def dcg(recs: object, truth: object, **options: object) -> list[float]:
    return recnb.evaluate(recs, truth, **options).dcg(k=3).per_user.tolist()


def lists_of(recs: object, truth: object, **options: object) -> dict[object, list[object]]:
    """Each user's list as the evaluation has it, by rank."""
    ev = recnb.evaluate(recs, truth, **options)
    return {user: list(ev._data.lists_of([position])[0].values()) for position, user in enumerate(ev.users)}


def test_the_worked_case() -> None:
    assert dcg(RECS, TRUTH) == pytest.approx(DCG, abs=1e-15)


# Roles


def spellings(name: str) -> list[str]:
    """As a column may be written: userid, USERID, UserId, user_id, user-id, user id, USER_ID."""
    return [
        name,
        name.upper(),
        name.capitalize(),
        "_".join([name[:2], name[2:]]),
        f"{name[:3]}-{name[3:]}",
        f" {name[0]} {name[1:]} ".upper(),
    ]


@pytest.mark.parametrize("role", ["user", "item", "rank", "score", "relevance"])
def test_every_common_name_in_any_spelling(role: str) -> None:
    scored = RECS.drop(columns="rank").assign(score=[3, 2, 1, 2, 1])
    as_named = dcg(RECS, TRUTH)
    for name in itertools.chain.from_iterable(map(spellings, NAMES[role])):
        recs, truth = (scored if role == "score" else RECS), TRUTH
        renamed = recs.rename(columns={role: name}), truth.rename(columns={role: name})
        assert dcg(*renamed) == pytest.approx(DCG, abs=1e-15), name
        if role in ("user", "item"):
            assert dcg(renamed[0], truth) == dcg(recs, renamed[1]) == as_named, name


def test_the_names_that_the_documentation_promises() -> None:
    promised = {
        "user": ["user_id", "userId", "query_id", "qid"], "item": ["item_id", "movieId", "doc_id"],
        "score": ["prediction", "score"], "relevance": ["rating", "label"],
    }  # fmt: skip
    for role, names in promised.items():
        assert {name.lower().replace("_", "") for name in names} <= set(NAMES[role])
    every = list(itertools.chain.from_iterable(NAMES.values()))
    assert len(every) == len(set(every)), "a name that suggests two roles suggests none"


@pytest.mark.parametrize("keyword", ["user", "item"])
def test_a_column_by_keyword_in_one_frame_or_both(keyword: str) -> None:
    mine = {keyword: "xyz"}
    both = RECS.rename(columns=mine), TRUTH.rename(columns=mine)
    assert dcg(*both, **mine) == dcg(both[0], TRUTH, **mine) == dcg(RECS, both[1], **mine) == dcg(RECS, TRUTH)


def test_rank_score_and_relevance_by_keyword() -> None:
    assert dcg(RECS.rename(columns={"rank": "place"}), TRUTH, rank="place") == dcg(RECS, TRUTH)
    assert dcg(RECS, TRUTH.rename(columns={"relevance": "stars"}), relevance="stars") == dcg(RECS, TRUTH)
    scored = RECS.drop(columns="rank").assign(points=[3, 2, 1, 2, 1])
    assert dcg(scored, TRUTH, score="points") == dcg(RECS, TRUTH)


def test_a_keyword_wins_over_a_common_name() -> None:
    recs = RECS.assign(user_id=[7, 7, 7, 8, 8])
    assert dcg(recs, TRUTH, user="user") == dcg(RECS, TRUTH)
    with pytest.raises(FrameError, match="no user is in both frames"):
        dcg(recs, TRUTH, user="user_id")


def test_a_column_named_for_another_role_is_no_candidate() -> None:
    # `label` is usually relevance; named as the user column it is not taken for relevance as well.
    truth = TRUTH.rename(columns={"user": "label"})
    assert dcg(RECS, truth, user="label") == dcg(RECS, TRUTH)


def test_the_score_column_of_one_frame_does_not_hide_the_relevance_of_the_other() -> None:
    recs = RECS.drop(columns="rank").assign(rating=[0.9, 0.8, 0.7, 0.9, 0.8])
    truth = TRUTH.rename(columns={"relevance": "rating"})
    ev = recnb.evaluate(recs, truth, score="rating")
    assert ev.dcg(k=3).per_user.tolist() == dcg(RECS, TRUTH)
    assert "relevance above 0" in ev.basis()


def test_without_relevance_every_row_of_the_truth_is_relevant() -> None:
    ev = recnb.evaluate(RECS, TRUTH.drop(columns="relevance"))
    assert ev.cg(k=3).per_user.tolist() == [1.0, 1.0]
    assert "every pair of the truth" in ev.basis()
    assert "relevance above 0" not in ev.basis()


@pytest.mark.parametrize("index", [["user"], ["item"], ["user", "item"], ["user", "item", "rank"], ["rank"]])
def test_columns_in_the_index_are_asked_back(index: list[str]) -> None:
    with pytest.raises(ColumnError, match=r"its index holds '\w+'.*\.reset_index\(\)"):
        dcg(RECS.set_index(index), TRUTH)
    assert dcg(RECS.set_index(index).reset_index(), TRUTH) == dcg(RECS, TRUTH)


@pytest.mark.parametrize("index", [["user"], ["user", "item"], ["relevance"]])
def test_columns_in_the_index_of_the_truth(index: list[str]) -> None:
    with pytest.raises(ColumnError, match=r"truth.* no .*its index holds '\w+'.*\.reset_index\(\)"):
        dcg(RECS, TRUTH.set_index(index))


# Order


def test_by_score_by_rank_by_row() -> None:
    scored = RECS.drop(columns="rank").assign(score=[0.1, 0.2, 0.3, 0.4, 0.5])
    assert lists_of(scored, TRUTH) == {1: [12, 11, 10], 2: [13, 10]}
    assert lists_of(RECS.iloc[::-1], TRUTH) == {1: [10, 11, 12], 2: [10, 13]}
    rows = RECS.drop(columns="rank").iloc[[2, 4, 0, 3, 1]]
    assert lists_of(rows, TRUTH, order="row") == {1: [12, 10, 11], 2: [13, 10]}


def test_the_order_in_force_is_said() -> None:
    scored = RECS.drop(columns="rank").assign(score=[5, 4, 3, 2, 1])
    assert "ordered by score" in recnb.evaluate(scored, TRUTH).basis()
    assert "ordered by rank" in recnb.evaluate(RECS, TRUTH).basis()
    assert "in the order given" in recnb.evaluate(scored, TRUTH, order="row").basis()


def test_rank_and_score_that_agree() -> None:
    agreeing = RECS.assign(score=[0.9, 0.9, 0.1, 0.5, -2.0])  # equal scores contradict no rank
    for frame in (agreeing, agreeing.sample(frac=1, random_state=0)):
        assert dcg(frame, TRUTH) == dcg(RECS, TRUTH)


def test_rank_and_score_that_disagree_must_be_settled() -> None:
    against = RECS.assign(score=[1, 2, 3, 1, 2])
    for frame in (against, against.sample(frac=1, random_state=0)):
        with pytest.raises(FrameError, match=r"'rank' and 'score' disagree in 3 places.*order='rank' or order='score'"):
            dcg(frame, TRUTH)
    assert lists_of(against, TRUTH, order="rank") == {1: [10, 11, 12], 2: [10, 13]}
    assert lists_of(against, TRUTH, order="score") == {1: [12, 11, 10], 2: [13, 10]}
    assert lists_of(against, TRUTH, order="row") == {1: [10, 11, 12], 2: [10, 13]}


def test_the_rule_of_ties_is_said_where_scores_order_lists() -> None:
    scored = RECS.drop(columns="rank").assign(score=1.0)
    assert "equal scores by item, descending" in recnb.evaluate(scored, TRUTH, ties="item_desc").basis()
    assert "equal scores in the order given" in recnb.evaluate(scored, TRUTH).basis()
    assert "equal scores" not in recnb.evaluate(RECS, TRUTH).basis()


def test_a_bool_a_whole_number_and_a_decimal_can_be_a_score() -> None:
    for scores in (
        [True, False, False],
        np.array([9, 8, 7], dtype=np.uint64),
        np.array([3, 2, 1], dtype=np.float16),
        [2**60 + 1, 2**60, 0],
    ):
        recs = pd.DataFrame({"user": 1, "item": [10, 11, 12], "score": scores})
        assert lists_of(recs, TRUTH.iloc[:2]) == {1: [10, 11, 12]}, scores


# Gaps and counts


def test_gaps_in_the_ranks_are_kept_and_counted() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2, 3], "item": [11, 12, 10, 10], "rank": [2, 5, 1, 4]})
    ev = recnb.evaluate(recs, TRUTH)
    assert ev.counts.n_gaps == 2
    assert ev.to_frame()["list_length"].tolist() == [5, 1]
    assert ev.reciprocal_rank(k=3).per_user.tolist() == [1 / 2, 1.0]
    assert ev.precision(k=None).per_user.tolist() == [1 / 5, 1.0]
    assert recnb.evaluate(RECS, TRUTH).counts.n_gaps == 0


def test_counts() -> None:
    recs = pd.DataFrame({"user": [1, 1, 5, 6, 6], "item": [10, 11, 10, 17, 18], "rank": [1, 2, 1, 1, 2]})
    truth = pd.DataFrame({"user": [1, 1, 2, 5, 9], "item": [11, 14, 10, 10, 10], "relevance": [3, 0, 2, 0, 0]})
    counts = recnb.evaluate(recs, truth).counts
    # 1 and 2 have something relevant, 2 has no list; 5, 6 and 9 have nothing relevant.
    assert (counts.n_users, counts.n_without_list, counts.n_without_relevant) == (2, 1, 3)
    assert (counts.n_recommended, counts.n_relevant, counts.n_not_relevant, counts.n_gaps) == (5, 2, 3, 0)
    assert (counts.n_items_recommended, counts.n_items_relevant) == (4, 2)
    everyone = recnb.evaluate(recs, truth, averaged_users="union", no_relevant="zero")
    assert everyone.counts.n_users == 5
    assert everyone.counts.n_without_list == 2
    assert everyone.counts.n_without_relevant == 3
    assert "2 of them without a list, which counts 0" in everyone.basis()
    assert "3 with no relevant item left out" in recnb.evaluate(recs, truth).basis()


# Users


@pytest.mark.parametrize("users", [[3, 1, 2], ["b", "a", "Z"], [2**40, -5, 7], ["ü", "z", "日"]])
def test_users_are_sorted(users: list[object]) -> None:
    recs = pd.DataFrame({"user": users, "item": 1, "rank": 1})
    per_user = recnb.evaluate(recs, recs[["user", "item"]]).ndcg(k=1).per_user
    assert per_user.index.tolist() == sorted(users)
    assert per_user.index.name == "user"


def test_as_many_users_as_cut_offs() -> None:
    """Per-user values and cut-offs of one length must not line up."""
    ev = recnb.evaluate(RECS, TRUTH)
    table = ev.table(["recall", "precision", "f1", "ndcg"], k=[1, 2])
    for metric, k in itertools.product(table.index, table.columns):
        assert table.loc[metric, k] == getattr(ev, metric)(k=k)
