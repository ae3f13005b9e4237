"""The command line: a report from files, as a page, a table for a paper, a log, or a gate that a release must pass.

recnb report recs.parquet truth.csv --k 5 10 -o report.html
recnb report als.run knn.run truth.qrels --baseline knn -o comparison.html
recnb report recs.csv truth.csv --fail-below ndcg@10=0.3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import polars as pl

from recnb.asked import asked as metric_asked
from recnb.comparison import Comparison, compare
from recnb.conventions import value_of
from recnb.entry import evaluate
from recnb.errors import FrameError, OptionError, RecnbError
from recnb.evaluation import Evaluation
from recnb.frames import table_of
from recnb.frames.read import columns_of, role_of
from recnb.progress import steps
from recnb.results.comparison_data import TESTS
from recnb.strings import LANGUAGES, speaking
from recnb.trec import kind_of, read_trec_qrels, read_trec_run

#: What is written, by the ending of the file.
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

#: Names that trec_eval prints, and recnb's for them; those with a dash are at a cut-off.
TREC = {
    "map": "average_precision", "Rprec": "r_precision", "recip_rank": "reciprocal_rank",
    "P_": "precision", "recall_": "recall", "ndcg_cut_": "ndcg", "success_": "hit_rate",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 when all is well, 1 when a number is below what was asked for, 2 when there is no number."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        with speaking(asked.lang):
            return _report(asked)
    except (RecnbError, OSError, pl.exceptions.PolarsError) as problem:
        print(f"recnb: error: {' '.join(str(problem).split())}", file=sys.stderr)
        return 2


def _report(asked: argparse.Namespace) -> int:
    gates = [Gate.of(text) for text in asked.fail_below]
    form = _format(asked)
    *recs_files, truth_file = _files([*asked.recs, asked.truth])
    truth = read(truth_file, "qrels")
    models = {name: read(file, "run") for name, file in steps(_named(recs_files), "files read")}
    options = _options(asked)
    beside = {name: read(Path(file), None) for name in ("train", "items", "users") if (file := getattr(asked, name))}
    columns = {role: value for role in COLUMNS if (value := getattr(asked, role))}
    one = next(iter(models.values()))
    result: Evaluation | Comparison
    if len(models) > 1 or _holds_models(one, asked.model):
        given = models if len(models) > 1 else one
        how = {"baseline": asked.baseline, "confidence": asked.confidence, "test": asked.test}
        result = compare(given, truth, **how, **columns, **beside, **options)
    elif asked.baseline:
        raise OptionError(
            "--baseline names a model to compare with, and there is one file: give those of the others too."
        )
    else:
        columns.pop("model", None)
        result = evaluate(one, truth, **columns, **beside, **options)
    _write(result, asked, form)
    return max((gate.checked(result) for gate in gates), default=0)


def _write(result: Evaluation | Comparison, asked: argparse.Namespace, form: str) -> None:
    """The report in the form asked for, to the file or to the console."""
    if form == "trec":
        if isinstance(result, Comparison):
            raise OptionError("--format trec prints one run as trec_eval does: give one file of recommendations.")
        made = "".join(f"{name:<22}\tall\t{value}\n" for name, value in trec_lines(result, asked.k))
    else:
        said = {"by": asked.by} if asked.by else {}
        if isinstance(result, Evaluation):
            said["confidence"] = asked.confidence
        report = result.report(k=asked.k, metrics=asked.metrics, **said, **asked.option)
        forms = {"html": "to_html", "markdown": "to_markdown", "latex": "to_latex", "json": "to_json"}
        if form == "csv":
            made = report.to_frame().to_csv(index=False)
        else:
            made = f"{report!r}\n" if form == "text" else getattr(report, forms[form])()
    if asked.output:
        Path(asked.output).write_text(made, encoding="utf-8", newline="\n")
        print(f"written: {asked.output}", file=sys.stderr)
    else:
        print(made, end="")


@dataclass(frozen=True)
class Gate:
    """A number that a release must reach: `ndcg@10=0.3`, of every model or of one, `als:ndcg@10=0.3`."""

    model: str | None
    metric: str
    k: int | None
    least: float

    @classmethod
    def of(cls, text: str) -> Gate:
        """Read `[model:]metric[@k]=value`."""
        name, _, least = text.rpartition("=")
        model, _, label = name.rpartition(":")
        metric, _, k = label.partition("@")
        try:
            gate = cls(model or None, metric, int(k) if k else None, float(least))
        except ValueError:
            raise OptionError(
                f"--fail-below {text}: say it as ndcg@10=0.3, or als:ndcg@10=0.3 of several models."
            ) from None
        metric_asked(metric)  # a slip is told before the work, not after it
        return gate

    def checked(self, result: Evaluation | Comparison) -> int:
        """0 if the number is reached, else 1, said on the console."""
        models = {"": result} if isinstance(result, Evaluation) else dict(result.models)
        if self.model is not None:
            if self.model not in models:
                raise OptionError(
                    f"--fail-below {self.model}:…: there is no such model. Known: {', '.join(map(repr, models))}."
                )
            models = {self.model: models[self.model]}
        failed = 0
        for name, evaluation in models.items():
            value = _number(evaluation, self.metric, self.k)
            if not value >= self.least:  # NaN reaches nothing
                label = f"{self.metric}@{self.k}" if self.k else self.metric
                print(
                    f"recnb: {f'{name}: ' if name else ''}{label} is {value:.4f}, below {self.least:g}", file=sys.stderr
                )
                failed = 1
        return failed


def trec_lines(evaluation: Evaluation, k: Sequence[int]) -> Iterator[tuple[str, str]]:
    """What trec_eval prints of a run, under the evaluation's convention."""
    hits = evaluation.hits(None)
    yield "num_q", str(evaluation.n_users)
    yield "num_ret", str(int(hits.list_length.sum()))
    yield "num_rel", str(int(hits.n_relevant.sum()))
    yield "num_rel_ret", str(len(hits.user))
    for name, metric in TREC.items():
        for cut in k if name.endswith("_") else [None]:
            yield f"{name}{cut or ''}", f"{_number(evaluation, metric, cut):.4f}"


