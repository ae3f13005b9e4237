"""What may be said of a difference, and the parts of a comparison that say it: right words, safe names, both languages."""

import pickle
import re

import matplotlib as mpl
import numpy as np
import pytest

import recnb
from recnb.display.document import inline
from recnb.display.language import use_language
from recnb.report.conclusions import Difference, conclusion

mpl.use("Agg")


def difference(**values):
    usual = {
        "metric": "ndcg", "symbol": "nDCG", "k": 5, "model": "new", "baseline": "old", "difference": 0.01, "low": -0.01, "high": 0.03,
        "p": 0.2, "p_holm": 0.4, "effect_size": 0.1, "won": 5,
        "tied": 2, "lost": 3, "n_users": 10, "detectable": 0.05, "alpha": 0.05,
    }  # fmt: skip
    return Difference(**{**usual, **values})


@pytest.mark.parametrize(
    ("values", "verdict", "words"),
    [
        ({"low": 0.005, "p_holm": 0.04}, "better", "new is better than old, by 0.0100 (95% interval 0.0050 to 0.0300; p = 0.040"),
        ({"difference": -0.01, "low": -0.02, "high": -0.005, "p_holm": 0.01}, "worse", "worse than old, by 0.0100 (95% interval 0.0050 to 0.0200"),
        ({"low": 0.005, "p_holm": 0.06}, "hint", "inconclusive. new differs"),
        ({"p_holm": 0.01}, "torn", "inconclusive. The corrected test"),
        ({}, "open", "no significant difference between new and old: +0.0100 (95% interval -0.0100 to 0.0300; p = 0.40"),
        ({"tied": 10, "won": 0, "lost": 0, "difference": 0.0}, "same", "each of 10 users the same value"),
        ({"p": np.nan}, "untested", "too few users or differences"),
    ],
)  # fmt: skip
def test_what_may_be_said(compared, values, verdict, words):
    one = difference(**values)
    assert one.verdict == verdict
    assert words in inline(conclusion(one, compared.settings, 3), "txt")


def test_one_comparison_needs_no_correction(sample):
    models = {name: sample.models[name] for name in ("factors", "popular")}
    words = recnb.compare(models, sample.test).differences("ndcg", k=10)
    assert "Holm" not in str(words)
    assert words.notes[0].startswith("One comparison")


def test_small_results_show_themselves(compared):
    found, many = compared.differences("ndcg", k=5), compared.differences(k=5)
    for one in (compared, found, compared.overlap(k=5), compared.movers("ndcg", k=5), compared.curve(k=[1, 5])):
        assert "item-knn" in repr(one)
        assert one._repr_html_().startswith('<div class="recnb mathjax_ignore')
    again = pickle.loads(pickle.dumps(found))
    assert (repr(again), again.conclusions, again.notes) == (repr(found), found.conclusions, found.notes)
    assert found.conclusions[0] in repr(found)
    assert len(many.conclusions) == len(many) == 14
    assert many.conclusions[0] not in repr(many), "only a few stand below the table"
    assert ".." not in found.to_latex()
    assert "\\textless{}0.0001" in found.to_latex()


def test_latex_has_the_segments_and_takes_a_caption_and_a_label(sample):
    found = recnb.compare(sample.models, sample.test, baseline="popular", users=sample.users)
    asked = {"k": [5, 10], "metrics": ["ndcg"], "by": "segment"}
    for one, title in (
        (found, "nDCG@10 by segment, difference from popular."),
        (found["popular"], "nDCG@10 by segment: each segment, and its gap to all other users."),
    ):
        report = one.report(**asked)
        captions = ["Means over 261 users, each with its interval.", title]
        assert re.findall(r"\\caption\{(.*)\}", report.to_latex()) == captions
        assert "\\label" not in report.to_latex()
        named = report.to_latex(caption="Ours.", label="tab:a")
        assert re.findall(r"\\caption\{(.*)\}", named) == ["Ours.", title]
        assert re.findall(r"\\label\{(.*)\}", named) == ["tab:a", "tab:a-2"]
        assert len(re.findall(r"\\footnotesize.*relevance above 0", named)) == 1
    latex = found.report(**asked).to_latex()
    for row in found.differences("ndcg", k=10, by="segment").itertuples():
        numbers = f"{row.difference:+.4f} {{\\footnotesize [{row.low:+.4f}"
        assert f"{row.segment} & {row.model} & {row.n_users} & {numbers}" in latex


def test_exact_intervals_are_said_to_be_so_of_zeros_and_ones_alone(compared):
    for report in (compared.report(k=10), compared["popular"].report(k=10)):
        for form in (report.to_markdown(), repr(report), report.to_html()):
            words = " ".join(form.split())
            assert words.count("Clopper") == words.count("for values of 0 and 1 the exact one of Clopper") > 0


def test_a_part_keeps_its_language(compared):
    with use_language("ko"):
        found = compared.differences("ndcg", 10)
    assert "높다" in found.conclusions[0]
    assert "is better than" in compared.differences("ndcg", 10).conclusions[0]


def test_items_are_shown_by_their_titles(sample):
    found = recnb.compare(sample.models, sample.test, items=sample.items)
    titles = dict(zip(sample.items["item"], sample.items["title"], strict=True))
    movers = found.movers("ndcg", k=10)
    listed = [item for group in movers.groups for user in group.users for items in user.lists for item in items]
    assert {item.item: item.title for item in listed} == {item.item: titles[item.item] for item in listed}
    for form in (movers._repr_html_(), repr(movers), found.report(k=10, metrics=["ndcg"]).to_markdown()):
        assert listed[0].title in form
        assert listed[0].item in form


def test_movers_as_a_frame(compared):
    frame = compared.movers("ndcg", k=10, n=3).to_frame()
    assert list(frame) == ["user", "before", "after", "change", "n_relevant", "old", "new"]
    assert (frame.after - frame.before).tolist() == frame.change.tolist()
    assert (frame.change > 0).tolist() == [True] * 3 + [False] * 3
    values = {name: compared[name].ndcg(k=10).per_user for name in compared.names}
    apart = (values["item-knn"] - values["popular"]).round(12)
    assert sorted(frame.change.round(12)) == sorted([*apart.nlargest(3), *apart.nsmallest(3)])
    lists = compared["item-knn"].user(frame.user[0], k=10).to_frame()
    assert frame.new[0] == lists["item"].tolist()[:10]


def test_pictures(compared):
    import matplotlib.pyplot as plt

    axes = compared.differences("ndcg", k=[5, 10]).plot()
    assert [one.get_text() for one in axes.get_yticklabels()] == [
        "▲ nDCG@5 item-knn", "▲ nDCG@5 factors", "▲ nDCG@10 item-knn", "▲ nDCG@10 factors"]  # fmt: skip
    assert axes.get_xlabel() == "difference from popular"
    _, given = plt.subplots()
    assert compared.differences("ndcg", k=5).plot(ax=given) is given
    assert len(compared.curve("ndcg", k=range(1, 6)).plot().lines) == 3
    plt.close("all")


def test_worse_models_have_a_mark_of_their_own_in_latex(sample):
    found = recnb.compare(sample.models, sample.test, convention="trec", baseline="item-knn")
    latex = found.report(metrics=["RR@10", "P@5"]).to_latex()
    assert "RR@10" in latex
    assert r"$\ddagger$ worse than item-knn" in latex
    assert re.search(r"\d\$\^\{\\ddagger\}\$ ", latex)
