"""The ways in: each gives the mean reciprocal rank at 5 of what it is given."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl

import recnb
from recnb.cli import main
from recnb.cli.arguments import flag_of
from recnb.evaluate import KEYWORDS

#: What is typed in Python alone.
CODE = re.compile(
    rf"(?<!datetime)(?<!zoneinfo)\.\w+\(|(recs|truth)\[|recs\.rec|dtype|\[one\[|\b({'|'.join(KEYWORDS)})="
)
#: Recommendations, and the truth unless they hold both, with keywords of an evaluation.
Door = Callable[..., float]


class NotGivenError(Exception):
    """Something cannot be given at this door."""


class LineError(Exception):
    """The line in which the command refuses what it is given."""


def evaluate(*frames: Any, **options: Any) -> float:
    return recnb.evaluate(*frames, **options).mrr(k=5)


def accessor(recs: Any, *truth: Any, **options: Any) -> float:
    if not isinstance(recs, pd.DataFrame | pl.DataFrame | pl.LazyFrame):
        raise NotGivenError
    if truth:
        return recs.rec.against(*truth, **options).mrr(k=5)
    return recs.rec.mrr(k=5, **options)


def compare(recs: Any, *truth: Any, **options: Any) -> float:
    return recnb.compare({"a": recs, "b": recs}, *truth, **options)["b"].mrr(k=5)


def command(*frames: Any, **options: Any) -> float:
    """Write the frames to files, and report on them as in a shell."""
    if len(frames) == 1:
        raise NotGivenError
    with tempfile.TemporaryDirectory() as folder:
        line = [_file_of(frame, folder) for frame in frames]
        for keyword, value in options.items():
            several = value if isinstance(value, list | tuple) else [value]
            for one in several:
                given = str(one)
                if not isinstance(one, str | int | float):
                    given = _file_of(one, folder)
                line += [flag_of(keyword), given]
        report = f"{folder}/report.csv"
        line += ["--k", "5", "--metrics", "mrr", "-o", report]
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            code = main(["report", *line])
        told = error.getvalue().replace(folder, "")
        if code == 0:
            return float(pd.read_csv(report)["mean"][0])
    assert code in (2, 4, 5), told
    assert told.startswith("recnb: error: ")
    assert told.count("\n") == 1
    assert not CODE.search(told), told
    raise LineError(told.removeprefix("recnb: error: ").strip())


def _file_of(given: Any, folder: str) -> str:
    """Return the path of a file with the rows of a frame."""
    if isinstance(given, str | Path):
        return str(given)
    frame = given
    if isinstance(given, pd.DataFrame):
        labels = [*given.index.names, *given.columns]
        if labels[0] is not None or not all(isinstance(one, str) for one in labels[1:]):
            raise NotGivenError  # no file has an index, or columns named by numbers
        if any(isinstance(dtype, pd.PeriodDtype) for dtype in given.dtypes):
            raise NotGivenError  # a file has it as an extension, or as numbers
        try:
            frame = pl.from_pandas(given, nan_to_null=False)
        except (TypeError, ValueError, NotImplementedError) as problem:
            raise NotGivenError from problem
        if pl.Struct in frame.dtypes:
            raise NotGivenError  # a mapping in each cell has keys of its own
    if not isinstance(frame, pl.DataFrame) or pl.Object in frame.dtypes:
        raise NotGivenError
    file = f"{folder}/{len([*Path(folder).iterdir()])}.parquet"
    frame.write_parquet(file)
    return file


#: The ways in beside `evaluate`.
OTHERS: dict[str, Door] = {
    "accessor": accessor,
    "compare": compare,
    "command": command,
}
