"""Which tests kill which mutants of a room: what shows that a test may be deleted.

    python -m tests.tools.mutants recnb/stats --tests tests/stats --n 60 --out before.json
    python -m tests.tools.mutants --read before.json --without test_a tests/stats/test_b.py
    python -m tests.tools.mutants --read before.json --against after.json

A mutant is the package with one operator, comparison, number or condition changed; `--n`
draws as many of them. Each runs in a fork, where pytest runs the tests that reach the
changed function; with `--first`, until one fails. `--without` names tests as if they were
deleted, and `--against` a second table of the same mutants: both list the mutants that
live then, and exit with 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

import pytest

#: What forks need not import again.
LIBRARIES = ("matplotlib.pyplot", "pandas", "polars", "pyarrow", "scipy.stats")
PAIRS = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.And, ast.Or),
)
OPERATORS = dict(PAIRS) | {other: one for one, other in PAIRS}
NAME_PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("isnan", "isfinite"),
    ("sum", "prod"),
)
NAMES = dict(NAME_PAIRS) | {other: one for one, other in NAME_PAIRS}
#: Messages, defaults and types change no number.
LET_ALONE = ast.Raise | ast.JoinedStr | ast.arguments
TYPES = ("annotation", "returns")
CONDITIONS = ast.Name | ast.Call | ast.Attribute
DEFINITIONS = ast.FunctionDef | ast.ClassDef
#: Seconds that a mutant has, beside ten times those of its tests.
LIMIT = 60
HOUR = 3600

Table = dict[str, Any]


class Mutant(NamedTuple):
    """A changed source: its file and line, the function, the change, and the text."""

    path: str
    line: int
    function: str
    change: str
    source: str


class Tested(NamedTuple):
    """What one test did."""

    test: str
    failed: bool
    seconds: float
    reached: list[list[str]]


def mutated(node: ast.AST) -> ast.AST | None:
    """Return what takes the place of a node in a mutant, if anything."""
    made: Any = copy.copy(node)
    match node:
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in OPERATORS:
            made.op = OPERATORS[type(node.op)]()
        case ast.Compare() if type(node.ops[0]) in OPERATORS:
            made.ops = [OPERATORS[type(node.ops[0])](), *node.ops[1:]]
        case ast.Constant(value=bool()):
            made.value = not node.value
        case ast.Constant(value=int() | float()):
            made.value = node.value + 1
        case ast.If() if isinstance(node.test, CONDITIONS):
            made.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Attribute() if node.attr in NAMES:
            made.attr = NAMES[node.attr]
        case ast.UnaryOp():
            return node.operand
        case _:
            return None
    return made


def children(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Yield the children of a node that may be changed, each with the holder and the key
    where it stands.
    """
    for field, value in ast.iter_fields(node):
        if field in TYPES:
            continue
        if isinstance(value, list):
            places = [(value, number, child) for number, child in enumerate(value)]
        else:
            places = [(vars(node), field, value)]
        for holder, key, child in places:
            if isinstance(child, ast.AST) and not isinstance(child, LET_ALONE):
                yield holder, key, child


def first_line(node: ast.AST) -> str:
    """Return the code of a node in short."""
    return ast.unparse(node).split("\n")[0][:60]


def mutants(
    path: str, tree: ast.Module, node: ast.AST, prefix: str = "", function: str = ""
) -> Iterator[Mutant]:
    """Yield the mutants of what is inside a node of a tree."""
    for holder, key, child in children(node):
        inside, name = prefix, function
        if isinstance(child, DEFINITIONS):
            inside = f"{prefix}.{child.name}".strip(".")
        if isinstance(child, ast.FunctionDef):
            name = inside
        after = mutated(child)
        if after is not None:
            line = getattr(child, "lineno", 0)
            change = f"{first_line(child)} -> {first_line(after)}"
            holder[key] = after
            yield Mutant(path, line, function, change, ast.unparse(tree))
            holder[key] = child
        yield from mutants(path, tree, child, inside, name)


