"""The trial of a metric of one's own, on a few small lists.

Its formula and its function say the same, or it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recnb.errors import OptionError, RecnbError
from recnb.metrics.catalogue import Catalogue, RowItems
from recnb.metrics.formula import Formula
from recnb.metrics.history import expected_ranks
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits, Ints
from recnb.metrics.measure import Measure
from recnb.metrics.metric import Metric
from recnb.metrics.recommendation_lists import Lists
from recnb.results.single_list import Pair, hits_of
from recnb.results.worked import compare_rows_with_formula, compare_with_formula

if TYPE_CHECKING:
    from recnb.metrics.recommendation_lists import Sparse

#: A few lists, by the grade of each rank and of what they miss, and where they are cut.
LISTS, CUTOFFS = (
    (((3, 0, 1, 2), (2,)), ((0, 1, 0), ()), ((0, 0), (1, 3)), ((1, 1, 2, 1, 3, 0), ())),
    (2, None, 20),  # within the lists, whole lists, and beyond the longest
)
#: What a function of another form raises.
FAILS = (ArithmeticError, AttributeError, KeyError, NameError, TypeError)
#: The form of a function, by the rows that a metric is over.
FORMS = {
    "hits": (
        "It is def mine(hits, k=None, *, option=1), which gives k to Credit as it is, "
        "several cut-offs at once."
    ),
    "list": (
        "It is def mine(lists, k=None, *, option=1), which returns "
        "recnb.metrics.list_credit(lists, k, earned, out_of)."
    ),
}
#: The names of a formula, beside the options and the columns of items=, by the rows
#: that a metric is over.
NAMES = {
    "hits": (
        "rank",
        "relevance",
        "nth",
        "first",
        "no_hit",
        "k",
        "n_relevant",
        "n_hits",
        "list_length",
    ),
    "list": ("rank", "k", "n_shown", "list_length"),
}
#: The names that train adds.
OF_TRAIN = ("count", "interactions", "n_users", "n_interactions", "expected_rank")


def _refuse_unknown_names(made: Metric[...], computed: Iterable[str]) -> None:
    """Refuse formulas that are none, or hold names that nothing has.

    `computed`: what the function itself computes of each row.
    """
    names = [*NAMES[made.over]]
    if "train" in made.needs:
        names += OF_TRAIN
    names += [*made.columns, *made.defaults, *computed]
    ideal = ", ideal(...) as a whole out_of" if made.over == "hits" else ""
    for text in map(str, (made.credit, made.out_of, made.missed)):
        try:
            unknown = Formula.of(text).unknown(names)
        except SyntaxError:
            unknown = text
        if "ideal(" in text and not ideal:
            unknown = "ideal"
        if unknown:
            known = (
                f"+ - * / ^, <= (1 or 0), log or log2 (base 2), min, max{ideal}, "
                f"{', '.join(names)}."
            )
            raise OptionError(
                f"{made.name}: {unknown!r} is not understood in the formula "
                f"{text!r}, which has {known}"
            )


class SmallItems:
    """What is known of the items of the small lists.

    Popularity, one of which train does not have, and numbers in each column.
    """

    items = range(6)
    users = np.array([3, 1, 0, 7, 2, 5])
    interactions = np.array([4, 1, 0, 9, 2, 8])
    n_users = 9

    def __init__(self, columns: Iterable[str]) -> None:
        self.names = [*columns]

    @property
    def catalogue(self) -> Catalogue:
        """All that is known."""
        return Catalogue(self.users, self.interactions, self.n_users, reader=self)

    def numbers(self, name: str, metric: str) -> Floats:
        """Return other numbers for each column."""
        return 0.1 + np.arange(6) / 8 + self.names.index(name)

    def features(self, columns: object, metric: str) -> tuple[Sparse, Bools]:
        """Return three features, of which no item has the same, and that all have
        them.
        """
        from scipy import sparse

        item = np.arange(6)
        features = np.stack([1.0 + item, item % 2, item % 3], axis=1)
        return sparse.csr_array(features), np.ones(6, dtype=bool)

    def genres(self, column: object, metric: str) -> tuple[Sparse, Sequence[str]]:
        """Return two genres: each item has one, and one item has both."""
        from scipy import sparse

        item = np.arange(6)
        genres = np.stack([item % 2 == 0, (item % 2 == 1) | (item == 4)], axis=1)
        return sparse.csr_array(genres.astype(np.float64)), ["drama", "comedy"]

    def history(self, *, evaluated: bool = False) -> tuple[Ints, Ints]:
        """Return two items that the user had."""
        return np.array([0, 0]), np.array([1, 4])

    def expected_ranks(
        self, user: Ints, item: Ints, *, evaluated: bool, metric: str
    ) -> Ints:
        """Return the rank of each item among the most popular that the user has not
        had.
        """
        return expected_ranks(user, item, self.history(), self.interactions)


def try_on_lists(made: Metric[...]) -> None:
    """Refuse a metric whose formula is another than the function on small lists.

    So is one whose options are no numbers, or whose formula is none.
    """
    made.check(made.defaults)
    taken = [name for name in made.columns if name in made.defaults]
    if taken:
        raise OptionError(
            f"{made.name} has an option and a column {taken[0]!r}: rename one."
        )
    unbounded = replace(made, bounds=(-inf, inf))
    _refuse_unknown_names(made, _names_computed(unbounded))
    for (grades, missed), k in product(LISTS, CUTOFFS):
        where = f"of the grades {list(grades)} at k={k}"
        data = _small_data(made, grades, missed)
        cutoff = Cutoffs.of(k) if made.is_accuracy else k
        try:
            result = unbounded.at(data, cutoff, {})
            if made.is_accuracy:
                compare_with_formula(Measure(made), result, where)
            else:
                rows, possible = result.rows(0), float(result.out_of[0])
                compare_rows_with_formula(Measure(made), rows, possible, where)
            if not made.columns:  # whose numbers are in no known range
                made.at(data, cutoff, {})  # or an error that it leaves its bounds
        except FAILS as problem:
            raise OptionError(
                f"{made.name} fails {where}: {problem!r}.", fix=FORMS[made.over]
            ) from problem


def _names_computed(made: Metric[...]) -> tuple[str, ...]:
    """Return the names of what a function computes of each row itself, beside those
    that every formula has; none where it fails, which the trial says.
    """
    grades, missed = LISTS[0]
    data = _small_data(made, grades, missed)
    function: Callable[..., Any] = made.function
    try:
        if made.is_accuracy:
            return tuple(function(data, Cutoffs.of(None)).names)
        return tuple(function(data, None).names)
    except (*FAILS, RecnbError):
        return ()


def _small_data(
    made: Metric[...], grades: Sequence[int], missed: Sequence[int]
) -> Hits | Lists:
    """Return one list with what is known of its items: as hits, or as rows."""
    n = len(grades)
    if not made.is_accuracy:
        item = np.arange(n)
        return Lists(
            user=np.zeros(n, dtype=np.int64),
            rank=item + 1,
            item=item,
            list_length=np.array([n]),
            n_items=len(SmallItems.items),
            catalogue=SmallItems(made.columns).catalogue,
            items=_small_items(made, item),
        )
    graded = enumerate((*grades, *missed))
    truth = [(item, grade) for item, grade in graded if grade]
    hits = hits_of([Pair(range(n), grades, truth)])
    if not made.needs:
        return hits
    position = np.array([item for item, _grade in truth], dtype=np.int64)
    return replace(hits, truth_items=_small_items(made, position))


def _small_items(made: Metric[...], position: Ints) -> RowItems:
    """Return what is known of the items at these positions, which are of one user."""
    return RowItems(
        position=position,
        catalogue=SmallItems(made.columns).catalogue,
        metric=made.name,
        columns=made.columns,
        user=np.zeros(len(position), dtype=np.int64),
        users=np.zeros(1, dtype=np.int64),
        evaluated=made.is_accuracy,
    )
