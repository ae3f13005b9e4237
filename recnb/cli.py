"""The command line: a report from files, as a page, a table for a paper, a log, or a
gate that a release must pass.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import sys
import textwrap
import traceback
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from pathlib import Path
from typing import Any, TextIO

import recnb
from recnb.comparison import Comparison, compare
from recnb.conventions import value_of
from recnb.data.files import checked_target, files_of, is_pattern, one_form, written
from recnb.data.sheet import IDS
from recnb.display.language import LANGUAGES, use_language
from recnb.display.text import one_line
from recnb.errors import (
    FrameError,
    NoRowsError,
    NoUsersError,
    OptionError,
    RecnbError,
    WriteError,
    listed,
)
from recnb.evaluate import COLUMNS, KEYWORDS, WEIGHTS, evaluate
from recnb.evaluation import Evaluation
from recnb.metrics.measure import is_measure, metric_named
from recnb.report.report import Report
from recnb.results.gate import SCHEMA, Gate, within

#: The form of a report by the ending of its file.
FORMATS = {
    ".html": "html",
    ".md": "markdown",
    ".tex": "latex",
    ".json": "json",
    ".csv": "csv",
    ".txt": "text",
}
SIDE_DATA = ("train", "items", "users")

#: An option with its value, as messages have it in words of Python; in the path of a
#: file it is a folder.
KEYWORD = re.compile(
    rf"(?<![\w/'-])({'|'.join([*KEYWORDS, 'k', 'by', 'baseline', 'confidence', 'model'])})=('[^']*'|\[[^]]*\]|[\w.]*\b|)"  # noqa: E501
)

#: What messages say to type in Python, and what is typed here.
CALLS = {
    r"recs\.rec\.against\(truth, ([^()]*)\)": r"\1",
    r"recnb\.compare\(recs, truth\)": "--model COLUMN",
    r"recnb\.compare\(\{'a': recs_a, 'b': recs_b\}, truth\)": "--model a=FILES --model b=FILES",
    r"; or name the columns of predictions: recnb\.compare\([^()]*\)": "",
}

#: How a gate is typed, by its flag; the model is one of several.
GATES = {
    "--fail-below": "[model:]ndcg@10=0.3",
    "--fail-above": "[model:]calibration@10=2",
    "--fail-if-worse": "[model:]ndcg@10[:0.01]",
}

#: What the exit code of the command says.
EXIT_CODES = {
    0: "the report was written, and every gate is passed",
    1: "a gate failed",
    2: "invalid arguments: a mistyped option, or one that does not go with the others",
    3: "an error in recnb itself, or memory ran out",
    4: "invalid input: a file or a column that is missing, a file that cannot be "
    "read, or values that are refused",
    5: "nothing to evaluate: a table without rows, or no user with a relevant item",
    6: "the report or a temporary file cannot be written: the disk is full, or the "
    "permission is missing",
}


class _HelpFormatter(argparse.HelpFormatter):
    """Help whose last part, the exit codes, keeps its lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; every column and convention of
    `recnb.evaluate` is a flag.
    """
    command = argparse.ArgumentParser(
        "recnb", description="Evaluate rankings and recommendations from files."
    )
    command.add_argument(
        "--version", action="version", version=f"recnb {recnb.__version__}"
    )
    report = command.add_subparsers(required=True, metavar="command").add_parser(
        "report",
        help="evaluate files of recommendations against files of truth; several models "
        "are compared",
        description="Evaluate recommendations against the truth. Files: .parquet, .arrow, "
        ".csv, .tsv, .jsonl, TREC runs and qrels. "
        "A folder, or a pattern in quotes such as 'recs/*.parquet', is one table.",
        epilog="exit codes:\n"
        + "\n".join(
            textwrap.fill(
                f"{code}  {words}", 78, initial_indent="  ", subsequent_indent="     "
            )
            for code, words in EXIT_CODES.items()
        ),
        formatter_class=_HelpFormatter,
    )
    add = report.add_argument
    words = (
        "recommendations, several of which are compared under the names of their "
        "files or folders; last the truth"
    )
    add("files", nargs="*", metavar="FILES", help=words)
    add(
        "--k",
        nargs="+",
        type=int,
        default=(5, 10, 20),
        help="cut-offs (default: 5 10 20)",
    )
    add(
        "--metrics",
        nargs="+",
        metavar="NAME",
        help="such as ndcg recall coverage, or 'nDCG@10' 'RBP(p=0.8)'",
    )
    words = "segments by a column of --users, the truth or --items, or by several"
    add("--by", nargs="+", action="extend", metavar="COLUMN", help=words)
    add("--baseline", help="the model that the others are compared with")
    words = (
        "a model with its file, folder or pattern; again for each other one; or the "
        "COLUMN of models in one file"
    )
    add("--model", metavar="NAME=FILES", action="append", default=[], help=words)
    add(
        "--confidence",
        type=float,
        default=0.95,
        help="of the intervals (default: 0.95)",
    )
    add(
        "-o",
        "--output",
        metavar="FILE",
        action="append",
        default=[],
        help=f"where to write; its ending says the form: {' '.join(FORMATS)}; again "
        "for each other file",
    )
    add("--format", choices=FORMATS.values(), help="the form, of every file")
    add("--lang", choices=LANGUAGES, help="language of the report")
    below = "exit with 1 if the number is lower; may be given again"
    above = "exit with 1 if the number is higher, such as that of a cost; may be given again"
    worse = (
        "exit with 1 if a model is worse than --baseline, or with a margin not shown "
        "to be within it; may be given again"
    )
    gates = zip(GATES, (below, above, worse), strict=True)
    for flag, words in gates:
        add(flag, action="append", default=[], metavar=GATES[flag], help=words)
    add(
        "--gate-json",
        metavar="FILE",
        action="append",
        default=[],
        help="write the result of --fail-below, --fail-above and --fail-if-worse as JSON",
    )
    data = report.add_argument_group(
        "side data, columns and conventions", "the keywords of recnb.evaluate"
    )
    for name in KEYWORDS:
        flag, as_given = (
            f"--{name.replace('_', '-')}",
            name in (*SIDE_DATA, *COLUMNS, *WEIGHTS, "convention"),
        )
        kind = (
            "FILE"
            if name in SIDE_DATA
            else "COLUMN"
            if name in (*COLUMNS, *WEIGHTS)
            else "VALUE"
        )
        if name in IDS:
            data.add_argument(
                flag,
                action="append",
                metavar=kind,
                help="again where another file calls it otherwise",
            )
        else:
            data.add_argument(flag, type=str if as_given else value_of, metavar=kind)
    return command


def read_gate(flag: str, text: str) -> tuple[str | None, str, float]:
    """Read `[model:]measure=value` of --fail-below and --fail-above,
    `[model:]measure[:margin]` of --fail-if-worse: model, measure and number.
    """
    worse = flag == "--fail-if-worse"
    name, _, last = text.rpartition(":" if worse else "=")
    try:
        number = float(last)
    except ValueError:
        name, number = text, 0.0 if worse else inf
    model, _, measure = name.rpartition(":")
    if not is_measure(measure) or not isfinite(number) or (worse and number < 0):
        raise OptionError(f"{flag} {text}: say it as {GATES[flag]}.")
    metric_named(measure)  # an unknown name is an error before the work, not after it
    return model or None, measure, number


def _gate(
    result: Evaluation | Comparison,
    flag: str,
    model: str | None,
    measure: str,
    number: float,
) -> Gate:
    """Return a gate with its numbers, of every model or of one."""
    if isinstance(result, Evaluation):
        if model is not None:
            raise OptionError(
                f"{flag} {model}:{measure}: one file has no model to name: leave the name out."
            )
        if flag == "--fail-above":
            return result.at_most(measure, number)
        return result.at_least(measure, number)
    if flag == "--fail-if-worse":
        return result.not_worse(measure, margin=number, model=model)
    of_each = {name: result[name] for name in ([model] if model else result)}
    check = "at_least" if flag == "--fail-below" else "at_most"
    return within(check, of_each, measure, number, k=None, options={})


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, one of `EXIT_CODES`."""
    arguments = _parsed(argv)
    files: dict[str, str] = {}
    try:
        with use_language(arguments.lang):
            return _report(arguments, files)
    except (RecnbError, OSError, MemoryError) as problem:
        text = _in_words(problem, files)
        if isinstance(problem, MemoryError) or "Cannot allocate memory" in text:
            fix = (
                "allow more (ulimit -v, ulimit -d, the limit of a container), or "
                "evaluate fewer models or users at a time."
            )
            _print_error(f"recnb: error: memory ran out ({text}): {fix}")
            return 3
        _print_error(f"recnb: error: {text}")
        return _exit_code(problem)
    except (
        Exception
    ):  # whatever it is: Python would exit with 1, which says that a number is too low
        _print_error(traceback.format_exc().rstrip())
        return 3


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments; if they are invalid, the gate of an earlier run goes and the
    process ends.
    """
    command = parser()
    try:
        # It leaves files after an option for us to take.
        arguments, more = command.parse_known_args(argv)
        if any(text.startswith("-") for text in more):
            command.error(f"unrecognized arguments: {' '.join(more)}")
    except SystemExit as end:
        if end.code:
            _forget_gates(argv)
        raise
    arguments.files += more
    return arguments


def _forget_gates(argv: Sequence[str] | None) -> None:
    """Remove the gates of an earlier run that invalid arguments name."""
    command = argparse.ArgumentParser(add_help=False)
    command.add_argument("--gate-json", nargs="?", action="append", default=[])
    arguments, _others = command.parse_known_args(argv)
    for gate in filter(None, arguments.gate_json):
        try:
            _forget(gate)
        except WriteError as problem:
            _print_error(f"recnb: error: {problem}")


def _exit_code(problem: Exception) -> int:
    """Return the exit code of an error that is no fault of recnb."""
    if isinstance(problem, WriteError):
        return 6
    if isinstance(problem, (NoRowsError, NoUsersError)):
        return 5
    if isinstance(problem, (FrameError, OSError)):
        return 4
    return 2


def _in_words(problem: Exception, files: Mapping[str, str]) -> str:
    """Return the message of an error on one line, with options as they are typed here,
    and the file of the frame that it begins with.
    """
    text = " ".join(str(problem).split())
    for call, typed in CALLS.items():
        text = re.sub(call, typed, text)
    text = KEYWORD.sub(_flag, text)
    frame = next(
        (name for name in files if text.startswith((f"{name}:", f"{name} "))), None
    )
    return (
        text if frame is None else text.replace(frame, f"{frame} ({files[frame]})", 1)
    )


def _flag(keyword: re.Match[str]) -> str:
    """Return `user=['cust', 'id']` as `--user cust --user id`, `k=[5, 10]` as
    `--k 5 10` and `items=frame` as `--items FILE`.
    """
    name, value = keyword.groups()
    if "'" in value:
        values = [shlex.quote(text) for text in re.findall("'([^']*)'", value)]
    elif name in SIDE_DATA and value:
        values = ["FILE"]
    else:
        values = [value.strip("[]").replace(",", "")]
    return " ".join(f"--{name.replace('_', '-')} {one}".rstrip() for one in values)


def _report(arguments: argparse.Namespace, files: dict[str, str]) -> int:
    """Evaluate or compare the files, write the report, and hold the gates."""
    for gate in arguments.gate_json:
        _forget(gate)
    requests = _gate_requests(arguments)
    forms = _forms(arguments)
    models, truth, column = _models(arguments.files, arguments.model)
    options = _options(arguments)
    files |= {f"model {name!r}": file for name, file in models.items()}
    files |= {"recommendations": next(iter(models.values())), "truth": truth}
    files |= {name: options[name] for name in SIDE_DATA if name in options}
    _check_targets(arguments, files.values())
    result, report = _evaluated(arguments, models, truth, column, options)
    gates = [_gate(result, *request) for request in requests]
    texts = {form: _text(report, form) for form in forms.values()}
    for output, form in forms.items():
        _write(texts[form], output)
    if not gates:
        return 0
    warnings = _warnings(report)
    checks = tuple(check for gate in gates for check in gate.checks)
    whole = Gate(checks, warnings=warnings)
    for target in arguments.gate_json:
        written(whole.to_json(), target)
    for line in (*warnings, *(check.says for check in checks)):
        _print_error(f"recnb: {line}")
    return 0 if whole else 1


def _gate_requests(
    arguments: argparse.Namespace,
) -> list[tuple[str, str | None, str, float]]:
    """Return the flag, model, measure and number of each gate that is asked for."""
    typed = {
        "--fail-below": arguments.fail_below,
        "--fail-above": arguments.fail_above,
        "--fail-if-worse": arguments.fail_if_worse,
    }
    requests = [
        (flag, *read_gate(flag, text))
        for flag, texts in typed.items()
        for text in texts
    ]
    if arguments.gate_json and not requests:
        raise OptionError(
            "--gate-json: there is no gate: give --fail-below, --fail-above or --fail-if-worse."
        )
    if arguments.fail_if_worse and not arguments.baseline:
        problem = "--fail-if-worse compares with a baseline: "
        raise OptionError(problem, "give the files of both models, and say --baseline.")
    return requests


def _forms(arguments: argparse.Namespace) -> dict[str | None, str]:
    """Return the form of each file to write; without any, that of the console, None."""
    if not arguments.output:
        return {None: arguments.format or "text"}
    forms: dict[str | None, str] = {}
    for output in arguments.output:
        form = arguments.format or FORMATS.get(Path(output).suffix.lower())
        if form is None:
            problem = f"-o {output} is no form of a report: "
            raise OptionError(
                problem, f"end it in {' '.join(FORMATS)}, or say --format."
            )
        forms[output] = form
    return forms


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of `recnb.evaluate` that are typed."""
    options = {
        name: value
        for name in KEYWORDS
        if (value := getattr(arguments, name)) is not None
    }
    for name in IDS:
        if len(options.get(name, ())) == 1:
            options[name] = options[name][0]
    return options


