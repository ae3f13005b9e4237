"""`as_in` returns what 28 libraries really returned, or refuses the frames by name; and
presets are not fitted to these cases.

On random data as on the recorded cases each preset gives what the plain reference makes
of its options.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recnb
from recnb.conventions import Convention
from recnb.conventions.presets import Preset, presets
from recnb.data import Source, read
from recnb.errors import FrameError, RecnbError
from recnb.libraries import as_in
from recnb.libraries.refusals import REFUSALS, AskedNumber
from recnb.metrics.metric import LIST_METRICS, RETRIEVAL_METRICS
from tests.examples import examples
from tests.presets import WHOLE, as_in_of, cut_at, value_under
from tests.reference import Case, evaluate

RECORDED = Path(__file__).parents[1] / "recorded"


def table(name: str) -> list[dict[str, str]]:
    with (RECORDED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CASES: dict[str, Case] = {
    case["id"]: case
    for case in json.loads((RECORDED / "cases.json").read_text("utf-8"))
}
ROWS = {
    key: [*rows]
    for key, rows in groupby(
        table("values.csv"), key=lambda row: (row["library"], row["variant"])
    )
}
OF_HITS = {
    key: one
    for key, one in presets().items()
    if one.metric not in {*LIST_METRICS, *RETRIEVAL_METRICS}
}
#: Evidently's AP reads relevance off the last input row, a defect that no convention
#: expresses (see the preset's note).
EXPRESSED = {
    key: one
    for key, one in OF_HITS.items()
    if key[0] != "evidently" or not key[1].startswith("ap[")
}


def frames(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.DataFrame(case["recs"]), pd.DataFrame(case["truth"])


@cache
def source(case: str) -> Source:
    """A case as as_in reads it, kept so that presets of one convention share their
    join.
    """
    return read(*frames(CASES[case]), {}, {})


def outcome(call: Callable[[], float]) -> float | str:
    """The number, or the error."""
    try:
        return float(call())
    except (ValueError, FrameError) as error:
        return f"error: {error}"


def same(got: float | str, wanted: float | str, tolerance: float = 1e-9) -> bool:
    if isinstance(got, str) or isinstance(wanted, str):
        return isinstance(got, str) and isinstance(wanted, str)
    return (
        math.isnan(got)
        if math.isnan(wanted)
        else abs(got - wanted) <= tolerance * max(1.0, abs(wanted))
    )


@cache
def answer(library: str, variant: str, case: str) -> float | str:
    """What `as_in` gives for a recorded case, of frames that are read once."""
    return outcome(lambda: as_in_of(source(case), library, variant, CASES[case]["k"]))


# What libraries returned
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", OF_HITS, ids=" ".join)
def test_the_recorded_values(key: tuple[str, str]) -> None:
    """Where a library raised an error, as_in refuses the same frames, and no others but
    those without a rule.
    """
    rows, preset, wrong = ROWS[key], presets()[key], {}
    assert {row["version"] for row in rows} == {preset.version}
    for row in rows:
        given = answer(*key, row["case"])
        if row["error"]:
            right = re.search(
                "refuses that|raises an error|not the top of the scale", str(given)
            )
        else:
            right = "follows no rule" in str(given) or same(
                given, float(row["value"]), preset.tolerance
            )
        if not right:
            wrong[row["case"]] = (
                f"{row['value'] or row['error']} there, as_in {given!r}"
            )
    assert not wrong


def test_few_values_follow_no_rule_and_the_defect_is_named() -> None:
    values = [
        (*key, row["case"]) for key in OF_HITS for row in ROWS[key] if not row["error"]
    ]
    unruled = [key for key in values if "follows no rule" in str(answer(*key))]
    assert len(unruled) == 165
    for library, variant, case in unruled:
        preset = presets()[library, variant]
        recorded = next(
            float(row["value"]) for row in ROWS[library, variant] if row["case"] == case
        )
        assert preset.note or same(
            by_reference(preset, CASES[case]), recorded, preset.tolerance
        )


def test_as_in_reads_the_frames_and_looks_up_the_preset() -> None:
    """The other tests read each case once: frames that are read anew give the same
    number or error, whatever the case.
    """
    read_anew = set()
    for at, (library, variant) in enumerate(OF_HITS):
        case = ROWS[library, variant][at % len(ROWS[library, variant])]["case"]
        read_anew.add(case)
        k = cut_at(library, variant, CASES[case]["k"])
        anew = outcome(partial(as_in, library, variant, *frames(CASES[case]), k))
        assert str(anew) == str(answer(library, variant, case))
    assert read_anew == {row["case"] for key in OF_HITS for row in ROWS[key]}


def test_every_preset_is_recorded() -> None:
    elsewhere = {
        key for key, one in presets().items() if one.metric in RETRIEVAL_METRICS
    }  # in results/test_values.py
    assert presets().keys() - elsewhere == ROWS.keys()
    of_hits = [case for case in CASES if case.startswith("c")]
    assert all([row["case"] for row in ROWS[key]] == of_hits for key in OF_HITS)


# What presets and conventions say
# ---------------------------------------------------------------------------------------


def by_reference(preset: Preset, case: Case) -> float | str:
    whole = {"cutoff": "none"} if (preset.library, preset.variant) == WHOLE else {}
    return outcome(
        lambda: evaluate(
            preset.metric, vars(preset.convention) | dict(preset.options) | whole, case
        )
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Some users in both frames, some in one; lists of up to six rows, pairs repeated,
    items judged but not recommended.
    """
    items = st.sampled_from(("b", "a", "i10", "i9", "ä", "X", "c d"))
    users = draw(
        st.lists(
            st.sampled_from(("u2", "u10", "u1", "Zoë", "_")),
            min_size=1,
            max_size=4,
            unique=True,
        )
    )
    grades = draw(
        st.sampled_from(
            [
                (1.0,),
                (1.0, 0.0),
                (1.0, 2.0, 4.0, 0.0),
                (1.0, 0.0, 2.0, 4.0, 0.5, -1.0, 0.25),
            ]
        )
    )
    # Ties in plenty, scores of 0 and below, and two that only double precision tells
    # apart.
    scores = [
        (2.0, 1.0, 1.0 + 1e-9, 0.5, 0.0, -1.0),
        (3.0, 2.5, 2.0, 1.5, 1.25, 1.0),
        (1.0, 0.0),
    ]
    score = st.sampled_from(draw(st.sampled_from(scores)))
    recs: list[dict[str, Any]] = []
    truth: list[dict[str, Any]] = []
    for user in users:
        in_both = user == users[0]
        n = draw(st.integers(int(in_both), 5))
        listed = draw(
            st.lists(items, min_size=n, max_size=n, unique=draw(st.booleans()))
        )
        ranks = draw(st.permutations(range(1, n + 1)))
        recs += [
            {"user": user, "item": i, "score": draw(score), "rank": r}
            for i, r in zip(listed, ranks, strict=True)
        ]
        judged = draw(st.lists(items, min_size=int(in_both), max_size=4, unique=True))
        truth += [
            {"user": user, "item": item, "relevance": draw(st.sampled_from(grades))}
            for item in judged
        ]
    k = draw(st.sampled_from([1, 2, 3, 5, 10]))
    return {
        "recs": draw(st.permutations(recs)),
        "truth": draw(st.permutations(truth)),
        "k": k,
    }


