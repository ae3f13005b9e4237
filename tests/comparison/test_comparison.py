"""Comparisons against hand-worked numbers, scipy on the values of users, and laws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import recnb
from recnb.errors import UnknownModelError
from recnb.metrics.metric import EVERY_METRIC
from tests.comparison.frames import SAMPLE, SIDES, compared

EVALUATED = {
    name: one.rec.against(SAMPLE.test, **SIDES) for name, one in SAMPLE.models.items()
}
BEYOND = (
    "novelty",
    "popularity",
    "tail_share",
    "diversity",
    "serendipity",
    "calibration",
)


def test_differences_are_those_of_the_values_of_users_and_tests_those_of_scipy():
    """Beyond accuracy over the users who have a value in every model; there more is not
    called better.
    """
    frame = compared().differences(["ndcg", "recall", *BEYOND], k=[5, 10])
    assert len(frame) == 8 * 2 * 2
    for row in frame.itertuples():
        values = {
            name: getattr(one, row.metric)(k=row.k).per_user
            for name, one in EVALUATED.items()
        }
        together = pd.concat(values, axis=1, join="inner")
        new, old = together[row.model], together[row.baseline]
        assert row.difference == pytest.approx((new - old).mean(), abs=1e-12)
        apart = (new - old).round(12)
        gained = EVERY_METRIC[row.metric].sign * apart
        assert (row.won, row.tied, row.lost) == (
            (gained > 0).sum(),
            (gained == 0).sum(),
            (gained < 0).sum(),
        )
        assert row.n_users == len(together)
        if row.tied < row.n_users:
            assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue, abs=1e-12)
            assert row.effect_size == pytest.approx(
                (new - old).mean() / (new - old).std()
            )
        if row.metric == "ndcg":
            assert (row.low, row.high) == pytest.approx(
                tuple(stats.ttest_rel(new, old).confidence_interval())
            )
        directed = EVERY_METRIC[row.metric].better is not None
        assert (row.verdict in ("better", "worse")) <= directed
        assert (row.verdict in ("higher", "lower")) <= (not directed)
    assert (frame.p_holm.dropna() >= frame.p.dropna()).all()


def many(n, **options):
    models = {
        f"m{at}": list(SAMPLE.models.values())[at % 3].query(f"rank > {at // 3}")
        for at in range(n)
    }
    return recnb.compare(models, SAMPLE.test, **options)


def test_of_many_models_every_two_are_compared():
    found = [many(8), many(9), many(9, baseline="m2"), many(9, pairs="baseline")]
    assert [one.baseline for one in found] == ["m0", None, "m2", "m0"]
    assert len(found[1].pairs) == 36
    assert repr(found[1].movers("ndcg", k=5)).startswith("m1 instead of m0, ")


def test_of_nine_models_that_all_differ_the_report_says_so():
    fillers = "abcdefghijklmnopq"
    models = {
        f"m{at}": {
            user: [*fillers[: 2 * at + user % 2], f"x{user}"] for user in range(20)
        }
        for at in range(9)
    }
    found = recnb.compare(models, {user: [f"x{user}"] for user in range(20)})
    report = found.report(k=range(18, 34), metrics=["mrr"])
    assert {row.verdict for row in report.differences} == {"worse"}
    assert "Drawn for the first 5 models; 4 more are not." in report.to_html()
    assert (
        "Every other model is significantly worse than m0. Of 36 pairs, 36 are shown"
        in " ".join(str(report).split())
    )


# Segments


def test_a_table_and_differences_by_segment_are_those_of_the_users_in_it():
    found = recnb.compare(SAMPLE.models, SAMPLE.test, users=SAMPLE.users)
    frame, table = (
        ask("ndcg", k=10, by="segment") for ask in (found.differences, found.table)
    )
    of = SAMPLE.users.set_index("user")["segment"]
    values = {name: one.ndcg(k=10).per_user for name, one in found.items()}
    assert frame.n_users.sum() == 2 * found.n_users
    for row in frame.itertuples():
        mine = [user for user in found.users if of[user] == row.segment]
        new, old = values[row.model].loc[mine], values[row.baseline].loc[mine]
        assert row.difference == pytest.approx((new - old).mean())
        assert row.p == pytest.approx(stats.ttest_rel(new, old).pvalue)
        assert table.loc[(row.segment, row.model), "ndcg@10"] == pytest.approx(
            new.mean(), abs=1e-12
        )
    assert frame.p_holm.min() == pytest.approx(min(frame.p.min() * len(frame), 1))


def test_beyond_accuracy_a_table_by_segment_is_of_the_users_evaluated():
    whole, parts = (
        compared().table(["ndcg", "novelty"], k=10),
        compared().table("novelty", k=10, by="activity"),
    )
    assert (
        "metrics beyond accuracy over the users with a value in every model"
        in whole.attrs["basis"]
    )
    values = EVALUATED["item-knn"].novelty(k=10).per_user
    assert whole.loc["item-knn", "novelty@10"] == pytest.approx(values.mean())
    n_in_train = SAMPLE.train.groupby("user").size().reindex(values.index)
    first = values.index[n_in_train.between(0, 9) & values.index.isin(compared().users)]
    two = {name: SAMPLE.models[name] for name in ("item-knn", "popular")}
    of_two = recnb.compare(two, SAMPLE.test, **SIDES)
    for table in (parts, of_two.table("novelty", k=10, by="activity")):
        mean = table.loc[("0 to 9", "item-knn"), "novelty@10"]
        assert mean == pytest.approx(values[first].mean())


# Lists and users


def overlap_of(one: list[int], two: list[int], p: float) -> float:
    """Rank-biased overlap, depth by depth: equation 32 of Webber et al. (2010)."""
    short, long = sorted((one, two), key=len)
    if not short:
        return 0.0

    def common(depth: int) -> int:
        return len(set(short[:depth]) & set(long[:depth]))

    n, in_short, in_long = len(short), common(len(short)), common(len(long))
    total = sum(common(d) / d * p**d for d in range(1, len(long) + 1))
    total += sum(
        in_short * (d - n) / (n * d) * p**d for d in range(n + 1, len(long) + 1)
    )
    below = (in_long - in_short) / len(long) + in_short / n
    return (1 - p) / p * total + below * p ** len(long)


LISTS = st.lists(st.integers(0, 7), unique=True, max_size=8)


@given(
    st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=5),
    st.none() | st.integers(1, 6),
    st.floats(0.01, 0.99),
)
def test_rank_biased_overlap_is_that_of_its_definition(pairs, k, p):
    users = {f"u{n}": lists for n, lists in enumerate(pairs) if any(lists)}
    models = {
        name: {user: lists[n] for user, lists in users.items() if lists[n]}
        for n, name in enumerate(["one", "two"])
    }
    assume(all(models.values()))
    found = recnb.compare(models, {user: [0] for user in users}).overlap(k, p=p)
    values = [overlap_of(one[:k], two[:k], p) for one, two in users.values()]
    assert found.rbo.item() == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_a_curve_and_what_is_beyond_accuracy_are_those_of_each_model():
    curve = compared().curve("novelty", k=[5, 10])
    names = [name for name in compared().names for _k in (5, 10)]
    assert curve["model"].tolist() == names
    means = compared().table("novelty", k=[5, 10])
    assert curve["mean"].tolist() == means.to_numpy().ravel().tolist()
    found = compared().beyond(k=10)
    expected = compared()["popular"].beyond(k=10)[10]
    assert found.loc["popular"].to_dict() == expected.to_dict()
    assert "users with a list" in repr(found)


def test_a_convention_of_a_library_may_have_its_own_users_for_each_metric():
    found = recnb.compare(SAMPLE.models, SAMPLE.test, convention="recommenders")
    frame = found.differences(["ndcg", "precision"], k=10).set_index(
        ["metric", "model"]
    )
    values = [
        recnb.evaluate(SAMPLE.models[name], SAMPLE.test, convention="recommenders")
        .precision(k=10)
        .per_user
        for name in ("factors", "item-knn")
    ]
    assert frame.difference["precision", "factors"] == pytest.approx(
        (values[0] - values[1]).mean(), abs=1e-12
    )
    assert "recommenders" in found.basis


def test_a_comparison_is_a_mapping_of_evaluations():
    found = compared()
    assert isinstance(found, Mapping)
    assert (list(found), len(found), "pop" in found, 3 in found, found.get("pop")) == (
        found.names,
        3,
        False,
        False,
        None,
    )
    for name, evaluation in found.items():
        assert (
            evaluation.ndcg(k=10)
            == found.models[name].ndcg(k=10)
            == EVALUATED[name].ndcg(k=10)
        )
    with pytest.raises(
        UnknownModelError,
        match=r"'populr' is none of the models\. Did you mean 'popular'",
    ):
        found["populr"]
    assert issubclass(UnknownModelError, KeyError)
    assert found != recnb.compare(SAMPLE.recommendations, SAMPLE.test)
    assert found in {found}


def test_an_order_that_unjudged_items_decide_is_a_warning() -> None:
    items = [f"i{at:02d}" for at in range(10)]
    truth = pd.DataFrame(
        {
            "user": np.repeat(np.arange(40), 6),
            "item": items[:6] * 40,
            "relevance": [1, 1, 1, 0, 0, 0] * 40,
        }
    )
    lists = {
        "*usual*": [items[3], items[0], *items[4:6]],
        "new": [*items[8:], *items[:3]],
        "same": [items[4], items[5]],
    }
    frames = {name: dict.fromkeys(range(40), ranks) for name, ranks in lists.items()}
    found = recnb.compare(frames, truth)
    alone = {
        name: ev.ndcg(k=2)
        for name, ev in recnb.compare(frames, truth, judged_only=True).items()
    }
    warning, differences = (
        "Without the items that are not judged, judged_only=True, ",
        found.differences("ndcg", k=2),
    )
    assert differences.notes[0].startswith(warning)
    assert (
        f"in another order by nDCG@2: new {alone['new']:.4f}, *usual* {alone['*usual*']:.4f}, same"
        in differences.notes[0]
    )
    assert warning in " ".join(repr(differences).split())
    report = found.report(k=[2])
    assert f"**warning**: {warning.replace('_', chr(92) + '_')}" in report.to_markdown()
    # The same order, or nothing that is judged not relevant: no warning.
    for other in (
        found.differences("ndcg", k=5),
        recnb.compare(frames, truth.query("relevance > 0")).differences("ndcg", k=2),
    ):
        assert not other.notes[0].startswith(warning)


@pytest.mark.parametrize("name", ["measure", "measures"])
def test_measures_of_a_comparison_are_its_table(name: str) -> None:
    lists = {user: ["a"] for user in "uv"}
    found = recnb.compare({"one": lists, "two": lists}, lists)
    with pytest.raises(AttributeError) as refused:
        getattr(found, name)
    call = str(refused.value).rpartition("Type ")[2].rstrip(".")
    assert call == 'found.table(["nDCG@10", "AP"])'
    table = eval(call, {"found": found})
    assert table.to_frame().to_numpy().tolist() == [[1, 1]] * 2
