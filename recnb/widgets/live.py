"""What playground, explorer and exercises share: HTML, with controls if a kernel runs.

Elsewhere the same is shown without controls.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from recnb.display.language import use_language
from recnb.errors import OptionError, RecnbError, Suggesting, near, quoted

if TYPE_CHECKING:
    import ipywidgets


@cache
def html_widget() -> Any:
    """Return the class of a widget that shows HTML.

    A control used comes back as its name, its value and the key of its row.
    """
    import anywidget
    import traitlets

    files = resources.files("recnb.widgets")

    class LiveHtml(anywidget.AnyWidget):
        _esm = files.joinpath("live.js").read_text("utf-8")
        _css = files.joinpath("live.css").read_text("utf-8")
        html = traitlets.Unicode().tag(sync=True)

    return LiveHtml


def check_choice(name: str, value: object, known: Collection[Any]) -> None:
    """Raise an error if a choice is not among those that are known."""
    if not isinstance(value, Hashable) or value not in frozenset(known):
        raise OptionError(f"{name}={quoted(value)} is not here. {near(value, known)}")


class Live(Suggesting, ABC):
    """An object that a notebook shows with controls, which change it.

    Its methods call `_draw` after each change.
    """

    lang: str  #: of all that is shown
    problem = ""  #: why the last use of a control was refused
    _view: ipywidgets.VBox | None = None
    _draws_later = False

    @abstractmethod
    def _html(self, live: bool) -> str:
        """Return its HTML, with controls if it is live."""

    @abstractmethod
    def _worked(self) -> list[str]:
        """Return the parts below it with formulas, always as many."""

    @abstractmethod
    def _use(self, name: str, value: str, key: str) -> None:
        """Do what a control does."""

    def use(self, name: str, value: str = "", key: str = "") -> None:
        """Do what a control does, and show why if it is refused.

        `key`: of the row in which the control is.
        """
        self._draws_later = True  # once, at the end
        self.problem = ""
        try:
            with use_language(self.lang):
                self._use(name, value, key)
        except RecnbError as refused:
            self.problem = str(refused)
        finally:
            self._draws_later = False
        self._draw()

    def widget(self) -> ipywidgets.VBox:
        """Return the widget, always the same one.

        It needs `recnb[notebook]`.

        Returns
        -------
        ipywidgets.VBox
            With the controls.

        Examples
        --------
        >>> import recnb
        >>> type(recnb.playground().widget()).__name__
        'VBox'
        """
        if self._view is None:
            self._view = self._new_view()
            self._draw()
        return self._view

    def _new_view(self) -> ipywidgets.VBox:
        try:
            import ipywidgets

            top = html_widget()()
        except ImportError as missing:
            problem = (
                f"a widget needs ipywidgets and anywidget, and {missing.name} is "
                f"not installed: "
            )
            raise RecnbError(f'{problem}pip install "recnb[notebook]".') from missing
        worked = [ipywidgets.HTMLMath() for _part in self._worked()]
        top.on_msg(lambda _widget, used, _buffers: self.use(**used))
        return ipywidgets.VBox([top, *worked])

    def _draw(self) -> None:
        """Show a change in the widget, if it has been made."""
        if self._draws_later or self._view is None:
            return
        with use_language(self.lang):
            top, *worked = self._view.children
            top.html = self._html(live=True)
            # Also after a refusal, which leaves the HTML as it was: the control is put
            # back.
            top.send("draw")
            for widget, html in zip(worked, self._worked(), strict=True):
                widget.value = html

    def __getstate__(self) -> dict[str, Any]:
        # A widget is of one session.
        return {**vars(self), "_view": None}

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            return "".join([self._html(live=False), *self._worked()])

    def _repr_mimebundle_(self, **_asked: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        with contextlib.suppress(RecnbError):  # ipywidgets is not installed
            shown.update(self.widget()._repr_mimebundle_() or {})
        shown["text/plain"] = repr(self)
        shown["text/html"] = self._repr_html_()
        return shown
