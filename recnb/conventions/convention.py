"""`Convention`: the decisions behind a number, and each in words."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, Literal

from recnb.display.data_file import rows_of
from recnb.display.language import N_, _
from recnb.display.text import Phrase
from recnb.errors import OptionError, is_number, is_word, near, quoted, words_of

_ROWS = rows_of("conventions/phrases.csv")
#: Decisions and options of metrics in words: axis and word -> phrase.
PHRASES = {(row["axis"], row["word"]): row["phrase"] for row in _ROWS}
#: The same of a decision by itself, not beside a number of users.
ALONE = {(row["axis"], row["word"]): row["alone"] or row["phrase"] for row in _ROWS}

#: Negative relevance of a metric for which such an item is pooled and not judged.
BELOW_0_UNJUDGED = N_("negative relevance means not judged")

Order = Literal["auto", "score", "rank", "row"]
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
#: one; and those by which equal scores share ranks, or are averaged over them.
ROW_ORDERS: tuple[Ties, ...] = ("first", "last", "item_asc", "item_desc")
TRUTH_ORDERS: tuple[Ties, ...] = ("worst",)
SHARED_RANKS: tuple[Ties, ...] = ("expected", "max_rank", "floor_mean_rank")


@dataclass(frozen=True)
class Convention:
    """The decisions about the data that come before any metric, with recnb's defaults.

    Parameters
    ----------
    order : {"auto", "score", "rank", "row"}
        By what lists are ordered: "auto" by score, or by rank; "row" as given.
    score_dtype : {"float64", "float32"}
        The precision in which scores are compared.
    ties : str
        The order of equal scores: "first" as given, "last" in reverse, "item_asc" and
        "item_desc" by item; "worst" the least relevant first; "expected" the mean over
        all orders; "max_rank" and "floor_mean_rank" share their lowest or middle place.
    duplicates : {"error", "dedupe", "hit_once", "keep", "rows"}
        A pair recommended twice: refused; counted once at its highest place; hits once;
        counts twice; is relevant twice.
    nonpositive_scores : {"keep", "never_hit"}
        Whether a score of 0 or less can be a hit.
    candidates : {"list", "padded", "catalogue"}
        What is ranked: what was recommended; below it judged items that were not; below
        it all items that were not.
    cutoff : {"k", "none"}
        Where lists are cut, and their ideal: at k; nowhere, whatever k is.
    relevant : {">0", "any", "!=0"}
        Which items of the truth are relevant, by their relevance; "any" is all of them.
    relevant_from : float, optional
        The least relevance of a relevant item.
    negative_relevance : {"error", "zero", "keep"}
        A relevance below 0: refused, counted as 0, or as it is, which is 0 unless
        `relevant` is "any" or "!=0".
    judged : {"truth", "list"}
        Which items are judged: all of the truth, or those of them that are recommended.
    judged_only : bool
        Whether items that are not judged leave the lists before ranks are counted.
    min_propensity : float, optional
        The least propensity: relevant pairs weigh 1 / propensity.
    averaged_users : {"truth", "recs", "both", "union"}
        The users who are averaged: those of the truth, those with a list, those in both
        frames, those in either.
    no_relevant : {"skip", "zero", "one"}
        A user with no relevant item is left out, or counts 0 or 1.
    metric : tuple
        The metric's own options, which a result fills in.

    Examples
    --------
    >>> from recnb import Convention
    >>> print(Convention(averaged_users="both", relevant_from=4).in_words())
    users in both frames; ordered by score, or by rank; relevant: relevance of 4 or more
    >>> Convention(averaged_users="everyone")
    Traceback (most recent call last):
        ...
    recnb.errors.OptionError: averaged_users='everyone' is no convention.
    Known: 'truth', 'recs', 'both', 'union'.
    """

    order: Order = "auto"  #: by which lists are ordered
    #: the precision in which scores are compared
    score_dtype: Literal["float64", "float32"] = "float64"
    ties: Ties = "first"  #: the order of equal scores
    #: a pair recommended twice
    duplicates: Literal["error", "dedupe", "hit_once", "keep", "rows"] = "error"
    #: whether a score of 0 or less can be a hit
    nonpositive_scores: Literal["keep", "never_hit"] = "keep"
    candidates: Literal["list", "padded", "catalogue"] = "list"  #: what is ranked
    #: where lists are cut, and their ideal: at k; nowhere, whatever k is
    cutoff: Literal["k", "none"] = "k"
    relevant: Literal[">0", "any", "!=0"] = ">0"  #: which judged items are relevant
    relevant_from: float | None = None  #: the least relevance of a relevant item
    negative_relevance: Literal["error", "zero", "keep"] = "error"
    judged: Literal["truth", "list"] = "truth"  #: which items are judged
    #: whether items that are not judged leave the lists before ranks are counted
    judged_only: bool = False
    #: relevant pairs weigh 1 / propensity, which is at least this
    min_propensity: float | None = None
    #: the users who are averaged
    averaged_users: Literal["truth", "recs", "both", "union"] = "truth"
    #: a user with no relevant item
    no_relevant: Literal["skip", "zero", "one"] = "skip"
    metric: tuple[tuple[str, Any], ...] = ()  #: the metric's own options

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            value = getattr(self, name)
            if not is_word(value, words):
                raise OptionError(
                    f"{name}={quoted(value)} is no convention. {near(value, words)}"
                )
        if not isinstance(self.judged_only, bool):
            raise OptionError(
                f"judged_only={quoted(self.judged_only)} is no convention: say True or False."
            )
        least = self.min_propensity
        if least is not None and not (is_number(least) and 0 < least <= 1):
            raise OptionError(
                f"min_propensity={quoted(least)} is no propensity: give a number above "
                "0, and at most 1, such as 0.01."
            )
        threshold = self.relevant_from
        if threshold is not None and not (is_number(threshold) and threshold > 0):
            raise OptionError(
                f"relevant_from={quoted(threshold)} is no threshold: give a number "
                "above 0, such as relevant_from=4."
            )

    def with_metric(self, options: Mapping[str, Any]) -> Convention:
        """Return the same decisions about the data, with a metric's options."""
        return self._with(metric=tuple(options.items()))

    def ordered_by(self, column: str) -> Convention:
        """Return the same convention with the column that gave the order."""
        return self._with(order=column)

    @property
    def of_data(self) -> Convention:
        """The same decisions about the data, without a metric's options or a cut-off."""
        if not self.metric and self.cutoff == "k":
            return self
        return self._with(metric=(), cutoff="k")

    def _with(self, **decisions: Any) -> Convention:
        """Return the same convention with other decisions, which need no check."""
        same = copy(self)
        vars(same).update(decisions)
        return same

    def in_words(self) -> str:
        """Return the convention on one line, to compare with a paper.

        Returns
        -------
        str
            Phrases, separated by semicolons.

        Examples
        --------
        >>> import recnb
        >>> recnb.Convention(relevant_from=4).in_words()
        'users of the truth; ordered by score, or by rank; relevant: relevance of 4 or more'
        """
        phrases = [in_words("averaged_users", self.averaged_users)]
        if self.no_relevant != "skip":
            phrases.append(in_words("no_relevant", self.no_relevant))
        return "; ".join([*phrases, *self.phrases(graded=True)])

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
    def below_0_leaves_lists(self) -> bool:
        """Whether a grade below 0 marks an item that was not judged, to be left out."""
        return self.judged_only and self.negative_relevance == "zero"

    @property
    def users_phrase(self) -> str:
        """Which users count, if not those of the truth."""
        if self.averaged_users == "truth":
            return ""
        return f", {_(PHRASES['averaged_users', self.averaged_users])}"

    def phrases(
        self,
        *,
        graded: bool,
        below_0_unjudged: bool = False,
        whole: bool = False,
    ) -> list[str]:
        """Return each decision in words, the unusual ones first.

        Of the usual ones those are left out that go without saying.

        `below_0_unjudged`: whether the metric takes a negative relevance for that of an
        item which is not judged, as lists of judged items alone do where it counts 0;
        `whole`: whether there is no cut-off.
        """
        words = {}
        for name in _UNUSUAL:
            if getattr(self, name) != getattr(Convention, name):
                words[name] = self.decision_in_words(name)
        is_unjudged = below_0_unjudged or self.below_0_leaves_lists
        if is_unjudged and "negative_relevance" in words:
            words["negative_relevance"] = _(BELOW_0_UNJUDGED)
        relevant = _("relevant: every pair of the truth")
        if self.relevant_from is not None or graded:
            what = self.decision_in_words("relevant")
            relevant = _("relevant: {what}", what=what)
            if self.relevant_from is not None:
                least = _("relevant from {least:g}", least=self.relevant_from)
                relevant = Phrase(relevant, least)
        return [
            *[Phrase(phrase) for phrase in words.values()],
            self.order_in_words,
            relevant,
            *options_in_words(dict(self.metric), whole=whole, cutoff=self.cutoff),
        ]

    def given_in_words(self, names: Iterable[str]) -> str:
        """Return the decisions of these names, which were given on top of a library's."""
        return ", ".join(dict.fromkeys(map(self.decision_in_words, names)))

    @property
    def order_in_words(self) -> str:
        """What orders lists.

        Of scores the usual rule for equal ones is said as well, as it decides
        the number; an unusual rule is a phrase of its own.
        """
        order = in_words("order", self.order)
        if self.order != "score" or self.ties != Convention.ties:
            return order
        return f"{order}, {in_words('ties', self.ties)}"

    def decision_in_words(self, name: str) -> str:
        """Return a decision in words, as it is beside the others.

        A threshold says which items are relevant, and a negative relevance counts 0
        where it is that of no relevant item.
        """
        value = getattr(self, name)
        least = self.relevant_from
        if name in ("relevant", "relevant_from"):
            if least is not None:
                return _("relevance of {least:g} or more", least=least)
            return in_words("relevant", self.relevant)
        is_above_0 = least is not None or self.relevant == ">0"
        if name == "negative_relevance" and value == "keep" and is_above_0:
            value = "zero"
        return in_words(name, value)


