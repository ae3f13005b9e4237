"""What can be typed after `recnb report`, and what of it is refused before files are read."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from recnb.conventions import Convention, value_of
from recnb.errors import OptionError, near
from recnb.list_metric import LIST_METRICS
from recnb.metric import METRICS
from recnb.results.comparison_data import TESTS
from recnb.strings import LANGUAGES

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

#: What is set by a flag of its own, and options of the data and of metrics, as keywords of Python name them.
FLAGS = ("k", "metrics", "by", "confidence", "baseline", "test", "convention", "relevant_from", "train", "items", "users", "lang")  # fmt: skip
DATA_OPTIONS = tuple(one.name for one in fields(Convention) if one.name not in ("metric", "relevant_from"))
OPTIONS = tuple(
    dict.fromkeys(
        [name for one in METRICS.values() for name in one.defaults]
        + [name for one in LIST_METRICS.values() for name in one.defaults]
    )
)


def options_of(asked: argparse.Namespace) -> dict[str, Any]:
    """What was said of the convention; names that nothing has are refused before files are read."""
    for flag, given, known in (
        ("--option", asked.option, OPTIONS), ("--data-option", asked.data_option, DATA_OPTIONS)
    ):  # fmt: skip
        for name in given:
            if name in (*FLAGS, *COLUMNS) and name not in known:
                raise OptionError(f"{flag} {name}: this has a flag of its own, --{name.replace('_', '-')}.")
            if name not in known:
                raise OptionError(f"{flag} {name}: there is no such option. {near(name, known)}")
    if asked.users and "users" in asked.data_option:
        raise OptionError("--users and --data-option users: recnb takes one of them; leave the other out.")
    if asked.format == "trec" and (no := [f"--{name}" for name in ("option", "metrics", "by") if getattr(asked, name)]):
        raise OptionError(f"--format trec prints the figures of trec_eval, which have no {no[0]}: leave it out.")
    options: dict[str, Any] = {"convention": asked.convention} if asked.convention else {}
    if asked.relevant_from is not None:
        options["relevant_from"] = asked.relevant_from
    return options | dict(asked.data_option)


def form_of(asked: argparse.Namespace) -> str:
    """The form of the report: as asked for, else by the ending of the file."""
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


def parser() -> argparse.ArgumentParser:
    """What `recnb` understands."""
    made = argparse.ArgumentParser("recnb", description="Evaluate rankings and recommendations from files.")
    report = made.add_subparsers(required=True, metavar="command").add_parser(
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
    return made
