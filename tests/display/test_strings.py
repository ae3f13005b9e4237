"""Nothing that is shown stands outside the table of strings: in Korean no English is left."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator

import pytest

import recnb
from recnb import METRICS, Convention
from recnb.conventions import WORDS, in_words
from recnb.conventions.convention import DECISIONS
from recnb.conventions.presets import of_library
from recnb.display.language import _, use_language, width
from tests.korean import EV, EVALUATIONS, ONE, RECS, TRUTH, Shown, english_in, page
from tests.strategies import each_word


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    yield
    recnb.language("en")


@pytest.mark.parametrize("name", METRICS)
def test_an_explanation_is_all_korean(name: str):
    recnb.language("ko")
    for options in each_word(METRICS[name]):
        for user, k in (("a", 3), ("b", 1), ("c", 5), ("e", 50), ("d", None)):
            made = EV.explain(name, user, k, **options)
            for text in (repr(made), page(made._repr_html_()), made.reads, made.numbers):
                assert english_in(text) == set(), text
    made = recnb.explain(name, [3, 2, 0, 1])
    assert english_in(f"{made!r}\n{page(made._repr_html_())}") == set()
    decided = recnb.evaluate(RECS, TRUTH, averaged_users="union", no_relevant="one").explain(name, "f", 3)
    assert english_in(f"{decided!r}\n{page(decided._repr_html_())}") == set()
    if "ideal" in METRICS[name].defaults:
        assert "관련도가 가장 높은 아이템과 관련도가 같은 아이템" in repr(EV.explain(name, "a", 3, ideal="k"))


@pytest.mark.parametrize("which", EVALUATIONS)
def test_a_report_is_all_korean(which: str):
    evaluation, k = EVALUATIONS[which]
    report = evaluation.report(k, [*METRICS], lang="ko")
    # What a finding tells to type is code, and nDCG is what a finding calls the metric of that name.
    lint = report.lints[""]
    said = " ".join(f"`{one.code}`" for one in lint) + " ".join(lint.not_checked)
    typed = set(re.findall("[A-Za-z]{3,}", " ".join(re.findall(r"`([^`]*)`", said)))) | {"nDCG"}
    for text in (repr(report), page(report._repr_html_()), report.to_markdown(), report.to_latex()):
        assert english_in(text) - typed == set(), text
    document = Shown()
    document.feed(report.to_html())
    assert document.lang == "ko"
    assert english_in("\n".join(document.said)) - typed == set()
    told = report.to_dict()
    texts = [told["basis"], *told["populations"][0]["users"], *told["conventions"], *told["notes"]]
    texts += [one[what] for one in told["metrics"] for what in ("reads", "formula", "convention")]
    assert english_in("\n".join(texts)) == set()
    assert told.keys() == evaluation.report(k).to_dict().keys()


def test_other_results_are_all_korean():
    recnb.language("ko")
    for evaluation, _frames in EVALUATIONS.values():
        table_ = evaluation.table(["ndcg", "recall"], k=[1, None], gain="exponential")
        shown = [
            repr(evaluation),
            page(evaluation._repr_html_()),
            repr(table_),
            page(table_._repr_html_()),
            table_.attrs["basis"],
            table_.attrs["convention"],
        ]
        for metric in METRICS:
            score = getattr(evaluation, metric)(k=3)
            shown += [repr(score), page(score._repr_html_())]
        curve = evaluation.curve("ndcg", k=[1, 2, 3])
        shown += [repr(curve), page(curve._repr_html_())]
        # Headers are the columns of the frame, in every language.
        assert english_in("\n".join(shown)) <= {"metric", "low", "high"}
    assert english_in(repr(recnb.ndcg([["a"], ["b"]], [["a"], ["c"]]))) == set()
    assert english_in(repr(EV.under("rectools").ndcg(k=3)) + repr(EV.under("rectools").table(k=3))) <= {"metric"}


def test_other_libraries_numbers_are_all_korean():
    recnb.language("ko")
    presets = [one for name in recnb.conventions.names() for one in of_library(name)]
    code = {part for one in presets for part in re.findall("[A-Za-z]+", f"{one.library} {one.variant}")}
    code |= {
        "recnb",
        "relevant",
        *re.findall("[a-z]+", " ".join([*DECISIONS, "metric out_of gain discount log_base ideal"])),
        "library",
        "otherwise",
        "value",
        "difference",
        "convention",
        "fit",
    }
    code |= {"decision", "frames", "from", "to", "change", "n", "moved", "most"}
    shown = []
    for library in ("rectools", "ranx", "trec_eval"):
        way = EV.why("ndcg", 3, other=library)
        shown += [repr(way), page(way._repr_html_())]
    other = recnb.evaluate(RECS.assign(score=-RECS["rank"]).drop(columns="rank"), TRUTH, ties="last")
    for to in (Convention(averaged_users="union", no_relevant="zero", relevant_from=2), other, EV.under("ranx")):
        way = EV.why("f1" if to is other else "ndcg", 3, other=to)
        shown += [repr(way), page(way._repr_html_())]
    ours = float(ONE.ndcg(k=3))
    found = ONE.identify("ndcg", f"{ours:.2f}", 3)
    for made in (
        found,
        ONE.identify("ndcg", "0.0003", 3),
        ONE.identify("ndcg", f"{ours:.6f}", 3),
        ONE.identify("ndcg", f"{ours - 0.9e-4:.4f}", 3),
        EV.identify("err", 0.77, 3),
    ):
        shown += [repr(made), page(made._repr_html_())]
    spread = EV.spread("ndcg", 3)
    for text in (repr(spread), page(spread._repr_html_())):
        for words in spread["otherwise"][spread["value"].isna()]:  # an error, which is English
            text = re.sub(f"{re.escape(words[:40])}[^–<\n]*", "", text)  # which may be cut
        shown.append(text)
    for text in shown:
        assert english_in(text) - code == set(), text
    kept = [repr(one) for one in (way, found, spread)]
    recnb.language("en")
    assert [repr(one) for one in (way, found, spread)] == kept


def test_conventions_are_all_korean():
    recnb.language("ko")
    for name, words in WORDS.items():
        for word in words:
            convention = Convention(**{name: word})  # type: ignore[arg-type]
            said = "\n".join(
                [convention.in_words(), *convention.phrases(graded=True), *convention.phrases(graded=False)]
            )
            assert english_in(said) == set(), (name, word)
    assert Convention(relevant_from=4).in_words().endswith("관련 기준: 관련도 4 이상")
    for metric in METRICS.values():
        for options in each_word(metric):
            for name, value in options.items():
                assert english_in(in_words(name, value)) == set()


def test_the_glossary_is_all_korean():
    glossary = recnb.glossary("ko")
    frame = glossary.to_frame()
    assert frame.columns.tolist() == ["term", "name", "meaning"]
    assert {
        "user",
        "item",
        "rank",
        "relevance",
        "gain",
        "discount",
        "ideal list",
        "cut-off",
        "hit",
        "truth",
        "credit",
    } < {*frame["term"]}
    assert {"out of", "convention", *METRICS} < {*frame["term"]}
    assert frame["term"].is_unique
    assert english_in("\n".join([*frame["name"], *frame["meaning"]])) == set()
    for text in (repr(glossary), page(glossary._repr_html_())):
        for term in sorted(frame["term"], key=len, reverse=True):
            text = text.replace(term, "")
        assert english_in(text) == set()
    lines = repr(glossary).splitlines()
    starts = {
        width(line[: line.index(name)]) for line, name in zip(lines[2:], frame["name"], strict=True) if name != "F1"
    }
    assert len(starts) == 1, "columns are in line"
    assert recnb.glossary().lang == "en"
    assert recnb.glossary().to_frame()["term"].tolist() == frame["term"].tolist()


def test_a_word_that_has_a_plural_is_translated_by_any_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gettext.GNUTranslations, "gettext", lambda self, message: self._catalog.get(message, message))
    with use_language("ko"):
        assert _("user") == "사용자"
        assert _("item") == "아이템"
