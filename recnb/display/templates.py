"""HTML from Jinja2 templates, in which everything that is not HTML already is escaped.

A template lies in the folder of its feature, as `widgets/quiz/quiz.jinja`, and imports
the macros of `display/components.jinja`. JupyterLab removes style sheets from notebooks
that are not trusted, so the macros set inline what matters for reading. Colours follow
the text around (`currentColor`, transparency), so light and dark need no detection.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from math import isfinite
from typing import Any

from markupsafe import Markup, escape

from recnb.display import language, style, text


def render(template: str, /, **values: Any) -> Markup:
    """Return the HTML of a template, by its path as "results/score.jinja".

    Strings are escaped, `Markup` is HTML already.
    """
    return _compact(_environment().get_template(template).render(values))


def macro(template: str, macro_name: str, /, *arguments: Any, **values: Any) -> Markup:
    """Return the HTML of one macro of a template.

    `values` are what all its macros see, the same in each call.
    """
    module = _environment().get_template(template, globals=values).module
    return _compact(getattr(module, macro_name)(*arguments))


def _compact(html: str) -> Markup:
    """Remove line breaks between tags, which belong to the layout of a template.

    Values hold no tags, since they are escaped.
    """
    return Markup(re.sub(r">\s*\n\s*<", "><", str(html)).strip())


def plain_lines(template: str, macro_name: str, /, *arguments: Any) -> list[str]:
    """Return the lines of one macro of a template of text, which escapes nothing.

    Without those that are empty.
    """
    module = _environment().get_template(template).module
    written = str(getattr(module, macro_name)(*arguments))
    return [line for line in written.splitlines() if line]


def framed(label: str, body: str) -> Markup:
    """Put the frame of everything that is shown around HTML.

    Korean breaks between words, which browsers do only on request.
    """
    lang = ""
    look = (
        "color: inherit; background: transparent; font-size: 0.95em; max-width: 68em;"
    )
    if language.current() == "ko":
        lang = ' lang="ko"'
        look += " word-break: keep-all; overflow-wrap: break-word;"
    sheet = ""
    if 'class="recnb-table' in body:
        sheet = f"<style>{style_sheet('tables')}</style>"
    head = (
        f'<div class="recnb mathjax_ignore tex2jax_ignore"{lang} role="region" '
        f'aria-label="{user_text(label, 80)}" style="{look}">'
    )
    return Markup(f"{head}{sheet}{body}</div>")


def page(title: str, body: str) -> Markup:
    """Return a document that needs nothing else.

    It has a title, which is its heading, and the body.

    In a notebook, headings of the body are below those of the notebook; in a document
    they follow its own.
    """
    higher = re.sub("(</?h)([34])", lambda tag: f"{tag[1]}{int(tag[2]) - 1}", body)
    return render(
        "display/page.jinja", title=user_text(title, 200), body=Markup(higher)
    )


def user_text(value: object, longest: int = text.NAME_SHOWN) -> Markup:
    """Return text of the user's as HTML.

    It is on one line, cut to a length, escaped, with no address that becomes a link.
    """
    escaped = str(escape(text.one_line(value, longest)))
    return Markup(escaped.replace("://", ":&#47;&#47;"))


def name(value: object, longest: int = 40) -> Markup:
    """Return the name of something of the user's as HTML.

    It has its own direction of writing.
    """
    return Markup(f"<bdi>{user_text(value, longest)}</bdi>")


def translated(message: language.Message, /, **values: Any) -> str:
    """Translate a message whose values may be HTML.

    If one of them is, the others are escaped and the result is HTML.
    """
    if not any(isinstance(value, Markup) for value in values.values()):
        return language._(message, **values)
    for key, value in values.items():
        if isinstance(value, str):
            values[key] = escape(value)
    return Markup(language._(message, **values))


@cache
def style_sheet(name: str) -> str:
    """Return a style sheet on one line without its comments.

    It is part of each output of a notebook.
    """
    sheet = resources.files("recnb").joinpath(f"display/{name}.css").read_text()
    sheet = re.sub(r"/\*.*?\*/", "", sheet)
    return re.sub(r"\s*\n\s*", " ", sheet).strip()


@cache
def _environment() -> Any:
    # Jinja2 takes 30 ms to import, which a number does not need.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("recnb", ""),
        autoescape=lambda template: not str(template).endswith(".txt.jinja"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.do"],
    )
    environment.globals |= {
        "_": translated,
        "ngettext": language.ngettext,
        "pgettext": language.pgettext,
        "lang": language.current,
        "ACCENT": style.ACCENT,
        "OTHER": style.OTHER,
        "QUIET": style.QUIET,
        "isfinite": isfinite,
        "framed": framed,
    }
    environment.filters |= {
        "arrow": text.arrow,
        "fixed": text.fixed,
        "short": text.short,
        "signed": text.signed,
        "trimmed": text.trimmed,
        "isfinite": isfinite,
        "name": name,
        "user_text": user_text,
        "place": "{:.1f}".format,
    }
    return environment
