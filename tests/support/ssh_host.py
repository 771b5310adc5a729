"""A host for ssh on loopback, with an account and keys of its own, for the time of a test."""

from __future__ import annotations

import shlex
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.far_programs import over_ssh, ssh_client


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
    folder: Path, shell: str = "/bin/bash", *, apart: bool = False, other_boot: bool = False
) -> Iterator[SshHost]:
    """A host for ssh whose keys, account and home lie in `folder`. Its sshd ends with the context. Needs root.

    A host that is `apart` has process ids of its own; with `other_boot` its kernel has another boot id.
    """
    folder.mkdir()
    words = over_ssh(folder, shell, apart=apart, other_boot=other_boot)
    port = _free_port()
    listen = ("-D", "-o", "ListenAddress=127.0.0.1", "-p", str(port), "-o", "MaxStartups=100", "-o", "PidFile=none")
    by_connection = words.index("-i")
    server = subprocess.Popen((*words[:by_connection], *listen, *words[by_connection + 1 :]), stderr=subprocess.PIPE)
    try:
        _wait_for(port, server)
        yield SshHost(port, folder / "home", ssh_client(folder, port), server.pid)
    finally:
        server.kill() if apart else server.terminate()  # `unshare` ignores SIGTERM; with it ends what it has started
        server.communicate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return
    raise AssertionError(server.communicate()[1].decode())
