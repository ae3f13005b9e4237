"""Sentences are laws: the line below a number, the headline of a report and what is
concluded of a difference say what plain counts and loops say, on any small frames under
any options.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import recnb
from recnb import METRICS
from recnb.conventions import presets
from recnb.errors import RecnbError
from tests import reference, sentences
from tests.examples import examples
from tests.sentences import Frames, frames, metric_options, naive_counts, read

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]
CUTOFFS = st.sampled_from([None, 1, 2, 3])
#: Metrics that the naive reference defines.
NAMES = sorted(name for name in METRICS if name in reference.DEFINITIONS)


def evaluated(data: Frames) -> recnb.Evaluation:
    """Evaluate the frames under their options."""
    return recnb.evaluate(data.recs, data.relevance, **data.options)


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
    if "cutoff" not in said:
        # Of whole lists it is said where the ideal is cut, and nothing else.
        said["cutoff"] = "k" if k is not None else "list"
    if ideal_cut == "k, whole lists at the list's length":
        assert said["cutoff"] in ("k", "list")
    elif ideal_cut is not None and said["ideal"] == "relevant":
        assert ideal_cut == said["cutoff"], ideal_cut
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
    try:
        score = getattr(evaluated(data), metric)(k=k, **options)
    except RecnbError:
        assume(False)
    line = read(score.basis)
    hold(data, metric, line, k, value=float(score), per_user=score.per_user.to_dict())


LIBRARIES = list(dict.fromkeys(library for library, _variant in presets.presets()))


@settings(max_examples=examples(400), suppress_health_check=SLOW)
@given(frames(plain=True), st.sampled_from(LIBRARIES), st.data())
def test_a_number_by_a_librarys_conventions_follows_from_its_line(
    data: Frames, library: str, draw: Any
) -> None:
    metric, k = draw.draw(st.sampled_from(NAMES)), draw.draw(CUTOFFS)
    try:
        under = recnb.evaluate(
            data.recs, data.relevance, convention=library, **data.options
        )
        score = getattr(under, metric)(k=k)
    except RecnbError:
        assume(False)
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
    try:
        table = evaluated(data).table(metrics, k=[*cutoffs])
    except RecnbError:
        assume(False)
    for metric in metrics:
        for k, value in zip(cutoffs, table.loc[metric], strict=True):
            hold(data, metric, read(table.attrs["basis"], metric), k, value=value)
