"""Scatter plots: the users of two models, and the models by two metrics."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

import recnb
from recnb.errors import OptionError, RecnbError
from tests.comparison.frames import SAMPLE

mpl.use("Agg")

FOUND = recnb.compare(
    SAMPLE.models,
    SAMPLE.test,
    train=SAMPLE.train,
    items=SAMPLE.items,
    baseline="popular",
)


def texts(ax: Axes) -> str:
    """Return all that is written on a plot."""
    words = [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
    words += [text.get_text() for text in ax.texts]
    return " ".join(" ".join(words).split())


def points(ax: Axes) -> PathCollection:
    (drawn,) = [each for each in ax.collections if isinstance(each, PathCollection)]
    return drawn


@pytest.mark.parametrize("metric", ["ndcg", "hit_rate", "calibration"])
def test_each_user_is_drawn_at_the_values_under_both_models(metric: str) -> None:
    ax = FOUND.scatter(metric, k=10, model="factors")
    ours = getattr(FOUND["factors"], metric)(k=10).per_user
    theirs = getattr(FOUND["popular"], metric)(k=10).per_user
    both = pd.concat([theirs, ours], axis=1, join="inner").dropna().to_numpy()
    places, counts = np.unique(both, axis=0, return_counts=True)
    drawn = points(ax)
    assert np.asarray(drawn.get_offsets()) == pytest.approx(places)
    # The area of a point goes with the number of its users.
    sizes = np.asarray(drawn.get_sizes())
    assert sizes == pytest.approx(np.maximum(2, counts * sizes.max() / counts.max()))
    assert ax.get_xlim() == ax.get_ylim()
    (diagonal,) = ax.lines
    assert diagonal.get_slope() == 1  # type: ignore[attr-defined]


def test_users_above_and_below_the_diagonal_are_those_won_and_lost() -> None:
    ax = FOUND.scatter("ndcg", k=10, model="factors")
    rows = FOUND.differences("ndcg", k=10).to_frame().set_index("model")
    row = rows.loc["factors"]
    words = texts(ax)
    assert f"nDCG@10 of {row.n_users} users" in words
    assert (
        f"{row.won} higher with factors, {row.lost} with popular, {row.tied} the same"
        in words
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "nDCG@10 with popular",
        "nDCG@10 with factors",
    )


def test_the_models_are_drawn_at_their_means_of_two_metrics() -> None:
    ax = FOUND.scatter("ndcg", "coverage", k=10)
    table = FOUND.table(["ndcg", "coverage"], k=10, intervals=True).to_frame()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("nDCG@10", "Coverage@10")
    drawn = np.asarray(points(ax).get_offsets())
    assert drawn == pytest.approx(table[["ndcg@10", "coverage@10"]].to_numpy())
    names = [text.get_text() for text in ax.texts[: len(FOUND)]]
    assert names == FOUND.names
    places = [text.xy for text in ax.texts[: len(FOUND)]]  # type: ignore[attr-defined]
    assert np.array(places) == pytest.approx(drawn)
    # Intervals: one of a mean over users, none of a number of all lists.
    (bars,) = ax.containers
    (lines,) = [line for line in bars[2] if len(line.get_segments())]
    ends = [segment[:, 0].tolist() for segment in lines.get_segments()]
    wanted = table[["ndcg@10 low", "ndcg@10 high"]].to_numpy()
    assert np.array(ends) == pytest.approx(wanted)


@pytest.mark.parametrize("asked", [("ndcg",), ("ndcg", "coverage")])
def test_a_scatter_plot_has_the_line_of_users_and_convention(asked: Any) -> None:
    words = texts(FOUND.scatter(*asked, k=10))
    assert "261 users" in words
    assert "ordered by rank" in words
    assert "linear gain" in words
    assert ("95% intervals" in words) == (len(asked) == 2)


def test_a_scatter_plot_is_drawn_on_given_axes_and_with_names_as_they_are() -> None:
    given = mpl.figure.Figure().add_subplot()
    models = {"a$b$": SAMPLE.models["factors"], "b": SAMPLE.models["popular"]}
    found = recnb.compare(models, SAMPLE.test)
    assert found.scatter("recall", k=5, ax=given) is given
    assert r"recall" in given.get_xlabel().casefold()
    assert r"a\$b\$" in texts(given)
    given.figure.canvas.draw()
    assert found.scatter("nDCG@5", "P@5").get_xlabel() == "nDCG@5"


def test_metrics_are_called_as_asked_and_users_by_their_word() -> None:
    truth = SAMPLE.test.rename(columns={"user": "query_id"})
    models = {
        name: frame.rename(columns={"user": "query_id"})
        for name, frame in SAMPLE.models.items()
    }
    words = texts(recnb.compare(models, truth).scatter("ndcg", k=10))
    assert "nDCG@10 of 261 queries" in words
    assert "user" not in words.replace("user_", "")


def test_larger_points_are_explained_where_there_are_some() -> None:
    truth = {"u": ["a"], "v": ["b"]}
    models = {"one": {"u": ["a"], "v": ["x", "b"]}, "two": {"u": ["x"], "v": ["b"]}}
    words = "larger points are of several users"
    assert words not in texts(recnb.compare(models, truth).scatter("mrr", k=2))
    assert words in texts(FOUND.scatter("ndcg", k=10, model="factors"))


def test_users_without_a_value_under_both_models_are_not_drawn() -> None:
    truth = {user: {"a": 1} for user in "abcdefghijkl"}
    first = {user: ["a", "b"] for user in "abcdefghijkl"}
    found = recnb.compare(
        {"one": first, "two": dict(first) | {"a": ["a"]}}, truth, items=ITEMS
    )
    drawn = points(found.scatter("diversity", k=2))
    assert np.asarray(drawn.get_offsets()).shape[0] == 1
    assert "11 users" in texts(found.scatter("diversity", k=2))


ITEMS = pd.DataFrame({"item": ["a", "b"], "genres": [["x"], ["y"]]})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: FOUND.scatter("coverage", k=10), "name a second metric"),
        (lambda: FOUND.scatter("ndcg", 10), "10"),
        (lambda: FOUND.scatter("ndcg", "ndcg", k=10), "more than once"),
        (lambda: FOUND.scatter("ndcg", "mrr", k=[5, 10]), "one cut-off|k="),
        (lambda: FOUND.scatter("ndcg", k=10, model="popular"), "the baseline itself"),
        (
            lambda: FOUND.scatter("ndcg", "mrr", k=10, model="factors"),
            "every model is drawn",
        ),
        (lambda: FOUND.scatter("ndcg", k=10, gian="linear"), "Did you mean 'gain'"),
        (lambda: FOUND.scatter("ndcg", k=10, ax=3), "ax= is of type int"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, words: str) -> None:
    with pytest.raises((OptionError, RecnbError), match=words):
        call()


def test_a_single_value_of_all_users_has_room_around_it() -> None:
    truth = {user: {"a": 1} for user in range(3)}
    lists = {user: ["a"] for user in range(3)}
    ax = recnb.compare({"one": lists, "two": lists}, truth).scatter("recall", k=1)
    low, high = ax.get_xlim()
    assert low < 0 <= 1 < high
    assert all(map(math.isfinite, (low, high)))
