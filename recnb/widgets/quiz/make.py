"""`quiz`: what an exercise is asked for by, and the exercise of a list that is given."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Never

from recnb.display.language import use_language
from recnb.errors import CutoffError, OptionError, RecnbError, is_several, quoted
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.results.single_list import Pair, measure_of_one_list, read_pairs
from recnb.widgets.quiz.answer import Quiz
from recnb.widgets.quiz.draw import LETTERS, TOP, drawn

#: Options of exercises: with beta=1, F-beta would be F1, and ERR needs the scale of
#: grades.
DEFAULTS = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}


def quiz(
    metric: Any = "ndcg",
    shown: Any = None,
    relevant: Any = None,
    *others: Never,
    seed: Any = None,
    k: int | None = None,
    lang: str | None = None,
    **options: Any,
) -> Quiz:
    """Make an exercise: a small ranking whose metric is to be computed by hand.

    The ranking is drawn or given. The same metric, seed and options give the same
    exercise on every machine. Its value is not 0 or 1, and differs from the numbers that
    common mistakes give.

    Parameters
    ----------
    metric : str, default "ndcg"
        The name of a metric of accuracy, which may have a cut-off: "ndcg", "nDCG@3".
    shown : list, optional
        A list of your own, as `recnb.explain` takes it: items from rank 1 down, or the
        relevance of each rank alone. The hit rate takes several lists, which are those
        of users.
    relevant : mapping, list or set, optional
        What is relevant: a mapping of items to relevance, or items.
    *others
        None: further arguments are named.
    seed : int, optional
        A whole number, from which a list is drawn if none is given; by default 0. It
        may also stand in place of `shown`.
    k : int, optional
        The cut-off, from 2 to 10, by default drawn; of your own list, from 1 to its
        length, which is the default.
    lang : {"en", "ko"}, optional
        The language, by default the one that is set.
    **options
        Options of the metric, such as gain="exponential".

    Returns
    -------
    Quiz
        Shown with its controls in a notebook; `check` and `grade` take an answer.

    Examples
    --------
    >>> import recnb
    >>> q = recnb.quiz("precision", seed=3)
    >>> q.check("3/5")
    ✗ 3/5 is not right. A common mistake gives exactly this number. The list was
    not cut: all 5 ranks counted, where only the first 3 do.
    >>> bool(q.check("2/3")), q.grade(0.6667), q.grade("0.6")
    (True, 1.0, 0.0)
    >>> recnb.quiz("recall", ["A", "B", "C"], {"A": 1, "D": 1}, k=2).value
    0.5
    """
    with use_language(lang) as language:
        measure = _measure(metric).with_options(options)
        name = measure.name
        if others:
            raise OptionError(
                f"{quoted(others[0])} is one argument too many: after metric, list and "
                "relevant items, name each, such as k=5."
            )
        cutoff = measure.cut_at(k).k
        if cutoff is not None and name == "r_precision":
            raise CutoffError(
                f"k={cutoff}: R-precision has its own depth; leave k out."
            )
        given = {
            option: value for option, value in options.items() if value is not None
        }
        chosen = {**measure.metric.defaults, **DEFAULTS.get(name, {}), **given}
        if shown is None or _is_seed(shown):
            number = _seed(name, seed, shown, relevant)
            return drawn(name, number, cutoff, chosen, language)
        if seed is not None:
            raise OptionError(
                f"seed={quoted(seed)} draws a list, and one is given: leave seed out."
            )
        if not is_several(shown):
            raise OptionError(_no_list(name, shown))
        pairs = read_pairs(shown, relevant, measure.metric)
        if name == "err" and "max_relevance" not in options:
            grades = [grade for pair in pairs for grade in pair.truth.values()]
            chosen["max_relevance"] = max(grades, default=1)
        return _given(name, pairs, cutoff, chosen, language)


def _measure(metric: Any) -> Measure:
    if isinstance(metric, (str, Metric)):
        return measure_of_one_list(metric)
    example = "recnb.quiz('ndcg', ['A', 'B'], {'A': 1})"
    if isinstance(metric, Integral):
        example = f"recnb.quiz('ndcg', seed={metric})"
    raise OptionError(
        f"{quoted(metric)} stands where the metric does: type its name first, "
        f"{example}."
    )


def _is_seed(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _seed(metric: str, seed: Any, shown: Any, relevant: Any) -> int:
    """Return the seed, which may stand in place of a list, or refuse what is none."""
    if shown is not None and seed is not None:
        raise OptionError(
            f"{shown} and seed={quoted(seed)} are two seeds: leave one of them out."
        )
    number = seed if shown is None else shown
    if number is None:
        number = 0
    if not _is_seed(number):
        raise OptionError(
            f"seed={quoted(number)}: a quiz draws its own list from a whole number, "
            f"such as recnb.quiz('{metric}', seed=1), or takes yours, from rank 1 "
            "down, with what is relevant."
        )
    if relevant is not None:
        call = f"recnb.quiz({metric!r}, ['A', 'B'], {{'A': 1}})"
        raise OptionError(
            f"relevant={quoted(relevant)} belongs to a list, and seed={number} "
            f"draws one: {call}."
        )
    return int(number)


def _no_list(metric: str, shown: object) -> str:
    """Say what to type in place of something that is no list."""
    items = ["A", "B", "C"]
    if isinstance(shown, str) and 2 <= len(set(shown)) == len(shown) <= len(LETTERS):
        items = list(shown)
    example = f"recnb.quiz({metric!r}, {items}, {{{items[0]!r}: 1}})"
    return f"{quoted(shown)} is no list: give the items from rank 1 down, {example}."


def _given(
    metric: str, pairs: list[Pair], k: int | None, options: dict[str, Any], lang: str
) -> Quiz:
    """Return the exercise of lists that are given."""
    if len(pairs) > 1 and metric != "hit_rate":
        raise RecnbError(
            f"{metric} is asked of one list, and {len(pairs)} were given: only the "
            "hit rate is asked of several."
        )
    longest = max(len(pair.items) for pair in pairs)
    if k is not None and k > longest:
        raise CutoffError(
            f"k={k}: the exercise of a list is cut within it, at 1 to {longest}."
        )
    if k is None and metric != "r_precision":
        k = longest
    lists = []
    truths = []
    for pair in pairs:
        names: dict[Any, str] = {}
        for item in [*pair.items, *pair.truth]:
            names[item] = str(item)
            if not pair.named and longest <= len(LETTERS):
                names[item] = LETTERS[
                    item - 1
                ]  # the rank and the grade alone are known
        lists.append([names[item] for item in pair.items])
        truths.append({names[item]: grade for item, grade in pair.truth.items()})
    q = Quiz(metric, options, k, lists, truths, lang)
    if not q.value:
        reason = "no item that is relevant stands so high in the list"
        if metric == "auc":
            reason = "every relevant item of the list is below all others"
        raise RecnbError(f"{q.label} is 0: {reason}, so there is nothing to compute.")
    return q
