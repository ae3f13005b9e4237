"""tau AP against its definition on every order that ties allow."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recnb.stats import tau_ap


def by_definition(values, truth):
    """Of the models above each place the share that the truth has above it, a tie by half; the mean over the orders."""
    found = []
    for order in permutations(range(len(values))):
        if all(values[one] >= values[below] for one, below in pairwise(order)):
            places = [(truth[list(order[:place])], truth[at]) for place, at in enumerate(order) if place]
            right = [np.mean((above > own) + (above == own) / 2) for above, own in places]
            found.append(2 * np.mean(right) - 1)
    return np.mean(found)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5))
def test_tau_ap_is_the_mean_over_all_orders_of_ties_and_of_both_truths(pairs):
    one, other = np.array(pairs, dtype=float).T
    both = (by_definition(one, other) + by_definition(other, one)) / 2
    assert tau_ap(one, other) == pytest.approx(both, abs=1e-12)
    assert np.isnan(tau_ap(np.array([*one, np.nan]), np.array([*other, 1])))
