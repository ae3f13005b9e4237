"""What an error about a frame says to do is code of the frame's own library, and does it; for other tables it is said in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.errors import RecnbError

#: Two lists of three, under names that recnb does not know: u finds 2 at rank 2, v at rank 1, so the mean reciprocal rank is 3/4.
RECS = pl.DataFrame({"kunde": list("uuuvvv"), "ware": [1, 2, 3, 2, 3, 1], "platz": [1, 2, 3, 1, 2, 3]})
TRUTH = pl.DataFrame({"kunde": ["u", "v"], "ware": [2, 2], "note": [1.0, 1.0]})
NAMES = {"user": "kunde", "item": "ware", "rank": "platz", "relevance": "note"}
SCORED = RECS.with_columns(punkte=4.0 - pl.col("platz"))
BY_SCORE = {"user": "kunde", "item": "ware", "score": "punkte", "relevance": "note"}
ware, platz, note = pl.col("ware"), pl.col("platz"), pl.col("note")


def more(frame: pl.DataFrame, *row: Any) -> pl.DataFrame:
    return pl.concat([frame, pl.DataFrame([row], schema=frame.schema, orient="row")])


#: What is wrong -> the frames, the keywords, and how many pieces of code the message gives.
BROKEN: dict[str, tuple[pl.DataFrame, pl.DataFrame, dict[str, Any], int]] = {
    "a missing item": (more(RECS, "u", None, 4), TRUTH, NAMES, 1),
    "a missing item of the truth": (RECS, more(TRUTH, "u", None, 1.0), NAMES, 1),
    "ranks from 0": (RECS.with_columns(platz - 1), TRUTH, NAMES, 1),
    "a missing relevance": (RECS, more(TRUTH, "u", 3, None), NAMES, 1),
    "a relevance of NaN": (RECS, more(TRUTH, "u", 3, math.nan), NAMES, 1),
    "a relevance below 0": (RECS, more(TRUTH, "u", 1, -1.0), NAMES, 1),
    "relevance that overflows": (RECS, TRUTH.with_columns(note * 1e300), NAMES, 1),
    "a repeated pair": (more(RECS, "u", 1, 4), TRUTH, NAMES, 1),
    "a repeated pair of the truth": (RECS, more(TRUTH, "u", 2, 1.0), NAMES, 1),
    "a frame twice": (pl.concat([RECS, RECS]), TRUTH, NAMES, 1),
    "a rank twice": (SCORED.with_columns(platz=pl.lit(1)), TRUTH, NAMES | {"score": "punkte"}, 1),
    "scores of text": (SCORED.drop("platz").with_columns(pl.col("punkte").cast(pl.String)), TRUTH, BY_SCORE, 1),
    "lists for items": (RECS.with_columns(pl.concat_list("ware")), TRUTH, NAMES | {"rank": "platz"}, 1),
    "numbers and text": (RECS, TRUTH.with_columns(ware.cast(pl.String)), NAMES, 1),
    "numbers and decimals of text": (RECS, TRUTH.with_columns(ware.cast(pl.String) + ".0"), NAMES, 1),
    "ids beyond 64 bits": (RECS.with_columns(ware.cast(pl.UInt64) + 2**63), TRUTH.with_columns(ware.cast(pl.UInt64) + 2**63), NAMES, 1),
    "a column with two names": (RECS, TRUTH.rename({"kunde": "customer_uuid"}), NAMES, 1),
    "a column of two names the other way": (RECS.rename({"kunde": "customer_uuid"}), TRUTH, NAMES, 1),
    "lists of two models": (pl.concat([RECS.with_columns(model=pl.lit(name)) for name in "AB"]), TRUTH, NAMES, 1),
}  # fmt: skip

KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "arrow": lambda frame: frame.to_arrow(),
}

#: Code of a frame in a message: up to the sentence's end, or what follows it.
CODE = re.compile(r"[:,] ((?:frame|recs|truth)(?: =|\.|\[).+?)(?=\.$|[;,] (?:or|if|as|Bpref)\b|\. [A-Z]|, or )")


def of_kind(case: str, kind: str) -> tuple[Any, Any, dict[str, Any]]:
    recs, truth, names, _ = BROKEN[case]
    return KINDS[kind](recs), KINDS[kind](truth), names


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy"])
@pytest.mark.parametrize("case", BROKEN)
def test_what_an_error_advises_is_in_the_library_of_the_frame_and_mends_it(case: str, kind: str) -> None:
    recs, truth, names = of_kind(case, kind)
    for _ in range(3):  # some need it in both frames, one after the other
        try:
            value = recnb.evaluate(recs, truth, **names).mrr()
            break
        except RecnbError as problem:
            message = str(problem)
        advised = CODE.findall(message)
        assert len(advised) == BROKEN[case][3], message
        on_truth = message.startswith("truth") or advised[0].startswith("truth")
        space = {"pl": pl, "pd": pd, "recs": recs, "truth": truth, "frame": truth if on_truth else recs}
        if re.match(r"\w+ = ", advised[0]):
            exec(advised[0].replace(" and truth = ", "; truth = ").replace(" and recs = ", "; recs = "), space)
            recs, truth = space["recs"], space["truth"]
        elif on_truth:
            truth = eval(advised[0], space)
        else:
            recs = eval(advised[0], space)
    else:
        pytest.fail(message)
    assert value == pytest.approx(0.75)


@pytest.mark.parametrize("case", BROKEN)
def test_tables_of_other_libraries_are_told_in_words(case: str) -> None:
    recs, truth, names = of_kind(case, "arrow")
    with pytest.raises(RecnbError) as found:
        recnb.evaluate(recs, truth, **names).mrr()
    assert not re.search(r"frame[.\[]|recs[.\[]|truth[.\[]|pl\.|\.astype|\.cast", str(found.value)), found.value


@pytest.mark.parametrize("case", BROKEN)
def test_errors_are_in_correct_singular_and_plural(case: str) -> None:
    recs, truth, names = of_kind(case, "pandas")
    with pytest.raises(RecnbError) as found:
        recnb.evaluate(recs, truth, **names).mrr()
    assert not re.search(
        r"recommendations (has|is|holds)\b|\b1 (pairs|places|rows|users|ids|scores)\b", str(found.value)
    )
