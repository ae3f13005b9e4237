"""What is read of a plot and of a page."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex


def words_of(ax: Axes) -> str:
    """Return all words of a plot."""
    texts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += [*ax.get_xticklabels(), *ax.get_yticklabels()]
    legend = ax.get_legend()
    if legend is not None:
        texts += [legend.get_title(), *legend.get_texts()]
    return "\n".join(text.get_text() for text in texts)


def look_of(ax: Axes) -> str:
    """Return what a plot looks like, and its words."""
    grid = ax.xaxis.get_major_ticks()[0].gridline
    frame = [side for side, spine in ax.spines.items() if spine.get_visible()]
    lines = [
        f"inches {numbers(ax.figure.get_size_inches())}, {frame}",
        f"layout {type(ax.figure.get_layout_engine()).__name__}",
        f"x {numbers(ax.get_xlim())} at {numbers(ax.get_xticks())}",
        f"y {numbers(ax.get_ylim())}, free: {ax.get_autoscaley_on()}",
        f"grid {grid.get_visible() and grid.get_alpha()}",
    ]
    for line in ax.lines:
        look = [line.get_marker(), float(line.get_markersize())]
        look += [line.get_linestyle(), line.get_linewidth()]
        places = numbers(line.get_xydata())
        lines.append(f"line {look} {to_hex(line.get_color())}: {places}")
    for area in ax.collections:
        look = [float(*area.get_linewidth()), area.get_alpha()]
        colour = to_hex([*area.get_edgecolor(), *area.get_facecolor()][0])
        places = "; ".join(numbers(path.get_extents()) for path in area.get_paths())
        lines.append(f"area {look} {colour}: {places}")
    for bar in ax.patches:
        look = [bar.get_linewidth(), bar.get_alpha()]
        path = bar.get_patch_transform().transform_path(bar.get_path())
        places = numbers(path.get_extents())
        lines.append(f"bar {look} {to_hex(bar.get_facecolor())}: {places}")
    legend = ax.get_legend()
    if legend is not None:
        anchor = legend.get_bbox_to_anchor().transformed(ax.transAxes.inverted())
        lines.append(
            f"legend {legend._loc} of {numbers(anchor)} {legend.get_frame_on()}"
        )
    return "\n".join([*lines, words_of(ax).replace("\n", " | ")])


def numbers(values: object) -> str:
    """Return numbers in a row."""
    return " ".join(f"{value:.4g}" for value in np.round(np.ravel(values), 6) + 0)


def text_of_html(page: str) -> str:
    """Return what is read of HTML, and the labels of what is drawn."""
    labels = " ".join(re.findall(r'(?:alt|aria-label|title)="([^"]*)"', page))
    body = re.sub(r"<style.*?</style>|<code.*?</code>", "", page, flags=re.DOTALL)
    return unescape(f"{labels} {re.sub('<[^>]+>', ' ', body)}")


#: What begins a line of a page.
BLOCKS = "details|div|fieldset|form|h[1-6]|label|li|section|table|tbody|tr|ul"


def html_of(page: str) -> str:
    """Return a page without its styles and pictures, a block or a row a line."""
    page = re.sub(r' (?:style|src)="[^"]*"|<style>.*?</style>', "", page)
    return re.sub(rf"><(?=(?:{BLOCKS})\b)", ">\n<", page)


def every_form(result: Any) -> dict[str, str]:
    """Return what is read of a result in each form that it has."""
    if isinstance(result, Axes):
        return {"plot": words_of(result)}
    forms = {"text": repr(result)}
    if hasattr(result, "_repr_html_"):
        forms["HTML"] = text_of_html(result._repr_html_())
    for name in ("to_markdown", "to_latex"):
        if hasattr(result, name):
            forms[name] = getattr(result, name)()
    return forms
