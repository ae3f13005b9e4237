"""Tables of metrics, cut-offs and curves: the numbers of single calls, in every form,
and drawn.
"""

from __future__ import annotations

import copy
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes

import recnb
from recnb import METRICS
from recnb.display.forms import Number
from recnb.display.language import _, current, use_language
from recnb.errors import OptionError
from recnb.results.conclusions import p_value
from recnb.results.measuring import Place
from recnb.results.shown import Shown, WordedLater
from recnb.results.table import Table
from tests.rows import read_rows
from tests.sample import SAMPLE

RECS = SAMPLE.models["item-knn"]
EV = recnb.evaluate(RECS, SAMPLE.test, train=SAMPLE.train, users=SAMPLE.users)
SHOP = recnb.evaluate(RECS, SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items)
FOUND = recnb.compare(
    SAMPLE.recommendations, SAMPLE.test, baseline="popular", users=SAMPLE.users
)
CUTOFFS = [1, 3, 200, None]
TABLES = [
    EV.table(k=[5, 10]),
    EV.table("ndcg", k=[5, 10], intervals=True),
    EV.table("ndcg", k=10, by="segment"),
    EV.items(k=10),
    EV.measures(["nDCG@10"]),
    EV.curve("ndcg", k=[1, 5]),
    EV.beyond(k=5),
    FOUND.table(k=[5, 10]),
    FOUND.table("ndcg", k=10, by="segment"),
    FOUND.table(["ndcg", "mrr"], k=10, intervals=True),
    FOUND.differences("ndcg", k=10),
]


# The numbers


def test_a_table_holds_the_single_calls() -> None:
    table = EV.table([*METRICS, "novelty", "coverage"], k=CUTOFFS, intervals=True)
    assert (table.index.tolist(), table.index.name) == (
        [*METRICS, "novelty", "coverage"],
        "metric",
    )
    assert table.columns.get_level_values(1).tolist() == ["mean", "low", "high"] * 4
    means = EV.table([*METRICS, "novelty", "coverage"], k=CUTOFFS)
    assert (means.columns.tolist(), means.columns.name) == (CUTOFFS, "k")
    assert means.to_numpy() == pytest.approx(
        table.xs("mean", axis=1, level=1).to_numpy(), abs=1e-12
    )
    for name in means.index:
        for k in CUTOFFS:
            score = getattr(EV, name)(k=k)
            ends = score.interval() if score.has_interval else (np.nan, np.nan)
            row = [table.loc[name, (k, part)] for part in ("mean", "low", "high")]
            assert row == pytest.approx([float(score), *ends], abs=1e-12, nan_ok=True)


