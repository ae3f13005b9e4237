"""`identify`: the conventions that give a printed number, or the nearest; and the users whose printed values none gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from math import isfinite, isnan
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
    DATA_AXES,
    MetricVariant,
    each_measured,
    missing_columns,
    name_of,
    numbers_of,
    presets_of,
    source_of,
)
from recnb.metrics.hits import Cutoffs, Floats, Ints
from recnb.metrics.metric import metric_named

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
class Match:
    """A candidate and its number."""

    name: str
    kind: str  #: ours, preset or neighbour
    value: float
    how: str  #: rounded, cut off or no
    variant: MetricVariant


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
        groups: list[list[Match]] = []
        for match in sorted(self.matches, key=lambda match: (match.how != "rounded", SIMPLEST[match.kind])):
            for group in groups:
                if abs(group[0].value - match.value) <= SLACK and group[0].how == match.how:
                    group.append(match)
                    break
            else:
                groups.append([match])
        return [MatchGroup(group[0].value, group[0].how, tuple(group)) for group in groups]

    @property
    def headline(self) -> str:
        """How many conventions give the number."""
        groups, value = self.groups, f"{self.printed:.{self.digits}f}"
        words: dict[str, Any] = {
            "printed": _("{label} printed as {value}", label=self.label, value=value),
            "n": self.n_tried,
        }
        if not groups:
            return _("{printed}: none of {n:,} conventions gives it; the nearest are", **words)
        words["cut"] = "" if groups[0].how == "rounded" else f" {_('cut off after the digits printed,')}"
        if len(self.matches) == 1:
            return _("{printed}:{cut} one convention of {n:,} gives it", **words)
        words |= {"found": len(self.matches), "alike": len(groups)}
        if len(groups) == 1:
            return _("{printed}:{cut} {found:,} conventions of {n:,} give it, all the same number", **words)
        return _(
            "{printed}:{cut} {found:,} conventions of {n:,} give it; {alike} different numbers print the same",
            **words,
        )

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

    @property
    def _small_print(self) -> list[str]:
        """What is not in the lines, and notes."""
        return [*_more(len(self.rows) - ROWS_SHOWN), *self.notes]

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
                "libraries/identify.jinja", label=self.label, head=[self.headline], notes=self._small_print,
                header=[self.label, _("fit"), _("convention")], rows=self.rows[:ROWS_SHOWN], numbers_from=3,
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Fit:
    """A candidate and how it fits users' printed values."""

    name: str
    kind: str
    n_rounded: int  #: users whose value rounds to the printed one
    n_fitting: int  #: those and the users whose value fits if it is cut off
    values: tuple[float, ...]
    variant: MetricVariant


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
        """How many users' values fit, and by which conventions."""
        best, names = self.best[0], _names([fit.name for fit in self.best], len(self.best))
        fitting = _(
            "{label} of {n:,} users: {fitting:,} printed values fit",
            label=self.label,
            n=len(self.users),
            fitting=best.n_fitting,
        )
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
            lines = [
                _("{user}: printed {printed}, computed {verdict}", user=one_line(repr(user)), printed=printed, verdict=verdict)
                for user, printed, verdict in rows[:USERS_SHOWN]
            ]  # fmt: skip
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
        own = max(0, -decimals) + 2 * percent
        return cls(float(number / 100 if percent else number), own if digits is None else digits)

    def fits(self, values: Floats, slack: float) -> Ints:
        """2 if a value rounds to the printed one, 1 if it equals it when cut off, else 0."""
        return fits(values, np.array(self.value), self.digits, slack)


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
    """Find the conventions that give a printed number on these frames.

    Tried are the evaluation's own convention, those recorded of libraries, and all that differ from one of these along one
    axis.

    Parameters
    ----------
    evaluation
        The data of an evaluation.
    metric, k
        The metric's name and the cut-off; None: the length of each list.
    value
        The number as printed; text keeps its zeros ("0.3680"). A Series or mapping of user to printed value looks for the
        convention that fits most users.
    digits
        Decimals of the number; default: those that it is printed with.
    **options
        Options of the metric in this evaluation.

    Returns
    -------
    Identified or IdentifiedUsers
        The second for values by user; it names the users whose value fits no convention.
    """
    chosen = metric_named(metric)
    k = Cutoffs.one(k).values[0]
    printed = None if isinstance(value, Mapping) or hasattr(value, "items") else Printed.of(value, digits)
    ours = MetricVariant.of_evaluation(evaluation, chosen, options)
    source = source_of(evaluation)
    candidates, left_out = candidates_of(source, ours, name_of(evaluation), k)
    notes = missing_columns(source, presets_of(chosen.name))
    if left_out:
        notes = (*notes, _("{n:,} neighbours were not tried, for the frames are large.", n=left_out))
    label = chosen.label(k)
    if printed is None:
        return _of_users(source, dict(value.items()), digits, candidates, k, label, notes)
    numbers = numbers_of(source, [candidate.variant for candidate in candidates], k)
    matches: dict[bool, list[Match]] = {True: [], False: []}
    for candidate in candidates:
        number = numbers[candidate.variant][0]
        if isfinite(number):
            fit = int(printed.fits(np.array(number), candidate.tolerance))
            how = ("no", "cut off", "rounded")[fit]
            matches[fit > 0].append(Match(candidate.name, candidate.kind, number, how, candidate.variant))
    nearest: list[Match] = []
    for match in sorted(matches[False], key=lambda match: abs(match.value - printed.value)):
        if len(nearest) < NEAREST and all(abs(match.value - other.value) > SLACK for other in nearest):
            nearest.append(match)
    return Identified(
        label, printed.value, printed.digits, tuple(matches[True]), tuple(nearest), len(candidates), notes
    )


