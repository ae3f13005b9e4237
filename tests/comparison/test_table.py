"""The table of a comparison: the best of a column is marked; and the comparison as a mapping of evaluations."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recnb
from recnb.errors import OptionError, UnknownModelError

BOLD = "<b><u>{}</u></b>"


def test_the_best_of_a_column_is_marked_in_every_form(compared) -> None:
    table = compared.table(k=[5, 10])
    means = compared.report(k=[5, 10]).to_frame().drop_duplicates(["metric", "k", "model"])
    html, text, markdown, latex = table._repr_html_(), repr(table), table.to_markdown(), table.to_latex()
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.split()[0] in compared.names}
    for row in means.itertuples():
        value = f"{row.mean:.4f}"
        cell = lines[row.model][list(table.columns).index(f"{row.metric}@{row.k}")]
        if row.best:
            assert cell == f"*{value}*"
            assert BOLD.format(value) in html
            assert f"**{value}**" in markdown
            assert rf"\textbf{{{value}}}" in latex
        elif row.near_best:
            assert cell == f"{value}°"
            assert rf"{value}$^{{\circ}}$" in latex
        else:
            assert cell == value
    for form in (html, text, markdown, latex):
        assert "the highest mean of its column" in form
        assert "not significantly different from it" in form
        assert "261 users" in form


def test_what_is_near_the_best_is_not_apart_from_it_by_the_corrected_test(sample) -> None:
    names = ("popular", "factors", "item-knn")
    found = recnb.compare({name: sample.models[name] for name in names}, sample.test)
    table = found.table(["ndcg", "recall"], k=[5, 10])
    p = {}
    for column in table:
        metric, k = column.split("@")
        values = {name: getattr(found[name], metric)(k=int(k)).per_user for name in names}
        best = table[column].idxmax()
        p |= {(column, name): stats.ttest_rel(values[best], values[name]).pvalue for name in names if name != best}
    is_near = dict(zip(p, recnb.stats.holm(np.array([*p.values()])) > 0.05, strict=True))
    assert set(is_near.values()) == {True, False}
    for column in table:
        assert table.attrs["best"][column] == [table[column].idxmax()]
        assert table.attrs["near_best"][column] == [name for name in names if is_near.get((column, name))]


def test_a_column_has_the_cutoff_of_its_name_once(compared) -> None:
    assert list(compared.table(["nDCG@10", "recall"], k=5)) == ["nDCG@10", "recall@5"]
    assert list(compared.table(["nDCG@10", "recall"])) == ["nDCG@10", "recall"]
    assert list(compared.table("ndcg", k=[5, None])) == ["ndcg@5", "ndcg"]


def test_marks_after_changes(compared) -> None:
    plain = compared.table("ndcg", k=10)
    assert type(plain.sort_values("ndcg@10")) is pd.DataFrame
    assert pickle.loads(pickle.dumps(plain)).to_latex() == plain.to_latex()
    plain["mine"] = 1.5  # a column that was not compared has no mark
    assert "1.5000" in repr(plain)
    assert "*1.5000*" not in repr(plain)


def test_a_comparison_is_a_mapping_of_evaluations(sample, compared) -> None:
    assert isinstance(compared, Mapping)
    assert list(compared) == list(compared.keys()) == compared.names
    assert len(compared) == 3
    assert "popular" in compared
    assert "pop" not in compared
    assert 3 not in compared
    assert compared.get("pop") is None
    for name, evaluation in compared.items():
        assert isinstance(evaluation, recnb.Evaluation)
        assert evaluation.ndcg(k=10) == compared.models[name].ndcg(k=10) == compared[name].ndcg(k=10)
    with pytest.raises(UnknownModelError, match=r"'populr' is none of the models\. Did you mean 'popular'") as refused:
        compared["populr"]
    assert isinstance(refused.value, (KeyError, OptionError))
    assert compared != recnb.compare(sample.recommendations, sample.test)
    assert compared in {compared}
