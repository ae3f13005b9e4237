"""Tables with intervals, their headers, and their text in Markdown and LaTeX."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import OptionError

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, train=SAMPLE.train, users=SAMPLE.users)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test, baseline="popular", users=SAMPLE.users)


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


def markdown(text: str, columns: int) -> list[str]:
    """The rows of the one table in Markdown, each with all its cells."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {columns + 1}
    return rows


def test_intervals_are_those_of_the_scores() -> None:
    table = EV.table(["ndcg", "dcg", "novelty", "coverage"], k=[5, None], intervals=True)
    assert [*table.columns.get_level_values(1)] == ["mean", "low", "high"] * 2
    for metric in ("ndcg", "dcg", "novelty"):
        for k in (5, None):
            score = getattr(EV, metric)(k=k)
            got = [table.loc[metric, (k, part)] for part in ("mean", "low", "high")]
            assert got == pytest.approx([float(score), *score.interval()], abs=1e-12)
    assert table.loc["coverage", (5, "mean")] == float(EV.coverage(k=5))
    assert np.isnan(table.loc["coverage", (5, "low")])
    plain = EV.table(["ndcg", "dcg", "novelty", "coverage"], k=[5, None])
    assert table.xs("mean", axis=1, level=1).to_numpy() == pytest.approx(plain.to_numpy(), abs=1e-12)
    with pytest.raises(OptionError, match="True or False"):
        EV.table(**dict[str, Any](k=5, intervals=0.9))


def test_intervals_under_a_library() -> None:
    table = EV.under("rectools").table(["ndcg", "recall"], k=10, intervals=True)
    score = EV.under("rectools").ndcg(k=10)
    assert table.loc["ndcg"].tolist() == pytest.approx([float(score), *score.interval()])


def test_printed_headers_are_the_columns_of_the_frame() -> None:
    for language in ("en", "ko"):
        recnb.language(language)
        try:
            for table in (EV.table(k=[5, 10]), EV.items(k=10), EV.table("ndcg", k=10, by="segment"), FOUND.table(k=5)):
                assert repr(table).removeprefix(f"{table.attrs.get('title')}\n").splitlines()[0].split()[
                    -len(table.columns) :
                ] == [*map(str, table.columns)]
                # A long name may be broken after an underscore.
                html = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table._repr_html_().replace("_<wbr>", "_"))
                assert html[-len(table.columns) :] == [*map(str, table.columns)]
            curve = EV.curve("ndcg", k=[1, 5])
            assert repr(curve).splitlines()[0].split() == ["k", *curve.to_frame().columns]
            assert re.findall(r'<th scope="col"[^>]*>(.*?)</th>', curve._repr_html_()) == ["k", "ndcg", "low", "high"]
        finally:
            recnb.language("en")
    for metric in ("ndcg", "novelty"):
        one = EV.explain(metric, "u026", k=5)
        shown = [name for name in one.to_frame().columns if name != "gain"]
        assert "  ".join(shown).replace("running", "running sum").split() in [
            line.split() for line in repr(one).split("\n")
        ]


def test_markdown_and_latex_hold_the_numbers_and_the_convention(tmp_path) -> None:
    for table, columns in (
        (EV.table(k=[5, 10]), 3),
        (EV.table("ndcg", k=[5, 10], intervals=True), 3),
        (EV.table("ndcg", k=10, by="segment"), 13),
        (EV.items(k=10), 7),
        (FOUND.table(k=[5, 10]), 15),
        (FOUND.table("ndcg", k=10, by="segment"), 3),
    ):
        rows, latex = markdown(table.to_markdown(), columns), table.to_latex()
        balanced(latex, columns)
        assert len(rows) == 2 + min(len(table), table.attrs.get("most", 50))
        for value in table.head(1).to_dict("split")["data"][0]:
            if isinstance(value, float):
                assert f"{value:.4f}" in rows[2]
                assert f"{value:.4f}" in latex
        assert "users" in latex.split(r"\end{table}")[0]
        assert table.to_latex(tmp_path / "t.tex") is None
        assert (tmp_path / "t.tex").read_text(encoding="utf-8") == latex
        assert table.to_markdown(tmp_path / "t.md") is None
        assert (tmp_path / "t.md").read_text(encoding="utf-8") == table.to_markdown()


