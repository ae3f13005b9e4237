"""The data of a report as plain Python, which JSON has, and back.

The type of each field says how. Rows of one kind, a tuple of dataclasses, are written by
column: of each field the values of all rows. What is read may have been changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from math import isinf, nan
from types import GenericAlias, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from recnb.data.files import File, checked_input
from recnb.errors import FrameError
from recnb.report.data import ReportData
from recnb.results.files import json_values
from recnb.results.numbers import DifferenceRow
from recnb.results.user_cards import GROUPS
from recnb.results.user_groups import UserGroup
from recnb.results.verdicts import MARKS, VERDICTS
from recnb.version import __version__

#: The format of the JSON of a report, and the version of it: another number where a key
#: is renamed, removed or means something else.
SCHEMA = "recnb.report/10"

#: Stands for a value that a file does not have.
ABSENT = object()


class ChangedError(Exception):
    """A value that is missing, or does not go with its type or with other values."""


def values_of(report: ReportData) -> dict[str, Any]:
    """Return the data of a report as plain Python."""
    return {"schema": SCHEMA, **_plain(report, ReportData)}


def data_in(path: File) -> ReportData:
    """Return the data of a report from a file of JSON; refuse what is no such file."""
    values = _values_in(path)
    try:
        report: ReportData = _typed(values, ReportData)
        for key, fits in _fitting(report):
            if not fits:
                raise ChangedError(key)
    except ChangedError as problem:
        raise FrameError(
            f"{path} is a report of recnb in which {str(problem)!r} is missing or was "
            "changed: make it again with report.to_json, or with recnb report -o."
        ) from problem
    return report


def _values_in(path: File) -> dict[str, Any]:
    """Return what a file of JSON holds, if it is a report of this version."""
    content = checked_input(path).read_bytes()
    values: Any = None
    with suppress(ValueError, RecursionError):  # of what is no JSON
        values = json.loads(content)
    schema = values.get("schema") if isinstance(values, dict) else None
    if schema == SCHEMA:
        return dict(values)
    if str(schema).startswith("recnb.report/"):
        raise FrameError(
            f"{path} is of the format {schema!r}, and recnb {__version__} reads {SCHEMA!r}: "
            "make the report again, or read it with the version of recnb that wrote it."
        )
    raise FrameError(
        f"{path} is no report of recnb: give a file that report.to_json(path) or "
        "recnb report -o report.json has written."
    )


# By type


def _plain(value: Any, kind: Any) -> Any:
    """Return a value of a type as plain Python.

    NaN is None, and what JSON has no word for is text: an infinite number, a date.
    """
    if value is None:
        return None
    kind = _without_none(kind)
    row = _row_of(kind)
    if row is not None:
        table = {}
        for name, of_cells in _types_of(row).items():
            column = [getattr(each, name) for each in value]
            table[name] = _plain(column, _column_of(of_cells))
        return table
    if _is_record(kind):
        types = _types_of(kind).items()
        return {
            name: _plain(getattr(value, name), of_field) for name, of_field in types
        }
    if get_origin(kind) is tuple:
        parts = zip(value, _types_of_parts(kind, len(value)), strict=True)
        return [_plain(part, of_part) for part, of_part in parts]
    if get_origin(kind) is Mapping:
        of_parts = get_args(kind)[1]
        return {name: _plain(part, of_parts) for name, part in value.items()}
    if kind is float and isinf(value):
        return str(float(value))
    return json_values(value)


def _typed(value: Any, kind: Any, key: str = "") -> Any:
    """Return plain Python as a value of a type.

    What does not fit raises a ChangedError with its `key`.
    """
    try:
        return _as(value, kind, key)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise ChangedError(key.removeprefix(".")) from problem


def _as(value: Any, kind: Any, key: str) -> Any:
    """Return plain Python as a value of a type, part by part."""
    if value is None and NoneType in get_args(kind):
        return None
    kind = _without_none(kind)
    row = _row_of(kind)
    if row is not None:
        columns = []
        for name, of_cells in _types_of(row).items():
            of_column = _column_of(of_cells)
            column = _typed(value.get(name, ABSENT), of_column, f"{key}.{name}")
            columns.append(column)
        return tuple(row(*cells) for cells in zip(*columns, strict=True))
    if _is_record(kind):
        parts = {}
        for name, of_field in _types_of(kind).items():
            part = value.get(name, ABSENT)
            parts[name] = _typed(part, of_field, f"{key}.{name}")
        return kind(**parts)
    if get_origin(kind) is tuple:
        of_parts = zip(value, _types_of_parts(kind, len(value)), strict=True)
        return tuple(_typed(part, of_part, key) for part, of_part in of_parts)
    if get_origin(kind) is Mapping:
        of_part = get_args(kind)[1]
        items = value.items()
        return {name: _typed(part, of_part, f"{key}.{name}") for name, part in items}
    return _single(value, kind)


def _single(value: Any, kind: Any) -> Any:
    """Return a value that has no parts as its type."""
    if kind is Any:
        return value
    if kind is float:
        if value is None:
            return nan
        if value in ("inf", "-inf"):
            return float(value)
        fits = isinstance(value, (int, float))
    elif get_origin(kind) is Literal:
        fits = value in get_args(kind)
    else:
        fits = isinstance(value, kind)
    if not fits:
        raise TypeError(f"{value!r} is no {kind}")
    return value


def _is_record(kind: Any) -> bool:
    """Return whether a type is a dataclass; an instance of one is no type."""
    return isinstance(kind, type) and is_dataclass(kind)


@cache
def _types_of(record: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass, in their order."""
    types = get_type_hints(record)
    return {field.name: types[field.name] for field in fields(record)}


