"""Pictures of a comparison, drawn by hand as SVG: differences about a line at 0, and several curves with their bands.

Colours have contrast on white and on near black, and everything shown by colour is shown by sign and words as well. The
same numbers give the same drawing to the byte. Names are the user's and are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from recnb.comparison.conclusions import SIGNS, VERDICTS, difference_axis, difference_label, number, signed
from recnb.comparison.results import FOUND, ComparisonReportData, Difference, reach_of
from recnb.display.language import _
from recnb.display.svg import COLOURS, QUIET, document, label, scale, stroke, ticks
from recnb.display.text import one_line
from recnb.report.curve import Curve

DASHES = ("", "7 4", "2 4", "10 3 2 3", "4 2", "1 3", "12 4", "")

UP, DOWN = "#2f7fc1", "#c2601a"
ROW, PLOT, NUMBERS, LETTER = 24, 298, 260, 6.7
#: More differences than this are not drawn; their numbers are in the frame.
MOST_ROWS = 300


class Drawing(NamedTuple):
    """A picture, its numbers as text for those who do not see it, and its width in pixels."""

    svg: str
    alt: str
    width: int


def forest(differences: Sequence[Difference]) -> Drawing:
    """Return the forest plot: each difference as a mark with its interval, one under the other."""
    title = difference_axis(differences, one_line)
    alt = f"{title}. " + "; ".join(
        f"{row.label} {one_line(row.model, 40)} − {one_line(row.baseline, 40)}: {signed(row.difference)} "
        f"({number(row.low)} … {number(row.high)}), {_(VERDICTS[row.verdict][1])}"
        for row in differences[:MOST_ROWS]
    )
    shown = [row for row in differences if isfinite(row.difference)][:MOST_ROWS]
    reach = reach_of(shown) * 1.08
    names = [f"{row.label} · {one_line(difference_label(row, differences), 40)}" for row in shown]
    names_to = min(max([len(name) for name in names], default=0) * LETTER + 8, 360)
    plot_from = names_to + 14
    plot_to = plot_from + PLOT
    width = round(plot_to + NUMBERS)
    top, height = 14, 14 + ROW * len(shown) + 42
    x = scale(reach, plot_from, plot_to, -reach)
    bottom = top + ROW * len(shown)
    steps = ticks(reach, 3)
    steps = [*(-step for step in steps[:0:-1]), *steps]
    parts = [stroke(x(step), top - 6, x(step), bottom, 0.2) for step in steps if step]
    parts.append(stroke(x(0), top - 8, x(0), bottom + 2, 0.9))
    parts += [label(x(step), bottom + 16, f"{step:+.4g}" if step else "0") for step in steps]
    parts.append(label(plot_from + PLOT / 2, bottom + 34, one_line(title, 90)))
    for at, row in enumerate(shown):
        y = top + ROW * at + ROW / 2
        parts.append(label(names_to, y + 4, names[at], anchor="end"))
        colour, is_finding = colour_of(row), row.verdict in FOUND
        if isfinite(row.low):
            look = f'stroke="{colour}" stroke-width="{4 if is_finding else 2}" stroke-opacity="{0.55 if is_finding else 0.8}"'
            parts.append(f'<path d="M{x(row.low):.1f} {y:.1f}H{x(row.high):.1f}" {look}/>')
        hollow = f'fill="#888888" fill-opacity="0.15" stroke="{colour}" stroke-width="1.5"'
        filled = f'fill="{colour}"' if is_finding else hollow
        parts.append(f'<circle cx="{x(row.difference):.1f}" cy="{y:.1f}" r="5" {filled}/>')
        parts.append(label(plot_to + 14, y + 4, f"{signed(row.difference)} {SIGNS[row.verdict]}", anchor="start"))
        if isfinite(row.low):
            parts.append(label(width - 4, y + 4, f"{signed(row.low)} … {signed(row.high)}", anchor="end"))
    return Drawing(document(parts, width, height), alt, width)


def colour_of(difference: Difference) -> str:
    """The colour of a difference: by its direction, if it is a finding."""
    return (UP if difference.difference > 0 else DOWN) if difference.verdict in FOUND else QUIET


def curves(lines: Mapping[str, Curve], marked: Sequence[int] = (), axis: str = "k") -> Drawing:
    """Return the means against the cut-off: a line with its band for each model, named where it ends."""
    symbol, k_of_all = next((curve.symbol, curve.k) for curve in lines.values())
    last = "; ".join(f"{one_line(model, 40)}: {number(line.value[-1])}" for model, line in lines.items())
    alt = _("{symbol} against {axis}. At {axis} = {k}: {values}", symbol=symbol, axis=axis, k=k_of_all[-1], values=last)
    width, height, left, right, top, bottom = 640, 300, 44, 150, 26, 262
    ends = [value for line in lines.values() for value in (*line.value, *line.high) if isfinite(value)]
    ceiling = (max(ends, default=0.0) or 1.0) * 1.06
    lowest, deepest = min(1.0, *k_of_all), max(k_of_all)

    def x(k: float) -> float:
        return (
            left + 14 + (width - left - right - 20) * ((k - lowest) / (deepest - lowest) if deepest > lowest else 0.5)
        )

    y = scale(ceiling, bottom, top)
    steps = ticks(ceiling)
    parts = [stroke(left, y(step), width - right, y(step), 0.5 if step == 0 else 0.2) for step in steps]
    parts += [label(left - 7, y(step) + 4, f"{step:.4g}", anchor="end") for step in steps]
    parts += [label(left, 13, _("mean {symbol}@{axis}", symbol=symbol, axis=axis), anchor="start")]
    parts.append(label((left + width - right) / 2, height - 6, axis))
    parts += [label(x(k), bottom + 16, f"{k:.10g}") for k in sorted({lowest, deepest, *marked}) if k <= deepest]
    for at, line in enumerate(lines.values()):
        colour = COLOURS[at % len(COLOURS)]
        defined = [i for i, mean in enumerate(line.value) if isfinite(mean)]
        if not defined:
            continue
        if isfinite(line.low[defined[0]]):
            upper = [(line.k[i], line.high[i]) for i in defined]
            outline = [*upper, *((line.k[i], line.low[i]) for i in reversed(defined))]
            points = " ".join(f"{x(k):.1f},{y(max(value, 0.0)):.1f}" for k, value in outline)
            parts.append(f'<polygon points="{points}" fill="{colour}" fill-opacity="0.15"/>')
        points = " ".join(f"{x(line.k[i]):.1f},{y(line.value[i]):.1f}" for i in defined)
        dash = f' stroke-dasharray="{DASHES[at % len(DASHES)]}"' if DASHES[at % len(DASHES)] else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    wanted = [(y(line.value[-1]) if isfinite(line.value[-1]) else bottom) for line in lines.values()]
    for at, place in _apart(wanted, 15):
        colour = COLOURS[at % len(COLOURS)]
        words = one_line([*lines][at], 20)
        parts.append(label(x(deepest) + 8, place + 4, words, anchor="start", strong=True, colour=colour))
    return Drawing(document(parts, width, height), alt, width)


def points(names: Sequence[str], x: Sequence[float], y: Sequence[float], labels: tuple[str, str]) -> Drawing | None:
    """Return a named point for each model, one metric against another; None if a model has no value."""
    if not all(map(isfinite, (*x, *y))):
        return None
    alt = f"{labels[1]} / {labels[0]}. " + "; ".join(
        f"{one_line(name, 40)}: {number(across)}, {number(up)}" for name, across, up in zip(names, x, y, strict=True)
    )
    width, height, left, right, top, bottom = 400, 270, 56, 24, 26, 226
    (x_from, x_to), (y_from, y_to) = _about(x), _about(y)
    across, up = scale(x_to, left, width - right, x_from), scale(y_to, bottom, top, y_from)
    parts = [stroke(left, bottom, width - right, bottom, 0.5), stroke(left, top, left, bottom, 0.5)]
    for value in ticks(x_to, 4, x_from):
        parts.append(stroke(across(value), top, across(value), bottom, 0.15))
        parts.append(label(across(value), bottom + 16, f"{value:.6g}"))
    for value in ticks(y_to, 4, y_from):
        parts.append(stroke(left, up(value), width - right, up(value), 0.15))
        parts.append(label(left - 6, up(value) + 4, f"{value:.6g}", anchor="end"))
    parts += [label((left + width - right) / 2, height - 8, labels[0]), label(8, 13, labels[1], anchor="start")]
    places = dict(_apart([up(value) for value in y], 14))
    for at, name in enumerate(names):
        colour = COLOURS[at % len(COLOURS)]
        here = across(x[at])
        parts.append(f'<circle cx="{here:.1f}" cy="{up(y[at]):.1f}" r="5" fill="{colour}"/>')
        # Names of points on the right half are to the left of them, so that none leaves the picture.
        to_the_left = here > (left + width - right) / 2
        at_x, anchor = (here - 9, "end") if to_the_left else (here + 9, "start")
        parts.append(label(at_x, places[at] + 4, one_line(name, 22), anchor=anchor, strong=True, colour=colour))
    return Drawing(document(parts, width, height), alt, width)


def accuracy_against(report: ComparisonReportData, metric: str) -> Drawing | None:
    """Return the lead metric against one beyond accuracy, a point a model; None if a value is missing."""
    other = next((row for row in report.beyond if row.metric == metric), None)
    if other is None:
        return None
    k = report.lead_k
    means = [mean.mean for mean in report.means_at(report.lead.metric, k)]
    labels = (f"{other.symbol}@{k}", f"{report.lead.symbol}@{k}")
    return points(report.models, [value for value, _low, _high in other.values], means, labels)


def _about(values: Sequence[float]) -> tuple[float, float]:
    """A range that holds all values with some room."""
    low, high = min(values), max(values)
    room = (high - low) * 0.15 or abs(high) * 0.1 or 1.0
    return max(low - room, 0.0) if low >= 0 else low - room, high + room


def _apart(places: Sequence[float], least: float) -> list[tuple[int, float]]:
    """Heights of names that do not overlap: from the lowest up, each at its own height or just above the one below."""
    placed: list[tuple[int, float]] = []
    last = float("inf")
    for at in sorted(range(len(places)), key=lambda at: -places[at]):
        last = min(places[at], last - least)
        placed.append((at, last))
    return placed
