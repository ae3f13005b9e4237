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
FRAMES = ("recs", "truth", "train", "items", "users")


@dataclass(frozen=True)
class Data:
    """Frames to evaluate, and what is said with them."""

    recs: Any
    truth: Any
    train: Any = None
    items: Any = None
    users: Any = None
    options: tuple[tuple[str, Any], ...] = ()

    def with_(self, **changes: Any) -> Data:
        return replace(self, **changes)

    def saying(self, **options: Any) -> Data:
        return replace(self, options=(*self.options, *options.items()))

    @property
    def frames(self) -> dict[str, Any]:
        return {
            name: frame for name in FRAMES if (frame := getattr(self, name)) is not None
        }

    def evaluate(self, **more: Any) -> recnb.Evaluation:
        return recnb.evaluate(
            *list(self.frames.values())[:2],
            **dict(list(self.frames.items())[2:]),
            **{**dict(self.options), **more},
        )

    def lint(self, k: int | None = 10, metric: str = "ndcg", **options: Any) -> Lint:
        return self.evaluate().lint(k, metric, **options)


def clean() -> Data:
    """Nothing odd: lists of 12 scored items, seven relevant items each of which three
    were found, thirty others in train.
    """
    rng = np.random.default_rng(5)
    users = [f"u{number:02d}" for number in range(N_USERS)]
    catalogue = np.array([f"i{number:03d}" for number in range(N_ITEMS)])
    recs, truth, train = [], [], []
    for user in users:
        mixed = rng.permutation(catalogue)
        listed, missed, had = (
            mixed[:LENGTH],
            mixed[LENGTH : LENGTH + 4],
            mixed[LENGTH + 4 : LENGTH + 34],
        )
        score = np.sort(rng.random(LENGTH))[::-1]
        recs += [(user, item, one) for item, one in zip(listed, score, strict=True)]
        truth += [(user, item) for item in [*rng.permutation(listed)[:3], *missed]]
        train += [(user, item) for item in had]
    pairs = ["user", "item"]
    return Data(
        Frame(recs, columns=[*pairs, "score"]),
        Frame(truth, columns=pairs),
        Frame(train, columns=pairs),
        Frame({"item": catalogue, "genre": "x"}),
        Frame({"user": users, "segment": "y"}),
    )


CLEAN = clean()
ALONE = CLEAN.with_(train=None, items=None)
HITS = CLEAN.truth.merge(CLEAN.recs, on=["user", "item"])
#: Rows that are no hits.
MISSES = (
    CLEAN.recs.merge(CLEAN.truth, how="left", indicator=True)
    .query("_merge == 'left_only'")
    .index
)


def ranked(recs: Frame) -> Frame:
    return recs.drop(columns="score").assign(rank=recs.groupby("user").cumcount() + 1)


def rated(data: Data, values: list[int]) -> Data:
    return data.with_(
        truth=data.truth.assign(rating=np.resize(values, len(data.truth)))
    )


def repeat(frame: Frame, rows: int) -> Frame:
    return pd.concat([frame, frame.iloc[:rows]], ignore_index=True)


def sampled(size: int = 20, *, extra: bool = False, n_items: int = N_ITEMS) -> Data:
    """Lists of so many candidates, one of them relevant; or of as many beside the
    relevant ones, one to three.
    """
    rng, recs, truth, items = (
        np.random.default_rng(1),
        [],
        [],
        [f"i{number:03d}" for number in range(n_items)],
    )
    for number, user in enumerate(CLEAN.users["user"]):
        n = number % 3 + 1 if extra else 1
        chosen = rng.permutation(items)[: size + n if extra else size]
        truth += [(user, item) for item in chosen[:n]]
        recs += [
            (user, item, score)
            for item, score in zip(chosen, rng.random(len(chosen)), strict=True)
        ]
    pairs = ["user", "item"]
    return CLEAN.with_(
        recs=Frame(recs, columns=[*pairs, "score"]),
        truth=Frame(truth, columns=pairs),
        train=None,
        items=Frame({"item": items}),
    )


