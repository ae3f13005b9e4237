"""One example of four users, and every metric on it worked out by hand.

    user   list           relevance           hits (rank: relevance)
    ann    b x a y        a 3, b 2, c 1       1: 2, 3: 3
    bob    x d            d 1                 2: 1
    cat    none           e 2                 none
    dan    g f h i j      f 1, g 3            1: 3, 2: 1

Each row gives the values of ann, bob, cat and dan. L stands for 1/log2(3), the weight of rank 2; that of rank 1 is 1,
that of rank 3 is 1/log2(4) = 1/2.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import recnb

LISTS = {"ann": "bxay", "bob": "xd", "dan": "gfhij"}
TRUTH = {"ann": {"a": 3, "b": 2, "c": 1}, "bob": {"d": 1}, "cat": {"e": 2}, "dan": {"f": 1, "g": 3, "i": 0}}
RECS = pd.DataFrame(
    [(user, item, rank) for user, items in LISTS.items() for rank, item in enumerate(items, 1)],
    columns=["user", "item", "rank"],
)
RELEVANT = pd.DataFrame(
    [(user, item, grade) for user, truth in TRUTH.items() for item, grade in truth.items()],
    columns=["user", "item", "relevance"],
)

L = 1 / math.log2(3)
PLACES = 1 + L + 1 / 2  # three places as good as each other

ROWS: list[tuple[str, int | None, dict[str, Any], tuple[Any, Any, Any, Any]]] = [
    # hits out of 3, whatever the length of the list
    ("precision", 3, {}, (2 / 3, 1 / 3, 0, 2 / 3)),
    # bob's list has 2 places
    ("precision", 3, {"out_of": "list"}, (2 / 3, 1 / 2, 0, 2 / 3)),
    # bob could have found 1, dan 2
    ("precision", 3, {"out_of": "min(k, relevant)"}, (2 / 3, 1, 0, 1)),
    # whole lists of 4, 2, 0 and 5
    ("precision", None, {}, (2 / 4, 1 / 2, 0, 2 / 5)),
    ("recall", 3, {}, (2 / 3, 1, 0, 1)),
    ("recall", 1, {}, (1 / 3, 0, 0, 1 / 2)),
    # ann has 3 relevant items, but 2 places
    ("recall", 2, {"out_of": "min(k, relevant)"}, (1 / 2, 1, 0, 1)),
    ("recall", 10, {"out_of": "min(list, relevant)"}, (2 / 3, 1, 0, 1)),
    # 2 hits / (k + relevant): 4/(3+3), 2/(3+1), 0, 4/(3+2)
    ("f1", 3, {}, (2 / 3, 1 / 2, 0, 4 / 5)),
    # 5 hits / (k + 4 relevant): 10/(3+12), 5/(3+4), 0, 10/(3+8)
    ("fbeta", 3, {"beta": 2}, (10 / 15, 5 / 7, 0, 10 / 11)),
    ("hit_rate", 1, {}, (1, 0, 0, 1)),
    ("hit_rate", 3, {}, (1, 1, 0, 1)),
    ("reciprocal_rank", 3, {}, (1, 1 / 2, 0, 1)),
    ("mrr", 1, {}, (1, 0, 0, 1)),
    # ann prefers a, which stands third
    ("reciprocal_rank", 3, {"target": "preferred"}, (1 / 3, 1 / 2, 0, 1)),
    # ann (1/1 + 2/3) / 3, bob 1/2, dan (1/1 + 2/2) / 2
    ("average_precision", 3, {}, (5 / 9, 1 / 2, 0, 1)),
    # at 2, ann has 1/1 out of min(2, 3)
    ("map", 2, {"out_of": "min(k, relevant)"}, (1 / 2, 1 / 2, 0, 1)),
    ("average_precision", 3, {"out_of": "min(list, relevant)"}, (5 / 9, 1 / 2, 0, 1)),
    ("average_precision", 3, {"out_of": "hits"}, (5 / 6, 1 / 2, 0, 1)),
    ("average_precision", 3, {"out_of": "k"}, (5 / 9, 1 / 6, 0, 2 / 3)),
    ("average_precision", 3, {"out_of": "list"}, (5 / 9, 1 / 4, 0, 2 / 3)),
    ("cg", 3, {}, (5, 1, 0, 4)),
    # 2² - 1 + 2³ - 1, 2¹ - 1, 0, 2³ - 1 + 2¹ - 1
    ("cg", 3, {"gain": "exponential"}, (10, 1, 0, 8)),
    ("cg", 3, {"gain": "binary"}, (2, 1, 0, 2)),
    # ann 2·1 + 3·1/2, bob 1·L, dan 3·1 + 1·L
    ("dcg", 3, {}, (7 / 2, L, 0, 3 + L)),
    # ann 3·1 + 7·1/2, dan 7·1 + 1·L
    ("dcg", 3, {"gain": "exponential"}, (13 / 2, L, 0, 7 + L)),
    ("dcg", 3, {"gain": "binary"}, (3 / 2, L, 0, 1 + L)),
    # ann 2/1 + 3/3, bob 1/2, dan 3/1 + 1/2
    ("dcg", 3, {"discount": "rank"}, (3, 1 / 2, 0, 7 / 2)),
    # ranks 1 and 2 count whole, rank 3 is divided by log2(3)
    ("dcg", 3, {"discount": "clipped_log"}, (2 + 3 * L, 1, 0, 4)),
    # log4 is half of log2, so every weight doubles
    ("dcg", 3, {"log_base": 4}, (7, 2 * L, 0, 6 + 2 * L)),
    # ann's best list is a b c: 3·1 + 2·L + 1·1/2
    ("idcg", 3, {}, (3.5 + 2 * L, 1, 2, 3 + L)),
    ("idcg", 1, {}, (3, 1, 2, 3)),
    # cut where each list ends: ann at 4, bob at 2, cat at once
    ("idcg", None, {}, (3.5 + 2 * L, 1, 0, 3 + L)),
    ("idcg", 3, {"ideal": "k"}, (3 * PLACES, PLACES, 2 * PLACES, 3 * PLACES)),
    # ann was shown a and b alone
    ("idcg", 3, {"ideal": "list"}, (3 + 2 * L, 1, 0, 3 + L)),
    # as deep as 4, 2, 0 and 5 places, whatever the cut-off: all of the truth but cat's, who has no list
    ("idcg", 9, {"ideal": "min(k, list)"}, (3.5 + 2 * L, 1, 0, 3 + L)),
    ("ndcg", 9, {"ideal": "min(k, list)"}, (3.5 / (3.5 + 2 * L), L, 0, 1)),
    ("ndcg", 1, {"ideal": "min(k, list)"}, (2 / 3, 0, 0, 1)),
    ("ndcg", 3, {}, (3.5 / (3.5 + 2 * L), L, 0, 1)),
    # at 1: ann 2 of 3, although a stands in the list
    ("ndcg", 1, {}, (2 / 3, 0, 0, 1)),
    ("ndcg", 3, {"ideal": "list"}, (3.5 / (3 + 2 * L), L, 0, 1)),
    # the best order of the whole list is cut at 1, not the first place put in order
    ("ndcg", 1, {"ideal": "list"}, (2 / 3, 0, 0, 1)),
    ("ndcg", 3, {"ideal": "k"}, (3.5 / (3 * PLACES), L / PLACES, 0, (3 + L) / (3 * PLACES))),
    ("ndcg", 3, {"gain": "exponential"}, (6.5 / (7.5 + 3 * L), L, 0, 1)),
    # ranks 1 to 3 for ann, rank 1 for bob, ranks 1 and 2 for dan
    ("r_precision", None, {}, (2 / 3, 0, 0, 1)),
    ("r_precision", 1, {}, (1 / 3, 0, 0, 1 / 2)),
    # weights 1/2, 1/4, 1/8
    ("rbp", 3, {"p": 0.5}, (5 / 8, 1 / 4, 0, 3 / 4)),
    # the highest relevance is 3, so grades 1, 2, 3 stop a reader with chances 1/8, 3/8, 7/8:
    # ann 3/8 + 5/8·7/8/3, bob 1/8/2, dan 7/8 + 1/8·1/8/2
    ("err", 3, {}, (107 / 192, 1 / 16, 0, 113 / 128)),
    # chances 1/16, 3/16, 7/16: ann 3/16 + 13/16·7/16/3, bob 1/16/2, dan 7/16 + 9/16·1/16/2
    ("err", 3, {"max_relevance": 4}, (235 / 768, 1 / 32, 0, 233 / 512)),
]


@pytest.mark.parametrize(
    ("metric", "k", "options", "values"), ROWS, ids=lambda value: str(value) if not isinstance(value, tuple) else ""
)
def test_value(metric: str, k: int | None, options: dict[str, Any], values: tuple[Any, ...]) -> None:
    """The value of each user, and their mean, are those worked out above."""
    score = getattr(recnb.evaluate(RECS, RELEVANT), metric)(k=k, **options)
    expected = dict(zip(("ann", "bob", "cat", "dan"), map(float, values), strict=True))
    assert score.per_user.to_dict() == pytest.approx(expected, rel=1e-13, abs=1e-15)
    assert float(score) == pytest.approx(sum(expected.values()) / 4, rel=1e-13)


def test_user_without_relevant_items_is_left_out() -> None:
    """A fifth user, for whom nothing is relevant, changes no value and is counted."""
    eve = pd.DataFrame({"user": ["eve"], "item": ["a"], "rank": [1]})
    with_eve = recnb.evaluate(pd.concat([RECS, eve]), RELEVANT)
    assert with_eve.counts.n_without_relevant == 1
    assert with_eve.n_users == 4
    pd.testing.assert_series_equal(with_eve.ndcg(k=3).per_user, recnb.evaluate(RECS, RELEVANT).ndcg(k=3).per_user)
