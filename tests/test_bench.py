"""The bench on tiny data: what it times is the same, and it says what failed. No times
are tested.
"""

from __future__ import annotations

import itertools

import pytest

import recnb
from tests.tools.bench import __main__ as program
from tests.tools.bench.contenders import polars_ndcg
from tests.tools.bench.data import TINY, Size, make
from tests.tools.bench.night import Night

ODD = Size("odd", 37, 13, 4)


@pytest.mark.parametrize(
    "size", [ODD, Size("long", 20, 40, 20)], ids=lambda size: size.name
)
def test_the_query_computes_what_recnb_does(size):
    for strings, shuffled, scores in itertools.product([False, True], repeat=3):
        recs, truth = make(size, strings=strings, shuffled=shuffled, scores=scores)
        assert (
            "score" in recs.columns,
            recs["user"].rle_id().n_unique() > size.users,
        ) == (scores, shuffled)
        for k in (1, 10):
            assert polars_ndcg(recs, truth, k) == pytest.approx(
                recnb.evaluate(recs, truth).ndcg(k=k), abs=1e-12
            )


@pytest.mark.slow
def test_different_things_are_not_timed_and_the_rest_makes_tables(capsys, monkeypatch):
    monkeypatch.setattr(program, "SMALL", TINY)
    monkeypatch.setattr(program.night, "USUAL", Night(3, 60, 20, 12, 4))
    program.main(
        [
            "--quick",
            "--rounds",
            "1",
            "query",
            "night",
            "epochs",
            "presets",
            "weights",
            "files",
            "--millions",
        ]
    )
    tables = [part.splitlines() for part in capsys.readouterr().out.split("### ")[1:]]
    rows = [[line for line in one if line.startswith("|")] for one in tables]
    assert (
        [len(one) for one in rows],
        {len({line.count("|") for line in one}) for one in rows},
    ) == (
        [10, 4, 8, 5, 5, 2],
        {1},
    )
    monkeypatch.setattr(program, "polars_ndcg", lambda *_: 0.5)
    with pytest.raises(AssertionError, match="must be the same"):
        program.main(["query", "--quick"])
    with pytest.raises(AssertionError, match="must be the same"):
        program.same_numbers([[(0.5, 0.25)], [(0.5, 0.5)]])