def candidates_of(source: Source, ours: MetricVariant, name: str, k: int | None) -> tuple[list[Candidate], int]:
    """Ours, all presets of the metric, and what is one axis from them; and how many neighbours there was no room for.

    Neighbours that cannot differ on these frames from an earlier candidate are left out.
    """
    candidates = [Candidate(name, "ours", ours)]
    candidates += [
        Candidate(preset.label, "preset", MetricVariant.of_preset(preset), max(SLACK, preset.tolerance))
        for preset in presets_of(ours.metric)
    ]
    bases: dict[MetricVariant, Candidate] = {}
    for candidate in candidates:
        # What a library refuses is no axis: a neighbour that refuses nothing is the same convention.
        bases.setdefault(replace(candidate.variant.on(source, k), refuses=(), _key={}), candidate)
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
    variant = replace(variant, refuses=(), _key={})
    words = variant.definition.words
    for option, value in variant.options:
        choices = words.get(option, NUMBERS.get(option, ()))
        yield from ((option, variant.choosing(option, choice)) for choice in choices if choice != value)
    for axis in AXES:
        yield from ((axis, neighbour) for neighbour in _along(variant, axis, source))


def _along(variant: MetricVariant, axis: str, source: Source) -> Iterable[MetricVariant]:
    for part in DATA_AXES.get(axis, (axis,)):
        now, threshold = getattr(variant.convention, part), variant.convention.relevant_from
        if part == "relevant_from":
            yield from (variant.having(relevant_from=grade) for grade in _thresholds(source) if grade != now)
            if now is not None:
                yield variant.having(relevant_from=None)
        elif part == "relevant":
            words = (word for word in WORDS[part] if word != now or threshold is not None)
            yield from (variant.having(relevant=word, relevant_from=None) for word in words)
        else:
            choices = properties_of(source).orders if part == "order" else WORDS[part]
            yield from (variant.having(**{part: word}) for word in choices if word not in (now, "error"))


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
    by_variant: dict[MetricVariant, tuple[int, Candidate]] = {}
    for place, candidate in enumerate(candidates):
        by_variant.setdefault(candidate.variant.on(source, k), (place, candidate))
    best_fit = np.zeros(len(printed), dtype=np.int64)
    is_user = np.zeros(len(printed), dtype=bool)
    found: list[tuple[tuple[int, int, int], Fit, Ints]] = []
    for variant, result in each_measured(source, by_variant, k):
        if isinstance(result, RecnbError):
            continue
        place, candidate = by_variant[variant]
        at = positions(result.users, users)
        of_users = np.where(at >= 0, result.values[np.maximum(at, 0)] if len(result.values) else np.nan, np.nan)
        is_user |= at >= 0
        how = fits(of_users, printed, decimals, candidate.tolerance)
        best_fit = np.maximum(best_fit, how)
        n_rounded, n_fitting = int((how == 2).sum()), int((how > 0).sum())
        fit = Fit(candidate.name, candidate.kind, n_rounded, n_fitting, tuple(map(float, of_users)), candidate.variant)
        found.append(((-n_rounded, -n_fitting, place), fit, how))
    if not is_user.any():
        raise UnknownUserError(f"none of the users, such as {next(iter(values))!r}, is among those evaluated.")
    found.sort(key=lambda row: row[0])
    best = tuple(fit for key, fit, _how in found if key[:2] == found[0][0][:2])
    names = tuple(values)
    return IdentifiedUsers(
        label, names, tuple(map(float, printed)), decimals, best, tuple(names[at] for at in np.flatnonzero(best_fit == 0)),
        tuple(map(int, found[0][2])), len(by_variant), notes,
    )  # fmt: skip
