"""Checks of ids: one user or item with ids that a join does not match."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from recnb.lint.check import Check, Findings, finding
from recnb.lint.data import LintData, is_in, outside
from recnb.lint.findings import Quoted, Severity

#: Text that programs write for missing values, in lower case.
NOTHING = ("", "nan", "none", "null", "nat", "<na>", "n/a", "undefined")

Plain = Callable[[pl.Expr], pl.Expr]


def _text_ids(data: LintData) -> Iterator[tuple[str, pl.Series]]:
    """The ids of users and of items, if they are text."""
    ids = {role: data.ids_in("all", role) for role in ("user", "item")}
    return ((role, values) for role, values in ids.items() if values.dtype == pl.String)


@Check
def ids_with_blanks(data: LintData) -> Findings:
    """Ids with blanks before or after."""
    return _variants(data, lambda ids: ids.str.strip_chars(), ".strip()", alone=True)


@Check
def ids_by_case(data: LintData) -> Findings:
    """Ids that differ only in upper and lower case."""
    return _variants(data, lambda ids: ids.str.to_lowercase(), ".lower()", severity="note")


@Check
def ids_with_zeros(data: LintData) -> Findings:
    """Numbers as text with and without zeros before them."""
    return _variants(data, lambda ids: ids.str.replace(r"^0+(\d+)$", "$1"), '.lstrip("0")')


@Check
def ids_with_point(data: LintData) -> Findings:
    """Floats that became text: 7.0 for 7."""
    return _variants(data, lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"), '.removesuffix(".0")', alone=True)


@Check
def ids_by_accent(data: LintData) -> Findings:
    """Ids that look the same and are other characters: é as one sign, or as e with an accent."""
    return _variants(data, lambda ids: ids.str.normalize("NFC"), '.normalize("NFC")')


@Check
def ids_of_nothing(data: LintData) -> Findings:
    """Missing ids that became text: "nan" of one frame meets "nan" of the other."""
    for role, ids in _text_ids(data):
        words = ids.filter(ids.str.strip_chars().str.to_lowercase().is_in(NOTHING))
        if len(words) == 0:
            continue
        relevant = is_in(data.prepared.truth[role], words).to_numpy()
        met = int(relevant[data.hits.truth_row].sum())
        column = data.label_of(role)
        yield finding(
            data, "warning" if met else "note", len(words), len(ids), f"{role}s", "met" if met else "unmet", met=met,
            ids=Quoted(*words.head(3).to_list()), code=f"frame = frame[~frame[{column!r}].isin({words.to_list()!r})]",
        )  # fmt: skip


@Check
def float_ids(data: LintData) -> Findings:
    """Ids that came as floats: a column of whole numbers that had a gap."""
    if floats := data.source.floats:
        code = f'{floats[0]} = {floats[0]}.astype("Int64")'
        yield finding(data, "note", len(floats), 4, columns=Quoted(*floats), code=code)


def _variants(
    data: LintData, plain: Plain, method: str, *, severity: Severity = "warning", alone: bool = False
) -> Findings:
    """Users or items whose ids become the same once they are written in one way.

    `severity`: if ids become the same; `alone`: such ids are reported even if they are the same as no other.
    """
    for role, ids in _text_ids(data):
        table = pl.DataFrame({"id": ids}).with_columns(plain=plain(pl.col("id")))
        changed = table.filter(pl.col("id") != pl.col("plain"))
        # Only one of two ids that become the same need change: "a1" stays as it is, and "A1" becomes it.
        same = table.join(changed.select("plain").unique(), on="plain", how="semi", maintain_order="left")
        merged = same.filter(pl.len().over("plain") > 1)
        if changed.height == 0 or (merged.height == 0 and not alone):
            continue
        odd = merged if merged.height else changed
        shown = odd.filter(pl.col("plain") == odd["plain"][0])["id"].head(3).to_list()
        lost = _lost(data, role, plain)
        column = data.label_of(role)
        yield finding(
            data, "warning" if lost else severity if merged.height else "note", odd.height, len(ids),
            f"{role}s" if merged.height else f"{role}s_alone", "lost" if lost else "merged" if merged.height else "alone",
            lost=lost, ids=Quoted(*shown), code=f"frame[{column!r}] = frame[{column!r}].str{method}",
        )  # fmt: skip


def _lost(data: LintData, role: str, plain: Plain) -> int:
    """Relevant rows whose user or item no list has, and would have if ids were written one way."""
    listed, judged = data.ids_in("lists", role), data.ids_in("truth", role)
    missing = outside(judged, listed)
    if len(missing) == 0:
        return 0
    plain_listed = pl.DataFrame({"id": listed}).select(plain(pl.col("id"))).to_series()
    written = pl.DataFrame({"id": missing}).with_columns(plain=plain(pl.col("id")))
    would_meet = written.filter(is_in(written["plain"], plain_listed))["id"]
    return int(is_in(data.relevant_of(data.prepared.relevant)[role], would_meet).sum())
