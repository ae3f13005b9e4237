"""What the lint counts is what loops over the frames say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import recnb
from recnb.errors import RecnbError
from tests.examples import examples
from tests.laws import sentences
from tests.laws.sentences import ITEMS, USERS, Frames, frames

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
PAIRS = st.lists(
    st.tuples(st.sampled_from(USERS), st.sampled_from(ITEMS)), min_size=1, unique=True
)
OPTIONS = st.fixed_dictionaries(
    {
        "averaged_users": st.sampled_from(["truth", "recs", "both", "union"]),
        "no_relevant": st.sampled_from(["skip", "zero", "one"]),
    },
    optional={"relevant_from": st.just(2)},
)
Counts = dict[tuple[str, str], tuple[int, int]]


def lists_by_rank(data: Frames) -> dict[str, list[tuple[str, float]]]:
    """Each list from the highest score to the lowest; equal ones stay as they are."""
    return {
        user: sorted(ranking, key=lambda row: -row[1])
        for user, ranking in data.lists.items()
    }


def evaluated(data: Frames, **side: Any) -> recnb.Evaluation:
    """Evaluate the frames under their options."""
    return recnb.evaluate(data.recs, data.relevance, **side, **data.options)


def evaluated_users(data: Frames) -> list[str]:
    """The users who are averaged."""
    users = sentences.averaged_users(data, data.options)
    if data.options.get("no_relevant", "skip") != "skip":
        return users
    return [
        user
        for user in users
        if not sentences.has_nothing_to_find(data, user, data.options)
    ]


def relevant_items(data: Frames, user: str) -> set[str]:
    """The items of a user that are relevant."""
    least = data.options.get("relevant_from", 1)
    judged = data.truth.get(user, {})
    return {item for item, grade in judged.items() if grade >= least}


def of_lists(data: Frames, users: list[str], k: int) -> Counts:
    """Count users without a list, lists that end above k, and rows nobody judged."""
    lists = lists_by_rank(data)
    listed = [user for user in users if user in lists]
    top = [(user, item) for user in listed for item, _score in lists[user][:k]]
    unjudged = [pair for pair in top if pair[1] not in data.truth.get(pair[0], {})]
    counts = {
        ("users_without_list", "Users without a list"): (
            len(users) - len(listed),
            len(users),
        ),
        ("short_lists", f"Lists shorter than {k}"): (
            sum(len(lists[user]) < k for user in listed),
            len(listed),
        ),
    }
    grades = [grade for judged in data.truth.values() for grade in judged.values()]
    if min(grades) <= 0:
        counts["unjudged", "Recommended rows that are not judged"] = (
            len(unjudged),
            len(top),
        )
    return counts


def of_side_data(
    data: Frames, users: list[str], train: list[tuple[str, str]], items: list[str]
) -> Counts:
    """Count what is in train as well, what is new, and what is outside the catalogue."""
    recs = [(user, item) for user, rows in data.lists.items() for item, _score in rows]
    truth = [(user, item) for user, judged in data.truth.items() for item in judged]
    relevant = [(user, item) for user in users for item in relevant_items(data, user)]
    in_train = {item for _user, item in train}
    of_frame = "Rows of `{}` whose items are not in the catalogue"
    return {
        ("seen_in_train", "Recommended rows of items that"): (
            sum(pair in train for pair in recs),
            len(recs),
        ),
        ("train_in_truth", "Relevant pairs that are in train"): (
            sum(pair in train for pair in relevant),
            len(relevant),
        ),
        ("cold_relevant", "Relevant pairs whose item is not in train"): (
            sum(item not in in_train for _user, item in relevant),
            len(relevant),
        ),
        ("outside_items", of_frame.format("recs")): (
            sum(item not in items for _user, item in recs),
            len(recs),
        ),
        ("outside_items", of_frame.format("truth")): (
            sum(item not in items for _user, item in truth),
            len(truth),
        ),
    }


def of_ties(data: Frames, users: list[str], k: int) -> Counts:
    """Count the users whose recall some order of their equal scores changes."""
    n = 0
    for user in users:
        ranking, relevant = data.lists.get(user, []), relevant_items(data, user)
        least = most = 0
        for score in sorted({score for _item, score in ranking}, reverse=True):
            above = sum(other > score for _item, other in ranking)
            group = [item for item, other in ranking if other == score]
            hits, places = len(relevant & {*group}), max(0, k - above)
            most += min(hits, places)
            least += max(0, hits - max(0, len(group) - places))
        n += most > least
    return {("ties", "Users whose equal scores decide"): (n, len(users))}


@settings(max_examples=examples(300), suppress_health_check=SLOW, deadline=None)
@given(
    frames(plain=True),
    OPTIONS,
    st.sampled_from([1, 2, 3]),
    PAIRS,
    st.lists(st.sampled_from(ITEMS), min_size=1, unique=True),
)
def test_findings_count_what_loops_count(
    data: Frames,
    options: dict[str, Any],
    k: int,
    train: list[tuple[str, str]],
    items: list[str],
) -> None:
    data = replace(data, options=data.options | options)
    side: dict[str, Any] = {
        "train": {
            user: [item for other, item in train if other == user]
            for user in dict.fromkeys(user for user, _item in train)
        },
        "items": pd.DataFrame({"item": items}),
    }
    try:
        lint = recnb.evaluate(data.recs, data.relevance, **side, **data.options).lint(
            k, "recall"
        )
    except RecnbError:
        assume(False)
    users = evaluated_users(data)
    counts = of_lists(data, users, k) | of_side_data(data, users, train, items)
    counts |= of_ties(data, users, k)
    for (name, begins), (n, of) in counts.items():
        here = [
            finding
            for finding in lint
            if finding.name == name and finding.short.startswith(begins)
        ]
        assert [(finding.n, finding.of) for finding in here] == [(n, of)] * (n > 0)
        for finding in here:
            assert f": {n} of {of}" in finding.short
    assert lint.measured.startswith(f"Effects are measured with Recall@{k}: ")
    assert f"over {len(users)} user{'s' * (len(users) > 1)}." in lint.measured


@settings(max_examples=examples(200), suppress_health_check=SLOW, deadline=None)
@given(frames(), st.sampled_from([None, 1, 2]))
def test_effects_are_measured_over_the_users_who_are_averaged(
    data: Frames, k: int | None
) -> None:
    """Also where all that is relevant to some users has no gain."""
    try:
        ev = evaluated(data)
        lint, values = ev.lint(k, "ndcg"), ev.ndcg(k=k).per_user
    except RecnbError:
        assume(False)
    said = re.fullmatch(
        r"Effects are measured with nDCG\S*: (\S+) over (\d+) users?\.", lint.measured
    )
    assert said is not None
    assert said[1] == f"{values.mean():.4f}"
    assert int(said[2]) == len(values)
    assert lint.basis == ev.ndcg(k=k).basis
