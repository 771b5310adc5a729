"""Runs a command under the meter, once or several times, and forwards signals to it.

The runs happen in a thread of their own, so that the main thread can receive signals. An interrupt from the terminal
reaches the command directly; every other signal is forwarded. After a signal no further run begins.
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
from loadgo.running.command_run import ColdFile, ColdStart, CommandRun, Stage, Wait4Usage

MISSING_PROGRAM_STATUS, NOT_EXECUTABLE_STATUS = 127, 126
WAIT_COLUMNS = ("ready_wait_ns", "paging_wait_ns", "io_wait_ns")
FORWARDED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class NotRun(Refused):
    """The command could not be run. `status` is a shell's: 127 for a missing program, 126 for no permission."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class CommandOrder:
    """A request to run a command: its words, the stage of each run, and whether its output is discarded."""

    command: tuple[str, ...]
    stages: tuple[Stage, ...]
    quiet: bool


@dataclass(frozen=True)
class MeteredRuns:
    """The runs of a command, and the sources of their usage."""

    runs: tuple[CommandRun, ...]
    sources: dict[str, Any]
    floor_bytes: int
    """Loadgo's own peak memory. The peak of a child is never reported lower, since it starts as a copy of loadgo."""
    interrupted: int | None
    """The last signal that loadgo received; None without one."""
    left_behind: tuple[str, ...]
    """Things that stay on this host, each with its reason and remedy."""


@dataclass(frozen=True)
class HostFacts:
    """Facts about this host that the interpretation of a raw run needs."""

    began_ns: int
    """Start of the first run, in nanoseconds since the host booted."""
    floor_bytes: int
    sources: dict[str, Any]


class CommandRunner(Protocol):
    """An object that runs a command. `running` returns the command's process id, or 0 if none runs."""

    def running(self) -> int: ...


class HostMeter(Protocol):
    """A meter on this host. `close` undoes what was made there for the meter, and returns what stays there."""

    def close(self) -> list[str]: ...


@dataclass
class ReceivedSignals:
    """The last signal received, and whether a command runs or is being started."""

    last: int | None = None
    in_run: bool = False


def run_command(order: CommandOrder) -> MeteredRuns:
    """Makes the runs of `order`, or fewer after a signal. Raises `NotRun` and `Refused`."""
    meter = _loadgo.CommandMeter()
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with closed_at_end(meter) as left_behind:
        sources = prefer_wait4(meter.sources())
        with forward_signals(meter) as signals, ThreadPoolExecutor(1) as executor:
            raw_runs = executor.submit(_raw_runs, meter, order, signals).result()
    floor = loadgo_peak_bytes()
    host = HostFacts(began_ns, floor, sources)
    runs = (command_run(raw_run, stage, host, is_interrupted) for raw_run, stage, is_interrupted in raw_runs)
    return MeteredRuns(tuple(runs), sources, floor, signals.last, tuple(left_behind))


@contextmanager
def closed_at_end(meter: HostMeter) -> Iterator[list[str]]:
    """Closes the meter at the end. What stays on this host is then in the list, or in the notes of the exception."""
    left_behind: list[str] = []
    try:
        yield left_behind
    except BaseException as error:
        for text in meter.close():
            error.add_note(text)
        raise
    left_behind.extend(meter.close())


def _raw_runs(
    meter: _loadgo.CommandMeter, order: CommandOrder, signals: ReceivedSignals
) -> list[tuple[dict[str, Any], Stage, bool]]:
    input_offset = _input_offset()
    has_input = len(order.stages) == 1 or input_offset is not None
    raw_runs = []
    for stage in order.stages:
        if signals.last is not None:
            break
        if input_offset is not None:
            os.lseek(0, input_offset, os.SEEK_SET)
        signals.in_run = True
        try:
            raw_run = _raw_run(meter, order, stage, has_input)
        finally:
            signals.in_run = False
        raw_runs.append((raw_run, stage, signals.last is not None))
    return raw_runs


def _raw_run(meter: _loadgo.CommandMeter, order: CommandOrder, stage: Stage, has_input: bool) -> dict[str, Any]:
    try:
        return meter.run(order.command, has_input, not order.quiet, stage == "cold first")
    except OSError as error:
        raise start_failure(order.command[0], error) from error


def start_failure(program: str, error: OSError) -> NotRun:
    """The error for a program that could not be run, with a shell's status for it."""
    if not isinstance(error, FileNotFoundError):
        return NotRun(f"{program}: {error.strerror or error}", NOT_EXECUTABLE_STATUS)
    if "/" not in program and (path := _on_search_path(program)):
        return NotRun(f"{path}: it is not executable", NOT_EXECUTABLE_STATUS)
    return NotRun(f"{program}: no such program", MISSING_PROGRAM_STATUS)


