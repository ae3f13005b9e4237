"""Relevant pairs with propensities and users with weights: naive definitions in plain
Python, laws, refusals, and a simulation. What is said of them is in
`results/shown/weights.txt`.
"""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS, popularity_propensity
from recnb.errors import FrameError, OptionError
from tests import reference
from tests.examples import examples
from tests.rows import hold_refusals, read_rows
from tests.sample import SAMPLE
from tests.strategies import data, each_word

WEIGHTED = [name for name, metric in METRICS.items() if not metric.instead]
PROPENSITY = popularity_propensity(SAMPLE.train, 1.5, items=SAMPLE.items["item"])
POPULAR = SAMPLE.models["popular"]
#: A weight for each user of the sample.
WEIGHT = pd.Series(
    np.random.default_rng(0).uniform(0.5, 3, len(SAMPLE.users)), SAMPLE.users["user"]
)


def evaluation(**weights):
    return recnb.evaluate(POPULAR, SAMPLE.test, **weights)


def evaluated(**weights):
    return evaluation(**weights).ndcg(k=10)


def compared(one, other):
    """Compare evaluations with these weights."""
    return recnb.compare({"one": evaluation(**one), "other": evaluation(**other)})


# ---- the definition


def weighted(name, items, truth, weight, k, **options):
    """One user's value as Jain et al. (2016) and Yang et al. (2018) define it: by the
    naive reference each relevant item alone, times its weight.
    """
    relevant = {item: grade for item, grade in truth.items() if grade > 0}
    depth = len(items) if k is None else k
    shortest = min(depth, len(items))

    def total(metric, places, k, **chosen):
        value = reference.REFERENCE[metric]
        return sum(
            weight[item] * value(places, {item: grade}, k, **chosen)
            for item, grade in relevant.items()
        )

    if name in ("idcg", "ndcg"):
        end = {"relevant": k, "min(k, list)": shortest, "all": None}
        n_best = end[options.pop("ideal", "relevant")]
        worth = {
            item: weight[item] * reference.gain_of(grade, options.get("gain", "linear"))
            for item, grade in relevant.items()
        }
        best = sorted(worth, key=worth.__getitem__, reverse=True)[:n_best]
        ideal = total("dcg", best, None, **options)
        if name == "idcg":
            return ideal
        return reference.ratio(total("dcg", items, k, **options), ideal)
    most = {
        "relevant": None,
        "min(k, relevant)": depth,
        "min(list, relevant)": shortest,
    }
    out_of = options.get("out_of", "relevant" if name == "recall" else "")
    if out_of not in most:
        return total(name, items, k, **options)
    options.pop("out_of", None)
    earned = "hit_rate" if name in ("precision", "recall") else name
    heaviest = sorted((weight[item] for item in relevant), reverse=True)
    return reference.ratio(
        total(earned, items, k, **options), sum(heaviest[: most[out_of]])
    )


WAYS = ["column of the truth", "column of items", "by item"]


@pytest.mark.parametrize("way", WAYS)
@given(
    source=data(gaps=False, most_users=4),
    seed=st.integers(0, 99),
    k=st.sampled_from([1, 3, 10, None]),
    least=st.sampled_from([None, 0.2, 1]),
)
@settings(max_examples=examples(20))
def test_every_metric_is_its_naive_definition(way, source, seed, k, least):
    truth = source.relevant
    p = truth.set_index(["user", "item"])["relevance"]
    p[:] = np.random.default_rng(seed).uniform(0.01, 1, len(p))
    if "item" in way:
        p = p.groupby("item").transform("first")
    by_item = p.groupby("item").first().rename("p")
    given_as = {
        "column of the truth": {"propensity": "p"},
        "column of items": {"propensity": "p", "items": by_item.reset_index()},
        "by item": {"propensity": by_item},
    }
    if way == "column of the truth":
        truth = truth.assign(p=p.to_numpy())
    ev = recnb.evaluate(source.recs, truth, min_propensity=least, **given_as[way])
    for name in WEIGHTED:
        for options in each_word(METRICS[name]):
            if options.get("ideal") == "k":
                continue
            values = getattr(ev, name)(k=k, **options).per_user
            for user in source.users:
                judged = source.truth[user]
                weight = {item: 1 / max(p[user, item], least or 0) for item in judged}
                wanted = weighted(
                    name, source.ranking(user), judged, weight, k, **options
                )
                assert values[user] == pytest.approx(wanted, rel=1e-9, abs=1e-12), (
                    name,
                    options,
                )


# ---- ways in, and what is refused


