"""Six metrics of recnb, and twelve at six cut-offs, beside the shortest correct Polars query for NDCG@10 alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import recnb
from tests.bench.contenders import CUTOFFS, SIX, TWELVE, polars_ndcg
from tests.bench.data import Size, make
from tests.bench.measure import head, row, seconds, time_of

NOTE = (
    "Medians, all in turns in one process; the query runs on Polars' streaming engine. Six metrics: NDCG, "
    "precision, recall, hit rate, average precision and reciprocal rank at 10; twelve: these, "
    f"{', '.join(TWELVE[len(SIX) :])} at {', '.join(map(str, CUTOFFS))}. From the frames to the table, input checks included."
)


def table(sizes: Sequence[Size], rounds: int | None = None) -> None:
    """Print the table."""
    head(
        "recnb beside a Polars query",
        NOTE,
        "data",
        "ids",
        "rows",
        "by",
        "Polars, NDCG@10 alone",
        "recnb, six metrics @10",
        "ratio",
        "of pandas frames",
        "ratio",
        "twelve metrics × six k",
        "ratio to six",
    )
    for size, strings, shuffled, scores in product(sizes, (False, True), (False, True), (False, True)):
        some = rounds or (7 if size.rows <= 1_000_000 else 3)
        query, six, pandas, twelve = compare(size, strings=strings, shuffled=shuffled, scores=scores, rounds=some)
        row(
            size.name,
            "strings" if strings else "integers",
            "in any order" if shuffled else "in order",
            "score" if scores else "rank",
            time_of(query),
            time_of(six),
            f"{six / query:.2f}",
            time_of(pandas),
            f"{pandas / query:.2f}",
            time_of(twelve),
            f"{twelve / six:.2f}",
        )


def compare(size: Size, *, strings: bool, shuffled: bool, scores: bool, rounds: int) -> list[float]:
    """Seconds of the query; of six metrics of Polars and of pandas frames; and of twelve at six cut-offs."""
    recs, truth = make(size, strings=strings, shuffled=shuffled, scores=scores)
    ours, theirs = recnb.evaluate(recs, truth).ndcg(k=10), polars_ndcg(recs, truth)
    if abs(ours - theirs) > 1e-12:
        raise AssertionError(f"NDCG@10 is {ours!r} by recnb and {theirs!r} by the query: they must be the same")
    pandas = recs.to_pandas(), truth.to_pandas()
    return seconds(
        lambda: polars_ndcg(recs, truth),
        lambda: recnb.evaluate(recs, truth).table(SIX, k=10),
        lambda: recnb.evaluate(*pandas).table(SIX, k=10),
        lambda: recnb.evaluate(recs, truth).table(TWELVE, k=CUTOFFS),
        rounds=rounds,
    )
