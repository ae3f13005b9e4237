"""Several lists a user: what is counted, and stored values, which have the numbers of
their evaluation. Intervals and tests of lists in a split are in `laws`, and what is
said of them in `shown/lists.txt`.
"""

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError
from recnb.stats import UserSample, gap_to_rest, holm
from tests.evaluated import EV as PLAIN
from tests.rows import hold_refused, read_rows
from tests.sample import SAMPLE


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


QUERIES = recnb.evaluate(
    *(
        frame[frame["day"] == "d1"].rename(columns={"user": "query"})
        for frame in (RECS, TRUTH)
    )
)


@pytest.mark.parametrize("ev", [EV, BY_TOPIC, QUERIES], ids=["split", "topic", "query"])
def test_a_pickled_number_knows_its_lists_and_clusters_and_their_names(ev):
    score = ev.ndcg(k=5)
    again = pickle.loads(pickle.dumps(score))
    assert again.interval() == score.interval()
    assert (again.n_users, again.n_lists) == (score.n_users, score.n_lists)
    assert again.per_user.equals(score.per_user)
    assert again.per_user.index.names == score.per_user.index.names
    assert again.plot().get_xlabel() == score.plot().get_xlabel()


def test_a_number_counts_users_and_their_lists():
    n_lists = len(RECS[["user", "day"]].drop_duplicates())
    score, row = EV.ndcg(k=5), FOUND.differences("ndcg", k=5).iloc[0]
    overlap, report = FOUND.overlap(5).iloc[0], EV.report(5).to_dict()
    for counted in (score, EV, FOUND, EV.counts, row, overlap):
        assert (counted.n_users, counted.n_lists) == (40, n_lists)
    assert (report["n_users"], report["n_lists"]) == (40, n_lists)
    assert len(EV.users) == len(FOUND.users) == len(score.per_user) == n_lists
    assert row.won + row.tied + row.lost == n_lists
    for counted in (BY_TOPIC, BY_TOPIC.detectable("ndcg", k=5)):
        assert (counted.n_users, counted.n_lists) == (14, n_lists)
    assert BY_TOPIC.counts.n_users == 40
    one_day = recnb.evaluate(RECS[RECS["day"] == "d1"], TRUTH[TRUTH["day"] == "d1"])
    assert one_day.n_users == one_day.n_lists == one_day.counts.n_lists < 40


def test_a_gate_goes_by_clusters_and_a_number_of_all_lists_by_none():
    (of_lists,) = BY_TOPIC.at_least("entropy", 0, k=5).checks
    assert of_lists.numbers["n_users"] == BY_TOPIC.n_lists
    assert "cluster" not in of_lists.numbers
    for ev, expected in ((BY_TOPIC, (14, "topic")), (EV, (40, "user"))):
        (checked,) = ev.at_least("ndcg", 0, k=5).checks
        numbers = checked.numbers
        assert (numbers["n_users"], numbers.get("cluster", "user")) == expected
    few = RECS[RECS["user"] < "u09"]
    of_few = recnb.evaluate(few, TRUTH[TRUTH["user"] < "u09"], split="day")
    assert of_few.ndcg(k=5).n_lists >= 10
    assert not of_few.at_least("ndcg", 0.0, k=5)  # nine users show nothing


TOPICS = TOPIC.set_index("user")["topic"]
#: Users with one list each, in clusters.
OF_DAY = recnb.evaluate(
    RECS[RECS["day"] == "d1"],
    TRUTH[TRUTH["day"] == "d1"],
    users=TOPIC,
    cluster="topic",
)
#: A segment of each user of the sample, who has one list.
THIRDS = pd.Series(np.arange(300) % 3, SAMPLE.users["user"], name="third")


@pytest.mark.parametrize(
    ("ev", "by", "cluster"),
    [
        (PLAIN, THIRDS, "user"),
        (EV, TOPICS % 3, "user"),
        (BY_TOPIC, TOPICS % 2, "topic"),  # seven of each, which are not tested
        (OF_DAY, TOPICS % 2, "topic"),
    ],
)
def test_the_gap_of_a_segment_is_to_all_other_clusters(ev, by, cluster):
    table = ev.table("ndcg", k=5, by=by.rename("part")).to_frame()
    values = ev.ndcg(k=5).per_user
    users = values.index.get_level_values("user")
    units = users.map(TOPICS) if cluster == "topic" else users
    sample = UserSample(len(users), codes=pd.factorize(units)[0])
    for (_metric, _k, part), row in table.iterrows():
        is_inside = (users.map(by) == int(part)).astype(bool)
        gap = gap_to_rest(values.to_numpy()[:, np.newaxis], sample, is_inside)
        ends = [values[is_inside].mean() - values[~is_inside].mean()]
        ends += [gap.low[0], gap.high[0], gap.p[0]]
        found = row[["gap", "gap_low", "gap_high", "p"]].tolist()
        assert found == pytest.approx(ends, abs=1e-12, nan_ok=True)
    if len(table) > 2:
        assert table["p_holm"].to_numpy() == pytest.approx(holm(table["p"].to_numpy()))
    assert table["n_users"].sum() == ev.n_users


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
    for score, bounds in ((ev.dcg(k=5), (0, math.inf)), (ev.hit_rate(k=3), (0, 1))):
        for confidence in (0.5, 0.95):
            ends = recnb.interval(
                score.per_user, confidence, bounds=bounds, cluster=user
            )
            assert list(ends) == pytest.approx(list(score.interval(confidence)))
    levels = f"levels '{user}', '{split}': say by cluster="
    with pytest.raises(FrameError, match=levels):
        recnb.interval(score.per_user)


def test_repeated_users_are_lists_of_one_cluster_where_that_is_said():
    in_topics = in_groups(OF_DAY.ndcg(k=5).per_user, TOPICS, "topic")
    for values, cluster, ev in ((OF_USERS, "user", EV), (in_topics, "topic", OF_DAY)):
        ends = recnb.interval(values, cluster=cluster)
        assert list(ends) == pytest.approx(list(ev.ndcg(k=5).interval()))


def test_stored_values_have_the_row_of_the_differences():
    row = FOUND.differences("ndcg", k=5).iloc[0]
    ours, theirs = (FOUND[name].ndcg(k=5).per_user for name in ("b", "a"))
    stored = recnb.paired(ours, theirs.sample(frac=1, random_state=0), cluster="user")
    for name in ("difference", "low", "high", "p", "effect_size", "detectable"):
        assert getattr(stored, name) == pytest.approx(row[name]), name
    for name in ("won", "tied", "lost", "n_users", "n_lists", "verdict"):
        assert getattr(stored, name) == row[name], name
    assert stored.verdict == "open"


#: Users and folds are numbers alike, so that their places do not tell them apart.
FOLDS = pd.MultiIndex.from_product([range(12), range(12)], names=["user", "fold"])
OF_FOLDS, BASELINE = (
    pd.Series(np.random.default_rng(seed).random(144), FOLDS) for seed in (5, 6)
)


def test_the_fix_of_levels_in_another_order_pairs_them():
    mended = BASELINE.swaplevel().reorder_levels(FOLDS.names)
    found = recnb.paired(OF_FOLDS, mended, cluster="user")
    assert found == recnb.paired(OF_FOLDS, BASELINE, cluster="user")


VALUES = pd.Series([0.1, 0.5, 1.0], index=["a", "b", "c"])
OF_LISTS = EV.ndcg(k=5).per_user
OF_USERS = OF_LISTS.droplevel("day")


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
