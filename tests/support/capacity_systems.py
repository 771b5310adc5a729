"""Simulated systems whose capacity is known exactly: the machine repairman and the central server, for tests.

An arrival at M/M/1//N finds n users, distributed as in the steady state of N - 1 users (Lavenberg and Reiser 1980;
Sevcik and Mitrani 1981). In order of arrival its response is n + 1 services, so that quantiles are exact, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loadgo.running.prepared import RunSettings
from loadgo.sizing.search.outcomes import NextTrial, SearchGoal
from loadgo.sizing.search.rounds import RunTrial, TrialLength
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.site import TrialLoad, TrialSite, prepare_site, run_trial
from loadgo.sizing.targets import parse_targets
from loadgo.theory import queueing
from loadgo.theory.populations import Class, Station

from support.model_machines import HEAD, central_server, processors
from support.networks import mean_values

SCRIPT = 'name = "clerk"\nthink = "exponential({think_s}s)"\nlines = ["{command}"]\n'


@dataclass(frozen=True)
class KnownSystem:
    """A system, a target, and its capacity: the largest number of users that meets the target."""

    name: str
    machine: str
    script: str
    target: str
    capacity: int
    slope: float
    """Slope of the excess per user at the crossing: of the logarithm of a mean, or the logit of a share."""


def repairman_mean(service_s: float, limit_s: float, think_s: float = 10.0, servers: int = 1) -> KnownSystem:
    """M/M/c//N with a target on the mean response."""

    def response(users: int) -> float:
        return queueing.repairman(users, think_s, service_s, servers).response_s

    capacity = most(lambda users: response(users) < limit_s)
    beside = f" x {servers}" if servers > 1 else ""
    return KnownSystem(
        f"repairman {service_s:g} s{beside}, mean < {limit_s:g} s",
        _repairman_file(service_s, servers),
        SCRIPT.format(think_s=think_s, command="work"),
        f"mean < {limit_s}s",
        capacity,
        math.log(response(capacity + 1) / response(capacity)),
    )


def repairman_quantile(service_s: float, percent: float, limit_s: float, think_s: float = 10.0) -> KnownSystem:
    """M/M/1//N with a target on a quantile of the response."""
    target = f"p{percent:g} < {limit_s:g}s"
    allowed = 1 - percent / 100
    return _repairman_share(
        lambda users: slower(users, think_s, service_s, limit_s), allowed, target, service_s, think_s
    )


def repairman_busy(service_s: float, limit: float, think_s: float = 10.0) -> KnownSystem:
    """M/M/1//N with a target on the utilisation of the processor."""
    target = f"busy < {100 * limit:g}%"

    def busy(users: int) -> float:
        return queueing.repairman(users, think_s, service_s).utilisation

    return _repairman_share(busy, limit, target, service_s, think_s)


def _repairman_share(
    share: Callable[[int], float], limit: float, target: str, service_s: float, think_s: float
) -> KnownSystem:
    """M/M/1//N with a target that a share, such as that of slow interactions, is below its limit."""
    capacity = most(lambda users: share(users) < limit)
    return KnownSystem(
        f"repairman {service_s:g} s, {target}",
        _repairman_file(service_s, 1),
        SCRIPT.format(think_s=think_s, command="work"),
        target,
        capacity,
        _logit_slope(share, capacity),
    )


def central_mean(limit_s: float, disk_s: float = 0.2) -> KnownSystem:
    """Two processors, shared equally, and a disk, to which half of the bursts go."""

    def response(users: int) -> float:
        stations = [Station("processors", (0.6,), 2), Station("disk", (disk_s,))]
        return mean_values([Class("users", users, 10.0)], stations).response_s[0]

    capacity = most(lambda users: response(users) < limit_s)
    return KnownSystem(
        f"central server, disk {disk_s:g} s, mean < {limit_s:g} s",
        central_server(1, discipline="sharing", disk_s=disk_s),
        SCRIPT.format(think_s=10.0, command="transaction"),
        f"mean < {limit_s}s",
        capacity,
        math.log(response(capacity + 1) / response(capacity)),
    )


def _repairman_file(service_s: float, servers: int) -> str:
    several = processors(servers, "first-come") if servers > 1 else ""
    return f'{HEAD}{several}[commands.work]\ncpu = "exponential({service_s}s)"\n'


def _logit_slope(share: Callable[[int], float], capacity: int) -> float:
    here, next_ = share(capacity), share(capacity + 1)
    return math.log(next_ / (1 - next_)) - math.log(here / (1 - here))


def slower(users: int, think_s: float, service_s: float, limit_s: float) -> float:
    """The share of interactions of M/M/1//N that take longer than `limit_s`."""
    weights = [1.0]
    for there in range(1, users):
        weights.append(weights[-1] * (users - there) * service_s / think_s)
    services = limit_s / service_s
    term = longer = math.exp(-services)
    share = 0.0
    for ahead, weight in enumerate(weights):
        share += weight * longer
        term *= services / (ahead + 1)
        longer += term
    return share / sum(weights)


def most(is_met: Callable[[int], bool]) -> int:
    """The largest number of users for which the target is met."""
    users = 0
    while is_met(users + 1):
        users += 1
    return users


def laid(known: KnownSystem, folder: Path) -> TrialSite:
    """The system as files in `folder`, ready to be tried."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.toml").write_text(known.machine, encoding="utf-8")
    (folder / "script.toml").write_text(known.script, encoding="utf-8")
    return prepare_site(str(folder / "script.toml"), str(folder / "machine.toml"), RunSettings())


def search_goal(known: KnownSystem, within: int | None = 1) -> SearchGoal:
    """The search for its capacity."""
    return SearchGoal(parse_targets(known.target), 10_000, within, 200_000, 60, live=False)


def trial_runner(site: TrialSite, known: KnownSystem) -> RunTrial:
    """The function that runs the trials of a known system."""
    targets = parse_targets(known.target)

    def tries(step: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
        warm_up, seconds = (length.warm_up_s, length.seconds) if length else (None, None)
        return run_trial(
            site, targets, TrialLoad(step.users, seed, warm_up, seconds, step.interactions), lambda *_: True
        )

    return tries
