"""Recorded files: calls, each on a line that begins with `>>> `, and what each shows;
lines above a call that begin with `# ` say why it is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

Form = Callable[[Any], str]


class Recorded:
    """The files in the folder `shown` beside a file of tests, each with its form.

    `names` are those that stand in the calls.
    """

    def __init__(
        self, tests: str, forms: dict[str, Form], names: dict[str, Any]
    ) -> None:
        self.folder = Path(tests).parent / "shown"
        self.forms = forms
        self.names = names

    def hold(self, file: str) -> None:
        """Hold what the calls of a file show against what is recorded."""
        recorded = (self.folder / file).read_text("utf-8")
        assert self._shown(file) == recorded

    def write(self) -> None:
        """Record what the calls show now."""
        for file in self.forms:
            (self.folder / file).write_text(self._shown(file), "utf-8")

    def _shown(self, file: str) -> str:
        recorded = (self.folder / file).read_text("utf-8")
        parts = []
        sections = re.findall(r"^((?:# .*\n)*)>>> (.*)$", recorded, re.MULTILINE)
        for comment, call in sections:
            text = self.forms[file](eval(call, dict(self.names)))
            lines = "\n".join(line.rstrip() for line in text.splitlines())
            parts.append(f"{comment}>>> {call}\n{lines.rstrip()}\n")
        return "\n".join(parts)


def text_of(result: Any) -> str:
    """Return text as it is, and what any other result shows."""
    return result if isinstance(result, str) else repr(result)
