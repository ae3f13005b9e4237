"""What a number of users can show: the definition, tables of the literature, and what an evaluation says of itself."""

import copy
import math
import pickle

import numpy as np
import pytest
import scipy.stats

import recnb
from recnb.errors import NoUsersError, OptionError
from recnb.stats import Detectable, users_needed
from recnb.stats import detectable as smallest
from recnb.stats.power import CORRELATION, power_of


def exact_power(shift: float, n: int, alpha: float) -> float:
    """The definition, summed: t is (z + shift) over the root of a chi-square by its degrees of freedom."""
    z = scipy.stats.norm.ppf((np.arange(4000) + 0.5) / 4000) + shift
    edge = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
    return float(scipy.stats.chi2.cdf((n - 1) * (z / edge) ** 2, n - 1).mean())


@pytest.mark.parametrize("n", [2, 3, 8, 30, 200, 5000])
def test_power_is_that_of_the_definition(n: int) -> None:
    for alpha in (0.001, 0.05, 0.3):
        assert power_of(0.0, n, alpha) == pytest.approx(alpha)
        edge = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
        for shift in (0.5, edge, 1.7 * edge, edge + 2, 3 * edge, 46.0):
            assert power_of(shift, n, alpha) == pytest.approx(exact_power(shift, n, alpha), abs=2e-3)
    assert power_of(1e5, 2, 1e-6) == pytest.approx(exact_power(1e5, 2, 1e-6), abs=1e-6)
    assert power_of(2.8, 10**9, 0.05) == pytest.approx(power_of(2.8, 10**7, 0.05), abs=1e-6)


@pytest.mark.parametrize("n", [12, 50, 261, 943, 20_000, 1_000_000])
@pytest.mark.parametrize("power,alpha", [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01), (0.9, 0.001)])
def test_what_can_be_found_has_the_power(n: int, power: float, alpha: float) -> None:
    difference = smallest(0.3, n, power, alpha)
    assert power_of(difference / 0.3 * math.sqrt(n), n, alpha) == pytest.approx(power, abs=1e-9)
    assert users_needed(difference * (1 + 1e-9), 0.3, power, alpha) == n
    assert users_needed(-difference * (1 - 1e-6), 0.3, power, alpha) in (n + 1, n + 2, n + 3)


def test_users_needed_by_the_book() -> None:
    """Cohen (1988), table 2.4.1 for a paired test is that of one sample: d = 0.5 needs 34 at 80 %, 44 at 90 %."""
    assert (users_needed(0.5, 1.0), users_needed(0.5, 1.0, power=0.9)) == (34, 44)
    assert users_needed(1e-9, 0.3) == pytest.approx((2.801585 * 0.3e9) ** 2, rel=1e-5)


@pytest.mark.parametrize("difference", [10.0, 1e3, 1e4, 1e5, 1e300])
def test_a_huge_difference_still_needs_users_enough_for_the_lowest_p_value(difference: float) -> None:
    """All signs alike have p = 2 / 2^n: 1/16 for 5 users, 1/32 for 6."""
    assert users_needed(difference, 1.0) == users_needed(-difference, 1e-9) == 6
    assert users_needed(difference, 1.0, alpha=1 / 16) == 5