def _check_targets(arguments: argparse.Namespace, inputs: Iterable[str]) -> None:
    """Raise an error if a file to write is read, is written twice, or cannot be."""
    read = [file for path in inputs for file in files_of(path)]
    flags: dict[str, str] = {}
    targets = [("-o", output) for output in arguments.output]
    targets += [("--gate-json", gate) for gate in arguments.gate_json]
    for flag, target in targets:
        is_there = checked_target(target).exists()
        for file in read if is_there else ():
            if file.exists() and os.path.samefile(file, target):
                raise OptionError(
                    f"{flag} {target} is {file}, which is read: give another name."
                )
        place = os.path.realpath(target)
        if place in flags and (not is_there or Path(place).is_file()):
            if flag == flags[place]:
                raise OptionError(
                    f"{flag} writes {target} twice: give each another name."
                )
            raise OptionError(
                "-o and --gate-json write a file each: give each another name."
            )
        flags[place] = flag


def _evaluated(
    arguments: argparse.Namespace,
    models: Mapping[str, str],
    truth: str,
    column: str | None,
    options: Mapping[str, Any],
) -> tuple[Evaluation | Comparison, Report]:
    """Evaluate one model or compare several, and make the report of it."""
    recs = next(iter(models.values()))
    asked = (arguments.k, arguments.metrics)
    if len(models) == 1 and not column and not arguments.baseline:
        evaluation = evaluate(recs, truth, **options)
        return evaluation, evaluation.report(
            *asked, by=arguments.by, confidence=arguments.confidence
        )
    comparison = compare(
        models if len(models) > 1 else recs,
        truth,
        baseline=arguments.baseline,
        confidence=arguments.confidence,
        model=column,
        **options,
    )
    return comparison, comparison.report(*asked, by=arguments.by)


