"""Docstrings of the public names: numpydoc's rules hold, and each example is run.

The names are those of the reference on the site, so that a new one is checked without a
line here.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import recnb
from recnb.evaluate import KEYWORDS
from tests.tools.site.reference import (
    RETURNED,
    members_of,
    objects_of,
    public_names,
    value_of,
)

if TYPE_CHECKING:
    from numpydoc.validate import Validator

#: Checks of numpydoc that are left out everywhere, with the reason.
LEFT_OUT = {
    "ES01": "a summary that says it all needs no second paragraph",
    "SA01": "See Also is there where there is something to see",
}
#: Checks that are left out of properties and errors, which are a line, with the reason.
LEFT_OUT_OF_LINES = {"EX01": "the example of its class, or of what raises it, shows it"}
#: Classes that methods return and nobody calls: their parameters are not documented.
MADE_BY_RECNB = (
    *RETURNED,
    recnb.CatalogueScore,
    recnb.Comparison,
    recnb.Evaluation,
    recnb.Explanation,
    recnb.RecAccessor,
    recnb.Score,
    recnb.Table,
)
#: Names without an example, with the reason.
NO_EXAMPLE = {
    "recnb.datasets.MovieLens": "its data is downloaded",
    "recnb.datasets.load_movielens": "its data is downloaded",
}


def validator_of(value: Any) -> Validator:
    """Return numpydoc's validator of a docstring, of the extra `ci`.

    It takes `**options` for the keywords of `recnb.evaluate`, which it describes. A
    method that is written as a function has `data` in the place of `self`.
    """
    from numpydoc.docscrape import get_doc_object
    from numpydoc.validate import Validator

    class CallValidator(Validator):
        @property
        def signature_parameters(self) -> tuple[str, ...]:
            names: tuple[str, ...] = super().signature_parameters
            if names[:1] == ("data",):
                names = names[1:]
            described = self.doc_all_parameters
            if "**options" not in described:
                return names
            known = {*KEYWORDS, "**options"} - {*described}
            listed = [name for name in names if name not in known]
            if "**options" not in listed:
                listed.append("**options")
            return tuple(listed)

    return CallValidator(get_doc_object(value))


@cache
def public_objects() -> dict[str, Any]:
    """Return the public names with what they are, members of classes among them."""
    found: dict[str, Any] = {}
    for names in public_names().values():
        for name in names:
            found |= dict(objects_with_members(name, value_of(name)))
    return found


def objects_with_members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return  # a registry has no docstring of its own
    if isinstance(value, ModuleType):
        for member in objects_of(value):
            yield from objects_with_members(f"{name}.{member}", getattr(value, member))
        return
    yield name, value
    if not inspect.isclass(value):
        return
    for member in members_of(value):
        attribute = inspect.getattr_static(value, member, None)
        if isinstance(attribute, classmethod | staticmethod):
            attribute = attribute.__func__
        if callable(attribute) or hasattr(attribute, "__get__"):
            yield f"{name}.{member}", attribute


def problems(name: str, value: Any) -> list[str]:
    """Return what is wrong with a docstring, by numpydoc's rules and the house's."""
    from numpydoc.validate import validate

    is_error = inspect.isclass(value) and issubclass(value, Exception)
    is_line = is_error or not callable(value)
    left_out = {*LEFT_OUT}
    if is_line or name in NO_EXAMPLE or is_shown_by_its_class(name):
        left_out |= {*LEFT_OUT_OF_LINES}
    if is_error or value in MADE_BY_RECNB:
        left_out.add("PR01")
    validator = validator_of(value)
    result = validate(value, validator_cls=lambda obj_name: validator)
    wrong = [
        f"{code}: {text}" for code, text in result["errors"] if code not in left_out
    ]
    # numpydoc lets parameters with a set of values be without a description.
    for parameter, (_kind, text) in validator.doc_all_parameters.items():
        if not "".join(text):
            wrong.append(f"{parameter} has no description")
    return wrong


def is_shown_by_its_class(name: str) -> bool:
    """Whether the example of a class calls this method of it."""
    of_class, _dot, method = name.rpartition(".")
    written = inspect.getdoc(public_objects().get(of_class)) or ""
    _text, prompt, examples = written.partition(">>>")
    return bool(prompt) and f".{method}(" in examples


@pytest.mark.slow
def test_public_names_have_docstrings_by_the_rules_of_numpydoc() -> None:
    found = {name: problems(name, value) for name, value in public_objects().items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@cache
def doctests_of(module: str) -> set[str]:
    """Return the docstrings of a module whose examples pytest runs."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return {test.docstring for test in finder.find(importlib.import_module(module))}


def module_of(value: Any) -> str:
    """Return the module where something is written."""
    if isinstance(value, property):
        value = value.fget
    module = inspect.getmodule(inspect.unwrap(value))
    assert module is not None
    return module.__name__


def test_the_examples_of_the_reference_are_run_as_doctests(
    pytestconfig: pytest.Config,
) -> None:
    assert pytestconfig.getoption("doctestmodules")
    assert "recnb" in pytestconfig.getini("testpaths")
    for name, value in public_objects().items():
        if ">>>" in (inspect.getdoc(value) or ""):
            module = module_of(value)
            assert "spark" not in module, name  # pytest is told to ignore these
            assert value.__doc__ in doctests_of(module), name
