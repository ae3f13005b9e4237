"""`identify`: the conventions that give a printed number, or the nearest; and the users whose printed values none gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recnb.conventions import WORDS
from recnb.data import Source
from recnb.data.encoding import positions
from recnb.display.language import N_, _, current, use_language
from recnb.display.templates import name, render
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError, UnknownUserError, is_number
from recnb.libraries.data_properties import properties_of
from recnb.libraries.variant import (
    FIELDS,
    MetricVariant,
    Side,
    each_measured,
    grouped,
    missing_columns,
    numbers_of,
    presets_of,
)
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import standard_at

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData

#: How a printed value fits.
FITS: dict[str, str] = {
    "rounded": N_("rounds to it"),
    "cut off": N_("only if cut off, not rounded"),
}
#: The same per user, in frames.
FIT_OF_USER = {2: "fits", 1: "fits if cut off", 0: "does not fit"}

#: Kinds of candidates, the simplest first: what is in use comes before what is one axis from it.
SIMPLEST = {"ours": 0, "preset": 1, "neighbour": 2}

#: What is shown at most.
NAMES_SHOWN, ROWS_SHOWN, USERS_SHOWN = 6, 12, 30

#: Rows of frames that neighbours may cost in all, and the most different preparations of the data among them.
ROWS_TRIED, DATA_TRIED = 12_000_000, 400
#: Values to try for options that are numbers.
NUMBERS: dict[str, tuple[Any, ...]] = {"log_base": (2, float(np.e), 10), "p": (0.5, 0.8, 0.95), "beta": (0.5, 1, 2)}
#: Axes along which neighbours differ, the cheapest first.
AXES = (
    "cutoff", "no_relevant", "no_hit", "no_list", "average", "users", "judged", "relevant", "candidates", "ties", "order",
    "duplicates", "negative_relevance", "nonpositive_scores", "score_dtype",
)  # fmt: skip
SLACK, NEAREST, THRESHOLDS = 1e-9, 5, 5


@dataclass(frozen=True)
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
class MatchGroup:
    """Candidates that give the same number."""

    value: float
    how: str
    matches: tuple[Match, ...]  #: the simplest first

    @property
    def who(self) -> str:
        """The simplest of them by name, the others by number."""
        best = SIMPLEST[self.matches[0].kind]
        return _names([match.name for match in self.matches if SIMPLEST[match.kind] in (0, 1, best)], len(self.matches))


def _names(names: list[str], n: int) -> str:
    """The first names, and how many of `n` are not named."""
    rest = n - len(names[:NAMES_SHOWN])
    return "; ".join(names[:NAMES_SHOWN]) + (f"; {_('and {n:,} more', n=rest)}" if rest else "")


def _more(n: int) -> list[str]:
    return [_("… {n:,} more: see to_frame().", n=n)] if n > 0 else []


@dataclass(frozen=True, eq=False)
class Identified:
    """The conventions that give a printed number; if there is none, the nearest."""

    label: str
    printed: float
    digits: int
    matches: tuple[Match, ...]
    nearest: tuple[Match, ...]
    n_tried: int
    notes: tuple[str, ...] = ()
    lang: str = field(default_factory=current)  #: the language in which it is shown

    @property
    def groups(self) -> list[MatchGroup]:
        """The matches by number, those that round to the printed one first, then the simplest."""
        matches = sorted(self.matches, key=lambda match: SIMPLEST[match.kind])
        fitting = [[match for match in matches if match.how == how] for how in ("rounded", "cut off")]
        groups = [group for matches in fitting for group in grouped(matches, lambda match: match.value)]
        return [MatchGroup(group[0].value, group[0].how, tuple(group)) for group in groups]

    @property
    def headline(self) -> str:
        """The number of conventions that give the value."""
        groups, value = self.groups, f"{self.printed:.{self.digits}f}"
        printed = _("{label} printed as {value}", label=self.label, value=value)
        if not groups:
            return _("{printed}: none of {n:,} conventions gives it; the nearest are", printed=printed, n=self.n_tried)
        message = N_("{printed}:{cut} {found:,} conventions of {n:,} give it; {alike} different numbers print the same")
        if len(groups) == 1:
            message = N_("{printed}:{cut} {found:,} conventions of {n:,} give it, all the same number")
        if len(self.matches) == 1:
            message = N_("{printed}:{cut} one convention of {n:,} gives it")
        cut = "" if groups[0].how == "rounded" else f" {_('cut off after the digits printed,')}"
        return _(message, printed=printed, cut=cut, found=len(self.matches), n=self.n_tried, alike=len(groups))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Number, fit and conventions of each line that is shown; of all groups or of the nearest."""
        decimals = self.digits + 2
        if self.matches:
            return [(f"{group.value:.{decimals}f}", _(FITS[group.how]), group.who) for group in self.groups]
        return [
            (f"{match.value:.{decimals}f}", f"{match.value - self.printed:+.{decimals}f}", match.name)
            for match in self.nearest
        ]

    def to_frame(self) -> pd.DataFrame:
        """A row per matching convention, or per nearest one: name, kind, value, how it fits."""
        import pandas as pd

        shown = [match for group in self.groups for match in group.matches] or self.nearest
        names = ["name", "kind", "value", "how"]
        return pd.DataFrame([[getattr(match, name) for name in names] for match in shown], columns=pd.Index(names))

    def __repr__(self) -> str:
        with use_language(self.lang):
            lines = [f"  {value}  {fit}: {who}" for value, fit, who in self.rows[:ROWS_SHOWN]]
            more = [f"  {words}" for words in _more(len(self.rows) - ROWS_SHOWN)]
            return "\n".join([self.headline, *lines, *more, *self.notes])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return render(
                "libraries/identify.jinja", label=self.label, head=[self.headline], notes=[*_more(len(self.rows) - ROWS_SHOWN), *self.notes],
                header=[self.label, _("fit"), _("convention")], rows=self.rows[:ROWS_SHOWN], numbers_from=3,
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Fit(Candidate):
    """A candidate and how it fits users' printed values."""

    n_rounded: int = 0  #: users whose value rounds to the printed one
    n_fitting: int = 0  #: those and the users whose value fits if it is cut off
    values: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class IdentifiedUsers:
    """The conventions that fit most users' printed values, and the users whose value fits no convention: the misprints."""

    label: str
    users: tuple[Any, ...]
    printed: tuple[float, ...]
    digits: int
    best: tuple[Fit, ...]  #: all that fit as many users, the simplest first
    misprints: tuple[Any, ...]  #: users whose printed value no convention gives
    fits: tuple[int, ...]  #: per user, under the first of the best: 2 rounded, 1 cut off, 0 not
    n_tried: int
    notes: tuple[str, ...] = ()
    lang: str = field(default_factory=current)  #: the language in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """A row per user: printed value, value under the best convention, whether it fits, whether any convention fits."""
        import pandas as pd

        misprints = set(self.misprints)
        return pd.DataFrame(
            {
                "printed": self.printed,
                "value": self.best[0].values,
                "fit": [FIT_OF_USER[how] for how in self.fits],
                "fits_some_convention": [user not in misprints for user in self.users],
            },
            index=pd.Index(self.users, name="user"),
        )

    @property
    def headlines(self) -> list[str]:
        """The number of users whose values fit, and the conventions."""
        best, names = self.best[0], _names([fit.name for fit in self.best], len(self.best))
        message = N_("{label} of {n:,} users: {fitting:,} printed values fit")
        fitting = _(message, label=self.label, n=len(self.users), fitting=best.n_fitting)
        if best.n_fitting > best.n_rounded:
            fitting += f" {_('({n} of them cut off, not rounded)', n=best.n_fitting - best.n_rounded)}"
        return [fitting, _("by {names}, of {n:,} conventions tried", names=names, n=self.n_tried)]

    @property
    def rows(self) -> list[tuple[Any, str, str]]:
        """User, printed value and verdict of each user whose value does not fit the best convention."""
        misprints, rows = set(self.misprints), []
        for user, printed, value, how in zip(self.users, self.printed, self.best[0].values, self.fits, strict=True):
            if how == 0:
                computed = _("not counted") if isnan(value) else f"{value:.{self.digits}f}"
                verdict = _("fits no convention: a misprint?") if user in misprints else _("fits other conventions")
                rows.append((user, f"{printed:.{self.digits}f}", f"{computed}; {verdict}"))
        return rows

    def __repr__(self) -> str:
        with use_language(self.lang):
            rows = self.rows
            message = N_("{user}: printed {printed}, computed {verdict}")
            lines = [
                _(message, user=one_line(repr(user)), printed=printed, verdict=verdict)
                for user, printed, verdict in rows[:USERS_SHOWN]
            ]
            lines = lines or [_("every printed value fits")]
            more = _more(len(rows) - USERS_SHOWN)
            return "\n".join([*self.headlines, *(f"  {line}" for line in (*lines, *more)), *self.notes])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            rows = [(name(user), printed, verdict) for user, printed, verdict in self.rows]
            nothing = [] if rows else [_("Every printed value fits.")]
            return render(
                "libraries/identify.jinja", label=self.label, head=self.headlines, rows=rows[:USERS_SHOWN], numbers_from=1,
                header=[_("user"), _("printed"), _("computed")],
                notes=[*nothing, *_more(len(rows) - USERS_SHOWN), *self.notes],
            )  # fmt: skip


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
    k = Cutoffs.one(k).values[0]
    printed = None if isinstance(value, Mapping) or hasattr(value, "items") else Printed.of(value, digits)
    ours = Side.of_evaluation(evaluation, chosen, options)
    source = ours.source
    candidates, left_out = candidates_of(ours, k)
    notes = missing_columns(source, presets_of(chosen.name))
    if left_out:
        notes = (*notes, _("{n:,} neighbours were not tried, for the frames are large.", n=left_out))
    label = chosen.label(k)
    if printed is None:
        return _of_users(source, dict(value.items()), digits, candidates, k, label, notes)
    numbers = numbers_of(source, [candidate.variant for candidate in candidates], k)
    tried: list[Match] = []
    for candidate in candidates:
        number = numbers[candidate.variant][0]
        if isfinite(number):
            fit = int(fits(np.array(number), np.array(printed.value), printed.digits, candidate.tolerance))
            tried.append(Match(**vars(candidate), value=number, how=("no", "cut off", "rounded")[fit]))
    matches = tuple(match for match in tried if match.how != "no")
    others = sorted((match for match in tried if match.how == "no"), key=lambda match: abs(match.value - printed.value))
    nearest = tuple(group[0] for group in grouped(others, lambda match: match.value)[:NEAREST])
    return Identified(label, printed.value, printed.digits, matches, nearest, len(candidates), notes)


def candidates_of(ours: Side, k: int | None) -> tuple[list[Candidate], int]:
    """Ours, all presets of the metric, and what is one axis from them; and how many neighbours there was no room for.

    Neighbours that cannot differ on these frames from an earlier candidate are left out.
    """
    source = ours.source
    candidates = [Candidate(ours.name, "ours", ours.variant)]
    candidates += [
        Candidate(preset.label, "preset", MetricVariant.of_preset(preset), max(SLACK, preset.tolerance))
        for preset in presets_of(ours.variant.metric)
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


def _of_users(
    source: Source, values: Mapping[Any, Any], digits: int | None, candidates: list[Candidate], k: int | None, label: str,
    notes: tuple[str, ...],
) -> IdentifiedUsers:  # fmt: skip
    """The conventions that fit most of the users' printed values, and the users whose value fits none."""
    if not values:
        raise OptionError("no printed values: give a Series or a mapping of user to value.")
    numbers = [Printed.of(value) for value in values.values()]
    decimals = max(number.digits for number in numbers) if digits is None else Printed.of(0.0, digits).digits
    printed = np.array([number.value for number in numbers])
    try:
        users = pl.Series("user", list(values), dtype=source.recs["user"].dtype, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise UnknownUserError(
            f"users such as {next(iter(values))!r} are of another kind than those of the frames."
        ) from problem
    by_variant: dict[MetricVariant, Candidate] = {}
    for candidate in candidates:
        by_variant.setdefault(candidate.variant.on(source, k), candidate)
    best_fit = np.zeros(len(printed), dtype=np.int64)
    is_user = np.zeros(len(printed), dtype=bool)
    results: dict[MetricVariant, tuple[Fit, Ints]] = {}
    for variant, result in each_measured(source, by_variant, k):
        if isinstance(result, RecnbError):
            continue
        candidate = by_variant[variant]
        at = positions(result.users, users)
        of_users = np.where(at >= 0, result.values[np.maximum(at, 0)] if len(result.values) else np.nan, np.nan)
        how = fits(of_users, printed, decimals, candidate.tolerance)
        is_user |= at >= 0
        best_fit = np.maximum(best_fit, how)
        n_rounded, n_fitting = int((how == 2).sum()), int((how > 0).sum())
        values_of_users = tuple(map(float, of_users))
        fit = Fit(**vars(candidate), n_rounded=n_rounded, n_fitting=n_fitting, values=values_of_users)
        results[variant] = fit, how
    names = tuple(values)
    if not is_user.any():
        raise UnknownUserError(f"none of the users, such as {names[0]!r}, is among those evaluated.")
    most = max((fit.n_rounded, fit.n_fitting) for fit, _how in results.values())
    in_order = [results[variant] for variant in by_variant if variant in results]
    best = [(fit, how) for fit, how in in_order if (fit.n_rounded, fit.n_fitting) == most]
    return IdentifiedUsers(
        label, names, tuple(map(float, printed)), decimals, tuple(fit for fit, _how in best),
        tuple(names[at] for at in np.flatnonzero(best_fit == 0)), tuple(map(int, best[0][1])), len(by_variant), notes,
    )  # fmt: skip
