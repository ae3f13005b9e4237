"""Which conventions give a printed number on these frames; and which user's printed value none of them gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.conventions import WORDS
from recnb.data import Source
from recnb.data.encoding import positions
from recnb.display.language import _
from recnb.errors import OptionError, RecnbError, UnknownUserError, is_number
from recnb.libraries.agreement import lacking, measured_all
from recnb.libraries.data_properties import facts_of
from recnb.libraries.explain_difference import side_of, source_of
from recnb.libraries.identified import Fit, Identified, IdentifiedUsers, Match
from recnb.libraries.variant import DATA_AXES, MetricVariant, forget, presets_of, scratch
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import metric_named

if TYPE_CHECKING:
    from recnb.results.evaluation_data import EvaluationData

#: Rows of frames that neighbours may cost in all, and the most different preparations of the data among them.
ROWS_TRIED, DATA_TRIED = 12_000_000, 400
#: Values of options that are numbers, to try beside those in use.
NUMBERS: dict[str, tuple[Any, ...]] = {"log_base": (2, float(np.e), 10), "p": (0.5, 0.8, 0.95), "beta": (0.5, 1, 2)}
SLACK, NEAREST, THRESHOLDS = 1e-9, 5, 5


@dataclass(frozen=True)
class Candidate:
    """A setting by name, and how far it is from one that somebody uses."""

    name: str
    kind: str  #: ours, preset or neighbour
    setting: MetricVariant
    tolerance: float = SLACK


@dataclass(frozen=True)
class Printed:
    """A number as it was printed: its value and its decimals."""

    value: float
    digits: int

    @classmethod
    def of(cls, value: Any, digits: int | None = None) -> Printed:
        """A number from text or from a float, which is read as Python writes it.

        >>> Printed.of("0.3680"), Printed.of(0.368), Printed.of("36.8%")
        (Printed(value=0.368, digits=4), Printed(value=0.368, digits=3), Printed(value=0.368, digits=3))
        """
        text = value.strip() if isinstance(value, str) else repr(float(value)) if is_number(value) else ""
        try:
            number = Decimal(text.rstrip("%"))
        except InvalidOperation:
            number = Decimal("NaN")
        decimals = number.as_tuple().exponent
        if not isinstance(decimals, int):
            raise OptionError(f"{value!r} is no printed number: give it as it is printed, such as '0.3680' or 0.368.")
        if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 20):
            raise OptionError(
                f"digits={digits!r} is no number of decimals: give a whole number to 20, such as digits=4."
            )
        percent = text.endswith("%")
        own = max(0, -decimals) + 2 * percent
        return cls(float(number / 100 if percent else number), own if digits is None else digits)

    def fits(self, values: Floats, slack: float) -> np.ndarray[Any, np.dtype[np.int64]]:
        """2 where a value rounds to what is printed, 1 where it does when cut off, 0 elsewhere."""
        return fits(values, np.array(self.value), self.digits, slack)


def fits(values: Floats, printed: Floats, digits: int, slack: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """2 where values round to what is printed, 1 where they do when cut off, 0 elsewhere."""
    unit = 10.0**-digits
    apart = values - printed
    rounded = np.abs(apart) <= 0.5 * unit + slack
    cut = (np.sign(printed) * apart >= -slack) & (np.abs(apart) < unit - slack)
    return np.where(np.isnan(values), 0, np.where(rounded, 2, np.where(cut, 1, 0))).astype(np.int64)


def identify(
    evaluation: EvaluationData,
    metric: str,
    value: Any,
    k: int | None = None,
    *,
    digits: int | None = None,
    **options: Any,
) -> Identified | IdentifiedUsers:
    """Which conventions give a printed number on these frames.

    `value` is the number as printed: text keeps its zeros ("0.3680"). A Series or mapping of user to printed value
    looks for the convention that fits most users, and names those whose value fits none.
    """
    chosen = metric_named(metric)
    k = Cutoffs.one(k).values[0]
    ours = side_of(evaluation, chosen, options)
    source = source_of(evaluation)
    candidates, left_out = candidates_of(source, ours.setting, ours.name, k)
    notes = lacking(source, presets_of(chosen.name))
    if left_out:
        notes = (*notes, _("{n:,} neighbours were not tried, for the frames are large.", n=left_out))
    label = chosen.label(k)
    if isinstance(value, Mapping) or hasattr(value, "items"):
        return _of_users(source, dict(value.items()), digits, candidates, k, label, notes)
    printed = Printed.of(value, digits)
    numbers = measured_all(source, [one.setting for one in candidates], k)
    matches: list[Match] = []
    near: list[Match] = []
    for one in candidates:
        number = numbers[one.setting][0]
        if not isfinite(number):
            continue
        how = int(printed.fits(np.array(number), one.tolerance))
        match = Match(one.name, one.kind, number, "rounded" if how == 2 else "cut off" if how else "no", one.setting)
        (matches if how else near).append(match)
    near.sort(key=lambda match: abs(match.value - printed.value))
    return Identified(label, printed.value, printed.digits, tuple(matches), _different(near), len(candidates), notes)


def _different(near: list[Match]) -> tuple[Match, ...]:
    """The nearest, one for each number."""
    found: list[Match] = []
    for one in near:
        if all(abs(one.value - known.value) > SLACK for known in found):
            found.append(one)
        if len(found) == NEAREST:
            break
    return tuple(found)


def candidates_of(source: Source, ours: MetricVariant, name: str, k: int | None) -> tuple[list[Candidate], int]:
    """Ours, all presets of the metric, and what is one axis from them; and how many neighbours there was no room for.

    Neighbours that cannot differ on these frames from what is listed before them are left out.
    """
    known = [Candidate(name, "ours", ours)]
    known += [
        Candidate(one.label, "preset", MetricVariant.of_preset(one), max(SLACK, one.tolerance))
        for one in presets_of(ours.metric)
    ]
    # What a library refuses is no axis: a neighbour that refuses nothing is the same convention.
    plainest = [replace(one.setting.on(source, k), refuses=(), _key={}) for one in known]
    seen = set(plainest)
    data = {one.setting.data(source) for one in known}
    most = len(data) + min(DATA_TRIED, ROWS_TRIED // max(facts_of(source).n_rows, 1))
    left_out = 0
    bases: dict[MetricVariant, Candidate] = {}
    for plain, one in zip(plainest, known, strict=True):
        bases.setdefault(plain, one)
    found = []
    for base in bases.values():
        for axis, near in neighbours(base.setting, source):
            plain = near.on(source, k)
            if plain in seen:
                continue
            needs = near.data(source)
            if needs not in data and len(data) >= most:
                left_out += 1
                continue
            seen.add(plain)
            data.add(needs)
            name = _("{name}, but {words}", name=base.name, words=near.words(axis))
            found.append(Candidate(name, "neighbour", near, base.tolerance))
    return [*known, *found], left_out


def neighbours(setting: MetricVariant, source: Source) -> Iterable[tuple[str, MetricVariant]]:
    """Settings that differ from one along one axis; the metric's own axes first, which cost least."""
    setting = replace(setting, refuses=(), _key={})
    words = setting.how.words
    for option, value in setting.options:
        choices = words.get(option, NUMBERS.get(option, ()))
        yield from ((option, setting.choosing(option, one)) for one in choices if one != value)
    for axis in ("cutoff", "no_relevant", "no_hit", "no_list", "average", "users", "judged", "relevant"):
        yield from _along(setting, axis, source)
    for axis in (
        "candidates",
        "ties",
        "order",
        "duplicates",
        "negative_relevance",
        "nonpositive_scores",
        "score_dtype",
    ):
        yield from _along(setting, axis, source)


