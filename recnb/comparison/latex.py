"""A comparison as a table of LaTeX that a paper can take: booktabs, best in bold, marks for significance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recnb.comparison.conclusions import TESTS, method_in_words, not_covered, number, percent_of
from recnb.display.language import N_, _, ngettext
from recnb.display.text import latex_text

if TYPE_CHECKING:
    from recnb.comparison.results import Compared, Mean

#: Verdicts in the caption.
LATEX_VERDICTS: dict[str, str] = {
    "better": N_("better than {baseline}"),
    "worse": N_("worse than {baseline}"),
}


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
    words = [latex_text(ngettext("Means over {n:,} user", "Means over {n:,} users", compared.n_users), 400)]
    words.append(rf"\textbf{{{latex_text(_('Bold'))}}}" + latex_text(_(": the highest mean of its column"), 400))
    words.append(
        f"{_raised(NEAR)} "
        + latex_text(
            _("not told apart from it (paired t test, Holm's correction over all columns, level {alpha})", alpha=alpha),
            400,
        )
    )
    if compared.reference is not None:
        found = [
            f"{_raised(mark)} {latex_text(_(LATEX_VERDICTS[verdict], baseline=compared.reference), 400)}"
            for verdict, mark in MARKS.items()
        ]
        test = _(
            "{test}, Holm's correction over {count} comparisons, level {alpha}, and a {confidence} interval of "
            "the difference that leaves out 0 ({method})",
            test=_(TESTS[settings.test]),
            count=f"{compared.n_tested:,}",
            alpha=alpha,
            confidence=percent_of(settings.confidence),
            method=method_in_words(settings),
        )
        words.append(f"{', '.join(found)}: {latex_text(test, 600)}")
    words += [latex_text(one.rstrip("."), 3000) for one in (not_covered(), compared.basis)]
    return ". ".join(words) + "."
