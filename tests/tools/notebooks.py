"""Notebooks built from their sources: `python -m tests.tools.notebooks build [name
...]`.

`notebooks/source/NN_name.py` (jupytext, percent format) is what one edits;
`notebooks/NN_name.ipynb` is made of it by running it, without anything that differs
from run to run, so that two builds give the same bytes and a difference in git is a
change of text or of numbers. A name may be shortened to how it begins: `build 01`,
`build ko/01`.

`notebooks/source/ko/NN_name.py` holds the Korean text alone: its code cells are empty
and are filled with those of the English source, in their order; the first one sets the
language as well. Strings in the code are those of `notebooks/source/ko/words.py`.

Lessons hold their claims as assertions in the source alone, with lines that end in `#
claim`; `tests/test_notebook_hygiene.py` runs them.

Outputs of cells tagged `nbval-ignore-output` (timings) are kept from the stored
notebook as long as the cell's code is the same; remove the `.ipynb` first to have them
anew.
"""

from __future__ import annotations

import argparse
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from recnb.display.style import KOREAN
from tests import kernels

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "notebooks"
SOURCES = BUILT / "source"
#: The folders of notebooks in other languages.
LANGUAGES = ("ko",)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGET = "application/vnd.jupyter.widget"
#: What the first code cell of a translated notebook has for `import recnb`.
SETTING = 'import recnb\n\nrecnb.language("{language}")'
#: The notebooks that teach, whose claims are checked out of sight.
LESSONS = (
    "02_precision_recall",
    "03_hit_rate_rr_ap",
    "04_dcg_ndcg",
    "04b_ndcg_claims",
    "07_playground",
    "12_what_nobody_saw",
    "13_retrieval",
)
CLAIM = re.compile(r"^ *assert .*\n?|^.*# claim$\n?", re.M)
#: A comment, or a string of code, also one over several lines; and an expression in an
#: f-string.
STRING = re.compile(
    r"""#[^\n]*|(?P<prefix>\b[rf])?"""
    r"""(?:\"{3}(?P<long>(?:(?!\"{3})[\s\S])*)\"{3}"""
    r"""|(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote))"""
)
EXPRESSION = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
IGNORED = ("nbval-ignore-output", "nbval-skip")

#: What differs from run to run, and what stands for it: the list that nbval compares
#: with.
CLEANING = re.findall(
    r"^regex: (.*)\nreplace: (.*)$",
    (ROOT / "tests/nbval_sanitize.cfg").read_text("utf-8"),
    re.M,
)


def sources(names: list[str] | None = None) -> list[Path]:
    """The sources of the notebooks, all or those whose names begin so."""
    every = {
        path.relative_to(SOURCES).with_suffix("").as_posix(): path
        for path in SOURCES.rglob("[0-9]*.py")
    }
    begins = [name.removesuffix(".ipynb") for name in names or [""]]
    if missing := [
        begin for begin in begins if not any(name.startswith(begin) for name in every)
    ]:
        sys.exit(
            f"no notebook begins with {', '.join(missing)}; there are {', '.join(sorted(every))}"
        )
    return [every[name] for name in sorted(every) if name.startswith(tuple(begins))]


def stored() -> list[Path]:
    """The notebooks that are stored, of every language."""
    return sorted(
        [
            *BUILT.glob("*.ipynb"),
            *(path for name in LANGUAGES for path in (BUILT / name).glob("*.ipynb")),
        ]
    )


def target(source: Path) -> Path:
    """Where the notebook made of a source is stored."""
    return BUILT / source.relative_to(SOURCES).with_suffix(".ipynb")


def source_of(path: Path) -> Path:
    """The source that a stored notebook is made of."""
    return SOURCES / path.relative_to(BUILT).with_suffix(".py")


def read_source(source: Path) -> NotebookNode:
    """The cells of a source, not run: ids in order, and of the cells' metadata their
    tags alone.
    """
    notebook = jupytext.read(source)
    if source.parent != SOURCES:
        _fill(notebook, source)
    if source.stem in LESSONS:
        for cell in notebook.cells:
            cell.source = re.sub(r"\n{4,}", "\n\n", CLAIM.sub("", cell.source)).strip()
        notebook.cells = [cell for cell in notebook.cells if cell.source]
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = NotebookNode(
            {name: value for name, value in cell.metadata.items() if name == "tags"}
        )
    return notebook


def _fill(notebook: NotebookNode, source: Path) -> None:
    """Put the code of the English source into the empty code cells of a translation."""
    english = SOURCES / source.name
    code = [cell for cell in jupytext.read(english).cells if cell.cell_type == "code"]
    places = [
        number for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"
    ]
    if len(places) != len(code) or any(
        notebook.cells[place].source.strip() for place in places
    ):
        sys.exit(
            f"{source} has {len(places)} code cells, which are to be {len(code)}, "
            f"empty: code is written in {english.name}"
        )
    words = words_of(source)
    code[0].source = code[0].source.replace(
        "import recnb", SETTING.format(language=source.parent.name), 1
    )
    for place, cell in zip(places, code, strict=True):
        cell.source = translated(cell.source, words)
        notebook.cells[place] = cell


