"""A fleet as the system of a run: users log in to several hosts from here, while an agent on each of them meters it.

One driver here types for all users. All agents are ready before the first user logs in, and all users are logged in
before the first types. A host whose agent is lost is given up with its users, and the others go on.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.hosts.agent import Agent, agent_over
from loadgo.hosts.connection import Connection
from loadgo.hosts.delivery import AgentProgram, deliver, find_agent_program
from loadgo.hosts.fleet import FleetHost, UserRange, user_ranges
from loadgo.records.fleets import FLEET_FOLDER, FLEET_KIND
from loadgo.running.elsewhere.fleet_run_folder import EndedHost, complete_fleet_run, tell_unplaced_hosts
from loadgo.running.elsewhere.kept_connections import connection_for_run
from loadgo.running.elsewhere.live_places import HostLoss, LivePlaces
from loadgo.running.elsewhere.metering import FarMetering
from loadgo.running.elsewhere.other_host import (
    SHARED_NOTE,
    Progress,
    SharedConnection,
    UsersDrivers,
    commands_by_line,
    log_in_command,
    meter_request,
    trial_options,
    user_environment,
)
from loadgo.running.stopping import catch_stop_signals

_SUMMED = ("processors", "memory_bytes")
"""Sizes of a host that add up to the fleet's."""


@dataclass(frozen=True)
class FleetDriver:
    """Runs scripts with users on several hosts: a `prepared.RunDriver`."""

    path: str
    """The file with the list of hosts, as it was named."""
    hosts: tuple[FleetHost, ...]
    sudo: bool
    meters: str | None
    """The tier of meters there; None for the cheap ones where a host allows them."""
    login: str
    """The script's log-in, which is started there."""
    needs: tuple[str, ...]
    without_lost: int
    """The number of hosts without which the run still counts."""
    drivers: UsersDrivers
    """The driver here, or several elsewhere."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool]
    ) -> Progress:
        """Runs a script's text into a folder. Raises what `_loadgo.run_host` raises, and the branches of `NoAgent`."""
        program, environment = find_agent_program(), user_environment(script, options, folder)
        ranges = user_ranges(self.hosts, options["users"])
        place = Path(folder)
        with LivePlaces(place / FLEET_FOLDER) as places:
            try:
                with catch_stop_signals() as stop, ExitStack() as opened:
                    # Connections come before all agents: an agent ends itself when it hears nothing for 30 s.
                    reached = [self._reach(opened, host, program, environment, stop) for host in self.hosts]
                    commands = commands_by_line(script)
                    at_work = [
                        self._begin(
                            opened,
                            host,
                            users,
                            program,
                            place,
                            meter_request(host.host.address, self.meters, options, folder, commands),
                        )
                        for host, users in zip(reached, ranges, strict=True)
                    ]
                    result = self._drive(script, options, place, _Listeners(report, places), at_work, stop)
                    for host in at_work:
                        host.metering.request_end()
                    ended = [host.end() for host in at_work]
            except BaseException:
                tell_unplaced_hosts(place, {host.name: host.address for host in self.hosts})
                raise
            return complete_fleet_run(place, ended, result)

    def _reach(
        self,
        opened: ExitStack,
        host: FleetHost,
        program: AgentProgram,
        environment: dict[str, str],
        stop: threading.Event,
    ) -> _ReachedHost:
        """Logs in to a host, tries a user's log-in, and brings the agent."""
        connection = opened.enter_context(connection_for_run(host.address, program, stop))
        shared = self.drivers.try_log_in(connection, environment, self.needs)
        deliver(connection, program)
        brought = replace(connection, answer=[connection.answer[0], program.sha256])
        return _ReachedHost(host, brought, shared)

    def _begin(
        self,
        opened: ExitStack,
        reached: _ReachedHost,
        users: UserRange,
        program: AgentProgram,
        folder: Path,
        request: dict[str, Any],
    ) -> _HostAtWork:
        """Starts the agent of a host, and its meters."""
        agent = opened.enter_context(agent_over(reached.connection, program, sudo=self.sudo))
        agent.compare_clocks("beginning")
        metering = FarMetering(agent, folder / FLEET_FOLDER / reached.host.name, request)
        return _HostAtWork(reached.host, users, agent, opened.enter_context(metering), reached.shared)

    def _drive(
        self,
        script: str,
        options: dict[str, Any],
        folder: Path,
        listeners: _Listeners,
        at_work: Sequence[_HostAtWork],
        stop: threading.Event,
    ) -> Progress:
        """Drives all users until they have left. Gives up those of a host whose agent is lost."""
        # An agent is ready with its first description, with which the directory of its announcements comes.
        described = [host.described(self.login, stop) for host in at_work]
        logins = [log_in_command(host.host.address, self.login, host.socket) for host in at_work]
        users = [
            (host.users.last, login, host.metering.sessions, host.metering.next_lines)
            for host, login in zip(at_work, logins, strict=True)
        ]
        given_up = _loadgo.UsersToGiveUp()

        def report_with_losses(state: Progress) -> bool:
            (folder / FLEET_FOLDER).mkdir(exist_ok=True)
            listeners.places.hear(state)
            for host in at_work:
                host.metering.folder_exists()
                if host.is_newly_lost():
                    given_up.add(
                        host.users.first, host.users.last, f"{host.host.name} is lost: {host.metering.failure}"
                    )
                listeners.places.tell(
                    host.metering.folder, host.agent.clock.clock(), host.metering.origin_ns, host.loss
                )
            return listeners.report(state) and not stop.is_set()

        far: dict[str, Any] = {
            "login": logins[0],
            "other_host": self._description(at_work, described),
            "other_host_users": users,
            "given_up": given_up,
        }
        far |= trial_options([host.host.address for host in at_work], self.needs, script)
        return self.drivers(script, {**options, **far}, str(folder), report_with_losses)

    def _description(self, at_work: Sequence[_HostAtWork], described: Sequence[dict[str, Any]]) -> str:
        """The fleet as a `run.toml` describes a system."""
        import tomlkit

        entries = [
            {
                **system,
                "name": host.host.name,
                "address": str(host.host.address),
                "weight": host.host.weight,
                "first_user": host.users.first,
                "last_user": host.users.last,
            }
            for host, system in zip(at_work, described, strict=True)
        ]
        sums = {key: sum(int(entry.get(key, 0)) for entry in entries) for key in _SUMMED}
        fleet = {"kind": FLEET_KIND, "name": self.path, "without_lost": self.without_lost, **sums, "hosts": entries}
        return tomlkit.dumps({"system": {**fleet, "login": described[0]["login"]}, "conditions": {}})