def test_power_refuses_what_makes_no_sense() -> None:
    for wrong in ({"power": 0.01}, {"power": 1.0}, {"power": "80%"}, {"alpha": 0.0}, {"alpha": 5}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            smallest(0.3, 100, **wrong)
        with pytest.raises(OptionError, match=next(iter(wrong))):
            users_needed(0.01, 0.3, **wrong)
    with pytest.raises(OptionError, match="difference=0"):
        users_needed(0, 0.3)
    with pytest.raises(OptionError, match="sd=nan"):
        users_needed(0.01, math.nan)
    with pytest.raises(OptionError, match="sd=-1"):
        smallest(-1, 10)
    assert math.isnan(smallest(0.3, 1))


@pytest.fixture(scope="module")
def two() -> tuple[recnb.Evaluation, recnb.Evaluation]:
    sample = recnb.datasets.load_sample()
    return tuple(sample.models[name].rec.against(sample.test) for name in ("item-knn", "popular"))


def test_detectable_is_measured_against_another_evaluation(two: tuple[recnb.Evaluation, recnb.Evaluation]) -> None:
    ev, other = two
    made = ev.detectable("ndcg", k=10, against=other)
    differences = ev.ndcg(k=10).per_user - other.ndcg(k=10).per_user
    assert made.sd == pytest.approx(differences.std())
    assert made == pytest.approx(smallest(differences.std(), ev.n_users))
    assert (made.n_users, made.power, made.alpha, made.correlation) == (ev.n_users, 0.8, 0.05, None)
    assert "measured" in made.words
    assert made.label == "ndcg@10"
    assert recnb.users_needed(float(made) * (1 + 1e-9), made) == ev.n_users
    assert recnb.users_needed(float(made) / 2, sd=made) == pytest.approx(4 * ev.n_users, rel=0.02)


def test_detectable_measures_on_the_users_of_both(two: tuple[recnb.Evaluation, recnb.Evaluation]) -> None:
    ev, _ = two
    sample = recnb.datasets.load_sample()
    some = sample.test[sample.test["user"].isin(ev.users[:50])]
    fewer = sample.models["popular"].rec.against(some)
    assert ev.detectable("recall", 5, against=fewer).n_users == fewer.n_users == 50
    strangers = sample.models["popular"].rec.against(sample.test[~sample.test["user"].isin(ev.users[:200])])
    with pytest.raises(NoUsersError, match="not one is in both"):
        fewer.detectable("recall", 5, against=strangers)


def test_detectable_assumes_a_correlation_and_says_so(two: tuple[recnb.Evaluation, recnb.Evaluation]) -> None:
    ev, _ = two
    made = ev.detectable("ndcg", 10)
    assert made.sd == pytest.approx(ev.ndcg(k=10).per_user.std() * math.sqrt(2 * (1 - CORRELATION)))
    assert "Assumed, not measured" in repr(made)
    assert "0.3" in made.words
    assert ev.detectable("ndcg", 10, correlation=0.9) < made < ev.detectable("ndcg", 10, correlation=0)
    assert made < ev.detectable("ndcg", 10, power=0.9)
    assert made < ev.detectable("ndcg", 10, alpha=0.01)
    for again in (copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert (again, repr(again), again.sd) == (made, repr(made), made.sd)


def test_the_assumed_correlation_is_on_the_careful_side() -> None:
    sample = recnb.datasets.load_sample()
    evs = [frame.rec.against(sample.test) for frame in sample.models.values()]
    for metric in ("ndcg", "precision", "recall", "hit_rate", "reciprocal_rank", "average_precision"):
        values = np.array([getattr(ev, metric)(k=10).per_user for ev in evs])
        assert np.corrcoef(values).min() > CORRELATION


def test_detectable_in_korean(two: tuple[recnb.Evaluation, recnb.Evaluation]) -> None:
    with recnb.display.language.use_language("ko"):
        made = two[0].detectable("ndcg", 10)
    assert "가정이다" in made.words, "a result keeps the language it was made in"


def test_detectable_refuses(two: tuple[recnb.Evaluation, recnb.Evaluation]) -> None:
    ev, other = two
    with pytest.raises(OptionError, match="give one of the two"):
        ev.detectable("ndcg", 10, against=other, correlation=0.5)
    with pytest.raises(OptionError, match="correlation=1"):
        ev.detectable("ndcg", 10, correlation=1)
    with pytest.raises(OptionError, match="Did you mean 'ndcg'"):
        ev.detectable("ndgc", 10)
    one = Detectable.of("ndcg@10", np.array([0.5]))
    assert math.isnan(one)
    assert "With 1 user" in one.words


def test_as_text_it_is_the_number() -> None:
    values = np.random.default_rng(0).random((2, 50))
    found = Detectable.of("ndcg@10", values[0], values[1])
    assert float(str(found)) == float(found)
    assert f"{found}" == str(found)
