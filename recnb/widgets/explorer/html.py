"""The explorer as HTML: the summary, one user's list and explanation, and the still picture of it all.

Names of the user's stand where mathematics is switched off (`html.root`); the formula of an explanation stands outside.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from recnb.display import html, svg
from recnb.display.language import N_, _, ngettext, pgettext, use_language
from recnb.display.svg import short
from recnb.display.text import one_line
from recnb.widgets.explorer.payload import LONGEST, fixed, signed, told
from recnb.widgets.explorer.user import Detail, List, Row, detail_of

if TYPE_CHECKING:
    from recnb.widgets.explorer.state import ExplorerState

#: Columns of a list.
LIST_COLUMNS: dict[str, str] = {
    "rank": N_("rank"),
    "item": N_("item"),
    "hit": N_("hit"),
}


FAINT, FIGURES = "opacity: 0.75;", "font-variant-numeric: tabular-nums;"
SIDE_BY_SIDE = "display: flex; flex-wrap: wrap; align-items: flex-start;"
CELL = (
    f"padding: 0.15em 0.7em 0.15em 0.3em; border-bottom: 1px solid {html.LINE}; text-align: left; vertical-align: top;"
)
#: Widgets of notebooks set lines wide apart.
LINES = "line-height: 1.45;"


def summary(state: ExplorerState) -> str:
    """The mean of each model, that of the part looked at, and the convention behind them."""
    with use_language(state.lang):
        people = ngettext("{n:,} user", "{n:,} users", state.n_users)
        if state.paired:
            people += f" ({_('users that all models have in common')})"
        lines = [_means(state, people)]
        parts = state.parts
        if parts is not None and state.part is not None:
            n = ngettext("{n:,} user", "{n:,} users", int(state.in_part().sum()))
            value = " · ".join(_named(state, one, fixed(state.mean(one, part=True))) for one in _models(state))
            part = f"<b>{_text(parts.column)} = {_text(parts.labels[state.part])}</b>"
            lines.append(_("{part}: {value} over {users}", part=part, value=value, users=n))
        if state.paired:
            better, worse, same = state.better_worse_same()
            apart = state.mean(state.model, part=True) - state.mean(state.other, part=True)
            pair = f"{_text(state.names[state.model], 30)} − {_text(state.names[state.other], 30)}"
            told = _("{better:,} better, {worse:,} worse, {same:,} the same", better=better, worse=worse, same=same)
            lines.append(f"{pair}: <b>{html.text(signed(apart))}</b> · {html.text(told)}")
        small = [state.looks[state.model].basis]
        if state.segment and state.looks[state.model].prepared.convention.average != "user":
            small.append(
                _("The convention averages otherwise than user by user; means of segments are over the users' values.")
            )
        if state.problem:
            lines.append(f'<b role="alert">{html.text(_("Not possible: {why}", why=state.problem), 600)}</b>')
        body = "".join(f"<div>{line}</div>" for line in lines)
        return html.root(
            f'<div style="{LINES}">{body}{html.note(html.text("; ".join(small), 2000))}</div>', label=state.label
        )


def _models(state: ExplorerState) -> list[int]:
    return list(range(len(state.models)))


def _named(state: ExplorerState, one: int, value: str) -> str:
    return f"{_text(state.names[one], 30)} {value}" if state.paired else value


def _means(state: ExplorerState, people: str) -> str:
    big = f"font-size: 1.7em; font-weight: 600; color: {svg.ACCENT}; {FIGURES}"
    values = " ".join(
        (f"<span>{_text(state.names[one], 30)}</span> " if state.paired else "")
        + f'<span style="{big}">{fixed(state.mean(one))}</span>'
        for one in _models(state)
    )
    label = f'<span style="font-size: 1.15em; font-weight: 600;">{html.text(state.label)}</span>'
    return f'{label} {values} <span style="{FAINT}">{html.text(_("mean over {users}", users=people))}</span>'


def detail(state: ExplorerState, *, live: bool = True) -> str:
    """The user that is looked at: the lists with their hits, what was missed, the worked explanation."""
    with use_language(state.lang):
        one = detail_of(state)
        if one is None:
            gone = _("User {user} is not evaluated under this metric.", user=one_line(state.user, LONGEST))
            return html.root(html.note(html.text(gone, 300)), label=_("user"))
        nearest = _("This is the user nearest to the mean.") + (
            f" {_('Choose another one in the table.')}" if live else ""
        )
        hint = "" if state.chosen_by_hand else html.note(html.text(nearest, 300))
        cards = "".join(_card(state, mine) for mine in one.lists)
        head = f'{hint}<div style="font-size: 1.15em;">{_headline(state, one)}</div>'
        lists = f'<div style="{SIDE_BY_SIDE} gap: 0 2.5em; {LINES}">{cards}</div>'
        top = html.root(f'<div style="{LINES}">{head}</div>{lists}', label=f"{_('user')} {one_line(one.user, LONGEST)}")
        return top + _worked(state, one)


def _headline(state: ExplorerState, one: Detail) -> str:
    values = []
    for mine in one.lists:
        whose = f"{_text(mine.model, 30)} " if state.paired else ""
        values.append(f"{whose}{html.text(state.label)} = <b>{fixed(mine.value)}</b>")
    if isnan(one.lists[0].value):
        values.append(html.text(_("left out of the mean")))
    return f"{html.text(_('user'))} <b>{_text(one.user)}</b> · {' · '.join(values)}"


def _worked(state: ExplorerState, one: Detail) -> str:
    if one.explanation is None:
        return html.root(html.note(html.text(one.problem, 600)), label=_("How the number is made"))
    which = f" · {_text(state.names[state.model], 30)}" if state.paired else ""
    heading = html.root(_heading(f"{html.text(_('How the number is made'))}{which}"), label=_("How the number is made"))
    return f'<div style="margin-top: 0.6em; {LINES}">{heading}{one.explanation._repr_html_()}</div>'


def _card(state: ExplorerState, mine: List) -> str:
    """One list: rank, item, whether it is a hit, and a line where it is cut."""
    named = _("The list of {model}", model=one_line(mine.model, 30)) if state.paired else _("The list")
    counts = {"hits": mine.n_hits, "relevant": mine.n_relevant}
    told = (
        _("{hits:,} of {relevant:,} relevant items found", **counts)
        if state.k is None
        else _("{hits:,} of {relevant:,} relevant items in the first {k:,}", k=state.k, **counts)
    )
    heading = _heading(html.text(named)) + html.note(html.text(told))
    missed = _missed(mine)
    if not mine.rows:
        return f'<div style="flex: 0 1 24em;">{heading}{html.note(html.text(pgettext("explorer", "No list: nothing was recommended.")))}{missed}</div>'
    rows = [_place(row) for row in mine.rows if row.above]
    if state.k is not None and mine.n_places > len(rows):
        line = f"padding: 0.2em 0.3em; font-size: 0.86em; text-align: left; border-top: 2px dashed {html.LINE}; {FAINT}"
        cut = html.text(_("cut-off k = {k:,}", k=state.k))
        rows.append(f'<tr style="background: transparent;"><td colspan="3" style="{line}">{cut}</td></tr>')
        rows += [_place(row) for row in mine.rows if not row.above]
    head = "".join(
        f'<th scope="col" style="{CELL} font-weight: 400; font-size: 0.86em; text-align: {"right" if name == "rank" else "left"}; {FAINT}">'
        f"{html.text(_(LIST_COLUMNS[name]))}</th>"
        for name in ("rank", "item", "hit")
    )
    style = f"border-collapse: collapse; width: 100%; margin: 0.2em 0; {LINES}"
    table = f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    left = mine.n_places - len(mine.rows)
    more = html.note(html.text(ngettext("… {n:,} more rank", "… {n:,} more ranks", left))) if left else ""
    if state.paired:
        return f'<div style="flex: 1 1 21em; max-width: 34em; min-width: 0;">{heading}{table}{more}{missed}</div>'
    wide = "flex: 1 1 27em; max-width: 40em; min-width: 0;"
    return f'<div style="{wide}">{heading}{table}{more}</div><div style="flex: 1 1 15em;">{missed}</div>'


def _place(row: Row) -> str:
    """A rank of a list; a hit above the cut-off is tinted, in bold and said to be one."""
    hit = row.relevance > 0 and row.above
    look = "font-weight: 600;" if hit else "" if row.above else FAINT
    return (
        f'<tr style="background: {html.FAINT if hit else "transparent"};">'
        f'<th scope="row" style="{CELL} text-align: right; font-weight: 400; {FIGURES} {FAINT}">{row.rank}</th>'
        f'<td style="{CELL} overflow-wrap: anywhere; {look}">{_item(row.item, row.title)}</td>'
        f'<td style="{CELL} white-space: {"nowrap" if row.above else "normal"};">{_mark(row.relevance, row.above)}</td></tr>'
    )


def _mark(relevance: float, counts: bool) -> str:
    if not relevance:
        return ""
    grade = html.text(_("relevance {grade}", grade=short(relevance)))
    if not counts:
        return f'<span style="{FAINT}">✓ {html.text(_("below the cut-off"))}, {grade}</span>'
    return f'<span style="color: {svg.ACCENT}; font-weight: 600;">✓ {html.text(_("hit"))}</span>, {grade}'


def _missed(mine: List) -> str:
    heading = _heading(html.text(_("Missed")))
    if not mine.n_missed:
        return heading + html.note(html.text(_("Nothing was missed.")))
    rows = []
    for one in mine.missed:
        where = _("not in the list") if one.rank is None else _("at rank {rank:,}", rank=one.rank)
        grade = _("relevance {grade}", grade=short(one.relevance))
        rows.append(
            f'<li style="margin: 0.15em 0; overflow-wrap: anywhere;">{_item(one.item, one.title)} '
            f'<span style="white-space: nowrap; {FAINT}">{html.text(grade)}, {html.text(where)}</span></li>'
        )
    left = mine.n_missed - len(mine.missed)
    more = html.note(html.text(_("… {n:,} more", n=left))) if left else ""
    return f'{heading}<ul style="margin: 0.2em 0; padding-left: 1.2em;">{"".join(rows)}</ul>{more}'


def _item(item: object, title: str) -> str:
    if not title:
        return _text(item)
    return f'{_text(title)} <span style="font-weight: 400; {FAINT}">{_text(item, 40)}</span>'


def _heading(words: str) -> str:
    return f'<div style="font-weight: 600; margin: 0.6em 0 0.1em 0;">{words}</div>'


def _text(value: object, longest: int = LONGEST) -> str:
    """Anything of the user's: escaped, on one line, in its own direction."""
    return f"<bdi>{html.text(one_line(value, longest), longest + 1)}</bdi>"


