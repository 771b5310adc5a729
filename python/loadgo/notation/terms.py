"""Today's terms for stored names: what each is called where people read it, and its sentence in the glossary.

Tables, JSON and TOML keep the stored names. Text, pages and charts show the terms. `docs/glossary.md` has the same
sentences; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

System = Literal["host", "machine"]

IDLE_PREFIX = "idle: "
"""The beginning of the terms of idle time with a cause."""
_UNCLOCKED_SUFFIX = " unclocked"
_UNTIMED_SUFFIX = ", untimed"


@dataclass(frozen=True)
class Term:
    """The displayed name of something, and its meaning in the glossary."""

    name: str
    meaning: str
    host: str = ""
    """Addition to the meaning that is true of a host only."""
    machine: str = ""
    """Addition to the meaning that is true of a simulated machine only."""

    @property
    def sentence(self) -> str:
        """The meaning on hosts and on simulated machines."""
        additions = (("Host", self.host), ("Machine", self.machine))
        return " ".join([self.meaning, *(f"{system}: {addition}." for system, addition in additions if addition)])

    def sentence_on(self, system: System) -> str:
        """The meaning on one kind of system: `Idle, while a task is not let run: over memory.high.`"""
        addition = self.host if system == "host" else self.machine
        return f"{self.meaning.removesuffix('.')}: {addition}." if addition else self.meaning


CATEGORY_TERMS: Mapping[str, Term] = {
    "user": Term("user mode", "The programs themselves, outside of the kernel."),
    "nice": Term("nice", "The programs themselves at a lower priority."),
    "system": Term("system", "The kernel for programs and for itself, without interrupts."),
    "primitive": Term(
        "system call",
        "The kernel, from a program's call to its return, without faults and interrupts in it.",
    ),
    "page fault": Term("page fault", "The kernel while it handles a page fault. The wait for the page is not in it."),
    "segment fault": Term(
        "page-table fault",
        "A page fault that had to make a page table.",
        host="the first touch of a part of the address space",
        machine="the first touch of a segment",
    ),
    "bound fault": Term(
        "memory growth",
        "The kernel while it makes a program's memory larger.",
        host="the heap (brk) or the stack",
        machine="a segment",
    ),
    "wall crossing": Term("ring crossing", "A call through a protection wall, on a simulated machine."),
    "terminal": Term("terminal I/O", "Lines from and to terminals, on a simulated machine."),
    "network": Term("network", "Messages from and to the network, on a simulated machine."),
    "process creation": Term("process creation", "Making a process, on a simulated machine."),
    "lock wait": Term("lock wait", "Looping until another processor releases a lock, on a simulated machine."),
    "getwork": Term("context switch", "Choosing the next task and switching to it."),
    "interrupt": Term("interrupt", "Handling interrupts of devices, timers and other processors."),
    "irq": Term("irq", "The kernel's own account of interrupts, in ticks."),
    "soft interrupt": Term("soft interrupt", "Work that interrupts have put off, where no kernel thread does it."),
    "softirq": Term("softirq", "The kernel's own account of soft interrupts, in ticks."),
    "kernel thread": Term("kernel thread", "The kernel's own tasks."),
    "uncharged": Term("unaccounted", "Time before a processor was first seen."),
    "meters": Term("meter programs", "loadgo's own programs in the kernel, by calibration."),
    "steal": Term("steal", "Time that the hypervisor gave to other machines while a task was ready here."),
    "iowait": Term("iowait", "The kernel's own account: idle, while a task waits for storage."),
    "idle": Term("idle", "The kernel's own account of idle time, whatever its cause."),
    "idle zero": Term("idle: nothing to run", "Idle, and no task wants the processor."),
    "idle page wait": Term("idle: waiting for a page", "Idle, while a task waits for a page."),
    "idle disk wait": Term("idle: waiting for the disk", "Idle, while a task waits for storage otherwise."),
    "idle dispatch": Term("idle: wake-up delay", "Idle, while a task is ready and no processor has taken it up yet."),
    "idle governed": Term("idle: throttled", "Idle, while a task could run and its quota (cpu.max) is used up."),
    "idle not eligible": Term(
        "idle: not eligible",
        "Idle, while a task is not let run.",
        host="over memory.high, waiting for reclaim, or frozen",
        machine="beyond the multiprogramming limit or the memory",
    ),
    "idle loading": Term(
        "idle: loading a program",
        "Idle, while a program is brought into memory.",
        host="a wait in execve, or in a program's first 2 ms",
    ),
}
"""The categories of processors' time, by their names in the table `time`."""

