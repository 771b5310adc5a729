"""Files that hold the users of a host to a limit: a drop-in for systemd's slices of users, and `limits.conf`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loadgo.notation.figures import setting
from loadgo.sizing.knobs.knob import Knob
from loadgo.sizing.knobs.results import RecommendedFile

SLICE_PATH = "systemd/system/user-.slice.d/50-loadgo.conf"
LIMITS_PATH = "security/limits.d/50-loadgo.conf"


def recommended_files(limits: Mapping[str, Any], evidence: Sequence[str], knob: Knob) -> tuple[RecommendedFile, ...]:
    """The files for the limits of each user, by the names of `parse_limit_each`, with the evidence as comments.

    None for a limit of all users together or of one class: these files know neither.
    """
    if knob.scope == "limit" or knob.user_class:
        return ()
    comments = "".join(f"# {line}\n" for line in evidence)
    files = [RecommendedFile(SLICE_PATH, f"{comments}[Slice]\n{_slice_lines(limits)}")]
    lines = _pam_lines(limits)
    return (*files, RecommendedFile(LIMITS_PATH, comments + lines)) if lines else tuple(files)


def _slice_lines(limits: Mapping[str, Any]) -> str:
    values = {
        "CPUQuota": None if limits.get("cpus") is None else f"{setting(round(100 * limits['cpus'], 1))}%",
        "MemoryMax": limits.get("memory_bytes"),
        "MemorySwapMax": limits.get("swap_bytes"),
        "TasksMax": limits.get("pids"),
        "IOReadBandwidthMax": _on_root(limits.get("io_bytes_per_s")),
        "IOWriteBandwidthMax": _on_root(limits.get("io_bytes_per_s")),
    }
    return "".join(f"{key}={value}\n" for key, value in values.items() if value is not None)


def _on_root(bytes_per_s: int | None) -> str | None:
    """A limit of the disk that holds the root file system."""
    return None if bytes_per_s is None else f"/ {bytes_per_s}"


def _pam_lines(limits: Mapping[str, Any]) -> str:
    """The lines of `limits.conf`, which knows of these limits the number of processes and the nice value alone."""
    pids, nice = limits.get("pids"), limits.get("nice")
    lines = [] if pids is None else [f"*\thard\tnproc\t{pids}\n"]
    lines += [] if nice is None else [f"*\t-\tpriority\t{nice}\n"]
    return "".join(lines)
