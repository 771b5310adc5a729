"""Two network namespaces as two hosts, joined by a cable of their own; they are gone when it is over. Needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A host, which is a network namespace."""

    name: str
    address: str

    @property
    def inside(self) -> tuple[str, ...]:
        """Words before a command that then runs there, as the same process."""
        return ("ip", "netns", "exec", self.name)


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Both hosts, with addresses from the range for measurements of networks (RFC 2544)."""
    mark = f"loadgo-{os.getpid()}"
    hosts = Host(f"{mark}-near", "198.18.0.1"), Host(f"{mark}-far", "198.18.0.2")
    with ExitStack() as stack:
        for host in hosts:
            _ip("netns", "add", host.name)
            stack.callback(_ip, "netns", "delete", host.name)
        near, far = hosts
        _ip("link", "add", "cable", "netns", near.name, "type", "veth", "peer", "name", "cable", "netns", far.name)
        for host in hosts:
            _ip("-n", host.name, "address", "add", f"{host.address}/30", "dev", "cable")
            _ip("-n", host.name, "link", "set", "cable", "up")
            _ip("-n", host.name, "link", "set", "lo", "up")
        yield hosts


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)
