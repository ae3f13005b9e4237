"""A line of JSON for each run: what `--log` appends to a file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recnb.cli.output import print_error
from recnb.data.files import checked_target, json_values
from recnb.errors import RecnbError, WriteError
from recnb.results.record import time_in_words, versions

#: What is kept of an input, and of a number.
OF_INPUT = ("rows", "fingerprint")
OF_NUMBER = ("model", "metric", "k", "mean", "low", "high", "n_users", "n_lists")


@dataclass
class RunLog:
    """The lines that a run appends to files, and what is known of it so far."""

    files: Sequence[str]
    command: Sequence[str]
    begun: float = field(default_factory=time.monotonic)
    known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Sequence[str], argv: Sequence[str] | None) -> RunLog:
        """Begin the log of a command."""
        return cls(files, sys.argv[1:] if argv is None else argv)

    def note(self, **known: Any) -> None:
        """Add what is known of the run."""
        self.known |= known

    def note_record(self, record: Mapping[str, Any]) -> None:
        """Add the inputs and the numbers of a record."""
        inputs = {
            name: {part: table.get(part) for part in OF_INPUT}
            for name, table in record["inputs"].items()
        }
        numbers = [
            {part: number[part] for part in OF_NUMBER} for number in record["numbers"]
        ]
        self.note(inputs=inputs, numbers=numbers)

    def end(self, code: int, message: str = "") -> int:
        """Append the line, and return the exit code of the run.

        It is another if all was well but for the log, which cannot be written.
        """
        line = {
            "made": time_in_words(),
            "recnb": versions()["recnb"],
            "command": list(self.command),
            "seconds": round(time.monotonic() - self.begun, 3),
            "exit": code,
            "error": message or None,
            **self.known,
        }
        text = json.dumps(json_values(line), ensure_ascii=False, allow_nan=False)
        for file in self.files:
            try:
                _append(f"{text}\n", file)
            except RecnbError as problem:
                print_error(f"recnb: error: {problem}")
                code = code or 6
        return code


def _append(text: str, path: str) -> None:
    """Append text to a file at once, so that lines of other runs stay whole."""
    target = checked_target(path)
    try:
        with target.open("ab", buffering=0) as file:
            file.write(text.encode())
    except OSError as problem:
        raise WriteError(
            f"{path} cannot be written: {problem.strerror or problem}."
        ) from problem


def log_of_mistyped(argv: Sequence[str] | None) -> RunLog:
    """Return the log of a command whose arguments are invalid, but for `--log`."""
    command = argparse.ArgumentParser(add_help=False)
    command.add_argument("--log", nargs="?", action="append", default=[])
    arguments, _others = command.parse_known_args(argv)
    return RunLog.of([*filter(None, arguments.log)], argv)
