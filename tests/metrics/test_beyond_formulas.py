"""The formula of a metric beyond accuracy is the number: worked out by itself, and in every explanation."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.display.language import use_language
from recnb.errors import OptionError
from recnb.metrics import REFERENCES
from recnb.metrics.metric import LIST_METRICS
from recnb.results.explanation import column_label as header

RNG = np.random.default_rng(5)
LISTS = {user: RNG.permutation(20)[: RNG.integers(2, 7)].tolist() for user in range(15)}
RECS = pd.DataFrame([(u, i, r) for u, items in LISTS.items() for r, i in enumerate(items, 1)], columns=["user", "item", "rank"])  # fmt: skip
TRAIN = pd.DataFrame(sorted({(int(u), int(i)) for u, i in RNG.integers(0, (14, 18), size=(120, 2))}), columns=["user", "item"])  # fmt: skip
TRUTH = pd.DataFrame(sorted({(int(u), int(i)) for u, i in RNG.integers(0, (16, 20), size=(120, 2))}), columns=["user", "item"])  # fmt: skip
GENRES = {item: sorted(RNG.choice(list("pqr"), RNG.integers(1, 3), replace=False).tolist()) for item in range(20)}
ITEMS = pd.DataFrame({"item": list(GENRES), "genre": ["|".join(words) for words in GENRES.values()]})
EV = recnb.evaluate(RECS, TRUTH, train=TRAIN, items=ITEMS)
N_USERS = TRAIN["user"].nunique()
HAD = TRAIN["item"].value_counts().to_dict()
RELEVANT = set(map(tuple, TRUTH.to_numpy().tolist()))

Named = tuple[list[dict[str, float]], dict[str, float]]


def of_list(user: int, k: int | None, name: str) -> Named:
    """What the names of a formula stand for, in each row and in the denominator."""
    shown = LISTS.get(user, [])[:k]
    by_count = sorted(HAD, key=lambda item: (HAD[item], item))
    tail = set(by_count[: int(len(HAD) * 0.8)])
    below = {item: sum(n < HAD[item] for n in HAD.values()) for item in HAD}
    equal = {item: sum(n == HAD[item] for n in HAD.values()) for item in HAD}
    rows = []
    for item in shown:
        count = HAD.get(item, 1 if name == "novelty" else 0)
        total = len(HAD) if name == "popularity_rank" else N_USERS
        place = below[item] + (equal[item] + 1) / 2 if item in HAD else 0
        rows.append({"count": count, "total": total, "place": place, "tail": float(item in tail), "n_users": N_USERS})
    return rows, {"n_shown": len(shown), "k": len(shown) if k is None else k}


def of_pairs(user: int, k: int | None, name: str) -> Named:
    shown = LISTS[user][:k]
    rows = []
    for a, b in itertools.combinations(shown, 2):
        both, either = set(GENRES[a]) & set(GENRES[b]), set(GENRES[a]) | set(GENRES[b])
        cosine = len(both) / math.sqrt(len(GENRES[a]) * len(GENRES[b]))
        rows.append({"cosine": cosine, "jaccard": len(both) / len(either)})
    return rows, {"n_shown": len(shown)}


def of_hits(user: int, k: int | None, name: str) -> Named:
    shown = LISTS.get(user, [])
    depth = len(shown) if k is None else k
    mine = {item for u, item in TRAIN.to_numpy().tolist() if u == user}
    ranking = [i for i in sorted(range(20), key=lambda i: (-HAD.get(i, 0), i)) if i not in mine]
    hits = [item for item in shown[:depth] if (user, item) in RELEVANT]
    rows = [{"depth": depth, "expected_rank": 0 if item in mine else ranking.index(item) + 1} for item in hits]
    return rows, {"k": depth, "list_length": len(shown), "n_hits": len(rows)}


def of_genres(user: int, k: int | None, name: str) -> Named:
    history = [item for u, item in TRAIN.to_numpy().tolist() if u == user]

    def shares(items: list[int]) -> dict[str, float]:
        return {g: sum((g in GENRES[i]) / len(GENRES[i]) for i in items) / len(items) for g in "pqr"}

    p, q = shares(history), shares(LISTS[user][:k])
    return [{"p": p[g], "q": q[g], "alpha": 0.01} for g in "pqr" if (p[g] and q[g]) or p[g]], {}


def of_all(k: int | None, name: str) -> Named:
    times = [sum(item in items[:k] for items in LISTS.values()) for item in range(20)]
    places = sum(times)
    below: Mapping[str, float] = {"n_items": 20, "n_places": places, "n_different": sum(n > 0 for n in times)}
    if name == "personalization":
        sets = [set(items[:k]) for items in LISTS.values()]
        overlap = [len(a & b) / math.sqrt(len(a) * len(b)) for a, b in itertools.combinations(sets, 2)]
        return [{"overlap": one} for one in overlap], {"n_lists": len(sets)}
    rows = [
        {"times": n, "place": place, "share": n / places, "shown": float(n > 0), **below}
        for place, n in enumerate(sorted(times), 1)
        if n or name != "entropy"
    ]
    return rows, dict(below)


NAMES = {"list": of_list, "pairs": of_pairs, "hits": of_hits, "genres": of_genres}

CHOICES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in LIST_METRICS if name != "user_coverage"),
    ("novelty", {"normalize": True}),
    ("novelty", {"divisor": "k"}),
    ("diversity", {"distance": "jaccard"}),
    ("serendipity", {"out_of": "list"}),
    ("serendipity", {"out_of": "hits"}),
    ("coverage", {"normalize": False}),
]


@pytest.mark.parametrize("k", [2, 4, None])
@pytest.mark.parametrize(("name", "options"), CHOICES, ids=str)
def test_text_gives_the_value(name: str, options: dict[str, Any], k: int | None) -> None:
    metric = LIST_METRICS[name]
    term, out_of = metric.formulas(options)
    score = getattr(EV, name)(k=k, **options)
    users = [None] if metric.of == "all" else score.per_user.index.tolist()
    for user in users:
        rows, below = of_all(k, name) if user is None else NAMES[metric.over](user, k, name)
        over = math.fsum(float(term.value(row)) for row in rows)
        under = float(out_of.value(below))
        expected = over / under if under else 0
        value = float(score) if user is None else score.per_user[user]
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12), (user, rows)


def test_explanation_by_hand() -> None:
    recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
    train = pd.DataFrame({"user": [1, 2, 3, 4, 1, 5], "item": list("aaaacb")})
    explained = recnb.evaluate(recs, recs, train=train).explain("novelty", 1, k=2)
    assert explained.numbers == "(log2(5/4) + log2(5/1)) / 2 = 2.6439 / 2 = 1.3219"
    assert explained.to_frame()["term"].tolist() == ["log2(5/4)", "log2(5/1)"]
    assert recnb.evaluate(recs, recs, train=train).explain("coverage", k=2).numbers == "2 / 3 = 0.6667"


def test_entropy_of_one_item_is_zero_without_a_sign() -> None:
    recs = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rank": [1, 1]})
    ev = recnb.evaluate(recs, recs)
    assert math.copysign(1, float(ev.entropy(k=1))) == 1
    assert not np.signbit(ev.explain("entropy", k=1).to_frame()["credit"]).any()


@pytest.mark.parametrize("name", LIST_METRICS)
def test_no_credit_is_zero_with_a_sign(name: str) -> None:
    metric = LIST_METRICS[name]
    user = None if metric.of == "all" else int(EV.users[0])
    credit = EV.explain(name, user, k=3).to_frame()["credit"].to_numpy()
    assert not np.signbit(credit[credit == 0]).any()


def test_items_are_explained_the_most_shown_first() -> None:
    recs = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": list("abcbb"), "rank": [1, 2, 1, 2, 1]})
    ev = recnb.evaluate(recs, recs, train=recs)
    for name in ("coverage", "personalization"):
        explained = ev.explain(name, k=2).to_frame()
        assert explained["item"].tolist() == ["b", "a", "c"], name
        assert explained["times"].tolist() == [3, 1, 1]


def test_every_metric_is_described() -> None:
    for name, metric in LIST_METRICS.items():
        assert all((metric.called, metric.title, metric.reads)), name
        assert metric.title == (metric.function.__doc__ or "").split("\n")[0]
        assert set(metric.references) <= set(REFERENCES)


@pytest.mark.parametrize(("name", "options"), CHOICES, ids=str)
def test_latex_is_mathematics(name: str, options: dict[str, Any]) -> None:
    for lang in ("en", "ko"):
        with use_language(lang):
            latex = LIST_METRICS[name].latex(10, options)
        for opening, closing in ("{}", "()", "[]"):
            assert latex.count(opening) == latex.count(closing), latex
        assert "*" not in latex
        assert not re.search(r"[A-Za-z]_[A-Za-z]", latex), latex


def test_an_explanation_keeps_its_language() -> None:
    with use_language("ko"):
        explained = EV.explain("novelty", 0, k=3)
        basis = EV.coverage(k=3).basis
    assert "사용자 0의 Novelty@3" in repr(explained)
    assert "보유 수" in explained._repr_html_()
    assert "아이템 20개" in basis
    assert repr(EV.explain("novelty", 0, k=3, lang="ko")) == repr(explained)


def test_a_column_without_a_title_of_its_own_is_named_as_in_the_formula() -> None:
    with use_language("ko"):
        for name in {name for metric in LIST_METRICS.values() for name in metric.formulas()[0].names()} - {
            "alpha",
        }:
            assert re.search("[가-힣]", header(name)), name
    assert header("n_items") == "n_items"


def test_ends_of_the_scales() -> None:
    everyone = [(u, i, r) for u in range(4) for r, i in enumerate(range(4), 1)]
    even = pd.DataFrame(everyone, columns=["user", "item", "rank"])
    ev = recnb.evaluate(even, even, train=even, items=pd.DataFrame({"item": range(4), "genre": list("wxyz")}))
    for name, end in {
        "coverage": 1,
        "novelty": 0,
        "popularity": 1,
        "calibration": 0,
        "serendipity": 0,
        "diversity": 1,
    }.items():
        assert float(getattr(ev, name)()) == pytest.approx(end, abs=1e-12), name
    for k in (1, 2, 4, None):
        assert EV.serendipity(k=k) <= EV.precision(k=k)
        assert EV.calibration(k=k).per_user.max() <= math.log2(100) + 1e-9


def test_ties_are_averaged_where_hits_count() -> None:
    """Two orders of two equal scores: the unexpected hit is first in one of them."""
    recs = pd.DataFrame({"user": [1, 1], "item": ["f", "g"], "score": [1.0, 1.0]})
    truth = pd.DataFrame({"user": [1], "item": ["f"]})
    ev = recnb.evaluate(recs, truth, train=pd.DataFrame({"user": [2], "item": ["a"]}), ties="expected")
    assert ev.serendipity(k=1) == 1 / 2
    with pytest.raises(OptionError, match="averages many orders"):
        ev.explain("serendipity", 1, k=1)
