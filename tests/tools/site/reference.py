"""The reference: a page for each public name, made of its docstring: what it is for, an
example, the signature, the parameters.

Which names there are is asked of the package, so that a new one has its page without a
line here.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import recnb
from recnb.evaluation import PUBLIC
from recnb.lint.findings import Finding, Lint
from recnb.metrics.metric import ACCURACY
from recnb.report.report import Report
from recnb.results.detectable import Detectable
from recnb.results.evaluation_data import EvaluationData
from recnb.results.gate import Gate
from recnb.results.stored_values import PairedDifference
from recnb.widgets.explorer import Explorer
from recnb.widgets.quiz.answer import Quiz
from tests.tools.site.docstrings import divided, mended

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Classes that methods return and that nobody makes by name.
RETURNED: tuple[type, ...] = (
    Report,
    Lint,
    Finding,
    Detectable,
    Explorer,
    Gate,
    PairedDifference,
    Quiz,
)
#: What is for a metric of the caller's own.
HELPERS = ("Credit", "as_column", "out_of_count")
#: The bases that hold what results read, not what users ask.
INNER = {*EvaluationData.__mro__}
#: What a registry holds, which has no docstring.
REGISTRIES = {
    "recnb.METRICS": "Metrics of accuracy by their names.",
    "recnb.LIST_METRICS": "Metrics beyond accuracy by their names.",
}

#: Members that recnb's own modules call, and users have no reason to.
OF_RECNB = {
    "Detectable": {"of"},
    "Exercise": {"score", "shared", "with_list"},
    "Explorer": {"bars"},
    "Live": {"use"},
    "Convention": {
        "decision_in_words",
        "given_in_words",
        "keeps_ranks",
        "order_in_words",
        "ordered_by",
        "phrases",
        "users_phrase",
        "with_metric",
        "without_k",
    },
    "Playground": {"name"},
    "Quiz": {"rounded"},
    "Score": {"users_at"},
    "Table": {"made"},
}

TITLES = {
    "ways in": "Evaluate and compare",
    "metrics": "Metrics of one list",
    "classes": "What is returned",
    "helpers": "A metric of your own",
    "modules": "Modules",
    "tables": "Tables of metrics",
}


def register(app: Sphinx) -> None:
    """Let Sphinx read docstrings without what their pages begin with."""
    names = [name for names in public_names().values() for name in names]
    begun = [value_of(name) for name in names]

    def leave_out(
        _app: Sphinx, _what: str, _name: str, value: Any, _opts: Any, lines: list[str]
    ) -> None:
        is_begun = any(value is one for one in begun)
        if is_begun and not isinstance(value, ModuleType):
            lines[:] = divided(lines)[2]

    app.connect("autodoc-process-docstring", leave_out, priority=300)


def write_reference(folder: Path) -> None:
    """Write the pages of the reference, and the page that lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    groups = public_names()
    for names in groups.values():
        for name in names:
            (folder / f"{name}.rst").write_text(_page(name), encoding="utf-8")
    (folder / "index.rst").write_text(_index(groups), encoding="utf-8")


def public_names() -> dict[str, list[str]]:
    """Return the full name of each public object, by kind."""
    groups: dict[str, list[str]] = {kind: [] for kind in TITLES}
    for name in sorted({*recnb.__all__} - {"__version__"}, key=str.lower):
        groups[_kind(name)].append(f"recnb.{name}")
    groups["classes"] += [f"{cls.__module__}.{cls.__name__}" for cls in RETURNED]
    groups["classes"].sort(key=lambda name: name.rpartition(".")[2])
    groups["helpers"] += [f"recnb.metrics.{name}" for name in HELPERS]
    return groups


def _kind(name: str) -> str:
    """Return in which group a name of recnb is listed."""
    value = getattr(recnb, name)
    if isinstance(value, ModuleType):
        return "modules"
    if isinstance(value, dict):
        return "tables"
    if isinstance(value, type) and name[0].isupper():
        return "classes"
    metrics = ACCURACY.values()
    if any(name in (metric.name, *metric.aliases) for metric in metrics):
        return "metrics"
    return "ways in"


def value_of(name: str) -> Any:
    """Return the object of a full name."""
    module, _dot, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def members_of(cls: type) -> list[str]:
    """Return the public methods, properties and fields of a class, as recnb has them."""
    names: set[str] = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("recnb"):
            continue
        if base in INNER:
            names |= vars(base).keys() & PUBLIC
        else:
            names |= vars(base).keys()
    shown = {name for name in names if _is_shown(cls, name)}
    # Those of a base are of its own page, or inner ones.
    has_fields = "__dataclass_fields__" in vars(cls)
    if has_fields and cls.__name__ in recnb.__all__:
        shown |= {field.name for field in dataclasses.fields(cls)}
    for base in cls.__mro__:
        shown -= OF_RECNB.get(base.__name__, set())
    return sorted(name for name in shown if not name.startswith("_"))


