"""Sentences of a report about a simulated machine and its time."""

from __future__ import annotations

from loadgo.measures.summary import Summary
from loadgo.notation.figures import seconds, setting


def simulated(summary: Summary) -> bool:
    """Whether the system is a simulated machine."""
    return summary.run.system.get("kind") == "machine"


def machine(summary: Summary) -> str:
    """A simulated machine in one line, with its changed values."""
    system = summary.run.system
    count, speed, frames = int(system.get("processors", 1)), system.get("speed", 1.0), system.get("frames")
    parts = [
        f"simulated: {system.get('title') or system.get('name') or 'an unnamed machine'}",
        f"{count} processor{'s' if count != 1 else ''}" + (f" of speed {setting(speed)}" if speed != 1 else ""),
        f"{frames:,} page frames" if frames else "",
        f"with {' '.join(system['set'])}" if system.get("set") else "",
        summary.run.started[:19].replace("T", " "),
    ]
    return ", ".join(part for part in parts if part)


def virtual_time(summary: Summary) -> str:
    """The virtual time of a simulated machine, and the source of its figures."""
    conditions, system = summary.run.conditions, summary.run.system
    source = f" ({system['source']})" if system.get("source") else ""
    virtual_s = conditions.get("virtual_s")
    lasted = f"; {seconds(virtual_s)} of virtual time" if virtual_s is not None else ""
    computed = f", computed in {seconds(conditions['computed_s'])}" if conditions.get("computed_s") else ""
    return f"simulated: {system.get('title', '')}{source}{lasted}{computed}."
