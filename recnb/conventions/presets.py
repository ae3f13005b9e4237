"""The conventions of other libraries, as data.

A row of `presets.csv` for each library, version and metric.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from recnb.conventions.convention import Convention, in_words, value_of
from recnb.display.data_file import rows_of
from recnb.display.language import _
from recnb.errors import OptionError, is_word, near, quoted

#: Other names for libraries, in lower case and with dashes.
ALIASES = {
    "trec": "pytrec_eval-terrier",
    "trec-eval": "pytrec_eval-terrier",
    "pytrec-eval": "pytrec_eval-terrier",
    "irmeasures": "ir-measures",
    "sklearn": "scikit-learn",
    "replay": "replay-rec",
    "lightfm": "lightfm-next",
    "llama-index": "llama-index-core",
    "llamaindex": "llama-index-core",
    "haystack": "haystack-ai",
}


@dataclass(frozen=True)
class Preset:
    """A metric as a library computes it."""

    library: str
    version: str
    variant: str  #: the library's metric as recnb lists it, such as ndcg[full]
    metric: str  #: recnb's name of the metric
    options: tuple[tuple[str, Any], ...]  #: of the metric
    convention: Convention  #: of the data
    #: how exactly the library's numbers are reproduced: it may compute in single
    #: precision, or round
    tolerance: float
    #: where it raises an error, or its number follows no rule
    caveat: str = ""
    note: str = ""  #: a defect of the library
    #: what it does where it is given no cut-off: "error", or the one that it takes;
    #: empty if it then takes lists whole
    without_k: str = ""

    @property
    def uses_k(self) -> bool:
        """Whether the library takes a cut-off, to cut lists at or to divide by."""
        divisor = str(dict(self.options).get("out_of", ""))
        return self.convention.cutoff == "k" or "k" in divisor

    def at(self, k: int | None) -> Preset:
        """Return the preset by which the library computes a number at this cut-off.

        A library that always cuts has no number without one, which is an error.
        """
        if k is not None or self.convention.cutoff == "none":
            return self
        if self.without_k:
            raise OptionError(
                f"{self.label} has no number without a cut-off: give k, such as k=10."
            )
        return self.uncut

    @property
    def uncut(self) -> Preset:
        """The library's variant that is never cut, as rr_nocut, or this with nothing cut."""
        for other in of_metric(self.metric, self.library):
            is_never_cut = other.convention.cutoff == "none"
            if is_never_cut and other.variant.startswith(f"{self.variant}_no"):
                return other
        return replace(self, convention=replace(self.convention, cutoff="none"))

    @property
    def label(self) -> str:
        """Library and variant."""
        return f"{self.library} {self.variant}"

    @property
    def caveat_in_words(self) -> str:
        """Say where the library itself has no such number; empty if it always has."""
        if not self.caveat:
            return ""
        caveat = in_words("caveat", self.caveat)
        return _("{library} {caveat}", library=self.library, caveat=caveat)


@cache
def presets() -> Mapping[tuple[str, str], Preset]:
    """Return all presets, by library and variant."""
    recorded = map(_preset_of, rows_of("conventions/presets.csv"))
    return {(preset.library, preset.variant): preset for preset in recorded}


def _preset_of(row: dict[str, str]) -> Preset:
    """Read a row of the file, whose columns are the fields of a preset."""
    read: dict[str, Any] = {
        "options": tuple(_values_of(row["options"]).items()),
        "convention": Convention(**_values_of(row["convention"])),
        "tolerance": float(row["tolerance"]),
    }
    return Preset(**{**row, **read})


def _values_of(cell: str) -> dict[str, Any]:
    """Return the values of a cell, "name=value; name=value", each of its type."""
    parts = [part.split("=", 1) for part in cell.split("; ") if part]
    return {name: value_of(text) for name, text in parts}


