"""How the way from one number to another shows itself: text, HTML and a waterfall."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from recnb.display import html
from recnb.display.fonts import lettering
from recnb.display.language import N_, _, ngettext, pgettext
from recnb.display.svg import ACCENT, QUIET
from recnb.display.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.libraries.explain_difference import Step, UserChange, Why

#: Stages of an evaluation.
STAGE_NAMES: dict[str, str] = {
    "data": N_("data"),
    "ranking": N_("ranking"),
    "relevance": N_("relevance"),
    "users": N_("users"),
    "average": N_("average"),
    "metric": N_("metric"),
}


def headline(way: Why) -> str:
    """Both ends and the difference, on one line."""
    return f"{way.label}: {way.start:.4f} {way.one}, {way.end:.4f} {way.other}, {way.end - way.start:+.4f}"


def small_print(way: Why) -> list[str]:
    """What is not in the table."""
    if way.n_users[0] == way.n_users[1]:
        lines = [
            _("{n:,} users at both ends; k = {k}", n=way.n_users[0], k=_("the whole list") if way.k is None else way.k)
        ]
    else:
        lines = [_("{n:,} users at the start, {other:,} at the end", n=way.n_users[0], other=way.n_users[1])]
    if way.unchanged:
        lines.append(_("Differs, and changes nothing on these frames: {what}", what="; ".join(way.unchanged)))
    return [*lines, *way.notes]


def _value(value: float) -> str:
    return _("not counted") if isnan(value) else f"{value:.4f}"


def _mover(mover: UserChange, name: str) -> str:
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
        return _("no user's value; {stage}", stage=_(STAGE_NAMES[step.stage]))
    most = "; ".join(_mover(one, one_line(repr(one.user))) for one in step.movers)
    return ngettext(
        "{n:,} user moved, most of all {most}", "{n:,} users moved, most of all {most}", step.n_moved, most=most
    )


def name_of(user: Any) -> str:
    """A user's name in a page: escaped, on one line, in its own direction."""
    return f"<bdi>{html.text(one_line(user)).replace('://', ':&#47;&#47;')}</bdi>"


def as_html(way: Why) -> str:
    """The way as a table, and below it one user's list for each step."""
    rows = [[_("start"), html.text(way.one), "", f"{way.start:.4f}", "", "", ""]]
    for step in way.steps:
        movers = "".join(f"<div>{_mover(one, name_of(one.user))}</div>" for one in step.movers)
        note = html.note(html.text(step.note, 400)) if step.note else ""
        rows.append(
            [_(STAGE_NAMES[step.stage]), html.text(step.was, 400), html.text(step.now, 400) + note, f"{step.value:.4f}",
             f"{step.change:+.4f}", f"{step.n_moved:,}", movers]
        )  # fmt: skip
    rows.append([_("end"), html.text(way.other), "", f"{way.end:.4f}", f"{way.end - way.start:+.4f}", "", ""])
    columns = (_("change"), _("users moved"), _("moved most"))
    header = ["", _("from"), pgettext("change", "to"), html.text(way.label), *columns]
    table = html.table(header, rows, numbers_from=3, marked=(0, len(rows) - 1))
    title = f"<div><b>{html.text(headline(way), 400)}</b></div>"
    notes = "".join(html.note(html.text(line, 3000)) for line in small_print(way))
    wide = f'<div style="overflow-x: auto;">{table}</div>'
    body = html.root(title, wide, notes, label=_("why {label} differs", label=way.label))
    return body + "".join(_explained(step) for step in way.steps)


def _explained(step: Step) -> str:
    if step.explanation is None:
        return ""
    # Outside of the part where mathematics is switched off, so that the formula is typeset; the rest switches it off itself.
    words = _("How {user} stands after “{now}”", user=name_of(step.explanation.user), now=html.text(step.now, 200))
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
            names = [_("start"), *(", ".join(step.axes) for step in way.steps), _("end")]
        ax.set_yticks(places, [name.replace("$", r"\$") for name in names], **fonts)
    ax.invert_yaxis()
    ax.margins(x=0.14)
    ax.set(xlabel=way.label)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
