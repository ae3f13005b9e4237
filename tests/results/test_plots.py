"""What results draw: their own numbers, on the axes given or on new ones."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import recnb
from recnb.errors import OptionError

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular", users=SAMPLE.users)
RESULTS = {
    "table": lambda: EV.table(["ndcg", "recall"], k=[5, None]),
    "table with intervals": lambda: EV.table(["ndcg", "recall"], k=[5, None], intervals=True),
    "measures": lambda: EV.measures(["nDCG@10", "P@5"]),
    "beyond": lambda: EV.beyond(k=10),
    "segments": lambda: EV.table(["ndcg", "recall"], k=10, by="segment"),
    "curve": lambda: EV.curve("ndcg", k=[1, 5, 10]),
    "differences": lambda: FOUND.differences("ndcg", k=10),
    "table of a comparison": lambda: FOUND.table(["ndcg", "recall"], k=[5, 10]),
    "segments of a comparison": lambda: FOUND.table("ndcg", k=10, by="segment"),
    "spread": lambda: EV.spread("ndcg", k=10),
    "why": lambda: EV.why("ndcg", k=10, other="rectools"),
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    mpl.use("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    plt.close("all")
    recnb.language("en")


@pytest.mark.parametrize("name", RESULTS)
def test_everything_draws_on_new_axes_and_on_those_given(name: str) -> None:
    result = RESULTS[name]()
    drawn = result.plot()
    assert isinstance(drawn, Axes)
    assert drawn.has_data()
    ax = plt.figure().add_subplot()
    assert result.plot(ax) is result.plot(ax=ax) is ax
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.browser  # for which a font with Korean letters is installed
def test_korean_labels_have_letters(name: str) -> None:
    recnb.language("ko")
    RESULTS[name]().plot().figure.canvas.draw()  # a missing letter is a warning


def points(ax: Axes) -> dict[str, tuple[list[float], list[tuple[float, float]]]]:
    """By the name of each series: its means, and the ends of their intervals."""
    found = {}
    for one in ax.containers:
        line, _caps, bars = one.lines
        ends = [tuple(part[:, 0]) for part in bars[0].get_segments()] if bars else []
        found[one.get_label()] = ([*map(float, line.get_xdata())], ends)
    return found


def rows_of(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_a_table_is_points_with_the_intervals_that_it_has() -> None:
    table, wide = EV.table(["ndcg", "recall"], k=[5, None]), EV.table(["ndcg", "recall"], k=[5, None], intervals=True)
    bare, drawn = points(table.plot()), points(wide.plot(color=["C3", "k"]))
    assert [*bare] == [*drawn] == ["5", "whole list"]
    assert rows_of(wide.plot()) == ["ndcg", "recall"]
    for k, (means, ends) in zip((5, None), drawn.values(), strict=True):
        scores = [EV.ndcg(k=k), EV.recall(k=k)]
        assert means == bare[str(k or "whole list")][0] == pytest.approx([*map(float, scores)])
        assert np.array(ends) == pytest.approx(np.array([score.interval() for score in scores]))
        assert bare[str(k or "whole list")][1] == []
    assert [one.lines[0].get_color() for one in wide.plot(color=["C3", "k"]).containers] == ["C3", "k"]
    table.loc["ndcg", 5] = 0.9
    assert points(pickle.loads(pickle.dumps(table)).plot())["5"][0][0] == 0.9


def test_segments_and_comparisons_draw_their_intervals() -> None:
    table = EV.table(["ndcg"], k=10, by="segment")
    ax = table.plot()
    means, ends = points(ax)["mean"]
    assert (means, rows_of(ax)) == (table["mean"].tolist(), [f"ndcg 10 {name}" for *_about, name in table.index])
    assert np.array(ends) == pytest.approx(table[["low", "high"]].to_numpy())
    compared = points(pickle.loads(pickle.dumps(FOUND.table(["ndcg"], k=10))).plot())
    for row in FOUND.report(k=10, metrics=["ndcg"]).to_frame().itertuples():
        assert compared[row.model][0] == pytest.approx([row.mean])
        assert compared[row.model][1][0] == pytest.approx((row.mean_low, row.mean_high))


def test_metrics_of_other_scales_can_be_read_and_a_legend_is_beside_the_points() -> None:
    assert EV.beyond(k=10).plot().get_xscale() == "symlog"
    assert EV.table(["ndcg", "recall"], k=[1, 10]).plot().get_xscale() == "linear"
    ax = EV.table(["ndcg", "recall"], k=[5, 10]).plot()
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_curves_on_the_same_axes_are_all_in_sight() -> None:
    low, high = (recnb.evaluate(SAMPLE.models[name], SAMPLE.test).curve("ndcg") for name in ("popular", "item-knn"))
    ax = low.plot()
    high.plot(ax=ax, label="item-knn")
    bottom, top = ax.get_ylim()
    assert bottom == 0
    assert top > max(high.high)
    assert ax.get_ylabel() == "nDCG@k, mean of 261 users"
    EV.curve("recall").plot(ax=ax)
    assert ax.get_ylim()[1] > max(EV.curve("recall").high)
    assert ax.get_ylabel() == "value"
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["nDCG", "item-knn", "Recall"]
    fixed = plt.figure().add_subplot()
    fixed.set_ylim(0.1, 0.2)
    high.plot(fixed)
    assert fixed.get_ylim() == (0.1, 0.2)
    assert EV.curve("coverage", k=[5, 10]).plot().get_ylabel() == "Coverage@k"


def test_what_cannot_be_drawn_on_or_with_is_refused() -> None:
    table, several = EV.table("ndcg", k=[5]), plt.figure().subplots(1, 2)
    for draw in (table.plot, EV.curve("ndcg").plot, EV.spread("ndcg", k=10).plot, FOUND.differences("ndcg", k=10).plot):
        with pytest.raises(OptionError, match=r"such as ax=axes\[0\]"):
            draw(ax=several)
    for draw in (lambda: table.plot(kind="bar"), EV.items(k=10).plot, EV.user("u026", k=10).plot):
        with pytest.raises(OptionError, match=r"those of table\.to_frame\(\)\.plot"):
            draw()
    with pytest.raises(ValueError, match="reddish"):  # matplotlib's own
        table.plot(color="reddish")
    assert len(table.to_frame().plot(kind="bar").patches) == 1
