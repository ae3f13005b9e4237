"""The generated parts of the pages, what their programs print and the tables of the
page of metrics: `python -m tests.tools.readme` writes them anew.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import pathlib
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence

from recnb.display.language import _
from recnb.metrics.formula import Formula
from recnb.metrics.measure import Measure
from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS, Metric

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
METRICS_PAGE = ROOT / "recnb" / "metrics" / "README.md"
#: The pages whose programs have what they print below them.
PROGRAM_PAGES = [
    ROOT / "recnb" / folder / "README.md"
    for folder in ("data", "metrics", "conventions", "stats", "distributed")
]
NEEDS = {
    "train": "`train=`",
    "catalogue": "`items=` or `train=`",
    "features": "`items=`",
    "genre": "`items=`",
}


def filled(text: str, module: str, parts: Mapping[str, str]) -> str:
    """A page with its made parts put in again, each between two marks that say which
    module makes it.
    """
    for name, made in parts.items():
        begin, end = (
            f"<!-- {name}: made by python -m {module} -->\n",
            f"\n<!-- /{name} -->",
        )
        before, after = text.split(begin)
        text = before + begin + made + end + after.split(end, 1)[1]
    return text


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]])


def _code(formula: Formula) -> str:
    """A formula as code, with room around its signs, at which lines break."""
    spaced = re.sub(r"(<=|[-+*/=])", r" \1 ", formula.text())
    return f"`{spaced}`"


def _formula(metric: Metric[...]) -> tuple[str, str]:
    """What is added up, and what the sum is divided by, as code."""
    measure = Measure(metric)
    credit, out_of = measure.credit, measure.out_of
    row = _code(credit)
    if metric.over == "ideal":
        row = f"{row}, summed over the ideal list"
    if metric.missed != "0":
        once = f"{_code(measure.missed)} once"
        row = once if metric.credit == "0" else f"{row}, and {once}"
    return row, "" if out_of.text() == "1" else _code(out_of)


def _options(metric: Metric[...]) -> str:
    return " ".join(f"`{option}`" for option in metric.defaults)


def metrics_page(text: str) -> str:
    """The page of metrics with its tables made anew of the registry."""
    accuracy = [
        [
            " ".join(f"`{name}`" for name in (metric.name, *metric.aliases)),
            metric.title,
            *_formula(metric),
            _options(metric),
            "no bound" if math.isinf(metric.bounds[1]) else f"{metric.bounds[1]:g}",
        ]
        for metric in METRICS.values()
    ]
    retrieval = [
        [f"`{metric.symbol}`", f"`{metric.name}`", metric.title, *_formula(metric)]
        for metric in RETRIEVAL_METRICS.values()
    ]
    beyond = [
        [
            f"`{metric.name}`",
            metric.title,
            metric.over,
            *_formula(metric),
            ", ".join(NEEDS[need] for need in metric.needs),
            _options(metric),
            _(Measure(metric).range_text),
        ]
        for metric in LIST_METRICS.values()
    ]
    meant = ("what the number means", "credit of a hit", "out of")
    parts = {
        "metrics": table(["call", *meant, "options", "from 0 to"], accuracy),
        "retrieval": table(["measure", "name", *meant], retrieval),
        "beyond accuracy": table(
            [
                "call",
                "what the number means",
                "sum over",
                "of",
                "out of",
                "needs",
                "options",
                "bounds",
            ],
            beyond,
        ),
    }
    return filled(text, "tests.tools.readme", parts)


def programs_of(text: str) -> list[tuple[str, str]]:
    """The programs of a page with what stands below each as its output."""
    blocks = re.findall(
        r"```python\n(.*?)```\n+```text\n(.*?)```", text, flags=re.DOTALL
    )
    return [(program, printed.rstrip("\n")) for program, printed in blocks]


def output_of(program: str) -> str:
    """What a program prints; its last line is shown if it is an expression, as a
    notebook does.
    """
    *head, last = program.rstrip().split("\n")
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(head), names)  # the README's own text
        value = (
            eval(last, names)
            if not last.startswith(" ") and "=" not in last.split("(")[0]
            else exec(last, names)
        )
        if value is not None:
            print(repr(value))
    return printed.getvalue().rstrip("\n")


def calls_of(text: str, head: str) -> list[str]:
    """The calls in the second column of the tables of a page with this head of the first
    column.
    """
    tables = re.findall(
        rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE
    )
    assert tables, head
    codes = [
        code
        for rows in tables
        for row in rows.splitlines()
        for code in re.findall(r"`([^`]+)`", row.split(" | ", 1)[1])
    ]
    return [code for code in codes if re.match(r"[a-z]+[.\[][\w.\[\]\"-]+\(", code)]


def with_output(text: str) -> str:
    """A page with the output of each program run anew."""
    parts = re.split(r"(```python\n.*?```\n+```text\n.*?```)", text, flags=re.DOTALL)
    for at, part in enumerate(parts):
        block = re.fullmatch(
            r"```python\n(.*?)```(\n+)```text\n.*?```", part, flags=re.DOTALL
        )
        if block:
            printed = output_of(block[1])
            parts[at] = f"```python\n{block[1]}```{block[2]}```text\n{printed}\n```"
    return "".join(parts)


def main() -> None:
    """Write the pages anew."""
    METRICS_PAGE.write_text(metrics_page(METRICS_PAGE.read_text("utf-8")), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # programs write files
        for page in PROGRAM_PAGES:
            page.write_text(with_output(page.read_text("utf-8")), "utf-8")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
