"""Table, Curve and Explanation: what they hold and what they show."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import recnb
from recnb.metrics.metric import METRICS, Metric

#: a: an ordinary list. b: no hit. c: no list. d: gaps in the ranks. e: one long list. f: nothing relevant.
LISTS = {
    "a": [(1, 10), (2, 11), (3, 12), (4, 13)],
    "b": [(1, 20), (2, 21)],
    "d": [(2, 30), (5, 31), (6, 32)],
    "e": [(rank, rank) for rank in range(1, 101)],
    "f": [(1, 10)],
}
RELEVANT = {
    "a": {13: 3.0, 10: 1.0, 99: 2.0},
    "b": {77: 1.0, 78: 2.0},
    "c": {10: 1.0},
    "d": {32: 2.0, 30: 2.0},
    "e": {item: 1.0 + item % 3 for item in range(1, 120, 2)},
    "f": {5: 0.0},
}
RECS = pd.DataFrame(
    [(user, item, rank) for user, ranked in LISTS.items() for rank, item in ranked], columns=["user", "item", "rank"]
)
TRUTH = pd.DataFrame(
    [(user, item, grade) for user, judged in RELEVANT.items() for item, grade in judged.items()],
    columns=["user", "item", "relevance"],
)
EV = recnb.evaluate(RECS, TRUTH)
CUTOFFS = [1, 3, 5, 200, None]


# Table


def test_a_table_holds_the_single_calls() -> None:
    table = EV.table(list(METRICS), k=CUTOFFS)
    assert table.index.tolist() == list(METRICS)
    assert table.index.name == "metric"
    assert table.columns.tolist() == CUTOFFS
    assert table.columns.name == "k"
    for name in METRICS:
        assert table.loc[name].tolist() == pytest.approx([float(getattr(EV, name)(k=k)) for k in CUTOFFS], abs=1e-12)
    assert EV.table(k=[1, 3]).index.tolist() == [
        "ndcg",
        "average_precision",
        "reciprocal_rank",
        "precision",
        "recall",
        "f1",
        "hit_rate",
    ]
    assert EV.table(["mrr", "map"], k=2).index.tolist() == ["reciprocal_rank", "average_precision"]
    assert EV.table("ndcg", k=2).loc["ndcg", 2] == EV.table(("ndcg",), k=[2]).loc["ndcg", 2] == EV.ndcg(k=2)
    assert EV.table(["ndcg"], k=[3, 1]).columns.tolist() == [3, 1]


def test_options_go_to_the_metrics_that_have_them() -> None:
    table = EV.table(["ndcg", "dcg", "precision"], k=[3], gain="exponential", out_of="list")
    assert table[3].tolist() == pytest.approx(
        [EV.ndcg(k=3, gain="exponential"), EV.dcg(k=3, gain="exponential"), EV.precision(k=3, out_of="list")], abs=1e-12
    )
    assert "gain 2^relevance - 1" in repr(table)
    assert "out of the list's length" in repr(table)
    assert "linear gain" not in repr(table)


def test_a_table_is_a_data_frame() -> None:
    table = EV.table(["ndcg", "recall"], k=[1, 3, None])
    assert isinstance(table, pd.DataFrame)
    assert type(table) is recnb.Table
    for part in (
        table[[1]],
        table.loc[["ndcg"]],
        table.round(2),
        table.T,
        table.head(1),
        table.copy(),
        table * 2,
        table.reset_index(),
        table.rename(columns=str),
        table.to_frame(),
    ):
        assert type(part) is pd.DataFrame
    assert isinstance(table[1], pd.Series)
    assert isinstance(table.loc["ndcg"], pd.Series)
    assert table[None].tolist() == [EV.ndcg(), EV.recall()]
    assert table.to_csv() == table.to_frame().to_csv()
    assert "None" not in table.to_csv().replace(",None", "")
    again = pickle.loads(pickle.dumps(table))
    pd.testing.assert_frame_equal(again, table)
    assert again.attrs["basis"] == table.attrs["basis"] == table.copy().attrs["basis"]
    table.iloc[0, 0] = 9.0  # a frame of its own
    assert EV.table(["ndcg"], k=[1]).iloc[0, 0] != 9.0


def test_a_table_knows_its_basis(tmp_path: Any) -> None:
    table = EV.table(["ndcg", "recall"], k=[1, 3])
    assert table.attrs["n_users"] == 5
    assert table.attrs["basis"].startswith("5 users; 1 of them without a list")
    assert "ordered by rank" in table.attrs["convention"]
    table.to_parquet(tmp_path / "table.parquet")  # attrs are text and numbers, so pandas can write them
    back = pd.read_parquet(tmp_path / "table.parquet")
    assert back.attrs == table.attrs
    assert back.to_numpy().tolist() == table.to_numpy().tolist()


def test_a_table_shows_itself() -> None:
    table = EV.table(["ndcg", "recall"], k=[1, None])
    assert repr(table).endswith(table.attrs["basis"])
    assert f"{float(EV.ndcg()):.4f}" in repr(table)
    html = table._repr_html_()
    for piece in (
        ">1</th>",
        ">whole list</th>",
        "ndcg",
        "recall",
        f"{float(EV.ndcg()):.4f}",
        f"{float(EV.recall(k=1)):.4f}",
        "5 users",
    ):
        assert piece in html


# Curve


@pytest.mark.parametrize("metric", ["ndcg", "precision", "err", "mrr"])
def test_a_curve_holds_the_single_calls(metric: str) -> None:
    curve = EV.curve(metric, k=[1, 2, 4, 50])
    scores = [getattr(EV, metric)(k=k) for k in (1, 2, 4, 50)]
    assert curve.columns.tolist() == [scores[0].metric, "low", "high"]
    assert (curve.index.name, curve.index.tolist()) == ("k", [1, 2, 4, 50])
    assert curve.iloc[:, 0].tolist() == pytest.approx(list(map(float, scores)), abs=1e-12)
    assert curve[["low", "high"]].to_numpy() == pytest.approx(
        np.array([score.interval() for score in scores]), abs=1e-12
    )
    assert EV.curve("ndcg").index.tolist() == list(range(1, 21))
    assert EV.curve("ndcg", k=[3], gain="exponential").loc[3, "ndcg"] == EV.ndcg(k=3, gain="exponential")
    assert curve.attrs["basis"] == f"{scores[-1].basis}; 95% intervals"
    for piece in (scores[0].metric, f"{scores[1]:.4f}", f"{curve.iloc[2, 1]:.4f}", "5 users"):
        assert piece in repr(curve)
        assert piece in curve._repr_html_()


def test_a_curve_is_drawn() -> None:
    curve = EV.curve("ndcg", k=[1, 2, 4, 8])
    ax = Figure().add_subplot()
    assert pickle.loads(pickle.dumps(curve)).plot(ax=ax, color="black", label="mine") is ax
    (line,) = ax.get_lines()
    assert line.get_xdata().tolist() == [1, 2, 4, 8]
    assert line.get_ydata().tolist() == curve["ndcg"].tolist()
    assert (line.get_color(), line.get_label()) == ("black", "mine")
    (band,) = ax.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert corners >= {*zip(curve.index, curve["low"], strict=True), *zip(curve.index, curve["high"], strict=True)}
    assert ax.get_xlabel() == "k"
    assert "nDCG@k, mean of 5 users" in ax.get_ylabel()
    assert ax.get_ylim()[0] == 0
    curve.plot(ax=ax)
    assert len(ax.get_lines()) == 2


def test_a_curve_makes_axes_if_none_are_given() -> None:
    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        plt.switch_backend("Agg")
        ax = EV.curve("ndcg", k=[1, 2]).plot()
        assert ax.figure.number in plt.get_fignums()
        plt.close("all")


# Explanation


def each_word(metric: Metric[Any]) -> list[dict[str, Any]]:
    numbers = {"log_base": [10], "beta": [0.5], "p": [0.5], "max_relevance": [7]}
    return [
        {},
        *(
            {name: value}
            for name in metric.defaults
            for value in metric.words.get(name, numbers.get(name, []))
            if value != metric.defaults[name]
        ),
    ]


@pytest.mark.parametrize("name", METRICS)
def test_an_explanation_is_the_score(name: str) -> None:
    for options in each_word(METRICS[name]):
        for k in CUTOFFS:
            per_user = getattr(EV, name)(k=k, **options).per_user
            for user, value in per_user.items():
                explanation = EV.explain(name, user, k=k, **options)
                assert explanation.value == value, (options, k, user)
                rows = explanation.to_frame().to_dict("list")
                assert rows["running"] == pytest.approx(np.cumsum(rows["credit"]))
                assert sum(rows["credit"]) / (explanation.out_of or 1) == pytest.approx(value, abs=1e-12)
                assert all(after - before >= -1e-15 for before, after in itertools.pairwise(rows["running"]))
                assert all(after > before for before, after in itertools.pairwise(rows["rank"]))
                n_terms = len(explanation.terms)
                assert n_terms == sum(credit > 0 for credit in rows["credit"]) == sum(map(bool, rows["term"]))
                depth = k or max((rank for rank, _ in LISTS.get(user, [])), default=0)
                if METRICS[name].over == "hits":
                    assert list(zip(rows["rank"], rows["item"], strict=True)) == [
                        (rank, item) for rank, item in LISTS.get(user, []) if rank <= depth
                    ]
                    assert rows["relevance"] == [RELEVANT[user].get(item, 0.0) for item in rows["item"]]
                shown = {item for rank, item in LISTS.get(user, []) if rank <= depth}
                missed = [
                    item
                    for item, grade in sorted(RELEVANT[user].items(), key=lambda one: -one[1])
                    if grade and item not in shown
                ]
                # IDCG is of the ideal list, which may hold what the list missed.
                assert explanation.missed == (() if name == "idcg" else tuple(missed))


def test_the_explanation_of_ndcg() -> None:
    explanation = EV.explain("ndcg", "a", k=4)
    dcg, idcg = 1 / 1 + 3 / np.log2(5), 3 + 2 / np.log2(3) + 1 / 2
    assert explanation.value == pytest.approx(dcg / idcg)
    assert (explanation.label, explanation.user, explanation.k, explanation.metric) == ("nDCG@4", "a", 4, "ndcg")
    assert explanation.formula == "add relevance/log2(1+rank) for each hit, divide by the same sum over the ideal list"
    assert (
        explanation.numbers == f"(1/log2(1+1) + 3/log2(1+4)) / (3/log2(1+1) + 2/log2(1+2) + 1/log2(1+3))"
        f" = {dcg:.4f} / {idcg:.4f} = {dcg / idcg:.4f}"
    )
    rows = explanation.to_frame()
    assert rows.columns.tolist() == ["rank", "item", "relevance", "gain", "discount", "term", "credit", "running"]
    assert rows["gain"].tolist() == [1, 0, 0, 3]
    assert rows["discount"].tolist() == pytest.approx(np.log2([2, 3, 4, 5]))
    assert rows["credit"].tolist() == pytest.approx([1, 0, 0, 3 / np.log2(5)])
    assert rows["term"].tolist() == ["1/log2(1+1)", "", "", "3/log2(1+4)"]
    assert rows["running"].tolist() == pytest.approx([1, 1, 1, dcg])
    ideal = explanation.ideal
    assert ideal is not None
    assert ideal["item"].tolist() == [13, 99, 10]
    assert ideal["relevance"].tolist() == [3, 2, 1]
    assert ideal["running"].iloc[-1] == pytest.approx(idcg)
    assert explanation.missed == (99,)
    assert r"\frac" in explanation.latex
    assert r"\sum" in explanation.latex
    assert r"\mathrm{nDCG}@4" in explanation.latex
    shown = repr(explanation)
    for piece in (
        "nDCG@4 of user a",
        f"{dcg / idcg:.4f}",
        "The ideal list",
        "relevant, not in the first 4: 99",
        "ordered by rank; relevant: relevance above 0; linear gain",
        explanation.numbers,
    ):
        assert piece in shown


def test_users_with_nothing_to_show() -> None:
    no_hit, no_list = EV.explain("ndcg", "b", k=2), EV.explain("precision", "c", k=2)
    assert no_hit.value == 0
    assert no_hit.terms == ()
    assert no_hit.missed == (78, 77)  # the most relevant first
    assert len(no_hit.to_frame()) == 2
    assert no_hit.numbers.startswith("0 / (")
    assert no_hit.numbers.endswith(" = 0 / 2.6309 = 0")
    assert no_list.value == 0
    assert len(no_list.to_frame()) == 0
    assert no_list.missed == (10,)
    assert no_list.numbers == "0 / 2 = 0"
    for explanation in (no_hit, no_list, EV.explain("ndcg", "c"), EV.explain("idcg", "c", k=3)):
        assert "nan" not in repr(explanation)
        assert "nan" not in explanation._repr_html_()


def test_gaps_stay_gaps() -> None:
    assert EV.explain("average_precision", "d", k=6).to_frame()["rank"].tolist() == [2, 5, 6]
    assert EV.explain("average_precision", "d", k=6).terms == ("1/2", "2/6")
    assert EV.explain("precision", "d").numbers == "(1 + 1) / 6 = 2 / 6 = 0.3333"


@pytest.mark.parametrize(("no_relevant", "value"), [("zero", 0.0), ("one", 1.0)])
def test_a_user_with_nothing_relevant(no_relevant: str, value: float) -> None:
    ev = recnb.evaluate(RECS, TRUTH, no_relevant=no_relevant)
    for name in METRICS:
        explanation = ev.explain(name, "f", k=2)
        assert explanation.value == pytest.approx(value, nan_ok=True) == getattr(ev, name)(k=2).per_user["f"]
        assert explanation.to_frame()["running"].tolist() == [0] * len(explanation.to_frame())
    if no_relevant != "zero":
        for shown in (repr(ev.explain("ndcg", "f")), ev.explain("ndcg", "f")._repr_html_()):
            assert "no relevant item, so by convention" in shown


def test_an_explanation_of_the_other_options_of_the_data() -> None:
    twice = pd.concat([RECS, pd.DataFrame({"user": ["a"], "item": [10], "rank": [5]})])
    for options in (
        {"duplicates": "dedupe"},
        {"duplicates": "keep"},
        {"duplicates": "hit_once"},
        {"duplicates": "keep", "candidates": "padded"},
        {"duplicates": "keep", "judged": "list"},
    ):
        ev = recnb.evaluate(twice, TRUTH, **options)
        for name in ("ndcg", "recall", "average_precision", "err"):
            explanation = ev.explain(name, "a", k=6)
            assert explanation.value == getattr(ev, name)(k=6).per_user["a"]
            assert explanation.to_frame()["running"].iloc[-1] / explanation.out_of == pytest.approx(explanation.value)


def test_a_long_list_is_cut_where_it_is_shown() -> None:
    explanation = EV.explain("ndcg", "e")
    assert len(explanation.to_frame()) == 100
    assert len(explanation.terms) == 50
    assert explanation.ideal is not None
    assert len(explanation.ideal) == 60
    shown = repr(explanation)
    assert "… 70 more rows" in shown
    assert "… 30 more rows" in shown
    assert "… (38 more)" in shown
    assert len(shown.splitlines()) < 80
    assert "… 70 more rows" in explanation._repr_html_()
    assert explanation._repr_html_().count("<tr") < 70
    missed = EV.explain("recall", "e", k=1)
    assert len(missed.missed) == 59
    assert "59, …" in repr(missed)
    assert "…" in missed._repr_html_()


def test_an_explanation_of_grades_alone() -> None:
    explanation = recnb.explain("ndcg", [3, 0, 2], k=2)
    assert explanation.to_frame()["relevance"].tolist() == [3, 0]
    assert "item" not in explanation.to_frame()
    assert explanation.missed == ()
    assert explanation.ideal is not None
    assert explanation.ideal["relevance"].tolist() == [3, 2]
    assert "of user" not in repr(explanation)
    assert recnb.explain("idcg", {"a": 1, "b": 3}).to_frame()["relevance"].tolist() == [3, 1]


def test_the_frame_of_an_explanation_is_a_copy() -> None:
    explanation = EV.explain("ndcg", "a", k=4)
    frame = explanation.to_frame()
    frame["item"] = 0
    assert explanation.to_frame()["item"].tolist() == [10, 11, 12, 13]


def test_an_explanation_where_equal_scores_share_a_rank() -> None:
    recs = pd.DataFrame({"user": [1] * 6, "item": list("abcdef"), "score": [3, 3, 2, 2, 2, 1.0]})
    truth = pd.DataFrame({"user": [1] * 4, "item": list("abdz"), "relevance": [1, 2, 3, 1.0]})
    for ties, ranks in (("max_rank", {"a": 2, "b": 2, "d": 5}), ("floor_mean_rank", {"a": 1, "b": 1, "d": 4})):
        for candidates in ("list", "padded"):
            ev = recnb.evaluate(recs, truth, ties=ties, candidates=candidates)
            for name in ("ndcg", "precision", "average_precision"):
                explanation = ev.explain(name, 1, k=6)
                rows = explanation.to_frame()
                assert rows["running"].iloc[-1] / explanation.out_of == pytest.approx(explanation.value)
                assert rows.set_index("item")["rank"].to_dict() == {"c": 3, "e": 5, "f": 6} | ranks
    below = recnb.evaluate(recs, truth, candidates="padded").explain("recall", 1, k=7).to_frame()
    assert below["item"].tolist() == [*"abcdef", "z"]
    assert below["credit"].tolist() == [1, 1, 0, 1, 0, 0, 1]


def test_items_are_shown_with_their_titles() -> None:
    recs = pd.DataFrame({"user": ["u", "u"], "item": [1580, 7], "rank": [1, 2]})
    truth = pd.DataFrame({"user": ["u", "u"], "item": [7, 9]})
    items = pd.DataFrame({"item": [1580, 7, 9], "Title": ["Men <in> Black", "Up", "Coco"]})
    evaluation = recnb.evaluate(recs, truth, items=items, train=recs)
    accuracy, beyond = evaluation.explain("ndcg", "u", k=2), evaluation.explain("novelty", "u", k=2)
    for explanation in (accuracy, beyond):
        assert "Men <in> Black (1580)" in repr(explanation)
        assert "<bdi>Men &lt;in&gt; Black</bdi>" in explanation._repr_html_()
        assert explanation.to_frame()["item"].tolist() == [1580, 7]
    assert "Coco (9)" in repr(accuracy)
    assert "<bdi>Up</bdi>" in evaluation.coverage(k=2)._repr_html_()
    assert "Up" not in repr(recnb.evaluate(recs, truth).explain("ndcg", "u", k=2))


def test_a_user_of_numpy_is_shown_as_a_number():
    recs = pd.DataFrame({"user": [7], "item": ["a"], "rank": [1]})
    ev = recnb.evaluate(recs, pd.DataFrame({"user": [7], "item": ["a"]}))
    assert repr(ev.explain("ndcg", ev.users[0], k=1)).startswith("nDCG@1 of user 7 = 1.0000")


# Users of whom no gain can be had, under conventions that count every judged item

GROUPS = ([0, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.3, 0.9])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_what_counts_for_a_query_of_zeros_is_said_and_explained(library: str) -> None:
    ev = recnb.evaluate_groups(*GROUPS, group=[2, 2, 2], convention=library)
    score, explained = ev.ndcg(k=2), ev.explain("ndcg", 0, k=2)
    assert explained.value == score.per_user[0]
    assert f"by convention {score.per_user[0]:g}" in repr(explained) or score.per_user[0] == 0
    texts = {}
    for rule in ("one", "zero", "skip"):
        under = recnb.evaluate_groups(*GROUPS, group=[2, 2, 2], convention=library, no_relevant=rule)
        texts[rule] = under.ndcg(k=2).basis
        assert under.ndcg(k=2).n_users == under.n_users
        ends = under.table("ndcg", k=2, intervals=True).to_numpy()[0, 1:]
        assert ends == pytest.approx(tuple(under.ndcg(k=2).interval()))
        assert len(under.report(k=[2]).to_html()) > 1000
    assert len(set(texts.values())) == 3
    assert f"by the conventions of {library}" in texts["skip"]
    assert "2 users" in texts["skip"]
    assert "1 with no relevant item left out" in texts["skip"]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost", "sklearn"])
def test_a_query_of_zeros_that_is_left_out_is_not_explained(library: str) -> None:
    ev = recnb.evaluate_groups(*GROUPS, group=[2, 2, 2], convention=library, no_relevant="skip")
    for metric in ("ndcg", "map"):
        with pytest.raises(recnb.errors.UnknownUserError, match="user 0 is not evaluated: none of their items"):
            ev.explain(metric, 0, k=2)
    score = ev.ndcg(k=2)
    assert ev.explain("ndcg", 1, k=2).value == score.per_user[1]


def test_tables_of_a_library_name_their_users() -> None:
    table = EV.under("evidently").table(["ndcg"], k=10)
    n_users = EV.under("evidently").ndcg(k=10).n_users
    assert f"by the conventions of evidently; {n_users} users" in table.attrs["basis"]


@pytest.mark.parametrize("library", ["recommenders", "rectools", "replay", "recbole", "implicit"])
def test_users_without_a_list_are_users_of_a_librarys_ndcg(library: str) -> None:
    lists, truth = {"a": ["x", "y"], "b": ["z"]}, {"a": ["x"], "b": ["q"], "c": ["x"], "d": ["y"]}
    ev = recnb.evaluate(lists, truth).under(library)
    score = ev.ndcg(k=2)
    assert (score.n_users, score.per_user["c"]) == (4, 0)
    for basis in (
        score.basis,
        ev.table("ndcg", k=[1, 2]).attrs["basis"].replace(", 2 of", "; 2 of"),
        ev.at_least("ndcg", 0.1, k=2).basis,
        ev.lint(k=2).basis,
    ):
        assert "4 users; 2 of them without a list" in basis
        assert "with no relevant item" not in basis


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"relevant_from": 2}, "relevance of 2 or more"),
        ({"no_relevant": "one"}, "users with no relevant item count 1"),
        (
            {"relevant_from": 2, "averaged_users": "union", "judged_only": True},
            "relevance of 2 or more, users in either frame, items that are not judged left out of the lists",
        ),
    ],
)
def test_what_is_given_on_top_of_a_library_is_said(given: dict[str, Any], words: str) -> None:
    run, truth = {"u": {"a": 2.0, "b": 1.0}, "v": {"a": 1.0}}, {"u": {"a": 1, "b": 2}, "v": {"a": 2}}
    ev = recnb.evaluate(run, truth, convention="trec", **given)
    comparison = recnb.compare({"one": run, "other": run}, truth, convention="trec", **given)
    each = f"by the conventions of pytrec_eval-terrier, with {words}"
    for basis in (
        ev.table(["ndcg", "map"], k=10).attrs["basis"],
        ev.measures(["nDCG@10", "AP"]).attrs["basis"],
        ev.report(k=[10]).to_markdown().replace("\\_", "_"),
        comparison.basis(),
        comparison.report(k=[10]).to_markdown().replace("\\_", "_"),
    ):
        assert each in basis
    one = f"by the conventions of pytrec_eval-terrier with {words}: "
    for basis in (ev.ndcg(k=10).basis, ev.at_least("ndcg", 0.1, k=10).basis):
        assert one in basis
    assert ev.under("trec").table("ndcg", k=10).attrs["basis"].startswith("by the conventions of pytrec_eval-terrier; ")


def test_a_list_without_equal_scores_is_explained_where_ties_are_averaged() -> None:
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": list("abab"), "score": [2.0, 1.0, 1.0, 1.0]})
    ev = recnb.evaluate(frame, {1: ["a"], 2: ["b"]}, ties="expected")
    assert ev.explain("ndcg", 1, k=2).value == ev.ndcg(k=2).per_user[1] == 1
    with pytest.raises(recnb.errors.OptionError, match="averages many orders"):
        ev.explain("ndcg", 2, k=2)


def test_judged_items_are_told_from_others() -> None:
    judged = {"q": {"a": 1, "b": 0, "d": 1}}
    ev = recnb.evaluate({"q": ["b", "c", "a"]}, judged)
    assert ev.explain("Bpref", "q").rows["judged"].tolist() == [True, False, True]
    assert ev.user("q")["judged"].tolist() == [True, False, True]
    assert "judged" not in ev.explain("ndcg", "q").rows
    assert "judged" not in recnb.evaluate({"q": ["b"]}, {"q": ["b"]}).user("q")


def test_an_explanation_needs_a_user() -> None:
    with pytest.raises(
        recnb.errors.OptionError, match=r"say whose list: \.explain\('ndcg', user, k=10\), such as user="
    ):
        EV.explain("ndcg", k=10)
