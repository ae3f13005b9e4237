"""The view of an exercise: its question, a box for the answer, and what is said of the answer."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
from markupsafe import Markup

from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError
from recnb.widgets.view import FITTING, ROWS, WIDE, View

#: Lines at the distance of text: a widget of HTML spaces them as its buttons are high.
_SPACED = Markup('<div style="line-height: 1.45;">{}</div>')

#: Feedback is read aloud at once: of what is new on a page, only alerts are sure to be.
_ALERT = Markup('<div role="alert"><div style="line-height: 1.45;">{}</div></div>')


class QuizView(View):
    """The widget of a `Quiz`, which makes it to show itself."""

    def __init__(self, quiz: Any) -> None:
        fitting, row = w.Layout(**FITTING), w.Layout(**ROWS, grid_gap="0.2em 0.8em")
        with use_language(quiz.lang):
            self.question = w.HTML(_SPACED.format(quiz._question_html(instruction=False)))
            empty = f"{0:.{quiz.digits}f}"
            self.value = w.Text(description=_("Value"), placeholder=empty, style=WIDE, continuous_update=False)
            self.value.layout.width = "14em"
            items = [(_("choose"), ""), *((item, item) for item in quiz.items)]
            self.largest = w.Dropdown(
                options=items, value="", description=_("Largest term"), style=WIDE, layout=fitting
            )
            self.button = w.Button(description=_("Check"), button_style="primary", layout=fitting)
            self.show = w.Button(description=_("Show the solution"), layout=fitting)
        self.feedback, self.solution = w.HTML(), w.HTMLMath()
        controls = [self.value, *([self.largest] if quiz.drawn.asks_largest else []), self.button, self.show]
        rows = [self.question, w.Box(controls, layout=row), self.feedback, self.solution]
        super().__init__("recnb-quiz", quiz, rows, type(quiz)._repr_html_)
        self.button.on_click(lambda _ignored: self.check())
        self.show.on_click(lambda _ignored: self.reveal())
        # The browser sends the Enter key before the text; when the focus moves, as to the largest term, the text alone.
        self._entered = False
        self.value.on_msg(self._submitted)
        self._on_change(self.value, self._changed)

    def check(self) -> None:
        """Check what was typed and chosen; after a right value the solution is shown."""
        typed, largest = self.value.value.strip() or None, self.largest.value or None
        if typed is None and largest is None:
            both = N_("Type a value, or choose the largest term.")
            self._alert(both if self.state.drawn.asks_largest else N_("Type a value."))
            return
        try:
            answer = self.state.check(typed, largest=largest)
        except RecnbError:
            unread = N_("{text} cannot be read as a number: type 0.1234, 0,1234, 2/3 or 12.34%.")
            self._alert(unread, text=one_line(typed or "", 40))
            return
        self.feedback.value = _ALERT.format(answer._feedback_html())
        if answer.solution is not None:
            self.reveal()

    def reveal(self) -> None:
        """Show the solution."""
        self.solution.value = self.state.reveal()._repr_html_()

    def _alert(self, message: str, **values: Any) -> None:
        with use_language(self.state.lang):
            self.feedback.value = _ALERT.format(self.state._feedback_html([("", _(message, **values))]))

    def _submitted(self, _ignored: Any, content: Any, __: Any) -> None:
        if content.get("event") == "submit":
            self._entered = True
            if self.value.value.strip():
                self.check()

    def _changed(self, _ignored: Any) -> None:
        if self._entered:
            self._entered = False
            self.check()
