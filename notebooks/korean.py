"""Korean for what the cells of notebooks show: headers of tables, labels and printed lines.

The notebooks in `ko` have the code of the English ones, so what the code itself writes is English. `use` makes this
notebook show it in Korean. Only what is shown changes: a column keeps the name that it has in the code.
"""

from __future__ import annotations

import builtins
import re
from functools import cache
from typing import Any

import pandas as pd
from IPython.core.getipython import get_ipython

#: English and Korean, whole texts; `{}` is any part that differs, such as a number, and is kept.
WORDS = {
    # worked.compare
    "printed": "제시값",
    "agrees": "일치",
    "MISPRINT: {}": "오타: {}",
    # words of many tables
    "yes": "예",
    "no": "아니요",
    "user": "사용자",
    "item": "아이템",
    "rank": "순위",
    "rank i": "순위 i",
    "liked": "좋아하는 아이템",
    "liked?": "좋아하는가",
    "recommended": "추천 목록",
    "mean over users": "사용자 평균",
    # 01
    "rating": "평점",
    # 02
    "hits:": "적중:",
    "precision@{} = {} hits / {} places = {}": "정밀도@{} = 적중 {}개 / 자리 {}개 = {}",
    "recall@{} = {} hits / {} liked items = {}": "재현율@{} = 적중 {}개 / 좋아하는 아이템 {}개 = {}",
    "precision@{}": "정밀도@{}",
    "recall@{}": "재현율@{}",
    "precision": "정밀도",
    "recall": "재현율",
    "divided by": "분모",
    "the list's length": "목록의 길이",
    "worked out": "계산",
    "out_of='k' (recnb)": "out_of='k'(recnb)",
    "out_of='list' (the article)": "out_of='list'(글)",
    "score": "점수",
    "seen": "학습",
    "TEST": "테스트",
    "by hand": "반복문",
    "scores              ": "점수                ",
    "highest score first": "점수가 높은 것부터",
    "argsort, lowest first": "argsort, 낮은 것부터",
    "at k = 3": "k = 3",
    "Mina": "미나",
    "Jun": "준",
    "Sora": "소라",
    "precision at 1, 2, 3:             ": "k = 1, 2, 3의 정밀도:",
    "mean over all three depths:        {}": "세 깊이 모두의 평균: {}",
    "mean over the depths with a hit:   {}, which is AP@3": "적중이 있는 깊이만의 평균: {}, 곧 AP@3",
    "comedy": "코미디",
    "action": "액션",
    "stars (the label)": "별점(레이블)",
    "film 5, comedy 0.8 and action 0.2: {} stars": "코미디 0.8, 액션 0.2인 영화 5의 별점: {}",
    "film {}": "영화 {}",
    "learned from the labels: stars = {} × comedy + {} × action": "레이블에서 학습한 식: 별점 = {} × 코미디 + {} × 액션",
    # 03
    "hits so far": "여기까지의 적중 수",
    "hits so far / rank": "여기까지의 적중 수 / 순위",
    "hit rate:          1, there is a hit": "적중률: 1, 적중이 있다",
    "reciprocal rank:   {}": "역순위: {}",
    "average precision: {}": "평균 정밀도: {}",
    "favourite": "가장 좋아하는 아이템",
    "both / liked": "좋아하고 추천된 것 / 좋아하는 것",
    "both / recommended": "좋아하고 추천된 것 / 추천한 것",
    "any hit": "적중이 있는가",
    "recall@2: of what is liked, the share shown": "재현율@2: 좋아하는 것 가운데 보여 준 비율",
    "precision@2: of what was shown, the share liked": "정밀도@2: 보여 준 것 가운데 좋아하는 비율",
    "HR@2: of the users, the share with a hit": "HR@2: 사용자 가운데 적중이 있는 비율",
    "liked and shown / liked (recall)": "좋아하고 보여 준 것 / 좋아하는 것(재현율)",
    "liked and shown / shown (precision)": "좋아하고 보여 준 것 / 보여 준 것(정밀도)",
    "20 shown, 2 liked": "20개를 보여 주고 2개를 좋아할 때",
    # 04
    "what is left: 1 / log2(i + 1)": "남는 비율: 1 / log2(i + 1)",
    "the list: DCG": "추천 목록: DCG",
    "the ideal list: IDCG": "이상적 목록: IDCG",
    "mean nDCG": "평균 nDCG",
    "relevant": "관련도",
    "mean with 0.6953: {}": "0.6953일 때의 평균: {}",
    "mean with 0.6753: {}, and the article prints {}": "0.6753일 때의 평균: {}, 글에 실린 평균: {}",
    "is": "옳은 값",
    "2 / log2(3) is 1.2619, not 1.0": "2 / log2(3)은 1.0이 아니라 1.2619이다",
    "before: {}": "바꾸기 전: {}",
    "after: {}": "바꾼 후: {}",
    "k not given": "k 없음",
    "grades": "관련도",
    "grades × 10": "관련도 × 10",
    "grades {}": "관련도 {}",
    "likes one": "하나를 좋아하는 사용자",
    "likes three": "셋을 좋아하는 사용자",
    "a disliked item on top: DCG = {}": "싫어하는 아이템이 맨 위에 있을 때: DCG = {}",
    "an unknown item on top: DCG = {}": "알 수 없는 아이템이 맨 위에 있을 때: DCG = {}",
    "all three judged:     3 / 4.7619 = {}": "셋 모두에 관련도가 있을 때: 3 / 4.7619 = {}",
    "only the first judged: 3 / 3 = {}": "첫째에만 관련도가 있을 때: 3 / 3 = {}",
    "DCG of one hit there": "그 자리에만 적중이 있을 때의 DCG",
    "divided by the rank instead": "순위로 나눌 때의 값",
    "DCG of {}": "{}의 DCG",
    "linear": "선형 이득",
    "exponential": "지수 이득",
    "DCG, {}": "DCG, {}",
    "nDCG, {}": "nDCG, {}",
    "divided by max(1, log(i))": "할인 max(1, log(i))",
    "base {}": "밑 {}",
    "min": "최솟값",
    "max": "최댓값",
    "ideal cut at {}": "이상적 목록을 {}에서 자름",
    "one item of grade -1: DCG is {} if it is shown, and {} if not; IDCG is {}": (
        "관련도가 -1인 아이템 하나: 보여 주면 DCG는 {}, 보여 주지 않으면 {}, IDCG는 {}"
    ),
    # 05
    "(a) walk the list": "(a) 목록 훑기",
    "(b) numpy, every rank": "(b) 배열로 모든 순위",
    "(c) build the lookup": "(c) 순위표 만들기",
    "(d) liked items alone": "(d) 좋아하는 아이템만",
    "(c) and then (d)": "(c) 다음에 (d)",
    "(a) walk the list        {}": "{}  (a) 목록 훑기",
    "(b) numpy, every rank    {}": "{}  (b) 배열로 모든 순위",
    "(d) liked items alone    {}": "{}  (d) 좋아하는 아이템만",
    "difference of (a) and (d): {}": "(a)와 (d)의 차이: {}",
    "looking up is over 1,000 times as fast as walking: {}": "찾아보는 것이 훑는 것보다 1,000배 넘게 빠르다: {}",
    "building the lookup first, under 1,000 times: {}": "순위표를 만드는 시간까지 넣으면 1,000배가 되지 않는다: {}",
    "building it takes over 100 times as long as using it: {}": (
        "순위표를 만드는 데에는 쓰는 데보다 100배 넘게 걸린다: {}"
    ),
    "even so, building and using it beats the walk: {}": "그래도 만들어 쓰는 것이 훑는 것보다 빠르다: {}",
    "and so does numpy over every rank, with no lookup: {}": (
        "순위표 없이 배열로 모든 순위를 더하는 것도 훑는 것보다 빠르다: {}"
    ),
    "seconds": "초",
    "as fast as (a)": "(a)보다 빠른 정도",
    "{} times": "{}배",
    "{} recommended rows of {} users": "{}행: 사용자 {}명에게 추천한 것",
    "{} relevant items": "{}개: 관련 아이템",
    "{} hits: {} of the rows": "{}개: 적중, 추천한 행의 {}",
    "{} of them in the first ten": "{}개: 그중 상위 열 자리에 있는 것",
    "join and  1 number : {} s": "조인과 값  1개: {}초",
    "join and 55 numbers: {} s, {} times as long": "조인과 값 55개: {}초, {}배",
    "DCG@{}  by hand {}   recnb {}": "DCG@{}  직접 계산 {}   recnb {}",
    "every row above k, for every metric and every k: {} additions": "덧셈 {}번: 지표마다, k마다 상위 k개 행을 모두 더할 때",
    "every hit once a metric, and then the cells:     {} additions": "덧셈 {}번: 지표마다 적중을 한 번씩, 그다음에 칸을 더할 때",
    "that is {} times fewer, for the same {} numbers": "{}분의 1의 덧셈으로 같은 값 {}개를 얻는다",
    # 07
    "before": "전",
    "now": "후",
    "change": "변화",
    "average_precision": "평균 정밀도",
    "ndcg": "nDCG",
    "C to the top: nDCG {} with linear gain, {} with exponential gain": (
        "C를 맨 위로 옮길 때 nDCG의 변화: 선형 이득 {}, 지수 이득 {}"
    ),
}


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile("(.+?)".join(map(re.escape, text.split("{}")))), WORDS[text]) for text in WORDS if "{}" in text]


