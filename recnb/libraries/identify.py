"""`identify`: the conventions that give a printed number, or the nearest; and the users whose printed values none gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from recnb.conventions import WORDS
from recnb.conventions.presets import of_metric
from recnb.data import Source
from recnb.display.language import N_, _, ngettext
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, UnknownUserError, is_number
from recnb.libraries.data_properties import properties_of
from recnb.libraries.variant import (
    FIELDS,
    Found,
    MetricVariant,
    Side,
    each_measured,
    grouped,
    missing_columns,
    numbers_of,
)
from recnb.metrics.hits import Floats, Ints
from recnb.results.arguments import standard_at

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData

#: How a printed value fits.
FITS: dict[str, str] = {
    "rounded": N_("rounds to it"),
    "cut off": N_("only if cut off, not rounded"),
}
#: The same per user, in frames.
FIT_OF_USER = np.array(["does not fit", "fits if cut off", "fits"], dtype=object)

#: Kinds of candidates, the simplest first: what is in use comes before what is one axis from it.
SIMPLEST = {"ours": 0, "preset": 1, "neighbour": 2}

#: Names that are shown at most.
NAMES_SHOWN = 6

#: Rows of frames that neighbours may cost in all, and the most different preparations of the data among them.
ROWS_TRIED, DATA_TRIED = 12_000_000, 400
#: Values to try for options that are numbers.
NUMBERS: dict[str, tuple[Any, ...]] = {"log_base": (2, float(np.e), 10), "p": (0.5, 0.8, 0.95), "beta": (0.5, 1, 2)}
#: Axes along which neighbours differ, the cheapest first.
AXES = (
    "cutoff", "no_relevant", "users", "judged", "relevant", "candidates", "ties", "order",
    "duplicates", "negative_relevance", "nonpositive_scores", "score_dtype",
)  # fmt: skip
SLACK, NEAREST, THRESHOLDS = 1e-9, 5, 5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A variant to try, by name."""

    name: str
    kind: str  #: ours, preset or neighbour
    variant: MetricVariant
    tolerance: float = SLACK


@dataclass(frozen=True, eq=False)
class Match(Candidate):
    """A candidate and its number."""

    value: float = nan
    how: str = "no"  #: rounded, cut off or no


@dataclass(frozen=True, eq=False)
class Fit(Candidate):
    """A candidate and how it fits users' printed values."""

    values: Floats = field(default_factory=lambda: np.zeros(0))  #: per user; NaN if not counted
    how: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  #: per user: 2 rounded, 1 cut off, 0 not

    @property
    def n_users(self) -> tuple[int, int]:
        """The users whose value rounds to the printed one, and those and the users whose value fits if it is cut off."""
        return int((self.how == 2).sum()), int((self.how > 0).sum())


@dataclass(frozen=True, eq=False, repr=False)
class FoundPrinted(Found):
    """What is found of printed values: a line or two, rows of which the first are shown, and all of them as a frame."""

    n_tried: int
    headlines: list[str]
    header: list[str]
    rows: list[tuple[Any, str, str]]
    frame: pd.DataFrame
    template = "libraries/identify.jinja"
    n_shown: ClassVar[int] = 12  #: rows
    numbers_from: ClassVar[int] = 3  #: the first column of numbers in HTML

    @property
    def rest(self) -> list[str]:
        """What follows the rows."""
        n = len(self.rows) - self.n_shown
        return (
            [_("… {n:,} more: see to_frame().", n=n)] if n > 0 else [] if self.rows else [_("every printed value fits")]
        )

    def lines(self) -> list[str]:
        """The headlines and the rows that are shown."""
        rows = [self.text(*row) for row in self.rows[: self.n_shown]]
        return [*self.headlines, *(f"  {line}" for line in (*rows, *self.rest))]

    def text(self, value: Any, fit: str, who: str) -> str:
        """A row as text."""
        return f"{value}  {fit}: {who}"

    def to_frame(self) -> pd.DataFrame:
        """All rows: of conventions name, kind, value and how it fits; of users both values and what fits."""
        return self.frame.copy()


