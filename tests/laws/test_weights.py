"""Relevant pairs with propensities and users with weights: naive definitions in plain
Python, laws, refusals, and a simulation. What is said of them is in
`results/shown/weights.txt`.
"""

import itertools
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recnb
from recnb import METRICS, popularity_propensity
from recnb.data import in_memory
from recnb.data.weights import look_up
from recnb.errors import FrameError, OptionError
from tests import reference
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE
from tests.strategies import data, each_word

WEIGHTED = [name for name, metric in METRICS.items() if not metric.instead]
PROPENSITY = popularity_propensity(SAMPLE.train, 1.5, items=SAMPLE.items["item"])
POPULAR = SAMPLE.models["popular"]
#: Conventions each of which joins the frames anew.
CONVENTIONS = [
    recnb.Convention(),
    recnb.Convention(duplicates="dedupe", averaged_users="both"),
    recnb.Convention(ties="item_asc", no_relevant="zero"),
]


def naive(
    name,
    items,
    truth,
    weight,
    k,
    out_of=None,
    gain="linear",
    discount="log",
    log_base=2,
    ideal="relevant",
    p=0.8,
):
    """One user's value: the definitions of Jain et al. (2016) and Yang et al. (2018),
    one item after the other.
    """
    relevant = {item: grade for item, grade in truth.items() if grade > 0}
    depth = len(items) if k is None else k
    hits = [
        (rank, item)
        for rank, item in enumerate(items, 1)
        if item in relevant and rank <= depth
    ]

    def worth(item):
        return weight[item] * reference.gain_of(relevant[item], gain)

    def discounted(places):
        return sum(
            worth(item) / reference.discount_of(rank, discount, log_base)
            for rank, item in places
        )

    uncut = len(relevant)
    ends = {"min(k, list)": min(depth, len(items)), "all": uncut}
    end = ends.get(ideal, uncut if k is None else k)
    best = list(enumerate(sorted(relevant, key=worth, reverse=True)[:end], 1))
    heaviest = sorted((weight[item] for item in relevant), reverse=True)
    sums = {
        "precision": sum(weight[item] for _rank, item in hits),
        "recall": sum(weight[item] for _rank, item in hits),
        "cg": sum(worth(item) for _rank, item in hits),
        "dcg": discounted(hits),
        "idcg": discounted(best),
        "ndcg": discounted(hits),
        "rbp": sum((1 - p) * p ** (rank - 1) * weight[item] for rank, item in hits),
    }
    divisors = {
        "k": depth,
        "list": min(depth, len(items)),
        "relevant": sum(heaviest),
        "min(k, relevant)": sum(heaviest[:depth]),
        "min(list, relevant)": sum(heaviest[: min(depth, len(items))]),
        "1": 1,
        "ideal": discounted(best),
    }
    usual = {"precision": "k", "recall": "relevant", "ndcg": "ideal"}
    return reference.ratio(sums[name], divisors[out_of or usual.get(name, "1")])


def propensities_of(source, seed):
    """One for each item, and one for each pair."""
    rng = np.random.default_rng(seed)
    items = sorted({item for truth in source.truth.values() for item in truth}, key=str)
    by_item = {
        item: float(p)
        for item, p in zip(items, rng.uniform(0.01, 1, len(items)), strict=True)
    }
    by_pair = {
        (user, item): float(rng.uniform(0.01, 1))
        for user, truth in source.truth.items()
        for item in truth
    }
    return by_item, by_pair


def check(source, seed, k, least, by_pair):
    items, pairs = propensities_of(source, seed)
    given_as = pd.Series(pairs) if by_pair else pd.Series(items, dtype=float)
    ev = recnb.evaluate(
        source.recs, source.relevant, propensity=given_as, min_propensity=least
    )
    plain = recnb.evaluate(source.recs, source.relevant)
    alone = recnb.evaluate(
        source.recs, source.relevant, propensity=given_as, min_propensity=1
    )
    for name in WEIGHTED:
        for options in each_word(METRICS[name]):
            if options.get("ideal") == "k":
                continue
            values = getattr(ev, name)(k=k, **options).per_user
            for user in source.users:
                own = {
                    item: pairs[user, item] if by_pair else items[item]
                    for item in source.truth[user]
                }
                weight = {item: 1 / max(p, least or 0) for item, p in own.items()}
                wanted = naive(
                    name, source.ranking(user), source.truth[user], weight, k, **options
                )
                assert values[user] == pytest.approx(wanted, rel=1e-9, abs=1e-12), (
                    name,
                    options,
                )
            ours, theirs = (
                getattr(one, name)(k=k, **options).per_user for one in (alone, plain)
            )
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@given(
    data(gaps=False, most_users=4),
    st.integers(0, 99),
    st.sampled_from([1, 3, 10, None]),
    st.sampled_from([None, 0.2]),
    st.booleans(),
)
def test_every_metric_is_its_naive_definition(source, seed, k, least, by_pair):
    check(source, seed, k, least, by_pair)


