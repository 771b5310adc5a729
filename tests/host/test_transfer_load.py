"""Busy processes beside transfers: there while they are asked for, and gone afterwards."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgo.errors import Refused
from loadgo.transfers.background_load import MOST_BUSY_PROCESSES, at_loads, busy_processes, loads_of, merged, running
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.transfer import Transferred
from support.far_end import waiting
from support.outside import LOOK_EVERY_S, Bench
from support.processes import is_alive

PATIENCE_S = 60.0


def until(seen: Callable[[], bool]) -> None:
    """Returns when something is `seen`; fails when it never is."""
    give_up = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < give_up, "what was waited for did not come"
        time.sleep(LOOK_EVERY_S)


def busy_ns(pid: int) -> int:
    """The processor time of a process so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def test_busy_processes_compute_and_are_gone_afterwards() -> None:
    with busy_processes(3) as ids:
        assert len(set(ids)) == 3
        before = [busy_ns(pid) for pid in ids]
        until(lambda: all(busy_ns(pid) > was for pid, was in zip(ids, before, strict=True)))
        assert {os.getpriority(os.PRIO_PROCESS, pid) for pid in ids} == {os.getpriority(os.PRIO_PROCESS, 0)}
        assert (running() or 0) >= 1
    assert not any(is_alive(pid) for pid in ids)


def test_they_are_gone_when_what_is_beside_them_fails() -> None:
    started: list[int] = []

    def fails() -> None:
        with busy_processes(2) as ids:
            started.extend(ids)
            raise Refused("on purpose")

    with pytest.raises(Refused, match="on purpose"):
        fails()
    assert len(started) == 2
    assert not any(is_alive(pid) for pid in started)


def test_they_end_when_their_program_is_killed() -> None:
    text = (
        "from loadgo.transfers.background_load import busy_processes\n"
        "with busy_processes(2) as ids:\n print(*ids, flush=True)\n input()"
    )
    program = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    ids = [int(word) for word in program.stdout.readline().split()]
    assert len(ids) == 2
    program.kill()
    program.communicate()
    until(lambda: not any(is_alive(pid) for pid in ids))


@pytest.mark.parametrize("count", [-1, MOST_BUSY_PROCESSES + 1])
def test_a_load_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="out of range"), busy_processes(count):
        pass


def test_each_load_tells_how_many_were_running() -> None:
    def make(after: object) -> Transferred:
        assert callable(after)
        after(1, 1)
        return Transferred((), ("a note",), False)

    levels = at_loads([0, 2], make)
    assert [level.busy for level in levels] == [0, 2]
    assert all(level.running is not None and level.running >= 1 for level in levels)
    assert merged(levels).notes == ("a note",)
    assert loads_of(levels) == []


def test_loads_take_turns() -> None:
    seen: list[int] = []

    def make(_: object) -> Transferred:
        seen.append(sum(1 for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split() if child))
        return Transferred((), (f"{len(seen)}",), False)

    before = len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
    levels = at_loads([0, 2], make, turns=3)
    assert [count - before for count in seen] == [0, 2, 0, 2, 0, 2]
    assert [level.transferred.notes for level in levels] == [("1", "3", "5"), ("2", "4", "6")]


def test_a_load_that_cannot_be_had_is_told_before_the_first_transfer() -> None:
    with pytest.raises(ValueError, match="out of range"):
        at_loads([0, MOST_BUSY_PROCESSES + 1], lambda _: pytest.fail("a transfer was made"))


def test_an_interrupt_ends_the_loads() -> None:
    levels = at_loads([0, 1, 2], lambda _: Transferred((), (), True))
    assert [level.busy for level in levels] == [0]


def test_a_grid_at_two_loads_is_told_by_the_command(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    # Four more than none, so that the load differs whoever else runs meanwhile.
    options = ("--size", "4096", "--grid", "2", "--load", "0,4", "--csv", "rows.csv")
    with waiting() as server:
        result = bench.typed("transfer", "--to", server.address, *options)
    assert "Against the load: the same transfers" in result.stdout
    assert "running and ready processes" in " ".join(result.stdout.split())
    table = read_table(tmp_path / "rows.csv")
    assert len({one.load for one in table.transfers}) == 2
    assert len(table.transfers) == 2 * 2 * 2 * 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--load", "0,2"], "give --grid too"),
        (["--grid", "1", "--load", "few"], "whole numbers of busy processes"),
        (["--grid", "1", "--load", "0,65"], "out of range: 0 to 64"),
        (["--times", "2", "--receive", "--into", "deck"], "leave --times out"),
    ],
)
def test_loads_and_rounds_that_make_no_sense_are_refused(tmp_path: Path, options: list[str], told: str) -> None:
    result = Bench(tmp_path).typed("transfer", "--to", "127.0.0.1:1", "--size", "4096", *options, status=2)
    assert told in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())