def _number(evaluation: Evaluation, metric: str, k: int | None) -> float:
    return float(evaluation.table([metric], k).to_numpy()[0, 0])


def read(file: Path, trec: str | None) -> Any:
    """A file as a frame: Parquet, Arrow, CSV (also with tabs), JSON lines, or TREC's run and qrels, which their first line tells."""
    ending = next((one for one in reversed(file.suffixes) if one not in (".gz", ".zst", ".bz2", ".xz")), "").lower()
    if ending in (".parquet", ".pq"):
        return pl.read_parquet(file)
    if ending in (".arrow", ".feather", ".ipc"):
        return pl.read_ipc(file)
    if ending in (".jsonl", ".ndjson"):
        return pl.read_ndjson(file)
    if trec and kind_of(file) == trec:
        return read_trec_run(file) if trec == "run" else read_trec_qrels(file)
    if ending in (".csv", ".tsv") and file.stat().st_size == 0:
        raise FrameError(f"{file} is empty.")
    if ending in (".csv", ".tsv"):
        return _plain_kinds(pl.read_csv(file, separator="\t" if ending == ".tsv" else ",", infer_schema=False))
    if trec == "qrels" and kind_of(file) == "run":
        raise FrameError(
            f"{file} is a run, and the last file must be the truth: recommendations first, then the qrels."
        )
    raise FrameError(
        f"{file}: its ending says of no format that recnb reads: .parquet, .arrow, .csv, .tsv, .jsonl, or a run or qrels of TREC."
    )


def _plain_kinds(table: pl.DataFrame) -> pl.DataFrame:
    """Columns of text as numbers where nothing is lost by it: `007` stays text."""
    columns = []
    for column in table:
        whole = column.cast(pl.Int64, strict=False)
        number = column.cast(pl.Float64, strict=False)
        if (whole.cast(pl.String) == column).fill_null(value=False).sum() == len(column) - column.null_count():
            columns.append(whole)
        elif number.null_count() == column.null_count() and role_of(column.name) not in ("user", "item", "model"):
            columns.append(number)
        else:
            columns.append(column)
    return pl.DataFrame(columns)


