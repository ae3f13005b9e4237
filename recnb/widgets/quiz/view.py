"""An exercise with a box to answer in: the question, a value, the largest term, and what there is to say to both.

ipywidgets and anywidget are imported when a view is made; without them an exercise shows its question in HTML. All checking is
done by the exercise itself.
"""

from __future__ import annotations

from typing import Any

from recnb.display import html
from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError
from recnb.widgets.quiz import Quiz
from recnb.widgets.quiz.question import html_of


class QuizView:
    """The widgets of one exercise; `.widget` is what is shown."""

    def __init__(self, quiz: Quiz) -> None:
        import ipywidgets as w  # type: ignore[import-untyped]

        from recnb.widgets.keyboard import Keys

        self.quiz = quiz
        fitting, wide = w.Layout(width="max-content"), {"description_width": "initial"}
        with use_language(quiz.lang):
            self.question = w.HTML(_spaced(html_of(quiz, how=False)))
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
        controls = [self.value, *([self.largest] if quiz.asks_largest else []), self.button, self.show]
        row = w.Layout(flex_flow="row wrap", align_items="center", grid_gap="0.2em 0.8em")
        keys = Keys("recnb-quiz", quiz.lang)
        self.widget = w.VBox([self.question, w.Box(controls, layout=row), self.feedback, self.solution, keys])
        self.widget.add_class("recnb-quiz")

    def check(self) -> None:
        """Say whether what was typed and chosen is right; after a right value the solution is shown."""
        typed, largest = self.value.value.strip() or None, self.largest.value or None
        if typed is None and largest is None:
            self._say(
                N_("Type a value, or choose the largest term.") if self.quiz.asks_largest else N_("Type a value.")
            )
            return
        try:
            answer = self.quiz.check(typed, largest=largest)
        except RecnbError:
            self._say(
                N_("{text} cannot be read as a number: type 0.1234, 0,1234, 2/3 or 12.34%."),
                text=one_line(typed or "", 40),
            )
            return
        self.feedback.value = _heard(answer.feedback_html())
        if answer.solution is not None:
            self.reveal()

    def reveal(self) -> None:
        """Show the solution."""
        self.solution.value = self.quiz.reveal()._repr_html_()

    def _say(self, message: str, **values: Any) -> None:
        with use_language(self.quiz.lang):
            said = html.text(_(message, **values), 400)
        self.feedback.value = _heard(html.root(f"<div>{said}</div>", label=self.quiz.label))

    # The browser tells of the Enter key first, and of what was typed after it; of what was typed alone, when the focus
    # goes elsewhere, as to the largest term.

    def _submitted(self, _ignored: Any, content: Any, __: Any) -> None:
        if content.get("event") == "submit":
            self._entered = True
            if self.value.value.strip():
                self.check()

    def _changed(self, _ignored: Any) -> None:
        if self._entered:
            self._entered = False
            self.check()


def _spaced(shown: str) -> str:
    """Lines at the distance of text: a widget of HTML spaces them as its buttons are high."""
    return f'<div style="line-height: 1.45;">{shown}</div>'


def _heard(shown: str) -> str:
    """What is read aloud as soon as it is there: an answer to what was pressed. Of what is new, only alerts are sure to be."""
    return f'<div role="alert">{_spaced(shown)}</div>'


def as_widget(quiz: Quiz) -> Any:
    """The widget of an exercise, or None where ipywidgets or anywidget are not installed."""
    try:
        return QuizView(quiz).widget
    except ImportError:
        return None


def register() -> None:
    """Let exercises show themselves with a box to answer in."""
    Quiz.as_widget = as_widget
