"""A metric of one's own that sees the items of its rows: their popularity in train and
columns of `items=`, of hits and of whole lists.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import presets
from recnb.errors import OptionError, RecnbError
from recnb.metrics import Credit, list_credit, out_of_count
from recnb.metrics.metric import LIST_METRICS, METRICS
from tests import reference
from tests.random_frames import CONVENTIONS, random_frames

SAMPLE = recnb.datasets.load_sample()
EV = recnb.evaluate(
    SAMPLE.models["item-knn"],
    SAMPLE.test,
    train=SAMPLE.train,
    items=SAMPLE.items,
    users=SAMPLE.users,
)
FOUND = recnb.compare(
    SAMPLE.models,
    SAMPLE.test,
    train=SAMPLE.train,
    items=SAMPLE.items,
    users=SAMPLE.users,
)

#: A user whose three items are relevant at ranks 1 and 3, and what three users had.
RECS = {"u": ["a", "b", "c"]}
TRUTH = {"u": {"a": 1.0, "c": 1.0, "d": 2.0}}
TRAIN = pd.DataFrame({"user": [1, 1, 2, 2, 3], "item": list("abaad")}).astype(str)
ITEMS = pd.DataFrame(
    {"item": list("abcd"), "price": [3.0, np.nan, 5.0, 2.0], "kind": list("xyxy")}
)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Without this test's metrics afterwards."""
    yield
    for metrics in (METRICS, LIST_METRICS):
        for name in [name for name, metric in metrics.items() if metric.own]:
            del metrics[name]


def complement(bounds: tuple[float, float] = (0, 1)) -> Any:
    """Expected popularity complement (Vargas and Castells 2011)."""

    @recnb.metric(
        symbol="EPC",
        credit="p^(rank - 1) * (1 - count / n_users)",
        out_of="(1 - p^k) / (1 - p)",
        bounds=bounds,
        needs=("train",),
    )
    def complement(hits, k=None, *, p=0.85):
        """How <b>unknown</b> what is relevant is."""
        unknown = 1 - hits.items.count / hits.items.n_users
        places = out_of_count(hits, k, "k")
        return Credit(
            hits, k, p ** (hits.rank - 1) * unknown, (1 - p**places) / (1 - p)
        )

    return complement


def spending(columns: Any = ("price",)) -> Any:
    """What is relevant in the list costs, out of what all of it does."""

    @recnb.metric(
        symbol="Spend",
        credit="price * relevance",
        out_of="ideal(price * relevance)",
        columns=columns,
    )
    def spending(hits, k=None):
        """Price of the hits."""
        earned = hits.items.column("price") * hits.relevance
        best = hits.ideal.items.column("price") * hits.ideal.relevance
        return Credit(hits, k, earned, Credit(hits.ideal, k, best))

    return spending


def unpopularity() -> Any:
    """The complement of recnb's popularity, written as a caller would."""

    @recnb.metric(
        symbol="Unpop",
        over="list",
        credit="1 - count / n_users",
        out_of="n_shown",
        bounds=(0, 1),
        needs=("train",),
        better=None,
    )
    def unpopularity(lists, k=None):
        """Share of users who have <b>not</b> had the average item of the list."""
        return list_credit(lists, k, 1 - lists.items.count / lists.items.n_users)

    return unpopularity


def mean_of(column: str, columns: Any = None) -> Any:
    """The mean of a column of items= over the items of a list."""

    @recnb.metric(
        symbol="Mean",
        over="list",
        credit=column,
        out_of="n_shown",
        columns=[column] if columns is None else columns,
        better=None,
    )
    def mean(lists, k=None):
        """Mean of the list."""
        return list_credit(lists, k, lists.items.column(column))

    return mean


