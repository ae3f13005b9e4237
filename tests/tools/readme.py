"""The generated parts of the README and of the page of metrics: `python -m tests.tools.readme` writes them anew."""

from __future__ import annotations

import contextlib
import io
import math
import pathlib
import re

from recnb.metrics.metric import LIST_METRICS, METRICS, RETRIEVAL_METRICS

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


def metric_table() -> str:
    """The table of metrics, from the registry."""
    lines = [
        BEGIN,
        "| call | what the number means | credit of a hit | out of | options | from 0 to |",
        "|---|---|---|---|---|---|",
    ]
    for metric in METRICS.values():
        credit, out_of = metric.formulas()
        names = " ".join(f"`{name}`" for name in (metric.name, *metric.aliases))
        options = " ".join(f"`{option}`" for option in metric.defaults)
        under = "" if out_of.text() == "1" else f"`{out_of.text()}`"
        top = "no bound" if math.isinf(metric.bounds[1]) else f"{metric.bounds[1]:g}"
        rows = "`, summed over the ideal list" if metric.over == "ideal" else "`"
        lines.append(f"| {names} | {metric.title} | `{credit.text()}{rows} | {under} | {options} | {top} |")
    return "\n".join([*lines, END])


def retrieval_table() -> str:
    """The table of measures of retrieval, from the registry."""
    lines = [BEGIN_RETRIEVAL, "| measure | what the number means | credit of a hit | out of |", "|---|---|---|---|"]
    for metric in RETRIEVAL_METRICS.values():
        credit, out_of = metric.formulas()
        under = "" if out_of.text() == "1" else f"`{out_of.text()}`"
        formula = f"`{credit.text()}` | {under}"
        lines.append(f"| `{metric.symbol}` | {metric.title} | {formula} |")
    return "\n".join([*lines, END_RETRIEVAL])


def beyond_table() -> str:
    """The table of metrics beyond accuracy, from the registry."""
    lines = [
        BEGIN_BEYOND,
        "| call | what the number means | sum over | of | out of | needs | options | bounds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for metric in LIST_METRICS.values():
        term, out_of = metric.formulas()
        options = " ".join(f"`{option}`" for option in metric.defaults)
        under = "" if out_of.text() == "1" else f"`{out_of.text()}`"
        needs = ", ".join(filter(None, (NEEDS[need] for need in metric.needs)))
        formula = f"{metric.over} | `{term.text()}` | {under}"
        lines.append(f"| `{metric.name}` | {metric.title} | {formula} | {needs} | {options} | {metric.range_text} |")
    return "\n".join([*lines, END_BEYOND])


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
