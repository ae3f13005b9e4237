"""`Convention`: the decisions behind a number, and each in words."""

from __future__ import annotations

import ast
import math
import typing
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from recnb.display.language import N_, _
from recnb.errors import OptionError, is_number, near, quoted

#: Decisions and options of metrics in words: axis and word -> phrase.
PHRASES: dict[tuple[str, str], str] = {
    ("order", "auto"): N_("ordered by score, or by rank"),
    ("order", "score"): N_("ordered by score"),
    ("order", "rank"): N_("ordered by rank"),
    ("order", "row"): N_("in the order given"),
    ("score_dtype", "float64"): N_("scores in double precision"),
    ("score_dtype", "float32"): N_("scores in single precision"),
    ("ties", "first"): N_("equal scores in the order given"),
    ("ties", "last"): N_("equal scores in reverse order"),
    ("ties", "item_asc"): N_("equal scores by item, ascending"),
    ("ties", "item_desc"): N_("equal scores by item, descending"),
    ("ties", "expected"): N_("averaged over all orders of equal scores"),
    ("ties", "max_rank"): N_("equal scores share their lowest place"),
    ("ties", "floor_mean_rank"): N_("equal scores share their middle place"),
    ("ties", "worst"): N_("equal scores least relevant first"),
    ("duplicates", "error"): N_("a pair recommended twice is refused"),
    ("duplicates", "dedupe"): N_("a repeated pair counts once at its highest place"),
    ("duplicates", "hit_once"): N_("a pair recommended twice hits once"),
    ("duplicates", "keep"): N_("a pair recommended twice counts twice"),
    ("duplicates", "rows"): N_("a pair recommended twice is relevant twice"),
    ("nonpositive_scores", "keep"): N_("any score can be a hit"),
    ("nonpositive_scores", "never_hit"): N_("a score of 0 or less is no hit"),
    ("candidates", "list"): N_("only what was recommended is ranked"),
    ("candidates", "padded"): N_(
        "judged items that were not recommended are ranked below the list"
    ),
    ("candidates", "catalogue"): N_(
        "all items that were not recommended are ranked below the list"
    ),
    ("cutoff", "k"): N_("lists cut at k"),
    ("cutoff", "list"): N_("lists not cut, the ideal cut at the list's length"),
    ("cutoff", "none"): N_("lists not cut"),
    ("relevant", ">0"): N_("relevance above 0"),
    ("relevant", "any"): N_("every judged item"),
    ("relevant", "!=0"): N_("relevance other than 0"),
    ("negative_relevance", "error"): N_("negative relevance is refused"),
    ("negative_relevance", "zero"): N_("negative relevance counts 0"),
    ("negative_relevance", "keep"): N_("negative relevance counts as it is"),
    ("judged", "truth"): N_("all of the truth is judged"),
    ("judged", "list"): N_("only recommended items are judged"),
    ("judged_only", "True"): N_("items that are not judged left out of the lists"),
    ("judged_only", "False"): N_("items that are not judged stay in the lists"),
    ("averaged_users", "truth"): N_("users of the truth"),
    ("averaged_users", "recs"): N_("those with a list"),
    ("averaged_users", "both"): N_("those in both frames"),
    ("averaged_users", "union"): N_("those in either frame"),
    ("no_relevant", "skip"): N_("users with no relevant item left out"),
    ("no_relevant", "zero"): N_("users with no relevant item count 0"),
    ("no_relevant", "one"): N_("users with no relevant item count 1"),
    ("gain", "linear"): N_("linear gain"),
    ("gain", "exponential"): N_("gain 2^relevance - 1"),
    ("gain", "binary"): N_("binary gain"),
    ("discount", "log"): N_("discount log2(1 + rank)"),
    ("discount", "clipped_log"): N_("discount max(1, log2(rank))"),
    ("discount", "rank"): N_("discount rank"),
    ("ideal", "relevant"): N_("ideal: all relevant items, cut at k"),
    ("ideal", "k"): N_("ideal: k items as good as the best"),
    ("ideal", "list"): N_("ideal: the list's own items, best first"),
    ("ideal", "min(k, list)"): N_(
        "ideal: all relevant items, cut at k and at the list's length"
    ),
    ("out_of", "k"): N_("out of k"),
    ("out_of", "list"): N_("out of the list's length"),
    ("out_of", "relevant"): N_("out of all relevant items"),
    ("out_of", "hits"): N_("out of the hits"),
    ("out_of", "min(k, relevant)"): N_("out of min(k, relevant items)"),
    ("out_of", "min(list, relevant)"): N_("out of min(list's length, relevant items)"),
    ("target", "first"): N_("first relevant item"),
    ("target", "preferred"): N_("most preferred item"),
}
#: Words of a decision by itself, if they differ from those beside a number of users.
ALONE: dict[tuple[str, str], str] = {
    ("averaged_users", "recs"): N_("users with a list"),
    ("averaged_users", "both"): N_("users in both frames"),
    ("averaged_users", "union"): N_("users in either frame"),
}

