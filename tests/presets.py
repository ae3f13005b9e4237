"""What `as_in` gives, for frames that were read once: presets of one convention share their join."""

from __future__ import annotations

from recnb.conventions.presets import preset
from recnb.data import Source
from recnb.libraries.library_errors import refuse
from recnb.libraries.reproduce import value_under


def as_in_of(source: Source, library: str, variant: str, k: int | None) -> float:
    """The number of a library's metric, or the error that it raises.

    That `as_in` gives the same is tested with `test_as_in_reads_the_frames_and_looks_up_the_preset`.
    """
    chosen = preset(library, variant)
    refuse(source, chosen, k)
    return value_under(source, chosen, k)
