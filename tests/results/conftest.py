"""What several files of tests of results ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recnb.metrics.metric import LIST_METRICS, METRICS


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Without the metrics of a test's own afterwards."""
    yield
    for metrics in (METRICS, LIST_METRICS):
        for name in [name for name, metric in metrics.items() if metric.own]:
            del metrics[name]