def test_a_table_for_a_paper_has_symbols_and_intervals_in_cells() -> None:
    table = EV.table(["ndcg", "average_precision"], k=[5, None], intervals=True)
    cells = [f"{m:.4f} ({low:.4f}–{high:.4f})" for m, low, high in table.loc["ndcg"].to_numpy().reshape(2, 3)]
    paper = [cell.replace(" (", r" {\footnotesize [").replace("–", ", ").replace(")", "]}") for cell in cells]
    assert table.to_markdown().splitlines()[0] == "| metric × k | 5 | whole list |"
    assert table.to_markdown().splitlines()[2] == f"| nDCG | {cells[0]} | {cells[1]} |"
    latex = table.to_latex(caption="Mine.", label="tab:mine")
    assert f"nDCG & {paper[0]} & {paper[1]} \\\\" in latex
    assert "AP & " in latex
    assert r"\caption{Mine.}" in latex
    assert r"\footnotesize\raggedright 261 users; 2 of them" in latex
    assert r"\label{tab:mine}" in latex
    assert "| model | nDCG@10 | AP@10 |" in FOUND.table(["ndcg", "map"], k=10).to_markdown()
    assert "| P@5 | " in EV.table(["P@5", "ndcg"]).to_markdown()  # as it was asked for
    assert "| nDCG | " in EV.under("rectools").table(["ndcg"], k=5).to_markdown()
    own = EV.under("sklearn").table(["ndcg", "recall"], k=5)
    assert "recall: 261 users" in own.attrs["basis"]
    models = recnb.compare({"ndcg": SAMPLE.models["popular"], "recall": SAMPLE.models["factors"]}, SAMPLE.test)
    assert "| ndcg | " in models.table("ndcg", k=10).to_markdown()  # the name of a model


def test_no_cutoff_is_the_whole_list_and_no_value_a_dash() -> None:
    table = EV.table("ndcg")
    assert repr(table).splitlines()[0].split() == ["metric", "×", "k", "whole", "list"]
    assert "whole list" in table._repr_html_()
    wide = EV.table(["ndcg", "coverage"], k=[5, None], intervals=True)
    assert repr(wide).splitlines()[0].split() == ["metric", "×", "k", "5", "whole", "list"]
    mean, low, high, *_whole = (f"{value:.4f}" for value in wide.loc["ndcg"])
    assert repr(wide).splitlines()[1].split()[1:4] == [mean, f"[{low},", f"{high}]"]
    for text in (
        repr(wide),
        wide._repr_html_(),
        wide.to_markdown(),
        wide.to_latex(),
        repr(EV.table("ndcg", by="segment")),
    ):
        assert "nan" not in text.lower()
        assert "None" not in text
    recnb.language("ko")
    try:
        assert "전체 목록" in repr(EV.table("ndcg"))
    finally:
        recnb.language("en")


def test_options_of_pandas_are_those_of_pandas() -> None:
    table = EV.table(k=[5, 10])
    for call in (lambda: table.to_latex(longtable=True), lambda: table.to_markdown(tablefmt="html")):
        with pytest.raises(OptionError, match=r"type table\.to_frame\(\)\.to_"):
            call()
    with pytest.raises(OptionError, match="give LaTeX as text"):
        table.to_latex(caption=("All metrics.", "Metrics"))
    assert type(table.head(2)) is pd.DataFrame
    assert table.copy().equals(table)
    assert pickle.loads(pickle.dumps(table)).equals(table)


def test_a_detectable_difference_is_html_as_well() -> None:
    smallest = EV.detectable("ndcg", k=10)
    assert f"<b>{float(smallest):.4f}</b>" in smallest._repr_html_()
    assert smallest.words in smallest._repr_html_()
