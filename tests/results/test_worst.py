"""The users with the worst values: who they are, what they missed, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.metrics.hits import Cutoff, Hits
from recnb.metrics.metric import Credit
from tests.rows import hold_calls, hold_refusals, read_rows
from tests.sample import SAMPLE

QUESTIONS = recnb.datasets.load_questions()
EV = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test)


@pytest.mark.thin
@pytest.mark.parametrize("k", [3, 10, None])
@pytest.mark.parametrize("metric", ["ndcg", "recall", "AP(rel=4)"])
def test_the_worst_come_first(metric: str, k: int | None) -> None:
    """Users with equal values by how many items they miss, then as they come; what a row
    says of a list is in `test_user_lists.py`.
    """
    values = EV.measure(metric, k=k).per_user
    least = 4 if "rel" in metric else 1
    truth = SAMPLE.test[SAMPLE.test["rating"] >= least]
    n_relevant = truth["user"].value_counts()
    firsts = SAMPLE.models["popular"].query("rank == 1").set_index("user")["item"]
    listed = SAMPLE.models["popular"].query(f"rank <= {k or 1000}")
    n_found = truth.merge(listed, on=["user", "item"])["user"].value_counts()
    rows = [(value, n_relevant[user], user) for user, value in values.items()]
    rows.sort(key=lambda row: (round(row[0], 12), n_found.get(row[2], 0) - row[1]))
    for n in (1, 7, 10**300):
        table = EV.worst(metric, k=k, n=n)
        assert table.index.tolist() == [user for _value, _n, user in rows[:n]]
        assert table.iloc[:, 0].tolist() == [value for value, _n, _user in rows[:n]]
        n_judged = table["n_found"] + table["n_missed"]
        assert n_judged.tolist() == [n_items for _value, n_items, _user in rows[:n]]
        found = n_found.reindex(table.index, fill_value=0)
        assert table["n_found"].tolist() == found.tolist()
        first = firsts.reindex(table.index)
        assert table["first"].fillna("none").tolist() == first.fillna("none").tolist()


def test_the_worst_are_those_of_the_report() -> None:
    """Of two lists whose first hit has one rank, that which misses more comes first,
    though the other user has more relevant items.
    """
    truth = {
        "few missed": ["b", "c", "d", "e", "y"],
        "many missed": ["b", "y", "z"],
        "first": ["a"],
        "first as well": ["a"],
    }
    ev = recnb.evaluate({user: [*"abcde"] for user in truth}, truth)
    _best, worst = ev.report(k=5, metrics=["reciprocal_rank"]).users
    users = ev.worst("reciprocal_rank", k=5, n=2).index.tolist()
    assert users == [user.user for user in worst.users] == ["many missed", "few missed"]


@pytest.mark.usefixtures("forgotten")
def test_of_a_cost_the_highest_are_the_worst() -> None:
    @recnb.metric(symbol="ToRead", credit="0", missed="no_hit", better="low")
    def to_read(hits: Hits, k: Cutoff = None) -> Credit:
        """Lists in which nothing is found."""
        no_hit = 1 - hits.total(hits.first, k)
        return Credit(hits, k, 0.0 * hits.rank, missed=no_hit)

    table = EV.worst(to_read, k=10, n=3)
    assert table.iloc[:, 0].tolist() == [1, 1, 1]
    assert (table["n_found"] == 0).all()
    assert "@10, of which less is better: the highest of 261 users" in repr(table)


ASKED = recnb.evaluate(
    QUESTIONS.retrievers["words"],
    QUESTIONS.truth,
    users=QUESTIONS.queries,
    items=QUESTIONS.passages,
)
TEXTS = QUESTIONS.queries.set_index("query")["text"]
PASSAGES = {*QUESTIONS.passages["text"].str[:79]}
UNDER = EV.under("pytrec_eval")
POPULAR_ON_DAYS, TRUTH_ON_DAYS = (
    pd.concat([frame.assign(day=day) for day in ("a", "b")])
    for frame in (SAMPLE.models["popular"], SAMPLE.test)
)
IN_DAYS = recnb.evaluate(POPULAR_ON_DAYS, TRUTH_ON_DAYS, split="day")
FROM_RANK_6 = recnb.evaluate(
    SAMPLE.models["popular"].eval("rank = rank + 5"), SAMPLE.test
)
UNTITLED = recnb.evaluate(
    {"ann": ["a", "b"]},
    {"ann": ["b", "c"]},
    items=pd.DataFrame({"item": ["a", "b", "c"], "title": ""}),
)
ROWS = read_rows("results/worst.toml")


test_what_the_worst_are = hold_calls(ROWS["same"], globals())
test_what_has_no_worst_is_refused = hold_refusals(ROWS["refused"], globals())


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("name", ["first", "missing", "n_found", "text", "user"])
def test_a_metric_of_ones_own_that_is_called_as_a_column_has_a_name_of_its_own(
    name: str,
) -> None:
    def mine(hits: Hits, k: Cutoff = None) -> Credit:
        """The number of relevant items in the list."""
        return Credit(hits, k, np.ones(len(hits.rank)))

    mine.__name__ = name
    table = EV.worst(recnb.metric(symbol="Mine", credit="1")(mine), n=3)
    columns = table.reset_index().columns
    assert columns[1] == f"value of {name}"
    assert columns.is_unique
    assert table[f"value of {name}"].tolist() == table["n_found"].tolist()
    assert "Mine" in repr(table)


def test_the_hits_of_a_user_are_found_without_a_scan_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lists = {user: ["a", "b", "c"] for user in "xyz"}
    ev = recnb.evaluate(lists, {"x": ["c"], "y": ["a", "d"], "z": ["b", "c"]})
    monkeypatch.delattr(Hits, "with_users")
    assert ev.worst("recall", n=3)["n_missed"].tolist() == [1, 0, 0]
