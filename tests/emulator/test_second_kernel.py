"""The meters on a kernel other than this host's: their figures for known loads, compared with that kernel's own."""

from __future__ import annotations

import os

import pytest
from support import second_kernel
from support.second_kernel import MachineOutput

TIERS = ["cheap", "exact"]
LOADS = ["sleep", "calls", "touch", "programs", "spin", "governed"]
TICK_NS = 10_000_000
MINOR = {"minor", "write-protect", "segment", "bound", "minor unclocked"}  # together what the kernel calls minor


@pytest.fixture(scope="module")
def uniprocessor(tmp_path_factory: pytest.TempPathFactory) -> MachineOutput:
    """The output of a machine with one processor, whose clock counts its instructions."""
    return emulated_output(1, tmp_path_factory)


@pytest.fixture(scope="module", params=[1, 2], ids=["one processor", "two processors"])
def output(
    request: pytest.FixtureRequest, uniprocessor: MachineOutput, tmp_path_factory: pytest.TempPathFactory
) -> MachineOutput:
    """The output of a machine with one processor, and then of a machine with two."""
    return uniprocessor if request.param == 1 else emulated_output(request.param, tmp_path_factory)


def emulated_output(processors: int, folders: pytest.TempPathFactory) -> MachineOutput:
    """The machine's output. A missing machine that should exist is a failure."""
    second_kernel.skip_if(second_kernel.missing(), "the meters")
    return second_kernel.metered_output(folders.mktemp("second-kernel"), processors)


def test_it_is_another_kernel(output: MachineOutput) -> None:
    (release,) = [line[1] for line in output.lines if line[0] == "kernel"]
    assert release != os.uname().release


@pytest.mark.parametrize("tier", TIERS)
def test_every_kernel_program_is_taken(output: MachineOutput, tier: str) -> None:
    have = output.rows(tier, "begin", "have")
    refused = [row for row in have if "Absent" in row[1] and "the cheap meters leave it out" not in row[1]]
    assert have
    assert not refused
    assert not [row for row in have if "not divided" in row[1]], "the clock's program was refused"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", LOADS)
def test_each_processors_time_adds_up_to_all_of_it(output: MachineOutput, tier: str, load: str) -> None:
    rows = output.rows(tier, load, "time")
    spans = {row[0]: int(row[3]) for row in rows}
    assert len(spans) == output.processors
    for processor, span in spans.items():
        charged = sum(int(row[2]) for row in rows if row[0] == processor)
        assert charged == pytest.approx(span, rel=1e-4), f"processor {processor}"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["sleep", "spin", "governed"])
def test_idle_is_what_the_kernel_says_it_is(uniprocessor: MachineOutput, tier: str, load: str) -> None:
    """The kernel's own account is in ticks, up to one off at each end. It leaves out interrupts and wake-ups."""
    least, most = uniprocessor.kernel(tier, load, "idle_ns")
    slack = 2 * TICK_NS
    assert least - slack <= uniprocessor.time(tier, load, "idle") <= 1.01 * most + slack


@pytest.mark.parametrize("tier", TIERS)
def test_a_quota_makes_one_processor_idle_for_it(output: MachineOutput, tier: str) -> None:
    """The quota is the same with one and two processors.

    The clock of the machine with two is the host's. The host may stop either processor between the end of a throttled
    time and the dispatch that follows it. Beside four busy loops, the meters' time was up to 3 % longer than the
    kernel's, and once, beside a load of 14, 19 %. It is never longer than one processor did not run the load.
    Other work while the load is throttled, such as that of the meters' own threads, is no idle time.
    """
    least, most = output.kernel(tier, "governed", "throttled_ns")
    share = {1: 0.01, 2: 0.1}[output.processors]
    longest_ns = (1 + share) * most
    if output.processors > 1:
        spans_ns = [int(row[3]) for row in output.rows(tier, "governed", "time")]
        longest_ns = max(longest_ns, max(spans_ns) - output.kernel(tier, "governed", "usage_ns")[0])
    rows = output.rows(tier, "governed", "time")
    busy_ns = sum(int(ns) for _, category, ns, _ in rows if not category.startswith("idle"))
    others_ns = busy_ns - output.kernel(tier, "governed", "usage_ns")[0]
    assert (1 - share) * least - others_ns <= output.time(tier, "governed", "idle governed") <= longest_ns


@pytest.mark.parametrize("tier", TIERS)
def test_nobody_who_sleeps_is_governed_or_waits_for_a_page(uniprocessor: MachineOutput, tier: str) -> None:
    idle = uniprocessor.time(tier, "sleep", "idle")
    assert uniprocessor.time(tier, "sleep", "idle zero") >= 0.99 * idle


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["sleep", "calls", "touch", "spin", "governed"])
def test_dispatches_are_counted_to_the_dispatch(output: MachineOutput, tier: str, load: str) -> None:
    least, most = output.kernel(tier, load, "dispatches")
    assert least <= output.count(tier, load, "queue", "switches") <= most


def test_system_calls_are_counted_to_the_call(output: MachineOutput) -> None:
    assert output.count("exact", "calls", "primitives", "getppid") == 50_000


def test_programs_are_counted_to_the_program(output: MachineOutput) -> None:
    assert output.count("exact", "programs", "primitives", "execve") == 20


@pytest.mark.parametrize("load", ["touch", "programs"])
def test_page_faults_are_counted_to_the_fault(output: MachineOutput, load: str) -> None:
    least, most = output.kernel("exact", load, "faults_minor")
    kinds = [row for row in output.rows("exact", load, "faults") if row[0] in MINOR]
    assert least <= sum(int(row[1]) for row in kinds) <= most


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("load", ["touch", "spin", "governed"])
def test_a_process_is_charged_what_the_scheduler_charges_it(uniprocessor: MachineOutput, tier: str, load: str) -> None:
    """The scheduler's account of a thread that runs is as old as its last tick."""
    least, most = uniprocessor.kernel(tier, load, "run_ns")
    assert 0.99 * least <= uniprocessor.count(tier, load, "processes", "init") <= 1.01 * most
