"""Tables of metrics, cut-offs and curves: the numbers of single calls, in every form,
and drawn.
"""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import recnb
from recnb import METRICS
from recnb.display.forms import Number
from recnb.display.language import _, current, use_language
from recnb.results.conclusions import p_value
from recnb.results.numbers import ESTIMATE
from recnb.results.shown import Shown, WordedLater
from recnb.results.table import Table
from tests import evaluated
from tests.drawn import words_of
from tests.evaluated import EV, KNN
from tests.rows import read_rows
from tests.sample import SAMPLE

#: Calls of tables, by the heading that says the cut-off of each; and of plots.
CUT_OFFS = read_rows("results/cut_offs.toml")
HEADINGS = CUT_OFFS["headings"]
ALL_HEADINGS = {**HEADINGS, **CUT_OFFS["other_headings"]}
NAMES = vars(evaluated)
of_each_table = pytest.mark.parametrize("call", HEADINGS.values())


# The numbers


def test_tables_and_curves_hold_the_single_calls() -> None:
    names, cutoffs = [*METRICS, "novelty", "coverage"], [1, 3, 200, None]
    means, wide = EV.table(names, cutoffs), EV.table(names, cutoffs, intervals=True)
    assert (means.index.name, means.index.tolist()) == ("metric", names)
    assert (means.columns.name, means.columns.tolist()) == ("k", cutoffs)
    assert wide.columns.get_level_values(1).tolist() == ESTIMATE * len(cutoffs)
    assert means.to_numpy().tolist() == wide.xs("mean", 1, 1).to_numpy().tolist()
    for name in names:
        curve = EV.curve(name, k=cutoffs[:-1])
        assert curve.columns.tolist() == [name, "low", "high"]
        assert (curve.index.name, curve.index.tolist()) == ("k", cutoffs[:-1])
        for k in cutoffs:
            score = getattr(EV, name)(k=k)
            ends = score.interval() if score.has_interval else (np.nan, np.nan)
            expected = pytest.approx([score, *ends], abs=1e-12, nan_ok=True)
            assert wide.loc[name, k].tolist() == expected
            if k is not None:
                assert curve.loc[k].tolist() == expected
                assert curve.attrs["basis"].startswith(score.basis)


