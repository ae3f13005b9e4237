"""Where a report is written, and in which forms; text on the console."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from recnb.data.files import files_of
from recnb.errors import OptionError, RecnbError, WriteError
from recnb.report.report import Report
from recnb.results.files import as_json, checked_target, json_values, written
from recnb.results.gate import GateCheck

#: The form of a report by the ending of its file.
FORMATS = {
    ".html": "html",
    ".md": "markdown",
    ".json": "json",
    ".csv": "csv",
    ".txt": "text",
}


def forms_of(outputs: Sequence[str]) -> dict[str | None, str]:
    """Return the form of each file to write; without any, text for the console, None."""
    if not outputs:
        return {None: "text"}
    forms: dict[str | None, str] = {}
    for output in outputs:
        ending = Path(output).suffix.lower()
        if ending not in FORMATS:
            raise OptionError(
                f"-o {output} is no form of a report: end it in {' '.join(FORMATS)}."
            )
        forms[output] = FORMATS[ending]
    return forms


def check_targets(targets: Iterable[str], inputs: Iterable[str]) -> None:
    """Raise an error if a file to write cannot be, or is one that is read."""
    input_files: list[Path] = []
    for path in inputs:
        with contextlib.suppress(RecnbError):  # which reading it raises
            input_files += files_of(path)
    for target in targets:
        place = checked_target(target)
        for file in input_files:
            if place.exists() and place.samefile(file):
                raise OptionError(
                    f"-o {target} is {file}, which is read: give another name."
                )


def write_report(
    report: Report, checks: Sequence[GateCheck], forms: Mapping[str | None, str]
) -> None:
    """Write a report to each file, or to the console.

    Nothing is written before the report is made in every form. As JSON it has the checks
    of the gates, if there are any, whether they are passed or not.
    """
    texts = {form: _text(report, form) for form in forms.values()}
    if checks and "json" in texts:
        gates = json_values([check.to_dict() for check in checks])
        texts["json"] = as_json({**report.to_dict(), "gates": gates})
    for output, form in forms.items():
        if output is None:
            _print_text(texts[form])
        else:
            written(texts[form], output)
            print_error(f"written: {output}")


def _text(report: Report, form: str) -> str:
    """Return the report in one of its forms."""
    if form == "csv":
        return str(report.to_frame().to_csv(index=False))
    if form == "text":
        return f"{report!r}\n"
    return str(getattr(report, f"to_{form}")())


def _print_text(text: str) -> None:
    """Print all of a text to the standard output stream."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, UnicodeEncodeError) as problem:
        _discard_the_rest(sys.stdout)
        raise WriteError(
            f"the report was not written to its end: {problem}: give -o FILE."
        ) from None


def print_error(line: str) -> None:
    """Print a line to the standard error stream; print() takes None for stdout."""
    if sys.stderr is None:
        return
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # the exit code says it as well
        _discard_the_rest(sys.stderr)


def _discard_the_rest(stream: TextIO) -> None:
    """Send what a stream still holds nowhere.

    Python would try to write it when it ends, and exit with 120.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