def made_case(
    k: int,
    listed: list[tuple[str, str, float, int]],
    judged: list[tuple[str, str, float]],
) -> Case:
    recs = [
        dict(zip(("user", "item", "score", "rank"), row, strict=True)) for row in listed
    ]
    return {
        "recs": recs,
        "truth": [
            dict(zip(("user", "item", "relevance"), row, strict=True)) for row in judged
        ],
        "k": k,
    }


ALL_TIED = made_case(
    2,
    [("u1", item, 0.5, rank) for rank, item in enumerate("bacd", 1)],
    [("u1", "c", 2.0), ("u1", "x", 1.0), ("u1", "b", 0.0)],
)
# By user there is something to compare; by item nothing is ever hit.
NOTHING_SHARED = made_case(
    3, [("u1", "a", 1.0, 1), ("u2", "a", 1.0, 1)], [("u1", "b", 1.0), ("u3", "b", 1.0)]
)


@given(case=cases())
@example(case=ALL_TIED)
@example(case=NOTHING_SHARED)
@settings(max_examples=examples(30))
def test_every_preset_does_what_its_options_say(case: Case) -> None:
    frames_read = read(*frames(case), {}, {})
    for key, preset in EXPRESSED.items():
        wanted, got = (
            by_reference(preset, case),
            outcome(partial(value_under, frames_read, preset, case["k"])),
        )
        assert same(got, wanted), (key, got, wanted)


@given(case=cases())
@settings(max_examples=examples(20))
def test_every_preset_without_a_cut_off_does_what_its_options_say(case: Case) -> None:
    """Nothing is cut, not the ideal either; k of a divisor is the list's length."""
    frames_read = read(*frames(case), {}, {})
    for key, preset in EXPRESSED.items():
        if preset.without_k:  # it has no such number
            continue
        whole = preset.at(None)
        wanted = by_reference(whole, {**case, "k": None})
        got = outcome(partial(value_under, frames_read, whole, None))
        assert same(got, wanted), (key, got, wanted)


