"""The join, held against plain loops on random tables under random conventions, each way
of doing it on the same tables, and against the answers of an older join.
"""

import gzip
import json
import math
import types
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
from recnb.data import ids, join, matches, rules
from recnb.data.in_memory import source_of
from recnb.data.matches import GradedTruth
from recnb.data.names import RECS, TRUTH
from recnb.data.role_table import RoleTable
from recnb.errors import FrameError, OptionError
from recnb.metrics.hits import Hits
from tests.data.naive_join import NaiveJoin, RepeatedError, naive_join
from tests.examples import examples
from tests.random_frames import random_frames
from tests.rows import read_rows
from tests.tools.attack.cases import cases
from tests.tools.attack.check import check
from tests.tools.attack.kinds import SCORES

ROWS = read_rows("data/joins.toml")
RECORDED = Path(__file__).parent.parent / "recorded/joins.json.gz"
#: The ways to join: how many rows are few for a search, and few for numpy.
WAYS = {
    "a search": (10**9, 10**9),
    "a join": (-1, 10**9),
    "a query": (-1, -1),
}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch) -> Iterator[str]:
    """Force one of the ways to join, whatever the number of rows."""
    few_wanted, few_rows = WAYS[request.param]
    monkeypatch.setattr(ids, "FEW_IDS", few_wanted)
    monkeypatch.setattr(ids, "FEW_WANTED", few_wanted)
    monkeypatch.setattr(join, "FEW_ROWS", few_rows)
    return request.param


# ---- random tables


