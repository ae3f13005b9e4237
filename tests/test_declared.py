"""Limits, widths and defaults of keywords, each of which is written down once in the
package, are those of a list: `python -m tests.test_declared` writes it anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import recnb

PACKAGE = Path(recnb.__file__).parent
RECORDED = Path(__file__).with_name("declared.txt")


def declared(node: ast.AST) -> Iterator[str]:
    """Yield the keywords of a function that have a default, and the constants of a
    module or of a class that have a number.
    """
    match node:
        case ast.FunctionDef(args=ast.arguments() as asked):
            positional = [*asked.posonlyargs, *asked.args]
            after = len(positional) - len(asked.defaults)
            keywords = [*positional[after:], *asked.kwonlyargs]
            defaults = [*asked.defaults, *asked.kw_defaults]
            for keyword, default in zip(keywords, defaults, strict=True):
                if default is not None:
                    yield f"{node.name}({keyword.arg}={ast.unparse(default)})"
        case ast.Module() | ast.ClassDef():
            for line in node.body:
                if isinstance(line, ast.Assign | ast.AnnAssign) and has_number(line):
                    yield ast.unparse(line)


def has_number(line: ast.AST) -> bool:
    """Return whether there is a number in a line, or True or False."""
    parts = ast.walk(line)
    return any(isinstance(vars(part).get("value"), int | float) for part in parts)


def test_what_is_declared_is_what_is_written_down() -> None:
    assert every_line() == RECORDED.read_text("utf-8")


def every_line() -> str:
    """Return what the modules declare, each below its name."""
    lines = []
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        found = [f"  {line}" for node in nodes for line in declared(node)]
        if found:
            lines += [path.relative_to(PACKAGE).as_posix(), *found]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    RECORDED.write_text(every_line(), "utf-8")
