"""The command line: a report from files, as a page, a table for a paper, a log, or a gate that a release must pass.

recnb report recs.parquet truth.csv --k 5 10 -o report.html
recnb report als.run knn.run truth.qrels --baseline knn -o comparison.html
recnb report recs.csv truth.csv --fail-below ndcg@10=0.3
recnb report new.csv old.csv truth.csv --baseline old --fail-if-worse ndcg@10
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from math import inf, isfinite
from pathlib import Path
from typing import Any, NoReturn

from recnb.comparison import Comparison, compare
from recnb.conventions import value_of
from recnb.conventions.convention import DECISIONS
from recnb.data import table_of
from recnb.data.columns import columns_of, role_of
from recnb.data.files import checked_target, written
from recnb.data.load import DESCRIBED
from recnb.data.table_files import IDS, Wanted, read_together
from recnb.display.language import LANGUAGES, use_language
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, RecnbError, near
from recnb.evaluate import evaluate
from recnb.evaluation import Evaluation
from recnb.metrics.measure import MeasureText, is_measure
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS, measure_named
from recnb.report.request import USUAL_K
from recnb.results.gate import Gate, at_least
from recnb.stats import TESTS

#: The form of a report by the ending of its file.
FORMATS = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".tex": "latex",
    ".json": "json",
    ".csv": "csv",
    ".txt": "text",
}
COLUMNS = ("user", "item", "rank", "score", "relevance", "model")

#: Keywords of Python that have a flag of their own, and those of the data and of metrics.
FLAGS = ("k", "metrics", "by", "confidence", "baseline", "test", "format", "convention", "relevant_from", "train", "items", "users", "lang")  # fmt: skip
DATA_OPTIONS = tuple(name for name in DECISIONS if name != "relevant_from")
ALL_METRICS = METRICS | RETRIEVAL_METRICS | LIST_METRICS
OPTIONS = tuple(dict.fromkeys(name for metric in ALL_METRICS.values() for name in metric.defaults))


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The convention as keywords; unknown names are refused before files are read."""
    for flag, given, names in (
        ("--option", arguments.option, OPTIONS),
        ("--data-option", arguments.data_option, DATA_OPTIONS),
    ):
        for name in dict(given):
            if name in (*FLAGS, *COLUMNS) and name not in names:
                raise OptionError(f"{flag} {name}: this has a flag of its own, --{name.replace('_', '-')}.")
            if name not in names:
                raise OptionError(f"{flag} {name}: there is no such option. {near(name, names)}")
    data_options = dict(arguments.data_option)
    flags = [f"--{name}" for name in ("option", "by") if getattr(arguments, name)]
    if arguments.per_query and arguments.format != "trec":
        raise OptionError("-q prints the figures of each query as trec_eval does: say --format trec as well.")
    if arguments.format == "trec" and flags:
        raise OptionError(f"--format trec prints the figures of trec_eval, which have no {flags[0]}: leave it out.")
    options = {"convention": arguments.convention, "relevant_from": arguments.relevant_from}
    return {name: value for name, value in options.items() if value is not None} | data_options


def form_of(arguments: argparse.Namespace) -> str:
    """The form of the report: that of `--format`, else by the ending of the file."""
    if arguments.format or not arguments.output:
        return arguments.format or "text"
    ending = Path(arguments.output).suffix.lower()
    if ending not in FORMATS:
        raise OptionError(
            f"-o {arguments.output}: {ending or 'no ending'} is no form of a report. Known: {', '.join(FORMATS)}; or say --format."
        )
    return FORMATS[ending]


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r}: say it as name=value, such as gain=exponential")
    return name, value_of(value)


