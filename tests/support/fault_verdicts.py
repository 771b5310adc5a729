"""Verdicts on a run that got a fault: its end, what it left behind, and what its folder says."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
from loadgo.errors import BadRun
from loadgo.records.tables import Tables

from support.fault_deeds import Scene
from support.kernel_programs import loaded
from support.outside import LOOK_EVERY_S, PATIENCE_S, STATE, left_behind

DOCUMENTED = frozenset((0, 1, 2))
"""The statuses of a run that no signal ended (docs/run.md)."""
ROW_AGE_S = 0.6 if "LOADGO_RANDOM_FAULTS" in os.environ else 60.0
"""A row of this age is in its stream: loadgo says 0.4 s. In `make test`, on a busy host, no row gets so old."""
OWN_PANIC = re.compile(r"panicked at (crates/(?!polars)|src/)")
"""A panic of loadgo's own code. One of a library, in words of its own before ours, is no fault of loadgo."""
FULL_EVERY = 4
"""Number of runs of which one has its full report read as text, too."""
UNDOING_WORDS = (
    "is undone by the next run",
    "could not be undone",
    "remove what is named by hand",
    "remains",
    "remove it by hand",
    "undo it by hand",
)
"""Words by which a run tells that something of it stays."""
HARMED = ("run folder", "disk of the run", "truncated", "kill -9")
"""Kinds after which the run's folder may be gone or damaged: reading it then ends in words."""


@dataclass(frozen=True)
class Ending:
    """How a run ended, and what was seen of it on the way."""

    status: int
    out: str
    err: str
    hangs: str
    """Where its threads were when patience ended; empty if it ended by itself."""
    programs: frozenset[int]
    """The kernel programs that it held when the fault came."""
    lines_until: Callable[[float], list[int]]
    """The user of each line that was done by a moment."""
    fault_at: float
    """When the fault came, by the monotonic clock."""


def faults_of(scene: Scene, ending: Ending) -> list[str]:
    """All that is bad, in words."""
    return [*_of_end(scene, ending), *_of_leftovers(scene, ending), *_of_records(scene, ending)]


# The end of the process.


def _of_end(scene: Scene, ending: Ending) -> Iterator[str]:
    status, printed = ending.status, f"{ending.out[-1500:]}\n--- stderr\n{ending.err[-4000:]}"
    if ending.hangs:
        yield f"it does not end: {ending.hangs}\n{printed}"
        return
    if "Traceback" in ending.err or OWN_PANIC.search(ending.err):
        yield f"a traceback or panic: {printed}"
    allowed = DOCUMENTED | {number + 128 for number in scene.sent} | ({130} if scene.sent else set())
    if signal.SIGKILL in scene.sent:
        allowed |= {-signal.SIGKILL}
    if status not in allowed:
        yield f"status {status}: {printed}"
    elif status > 1 and not re.search("^loadgo: ", ending.err, re.MULTILINE):
        yield f"status {status} without words of loadgo: {printed}"
    elif status == 1 and not (ending.out + ending.err).strip():
        yield "status 1 in silence"


# What stays on the host.


def _of_leftovers(scene: Scene, ending: Ending) -> Iterator[str]:
    """Leftovers. After a kill, and where the run says that something stays, the next run undoes them."""
    left = _left(scene, ending)
    was_killed = ending.status == -signal.SIGKILL or bool(ending.hangs)
    is_told = any(words in ending.err for words in UNDOING_WORDS)
    if left and not (was_killed or is_told):
        yield f"left behind, and not told: {left}; status {ending.status}\n{ending.err[-3000:]}"
    if left or was_killed:
        scene.bench.script('think = "none"\npasses = 1\nlines = ["true"]\n', "next")
        words = ("run", "next.toml", "--quiet", "--meters", "none", "--out", "next")
        after = scene.bench.typed(*words, status=None)
        if after.returncode not in (0, 1):
            yield f"the next run ends with {after.returncode}: {after.stderr}"
        if left := _left(scene, ending):
            yield f"left behind after the next run, too: {left}"


def _left(scene: Scene, ending: Ending) -> list[str]:
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    homes = f" {scene.bench.homes}/"
    return [
        *left_behind(scene.bench),
        *(line for line in mounts if homes in line),
        *(f"kernel program {number}" for number in ending.programs if _stays_loaded(number)),
        *_locks_below(scene),
        *_states_of(scene),
    ]


def _stays_loaded(number: int) -> bool:
    """Whether a program stays in the kernel, which removes one some time after its process has ended."""
    give_up = time.monotonic() + PATIENCE_S / 10
    while loaded(number):
        if time.monotonic() > give_up:
            return True
        time.sleep(LOOK_EVERY_S)
    return False


def _locks_below(scene: Scene) -> list[str]:
    """Locks of other processes on the run's folder."""
    if not scene.run.is_dir():
        return []
    inode = scene.run.stat().st_ino
    device = scene.run.stat().st_dev
    place = f"{os.major(device):02x}:{os.minor(device):02x}:{inode} "
    return [f"lock {line}" for line in Path("/proc/locks").read_text().splitlines() if place in line]


