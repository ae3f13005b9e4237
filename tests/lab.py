"""A browser for the tests, and what they ask of JupyterLab in it.

It needs the extra `recnb[browser]` and a Chromium, found on the path or named by
RECNB_CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOOPBACK = "127.0.0.1"
IN_PAGE = (
    "const panel = window.jupyterapp?.shell?.currentWidget; const session = "
    "panel?.context?.sessionContext;"
)
IDLE = "session?.isReady && session.session?.kernel?.status === 'idle'"
CODE = "[...panel.content.model.cells].filter(cell => cell.type === 'code')"
READY = (
    f"() => {{ {IN_PAGE} return panel?.content?.model?.cells?.length > 0 && {IDLE}; }}"
)
UNRUN = (
    f"() => {{ {IN_PAGE} return {CODE}.every(cell => cell.executionCount === null); }}"
)
DONE = (
    f"() => {{ {IN_PAGE} return {CODE}.every(cell => cell.executionCount) && {IDLE}; }}"
)


@dataclass
class Lab:
    """A JupyterLab server on a copy of the notebooks, and what the browser asked of
    anybody else.
    """

    url: str
    outside: list[str] = field(default_factory=list)


@contextmanager
def chromium(**options: Any) -> Iterator[Browser]:
    """Start the browser with options of playwright, without a window."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("RECNB_CHROMIUM") or shutil.which("chromium")
    assert path, "no Chromium is on the path: name one by RECNB_CHROMIUM"
    options |= {"executable_path": path, "args": ["--no-sandbox"]}
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(**options) as browser,
    ):
        yield browser


def free_port() -> int:
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


def run_all(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook, take its stored outputs away and run every cell."""
    page.goto(f"{lab.url}/doc/tree/notebooks/{name}.ipynb")
    page.wait_for_function(READY)
    # `void`: a command that is awaited in the page would hang this process if it never
    # came back.
    page.evaluate(
        "void window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
    )
    page.wait_for_function(UNRUN)
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(DONE)
    page.wait_for_timeout(
        500
    )  # the last output is painted after the kernel says that it is idle


def errors(page: Page) -> int:
    """How many outputs are errors or warnings."""
    return sum(
        page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']").count()
        for kind in ("error", "stderr")
    )