FAULT_TERMS: Mapping[str, Term] = {
    "minor": Term("minor", "A page fault that needed no device."),
    "major": Term("major", "A page fault that waited for a device."),
    "swap-in": Term("swap-in", "A major fault whose page came from a paging device."),
    "write-protect": Term("write-protect", "A write to a page that was there to be read."),
    "segment": Term("new page table", "A page fault that made a page table."),
    "bound": Term("growth", "A fault that made the stack larger, or on a simulated machine a segment."),
    "interrupt": CATEGORY_TERMS["interrupt"],
    "soft interrupt": CATEGORY_TERMS["soft interrupt"],
}
"""The kinds of faults, by their names in the table `faults`. A kind may end in ` unclocked`."""

_UNTIMED_MEANING = "Counted without a time, since no meter program timed them."

OPERATION_TERMS: Mapping[str, Term] = {
    "line in": Term("terminal input", "A line from a terminal, on a simulated machine."),
    "line out": Term("terminal output", "A line to a terminal, on a simulated machine."),
    "process creation": CATEGORY_TERMS["process creation"],
    "wall crossing": CATEGORY_TERMS["wall crossing"],
    "network message": Term("network message", "A message from or to the network, on a simulated machine."),
}
"""The operations of a simulated supervisor, by their names in `primitives`. A host's system calls keep their names."""

OWNER_TERMS: Mapping[str, Term] = {
    "users": Term("users", "All processes of the users."),
    "driver": Term("driver", "loadgo's thread that types the users' lines."),
    "meters": Term("sampling", "loadgo's threads that sample and write, and do the reference work of a run."),
    "supervisor": Term("supervisor", "The operating system of a simulated machine."),
    "unattributed": Term("others", "Busy time of none of these: other programs, and the kernel's own work."),
}
"""The owners of busy time, by their names in the table `processes`."""

METER_NAMES: Mapping[str, str] = {
    "primitives": "system calls",
    "segments": "mappings",
    "getwork": "context switches",
    "queue": "run queue",
    "clock": "sampling clock",
}
"""The meters whose names in `run.toml` are not today's."""


def category_term(category: str) -> Term:
    """The term of a category of processors' time. An unknown name is its own term."""
    return CATEGORY_TERMS.get(category, Term(category, ""))


def category_name(category: str) -> str:
    """The displayed name of a category of processors' time."""
    return category_term(category).name


def idle_cause(category: str) -> str:
    """The displayed name of an idle category after the word `idle`: `waiting for a page`."""
    return category_name(category).removeprefix(IDLE_PREFIX)


def fault_term(kind: str) -> Term:
    """The term of a kind of faults. A kind that was counted without a time is *untimed*."""
    timed = kind.removesuffix(_UNCLOCKED_SUFFIX)
    term = FAULT_TERMS.get(timed, Term(timed, ""))
    return (
        term if timed == kind else Term(f"{term.name}{_UNTIMED_SUFFIX}", f"{term.meaning} {_UNTIMED_MEANING}".strip())
    )


def fault_name(kind: str) -> str:
    """The displayed name of a kind of faults, or of a device's interrupts: `minor, untimed`."""
    return fault_term(kind).name


def operation_name(operation: str) -> str:
    """The displayed name of a system call, or of an operation of a simulated supervisor."""
    return OPERATION_TERMS[operation].name if operation in OPERATION_TERMS else operation


def owner_name(owner: str) -> str:
    """The displayed name of an owner of busy time."""
    return OWNER_TERMS[owner].name if owner in OWNER_TERMS else owner


def meter_name(meter: str) -> str:
    """The displayed name of a meter."""
    return METER_NAMES.get(meter, meter)


_WAIT_NAMES = {"ready wait": "CPU wait", "paging wait": "page wait", "I/O wait": "disk wait"}


def factor_name(name: str) -> str:
    """The displayed name of a factor or part that a category or a wait gives its name: `getwork: how many`."""
    stored, colon, rest = name.partition(": ")
    return f"{_WAIT_NAMES.get(stored) or category_name(stored)}{colon}{rest}"
