"""The look-up of metrics, by name or by a text in the grammar of ir_measures: a name, parameters in brackets, a cut-off after "@".

Names are those that papers and ir_measures print, and recnb's own; case does not matter.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recnb.display.data_file import rows_of
from recnb.errors import OptionError, is_number, is_word, near, nearest_names, quoted
from recnb.metrics.hits import Cutoffs
from recnb.metrics.metric import ALIASES, EVERY_METRIC, LIST_METRICS, METRICS, RETRIEVAL_METRICS, Metric

_NAMES = rows_of("metrics/measures.csv")
#: Metric -> the name that is printed.
PRINTED = {row["metric"]: row["printed"] for row in _NAMES}
#: Every name, in lower case -> metric.
NAMES = {name.lower(): row["metric"] for row in _NAMES for name in (row["printed"], *row["also"].split())}
#: The names that are printed, with "@" where a cut-off or a level of recall follows -> those that trec_eval prints.
TREC_NAMES = {row["printed"]: row["trec"] for row in _NAMES if row["trec"]}
TREC_NAMES |= {f"{row['printed']}@": row["trec_cut"] for row in _NAMES if row["trec_cut"]}
#: Measures of trec_eval and ir_measures that recnb does not have, in lower case -> what to ask instead.
OTHERS = {
    "setp": "type 'P', which is of the whole list without a cut-off",
    "setr": "type 'R', which is of the whole list without a cut-off",
    "setf": "type 'F1', which is of the whole list without a cut-off",
    "infap": "type 'Bpref', which leaves out what is not judged",
    **dict.fromkeys(("numret", "numrel", "numrelret"), "counts of each user are in .to_frame() of an evaluation"),
}

#: Values of ir_measures' `dcg` -> recnb's `gain`.
DCG = {"log2": "linear", "exp-log2": "exponential"}

#: Metrics whose gains are graded, so that they have no threshold of their own.
GRADED = ("ndcg", "dcg", "idcg", "cg", "err")

#: Parameters that are conventions of the data.
CONVENTIONS = {"rel": "relevant_from", "judged_only": "judged_only"}

TEXT = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*(?:@\s*([\d.]+))?\s*", re.DOTALL)


def is_measure(text: str) -> bool:
    """Say whether a text has the form of a measure, whatever its name.

    >>> is_measure("nDCG@10"), is_measure("nDCG@ten")
    (True, False)
    """
    return TEXT.fullmatch(text) is not None


@dataclass(frozen=True)
class MeasureText:
    """A metric with its options, what it changes about the data, and its cut-off, as a text says them.

    >>> print(MeasureText.parse("ndcg(dcg='exp-log2') @ 10"))
    nDCG(dcg='exp-log2')@10
    >>> MeasureText.parse("MAP(rel=2)")
    MeasureText(metric='average_precision', options={}, data={'relevant_from': 2}, k=None)
    >>> [str(MeasureText.parse(name)) for name in ("mrr", "Recall@20", "IPrec@0.1")]
    ['RR', 'Recall@20', 'IPrec@0.1']
    """

    metric: str  #: its name; of what is no name of a measure, the text before brackets and cut-off
    options: Mapping[str, Any] = field(default_factory=dict)  #: of the metric
    data: Mapping[str, Any] = field(default_factory=dict)  #: conventions: relevant_from, judged_only
    k: int | None = None

    @classmethod
    def parse(cls, text: str) -> MeasureText:
        """Read a text; whether the metric has these options is checked where it is looked up."""
        found = TEXT.fullmatch(text)
        if found is None:
            raise OptionError(
                f"{text!r} is no measure: type a name, parameters in brackets and a cut-off, such as 'nDCG@10', "
                "'AP(rel=2)' or \"nDCG(dcg='exp-log2')@10\"."
            )
        name, inside, after = found.groups()
        given, metric = _arguments(inside or "", text), NAMES.get(name.lower(), name)
        if {"k", "cutoff"} <= given.keys():
            raise OptionError(f"{text!r} gives cutoff twice, once as k: leave one of them out.")
        if "k" in given:
            given["cutoff"] = given.pop("k")
        if after is not None:
            level = "recall" if metric == "interpolated_precision" else "cutoff"
            if level in given:
                raise OptionError(f"{text!r} gives {level} twice: leave it out of the brackets.")
            given[level] = _level(after, level, text)
        if name.lower() == "iprec" and "recall" not in given:
            raise OptionError(f"{text!r} gives no level of recall: type one from 0 to 1, such as 'IPrec@0.1'.")
        data = {convention: given.pop(name) for name, convention in CONVENTIONS.items() if name in given}
        k = given.pop("cutoff", None)
        _check(metric, data, k, text)
        if "dcg" in given:
            if not is_word(given["dcg"], DCG):
                raise OptionError(f"dcg={given['dcg']!r} in {text!r}: known are 'log2' and 'exp-log2'.")
            given["gain"] = DCG[given.pop("dcg")]
        return cls(metric, given, data, k)

    def __str__(self) -> str:
        options, level = dict(self.options), self.k
        if self.metric == "interpolated_precision":
            level = options.pop("recall", None)
        if self.metric == "ndcg" and options.get("gain") in DCG.values():
            gain = options.pop("gain")
            options["dcg"] = next(word for word in DCG if DCG[word] == gain)
        options |= {name: self.data[convention] for name, convention in CONVENTIONS.items() if convention in self.data}
        inside = ",".join(f"{name}={value!r}" for name, value in sorted(options.items()))
        name = PRINTED.get(self.metric, self.metric)
        return f"{name}{f'({inside})' if inside else ''}{'' if level is None else f'@{level}'}"

    @property
    def name(self) -> str:
        """The text without the cut-off."""
        return str(replace(self, k=None))


def spelling_of(text: str) -> str | None:
    """Return how to write what trec_eval prints, such as "P_5", or pytrec_eval takes, "P.5"; None for other texts.

    >>> spelling_of("P_5"), spelling_of("iprec_at_recall_0.10"), spelling_of("recip_rank"), spelling_of("nDCG@5")
    ('P@5', 'IPrec@0.1', 'RR', None)
    """
    names = {trec.lower(): name for name, trec in TREC_NAMES.items()}
    word = text.strip().lower()
    found = re.fullmatch(r"(\w+?)[_.](\d+(?:\.\d+)?)", word)
    if found is not None and f"{found[1]}_" in names:
        return f"{names[f'{found[1]}_']}{float(found[2]):g}"
    return None if word in NAMES else names.get(word)


def _arguments(inside: str, text: str) -> dict[str, Any]:
    """Read the parameters in brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(each.arg is None for each in call.keywords):
            raise ValueError("no keywords")
        return {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError) as problem:
        raise OptionError(
            f"{text!r}: parameters in brackets have names and plain values, such as 'AP(rel=2)' or \"nDCG(dcg='exp-log2')@10\"."
        ) from problem


