"""What must be refused: two good frames, in which one thing is spoiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tests.tools.attack.cases import Case
from tests.tools.attack.frames import convert
from tests.tools.attack.kinds import IDS

Frame = pd.DataFrame
Spoil = Callable[[Frame, Frame, int], tuple[Frame, Frame]]


def put(frame: Frame, role: str, at: int, value: Any, kind: str = "float64") -> Frame:
    """The frame with a value in one row of a column."""
    frame = frame.astype({role: kind})
    frame.loc[at, role] = value
    return frame


def mapped(frame: Frame, role: str, change: Callable[[Any], Any]) -> Frame:
    """The frame with a column changed."""
    return frame.assign(**{role: change(frame[role])})


def ranked(recs: Frame) -> Frame:
    """Lists in order of ranks in place of scores."""
    return recs.drop(columns="score").assign(rank=recs.groupby("user").cumcount() + 1.0)


def twice(recs: Frame, at: int) -> Frame:
    """Lists of which one has another item at a rank."""
    return pd.concat([recs, recs.assign(item=99).iloc[[at]]], ignore_index=True)


def of_two_kinds(recs: Frame, role: str, at: int) -> Frame:
    """Lists with an id of text among whole numbers."""
    recs = pd.concat([recs, recs.assign(**{role: 98})], ignore_index=True).astype({role: object})
    return put(recs, role, at, str(recs[role].iloc[at]), "object")


def spoils_of_ids(role: str) -> dict[str, Spoil]:
    """What is done to the column of users or items."""
    return {
        "missing of float64": lambda recs, truth, at: (put(recs, role, at, np.nan), truth),
        "missing of Int64": lambda recs, truth, at: (put(recs, role, at, None, "Int64"), truth),
        "missing of object": lambda recs, truth, at: (put(recs, role, at, None, "object"), truth),
        "text on one side": lambda recs, truth, at: (recs.astype({role: "str"}), truth),
        "dates on one side": lambda recs, truth, at: (recs.astype({role: "datetime64[s]"}), truth),
        "two kinds": lambda recs, truth, at: (of_two_kinds(recs, role, at), truth.astype({role: object})),
        "floats above 2**53": lambda *frames: both(frames, role, lambda one: one.astype(float) + 2.0**54),
        "float32 above 2**24": lambda *frames: both(
            frames, role, lambda one: one.astype("float32") + np.float32(2**25)
        ),
        "fractions": lambda recs, truth, at: (mapped(recs, role, lambda one: one + 0.5), truth),
        "a column twice": lambda recs, truth, at: (pd.concat([recs, recs[[role]]], axis=1), truth),
    }


def both(frames: Any, role: str, change: Callable[[Any], Any]) -> tuple[Frame, Frame]:
    return mapped(frames[0], role, change), mapped(frames[1], role, change)


#: What is done to frames that must then be refused; the third argument is a row of the recommendations.
SPOILS: dict[str, Spoil] = {
    "score missing": lambda recs, truth, at: (put(recs, "score", at, np.nan), truth),
    "score infinite": lambda recs, truth, at: (put(recs, "score", at, np.inf), truth),
    "score -infinite": lambda recs, truth, at: (put(recs, "score", at, -np.inf), truth),
    "relevance missing": lambda recs, truth, at: (recs, put(truth, "relevance", 0, np.nan)),
    "relevance below 0": lambda recs, truth, at: (recs, put(truth, "relevance", 0, -1.0)),
    "score as text": lambda recs, truth, at: (mapped(recs, "score", lambda one: one.map("{:.1f}".format)), truth),
    "complex scores": lambda recs, truth, at: (mapped(recs, "score", lambda one: one + 1j), truth),
    "rank 0": lambda recs, truth, at: (put(ranked(recs), "rank", at, 0), truth),
    "rank 1.5": lambda recs, truth, at: (put(ranked(recs), "rank", at, 1.5), truth),
    "rank twice": lambda recs, truth, at: (twice(ranked(recs), at), truth),
    "no recommendations": lambda recs, truth, at: (recs.iloc[:0], truth),
    "no truth": lambda recs, truth, at: (recs, truth.iloc[:0]),
    "items as lists": lambda recs, truth, at: (recs.assign(item=[[item] for item in recs["item"]]), truth),
    **{f"{role}: {how}": spoil for role in ("user", "item") for how, spoil in spoils_of_ids(role).items()},
}


def spoiled(case: Case) -> tuple[str, Any, Any]:
    """Return what was done to the frames, and the frames."""
    choices = case.choices()
    how, at, n = choices.choice(list(SPOILS)), choices.randrange(len(case.recs)), len(case.recs)
    ids = {name: IDS["int64"].column([row[place] for row in case.recs]) for name, place in (("user", 0), ("item", 1))}
    recs = pd.DataFrame({**ids, "score": np.arange(n, dtype=float)[::-1]})
    truth = pd.DataFrame(case.truth, columns=["user", "item", "relevance"]).astype({"relevance": float})
    recs, truth = SPOILS[how](recs, truth, at)
    way = choices.choice(["pandas", "polars", "arrow"]) if recs.columns.is_unique else "pandas"
    return how, recs if way == "pandas" else convert({name: recs[name] for name in recs.columns}, way), truth
