"""The generated parts of the README and of the page of metrics: `python -m tests.tools.readme` writes them anew."""

from __future__ import annotations

import contextlib
import io
import math
import pathlib
import re
from collections.abc import Iterable, Sequence

from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS, Metric

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
METRICS_PAGE = ROOT / "recnb" / "metrics" / "README.md"
BEGIN, END = "<!-- metrics: made by python -m tests.tools.readme -->", "<!-- /metrics -->"
BEGIN_RETRIEVAL, END_RETRIEVAL = "<!-- retrieval: made by python -m tests.tools.readme -->", "<!-- /retrieval -->"
BEGIN_BEYOND, END_BEYOND = "<!-- beyond accuracy: made by python -m tests.tools.readme -->", "<!-- /beyond accuracy -->"
NEEDS = {
    "train": "`train=`",
    "catalogue": "`items=` or `train=`",
    "features": "`items=`",
    "genre": "`items=`",
    "truth": "",
}


def _table(begin: str, columns: list[str], rows: Iterable[Sequence[str]], end: str) -> str:
    """A table of Markdown between two marks."""
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    return "\n".join([begin, lines[0], "|---" * len(columns) + "|", *lines[1:], end])


def _formula(metric: Metric[...]) -> tuple[str, str]:
    """What is added up, and what the sum is divided by, as code."""
    credit, out_of = metric.formulas()
    rows = "`, summed over the ideal list" if metric.over == "ideal" else "`"
    return f"`{credit.text()}{rows}", "" if out_of.text() == "1" else f"`{out_of.text()}`"


def _options(metric: Metric[...]) -> str:
    return " ".join(f"`{option}`" for option in metric.defaults)


def metric_table() -> str:
    """The table of metrics, from the registry."""
    columns = ["call", "what the number means", "credit of a hit", "out of", "options", "from 0 to"]
    rows = [
        [
            " ".join(f"`{name}`" for name in (metric.name, *metric.aliases)), metric.title, *_formula(metric), _options(metric),
            "no bound" if math.isinf(metric.bounds[1]) else f"{metric.bounds[1]:g}",
        ]
        for metric in METRICS.values()
    ]  # fmt: skip
    return _table(BEGIN, columns, rows, END)


def retrieval_table() -> str:
    """The table of measures of retrieval, from the registry."""
    columns = ["measure", "what the number means", "credit of a hit", "out of"]
    rows = [[f"`{metric.symbol}`", metric.title, *_formula(metric)] for metric in RETRIEVAL_METRICS.values()]
    return _table(BEGIN_RETRIEVAL, columns, rows, END_RETRIEVAL)


def beyond_table() -> str:
    """The table of metrics beyond accuracy, from the registry."""
    columns = ["call", "what the number means", "sum over", "of", "out of", "needs", "options", "bounds"]
    rows = [
        [
            f"`{metric.name}`", metric.title, metric.over, *_formula(metric),
            ", ".join(filter(None, (NEEDS[need] for need in metric.needs))), _options(metric), metric.range_text,
        ]
        for metric in LIST_METRICS.values()
    ]  # fmt: skip
    return _table(BEGIN_BEYOND, columns, rows, END_BEYOND)


def output_of(program: str) -> str:
    """What a program prints; its last line is shown if it is an expression, as a notebook does."""
    *head, last = program.rstrip().split("\n")
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(head), names)  # the README's own text
        value = eval(last, names) if not last.startswith(" ") and "=" not in last.split("(")[0] else exec(last, names)
        if value is not None:
            print(repr(value))
    return printed.getvalue().rstrip("\n")


def calls_of(text: str, head: str) -> list[str]:
    """The calls in the second column of a table of the README, by the head of its first column."""
    rows = re.search(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    assert rows is not None, head
    codes = [code for row in rows[1].splitlines() for code in re.findall(r"`([^`]+)`", row.split(" | ", 1)[1])]
    return [code for code in codes if re.match(r"[a-z]+\.[\w.]+\(", code)]


def metrics_page(text: str) -> str:
    """The page of metrics with its tables generated anew."""
    text = re.sub(f"{BEGIN}.*?{END}", lambda _: metric_table(), text, flags=re.DOTALL)
    text = re.sub(f"{BEGIN_RETRIEVAL}.*?{END_RETRIEVAL}", lambda _: retrieval_table(), text, flags=re.DOTALL)
    return re.sub(f"{BEGIN_BEYOND}.*?{END_BEYOND}", lambda _: beyond_table(), text, flags=re.DOTALL)


def readme_page(text: str) -> str:
    """The README with the output of each program run anew."""
    parts = re.split(r"(```python\n.*?```\n+```text\n.*?```)", text, flags=re.DOTALL)
    for at, part in enumerate(parts):
        if block := re.fullmatch(r"```python\n(.*?)```(\n+)```text\n.*?```", part, flags=re.DOTALL):
            parts[at] = f"```python\n{block[1]}```{block[2]}```text\n{output_of(block[1])}\n```"
    return "".join(parts)


def main() -> None:
    METRICS_PAGE.write_text(metrics_page(METRICS_PAGE.read_text("utf-8")), "utf-8")
    README.write_text(readme_page(README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
