"""What every test begins with: interrupts are heard, as by whoever sits at a terminal, and a place of one's own.

A shell starts what it puts in the background with interrupts ignored, and nohup what it starts with hang-ups; all that
is begun from there inherits that, and no test could interrupt a command.

The usual place for pytest's folders is closed to other users anew by every pytest that begins, also while a test has
somebody without rights work in it.
"""

import os
import shutil
import signal
import tempfile

import pytest
from hypothesis import settings
from support.places import TESTS

settings.register_profile("loadgo", deadline=None)  # an example takes as long as the machine is busy
settings.load_profile("loadgo")

for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, heard)


MARKERS = {"host": "host", "cases": "host", "browser": "browser", "emulator": "emulator", "statistics": "statistical"}
"""The marker of each folder's tests; what lies in the other folders needs nothing but the built package."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test by its folder, before any are deselected by their markers."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in MARKERS:
            item.add_marker(MARKERS[folder])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Root's tests have a place that no other pytest knows."""
    if os.geteuid() == 0 and not config.option.basetemp:
        config.option.basetemp = tempfile.mkdtemp(prefix="loadgo-tests-")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """It goes when nothing has failed."""
    if exitstatus == 0 and "loadgo-tests-" in str(session.config.option.basetemp):
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)
