"""Units of time with their lengths."""

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
"""Nanoseconds of each unit. The two signs for micro look alike: the micro sign and the Greek letter mu."""
TIME_S: Mapping[str, float] = {unit: ns / 1e9 for unit, ns in TIME_NS.items()}
"""Seconds of each unit."""
