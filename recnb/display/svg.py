"""Pictures as SVG (`svg.jinja`).

What is shown by colour is shown by a dash, a sign or words as well.

They enter a page as `<img>` with the picture in the address, because JupyterLab strips
`<svg>` from untrusted notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import ceil, floor, inf, isfinite, log10

from recnb.display.style import ACCENT, COLOURS, DASHES, QUIET
from recnb.display.templates import macro
from recnb.display.text import one_line, short

#: A place with a mean and the ends of its interval.
Point = Sequence[float]
#: From a number to its place in a picture.
Scale = Callable[[float], float]

#: Pixels between the names of two lines, the values of two dots and two numbers on the
#: axis.
NAME_GAP, VALUE_GAP, NUMBER_GAP = 15, 42, 26
#: The room above the highest value of a picture.
ROOM = 1.12


def curves(
    lines: Sequence[tuple[str, Sequence[Point]]],
    xlabel: str,
    ylabel: str,
    marked: Collection[float] = (),
    ticks: Collection[float] = (),
) -> str:
    """Draw a line with the band of its intervals for each name.

    The name stands where the line ends; `marked` places have a dot and the value. The
    axis has the first place, the last, and its `ticks`.
    """
    first_line = lines[0][1]
    first, last = first_line[0][0], first_line[-1][0]
    bottom, top = _range_of(lines)
    # Within the axes of `svg.jinja`, which go from 44 to 468.
    x = _scale(first, last, 64, 448)
    y = _scale(bottom, top, 214, 26)
    drawn = []
    names = []
    for index, (name, line) in enumerate(lines):
        shown = [point for point in line if isfinite(point[1])]
        colour = COLOURS[index % len(COLOURS)]
        drawn.append(
            {
                "colour": colour,
                "dash": DASHES[index % len(DASHES)],
                "band": _path(_edge_of(shown), x, y),
                "path": _path(shown, x, y),
                "marked": _dots_of(shown, marked, x),
            }
        )
        if shown and name:
            names.append((y(shown[-1][1]), one_line(name, 20), colour))
    longest_name = max(len(name) for name, _line in lines)
    places = _with_room({first, *ticks, last}, x, NUMBER_GAP)
    return macro(
        "display/svg.jinja",
        "curves",
        "html",
        {
            "x": x,
            "y": y,
            "steps": steps(bottom, top, 4),
            "places": [(place, short(place)) for place in places],
            "xlabel": xlabel,
            "ylabel": ylabel,
            "lines": drawn,
            "names": _not_upon_another(names),
            "width": 480 + round(7.5 * min(longest_name, 20)),
        },
    )


def _range_of(lines: Sequence[tuple[str, Sequence[Point]]]) -> tuple[float, float]:
    """Return the lowest and the highest number of the axis of values: 0 is on it."""
    ends = []
    for _name, line in lines:
        for _place, *values in line:
            ends += [value for value in values if isfinite(value)]
    bottom = ROOM * min([0.0, *ends])
    if bottom > -1e-9:  # the last digits of a sum
        return 0.0, ROOM * reach_of(ends)
    return bottom, ROOM * max([0.0, *ends])


def _edge_of(line: Sequence[Point]) -> list[Point]:
    """Return the edge of the band of intervals.

    It goes along the upper ends, and back along the lower ones.
    """
    banded = [point for point in line if isfinite(point[2])]
    there = [(place, high) for place, _mean, _low, high in banded]
    back = [(place, low) for place, _mean, low, _high in reversed(banded)]
    return [*there, *back]


def _path(points: Sequence[Point], x: Scale, y: Scale) -> str:
    """Write the points of a line."""
    places = []
    for place, value, *_ends in points:
        places.append(f"{x(place):.1f},{y(value):.1f}")
    return " ".join(places)


def _dots_of(
    line: Sequence[Point], marked: Collection[float], x: Scale
) -> list[tuple[float, float, float, bool]]:
    """Return the dots of a line.

    Place, mean, what the number stands above, and whether there is room for it.
    """
    dots = [point for point in line if point[0] in marked]
    numbered = _with_room({place for place, *_values in dots}, x, VALUE_GAP)
    result = []
    for place, mean, _low, high in dots:
        top = high if isfinite(high) else mean
        result.append((place, mean, top, place in numbered))
    return result


def _not_upon_another(
    names: Iterable[tuple[float, str, str]],
) -> list[tuple[str, float, str]]:
    """Place names at the heights of their lines, from the lowest up."""
    placed = []
    previous = inf
    for height, name, colour in sorted(names, reverse=True):
        previous = min(height, previous - NAME_GAP)
        placed.append((name, previous, colour))
    return placed


def bars(
    *,
    edges: Sequence[float],
    shares: Sequence[float],
    at_lowest: float,
    quartiles: Sequence[float],
    labels: Sequence[str],
    xlabel: str,
    ylabel: str,
) -> str:
    """Draw the bars of a distribution, by bin its share and a label.

    The share at the lowest edge is set off, and the quartiles stand below.
    """
    x = _scale(edges[0], edges[-1], 44, 468)
    y = _scale(0, ROOM * max(*shares, 0.01), 200, 26)
    # Each has its left and right edge, its lower and upper end, and its colour.
    drawn = [(edges[0], edges[1], 0.0, at_lowest, QUIET)]
    named = []
    for index, share in enumerate(shares):
        left, right = edges[index], edges[index + 1]
        start = at_lowest if index == 0 else 0.0
        drawn.append((left, right, start, share, ACCENT))
        if share:
            named.append(((left + right) / 2, share, labels[index]))
    return macro(
        "display/svg.jinja",
        "bars",
        "html",
        {
            "x": x,
            "y": y,
            "steps": [0.0],
            "places": [(edge, short(edge)) for edge in edges[::2]],
            "xlabel": xlabel,
            "ylabel": ylabel,
            "bars": [bar for bar in drawn if bar[3] > bar[2]],
            "labels": named,
            "quartiles": quartiles,
        },
    )


def strip(
    value: float,
    low: float,
    high: float,
    start: float,
    end: float,
    colour: str = ACCENT,
) -> str:
    """Draw a value and its interval on a line between two ends, in few bytes.

    The line is about 0 if that lies between them.
    """
    x = _scale(start, end, 5, 145)

    def place(number: float) -> str:
        return f"{x(min(max(number, start), end)):.4g}"

    if start < 0:
        axis, band_width = "M75 1V17", 4
        mark = f"M{place(value)} 9h0"
        look = 'stroke-width="8" stroke-linecap="round"'
    else:
        axis, band_width = "M5 9H145", 9
        mark = f"M{place(value)} 2V16"
        look = 'stroke-width="2.5"'
    band = ""
    if isfinite(low):
        path = f"M{place(low)} 9H{place(high)}"
        band = f'<path d="{path}" stroke-width="{band_width}" opacity=".5"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="150" height="18" stroke="{colour}">'
    return f'{head}<path d="{axis}" opacity=".4"/>{band}<path d="{mark}" {look}/></svg>'


def steps(bottom: float, top: float, most: int) -> list[float]:
    """Return round numbers from `bottom`, 0 or below, to `top`, 0 among them.

    On the longer side of 0 there are at most so many.
    """
    reach = max(-bottom, top)
    unit = 10.0 ** floor(log10(reach / most))
    for factor in (1, 2, 2.5, 5, 10):
        step = factor * unit
        if reach / step <= most * (1 + 1e-9):
            break
    first, last = ceil(bottom / step - 1e-9), floor(top / step + 1e-9)
    return [float(f"{index * step:.12g}") for index in range(first, last + 1)]


def reach_of(ends: Iterable[float]) -> float:
    """Return the largest distance from 0; 1 if there is none."""
    distances = [abs(end) for end in ends if isfinite(end)]
    return max(distances, default=0.0) or 1.0


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    """Return a function that gives the place of a number in a picture.

    Of a single number, the middle.
    """
    if high == low:
        return lambda _value: (start + end) / 2
    return lambda value: start + (end - start) * (value - low) / (high - low)


def _with_room(places: Collection[float], x: Scale, gap: float) -> list[float]:
    """Return the places that leave room between each other, the last one among them."""
    kept: list[float] = []
    for place in sorted(places, reverse=True):
        if not kept or x(kept[-1]) - x(place) >= gap:
            kept.append(place)
    return kept[::-1]
