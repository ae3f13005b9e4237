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
from recnb.stats.paired import CORRELATION

SAMPLE = recnb.datasets.load_sample()
KNN, POPULAR = (SAMPLE.models[name].rec.against(SAMPLE.test) for name in ("item-knn", "popular"))


@pytest.mark.parametrize("n", [10, 50, 261, 20_000, 1_000_000])
@pytest.mark.parametrize("power,alpha", [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01), (0.9, 0.001)])
def test_what_can_be_found_has_the_power_of_the_normal_approximation(n, power, alpha):
    difference = smallest(0.3, n, power, alpha)
    in_errors = difference / 0.3 * math.sqrt(n)
    assert scipy.stats.norm.sf(scipy.stats.norm.isf(alpha / 2) - in_errors) == pytest.approx(power)
    assert users_needed(difference * (1 + 1e-9), 0.3, power, alpha) == n
    assert users_needed(-difference * (1 - 1e-6), 0.3, power, alpha) in range(n + 1, n + 4)


def test_users_needed_by_the_book():
    """Cohen (1988), table 2.4.1 for one sample: d = 0.5 needs 34 at 80 %, 44 at 90 %, and d = 0.2 needs 199; by t, two more."""
    assert [users_needed(0.5, 1.0, power) for power in (0.8, 0.9)] == [32, 43]
    assert users_needed(0.2, 1.0) == 197
    assert users_needed(1e-9, 0.3) == pytest.approx((2.801585 * 0.3e9) ** 2, rel=1e-5)
    assert users_needed(1e300, 1.0) == users_needed(-10.0, 1e-9) == 10, "fewer are not tested"


def test_users_who_do_not_differ_show_nothing_of_others():
    assert np.isnan([smallest(0.0, 100), smallest(0.3, 9), smallest(0.3, 1)]).all()
    made = Detectable.of("ndcg@10", np.full(40, 0.5), np.full(40, 0.4))
    assert math.isnan(made)
    assert "cannot be estimated" in made.words
    assert "With 1 user" in Detectable.of("ndcg@10", np.array([0.5])).words
    assert math.isnan(Detectable.of("ndcg@10", np.r_[np.ones(9), np.zeros(100)]))
    assert Detectable.of("ndcg@10", np.r_[np.ones(10), np.zeros(100)]) > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        *((lambda wrong=wrong: users_needed(0.01, 0.3, **wrong), next(iter(wrong))) for wrong in (
            {"power": 0.01}, {"power": 1.0}, {"power": "80%"}, {"alpha": 0.0}, {"alpha": 5})),
        (lambda: smallest(0.3, 100, power=1.0), "power=1.0"),
        (lambda: users_needed(0, 0.3), "difference=0"),
        *((lambda sd=sd: users_needed(0.01, sd), f"sd={sd!r} is no standard deviation") for sd in (math.nan, 0.0, -1.0)),
        (lambda: KNN.detectable("ndgc", 10), "Did you mean 'ndcg'"),
        (lambda: KNN.detectable("ndcg", 10, correlation=0.5), "correlation"),
    ],
)  # fmt: skip
def test_power_refuses_what_makes_no_sense(call, words):
    with pytest.raises(OptionError, match=words):
        call()


def test_detectable_is_measured_against_another_evaluation_on_the_users_of_both():
    made = KNN.detectable("ndcg", k=10, against=POPULAR)
    differences = KNN.ndcg(k=10).per_user - POPULAR.ndcg(k=10).per_user
    assert (made.label, made.n_users, made.sd) == ("ndcg@10", KNN.n_users, pytest.approx(differences.std()))
    assert made == pytest.approx(smallest(differences.std(), KNN.n_users))
    assert "measured between the two models" in made.words
    assert users_needed(float(made) * (1 + 1e-9), made) == KNN.n_users
    is_some = SAMPLE.test["user"].isin(KNN.users[:50])
    fewer, strangers = (SAMPLE.models["popular"].rec.against(SAMPLE.test[kept]) for kept in (is_some, ~is_some))
    assert KNN.detectable("recall", 5, against=fewer).n_users == 50
    with pytest.raises(NoUsersError, match="no user is in both"):
        fewer.detectable("recall", 5, against=strangers)


def test_detectable_assumes_a_careful_correlation_and_says_so():
    made = KNN.detectable("ndcg", 10)
    assert made.sd == pytest.approx(KNN.ndcg(k=10).per_user.std() * math.sqrt(2 * (1 - CORRELATION)))
    assert "Assumed, not measured" in repr(made)
    assert "0.3" in made.words
    assert made < KNN.detectable("ndcg", 10, power=0.9) < KNN.detectable("ndcg", 10, power=0.9, alpha=0.01)
    for again in (copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert (again, repr(again), again.sd) == (made, repr(made), made.sd)
    assert float(str(made)) == float(f"{made}") == float(made)
    with recnb.display.language.use_language("ko"):
        korean = KNN.detectable("ndcg", 10)
    assert "가정이다" in korean.words, "a result keeps the language it was made in"
    evs = [frame.rec.against(SAMPLE.test) for frame in SAMPLE.models.values()]
    for metric in ("ndcg", "precision", "recall", "hit_rate", "reciprocal_rank", "average_precision"):
        assert np.corrcoef([getattr(ev, metric)(k=10).per_user for ev in evs]).min() > CORRELATION