def _along(setting: MetricVariant, axis: str, source: Source) -> Iterable[tuple[str, MetricVariant]]:
    for field in DATA_AXES.get(axis, (axis,)):
        here = getattr(setting.convention, field)
        if field == "relevant_from":
            yield from ((axis, setting.having(relevant_from=one)) for one in _thresholds(source) if one != here)
            if here is not None:
                yield axis, setting.having(relevant_from=None)
        elif field == "relevant":
            words = (one for one in WORDS[field] if one != here or setting.convention.relevant_from is not None)
            yield from ((axis, setting.having(relevant=one, relevant_from=None)) for one in words)
        else:
            has = (*facts_of(source).orders,) if field == "order" else WORDS[field]
            yield from ((axis, setting.having(**{field: one})) for one in has if one not in (here, "error"))


def _thresholds(source: Source) -> list[float]:
    """The grades above the lowest one that there are, from the highest, as far as somebody may have chosen one of them."""
    if "relevance" not in source.truth.columns:
        return []
    grades = source.truth["relevance"].cast(float).unique().drop_nulls().sort(descending=True).to_list()
    return [float(one) for one in grades if one > 0 and isfinite(one)][:THRESHOLDS]


def _of_users(
    source: Source, values: Mapping[Any, Any], digits: int | None, candidates: list[Candidate], k: int | None, label: str,
    notes: tuple[str, ...],
) -> IdentifiedUsers:  # fmt: skip
    """The conventions that fit most of the users' printed values, and the users whom none fits."""
    import polars as pl

    if not values:
        raise OptionError("no printed values: give a Series or a mapping of user to value.")
    read = [Printed.of(value) for value in values.values()]
    decimals = max(one.digits for one in read) if digits is None else Printed.of(0.0, digits).digits
    printed = np.array([one.value for one in read])
    try:
        users = pl.Series("user", list(values), dtype=source.recs["user"].dtype, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise UnknownUserError(
            f"users such as {next(iter(values))!r} are of another kind than those of the frames."
        ) from problem
    own = scratch(source)
    plain: dict[MetricVariant, Candidate] = {}
    for one in candidates:
        plain.setdefault(one.setting.on(own, k), one)
    by_data: dict[Any, list[tuple[MetricVariant, Candidate]]] = {}
    for setting, one in plain.items():
        by_data.setdefault(setting.data(own), []).append((setting, one))
    anyone = np.zeros(len(printed), dtype=np.int64)
    found, is_user = [], np.zeros(len(printed), dtype=bool)
    for same in by_data.values():
        for setting, one in sorted(same, key=lambda pair: not pair[0].whole_list):
            try:
                measured = setting.measured(own, k)
            except RecnbError:
                continue
            at = positions(measured.users, users)
            theirs = np.where(at >= 0, measured.values[np.maximum(at, 0)] if len(measured.values) else np.nan, np.nan)
            is_user |= at >= 0
            how = fits(theirs, printed, decimals, one.tolerance)
            anyone = np.maximum(anyone, how)
            found.append((one, theirs, how))
        forget(own, source)
    if not is_user.any():
        raise UnknownUserError(f"none of the users, such as {next(iter(values))!r}, is among those evaluated.")
    order = {one.name: place for place, one in enumerate(candidates)}
    found.sort(key=lambda fit: (-int((fit[2] == 2).sum()), -int((fit[2] > 0).sum()), order[fit[0].name]))
    best = [
        fit
        for fit in found
        if ((fit[2] == 2).sum(), (fit[2] > 0).sum()) == ((found[0][2] == 2).sum(), (found[0][2] > 0).sum())
    ]
    names = list(values)
    shown = tuple(
        Fit(one.name, one.kind, int((how == 2).sum()), int((how > 0).sum()), tuple(map(float, theirs)), one.setting)
        for one, theirs, how in best
    )
    nobody = tuple(names[at] for at in np.flatnonzero(anyone == 0))
    return IdentifiedUsers(
        label,
        tuple(names),
        tuple(map(float, printed)),
        decimals,
        shown,
        nobody,
        tuple(map(int, best[0][2])),
        len(plain),
        notes,
    )
