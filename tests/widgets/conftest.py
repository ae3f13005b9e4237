"""JupyterLab and a browser for the tests: a server with a copy of the notebooks, and a
page that reaches this computer alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.lab import LOOPBACK, Lab, chromium, free_port
from tests.tools.notebooks import BUILT, ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "apputils-extension/themes": {"theme": "JupyterLab Light", "adaptive-theme": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


def _ask(url: str, method: str = "GET") -> Any:
    """The answer of the server, as data."""
    with urllib.request.urlopen(
        urllib.request.Request(url, method=method), timeout=5
    ) as answer:
        return json.loads(answer.read() or b"null")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """JupyterLab with its own settings, on a copy of the notebooks; ended with all its
    kernels, whatever happens.
    """
    import psutil

    site, settings = tmp_path / "site", tmp_path / "settings"
    shutil.copytree(
        BUILT,
        site / "notebooks",
        ignore=shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__"),
    )
    (site / "tests").mkdir()
    for file in (ROOT / "tests").glob("*.json"):
        shutil.copy(file, site / "tests")
    for name, values in SETTINGS.items():
        file = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    port = free_port()
    folders = (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR",
        "HOME",
    )
    own = {name: str(tmp_path / name.lower()) for name in folders}
    options = {
        "ServerApp.ip": LOOPBACK,
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.open_browser": False,
        "ServerApp.root_dir": site,
        "ServerApp.allow_root": True,
        "ServerApp.disable_check_xsrf": True,
        "IdentityProvider.token": "",
        "LabApp.expose_app_in_browser": True,
        "LabApp.user_settings_dir": settings,
        "LabApp.workspaces_dir": tmp_path / "workspaces",
    }
    here = Lab(f"http://{LOOPBACK}:{port}")
    log = (tmp_path / "lab.log").open("w")
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        *(f"--{name}={value}" for name, value in options.items()),
    ]
    server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
    family = [psutil.Process(server.pid)]
    try:
        for _ in range(300):
            if server.poll() is not None:
                pytest.fail(
                    f"JupyterLab did not start:\n{(tmp_path / 'lab.log').read_text()[-2000:]}"
                )
            with suppress(OSError):
                _ask(f"{here.url}/api/status")
                break
            time.sleep(0.1)
        else:
            pytest.fail("JupyterLab gave no answer for 30 seconds")
        yield here
    finally:
        with suppress(psutil.Error):
            family += family[0].children(recursive=True)
        with suppress(OSError):
            for kernel in _ask(f"{here.url}/api/kernels"):
                _ask(f"{here.url}/api/kernels/{kernel['id']}", "DELETE")
        server.terminate()
        _, left = psutil.wait_procs(family, timeout=15)
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        server.wait(timeout=15)
        log.close()
    assert not left, f"had to be killed: {left}"


@pytest.fixture
def page(lab: Lab, tmp_path: Path) -> Iterator[Page]:
    """A page of headless Chromium that reaches this computer alone; what it asks of
    others is noted in `lab.outside`.
    """
    home = {
        name: str(tmp_path / name.lower())
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    }

    def only_here(route: Any) -> None:
        address = urlsplit(route.request.url)
        if address.hostname == LOOPBACK or address.scheme in ("data", "blob", "file"):
            route.continue_()
        else:
            lab.outside.append(route.request.url)
            route.abort()

    def note_outside(socket: Any) -> None:
        if urlsplit(socket.url).hostname != LOOPBACK:
            lab.outside.append(socket.url)

    with chromium(env=os.environ | home) as browser:
        context = browser.new_context(viewport={"width": 1000, "height": 900})
        context.route("**/*", only_here)
        page = context.new_page()
        page.on("websocket", note_outside)
        page.set_default_timeout(60_000)
        yield page
