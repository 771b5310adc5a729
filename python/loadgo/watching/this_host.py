"""This host watched without a run: it is metered into a folder of its own, which goes when the watching ends."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from loadgo.errors import LoadgoError, Refused
from loadgo.running.apart import Apart

_PATIENCE_S = 60.0
_LOOK_S = 0.1


@contextmanager
def metered(tier: Literal["cheap", "exact"] = "cheap", every: str = "1s") -> Iterator[Path]:
    """The folder of a metering that goes on meanwhile. Raises `errors.Refused` when it does not begin."""
    with TemporaryDirectory(prefix="loadgo-watch-", ignore_cleanup_errors=True) as kept:
        folder = Path(kept) / "host"
        metering = Apart(_meter, folder=folder, tier=tier, every=every)
        try:
            _await(metering, folder)
            yield folder
        finally:
            metering.end()


def _meter(folder: Path, tier: Literal["cheap", "exact"], every: str) -> None:
    """Meters into `folder` until it is interrupted; leaves nothing behind, for the caller may be gone."""
    from loadgo.metering.meter import meter

    try:
        with suppress(KeyboardInterrupt):
            meter(meters=tier, every=every, out=folder)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _await(metering: Apart, folder: Path) -> None:
    """Waits until the folder is one that can be followed."""
    until = time.monotonic() + _PATIENCE_S
    while not ((folder / "run.toml").exists() and (folder / "time.arrows").exists()):
        if metering.ended:
            why = _reason(metering)
            raise Refused(f"this host could not be metered: {why}; a run can be watched by whoever may read its folder")
        if time.monotonic() > until:
            raise Refused(f"the metering of this host has not begun within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)


def _reason(metering: Apart) -> str:
    try:
        metering.result()
    except (LoadgoError, ValueError, OSError) as why:
        return str(why)
    return "no reason was given"
