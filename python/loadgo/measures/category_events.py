"""The number of events for which processors spent the time of each category."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgo.measures.meters import Meters

# The events of each category: kinds of faults, or names of system calls.
_FAULT_KINDS = {
    "page fault": ("major", "minor", "swap-in", "write-protect"),
    "segment fault": ("segment",),
    "bound fault": ("bound",),
    "interrupt": ("interrupt",),
    "soft interrupt": ("soft interrupt",),
}
_CALL_NAMES = {
    "terminal": ("line in", "line out"),
    "wall crossing": ("wall crossing",),
    "network": ("network message",),
    "process creation": ("process creation",),
}


def events_by_category(meters: Meters) -> dict[str, int]:
    """Number of faults, system calls and dispatches that the meters counted, by category of processor time."""
    is_counted = meters.windows is None  # by windows, the number is another measurement than the time
    faults = {row.name: row.count for row in meters.faults if is_counted}
    calls = {row.name: row.count for row in meters.primitives if is_counted}
    counts = {category: [faults[kind] for kind in kinds if kind in faults] for category, kinds in _FAULT_KINDS.items()}
    counts |= {category: [calls[name] for name in names if name in calls] for category, names in _CALL_NAMES.items()}
    counts["primitive"] = list(calls.values())
    if meters.ready is not None and meters.ready.switches is not None:
        counts["getwork"] = [meters.ready.switches]
    return {category: sum(events) for category, events in counts.items() if events}
