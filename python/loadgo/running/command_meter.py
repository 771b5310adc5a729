"""Runs a command under the meter, again and again, and passes on the signals that come meanwhile.

The runs are made in a thread of their own, so that the main thread is there for signals. An interrupt from the terminal
reaches the command by itself; every other is passed on to it. After a signal no further run begins.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from loadgo import _loadgo
from loadgo.errors import Refused
from loadgo.running.command_run import Cold, ColdFile, CommandRun, Stage, Waited

NO_PROGRAM, NOT_EXECUTABLE = 127, 126
WAITS = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class NotRun(Refused):
    """The command could not be run; `status` is a shell's then: 127 no such program, 126 it is not executable."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Order:
    """What is to be run: the command's words, the stage of each run, and whether its output is lost."""

    command: tuple[str, ...]
    stages: tuple[Stage, ...]
    quiet: bool


@dataclass(frozen=True)
class Done:
    """What was run."""

    runs: tuple[CommandRun, ...]
    sources: dict[str, Any]
    floor_bytes: int
    """Loadgo's own memory at the most, with which a child begins."""
    interrupted: int | None


@dataclass(frozen=True)
class Host:
    """What must be known of this host to read a raw run."""

    began_ns: int
    """When the first run began, since the host is up."""
    floor_bytes: int
    sources: dict[str, Any]


class Running(Protocol):
    """What runs a command, and tells its id while it runs, else 0."""

    def running(self) -> int: ...


@dataclass
class Signals:
    """The last signal that came, and whether there is a command to pass it on to, or soon will be."""

    came: int | None = None
    in_run: bool = False


def run_command(order: Order) -> Done:
    """Makes the runs of `order`; fewer when a signal comes. Raises `NotRun`, `Refused`."""
    meter = _loadgo.CommandMeter()
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    try:
        sources = with_wait4(meter.sources())
        with passing_on(meter) as signals, ThreadPoolExecutor(1) as elsewhere:
            runs = elsewhere.submit(_runs, meter, order, signals).result()
    finally:
        meter.close()
    floor = own_bytes()
    host = Host(began_ns, floor, sources)
    made = (command_run(told, stage, host, came) for told, stage, came in runs)
    return Done(tuple(made), sources, floor, signals.came)


def _runs(meter: _loadgo.CommandMeter, order: Order, signals: Signals) -> list[tuple[dict[str, Any], Stage, bool]]:
    begin = _place_of_input()
    readable = len(order.stages) == 1 or begin is not None
    made = []
    for stage in order.stages:
        if signals.came is not None:
            break
        if begin is not None:
            os.lseek(0, begin, os.SEEK_SET)
        signals.in_run = True
        try:
            told = _one(meter, order, stage, readable)
        finally:
            signals.in_run = False
        made.append((told, stage, signals.came is not None))
    return made


def _one(meter: _loadgo.CommandMeter, order: Order, stage: Stage, readable: bool) -> dict[str, Any]:
    try:
        return meter.run(order.command, readable, not order.quiet, stage == "cold first")
    except OSError as error:
        raise not_run(order.command[0], error) from error


def not_run(program: str, error: OSError) -> NotRun:
    """Why `program` could not be run, and a shell's status for it."""
    if not isinstance(error, FileNotFoundError):
        return NotRun(f"{program}: {error.strerror or error}", NOT_EXECUTABLE)
    if "/" not in program and (path := _on_the_path(program)):
        return NotRun(f"{path}: it is there, and is not executable", NOT_EXECUTABLE)
    return NotRun(f"{program}: no such program", NO_PROGRAM)


def checked_program(program: str) -> None:
    """Raises `NotRun` when there is no such program, or it is not executable."""
    if shutil.which(program) is None:
        there = "/" in program and Path(program).exists()
        raise not_run(
            program, PermissionError(0, "it is there, and is not executable") if there else FileNotFoundError()
        )


def _on_the_path(program: str) -> Path | None:
    directories = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    return next((path / program for path in directories if program and (path / program).is_file()), None)


