"""What every library would say of the same frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from recnb.conventions.presets import Preset
from recnb.data import Source
from recnb.display import html
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, current, ngettext, use_language
from recnb.display.progress import steps
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import one_line
from recnb.errors import OptionError, RecnbError
from recnb.libraries.data_properties import facts_of
from recnb.libraries.explain_difference import side_of, source_of
from recnb.libraries.variant import MetricVariant, differences, forget, presets_of, scratch
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import metric_named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData

#: What frames lack.
LACKING: dict[str, str] = {
    "rank": N_("No rank in these frames: libraries that read it are given the order that there is."),
    "score": N_("No score in these frames: libraries that read it are given the order that there is."),
}


#: Numbers nearer than this are taken to agree.
AGREE = 1e-9


@dataclass(frozen=True)
class Said:
    """What one library's metric says of the frames."""

    library: str
    variant: str
    version: str
    value: float  #: NaN where it gives none
    difference: float  #: to ours
    convention: str  #: in words, what it does otherwise and may matter on these frames
    error: str = ""
    note: str = ""  #: what it does by defect, which the number here does not show

    @property
    def name(self) -> str:
        """Library and variant."""
        return f"{self.library} {self.variant}".strip()


@dataclass(frozen=True)
class Group:
    """Libraries that agree."""

    value: float
    said: tuple[Said, ...]
    ours: bool

    @property
    def names(self) -> list[str]:
        """Who agrees, ours first."""
        return ["recnb"] * self.ours + [one.name for one in self.said]


