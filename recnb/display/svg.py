"""Small pictures drawn by hand as SVG: a curve with its band, bars of a distribution, a mean with its interval.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips `<svg>` from notebooks that
are not trusted. An image does not see the page around it, so its colours are of middle lightness and are read on
white as on near black. The same numbers give the same picture to the byte.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from math import ceil, floor, isfinite, log10

from recnb.display.language import _
from recnb.display.text import percent, short

ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
#: Of middle lightness; each line has a dash or a mark, and a name, of its own as well.
COLOURS = (ACCENT, "#c2601a", "#3b8f55", "#9a62b8", "#a1801f", "#bf5a7d", "#4a8f96", QUIET)
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

WIDTH, HEIGHT, STRIP = 480, 250, 150
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 36


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


def curve(
    k: Sequence[int],
    value: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    marked: Sequence[int] = (),
    name: str = "",
) -> str:
    """A mean against the cut-off, with the band of its intervals; the cut-offs in `marked` have dots and numbers."""
    ceiling = max(filter(isfinite, (*value, *high)), default=0.0) or 1.0
    steps = ticks(ceiling * 1.12, 4)
    y = scale(max(ceiling * 1.12, steps[-1]), HEIGHT - BOTTOM, TOP)
    deepest = max(k)

    def x(cutoff: float) -> float:
        return LEFT + 22 + (WIDTH - LEFT - RIGHT - 46) * ((cutoff - 1) / (deepest - 1) if deepest > 1 else 0.5)

    parts = [_grid(steps, y), label(LEFT, 13, name, anchor="start")]
    if isfinite(low[0]):
        band = [*zip(k, high, strict=True), *reversed(list(zip(k, low, strict=True)))]
        points = " ".join(f"{x(cutoff):.1f},{y(end):.1f}" for cutoff, end in band)
        # A band of one point has no width: its outline shows it.
        outline = f'stroke="{ACCENT}" stroke-width="1" stroke-opacity="0.22"'
        parts.append(f'<polygon points="{points}" fill="{ACCENT}" fill-opacity="0.22" {outline}/>')
    line = " ".join(f"{x(cutoff):.1f},{y(mean):.1f}" for cutoff, mean in zip(k, value, strict=True))
    parts.append(f'<polyline points="{line}" fill="none" stroke="{ACCENT}" stroke-width="2" stroke-linejoin="round"/>')
    labelled = _apart([cutoff for cutoff in (1, *sorted(marked)) if cutoff in k], x, 26)
    parts += [label(x(cutoff), HEIGHT - BOTTOM + 16, str(cutoff)) for cutoff in labelled]
    parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, _("cut-off k")))
    places = {cutoff: k.index(cutoff) for cutoff in marked if cutoff in k}
    parts += [_dot(x(cutoff), f"{y(value[place]):.1f}", 3.5) for cutoff, place in places.items()]
    for cutoff in _apart(sorted(places), x, 42):
        mean, end = value[places[cutoff]], high[places[cutoff]]
        parts.append(label(x(cutoff), y(end if isfinite(end) else mean) - 7, f"{mean:.3f}", strong=True))
    return document(parts)


def bars(
    edges: Sequence[float], shares: Sequence[float], quartiles: Sequence[float], share_of_zero: float, name: str = ""
) -> str:
    """Bars of a distribution over users, what is exactly 0 set off by an outline; below them the quartiles."""
    bottom = HEIGHT - BOTTOM - 14
    x = scale(edges[-1], LEFT, WIDTH - RIGHT, edges[0])
    y = scale(max([*shares, 0.01]) * 1.12, bottom, TOP)
    parts = [label(LEFT, 13, _("share of users"), anchor="start")]
    for lower, upper, share in zip(edges[:-1], edges[1:], shares, strict=True):
        left, wide = x(lower) + 1.5, x(upper) - x(lower) - 3
        zero = min(share_of_zero, share) if lower == edges[0] else 0.0
        if zero:
            parts.append(_box(left, y(zero), wide, bottom - y(zero), f'fill="{QUIET}" fill-opacity="0.75"'))
        if share > zero:
            parts.append(_box(left, y(share), wide, y(zero) - y(share), f'fill="{ACCENT}"'))
        if share:
            parts.append(label((x(lower) + x(upper)) / 2, y(share) - 5, percent(share)))
    parts.append(stroke(LEFT, bottom, WIDTH - RIGHT, bottom))
    if isfinite(quartiles[0]):
        lower, middle, upper = map(x, quartiles)
        parts += [_band(lower, upper, bottom + 8, 4), _dot(middle, bottom + 8, 4)]
    parts += [label(x(edge), HEIGHT - BOTTOM + 16, short(edge)) for edge in edges[::2]]
    parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, name))
    return document(parts)


def strip(mean: float, low: float, high: float, top: float) -> str:
    """A mean and its interval on a line from 0 to the most there can be."""
    middle, x = 9, scale(top, 4, STRIP - 4)
    parts = [f'<path d="M4 {middle}H{STRIP - 4}" stroke="{QUIET}" stroke-opacity="0.45"/>']
    if isfinite(low):
        parts.append(_box(x(low), middle - 5, x(high) - x(low), 10, f'fill="{ACCENT}" fill-opacity="0.45"'))
    parts.append(_box(x(mean) - 1.25, middle - 7, 2.5, 14, f'fill="{ACCENT}"'))
    return document(parts, STRIP, 2 * middle)


def gap(value: float, low: float, high: float, reach: float) -> str:
    """A difference and its interval about a line at 0 in the middle; `reach` is what stands at either end."""
    middle, half = 9, STRIP / 2

    def x(difference: float) -> float:
        return half + (half - 6) * max(-1.0, min(1.0, difference / reach))

    parts = [f'<path d="M{half:.1f} 1V{2 * middle - 1}" stroke="{QUIET}" stroke-opacity="0.8"/>']
    if isfinite(low):
        parts.append(_band(x(low), x(high), middle, 3))
    return document([*parts, _dot(x(value), middle, 3.5)], STRIP, 2 * middle)


def scale(top: float, start: float, end: float, low: float = 0.0) -> Callable[[float], float]:
    """Return a function that gives the places of the numbers from `low` to `top` between two ends."""
    return lambda value: start + (end - start) * (value - low) / (top - low)


def document(parts: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> str:
    """Return the picture made of some parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'{head} font-family="{FONT}" font-size="12">{"".join(parts)}</svg>'


