"""Arguments of calls: metrics by name, their options, and a user."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import polars as pl

from recnb.conventions import WORDS, Convention, presets
from recnb.data import NAMES
from recnb.data.encoding import place_of
from recnb.errors import OptionError, UnknownUserError, is_number, is_several, is_word, near, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import PRINTED
from recnb.metrics.metric import Metric, measure_named, metric_named, standard_metric

#: Metrics by name or text, as "ndcg" or "nDCG@10", or each with its own options.
Metrics = Iterable[str] | Mapping[str, Mapping[str, Any]] | None

#: Names of measures that are kept as typed.
AS_PRINTED = {*PRINTED.values()}

#: The metrics of a table by default.
STANDARD = ("ndcg", "average_precision", "reciprocal_rank", "precision", "recall", "f1", "hit_rate")


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
                raise OptionError(
                    f"metrics={{{name!r}: {given!r}}}: give each metric a mapping of its options, {{{name!r}: {{}}}} for none."
                )
    named = [(str(name), measure_named(name)) for name in metrics]
    if not named:
        raise OptionError("metrics is empty: name at least one, such as metrics=['ndcg'].")
    chosen = [metric for _name, metric in named]
    names = [(metric.name, metric.cutoff) for metric in chosen]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise OptionError(f"metrics names {twice[0][0]!r} more than once.")
    asked = []
    for name, metric in named:
        shown = name if set(name) & set("@(") or name in AS_PRINTED else metric.name
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
        raise OptionError(
            f"{name!r} is of other data than this evaluation: evaluate with {given}, and name {found.plain_name!r}."
        )
    return standard_metric(name if found.cutoff is None else found.name), cutoff


def options_of(
    metric: Metric[...], metrics: Metrics, options: Mapping[str, Any], chosen: Sequence[Metric[...]], *of_call: str
) -> dict[str, Any]:
    """A metric's own options, and of those given for all, the ones that it has; one that none has is refused.

    `of_call` are other keywords of the call, which one that is misspelt may mean.
    """
    everything = {name for other in chosen for name in other.defaults}
    names = ", ".join(other.name for other in chosen)
    refuse_options_of_data("these metrics" if len(chosen) > 1 else names, options, {*everything, *of_call})
    for name in options:
        if name not in everything:
            raise OptionError(f"none of {names} has an option {name!r}. {near(name, [*sorted(everything), *of_call])}")
    of_metric = {name: value for name, value in options.items() if name in metric.defaults and name not in metric.given}
    if isinstance(metrics, Mapping):
        own = next(given for name, given in metrics.items() if measure_named(name) is metric)
        _refuse_given_twice(metric, own)
        of_metric |= own
    metric.check(of_metric)
    return of_metric


#: Options that are given where the frames are: columns and conventions.
OF_DATA = ("train", "items", "users", "convention", *NAMES, *(one for one in vars(Convention()) if one != "metric"))


def check_options(metric: Metric[...], options: Mapping[str, Any]) -> None:
    """Refuse options that a metric does not have, or that its text gives."""
    refuse_options_of_data(metric.name, options, ["k", *metric.defaults])
    _refuse_given_twice(metric, options)
    metric.check(options)


def _refuse_given_twice(metric: Metric[...], options: Mapping[str, Any]) -> None:
    """Refuse options that the text of a metric gives as well."""
    for name, value in options.items():
        if name in metric.given:
            of_text = f"the text of {metric.plain_name} gives {name}={metric.given[name]!r}, and "
            raise OptionError(of_text, f"{name}={quoted(value)} is another: leave one of them out.")


def refuse_options_of_data(metric: str, options: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse options that are given where the frames are, also misspelt ones."""
    for name, value in options.items():
        if name in known:
            continue
        near_known = difflib.get_close_matches(name, [*known, *OF_DATA], n=1, cutoff=0.75)
        meant = name if name in OF_DATA else near_known[0] if near_known else name
        if meant not in OF_DATA or meant in known:
            continue
        words = WORDS.get(meant)
        if meant == "cutoff" and is_number(value):
            raise OptionError(f"{name!r} is no option of {metric}: the cut-off is k={quoted(value)}.")
        if words and isinstance(value, (str, Real)) and not is_word(value, words):
            problem = f"{name}={value!r} is no option of {metric}, and {meant} is one of the data: "
            raise OptionError(problem, fix=near(value, words))
        is_frame = meant in ("train", "items", "users") or not isinstance(value, (str, Real))
        given = f"{meant}={'frame' if is_frame else quoted(value)}"
        problem = (
            f"{name!r} is no option of {metric}. Did you mean {meant!r}, an option of the data? It"
            if meant != name
            else f"{name!r} is an option of the data and not of {metric}: it"
        )
        advice = f"recs.rec.against(truth, {given})"
        raise OptionError(
            f"{problem} is given where the frames are, ", advice, ", and so to recnb.evaluate and recnb.compare."
        )


def position_of(user: Any, users: pl.Series, *, evaluated: bool = True) -> int:
    """The position of a user among those evaluated, or among those with a list."""
    found = place_of(user, users)
    if found is None:
        shown = ", ".join(map(repr, users.head(5).to_list()))
        by_text = {str(known): known for known in users.head(10_000).to_list()}
        close = difflib.get_close_matches(str(user), by_text, n=2, cutoff=0.6)
        alike = f" Did you mean {' or '.join(repr(by_text[name]) for name in close)}?" if close else ""
        kind = (
            f" Users are {'whole numbers' if users.dtype.is_integer() else 'text'}."
            if not isinstance(user, type(users[0]))
            else ""
        )
        raise UnknownUserError(
            f"user {quoted(user)} is not among the {len(users):,} users {'evaluated' if evaluated else 'who have a list'}.{kind}{alike} "
            f"They are {shown}{', …' if len(users) > 5 else ''}"
            f"{'; users with no relevant item may have been left out' if evaluated else ''}."
        )
    return found
