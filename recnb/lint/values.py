"""Sentences with code, for reports until their templates use the filter `code`."""

from __future__ import annotations

from markupsafe import Markup

from recnb.display.templates import code


def in_form(words: str, form: str) -> str:
    """A sentence, which is HTML already, with its code marked."""
    return str(code(Markup(words))) if form == "html" else words
