"""A metric of one's own over a frame of the lists: its items, their relevance and the
columns of `items=`.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.metrics import Credit
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests.random_frames import CONVENTIONS, random_frames
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE

SIDES = {"train": SAMPLE.train, "items": SAMPLE.items, "users": SAMPLE.users}
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **SIDES)
FOUND = recnb.compare(SAMPLE.models, SAMPLE.test, **SIDES)

RECS = {"u": ["a", "b", "c"], "v": ["b", "d"]}
TRUTH = {"u": {"a": 1.0, "c": 2.0}}
ITEMS = pd.DataFrame({"item": list("abcd"), "price": [3.0, 4.0, 5.0, 2.0]})


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Without this test's metrics afterwards."""
    yield
    for metrics in (METRICS, LIST_METRICS):
        for name in [name for name, metric in metrics.items() if metric.own]:
            del metrics[name]


def spent() -> Any:
    """The price of what is relevant, of less worth further down."""

    @recnb.metric(symbol="Spent", over="list")
    def spent(lists, k=None, *, power=1):
        """Price of <b>relevant</b> items."""
        earned = lists["price"] * lists["relevance"] / lists["rank"] ** power
        return earned.groupby(lists["user"]).sum()

    return spent


def mean_year() -> Any:
    @recnb.metric(symbol="Year", over="list", better=None)
    def mean_year(lists, k=None):
        """Year of the <b>average</b> item."""
        return lists.groupby("user")["year"].mean()

    return mean_year


def n_shown() -> Any:
    @recnb.metric(symbol="Shown", over="all")
    def n_shown(lists, k=None):
        """Items in <b>any</b> list."""
        return lists["item"].nunique()

    return n_shown


def returning(
    value: Callable[[Any], Any], over: Any = "list", **about: Any
) -> recnb.Score | recnb.CatalogueScore:
    """The number of a metric that returns this of its frame."""

    @recnb.metric(symbol="Mine", over=over, **about)
    def mine(lists, k=None):
        """Mine."""
        return value(lists)

    return recnb.evaluate(RECS, TRUTH, items=ITEMS).measure(mine, k=2)


# The frame and the numbers


def test_the_frame_of_hand_written_lists() -> None:
    frames = []
    returning(lambda lists: frames.append(lists) or 1.0, "all")
    (frame,) = frames
    assert frame.to_dict("list") == {
        "user": ["u", "u", "v", "v"],
        "item": ["a", "b", "b", "d"],
        "rank": [1, 2, 1, 2],
        "relevance": [1.0, 0.0, 0.0, 0.0],
        "price": [3.0, 4.0, 4.0, 2.0],
    }


@pytest.mark.parametrize("as_given", [pd.DataFrame, pl.from_pandas])
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_a_loop_over_the_lists(
    seed: int, as_given: Callable[[Any], Any]
) -> None:
    rng = np.random.default_rng(seed)
    recs, truth = random_frames(rng, 25)
    price = {item: float(item) ** 2 for item in {*recs["item"], *truth["item"]}}
    items = pd.DataFrame({"item": [*price], "price": [*price.values()]})
    given = [as_given(frame) for frame in (recs, truth, items)]
    ev = recnb.evaluate(*given[:2], items=given[2], order="score")
    relevance = truth.set_index(["user", "item"])["relevance"].to_dict()
    for k in (1, 3, None):
        wanted = {}
        for user, rows in recs.groupby("user"):
            ranked = rows.sort_values("score", ascending=False, kind="stable")["item"]
            wanted[user] = sum(
                price[item] * relevance.get((user, item), 0) / rank**2
                for rank, item in enumerate(ranked[:k], 1)
            )
        score = ev.measure(spent(), k=k, power=2)
        assert score.per_user.to_dict() == pytest.approx(wanted)
        assert float(score) == pytest.approx(np.mean([*wanted.values()]))
        listed = {item for rows in wanted for item in _shown_to(recs, rows, k)}
        assert float(ev.measure(n_shown(), k=k)) == len(listed)


