"""A report read from its JSON, which may have been changed since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from recnb.data.files import File, checked_input
from recnb.errors import FrameError
from recnb.report.columns import ChangedError, typed
from recnb.report.data import ReportData
from recnb.report.report import SCHEMA, Report
from recnb.results.numbers import DifferenceRow
from recnb.results.user_cards import GROUPS
from recnb.results.user_groups import UserGroup
from recnb.results.verdicts import MARKS, VERDICTS
from recnb.version import __version__


def read_report(path: File) -> Report:
    """Read a report from the JSON that `report.to_json` or `recnb report` has written.

    It is shown as it was, in its language, and has the same numbers; no data are read.

    Parameters
    ----------
    path : path or file
        The file of JSON, of this version of the format, `"recnb.report/9"`.

    Returns
    -------
    Report
        The report, with all its forms.

    Examples
    --------
    >>> import pathlib, recnb, tempfile
    >>> sample = recnb.datasets.load_sample()
    >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.json")
    ...     report.to_json(path)
    ...     again = recnb.read_report(path)
    >>> again.to_html() == report.to_html()
    True
    """
    values = _values_in(path)
    try:
        report = typed(values, ReportData)
        _refuse_changed(report)
    except ChangedError as problem:
        raise FrameError(
            f"{path} is a report of recnb in which {str(problem)!r} is missing or was "
            "changed: make it again with report.to_json, or with recnb report -o."
        ) from problem
    return Report(report)


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


def _refuse_changed(report: ReportData) -> None:
    """Refuse a report whose values do not go together, by the first such key."""
    for key, fits in _fitting(report):
        if not fits:
            raise ChangedError(key)


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
