"""What a report says of a simulated machine: what it is, and what its time is."""

from __future__ import annotations

from loadgo.measures.summary import Summary
from loadgo.notation.figures import seconds


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
    lasted = f"; {seconds(time)} of virtual time" if time is not None else ""
    computed = f", computed in {seconds(told['computed_s'])}" if told.get("computed_s") else ""
    return f"simulated: {system_told.get('title', '')}{source}{lasted}{computed}."
