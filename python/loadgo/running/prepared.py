"""A script and a system, checked and ready for a run. A capacity search runs each trial with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgo import _loadgo
from loadgo.errors import BadArgument, Mistake, naming
from loadgo.hosts.address import SSH_SCHEME, parse_host
from loadgo.hosts.fleet import is_fleet, parse_driver_hosts, read_fleet, refuse_fleet
from loadgo.notation import quantities
from loadgo.notation.figures import counted, in_words
from loadgo.running import host, simulated_machine
from loadgo.running.bundled import Source
from loadgo.running.host import DEFAULT_DRIVER, Driver
from loadgo.running.load import check_types

if TYPE_CHECKING:
    from loadgo.running.elsewhere.other_host import UsersDrivers

THIS_HOST = "here"
"""The name of this host as a system."""

RunProgress = dict[str, Any]
"""The state of a run, as the driver reports it about three times a second, or its result."""
ReportProgress = Callable[[RunProgress], None]
RunDriver = Callable[[str, dict[str, Any], str, Callable[[RunProgress], bool]], RunProgress]
"""Runs a script's text with options into a folder, until its progress function returns False."""


@dataclass(frozen=True)
class RunSettings:
    """Arguments of `loadgo.run` besides the load: the users' pace, their limits, and the metering."""

    think: str | None = None
    typing: float | str | None = None
    set: tuple[str, ...] = ()
    limit: str | None = None
    usage_every: int | None = None
    meters: str | None = None
    driver: Driver = DEFAULT_DRIVER
    login: str | None = None
    """The command that logs users in to this host, in place of the script's."""
    without_lost: int = 0
    """The number of hosts, driven or driving, without which the run still counts."""
    driven_from: tuple[str, ...] = ()
    """The hosts that drive the users; none for this host."""
    limit_each: str | None = None
    """The limits of each user."""
    limit_single: tuple[tuple[tuple[int, ...], str], ...] = ()
    """Users with other limits than each: their numbers and the limits."""
    working_sets: bool = False
    """Whether to measure how much of their memory the users' processes refer to."""


@dataclass(frozen=True)
class PreparedRun:
    """A checked script with the system that it runs on."""

    script: dict[str, Any]
    """The script, parsed: passes, needs, lines and more."""
    run_script: RunDriver
    options: dict[str, Any]
    """The options of `run_script` besides the load."""
    machine: simulated_machine.SimulatedMachine | None = None
    """None on a host."""
    cpu_limit: float | None = None
    """The number of processors that the users of this host may use together; None without such a limit."""
    limit_warnings: tuple[str, ...] = ()
    """The limits that this host cannot reach."""

    @property
    def system(self) -> dict[str, Any]:
        """The machine's name, title and tariff, which prices need; empty on a host."""
        return {} if self.machine is None else self.machine.system


def prepare_system(source: Source, on: str, settings: RunSettings, *, sudo: bool) -> PreparedRun:
    """Checks a script and the system `on`: a host, this one or another, or a machine. Raises what `prepare_run` raises.

    `sudo` is for the agent on another host.
    """
    if settings.without_lost and not settings.driven_from:
        raise BadArgument("`without_lost` is for a run on several hosts: name a list of them with `on`").about(
            "without_lost", "on"
        )
    if str(on).startswith(SSH_SCHEME):
        return prepare_other_host(source, on, settings, sudo=sudo)
    if sudo:
        raise BadArgument("`sudo` is for another host: name one with `on`").about("sudo", "on")
    if settings.driven_from:
        raise BadArgument(
            "`driven_from` names hosts that drive the users of another host: name that host with `on`: ssh://HOST"
        ).about("driven_from", "on")
    return prepare_run(source, on, settings)


def is_host(on: str) -> bool:
    """Whether the system `on` is a host, this one or another, or a list of hosts, and not a simulated machine."""
    return on == THIS_HOST or str(on).startswith(SSH_SCHEME) or is_fleet(str(on))


def prepare_systems(source: Source, on: str, settings: RunSettings, *, sudo: bool) -> PreparedRun:
    """Does what `prepare_system` does, and takes several hosts, too: `on` may be the path of a list of hosts."""
    check_types({"without_lost": settings.without_lost})
    return (prepare_fleet if is_fleet(str(on)) else prepare_system)(source, str(on), settings, sudo=sudo)


def prepare_run(source: Source, on: str, settings: RunSettings) -> PreparedRun:
    """Checks a script and the system `on`.

    Raises `errors.Mistake` for a mistake in the script or the machine file, and `ValueError` for an invalid setting.
    Raises `errors.Refused` if this host lacks a program that the script needs.
    """
    names = ("think", "typing", "limit", "limit_each", "usage_every", "meters", "login")
    check_types({name: getattr(settings, name) for name in names})
    pace = _pace_options(settings)
    script = parse_script_file(source)
    if str(on).startswith(SSH_SCHEME):
        raise BadArgument(
            f"`on={on}`: another host is for `run`, `capacity`, `ab`, `meter` and `doctor`: start this on that host"
        ).about("on")
    refuse_fleet(str(on), "name one host: ssh://HOST")
    if on == THIS_HOST:
        if settings.set:
            raise BadArgument("`set` changes a simulated machine: name one with `on`").about("set", "on")
        options = host.host_options(
            script["needs"], settings.limit, settings.usage_every, settings.driver, working_sets=settings.working_sets
        )
        further = {"meters": host.parse_meter_tier(settings.meters), "login": settings.login}
        further |= host.each_options(settings.limit_each, settings.limit_single)
        warnings = host.limit_warnings(settings.limit, settings.limit_each)
        cpus = host.cpu_limit(settings.limit)
        return PreparedRun(script, run_host, {**options, **further, **pace}, cpu_limit=cpus, limit_warnings=warnings)
    if settings.login is not None:
        raise BadArgument("`login` is for this host: nobody logs in to a simulated machine").about("login", "on")
    machine = simulated_machine.prepare_machine(
        on,
        settings.set,
        limit=settings.limit,
        limit_each=settings.limit_each,
        limit_single=settings.limit_single,
        usage_every=settings.usage_every,
        working_sets=settings.working_sets,
        meters=settings.meters,
        driver=settings.driver,
    )
    return PreparedRun(script, run_machine, {**machine.options, **pace}, machine)


