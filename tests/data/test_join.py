"""The join gives what loops over users and rows give, in any order of rows, for ids of any kind, whatever hashes meet."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import encoding, join, parallel, user_rows
from recnb.errors import FrameError, OptionError

#: What each convention changes, one or two axes at a time.
CONVENTIONS = [
    {},
    {"averaged_users": "recs", "no_relevant": "zero"},
    {"averaged_users": "both", "relevant_from": 2},
    {"averaged_users": "union", "no_relevant": "one"},
    {"order": "row"},
    {"order": "row", "candidates": "padded", "duplicates": "rows"},
    {"ties": "last", "duplicates": "hit_once"},
    {"ties": "item_asc"},
    {"ties": "item_desc", "candidates": "padded"},
    {"ties": "worst", "judged": "list"},
    {"ties": "worst", "candidates": "padded", "duplicates": "keep"},
    {"ties": "max_rank", "duplicates": "keep"},
    {"ties": "floor_mean_rank", "candidates": "padded"},
    {"ties": "max_rank", "candidates": "catalogue", "duplicates": "rows"},
    {"candidates": "catalogue"},
    {"duplicates": "rows", "judged": "list", "no_relevant": "zero"},
    {"duplicates": "hit_once", "nonpositive_scores": "never_hit"},
    {"relevant": "any", "candidates": "catalogue", "nonpositive_scores": "never_hit"},
    {"relevant": "!=0", "negative_relevance": "keep", "ties": "item_asc"},
    {"order": "rank", "duplicates": "keep", "candidates": "padded"},
    {"order": "rank", "duplicates": "dedupe"},
]


def in_order(lines, ties, items, grades):
    """The numbers of (item, score) from the highest score, equal ones by the rule for ties."""
    within = {
        "last": lambda at: -at,
        "item_asc": lambda at: items.index(lines[at][0]),
        "item_desc": lambda at: -items.index(lines[at][0]),
        "worst": lambda at: grades.get(lines[at][0], 0),
    }.get(ties, lambda at: at)
    return sorted(range(len(lines)), key=lambda at: (-lines[at][1], within(at), at))


def naive(
    recs, truth, ties="first", duplicates="dedupe", candidates="list", judged="truth", averaged_users="truth", **rest
):
    """By user evaluated: the hits as (rank, relevance), the length of the list, and the grades there are to find."""
    order, relevant = rest.get("order", "score"), rest.get("relevant", ">0")
    counts = {">0": lambda g: g > 0, "!=0": lambda g: g != 0, "any": lambda g: True}[relevant]
    if "relevant_from" in rest:
        counts = lambda g: g >= rest["relevant_from"]  # noqa: E731
    items, found = sorted({*recs["item"], *truth["item"]}), {}
    for user in sorted({*recs["user"], *truth["user"]}):
        grades: dict = {}
        for item, grade in truth.loc[truth.user == user, ["item", "relevance"]].itertuples(index=False):
            grades[item] = max(grade, grades.get(item, grade))
        rows = recs[recs.user == user]
        score = {"row": -np.arange(len(rows)), "rank": -rows["rank"], "score": rows["score"]}[order]
        lines = list(zip(rows["item"], score, strict=True))
        listed = {item for item, _ in lines}
        n_own = len(lines)
        lines += [(item, -np.inf) for item in grades if item not in listed] if candidates == "padded" else []
        rank_of = in_order(lines, ties, items, grades)
        if duplicates == "dedupe":
            seen: set = set()
            rank_of = [at for at in rank_of if not (lines[at][0] in seen or seen.add(lines[at][0]))]
        last = int(max((-score), default=0)) if order == "rank" else 0
        hits, hit_items, length = [], set(), 0
        for number, at in enumerate(rank_of, 1):
            item, value = lines[at]
            place = number
            if order == "rank" and duplicates != "dedupe":
                place = -int(value) if at < n_own else last + number - n_own
            same = [other for other, one in enumerate(rank_of, 1) if lines[one][1] == value]
            shared = {"max_rank": same[-1], "floor_mean_rank": (same[0] + same[-1]) // 2}.get(ties, place)
            length = max(length, place)
            scored = rest.get("nonpositive_scores") != "never_hit" or value > 0
            again = duplicates == "hit_once" and item in hit_items
            if item in grades and counts(grades[item]) and scored and not again:
                hits.append((shared, grades[item]))
                hit_items.add(item)
        times = {item: sum(line[0] == item for line in lines) for item in grades}
        if candidates == "catalogue":
            rest_of = [item for item in items if item not in listed]
            for item, grade in grades.items():
                if item in rest_of and counts(grade) and rest.get("nonpositive_scores") != "never_hit":
                    hits.append((length + (len(rest_of) if ties == "max_rank" else rest_of.index(item) + 1), grade))
            length += len(rest_of)
        there = [
            grade
            for item, grade in grades.items()
            if counts(grade) and (judged == "truth" or times[item])
            for _ in range(max(times[item], 1) if duplicates == "rows" else 1)
        ]
        among = {"truth": grades, "recs": n_own, "both": grades and n_own, "union": True}[averaged_users]
        if among and (there or rest.get("no_relevant", "skip") != "skip"):
            found[user] = sorted(hits), length, sorted(there, reverse=True)
    return found


def joined(recs, truth, **options):
    """The same of an evaluation."""
    ev = recnb.evaluate(recs, truth, **options)
    hits, users = ev.hits(None), ev.users.tolist()
    found = {user: ([], int(length), []) for user, length in zip(users, hits.list_length, strict=True)}
    for user, rank, relevance in zip(hits.user, hits.rank, hits.relevance, strict=True):
        found[users[user]][0].append((int(rank), float(relevance)))
    for user, relevance in zip(hits.truth_user, hits.truth_relevance, strict=True):
        found[users[user]][2].append(float(relevance))
    np.testing.assert_array_equal(hits.truth_relevance[hits.truth_row], hits.relevance)
    np.testing.assert_array_equal(hits.truth_user[hits.truth_row], hits.user)
    assert ev._data.prepared.truth["user"].to_list() == [users[user] for user in hits.truth_user]
    return {user: (sorted(own), *others) for user, (own, *others) in found.items()}


def random_frames(seed, *, repeats=True, text=False, negative=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 160))
    recs = pd.DataFrame({"user": rng.integers(0, 12, n), "item": rng.integers(0, 20, n)})
    recs["score"] = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    truth = pd.DataFrame({"user": rng.integers(2, 15, n), "item": rng.integers(0, 24, n)})
    truth["relevance"] = rng.integers(-1 if negative else 0, 4, n).astype(float)
    if not repeats:
        recs, truth = (frame.drop_duplicates(["user", "item"]) for frame in (recs, truth))
    recs["rank"] = rng.permutation(len(recs)) + 1  # with gaps, and no rank twice
    if seed % 3 == 1:
        recs = recs.sort_values(["user", "score"], ascending=[seed % 2 == 0, False], kind="stable")
    if text:
        recs, truth = (
            frame.assign(user="u" + frame.user.astype(str), item="i" + frame.item.astype(str))
            for frame in (recs, truth)
        )
    return recs.reset_index(drop=True), truth.reset_index(drop=True)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Cut even small frames into blocks, which all cores share."""
    monkeypatch.setattr(user_rows, "BLOCK", 16)
    monkeypatch.setattr(parallel, "BLOCK", 16)