def korean(text: Any) -> Any:
    """The Korean of a text, line by line; what has none, or is no text, stays as it is.

    >>> korean("MISPRINT: 4.6546 / 6.8928 = 0.6753")
    '오타: 4.6546 / 6.8928 = 0.6753'
    >>> korean("nDCG"), korean(3)
    ('nDCG', 3)
    """
    if not isinstance(text, str):
        return text
    if "\n" in text:
        return "\n".join(map(korean, text.split("\n")))
    if text in WORDS:
        return WORDS[text]
    matches = ((pattern.fullmatch(text), words) for pattern, words in _patterns())
    return next((words.format(*map(korean, match.groups())) for match, words in matches if match), text)


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its headers, labels and texts in Korean.

    >>> table(pd.DataFrame({"printed": [1.0], "agrees": "yes"}, index=pd.Index([2], name="rank")))
        제시값 일치
    순위
    2   1.0  예
    """
    return frame.map(korean).rename(index=korean, columns=korean).rename_axis(index=korean, columns=korean)


def use() -> None:
    """Show tables and printed lines of this notebook in Korean."""
    pd.set_option("display.unicode.east_asian_width", True)
    shell = get_ipython()
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(pd.DataFrame, lambda frame: _shown(frame)._repr_html_())
    formatters["text/plain"].for_type(pd.DataFrame, lambda frame, printer, _cycle: printer.text(repr(_shown(frame))))
    shell.user_ns["print"] = lambda *values, **options: builtins.print(*map(_shown, values), **options)


def _shown(value: Any) -> Any:
    """What is shown of a value; the tables of recnb, which have a type of their own, are in Korean by themselves."""
    return table(value) if type(value) is pd.DataFrame else korean(value)
