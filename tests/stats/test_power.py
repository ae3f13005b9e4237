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
from recnb.stats.power import CORRELATION


@pytest.mark.parametrize("n", [10, 50, 261, 20_000, 1_000_000])
@pytest.mark.parametrize("power,alpha", [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01), (0.9, 0.001)])
def test_what_can_be_found_has_the_power_of_the_normal_approximation(n: int, power: float, alpha: float) -> None:
    difference = smallest(0.3, n, power, alpha)
    in_errors = difference / 0.3 * math.sqrt(n)
    assert scipy.stats.norm.sf(scipy.stats.norm.isf(alpha / 2) - in_errors) == pytest.approx(power)
    assert users_needed(difference * (1 + 1e-9), 0.3, power, alpha) == n
    assert users_needed(-difference * (1 - 1e-6), 0.3, power, alpha) in range(n + 1, n + 4)


def test_users_needed_by_the_book() -> None:
    """Cohen (1988), table 2.4.1 for one sample: d = 0.5 needs 34 at 80 %, 44 at 90 %, and d = 0.2 needs 199; by t, two more."""
    assert [users_needed(0.5, 1.0, power) for power in (0.8, 0.9)] == [32, 43]
    assert users_needed(0.2, 1.0) == 197
    assert users_needed(1e-9, 0.3) == pytest.approx((2.801585 * 0.3e9) ** 2, rel=1e-5)
    for huge in (10.0, 1e5, 1e300):
        assert users_needed(huge, 1.0) == users_needed(-huge, 1e-9) == 10, "fewer are not tested"


def test_users_who_do_not_differ_show_nothing_of_others() -> None:
    assert math.isnan(smallest(0.0, 100))
    assert math.isnan(smallest(0.3, 9))
    made = Detectable.of("ndcg@10", np.full(40, 0.5), np.full(40, 0.4))
    assert math.isnan(made)
    assert "cannot be estimated" in made.words
    assert "0.0000" not in repr(made)
    assert math.isnan(Detectable.of("ndcg@10", np.r_[np.ones(9), np.zeros(100)]))
    assert Detectable.of("ndcg@10", np.r_[np.ones(10), np.zeros(100)]) > 0


def test_power_refuses_what_makes_no_sense() -> None:
    for wrong in ({"power": 0.01}, {"power": 1.0}, {"power": "80%"}, {"alpha": 0.0}, {"alpha": 5}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            smallest(0.3, 100, **wrong)
        with pytest.raises(OptionError, match=next(iter(wrong))):
            users_needed(0.01, 0.3, **wrong)
    with pytest.raises(OptionError, match="difference=0"):
        users_needed(0, 0.3)
    for wrong_sd in (math.nan, 0.0, -1.0):
        with pytest.raises(OptionError, match=f"sd={wrong_sd!r} is no standard deviation"):
            users_needed(0.01, wrong_sd)
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