@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
@pytest.mark.parametrize("text", [False, True])
def test_hits_are_those_of_loops(options, text):
    options = {"order": "score", "duplicates": "dedupe", **options}
    for seed in range(5):
        recs, truth = random_frames(seed, text=text, negative="negative_relevance" in options)
        assert joined(recs, truth, **options) == naive(recs, truth, **options)


@pytest.mark.parametrize("options", CONVENTIONS[:8], ids=str)
def test_pairs_that_are_not_repeated_are_joined_alike_whatever_repeats_mean(options):
    for seed in range(6):
        recs, truth = random_frames(seed, repeats=False)
        expected = naive(recs, truth, **options)
        for duplicates in ("error", "keep", "rows", "hit_once"):
            assert joined(recs, truth, **{"order": "score", **options, "duplicates": duplicates}) == expected


KINDS = {
    "wide integers": lambda ids: (ids.astype(np.int64) + 1) * 2**40 - 2**50,
    "integers that differ in the highest bits": lambda ids: ids.astype(np.int64) * 2**58,
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_any_kind(kind):
    recs, truth = random_frames(4)
    recs, truth = (frame.assign(user=KINDS[kind](frame.user), item=KINDS[kind](frame.item)) for frame in (recs, truth))
    options = {"order": "score", "duplicates": "dedupe"}
    assert joined(recs, truth, **options) == naive(recs, truth, **options)


@pytest.mark.parametrize("shift", [56, 62, 64])
@pytest.mark.parametrize("options", [{}, {"duplicates": "keep"}, {"candidates": "padded"}], ids=str)
def test_ids_whose_hashes_are_the_same_are_kept_apart(shift, options, monkeypatch):
    """Hashes of a few bits, or all equal."""
    hashes, kept = encoding.hashes_of, np.uint64(2**64 - 2**shift if shift < 64 else 0)
    for module in (encoding, join):
        monkeypatch.setattr(module, "hashes_of", lambda values, seed=0: hashes(values, seed) & kept)
    options = {"order": "score", "duplicates": "dedupe", **options}
    for seed in range(3):
        recs, truth = random_frames(seed, text=True)
        assert joined(recs, truth, **options) == naive(recs, truth, **options)


def test_items_of_one_hash_are_no_repeat_and_no_hit(monkeypatch):
    monkeypatch.setattr(join, "hashes_of", lambda values: np.zeros(len(values), dtype=np.uint64))
    recs = pd.DataFrame({"user": [1] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]})
    assert joined(recs, pd.DataFrame({"user": [1], "item": ["d"]})) == {1: ([], 3, [1.0])}
    assert joined(recs, pd.DataFrame({"user": [1], "item": ["c"]})) == {1: ([(3, 1.0)], 3, [1.0])}


