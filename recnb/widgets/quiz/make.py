"""`quiz`: what an exercise is asked for by, and the exercise of a list that is given."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from recnb.display.language import use_language
from recnb.errors import CutoffError, OptionError, RecnbError, is_several, quoted
from recnb.metrics.measure import measure_named
from recnb.results.single_list import OF_ONE_LIST, Pair, read_pair
from recnb.widgets.quiz.answer import Quiz
from recnb.widgets.quiz.draw import LETTERS, TOP, drawn

#: Options of exercises: with beta=1, F-beta would be F1, and ERR needs the scale of
#: grades.
DEFAULTS = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}


def quiz(
    metric: Any = "ndcg",
    shown: Any = None,
    relevant: Any = None,
    *,
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
        relevance of each rank alone.
    relevant : mapping, list or set, optional
        What is relevant: a mapping of items to relevance, or items.
    seed : int, optional
        A whole number, from which a list is drawn if none is given; by default 0.
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
        measure = measure_named(metric, OF_ONE_LIST).with_options(options)
        name = measure.name
        cutoff = measure.cut_at(k).k
        if cutoff is not None and name == "r_precision":
            raise CutoffError(
                f"k={cutoff}: R-precision has its own depth; leave k out."
            )
        given = {
            option: value for option, value in options.items() if value is not None
        }
        chosen = {**measure.metric.defaults, **DEFAULTS.get(name, {}), **given}
        if shown is None:
            return drawn(name, _seed(name, seed, relevant), cutoff, chosen, language)
        if seed is not None:
            raise OptionError(
                f"seed={quoted(seed)} draws a list, and one is given: leave seed out."
            )
        if not is_several(shown):
            raise OptionError(_no_list(name, shown))
        pair = read_pair(shown, relevant, measure.metric)
        if name == "err" and "max_relevance" not in options:
            chosen["max_relevance"] = max(pair.truth.values(), default=1)
        return _given(name, pair, cutoff, chosen, language)


def _seed(metric: str, seed: Any, relevant: Any) -> int:
    """Return the seed, 0 without one, or refuse what is none."""
    number = 0 if seed is None else seed
    if not isinstance(number, Integral) or isinstance(number, bool):
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
    return (
        f"{quoted(shown)} is no list: give the items from rank 1 down, {example}, or a "
        f"seed by its name, recnb.quiz({metric!r}, seed=1)."
    )


def _given(
    metric: str, pair: Pair, k: int | None, options: dict[str, Any], lang: str
) -> Quiz:
    """Return the exercise of a list that is given."""
    n = len(pair.items)
    if k is not None and k > n:
        raise CutoffError(
            f"k={k}: the exercise of a list is cut within it, at 1 to {n}."
        )
    if k is None and metric != "r_precision":
        k = n
    names = {item: str(item) for item in [*pair.items, *pair.truth]}
    if not pair.named and n <= len(LETTERS):  # the grades of ranks alone are known
        names = dict(zip(pair.items, LETTERS, strict=False))
    items = [names[item] for item in pair.items]
    truth = {names[item]: grade for item, grade in pair.truth.items()}
    q = Quiz(metric, options, k, [items], [truth], lang)
    if not q.value:
        reason = "no item that is relevant stands so high in the list"
        if metric == "auc":
            reason = "every relevant item of the list is below all others"
        raise RecnbError(f"{q.label} is 0: {reason}, so there is nothing to compute.")
    return q
