"""Tables of metrics × cut-offs, and of measures by the names that papers print, each a DataFrame with its convention in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
import pandas as pd
from markupsafe import Markup
from pandas.plotting import PlotAccessor

from recnb.data.files import written
from recnb.display.fonts import lettering
from recnb.display.language import _, current, ngettext, use_language
from recnb.display.templates import breakable, in_one_line, render, user_text
from recnb.display.text import LatexTable, latex_text, markdown_table, markdown_text, one_line
from recnb.errors import Argument, OptionError, RecnbError, is_several
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.metric import LIST_METRICS, METRICS, Metric, measure_named
from recnb.results.aggregation import means_of
from recnb.results.arguments import Asked, Metrics, asked_of, measure_at, options_of
from recnb.results.beyond_accuracy import interval_ends, n_users_of, numbers_of, recorded_in, score_of
from recnb.results.plots import draw_scales
from recnb.results.provenance import OWN, console, merged
from recnb.results.score import CatalogueScore, Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recnb.results.evaluation_data import EvaluationData


class Form(NamedTuple):
    """How a form of a table shows text of the user's, and numbers: plain ones, those near the best, and the best."""

    safe: Callable[..., str]
    plain: str = "{}"
    near: str = "{}°"
    best: str = "{}"
    symbols: bool = False  #: whether metrics have their symbols, as papers have them
    number: Callable[[float], str] | None = None  #: for other than four decimals


TEXT = Form(one_line, " {} ", " {}°", "*{}*")
MARKDOWN = Form(markdown_text, best="**{}**", symbols=True)
LATEX = Form(latex_text, near=r"{}$^{{\circ}}$", best=r"\textbf{{{}}}", symbols=True)
BOLD = Markup('<b style="font-weight: 700; text-decoration: underline;">{}</b>')
HTML = Form(user_text, Markup("{}\u00a0"), Markup("{}°"), BOLD + "\u00a0")  # numbers stay under each other

#: Only a name with more letters is broken into lines where the page is narrow.
LONG = 16


