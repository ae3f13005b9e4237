"""Kernels of notebooks that several processes start at a time."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from ipykernel.kernelspec import RESOURCES, get_kernel_dict
from jupyter_client.connect import ConnectionFileMixin
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager, KernelManager
from jupyter_core.paths import jupyter_runtime_dir
from traitlets import CaselessStrEnum, Unicode, default


class Sockets(ConnectionFileMixin):
    """Kernels on sockets of the file system, where there are some.

    A port that is free when it is chosen may be taken by another process before the kernel binds it, and the kernel
    dies.
    """

    transport = CaselessStrEnum(["tcp", "ipc"], default_value="ipc" if os.name == "posix" else "tcp")
    ip = Unicode()

    @default("ip")
    def _ip(self) -> str:
        return str(Path(jupyter_runtime_dir(), uuid4().hex)) if self.transport == "ipc" else "127.0.0.1"


class NbvalKernel(Sockets, KernelManager):
    """A kernel of nbval."""


class ThisInterpreter(Sockets, AsyncKernelManager):
    """A kernel of the Python that runs this, whatever kernels are installed beside it."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(resource_dir=RESOURCES, **get_kernel_dict())
