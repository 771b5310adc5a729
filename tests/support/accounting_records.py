"""Writes files of process accounting of version 3, record by record, as the kernel's `linux/acct.h` has them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

LAYOUT = "BBHIIIIIIf8H16s"
EPOCH_S = 1_760_000_000
"""The beginning of the first session that is made."""


@dataclass(frozen=True)
class MadeProcess:
    """A process that has ended."""

    command: str | bytes
    pid: int
    parent: int
    began_s: int
    elapsed_s: float = 0.1
    user_s: float = 0.0
    system_s: float = 0.0
    faults: int = 100
    major_faults: int = 0
    memory_kb: int = 4000
    uid: int = 1000
    terminal: int = 0x8801
    flag: int = 0
    version: int = 3

    def record(self, order: str = "<") -> bytes:
        """The record of 64 bytes, in an order of bytes."""
        name = self.command.encode() if isinstance(self.command, str) else self.command
        counts = (self.user_s * 100, self.system_s * 100, self.memory_kb, 0, 0, self.faults, self.major_faults, 0)
        version = self.version | (0x80 if order == ">" else 0)
        return struct.pack(
            order + LAYOUT, self.flag, version, self.terminal, 0, self.uid, self.uid, self.pid, self.parent,
            self.began_s, self.elapsed_s * 100, *(encoded(round(count)) for count in counts), name[:15],
        )  # fmt: skip


def encoded(count: int) -> int:
    """A count in 16 bits, as the kernel's `encode_comp_t` rounds it."""
    exponent, rounding = 0, 0
    while count > 0x1FFF:
        rounding, count, exponent = count & 4, count >> 3, exponent + 1
    count += rounding > 0
    return (exponent << 13) + count if count <= 0x1FFF else ((exponent + 1) << 13) + (count >> 3)


@dataclass
class MadeSession:
    """A session at a terminal: its commands in order, and then the shell's own record."""

    shell_pid: int
    began_s: int = EPOCH_S
    uid: int = 1000
    terminal: int = 0x8801
    shell: str = "bash"
    has_ended: bool = True
    commands: list[MadeProcess] = field(default_factory=list)

    def typed(self, command: str, **use: float) -> MadeSession:
        """Adds a command that begins 10 s after the one before it."""
        pid, began_s = self.shell_pid + 1 + len(self.commands), self.began_s + 10 * (1 + len(self.commands))
        self.commands.append(
            MadeProcess(command, pid, self.shell_pid, began_s, uid=self.uid, terminal=self.terminal, **use)  # type: ignore[arg-type]
        )
        return self

    def processes(self) -> list[MadeProcess]:
        """All records, the shell's last."""
        length_s = 10.0 * (2 + len(self.commands))
        shell = MadeProcess(
            self.shell, self.shell_pid, 900, self.began_s, length_s, uid=self.uid, terminal=self.terminal
        )
        return [*self.commands, *([shell] if self.has_ended else [])]


def written_accounting(path: Path, processes: Iterable[MadeProcess], order: str = "<") -> Path:
    """The file with the records of the processes."""
    path.write_bytes(b"".join(process.record(order) for process in processes))
    return path


def made_day(sessions: int = 24) -> list[MadeProcess]:
    """The processes of a day: every third session is heavy and compiles, the others list and read."""
    stream = random.Random(1974)
    processes = []
    for number in range(sessions):
        session = MadeSession(
            1000 + 100 * number, EPOCH_S + 1000 * number, uid=1000 + number % 4, terminal=0x8801 + number % 3
        )
        for typed in range(20 + number):
            if number % 3 == 2 and typed % 2:
                session.typed("cc1", user_s=0.2 + stream.expovariate(1), system_s=0.1, faults=9000, elapsed_s=3)
            else:
                session.typed(stream.choice(["ls", "cat", "git"]), elapsed_s=0.05)
        processes += session.processes()
    return processes


def written_history(path: Path, lines: int = 40, kind: str = "bash") -> Path:
    """A history of lines some seconds apart, in the manner of bash, or of zsh with a length of 2 s each."""
    drawn, began_s, text = random.Random(1974), EPOCH_S, ""
    for number in range(lines):
        began_s += 3 + round(drawn.expovariate(1 / 9))
        stamp = f"#{began_s}\n" if kind == "bash" else f": {began_s}:2;"
        text += f"{stamp}ls -l {number}\n"
    path.write_text(text, encoding="utf-8")
    return path
