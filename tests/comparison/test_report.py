"""The forms of a comparison: right numbers in each, safe names, both languages, nothing claimed that is not shown."""

import json
import pickle
import re
import unicodedata

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.comparison.conclusions import bare_p, number, sentence, signed
from recnb.comparison.results import Difference
from recnb.errors import OptionError

mpl.use("Agg")

EVIL = [
    '<script>alert("x")</script>',
    "a|b *c* `d` $e$ {f}\nline",
    r"\input{secret} 50% & _x_ ^",
    "‮right to left http://example.org/",
]


@pytest.fixture(scope="module")
def report(compared):
    return compared.report(k=[5, 10])


def test_numbers_are_those_of_the_parts(compared, report):
    frame = report.to_frame()
    assert len(frame) == 7 * 2 * 3
    table, apart = compared.table(k=[5, 10]), compared.differences(k=[5, 10])
    for row in frame.itertuples():
        assert row.mean == pytest.approx(table.loc[row.model, f"{row.metric}@{row.k}"])
        here = apart[(apart.metric == row.metric) & (apart.k == row.k) & (apart.model == row.model)]
        if row.model == "popular":
            assert here.empty
            assert np.isnan(row.difference)
        else:
            assert here.iloc[0][["difference", "low", "high", "p_holm"]].tolist() == [
                row.difference,
                row.low,
                row.high,
                row.p_holm,
            ]


def test_best_and_near_best(report):
    for metric in report.data.metrics:
        column = report.data.means_at(metric.metric, 10)
        assert sum(one.best for one in column) == 1
        assert max(column, key=lambda one: one.mean).best
        assert not any(one.best and one.near_best for one in column)
    near = {one.model: one.near_best for one in report.data.means_at("ndcg", 10)}
    assert near == {"item-knn": True, "factors": False, "popular": False}


def test_every_form_tells_the_same(report):
    lead = report.data.at(10, "ndcg")[0]
    forms = {
        "html": report.to_html(),
        "markdown": report.to_markdown(),
        "text": repr(report),
        "notebook": report._repr_html_(),
    }
    for name, form in forms.items():
        assert number(lead.difference) in form, name
        assert "28 comparisons" in form, name
        assert "another training run" in " ".join(form.split()), name
        assert "261 users that all 3 models are judged on" in form, name
        assert not re.search(r"\bequal(s|ly)?\b|no different", form), name
        for mean in report.data.means_at("recall", 10):
            assert number(mean.mean) in form, name
    latex = report.to_latex()
    assert r"\textbf{0.2635}" in latex
    assert r"0.2589$^{\circ\ast}$" in latex
    assert "261 users" in latex
    assert "Holm's correction over 28 comparisons" in latex
    assert latex.count(r"\midrule") == 3


def test_json_is_whole(report, tmp_path):
    told = json.loads(report.to_json())
    assert report.to_json(tmp_path / "report.json") is None
    assert told == json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert told["schema"] == "recnb.comparison/4"
    assert told["n_compared"] == len(told["differences"]) == 28
    assert told["judged"][0] == {"model": "item-knn", "n_users": 261, "n_left_out": 0, "n_without_list": 2}
    assert {one["verdict"] for one in told["differences"]} == {"better", "open"}
    assert told["moved"][0]["gained"][0]["new"][0].keys() == {"rank", "item", "relevance", "title"}


def test_forms_are_the_same_to_the_byte_each_time(sample, report):
    again = recnb.compare(sample.recommendations, sample.test, baseline="popular").report(k=[5, 10])
    assert again.to_html() == report.to_html()
    assert again.to_json() == report.to_json()
    assert repr(again) == repr(report)


def test_a_page_that_stands_by_itself(report, tmp_path):
    assert report.to_html(tmp_path / "page.html", title="A <title>") is None
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page == report.to_html(title="A <title>")
    assert "<title>A &lt;title&gt;</title>" in page
    assert not re.search(r"<script|<svg|<iframe|\son\w+=|https?://", page)
    assert len(page) < 300_000
    for image in re.findall(r"<img [^>]*>", page):
        assert 'src="data:image/svg+xml;base64,' in image
        assert re.search(r'alt="[^"]{20,}"', image)
    # The one style sheet makes the tabs; nothing that matters for reading stands in it.
    assert not re.search(r"<svg|<script", report._repr_html_())
    (style,) = re.findall(r"<style>(.*?)</style>", report._repr_html_(), re.DOTALL)
    assert set(re.findall(r"\.recnb[\w-]*", style)) <= {
        ".recnb",
        ".recnb-tabs",
        ".recnb-tab",
        ".recnb-panel",
        ".recnb-again",
        ".recnb-many",
    }