def note_reached(path: str, node: ast.AST, prefix: str = "") -> None:
    """Let each function inside a node note that it is reached."""
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, DEFINITIONS):
            name = f"{prefix}.{child.name}".strip(".")
        note_reached(path, child, name)
        if isinstance(child, ast.FunctionDef):
            note = f"__import__('sys').reached.add(({path!r}, {name!r}))"
            has_docstring = ast.get_docstring(child) is not None
            child.body.insert(int(has_docstring), ast.parse(note).body[0])


def noted(path: str, tree: ast.Module) -> str:
    """Return the source whose functions note that they are reached."""
    made = copy.deepcopy(tree)
    note_reached(path, made)
    return ast.unparse(made)


class Recorder:
    """A plugin of pytest in a fork: it runs some of the tests, and writes what they did."""

    def __init__(self, pipe: int, only: Collection[str] | None) -> None:
        self.pipe = pipe
        self.only = only
        self.failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.only is not None:
            items[:] = [item for item in items if item.nodeid in self.only]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.failed = False
        sys.reached = set()  # type: ignore[attr-defined]
        start = time.perf_counter()
        self._write(json.dumps(item.nodeid) + "\t")
        done = yield
        seconds = time.perf_counter() - start
        reached = [*sys.reached]  # type: ignore[attr-defined]
        self._write(json.dumps([self.failed, seconds, reached]) + "\n")
        return done

    def _write(self, text: str) -> None:
        os.write(self.pipe, text.encode())


def run_in_fork(
    pipe: int,
    tests: Sequence[str],
    sources: Mapping[str, str],
    limit: int,
    only: Collection[str] | None,
) -> None:
    """Run tests on changed sources, and end the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    signal.alarm(limit)
    sys.reached = set()  # type: ignore[attr-defined]
    load = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> Any:
        if loader.path in sources:
            return loader.source_to_code(sources[loader.path].encode(), loader.path)
        return load(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider"]
    pytest.main([*tests, *options], plugins=[Recorder(pipe, only)])
    os._exit(0)


def run(
    tests: Sequence[str],
    sources: Mapping[str, str],
    limit: int,
    only: Collection[str] | None = None,
) -> list[Tested]:
    """Run tests on changed sources in a fork, and return what each did.

    A test that does not end has failed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        run_in_fork(writer, tests, sources, limit, only)
    os.close(writer)
    with os.fdopen(reader) as answers:
        lines = answers.read().splitlines()
    os.waitpid(child, 0)
    found = []
    for line in lines:
        test, _tab, rest = line.partition("\t")
        did = json.loads(rest) if rest else [True, 0, []]
        found.append(Tested(json.loads(test), *did))
    return found


def killers_of(mutant: Mutant, base: Sequence[Tested]) -> list[str]:
    """Return the tests that fail on a mutant, of those that reach it."""
    place = [mutant.path, mutant.function]
    reach = {}
    for one in base:
        if not mutant.function or place in one.reached:  # a module is reached by all
            reach[one.test] = one.seconds
    if not reach:
        return []
    files = sorted({test.split("::")[0] for test in reach})
    limit = LIMIT + int(10 * sum(reach.values()))
    found = run(files, {mutant.path: mutant.source}, limit, reach)
    if not found:  # it cannot even be imported
        return [*reach]
    return [one.test for one in found if one.failed]


def without_cases(tests: Collection[str]) -> list[str]:
    """Return the names of tests without those of their cases."""
    return sorted({test.split("[")[0] for test in tests})


def table_of(
    sources: Sequence[Path], tests: Sequence[str], n: int | None, seed: int
) -> Table:
    """Make mutants, and return which tests kill each."""
    paths: list[Path] = []
    for source in sources:
        paths += [source] if source.is_file() else sorted(source.rglob("*.py"))
    trees = {str(path.resolve()): ast.parse(path.read_text("utf-8")) for path in paths}
    for library in LIBRARIES:
        importlib.import_module(library)
    base = run(tests, {path: noted(path, tree) for path, tree in trees.items()}, HOUR)
    failed = [one.test for one in base if one.failed]
    if failed or not base:
        sys.exit(f"without a mutant all tests must pass; these do not: {failed}")
    every = [one for path, tree in trees.items() for one in mutants(path, tree, tree)]
    drawn = random.Random(seed).sample(every, min(n or len(every), len(every)))
    made = []
    for mutant in sorted(drawn):
        place = f"{os.path.relpath(mutant.path)}:{mutant.line}"
        text = f"{place} {mutant.function}: {mutant.change}"
        killers = without_cases(killers_of(mutant, base))
        made.append({"mutant": text, "killers": killers})
        print(len(killers), text, file=sys.stderr, flush=True)
    seconds: dict[str, float] = {}
    for one in base:
        test = one.test.split("[")[0]
        seconds[test] = seconds.get(test, 0) + one.seconds
    return {"of": len(every), "mutants": made, "seconds": seconds}


