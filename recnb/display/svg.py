"""Small pictures drawn by hand as SVG: a curve with its band, bars of a distribution, a mean with its interval.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips `<svg>` from notebooks that
are not trusted. An image does not see the page around it, so its colours are of middle lightness and are read on
white as on near black. The same numbers give the same picture to the byte.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from math import floor, isfinite, log10

from recnb.display.language import _
from recnb.display.text import percent, short

ACCENT = "#2f7fc1"  # contrast 4.3 on white, 4.4 on #111111
QUIET = "#7a7a7a"  # contrast 4.3 on white, 4.4 on #111111
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

WIDTH, HEIGHT, STRIP = 480, 250, 150
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 36


def ticks(top: float, most: int = 5) -> list[float]:
    """Round numbers from 0 to `top`, at most so many steps.

    >>> ticks(1.0), ticks(0.31), ticks(50)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.1, 0.2, 0.3], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    """
    if not top > 0:
        return [0.0]
    scale = 10.0 ** floor(log10(top / most))
    step = next(one * scale for one in (1, 2, 2.5, 5, 10, 20) if top / (one * scale) <= most * (1 + 1e-9))
    return [float(f"{index * step:.12g}") for index in range(floor(top / step * (1 + 1e-9)) + 1)]


def curve(
    k: Sequence[int],
    value: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    marked: Sequence[int] = (),
    name: str = "",
) -> str:
    """A mean against the cut-off, with the band of its intervals; the cut-offs in `marked` have dots and numbers."""
    ceiling = max([one for one in (*value, *high) if isfinite(one)], default=0.0) or 1.0
    steps = ticks(ceiling * 1.12, 4)
    top = max(ceiling * 1.12, steps[-1])
    deepest = max(k)

    def x(one: float) -> float:
        return LEFT + 22 + (WIDTH - LEFT - RIGHT - 46) * ((one - 1) / (deepest - 1) if deepest > 1 else 0.5)

    def y(one: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * one / top

    parts = [_grid(steps, y), label(LEFT, 13, name, anchor="start")]
    if isfinite(low[0]):
        there = [*zip(k, high, strict=True), *reversed(list(zip(k, low, strict=True)))]
        points = " ".join(f"{x(at):.1f},{y(end):.1f}" for at, end in there)
        # A band of one point has no width: its outline shows it.
        parts.append(f'<polygon points="{points}" fill="{ACCENT}" fill-opacity="0.22" {_OUTLINE}/>')
    line = " ".join(f"{x(at):.1f},{y(mean):.1f}" for at, mean in zip(k, value, strict=True))
    parts.append(f'<polyline points="{line}" fill="none" stroke="{ACCENT}" stroke-width="2" stroke-linejoin="round"/>')
    shown = _apart([one for one in (1, *sorted(marked)) if one in k], x, 26)
    parts += [label(x(one), HEIGHT - BOTTOM + 16, str(one)) for one in shown]
    parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, _("cut-off k")))
    for one in marked:
        if one in k:
            parts.append(f'<circle cx="{x(one):.1f}" cy="{y(value[k.index(one)]):.1f}" r="3.5" fill="{ACCENT}"/>')
    for one in _apart([one for one in sorted(marked) if one in k], x, 42):
        at = k.index(one)
        above = high[at] if isfinite(high[at]) else value[at]
        parts.append(label(x(one), y(above) - 7, f"{value[at]:.3f}", strong=True))
    return document(parts)


def bars(
    edges: Sequence[float], shares: Sequence[float], quartiles: Sequence[float], share_of_zero: float, name: str = ""
) -> str:
    """Bars of a distribution over users, what is exactly 0 set off by an outline; below them the quartiles."""
    top = max([*shares, 0.01]) * 1.12
    bottom = HEIGHT - BOTTOM - 14
    first, last = edges[0], edges[-1]

    def x(one: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (one - first) / (last - first)

    def y(one: float) -> float:
        return bottom - (bottom - TOP) * one / top

    parts = [label(LEFT, 13, _("share of users"), anchor="start")]
    for lower, upper, share in zip(edges[:-1], edges[1:], shares, strict=True):
        left, wide = x(lower) + 1.5, x(upper) - x(lower) - 3
        zero = min(share_of_zero, share) if lower == first else 0.0
        if zero:
            parts.append(_box(left, y(zero), wide, bottom - y(zero), f'fill="{QUIET}" fill-opacity="0.75"'))
        if share > zero:
            parts.append(_box(left, y(share), wide, y(zero) - y(share), f'fill="{ACCENT}"'))
        if share:
            parts.append(label((x(lower) + x(upper)) / 2, y(share) - 5, percent(share)))
    parts.append(stroke(LEFT, bottom, WIDTH - RIGHT, bottom))
    if isfinite(quartiles[0]):
        lower, middle, upper = map(x, quartiles)
        parts.append(
            f'<path d="M{lower:.1f} {bottom + 8}H{upper:.1f}" stroke="{ACCENT}" stroke-width="4" stroke-opacity="0.5"/>'
        )
        parts.append(f'<circle cx="{middle:.1f}" cy="{bottom + 8}" r="4" fill="{ACCENT}"/>')
    parts += [label(x(edge), HEIGHT - BOTTOM + 16, short(edge)) for edge in edges[::2]]
    parts.append(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, name))
    return document(parts)


def strip(mean: float, low: float, high: float, top: float) -> str:
    """A mean and its interval on a line from 0 to the most there can be."""
    middle = 9

    def x(one: float) -> float:
        return 4 + (STRIP - 8) * one / top

    parts = [f'<path d="M4 {middle}H{STRIP - 4}" stroke="{QUIET}" stroke-opacity="0.45"/>']
    if isfinite(low):
        parts.append(_box(x(low), middle - 5, x(high) - x(low), 10, f'fill="{ACCENT}" fill-opacity="0.45"'))
    parts.append(_box(x(mean) - 1.25, middle - 7, 2.5, 14, f'fill="{ACCENT}"'))
    return document(parts, STRIP, 2 * middle)


def gap(value: float, low: float, high: float, reach: float) -> str:
    """A difference and its interval about a line at 0 in the middle; `reach` is what stands at either end."""
    middle, half = 9, STRIP / 2

    def x(one: float) -> float:
        return half + (half - 6) * max(-1.0, min(1.0, one / reach))

    parts = [f'<path d="M{half:.1f} 1V{2 * middle - 1}" stroke="{QUIET}" stroke-opacity="0.8"/>']
    if isfinite(low):
        parts.append(
            f'<path d="M{x(low):.1f} {middle}H{x(high):.1f}" stroke="{ACCENT}" stroke-width="3" stroke-opacity="0.5"/>'
        )
    parts.append(f'<circle cx="{x(value):.1f}" cy="{middle}" r="3.5" fill="{ACCENT}"/>')
    return document(parts, STRIP, 2 * middle)


_OUTLINE = f'stroke="{ACCENT}" stroke-width="1" stroke-opacity="0.22"'


def document(parts: Sequence[str], width: int = WIDTH, height: int = HEIGHT) -> str:
    """Return the picture made of some parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'{head} font-family="{FONT}" font-size="12">{"".join(parts)}</svg>'


def _grid(steps: Sequence[float], y: Callable[[float], float]) -> str:
    lines = [stroke(LEFT, y(step), WIDTH - RIGHT, y(step), 0.5 if step == 0 else 0.25) for step in steps]
    return "".join([*lines, *(label(LEFT - 7, y(one) + 4, short(one), anchor="end") for one in steps)])


def stroke(x1: float, y1: float, x2: float, y2: float, opacity: float = 0.5) -> str:
    """Return a straight line."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{QUIET}" stroke-opacity="{opacity}"/>'


def _box(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


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
