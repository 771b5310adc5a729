"""One end of a transfer as a row: the columns of the tables of RFC 392, and further figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Side = Literal["here", "there"]
InterruptSource = Literal["exact", "windows", "no network", "ticks"]
BITS_PER_MEGABIT = 1e6
BITS_PER_GIGABYTE = 8e9
"""Number of bits in a gigabyte."""
OTHERS_LOAD = 3.0
"""Load average from which other processes than the two ends of a transfer surely ran. Chosen by hand."""
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Row:
    """Data moved and resources used by one end. Times are in seconds; None means not measured."""

    side: Side
    direction: Literal["s", "r"]
    """`s` if this end sent, `r` if it received."""
    method: str
    message_bytes: int
    """Largest number of bytes in a call."""
    bytes: int
    """Size of the file."""
    wire_bytes: int
    """Bytes on the connection, with the headers of records."""
    counted_bytes: int | None
    """Bytes that the socket itself counted. None for Unix sockets, which do not count."""
    messages: int
    calls: int
    """System calls that moved data, or waited for it."""
    real_s: float
    """Sending: from the first byte read to the last byte handed to the network.

    Receiving: from the first readable byte until the file is closed.
    """
    thread_s: float
    """Processor time of the thread that moved the data, with all interrupts that the kernel charged to it."""
    user_s: float
    system_s: float
    """System time of the thread, without network interrupts if these are exact.

    The kernel divides user and system time, on most hosts by the ticks of its clock.
    """
    soft_interrupt_s: float
    interrupt_s: float
    """Time in device interrupts, an estimate, as `interrupts_by` says."""
    interrupts_upon_s: float
    """Network interrupts that interrupted the thread, for any socket: a part of `thread_s`. 0 for `ticks`."""
    interrupts_by: InterruptSource
    """Source of the interrupt times.

    - `exact`: interrupts for this end's socket, on any processor;
    - `windows`: the same, clocked in random windows that stand for the time around them;
    - `no network`: there are no such interrupts;
    - `ticks`: interrupts of the whole host during the transfer, in ticks of 10 ms.
    """
    interrupts_clocked: float | None
    """Share of the transfer's time in which interrupts were clocked. None if they never were."""
    interrupts_error_s: float | None
    """Standard error of the interrupts in `cpu_s`. None if they are exact, or the error is not known."""
    interrupts_why: str | None
    """The reason why interrupts are known by ticks only, or a doubt about their accuracy."""
    faults_minor: int
    faults_major: int
    switches_voluntary: int
    switches_involuntary: int
    load_5min: float
    broke_off: str | None
    """The reason why not all data arrived. None if all did."""

    @property
    def interrupt_work_s(self) -> float | None:
        """Interrupt time for this end. None if only the whole host's is known."""
        return None if self.interrupts_by == "ticks" else self.soft_interrupt_s + self.interrupt_s

    @property
    def cpu_s(self) -> float:
        """Processor time of this end: the time of its thread, and interrupt time for it.

        If the interrupt time is not known: the thread's time, with all interrupts that the kernel charged to it.
        """
        return max(self.thread_s - self.interrupts_upon_s, 0.0) + (self.interrupt_work_s or 0.0)

    @property
    def bits(self) -> int:
        """Number of bits of the file."""
        return 8 * self.bytes

    @property
    def bits_per_s(self) -> float | None:
        """Bits of the file per second of real time: column 4 of RFC 392, whose printed formula is inverted."""
        return self.bits / self.real_s if self.bits and self.real_s else None

    @property
    def cpu_s_per_bit(self) -> float | None:
        """Processor time per bit of the file: column 5 of RFC 392."""
        return self.cpu_s / self.bits if self.bits else None

    def cost(self, cpu_hour: float, bits: float) -> float | None:
        """Cost of moving `bits` at the measured rate, by the price of an hour of processor time."""
        each = self.cpu_s_per_bit
        return None if each is None else each * bits * cpu_hour / _HOUR_S


def row(side: Side, *, sends: bool, method: str, message_bytes: int, end: Mapping[str, Any]) -> Row:
    """The row of an `end` that `_loadgo.Transfer` returned."""
    counts = ("bytes", "wire_bytes", "counted_bytes", "messages", "calls", "faults_minor", "faults_major")
    switches = ("switches_voluntary", "switches_involuntary", "load_5min", "broke_off")
    interrupt_notes = ("interrupts_by", "interrupts_clocked", "interrupts_why")
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
        **{name: end[name] for name in (*counts, *switches, *interrupt_notes)},
        **{f"{name}_s": end[f"{name}_ns"] / 1e9 for name in times},
    )
