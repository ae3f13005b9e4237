"""Judged items in lists as hits."""

import pandas as pd

import recnb

RECS = pd.DataFrame(
    {"user": [1, 1, 1, 2], "item": [1, 2, 3, 3], "score": [0.9, 0.8, 0.7, 0.9]}
)
TRUTH = pd.DataFrame(
    {"user": [1, 1, 1, 1, 2], "item": [1, 2, 3, 9, 3], "relevance": [-1, 0, 2, 1, 1]}
)


def test_entries_of_judged_hits_are_rows_of_their_truth():
    for judged in ("truth", "list"):
        evaluation = recnb.evaluate(
            RECS,
            TRUTH,
            judged=judged,
            judged_only=True,
            negative_relevance="zero",
            relevant_from=1,
        )
        hits = evaluation.joined.judged_hits()
        assert (hits.truth_relevance[hits.entry] == hits.relevance).all()
        assert (hits.truth_user[hits.entry] == hits.user).all()


def test_judged_hits_leave_out_users_whose_truth_is_empty():
    lists = {1: ["a", "z"], 2: ["b"]}
    evaluation = recnb.evaluate(lists, {1: {"a": 1, "b": 0}, 2: []})
    alone = recnb.evaluate({1: lists[1]}, {1: {"a": 1, "b": 0}})
    for measure in ("judged", "bpref"):
        assert evaluation.measure(measure) == alone.measure(measure)


def test_padding_adds_no_item_that_was_not_judged():
    truth = pd.DataFrame({"user": 1, "item": [1, 2, 8, 9], "relevance": [-1, 2, 0, -1]})
    ev = recnb.evaluate(
        RECS.query("user == 1"),
        truth,
        candidates="padded",
        judged_only=True,
        negative_relevance="zero",
    )
    assert ev.hits().list_length.tolist() == [2]  # items 2 and 8
    assert ev.precision(out_of="list") == 1 / 2
