"""A comparison as HTML: what may be concluded first, then the numbers behind it, then the users.

Each section is a function of the frozen data and gives HTML that stands by itself, so sections can follow each other on
a page or stand behind tabs. What matters for reading is set inline and in text, and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from recnb.comparison import charts
from recnb.comparison.conclusions import (
    SIGNS,
    TESTS,
    VERDICTS,
    bare_p,
    family,
    headline,
    intervals_in_words,
    not_covered,
    number,
    percent_of,
    signed,
    summaries,
    whose,
)
from recnb.comparison.html_users import beyond, movers, overlap, segments
from recnb.comparison.results import POWER
from recnb.display import html
from recnb.display import svg as chart
from recnb.display.components import ANYWHERE, FAINT, compact, folded, heading, name, picture, plain, strong, wide
from recnb.display.language import N_, _, ngettext
from recnb.display.page import page
from recnb.display.tabs import Section, tabbed
from recnb.display.text import one_line
from recnb.lint import html as lint_html

if TYPE_CHECKING:
    from recnb.comparison.results import Compared, Difference, Found, Line, Mean, Settings

#: Titles of the tabs.
TABS: dict[str, str] = {
    "overview": N_("Overview"),
    "users": N_("Users"),
    "beyond": N_("Beyond accuracy"),
    "segments": N_("Segments"),
    "readings": N_("How to read"),
    "differences": N_("Differences"),
    "curves": N_("Curves"),
    "overlap": N_("Overlap"),
}


#: With more differences than this at the lead cut-off, those of the lead metric alone are drawn.
ROWS_DRAWN = 42

NO_BREAK = "\u00a0"


def document(compared: Compared, title: str | None = None) -> str:
    """The comparison as a document that stands by itself."""
    said = plain(title if title is not None else _("Comparison of {models}", models=", ".join(compared.models)), 200)
    return page(said, said, fragment(compared))


def fragment(compared: Compared) -> str:
    """The comparison as a notebook shows it: what may be concluded, and the sections behind it."""
    first = "".join(sentence_line(words) for words in headline(compared, strong))
    key = (
        f"{compared.basis}; {compared.settings}; {[(one.label, one.model, number(one.mean)) for one in compared.means]}"
    )
    return html.root(
        first, tabbed(sections(compared), _("sections of the report"), key), label=_("comparison of models")
    )


def sections(compared: Compared) -> list[Section]:
    """Each part that there is something to show of; what is odd about the data first, if anything is."""
    n = len(compared.findings)
    odd = Section(_("Findings ({n})", n=n) if n else _("Findings: nothing odd"), findings(compared))
    parts = [
        ("overview", "", conclusions(compared) + means(compared)),
        ("differences", N_("Differences, each over the same users"), differences(compared)),
        ("segments", N_("Differences within segments of the users"), segments(compared)),
        ("curves", N_("Against the cut-off"), curves(compared.curves, compared.settings, compared.k)),
        ("beyond", "", beyond(compared)),
        ("users", N_("Users whose lists changed most in value"), "".join(movers(one) for one in compared.moved)),
        ("overlap", N_("How alike the lists are"), overlap(compared.overlaps)),
        ("readings", N_("Users and conventions"), about(compared)),
    ]
    further = [Section(_(TABS[key]), (heading(_(title)) if title else "") + body) for key, title, body in parts if body]
    return [odd, *further] if n else [*further, odd]


def findings(compared: Compared) -> str:
    """What is odd about the data, and in whose lists; and what of this report takes rows that are not here."""
    left_out = "".join(html.note(html.text(words, 900)) for words in compared.left_out)
    if not compared.findings:
        return html.note(html.text(_("Lint: nothing odd in {checks} checks", checks=compared.n_checks))) + left_out
    few = len(compared.findings) <= lint_html.FEW
    rows = [
        lint_html.line(
            one.finding,
            is_open=few or one.finding.severity == "warning",
            whose=whose(compared, one, name),
            effects=_effects(one),
        )
        for one in compared.findings
    ]
    return (
        "".join(rows)
        + html.note(
            html.text(
                _(
                    "{checks} things were looked for in each model's lists. Findings are told by the lead "
                    "metric; .lint() of a model tells more.",
                    checks=compared.n_checks,
                ),
                400,
            )
        )
        + left_out
    )


def _effects(found: Found) -> list[str]:
    """What it does to the numbers, model by model where that differs."""
    if len(found.effects) == 1:
        return [found.finding.said("effect", "html")]
    return [
        f"{strong(model)}: {one.said('effect', 'html')}" for model, one in zip(found.models, found.of_each, strict=True)
    ]


def conclusions(compared: Compared) -> str:
    """What may be concluded over all that was compared, and how far to trust it."""
    more = "".join(f'<li style="margin: 0.15em 0;">{words}</li>' for words in summaries(compared, strong))
    listed = f'<ul style="margin: 0.5em 0 0.5em 0; padding-left: 1.2em;">{more}</ul>' if more else ""
    said = [*family(compared.settings, compared.n_tested), not_covered()]
    return f"{listed}{html.note(html.text(' '.join(said), 1500))}"


def sentence_line(words: str) -> str:
    """One conclusion, set so that it is read first."""
    style = f"border-left: 3px solid {chart.ACCENT}; padding: 0.2em 0 0.2em 0.7em; margin: 0.35em 0;"
    return f'<div style="{style}">{words}</div>'


def means(compared: Compared) -> str:
    """Models × metrics at each cut-off: the lead cut-off open, the others to open."""
    legend = [
        _("Bold, underlined: the highest mean of its column"),
        _(
            "° not told apart from it (paired t test, Holm's correction over all columns, level {alpha})",
            alpha=f"{compared.settings.alpha:g}",
        ),
    ]
    if compared.reference is not None:
        legend.append(
            _(
                "▲ better, ▼ worse than {baseline} (the corrected test and the interval agree)",
                baseline=plain(compared.reference),
            )
        )
    others = [folded(_("The same at k = {k}", k=k), _means_at(compared, k)) for k in compared.k if k != compared.lead_k]
    return _means_at(compared, compared.lead_k) + html.note(". ".join(legend) + ".") + "".join(others)


def _means_at(compared: Compared, k: int) -> str:
    header = [_("model"), *(f"{html.text(one.symbol)}@{k}" for one in compared.metrics)]
    rows = []
    for model in compared.models:
        shown = name(model)
        if model == compared.reference:
            shown += f' <span style="font-weight: 400; font-size: 0.86em; white-space: nowrap; {FAINT}">{_("baseline")}</span>'
        cells = [_mean(compared, compared.mean_of(model, one.metric, k)) for one in compared.metrics]
        rows.append([_in_cell(model, shown), *cells])
    caption = _(
        "Means at k = {k}, with their {confidence} intervals", k=k, confidence=percent_of(compared.settings.confidence)
    )
    return wide(compact(header, rows, left=1, caption=caption), caption)


def _mean(compared: Compared, one: Mean) -> str:
    value = (
        f'<b style="font-weight: 700; text-decoration: underline;">{number(one.mean)}</b>'
        if one.best
        else number(one.mean)
    )
    signs = "°" if one.near_best else ""
    against = None if one.k is None else compared.against_reference(one.model, one.metric, one.k)
    if against is not None and against.verdict in ("better", "worse"):
        signs += SIGNS[against.verdict]
    ends = f"{number(one.low)}–{number(one.high)}" if isfinite(one.low) else ""
    # Blanks in the place of signs keep the numbers under each other.
    return f'{value}{signs.ljust(2, NO_BREAK)}<br><small style="{FAINT}">{ends}{2 * NO_BREAK}</small>'


def _in_cell(model: str, shown: str) -> str:
    """A name in a cell as wide as itself or as a line of 20 letters, whichever is less: a narrow table breaks no short name."""
    return f'<span style="display: inline-block; min-width: {0.62 * min(len(model), 20):.1f}em; max-width: 16em; {ANYWHERE}">{shown}</span>'


def differences(compared: Compared) -> str:
    """The forest plot of the lead cut-off, and every test behind it."""
    lead = compared.at(compared.lead_k)
    drawn = [one for one in lead if _bounded(compared, one)] or compared.at(compared.lead_k, compared.lead.metric)
    more = (
        html.note(
            ngettext(
                "{n} difference of a metric without an upper bound is in the table alone.",
                "{n} differences of metrics without an upper bound are in the table alone.",
                len(lead) - len(drawn),
            )
        )
        if len(drawn) < len(lead)
        else ""
    )
    if len(drawn) > ROWS_DRAWN:
        drawn = compared.at(compared.lead_k, compared.lead.metric)
        more = html.note(
            _("Drawn for {symbol} alone; the other metrics are in the tables.", symbol=html.text(compared.lead.symbol))
        )
    drawing = forest(drawn, compared.settings, compared.reference)
    tables = [
        folded(_("Every test at k = {k}", k=k), tests(compared.at(k), compared.settings, compared.n_tested))
        for k in compared.k
    ]
    return drawing + more + "".join(tables)


def _bounded(compared: Compared, one: Difference) -> bool:
    return next(reading.bounded for reading in compared.metrics if reading.metric == one.metric)


def forest(found: Sequence[Difference], settings: Settings, reference: str | None) -> str:
    """The forest plot with its numbers as text, and what its signs mean."""
    if not found:
        return ""
    baselines = {one.baseline for one in found}
    label = (
        _("difference from {baseline}", baseline=one_line(reference, 60))
        if reference is not None and len(baselines) == 1
        else _("difference, first minus second")
    )
    svg, width = charts.forest(found, label, many_baselines=len(baselines) > 1)
    alt = f"{label}. " + "; ".join(
        f"{one.label} {one_line(one.model, 40)} − {one_line(one.baseline, 40)}: {signed(one.difference)} "
        f"({number(one.low)} … {number(one.high)}), {_(VERDICTS[one.verdict])}"
        for one in found[: charts.MOST_ROWS]
    )
    legend = _(
        "Mean difference over the same users, and its {confidence} interval. Filled marks are findings (▲ "
        "better, ▼ worse: the corrected test and the interval agree); hollow ones are not (◇ a hint, ○ no "
        "difference shown).",
        confidence=percent_of(settings.confidence),
    )
    return picture(svg, alt, width) + html.note(html.text(legend, 600))


def tests(found: Sequence[Difference], settings: Settings, n_compared: int) -> str:
    """Differences with intervals, p-values, corrections, effect size and users."""
    rows = [
        [
            html.text(one.label),
            name(one.model),
            name(one.baseline),
            signed(one.difference),
            f"{number(one.low)} … {number(one.high)}",
            *(html.text(bare_p(p)) for p in (one.t_p, one.wilcoxon_p, one.randomization_p, one.p_holm, one.p_bh)),
            number(one.effect_size),
            f"{one.won:,} / {one.tied:,} / {one.lost:,}",
            number(one.detectable),
            f"{SIGNS[one.verdict]} {_(VERDICTS[one.verdict])}",
        ]
        for one in found
    ]
    header = [
        html.text(_("metric")),
        html.text(_("model")),
        html.text(_("baseline")),
        html.text(_("difference")),
        html.text(_("{confidence} interval", confidence=percent_of(settings.confidence))),
        html.text(_("p, t")),
        html.text(_("p, Wilcoxon")),
        html.text(_("p, signs")),
        html.text(_("p, Holm")),
        html.text(_("p, BH")),
        html.text(_("effect size")),
        html.text(_("won / tied / lost")),
        html.text(_("detectable")),
        html.text(_("conclusion")),
    ]
    table = compact(header, rows, left=3)
    words = _(
        "p-values are two-sided; those of {test} are corrected over all {count} comparisons of the report. "
        "Effect size: the mean difference in standard deviations of users' differences. Detectable: the true "
        "difference that a single, uncorrected t test at {alpha} would have found with {power} power. Won / tied "
        "/ lost: users.",
        test=_(TESTS[settings.test]),
        count=f"{n_compared:,}",
        power=percent_of(POWER),
        alpha=f"{settings.alpha:g}",
    )
    return wide(table, _("Differences, each over the same users")) + html.note(html.text(words, 900))


def curves(lines: Sequence[Line], settings: Settings, marked: Sequence[int] = ()) -> str:
    """Every model's mean against the cut-off, with the numbers in a table to open."""
    if not lines:
        return ""
    symbol = lines[0].symbol
    svg, width = charts.curves(lines, _("mean {symbol}@k", symbol=symbol), marked)
    last = "; ".join(f"{one_line(line.model, 40)}: {number(line.mean[-1])}" for line in lines)
    alt = _("{symbol} against k. At k = {k}: {values}", symbol=symbol, k=lines[0].k[-1], values=last)
    rows = [[str(k), *(number(line.mean[at]) for line in lines)] for at, k in enumerate(lines[0].k)]
    table = compact(["k", *(name(line.model) for line in lines)], rows, left=1)
    words = _(
        "Bands are {confidence} intervals of each mean by itself. They may cover each other although the "
        "difference over the same users is sure: judge models by the differences.",
        confidence=percent_of(settings.confidence),
    )
    return (
        picture(svg, alt, width)
        + html.note(html.text(words, 400))
        + folded(_("The numbers of the curves"), wide(table, symbol), again=True)
    )


def about(compared: Compared) -> str:
    """Whom, how and by which conventions: what one must know to take the numbers as they are meant."""
    parts = [plain(f"{compared.basis}.", 3000), html.text(intervals_in_words(compared.settings), 900)]
    rows = [
        [
            html.text(one.symbol),
            html.text(one.reads, 400),
            f"<code>{html.text(one.formula, 400)}</code>",
            html.text(one.convention, 400),
        ]
        for one in compared.metrics
    ]
    header = [_("metric"), _("how to read it"), _("formula"), _("convention")]
    table = wide(html.table(header, rows, numbers_from=4), _("How to read each metric, and its formula"))
    return "".join(html.note(words) for words in parts) + table