# ---- ways in, and what is refused


def test_ways_in_agree(tmp_path):
    truth = SAMPLE.test.assign(p=SAMPLE.test["item"].map(PROPENSITY))
    items, pairs = (
        SAMPLE.items.assign(p=SAMPLE.items["item"].map(PROPENSITY)),
        truth.set_index(["user", "item"])["p"],
    )
    expected = recnb.evaluate(POPULAR, SAMPLE.test, propensity=PROPENSITY).table(
        k=[5, None]
    )
    POPULAR.to_parquet(tmp_path / "recs.parquet")
    truth.to_csv(tmp_path / "truth.csv", index=False)
    both = POPULAR.drop(columns="rank").merge(
        truth.rename(columns={"rating": "relevance"}), "outer", on=["user", "item"]
    )
    for made in (
        recnb.evaluate(POPULAR, truth, propensity="p"),
        recnb.evaluate(POPULAR, SAMPLE.test, items=items, propensity="p"),
        recnb.evaluate(POPULAR, SAMPLE.test, propensity=pairs),
        recnb.evaluate(POPULAR, SAMPLE.test, propensity=pairs.swaplevel()),
        recnb.evaluate(POPULAR, SAMPLE.test, propensity=pairs[::-1]),
        recnb.evaluate(pl.DataFrame(POPULAR), pl.DataFrame(truth), propensity="p"),
        recnb.evaluate(pl.LazyFrame(POPULAR), pl.LazyFrame(truth), propensity="p"),
        recnb.evaluate(
            tmp_path / "recs.parquet", tmp_path / "truth.csv", propensity="p"
        ),
        POPULAR.rec.against(truth, propensity="p"),
        both.rec.evaluation(propensity="p"),
        recnb.compare(
            {"a": POPULAR, "b": SAMPLE.models["factors"]}, truth, propensity="p"
        )["a"],
    ):
        np.testing.assert_allclose(made.table(k=[5, None]), expected, rtol=1e-12)
    assert list(expected.index) == ["precision", "recall", "ndcg"]


def evaluation(**weights):
    return recnb.evaluate(POPULAR, SAMPLE.test, **weights)


def evaluated(**weights):
    return evaluation(**weights).ndcg(k=10)


def compared(one, other):
    """Compare evaluations with these weights."""
    return recnb.compare({"one": evaluation(**one), "other": evaluation(**other)})


REFUSED = read_rows("laws/weights_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call):
    hold_refused(call, REFUSED[call], globals())


def test_propensities_by_popularity():
    """Users count once; an item outside train is as rare as one that a single user
    had.
    """
    train = pd.DataFrame(
        {"user": [1, 2, 3, 4, 4, 1], "item": ["a", "a", "a", "a", "a", "b"]}
    )
    expected = {"a": 1.0, "b": 0.25, "c": 0.25}
    for frame in (train, pl.DataFrame(train), pl.LazyFrame(train)):
        assert popularity_propensity(frame, 1.0, items=["c"]).to_dict() == expected


# ---- laws


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2, 3]), st.floats(0.05, 1)),
        min_size=2,
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_a_repeated_pair_gives_relevance_and_propensity_of_one_row(rows, random):
    """Of the rows of a pair the most relevant counts, the first of several, wherever
    they stand in the truth.
    """
    truth = [("u", "b", 1, 0.5), *(("u", "a", grade, p) for grade, p in rows)]
    random.shuffle(truth)
    truth = pd.DataFrame(truth, columns=["user", "item", "relevance", "p"])
    of_a = truth[truth["item"] == "a"]
    kept = of_a.loc[of_a["relevance"].idxmax()]
    once = pd.DataFrame([kept, truth[truth["item"] == "b"].iloc[0]])
    for options in ({"duplicates": "dedupe"}, {"duplicates": "hit_once"}):
        repeated, single = (
            recnb.evaluate({"u": ["a", "b"]}, frame, propensity="p", **options)
            for frame in (truth, once.astype({"relevance": float, "p": float}))
        )
        for name in ("dcg", "ndcg", "precision", "recall"):
            values = [getattr(ev, name)(k=2) for ev in (repeated, single)]
            assert values[0] == pytest.approx(values[1])


