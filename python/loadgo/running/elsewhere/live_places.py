"""Tells those who watch a run where the records of each other host lie on the run's clock, while both go on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from loadgo.hosts.clock import FarClock
from loadgo.records.host_places import BETTER_BOUND_SHARE, MOVED_NS, ControllerLock, HostPlace, write_place

_LOOK_EVERY_NS = 1_000_000_000
"""Time between two looks at a host's clock, with which questions go once a second."""


@dataclass(frozen=True)
class HostLoss:
    """The loss of a host's agent while users were on the host."""

    reason: str
    monotonic_ns: int
    """When it was noticed, on the monotonic clock here."""


class LivePlaces:
    """The places of records below one folder, which counts as being received until the end of the context."""

    def __init__(self, folder: Path, origin_ns: int | None = None) -> None:
        """The places of a run that began at `origin_ns` on the monotonic clock here; None if that is not known yet."""
        self._folder, self._origin_ns = folder, origin_ns
        self._lock: ControllerLock | None = None
        self._written: dict[Path, HostPlace] = {}
        self._looked_ns: dict[Path, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.release()

    def hear(self, state: Mapping[str, Any]) -> None:
        """Learns from the progress of a run when it began.

        A message that comes late gives a later beginning, so the earliest is kept.
        """
        began_ns = time.monotonic_ns() - round(float(state["at_s"]) * 1e9)
        self._origin_ns = began_ns if self._origin_ns is None else min(began_ns, self._origin_ns)

    def tell(self, records: Path, clock: FarClock | None, far_origin_ns: int | None, loss: HostLoss | None) -> None:
        """Writes where a host's `records` lie, once they have a folder, and when that has changed.

        They begin at `far_origin_ns` on the `clock` there. A disk that refuses it is no error: the run goes on.
        """
        now_ns, before = time.monotonic_ns(), self._written.get(records)
        is_told = before is not None and bool(before.lost) == (loss is not None)
        if is_told and now_ns - self._looked_ns[records] < _LOOK_EVERY_NS:
            return
        if self._origin_ns is None or not (records / "run.toml").exists():
            return
        self._looked_ns[records] = now_ns
        place = _place(now_ns, self._origin_ns, clock, far_origin_ns, loss)
        if before is not None and is_told and not _differs(place, before):
            return
        with suppress(OSError):
            self._lock = self._lock or ControllerLock(self._folder)
            write_place(records, place)
            self._written[records] = place


def _place(
    now_ns: int, origin_ns: int, clock: FarClock | None, far_origin_ns: int | None, loss: HostLoss | None
) -> HostPlace:
    """The place by the offset of the clocks at this moment, from which later rows are placed."""
    begins_ns = None
    if clock is not None and far_origin_ns is not None:
        now_there_ns = clock.there_ns(now_ns)
        begins_ns = clock.here_ns([now_there_ns])[0] - (now_there_ns - far_origin_ns) - origin_ns
    return HostPlace(
        begins_ns=begins_ns,
        bound_ns=None if clock is None else clock.bound_ns,
        lost="" if loss is None else loss.reason,
        lost_at_s=None if loss is None else round((loss.monotonic_ns - origin_ns) / 1e9, 3),
    )


def _differs(place: HostPlace, before: HostPlace) -> bool:
    """Whether a picture of the run would show the difference."""
    if place.begins_ns is None or before.begins_ns is None or place.bound_ns is None or before.bound_ns is None:
        return place != before
    has_moved = abs(place.begins_ns - before.begins_ns) > MOVED_NS
    return has_moved or not BETTER_BOUND_SHARE < place.bound_ns / before.bound_ns < 1 / BETTER_BOUND_SHARE
