"""The data of one evaluation: frames under a convention, users, lists, titles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import polars as pl

from recnb.caching import cached_property
from recnb.conventions import Convention, presets
from recnb.data import Joined, Source
from recnb.data.in_memory import InMemory
from recnb.data.names import title_column
from recnb.data.read import Input
from recnb.data.side_data import SideData, with_other_lists
from recnb.data.splits import Keys
from recnb.data.weights import look_up, refuse_lacking
from recnb.display.language import (
    N_,
    Noun,
    Sentence,
    _,
    current,
    noun_of,
    use_language,
    use_noun,
)
from recnb.display.text import Phrase, beginning, one_line
from recnb.errors import FrameError, OptionError, UnknownUserError, quoted
from recnb.metrics.hits import Floats, Hits, one_cutoff
from recnb.results.basis import AveragedUsers, follows
from recnb.stats import UserSample

#: The frames that metrics beyond accuracy are made of, besides the lists.
OF_ITEMS = ("train", "items")


@dataclass(eq=False, repr=False)
class EvaluationData:
    """One model's frames and the convention in force, from which every result is made.

    Functions of `results` take it as `data`; `Evaluation` adds what users call. It has
    what several of them need: the same data with other lists or conventions, the users
    as a sample, what users and items are called, and the words below every number.

    Each metric follows the conventions of `library`, over which `overrides` take
    precedence; None is recnb itself.
    """

    joined: Joined  #: the frames under the convention in force
    side_data: SideData  #: train, items and users
    library: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    #: What makes `item_data`; the room that has it enters it.
    item_reader: ClassVar[type[Any] | None] = None

    # With other lists, frames or conventions

    def without_frame(self, name: str) -> Self:
        """Return the same without a frame that the caller does not have by itself.

        Code that repairs the data would change it.
        """
        frames = dict(self.side_data.frames)
        frames.pop(name, None)
        return replace(self, side_data=replace(self.side_data, frames=frames))

    def of_split(self, values: pl.DataFrame) -> Self:
        """Return the evaluation of the lists that have these values in the split alone.

        They are a row whose columns are roles.
        """
        lists = self.keys.lists_in(values)
        if isinstance(self.source, InMemory):
            joined = self.source.among(lists).under(self.convention)
        else:
            joined = self.joined.among(lists)
        return replace(
            self,
            joined=replace(joined, notes=self.joined.notes),
            side_data=self.side_data.of_split(values),
        )

    def under(self, library: str) -> Self:
        """Return the same data under another library's conventions, as "rectools".

        These say which users are averaged, and decide ties and denominators.

        A metric that it lacks is recnb's own, and marked. Where the library itself
        would raise an error, these still give a number; `recnb.as_in` refuses the
        frames.

        Parameters
        ----------
        library : str
            One of `recnb.conventions.names()`.

        Returns
        -------
        Evaluation
            Of the same frames, which are not read again.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
        >>> round(ev.ndcg(k=10), 4), round(ev.under("rectools").ndcg(k=10), 4)
        (0.1725, 0.1062)
        """
        name = presets.library_named(library)
        convention = self.source.with_order_of_lists(presets.data_convention(name))
        joined = self.source.under(convention)
        return replace(self, joined=joined, library=name, overrides={})

    def with_lists(self, recs: Input) -> Self:
        """Return the evaluation of other lists against the same truth.

        Columns, conventions, train, items, users and weights are the same, and all that
        is beside the lists is not read again, which saves a training loop part of each
        evaluation.

        Parameters
        ----------
        recs : frame, mapping or Series
            Lists in memory: a frame, or a mapping or Series by user, as for
            `recnb.evaluate`.

        Returns
        -------
        Evaluation
            The same as that of `recnb.evaluate` with these lists.

        Raises
        ------
        RecnbError
            As `recnb.evaluate` raises it. Also for lists in files, and for an evaluation
            of one frame with both sides, of rows that are not in memory, of a
            comparison's users in common, or with `split=`.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b", "c"]})
        >>> float(ev.with_lists({"ann": ["c", "b"]}).recall(k=2))
        1.0
        """
        source, side_data = with_other_lists(self.source, self.side_data, recs)
        if self.library is None:
            # `convention.order` is the column by which the former lists were ordered.
            asked = replace(self.convention, order=side_data.call.order)
        else:
            asked = replace(presets.data_convention(self.library), **self.overrides)
            asked = source.with_order_of_lists(asked)
        return replace(self, joined=source.under(asked), side_data=side_data)

    @cached_property
    def unweighted(self) -> Self:
        """This evaluation with a weight of 1 for each relevant pair."""
        plain = replace(
            self.joined,
            hits=replace(self.joined.hits, truth_weight=None),
            convention=replace(self.convention, min_propensity=1.0),
        )
        overrides = {**self.overrides, "min_propensity": 1.0}
        return replace(self, joined=plain, overrides=overrides)

    # The frames

    @property
    def source(self) -> Source:
        """The frames, to be looked at under another convention."""
        return self.joined.source

    @property
    def convention(self) -> Convention:
        """The decisions about the data that are in force."""
        return self.joined.convention

    @property
    def metric_conventions(self) -> list[Convention]:
        """The conventions of all metrics: of a library one for each, as it has them."""
        if self.library is None:
            return [self.convention]
        return [preset.convention for preset in presets.of_library(self.library)]

    @cached_property
    def item_data(self) -> Any:
        """What the room of metrics beyond accuracy reads: all lists, and their items."""
        if self.item_reader is None:
            raise OptionError(
                "metrics beyond accuracy are not here: the package lacks its folder beyond."
            )
        return self.item_reader(self)

    def hits(self, depth: int | None = None) -> Hits:
        """Return the hits down to a rank, from which metrics of accuracy are computed.

        Parameters
        ----------
        depth : int, optional
            The last rank; None: all.

        Returns
        -------
        Hits
            Arrays with an entry per hit: `user`, `rank`, `relevance` and more.

        Examples
        --------
        >>> import recnb
        >>> ev = recnb.evaluate({"ann": ["a", "b"]}, {"ann": ["b", "c"]})
        >>> ev.hits().rank.tolist()
        [2]
        """
        return self.joined.hits.down_to(one_cutoff(depth))

    # Users and their lists

    @property
    def n_users(self) -> int:
        """The number of users evaluated, or of values of `cluster=`."""
        return self.sample.n_units

    @property
    def n_lists(self) -> int:
        """The number of lists evaluated: of users, unless they have several.

        Every array by user has so many entries.
        """
        return len(self.joined.users)

    def n_users_and_lists(self, list_ids: pl.Series) -> dict[str, Any]:
        """Return the numbers of users and, if these have several, of their lists."""
        n_users = self.keys.users_of(list_ids).n_unique()
        if not self.keys.columns:
            return {"n_users": n_users}
        return {"n_users": n_users, "n_lists": len(list_ids)}

    @property
    def users(self) -> pd.Index[Any]:
        """The users evaluated, in the order of every per-user result.

        In a split these are lists, by user and the columns of the split.
        """
        return self.keys.index(self.joined.users, self.user_label)

    @property
    def keys(self) -> Keys:
        """Whose lists these are: of users, or of users in a split."""
        return self.source.keys

    def position(
        self,
        user: Any,
        users: pl.Series | None = None,
        in_words: Callable[[], Sequence[str]] | None = None,
    ) -> int:
        """Return the position of a user, or of a list in a split, among some users.

        `users` are by default those evaluated; `in_words` returns who they are, for the
        error.
        """
        if users is None:
            users = self.joined.users
        # An id of another kind is none of them.
        with suppress(TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            index = users.index_of(self.keys.find(user))
            if index is not None:
                return index
        examples = ", ".join(map(repr, self.keys.names(users.head(5)).to_list()))
        if len(users) > 5:
            examples += ", …"
        with use_language("en"):  # errors are in English
            are = "; ".join(in_words() if in_words else self.users_in_words)
        what = "list" if self.keys.columns else current().noun.user
        raise UnknownUserError(
            f"{what} {quoted(self.keys.in_words(user))} is not evaluated. Those "
            f"evaluated are {examples}: {are}."
        )

    # The sample

    @cached_property
    def sample(self) -> UserSample:
        """The lists evaluated, as a sample."""
        return self.sample_of(self.joined.users, self.joined.user_weight)

    @property
    def clustered_by(self) -> str:
        """What lists are clustered by, in words; "" where each is drawn by itself."""
        if self.side_data.cluster is not None:
            return one_line(self.side_data.cluster)
        return self.user_label if self.keys.columns else ""

    @property
    def clustering_in_words(self) -> list[str]:
        """What intervals and tests are clustered by, if they are."""
        words = N_("intervals and tests clustered by {unit}")
        return [_(words, unit=self.clustered_by)] if self.clustered_by else []

    def sample_of(self, users: pl.Series, weights: Floats | None) -> UserSample:
        """Return some lists with their weights as a sample.

        The lists of a user, or of users with one value of `cluster=`, are drawn as one.
        """
        cluster = self.side_data.cluster
        if cluster is None and not self.keys.columns:
            return UserSample(len(users), weights)
        values = self.keys.users_of(users)
        if cluster is not None:
            assert self.side_data.users is not None  # or it would have been refused
            table = self.side_data.users.select("user", value=cluster)
            ids = values.to_frame()
            values = look_up(table, ids, "cluster")
            if values.dtype.is_float():
                values = values.fill_nan(None)
            refuse_lacking(values, ids, "cluster")
        codes = values.rank("dense").to_numpy()  # the same where values are
        return UserSample(len(users), weights, codes, cluster or "")

    # What users and items are called

    @cached_property
    def user_label(self) -> str:
        """The caller's name of the column of users.

        The recommendations have it, unless they call it "user" and the truth does not.
        """
        return self._label_of("user")

    def _label_of(self, role: str) -> str:
        """Return the caller's name of a column that both frames have."""
        label = self.source.recs.label(role)
        return self.source.truth.label(role) if label == role else label

    @cached_property
    def noun(self) -> Noun:
        """What the caller calls those whose lists these are: user, query, topic, …"""
        return noun_of(self.user_label, self._label_of("item"))

    @property
    def noun_of_lists(self) -> Noun:
        """What is counted where each list is: a user, or a list of several."""
        return self.noun._replace(user="list") if self.keys.columns else self.noun

    def item_titles(self, items: Sequence[Any]) -> dict[Any, str]:
        """Return the titles of items, of those that have one in the frame of items.

        They are shown wherever items are. Passages have the beginning of their text.
        """
        frame = self.side_data.items
        columns = [] if frame is None else frame.columns
        titles = title_column(columns)
        if titles is not None:
            return _texts_of(frame, "item", items, titles)
        texts = _texts_of(frame, "item", items, "text")
        return {item: beginning(text) for item, text in texts.items()}

    def user_texts(self, users: Sequence[Any]) -> dict[Any, str]:
        """Return the texts of queries, of those that have one in the frame of users."""
        if self.keys.columns:
            return {}
        return _texts_of(self.side_data.users, "user", users, "text")

    # What the numbers rest on, in words

    @property
    def basis(self) -> str:
        """The line below every number: users averaged or not, and the convention."""
        with use_noun(self.noun):
            return "; ".join([*self.users_in_words, *self.rules])

    @property
    def rules(self) -> list[str]:
        """The library that is followed, the notes and the convention in words."""
        decisions = self.convention.phrases(graded=self.joined.is_graded)
        return [*self.followed(self.convention), *self.notes, *decisions]

    def followed(self, convention: Convention) -> list[str]:
        """Return the library whose conventions are followed, with what is given instead.

        `convention`: that of a metric, or of the evaluation.
        """
        if self.library is None:
            return []
        given = convention.given_in_words(self.overrides)
        return [follows(self.library, given)]

    @property
    def averaged_users(self) -> AveragedUsers:
        """The users evaluated, as a metric averages them that says nothing else."""
        return AveragedUsers(self.joined, self.joined.hits.n_relevant == 0)

    @property
    def users_in_words(self) -> list[str]:
        """The users evaluated, how some of them count, and those left out."""
        with use_noun(self.noun):
            return self.averaged_users.in_words()

    @property
    def notes(self) -> tuple[str, ...]:
        """Properties of the data that the numbers depend on."""
        notes = (*self.joined.notes, *self.unmatched_items_note)
        return tuple(Phrase(str(note)) for note in notes)

    @cached_property
    def unmatched_items_note(self) -> tuple[Sentence, ...]:
        """A note if no item of the lists is in the truth, () otherwise.

        The ids may be written in two ways.
        """
        source, has_hits = self.source, len(self.joined.hits.rank) > 0
        # A part of the data, which needs no users, may well be of other items.
        if has_hits or not isinstance(source, InMemory) or not source.needs_users:
            return ()
        items, judged = self.joined.rows.lists["item"], self.joined.rows.truth["item"]
        if not len(items) or not len(judged):
            return ()
        if items.is_in(judged.unique().implode()).any():
            return ()
        message = N_(
            "no recommended {item} is in the truth: lists hold {items} such as "
            "{example}, the truth such as {other}"
        )
        item, other = one_line(repr(items[0]), 80), one_line(repr(judged[0]), 80)
        return (Sentence(message, {"example": item, "other": other}),)

    @property
    def metrics_share_no_relevant(self) -> bool:
        """Whether `no_relevant` of the convention is the same for all metrics."""
        if "no_relevant" in self.overrides:
            return True
        return len({each.no_relevant for each in self.metric_conventions}) == 1


