"""A comparison as HTML: `report.jinja` and, for each of its sections, a macro of `sections.jinja`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from recnb.comparison import charts, tables
from recnb.comparison import conclusions as words
from recnb.display.language import _
from recnb.display.templates import name, page, render, user_text

if TYPE_CHECKING:
    from recnb.comparison.results import ComparisonReportData

#: Modules and functions that the templates call.
CONTEXT = {"words": words, "tables": tables, "charts": charts, "name_of": name, "user_text": user_text}


def document(report: ComparisonReportData, title: str | None = None) -> str:
    """The comparison as a document that needs nothing else."""
    shown = user_text(_("Comparison of {models}", models=", ".join(report.models)) if title is None else title, 200)
    return str(page(shown, shown, Markup(fragment(report))))


def fragment(report: ComparisonReportData) -> str:
    """The comparison as a notebook shows it."""
    means = [(mean.label, mean.model, words.number(mean.mean)) for mean in report.means]
    key = f"{report.basis}; {report.settings}; {means}"
    return str(render("comparison/report.jinja", report=report, key=key, **CONTEXT))


def part(section: str, label: str, *arguments: Any) -> str:
    """One macro of `sections.jinja` by itself."""
    return str(render("comparison/part.jinja", section=section, label=label, arguments=arguments, **CONTEXT))
