"""Tables of a comparison: means and differences.

The best means are marked, and differences say what they allow to conclude.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from recnb.display.forms import CONSOLE, Name
from recnb.display.text import one_line
from recnb.results import conclusions as words
from recnb.results import views
from recnb.results.numbers import DifferenceRow, Numbers
from recnb.results.table import Shown, Table
from recnb.results.user_groups import UserGroup
from recnb.results.verdicts import sign_of_verdict
from recnb.stats import Settings

#: The columns of differences that say what each is of.
NAMES = ("metric", "k", "model", "baseline")

#: Those that are shown beside the names.
SHOWN = [
    "difference",
    "low",
    "high",
    "p_holm",
    "won",
    "tied",
    "lost",
    "n_users",
    "verdict",
]

FEW = 6  #: conclusions stand below so many differences


def means_table(
    numbers: Numbers,
    names: views.Names,
    basis: Sequence[str],
    *,
    n_users: int,
    settings: Settings,
    baseline: str | None,
    intervals: bool,
) -> Table:
    """Return the table of means, with marks against the baseline or against the best.

    A row per model, a column per metric and cut-off, or three with intervals; `names`:
    of the columns.

    The best mean of a column is shown bold (between asterisks on a console). ▲ and ▼
    mark what is shown to be better or worse than the baseline, △ and ▽ what is higher
    or lower where neither is better. Where every two models are compared, ° marks means
    that are not shown to differ from the best. Where neither more nor less is better,
    as of novelty, none is the best.
    """
    if not numbers.division.is_tested:  # as parts of the truth are not
        baseline = None
    frames = [
        views.by_model(numbers, names, values)
        for values in (numbers.mean, *numbers.ends)
    ]
    with_ends = pd.concat(frames, axis=1, keys=views.ENDS).swaplevel(axis=1)
    with_ends = with_ends[[(name, end) for name in frames[0] for end in views.ENDS]]
    marks = views.marks(numbers, names, baseline)
    directions = {
        names[place.measure.name, place.k]: place.measure.metric.better
        for place in numbers.places
    }
    legend = words.legend(
        directions,
        baseline,
        words.near_best_in_words(settings),
        has_best=any(marks["best"].values()),
        is_tested=bool(np.isfinite(numbers.tests["p"]).any()),
    )
    if of_directions := words.directions_in_words(directions):
        legend.append(of_directions)
    shown = Shown(
        basis=basis,
        attrs={"baseline": baseline, "n_users": n_users},
        notes=legend,
        marks=marks,
        plot="models",
        drawn=with_ends,
    )
    return Table(with_ends if intervals else frames[0], shown=shown)


def differences_table(
    numbers: Numbers,
    basis: Sequence[str],
    *,
    settings: Settings,
    warnings: Sequence[str],
    known: Sequence[str],
) -> Table:
    """Return the table of differences.

    `warnings` and what is taken as `known` stand among its notes.
    """
    rows, frame = numbers.differences(), views.differences(numbers)
    names = numbers.division.names
    segments = [names[row.part] for row in rows]
    n_names = len(numbers.division.labels) + len(NAMES)
    conclusions = []
    for segment, line in zip(segments, words.conclusions(rows, settings), strict=True):
        text = str(CONSOLE.write(line))
        conclusions.append(f"{one_line(segment)}: {text}" if segment else text)
    shown = Shown(
        basis=basis,
        notes=[*warnings, *(conclusions if len(rows) <= FEW else ())],
        index=[*frame.columns[:n_names]],
        columns=SHOWN,
        cells={"difference": "difference", "verdict": "verdict"},
        plot="differences",
        drawn=_drawn(frame, segments, rows),
    )
    table = Table(frame, shown=shown)
    table.conclusions = conclusions
    chosen = rows[0].label if rows else ""
    table.notes = [*warnings, *words.notes(rows, settings, chosen), *known]
    return table


def _drawn(
    table: pd.DataFrame, segments: Sequence[str], rows: Sequence[DifferenceRow]
) -> pd.DataFrame:
    """Return the differences that a plot shows.

    Each is named by the sign of the verdict, segment, metric and models.
    """
    names = []
    for segment, row in zip(segments, rows, strict=True):
        models = CONSOLE.write([Name(row.model), " − ", Name(row.baseline)])
        parts = [sign_of_verdict(row.verdict), segment, row.label, models]
        names.append(" ".join(filter(None, parts)))
    frame = table.set_axis(names)[["difference", "low", "high"]]
    drawn: pd.DataFrame = frame[np.isfinite(frame["difference"])]
    return drawn


def movers_frame(groups: Iterable[UserGroup]) -> pd.DataFrame:
    """Return a row for each user who gains or loses, with both lists."""
    rows = []
    for group in groups:
        for user in group.users:
            before, after = user.values
            old, new = ([item.item for item in items] for items in user.lists)
            change = after - before
            rows.append((user.user, before, after, change, user.n_relevant, old, new))
    columns = ["user", "before", "after", "change", "n_relevant", "old", "new"]
    return pd.DataFrame(rows, columns=columns)
