"""The meters on a kernel that is not this host's: what they say of known loads, beside what that kernel says."""

from __future__ import annotations

import os
import shutil

import pytest
import second_kernel
from second_kernel import Told

TIERS = ["cheap", "exact"]
LOADS = ["sleep", "calls", "touch", "programs", "spin", "governed"]
PROCESSORS = 2
TICK_NS = 10_000_000
MINOR = {"minor", "write-protect", "segment", "bound", "minor unclocked"}  # together what the kernel calls minor


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All that the emulated machine said; where it should be there and is not, that is a failure."""
    missing = second_kernel.missing()
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"the meters were not tried on a second kernel: {missing}")
    return second_kernel.told(tmp_path_factory.mktemp("second-kernel"))


def test_it_is_another_kernel(told: Told) -> None:
    (release,) = [line[1] for line in told.lines if line[0] == "kernel"]
    assert release != os.uname().release


@pytest.mark.parametrize("tier", TIERS)
def test_every_kernel_program_is_taken(told: Told, tier: str) -> None:
    have = told.rows(tier, "begin", "have")
    refused = [row for row in have if "NotHere" in row[1] and "--meters exact" not in row[1]]
    assert have
    assert not refused


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", LOADS)
def test_each_processors_time_adds_up_to_all_of_it(told: Told, tier: str, load: str) -> None:
    rows = told.rows(tier, load, "time")
    spans = {row[0]: int(row[3]) for row in rows}
    assert len(spans) == PROCESSORS
    for processor, span in spans.items():
        charged = sum(int(row[2]) for row in rows if row[0] == processor)
        assert charged == pytest.approx(span, rel=1e-4), f"processor {processor}"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["sleep", "spin", "governed"])
def test_idle_is_what_the_kernel_says_it_is(told: Told, tier: str, load: str) -> None:
    """The kernel's own is in ticks, one more or less on each processor, and leaves out interrupts and waking up."""
    least, most = told.kernel(tier, load, "idle_ns")
    slack = 2 * PROCESSORS * TICK_NS
    assert least - slack <= told.time(tier, load, "idle") <= 1.05 * most + slack


@pytest.mark.parametrize("tier", TIERS)
def test_a_quota_makes_one_processor_idle_for_it(told: Told, tier: str) -> None:
    least, most = told.kernel(tier, "governed", "throttled_ns")
    assert 0.97 * least <= told.time(tier, "governed", "idle governed") <= 1.03 * most


@pytest.mark.parametrize("tier", TIERS)
def test_nobody_who_sleeps_is_governed_or_waits_for_a_page(told: Told, tier: str) -> None:
    idle = told.time(tier, "sleep", "idle")
    assert told.time(tier, "sleep", "idle zero") >= 0.97 * idle


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["sleep", "calls", "touch", "spin", "governed"])
def test_dispatches_are_counted_to_the_dispatch(told: Told, tier: str, load: str) -> None:
    least, most = told.kernel(tier, load, "dispatches")
    assert least <= told.count(tier, load, "queue", "switches") <= most


def test_system_calls_are_counted_to_the_call(told: Told) -> None:
    assert told.count("exact", "calls", "primitives", "getppid") == 50_000


def test_programs_are_counted_to_the_program(told: Told) -> None:
    assert told.count("exact", "programs", "primitives", "execve") == 20


@pytest.mark.parametrize("load", ["touch", "programs"])
def test_page_faults_are_counted_to_the_fault(told: Told, load: str) -> None:
    least, most = told.kernel("exact", load, "faults_minor")
    kinds = [row for row in told.rows("exact", load, "faults") if row[0] in MINOR]
    assert least <= sum(int(row[1]) for row in kinds) <= most


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["touch", "spin", "governed"])
def test_a_process_is_charged_what_the_scheduler_charges_it(told: Told, tier: str, load: str) -> None:
    """The scheduler's account of a thread that runs is as old as its last tick, and an emulated tick may be late."""
    least, most = told.kernel(tier, load, "run_ns")
    assert 0.97 * least <= told.count(tier, load, "processes", "init") <= 1.03 * most
