"""Users driven from several hosts at once: each has an agent that drives a range of them.

Nothing steers while the run goes. There are two barriers: all agents are ready, and all users are logged in. Then every
agent is told the instant at which its users begin, on its own clock. A driver that is lost takes its users with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.hosts.address import ThisHost
from loadgo.hosts.connection import Connection, raise_if_stopped
from loadgo.hosts.delivery import AgentProgram, deliver, find_agent_program
from loadgo.hosts.fleet import FleetHost, user_ranges
from loadgo.hosts.local_connection import connect_here
from loadgo.records.drivers import DRIVERS_FOLDER
from loadgo.running.elsewhere.driven_run_folder import DrivenRun, begin_driven_run, complete_driven_run, fail_driven_run
from loadgo.running.elsewhere.driving import LINES_BARRIER, PHASE_NAMES, FarDriving, FarDrivingEnd, LogInTrial
from loadgo.running.elsewhere.kept_connections import connection_for_run
from loadgo.running.elsewhere.other_host import Progress
from loadgo.running.stopping import catch_stop_signals

_LOOK_EVERY_S = 0.1
_FEWEST_S_TO_BEGINNING = 1.0
"""Time from the order to begin to the beginning, beside what the slowest connection takes."""
_ROUND_TRIPS_TO_BEGINNING = 4
_LOAD_KEYS = (
    *("passes", "duration_s", "warm_up_s", "until", "arrivals_per_second", "arrivals_from", "seed"),
    *("login", "think", "typing"),
)
"""Keys of a run's options that are the same for all drivers."""


@dataclass(frozen=True)
class DriversElsewhere:
    """Drives users from several hosts: in place of `_loadgo.run_host`, and with its result."""

    hosts: tuple[FleetHost, ...]
    without_lost: int = 0
    """The number of hosts, driven or driving, without which the run still counts."""

    def try_log_in(self, connection: Connection, environment: dict[str, str], needs: Sequence[str]) -> None:
        """Does nothing: log-ins are tried from the drivers' hosts, with the options `log_in_trials`."""

    def __call__(
        self, script: str, options: dict[str, Any], folder: str, report: Callable[[Progress], bool]
    ) -> Progress:
        """Runs a script's text into a folder. Raises what `_loadgo.run_host` raises, and the branches of `NoAgent`."""
        options = dict(options)
        trials: Sequence[LogInTrial] = options.pop("log_in_trials", ())
        environment: Mapping[str, str] = options.pop("script_environment", {})
        program, place = find_agent_program(), Path(folder)
        ranges = user_ranges(self.hosts, options["users"])
        with catch_stop_signals() as stop, _kept_if_it_breaks_off() as drive, ExitStack() as opened:
            connections = [opened.enter_context(_connected(host, program, stop)) for host in self.hosts]
            for host, users, connection in zip(self.hosts, ranges, connections, strict=True):
                at_hand = replace(program, is_here=True) if isinstance(host.address, ThisHost) else program
                driving = FarDriving(connection, at_hand, host, users, place / DRIVERS_FOLDER / host.name)
                load = {"first_user": users.first, "users": users.count}
                request = _request(script, options, place.name, str(host.address), load, len(self.hosts))
                driving.news_pipes = [(last, pipe) for last, _, _, pipe in options["other_host_users"]]
                drive.drivings.append(opened.enter_context(driving.asks(request, trials, environment)))
            run = drive.begin(script, options, place, stop, self.without_lost)
            drive.until_all_have_left(run, report, stop)
        return complete_driven_run(run, drive.ends(), was_stopped=drive.was_stopped)


@contextmanager
def _kept_if_it_breaks_off() -> Iterator[_Drive]:
    """A drive whose records are kept in its run's folder even if an error ends it."""
    drive = _Drive()
    try:
        yield drive
    except BaseException as error:
        if drive.run is not None:
            fail_driven_run(drive.run, drive.ends(), error)
        raise


@contextmanager
def _connected(host: FleetHost, program: AgentProgram, stop: threading.Event) -> Iterator[Connection]:
    """A connection to a driver's host, which has the agent's program."""
    if isinstance(host.address, ThisHost):
        with connect_here(program, stop) as connection:
            yield connection
        return
    with connection_for_run(host.address, program, stop) as connection:
        deliver(connection, program)
        yield replace(connection, answer=[connection.answer[0], program.sha256])