def _is_shown(cls: type, name: str) -> bool:
    """Whether a name of a class is a method or a property with a docstring."""
    value = inspect.getattr_static(cls, name)
    is_asked = callable(value) or hasattr(value, "__get__")
    return is_asked and bool(inspect.getdoc(value))


def _page(name: str) -> str:
    """Return the page of one name."""
    value = value_of(name)
    title = _title(name)
    head = [title, "=" * len(title), ""]
    if isinstance(value, ModuleType):
        return "\n".join([*head, *_module(name, value)])
    if isinstance(value, dict):
        return "\n".join([*head, *_table(name)])
    head += _beginning(value)
    if isinstance(value, type):
        return "\n".join([*head, *_class(name, value)])
    return "\n".join([*head, f".. autofunction:: {name}", ""])


def _beginning(value: Any) -> list[str]:
    """Return what an object is for and its example, which stand above the signature."""
    lines = (inspect.getdoc(value) or "").splitlines()
    purpose, examples, _others = divided(lines)
    return [*mended(purpose), "", *examples, ""]


def _title(name: str) -> str:
    """Return what a page is called: the call, or the class alone if nobody calls it."""
    return value_of(name).__name__ if value_of(name) in RETURNED else name


def _class(name: str, cls: type) -> list[str]:
    """Return the lines of a class with its members."""
    lines = []
    if name.rpartition(".")[2] != cls.__name__:
        lines += [f".. py:class:: {name}", ""]  # as it is called: recnb.playground
        name = f"{cls.__module__}.{cls.__name__}"
        lines += [f"   The class `{name}`.", ""]
    lines.append(f".. autoclass:: {name}")
    members = members_of(cls)
    if members:
        lines += [
            f"   :members: {', '.join(members)}",
            "   :member-order: alphabetical",
        ]
    return [*lines, ""]


def _module(name: str, module: ModuleType) -> list[str]:
    """Return the lines of a module: its docstring, and what it has."""
    lines = [f".. automodule:: {name}", ""]
    for member in objects_of(module):
        value = getattr(module, member)
        if _is_error(value):
            lines += [
                f".. autoexception:: {name}.{member}",
                "   :show-inheritance:",
                "",
            ]
        elif isinstance(value, type):
            lines += _class(f"{name}.{member}", value)
        elif inspect.isfunction(value):
            lines += [f".. autofunction:: {name}.{member}", ""]
    return lines


def objects_of(module: ModuleType) -> list[str]:
    """Return the names of a module that are on its page: functions and classes.

    What is a name of recnb has a page of its own.
    """
    return [
        name for name in _listed(module) if _is_on_its_page(name, getattr(module, name))
    ]


def _is_on_its_page(name: str, value: Any) -> bool:
    """Whether a value of a module is a function or a class, and no name of recnb."""
    is_object = isinstance(value, type) or inspect.isfunction(value)
    return is_object and getattr(recnb, name, None) is not value


def _listed(module: ModuleType) -> list[str]:
    """Return the names that a module lists as its own, or else what it raises."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    errors = [name for name, value in vars(module).items() if _is_error(value)]
    return sorted(errors)


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _table(name: str) -> list[str]:
    """Return the lines of a registry of metrics: their names and meanings."""
    metrics = value_of(name)
    lines = [f".. py:data:: {name}", "", f"   {REGISTRIES[name]}", ""]
    lines += [f"   - ``{metric.name}``: {metric.title}" for metric in metrics.values()]
    return [*lines, ""]


def summary_of(name: str) -> str:
    """Return the first sentence of a name of recnb, as its page begins."""
    if name in REGISTRIES:
        return REGISTRIES[name]
    docstring = inspect.getdoc(value_of(name)) or ""
    first_paragraph = docstring.partition("\n\n")[0]
    return " ".join(mended(first_paragraph.splitlines()))


def _index(groups: dict[str, list[str]]) -> str:
    """Return the page that lists every name with its first sentence."""
    lines = ["Reference", "=========", ""]
    for kind, title in TITLES.items():
        lines += [
            title,
            "-" * len(title),
            "",
            ".. list-table::",
            "",
        ]
        for name in groups[kind]:
            lines += [
                f"   * - :py:obj:`{_title(name)} <{name}>`",
                f"     - {summary_of(name)}",
            ]
        lines += ["", ".. toctree::", "   :hidden:", f"   :caption: {title}", ""]
        lines += [f"   {_title(name)} <{name}>" for name in groups[kind]]
        lines.append("")
    return "\n".join(lines)