@dataclass(frozen=True, eq=False, repr=False)
class Identified(FoundPrinted):
    """The conventions that give a printed number; if there is none, the nearest."""

    printed: float
    digits: int  #: decimals of the printed number
    matches: tuple[Match, ...]
    groups: list[list[Match]]  #: the matches by number, those that round to the printed one first, then the simplest
    nearest: tuple[Match, ...]


@dataclass(frozen=True, eq=False, repr=False)
class IdentifiedUsers(FoundPrinted):
    """The conventions that fit most users' printed values, and the users whose value fits no convention: the misprints."""

    best: list[Fit]  #: all that fit as many users, the simplest first
    misprints: tuple[Any, ...]  #: users whose printed value no convention gives
    n_shown = 30
    numbers_from = 1

    def text(self, value: Any, fit: str, who: str) -> str:
        """A row as text."""
        return _("{user}: printed {printed}, computed {verdict}", user=one_line(repr(value)), printed=fit, verdict=who)


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
        printed = max(0, -decimals) + 2 * percent
        return cls(float(number / 100 if percent else number), printed if digits is None else digits)


def fits(values: Floats, printed: Floats, digits: int, slack: float) -> Ints:
    """2 for values that round to the printed ones, 1 for those equal to them when cut off, else 0."""
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
    """Find the conventions that give a printed number; the arguments are those of `Evaluation.identify`.

    Tried are the evaluation's own convention, those recorded of libraries, and all that differ from one of these along one
    axis.
    """
    chosen, k = standard_at(metric, k)
    printed = None if isinstance(value, Mapping) or hasattr(value, "items") else Printed.of(value, digits)
    ours = Side.of_evaluation(evaluation, chosen, options)
    candidates, left_out = candidates_of(ours, k)
    notes = missing_columns(ours.source, of_metric(chosen.name))
    if left_out:
        notes = (*notes, _("{n:,} neighbours were not tried, for the frames are large.", n=left_out))
    if printed is None:
        return of_users(ours.source, dict(value.items()), digits, candidates, k, chosen.label(k), notes)
    return of_number(ours.source, printed, candidates, k, chosen.label(k), notes)


def of_number(
    source: Source, printed: Printed, candidates: list[Candidate], k: int | None, label: str, notes: tuple[str, ...]
) -> Identified:
    """The candidates that give a number; if there is none, the nearest."""
    import pandas as pd

    numbers = numbers_of(source, [candidate.variant for candidate in candidates], k)
    tried: list[Match] = []
    for candidate in candidates:
        number = numbers[candidate.variant][0]
        if isfinite(number):
            fit = int(fits(np.array(number), np.array(printed.value), printed.digits, candidate.tolerance))
            tried.append(Match(**vars(candidate), value=number, how=("no", "cut off", "rounded")[fit]))
    matches = tuple(match for match in tried if match.how != "no")
    simplest = sorted(matches, key=lambda match: SIMPLEST[match.kind])
    groups = [group for how in FITS for group in _alike(match for match in simplest if match.how == how)]
    others = sorted((match for match in tried if match.how == "no"), key=lambda match: abs(match.value - printed.value))
    nearest = tuple(group[0] for group in _alike(others)[:NEAREST])
    decimals = printed.digits + 2
    headline = _("{label} printed as {value}", label=label, value=f"{printed.value:.{printed.digits}f}")
    if groups:
        message = N_("{printed}:{cut} {found:,} conventions of {n:,} give it; {alike} different numbers print the same")
        if len(groups) == 1:
            message = N_("{printed}:{cut} {found:,} conventions of {n:,} give it, all the same number")
        if len(matches) == 1:
            message = N_("{printed}:{cut} one convention of {n:,} gives it")
        rows = [(f"{group[0].value:.{decimals}f}", _(FITS[group[0].how]), _who(group)) for group in groups]
    else:
        message = N_("{printed}: none of {n:,} conventions gives it; the nearest are")
        apart = [(match, match.value - printed.value) for match in nearest]
        rows = [(f"{match.value:.{decimals}f}", f"{by:+.{decimals}f}", match.name) for match, by in apart]
    cut = f" {_('cut off after the digits printed,')}" if groups and groups[0][0].how == "cut off" else ""
    headline = _(message, printed=headline, cut=cut, found=len(matches), n=len(candidates), alike=len(groups))
    names = ["name", "kind", "value", "how"]
    shown = [match for group in groups for match in group] or nearest
    frame = pd.DataFrame([[getattr(match, name) for name in names] for match in shown], columns=pd.Index(names))
    header = [label, _("fit"), _("convention")]
    return Identified(
        label,
        notes,
        len(candidates),
        [headline],
        header,
        rows,
        frame,
        printed.value,
        printed.digits,
        matches,
        groups,
        nearest,
    )