def still(state: ExplorerState) -> str:
    """The explorer as it stands, where nothing can be run: summary, bars, a page of the table, one user."""
    with use_language(state.lang):
        page = told(state)
        bars = _bars(page["bars"]["title"], page["bars"]["items"])
        if page["parts"]:
            bars += _bars(page["parts"]["title"], page["parts"]["items"])
        header = [html.text(column["label"]) for column in page["columns"]]
        rows = [[f"<bdi>{html.text(cell)}</bdi>" for cell in row["cells"]] for row in page["rows"]]
        chosen = [index for index, row in enumerate(page["rows"]) if row["at"] == page["chosen"]]
        caption = f"{html.text(_('Users'))} ({html.text(page['range'])})"
        table = html.table(header, rows, caption=caption, marked=chosen)
        both = f'<div style="{SIDE_BY_SIDE} gap: 0 2.5em;"><div>{bars}</div><div>{table}</div></div>'
        top = html.root(both, label=_("explorer of users by {label}", label=state.label))
        note = html.root(
            html.note(
                html.text(
                    _("This is a still picture: run the cell in JupyterLab to sort, search and choose users."), 300
                )
            ),
            label=_("explorer of users by {label}", label=state.label),
        )
        return f"<div>{summary(state)}{top}{detail(state, live=False)}{note}</div>"


def _bars(title: str, items: list[dict[str, object]]) -> str:
    """Bars beside their numbers as text."""
    rows = []
    for one in items:
        wide = f"width: {100 * float(str(one['share'])):.1f}%; height: 0.85em; background: {svg.ACCENT};"
        rows.append(
            [
                f'<span style="white-space: nowrap;">{html.text(one["label"])}</span>',
                f'<div style="width: 8em;"><div style="{wide}"></div></div>',
                f'<span style="white-space: nowrap; {FIGURES}">{html.text(one["text"])}</span>',
            ]
        )
    return html.table(["", "", ""], rows, caption=html.text(title, 200))
