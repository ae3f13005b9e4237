"""Sentences are laws: the line below a number, the headline of a report and what is
concluded of a difference say what plain counts and loops say, on any small frames under
any options.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.conventions import presets
from recnb.errors import RecnbError
from recnb.stats import holm
from tests import reference
from tests.examples import examples
from tests.laws import sentences
from tests.laws.sentences import Frames, frames, metric_options, naive_counts, read

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
CUTOFFS = st.sampled_from([None, 1, 2, 3])
#: Metrics that the naive reference defines.
NAMES = sorted(name for name in METRICS if name in reference.DEFINITIONS)


def evaluated(data: Frames) -> recnb.Evaluation:
    """Evaluate the frames under their options."""
    return recnb.evaluate(data.recs, data.relevance, **data.options)


@contextmanager
def taken() -> Iterator[None]:
    """Leave out a case that is refused."""
    try:
        yield
    except RecnbError:
        assume(False)


def defined_users(
    data: Frames, metric: str, options: dict[str, Any], k: int | None
) -> set[str]:
    """The users for whom a metric has something to find."""
    skipping = {**options, "no_relevant": "skip"}
    every = {**skipping, "averaged_users": "union"}
    return {*sentences.naive_values(data, metric, every, k)}


def hold(
    data: Frames,
    metric: str,
    line: sentences.Reading,
    k: int | None,
    *,
    value: float,
    per_user: dict[str, float] | None = None,
) -> None:
    """Work a number out by what the line says of it, and count its users."""
    said = dict(line.options)
    ideal_cut = said.pop("ideal_cut", None)
    if ideal_cut == "none":
        assert k is None or said["cutoff"] == "none"
    elif ideal_cut == "k":
        assert said.get("cutoff", "k") == "k"
    if said.pop("below_0", None):
        said["negative_relevance"] = "zero"
    said["no_relevant"] = "skip"
    for word in ("zero", "one"):
        if {"zero": "counts 0", "one": "counts 1"}[word] in line.counts:
            said["no_relevant"] = word
    values = sentences.naive_values(data, metric, said, k)
    mean = math.fsum(values.values()) / len(values)
    assert value == pytest.approx(mean, abs=1e-9)
    if per_user is not None:
        assert per_user == pytest.approx(values, abs=1e-9)
    counts = naive_counts(data, said, defined_users(data, metric, said, k))
    assert line.counts == counts
    assert line.counts["users"] == len(values)


@settings(max_examples=examples(800), suppress_health_check=SLOW)
@given(frames(), st.data())
def test_a_score_follows_from_the_line_below_it(data: Frames, draw: Any) -> None:
    """Users, those who count 0 or 1, ties, relevance, cut-off, gain and the rest."""
    metric, k = draw.draw(st.sampled_from(NAMES)), draw.draw(CUTOFFS)
    options = draw.draw(metric_options(METRICS[metric]))
    with taken():
        score = getattr(evaluated(data), metric)(k=k, **options)
    line = read(score.basis)
    hold(data, metric, line, k, value=float(score), per_user=score.per_user.to_dict())


def test_of_an_ideal_of_k_items_a_user_without_a_list_counts_0() -> None:
    """Without a cut-off k is the length of the list, which `judged_only` may empty."""
    data = Frames(
        lists={"ann": [("a", 0.0)], "ben": [("c", 1.0)]},
        truth={"ann": {"a": 3.0}, "ben": {"b": 1.0, "d": -1.0}},
        options={
            "relevant": "any",
            "judged_only": True,
            "negative_relevance": "zero",
            "averaged_users": "truth",
            "no_relevant": "skip",
        },
    )
    score = evaluated(data).ndcg(ideal="k")
    per_user = score.per_user.to_dict()
    assert per_user == {"ann": 1, "ben": 0}
    hold(data, "ndcg", read(score.basis), None, value=float(score), per_user=per_user)


LIBRARIES = list(dict.fromkeys(library for library, _variant in presets.presets()))


@settings(max_examples=examples(400), suppress_health_check=SLOW)
@given(frames(plain=True), st.sampled_from(LIBRARIES), st.data())
def test_a_number_by_a_librarys_conventions_follows_from_its_line(
    data: Frames, library: str, draw: Any
) -> None:
    metric, k = draw.draw(st.sampled_from(NAMES)), draw.draw(CUTOFFS)
    with taken():
        under = recnb.evaluate(
            data.recs, data.relevance, convention=library, **data.options
        )
        score = getattr(under, metric)(k=k)
    line = read(score.basis)
    assert line.library == library.casefold(), score.basis
    recorded = [one.metric for one in presets.of_library(library)]
    assert line.is_own or metric in recorded or metric in ("f1", "fbeta")
    hold(data, metric, line, k, value=float(score), per_user=score.per_user.to_dict())


SOME = st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4)
SOME_WITH_NDCG = SOME.map(lambda names: [*dict.fromkeys([*names, "ndcg"])])
SEVERAL_K = st.sampled_from([(1,), (2,), (1, 3), (None,), (1, None)])


@settings(max_examples=examples(300), suppress_health_check=SLOW)
@given(frames(), SOME_WITH_NDCG, SEVERAL_K)
def test_every_number_of_a_table_follows_from_the_line_below_it(
    data: Frames, metrics: list[str], cutoffs: tuple[int | None, ...]
) -> None:
    with taken():
        table = evaluated(data).table(metrics, k=[*cutoffs])
    for metric in metrics:
        for k, value in zip(cutoffs, table.loc[metric], strict=True):
            symbol = METRICS[metric].symbol
            line = read(table.attrs["basis"], symbol, is_whole=k is None)
            hold(data, metric, line, k, value=value)


# Comparisons


@st.composite
def compared(draw: st.DrawFn) -> tuple[dict[str, Frames], recnb.Comparison]:
    """Two or three models with lists of their own and one truth, compared."""
    first = draw(frames())
    assume(first.options.get("relevant", ">0") == ">0")
    models = {"one": first}
    for name in ("two", "three")[: draw(st.integers(1, 2))]:
        models[name] = replace(draw(frames()), truth=first.truth, options=first.options)
    lists = {name: data.recs for name, data in models.items()}
    with taken():
        found = recnb.compare(lists, first.relevance, **first.options)
    return models, found


def counted(models: dict[str, Frames]) -> dict[str, int]:
    """Count naively what the line of a comparison counts, under the names that
    `line_of_models` reads.
    """
    options = next(iter(models.values())).options
    evaluated = {name: evaluated_users(data) for name, data in models.items()}
    common = set.intersection(*evaluated.values())
    counts = {"users": len(common)}
    unlisted_of = {}
    for name, data in models.items():
        here = sentences.as_read(data, options)
        nothing = {
            user
            for user in {*data.lists, *data.truth}
            if sentences.has_nothing_to_find(data, user, options)
        }
        counts_1 = nothing if options["no_relevant"] == "one" else set()
        unlisted = {user for user in common if user not in here.lists}
        if options.get("candidates") == "padded":
            unlisted -= {*data.truth}
        unlisted_of[name] = unlisted - counts_1
        of_model = {
            "not judged in every other": len(evaluated[name] - common),
            "without": len(unlisted - counts_1),
            f"no relevant, counts {len(counts_1 and [1])}": len(nothing & common),
            "no relevant, left out": len(nothing - evaluated[name]),
        }
        for what, n in of_model.items():
            if n:
                counts[f"{what} ({name})"] = n
    first, *others = unlisted_of.values()
    is_alike = all(unlisted == first for unlisted in others)
    if first and not is_alike and len({*map(len, unlisted_of.values())}) == 1:
        counts["as many, and others, without"] = len(first)
    return counts


def evaluated_users(data: Frames) -> set[str]:
    """The users of one model who are averaged."""
    users = {*sentences.averaged_users(data, data.options)}
    if data.options["no_relevant"] != "skip":
        return users
    return {
        user
        for user in users
        if not sentences.has_nothing_to_find(data, user, data.options)
    }


#: Clauses of one model or of each, and what they count.
OF_MODELS = {
    r"(\d+) users? of (\w+) left out, not judged in every other model": (
        "not judged in every other"
    ),
    r"(?:([\w, ]+): )?(\d+) of them without a (?:list|judged item in a list), which counts 0": (
        "without"
    ),
    r"(?:([\w, ]+): )?(\d+) of them with no relevant item, which counts 0": (
        "no relevant, counts 0"
    ),
    r"(?:([\w, ]+): )?(\d+) of them with no relevant item, which counts 1": (
        "no relevant, counts 1"
    ),
    r"(?:([\w, ]+): )?(\d+) left out, (?:with no relevant item|without judgements)": (
        "no relevant, left out"
    ),
}


def line_of_models(basis: str, names: list[str]) -> dict[str, int]:
    """Read the counts of users off the line of a comparison."""
    counts = dict[str, int]()
    for clause in basis.split("; "):
        in_each = re.fullmatch(r"in each model ((\d+) of them without .+)", clause)
        if in_each:
            counts["as many, and others, without"] = int(in_each[2])
            clause = in_each[1]
        users = re.fullmatch(
            r"(\d+) users? that (?:both|all (\d+)) models are judged on", clause
        )
        if users:
            counts["users"] = int(users[1])
            assert int(users[2] or 2) == len(names)
        of_some = clause.partition(": ")[0]
        in_clause = re.split(
            r"(?<=out, with no relevant item), |(?<=judgements), |(?<=counts [01]), ",
            clause,
        )
        for part in in_clause:
            named = part if part == in_clause[0] else f"{of_some}: {part}"
            for words, what in OF_MODELS.items():
                said = re.fullmatch(words, named)
                if said:
                    (n,) = [int(one) for one in said.groups() if one and one.isdigit()]
                    some = [one for one in said.groups() if one and not one.isdigit()]
                    for name in some[0].split(", ") if some else names:
                        counts[f"{what} ({name})"] = n
    return counts


@settings(max_examples=examples(500), suppress_health_check=SLOW)
@given(compared())
def test_the_line_of_a_comparison_counts_the_users_of_each_model(
    compared: tuple[dict[str, Frames], recnb.Comparison],
) -> None:
    models, found = compared
    assert line_of_models(found.basis, [*models]) == counted(models)


# Reports


def shares_of_finders(
    data: Frames, users: set[str], options: dict[str, Any], k: int
) -> float:
    """The share of users who have a relevant item among their first k: the mean over
    equally likely orders.
    """
    counting = {**options, "no_relevant": "zero", "averaged_users": "union"}
    values = sentences.naive_values(data, "hit_rate", counting, k)
    return math.fsum(values[user] for user in users) / len(users)


def is_share_of(percentage: str, rate: float) -> None:
    """Hold a printed percentage against a share: 0 and 100 are said of none and all."""
    decimals = len(percentage.partition(".")[2])
    assert float(percentage) == pytest.approx(
        100 * rate, abs=0.5 * 10**-decimals + 1e-9
    )
    if 1e-9 < rate < 1 - 1e-9:
        assert 0 < float(percentage) < 100


def hold_finders(
    headline: re.Match[str] | None, models: dict[str, Frames], k: int
) -> None:
    """Hold what a report says of who finds anything, whose groups are `n` users, `k`
    and the `shares` of the models.
    """
    users = set.intersection(*map(evaluated_users, models.values()))
    options = next(iter(models.values())).options
    is_said = len(users) > 1 and options.get("no_relevant") != "one"
    assert (headline is not None) == is_said
    if headline is None:
        return
    assert (int(headline["n"]), int(headline["k"])) == (len(users), k)
    shares = re.findall(r"([\d.]+)%(?: with (\w+))?", headline["shares"])
    assert sorted(name for _share, name in shares) == sorted(models)
    for share, name in shares:
        is_share_of(share, shares_of_finders(models[name], users, options, k))


@settings(max_examples=examples(160), suppress_health_check=SLOW)
@given(frames(), st.sampled_from([(1,), (2,), (1, 3)]))
def test_a_report_of_one_model_says_who_finds_anything(
    data: Frames, cutoffs: tuple[int, ...]
) -> None:
    assume(data.options.get("relevant", ">0") == ">0")
    with taken():
        report = evaluated(data).report(k=[*cutoffs], metrics=["ndcg", "recall"])
    text = " ".join(repr(report).split())
    users, k = evaluated_users(data), cutoffs[len(cutoffs) // 2]
    assert f"over {len(users)} user{'s' * (len(users) > 1)}" in text
    headline = re.search(
        r"(?P<shares>[\d.]+%) of (?P<n>\d+) users find at least one relevant item among "
        r"their first (?P<k>\d+)\.",
        text,
    )
    hold_finders(headline, {"": data}, k)
    lead = re.match(r"nDCG@(\d+) = ([\d.]+) \((?:95% interval )?.*? · (\d+) user", text)
    assert lead is not None
    assert (int(lead[1]), int(lead[3])) == (k, len(users))
    means = {(mean.metric, mean.k): mean.mean for mean in report.means}
    assert float(lead[2]) == pytest.approx(means["ndcg", k], abs=5.1e-5)
    for metric, symbol in (("ndcg", "nDCG"), ("recall", "Recall")):
        line = read(report._data.basis, symbol)
        hold(data, metric, line, cutoffs[-1], value=means[metric, cutoffs[-1]])


@settings(max_examples=examples(100), suppress_health_check=SLOW)
@given(compared(), st.sampled_from([1, 2]))
def test_a_report_of_several_models_says_who_finds_anything(
    compared: tuple[dict[str, Frames], recnb.Comparison], k: int
) -> None:
    models, found = compared
    text = " ".join(repr(found.report(k=[k], metrics=["ndcg"])).split())
    headline = re.search(
        r"Share of (?P<n>\d+) users with at least one relevant item among their "
        r"first (?P<k>\d+): (?P<shares>(?:[\d.]+% with \w+(?:, )?)+)\.",
        text,
    )
    hold_finders(headline, models, k)


# Conclusions

LABELS = {"ndcg": "nDCG", "recall": "Recall", "hit_rate": "HR"}


def models_at_random(seed: int) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Two or three models for 12 to 30 users, of which one is often better."""
    rng = np.random.default_rng(seed)
    n_users, n_models = int(rng.integers(12, 31)), int(rng.integers(2, 4))
    truth = pd.DataFrame(
        [
            (user, int(item), 1)
            for user in range(n_users)
            for item in rng.permutation(8)[:3]
        ],
        columns=["user", "item", "relevance"],
    )
    relevant = {*zip(truth.user, truth.item, strict=True)}
    models = {}
    for name in ("one", "two", "three")[:n_models]:
        skill = rng.choice([0.0, 0.0, 0.6, 3.0])
        models[name] = pd.DataFrame(
            [
                (user, item, rng.random() + skill * ((user, item) in relevant))
                for user in range(n_users)
                for item in range(8)
            ],
            columns=["user", "item", "score"],
        )
    return models, truth


