"""The language is a setting, an argument goes before it, a result keeps it, and plots have its letters."""

from __future__ import annotations

import logging
import pathlib
import pickle
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

import recnb
from recnb.display import style
from recnb.display.language import Sentence, _, current, ngettext, use_language
from tests.korean import EV, EVALUATIONS, RECS, english_in


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    yield
    recnb.language("en")


def test_the_setting_and_the_way_back():
    assert recnb.language() == "en"
    assert recnb.language("ko") == recnb.language() == current() == "ko"
    assert "사용자 5명" in repr(EV.ndcg(k=3))
    recnb.language("en")
    assert "5 users" in repr(EV.ndcg(k=3))


def test_an_argument_goes_before_the_setting():
    frame = RECS.assign(relevance=1)
    for one in (EV, recnb.explain("ndcg", [1, 0], lang="ko"), frame.rec):
        made = [one] if hasattr(one, "lang") else [one.explain("ndcg", "a", 3, lang="ko"), one.report([3], lang="ko")]
        assert {each.lang for each in made} == {"ko"}
    recnb.language("ko")
    assert "users" in repr(EV.report([3], lang="en"))
    assert repr(EV.explain("ndcg", "a", 3, lang="en")).startswith("nDCG@3 of user a = ")
    assert current() == "ko"


@pytest.mark.parametrize("call", [EV.report, lambda **lang: EV.explain("ndcg", "a", **lang), recnb.glossary])
def test_a_language_that_is_none_is_refused(call: Any):
    with pytest.raises(
        recnb.errors.OptionError, match=r"'english' is no language.*'en' \(English\), 'ko' \(Korean, 한국어\)"
    ):
        call(lang="english")


def results():
    return [EV.explain("ndcg", "a", 3), EV.report([3]), EV.curve("ndcg", [1, 2]), EV.ndcg(k=3), EV.table(k=3), recnb.glossary()]  # fmt: skip


def test_a_result_keeps_its_language():
    for there, back in (("en", "ko"), ("ko", "en")):
        recnb.language(there)
        made = results()
        shown, kept = [(repr(one), one._repr_html_()) for one in made], pickle.dumps(made[3])
        recnb.language(back)
        again = pickle.loads(kept)
        assert [(repr(one), one._repr_html_()) for one in made] == shown
        assert (again.lang, repr(again), again._repr_html_()) == (there, *shown[3])
        assert replace(made[0], value=1.0).lang == there


def test_columns_and_keys_stay_as_they_are():
    english, korean = EV.explain("ndcg", "a", 3), EV.explain("ndcg", "a", 3, lang="ko")
    pd.testing.assert_frame_equal(english.to_frame(), korean.to_frame())
    pd.testing.assert_frame_equal(EV.report([3]).to_frame(), EV.report([3], lang="ko").to_frame())
    with use_language("ko"):
        assert EV.curve("ndcg", [1, 2]).to_frame().columns.tolist() == ["ndcg", "low", "high"]
        assert EV.table(k=3).index.name == "metric"
    first = repr(korean).splitlines()
    assert "순위" in first[4]
    assert "누적 합" in first[4]
    assert "<th" in korean._repr_html_()
    assert ">순위</th>" in korean._repr_html_()


def test_notes_of_the_data_are_said_in_the_language_of_the_moment():
    ev = EVALUATIONS["one frame"][0]
    assert "relevant items: those in this frame" in ev.basis()
    with use_language("ko"):
        assert "관련 아이템은 이 프레임에 있는 것" in ev.basis()


def test_speaking_ends():
    with use_language("ko"):
        for lang in (None, "en"):
            with use_language(lang):
                assert current() == (lang or "ko")
        assert current() == "ko"
    with pytest.raises(KeyError), use_language("ko"):
        _("{n} more", m=1)
    assert current() == "en"


