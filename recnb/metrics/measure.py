"""`Measure`, what a number is of, and the look-up of measures by name or text.

A text is in the grammar of ir_measures: a name, parameters in brackets, a cut-off after
"@".

Names are those that papers and ir_measures print, and recnb's own, in any case.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from recnb.display.language import (
    LANGUAGES,
    _,
    pgettext,
    template,
    use_language,
)
from recnb.errors import OptionError, RecnbError, is_number, near, quoted
from recnb.metrics.formula import OVER, Formula
from recnb.metrics.hits import WHOLE_LISTS, Cutoff, Cutoffs, one_cutoff
from recnb.metrics.metric import (
    ACCURACY,
    ALIASES,
    ALWAYS,
    EVERY_METRIC,
    LIST_METRICS,
    NAMES,
    Given,
    Metric,
    Text,
    label_of,
)

#: A parameter of ir_measures -> recnb's name of it, and its values there -> those here.
PARAMETERS = {
    "dcg": ("gain", {"log2": "linear", "exp-log2": "exponential"}),
    "relative": ("out_of", {"True": "min(k, relevant)", "False": "k"}),
    "rel": ("relevant_from", {}),
}

#: Names that are understood as ir_measures spells them alone: in lower case this one is
#: also the share of right decisions, another metric.
EXACT = {"Accuracy": "auc"}

#: Parameters that are conventions of the data.
CONVENTIONS = ("relevant_from", "judged_only")

#: The form of a measure: name, parameters, a number after "@".
TEXT = re.compile(
    r"\s*([^\W\d_][\w\s-]*?)\s*(?:\((.*)\))?\s*(?:@\s*(\d+(?:\.\d+)?))?\s*", re.DOTALL
)
EXAMPLES = "'nDCG@10', 'AP(rel=2)' or \"nDCG(dcg='exp-log2')@10\""

#: Denominators that count relevant items -> what they are of items with weights, sums of
#: weights: `best_weight` is that of the heaviest of them.
WEIGHTS = {
    "n_relevant": "relevant_weight",
    "min(k, n_relevant)": "best_weight",
    "min(k, list_length, n_relevant)": "best_weight",
}


@dataclass(frozen=True, eq=False)
class Measure:
    """What a number is of: a metric with its options, at a cut-off or at several.

    |               | `name`      | `asked_as`    | `symbol`    | `label`       |
    |---------------|-------------|---------------|-------------|---------------|
    | "nDCG@10"     | "ndcg"      | "nDCG@10"     | "nDCG"      | "nDCG@10"     |
    | "AP(rel=2)@5" | "AP(rel=2)" | "AP(rel=2)@5" | "AP(rel=2)" | "AP(rel=2)@5" |
    """

    metric: Metric[...]
    #: Those that its text or the call gives; the others are defaults.
    options: Given = field(default_factory=dict)
    k: int | None = None  #: its cut-off, if it has one of its own
    weighted: bool = False  #: whether relevant pairs weigh 1 / propensity
    #: Its text without the cut-off, if that gives more than a name: AP(rel=2).
    text: str = ""
    #: Decisions about the data that its text makes: relevant_from=2 of AP(rel=2).
    decisions: Given = field(default_factory=dict)
    typed: str = ""  #: what a call asks for it by, if that says more than its name

    @property
    def asked_as(self) -> str:
        """What it is called in results."""
        return self.typed or self.name

    @property
    def name(self) -> str:
        """The name that it is asked for by, without a cut-off."""
        return self.text or self.metric.name

    @property
    def symbol(self) -> str:
        """The symbol of the metric, or the text of the measure."""
        return self.text or self.metric.symbol

    @property
    def label(self) -> str:
        """The symbol at the cut-off."""
        return label_of(self.symbol, self.k)

    @property
    def chosen(self) -> dict[str, Any]:
        """Every option in force."""
        return {**self.metric.defaults, **self.options}

    @property
    def options_beside_text(self) -> dict[str, Any]:
        """The options that its name does not give, which a call has beside it."""
        of_text = parsed(self.text).options if self.text else {}
        return {
            name: value for name, value in self.options.items() if name not in of_text
        }

    def with_options(self, options: Given) -> Measure:
        """Return the measure with more options, each checked.

        A cut-off is none of them; those that its text gives are not given again.
        """
        if not options:
            return self
        self.metric.check(options)
        for name, value in options.items():
            if name == "k":
                raise OptionError(
                    f"k={quoted(value)} is no option of {self.name} but its cut-off: "
                    f"name {label_of(self.name, value)!r}."
                )
            if name in self.options:
                raise OptionError(
                    f"the text of {self.metric.name} gives {name}={self.options[name]!r}, "
                    f"and {name}={quoted(value)} is another: leave one of them out."
                )
        return replace(self, options={**self.options, **options})

    def cut_at(self, k: object) -> Measure:
        """Return the measure with a cut-off; one beside that of its text is refused."""
        cutoff = one_cutoff(k)
        if cutoff in (None, self.k):
            return self
        if self.k is None:
            return replace(self, k=cutoff)
        raise OptionError(
            f"{self.label!r} has its cut-off, and k={quoted(k)} is another: leave "
            "one of them out."
        )

    def cutoffs(self, others: Cutoffs = WHOLE_LISTS) -> Cutoffs:
        """Return its own cut-off if it has one, else others."""
        return others if self.k is None else Cutoffs((self.k,))

    def at(self, data: Any, cutoffs: Cutoff) -> Any:
        """Compute the metric of hits or lists at one or several cut-offs."""
        is_whole = self.metric.own and None in Cutoffs.of(cutoffs).values
        if is_whole and "k" in self.missed.names():
            # Without a list k would be 0, and so the cost, the best there is.
            raise OptionError(
                f"{self.metric.name} adds missed={self.metric.missed!r} for a list "
                "without a hit, and there is no k: give a cut-off, such as k=10."
            )
        return self.metric.at(data, cutoffs, self.options)

    # The formula

    @property
    def credit(self) -> Formula:
        """The formula of what each row adds."""
        return self._formula(self._credit_text)

    @property
    def _credit_text(self) -> Text:
        """The text of what each row adds, times the weight of a pair that has one."""
        credit = self.metric.credit
        if not self.weighted:
            return credit
        return "weight" if credit == "1" else f"weight * ({credit})"

    @property
    def out_of(self) -> Formula:
        """The formula of what the sum is divided by."""
        out_of = self._formula(self.metric.out_of)
        if self.weighted and out_of.ideal():
            # Rows of the ideal list add what those of the list do.
            return self._formula(f"ideal({self._credit_text})")
        return out_of

    @property
    def missed(self) -> Formula:
        """The formula of what a cost adds for a list without a hit."""
        return self._formula(self.metric.missed)

    def _formula(self, text: Text) -> Formula:
        """Parse a text of the metric under the options in force."""
        chosen = self.chosen
        if not isinstance(text, str):
            text = text(chosen)
        return Formula.of(text, self._meanings, chosen.get("log_base", 2))

    @property
    def _meanings(self) -> dict[str, str]:
        """What stands in formulas in the place of names, under the options in force.

        A name is mostly an option, whose value decides; one that is no option, such as
        `stop` of ERR, stands for the same text always.
        """
        chosen = self.chosen
        meanings = {}
        for name, texts in self.metric.meanings.items():
            text = texts[chosen.get(name, ALWAYS)]
            if self.weighted:
                text = WEIGHTS.get(text, text)
            meanings[name] = text
        return meanings

    def formula_text(self) -> str:
        """Return the formula on one line, in the language in force.

        Such as 'add nth/rank for each hit, divide by n_relevant'.
        """
        metric = self.metric
        if not metric.credit:
            return metric.title
        credit, out_of = self.credit, self.out_of
        missed = "" if metric.missed == "0" else self.missed.text()
        if missed and metric.credit == "0":
            return missed  # a count, in which no hit matters
        divisor = out_of.text(divides=True)
        if out_of.ideal():
            divisor = _("the same sum over the ideal list")
        words = {
            "name": metric.term,  # which sentences in Korean begin with
            "rows": _(OVER[metric.over][0]),
            "credit": credit.text(),
            "missed": missed,
            "out_of": divisor,
        }
        if missed and divisor == "1":
            return _("add {credit} for each {rows}, and {missed} once", **words)
        if missed:
            return _(
                "add {credit} for each {rows}, and {missed} once, divide by {out_of}",
                **words,
            )
        if divisor == "1":
            return _("add {credit} for each {rows}", **words)
        if words["credit"] == "1":
            return _("add 1 for each {rows}, divide by {out_of}", **words)
        if not credit.names():
            return pgettext(
                "number", "add {credit} for each {rows}, divide by {out_of}", **words
            )
        return _("add {credit} for each {rows}, divide by {out_of}", **words)

    def latex(self) -> str:
        """Return the formula in LaTeX.

        The sum is written here once, so no metric can forget it.
        """
        metric = self.metric
        symbol = self.symbol.replace("-", "{-}").replace(" ", "~").replace("_", r"\_")
        cutoff = "k" if self.k is None else self.k
        left = rf"\mathrm{{{symbol}}}@{cutoff}"
        rows = template(OVER[metric.over][1])
        if metric.over in ("hits", "ideal", "list"):
            rows += r", i \le k"
        right = rf"\sum_{{{rows}}} {self.credit.latex(summed=True)}"
        if metric.credit == "0":
            right = self.missed.latex()
        elif metric.missed != "0":
            right = f"{right} + {self.missed.latex()}"
        under = self.out_of.latex()
        if under != "1":
            right = rf"\frac{{{right}}}{{{under}}}"
        return rf"{left} = {right}"

    # The bounds

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value under the options in force."""
        is_unbounded = self.metric.unbounded(self.chosen)
        if self.weighted:
            is_unbounded = not self._is_share
        return (0, math.inf) if is_unbounded else self.metric.bounds

    @property
    def _is_share(self) -> bool:
        """Whether weights are divided by weights, so that the value keeps its bounds."""
        out_of = self.out_of
        if out_of.ideal():
            return True
        divides_by_weights = not out_of.names().isdisjoint(WEIGHTS.values())
        return self.metric.credit == "1" and divides_by_weights

    @property
    def range_text(self) -> str:
        """The bounds in words, in English."""
        low, high = self.bounds
        if self.bounds == self.metric.bounds and self.metric.top and not self.weighted:
            return f"{low:g} to {self.metric.top}"
        top = "no bound" if math.isinf(high) else f"{high:g}"
        return f"{low:g} to {top}"


