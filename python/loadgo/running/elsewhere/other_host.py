"""Another host as the system of a run: users log in to it by ssh from here, while an agent there meters it."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from loadgo import _loadgo
from loadgo.errors import BadArgument, Refused
from loadgo.hosts.address import Address
from loadgo.hosts.agent import agent_over
from loadgo.hosts.connection import CONNECT_TIMEOUT_S, LOGIN_TIMEOUT_S, Connection, end_process
from loadgo.hosts.delivery import find_agent_program
from loadgo.hosts.error_output import ErrorOutput
from loadgo.hosts.failures import (
    SILENT_SSH,
    SSH_FAILED_STATUS,
    HostUnreachable,
    LoginRefused,
    LoginUnfinished,
    SilentSsh,
    shown_clause,
    ssh_failure,
)
from loadgo.notation.figures import as_code
from loadgo.records.runs import FAR_FOLDER
from loadgo.running.bundled import Source
from loadgo.running.elsewhere.driving import LogInTrial
from loadgo.running.elsewhere.kept_connections import connection_for_run
from loadgo.running.elsewhere.live_places import LivePlaces
from loadgo.running.elsewhere.metering import FarMetering
from loadgo.running.elsewhere.run_folder import complete_run, tell_unplaced
from loadgo.running.needed_programs import remedy_for
from loadgo.running.stopping import catch_stop_signals

MOST_STARTING_SESSIONS = 8
"""Number of log-ins under way at a time. By default (`MaxStartups`) sshd refuses some when 10 have not finished yet."""
_ACCOUNT_SHELL = "sh"
"""The log-in of a script that names none: users get the account's own log-in shell."""
_ELSEWHERE = ("su", "sudo", "runuser", "login", "ssh", "telnet", "mosh", "docker", "podman", "kubectl", "machinectl")
_SSH_SETTINGS = (
    "ControlMaster=no",
    "BatchMode=yes",
    f"ConnectTimeout={CONNECT_TIMEOUT_S}",
    "ClearAllForwardings=yes",
    "RemoteCommand=none",
    "EscapeChar=none",
    "PermitLocalCommand=no",
)
SHARED_NOTE = (
    "all users shared one connection, since ssh could not log each in without a question ({reason}): log-ins are no "
    "part of the load, and sshd allows 8 users unless its MaxSessions is raised; a key for ssh gives each user a "
    "connection"
)
_OF_ACCOUNT = ("HOME", "SSH_AUTH_SOCK", "KRB5CCNAME")
"""Variables of this process that users' ssh has too: `OF_ACCOUNT` in `crates/host/src/terminals/login.rs`."""
_FIRST_MISSING_STATUS = 101
"""Exit status of the search for programs if the first is missing; one more for each of the next."""
_MOST_PROGRAMS = 90

Progress = dict[str, Any]


class UsersDrivers(Protocol):
    """The drivers of a run's users: this host, or several others."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool], /
    ) -> Progress:
        """Runs a script's text into a folder, as `prepared.RunDriver` does."""

    def try_log_in(
        self, connection: Connection, environment: dict[str, str], needs: Sequence[str]
    ) -> SharedConnection | None:
        """Tries a user's log-in to the host of `connection`, before its agent starts. Returns what users share."""


@dataclass(frozen=True)
class DriverHere:
    """The driver on this host."""

    drive: Callable[[str, dict[str, Any], str, Callable[[Progress], bool]], Progress]
    """Runs a script's text on this host."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool]
    ) -> Progress:
        """Runs a script's text into a folder."""
        return self.drive(script, options, folder, report)

    def try_log_in(
        self, connection: Connection, environment: dict[str, str], needs: Sequence[str]
    ) -> SharedConnection | None:
        """Tries a log-in from here, and looks for the programs that the script needs there."""
        shared = shared_connection(connection, environment)
        check_programs(connection, needs)
        return shared


