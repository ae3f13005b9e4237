"""One frame that holds both sides: lists in cells, or a row for each item that was recommended or is relevant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recnb
from recnb.errors import ColumnError, FrameError

METRICS = ["ndcg", "average_precision", "recall", "precision", "err"]
Lists = dict[str, tuple[list[str], dict[str, float]]]  #: user -> ranking, item -> relevance

LISTS: Lists = {
    "u1": (["a", "b", "c"], {"b": 3.0, "d": 1.0}),
    "u2": (["d", "a"], {"d": 2.0, "a": 1.0, "b": 1.0}),
    "u3": ([], {"a": 1.0}),
    "u4": (["c"], {"a": 1.0, "c": 2.0}),
}
LIKED: Lists = {user: (ranking, dict.fromkeys(truth, 1.0)) for user, (ranking, truth) in LISTS.items()}


def long(lists: Lists) -> tuple[pd.DataFrame, pd.DataFrame]:
    recs = [(user, item, rank) for user, (ranking, _) in lists.items() for rank, item in enumerate(ranking, 1)]
    truth = [(user, item, grade) for user, (_, relevant) in lists.items() for item, grade in relevant.items()]
    return pd.DataFrame(recs, columns=["user", "item", "rank"]), pd.DataFrame(
        truth, columns=["user", "item", "relevance"]
    )


def table(ev: recnb.Evaluation) -> np.ndarray[Any, Any]:
    return ev.table(METRICS, k=[1, 2, None]).to_numpy()


def list_frame(
    lists: Lists, ranking: Callable[[list[str]], Any] = list, relevant: Callable[[dict[str, float]], Any] = dict
) -> pd.DataFrame:
    cells = {
        "recommended": [ranking(one) for one, _ in lists.values()],
        "relevant": [relevant(one) for _, one in lists.values()],
    }
    return pd.DataFrame({"user": list(lists), **{name: pd.Series(cell, dtype=object) for name, cell in cells.items()}})


# List frames

ORDERED = {
    "list": list, "tuple": tuple, "array": lambda cell: np.array(cell, dtype=object), "array of text": lambda cell: np.array(cell, dtype=str),
    "series": lambda cell: pd.Series(cell, dtype=object), "polars": lambda cell: pl.Series(cell, dtype=pl.String), "none": lambda cell: list(cell) or None,
    "nan": lambda cell: list(cell) or float("nan"),
}  # fmt: skip


@pytest.mark.parametrize("ranking", ORDERED)
@pytest.mark.parametrize("relevant", [*ORDERED, "set", "frozenset"])
def test_cells_of_any_kind(ranking: str, relevant: str) -> None:
    kinds = {**ORDERED, "set": set, "frozenset": frozenset}
    frame = list_frame(LIKED, ORDERED[ranking], lambda cell: kinds[relevant](list(cell)))
    assert table(recnb.evaluate(frame)) == pytest.approx(table(recnb.evaluate(*long(LIKED))), abs=1e-15)


def test_cells_of_mappings_hold_the_relevance() -> None:
    want = table(recnb.evaluate(*long(LISTS)))
    assert table(list_frame(LISTS).rec.evaluation()) == pytest.approx(want, abs=1e-15)
    assert (want != table(recnb.evaluate(*long(LIKED)))).any()


def test_a_missing_cell_is_an_empty_list() -> None:
    frame = list_frame(LIKED, lambda cell: cell or None, list)
    assert frame["recommended"].isna().sum() == 1
    ev = recnb.evaluate(frame)
    assert ev.counts.n_without_list == 1
    assert ev.recall(k=3).per_user["u3"] == 0.0
    nothing = pd.DataFrame({"user": ["u1", "u2"], "recommended": [["a"], ["a"]], "relevant": [["a"], None]})
    assert recnb.evaluate(nothing).ndcg(k=1).per_user.to_dict() == {"u1": 1.0}
    assert recnb.evaluate(nothing, users="recs", no_relevant="zero").ndcg(k=1).per_user.to_dict() == {
        "u1": 1.0,
        "u2": 0.0,
    }


@pytest.mark.parametrize("kind", ["eager", "lazy", "arrow", "duckdb"])
def test_list_columns_of_other_frames(kind: str) -> None:
    import duckdb

    eager = pl.DataFrame(
        {
            "user": list(LIKED),
            "recommended": [one or None for one, _ in LIKED.values()],
            "relevant": [list(one) for _, one in LIKED.values()],
        }
    )
    frame = {
        "eager": lambda: eager,
        "lazy": eager.lazy,
        "arrow": eager.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(eager.to_arrow()),
    }[kind]()
    assert table(recnb.evaluate(frame)) == pytest.approx(table(recnb.evaluate(*long(LIKED))), abs=1e-15)
    if kind in ("eager", "lazy"):
        assert table(frame.rec.evaluation()) == pytest.approx(table(recnb.evaluate(frame)), abs=0)


def test_columns_of_lists_by_name_and_by_keyword() -> None:
    want = table(recnb.evaluate(*long(LIKED)))
    frame = list_frame(LIKED, list, list)
    renamed = frame.rename(columns={"user": "userId", "recommended": "recs", "relevant": "ground_truth"})
    assert table(recnb.evaluate(renamed)) == pytest.approx(want, abs=1e-15)
    strange = frame.rename(columns={"user": "who", "recommended": "shown", "relevant": "bought"})
    assert table(recnb.evaluate(strange, user="who", recommended="shown", relevant="bought")) == pytest.approx(
        want, abs=1e-15
    )


def test_lists_of_numbers_and_users_of_numbers() -> None:
    frame = pd.DataFrame(
        {"user": [2, 1], "recommended": [np.array([5, 6]), np.array([7, 5])], "relevant": [{6}, {7: 2.0}]}
    )
    ev = recnb.evaluate(frame)
    assert ev.reciprocal_rank(k=2).per_user.to_dict() == {1: 1.0, 2: 0.5}
    assert ev.explain("dcg", 1, k=2).value == 2.0


def test_cells_stay_as_they_are() -> None:
    frame = list_frame(LISTS)
    cells = [list(frame["recommended"]), list(frame["relevant"])]
    copies = [[list(cell) for cell in cells[0]], [dict(cell) for cell in cells[1]]]
    frame.rec.evaluation(candidates="padded", duplicates="dedupe").table(k=[1, None])
    assert all(now is before for now, before in zip(frame["recommended"], cells[0], strict=True))
    assert [list(cell) for cell in frame["recommended"]] == copies[0]
    assert [dict(cell) for cell in frame["relevant"]] == copies[1]


def test_an_item_twice_in_a_list() -> None:
    frame = pd.DataFrame({"user": [1], "recommended": [["a", "b", "a"]], "relevant": [["a"]]})
    with pytest.raises(FrameError, match=r"user 1, item 'a' \(2 times\).*duplicates='dedupe'") as refusal:
        recnb.evaluate(frame)
    assert "drop_duplicates" not in str(refusal.value)  # of no use on cells of lists
    assert recnb.evaluate(frame, duplicates="dedupe").precision(k=None) == 0.5


# Complete frames


def outer(lists: Lists) -> pd.DataFrame:
    recs, truth = long(lists)
    return truth.merge(recs, how="outer", on=["user", "item"])


@given(
    st.dictionaries(
        st.sampled_from("uvwxyz"),
        st.tuples(
            st.lists(st.sampled_from("abcdef"), unique=True, max_size=5),
            st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 1.0, 2.0]), max_size=5),
        ),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
)
def test_outer_joined_is_the_same_as_two_frames(lists: Lists, random: Any) -> None:
    recs, truth = long(lists)
    assume(set(recs["user"]) & set(truth.loc[truth["relevance"] > 0, "user"]))
    want = recnb.evaluate(recs, truth)
    frame = outer(lists).sample(frac=1, random_state=random.randrange(1000))
    for kind in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), frame.convert_dtypes()):
        ev = kind.rec.evaluation()
        assert table(ev) == pytest.approx(table(want), abs=1e-15)
        assert ev.users.tolist() == want.users.tolist()
        assert bool(ev.notes) == (
            not (
                set(zip(truth["user"], truth["item"], strict=True)) - set(zip(recs["user"], recs["item"], strict=True))
            )
        )


def test_a_learning_to_rank_frame() -> None:
    frame = pd.DataFrame(
        {
            "qid": [1, 1, 1, 2, 2],
            "doc_id": [3, 4, 5, 3, 4],
            "score": [0.1, 0.9, 0.5, 0.2, 0.3],
            "label": [2, 0, 1, 0, 1],
        }
    )
    score = frame.rec.ndcg(k=3)
    assert score.per_user.tolist() == pytest.approx([(1 / np.log2(3) + 2 / 2) / (2 + 1 / np.log2(3)), 1.0])
    assert "relevant items: those in this frame" in repr(score)
    assert "relevant items: those in this frame" in score._repr_html_()


def test_a_frame_that_cannot_know_what_was_missed_says_so() -> None:
    recs, truth = long(LISTS)
    listed = recs.merge(truth, how="left", on=["user", "item"])
    for ev in (recnb.evaluate(listed), recnb.evaluate(recs.merge(truth, on=["user", "item"]))):
        assert ev.recall(k=None) == 1.0  # as it must be: nothing that was missed is known
        for shown in (
            ev.basis(),
            repr(ev),
            repr(ev.ndcg(k=2)),
            repr(ev.table(k=[2])),
            repr(ev.curve("ndcg", k=[2])),
            repr(ev.explain("ndcg", "u1", k=2)),
        ):
            assert "those in this frame" in shown
    assert "those in this frame" not in recnb.evaluate(outer(LISTS)).basis()
    assert "those in this frame" not in recnb.evaluate(recs, truth).basis()
    assert "those in this frame" not in list_frame(LISTS).rec.evaluation().basis()


def test_a_missing_rank_is_relevant_and_not_recommended() -> None:
    frame = outer(LISTS)
    assert frame["rank"].isna().any()
    assert frame["relevance"].isna().any()
    ev = recnb.evaluate(frame)
    assert ev.explain("recall", "u1", k=3).missed == ("d",)
    assert ev.counts.n_recommended == 6
    assert ev.counts.n_relevant == 8


def test_rank_and_score_in_a_complete_frame() -> None:
    frame = outer(LISTS).assign(score=lambda one: -one["rank"])
    assert table(recnb.evaluate(frame)) == pytest.approx(table(recnb.evaluate(*long(LISTS))), abs=1e-15)
    with pytest.raises(FrameError, match="disagree"):
        recnb.evaluate(frame.assign(score=frame["rank"]))


@pytest.mark.parametrize(("change", "message"), [
    (lambda frame: frame.drop(columns="relevance"), "no relevance column.*recs.rec.against"),
    (lambda frame: frame.drop(columns="rank"), "no rank or score column.*recs.rec.against"),
    (lambda frame: frame.dropna(subset=["relevance"]).assign(rank=np.nan), "recommends nothing"),
    (lambda frame: frame.dropna(subset=["rank"]).assign(relevance=np.nan), "judges nothing: every value of 'relevance'"),
    (lambda frame: pd.concat([frame, pd.DataFrame({"user": ["u9"], "item": ["z"]})]), "row 10.*'u9'.*'z'.*neither a rank or score nor a relevance"),
    (lambda frame: frame.iloc[:0], "the frame: there are no rows"),
])  # fmt: skip
def test_frames_that_do_not_hold_both_sides(change: Callable[[pd.DataFrame], pd.DataFrame], message: str) -> None:
    frame = outer(LISTS)
    assert len(frame) == 10
    with pytest.raises((FrameError, ColumnError), match=message):
        change(frame).rec.ndcg(k=2)


def test_rows_without_a_score_are_counted() -> None:
    frame = outer(LISTS).rename(columns={"rank": "score"})
    n = int(frame["score"].isna().sum())
    assert n > 1
    assert f"{n} rows without a score: judged, not recommended" in recnb.evaluate(frame).ndcg(k=2).basis
    assert "without a score" not in recnb.evaluate(outer(LISTS)).basis()
    one = pd.concat([frame.dropna(subset="score"), frame[frame["score"].isna()][:1]])
    assert "1 row without a score" in recnb.evaluate(one).basis()


LABELS = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [0, 1, 1, 0], "pred": [0.9, 0.5, 0.8, 0.1]})


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas])
def test_several_models_in_a_frame_without_items(convert: Callable[[pd.DataFrame], Any]) -> None:
    both = pd.concat([LABELS.assign(model="a"), LABELS.assign(model="b", pred=[0.1, 0.2, 0.9, 0.3])])
    with pytest.raises(FrameError, match=r"2 models in column 'model'.*recnb\.compare\(frame\)"):
        recnb.evaluate(convert(both))
    assert recnb.evaluate(convert(both[both["model"] == "a"])).mrr() == 0.75
    assert recnb.compare(convert(both))["b"].mrr() == 1


def test_the_score_among_other_columns_is_named() -> None:
    features = LABELS.assign(f1=0.5)
    assert "score: column 'pred'" in recnb.evaluate(features).ndcg(k=2).basis
    assert "score: column 'pred'" in recnb.evaluate(pl.from_pandas(features).lazy()).basis()
    for named in (recnb.evaluate(features, score="pred"), recnb.evaluate(LABELS), recnb.evaluate(LABELS.assign(f1=1))):
        assert "score: column" not in named.basis()
    report = recnb.evaluate(features.rename(columns={"pred": "y_pred"})).report(k=2)
    assert r"column 'y\_pred'" in report.to_markdown()
