"""A report as plain Python, which JSON has, and back.

The type of each field says how. Rows of one kind, a tuple of dataclasses, are written by
column: of each field the values of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache
from math import isinf, nan
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from recnb.results.files import json_values


def plain(value: Any, kind: Any) -> Any:
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
            table[name] = [plain(getattr(each, name), of_cells) for each in value]
        return table
    if _is_record(kind):
        types = _types_of(kind).items()
        return {name: plain(getattr(value, name), of_field) for name, of_field in types}
    if get_origin(kind) is tuple:
        parts = zip(value, _types_of_parts(kind, len(value)), strict=True)
        return [plain(part, of_part) for part, of_part in parts]
    if get_origin(kind) is Mapping:
        of_parts = get_args(kind)[1]
        return {name: plain(part, of_parts) for name, part in value.items()}
    if kind is float and isinf(value):
        return str(float(value))
    return json_values(value)


class ChangedError(Exception):
    """A value that is missing, or does not go with its type or with other values."""


@contextmanager
def _named(key: str) -> Iterator[None]:
    """Name the key of a value that does not go with its type."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise ChangedError(key.removeprefix(".")) from problem


def typed(value: Any, kind: Any, key: str = "") -> Any:
    """Return plain Python as a value of a type.

    What does not fit raises a ChangedError with its `key`.
    """
    if value is None and NoneType in get_args(kind):
        return None
    kind = _without_none(kind)
    row = _row_of(kind)
    with _named(key):
        if row is not None:
            columns = []
            for name, of_cells in _types_of(row).items():
                with _named(f"{key}.{name}"):
                    cells = value[name]
                    column = [typed(cell, of_cells, f"{key}.{name}") for cell in cells]
                    columns.append(column)
            return tuple(row(*cells) for cells in zip(*columns, strict=True))
        if _is_record(kind):
            parts = {}
            for name, of_field in _types_of(kind).items():
                with _named(f"{key}.{name}"):
                    parts[name] = typed(value[name], of_field, f"{key}.{name}")
            return kind(**parts)
        if get_origin(kind) is tuple:
            of_parts = zip(value, _types_of_parts(kind, len(value)), strict=True)
            return tuple(typed(part, of_part, key) for part, of_part in of_parts)
        if get_origin(kind) is Mapping:
            of_part = get_args(kind)[1]
            items = value.items()
            return {name: typed(part, of_part, f"{key}.{name}") for name, part in items}
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