class TablePlot(PlotAccessor):
    """`table.plot()`: points with their intervals; with a `kind` what pandas draws."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._table = table

    def __call__(
        self, ax: Axes | None = None, *, title: Any = None, color: Any = None, kind: Any = None, **options: Any
    ) -> Any:
        """Draw the table on `ax`, or on the axes of a new figure; `kind` and its options are those of pandas."""
        if kind is not None:
            options |= {name: given for name, given in (("title", title), ("color", color)) if given is not None}
            return self._of_pandas(kind, ax, options)
        if options:
            problem = f"plot() of a table has no option {next(iter(options))!r}."
            raise OptionError(
                problem, fix="It has ax, title and color; with kind='bar' and others, the options of pandas."
            )
        ax = self._table._draw(ax, color)
        if title is not None:
            ax.set_title(title)
        return ax

    def _of_pandas(self, kind: str, ax: Axes | None, options: dict[str, Any]) -> Any:
        """What pandas draws; bars and lines of means have their intervals as error bars, if the table shows them."""
        error = {"bar": "yerr", "line": "yerr", "barh": "xerr"}.get(kind)
        if error is None or not {"mean", "low", "high"} <= {*self._table.columns.get_level_values(-1)}:
            return super().__call__(**{"kind": kind, "ax": ax, **options})
        mean, low, high = parts_of(self._table)
        ends = np.stack([mean - low, high - mean]).clip(min=0).transpose(2, 0, 1)
        drawn: dict[str, Any] = {"kind": kind, "ax": ax, error: ends, **options}
        return mean.rename(columns=_at).plot(**drawn)


class Table(pd.DataFrame):
    """Means over users, one row per metric and one column per cut-off.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention. What is
    cut out of it is a plain DataFrame. `attrs["basis"]` holds the line. `plot()` draws it; `to_markdown()` and `to_latex()`
    write it as it is shown.
    """

    #: Rows that are shown; the frame has them all.
    _most: ClassVar = 50
    #: Computes means, lower and upper ends of intervals, for a plot; not kept by copies and pickles.
    _measured: Callable[[], Sequence[pd.DataFrame]] | None = None

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a table, as pickle does; `copy()` is one of pandas' methods, which return a plain frame."""
        again = type(self)(self.copy())
        again.attrs = deepcopy(self.attrs, memo)
        return again

    def to_frame(self) -> pd.DataFrame:
        """The numbers alone."""
        return pd.DataFrame(self)

    @property
    def per_user(self) -> NoReturn:
        """There is none: a table has means."""
        raise OptionError(
            "a table has means over users.", fix="The values of users are in .to_frame(metrics, k) of the evaluation."
        )

    @property
    def plot(self) -> TablePlot:
        """Draw the table: `table.plot()`, with `ax=`, `title=` and `color=`; `table.plot(kind="bar")` is that of pandas."""
        return TablePlot(self)

    def _parts(self) -> list[pd.DataFrame]:
        """The means; with the lower and the upper ends of their intervals, unless the numbers were changed."""
        if {"low", "high"} <= {*self.columns.get_level_values(-1)}:
            return parts_of(self)
        parts = self._measured() if self._measured else []
        same = (
            len(parts) > 0 and parts[0].shape == self.shape and np.allclose(parts[0], self, rtol=1e-9, equal_nan=True)
        )
        return [pd.DataFrame(self), *parts[1:]] if same else [pd.DataFrame(self)]

    def _draw(self, ax: Axes | None, color: Any) -> Axes:
        with lettering(self.attrs.get("lang", "en"), rc=True) as fonts:
            parts = [part.rename(columns=_at) for part in self._parts()]
            return draw_scales(ax, parts, values_in_words, color=color, **fonts)

    def _cell(self, value: object, label: object, column: object, form: Form) -> str:
        """A cell in a form: a number with four decimals, or text."""
        if not isinstance(value, float):
            return form.safe(value)
        return self._number(value, column) if form.number is None or value != value else form.number(value)

    def _number(self, value: float, column: object) -> str:
        """A number of a column."""
        return f"{value:.4f}" if value == value else "–"

    def _formatted(self, form: Form) -> list[list[str]]:
        """The cells of the rows that are shown."""
        shown = pd.DataFrame(self).head(self._most)
        return [
            [self._cell(value, label, column, form) for column, value in zip(shown.columns, row, strict=True)]
            for label, row in zip(shown.index, shown.itertuples(index=False, name=None), strict=True)
        ]

    def _as_text(self) -> pd.DataFrame:
        """The rows that are shown on a console, with text on one line."""
        shown = pd.DataFrame(self).head(self._most)
        return shown.assign(
            **{str(name): shown[name].map(one_line) for name in shown.select_dtypes(exclude=["number", "bool"])}
        )

    def _cells(self, form: Form) -> tuple[list[str], list[list[str]], int]:
        """Header, rows and number of columns before the first number, as HTML, Markdown and LaTeX show them."""
        names = [form.safe("" if name is None else name) for name in self.index.names]
        if self.columns.name is not None:
            names[-1] = f"{names[-1]} × {form.safe(self.columns.name)}".removeprefix(" × ")
        header = [*names, *(form.safe(self._head(column, form)) for column in self.columns)]
        rows = [
            [*map(form.safe, label), *cells]
            for label, cells in zip(self._labels(form), self._formatted(form), strict=True)
        ]
        if form is not HTML and self.columns.nlevels > 1:  # a mean and its interval in one cell
            first, numbers = len(names), range(len(names), len(header), 3)
            names[-1] += f" × {form.safe(self.columns.names[0])}"
            header = [*names, *(form.safe(_shown(k)) for k in self.columns.get_level_values(0)[::3])]
            rows = [[*row[:first], *("{} [{}, {}]".format(*row[at : at + 3]) for at in numbers)] for row in rows]
        text = next((at for at, kind in enumerate(self.dtypes) if pd.api.types.is_numeric_dtype(kind)), 0)
        return header, rows, len(names) + text

    def _labels(self, form: Form) -> list[tuple[Any, ...]]:
        """The names of the rows that are shown; a table for a paper has the symbols of metrics."""
        parts_of_labels = (label if isinstance(label, tuple) else (label,) for label in self.index[: self._most])
        levels = self.index.names
        return [
            tuple(
                _shown(part) if level == "k" else self._marked(part, named(part, form) if level == "metric" else part)
                for level, part in zip(levels, parts, strict=True)
            )
            for parts in parts_of_labels
        ]

    def _head(self, column: Any, form: Form) -> str:
        """The name of a column."""
        return _joined(column)

    def _legend(self, form: Form) -> list[str]:
        """What marks mean, in a form."""
        return []

    def _notes(self, form: Form) -> list[str]:
        """The lines below the table, in a form; the basis follows them."""
        left_out = len(self) - self._most
        more = ngettext("{n:,} more row in .to_frame()", "{n:,} more rows in .to_frame()", left_out)
        return [*([form.safe(more)] if left_out > 0 else []), *self._legend(form)]

    @property
    def _basis(self) -> str:
        return str(self.attrs.get("basis", ""))

    def to_markdown(self, path: Any = None, *, index: bool = True, **options: Any) -> Any:  # type: ignore[override]
        """Return the table in Markdown, or write it to a file; `index=False` leaves the labels of the rows out."""
        if options:
            problem = f"to_markdown() of a table has no option {next(iter(options))!r}."
            raise OptionError(
                problem, fix="It has path and index; for those of pandas type table.to_frame().to_markdown()."
            )
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(MARKDOWN)
            labels = 0 if index else len(self.index.names)
            table = markdown_table(header[labels:], [row[labels:] for row in rows], left - labels)
            parts = [table, *self._notes(MARKDOWN), markdown_text(self._basis, 4000)]
        return written("\n\n".join(filter(None, parts)) + "\n", path)

    def to_latex(
        self, *args: Any, caption: Any = None, label: Any = None, float_format: Any = None, **options: Any
    ) -> Any:
        """Return the table in LaTeX with booktabs, or write it to a file; with other options of pandas, as pandas writes it.

        `caption` and `label` are LaTeX; the line with users and convention follows the caption. `float_format="%.3f"`, or a
        function, is how numbers are written.
        """
        if options or len(args) > 1 or isinstance(caption, tuple):  # a long and a short one
            return super().to_latex(*args, caption=caption, label=label, float_format=float_format, **options)
        number = float_format.__mod__ if isinstance(float_format, str) else float_format
        form = LATEX._replace(number=number)
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(form)
            lines = self._notes(form)
        columns = "l" * left + "r" * (len(header) - left)
        words = ". ".join([*([caption.rstrip(".")] if caption else []), *lines, latex_text(self._basis, 4000)])
        table = LatexTable(columns, [header, r"\midrule", *rows], words)
        return written(
            "\n".join([_(r"% needs \usepackage{booktabs}"), table.text(label), ""]), args[0] if args else None
        )

    def __repr__(self) -> str:
        with use_language(self.attrs.get("lang")):
            shown = self._as_text()
            if shown.index.nlevels > 1:
                labels = [tuple(map(_as_line, label)) for label in self._labels(TEXT)]
                shown = shown.set_axis(pd.MultiIndex.from_tuples(labels, names=shown.index.names))
            else:
                shown = shown.rename(index=lambda label: _as_line(self._marked(label, label)))
            numbers = [
                partial(self._number, column=name) if pd.api.types.is_float_dtype(kind) else None
                for name, kind in shown.dtypes.items()
            ]
            text = console(shown.rename(columns=_shown), formatters=numbers, na_rep="–")
            return "\n".join(filter(None, [text, *self._notes(TEXT), self._basis]))

    def _repr_html_(self) -> str:
        with use_language(self.attrs.get("lang")):
            header, rows, left = self._cells(HTML)
            header = [breakable(words) if len(words) > LONG else words for words in header]
            labels = len(self.index.names)
            for row in rows:
                row[:labels] = [in_one_line(label) if len(label) <= LONG else label for label in row[:labels]]
            return str(render(
                "results/table.jinja", label=_("metrics at cut-offs"), title=self._title(), numbers_from=left, header=header,
                rows=rows, lines=self._notes(HTML), basis=self._basis,
            ))  # fmt: skip

    def _title(self) -> str:
        return ""

    def _marked(self, label: object, shown: object) -> object:
        """The label of a row as it is shown, marked if the number is recnb's own."""
        return f"{shown}{OWN}" if label in self.attrs.get("own", ()) else shown


