"""A metric of one's own over a frame of the lists: its items, their relevance and the
columns of `items=`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.metrics import Credit
from tests import evaluated
from tests.evaluated import FOUND, KNN, SIDES
from tests.random_frames import CONVENTIONS, random_frames
from tests.rows import hold_refusals, read_rows, value_of
from tests.sample import SAMPLE

pytestmark = pytest.mark.usefixtures("forgotten")

RECS = {"u": ["a", "b", "c"], "v": ["b", "d"]}
TRUTH = {"u": {"a": 1.0, "c": 2.0}}
ITEMS = pd.DataFrame({"item": list("abcd"), "price": [3.0, 4.0, 5.0, 2.0]})


def mean_year() -> Any:
    @recnb.metric(symbol="Year", over="list", better=None)
    def mean_year(lists, k=None, *, shift=0):
        """Year of the <b>average</b> item."""
        return lists.groupby("user")["year"].mean() + shift

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


def test_no_model_is_the_best_in_a_number_of_all_lists() -> None:
    made = n_shown()
    assert made.__name__ == "n_shown"
    table = FOUND.table(made, k=2)
    assert table["n_shown@2"].nunique() > 1
    assert table.attrs["best"] == {"n_shown@2": []}


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


@pytest.mark.parametrize("as_given", [pd.DataFrame, pl.from_pandas])
def test_a_number_of_recnb_s_own_written_as_a_function_of_a_frame(
    as_given: Callable[[Any], Any],
) -> None:
    had = SAMPLE.train.groupby("item")["user"].nunique()
    share = had / SAMPLE.train["user"].nunique()

    @recnb.metric(symbol="Pop", over="list", bounds=(0, 1), better=None)
    def mine(lists, k=None):
        popularity = lists["item"].map(share).fillna(0)
        return popularity.groupby(lists["user"]).mean()

    sides = {name: as_given(frame) for name, frame in SIDES.items()}
    ev = recnb.evaluate(as_given(KNN), as_given(SAMPLE.test), **sides)
    for k in (5, None):
        own, recnbs = ev.measure(mine, k=k), ev.popularity(k=k)
        assert own.per_user.to_dict() == pytest.approx(recnbs.per_user.to_dict())
        assert own.interval() == pytest.approx(recnbs.interval())
    own, recnbs = (
        ev.table(metric, k=5, by="segment").to_numpy(dtype=float)
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
    shown = str(value_of(TAKEN[where], vars(evaluated) | {"one": metric}))
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
KNOWN = read_rows("results/own_metric_taken.toml")["known_of_items"]


@pytest.mark.parametrize("call", KNOWN)
def test_what_it_gives(call: str) -> None:
    own = {"year": mean_year(), "shown": n_shown(), "price": price()}
    names = vars(evaluated) | globals() | own
    assert value_of(call, names) == pytest.approx(value_of(KNOWN[call], names))


# What is refused


def of_hits(hits: Any, k: Any = None) -> Credit:
    return Credit(hits, k, 1 / hits.rank)


test_what_is_no_metric_of_a_frame_is_refused = hold_refusals(
    read_rows("results/own_metric_of_items_refused.toml"),
    vars(evaluated) | globals(),
)
