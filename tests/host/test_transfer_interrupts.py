"""The interrupt work of a transfer's two ends: exactly each one's own, and what is said where it cannot be told."""

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import pytest
from loadgo.transfers.grid import grid_csv
from loadgo.transfers.prices import prices
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import transfer
from support.command_transfers import others_talk
from support.far_end import waiting
from support.outside import NEEDS_ROOT, NOBODY, Bench, ended, readable_by_all, stolen_ns
from support.processes import wait_until
from support.transfer_rows import row_of

OF_NETWORK = ("exact", "windows")


def links() -> int:
    """How many programs of this process are at a tracepoint."""
    found = 0
    for path in Path("/proc/self/fdinfo").glob("*"):
        try:
            found += "link_type" in path.read_text()
        except OSError:
            continue
    return found


def assert_interrupts_within_the_thread(row: Row, stolen_s: float) -> None:
    """Interrupts upon a thread are part of its time, in windows to four of their standard errors.

    Too few windows give no error. Then the estimate is at most the time of the transfer, which a processor can spend.
    The interrupts' clock runs on while a hypervisor has the processor, and the thread's does not.
    """
    doubt_s = stolen_s
    if row.interrupts_by == "windows":
        doubt_s += row.real_s if row.interrupts_error_s is None else 4 * row.interrupts_error_s
    assert 0 <= row.interrupts_upon_s <= row.thread_s + doubt_s


def stolen_since_s(before_ns: int) -> float:
    """Upper bound of the processor time stolen since `before_ns`, of which whole ticks are known."""
    return (stolen_ns() - before_ns) / 1e9 + 1 / os.sysconf("SC_CLK_TCK")


def assert_within_this_process(rows: Sequence[Row], spent_s: float) -> None:
    """The thread of this end used a part of the time that the kernel's clock of this process has."""
    (here,) = [row for row in rows if row.side == "here"]
    assert 0 < here.thread_s <= spent_s
    assert here.cpu_s - here.soft_interrupt_s <= spent_s


@NEEDS_ROOT
@pytest.mark.parametrize("receive", [False, True], ids=["sends", "receives"])
def test_each_end_has_the_interrupts_of_its_own_socket(receive: bool) -> None:
    with waiting() as server:
        spent_s, before_ns = -process_time(), stolen_ns()
        rows = transfer(server.address, size=64 << 20, receive=receive).rows
        spent_s += process_time()
    stolen_s = stolen_since_s(before_ns)
    for row in rows:
        assert row.interrupts_by in OF_NETWORK
        assert row.soft_interrupt_s > 0
        assert row.interrupt_s == 0  # no device brings what comes over loopback
        assert_interrupts_within_the_thread(row, stolen_s)
        own_s = max(row.thread_s - row.interrupts_upon_s, 0.0)
        assert row.cpu_s == pytest.approx(own_s + row.soft_interrupt_s)
    assert_within_this_process(rows, spent_s)


@NEEDS_ROOT
def test_one_byte_has_few_interrupts_however_much_others_move_meanwhile() -> None:
    with waiting() as server, others_talk():
        large: list[Row] = []
        other = threading.Thread(target=lambda: large.extend(transfer(server.address, size=256 << 20).rows))
        other.start()
        small = [row for _ in range(5) for row in transfer(server.address, size=1).rows]
        other.join()
    assert all(row.interrupts_by in OF_NETWORK for row in (*small, *large))
    (there,) = [row for row in large if row.side == "there"]
    ones = [row.soft_interrupt_s for row in small if row.side == "there"]
    assert min(ones) > 0
    assert 20 * min(ones) < there.soft_interrupt_s


@NEEDS_ROOT
def test_a_long_transfer_is_clocked_in_windows_and_says_so() -> None:
    with waiting() as server:
        spent_s, before_ns = -process_time(), stolen_ns()
        transferred = transfer(server.address, size=1 << 20, method="bytes")
        spent_s += process_time()
    stolen_s = stolen_since_s(before_ns)
    assert {row.interrupts_by for row in transferred.rows} == {"windows"}
    for row in transferred.rows:
        assert row.interrupts_clocked is not None
        assert 0 < row.interrupts_clocked < 1
        assert_interrupts_within_the_thread(row, stolen_s)
    assert_within_this_process(transferred.rows, spent_s)
    text = " ".join(transferred.report(prices=prices("cloud"), width=100).split())
    assert "of its time was clocked, and stands for the rest" in text
    assert "~ " in text


@NEEDS_ROOT
def test_no_program_is_at_work_when_no_transfer_is() -> None:
    before = links()
    with waiting() as server:
        assert transfer(server.address, size=100_000).complete
        # The server's end may end its meters when its row has come here.
        wait_until(lambda: links() == before)


def test_between_two_ends_without_a_network_there_are_none() -> None:
    with waiting() as server, others_talk():
        rows = transfer(server.address, size=1 << 20, method="unix,shm").rows
    assert [row.interrupts_by for row in rows] == ["no network"] * 4
    assert {row.interrupt_work_s for row in rows} == {0.0}


@NEEDS_ROOT
def test_who_may_not_load_programs_has_ticks_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    bench = Bench(tmp_path)
    readable_by_all(bench)
    server = bench.start("transfer", "serve", "--listen", "127.0.0.1:0", "--once")
    assert server.stderr is not None
    address = server.stderr.readline().split()[2]
    result = bench.loadgo("transfer", "--to", address, "--size", "1MB", "--format", "json", before=NOBODY)
    here, there = json.loads(result.stdout)["rows"]
    assert here["interrupts_by"] == "ticks"
    assert "it takes root" in here["interrupts_why"]
    assert here["cpu_s"] == here["thread_s"]
    assert there["interrupts_by"] in OF_NETWORK
    ended(server, 0)


def test_ticks_are_starred_and_are_no_part_of_the_processor_time() -> None:
    row = row_of(soft_interrupt_s=0.5, interrupts_why="it takes root")
    assert (row.cpu_s, row.interrupt_work_s) == (1.0, None)
    exact = row_of(interrupts_by="exact", soft_interrupt_s=0.5, interrupt_s=0.25, interrupts_upon_s=0.125)
    assert (exact.cpu_s, exact.interrupt_work_s) == (1.625, 0.75)
    names, cells = (line.split(",") for line in grid_csv([exact]).splitlines())
    told = dict(zip(names, cells, strict=True))
    assert (told["cpu_s"], told["interrupts_s"], told["interrupts_by"]) == ("1.625", "0.75", "exact")
    assert (float(told["user_s"]), float(told["system_s"])) == (exact.user_s, exact.system_s)
    assert grid_csv([row]).splitlines()[1].endswith(",,ticks")
