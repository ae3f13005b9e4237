"""What `identify` found: the conventions that give a printed number, or the nearest; shown as text and HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any

from recnb.display import html
from recnb.display.language import N_, _, current, use_language
from recnb.display.text import one_line
from recnb.libraries.explain_difference_html import name_of
from recnb.libraries.variant import MetricVariant

if TYPE_CHECKING:
    import pandas as pd

#: How a printed value fits.
FITS: dict[str, str] = {
    "rounded": N_("rounds to it"),
    "cut off": N_("only if cut off, not rounded"),
}


NAMES_SHOWN, ROWS_SHOWN, USERS_SHOWN = 6, 12, 30
#: Exact before near: what somebody uses as it is, before what is one axis from it.
SIMPLEST = {"ours": 0, "preset": 1, "neighbour": 2}
_FIT = {2: "fits", 1: "fits if cut off", 0: "does not fit"}


@dataclass(frozen=True, eq=False)
class Match:
    """A convention and its number."""

    name: str
    kind: str  #: ours, preset or neighbour
    value: float
    how: str  #: rounded, cut off or no
    setting: MetricVariant


@dataclass(frozen=True, eq=False)
class MatchGroup:
    """Conventions that give one and the same number."""

    value: float
    how: str
    matches: tuple[Match, ...]  #: the simplest first

    @property
    def who(self) -> str:
        """The simplest of them by name, the others by number."""
        best = SIMPLEST[self.matches[0].kind]
        named = [one.name for one in self.matches if best == SIMPLEST[one.kind] or SIMPLEST[one.kind] < 2][:NAMES_SHOWN]
        rest = len(self.matches) - len(named)
        return "; ".join(named) + (f"; {_('and {n:,} more', n=rest)}" if rest else "")


def grouped(matches: tuple[Match, ...]) -> list[MatchGroup]:
    """Matches by number, those that round to it first, then the simplest."""
    ordered = sorted(matches, key=lambda one: (one.how != "rounded", SIMPLEST[one.kind]))
    groups: list[list[Match]] = []
    for one in ordered:
        home = next(
            (group for group in groups if abs(group[0].value - one.value) <= 1e-9 and group[0].how == one.how), None
        )
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    return [MatchGroup(group[0].value, group[0].how, tuple(group)) for group in groups]


@dataclass(frozen=True, eq=False)
class Identified:
    """The conventions that give a printed number; where there is none, the nearest."""

    label: str
    printed: float
    digits: int
    matches: tuple[Match, ...]
    nearest: tuple[Match, ...]
    n_tried: int
    notes: tuple[str, ...] = ()
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    @property
    def groups(self) -> list[MatchGroup]:
        """The matches by number, the simplest first."""
        return grouped(self.matches)

    def _headline(self) -> str:
        said = {
            "printed": _("{label} printed as {value}", label=self.label, value=f"{self.printed:.{self.digits}f}"),
            "n": self.n_tried,
        }
        groups = self.groups
        if not groups:
            return _("{printed}: none of {n:,} conventions gives it; the nearest are", **said)
        said["cut"] = "" if groups[0].how == "rounded" else f" {_('cut off after the digits printed,')}"
        if len(self.matches) == 1:
            return _("{printed}:{cut} one convention of {n:,} gives it", **said)
        said["found"] = len(self.matches)
        return (
            _("{printed}:{cut} {found:,} conventions of {n:,} give it, all the same number", **said)
            if len(groups) == 1
            else _(
                "{printed}:{cut} {found:,} conventions of {n:,} give it, which are {alike} numbers that print alike",
                **said,
                alike=len(groups),
            )
        )

    def _rows(self) -> list[tuple[float, str, str]]:
        if self.matches:
            return [(group.value, _(FITS[group.how]), group.who) for group in self.groups]
        return [(one.value, f"{one.value - self.printed:+.{self.digits + 2}f}", one.name) for one in self.nearest]

    def to_frame(self) -> pd.DataFrame:
        """A row per matching convention, or per nearest one: name, kind, value, how it fits."""
        import pandas as pd

        shown = [match for group in self.groups for match in group.matches] or self.nearest
        names = ["name", "kind", "value", "how"]
        rows = [{name: getattr(one, name) for name in names} for one in shown]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def __repr__(self) -> str:
        with use_language(self.lang):
            rows = self._rows()
            lines = [f"  {value:.{self.digits + 2}f}  {how}: {who}" for value, how, who in rows[:ROWS_SHOWN]]
            more = [f"  {_more(len(rows) - ROWS_SHOWN)}"] * (len(rows) > ROWS_SHOWN)
            return "\n".join([self._headline(), *lines, *more, *self.notes])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return self._html()

    def _html(self) -> str:
        rows = self._rows()
        cells = [
            [f"{value:.{self.digits + 2}f}", html.text(how), html.text(who, 1000)]
            for value, how, who in rows[:ROWS_SHOWN]
        ]
        header = [html.text(self.label), _("fit"), _("convention")]
        table = html.table(header, cells, numbers_from=3)
        more = html.note(_more(len(rows) - ROWS_SHOWN)) if len(rows) > ROWS_SHOWN else ""
        title = f"<div><b>{html.text(self._headline(), 400)}</b></div>"
        notes = "".join(html.note(html.text(line, 1000)) for line in self.notes)
        return html.root(title, table, more, notes, label=_("which convention prints {label}", label=self.label))


def _more(n: int) -> str:
    return _("… {n:,} more: see to_frame().", n=n)


@dataclass(frozen=True, eq=False)
class Fit:
    """A convention held against users' printed values."""

    name: str
    kind: str
    n_rounded: int  #: users whose value rounds to what is printed
    n_fitting: int  #: and with those whose value does when cut off
    values: tuple[float, ...]
    setting: MetricVariant


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
    lang: str = field(default_factory=current)  #: the language of its words, in which it is shown

    def to_frame(self) -> pd.DataFrame:
        """A row per user: printed value, value under the best convention, whether it fits, whether any convention fits."""
        import pandas as pd

        odd = set(self.misprints)
        return pd.DataFrame(
            {
                "printed": self.printed,
                "value": self.best[0].values,
                "fit": [_FIT[how] for how in self.fits],
                "fits_some_convention": [user not in odd for user in self.users],
            },
            index=pd.Index(self.users, name="user"),
        )

    def _lines(self) -> list[str]:
        best, n = self.best[0], len(self.users)
        names = "; ".join(one.name for one in self.best[:NAMES_SHOWN])
        rest = len(self.best) - NAMES_SHOWN
        names += f"; {_('and {n:,} more', n=rest)}" if rest > 0 else ""
        fitting = _(
            "{label} of {n:,} users: {fitting:,} printed values fit", label=self.label, n=n, fitting=best.n_fitting
        )
        if best.n_fitting > best.n_rounded:
            fitting += f" {_('({n} of them cut off, not rounded)', n=best.n_fitting - best.n_rounded)}"
        return [fitting, _("by {names}, of {n:,} conventions tried", names=names, n=self.n_tried)]

    def _odd(self) -> list[int]:
        return [at for at, how in enumerate(self.fits) if how == 0]

    def _verdict(self, at: int) -> str:
        value = self.best[0].values[at]
        computed = _("not counted") if isnan(value) else f"{value:.{self.digits}f}"
        misprint = self.users[at] in set(self.misprints)
        return f"{computed}; {(_('fits no convention: a misprint?') if misprint else _('fits other conventions'))}"

    def __repr__(self) -> str:
        with use_language(self.lang):
            odd = self._odd()
            lines = [f"  {self._line(at)}" for at in odd[:USERS_SHOWN]] or [f"  {_('every printed value fits')}"]
            more = [f"  {_more(len(odd) - USERS_SHOWN)}"] * (len(odd) > USERS_SHOWN)
            return "\n".join([*self._lines(), *lines, *more, *self.notes])

    def _line(self, at: int) -> str:
        user, printed = one_line(repr(self.users[at])), f"{self.printed[at]:.{self.digits}f}"
        return _("{user}: printed {printed}, computed {verdict}", user=user, printed=printed, verdict=self._verdict(at))

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return self._html()

    def _html(self) -> str:
        first, second = self._lines()
        odd = self._odd()
        rows = [
            [name_of(self.users[at]), f"{self.printed[at]:.{self.digits}f}", html.text(self._verdict(at))]
            for at in odd[:USERS_SHOWN]
        ]
        header = [_("user"), _("printed"), _("computed")]
        table = html.table(header, rows) if rows else html.note(_("Every printed value fits."))
        more = html.note(_more(len(odd) - USERS_SHOWN)) if len(odd) > USERS_SHOWN else ""
        title = f"<div><b>{html.text(first, 200)}</b></div><div>{html.text(second, 1000)}</div>"
        notes = "".join(html.note(html.text(line, 1000)) for line in self.notes)
        return html.root(title, table, more, notes, label=_("which convention prints {label}", label=self.label))
