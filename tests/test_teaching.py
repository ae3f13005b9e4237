"""The teacher's pages: the exercises are what their program makes, and their answers are recnb's."""

from __future__ import annotations

import contextlib
import re
from itertools import permutations
from pathlib import Path

import pytest

import recnb
from tests.korean import english_in, page
from tests.tools.notebooks import BUILT

FOLDERS = {"en": BUILT, "ko": BUILT / "ko"}
JUDGED = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


@pytest.mark.parametrize("lang", FOLDERS)
def test_the_exercises_are_what_the_page_makes(lang: str, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (FOLDERS[lang] / "teaching.md").read_text("utf-8"), flags=re.DOTALL)
    names: dict[str, list[recnb.widgets.Quiz]] = {}
    with contextlib.chdir(tmp_path):
        exec(program, names)
    for name in ("exercises.html", "solutions.html"):
        made = (tmp_path / name).read_text("utf-8")
        assert made == (FOLDERS[lang] / name).read_text("utf-8"), f"run the program of {lang}, beside it"
        assert lang == "en" or english_in(page(made)) == set()
    assert all(names["others"][1].check(answer) for answer in ("(3/log2(3) + 1/2) / (3 + 2/log2(3) + 1/2)", "0.5025"))


@pytest.mark.parametrize("lang", FOLDERS)
def test_the_answers_of_the_page_are_those_of_recnb(lang: str) -> None:
    text = (FOLDERS[lang] / "teaching.md").read_text("utf-8")
    values = [recnb.ndcg(list(shown), JUDGED, k=3) for shown in ("ABC", "CAB", "CB", "CD", "BD")]
    assert [f"{value:.4f}" in text for value in values] == [True] * 5
    assert [row for row in permutations("BCD") if recnb.ndcg(row, JUDGED, k=3) > 1 - 1e-12] == [("C", "B", "D"), ("C", "D", "B")]  # fmt: skip
    q = recnb.quiz("ndcg", seed=1, k=3)
    assert q.check("(1/1 + 3/1.58496) / (3/1 + 3/1.58496 + 3/2)")
    assert [bool(q.check(value).mistake) for value in ("0.4909", "0.4444", "0.3786")] == [True] * 3
    assert "2.8928 / 6.3928 = 0.4525" in text
    assert f"{recnb.idcg([3, 3, 2, 2, 1, 0]):.4f}" in text
