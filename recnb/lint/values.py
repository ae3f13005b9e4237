"""What comes from a user's frame, within the sentences of a lint: made safe for the form in which they are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from recnb.display import html
from recnb.display.text import markdown_text, one_line

Form = Literal["text", "html", "markdown"]
SHOWN = 40


@dataclass(frozen=True, eq=False)
class Theirs:
    """One or several ids or names of the user's, as a program writes them: 1 is a number, '1' is text."""

    values: tuple[Any, ...]

    @classmethod
    def of(cls, *values: Any) -> Theirs:
        """These values."""
        return cls(values)

    def shown(self, form: Form) -> str:
        """The values on one line, in their own direction.

        >>> Theirs.of("<b>", 7).shown("html")
        '<bdi>&#x27;&lt;b&gt;&#x27;</bdi>, <bdi>7</bdi>'
        """
        return ", ".join(_shown(value, form) for value in self.values)


def _shown(value: Any, form: Form) -> str:
    plain = one_line(repr(value), SHOWN)
    if form == "markdown":
        return markdown_text(plain)
    if form == "html":
        escaped = html.text(plain).replace("`", "&#96;").replace("://", ":&#47;&#47;")
        return f"<bdi>{escaped}</bdi>"
    return plain


def in_form(said: str, form: Form) -> str:
    """A sentence with its code marked: the sentences of the table hold no markup but backticks."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", said) if form == "html" else said
