"""What `as_in` gives, for frames that were read once: presets of one convention share
their join.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

import recnb
from recnb.conventions.presets import Preset, preset
from recnb.data import Source, read_tables
from recnb.data.names import RECS, TRUTH
from recnb.data.read import tables_of
from recnb.libraries.number import Variant

#: Whose numbers are recorded of whole lists, although it can be asked for a cut-off.
WHOLE = ("ir-measures", "rbp_rel1")


def source_of(recs: pd.DataFrame, truth: pd.DataFrame) -> Source:
    """Both frames, read once."""
    return read_tables(*tables_of({RECS: recs, TRUTH: truth}, {}))


def as_in_of(source: Source, library: str, variant: str, k: int | None) -> float:
    """The number of a library's metric.

    That `as_in` gives the same is tested with
    `test_as_in_reads_the_frames_and_looks_up_the_preset`.
    """
    return value_under(source, preset(library, variant), k)


def value_under(source: Source, chosen: Preset, k: int | None) -> float:
    """A preset's number."""
    whole = (chosen.library, chosen.variant) == WHOLE
    return Variant.of_preset(chosen).measure(source, None if whole else k).value


def described(features: dict[Any, list[float]]) -> dict[str, Any]:
    """Items with a column for each feature, and the names of these columns."""
    items = pd.DataFrame.from_dict(features, orient="index", dtype=float)
    items = items.add_prefix("x").rename_axis("item")
    return {"items": items.reset_index(), "features": list(items)}


def of_lists(
    one: Preset, frames: dict[str, pd.DataFrame], case: dict[str, Any]
) -> float:
    """The number of a metric beyond accuracy, of the catalogue and features of a case."""
    more: dict[str, Any] = {"items": pd.DataFrame({"item": case["catalogue"]})}
    if one.metric == "diversity":
        more = described(case["features"])
    k = case["k"] if one.uses_k else None
    return recnb.as_in(one.library, one.variant, **frames, k=k, **more)


def cut_at(library: str, variant: str, k: int) -> int | None:
    """The cut-off to ask `as_in` for: none of a metric without one."""
    return (
        k if preset(library, variant).uses_k and (library, variant) != WHOLE else None
    )
