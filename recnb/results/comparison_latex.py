"""A comparison as a table of LaTeX that a paper can take: booktabs, best in bold, marks for significance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.results.comparison_words import method_in_words, not_covered, number, percent_of
from recnb.results.report_text import latex_text
from recnb.strings import say

if TYPE_CHECKING:
    from recnb.results.comparison_data import Compared, Mean

MARKS = {"better": r"\ast", "worse": r"\dagger"}
NEAR = r"\circ"


def latex(compared: Compared) -> str:
    """Means of all models at every cut-off, the users, the test and its correction in the caption; needs booktabs."""
    n_columns = len(compared.metrics)
    body: list[str] = []
    for k in compared.k:
        if body:
            body.append(r"\midrule")
        body.append(" & ".join([rf"$k = {k}$", *(latex_text(one.symbol) for one in compared.metrics)]) + r" \\")
        body.append(r"\midrule")
        for model in compared.models:
            cells = [_mean(compared, compared.mean_of(model, one.metric, k)) for one in compared.metrics]
            body.append(" & ".join([latex_text(model), *cells]) + r" \\")
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_caption(compared)}}}",
            rf"\begin{{tabular}}{{l{'r' * n_columns}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _mean(compared: Compared, one: Mean) -> str:
    value = rf"\textbf{{{number(one.mean)}}}" if one.best else number(one.mean)
    against = None if one.k is None else compared.against_reference(one.model, one.metric, one.k)
    marks = (NEAR if one.near_best else "") + (MARKS.get(against.verdict, "") if against is not None else "")
    return f"{value}{_raised(marks)}" if marks else value


def _raised(marks: str) -> str:
    return f"$^{{{marks}}}$"


def _caption(compared: Compared) -> str:
    settings = compared.settings
    alpha = f"{settings.alpha:g}"
    words = [latex_text(say("compare.latex.means", n=compared.n_users), 400)]
    words.append(
        rf"\textbf{{{latex_text(say('compare.legend.bold'))}}}" + latex_text(say("compare.legend.bold_is"), 400)
    )
    words.append(f"{_raised(NEAR)} {latex_text(say('compare.latex.near', alpha=alpha), 400)}")
    if compared.reference is not None:
        found = [
            f"{_raised(mark)} {latex_text(say(f'compare.latex.{verdict}', baseline=compared.reference), 400)}"
            for verdict, mark in MARKS.items()
        ]
        test = say(
            "compare.latex.test",
            test=say(f"compare.test.{settings.test}"),
            count=f"{compared.n_tested:,}",
            alpha=alpha,
            confidence=percent_of(settings.confidence),
            method=method_in_words(settings),
        )
        words.append(f"{', '.join(found)}: {latex_text(test, 600)}")
    words += [latex_text(one.rstrip("."), 3000) for one in (not_covered(), compared.basis)]
    return ". ".join(words) + "."
