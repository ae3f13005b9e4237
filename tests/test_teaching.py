"""The teacher's pages: the exercises are what their program makes, and the answers are recnb's."""

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

import recnb
from tests.tools.notebooks import BUILT


@pytest.mark.parametrize("folder", [BUILT, BUILT / "ko"], ids=["en", "ko"])
def test_exercises_and_answers_of_the_page(folder: Path, tmp_path: Path) -> None:
    text, names = (folder / "teaching.md").read_text("utf-8"), dict[str, Any]()
    with contextlib.chdir(tmp_path):
        exec(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0], names)
    for name in ("exercises.html", "solutions.html"):
        made = (tmp_path / name).read_text("utf-8")
        assert made == (folder / name).read_text("utf-8"), "run the program of the page, beside it"
    assert all(map(names["others"][1].check, re.search(r'check\("(.*?)"\).*`([\d.]+)`', text).groups()))
    judged, q = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}, recnb.quiz("ndcg", seed=1, k=3)
    values = [recnb.ndcg(list(shown), judged, k=3) for shown in ("ABC", "CAB", "CB", "CD", "BD")]
    assert [f"{value:.4f}" in text for value in [*values, q.value, recnb.idcg([3, 3, 2, 2, 1])]] == [True] * 7
    assert [bool(q.check(value).mistake) for value in ("0.4909", "0.4444", "0.3786")] == [True] * 3
