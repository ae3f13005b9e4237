"""The view of an exercise: its question, a box for the answer, and what is said of the answer."""

from __future__ import annotations

import ipywidgets as w
from markupsafe import Markup

from recnb.display.document import Line, Note, html
from recnb.display.language import _, use_language
from recnb.errors import RecnbError
from recnb.widgets.quiz.exercise import Quiz
from recnb.widgets.view import FITTING, ROWS, WIDE, View

#: Lines at the distance of text, as a widget of HTML spaces them; new feedback is read aloud as an alert.
LINES = Markup('<div role="{}"><div style="line-height: 1.45;">{}</div></div>')


class QuizView(View):
    """The widget of a `Quiz`, which makes it to show itself."""

    def __init__(self, quiz: Quiz) -> None:
        with use_language(quiz.lang):
            self.question = w.HTML(LINES.format("group", html(quiz.question())))
            self.value = w.Text(
                description=_("Value"), placeholder=quiz.rounded(0.0), style=WIDE, layout=w.Layout(width="14em"), continuous_update=False
            )  # fmt: skip
            self.button = w.Button(description=_("Check"), button_style="primary", layout=w.Layout(**FITTING))
            self.show = w.Button(description=_("Show the solution"), layout=w.Layout(**FITTING))
        self.feedback, self.solution = w.HTML(), w.HTMLMath()
        row = w.Box([self.value, self.button, self.show], layout=w.Layout(**ROWS, grid_gap="0.2em 0.8em"))
        super().__init__("recnb-quiz", quiz, [self.question, row, self.feedback, self.solution], type(quiz)._repr_html_)
        self.button.on_click(lambda _button: self.check())
        self.show.on_click(lambda _button: self.reveal())
        self.value.on_submit(lambda _text: self.check())

    def check(self) -> None:
        """Check what was typed; after a right value the solution is shown."""
        try:
            answer = self.state.check(self.value.value)
        except RecnbError as error:
            said: Line = str(error)
        else:
            said = answer.feedback
            if answer:
                self.reveal()
        self.feedback.value = LINES.format("alert", html([Note(said, "plain")]))

    def reveal(self) -> None:
        """Show the solution."""
        self.solution.value = self.state.reveal()._repr_html_()
