"""The kernel's switch for delay accounting, which this host's runs share with those of the hosts that tests make.

Runs agree on a switch by their notes in `/run/loadgo`. A host that a test makes has a `/run` of its own, but the same
kernel. Its agent would put the switch back while a run of this host needs it, or the other way round.
"""

from __future__ import annotations

import fcntl
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

from support.outside import DELAY_ACCOUNTING, ROOT, STATE


def delay_accounting_without_runs() -> str:
    """The kernel's switch for delay accounting as it is when no run needs it; empty where there is none.

    Runs that need it write down the value that the last of them puts back. They look and write under a lock.
    """
    if not DELAY_ACCOUNTING.exists():
        return ""
    if not ROOT:  # and then no run can change it
        return DELAY_ACCOUNTING.read_text().strip()
    with _others_wait():
        return _value_without_runs()


@contextmanager
def delay_accounting_kept_on() -> Iterator[None]:
    """Delay accounting is on, for this host's runs as well as for those that know nothing of them. Needs root.

    It has a note like a run's, so that this host's runs leave it on, and the last of them all puts it back.
    """
    if not DELAY_ACCOUNTING.exists():
        yield
        return
    with _others_wait():
        before = _value_without_runs()
        names = (STATE / f"{os.getpid()}-{number}.run" for number in itertools.count())
        path = next(path for path in names if not path.exists())
        note = path.open("w")
        fcntl.flock(note, fcntl.LOCK_EX)  # as long as it is locked, no run takes it for what a killed one has left
        note.write(f"run\ta host of a test\t{os.getpid()}\nsetting\t{DELAY_ACCOUNTING}\t{before}\n")
        note.flush()
        DELAY_ACCOUNTING.write_text("1")
    try:
        yield
    finally:
        with _others_wait():
            path.unlink()
            note.close()
            if not _noted():
                DELAY_ACCOUNTING.write_text(before)


@contextmanager
def _others_wait() -> Iterator[None]:
    """This host's runs neither note nor undo anything meanwhile."""
    STATE.mkdir(mode=0o700, exist_ok=True)
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _noted() -> list[str]:
    """The values that runs under way have noted."""
    lines = [line.split("\t") for state in STATE.glob("*.run") for line in state.read_text().splitlines()]
    return [words[2].strip() for words in lines if words[:2] == ["setting", str(DELAY_ACCOUNTING)]]


def _value_without_runs() -> str:
    return (_noted() or [DELAY_ACCOUNTING.read_text().strip()])[0]
