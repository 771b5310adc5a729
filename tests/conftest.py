"""The start of every test run: interrupts are handled as at a terminal, and temporary folders are private to the run.

A shell starts background processes with interrupts ignored, and nohup ignores hang-ups. Child processes inherit that,
so that no test could interrupt a command.

Each pytest that starts closes the usual folder of pytest's temporary files to other users. That would break a test
whose processes run without privileges in it.
"""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.outside import Bench
from support.places import TESTS

# An example takes as long as the machine is busy, and the examples are the same in every run.
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("loadgo", derandomize=True, **SLOW)
settings.register_profile("search", **SLOW)  # pytest --hypothesis-profile=search: other examples in each run
settings.load_profile("loadgo")

for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, heard)


MARKERS = {"host": "host", "cases": "host", "browser": "browser", "emulator": "emulator"}
"""The marker of each folder's tests; what lies in the other folders needs nothing but the built package."""


WAIT_LONGEST = (
    "test_run_on_fleet",
    "test_run_from_hosts_faults",
    "test_run_on_other_host",
    "test_other_host",
    "test_notebooks",
    "test_run_elsewhere",
)
"""The files whose tests wait longest together. They come first, lest a process ends the step with one of them alone."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test by its folder, before any are deselected by their markers, and lets long waits come first."""
    rank = {name: place for place, name in enumerate(WAIT_LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in MARKERS:
            item.add_marker(MARKERS[folder])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Checks the names of files in `WAIT_LONGEST`. Root's tests have a place that no other pytest knows."""
    gone = [name for name in WAIT_LONGEST if not [*TESTS.glob(f"*/{name}.py")]]
    if gone:
        raise pytest.UsageError(f"WAIT_LONGEST in {__file__} names files that are not there: {', '.join(gone)}")
    if os.geteuid() == 0 and not config.option.basetemp:
        config.option.basetemp = tempfile.mkdtemp(prefix="loadgo-tests-")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Removes the temporary folder if no test has failed."""
    if exitstatus == 0 and "loadgo-tests-" in str(session.config.option.basetemp):
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run in."""
    (tmp_path / "homes").mkdir()
    return Bench(tmp_path)