SIZES = st.integers(-99, 0).map(lambda power: 10.0**power)


@given(
    st.lists(st.tuples(SIZES, st.sampled_from([1, 3, 900])), min_size=1, max_size=4),
    st.one_of(st.none(), SIZES),
)
def test_propensities_of_any_size_give_finite_numbers(pairs, least):
    items = [f"i{n}" for n in range(len(pairs))]
    truth = pd.DataFrame({"user": "u", "item": items})
    truth["p"], truth["relevance"] = zip(*pairs, strict=True)
    ev = recnb.evaluate(
        {"u": [items[0], "x"]}, truth, propensity="p", min_propensity=least
    )
    repr(ev.table(k=2, intervals=True))
    for name in WEIGHTED:
        assert math.isfinite(getattr(ev, name)(k=2)), name
    for name in ("dcg", "idcg", "ndcg"):
        refusal = ""
        try:
            value = getattr(ev, name)(k=2, gain="exponential")
        except OptionError as problem:
            value, refusal = 0.0, str(problem)
        assert math.isfinite(value), name
        assert not refusal or "overflow" in refusal


@pytest.mark.parametrize("way", ["column", "pairs"])
def test_a_row_that_is_not_relevant_needs_no_propensity(way):
    truth = pd.DataFrame(
        {
            "user": "u",
            "item": ["a", "b", "c"],
            "relevance": [1, 0, 2],
            "p": [0.5, None, 0.1],
        }
    )
    propensity = "p" if way == "column" else truth.set_index(["user", "item"])["p"]
    judged = truth if way == "column" else truth.drop(columns="p")
    lists = {"u": ["b", "a", "c"]}
    ev, full = (
        recnb.evaluate(lists, judged, propensity=given_as)
        for given_as in (propensity, {"a": 0.5, "b": 1.0, "c": 0.1})
    )
    for name in WEIGHTED:
        assert getattr(ev, name)(k=2) == getattr(full, name)(k=2)
    assert ev.measure("Judged@3") == 1
    assert repr(ev.lint())
    assert repr(ev.report(k=2))
    with pytest.raises(FrameError, match="item 'b'"):
        recnb.evaluate(lists, judged, propensity=propensity, relevant="any")
    with pytest.raises(FrameError, match="to 1, such as 3"):
        recnb.evaluate(lists, truth.assign(p=[0.5, 3.0, 0.1]), propensity="p")


def test_weights_without_a_relevant_pair_have_a_report():
    truth = pd.DataFrame({"user": "u", "item": ["a", "b"], "relevance": 0, "p": 0.5})
    ev = recnb.evaluate({"u": ["a", "c"]}, truth, propensity="p", no_relevant="zero")
    assert "Precision@2 = 0.0000" in repr(ev.report(k=2))


#: A weight for each user of the sample.
WEIGHT = pd.Series(
    np.random.default_rng(0).uniform(0.5, 3, len(SAMPLE.users)), SAMPLE.users["user"]
)


def test_means_are_those_of_the_users_by_weight():
    """Of whoever is averaged: a list of one item has no diversity."""
    sides = {"train": SAMPLE.train, "items": SAMPLE.items}
    short = POPULAR[(POPULAR["user"] != "u002") | (POPULAR["rank"] == 1)]
    ev = recnb.evaluate(short, SAMPLE.test, user_weight=WEIGHT, **sides)
    truth = SAMPLE.test[SAMPLE.test["user"] != "u026"]
    of_listed = recnb.evaluate(
        POPULAR, truth, user_weight=WEIGHT, averaged_users="recs"
    )
    assert "u002" not in ev.diversity(k=10).per_user
    for score in (
        ev.ndcg(k=10),
        ev.novelty(k=10),
        ev.diversity(k=10),
        of_listed.ndcg(k=10),
    ):
        values = score.per_user.dropna()
        mean = np.average(values, weights=WEIGHT[values.index])
        assert score == pytest.approx(mean)


