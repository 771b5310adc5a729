"""The cost of data transfer of any command: the data that its sockets moved, and the resources that it used.

The command runs under the meter of `loadgo ready`, and kernel programs follow it and all that it starts. A TCP socket
counts its own bytes, which are read when it closes. Processor time is that of all processes of the command. A kernel
without interrupt accounting charges interrupts to the interrupted process. So network interrupts during the command's
time are subtracted, and interrupts for its sockets on any processor are added. A packet's work belongs to its receiver:
over loopback, work that a sender's call does for the far end belongs to the far end.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.running.command_meter import (
    HostFacts,
    ReceivedSignals,
    closed_at_end,
    command_run,
    forward_signals,
    loadgo_peak_bytes,
    prefer_wait4,
    start_failure,
)
from loadgo.running.command_run import CommandRun

UNIX_SOCKETS = "Unix"
_HOUR_S = 3600.0
_FIRST_NAMESPACE = "the kernel reports an ended task's usage in its first network namespace only; run loadgo there"


@dataclass(frozen=True)
class Moved:
    """The traffic of the command's sockets of one kind."""

    kind: str
    """`TCP, network`, `TCP, loopback`, the same with `UDP`; `UDP, to anywhere` (no fixed far end), `Unix`, `other`."""
    sockets: int
    """Number of connections, for TCP only: the meter does not see when other sockets close."""
    sent: int
    """Bytes, each counted once."""
    received: int
    sent_again: int
    """Bytes sent again after a loss, for TCP only."""
    sends: int
    """Calls that moved data."""
    receives: int
    segments_sent: int
    """Segments, for TCP only, those without data included."""
    segments_received: int

    @property
    def is_idle(self) -> bool:
        """Whether no connection was made and no data moved."""
        return not (self.sockets or self.sends or self.receives)

    def __add__(self, other: Moved) -> Moved:
        numbers = [name for name in Moved.__dataclass_fields__ if name != "kind"]
        return Moved("all", **{name: getattr(self, name) + getattr(other, name) for name in numbers})


@dataclass(frozen=True)
class NetworkInterrupts:
    """Time in network interrupts while the command ran."""

    soft_s: float
    """Soft interrupts for the command's sockets, on any processor."""
    hard_s: float
    """Device interrupts for the command's sockets: an estimate, shared in proportion to the soft interrupts."""
    inside_s: float
    """Both kinds, for any socket, during the command's processes: a part of their processor time."""
    unknown_s: float
    """Soft interrupts of the host without a packet. They are shared in proportion to the others."""
    all_s: float
    """Both kinds of the whole host, for any socket."""
    packets: int
    """Packets received for the command's sockets."""
    packets_all: int

    @property
    def for_command_s(self) -> float:
        """The interrupt work done for the command."""
        return self.soft_s + self.hard_s


@dataclass(frozen=True, repr=False)
class CommandTransfer(Result, presented_by="loadgo.transfers.presentation:command_presentation"):
    """Data moved and resources used by one run of a command. Times are in seconds; None means not measured."""

    command: tuple[str, ...]
    run: CommandRun
    """The usage of the command as measured, with the interrupts during its time."""
    kinds: tuple[Moved, ...] | None
    """Traffic by kind of socket, without idle kinds. None if it was not measured."""
    interrupts: NetworkInterrupts | None
    held: int
    """Connections of processes that the command left running. Their traffic is counted up to the command's end."""
    unsent: int
    """Connections with unsent data five seconds after the command's end."""
    lost: int
    """Tasks and connections that the meter had no room for. If there are any, the bytes are a lower bound."""
    load_5min: float
    sources: Mapping[str, str | int]
    """Sources of the figures: cpu, faults, waits, cpu_resolution_ns, split."""
    notes: tuple[str, ...]
    """Sentences about missing measurements, each with its reason and remedy."""
    left_behind: tuple[str, ...] = ()
    """Things that stay on this host, each with its reason and remedy."""

    @property
    def name(self) -> str:
        """Name of the program."""
        return Path(self.command[0]).name

    @property
    def status(self) -> int:
        """Status as in a shell: the exit status, or 128 + the signal that ended the command."""
        return self.run.status

    @property
    def moved(self) -> Moved | None:
        """The traffic that bits are computed from: all kinds but Unix sockets, or these if there is nothing else."""
        if self.kinds is None:
            return None
        network = [kind for kind in self.kinds if kind.kind != UNIX_SOCKETS]
        nothing = Moved("all", *[0] * 8)
        return reduce(Moved.__add__, network or self.kinds, nothing)

    @property
    def bytes(self) -> int | None:
        """Sent and received together."""
        return None if self.moved is None else self.moved.sent + self.moved.received

    @property
    def real_s(self) -> float:
        """Time from the loading of the program to its end."""
        return self.run.real_ns / 1e9

    @property
    def user_s(self) -> float | None:
        """Time in programs, without interrupts. Most kernels divide user and system time by ticks."""
        return None if self._own_s is None else self._own_s[0]

    @property
    def system_s(self) -> float | None:
        """Time in the kernel, without network interrupts."""
        return None if self._own_s is None else self._own_s[1]

    @property
    def interrupts_s(self) -> float | None:
        """Time in network interrupts for the command."""
        return None if self.interrupts is None else self.interrupts.for_command_s

    @property
    def cpu_s(self) -> float | None:
        """User, system and interrupts together."""
        return None if self._own_s is None else sum(self._own_s) + (self.interrupts_s or 0.0)

    @property
    def bits_per_s(self) -> float | None:
        """Bits in both directions per second of real time."""
        return 8 * self.bytes / self.real_s if self.bytes and self.real_s else None

    @property
    def cpu_s_per_bit(self) -> float | None:
        """Processor time per bit in both directions, which have no separate processor time."""
        return self.cpu_s / (8 * self.bytes) if self.bytes and self.cpu_s is not None else None

    def cost(self, cpu_hour: float, bits: float) -> float | None:
        """Cost of moving `bits` at the measured rate, by the price of an hour of processor time."""
        each = self.cpu_s_per_bit
        return None if each is None else each * bits * cpu_hour / _HOUR_S

    @property
    def _own_s(self) -> tuple[float, float] | None:
        """User and system time without interrupts, subtracted from system time first and the rest from user time."""
        if self.run.cpu_user_ns is None or self.run.cpu_system_ns is None:
            return None
        inside = 0.0 if self.interrupts is None else self.interrupts.inside_s
        user, system = self.run.cpu_user_ns / 1e9, self.run.cpu_system_ns / 1e9 - inside
        return max(user + min(system, 0.0), 0.0), max(system, 0.0)