def test_ways_in_agree(tmp_path):
    """Of a column of the truth, wherever it stands."""
    truth = SAMPLE.test.assign(p=SAMPLE.test["item"].map(PROPENSITY))
    expected = evaluation(propensity=PROPENSITY).table(k=[5, None])
    POPULAR.to_parquet(tmp_path / "recs.parquet")
    truth.to_csv(tmp_path / "truth.csv", index=False)
    files = tmp_path / "recs.parquet", tmp_path / "truth.csv"
    both = POPULAR.drop(columns="rank").merge(
        truth.rename(columns={"rating": "relevance"}), "outer", on=["user", "item"]
    )
    models = {"a": POPULAR, "b": SAMPLE.models["factors"]}
    for made in (
        recnb.evaluate(pl.DataFrame(POPULAR), pl.DataFrame(truth), propensity="p"),
        recnb.evaluate(pl.LazyFrame(POPULAR), pl.LazyFrame(truth), propensity="p"),
        recnb.evaluate(*files, propensity="p"),
        POPULAR.rec.against(truth, propensity="p"),
        both.rec.evaluation(propensity="p"),
        recnb.compare(models, truth, propensity="p")["a"],
    ):
        np.testing.assert_allclose(made.table(k=[5, None]), expected, rtol=1e-12)
    assert list(expected.index) == ["precision", "recall", "ndcg"]


test_refused = hold_refusals(read_rows("laws/weights_refused.toml"), globals())


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
    highest_first = truth.sort_values("relevance", ascending=False, kind="stable")
    once = highest_first.drop_duplicates("item")
    for options in ({"duplicates": "dedupe"}, {"duplicates": "hit_once"}):
        repeated, single = (
            recnb.evaluate({"u": ["a", "b"]}, frame, propensity="p", **options)
            for frame in (truth, once)
        )
        for name in ("dcg", "ndcg", "precision", "recall"):
            values = [getattr(ev, name)(k=2) for ev in (repeated, single)]
            assert values[0] == pytest.approx(values[1])


SIZES = st.integers(-49, 0).map(lambda power: 10.0**power)


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
        assert not refusal or "too large" in refusal


def test_a_row_that_is_not_relevant_needs_no_propensity():
    truth = pd.DataFrame(
        {
            "user": "u",
            "item": ["a", "b", "c"],
            "relevance": [1, 0, 2],
            "p": [0.5, None, 0.1],
        }
    )
    lists = {"u": ["b", "a", "c"]}
    ev, full = (
        recnb.evaluate(lists, truth, propensity=given_as)
        for given_as in ("p", {"a": 0.5, "b": 1.0, "c": 0.1})
    )
    for name in WEIGHTED:
        assert getattr(ev, name)(k=2) == getattr(full, name)(k=2)
    assert ev.measure("Judged@3") == 1
    assert repr(ev.lint())
    assert repr(ev.report(k=2))
    with pytest.raises(FrameError, match="item 'b'"):
        recnb.evaluate(lists, truth, propensity="p", relevant="any")
    with pytest.raises(FrameError, match="to 1, such as 3"):
        recnb.evaluate(lists, truth.assign(p=[0.5, 3.0, 0.1]), propensity="p")


def test_weights_without_a_relevant_pair_have_a_report():
    truth = pd.DataFrame({"user": "u", "item": ["a", "b"], "relevance": 0, "p": 0.5})
    ev = recnb.evaluate({"u": ["a", "c"]}, truth, propensity="p", no_relevant="zero")
    assert "Precision@2 = 0.0000" in repr(ev.report(k=2))


def test_means_are_those_of_the_users_by_weight():
    """Of whoever is averaged: a list of one item has no diversity."""
    short = POPULAR[(POPULAR["user"] != "u002") | (POPULAR["rank"] == 1)]
    ev = recnb.evaluate(
        short,
        SAMPLE.test[SAMPLE.test["user"] != "u026"],
        user_weight=WEIGHT,
        averaged_users="recs",
        train=SAMPLE.train,
        items=SAMPLE.items,
    )
    assert "u002" not in ev.diversity(k=10).per_user
    for name in ("ndcg", "novelty", "diversity"):
        score = ev.measure(name, k=10)
        values = score.per_user.dropna()
        mean = np.average(values, weights=WEIGHT[values.index])
        assert score == pytest.approx(mean)
    uneven, even = (evaluation(user_weight=one) for one in (WEIGHT, WEIGHT * 0 + 3))
    assert uneven.detectable("ndcg", k=10) > even.detectable("ndcg", k=10)


