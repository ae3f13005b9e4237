"""The language is a setting, an argument goes before it, a result keeps it, and plots
have its letters.
"""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure

import recnb
from recnb.display import style
from recnb.display.forms import CONSOLE, say
from recnb.display.language import (
    Noun,
    Sentence,
    _,
    current,
    ngettext,
    use_language,
    use_noun,
    with_particles,
)
from recnb.errors import OptionError
from recnb.results import plots
from tests.korean import EV, EVALUATIONS, RECS


@pytest.fixture(autouse=True)
def _english():
    yield
    recnb.language("en")


def test_an_argument_goes_before_the_setting():
    assert recnb.language("ko") is None
    assert recnb.language() == current() == "ko"
    assert "사용자 5명" in repr(EV.ndcg(k=3))
    assert "users" in repr(EV.report([3], lang="en"))
    assert repr(EV.explain("ndcg", "a", 3, lang="en")).startswith("nDCG@3 of user a = ")
    recnb.language("en")
    assert "5 users" in repr(EV.ndcg(k=3))
    for one in (EV, RECS.assign(relevance=1).rec):
        assert one.explain("ndcg", "a", 3, lang="ko").lang == "ko"
        assert one.report([3], lang="ko").to_dict()["lang"] == "ko"
    words = r"'english' is no lang.*'en' \(English\), 'ko' \(Korean, 한국어\)"
    for call in (EV.report, partial(EV.explain, "ndcg", "a")):
        with pytest.raises(OptionError, match=words):
            call(lang="english")


@pytest.mark.parametrize(("there", "back"), [("en", "ko"), ("ko", "en")])
def test_a_result_keeps_its_language(there, back):
    def shown(results):
        return [(repr(one), one._repr_html_()) for one in results]

    recnb.language(there)
    results = [
        EV.explain("ndcg", "a", 3),
        EV.report([3]),
        EV.curve("ndcg", [1, 2]),
        EV.table(k=3),
    ]
    before, kept = shown(results), pickle.dumps(results[0])
    recnb.language(back)
    again = pickle.loads(kept)
    assert shown(results) == before
    assert shown([again]) == before[:1]
    assert again.lang == replace(results[0], value=1.0).lang == there


def test_columns_stay_as_they_are():
    english, korean = EV.explain("ndcg", "a", 3), EV.explain("ndcg", "a", 3, lang="ko")
    pd.testing.assert_frame_equal(english.to_frame(), korean.to_frame())
    of_report = EV.report([3]).to_frame(), EV.report([3], lang="ko").to_frame()
    pd.testing.assert_frame_equal(*of_report)
    assert ">순위</th>" in korean._repr_html_()
    with use_language("ko"):
        curve = EV.curve("ndcg", [1, 2]).to_frame()
        assert curve.columns.tolist() == ["ndcg", "low", "high"]
        assert "관련 아이템은 이 프레임에 있는 것" in EVALUATIONS["one frame"][0].basis


def test_use_language_ends():
    with use_language("ko"):
        for lang in (None, "en"):
            with use_language(lang):
                assert current() == (lang or "ko")
        assert current() == "ko"
    with pytest.raises(KeyError), use_language("ko"):
        _("{n} more", m=1)
    assert current() == "en"


def test_threads_do_not_hear_each_other():
    recnb.language("ko")
    together = threading.Barrier(3)

    def talk(lang):
        with use_language(lang):
            together.wait()
            return {
                ngettext("{n:,} {user}", "{n:,} {users}", 2) for _ignored in range(50)
            }

    with ThreadPoolExecutor(3) as threads:
        heard = list(threads.map(talk, ["en", "ko", None]))
    assert heard == [{"2 users"}, {"사용자 2명"}, {"사용자 2명"}], (
        "the setting holds in every thread"
    )


def test_forms_for_one_and_many():
    shown = [ngettext("{n:,} {item}", "{n:,} {items}", n) for n in (0, 1, 2)]
    assert shown == ["0 items", "1 item", "2 items"]
    sentence = Sentence("{n:,} with no test {item} left out", {"n": 1200})
    assert str(sentence) == "1,200 with no test item left out"


# Plots


def test_without_a_korean_font_labels_are_english(monkeypatch):
    monkeypatch.setattr(
        font_manager,
        "get_font_names",
        lambda: ["DejaVu Sans", "Last Resort High-Efficiency"],
    )
    with use_language("ko"):
        curve = EV.curve("ndcg", [1, 2])
    with pytest.warns(UserWarning, match=r"Korean letters.*NanumGothic"):
        ax = curve.plot(Figure().add_subplot())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("k", "nDCG@k, mean of 5 users")


def test_the_first_font_of_the_list_is_in_force_while_a_plot_is_drawn(monkeypatch):
    before = mpl.rcParams["font.family"]
    ax = Figure().add_subplot()
    monkeypatch.setattr(
        font_manager, "get_font_names", lambda: ["NanumGothic", "Noto Sans CJK KR"]
    )
    with style.lettering("ko") as options:
        assert (
            mpl.rcParams["font.family"]
            == options["fontfamily"]
            == ["Noto Sans CJK KR", "DejaVu Sans"]
        )
        assert current() == "ko"
        plots.in_letters(ax, options)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        assert text.get_fontfamily() == options["fontfamily"]
    assert mpl.rcParams["font.family"] == before


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2(으)로", "2로"),
        ("3(으)로", "3으로"),
        ("7(으)로", "7로"),
        ("nDCG이(가)", "nDCG가"),
        ("10%을(를)", "10%를"),
        ("'회원 7'은(는)", "'회원 7'은"),
        ("'Ann'은(는)", "'Ann'은(는)"),  # how a name is read is not known
    ],
)
def test_particles_follow_what_is_read_before_them(text, shown):
    assert with_particles(text) == shown


@pytest.mark.parametrize(
    ("message", "of_users", "of_lists"),
    [
        ("{user}이(가) {n}{counter}이(가)", "사용자가 5명이", "목록이 5개가"),
        ("{users}은(는) {n:,}{counter}은(는)", "사용자는 5명은", "목록은 5개는"),
        ("{user}을(를) {n}{counter}을(를)", "사용자를 5명을", "목록을 5개를"),
        ("{user}과(와) {n}{counter}과(와)", "사용자와 5명과", "목록과 5개와"),
        ("{user}(으)로 {n}{counter}(으)로", "사용자로 5명으로", "목록으로 5개로"),
        ("{list}이(가) 없는 {user}", "목록이 없는 사용자", "추천 아이템이 없는 목록"),
    ],
)
def test_lists_in_the_place_of_users_have_their_particles(message, of_users, of_lists):
    with use_language("ko"):
        assert _(message, n=5) == of_users
        assert CONSOLE.write(say(message, n=5)) == of_users
        with use_noun(Noun("list")):
            assert _(message, n=5) == of_lists
            assert CONSOLE.write(say(message, n=5)) == of_lists
