"""Where the records of another host lie on the clock of their run, as far as it is known while the run goes.

The file lies beside these records, and the controller writes it again when its clocks are known better. Beside it is
a file that the controller locks until the records are in the run's tables: nothing more comes once it is free.
"""

from __future__ import annotations

import fcntl
import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PLACE_FILE = "place.toml"
_LOCK_FILE = "controller.lock"
WIDEST_BOUND_NS = 100_000_000
"""The widest bound of a good clock. A record covers a second, and may not be misplaced by more than a tenth of it."""


MOVED_NS = 100_000
"""A beginning that has moved by less is not written again: no picture shows it."""
BETTER_BOUND_SHARE = 0.9
"""A bound within this share of the one before is not written again."""


@dataclass(frozen=True)
class HostPlace:
    """The place of a host's records, and the host's loss."""

    begins_ns: int | None = None
    """The beginning of the records on the run's clock; None if it is not known."""
    bound_ns: int | None = None
    """The largest error of the clocks; None if they were not compared."""
    lost: str = ""
    """Why the host was lost; empty if it was not."""
    lost_at_s: float | None = None
    """When that was noticed, since the run began."""

    @property
    def error_ns(self) -> int | None:
        """The largest error of an instant of now that is placed by this; None if the clocks were not compared."""
        return None if self.bound_ns is None else round(self.bound_ns / BETTER_BOUND_SHARE) + MOVED_NS


def write_place(folder: Path, place: HostPlace) -> None:
    """Writes the place of the records in `folder` in one step. Raises `OSError`."""
    import tomlkit

    known = {key: value for key, value in vars(place).items() if value not in (None, "")}
    part = folder / f"{PLACE_FILE}.part"
    part.write_text(tomlkit.dumps(known), encoding="utf-8")
    part.replace(folder / PLACE_FILE)


def read_place(folder: Path) -> HostPlace | None:
    """The place of the records in `folder`; None without one that can be read."""
    try:
        known = tomllib.loads((folder / PLACE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    begins_ns, bound_ns, at_s = (known.get(key) for key in ("begins_ns", "bound_ns", "lost_at_s"))
    return HostPlace(
        begins_ns if isinstance(begins_ns, int) else None,
        bound_ns if isinstance(bound_ns, int) else None,
        str(known.get("lost", "")),
        at_s if isinstance(at_s, float) else None,
    )


class ControllerLock:
    """The lock of the controller that receives the records in `folder`, until it is released."""

    def __init__(self, folder: Path) -> None:
        """Takes the lock. Raises `OSError`."""
        self._handle: int | None = os.open(folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def release(self) -> None:
        """Releases the lock; the file stays."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def has_controller(folder: Path) -> bool:
    """Whether a controller still receives the records in `folder`, or places them."""
    try:
        handle = os.open(folder / _LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        with suppress(OSError):
            os.close(handle)
    return False