def discounted_price() -> Any:
    """The price of each place, less further down, out of k."""

    @recnb.metric(
        symbol="Price",
        over="list",
        credit="price / rank^power",
        out_of="k",
        columns=["price"],
    )
    def discounted_price(lists, k=None, *, power=1):
        """Price by rank."""
        earned = lists.items.column("price") / lists.rank**power
        return list_credit(lists, k, earned, lists.n_shown if k is None else k)

    return discounted_price


# Numbers


def complement_of(ranking: reference.Ranking, p: float, unknown: dict[Any, float]):
    """The sum of Vargas and Castells, one hit after the other."""
    found = sum(
        p ** (hit.position - 1) * unknown.get(hit.item, 1.0) for hit in ranking.hits
    )
    return reference.ratio(found, sum(p**place for place in range(ranking.k)))


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_epc_is_the_naive_sum_under_every_convention(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties, repeats, padded lists: the count is that of the item of each hit."""
    rng = np.random.default_rng(number)
    recs, truth = random_frames(rng, 25)
    if CONVENTIONS[number].get("duplicates"):
        recs = pd.concat([recs, recs.sample(frac=0.2, random_state=number)])
    train = pd.DataFrame(rng.integers(0, [9, 10], (40, 2)), columns=["user", "item"])
    had = train.drop_duplicates().groupby("item").size() / train["user"].nunique()
    unknown = (1 - had).to_dict()
    monkeypatch.setitem(
        reference.DEFINITIONS,
        "complement",
        lambda ranking, p: complement_of(ranking, p, unknown),
    )
    options = reference.DEFAULTS | {"order": "score"} | CONVENTIONS[number]
    ev = recnb.evaluate(recs, truth, train=train, **CONVENTIONS[number])
    case = {"recs": recs.assign(rank=0).to_dict("records")}
    case["truth"] = truth.to_dict("records")
    for k in (1, 3, 20, None):
        # Where nothing is cut, hits below k add to what k places can hold.
        metric = complement(bounds=(0, np.inf))
        values = ev.measure(metric, k=k, p=0.7).per_user.dropna()
        expected = {
            user: reference.of_user(
                "complement", case | {"k": k}, user, options | {"p": 0.7}
            )
            for user in reference.averaged_users(case, options)
        }
        known = {user: value for user, value in expected.items() if value is not None}
        assert values.to_dict() == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("number", range(len(CONVENTIONS)))
def test_a_column_that_repeats_the_relevance_is_worth_the_same(number: int) -> None:
    """Of the hits, and of the ideal list that they are divided by."""
    rng = np.random.default_rng(50 + number)
    recs, truth = random_frames(rng, 30, text=number % 2 == 1)
    items = pd.DataFrame({"item": sorted({*recs["item"], *truth["item"]})[::-1]})
    items["price"] = 1.0 + np.arange(len(items)) % 5
    truth["relevance"] = truth["item"].map(items.set_index("item")["price"])
    ev = recnb.evaluate(recs, truth, items=items, **CONVENTIONS[number])

    @recnb.metric(symbol="S", credit="relevance^2", out_of="ideal(relevance^2)")
    def squared(hits, k=None):
        return Credit(
            hits, k, hits.relevance**2, Credit(hits.ideal, k, hits.ideal.relevance**2)
        )

    prices = ev.table(spending(), k=[1, 3, None]).to_numpy()
    assert prices == pytest.approx(ev.table(squared, k=[1, 3, None]).to_numpy())


def test_epc_of_a_hand_worked_list() -> None:
    """Of three users, two had a, none c: 1 * 1/3 at rank 1, 0.25 * 1 at rank 3."""
    ev = recnb.evaluate(RECS, TRUTH, train=TRAIN)
    assert ev.measure(complement(), k=3, p=0.5) == pytest.approx((1 / 3 + 0.25) / 1.75)
    worked = ev.explain("complement", "u", k=3, p=0.5)
    assert worked.numbers == (
        "(0.5^(1-1)*(1-2/3) + 0.5^(3-1)*(1-0/3)) / ((1-0.5^3)/(1-0.5)) "
        "= 0.5833 / 1.75 = 0.3333"
    )
    assert worked.rows["count"].tolist() == pytest.approx([2, np.nan, 0], nan_ok=True)
    assert worked.basis.endswith("what 3 users had in train")


@pytest.mark.parametrize("library", [None, *presets.names()])
def test_explanations_have_the_number_of_each_item(library: str | None) -> None:
    """Of other users than the first, and of the relevant items of each library."""
    minutes = SAMPLE.items.set_index("item")["minutes"]
    ev = EV if library is None else EV.under(library)

    @recnb.metric(symbol="M", credit="minutes", columns=["minutes"])
    def length(hits, k=None):
        return Credit(hits, k, hits.items.column("minutes"))

    try:
        values = ev.measure(length, k=10).per_user
    except OptionError:  # ties are averaged
        assert ev.convention.ties == "expected"
        return
    for user in ("u002", "u026", "u300"):
        worked = ev.explain(length, user, k=10)
        hits = worked.rows[worked.rows["relevance"] > 0]
        assert hits["minutes"].tolist() == minutes[hits["item"]].tolist()
        assert worked.value == values[user] == hits["minutes"].sum() > 0


@pytest.mark.parametrize("library", ["recbole", "lenskit", "recommenders"])
def test_items_are_those_that_are_relevant_to_the_metric(library: str) -> None:
    """A library may count items of grade 0, and a metric that it lacks does not."""
    truth = pd.DataFrame(
        {"user": list("uuuvv"), "item": list("abdab"), "relevance": [0, 0, 3, 0, 1]}
    )
    ev = recnb.evaluate({"u": list("abcd"), "v": ["b"]}, truth, items=ITEMS)
    metric = spending({"price": 7})
    earned = ev.under(library).explain(metric, "u", k=4).rows["credit"].tolist()
    assert earned == [0, 0, 0, 2 * 3]
    assert ev.under(library).explain(metric, "v", k=4).rows["credit"].tolist() == [7]


def test_a_function_may_cut_its_lists_and_call_another_metric() -> None:
    mean = mean_of("minutes")

    @recnb.metric(
        symbol="Cut",
        over="list",
        credit="2 * minutes",
        out_of="n_shown",
        columns=["minutes"],
    )
    def cut(lists, k=None):
        shown = lists.upto(k)
        earned = 2 * shown.items.column("minutes")
        assert (
            mean(lists, k).value * 2 == list_credit(shown, None, earned).value
        ).all()
        return list_credit(shown, k, earned)

    twice = EV.measure(cut, k=7).per_user
    assert twice.tolist() == (2 * EV.measure(mean, k=7).per_user).tolist()


def test_a_list_metric_is_recnb_s_own_of_the_same_definition() -> None:
    mine = unpopularity()
    for k in (1, 5, None):
        values = EV.measure(mine, k=k).per_user
        own = EV.popularity(k=k).per_user
        np.testing.assert_allclose(values, 1 - own, atol=1e-12)
        worked, of_recnb = (
            EV.explain(name, "u026", k=k) for name in ("unpopularity", "popularity")
        )
        assert worked.value == pytest.approx(1 - of_recnb.value)
        columns = ["rank", "item", "count"]
        pd.testing.assert_frame_equal(worked.rows[columns], of_recnb.rows[columns])
        assert worked.titles == of_recnb.titles


def test_a_list_metric_of_a_column_and_of_ranks_is_the_naive_sum() -> None:
    price = SAMPLE.items.set_index("item")["minutes"]
    items = SAMPLE.items.rename(columns={"minutes": "price"})
    recs = SAMPLE.models["item-knn"]
    ev = recnb.evaluate(recs, SAMPLE.test, items=items)
    for k in (1, 7, None):
        values = ev.measure(discounted_price(), k=k, power=0.5).per_user
        for user, rows in recs.groupby("user"):
            shown = rows if k is None else rows[rows["rank"] <= k]
            earned = (price[shown["item"]].to_numpy() / shown["rank"] ** 0.5).sum()
            assert values[user] == pytest.approx(earned / (k or len(rows)))


def test_interactions_count_rows_and_users_count_once() -> None:
    @recnb.metric(
        symbol="I",
        credit="interactions / n_interactions - count / n_users",
        bounds=(-9, 9),
        needs=["train"],
    )
    def both(hits, k=None):
        items = hits.items
        share = items.interactions / items.n_interactions
        return Credit(hits, k, share - items.count / items.n_users)

    ev = recnb.evaluate(RECS, {"u": ["a"]}, train=TRAIN)
    assert ev.measure(both, k=1) == pytest.approx(3 / 5 - 2 / 3)


# What recnb's own metrics see: features, genres, what users had


def spread() -> Any:
    """Intra-list diversity: the cosine distance of each item to those above it."""

    @recnb.metric(
        symbol="Spread",
        over="list",
        credit="distance",
        out_of="n_shown * (n_shown - 1) / 2",
        needs=["features"],
        better=None,
    )
    def spread(lists, k=None):
        """Mean distance of two items of the list."""
        shown = lists.upto(k)
        features = shown.items.features().toarray()
        length = np.linalg.norm(features, axis=1)
        distance = np.zeros(len(shown.rank))
        for row, (user, rank) in enumerate(zip(shown.user, shown.rank, strict=True)):
            above = (shown.user == user) & (shown.rank < rank)
            product = features[above] @ features[row]
            both = length[above] * length[row]
            cosine = np.divide(product, both, out=np.zeros(len(both)), where=both > 0)
            distance[row] = (1 - cosine).sum()
        n = shown.n_shown
        return list_credit(
            shown, k, distance, n * (n - 1) / 2, names={"distance": distance}
        )

    return spread


def off_balance() -> Any:
    """Steck's divergence of the genres of a list from those that its user had."""

    def shares(user: Any, genres: Any, n_users: int) -> Any:
        of_items = genres.toarray()
        of_users = np.zeros((n_users, of_items.shape[1]))
        each = of_items.sum(axis=1, keepdims=True)
        np.add.at(of_users, user, of_items / np.where(each > 0, each, 1))
        total = of_users.sum(axis=1, keepdims=True)
        return of_users / np.where(total > 0, total, 1)

    @recnb.metric(
        symbol="Off",
        over="list",
        credit="divergence / n_shown",
        needs=("train", "genre"),
        better="low",
    )
    def off_balance(lists, k=None, *, alpha=0.01):
        """How far the genres of a list are from those that its user had."""
        shown = lists.upto(k)
        had = shown.items.history
        p = shares(had.user, had.items.genres(), lists.n_users)
        q = shares(shown.user, shown.items.genres(), lists.n_users)
        mixed = (1 - alpha) * q + alpha * p
        ratio = np.divide(p, mixed, out=np.ones_like(p), where=p > 0)
        of_users = np.maximum((p * np.log2(ratio)).sum(axis=1), 0)
        has_both = (p.sum(axis=1) > 0) & (q.sum(axis=1) > 0)
        divergence = np.where(has_both, of_users, 0)[shown.user]
        return list_credit(
            shown,
            k,
            divergence / shown.n_shown[shown.user],
            has_both.astype(float),
            names={"divergence": divergence},
        )

    return off_balance


def surprise() -> Any:
    """Precision without what a list of the most popular items would have shown."""

    @recnb.metric(
        symbol="Surprise",
        credit="depth + 1 <= expected_rank",
        out_of="k",
        bounds=(0, 1),
        needs=["train"],
    )
    def surprise(hits, k=None, *, depth=10):
        """Share of the places with an unexpected hit."""
        unexpected = hits.items.expected_rank > depth
        return Credit(hits, k, unexpected, out_of_count(hits, k, "k"))

    return surprise


@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize(
    ("make", "name"),
    [(spread, "diversity"), (off_balance, "calibration"), (surprise, "serendipity")],
)
def test_a_metric_of_features_or_history_equals_that_of_recnb(
    make: Callable[[], Any], name: str, k: int
) -> None:
    """For each user, and in the worked number of one who is not the first."""
    metric = make()
    options = {"depth": k} if name == "serendipity" else {}
    values = EV.measure(metric, k=k, **options).per_user.dropna()
    of_recnb = EV.measure(name, k=k).per_user.dropna()
    assert values.index.tolist() == of_recnb.index.tolist()
    np.testing.assert_allclose(values, of_recnb, atol=1e-12)
    assert values.nunique() > 1
    for user in values.index[[3, -1]]:
        worked = EV.explain(metric, user, k=k, **options)
        assert worked.value == pytest.approx(of_recnb[user], abs=1e-12)


def test_history_has_what_each_user_had_once() -> None:
    """Of users numbered as the hits number them, and of one user by itself."""
    seen = []

    @recnb.metric(symbol="H", credit="0 * count", needs=["train"])
    def had(hits, k=None):
        history = hits.items.history
        seen.append((hits.n_users, history.user, history.items.count))
        return Credit(hits, k, 0 * hits.items.count)

    recs = {"w": ["a"], "u": ["b"], "v": ["d"]}
    truth = {"u": ["b"], "v": ["a"], "w": ["c"]}
    train = pd.DataFrame({"user": list("wwwvx"), "item": list("aabda")})
    ev = recnb.evaluate(recs, truth, train=train)
    ev.measure(had, k=1)
    n_users, user, count = seen[-1]
    assert n_users == 3
    assert sorted(zip(user.tolist(), count.tolist(), strict=True)) == [
        (1, 1),  # v had d
        (2, 1),  # w had a, as x did, and b
        (2, 2),
    ]
    ev.explain(had, "w", k=1)
    assert [sorted(values) for values in seen[-1][1:]] == [[0, 0], [1, 2]]


def test_a_formula_of_hits_names_what_the_function_computes_of_each() -> None:
    """In the trial, in the worked number and as a column of its rows."""

    @recnb.metric(symbol="N", credit="size^2", out_of="k", needs=["genre"])
    def genres_of_hits(hits, k=None):
        size = hits.items.genres().sum(axis=1)
        places = out_of_count(hits, k, "k")
        return Credit(hits, k, size**2, places, names={"size": size})

    n_genres = SAMPLE.items.set_index("item")["genres"].str.split("|").str.len()
    worked = EV.explain(genres_of_hits, "u026", k=10)
    hits = worked.rows[worked.rows["relevance"] > 0]
    assert hits["size"].tolist() == n_genres[hits["item"]].tolist()
    assert worked.value == pytest.approx((hits["size"] ** 2).sum() / 10)
    assert worked.value > 0


def test_vectors_of_items_are_features() -> None:
    @recnb.metric(
        symbol="First",
        over="list",
        credit="first",
        out_of="n_shown",
        needs=["features"],
    )
    def first_number(lists, k=None):
        first = lists.items.features("vector" if lists.n_users > 1 else None)
        numbers = first.toarray()[:, 0]
        return list_credit(lists, k, numbers, names={"first": numbers})

    items = pd.DataFrame(
        {"item": list("abc"), "vector": [[0.5, 1.0], [2.0, 3.0], [4.0, 0.0]]}
    )
    recs = {"u": ["a", "c"], "v": ["b"]}
    ev = recnb.evaluate(recs, {"u": ["a"], "v": ["a"]}, items=items)
    per_user = ev.measure(first_number).per_user
    assert per_user.to_dict() == {"u": pytest.approx(2.25), "v": 2.0}


# Where it is taken

TAKEN: dict[str, Callable[[Any], Any]] = {
    "table": lambda one: EV.table([one, "ndcg"], k=[5, None], intervals=True),
    "segments": lambda one: EV.table(one, k=5, by="segment"),
    "measure": lambda one: EV.measure(one, k=10).interval(),
    "measures": lambda one: EV.measures([one]),
    "curve": lambda one: EV.curve(one, k=range(1, 5)),
    "explain": lambda one: EV.explain(one, "u026", k=10)._repr_html_(),
    "gate": lambda one: EV.at_least(one, 0.01, k=10),
    "users": lambda one: EV.to_frame([one], k=3),
    "library": lambda one: EV.under("ranx").table(one, k=5),
    "report": lambda one: EV.report(metrics=["ndcg", one], by="segment").to_html(),
    "means": lambda one: FOUND.table([one], k=5),
    "differences": lambda one: FOUND.differences([one], k=5, by="segment"),
    "curves": lambda one: FOUND.curve(one, k=range(1, 4)),
    "comparison": lambda one: FOUND.report(metrics=["ndcg", one]).to_html(),
    "pickled": lambda one: pickle.loads(pickle.dumps(EV)).measure(one.name, k=3),
}
#: Where a metric of the users evaluated is taken alone.
OF_HITS: dict[str, Callable[[Any], Any]] = {
    "lint": lambda one: EV.lint(10, one),
    "lead": lambda one: EV.report(metrics=[one])._repr_html_(),
    "explorer": lambda one: EV.explore(one).to_frame(),
    "not worse": lambda one: FOUND.not_worse(one, k=5),
    "movers": lambda one: FOUND.movers(one, k=5),
    "detectable": lambda one: EV.detectable(one, k=10),
}


@pytest.mark.parametrize("make", [complement, unpopularity])
@pytest.mark.parametrize("where", TAKEN)
def test_it_is_shown_everywhere_and_its_words_are_text(
    where: str, make: Callable[[], Any]
) -> None:
    metric = make()
    shown = str(TAKEN[where](metric))
    assert re.search(f"{metric.symbol}|{metric.name}|0\\.", shown)
    assert re.search("<b>(unknown|not)", shown) is None


@pytest.mark.parametrize("where", OF_HITS)
def test_a_metric_of_hits_is_taken_where_those_of_accuracy_are(where: str) -> None:
    assert str(OF_HITS[where](complement()))


def test_the_lint_leaves_out_what_cannot_be_known_of_items() -> None:
    """The most that can be reached depends on the items of the hits."""
    reasons = repr(EV.lint(10, complement()))
    assert "a value that cannot be passed. EPC@10 depends on which items" in re.sub(
        r"\s+", " ", reasons
    )


def test_of_lists_it_is_refused_where_recnb_s_own_are() -> None:
    for ask in (EV.lint, EV.explore, FOUND.movers):
        with pytest.raises(RecnbError, match=r"accuracy is needed") as refused:
            ask(metric=unpopularity())
        assert ".table([..., 'unpopularity'], k=10)" in str(refused.value)
    assert "unpopularity" not in EV.beyond(k=5).index


def test_a_cell_that_is_run_again_may_change_what_it_is_over() -> None:
    def made(**about: Any) -> Any:
        def again(rows, k=None):
            if about:
                return list_credit(rows, k, np.ones(len(rows.rank)))
            return Credit(rows, k, np.ones(len(rows.rank)))

        return recnb.metric(symbol="Again", credit="1", **about)(again)

    made()
    of_hits = float(EV.measure("again", k=5))
    made(over="list", out_of="n_shown")
    assert float(EV.measure("again", k=5)) == 1
    made()
    assert float(EV.measure("again", k=5)) == of_hits


# Values that are missing


def test_an_item_without_a_value_is_named_and_has_the_default() -> None:
    ev = recnb.evaluate(RECS, TRUTH, items=ITEMS)
    assert ev.measure(spending(), k=3) == pytest.approx(8 / 12)  # b is no hit
    words = re.escape(
        "mean: items= has no price of item 'b': fill it in, or say what such an item "
        "has, columns={'price': 0}."
    )
    with pytest.raises(RecnbError, match=words):
        ev.measure(mean_of("price"), k=3)
    with pytest.raises(RecnbError, match="no price of item 'd'"):
        recnb.evaluate(RECS, TRUTH, items=ITEMS[:3]).measure(spending(), k=3)
    assert ev.measure(mean_of("price", {"price": 1}), k=3) == pytest.approx(9 / 3)
    worked = ev.explain("mean", "u", k=3)
    assert worked.numbers == "(3 + 1 + 5) / 3 = 9 / 3 = 3"
    assert worked.rows["price"].tolist() == [3, 1, 5]


# What is refused


def hits_of(earned: Callable[[Any], Any], **about: Any) -> Any:
    def mine(hits, k=None):
        return Credit(hits, k, earned(hits))

    return recnb.metric(**{"symbol": "M", "credit": "1", **about})(mine)


def lists_of(returned: Callable[[Any, Any], Any], **about: Any) -> Any:
    def mine(lists, k=None):
        return returned(lists, k)

    given = {"symbol": "M", "credit": "1", "out_of": "n_shown", "over": "list"}
    return recnb.metric(**{**given, **about})(mine)


def ones(lists: Any, k: Any) -> Any:
    return list_credit(lists, k, np.ones(len(lists.rank)))


def without(**given: Any) -> Any:
    return recnb.evaluate(SAMPLE.models["item-knn"], SAMPLE.test, **given)


@pytest.mark.parametrize(
    "ask, words",
    [
        (
            lambda: without().measure(complement()),
            r"complement needs what users had before: give train=, a frame of user",
        ),
        (
            lambda: without().measure(unpopularity()),
            r"unpopularity needs what users had before: give train=",
        ),
        (
            lambda: without().measure(mean_of("year")),
            r"mean needs what items are like: give items=, a frame of items",
        ),
        (
            lambda: recnb.compare(SAMPLE.models, SAMPLE.test).table([complement()]),
            "complement needs what users had before",
        ),
        (
            lambda: recnb.explain(complement(), [0, 1]),
            "complement needs what users had before",
        ),
        (lambda: complement()(["a"], ["a"], k=1), "needs what users had before"),
        (
            lambda: unpopularity()(["a"], ["a"], k=1),
            r"unpopularity is of the items of lists: evaluate frames, recnb.evaluate",
        ),
        (
            lambda: EV.measure(mean_of("yaer")),
            r"mean reads the column 'yaer', which items= has not\. .*'year'",
        ),
        (
            lambda: EV.measure(mean_of("genres")),
            r"items: column 'genres' holds .*, and mean reads numbers",
        ),
        (
            lambda: without(items=SAMPLE.items.assign(year=np.inf)).measure(
                mean_of("year")
            ),
            "items: column 'year' holds an infinite number for item 'i001'",
        ),
        (
            lambda: EV.under("sklearn").measure(complement(), k=5),
            "complement follows one order of each list",
        ),
        (
            lambda: without(
                train=SAMPLE.train,
                propensity=dict.fromkeys(SAMPLE.items["item"], 0.5),
            ).measure(complement()),
            "one's own, and those take no propensities",
        ),
        (
            lambda: hits_of(lambda hits: hits.items.count),
            "hits.items is there for a metric that says what it needs",
        ),
        (
            lambda: hits_of(lambda hits: hits.items.count, needs=("train",)),
            r"mine of the grades .*: the formula 1 gives 1, and the function",
        ),
        (
            lambda: hits_of(
                lambda hits: np.where(hits.items.count, 1.0, np.inf), needs=("train",)
            ),
            "`earned` a finite number for each hit",
        ),
        (
            lambda: hits_of(lambda hits: hits.rank, credit="count"),
            "'count' is not understood in the formula 'count'",
        ),
        (
            lambda: hits_of(lambda hits: hits.items.column("prize"), columns=["price"]),
            r"mine says nothing of a column 'prize' of items=.*columns=\['prize'\]",
        ),
        (
            lambda: lists_of(ones, credit="relevance"),
            r"'relevance' is not understood .* rank, k, n_shown, list_length\.$",
        ),
        (lambda: lists_of(ones, out_of="ideal(1)"), "'ideal' is not understood"),
        (
            lambda: lists_of(ones, credit="2"),
            (
                r"mine of the grades \[3, 0, 1, 2\] at k=2: the formula 2 gives 2, and the "
                r"function 1, 1"
            ),
        ),
        (
            lambda: lists_of(ones, out_of="k"),
            r"at k=20: the formula k gives 20, and the function 4",
        ),
        (
            lambda: lists_of(lambda lists, k: np.ones(len(lists.rank))),
            r"returned no credit of the 4 rows of the lists: return recnb\.metrics\.",
        ),
        (
            lambda: lists_of(lambda lists, k: list_credit(lists, k, np.ones(99))),
            r"earned holds a number for each of the 4 rows.*It is def mine\(lists, k",
        ),
        (
            lambda: lists_of(
                lambda lists, k: list_credit(lists, k, lists.rank * np.nan)
            ),
            "`earned` a finite number for each row",
        ),
        (
            lambda: lists_of(
                lambda lists, k: list_credit(
                    lists, k, np.ones(len(lists.rank)), names={"far": np.ones(99)}
                )
            ),
            r"names=\{'far': ...\} holds a number for each of the 4 rows",
        ),
        (
            lambda: lists_of(
                lambda lists, k: list_credit(
                    lists, k, lists.rank, names={"far": lists.rank}
                ),
                credit="fra",
            ),
            r"'fra' is not understood .* list_length, far\.$",
        ),
        (
            lambda: without(train=SAMPLE.train).measure(spread()),
            "spread needs what items are like: give items=",
        ),
        (
            lambda: without(train=SAMPLE.train).measure(off_balance()),
            "off_balance needs genres: give items=",
        ),
        (
            lambda: without(items=SAMPLE.items).measure(off_balance()),
            "off_balance needs what users had before: give train=",
        ),
        (
            lambda: lists_of(
                lambda lists, k: list_credit(lists, k, lists.rank, np.ones(9))
            ),
            "out_of is a number, or one for each of 1 lists",
        ),
        (
            lambda: lists_of(ones, bounds=(0, 0.5)),
            r"mine of a list is 1, beyond its bounds=\(0, 0\.5\)",
        ),
        (
            lambda: lists_of(ones, missed="no_hit * k"),
            "missed= is what a list without a hit adds",
        ),
        (lambda: lists_of(ones, over="pairs"), "over='pairs': say 'hits' or 'list'"),
        *(
            (lambda needs=needs: lists_of(ones, needs=needs), r"say \('train',\), ")
            for needs in ("train", ("items",), ("train", "items"), 1)
        ),
        *(
            (lambda columns=columns: lists_of(ones, columns=columns), words)
            for columns, words in (
                ("price", r"holds no names of columns: .*\['price'\]"),
                (["rank"], "'rank' is no name that a formula can give to a column"),
                (["count"], "or has another meaning there: rename it in items="),
                (["list price"], "'list price' is no name"),
                ([3], "3 is no name"),
                ({"price": "0"}, "'0' is no number for an item without price"),
            )
        ),
        (
            lambda: recnb.metric(symbol="M", credit="p", columns=["p"])(
                lambda_named_mine()
            ),
            "mine has an option and a column 'p': rename one",
        ),
    ],
)
def test_what_is_no_metric_of_items_is_refused(
    ask: Callable[[], Any], words: str
) -> None:
    with pytest.raises(RecnbError) as refused:
        ask()
    assert re.search(words, str(refused.value), flags=re.DOTALL)


def lambda_named_mine() -> Any:
    def mine(hits, k=None, *, p=1):
        return Credit(hits, k, hits.rank * p)

    return mine