def test_names_of_models_users_and_items_are_made_safe():
    users = [*EVIL, "plain"]
    truth = pd.DataFrame({"user": users, "item": EVIL[0]})
    rows = [(user, item, rank) for user in users for rank, item in enumerate(EVIL[:2], 1)]
    good = pd.DataFrame(rows, columns=["user", "item", "rank"])
    bad = good.assign(rank=3 - good["rank"])
    report = recnb.compare({EVIL[0]: bad, EVIL[1]: good, EVIL[2]: bad, EVIL[3]: good}, truth).report(k=2, movers=5)
    page = report.to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "‮" not in page
    assert not re.search(r"https?://", page)
    assert "‮" not in repr(report)
    assert "\nline" not in repr(report)
    markdown = report.to_markdown()
    assert "<script" not in markdown
    assert "\\|b \\*c\\*" in markdown
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert "http://" not in line
    latex = report.to_latex()
    assert r"\input" not in latex
    assert r"\textbackslash{}input\{secret\} 50\% \& \_x\_" in latex
    drawn = report.figure()
    drawn.canvas.draw()
    parts = recnb.compare({EVIL[0]: bad, EVIL[1]: good}, truth)
    for one in (
        parts,
        parts.differences("ndcg", 2),
        parts.movers("ndcg", 2),
        parts.curve(k=[1, 2]),
    ):
        assert "<script" not in one._repr_html_()
        assert "$e$ {f}\n" not in one._repr_html_()


#: Every result of a comparison.
RESULTS = {
    "repr": lambda found: found,
    "table": lambda found: found.table(k=10),
    "table by": lambda found: found.table("ndcg", k=10, by="segment"),
    "differences": lambda found: found.differences(k=10),
    "differences by": lambda found: found.differences("ndcg", k=10, by="segment"),
    "movers": lambda found: found.movers(k=10),
    "overlap": lambda found: found.overlap(k=10),
    "curve": lambda found: found.curve(k=[1, 5]),
    "beyond": lambda found: found.beyond(k=10),
    "report": lambda found: found.report(k=[5, 10], by="segment"),
    "gate": lambda found: found.not_worse("ndcg", k=10),
}


@pytest.fixture(scope="module")
def disguised(sample):
    """A comparison whose models and segments have names that would break lines, move the cursor or turn the text."""
    names = ["two\nlines\r", "esc\x1b[31m red\x00", "turn\u202e back"]
    users = sample.users.assign(segment=sample.users["segment"] + "\x1b[2J\nnext\u202e")
    models = dict(zip(names, sample.models.values(), strict=True))
    return recnb.compare(models, sample.test, train=sample.train, items=sample.items, users=users)


