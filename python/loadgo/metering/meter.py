"""Meters a host without a load, for a time or while a command runs, into a run folder and for viewers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.hosts.address import HERE_NAME, Address, parse_host
from loadgo.hosts.fleet import FleetHost, is_fleet, read_fleet
from loadgo.measures.sampled_time import SAMPLED_TIER
from loadgo.metering.totals import Totals
from loadgo.metering.viewers import NO_VIEWERS, OpenViewers, Viewers, open_viewers
from loadgo.notation import quantities
from loadgo.running.command_meter import ReceivedSignals, check_program, forward_signals
from loadgo.running.folders import as_utf8, check_utf8, new_folder
from loadgo.running.prepared import ReportProgress
from loadgo.running.stopping import catch_stop_signals

HostFields = dict[str, Any]
"""Values by name, as `_loadgo.MeteredHost` takes its options and returns its progress and its result."""
METER_TIERS = ("cheap", "cheap,locks", "cheap,profile", "sampled", "exact")
SHORTEST_SPAN_S, LONGEST_SPAN_S = 0.01, 3600.0


@dataclass(frozen=True, repr=False)
class Metered(Result, presented_by="loadgo.reporting.presentation:metered_presentation"):
    """The result of metering. It can be used as the path of its run folder, if it was recorded."""

    folder: Path | None
    """None if nothing was recorded."""
    outcome: str
    """`done`, or `stopped` before the end."""
    exit_status: int | None
    """Exit status of the command. None without a command, and if a signal ended it."""
    signal: int | None
    """The signal that ended the command."""
    notes: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    """Sentences about what stays on this host, each with its reason and its remedy. They are in `notes` too."""
    failed_exports: int = 0
    """Number of exports that the OpenTelemetry collector did not accept."""
    export_failure: str = ""
    """A sentence about the exports that failed, which `notes` have too; empty if none failed."""
    lost_hosts: tuple[str, ...] = ()
    """The names of hosts whose agent was lost before the end; `notes` have the reasons."""

    @property
    def status(self) -> int:
        """Status as in a shell: the exit status, or 128 + the signal that ended the command. 0 without a command."""
        return 128 + self.signal if self.signal is not None else self.exit_status or 0

    @property
    def lost_records(self) -> int:
        """Number of records that could not be kept. 0 if nothing was recorded."""
        from loadgo.records.tables import tables

        return 0 if self.folder is None else int(tables(self.folder).lost["count"].sum())

    def _line(self) -> str:
        return f"{self.outcome}, {'nothing recorded' if self.folder is None else f'recorded in {self.folder}'}"

    def __fspath__(self) -> str:
        if self.folder is None:
            raise TypeError("nothing was recorded: name a folder with out")
        return str(self.folder)


def meter(
    command: Sequence[str] = (),
    *,
    duration: float | str | None = None,
    meters: str = "cheap",
    on: str = HERE_NAME,
    sudo: bool = False,
    every: float | str = 1.0,
    out: str | Path | None = None,
    viewers: Viewers = NO_VIEWERS,
    command_line: Sequence[str] = (),
    progress: ReportProgress | None = None,
) -> Metered:
    """Meters a host without a load: for a time, until an interrupt, or while a command runs.

        metered = loadgo.meter(duration="10s")
        print(loadgo.report(metered, phases="all"))

    Args:
        command: The words of a command that is metered for as long as it runs. Without one the entire host is metered.
        duration: The length, in seconds or as a text such as `2min`. Without it, until an interrupt.
        meters: `cheap` counts context switches, idle times and waits. `cheap,locks` also has waits for locks,
            and `cheap,profile` page faults and samples by mapping and by function. `sampled` estimates system calls,
            page faults and interrupts from random windows (see docs/meters.md). `exact` has each system call, page
            fault and interrupt too.
        on: The host: `here`, or `ssh://USER@HOST:PORT`, to which an agent is brought (see docs/hosts-agent.md). Its
            records come into the folder here. Or the path of a list of hosts, such as `hosts.toml`. A command and
            `viewers` are for this host alone.
        sudo: Whether agents on other hosts run by `sudo`.
        every: The time that each row of the records covers, in seconds or as a text, from 10ms to 1h.
        out: The folder of the records. By default a new one in `runs/`, or none with `viewers`.
        viewers: The places where others read the meters meanwhile, such as Prometheus
            (`loadgo.metering.viewers.Viewers`).
        command_line: The words that are stored in `run.toml` as the command line.
        progress: A function that is called about three times a second with a dict: `at_s`, and `serving`, the address
            at which the meters are served.

    Returns:
        `Metered`. The records in its `folder` are those of a run without users, so `loadgo.report` and `loadgo.query`
        read them. The records have times in nanoseconds.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Refused: The host does not allow the meters. `loadgo.doctor` has the reason and the remedy.
        loadgo.running.command_meter.NotRun: There is no such command, or it is not executable.
        loadgo.errors.BadRun: The folder cannot be written.
        loadgo.hosts.failures.NoAgent: The other host cannot be reached, or runs no agent. Its branches say why.
        loadgo.hosts.failures.AgentLost: The agent was lost; its records until then are in the folder.
    """
    if meters not in METER_TIERS:
        choices = " or ".join(f"'{name}'" for name in METER_TIERS)
        raise BadArgument(f"there are no {meters} meters: choose {choices}")
    if meters == SAMPLED_TIER and viewers.any:
        raise BadArgument(
            "the sampled meters estimate a whole run at its end, and viewers want sums meanwhile: "
            "choose 'cheap' or 'exact'"
        ).about("meters")
    if command and duration is not None:
        raise BadArgument("a command is metered for as long as it runs: leave `duration` out").about("duration")
    fleet = read_fleet(on) if is_fleet(on) else ()
    host = None if fleet else parse_host(on)
    _check_place(fleet or host, command, viewers, sudo=sudo)
    check_utf8("the command", *command)
    recorded = out is not None or not viewers.any
    folder = new_folder(out, _folder_name(command, fleet or host), datetime.now(UTC)) if recorded else None
    options = {
        "folder": None if folder is None else str(folder),
        "meters": meters,
        "every_s": _every_s(every),
        "duration_s": None if duration is None else quantities.span_s(duration, "duration"),
        "command": list(command),
        "command_line": as_utf8(command_line),
    }
    if fleet:
        from loadgo.metering.several_hosts import meter_hosts

        return _metered(folder, meter_hosts(on, fleet, options, progress, sudo=sudo))
    if host is not None:
        from loadgo.metering.other_host import meter_other_host

        return _metered(folder, meter_other_host(host, options, progress, sudo=sudo))
    if command:
        check_program(command[0])
    with open_viewers(viewers, meters) as view:
        if progress is not None and view.serving:
            progress({"at_s": 0.0, "serving": view.serving})
        last_progress = _watch_host(options, view.totals, progress)
    return _metered(folder, last_progress, _export_failure(view, viewers), view.failed_exports)


def _metered(folder: Path | None, last: HostFields, failure: str = "", failed_exports: int = 0) -> Metered:
    return Metered(
        folder,
        str(last["outcome"]),
        last["exit_status"],
        last["signal"],
        notes=(*(str(note) for note in last["notes"]), *([failure] if failure else [])),
        left_behind=tuple(last["left_behind"]),
        failed_exports=failed_exports,
        export_failure=failure,
        lost_hosts=tuple(last.get("lost_hosts", ())),
    )


def _check_place(
    elsewhere: Address | Sequence[FleetHost] | None, command: Sequence[str], viewers: Viewers, *, sudo: bool
) -> None:
    """Raises `BadArgument` for what only this host has, and for what only other hosts have."""
    if not elsewhere and sudo:
        raise BadArgument("`sudo` is for another host: name one with `on`").about("sudo", "on")
    if elsewhere and command:
        raise BadArgument("a command is metered on this host alone: leave out the command or `on`").about("on")
    if elsewhere and viewers.any:
        raise BadArgument("viewers read the meters of this host alone: leave out `serve` and `otlp`, or `on`").about(
            "serve", "otlp", "on"
        )


def _folder_name(command: Sequence[str], elsewhere: Address | Sequence[FleetHost] | None) -> str:
    if isinstance(elsewhere, Address):
        return f"meter-{elsewhere.host}"
    if elsewhere:
        return "meter-hosts"
    return Path(command[0]).name if command else "meter"


def _export_failure(view: OpenViewers, viewers: Viewers) -> str:
    if view.exports is None or not view.failed_exports:
        return ""
    reason = f": {view.exports.reason}" if view.exports.reason else ""
    return f"{view.failed_exports} of {view.exports.begun} exports to {viewers.otlp} failed{reason}"


def _every_s(every: float | str) -> float:
    seconds = quantities.span_s(every)
    if not (math.isfinite(seconds) and SHORTEST_SPAN_S <= seconds <= LONGEST_SPAN_S):
        raise BadArgument(f"`every={every}` is out of range: between 10ms and 1h").about("every")
    return seconds


def _watch_host(options: HostFields, totals: Totals | None, progress: ReportProgress | None) -> HostFields:
    """Meters until the end. Signals are forwarded to the command, or end the metering if there is no command.

    Without a command, signals are caught first, since starting the meters takes up to a second.
    """

    def on_progress(news: HostFields) -> bool:
        if totals is not None and "rows" in news:
            totals.add(news["rows"], news["lost"])
        if progress is not None:
            progress(news)
        return True

    if options["command"]:
        host = _loadgo.MeteredHost(options)
        with forward_signals(host) as signals, ThreadPoolExecutor(1) as executor:
            return executor.submit(_watch_command, host, on_progress, totals is not None, signals).result()
    with catch_stop_signals() as stop:
        host = _loadgo.MeteredHost(options)
        return host.watch(lambda news: on_progress(news) and not stop.is_set(), totals is not None)


def _watch_command(
    host: _loadgo.MeteredHost, on_progress: Callable[[HostFields], bool], rows: bool, signals: ReceivedSignals
) -> HostFields:
    """Meters while the command runs. It needs its own thread, because the main thread receives signals."""
    signals.in_run = True
    try:
        return host.watch(on_progress, rows)
    finally:
        signals.in_run = False
