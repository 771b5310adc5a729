"""The hosts of a watched run as rows for a terminal: response, processors, run queue and memory of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from loadgo.notation.figures import NOT_MEASURED, cut, duration, in_words, number, plain, share
from loadgo.watching.hosts import LostHost, WindowHost
from loadgo.watching.window import WatchWindow

_NAME_CHARS = 12


def busiest_first(hosts: Sequence[WindowHost]) -> list[WindowHost]:
    """The hosts whose processors were measured, the busiest first."""
    metered = [host for host in hosts if not math.isnan(host.busy_share)]
    return sorted(metered, key=lambda host: (-host.busy_share, host.name))


def slowest_first(hosts: Sequence[WindowHost]) -> list[WindowHost]:
    """The hosts by the p90 of response, or by the p50 where that is not known."""
    return sorted(hosts, key=lambda host: (-(host.p90_ns or 0.0), -(host.p50_ns or 0.0), host.name))


def lost_in_words(window: WatchWindow) -> str:
    """A sentence that names the lost hosts; empty without one."""
    hosts: list[WindowHost | LostHost] = [*window.hosts, *([window.lost_host] if window.lost_host else [])]
    lost = [f"{plain(host.name)}{_at(host)}" for host in hosts if host.lost_ns is not None]
    return f"Lost: {in_words(lost)}. " if lost else ""


def host_lines(window: WatchWindow) -> list[str]:
    """A row for each host below a heading, the slowest first; empty for a run of one host."""
    if not window.hosts:
        return []
    heading = f"{'host':<{_NAME_CHARS}}{'count':>7}{'p50':>9}{'p90':>9}{'busy':>8}{'queue':>7}{'memory':>8}"
    rough = [
        f"clock of {plain(host.name)} known to {duration(host.bound_ns or 0)} only: its meters may be of other moments"
        for host in window.hosts
        if host.is_roughly_placed
    ]
    return [heading, *map(_row, slowest_first(window.hosts)), *rough]


def _row(host: WindowHost) -> str:
    p50 = NOT_MEASURED if host.p50_ns is None else duration(host.p50_ns)
    p90 = "few" if host.p90_ns is None else duration(host.p90_ns)
    name = cut(plain(host.name), _NAME_CHARS - 1)
    busy, queue, memory = (
        _known(host.busy_share, share),
        _known(host.queue_length, number),
        _known(host.memory_share, share),
    )
    return f"{name:<{_NAME_CHARS}}{host.count:>7,}{p50:>9}{p90:>9}{busy:>8}{queue:>7}{memory:>8}{_state(host)}"


def _state(host: WindowHost) -> str:
    """The remark that a host is lost or late; empty for one whose meters come."""
    if host.lost_ns is not None:
        return f"  lost{_at(host)}"
    return f"  late {duration(host.silent_ns)}" if host.is_late else ""


def _at(host: WindowHost | LostHost) -> str:
    return f" at {duration(host.lost_ns)}" if host.lost_ns else ""


def _known(value: float, words: Callable[[float], str]) -> str:
    return NOT_MEASURED if math.isnan(value) else words(value)
