"""Files that hold the users of a host to a limit: a drop-in for systemd's slices of users, and `limits.conf`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loadgo.notation.figures import setting
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.results import RecommendedFile

SLICE_PATH = "systemd/system/user-.slice.d/50-loadgo.conf"
LIMITS_PATH = "security/limits.d/50-loadgo.conf"

ACCOUNT_TASKS = 16
"""Processes and threads of an account that are in no session of a run, and that its limits must leave room for.

They are `systemd --user` and `(sd-pam)`, two of sshd for each of two log-ins, and a shell for the second one. Nine are
for services such as dbus.
"""
_SLICE_COMMENT = (
    "# The slice of an account holds all its log-ins, sshd and systemd --user: their memory and processor time count.\n"
)


def recommended_files(limits: Mapping[str, Any], evidence: Sequence[str], knob: Knob) -> tuple[RecommendedFile, ...]:
    """The files for the limits of each user, by the names of `parse_limit_each`, with the evidence as comments.

    None for a limit of all users together or of one class: these files know neither.
    """
    if knob.scope == "limit" or knob.user_class:
        return ()
    comments = "".join(f"# {line}\n" for line in evidence)
    files = [RecommendedFile(SLICE_PATH, f"{comments}{_SLICE_COMMENT}[Slice]\n{_slice_lines(limits)}")]
    lines = _pam_lines(limits)
    return (*files, RecommendedFile(LIMITS_PATH, comments + lines)) if lines else tuple(files)


def _slice_lines(limits: Mapping[str, Any]) -> str:
    values = {
        "CPUQuota": None if limits.get("cpus") is None else f"{setting(round(100 * limits['cpus'], 1))}%",
        "MemoryMax": limits.get("memory_bytes"),
        "MemorySwapMax": limits.get("swap_bytes"),
        "TasksMax": _of_account(limits.get("pids")),
        "IOReadBandwidthMax": _on_root(limits.get("io_bytes_per_s")),
        "IOWriteBandwidthMax": _on_root(limits.get("io_bytes_per_s")),
    }
    lines = {key: f"{key}={value}\n" for key, value in values.items() if value is not None}
    if "TasksMax" in lines:
        lines["TasksMax"] = _allowance_comment(limits["pids"]) + lines["TasksMax"]
    return "".join(lines.values())


def _of_account(pids: int | None) -> int | None:
    """The limit of processes of an account, of which one user of the trials is a session."""
    return None if pids is None else pids + ACCOUNT_TASKS


def _allowance_comment(pids: int) -> str:
    """The comment above a limit of processes, which is not the one of the trials."""
    return (
        f"# {pids} were tried, and {ACCOUNT_TASKS} are added for what else an account runs: systemd --user, (sd-pam), "
        "sshd, services, one more log-in.\n"
        f"# All log-ins of an account share it: for two sessions at once that work like the tried users, add {pids}.\n"
    )


def _on_root(bytes_per_s: int | None) -> str | None:
    """A limit of the disk that holds the root file system."""
    return None if bytes_per_s is None else f"/ {bytes_per_s}"


def _pam_lines(limits: Mapping[str, Any]) -> str:
    """The lines of `limits.conf`, which knows of these limits the number of processes and the nice value alone."""
    pids, nice = limits.get("pids"), limits.get("nice")
    lines = [] if pids is None else [f"{_allowance_comment(pids)}*\thard\tnproc\t{_of_account(pids)}\n"]
    lines += [] if nice is None else [f"*\t-\tpriority\t{nice}\n"]
    return "".join(lines)
