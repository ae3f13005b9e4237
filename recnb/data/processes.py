"""Forks: a process that was forked after an evaluation lacks the threads of Polars."""

from __future__ import annotations

import os
from functools import cache

from recnb.errors import RecnbError


@cache
def first_process() -> int:
    """Return the process that evaluated first, also in a later fork of it."""
    return os.getpid()


def refuse_fork() -> None:
    """Refuse to evaluate in a process that was forked after an evaluation."""
    if first_process() != os.getpid():
        raise RecnbError(
            "this process was forked after an evaluation, and would wait for ever for "
            "threads that a fork does not copy: start it with "
            "multiprocessing.get_context('spawn'), or fork before the first evaluation."
        )