def smallest_set(killed: Sequence[set[str]], seconds: Mapping[str, float]) -> set[str]:
    """Return few tests that kill all these mutants: again and again the one that kills
    most of those left for its time.
    """
    chosen: set[str] = set()
    left = [*killed]
    while left:
        gain = dict.fromkeys(sorted(set().union(*left)), 0.0)
        for killers in left:
            for test in killers:
                gain[test] += 1 / (0.05 + seconds.get(test, 0))
        best = max(gain, key=lambda test: gain[test])
        chosen.add(best)
        left = [killers for killers in left if best not in killers]
    return chosen


def print_table(table: Table) -> None:
    """Print the mutants that live, and how many each test kills."""
    killed = [{*one["killers"]} for one in table["mutants"] if one["killers"]]
    for one in table["mutants"]:
        if not one["killers"]:
            print("lives", one["mutant"])
    seconds = table["seconds"]
    few = smallest_set(killed, seconds)
    counts = {test: sum(test in killers for killers in killed) for test in seconds}
    print("  killed  alone  seconds")
    for test in sorted(seconds, key=lambda test: (-counts[test], test)):
        alone = sum(killers == {test} for killers in killed)
        mark = "*" if test in few else " "
        print(f"{counts[test]:8} {alone:6} {seconds[test]:8.2f} {mark} {test}")
    drawn = len(table["mutants"])
    print(f"{len(killed)} of {drawn} mutants, drawn of {table['of']}, are killed.")
    print(f"{len(few)} of {len(seconds)} tests (*) kill them.")


def print_lost(before: Table, after: Table) -> int:
    """Print the mutants that are killed before alone, and return their number."""
    live = {one["mutant"] for one in after["mutants"] if not one["killers"]}
    lost = [
        one for one in before["mutants"] if one["killers"] and one["mutant"] in live
    ]
    for one in lost:
        print("lost", one["mutant"], "killed by", *one["killers"])
    for name, table in (("before", before), ("after", after)):
        killed = sum(bool(one["killers"]) for one in table["mutants"])
        tests, seconds = len(table["seconds"]), sum(table["seconds"].values())
        print(f"{name}: {killed} killed by {tests} tests in {seconds:.1f} s")
    return len(lost)


def without_tests(table: Table, names: Collection[str]) -> Table:
    """Return the table that there would be without tests, named by file or by name."""
    out = set()
    for test in table["seconds"]:
        if {test, test.split("::")[0], test.split("::")[-1]} & {*names}:
            out.add(test)
    made = [
        {"mutant": one["mutant"], "killers": sorted({*one["killers"]} - out)}
        for one in table["mutants"]
    ]
    seconds = {test: time for test, time in table["seconds"].items() if test not in out}
    return {"of": table["of"], "mutants": made, "seconds": seconds}


def read_table(path: Path) -> Table:
    """Return a table that was written."""
    table: Table = json.loads(path.read_text("utf-8"))
    return table


def main() -> int:
    """Make a table of mutants, or read one."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--n", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("mutants.json"))
    parser.add_argument("--read", type=Path)
    parser.add_argument("--without", nargs="+")
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    os.environ["RECNB_HYPOTHESIS"] = "mutants"
    if asked.first:
        os.environ["PYTEST_ADDOPTS"] = "-x"
    if asked.read is None:
        table = table_of(asked.sources, asked.tests, asked.n, asked.seed)
        asked.out.write_text(json.dumps(table, indent=1), "utf-8")
    else:
        table = read_table(asked.read)
    if asked.against is not None:
        return int(print_lost(table, read_table(asked.against)) > 0)
    if asked.without is not None:
        return int(print_lost(table, without_tests(table, asked.without)) > 0)
    print_table(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
