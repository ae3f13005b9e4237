"""Two ways to a number agree: a comparison's table in every form and by segment, and the
evaluation of each model alone.

Models have names whose order is not alphabetical, and rows of segments come as they
are: a library underneath that sorts labels without their values is seen here.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from tests.examples import examples

NAMES = ("zeta", "alpha", "Mid", "knn-2")
NAMED = ("recall", "ndcg", "average_precision", "hit_rate", "precision", "dcg")
TEXTS = ("P@2", "P@1", "nDCG@3", "RR@2", "R@3", "AP@1", "Success@1", "P@3", "nDCG@1")


class Question(NamedTuple):
    """What is asked of a comparison."""

    found: recnb.Comparison
    metrics: list[str]
    k: list[int | None]

    @property
    def columns(self) -> dict[str, tuple[str, int | None]]:
        """The columns of its table, each with metric and cut-off."""
        texts = {name: (name, None) for name in self.metrics if "@" in name}
        return texts or {
            name if k is None else f"{name}@{k}": (name, k)
            for name, k in product(self.metrics, self.k)
        }

    def score(self, model: str, column: str) -> recnb.Score:
        """The number of one model, asked of its evaluation."""
        name, k = self.columns[column]
        evaluation = self.found[model]
        if "@" in name:
            return evaluation.measure(name)
        return getattr(evaluation, name)(k=k)

    def table(self, **options: Any) -> recnb.Table:
        return self.found.table(self.metrics, self.k, **options)


def drawn_list(items: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(items), min_size=1, max_size=5, unique=True)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Models on a few users, who are in two segments, and metrics."""
    users = [f"u{n}" for n in draw(st.permutations(range(draw(st.integers(2, 6)))))]
    names = draw(st.permutations(NAMES))[: draw(st.integers(2, 4))]
    truth = {
        user: draw(
            st.dictionaries(st.sampled_from("abcde"), st.integers(1, 3), min_size=1)
        )
        for user in users
    }
    models = {
        name: {user: draw(drawn_list("gfedcba")) for user in users} for name in names
    }
    segments = [draw(st.sampled_from(["young", "old"])) for _user in users]
    found = recnb.compare(
        models,
        truth,
        baseline=draw(st.sampled_from([None, *names])),
        users=pd.DataFrame({"user": users, "age": segments}),
    )
    texts = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=5, unique=True)
    words = st.lists(st.sampled_from(NAMED), min_size=1, max_size=4, unique=True)
    if draw(st.booleans()):
        return Question(found, draw(texts), [None])
    cutoffs = st.lists(st.sampled_from([3, 1, 10, 2, None]), min_size=1, unique=True)
    return Question(found, draw(words), draw(cutoffs))


def law(test: Any) -> Any:
    return settings(max_examples=examples(24))(given(questions())(test))


def plain(cell: str) -> str:
    """A cell without the marks of the best and of what is near it."""
    return re.sub(r"\\text(bf|superscript)\{([^{}]*)\}|[*°▲▼]", r"\2", cell).replace(
        r"$\circ$", ""
    )


def cells_of(line: str, between: str) -> list[str]:
    return [plain(cell).strip() for cell in line.strip("| \\").split(between)]


def rows_of_markdown(text: str) -> list[list[str]]:
    """The cells of the first table of a text, without its header."""
    table = text[text.index("| ---") :].split("\n\n")[0]
    return [cells_of(line, "|") for line in table.splitlines()[1:]]


def rows_of_latex(text: str) -> list[list[str]]:
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [cells_of(line, "&") for line in body.strip().splitlines()]


def rows_of_console(text: str, n: int) -> list[list[str]]:
    """The rows of a table; a wide one is in parts, each with the names of its rows."""
    lines = text.splitlines()
    rows = list[list[str]]([] for _ in range(n))
    while lines[0].startswith("model"):
        for row, line in zip(rows, lines[1 : n + 1], strict=True):
            name, *numbers = re.split(r"  +", plain(line))
            row += numbers if row else [name, *numbers]
        lines = lines[n + 1 :]
    return rows


