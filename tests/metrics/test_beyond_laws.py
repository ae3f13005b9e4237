"""Metrics beyond accuracy against plain loops over users, items and pairs, and the ends
of their scales.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

import recnb
from recnb.beyond import diversity as diversity_module
from recnb.errors import NoUsersError, RecnbError
from recnb.metrics.metric import LIST_METRICS
from tests.presets import described
from tests.reference import ratio
from tests.strategies import values_of

Options = dict[str, Any]
Values = dict[Any, float]

ITEMS, USERS = range(8), range(6)


@dataclass(frozen=True)
class Data:
    """Lists (None is an empty place), train, features, a catalogue and a truth."""

    lists: dict[Any, list[Any]]
    train: list[tuple[Any, Any]]
    features: dict[Any, list[float]]
    catalogue: list[Any]
    truth: list[tuple[Any, Any]]

    def score(self, name: str, k: int | None = None, **options: Any) -> Any:
        rows = [
            (u, i, r)
            for u, items in self.lists.items()
            for r, i in enumerate(items, 1)
            if i is not None
        ]
        recs = pd.DataFrame(rows, columns=["user", "item", "rank"])
        train, truth = (
            pd.DataFrame(pairs, columns=["user", "item"])
            for pairs in (self.train, sorted({*self.truth}))
        )
        items = pd.DataFrame({"item": self.catalogue})
        if name == "diversity":
            options = {**described(self.features), **options}
            items = options.pop("items")
        if name == "calibration":
            tags = [self.genres(item) for item in self.features]
            items = pd.DataFrame({"item": [*self.features], "tags": tags})
        ev = recnb.evaluate(recs, truth, train=train, items=items)
        return getattr(ev, name)(k=k, **options)

    def genres(self, item: Any) -> list[str]:
        """Those of positive features."""
        named = zip("xyz", self.features[item], strict=True)
        return [genre for genre, value in named if value > 0]

    def had(self, user: Any) -> set[Any]:
        return {item for one, item in self.train if one == user}

    def shown(self, k: int | None, options: Options) -> dict[Any, list[Any]]:
        """The items that count, of users who have some; a list that starts below k
        holds nothing.
        """
        depth = None if options.get("cutoff") == "none" else k
        found = {
            user: [item for item in items[:depth] if item is not None]
            for user, items in self.lists.items()
        }
        return {user: items for user, items in found.items() if items}


@st.composite
def data(draw: st.DrawFn) -> Data:
    places = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=6, unique=True)
    lists: dict[Any, list[Any]] = draw(
        st.dictionaries(st.sampled_from(USERS), places, min_size=1, max_size=5)
    )
    for items in lists.values():
        for place in draw(st.lists(st.integers(0, len(items)), max_size=2)):
            items.insert(place, None)
        while items[-1] is None:
            items.pop()
    pair = st.tuples(st.sampled_from(USERS), st.sampled_from(ITEMS))
    train, truth = (
        draw(st.lists(pair, min_size=1, max_size=20)) for _frame in range(2)
    )
    truth.append((min(lists), 0))  # some user is in lists and truth
    values = draw(st.sampled_from([(0, 1), (0, 1, 2, -1.5)]))
    vectors = st.lists(st.sampled_from(values), min_size=3, max_size=3)
    features = {item: draw(vectors) for item in ITEMS}
    catalogue = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=8, unique=True)
    return Data(lists, train, features, draw(catalogue), truth)


def choices(name: str) -> st.SearchStrategy[Options]:
    return st.fixed_dictionaries(
        {
            option: st.sampled_from(values)
            for option, values in values_of(LIST_METRICS[name]).items()
            if values != (None,)  # which names columns
        }
    )


def of_items(name: str, options: Options, held: Data, k: int | None) -> Values:
    """The mean of what each item of a list is worth."""
    rows, users = [i for _, i in held.train], {u for u, _ in held.train}
    had = {item: len({u for u, i in held.train if i == item}) for item in ITEMS}
    times = {item: rows.count(item) for item in ITEMS}
    by_users = options.get("popularity", "users") == "users"
    count, total = (had, len(users)) if by_users else (times, len(rows))
    of_train = sorted((n, i) for i, n in times.items() if n)
    tail = [
        i for _, i in of_train[: max(int(len(of_train) * options.get("ratio", 1)), 1)]
    ]

    def worth(item: Any) -> float:
        if name == "tail_share":
            return item in tail
        if name == "popularity_rank":
            positive = sorted(n for n in had.values() if n)
            same = [place for place, n in enumerate(positive, 1) if n == had[item]]
            return sum(same) / len(same) / len(positive) if same else 0.0
        if name == "popularity":
            return count[item] / {"count": 1, "max": max(times.values())}.get(
                options["popularity"], total
            )
        most = math.log2(len(users)) if options["normalize"] else 1
        return math.log2(total / count[item] if count[item] else len(users)) / most

    if options.get("normalize") and len(users) == 1:
        return {}  # log2 of one user is 0, and nothing is divided by it
    found = {}
    for user, items in held.shown(k, options).items():
        kept = [
            worth(item)
            for item in items
            if count[item] or options.get("cold") != "drop"
        ]
        out_of = (k or len(items)) if options.get("divisor") == "k" else len(kept)
        found[user] = sum(kept) / out_of if out_of else math.nan
    return found


def apart(a: list[float], b: list[float], distance: str) -> float:
    if distance == "cosine":
        lengths = math.hypot(*a) * math.hypot(*b)
        return 1 - (
            sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0
        )
    either = sum(x != 0 or y != 0 for x, y in zip(a, b, strict=True))
    return (
        1 - sum(x != 0 and y != 0 for x, y in zip(a, b, strict=True)) / either
        if either
        else 0
    )


def of_pairs(options: Options, held: Data, k: int | None) -> Values:
    found = {}
    for user, items in held.shown(k, options).items():
        pairs = itertools.combinations([held.features[item] for item in items], 2)
        each = [apart(*pair, options["distance"]) for pair in pairs]
        if each or options["single"] == "zero":
            found[user] = sum(each) / len(each) if each else 0.0
    return found


def of_hits(options: Options, held: Data, k: int | None) -> Values:
    """Hits that a list of the most popular items, without what the user had, lacks."""
    rows = [item for _user, item in held.train]
    ranking = sorted({*rows}, key=lambda item: (-rows.count(item), item))
    found = {}
    for user in {user for user, _item in held.truth}:
        items, had = held.lists.get(user, []), held.had(user)
        size = k or len(items)
        popular = [item for item in ranking if item not in had][:size]
        hits = [item for item in items[:k] if (user, item) in held.truth]
        unexpected = [item for item in hits if item not in {*popular, *had}]
        found[user] = ratio(len(unexpected), size)
    return found


def of_genres(options: Options, held: Data, k: int | None) -> Values:
    """The divergence of the genres of a list from those of what its user had."""

    def shares(items: Any) -> dict[str, float]:
        weights = dict.fromkeys("xyz", 0.0)
        for item in items:
            for genre in held.genres(item):
                weights[genre] += 1 / len(held.genres(item))
        whole = sum(weights.values())
        return {genre: weight / whole for genre, weight in weights.items() if whole}

    found, alpha = {}, options["alpha"]
    for user, items in held.shown(k, options).items():
        p, q = shares(held.had(user)), shares(items)
        if p and q:
            found[user] = sum(
                p[genre]
                * math.log2(p[genre] / ((1 - alpha) * q[genre] + alpha * p[genre]))
                for genre in "xyz"
                if p[genre]
            )
    return found


def of_users(options: Options, held: Data, k: int | None) -> Values:
    """Whether a user is shown anything."""
    shown = held.shown(k, options)
    return {user: float(user in shown) for user, _item in held.truth}


#: Metrics with loops of their own; the others are means over the items of a list.
LOOPS = {
    "diversity": of_pairs,
    "serendipity": of_hits,
    "calibration": of_genres,
    "user_coverage": of_users,
}


def of_all(name: str, options: Options, held: Data, k: int | None) -> float | None:
    """The one number; None where it is refused."""
    lists = [set(items) for items in held.shown(k, options).values()]
    times = {item: sum(item in one for one in lists) for item in ITEMS}
    everything = (
        {i for _, i in held.train}
        if options.get("population") == "train"
        else set(held.catalogue)
    )
    n = len(everything) + (options.get("population") == "catalogue+padding")
    counts = sorted(count for count in times.values() if count)
    if name == "coverage":
        counted = {item for item in ITEMS if times[item]} & (
            everything if options["count_only_catalogue"] else {*ITEMS}
        )
        return len(counted) / (n if options["normalize"] else 1)
    if name == "personalization":
        overlap = [
            len(a & b) / math.sqrt(len(a) * len(b))
            for a, b in itertools.combinations(lists, 2)
        ]
        return 1 - sum(overlap) / len(overlap) if overlap else math.nan
    if name == "entropy":
        return (
            -sum(one / sum(counts) * math.log2(one / sum(counts)) for one in counts)
            if counts
            else math.nan
        )
    if len(counts) > n:
        return None
    values = [0] * (n - len(counts)) + counts
    return (
        sum(abs(a - b) for a, b in itertools.combinations(values, 2))
        / (n * sum(values))
        if counts
        else math.nan
    )


def close(wanted: Any) -> Any:
    return pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True)


#: Of one user in train, whose novelty would be divided by log2(1); one list is all cold.
ONE_USER = Data(
    {0: [0], 1: [1]}, [(0, 0)], {item: [0.0] * 3 for item in ITEMS}, [0], [(0, 0)]
)
NORMALIZED = {
    "popularity": "users",
    "cold": "drop",
    "divisor": "k",
    "normalize": True,
    "cutoff": "none",
}


@given(
    data(),
    st.sampled_from([1, 2, 3, 5, None]),
    st.fixed_dictionaries({name: choices(name) for name in LIST_METRICS}),
    st.sampled_from([diversity_module.BLOCK, 5, 1]),
)
@example(ONE_USER, 1, {"novelty": NORMALIZED}, 1)
def test_equals_the_plain_loops(
    held: Data, k: int | None, chosen: dict[str, Options], block: int
) -> None:
    for name, options in chosen.items():
        note(f"{name} {options}")
        score: Any
        try:
            with patch.object(diversity_module, "BLOCK", block):
                score = held.score(name, k, **options)
        except RecnbError as refused:
            score = refused
        if LIST_METRICS[name].of == "all":
            whole = of_all(name, options, held, k)
            if whole is None:
                assert "items are recommended and" in str(score)
            else:
                assert score == close(whole)
            continue
        found = LOOPS.get(name, partial(of_items, name))(options, held, k)
        values = {user: one for user, one in found.items() if not math.isnan(one)}
        if values:
            assert score.per_user.dropna().to_dict() == close(values)
            assert float(score) == close(sum(values.values()) / len(values))
        else:
            assert isinstance(score, NoUsersError)