#: The names of the decisions, which are those of the options.
DECISIONS = tuple(axis.name for axis in fields(Convention) if axis.name != "metric")

#: The options whose values are words, and their words.
WORDS = words_of(Convention)

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
    """Return a value from its text: a number, a switch or a word.

    Parameters
    ----------
    text : str
        As it is typed on a command line, or written in a file.

    Returns
    -------
    object
        The value; text that is no other is returned as it is.

    Examples
    --------
    >>> import recnb
    >>> [recnb.conventions.value_of(text) for text in ("4", "true", "expected")]
    [4, True, 'expected']
    """
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        return text


def in_words(name: str, value: object) -> str:
    """Return a decision, or an option of a metric, in words.

    Parameters
    ----------
    name : str
        A field of `recnb.Convention`, or an option of a metric.
    value : object
        Its value.

    Returns
    -------
    str
        A phrase; empty for what goes without saying.

    Examples
    --------
    >>> import recnb
    >>> recnb.conventions.in_words("ties", "expected")
    'averaged over all orders of equal scores'
    """
    if name == "log_base":
        base = f"{value:.4g}" if is_number(value) else str(value)
        base = "e" if value == math.e else base
        return _("logarithm of base {base}", base=base)
    if name == "min_propensity" and value is not None:
        return _("propensities of at least {least:g}", least=value)
    if (name, str(value)) in ALONE:
        return _(ALONE[name, str(value)])
    return "" if value in (None, "1") else f"{name} = {value}"


