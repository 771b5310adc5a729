"""One end of a transfer as a row: the columns of the seed's tables (RFC 392), and what they did not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Side = Literal["here", "there"]
Interrupts = Literal["exact", "windows", "no network", "ticks"]
MEGABIT = 1e6
GIGABYTE = 8e9
"""In bits."""
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Row:
    """What one end moved and used. Times in seconds; None where nobody can tell."""

    side: Side
    direction: Literal["s", "r"]
    """`s`, this end sent; `r`, it received."""
    method: str
    message_bytes: int
    """The most bytes of a call."""
    bytes: int
    """Of the file."""
    wire_bytes: int
    """On the connection: with the headers of records."""
    counted_bytes: int | None
    """What the socket itself counted; None where it does not (Unix sockets)."""
    messages: int
    calls: int
    """System calls that moved the data, or waited to."""
    real_s: float
    """From the first byte that was brought in until the last was on the network; or from when the first could be read
    until the file was closed."""
    thread_s: float
    """Processor time of the thread that moved them, with interrupts that the kernel charged it with, whomever for."""
    user_s: float
    system_s: float
    """Of it without interrupts of the network, where those are told exactly; divided as the kernel divides it: by the
    ticks of its clock, where it has no finer account."""
    soft_interrupt_s: float
    interrupt_s: float
    """Soft ones, and devices' (an estimate): as `interrupts_by` says."""
    interrupts_upon_s: float
    """Of the network, that came upon the thread, whomever for, and are in `thread_s`; 0 where told by ticks."""
    interrupts_by: Interrupts
    """`exact`, those that worked for this end's socket, on whatever processor; `windows`, likewise, clocked at random
    moments that stand for the rest; `no network`, there are none; `ticks`, those of the whole host meanwhile, whoever
    they were for, in ticks of 10 ms."""
    interrupts_clocked: float | None
    """Which part of the time was clocked; None where none was."""
    interrupts_error_s: float | None
    """The standard error of the interrupts in `cpu_s`; None where they are exact, or nobody can tell."""
    interrupts_why: str | None
    """Why they are told by ticks; what is in doubt where they are not."""
    faults_minor: int
    faults_major: int
    switches_voluntary: int
    switches_involuntary: int
    load_5min: float
    broke_off: str | None
    """Why not all came over; None when all did."""

    @property
    def interrupt_work_s(self) -> float | None:
        """The interrupt work done for this end; None where only the whole host's is known."""
        return None if self.interrupts_by == "ticks" else self.soft_interrupt_s + self.interrupt_s

    @property
    def cpu_s(self) -> float:
        """What this end took of the host's processors: its thread's own time, and the interrupt work done for it.

        Where that work is not told, the thread's time, with whatever interrupts the kernel charged it with.
        """
        return max(self.thread_s - self.interrupts_upon_s, 0.0) + (self.interrupt_work_s or 0.0)

    @property
    def bits(self) -> int:
        """Bits of the file."""
        return 8 * self.bytes

    @property
    def bits_per_s(self) -> float | None:
        """Bits of the file a second of real time: the seed's column 4, whose printed formula is upside down."""
        return self.bits / self.real_s if self.bits and self.real_s else None

    @property
    def cpu_s_per_bit(self) -> float | None:
        """Processor time a bit of the file: the seed's column 5."""
        return self.cpu_s / self.bits if self.bits else None

    def cost(self, cpu_hour: float, bits: float) -> float | None:
        """What moving so many bits like these costs at a price for an hour of processor time."""
        each = self.cpu_s_per_bit
        return None if each is None else each * bits * cpu_hour / _HOUR_S


def row(side: Side, *, sends: bool, method: str, message_bytes: int, end: Mapping[str, Any]) -> Row:
    """The row of an `end` as `_loadgo.Transfer` tells it."""
    same = ("bytes", "wire_bytes", "counted_bytes", "messages", "calls", "faults_minor", "faults_major")
    switches = ("switches_voluntary", "switches_involuntary", "load_5min", "broke_off")
    told = ("interrupts_by", "interrupts_clocked", "interrupts_why")
    error_ns = end["interrupts_error_ns"]
    times = ("real", "soft_interrupt", "interrupt", "interrupts_upon")
    user_s, system_s = end["user_ns"] / 1e9, (end["system_ns"] - end["interrupts_upon_ns"]) / 1e9
    return Row(
        side=side,
        direction="s" if sends else "r",
        method=method,
        message_bytes=message_bytes,
        thread_s=end["cpu_ns"] / 1e9,
        interrupts_error_s=None if error_ns is None else error_ns / 1e9,
        user_s=max(user_s + min(system_s, 0.0), 0.0),
        system_s=max(system_s, 0.0),
        **{name: end[name] for name in (*same, *switches, *told)},
        **{f"{name}_s": end[f"{name}_ns"] / 1e9 for name in times},
    )
