"""The reader of each kind of log."""

from __future__ import annotations

from collections.abc import Callable

from loadgo.observation.logs.atuin_history import read_atuin
from loadgo.observation.logs.audit_log import read_audit_log
from loadgo.observation.logs.history_log import read_history_log
from loadgo.observation.logs.log_read import LogRead
from loadgo.observation.logs.tlog_messages import read_tlog
from loadgo.observation.source_files import SourceFile, SourceKind

LOG_READERS: dict[SourceKind, Callable[[SourceFile], LogRead]] = {
    "shell history": read_history_log,
    "tlog recording": read_tlog,
    "audit log": read_audit_log,
    "atuin history": read_atuin,
}
THINK_KINDS: tuple[SourceKind, ...] = ("shell history", "atuin history", "tlog recording", "sudo I/O log")
"""The kinds of logs that have think times."""
ORDERED_KINDS: tuple[SourceKind, ...] = THINK_KINDS
"""The kinds of logs that have lines in the order in which they were typed. Of a pipeline, auditd has each stage."""
