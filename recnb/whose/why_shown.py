"""How the way from one number to another shows itself: text, HTML and a waterfall."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from recnb.results import html
from recnb.results.chart import ACCENT, QUIET
from recnb.results.fonts import lettering
from recnb.results.report_text import one_line
from recnb.strings import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.whose.why import Mover, Step, Why


def headline(way: Why) -> str:
    """Both ends and the difference, on one line."""
    return f"{way.label}: {way.start:.4f} {way.one}, {way.end:.4f} {way.other}, {way.end - way.start:+.4f}"


def small_print(way: Why) -> list[str]:
    """What is not in the table."""
    if way.n_users[0] == way.n_users[1]:
        lines = [say("why.users_both", n=way.n_users[0], k=say("why.whole_list") if way.k is None else way.k)]
    else:
        lines = [say("why.users_apart", n=way.n_users[0], other=way.n_users[1])]
    if way.unchanged:
        lines.append(say("why.unchanged", what="; ".join(way.unchanged)))
    return [*lines, *way.notes]


def _value(value: float) -> str:
    return say("why.not_counted") if isnan(value) else f"{value:.4f}"


def _mover(mover: Mover, name: str) -> str:
    return f"{name}: {_value(mover.before)} → {_value(mover.after)}"


def as_text(way: Why) -> str:
    """The way as plain text."""
    lines = [headline(way), f"  {way.start:.4f}           {way.one}"]
    for step in way.steps:
        lines.append(f"  {step.value:.4f}  {step.change:+.4f}  {step.was} → {step.now}")
        lines.append(f"                   {_moved(step)}")
        lines += [f"                   {step.note}"] * bool(step.note)
    lines.append(f"  {way.end:.4f}           {way.other}")
    return "\n".join([*lines, *small_print(way)])


def _moved(step: Step) -> str:
    if not step.n_moved:
        return say("why.nobody_moved", stage=say(f"stage.{step.stage}"))
    most = "; ".join(_mover(one, one_line(repr(one.user))) for one in step.movers)
    return say("why.moved", n=step.n_moved, most=most)


def name_of(user: Any) -> str:
    """A user's name in a page: escaped, on one line, in its own direction."""
    return f"<bdi>{html.text(one_line(user)).replace('://', ':&#47;&#47;')}</bdi>"


def as_html(way: Why) -> str:
    """The way as a table, and below it one user's list for each step."""
    rows = [[say("why.start"), html.text(way.one), "", f"{way.start:.4f}", "", "", ""]]
    for step in way.steps:
        movers = "".join(f"<div>{_mover(one, name_of(one.user))}</div>" for one in step.movers)
        note = html.note(html.text(step.note, 400)) if step.note else ""
        rows.append(
            [say(f"stage.{step.stage}"), html.text(step.was, 400), html.text(step.now, 400) + note, f"{step.value:.4f}",
             f"{step.change:+.4f}", f"{step.n_moved:,}", movers]
        )  # fmt: skip
    rows.append([say("why.end"), html.text(way.other), "", f"{way.end:.4f}", f"{way.end - way.start:+.4f}", "", ""])
    columns = (say(f"why.{one}") for one in ("change", "n_moved", "moved_most"))
    header = ["", say("why.from"), say("why.to"), html.text(way.label), *columns]
    table = html.table(header, rows, numbers_from=3, marked=(0, len(rows) - 1))
    title = f"<div><b>{html.text(headline(way), 400)}</b></div>"
    notes = "".join(html.note(html.text(line, 3000)) for line in small_print(way))
    wide = f'<div style="overflow-x: auto;">{table}</div>'
    body = html.root(title, wide, notes, label=say("why.region", label=way.label))
    return body + "".join(_explained(step) for step in way.steps)


def _explained(step: Step) -> str:
    if step.explanation is None:
        return ""
    # Outside of the part where mathematics is switched off, so that the formula is typeset; the rest switches it off itself.
    words = say("why.after", user=name_of(step.explanation.user), now=html.text(step.now, 200))
    summary = f'<summary class="mathjax_ignore tex2jax_ignore" style="cursor: pointer; font-size: 0.9em; opacity: 0.8;">{words}</summary>'
    return f'<details style="margin: 0.3em 0;">{summary}{step.explanation._repr_html_()}</details>'


def plotted(way: Why, ax: Axes | None) -> Axes:
    """The way as a waterfall."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(figsize=(8, 0.5 * len(way.steps) + 1.6), layout="constrained").add_subplot()
    names = [one_line(way.one), *(one_line(step.now, 60) for step in way.steps), one_line(way.other)]
    places = list(range(len(names)))
    before = [0.0, *(step.value - step.change for step in way.steps), 0.0]
    widths = [way.start, *(step.change for step in way.steps), way.end]
    colours = [QUIET, *(ACCENT if step.change >= 0 else "#b5533c" for step in way.steps), QUIET]
    drawn = ax.barh(places, widths, 0.62, left=before, color=colours)
    ends = [f"{way.start:.4f}", *(f"{step.change:+.4f}" for step in way.steps), f"{way.end:.4f}"]
    ax.bar_label(drawn, ends, padding=3, fontsize=8)
    with lettering(way.lang) as fonts:
        if way.lang != "en" and not fonts:
            # The steps were said in letters that cannot be drawn here.
            names = [say("why.start"), *(", ".join(step.axes) for step in way.steps), say("why.end")]
        ax.set_yticks(places, [name.replace("$", r"\$") for name in names], **fonts)
    ax.invert_yaxis()
    ax.margins(x=0.14)
    ax.set(xlabel=way.label)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
