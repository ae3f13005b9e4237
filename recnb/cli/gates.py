"""Gates as they are typed."""

from __future__ import annotations

import argparse
from math import isfinite, nan
from typing import NamedTuple

from recnb.comparison import Comparison
from recnb.errors import OptionError
from recnb.evaluation import Evaluation
from recnb.metrics.measure import TEXT, measure_named
from recnb.results.evaluation_data import Models
from recnb.results.gate import Gate, within


class GateFlag(NamedTuple):
    """A flag that asks for a gate."""

    check: str  #: as `GateCheck` calls it
    example: str  #: how it is typed; the model is one of several
    help: str


GATE_FLAGS = {
    "--fail-below": GateFlag(
        "at_least",
        "[model:]ndcg@10=0.3",
        "exit with 1 if the number of a model is lower, of the baseline only if it is "
        "named; may be given again",
    ),
    "--fail-above": GateFlag(
        "at_most",
        "[model:]calibration@10=2",
        "exit with 1 if the number of a model is higher, such as that of a cost, of the "
        "baseline only if it is named; may be given again",
    ),
    "--fail-if-worse": GateFlag(
        "not_worse",
        "[model:]ndcg@10[:0.01]",
        "exit with 1 if a model is worse than --baseline, or with a margin not shown "
        "to be within it; may be given again",
    ),
}


class GateRequest(NamedTuple):
    """A gate as it is typed.

    --fail-below and --fail-above take `[model:]measure=limit`, --fail-if-worse takes
    `[model:]measure[:margin]`.
    """

    flag: str
    model: str | None
    measure: str
    number: float  #: the limit, or the margin

    @classmethod
    def read(cls, flag: str, text: str) -> GateRequest:
        """Read the text after a flag."""
        if flag == "--fail-if-worse":
            target, number = _divided(text, ":", unless_typed=0.0)
            is_possible = isfinite(number) and number >= 0
        else:
            target, number = _divided(text, "=", unless_typed=nan)
            is_possible = isfinite(number)
        model, _, measure = target.rpartition(":")
        if not is_possible or TEXT.fullmatch(measure) is None:
            raise OptionError(f"{flag} {text}: say it as {GATE_FLAGS[flag].example}.")
        # An unknown name is an error before the work, not after it.
        measure_named(measure)
        return cls(flag, model or None, measure, number)

    def hold(self, result: Evaluation | Comparison, baseline: str | None) -> Gate:
        """Return the gate with its numbers, of the model that it names.

        If it names none, of every model but the `baseline` that --baseline names.
        """
        check = GATE_FLAGS[self.flag].check
        if isinstance(result, Evaluation):
            if self.model is not None:
                raise OptionError(
                    f"{self.flag} {self.model}:{self.measure}: one file has no model to "
                    "name: leave the name out."
                )
            models: Models = {"": result}
        elif check == "not_worse":
            # It comes with --baseline, and so with a comparison.
            return result.not_worse(self.measure, margin=self.number, model=self.model)
        elif self.model is None:
            models = {name: result[name] for name in result if name != baseline}
        else:
            models = {self.model: result[self.model]}
        return within(check, models, self.measure, self.number, k=None, options={})


def _divided(text: str, sign: str, *, unless_typed: float) -> tuple[str, float]:
    """Divide a text at the last sign, which a number may follow."""
    target, _, number = text.rpartition(sign)
    try:
        return target, float(number)
    except ValueError:
        return text, unless_typed


def gate_requests(arguments: argparse.Namespace) -> list[GateRequest]:
    """Return the gates that are asked for."""
    requests = []
    for flag in GATE_FLAGS:
        texts = getattr(arguments, flag[2:].replace("-", "_"))
        requests += [GateRequest.read(flag, text) for text in texts]
    if arguments.fail_if_worse and not arguments.baseline:
        raise OptionError(
            "--fail-if-worse compares with a baseline: give the files of both models, "
            "and say --baseline."
        )
    return requests
