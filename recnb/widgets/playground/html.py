"""The playground as HTML: the parts that its view shows beside the list, and the still twin of the whole.

The twin needs no kernel, script or style sheet, so it is what an exported or untrusted notebook shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recnb.display import html
from recnb.display.language import _, ngettext, use_language
from recnb.metrics.formula import number
from recnb.widgets.playground import wording as words
from recnb.widgets.playground.wording import GAIN_WORDS

if TYPE_CHECKING:
    from recnb.widgets.playground.state import PlaygroundState, Term, Value

MONO = "font-family: var(--jp-code-font-family, monospace); font-size: 0.9em; opacity: 0.85;"


def values(state: PlaygroundState) -> str:
    """Each metric: its value with a bar, and what the last step did to it."""
    with use_language(state.lang):
        rows = [
            [
                _focus(state, name),
                f'<b class="recnb-value">{words.value(one.now)}</b>',
                _bar(state, name, one),
                _turned(one.change),
            ]
            for name, one in state.values().items()
        ]
        header = [_("metric"), _("now"), "", _("change")]
        marked = [at for at, name in enumerate(state.metrics) if name == state.focus]
        return html.table(header, rows, marked=marked)


def changes(state: PlaygroundState) -> str:
    """What the last step did: the step, and the terms it changed down to the metric in focus."""
    with use_language(state.lang):
        said = f'<div style="margin: 0.3em 0; font-weight: 600;">{html.text(words.done(state), 400)}</div>'
        if state.step is None:
            return said
        changed = state.changed()
        before, now = changed.before, changed.now
        if before.value == now.value and not changed.terms:
            return said + f"<div>{html.text(words.result(changed.label, before.value, now.value))}</div>"
        rows = [
            [html.text(words.name(one.item)), _term(one.before), _term(one.now), _turned(one.change)]
            for one in changed.terms
        ]
        line = "font-weight: 600;"
        rows.append(
            _line(_("sum of the terms"), words.value(before.total), words.value(now.total), changed.total_change, line)
        )
        if now.out_of is not None or before.out_of is not None:
            old, new = before.out_of or 0.0, now.out_of or 0.0
            rows.append(_line(_("divided by"), words.plain(old), words.plain(new), new - old, ""))
        if now.out_of is not None or now.total != now.value:
            rows.append(
                _line(html.text(changed.label), words.value(before.value), words.value(now.value), changed.change, line)
            )
        header = [_("term of"), _("before"), _("now"), _("change")]
        return said + html.table(header, rows)


def how(state: PlaygroundState) -> tuple[str, str]:
    """How the metric in focus comes by its value: the formula, to be typeset, and the rest, which is not."""
    with use_language(state.lang):
        explanation = state.explanation()
        whole = explanation._repr_html_()
    formula = html.formula(explanation.latex)
    return formula, whole.replace(formula, "")


def twin(state: PlaygroundState) -> str:
    """The whole playground as it stands, for where nothing can be moved."""
    with use_language(state.lang):
        grades = state.relevance
        rows = [
            [str(rank), _mark(grades[item]) + " " + _name(item), number(grades[item])]
            for rank, item in enumerate(state.order, 1)
        ]
        rows += [["–", _mark(grades[item]) + " " + _name(item), number(grades[item])] for item in state.outside]
        header = [_("rank"), _("item"), _("relevance")]
        relevant = [at for at, item in enumerate([*state.order, *state.outside]) if grades[item] > 0]
        looked = [f"{_('cut-off k')} = {state.k}"]
        if state.has_gain:
            looked.append(f"{_('gain')}: {_(GAIN_WORDS[state.gain])}")
        listed = html.table(
            header,
            rows,
            numbers_from=2,
            marked=relevant,
            caption=html.text(ngettext("The list, {n} item", "The list, {n} items", len(state.order))),
        )
        side = [
            listed
            + (
                html.note(html.text(_("A rank of – marks items that were not recommended; ✓ marks relevant ones.")))
                if state.outside
                else ""
            ),
            f"<div>{html.text(' · '.join(looked))}</div>" + values(state) + (changes(state) if state.step else ""),
        ]
        parts = "".join(f'<div style="flex: 0 1 auto;">{one}</div>' for one in side)
        flex = f'<div style="display: flex; flex-wrap: wrap; gap: 0 2.5em; align-items: flex-start;">{parts}</div>'
        label = _("Ranking playground")
        note = html.note(
            html.text(
                _("This is a still picture. Run the cell, and the items can be dragged and their relevance changed."),
                400,
            )
        )
        return html.root(flex, label=label) + "".join(how(state)) + html.root(note, label=label)


def _name(item: Any) -> str:
    return f"<bdi>{html.text(words.name(item))}</bdi>"


def _mark(grade: float) -> str:
    return "✓" if grade > 0 else "·"


def _focus(state: PlaygroundState, name: str) -> str:
    metric = state.metrics[name]
    mark = "▸ " if name == state.focus else ""
    in_words = html.note(html.text(metric.term)) if metric.term.lower() != metric.symbol.lower() else ""
    in_words = f'<div style="max-width: 12em;">{in_words}</div>' if in_words else ""
    return f'<span data-metric="{html.text(name)}">{mark}{html.text(metric.label(state.k))}</span>{in_words}'


def _bar(state: PlaygroundState, name: str, one: Value) -> str:
    """The value between the bounds of its metric, with a notch where it was before; none for a metric without an upper bound."""
    low, high = state.metrics[name].bounds
    if high == float("inf"):
        return ""
    now, before = (100 * (at - low) / (high - low) for at in (one.now, one.before))
    fill = f"width: {now:.1f}%; height: 100%; background: rgba(128, 128, 128, 0.85);"
    notch = (
        f'<div style="position: absolute; left: calc({before:.1f}% - 1px); top: -0.2em; bottom: -0.2em; width: 2px; background: currentColor;"></div>'
        if one.change
        else ""
    )
    frame = f"position: relative; width: 7em; height: 0.6em; background: {html.FAINT}; outline: 1px solid {html.LINE};"
    return f'<div style="{frame}"><div style="{fill}"></div>{notch}</div>'


def _term(one: Term | None) -> str:
    """What an item adds, and below it how: the numbers of a column stand above their sum."""
    if one is None:
        return words.value(0.0)
    put_in = f'<div style="{MONO}">{html.text(one.text, 200)}</div>' if one.text != words.plain(one.credit) else ""
    return words.value(one.credit) + put_in


def _turned(change: float) -> str:
    return f'<span style="white-space: nowrap;">{html.text(words.turned(change))}</span>'


def _line(label: str, before: str, now: str, change: float, style: str) -> list[str]:
    cells = [label, before, now, words.turned(change) or "±0"]
    return [f'<span style="white-space: nowrap; {style}">{cell}</span>' for cell in cells]
