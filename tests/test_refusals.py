"""What is refused, with what to type instead; where that is code, it is run on the data
that was refused.

`tests/data/test_refused.py` has the rows and columns of frames, and nonsense for every
argument is in `test_nonsense.py`.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import recnb
from recnb.conventions import WORDS
from recnb.errors import (
    CutoffError,
    FrameError,
    NoUsersError,
    OptionError,
    RecnbError,
    UnknownUserError,
)
from recnb.metrics.metric import METRICS


def refused(call: Callable[[], Any], kind: type[RecnbError], *words: str) -> None:
    """Hold that a call raises an error of this kind: one line of some length, in which
    all these words are.
    """
    with pytest.raises(RecnbError) as raised:
        call()
    message = str(raised.value)
    assert isinstance(raised.value, kind), f"{type(raised.value).__name__}: {message}"
    assert not [each for each in words if each not in message], message
    assert 25 < len(message) < 700
    assert "\n" not in message


# A cut-off, a metric or an option that is none, wherever it can be given

RECS = pd.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
TRUTH = pd.DataFrame({"user": [1, 2], "item": [11, 10], "relevance": [1.0, 2.0]})
EV, ONE = recnb.evaluate(RECS, TRUTH), pd.merge(RECS, TRUTH, how="outer").fillna(0)


def everywhere(
    name: Any = "ndcg", k: Any = 2, **options: Any
) -> list[Callable[[], Any]]:
    """A metric asked for in every way: of an evaluation, of one frame, of one list; the
    last ways give one number.
    """
    calls: list[Callable[[], Any]] = [
        lambda: EV.table([name], k=k, **options),
        lambda: EV.explain(name, 1, k=k, **options),
        lambda: ONE.rec.explain(name, 1, k=k, **options),
        lambda: recnb.explain(name, [1, 2], k=k, **options),
    ]
    if name in METRICS:
        ways = [
            (getattr(EV, name), ()),
            (getattr(ONE.rec, name), ()),
            (getattr(recnb, name), ([1, 2],)),
        ]
        calls += [
            lambda way=way, given=given: way(*given, k=k, **options)
            for way, given in ways
        ]
    return calls


BAD_K = [
    0,
    -1,
    2.5,
    10.0,
    True,
    np.True_,
    "10",
    math.nan,
    {5},
    {5: 1},
    b"5",
    object(),
    np.array(5),
]
UNKNOWN = {
    "ndgc": "'ndcg'",
    "mean_average_precision": "'average_precision'",
    None: "Known: 'precision'",
    5: "Known: 'precision'",
}
NUMBERS = [
    ("ndcg", "log_base", (1, math.inf, math.nan)),
    ("dcg", "log_base", (0.5,)),
    ("idcg", "log_base", ("2",)),
    ("rbp", "p", (0, 1, "0.8", math.nan)),
    ("fbeta", "beta", (0, -1, math.inf)),
    ("err", "max_relevance", (0, -1, "5")),
]
NO_WORDS = ("nonsense", None, 5, ["linear"], "")
#: What is asked for, with the words of the message.
ASKED: list[tuple[type[RecnbError], dict[str, Any], tuple[str, ...]]] = [
    *(
        (CutoffError, {"k": k}, (f"k={k!r}", "whole number from 1 up", "k=10", "None"))
        for k in BAD_K
    ),
    *(
        (CutoffError, {"k": k}, (f"k={k} is deeper than any list", "k=10", "None"))
        for k in (2**31, 10**18, 10**30)
    ),
    *(
        (CutoffError, {"k": k}, ("at least one cut-off", "k=[5, 10]"))
        for k in ([], (), np.array([], dtype=int), range(0))
    ),
    *(
        (OptionError, {"name": name}, (f"{name!r} is no metric", near))
        for name, near in UNKNOWN.items()
    ),
    *(
        (OptionError, {"name": name, "gian": "linear"}, (name, "option 'gian'", "'k'"))
        for name in METRICS
    ),
    *(
        (OptionError, {"name": name, option: value}, (f"{option}={value!r}",))
        for name, option, values in NUMBERS
        for value in values
    ),
    *(
        (
            OptionError,
            {"name": name, option: value},
            (f"{option}={value!r}", *map(repr, words)),
        )
        for name, metric in METRICS.items()
        for option, words in metric.words.items()
        for value in NO_WORDS
    ),
]


@pytest.mark.parametrize(("kind", "asked", "words"), ASKED)
def test_what_is_asked_for_is_none(
    kind: type[RecnbError], asked: dict[str, Any], words: tuple[str, ...]
) -> None:
    for call in everywhere(**asked):
        refused(call, kind, *words)
    if not isinstance(
        asked.get("k"), (set, dict)
    ):  # which give one cut-off after the other
        metric, options = (
            asked.get("name", "ndcg"),
            {name: value for name, value in asked.items() if name != "name"},
        )
        refused(lambda: EV.curve(metric, **{"k": [2], **options}), kind)


@pytest.mark.parametrize("k", [[5, 10], (5,), range(1, 4), np.array([1, 2])])
def test_several_k_where_one_number_is_asked_for(k: Any) -> None:
    for call in everywhere(k=k)[1:]:
        refused(call, CutoffError, "one call gives one number", ".table(k=", ".curve(")


#: Options of an evaluation. `relevant` names a column of lists as well: a word that is
#: no convention is taken for that.
GIVEN: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    *(
        ({option: value}, (f"{option}={value!r}", *map(repr, words)))
        for option, words in WORDS.items()
        if option != "relevant"
        for value in ("nonsense", None, 5, ["first"], True)
    ),
    *(
        (
            {"relevant_from": value},
            (f"relevant_from={value!r}", "above 0", "relevant_from=4"),
        )
        for value in (0, -1, "4", math.nan, math.inf, True, [4])
    ),
    *(
        ({option: "x"}, (f"{option!r} is no option", near))
        for option, near in {
            "usr": "'user' or 'users'",
            "relevence": "'relevance'",
            "tie": "'ties'",
            "metric": "Known",
        }.items()
    ),
    *(
        (
            {option: "x"},
            (f"{option!r} is no option", "ev.table(k=10, gain='exponential')"),
        )
        for option in ("k", "gain", "metrics")
    ),
]


@pytest.mark.parametrize(("options", "words"), GIVEN)
def test_what_is_given_with_the_frames_is_none(
    options: dict[str, Any], words: tuple[str, ...]
) -> None:
    ways: list[Callable[..., Any]] = [
        RECS.rec.against,
        ONE.rec.evaluation,
        recnb.evaluate,
        recnb.evaluate_groups,
        recnb.compare,
        recnb.Convention,
    ]
    frames: Any = [
        (TRUTH,),
        (),
        (RECS, TRUTH),
        ([1, 0], [0.5, 0.2], [2]),
        ({"a": RECS, "b": RECS}, TRUTH),
        (),
    ]
    for way, given in zip(ways, frames, strict=True):
        if way is not recnb.Convention or "is no option" not in words[0]:
            refused(
                lambda way=way, given=given: way(*given, **options), OptionError, *words
            )


@pytest.mark.parametrize(
    "user", [3, "1", 1.5, (1,), [1], math.nan, pd.NA, -1, 2**70, b"1", object(), True]
)
def test_a_user_who_is_not_there(user: Any) -> None:
    named = recnb.evaluate({"anna": ["a"], "bo": ["b"]}, {"anna": ["a"], "bo": ["b"]})
    refused(
        lambda: EV.explain("ndcg", user, k=2),
        UnknownUserError,
        "is not evaluated",
        "are 1, 2",
    )
    refused(lambda: named.user(user), UnknownUserError, "'anna', 'bo'")


# Single calls

SAMPLE = recnb.datasets.load_sample()
KNN, TEST = SAMPLE.models["item-knn"], SAMPLE.test
SHOP = KNN.rec.against(TEST, train=SAMPLE.train, items=SAMPLE.items, users=SAMPLE.users)
BARE = KNN.rec.against(TEST)
FOUND = recnb.compare(SAMPLE.models, TEST)
MANY = pd.DataFrame({"user": range(1000), "item": 1, "rank": 1})
OF_FIVE = recnb.evaluate(
    {user: ["a"] for user in range(1, 6)}, {user: ["a"] for user in range(1, 6)}
)
OF_MANY = recnb.evaluate(
    MANY, MANY[["user", "item"]].assign(relevance=[0.0] + [1.0] * 999)
)
GRADED = recnb.evaluate(RECS, TRUTH.assign(relevance=[2000.0, 1]))
SHARED = recnb.evaluate(
    {1: ["a"], 2: ["a"], 3: ["b"]},
    {1: {"a": 1}, 2: {"a": 0}, 4: {"a": 1}},
    averaged_users="both",
)
SMALL = recnb.evaluate(
    {1: ["a", "b"], 2: ["a", "b"], 3: ["a", "b"]}, {1: ["a"], 2: ["b"], 3: ["a"]}
)
CITY = pd.Series(["x", "y", "y"], name="city")
WEEKS = TEST.assign(week=np.arange(len(TEST)) % 3, at=np.arange(len(TEST)).astype(str))
WEEKLY = KNN.rec.against(WEEKS, users=SAMPLE.users)
FORM = (
    "ranking is |give a list, from rank 1 down|recnb.evaluate(recs, "
    "truth)|sorted(scores, key=scores.get"
)
TUPLES: Any = ([("a", "b"), ("c", "d")], [("a", "b"), ("x", "y")])
LINEAR = "nDCG(gain='linear')"
OF_DATA = (
    "is no option of |one of the data, |: recs.rec.against(truth, |=...), "
    "recnb.evaluate or recnb.compare"
)
FRAME = pd.DataFrame({"user": [1] * 60, "item": range(60), "rank": range(1, 61)})

# Metrics beyond accuracy: c, d and e are in train once, f is new.
BEYOND = pd.DataFrame(
    [
        (u, i, r)
        for u, items in {1: "cde", 2: "bde", 3: "bcf"}.items()
        for r, i in enumerate(items, 1)
    ],
    columns=["user", "item", "rank"],
)
TRAIN = pd.DataFrame({"user": [1, 1, 2, 2, 3, 3, 4, 4, 4], "item": list("abacadabe")})
ITEMS = pd.DataFrame(
    {"item": list("abcdef"), "genres": ["x", "x|y", "y", "y|z", "z", "x|z"]}
)
YEARS = ITEMS[["item"]].assign(year=range(6))


def beyond(**given: Any) -> recnb.Evaluation:
    return recnb.evaluate(
        BEYOND,
        {1: ["c", "e"], 2: ["b"], 3: ["f"]},
        **{"train": TRAIN, "items": ITEMS, **given},
    )


def groups(
    y_true: Any = (1, 0), y_score: Any = (0.5, 0.2), **given: Any
) -> recnb.Evaluation:
    return recnb.evaluate_groups(y_true, y_score, **given)


def each(call: str, given: Iterable[str], words: str) -> dict[str, str]:
    """The same call with each of some arguments, and the words of its message."""
    return {call.format(one): words for one in given}


#: A call -> the words of its message, with "|" between them.
TOLD: dict[type[RecnbError], dict[str, str]] = {
    CutoffError: {
        "EV.table(['ndcg'], k=[5, 10, 5])": "k=[5, 10, 5]|each once",
        "EV.table(['ndcg'], k=[5, None, 0])": "k=0 is not a cut-off",
        "EV.table(['ndcg'], k=[[1]])": "k=[1] is not a cut-off",
        "SHOP.items(k=0)": "k=0 is not a cut-off",
    },
    UnknownUserError: {
        "OF_MANY.explain('ndcg', 0)": "user 0 is not evaluated|1 with no relevant item left out",
        "OF_MANY.explain('ndcg', 5000)": "999 users|1, 2, 3, 4, 5, …",
        "OF_FIVE.user(6)": "are 1, 2, 3, 4, 5: 5 users",
        # nothing relevant, no truth, no list, and text for a number
        **each(
            "SHARED.{}",
            ("user(2)", "user(3)", "user(4)", "explain('ndcg', '1')"),
            "is not evaluated. Those evaluated are 1: 1 user",
        ),
        "beyond().explain('novelty', 9)": "user 9 is not evaluated|3 users with a list",
    },
    NoUsersError: {"beyond().diversity(k=1)": "single='zero'"},
    FrameError: {
        "beyond(items=YEARS.assign(year=[np.nan, "
        "*range(5)])).diversity(features=['year'])": "missing or infinite",
        "groups(group=[1])": "add up to the 2 rows of y_true",
        "groups([1, 0, 2], [1, 2, 3], group=[1, 1, 1])": "The query of each row is qid=",
        "groups(group=[2, 0])": "whole numbers from 1 up",
        "groups(group=[1.5, 0.5])": "whole numbers from 1 up",
        "groups(group=[2], y_score=[1.0])": "y_true has 2 values, and y_score 1",
        "groups(qid=[1])": "y_true has 2 values, and qid 1",
        "groups(qid=[1, None])": "column 'qid' has 1 missing user id, the first in row 1",
        "groups(group=[2], y_score=[1.0, np.nan])": "row 1 |has no score or no relevance",
        "groups(group=[2], y_score=[1.0, np.inf])": "column 'y_score' |infinite",
        "groups([1, -1], group=[2])": "column 'y_true' holds -1",
        "groups(y_score=5, group=[2])": "y_score is 5",
        "groups(y_score=np.zeros((2, 3)), group=[2])": "y_score is <ndarray>|one dimension",
        "groups(qid='qid')": "qid is 'qid'|a column, frame[",
        "groups([], [], qid=[])": "there are no rows to evaluate",
    },
    OptionError: {
        # k and metrics
        "EV.curve('ndcg', k=[None, 5])": "whole numbers|leave None out|range(",
        "SHOP.curve('nDCG@10', 5)": "'nDCG@10' has its cut-off, and k= names others",
        "SHOP.table(['nDCG@10'], k=[5, 10])": "'nDCG@10' has its cut-off, and k=[5, 10] has columns for others",  # noqa: E501
        "SHOP.measure('nDCG@10', k=5)": "leave one of them out",
        "SHOP.report(metrics=['nDCG@10'], k=5)": "leave one of them out",
        "SHOP.report(metrics=['nDCG@10', 'AP(rel=4)@10'])": "the same relevant items",
        "EV.table([], k=2)": "metrics is empty|metrics=['ndcg']",
        "EV.table(['map', 'average_precision'], k=2)": "'average_precision' more than once",
        "EV.table(5)": "metrics=5|metrics=['ndcg', 'recall']|a cut-off is named, k=5",
        "EV.table({'ndcg': 'linear'})": "give each metric a mapping",
        "EV.table(k=5, intervals=0.9)": "say True or False",
        "recnb.users_needed(0.01, 0.3, alpha=1)": "between 0 and 1, such as 0.05",
        "SHOP.report(metrics=['bpref'])": "needs a metric of accuracy",
        "SHOP.lint(metric='bpref')": "a metric of accuracy",
        "SHOP.detectable('novelty', k=5)": "novelty is a metric beyond accuracy",
        "recnb.explain('bpref', ['a'], ['a'])": "by its name, and its options as keywords",
        "SHOP.explore('AP(rel=2)')": "its options as keywords. Did you mean 'average_precision'",
        "SHOP.explore('nDCG(dcg=\"exp-log2\")')": "its options as keywords. Did you mean 'ndcg'",
        "SHOP.measure('nDGC@10')": "Did you mean 'ndcg'?",
        "recnb.quiz('coverage')": "one of accuracy is needed",
        # options of a metric
        "EV.table(['precision'], k=2, gain='linear')": "precision|'gain'|'out_of'",
        "EV.table(['precision', 'ndcg'], k=2, gian=1)": "precision, ndcg|'gian'|Did you mean 'gain'",  # noqa: E501
        "EV.table(k=10, interval=True)": "Did you mean 'intervals'",
        "EV.ndcg(k=2, gain='exponental')": "Did you mean 'exponential'?",
        "EV.ndcg(k=2, discont='log')": "Did you mean 'discount'?",
        "EV.ndcg(k=10, cutoff=5)": "ndcg has no option 'cutoff'. Known: 'k'",
        "recnb.ndcg([1], gian='linear')": "Did you mean 'gain'",
        "GRADED.err(k=2)": "2000|smaller scale",
        **each(
            "SHOP.{}",
            (
                "at_least(LINEAR, 0.1, gain='binary')",
                "table({LINEAR: {'gain': 'binary'}})",
                "curve(LINEAR, gain='binary')",
            ),
            "gives gain='linear', and gain='binary' is another: leave one of them out",
        ),
        **each(
            "EV.{}",
            (
                "coverage(train=TRAIN)",
                "table(relevant_from=4)",
                "report(relevant_from=4)",
                "lint(relevant_from=4)",
                "curve('ndcg', ties='last')",
            ),
            OF_DATA,
        ),
        "FOUND.differences('ndcg', relevant_from=4)": OF_DATA,
        # intervals
        **each(
            "EV.ndcg(k=2).interval({})", ("95", "0", "1", "'95%'"), "confidence=|0.95"
        ),
        # beyond accuracy
        "beyond().novelty(divisor=['k'])": "divisor=",
        "beyond().tail_share(ratio=0)": "ratio=0 is not a share",
        "beyond().diversity(distance='hamming')": "Known: 'cosine', 'jaccard'",
        "beyond().novelty(kold='drop')": "Did you mean 'cold'",
        "beyond().diversity(features='genrs')": "Did you mean 'genres'",
        "beyond().diversity(features=3)": "name one",
        "beyond().diversity(features=[])": "names no column",
        "beyond().diversity(features=['item_x', 'genres'])": "no column 'item_x'",
        "beyond().calibration(alpha=0)": "alpha=0",
        "beyond().coverage().interval()": "no interval",
        "beyond().coverage().per_user": "per_item",
        "beyond().under('ranx').beyond(k=3)": "ranx has no metric beyond accuracy",
        "beyond(items=YEARS).diversity()": "no column of genres. Its columns: 'year'|features='year'",  # noqa: E501
        "beyond(items=ITEMS.assign(tags='x')).calibration()": "could each be meant",
        "beyond().explain('coverage', 1, k=3)": "no user has a value of their own: type .explain('coverage', k=3)",  # noqa: E501
        # segments
        "SHOP.table('ndcg', by='segmnt')": "Did you mean 'segment'",
        "SHOP.table('ndcg', by=['segment', 'segment'])": "name at least one column, each once",
        "SHOP.table('ndcg', by=[])": "name at least one column, each once",
        "SHOP.table('ndcg', by=3)": "Name a column of",
        "SHOP.table('ndcg', by={'nobody': 1})": "says nothing of the users evaluated",
        **each(
            "{}, by='activity', bins=8)",
            (
                "SHOP.table('ndcg'",
                "SHOP.report(k=5",
                "FOUND.table('ndcg'",
                "FOUND.differences('ndcg'",
                "FOUND.report(k=5",
            ),
            "by=pd.qcut(ages, 8)",
        ),
        "SHOP.table('ndcg', by='segment', intervals='no')": "intervals='no': say True or False",
        "SHOP.table(['coverage'], by='segment')": "coverage is one number of all lists",
        "SMALL.table('ndcg', by={1: ['x']})": "holds ['x'], which names no segment: give text or numbers",  # noqa: E501
        "SMALL.table('ndcg', by={'1': 'x', '4 times': 'z'})": "has users such as '1'; those evaluated are such as 1",  # noqa: E501
        "SMALL.table('ndcg', by=pd.Series(['a', 'b'], index=[1, 1]))": "more than one value for user 1",  # noqa: E501
        "WEEKLY.table('ndcg', by=['week', 'segment'])": "by='week' |stands alone",
        "recnb.compare({'a': KNN, 'b': KNN}, WEEKS).differences('ndcg', by='week')": "differs within users|without tests",  # noqa: E501
        "SHOP.table('ndcg', by=pd.Series(SHOP.users.to_numpy(), SHOP.users, "
        "name='id'))": " segments, and a table has at most 200",
        "WEEKLY.table('ndcg', by='at')": "at most 200|to_period('W')",
        # what is drawn
        "SHOP.table('ndcg').plot(kind='bar')": "those of table.to_frame().plot",
        "SHOP.items(k=10).plot()": "those of table.to_frame().plot",
        "SHOP.user('u026').plot()": "those of table.to_frame().plot",
        # several models
        "FOUND.user(1)": "found['item-knn'].user",
        "FOUND.ndcg(k=10)": "found['item-knn'].ndcg",
        "recnb.compare(SAMPLE.models, TEST, metrics=['nDCG@10'])": "ev.table(",
    },
    RecnbError: {
        "beyond(train=TRAIN[TRAIN.user == 1]).gini(population='train')": "5 items are recommended|4 recommended items ('c', 'd', 'e', …) are not "  # noqa: E501
        "in it",
        "beyond().explain('diversity', 1, k=1)": "diversity: user 1 has no value",
        "BEYOND.assign(relevance=1).rec.novelty()": "needs what users had before",
        "beyond(items=None).calibration()": "calibration needs genres: give items=",
        "beyond(items=ITEMS[ITEMS.item != 'f']).diversity()": "items= has no row for 1 recommended items ('f')",  # noqa: E501
        **each(
            "BARE.{}()",
            (
                "novelty",
                "popularity",
                "popularity_rank",
                "tail_share",
                "serendipity",
                "calibration",
            ),
            " needs |recs.rec.against(truth, train=train)",
        ),
        **each(
            "BARE.{}()",
            ("coverage", "gini", "diversity"),
            " needs |recs.rec.against(truth, items=items)",
        ),
        "groups([1, 0], pd.DataFrame({'a': [1, 0], 'b': [1, 0]}), group=[2])": "y_score is <DataFrame>",  # noqa: E501
        "groups()": "group=[3, 2]|qid=",
        "groups(group=[2], qid=[1, 1])": "needed once",
        **each(
            "groups(group=[2], {}='u')",
            ("user", "rank", "recommended"),
            "is no option of evaluate_groups",
        ),
        "recnb.evaluate({'u': ['a']}, {'u': ['a']}, "
        "items=pd.DataFrame({'sku_uuid': ['a'], 'product_name': ['x'], "
        "'category': ['c']}))": "item='sku_uuid'",
        "pd.DataFrame({'qid': [1], 'label': [1], 'score': "
        "[1.0]}).rec.evaluation(items=ITEMS)": "joined by item|item=",
        "pd.DataFrame({'qid': [1], 'label': [1], 'score': "
        "[1.0]}).rec.evaluation(train=TRAIN)": "joined by item|item=",
        # one list
        "recnb.ndcg(['a', 'b', 'a'], ['a'])": "'a' more than once|each item once",
        "recnb.ndcg(['a'], ['b', 'b'])": "truth|'b' more than once",
        "recnb.ndcg(['a'], 'abc')": "truth is 'abc'|mapping|list or set",
        "recnb.ndcg([1], FRAME)": "truth is <DataFrame>|mapping",
        **each(
            "recnb.ndcg({})",
            (
                "3, ['a']",
                "{'a'}, ['a']",
                "{'a': 1}",
                "FRAME, FRAME",
                "pl.from_pandas(FRAME), FRAME",
            ),
            FORM,
        ),
        "recnb.ndcg(None)": "no list|type recnb.ndcg(['A', 'B', 'C'], {'A': 1})",
        "recnb.idcg({'a': 1}, {'a': 1})": "ranking is {'a': 1}",
        **each(
            "recnb.ndcg([1, {}])",
            (
                "-1",
                "math.nan",
                "math.inf",
                "None",
                "decimal.Decimal(1)",
                "[3]",
            ),
            "rank 2 is |from 0 up|such as 3",
        ),
        "recnb.ndcg([1, 10**101])": "rank 2 is |from 0 up|at most 1e+100",
        "recnb.ndcg([1, '3'])": "'3' is an item|type recnb.ndcg([1, '3'], {'3': 1})",
        "recnb.precision(['a', 'b'], k=2)": (
            "'a' is an item|relevant was not given|recnb.precision(['a', 'b'], {'a': 1})"
        ),
        "recnb.ndcg(['a'], {'a': -1})": "item 'a'|-1",
        "recnb.ndcg(['a'], {'b': 1, 'a': math.nan})": "item 'a'|nan",
        "recnb.ndcg([['a'], ['b']], [['a']])": "2 rankings|1 truths|one truth for each",
        "recnb.ndcg([['a'], 'b'], ['a'])": "ranking|['a']|cannot be an item",
        "recnb.ndcg(['a'], [['a']])": "truth|['a']|cannot be an item",
        "recnb.ndcg([])": "empty|[3, 2, 0, 1]",
        "recnb.ndcg([[3], []])": "empty|[3, 2, 0, 1]",
        "recnb.ndcg(['a', None], ['a'])": "ranking|missing|None",
        "recnb.ndcg(['a'], [math.nan, 'a'])": "truth|missing|nan",
        "recnb.ndcg(['a', pd.NA], ['a'])": "ranking|missing|<NA>",
        "recnb.ndcg([1, 2], {'1': 3})": "1 and the truth '1'|never match|dict(zip(items, grades))",
        "recnb.ndcg(['7', '8'], np.array([8, 9]))": "'7'|8|never match",
        "recnb.ndcg(['a', 'b', 'c'], [3, 2, 1])": "never match",
        "recnb.ndcg(['a', 'b'], [('b', 2)])": "never match",
        "recnb.ndcg([('a', 0.3), ('b', 0.9)], ['b'])": "never match",
        "recnb.explain('ndcg', [['a'], ['b']], [['a'], ['b']])": "one list|2 were given",
        "recnb.precision([*TUPLES[0], ('e', 'f')], TUPLES[1], k=1)": "may be items or whole lists",
        "recnb.ndcg([], [('a', 1)])": "hold tuples, such as ('a', 1)",
        **each(
            "recnb.ndcg({})",
            ("y_true=[1, 0]", "y_score=[1, 0]", "[1], y_true=[1], y_score=[1]"),
            "go together",
        ),
        "recnb.ndcg(y_true=[1, 0], y_score=[1])": "y_true has 2 values, and y_score 1",
        **each(
            "recnb.ndcg(y_true=[1, 0], y_score=[1, {}])",
            ("math.nan", "'a'", "None", "True", "[1]"),
            "y_score holds |a finite number",
        ),
        "recnb.ndcg(y_true=[1, -2], y_score=[2, 1])": "-2",
        "recnb.ndcg(y_true=[], y_score=[])": "empty",
        "recnb.ndcg(y_true=1, y_score=1)": "y_true is 1",
        "recnb.ndcg(y_true=[[1, 0], [0, 1]], y_score=[2, 1])": "the relevance at rank 1 is",
    },
}


@pytest.mark.parametrize(
    ("kind", "call"), [(kind, call) for kind, calls in TOLD.items() for call in calls]
)
def test_it_is_told_what_to_type(kind: type[RecnbError], call: str) -> None:
    refused(lambda: eval(call), kind, *TOLD[kind][call].split("|"))


# Lists of numbers: grades and scores, or ids

POSITIONS: list[tuple[Any, Any]] = [
    ([3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7]),
    ([3, 0, 2, 1, 0], [5, 4, 3, 2, 1]),
    ([True, False], [0.3, 0.9]),
    ([1, 0, 2], [0.2, 1.0, 0.5]),
    ([1, 2], [3, 4]),
    ([5, 4, 3], [3, 4, 9]),
    ([7], [7]),
    ([3, 2, 0, 1], [3, 2, 1, 0]),
]
FORMS: list[Any] = [
    list,
    np.array,
    pd.Series,
    iter,
    lambda values: [values],
    lambda values: np.array([values]),
]


@pytest.mark.parametrize(("ranking", "truth"), POSITIONS)
def test_grades_and_scores_by_position_are_not_taken_for_items(
    ranking: Any, truth: Any
) -> None:
    words = (
        "hold numbers",
        "recnb.ndcg(y_true=..., y_score=...)",
        "if they are ids of items",
        "set(truth)",
    )
    for form in FORMS:
        refused(
            lambda form=form: recnb.ndcg(form(ranking), form(truth)), RecnbError, *words
        )
    for odd in (([0.5, 2.0], {2, 3}), ([True], {1, 2}), (ranking[:1], [0.5, 2.5])):
        refused(lambda odd=odd: recnb.ndcg(*odd), RecnbError, *words)


@pytest.mark.parametrize("kind", [list, set, lambda items: dict.fromkeys(items, 2.0)])
def test_items_that_cannot_be_compared_are_refused(kind: Any) -> None:
    ranking, truth = np.array([1, 0]), kind([decimal.Decimal(1)])
    calls: list[Callable[[], object]] = [
        lambda: recnb.ndcg(ranking, truth),
        lambda: recnb.precision([*truth, 0], ranking[:1]),
        lambda: recnb.ndcg([*truth, *ranking], []),
        lambda: recnb.ndcg([ranking, ranking], [truth, truth]),
        lambda: recnb.playground(list(ranking), truth),
    ]
    for call in calls:
        refused(
            call, RecnbError, "cannot be an item: ", "[str(item) for item in items]"
        )


# What is advised is run

#: Two lists of three; u finds b at rank 2, v at rank 1: the mean reciprocal rank is
#: 3/4.
DATA = """
recs = pd.DataFrame({"user": list("uuuvvv"), "item": list("abcbca"), "rank": [1, 2, 3, 1, 2, 3]})
truth = pd.DataFrame({"user": ["u", "v"], "item": ["b", "b"], "relevance": [1, 1]})
scored = recs.assign(score=4.0 - recs["rank"]).drop(columns="rank")
ev = recnb.evaluate(recs, truth)
"""
MRR = "recnb.evaluate(recs, truth).mrr()"


class Model:
    """Scores under which user 0 gets item 1 second and user 1 gets it first."""

    def __init__(self, changed: Callable[[Any], Any] = lambda scores: scores) -> None:
        self.changed = changed

    def predict(self, user: int) -> Any:
        return self.changed(np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])[user])


@dataclass(frozen=True)
class Case:
    """Data, the call that it makes fail, what the message advises, and what that comes
    to.
    """

    data: str  #: code that changes DATA
    fails: str  #: an expression
    advice: str  #: a pattern of the message, whose groups are the code advised
    follow: str  #: code with {} in place of what is advised; it may set what `then` asks for
    then: str = ""  #: an expression; that which failed, unless given
    right: Any = 0.75


def keyword(
    data: str,
    advice: str,
    call: str = "recnb.evaluate(recs, truth, **more).mrr()",
    right: Any = 0.75,
) -> Case:
    """The advice is a keyword for the same call."""
    return Case(f"{data}\nmore = {{}}", call, advice, "more = dict({})", "", right)


#: In fold 2 u finds b at rank 2 and v at rank 3: the mean over four lists is 7/12.
FOLDS = """
other = recs.assign(rank=4 - recs["rank"])
recs = pd.concat([recs.assign(fold=1), other.assign(fold=2)])
truth = pd.concat([truth.assign(fold=1), truth.assign(fold=2)])
"""
#: The items of fold 2 are others, so no pair is repeated.
OTHER_ITEMS = """
for frame in (recs, truth):
    frame["item"] += frame["fold"].astype(str)
