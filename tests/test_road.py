"""The road of one number, as `recnb/README.md` tells it: the functions that it names are
called, in that order.
"""

import re
import sys
from pathlib import Path
from types import FrameType

import pandas as pd

import recnb

HOME = Path(recnb.__file__).parent
README = (HOME / "README.md").read_text(encoding="utf-8")
ROAD = README.partition("## The road of one number")[2].partition("\n## ")[0]
FRAME = pd.DataFrame(
    {"user": ["u", "u", "v"], "item": ["a", "b", "a"], "score": [0.9, 0.1, 0.3]}
)


def called(name: str) -> list[str]:
    """Names of recnb's functions in the order of their calls behind a metric."""
    evaluation = FRAME.rec.against(FRAME.head(1))
    names = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)):
            names.append(code.co_qualname.rpartition("<locals>.")[2])

    sys.setprofile(note)
    try:
        getattr(evaluation, name)(k=10)
    finally:
        sys.setprofile(None)
    return names


def test_the_road_of_one_number_passes_the_functions_that_the_readme_names():
    steps = re.findall(r"^\d\. (.*)$", ROAD, re.MULTILINE)
    assert len(steps) == 9
    names = called("ndcg")
    missing = []
    for step in steps:
        # Names in a sentence after the first are of what comes of a step.
        road, _colon, _what = step.partition(":")
        for name in re.findall(r"`([\w.]+)`", road):
            if name.endswith(".py") or name == "method":
                continue
            if name not in names:
                missing.append(name)
                continue
            names = names[names.index(name) :]
    assert missing == []


def test_the_road_of_one_number_names_functions_of_the_files_that_it_names():
    files = {}
    for path in HOME.rglob("*.py"):
        files[path.relative_to(HOME).as_posix()] = path.read_text(encoding="utf-8")
    for file, name in re.findall(r"`([\w/]+\.py)` `([\w.]+)`", ROAD):
        texts = [text for path, text in files.items() if path.endswith(file)]
        function = name.rpartition(".")[2]
        assert any(f"def {function}(" in text for text in texts), (file, name)
