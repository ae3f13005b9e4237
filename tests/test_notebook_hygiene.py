"""What nbval leaves unseen in a stored notebook.

nbval compares stored outputs with fresh ones, but it skips a cell that has no execution
count, so a notebook whose outputs were stripped passes; nor does it look at pictures,
widgets or prose. Those are looked at here.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jupytext
import nbformat
import pytest
from nbformat import NotebookNode

import recnb
from tests.display.test_korean import NAMES, OF_LIBRARIES, words_in
from tests.korean import english_in
from tests.korean import page as sheet_text
from tests.tools.notebooks import (
    BUILT,
    KERNEL,
    LESSONS,
    SETTING,
    SOURCES,
    WIDGET,
    ignored,
    read_source,
    run,
    source_of,
    sources,
    stored,
    target,
    translated,
    words_of,
)

LARGEST_OUTPUT = 200_000
MOST_IGNORED = 0.2
#: Where files lie on somebody's computer.
PLACES = re.compile(
    r"(?<![\w/.:-])/(?:home|Users|root|tmp|work|usr|var|opt|mnt)/\w|\b[A-Z]:\\\\?Users|site-packages|file://"
)
BASE64 = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=\s]+")
STORED = stored()
TRANSLATED = [path for path in STORED if path.parent != BUILT]


def _name(path: Path) -> str:
    return path.relative_to(BUILT).with_suffix("").as_posix()


def problems(notebook: NotebookNode) -> list[str]:
    """What is wrong with a stored notebook, in words; empty if nothing is."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        found.append(
            f"execution counts are {counts}, not 1 to {len(code)}: it was "
            f"stripped, or not run from the top"
        )
    if not any(cell.outputs for cell in code):
        found.append("no cell has an output: there is nothing to compare with")
    if "widgets" in notebook.metadata:
        found.append("widget state is stored")
    if (
        set(notebook.metadata) != {"kernelspec"}
        or notebook.metadata.kernelspec != KERNEL
    ):
        found.append(
            f"the notebook's metadata is not the kernel alone: {dict(notebook.metadata)}"
        )
    share = sum(map(ignored, code)) / max(len(code), 1)
    if share > MOST_IGNORED:
        found.append(
            f"{share:.0%} of the code cells are not compared, more than {MOST_IGNORED:.0%}"
        )
    for number, cell in enumerate(code, 1):
        found += [
            f"code cell {number}: {problem}" for problem in _problems_of_cell(cell)
        ]
    return found


def _problems_of_cell(cell: NotebookNode) -> Iterator[str]:
    tags = cell.metadata.get("tags", [])
    if set(cell.metadata) - {"tags"}:
        yield f"metadata other than tags: {sorted(cell.metadata)}"
    failed = any(output.output_type == "error" for output in cell.outputs)
    if failed and "raises-exception" not in tags:
        yield "an error is stored"
    if "raises-exception" in tags and not failed:
        yield "it is said to raise, and no error is stored"
    for output in cell.outputs:
        if any(mime.startswith(WIDGET) for mime in output.get("data", {})):
            yield "a live widget is stored"
        if (size := len(json.dumps(output))) > LARGEST_OUTPUT:
            yield f"an output of {size:,} characters"
        for text in _texts(output):
            if place := PLACES.search(BASE64.sub("", text)):
                yield (
                    f"an output names a place on a computer: "
                    f"{text[max(place.start() - 20, 0) : place.end() + 40]!r}"
                )
    pictures = [
        output for output in cell.outputs if "image/png" in output.get("data", {})
    ]
    others = " ".join(
        text
        for output in cell.outputs
        if output not in pictures
        for text in _texts(output)
    )
    if pictures and not re.search(r"\d", re.sub(r"0x\w+", "", others)):
        yield "a picture without printed numbers, so that nothing of it is compared"


def _texts(output: NotebookNode) -> list[str]:
    """All that can be read in an output; pictures cannot."""
    texts = [
        output.get("text", ""),
        output.get("evalue", ""),
        *output.get("traceback", []),
    ]
    texts += [
        value
        for mime, value in output.get("data", {}).items()
        if not mime.startswith("image/png")
    ]
    return [text if isinstance(text, str) else json.dumps(text) for text in texts]


def read(path: Path) -> NotebookNode:
    """A stored notebook."""
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", STORED, ids=_name)
def test_stored_notebook_is_whole(path: Path) -> None:
    nbformat.validate(read(path))
    assert problems(read(path)) == []
    assert path.read_text(encoding="utf-8").endswith("}\n")


