"""Identical lists have identical values: nothing that two models do not share may make a difference between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.conventions import presets
from recnb.data import Prepared
from recnb.errors import FrameError
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import LIST_METRICS, METRICS

K = [1, 3, 50, None]

#: Conventions under which what is of all users can enter the value of one.
CONVENTIONS: list[dict[str, Any]] = [
    {},
    {"averaged_users": "both"},
    {"averaged_users": "recs"},
    {"averaged_users": "recs", "no_relevant": "zero"},
    {"averaged_users": "union", "no_relevant": "zero"},
    {"judged": "list"},
    {"judged": "list", "averaged_users": "both"},
    {"relevant_from": 3},
    {"averaged_users": "both", "candidates": "catalogue", "ties": "first"},
    {"averaged_users": "both", "candidates": "catalogue", "ties": "max_rank", "order": "score"},
    {"averaged_users": "both", "candidates": "padded"},
    {"averaged_users": "both", "relevant": "any"},
    {"averaged_users": "both", "duplicates": "dedupe", "ties": "item_asc", "order": "score"},
]


def data() -> tuple[dict[str, pd.DataFrame], pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Two models with the same lists for six users, of whom one serves another two as well, with items of their own."""
    rng = np.random.default_rng(7)
    items = [f"i{number:02}" for number in range(12)]
    rows = [(f"u{user}", item, 9.0 - at) for user in range(6) for at, item in enumerate(rng.permutation(items)[:5])]
    both = pd.DataFrame(rows, columns=["user", "item", "score"])
    # Items that sort before, between and after the others; one of the users is the only one with the highest grade.
    own = [("v1", item, 9.0 - at) for at, item in enumerate(["a00", "i03", "i05x", "z99"])]
    own += [("v2", "a01", 3.0), ("v2", "i00", 2.0)]
    more = pd.concat([pd.DataFrame(own, columns=both.columns), both], ignore_index=True)
    judged = [(f"u{user}", item, int(rng.integers(0, 4))) for user in range(6) for item in rng.permutation(items)[:6]]
    truth = pd.DataFrame([*judged, ("v1", "i03", 5), ("v2", "q50", 4), ("w1", "i01", 6)], columns=["user", "item", "relevance"])  # fmt: skip
    train = pd.DataFrame(
        [(f"u{user}", items[user + at]) for user in range(6) for at in range(3)], columns=["user", "item"]
    )
    known = [*items, "a00", "i05x", "z99", "a01", "q50"]
    catalogue = pd.DataFrame({"item": known, "genres": [["rock", "folk"][at % 2] for at in range(len(known))]})
    return {"these": both, "these and more": more}, truth, train, catalogue


@pytest.mark.parametrize("convention", CONVENTIONS, ids=str)
@pytest.mark.parametrize("as_evaluations", [False, True], ids=["frames", "evaluations"])
def test_no_metric_of_accuracy_differs(convention: dict[str, Any], as_evaluations: bool) -> None:
    models, truth, _, _ = data()
    evaluated = {name: recnb.evaluate(one, truth, **convention) for name, one in models.items()}
    found = recnb.compare(evaluated) if as_evaluations else recnb.compare(models, truth, **convention)
    for name in METRICS:
        for k in K:
            one, other = (of_both(getattr(model, name)(k=k)) for model in found.models.values())
            pd.testing.assert_series_equal(one, other, rtol=0, atol=0, obj=f"{name}@{k}")


def of_both(score: recnb.Score) -> pd.Series[float]:
    """The values of the users who have the same list in both models."""
    return score.per_user[score.per_user.index.str.startswith("u")]


@pytest.mark.parametrize("library", ["cornac", "rectools", "ranx", "trec_eval", "recbole"])
def test_no_metric_of_a_library_differs(library: str) -> None:
    models, truth, _, _ = data()
    found = recnb.compare(models, truth, convention=library)
    tried = 0
    for name in METRICS:
        if presets.of_metric(name, library):
            one, other = (of_both(getattr(model, name)(k=3)) for model in found.models.values())
            pd.testing.assert_series_equal(one, other, rtol=0, atol=0, obj=name)
            tried += 1
    assert tried >= 3


