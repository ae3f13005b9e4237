"""Clean data, and data in which each finding of the lint is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import recnb
from recnb.lint import Lint
from tests.rows import read_rows

N_USERS, LENGTH, N_ITEMS = 40, 12, 120
Frame = pd.DataFrame
FRAMES = ("recs", "truth", "train", "items", "users")
PAIR = ["user", "item"]


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
    return Data(
        Frame(recs, columns=[*PAIR, "score"]),
        Frame(truth, columns=PAIR),
        Frame(train, columns=PAIR),
        Frame({"item": catalogue, "genre": "x"}),
        Frame({"user": users, "segment": "y"}),
    )


CLEAN = clean()
ALONE = CLEAN.with_(train=None, items=None)
HITS = CLEAN.truth.merge(CLEAN.recs, on=PAIR)
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
    return CLEAN.with_(
        recs=Frame(recs, columns=[*PAIR, "score"]),
        truth=Frame(truth, columns=PAIR),
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
#: What is planted (a finding, and how) -> the data, and what else is found there because
#: it is so.
PLANTED: dict[str, tuple[Data, set[str]]] = {
    name: (eval(data), {*also})
    for name, (data, also) in read_rows("lint/planted.toml").items()
}
#: The metric by which a finding shows, where it is not nDCG@10.
METRIC: dict[str, tuple[int, str]] = {"ceiling": (10, "precision")}
