"""Workers in processes of this host, which end with the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loadgo.distribution.workers import LocalProcesses


@pytest.fixture
def processes() -> Iterator[LocalProcesses]:
    """Two workers."""
    workers = LocalProcesses(2)
    yield workers
    workers.end()
