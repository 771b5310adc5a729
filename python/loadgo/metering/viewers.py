"""Viewers of the running meters: Prometheus at an address of this host, and an OpenTelemetry collector.

Each viewer has threads of its own, which copy the sums and continue independently. A viewer that never reads, or a
collector that does not answer, delays nothing else.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadgo import _loadgo
from loadgo.errors import BadArgument, Refused
from loadgo.metering.totals import Totals

if TYPE_CHECKING:
    from loadgo.metering.opentelemetry import ExportCounts


@dataclass(frozen=True)
class Viewers:
    """The viewers of the meters. By default there are none."""

    serve: str | None = None
    """The address at which Prometheus reads the meters: `127.0.0.1:9464`."""
    beyond_loopback: bool = False
    """Whether other hosts may read the meters too."""
    otlp: str | None = None
    """The address of an OpenTelemetry collector: `http://127.0.0.1:4318/v1/metrics`."""

    @property
    def any(self) -> bool:
        return self.serve is not None or self.otlp is not None


NO_VIEWERS = Viewers()


@dataclass(frozen=True)
class OpenViewers:
    """Viewers that are running: the sums that they read, and the number of their exports."""

    totals: Totals | None = None
    """The sums; None without viewers."""
    serving: str | None = None
    """The address where the sums are served."""
    exports: ExportCounts | None = None
    """The exports to a collector, whose counts grow until the viewers end."""

    @property
    def failed_exports(self) -> int:
        """The number of exports that the collector did not accept."""
        return 0 if self.exports is None else self.exports.failed


@contextmanager
def open_viewers(viewers: Viewers, tier: str) -> Iterator[OpenViewers]:
    """Starts the viewers, which read the sums until the block ends.

    Raises `ValueError` for a wrong address or one that other hosts reach, `errors.Refused` if it cannot be used.
    """
    if not viewers.any:
        yield OpenViewers()
        return
    totals = Totals(tier, _loadgo.__version__)
    serving = exports = None
    with ExitStack() as views:
        if viewers.serve is not None:
            address, port = parse_address(viewers.serve, beyond_loopback=viewers.beyond_loopback)
            from loadgo.metering.prometheus import serve_metrics

            port = views.enter_context(serve_metrics(totals, address, port))
            serving = f"http://{f'[{address}]' if ':' in address else address}:{port}/metrics"
        if viewers.otlp is not None:
            exports = views.enter_context(_export(totals, viewers.otlp))
        yield OpenViewers(totals, serving, exports)


def parse_address(text: str, *, beyond_loopback: bool) -> tuple[str, int]:
    """Parses `ADDRESS:PORT`. A port alone is on the loopback.

    Raises `ValueError` for a text that is no address, and for one beyond the loopback without `beyond_loopback`.
    """
    host, _, number = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if host == "localhost":
        host = "127.0.0.1"
    try:
        address, port = ipaddress.ip_address(host), int(number)
    except ValueError:
        raise BadArgument(f"{text!r} is no address to serve: write it as 127.0.0.1:9464") from None
    if not 0 <= port < 1 << 16:
        raise BadArgument(f"{text!r}: there is no port {port}")
    if not (address.is_loopback or beyond_loopback):
        raise BadArgument(
            f"other hosts can reach {address}, and readers of the meters learn what runs here: serve 127.0.0.1, or "
            "allow it with `beyond_loopback`"
        ).about("beyond_loopback")
    return str(address), port


@contextmanager
def _export(totals: Totals, address: str) -> Iterator[ExportCounts]:
    try:
        from loadgo.metering.opentelemetry import export_metrics
    except ImportError:
        raise Refused("OpenTelemetry's exporter is not installed: pip install 'loadgo[otel]'") from None
    with export_metrics(totals, address) as exports:
        yield exports