def names() -> list[str]:
    """Return the libraries whose conventions are recorded.

    Returns
    -------
    list of str
        Their names, as `convention=` and `under` take them.

    Examples
    --------
    >>> import recnb
    >>> recnb.conventions.names()[:3]
    ['catboost', 'cornac', 'evidently']
    """
    return list(dict.fromkeys(library for library, _variant in presets()))


def library_named(library: str) -> str:
    """Return the library of this name or alias, however it is spelt."""
    spelt = {name.lower().replace("_", "-"): name for name in names()} | ALIASES
    name = library
    if isinstance(library, str):
        name = re.sub(r"[\s_.]+", "-", library.strip().lower())
    if not is_word(name, spelt):
        problem = f"{quoted(library)} is no library whose conventions are recorded."
        raise OptionError(f"{problem} {near(library, [*names(), *ALIASES])}")
    return spelt[name]


def of_library(library: str) -> list[Preset]:
    """Return the presets of a library, in the order of the file."""
    name = library_named(library)
    return [preset for preset in presets().values() if preset.library == name]


def of_metric(metric: str, library: str | None = None) -> list[Preset]:
    """Return the presets that compute a metric, of one library or of all."""
    known = presets().values() if library is None else of_library(library)
    return [preset for preset in known if preset.metric == metric]


def variants(library: str) -> list[str]:
    """Return the names of a library's metrics, in the order of the file.

    Parameters
    ----------
    library : str
        One of `recnb.conventions.names()`.

    Returns
    -------
    list of str
        Names that `recnb.as_in` takes.

    Examples
    --------
    >>> import recnb
    >>> recnb.conventions.metrics("ranx")[:3]
    ['ndcg', 'ndcg[strict]', 'ndcg_burges']
    """
    return [preset.variant for preset in of_library(library)]


def preset(library: str, variant: str) -> Preset:
    """Return the preset of a library's metric."""
    known = {preset.variant: preset for preset in of_library(library)}
    if not is_word(variant, known):
        problem = (
            f"{quoted(variant)} is no metric of {library_named(library)} that recnb "
            f"has recorded."
        )
        raise OptionError(f"{problem} {near(variant, known)}")
    return known[variant]


def recorded(metric: str, library: str) -> Preset:
    """Return a library's preset of a metric.

    The first, or the variant named behind the library, as "xgboost ndcg_linear".
    """
    library, _blank, variant = library.strip().partition(" ")
    name, known = library_named(library), of_metric(metric, library)
    if not known and not variant:
        libraries = list(dict.fromkeys(each.library for each in of_metric(metric)))
        raise OptionError(
            f"{name} has no {metric} that recnb has recorded. {near(name, libraries)}".strip()
        )
    chosen = preset(name, variant) if variant else only_way(known[0], metric)
    if chosen.metric != metric:
        hint = near(variant, [each.variant for each in known])
        raise OptionError(
            f"{name} {variant} computes {chosen.metric}, not {metric}. {hint}"
        )
    return chosen


def only_way(chosen: Preset, metric: str) -> Preset:
    """Return the preset; refuse one of which the library may be given several lists.

    The brackets of its variants say in which ways lists may be given.
    """
    plain = chosen.variant.partition("[")[0]
    ways = [one for one in variants(chosen.library) if one.partition("[")[0] == plain]
    if len(ways) > 1 and plain not in ways:
        raise OptionError(
            f"{metric!r} of {chosen.library} is one of "
            f"{', '.join(map(repr, ways))}: type which, as the brackets tell what "
            f"the library is given."
        )
    return chosen


def default_of(library: str, metric: str) -> Preset | None:
    """Return the first preset of a library for a metric; None if it has none."""
    known = of_metric(metric, library)
    return known[0] if known else None


def data_convention(library: str) -> Convention:
    """Return the convention of an evaluation under a library: its first metric's.

    Each metric has its own beside it.

    If that has graded gain, and so counts every judged item, an item of relevance 0 is
    not called relevant.
    """
    first = of_library(library)[0]
    graded = dict(first.options).get("gain", "binary") != "binary"
    return replace(first.convention, relevant=">0") if graded else first.convention
