"""This host as the system that users are logged in to: its options, and the programs that a script needs."""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from loadgo import _loadgo
from loadgo.errors import BadArgument, Refused, naming
from loadgo.measures.limits import unreachable_limits
from loadgo.notation.figures import as_code
from loadgo.running.needed_programs import remedy_for


@dataclass(frozen=True)
class Driver:
    """How the driver itself runs, on a host."""

    fifo: bool = True
    """Whether the driver runs with real-time priority, if that is permitted."""
    processor: int | None = None
    """The only processor that the driver runs on, if given."""
    log_ins_at_once: int | None = None
    """Largest number of log-ins at the same time. Default: 16."""


DEFAULT_DRIVER = Driver()

METER_TIERS = ("none", "cheap", "cheap,locks", "cheap,profile", "sampled", "exact")
"""Values of `meters`."""


def host_options(
    needs: Sequence[str], limit: str | None, usage_every: int | None, driver: Driver, *, working_sets: bool = False
) -> dict[str, Any]:
    """The options of `_loadgo.run_host` besides the load.

    Raises `ValueError` for an invalid option, and `errors.Refused` for a missing program of `needs`.
    """
    cpu_limit(limit)
    if usage_every is not None and not 1 <= usage_every < 2**31:
        raise BadArgument(f"usage cannot be read for every {usage_every}-th interaction: at least 1, which reads each")
    _check_programs(needs)
    return {
        "limit": limit,
        "search_path": _search_path(),
        "homes": tempfile.gettempdir(),
        "usage_every": usage_every,
        "working_sets": working_sets,
        **asdict(driver),
    }


def cpu_limit(limit: str | None) -> float | None:
    """The number of processors that a limit allows the users, such as 0.5 for `cpus=0.5`; None without such a limit.

    Raises `ValueError` for an invalid limit.
    """
    cpus: float | None = _parse_limit(limit).get("cpus")
    return cpus


def each_options(limit_each: str | None, single: Sequence[tuple[Sequence[int], str]]) -> dict[str, Any]:
    """The options of `_loadgo.run_host` about limits of each user. Raises `ValueError` for an invalid limit."""
    for text in (limit_each, *(text for _, text in single)):
        parse_limit_each(text)
    return {"limit_each": limit_each, "limit_single": [(list(users), text) for users, text in single]}


def limit_warnings(limit: str | None, limit_each: str | None = None) -> tuple[str, ...]:
    """A warning for each limit that this host cannot reach. Raises `ValueError` for an invalid limit."""
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    here = {"processors": len(os.sched_getaffinity(0)), "memory_bytes": memory_bytes}
    return (*unreachable_limits(_parse_limit(limit), here), *unreachable_limits(parse_limit_each(limit_each), here))


def parse_limit_each(limit_each: str | None) -> dict[str, Any]:
    """The limits of each user by name; empty without any. Raises `ValueError` for an invalid limit."""
    if limit_each is None:
        return {}
    with naming("limit_each"):
        return unnamed_limits(limit_each)


def unnamed_limits(text: str) -> dict[str, Any]:
    """The limits of each user by name. The `ValueError` of an invalid one names no argument."""
    return dict(_loadgo.parse_limit_each(text))


def _parse_limit(limit: str | None) -> dict[str, Any]:
    """The limits by name; empty without any. Raises `ValueError` for an invalid limit."""
    if limit is None:
        return {}
    with naming("limit"):
        return dict(_loadgo.parse_limit(limit))


def parse_meter_tier(tier: str | None) -> str | None:
    """Checks a tier of kernel meters. None means `cheap` if the host allows it, else `none`.

    Raises `ValueError` for an unknown tier.
    """
    if tier not in (None, *METER_TIERS):
        *others, last = (f"'{name}'" for name in METER_TIERS)
        raise BadArgument(f"there are no {tier} meters: write {', '.join(others)} or {last}")
    return tier


def _search_path() -> str:
    """The users' search path: loadgo's own programs, such as the desk calculator, and the path of this process."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def _check_programs(programs: Sequence[str]) -> None:
    missing = [program for program in programs if shutil.which(program, path=_search_path()) is None]
    if missing:
        needed = ", ".join(map(as_code, missing))
        raise Refused(f"the script needs {needed}, which this host does not have: {remedy_for(missing)}")