def _request(
    script: str, options: Mapping[str, Any], run: str, address: str, load: Mapping[str, int], drivers: int
) -> dict[str, Any]:
    """The request to the agent of one driver."""
    log_ins = options["log_ins_at_once"]
    return {
        "do": "drive",
        "id": run,
        "address": address,
        "load": {
            "script_text": script,
            "script_name": options["script"],
            "command": options["command"],
            "fail_if": [],
            **{key: options.get(key) for key in _LOAD_KEYS},
            "log_ins_at_once": None if log_ins is None else max(1, log_ins // drivers),
            **load,
        },
        "destinations": [
            {"last_user": last, "login": login, "sessions": sessions, "next_lines": pipe is not None}
            for last, login, sessions, pipe in options["other_host_users"]
        ],
        "fifo": options["fifo"],
        "processor": options["processor"],
        "usage_every": options["usage_every"],
    }


@dataclass
class _Drive:
    """All drivers at work, from the start of their agents until their users have left."""

    drivings: list[FarDriving] = field(default_factory=list)
    run: DrivenRun | None = None
    was_stopped: bool = False
    _started: list[FarDriving] = field(default_factory=list)
    """The drivers whose users may log in."""

    def ends(self) -> list[FarDrivingEnd]:
        """The ends of all drivers, which do not work any more."""
        return [driving.end() for driving in self.drivings]

    def begin(
        self, script: str, options: dict[str, Any], place: Path, stop: threading.Event, without_lost: int
    ) -> DrivenRun:
        """Waits until all drivers are ready, and makes the run's folder. Raises why a driver is not ready."""
        while not all(driving.is_ready for driving in self.drivings):
            raise_if_stopped(stop)
            self._raise_trouble()
            time.sleep(_LOOK_EVERY_S)
        self.run = begin_driven_run(script, options, place, self.drivings, without_lost)
        for driving in self.drivings:
            driving.folder_exists()
        return self.run

    def until_all_have_left(self, run: DrivenRun, report: Callable[[Progress], bool], stop: threading.Event) -> None:
        """Passes both barriers, and waits for the end. Raises why a driver is lost before the load begins."""
        has_begun = False
        while not all(driving.is_over for driving in self.drivings):
            self._give_users_up(run)
            if not has_begun and not self.was_stopped:
                self._raise_trouble()
                self._log_more_in(run)
                if has_begun := all(map(self._is_in, self.drivings)):
                    self._begin(run)
            if not report(self._state(run)) or stop.is_set():
                self._stop()
            time.sleep(_LOOK_EVERY_S)
        if not has_begun and not self.was_stopped:
            self._raise_trouble()

    def _raise_trouble(self) -> None:
        """Raises why a driver is lost."""
        for driving in self.drivings:
            if driving.trouble is not None:
                raise driving.trouble

    def _stop(self) -> None:
        self.was_stopped = True
        for driving in self.drivings:
            driving.request_end()

    @staticmethod
    def _is_in(driving: FarDriving) -> bool:
        """Whether the users of a driver are logged in."""
        return driving.state.reached == LINES_BARRIER

    def _log_more_in(self, run: DrivenRun) -> None:
        """Lets drivers log their users in, as many at a time as log-ins may be under way."""
        most = run.options["log_ins_at_once"] or len(self.drivings)
        under_way = sum(not self._is_in(driving) for driving in self._started)
        waiting = [driving for driving in self.drivings if driving not in self._started and not self._is_in(driving)]
        for driving in waiting[: max(0, most - under_way)]:
            self._started.append(driving)
            driving.order({"do": "log-in"})

    def _begin(self, run: DrivenRun) -> None:
        """Lets all users begin at one instant, which each driver is told on its own clock."""
        clocks = [driving.known_clock for driving in self.drivings]
        slowest_ns = 2 * max(clock.bound_ns for clock in clocks)
        wait_ns = int(_FEWEST_S_TO_BEGINNING * 1e9) + _ROUND_TRIPS_TO_BEGINNING * slowest_ns
        run.begins_ns = time.monotonic_ns() + wait_ns
        for driving, clock in zip(self.drivings, clocks, strict=True):
            run.begin_bounds_ns[driving.host.name] = clock.best.bound_ns
            driving.order({"do": "begin", "at_ns": max(0, clock.there_ns(run.begins_ns))})

    def _give_users_up(self, run: DrivenRun) -> None:
        """Passes on which users are given up, since their host is lost."""
        given_up: _loadgo.UsersToGiveUp | None = run.options.get("given_up")
        for first, last, reason in given_up.taken() if given_up is not None else ():
            order = {"do": "give-up", "first_user": first, "last_user": last, "reason": reason}
            for driving in self.drivings:
                driving.order(order)

    def _state(self, run: DrivenRun) -> Progress:
        """The progress of all drivers together: the phase is that of the last."""
        at_work = [driving.state for driving in self.drivings if not driving.is_over] or [
            driving.state for driving in self.drivings
        ]
        return {
            "phase": min((state.phase for state in at_work), key=PHASE_NAMES.index),
            "at_s": (time.monotonic_ns() - run.origin_ns) / 1e9,
            "computed_s": None,
            "users_logged_in": sum(driving.state.users_logged_in for driving in self.drivings),
            "users": run.options["users"],
            "interactions": sum(driving.state.interactions for driving in self.drivings),
            "interactions_expected": run.interactions_expected,
        }