@pytest.mark.parametrize("name", RESULTS)
def test_no_name_reaches_a_terminal_as_more_than_text(disguised, name):
    shown = RESULTS[name](disguised)
    methods = [form for form in ("_repr_html_", "to_markdown", "to_latex") if hasattr(shown, form)]
    texts = [repr(shown), *(getattr(shown, form)() for form in methods), *getattr(shown, "lines", ())]
    for text in texts:
        assert not {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs", "Cf")} - {"\n"}
        assert not re.search(r"two\nlines|J\s*\nnext", text)


def test_latex_has_the_segments_and_takes_a_caption_and_a_label(sample):
    found = recnb.compare(sample.models, sample.test, baseline="popular", users=sample.users)
    report = found.report(k=[5, 10], metrics=["ndcg"], by="segment")
    rows = found.differences("ndcg", k=10, by="segment")
    for one, captions in (
        (report, ["Means over 261 users.", "nDCG@10 by segment."]),
        (
            found["popular"].report(k=[5, 10], metrics=["ndcg"], by="segment"),
            ["Mean over users, with interval.", "nDCG@10 by segment: each segment, and its gap to all other users."],
        ),
    ):
        latex = one.to_latex()
        assert re.findall(r"\\caption\{(.*)\}", latex) == captions
        assert "\\label" not in latex
        named = one.to_latex(caption="Ours.", label="tab:a")
        assert re.findall(r"\\caption\{(.*)\}", named) == ["Ours.", captions[1]]
        assert re.findall(r"\\label\{(.*)\}", named) == ["tab:a", "tab:a-2"]
        assert len(re.findall(r"\\footnotesize.*relevance above 0", named)) == 1
        with pytest.raises(OptionError, match="label=3: give LaTeX as text"):
            one.to_latex(label=3)
    for row in rows.itertuples():
        line = f"{row.segment} & {row.model} & popular & {row.n_users} & {row.difference:+.4f} & {row.low:.4f}"
        assert line in report.to_latex()


def test_exact_intervals_are_said_to_be_so_of_zeros_and_ones_alone(compared):
    for report in (compared.report(k=10), compared["popular"].report(k=10)):
        for form in (report.to_markdown(), repr(report), report.to_html()):
            words = " ".join(form.split())
            assert words.count("Clopper") == words.count("for values of 0 and 1 the exact one of Clopper") > 0


def test_items_are_shown_by_their_titles(sample):
    found = recnb.compare(sample.models, sample.test, items=sample.items)
    titles = dict(zip(sample.items["item"], sample.items["title"], strict=True))
    movers = found.movers("ndcg", k=10)
    listed = [item for user in (*movers.moved.gained, *movers.moved.lost) for item in (*user.old, *user.new)]
    assert {item.item: item.title for item in listed} == {item.item: titles[item.item] for item in listed}
    report = found.report(k=10, metrics=["ndcg"])
    for form in (movers._repr_html_(), repr(movers), report.to_html(), report.to_markdown(), repr(report)):
        assert listed[0].title.split()[-1] in form
        assert listed[0].item in form


def test_korean(sample):
    found = recnb.compare(sample.models, sample.test)
    report = found.report(k=10, lang="ko")
    assert report.lang == "ko"
    for form in (report.to_html(), report.to_markdown(), repr(report), report.to_latex()):
        assert "표본으로 본다" in " ".join(form.split())
        assert "비교 14개" in " ".join(form.split())
    assert '<html lang="ko">' in report.to_html()
    # The language stays, whatever is set when it is shown.
    with recnb.display.language.use_language("ko"):
        assert "차이가 드러나지 않았다" in found.differences("ndcg", 10).conclusions[0]
    assert "no significant difference" in found.differences("ndcg", 10).conclusions[0]


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
def test_what_may_be_said(report, values, verdict, words):
    one = difference(**values)
    assert one.verdict == verdict
    assert words in sentence(one, report.data.settings, 3)


def test_small_numbers_are_not_rounded_to_nothing():
    assert (signed(0.00001), signed(-0.5), number(12.3), bare_p(0.0000001)) == (
        "+1.0e-05",
        "-0.5000",
        "12.3000",
        "< 0.001",
    )


def test_one_comparison_needs_no_correction(sample):
    models = {name: sample.models[name] for name in ("factors", "popular")}
    words = recnb.compare(models, sample.test).differences("ndcg", k=10)
    assert "Holm" not in str(words)
    assert words.notes[0].startswith("One comparison")


def test_metrics_without_an_upper_bound_stay_out_of_the_common_picture(compared):
    page = compared.report(k=5, metrics=["ndcg", "dcg"]).to_html()
    assert "2 differences of metrics without an upper bound are in the table alone" in page
    assert compared.report(k=5, metrics=["dcg", "ndcg"]).data.lead.metric == "dcg"


def test_more_pairs_than_can_be_shown_by_user(sample):
    models = {f"{name} {at}": one for at in (1, 2) for name, one in sample.models.items()}
    report = recnb.compare(models, sample.test, pairs="all").report(k=5, metrics=["ndcg"])
    assert len(report.data.pairs) == 15
    assert len(report.data.moved) == 3
    many = recnb.compare(models, sample.test, pairs="all").report(k=5, movers=1)
    assert "Drawn for nDCG alone" in many.to_html()
    assert len(many.to_html()) < 300_000
    assert report.data.reference is None
    assert "▲ better, ▼ worse than" not in report.to_html()
    assert report.to_latex().count(r"\ast") == 0


def test_options_reach_the_metrics(compared):
    report = compared.report(k=10, metrics={"ndcg": {"gain": "exponential"}}, movers=0)
    assert report.data.moved == ()
    assert report.data.metrics[0].convention.startswith("gain 2^relevance - 1")
    plain = compared.report(k=10, metrics=["ndcg"], movers=0)
    assert report.data.means[0].mean != plain.data.means[0].mean
    for wrong in ({"k": [5, None]}, {"movers": -1}, {"metrics": ["ndgc"]}, {"lang": "de"}, {"gain": "linearly"}):
        with pytest.raises((OptionError, recnb.errors.CutoffError)):
            compared.report(**wrong)


def test_pictures(compared, report):
    import matplotlib.pyplot as plt

    axes = compared.differences("ndcg", k=[5, 10]).plot()
    assert [one.get_text() for one in axes.get_yticklabels()] == [
        "nDCG@5  item-knn", "nDCG@5  factors", "nDCG@10  item-knn", "nDCG@10  factors"]  # fmt: skip
    assert axes.get_xlabel() == "difference from popular"
    _, given = plt.subplots()
    assert compared.differences("ndcg", k=5).plot(ax=given) is given
    with pytest.raises(OptionError, match=r"which of them are findings\. Leave out color="):
        compared.differences("ndcg", k=5).plot(color="red")
    assert len(compared.curve("ndcg", k=range(1, 6)).plot().lines) == 3
    assert len(report.figure().axes) == 2
    plt.close("all")


def test_small_results_show_themselves(compared):
    for one in (
        compared,
        compared.differences("ndcg", k=5),
        compared.overlap(k=5),
        compared.movers("ndcg", k=5),
        compared.curve("ndcg", k=[1, 5]),
    ):
        assert "item-knn" in repr(one)
        assert one._repr_html_().startswith('<div class="recnb mathjax_ignore')
    found = compared.differences("ndcg", k=5)
    assert found.verdict.tolist() == ["better", "better"]
    again = pickle.loads(pickle.dumps(found))
    assert (repr(again), again.conclusions, again.notes) == (repr(found), found.conclusions, found.notes)
    assert found.conclusions[0] in repr(found)
    many = compared.differences(k=5)
    assert len(many.conclusions) == len(many) == 14
    assert many.conclusions[0] not in repr(many), "only a few stand below the table"


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("means", ".table(k=10)"), ("forest", ".differences(k=10).plot()"), ("plot", ".differences('ndcg', k=10).plot()"),
        ("conclusion", ".differences(k=10).conclusions"), ("tradeoff", ".beyond(k=10)"), ("at_least", "found['item-knn'].at_least"),
    ],
)  # fmt: skip
def test_views_that_went_are_answered_with_what_to_type(compared, view, words):
    with pytest.raises(recnb.errors.UnknownNameError) as refused:
        getattr(compared, view)("ndcg", k=10)
    assert words in str(refused.value)


