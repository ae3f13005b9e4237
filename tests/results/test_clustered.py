"""Several lists a user: intervals, tests, gates and stored values are of clusters."""

import math
import re

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError, NoUsersError, OptionError
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


def in_groups(values, groups, name):
    """Values by user, with a level of groups of users, as an error says to type it."""
    levels = [values.index, values.index.map(groups)]
    return values.set_axis(pd.MultiIndex.from_arrays(levels, names=["user", name]))


def test_a_number_counts_users_and_their_lists():
    score = EV.ndcg(k=5)
    per_user = score.per_user
    assert score.n_lists == len(per_user)
    assert score.n_users == per_user.index.get_level_values("user").nunique() == 40
    assert score.n_lists > 2 * score.n_users
    assert FOUND.basis.startswith(
        f"{score.n_lists} lists of 40 users in 6 values of day that all models are judged"
    )
    row = FOUND.differences("ndcg", k=5).iloc[0]
    assert (row.n_users, row.n_lists) == (40, score.n_lists)
    assert row.won + row.tied + row.lost == score.n_lists
    assert f"{score.n_lists} lists of 40 users" in repr(FOUND.not_worse("ndcg", k=5))


def test_each_day_by_itself_has_a_list_a_user_and_its_interval():
    of_days = EV.table("ndcg", k=5, by="day").to_frame().reset_index()
    for row in of_days.itertuples():
        alone = recnb.evaluate(
            RECS[RECS["day"] == row.day], TRUTH[TRUTH["day"] == row.day]
        ).ndcg(k=5)
        assert (row.n_users, row.mean) == (alone.n_users, pytest.approx(float(alone)))
        assert [row.low, row.high] == pytest.approx(list(alone.interval()))


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
    words = f"{score.n_lists} lists in {score.n_users} values of topic"
    other = recs.assign(item=(recs["item"] + 3) % 30)
    of_two = recnb.compare(
        {"a": recs, "b": other}, truth, baseline="a", users=TOPIC, cluster="topic"
    )
    assert words in repr(of_two.not_worse("ndcg", k=5))
    assert words in of_two.report(5).to_markdown()
    assert "clustered by topic" in repr(of_two.differences("ndcg", k=5))
    assert "needs 10" not in repr(clustered.at_least("ndcg", 0.01, k=5))


def test_what_counts_lists_says_lists():
    n = EV.ndcg(k=5).n_lists
    assert f" over {n} lists of 40 users." in str(EV.lint(k=5))
    moved = repr(FOUND.movers("ndcg", k=5))
    row = FOUND.differences("ndcg", k=5).iloc[0]
    assert f"lists with a gain {row.won}" in moved
    assert "Users" not in moved


def test_a_plot_of_lists_counts_lists():
    ax = EV.ndcg(k=5).plot()
    assert ax.get_ylabel() == f"share of {EV.ndcg(k=5).n_lists} lists"
    assert ax.get_xlabel().startswith("nDCG@5 of a list")


def test_an_evaluation_counts_users_and_their_lists_as_its_numbers_do():
    score = EV.ndcg(k=5)
    n_lists = len(RECS[["user", "day"]].drop_duplicates())
    for counted in (score, EV, FOUND, EV.counts):
        assert (counted.n_users, counted.n_lists) == (40, n_lists)
    assert len(EV.users) == len(FOUND.users) == n_lists
    assert EV.table("ndcg", k=5).attrs["n_users"] == 40
    by_topic = recnb.evaluate(RECS, TRUTH, split="day", users=TOPIC, cluster="topic")
    assert (by_topic.n_users, by_topic.n_lists) == (14, n_lists)
    assert by_topic.counts.n_users == 40
    one_day = recnb.evaluate(RECS[RECS["day"] == "d1"], TRUTH[TRUTH["day"] == "d1"])
    assert one_day.n_users == one_day.n_lists == one_day.counts.n_lists < 40


def test_what_is_shown_of_two_models_counts_users_and_their_lists():
    overlap = FOUND.overlap(5).iloc[0]
    n_lists = FOUND.n_lists
    assert (overlap.n_users, overlap.n_lists) == (40, n_lists)
    graded = TRUTH.assign(relevance=1 + TRUTH["item"] % 2)
    models = {"a": RECS, "b": OTHER}
    of_few = recnb.compare(models, graded, split="day").table(["AP(rel=2)"])
    fewer = graded[graded["relevance"] == 2]
    n_fewer = len(fewer[["user", "day"]].drop_duplicates())
    words = f"{n_fewer} lists of {fewer['user'].nunique()} users"
    assert words in repr(of_few)