def prepare_other_host(source: Source, on: str, settings: RunSettings, *, sudo: bool) -> PreparedRun:
    """Checks a script and another host as the system `on`, without a log-in. Raises what `prepare_run` raises."""
    from loadgo.running.elsewhere.other_host import OtherHostDriver

    address = parse_host(on)
    assert address is not None, "it has ssh's scheme"
    drivers = _drivers(settings, hosts=1)
    script, options, meters = _checked_for_ssh(source, settings)
    drive = OtherHostDriver(address, sudo, meters, script["login"], tuple(script["needs"]), drivers)
    return PreparedRun(script, drive, options)


def prepare_fleet(source: Source, on: str, settings: RunSettings, *, sudo: bool) -> PreparedRun:
    """Checks a script and a list of hosts as the system `on`, without a log-in. Raises what `prepare_run` raises."""
    from loadgo.running.elsewhere.fleet import FleetDriver

    hosts = read_fleet(on)
    drivers = _drivers(settings, hosts=len(hosts))
    script, options, meters = _checked_for_ssh(source, settings)
    needs = tuple(script["needs"])
    drive = FleetDriver(on, hosts, sudo, meters, script["login"], needs, settings.without_lost, drivers)
    return PreparedRun(script, drive, options)


def _drivers(settings: RunSettings, *, hosts: int) -> UsersDrivers:
    """The drivers of the users of a run on so many other hosts. Raises `BadArgument` for a wrong `without_lost`."""
    from loadgo.running.elsewhere.other_host import DriverHere

    driving = parse_driver_hosts(settings.driven_from) if settings.driven_from else ()
    most = hosts - 1 + max(0, len(driving) - 1)
    if not 0 <= settings.without_lost <= most:
        all_of_them = in_words([counted(hosts, "host"), *([counted(len(driving), "driver")] if driving else [])])
        raise BadArgument(
            f"`without_lost={settings.without_lost}` of {all_of_them}: 0 to {most} are possible, so that one of each "
            "is left"
        ).about("without_lost")
    if not driving:
        return DriverHere(run_host)
    from loadgo.running.elsewhere.drivers import DriversElsewhere

    return DriversElsewhere(driving, settings.without_lost)


def _checked_for_ssh(source: Source, settings: RunSettings) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """A script for users who log in to other hosts by ssh, the options of its run, and the tier of meters there."""
    from loadgo.running.elsewhere.other_host import MOST_STARTING_SESSIONS, check_script

    if settings.login is not None:
        raise BadArgument("`login` is for this host: users of another host log in to it by ssh").about("login", "on")
    if settings.set:
        raise BadArgument("`set` changes a simulated machine: name one with `on`").about("set", "on")
    if settings.working_sets:
        raise BadArgument(
            "`working_sets` are of users of this host: run loadgo on the host whose users' memory is asked for"
        ).about("working_sets", "on")
    names = ("think", "typing", "limit", "limit_each", "usage_every", "meters")
    check_types({name: getattr(settings, name) for name in names})
    script = parse_script_file(source)
    limits = {"limit": settings.limit, "limit_each": settings.limit_each or settings.limit_single or None}
    check_script(source, script["login"], limits)
    meters = host.parse_meter_tier(settings.meters)
    options = host.host_options((), None, settings.usage_every, settings.driver)
    options["log_ins_at_once"] = options["log_ins_at_once"] or MOST_STARTING_SESSIONS
    return script, {**options, "meters": "none", **_pace_options(settings)}, meters


def parse_script_file(source: Source) -> dict[str, Any]:
    """Parses a script. Raises `errors.Mistake` with the file's name."""
    try:
        return _loadgo.parse_script(source.text)
    except Mistake as mistake:
        raise mistake.in_file(str(source.path)) from None


def line_count(script: str) -> int:
    """The number of lines that a user types in one pass of a script's text. Raises `errors.Mistake`."""
    return len(_loadgo.parse_script(script)["lines"])


def run_host(script: str, options: dict[str, Any], folder: str, report: Callable[[RunProgress], bool]) -> RunProgress:
    """Runs a script's text on this host. Raises `errors.Mistake`, `errors.Refused`, `errors.BadRun`."""
    return _loadgo.run_host(script, options, folder, report)


def run_machine(
    script: str, options: dict[str, Any], folder: str, report: Callable[[RunProgress], bool]
) -> RunProgress:
    """Runs a script's text on a simulated machine. Raises what `run_host` raises, and `ValueError`."""
    return _loadgo.run_machine(script, options, folder, report)


def _pace_options(settings: RunSettings) -> dict[str, Any]:
    """The think time and typing rate that replace the script's, if given. Rate 0 sends each line at once."""
    pace: dict[str, Any] = {}
    if settings.think is not None:
        with naming("think"):
            pace["think"] = _loadgo.parse_think(settings.think)
    if settings.typing is not None:
        with naming("typing"):
            pace["typing"] = quantities.chars_per_second(settings.typing) or 0.0
    return pace