@settings(max_examples=examples(60), suppress_health_check=SLOW, deadline=None)
@given(
    st.integers(0, 2**31),
    st.sampled_from([0.95, 0.9]),
    st.sampled_from([("ndcg",), ("ndcg", "recall"), ("hit_rate", "ndcg")]),
    st.sampled_from([(2,), (1, 3)]),
)
def test_conclusions_name_what_was_tested_and_how_it_was_corrected(
    seed: int,
    confidence: float,
    metrics: tuple[str, ...],
    cutoffs: tuple[int, ...],
) -> None:
    models, truth = models_at_random(seed)
    found = recnb.compare(models, truth, confidence=confidence).differences(
        [*metrics], k=[*cutoffs]
    )
    rows = found.to_frame()
    families = rows.groupby(["metric", "k"])
    assert len(families) == len(metrics) * len(cutoffs)
    for _of, family in families:
        assert len(family) == len(models) - 1
        corrected = holm(family["p"].to_numpy())
        assert family["p_holm"].to_list() == pytest.approx(corrected, nan_ok=True)
    n_tests = families["p"].transform("count")
    for row, n, sentence in zip(
        rows.to_dict("records"), n_tests, found.conclusions, strict=True
    ):
        assert sentence.startswith(f"{LABELS[row['metric']]}@{row['k']}")
        assert row["model"] in sentence
        assert row["baseline"] in sentence
        _hold_conclusion(row, sentence, n, confidence)
    n_tested = rows["p"].count()
    notes = " ".join(found.notes)
    assert "(Student's paired t test)" in notes
    if n_tested > 1:
        assert notes.startswith(f"{n_tested} comparisons are tested")
        assert f"any false finding in it at most {1 - confidence:g}." in notes
        looked_at = f"{len(families)} columns are looked at, and only "
        chosen = f"{LABELS[metrics[0]]}@{cutoffs[0]} is taken"
        assert (looked_at + chosen in notes) == (len(families) > 1)
    else:
        assert f"Comparisons tested: {n_tested} (" in notes