def options_in_words(
    options: Mapping[str, Any], *, whole: bool = False, cutoff: str = "k"
) -> list[str]:
    """Return a metric's options as phrases.

    Parameters
    ----------
    options : mapping
        Values by name.
    whole : bool, default False
        Whether there is no k: lists are not cut, their ideal neither, and what is
        divided by k is divided by the length of the list.
    cutoff : {"k", "none"}
        As in `Convention`; under "none" lists and their ideal are not cut at k.

    Returns
    -------
    list of str
        A phrase for each option that has one.

    Examples
    --------
    >>> import recnb
    >>> recnb.conventions.options_in_words({"gain": "linear", "ideal": "relevant"})
    ['linear gain', 'ideal: all relevant items, cut at k']
    """
    phrases = {name: in_words(name, value) for name, value in options.items()}
    uncut: list[str] = []
    if whole:
        uncut = ["ideal", "out_of"]
    elif cutoff == "none":
        uncut = ["ideal"]
    for name in uncut:
        phrase = PHRASES.get((f"{name} of whole lists", str(options.get(name))))
        if phrase is not None:
            phrases[name] = _(phrase)
    base = options.get("log_base", 2)
    # A base that is no number is refused by `Metric.check`.
    if is_number(base) and "discount" in phrases:  # whose phrase names the logarithm
        shown = f"log{base:g}(" if base % 1 == 0 else f"log_{base:.4g}("
        phrases["discount"] = phrases["discount"].replace("log2(", shown)
        phrases.pop("log_base", None)
    elif base == 2:
        phrases.pop("log_base", None)
    return [phrase for phrase in phrases.values() if phrase]