def test_threads_do_not_hear_each_other():
    heard: dict[str | None, list[str]] = {"en": [], "ko": [], None: []}
    recnb.language("ko")
    together = threading.Barrier(3)

    def talk(lang: str | None) -> None:
        with use_language(lang):
            for _ignored in range(50):
                together.wait()
                heard[lang].append(ngettext("{n:,} user", "{n:,} users", 2))

    threads = [threading.Thread(target=talk, args=(lang,)) for lang in heard]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    # The setting holds in every thread.
    assert heard == {"en": ["2 users"] * 50, "ko": ["사용자 2명"] * 50, None: ["사용자 2명"] * 50}


def test_forms_for_one_and_many():
    assert [ngettext("{n:,} item", "{n:,} items", n) for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
    assert str(Sentence("{n:,} with no test item left out", {"n": 1200})) == "1,200 with no test item left out"


# Plots

HANGUL = re.compile("[가-힣]")
#: These need a Korean font of the system, which CI installs beside the browser.
needs_font = pytest.mark.browser


def texts_in(figure: Figure) -> list[Any]:
    axes = [text for ax in figure.axes for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts)]
    legends = [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    return [text for text in (*axes, *legends) if text.get_text()]


@needs_font
def test_a_korean_figure_has_its_letters(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture):
    before, drawn = dict(mpl.rcParams), Figure().add_subplot()
    with use_language("ko"):
        figure = EV.table(["ndcg"], k=3).plot(Figure().add_subplot()).figure
        EV.curve("ndcg", [1, 2]).plot(drawn)
    assert dict(mpl.rcParams) == before, "no setting of matplotlib is changed"
    labels = texts_in(figure)
    assert any(HANGUL.search(text.get_text()) for text in labels)
    assert english_in("\n".join(text.get_text() for text in labels)) == set()
    assert all(text.get_fontfamily()[0] in style.KOREAN for text in labels)
    assert "사용자" in drawn.get_ylabel()
    with caplog.at_level(logging.WARNING, logger="matplotlib"):
        for kind in ("png", "svg", "pdf"):  # a missing letter is a warning, which is an error here
            figure.savefig(tmp_path / f"figure.{kind}")
            drawn.figure.savefig(tmp_path / f"curve.{kind}")
    assert caplog.records == []


def test_without_a_korean_font_labels_are_english(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path):
    monkeypatch.setattr(style, "installed", lambda: {"DejaVu Sans", "Last Resort High-Efficiency"})
    report = EV.report([1, 3], lang="ko")
    with use_language("ko"):
        curve = EV.curve("ndcg", [1, 2])
    with pytest.warns(UserWarning, match="Korean letters.*NanumGothic"):
        ax = curve.plot(Figure().add_subplot())
    assert not any(HANGUL.search(text.get_text()) for text in texts_in(ax.figure))
    assert ax.get_ylabel() == "nDCG@k, mean of 5 users"
    ax.figure.savefig(tmp_path / "figure.png")
    assert "사용자" in repr(report), "text needs no font"


def test_the_first_font_of_the_list_is_taken_and_english_plots_look_for_none(monkeypatch: pytest.MonkeyPatch):
    for there, taken in (
        ({"NanumGothic", "Noto Sans CJK KR"}, "Noto Sans CJK KR"),
        ({"Apple SD Gothic Neo", "Malgun Gothic"}, "Malgun Gothic"),
    ):
        monkeypatch.setattr(style, "installed", lambda there=there: there)
        with style.lettering("ko") as options:
            assert options == {"fontfamily": [taken, "DejaVu Sans"]}
    monkeypatch.setattr(style, "installed", lambda: pytest.fail("fonts were looked for"))
    assert EV.curve("ndcg", [1, 2]).plot(Figure().add_subplot()) is not None


def test_a_font_is_in_force_for_as_long_as_a_plot_is_drawn(monkeypatch: pytest.MonkeyPatch):
    assert "DejaVu Sans" in style.installed()
    monkeypatch.setattr(style, "KOREAN", ("DejaVu Sans",))
    before, taken = mpl.rcParams["font.family"], ["DejaVu Sans", "DejaVu Sans"]
    with style.lettering("ko") as options:
        assert mpl.rcParams["font.family"] == options["fontfamily"] == taken
    assert mpl.rcParams["font.family"] == before
