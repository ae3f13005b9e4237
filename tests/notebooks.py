"""Notebooks built from their sources: `python -m tests.notebooks build [name ...]`, `python -m tests.notebooks check`.

`notebooks/source/NN_name.py` (jupytext, percent format) is what one edits; `notebooks/NN_name.ipynb` is made of it by
running it, without anything that differs from run to run, so that two builds give the same bytes and a difference in
git is a change of text or of numbers. A name may be shortened to how it begins: `build 01`.

Outputs of cells tagged `nbval-ignore-output` (timings) are kept from the stored notebook as long as the cell's code is
the same; remove the `.ipynb` first to have them anew.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "notebooks"
SOURCES = BUILT / "source"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGET = "application/vnd.jupyter.widget"
IGNORED = ("nbval-ignore-output", "nbval-skip")

#: What differs from run to run, and what stands for it: the list that nbval compares with.
CLEANING = re.findall(r"^regex: (.*)\nreplace: (.*)$", (ROOT / "tests/nbval_sanitize.cfg").read_text("utf-8"), re.M)


class ThisInterpreter(AsyncKernelManager):
    """A kernel of the Python that runs this, whatever kernels are installed beside it."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())


def sources(names: list[str] | None = None) -> list[Path]:
    """The sources of the notebooks, all or those whose names begin so."""
    known = sorted(SOURCES.glob("[0-9]*.py"))
    begins = [Path(name).stem for name in names or [""]]
    if missing := [name for name in begins if not any(path.stem.startswith(name) for path in known)]:
        sys.exit(f"no notebook begins with {', '.join(missing)}; there are {', '.join(path.stem for path in known)}")
    return [path for path in known if path.stem.startswith(tuple(begins))]


def target(source: Path) -> Path:
    """Where the notebook made of a source is stored."""
    return BUILT / f"{source.stem}.ipynb"


def read_source(source: Path) -> NotebookNode:
    """The cells of a source, not run: ids in order, and of the cells' metadata their tags alone."""
    notebook = jupytext.read(source)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = NotebookNode({name: value for name, value in cell.metadata.items() if name == "tags"})
    return notebook


def run(notebook: NotebookNode, folder: Path = BUILT) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel in that folder, cleaned of what differs from run to run."""
    os.environ["RECNB_NO_PROGRESS"] = "1"  # a bar would be there on slow machines alone
    NotebookClient(
        notebook, kernel_manager_class=ThisInterpreter, timeout=300, record_timing=False, store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute(stderr=subprocess.DEVNULL)  # fmt: skip
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    for count, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.execution_count = count
        # What programs say when they start, on a channel that nobody compares, names the machine.
        heard = [one for one in cell.outputs if not (ignored(cell) and one.get("name") == "stderr")]
        cell.outputs = _cleaned(heard)
    return notebook


def _cleaned(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs in which two runs agree: whole streams, no widgets, no addresses, no traceback through installed files."""
    kept: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        elif output.output_type != "error":
            for mime in [mime for mime in output.data if mime.startswith(WIDGET)]:
                del output.data[mime]
            if not output.data:
                continue
        kept.append(output)
    for output in kept:
        for holder in (output, output.get("data", {})):
            for name in [name for name, value in holder.items() if isinstance(value, str) and name != "image/png"]:
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
    notebook = run(read_source(source))
    if target(source).exists():
        stored = {cell.source: cell.get("outputs") for cell in nbformat.read(target(source), as_version=4).cells}
        for cell in notebook.cells:
            if cell.cell_type == "code" and ignored(cell):
                cell.outputs = stored.get(cell.source, cell.outputs)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def main() -> int:
    """Build notebooks, or check that those stored are what a build gives."""
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks", description=main.__doc__)
    parser.add_argument("what", choices=["build", "check"])
    parser.add_argument("names", nargs="*", help="how the names begin; all if none is given")
    asked = parser.parse_args()
    differ = []
    for source in sources(asked.names):
        text, path = built(source), target(source)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            differ.append(path.name)
            if asked.what == "build":
                path.write_text(text, encoding="utf-8", newline="\n")
        changed = "written" if asked.what == "build" else "DIFFERS"
        print(f"{path.name}: {changed if path.name in differ else 'same'}", flush=True)
    strays = sorted(path.name for path in BUILT.glob("*.ipynb") if not (SOURCES / f"{path.stem}.py").exists())
    print(*(f"{name}: has no source" for name in strays), sep="\n", end="\n" if strays else "")
    return int(asked.what == "check" and bool(differ or strays))


if __name__ == "__main__":
    sys.exit(main())