#: Negative relevance of a metric for which such an item is pooled and not judged.
BELOW_0_UNJUDGED = N_("negative relevance means not judged")
#: Words of an ideal list where lists are not cut at k, or some are and some are not:
#: cutoff and word -> phrase.
IDEALS: dict[tuple[str, str], str] = {
    ("list", "relevant"): N_("ideal: all relevant items, cut at the list's length"),
    ("list", "min(k, list)"): N_("ideal: all relevant items, cut at the list's length"),
    ("k and list", "relevant"): N_(
        "ideal: all relevant items, cut at k, of whole lists at the list's length"
    ),
    ("none", "relevant"): N_("ideal: all relevant items, not cut"),
    ("none", "min(k, list)"): N_("ideal: all relevant items, cut at the list's length"),
}

Order = Literal["auto", "score", "rank", "row"]
Cut = Literal["k", "list", "none"]
Ties = Literal[
    "first",
    "last",
    "item_asc",
    "item_desc",
    "expected",
    "max_rank",
    "floor_mean_rank",
    "worst",
]
#: Rules for ties that order the rows of a list, without a look at the truth and with
#: one; the others share ranks or average.
ROW_ORDERS: tuple[Ties, ...] = ("first", "last", "item_asc", "item_desc")
TRUTH_ORDERS: tuple[Ties, ...] = ("worst",)


@dataclass(frozen=True)
class Convention:
    """The decisions about the data that come before any metric, with recnb's defaults.

    >>> print(Convention(averaged_users="both", relevant_from=4).in_words())
    users in both frames; ordered by score, or by rank; relevant: relevance of 4 or more
    >>> Convention(averaged_users="everyone")
    Traceback (most recent call last):
        ...
    recnb.errors.OptionError: averaged_users='everyone' is no convention.
    Known: 'truth', 'recs', 'both', 'union'.
    """

    order: Order = "auto"  #: by which lists are ordered
    score_dtype: Literal["float64", "float32"] = (
        "float64"  #: the precision in which scores are compared
    )
    ties: Ties = "first"  #: the order of equal scores
    duplicates: Literal["error", "dedupe", "hit_once", "keep", "rows"] = (
        "error"  #: a pair recommended twice
    )
    nonpositive_scores: Literal["keep", "never_hit"] = (
        "keep"  #: whether a score of 0 or less can be a hit
    )
    candidates: Literal["list", "padded", "catalogue"] = "list"  #: what is ranked
    #: where lists are cut: at k; nowhere, and their ideal at their length, which is
    #: what k=None means; nowhere, nor their ideal
    cutoff: Cut = "k"
    relevant: Literal[">0", "any", "!=0"] = ">0"  #: which judged items are relevant
    relevant_from: float | None = None  #: the least relevance of a relevant item
    negative_relevance: Literal["error", "zero", "keep"] = "error"
    judged: Literal["truth", "list"] = "truth"  #: which items are judged
    # : whether items that are not judged leave the lists before ranks are counted
    judged_only: bool = False
    min_propensity: float | None = (
        None  #: relevant pairs weigh 1 / propensity, which is at least this
    )
    averaged_users: Literal["truth", "recs", "both", "union"] = (
        "truth"  #: the users who are averaged
    )
    no_relevant: Literal["skip", "zero", "one"] = (
        "skip"  #: a user with no relevant item
    )
    metric: tuple[tuple[str, Any], ...] = ()  #: the metric's own options

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in words:
                raise OptionError(
                    f"{name}={quoted(value)} is no convention.", fix=near(value, words)
                )
        if not isinstance(self.judged_only, bool):
            raise OptionError(
                f"judged_only={quoted(self.judged_only)} is no convention: say True or False."
            )
        least = self.min_propensity
        if least is not None and not (is_number(least) and 0 < least <= 1):
            given = f"min_propensity={quoted(least)}"
            raise OptionError(
                f"{given} is no propensity: give a number above 0, and at most 1, such as 0.01."
            )
        threshold = self.relevant_from
        if threshold is not None and not (is_number(threshold) and threshold > 0):
            given, example = f"relevant_from={quoted(threshold)}", "relevant_from=4"
            raise OptionError(
                given, " is no threshold: give a number above 0, such as ", example, "."
            )

    def with_metric(self, options: Mapping[str, Any]) -> Convention:
        """Return the same decisions about the data, with a metric's options."""
        same = copy(self)  # checked already
        object.__setattr__(same, "metric", tuple(options.items()))
        return same

    def ordered_by(self, column: str) -> Convention:
        """Return the same convention with the column that gave the order."""
        same = copy(self)
        object.__setattr__(
            same, "order", column if self.order == "auto" else self.order
        )
        return same

    def without_k(self) -> Convention:
        """Return the same convention as it is where no k is given."""
        return replace(self, cutoff="list") if self.cutoff == "k" else self

    def in_words(self) -> str:
        """Return the convention on one line, to compare with a paper."""
        of_users = [
            "averaged_users",
            *(["no_relevant"] if self.no_relevant != "skip" else []),
        ]
        return "; ".join(
            [
                *(in_words(name, getattr(self, name)) for name in of_users),
                *self.phrases(graded=True),
            ]
        )

    __str__ = in_words

    @property
    def keeps_ranks(self) -> bool:
        """Whether ranks are data that nothing closes up."""
        return (
            self.order == "rank"
            and self.duplicates != "dedupe"
            and not self.judged_only
        )

    @property
    def users_phrase(self) -> str:
        """Which users count, if not those of the truth."""
        return (
            ""
            if self.averaged_users == "truth"
            else f", {_(PHRASES['averaged_users', self.averaged_users])}"
        )

    def phrases(
        self,
        *,
        graded: bool,
        unsaid: Collection[str] = (),
        below_0_unjudged: bool = False,
        also_whole: bool = False,
    ) -> list[str]:
        """Return each decision in words, without the usual ones that a reader would
        assume.

        `unsaid`: names of decisions to leave out; `below_0_unjudged`: whether the
        metric takes a negative relevance for that of an item which is not judged; lists
        of judged items alone always do; `also_whole`: whether numbers at cut-offs stand
        beside those of whole lists.
        """
        unusual = [
            name
            for name in _UNUSUAL
            if getattr(self, name) != getattr(Convention, name) and name not in unsaid
        ]
        if self.cutoff == "list" and "ideal" in dict(self.metric):
            unusual = [
                name for name in unusual if name != "cutoff"
            ]  # the ideal says so
        words = {name: in_words(name, getattr(self, name)) for name in unusual}
        if "negative_relevance" in words and (below_0_unjudged or self.judged_only):
            words["negative_relevance"] = _(BELOW_0_UNJUDGED)
        parts = [in_words("order", self.order), *words.values()]
        if (
            self.order == "score" and "ties" not in unusual
        ):  # which of equal scores is first decides the number
            parts[0] = f"{parts[0]}, {in_words('ties', self.ties)}"
        if self.relevant_from is not None or graded:
            parts.append(_("relevant: {what}", what=self.relevant_in_words))
        else:
            parts.append(_("relevant: every pair of the truth"))
        cutoff = cut_of(self.cutoff, also_whole=also_whole)
        return parts + options_in_words(dict(self.metric), cutoff)

    def given_in_words(self, names: Iterable[str]) -> str:
        """Return the decisions of these names, which were given on top of a library's."""
        relevant = dict.fromkeys(("relevant", "relevant_from"), self.relevant_in_words)
        phrases = [
            relevant.get(name) or in_words(name, getattr(self, name)) for name in names
        ]
        return ", ".join(dict.fromkeys(phrases))

    @property
    def relevant_in_words(self) -> str:
        """Which judged items are relevant."""
        if self.relevant_from is not None:
            return _("relevance of {least:g} or more", least=self.relevant_from)
        return in_words("relevant", self.relevant)