def _states_of(scene: Scene) -> list[str]:
    """The notes in /run of the bench's runs, which name their homes."""
    homes = str(scene.bench.homes).encode()
    states = []
    for path in STATE.glob("*.run"):
        try:
            states += [str(path)] if homes in path.read_bytes() else []
        except OSError:
            continue  # another run's, which has ended
    return states


# What the folder says.


def _of_records(scene: Scene, ending: Ending) -> Iterator[str]:
    """Whether the folder is read in words, has the rows that it should, and gives a report that follows from them."""
    if not (scene.run / "run.toml").exists():
        if ending.status in (0, 1) and not any(word in scene.plan.kind for word in HARMED):
            yield f"status {ending.status}, and there is no run"
        return
    statuses = {}
    readings = [("report", "disk/run", "--format", "json"), ("verify", "disk/run")]
    readings += [("report", "disk/run", "--full")] if scene.plan.seed % FULL_EVERY == 0 else []
    for words in readings:
        try:
            told = scene.bench.typed(*words, status=None)
        except BaseException:
            yield f"{words[0]}: {traceback.format_exc()[-3000:]}"
            return
        statuses[words[0]] = told.returncode
        if told.returncode not in (0, 1, 2) or (told.returncode == 2 and "loadgo: " not in told.stderr):
            yield f"{words} ends with {told.returncode}: {told.stdout[-500:]}{told.stderr}"
        if words[-1] == "json" and told.returncode != 2:
            yield from _of_figures(scene, ending, json.loads(told.stdout))
    if ending.status == 0 and statuses["verify"] and not any(word in scene.plan.kind for word in HARMED):
        yield f"status 0, and verify ends with {statuses['verify']}"
    try:
        measured = loadgo.tables(scene.run)
    except BadRun as error:
        if ending.status in (0, 1) and not any(word in scene.plan.kind for word in HARMED):
            yield f"status {ending.status}, and the tables cannot be read: {error}"
        return
    yield from _of_rows(scene, ending, measured, statuses["verify"])


def _of_rows(scene: Scene, ending: Ending, measured: Tables, verified: int) -> Iterator[str]:
    """Rows that are missing, and nothing tells; or that nobody typed."""
    firsts = measured.interactions.filter(pl.col("line") == 1)
    rows = Counter(firsts["user"].to_list())
    was_killed = ending.status == -signal.SIGKILL
    typed = Counter(ending.lines_until(ending.fault_at - ROW_AGE_S if was_killed else float("inf")))
    lost = int(measured.lost["count"].sum() or 0)
    # A line that was under way at the end may have no row.
    missing = {user: count - rows[user] - 1 for user, count in typed.items() if count - rows[user] > 1}
    total = sum(missing.values())
    if was_killed and total and scene.plan.kind.startswith("kill"):
        yield f"rows older than {ROW_AGE_S} s are lost in a kill: {missing} of {dict(typed)}; lost {lost}"
    is_told = was_killed or lost >= total or (scene.plan.kind == "truncated file" and verified != 0)
    # Of a folder that no longer takes a byte the run itself tells. A full disk has room for the number of lost rows.
    is_told |= ending.status == 2 and "disk of the run" not in scene.plan.kind
    if total and not is_told:
        yield f"rows are lost, and nothing tells: {missing} of {dict(typed)}; lost {lost}; status {ending.status}"
    everything = Counter(ending.lines_until(float("inf")))
    answered = Counter(firsts.filter(pl.col("outcome").cast(pl.String) == "ok")["user"].to_list())
    invented = {user: count - everything[user] for user, count in answered.items() if count > everything[user]}
    if invented and "short files" not in scene.plan.kind:
        yield f"rows of lines that nobody typed: {invented}"


def _of_figures(scene: Scene, ending: Ending, report: dict[str, Any]) -> Iterator[str]:
    """Figures of the report that do not follow from the rows, or that the run's own report has otherwise."""
    measured = loadgo.tables(scene.run)
    rows = measured.interactions
    if report["stretch"]["name"] == "steady":
        rows = rows.filter(pl.col("phase").cast(pl.String) == "steady")
    everything = report["everything"]["response"] if report["everything"] else {"count": 0, "answered": 0}
    answered = rows.drop_nulls("ready_ns").filter(pl.col("outcome").cast(pl.String).is_in(["ok", "failed"]))
    pairs: list[tuple[str, object, object]] = [
        ("interactions", everything["count"], len(rows)),
        ("answered", everything["answered"], len(answered)),
        ("by command", sum(one["response"]["count"] for one in report["commands"]), len(rows)),
        ("losses", sum(one["count"] for one in report["losses"]), int(measured.lost["count"].sum() or 0)),
    ]
    if everything["answered"]:
        mean = (answered["ready_ns"].cast(pl.Int64) - answered["sent_ns"].cast(pl.Int64)).mean()
        pairs.append(("mean", round(everything["mean_ns"], 3), round(mean, 3)))
    if scene.plan.report_format == "json" and ending.status in (0, 1, 130) and ending.out.strip():
        own = json.loads(ending.out)
        if scene.plan.kind != "truncated file":
            pairs.append(("the run's own report", own["everything"], report["everything"]))
            pairs.append(("the run's own losses", own["losses"], report["losses"]))
    for name, reported, recorded in pairs:
        if reported != recorded:
            yield f"{name}: the report has {reported}, and the rows {recorded}"
