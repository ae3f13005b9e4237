"""One Evaluation asked from several threads or processes at a time gives each the
number that it gives alone.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import recnb
from recnb.evaluation import Evaluation
from tests.sample import SAMPLE

N_THREADS = 8

#: Cut-offs that go down and up again, so that hits are cut from deeper ones and joined
#: anew.
ASKED: dict[str, Callable[[Evaluation], Any]] = {
    **{
        f"ndcg@{k}": lambda ev, k=k: float(ev.ndcg(k=k))
        for k in (1, 2, 3, 5, 8, 13, 19, None)
    },
    "under another library": lambda ev: float(ev.under("rectools").ndcg(k=7)),
    "table": lambda ev: ev.table(["recall", "err"], k=[4, 6]).to_numpy().tolist(),
    "explain": lambda ev: ev.explain("average_precision", "u100", k=9).value,
    "novelty": lambda ev: float(ev.novelty(k=5)),
    "coverage": lambda ev: float(ev.coverage(k=5)),
    "diversity": lambda ev: float(ev.diversity(k=5)),
    "serendipity": lambda ev: float(ev.serendipity(k=3)),
    "lint": lambda ev: repr(ev.lint(5)),
}


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Threads take turns every microsecond, so that one is interrupted wherever it can
    be.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def evaluated(**options: Any) -> Evaluation:
    recs = SAMPLE.models["popular"].sample(frac=1.0, random_state=1)
    return recnb.evaluate(
        recs, SAMPLE.test, train=SAMPLE.train, items=SAMPLE.items, **options
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"ties": "expected"}, marks=pytest.mark.slow),
        pytest.param(
            {"averaged_users": "both", "judged": "list"}, marks=pytest.mark.slow
        ),
    ],
    ids=str,
)
def test_eight_threads_get_the_numbers_that_one_gets(options: dict[str, Any]) -> None:
    names = [
        name
        for name in ASKED
        if not ("ties" in options and name in ("table", "explain"))
    ]
    expected = {name: ASKED[name](evaluated(**options)) for name in names}
    shared = evaluated(**options)
    begin = threading.Barrier(N_THREADS)

    def ask(thread: int) -> list[str]:
        begin.wait()
        # Each thread in another order, twice: the first time nothing is kept yet.
        order = [
            names[(at * (2 * thread + 1) + thread) % len(names)]
            for at in range(len(names))
        ]
        return [name for name in order * 2 if ASKED[name](shared) != expected[name]]

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert [
            wrong for found in pool.map(ask, range(N_THREADS)) for wrong in found
        ] == []


def _asked(ev: Evaluation, name: str) -> Any:
    return ASKED[name](ev)


def test_a_spawned_process_gives_the_numbers_of_the_evaluation_it_is_sent() -> None:
    shared = evaluated()
    expected = [ASKED[name](shared) for name in ASKED]
    with ProcessPoolExecutor(
        1, mp_context=multiprocessing.get_context("spawn")
    ) as pool:
        assert list(pool.map(_asked, [shared] * len(ASKED), ASKED)) == expected