def drawn_tables(rng) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw lists and a truth of a few users and items, some rows of which repeat."""
    n_users, n_items = rng.integers(1, 7), rng.integers(2, 9)
    is_text = rng.random() < 0.5

    def table(n_rows, more_users=0):
        columns = {}
        highest = {"user": n_users + more_users, "item": n_items}
        for name, n in highest.items():
            numbers = rng.integers(0, n, n_rows)
            columns[name] = [f"{name} {n}" for n in numbers] if is_text else numbers
        return pl.DataFrame(columns)

    recs, truth = table(rng.integers(1, 30)), table(rng.integers(1, 20), more_users=1)
    if rng.random() < 0.7:
        recs = recs.unique(maintain_order=True)
    if rng.random() < 0.8:
        truth = truth.unique(maintain_order=True)
    recs = recs.with_columns(
        score=pl.Series(rng.integers(-2, 5, recs.height) / 2),
        rank=pl.Series(rng.permutation(recs.height)),
    )
    rank = pl.col("rank").rank("ordinal").over("user").cast(pl.Int64)
    if rng.random() < 0.4:
        rank = rank * int(rng.integers(1, 3)) + int(rng.integers(0, 2))
    recs = recs.with_columns(rank=rank)
    if rng.random() < 0.1:
        recs = recs.with_columns(rank=pl.Series(rng.integers(1, 8, recs.height)))
    lowest = -1 if rng.random() < 0.3 else 0
    relevance = rng.integers(lowest, 4, truth.height).astype(float)
    return recs, truth.with_columns(relevance=pl.Series(relevance))


def drawn_convention(rng) -> Convention:
    """Draw decisions of every kind."""
    words = {**WORDS, "judged_only": [False, True], "relevant_from": [None, 2.0]}
    words["order"] = ["rank", "score", "row"]
    decisions = {}
    for name, values in words.items():
        is_drawn = rng.random() < (0.8 if name == "order" else 0.3)
        decisions[name] = values[rng.integers(len(values))] if is_drawn else values[0]
    return Convention(**decisions | {"cutoff": "k"})


def drawn_cases(seed, n):
    """Draw tables with a convention whose decisions go together."""
    rng = np.random.default_rng(seed)
    for _case in range(n):
        recs, truth = drawn_tables(rng)
        convention = drawn_convention(rng)
        try:
            rules.refuse_contradictions(convention)
        except OptionError:
            continue
        yield recs, truth, convention


def hold(recs, truth, convention):
    """Hold a join against loops, or both refuse the rows; return whether they did not."""
    rows = recs.to_dicts(), truth.to_dicts()
    try:
        want = naive_join(*rows, convention)
    except RepeatedError:
        with pytest.raises((matches.RepeatError, FrameError)):
            join.join(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
        return False
    got, rows = join.join(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
    hold_hits(got.hits, want)
    assert got.users.to_list() == want.users
    assert rows.row_of_entry.tolist() == [row for _u, _r, row in want.entries]
    assert got.in_both == want.in_both
    assert got.n_without_relevant == want.n_without_relevant
    assert got.has_gaps == want.has_gaps
    if convention.duplicates == "error":  # lists that do not count may repeat items
        convention = replace(convention, duplicates="keep")
    rank = rules.rank_of_rows(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
    assert rank.tolist() == [want.rank_of_row.get(n, 0) for n in range(recs.height)]
    return True


def hold_hits(hits: Hits, want: NaiveJoin) -> None:
    """Hold hits against those of loops; rows of one rank may stand in either order."""
    shares = np.ones(len(hits.rank)) if hits.tied is None else hits.tied.weight
    columns = [hits.user, hits.rank, hits.relevance, hits.entry, shares]
    got = zip(*[column.tolist() for column in columns], strict=True)
    assert sorted(got) == sorted(want.hits)
    entries = zip(hits.truth_user.tolist(), hits.truth_relevance.tolist(), strict=True)
    assert [*entries] == [entry[:2] for entry in want.entries]
    assert hits.list_length.tolist() == want.list_length
    assert hits.max_relevance == want.max_relevance


@pytest.mark.thin
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_give_what_loops_give(seed, way):
    joined = [hold(*case) for case in drawn_cases(seed, examples(400))]
    assert 0 < sum(joined) < len(joined)


@pytest.mark.parametrize("order", ["rank", "score", "row"])
@pytest.mark.parametrize("n_more", [-1, 0, 1])
@pytest.mark.parametrize("threshold", ["FEW_WANTED", "FEW_ROWS"])
def test_sizes_around_each_threshold(threshold, n_more, order, monkeypatch):
    rng = np.random.default_rng(17)
    recs, truth = drawn_tables(rng)
    recs = recs.unique(["user", "item"], maintain_order=True)
    truth = truth.unique(["user", "item"], maintain_order=True)
    rank = pl.int_range(1, pl.len() + 1).over("user")
    recs = recs.with_columns(rank=rank)
    module = ids if threshold == "FEW_WANTED" else join
    monkeypatch.setattr(module, threshold, recs.height + n_more)
    assert hold(recs, truth, Convention(order=order))


@pytest.mark.thin
@pytest.mark.parametrize("bits", [0, 2, 8])
def test_pairs_whose_hashes_are_the_same_are_told_apart(bits, way, monkeypatch):
    """At first every hash has a few bits, or none: rows are compared by value."""
    hash_rows = pl.DataFrame.hash_rows

    def with_few_bits(table, seed=0):
        hashes = hash_rows(table, seed)
        return hashes if seed else hashes % 2**bits

    monkeypatch.setattr(pl.DataFrame, "hash_rows", with_few_bits)
    joined = [hold(*case) for case in drawn_cases(3, examples(150))]
    assert any(joined)


@pytest.mark.thin
@pytest.mark.parametrize("ties", ["first", "last"])
def test_equal_scores_keep_the_order_of_rows(ties, way):
    """Of 200,000 rows with two scores, in any order."""
    rng = np.random.default_rng(5)
    n_users, n_items = 2000, 100
    user = rng.permutation(np.repeat(np.arange(n_users), n_items))
    item = np.empty_like(user)
    item[np.argsort(user, kind="stable")] = np.tile(np.arange(n_items), n_users)
    score = rng.integers(0, 2, len(user)) * 1.0
    recs = pl.DataFrame({"user": user, "item": item, "score": score})
    truth = pl.DataFrame({"user": np.arange(n_users), "item": np.full(n_users, 7)})
    truth = truth.with_columns(relevance=1.0)
    joined, _rows = join.join(
        RoleTable(RECS, recs, {}),
        GradedTruth(truth),
        Convention(order="score", ties=ties),
    )
    hits = joined.hits
    row = np.arange(len(user)) * (1 if ties == "first" else -1)
    order = np.lexsort((row, -score, user))
    place = np.flatnonzero(item[order] == 7)
    assert hits.user.tolist() == user[order][place].tolist()
    assert hits.rank.tolist() == (place % n_items + 1).tolist()


def test_zero_and_minus_zero_are_equal_scores(way):
    recs = pl.DataFrame({"user": 1, "item": [1, 2, 3], "score": [-0.0, 0.0, -0.0]})
    truth = pl.DataFrame({"user": 1, "item": [2], "relevance": [1.0]})
    joined, _rows = join.join(
        RoleTable(RECS, recs, {}), GradedTruth(truth), Convention(order="score")
    )
    assert joined.hits.rank.tolist() == [2]


def recorded_joins():
    with gzip.open(RECORDED) as file:
        return json.load(file)


@pytest.mark.thin
@pytest.mark.parametrize("case", recorded_joins(), ids=lambda case: "")
def test_recorded_joins_are_as_they_were(case, way):
    """`tests/recorded/README.md` says what is recorded."""
    recs, truth = pl.DataFrame(case["recs"]), pl.DataFrame(case["truth"])
    convention = Convention(**case["convention"])
    if case["result"] == "refused":
        with pytest.raises((matches.RepeatError, FrameError, OptionError)):
            join.join(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
        return
    got, rows = join.join(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
    want = dict(case["result"])
    hits, tied = want.pop("hits"), want.pop("tied")
    rank = rules.rank_of_rows(RoleTable(RECS, recs, {}), GradedTruth(truth), convention)
    assert rank.tolist() == want.pop("rank")
    assert got.hits.max_relevance == want.pop("max_relevance")
    assert {name: getattr(got.hits, name).tolist() for name in hits} == hits
    for name, values in (tied or {}).items():
        assert getattr(got.hits.tied, name) == pytest.approx(values)
    assert (got.hits.tied is None) == (tied is None)
    assert rows.row_of_entry.tolist() == want.pop("frame_row_of_entry")
    for name, value in want.items():
        result = getattr(got, name)
        assert (result if isinstance(result, int) else [*result]) == value


# ---- what repeats

PAIR_TWICE = "recommendations: 1 pair of user and item is repeated"


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


def test_repeats_are_counted_in_all_lists(way):
    recs = pl.DataFrame({"user": [1, 2, 3] * 2, "item": "a", "score": range(6)})
    with pytest.raises(FrameError, match="3 pairs of user and item are repeated"):
        recnb.evaluate(recs, {1: ["a"]})


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


@pytest.mark.parametrize("options", ROWS["decisions"], ids=str)
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
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


def test_a_repeated_rank_in_a_list_that_does_not_count_is_no_gap():
    recs = pl.DataFrame({"user": ["u", "z", "z"], "item": ["a", "a", "b"], "rank": 1})
    ev = recnb.evaluate(recs, {"u": ["a"]})
    assert (ev.counts.n_gaps, ev.joined.has_gaps) == (0, False)


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
    of_all = source_of(RoleTable(RECS, lists, {}), RoleTable(TRUTH, judged, {}))
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


@pytest.mark.parametrize(
    "options",
    [{"duplicates": "dedupe"}, {"judged_only": True}, {"duplicates": "keep"}, {}],
    ids=str,
)
def test_a_list_that_does_not_count_may_repeat_a_rank(options):
    """Rows of lists are counted and shown, whatever such a list repeats."""
    recs = pd.DataFrame({"user": [1, 1, 9, 9], "item": [*"abqq"], "rank": [1, 2, 1, 1]})
    truth = pd.DataFrame({"user": [1], "item": ["b"]})
    ev = recnb.evaluate(recs, truth, **options)
    assert ev.recall(k=2) == 1
    is_closed_up = options.get("judged_only", False)
    assert ev.counts.n_items_recommended == (1 if is_closed_up else 3)
    assert ev.joined.rows.lists["rank"].to_list()[:2] == (
        [1] if is_closed_up else [1, 2]
    )
    assert "Recall@2" in ev.report(k=2, metrics=["recall"]).to_markdown()


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
    assert ids.positions(known, values).tolist() == [
        places.get(name, -1) for name in values
    ]


@pytest.mark.parametrize("low", [-(2**63), -1, 0, 2**63 - 4])
def test_whole_numbers_are_looked_up_at_both_ends_of_their_range(low):
    known = pl.Series([low + 2, low, low + 3])
    values = pl.Series([low, low + 1, low + 2, low + 3, -(2**63), 2**63 - 1])
    places = {name: place for place, name in enumerate(known)}
    assert ids.positions(known, values).tolist() == [
        places.get(name, -1) for name in values
    ]


@pytest.mark.parametrize("step", [rules.tie_order, rules.shared_rank])
def test_a_rule_for_ties_that_a_step_does_not_know_is_no_other_rule(step):
    rows = np.array([0])
    nothing = types.SimpleNamespace(
        user=rows, rank=rows, ties_of=lambda row: (row, row)
    )
    arguments = [nothing] if step is rules.tie_order else [nothing, rows]
    with pytest.raises(AssertionError, match="'new'"):
        step(*arguments, "new")
