"""Pictures as SVG: curves with bands, points with intervals, bars; and a value with its interval as a strip.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips `<svg>` from notebooks that are not
trusted. An image does not see the page around it, so its colours are of middle lightness and are read on white as on near
black. What is shown by colour is shown by a dash, a sign or words as well. The same numbers give the same picture to the byte.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from math import floor, isfinite, log10

from recnb.display.text import one_line

ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
OTHER = "#c2601a"
COLOURS = (ACCENT, OTHER, "#3b8f55", "#9a62b8", "#a1801f", "#bf5a7d", "#4a8f96", QUIET)
DASHES = ("", "7 4", "2 4", "10 3 2 3", "4 2", "1 3", "12 4", "")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

#: The sides of curves and bars without names of lines, and the height of a row of points.
LEFT, RIGHT, TOP, BOTTOM, ROW = 44, 468, 26, 214, 24

#: A place with a mean and the ends of its interval.
Point = Sequence[float]


def curves(lines: Sequence[tuple[str, Sequence[Point]]], xlabel: str, ylabel: str, marked: Sequence[float] = ()) -> str:
    """Draw a line with the band of its intervals for each name, which stands where it ends; `marked` places have a dot and the value."""
    points = [point for _name, line in lines for point in line]
    top = 1.12 * (max((end for _x, *ends in points for end in ends if isfinite(end)), default=0.0) or 1.0)
    steps = ticks(top, 4)
    x, y = _scale(points[0][0], points[-1][0], LEFT + 20, RIGHT - 20), _scale(0, max(top, steps[-1]), BOTTOM, TOP)
    drawn, names = _axes(xlabel, ylabel, x, y, _apart({points[0][0], *marked, points[-1][0]}, x, 26), steps), []
    for at, (name, line) in enumerate(lines):
        colour, dash = COLOURS[at % len(COLOURS)], DASHES[at % len(DASHES)]
        shown = [point for point in line if isfinite(point[1])]
        banded = [point for point in shown if isfinite(point[2])]
        edge = [(k, high) for k, _y, _low, high in banded] + [(k, low) for k, _y, low, _high in reversed(banded)]
        places = [" ".join(f"{x(k):.1f},{y(max(up, 0)):.1f}" for k, up, *_ends in path) for path in (edge, shown)]
        # A band of one point has no width: its outline shows it.
        drawn.append(f'<g stroke="{colour}"><polygon points="{places[0]}" fill="{colour}" opacity="0.18"/>')
        drawn.append(f'<polyline points="{places[1]}" fill="none" stroke-width="2" stroke-dasharray="{dash}"/></g>')
        told = _apart({k for k, *_ends in shown if k in marked}, x, 42)
        for k, mean, _low, high in shown:
            drawn += [_dot(x(k), y(mean), colour)] * (k in marked)
            drawn += [_words(x(k), y(high if isfinite(high) else mean) - 7, f"{mean:.3f}", colour)] * (k in told)
        if shown and name:
            names.append((y(shown[-1][1]), one_line(name, 20), colour))
    last = 1e9
    for height, name, colour in sorted(names, reverse=True):  # from the lowest up, none upon another
        last = min(height, last - 15)
        drawn.append(_words(RIGHT - 10, last + 4, name, colour, anchor="start"))
    return _picture(drawn, 480 + round(7.5 * min(max(len(name) for name, _line in lines), 20)), 250)


def bars(
    edges: Sequence[float],
    shares: Sequence[float],
    labels: Sequence[str],
    xlabel: str,
    ylabel: str,
    *,
    zero: float,
    quartiles: Sequence[float],
) -> str:
    """Draw bars from edge to edge; `zero` is the part of the first that is set off, and the quartiles stand below."""
    bottom = BOTTOM - 14
    x, y = _scale(edges[0], edges[-1], LEFT, RIGHT), _scale(0, 1.12 * max(*shares, 0.01), bottom, TOP)
    drawn = _axes(xlabel, ylabel, x, y, edges[::2])
    for at, (share, words) in enumerate(zip(shares, labels, strict=True)):
        left, wide, grey = x(edges[at]) + 1.5, x(edges[at + 1]) - x(edges[at]) - 3, 0 if at else min(zero, share)
        for low, high, colour in ((0.0, grey, QUIET), (grey, share, ACCENT)):
            size = f'y="{y(high):.1f}" width="{wide:.1f}" height="{y(low) - y(high):.1f}"'
            drawn += [f'<rect x="{left:.1f}" {size} fill="{colour}"/>'] * (high > low)
        drawn += [_words(left + wide / 2, y(share) - 5, words)] * (share > 0)
    if isfinite(quartiles[0]):
        low, middle, high = map(x, quartiles)
        drawn += [_bar(low, high, bottom + 8, ACCENT), _dot(middle, bottom + 8, ACCENT)]
    return _picture(drawn, 480, 250)


def forest(rows: Sequence[tuple[str, Point, bool, str, str]], xlabel: str) -> str:
    """Draw a value with its interval in each row, about 0: its name, the three numbers, whether it is filled, and its words."""
    reach = 1.08 * reach_of([end for _name, ends, *_words in rows for end in ends])
    left = min(6.7 * max((len(name) for name, *_rest in rows), default=0) + 22, 374)
    right, bottom = left + 298, 14 + ROW * len(rows)
    x, drawn = _scale(-reach, reach, left, right), []
    for step in sorted({step for tick in ticks(reach, 3) for step in (tick, -tick)}):
        drawn.append(_line(x(step), 8, x(step), bottom, 0.2 if step else 0.9))
        drawn.append(_words(x(step), bottom + 16, f"{step:+.4g}" if step else "0"))
    drawn.append(_words((left + right) / 2, bottom + 34, xlabel))
    for at, (name, (value, low, high), filled, words, ends) in enumerate(rows):
        y, colour = 14 + ROW * (at + 0.5), QUIET if not filled else ACCENT if value > 0 else OTHER
        drawn.append(_words(left - 14, y + 4, name, anchor="end"))
        if isfinite(low):
            drawn += [_bar(x(low), x(high), y, colour), _words(right + 256, y + 4, ends, anchor="end")]
        drawn += [_dot(x(value), y, colour, 5, hollow=not filled), _words(right + 14, y + 4, words, anchor="start")]
    return _picture(drawn, round(right + 260), bottom + 42)


def strip(value: float, low: float, high: float, start: float, end: float) -> str:
    """Draw a value and its interval on a line between two ends, or about 0 if it lies between them; in few bytes."""
    x = _scale(start, end, 5, 145)
    at, left, right = (f"{x(min(max(one, start), end)):.4g}" for one in (value, low if isfinite(low) else value, high))
    axis, wide, mark = ("M75 1V17", 4, f"M{at} 9h0") if start < 0 else ("M5 9H145", 9, f"M{at} 2V16")
    band = f'<path d="M{left} 9H{right}" stroke-width="{wide}" opacity=".5"/>' if isfinite(low) else ""
    look = 'stroke-width="8" stroke-linecap="round"' if start < 0 else 'stroke-width="2.5"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="150" height="18" stroke="{ACCENT}">'
        f'<path d="{axis}" opacity=".4"/>{band}<path d="{mark}" {look}/></svg>'
    )


def ticks(top: float, most: int = 5) -> list[float]:
    """Return round numbers from 0 to `top`, at most so many steps.

    >>> ticks(1.0), ticks(0.31), ticks(50)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.1, 0.2, 0.3], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    """
    unit = 10.0 ** floor(log10(top / most))
    step = next(step * unit for step in (1, 2, 2.5, 5, 10) if top / (step * unit) <= most * (1 + 1e-9))
    return [float(f"{at * step:.12g}") for at in range(floor(top / step + 1e-9) + 1)]


def reach_of(ends: Sequence[float]) -> float:
    """Return the largest distance from 0; 1 if there is none."""
    return max((abs(end) for end in ends if isfinite(end)), default=0.0) or 1.0


#: Where a number stands in a picture.
Scale = Callable[[float], float]


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    if high == low:
        return lambda _value: (start + end) / 2
    return lambda value: start + (end - start) * (value - low) / (high - low)


def _axes(
    xlabel: str, ylabel: str, x: Scale, y: Scale, places: Sequence[float], steps: Sequence[float] = ()
) -> list[str]:
    drawn = [_line(LEFT, y(step), RIGHT, y(step), 0.25 if step else 0.5) for step in steps or [0.0]]
    drawn += [_words(LEFT - 7, y(step) + 4, f"{step:.6g}", anchor="end") for step in steps]
    drawn += [_words(x(place), 230, f"{place:.6g}") for place in places]
    return [*drawn, _words(LEFT, 13, ylabel, anchor="start"), _words((LEFT + RIGHT) / 2, 246, xlabel)]


def _picture(parts: Sequence[str], width: int, height: int) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" font-size="12">{"".join(parts)}</svg>'


def _words(x: float, y: float, words: str, strong: str = "", *, anchor: str = "middle") -> str:
    look = f'fill="{strong}" font-weight="600"' if strong else f'fill="{QUIET}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {look}>{html.escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, opacity: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{QUIET}" stroke-opacity="{opacity}"/>'


def _dot(x: float, y: float, colour: str, radius: float = 4, *, hollow: bool = False) -> str:
    look = f'fill="#888888" fill-opacity="0.15" stroke="{colour}" stroke-width="1.5"' if hollow else f'fill="{colour}"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {look}/>'


def _bar(left: float, right: float, y: float, colour: str) -> str:
    return f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="{colour}" stroke-width="4" stroke-opacity="0.5"/>'


def _apart(places: set[float], x: Scale, least: float) -> list[float]:
    """Return the places that leave room between each other, the last one among them."""
    kept: list[float] = []
    for place in sorted(places, reverse=True):
        if not kept or x(kept[-1]) - x(place) >= least:
            kept.append(place)
    return kept[::-1]