def _alike(matches: Iterable[Match]) -> list[list[Match]]:
    """Candidates in groups that give the same number."""
    return grouped(matches, lambda match: match.value)


def _who(group: list[Match]) -> str:
    """The simplest of a group by name, the others by number."""
    best = SIMPLEST[group[0].kind]
    return _names([match.name for match in group if SIMPLEST[match.kind] in (0, 1, best)], len(group))


def _names(names: list[str], n: int) -> str:
    """The first names, and how many of `n` are not named."""
    rest = n - len(names[:NAMES_SHOWN])
    return "; ".join(names[:NAMES_SHOWN]) + (f"; {_('and {n:,} more', n=rest)}" if rest else "")


def candidates_of(ours: Side, k: int | None) -> tuple[list[Candidate], int]:
    """Ours, all presets of the metric, and what is one axis from them; and how many neighbours there was no room for.

    Neighbours that cannot differ on these frames from an earlier candidate are left out.
    """
    source = ours.source
    candidates = [Candidate(ours.name, "ours", ours.variant)]
    candidates += [
        Candidate(preset.label, "preset", MetricVariant.of_preset(preset), max(SLACK, preset.tolerance))
        for preset in of_metric(ours.variant.metric)
    ]
    bases: dict[MetricVariant, Candidate] = {}
    for candidate in candidates:
        # What a library refuses is no axis: a neighbour that refuses nothing is the same convention.
        bases.setdefault(replace(candidate.variant.on(source, k), refuses=()), candidate)
    seen = set(bases)
    data = {candidate.variant.data(source) for candidate in candidates}
    most = len(data) + min(DATA_TRIED, ROWS_TRIED // max(properties_of(source).n_rows, 1))
    left_out = 0
    for base in bases.values():
        for axis, neighbour in neighbours(base.variant, source):
            plain = neighbour.on(source, k)
            if plain in seen:
                continue
            needs = neighbour.data(source)
            if needs not in data and len(data) >= most:
                left_out += 1
                continue
            seen.add(plain)
            data.add(needs)
            name = _("{name}, but {words}", name=base.name, words=neighbour.words(axis))
            candidates.append(Candidate(name, "neighbour", neighbour, base.tolerance))
    return candidates, left_out


def neighbours(variant: MetricVariant, source: Source) -> Iterable[tuple[str, MetricVariant]]:
    """Variants that differ along one axis; the metric's own axes first, which cost least."""
    variant = replace(variant, refuses=())
    words = variant.definition.words
    for option, value in variant.options:
        choices = words.get(option, NUMBERS.get(option, ()))
        yield from ((option, variant.choosing(option, choice)) for choice in choices if choice != value)
    for axis in AXES:
        yield from ((axis, neighbour) for neighbour in _along(variant, axis, source))


def _along(variant: MetricVariant, axis: str, source: Source) -> Iterable[MetricVariant]:
    for part in FIELDS[axis]:
        found = {"relevant_from": (*_thresholds(source), None), "order": properties_of(source).orders}
        for value in found.get(part) or WORDS[part]:
            changes = {part: value, **({"relevant_from": None} if part == "relevant" else {})}
            neighbour = variant.having(**changes)
            if neighbour != variant and value != "error":
                yield neighbour


def _thresholds(source: Source) -> list[float]:
    """The highest positive grades: a threshold may be one of them."""
    if "relevance" not in source.truth.columns:
        return []
    grades = source.truth["relevance"].cast(float).unique().drop_nulls().sort(descending=True).to_list()
    return [float(grade) for grade in grades if grade > 0 and isfinite(grade)][:THRESHOLDS]


def of_users(
    source: Source, values: Mapping[Any, Any], digits: int | None, candidates: list[Candidate], k: int | None, label: str,
    notes: tuple[str, ...],
) -> IdentifiedUsers:  # fmt: skip
    """The conventions that fit most of the users' printed values, and the users whose value fits none."""
    import pandas as pd

    if not values:
        raise OptionError("no printed values: give a Series or a mapping of user to value.")
    numbers = [Printed.of(value) for value in values.values()]
    decimals = max(number.digits for number in numbers) if digits is None else Printed.of(0.0, digits).digits
    printed = np.array([number.value for number in numbers])
    try:
        kind = source.recs["user"].dtype
        users = pl.Series("user", list(values), dtype=kind, strict=True).cast(kind)  # days may be given as times
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise UnknownUserError(
            f"users such as {next(iter(values))!r} are of another kind than those of the frames."
        ) from problem
    by_variant: dict[MetricVariant, Candidate] = {}
    for candidate in candidates:
        by_variant.setdefault(candidate.variant.on(source, k), candidate)
    is_user = np.zeros(len(printed), dtype=bool)
    tried: dict[MetricVariant, Fit] = {}
    for variant, result in each_measured(source, by_variant, k):
        if isinstance(result, RecnbError):
            continue
        candidate = by_variant[variant]
        is_user |= users.is_in(result.users.implode()).to_numpy()
        of_users = result.of(users)
        how = fits(of_users, printed, decimals, candidate.tolerance)
        tried[variant] = Fit(**vars(candidate), values=of_users, how=how)
    names = tuple(values)
    if not is_user.any():
        raise UnknownUserError(f"none of the users, such as {names[0]!r}, is among those evaluated.")
    most = max(fit.n_users for fit in tried.values())
    best = [tried[variant] for variant in by_variant if variant in tried and tried[variant].n_users == most]
    fits_none = np.max([fit.how for fit in tried.values()], axis=0) == 0
    rounded, fitting = most
    users_printed = ngettext("{n:,} user", "{n:,} users", len(names))
    values_fit = ngettext("{n:,} printed value fits", "{n:,} printed values fit", fitting)
    headline = _("{label} of {users}: {values_fit}", label=label, users=users_printed, values_fit=values_fit)
    if fitting > rounded:
        headline += f" {_('({n} of them cut off, not rounded)', n=fitting - rounded)}"
    by = _names([fit.name for fit in best], len(best))
    rows = []
    for place in np.flatnonzero(best[0].how == 0).tolist():
        value = best[0].values[place]
        computed = _("not counted") if isnan(value) else f"{value:.{decimals}f}"
        verdict = _("fits no convention: a misprint?") if fits_none[place] else _("fits other conventions")
        rows.append((names[place], f"{printed[place]:.{decimals}f}", f"{computed}; {verdict}"))
    columns = {
        "printed": printed,
        "value": best[0].values,
        "fit": FIT_OF_USER[best[0].how],
        "fits_some_convention": ~fits_none,
    }
    return IdentifiedUsers(
        label, notes, len(by_variant), [headline, _("by {names}, of {n:,} conventions tried", names=by, n=len(by_variant))],
        [_("user"), _("printed"), _("computed")], rows, pd.DataFrame(columns, index=pd.Index(names, name="user")),
        best, tuple(names[at] for at in np.flatnonzero(fits_none)),
    )  # fmt: skip