def _text(report: Report, form: str) -> str:
    """Return the report in one of its forms."""
    if form == "csv":
        return str(report.to_frame().to_csv(index=False))
    if form == "text":
        return f"{report!r}\n"
    return str(getattr(report, f"to_{form}")())


def _warnings(report: Report) -> tuple[str, ...]:
    """Return a line for each warning of the lint, with the model where there are
    several.
    """
    lines = list[str]()
    for name, lint in report.lints.items():
        model = f"{one_line(name)}: " if name else ""
        lines += [
            f"{model}{warning.word}: {one_line(warning.short, 1000)}"
            for warning in lint.warnings
        ]
    return tuple(lines)


def _forget(gate: str) -> None:
    """Remove the gate of an earlier run, and no other file: however this run ends, none
    then says that it is passed.
    """
    file = Path(gate)
    if not file.is_file():
        return
    try:
        with file.open("rb") as text:
            beginning = text.read(99)
        if SCHEMA.encode() in beginning:
            file.unlink()
    except OSError as problem:
        raise WriteError(
            f"{gate} cannot be removed: {problem.strerror or problem}."
        ) from problem


def _models(
    files: Sequence[str], typed: Sequence[str]
) -> tuple[dict[str, str], str, str | None]:
    """Return the files of each model by name, those of the truth, and the column of
    models in one file; `typed` is each --model.

    A file without a name is called as it is, or as its whole path where that repeats; a
    pattern as its folder. A folder or pattern of runs of TREC is a model for each.
    """
    *paths, truth = files or [""]
    if (
        len(paths) == 1
        and not typed
        and one_form(runs := files_of(paths[0]), paths[0]) == ""
    ):  # of TREC, a run each
        paths = [*map(str, runs)]
    parts = [
        [part for part in Path(path).parts if not is_pattern(part)] or [""]
        for path in paths
    ]
    plain = [part[-1].split(".")[0] for part in parts]
    is_clear = all(plain) and len({*plain}) == len(plain)
    pairs = [*zip(plain if is_clear else paths, paths, strict=True)]
    pairs += [
        (name, path)
        for name, sign, path in (text.partition("=") for text in typed)
        if sign
    ]
    if not all(name.strip() and path for name, path in pairs):
        raise OptionError(
            "--model names a model and its files: say it as --model NAME=FILES."
        )
    real = [os.path.realpath(file) for _, path in pairs for file in files_of(path)]
    if len({*real}) < len(real):
        raise OptionError(f"{max(real, key=real.count)} is given twice.")
    models, columns = dict(pairs), [text for text in typed if "=" not in text]
    if len(models) < len(pairs):
        raise OptionError(
            f"two models have one name: give each its own. Names: "
            f"{listed(name for name, _ in pairs)}."
        )
    if (
        not truth
        or not models
        or (len(models) == 1 and not paths)
        or len(columns) > 1
        or (columns and len(models) > 1)
    ):
        problem = (
            f"the last file is the truth, and {truth} is alone: "
            if truth and not paths
            else ""
        )
        problem += (
            "recommendations are files, recnb report recs.parquet truth.parquet, or "
            "several models by name, "
        )
        raise OptionError(
            problem,
            "--model new=recs_new/ --model old=recs_old/; or one file with --model COLUMN.",
        )
    return models, truth, next(iter(columns), None)


def _write(text: str, output: str | None) -> None:
    """Write all of a report to a file or to the console."""
    if output:
        written(text, output)
        _print_error(f"written: {output}")
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, UnicodeEncodeError) as problem:
        _discard_the_rest(sys.stdout)
        fix = "give -o FILE, or set PYTHONIOENCODING=utf-8."
        raise WriteError(
            f"the report was not written to its end: {problem}: {fix}"
        ) from None


def _print_error(line: str) -> None:
    """Print a line to the standard error stream; print() takes None for stdout."""
    if sys.stderr is None:
        return
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # the exit code says it as well
        _discard_the_rest(sys.stderr)


def _discard_the_rest(stream: TextIO) -> None:
    """Send what a stream still holds nowhere: Python would try to write it when it
    ends, and exit with 120.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
