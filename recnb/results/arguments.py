"""Arguments of calls: metrics by name or text, with their options and cut-offs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from recnb.conventions import WORDS, Convention, presets
from recnb.data import NAMES
from recnb.errors import OptionError, is_number, is_several, is_word, near, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import PRINTED
from recnb.metrics.metric import Metric, measure_named, metric_named, standard_metric

#: Metrics by name or text, as "ndcg" or "nDCG@10", or each with its own options.
Metrics = Iterable[str] | Mapping[str, Mapping[str, Any]] | None

#: The metrics of a table by default.
STANDARD = ("ndcg", "average_precision", "reciprocal_rank", "precision", "recall", "f1", "hit_rate")

#: Options that are given where the frames are: side data, columns and conventions.
OF_DATA = ("train", "items", "users", "convention", *NAMES, *(one for one in vars(Convention()) if one != "metric"))


class Asked(NamedTuple):
    """A metric that is asked for."""

    name: str  #: as given
    metric: Metric[...]
    options: dict[str, Any]


def asked_of(library: str | None, metrics: Metrics, options: Mapping[str, Any], *of_call: str) -> list[Asked]:
    """Look up the metrics of a call, of accuracy and beyond it, each with its options; None: the standard ones of the library.

    A name is text, as "nDCG@10", that may have a cut-off, or a metric. `of_call` are other keywords of the call, which an
    option that is misspelt may mean.
    """
    if isinstance(metrics, str):
        metrics = [metrics]
    if metrics is None:
        metrics = [name for name in STANDARD if library is None or presets.of_metric(name, library)]
    if not is_several(metrics):
        raise OptionError(f"metrics={metrics!r}: name them in a list, such as metrics=['ndcg', 'recall'].")
    if isinstance(metrics, Mapping):
        for name, given in metrics.items():
            if not isinstance(given, Mapping):
                fix = f"give each metric a mapping of its options, {{{name!r}: {{}}}} for none."
                raise OptionError(f"metrics={{{name!r}: {given!r}}}: {fix}")
    named = [(str(name), measure_named(name)) for name in metrics]
    if not named:
        raise OptionError("metrics is empty: name at least one, such as metrics=['ndcg'].")
    chosen = [metric for _name, metric in named]
    names = [(metric.name, metric.cutoff) for metric in chosen]
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"metrics names {twice[0][0]!r} more than once.")
    asked = []
    for name, metric in named:
        shown = name if set(name) & set("@(") or name in PRINTED.values() else metric.name
        asked.append(Asked(shown, metric, options_of(metric, metrics, options, chosen, *of_call)))
    return asked


def chosen_metrics(metrics: Metrics) -> list[Metric[...]]:
    """Look up metrics of accuracy; one beyond it, and a cut-off in a name, are refused."""
    asked = asked_of(None, metrics, {})
    return [metric_named(metric if metric.cutoff is None else name) for name, metric, _options in asked]


def measure_at(name: object, k: object, *, standard: bool = False) -> tuple[Metric[...], int | None]:
    """Look up the metric that a name or a text means, and its cut-off: that of the text, else k.

    `standard`: only a metric of METRICS, whose options are keywords of the call.
    """
    found, (cutoff,) = measure_named(name), Cutoffs.one(k).values
    if found.cutoff is not None and k not in (None, found.cutoff):
        raise OptionError(f"{name!r} has its cut-off, and k={quoted(k)} is another: leave one of them out.")
    cutoff = cutoff if found.cutoff is None else found.cutoff
    if not standard:
        return found, cutoff
    if found.data:
        given = ", ".join(f"{convention}={value!r}" for convention, value in found.data.items())
        fix = f"evaluate with {given}, and name {found.plain_name!r}."
        raise OptionError(f"{name!r} is of other data than this evaluation: {fix}")
    return standard_metric(name if found.cutoff is None else found.name), cutoff


def options_of(
    metric: Metric[...], metrics: Metrics, options: Mapping[str, Any], chosen: Sequence[Metric[...]], *of_call: str
) -> dict[str, Any]:
    """Return a metric's own options, and of those given for all, the ones that it has; one that none has is refused."""
    everything = {name for other in chosen for name in other.defaults}
    names = ", ".join(other.name for other in chosen)
    _refuse_options_of_data("these metrics" if len(chosen) > 1 else names, options, {*everything, *of_call})
    for name in options:
        if name not in everything:
            raise OptionError(f"none of {names} has an option {name!r}. {near(name, [*sorted(everything), *of_call])}")
    of_metric = {name: value for name, value in options.items() if name in metric.defaults and name not in metric.given}
    if isinstance(metrics, Mapping):
        own = next(given for name, given in metrics.items() if measure_named(name) is metric)
        check_options(metric, own)
        of_metric |= own
    metric.check(of_metric)
    return of_metric


def check_options(metric: Metric[...], options: Mapping[str, Any]) -> None:
    """Refuse options that a metric does not have, or that its text gives."""
    _refuse_options_of_data(metric.name, options, ["k", *metric.defaults])
    if twice := [name for name in options if name in metric.given]:
        problem = f"the text of {metric.plain_name} gives {twice[0]}={metric.given[twice[0]]!r}, and "
        raise OptionError(problem, f"{twice[0]}={quoted(options[twice[0]])} is another: leave one of them out.")
    metric.check(options)


def _refuse_options_of_data(metric: str, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse options that are given where the frames are, also misspelt ones."""
    for name in [name for name in options if name not in known]:
        value = options[name]
        meant = name if name in OF_DATA else "".join(get_close_matches(name, [*known, *OF_DATA], n=1, cutoff=0.75))
        if meant not in OF_DATA or meant in known:
            continue
        if meant == "cutoff" and is_number(value):
            raise OptionError(f"{name!r} is no option of {metric}: the cut-off is k={quoted(value)}.")
        words = WORDS.get(meant)
        if words and not is_word(value, words):
            problem = f"{name}={quoted(value)} is no option of {metric}, and {meant} is one of the data: "
            raise OptionError(problem, fix=near(value, words))
        is_plain = meant not in ("train", "items", "users") and (isinstance(value, str) or is_number(value))
        advice = f"recs.rec.against(truth, {meant}={quoted(value) if is_plain else 'frame'})"
        problem = f"{name!r} is no option of {metric}: {meant!r} is one of the data, given where the frames are, "
        raise OptionError(problem, advice, ", and so to recnb.evaluate and recnb.compare.")