@given(
    data(gaps=False, most_users=5),
    st.integers(0, 99),
    st.floats(1e-49, 1e49),
    st.booleans(),
)
def test_weights_of_users_matter_by_their_shares_alone(source, seed, factor, equal):
    """So equal weights are none."""
    users = [*dict.fromkeys([*source.lists, *source.truth])]
    rng = np.random.default_rng(seed)
    weights = pd.Series(1.0 if equal else rng.uniform(0.5, 3, len(users)), users)
    one, other = (
        recnb.evaluate(source.recs, source.relevant, **options)
        for options in (
            {} if equal else {"user_weight": weights.to_dict()},
            {"user_weight": weights * factor},
        )
    )
    if not equal:
        assert one.ndcg(k=3).basis == other.ndcg(k=3).basis
    segment = pd.Series(dict(zip(users, itertools.cycle("xy"), strict=False)))
    for asked in (
        {"metrics": ["ndcg", "precision", "dcg", "entropy"], "intervals": True},
        {"metrics": "ndcg", "by": segment},
    ):
        numbers = [
            ev.table(k=[1, 3], **asked).to_frame().astype(float) for ev in (one, other)
        ]
        np.testing.assert_allclose(*numbers, rtol=1e-7, atol=1e-9)
    smallest = [ev.detectable("ndcg", k=3) for ev in (one, other)]
    np.testing.assert_allclose(*smallest, rtol=1e-9)


def test_only_users_and_items_evaluated_need_a_weight():
    plain = evaluated()
    spent = pd.Series(2.0, plain.per_user.index)
    users = SAMPLE.users.assign(spent=SAMPLE.users["user"].map(spent))
    assert users["spent"].isna().sum() == 39
    for options in (
        {"user_weight": spent},
        {"users": users, "user_weight": "spent"},
        {"user_weight": users.set_index("user")["spent"]},
    ):
        assert evaluated(**options) == pytest.approx(plain)
    p = PROPENSITY.where(PROPENSITY.index.isin(SAMPLE.test["item"]))
    items = SAMPLE.items.assign(p=SAMPLE.items["item"].map(p))
    assert evaluated(items=items, propensity="p") == evaluated(propensity=PROPENSITY)


def test_parts_of_the_truth_add_up():
    """A user's parts share no item, so the weighted hits of parts add up."""
    truth = SAMPLE.test.assign(week=np.arange(len(SAMPLE.test)) % 3)
    options = {
        "propensity": PROPENSITY,
        "user_weight": WEIGHT,
        "averaged_users": "recs",
        "no_relevant": "zero",
    }
    ev = recnb.evaluate(POPULAR, truth, **options)
    parts = ev.table(["precision", "dcg"], k=10, by="week")
    for name in ("precision", "dcg"):
        assert parts["mean"].xs(name).sum() == pytest.approx(ev.measure(name, k=10))


def test_the_lint_finds_clipped_propensities():
    clipped = evaluation(propensity=PROPENSITY, min_propensity=0.2).lint()["clipped"]
    assert clipped.facts["other"] == pytest.approx(evaluated(propensity=PROPENSITY))
    assert {"clipped", "nothing_seen"}.isdisjoint(evaluation().lint().names)


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
    metrics = ["recall", "precision", "dcg", "rbp"]

    def means(pairs, **options):
        truth = pd.DataFrame(np.argwhere(pairs), columns=["user", "item"])
        ev = recnb.evaluate(
            recs, truth, averaged_users="recs", no_relevant="zero", **options
        )
        return ev.table(metrics, k=k)[k]

    weighted, plain = [], []
    for _draw in range(200):
        seen = relevant & (rng.random(relevant.shape) < propensity)
        weighted.append(means(seen, propensity=pd.Series(propensity)))
        plain.append(means(seen))
    full = means(relevant)
    for of_draws, agrees in ((weighted, True), (plain, False)):
        found = pd.DataFrame(of_draws)
        error = found.std() / math.sqrt(len(found))
        assert (((found.mean() - full).abs() <= 3 * error) == agrees).all(), (
            found.mean()
        )


@pytest.mark.slow
def test_the_bias_of_recall_is_that_of_its_docstring():
    """Half of n relevant items are hits, seen with a chance of 0.8, the others of 0.2:
    0.5 / n * ((1.25 + 5) / 2 - 1.25); each user is a draw.
    """
    rng, n_users, bias = np.random.default_rng(0), 20_000, {}
    for n in (20, 40, 80, 160):
        chance = np.repeat([0.8, 0.2], n // 2)
        seen = np.argwhere(rng.random((n_users, n)) < chance)
        truth = pd.DataFrame(seen, columns=["user", "item"])
        hits = np.argwhere(np.ones((n_users, n // 2)))
        recs = pd.DataFrame(hits, columns=["user", "item"])
        recs["rank"] = recs["item"] + 1
        ev = recnb.evaluate(recs, truth, propensity=pd.Series(chance))
        values = ev.recall(k=n).per_user
        bias[n] = values.mean() - 0.5
        error = 3 * values.std() / math.sqrt(n_users)
        assert bias[n] == pytest.approx(0.9375 / n, abs=error + 4 / n**2)
    assert all(1.7 <= bias[n] / bias[2 * n] <= 2.5 for n in (20, 40, 80))