def words_of(source: Path) -> dict[str, str]:
    """The words for the strings of a translated notebook."""
    found = runpy.run_path(str(source.parent / "words.py"))
    kept = found["KEPT"].get(source.stem, set())
    return {text: word for text, word in found["WORDS"].items() if text not in kept}


def translated(code: str, words: Mapping[str, str]) -> str:
    """Code with its strings, if there are words for them, in another language.

    >>> print(translated("print(f'{n} hits', f['user'])  # 'hits'", {"{} hits": "적중 {}개", "hits": "적중"}))
    print(f'적중 {n}개', f['user'])  # 'hits'
    """  # noqa: E501

    def replaced(string: re.Match[str]) -> str:
        prefix, quote, text = string["prefix"] or "", string["quote"], string["text"]
        if string["long"] is not None:
            quote, text = '"""', string["long"]
        if text is None:
            return string[0]
        inside = (
            [translated(one, words) for one in EXPRESSION.findall(text)]
            if prefix == "f"
            else []
        )
        for one in EXPRESSION.findall(text) if inside else []:
            text = text.replace(one, "{}", 1)
        return f"{prefix}{quote}{words.get(text, text).format(*inside) if inside else words.get(text, text)}{quote}"  # noqa: E501

    return STRING.sub(replaced, code)


def run(notebook: NotebookNode, folder: Path = BUILT) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel in that folder, cleaned of what
    differs from run to run.
    """
    kernels.prepare()
    NotebookClient(
        notebook,
        kernel_manager_class=kernels.ThisInterpreter,
        timeout=300,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute(stderr=subprocess.DEVNULL)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    for count, cell in enumerate(
        (cell for cell in notebook.cells if cell.cell_type == "code"), 1
    ):
        cell.execution_count = count
        # What programs say when they start, on a channel that nobody compares, names
        # the machine.
        heard = [
            one
            for one in cell.outputs
            if not (ignored(cell) and one.get("name") == "stderr")
        ]
        cell.outputs = _cleaned(heard)
    return notebook


def _cleaned(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs in which two runs agree: whole streams, no widgets, no addresses, no
    traceback through installed files.
    """
    kept: list[NotebookNode] = []
    for output in outputs:
        if (
            output.output_type == "stream"
            and kept
            and kept[-1].get("name") == output.name
        ):
            kept[-1].text += output.text
            continue
        if "data" in output:
            output.data = NotebookNode(
                {
                    mime: one
                    for mime, one in output.data.items()
                    if not mime.startswith(WIDGET)
                }
            )
        if output.get("data", True):
            kept.append(output)
    for output in kept:
        for holder in (output, output.get("data", {})):
            for name in [
                name
                for name, value in holder.items()
                if isinstance(value, str) and name != "image/png"
            ]:
                for regex, replacement in CLEANING:
                    holder[name] = re.sub(regex, replacement, holder[name])
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
    return kept


def ignored(cell: NotebookNode) -> bool:
    """Whether nbval leaves the outputs of this cell uncompared."""
    return any(tag in IGNORED for tag in cell.metadata.get("tags", []))


def built(source: Path) -> str:
    """The text of the notebook file that a source makes."""
    notebook = run(read_source(source), target(source).parent)
    if target(source).exists():
        stored = {
            cell.source: cell.get("outputs")
            for cell in nbformat.read(target(source), as_version=4).cells
        }
        for cell in notebook.cells:
            if cell.cell_type == "code" and ignored(cell):
                cell.outputs = stored.get(cell.source, cell.outputs)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def has_korean_font() -> bool:
    """Whether plots of a kernel can have Korean labels."""
    kernels.prepare()  # of which matplotlib keeps no older list of fonts
    from matplotlib import font_manager

    return not {*KOREAN}.isdisjoint(font_manager.get_font_names())


def main() -> None:
    """Build notebooks."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.notebooks", description=main.__doc__
    )
    parser.add_argument("what", choices=["build"])
    parser.add_argument(
        "names", nargs="*", help="how the names begin; all if none is given"
    )
    chosen = sources(parser.parse_args().names)
    in_english = all(source.parent == SOURCES for source in chosen)
    if not in_english and not has_korean_font():
        sys.exit(
            f"no font with Korean letters is installed, so labels of plots would be in "
            f"English. Install one of: {', '.join(KOREAN[:4])}"
        )
    for source in chosen:
        target(source).write_text(built(source), encoding="utf-8", newline="\n")
        print(target(source).relative_to(BUILT).as_posix(), flush=True)


if __name__ == "__main__":
    main()
