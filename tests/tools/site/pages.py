"""Which files are pages of the site, and how they are taken over.

Links are those of the repository: a link to a file that is a page leads to that page,
and a link to another file to a copy of it, which the browser opens or downloads.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

from tests.tools.notebooks import BUILT, ROOT, stored
from tests.tools.site.front import front_page
from tests.tools.site.mathml import with_formulas

#: Where each Markdown file of the repository is on the site.
PAGES = {
    "README.md": "start.md",
    "notebooks/README.md": "notebooks/index.md",
    "recnb/data/README.md": "data.md",
    "recnb/metrics/README.md": "metrics.md",
    "recnb/conventions/README.md": "conventions.md",
    "recnb/stats/README.md": "statistics.md",
    "recnb/cli/README.md": "command_line.md",
    "recnb/distributed/README.md": "scale.md",
    "tests/tools/bench/README.md": "speed.md",
    "recnb/TRAINING.md": "training.md",
    "recnb/PEERS.md": "peers.md",
    "recnb/CHANGELOG.md": "changes.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "tests/README.md": "tests.md",
    "recnb/README.md": "code.md",
    "recnb/DECISIONS.md": "decisions.md",
    "notebooks/teaching.md": "notebooks/teaching.md",
    "notebooks/course.md": "notebooks/course.md",
    "notebooks/ko/teaching.md": "notebooks/ko/teaching.md",
    "notebooks/ko/course.md": "notebooks/ko/course.md",
    "notebooks/ko/terms.md": "notebooks/ko/terms.md",
}

#: What the navigation lists below the front page: what one reads, then what one looks
#: up. The first five are in the bar at the top, which has room for short words.
TOP = {
    "start": "Start",
    "notebooks/index": "Notebooks",
    "data": "Data",
    "metrics": "Metrics",
    "reference/index": "Reference",
    "statistics": "Statistics",
    "conventions": "Conventions",
    "command_line": "Command line",
    "scale": "Scale",
    "speed": "Speed",
    "training": "Training",
    "peers": "Other libraries",
    "changes": "Changes",
    "contributing": "Contributing",
    "tests": "Tests",
    "code": "Map of the code",
    "decisions": "Decisions",
}
#: The lessons of notebooks/README.md in their order, then the others.
READING_ORDER = [
    "01",
    "02",
    "03",
    "04",
    "04b",
    "07",
    "05",
    "06",
    "08",
    "09",
    "10",
    "11",
    "12",
    "13",
]
CLASSES = ["teaching", "course"]

#: A link or a picture of Markdown, up to its end.
LINK = re.compile(r"(?P<words>\]\()(?P<target>[^()\s]+)\)")
WHOLE_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")


class BrokenLinkError(ValueError):
    """A page of the repository links to a file that is not there."""


def write_sources(folder: Path) -> None:
    """Write the pages and notebooks into a folder, from which Sphinx makes the site."""
    site = Sources(folder)
    front = site.linked(front_page(), "index.md")
    contents = [f"{title} <{document}>" for document, title in TOP.items()]
    site.write("index.md", front + _contents(contents))
    for page, target in PAGES.items():
        text = site.linked((ROOT / page).read_text("utf-8"), page)
        site.write(target, _completed(text, page))
    for path in stored():
        name = path.relative_to(ROOT).as_posix()
        site.write(name, _notebook(site, path, name))


class Sources:
    """The folder of the sources, and the files that are copied there for links."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, target: str, text: str) -> None:
        """Write a source."""
        path = self.folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def linked(self, text: str, page: str) -> str:
        """Turn the links of a file of the repository into those of its page."""
        readable = WHOLE_LINK.sub(lambda link: self._readable(link, page), text)
        return LINK.sub(lambda link: self._link(link, page), readable)

    def _readable(self, link: re.Match[str], page: str) -> str:
        """Keep the words of a link to a folder, which the site does not have.

        A link whose words are the name of a file gets none: Sphinx puts the title of
        the page there, by which a reader of the site knows it.
        """
        target = link["target"]
        if _is_elsewhere(target):
            return link[0]
        if _file(target, page).is_dir():
            return link["words"]
        if link["words"].endswith(".md"):
            return f"[]({target})"
        return link[0]

    def _link(self, link: re.Match[str], page: str) -> str:
        target = link["target"]
        if _is_elsewhere(target):
            return link[0]
        file = _file(target, page)
        if not file.is_file():
            raise BrokenLinkError(f"{page} links to {target}, which is not there.")
        name = file.relative_to(ROOT).as_posix()
        on_site = PAGES.get(name, name)
        if name not in PAGES and file.suffix != ".ipynb":
            self._copy(name)
        start = Path(PAGES.get(page, page)).parent
        _path, hash_sign, heading = target.partition("#")
        address = os.path.relpath(on_site, start).replace(os.sep, "/")
        return f"{link['words']}{address}{hash_sign}{heading})"

    def _copy(self, name: str) -> None:
        """Put a file that is no page beside the pages, so that a link finds it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)


def _is_elsewhere(target: str) -> bool:
    """Whether a link leads to another site, or to a heading of its own page."""
    return target.startswith("#") or ":" in target


def _file(target: str, page: str) -> Path:
    """Return the file that a link of a page leads to."""
    path = unquote(target.partition("#")[0])
    return (ROOT / page).parent.joinpath(path).resolve()


def _notebook(site: Sources, path: Path, name: str) -> str:
    """Return a stored notebook with links of the site, and formulas as MathML."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = site.linked("".join(cell["source"]), name)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = with_formulas("".join(data["text/html"]))
    return json.dumps(notebook, ensure_ascii=False)


def _completed(text: str, page: str) -> str:
    """Give a page what only the site has: a title beside others, and the navigation."""
    if page == "README.md":
        return text.replace("# recnb\n", "# Start\n", 1)
    if page == "notebooks/README.md":
        english = [*_in_reading_order(BUILT), *CLASSES]
        korean = [*_in_reading_order(BUILT / "ko"), *CLASSES, "terms"]
        in_folder = [f"ko/{name}" for name in korean]
        return text + _contents(english) + _contents(in_folder, "한국어")
    return text


def _in_reading_order(folder: Path) -> list[str]:
    """Return the names of the notebooks of a folder."""
    names = sorted(path.stem for path in folder.glob("*.ipynb"))
    return sorted(names, key=lambda name: READING_ORDER.index(name.partition("_")[0]))


def _contents(documents: list[str], caption: str = "") -> str:
    """Return a table of contents, which the navigation shows."""
    head = [":hidden:"]
    if caption:
        head.append(f":caption: {caption}")
    lines = ["", "", "```{toctree}", *head, "", *documents, "```", ""]
    return "\n".join(lines)
