"""Overlap of two lists against plain loops over sets, and against published numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.comparison.rank_similarity import jaccard, rbo
from recnb.errors import OptionError


def rows_of(pairs):
    """Shared items of many pairs of lists, as the vectorised functions take them."""
    user, rank, other = [], [], []
    for at, (one, two) in enumerate(pairs):
        for item in one:
            if item in two:
                user.append(at)
                rank.append(one.index(item) + 1)
                other.append(two.index(item) + 1)
    lengths = [np.array([len(side) for side in sides], dtype=np.int64) for sides in zip(*pairs, strict=True)]
    return *(np.array(column, dtype=np.int64) for column in (user, rank, other)), *lengths


def rbo_by_sets(one, two, p):
    """Equation 32 of Webber, Moffat and Zobel (2010), depth by depth, with sets."""
    short, long = sorted((one, two), key=len)
    s, n = len(short), len(long)

    def shared(depth):
        return len(set(short[:depth]) & set(long[:depth]))

    seen = sum(shared(d) / d * p**d for d in range(1, n + 1))
    beyond = sum(shared(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * (seen + beyond) + ((shared(n) - shared(s)) / n + shared(s) / s) * p**n


def rbo_of(one, two, p=0.9):
    return float(rbo(*rows_of([(one, two)]), p)[0])


lists = st.lists(st.integers(0, 12), min_size=1, max_size=9, unique=True)


@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=6), st.floats(0.05, 0.99))
def test_rbo_and_jaccard_of_many_users_are_those_of_each_by_sets(pairs, p):
    user, rank, other, length, other_length = rows_of(pairs)
    found = rbo(user, rank, other, length, other_length, p)
    assert found == pytest.approx([rbo_by_sets(one, two, p) for one, two in pairs], abs=1e-12)
    shares = [len(set(one) & set(two)) / len(set(one) | set(two)) for one, two in pairs]
    assert jaccard(user, length, other_length) == pytest.approx(shares, abs=1e-15)


@given(lists, lists, st.floats(0.05, 0.99))
def test_rbo_is_the_same_both_ways_and_lies_between_0_and_1(one, two, p):
    there, back = rbo_of(one, two, p), rbo_of(two, one, p)
    assert there == pytest.approx(back, abs=1e-12)
    assert 0 <= there <= 1
    assert rbo_of(one, one, p) == pytest.approx(1)


def test_published_values():
    # Two published implementations print 0.828 for these.
    assert round(rbo_of([1, 2, 3, 4, 5], [2, 3, 4, 1, 5], 0.9), 3) == 0.828


@pytest.mark.parametrize(("p", "depth"), [(0.9, 10), (0.98, 50), (0.5, 3)])
def test_weight_of_the_first_ranks_is_that_of_the_paper(p, depth):
    """Webber et al., equation 21; with p = 0.9 the first ten ranks hold 86 % of the weight."""
    weight = 1 - p ** (depth - 1) + (1 - p) / p * depth * (np.log(1 / (1 - p)) - sum(p**i / i for i in range(1, depth)))
    one, two = ([*range(depth), *range(start, start + 4000)] for start in (10_000, 50_000))
    assert rbo_of(one, two, p) == pytest.approx(weight, abs=1e-9)
    if (p, depth) == (0.9, 10):
        assert round(weight, 2) == 0.86


def test_agreement_by_depth_of_the_papers_first_table():
    # Webber et al., table 1: <abcdefg> and <zcavwxy> agree by 0, 0, 2/3, 2/4, 2/5, 2/6, 2/7 down to each depth.
    one, two, p = "abcdefg", "zcavwxy", 0.9
    agreement = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]
    weighted = (1 - p) / p * sum(share * p**d for d, share in enumerate(agreement, 1)) + 2 / 7 * p**7
    assert rbo_of(list(one), list(two), p) == pytest.approx(weighted, abs=1e-15)


def test_empty_lists():
    user = rank = other = np.zeros(0, dtype=np.int64)
    length, other_length = np.array([0, 3, 0]), np.array([2, 0, 0])
    assert rbo(user, rank, other, length, other_length).tolist()[:2] == [0.0, 0.0]
    assert np.isnan(rbo(user, rank, other, length, other_length)[2])
    assert jaccard(user, length, other_length).tolist()[:2] == [0.0, 0.0]
    assert np.isnan(jaccard(user, length, other_length)[2])


@pytest.mark.parametrize("p", [0, 1, -0.5, "high", True, float("nan")])
def test_p_must_lie_between_0_and_1(p):
    with pytest.raises(OptionError, match="between 0 and 1"):
        rbo(*rows_of([([1], [1])]), p)