def test_a_table_without_intervals_computes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of many users they take far longer than means."""
    monkeypatch.delattr(Place, "interval")
    assert "linear gain" in EV.table("ndcg", k=10).attrs["basis"]
    with pytest.raises(AttributeError):
        EV.table("ndcg", k=10, intervals=True)


@pytest.mark.parametrize("metric", ["precision", "err", "mrr"])
def test_a_curve_holds_the_single_calls(metric: str) -> None:
    curve, scores = (
        EV.curve(metric, k=[1, 2, 4, 50]),
        [getattr(EV, metric)(k=k) for k in (1, 2, 4, 50)],
    )
    assert curve.columns.tolist() == [scores[0].metric, "low", "high"]
    assert (curve.index.name, curve.index.tolist()) == ("k", [1, 2, 4, 50])
    assert curve.to_numpy() == pytest.approx(
        np.array([(score, *score.interval()) for score in scores]), abs=1e-12
    )
    assert curve.attrs["basis"] == f"{scores[-1].basis}; 95% intervals"
    assert EV.curve("ndcg", k=[3], gain="exponential").loc[3, "ndcg"] == EV.ndcg(
        k=3, gain="exponential"
    )


# A data frame


def test_a_table_is_a_data_frame(tmp_path: Path) -> None:
    table = EV.table(["ndcg", "recall"], k=[1, 3, None])
    assert type(table) is recnb.Table
    cut = (
        table[[1]],
        table.loc[["ndcg"]],
        table.round(2),
        table.T,
        table.head(1),
        table.copy(),
        table * 2,
        table.to_frame(),
    )
    assert {type(part) for part in cut} == {pd.DataFrame}
    assert table[None].tolist() == [EV.ndcg(), EV.recall()]
    table = EV.table(["ndcg", "recall"], k=[1, 3])
    table.to_parquet(
        tmp_path / "table.parquet"
    )  # attrs are text and numbers, so pandas can write them
    back = pd.read_parquet(tmp_path / "table.parquet")
    assert (back.attrs, back.to_numpy().tolist()) == (
        table.attrs,
        table.to_numpy().tolist(),
    )
    assert table.attrs["n_users"] == EV.n_users


def test_the_basis_is_worded_when_it_is_read_in_the_language_that_was_in_force():
    """And data it was worded of are let go, here as in a copy or a pickle."""
    worded = list[str]()

    def words() -> list[str]:
        worded.append(current())
        return [_("whole lists")]

    with use_language("ko"):
        expected = _("whole lists")
        table = Table({"a": [1.0]}, shown=Shown(basis=WordedLater(words)))
    assert not worded
    assert table.head().attrs["basis"] == table.attrs["basis"] == expected
    assert table.copy().attrs == pickle.loads(pickle.dumps(table)).attrs
    assert worded == ["ko"]
    again = pickle.loads(pickle.dumps(EV.table(["ndcg"], k=10)))
    assert (repr(again), again.attrs) == (
        repr(EV.table(["ndcg"], k=10)),
        EV.table(["ndcg"], k=10).attrs,
    )
    again.attrs = {"basis": "mine"}
    assert again.attrs == {"basis": "mine"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_table_is_a_table_of_its_own(copied: Callable[[Any], Any]) -> None:
    table = EV.user("u026", k=3)
    again = copied(table)
    assert type(again) is Table
    assert (repr(again), again.attrs) == (repr(table), table.attrs)
    assert again.missed.equals(table.missed)
    again["rank"] = 0
    assert table["rank"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["gap", "score", "score-net", "p"])
def test_a_number_of_a_model_has_four_decimals_whatever_the_model_is_called(
    name: str,
) -> None:
    models = {name: SAMPLE.models["popular"], "other": RECS}
    found = recnb.compare(models, SAMPLE.test)
    assert re.search("^5 +0.1337 +0.2317$", repr(found.curve("ndcg", k=[5])), re.M)


# Items, and one user, against loops in plain Python


@pytest.mark.parametrize("k", [1, 10, None])
def test_items_by_loops(k: int | None) -> None:
    items = SHOP.items(k=k)
    places = [row for row in RECS.itertuples() if k is None or row.rank <= k]
    shown = Counter(row.item for row in places)
    had = Counter(SAMPLE.train["item"])
    relevant = set(zip(SAMPLE.test["user"], SAMPLE.test["item"], strict=True))
    hits = Counter(row.item for row in places if (row.user, row.item) in relevant)
    wanted = Counter(item for _user, item in relevant)
    titles = dict(zip(SAMPLE.items["item"], SAMPLE.items["title"], strict=True))
    assert set(items.index) == {
        *RECS["item"],
        *SAMPLE.test["item"],
        *SAMPLE.train["item"],
        *SAMPLE.items["item"],
    }
    assert list(items.columns) == [
        "title",
        "shown",
        "share",
        "share_in_train",
        "ratio",
        "hits",
        "relevant",
    ]
    for row in items.itertuples():
        share, in_train = (
            shown[row.Index] / len(places),
            had[row.Index] / len(SAMPLE.train),
        )
        assert (row.shown, row.hits, row.relevant) == (
            shown[row.Index],
            hits[row.Index],
            wanted[row.Index],
        )
        assert (row.share, row.share_in_train) == pytest.approx(
            (share, in_train), abs=1e-15
        )
        assert row.ratio == pytest.approx(
            share / in_train if in_train else np.nan, nan_ok=True
        )
        assert row.title == titles.get(row.Index, "")
    assert items["shown"].is_monotonic_decreasing


def test_one_user_by_loops() -> None:
    liked = dict(SAMPLE.test.query("user == 'u026'")[["item", "rating"]].to_numpy())
    listed = RECS.query("user == 'u026'").sort_values("rank")
    for k in (1, 10, None):
        one = SHOP.user("u026", k=k)
        want = listed if k is None else listed[listed["rank"] <= k]
        frame = one.to_frame()
        assert list(frame.columns) == [
            "rank",
            "item",
            "title",
            "score",
            "relevance",
            "hit",
        ]
        assert (
            frame[["rank", "item"]].to_numpy().tolist()
            == want[["rank", "item"]].to_numpy().tolist()
        )
        assert frame["score"].tolist() == want["score"].tolist()
        assert frame["relevance"].tolist() == [
            liked.get(item, 0) for item in want["item"]
        ]
        assert frame["hit"].tolist() == [item in liked for item in want["item"]]
        ranks = dict(zip(listed["item"], listed["rank"], strict=True))
        left = {
            item: float(ranks.get(item, np.nan))
            for item in set(liked) - set(want["item"])
        }
        assert dict(
            zip(one.missed["item"], one.missed["rank"], strict=True)
        ) == pytest.approx(left, nan_ok=True)
        assert one.missed["relevance"].is_monotonic_decreasing


# What is shown, beside `test_shown.py`


def test_tables_are_written_to_files_and_shown_in_a_language(tmp_path: Path) -> None:
    table = EV.table(["ndcg"], k=[5, None])
    for write, name in ((table.to_latex, "t.tex"), (table.to_markdown, "t.md")):
        assert write(tmp_path / name) is None
        assert (tmp_path / name).read_text(encoding="utf-8") == write()
    latex = table.to_latex(caption="Mine.", label="tab:mine")
    assert r"\caption{Mine.}" in latex
    assert r"\label{tab:mine}" in latex
    with use_language("ko"):
        korean = EV.table("ndcg")
    assert "전체 목록" in repr(korean)
    assert "전체 목록" in korean.to_markdown()


def test_html_reads_in_light_and_dark_and_needs_nothing_from_elsewhere() -> None:
    for shown in (
        *TABLES,
        EV,
        EV.ndcg(k=5),
        EV.explain("ndcg", "u026", k=5),
        EV.user("u026"),
    ):
        html = shown._repr_html_()
        assert not [
            word
            for word in ("<script", "http", "url(", "#fff", "black", "white;")
            if word in html.lower()
        ]
        if isinstance(shown, recnb.Table) and shown.missed is None:
            assert html.count("<tr") == 1 + min(len(shown), shown._shown.most)
    heads = re.findall(
        r'<th scope="col"[^>]*>(.*?)</th>',
        SHOP.items(k=10)._repr_html_().replace("_<wbr>", "_"),
    )
    assert heads == [
        "item",
        *SHOP.items(k=10).columns,
    ]  # a long name may be broken after an underscore


def test_a_frame_of_a_table_with_intervals_has_a_name_a_column() -> None:
    table = EV.table(["ndcg", "coverage"], k=[5, None], intervals=True)
    frame = table.to_frame()
    names = ["mean@5", "low@5", "high@5", "mean", "low", "high"]
    assert frame.columns.tolist() == names
    np.testing.assert_array_equal(frame.to_numpy(), table.to_numpy())
    frame.loc["ndcg", "mean@5"] = 9
    assert table.loc["ndcg", (5, "mean")] == EV.ndcg(k=5)  # a frame of its own
    of_measure = EV.table("nDCG@10", intervals=True).to_frame()
    assert of_measure.columns.tolist() == ["mean", "low", "high"]


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_a_frame_of_a_table_goes_into_other_libraries_as_it_is(
    table: recnb.Table, tmp_path: Path
) -> None:
    """Great Tables, Excel and Parquet have one level of columns, each by a name of its
    own; of a table without intervals a cut-off may be the name.
    """
    frame = table.to_frame()
    assert type(frame.columns) is pd.Index or frame.columns.name == "k"
    assert frame.columns.nlevels == 1
    assert frame.columns.is_unique
    if isinstance(table.columns, pd.MultiIndex):
        assert all(isinstance(name, str) for name in frame.columns)
        frame.to_parquet(tmp_path / "table.parquet")
        again = pd.read_parquet(tmp_path / "table.parquet")
        assert again.columns.tolist() == frame.columns.tolist()
        assert pl.from_pandas(frame.reset_index()).width == frame.shape[1] + 1


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_a_frame_of_a_table_is_the_same_after_it_was_written_as_csv(
    table: recnb.Table, tmp_path: Path
) -> None:
    frame = table.to_frame()
    path = tmp_path / "table.csv"
    frame.to_csv(path)
    levels = list(range(frame.index.nlevels))
    again = pd.read_csv(path, index_col=levels)
    assert again.columns.tolist() == [str(name) for name in frame.columns]
    assert again.index.names == frame.index.names
    same = again.set_axis(frame.columns, axis=1)
    pd.testing.assert_frame_equal(same, frame, check_dtype=False, rtol=1e-15)


CUT_OFFS = read_rows("results/cut_offs.toml")
COMPARED = recnb.compare(SAMPLE.models, SAMPLE.test, train=SAMPLE.train)


@pytest.mark.parametrize(("heading", "call"), CUT_OFFS["headings"].items())
def test_a_heading_says_the_cut_off(heading: str, call: str) -> None:
    assert heading in eval(call).to_markdown(note=False)


@pytest.mark.parametrize(("label", "call"), CUT_OFFS["labels"].items())
def test_a_plot_says_the_cut_off(label: str, call: str) -> None:
    ax = eval(call).plot()
    legend = ax.get_legend()
    words = [ax.get_title(), *(tick.get_text() for tick in ax.get_yticklabels())]
    if legend is not None:
        words.append(legend.get_title().get_text())
    assert any(label in text for text in words)
    plt.close("all")


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_digits_and_notes_of_a_table_for_a_paper(table: recnb.Table) -> None:
    four = r"\d\.\d{4}(?!\d)"
    for write in (table.to_markdown, table.to_latex):
        head = write(note=False)
        assert table.attrs["basis"][:20] not in head
        assert head.splitlines()[0] == write().splitlines()[0]
        n_numbers = len(re.findall(four, head))
        assert not re.findall(four, write(digits=2, note=False))
        assert len(re.findall(r"\d\.\d{6}(?!\d)", write(digits=6))) >= n_numbers
        for digits in (0, -1, 1.5, True, "2", 40):
            with pytest.raises(OptionError, match="whole number from 1 to 15"):
                write(digits=digits)
    with pytest.raises(OptionError, match="say True or False"):
        table.to_latex(note="no")


def test_columns_of_text_alone_are_on_the_left() -> None:
    table = EV.table("ndcg", k=[5])
    table["word"] = "best"
    del table[5]
    assert table.to_markdown(note=False).splitlines()[-2:] == [
        "| --- | --- |",
        "| nDCG | best |",
    ]


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.00005, "< 0.0001"), (0.0004, "= 0.00040"), (0.0324, "= 0.032"), (1.0, "= 1.0")],
)
def test_the_smallest_p_value_of_a_sentence_is_that_of_tables(
    p: float, shown: str
) -> None:
    assert p_value(p) == shown
    assert str(Number(p, "p")).startswith("<") == shown.startswith("<")


def test_a_table_without_a_title_has_no_caption_in_latex() -> None:
    table = EV.table(["ndcg"], k=10)
    assert "caption" not in table.to_latex()
    assert r"\caption{Means}" in table.to_latex(caption="Means")


def test_a_line_of_whole_lists_is_called_by_its_metric_alone() -> None:
    users = EV.users.to_list()
    week = pd.Series([1 + place % 3 for place in range(len(users))], users, name="week")
    (line,) = EV.table(["ndcg"], k=None, by=week).plot().get_lines()
    assert line.get_label() == "nDCG"


def test_a_p_value_is_below_the_last_digit_or_written_out() -> None:
    assert str(Number(0.0001, "p")) == "0.0001"
    assert str(Number(0.00009, "p")) == "<0.0001"


def test_numbers_are_rounded_once_to_the_digits_asked_for() -> None:
    table = EV.table(["ndcg"], k=[5])
    number = f"{float(EV.ndcg(k=5)):.6f}"
    assert f"| {number} |" in table.to_markdown(digits=6)
    assert f"& {number} " in table.to_latex(digits=6)
    differences = FOUND.differences("ndcg", k=10)
    change = f"{differences['difference'].iloc[0]:+.2f}"
    assert f"| {change} |" in differences.to_markdown(digits=2)
    assert "| &lt;0.01 |" in differences.to_markdown(digits=2)


# What is drawn

DRAWN = {
    "score": lambda: EV.ndcg(k=10),
    "table": lambda: EV.table(["ndcg", "recall"], k=[5, None]),
    "with intervals": lambda: EV.table("ndcg", k=[5, None], intervals=True),
    "measures": lambda: EV.measures(["nDCG@10", "P@5"]),
    "beyond": lambda: EV.beyond(k=10),
    "curve": lambda: EV.curve("ndcg", k=[1, 5, 10]),
    "segments": lambda: EV.table(["ndcg", "recall"], k=10, by="segment"),
    "differences": lambda: FOUND.differences("ndcg", k=10),
    "of models": lambda: FOUND.table(["ndcg", "recall"], k=[5, 10]),
    "segments of models": lambda: FOUND.table("ndcg", k=10, by="segment"),
    "why": lambda: EV.why("ndcg", k=10, other="rectools"),
}


@pytest.fixture(autouse=True)
def _drawing() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")
    recnb.language("en")


@pytest.mark.parametrize("name", DRAWN)
def test_everything_draws_on_new_axes_and_on_those_given(name: str) -> None:
    result = DRAWN[name]()
    drawn = result.plot()
    assert isinstance(drawn, Axes)
    assert drawn.has_data()
    ax = plt.figure().add_subplot()
    assert result.plot(ax) is result.plot(ax=ax) is ax
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.browser  # for which a font with Korean letters is installed
def test_korean_labels_have_letters(name: str) -> None:
    recnb.language("ko")
    DRAWN[name]().plot().figure.canvas.draw()  # a missing letter is a warning


def points(ax: Axes) -> dict[str, tuple[list[float], list[tuple[float, float]]]]:
    """By the name of each series: its means, and the ends of their intervals."""
    found = {}
    for one in ax.containers:
        line, _caps, bars = one.lines
        ends = [tuple(part[:, 0]) for part in bars[0].get_segments()] if bars else []
        found[one.get_label()] = ([*map(float, line.get_xdata())], ends)
    return found


def test_a_table_is_points_with_the_intervals_that_it_has() -> None:
    table, wide = (
        EV.table(["ndcg", "recall"], k=[5, None]),
        EV.table(["ndcg", "recall"], k=[5, None], intervals=True),
    )
    bare, drawn = points(table.plot()), points(wide.plot(color=["C3", "k"]))
    assert [*bare] == [*drawn] == ["5", "whole list"]
    for k, (means, ends) in zip((5, None), drawn.values(), strict=True):
        scores = [EV.ndcg(k=k), EV.recall(k=k)]
        assert (
            means
            == bare[str(k or "whole list")][0]
            == pytest.approx([*map(float, scores)])
        )
        assert np.array(ends) == pytest.approx(
            np.array([score.interval() for score in scores])
        )
        assert bare[str(k or "whole list")][1] == []
    assert [
        one.lines[0].get_color() for one in wide.plot(color=["C3", "k"]).containers
    ] == ["C3", "k"]
    table.loc["ndcg", 5] = 0.9
    assert points(pickle.loads(pickle.dumps(table)).plot())["5"][0][0] == 0.9


def test_segments_and_comparisons_draw_their_intervals() -> None:
    table = EV.table(["ndcg"], k=10, by="segment")
    ax = table.plot()
    means, ends = points(ax)["mean"]
    assert means == table["mean"].tolist()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"nDCG@10 {name}" for *_about, name in table.index]
    assert np.array(ends) == pytest.approx(table[["low", "high"]].to_numpy())
    compared = points(pickle.loads(pickle.dumps(FOUND.table(["ndcg"], k=10))).plot())
    for row in FOUND.report(k=10, metrics=["ndcg"]).to_frame().itertuples():
        assert compared[row.model][0] == pytest.approx([row.mean])
        assert compared[row.model][1][0] == pytest.approx((row.mean_low, row.mean_high))


def test_metrics_of_other_scales_can_be_read() -> None:
    mixed = EV.beyond(k=10).plot()
    assert mixed.get_xscale() == "symlog"
    assert mixed.get_xlabel() == "value, on a logarithmic scale beyond 0.1"
    shares = EV.table(["precision", "hit_rate"], k=[200]).plot()
    assert (shares.get_xscale(), shares.get_xlabel()) == ("linear", "value")
    perfect = {"u": range(10), "v": range(11)}
    counts = recnb.evaluate(perfect, perfect).table(["hit_rate", "cg"])  # 1 and 10.5
    assert counts.plot().get_xscale() == "symlog"


def test_an_axis_of_numbers_has_whole_steps_and_one_of_dates_has_turned_labels() -> (
    None
):
    """Dates are long, and would run into each other."""

    def labels(ax: Axes) -> list[tuple[str, float]]:
        ax.figure.canvas.draw()
        return [(tick.get_text(), tick.get_rotation()) for tick in ax.get_xticklabels()]

    cutoffs = labels(EV.curve("ndcg", k=[1, 2, 3]).plot())
    assert all(text.isdecimal() for text, _rotation in cutoffs)
    assert {rotation for _text, rotation in cutoffs} == {0}
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(SAMPLE.test.index % 3, unit="D")
    by_day = recnb.evaluate(RECS, SAMPLE.test.assign(day=days))
    dates = labels(by_day.table("ndcg", k=10, by="day").plot())
    assert {rotation for _text, rotation in dates} == {30}


def test_curves_on_the_same_axes_are_all_in_sight() -> None:
    low, high = (
        recnb.evaluate(SAMPLE.models[name], SAMPLE.test).curve("ndcg")
        for name in ("popular", "item-knn")
    )
    ax = low.plot()
    high.plot(ax=ax, label="item-knn")
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel() == "nDCG@k, mean of 261 users"
    EV.curve("recall").plot(ax=ax)
    assert ax.get_ylim()[1] > max(*EV.curve("recall").high, *high.high)
    assert ax.get_ylabel() == "value"
    assert [one.get_text() for one in ax.get_legend().get_texts()] == [
        "nDCG",
        "item-knn",
        "Recall",
    ]
    assert not ax.get_legend().get_frame_on()
    fixed = plt.figure().add_subplot()
    fixed.set_ylim(0.1, 0.2)
    high.plot(fixed)
    assert fixed.get_ylim() == (0.1, 0.2)
    assert EV.curve("coverage", k=[5, 10]).plot().get_ylabel() == "Coverage@k"