class Measures(Table):
    """A row per measure: mean, the ends of its interval, and the number of users.

    It is a DataFrame in every respect; shown whole, it has a line of small print with users and convention.
    """


def values_in_words(metrics: Iterable[str]) -> str:
    """What the values of metrics are, as the label of an axis."""
    try:
        whole = any(measure_named(name).over in ("items", "user pairs") for name in metrics)
    except RecnbError:  # a row was renamed
        whole = True
    return _("value") if whole else _("mean over users")


def _as_line(label: object) -> object:
    return one_line(label) if isinstance(label, str) else label


def parts_of(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Of a table with intervals: the means, the lower ends and the upper ends."""
    if table.columns.nlevels == 1:
        return [table[[part]].set_axis(["mean"], axis=1) for part in ("mean", "low", "high")]
    return [pd.DataFrame(table.xs(part, axis=1, level=1)) for part in ("mean", "low", "high")]


def _joined(column: Any) -> str:
    """A column's name; of several levels, all of them."""
    return " ".join(str(_shown(part)) for part in (column if isinstance(column, tuple) else (column,)))


def named(metric: str, form: Form) -> str:
    """A metric's name, with its cut-off if it has one; in a table for a paper its symbol."""
    plain, at, k = metric.partition("@")
    known = {**METRICS, **LIST_METRICS}.get(plain)
    return metric if known is None or not form.symbols else f"{known.symbol}{at}{k}"


def _shown(part: Any) -> Any:
    """A name as it is shown: None, which is NaN among numbers and makes whole ones floats, is the whole list."""
    if part is None or part != part:
        return _("whole list")
    return int(part) if isinstance(part, float) and part.is_integer() else part


def _at(k: Any) -> str:
    if k == "mean":
        return _("mean")
    return _("whole list") if pd.isna(k) else f"@{k}"


def table_of(
    evaluation: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any], *, intervals: bool = False
) -> Table:
    """Means over users, or the one number of all lists: one row per metric, one column per cut-off, or three with intervals."""
    if not isinstance(intervals, bool):
        raise OptionError(f"intervals={intervals!r}: say True or False.")
    cutoffs, library = Cutoffs.of(k), evaluation.library
    asked = asked_of(library, metrics, options, "k", "intervals", "by", "bins")
    own_options = {name: own for name, _metric, own in asked}
    with_cutoff = next((name for name, metric, _own in asked if metric.cutoff is not None), None)
    if with_cutoff is not None:
        if len(cutoffs) > 1:
            rest = " has columns for others: give each name its own cut-off, or none."
            raise OptionError(f"{with_cutoff!r} has its cut-off, and ", Argument("k", list(cutoffs)), rest)
        asked = [each._replace(name=_at_cutoff(each.name, each.metric, cutoffs.values[0])) for each in asked]
    of_accuracy = [each for each in asked if each.metric.is_accuracy]
    phrases = evaluation.phrases_of_metrics(of_accuracy, cutoffs)
    means = _means(evaluation, [(metric, own) for _name, metric, own in of_accuracy], cutoffs)
    for name, metric, own in asked:
        if not metric.is_accuracy:
            found = numbers_of(evaluation, metric, metric.cutoffs(cutoffs), own)
            means[metric], phrases[name] = found.averages.means, found.basis()
    marked, lines = evaluation.library_notes((name, metric, metric.cutoffs(cutoffs)) for name, metric, _own in asked)
    basis = "; ".join([*merged(phrases), *lines])
    shown = evaluation.decisions_of_metrics(of_accuracy)
    attrs = {"basis": basis, "n_users": evaluation.n_users, "convention": shown, "own": marked}
    values = np.array([means[each.metric] for each in asked])
    table = table_at([each.name for each in asked], values, cutoffs, attrs)
    if intervals:
        ends = [
            numbers_of(evaluation, metric, metric.cutoffs(cutoffs), own).with_ends(metric)[1:]
            for _name, metric, own in asked
        ]
        table = with_ends(table, ends)
    if with_cutoff is not None:
        table.columns = pd.Index(["mean", "low", "high"] if intervals else ["mean"])
    if not intervals:
        again = partial(table_of, evaluation, own_options, cutoffs.values, {}, intervals=True)
        table._measured = lambda: parts_of(again())
    return table


