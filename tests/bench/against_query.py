"""Six metrics of recnb, and twelve at six cut-offs, beside the shortest correct Polars query for NDCG@10 alone."""

from __future__ import annotations

from collections.abc import Sequence

import recnb
from tests.bench.contenders import CUTOFFS, SIX, TWELVE, polars_ndcg
from tests.bench.data import Size, make
from tests.bench.measure import head, row, seconds, time_of

NOTE = (
    "Medians, all three in turns in one process. Six metrics: NDCG, precision, recall, hit rate, average precision and "
    f"reciprocal rank at 10; twelve: these, {', '.join(TWELVE[len(SIX) :])} at {', '.join(map(str, CUTOFFS))}. From the "
    "frames to the table, input checks included."
)


def table(sizes: Sequence[Size], rounds: int | None = None) -> None:
    """Print the table."""
    head(
        "recnb beside a Polars query",
        NOTE,
        "data",
        "ids",
        "Polars, NDCG@10 alone",
        "recnb, six metrics @10",
        "ratio",
        "recnb, twelve metrics × six k",
        "ratio of twelve",
    )
    for size in sizes:
        for strings in (False, True):
            query, six, twelve = compare(size, strings=strings, rounds=rounds or (7 if size.rows <= 1_000_000 else 3))
            row(
                size.name,
                "strings" if strings else "integers",
                time_of(query),
                time_of(six),
                f"{six / query:.2f}",
                time_of(twelve),
                f"{twelve / query:.2f}",
            )


def compare(size: Size, *, strings: bool, rounds: int) -> list[float]:
    """Seconds of the query, of six metrics, and of twelve at six cut-offs."""
    recs, truth = make(size, strings=strings)
    ours, theirs = recnb.evaluate(recs, truth).ndcg(k=10), polars_ndcg(recs, truth)
    if abs(ours - theirs) > 1e-12:
        raise AssertionError(f"NDCG@10 is {ours!r} by recnb and {theirs!r} by the query: they must be the same")
    return seconds(
        lambda: polars_ndcg(recs, truth),
        lambda: recnb.evaluate(recs, truth).table(SIX, k=10),
        lambda: recnb.evaluate(recs, truth).table(TWELVE, k=CUTOFFS),
        rounds=rounds,
    )