@dataclass(frozen=True)
class OtherHostDriver:
    """Runs scripts with users on another host: a `prepared.RunDriver`."""

    host: Address
    sudo: bool
    meters: str | None
    """The tier of meters there; None for the cheap ones where that host allows them."""
    login: str
    """The script's log-in, which is started there."""
    needs: tuple[str, ...]
    drivers: UsersDrivers
    """The driver here, or several elsewhere."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool]
    ) -> Progress:
        """Runs a script's text into a folder. Raises what `_loadgo.run_host` raises, and the branches of `NoAgent`."""
        with LivePlaces(Path(folder) / FAR_FOLDER) as places:
            return self._run(script, options, folder, report, places)

    def _run(
        self,
        script: str,
        options: dict[str, Any],
        folder: str,
        report: Callable[[Progress], bool],
        places: LivePlaces,
    ) -> Progress:
        program, environment = find_agent_program(), user_environment(script, options, folder)
        with catch_stop_signals() as stop, connection_for_run(self.host, program, stop) as connection:
            # Before the agent starts: it ends itself when it hears nothing for 30 s.
            shared = self.drivers.try_log_in(connection, environment, self.needs)
            with agent_over(connection, program, sudo=self.sudo) as agent:
                agent.compare_clocks("beginning")
                request = meter_request(self.host, self.meters, options, folder, commands_by_line(script))
                metering = FarMetering(agent, Path(folder) / FAR_FOLDER, request)
                try:
                    with metering:
                        recorded_login = log_in_command(self.host, self.login, "SOCKET" if shared else None)
                        far: dict[str, Any] = {
                            "login": log_in_command(self.host, self.login, shared.socket if shared else None),
                            "other_host": metering.first_toml(recorded_login, stop),
                        }
                        far["other_host_users"] = [
                            (options["users"], far["login"], metering.sessions, metering.next_lines)
                        ]
                        far |= trial_options([self.host], self.needs, script)

                        def report_with_folder(state: Progress) -> bool:
                            metering.folder_exists()
                            places.hear(state)
                            places.tell(metering.folder, agent.clock.clock(), metering.origin_ns, metering.loss())
                            return report(state) and not stop.is_set()

                        result = self.drivers(script, {**options, **far}, folder, report_with_folder)
                        ended = metering.end()
                except BaseException:
                    tell_unplaced(Path(folder), self.host)
                    raise
                clock = agent.clock.clock()
        if shared:
            ended = replace(ended, notes=(*ended.notes, SHARED_NOTE.format(reason=shared.reason)))
        return complete_run(Path(folder), self.host, result, ended, clock)


def meter_request(
    host: Address, meters: str | None, options: dict[str, Any], folder: str, commands: Sequence[str]
) -> dict[str, Any]:
    """The request for the meters of `host` during a run with these options. `commands` are by the line's number."""
    return {
        "do": "meter",
        "id": Path(folder).name,
        "address": str(host),
        "meters": meters or "allowed",
        "every_s": 1.0,
        "duration_s": None,
        "command_line": options["command"],
        "users": options["users"],
        "commands": list(commands),
    }


def commands_by_line(script: str) -> list[str]:
    """The command's name of each line of a script, by the line's number; empty for numbers without a line."""
    names = dict(_loadgo.parse_script(script)["lines"])
    return [names.get(number, "") for number in range(max(names, default=-1) + 1)]


def log_in_command(host: Address, login: str, socket: str | None = None) -> str:
    """The command that logs a user in to `host`, and starts the script's `login` there.

    Each user has a connection of its own, or a session in that of the control `socket`.
    """
    settings = [word for setting in (f"ControlPath={socket or 'none'}", *_SSH_SETTINGS) for word in ("-o", setting)]
    there = [] if login == _ACCOUNT_SHELL else [login]
    return shlex.join(["ssh", "-tt", *settings, *host.ssh_words, *there])


def trial_options(hosts: Sequence[Address], needs: Sequence[str], script: str) -> dict[str, Any]:
    """The options with which drivers elsewhere try a log-in to each host. The driver here has tried it by then."""
    environment = tomllib.loads(script).get("env", {})
    return {"log_in_trials": [_log_in_trial(host, needs) for host in hosts], "script_environment": environment}


def _log_in_trial(host: Address, needs: Sequence[str]) -> LogInTrial:
    words = shlex.split(log_in_command(host, _ACCOUNT_SHELL))
    words[words.index("-tt")] = "-T"
    wanted = tuple(needs[:_MOST_PROGRAMS])
    script = _program_search(wanted) if wanted else "exit 0"
    command = shlex.join([*words, f"exec sh -c {shlex.quote(script)}"])
    return LogInTrial(str(host), command, wanted, _FIRST_MISSING_STATUS)


