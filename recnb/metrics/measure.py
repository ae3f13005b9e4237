"""The look-up of metrics, by name or by a text in the grammar of ir_measures: a name,
parameters in brackets, a cut-off after "@".

Names are those that papers and ir_measures print, and recnb's own; case does not
matter.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from recnb.display.data_file import rows_of
from recnb.display.language import LANGUAGES, N_, _, use_language
from recnb.errors import OptionError, is_number, near, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import (
    ALIASES,
    EVERY_METRIC,
    LIST_METRICS,
    METRICS,
    RETRIEVAL_METRICS,
    Metric,
)

_NAMES = rows_of("metrics/measures.csv")
#: Metric -> the name that is printed.
PRINTED = {row["metric"]: row["printed"] for row in _NAMES}
#: Every name that is not recnb's own, in lower case -> metric.
NAMES = ALIASES | {
    name.lower(): row["metric"]
    for row in _NAMES
    for name in (row["printed"], *row["also"].split())
}

#: Values of ir_measures' `dcg` -> recnb's `gain`.
DCG = {"log2": "linear", "exp-log2": "exponential"}

#: Metrics whose gains are graded, so that they have no threshold of their own.
GRADED = ("ndcg", "dcg", "idcg", "cg", "err")

#: Parameters that are conventions of the data.
CONVENTIONS = {"rel": "relevant_from", "judged_only": "judged_only"}

TEXT = re.compile(
    r"\s*([^\W\d_][\w\s-]*?)\s*(?:\((.*)\))?\s*(?:@\s*([\d.]+))?\s*", re.DOTALL
)
NO_METRIC = N_("{name} is no metric of recnb.")
EXAMPLES = "'nDCG@10', 'AP(rel=2)' or \"nDCG(dcg='exp-log2')@10\""


def is_measure(text: str) -> bool:
    """Say whether a text has the form of a measure, such as "nDCG@10", whatever its
    name.
    """
    return TEXT.fullmatch(text) is not None


def plain_text(name: Any) -> Any:
    """Return the text of a measure of ir_measures, such as `nDCG @ 10`, and any other
    name as it is.
    """
    if type(name).__module__.split(".")[0] != "ir_measures":
        return name
    try:
        return str(name)
    except KeyError as problem:  # ir_measures takes any parameter, and prints its own
        parameter = quoted(problem.args[0])
        raise OptionError(
            f"{type(name).__name__.lstrip('_')} has no parameter {parameter} in ir_measures: "
            f"leave it out, or write the measure as text."
        ) from problem


def metric_named(name: object, among: Collection[str] = EVERY_METRIC) -> Metric[...]:
    """Look up the metric that a name, a text or a metric means, with the options and
    the cut-off of the text.

    `among`: EVERY_METRIC; ACCURACY, which leaves out those beyond accuracy; or METRICS,
    for calls that take a plain name and its options as keywords.
    """
    if isinstance(name, Metric):
        found = name
    elif isinstance(name := plain_text(name), str):
        found = parsed(name)
    else:
        made = (
            _("A function becomes a metric by @recnb.metric(...).")
            if callable(name)
            else near(name, _known_names(), _)
        )
        raise OptionError(_(NO_METRIC, name=quoted(name)), fix=made)
    if found.plain_name in LIST_METRICS and found.plain_name not in among:
        problem = N_(
            "{metric} is a metric beyond accuracy, and one of accuracy is needed "
            "here, such as 'ndcg'."
        )
        typed = N_(
            "Of an evaluation type .{metric}(k=10), .table([..., '{metric}'], k=10) or "
            ".beyond(k=10)."
        )
        metric = found.name
        raise OptionError(_(problem, metric=metric), fix=_(typed, metric=metric))
    if among is METRICS and (found.text or found.plain_name not in METRICS):
        problem = N_(
            "{name}: this takes a metric of accuracy by its name, and its options as "
            "keywords."
        )
        known = near(found.plain_name, METRICS, _)
        raise OptionError(_(problem, name=repr(name)), fix=known)
    return found


def measure_named(name: object) -> Metric[...]:
    """Look up what ir_measures means by a text, however it is spelt: without a cut-off
    nothing is cut, the ideal list neither.
    """
    return replace(metric_named(name), as_printed=True)


def _known_names() -> list[str]:
    names = [*METRICS, *ALIASES, *RETRIEVAL_METRICS, *LIST_METRICS]
    return [*names, *(name for name in PRINTED.values() if name.lower() not in names)]


def called(name: str) -> str:
    """Return the metric that is called so in words, in any language: "average
    precision", "평균 정밀도"; empty if none is.
    """
    return _terms().get(_without_blanks(name), "")


@functools.cache
def _terms() -> dict[str, str]:
    """Return what each metric is called in every language -> the metric."""
    terms = {}
    for lang in LANGUAGES:
        with use_language(lang):
            for name, metric in EVERY_METRIC.items():
                # Of a term with a second word in brackets, each of the two.
                for term in re.split(r"[()]", metric.term):
                    terms[_without_blanks(term)] = name
    terms.pop("", None)
    return terms


def _without_blanks(name: str) -> str:
    return "".join(name.lower().split())


@functools.cache
def parsed(text: str) -> Metric[...]:
    """Look up the metric of a name, or of a text such as "nDCG(dcg='exp-log2')@10",
    with the options of the text.
    """
    if text in EVERY_METRIC:
        return EVERY_METRIC[text]
    parts = TEXT.fullmatch(text)
    if parts is None and set(text) & set("@("):
        form = N_(
            "{text} is no measure: type a name, parameters in brackets and a cut-off, "
            "such as {examples}."
        )
        raise OptionError(_(form, text=repr(text), examples=EXAMPLES))
    name, inside, after = parts.groups() if parts else (text, None, None)
    known = NAMES.get(name.lower(), name.lower())
    found = EVERY_METRIC.get(known) or EVERY_METRIC.get(called(name))
    if found is None:
        problem = _(NO_METRIC, name=quoted(text))
        raise OptionError(problem, fix=near(name, _known_names(), _))
    options, cutoff = _arguments(inside or "", text), None
    if after is not None and "recall" in found.defaults:
        if "recall" in options:
            raise OptionError(
                f"{text!r} gives recall twice: leave it out of the brackets."
            )
        options["recall"] = _number_after(after, float, text)
    elif after is not None:
        (cutoff,) = Cutoffs.one(_number_after(after, int, text))
    data = _conventions(found, options, text)
    if "dcg" in options and "gain" in found.defaults:
        options["gain"] = DCG.get(str(options["dcg"]))
        if options["gain"] is None:
            raise OptionError(
                f"dcg={options['dcg']!r} in {text!r}: known are 'log2' and 'exp-log2'."
            )
        del options["dcg"]
    if unknown := [option for option in options if option not in found.defaults]:
        problem = _(
            "{text}: {metric} has no option {option}.",
            text=repr(text),
            metric=found.name,
            option=repr(unknown[0]),
        )
        raise OptionError(problem, fix=near(unknown[0], found.defaults, _))
    found.check(options)
    as_printed = name in PRINTED.values() or inside is not None
    if not (options or data or cutoff):
        return replace(found, as_printed=True) if as_printed else found
    name = _printed(found, options, data)
    return replace(
        found,
        symbol=name or found.symbol,
        text=name,
        given=options,
        data=data,
        cutoff=cutoff,
        as_printed=as_printed,
    )


def _arguments(inside: str, text: str) -> dict[str, Any]:
    """Read the parameters in brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if (
            not isinstance(call, ast.Call)
            or call.args
            or any(each.arg is None for each in call.keywords)
        ):
            raise ValueError("no keywords")
        return {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError) as problem:
        form = (
            f"parameters in brackets have names and plain values, such as {EXAMPLES}."
        )
        raise OptionError(f"{text!r}: {form}") from problem


