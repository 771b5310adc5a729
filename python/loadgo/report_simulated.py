"""What a report says of a simulated machine: what it is, what its time is, and why its processors were idle."""

from __future__ import annotations

from loadgo.report_figures import duration
from loadgo.summary import Summary

_CATEGORIES = {
    "idle zero": "nobody wanted a processor",
    "idle loading": "the next program was being brought in",
    "idle not eligible": "somebody was ready, but beyond the multiprogramming limit or the memory",
    "idle governed": "somebody was ready, but held back by a quota",
    "idle page wait": "somebody waited for a page",
    "idle disk wait": "somebody waited for another device",
    "idle dispatch": "somebody was woken, and did not run yet",
}


def simulated(summary: Summary) -> bool:
    """Whether the system is a simulated machine."""
    return summary.run.system.get("kind") == "machine"


def machine(summary: Summary) -> str:
    """A simulated machine, in one line: what it is called, and what was changed of it."""
    told = summary.run.system
    count, speed, frames = int(told.get("processors", 1)), told.get("speed", 1.0), told.get("frames")
    parts = [
        f"simulated: {told.get('title') or told.get('name') or 'an unnamed machine'}",
        f"{count} processor{'s' if count != 1 else ''}" + (f" of speed {speed:g}" if speed != 1 else ""),
        f"{frames:,} page frames" if frames else "",
        f"with {' '.join(told['set'])}" if told.get("set") else "",
        summary.run.started[:19].replace("T", " "),
    ]
    return ", ".join(part for part in parts if part)


def virtual_time(summary: Summary) -> str:
    """What a simulated machine's time is, and where its figures are from."""
    told, system_told = summary.run.conditions, summary.run.system
    source = f" ({system_told['source']})" if system_told.get("source") else ""
    time = told.get("virtual_s")
    lasted = f"; {duration(time * 1e9)} of virtual time" if time is not None else ""
    computed = f", computed in {duration(told['computed_s'] * 1e9)}" if told.get("computed_s") else ""
    return f"simulated: {system_told.get('title', '')}{source}{lasted}{computed}."


def categories(summary: Summary) -> str:
    """What the categories of idle time mean that are there."""
    assert summary.total_time is not None
    there = [category.name for category in summary.total_time.categories]
    idle = [f"{name.removeprefix('idle ')}, {_CATEGORIES[name]}" for name in there if name in _CATEGORIES]
    return f"Time is exact. Idle by cause: {'; '.join(idle)}." if idle else "Time is exact."