def test_beyond_accuracy_where_train_is_known(sample, compared):
    found = recnb.compare(sample.models, sample.test, train=sample.train, items=sample.items)
    report = found.report(k=[5, 10], metrics=["ndcg"], movers=0)
    frame = found.beyond(k=10)
    for name, one in found.models.items():
        assert frame.loc[name, "novelty"] == pytest.approx(float(one.novelty(k=10)))
        assert frame.loc[name, "coverage"] == pytest.approx(float(one.coverage(k=10)))
    told = {one.metric: one for one in report.data.beyond}
    assert [value for value, _, _ in told["coverage"].values] == pytest.approx(frame["coverage"].tolist())
    for form in (report.to_html(), report.to_markdown(), repr(report)):
        assert "Beyond accuracy" in form
        assert number(frame.loc["popular", "novelty"]) in form
    assert report.to_html().count("<img ") == 4
    assert compared.report(k=5, metrics=["ndcg"]).data.beyond == ()
    with pytest.raises(OptionError, match="train="):
        compared.beyond(k=5)


def test_explore_shows_all_models(compared):
    assert "popular" in repr(compared.explore(k=5).state.to_frame()) or compared.explore(k=5) is not None


def test_measures_with_cut_offs_of_their_own_are_one_table_for_a_paper(compared):
    latex = compared.report(metrics=["nDCG@10", "P@5", "AP"]).to_latex()
    assert r" & nDCG@10 & Precision@5 & AP \\" in latex
    assert latex.count(r"\midrule") == 1
    assert len(re.findall(r"^item-knn ", latex, re.M)) == 1
    assert compared.report(k=[5, 10], metrics=["ndcg"]).to_latex().count("$k = ") == 2


def test_worse_models_have_a_mark_of_their_own_in_latex(sample):
    found = recnb.compare(sample.models, sample.test, convention="trec", baseline="item-knn")
    latex = found.report(metrics=["RR@10", "P@5"]).to_latex()
    assert "RR@10" in latex
    assert r"$^{\ddagger}$ worse than item-knn" in latex
    assert re.search(r"\d\$\^\{\\ddagger\}\$ ", latex)
    assert r"\dagger" not in latex