#: The names of the decisions, which are those of the options.
DECISIONS = tuple(axis.name for axis in fields(Convention) if axis.name != "metric")

#: The options whose values are words, and their words.
WORDS: dict[str, tuple[str, ...]] = {
    name: typing.get_args(hint)
    for name, hint in typing.get_type_hints(Convention).items()
    if typing.get_origin(hint) is Literal
}

#: Decisions that are not shown if they are the usual ones, in the order in which they
#: are shown.
_UNUSUAL = (
    "score_dtype",
    "ties",
    "duplicates",
    "nonpositive_scores",
    "candidates",
    "cutoff",
    "judged",
    "negative_relevance",
    "judged_only",
    "min_propensity",
)


def value_of(text: str) -> Any:
    """Return a value from its text: a number, a switch or a word."""
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        return text


def in_words(name: str, value: object) -> str:
    """Return a decision, or an option of a metric, in words."""
    if name == "log_base":
        base = "e" if value == math.e else f"{value:.4g}" if is_number(value) else value
        return _("logarithm of base {base}", base=base)
    if name == "min_propensity" and value is not None:
        return _("propensities of at least {least:g}", least=value)
    if (name, str(value)) in PHRASES:
        return _(ALONE.get((name, str(value))) or PHRASES[name, str(value)])
    return "" if value in (None, "1") else f"{name} = {value}"


def cut_of(cutoff: Cut, *, also_whole: bool) -> Cut | Literal["k and list"]:
    """Return where the lists of several numbers are cut; `also_whole`: whether some are
    of whole lists.
    """
    return "k and list" if cutoff == "k" and also_whole else cutoff


def options_in_words(
    options: Mapping[str, Any], cutoff: Cut | Literal["k and list"] = "k"
) -> list[str]:
    """Return a metric's options as phrases; `cutoff` says where lists are cut."""
    phrases = {name: in_words(name, value) for name, value in options.items()}
    ideal = IDEALS.get((cutoff, str(options.get("ideal"))))
    if ideal is not None:
        phrases["ideal"] = _(ideal)
    base = options.get("log_base", 2)
    if is_number(base) and (
        base == 2 or "discount" in phrases
    ):  # what is no number is refused where it is computed
        phrases.pop("log_base", None)
        shown = f"log{base:g}(" if base % 1 == 0 else f"log_{base:.4g}("
        phrases |= (
            {"discount": phrases["discount"].replace("log2(", shown)}
            if "discount" in phrases
            else {}
        )
    return [phrase for phrase in phrases.values() if phrase]
