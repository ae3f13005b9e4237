"""The command itself: read what is asked, evaluate, write, and return the exit code."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Sequence

from recnb.cli.arguments import SIDE_DATA, options_of, read_arguments
from recnb.cli.gates import gate_requests
from recnb.cli.inputs import models_and_truth
from recnb.cli.messages import in_words
from recnb.cli.output import check_targets, forms_of, print_error, write_report
from recnb.comparison import Comparison, compare
from recnb.display.language import use_language
from recnb.errors import FrameError, NoRowsError, NoUsersError, RecnbError, WriteError
from recnb.evaluate import evaluate
from recnb.evaluation import Evaluation
from recnb.results.gate import GateCheck

#: The exit code of an error that is no fault of recnb, by the first kind that fits.
CODES: dict[type[Exception], int] = {
    WriteError: 6,
    NoRowsError: 5,
    NoUsersError: 5,
    FrameError: 4,
    OSError: 4,
    RecnbError: 2,
}
MORE_MEMORY = (
    "allow more (ulimit -v, ulimit -d, the limit of a container), or evaluate fewer "
    "models or users at a time."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, one of `EXIT_CODES`."""
    arguments = read_arguments(argv)
    names: dict[str, str] = {}
    try:
        with use_language(arguments.lang):
            return _report(arguments, names)
    except (RecnbError, OSError, MemoryError) as problem:
        text = in_words(problem, names)
        if isinstance(problem, MemoryError) or "Cannot allocate memory" in text:
            print_error(f"recnb: error: memory ran out ({text}): {MORE_MEMORY}")
            return 3
        print_error(f"recnb: error: {text}")
        return next(code for kind, code in CODES.items() if isinstance(problem, kind))
    except Exception:
        # Whatever it is: Python would exit with 1, which says that a gate failed.
        print_error(traceback.format_exc().rstrip())
        return 3


def _report(arguments: argparse.Namespace, names: dict[str, str]) -> int:
    """Evaluate or compare the files, write the report, and hold the gates.

    `names` takes what errors call each frame, with its file.
    """
    requests = gate_requests(arguments)
    forms = forms_of(arguments.output)
    models, truth = models_and_truth(arguments.files, arguments.model)
    recs = next(iter(models.values()))  # of the one model, or of all in one file
    options = options_of(arguments)
    files = {f"model {name!r}": file for name, file in models.items()}
    files |= {"recommendations": recs, "truth": truth}
    files |= {name: options[name] for name in SIDE_DATA if name in options}
    names.update({frame: f"{frame} ({file})" for frame, file in files.items()})
    check_targets(arguments.output, files.values())

    result: Evaluation | Comparison
    baseline = arguments.baseline
    if len(models) > 1:
        result = compare(models, truth, baseline=baseline, **options)
    elif baseline:
        result = compare(recs, truth, baseline=baseline, **options)
    else:
        result = evaluate(recs, truth, **options)
    report = result.report(arguments.k, arguments.metrics, by=arguments.by)
    checks: list[GateCheck] = []
    for request in requests:
        checks += request.hold(result, baseline).checks
    write_report(report, checks, forms)
    for check in checks:
        print_error(f"recnb: {check.says}")
    return 0 if all(check.passed for check in checks) else 1
