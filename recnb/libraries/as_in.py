"""`as_in`: the number that a library returns."""

from __future__ import annotations

from collections.abc import Sequence

from recnb.conventions import Convention
from recnb.conventions.convention import Order
from recnb.conventions.presets import (
    Preset,
    default_of,
    only_way,
    preset,
    variants,
)
from recnb.data import read_tables
from recnb.data.in_memory import ranked
from recnb.data.names import RECS, ROLES, TRUTH, Named
from recnb.data.read import Input, tables_of
from recnb.data.roles import labels_of
from recnb.data.side_data import read_side_data
from recnb.data.tables import MadeTable, Tables
from recnb.errors import OptionError, is_word, near
from recnb.libraries.number import Variant
from recnb.metrics.hits import Cutoffs, one_cutoff
from recnb.metrics.measure import Measure, measure_named, plain_text
from recnb.metrics.metric import LIST_METRICS
from recnb.results.evaluation_data import EvaluationData
from recnb.results.scoring import values_of


class LibraryNumber(float):
    """A library's number, which says when it is shown where the library has none."""

    _preset: Preset

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
    k = one_cutoff(k)
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
    source = read_tables(tables, named)
    number = LibraryNumber(Variant.of_preset(chosen).measure(source, k).value)
    number._preset = chosen
    return number


def _of_lists(
    preset: Preset,
    tables: Tables,
    named: Named,
    features: str | Sequence[str] | None,
    k: int | None,
) -> float:
    """Compute a library's metric beyond accuracy, which reads the lists alone.

    They are ordered by rank if there is one, else by score.
    """
    labels = labels_of(tables[RECS], named, ROLES[RECS])
    order: Order = "rank" if "rank" in labels else "score"
    convention = Convention(order=order, duplicates="keep")
    lists = ranked(tables[RECS].role_table(labels), convention)
    recs = MadeTable.of(lists.select("user", "item", "rank"), RECS)
    pairs = MadeTable.of(lists.select("user", "item"), TRUTH)
    source = read_tables({RECS: recs, TRUTH: pairs}, {})
    side_data = read_side_data(source, {**tables, TRUTH: pairs}, named)
    data = EvaluationData(source.under(Convention()), side_data)
    options = dict(preset.options)
    if features is not None:
        options["features"] = features
    measure = Measure(LIST_METRICS[preset.metric], options)
    return float(values_of(data, measure, Cutoffs((k,))).mean[0])


def _chosen(library: str, metric: str, k: int | None) -> tuple[Preset, int | None]:
    """Return the preset that a name means, and the cut-off.

    The preset has this name, or is the first of the metric of accuracy that it means.
    """
    metric = plain_text(metric)
    if is_word(metric, variants(library)):
        return preset(library, metric), k
    try:
        measure = measure_named(metric)
    except OptionError:  # what is no metric is refused with the library's
        return preset(library, metric), k
    first = default_of(library, measure.metric.name)
    says_more = measure.text or measure.options
    if first is None or says_more or not measure.metric.is_accuracy:
        return preset(library, metric), k
    return only_way(first, metric), measure.cut_at(k).k
