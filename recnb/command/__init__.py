"""The command line: a report from files, as a page, a table for a paper, a log, or a gate that a release must pass.

recnb report recs.parquet truth.csv --k 5 10 -o report.html
recnb report als.run knn.run truth.qrels --baseline knn -o comparison.html
recnb report recs.csv truth.csv --fail-below ndcg@10=0.3
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

from recnb.command.arguments import COLUMNS, form_of, options_of, parser
from recnb.command.gate import Gate, trec_lines
from recnb.command.words import in_words
from recnb.comparison import Comparison, compare
from recnb.entry import evaluate
from recnb.errors import FrameError, OptionError, RecnbError
from recnb.evaluation import Evaluation
from recnb.files import checked_target, written
from recnb.frames import table_of
from recnb.frames.read import columns_of, role_of
from recnb.strings import speaking
from recnb.table_files import IDS, Wanted, read_together


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 when all is well, 1 when a number is below what was asked for, 2 when there is no number.

    3 is a fault of recnb's own.
    """
    asked = parser().parse_args(arguments)
    files: dict[str, str] = {}
    try:
        with speaking(asked.lang):
            return _report(asked, files)
    except (RecnbError, OSError) as problem:
        _tell(f"recnb: error: {in_words(str(problem), files)}")
        return 2
    except Exception:
        traceback.print_exc()
        return 3


def _report(asked: argparse.Namespace, files: dict[str, str]) -> int:
    gates = [Gate.of(text) for text in asked.fail_below]
    form = form_of(asked)
    options = options_of(asked)
    models_files = _named([file for name in asked.recs for file in _files(name)])
    truth_file, *more = _files(asked.truth)
    if more:
        raise FrameError(f"{asked.truth} is {1 + len(more)} files, and the truth is one: name it.")
    beside_files = {name: file for name in ("train", "items", "users") if (file := getattr(asked, name))}
    files |= {f"model {name!r}": str(file) for name, file in models_files}
    files |= {"truth": str(truth_file), **beside_files}
    _check_target(asked.output, list(files.values()))
    files["recommendations"] = str(models_files[0][1])
    columns = {role: value for role in COLUMNS if (value := getattr(asked, role))}
    wanted: list[Wanted] = [(truth_file, "qrels", IDS), *((file, "run", IDS) for _, file in models_files)]
    wanted += [(file, None, {"items": IDS[1:], "users": IDS[:1]}.get(name, IDS)) for name, file in beside_files.items()]
    truth, *tables = read_together(wanted, columns)
    models = {name: tables.pop(0) for name, _ in models_files}
    beside = dict(zip(beside_files, tables, strict=True))
    several = [name for name, table in models.items() if _holds_models(table, asked.model)]
    result: Evaluation | Comparison
    if len(models) > 1 or several:
        if len(models) > 1 and several:
            raise FrameError(f"{files[f'model {several[0]!r}']} holds the lists of several models: give it alone.")
        given = models if len(models) > 1 else models[several[0]]
        how = {"baseline": asked.baseline, "confidence": asked.confidence, "test": asked.test}
        result = compare(given, truth, **how, **columns, **beside, **options)
    elif asked.baseline:
        raise OptionError(
            "--baseline names a model to compare with, and there is one file: give those of the others too."
        )
    else:
        columns.pop("model", None)
        (one,) = models.values()
        result = evaluate(one, truth, **columns, **beside, **options)
    below = [line for gate in gates for line in gate.below(result, asked.option)]
    _write(_made(result, asked, form), asked.output)
    for line in below:
        _tell(f"recnb: {line}")
    return 1 if below else 0


def _made(result: Evaluation | Comparison, asked: argparse.Namespace, form: str) -> str:
    """The report in the form asked for."""
    if form == "trec":
        if isinstance(result, Comparison):
            raise OptionError("--format trec prints one run as trec_eval does: give one file of recommendations.")
        return "".join(f"{name:<22}\tall\t{value}\n" for name, value in trec_lines(result, asked.k))
    said = {"by": asked.by} if asked.by else {}
    if isinstance(result, Evaluation):
        said["confidence"] = asked.confidence
    report = result.report(k=asked.k, metrics=asked.metrics, **said, **asked.option)
    forms = {"html": "to_html", "markdown": "to_markdown", "latex": "to_latex", "json": "to_json"}
    if form == "csv":
        return str(report.to_frame().to_csv(index=False))
    return f"{report!r}\n" if form == "text" else str(getattr(report, forms[form])())


def _write(made: str, output: str | None) -> None:
    """To the file or to the console, all of it."""
    if output:
        written(made, output)
        _tell(f"written: {output}")
        return
    if sys.stdout is None:
        raise RecnbError("there is no console to write to: give -o FILE.")
    try:
        made.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or "strict")
        print(made, end="", flush=True)
    except UnicodeEncodeError as problem:
        raise RecnbError(
            f"this console writes {problem.encoding}, which has no {made[problem.start]!a}: give -o FILE, or set PYTHONIOENCODING=utf-8."
        ) from None
    except OSError as problem:
        with contextlib.suppress(OSError, ValueError):  # nor is what is left of it written when Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise RecnbError(f"the report was not written to its end: {problem.strerror}.") from None


def _tell(line: str) -> None:
    """A line beside the report; print() takes a console that is closed for stdout."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _files(name: str) -> list[Path]:
    """The file named, or those of a pattern such as `runs/*.csv`; a name that exists is no pattern."""
    found = [Path(name)] if Path(name).exists() else [Path(one) for one in sorted(glob(name, recursive=True))]
    if not found:
        raise FrameError(f"there is no file {name!r}.")
    return found


def _named(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each model by the name of its file, or by its path where names repeat."""
    real = [file.resolve() for file in files]
    if len(set(real)) < len(real):
        raise FrameError(f"{files[real.index(max(real, key=real.count))]} is given twice.")
    plain = [file.name.split(".")[0] for file in files]
    names = plain if all(plain) and len(set(plain)) == len(plain) else [str(file) for file in files]
    # Bytes that are no UTF-8 could not be written into a report.
    return [(os.fsencode(name).decode(errors="replace"), file) for name, file in zip(names, files, strict=True)]


def _check_target(output: str | None, inputs: Sequence[str]) -> None:
    """Refuse to write where nothing can be written, or where something is read."""
    if output and checked_target(output).exists():
        for file in inputs:
            if Path(file).exists() and os.path.samefile(file, output):
                raise OptionError(f"-o {output} is {file}, which is read: give another name.")


def _holds_models(frame: Any, column: str | None) -> bool:
    """Whether one frame holds the lists of several models."""
    found = column or next((one for one in columns_of(frame, "recommendations") if role_of(one) == "model"), None)
    return found is not None and table_of(frame, "recommendations", {"model": found})["model"].n_unique() > 1
