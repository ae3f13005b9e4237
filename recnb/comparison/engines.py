"""Frames that an engine holds: how they are evaluated is entered by the engine's own module, which is imported by who uses it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recnb.evaluation import Evaluation


class Fetchable(ABC):
    """An evaluation whose rows stay elsewhere, and which brings hits, truth and counts of each user here."""

    @abstractmethod
    def fetch(self) -> Evaluation:
        """An Evaluation here."""


@dataclass(frozen=True, eq=False)
class Engine:
    """What an engine does with frames of its own."""

    #: Recommendations, truth (one of them may be a local frame) and the options of `evaluate`.
    evaluated: Callable[[Any, Any, Mapping[str, Any]], Fetchable]
    #: A frame of several models and the column that names them -> the rows of each, in the order models come in.
    by_model: Callable[[Any, str], dict[Any, Any]]
    #: A frame without rows that has the columns of one.
    columns: Callable[[Any], Any]


_ENGINES: dict[str, Engine] = {}


def register(package: str, engine: Engine) -> None:
    """Enter an engine for the frames of a package."""
    _ENGINES[package] = engine


def engine_of(*frames: Any) -> Engine | None:
    """The engine that holds one of these frames, if its module was imported."""
    packages = (type(frame).__module__.split(".", 1)[0] for frame in frames)
    return next((_ENGINES[package] for package in packages if package in _ENGINES), None)