def numbers_of_html(html: str) -> list[list[str]]:
    """The numbers of the rows of a table in HTML."""
    rows = re.findall("<tr.*?</tr>", html, re.S)[1:]
    return [
        re.findall(r"(?<![\d.])\d+\.\d{4}(?!\d)", re.sub("<[^>]*>", " ", row))
        for row in rows
    ]


@law
def test_a_table_has_the_numbers_of_each_model_alone(question: Question) -> None:
    table = question.table()
    assert table.index.tolist() == question.found.names
    assert table.columns.tolist() == [*question.columns]
    for model, column in product(table.index, table.columns):
        value = float(question.score(model, column))
        assert table.loc[model, column] == pytest.approx(value, abs=1e-12)
        assert table.to_frame().loc[model, column] == table.loc[model, column]


@law
def test_every_form_of_a_table_shows_the_numbers_of_its_frame(
    question: Question,
) -> None:
    table = question.table()
    rows = [
        [model, *(f"{float(question.score(model, column)):.4f}" for column in table)]
        for model in question.found.names
    ]
    assert rows_of_markdown(table.to_markdown()) == rows
    assert rows_of_latex(table.to_latex()) == rows
    assert rows_of_console(repr(table), len(rows)) == rows
    assert numbers_of_html(table._repr_html_()) == [cells[1:] for cells in rows]
    assert table.to_csv(float_format="%.4f").split() == [
        ",".join(cells) for cells in [["model", *table], *rows]
    ]


@law
def test_intervals_stand_beside_the_same_means(question: Question) -> None:
    table = question.table()
    wide = question.table(intervals=True)
    frame = wide.to_frame()
    assert frame[[*table]].equals(table.to_frame())
    shown = rows_of_markdown(wide.to_markdown())
    for row, model in enumerate(table.index):
        for place, column in enumerate(table, 1):
            score = question.score(model, column)
            ends = frame.loc[model, [f"{column} low", f"{column} high"]].to_numpy()
            expected = score.interval() if score.has_interval else (np.nan, np.nan)
            assert ends == pytest.approx(np.array(expected), abs=1e-12, nan_ok=True)
            assert shown[row][place].split(" (")[0] == f"{float(score):.4f}"


@law
def test_segments_have_the_means_of_their_users(question: Question) -> None:
    table = question.table(by="age")
    segments = question.found[question.found.names[0]].side_data.users
    age = dict(segments.select("user", "age").rows())
    assert {model for _age, model in table.index} == {*question.found.names}
    for (label, model), column in product(table.index, table.columns):
        values = question.score(model, column).per_user
        of_segment = values[[age[user] == label for user in values.index]]
        mean = of_segment.mean()
        assert table.loc[(label, model), column] == pytest.approx(mean, abs=1e-12)
        shown = rows_of_markdown(table.to_markdown())
        place = table.index.get_loc((label, model)), table.columns.get_loc(column)
        assert shown[place[0]][2 + place[1]] == f"{mean:.4f}"
    assert len(table) == len({*age.values()}) * len(question.found)


@law
def test_differences_are_those_of_the_table(question: Question) -> None:
    table = question.table()
    differences = question.found.differences(question.metrics, question.k)
    rows = product(table.columns, question.found.pairs)
    for row, (column, pair) in zip(differences.itertuples(), rows, strict=True):
        assert (row.model, row.baseline) == pair
        change = table.loc[row.model, column] - table.loc[row.baseline, column]
        assert row.difference == pytest.approx(change, abs=1e-12)


@law
def test_a_curve_is_a_column_of_the_table_at_each_cut_off(question: Question) -> None:
    curve = question.found.curve("ndcg", k=[1, 2, 4])
    table = question.found.table("ndcg", [1, 2, 4])
    for row in curve.itertuples():
        expected = table.loc[row.model, f"ndcg@{row.k}"]
        assert row.mean == pytest.approx(expected, abs=1e-12)
    wide = [cells[1:] for cells in rows_of_markdown(curve.to_markdown())]
    expected = [[f"{value:.4f}" for value in row] for row in table.to_numpy().T]
    assert wide == expected
