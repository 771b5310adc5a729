"""Errors of the times into which a sampling clock divides the busy time.

The cheap meters know each processor's busy time exactly, and its parts from what the clock found. So a part is a
binomial share. Its interval is that of Agresti and Coull (The American Statistician 52, 1998, 119-126), which is honest
for rare parts too. Measured over repeated runs, the parts scatter as the binomial law says, or less (docs/meters.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

SAMPLED_CATEGORIES = ("user", "primitive", "page fault", "interrupt", "soft interrupt", "getwork")
"""The categories that divide the time of tasks. The clock's other samples fell on the kernel's own tasks."""

SAMPLED_TIER = "sampled"
"""The meters that clock system calls, faults and interrupts in random windows."""

_FIRST_CLOCK_HZ = 1000
"""Samples a second in runs whose `run.toml` does not say it: all had the same."""

_REACH_IN_ERRORS = 1.96
"""Half of a 95 % interval in standard errors, by the normal law."""


def dividing_clock_hz(meters_section: Mapping[str, Any]) -> int:
    """Samples a second of each busy processor that divide its time, by `[meters]` of `run.toml`; 0 without any."""
    if meters_section.get("tier") not in ("cheap", "cheap,locks", "cheap,profile", SAMPLED_TIER):
        return 0
    return int(meters_section.get("clock_hz", _FIRST_CLOCK_HZ))


def sampling_error_ns(parts_ns: Sequence[int], divided_ns: Sequence[int], hz: int) -> float:
    """Half of the 95 % interval of a category's time.

    `parts_ns` is its time on each processor, `divided_ns` the time there that was divided by `hz` samples a second.
    """
    squares = (_error_ns(part, whole, hz) ** 2 for part, whole in zip(parts_ns, divided_ns, strict=True))
    return math.sqrt(sum(squares))


def _error_ns(part_ns: int, whole_ns: int, hz: int) -> float:
    if not whole_ns:
        return 0.0
    samples = whole_ns * hz / 1e9
    all_samples = samples + _REACH_IN_ERRORS**2
    share = (samples * part_ns / whole_ns + _REACH_IN_ERRORS**2 / 2) / all_samples
    return whole_ns * _REACH_IN_ERRORS * math.sqrt(share * (1 - share) / all_samples)
