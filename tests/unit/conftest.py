"""Results of each kind, which the tests of a process share: none of them changes a result or its run folders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from loadgo.documents.result import Result
from support.results import MAKERS, laid_results


@pytest.fixture(scope="session")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script, a machine, and the runs of `laid_results`."""
    return laid_results(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def made(results_folder: Path) -> Callable[[str], Result]:
    """Makes the result of a name in `MAKERS` when it is first asked for."""
    return cache(lambda name: MAKERS[name](results_folder))
