"""Kernels of notebooks that several processes start at a time, and a folder for what
they and other programs write.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import nbval.kernel
import nbval.plugin
from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.connect import ConnectionFileMixin
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager, KernelManager
from traitlets import CaselessStrEnum, Unicode, default

#: Names the folder to the processes that the tests start.
FOLDER = "RECNB_TEST_FOLDER"
#: What programs read of a user and keep for him, which neither decides a test nor is
#: left behind by one.
KEPT = (
    "DASK_TEMPORARY_DIRECTORY",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "MPLCONFIGDIR",
)
#: What a notebook in Korean says where no font is installed. nbval would find it on such
#: machines alone; it is not in the stored outputs, which are made with a font.
FONTS = "ignore:no font with Korean letters is installed"
#: Bytes of a folder below which a socket's path is shorter than the 104 to 108 that
#: systems allow.
SHORT = 60


def prepare() -> None:
    """Let programs write to a folder of this test run, which goes with it, and nbval
    start kernels of this module.
    """
    nbval.kernel.KernelManager = NbvalKernel
    nbval.plugin.RunningKernel = NotebookKernel
    if FOLDER in os.environ:
        return
    folder = tempfile.gettempdir()
    if os.name == "posix" and len(os.fsencode(folder)) > SHORT:
        folder = "/tmp"
    folder = tempfile.mkdtemp(prefix="recnb-tests-", dir=folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[FOLDER] = folder
    for name in KEPT:
        os.environ[name] = str(Path(folder, name.lower()))
        Path(os.environ[name]).mkdir()  # Dask expects its folder to be there


class Sockets(ConnectionFileMixin):
    """Kernels on sockets of the file system, where there are some.

    A port that is free when it is chosen may be taken by another process before the
    kernel binds it, and the kernel dies.
    """

    transport = CaselessStrEnum(
        ["tcp", "ipc"], default_value="ipc" if os.name == "posix" else "tcp"
    )
    ip = Unicode()

    @default("ip")
    def _ip(self) -> str:
        return (
            str(Path(os.environ[FOLDER], uuid4().hex[:16]))
            if self.transport == "ipc"
            else "127.0.0.1"
        )


class NbvalKernel(Sockets, KernelManager):
    """A kernel of nbval."""

    def start_kernel(self, *, stderr: Any, **options: Any) -> None:
        """Start it without the null device that nbval opens and leaves for the garbage
        collector of a later test, and without the warning that fonts are missing.
        """
        stderr.close()
        env = os.environ | {"PYTHONWARNINGS": FONTS}
        super().start_kernel(stderr=subprocess.DEVNULL, env=env, **options)


#: Takes away what a notebook leaves in a kernel: names, and settings that it made.
RESET = """
import os
import pandas as pd
import recnb

os.chdir({folder!r})
pd.reset_option("display")
recnb.language("en")
get_ipython().run_line_magic("reset", "-f")
"""


class NotebookKernel(nbval.kernel.RunningKernel):
    """A kernel for the notebooks of a process, one after the other: each new one would
    import everything again.
    """

    kept: ClassVar[NotebookKernel | None] = None

    def __init__(
        self, kernel_name: str, cwd: str | None = None, startup_timeout: int = 60
    ) -> None:
        if NotebookKernel.kept is None or not NotebookKernel.kept.is_alive():
            super().__init__(kernel_name, cwd, startup_timeout)
            NotebookKernel.kept = self
            return
        self.km, self.kc = NotebookKernel.kept.km, NotebookKernel.kept.kc
        code = RESET.format(folder=cwd or os.getcwd())
        asked = self.kc.execute(code, silent=True)
        self.await_reply(asked, timeout=startup_timeout)
        self.await_idle(asked, timeout=startup_timeout)

    def stop(self) -> None:
        """Leave it to the next notebook."""


def stop() -> None:
    """Stop the kernel of the notebooks of this process, if there is one."""
    kernel = NotebookKernel.kept
    if kernel is not None and kernel.is_alive():
        nbval.kernel.RunningKernel.stop(kernel)
    NotebookKernel.kept = None


class ThisInterpreter(Sockets, AsyncKernelManager):
    """A kernel of the Python that runs this, whatever kernels are installed beside it."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())