def test_the_lint_and_a_table_of_items_count_users_and_their_lists():
    words = f"{EV.n_lists} lists of 40 users"
    assert f" over {words}." in EV.lint(k=5).measured
    assert f"shown and share: {words} in 6 values of day" in repr(EV.items(k=5))


def test_lists_of_a_split_are_counted_as_lists_in_korean():
    one, several = EV.report(k=5, lang="ko"), FOUND.report(k=5, lang="ko")
    n = EV.n_lists
    for report in (one, several):
        shown = report.to_markdown()
        assert f"사용자 {n}명" not in shown
        assert f"사용자 40명의 목록 {n}개" in shown
        assert f"목록 {n}개 가운데" in shown
    assert "가운데 41%가 상위 5개에서" in one.to_markdown()
    assert "**b**에서 45%, **a**에서 41%" in several.to_markdown()


def test_a_number_of_all_lists_is_of_no_clusters():
    by_topic = recnb.evaluate(RECS, TRUTH, split="day", users=TOPIC, cluster="topic")
    (of_lists,) = by_topic.at_least("gini", 0, k=5, population="recommended").checks
    (of_topics,) = by_topic.at_least("ndcg", 0, k=5).checks
    assert of_lists.numbers["n_users"] == by_topic.n_lists
    assert "cluster" not in of_lists.numbers
    assert (of_topics.numbers["n_users"], of_topics.numbers["cluster"]) == (14, "topic")


def test_values_of_a_cluster_column_are_not_called_users():
    by_topic = recnb.evaluate(RECS, TRUTH, split="day", users=TOPIC, cluster="topic")
    smallest = by_topic.detectable("ndcg", k=5)
    words = f"{smallest.n_lists} lists in 14 values of topic"
    assert (smallest.n_users, smallest.n_lists) == (14, by_topic.n_lists)
    assert f"is found over {words} with a chance" in smallest.words
    assert "user" not in smallest.words
    of_lists = EV.detectable("ndcg", k=5)
    assert f"is found over {of_lists.n_lists} lists of 40 users with" in of_lists.words
    ax = by_topic.curve("ndcg", [1, 5]).plot()
    assert ax.get_ylabel() == f"nDCG@k, mean of {words}"


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


def test_reports_say_lists_beside_users():
    n = EV.ndcg(k=5).n_lists
    one = EV.report(5, by="day")
    several = FOUND.report(5)
    for report in (one, several):
        text = report.to_markdown()
        assert "Intervals and tests are clustered by user." in text
        assert "Clopper" not in text
        assert {"n_users": 40, "n_lists": n}.items() <= report.to_dict().items()
    assert f"Means over {n} lists of 40 users" in one.to_markdown()
    assert f"Of {n} lists of 40 users, these find" in several.to_markdown()
    assert "nDCG@5 over lists" in one.to_markdown()


def test_a_report_of_splits_shows_each_and_draws_dates_as_a_line():
    dates = {f"d{day}": f"2024-05-0{day + 1}" for day in range(6)}
    recs, truth = (frame.assign(day=frame["day"].map(dates)) for frame in (RECS, TRUTH))
    of_days = recnb.evaluate(recs, truth, split="day").report(5)
    assert of_days.to_dict()["segments"]["by"] == "day"
    assert "2024-05-01: " in of_days.to_html()  # the words of the line
    for report in (EV.report(5), FOUND.report(5)):
        text = report.to_markdown()
        assert "**nDCG@5 by day" in text
        assert all(f"| d{day} |" in text for day in range(6))
        assert "each day is evaluated alone" in text
    of_days = FOUND.table("ndcg", k=5, by="day").to_frame()["ndcg@5"]
    a, b = of_days["d0"]["a"], of_days["d0"]["b"]
    (row,) = [
        line.replace("*", "")
        for line in FOUND.report(5).to_markdown().splitlines()
        if line.startswith("| d0 |")
    ]
    assert f"{a:.4f}" in row
    assert f"{b:.4f}" in row
    mean = EV.table("ndcg", k=5, by="day").to_frame()["mean"].iloc[0]
    assert "| d0 | 1" in EV.report(5).to_markdown()
    assert f"{mean:.4f}" in EV.report(5).to_markdown()
    by_topic = EV.report(5, by=TOPIC.set_index("user")["topic"] % 2)
    assert "by day" not in by_topic.to_markdown()


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
    assert repr(stored).endswith(
        f"no difference shown; {row.n_lists} lists in 40 values of user"
    )


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


