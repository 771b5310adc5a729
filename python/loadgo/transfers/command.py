"""What moving its data costs a program: any command, unchanged, with what its sockets moved and what that took.

The command is run under the meter of `loadgo ready`; kernel programs follow it and all that it starts. A TCP socket's
bytes are those that the socket itself counts, read when it closes. Processor time is that of all its processes, less
the network's interrupts that came upon them, plus those that worked for its sockets, wherever they came: on a kernel
without an account of interrupts whoever is interrupted pays for them. A packet's work is its receiver's, so that over
loopback what a sender's call does for the far end is the far end's.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.errors import BadArgument
from loadgo.running.command_meter import Host, Signals, command_run, not_run, own_bytes, passing_on, with_wait4
from loadgo.running.command_run import CommandRun

UNIX = "Unix"
_HOUR_S = 3600.0
_FIRST_NAMESPACE = "the kernel tells what an ended task has used in its first network namespace alone; run loadgo there"


@dataclass(frozen=True)
class Moved:
    """What the command's sockets of a kind moved."""

    kind: str
    """`TCP, network`, `TCP, loopback`, the same with `UDP`; `UDP, to anywhere` (no fixed far end), `Unix`, `other`."""
    sockets: int
    """Connections; TCP alone, of others no end is seen."""
    sent: int
    """Bytes, each once."""
    received: int
    sent_again: int
    """Bytes, of those that were lost on the way; TCP alone."""
    sends: int
    """Calls that moved something."""
    receives: int
    segments_sent: int
    """TCP alone, with those that carry nothing."""
    segments_received: int

    @property
    def nothing(self) -> bool:
        """No connection was made, and nothing moved."""
        return not (self.sockets or self.sends or self.receives)

    def __add__(self, other: Moved) -> Moved:
        numbers = [name for name in Moved.__dataclass_fields__ if name != "kind"]
        return Moved("all", **{name: getattr(self, name) + getattr(other, name) for name in numbers})


@dataclass(frozen=True)
class Interrupts:
    """Time in interrupts of the network while the command ran."""

    soft_s: float
    """Soft ones for the command's sockets, on any processor."""
    hard_s: float
    """Devices' for the command's sockets: shared as the soft ones are, an estimate."""
    inside_s: float
    """Of both kinds, whomever for, that came upon the command's processes and are in their processor time."""
    unknown_s: float
    """Soft ones without a packet, on the whole host; they are shared as the others are."""
    all_s: float
    """Of the whole host, whomever for."""
    packets: int
    """That came in for the command's sockets."""
    packets_all: int

    @property
    def for_command_s(self) -> float:
        """The interrupt work done for the command."""
        return self.soft_s + self.hard_s


@dataclass(frozen=True)
class CommandTransfer:
    """What one run of a command moved, and what it used. Times in seconds; None where nobody can tell."""

    command: tuple[str, ...]
    run: CommandRun
    """What the command used, raw, interrupts that came upon it included."""
    kinds: tuple[Moved, ...] | None
    """What its sockets moved, those kinds that moved anything; None when that is not known."""
    interrupts: Interrupts | None
    held: int
    """Connections that a process still holds which the command left running: counted as far as they were."""
    unsent: int
    """Connections that the kernel had not emptied five seconds after the command's end."""
    lost: int
    """Tasks and connections that found no room: bytes are at least what is told."""
    load_5min: float
    sources: Mapping[str, str | int]
    """Where the figures come from: cpu, faults, waits, cpu_resolution_ns, split."""
    notes: tuple[str, ...]
    """What could not be measured and why, and the remedy."""

    @property
    def name(self) -> str:
        """The program's name."""
        return Path(self.command[0]).name

    @property
    def status(self) -> int:
        """As a shell tells it: the exit status, or 128 and the signal that ended it."""
        return self.run.status

    @property
    def moved(self) -> Moved | None:
        """All that the bits are counted of: every kind but Unix sockets; these where there is nothing else."""
        if self.kinds is None:
            return None
        network = [kind for kind in self.kinds if kind.kind != UNIX]
        nothing = Moved("all", *[0] * 8)
        return reduce(Moved.__add__, network or self.kinds, nothing)

    @property
    def bytes(self) -> int | None:
        """Sent and received together."""
        return None if self.moved is None else self.moved.sent + self.moved.received

    @property
    def real_s(self) -> float:
        """From the loading of the program to its end."""
        return self.run.real_ns / 1e9

    @property
    def user_s(self) -> float | None:
        """In programs, without interrupts; of system time as the kernel divides it, by ticks on most kernels."""
        return None if self._own_s is None else self._own_s[0]

    @property
    def system_s(self) -> float | None:
        """In the kernel, without interrupts of the network."""
        return None if self._own_s is None else self._own_s[1]

    @property
    def interrupts_s(self) -> float | None:
        """Of the network, for the command."""
        return None if self.interrupts is None else self.interrupts.for_command_s

    @property
    def cpu_s(self) -> float | None:
        """User, system and interrupts together."""
        return None if self._own_s is None else sum(self._own_s) + (self.interrupts_s or 0.0)

    @property
    def bits_per_s(self) -> float | None:
        """Bits both ways a second of real time."""
        return 8 * self.bytes / self.real_s if self.bytes and self.real_s else None

    @property
    def cpu_s_per_bit(self) -> float | None:
        """Processor time a bit, both ways together: it cannot be divided between them."""
        return self.cpu_s / (8 * self.bytes) if self.bytes and self.cpu_s is not None else None

    def cost(self, cpu_hour: float, bits: float) -> float | None:
        """What moving so many bits like these costs at a price for an hour of processor time."""
        each = self.cpu_s_per_bit
        return None if each is None else each * bits * cpu_hour / _HOUR_S

    @property
    def _own_s(self) -> tuple[float, float] | None:
        """User and system time less the interrupts in it, which the kernel counts as system time if it can."""
        if self.run.cpu_user_ns is None or self.run.cpu_system_ns is None:
            return None
        inside = 0.0 if self.interrupts is None else self.interrupts.inside_s
        user, system = self.run.cpu_user_ns / 1e9, self.run.cpu_system_ns / 1e9 - inside
        return max(user + min(system, 0.0), 0.0), max(system, 0.0)


