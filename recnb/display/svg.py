"""Pictures drawn by hand as SVG: lines with bands, points with intervals, bars; and a value with its interval as a strip.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips `<svg>` from notebooks that are not
trusted. An image does not see the page around it, so its colours are of middle lightness and are read on white as on near
black. What is shown by colour is shown by a dash, a sign or words as well. The same numbers give the same picture to the byte.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
OTHER = "#c2601a"
COLOURS = (ACCENT, OTHER, "#3b8f55", "#9a62b8", "#a1801f", "#bf5a7d", "#4a8f96", QUIET)
DASHES = ("", "7 4", "2 4", "10 3 2 3", "4 2", "1 3", "12 4", "")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

STRIP, ROW, LETTER = 150, 24, 6.7

#: Where a number stands in a picture.
Scale = Callable[[float], float]


@dataclass(frozen=True)
class PlotLine:
    """A line with the band of its intervals, named where it ends."""

    points: Sequence[tuple[float, ...]]  #: x, y, and the ends of the interval
    name: str = ""
    marked: Sequence[float] = ()  #: places with a dot and the value


@dataclass(frozen=True)
class PlotBars:
    """Bars from edge to edge, each with its label; `zero` is the part of the first that is set off; `quartiles` stand below."""

    edges: Sequence[float]
    heights: Sequence[float]
    labels: Sequence[str]
    zero: float = 0.0
    quartiles: Sequence[float] = ()


@dataclass(frozen=True)
class PlotPoint:
    """A point with its interval in a row of its own; hollow and grey unless it is `filled`."""

    name: str
    x: float
    low: float
    high: float
    filled: bool
    value: str  #: its number, on the right
    ends: str


def picture(
    parts: Sequence[PlotLine] | Sequence[PlotPoint] | PlotBars,
    xlabel: str,
    ylabel: str = "",
    xticks: Sequence[float] = (),
) -> str:
    """Draw lines, bars, or points with intervals on their axes."""
    if not isinstance(parts, PlotBars) and not (lines := [part for part in parts if isinstance(part, PlotLine)]):
        return _points([part for part in parts if isinstance(part, PlotPoint)], xlabel)
    left, right, start, wide, deep, inset = 44, 468, 26, 480, 0, 20
    steps: Sequence[float] = ()
    if isinstance(parts, PlotBars):
        deep, inset, xticks, x_ends = 14, 0, parts.edges[::2], (parts.edges[0], parts.edges[-1])
        top = max([*parts.heights, 0.01]) * 1.12
    else:
        wide += round(min(max(len(line.name) for line in lines), 20) * 7.5)
        x_ends = min(x for x, *_ends in lines[0].points), max(x for x, *_ends in lines[0].points)
        top = (
            max((end for line in lines for _x, *ends in line.points for end in ends if isfinite(end)), default=0.0)
            or 1.0
        )
        steps = ticks(top * 1.12, 4)
        top = max(top * 1.12, steps[-1])
    x, y = scale(*x_ends, left + inset, right - inset), scale(0.0, top, 214 - deep, start)
    drawn = [_stroke(left, y(step), right, y(step), 0.25 if step else 0.5) for step in steps or [0.0]]
    drawn += [label(left - 7, y(step) + 4, f"{step:.6g}", anchor="end") for step in steps]
    drawn += [label(x(at), 230, f"{at:.6g}") for at in _apart(sorted(xticks), x, 26)]
    drawn += [label(left, 13, ylabel, anchor="start"), label((left + right) / 2, 246, xlabel)]
    drawn += _bars(parts, x, y) if isinstance(parts, PlotBars) else _lines(lines, x, y)
    return document(drawn, wide, 250)


def _lines(lines: Sequence[PlotLine], x: Scale, y: Scale) -> list[str]:
    drawn, ends = [], []
    for at, line in enumerate(lines):
        colour, dash = COLOURS[at % len(COLOURS)], DASHES[at % len(DASHES)]
        points = [point for point in line.points if isfinite(point[1])]
        banded = [point for point in points if isfinite(point[2])]
        if banded:
            edge = _path(
                [(k, high) for k, _y, _low, high in banded] + [(k, low) for k, _y, low, _high in reversed(banded)], x, y
            )
            # A band of one point has no width: its outline shows it.
            drawn.append(
                f'<polygon points="{edge}" fill="{colour}" fill-opacity="0.18" stroke="{colour}" stroke-opacity="0.18"/>'
            )
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        path = _path([(k, mean) for k, mean, *_ends in points], x, y)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
        shown = [point for point in points if point[0] in line.marked]
        drawn += [_dot(x(k), y(mean), colour) for k, mean, *_ends in shown]
        apart = _apart([point[0] for point in shown], x, 42)
        for k, mean, _low, high in shown:
            if k in apart:
                drawn.append(label(x(k), y(high if isfinite(high) else mean) - 7, f"{mean:.3f}", strong=colour))
        if line.name and points:
            ends.append((y(points[-1][1]), x(line.points[-1][0]) + 10, line.name, colour))
    last = 1e9
    for height, place, name, colour in sorted(ends, reverse=True):  # from the lowest up, none upon another
        last = min(height, last - 15)
        drawn.append(label(place, last + 4, name, anchor="start", strong=colour))
    return drawn


def _bars(bars: PlotBars, x: Scale, y: Scale) -> list[str]:
    drawn, bottom = [], y(0.0)
    for at, (height, words) in enumerate(zip(bars.heights, bars.labels, strict=True)):
        left, right = x(bars.edges[at]), x(bars.edges[at + 1])
        zero = min(bars.zero, height) if at == 0 else 0.0
        for low, high, look in ((0.0, zero, f'fill="{QUIET}" fill-opacity="0.75"'), (zero, height, f'fill="{ACCENT}"')):
            if high > low:
                size = f'width="{right - left - 3:.1f}" height="{y(low) - y(high):.1f}"'
                drawn.append(f'<rect x="{left + 1.5:.1f}" y="{y(high):.1f}" {size} {look}/>')
        drawn.append(label((left + right) / 2, y(height) - 5, words) if height else "")
    if bars.quartiles and isfinite(bars.quartiles[0]):
        low, middle, high = map(x, bars.quartiles)
        drawn += [_bar(low, high, bottom + 8, ACCENT), _dot(middle, bottom + 8, ACCENT)]
    return drawn


def _points(points: Sequence[PlotPoint], xlabel: str) -> str:
    reach = reach_of([end for point in points for end in (point.x, point.low, point.high)]) * 1.08
    left = min(max([len(point.name) for point in points], default=0) * LETTER + 22, 374)
    right, bottom = left + 298, 14 + ROW * len(points)
    x = scale(-reach, reach, left, right)
    steps = sorted({step for tick in ticks(reach, 3) for step in (tick, -tick)})
    drawn = [_stroke(x(step), 8, x(step), bottom, 0.2 if step else 0.9) for step in steps]
    drawn += [label(x(step), bottom + 16, f"{step:+.4g}" if step else "0") for step in steps]
    drawn.append(label((left + right) / 2, bottom + 34, xlabel))
    for at, point in enumerate(points):
        y, colour = 14 + ROW * (at + 0.5), QUIET if not point.filled else ACCENT if point.x > 0 else OTHER
        drawn.append(label(left - 14, y + 4, point.name, anchor="end"))
        if isfinite(point.low):
            drawn.append(_bar(x(point.low), x(point.high), y, colour))
            drawn.append(label(right + 256, y + 4, point.ends, anchor="end"))
        drawn.append(_dot(x(point.x), y, colour, 5, hollow=not point.filled))
        drawn.append(label(right + 14, y + 4, point.value, anchor="start"))
    return document(drawn, round(right + 260), bottom + 42)


def strip(value: float, low: float, high: float, start: float, end: float) -> str:
    """Draw a value and its interval on a line between two ends, with a mark at 0 if it lies between them."""
    x, middle = scale(start, end, 5, STRIP - 5), 9
    about_0 = start < 0
    drawn = [_stroke(x(0), 1, x(0), 17, 0.8) if about_0 else _stroke(5, middle, STRIP - 5, middle, 0.35)]
    if isfinite(low):
        drawn.append(_bar(x(max(low, start)), x(min(high, end)), middle, ACCENT, 4 if about_0 else 9))
    at = x(min(max(value, start), end))
    drawn.append(
        _dot(at, middle, ACCENT) if about_0 else f'<path d="M{at:.1f} 2V16" stroke="{ACCENT}" stroke-width="2.5"/>'
    )
    return document(drawn, STRIP, 2 * middle, letters=False)


def ticks(top: float, most: int = 5, low: float = 0.0) -> list[float]:
    """Round numbers from `low` to `top`, at most so many steps.

    >>> ticks(1.0), ticks(0.31), ticks(50)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.1, 0.2, 0.3], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    """
    if not top > low:
        return [low]
    unit = 10.0 ** floor(log10((top - low) / most))
    step = next(step * unit for step in (1, 2, 2.5, 5, 10, 20) if (top - low) / (step * unit) <= most * (1 + 1e-9))
    numbers = range(ceil(low / step - 1e-9), floor(top / step + 1e-9) + 1)
    return [float(f"{number * step:.12g}") for number in numbers]


def reach_of(ends: Sequence[float]) -> float:
    """The largest distance from 0; 1 if there is none."""
    return max((abs(end) for end in ends if isfinite(end)), default=0.0) or 1.0


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return a function that gives the places of the numbers from `low` to `high` between two ends."""
    if high == low:
        return lambda _value: (start + end) / 2
    return lambda value: start + (end - start) * (value - low) / (high - low)