def check_program(program: str) -> None:
    """Raises `NotRun` for a program that is missing or not executable."""
    if shutil.which(program) is None:
        exists = "/" in program and Path(program).exists()
        raise start_failure(program, PermissionError(0, "it is not executable") if exists else FileNotFoundError())


def _on_search_path(program: str) -> Path | None:
    directories = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    return next((path / program for path in directories if program and (path / program).is_file()), None)


def _input_offset() -> int | None:
    """The offset of the standard input; None for an input that cannot be read again."""
    try:
        return os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        return None


@contextmanager
def forward_signals(meter: CommandRunner) -> Iterator[ReceivedSignals]:
    """Within this context, signals are recorded and forwarded to the command. Only the main thread receives signals."""
    signals = ReceivedSignals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signals.last = number
        while not (pid := meter.running()) and signals.in_run:
            time.sleep(0.0001)  # the command is being started, and has no id yet
        if pid and not (number == signal.SIGINT and _in_foreground()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    # A signal that is ignored (nohup) stays ignored. Python ignores SIGXFSZ; the command must not inherit that.
    before = {number: signal.getsignal(number) for number in (*FORWARDED_SIGNALS, signal.SIGXFSZ)}
    for number in FORWARDED_SIGNALS:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, on_signal)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the terminal sends its interrupts to this process, and so to the command too."""
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


def loadgo_peak_bytes() -> int:
    """Loadgo's own peak memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def prefer_wait4(sources: dict[str, Any]) -> dict[str, Any]:
    """The sources without control groups: wait4 replaces `/proc`, whose ticks are coarser, and any missing source."""
    if sources["groups"]:
        return sources
    notes = [note for note in sources["notes"] if not note.endswith("in clock ticks")]
    notes.append("by wait4: counted from the process's creation on, without children that the command did not wait for")
    faults = "wait4" if sources["faults"] == "/proc" else sources["faults"]
    return sources | {"cpu": "wait4", "cpu_resolution_ns": 1000, "faults": faults, "notes": notes}


def _with_wait4_usage(
    usage: dict[str, int | None], waited: Wait4Usage, sources: dict[str, Any]
) -> dict[str, int | None]:
    """The usage with the figures that `sources` takes from wait4."""
    cpu = {"cpu_user_ns": waited.user_ns, "cpu_system_ns": waited.system_ns}
    faults = {"faults_minor": waited.faults_minor, "faults_major": waited.faults_major}
    return usage | (cpu if sources["cpu"] == "wait4" else {}) | (faults if sources["faults"] == "wait4" else {})


def _without_silent_taskstats(usage: dict[str, int | None], waited: Wait4Usage) -> dict[str, int | None]:
    """The usage, with the faults of wait4 and without waits if taskstats reported nothing.

    The kernel reports a task's usage at its end (taskstats) in its first network namespace only. Without a report the
    faults are 0, which no program has.
    """
    if usage["faults_minor"] or usage["faults_major"] or not waited.faults_minor:
        return usage
    faults = {"faults_minor": waited.faults_minor, "faults_major": waited.faults_major}
    return usage | faults | dict.fromkeys(WAIT_COLUMNS, None)


def _without_impossible_waits(usage: dict[str, int | None], began_ns: int) -> dict[str, int | None]:
    """The usage without waits that are longer than the host had been up when the first run began.

    The kernel reports such waits if its delay accounting was switched while the command waited.
    """
    impossible = {name for name in WAIT_COLUMNS if (usage[name] or 0) >= began_ns}
    return {name: None if name in impossible else value for name, value in usage.items()}


def command_run(raw_run: dict[str, Any], stage: Stage, host: HostFacts, is_interrupted: bool) -> CommandRun:
    """Interprets a run as the meter returned it. `is_interrupted` says that loadgo received a signal during the run."""
    waited = Wait4Usage(**raw_run["waited"])
    usage = _without_silent_taskstats(_without_impossible_waits(raw_run["usage"], host.began_ns), waited)
    max_bytes = waited.max_resident_bytes
    return CommandRun(
        stage=stage,
        real_ns=raw_run["real_ns"],
        **_with_wait4_usage(usage, waited, host.sources),
        max_resident_bytes=max_bytes if max_bytes > host.floor_bytes else None,
        waited=waited,
        exit_status=raw_run["exit_status"],
        signal=raw_run["signal"],
        left_running=raw_run["left_running"] if host.sources["groups"] else None,
        let_go=raw_run["let_go"],
        lost=raw_run["lost"],
        cold=None if raw_run["cold"] is None else _cold_start(raw_run["cold"]),
        interrupted=is_interrupted,
    )


def _cold_start(dropped: dict[str, Any]) -> ColdStart:
    files = (ColdFile(Path(path), size, stayed) for path, size, stayed in dropped["files"])
    return ColdStart(tuple(files), dropped["names_dropped"])
