"""The report of one model: its head, and its sections from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from recnb.display import document as doc
from recnb.display import svg
from recnb.display.document import Block, Line, Mark, Note, Rows, Section, with_code
from recnb.display.language import N_, _, ngettext, pgettext
from recnb.display.text import at_k, fixed, short, users_in_words
from recnb.report import blocks, segments, texts
from recnb.report.bins import Bins
from recnb.report.blocks import EVERY_FORM, PAGES, ReportLayout, SectionOf, estimate_of
from recnb.report.data import MetricWords, ReportData
from recnb.report.distribution import CountSummary, Distribution
from recnb.stats import BETA, BETA_OF_CLUSTERS, ENOUGH


def title_of(report: ReportData) -> str:
    """Return the title of the report."""
    return _("Evaluation report")


def label_of(report: ReportData) -> str:
    """Return what a screen reader calls the report."""
    return _("report of {symbol}", symbol=report.lead.symbol)


def head(report: ReportData) -> Iterator[Block]:
    """Give the lead metric with its interval, and how many users find anything."""
    (lead,) = report.means_of(report.lead.metric, report.lead_k)
    ends = f"{fixed(lead.low)}–{fixed(lead.high)}" if isfinite(lead.low) else _("n/a")
    interval = _(
        "{confidence:g}% interval {ends}",
        confidence=100 * report.settings.confidence,
        ends=ends,
    )
    about = f"({interval} · {report.sample})"
    number = Mark("big", fixed(lead.mean))
    title = [Mark("strong", lead.label), " = ", number, " ", Mark("small", about)]
    yield Note(title, "title")
    if blocks.has_hit_rates(report):
        yield Note(_users_who_find(report), "lead")
    yield Section("", [Note(with_code(report.lead.reads))], ("html",))


def _users_who_find(report: ReportData) -> str:
    """Say in plain words how many users find anything."""
    (rate,) = report.hit_rates
    users = blocks.out_of(report)
    with blocks.noun_of_lists(report):
        return _(
            texts.ONE_MODEL_FINDS,
            users=users,
            n=round(rate.mean * users),
            first=blocks.among_first(report),
        )


# Overview


def overview(report: ReportData) -> Iterator[Block]:
    """Give every metric at the cut-offs, a line per finding, and what was evaluated."""
    yield _metrics_by_cutoffs(report)
    yield doc.Items(blocks.findings_in_brief(report))
    yield from blocks.left_out(report)
    for remark in remarks(report):
        yield Note(remark)
    with blocks.noun_of_lists(report):
        tiles = _tiles(report)
    yield tiles


def _metrics_by_cutoffs(report: ReportData) -> Rows:
    """Return a row for each metric: accuracy with a picture, then beyond accuracy."""
    header: list[Line] = [_("metric"), *map(at_k, report.k), _strips_head(report)]
    rows: list[list[Line]] = []
    for index, metric in enumerate(report.metrics):
        if not metric.is_accuracy and report.metrics[index - 1].is_accuracy:
            heading = Mark("small", _("Beyond accuracy"))
            rows.append([heading, *[""] * (len(header) - 1)])
        row: list[Line] = [metric.row_name]
        for k in report.k:
            means = report.means_of(metric.metric, k)
            row.append(estimate_of(means[0]) if means else "")
        rows.append([*row, _strip(report, metric)])
    title = _("Means over {users}", users=report.sample)
    return Rows(header, rows, title, most=20)


def _strips_head(report: ReportData) -> Line:
    """Return the head of the strips, which says where each of them ends."""
    tops = {metric.bounds[1] for metric in report.metrics if _has_strip(metric)}
    if tops <= {1.0}:
        return Mark("aside", _("@{k}, 0 to 1", k=report.lead_k))
    return Mark("aside", _("@{k}, 0 to the upper bound", k=report.lead_k))


def _has_strip(metric: MetricWords) -> bool:
    bottom, top = metric.bounds
    return metric.is_accuracy and bottom == 0 and isfinite(top)


def _strip(report: ReportData, metric: MetricWords) -> Line:
    """Return a picture of a metric of accuracy between 0 and its upper bound."""
    means = report.means_of(metric.metric, report.lead_k)
    if not (means and metric.is_accuracy):
        return ""
    (mean,) = means
    if not (_has_strip(metric) and isfinite(mean.mean)):
        return "–"
    top = metric.bounds[1]
    words = N_("{label} is {value} of {top}")
    alt = _(words, label=mean.label, value=fixed(mean.mean), top=short(top))
    return doc.Picture(svg.strip(mean.mean, mean.low, mean.high, 0.0, top), alt)


def remarks(report: ReportData) -> list[str]:
    """Return the method of the intervals, and what they leave out.

    With metrics beyond accuracy, a sentence says over which users they are.
    """
    of_accuracy = {metric.metric for metric in report.metrics if metric.is_accuracy}
    sentences = [_(texts.ONE_USER)]
    if report.n_users > 1:
        confidence = 100 * report.settings.confidence
        how = _(BETA if report.n_lists is None else BETA_OF_CLUSTERS)
        sentences = [_(texts.INTERVALS, confidence=confidence, how=how)]
        sentences += blocks.clustered(report)
        sentences.append(_(texts.NOT_CORRECTED))
        means = [mean for mean in report.means if mean.metric in of_accuracy]
        if any(not isfinite(mean.low) for mean in means):
            sentences.append(_(texts.NO_INTERVAL, n=ENOUGH))
        sentences.append(_(texts.NOT_COVERED))
        if report.unweighted:
            sentences.append(_(texts.PROPENSITIES_KNOWN))
    if len(of_accuracy) < len(report.metrics):
        sentences.append(_(texts.BEYOND_BELOW))
    return [" ".join(sentences)]


def _tiles(report: ReportData) -> doc.Tiles:
    """Return four numbers to take in at once."""
    (population,) = report.populations
    n_lists = population.n_lists
    # The first phrase says how many are evaluated. The others say more of them, such as
    # who counts 0, and who is left out.
    _evaluated, *other_phrases = population.users
    of_users = (
        f"{n_lists:,}",
        ngettext("user", "users", n_lists),
        "; ".join(other_phrases) or _("none left out"),
    )
    lists, relevant = population.list_length, population.relevant_per_user
    rows_in_words = ngettext("{n:,} row", "{n:,} rows", population.n_recommended)
    of_lists = (
        short(lists.median),
        ngettext("item per list", "items per list", lists.median),
        _spread(lists, rows_in_words),
    )
    of_truth = (
        short(relevant.median),
        ngettext("relevant item per user", "relevant items per user", relevant.median),
        _spread(relevant, _("{n:,} in all", n=population.n_relevant)),
    )
    n_items = population.n_items_recommended
    of_items = (
        f"{n_items:,}",
        ngettext("different item recommended", "different items recommended", n_items),
        _("{n:,} relevant to someone", n=population.n_items_relevant),
    )
    return doc.Tiles([of_users, of_lists, of_truth, of_items])


def _spread(counts: CountSummary, more: str) -> str:
    """Return the spread of counts in words."""
    low, high = counts.min, counts.max
    if low == high:
        return _("all equal; {more}", more=more)
    words = N_("median; {low:,} to {high:,}, mean {mean:.1f}; {more}")
    return _(words, low=low, high=high, mean=counts.mean, more=more)


# Curve and distribution


def curve_and_distribution(report: ReportData) -> Iterator[Block]:
    """Give the curve of the lead metric and the values of users beside each other."""
    curve = Section("", list(_curve(report)), ("html",))
    with blocks.noun_of_lists(report):
        distribution = Section("", list(_distribution(report)))
    yield doc.Side([curve, distribution])


def _curve(report: ReportData) -> Iterator[Block]:
    """Give the lead metric against the cut-off, the cut-offs of the table marked."""
    yield Note(_("{symbol} against k", symbol=report.lead.symbol), "heading")
    marked = [k for k in report.k if k is not None]
    yield blocks.curve(report, _("The numbers of the curve"), marked)
    if isfinite(report.curves[""][0].low):
        yield Note(_(texts.BAND, confidence=100 * report.settings.confidence))


def _distribution(report: ReportData) -> Iterator[Block]:
    """Give the values of users in bars, with quartiles and the numbers at both ends."""
    (distribution,) = report.distributions
    label = report.label
    yield Note(_("{label} over users", label=label), "heading")
    names, rows = [], list[list[Line]]()
    for name, n in _bars(distribution):
        share = f"{distribution.share_of(n):.1%}"
        names.append(f"{name}: {share}")
        rows.append([name, f"{n:,}", share])
    header = [label, pgettext("number", "users"), _("share")]
    numbers = Rows(header, rows, _("The numbers of the bars"))
    shares = [f"{share:.1%}" for share in distribution.shares]
    picture = svg.bars(
        edges=distribution.edges,
        shares=distribution.shares,
        at_lowest=distribution.share_of(distribution.n_bottom),
        quartiles=distribution.quartiles,
        labels=shares,
        xlabel=_("{label} of a user", label=label),
        ylabel=_("share of users"),
    )
    words = N_("Share of users by {label}. {shares}")
    yield doc.Picture(picture, _(words, label=label, shares=", ".join(names)), numbers)
    yield Note(" ".join(_numbers_of(distribution)))
    yield Section("", [Note(" ".join(_reading_of(report, distribution)))], ("html",))


def _reading_of(report: ReportData, distribution: Distribution) -> Iterator[str]:
    """Say how to read the bars."""
    yield _(texts.GREY_AT_0 if distribution.edges[0] == 0 else texts.GREY_AT_LOWEST)
    yield _(texts.ENDS_OF_BARS)
    if not all(map(isfinite, report.lead.bounds)):
        yield _(texts.ENDS_WITHOUT_BOUND)


def _bars(distribution: Distribution) -> list[tuple[str, int]]:
    """Return each bar in words with its number of users.

    The picture has the users at the lowest value in grey, within the first bar. Here
    they come first, as a bar of their own.
    """
    n_lowest = distribution.n_bottom
    n_first, *n_others = distribution.counts
    counts = [n_lowest, n_first - n_lowest, *n_others]
    bars = Bins(
        tuple(distribution.edges)
    ).each  # the first of which is the lowest value
    return [(bar.words, n) for bar, n in zip(bars, counts, strict=True)]


def _numbers_of(distribution: Distribution) -> Iterator[str]:
    """Say how many users have the lowest and the highest value, and the quartiles."""
    users = users_in_words(distribution.n_users)
    lowest = (distribution.edges[0], distribution.n_bottom)
    highest = (distribution.edges[-1], distribution.n_top)
    for value, n in (lowest, highest):
        share = f"{distribution.share_of(n):.1%}"
        yield _(texts.EXACTLY, value=short(value), n=n, users=users, share=share)
    if distribution.n_without_value:
        yield _("No value: {n:,}.", n=distribution.n_without_value)
    low, middle, high = map(fixed, distribution.quartiles)
    mean = fixed(distribution.mean)
    yield _(texts.QUARTILES, low=low, middle=middle, high=high, mean=mean)


#: From top to bottom.
SECTIONS = (
    SectionOf(N_("Overview"), overview, EVERY_FORM, ("means", "populations")),
    blocks.FINDINGS,
    SectionOf(
        N_("Curve and distribution"),
        curve_and_distribution,
        PAGES,
        ("curves", "distributions"),
    ),
    SectionOf(N_("Segments"), segments.of_one, EVERY_FORM, ("segments",)),
    SectionOf(N_("Users"), blocks.users, PAGES, ("users",)),
    SectionOf(N_("How to read"), blocks.readings, ("html",), ()),
)

LAYOUT = ReportLayout(title_of, label_of, head, SECTIONS, remarks)
