"""What ids, scores and relevance can be made of: for each kind its values, lowest
first, and a column of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Column = Callable[[list[Any]], Any]


@dataclass(frozen=True)
class Kind:
    """Values in rising order, so that a place in the list stands for the value, and the
    column they come in.
    """

    name: str
    values: Sequence[Any]
    column: Column  #: a pandas or a Polars series of some values
    family: str = ""  #: kinds of one family hold the same values
    label: Callable[[Any], Any] = str  #: what a user of this kind is called in results


def typed(dtype: Any) -> Column:
    return lambda values: pd.Series(values, dtype=dtype)


def polars(dtype: Any) -> Column:
    return lambda values: pl.Series(values, dtype=dtype)


def objects(values: list[Any]) -> Any:
    return pd.Series(values, dtype=object)


def category(values: list[Any]) -> Any:
    # Categories in an order of their own, some of them of no row.
    return pd.Series(
        pd.Categorical(
            values, categories=[*sorted({*values, *values[:1]}, reverse=True)]
        )
    )


SMALL = list(range(12))
WIDE = [
    -(2**63),
    -(2**53) - 1,
    -(2**53),
    -7,
    -1,
    0,
    2**31,
    2**53,
    2**53 + 1,
    2**62,
    2**63 - 2,
    2**63 - 1,
]
WORDS = [
    "",
    " ",
    "0",
    "007",
    "07",
    "1",
    "1.0",
    "100",
    "1E2",
    "NaN",
    "None",
    "a",
    "b",
    "nan",
    "ä",
    "日本",
]
IDS = {
    kind.name: kind
    for kind in (
        *(
            Kind(name, SMALL, typed(name), "whole", int)
            for name in (
                "int8",
                "int16",
                "int32",
                "int64",
                ">i4",
                "uint8",
                "uint16",
                "uint32",
                "uint64",
                "Int8",
                "Int64",
                "UInt16",
                "float16",
                "float32",
                "float64",
                "Float64",
            )
        ),
        Kind("int32[pyarrow]", SMALL, typed(pd.ArrowDtype(pa.int32())), "whole", int),
        Kind("objects of whole numbers", SMALL, objects, "whole", int),
        Kind("categories of whole numbers", SMALL, category, "whole", int),
        *(
            Kind(str(dtype), SMALL, polars(dtype), "whole", int)
            for dtype in (pl.Int128, pl.UInt64, pl.Float32)
        ),
        Kind("wide int64", WIDE, typed("int64"), "wide", int),
        Kind("wide Int64", WIDE, typed("Int64"), "wide", int),
        *(
            Kind(name, WORDS, typed(name), "text", str)
            for name in ("str", "string", "string[pyarrow]", "large_string[pyarrow]")
        ),
        Kind("objects of text", WORDS, objects, "text", str),
        Kind("categories of text", WORDS, category, "text", str),
        Kind("Categorical", WORDS, polars(pl.Categorical), "text", str),
        Kind("Enum", WORDS, polars(pl.Enum(WORDS[::-1])), "text", str),
        Kind("String", WORDS, polars(pl.String), "text", str),
    )
}

BIG = [2**60 + step for step in range(8)]
LONG = [Decimal("0.1234567890123456789") + Decimal(f"{step}e-19") for step in range(8)]
FLOATS = [-1e300, -1.0, 0.0, 5e-324, 0.1, 0.1 + 2**-56, 0.3, 1.0, 1.0 + 2**-52, 1e300]
SCORES = {
    kind.name: kind
    for kind in (
        Kind("float64", FLOATS, typed("float64"), "floats"),
        Kind("Float64", FLOATS, typed("Float64"), "floats"),
        Kind(
            "float32",
            [float(np.float32(one)) for one in (-2, 0, 0.1, 0.7, 0.7000001, 1, 1e30)],
            typed("float32"),
            "floats",
        ),
        Kind(
            "float16",
            [-2.0, 0.0, 0.5, 0.5004883, 1.0, 60000.0],
            typed("float16"),
            "floats",
        ),
        Kind("int8", [-128, -1, 0, 1, 5, 127], typed("int8")),
        Kind("uint8", [0, 1, 5, 128, 255], typed("uint8")),
        Kind("int64 above 2**53", BIG, typed("int64")),
        Kind("Int64 above 2**53", BIG, typed("Int64")),
        Kind(
            "uint64 above 2**63", [2**63 + step for step in range(8)], typed("uint64")
        ),
        Kind("objects above 2**53", BIG, objects),
        Kind(
            "Decimals",
            [Decimal(text) for text in ("-1.5", "0", "0.1", "1", "2.25")],
            objects,
        ),
        Kind("long Decimals", LONG, objects),
        Kind("Decimal", LONG, polars(pl.Decimal(38, 20))),
        Kind("bool", [False, True], typed("bool")),
        Kind("boolean", [False, True], typed("boolean")),
        Kind("objects of floats", FLOATS, objects, "floats"),
    )
}

GRADES = {
    kind.name: kind
    for kind in (
        Kind("none", [1], typed("int8")),  # no column: every row is relevant
        Kind("float64", [0.0, 1e-9, 0.1, 0.5, 0.7, 1.0, 3.25], typed("float64")),
        Kind(
            "float32",
            [float(np.float32(one)) for one in (0, 0.1, 0.7, 1, 2.3)],
            typed("float32"),
        ),
        Kind("int64", [0, 1, 2, 3, 4, 5], typed("int64")),
        Kind("uint8", [0, 1, 2, 7], typed("uint8")),
        Kind("Int8", [0, 1, 2, 3], typed("Int8")),
        Kind("bool", [False, True], typed("bool")),
        Kind("boolean", [False, True], typed("boolean")),
        Kind(
            "Decimals",
            [Decimal(text) for text in ("0", "0.1", "0.7", "1", "3.5")],
            objects,
        ),
        Kind("objects", [0, 1, 2, 5], objects),
        Kind("signed", [-2.0, -0.5, 0.0, 1.0, 3.0], typed("float64")),
    )
}

#: Thresholds as a user types them, for the relevance of some kinds.
THRESHOLDS = {
    "float64": (0.1, 0.5, 0.7, 1),
    "float32": (0.1, 0.7, 1, 2.3),
    "int64": (1, 2, 3.5, 5),
    "uint8": (1, 2),
    "Int8": (2, 3),
    "Decimals": (0.1, 0.7, 1),
    "objects": (2, 5),
}