def _place_of_input() -> int | None:
    """Where the standard input stands; None when it is no file that can be read again."""
    try:
        return os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        return None


@contextmanager
def passing_on(meter: Running) -> Iterator[Signals]:
    """While it lasts signals are noted and passed on to the command; only the main thread can hear them."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def heard(number: int, _frame: FrameType | None) -> None:
        signals.came = number
        while not (pid := meter.running()) and signals.in_run:
            time.sleep(0.0001)  # it is being started, and its id is not known yet
        if pid and not (number == signal.SIGINT and _in_foreground()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    # One that is ignored (nohup) stays ignored. Python ignores SIGXFSZ; the command must not inherit that.
    before = {number: signal.getsignal(number) for number in (*PASSED_ON, signal.SIGXFSZ)}
    for number in PASSED_ON:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, heard)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the terminal sends its interrupts to this process and to the command alike."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def own_bytes() -> int:
    """Loadgo's own memory at the most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def with_wait4(sources: dict[str, Any]) -> dict[str, Any]:
    """The sources, with wait4 in the place of coarser ones and of none: its clock is finer than `/proc`'s ticks."""
    if sources["groups"]:
        return sources
    notes = [note for note in sources["notes"] if not note.endswith("in clock ticks")]
    notes.append("by wait4: counted from the process's creation on, without what the command has not waited for")
    faults = "wait4" if sources["faults"] == "/proc" else sources["faults"]
    told = {"cpu": "wait4", "cpu_resolution_ns": 1000, "faults": faults, "notes": notes}
    return sources | told


def _by_wait4(usage: dict[str, int | None], waited: Waited, sources: dict[str, Any]) -> dict[str, int | None]:
    """The usage, with what `sources` takes from wait4."""
    cpu = {"cpu_user_ns": waited.user_ns, "cpu_system_ns": waited.system_ns}
    faults = {"faults_minor": waited.faults_minor, "faults_major": waited.faults_major}
    return usage | (cpu if sources["cpu"] == "wait4" else {}) | (faults if sources["faults"] == "wait4" else {})


def _told(usage: dict[str, int | None], waited: Waited) -> dict[str, int | None]:
    """The usage; faults by wait4 and no waits where the kernel has told of none that ended.

    It tells what a task has used at its end (taskstats) to sockets of its first network namespace alone; whoever
    listens in another hears nothing, and no program runs without a fault.
    """
    if usage["faults_minor"] or usage["faults_major"] or not waited.faults_minor:
        return usage
    faults = {"faults_minor": waited.faults_minor, "faults_major": waited.faults_major}
    return usage | faults | dict.fromkeys(WAITS, None)


def _possible(usage: dict[str, int | None], began_ns: int) -> dict[str, int | None]:
    """The usage without waits that are as long as the host is up: the kernel tells such when its delay accounting was
    switched while the command waited.
    """
    impossible = {name for name in WAITS if (usage[name] or 0) >= began_ns}
    return {name: None if name in impossible else value for name, value in usage.items()}


def command_run(told: dict[str, Any], stage: Stage, host: Host, came: bool) -> CommandRun:
    """A run as the meter told it; `came`, a signal came meanwhile."""
    waited = Waited(**told["waited"])
    most = waited.max_resident_bytes
    return CommandRun(
        stage=stage,
        real_ns=told["real_ns"],
        **_by_wait4(_told(_possible(told["usage"], host.began_ns), waited), waited, host.sources),
        max_resident_bytes=most if most > host.floor_bytes else None,
        waited=waited,
        exit_status=told["exit_status"],
        signal=told["signal"],
        left_running=told["left_running"] if host.sources["groups"] else None,
        let_go=told["let_go"],
        lost=told["lost"],
        cold=None if told["cold"] is None else _cold(told["cold"]),
        interrupted=came,
    )


def _cold(told: dict[str, Any]) -> Cold:
    files = (ColdFile(Path(path), size, stayed) for path, size, stayed in told["files"])
    return Cold(tuple(files), told["names_dropped"])
