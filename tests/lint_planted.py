"""Clean data, and data in which each finding of the lint is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import recnb
from recnb.lint import Lint

N_USERS, LENGTH, N_ITEMS = 40, 12, 120
Frame = pd.DataFrame


@dataclass(frozen=True)
class Data:
    """Frames to evaluate, and what is said with them."""

    recs: Frame
    truth: Frame
    train: Frame | None
    items: Frame | None
    users: Frame | None
    options: tuple[tuple[str, Any], ...] = ()

    def with_(self, **changes: Any) -> Data:
        return replace(self, **changes)

    def saying(self, **options: Any) -> Data:
        return replace(self, options=(*self.options, *options.items()))

    def evaluate(self, **more: Any) -> recnb.Evaluation:
        given = {"train": self.train, "items": self.items, "users": self.users}
        side_data = {name: frame for name, frame in given.items() if frame is not None}
        return recnb.evaluate(self.recs, self.truth, **side_data, **{**dict(self.options), **more})

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        return self.evaluate().lint(k, metric, **options)


def clean() -> Data:
    """Nothing odd: lists of 12 scored items, seven relevant items each of which three were found, thirty others in train."""
    rng = np.random.default_rng(5)
    users = [f"u{number:02d}" for number in range(N_USERS)]
    catalogue = np.array([f"i{number:03d}" for number in range(N_ITEMS)])
    recs, truth, train = [], [], []
    for user in users:
        mixed = rng.permutation(catalogue)
        listed, missed, had = mixed[:LENGTH], mixed[LENGTH : LENGTH + 4], mixed[LENGTH + 4 : LENGTH + 34]
        score = np.sort(rng.random(LENGTH))[::-1]
        recs += [(user, item, one) for item, one in zip(listed, score, strict=True)]
        truth += [(user, item) for item in [*rng.permutation(listed)[:3], *missed]]
        train += [(user, item) for item in had]
    return Data(
        Frame(recs, columns=["user", "item", "score"]), Frame(truth, columns=["user", "item"]),
        Frame(train, columns=["user", "item"]), Frame({"item": catalogue, "genre": "x"}), Frame({"user": users, "segment": "y"}),
    )  # fmt: skip


CLEAN = clean()


def ranked(recs: Frame) -> Frame:
    return recs.drop(columns="score").assign(rank=recs.groupby("user").cumcount() + 1)


def rated(data: Data, values: list[int]) -> Data:
    return data.with_(truth=data.truth.assign(rating=np.resize(values, len(data.truth))))


def every_score(recs: Frame, score: Any) -> Frame:
    return recs.assign(score=score)


def repeat(frame: Frame, rows: int) -> Frame:
    return pd.concat([frame, frame.iloc[:rows]], ignore_index=True)


def sampled(data: Data, *, extra: bool = False) -> Data:
    """Twenty candidates a user, one of them relevant; or twenty beside the relevant ones, one to three."""
    rng = np.random.default_rng(1)
    users, items = data.truth["user"].unique(), data.items["item"].to_numpy() if data.items is not None else []
    recs, truth = [], []
    for number, user in enumerate(users):
        n = number % 3 + 1 if extra else 1
        chosen = rng.permutation(items)[: 20 + n if extra else 20]
        truth += [(user, item) for item in chosen[:n]]
        recs += [(user, item, score) for item, score in zip(chosen, rng.random(len(chosen)), strict=True)]
    return data.with_(
        recs=Frame(recs, columns=["user", "item", "score"]), truth=Frame(truth, columns=["user", "item"]), train=None
    )


def ids(data: Data, change: Callable[[pd.Series[Any]], pd.Series[Any]]) -> Data:
    """The truth with items written otherwise in every second row."""
    item = data.truth["item"]
    return data.with_(
        truth=data.truth.assign(item=item.where(item.index % 2 == 0, change(item))), train=None, items=None
    )


def numbered(data: Data, form: str) -> Data:
    """Items as numbers in text, one way in the lists and another in the truth."""
    number = lambda frame: frame["item"].str[1:].astype(int) + 7  # noqa: E731
    recs = data.recs.assign(item=number(data.recs).astype(str))
    return data.with_(
        recs=recs, truth=data.truth.assign(item=number(data.truth).map(form.format)), train=None, items=None
    )


#: A hit for every second user, a miss for the others.
ONE = pd.concat([
    CLEAN.truth[CLEAN.truth["user"].str[-1].isin(list("02468"))].groupby("user").head(1),
    CLEAN.truth[CLEAN.truth["user"].str[-1].isin(list("13579"))].groupby("user").tail(1),
])  # fmt: skip
HITS = CLEAN.truth.merge(CLEAN.recs, on=["user", "item"])
#: A row that is no hit.
MISS = CLEAN.recs.index[
    ~pd.MultiIndex.from_frame(CLEAN.recs[["user", "item"]]).isin(pd.MultiIndex.from_frame(HITS[["user", "item"]]))
][:1]

#: name of the finding -> the data it is planted in, and what else is found there because it is so
PLANTED: dict[str, tuple[Callable[[], Data], set[str]]] = {
    "duplicates": (lambda: CLEAN.with_(recs=repeat(CLEAN.recs, 5)).saying(duplicates="keep"), {"ties"}),
    "ties": (lambda: CLEAN.with_(recs=every_score(CLEAN.recs, CLEAN.recs["score"].round(1))), set()),
    "rank_against_score": (
        lambda: CLEAN.with_(recs=CLEAN.recs.assign(rank=np.resize([2, 1, *range(3, 13)], len(CLEAN.recs)))).saying(order="rank"),
        set(),
    ),
    "upside_down": (lambda: CLEAN.with_(recs=CLEAN.recs.assign(score=1 - CLEAN.recs["score"])), set()),
    "one_score": (lambda: CLEAN.with_(recs=every_score(CLEAN.recs, 0.5)), {"ties"}),
    "filler_score": (
        lambda: CLEAN.with_(recs=CLEAN.recs.assign(score=CLEAN.recs["score"].where(CLEAN.recs.index % 7 > 0, -999.0))), {"ties"},
    ),
    "short_lists": (lambda: CLEAN.with_(recs=CLEAN.recs.drop(index=range(1, 12))), set()),
    "rank_gaps": (lambda: CLEAN.with_(recs=ranked(CLEAN.recs).drop(index=[3, 20])), set()),
    "same_list": (
        lambda: CLEAN.with_(recs=CLEAN.recs.assign(item=np.resize(CLEAN.recs["item"].head(12), len(CLEAN.recs))), train=None),
        {"k_above_catalogue"},
    ),
    "list_lengths": (
        lambda: CLEAN.with_(recs=CLEAN.recs[(CLEAN.recs.index % 12 < 2) | CLEAN.recs["user"].isin(["u00", "u01", "u02"])]),
        {"short_lists"},
    ),
    "k_above_catalogue": (lambda: CLEAN.with_(items=CLEAN.items.head(9)), {"recommended_outside_items", "relevant_outside_items"}),
    "no_item_meets": (lambda: CLEAN.with_(truth=CLEAN.truth.assign(item="x" + CLEAN.truth["item"])), {"cold_relevant", "relevant_outside_items"}),
    "perfect": (
        lambda: CLEAN.with_(truth=CLEAN.recs[CLEAN.recs.index % 12 < 7][["user", "item"]]), {"sampled_candidates"}),
    "ratings": (lambda: rated(CLEAN, [1, 2, 3, 4, 5]), set()),
    "unused_relevance": (lambda: CLEAN.with_(truth=CLEAN.truth.assign(purchases=np.arange(len(CLEAN.truth)) % 3 + 1)), set()),
    "alike": (lambda: rated(CLEAN, [4]), set()),
    "negative_relevance": (lambda: rated(CLEAN, [1, 1, 1, -1]).saying(negative_relevance="zero"), set()),
    "duplicates_in_truth": (lambda: CLEAN.with_(truth=repeat(CLEAN.truth, 3)).saying(duplicates="dedupe"), set()),
    "one_relevant_each": (lambda: CLEAN.with_(truth=ONE), set()),
    "few_relevant": (lambda: CLEAN.with_(truth=CLEAN.truth.groupby("user").tail(2)), {"no_hits"}),
    "more_relevant_than_places": (lambda: CLEAN, set()),
    "sampled_candidates": (lambda: sampled(CLEAN), {"one_relevant_each"}),
    "nothing_missed": (
        lambda: CLEAN.with_(recs=CLEAN.recs.drop(index=MISS), truth=HITS[["user", "item"]]), {"few_relevant"},
    ),
    "users_without_list": (lambda: CLEAN.with_(recs=CLEAN.recs[CLEAN.recs["user"] != "u03"]), set()),
    "users_without_truth": (lambda: CLEAN.with_(truth=CLEAN.truth[CLEAN.truth["user"] != "u03"]), set()),
    "cold_users": (lambda: CLEAN.with_(train=CLEAN.train[CLEAN.train["user"] > "u03"]), set()),
    "users_only_in_train": (
        lambda: CLEAN.with_(train=pd.concat([CLEAN.train, Frame({"user": ["gone"], "item": ["i001"]})])), set()),
    "users_undescribed": (lambda: CLEAN.with_(users=CLEAN.users.iloc[1:]), set()),
    "seen_in_train": (lambda: CLEAN.with_(train=pd.concat([CLEAN.train, CLEAN.recs.iloc[[0, 1, 30, 59]][["user", "item"]]])), set()),
    "train_in_truth": (lambda: CLEAN.with_(train=pd.concat([CLEAN.train, CLEAN.truth.groupby("user").tail(1)])), set()),
    "cold_relevant": (
        lambda: CLEAN.with_(truth=pd.concat([CLEAN.truth, Frame({"user": ["u00"], "item": ["new"]})])), {"relevant_outside_items"},
    ),
    "cold_recommended": (
        lambda: CLEAN.with_(recs=pd.concat([CLEAN.recs, Frame({"user": ["u00"], "item": ["new"], "score": [-0.5]})])),
        {"recommended_outside_items"},
    ),
    "recommended_outside_items": (
        lambda: CLEAN.with_(items=CLEAN.items.iloc[:-1], truth=CLEAN.truth[CLEAN.truth["item"] != "i119"]), set(),
    ),
    "relevant_outside_items": (
        lambda: CLEAN.with_(items=CLEAN.items.iloc[:-1], recs=CLEAN.recs[CLEAN.recs["item"] != "i119"]), set(),
    ),
    "ids_with_blanks": (lambda: ids(CLEAN, lambda item: item + " "), set()),
    "ids_by_case": (lambda: ids(CLEAN, lambda item: item.str.upper()), set()),
    "ids_with_zeros": (lambda: numbered(CLEAN, "{:05d}"), {"no_item_meets"}),
    "ids_with_point": (lambda: numbered(CLEAN, "{:d}.0"), {"no_item_meets"}),
    "ids_by_accent": (
        lambda: CLEAN.with_(recs=CLEAN.recs.assign(item="\u00e9" + CLEAN.recs["item"]), truth=CLEAN.truth.assign(item="e\u0301" + CLEAN.truth["item"]),
                            train=None, items=None), {"no_item_meets"},
    ),
    "ids_of_nothing": (lambda: CLEAN.with_(**{
        name: getattr(CLEAN, name).replace({"item": {HITS["item"].iloc[0]: "nan"}}) for name in ("recs", "truth", "train", "items")
    }), set()),
    "float_ids": (
        lambda: CLEAN.with_(recs=CLEAN.recs.assign(user=CLEAN.recs["user"].str[1:].astype(float)),
                            truth=CLEAN.truth.assign(user=CLEAN.truth["user"].str[1:].astype(int)), train=None, users=None), set(),
    ),
}  # fmt: skip
CUT = {"more_relevant_than_places": 4}
