"""What the tests draw: users with ranked lists and relevant items, and options for
every metric.

Options are read off the metrics themselves (`Metric.words`), so a new word is tried
without being written here.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from recnb import METRICS
from recnb.metrics.metric import Metric

#: Cut-offs above, at and below the lengths that lists have here.
CUTOFFS = (1, 2, 3, 5, 10, None)

#: Values to try of options that are numbers.
NUMBERS: dict[str, tuple[Any, ...]] = {
    "log_base": (2, 10, 3, 2.718281828459045),
    "beta": (1.0, 0.5, 2),
    "recall": (0.0, 0.5),
    "p": (0.8, 0.5, 0.95),
    "max_relevance": (None, 8, 9.5),
    "alpha": (0.01, 0.2),
    "ratio": (0.1, 0.5, 1),
    "normalize": (True, False),
    "count_only_catalogue": (True, False),
    "features": (None,),
    "genre": (None,),
}

Options = dict[str, Any]

#: Every letter that `st.text` draws, of which it takes a second to make a list.
LETTERS = st.characters(exclude_categories=["Cs"])


def values_of(metric: Metric[Any]) -> dict[str, tuple[Any, ...]]:
    """What each option of a metric can be: its words, or some numbers."""
    values = {**NUMBERS, **metric.words}
    unknown = [name for name in metric.defaults if name not in values]
    assert not unknown, (
        f"{metric.name} has options without values to try: add them to NUMBERS in "
        f"tests/strategies.py: {unknown}"
    )
    return {name: values[name] for name in metric.defaults}


def every_choice(metric: Metric[Any]) -> list[Options]:
    """Every combination of a metric's options."""
    values = values_of(metric)
    return [
        dict(zip(values, chosen, strict=True))
        for chosen in itertools.product(*values.values())
    ]


def each_word(metric: Metric[Any]) -> list[Options]:
    """The default options, and each other value of each option by itself."""
    return [
        {},
        *(
            {name: value}
            for name, values in values_of(metric).items()
            for value in values
            if value != metric.defaults[name]
        ),
    ]


def choices() -> st.SearchStrategy[dict[str, Options]]:
    """Options for each metric."""
    drawn = {
        name: st.fixed_dictionaries(
            {
                option: st.sampled_from(values)
                for option, values in values_of(metric).items()
            }
        )
        for name, metric in METRICS.items()
    }
    return st.fixed_dictionaries(drawn)


@dataclass(frozen=True)
class Data:
    """Users with their rankings (None is an empty place) and their truths (item ->
    relevance).
    """

    lists: dict[Any, list[Any]]
    truth: dict[Any, dict[Any, float]]

    @property
    def recs(self) -> pd.DataFrame:
        """user, item, rank; users without a list are not in it."""
        rows = [
            (user, item, rank)
            for user, ranking in self.lists.items()
            for rank, item in enumerate(ranking, 1)
            if item is not None
        ]
        return pd.DataFrame(rows, columns=["user", "item", "rank"])

    @property
    def relevant(self) -> pd.DataFrame:
        """user, item, relevance; users without judged items are not in it."""
        rows = [
            (user, item, grade)
            for user, truth in self.truth.items()
            for item, grade in truth.items()
        ]
        return pd.DataFrame(rows, columns=["user", "item", "relevance"])

    @property
    def users(self) -> list[Any]:
        """The users that are evaluated: those with a relevant item."""
        return [
            user
            for user, truth in self.truth.items()
            if any(grade > 0 for grade in truth.values())
        ]

    def ranking(self, user: Any) -> list[Any]:
        return self.lists.get(user, [])


GRADES = {
    "binary": (1.0, 0.0),
    "graded": (3.0, 1.0, 2.0, 5.0, 0.0, 4.0),
    "fractional": (0.5, 0.1, 0.7, 0.0, 3.25, 1e-3, 2.0),
    "far apart": (1e-20, 2e-20, 1.0, 7.0, 0.0),
}
ITEMS = {
    "text": tuple("abcdefghijklmnop"),
    "whole numbers": tuple(range(-3, 13)),
    "odd text": ("ä", "a b", "1", "01", "nan", "", "<b>", "日本", "x", "X"),
}
USERS = {
    "text": ("u1", "u10", "u2", "Zoë", "ann", "_", "0"),
    "whole numbers": (7, -1, 0, 2**40, 3, 12, 5),
}


@st.composite
def data(
    draw: st.DrawFn,
    *,
    gaps: bool = True,
    most_users: int = 6,
    longest: int = 12,
    grades: tuple[float, ...] | None = None,
) -> Data:
    """Several users: some without a list, some without a relevant item, lists longer
    and shorter than the truth.

    The first user always has a list and a relevant item, so that there is something to
    evaluate.
    """
    items = draw(st.sampled_from(list(ITEMS.values())))
    users = draw(
        st.lists(
            st.sampled_from(draw(st.sampled_from(list(USERS.values())))),
            min_size=1,
            max_size=most_users,
            unique=True,
        )
    )
    scale = grades or draw(st.sampled_from(list(GRADES.values())))
    some_items = st.lists(st.sampled_from(items), unique=True, max_size=longest)
    lists: dict[Any, list[Any]] = {}
    truth: dict[Any, dict[Any, float]] = {}
    for user in users:
        first = user == users[0]
        ranking: list[Any] = draw(some_items) or ([items[0]] if first else [])
        if gaps and len(ranking) > 1 and draw(st.booleans()):
            ranking[draw(st.integers(0, len(ranking) - 2))] = None
        judged = dict.fromkeys(draw(some_items), 0.0)
        judged |= {item: draw(st.sampled_from(scale)) for item in judged}
        if first and not any(judged.values()):
            judged[items[1]] = scale[0]
        if ranking:
            lists[user] = ranking
        if judged:
            truth[user] = judged
    return Data(lists, truth)


def random_data(
    seed: int,
    n_users: int,
    *,
    gaps: bool = True,
    grades: tuple[float, ...] = GRADES["graded"],
) -> Data:
    """The same kind of data from numpy's generator, for tests that want more of it than
    Hypothesis draws.
    """
    rng = np.random.default_rng(seed)
    items = [f"i{number}" for number in range(15)]
    lists: dict[Any, list[Any]] = {}
    truth: dict[Any, dict[Any, float]] = {}
    for position in range(n_users):
        user = f"u{position}"
        ranking: list[Any] = rng.permutation(items)[: rng.integers(0, 13)].tolist()
        if gaps and len(ranking) > 2 and rng.random() < 0.2:
            ranking[rng.integers(0, len(ranking) - 1)] = None
        judged = rng.permutation(items)[: rng.integers(0, 13)].tolist()
        if ranking:
            lists[user] = ranking
        if judged:
            truth[user] = {item: float(rng.choice(grades)) for item in judged}
    return Data(lists, truth)
