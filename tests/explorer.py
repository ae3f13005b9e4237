"""The explorer's state, from Evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recnb.evaluation import Evaluation
from recnb.widgets.explorer.state import ExplorerState


def explorer_state(evaluations: Mapping[str, Evaluation], *args: Any, **options: Any) -> ExplorerState:
    """The state of an explorer of these evaluations."""
    return ExplorerState({name: evaluation._data for name, evaluation in evaluations.items()}, *args, **options)
