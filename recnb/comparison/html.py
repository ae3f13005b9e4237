"""A comparison as HTML: `report.jinja` and, for each of its sections, a macro of `sections.jinja`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from recnb.comparison import charts, tables
from recnb.comparison import conclusions as words
from recnb.display.language import _
from recnb.display.templates import name, page, render, user_text
from recnb.lint import html as lint_html

if TYPE_CHECKING:
    from recnb.comparison.results import ComparisonReportData, ModelFinding

#: What the templates call.
CONTEXT = {"words": words, "tables": tables, "charts": charts, "name_of": name, "user_text": user_text}


def document(report: ComparisonReportData, title: str | None = None) -> str:
    """The comparison as a document that needs nothing else."""
    shown = user_text(_("Comparison of {models}", models=", ".join(report.models)) if title is None else title, 200)
    return str(page(shown, shown, Markup(fragment(report))))


def fragment(report: ComparisonReportData) -> str:
    """The comparison as a notebook shows it."""
    means = [(one.label, one.model, words.number(one.mean)) for one in report.means]
    key = f"{report.basis}; {report.settings}; {means}"
    line = partial(finding, few=len(report.findings) <= lint_html.FEW)
    return str(render("comparison/report.jinja", report=report, key=key, finding=line, **CONTEXT))


def part(section: str, label: str, *arguments: Any) -> str:
    """One macro of `sections.jinja` by itself."""
    return str(render("comparison/part.jinja", section=section, label=label, arguments=arguments, **CONTEXT))


def finding(found: ModelFinding, whose: str, strong: Callable[[str], Markup], *, few: bool) -> Markup:
    """A finding of the lint as a line that unfolds, with its effect on each model where they differ."""
    effects = [Markup(found.finding.said("effect", "html"))]
    if len(found.effects) > 1:
        effects = [
            Markup("{}: {}").format(strong(model), Markup(one.said("effect", "html")))
            for model, one in zip(found.models, found.of_each, strict=True)
        ]
    is_open = few or found.finding.severity == "warning"
    return Markup(lint_html.line(found.finding, is_open=is_open, whose=whose, effects=effects))
