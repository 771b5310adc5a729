"""Units of time, rates and sizes: the one table of how much each is."""

from __future__ import annotations

from collections.abc import Mapping

TIME_NS: Mapping[str, float] = {
    "ns": 1.0,
    "us": 1e3,
    "µs": 1e3,
    "μs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "min": 6e10,
    "h": 3.6e12,
}
"""Nanoseconds of each unit. The two signs for micro look alike: a sign of its own, and the Greek letter."""
PERIOD_S: Mapping[str, float] = {"/s": 1.0, "/min": 60.0, "/h": 3600.0}
"""Seconds of the period that a rate's unit names."""
RATE_PER_S: Mapping[str, float] = {unit: 1 / period_s for unit, period_s in PERIOD_S.items()}
"""Events a second of one event in each unit."""
UNIT_BYTES: Mapping[str, int] = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
"""Bytes of each unit."""
