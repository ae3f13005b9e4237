"""An evaluation's data for some of its users: the hits they have, unchanged, and their rows of both frames."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recnb.conventions import Convention
from recnb.data.relevance import LazyRows
from recnb.data.source import InMemoryRows, Prepared, RemoteRanking, RemoteRows, Source
from recnb.display.language import Sentence
from recnb.metrics.hits import Hits


def among(prepared: Prepared, users: pl.Series, note: str | Sentence = "") -> Prepared:
    """The same data of these users alone, all of whom are evaluated; each keeps the values that they have there.

    The hits are taken over and not made again, so what a hit owes to the whole data (a catalogue below the lists, the
    highest relevance) stays as it was.
    """
    kept = prepared.users.is_in(users.implode()).to_numpy()
    hits = prepared.all_hits.with_users(kept)
    source = prepared.source
    judged = _rows(prepared.judged, users)
    truth = prepared.truth.filter(pl.Series(kept[prepared.truth_user]))
    row_counts = None
    rows: InMemoryRows | RemoteRanking
    if isinstance(prepared.rows, RemoteRanking):
        away = _away(prepared.rows.away, source, users)
        rows = RemoteRanking(away, prepared.convention)
        assert prepared.row_counts is not None
        n_not_relevant = judged.height - truth.height
        row_counts = replace(prepared.row_counts, n_not_relevant=n_not_relevant, of_more=True)
        source = source and _some(source, away, users)
    else:
        rows = InMemoryRows(LazyRows.of(prepared.rows.of(users)))
        if source is not None and isinstance(source.rows, InMemoryRows):
            source = _some(source, InMemoryRows(LazyRows.of(source.rows.of(users))), users)
    return replace(
        prepared,
        rows=rows,
        judged_rows=LazyRows.of(judged),
        truth_rows=LazyRows.of(truth),
        users=prepared.users.filter(pl.Series(kept)),
        all_hits=hits,
        n_without_relevant=int((hits.n_relevant == 0).sum()),
        notes=(*prepared.notes, *([note] if note else [])),
        source=source,
        row_counts=row_counts,
        _cut={},
    )


def judged_hits(prepared: Prepared) -> Hits:
    """The judged items in the lists, relevant or not, as hits of the same users on the same ranks."""
    convention = replace(
        prepared.convention, relevant="any", relevant_from=None, averaged_users="union", no_relevant="zero"
    )
    if convention.negative_relevance != "zero":
        return _hits_under(convention, prepared)
    graded = _hits_under(replace(convention, negative_relevance="keep", judged_only=False), prepared)
    if not convention.judged_only:
        return graded
    # Items of a grade below 0 have left the lists; in the truth they are still those that were not judged.
    hits = _hits_under(convention, prepared)
    return replace(hits, truth_user=graded.truth_user, truth_relevance=graded.truth_relevance)


def _hits_under(convention: Convention, prepared: Prepared) -> Hits:
    """The hits under another convention, of the users evaluated."""
    assert prepared.source is not None
    known = prepared.source.under(convention)
    return known.all_hits.with_users(known.users.is_in(prepared.users.implode()).to_numpy())


def _away(whole: RemoteRows, source: Source | None, users: pl.Series) -> RemoteRows:
    """The rows of these users where they are: gathered with all others, and taken from them."""

    def gather(convention: Convention) -> Prepared:
        return among(whole.gather(convention) if source is None else source.under(convention), users)

    return replace(whole, gather=gather)


def _some(source: Source, rows: InMemoryRows | RemoteRows, users: pl.Series) -> Source:
    """The rows of some users; the catalogue and the scale of grades are still those of all."""
    return replace(
        source, rows=rows, truth_rows=LazyRows.of(_rows(source.truth, users)), whole=source.whole or source, _known={}
    )


def _rows(table: pl.DataFrame, users: pl.Series) -> pl.DataFrame:
    return table.filter(pl.col("user").is_in(users.implode()))