def document(parts: Sequence[str], width: int, height: int, *, letters: bool = True) -> str:
    """Return the picture made of some parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    font = f' font-family="{FONT}" font-size="12"' if letters else ""
    return f"{head}{font}>{''.join(parts)}</svg>"


def label(x: float, y: float, words: str, *, anchor: str = "middle", strong: str = "") -> str:
    """Return text, escaped; `strong` is a colour in which it is bold."""
    look = f'fill="{strong}" font-weight="600"' if strong else f'fill="{QUIET}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {look}>{html.escape(words)}</text>'


def _path(points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> str:
    return " ".join(f"{x(across):.1f},{y(max(up, 0.0)):.1f}" for across, up in points)


def _stroke(x1: float, y1: float, x2: float, y2: float, opacity: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{QUIET}" stroke-opacity="{opacity}"/>'


def _dot(x: float, y: float, colour: str, radius: float = 4, *, hollow: bool = False) -> str:
    look = f'fill="#888888" fill-opacity="0.15" stroke="{colour}" stroke-width="1.5"' if hollow else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {look}/>'


def _bar(left: float, right: float, y: float, colour: str, width: float = 4) -> str:
    return f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{colour}" stroke-width="{width}" stroke-opacity="0.5"/>'


def _apart(places: Sequence[float], x: Scale, least: float) -> list[float]:
    """Those that leave room between each other, the last one among them."""
    kept: list[float] = []
    for place in reversed(places):
        if not kept or x(kept[-1]) - x(place) >= least:
            kept.append(place)
    return kept[::-1]
