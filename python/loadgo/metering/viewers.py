"""Viewers of the running meters: Prometheus at an address of this host, and an OpenTelemetry collector.

Each viewer has threads of its own, which copy the sums and continue independently. A viewer that never reads, or a
collector that does not answer, delays nothing else.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from loadgo import _loadgo
from loadgo.errors import BadArgument, Refused
from loadgo.metering.totals import Totals


@dataclass(frozen=True)
class Viewers:
    """The viewers of the meters. None by default."""

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
class View:
    """The sums that viewers read, or None without viewers, and the address where they are served."""

    totals: Totals | None = None
    serving: str | None = None


@contextmanager
def open_viewers(viewers: Viewers, tier: str) -> Iterator[View]:
    """Opens the sums to `viewers` until the end.

    Raises `ValueError` for a wrong address or one that other hosts reach, `errors.Refused` if it cannot be used.
    """
    if not viewers.any:
        yield View()
        return
    totals = Totals(tier, _loadgo.__version__)
    serving = None
    with ExitStack() as views:
        if viewers.serve is not None:
            address, port = parse_address(viewers.serve, beyond_loopback=viewers.beyond_loopback)
            from loadgo.metering.prometheus import serve_metrics

            port = views.enter_context(serve_metrics(totals, address, port))
            serving = f"http://{f'[{address}]' if ':' in address else address}:{port}/metrics"
        if viewers.otlp is not None:
            views.enter_context(_export(totals, viewers.otlp))
        yield View(totals, serving)


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
            f"{address} can be reached by others than this host, and whoever reads the meters learns what runs here: "
            "serve 127.0.0.1, or say `beyond_loopback`"
        ).about("beyond_loopback")
    return str(address), port


@contextmanager
def _export(totals: Totals, address: str) -> Iterator[None]:
    try:
        from loadgo.metering.opentelemetry import export_metrics
    except ImportError:
        raise Refused("OpenTelemetry's exporter is not installed: pip install 'loadgo[otel]'") from None
    with export_metrics(totals, address):
        yield
