"""The data of one evaluation: users, lists, titles; and the way from a metric to its
`Values`, under the convention it follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from recnb.conventions import Convention, presets
from recnb.data import Joined, Source
from recnb.data.columns import title_column
from recnb.data.encoding import positions
from recnb.data.in_memory import Sheets
from recnb.data.item_data import ItemData, ItemDataOfParts
from recnb.data.side_data import SideData
from recnb.display.language import N_, Sentence, _, ngettext, noun_of, use_noun
from recnb.display.text import one_line
from recnb.errors import OptionError
from recnb.metrics.gain import as_column
from recnb.metrics.hits import Bools, Cutoffs, Floats, Hits, cached_property
from recnb.metrics.metric import LIST_METRICS, Credit, Given, Metric
from recnb.metrics.recommendation_lists import PerUser, TermRows, Whole
from recnb.results.values import (
    OWN,
    Basis,
    Said,
    Values,
    follows,
    index_of,
    pairs_in_words,
    weights_in_words,
)

#: Why there is no explanation.
MANY_ORDERS = (
    "ties='expected' averages many orders, and a worked explanation follows one: "
    "choose ties='first'."
)


@dataclass(frozen=True, eq=False)
class Scoring:
    """One metric on joined data, with the options in force."""

    joined: Joined
    metric: Metric[...]
    options: Given
    whole: bool = False  #: whether there is no cut-off

    @property
    def convention(self) -> Convention:
        """The convention of the data, which says where lists are cut."""
        convention = self.joined.convention
        return convention.without_k() if self.whole else convention

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The decisions that the words of the number leave out: that there is no
        cut-off, which the number itself says.
        """
        is_given = self.convention.cutoff == self.joined.convention.cutoff
        return () if is_given else ("cutoff",)

    @property
    def in_force(self) -> Convention:
        """The convention of the data with the metric's own options."""
        return self.convention.with_metric({**self.metric.defaults, **self.options})

    def hits(self, cutoffs: Cutoffs) -> Hits:
        """Return the hits that the metric needs at these cut-offs, with all judged
        items if it counts these.
        """
        whole = self.metric.needs_whole_list(self.options)
        hits = self.joined.hits(None if whole else cutoffs.deepest)
        return (
            replace(hits, judged=self.joined.judged_hits())
            if "judged" in self.metric.needs
            else hits
        )

    def credit(self, cutoffs: Cutoffs) -> Credit:
        """Return the credit of the hits at these cut-offs."""
        cutoffs = cutoffs_under(self.joined.convention, cutoffs)
        return self.metric.at(self.hits(cutoffs), cutoffs, self.options)

    def averaged(self, cutoffs: Cutoffs) -> tuple[Floats, Floats]:
        """Return the values of users × cut-offs, NaN where not averaged, and their
        mean.
        """
        return average(
            self.credit(cutoffs), self.joined.convention, self.joined.user_weight
        )

    def users_behind(self, cutoffs: Cutoffs) -> tuple[int, int, int, int]:
        """Count the users behind the mean at the deepest cut-off, those of them without
        a list and those with no relevant item; and users with no relevant item who are
        left out. One who counts 1 is not among those without a list, who count 0.
        """
        nothing_to_find = self.joined.all_hits.n_relevant == 0
        # Where an item of no gain can be relevant, an ideal of 0 says that there is
        # nothing to find.
        if self.joined.convention.relevant != ">0":
            credit = self.credit(Cutoffs.one(cutoffs.deepest))
            if isinstance(credit.out_of, Credit):
                nothing_to_find = (np.asarray(credit.possible) == 0).ravel()
        return self.joined.counts_of_users(
            nothing_to_find, has_missed=self.metric.missed != "0"
        )


def cutoffs_under(convention: Convention, cutoffs: Cutoffs) -> Cutoffs:
    """Return the cut-offs; under a convention that does not cut, they only label the
    numbers.
    """
    return replace(cutoffs, cut=convention.cutoff)