@pytest.mark.parametrize("path", STORED, ids=_name)
def test_stored_notebook_has_the_cells_of_its_source(path: Path) -> None:
    def cells(notebook: NotebookNode) -> list[tuple[object, ...]]:
        return [
            (cell.id, cell.cell_type, cell.metadata.get("tags", []), cell.source)
            for cell in notebook.cells
        ]

    assert cells(read(path)) == cells(read_source(source_of(path))), (
        f"type: python -m tests.tools.notebooks build {_name(path)}"
    )


def test_every_source_is_built() -> None:
    assert sorted(target(source) for source in sources()) == STORED


@pytest.mark.parametrize("path", TRANSLATED, ids=_name)
def test_translated_notebook_has_the_code_of_the_english_one(path: Path) -> None:
    def code(notebook: NotebookNode) -> list[tuple[list[str], str]]:
        return [
            (cell.metadata.get("tags", []), cell.source)
            for cell in notebook.cells
            if cell.cell_type == "code"
        ]

    words = words_of(source_of(path))
    english = [
        (tags, translated(cell, words)) for tags, cell in code(read(BUILT / path.name))
    ]
    (tags, first), *others = english
    first = first.replace("import recnb", SETTING.format(language=path.parent.name), 1)
    assert code(read(path)) == [(tags, first), *others]


#: Code in what Korean notebooks show, `metric` heading the names of metrics in a table
#: among it; columns; options.
CODE = words_in(
    [
        "activity argsort check largest length light list metric random recnb scores",
        "user item rank score rating liked favourite recommended relevant",
        "linear exponential weight gamma explorer reveal",
    ]
)
#: Names of methods, of columns and their values, of models and of engines, by notebook.
OF_NOTEBOOK = {
    "09": words_in(
        [
            "beyond curve detectable baseline other identical verdict won",
            "tied lost not better worse hint open blue red rbo",
        ]
    ),
    "11": words_in(
        ["Dask Polars Spark DataFrame curve all half baseline verdict worse"]
    ),
    "13": words_in(
        [
            "query measure expected items",
            *recnb.datasets.load_questions().retrievers,
            *recnb.datasets.load_questions().queries["text"],
            *recnb.datasets.load_questions().passages["text"],
        ]
    ),
}
#: An error that a cell shows, which is in English, a picture, in words, and the names
#: of models.
IN_ENGLISH = re.compile(
    r"^recnb: .*|<Figure .*>|<IPython.*>|item-knn, factors, popular"
    r"|raises an error.*?frames\.|^coverage is.*",
    re.M,
)


def shown(path: Path) -> str:
    """What the cells of a notebook show, as text."""
    outputs = [
        output for cell in read(path).cells for output in cell.get("outputs", [])
    ]
    return "\n".join(
        output.get("text", output.get("data", {}).get("text/plain", ""))
        for output in outputs
    )


@pytest.mark.parametrize("path", TRANSLATED, ids=_name)
def test_translated_notebook_shows_no_english(path: Path) -> None:
    known = (
        CODE | NAMES | OF_LIBRARIES
        if path.stem[:2] in ("04", "06", "08", "09", "10", "11", "12", "13")
        else CODE
    )  # of libraries and items
    known = known | OF_NOTEBOOK.get(path.stem[:2], set())
    assert english_in(IN_ENGLISH.sub("", shown(path))) - known == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name[:2] == "12" else ())
        for name in LESSONS
    ],
)
def test_what_a_lesson_claims_holds_and_is_checked_out_of_sight(name: str) -> None:
    names: dict[str, object] = {"display": print}
    for cell in jupytext.read(SOURCES / f"{name}.py").cells:
        exec(cell.source if cell.cell_type == "code" else "", names)
    for path in (BUILT / f"{name}.ipynb", BUILT / f"ko/{name}.ipynb"):
        cells = read(path).cells
        assert [
            one.source
            for one in cells
            if re.search("assert |# claim|worked:", one.source)
        ] == []
        if name == "04_dcg_ndcg":  # the lesson of the class
            code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
            assert re.findall(r"^ *(?:import|from) .*", code, re.M) == ["import recnb"]
            assert [
                code.count(f"recnb.{name}(")
                for name in ("explain", "playground", "quiz")
            ] == [2, 1, 1]


#: Folders of notebooks by language; CI alone runs what is in Korean.
FOLDERS = [
    pytest.param(BUILT, id="en"),
    pytest.param(BUILT / "ko", id="ko", marks=pytest.mark.slow),
]


class Plan(NamedTuple):
    """A plan of a class or a course, whose programs were run."""

    text: str
    names: dict[str, Any]  #: that the programs leave
    printed: str
    sheets: dict[str, str]  #: that they write, by their names


