"""Several lists a user: intervals, tests, gates and stored values are of clusters. What is
said of them is in `shown/lists.txt`.
"""

import math

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError
from recnb.stats import UserSample, gap_to_rest
from tests.rows import hold_refused, read_rows


def lists_of(seed, n_users=40, n_days=6, shift=0):
    """Recommendations and truth of users who come on some days."""
    rng = np.random.default_rng(seed)
    rows, truth = [], []
    for user in range(n_users):
        days = rng.choice(n_days, rng.integers(1, n_days), replace=False)
        for day in days.tolist():
            items = (rng.permutation(30)[:8] + shift) % 30
            for rank, item in enumerate(items.tolist(), 1):
                rows.append((f"u{user:02}", f"d{day}", item, rank))
            relevant = rng.permutation(30)[: rng.integers(1, 7)].tolist()
            truth += [(f"u{user:02}", f"d{day}", item) for item in relevant]
    recs = pd.DataFrame(rows, columns=["user", "day", "item", "rank"])
    return recs, pd.DataFrame(truth, columns=["user", "day", "item"])


RECS, TRUTH = lists_of(0)
OTHER = RECS.assign(item=(RECS["item"] + 3) % 30)
EV = recnb.evaluate(RECS, TRUTH, split="day")
FOUND = recnb.compare({"a": RECS, "b": OTHER}, TRUTH, split="day", baseline="a")
TOPIC = pd.DataFrame(
    {
        "user": [f"u{user:02}" for user in range(40)],
        "topic": [user % 14 for user in range(40)],
    }
)


BY_TOPIC = recnb.evaluate(RECS, TRUTH, split="day", users=TOPIC, cluster="topic")


def in_groups(values, groups, name):
    """Values by user, with a level of groups of users, as an error says to type it."""
    levels = [values.index, values.index.map(groups)]
    return values.set_axis(pd.MultiIndex.from_arrays(levels, names=["user", name]))


def test_a_number_counts_users_and_their_lists():
    n_lists = len(RECS[["user", "day"]].drop_duplicates())
    score, row = EV.ndcg(k=5), FOUND.differences("ndcg", k=5).iloc[0]
    overlap, report = FOUND.overlap(5).iloc[0], EV.report(5).to_dict()
    for counted in (score, EV, FOUND, EV.counts, row, overlap):
        assert (counted.n_users, counted.n_lists) == (40, n_lists)
    assert (report["n_users"], report["n_lists"]) == (40, n_lists)
    assert len(EV.users) == len(FOUND.users) == len(score.per_user) == n_lists
    assert row.won + row.tied + row.lost == n_lists
    smallest = BY_TOPIC.detectable("ndcg", k=5)
    for counted in (BY_TOPIC, smallest):
        assert (counted.n_users, counted.n_lists) == (14, n_lists)
    assert BY_TOPIC.counts.n_users == 40
    one_day = recnb.evaluate(RECS[RECS["day"] == "d1"], TRUTH[TRUTH["day"] == "d1"])
    assert one_day.n_users == one_day.n_lists == one_day.counts.n_lists < 40


def test_cluster_names_another_unit_than_the_user():
    recs = RECS[RECS["day"] == "d1"]
    truth = TRUTH[TRUTH["day"] == "d1"]
    plain = recnb.evaluate(recs, truth)
    clustered = recnb.evaluate(recs, truth, users=TOPIC, cluster="topic")
    score, other = clustered.ndcg(k=5), plain.ndcg(k=5)
    assert float(score) == float(other)
    assert score.n_lists == other.n_users > score.n_users
    topics = TOPIC.set_index("user")["topic"]
    stored = in_groups(other.per_user, topics, "topic")
    assert list(score.interval()) == pytest.approx(
        list(recnb.interval(stored, cluster="topic"))
    )
    assert list(score.interval()) != list(other.interval())


def test_a_number_of_all_lists_is_of_no_clusters():
    (of_lists,) = BY_TOPIC.at_least("entropy", 0, k=5).checks
    (of_topics,) = BY_TOPIC.at_least("ndcg", 0, k=5).checks
    assert of_lists.numbers["n_users"] == BY_TOPIC.n_lists
    assert "cluster" not in of_lists.numbers
    assert (of_topics.numbers["n_users"], of_topics.numbers["cluster"]) == (14, "topic")


def test_what_is_detectable_and_a_gate_go_by_users():
    smallest = EV.detectable("ndcg", k=5)
    assert smallest.n_users == 40
    with_other = FOUND["a"].detectable("ndcg", k=5, against=FOUND["b"])
    row = FOUND.differences("ndcg", k=5).iloc[0]
    assert float(with_other) == pytest.approx(row.detectable)
    gate = EV.at_least("ndcg", 0.01, k=5)
    assert gate.checks[0].numbers["n_users"] == 40
    few = RECS[RECS["user"] < "u09"]
    of_few = recnb.evaluate(few, TRUTH[TRUTH["user"] < "u09"], split="day")
    assert of_few.ndcg(k=5).n_lists >= 10
    assert not of_few.at_least("ndcg", 0.0, k=5)  # nine users show nothing


def test_segments_of_users_are_tested_by_their_clusters():
    is_odd = TOPIC.set_index("user")["topic"] % 2
    table = EV.table("ndcg", k=5, by=is_odd).to_frame()
    per_user = EV.ndcg(k=5).per_user
    users = per_user.index.get_level_values("user")
    gap = gap_to_rest(
        per_user.to_numpy()[:, np.newaxis],
        UserSample(len(users), codes=pd.factorize(users)[0]),
        users.map(is_odd).to_numpy() == 1,
    )
    assert table["p"].iloc[1] == pytest.approx(gap.p[0])
    assert table["gap_low"].iloc[1] == pytest.approx(gap.low[0])
    assert (table["n_lists"] > table["n_users"]).all()
    assert table["n_users"].sum() == 40


