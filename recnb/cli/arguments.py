"""The flags of the command, in the order in which its help lists them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

import recnb
from recnb.cli.gates import GATE_FLAGS
from recnb.cli.output import FORMATS
from recnb.conventions import value_of
from recnb.data.weights import WEIGHTS
from recnb.display.language import LANGUAGES
from recnb.errors import instead_of
from recnb.evaluate import COLUMNS, KEYWORDS, TAKE_SEVERAL

SIDE_DATA = ("train", "items", "users")

DESCRIPTION = """Evaluate recommendations against the truth. Files: .parquet, .csv, .tsv,
TREC runs and qrels. A folder of Parquet, or a pattern in quotes such as
'recs/*.parquet', is one table."""

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
    "folder or the permission is missing",
}


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments; invalid ones end the process."""
    command = parser()
    # Files after an option are left in `more`.
    arguments, more = command.parse_known_args(argv)
    unknown = [text for text in more if text.startswith("-")]
    if unknown:
        instead = instead_of(["recnb report"], unknown[0].partition("=")[0])
        command.error(f"unrecognized arguments: {' '.join(more)}. {instead}".strip())
    arguments.files += more
    return arguments


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = argparse.ArgumentParser(
        "recnb", description="Evaluate rankings and recommendations from files."
    )
    version = f"recnb {recnb.__version__}"
    command.add_argument("--version", action="version", version=version)
    commands = command.add_subparsers(required=True, metavar="command")
    report = commands.add_parser(
        "report",
        help="evaluate files of recommendations against files of truth; several models "
        "are compared",
        description=DESCRIPTION,
        epilog=_exit_codes_in_words(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_models_and_metrics(report)
    _add_outputs(report)
    _add_gates(report)
    data = report.add_argument_group(
        "side data, columns and conventions", "the keywords of recnb.evaluate"
    )
    for keyword in KEYWORDS:
        _add_keyword(data, keyword)
    return command


def _exit_codes_in_words() -> str:
    lines = ["exit codes:"]
    for code, words in EXIT_CODES.items():
        line = f"  {code}  {words}"
        lines.append(textwrap.fill(line, 78, subsequent_indent="     "))
    return "\n".join(lines)


def _add_models_and_metrics(report: argparse.ArgumentParser) -> None:
    add = report.add_argument
    add(
        "files",
        nargs="*",
        metavar="FILES",
        help="recommendations, several of which are compared under the names of their "
        "files or folders; last the truth",
    )
    cutoffs = "cut-offs (default: 5 10 20)"
    add("--k", nargs="+", type=int, default=(5, 10, 20), help=cutoffs)
    add(
        "--metrics",
        nargs="+",
        metavar="NAME",
        help="such as ndcg recall coverage, or 'nDCG@10' 'RBP(p=0.8)'",
    )
    add(
        "--by",
        nargs="+",
        action="extend",
        metavar="COLUMN",
        help="segments by a column of --users or of the truth, or by several",
    )
    add("--baseline", help="the model that the others are compared with")
    add(
        "--model",
        action="append",
        default=[],
        metavar="NAME=FILES",
        help="a model with its file, folder or pattern; again for each other one",
    )


def _add_outputs(report: argparse.ArgumentParser) -> None:
    add = report.add_argument
    endings = " ".join(FORMATS)
    add(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help=f"where to write; its ending says the form: {endings}; again for each other "
        "file",
    )
    add("--lang", choices=LANGUAGES, help="language of what is shown")


def _add_gates(report: argparse.ArgumentParser) -> None:
    for flag, gate in GATE_FLAGS.items():
        report.add_argument(
            flag, action="append", default=[], metavar=gate.example, help=gate.help
        )


def flag_of(keyword: str) -> str:
    """Return the flag that sets a keyword: --user-weight for user_weight."""
    return f"--{keyword.replace('_', '-')}"


def _add_keyword(data: argparse._ArgumentGroup, keyword: str) -> None:
    """Add the flag of a keyword of `recnb.evaluate`."""
    flag = flag_of(keyword)
    if keyword in SIDE_DATA:
        data.add_argument(flag, metavar="FILE")
    elif keyword in TAKE_SEVERAL:
        again = "again where another file calls it otherwise"
        if keyword == "split":
            again = "again for several columns"
        data.add_argument(flag, action="append", metavar="COLUMN", help=again)
    elif keyword in COLUMNS or keyword in WEIGHTS or keyword == "cluster":
        data.add_argument(flag, metavar="COLUMN")
    elif keyword == "convention":  # the name of a library, never a number
        data.add_argument(flag, metavar="VALUE")
    else:
        data.add_argument(flag, type=value_of, metavar="VALUE")


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of `recnb.evaluate` that were given."""
    options = {}
    for keyword in KEYWORDS:
        value = getattr(arguments, keyword)
        if value is None:
            continue
        if keyword in TAKE_SEVERAL and len(value) == 1:
            value = value[0]
        options[keyword] = value
    return options