# ---- the look-up


def plain_text(name: Any) -> Any:
    """Return the text of a measure of ir_measures, and any other name as it is."""
    is_measure = type(name).__module__.split(".")[0] == "ir_measures"
    return str(name) if is_measure else name


def measure_named(name: object, among: Collection[str] = EVERY_METRIC) -> Measure:
    """Look up the measure that a name, a text or a metric means.

    `among`: EVERY_METRIC; ACCURACY, which leaves out those beyond accuracy; or METRICS
    and the like, for calls that take a plain name and its options as keywords.
    """
    measure = _measure_of(name)
    metric = measure.metric
    if metric.name in LIST_METRICS and metric.name not in among:
        raise OptionError(
            f"{measure.name} is a metric beyond accuracy, and one of accuracy is "
            f"needed here, such as 'ndcg'. Of an evaluation type "
            f".table({measure.name!r}, k=10)."
        )
    if among is EVERY_METRIC or among is ACCURACY:
        return measure
    asked = measure.asked_as
    if metric.name not in among:
        raise OptionError(
            f"{asked!r} is no metric that this call takes. Type "
            f"recnb.evaluate(recs, truth).explain({asked!r}, user)."
        )
    if measure.text:
        raise OptionError(
            f"{asked!r}: this takes {metric.name!r}, and its options as keywords."
        )
    return measure