def _level(after: str, level: str, text: str) -> int | float:
    """Read what follows "@": a rank, or a level of recall."""
    try:
        return float(after) if level == "recall" else int(after)
    except ValueError as problem:
        example = "0.1" if level == "recall" else "10"
        raise OptionError(f"{text!r}: @{after} is no {level}: type a number such as @{example}.") from problem


def _check(metric: str, data: Mapping[str, Any], k: Any, text: str) -> None:
    """Refuse a threshold of graded gains, and values that no convention has."""
    least, only = data.get("relevant_from", 1), data.get("judged_only", True)
    if "relevant_from" in data and metric in GRADED:
        raise OptionError(
            f"{text!r}: {PRINTED[metric]} has graded gains and no rel. For a threshold evaluate with relevant_from={least!r}."
        )
    if not (is_number(least) and least > 0):
        raise OptionError(f"{text!r}: rel={least!r} is no threshold: give a number above 0, such as rel=2.")
    if not isinstance(only, bool):
        raise OptionError(f"{text!r}: judged_only={only!r}: say True or False.")
    Cutoffs.one(k)


def metric_named(name: object, among: Collection[str] = EVERY_METRIC) -> Metric[...]:
    """Look up the metric that a name, a text or a metric means, with the options and the cut-off of the text.

    `among`: EVERY_METRIC; ACCURACY, which leaves out those beyond accuracy; or METRICS, for calls that take a plain name and
    its options as keywords.

    >>> metric_named("nDCG@10").name, metric_named("nDCG@10").cutoff
    ('ndcg', 10)
    """
    if isinstance(name, Metric):
        found = name
    elif isinstance(name, str):
        plain = ALIASES.get(name, name)
        found = EVERY_METRIC[plain] if plain in EVERY_METRIC else _parsed(name)
    else:
        as_text = f"Give its name as text: {str(name)!r}." if "@" in str(name) else near(name, _known_names())
        raise OptionError(f"{quoted(name)} is no metric of recnb. {as_text}")
    if found.plain_name in LIST_METRICS and found.plain_name not in among:
        raise OptionError(
            f"{found.name} is a metric beyond accuracy, and one of accuracy is needed here, such as 'ndcg'. Of an evaluation type "
            f".{found.name}(k=10), .table([..., {found.name!r}], k=10) or .beyond(k=10)."
        )
    if among is METRICS and (found.text or found.plain_name not in METRICS):
        problem = f"{name!r}: this takes a metric of accuracy by its name, and its options as keywords."
        raise OptionError(problem, fix=near(found.plain_name, METRICS))
    return found