def test_clusters_of_stored_values_are_not_called_users():
    before = pd.Series(np.linspace(0.1, 0.5, 40))
    in_households = in_groups(before, pd.Series(np.arange(40) // 2), "household")
    found = recnb.paired(in_households * 1.2, in_households, cluster="household")
    assert repr(found).endswith("; 40 lists in 20 values of household")
    assert found.n_users == 20
    assert repr(recnb.paired(before * 1.2, before)).endswith("; 40 users")


@pytest.mark.parametrize("level", ["user", "topic"])
def test_rows_without_a_cluster_are_refused(level):
    keys = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "z")]
    frame = pd.DataFrame(keys, columns=["user", "topic"])
    frame.loc[frame.index[:2], level] = None
    values = pd.Series([0.1, 0.2, 0.5, 1.0], pd.MultiIndex.from_frame(frame))
    with pytest.raises(FrameError, match=f"2 rows without a '{level}'"):
        recnb.interval(values, cluster=level)


def test_users_without_a_value_of_cluster_are_refused():
    users = sorted(RECS["user"].unique())
    lacking = pd.DataFrame({"user": users, "household": np.arange(len(users)) // 2.0})
    lacking.loc[:2, "household"] = np.nan
    ev = recnb.evaluate(RECS, TRUTH, split="day", users=lacking, cluster="household")
    with pytest.raises(FrameError, match="cluster= has no value for 3 of"):
        ev.ndcg(k=5).interval()


def test_the_lint_and_weights_count_lists():
    recs = RECS[~((RECS["day"] == "d2") & (RECS["user"] < "u20"))]
    weights = pd.Series(np.arange(40) % 3 + 1.0, sorted(RECS["user"].unique())[:40])
    ev = recnb.evaluate(recs, TRUTH, split="day", user_weight=weights)
    score = ev.ndcg(k=5)
    n_lists = len(score.per_user)
    lint = ev.lint(k=5)
    assert f"over {n_lists} lists of {ev.n_users} users" in lint.measured
    finding = lint["users_without_list"]
    n_missing = ev.counts.n_without_list
    assert finding.short == f"Lists that are missing: {n_missing} of {n_lists}"
    assert f"lists: {n_lists - n_missing} instead of {n_lists}" in finding.effect
    found = recnb.compare(
        {"a": recs, "b": OTHER}, TRUTH, split="day", user_weight=weights
    )
    for basis in (
        score.basis,
        found.basis,
        repr(ev.table("ndcg", k=5, by="day")),
    ):
        assert re.search(r"the \d+ lists count as", basis)
        assert "users count" not in basis


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (5, "+0.0600: too few users or differences"),
        (12, "; p = 0.082): "),
        (2_000, "; p < 0.0001): "),
    ],
)
def test_a_p_value_is_shown_as_it_can_be_read(n, words):
    before = pd.Series(np.linspace(0.3, 0.5, n))
    steps = np.where(np.arange(n) % 4 < 3, 0.1, -0.1)  # three of four gain
    assert words in repr(recnb.paired(before + steps, before))


def test_less_is_better_on_request():
    before = pd.Series(np.linspace(0.1, 0.5, 30))
    assert recnb.paired(before / 2, before).verdict == "worse"
    assert recnb.paired(before / 2, before, better="low").verdict == "better"
    assert recnb.paired(before / 2, before, better="low").won == 30


VALUES = pd.Series([0.1, 0.5, 1.0], index=["a", "b", "c"])


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
    with pytest.raises(NoUsersError, match=r"users such as 'a', .* users such as 1\."):
        recnb.paired(VALUES, VALUES.set_axis([1, 2, 3]))
    with pytest.raises(OptionError, match="better="):
        recnb.paired(VALUES, VALUES, better="more")


def test_levels_without_names_are_not_taken_for_users():
    nights = [
        pd.Series([0.1, 0.2], ["ann", "bob"]),
        pd.Series([0.3, 0.5], ["ann", "bob"]),
    ]
    values = pd.concat(nights, keys=["mon", "tue"])
    with pytest.raises(FrameError, match=r"values.index.names = \['user', 'day'\]"):
        recnb.interval(values)
    values.index.names = ["day", "user"]  # the fix
    assert recnb.interval(values, cluster="user") == recnb.interval(
        values.swaplevel(), cluster="user"
    )
