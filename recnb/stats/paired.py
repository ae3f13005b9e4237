"""Two models on the same users: tests, their power, Holm's correction; two orders of
models; a group of users against the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from recnb.display.language import _, ngettext
from recnb.display.progress import steps
from recnb.errors import FrameError, OptionError, is_number, is_word, near, quoted
from recnb.stats.intervals import (
    ENOUGH,
    ROUNDING,
    UNBOUNDED,
    Bounds,
    Floats,
    Moments,
    bootstrap,
    check_confidence,
)

Test = Literal["t", "wilcoxon", "randomization"]
TESTS = ("t", "wilcoxon", "randomization")
CORRECTIONS = ("all", "metric")


@dataclass(frozen=True)
class Settings:
    """The settings of tests of differences; each test has an interval that belongs to
    it.
    """

    confidence: float = 0.95
    test: Test = "t"
    method: Literal["t", "bootstrap"] | None = (
        None  #: of the intervals, if they are not the test's own
    )
    permutations: int = (
        10_000  #: signs that the randomization test draws for each user, at least
    )
    correction: Literal["all", "metric"] = (
        "all"  #: Holm's, over all tests made together or over those of each metric
    )

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not is_word(self.test, TESTS):
            raise OptionError(
                f"test={quoted(self.test)} is no test of recnb.",
                fix=near(self.test, TESTS),
            )
        if not is_word(self.correction, CORRECTIONS):
            problem = (
                f"correction={quoted(self.correction)} says not which tests are "
                f"corrected together."
            )
            raise OptionError(problem, fix=near(self.correction, CORRECTIONS))
        if self.method is not None and (
            self.test != "t" or not is_word(self.method, ("t", "bootstrap"))
        ):
            problem = f"method={quoted(self.method)} makes no interval of test={self.test!r}: "
            raise OptionError(
                problem,
                "say method='t' or 'bootstrap' with test='t'; other tests have their own.",
            )

    @property
    def alpha(self) -> float:
        """The level of the tests: what the confidence leaves."""
        return round(1 - self.confidence, 12)

    def of_tests(self, n: int) -> Self:
        """Return the settings of `n` tests corrected together: the lowest p of so many
        draws is far below `alpha / n`.
        """
        return replace(
            self, permutations=max(self.permutations, math.ceil(5 * n / self.alpha))
        )


class Paired(NamedTuple):
    """Mean difference, interval, test and users, an entry for each column."""

    mean: Floats  #: mean difference; above 0 if the model is better than the baseline
    low: Floats
    high: Floats
    p: Floats  #: NaN if fewer than 10 users differ
    sd: Floats  #: standard deviation of the differences (n - 1)
    effect_size: Floats  #: Cohen's d_z, mean / sd
    won: NDArray[np.int64]  #: users for whom the model is better
    tied: NDArray[np.int64]
    lost: NDArray[np.int64]
    n: int  #: users
    n_effective: float  #: the same, or the effective number of users with weights
    # : how much more than its errors a difference must be, of users with weights (see
    # `Moments.reach`)
    reach: Floats


def paired(
    differences: Floats,
    settings: Settings | None = None,
    bounds: Bounds = UNBOUNDED,
    weights: Floats | None = None,
) -> Paired:
    """Return interval, test, effect size and users won, tied and lost, for each column.

    `differences` are users × columns: the values of the model minus those of the
    baseline; `bounds` are the lowest and highest possible difference. If fewer than 10
    users differ there is no test, and the interval of the t test is `beta` within the
    bounds (see `intervals`).
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    if not np.isfinite(values).all():
        problem = "differences hold what is no finite number: "
        raise FrameError(
            problem, "leave out users on whom only one of the two models is judged."
        )
    settings = settings or Settings()
    n, m = values.shape
    signs = settled(values)
    won, lost = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    differ, nothing, all_of = (
        won + lost,
        np.full(m, np.nan),
        Moments.of(values, bounds, weights),
    )
    if weights is not None and settings.test != "t":
        raise OptionError(
            f"test={settings.test!r} takes all users alike, and user_weight= is given: ",
            "say test='t'.",
        )
    if all_of.n < 2:
        mean = all_of.mean if n else nothing
        return Paired(
            mean,
            nothing,
            nothing,
            nothing,
            nothing,
            nothing,
            won,
            n - differ,
            lost,
            n,
            all_of.n,
            nothing,
        )
    mean, n_differ = (
        np.where(differ == 0, 0.0, all_of.mean),
        Moments.count(signs != 0, weights),
    )
    sd = np.where(np.ptp(signs, axis=0) == 0, 0.0, np.sqrt(all_of.variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        effect_size = np.where(differ == 0, 0.0, mean / sd)
    if settings.test == "t":
        low, high, p = _student(all_of, signs, mean, sd, settings.confidence, weights)
        p = np.where(n_differ < ENOUGH, np.nan, p)
        if settings.method == "bootstrap":
            low, high = np.where(
                n_differ < ENOUGH,
                np.nan,
                bootstrap(values, settings.confidence, weights),
            )
    else:
        test = _wilcoxon if settings.test == "wilcoxon" else _randomization
        low, high, p = np.full((3, m), np.nan)
        columns = np.flatnonzero(n_differ >= ENOUGH)
        # As many together as 200 MB hold with all that is drawn for each.
        groups = np.array_split(
            columns,
            max(1, math.ceil(len(columns) * settings.permutations / 25_000_000)),
        )
        for at in steps(groups, _("testing")):
            low[at], high[at], p[at] = np.reshape(
                test(signs[:, at], settings), (-1, 3)
            ).T
    return Paired(
        mean,
        low,
        high,
        p,
        sd,
        effect_size,
        won,
        n - differ,
        lost,
        n,
        all_of.n,
        np.maximum(*all_of.reach),
    )


def holm(p: Floats) -> Floats:
    """Return p-values corrected by Holm's method, which bounds the chance of any false
    finding.

    It does so however the tests depend on each other (Holm 1979, Scandinavian Journal
    of Statistics 6). NaN is no test: it is not counted, and stays NaN. scipy has no
    such function.
    """
    corrected: Floats = np.array(p, dtype=np.float64)
    tested = ~np.isnan(corrected)
    values = corrected[tested]
    if ((values < 0) | (values > 1)).any():
        raise FrameError(
            f"p-values lie between 0 and 1, and these from {values.min():g} to {values.max():g}."
        )
    rising = np.argsort(values, kind="stable")
    values[rising] = np.minimum(
        np.maximum.accumulate(values[rising] * np.arange(len(values), 0, -1)), 1.0
    )
    corrected[tested] = values
    return corrected


def settled(differences: Floats) -> Floats:
    """Round differences to twelve decimals: ties must not depend on the order in which
    two models add the same terms.
    """
    return np.round(differences, 12) + 0.0  # -0.0 is 0


def tau_ap(values: Floats, others: Floats) -> float:
    """Return tau AP of two orders of the same models (Yilmaz, Aslam and Robertson,
    SIGIR 2008): the mean of each taken as the truth.

    Of the models above a place it counts those that are rightly above it, averaged over
    the places from the second down. Ties in an order stand for all their orders, of
    which it is the mean; a pair tied in the truth is right by half. NaN if a model has
    no value.
    """
    one, other = settled(values), settled(others)
    n, total = len(one), 0.0
    if n < 2 or np.isnan([one, other]).any():
        return float("nan")
    for order, truth in ((one, other), (other, one)):
        # Rows are models, columns the models above them, or tied with them.
        right = (truth > truth[:, np.newaxis]) + (truth == truth[:, np.newaxis]) / 2
        above, tied = (
            order > order[:, np.newaxis],
            (order == order[:, np.newaxis]) & ~np.eye(n, dtype=bool),
        )
        for at in range(n):
            n_above, n_tied = int(above[at].sum()), int(tied[at].sum())
            places = np.arange(n_tied + 1)  # among those that are tied, each as likely
            found = right[at] @ above[at] + right[at] @ tied[at] * places / max(
                n_tied, 1
            )
            total += float((found / np.maximum(n_above + places, 1)).mean())
    return total / (n - 1) - 1


def _student(
    all_of: Moments,
    signs: Floats,
    mean: Floats,
    sd: Floats,
    confidence: float,
    weights: Floats | None,
) -> tuple[Floats, Floats, Floats]:
    """Return the interval and the p-value of Student's paired t test; of few users who
    differ the interval within the bounds.
    """
    from scipy.special import stdtr, stdtrit

    n, m = all_of.n, signs.shape[1]
    error = sd / np.sqrt(n)
    half = stdtrit(n - 1, (1 + confidence) / 2) * error
    down, up = all_of.reach
    certain = np.maximum(np.abs(mean) - np.where(mean > 0, down, up), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(n - 1, -np.where(certain == 0, 0.0, certain / error))
    p = np.minimum(np.maximum(p, 2.0 ** (1.0 - np.count_nonzero(signs, axis=0))), 1.0)
    # So few users do not show how far others may differ, so the bounds of the metric
    # take the place of those seen.
    seen = (0, signs.min(axis=0), signs.max(axis=0))
    few = (
        np.min([Moments.count(signs != end, weights) for end in seen], axis=0) < ENOUGH
    )
    low, high = replace(all_of, above=np.zeros(m), below=np.zeros(m)).interval(
        confidence
    )
    return (
        np.where(few, low, mean - half - down),
        np.where(few, high, mean + half + up),
        p,
    )


def _wilcoxon(
    differences: Floats, settings: Settings
) -> list[tuple[float, float, float]]:
    """Return of each column Hodges and Lehmann's interval of the users who differ, and
    the p-value of scipy's Wilcoxon test of them.
    """
    from scipy import special, stats

    found = list[tuple[float, float, float]]()
    for column in differences.T:
        made = np.sort(column[column != 0])
        n = len(made)
        # scipy goes through permutations where few users differ and some by the same,
        # which takes a second.
        is_exact = n <= 50 and len(np.unique(np.abs(made))) == n
        p = float(stats.wilcoxon(made, method="exact" if is_exact else "approx").pvalue)
        n_pairs, sd = n * (n + 1) // 2, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        left_out = int(
            np.floor(n_pairs / 2 - special.ndtri((1 + settings.confidence) / 2) * sd)
        )
        places = (left_out, n_pairs - 1 - left_out)
        low, high = (
            _pairwise_mean(made, place) if left_out >= 0 else np.nan for place in places
        )
        found.append((low, high, p))
    return found


def _pairwise_mean(values: Floats, place: int) -> float:
    """Find the mean at a place, from 0, in the order of all means of two values or of
    one; values are sorted.
    """
    low, high = values[0], values[-1]
    for _halving in range(60):
        middle = (low + high) / 2
        of_two = np.searchsorted(values, 2 * middle - values, side="right").sum()
        below = (of_two + np.searchsorted(values, middle, side="right")) // 2
        low, high = (low, middle) if below > place else (middle, high)
    return float(high)


def _randomization(
    differences: Floats, settings: Settings
) -> list[tuple[float, float, float]]:
    """Return of each column the interval and the p-value of the randomization test
    (Fisher 1935), from one set of drawn signs.

    If `shift` is taken from each difference, the mean under drawn signs is `of_rest +
    (mean - shift) * of_signs`; the interval holds the shifts for which this is as far
    from 0 as `mean - shift` in more than 1 - `confidence` of the draws.
    """
    rng, n = np.random.default_rng(0), len(differences)
    means = np.ascontiguousarray(differences.T).mean(axis=1)
    columns = np.column_stack([differences - means, np.ones(n)]) / n
    permutations, at_once, drawn = settings.permutations, max(1, 4_000_000 // n), []
    for start in range(0, permutations, at_once):
        signs = (
            rng.integers(0, 2, (min(at_once, permutations - start), n), dtype=np.int8)
            * 2.0
            - 1
        )
        drawn.append((signs @ columns).T)
    *of_rests, of_signs = np.concatenate(drawn, axis=1)
    allowed = int(settings.alpha * (1 + permutations) + ROUNDING)
    found = list[tuple[float, float, float]]()
    for mean, of_rest in zip(means.tolist(), of_rests, strict=True):
        as_far = np.abs(of_rest + mean * of_signs) >= np.abs(mean) - ROUNDING
        ends = [np.nan, np.nan]
        # The furthest shift to each side at which a draw is as far.
        for at, side in enumerate((1, -1) if allowed else ()):
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = np.maximum(
                    side * of_rest / (1 - of_signs), -side * of_rest / (1 + of_signs)
                )
            reach[np.abs(of_signs) > 1 - ROUNDING] = (
                np.inf
            )  # all signs alike: as far whatever is taken off
            ends[at] = mean - side * np.partition(reach, -allowed)[-allowed]
        found.append(
            (ends[0], ends[1], (1 + np.count_nonzero(as_far)) / (1 + permutations))
        )
    return found


#: The correlation of two models' values per user, assumed if it is not measured.
#: Between a neighbourhood model, a factor model and the most popular items it is 0.3 to
#: 0.8, on the bundled sample and on MovieLens 100K, for ndcg, precision, recall, hit
#: rate, reciprocal rank and average precision at 10; this is the low end.
CORRELATION = 0.3


class Detectable(float):
    """The smallest difference between two models that a number of users can show: a
    float with its assumptions.
    """

    label: str  #: metric and cut-off
    n_users: int
    sd: float  #: standard deviation of the differences of users
    words: str  #: the number in a sentence, with its assumptions

    @classmethod
    def of(
        cls,
        label: str,
        values: Floats,
        others: Floats | None,
        power: float,
        alpha: float,
        weights: Floats | None,
    ) -> Self:
        """Compute it from the values of users, and those of another model, or of one of
        the same variance and an assumed correlation.
        """
        apart = settled(values - (values.min() if others is None else others))
        all_of = Moments.of(apart[:, np.newaxis], weights=weights)
        sd, reach = (
            float(np.sqrt(all_of.variance[0])),
            float(np.maximum(*all_of.reach)[0]),
        )
        if others is None:
            sd, reach = (
                of_one * math.sqrt(2 * (1 - CORRELATION)) for of_one in (sd, reach)
            )
        difference = detectable(sd, all_of.n, power, alpha) + reach
        if (
            Moments.count(apart != 0, weights) < ENOUGH
        ):  # so few do not show how far others would differ
            difference = math.nan
        users = ngettext("{n:,} user", "{n:,} users", len(values))
        terms = {
            "label": label,
            "users": users,
            "power": power,
            "alpha": alpha,
            "sd": sd,
        }
        if math.isnan(difference):
            words = _(
                "With {users}, or with differences that hardly vary, the "
                "detectable difference in {label} cannot be estimated.",
                **terms,
            )
        else:
            found = _(
                "A true difference of {difference:.4f} in {label} is found over "
                "{users} with a chance of {power:.0%} (paired t test at "
                "{alpha:g}); a smaller one will more often be missed.",
                difference=difference,
                **terms,
            )
            measured = _(
                "The differences of users spread by {sd:.4f}, as measured between the two models.",
                **terms,
            )
            assumed = _(
                "Assumed, not measured: another model whose values per user have "
                "a correlation of {correlation:g} with these, so that the "
                "differences spread by {sd:.4f}; against= another evaluation "
                "measures it.",
                correlation=CORRELATION,
                **terms,
            )
            words = f"{found} {assumed if others is None else measured}"
        self = cls(difference)
        vars(self).update(label=label, n_users=len(values), sd=sd, words=words)
        return self

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return f"{float(self):.4f} ({self.words})"


def detectable(sd: float, n: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest true difference of means that a two-sided paired test finds
    with a given power, in units of the metric.

    `sd` is the standard deviation of the differences of `n` users. NaN if it is 0, or
    below 10 users, which are not tested. Of 20 users the t test has a power of 0.75
    where 0.8 is asked for.
    """
    errors = _errors(power, alpha)
    return errors * sd / math.sqrt(n) if sd > 0 and n >= ENOUGH else math.nan


def users_needed(
    difference: float, sd: float | Detectable, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the number of users that a two-sided paired test needs to find a true
    difference of means, at least 10.

    `difference` is in units of the metric; `sd` is the standard deviation of the
    differences of users, a number or the result of `ev.detectable("ndcg", k=10)`;
    `power` is the chance of finding the difference, `alpha` the level of the test.

    >>> users_needed(0.02, sd=0.3), users_needed(0.01, sd=0.3)
    (1766, 7064)
    """
    errors = _errors(power, alpha)
    spread = sd.sd if isinstance(sd, Detectable) else sd
    if not (is_number(spread) and spread > 0):
        problem = (
            f"sd={quoted(spread)} is no standard deviation of differences: give a "
            f"number above 0, or "
        )
        raise OptionError(problem, "ev.detectable('ndcg', k=10).")
    if not (is_number(difference) and abs(difference) >= 1e-9 * spread):
        problem = f"difference={quoted(difference)} is none that any number of users could show: "
        raise OptionError(problem, "give one such as 0.01.")
    return max(ENOUGH, math.ceil((errors * spread / difference) ** 2))


def _errors(power: float, alpha: float) -> float:
    """Return how many standard errors a true difference must be for this power at this
    level.
    """
    from scipy.special import ndtri

    if not (is_number(alpha) and 0 < alpha < 1):
        raise OptionError(
            f"alpha={quoted(alpha)} is no level of a test: give a number between "
            f"0 and 1, such as 0.05."
        )
    if not (is_number(power) and alpha < power < 1):
        raise OptionError(
            f"power={quoted(power)} is no power: give a number from alpha "
            f"({alpha:g}) to 1, such as 0.8."
        )
    return float(ndtri(1 - alpha / 2) + ndtri(power))


def gap_to_rest(
    values: Floats,
    inside: NDArray[np.bool_],
    confidence: float = 0.95,
    weights: Floats | None = None,
) -> tuple[Floats, ...]:
    """Return the gap between the users inside a group and all others, its interval and
    its p, for each column of users × columns.

    Each is the more careful of Welch's test (1947, Biometrika 34) and Student's; NaN if
    either side has fewer than 10 users, or users who are all alike.
    scipy.stats.ttest_ind gives the same, each test by itself, and takes a second to
    import.
    """
    from scipy.special import stdtr, stdtrit

    nothing = np.full(values.shape[1], np.nan)
    if inside.all() or not inside.any():
        return nothing, nothing, nothing, nothing
    both = inside, ~inside
    sides = [
        Moments.of(values[side], weights=None if weights is None else weights[side])
        for side in both
    ]
    gap, n = sides[0].mean - sides[1].mean, np.array([[side.n] for side in sides])
    if n.min() < ENOUGH:
        return gap, nothing, nothing, nothing
    variances = np.array([side.variance for side in sides])
    variances[:, (variances <= ROUNDING**2).any(axis=0)] = np.nan
    of_means, free = variances / n, n - 1
    pooled = (variances * free).sum(axis=0) / free.sum() * (1 / n).sum()
    welch = (
        np.sqrt(of_means.sum(axis=0)),
        of_means.sum(axis=0) ** 2 / (of_means**2 / free).sum(axis=0),
    )
    student = np.sqrt(pooled), np.full_like(gap, free.sum())
    half = np.max(
        [stdtrit(df, (1 + confidence) / 2) * error for error, df in (welch, student)],
        axis=0,
    )
    p = np.max(
        [2 * stdtr(df, -np.abs(gap) / error) for error, df in (welch, student)], axis=0
    )
    return gap, gap - half, gap + half, p