#: The data of models, by name; "" is the only one.
Models = Mapping[str, EvaluationData]


def has_side_data(models: Models) -> bool:
    """Return whether train or items are given for every model."""
    return all(
        model.side_data.train is not None or model.side_data.items is not None
        for model in models.values()
    )


def check_side_data(models: Models, roles: Sequence[str] = OF_ITEMS) -> None:
    """Refuse metrics of side data that are not the same for all models."""
    (first, ours), *others = models.items()
    for role, (name, theirs) in product(roles, others):
        frame, other = getattr(ours.side_data, role), getattr(theirs.side_data, role)
        if frame is None or other is None:
            continue
        if same_rows(frame, other):
            continue
        problem = (
            f"{first!r} and {name!r} have different {role}=, of which this metric "
            f"is made, so the difference would be that of {role}=:"
        )
        fix = (
            f"give compare() one {role}= and frames of "
            f"recommendations, or evaluate both with the same."
        )
        raise FrameError(f"{problem} {fix}")


def same_rows(table: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Return whether two tables have the same rows, in whatever order."""
    if table is other:
        return True
    if table.columns != other.columns:
        return False
    rows = np.sort(table.hash_rows().to_numpy())
    return np.array_equal(rows, np.sort(other.hash_rows().to_numpy()))


def _texts_of(
    frame: pl.DataFrame | None, role: str, ids: Sequence[Any], column: str
) -> dict[Any, str]:
    """Return the values of a column by id, of those that have one, as text."""
    if frame is None or column not in frame.columns or not ids:
        return {}
    asked = pl.Series(ids, dtype=frame[role].dtype)
    named = frame.filter(
        pl.col(role).is_in(asked.implode()), pl.col(column).is_not_null()
    )
    return {key: str(text) for key, text in named.select(role, column).iter_rows()}