# Stored values


@pytest.mark.parametrize(
    ("user", "split"), [("user", "day"), ("who", "session"), ("session", "qid")]
)
def test_stored_values_have_the_interval_of_the_score_whatever_levels_are_called(
    user, split
):
    frames = (
        frame.rename(columns={"user": user, "day": split}) for frame in (RECS, TRUTH)
    )
    ev = recnb.evaluate(*frames, user=user, split=split)
    for score in (ev.ndcg(k=5), ev.hit_rate(k=3)):
        for confidence in (0.5, 0.95):
            ends = recnb.interval(score.per_user, confidence, cluster=user)
            assert list(ends) == pytest.approx(list(score.interval(confidence)))
        with pytest.raises(
            FrameError, match=f"levels '{user}', '{split}': say by cluster="
        ):
            recnb.interval(score.per_user)
    score = ev.dcg(k=5)
    ends = recnb.interval(score.per_user, bounds=(0, math.inf), cluster=user)
    assert list(ends) == pytest.approx(list(score.interval()))


def test_repeated_users_are_lists_of_one_cluster_only_where_that_is_said():
    per_user = EV.ndcg(k=5).per_user
    by_user = per_user.droplevel("day")
    ends = recnb.interval(by_user, cluster="user")
    assert list(ends) == pytest.approx(list(EV.ndcg(k=5).interval()))
    for values in (by_user, pd.concat([per_user, per_user.iloc[:1]])):
        with pytest.raises(FrameError, match="more than once"):
            recnb.paired(values, values, cluster="user")
    with pytest.raises(FrameError, match="'u00' more than once"):
        recnb.interval(by_user)
    with pytest.raises(FrameError, match=r"\('u00', 'd\d'\) more than once"):
        recnb.interval(pd.concat([per_user, per_user.iloc[:1]]), cluster="user")


def test_stored_values_have_the_row_of_the_differences():
    found = recnb.compare({"a": RECS, "b": OTHER}, TRUTH, split="day", baseline="a")
    row = found.differences("ndcg", k=5).iloc[0]
    ours, theirs = (found[name].ndcg(k=5).per_user for name in ("b", "a"))
    stored = recnb.paired(ours, theirs.sample(frac=1, random_state=0), cluster="user")
    for name in ("difference", "low", "high", "p", "effect_size", "detectable"):
        assert getattr(stored, name) == pytest.approx(row[name]), name
    for name in ("won", "tied", "lost", "n_users", "n_lists", "verdict"):
        assert getattr(stored, name) == row[name], name
    assert stored.verdict == "open"


def test_users_of_one_side_alone_are_refused_and_the_fix_leaves_them_out():
    values = EV.ndcg(k=5).per_user
    ours, theirs = values.iloc[3:], values.iloc[:-2]
    with pytest.raises(
        FrameError, match=r"5 users or lists are in values or in baseline"
    ):
        recnb.paired(ours, theirs, cluster="user")
    both = ours.index.intersection(theirs.index)
    found = recnb.paired(ours[both], theirs[both], cluster="user")
    assert (found.n_lists, found.verdict) == (len(values) - 5, "same")


def test_levels_in_another_order_are_refused_and_the_fix_pairs_them():
    rng = np.random.default_rng(5)
    # Users and folds are numbers alike, so that their places do not tell them apart.
    index = pd.MultiIndex.from_product([range(12), range(12)], names=["user", "fold"])
    values = pd.Series(rng.random(144), index)
    baseline = pd.Series(rng.random(144), index)
    swapped = baseline.swaplevel()
    with pytest.raises(FrameError, match=r"baseline \['fold', 'user'\]"):
        recnb.paired(values, swapped, cluster="user")
    mended = recnb.paired(values, swapped.reorder_levels(index.names), cluster="user")
    assert mended == recnb.paired(values, baseline, cluster="user")


VALUES = pd.Series([0.1, 0.5, 1.0], index=["a", "b", "c"])


def without(level):
    """Values of which two have no cluster."""
    keys = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "z")]
    frame = pd.DataFrame(keys, columns=["user", "topic"])
    frame.loc[frame.index[:2], level] = None
    return pd.Series([0.1, 0.2, 0.5, 1.0], pd.MultiIndex.from_frame(frame))


def without_household():
    household = np.r_[[np.nan] * 3, np.arange(37)]
    users = TOPIC.assign(household=household)
    return recnb.evaluate(RECS, TRUTH, split="day", users=users, cluster="household")


REFUSED = read_rows("results/values_refused.toml")


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_series_of_values_is_refused(call):
    def paired(values, **options):
        return recnb.paired(values, values, **options)

    for asked in (recnb.interval, paired):
        hold_refused(call, REFUSED[call], {**globals(), "asked": asked})


def test_series_that_do_not_match_are_refused():
    days = pd.concat({"d1": VALUES}, names=["day", "user"])
    with pytest.raises(
        FrameError, match=r"levels \['day', 'user'\] and baseline \[None"
    ):
        recnb.paired(days, VALUES, cluster="user")
    with pytest.raises(FrameError, match=r"6 users .* alone, such as 'a'"):
        recnb.paired(VALUES, VALUES.set_axis([1, 2, 3]))