def test_equal_weights_are_none():
    sides = {"train": SAMPLE.train, "users": SAMPLE.users}
    plain, equal = (
        evaluation(user_weight=weight, **sides) for weight in (None, WEIGHT * 0 + 3)
    )
    for asked in ({"intervals": True}, {"by": "branch"}):
        metrics = ["ndcg", "hit_rate", "novelty"]
        tables = [ev.table(metrics, k=10, **asked).to_frame() for ev in (plain, equal)]
        pd.testing.assert_frame_equal(*tables)
    uneven = evaluation(user_weight=WEIGHT)
    assert uneven.detectable("ndcg", k=10) > plain.detectable("ndcg", k=10)


def test_segments_and_differences_add_up_by_weight():
    users = SAMPLE.users.assign(value=WEIGHT.to_numpy())
    ev = evaluation(users=users, user_weight="value")
    score = ev.ndcg(k=10)
    branch = users.set_index("user")["branch"]
    of_branch = WEIGHT[score.per_user.index].groupby(branch).sum()
    segments = ev.table("ndcg", k=10, by="branch").to_frame()
    means = segments["mean"].droplevel(["metric", "k"])
    assert (means * of_branch).sum() / of_branch.sum() == pytest.approx(score)
    models = {"a": POPULAR, "b": POPULAR, "c": SAMPLE.models["factors"]}
    found = recnb.compare(models, SAMPLE.test, user_weight=WEIGHT)
    same, other = found.differences("ndcg", k=10).to_dict("records")
    assert same["difference"] == 0
    apart = float(found["c"].ndcg(k=10)) - float(found["a"].ndcg(k=10))
    assert other["difference"] == pytest.approx(apart)


@given(
    data(gaps=False, most_users=5),
    st.integers(0, 99),
    st.floats(1e-49, 1e49),
)
def test_weights_of_users_matter_by_their_shares_alone(source, seed, factor):
    users = [*dict.fromkeys([*source.lists, *source.truth])]
    weights = np.random.default_rng(seed).uniform(0.5, 3, len(users))
    one, other = (
        recnb.evaluate(
            source.recs,
            source.relevant,
            user_weight=dict(zip(users, given_as.tolist(), strict=True)),
        )
        for given_as in (weights, weights * factor)
    )
    metrics = ["ndcg", "precision", "dcg", "entropy"]
    tables = [
        ev.table(metrics, k=[1, 3], intervals=True).to_frame() for ev in (one, other)
    ]
    np.testing.assert_allclose(*tables, rtol=1e-9, atol=1e-12)
    assert one.ndcg(k=3).basis == other.ndcg(k=3).basis
    segment = pd.Series(dict(zip(users, itertools.cycle("xy"), strict=False)))
    numbers = [
        ev.table("ndcg", k=3, by=segment).to_frame().astype(float)
        for ev in (one, other)
    ]
    np.testing.assert_allclose(*numbers, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        *(ev.detectable("ndcg", k=3) for ev in (one, other)), rtol=1e-9
    )


def test_weights_of_users_are_shares_of_the_largest():
    lists = {"u": ["a"], "v": ["b"], "w": ["a"]}
    truth = {user: ["a"] for user in lists}
    ev = recnb.evaluate(lists, truth, user_weight={"u": 2e-50, "v": 1e-50, "w": 1e-50})
    assert ev.precision(k=1) == 3 / 4
    assert "users weigh from 0.5 to 1 of the heaviest" in ev.precision(k=1).basis


def test_only_users_evaluated_need_a_weight():
    plain = recnb.evaluate(POPULAR, SAMPLE.test)
    spent = pd.Series(2.0, plain.ndcg(k=10).per_user.index)
    users = SAMPLE.users.assign(spent=SAMPLE.users["user"].map(spent))
    assert users["spent"].isna().sum() == 39
    for options in (
        {"user_weight": spent},
        {"users": users, "user_weight": "spent"},
        {"user_weight": users.set_index("user")["spent"]},
    ):
        assert recnb.evaluate(POPULAR, SAMPLE.test, **options).ndcg(
            k=10
        ) == pytest.approx(plain.ndcg(k=10))
    items = SAMPLE.items.assign(
        p=SAMPLE.items["item"]
        .map(PROPENSITY)
        .where(SAMPLE.items["item"].isin(SAMPLE.test["item"]))
    )
    ev = recnb.evaluate(POPULAR, SAMPLE.test, items=items, propensity="p")
    assert ev.ndcg(k=10) == recnb.evaluate(
        POPULAR, SAMPLE.test, propensity=PROPENSITY
    ).ndcg(k=10)


