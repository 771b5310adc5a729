"""Far ends for programs that move data: sshd, rsync's daemon, git's, a web server, each started for one connection.

A listener on loopback passes every connection to a new process, as inetd does, and keeps the socket open. When the
process has ended, the far socket's own counters are read. No listener outlives the test.
"""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.places import PROJECT

UNPACKED = PROJECT / ".venv" / "ssh-server"
_SYSTEM = ("/usr/sbin/sshd", "/usr/local/sbin/sshd")
_FIN_BYTES = 1
"""TCP counts the end of the other side's stream (FIN) as one received byte."""

ANSWERS = """
import shutil, sys
while sys.stdin.buffer.readline().strip():
    pass
sys.stdout.buffer.write(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
with open(sys.argv[1], "rb") as file:
    shutil.copyfileobj(file, sys.stdout.buffer)
"""

# sshd needs two accounts: its own, and that of the user who logs in. They exist only in its own mount namespace. That
# has its own /var/tmp as well, so that a test sees what programs leave there.
IN_ITS_OWN_PLACE = """
set -e
mount -t tmpfs none /run
mount -t tmpfs -o size=512m none /var/tmp
mkdir /run/sshd
for name in passwd shadow; do mount --bind "$1/$name" "/etc/$name"; done
[ ! -e "$1/boot_id" ] || mount --bind "$1/boot_id" /proc/sys/kernel/random/boot_id
shift
exec "$@"
"""


@dataclass
class FarEnd:
    """The far end of connections, with the sums of their bytes."""

    port: int
    connections: int = 0
    received: int = 0
    sent: int = 0
    said: list[str] = field(default_factory=list)
    """The messages of the far end's programs."""


@contextmanager
def far_end(*program: str) -> Iterator[FarEnd]:
    """A port at which `program` answers each connection on its standard streams. The counts are complete afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told = FarEnd(listener.getsockname()[1])
        thread = threading.Thread(target=_answer, args=(listener, program, told))
        thread.start()
        try:
            yield told
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _answer(listener: socket.socket, program: Sequence[str], far_end: FarEnd) -> None:
    """Serves one connection after the other until the listener is shut."""
    while True:
        try:
            far, _ = listener.accept()
        except OSError:
            return
        with far:
            result = subprocess.run(program, stdin=far, stdout=far, stderr=subprocess.PIPE, text=True, check=False)
            sent, received = _counted(far)
        far_end.connections += 1
        far_end.sent += sent
        far_end.received += received
        far_end.said.append(result.stderr)


def _counted(far: socket.socket) -> tuple[int, int]:
    """Bytes that the far socket sent and received, each once, once the other end has closed it."""
    ended = 0
    try:
        far.shutdown(socket.SHUT_WR)
        while far.recv(65536):
            pass
        ended = _FIN_BYTES
    except OSError:
        pass  # the other end had gone before
    info = far.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (received,) = struct.unpack_from("Q", info, 128)
    sent, again = struct.unpack_from("QQ", info, 200)
    return sent - again, received - ended


def sshd() -> tuple[str, ...] | None:
    """The words before the options of this host's sshd, or of the one that setup unpacked; None where there is none."""
    own = shutil.which("sshd") or next((path for path in _SYSTEM if Path(path).exists()), None)
    if own:
        return (own,)
    unpacked = UNPACKED / "usr/sbin/sshd"
    if not unpacked.exists():
        return None
    libraries = ":".join(str(path) for path in sorted(UNPACKED.glob("usr/lib/*-linux-*")))
    return ("env", f"LD_LIBRARY_PATH={libraries}", str(unpacked))


def over_ssh(
    folder: Path, shell: str = "/bin/sh", *, apart: bool = False, other_boot: bool = False, clock_ahead_s: int = 0
) -> tuple[str, ...]:
    """The program of a far end that is a host for ssh: keys and accounts are laid into `folder`; needs root.

    The account's shell is `shell`. A host that is `apart` has process ids of its own, so that no driver here follows
    its shells. With `other_boot` none does either, since its kernel seems to be another; process ids are this host's.
    The monotonic clock of a host that is `apart` is `clock_ahead_s` ahead.
    """
    server = sshd()
    assert server is not None
    if other_boot:
        (folder / "boot_id").write_text("00000000-0000-4000-8000-000000000000\n")
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    home = folder / "home"
    home.mkdir()
    (folder / "passwd").write_text(
        f"root:x:0:0:root:{home}:{shell}\nsshd:x:65533:65534:sshd:/run/sshd:/usr/sbin/nologin\n"
    )
    (folder / "shadow").write_text("root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n")
    options = {
        "HostKey": folder / "host_key",
        "AuthorizedKeysFile": folder / "key.pub",
        "PermitRootLogin": "prohibit-password",
        "StrictModes": "no",
        "UsePAM": "no",
        "Subsystem": "sftp internal-sftp",
        "LogLevel": "ERROR",
    }
    (folder / "sshd_config").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    own_ids = ("--pid", "--fork", "--kill-child", "--mount-proc") if apart else ()
    ahead = str(clock_ahead_s)
    own_clock = ("--time", "--monotonic", ahead, "--boottime", ahead) if apart and clock_ahead_s else ()
    inside = ("unshare", "--mount", *own_ids, *own_clock, "sh", "-c", IN_ITS_OWN_PLACE, "sh", str(folder))
    return (*inside, *server, "-i", "-e", "-f", str(folder / "sshd_config"))


def ssh_client(folder: Path, port: int) -> Path:
    """The configuration with which ssh finds that host as `far`, and nothing of this host's own."""
    options = {
        "HostName": "127.0.0.1",
        "Port": port,
        "User": "root",
        "IdentityFile": folder / "key",
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "UserKnownHostsFile": "/dev/null",
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "no",
        "BatchMode": "yes",
        "LogLevel": "ERROR",
    }
    place = folder / "ssh_config"
    place.write_text("Host far\n" + "".join(f"  {name} {value}\n" for name, value in options.items()))
    return place


def rsync_daemon(folder: Path, module: Path) -> tuple[str, ...]:
    """The program of a far end that is rsync's daemon, with `module` to read and write."""
    place = folder / "rsyncd.conf"
    place.write_text(f"use chroot = no\nuid = root\ngid = root\n[far]\npath = {module}\nread only = no\n")
    return ("rsync", "--daemon", "--config", str(place))


def git_daemon(repositories: Path) -> tuple[str, ...]:
    """The program of a far end that is git's daemon."""
    return ("git", "daemon", "--inetd", "--export-all", f"--base-path={repositories}", "--log-destination=stderr")


def web_server(file: Path) -> tuple[str, ...]:
    """The program of a far end that answers every request with this file."""
    return (sys.executable, "-I", "-c", ANSWERS, str(file))


def needs_sshd() -> None:
    """Skips the test where there is no sshd."""
    if sshd() is None:
        pytest.skip("there is no sshd: scripts/setup dev unpacks it")
