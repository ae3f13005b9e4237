"""`as_in` under the names that papers and other libraries print, and for one frame with
both sides.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.conventions.presets import default_of
from recnb.errors import FrameError
from tests.rows import hold_refusals, read_rows
from tests.sample import SAMPLE

BOTH = (SAMPLE.models["item-knn"], SAMPLE.test)
#: Our defaults are those of trec_eval where no scores tie.
TREC = recnb.evaluate(*BOTH, order="score", averaged_users="both")
#: For metrics beyond accuracy.
RECS = pd.DataFrame({"user": [1, 1, 2, 2], "item": [*"abac"], "rank": [1, 2, 1, 2]})
ITEMS = pl.DataFrame({"item": [*"abcd"], "x": [1.0, 0, 1, 0], "y": [0.0, 2, 1, 0]})
TRAIN = {1: ["a"], 2: ["b"], 3: ["z"]}
#: One frame with both sides.
LABELLED = pd.DataFrame(
    {
        "user": np.repeat(range(20), 10),
        "item": range(200),
        "label": np.random.default_rng(0).integers(0, 4, 200),
        "score": np.random.default_rng(1).permutation(200) / 7,
    }
)
MEANT = read_rows("libraries/variants.toml")


@pytest.mark.parametrize("call", MEANT)
def test_a_call_gives_the_number_that_is_meant(call: str) -> None:
    assert eval(call) == pytest.approx(eval(MEANT[call]), abs=1e-12)


test_what_is_not_one_number_of_the_library_is_refused = hold_refusals(
    read_rows("libraries/variants_refused.toml"), globals()
)


def test_an_option_that_is_cut_at_k_changes_with_k() -> None:
    one, three = (recnb.as_in("ir_measures", "rbp_rel1", *BOTH, k=k) for k in (1, 3))
    assert one < three <= recnb.as_in("ir_measures", "rbp_rel1", *BOTH)


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_as_in_and_an_evaluation_under_the_library_agree(library: str) -> None:
    ev = recnb.evaluate(*BOTH, convention=library)
    for name in (
        "ndcg",
        "precision",
        "recall",
        "average_precision",
        "reciprocal_rank",
        "hit_rate",
    ):
        first = default_of(library, name)
        if first is not None and first.convention.cutoff == "k":
            try:
                number = recnb.as_in(library, first.variant, *BOTH, k=5)
            except FrameError:
                continue
            assert getattr(ev, name)(k=5) == pytest.approx(number, abs=1e-12)
