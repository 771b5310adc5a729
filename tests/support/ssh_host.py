"""A host for ssh on loopback, with an account and keys of its own, for the time of a test."""

from __future__ import annotations

import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.delay_accounting import delay_accounting_kept_on
from support.far_programs import over_ssh, ssh_client
from support.outside import LOOK_EVERY_S

MOST_PORTS = 5
"""Largest number of ports that are tried."""


@dataclass(frozen=True)
class SshHost:
    """A running host for ssh."""

    port: int
    home: Path
    """The home of the account that ssh logs in to."""
    config: Path
    """The client's configuration with which ssh finds the host as `far`, without a question."""
    pid: int
    """The process id of its sshd, whose `/proc/PID/root` is the host's view of the files."""

    @property
    def login(self) -> str:
        """The command that logs in."""
        return f"ssh -F {shlex.quote(str(self.config))} far"

    def login_with(self, **options: str) -> str:
        """The command that logs in with these options in place of the configuration's."""
        more = " ".join(f"-o {name}={shlex.quote(value)}" for name, value in options.items())
        return self.login.replace("ssh ", f"ssh {more} ", 1)


@contextmanager
def ssh_host(
    folder: Path,
    shell: str = "/bin/bash",
    *,
    apart: bool = False,
    other_boot: bool = False,
    clock_ahead_s: int = 0,
    settings: tuple[str, ...] = (),
) -> Iterator[SshHost]:
    """A host for ssh whose keys, account and home lie in `folder`. Its sshd ends with the context. Needs root.

    A host that is `apart` has process ids of its own; with `other_boot` its kernel has another boot id.
    Its monotonic clock may be `clock_ahead_s` ahead if it is `apart`. `settings` are sshd's, as `NAME=VALUE`.
    """
    folder.mkdir()
    words = over_ssh(folder, shell, apart=apart, other_boot=other_boot, clock_ahead_s=clock_ahead_s)
    by_connection = words.index("-i")
    # Of a setting that is named twice the last one may count.
    own = tuple(word for setting in settings for word in ("-o", setting))
    port, server = _listening(words[:by_connection], (*words[by_connection + 1 :], *own))
    try:
        with delay_accounting_kept_on():
            yield SshHost(port, folder / "home", ssh_client(folder, port), server.pid)
    finally:
        server.kill() if apart else server.terminate()  # `unshare` ignores SIGTERM; with it ends what it has started
        server.communicate()


def _listening(program: tuple[str, ...], options: tuple[str, ...]) -> tuple[int, subprocess.Popen[bytes]]:
    """A listening sshd and its port. Another program may take a port that was free; then another one is tried."""
    for _ in range(MOST_PORTS):
        port = free_port()
        listen = ("-D", "-o", "ListenAddress=127.0.0.1", "-p", str(port), "-o", "MaxStartups=100", "-o", "PidFile=none")
        server = subprocess.Popen((*program, *listen, *options), stderr=subprocess.PIPE)
        if _listens(port, server):
            return port, server
        said = server.communicate()[1].decode()
        assert "Address already in use" in said, said
    raise AssertionError(f"each of {MOST_PORTS} free ports was taken by another program")


def free_port() -> int:
    """A port on loopback on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _listens(port: int, server: subprocess.Popen[bytes]) -> bool:
    """Waits until the server listens; false if it has ended."""
    while server.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port)) as line:
                # Where nobody listens, a connection from the port that it goes to is one with itself.
                if line.getsockname() != line.getpeername():
                    return True
        except ConnectionRefusedError:
            pass
        time.sleep(LOOK_EVERY_S)
    return False
