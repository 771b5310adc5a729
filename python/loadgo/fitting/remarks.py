"""What is said beside a fit: where it is from, how its users were, how to predict with it, what it is not good for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from loadgo.fitting.law_choice import chosen
from loadgo.fitting.machine_file import Heading, OwnLoad
from loadgo.fitting.reading import Reading
from loadgo.fitting.trial import Check, is_open
from loadgo.fitting.unowned_time import Unowned
from loadgo.notation.figures import people
from loadgo.notation.laws import number, written

_OTHERS = 0.05
"""From this share of the processors' time on, what others used of it is worth a warning."""
_OFF = 0.1
_SURELY = 2.0
"""A machine that is off by a tenth under its own load, and by so many standard errors, is no model of the system."""
_DEARER = 0.05


def heading_of(readings: Sequence[Reading], interactions: int, name: str | None) -> Heading:
    """The title and the source of the machine."""
    first = readings[0]
    system = first.conditions.get("system", {})
    where = str(system.get("hostname") or system.get("title") or system.get("name"))
    users = people(*sorted({one.users for one in readings}))
    script = first.conditions.get("name")
    runs = ", ".join(one.id for one in readings)
    source = f"fitted by loadgo to {interactions:,} interactions of {script} with {users} on {where}: {runs}"
    return Heading(name or f"{where}, as {script} found it", source)


def own_load_of(readings: Sequence[Reading], rows: pl.DataFrame) -> OwnLoad:
    """The users as they were: their pauses from prompt to sending, and the script's commands in its order."""
    pauses = rows["thinking"].to_numpy()
    think = written(chosen(np.maximum(pauses, 0.0)).law) if pauses.mean() > 0 else "none"
    first = rows.unique("line", keep="first").sort("line")
    rate = sum(one.stretch.counted for one in readings) / max(sum(one.span_s for one in readings), 1e-9)
    users = None if any(is_open(one) for one in readings) else max(one.users for one in readings)
    return OwnLoad(users, think, f"{number(rate)}/s", tuple(first["command"]))


def hint_of(readings: Sequence[Reading], path: Path | None) -> str:
    """A command that predicts: the think time is the script's, or what the run was told instead."""
    load, script = readings[0].conditions["load"], readings[0].conditions.get("script", "SCRIPT")
    think = f" --think {shlex.quote(str(load['think']))}" if "think" in load else ""
    machine = shlex.quote(str(path)) if path is not None else "machine.toml"
    many = f"--users {4 * readings[0].users}"
    if is_open(readings[0]):
        many = f"--arrivals {number(2 * float(load.get('arrivals_per_second', 1)))} --for 1h"
    return f"loadgo run {shlex.quote(str(script))} --on {machine} {many}{think}"


def warnings_of(readings: Sequence[Reading], unowned: Unowned | None, checks: Sequence[Check]) -> tuple[str, ...]:
    """What makes the fit worse than it looks."""
    found = []
    lost = sum(one.lost for one in readings)
    if lost:
        found.append(f"{lost} records of these runs are lost: what they would have said is not in the machine")
    silent = sorted(_typed(readings) - {str(name) for one in readings for name in one.rows["command"].unique()})
    if silent:
        found.append(
            f"nobody was ever answered, or nobody metered: {', '.join(silent)}; the machine does not know them"
        )
    taken = _taken_by_others(readings, unowned)
    others = taken > _OTHERS
    if others:
        found.append(
            f"{100 * taken:.1f} % of the processors' time went to others than these users and loadgo: "
            "the machine is the host without them, and its commands' processor time is that of a busy host"
        )
    return (*found, *([] if others else _wrong(checks)), *_dearer(readings))


def _taken_by_others(readings: Sequence[Reading], unowned: Unowned | None) -> float:
    """The share of the processors' time that others had, as reports tell it; where nobody's time was told apart, what
    is busy without anybody's line.
    """
    told = [(one.total.others_share, one.span_s) for one in readings if one.total is not None and one.kind == "host"]
    known = [(share, span_s) for share, span_s in told if share is not None]
    whole_s = sum(span_s for _, span_s in known)
    if whole_s > 0:
        return sum(share * span_s for share, span_s in known) / whole_s
    return 0.0 if unowned is None else unowned.background / readings[0].processors


def _typed(readings: Sequence[Reading]) -> set[str]:
    return {str(name) for one in readings for name in one.tables.interactions["command"].cast(pl.String).unique()}


def _wrong(checks: Sequence[Check]) -> list[str]:
    """Whether the machine does not even give what it was fitted to."""
    known = [(abs(one.off), one) for one in checks if one.error is not None and abs(one.off) > _SURELY * one.error]
    off, worst = max(known, key=lambda pair: pair[0], default=(0.0, None))
    if worst is None or off <= _OFF:
        return []
    return [
        f"with the {people(worst.users)} that it was fitted to, the machine's mean response is "
        f"{100 * worst.off:+.0f} % off: something of this system is not in the machine, and its predictions are no "
        "better"
    ]


def _dearer(readings: Sequence[Reading]) -> list[str]:
    """Whether a command costs more processor time among more users, which no machine file can say."""
    few, many = min(readings, key=lambda one: one.users), max(readings, key=lambda one: one.users)
    if few.users == many.users:
        return []
    by_command = [
        one.rows.group_by("command").agg(pl.col("cpu").mean(), (pl.col("cpu").std() / pl.len().sqrt()).alias("error"))
        for one in (few, many)
    ]
    both = by_command[0].join(by_command[1], on="command", suffix="_many").drop_nulls()
    first, then = float(both["cpu"].sum()), float(both["cpu_many"].sum())
    error = float(np.sqrt(float((both["error"] ** 2).sum()) + float((both["error_many"] ** 2).sum()))) / max(first, 1.0)
    change = then / first - 1 if first else 0.0
    if abs(change) <= max(_DEARER, _SURELY * error):
        return []
    return [
        f"the commands take {100 * change:+.0f} % processor time with {people(many.users)} against {few.users}: "
        "the machine has the mean of all runs, and is too fast for more users or too slow for fewer"
    ]
