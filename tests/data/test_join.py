"""The join: small blocks, hashes that meet, places below a list, long runs of equal
scores, ids looked up; its numbers are held by the law of test_attack.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import recnb
from recnb.conventions import WORDS, Convention
from recnb.data import encoding, join, numbered, quirks
from recnb.data.in_memory import source_of
from recnb.data.sheet import RECS, TRUTH, Sheet
from recnb.errors import FrameError
from recnb.metrics.hits import Hits
from tests.examples import examples
from tests.random_frames import random_frames
from tests.tools.attack.cases import cases
from tests.tools.attack.check import check
from tests.tools.attack.kinds import SCORES


@settings(max_examples=examples(160), suppress_health_check=list(HealthCheck))
@given(
    cases(),
    st.sampled_from([0, 56, 62, 64]),
    st.sampled_from(["pandas", "polars", "streamed lazy"]),
)
def test_small_blocks_and_ids_whose_hashes_are_the_same(case, shift, way):
    """Frames are cut into blocks, which all cores share; hashes have a few bits, or are
    all equal.
    """
    hashes, kept = encoding.hashes_of, np.uint64(2 ** (64 - shift) - 1)
    with pytest.MonkeyPatch.context() as patched:
        for module in (encoding, join, numbered):
            patched.setattr(module, "BLOCK", 4)
        for module in (encoding, numbered):
            patched.setattr(
                module, "hashes_of", lambda values, seed=0: hashes(values, seed) & kept
            )
        check(replace(case, way=way))


#: Decisions one or two at a time, so that each is tried however few cases are drawn.
DECISIONS = [
    {"averaged_users": "recs", "no_relevant": "zero"},
    {"averaged_users": "both", "relevant": "!=0"},
    {"averaged_users": "union", "no_relevant": "one"},
    {"order": "row", "candidates": "padded", "duplicates": "rows"},
    {"ties": "last", "duplicates": "hit_once"},
    {"ties": "item_asc"},
    {"ties": "item_desc", "candidates": "padded"},
    {"ties": "worst", "judged": "list"},
    {"ties": "worst", "candidates": "padded", "duplicates": "keep"},
    {"ties": "max_rank", "duplicates": "keep"},
    {"ties": "floor_mean_rank"},
    {"ties": "floor_mean_rank", "candidates": "padded"},
    {"ties": "max_rank", "candidates": "catalogue", "duplicates": "rows"},
    {"candidates": "catalogue"},
    {"duplicates": "rows", "judged": "list", "no_relevant": "zero"},
    {"duplicates": "dedupe"},
    {"nonpositive_scores": "never_hit", "duplicates": "hit_once"},
    {"order": "rank", "duplicates": "keep", "candidates": "padded"},
    {"order": "rank", "duplicates": "dedupe"},
]


def test_lists_by_rank_close_up_where_repeats_leave_them():
    recs = pd.DataFrame({"user": 1, "item": ["a", "b", "a", "c"], "rank": [1, 2, 3, 4]})
    shown = recnb.evaluate(recs, {1: ["c"]}, duplicates="dedupe").user(1)
    assert shown[["rank", "item"]].to_numpy().tolist() == [[1, "a"], [2, "b"], [3, "c"]]


@pytest.mark.parametrize("options", DECISIONS, ids=str)
@settings(max_examples=examples(32), suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_each_decision_gives_what_loops_give(options, case):
    assume(
        "nonpositive_scores" not in options or SCORES[case.scores].family == "floats"
    )  # a date is not below 0
    column = "rank" if options.get("order") == "rank" else "score"
    check(replace(case, options=options, columns=(column,), way="polars"))


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


def test_some_users_joined_again_keep_the_scale_of_grades_of_all():
    lists = pl.DataFrame({"user": ["ann", "bob"], "item": ["a", "b"], "score": [1, 1]})
    judged = lists.select("user", "item", relevance=pl.Series([1, 3]))
    of_all = source_of(Sheet(RECS, lists, {}), Sheet(TRUTH, judged, {}))
    of_ann = of_all.among(pl.Series(["ann"]))
    for source in (of_all, of_ann):
        assert source.under(Convention()).all_hits.max_relevance == 3


@pytest.mark.parametrize("users", WORDS["averaged_users"])
def test_no_user_in_common_is_refused_whoever_counts(users):
    recs, truth = (
        pl.DataFrame({"user": [1, 2], "item": [10, 11], "rank": [1, 1]}),
        pl.DataFrame({"user": [3], "item": [10]}),
    )
    for more in (
        {},
        {"candidates": "padded"},
        {"judged": "list"},
        {"no_relevant": "zero"},
        {"no_relevant": "one"},
    ):
        with pytest.raises(
            FrameError, match=r"no user is in both frames.*such as 1.*such as 3"
        ):
            recnb.evaluate(recs, truth, averaged_users=users, **more)


@pytest.mark.parametrize(
    "options",
    [{}, {"ties": "worst"}, {"candidates": "padded"}, {"duplicates": "rows"}],
    ids=str,
)
def test_ranks_given_twice_are_refused_whatever_the_other_options(options):
    recs = pl.DataFrame(
        {"user": 1, "item": [10, 11], "rank": [1, 1], "score": [0.1, 0.2]}
    )
    with pytest.raises(FrameError, match="user 1 has 10 and 11 at rank 1"):
        recnb.evaluate(recs, recs[["user", "item"]], order="rank", **options)


@pytest.mark.parametrize("ties", WORDS["ties"])
def test_padding_stands_below_scores_too_low_for_single_precision(ties):
    """Item a was added; it must not be tied with z, whose score is no float32."""
    recs = pd.DataFrame({"user": 1, "item": ["y", "z"], "score": [1.0, -1e39]})
    truth = pd.DataFrame({"user": 1, "item": ["a", "z"], "relevance": [0, 1]})
    ev = recnb.evaluate(
        recs, truth, candidates="padded", score_dtype="float32", ties=ties
    )
    assert ev.reciprocal_rank() == 1 / 2


@pytest.mark.parametrize(
    "ranks, duplicates, place",
    [
        ([1, 2], "error", 4),
        ([1, 7], "error", 9),
        ([1, 2, 3], "keep", 5),
        ([1, 3, 7], "hit_once", 9),
    ],
)
def test_the_catalogue_stands_below_empty_places_and_repeats(ranks, duplicates, place):
    """Items a and b in a list, once or twice; c and d of the catalogue follow it."""
    recs = pd.DataFrame(
        {"user": 1, "item": ["b", "a", "a"][: len(ranks)], "rank": ranks}
    )
    truth = pd.DataFrame({"user": 1, "item": ["c", "d"], "relevance": [0, 1]})
    for ties in ("first", "max_rank"):
        ev = recnb.evaluate(
            recs, truth, candidates="catalogue", duplicates=duplicates, ties=ties
        )
        assert ev.reciprocal_rank() == 1 / place
        assert ev.precision() == 1 / place


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


@pytest.mark.parametrize(("n_known", "n_values"), [(1, 5), (3, 100), (1_000, 70_000)])
def test_texts_are_looked_up_as_a_dictionary_finds_them(n_known, n_values):
    rng = np.random.default_rng(n_known)
    known = pl.Series([f"user {number}" for number in rng.permutation(n_known)])
    values = pl.Series(
        [
            f"user {number}"
            for number in rng.integers(0, int(n_known * 1.3) + 1, n_values)
        ]
    )
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [
        places.get(name, -1) for name in values
    ]


@pytest.mark.parametrize("low", [-(2**63), -1, 0, 2**63 - 4])
def test_whole_numbers_are_looked_up_at_both_ends_of_their_range(low):
    known = pl.Series([low + 2, low, low + 3])
    values = pl.Series([low, low + 1, low + 2, low + 3, -(2**63), 2**63 - 1])
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [
        places.get(name, -1) for name in values
    ]


@pytest.mark.parametrize("side", ["lists", "truth"])
def test_items_of_one_side_alone_whose_hashes_are_the_same(side, monkeypatch):
    for module in (encoding, numbered):
        monkeypatch.setattr(
            module,
            "hashes_of",
            lambda values, seed=0: np.zeros(len(values), dtype=np.uint64),
        )
    recs, truth = {"ann": ["a"]}, {"ann": ["a"]}
    (recs if side == "lists" else truth)["bob"] = ["x", "y"]
    assert (
        recnb.evaluate(
            recs, truth, averaged_users="union", no_relevant="zero"
        ).hit_rate(k=1)
        == 0.5
    )


def test_pairs_are_found_as_in_the_drawing():
    listed_item = np.arange(10, dtype=np.uint64)
    listed_item[7] = listed_item[3]
    listed_item[9] = listed_item[4]
    lists = numbered.ListedRows(
        frame_row=slice(0, 10),
        user=np.zeros(10, dtype=np.int64),
        item=listed_item,
        score=-np.arange(10.0),
        given_rank=None,
        n_users=1,
        n_recommended=10,
    )
    truth = numbered.TruthRows(
        frame_row=np.arange(5),
        user=np.zeros(5, dtype=np.int64),
        frame_item=np.array([20, 21, 4, 21, 5], dtype=np.uint64),
        relevance=np.ones(5),
        n_rows=np.array([5]),
    )
    pairs = join.find_pairs(lists, truth)
    assert pairs.judged_row.tolist() == [4, 5, 9]
    assert pairs.judging_row.tolist() == [2, 4, 2]
    assert pairs.repeated_row.tolist() == [3, 4, 7, 9]
    first, second, first_again, second_again = pairs.repeated_pair
    assert first == first_again != second == second_again
    assert pairs.truth_repeats


def test_ties_are_spread_as_in_the_drawing():
    hits = Hits(
        user=np.array([0, 0, 0]),
        rank=np.array([1, 2, 3]),
        list_length=np.array([4]),
        relevance=np.ones(3),
        entry=np.array([0, 1, 2]),
        truth_user=np.zeros(3, dtype=np.int64),
        truth_relevance=np.ones(3),
        max_relevance=1.0,
    )
    above, tied = np.array([0, 1, 1]), np.array([1, 3, 3])
    spread = quirks.average_over_ties(hits, above, tied)
    rows = zip(
        spread.entry,
        spread.rank,
        spread.tied.weight,
        spread.tied.nth,
        spread.tied.first,
        spread.tied.top,
        strict=True,
    )
    third = 1 / 3
    assert sorted(rows) == [
        (0, 1, 1, 1, 1, True),
        (1, 2, third, 2, 0, True),
        (1, 3, third, 2.5, 0, False),
        (1, 4, third, 3, 0, False),
        (2, 2, third, 2, 0, True),
        (2, 3, third, 2.5, 0, False),
        (2, 4, third, 3, 0, False),
    ]


@pytest.mark.parametrize("item, place", [("c", 4), ("e", 5), ("a", 3)])
def test_items_are_ranked_below_a_list_as_in_the_drawing(item, place):
    recs = {"ann": ["d", "b"], "bob": ["a", "b", "c", "d", "e"]}
    ev = recnb.evaluate(recs, {"ann": [item]}, candidates="catalogue")
    assert ev.reciprocal_rank() == 1 / place