@pytest.mark.parametrize("with_items", [False, True])
def test_no_metric_beyond_accuracy_differs(with_items: bool) -> None:
    models, truth, train, items = data()
    found = recnb.compare(models, truth, train=train, averaged_users="both", **({"items": items} if with_items else {}))
    tried = 0
    for metric in LIST_METRICS.values():
        if metric.of == "all" or (not with_items and {"features", "genre"} & set(metric.needs)):
            continue
        rows = found.differences(metric.name, k=[2, 3, 5])
        assert (rows.difference == 0).all(), metric.name
        tried += 1
    assert tried >= 4


def test_an_item_that_nobody_had_is_in_no_list_of_the_popular() -> None:
    """However long that list is, and whatever other items another model recommends."""
    recs = pd.DataFrame({"user": ["u", "u"], "item": ["a", "cold"], "rank": [1, 2]})
    truth = pd.DataFrame({"user": ["u"], "item": ["cold"]})
    train = pd.DataFrame({"user": ["x"], "item": ["a"]})
    ev = recnb.evaluate(recs, truth, train=train)
    assert ev.serendipity(k=2) == 0.5
    assert ev.serendipity(k=9) == pytest.approx(1 / 9)


@pytest.mark.parametrize("changed", ["train", "items"])
def test_what_is_known_of_items_must_be_one_where_it_enters(changed: str) -> None:
    models, truth, train, items = data()
    kept = {"train": train, "items": items}
    other = {**kept, changed: kept[changed].iloc[:-2]}
    both = {"a": kept, "b": other}
    found = recnb.compare({name: recnb.evaluate(models["these"], truth, **side) for name, side in both.items()})
    assert found.differences("ndcg", k=3).difference.item() == 0
    with pytest.raises(FrameError, match=rf"'a' and 'b' have different {changed}=.*give compare\(\) one {changed}="):
        found.differences("novelty" if changed == "train" else "diversity", k=3)
    with pytest.raises(FrameError, match=f"different {changed}="):
        found.beyond(k=3)
    again = recnb.compare({"a": models["these"], "b": models["these"]}, truth, **kept)
    assert (again.differences("novelty" if changed == "train" else "diversity", k=3).difference == 0).all()


def scale(prepared: Prepared) -> float:
    return prepared.hits(None).max_relevance


@pytest.mark.parametrize("options", [{}, {"averaged_users": "both"}, {"averaged_users": "recs"}, {"judged": "list"}, {"relevant_from": 2},
                                     {"ties": "expected"}, {"candidates": "padded"}], ids=str)  # fmt: skip
def test_err_takes_its_scale_from_the_truth(options: dict[str, Any]) -> None:
    """Not from the users evaluated, nor from what is in the lists: w1 has the highest grade and no list."""
    models, truth, _, _ = data()
    ev = recnb.evaluate(models["these"], truth, **options)
    assert scale(ev._data.prepared) == 6
    if options != {"ties": "expected"}:
        assert ev.err(k=3) == ev.err(k=3, max_relevance=6)


def test_some_users_keep_the_scale_and_the_catalogue_of_all() -> None:
    """Under another convention as well, for which hits are made again."""
    models, truth, _, _ = data()
    options = {"averaged_users": "both", "candidates": "catalogue"}
    found = recnb.compare(models, truth, averaged_users="both")
    other = recnb.compare(models, truth, **options)
    few, again = found.models["these and more"]._data.prepared, other.models["these and more"]._data.prepared
    made = few.source.under(again.convention)
    assert scale(made) == scale(again) == 6
    assert made.hits(None).rank.tolist() == again.hits(None).rank.tolist()
    for convention in ({"averaged_users": "both"}, {"averaged_users": "both", "judged": "list"}):
        one = recnb.compare(models, truth, **convention).models["these"]._data
        assert np.array_equal(
            one.values(METRICS["err"], Cutoffs.of(3), {}),
            one.values(METRICS["err"], Cutoffs.of(3), {"max_relevance": 6}),
        )
