"""`identify`: the libraries, and this evaluation, whose number is printed like a given one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TYPE_CHECKING, Any

from recnb.conventions.presets import of_metric
from recnb.display.language import N_, _
from recnb.errors import OptionError, RecnbError, is_number, quoted
from recnb.libraries.variant import Found, Variant, grouped, measure_each, missing_columns, source_of
from recnb.results.arguments import measure_at

if TYPE_CHECKING:
    import pandas as pd

    from recnb.results.evaluation_data import EvaluationData

#: How a number fits the printed one, the better first.
FITS: dict[str, str] = {
    "rounded": N_("rounds to it"),
    "cut off": N_("only if cut off, not rounded"),
}
SLACK, NEAREST, NAMES_SHOWN = 1e-9, 5, 6


@dataclass(frozen=True)
class Match:
    """A convention and the number that it gives."""

    name: str
    value: float
    fit: str  #: "rounded", "cut off" or "no"


@dataclass(frozen=True, eq=False, repr=False)
class Identified(Found):
    """The conventions that give a printed number; if there is none, the nearest."""

    printed: Printed
    n_tried: int
    matches: tuple[Match, ...]  #: those that round to it first, ours before those of libraries
    nearest: tuple[Match, ...]
    template = "libraries/identify.jinja"

    @property
    def groups(self) -> list[list[Match]]:
        """The matches by number."""
        return [group for fit in FITS for group in _alike(match for match in self.matches if match.fit == fit)]

    @property
    def headline(self) -> str:
        """Say how many conventions give the number."""
        groups = self.groups
        if not groups:
            message = N_("{printed}: none of {n:,} conventions gives it; the nearest are")
        elif len(self.matches) == 1:
            message = N_("{printed}:{cut} one convention of {n:,} gives it")
        elif len(groups) == 1:
            message = N_("{printed}:{cut} {found:,} conventions of {n:,} give it, all the same number")
        else:
            message = N_(
                "{printed}:{cut} {found:,} conventions of {n:,} give it; {alike} different numbers print the same"
            )
        printed = _("{label} printed as {value}", label=self.label, value=self.printed.text)
        cut = f" {_('cut off after the digits printed,')}" if groups and groups[0][0].fit == "cut off" else ""
        return _(message, printed=printed, cut=cut, found=len(self.matches), n=self.n_tried, alike=len(groups))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """A row for each number: the number, how it fits or how far away it is, and who gives it."""
        decimals = self.printed.digits + 2
        if self.matches:
            return [(f"{group[0].value:.{decimals}f}", _(FITS[group[0].fit]), _names(group)) for group in self.groups]
        away = [(match, match.value - self.printed.value) for match in self.nearest]
        return [(f"{match.value:.{decimals}f}", f"{by:+.{decimals}f}", match.name) for match, by in away]

    @property
    def header(self) -> list[str]:
        """The names of the columns of `rows`."""
        return [self.label, _("fit"), _("convention")]

    def lines(self) -> list[str]:
        """Return the headline and a line for each number."""
        return [self.headline, *(f"  {value}  {fit}: {who}" for value, fit, who in self.rows)]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per convention: its name, its number and how that fits."""
        import pandas as pd

        return pd.DataFrame([vars(match) for match in self.matches or self.nearest], columns=["name", "value", "fit"])


@dataclass(frozen=True)
class Printed:
    """A number as it was printed: its value and its decimals."""

    value: float
    digits: int

    @classmethod
    def of(cls, value: Any, digits: int | None = None) -> Printed:
        """Read a number from text or from a float, which is read as Python writes it.

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
            raise OptionError(
                f"{quoted(value)} is no printed number: give it as it is printed, such as '0.3680' or 0.368."
            )
        if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 20):
            raise OptionError(
                f"digits={digits!r} is no number of decimals: give a whole number to 20, such as digits=4."
            )
        percent = text.endswith("%")
        printed = max(0, -decimals) + 2 * percent
        return cls(float(number / 100 if percent else number), printed if digits is None else digits)

    @property
    def text(self) -> str:
        """The number with its decimals."""
        return f"{self.value:.{self.digits}f}"

    def fit(self, value: float, slack: float) -> str:
        """Tell whether a value rounds to this number, equals it when cut off, or neither."""
        unit, apart = 10.0**-self.digits, value - self.value
        if abs(apart) <= 0.5 * unit + slack:
            return "rounded"
        outward = apart if self.value >= 0 else -apart
        return "cut off" if -slack <= outward < unit - slack else "no"


def identify(
    evaluation: EvaluationData,
    metric: str,
    value: Any,
    k: int | None = None,
    *,
    digits: int | None = None,
    **options: Any,
) -> Identified:
    """Find the conventions that give a printed number; the arguments are those of `Evaluation.identify`.

    Tried are the evaluation's own convention and those recorded of libraries.
    """
    if hasattr(value, "items"):
        raise OptionError(
            "identify takes one printed number, not one for each user: give the printed mean, or compare the users' "
            "values with ev.ndcg(k=10).per_user."
        )
    chosen, k = measure_at(metric, k, standard=True)
    printed, source, presets = Printed.of(value, digits), source_of(evaluation), of_metric(chosen.name)
    variants = [Variant.of_evaluation(evaluation, chosen, options), *map(Variant.of_preset, presets)]
    numbers = dict(measure_each(source, variants, k))
    tried = []
    for variant in variants:
        found = numbers[variant]
        if not isinstance(found, RecnbError) and isfinite(found.value):
            slack = max(SLACK, variant.preset.tolerance) if variant.preset else SLACK
            tried.append(Match(variant.name, found.value, printed.fit(found.value, slack)))
    matches = [match for fit in FITS for match in tried if match.fit == fit]
    by_distance = sorted(tried, key=lambda match: abs(match.value - printed.value))
    nearest = [] if matches else [group[0] for group in _alike(by_distance)[:NEAREST]]
    notes = missing_columns(source, presets)
    return Identified(chosen.label(k), notes, printed, len(variants), tuple(matches), tuple(nearest))


def _alike(matches: Iterable[Match]) -> list[list[Match]]:
    """Return matches in groups that give the same number."""
    return grouped(matches, lambda match: match.value)


def _names(group: list[Match]) -> str:
    """Return the first names, and how many are not named."""
    shown, rest = [match.name for match in group[:NAMES_SHOWN]], len(group) - NAMES_SHOWN
    return "; ".join(shown) + (f"; {_('and {n:,} more', n=rest)}" if rest > 0 else "")
