"""Metrics beyond accuracy against plain loops over users, items and pairs, and the ends
of their scales.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

import recnb
from recnb.beyond import diversity as diversity_module
from recnb.conventions.presets import presets
from recnb.errors import NoUsersError, RecnbError
from recnb.metrics.metric import LIST_METRICS
from tests.conventions.test_presets import CASES, ROWS
from tests.strategies import values_of

Options = dict[str, Any]
Values = dict[Any, float]

ITEMS, USERS = range(8), range(6)
#: Those of hits and genres have loops of their own below.
METRICS = {
    name: metric
    for name, metric in LIST_METRICS.items()
    if metric.over not in ("hits", "users", "genres")
}


@dataclass(frozen=True)
class Data:
    """Lists (None is an empty place), train, features and a catalogue."""

    lists: dict[Any, list[Any]]
    train: list[tuple[Any, Any]]
    features: dict[Any, list[float]]
    catalogue: list[Any]

    def score(self, name: str, k: int | None = None, **options: Any) -> Any:
        rows = [
            (u, i, r)
            for u, items in self.lists.items()
            for r, i in enumerate(items, 1)
            if i is not None
        ]
        recs, items = (
            pd.DataFrame(rows, columns=["user", "item", "rank"]),
            pd.DataFrame({"item": self.catalogue}),
        )
        if name == "diversity":
            items = (
                pd.DataFrame.from_dict(self.features, orient="index")
                .add_prefix("x")
                .astype(float)
            )
            options, items = (
                {"features": list(items), **options},
                items.rename_axis("item").reset_index(),
            )
        train = pd.DataFrame(self.train, columns=["user", "item"])
        return getattr(
            recnb.evaluate(recs, recs[["user", "item"]], train=train, items=items), name
        )(k=k, **options)

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
    train = draw(
        st.lists(
            st.tuples(st.sampled_from(USERS), st.sampled_from(ITEMS)),
            min_size=1,
            max_size=20,
        )
    )
    values = draw(st.sampled_from([(0, 1), (0, 1, 2, -1.5)]))
    vectors = st.lists(st.sampled_from(values), min_size=3, max_size=3)
    catalogue = draw(
        st.lists(st.sampled_from(ITEMS), min_size=1, max_size=8, unique=True)
    )
    return Data(lists, train, {item: draw(vectors) for item in ITEMS}, catalogue)


def choices(name: str) -> st.SearchStrategy[Options]:
    return st.fixed_dictionaries(
        {
            option: st.sampled_from(values)
            for option, values in values_of(METRICS[name]).items()
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
        cold = math.log2(len(users)) if options["cold"] == "log2(users)" else 0.0
        most = math.log2(len(users)) if options["normalize"] else 1
        return (math.log2(total / count[item]) if count[item] else cold) / most

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
    n = len(counts) if options["population"] == "recommended" else n
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
ONE_USER = Data({0: [0], 1: [1]}, [(0, 0)], {item: [0.0] * 3 for item in ITEMS}, [0])
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
    st.fixed_dictionaries({name: choices(name) for name in METRICS}),
)
@example(ONE_USER, 1, {"novelty": NORMALIZED})
@example(ONE_USER, 1, {"novelty": NORMALIZED | {"cold": "zero"}})
def test_equals_the_plain_loops(
    held: Data, k: int | None, chosen: dict[str, Options]
) -> None:
    for name, options in chosen.items():
        note(f"{name} {options}")
        if METRICS[name].of == "all":
            wanted = of_all(name, options, held, k)
            if wanted is None:
                with pytest.raises(RecnbError, match="items are recommended and"):
                    held.score(name, k, **options)
            else:
                assert float(held.score(name, k, **options)) == close(wanted)
            continue
        values = (
            of_pairs(options, held, k)
            if name == "diversity"
            else of_items(name, options, held, k)
        )
        values = {
            user: value for user, value in values.items() if not math.isnan(value)
        }
        if not values:
            with pytest.raises(NoUsersError):
                held.score(name, k, **options)
            continue
        score = held.score(name, k, **options)
        assert score.per_user.dropna().to_dict() == close(values)
        assert float(score) == close(sum(values.values()) / len(values))


def test_ends_of_the_scales() -> None:
    same = Data(
        {0: [1, 2], 1: [1, 2], 2: [2, 1]},
        [(0, 1)],
        {1: [1, 1], 2: [2, 2]},
        [1, 2, 3, 4],
    )
    for name, end in {"personalization": 0, "gini": 0.5, "entropy": 1}.items():
        assert float(same.score(name)) == close(end)
    assert same.score("diversity") == 0, "exactly, so that no sign shows"
    for size in (1e-200, 1.0, 1e200):  # whose squares vanish, or have no number
        scaled = Data({0: [1, 2]}, [(0, 1)], {1: [size, 0], 2: [size, size]}, [1, 2])
        assert float(scaled.score("diversity")) == close(1 - 1 / math.sqrt(2))


@pytest.mark.parametrize("k", [1, 3, None])
def test_serendipity_and_calibration_equal_plain_loops(k: int | None) -> None:
    rng = np.random.default_rng(7)
    lists = {
        user: rng.permutation(15)[: rng.integers(1, 7)].tolist() for user in range(30)
    }
    train, truth = (
        {(int(u), int(i)) for u, i in rng.integers(0, (31, 15), size=(150, 2))}
        for _ in range(2)
    )
    genres = {
        item: sorted(
            rng.choice(list("pqrs"), rng.integers(0, 4), replace=False).tolist()
        )
        for item in range(15)
    }
    recs = [(u, i, r) for u, items in lists.items() for r, i in enumerate(items, 1)]
    pairs = [
        pd.DataFrame(sorted(each), columns=["user", "item"]) for each in (truth, train)
    ]
    items = pd.DataFrame({"item": list(genres), "tags": list(genres.values())})
    ev = recnb.evaluate(
        pd.DataFrame(recs, columns=["user", "item", "rank"]),
        pairs[0],
        train=pairs[1],
        items=items,
    )
    ranking = sorted(
        range(15), key=lambda item: (-sum(i == item for _, i in train), item)
    )

    def shares(of: list[int]) -> dict[str, float]:
        weights = {
            genre: sum(1 / len(genres[i]) for i in of if genre in genres[i])
            for genre in "pqrs"
        }
        whole = sum(weights.values())
        return (
            {genre: weight / whole for genre, weight in weights.items()}
            if whole
            else {}
        )

    unexpected, miscalibrated = {}, {}
    for user in {u for u, _ in truth} | set(lists):
        shown, size = lists.get(user, [])[:k], k or len(lists.get(user, []))
        had = {i for u, i in train if u == user}
        popular = [item for item in ranking if item not in had][:size]
        hits = [
            item
            for item in shown
            if (user, item) in truth and item not in popular and item not in had
        ]
        if user in {u for u, _ in truth}:
            unexpected[user] = len(hits) / size if size else 0.0
        p, q = shares(sorted(had)), shares(shown)
        if p and q:
            miscalibrated[user] = sum(
                p[g] * math.log2(p[g] / (0.99 * q[g] + 0.01 * p[g]))
                for g in "pqrs"
                if p[g]
            )
    assert ev.serendipity(k=k).per_user.to_dict() == close(unexpected)
    assert ev.calibration(k=k).per_user.dropna().to_dict() == close(miscalibrated)


@pytest.mark.parametrize("distance", ["cosine", "jaccard"])
def test_blocks_change_nothing(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    lists = {
        user: rng.permutation(30)[: rng.integers(1, 9)].tolist() for user in range(40)
    }
    features = {item: rng.integers(0, 3, 5).tolist() for item in range(29)}
    features[29] = [0] * 5
    held = Data(lists, [(0, 0)], features, [0])
    for block in (diversity_module.BLOCK, 50, 1):
        monkeypatch.setattr(diversity_module, "BLOCK", block)
        found = held.score("diversity", distance=distance).per_user.dropna().to_dict()
        assert found == close(
            of_pairs({"distance": distance, "single": "skip"}, held, None)
        )


def test_no_credit_is_zero_without_a_sign() -> None:
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(
        sample.models["item-knn"], sample.test, train=sample.train, items=sample.items
    )
    for name, metric in LIST_METRICS.items():
        credit = (
            ev.explain(name, None if metric.of == "all" else ev.users[0], k=3)
            .rows["credit"]
            .to_numpy()
        )
        assert not np.signbit(credit[credit == 0]).any(), name
    of_one = Data({0: [1], 1: [1]}, [(0, 1)], {}, [1])
    assert math.copysign(1, of_one.score("entropy")) == 1


def test_ties_are_averaged_where_hits_count() -> None:
    """Two orders of two equal scores: the unexpected hit is first in one of them."""
    recs = pd.DataFrame({"user": [1, 1], "item": ["f", "g"], "score": [1.0, 1.0]})
    truth, train = (
        recs[["user", "item"]][:1],
        pd.DataFrame({"user": [2], "item": ["a"]}),
    )
    assert (
        recnb.evaluate(recs, truth, train=train, ties="expected").serendipity(k=1)
        == 1 / 2
    )


# What libraries returned: `as_in` returns the same

OF_LISTS = {key: one for key, one in presets().items() if one.metric in LIST_METRICS}

#: Cases where a library crashes and `as_in` has a number, since a crash is no
#: convention.
CRASHES = {
    (
        "recmetrics",
        "personalization",
    ): "b04_short_list",  # numpy makes no array of lists of unequal length
    ("recmetrics", "novelty"): "b02_cold_item",
    ("recmetrics", "novelty[cut]"): "b02_cold_item",
}


@pytest.mark.parametrize("key", OF_LISTS, ids=" ".join)
def test_the_number_that_the_library_returned(key: tuple[str, str]) -> None:
    assert len(ROWS[key]) >= 3
    for row in ROWS[key]:
        case: dict[str, Any] = CASES[row["case"]]
        frames = {name: pd.DataFrame(case[name]) for name in ("recs", "truth", "train")}
        items = pd.DataFrame({"item": case["catalog"]})
        features: dict[str, Any] = {}
        if OF_LISTS[key].metric == "diversity":
            items = (
                pd.DataFrame.from_dict(case["features"], orient="index")
                .add_prefix("x")
                .rename_axis("item")
            )
            items, features = items.reset_index(), {"features": list(items.columns)}
        k = case["k"] if OF_LISTS[key].uses_k else None
        value = recnb.as_in(*key, **frames, k=k, items=items, **features)
        if row["error"]:
            assert CRASHES[key] == row["case"]
            assert math.isfinite(value)
        else:
            assert value == pytest.approx(
                float(row["value"]), abs=OF_LISTS[key].tolerance, rel=0, nan_ok=True
            )