def _number_after(after: str, kind: type[int | float], text: str) -> Any:
    """Read what follows "@": a rank, or a level of recall."""
    try:
        return kind(after)
    except ValueError as problem:
        words = _(
            "{text}: @{after} is no cut-off: type a number such as @10.",
            text=repr(text),
            after=after,
        )
        raise OptionError(words) from problem


def _conventions(
    metric: Metric[...], options: dict[str, Any], text: str
) -> dict[str, Any]:
    """Take the parameters that are conventions of the data out of the options."""
    if not metric.is_accuracy:
        return {}
    names = [
        name
        for name in CONVENTIONS
        if name in options and not (name == "rel" and metric.plain_name in GRADED)
    ]
    given = {name: options.pop(name) for name in names}
    if "rel" in given and not (is_number(given["rel"]) and given["rel"] > 0):
        raise OptionError(
            f"{text!r}: rel={given['rel']!r} is no threshold: give a number above 0, such as rel=2."
        )
    if not isinstance(given.get("judged_only", True), bool):
        raise OptionError(
            f"{text!r}: judged_only={given['judged_only']!r}: say True or False."
        )
    return {
        CONVENTIONS[name]: value for name, value in given.items() if value is not False
    }


def _printed(
    metric: Metric[...], options: Mapping[str, Any], data: Mapping[str, Any]
) -> str:
    """Return the name of a metric with what a text changes, without the cut-off; empty
    if it changes nothing.
    """
    level = options.get("recall")
    given = {
        name: value
        for name, value in options.items()
        if name != "recall" and value != metric.defaults[name]
    }
    if metric.plain_name == "ndcg" and given.get("gain") == "exponential":
        given["dcg"] = "exp-log2"
        del given["gain"]
    given |= {
        name: data[convention]
        for name, convention in CONVENTIONS.items()
        if convention in data
    }
    inside = ",".join(f"{name}={value!r}" for name, value in sorted(given.items()))
    name = PRINTED.get(metric.plain_name, metric.plain_name) + (
        f"({inside})" if inside else ""
    )
    return f"{name}@{level}" if level is not None else name if inside else ""
