"""The solution of an exercise: the worked explanation of each list, and what the usual slips would have given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recnb.display import html
from recnb.display.language import _, use_language
from recnb.widgets.quiz.wording import Mistake

if TYPE_CHECKING:
    from recnb.results import Explanation


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """How the value of an exercise is worked out."""

    label: str
    value: float
    digits: int
    largest: tuple[str, ...]  #: the items whose term is the largest; () where all hits earn the same
    explanations: tuple[Explanation, ...]  #: of the list, or of each user's
    slips: tuple[Mistake, ...]
    lang: str

    @property
    def explanation(self) -> Explanation:
        """The worked explanation of the list; of the first, where there are several."""
        return self.explanations[0]

    def _number(self, value: float) -> str:
        return f"{value:.{self.digits}f}"

    def _headline(self) -> str:
        # The explanation of one list starts with its value.
        value = f": {self.label} = {self._number(self.value)}" if len(self.explanations) > 1 else ""
        return _("Solution") + value

    def _largest(self) -> str:
        return _("The largest term is that of {items}.", items=", ".join(self.largest)) if self.largest else ""

    def _users(self) -> list[tuple[str, Explanation]]:
        return [(_("user {user}", user=at), one) for at, one in enumerate(self.explanations, 1)]

    def _mean(self) -> str:
        terms = " + ".join(f"{one.value:g}" for one in self.explanations)
        n = len(self.explanations)
        return f"{_('mean over {users} users', users=n)}: ({terms}) / {n} = {self._number(self.value)}"

    def __repr__(self) -> str:
        with use_language(self.lang):
            several = len(self.explanations) > 1
            parts = [self._headline()]
            if several:
                parts += [f"{name}: {one.label} = {one.value:g}" for name, one in self._users()] + [self._mean()]
            else:
                parts += [repr(self.explanation), self._largest()]
            slips = [f"  {self._number(slip.value)}  {slip.sentence}" for slip in self.slips]
            return "\n".join([*(part for part in parts if part), f"{_('What the usual slips give here')}:", *slips])

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            head = html.root(f"<div><b>{html.text(self._headline())}</b></div>", label=self._headline())
            if len(self.explanations) > 1:
                rows = [[html.text(name), f"{one.value:g}"] for name, one in self._users()]
                header = [_("user"), html.text(self.explanation.label)]
                worked = html.root(html.table(header, rows), html.note(html.text(self._mean(), 400)), label=self.label)
            else:
                worked = self.explanation._repr_html_()
            return head + worked + html.root(html.note(html.text(self._largest())), self._slips(), label=self.label)

    def _slips(self) -> str:
        """A table, folded away: the right value beside the wrong ones."""
        rows: Sequence[Sequence[str]] = [
            [
                f'<span style="white-space: nowrap;">{html.text(self._number(slip.value))}</span>',
                html.text(slip.sentence, 1000),
            ]
            for slip in self.slips
        ]
        table = html.table([_("value"), _("slip")], rows, numbers_from=2)
        summary = f'<summary style="cursor: pointer;">{_("What the usual slips give here")}</summary>'
        return f'<details style="margin: 0.4em 0;">{summary}{table}</details>'
