"""Limits of the users that their host cannot reach, and what the kernel did to keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadgo.notation.figures import number, setting, size


def limit_warnings(
    limit: Mapping[str, Any], system: Mapping[str, Any], conditions: Mapping[str, Any]
) -> tuple[str, ...]:
    """The warnings about the limits of a run's users, from the sections of `run.toml`."""
    return (*unreachable_limits(limit, system), *_memory_kills(limit, conditions))


def unreachable_limits(limit: Mapping[str, Any], system: Mapping[str, Any]) -> tuple[str, ...]:
    """A warning for each limit that is more than the host has: such a limit changes nothing.

    `limit` and `system` are sections of `run.toml`. What a section does not have is not judged.
    """
    warnings = []
    cpus, processors = limit.get("cpus"), system.get("processors")
    if cpus is not None and processors and cpus > processors:
        warnings.append(_unreachable(f"{setting(cpus)} processors", setting(processors)))
    memory, memory_of_host = limit.get("memory_bytes"), system.get("memory_bytes")
    if memory is not None and memory_of_host and memory > memory_of_host:
        warnings.append(_unreachable(f"{size(memory)} of memory", size(memory_of_host)))
    return tuple(warnings)


def _memory_kills(limit: Mapping[str, Any], conditions: Mapping[str, Any]) -> list[str]:
    """A warning if the kernel has killed processes of the users for want of memory."""
    kills = conditions.get("users_memory_kills_end")
    if not kills:
        return []
    killed = f"{number(kills)} process{'es' if kills > 1 else ''} of the users"
    held = f", since the users are held to {size(limit['memory_bytes'])} of memory" if "memory_bytes" in limit else ""
    return [
        f"The kernel killed {killed} for want of memory{held}. A shell reports such a program with exit status 137. "
        "Give the users more memory or a paging device (`--limit memory=…,swap=zram:1G`)."
    ]


def _unreachable(limit: str, of_host: str) -> str:
    return f"The limit of {limit} cannot be reached: the host has {of_host}. It holds nobody back."
