"""Watching hosts without a run: meters them into a temporary folder, which is deleted when the watching ends."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from loadgo.errors import LoadgoError, Refused
from loadgo.hosts.address import HERE_NAME
from loadgo.records.fleets import FLEET_FOLDER
from loadgo.running.process_call import ProcessCall

HostTier = Literal["cheap", "cheap,locks", "cheap,profile", "sampled", "exact"]
"""A tier of a host's meters."""

_STREAMS = ("time.arrows", f"{FLEET_FOLDER}/*/time.arrows")
"""The stream of one host, and the streams of several."""
_START_TIMEOUT_S = 60.0
_POLL_PERIOD_S = 0.1


@contextmanager
def metered(tier: HostTier = "cheap", every: str = "1s", *, on: str = HERE_NAME, sudo: bool = False) -> Iterator[Path]:
    """Meters a host in the background, and yields the folder. Raises `errors.Refused` if metering cannot begin.

    The process in the background has no terminal, on which ssh could ask for a password.
    """
    with TemporaryDirectory(prefix="loadgo-watch-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "host"
        metering = ProcessCall(_meter, folder=folder, tier=tier, every=every, on=on, sudo=sudo)
        try:
            _await(metering, folder, "this host" if on == HERE_NAME else on)
            yield folder
        finally:
            metering.end()


def _meter(folder: Path, tier: HostTier, every: str, on: str, sudo: bool) -> None:
    """Meters into `folder` until it is interrupted. Deletes the folder, because the caller may have ended."""
    from loadgo.metering.meter import meter

    try:
        with suppress(KeyboardInterrupt):
            meter(meters=tier, every=every, out=folder, on=on, sudo=sudo)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _await(metering: ProcessCall, folder: Path, host: str) -> None:
    """Waits until the folder can be followed."""
    until = time.monotonic() + _START_TIMEOUT_S
    while not any((folder / "run.toml").exists() and list(folder.glob(place)) for place in _STREAMS):
        if metering.ended:
            reason = _reason(metering)
            raise Refused(f"{host} could not be metered: {reason}; a run can be watched by whoever may read its folder")
        if time.monotonic() > until:
            raise Refused(f"the metering of {host} has not begun within {_START_TIMEOUT_S:.0f} s")
        time.sleep(_POLL_PERIOD_S)


def _reason(metering: ProcessCall) -> str:
    try:
        metering.result()
    except (LoadgoError, ValueError, OSError) as error:
        return str(error)
    return "no reason was given"
