"""The join, each way of doing it: against plain loops under each decision, and against
the answers of an older join.
"""

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings

import recnb
from recnb.conventions import WORDS, Convention
from recnb.data import ids, join, ranking
from recnb.data.in_memory import InMemory
from recnb.data.names import RECS, TRUTH
from recnb.data.role_table import RoleTable
from recnb.data.truth import GradedTruth
from recnb.errors import FrameError, OptionError
from tests.examples import examples
from tests.random_frames import random_frames
from tests.rows import read_rows
from tests.tools.attack.cases import cases
from tests.tools.attack.check import check
from tests.tools.attack.kinds import SCORES

ROWS = read_rows("data/joins.toml")
RECORDED = Path(__file__).parent.parent / "recorded/joins.json.gz"
#: The ways to join: how many rows are few for a search.
WAYS = {"a search": 10**9, "a join": -1}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch) -> Iterator[str]:
    """Force one of the ways to join, whatever the number of rows."""
    few_wanted = WAYS[request.param]
    monkeypatch.setattr(ids, "FEW_IDS", few_wanted)
    monkeypatch.setattr(ids, "FEW_WANTED", few_wanted)
    return request.param


# ---- plain loops


@pytest.mark.thin
@pytest.mark.parametrize("options", ROWS["decisions"], ids=str)
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_each_decision_gives_what_loops_give(options, way, case):
    assume(
        "nonpositive_scores" not in options or SCORES[case.scores].family == "floats"
    )  # a date is not below 0
    column = "rank" if options.get("order") == "rank" else "score"
    check(replace(case, options=options, columns=(column,), way="polars"))


# ---- recorded joins


def recorded_joins():
    """Read the joins, of which `tests/recorded/README.md` says what is recorded.

    A repeated pair of the truth is refused or merged before the join.
    """
    with gzip.open(RECORDED) as file:
        cases = json.load(file)
    return [case for case in cases if not truth_of(case).repeats_a_pair]


def truth_of(case):
    """Return the truth of a recorded join."""
    has_marks = Convention(**case["convention"]).below_0_leaves_lists
    return GradedTruth(pl.DataFrame(case["truth"]), has_marks=has_marks)


JOINS = recorded_joins()


def hold(case):
    """Hold a join against the recorded one."""
    lists = RoleTable(RECS, pl.DataFrame(case["recs"]), {})
    truth = truth_of(case)
    convention = Convention(**case["convention"])
    if case["result"] == "refused":
        with pytest.raises((FrameError, OptionError)):
            join.join(lists, truth, convention)
        return
    got, rows = join.join(lists, truth, convention)
    want = dict(case["result"])
    hits, tied = want.pop("hits"), want.pop("tied")
    rank = ranking.rank_of_rows(lists, truth, convention)
    assert rank.tolist() == want.pop("rank")
    assert got.hits.max_relevance == want.pop("max_relevance")
    assert {name: getattr(got.hits, name).tolist() for name in hits} == hits
    for name, values in (tied or {}).items():
        assert getattr(got.hits.tied, name) == pytest.approx(values)
    assert (got.hits.tied is None) == (tied is None)
    assert rows.n_users - got.n_with_relevant == want.pop("n_without_relevant")
    assert rows.frame_row_of_entry.tolist() == want.pop("frame_row_of_entry")
    for name, value in want.items():
        result = getattr(got, name)
        assert (result if isinstance(result, int) else [*result]) == value


@pytest.mark.thin
@pytest.mark.parametrize("case", JOINS, ids=lambda case: "")
def test_recorded_joins_are_as_they_were(case, way):
    hold(case)


@pytest.mark.thin
@pytest.mark.parametrize("bits", [0, 2, 8])
def test_pairs_whose_hashes_are_the_same_are_told_apart(bits, way, monkeypatch):
    """At first every hash has a few bits, or none: rows are compared by value."""
    hash_rows = pl.DataFrame.hash_rows

    def with_few_bits(table, seed=0):
        hashes = hash_rows(table, seed)
        return hashes if seed else hashes % 2**bits

    monkeypatch.setattr(pl.DataFrame, "hash_rows", with_few_bits)
    for case in JOINS:
        hold(case)


