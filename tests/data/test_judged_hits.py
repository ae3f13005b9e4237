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
