"""Several hosts metered at once without a load; the records of all come into one run folder here."""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.hosts.agent import Agent, agent_over
from loadgo.hosts.delivery import find_agent_program
from loadgo.hosts.failures import AgentLost
from loadgo.hosts.fleet import FleetHost, UserRange
from loadgo.metering.several_hosts_folder import FleetRecords
from loadgo.records.fleets import FLEET_FOLDER
from loadgo.running.elsewhere.fleet_run_folder import EndedHost, tell_unplaced_hosts
from loadgo.running.elsewhere.kept_connections import connection_for_run
from loadgo.running.elsewhere.live_places import HostLoss, LivePlaces
from loadgo.running.elsewhere.metering import FarMetering
from loadgo.running.prepared import ReportProgress
from loadgo.running.stopping import StopRequest, catch_stop_signals

_NOBODY = UserRange(1, 0)
"""The users of a host that is metered without a load: an empty range."""
_LOOK_EVERY_S = 0.1
_LOOKS_A_PROGRESS = 3


def meter_hosts(
    path: str, hosts: Sequence[FleetHost], options: Mapping[str, Any], progress: ReportProgress | None, *, sudo: bool
) -> dict[str, Any]:
    """Meters the hosts of the list at `path`, with the options of `_loadgo.MeteredHost`.

    Returns the values that its `watch` returns, and with them `lost_hosts`. Raises what `loadgo.meter` raises.
    """
    folder = Path(options["folder"])
    try:
        with catch_stop_signals() as stop, ExitStack() as opened:
            at_work = _begin(opened, hosts, options, stop, sudo=sudo)
            entries = [host.entry(stop) for host in at_work]
            begun_ns = [host.began_ns() for host in at_work]
            records = opened.enter_context(FleetRecords(folder, path, options, entries, begun_ns))
            for host in at_work:
                host.metering.folder_exists()
            places = opened.enter_context(LivePlaces(folder / FLEET_FOLDER, records.origin_ns))
            outcome = _wait(at_work, options["duration_s"], stop, progress, places)
            length_ns = time.monotonic_ns() - records.origin_ns
            for host in at_work:
                host.metering.request_end()
            ended = [host.end() for host in at_work]
            notes = records.complete(ended, length_ns, outcome)
    except BaseException:
        tell_unplaced_hosts(folder, {host.name: host.address for host in hosts})
        raise
    return _result(folder, ended, outcome, notes)


@dataclass
class _MeteredHost:
    """A host with its agent, which meters it."""

    host: FleetHost
    agent: Agent
    metering: FarMetering
    loss: HostLoss | None = None

    def entry(self, stop: StopRequest) -> dict[str, Any]:
        """The host's entry in `run.toml`, once its meters run. Raises why they do not run."""
        system: dict[str, Any] = tomllib.loads(self.metering.first_toml("", stop))["system"]
        return {
            **system,
            "name": self.host.name,
            "address": str(self.host.address),
            "weight": self.host.weight,
            "first_user": _NOBODY.first,
            "last_user": _NOBODY.last,
        }

    def began_ns(self) -> int | None:
        """The beginning of its records on the monotonic clock here, as far as it is known now."""
        clock, origin_ns = self.agent.clock.clock(), self.metering.origin_ns
        return None if clock is None or origin_ns is None else clock.here_ns([origin_ns])[0]

    @property
    def is_at_work(self) -> bool:
        """Whether its records still come."""
        return not self.metering.is_over

    def note_loss(self) -> None:
        """Keeps when and why its records ended early, if they did."""
        failure = self.metering.failure
        if self.loss is None and failure is not None:
            self.loss = HostLoss(str(failure), time.monotonic_ns())

    def end(self) -> EndedHost:
        """Ends the meters."""
        ended = self.metering.end()
        self.note_loss()
        return EndedHost(self.host.name, self.host.address, _NOBODY, ended, self.agent.clock.clock(), self.loss)


def _begin(
    opened: ExitStack, hosts: Sequence[FleetHost], options: Mapping[str, Any], stop: StopRequest, *, sudo: bool
) -> list[_MeteredHost]:
    """Logs in to all hosts, and then starts the meters of each: an agent ends itself when it hears nothing for 30 s."""
    program, folder = find_agent_program(), Path(options["folder"])
    connections = [opened.enter_context(connection_for_run(host.address, program, stop)) for host in hosts]
    at_work = []
    for host, connection in zip(hosts, connections, strict=True):
        agent = opened.enter_context(agent_over(connection, program, sudo=sudo))
        agent.compare_clocks("beginning")
        request = {
            "do": "meter",
            "id": folder.name,
            "address": str(host.address),
            **{key: options[key] for key in ("meters", "every_s", "command_line")},
            "duration_s": None,
        }
        metering = FarMetering(agent, folder / FLEET_FOLDER / host.name, request)
        at_work.append(_MeteredHost(host, agent, opened.enter_context(metering)))
    return at_work


def _wait(
    at_work: Sequence[_MeteredHost],
    duration_s: float | None,
    stop: StopRequest,
    progress: ReportProgress | None,
    places: LivePlaces,
) -> str:
    """Waits until the time is over, a stop, or the loss of the last host. Returns the outcome."""
    began_s, looks = time.monotonic(), 0
    until_s = math.inf if duration_s is None else began_s + duration_s
    while (now_s := time.monotonic()) < until_s:
        for host in at_work:
            host.note_loss()  # when it happens, or nearly
            places.tell(host.metering.folder, host.agent.clock.clock(), host.metering.origin_ns, host.loss)
        if stop.is_set() or not any(host.is_at_work for host in at_work):
            return "stopped"
        if progress is not None and looks % _LOOKS_A_PROGRESS == 0:
            progress({"at_s": now_s - began_s})
        looks += 1
        stop.wait(min(_LOOK_EVERY_S, until_s - now_s))
    return "done"


def _result(folder: Path, ended: Sequence[EndedHost], outcome: str, notes: Sequence[str]) -> dict[str, Any]:
    lost = {host.name: host.loss.reason for host in ended if host.loss is not None}
    if len(lost) == len(ended):
        raise AgentLost("\n".join((*lost.values(), f"the records until then are in {folder}")))
    return {
        "outcome": outcome,
        "exit_status": None,
        "signal": None,
        "notes": notes,
        "left_behind": [text for host in ended for text in host.ended.left_behind],
        "lost_hosts": lost,
    }