def average(
    credit: Credit, convention: Convention, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Fill in and leave out users who have nothing to find, and average the others, who
    may have weights.

    A cost that says what a list without a hit adds has a value for those who have
    nothing to find: 0 would be the best there is.
    """
    matrix, undefined = credit.value, undefined_in(credit, convention)
    if undefined is not None and undefined.any():
        filled: Floats | float = {"skip": np.nan, "one": 1.0}.get(
            convention.no_relevant, 0.0
        )
        if credit.has_missed and convention.no_relevant != "skip":
            filled = matrix
        matrix = np.where(undefined, filled, matrix)
    elif len(matrix) and weights is None:
        return matrix, np.asarray(matrix.mean(axis=0))
    return matrix, mean_of(matrix, weights)


def mean_of(matrix: Floats, weights: Floats | None) -> Floats:
    """Return the mean of each column over the users who have a value, of users with
    weights sum(w x) / sum(w); NaN if none has.
    """
    weight = 1.0 if weights is None else as_column(weights)
    n, total = (
        (~np.isnan(matrix) * weight).sum(axis=0),
        np.nansum(matrix * weight, axis=0),
    )
    return np.asarray(np.divide(total, n, out=np.full(len(total), np.nan), where=n > 0))


def undefined_in(credit: Credit, convention: Convention) -> Bools | None:
    """Mark users who had nothing to find: no relevant item or, where an item of no gain
    can be relevant, an ideal of 0.
    """
    if convention.relevant != ">0" and isinstance(credit.out_of, Credit):
        return np.asarray(np.asarray(credit.possible) == 0)
    n_relevant = credit.rows.n_relevant
    return None if n_relevant.all() else (n_relevant == 0)[:, np.newaxis]


class EvaluationData:
    """The joined data of one model, and the convention in force.

    Each metric follows the conventions of `library`, over which `overrides` take
    precedence; None is recnb itself.
    """

    def __init__(
        self,
        joined: Joined,
        library: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        side_data: SideData | None = None,
    ) -> None:
        self.joined = joined
        self.library = library
        self.overrides = dict(overrides or {})
        self.side_data = side_data or SideData()

    @cached_property
    def item_data(self) -> ItemData:
        """All lists, and the attributes of items: what metrics beyond accuracy read."""
        return (ItemData if self.source.in_memory else ItemDataOfParts)(
            self.joined, self.side_data
        )

    @property
    def source(self) -> Source:
        """The frames as they were read, to be looked at under another convention."""
        return self.joined.source

    @property
    def n_users(self) -> int:
        """The number of users evaluated."""
        return len(self.joined.users)

    @cached_property
    def unweighted(self) -> EvaluationData:
        """The same with a weight of 1 for each relevant pair."""
        convention = replace(self.convention, min_propensity=1.0)
        hits = replace(self.joined.all_hits, truth_weight=None)
        plain = replace(self.joined, all_hits=hits, convention=convention, _cut={})
        return EvaluationData(
            plain,
            self.library,
            {**self.overrides, "min_propensity": 1.0},
            self.side_data,
        )

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result."""
        users: pd.Index[Any] = pd.Index(
            self.joined.users.to_numpy(), name=self.user_label
        )
        return users

    @property
    def user_label(self) -> str:
        """The caller's name of the column of users: that of the recommendations, unless
        it is "user" and the truth has another.
        """
        label = self.source.labels.get("user", "user")
        return (
            self.source.truth_labels.get("user", "user") if label == "user" else label
        )

    @property
    def noun(self) -> str:
        """What the caller calls those whose lists these are: user, query, topic, …"""
        return noun_of(self.user_label)

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self.joined.convention

    @property
    def one_no_relevant_rule(self) -> bool:
        """Whether all metrics do the same with users who have no relevant item."""
        rules = (
            {one.convention.no_relevant for one in presets.of_library(self.library)}
            if self.library
            else set()
        )
        return "no_relevant" in self.overrides or len(rules) < 2

    def restricted(self, joined: Joined) -> EvaluationData:
        """Return the same evaluation for some of its users, whose data is `joined`."""
        return EvaluationData(joined, self.library, self.overrides, self.side_data)

    def under(self, library: str) -> EvaluationData:
        """Return the same data under a library's conventions."""
        name = presets.library_named(library)
        convention = self.source.as_given(presets.data_convention(name))
        return EvaluationData(
            self.source.under(convention), name, side_data=self.side_data
        )

    # The metrics

    def scoring(
        self, metric: Metric[...], options: Given, *, whole: bool = False
    ) -> Scoring:
        """Return a metric on the data and with the options in force: the evaluation's
        own, or a library's.

        What a library lacks is worked out as recnb defines it, relevance above 0
        included, on the library's users and order.
        """
        recorded = self._recorded(metric, whole=whole)
        nothing_cut = {"cutoff": "none"} if whole else {}
        own = {} if recorded is None else dict(recorded.options)
        options = {**own, **metric.given, **options}
        if (
            self.joined.all_hits.truth_weight is not None
            and metric.is_accuracy
            and not (metric.needs or metric.own)
        ):
            metric = metric.weighted(options)
        in_data = dict(metric.data)
        if metric.as_printed and "ideal" in metric.defaults:
            in_data |= nothing_cut
        if not metric.is_accuracy or (self.library is None and not in_data):
            return Scoring(self.joined, metric, options, whole)
        convention = self.convention
        if recorded is not None:
            convention = replace(
                recorded.convention, **{**nothing_cut, **self.overrides}
            )
        elif self.library is not None:
            no_relevant = (
                "zero" if convention.no_relevant == "one" else convention.no_relevant
            )
            plain = {"cutoff": "k", "relevant": ">0", "no_relevant": no_relevant}
            convention = replace(convention, **plain | self.overrides)
        convention = self.source.as_given(replace(convention, **in_data))
        return Scoring(self.source.under(convention), metric, options, whole)

    def _recorded(
        self, metric: Metric[...], *, whole: bool = False
    ) -> presets.Preset | None:
        """Return what is recorded of a metric in the library; nothing of one that it
        never cuts, if a cut-off is asked for.
        """
        if self.library is None:
            return None
        name = metric.plain_name
        if (
            not metric.is_accuracy
        ):  # of several ways that go by one formula, the one that has its name
            variants = presets.of_metric(name, self.library)
            return next(
                (one for one in variants if one.variant.split("[")[0] == name),
                next(iter(variants), None),
            )
        found = presets.default_of(self.library, name, whole=whole)
        return (
            None
            if found is not None and found.convention.cutoff == "none" and not whole
            else found
        )

    def is_own(self, metric: Metric[...], *, whole: bool = False) -> bool:
        """Whether a number under a library's conventions is recnb's own, since nothing
        is recorded of it there.
        """
        return self.library is not None and self._recorded(metric, whole=whole) is None

    def values(self, metric: Metric[...], cutoffs: Cutoffs, options: Given) -> Floats:
        """Return a metric's value for each user at each cut-off; NaN for one who is
        left out at the last.
        """
        found = values_of(self, metric, cutoffs, options)
        here = found.users.is_in(self.joined.users.implode()).to_numpy()
        if here.sum() < self.n_users or np.isfinite(found.matrix[~here]).any():
            users = f"{self.library} averages {metric.name} over other users than its other metrics"
            raise OptionError(f"{users}: ask for its mean, .table([{metric.name!r}]).")
        kept: Floats = found.matrix[here]
        return kept

    # What is said of the numbers

    def basis_of(
        self, scoring: Scoring, cutoffs: Cutoffs, given: Mapping[str, Any] | None = None
    ) -> Basis:
        """Return what a metric's number at the deepest of these cut-offs rests on;
        `given`: the options of the call.
        """
        options = {**scoring.metric.defaults, **scoring.options}
        is_scaled = options.get("max_relevance", "") is None
        return Basis(
            counts=scoring.users_behind(cutoffs),
            convention=scoring.in_force,
            graded=self.joined.graded,
            notes=(*self.joined.notes, *self.apart),
            scale=scoring.joined.all_hits.max_relevance if is_scaled else None,
            library=self.library,
            given=tuple(self.overrides),
            options=dict(given or {}),
            is_own=self.is_own(scoring.metric, whole=cutoffs.values == (None,)),
            weights=(
                scoring.joined.all_hits.truth_weight is not None
                and scoring.joined.weighting
            )
            or None,
            user_weight=scoring.joined.user_weight,
            unsaid=scoring.unsaid,
            below_0_unjudged=scoring.metric.plain_name == "bpref",
            noun=self.noun,
            has_missed=scoring.metric.missed != "0",
            also_whole=None in cutoffs.values and not scoring.whole,
        )

    @property
    def basis(self) -> str:
        """In words, how many users there are, who was left out, and the convention,
        whatever the metric.
        """
        with use_noun(self.noun):
            words = [
                *self.users_in_words,
                *self.convention.phrases(graded=self.joined.graded),
                *self.notes,
            ]
            return "; ".join([*words, *pairs_in_words(self.joined.weighting)])

    @property
    def users_in_words(self) -> list[str]:
        """The users evaluated, and those left out."""
        data = self.joined
        about = data.user_counts, self.convention, data.graded, ()
        basis = Basis(*about, user_weight=data.user_weight, noun=self.noun)
        return basis.users_in_words()

    @property
    def notes(self) -> tuple[str, ...]:
        """Properties of the data that the numbers depend on."""
        return tuple(map(str, (*self.joined.notes, *self.apart)))

    @cached_property
    def apart(self) -> tuple[Sentence, ...]:
        """A note if no item of the lists is in the truth, as where ids are written in
        two ways.
        """
        if len(self.joined.all_hits.rank):
            return ()
        source = self.source.everyone
        if not isinstance(source, Sheets) or source.is_part:
            return ()
        items, judged = self.joined.recs["item"], self.joined.judged["item"]
        if (
            not len(items)
            or not len(judged)
            or items.is_in(judged.unique().implode()).any()
        ):
            return ()
        message = N_(
            "no recommended item is in the truth: lists hold items such as "
            "{item}, the truth such as {other}"
        )
        return (
            Sentence(
                message,
                {
                    "item": one_line(repr(items[0]), 80),
                    "other": one_line(repr(judged[0]), 80),
                },
            ),
        )

    # Users and their lists

    def position(self, user: Any) -> int:
        """Return the position of a user among those evaluated."""
        return index_of(user, self.joined.users, "; ".join(self.users_in_words))

    def lists_of(self, positions: Sequence[int]) -> list[dict[int, Any]]:
        """Return the lists of the users at some positions, item by rank; fetched at
        once where rows are elsewhere.
        """
        users = self.joined.users[list(positions)]
        rows = (
            self.joined.lists_of(users)
            .select("user", "rank", "item")
            .sort("rank", maintain_order=True)
        )
        found: dict[Any, dict[int, Any]] = {user: {} for user in users.to_list()}
        for user, rank, item in rows.iter_rows():
            found[user][rank] = item
        return [found[user] for user in users.to_list()]

    def truth_of(self, position: int) -> pl.DataFrame:
        """Return the relevant items of the user at a position, the most relevant
        first.
        """
        truth = self.joined.truth_of(self.joined.users[[position]])
        return truth.select("item", "relevance")

    def item_titles(self, items: Sequence[Any]) -> dict[Any, str]:
        """Return the titles of items, of those that have one in the frame of items:
        shown wherever items are.
        """
        frame = self.side_data.items
        column = None if frame is None else title_column(frame.columns)
        if frame is None or column is None or not items:
            return {}
        wanted = frame.filter(
            pl.col("item").is_in(pl.Series(items, dtype=frame["item"].dtype).implode())
        )
        return {
            item: str(title)
            for item, title in wanted.select("item", column).iter_rows()
            if title is not None
        }

    def hits(self, depth: int | None = None) -> Hits:
        """Return the hits down to a rank, from which every metric of accuracy is
        computed.
        """
        return self.joined.hits(Cutoffs.one(depth).values[0])


#: The data of models, by name; "" is the only one.
Models = Mapping[str, EvaluationData]


def values_of(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Values:
    """Compute a metric: of accuracy for the users evaluated, beyond it for all who have
    a list.
    """
    cuts_nothing = metric.is_accuracy and (data.library or metric.as_printed)
    if cuts_nothing and None in k.values and len(k) > 1:
        return _with_whole_lists(data, metric, k, options)
    scoring = data.scoring(metric, options, whole=k.values == (None,))
    if metric.is_accuracy:
        matrix, mean = scoring.averaged(k)
        here, basis = scoring.joined, data.basis_of(scoring, k, options)
        about = (
            scoring.metric,
            scoring.options,
            k,
            here.users,
            matrix,
            mean,
            scoring.in_force,
            basis,
        )
        return Values(*about, weights=here.user_weight)
    results = tuple(_of_lists(data, scoring, cut) for cut in k)
    in_force = {**metric.defaults, **scoring.options}
    with use_noun(data.noun):
        if of_evaluated(metric):
            users = data.joined.users
            who = ngettext("{n:,} user evaluated", "{n:,} users evaluated", len(users))
        else:
            users = data.item_data.users
            who = ngettext(
                "{n:,} user with a list", "{n:,} users with a list", len(users)
            )
    of_users = [each for each in results if isinstance(each, PerUser)]
    columns = [np.where(each.counted, each.value, np.nan) for each in of_users]
    weights = data.source.weight_of(users) if columns else None
    means = [each.mean() if isinstance(each, PerUser) else each for each in results]
    if weights is not None:
        means = [*mean_of(np.stack(columns, axis=-1), weights)]
        who = "; ".join([who, *weights_in_words(weights)])
    plain = {
        name: as_plain(value) for name, value in in_force.items() if value is not None
    }
    return Values(
        metric=metric.bounded(scoring.options),
        options=scoring.options,
        k=k,
        users=users,
        matrix=np.stack(columns, axis=-1) if columns else np.zeros((0, len(k))),
        mean=np.array(means, dtype=np.float64),
        convention=data.convention.with_metric(plain),
        basis=Said(
            partial(_of_lists_in_words, data, metric, in_force, k, results, who),
            users=who,
            noun=data.noun,
        ),
        results=results,
        weights=weights,
    )


def _with_whole_lists(
    data: EvaluationData, metric: Metric[...], k: Cutoffs, options: Given
) -> Values:
    """Compute a metric that does otherwise with whole lists than at a cut-off, at both;
    its basis is that of whole lists, which are the deepest.
    """
    depths = [cutoff for cutoff in k if cutoff is not None]
    cut = values_of(data, metric, Cutoffs.of(depths), options)
    whole = values_of(data, metric, Cutoffs.one(None), options)
    if not cut.users.equals(whole.users):
        raise OptionError(
            f"{data.library} averages {metric.name} of whole lists over other users "
            f"than at a cut-off: ask for k=None alone."
        )
    order = [[*depths, None].index(cutoff) for cutoff in k]
    return replace(
        whole,
        k=k,
        matrix=np.hstack([cut.matrix, whole.matrix])[:, order],
        mean=np.append(cut.mean, whole.mean)[order],
    )


def _of_lists_in_words(
    data: EvaluationData,
    metric: Metric[...],
    options: Given,
    k: Cutoffs,
    results: Sequence[PerUser | Whole],
    users: str,
) -> list[str]:
    """Return in words what a number beyond accuracy rests on at the deepest cut-off:
    users, items, order and options.
    """
    own, parts = data.is_own(metric), list[str]()
    catalogue, result = data.item_data.catalogue, results[k.values.index(k.deepest)]
    if (
        isinstance(result, PerUser)
        and not of_evaluated(metric)
        and (left := int((~result.counted).sum()))
    ):
        parts.append(_("{n:,} with a list without a value, left out", n=left))
    population = options.get("population", "catalogue")
    is_counted = "catalogue" in metric.needs or options.get("normalize")
    if is_counted and population != "recommended" and catalogue.listed is not None:
        of_train = population == "train" or data.side_data.items is None
        members = catalogue.members("train" if of_train else "catalogue", metric.name)
        words = (
            N_("out of {n:,} items of train")
            if of_train
            else N_("out of {n:,} items of items=")
        )
        parts.append(_(words, n=int(members.sum())))
        parts += [_("and one more, of padding")] * (population == "catalogue+padding")
    if catalogue.users is not None and "train" in metric.needs:
        parts.append(
            ngettext(
                "what {n:,} user had in train",
                "what {n:,} users had in train",
                catalogue.n_users,
            )
        )
    parts.append(replace(data.convention, relevant_from=None).phrases(graded=False)[0])
    told = ((name, as_plain(value)) for name, value in options.items())
    parts += [
        f"{name}={value}"
        for name, value in told
        if value and (name, value) != ("cutoff", "k")
    ]
    first = users if data.library is None or own else follows(data.library, words=users)
    return [first, *parts, *[_(OWN, library=data.library)] * own, *data.notes]


def _of_lists(data: EvaluationData, scoring: Scoring, k: int | None) -> PerUser | Whole:
    """Compute a metric beyond accuracy at a cut-off; credit of hits is filled in and
    left out as in metrics of accuracy.
    """
    metric, item_data, joined = scoring.metric, data.item_data, data.joined
    if metric.over != "hits":
        found: PerUser | Whole = item_data.compute(
            metric, k, scoring.options, evaluated=of_evaluated(metric)
        )
        return found
    cutoffs = cutoffs_under(joined.convention, Cutoffs.one(k))
    credit = metric.at(
        item_data.familiar(joined, joined.hits(cutoffs.deepest)),
        cutoffs,
        scoring.options,
    )
    of_users = average(credit, data.convention)[0][:, 0]
    return PerUser(
        of_users,
        np.ones(len(of_users)),
        ~np.isnan(of_users),
        partial(_rows_of_hits, data, credit),
    )


def _rows_of_hits(data: EvaluationData, credit: Credit, user: int) -> TermRows:
    """Return the hits of the user at a position, with the credit of each."""
    hits, joined, item_data = credit.rows, data.joined, data.item_data
    if hits.tied is not None:
        raise OptionError(MANY_ORDERS)
    depth = int(credit.k.depth(hits.list_length)[user, 0])
    rows = np.flatnonzero((hits.user == user) & (hits.rank <= depth))
    familiar, row = item_data.familiar(joined, hits), hits.truth_row[rows]
    names = {
        "rank": hits.rank[rows],
        "expected_rank": familiar.expected_rank[row],
        "depth": depth,
        "k": depth,
        "n_hits": len(rows),
        "list_length": hits.list_length[user],
    }
    items = positions(item_data.items, joined.truth["item"])[row]
    undefined = undefined_in(credit, data.convention)
    is_undefined = undefined is not None and bool(undefined[user, 0])
    return TermRows(
        credit.earned[rows], names, items, hits.rank[rows], undefined=is_undefined
    )


def recorded_in(library: str | None) -> list[str]:
    """Return the metrics beyond accuracy whose numbers in a library are recorded; all,
    for recnb's own.
    """
    of_library = (
        {one.metric for one in presets.of_library(library)}
        if library
        else {*LIST_METRICS}
    )
    return [name for name in LIST_METRICS if name in of_library]


def of_evaluated(metric: Metric[...]) -> bool:
    """Whether the values of a metric beyond accuracy are of the users evaluated, and
    not of all users with a list.
    """
    return metric.over in ("hits", "users")


def as_plain(value: object) -> Any:
    """Return an option as a word or number; what is bigger, such as a frame, as
    "given".
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and all(
        isinstance(part, str) for part in value
    ):
        return ", ".join(value)
    return "given"
