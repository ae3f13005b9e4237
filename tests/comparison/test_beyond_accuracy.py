"""Metrics beyond accuracy, and segments, in a comparison."""

import pandas as pd
import pytest
from scipy import stats

import recnb
from recnb.display.language import use_language
from recnb.errors import OptionError, RecnbError

METRICS = ("novelty", "popularity", "tail_share", "diversity", "serendipity", "calibration")


@pytest.fixture(scope="module")
def side_data(sample):
    return {"train": sample.train, "items": sample.items}


@pytest.fixture(scope="module")
def compared(sample, side_data):
    return recnb.compare(sample.recommendations, sample.test, baseline="popular", **side_data)


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_beyond_accuracy_is_paired_over_users_with_a_value_everywhere(sample, side_data, compared, metric):
    values = {
        name: getattr(one.rec.against(sample.test, **side_data), metric)(k=10).per_user
        for name, one in sample.models.items()
    }
    together = pd.concat(values, axis=1, join="inner")
    for row in compared.differences(metric, k=10).itertuples():
        new, old = together[row.model], together[row.baseline]
        assert row.n_users == len(together)
        assert row.difference == pytest.approx((new - old).mean(), abs=1e-12)
        if row.tied < row.n_users:
            assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue, abs=1e-12)
        assert row.verdict not in ("better", "worse")


def test_more_of_it_is_not_called_better(compared):
    made = compared.differences(["ndcg", "novelty"], k=10)
    verdicts = made.set_index(["metric", "model"]).verdict
    assert verdicts["ndcg", "item-knn"] == "better"
    assert verdicts["novelty", "item-knn"] == "higher"
    line = next(one for one in made.conclusions if one.startswith("Novelty@10: item-knn"))
    assert "is higher than popular" in line
    assert "is not necessarily better" in line
    marks = compared.table(["ndcg", "novelty"], k=10).attrs
    assert [len(marks["best"][column]) for column in ("ndcg@10", "novelty@10")] == [1, 0]
    assert marks["near_best"]["novelty@10"] == []
    with use_language("ko"):
        assert "높을수록 좋은지는" in str(compared.differences("novelty", k=10))


def test_a_lower_one_has_its_sizes_turned(compared):
    row = compared.differences("popularity", k=10).set_index("model").loc["item-knn"]
    assert row.verdict == "lower"
    line = compared.differences("popularity", k=10).conclusions[0]
    assert f"by {-row.difference:.4f}" in line
    assert f"{-row.high:.4f} to {-row.low:.4f}" in line


def test_marks_of_accuracy_do_not_change_beside_what_is_beyond_it(compared):
    alone, beside = (
        compared.table(metrics, k=[5, 10]) for metrics in (["ndcg", "recall"], ["ndcg", "novelty", "recall"])
    )
    pd.testing.assert_frame_equal(beside[alone.columns], alone.to_frame())
    for kind in ("best", "near_best"):
        assert {column: beside.attrs[kind][column] for column in alone} == alone.attrs[kind]


def test_a_user_without_a_list_is_left_out_of_what_is_beyond_accuracy_alone(sample, side_data):
    everyone = sample.models["item-knn"]
    fewer = everyone[everyone.user != sample.test.user.iloc[0]]
    found = recnb.compare({"popular": sample.models["popular"], "knn": fewer}, sample.test, **side_data)
    n = found.differences(["ndcg", "novelty"], k=10).set_index("metric").n_users
    assert n["ndcg"] == found.n_users
    assert n["novelty"] == fewer.user.nunique()


def test_what_has_no_value_for_each_user_is_refused(compared, sample):
    with pytest.raises(OptionError, match=r"coverage is one number of all lists.*\.beyond\(k=10\)"):
        compared.differences(["ndcg", "coverage"], k=10)
    with pytest.raises(RecnbError, match="novelty needs what users had before: give train="):
        recnb.compare(sample.recommendations, sample.test).differences("novelty", k=10)
    with pytest.raises(OptionError, match="beyond accuracy"):
        compared.movers("novelty", k=10)


def test_a_table_by_segment_is_of_the_users_of_each(sample, side_data, compared):
    segment = pd.Series({user: "even" if at % 2 else "odd" for at, user in enumerate(compared.users)})
    table = compared.table(["ndcg", "novelty"], k=10, by=segment)
    values = {
        name: one.rec.against(sample.test, **side_data).ndcg(k=10).per_user for name, one in sample.models.items()
    }
    for (name, model), row in table.iterrows():
        inside = segment.index[segment == name]
        assert row["ndcg@10"] == pytest.approx(values[model].loc[inside].mean(), abs=1e-12)
    assert list(table.index.names) == ["segment", "model"]
    assert len(table) == 2 * len(compared.names)


def test_users_of_whom_nothing_is_known_are_one_segment(compared):
    users = list(compared.users)
    segment = pd.Series({users[0]: "first", users[1]: None, users[2]: "first"})
    made = compared.differences("ndcg", k=10, by=segment)
    assert made.groupby("segment", sort=False).n_users.first().to_dict() == {"first": 2, "not known": len(users) - 2}


def test_a_curve_of_novelty(compared):
    made = compared.curve("novelty", k=[5, 10]).to_frame()
    table = compared.table("novelty", k=10)
    at = made[made.k == 10].set_index("model")["mean"]
    pd.testing.assert_series_equal(at[compared.names], table["novelty@10"], check_names=False)


def test_numbers_of_all_lists_are_a_table_of_models_with_its_basis(compared, sample, side_data):
    found = compared.beyond(k=10)
    assert found.loc["popular"].to_dict() == compared["popular"].beyond(k=10)[10].to_dict()
    assert "users with a list" in repr(found)
    assert r"user\_coverage" in found.to_latex()
    with pytest.raises(OptionError, match="give compare\\(\\) train="):
        recnb.compare(sample.recommendations, sample.test).beyond(k=10)
