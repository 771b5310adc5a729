"""The meters on a kernel that is not this host's: what they say of known loads, beside what that kernel says."""

from __future__ import annotations

import os
import shutil

import pytest
from support import second_kernel
from support.second_kernel import Told

TIERS = ["cheap", "exact"]
LOADS = ["sleep", "calls", "touch", "programs", "spin", "governed"]
TICK_NS = 10_000_000
MINOR = {"minor", "write-protect", "segment", "bound", "minor unclocked"}  # together what the kernel calls minor


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All that a machine with one processor said, whose clock is its own."""
    return said_by(1, tmp_path_factory)


@pytest.fixture(scope="module", params=[1, 2], ids=["one processor", "two processors"])
def told(request: pytest.FixtureRequest, one: Told, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All that a machine said, in turn with one and with two processors."""
    return one if request.param == 1 else said_by(request.param, tmp_path_factory)


def said_by(processors: int, folders: pytest.TempPathFactory) -> Told:
    """The machine's output. A missing machine that should exist is a failure."""
    missing = second_kernel.missing()
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"the meters were not tried on a second kernel: {missing}")
    return second_kernel.told(folders.mktemp("second-kernel"), processors)


def test_it_is_another_kernel(told: Told) -> None:
    (release,) = [line[1] for line in told.lines if line[0] == "kernel"]
    assert release != os.uname().release


@pytest.mark.parametrize("tier", TIERS)
def test_every_kernel_program_is_taken(told: Told, tier: str) -> None:
    have = told.rows(tier, "begin", "have")
    refused = [row for row in have if "Absent" in row[1] and "--meters exact" not in row[1]]
    assert have
    assert not refused


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", LOADS)
def test_each_processors_time_adds_up_to_all_of_it(told: Told, tier: str, load: str) -> None:
    rows = told.rows(tier, load, "time")
    spans = {row[0]: int(row[3]) for row in rows}
    assert len(spans) == told.processors
    for processor, span in spans.items():
        charged = sum(int(row[2]) for row in rows if row[0] == processor)
        assert charged == pytest.approx(span, rel=1e-4), f"processor {processor}"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["sleep", "spin", "governed"])
def test_idle_is_what_the_kernel_says_it_is(one: Told, tier: str, load: str) -> None:
    """The kernel's own is in ticks, one more or less at each end, and leaves out interrupts and waking up."""
    least, most = one.kernel(tier, load, "idle_ns")
    slack = 2 * TICK_NS
    assert least - slack <= one.time(tier, load, "idle") <= 1.01 * most + slack


@pytest.mark.parametrize("tier", TIERS)
def test_a_quota_makes_one_processor_idle_for_it(told: Told, tier: str) -> None:
    """However many there are; with two, what the host does is in the times."""
    least, most = told.kernel(tier, "governed", "throttled_ns")
    share = {1: 0.01, 2: 0.05}[told.processors]
    assert (1 - share) * least <= told.time(tier, "governed", "idle governed") <= (1 + share) * most


@pytest.mark.parametrize("tier", TIERS)
def test_nobody_who_sleeps_is_governed_or_waits_for_a_page(one: Told, tier: str) -> None:
    idle = one.time(tier, "sleep", "idle")
    assert one.time(tier, "sleep", "idle zero") >= 0.99 * idle


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
def test_a_process_is_charged_what_the_scheduler_charges_it(one: Told, tier: str, load: str) -> None:
    """The scheduler's account of a thread that runs is as old as its last tick."""
    least, most = one.kernel(tier, load, "run_ns")
    assert 0.99 * least <= one.count(tier, load, "processes", "init") <= 1.01 * most