def _known_names() -> list[str]:
    return [*METRICS, *ALIASES, *RETRIEVAL_METRICS, *LIST_METRICS]


@functools.cache
def _parsed(text: str) -> Metric[...]:
    """Look up the metric of a text such as "nDCG(dcg='exp-log2')@10", and give it the options of the text."""
    is_text = bool(set(text) & set("@("))
    measure = MeasureText.parse(text) if is_text or TEXT.fullmatch(text) else MeasureText(text)
    plain = measure.metric.lower()
    found = EVERY_METRIC.get(ALIASES.get(plain, plain))
    if found is None:
        raise _unknown(text, measure.metric, is_text=is_text)
    found.check(measure.options)
    data = {name: value for name, value in measure.data.items() if value is not False}
    if data and not found.is_accuracy:
        raise OptionError(f"{text!r}: rel and judged_only are parameters of metrics of accuracy, not of {found.name}.")
    if not (measure.options or data or measure.k):
        return found
    others = {name: value for name, value in measure.options.items() if value != found.defaults[name]}
    if found.plain_name == "interpolated_precision":
        others = dict(measure.options)  # its name prints the level
    name = MeasureText(found.plain_name, others, data).name if others or data else ""
    return replace(found, symbol=name or found.symbol, text=name, given=measure.options, data=data, cutoff=measure.k)


def _unknown(text: str, name: str, *, is_text: bool) -> OptionError:
    """Return the error for a text that is no metric, with what to type instead."""
    other = re.sub("[^a-z]", "", name.lower())
    if (spelling := spelling_of(text)) is not None:
        return OptionError(f"{text!r} is the name of trec_eval: type {spelling!r}.")
    if other in OTHERS:
        return OptionError(f"recnb has no {name}: {OTHERS[other]}.")
    own, printed = _known_names(), list(PRINTED.values())
    meant = nearest_names(name, [*own, *printed] if is_text else [*printed, *own])
    like = " or ".join(repr(text.replace(name, near_name, 1)) for near_name in meant)
    question = f"Did you mean {like}? " if like else ""
    return OptionError(f"{quoted(text)} is no metric of recnb. {question}Known: {', '.join(map(repr, own))}.")