def _row_of(kind: Any) -> Any:
    """Return the dataclass of the rows of a table; None if the type is no table."""
    if get_origin(kind) is not tuple:
        return None
    first = get_args(kind)[0]
    return first if _is_record(first) else None


def _column_of(kind: Any) -> Any:
    """Return the type of a column whose cells are of a type: a tuple of any length."""
    return GenericAlias(tuple, (kind, ...))


def _without_none(kind: Any) -> Any:
    """Return the type of a value that may be None as well."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    (of_value,) = [part for part in get_args(kind) if part is not NoneType]
    return of_value


def _types_of_parts(kind: Any, n_parts: int) -> tuple[Any, ...]:
    """Return the type of each part of a tuple; behind a type `...` is any number."""
    types = get_args(kind)
    if types[-1] is Ellipsis:
        return types[:1] * n_parts
    return types


# What goes together


def _fitting(report: ReportData) -> Iterator[tuple[str, bool]]:
    """Give keys, and whether their values go with those of keys before them."""
    models = [*report.models]
    yield "models", 0 < len({*models}) == len(models)
    yield "baseline", report.baseline in (None, *models)
    yield "lead_k", report.lead_k in report.k
    yield "metrics", bool(report.metrics) and report.lead.is_accuracy
    accuracy = {metric.metric for metric in report.metrics if metric.is_accuracy}
    means = [row for row in report.means if row.metric in accuracy]
    at_lead = report.means_of(report.lead.metric, report.lead_k)
    yield "means", bool(at_lead) and _have_each(models, means)
    yield "means.mark", {row.mark for row in report.means} <= {"", *MARKS}
    yield "differences", _are_of(models, report.differences)
    has_cutoffs = all(row.k for row in report.curve)
    yield "curve", has_cutoffs and _have_each(models, report.curve)
    yield "hit_rates", not report.hit_rates or _have_each(models, report.hit_rates)
    yield "distributions", _have_each(models, report.distributions)
    for spread in report.distributions:
        n_bins = len(spread.counts)
        yield "distributions.shares", 0 < len(spread.shares) == n_bins
        yield "distributions.edges", len(spread.edges) == n_bins + 1
        yield "distributions.quartiles", len(spread.quartiles) == 3
    segments = report.segments
    if segments is not None:
        of_parts: list[Any] = [*segments.means, *segments.differences]
        n_parts = len(segments.names)
        yield "segments.names", all(0 <= row.part < n_parts for row in of_parts)
        at_lead = segments.means_of(report.lead.metric)
        yield "segments.means", _have_each(models, at_lead)
        # A gap is of no model.
        yield "segments.differences", _are_of(["", *models], segments.differences)
    for group in report.users:
        yield "users", _has_lists(group, models)
    yield "lints", sorted(models) == sorted(report.lints)
    made_with = report.made_with
    yield "made_with.time", isinstance(made_with.get("time"), str)
    versions = made_with.get("versions")
    yield "made_with.versions", isinstance(versions, dict) and "recnb" in versions


def _have_each(models: Sequence[str], rows: Iterable[Any]) -> bool:
    """Return whether rows have each model once at every metric, cut-off and part."""
    of_places: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        place = tuple(getattr(row, name, None) for name in ("metric", "k", "part"))
        of_places.setdefault(place, []).append(row.model)
    each = sorted(models)
    return bool(of_places) and all(sorted(one) == each for one in of_places.values())


def _are_of(models: Sequence[str], rows: Iterable[DifferenceRow]) -> bool:
    """Return whether differences are of these models, each with a verdict."""
    return all(
        {row.model, row.baseline} <= {*models} and row.verdict in VERDICTS
        for row in rows
    )


def _has_lists(group: UserGroup, models: Sequence[str]) -> bool:
    """Return whether a group of users has the lists of one model, or of two."""
    of_models = {group.model, group.baseline} - {None}
    n_lists = {len(user.lists) for user in group.users}
    n_values = {len(user.values) for user in group.users}
    is_of_models = group.kind in GROUPS and of_models <= {*models}
    return is_of_models and n_lists == n_values == {len(of_models)}
