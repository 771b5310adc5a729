"""Meters this host without a load, for a time or as long as a command runs: into a run's folder, and to viewers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.errors import BadArgument
from loadgo.metering.totals import Totals
from loadgo.metering.viewers import NOBODY, Viewers, viewed
from loadgo.notation import quantities
from loadgo.running.command_meter import Signals, checked_program, passing_on
from loadgo.running.folders import new_folder
from loadgo.running.prepared import Progress
from loadgo.running.stopping import asked_to_stop

Told = dict[str, Any]
TIERS = ("cheap", "exact")
SHORTEST_S, LONGEST_S = 0.01, 3600.0


@dataclass(frozen=True)
class Metered:
    """What was metered. It can be given wherever a run's folder can, if it was recorded."""

    folder: Path | None
    """None when nothing was recorded."""
    outcome: str
    """`done`, or `stopped` before its time."""
    exit_status: int | None
    """The command's; None without a command, and when a signal ended it."""
    signal: int | None
    """The signal that ended the command."""
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """As a shell tells it: the exit status, or 128 and the signal that ended the command; 0 without one."""
        return 128 + self.signal if self.signal is not None else self.exit_status or 0

    def __fspath__(self) -> str:
        if self.folder is None:
            raise TypeError("nothing was recorded: say where with out")
        return str(self.folder)


def meter(
    command: Sequence[str] = (),
    *,
    duration: float | str | None = None,
    meters: str = "cheap",
    every: float | str = 1.0,
    out: str | Path | None = None,
    viewers: Viewers = NOBODY,
    command_line: Sequence[str] = (),
    progress: Progress | None = None,
) -> Metered:
    """Meters this host for `duration` (seconds, or `2min`), until an interrupt, or for as long as `command` runs.

    `meters` is `cheap` or `exact`; `every` the length of a span of the records. It is recorded in the folder `out`, a
    new one in `runs/` by default, as a run without users, in which the command is the only one; with `viewers`, it is
    recorded only when `out` says where. `progress` is called about three times a second with what there is to tell:
    at_s, and serving, an address, once it is served. `command_line` is kept in `run.toml`.

    Raises `ValueError` for what makes no sense, `errors.Refused` for what the host does not allow, `errors.BadRun` for
    a folder that cannot be written.
    """
    if meters not in TIERS:
        raise BadArgument(f"there are no {meters} meters: say {' or '.join(TIERS)}")
    if command and duration is not None:
        raise BadArgument("a command is metered for as long as it runs: leave `duration` out").about("duration")
    _in_utf8("`out`", out)
    _in_utf8("the command", *command)
    recorded = out is not None or not viewers.any
    folder = new_folder(out, Path(command[0]).name if command else "meter", datetime.now(UTC)) if recorded else None
    options = {
        "folder": None if folder is None else str(folder),
        "meters": meters,
        "every_s": _every_s(every),
        "duration_s": None if duration is None else quantities.span_s(duration, "duration"),
        "command": list(command),
        "command_line": [word.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for word in command_line],
    }
    if command:
        checked_program(command[0])
    with viewed(viewers, meters) as view:
        if progress is not None and view.serving:
            progress({"at_s": 0.0, "serving": view.serving})
        told = _watched(options, view.totals, progress)
    notes = tuple(str(note) for note in told["notes"])
    return Metered(folder, str(told["outcome"]), told["exit_status"], told["signal"], notes)


def _in_utf8(what: str, *words: object) -> None:
    for word in words:
        try:
            str(word).encode()
        except UnicodeEncodeError:
            shown = str(word).encode(errors="replace").decode()
            raise BadArgument(f"{what} is not UTF-8, which the records are in: {shown}").about("out") from None


def _every_s(every: float | str) -> float:
    seconds = quantities.span_s(every, "every")
    if not (math.isfinite(seconds) and SHORTEST_S <= seconds <= LONGEST_S):
        raise BadArgument(f"`every={every}` is out of range: between 10ms and 1h").about("every")
    return seconds


def _watched(options: Told, totals: Totals | None, progress: Progress | None) -> Told:
    """Lets it go on until it ends; signals are the command's where there is one, else they end it in order.

    Without a command they are heard from before the meters are there, which take up to a second to come.
    """

    def hears(told: Told) -> bool:
        if totals is not None and "rows" in told:
            totals.add(told["rows"], told["lost"])
        if progress is not None:
            progress(told)
        return True

    if options["command"]:
        host = _loadgo.MeteredHost(options)
        with passing_on(host) as signals, ThreadPoolExecutor(1) as elsewhere:
            return elsewhere.submit(_with_command, host, hears, totals is not None, signals).result()
    with asked_to_stop() as stop:
        host = _loadgo.MeteredHost(options)
        return host.watch(lambda told: hears(told) and not stop.is_set(), totals is not None)


def _with_command(host: _loadgo.MeteredHost, hears: Callable[[Told], bool], rows: bool, signals: Signals) -> Told:
    """In a thread of its own, so that the main thread is there for signals."""
    signals.in_run = True
    try:
        return host.watch(hears, rows)
    finally:
        signals.in_run = False