def _hold_conclusion(
    row: dict[str, Any],
    sentence: str,
    n: int,
    confidence: float,
) -> None:
    """Hold one conclusion against its row; `n` tests are corrected together."""
    is_found = (
        not math.isnan(row["p_holm"])
        and row["p_holm"] <= 1 - confidence + 1e-12
        and (row["low"] > 0 or row["high"] < 0)
    )
    word = "better" if row["difference"] > 0 else "worse"
    assert (f" is {word} than " in sentence) == is_found
    if math.isnan(row["p"]):
        users = f"{row['n_users']} users"
        assert users in sentence
        return
    corrected = re.search(
        r"p (?:= )?(< 0\.0001|[\d.]+(?:e-\d+)?)(?:, Holm's correction over (\d+) comparisons)?",
        sentence,
    )
    assert corrected is not None
    if corrected[1] != "< 0.0001":
        assert float(corrected[1].rstrip(".")) == pytest.approx(
            row["p_holm"], abs=0.0051
        )
    else:
        assert row["p_holm"] < 0.0001
    assert int(corrected[2] or 1) == n
    end = r"(-?[\d.]+(?:e-\d+)?)"
    interval = re.search(rf"([\d.]+)% interval {end} to {end}", sentence)
    assert interval is not None
    assert float(interval[1]) == 100 * confidence
    ends = sorted(float(end.rstrip(".")) for end in interval.groups()[1:])
    flipped = is_found and row["difference"] < 0
    wanted = [-row["high"], -row["low"]] if flipped else [row["low"], row["high"]]
    assert ends == pytest.approx(wanted, abs=5.1e-5)


