"""`Variant`, a number as a library or an evaluation defines it; and `as_in`.

A variant is computed on frames, and says what another one decides differently.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from recnb.conventions import Convention, in_words
from recnb.conventions.convention import DECISIONS
from recnb.conventions.presets import (
    Preset,
    default_of,
    library_named,
    only_way,
    preset,
    recorded,
    variants,
)
from recnb.data import Source, read, read_lists
from recnb.data.ids import positions
from recnb.data.names import RECS, TRUTH, Named
from recnb.data.read import Input, tables_of
from recnb.data.side_data import read_side_data
from recnb.data.tables import InputTable
from recnb.display.document import Line
from recnb.display.language import N_, _, current
from recnb.display.text import one_line
from recnb.errors import NoUsersError, OptionError, near
from recnb.metrics.hits import Cutoffs, Floats
from recnb.metrics.measure import Measure, measure_named, metric_named, plain_text
from recnb.metrics.metric import LIST_METRICS, Given, Metric
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import Scoring, averaged, scoring_of, values_of
from recnb.results.table import Table

#: Numbers nearer than this agree.
AGREE = 1e-9
LACKING = N_(
    "No {column} in these frames: libraries that read it are given the order that there is."
)


class Measurement(NamedTuple):
    """A variant's number, and the values of the users behind it."""

    value: float
    users: pl.Series
    values: Floats  #: per user; NaN for a user who is left out

    @property
    def n_counted(self) -> int:
        """The number of users whose value counts."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    def values_of(self, users: pl.Series) -> Floats:
        """Return the values of these users, NaN for those who are not evaluated."""
        return np.append(self.values, np.nan)[positions(self.users, users)]


@dataclass(frozen=True)
class Variant:
    """One definition of a number.

    How the data are read, the metric and all its options.
    """

    name: str  #: whose number it is
    metric: str
    convention: Convention  #: of the data, with all options of the metric
    preset: Preset | None = None  #: of a library, which names the library in errors

    @classmethod
    def made(
        cls, name: str, convention: Convention, metric: Metric[...], options: Given
    ) -> Variant:
        """Make a variant of its parts and check the options."""
        metric.check(options)
        return cls(
            name, metric.name, convention.with_metric({**metric.defaults, **options})
        )

    @classmethod
    def of_preset(cls, preset: Preset) -> Variant:
        """Make the variant that a library computes."""
        made = cls.made(
            preset.label,
            preset.convention,
            metric_named(preset.metric),
            dict(preset.options),
        )
        return replace(made, preset=preset)

    @classmethod
    def of_evaluation(cls, data: EvaluationData, measure: Measure) -> Variant:
        """Make the variant that an evaluation computes, under its library's name."""
        scoring = scoring_of(data, measure, whole=measure.k is None)
        name = _("as {library}", library=data.library) if data.library else "recnb"
        return cls.made(
            name, scoring.joined.convention, measure.metric, scoring.measure.options
        )

    @property
    def options(self) -> dict[str, Any]:
        """All options of the metric."""
        return dict(self.convention.metric)

    @property
    def decisions(self) -> dict[str, Any]:
        """Every decision, by axis, in the order in which a number is computed."""
        convention = self.convention
        of_data = {name: getattr(convention, name) for name in DECISIONS}
        of_data["relevant"] = (of_data["relevant"], of_data.pop("relevant_from"))
        return {**of_data, "metric": self.metric, **self.options}

    def differing_axes(self, other: Variant) -> list[str]:
        """Return the axes on which another variant decides otherwise."""
        decisions = self.decisions
        missing = object()
        return [
            axis
            for axis, value in other.decisions.items()
            if decisions.get(axis, missing) != value
        ]

    def taking(self, axis: str, other: Variant) -> Variant:
        """Return the same variant with another's decision on one axis."""
        convention = self.convention
        theirs = other.options
        if axis == "metric":
            options = {**theirs, **self._options_known_to(other)}
            taken = convention.with_metric(options)
            return replace(self, metric=other.metric, convention=taken)
        if axis in theirs:
            options = {**self.options, axis: theirs[axis]}
            return replace(self, convention=convention.with_metric(options))
        names = ("relevant", "relevant_from") if axis == "relevant" else (axis,)
        decided = {name: getattr(other.convention, name) for name in names}
        return replace(self, convention=replace(convention, **decided))

    def _options_known_to(self, other: Variant) -> dict[str, Any]:
        """Return the options that another variant's metric has, and whose values it takes."""
        words = metric_named(other.metric).words
        names = [name for name in self.options if name in other.options]
        options = {name: self.options[name] for name in names}
        return {
            name: value
            for name, value in options.items()
            if value in words.get(name, (value,))
        }

    def words(self, axis: str) -> str:
        """Return the decision on an axis in words."""
        if axis == "metric":
            title = metric_named(self.metric).title.rstrip(".")
            if current() == "en":
                title = title.lower()
            return _("{metric}: {title}", metric=self.metric, title=title)
        if axis == "relevant":
            return self.convention.relevant_in_words
        words = in_words(axis, self.decisions[axis]) if axis in self.decisions else ""
        base = self.options.get("log_base", 2)
        if axis == "discount" and words and base != 2:
            return _("{discount}, base {base:.4g}", discount=words, base=base)
        return words or _("{axis} by default", axis=axis)

    def measure(self, source: Source, k: int | None) -> Measurement:
        """Compute the number on these frames; NaN if no user is left."""
        convention = source.as_given(self.convention)
        try:
            joined = source.under(convention)
        except NoUsersError:
            return Measurement(math.nan, source.recs["user"].clear(), np.zeros(0))
        measure = Measure(metric_named(self.metric), self.options)
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix, mean = averaged(Scoring(joined, measure), Cutoffs.of(k))
        return Measurement(float(mean[0]), joined.users, matrix[:, 0])


