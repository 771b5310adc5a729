"""Fixtures of the tests in a browser: one Chromium for all, and a page that shows the `run` of a test's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loadgo.records.tables import Tables, tables
from support.watched import Served, Sight, chromium, looked_at, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser. Each test has a context of its own in it."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def run_tables(run: Path) -> Tables:
    return tables(run)


@pytest.fixture(scope="module")
def page(run: Path) -> Iterator[Served]:
    """The server of the watch page of the run."""
    with served(str(run)) as page:
        yield page


@pytest.fixture
def sight(browser: Browser, page: Served) -> Iterator[Sight]:
    """The watch page anew; nothing may go wrong on it."""
    with looked_at(browser, page) as sight:
        yield sight
        assert sight.wrong == []
