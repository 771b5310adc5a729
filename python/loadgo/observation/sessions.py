"""The sessions of an observation, and in each the commands with what they used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandUse:
    """One command that was typed, and what it used with all its processes. None is not known."""

    name: str
    user_ns: int | None = None
    system_ns: int | None = None
    faults_minor: int | None = None
    faults_major: int | None = None
    held_pages: int | None = None
    """Pages of the largest address space among its processes when it ended: more than it held in memory."""
    processes: int | None = None
    elapsed_ns: int | None = None
    queued_ns: int | None = None
    """Time for which its processes were ready and had no processor."""
    read_bytes: int | None = None
    """Bytes that it read by calls, from files, pipes and terminals."""
    written_bytes: int | None = None
    storage_read_bytes: int | None = None
    """Bytes that were read from storage for it; what was in memory already is not among them."""
    storage_written_bytes: int | None = None
    """Bytes that it left to be written to storage."""
    think_ns: int | None = None
    """The pause before it, if that was seen and is no absence."""

    @property
    def cpu_ns(self) -> int | None:
        """Processor time, of the user and of the system."""
        return None if self.user_ns is None or self.system_ns is None else self.user_ns + self.system_ns


@dataclass(frozen=True)
class ObservedSession:
    """A session of one person: lines at one terminal, or batch jobs that follow each other."""

    person: int
    began_s: int
    ended_s: int
    commands: tuple[CommandUse, ...]
    is_batch: bool = False
    """Whether its commands are jobs without a terminal."""
    shell: str = ""
    """The name of the shell that the lines were typed to. Empty if it is not known."""