def _at_cutoff(name: str, metric: Metric[...], k: int | None) -> str:
    """The name of a metric, with the cut-off if it has none of its own."""
    return name if metric.cutoff is not None or k is None else f"{name}@{k}"


def with_ends(table: Table, ends: Sequence[Sequence[Floats]]) -> Table:
    """A table with three columns for each cut-off: the mean and the ends of its 95% interval."""
    parts = [table.to_numpy(), *np.array(ends).reshape(len(table), 2, -1).transpose(1, 0, 2)]
    columns = pd.MultiIndex.from_product([list(table.columns), ["mean", "low", "high"]], names=["k", None])
    wide = Table(np.stack(parts, axis=2).reshape(len(table), -1), table.index, columns)
    wide.attrs = {**table.attrs, "basis": "; ".join([table.attrs["basis"], _("95% intervals")])}
    return wide


def _means(
    evaluation: EvaluationData, metrics: Sequence[tuple[Metric[...], Mapping[str, Any]]], cutoffs: Cutoffs
) -> dict[Metric[...], Floats]:
    """The means of metrics of accuracy: together, if they are of the same users."""
    together: dict[Cutoffs, list[tuple[Metric[...], Mapping[str, Any]]]] = {}
    for metric, options in metrics:
        if evaluation.library is None and not metric.data:
            together.setdefault(metric.cutoffs(cutoffs), []).append((metric, options))
    found: dict[Metric[...], Floats] = {}
    for own, alike in together.items():
        found |= zip((metric for metric, _own in alike), means_of(evaluation.prepared, alike, own), strict=True)
    for metric, options in metrics:
        if metric not in found:
            found[metric] = numbers_of(evaluation, metric, metric.cutoffs(cutoffs), options).averages.means
    return found