def transfer_of(command: str | Sequence[str]) -> CommandTransfer:
    """Runs `command` once with this process's streams, and measures its transfer. A text is split as in a shell.

    This process must not start another program at the same time. Raises `command_meter.NotRun` if the command does not
    exist, `errors.Refused` on a host without any meter, and `ValueError` without a command.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise BadArgument("no command is given: write it after --, as in `loadgo transfer -- curl -sO URL`")
    meter = _loadgo.TransferMeter()
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with closed_at_end(meter) as left_behind:
        sources = prefer_wait4(meter.sources())
        with forward_signals(meter) as signals, ThreadPoolExecutor(1) as executor:
            measured = executor.submit(_run_once, meter, words, signals).result()
    run = command_run(
        measured["run"], "as it is", HostFacts(began_ns, loadgo_peak_bytes(), sources), signals.last is not None
    )
    return replace(_command_transfer(tuple(words), run, measured, sources), left_behind=tuple(left_behind))


def _run_once(meter: _loadgo.TransferMeter, words: Sequence[str], signals: ReceivedSignals) -> dict[str, Any]:
    """Runs the command. It needs its own thread, because the main thread receives signals."""
    signals.in_run = True
    try:
        return meter.run(words)
    except OSError as error:
        raise start_failure(words[0], error) from error
    finally:
        signals.in_run = False


def _command_transfer(
    words: tuple[str, ...], run: CommandRun, measured: Mapping[str, Any], sources: Mapping[str, Any]
) -> CommandTransfer:
    counted = measured["counted"]
    kinds = None if counted is None else [Moved(kind, **numbers) for kind, numbers in counted["moved"].items()]
    notes = [*sources["missing"], *sources["notes"]]
    if measured["why_not"] and not sources["missing"]:
        notes.insert(0, f"the bytes of its sockets are not known: {measured['why_not']}")
    if sources["waits"] == "taskstats" and run.ready_wait_ns is None:
        notes.append(f"its waits, and faults beyond wait4's: {_FIRST_NAMESPACE}")
    return CommandTransfer(
        command=words,
        run=run,
        kinds=None if kinds is None else tuple(kind for kind in kinds if not kind.is_idle),
        interrupts=None if counted is None or counted["interrupts"] is None else _interrupts(counted),
        held=0 if counted is None else counted["held"],
        unsent=0 if counted is None else counted["unsent"],
        lost=0 if counted is None else counted["lost"],
        load_5min=measured["load_5min"],
        sources={name: value for name, value in sources.items() if name not in ("notes", "groups", "missing")},
        notes=tuple(notes),
    )


def _interrupts(counted: Mapping[str, Any]) -> NetworkInterrupts:
    sums = counted["interrupts"]
    inside = sums["soft_inside_ns"] + sums["hard_inside_ns"]
    return NetworkInterrupts(
        soft_s=sums["soft_ns"] / 1e9,
        hard_s=sums["hard_ns"] / 1e9,
        inside_s=inside / 1e9 if counted["charges_the_interrupted"] else 0.0,
        unknown_s=sums["soft_unknown_ns"] / 1e9,
        all_s=(sums["soft_all_ns"] + sums["hard_all_ns"]) / 1e9,
        packets=sums["packets"],
        packets_all=sums["packets_all"],
    )