@dataclass(frozen=True)
class _Listeners:
    """The caller and the watchers of a run, who are told of it while it goes."""

    report: Callable[[Progress], bool]
    """The caller, who may end the run."""
    places: LivePlaces


@dataclass(frozen=True)
class _ReachedHost:
    """A host to which loadgo is connected, and which has the agent's program."""

    host: FleetHost
    connection: Connection
    shared: SharedConnection | None


@dataclass
class _HostAtWork:
    """A host with its agent, which meters it."""

    host: FleetHost
    users: UserRange
    agent: Agent
    metering: FarMetering
    shared: SharedConnection | None
    loss: HostLoss | None = None

    @property
    def socket(self) -> str | None:
        """The control socket of the connection that users share; None if each has an own one."""
        return self.shared.socket if self.shared else None

    def described(self, login: str, stop: threading.Event) -> dict[str, Any]:
        """The host as its agent describes it, once its meters run. Raises why they do not run."""
        recorded_login = log_in_command(self.host.address, login, "SOCKET" if self.shared else None)
        system: dict[str, Any] = tomllib.loads(self.metering.first_toml(recorded_login, stop))["system"]
        return system

    def is_newly_lost(self) -> bool:
        """Whether the agent was lost since the last call. An agent that refuses to go on metering is not lost."""
        if self.loss is not None:
            return False
        self.loss = self.metering.loss()
        return self.loss is not None

    def end(self) -> EndedHost:
        """Ends the meters."""
        ended = self.metering.end()
        if self.shared:
            ended = replace(ended, notes=(*ended.notes, SHARED_NOTE.format(reason=self.shared.reason)))
        return EndedHost(self.host.name, self.host.address, self.users, ended, self.agent.clock.clock(), self.loss)