def beyond_table(evaluation: EvaluationData, k: object) -> Table:
    """Every metric beyond accuracy that the data allow, a row each; what the others need is said below."""
    cutoffs = Cutoffs.of(k)
    rows: dict[str, Floats] = {}
    missing: dict[str, str] = {}
    lacks: dict[str, list[str]] = {}  # what is missing, with the metrics that lack it
    phrases: dict[str, list[str]] = {}
    recorded = recorded_in(evaluation.library)
    if not recorded:
        raise OptionError(f"{evaluation.library} has no metric beyond accuracy that recnb has recorded.")
    for name in recorded:
        try:
            found = numbers_of(evaluation, LIST_METRICS[name], cutoffs, {})
            words = found.basis()
        except RecnbError as problem:
            missing[name], lack = str(problem), _(problem.statement)
        else:
            if not np.isnan(found.averages.means).all():
                rows[name] = found.averages.means
                phrases[name] = words
                continue
            missing[name] = lack = _(LIST_METRICS[name].no_value)
        lacks.setdefault(lack.removesuffix("."), []).append(name)
    values = np.array(list(rows.values())).reshape(len(rows), len(cutoffs))
    absent = [_("not here: {names} ({why})", names=", ".join(names), why=why) for why, names in lacks.items()]
    return table_at(list(rows), values, cutoffs, {"basis": "; ".join([*merged(phrases), *absent]), "missing": missing})


def table_at(names: Sequence[str], values: Floats, cutoffs: Cutoffs, attrs: dict[Any, Any]) -> Table:
    """A table of values, metrics × cut-offs."""
    # As objects, whole numbers stay whole beside a None.
    columns = pd.Index(list(cutoffs), dtype=object if None in cutoffs.values else None, name="k")
    table = Table(values, pd.Index(names, name="metric"), columns)
    # Text and numbers only: pandas writes attrs as JSON where it writes them.
    table.attrs = {**attrs, "lang": current()}
    return table


def measure_of(data: EvaluationData, text: str, options: Mapping[str, Any]) -> Score | CatalogueScore:
    """Return the number of a measure."""
    if not isinstance(text, str):
        raise OptionError(f"{text!r} is no measure: type its name, such as 'nDCG@10'.")
    options = dict(options)
    metric, k = measure_at(text, options.pop("k", None))
    return score_of(data, metric, k, options)


def users_frame(data: EvaluationData, metrics: Metrics, k: Any, options: Mapping[str, Any]) -> pd.DataFrame:
    """A row per user and a column per metric, at each cut-off; NaN for a user whom a metric leaves out."""
    columns = {}
    for name, metric, own in asked_of(data.library, metrics, options):
        if metric.of == "all":
            problem = f"{metric.name} is one number of all lists, and no user has a value of it: leave it out."
            raise OptionError(problem)
        for cut in metric.cutoffs(Cutoffs.of(k)):
            columns[_at_cutoff(name, metric, cut)] = score_of(data, metric, cut, own).per_user
    return pd.DataFrame(columns).rename_axis(data.user_label)


def measures_of(data: EvaluationData, names: Iterable[str], confidence: float, options: Mapping[str, Any]) -> Measures:
    """The table of several measures."""
    names = list(names) if is_several(names) else [str(names)]
    if not names:
        raise OptionError("no measure is named: give at least one, such as ", Argument("names", ["nDCG@10"]), ".")
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"{twice[0]!r} is named more than once.")
    metrics = [measure_named(text) for text in names]
    own = [options_of(metric, None, options, metrics) for metric in metrics]
    asked, rows = list(map(Asked, names, metrics, own)), {}
    phrases = data.phrases_of_metrics([each for each in asked if each.metric.is_accuracy], Cutoffs.one(None))
    for text, metric, given in asked:
        score = score_of(data, metric, metric.cutoff, given)
        if not metric.is_accuracy:
            phrases[text] = score.basis.split("; ")
        rows[text] = [float(score), *interval_ends(score, confidence), n_users_of(score)]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "low", "high", "users"])
    table = Measures(frame.astype({"users": np.int64}).rename_axis("measure"))
    marked, lines = data.library_notes((text, metric, Cutoffs.of(metric.cutoff)) for text, metric, _own in asked)
    words = _("{confidence}% intervals", confidence=f"{100 * confidence:g}")
    basis = "; ".join([*merged(phrases), words, *lines])
    table.attrs = {"basis": basis, "own": marked, "lang": current()}
    return table
