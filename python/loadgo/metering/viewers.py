"""Who reads the meters while they are at work: Prometheus by an address of this host, an OpenTelemetry collector.

Each viewer has threads of its own, which copy the sums and then go at their own pace: one that never reads, or a
collector that does not answer, keeps nobody waiting.
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
    """Who reads the meters; nobody by default."""

    serve: str | None = None
    """Where Prometheus reads them: `127.0.0.1:9464`."""
    beyond_loopback: bool = False
    """That others than this host may read them there."""
    otlp: str | None = None
    """The address of an OpenTelemetry collector: `http://127.0.0.1:4318/v1/metrics`."""

    @property
    def any(self) -> bool:
        return self.serve is not None or self.otlp is not None


NOBODY = Viewers()


@dataclass(frozen=True)
class View:
    """The sums that viewers read; None where there is nobody. And where they are served."""

    totals: Totals | None = None
    serving: str | None = None


@contextmanager
def viewed(viewers: Viewers, tier: str) -> Iterator[View]:
    """The sums that `viewers` read, while they are open to them.

    Raises `ValueError` for an address that is none or that others could reach, `errors.Refused` when it is taken.
    """
    if not viewers.any:
        yield View()
        return
    totals = Totals(tier, _loadgo.__version__)
    serving = None
    with ExitStack() as views:
        if viewers.serve is not None:
            address, port = place(viewers.serve, beyond_loopback=viewers.beyond_loopback)
            from loadgo.metering.prometheus import served

            port = views.enter_context(served(totals, address, port))
            serving = f"http://{f'[{address}]' if ':' in address else address}:{port}/metrics"
        if viewers.otlp is not None:
            views.enter_context(_exported(totals, viewers.otlp))
        yield View(totals, serving)


def place(asked: str, *, beyond_loopback: bool) -> tuple[str, int]:
    """The address and port of `ADDRESS:PORT`; a port alone is on the loopback.

    Raises `ValueError` for what is none, and for an address beyond the loopback that was not allowed.
    """
    host, _, number = asked.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if host == "localhost":
        host = "127.0.0.1"
    try:
        address, port = ipaddress.ip_address(host), int(number)
    except ValueError:
        raise BadArgument(f"{asked!r} is no address to serve: write it as 127.0.0.1:9464") from None
    if not 0 <= port < 1 << 16:
        raise BadArgument(f"{asked!r}: there is no port {port}")
    if not (address.is_loopback or beyond_loopback):
        raise BadArgument(
            f"{address} can be reached by others than this host, and whoever reads the meters learns what runs here: "
            "serve 127.0.0.1, or say `beyond_loopback`"
        ).about("beyond_loopback")
    return str(address), port


@contextmanager
def _exported(totals: Totals, address: str) -> Iterator[None]:
    try:
        from loadgo.metering.opentelemetry import exported
    except ImportError:
        raise Refused("OpenTelemetry's exporter is not installed: pip install 'loadgo[otel]'") from None
    with exported(totals, address):
        yield