@dataclass(frozen=True, eq=False)
class Spread:
    """What all libraries would say of the same frames, grouped where they agree."""

    metric: str
    symbol: str
    k: int | None
    ours: float
    name: str  #: whose number `ours` is
    said: tuple[Said, ...]
    n_users: int
    basis: str
    notes: tuple[str, ...] = ()
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def label(self) -> str:
        """The metric's symbol at its cut-off."""
        return self.symbol if self.k is None else f"{self.symbol}@{self.k}"

    @property
    def groups(self) -> list[Group]:
        """Those who agree, from the lowest number to the highest."""
        numbers = sorted((one for one in self.said if isfinite(one.value)), key=lambda one: one.value)
        starts: list[tuple[float, list[Said]]] = [(self.ours, [])] if isfinite(self.ours) else []
        for one in numbers:
            home = next((said for value, said in starts if abs(value - one.value) <= AGREE), None)
            if home is None:
                starts.append((one.value, [one]))
            else:
                home.append(one)
        made = [
            Group(value, tuple(said), index == 0 and isfinite(self.ours)) for index, (value, said) in enumerate(starts)
        ]
        return sorted(made, key=lambda group: group.value)

    @property
    def without(self) -> list[Said]:
        """Those who give no number."""
        return [one for one in self.said if not isfinite(one.value)]

    def to_frame(self) -> pd.DataFrame:
        """A row per library and variant: value, difference to ours, what it does otherwise, or why there is no number."""
        import pandas as pd

        names = ["library", "variant", "version", "value", "difference", "convention", "error", "note"]
        rows = [{name: getattr(one, name) for name in names} for one in self.said]
        return pd.DataFrame(rows, columns=pd.Index(names)).sort_values("value", kind="stable", ignore_index=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a dot for each group of libraries that agree."""
        groups = self.groups
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=(8, 0.34 * len(groups) + 1.2), layout="constrained").add_subplot()
        for place, group in enumerate(groups):
            ax.hlines(place, min(self.ours, group.value), max(self.ours, group.value), color=QUIET, linewidth=1)
            ax.plot([group.value], [place], "o", color=ACCENT, fillstyle="full" if group.ours else "none")
        ax.axvline(self.ours, color=QUIET, linestyle=":", linewidth=1)
        ax.set_yticks(range(len(groups)), [_listed(group.names, 3) for group in groups], fontsize=8)
        with lettering(self.lang) as fonts:
            name = self.name if fonts or self.lang == "en" else "recnb"
            ax.set_xlabel(_("{label}, {n:,} users by {name}", label=self.label, n=self.n_users, name=name), **fonts)
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def __repr__(self) -> str:
        with use_language(self.lang):
            return self._text()

    def _text(self) -> str:
        lines = [self._headline()]
        for group in self.groups:
            lines.append(f"  {group.value:.4f}  {group.value - self.ours:+.4f}  {', '.join(group.names)}")
            lines += [f"                   {words}" for words in self._words(group)]
        lines += [f"  {_('none')}             {one.name}: {one.error}" for one in self.without]
        return "\n".join([*lines, *self._small_print()])

    def _headline(self) -> str:
        groups = self.groups
        if not groups:
            return _("{label}: nobody gives a number", label=self.label)
        n = sum(len(group.names) for group in groups)
        if len(groups) == 1:
            return _("{label}: all {n} give {value}", label=self.label, n=n, value=f"{groups[0].value:.4f}")
        low, high = f"{groups[0].value:.4f}", f"{groups[-1].value:.4f}"
        return _(
            "{label}: {n} different numbers from {all}, {low} to {high}",
            label=self.label,
            n=len(groups),
            all=n,
            low=low,
            high=high,
        )

    def _words(self, group: Group) -> list[str]:
        """How the group differs from ours: each way that is said, once; of the simplest, two."""
        ways = sorted({one.convention for one in group.said if one.convention}, key=lambda way: (len(way), way))
        return [] if group.ours else ways[:2]

    def _small_print(self) -> list[str]:
        return [f"{self.name}: {self.basis}", *self.notes]

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return self._html()

    def _html(self) -> str:
        rows = []
        for group in self.groups:
            names = ", ".join(f"<b>{html.text(one)}</b>" if one == "recnb" else html.text(one) for one in group.names)
            words = "".join(f"<div>{html.text(way, 600)}</div>" for way in self._words(group))
            rows.append([f"{group.value:.4f}", f"{group.value - self.ours:+.4f}", names, words or _("as ours")])
        mine = [index for index, group in enumerate(self.groups) if group.ours]
        columns = (_("difference"), _("who"), _("what they do otherwise"))
        groups = html.table([html.text(self.label), *columns], rows, numbers_from=4, marked=mine)
        missing = [[html.text(one.name), html.text(one.error, 400)] for one in self.without]
        header = [_("gives no number"), _("why")]
        refused = html.table(header, missing, numbers_from=2) if missing else ""
        notes = "".join(html.note(html.text(line, 2000)) for line in self._small_print())
        title = f"<div><b>{html.text(self._headline())}</b></div>"
        return html.root(title, groups, refused, notes, label=_("{label} by library", label=self.label))


def _listed(names: list[str], most: int) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:most])
    return shown + (f" {_('and {n:,} more', n=len(names) - most)}" if len(names) > most else "")


def measured_all(
    source: Source, settings: list[MetricVariant], k: int | None
) -> dict[MetricVariant, tuple[float, str]]:
    """The number of each setting, or NaN and why there is none; settings that cannot differ on the frames are worked out once.

    They are taken by the data that they need, so that each is prepared once and let go of.
    """
    own = scratch(source)
    plain = {one: one.on(own, k) for one in settings}
    found: dict[MetricVariant, tuple[float, str]] = {}
    order: dict[Any, list[MetricVariant]] = {}
    for one in dict.fromkeys(plain.values()):
        order.setdefault(one.data(own), []).append(one)
    for same in steps(list(order.values()), _("conventions tried")):
        # The deepest hits first: those of a shallower cut are among them.
        for one in sorted(same, key=lambda setting: not setting.whole_list):
            try:
                value = one.value(own, k)
                found[one] = (value, "" if isfinite(value) else "NaN" if isnan(value) else _("infinite"))
            except RecnbError as problem:
                found[one] = (float("nan"), str(problem))
        forget(own, source)
    return {one: found[plain[one]] for one in settings}


def spread(evaluation: EvaluationData, metric: str, k: int | None = None, **options: Any) -> Spread:
    """What every library, in each of its variants, would say of these frames."""
    chosen = metric_named(metric)
    k = Cutoffs.one(k).values[0]
    ours = side_of(evaluation, chosen, options)
    source = source_of(evaluation)
    known = presets_of(chosen.name)
    if not known:
        raise OptionError(
            f"no library's {chosen.name} is recorded, so there is nothing to spread: try 'ndcg' or 'recall'."
        )
    settings = [MetricVariant.of_preset(one) for one in known]
    mine = ours.setting.measured(source, k)
    numbers = measured_all(source, settings, k)
    said = tuple(
        _said(one, setting, numbers[setting], mine.value, ours.setting, source, k)
        for one, setting in zip(known, settings, strict=True)
    )
    basis = "; ".join(
        [
            ngettext("{n:,} user", "{n:,} users", len(mine.users)),
            *ours.setting.in_force.phrases(graded="relevance" in source.truth.columns),
        ]
    )
    return Spread(
        chosen.name, chosen.symbol, k, mine.value, ours.name, said, len(mine.users), basis, lacking(source, known)
    )


def lacking(source: Source, known: list[Preset]) -> tuple[str, ...]:
    """What libraries read and the frames lack, in words."""
    has, wants = facts_of(source).orders, {one.convention.order for one in known}
    others = [one for one in sorted(wants) if one not in (*has, "auto")]
    return tuple(_(LACKING[one]) for one in others)


def _said(
    one: Preset,
    setting: MetricVariant,
    number: tuple[float, str],
    ours: float,
    mine: MetricVariant,
    source: Source,
    k: int | None,
) -> Said:
    value, error = number
    words = "; ".join(differences(mine, setting, source, k))
    return Said(one.library, one.variant, one.version, value, value - ours, words, error, one.note)
