"""Tables of metrics, cut-offs and curves: the numbers of single calls, in every form."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb import METRICS
from recnb.display.language import use_language
from recnb.errors import OptionError
from recnb.results.arguments import STANDARD

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, train=SAMPLE.train, users=SAMPLE.users)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular", users=SAMPLE.users)
CUTOFFS = [1, 3, 200, None]
#: Tables, with the number of their columns in every form.
TABLES: list[tuple[pd.DataFrame, int]] = [
    (EV.table(k=[5, 10]), 3), (EV.table("ndcg", k=[5, 10], intervals=True), 3), (EV.table("ndcg", k=10, by="segment"), 13),
    (EV.items(k=10), 7), (EV.measures(["nDCG@10"]), 5), (EV.curve("ndcg", k=[1, 5]), 4), (EV.beyond(k=5), 2),
    (FOUND.table(k=[5, 10]), 15), (FOUND.table("ndcg", k=10, by="segment"), 3),
]  # fmt: skip

# The numbers


def test_a_table_holds_the_single_calls() -> None:
    table = EV.table([*METRICS, "novelty", "coverage"], k=CUTOFFS, intervals=True)
    assert (table.index.tolist(), table.index.name) == ([*METRICS, "novelty", "coverage"], "metric")
    assert table.columns.get_level_values(1).tolist() == ["mean", "low", "high"] * 4
    means = EV.table([*METRICS, "novelty", "coverage"], k=CUTOFFS)
    assert (means.columns.tolist(), means.columns.name) == (CUTOFFS, "k")
    assert means.to_numpy() == pytest.approx(table.xs("mean", axis=1, level=1).to_numpy(), abs=1e-12)
    for name in means.index:
        for k in CUTOFFS:
            score = getattr(EV, name)(k=k)
            ends = score.interval() if score.has_interval else (np.nan, np.nan)
            row = [table.loc[name, (k, part)] for part in ("mean", "low", "high")]
            assert row == pytest.approx([float(score), *ends], abs=1e-12, nan_ok=True)
    rectools = EV.under("rectools").ndcg(k=10)
    shown = EV.under("rectools").table(["ndcg", "recall"], k=10, intervals=True).loc["ndcg"].tolist()
    assert shown == pytest.approx([float(rectools), *rectools.interval()])


def test_metrics_and_cut_offs_of_a_table() -> None:
    assert EV.table(k=[1, 3]).index.tolist() == [*STANDARD]
    assert EV.table(["mrr", "map"], k=2).index.tolist() == ["reciprocal_rank", "average_precision"]
    assert EV.table("ndcg", k=2).equals(EV.table(("ndcg",), k=[2]))
    assert EV.table(["ndcg"], k=[3, 1]).columns.tolist() == [3, 1]
    table = EV.table(["ndcg", "dcg", "precision"], k=3, gain="exponential", out_of="list")
    wanted = [EV.ndcg(k=3, gain="exponential"), EV.dcg(k=3, gain="exponential"), EV.precision(k=3, out_of="list")]
    assert table[3].tolist() == pytest.approx(wanted, abs=1e-12)
    own = EV.table({"ndcg": {"gain": "exponential"}, "dcg": {}}, k=3)
    assert own[3].tolist() == [EV.ndcg(k=3, gain="exponential"), EV.dcg(k=3)]
    for words, call in (
        ("True or False", {"k": 5, "intervals": 0.9}), ("name at least one", {"metrics": []}), ("name them in a list", {"metrics": 3}),
        ("give each metric a mapping", {"metrics": {"ndcg": "linear"}}), ("more than once", {"metrics": ["ndcg", "ndcg"]}),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=words):
            EV.table(**dict[str, Any](call))


@pytest.mark.parametrize("metric", ["precision", "err", "mrr"])
def test_a_curve_holds_the_single_calls(metric: str) -> None:
    curve, scores = EV.curve(metric, k=[1, 2, 4, 50]), [getattr(EV, metric)(k=k) for k in (1, 2, 4, 50)]
    assert curve.columns.tolist() == [scores[0].metric, "low", "high"]
    assert (curve.index.name, curve.index.tolist()) == ("k", [1, 2, 4, 50])
    assert curve.to_numpy() == pytest.approx(np.array([(score, *score.interval()) for score in scores]), abs=1e-12)
    assert curve.attrs["basis"] == f"{scores[-1].basis}; 95% intervals"
    assert EV.curve("ndcg", k=[3], gain="exponential").loc[3, "ndcg"] == EV.ndcg(k=3, gain="exponential")
    with pytest.raises(OptionError, match="leave None out"):
        EV.curve("ndcg", k=None)


# A data frame


def test_a_table_is_a_data_frame(tmp_path: Path) -> None:
    table = EV.table(["ndcg", "recall"], k=[1, 3, None])
    assert type(table) is recnb.Table
    for part in (
        table[[1]], table.loc[["ndcg"]], table.round(2), table.T, table.head(1), table.copy(), table * 2, table.reset_index(),
        table.rename(columns=str), table.to_frame(),
    ):  # fmt: skip
        assert type(part) is pd.DataFrame
    assert table[None].tolist() == [EV.ndcg(), EV.recall()]
    assert table.to_csv() == table.to_frame().to_csv()
    table = EV.table(["ndcg", "recall"], k=[1, 3])
    table.to_parquet(tmp_path / "table.parquet")  # attrs are text and numbers, so pandas can write them
    back = pd.read_parquet(tmp_path / "table.parquet")
    assert (back.attrs, back.to_numpy().tolist()) == (table.attrs, table.to_numpy().tolist())
    assert table.attrs["n_users"] == EV.n_users


@pytest.mark.parametrize("again", [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_tables_survive(again: Any) -> None:
    others = [EV.user("u026"), FOUND.differences("ndcg", k=5), FOUND.movers("ndcg", k=5)]
    for table in (*(table for table, _columns in TABLES), *others):
        other = again(table)
        assert type(other) is type(table)
        pd.testing.assert_frame_equal(other.to_frame(), table.to_frame())
        assert (repr(other), other._repr_html_(), other.attrs) == (repr(table), table._repr_html_(), table.attrs)


# What is shown


def balanced(latex: str, columns: int) -> None:
    """Check one table: environments and braces are closed, rules are those of booktabs, rows have all their cells."""
    assert re.findall(r"\\begin\{(\w+)\}", latex) == ["table", "tabular"]
    assert re.findall(r"\\end\{(\w+)\}", latex) == ["tabular", "table"]
    plain = re.sub(r"\\[{}%&$#_]", "", latex)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert latex.count(r"\toprule") == latex.count(r"\midrule") == latex.count(r"\bottomrule") == 1
    spec = re.search(r"\\begin\{tabular\}\{([lr]+)\}", latex)
    assert spec is not None
    assert len(spec[1]) == columns
    for row in re.findall(r"(.*) \\\\\n", plain):
        assert row.count("&") == columns - 1, row
    assert "%" not in plain.replace(r"% needs \usepackage{booktabs}", "")


@pytest.mark.parametrize("at", range(len(TABLES)))
def test_every_form_holds_the_numbers_and_the_convention(at: int, tmp_path: Path) -> None:
    table, columns = TABLES[at]
    latex, html = table.to_latex(), table._repr_html_()
    rows = [line for line in table.to_markdown().splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {columns + 1}
    assert len(rows) == 2 + min(len(table), table.attrs.get("most", 50))
    balanced(latex, columns)
    for value in table.head(1).to_dict("split")["data"][0]:
        if isinstance(value, float):
            assert all(f"{value:.4f}" in form for form in (rows[2], latex, html, repr(table)))
    assert "users" in latex.split(r"\end{table}")[0]
    assert "users" in repr(table).splitlines()[-1]
    assert repr(table).endswith(table.attrs["basis"])
    for write, text, name in ((table.to_latex, latex, "t.tex"), (table.to_markdown, table.to_markdown(), "t.md")):
        assert write(tmp_path / name) is None
        assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_printed_headers_are_the_columns_of_the_frame(language: str) -> None:
    with use_language(language):
        for table in (EV.table(k=[5, 10]), EV.items(k=10), EV.table("ndcg", k=10, by="segment"), FOUND.table(k=5)):
            names = [*map(str, table.columns)]
            header = repr(table).removeprefix(f"{table.attrs.get('title')}\n").splitlines()[0]
            assert header.split()[-len(names) :] == names
            # A long name may be broken after an underscore.
            html = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table._repr_html_().replace("_<wbr>", "_"))
            assert html[-len(names) :] == names


def test_a_table_for_a_paper_has_symbols_and_intervals_in_cells() -> None:
    table = EV.table(["ndcg", "average_precision"], k=[5, None], intervals=True)
    cells = [f"{m:.4f} ({low:.4f}–{high:.4f})" for m, low, high in table.loc["ndcg"].to_numpy().reshape(2, 3)]
    paper = [cell.replace(" (", r" {\footnotesize [").replace("–", ", ").replace(")", "]}") for cell in cells]
    lines = table.to_markdown().splitlines()
    assert lines[0] == "| metric × k | 5 | whole list |"
    assert lines[2] == f"| nDCG | {cells[0]} | {cells[1]} |"
    latex = table.to_latex(caption="Mine.", label="tab:mine")
    for words in (
        f"nDCG & {paper[0]} & {paper[1]} \\\\",
        "AP & ",
        r"\caption{Mine.}",
        r"\label{tab:mine}",
        r"\footnotesize\raggedright 261 users; 2 of them",
    ):
        assert words in latex
    assert "| model | nDCG@10 | AP@10 |" in FOUND.table(["ndcg", "map"], k=10).to_markdown()
    assert "| P@5 | " in EV.table(["P@5", "ndcg"]).to_markdown()  # as it was asked for
    assert "| nDCG | " in EV.under("rectools").table(["ndcg"], k=5).to_markdown()
    models = recnb.compare({"ndcg": SAMPLE.models["popular"], "recall": SAMPLE.models["factors"]}, SAMPLE.test)
    assert "| ndcg | " in models.table("ndcg", k=10).to_markdown()  # the name of a model


def test_no_cutoff_is_the_whole_list_and_no_value_a_dash() -> None:
    wide = EV.table(["ndcg", "coverage"], k=[5, None], intervals=True)
    assert repr(wide).splitlines()[0].split() == ["metric", "×", "k", "5", "whole", "list"]
    mean, low, high, *_whole = (f"{value:.4f}" for value in wide.loc["ndcg"])
    assert repr(wide).splitlines()[1].split()[1:4] == [mean, f"[{low},", f"{high}]"]
    assert ">whole list</th>" in EV.table("ndcg")._repr_html_()
    shown = [wide._repr_html_(), wide.to_markdown(), wide.to_latex(), repr(EV.table("ndcg", by="segment"))]
    assert not [text for text in (repr(wide), *shown) if "nan" in text.lower() or "None" in text]
    with use_language("ko"):
        assert "전체 목록" in repr(EV.table("ndcg"))


def test_options_of_pandas_are_errors_of_python() -> None:
    for call in (EV.table(k=5).to_latex, EV.table(k=5).to_markdown):
        with pytest.raises(TypeError, match="unexpected keyword argument 'index'"):
            call(index=False)


def test_html_reads_in_light_and_dark_and_needs_nothing_from_elsewhere() -> None:
    tables = [table for table, _columns in TABLES]
    for shown in (*tables, EV, EV.ndcg(k=5), EV.explain("ndcg", "u026", k=5), EV.user("u026")):
        html = shown._repr_html_().lower()
        assert not [word for word in ("<script", "http", "url(", "#fff", "black", "white;") if word in html]