@pytest.mark.thin
@pytest.mark.parametrize("ties", ["first", "last"])
def test_equal_scores_keep_the_order_of_rows(ties, way):
    """Of 200,000 rows with two scores, in any order; the truth has every second user."""
    rng = np.random.default_rng(5)
    n_users, n_items = 2000, 100
    user = rng.permutation(np.repeat(np.arange(n_users), n_items))
    item = np.empty_like(user)
    item[np.argsort(user, kind="stable")] = np.tile(np.arange(n_items), n_users)
    score = rng.integers(0, 2, len(user)) * 1.0
    recs = pl.DataFrame({"user": user, "item": item, "score": score})
    truth = pl.DataFrame({"user": range(0, n_users, 2), "item": 7})
    hits = recnb.evaluate(recs, truth, ties=ties).hits()
    row = np.arange(len(user)) * (1 if ties == "first" else -1)
    order = np.lexsort((row, -score, user))
    place = np.flatnonzero((item[order] == 7) & (user[order] % 2 == 0))
    assert hits.user.tolist() == (user[order][place] // 2).tolist()
    assert hits.rank.tolist() == (place % n_items + 1).tolist()


def test_zero_and_minus_zero_are_equal_scores(way):
    recs = pl.DataFrame({"user": 1, "item": [1, 2, 3], "score": [-0.0, 0.0, -0.0]})
    assert recnb.evaluate(recs, {1: [2]}).mrr() == 1 / 2


# ---- what repeats

PAIR_TWICE = "recommendations: pairs of user and item are repeated"


def lists_and_truth(items, **columns):
    recs = pl.DataFrame({"user": "u", "item": list(items), **columns})
    return recs, pl.DataFrame({"user": "u", "item": ["a", "c"]})


@pytest.mark.parametrize("row", ROWS["by_rank"].values(), ids=ROWS["by_rank"])
def test_what_repeats_by_rank_is_refused_where_a_number_could_change(row, way):
    items, ranks, message = row
    frames = lists_and_truth(items, rank=ranks)
    if not message:
        assert recnb.evaluate(*frames).average_precision(k=4) == (1 + 2 / 4) / 2
        return
    with pytest.raises(FrameError, match=message):
        recnb.evaluate(*frames).ndcg(k=2)


@pytest.mark.parametrize("items", ["axxc", "axa"])
@pytest.mark.parametrize("order", ["score", "row"])
def test_an_item_twice_is_refused_where_it_moves_what_is_below(items, order, way):
    frames = lists_and_truth(items, score=[*range(len(items), 0, -1)])
    with pytest.raises(FrameError, match=PAIR_TWICE):
        recnb.evaluate(*frames, order=order)


def test_metrics_of_whole_lists_refuse_an_item_that_is_not_judged_twice():
    ev = recnb.evaluate(*lists_and_truth("axxc", rank=[1, 2, 3, 4]))
    overlap = recnb.compare({"one": ev, "other": ev}).overlap
    for metric in (ev.coverage, ev.novelty, ev.gini, ev.personalization, overlap):
        with pytest.raises(FrameError, match=PAIR_TWICE):
            metric(k=4)


@pytest.mark.parametrize("truth_users", ["truth", "both"])
@pytest.mark.parametrize(
    ("column", "values"), [("rank", [1, 1, 2]), ("score", [3] * 3)]
)
def test_what_repeats_in_a_list_that_does_not_count_is_seen_by_no_number(
    column, values, truth_users, way
):
    recs, truth = lists_and_truth("abc", **{column: [1, 2, 3]})
    others = pl.DataFrame({"user": "v", "item": ["a", "a", "b"], column: values})
    recs = pl.concat([recs, *[others.with_columns(user=pl.lit(v)) for v in "vwx"]])
    ev = recnb.evaluate(recs, truth, averaged_users=truth_users)
    assert ev.recall(k=3) == 1
    assert (ev.joined.n_without_relevant, ev.joined.has_gaps) == (3, False)
    for metric in (ev.personalization, ev.entropy):
        with pytest.raises(FrameError, match=r"twice|repeated"):
            metric(k=3)
    with pytest.raises(FrameError, match=r"twice|repeated"):
        recnb.evaluate(recs, truth, averaged_users="recs")


def test_lint_finds_an_item_that_is_not_judged_twice():
    ev = recnb.evaluate(*lists_and_truth("axxc", rank=[1, 2, 3, 4]))
    (finding,) = [one for one in ev.lint() if one.name == "duplicates"]
    assert (finding.severity, finding.n) == ("warning", 1)
    assert "items that nobody judged keep each of their ranks" in str(finding)


@pytest.mark.parametrize("candidates", WORDS["candidates"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_gaps_of_ranks_are_counted(shuffled, candidates):
    recs, truth = random_frames(np.random.default_rng(7), 15)
    recs = recs.drop(columns="score").assign(
        rank=recs.groupby("user").cumcount() * 2 + 1
    )
    several = int((recs.groupby("user").size() > 1).sum())
    recs = recs.sample(frac=1, random_state=1) if shuffled else recs

    def n_gaps(recs, **options):
        ev = recnb.evaluate(recs, truth, candidates=candidates, **options)
        return ev.counts.n_gaps

    assert n_gaps(recs) == several
    assert n_gaps(recs, duplicates="dedupe") == 0
    without_gaps = recs.assign(rank=(recs["rank"] + 1) // 2)
    assert n_gaps(without_gaps) == 0


@pytest.mark.parametrize(
    "candidates, n_relevant", [("list", 1), ("padded", 2), ("catalogue", 2)]
)
def test_a_row_of_the_truth_is_relevant_or_not(candidates, n_relevant):
    truth = {"u": {"a": 1, "b": 1, "c": 0}}
    ev = recnb.evaluate({"u": ["a"]}, truth, judged="list", candidates=candidates)
    assert ev.counts.n_relevant == n_relevant
    assert ev.counts.n_not_relevant == 3 - n_relevant


def test_some_users_joined_again_keep_the_scale_of_grades_of_all():
    lists = pl.DataFrame({"user": ["ann", "bob"], "item": ["a", "b"], "score": [1, 1]})
    judged = lists.select("user", "item", relevance=pl.Series([1, 3]))
    of_all = InMemory(RoleTable(RECS, lists, {}), RoleTable(TRUTH, judged, {}))
    of_ann = of_all.among(pl.Series(["ann"]))
    for source in (of_all, of_ann):
        assert source.under(Convention()).hits.max_relevance == 3


def test_users_in_common_whom_the_truth_lacks_are_joined_again():
    lists = {"a": {1: ["x"], 3: ["x"]}, "b": {1: ["x"], 4: ["x"]}}
    compared = recnb.compare(
        lists, {3: ["x"], 4: ["x"]}, averaged_users="recs", no_relevant="zero"
    )
    assert [*compared.users] == [1]
    assert compared["a"].measure("Bpref").per_user.to_dict() == {1: 0.0}


@pytest.mark.parametrize("ties", WORDS["ties"])
def test_padding_stands_below_scores_too_low_for_single_precision(ties):
    """Item a was added; it must not be tied with z, whose score is no float32."""
    recs = pd.DataFrame({"user": 1, "item": ["y", "z"], "score": [1.0, -1e39]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "z"], "relevance": [0, 1]})
    ev = recnb.evaluate(
        recs, truth, candidates="padded", score_dtype="float32", ties=ties
    )
    assert ev.reciprocal_rank() == 1 / 2


@pytest.mark.parametrize("g, m, above", [(300, 1, 0), (1000, 7, 1), (300, 300, 2)])
def test_large_runs_of_equal_scores(g, m, above):
    """Exact fractions say what a thousand tied items give; enumerating their orders
    could not.
    """
    items = [f"i{number}" for number in range(above + g)]
    recs = pd.DataFrame({"user": 1, "item": items, "score": [2.0] * above + [1.0] * g})
    truth = pd.DataFrame({"user": 1, "item": items[above : above + m]})
    ev = recnb.evaluate(recs, truth, ties="expected")
    first = [
        Fraction(math.comb(g - j, m - 1), math.comb(g, m)) for j in range(1, g + 1)
    ]
    for k in (1, 10, g // 2, above + g):
        inside = range(1, min(g, k - above) + 1)
        wanted = {
            "precision": Fraction(m * len(inside), g * k),
            "recall": Fraction(len(inside), g),
            "hit_rate": sum(first[: len(inside)], Fraction(0)),
            "reciprocal_rank": math.fsum(
                float(first[j - 1]) / (above + j) for j in inside
            ),
            "average_precision": math.fsum(
                (1 + (j - 1) * (m - 1) / (g - 1)) / (above + j) / g for j in inside
            ),
            "dcg": math.fsum(m / g / math.log2(above + j + 1) for j in inside),
        }
        for name, value in wanted.items():
            got = float(getattr(ev, name)(k=k))
            assert math.isfinite(got)
            assert got == pytest.approx(float(value), rel=1e-9, abs=1e-12), (name, k)


def texts(numbers):
    """Return ids of users as text."""
    return [f"user {number}" for number in numbers]


DRAWN = np.random.default_rng(1)
LOWEST, HIGHEST = -(2**63), 2**63 - 1
LOOKED_UP = [
    (texts([0]), texts(range(5))),
    (texts(DRAWN.permutation(1000)), texts(DRAWN.integers(0, 1300, 70_000))),
    *(
        ([low + 2, low, low + 3], [*range(low, low + 4), LOWEST, HIGHEST])
        for low in (LOWEST, -1, 0, HIGHEST - 3)
    ),
]


@pytest.mark.parametrize(("known", "wanted"), LOOKED_UP, ids=lambda one: "")
def test_ids_are_looked_up_as_a_dictionary_finds_them(known, wanted):
    places = {name: place for place, name in enumerate(known)}
    found = ids.positions(pl.Series(known), pl.Series(wanted))
    assert found.tolist() == [places.get(name, -1) for name in wanted]
