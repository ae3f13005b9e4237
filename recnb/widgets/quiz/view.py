"""The widget of an exercise: the question, a box for the value, a choice of the largest term, and the feedback.

ipywidgets and anywidget are imported when a view is made; without them an exercise shows its question in HTML.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError
from recnb.widgets.quiz.exercise import Quiz

#: Lines at the distance of text: a widget of HTML spaces them as its buttons are high.
_SPACED = Markup('<div style="line-height: 1.45;">{}</div>')

#: Feedback is read aloud at once: of what is new on a page, only alerts are sure to be.
_ALERT = Markup('<div role="alert"><div style="line-height: 1.45;">{}</div></div>')


class QuizView:
    """The widgets of one exercise; `.widget` is what is shown."""

    def __init__(self, quiz: Quiz) -> None:
        import ipywidgets as w  # type: ignore[import-untyped]

        from recnb.widgets.keyboard import Keys

        self.quiz = quiz
        fitting, wide = w.Layout(width="max-content"), {"description_width": "initial"}
        with use_language(quiz.lang):
            self.question = w.HTML(_SPACED.format(quiz._question_html(instruction=False)))
            empty = "0." + "0" * quiz.digits
            self.value = w.Text(description=_("Value"), placeholder=empty, style=wide, continuous_update=False)
            self.value.layout.width = "14em"
            choices = [(_("choose"), ""), *((item, item) for item in quiz.items)]
            self.largest = w.Dropdown(
                options=choices, value="", description=_("Largest term"), style=wide, layout=fitting
            )
            self.button = w.Button(description=_("Check"), button_style="primary", layout=fitting)
            self.show = w.Button(description=_("Show the solution"), layout=fitting)
        self.feedback, self.solution = w.HTML(), w.HTMLMath()
        for name in ("question", "value", "largest", "button", "show", "feedback", "solution"):
            getattr(self, name).add_class(f"recnb-quiz-{name}")
        self.button.on_click(lambda _ignored: self.check())
        self.show.on_click(lambda _ignored: self.reveal())
        self._entered = False
        self.value.on_msg(self._submitted)
        self.value.observe(self._changed, "value")
        controls = [self.value, *([self.largest] if quiz._asks_largest else []), self.button, self.show]
        row = w.Layout(flex_flow="row wrap", align_items="center", grid_gap="0.2em 0.8em")
        keys = Keys("recnb-quiz", quiz.lang)
        self.widget = w.VBox([self.question, w.Box(controls, layout=row), self.feedback, self.solution, keys])
        self.widget.add_class("recnb-quiz")

    def check(self) -> None:
        """Check what was typed and chosen; after a right value the solution is shown."""
        typed, largest = self.value.value.strip() or None, self.largest.value or None
        if typed is None and largest is None:
            both = N_("Type a value, or choose the largest term.")
            self._alert(both if self.quiz._asks_largest else N_("Type a value."))
            return
        try:
            answer = self.quiz.check(typed, largest=largest)
        except RecnbError:
            unread = N_("{text} cannot be read as a number: type 0.1234, 0,1234, 2/3 or 12.34%.")
            self._alert(unread, text=one_line(typed or "", 40))
            return
        self.feedback.value = _ALERT.format(answer._feedback_html())
        if answer.solution is not None:
            self.reveal()

    def reveal(self) -> None:
        """Show the solution."""
        self.solution.value = self.quiz.reveal()._repr_html_()

    def _alert(self, message: str, **values: Any) -> None:
        with use_language(self.quiz.lang):
            self.feedback.value = _ALERT.format(self.quiz._feedback_html([_(message, **values)]))

    # The browser sends the Enter key before the text; when the focus moves, as to the largest term, it sends the text alone.

    def _submitted(self, _ignored: Any, content: Any, __: Any) -> None:
        if content.get("event") == "submit":
            self._entered = True
            if self.value.value.strip():
                self.check()

    def _changed(self, _ignored: Any) -> None:
        if self._entered:
            self._entered = False
            self.check()


def as_widget(quiz: Quiz) -> Any:
    """Return the widget of an exercise, or None if ipywidgets or anywidget is not installed."""
    try:
        return QuizView(quiz).widget
    except ImportError:
        return None


def register() -> None:
    """Let exercises show themselves with a box for the answer."""
    Quiz.as_widget = as_widget
