"""Tables of a comparison: means, differences, curves and movers.

The best means are marked, and differences say what they allow to conclude.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recnb.display.forms import CONSOLE, Line, Name
from recnb.display.language import _
from recnb.display.text import one_line
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import Measure
from recnb.results import conclusions as words
from recnb.results.means_tables import distinct_labels
from recnb.results.numbers import ESTIMATE, NAMES, DifferenceRow, MeanRow, Numbers
from recnb.results.segments import Division
from recnb.results.shown import Shown, WordedLater
from recnb.results.table import Table
from recnb.results.user_groups import UserGroup
from recnb.results.verdicts import MARKS, VERDICTS
from recnb.stats import Settings

#: The name of each column of a table of models, by metric and cut-off.
Names = Mapping[tuple[str, int | None], str]

#: The columns of a table of differences after those that name each difference; some are
#: not shown.
TESTED = (
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "effect_size",
    "won",
    "tied",
    "lost",
    "n_users",
    "detectable",
    "verdict",
)
NOT_SHOWN = ("p", "effect_size", "detectable")

FEW = 6  #: of so many differences at most, each has a sentence below the table


def column_names(asked: Sequence[Measure], cutoffs: Cutoffs) -> Names:
    """Return the names of the columns of a table, by metric and cut-off.

    A name is as asked for, with the cut-off behind it unless it has one.
    """
    columns = dict[tuple[str, int | None], str]()
    for measure in asked:
        name = measure.asked_as
        for cut in measure.cutoffs(cutoffs):
            column = name if cut in (None, measure.k) else f"{name}@{cut}"
            columns[measure.name, cut] = column
    return columns


def means_table(
    numbers: Numbers,
    names: Names,
    basis: Sequence[str],
    *,
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
    division = numbers.division
    if not division.is_tested:  # as parts of the data are not
        baseline = None
    marks: dict[str, dict[str, list[Any]]] = {
        kind: {column: [] for column in names.values()} for kind in ("best", *MARKS)
    }
    rows = dict[Any, dict[tuple[str, str], float]]()  # column and end, by label
    means = numbers.mean_rows(against_baseline=baseline is not None)
    for mean in means:
        segment, column = division.keys[mean.part], names[mean.metric, mean.k]
        label = (*segment, mean.model) if segment else mean.model
        row = rows.setdefault(label, {})
        for end in ESTIMATE:
            row[column, end] = getattr(mean, end)
        if mean.best:
            marks["best"][column].append(label)
        if mean.mark:
            marks[mean.mark][column].append(label)
    levels = [*distinct_labels(division.labels, ["model"]), "model"]
    index = pd.MultiIndex.from_tuples([], names=levels)  # where nobody has a value
    if rows:
        index = pd.Index([*rows]).set_names(levels)
    columns = pd.MultiIndex.from_product([names.values(), ESTIMATE])
    table = pd.DataFrame([*rows.values()], index, columns)
    if not intervals:
        table = pd.DataFrame(table.xs("mean", axis=1, level=1))
    legend = _legend(numbers, names, means, baseline)
    return Table(table, shown=Shown(basis=basis, remarks=legend, marks=marks))


def _legend(
    numbers: Numbers, names: Names, means: Sequence[MeanRow], baseline: str | None
) -> list[Line]:
    """Explain the marks that a mean has, and which metrics are better where less."""
    directions = {
        names[place.column]: place.measure.metric.better for place in numbers.places
    }
    legend = words.legend(
        directions,
        baseline,
        _(words.NEAR_BEST, alpha=f"{numbers.settings.alpha:g}"),
        has_best=any(mean.best for mean in means),
        has_marks=any(mean.mark for mean in means),
    )
    if of_directions := words.directions_in_words(directions):
        legend.append(of_directions)
    return legend


def differences_table(
    numbers: Numbers,
    basis: Sequence[str],
    *,
    warnings: Sequence[str],
    known: Sequence[str],
) -> Table:
    """Return the table of differences.

    `warnings` and what is taken as `known` stand among its notes.
    """
    rows, settings = numbers.difference_rows(), numbers.settings
    frame = _differences(rows, numbers.division)
    segments = [numbers.division.names[row.part] for row in rows]
    n_names = len(numbers.division.labels) + len(NAMES)
    chosen = rows[0].label if rows else ""
    conclusions = WordedLater(lambda: _conclusions(segments, rows, settings))
    of_few = conclusions if len(rows) <= FEW else ()
    shown = Shown(
        basis=basis,
        remarks=WordedLater(lambda: [*warnings, *of_few]),
        conclusions=conclusions,
        notes=WordedLater(
            lambda: [*warnings, *words.notes(rows, settings, chosen), *known]
        ),
        index=[*frame.columns[:n_names]],
        columns=[name for name in TESTED if name not in NOT_SHOWN],
        cells={"difference": "difference", "verdict": "verdict"},
        plot="differences",
        drawn_as=WordedLater(lambda: _names_in_a_figure(segments, rows)),
    )
    return Table(frame, shown=shown)


def _conclusions(
    segments: Sequence[str], rows: Sequence[DifferenceRow], settings: Settings
) -> list[str]:
    """Return a sentence for each difference, behind the name of its segment."""
    lines = words.conclusions(rows, settings)
    conclusions = []
    for segment, line in zip(segments, lines, strict=True):
        text = str(CONSOLE.write(line))
        conclusions.append(f"{one_line(segment)}: {text}" if segment else text)
    return conclusions


def _names_in_a_figure(
    segments: Sequence[str], rows: Sequence[DifferenceRow]
) -> list[str]:
    """Name each difference by the sign of its verdict, segment, metric and models."""
    names = []
    for segment, row in zip(segments, rows, strict=True):
        models = CONSOLE.write([Name(row.model), " − ", Name(row.baseline)])
        parts = [VERDICTS[row.verdict].sign, segment, row.label, models]
        names.append(" ".join(filter(None, parts)))
    return names


def movers_frame(groups: Iterable[UserGroup]) -> pd.DataFrame:
    """Return a row for each user who gains or loses, with both lists."""
    rows = []
    for group in groups:
        for user in group.users:
            before, after = user.values
            values = before, after, after - before
            lists = ([item.item for item in items] for items in user.lists)
            rows.append((user.user, *values, user.n_relevant, *lists))
    columns = ["user", "before", "after", "change", "n_relevant", "old", "new"]
    return pd.DataFrame(rows, columns=columns)


def _differences(rows: Sequence[DifferenceRow], division: Division) -> pd.DataFrame:
    """Return a row for each difference, after the columns that name its segment."""
    keys = [division.keys[row.part] for row in rows]
    names = (*NAMES, *TESTED)
    labels = distinct_labels(division.labels, names)
    columns = {label: [key[at] for key in keys] for at, label in enumerate(labels)}
    columns |= {name: [getattr(row, name) for row in rows] for name in names}
    if any(row.n_lists is not None for row in rows):
        columns["n_lists"] = [row.n_lists or row.n_users for row in rows]
    return pd.DataFrame(columns)


def curves(numbers: Numbers) -> pd.DataFrame:
    """Return a row for each model and cut-off of a metric."""
    cutoffs = [place.k for place in numbers.places]
    by_model = numbers.estimates.swapaxes(0, 1)  # models × cut-offs × 3
    frame = pd.DataFrame(by_model.reshape(-1, len(ESTIMATE)), columns=ESTIMATE)
    frame.insert(0, "model", np.repeat([*numbers.models], len(cutoffs)).tolist())
    frame.insert(1, "k", cutoffs * len(numbers.models))
    return frame