@pytest.mark.parametrize("shuffled", [False, True])
def test_gaps_of_ranks_are_counted(shuffled):
    recs, truth = random_frames(7, repeats=False)
    recs = recs.assign(rank=recs.groupby("user").cumcount() * 2 + 1).drop(columns="score")
    several = int((recs.groupby("user").size() > 1).sum())
    recs = recs.sample(frac=1, random_state=1) if shuffled else recs.sort_values(["user", "rank"])
    assert recnb.evaluate(recs, truth).counts.n_gaps == several
    assert recnb.evaluate(recs, truth, duplicates="dedupe").counts.n_gaps == 0


@pytest.mark.parametrize("duplicates", ["error", "keep"])
@pytest.mark.parametrize("ties", ["first", "max_rank", "expected"])
def test_hits_can_be_had_down_to_a_rank(duplicates, ties):
    recs, truth = random_frames(3, repeats=False)
    ev = recnb.evaluate(recs, truth, order="score", duplicates=duplicates, ties=ties)
    whole = ev.hits(None)
    for depth in (3, 1, 2, 10**6):
        cut = ev.hits(depth)
        inside = cut.rank <= depth
        assert cut.rank[inside].tolist() == whole.rank[whole.rank <= depth].tolist()
        assert cut.user[inside].tolist() == whole.user[whole.rank <= depth].tolist()


def ranked(frame, **ranks):
    return frame.drop(columns="score").assign(**ranks)


REFUSED = {
    "a pair twice in a list": (lambda r, t: (pd.concat([r.iloc[:1], r]), t), "recommendations: 1 pair of user and item"),
    "a pair twice in the truth": (lambda r, t: (r, pd.concat([t, t.iloc[:1]])), "truth: 1 pair of user and item"),
    "a score that is missing": (lambda r, t: (r.assign(score=r.score.where(r.index != 3)), t), "1 score that is missing"),
    "a rank twice": (lambda r, t: (ranked(r, rank=1), t), "gives a rank twice"),
    "a rank twice, and a pair": (lambda r, t: (pd.concat([ranked(r, rank=1)] * 2), t), "pairs of user and item are repeated"),
    "no user in both": (lambda r, t: (r, t.assign(user=t.user + 10**6)), "no user is in both frames"),
    "nothing relevant": (lambda r, t: (r, t.assign(relevance=0)), "no user that counts has a relevant item"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_joined_is_refused(what):
    recs, truth = random_frames(11, repeats=False)
    change, words = REFUSED[what]
    with pytest.raises(FrameError, match=words):
        recnb.evaluate(*change(recs.drop(columns="rank"), truth)).hits(None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"candidates": "catalogue", "ties": "last"}, "goes with"),
        ({"ties": "expected", "duplicates": "hit_once"}, "has no mean for"),
    ],
)
def test_rules_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        recnb.evaluate(*random_frames(1), order="score", **options)


def test_one_list_of_many_items_is_one_block():
    items = np.random.default_rng(0).permutation(5_000)
    recs = pd.DataFrame({"user": 1, "item": items, "rank": np.arange(5_000) + 1})
    truth = pd.DataFrame({"user": 1, "item": items[::7]})
    assert recnb.evaluate(recs, truth).hits(None).rank.tolist() == list(range(1, 5_001, 7))


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-20, 1e12])
def test_grades_of_any_kind_are_put_in_order(scale):
    recs, truth = random_frames(8, repeats=False)
    truth = truth.assign(relevance=truth["relevance"] * scale)
    assert joined(recs, truth, order="score") == naive(recs, truth)


@pytest.mark.parametrize(("n_known", "n_values"), [(1, 5), (3, 100), (1_000, 70_000)])
def test_texts_are_looked_up_as_a_dictionary_finds_them(n_known, n_values):
    rng = np.random.default_rng(n_known)
    known = pl.Series([f"user {number}" for number in rng.permutation(n_known)])
    values = pl.Series([f"user {number}" for number in rng.integers(0, int(n_known * 1.3) + 1, n_values)])
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [places.get(name, -1) for name in values]


@pytest.mark.parametrize("low", [-(2**63), -1, 0, 2**63 - 4])
def test_whole_numbers_are_looked_up_at_both_ends_of_their_range(low):
    known = pl.Series([low + 2, low, low + 3])
    values = pl.Series([low, low + 1, low + 2, low + 3, -(2**63), 2**63 - 1])
    places = {name: place for place, name in enumerate(known)}
    assert encoding.positions(known, values).tolist() == [places.get(name, -1) for name in values]


@pytest.mark.parametrize("n_cores", [1, 2, 3, 8])
@pytest.mark.parametrize("highest", [1, 5, 2**64 - 1])
def test_numbers_are_sorted_by_several_cores(n_cores, highest, monkeypatch):
    monkeypatch.setattr(parallel, "n_cores", lambda: n_cores)
    monkeypatch.setattr(parallel, "SORTED", 500)
    keys = np.random.default_rng(n_cores).integers(0, highest, 5_000, dtype=np.uint64, endpoint=True)
    ordered = keys.copy()
    parallel.sort(ordered)
    assert ordered.tolist() == sorted(keys.tolist())