def test_a_table_without_intervals_computes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of many users they take far longer than means."""
    monkeypatch.delattr("recnb.results.values.Panel.interval")
    assert "linear gain" in EV.table("ndcg", k=10).attrs["basis"]
    with pytest.raises(AttributeError):
        EV.table("ndcg", k=10, intervals=True)


# A data frame


def test_a_table_is_a_data_frame(tmp_path: Path) -> None:
    table = EV.table(["ndcg", "recall"], k=[1, 3, None])
    assert type(table) is recnb.Table
    cut = (table[[1]], table.loc[["ndcg"]], table.T, table.copy(), table * 2)
    assert {type(part) for part in (*cut, table.to_frame())} == {pd.DataFrame}
    assert table[None].tolist() == [EV.ndcg(), EV.recall()]
    frame = table.to_frame()
    frame.loc["ndcg", 1] = 9
    assert table.loc["ndcg", 1] == EV.ndcg(k=1)  # a frame of its own
    table = EV.table(["ndcg", "recall"], k=[1, 3])
    # attrs are text, so pandas can write them.
    table.to_parquet(tmp_path / "table.parquet")
    back = pd.read_parquet(tmp_path / "table.parquet")
    assert back.attrs == table.attrs
    assert back.to_numpy().tolist() == table.to_numpy().tolist()


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
    again = pickle.loads(pickle.dumps(table))
    assert table.copy().attrs == again.attrs
    assert worded == ["ko"]
    again.attrs = {"basis": "mine"}
    assert again.attrs == {"basis": "mine"}


AGAIN = [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))]


@pytest.mark.parametrize("copied", AGAIN)
def test_a_copy_of_a_table_is_a_table_of_its_own(copied: Callable[[Any], Any]) -> None:
    table = EV.user("u026", k=3)
    again = copied(table)
    assert type(again) is Table
    assert (repr(again), again.attrs) == (repr(table), table.attrs)
    assert again.missed.equals(table.missed)
    again["rank"] = 0
    assert table["rank"].tolist() == [1, 2, 3]


# Items, and one user


@pytest.mark.parametrize("k", [1, 10, None])
def test_items_are_counted_in_the_frames(k: int | None) -> None:
    items = EV.items(k=k)
    listed = KNN[KNN["rank"] <= (k or 1000)]
    hits = listed.merge(SAMPLE.test, on=["user", "item"])
    frames = (KNN, SAMPLE.test, SAMPLE.train, SAMPLE.items)
    assert {*items.index} == {*pd.concat([frame["item"] for frame in frames])}
    counted = {"shown": listed, "hits": hits, "relevant": SAMPLE.test}
    for name, rows in counted.items():
        counts = rows["item"].value_counts().reindex(items.index, fill_value=0)
        assert items[name].tolist() == counts.tolist()
    assert list(items.columns) == ["title", "shown", "share", "hits", "relevant"]
    assert items["share"].to_numpy() == pytest.approx(items["shown"] / len(listed))
    titles = SAMPLE.items.set_index("item")["title"].reindex(items.index)
    assert items["title"].tolist() == titles.fillna("").tolist()
    assert items["shown"].is_monotonic_decreasing


@pytest.mark.parametrize("k", [1, 10, None])
def test_the_list_of_a_user_is_that_of_the_frames(k: int | None) -> None:
    listed = KNN.query("user == 'u026'").sort_values("rank")
    liked = SAMPLE.test.query("user == 'u026'").set_index("item")["rating"]
    one = EV.user("u026", k=k)
    names = ["rank", "item", "title", "score", "relevance", "hit"]
    assert one.columns.tolist() == names
    cut = listed.head(k or len(listed))
    for name in ("rank", "item", "score"):
        assert one[name].tolist() == cut[name].tolist()
    assert one["hit"].tolist() == cut["item"].isin(liked.index).tolist()
    relevance = liked.reindex(cut["item"]).fillna(0)
    assert one["relevance"].tolist() == relevance.tolist()
    missed = one.missed.set_index("item")
    assert {*missed.index} == {*liked.index} - {*cut["item"]}
    ranks = listed.set_index("item")["rank"].reindex(missed.index)
    assert missed["rank"].tolist() == pytest.approx(ranks.tolist(), nan_ok=True)
    assert missed["relevance"].is_monotonic_decreasing


# What is shown, beside `test_shown.py`


def test_tables_are_written_to_files(tmp_path: Path) -> None:
    table = EV.table(["ndcg"], k=[5, None])
    for write, name in ((table.to_latex, "t.tex"), (table.to_markdown, "t.md")):
        assert write(tmp_path / name) is None
        assert (tmp_path / name).read_text(encoding="utf-8") == write()
    assert "caption" not in table.to_latex()  # it has no title
    latex = table.to_latex(caption="Mine.", label="tab:mine")
    assert r"\caption{Mine.}" in latex
    assert r"\label{tab:mine}" in latex


def test_html_reads_in_light_and_dark_and_needs_nothing_from_elsewhere() -> None:
    explained = EV.explain("ndcg", "u026", k=5)
    tables = [eval(call, NAMES) for call in ALL_HEADINGS.values()]
    for shown in (*tables, EV, EV.ndcg(k=5), explained):
        html = shown._repr_html_().lower()
        assert re.findall(r"<script|http|url\(|#fff|black|white;", html) == []
    # A long name may be broken after an underscore.
    items = EV.items(k=10)
    html = items._repr_html_().replace("_<wbr>", "_")
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', html)
    assert heads == ["item", *items.columns]


@of_each_table
def test_a_frame_of_a_table_goes_into_files_as_it_is(call: str, tmp_path: Path) -> None:
    """Great Tables, Excel and Parquet have one level of columns, each by a name of its
    own; of a table without intervals a cut-off may be the name.
    """
    table = eval(call, NAMES)
    n_rows = min(len(table), table._shown.most)
    assert table._repr_html_().count("<tr") == 1 + n_rows
    frame = table.to_frame()
    assert frame.columns.nlevels == 1
    assert frame.columns.is_unique
    frame.to_csv(tmp_path / "table.csv")
    levels = list(range(frame.index.nlevels))
    again = pd.read_csv(tmp_path / "table.csv", index_col=levels)
    assert again.columns.tolist() == [str(name) for name in frame.columns]
    assert again.index.names == frame.index.names
    same = again.set_axis(frame.columns, axis=1)
    pd.testing.assert_frame_equal(same, frame, check_dtype=False, rtol=1e-15)
    if isinstance(table.columns, pd.MultiIndex):
        frame.to_parquet(tmp_path / "table.parquet")
        again = pd.read_parquet(tmp_path / "table.parquet")
        assert again.columns.tolist() == frame.columns.tolist()


@pytest.mark.parametrize(("heading", "call"), ALL_HEADINGS.items())
def test_a_heading_says_the_cut_off(heading: str, call: str) -> None:
    assert heading in eval(call, NAMES).to_markdown(note=False)


@of_each_table
def test_digits_and_notes_of_a_table_for_a_paper(call: str) -> None:
    table = eval(call, NAMES)
    four = r"\d\.\d{4}(?!\d)"
    for write in (table.to_markdown, table.to_latex):
        head = write(note=False)
        assert table.attrs["basis"][:20] not in head
        assert head.splitlines()[0] == write().splitlines()[0]
        n_numbers = len(re.findall(four, head))
        assert not re.findall(four, write(digits=2, note=False))
        assert len(re.findall(r"\d\.\d{6}(?!\d)", write(digits=6))) >= n_numbers


def test_columns_of_text_alone_are_on_the_left() -> None:
    table = EV.table("ndcg", k=[5])
    table["word"] = "best"
    del table[5]
    assert table.to_markdown(note=False).splitlines()[-2:] == [
        "| --- | --- |",
        "| nDCG | best |",
    ]


@pytest.mark.parametrize(
    ("p", "shown", "in_table"),
    [
        (0.00005, "< 0.0001", "<0.0001"),
        (0.00009, "< 0.0001", "<0.0001"),
        (0.0001, "= 0.00010", "0.0001"),
        (0.0324, "= 0.032", "0.0324"),
        (1.0, "= 1.0", "1.0000"),
    ],
)
def test_a_p_value_is_below_the_last_digit_or_written_out(
    p: float, shown: str, in_table: str
) -> None:
    assert (p_value(p), str(Number(p, "p"))) == (shown, in_table)


# What is drawn


@pytest.fixture(autouse=True)
def _drawing() -> Iterator[None]:
    mpl.use("Agg")
    yield
    recnb.language("en")


@pytest.mark.parametrize(("label", "call"), CUT_OFFS["labels"].items())
def test_a_plot_says_the_cut_off_on_new_axes_and_on_those_given(
    label: str, call: str
) -> None:
    result = eval(call, NAMES)
    drawn = result.plot()
    ax = plt.figure().add_subplot()
    assert result.plot(ax) is result.plot(ax=ax) is ax
    assert label in words_of(drawn)


@pytest.mark.parametrize("call", CUT_OFFS["labels"].values())
@pytest.mark.browser  # for which a font with Korean letters is installed
def test_korean_labels_have_letters(call: str) -> None:
    recnb.language("ko")
    eval(call, NAMES).plot().figure.canvas.draw()  # a missing letter is a warning


def test_a_name_that_a_table_is_given_is_not_that_of_the_next() -> None:
    table = EV.table("ndcg", k=10)
    table.index.name = table.columns.name = "mine"
    again = EV.table("ndcg", k=10)
    assert (again.index.name, again.columns.name) == ("metric", "k")
