"""Pictures as SVG (`svg.jinja`); what is shown by colour is shown by a dash, a sign or
words as well.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips
`<svg>` from untrusted notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import floor, isfinite, log10
from typing import Any

from recnb.display.style import ACCENT, COLOURS, DASHES, QUIET
from recnb.display.templates import macro
from recnb.display.text import one_line, short

#: A place with a mean and the ends of its interval.
Point = Sequence[float]


def curves(
    lines: Sequence[tuple[str, Sequence[Point]]],
    xlabel: str,
    ylabel: str,
    marked: Collection[float] = (),
    words: Mapping[float, str] | None = None,
) -> str:
    """Draw a line with the band of its intervals for each name, which stands where it
    ends; `marked` places have a dot and the value.

    `words` name the places, which are numbers without them.
    """
    places = [k for k, *_ends in lines[0][1]]
    every = [end for _name, line in lines for _k, *ends in line for end in ends]
    top = 1.12 * reach_of(every)
    bottom = 1.12 * min([0.0, *(end for end in every if isfinite(end))])
    x = _scale(places[0], places[-1], 64, 448)
    if bottom > -1e-9:  # the last digits of a sum
        bottom = 0.0
    else:
        top = 1.12 * max([0.0, *(end for end in every if isfinite(end))])
    y = _scale(bottom, top, 214, 26)
    drawn, names = [], []
    for at, (name, line) in enumerate(lines):
        shown = [point for point in line if isfinite(point[1])]
        banded = [point for point in shown if isfinite(point[2])]
        edge = [(k, high) for k, _y, _low, high in banded] + [
            (k, low) for k, _y, low, _high in reversed(banded)
        ]
        band, path = (
            " ".join(f"{x(k):.1f},{y(max(up, bottom)):.1f}" for k, up, *_ends in one)
            for one in (edge, shown)
        )
        dots = [
            (k, mean, high if isfinite(high) else mean)
            for k, mean, _low, high in shown
            if k in marked
        ]
        numbered = _apart({k for k, *_ends in dots}, x, 42)
        look = {
            "colour": COLOURS[at % len(COLOURS)],
            "dash": DASHES[at % len(DASHES)],
            "band": band,
            "path": path,
        }
        drawn.append(look | {"marked": [(*dot, dot[0] in numbered) for dot in dots]})
        names += (
            [(y(shown[-1][1]), one_line(name, 20), look["colour"])]
            if shown and name
            else []
        )
    placed, last = [], 1e9
    for height, name, colour in sorted(
        names, reverse=True
    ):  # from the lowest up, none upon another
        last = min(height, last - 15)
        placed.append((name, last, colour))
    width = (480 if words is None else 492) + round(
        7.5 * min(max(len(name) for name, _line in lines), 20)
    )
    ticked = _apart(
        {places[0], *(words or marked), places[-1]}, x, 26 if words is None else 76
    )
    told = [
        (
            place,
            short(place) if words is None else one_line(words[place], 11).rstrip("…"),
        )
        for place in ticked
    ]
    axes = {
        "x": x,
        "y": y,
        "steps": ticks_between(bottom, top, 4),
        "places": told,
        "xlabel": xlabel,
        "ylabel": ylabel,
    }
    return macro(
        "display/svg.jinja",
        "curves",
        axes | {"lines": drawn, "names": placed, "width": width},
    )


def bars(
    spread: Mapping[str, Any], labels: Sequence[str], xlabel: str, ylabel: str
) -> str:
    """Draw the bars of a distribution; values at its lower end are set off, and the
    quartiles stand below.
    """
    edges, shares = spread["edges"], spread["shares"]
    grey = min(spread["n_bottom"] / max(spread["n_users"], 1), shares[0])
    parts = [(*edges[:2], 0.0, grey, QUIET), (*edges[:2], grey, shares[0], ACCENT)]
    parts += [
        (*edges[at : at + 2], 0.0, share, ACCENT)
        for at, share in enumerate(shares)
        if at
    ]
    told = [
        ((edges[at] + edges[at + 1]) / 2, share, labels[at])
        for at, share in enumerate(shares)
        if share
    ]
    x, y = (
        _scale(edges[0], edges[-1], 44, 468),
        _scale(0, 1.12 * max(*shares, 0.01), 200, 26),
    )
    places = [(edge, short(edge)) for edge in edges[::2]]
    axes = {
        "x": x,
        "y": y,
        "steps": [0.0],
        "places": places,
        "xlabel": xlabel,
        "ylabel": ylabel,
    }
    drawn = [part for part in parts if part[3] > part[2]]
    return macro(
        "display/svg.jinja",
        "bars",
        axes | {"bars": drawn, "labels": told, "quartiles": spread["quartiles"]},
    )


def forest(rows: Sequence[tuple[str, Point, str, str, str]], xlabel: str) -> str:
    """Draw a value with its interval in each row, about 0: its name, the three numbers,
    the colour of a finding ("" if it is none), and its words.
    """
    reach = 1.08 * reach_of(end for _name, ends, *_words in rows for end in ends)
    left = min(6.7 * max((len(name) for name, *_rest in rows), default=0) + 22, 374)
    steps = sorted({step for tick in ticks(reach, 3) for step in (tick, -tick)})
    about = {
        "x": _scale(-reach, reach, left, left + 298),
        "left": left,
        "right": left + 298,
        "steps": steps,
    }
    return macro(
        "display/svg.jinja",
        "forest",
        about | {"bottom": 14 + 24 * len(rows), "rows": rows, "xlabel": xlabel},
    )


def strip(value: float, low: float, high: float, start: float, end: float) -> str:
    """Draw a value and its interval on a line between two ends, or about 0 if it lies
    between them; in few bytes.
    """
    x = _scale(start, end, 5, 145)
    at, left, right = (
        f"{x(min(max(one, start), end)):.4g}"
        for one in (value, low if isfinite(low) else value, high)
    )
    axis, wide, mark = (
        ("M75 1V17", 4, f"M{at} 9h0") if start < 0 else ("M5 9H145", 9, f"M{at} 2V16")
    )
    band = (
        f'<path d="M{left} 9H{right}" stroke-width="{wide}" opacity=".5"/>'
        if isfinite(low)
        else ""
    )
    look = (
        'stroke-width="8" stroke-linecap="round"' if start < 0 else 'stroke-width="2.5"'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="150" height="18" stroke="{ACCENT}">'
    return f'{head}<path d="{axis}" opacity=".4"/>{band}<path d="{mark}" {look}/></svg>'


def ticks(top: float, most: int) -> list[float]:
    """Return round numbers from 0 to `top`, at most so many steps."""
    unit = 10.0 ** floor(log10(top / most))
    step = next(
        step * unit
        for step in (1, 2, 2.5, 5, 10)
        if top / (step * unit) <= most * (1 + 1e-9)
    )
    return [float(f"{at * step:.12g}") for at in range(floor(top / step + 1e-9) + 1)]


def ticks_between(bottom: float, top: float, most: int) -> list[float]:
    """Return round numbers from `bottom`, 0 or below, to `top`, 0 among them."""
    steps = ticks(max(-bottom, top), most)
    below = [-step for step in steps[:0:-1] if step <= -bottom]
    return below + [step for step in steps if step <= top]


def reach_of(ends: Iterable[float]) -> float:
    """Return the largest distance from 0; 1 if there is none."""
    return max((abs(end) for end in ends if isfinite(end)), default=0.0) or 1.0


def _scale(
    low: float, high: float, start: float, end: float
) -> Callable[[float], float]:
    """Return a function that gives the place of a number in a picture; of a single
    number, the middle.
    """
    if high == low:
        return lambda _value: (start + end) / 2
    return lambda value: start + (end - start) * (value - low) / (high - low)


def _apart(
    places: Collection[float], x: Callable[[float], float], least: float
) -> list[float]:
    """Return the places that leave room between each other, the last one among them."""
    kept: list[float] = []
    for place in sorted(places, reverse=True):
        if not kept or x(kept[-1]) - x(place) >= least:
            kept.append(place)
    return kept[::-1]