def check_script(source: Source, login: str, limits: Mapping[str, object]) -> None:
    """Raises `BadArgument` for what a run on another host does not have; `limits` are by their arguments' names."""
    for name in (name for name, limit in limits.items() if limit is not None):
        raise BadArgument(
            f"`{name}` is for users of this host: leave it out, or set limits on the other host (systemd's user slices)"
        ).about(name, "on")
    words = shlex.split(login)
    program = words[0].rpartition("/")[2] if words else ""
    if program in _ELSEWHERE:
        raise BadArgument(
            f"the script's login is {login!r}, and with `on` users log in by ssh to that host as its account: leave "
            "out `login` in the script, and name the account in `on`: ssh://USER@HOST"
        ).about("on")
    if tomllib.loads(source.text).get("beside"):
        raise BadArgument(
            "the script starts programs beside its users ([beside]), which run on this host alone: leave them out, "
            "and start them on the other host"
        ).about("on")


def user_environment(script: str, options: dict[str, Any], folder: str) -> dict[str, str]:
    """The environment of each user's ssh, without what differs from user to user and without the prompt's variables."""
    user = os.environ.get("USER", os.environ.get("LOGNAME", "root"))
    return {
        "PATH": options["search_path"],
        "USER": user,
        "LOGNAME": user,
        "SHELL": os.environ.get("SHELL", "/bin/sh"),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "LOADGO_RUN": Path(folder).name,
        **{name: os.environ[name] for name in _OF_ACCOUNT if name in os.environ},
        **tomllib.loads(script).get("env", {}),
    }


@dataclass(frozen=True)
class SharedConnection:
    """The agent's connection, which users share, and the reason."""

    socket: str
    reason: str


def shared_connection(connection: Connection, environment: dict[str, str]) -> SharedConnection | None:
    """The connection for all users, if a user's own log-in fails or would be asked a question; else None.

    Raises the branches of `NoAgent` if users can log in neither way, and `KeyboardInterrupt` after a stop signal.
    """
    command = shlex.split(log_in_command(connection.address, _ACCOUNT_SHELL))
    command[command.index("-tt")] = "-T"
    trial = subprocess.Popen(
        [*command, "exit 0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
    )
    assert trial.stderr is not None
    errors = ErrorOutput(trial.stderr)
    late = f"a second log-in has not come to a shell for {LOGIN_TIMEOUT_S:.0f} s: see that `ssh HOST exit` ends there"
    status = _status_in_time(connection, trial, late)
    if status != SSH_FAILED_STATUS:
        return None
    reason = errors.last_part()
    failure = ssh_failure(connection.address, reason)
    if isinstance(failure, LoginRefused | HostUnreachable | SilentSsh):
        return SharedConnection(str(connection.control_socket), shown_clause(reason) or SILENT_SSH)
    raise failure


def check_programs(connection: Connection, programs: Sequence[str]) -> None:
    """Raises `Refused` if the log-in shell there finds a program of the script's `needs` not on its path.

    Raises `LoginUnfinished` if that shell does not come to its end.
    """
    wanted = programs[:_MOST_PROGRAMS]
    if not wanted:
        return
    process = connection.start(_program_search(wanted), (subprocess.DEVNULL, subprocess.DEVNULL))
    late = (
        f"the log-in shell has not come to its end in {LOGIN_TIMEOUT_S:.0f} s: a .profile or .bash_profile must not "
        "wait for input, or for a file system that hangs"
    )
    status = _status_in_time(connection, process, late)
    if 0 <= (number := status - _FIRST_MISSING_STATUS) < len(wanted):
        raise Refused(
            f"the script needs {as_code(wanted[number])}, which {connection.address} does not have on the path of its "
            f"log-in shell: {remedy_for([wanted[number]], elsewhere=True)}"
        )


def _program_search(programs: Sequence[str]) -> str:
    """The script that looks for programs on the path of the log-in shell, and tells the first that is missing."""
    search = "; ".join(
        f"command -v {shlex.quote(program)} >/dev/null 2>&1 || exit {_FIRST_MISSING_STATUS + number}"
        for number, program in enumerate(programs)
    )
    return f'exec "${{SHELL:-/bin/sh}}" -lc {shlex.quote(search)}'


def _status_in_time(connection: Connection, process: subprocess.Popen[bytes], late: str) -> int:
    """The exit status of an ssh. Raises `LoginUnfinished` with the reason `late` after the time of a log-in."""
    last_s = time.monotonic() + LOGIN_TIMEOUT_S
    try:
        return connection.wait(process, lambda: time.monotonic() > last_s)
    except subprocess.TimeoutExpired:
        raise LoginUnfinished(f"{connection.address}: {late}") from None
    finally:
        end_process(process)
