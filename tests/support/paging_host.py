"""Whether this host can limit memory and page for tests, and what its kernel counts."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadgo.running.doctor import doctor

from support.outside import ROOT

DEVICE = "a paging device for the run (a limit's swap=)"


def why_not() -> str:
    """Why there is no paging device to be had here; empty where there is one."""
    if not ROOT:
        return "limits of memory and paging devices need root: run the tests with sudo -E make test"
    told = {ability.name: ability for ability in doctor()}
    lacking = [told[name] for name in (DEVICE, "memory limits") if told[name].state == "absent"]
    return "; ".join(f"{one.name}: {one.why_not}; {one.remedy}" for one in lacking)


WHY_NOT = why_not()


PAGES = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@contextmanager
def paging_alone() -> Iterator[None]:
    """Keeps other tests from paging meanwhile, since counts and swap devices are those of the whole host."""
    devices = os.open("/sys/block", os.O_RDONLY)
    try:
        fcntl.flock(devices, fcntl.LOCK_EX)
        yield
    finally:
        os.close(devices)


def counted() -> dict[str, int]:
    """The kernel's own counts for the whole host."""
    return {name: int(count) for name, count in map(str.split, Path("/proc/vmstat").read_text().splitlines())}
