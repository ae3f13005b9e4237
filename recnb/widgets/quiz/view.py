"""The view of an exercise: its question, a box for the answer, and what is said of the answer."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
from markupsafe import Markup

from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError
from recnb.widgets.view import FITTING, ROWS, WIDE, View

#: Lines at the distance of text, as a widget of HTML spaces them; new feedback is read aloud as an alert.
_LINES = Markup('<div role="{}"><div style="line-height: 1.45;">{}</div></div>')


class QuizView(View):
    """The widget of a `Quiz`, which makes it to show itself."""

    def __init__(self, quiz: Any) -> None:
        fitting = w.Layout(**FITTING)
        with use_language(quiz.lang):
            self.question = w.HTML(_LINES.format("group", quiz.question_html(instruction=False)))
            empty, narrow = f"{0:.{quiz.digits}f}", w.Layout(width="14em")
            self.value = w.Text(
                description=_("Value"), placeholder=empty, style=WIDE, layout=narrow, continuous_update=False
            )
            items = [(_("choose"), ""), *((item, item) for item in quiz.items)]
            self.largest = w.Dropdown(
                options=items, value="", description=_("Largest term"), style=WIDE, layout=fitting
            )
            self.button = w.Button(description=_("Check"), button_style="primary", layout=fitting)
            self.show = w.Button(description=_("Show the solution"), layout=fitting)
        self.feedback, self.solution = w.HTML(), w.HTMLMath()
        controls = [self.value, *([self.largest] if quiz.items else []), self.button, self.show]
        row = w.Box(controls, layout=w.Layout(**ROWS, grid_gap="0.2em 0.8em"))
        super().__init__("recnb-quiz", quiz, [self.question, row, self.feedback, self.solution], type(quiz)._repr_html_)
        self.button.on_click(lambda _ignored: self.check())
        self.show.on_click(lambda _ignored: self.reveal())
        # The browser sends the Enter key before the text; when the focus moves, as to the largest term, the text alone.
        self._entered = False
        self.value.on_msg(self._submitted)
        self._on_change(self.value, self._changed)

    def check(self) -> None:
        """Check what was typed and chosen; after a right value the solution is shown."""
        typed, largest, quiz = self.value.value.strip() or None, self.largest.value or None, self.state
        unread = N_("{text} cannot be read as a number: type 0.1234, 0,1234, 2/3 or 12.34%.")
        if typed is None and largest is None:
            unread = N_("Type a value, or choose the largest term.") if quiz.items else N_("Type a value.")
        try:
            answer = quiz.check(typed, largest=largest)
        except RecnbError:
            with use_language(quiz.lang):
                feedback = quiz.feedback_html([("", _(unread, text=one_line(typed or "", 40)))])
        else:
            feedback = answer.feedback_html()
            if answer.solution is not None:
                self.reveal()
        self.feedback.value = _LINES.format("alert", feedback)

    def reveal(self) -> None:
        """Show the solution."""
        self.solution.value = self.state.reveal()._repr_html_()

    def _submitted(self, _ignored: Any, content: Any, __: Any) -> None:
        if content.get("event") == "submit":
            self._entered = True
            if self.value.value.strip():
                self.check()

    def _changed(self, _ignored: Any) -> None:
        if self._entered:
            self._entered = False
            self.check()