"""


def in_folds(change: str, problem: str) -> Case:
    """The rows are lists of two folds, and the advice is to say so."""
    return keyword(
        f"{FOLDS}{change}", rf"{problem}.* such as (split='fold')\.$", right=7 / 12
    )


CASES = {
    # ---- rows and columns of frames
    "ranks below 0": keyword(
        'recs["rank"] *= -1', r"If it is a score, say so: (.+?)\.$"
    ),
    "a relevance below 0, counted as 0": keyword(
        'truth.loc[2] = ["u", "a", -1]', r"not judged, say (.+?), as"
    ),
    "a relevance below 0, as in trec_eval": keyword(
        'truth.loc[2] = ["u", "a", -1]', r", as (.+?) does", right=0.75
    ),
    "metrics of an evaluation": Case(
        "",
        "recnb.evaluate(recs, truth, metrics=['AP'])",
        r"Type (.+?), or",
        "ev = recnb.evaluate(recs, truth); found = {}",
        "found.loc['AP', 'mean']",
    ),
    "a pair that is repeated, kept once": keyword(
        'recs.loc[6] = ["u", "b", 4]', r"or say (.+?) to keep"
    ),
    "segments by the numbers of rows": Case(
        "users = pd.DataFrame(dict(user=list('uv'), city=list('xy'))); by = users['city']",
        "ev.table('mrr', k=3, by=by).xs('x', level='city')['mean'].item()",
        r"Put the users on its index, (.+?)\.$",
        "by = {}",
        "",
        0.5,
    ),
    "segments by a frame": Case(
        "frame = pd.DataFrame(dict(user=list('uv'), city='y'))",
        "ev.table('mrr', k=3, by=frame)",
        r"column of (.+?), or",
        "ev = {}",
        "ev.table('mrr', k=3, by='city')['mean'].item()",
    ),
    "rank and score that disagree": keyword(
        'recs["score"] = recs["rank"]', r"Say which one is the order: (order='rank') or"
    ),
    "rank and score that disagree, by score": keyword(
        'recs["score"] = recs["rank"]',
        r" or (order='score')\.$",
        right=(1 / 2 + 1 / 3) / 2,
    ),
    "a pair that is repeated in folds": in_folds("", r"pairs of user and item are"),
    "a rank that is repeated in folds": in_folds(OTHER_ITEMS, r"gives a rank twice"),
    "a rank that is repeated in folds, with scores on other scales": in_folds(
        f"{OTHER_ITEMS}\nrecs['score'] = (4 - recs['rank']) / recs['fold'] ** 9",
        r"'rank' and 'score' disagree",
    ),
    "no order": keyword(
        'recs = recs.drop(columns="rank")', r"rank order already, (.+?)\.$"
    ),
    "an order that has no column": Case(
        'recs = scored.rename(columns=dict(score="s")); more = {}',
        "recnb.evaluate(recs, truth, order='score', **more).mrr()",
        r"say (score='\.\.\.')",
        "more = dict({}); more['score'] = 's'",
    ),
    "columns that are not found": keyword(
        'recs = scored.rename(columns=dict(user="who", item="ware", score="points"))',
        r"Say which: (.+?)\.$",
    ),
    "a column with another name in each frame": Case(
        'recs, truth = recs.rename(columns=dict(user="cust")), '
        'truth.rename(columns=dict(user="uuid")); more = dict(user="cust")',
        "recnb.evaluate(recs, truth, **more).mrr()",
        r"Name each: (user=\['cust', 'uuid'\])\.$",
        "more = dict({})",
    ),
    "a frame beside with another name": Case(
        'items = pd.DataFrame(dict(product_name=list("ABC"), uuid=list("abc"))); more = {}',
        "recnb.evaluate(recs, truth, items=items, **more).mrr()",
        r"Say which: (item='uuid')\.$",
        "more = dict({})",
    ),
    "a column named by a number": Case(
        'recs.columns = ["user", 0, "rank"]; more = dict(item=0)',
        "recnb.evaluate(recs, truth, **more).mrr()",
        r"If yours are not: (.+?)\.$",
        "frame = recs; {}; more = dict(item='0')",
    ),
    "a column for two roles": Case(
        'recs = recs.rename(columns=dict(item="item_id")); more = dict(item="user")',
        "recnb.evaluate(recs, truth, **more).mrr()",
        r"for one, (item='\.\.\.')",
        "more = dict({}); more['item'] = 'item_id'",
    ),
    "ids in the index": Case(
        'recs = recs.set_index("user")',
        MRR,
        r"type (.+?) to make columns",
        "recs = recs{}",
    ),
    "one frame that lacks a side": Case(
        "frame = recs",
        "recnb.evaluate(frame).mrr()",
        r"the other frame as well, (.+?)\.$",
        "result = {}.mrr()",
        "result",
    ),
    "one frame whose relevance has another name": Case(
        "frame = recs.merge(truth, how='left').fillna(0); "
        "frame = frame.rename(columns=dict(relevance='stars')); more = {}",
        "recnb.evaluate(frame, **more).mrr()",
        r"Say which: (.+?)\. Or",
        "more = dict({})",
    ),
    "lists of several models, compared": Case(
        'recs = pd.concat([recs.assign(model="A"), recs.assign(model="B", rank=4 - recs["rank"])])',
        MRR,
        r"compare them, (.+?), or",
        "result = {}.table('mrr')['reciprocal_rank'].to_dict()",
        "result",
        {"A": 0.75, "B": (1 / 2 + 1 / 3) / 2},
    ),
    # ---- conventions
    "a catalogue and its ties": Case(
        'more = dict(ties="item_asc")',
        "recnb.evaluate(recs, truth, candidates='catalogue', **more).mrr()",
        r"goes with (ties='first')",
        "more = dict({})",
    ),
    "ties and single hits": Case(
        'more = dict(duplicates="hit_once")',
        "recnb.evaluate(scored, truth, ties='expected', **more).mrr()",
        r"choose (duplicates='dedupe')",
        "more = dict({})",
    ),
    "ties and a preferred item": Case(
        'more = dict(ties="expected")',
        "recnb.evaluate(scored, truth, **more).mrr(target='preferred')",
        r"choose (ties='first')",
        "more = dict({})",
    ),
    "ties and ERR": Case(
        'more = dict(ties="expected")',
        "recnb.evaluate(scored, truth, **more).err()",
        r"choose (ties='first')",
        "more = dict({})",
        right=(1 / 4 + 1 / 2) / 2,
    ),
    "ties and an explanation": Case(
        'scored["score"] = 1.0; more = dict(ties="expected")',
        "recnb.evaluate(scored, truth, **more).explain('mrr', 'u').value",
        r"choose (ties='first')",
        "more = dict({})",
        right=0.5,
    ),
    "ties and serendipity explained": Case(
        'more = dict(ties="expected")',
        "recnb.evaluate(scored, truth, train=recs.replace(list('uv'), "
        "list('xy')), **more).explain('serendipity', 'v', k=1).value",
        r"choose (ties='first')",
        "more = dict({})",
        right=1.0,
    ),
    "models in a list": Case(
        "recs_a, recs_b = recs, recs; models = [recs, recs]",
        "recnb.compare(models, truth)",
        r"give each a name, (recnb\.compare\(.+?\}, truth\))",
        "result = {}.table('mrr').loc['a'].item()",
        "result",
    ),
    "predictions of models in columns": Case(
        "frame = recs.merge(truth.assign(relevance=1), "
        "how='left').fillna(0).drop(columns='rank').assign(pred_a=range(len(recs)), "
        "pred_b=0)",
        "recnb.compare(frame)",
        r"compare\(frame, score=(\[.+?\])\)",
        "result = [*{}]",
        "result",
        ["pred_a", "pred_b"],
    ),
    "parts of one run as models": Case(
        "import tempfile, os; from tests.kernels import FOLDER; here = "
        "os.getcwd(); folder = tempfile.mkdtemp(dir=os.environ[FOLDER]); "
        "[pl.from_pandas(recs[recs['user'] == "
        "user]).write_parquet(f'{folder}/recs_{user}.parquet') for user in 'uv']",
        "recnb.compare(dict(a=recs[:3], b=recs[3:]), truth)",
        r"in quotes, (.+?)\.$",
        "os.chdir(folder); result = {}.mrr(); os.chdir(here)",
        "result",
    ),
    # ---- lists and groups
    "grades and scores by position": Case(
        "ranking, truth = [3, 0, 2], [0.2, 0.9, 0.5]",
        "recnb.mrr(ranking, truth)",
        r"type (recnb\.reciprocal_rank\(y_true=\.\.\., y_score=\.\.\.\));",
        "result = eval('{}'.replace('true=...', "
        "'true=ranking').replace('score=...', 'score=truth'))",
        "result",
        0.5,
    ),
    "ids by position": Case(
        "ranking, truth = [3, 1, 2], [4, 5, 6]",
        "recnb.mrr(ranking, truth)",
        r"as a set, (.+?), or",
        "truth = {}",
        right=0.0,
    ),
    "labels and scores without users": Case(
        "y_true, y_score, sizes = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], [3, 2]",
        "recnb.evaluate(y_true, y_score)",
        r"and scores: (recnb\.evaluate_groups\(y_true, y_score, group=sizes\))",
        "result = {}.mrr()",
        "result",
        0.5,
    ),
    "a cut-off of an evaluation": Case(
        "more = dict(k=10)",
        "recnb.evaluate(recs, truth, **more).table().loc['reciprocal_rank'].item()",
        r"or (ev\.table\(.+\))\.$",
        "ev = recnb.evaluate(recs, truth); result = {}.loc['reciprocal_rank'].item()",
        "result",
        0.75,
    ),
    "rows without groups": Case(
        "y_true, y_score, more = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], {}",
        "recnb.evaluate_groups(y_true, y_score, **more).mrr()",
        r"needed once: (.+?), the rows",
        "more = dict({})",
        right=0.5,
    ),
    "labels and scores in other orders": Case(
        "y_true = pd.Series([3, 0], index=['a', 'b']); y_score = pd.Series([0.9, "
        "0.2], index=['b', 'a'])",
        "recnb.evaluate_groups(y_true, y_score, group=[2]).mrr()",
        r"in one, (.+?)\.$",
        "y_score = {}",
        right=0.5,
    ),
    "train without items": Case(
        "frame = pd.DataFrame(dict(user=['u', 'u'], goods=['a', 'b'], score=[2, "
        "1], relevance=[0, 1])); more = {}",
        "recnb.evaluate(frame, train=truth[['user', "
        "'item']].assign(user='v').replace('b', 'z'), **more).mrr()",
        r"Name it, (item='\.\.\.')",
        "frame, more = frame.rename(columns=dict(goods='what')), dict({}); "
        "more['item'] = 'what'; truth = truth.rename(columns=dict(item='item'))",
        right=0.5,
    ),
    # ---- metrics and their options
    "several cut-offs": Case(
        "more = [1, 3]",
        "ev.mrr(k=more)",
        r"type (\.table\(k=\[1, 3\]\))",
        "result = ev{}.loc['reciprocal_rank'].tolist()",
        "result",
        [0.5, 0.75],
    ),
    "a gain without bound": Case(
        "truth['relevance'] = 2000; more = dict(gain='exponential')",
        "recnb.evaluate(recs, truth).ndcg(**more)",
        r"use (gain='linear')",
        "more = dict({})",
        right=(1 / np.log2(3) + 1) / 2,
    ),
    "one list of a frame": Case(
        "k = 10",
        "recnb.mrr(recs, truth)",
        r"are evaluated by (.+?), and",
        "result = {}.mrr()",
        "result",
    ),
    "a Series as truth": Case(
        "likes = pd.Series([2, 1], index=['b', 'c'])",
        "recnb.mrr(['a', 'b'], likes)",
        r"or (series\.to_dict\(\))\.",
        "series = likes; result = recnb.mrr(['a', 'b'], {})",
        "result",
        0.5,
    ),
    "lists that are no frames": Case(
        "ranking, relevant = ['a', 'b'], ['b']",
        "recnb.evaluate(ranking, relevant)",
        r"For one list: (.+?);",
        "result = {}",
        "result",
        1 / np.log2(3),
    ),
    "tuples as items": Case(
        "ranking, truth = [('a', 'b'), ('c', 'd')], [('a', 'b'), ('x', 'y')]",
        "recnb.precision(ranking, truth, k=1)",
        r"as a set, (set\(truth\))",
        "result = recnb.precision(ranking, {}, k=1)",
        "result",
        1.0,
    ),
    "tuples as lists": Case(
        "ranking, truth = [('a', 'b'), ('c', 'd')], [('a', 'b'), ('x', 'y')]",
        "recnb.precision(ranking, truth, k=1)",
        r"lists of lists, (.+?);",
        "result = recnb.precision({}, truth, k=1)",
        "result",
        0.5,
    ),
    # ---- beyond accuracy
    "no user for novelty": Case(
        "ev = recnb.evaluate(recs, truth, train=recs); k = 2",
        "ev.explain('novelty', k=k).value",
        r"such as user=('u')",
        "result = ev.explain('novelty', {}, k=k).value",
        "result",
        0.0,
    ),
    "a user for coverage": Case(
        "ev = recnb.evaluate(recs, truth, train=recs)",
        "ev.explain('coverage', 'u', k=2).value",
        r"type \.(explain\(.+?\))\.",
        "result = ev.{}.value",
        "result",
        1.0,
    ),
    # ---- comparisons
    "one model": Case(
        "recs_a, recs_b = recs, recs",
        "recnb.compare(dict(a=recs), truth)",
        r"is given: (.+?)\.$",
        "result = {}.table('mrr').loc['a'].item()",
        "result",
    ),
    "coverage of users": Case(
        "found = recnb.compare(dict(a=recs, b=recs), truth, train=recs)",
        "found.differences('coverage', k=10)",
        r"each model is in (\.table\(\['coverage'\], k=10\))",
        "result = found{}.to_frame().loc['a'].item()",
        "result",
        1.0,
    ),
    # ---- segments, printed numbers, libraries
    "segments without train": Case(
        "users = truth; frame = recs",
        "ev.table(['mrr'], k=3, by='activity')",
        r"type (recs\.rec\.against\(truth, train=frame\))",
        "result = list({}.table(['mrr'], k=3, by='activity').n_users)",
        "result",
        [2],
    ),
    "segments without users": Case(
        "frame = pd.DataFrame(dict(user=list('uv'), age=['old', 'young']))",
        "ev.table(['mrr'], k=3, by='age')",
        r"known of them: (recs\.rec\.against\(truth, users=frame\))",
        "result = list({}.table(['mrr'], k=3, by='age').n_users)",
        "result",
        [1, 1],
    ),
    # ---- measures as text
    "judged items and ties": Case(
        'more = dict(ties="expected")',
        "recnb.evaluate(scored, truth, judged_only=True, **more).mrr()",
        r"choose (ties='first')",
        "more = dict({})",
        right=1.0,
    ),
    "a text that is no measure": Case(
        "ev = recnb.evaluate(recs, truth.assign(relevance=2)); more = 'AP@@5'",
        "ev.measure(more)",
        r"such as '(nDCG@10)', '(AP\(rel=2\))' or \"(nDCG\(.+?\)@10)\"",
        'result = [ev.measure(more) for more in ("{0}", "{1}", "{2}")]',
        "result",
        [(1 / np.log2(3) + 1) / 2, 0.75, (1 / np.log2(3) + 1) / 2],
    ),
    "a measure's threshold": Case(
        "ev = recnb.evaluate(recs, truth.assign(relevance=[1, 2])); more = 'rel=0'",
        "ev.measure(f'RR({more})')",
        r"such as (rel=2)",
        "more = '{}'",
        right=1.0,
    ),
    "a table of no measures": Case(
        "more = dict(names=[])",
        "ev.measures(**more).loc['nDCG@10', 'mean']",
        r"such as (names=\['nDCG@10'\])",
        "more = dict({})",
        right=(1 / np.log2(3) + 1) / 2,
    ),
    "an explanation of what is judged": Case(
        "",
        "ev.explain('judged', 'u', k=2)",
        r"see (\.measure\('judged@2'\)\.per_user)",
        "result = ev{}['u']",
        "result",
        0.5,
    ),
    "a report of a comparison with another threshold": Case(
        "truth.loc[2] = ['u', 'c', 2]; found = recnb.compare(dict(a=recs, b=recs[::-1]), truth)",
        "found.report(k=3, metrics=['rr', 'RR(rel=2)'])",
        r"ask for it by (\.table\(.+?\))\.$",
        "result = found{}['RR(rel=2)'].tolist()",
        "result",
        [1 / 3, 1 / 3],
    ),
    "segments by days": Case(
        "frame = pd.concat([truth.assign(item=f'x{day}', "
        "date=pd.Timestamp('2026-01-01') + pd.Timedelta(days=day)) for day in "
        "range(210)] + [truth.assign(date=pd.Timestamp('2026-01-01'))])",
        "recnb.evaluate(recs, frame).table('mrr', k=3, by='date')",
        r"periods, (.+?), and",
        "frame['week'] = 0; frame['date'] = pd.to_datetime(frame['date']); {}",
        "recnb.evaluate(recs, frame.drop(columns='date')).table('mrr', k=3, "
        "by='week')['mean'].iloc[0]",
    ),
    "a frame for each model, as users": Case(
        "models = dict(a=recs, b=recs)",
        "recnb.evaluate(models, truth)",
        r"compared by (recnb\.compare\(models, truth\))",
        "result = {}['b'].mrr()",
        "result",
    ),
    # ---- parts
    "a quiz of a seed and a list": Case(
        "",
        "recnb.quiz('mrr', 1, ['b'])",
        r"draws one: (.+?)\.$",
        "result = {}.value",
        "result",
        1.0,
    ),
    "movers by novelty": Case(
        "found = recnb.compare(dict(a=recs, b=recs), truth, train=recs)",
        "found.movers('novelty', k=2)",
        r"or (\.beyond\(k=10\))",
        "result = found{}.loc['a', 'novelty']",
        "result",
        0.0,
    ),
    "evaluations of two kinds of ids": Case(
        "recs['item'] = recs['item'].map(dict(a=1, b=2, c=3)); truth['item'] = 2; "
        "other = recs.astype(dict(item=str)), truth.astype(dict(item=str))",
        "recnb.compare(dict(a=recnb.evaluate(recs, truth), "
        "b=recnb.evaluate(*other))).table('mrr').loc['a'].item()",
        r"make them one kind, (.+?)\.$",
        "recs['item'], truth['item'] = recs['item']{0}, truth['item']{0}",
    ),
    "an option of the data": Case(
        "",
        "ev.mrr(relevant_from=1)",
        r"where the frames are: (.+?), recnb",
        "ev = eval('{}'.replace('...', '1'))",
        "ev.mrr()",
    ),
    "axes of a figure": Case(
        "import matplotlib.figure; axes = matplotlib.figure.Figure().subplots(1, 2)",
        "ev.table('mrr').plot(ax=axes)",
        r"such as (ax=axes\[0\])\.$",
        "more = dict({}); result = ev.table('mrr').plot(**more) is axes[0]",
        "result",
        True,
    ),
    "against something else": Case(
        "other = recs",
        "ev.detectable('mrr', against=recs)",
        r"such as (recnb\.evaluate\(other, truth\))",
        "result = ev.detectable('mrr', against={}).sd",
        "result",
        0.0,
    ),
    "a model that needs more than a user": Case(
        "class Other(MODEL):\n    def predict(self, user, items): return "
        "super().predict(user)\nmatrices, model = MATRICES, Other()",
        "recnb.evaluate_model(model, *matrices, metrics='mrr', k=3).to_numpy().item()",
        r"or (lambda user: model\.predict\(user, np\.arange\(n_items\)\)) for one of LightFM\.$",
        "n_items = 3; function = {}; result = recnb.evaluate_model(function, "
        "*matrices, metrics='mrr', k=3).to_numpy().item()",
        "result",
    ),
    "a spread": Case(
        "other = recs.assign(rank=4 - recs['rank']); sd = 'large'",
        "recnb.users_needed(0.1, sd)",
        r"or (ev\.detectable\('ndcg', k=10\))",
        "sd = {}; result = recnb.users_needed(0.1, sd) == recnb.users_needed(0.1, sd.sd)",
        "result",
        True,
    ),
    "a matrix that is dense": Case(
        "from scipy import sparse; import scipy.sparse; Model = MODEL; test, "
        "train = (one.toarray() for one in MATRICES)",
        "recnb.evaluate_model(Model(), test, sparse.csr_matrix(train), "
        "metrics='mrr', k=3).to_numpy().item()",
        r"holds numbers, (.+?)\.$",
        "test = {}",
    ),
    "scores that are sparse": Case(
        "from scipy import sparse; matrices = MATRICES; Model = MODEL; changed = "
        "lambda scores: sparse.csr_matrix(scores)",
        "recnb.evaluate_model(Model(changed), *matrices, metrics='mrr', k=3).to_numpy().item()",
        r"if it is sparse, (.+?)\. Give",
        "changed = lambda scores: sparse.csr_matrix(scores){}[0]",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_what_is_advised_works_and_gives_the_right_number(name: str) -> None:
    case = CASES[name]
    # What is relevant, and what users had: nothing.
    matrices = sparse.csr_matrix([[0, 1, 0], [0, 1, 0]]), sparse.csr_matrix((2, 3))
    space: dict[str, Any] = {
        "recnb": recnb,
        "pd": pd,
        "np": np,
        "pl": pl,
        "MODEL": Model,
        "MATRICES": matrices,
    }
    exec(DATA, space)
    exec(case.data, space)
    with pytest.raises(RecnbError) as raised:
        eval(case.fails, space)
    message, code = str(raised.value), case.follow
    advised = re.search(case.advice, message)
    assert advised, message
    for at, one in enumerate(advised.groups()):
        code = code.replace(f"{{{at}}}", one).replace("{}", one)
    exec(code, space)
    result = eval(case.then or case.fails, space)
    assert result == pytest.approx(case.right, abs=1e-12), f"{message}\n{code}"
