"""`spread`: the numbers of all libraries for the same frames, grouped where they agree."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from recnb.conventions.presets import Preset, of_metric
from recnb.display.fonts import lettering
from recnb.display.language import _, ngettext
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError
from recnb.libraries.variant import (
    AGREE,
    Found,
    Variant,
    VariantValues,
    differences,
    grouped,
    measure_each,
    missing_columns,
    source_of,
)
from recnb.results.arguments import measure_at
from recnb.results.plots import axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData


@dataclass(frozen=True)
class LibraryNumber:
    """The number of one library's metric for the frames."""

    preset: Preset
    value: float  #: NaN if it gives none
    difference: float  #: to ours
    convention: str  #: in words, what it does otherwise and may matter on these frames
    error: str

    @property
    def name(self) -> str:
        """Library and variant."""
        return self.preset.label


@dataclass(frozen=True)
class AgreementGroup:
    """Libraries that agree."""

    value: float
    numbers: tuple[LibraryNumber, ...]
    ours: bool

    @property
    def names(self) -> list[str]:
        """The names of those that agree, ours first."""
        return ["recnb"] * self.ours + [number.name for number in self.numbers]

    @property
    def differences(self) -> list[str]:
        """In words, how the group differs from ours: of the different ways, the two simplest."""
        ways = {number.convention for number in self.numbers if number.convention}
        return [] if self.ours else sorted(ways, key=lambda words: (len(words), words))[:2]


@dataclass(frozen=True, eq=False, repr=False)
class Spread(Found):
    """The numbers of all libraries for the same frames, grouped where they agree."""

    ours: float
    name: str  #: of the convention behind `ours`
    numbers: tuple[LibraryNumber, ...]
    n_users: int
    template = "libraries/spread.jinja"

    @property
    def groups(self) -> list[AgreementGroup]:
        """Libraries that agree, from the lowest number to the highest."""
        finite = sorted((number for number in self.numbers if isfinite(number.value)), key=lambda number: number.value)
        ours = [number for number in finite if abs(number.value - self.ours) <= AGREE]
        others = grouped((number for number in finite if number not in ours), lambda number: number.value)
        agreeing = [AgreementGroup(group[0].value, tuple(group), ours=False) for group in others]
        if isfinite(self.ours):
            agreeing.append(AgreementGroup(self.ours, tuple(ours), ours=True))
        return sorted(agreeing, key=lambda group: group.value)

    @property
    def without(self) -> list[LibraryNumber]:
        """Libraries that give no number."""
        return [number for number in self.numbers if not isfinite(number.value)]

    @property
    def headline(self) -> str:
        """The number of different values, and their range."""
        groups = self.groups
        if not groups:
            return _("{label}: no library returns a number", label=self.label)
        n, low, high = sum(len(group.names) for group in groups), f"{groups[0].value:.4f}", f"{groups[-1].value:.4f}"
        if len(groups) == 1:
            return _("{label}: all {n} give {value}", label=self.label, n=n, value=low)
        return _(
            "{label}: {n} different numbers from {all}, {low} to {high}",
            label=self.label, n=len(groups), all=n, low=low, high=high,
        )  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """A row per library and variant: value, difference to ours, what it does otherwise, or why there is no number."""
        import pandas as pd

        names = ["library", "variant", "version", "value", "difference", "convention", "error", "note"]
        rows = [{**vars(number.preset), **vars(number)} for number in self.numbers]
        return pd.DataFrame(rows, columns=names).sort_values("value", kind="stable", ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a dot for each group of libraries that agree."""
        groups = self.groups
        ax = axes(ax, 0.34 * len(groups) + 1.2, 8)
        for place, group in enumerate(groups):
            ax.hlines(place, min(self.ours, group.value), max(self.ours, group.value), color=QUIET, linewidth=1)
            ax.plot([group.value], [place], "o", color=ACCENT, fillstyle="full" if group.ours else "none")
        ax.axvline(self.ours, color=QUIET, linestyle=":", linewidth=1)
        with lettering(self.lang) as fonts:
            ax.set_yticks(range(len(groups)), [_listed(group.names, 3) for group in groups], fontsize=8, **fonts)
            name = self.name if fonts or self.lang == "en" else "recnb"
            ax.set_xlabel(_("{label}, {n:,} users by {name}", label=self.label, n=self.n_users, name=name), **fonts)
        return ax

    def lines(self) -> list[str]:
        """A line per group of libraries that agree, with what they do otherwise, and those that give no number."""
        lines = [self.headline]
        for group in self.groups:
            lines.append(f"  {group.value:.4f}  {group.value - self.ours:+.4f}  {', '.join(group.names)}")
            lines += [f"                   {words}" for words in group.differences]
        return lines + [f"  {_('none')}             {number.name}: {number.error}" for number in self.without]


def _listed(names: list[str], most: int) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:most])
    return shown + (f" {_('and {n:,} more', n=len(names) - most)}" if len(names) > most else "")


def spread(evaluation: EvaluationData, metric: str, k: int | None = None, **options: Any) -> Spread:
    """Compute the numbers of all libraries, in each of their variants; the arguments are those of `Evaluation.spread`."""
    chosen, k = measure_at(metric, k, standard=True)
    presets, source = of_metric(chosen.name), source_of(evaluation)
    if not presets:
        raise OptionError(
            f"no library's {chosen.name} is recorded, so there is nothing to spread: try 'ndcg' or 'recall'."
        )
    ours = Variant.of_evaluation(evaluation, chosen, options)
    mine = ours.measure(source, k)
    numbers = {
        variant.preset: _number(variant, found, mine.value, differences(ours, variant, source))
        for variant, found in measure_each(source, map(Variant.of_preset, presets), k)
        if variant.preset
    }
    users = ngettext("{n:,} user", "{n:,} users", len(mine.users))
    convention = ours.convention.with_metric(dict(ours.options))
    basis = "; ".join([users, *convention.phrases(graded="relevance" in source.truth.columns)])
    notes = (f"{ours.name}: {basis}", *missing_columns(source, presets))
    in_order = tuple(numbers[preset] for preset in presets)
    return Spread(chosen.label(k), notes, mine.value, ours.name, in_order, len(mine.users))


def _number(variant: Variant, found: VariantValues | RecnbError, ours: float, otherwise: list[str]) -> LibraryNumber:
    assert variant.preset is not None
    if isinstance(found, RecnbError):
        value, error = nan, str(found).removeprefix(f"{variant.name} ")
    else:
        value = found.value
        error = "" if isfinite(value) else "NaN" if isnan(value) else _("infinite")
    return LibraryNumber(variant.preset, value, value - ours, "; ".join(otherwise), error)