def test_parts_of_the_truth_add_up():
    """A user's parts share no item, so the weighted hits of parts add up."""
    truth = SAMPLE.test.assign(week=np.arange(len(SAMPLE.test)) % 3)
    weight = pd.Series(np.arange(1.0, 301), SAMPLE.users["user"])
    options = {
        "propensity": PROPENSITY,
        "user_weight": weight,
        "averaged_users": "recs",
        "no_relevant": "zero",
    }
    ev = recnb.evaluate(POPULAR, truth, **options)
    parts = ev.table(["precision", "dcg"], k=10, by="week")
    for name in ("precision", "dcg"):
        assert parts["mean"].xs(name).sum() == pytest.approx(ev.measure(name, k=10))


def test_a_propensity_is_looked_up_once_and_then_a_column_of_the_truth(monkeypatch):
    looked_up = []

    def counted(*given):
        looked_up.append(given)
        return look_up(*given)

    monkeypatch.setattr(in_memory, "look_up", counted)
    ev = recnb.evaluate(POPULAR, SAMPLE.test, propensity=PROPENSITY)
    truth = ev.source.truth_rows
    wanted = [PROPENSITY[item] for item in truth["item"]]
    assert truth["propensity"].to_list() == wanted
    rows = [ev.source.under(convention).rows.relevant for convention in CONVENTIONS]
    for row in rows:
        paid = [1 / PROPENSITY[item] for item in row["item"]]
        assert row["weight"].to_list() == pytest.approx(paid, rel=1e-15)
    assert len(looked_up) == 1


def test_the_lint_finds_clipped_propensities_and_users_nothing_was_seen_of():
    clipped = evaluation(propensity=PROPENSITY, min_propensity=0.2).lint()["clipped"]
    assert clipped.facts["other"] == pytest.approx(evaluated(propensity=PROPENSITY))
    plain = evaluation().lint()
    assert {"clipped", "nothing_seen"}.isdisjoint(plain.names)
    options = {"propensity": PROPENSITY, "min_propensity": 0.02}
    unseen = evaluation(**options).lint(metric="precision")["nothing_seen"]
    counted = evaluation(**options, averaged_users="recs", no_relevant="zero")
    assert unseen.n == 39
    assert unseen.facts["other"] == pytest.approx(float(counted.precision(k=10)))
    assert "nothing_seen" not in counted.lint().names


@pytest.mark.parametrize("averaged_users", ["truth", "both", "recs", "union"])
@pytest.mark.parametrize("no_relevant", ["skip", "zero", "one"])
def test_users_of_whom_nothing_was_seen_are_said_to_be_what_they_are(
    no_relevant, averaged_users
):
    """`b` has no relevant item in the truth, and `c` no row: each is left out, counts
    0, which is right, or counts 1.
    """
    recs = pd.DataFrame(
        {"user": list("aabbcc"), "item": list("xyxyxy"), "score": [2, 1] * 3}
    )
    truth = pd.DataFrame(
        {"user": list("aab"), "item": list("xyx"), "relevance": [1, 0, 0], "p": 0.5}
    )
    lint = recnb.evaluate(
        recs,
        truth,
        propensity="p",
        no_relevant=no_relevant,
        averaged_users=averaged_users,
    ).lint(2, "precision")
    unseen = [line for line in lint if line.name == "nothing_seen"]
    in_mean = {"truth": "ab", "both": "ab", "recs": "abc", "union": "abc"}
    count_0 = len(in_mean[averaged_users]) - 1 if no_relevant == "zero" else 0
    n = 2 - count_0
    assert [line.n for line in unseen] == [n] * (n > 0)
    for line in unseen:
        assert line.severity == "note"
        assert line.facts["other_users"] == 3
        assert line.facts["other"] == pytest.approx(2 / 2 / 3)