class VariantTable(Table):
    """Numbers of variants: words in full, and differences with their sign."""

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        if isinstance(value, str):
            return one_line(value, 200)
        if column in ("change", "difference") and value == value:
            return f"{value:+.{4 if digits is None else digits}f}"
        return super()._cell(value, label, column, digits)


def caveats_of(variants: Iterable[Variant]) -> list[str]:
    """Say where the libraries of these variants have no such number, each once."""
    followed = [one.preset for one in variants if one.preset is not None]
    caveats = dict.fromkeys(preset.caveat_in_words for preset in followed)
    return list(filter(None, caveats))


def lacking_in(source: Source, variants: Iterable[Variant]) -> list[str]:
    """Say which columns these variants read and the frames lack."""
    read = {variant.convention.order for variant in variants}
    lacking = read - {"auto", "row", *source.labels}
    return [_(LACKING, column=order) for order in sorted(lacking)]


class LibraryNumber(float):
    """A library's number, which says when it is shown where the library has none."""

    _preset: Preset

    def __new__(cls, value: float, preset: Preset) -> Self:
        """Return the number by a preset."""
        self = super().__new__(cls, value)
        self._preset = preset
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return LibraryNumber, (float(self), self._preset)

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        caveat = self._preset.caveat_in_words
        return f"{self} ({caveat})" if caveat else str(self)