@cache
def run_plan(plan: Path) -> Plan:
    """Run the programs of a plan in a folder of their own."""
    text = plan.read_text("utf-8")
    names = dict[str, Any]()
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert programs
    with (
        TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()) as printed,
    ):
        try:
            for program in programs:
                exec(program, names)
        finally:
            recnb.language("en")
        sheets = {path.name: path.read_text("utf-8") for path in Path().glob("*.html")}
    return Plan(text, names, printed.getvalue(), sheets)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize(("name", "n_sheets"), [("teaching.md", 4), ("course.md", 2)])
def test_the_programs_of_a_plan_make_its_sheets(
    folder: Path, name: str, n_sheets: int
) -> None:
    plan = run_plan(folder / name)
    assert {*plan.sheets} == {*re.findall(r"\(sheets/(\w+\.html)\)", plan.text)}
    assert len(plan.sheets) == n_sheets
    for name, sheet in plan.sheets.items():
        assert (folder / "sheets" / name).read_text("utf-8") == sheet, (
            "run the program of the page in the folder of sheets"
        )
        assert folder == BUILT or english_in(sheet_text(sheet)) == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_neighbours_have_other_numbers_and_all_find_a_misprint(folder: Path) -> None:
    plan = run_plan(folder / "teaching.md")
    sheets = plan.names["sheets"]
    for first, second in zip(*(sheet[:-1] for sheet in sheets.values()), strict=True):
        assert first.label == second.label
        assert first.rounded(first.value) != second.rounded(second.value)
        assert not first.check(second.rounded(second.value))
    misprints = [sheet[-1] for sheet in sheets.values()]
    assert ["0.6753" in misprints[0][1], "1.2619" in misprints[1][1]] == [True, True]
    calls = re.search(r'check\("(.*?)"\)[^`]*`[^`]*?`?([\d.]{6})`', plan.text)
    assert all(map(sheets["A"][2].check, calls.groups()))


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_figure_of_the_class_is_computed(folder: Path) -> None:
    text = (folder / "teaching.md").read_text("utf-8")
    judged, q = (
        {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1},
        recnb.quiz("ndcg", seed=1, k=3),
    )
    grades = [3, 2, 3, 0, 1, 2]
    mistakes = ("0.4909", "0.4444", "0.3786", "2.2099")
    assert [bool(q.check(value).mistake) for value in mistakes] == [True] * 4
    typed = "(1/1 + 3/1.58496) / (3/1 + 3/1.58496 + 3/2)"
    assert typed in text
    assert q.check(typed)
    values = [
        recnb.ndcg(list(shown), judged, k=3)
        for shown in ("ABC", "CAB", "CB", "CD", "BD", "ACB")
    ]
    every = [list(shown) for shown in permutations("ABCDE", 3)]
    values += [
        recnb.ndcg(every, [judged] * len(every), k=3),
        recnb.dcg(grades),
        recnb.idcg(grades),
        recnb.ndcg(grades),
        q.value,
        q.score("dcg"),
        q.score("idcg"),
        recnb.dcg([0, 0, 0, 2, 1, 0]),
    ]
    computed = {f"{value:.4f}" for value in values} | {*mistakes}
    plan = text[text.index("| 0") : text.index("```python")]
    assert set(re.findall(r"(?<![\d.])\d\.\d{4}(?!\d)", plan)) - {"0.6075"} == computed
    assert f"{recnb.idcg([1, 1]):.2f}" in plan


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_figure_of_the_course_is_computed(folder: Path) -> None:
    text, names, output, _sheets = run_plan(folder / "course.md")
    table = text[text.index("| 0") : text.index("```python")]
    printed = set(re.findall(r"\d\.\d{4}", output))
    first = names["first"]
    printed |= {first.rounded(first.value), first.rounded(first.score(gain="linear"))}
    assert set(re.findall(r"\d\.\d{4}", table)) <= printed
    assert {"0.1577", "0.4831", "0.2303", "0.0046", "0.9968"} <= printed
    solutions = " ".join(solution for _question, solution in names["questions"])
    best, first_hit = 3 + 1 / log2(3), 1 + 3 / log2(3)
    by_hand = [first_hit / best, 1 / best, (first_hit + 1) / best / 2]
    by_hand += [0.25 - 1.96 * 0.03, 0.27 + 1.96 * 0.03, 0.02 - 1.96 * 0.009]
    assert [f"{value:.4f}" in solutions for value in by_hand] == [True] * 6
    assert f"{39 * 99 / 999:.2f}" in solutions
    assert f"{names['hit_at_10'](40):.2%}".replace("%", "") in solutions


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in STORED if path.parent == BUILT and path.stem != "11_scale"],
    ids=_name,
)
def test_a_notebook_runs_alone_in_an_empty_folder(path: Path, tmp_path: Path) -> None:
    """A translated notebook has the code of the English one, as is tested above."""
    assert [
        cell.get("execution_count") for cell in run(read(path), tmp_path).cells
    ] == [cell.get("execution_count") for cell in read(path).cells]