#: What to type instead, by a piece of argparse's message.
HINTS = {
    "argument command: invalid choice": "The command comes first: recnb report recs.csv truth.csv",
    "argument --k: invalid int": "Give whole numbers with blanks between them: --k 5 10",
    "unrecognized arguments: --gate-junit": "Say --gate-json FILE, or assert the gate in a test of pytest",
    "required: truth": "The last file is the truth; a file with both sides is evaluated in Python: recnb.evaluate('file.csv')",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say what to type instead."""

    def error(self, message: str) -> NoReturn:
        super().error("\n".join([message, *(hint for piece, hint in HINTS.items() if piece in message)]))


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    command = _Parser("recnb", description="Evaluate rankings and recommendations from files.")
    report = command.add_subparsers(required=True, metavar="command").add_parser(
        "report",
        help="evaluate files of recommendations against a file of truth; several are compared",
        description="Evaluate recommendations against the truth. Files: .parquet, .arrow, .csv, .tsv, .jsonl, TREC runs and qrels.",
    )
    repeated: dict[str, Any] = {"action": "append", "default": []}
    pair = repeated | {"type": _pair, "metavar": "NAME=VALUE"}
    forms = [*dict.fromkeys(FORMATS.values()), "trec"]
    add = report.add_argument
    add("recs", nargs="+", help="recommendations; several files are compared, each under its name")
    add("truth", help="the truth, the last file")
    add("--k", nargs="+", type=int, metavar="K", help="cut-offs (default: 5 10 20)")
    add("--metrics", nargs="+", metavar="NAME", help="such as ndcg recall coverage, or 'nDCG@10' 'RBP(p=0.8)'")
    add("--option", **pair, help="of the metrics, such as gain=exponential")
    add("--convention", help="a library whose conventions are taken, such as trec_eval")
    add("--relevant-from", type=float, metavar="GRADE", help="below it an item is not relevant")
    add("--data-option", **pair, help="of the data, such as ties=expected")
    add("--baseline", help="the model that the others are compared with")
    add("--test", choices=TESTS, default="t", help="of differences between models (default: t)")
    add("--train", help="what users had before: for coverage, novelty and the like")
    add("--items", help="what is known of the items")
    add("--users", help="what is known of the users: for segments")
    add("--by", nargs="+", action="extend", metavar="COLUMN", help="segments by this column, or by several")
    add("--confidence", type=float, default=0.95, help="of the intervals (default: 0.95)")
    output = "where to write; its ending says the form: .html .md .tex .json .csv .txt"
    add("-o", "--output", metavar="FILE", help=output)
    add("--format", choices=forms, help="the form; trec: the lines of trec_eval")
    add("-q", "--per-query", action="store_true", help="with --format trec: the figures of each query as well")
    add("--lang", choices=LANGUAGES, help="language of the report")
    below = "exit with 1 if the number is lower; may be given again"
    add("--fail-below", **repeated, metavar="ndcg@10=0.3", help=below)
    worse = "exit with 1 if a model is worse than --baseline, or with a margin not shown to be within it; may be given again"
    add("--fail-if-worse", **repeated, metavar="ndcg@10[:0.01]", help=worse)
    add("--gate-json", metavar="FILE", help="write the result of --fail-below and --fail-if-worse as JSON")
    for role in COLUMNS:
        add(f"--{role}", metavar="COLUMN", help=f"the column that holds the {role}")
    return command


def in_words(problem: Exception, files: Mapping[str, str]) -> str:
    """Return the message of an error on one line, with the file of the frame that it begins with.

    >>> in_words(FrameError("truth: no column is known to be the user."), {"truth": "t.csv"})
    'truth (t.csv): no column is known to be the user.'
    """
    text = " ".join(str(problem).split())
    model = next((name for name in files if name.startswith("model ") and text.startswith(name)), "")
    frame = next((name for name in files if text.removeprefix(model).startswith(name)), None)
    if frame is None:
        return text
    file = files[model] if model and frame == "recommendations" else files[frame]
    return f"{model}{frame} ({file}){text.removeprefix(model).removeprefix(frame)}"


#: How a gate is typed, by its flag.
GATES = {
    "--fail-below": "ndcg@10=0.3, or als:ndcg@10=0.3 of several models",
    "--fail-if-worse": "ndcg@10, or with a margin ndcg@10:0.01",
}


@dataclass(frozen=True)
class GateRequest:
    """A condition that a release must meet, as it is typed, of every model or of one (`als:ndcg@10=0.3`)."""

    flag: str
    model: str | None
    measure: str
    number: float  #: the least value, or the margin

    @classmethod
    def of(cls, flag: str, text: str) -> GateRequest:
        """Read `[model:]measure=value` of --fail-below, `[model:]measure[:margin]` of --fail-if-worse."""
        worse = flag == "--fail-if-worse"
        name, _, last = text.rpartition(":" if worse else "=")
        try:
            number = float(last)
        except ValueError:
            name, number = text, 0.0 if worse else inf
        model, _, label = name.rpartition(":")
        if not is_measure(label) or not isfinite(number) or (worse and number < 0):
            raise OptionError(f"{flag} {text}: say it as {GATES[flag]}.")
        measure_named(label)  # an unknown name is an error before the work, not after it
        return cls(flag, model or None, label, number)

    def gate(self, result: Evaluation | Comparison, options: Mapping[str, Any]) -> Gate:
        """The gate with its numbers."""
        models = result.names if isinstance(result, Comparison) else []
        if self.model is not None and self.model not in models:
            known = near(self.model, models) if models else "One file has no model to name: leave the name out."
            raise OptionError(f"{self.flag} {self.model}:…: there is no such model. {known}")
        metric = measure_named(self.measure)
        asked = {name: value for name, value in options.items() if name in metric.defaults.keys() - metric.given.keys()}
        if isinstance(result, Evaluation):
            return result.at_least(self.measure, self.number, **asked)
        if self.flag == "--fail-if-worse":
            return result.not_worse(self.measure, margin=self.number, model=self.model, **asked)
        of_each = {name: result[name]._data for name in ([self.model] if self.model else models)}
        return at_least(of_each, self.measure, self.number, None, asked)


def warnings_of(result: Evaluation | Comparison) -> tuple[str, ...]:
    """The warnings of the lint, a line for each of each model."""
    models = {"": result} if isinstance(result, Evaluation) else {f"{name}: ": result[name] for name in result.names}
    return tuple(
        f"{one_line(name)}{finding.word}: {one_line(finding.short, 1000)}"
        for name, model in models.items()
        for finding in model.lint().warnings
    )


def trec_lines(
    evaluation: Evaluation, k: Sequence[int] | None, metrics: Sequence[str] | None, *, per_query: bool
) -> Iterator[tuple[str, str, str]]:
    """The figures that trec_eval prints of a run, under the evaluation's convention: name, query or "all", value."""
    asked = ["AP", "Rprec", "RR"]
    asked += [f"{measure}@{cut}" for measure in ("P", "Recall", "nDCG", "Success") for cut in k or USUAL_K]
    if metrics:
        asked = [measure for text in metrics for measure in (_at_cutoffs(text, k) if k else [text])]
    scores = {MeasureText.parse(text).trec: evaluation.measure(text) for text in asked}
    if per_query:
        of_queries = {name: score.per_user.to_dict() for name, score in scores.items()}
        for query in evaluation.users:
            for name, values in of_queries.items():
                if query in values:
                    yield name, str(query), _figure(name, values[query])
    yield "num_q", "all", str(evaluation.n_users)
    for name, score in scores.items():
        yield name, "all", _figure(name, score)


def _at_cutoffs(text: str, k: Sequence[int]) -> list[str]:
    """A measure at each cut-off; alone if it has one, or none as trec_eval has it."""
    metric = measure_named(text)
    of_lists = metric.retrieval or metric.name == "r_precision" or text.lower().startswith("set")
    return [text] if metric.cutoff is not None or of_lists else [f"{text}@{cut}" for cut in k]


def _figure(name: str, value: float) -> str:
    return f"{value:.0f}" if name.startswith("num_") else f"{value:.4f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: done; 1: a number is below what `--fail-below` asks for, or worse than `--fail-if-worse` allows; 2: an error in what was given; 3: an error of recnb.
    """
    arguments = parser().parse_args(argv)
    files: dict[str, str] = {}
    try:
        with use_language(arguments.lang):
            return _report(arguments, files)
    except (RecnbError, OSError) as problem:
        _print_error(f"recnb: error: {in_words(problem, files)}")
        return 2
    except Exception:  # whatever it is: Python would exit with 1, which says that a number is too low
        traceback.print_exc()
        return 3


def _report(arguments: argparse.Namespace, files: dict[str, str]) -> int:
    requests = [GateRequest.of("--fail-below", text) for text in arguments.fail_below]
    requests += [GateRequest.of("--fail-if-worse", text) for text in arguments.fail_if_worse]
    if arguments.gate_json and not requests:
        raise OptionError("--gate-json: there is no gate: give --fail-below or --fail-if-worse.")
    if arguments.fail_if_worse and not arguments.baseline:
        problem = "--fail-if-worse compares with a baseline: "
        raise OptionError(problem, "give the files of both models, and say --baseline.")
    form = form_of(arguments)
    options, metric_options = options_of(arguments), dict(arguments.option)
    model_files = _named([file for name in arguments.recs for file in _files(name)])
    truth_file, *more = _files(arguments.truth)
    if more:
        raise FrameError(f"{arguments.truth} is {1 + len(more)} files, and the truth is one: name it.")
    side_files = {name: file for name in ("train", "items", "users") if (file := getattr(arguments, name))}
    files |= {f"model {name!r}: ": str(file) for name, file in model_files.items()}
    files |= {"truth": str(truth_file), **side_files}
    targets = {"-o": arguments.output, "--gate-json": arguments.gate_json}
    for flag, target in targets.items():
        _check_target(flag, target, list(files.values()))
    paths = [Path(target).resolve() for target in targets.values() if target]
    if len(set(paths)) < len(paths):
        raise OptionError("-o and --gate-json write a file each: give each another name.")
    files["recommendations"] = str(next(iter(model_files.values())))
    columns = {role: value for role in COLUMNS if (value := getattr(arguments, role))}
    wanted: list[Wanted] = [(truth_file, "qrels", IDS), *((file, "run", IDS) for file in model_files.values())]
    wanted += [(file, None, DESCRIBED.get(name, IDS)) for name, file in side_files.items()]
    truth, *tables = read_together(wanted, columns)
    models = {name: tables.pop(0) for name in model_files}
    side_data = dict(zip(side_files, tables, strict=True))
    several = [name for name, table in models.items() if _holds_models(table, arguments.model)]
    if len(models) > 1 and several:
        raise FrameError(f"{files[f'model {several[0]!r}: ']} holds the lists of several models: give it alone.")
    result: Evaluation | Comparison
    recs = next(iter(models.values()))
    if len(models) > 1 or several:
        how = {name: getattr(arguments, name) for name in ("baseline", "confidence", "test")}
        result = compare(recs if several else models, truth, **how, **columns, **side_data, **options)
    elif arguments.baseline:
        problem = "--baseline names a model to compare with, and there is one file: "
        raise OptionError(problem, "give those of the others too.")
    else:
        columns.pop("model", None)
        result = evaluate(recs, truth, **columns, **side_data, **options)
    gates = [request.gate(result, metric_options) for request in requests]
    _write(_shown(result, arguments, form, metric_options), arguments.output)
    if not gates:
        return 0
    gate = Gate(tuple(check for one in gates for check in one.checks), warnings=warnings_of(result))
    if arguments.gate_json:
        written(gate.to_json(), arguments.gate_json)
    for line in (*gate.warnings, *gate.lines):
        _print_error(f"recnb: {line}")
    return 0 if gate else 1


def _shown(
    result: Evaluation | Comparison, arguments: argparse.Namespace, form: str, metric_options: Mapping[str, Any]
) -> str:
    """The report in a form."""
    if form == "trec":
        if isinstance(result, Comparison):
            raise OptionError("--format trec prints one run as trec_eval does: give one file of recommendations.")
        lines = trec_lines(result, arguments.k, arguments.metrics, per_query=arguments.per_query)
        return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)
    options = {"by": arguments.by} if arguments.by else {}
    if isinstance(result, Evaluation):
        options["confidence"] = arguments.confidence
    report = result.report(k=arguments.k or USUAL_K, metrics=arguments.metrics, **options, **metric_options)
    if form == "csv":
        return str(report.to_frame().to_csv(index=False))
    return f"{report!r}\n" if form == "text" else str(getattr(report, f"to_{form}")())


def _write(text: str, output: str | None) -> None:
    """Write all of a report to a file or to the console."""
    if output:
        written(text, output)
        _print_error(f"written: {output}")
        return
    if sys.stdout is None:
        raise RecnbError("there is no console to write to: give -o FILE.")
    try:
        text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or "strict")
        print(text, end="", flush=True)
    except UnicodeEncodeError as problem:
        raise RecnbError(
            f"this console writes {problem.encoding}, which has no {text[problem.start]!a}: give -o FILE, or set PYTHONIOENCODING=utf-8."
        ) from None
    except OSError as problem:
        with contextlib.suppress(OSError, ValueError):  # Python would try to write the rest when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise RecnbError(f"the report was not written to its end: {problem.strerror}.") from None


def _print_error(line: str) -> None:
    """Print a line to the standard error stream; print() takes None for stdout."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _files(name: str) -> list[Path]:
    """The file named, or those of a pattern such as `runs/*.csv`; a name that exists is no pattern."""
    files = [Path(name)] if Path(name).exists() else [Path(path) for path in sorted(glob(name, recursive=True))]
    if not files:
        raise FrameError(f"there is no file {name!r}.")
    return files


def _named(files: Sequence[Path]) -> dict[str, Path]:
    """Each model by the name of its file, or by its path where names repeat."""
    real = [file.resolve() for file in files]
    if len(set(real)) < len(real):
        raise FrameError(f"{files[real.index(max(real, key=real.count))]} is given twice.")
    # Bytes that are no UTF-8 could not be written into a report.
    paths = [os.fsencode(file).decode(errors="replace") for file in files]
    plain = [Path(path).name.split(".")[0] for path in paths]
    names = plain if all(plain) and len(set(plain)) == len(plain) else paths
    return dict(zip(names, files, strict=True))


def _check_target(flag: str, output: str | None, inputs: Sequence[str]) -> None:
    """Refuse to write where nothing can be written, or where something is read."""
    if output and checked_target(output).exists():
        for file in inputs:
            if Path(file).exists() and os.path.samefile(file, output):
                raise OptionError(f"{flag} {output} is {file}, which is read: give another name.")


def _holds_models(frame: Any, column: str | None) -> bool:
    """Whether one frame holds the lists of several models; a column that is named and not there is refused by `compare`."""
    columns = columns_of(frame, "recommendations")
    if column is not None and column not in columns:
        return True
    column = column or next((name for name in columns if role_of(name) == "model"), None)
    return column is not None and table_of(frame, "recommendations", {"model": column})["model"].n_unique() > 1
