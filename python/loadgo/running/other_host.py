"""Another host as the system of a run: users log in to it by ssh from here, while an agent there meters it."""

from __future__ import annotations

import shlex
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, Refused
from loadgo.hosts.address import Address
from loadgo.hosts.agent import Agent, open_agent
from loadgo.hosts.connection import CONNECT_TIMEOUT_S, LOGIN_TIMEOUT_S
from loadgo.hosts.failures import SSH_FAILED_STATUS, LoginRefused, LoginUnfinished, ssh_failure
from loadgo.running.bundled import Source
from loadgo.running.far_metering import FarMetering
from loadgo.running.far_run_folder import complete_run
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
_SHARED = (
    "users shared the agent's connection, since a log-in without questions was refused: no log-in of theirs is part of "
    "the load, and sshd holds 8 of them unless its MaxSessions is raised; a key for ssh gives each user a connection"
)
_FIRST_MISSING_STATUS = 101
"""Exit status of the search for programs if the first is missing; one more for each of the next."""
_MOST_PROGRAMS = 90

Progress = dict[str, Any]


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
    drive: Callable[[str, dict[str, Any], str, Callable[[Progress], bool]], Progress]
    """Runs a script's text on this host."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool]
    ) -> Progress:
        """Runs a script's text into a folder. Raises what `_loadgo.run_host` raises, and the branches of `NoAgent`."""
        with catch_stop_signals() as stop, open_agent(self.host, sudo=self.sudo, stop=stop) as agent:
            socket = _socket_to_share(agent)
            _check_programs(agent, self.needs)
            agent.compare_clocks("beginning")
            with FarMetering(agent, Path(folder), self._request(options, folder)) as metering:
                recorded_login = log_in_command(self.host, self.login, socket and "SOCKET")
                far = {
                    "login": log_in_command(self.host, self.login, socket),
                    "other_host": metering.first_toml(recorded_login),
                }

                def report_with_folder(state: Progress) -> bool:
                    metering.folder_exists()
                    return report(state) and not stop.is_set()

                result = self.drive(script, {**options, **far}, folder, report_with_folder)
                ended = metering.end()
            clock = agent.clock.clock()
        if socket:
            ended = replace(ended, notes=(*ended.notes, _SHARED))
        return complete_run(Path(folder), self.host, result, ended, clock)

    def _request(self, options: dict[str, Any], folder: str) -> dict[str, Any]:
        return {
            "do": "meter",
            "id": Path(folder).name,
            "address": str(self.host),
            "meters": self.meters or "allowed",
            "every_s": 1.0,
            "duration_s": None,
            "command_line": options["command"],
        }


def log_in_command(host: Address, login: str, socket: str | None = None) -> str:
    """The command that logs a user in to `host`, and starts the script's `login` there.

    Each user has a connection of its own, or a session in that of the control `socket`.
    """
    settings = [word for setting in (f"ControlPath={socket or 'none'}", *_SSH_SETTINGS) for word in ("-o", setting)]
    there = [] if login == _ACCOUNT_SHELL else [login]
    return shlex.join(["ssh", "-tt", *settings, *host.ssh_words, *there])


def check_script(source: Source, login: str, limit: str | None) -> None:
    """Raises `BadArgument` for what a run on another host does not have."""
    if limit is not None:
        raise BadArgument(
            "`limit` is for users of this host: leave it out, or set limits on the other host (systemd's user slices)"
        ).about("limit", "on")
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


def _socket_to_share(agent: Agent) -> str | None:
    """The control socket that users share, if each user's own connection would be asked a question; else None.

    Raises the branches of `NoAgent` if users can log in neither way.
    """
    command = shlex.split(log_in_command(agent.address, _ACCOUNT_SHELL))
    command[command.index("-tt")] = "-T"
    try:
        tried = subprocess.run(
            [*command, "exit 0"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=LOGIN_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LoginUnfinished(
            f"{agent.address}: a second log-in has not come to a shell for {LOGIN_TIMEOUT_S:.0f} s: see that "
            "`ssh HOST exit` ends there"
        ) from None
    if tried.returncode != SSH_FAILED_STATUS:
        return None
    failure = ssh_failure(agent.address, tried.stderr)
    if isinstance(failure, LoginRefused):
        return str(agent.control_socket)
    raise failure


def _check_programs(agent: Agent, programs: Sequence[str]) -> None:
    """Raises `Refused` if the log-in shell there finds a program of the script's `needs` not on its path."""
    wanted = programs[:_MOST_PROGRAMS]
    if not wanted:
        return
    search = "; ".join(
        f"command -v {shlex.quote(program)} >/dev/null 2>&1 || exit {_FIRST_MISSING_STATUS + number}"
        for number, program in enumerate(wanted)
    )
    status = agent.run_script(f'exec "${{SHELL:-/bin/sh}}" -lc {shlex.quote(search)}')
    if 0 <= (number := status - _FIRST_MISSING_STATUS) < len(wanted):
        raise Refused(
            f"the script needs {wanted[number]}, which {agent.address} does not have on the path of its log-in shell: "
            "install it there, or use another script"
        )
