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
    "table": lambda: EV.table(["ndcg", "recall"], k=[5, 10]),
    "table with intervals": lambda: EV.table(["ndcg", "recall"], k=[5, None], intervals=True),
    "beyond": lambda: EV.beyond(k=10),
    "segments": lambda: EV.table(["ndcg", "recall"], k=10, by="segment"),
    "score": lambda: EV.ndcg(k=10),
    "curve": lambda: EV.curve("ndcg", k=[1, 5, 10]),
    "items": lambda: EV.items(k=10),
    "items without train": lambda: recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test).items(k=10),
    "differences": lambda: FOUND.differences("ndcg", k=10),
    "table of a comparison": lambda: FOUND.table(["ndcg", "recall"], k=[5, 10]),
    "segments of a comparison": lambda: FOUND.table("ndcg", k=10, by="segment"),
    "movers": lambda: FOUND.movers("ndcg", k=10),
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
    assert any(one.has_data() for one in (drawn, *drawn.child_axes))
    ax = plt.figure().add_subplot()
    if result is not FOUND:  # which takes metrics first
        assert result.plot(ax) is ax
    assert result.plot(ax=ax) is ax
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


def test_a_table_is_points_with_the_intervals_of_each_metric_and_cutoff() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, None])
    drawn = points(table.plot())
    assert [*drawn] == ["@5", "whole list"]
    for k, (means, ends) in zip((5, None), drawn.values(), strict=True):
        scores = [EV.ndcg(k=k), EV.recall(k=k)]
        assert means == pytest.approx([*map(float, scores)])
        for interval, score in zip(ends, scores, strict=True):
            assert interval == pytest.approx(score.interval())
    assert [one.get_text() for one in table.plot().get_yticklabels()] == ["ndcg", "recall"]


def test_a_table_of_segments_and_of_a_comparison_draw_their_intervals() -> None:
    table = EV.table(["ndcg"], k=10, by="segment")
    means, ends = points(table.plot())["ndcg@10"]
    assert means == table["mean"].tolist()
    assert np.array(ends) == pytest.approx(table[["low", "high"]].to_numpy())
    compared = points(FOUND.table(["ndcg"], k=10).plot())
    for row in FOUND.report(k=10, metrics=["ndcg"]).to_frame().itertuples():
        assert compared[row.model][0] == pytest.approx([row.mean])
        assert compared[row.model][1][0] == pytest.approx((row.mean_low, row.mean_high))


def test_what_was_changed_or_restored_is_drawn_as_it_is() -> None:
    table = pickle.loads(pickle.dumps(EV.table(["ndcg"], k=[5])))
    means, ends = points(table.plot())["@5"]
    assert means == table[5].tolist()
    assert ends == []
    table = EV.table(["ndcg"], k=[5])
    table.loc["ndcg", 5] = 0.9
    assert points(table.plot())["@5"] == ([0.9], [])


def test_metrics_of_other_scales_have_their_own_panels() -> None:
    table = EV.beyond(k=10)
    shared, *own = EV.beyond(k=10).plot().child_axes
    small = [name for name in table.index if table.loc[name, 10] <= 1]
    assert [one.get_text() for one in shared.get_yticklabels()] == small
    assert shared.get_xlabel() == "value"  # coverage is no mean over users
    others = {panel.get_yticklabels()[0].get_text(): panel.get_xlabel() for panel in own}
    assert others == {"entropy": "value", "novelty": "mean over users"}
    assert EV.table(["novelty", "diversity"], k=10).plot().child_axes[0].get_xlabel() == "mean over users"
    panels = EV.table(["ndcg", "novelty"], k=10, by="segment").plot().child_axes
    assert [one.get_xlabel() for one in panels] == ["ndcg@10, mean over users", "novelty@10, mean over users"]


def test_a_legend_is_beside_the_points() -> None:
    ax = EV.table(["ndcg", "recall"], k=10, by="segment").plot()
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "mean over users"
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_curves_on_the_same_axes_are_all_in_sight() -> None:
    low, high = (recnb.evaluate(SAMPLE.models[name], SAMPLE.test).curve("ndcg") for name in ("popular", "item-knn"))
    ax = low.plot()
    assert ax.get_ylabel() == "nDCG@k, mean of 261 users"
    high.plot(ax=ax, label="item-knn")
    bottom, top = ax.get_ylim()
    assert bottom == 0
    assert top > max(high.high)
    assert ax.get_ylabel() == "nDCG@k, mean of 261 users"
    EV.curve("recall").plot(ax=ax)
    assert ax.get_ylim()[1] > max(EV.curve("recall").high)
    assert ax.get_ylabel() == "mean over users"
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["nDCG", "item-knn", "Recall"]
    fixed = plt.figure().add_subplot()
    fixed.set_ylim(0.1, 0.2)
    high.plot(fixed)
    assert fixed.get_ylim() == (0.1, 0.2)
    assert EV.curve("coverage", k=[5, 10]).plot().get_ylabel() == "Coverage@k"


def test_colours_keep_the_intervals() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10], intervals=True)
    ax = table.plot(color=["C3", "k"])
    assert points(ax) == points(table.plot())
    assert [one.lines[0].get_color() for one in ax.containers] == ["C3", "k"]


def test_what_cannot_be_drawn_on_or_with_is_refused() -> None:
    table, several = EV.table("ndcg", k=[5]), plt.figure().subplots(1, 2)
    for draw in (table.plot, EV.curve("ndcg").plot, EV.spread("ndcg", k=10).plot, FOUND.differences("ndcg", k=10).plot):
        with pytest.raises(OptionError, match=r"such as ax=axes\[0\]"):
            draw(ax=several)
    with pytest.raises(OptionError, match="no option 'figsize'"):
        table.plot(figsize=(3, 3))
    with pytest.raises(OptionError, match="no colour of matplotlib"):
        table.plot(color="reddish")


def test_what_pandas_draws_is_of_the_frame() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10])
    assert len(table.to_frame().plot(kind="bar").patches) == 4
    ax = plt.figure().add_subplot()
    for drawn in (table.plot(kind="bar"), table.plot.bar(color="k"), table.plot.bar(ax=ax)):
        assert len(drawn.patches) == 4
    assert len(ax.patches) == 4
    with pytest.raises(OptionError, match=r"type table\.to_frame\(\)\.plot"):
        table.plot(stacked=True)


def test_a_score_is_the_distribution_of_its_users() -> None:
    score = EV.ndcg(k=10)
    bars = score.plot(bins=4).patches
    counts = np.histogram(score.per_user, 4)[0]
    assert [bar.get_height() for bar in bars[:4]] == pytest.approx((counts / score.n_users).tolist())


def test_the_names_of_columns_are_beside_the_first_panel() -> None:
    panels = EV.table(["ndcg", "dcg"], k=[5, 10]).plot().child_axes
    assert [panel.get_legend() is not None for panel in panels] == [True, False]


def test_measures_are_points_with_their_intervals() -> None:
    table = EV.measures(["nDCG@10", "P@5"])
    (points,) = table.plot().containers
    assert points.lines[0].get_xdata().tolist() == table["mean"].tolist()


def test_a_row_that_was_renamed_is_drawn() -> None:
    table = EV.table(["ndcg", "recall"], k=[5, 10])
    assert table.plot().get_xlabel() == "mean over users"
    table.index = ["ours", "theirs"]
    assert table.plot().get_xlabel() == "value"
