"""The conventions of other libraries, as data: a row of `presets.csv` for each library, version and metric."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from recnb.conventions.convention import Convention, options_of
from recnb.display.data_file import rows_of
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
    "lgbm": "lightgbm",
    "lgb": "lightgbm",
    "xgb": "xgboost",
}

#: Variants recorded of whole lists, which the library cuts where it is asked to.
CUT_IF_ASKED = {("ir-measures", "rbp_rel1")}


@dataclass(frozen=True)
class Preset:
    """A metric as a library computes it."""

    library: str
    version: str
    variant: str  #: the library's metric as recnb lists it, such as ndcg[full]
    metric: str  #: recnb's name of the metric
    options: tuple[tuple[str, Any], ...]  #: of the metric
    convention: Convention  #: of the data
    tolerance: float  #: how exactly the library's numbers are reproduced: it may compute in single precision, or round
    refuses: tuple[str, ...] = ()  #: frames on which it raises an error, or its number follows no rule
    note: str = ""  #: a defect of the library

    @property
    def uses_k(self) -> bool:
        """Whether the library can be asked for a cut-off, to cut lists at or to divide by."""
        asked = (self.library, self.variant) in CUT_IF_ASKED
        return asked or self.convention.cutoff == "k" or "k" in str(dict(self.options).get("out_of", ""))

    @property
    def label(self) -> str:
        """Library and variant."""
        return f"{self.library} {self.variant}"


@cache
def presets() -> Mapping[tuple[str, str], Preset]:
    """All presets, by library and variant."""
    recorded = (
        Preset(
            **{name: row[name] for name in ("library", "version", "variant", "metric", "note")},
            options=tuple(options_of(row["options"]).items()),
            convention=Convention.of(options_of(row["convention"])),
            tolerance=float(row["tolerance"]),
            refuses=tuple(word for word in row["refuses"].split("; ") if word),
        )
        for row in rows_of("conventions/presets.csv")
    )
    return {(preset.library, preset.variant): preset for preset in recorded}


def preset(library: str, variant: str) -> Preset:
    """The preset of a library's metric.

    >>> preset("rectools", "ndcg").options
    (('gain', 'binary'), ('ideal', 'k'))
    """
    name = library_named(library)
    if not isinstance(variant, str) or (name, variant) not in presets():
        problem = f"{quoted(variant)} is no metric of {name} that recnb has recorded."
        raise OptionError(problem, fix=near(variant, variants(name)))
    return presets()[name, variant]


def library_named(library: str) -> str:
    """The library of this name or alias, however it is spelt.

    >>> library_named("ir_measures"), library_named("TREC"), library_named("sklearn")
    ('ir-measures', 'pytrec_eval-terrier', 'scikit-learn')
    """
    spelt = {name.lower().replace("_", "-"): name for name in names()} | ALIASES
    name = re.sub(r"[\s_.]+", "-", library.strip().lower()) if isinstance(library, str) else library
    if not is_word(name, spelt):
        problem = f"{quoted(library)} is no library whose conventions are recorded."
        raise OptionError(problem, fix=near(library, [*names(), *ALIASES]))
    return spelt[name]


def of_metric(metric: str, library: str | None = None) -> list[Preset]:
    """The presets that compute a metric, of one library or of all."""
    name = None if library is None else library_named(library)
    return [preset for preset in presets().values() if preset.metric == metric and name in (None, preset.library)]


def of_library(library: str) -> list[Preset]:
    """The presets of a library, in the order of the file."""
    name = library_named(library)
    return [preset for preset in presets().values() if preset.library == name]


def data_convention(library: str) -> Convention:
    """The convention of an evaluation under a library, apart from that of each of its metrics: its first metric's.

    If that has graded gain, and so counts every judged item, an item of relevance 0 is not called relevant.

    >>> data_convention("lightgbm").relevant, preset("lightgbm", "ndcg").convention.relevant
    ('>0', 'any')
    """
    first = of_library(library)[0]
    graded = dict(first.options).get("gain", "binary") != "binary"
    return replace(first.convention, relevant=">0") if graded else first.convention


def variants(library: str) -> list[str]:
    """The names of a library's metrics, in the order of the file."""
    return [preset.variant for preset in of_library(library)]


def default_of(library: str, metric: str, *, whole: bool = False) -> Preset | None:
    """The first preset of a library for a metric; without a cut-off its variant that is never cut, as rr_nocut; None if it has none."""
    recorded = of_metric(metric, library)
    if whole:
        uncut = [preset for preset in recorded if preset.convention.cutoff == "none"]
        recorded = [preset for preset in uncut if preset.variant.startswith(f"{recorded[0].variant}_no")] or recorded
    if recorded and not whole and (recorded[0].library, recorded[0].variant) in CUT_IF_ASKED:
        return replace(recorded[0], convention=replace(recorded[0].convention, cutoff="k"))
    return recorded[0] if recorded else None


def names() -> list[str]:
    """The libraries whose conventions are recorded.

    >>> "rectools" in names()
    True
    """
    return list(dict.fromkeys(library for library, _ in presets()))
