"""The signature and the docstring of a metric's method or function, made from its definition."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Sequence
from typing import Any

from recnb.metrics.metric import Metric


def describe(
    call: Callable[..., Any], metric: Metric[...], leading: Sequence[str], returned: str, trailing: Sequence[str] = ()
) -> Any:
    """Give the callable the metric's name, documentation and signature; `leading` are its parameters before `k`, `trailing` the last."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = [
        inspect.Parameter(name, kind, default=inspect.Parameter.empty if name == "self" else None) for name in leading
    ]
    of_metric = list(inspect.signature(metric.function).parameters.values())[1:]
    last = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in trailing]
    call.__name__ = call.__qualname__ = metric.name
    call.__doc__ = documentation(metric, leading, returned, trailing)
    vars(call)["__signature__"] = inspect.Signature([*first, *of_metric, *last], return_annotation=returned)
    return call


#: The parameters of every metric, and what it returns.
PARAMETERS = {
    "ranking": "ranking : list\n    Items from rank 1 down, or the relevance of each rank; a list of such lists gives their mean.",
    "truth": "truth : mapping, list or set, optional\n    Relevance of each item, or the relevant items; for several rankings, one for each.",
    "k": "k : int, optional\n    Cut-off: the rank after which the list is cut. None: the whole list of each user",
    "y_true": "y_true, y_score : array-like, optional\n    In place of a ranking: the relevance and the score of each item, in any order; equal scores keep their order.",
    "ties": 'ties : {"first", "last", "expected", "max_rank", "floor_mean_rank", "worst"}, optional\n    The order of equal scores, as in `Convention`; "expected" is the mean over all orders.',
}
RETURNS = {
    "Score": "Score\n    A float with `per_user`, `interval()`, `plot()` and its convention.",
    "CatalogueScore": "CatalogueScore\n    A float with `per_item`, `plot()` and its convention.",
}


def documentation(metric: Metric[...], leading: Sequence[str], returned: str, trailing: Sequence[str] = ()) -> str:
    """Return the docstring of a metric: its own text, and every option with the values that its type allows."""
    text, example, after = (inspect.getdoc(metric.function) or "").partition(">>>")
    hints = typing.get_type_hints(metric.function)
    ideal = ", with the ideal list cut at its length." if "ideal" in metric.defaults else "."
    lines = [*(PARAMETERS[name] for name in leading if name != "self"), PARAMETERS["k"] + ideal]
    for name, default in metric.defaults.items():
        words = metric.words.get(name)
        kind = f"{{{', '.join(map(json.dumps, words))}}}" if words else _type_name(hints[name])
        shown = json.dumps(default) if isinstance(default, str) else default
        lines.append(f"{name} : {kind}, {'optional' if default is None else f'default {shown}'}")
        if meanings := metric.meanings.get(name):
            lines.append(f"    {'; '.join(f'{json.dumps(word)}: {meaning}' for word, meaning in meanings.items())}.")
    lines += [PARAMETERS[name] for name in trailing if name in PARAMETERS]
    parts = [text.rstrip(), "Parameters\n----------\n" + "\n".join(lines), f"Returns\n-------\n{RETURNS[returned]}"]
    return "\n\n".join([*parts, *([f"Examples\n--------\n{example}{after}"] if example else [])])


def _type_name(hint: Any) -> str:
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not type(None)]
    return " or ".join(kind.__name__ for kind in kinds)