@pytest.mark.slow
def test_weights_take_the_bias_away():
    """2,000 users, 500 items, 200 draws of what was seen: weighted means are those of
    the full truth within three standard errors.

    Sums (dcg, rbp, precision) are without bias; that of recall falls with 1 / relevant
    items, of which a user has some 150 here.
    """
    rng = np.random.default_rng(3)
    n_users, n_items, k = 2000, 500, 20
    popularity = np.arange(1, n_items + 1) ** -0.7
    propensity = np.clip(1.2 * popularity**0.5, 0.35, 1)
    relevant = rng.random((n_users, n_items)) < np.clip(0.5 * popularity + 0.28, 0, 0.9)
    score = 1.5 * relevant + 2 * popularity + rng.normal(0, 1, relevant.shape)
    items = np.argsort(-score, axis=1)[:, :k]
    recs = pd.DataFrame(
        {
            "user": np.repeat(np.arange(n_users), k),
            "item": items.ravel(),
            "rank": np.tile(np.arange(1, k + 1), n_users),
        }
    )
    p = pd.Series(propensity)
    metrics = ["recall", "precision", "dcg", "rbp"]

    def evaluation(pairs, **options):
        truth = pd.DataFrame(np.argwhere(pairs), columns=["user", "item"])
        return recnb.evaluate(
            recs, truth, averaged_users="recs", no_relevant="zero", **options
        )

    full, weighted, plain = evaluation(relevant).table(metrics, k=k)[k], [], []
    for _draw in range(200):
        seen = relevant & (rng.random(relevant.shape) < propensity)
        ev = evaluation(seen, propensity=p)
        weighted.append(ev.table(metrics, k=k)[k])
        plain.append(evaluation(seen).table(metrics, k=k)[k])
    for name in metrics:
        for numbers, agrees in ((weighted, True), (plain, False)):
            of_draws = np.array([one[name] for one in numbers])
            error = of_draws.std(ddof=1) / math.sqrt(len(of_draws))
            assert (abs(of_draws.mean() - full[name]) <= 3 * error) == agrees, (
                name,
                of_draws.mean(),
                full[name],
                error,
            )
    assert f"{plain[-1]['recall']:.4f} ({weighted[-1]['recall']:.4f})" in repr(
        ev.report(k=k, metrics=metrics)
    )


@pytest.mark.slow
def test_the_bias_of_recall_is_that_of_its_docstring():
    """Half of n relevant items are hits, seen with a chance of 0.8, the others of 0.2:
    0.5 / n * ((1.25 + 5) / 2 - 1.25); each user is a draw.
    """
    rng, users, found = np.random.default_rng(0), 20_000, {}
    for n in (20, 40, 80, 160):
        chance = np.repeat([0.8, 0.2], n // 2)
        truth = pd.DataFrame(
            np.argwhere(rng.random((users, n)) < chance), columns=["user", "item"]
        )
        hits = pd.DataFrame(
            {
                "user": np.repeat(np.arange(users), n // 2),
                "item": np.tile(np.arange(n // 2), users),
            }
        )
        recs = hits.assign(rank=np.tile(np.arange(1, n // 2 + 1), users))
        recall = (
            recnb.evaluate(recs, truth, propensity=pd.Series(chance))
            .recall(k=n)
            .per_user
        )
        found[n] = recall.mean() - 0.5
        assert found[n] == pytest.approx(
            0.9375 / n, abs=3 * recall.std() / math.sqrt(users) + 4 / n**2
        )
    assert all(1.7 <= found[n] / found[2 * n] <= 2.5 for n in (20, 40, 80))


def test_models_of_one_mean_have_no_order_that_weights_change() -> None:
    """The lists of one model are those of the other, of other users: their sums differ
    in the order of the terms alone.
    """
    users = range(7)
    truth = pd.DataFrame(
        [(user, item, p) for user in users for item, p in (("a", 0.3), ("b", 0.7))],
        columns=["user", "item", "p"],
    )
    said = set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lists = [rng.permutation(list("abxy")) for _user in users]
        models = {}
        for name, order in (("m", users), ("n", rng.permutation(7).tolist())):
            rows = [
                (user, item, rank)
                for user, of_user in zip(order, lists, strict=True)
                for rank, item in enumerate(of_user, 1)
            ]
            models[name] = pd.DataFrame(rows, columns=["user", "item", "rank"])
        found = recnb.compare(models, truth, propensity="p")
        basis = found.table("dcg", k=3).attrs["basis"]
        said |= {*re.findall("order of the models is [a-z ]+", basis)}
    assert said == {"order of the models is the same"}