def _measure_of(name: object) -> Measure:
    """Return the measure that a name, a text or a metric means."""
    if isinstance(name, Measure):
        return name
    if isinstance(name, Metric):
        return Measure(name)
    text = plain_text(name)
    if isinstance(text, str):
        return parsed(text)
    fix = near(text, _known_names(text))
    if callable(text):
        fix = "A function becomes a metric by @recnb.metric(...)."
    raise OptionError(f"{quoted(text)} is no metric of recnb. {fix}")


@functools.cache
def parsed(text: str) -> Measure:
    """Read a name, or a text such as "nDCG(dcg='exp-log2')@10".

    After "@" is a cut-off, or of a metric with an option `recall` a level of recall,
    "IPrec@0.5".
    """
    parts = TEXT.fullmatch(text)
    if parts is None and set(text) & set("@("):
        raise OptionError(
            f"{text!r} is no measure: type a name, parameters in brackets and a "
            f"cut-off, such as {EXAMPLES}."
        )
    name, inside, after = (text, "", "") if parts is None else parts.groups("")
    metric = _metric_meant(name)
    if metric is None:
        known = near(name, _known_names(name))
        raise OptionError(f"{quoted(text)} is no metric of recnb. {known}")
    given = _parameters(text, inside)
    metric, options = _of_ir_measures(metric, name.lower(), given)
    decisions = {}
    for convention in CONVENTIONS:
        if metric.is_accuracy and convention in options:
            decisions[convention] = options.pop(convention)
    measure = Measure(metric, decisions=decisions).with_options(options)
    without_cutoff = text
    if after and "recall" in metric.defaults:
        measure = measure.with_options({"recall": float(after)})
    elif after:
        measure = measure.cut_at(float(after) if "." in after else int(after))
        without_cutoff = text.partition("@")[0]
    gives_more = measure.options or decisions
    says_more = set(text) & set("@(") or text == metric.printed
    return replace(
        measure,
        text=" ".join(without_cutoff.split()) if gives_more else "",
        typed=text if says_more else "",
    )