def written(change: Callable[[Any], Any], *, every: bool = False) -> Data:
    """The truth with items written otherwise in every second row, or in all."""
    item = CLEAN.truth["item"]
    return ALONE.with_(
        truth=CLEAN.truth.assign(
            item=item.where((item.index % 2 == 0) & ~np.bool_(every), change(item))
        )
    )


def numbered(form: str) -> Data:
    """Items as numbers in text, one way in the lists and another in the truth."""
    number = lambda frame: frame["item"].str[1:].astype(int)  # noqa: E731
    recs = CLEAN.recs.assign(item=number(CLEAN.recs).astype(str))
    return ALONE.with_(
        recs=recs, truth=CLEAN.truth.assign(item=number(CLEAN.truth).map(form.format))
    )


def every_frame(change: Callable[[Any], Any]) -> Data:
    return CLEAN.with_(
        **{
            name: getattr(CLEAN, name).assign(item=change(getattr(CLEAN, name)["item"]))
            for name in FRAMES[:4]
        }
    )


SCORE = CLEAN.recs["score"]
#: what is planted (a finding, and how) -> the data, and what else is found there
#: because it is so
PLANTED: dict[str, tuple[Data, set[str]]] = {
    "ids_written_otherwise: blanks": (written(lambda item: item + " "), set()),
    "ids_written_otherwise: case": (written(lambda item: item.str.upper()), set()),
    "ids_written_otherwise: zeros": (numbered("{:05d}"), {"no_item_meets"}),
    "ids_written_otherwise: point": (numbered("{:d}.0"), {"no_item_meets"}),
    "ids_written_otherwise: accents": (
        ALONE.with_(
            recs=CLEAN.recs.assign(item="\u00e9" + CLEAN.recs["item"]),
            truth=CLEAN.truth.assign(item="e\u0301" + CLEAN.truth["item"]),
        ),
        {"no_item_meets"},
    ),
    "ids_written_otherwise: train": (
        CLEAN.with_(train=CLEAN.train.assign(user=CLEAN.train["user"] + " ")),
        set(),
    ),
    "ids_written_otherwise: twice": (
        ALONE.with_(
            truth=pd.concat(
                [
                    CLEAN.truth.assign(item=CLEAN.truth["item"].str.upper()),
                    CLEAN.truth.head(9),
                ]
            )
        ),
        set(),
    ),
    "lists_taken_as_one": (
        CLEAN.with_(
            recs=CLEAN.recs.assign(day=np.arange(len(CLEAN.recs)) % 5 % 2),
            truth=CLEAN.truth.assign(day=np.arange(len(CLEAN.truth)) % 3 % 2),
        ),
        set(),
    ),
    "missing_ids": (
        every_frame(lambda item: item.replace(HITS["item"].iloc[0], "nan")),
        set(),
    ),
    "no_item_meets": (
        CLEAN.with_(truth=CLEAN.truth.assign(item="x" + CLEAN.truth["item"])),
        {"cold_relevant", "outside_items"},
    ),
    "duplicates": (
        CLEAN.with_(
            recs=repeat(CLEAN.recs, 5).assign(score=np.r_[SCORE, SCORE[:5] - 0.4])
        ).saying(duplicates="keep"),
        set(),
    ),
    "duplicates: ranks": (
        CLEAN.with_(
            recs=ranked(CLEAN.recs).assign(
                item=CLEAN.recs["item"].where(
                    CLEAN.recs.index % 12 != 5, CLEAN.recs["item"].shift(4)
                )
            )
        ).saying(duplicates="keep"),
        set(),
    ),
    "duplicates: ranks with gaps": (
        CLEAN.with_(
            recs=ranked(CLEAN.recs)
            .assign(
                item=CLEAN.recs["item"].where(
                    CLEAN.recs.index != 41, CLEAN.recs["item"].shift(4)
                )
            )
            .drop(index=[3, 20])
        ).saying(duplicates="keep"),
        {"rank_gaps"},
    ),
    "duplicates: truth": (
        rated(CLEAN, [1, 2, 3])
        .with_(truth=repeat(rated(CLEAN, [1, 2, 3]).truth, 3))
        .saying(duplicates="rows"),
        set(),
    ),
    "ties": (CLEAN.with_(recs=CLEAN.recs.assign(score=SCORE.round(1))), set()),
    "ties: constant": (CLEAN.with_(recs=CLEAN.recs.assign(score=0.5)), set()),
    "ties: ranks": (
        CLEAN.with_(
            recs=CLEAN.recs.assign(
                score=SCORE.round(1), rank=ranked(CLEAN.recs)["rank"]
            )
        ),
        set(),
    ),
    "rank_against_score": (
        CLEAN.with_(
            recs=CLEAN.recs.assign(
                rank=np.resize([2, 1, *range(3, 13)], len(CLEAN.recs))
            )
        ).saying(order="rank"),
        set(),
    ),
    "unjudged": (rated(CLEAN, [2, 1, 0]), set()),
    "upside_down": (CLEAN.with_(recs=CLEAN.recs.assign(score=1 - SCORE)), set()),
    "filler_score": (
        CLEAN.with_(
            recs=CLEAN.recs.assign(score=SCORE.where(CLEAN.recs.index % 7 > 0, -999.0))
        ),
        set(),
    ),
    "filler_score: lowest": (
        CLEAN.with_(
            recs=CLEAN.recs.assign(
                score=SCORE.where(
                    CLEAN.recs.index % 7 > 0, np.finfo(np.float32).min
                ).astype("float32")
            )
        ),
        set(),
    ),
    "short_lists": (CLEAN.with_(recs=CLEAN.recs[CLEAN.recs.index % 12 < 8]), set()),
    "rank_gaps": (CLEAN.with_(recs=ranked(CLEAN.recs).drop(index=[3, 20])), set()),
    "perfect": (
        CLEAN.with_(truth=CLEAN.recs[CLEAN.recs.index % 12 < 7][["user", "item"]]),
        {"sampled_candidates"},
    ),
    "ratings": (rated(CLEAN, [1, 2, 3, 4, 5]), set()),
    "unused_relevance": (
        CLEAN.with_(
            truth=CLEAN.truth.assign(purchases=np.arange(len(CLEAN.truth)) % 3 + 1)
        ),
        set(),
    ),
    "ceiling": (CLEAN.with_(truth=CLEAN.truth.groupby("user").tail(2)), set()),
    "sampled_candidates": (sampled(), set()),
    "nothing_missed": (
        CLEAN.with_(
            recs=CLEAN.recs.drop(index=MISSES[::5]), truth=HITS[["user", "item"]]
        ),
        set(),
    ),
    "users_without_list": (
        CLEAN.with_(recs=CLEAN.recs[CLEAN.recs["user"] != "u03"], users=None),
        set(),
    ),
    "seen_in_train": (
        CLEAN.with_(
            train=pd.concat(
                [CLEAN.train, CLEAN.recs.iloc[[0, 1, 30, 59]][["user", "item"]]]
            )
        ),
        set(),
    ),
    "seen_in_train: ranks": (
        CLEAN.with_(
            recs=ranked(CLEAN.recs),
            train=pd.concat(
                [CLEAN.train, CLEAN.recs.iloc[[0, 1, 30, 59]][["user", "item"]]]
            ),
        ),
        set(),
    ),
    "train_in_truth": (
        CLEAN.with_(
            train=pd.concat([CLEAN.train, CLEAN.truth.groupby("user").tail(1)])
        ),
        set(),
    ),
    "train_after_truth": (
        CLEAN.with_(
            truth=CLEAN.truth.assign(order_date="2024-05-01"),
            train=CLEAN.train.assign(
                order_date=np.resize(
                    ["2024-04-30", "2024-05-01", "2024-05-02"], len(CLEAN.train)
                )
            ),
        ),
        set(),
    ),
    "cold_relevant": (
        CLEAN.with_(
            truth=pd.concat([CLEAN.truth, Frame({"user": ["u00"], "item": ["i240"]})])
        ),
        {"outside_items"},
    ),
    "outside_items": (CLEAN.with_(items=CLEAN.items.iloc[:-1]), set()),
}
#: The metric by which a finding shows, where it is not nDCG@10.
METRIC: dict[str, tuple[int, str]] = {"ceiling": (10, "precision")}
