"""A metric: a sum over hits, lists or the catalogue, divided by what it could be.

`@metric` makes a `Metric` of a function and enters it in METRICS (accuracy),
RETRIEVAL_METRICS (measures of search) or LIST_METRICS (beyond accuracy).
"""

from __future__ import annotations

import collections
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
)

import numpy as np
from numpy.typing import NDArray

from recnb.caching import cached_property
from recnb.display.data_file import rows_of
from recnb.display.language import _, template
from recnb.errors import (
    OptionError,
    instead_of,
    is_number,
    is_word,
    near,
    quoted,
    words_of,
)
from recnb.metrics.hits import Bools, Cutoff, Cutoffs, Floats, Hits, Number

P = ParamSpec("P")

#: What a formula sums over; over "items" and "user pairs" there is one number of all
#: lists, and over "all", which is of the caller's metrics alone and has no formula.
Over = Literal[
    "hits", "ideal", "list", "pairs", "genres", "items", "user pairs", "users", "all"
]
#: Data that a metric requires in addition to the lists.
Need = Literal["train", "catalogue", "features", "genre", "judged"]
#: Options of a metric, by name.
Given = Mapping[str, Any]
#: Which of two values is better; None: a value is not good or bad in itself.
Better = Literal["high", "low"] | None
#: Text of a formula; a function of the options if these change it.
Text = str | Callable[[Given], str]
#: What an option that is a number has to be: in words, and as a condition.
Range = tuple[str, Callable[[float], bool]]
#: Values of users who have nothing to find, by what the convention does with them.
FILLED = {"skip": np.nan, "zero": 0.0, "one": 1.0}
#: In `Definition.meanings`, the value of a name that is no option.
ALWAYS = "always"