# Weights


@settings(max_examples=examples(120), suppress_health_check=SLOW, deadline=None)
@given(frames(plain=True), st.data(), st.sampled_from(["skip", "zero"]))
def test_the_line_says_how_users_and_pairs_weigh(
    data: Frames, draw: Any, no_relevant: str
) -> None:
    """Users from the lightest to the heaviest of those averaged, and as many of equal
    weight as vary as little in their mean; pairs likewise.
    """
    options = {**data.options, "no_relevant": no_relevant}
    data = replace(data, options=options)
    weight, propensity = st.sampled_from([1, 2, 5]), st.sampled_from([0.1, 0.25, 1])
    of_user = {user: draw.draw(weight) for user in sentences.USERS}
    of_item = {item: draw.draw(propensity) for item in sentences.ITEMS}
    with taken():
        score = recnb.evaluate(
            data.recs,
            data.relevance,
            user_weight=pd.Series(of_user),
            propensity=pd.Series(of_item),
            **options,
        ).recall(k=2)
    users = evaluated_users(data)
    pairs = [
        1 / of_item[item]
        for user in users
        for item, grade in data.truth.get(user, {}).items()
        if grade > 0
    ]
    said = re.search(
        r"users weigh from (\S+) to (\S+) of the heaviest: the (\d+) users count as "
        r"(\d+) of equal weight",
        score.basis,
    )
    top = max(of_user.values())
    _hold_weights(said, [of_user[user] / top for user in users])
    said = re.search(
        r"relevant pairs weigh 1 / propensity, from (\S+) to (\S+): the (\d+) pairs "
        r"count as (\d+) of equal weight",
        score.basis,
    )
    _hold_weights(said, pairs)
    assert f"{len(users)} user" in score.basis
    assert len(score.per_user) == len(users)


def _hold_weights(said: re.Match[str] | None, weights: list[float]) -> None:
    """Hold the ends, the number and the effective number of some weights."""
    assert said is not None
    low, high, n, n_equal = map(float, said.groups())
    assert low == pytest.approx(min(weights), rel=6e-3)
    assert high == pytest.approx(max(weights), rel=6e-3)
    assert n == len(weights)
    squares = math.fsum(weight**2 for weight in weights)
    assert n_equal == pytest.approx(math.fsum(weights) ** 2 / squares, abs=0.5 + 1e-9)
