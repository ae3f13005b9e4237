"""Templates written in any form, from the components of `html.jinja` or `text.jinja`.

A template lies in the folder of its feature, as `widgets/quiz/quiz.jinja`. It says what
is shown and in which order; `ui` are the components of the form, and whatever the
template puts in is written by the form (`Form.write`). JupyterLab removes style sheets
from notebooks that are not trusted, so components set inline what matters for reading.
Colours follow the text around (`currentColor`, transparency), so light and dark need no
detection.
"""

from __future__ import annotations

import re
from functools import cache, partial
from importlib import resources
from math import isfinite
from typing import Any, Literal

from markupsafe import Markup

from recnb.display import language, plain, style, text
from recnb.display.forms import (
    CONSOLE,
    FORMS,
    Line,
    Mark,
    Name,
    Rows,
    joined,
    opening,
    with_code,
)

#: The forms of templates. A page of a console ("txt") has lines of a hundred columns and
#: empty lines between its parts; "lines" are as long as what they hold, without empty
#: ones.
FormName = Literal["html", "md", "txt", "lines"]

#: How a table is written in the forms of text.
TEXT_TABLES = {
    "md": plain.markdown_table,
    "txt": plain.console_table,
    "lines": plain.whole_table,
}


def write(template: str, form: FormName, /, **values: Any) -> str:
    """Return a template written in a form, by its path as "report/report.jinja"."""
    return _tidy(_environment(form).get_template(template).render(values), form)


def macro(template: str, macro_name: str, form: FormName, /, *arguments: Any) -> str:
    """Return one macro of a template written in a form."""
    module = _environment(form).get_template(template).module
    return _tidy(getattr(module, macro_name)(*arguments), form)


def _tidy(written: str, form: FormName) -> str:
    """Remove line breaks and empty lines that belong to the layout of a template."""
    if form == "html":
        return str(compact(written))
    lines = [line.rstrip() for line in written.splitlines()]
    if form == "lines":
        return "\n".join(filter(None, lines))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def compact(html: str) -> Markup:
    """Remove line breaks between tags, which belong to the layout of a template.

    Values hold no tags, since they are escaped.
    """
    return Markup(re.sub(r">\s*\n\s*<", "><", str(html)).strip())


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
        f'aria-label="{text.html_text(label, 80)}" style="{look}">'
    )
    return Markup(f"{head}{sheet}{body}</div>")


def page(title: str, body: str) -> str:
    """Return a document that needs nothing else.

    It has a title, which is its heading, and the body.
    """
    heading = text.html_text(title, 200)
    return write("display/page.jinja", "html", title=heading, body=Markup(body))


@cache
def style_sheet(name: str) -> str:
    """Return a style sheet on one line without its comments.

    It is part of each output of a notebook.
    """
    sheet = resources.files("recnb").joinpath(f"display/{name}.css").read_text()
    sheet = re.sub(r"/\*.*?\*/", "", sheet)
    return re.sub(r"\s*\n\s*", " ", sheet).strip()


@cache
def _environment(form_name: FormName) -> Any:
    """Return the templates of a form."""
    # Jinja2 takes 30 ms to import, which a number does not need.
    from jinja2 import Environment, PackageLoader, StrictUndefined, Undefined

    form = FORMS[form_name]

    def written(value: Any) -> Markup:
        if isinstance(value, (int, float, Undefined)):
            value = str(value)  # an undefined one is "" behind an `if`, else an error
        return form.write(value)

    environment = Environment(
        loader=PackageLoader("recnb", ""),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=written,
        trim_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    environment.globals |= GLOBALS | {
        "line_of": partial(_line_of, form_name),
        "text_table": lambda table: Markup(TEXT_TABLES[form_name](table)),
        "TABS": Markup(style_sheet("tabs")),
        "FORM": form_name,
        "COMPONENTS": f"display/{'html' if form_name == 'html' else 'text'}.jinja",
    }
    environment.filters |= FILTERS
    return environment


def _label_of(line: Line) -> Markup:
    """Return what a screen reader calls a part: its words without marks."""
    return text.html_text(CONSOLE.write(line), 80)


def _is_hit(cell: Line) -> bool:
    first = cell
    if isinstance(cell, list) and cell:
        first = cell[0]
    return isinstance(first, Mark) and first.kind == "hit"


def _line_of(form_name: FormName, line: Line, first: str = "") -> Markup:
    """Write a line of text, which on a page of a console is broken; `first` begins it."""
    words = FORMS[form_name].write(line)
    if form_name == "txt":
        return Markup(plain.wrapped(words, first))
    return Markup(f"{first}{words}")


def _lines_of_card(card: Rows) -> list[Line]:
    """Return a small table in lines.

    Its caption, the cells of each column but the first, and its note.
    """
    lines: list[Line] = [card.caption]
    if card.rows:
        for title, *cells in list(zip(card.header, *card.rows, strict=True))[1:]:
            lines.append([title, ": ", *joined([cell for cell in cells if cell])])
    lines.append(card.note)
    return [line for line in lines if line]


#: What every template may use.
GLOBALS: dict[str, Any] = {
    "_": language._,
    "ngettext": language.ngettext,
    "pgettext": language.pgettext,
    "lang": language.current,
    "with_code": with_code,
    "code": partial(Mark, "code"),
    "strong": partial(Mark, "strong"),
    "Rows": Rows,
    "isfinite": isfinite,
    "framed": framed,
    "label_of": _label_of,
    "is_hit": _is_hit,
    "lines_of_card": _lines_of_card,
    "ACCENT": style.ACCENT,
    "QUIET": style.QUIET,
}
FILTERS: dict[str, Any] = {
    "arrow": text.arrow,
    "fixed": text.fixed,
    "short": text.short,
    "signed": text.signed,
    "trimmed": text.trimmed,
    "isfinite": isfinite,
    "name": Name,
    "opening": opening,
    "one_line": text.one_line,
    "place": "{:.1f}".format,
}
