"""This host as the system that users are logged in to: what only it can be asked for, and what it must have."""

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


@dataclass(frozen=True)
class Driver:
    """How the driver itself is to run, on a host."""

    fifo: bool = True
    """With real-time priority, where that is permitted."""
    processor: int | None = None
    """On this processor, and on no other."""
    log_ins_at_once: int | None = None
    """How many log-ins may be under way together; 16 by default."""


USUAL = Driver()

TIERS = ("none", "cheap", "exact")
"""What `meters` may be."""


def options(needs: Sequence[str], limit: str | None, usage_every: int | None, driver: Driver) -> dict[str, Any]:
    """What `_loadgo.run_host` is told beside the load.

    Raises `ValueError` for what makes no sense, `errors.Refused` when a program that the script `needs` is not here.
    """
    if limit is not None:
        with naming("limit"):
            _loadgo.parse_limit(limit)
    if usage_every is not None and not 1 <= usage_every < 2**31:
        raise BadArgument(f"usage cannot be read for every {usage_every}-th interaction: 1 reads each")
    _look_for(needs)
    return {
        "limit": limit,
        "search_path": _search_path(),
        "homes": tempfile.gettempdir(),
        "usage_every": usage_every,
        **asdict(driver),
    }


def meters(asked: str | None) -> str | None:
    """The tier of kernel meters that is asked for; None is cheap where the host allows them, else none.

    Raises `ValueError` for one that there is not.
    """
    if asked not in (None, *TIERS):
        raise BadArgument(f"there are no {asked} meters: say {', '.join(TIERS[:-1])} or {TIERS[-1]}")
    return asked


def _search_path() -> str:
    """Where the users find programs: with those that come with loadgo, such as the desk calculator."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])


def _look_for(programs: Sequence[str]) -> None:
    missing = [program for program in programs if shutil.which(program, path=_search_path()) is None]
    if missing:
        raise Refused(
            f"the script needs {', '.join(missing)}, which this host does not have: install it, or take another script"
        )
