"""Which of the files on the command line are models, and which are the truth."""

from __future__ import annotations

from collections.abc import Sequence
from glob import has_magic
from pathlib import Path

from recnb.errors import OptionError, listed

HOW_FILES_ARE_GIVEN = (
    "recommendations are files, the last of which is the truth, recnb report "
    "recs.parquet truth.parquet, or several models by name, --model new=recs_new/ "
    "--model old=recs_old/; or one file with a column 'model', and --baseline NAME."
)


def models_and_truth(
    files: Sequence[str], typed: Sequence[str]
) -> tuple[dict[str, str], str]:
    """Return the files of each model, by its name, and the file of the truth.

    The last of the `files` is the truth; `typed` is what --model says.
    """
    *paths, truth = files or [""]
    models = _named(paths)
    for text in typed:
        name, _sign, path = text.partition("=")
        models.append((name, path))
    _check_models(models)
    if not truth or not (paths or len(models) > 1):
        raise OptionError(HOW_FILES_ARE_GIVEN)
    return dict(models), truth


def _named(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Name each path after its file or folder.

    Unless each has a name, and another one, all are called as they are typed.
    """
    names = []
    for path in paths:
        parts = [part for part in Path(path).parts if not has_magic(part)]
        names.append(parts[-1].split(".")[0] if parts else "")
    if not all(names) or len(set(names)) < len(names):
        names = list(paths)
    return list(zip(names, paths, strict=True))


def _check_models(models: Sequence[tuple[str, str]]) -> None:
    """Raise an error if a model has no name or no files, or two have one name."""
    if not all(name.strip() and path for name, path in models):
        raise OptionError(
            "--model names a model and its files: say it as --model NAME=FILES."
        )
    names = [name for name, _path in models]
    if len(set(names)) < len(names):
        problem = "two models have one name: give each its own. Names: "
        raise OptionError(f"{problem}{listed(names)}.")
