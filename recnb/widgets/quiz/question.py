"""The question of an exercise, in sentences and as a table."""

from __future__ import annotations

from recnb.conventions import option_in_words
from recnb.display.language import N_, _
from recnb.metrics.formula import number
from recnb.metrics.metric import METRICS
from recnb.widgets.quiz.list import TOP, QuizList
from recnb.widgets.quiz.mistakes import GAINS, discount_in_words

IDEALS: dict[str, str] = {
    "relevant": N_(
        "The ideal list holds all relevant items, recommended or not, the most relevant first, and is cut at k = "
        "{k} as well."
    ),
    "list": N_("The ideal list holds the recommended items in their best order and is cut at k = {k} as well."),
    "min(k, list)": N_(
        "The ideal list holds relevant items, recommended or not, the most relevant first; it is cut at k = {k} and "
        "is no longer than the list."
    ),
    "k": N_("The ideal list holds {k} items, each as relevant as the best one."),
}

DENOMINATORS: dict[str, str] = {
    "relevant": N_("The sum is divided by the number of relevant items, found or not."),
    "hits": N_("The sum is divided by the number of hits."),
    "k": N_("The sum is divided by k."),
    "list": N_("The sum is divided by the number of places that the list fills, down to k."),
    "min(k, relevant)": N_("The sum is divided by k or by the number of relevant items, whichever is smaller."),
    "min(list, relevant)": N_(
        "The sum is divided by k, by the length of the list or by the number of relevant items, whichever is smallest."
    ),
}

NUMBERS: dict[str, str] = {
    "p": N_("The reader goes on to the next rank with probability p = {p}."),
    "beta": N_("Recall weighs beta = {beta} times as much as precision."),
    "max_relevance": N_("Grades run from 0 to {top}."),
}

#: Options that have sentences of their own.
DESCRIBED = ("gain", "discount", "log_base", "ideal", "out_of", "target", *NUMBERS)


def question(drawn: QuizList) -> str:
    """Ask for the metric, in one sentence."""
    values = {"name": METRICS[drawn.metric].term, "label": drawn.label}
    if drawn.several:
        return _("What is the {name} over these {users} users, {label}?", **values, users=len(drawn.lists))
    if drawn.metric == "idcg":
        return _("What is the {name} that a list of these items could reach, {label}?", **values)
    return _("What is the {name} of this list, {label}?", **values)


def header(drawn: QuizList) -> list[str]:
    """Name the columns of the table."""
    if drawn.several:
        return [_("user"), _("list, from rank 1 down"), _("relevant items")]
    return [_("rank"), _("item"), _("relevance")]


def rows(drawn: QuizList) -> list[list[str]]:
    """Return the list with the grade of each rank; for several users, a row each."""
    if drawn.several:
        pairs = zip(drawn.lists, drawn.truths, strict=True)
        return [[str(user), ", ".join(items), ", ".join(truth)] for user, (items, truth) in enumerate(pairs, 1)]
    ranks = enumerate(zip(drawn.row, drawn.grades, strict=True), 1)
    return [[str(rank), item, str(grade)] for rank, (item, grade) in ranks]


def rules(drawn: QuizList) -> list[str]:
    """State the relevant items that are missed, and the conventions behind the number."""
    defaults = METRICS[drawn.metric].defaults
    sentences = []
    if not drawn.several:
        missed = ", ".join(f"{item} ({grade})" for item, grade in drawn.missed.items())
        sentences.append(_("Relevant, but not in the list (relevance in brackets): {items}.", items=missed))
    if drawn.k is not None:
        cut = N_("Each list is cut at k = {k}.") if drawn.several else N_("The list is cut at k = {k}.")
        sentences.append(_(cut, k=drawn.k))
    if "gain" in defaults:
        sentences.append(_("Gain: {gain}.", gain=_(GAINS[drawn.option("gain")])))
    elif drawn.metric != "err" and not drawn.several:
        sentences.append(_("An item is relevant if its relevance is above 0."))
    if "discount" in defaults:
        discount = discount_in_words(drawn.option("discount"), drawn.option("log_base"))
        sentences.append(_("Discount: {discount}.", discount=discount))
    if "ideal" in defaults:
        sentences.append(_(IDEALS[drawn.option("ideal")], k=drawn.k))
    if "out_of" in defaults and (drawn.metric == "average_precision" or "out_of" in drawn.options):
        sentences.append(_(DENOMINATORS[drawn.option("out_of")]))
    if drawn.option("target") == "preferred":
        sentences.append(_("The item that counts is the most relevant one."))
    for name, message in NUMBERS.items():
        if name in defaults:
            value = number(drawn.option(name) or TOP)
            sentences.append(_(message, **{name: value, "top": value}))
    others = [option_in_words(name, drawn.option(name)) for name in defaults if name not in DESCRIBED]
    sentences += [f"{words}." for words in others if words]
    return sentences


def tasks(drawn: QuizList, digits: int) -> list[str]:
    """State what to answer, and to how many decimals; 0: with a whole number."""
    largest = (
        [_("And which item's term in the sum is the largest? Of equal terms, any is right.")]
        if drawn.asks_largest
        else []
    )
    decimals = (
        _("Answer to {digits} decimals, or with a fraction, such as 2/3.", digits=digits)
        if digits
        else _("Answer with a whole number.")
    )
    return [decimals, *largest]


def instruction(drawn: QuizList) -> str:
    """State how an answer is checked in Python."""
    if drawn.asks_largest:
        return _('Check your answer with q.check(value, largest="A"), where q is this exercise.')
    return _("Check your answer with q.check(value), where q is this exercise.")