class Credit:
    """The credit of each row and the denominator of its sum.

    A metric of your own returns it: its number is the sum of `earned` over a user's rows
    down to the cut-off, plus `missed`, divided by `out_of`.

    Parameters
    ----------
    rows : Hits
        The hits that the function was given.
    k : int or None
        The cut-off that the function was given.
    earned : array, shape (n_hits,)
        The credit of each hit.
    out_of : float, array or Credit, default 1.0
        What the sum is divided by: one number, users × cut-offs or a column of users
        (`as_column`), or what another list earns.
    missed : float or array, default 0.0
        What is added for a list without a hit; users × cut-offs.
    names : dict, optional
        What the function has computed of each row and its formula names: arrays of shape
        (n_hits,).

    See Also
    --------
    recnb.metric : Make a metric of a function.

    Examples
    --------
    >>> import recnb
    >>> from recnb.metrics import Credit, out_of_count
    >>> ev = recnb.evaluate({"ann": ["a", "b", "c"]}, {"ann": ["b", "c"]})
    >>> hits = ev.hits()
    >>> Credit(hits, 2, 1 / hits.rank, out_of_count(hits, 2, "relevant")).value
    array([[0.25]])
    """

    def __init__(
        self,
        rows: Hits,
        k: Cutoff,
        earned: Floats,
        out_of: Credit | Floats | float = 1.0,
        missed: Floats | float = 0.0,
        names: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        """Take the credit of each row, and what its sum is out of."""
        for name, values in (("out_of", out_of), ("missed", missed)):
            if isinstance(values, np.ndarray) and values.ndim != 2:
                raise TypeError(
                    f"{name} holds users × cut-offs: make a column of per-user values "
                    f"with as_column()."
                )
        self.k = Cutoffs.of(k)
        self.rows = rows
        self.earned = earned
        self.out_of = out_of
        self.missed = missed
        self.names = names or {}
        for name, values in self.names.items():
            if np.shape(values) != rows.rank.shape:
                raise TypeError(
                    f"names={{{name!r}: ...}} holds a number for each of the "
                    f"{len(rows.rank):,} rows"
                )

    @property
    def total(self) -> Floats:
        """Credit earned, users × cut-offs."""
        return self.rows.total(self.earned, self.k) + self.missed

    @property
    def earns_nothing(self) -> Bools:
        """Whether a user's list earns 0, users × cut-offs."""
        return np.asarray(self.total == 0)

    @property
    def has_missed(self) -> bool:
        """Whether a list without a hit has a value of its own."""
        return isinstance(self.missed, np.ndarray) or self.missed != 0

    @property
    def by_rank(self) -> Credit:
        """The credit with a row for each rank that contributes, for an explanation.

        Rows are so already, but where one item fills an ideal list (`RepeatedBest`).
        """
        return self

    @property
    def possible(self) -> Floats | float:
        """The denominator, users × cut-offs."""
        return self.out_of.total if isinstance(self.out_of, Credit) else self.out_of

    @property
    def value(self) -> Floats:
        """The metric, users × cut-offs: 0 where there was nothing to earn."""
        total = self.total
        possible = np.asarray(self.possible)
        nothing = np.zeros_like(total)
        value: Floats = np.divide(total, possible, out=nothing, where=possible != 0)
        return value


def as_column(values: NDArray[Number]) -> NDArray[Number]:
    """Return values of users as a column.

    It cannot be broadcast along the cut-offs by accident.

    Parameters
    ----------
    values : array, shape (n_users,)
        A value for each user.

    Returns
    -------
    array, shape (n_users, 1)
        The same values.

    Examples
    --------
    >>> import numpy as np
    >>> from recnb.metrics import as_column
    >>> as_column(np.array([2, 3])).shape
    (2, 1)
    """
    return values[:, np.newaxis]


@dataclass(frozen=True, eq=False, kw_only=True)
class Definition:
    """The definition of a metric, as `@metric` takes it.

    It has formula, bounds, sources and words, and makes a metric of a function.
    """

    symbol: str  #: as it is printed: nDCG
    called: str  #: what it is called, in English
    #: Formula text of what each row adds; empty for a function of the caller's that is
    #: given a frame, which has no formula.
    credit: Text
    out_of: Text = "1"  #: formula text of what the sum is divided by
    missed: str = "0"  #: formula text of what a cost adds for a list without a hit
    bounds: tuple[float, float]  #: the lowest and the highest value
    #: Whether there is no highest value under some options.
    unbounded: Callable[[Given], bool] = lambda options: False
    top: str = ""  #: the highest value in words, where it depends on the data
    better: Better = "high"  #: which of two values is better
    references: Sequence[str]  #: keys of `recnb.metrics.REFERENCES`
    sentence: str  #: how to read the number, in English
    over: Over = "hits"  #: the rows that the formula sums over
    #: Name in the formula -> value of the option of that name -> formula text. A name
    #: that is no option, such as `stop` of ERR, has its text under ALWAYS.
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Of options that are numbers, by name: which numbers they may be.
    ranges: Mapping[str, Range] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()  #: names of the same function and method
    #: The name that papers and ir_measures print, if there is one.
    printed: str = ""
    also: tuple[str, ...] = ()  #: other names that it is understood by, in lower case
    #: What it needs with the default options, in addition to the lists; a metric of
    #: accuracy, in addition to the hits.
    needs: tuple[Need, ...] = ()
    #: Why no user may have a value.
    no_value: str = "No list holds an item that counts down to k."
    #: Whether it is one of the measures of search.
    retrieval: bool = False
    #: Whether an item of negative relevance is one that is not judged.
    below_0_unjudged: bool = False
    per_row_texts: bool = True  #: whether an explanation writes out each row
    own: bool = False  #: whether it is the caller's, made by `recnb.metric`
    #: The nearest metric that counts each relevant item by itself, where this one does
    #: not and so has no unbiased weighting.
    instead: str = ""

    def __call__(self, function: Callable[Concatenate[Any, P], Any], /) -> Metric[P]:
        """Register the metric under the name of its function.

        The type that the function returns decides its kind.
        """
        # Annotations are text here: `from __future__ import annotations`.
        kind: Any = KINDS[inspect.signature(function).return_annotation]
        made: Metric[P] = kind(function, **vars(self))
        made.registry[made.name] = made
        ALIASES.update(dict.fromkeys(made.aliases, made.name))
        names = (made.printed.lower(), *made.aliases, *made.also)
        NAMES.update(dict.fromkeys(filter(None, names), made.name))
        return made


@dataclass(frozen=True, eq=False)
class Metric(Definition, Generic[P]):
    """A metric: a function of hits or lists with its definition.

    What the function returns tells its kind, in `KINDS`. A kind that is not computed
    from hits gives its own values and explanations.
    """

    #: Whether it is computed from hits; others are beyond accuracy.
    is_accuracy: ClassVar[bool] = False
    #: Whether each user has a value, or all lists have one together.
    of: ClassVar[Literal["user", "all"]] = "user"
    #: Methods that a kind has which is not of hits: its `Values` of an evaluation at
    #: some cut-offs, and the `Explanation` of the value of a user.
    values: ClassVar[Callable[..., Any]]
    explanation: ClassVar[Callable[..., Any]]

    function: Callable[Concatenate[Any, P], Any]

    @cached_property
    def name(self) -> str:
        """The name that it is called and registered by."""
        return self.function.__name__

    @property
    def registry(self) -> dict[str, Metric[...]]:
        """Where metrics of this kind are looked up."""
        return LIST_METRICS

    @property
    def of_evaluated(self) -> bool:
        """Whether one of lists is of the users evaluated, not of all with a list."""
        return self.over in ("hits", "users")

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it by its name and module, as functions are."""
        return _restored, (self.name, self.function.__module__)

    @property
    def takes_weights(self) -> bool:
        """Whether relevant pairs that have propensities weigh 1 / propensity in it."""
        return self.is_accuracy and not (self.needs or self.own or self.instead)

    @property
    def sign(self) -> int:
        """What values are multiplied by to be in order, the best the highest."""
        return sign_of(self.better)

    @property
    def term(self) -> str:
        """The metric in words, in the language in force."""
        return template(self.called)

    @property
    def title(self) -> str:
        """The meaning of the number, in the language in force.

        In English the first line of the docstring.
        """
        first_paragraph = (inspect.getdoc(self.function) or "").split("\n\n")[0]
        return template(" ".join(first_paragraph.split()))

    @property
    def reads(self) -> str:
        """One sentence on how to read the number, in the language in force."""
        return self.sentence if self.own else _(self.sentence)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The options and their default values."""
        parameters = inspect.signature(self.function).parameters.values()
        return {
            each.name: each.default
            for each in parameters
            if each.kind is each.KEYWORD_ONLY
        }

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """The options that are words, and the words each takes."""
        return words_of(self.function)

    def at(self, data: Any, k: Cutoff, options: Given) -> Any:
        """Compute the metric at one or several cut-offs, under options that were checked.

        Of hits it returns `Credit`; of lists, `PerUser` or `Whole`.
        """
        if self.instead or self.own:
            self._refuse_weights(data)
        function: Callable[..., Any] = self.function
        return function(data, k, **options)

    def __call__(self, data: Any, *args: P.args, **options: P.kwargs) -> Any:
        """Compute the metric, with the options as keywords."""
        self.check(options)
        return self.function(data, *args, **options)

    def _refuse_weights(self, data: Any) -> None:
        """Refuse weighted hits if what an item adds depends on more than its own rank.

        `data`: hits, lists that know the hits, or a frame of the caller's lists.
        """
        if getattr(getattr(data, "hits", data), "truth_weight", None) is None:
            return
        if self.own:
            raise OptionError(
                f"{self.name} is a metric of one's own, and those take no propensities: "
                "leave out propensity=."
            )
        raise OptionError(
            f"{self.name} is no sum over relevant items of what depends on the rank of "
            "each alone, so weights of 1 / propensity do not take its bias away: under "
            f"propensity= the nearest is {self.instead}."
        )

    def check(self, options: Given) -> None:
        """Refuse options, and values of options, that the metric does not have."""
        for name, value in options.items():
            if name == "k":
                continue
            if name not in self.defaults:
                problem = f"{self.name} has no option {name!r}."
                instead = instead_of(["metric"], name)
                fix = instead or near(name, ["k", *self.defaults])
                raise OptionError(f"{problem} {fix}")
            problem = f"{name}={quoted(value)} is no option of {self.name}"
            if name in self.words and not is_word(value, self.words[name]):
                raise OptionError(f"{problem}. {near(value, self.words[name])}")
            if name in self.ranges:
                number_option(name, value, *self.ranges[name])
            is_switch = isinstance(self.defaults[name], bool)
            if is_switch and not isinstance(value, (bool, np.bool_)):
                raise OptionError(f"{problem}. Type True or False.")
            if self.own and not is_number(value):
                raise OptionError(
                    f"{problem}: those of a metric of one's own are numbers, each with a default."
                )

    def label(self, k: int | None) -> str:
        """Return the metric's symbol at a cut-off."""
        return label_of(self.symbol, k)


def label_of(symbol: str, k: int | None) -> str:
    """Return a metric at a cut-off, as nDCG@10."""
    return symbol if k is None else f"{symbol}@{k}"


#: The kind of a metric by what its function returns; `results` and rooms enter theirs.
KINDS: dict[str, type[Metric[...]]] = {}

#: The publications that define the metrics: citation key -> authors, year, title,
#: where, doi.
REFERENCES = {row["key"]: row for row in rows_of("metrics/references.csv")}
#: Metrics of accuracy, by name.
METRICS: dict[str, Metric[...]] = {}
#: Measures of search that look at more than hits: at judgments, sets or counts.
RETRIEVAL_METRICS: dict[str, Metric[...]] = {}
#: Metrics beyond accuracy, in the order in which tables show them.
LIST_METRICS: dict[str, Metric[...]] = {}
ALIASES: dict[str, str] = {}
#: Every name that is not recnb's own, in lower case -> metric.
NAMES: dict[str, str] = {}
#: The decorator: `@metric(symbol=..., ...)` defines, and calls the definition.
metric = Definition
#: Metrics of accuracy and every metric, by name.
ACCURACY = collections.ChainMap(RETRIEVAL_METRICS, METRICS)
EVERY_METRIC = collections.ChainMap(LIST_METRICS, RETRIEVAL_METRICS, METRICS)


def _restored(name: str, module: str) -> Metric[...]:
    """Return the metric of this name, which its module makes if nobody has yet."""
    if name not in EVERY_METRIC:
        import_module(module)
    if name not in EVERY_METRIC:
        raise OptionError(
            f"this process has no {name} of {module}: write it into a file that it can import."
        )
    return EVERY_METRIC[name]


def sign_of(better: Better) -> int:
    """Return -1 where less is better, else 1.

    Values times this are in order, the best the highest; where neither is better,
    as they are.
    """
    return -1 if better == "low" else 1


def number_option(
    name: str, value: object, meaning: str, is_possible: Callable[[float], bool]
) -> None:
    """Refuse what is no number, or a number that an option cannot be."""
    if not is_number(value) or not is_possible(value):
        raise OptionError(f"{name}={quoted(value)} is not {meaning}.")
