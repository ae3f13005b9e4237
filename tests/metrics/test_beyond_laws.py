"""Metrics beyond accuracy against plain loops over users, items and pairs, and the laws that their values obey."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from scipy import sparse

from recnb.errors import RecnbError
from recnb.metrics import novelty as of_lists
from recnb.metrics import pairwise as of_pairs_module
from recnb.metrics.recommendation_lists import Lists
from tests.beyond import FORMULAS, Beyond

Options = dict[str, Any]


class RefusedError(Exception):
    """What the loops cannot give a number for."""


@dataclass(frozen=True)
class Data:
    """Lists (None is an empty place), train, features and a catalogue."""

    lists: dict[Any, list[Any]]
    train: list[tuple[Any, Any]]
    features: dict[Any, list[float]]
    catalogue: list[Any]

    def beyond(self) -> Beyond:
        rows = [(u, i, r) for u, items in self.lists.items() for r, i in enumerate(items, 1) if i is not None]
        return Beyond(
            pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"),
            pl.DataFrame(self.train, schema=["user", "item"], orient="row"),
            self.features,
            self.catalogue,
        )

    def shown(self, k: int | None, options: Options) -> dict[Any, list[tuple[int, Any]]]:
        """Rank and item of each place that counts; a list that starts below k holds nothing."""
        depth = math.inf if k is None or options.get("cutoff") == "none" else k
        return {
            u: [(r, i) for r, i in enumerate(items, 1) if i is not None and r <= depth]
            for u, items in self.lists.items()
        }


ITEMS = range(8)
USERS = range(6)


@st.composite
def data(draw: st.DrawFn) -> Data:
    places = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=6, unique=True)
    lists = draw(st.dictionaries(st.sampled_from(USERS), places, min_size=1, max_size=5))
    gaps = {user: draw(st.lists(st.integers(0, len(items)), max_size=2)) for user, items in lists.items()}
    with_gaps: dict[Any, list[Any]] = {user: list(items) for user, items in lists.items()}
    for user, places_of in gaps.items():
        for place in places_of:
            with_gaps[user].insert(place, None)
    train = draw(st.lists(st.tuples(st.sampled_from(USERS), st.sampled_from(ITEMS)), min_size=1, max_size=20))
    values = draw(st.sampled_from([(0, 1), (0, 1, 2, -1.5)]))
    vectors = st.lists(st.sampled_from(values), min_size=3, max_size=3)
    features = {item: draw(vectors) for item in ITEMS}
    catalogue = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=8, unique=True))
    return Data(with_gaps, train, features, catalogue)


NUMBERS: dict[str, tuple[Any, ...]] = {
    "normalize": (True, False), "ratio": (0.1, 0.5, 1, 2), "count_only_catalogue": (True, False), "weight": (None, 0.85),
}  # fmt: skip


def values_of(formula: str) -> dict[str, tuple[Any, ...]]:
    """What each option of a formula can be, in the words of the conventions."""
    chosen = FORMULAS[formula]
    named = {name: chosen.words.get(name) for name in chosen.defaults if name not in ("features", "distances")}
    return {name: given if given is not None else NUMBERS[name] for name, given in named.items()}


def choices(formula: str) -> st.SearchStrategy[Options]:
    return st.fixed_dictionaries({name: st.sampled_from(values) for name, values in values_of(formula).items()})


def every_choice() -> st.SearchStrategy[dict[str, Options]]:
    """Options for each formula."""
    return st.fixed_dictionaries({formula: choices(formula) for formula in FORMULAS})


# The plain loops ------------------------------------------------------------------------------------------------------


def naive(formula: str, options: Options, data: Data, k: int | None) -> dict[Any, tuple[float, float]] | float:
    """Sum and divisor of each user that counts, or the one number."""
    shown = {user: places for user, places in data.shown(k, options).items() if places}
    if formula in ("novelty", "popularity", "popularity_rank", "tail_share"):
        return of_items(formula, options, data, shown, k)
    if formula == "diversity":
        return of_pairs(options, data, shown)
    return of_all(formula, options, data, shown, k)


def of_items(formula: str, options: Options, data: Data, shown: Any, k: int | None) -> dict[Any, tuple[float, float]]:
    rows, users = [i for _, i in data.train], {u for u, _ in data.train}
    had = {item: len({u for u, i in data.train if i == item}) for item in ITEMS}
    times = {item: rows.count(item) for item in ITEMS}
    count = had if options.get("popularity") == "users" else times
    total = len(users) if options.get("popularity") == "users" else len(rows)
    out = {}
    for user, places in shown.items():
        kept = []
        for _, item in places:
            if count[item] == 0 and formula != "tail_share":
                if options["cold"] == "error":
                    raise RefusedError
                if options["cold"] == "drop":
                    continue
            if formula == "tail_share":
                kept.append(in_tail(item, times, options["ratio"]))
            elif formula == "popularity_rank":
                positive = sorted(n for n in count.values() if n)
                same = [place for place, n in enumerate(positive, 1) if n == count[item]]
                kept.append(sum(same) / len(same) / len(positive) if same else 0.0)
            elif formula == "popularity":
                kept.append(count[item] / {"count": 1, "max": max(count.values())}.get(options["popularity"], total))
            else:
                cold = math.log2(len(users)) if options["cold"] == "log2(users)" else 0.0
                bits = math.log2(total / count[item]) if count[item] else cold
                most = math.log2(len(users)) if options["normalize"] else 1
                kept.append(bits / most if most else math.nan)
        out_of = len(kept) if options["divisor"] == "list" else (len(places) if k is None else k)
        if out_of:
            out[user] = sum(kept), out_of
    return out


def in_tail(item: Any, times: dict[Any, int], ratio: float) -> bool:
    in_train = sorted((n, i) for i, n in times.items() if n)
    if ratio > 1:
        return 0 < times[item] <= ratio
    return item in [i for _, i in in_train[: max(int(len(in_train) * ratio), 1)]]


def apart(one: Any, other: Any, data: Data, distance: str) -> float:
    a, b = data.features[one], data.features[other]
    if distance == "cosine":
        lengths = math.hypot(*a) * math.hypot(*b)
        return 1 - (sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0)
    if distance == "hamming":
        return sum(x != y for x, y in zip(a, b, strict=True))
    if distance == "jaccard":
        either = sum(x != 0 or y != 0 for x, y in zip(a, b, strict=True))
        return 1 - sum(x != 0 and y != 0 for x, y in zip(a, b, strict=True)) / either if either else 0
    mine, yours = ({u for u, i in data.train if i == item} for item in (one, other))
    return 1 - (len(mine & yours) / math.sqrt(len(mine) * len(yours)) if mine and yours else 0)


def of_pairs(options: Options, data: Data, shown: Any) -> dict[Any, tuple[float, float]]:
    out = {}
    for user, places in shown.items():
        items = [item for _, item in places]
        if len(items) == 1:
            if options["single"] != "skip":
                out[user] = 0.0, 1.0
            continue
        pairs = [apart(one, other, data, options["distance"]) for one, other in itertools.combinations(items, 2)]
        total = sum(pairs)
        out[user] = total, len(pairs) if options["divisor"] == "pairs" else len(items)
    return out


def of_all(formula: str, options: Options, data: Data, shown: Any, k: int | None) -> float:
    rows = [(r, i) for places in shown.values() for r, i in places]
    distinct = {i for _, i in rows}
    everything = {i for _, i in data.train} if options.get("population") == "train" else set(data.catalogue)
    if formula == "coverage":
        value = len(distinct & everything if options["count_only_catalogue"] else distinct)
        if options["normalize"]:
            value /= len(everything) + (options["population"] == "catalogue+padding")
        return float(value)
    if formula == "personalization":
        if options["overlap"] == "k" and k is None:
            raise RefusedError
        sets = [{i for _, i in places} for places in shown.values()]
        if options["overlap"] == "k":  # every list is taken to share k items with itself, whatever it holds
            full = [[len(a & b) for b in sets] for a in sets]
            n = len(sets)
            return 1 - (sum(map(sum, full)) - n * k) / (k * n * (n - 1)) if n > 1 else math.nan
        overlap = [len(a & b) / math.sqrt(len(a) * len(b)) for a, b in itertools.combinations(sets, 2)]
        return 1 - sum(overlap) / len(overlap) if overlap else math.nan
    weight = options.get("weight") or 1
    seen = sorted(sum(weight ** (r - 1) for r, i in rows if i == item) for item in distinct)
    if formula == "entropy":
        value = -sum(n / sum(seen) * math.log2(n / sum(seen)) for n in seen) if seen else math.nan
        if options["normalize"] and seen:
            return value / math.log2(len(everything)) if len(everything) > 1 else math.nan
        return value
    n = (
        len(seen)
        if options["population"] == "recommended"
        else len(everything) + (options["population"] == "catalogue+padding")
    )
    if len(seen) > n:
        raise RefusedError
    values = [0.0] * (n - len(seen)) + seen
    differences = sum(abs(a - b) for a, b in itertools.combinations(values, 2))
    out_of = (n if options["normalizer"] == "n" else n - 1) * sum(values)
    return differences / out_of if out_of else math.nan


# The tests ------------------------------------------------------------------------------------------------------------


def mean_of(values: dict[Any, tuple[float, float]]) -> float:
    if not values:
        return math.nan
    return sum(total / out_of if out_of else math.nan for total, out_of in values.values()) / len(values)


def close(value: float, want: float) -> bool:
    return (math.isnan(value) and math.isnan(want)) or math.isclose(value, want, rel_tol=1e-12, abs_tol=1e-12)


@given(data(), st.sampled_from([1, 2, 3, 5, None]), every_choice())
def test_equals_the_plain_loops(held, k, chosen):
    for formula, options in chosen.items():
        note(f"{formula} {options}")
        equals_the_plain_loops(formula, options, held, k)


def equals_the_plain_loops(formula: str, options: Options, held: Data, k: int | None) -> None:
    """Whether a formula gives the numbers of the loops, user by user and in the mean."""
    beyond = held.beyond()
    try:
        want = naive(formula, options, held, k)
    except RefusedError:
        with pytest.raises(RecnbError):
            beyond.value(formula, options, k)
        return
    if isinstance(want, float):
        assert close(beyond.value(formula, options, k), want)
        return
    found = beyond.values(formula, options, k)
    by_user = dict(zip(found.users.to_list(), found.matrix[:, 0].tolist(), strict=True))
    for user, value in by_user.items():
        total, out_of = want.get(user, (0.0, 0.0))
        assert close(value, total / out_of if out_of else math.nan)
    assert close(beyond.value(formula, options, k), mean_of(want))


def test_ends_of_the_scales():
    same = Data({0: [1, 2], 1: [1, 2], 2: [2, 1]}, [(0, 1)], {1: [1, 1], 2: [2, 2]}, [1, 2, 3, 4]).beyond()
    assert same.value("personalization", {}) == pytest.approx(0, abs=1e-15)
    assert same.value("diversity", {"distance": "cosine"}) == pytest.approx(0, abs=1e-15)
    assert same.value("gini", {"population": "recommended", "normalizer": "n"}) == 0
    assert same.value("entropy", {}) == 1
    for size in (1e-200, 1.0, 1e200):  # whose squares vanish, or have no number
        scaled = Data({0: [1, 2]}, [(0, 1)], {1: [size, 0], 2: [size, size]}, [1, 2]).beyond()
        assert scaled.value("diversity", {"distance": "cosine"}) == pytest.approx(1 - 1 / math.sqrt(2), abs=1e-12)
    other = Data({0: [1, 2], 1: [3, 4]}, [(0, 1)], {1: [1]}, [1, 2, 3, 4]).beyond()
    assert (other.value("personalization", {}), other.value("coverage", {}), other.value("entropy", {})) == (1, 1, 2)
    one = Data({0: [1], 1: [1]}, [(0, 1)], {1: [1]}, [1, 2, 3, 4]).beyond()
    assert (one.value("entropy", {}), one.value("gini", {"population": "catalogue", "normalizer": "n-1"})) == (0, 1)


def test_a_user_without_a_list_does_not_count():
    catalogue = (
        Data({0: [0, 1]}, [(0, 0), (1, 1), (2, 1)], {0: [1.0], 1: [1.0]}, [0, 1])
        .beyond()
        .data[True]
        .item_data.catalogue
    )
    columns = [np.array(column) for column in ([0, 0, 2], [1, 2, 1], [0, 1, 1], [2, 0, 1])]
    lists = Lists(*columns, 2, catalogue=catalogue)
    for metric in (of_lists.novelty, of_lists.popularity, of_lists.popularity_rank, of_lists.tail_share):
        for divisor in ("list", "k"):
            assert metric(lists, 2, divisor=divisor).counted.tolist() == [True, False, True]
    for single, counted in (("zero", True), ("skip", False)):
        assert of_lists.diversity(lists, single=single, features=["x0"]).counted.tolist() == [True, False, counted]


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    lists = {user: rng.permutation(30)[:7].tolist() for user in range(40)}
    train = [(int(user), int(item)) for user, item in rng.integers(0, (40, 30), size=(300, 2))]
    features = {item: rng.integers(0, 3, 5).tolist() for item in range(30)}
    held = Data(lists, train, features, list(range(30)))
    distances = ("cosine", "jaccard", "hamming", "cooccurrence")
    whole = [held.beyond().value("diversity", {"distance": distance}) for distance in distances]
    monkeypatch.setattr(of_pairs_module, "BLOCK", 50)
    assert [held.beyond().value("diversity", {"distance": distance}) for distance in distances] == pytest.approx(
        whole, abs=1e-12
    )
    loops = [of_pairs({"distance": d, "divisor": "pairs"}, held, held.shown(None, {})) for d in distances]
    assert whole == pytest.approx([mean_of(values) for values in loops], abs=1e-12)


@pytest.mark.parametrize("density", [0.05, 0.5, 1.0])
def test_what_pairs_share_is_the_same_pair_by_pair_and_in_blocks(density, monkeypatch):
    rng = np.random.default_rng(4)
    dense = (rng.random((25, 40)) < density).astype(float)
    first, second = np.divmod(np.unique(rng.integers(0, 25 * 25, 400)), 25)
    for block in (of_pairs_module.BLOCK, 60):
        monkeypatch.setattr(of_pairs_module, "BLOCK", block)
        for one, other in ((first, second), (first[:3], second[:3])):
            found = of_pairs_module._common(sparse.csr_array(dense), one, other)
            assert found.tolist() == (dense[one] * dense[other]).sum(axis=1).tolist()
