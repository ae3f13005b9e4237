"""What is wrong with the links of built pages, and what pages would ask for.

Nothing is asked of the network: an address elsewhere is held against a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes whose address a browser asks for as it opens a page, whatever the tag.
ASKED = ("src", "srcset", "poster", "data")
#: An address on another site, as a link of a page may have it.
ELSEWHERE = re.compile(
    r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~%+@:(),;=&/-]*)?(#\S*)?"
)
#: What a style sheet asks for elsewhere.
SHEET = re.compile(r"""(?:@import\s*|url\(\s*)["']?\s*((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """A page: its ids, the addresses that it links to and those that it asks for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.asked: list[str] = []
        text = path.read_text("utf-8")
        self.asked += SHEET.findall(text)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the ids and the addresses of a tag."""
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        for name in ASKED:
            if name in values and not (name == "data" and tag != "object"):
                self.asked.append(values[name])
        if "href" in values:
            among = self.asked if tag == "link" else self.links
            among.append(values["href"])


def problems(folder: Path) -> list[str]:
    """Return a line for each link that leads nowhere and each request elsewhere."""
    paths = [path for path in folder.rglob("*.html") if not _of_the_theme(path, folder)]
    pages = {path.resolve(): Page(path) for path in sorted(paths)}
    lines = []
    for page in pages.values():
        name = page.path.relative_to(folder)
        lines += [f"{name}: {problem}" for problem in _of_page(page, pages)]
    for sheet in sorted(folder.rglob("*.css")):
        for address in SHEET.findall(sheet.read_text("utf-8")):
            lines.append(f"{sheet.relative_to(folder)}: asks for {address}")
    return lines


def _of_the_theme(path: Path, folder: Path) -> bool:
    """Whether a file is a template that the theme lays beside its scripts."""
    return path.relative_to(folder).parts[0] == "_static"


def _of_page(page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what is wrong with the addresses of a page."""
    for address in page.asked:
        if _leaves(address):
            yield f"asks for {address}"
        elif not address.startswith("data:"):
            yield from _inside(page, address, pages)
    for address in page.links:
        if not _leaves(address):
            yield from _inside(page, address, pages)
        elif not ELSEWHERE.fullmatch(address):
            yield f"links to {address}, which is no address with https"


def _leaves(address: str) -> bool:
    """Whether an address is on another computer."""
    parts = urlsplit(address)
    return parts.scheme not in ("", "data") or bool(parts.netloc)


def _inside(page: Page, address: str, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what is wrong with an address on the site itself."""
    parts = urlsplit(address)
    target = page.path.resolve()
    if parts.path:
        target = (target.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        yield f"links to {address}, which is not there"
        return
    is_page = target in pages
    if parts.fragment and is_page and unquote(parts.fragment) not in pages[target].ids:
        yield f"links to {address}, a heading that is not there"