@pytest.mark.parametrize("convention", CONVENTIONS, ids=str)
def test_relevance_is_that_of_the_truth_under_every_convention(
    convention: dict[str, Any],
) -> None:
    recs, truth = random_frames(np.random.default_rng(5), 25)
    if convention.get("duplicates"):
        recs = pd.concat([recs, recs.sample(frac=0.2, random_state=5)])
    frames = []

    @recnb.metric(symbol="Mine", over="all")
    def mine(lists, k=None):
        frames.append(lists)
        return 1

    recnb.evaluate(recs, truth, **convention).measure(mine, k=3)
    (frame,) = frames
    least = convention.get("relevant_from", 0)
    known = truth[truth["relevance"] >= least].set_index(["user", "item"])["relevance"]
    wanted = [
        known.get(pair, 0) for pair in frame[["user", "item"]].itertuples(index=False)
    ]
    assert frame["relevance"].tolist() == wanted
    assert frame.equals(frame.sort_values(["user", "rank"], kind="stable"))


def _shown_to(recs: pd.DataFrame, user: Any, k: int | None) -> list[Any]:
    rows = recs[recs["user"] == user]
    return rows.sort_values("score", ascending=False, kind="stable")["item"][
        :k
    ].tolist()


def test_a_number_of_recnb_s_own_written_as_a_function_of_a_frame() -> None:
    had = SAMPLE.train.groupby("item")["user"].nunique()
    share = had / SAMPLE.train["user"].nunique()

    @recnb.metric(symbol="Pop", over="list", bounds=(0, 1), better=None)
    def mine(lists, k=None):
        popularity = lists["item"].map(share).fillna(0)
        return popularity.groupby(lists["user"]).mean()

    for k in (5, None):
        own, recnbs = EV.measure(mine, k=k), EV.popularity(k=k)
        assert own.per_user.to_dict() == pytest.approx(recnbs.per_user.to_dict())
        assert own.interval() == pytest.approx(recnbs.interval())
    own, recnbs = (
        EV.table(metric, k=5, by="segment").to_numpy(dtype=float)
        for metric in (mine, "popularity")
    )
    assert own == pytest.approx(recnbs, nan_ok=True)


# Where it is taken

TAKEN = read_rows("results/own_metric_taken.toml")["of_items"]


@pytest.mark.thin
@pytest.mark.parametrize("make", [mean_year, n_shown])
@pytest.mark.parametrize("where", TAKEN)
def test_it_is_shown_everywhere_and_its_words_are_text(
    where: str, make: Callable[[], Any]
) -> None:
    metric = make()
    shown = str(eval(TAKEN[where], {**globals(), "pickle": pickle, "one": metric}))
    assert re.search(f"{metric.symbol}|{metric.name}|\\d\\.", shown)
    assert re.search("<b>(average|any)", shown) is None


def price() -> Any:
    @recnb.metric(symbol="P", over="list")
    def price(lists, k=None):
        return lists.groupby("user")["price"].mean()

    return price


#: Three users with a list, of whom one has items with a price down to rank 2.
OF_PRICES = recnb.evaluate(
    pd.DataFrame({"user": list("uvw"), "item": list("aba"), "rank": [1, 1, 4]}),
    TRUTH,
    items=ITEMS.assign(price=[3.0, np.nan, 5.0, 2.0]),
)
PAIR = recnb.compare(
    {name: SAMPLE.models[name] for name in ("popular", "item-knn")},
    SAMPLE.test,
    **SIDES,
)
KNOWN = read_rows("results/own_metric_taken.toml")["known_of_items"]


@pytest.mark.parametrize("call", KNOWN)
def test_what_it_gives(call: str) -> None:
    own = {"year": mean_year(), "shown": n_shown(), "price": price()}
    names = {**globals(), **own}
    assert eval(call, names) == pytest.approx(eval(KNOWN[call], names))


# What is refused


def of_hits(hits: Any, k: Any = None) -> Credit:
    return Credit(hits, k, 1 / hits.rank)


REFUSED = read_rows("results/own_metric_of_items_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_metric_of_a_frame_is_refused(call: str) -> None:
    hold_refused(call, REFUSED[call], globals())
