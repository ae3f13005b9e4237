"""Checks of ids: one user or item with ids that a join does not match."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from recnb.display.language import N_, Plural, _
from recnb.lint.check import Findings, check, finding
from recnb.lint.data import LintData, is_in, outside
from recnb.lint.findings import Quoted, Severity

#: Text that programs write for missing values, in lower case.
NOTHING = ("", "nan", "none", "null", "nat", "<na>", "n/a", "undefined")

Plain = Callable[[pl.Expr], pl.Expr]


def _text_ids(data: LintData) -> Iterator[tuple[str, pl.Series]]:
    """The ids of users and of items, if they are text."""
    ids = {role: data.ids_in("all", role) for role in ("user", "item")}
    return ((role, values) for role, values in ids.items() if values.dtype == pl.String)


@check(N_("ids with blanks"))
def ids_with_blanks(data: LintData) -> Findings:
    """Ids with blanks before or after."""
    return _variants(
        data,
        lambda ids: ids.str.strip_chars(),
        (".strip()", ".strip_chars()"),
        short="{n:,} {ids_of} of {of:,} differ only in blanks at their ends",
        alone="{n:,} {ids_of} of {of:,} begin or end with blanks",
        advice="Remove the blanks in all frames:",
    )


@check(N_("ids in upper and lower case"))
def ids_by_case(data: LintData) -> Findings:
    """Ids that differ only in upper and lower case."""
    return _variants(
        data,
        lambda ids: ids.str.to_lowercase(),
        (".lower()", ".to_lowercase()"),
        short="{n:,} {ids_of} of {of:,} differ only in upper and lower case",
        advice="If they mean the same, write them in one way in all frames:",
        severity="note",
    )


@check(N_("ids with zeros before them"))
def ids_with_zeros(data: LintData) -> Findings:
    """Numbers as text with and without zeros before them."""
    return _variants(
        data,
        lambda ids: ids.str.replace(r"^0+(\d+)$", "$1"),
        ('.lstrip("0")', '.strip_chars_start("0")'),
        short="{n:,} {ids_of} of {of:,} are the same number with and without zeros before it",
        advice="If they mean the same, write them in one way, or read the column as text everywhere:",
    )


@check(N_("ids with a decimal point"))
def ids_with_point(data: LintData) -> Findings:
    """Floats that became text: 7.0 for 7."""
    return _variants(
        data,
        lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"),
        ('.removesuffix(".0")', '.strip_suffix(".0")'),
        short="{n:,} {ids_of} of {of:,} are the same number with and without .0",
        alone="{n:,} {ids_of} of {of:,} are numbers that end in .0",
        advice="They were floats before they were text; write them as whole numbers:",
    )


@check(N_("ids that differ in accents"))
def ids_by_accent(data: LintData) -> Findings:
    """Ids that look the same and are other characters: é as one sign, or as e with an accent."""
    return _variants(
        data,
        lambda ids: ids.str.normalize("NFC"),
        ('.normalize("NFC")', '.normalize("NFC")'),
        short="{n:,} {ids_of} of {of:,} look the same and are written with other characters",
        advice="Write all frames in one form:",
    )


@check(N_("ids of missing values"))
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
        data, "warning" if met else "note", len(words), len(ids),
            short={
                "users": Plural(
                    "{n:,} user id of {of:,} is the word for a missing value",
                    "{n:,} user ids of {of:,} are words for a missing value",
                ),
                "items": Plural(
                    "{n:,} item id of {of:,} is the word for a missing value",
                    "{n:,} item ids of {of:,} are words for a missing value",
                ),
            }[f'{role}s'],
            effect=(
                "Hits of such ids: {met:,}. One missing value is not the other, so {label} = {value:.4f} may be too high."
                if met
                else "They count as any other id does, and no hit is of them."
            ),
            example="Such as {ids}.",
            advice="If these ids are missing, leave their rows out of all frames:",
            met=met,
            ids=Quoted(*words.head(3).to_list()),
            code=data.code(
                pandas=f"frame = frame[~frame[{column!r}].isin({words.to_list()!r})]",
                polars=f"frame = frame.filter(~pl.col({column!r}).is_in({words.to_list()!r}))",
            ),
            )  # fmt: skip


@check(N_("ids as floats"))
def float_ids(data: LintData) -> Findings:
    """Ids that came as floats: a column of whole numbers that had a gap."""
    if not (floats := data.source.floats):
        return
    frame = floats[0].partition("[")[0]
    yield finding(
        data, "note", len(floats), 4,
        short=Plural("Ids came as floats in {n:,} column: {columns}", "Ids came as floats in {n:,} columns: {columns}"),
        effect="They are whole and were read as whole numbers, so nothing is lost; a column of ids becomes float where a row lacks one.",
        advice="Check which rows lost their id, and keep the column as integers:",
        columns=Quoted(*floats),
        code=data.code(
            pandas=f'{floats[0]} = {floats[0]}.astype("Int64")',
            polars=f"{frame} = {frame}.with_columns({floats[0]}.cast(pl.Int64))",
        ),
    )  # fmt: skip


def _variants(
    data: LintData,
    plain: Plain,
    methods: tuple[str, str],
    *,
    short: str,
    advice: str,
    alone: str = "",
    severity: Severity = "warning",
) -> Findings:
    """Users or items whose ids become the same once they are written in one way.

    `methods`: how to write them so in pandas, and in Polars; `alone`: of such ids that are the same as no other, which are
    reported if there is this sentence; `severity`: if ids become the same.
    """
    for role, ids in _text_ids(data):
        table = pl.DataFrame({"id": ids}).with_columns(plain=plain(pl.col("id")))
        changed = table.filter(pl.col("id") != pl.col("plain"))
        # Only one of two ids that become the same need change: "a1" stays as it is, and "A1" becomes it.
        same = table.join(changed.select("plain").unique(), on="plain", how="semi", maintain_order="left")
        merged = same.filter(pl.len().over("plain") > 1)
        if changed.height == 0 or (not (merged.height or alone)):
            continue
        odd = merged if merged.height else changed
        shown = odd.filter(pl.col("plain") == odd["plain"][0])["id"].head(3).to_list()
        lost = _lost(data, role, plain)
        column = data.label_of(role)
        in_pandas, in_polars = methods
        yield finding(
            data, "warning" if lost else severity if merged.height else "note", odd.height, len(ids),
            lost=lost, ids=Quoted(*shown), code=data.code(
                pandas=f"frame[{column!r}] = frame[{column!r}].str{in_pandas}",
                polars=f"frame = frame.with_columns(pl.col({column!r}).str{in_polars})",
            ),
            short=short if merged.height else alone, ids_of=_("user ids") if role == "user" else _("item ids"),
            effect={
                "lost": "Relevant rows that count as misses, and would match a list if ids were written in one way: {lost:,}. So {label} = {value:.4f} may be too low.",
                "merged": "They count as different ids, and what belongs to one is split between them.",
                "alone": "They match each other, so no number changes; other frames may write them otherwise.",
            }["lost" if lost else "merged" if merged.height else "alone"],
            example="Such as {ids}.", advice=advice,)  # fmt: skip


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
