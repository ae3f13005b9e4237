"""The number that another library would return for the same frames."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from recnb.conventions import Convention
from recnb.conventions.presets import Preset, default_of, only_way, preset, variants
from recnb.data import read, read_lists
from recnb.data.load import RECS, TRUTH, Input, tables_of
from recnb.data.side_data import read_side_data
from recnb.errors import OptionError, near
from recnb.libraries.variant import Variant
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import metric_named, plain_text
from recnb.metrics.metric import LIST_METRICS
from recnb.results.evaluation_data import EvaluationData, values_of


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
    """Return the number that a library's metric returns for these frames, from its recorded convention.

    Parameters
    ----------
    library, metric
        Names as listed by `recnb.conventions.names()` and `recnb.conventions.metrics(library)`; a suffix such as `[full]`
        tells what the library is given. A metric of accuracy by another name, as "map" or "nDCG@10", is its first variant there.
    recs, truth
        Recommendations and truth, in any form that `recnb.evaluate` takes; one frame with both sides is given alone.
    k
        The cut-off; None: the length of each list. A metric that the library does not cut, as R-precision, takes none.
    train, items, features
        For metrics beyond accuracy, as in `recnb.evaluate`: what users had before, and all items with what is known of them;
        `features` names the columns of `items` that diversity compares. An error names what a metric needs.
    **columns
        Columns by role: `user`, `item`, `rank`, `score`, `relevance`.

    Returns
    -------
    float
        NaN if the library returns NaN.

    Raises
    ------
    RecnbError
        Unknown names, unusable frames, and frames on which the library raises an error or follows no recorded rule.

    Examples
    --------
    >>> import pandas as pd
    >>> recs = pd.DataFrame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3, 2, 1]})
    >>> truth = pd.DataFrame({"user": [1], "item": ["b"]})
    >>> [round(as_in(name, "ndcg", recs, truth, k=3), 4) for name in ("ranx", "rectools", "lenskit")]
    [0.6309, 0.2961, 1.0]
    """
    chosen, k = _chosen(library, metric, k)
    roles = ("user", "item", "rank", "score", "relevance")
    if unknown := [name for name in columns if name not in roles]:
        known = near(unknown[0], [*roles, "train", "items", "features"])
        raise OptionError(f"{unknown[0]!r} is no option of as_in. {known}")
    if k is not None and not chosen.uses_k:
        raise OptionError(f"{chosen.label} does not cut lists at k.", fix="Ask for it without k.")
    frames, named = tables_of({RECS: recs, TRUTH: truth, "train": train, "items": items}, columns)
    if chosen.metric not in LIST_METRICS:
        return Variant.of_preset(chosen).measure(read(frames[RECS], frames.get(TRUTH), named, {}), k).value
    lists = read_lists(frames[RECS], named)
    source = read(lists, lists.select("user", "item"), {}, {})
    side_data = read_side_data(source, None, named, train=frames.get("train"), items=frames.get("items"))
    data = EvaluationData(source.under(Convention()), side_data=side_data)
    options = dict(chosen.options) | ({} if features is None else {"features": features})
    return float(values_of(data, LIST_METRICS[chosen.metric], Cutoffs.one(k), options).mean[0])


def _chosen(library: str, metric: str, k: int | None) -> tuple[Preset, int | None]:
    """Return the preset of this name, or the first of the metric of accuracy that a name means, and the cut-off."""
    metric, listed, measure = plain_text(metric), variants(library), None
    if isinstance(metric, str) and metric not in listed:
        with suppress(OptionError):  # what is no metric is refused with those of the library
            measure = metric_named(metric)
    if measure is None or measure.text or measure.given or not measure.is_accuracy:
        return preset(library, metric), k
    k = measure.cut_at(k)
    found = default_of(library, measure.plain_name, whole=k is None)
    if found is None:
        return preset(library, metric), k
    return only_way(found, metric), k