def _parameters(text: str, inside: str) -> dict[str, Any]:
    """Read the parameters in brackets."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("no keywords")
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("two stars")
        return {
            str(keyword.arg): ast.literal_eval(keyword.value)
            for keyword in call.keywords
        }
    except (SyntaxError, ValueError) as problem:
        raise OptionError(
            f"{text!r}: parameters in brackets have names and plain values, such as "
            f"{EXAMPLES}."
        ) from problem


def _of_ir_measures(
    metric: Metric[...], name: str, given: Given
) -> tuple[Metric[...], dict[str, Any]]:
    """Return recnb's metric and options for those of ir_measures.

    | ir_measures          | recnb                                |
    |----------------------|--------------------------------------|
    | nDCG(dcg="exp-log2") | ndcg(gain="exponential")             |
    | SetP(relative=True)  | precision(out_of="min(k, relevant)") |
    | SetRelP              | the same                             |
    | SetF(beta=4)         | fbeta(beta=2)                        |
    | NumRet(rel=2)        | hit_count, relevant_from=2           |

    The beta of SetF is the square of van Rijsbergen's.
    """
    if name == "setrelp":
        given = {"relative": True, **given}
    options: dict[str, Any] = {}
    for parameter, value in given.items():
        option, values = PARAMETERS.get(parameter, (parameter, {}))
        if option in options:
            raise OptionError(f"{metric.name} is given {option} twice: leave one out.")
        options[option] = values.get(str(value), value)
    if metric.name == "retrieved_count" and "relevant_from" in options:
        metric = EVERY_METRIC["hit_count"]
    beta = options.get("beta")
    if name == "setf" and is_number(beta) and beta > 0:
        options["beta"] = math.sqrt(beta)
    return metric, options


def _metric_meant(name: str) -> Metric[...] | None:
    """Return the metric of a name in any of its spellings and languages.

    Such as "P", "average precision" or "평균 정밀도"; None if there is none.
    """
    if name in EVERY_METRIC:
        return EVERY_METRIC[name]
    known = EXACT.get(name) or NAMES.get(name.lower(), name.lower())
    if known not in EVERY_METRIC:
        known = _terms().get(_without_blanks(name), "")
    return EVERY_METRIC.get(known)


def _known_names(typed: object) -> list[str]:
    """Return the names of metrics; of one typed in other letters, those in such."""
    if isinstance(typed, str) and not typed.isascii():
        return [term for term in _terms() if not term.isascii()]
    printed = [
        metric.printed
        for name, metric in EVERY_METRIC.items()
        if metric.printed.lower() not in ("", name)
    ]
    return [*EVERY_METRIC, *ALIASES, *printed]


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


#: A metric with its cut-off as other libraries write it: ndcg_at_10, recall_at_k, hr10.
GUESS = re.compile(
    r"(?:mean_)?(.+?)(?:_?(?:at_?)?(\d+)|_(?:at_?)?k|_at)?(?:_score)?", re.IGNORECASE
)


def call_of(name: str) -> str:
    """Return the call that a guessed name of a metric means, "" if none is meant.

    It is "ndcg(k=10)" for ndcg_at_10, NDCG or ndcg_score.

    >>> call_of("precision_at_5"), call_of("MAP"), call_of("mean"), call_of("")
    ('precision(k=5)', 'average_precision(k=10)', '', '')
    """
    parts = GUESS.fullmatch(name)
    if parts is None:
        return ""
    for stem, k in ((name, None), parts.groups()):
        metric = _metric_meant(stem) or _metric_meant(stem.replace("_", " "))
        if metric is not None and not metric.retrieval:
            cutoff = k if k and k.isdecimal() else 10
            return f"{metric.name}(k={cutoff})"
    return ""


def symbol_of(name: Any) -> Any:
    """Return how a metric is shown: "nDCG@10" of "ndcg@10", another name as it is."""
    try:
        return parsed(name).label
    except (RecnbError, TypeError):  # a name that is no text
        return name
