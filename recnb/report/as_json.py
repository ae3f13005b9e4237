"""The data of a report as plain Python, which JSON has, and back.

The type of each field says how. Rows of one kind, a tuple of dataclasses, are written by
column: of each field the values of all rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from math import isinf, nan
from types import GenericAlias, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from recnb.data.files import File, checked_input
from recnb.errors import FrameError
from recnb.report.data import ReportData
from recnb.results.files import json_values
from recnb.version import __version__

#: The format of the JSON of a report, and the version of it: another number where a key
#: is added (reading needs every key), renamed, removed or means something else.
SCHEMA = "recnb.report/11"


def values_of(report: ReportData) -> dict[str, Any]:
    """Return the data of a report as plain Python."""
    return {"schema": SCHEMA, **_plain(report, ReportData)}


def data_of(values: Mapping[str, Any]) -> ReportData:
    """Return the data of a report from plain Python."""
    report: ReportData = _typed(values, ReportData)
    return report


def values_in(path: File) -> dict[str, Any]:
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

    NaN is None, and an infinite number is text, as JSON has no word for it.
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


def _typed(value: Any, kind: Any) -> Any:
    """Return plain Python as a value of a type, part by part."""
    if value is None and NoneType in get_args(kind):
        return None
    kind = _without_none(kind)
    row = _row_of(kind)
    if row is not None:
        columns = [
            _typed(value[name], _column_of(of_cells))
            for name, of_cells in _types_of(row).items()
        ]
        return tuple(row(*cells) for cells in zip(*columns, strict=True))
    if _is_record(kind):
        types = _types_of(kind).items()
        return kind(**{name: _typed(value[name], part) for name, part in types})
    if get_origin(kind) is tuple:
        of_parts = zip(value, _types_of_parts(kind, len(value)), strict=True)
        return tuple(_typed(part, of_part) for part, of_part in of_parts)
    if get_origin(kind) is Mapping:
        of_part = get_args(kind)[1]
        return {name: _typed(part, of_part) for name, part in value.items()}
    if kind is float and value is None:
        return nan
    if kind is float and isinstance(value, str):  # "inf"
        return float(value)
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
