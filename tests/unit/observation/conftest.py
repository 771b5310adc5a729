"""A time zone for tests of hours and days."""

import os
import time
from collections.abc import Iterator

import pytest


@pytest.fixture
def greenwich() -> Iterator[None]:
    """Sets the time zone within a test."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()