def _files(given: Sequence[str]) -> list[Path]:
    """The files named, patterns such as `runs/*.csv` put in."""
    found: list[Path] = []
    for name in given:
        if Path(name).is_file():
            found.append(Path(name))
        elif several := sorted(glob(name, recursive=True)):
            found += map(Path, several)
        else:
            raise FrameError(f"there is no file {name!r}.")
    return found


def _named(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each model by the name of its file, or by its path where names repeat."""
    plain = [file.name.split(".")[0] for file in files]
    names = plain if len(set(plain)) == len(plain) else [str(file) for file in files]
    if len(set(names)) < len(names):
        raise FrameError(f"{max(names, key=names.count)} is given twice.")
    return list(zip(names, files, strict=True))


def _holds_models(frame: Any, column: str | None) -> bool:
    """Whether one frame holds the lists of several models."""
    found = column or next((one for one in columns_of(frame, "recommendations") if role_of(one) == "model"), None)
    return found is not None and table_of(frame, "recommendations", {"model": found})["model"].n_unique() > 1


def _options(asked: argparse.Namespace) -> dict[str, Any]:
    """What was said of the convention."""
    options: dict[str, Any] = {"convention": asked.convention} if asked.convention else {}
    if asked.relevant_from is not None:
        options["relevant_from"] = asked.relevant_from
    return options | dict(asked.data_option)


def _format(asked: argparse.Namespace) -> str:
    if asked.format:
        return str(asked.format)
    if not asked.output:
        return "text"
    ending = Path(asked.output).suffix.lower()
    if ending not in FORMATS:
        raise OptionError(
            f"-o {asked.output}: {ending or 'no ending'} is no form of a report. Known: {', '.join(FORMATS)}; or say --format."
        )
    return FORMATS[ending]


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r}: say it as name=value, such as gain=exponential")
    return name, value_of(value)


class _Pairs(argparse.Action):
    """Options given one by one, gathered."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, {**getattr(namespace, self.dest), values[0]: values[1]})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("recnb", description="Evaluate rankings and recommendations from files.")
    report = parser.add_subparsers(required=True, metavar="command").add_parser(
        "report", help="evaluate files of recommendations against a file of truth; several are compared",
        description="Evaluate recommendations against the truth. Files: .parquet, .arrow, .csv, .tsv, .jsonl, TREC runs and qrels.",
    )  # fmt: skip
    add = report.add_argument
    add("recs", nargs="+", help="recommendations; several files are compared, each under its name")
    add("truth", help="the truth, the last file")
    add("--k", nargs="+", type=int, default=[5, 10, 20], metavar="K", help="cut-offs (default: 5 10 20)")
    add("--metrics", nargs="+", metavar="NAME", help="such as ndcg recall coverage")
    add(
        "--option",
        action=_Pairs,
        type=_pair,
        default={},
        metavar="NAME=VALUE",
        help="of the metrics, such as gain=exponential",
    )
    add("--convention", help="a library whose conventions are taken, such as trec_eval")
    add("--relevant-from", type=float, metavar="GRADE", help="below it an item is not relevant")
    add(
        "--data-option",
        action=_Pairs,
        type=_pair,
        default={},
        metavar="NAME=VALUE",
        help="of the data, such as ties=expected",
    )
    add("--baseline", help="the model that the others are compared with")
    add("--test", choices=TESTS, default="t", help="of differences between models (default: t)")
    add("--train", help="what users had before: for coverage, novelty and the like")
    add("--items", help="what is known of the items")
    add("--users", help="what is known of the users: for segments")
    add("--by", metavar="COLUMN", help="segments by this column")
    add("--confidence", type=float, default=0.95, help="of the intervals (default: 0.95)")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write; its ending says the form: .html .md .tex .json .csv .txt",
    )
    add(
        "--format",
        choices=["html", "markdown", "latex", "json", "csv", "text", "trec"],
        help="the form; trec: the lines of trec_eval",
    )
    add("--lang", choices=LANGUAGES, help="language of the report")
    add(
        "--fail-below",
        action="append",
        default=[],
        metavar="NDCG@10=0.3",
        help="exit with 1 if the number is lower; may be given again",
    )
    for role in COLUMNS:
        add(f"--{role}", metavar="COLUMN", help=f"the column that holds the {role}")
    return parser