def test_frames_without_a_common_user_are_refused() -> None:
    """By choice: libraries return 0, NaN or an error there, and nobody means it."""
    recs, truth = frames(made_case(3, [("u1", "a", 1.0, 1)], [("u2", "a", 1.0)]))
    for library, variant in OF_HITS:
        with pytest.raises(RecnbError, match="no user is in both frames"):
            as_in(library, variant, recs, truth, cut_at(library, variant, 3))


def test_a_pair_judged_twice_counts_at_its_highest() -> None:
    """By choice: no recorded case judges a pair twice."""
    recs, truth = frames(ALL_TIED)
    twice = pd.concat([truth, truth.assign(relevance=0.0)], ignore_index=True)
    once, again = (read(recs, judged, {}, {}) for judged in (truth, twice))
    for key in OF_HITS:
        assert same(
            *(
                outcome(partial(as_in_of, one, *key, ALL_TIED["k"]))
                for one in (again, once)
            )
        ), key


# Frames on which a number follows no rule are refused by name, and what the error
# advises gives a number ----------------

Frame = pd.DataFrame
RECS = Frame({"user": [1, 1, 1], "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
TRUTH = Frame({"user": [1], "item": ["b"], "relevance": [1]})
GRADED = Frame({"user": [1, 1], "item": ["b", "c"], "relevance": [2, 1]})
NEGATIVE = GRADED.assign(relevance=[2, -1])
UNLISTED = Frame({"user": [1, 2], "item": ["b", "c"], "relevance": [1, 0]})
LEVEL = RECS.assign(score=[3.0, 2.0, 2.0])
LONG = Frame({"user": 1, "item": [*"abcdefghijklmnop"], "score": [9.0, *[2.0] * 15]})
BOTH, BOTH_TRUTH = (
    pd.concat([one, one.assign(user=2)], ignore_index=True) for one in (RECS, TRUTH)
)
TWICE = pd.concat([RECS, RECS[:1].assign(score=0.5)], ignore_index=True)

#: Word of the refusal, library, metric, recommendations, truth, k, and both after what
#: the error advises.
REMEDIES = [
    ("grades", "recpack", "ndcg", RECS, GRADED, 2, RECS, GRADED.assign(relevance=1)),
    ("repeats", "recpack", "recall", TWICE, TRUTH, 2, RECS, TRUTH),
    ("repeats", "recommenders", "ndcg", TWICE, TRUTH, 2, RECS, TRUTH),
    ("ties", "recpack", "rr", LEVEL, TRUTH, 3, RECS, TRUTH),
    ("ties", "torchmetrics", "precision[list]", LEVEL, TRUTH, 2, RECS, TRUTH),
    ("ties", "torcheval", "precision", LEVEL, TRUTH, 2, RECS, TRUTH),
    (
        "graded ties",
        "scikit-learn",
        "ndcg_ignore_ties[list]",
        LEVEL,
        GRADED,
        2,
        RECS,
        GRADED,
    ),
    (
        "long ties",
        "ranx",
        "ndcg",
        LONG,
        TRUTH,
        3,
        LONG.assign(score=range(16, 0, -1)),
        TRUTH,
    ),
    ("unsorted rows", "evidently", "ap[list]", RECS[::-1], TRUTH, 2, RECS, TRUTH),
    ("unsorted rows", "evidently", "ap[full]", LEVEL, TRUTH, 2, RECS, TRUTH),
    (
        "short lists",
        "evidently",
        "ap[list]",
        BOTH[:-1],
        BOTH_TRUTH,
        3,
        BOTH,
        BOTH_TRUTH,
    ),
    ("negatives", "evidently", "ndcg[list]", RECS, NEGATIVE, 2, RECS, GRADED),
    ("neither", "mlflow", "recall", RECS, UNLISTED, 2, RECS, TRUTH),
    (
        "no negatives",
        "sentence-transformers",
        "rr[rerank]",
        RECS[1:2],
        TRUTH,
        2,
        RECS,
        TRUTH,
    ),
]


@pytest.mark.parametrize("case", REMEDIES, ids=lambda case: f"{case[0]} {case[1]}")
def test_what_follows_no_rule_is_refused_and_the_remedy_works(
    case: tuple[str, str, str, Frame, Frame, int, Frame, Frame],
) -> None:
    word, library, metric, recs, truth, k, *then = case
    with pytest.raises(RecnbError, match="follows no rule") as refused:
        as_in(library, metric, recs, truth, k)
    assert REFUSALS[word].frames in str(refused.value)
    assert REFUSALS[word].remedy in str(refused.value)
    assert as_in(library, metric, *then, k) > 0


def test_every_remedy_is_tried() -> None:
    assert {case[0] for case in REMEDIES} == {
        word for word, refusal in REFUSALS.items() if refusal.remedy
    }


@pytest.mark.parametrize(
    "word", [word for word in REFUSALS if word.startswith("grades above")]
)
def test_the_highest_grade_that_a_library_takes_is_that_of_its_word(word: str) -> None:
    top = int(word.rsplit(" ", 1)[1])
    convention = Convention()
    for grade, is_refused in ((top, False), (top + 1, True)):
        source = read(RECS, TRUTH.assign(relevance=grade), {}, {})
        joined = source.under(source.as_given(convention))
        asked = AskedNumber(source, convention, joined, 2)
        assert REFUSALS[word].applies(asked) == is_refused
    assert REFUSALS[word].frames == f"relevance above {top}"


def test_every_refusal_is_of_a_preset_and_every_question_is_asked() -> None:
    assert {word for preset in presets().values() for word in preset.refuses} == {
        *REFUSALS
    }
    questions = {name for name in vars(AskedNumber) if name.startswith("has_")}
    assert {refusal.question for refusal in REFUSALS.values()} == questions


NOT_REFUSED = [
    ("recpack", "ndcg", RECS, TRUTH, 2),
    ("recpack", "precision", RECS, GRADED, 2),
    # No hit is among equal scores; all of them are hits; the equal scores stand below
    # k.
    ("recpack", "rr", LEVEL, TRUTH.assign(item="a"), 3),
    ("recpack", "recall", LEVEL, GRADED.assign(relevance=1), 2),
    ("torcheval", "precision", LEVEL, TRUTH.assign(item="a"), 1),
    ("ranx", "ndcg", LONG[:15], TRUTH, 3),
]


@pytest.mark.parametrize(("library", "metric", "recs", "truth", "k"), NOT_REFUSED)
def test_what_does_not_depend_on_it_is_not_refused(
    library: str, metric: str, recs: Frame, truth: Frame, k: int
) -> None:
    assert 0 <= as_in(library, metric, recs, truth, k) <= 1


def test_evidently_reads_the_longest_list_of_all_users_and_the_last_place_of_those_with_a_hit() -> (
    None
):
    """Lists of users without a hit make precision@3 defined, and not the reciprocal
    rank; where nobody has a hit it raises.
    """
    recs, truth = (
        pd.concat([RECS, RECS[:2].assign(user=2)], ignore_index=True),
        TRUTH.assign(user=2),
    )
    assert as_in("evidently", "precision[list]", recs, truth, 3) == 0.5
    none = TRUTH.assign(item="x")
    for asked in (
        ("rr[list]", recs, truth, 3),
        ("rr[list]", RECS, none, 2),
        ("precision[list]", RECS, none, 4),
    ):
        with pytest.raises(RecnbError, match="raises an error on"):
            as_in("evidently", *asked)


def test_a_query_without_a_relevant_item_is_left_out_but_not_the_last_one() -> None:
    """Sentence-transformers then divides by no query; llama-index takes neither."""
    truth = pd.concat([TRUTH, TRUTH.assign(user=2, relevance=0)], ignore_index=True)
    assert as_in("sentence-transformers", "accuracy", RECS, truth, 2) == 1
    with pytest.raises(RecnbError, match="a truth in which no item is relevant"):
        as_in("sentence-transformers", "accuracy", RECS, truth.assign(relevance=0), 2)
    for judged in (truth, truth.assign(relevance=0)):
        with pytest.raises(RecnbError, match="with no relevant item"):
            as_in("llama-index", "rr", BOTH, judged, 2)


@pytest.mark.parametrize("library", recnb.conventions.names())
def test_true_and_false_are_grades_of_1_and_0(library: str) -> None:
    grades = Frame({"user": [1, 1], "item": ["b", "z"], "relevance": [1, 0]})
    truths = grades, grades.astype({"relevance": bool})
    for metric in recnb.conventions.metrics(library):
        of_numbers, of_words = (
            outcome(partial(as_in, library, metric, RECS, truth, 2)) for truth in truths
        )
        assert str(of_numbers) == str(of_words), metric
    of_numbers, of_words = (
        repr(recnb.evaluate(RECS, truth, convention=library).table(k=2))
        for truth in truths
    )
    assert of_numbers == of_words
