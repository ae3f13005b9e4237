"""What `identify` found: the conventions that give a printed number, or the nearest; shown as text and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from recnb.results import html
from recnb.results.report_text import one_line
from recnb.whose.setting import Setting
from recnb.whose.why_shown import name_of

if TYPE_CHECKING:
    import pandas as pd

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
    setting: Setting


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
        return "; ".join(named) + (f"; and {rest} more" if rest else "")


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

    @property
    def groups(self) -> list[MatchGroup]:
        """The matches by number, the simplest first."""
        return grouped(self.matches)

    def _headline(self) -> str:
        printed = f"{self.label} printed as {self.printed:.{self.digits}f}"
        groups = self.groups
        if not groups:
            return f"{printed}: none of {self.n_tried:,} conventions gives it; the nearest are"
        weaker = "" if groups[0].how == "rounded" else " cut off after the digits printed,"
        if len(self.matches) == 1:
            return f"{printed}:{weaker} one convention of {self.n_tried:,} gives it"
        several = f", which are {len(groups)} numbers that print alike" if len(groups) > 1 else ", all the same number"
        return f"{printed}:{weaker} {len(self.matches):,} conventions of {self.n_tried:,} give it{several}"

    def _rows(self) -> list[tuple[float, str, str]]:
        if self.matches:
            how = {"rounded": "rounds to it", "cut off": "only if cut off, not rounded"}
            return [(group.value, how[group.how], group.who) for group in self.groups]
        return [(one.value, f"{one.value - self.printed:+.{self.digits + 2}f}", one.name) for one in self.nearest]

    def to_frame(self) -> pd.DataFrame:
        """A row per matching convention, or per nearest one: name, kind, value, how it fits."""
        import pandas as pd

        shown = [match for group in self.groups for match in group.matches] or self.nearest
        names = ["name", "kind", "value", "how"]
        rows = [{name: getattr(one, name) for name in names} for one in shown]
        return pd.DataFrame(rows, columns=pd.Index(names))

    def __repr__(self) -> str:
        rows = self._rows()
        lines = [f"  {value:.{self.digits + 2}f}  {how}: {who}" for value, how, who in rows[:ROWS_SHOWN]]
        more = [f"  … {len(rows) - ROWS_SHOWN} more: see to_frame()."] * (len(rows) > ROWS_SHOWN)
        return "\n".join([self._headline(), *lines, *more, *self.notes])

    def _repr_html_(self) -> str:
        rows = self._rows()
        cells = [
            [f"{value:.{self.digits + 2}f}", html.text(how), html.text(who, 1000)]
            for value, how, who in rows[:ROWS_SHOWN]
        ]
        table = html.table([html.text(self.label), "fit", "convention"], cells, numbers_from=3)
        more = html.note(f"… {len(rows) - ROWS_SHOWN} more: see to_frame().") if len(rows) > ROWS_SHOWN else ""
        title = f"<div><b>{html.text(self._headline(), 400)}</b></div>"
        notes = "".join(html.note(html.text(line, 1000)) for line in self.notes)
        return html.root(title, table, more, notes, label=f"which convention prints {self.label}")


@dataclass(frozen=True, eq=False)
class Fit:
    """A convention held against users' printed values."""

    name: str
    kind: str
    n_rounded: int  #: users whose value rounds to what is printed
    n_fitting: int  #: and with those whose value does when cut off
    values: tuple[float, ...]
    setting: Setting


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
        names += f"; and {rest} more" if rest > 0 else ""
        cut = (
            f" ({best.n_fitting - best.n_rounded} of them cut off, not rounded)"
            if best.n_fitting > best.n_rounded
            else ""
        )
        return [
            f"{self.label} of {n:,} users: {best.n_fitting:,} printed values fit{cut}",
            f"by {names}, of {self.n_tried:,} conventions tried",
        ]

    def _odd(self) -> list[int]:
        return [at for at, how in enumerate(self.fits) if how == 0]

    def _verdict(self, at: int) -> str:
        value = self.best[0].values[at]
        computed = "not counted" if isnan(value) else f"{value:.{self.digits}f}"
        verdict = (
            "fits no convention: a misprint?" if self.users[at] in set(self.misprints) else "fits other conventions"
        )
        return f"{computed}; {verdict}"

    def __repr__(self) -> str:
        odd = self._odd()
        lines = [
            f"  {one_line(repr(self.users[at]))}: printed {self.printed[at]:.{self.digits}f}, computed {self._verdict(at)}"
            for at in odd[:USERS_SHOWN]
        ]
        more = [f"  … {len(odd) - USERS_SHOWN:,} more: see to_frame()."] * (len(odd) > USERS_SHOWN)
        return "\n".join([*self._lines(), *(lines or ["  every printed value fits"]), *more, *self.notes])

    def _repr_html_(self) -> str:
        first, second = self._lines()
        odd = self._odd()
        rows = [
            [name_of(self.users[at]), f"{self.printed[at]:.{self.digits}f}", html.text(self._verdict(at))]
            for at in odd[:USERS_SHOWN]
        ]
        table = html.table(["user", "printed", "computed"], rows) if rows else html.note("Every printed value fits.")
        more = html.note(f"… {len(odd) - USERS_SHOWN:,} more: see to_frame().") if len(odd) > USERS_SHOWN else ""
        title = f"<div><b>{html.text(first, 200)}</b></div><div>{html.text(second, 1000)}</div>"
        notes = "".join(html.note(html.text(line, 1000)) for line in self.notes)
        return html.root(title, table, more, notes, label=f"which convention prints {self.label}")