def as_in(
    library: str,
    metric: str,
    recs: Input,
    truth: Input | None = None,
    k: int | None = None,
    *,
    train: Input | None = None,
    items: Input | None = None,
    features: str | Sequence[str] | None = None,
    **columns: str,
) -> float:
    """Return the number that a library's metric returns for these frames.

    It is computed by the recorded convention of the library.

    Parameters
    ----------
    library : str
        One of `recnb.conventions.names()`.
    metric : str
        One of `recnb.conventions.metrics(library)`; a suffix such as `[full]` tells what
        the library is given. A metric of accuracy by another name, as "map" or "nDCG@10",
        is its first variant there.
    recs, truth : frame, mapping, Series or path
        Recommendations and truth, in any form that `recnb.evaluate` takes; one frame
        with both sides is given alone.
    k : int, optional
        The cut-off; None: what the library does without one, which cuts neither lists
        nor ideal lists. A library that always cuts needs one; a metric that it never
        cuts, as R-precision, takes none.
    train, items : frame or path, optional
        For metrics beyond accuracy, as in `recnb.evaluate`: what users had before, and
        all items with what is known of them. An error names what a metric needs.
    features : str or list of str, optional
        The columns of `items` that diversity compares.
    **columns
        Columns by role: `user`, `item`, `rank`, `score`, `relevance`.

    Returns
    -------
    float
        NaN if the library returns NaN. When it is shown, it says where the library
        itself raises an error, or follows no recorded rule.

    Raises
    ------
    RecnbError
        Unknown names and unusable frames.

    Examples
    --------
    >>> import pandas as pd, recnb
    >>> recs = pd.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1], "item": ["b"]})
    >>> libraries = ["ranx", "rectools", "lenskit"]
    >>> [round(recnb.as_in(name, "ndcg", recs, truth, k=3), 4) for name in libraries]
    [0.6309, 0.2961, 1.0]
    """
    chosen, k = _chosen(library, metric, k)
    k = Cutoffs.one(k).values[0]
    roles = ("user", "item", "rank", "score", "relevance")
    if unknown := [name for name in columns if name not in roles]:
        known = near(unknown[0], [*roles, "train", "items", "features"])
        raise OptionError(f"{unknown[0]!r} is no option of as_in. {known}")
    if chosen.metric not in LIST_METRICS:
        chosen = chosen.at(k)
    if k is not None and not chosen.uses_k:
        raise OptionError(
            f"{chosen.label} does not cut lists at k. Ask for it without k."
        )
    sides = {RECS: recs, TRUTH: truth, "train": train, "items": items}
    tables, named = tables_of(sides, columns)
    if chosen.metric in LIST_METRICS:
        return _of_lists(chosen, tables, named, features, k)
    source = read(tables, named)
    value = Variant.of_preset(chosen).measure(source, k).value
    return LibraryNumber(value, chosen)


def _of_lists(
    preset: Preset,
    tables: Mapping[str, InputTable],
    named: Named,
    features: str | Sequence[str] | None,
    k: int | None,
) -> float:
    """Compute a library's metric beyond accuracy, which reads the lists alone."""
    lists = read_lists(tables[RECS], named)
    recs = InputTable.of_rows(RECS, lists)
    pairs = InputTable.of_rows(TRUTH, lists.select("user", "item"))
    source = read({RECS: recs, TRUTH: pairs}, {})
    side_data = read_side_data(source, {**tables, TRUTH: pairs}, named)
    data = EvaluationData(source, Convention(), side_data=side_data)
    options = dict(preset.options)
    if features is not None:
        options["features"] = features
    measure = Measure(LIST_METRICS[preset.metric], options)
    return float(values_of(data, measure, Cutoffs.one(k)).mean[0])


def _chosen(library: str, metric: str, k: int | None) -> tuple[Preset, int | None]:
    """Return the preset that a name means, and the cut-off.

    It is that of this name, or the first of the metric of accuracy that it means.
    """
    metric = plain_text(metric)
    if isinstance(library, str) and "[" in library:
        _refuse_brackets(library, metric)
    if isinstance(metric, str) and metric in variants(library):
        return preset(library, metric), k
    try:
        measure = measure_named(metric)
    except OptionError:  # what is no metric is refused with those of the library
        return preset(library, metric), k
    if measure.text or measure.options or not measure.metric.is_accuracy:
        return preset(library, metric), k
    measure = measure.cut_at(k)
    first = default_of(library, measure.metric.name, whole=measure.k is None)
    if first is None:
        return preset(library, metric), measure.k
    return only_way(first, metric), measure.k


def _refuse_brackets(library: str, metric: Any) -> None:
    """Refuse a library with brackets, which stand with its metric here."""
    name, _bracket, given = library.partition("[")
    name = library_named(name)
    wanted = f"{metric}[{given}"
    with suppress(OptionError):
        wanted = recorded(metric_named(metric).name, library).variant
    raise OptionError(
        f"{library!r} is no library: what a library is given stands with its "
        f"metric. Give {name!r}, and type metric={wanted!r}."
    )
