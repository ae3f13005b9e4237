"""One Evaluation asked from several threads or processes at a time gives each the
number that it gives alone.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import recnb
from recnb.evaluation import Evaluation
from tests.sample import SAMPLE

N_THREADS = 8

#: Cut-offs that go down and up again, so that hits are cut from deeper ones and joined
#: anew.
ASKED = [
    *(f"float(ev.ndcg(k={k}))" for k in (1, 2, 3, 5, 8, 13, 19, None)),
    "float(ev.under('rectools').ndcg(k=7))",
    "ev.table(['recall', 'err'], k=[4, 6]).to_numpy().tolist()",
    "ev.explain('average_precision', 'u100', k=9).value",
    "float(ev.novelty(k=5))",
    "float(ev.coverage(k=5))",
    "float(ev.diversity(k=5))",
    "float(ev.serendipity(k=3))",
    "repr(ev.lint(5))",
]


def asked(ev: Evaluation, call: str) -> Any:
    return eval(call, {"ev": ev})


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Threads take turns every microsecond, so that one is interrupted wherever it can
    be.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def evaluated() -> Evaluation:
    recs = SAMPLE.models["popular"].sample(frac=1.0, random_state=1)
    return recnb.evaluate(recs, SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items)


def test_eight_threads_get_the_numbers_that_one_gets() -> None:
    expected = {call: asked(evaluated(), call) for call in ASKED}
    shared = evaluated()
    begin = threading.Barrier(N_THREADS)

    def ask(thread: int) -> list[str]:
        begin.wait()
        # Each thread in another order, twice: the first time nothing is kept yet.
        step, n = 2 * thread + 1, len(ASKED)
        order = [ASKED[(at * step + thread) % n] for at in range(n)]
        return [call for call in order * 2 if asked(shared, call) != expected[call]]

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert [*pool.map(ask, range(N_THREADS))] == [[]] * N_THREADS


@pytest.mark.slow  # test_pickle.py has what it is sent
def test_a_spawned_process_gives_the_numbers_of_the_evaluation_it_is_sent() -> None:
    shared = evaluated()
    expected = [asked(shared, call) for call in ASKED]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert list(pool.map(asked, [shared] * len(ASKED), ASKED)) == expected