def transfer_of(command: str | Sequence[str]) -> CommandTransfer:
    """Runs `command` once (words; a text is split as a shell would), with this process's streams; tells what it moved.

    Nothing else of this process may start a program at the same moment. Raises `command_meter.NotRun` when there is no
    such command, `errors.Refused` on a host that can measure nothing, `ValueError`.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    if not words:
        raise BadArgument("no command is given: write it after --, as in `loadgo transfer -- curl -sO URL`")
    meter = _loadgo.TransferMeter()
    began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    try:
        sources = with_wait4(meter.sources())
        with passing_on(meter) as signals, ThreadPoolExecutor(1) as elsewhere:
            told = elsewhere.submit(_once, meter, words, signals).result()
    finally:
        meter.close()
    run = command_run(told["run"], "as it is", Host(began_ns, own_bytes(), sources), signals.came is not None)
    return _of(tuple(words), run, told, sources)


def _once(meter: _loadgo.TransferMeter, words: Sequence[str], signals: Signals) -> dict[str, Any]:
    """In a thread of its own, so that the main thread is there for signals."""
    signals.in_run = True
    try:
        return meter.run(words)
    except OSError as error:
        raise not_run(words[0], error) from error
    finally:
        signals.in_run = False


def _of(
    words: tuple[str, ...], run: CommandRun, told: Mapping[str, Any], sources: Mapping[str, Any]
) -> CommandTransfer:
    counted = told["counted"]
    kinds = None if counted is None else [Moved(kind, **numbers) for kind, numbers in counted["moved"].items()]
    notes = [*sources["missing"], *sources["notes"]]
    if told["why_not"] and not sources["missing"]:
        notes.insert(0, f"the bytes of its sockets are not known: {told['why_not']}")
    if sources["waits"] == "taskstats" and run.ready_wait_ns is None:
        notes.append(f"its waits, and faults beyond wait4's: {_FIRST_NAMESPACE}")
    return CommandTransfer(
        command=words,
        run=run,
        kinds=None if kinds is None else tuple(kind for kind in kinds if not kind.nothing),
        interrupts=None if counted is None or counted["interrupts"] is None else _interrupts(counted),
        held=0 if counted is None else counted["held"],
        unsent=0 if counted is None else counted["unsent"],
        lost=0 if counted is None else counted["lost"],
        load_5min=told["load_5min"],
        sources={name: value for name, value in sources.items() if name not in ("notes", "groups", "missing")},
        notes=tuple(notes),
    )


def _interrupts(counted: Mapping[str, Any]) -> Interrupts:
    sums = counted["interrupts"]
    inside = sums["soft_inside_ns"] + sums["hard_inside_ns"]
    return Interrupts(
        soft_s=sums["soft_ns"] / 1e9,
        hard_s=sums["hard_ns"] / 1e9,
        inside_s=inside / 1e9 if counted["charges_the_interrupted"] else 0.0,
        unknown_s=sums["soft_unknown_ns"] / 1e9,
        all_s=(sums["soft_all_ns"] + sums["hard_all_ns"]) / 1e9,
        packets=sums["packets"],
        packets_all=sums["packets_all"],
    )