def _grid(steps: Sequence[float], y: Callable[[float], float]) -> str:
    lines = [stroke(LEFT, y(step), WIDTH - RIGHT, y(step), 0.5 if step == 0 else 0.25) for step in steps]
    return "".join([*lines, *(label(LEFT - 7, y(step) + 4, short(step), anchor="end") for step in steps)])


def stroke(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.5) -> str:
    """Return a straight line."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{QUIET}" stroke-opacity="{opacity}"/>'


def _box(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def _dot(x: float, y: float | str, radius: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{ACCENT}"/>'


def _band(left: float, right: float, y: float, width: int) -> str:
    return f'<path d="M{left:.1f} {y}H{right:.1f}" stroke="{ACCENT}" stroke-width="{width}" stroke-opacity="0.5"/>'


def label(x: float, y: float, words: str, *, anchor: str = "middle", strong: bool = False, colour: str = ACCENT) -> str:
    """Return text, escaped; `strong` is bold and in the colour."""
    look = f'fill="{colour}" font-weight="600"' if strong else f'fill="{QUIET}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {look}>{html.escape(words)}</text>'


def _apart(places: Sequence[int], x: Callable[[float], float], least: float) -> list[int]:
    """Those that leave room between each other, the last one among them."""
    kept: list[int] = []
    for place in reversed(places):
        if not kept or x(kept[-1]) - x(place) >= least:
            kept.append(place)
    return kept[::-1]
