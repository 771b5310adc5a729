"""A range of users driven from another host, or by an agent on this one, as the agent tells it."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadgo.errors import LoadgoError, Refused
from loadgo.hosts.agent import Agent, Frame, agent_over, parse_json, texts_of
from loadgo.hosts.clock import FarClock
from loadgo.hosts.connection import Connection, raise_if_stopped
from loadgo.hosts.delivery import AgentProgram
from loadgo.hosts.failures import SILENT_SSH, SSH_FAILED_STATUS, LoginUnfinished, WrongFrames, shown_clause, ssh_failure
from loadgo.hosts.fleet import FleetHost, UserRange
from loadgo.hosts.next_lines import pass_on
from loadgo.notation.figures import as_code
from loadgo.running.elsewhere.recording import FarRecording
from loadgo.running.needed_programs import remedy_for

LOG_INS_BARRIER, LINES_BARRIER = "log-ins", "lines"
"""The barriers of a driver: before its first log-in, and before its first line."""
PHASE_NAMES = ("log-in", "warm-up", "steady", "ramp-down")
_COUNTS = ("interactions", "logged_in", "done", "died", "refused")


@dataclass(frozen=True)
class LogInTrial:
    """A log-in to a host of the run, tried from each driver before anybody logs in."""

    target: str
    """The address of the host."""
    command: str
    """The command that logs in, looks for programs, and ends."""
    programs: tuple[str, ...]
    """The programs that it looks for."""
    first_missing_status: int
    """The exit status of the command if the first of them is missing; one more for each of the next."""


@dataclass(frozen=True)
class DrivingState:
    """How far a driver has come."""

    phase: str = PHASE_NAMES[0]
    reached: str | None = None
    """The last barrier that it has come to."""
    users_logged_in: int = 0
    interactions: int = 0


@dataclass(frozen=True)
class FarDrivingEnd:
    """The end of a driver."""

    host: FleetHost
    users: UserRange
    origin_ns: int | None
    """The beginning of its records on the monotonic clock there; None if the agent did not send it."""
    clock: FarClock | None
    outcome: str
    """`done` or `stopped`; empty if it was lost."""
    counts: Mapping[str, int]
    """Numbers of interactions, and of users by what became of them."""
    lost: str
    """Why it was lost; empty if it was not."""
    lost_ns: int
    """When that was noticed, on the monotonic clock here."""
    notes: tuple[str, ...]
    left_behind: tuple[str, ...]


class FarDriving(FarRecording):
    """A driver at work, from the start of its agent on."""

    def __init__(
        self, connection: Connection, program: AgentProgram, host: FleetHost, users: UserRange, folder: Path
    ) -> None:
        """The driver on `host` that has these users, and whose records go into `folder`."""
        super().__init__(connection.address, folder, f"loadgo-driver-{host.name}"[:15])
        self.host, self.users = host, users
        self.state = DrivingState()
        self.lost_ns = 0
        self.news_pipes: Sequence[tuple[int, int | None]] = ()
        """The last user of each host that users log in to, and the pipe for what they type next."""
        self._connection, self._program = connection, program
        self._request: dict[str, Any] = {}
        self._trials: tuple[LogInTrial, ...] = ()
        self._environment: dict[str, str] = {}
        self._trouble: LoadgoError | None = None

    def asks(
        self, request: Mapping[str, Any], trials: Sequence[LogInTrial], environment: Mapping[str, str]
    ) -> FarDriving:
        """Sets what the agent is asked, before the context begins. `environment` is the script's."""
        self._request, self._trials, self._environment = dict(request), tuple(trials), dict(environment)
        return self

    @property
    def trouble(self) -> LoadgoError | None:
        """Why the driver does not go on, as soon as that is known; None while it does."""
        return self._trouble or self._failure

    @property
    def is_ready(self) -> bool:
        """Whether the driver is at its first barrier, and has said when its records begin."""
        return self.state.reached is not None and self.origin_ns is not None

    @property
    def clock(self) -> FarClock | None:
        """The clock of the driver's host, as it is known by now."""
        return None if self._agent is None else self._agent.clock.clock()

    @property
    def known_clock(self) -> FarClock:
        """The clock of a driver that is ready."""
        clock = self.clock
        assert clock is not None, "clocks are compared before an agent is asked to drive"
        return clock

    def order(self, order: Mapping[str, Any]) -> None:
        """Gives the driver an order."""
        if self._agent is not None:
            self._agent.order(order)

    def end(self) -> FarDrivingEnd:
        """Waits for the last records. The end must have been requested, or be near."""
        self._thread.join()
        outcome = self._answer.get("outcome")
        return FarDrivingEnd(
            host=self.host,
            users=self.users,
            origin_ns=self.origin_ns,
            clock=self.clock,
            outcome=outcome if outcome in ("done", "stopped") and self._failure is None else "",
            counts={name: _count(self._answer.get(name)) for name in _COUNTS},
            lost="" if self._failure is None else str(self._failure),
            lost_ns=self.lost_ns,
            notes=texts_of(self._answer.get("notes")),
            left_behind=texts_of(self._answer.get("left_behind")),
        )

    def _frames(self) -> Generator[Frame]:
        try:
            with agent_over(self._connection, self._program) as agent:
                self._agent = agent
                raise_if_stopped(self._left)
                agent.compare_clocks("beginning")
                for trial in self._trials:
                    self._try(agent, trial)
                yield from agent.ask(self._request, self._stop)
                agent.compare_clocks("end")
        except LoadgoError as trouble:
            self._trouble, self.lost_ns = trouble, time.monotonic_ns()
            raise
        except KeyboardInterrupt:
            self._left.set()
            raise

    def _try(self, agent: Agent, trial: LogInTrial) -> None:
        """Tries a log-in from the driver's host. Raises why users cannot log in from there."""
        about = {"id": self._request["id"], "command": trial.command, "environment": self._environment}
        request = {"do": "try", **about}
        (body,) = (body for kind, body in agent.ask(request, length_s=0.0) if kind == "answer")
        answer = parse_json(self.address, body, dict)
        status, messages = answer.get("status"), str(answer.get("messages", ""))
        where = f"users cannot log in to {trial.target} from {self.host.name}"
        if status is None:
            raise LoginUnfinished(f"{where}: the log-in there does not come to its end: see that it asks nothing")
        if status == SSH_FAILED_STATUS:
            failure = type(ssh_failure(trial.target, messages))
            host = trial.target.removeprefix("ssh://")
            raise failure(
                f"{where}: {shown_clause(messages) or SILENT_SSH}: see that "
                f"`ssh -o BatchMode=yes {host} true` asks nothing there: a key of that account, or a `Host` of its "
                "~/.ssh/config, and a known host key"
            )
        if isinstance(status, int) and 0 <= (number := status - trial.first_missing_status) < len(trial.programs):
            raise Refused(
                f"the script needs {as_code(trial.programs[number])}, which {trial.target} does not have on the path "
                f"of its log-in shell: {remedy_for([trial.programs[number]], elsewhere=True)}"
            )

    def _hear(self, kind: str, body: bytes) -> None:
        if kind == "next-lines":
            pass_on(body, range(self.users.first, self.users.last + 1), self.news_pipes)
        if kind != "progress":
            return
        told = parse_json(self.address, body, dict)
        phase, reached = told.get("phase"), told.get("reached")
        if phase not in PHASE_NAMES or reached not in (None, LOG_INS_BARRIER, LINES_BARRIER):
            raise WrongFrames(f"{self.address}: the agent's report is not in its form")
        self.state = replace(
            self.state,
            phase=phase,
            reached=reached,
            users_logged_in=min(_count(told.get("users_logged_in")), self.users.count),
            interactions=_count(told.get("interactions")),
        )


def _count(value: object) -> int:
    """A count from another host; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else 0
