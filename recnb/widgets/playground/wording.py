"""What the playground says: the last step in words, and numbers as they are printed beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.display.language import N_, Plural, _
from recnb.display.text import one_line
from recnb.metrics.formula import number

if TYPE_CHECKING:
    from recnb.widgets.playground.state import Action, PlaygroundState, Term, TermChange

#: Gains.
GAIN_WORDS: dict[str, str] = {
    "linear": N_("linear"),
    "exponential": N_("exponential"),
    "binary": N_("binary"),
}

#: Steps without values.
STEPS: dict[str, str] = {
    "order": N_("The list was put in another order."),
    "undo": N_("The last step was taken back."),
    "reset": N_("The list is back at the start."),
}


#: Terms named in a sentence; the table beside it names them all.
NAMED = 4


def value(amount: float) -> str:
    """A value of a metric: the same decimals for all, so that they can be compared.

    >>> value(0.5), value(2.0**70)
    ('0.5000', '1.181e+21')
    """
    return f"{amount:.4f}" if abs(amount) < 1e6 else f"{amount:.4g}"


def plain(amount: float) -> str:
    """A value without decimals that say nothing.

    >>> plain(3.0), plain(0.5), plain(1 / 3)
    ('3', '0.5', '0.3333')
    """
    text = value(amount)
    return text.rstrip("0").rstrip(".") if "." in text and round(amount, 4) == amount else text


def signed(change: float) -> str:
    """A difference with its sign; one too small for the decimals is not shown as none.

    >>> signed(0.25), signed(-1.5), signed(0.0), signed(2e-7)
    ('+0.2500', '−1.5000', '±0', '+2e-07')
    """
    if change == 0:
        return "±0"
    amount = value(abs(change)) if abs(change) >= 5e-5 else f"{abs(change):.0e}"
    return ("+" if change > 0 else "−") + amount


def turned(change: float) -> str:
    """A difference with an arrow, so that its direction is seen without colour."""
    return "" if change == 0 else f"{'▲' if change > 0 else '▼'} {signed(change)}"


def name(item: object, longest: int = 60) -> str:
    """An item on one line, and nothing in it that turns the text around."""
    return one_line(" ".join(str(item).split()), longest)


def term(one: Term | None) -> str:
    """A term and what it comes to.

    >>> from recnb.widgets.playground.state import Term
    >>> term(Term("C", 4, "3/log2(1+4)", 1.2920296742201791)), term(Term("C", 4, "1", 1.0)), term(None)
    ('3/log2(1+4) = 1.2920', '1', '0')
    """
    if one is None:
        return "0"
    return one.text if one.text == number(one.credit) else f"{one.text} = {plain(one.credit)}"


def short(one: Term, longest: int = 26) -> str:
    """A term and what it comes to; only that, if there is no room for both."""
    worked = term(one)
    return worked if len(worked) <= longest else plain(one.credit)


def done(state: PlaygroundState) -> str:
    """What the last step did to the list or to how it is looked at."""
    step = state.step
    if step is None:
        return _("Move an item to see what changes.")
    now, before = state.setting, step.before
    if step.kind == "move":
        was, new = (setting.order.index(step.item) + 1 for setting in (before, now))
        return _("{item} moved from rank {before} to rank {now}.", item=name(step.item), before=was, now=new)
    if step.kind == "relevance":
        was_, new_ = (number(setting.relevance[step.item]) for setting in (before, now))
        return _("The relevance of {item} went from {before} to {now}.", item=name(step.item), before=was_, now=new_)
    if step.kind == "k":
        return _("The cut-off k went from {before} to {now}.", before=before.k, now=now.k)
    if step.kind == "gain":
        gains = {at: _(GAIN_WORDS[setting.gain]) for at, setting in (("before", before), ("now", now))}
        return _("The gain is {now} instead of {before}.", **gains)
    return _(STEPS[step.kind])


def sentence(state: PlaygroundState) -> str:
    """The last step, the terms that it changed, their sum, and the metric before and after."""
    step = state.step
    if step is None:
        return done(state)
    changed = state.changed()
    said = [done(state), *_terms(step, changed.terms)]
    before, now = changed.before, changed.now
    if now.out_of is not None or now.total != now.value:
        said.append(
            _(
                "The sum went from {before} to {now} ({change}).",
                before=value(before.total),
                now=value(now.total),
                change=signed(changed.total_change),
            )
            if changed.terms
            else _("The sum stays {now}.", now=value(now.total))
        )
        if before.out_of != now.out_of:
            said.append(
                _(
                    "What it is divided by went from {before} to {now}.",
                    before=plain(before.out_of or 0.0),
                    now=plain(now.out_of or 0.0),
                )
            )
    return " ".join([*said, result(changed.label, before.value, now.value)])


def announcement(state: PlaygroundState) -> str:
    """The last step in a few words: what stands where now, and the metric in focus."""
    step = state.step
    if step is None:
        return ""
    where = (
        _("{item}, now rank {rank} of {n}.", item=name(step.item), rank=state.rank(step.item), n=len(state.order))
        if step.kind == "move"
        else done(state)
    )
    one = state.values()[state.focus]
    return f"{where} {result(state.metrics[state.focus].label(state.k), one.before, one.now)}"


def result(label: str, before: float, now: float) -> str:
    """A metric before and after."""
    if before == now:
        return _("{metric} stays {now}.", metric=label, now=value(now))
    return _(
        "{metric}: {before} → {now} ({change}).",
        metric=label,
        before=value(before),
        now=value(now),
        change=signed(now - before),
    )


def _terms(step: Action, terms: tuple[TermChange, ...]) -> list[str]:
    """Which terms changed: that of the item that was touched, then the others."""
    own = [one for one in terms if one.item == step.item] if step.item is not None else []
    others = [one for one in terms if one not in own]
    said = []
    if own:
        said.append(_("Its term went from {before} to {now}.", before=term(own[0].before), now=term(own[0].now)))
    elif step.item is not None:
        said.append(_("Its own term did not change."))
    if others:
        listed = [f"{name(one.item)}: {term(one.before)} → {term(one.now)}" for one in others[:NAMED]]
        if len(others) > NAMED:
            listed.append(_("{n} more", n=len(others) - NAMED))
        said.append(
            _(
                Plural("{n} other term changed, {terms}.", "{n} other terms changed, {terms}.")
                if step.item is not None
                else Plural("{n} term changed, {terms}.", "{n} terms changed, {terms}."),
                n=len(others),
                terms="; ".join(listed),
            )
        )
    return said
