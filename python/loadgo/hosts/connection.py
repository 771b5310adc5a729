"""The connection to another host: one log-in of ssh, which all further commands share.

The first ssh is the master of a control socket in a private directory. Its command there waits for the end of its
input. So it ends with this process, however this process ends, and then ssh removes the socket.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from loadgo.hosts.address import Address
from loadgo.hosts.failures import SSH_FAILED_STATUS, NoAgent, SshMissing, shown, ssh_failure

CONNECT_TIMEOUT_S = 20
ALIVE_INTERVAL_S, MOST_UNANSWERED_QUESTIONS = 5, 3
"""ssh asks every so many seconds whether the other side is there, and gives up after so many unanswered questions."""
MOST_TEXT_BYTES = 1 << 16
"""Largest number of bytes that a log-in shell may print before the answer, and that of messages that are kept."""
END_TIMEOUT_S = 5.0
_MARK = b"loadgo-far:"
_MASTER_ROLE = "ControlMaster=yes"
_DEAF_TO_TERMINAL = ("sh", "-c", 'trap "" INT HUP; exec "$@"', "ssh")
"""The words before a command that ignores Ctrl-C and the end of its terminal."""

Streams = tuple[int | IO[bytes], int]
"""The standard input and output of an ssh, as `subprocess.Popen` takes them."""


@dataclass(frozen=True)
class Connection:
    """A connection to another host over which commands can be started."""

    address: Address
    directory: Path
    """The private directory of the control socket."""
    answer: list[str]
    """The words that the first command has printed, which was given to `connect`."""

    def start(self, script: str, streams: Streams) -> subprocess.Popen[bytes]:
        """Starts a script of the Bourne shell there. Its standard error is kept in a file: see `errors`."""
        return _start(self.address, self.directory, script, "ControlMaster=no", streams, self._error_path(script))

    def errors(self, script: str) -> bytes:
        """The end of what the script and its ssh have printed as errors."""
        return _end_of(self._error_path(script))

    def run(self, script: str, timeout_s: float | None = None) -> int:
        """Runs a script there without input. Returns its exit status."""
        process = self.start(script, (subprocess.DEVNULL, subprocess.DEVNULL))
        try:
            return process.wait(timeout_s)
        finally:
            end_process(process)

    def _error_path(self, script: str) -> Path:
        return self.directory / f"errors-{abs(hash(script)):x}"


@contextmanager
def connect(address: Address, question: str) -> Iterator[Connection]:
    """Logs in, and yields the connection. It is closed with the context.

    `question` is a script for the shell there, which prints one line: `loadgo-far:` and words between colons.

    Raises the branches of `NoAgent`.
    """
    if shutil.which("ssh") is None:
        raise SshMissing("there is no ssh on this host: install OpenSSH's client (openssh-client)")
    # Not below TMPDIR: the path of a socket has at most some 100 characters.
    with tempfile.TemporaryDirectory(prefix="loadgo-ssh-", dir="/tmp") as name:
        directory = Path(name)
        errors = directory / "errors"
        script = f"{question}; exec cat >/dev/null"
        master = _start(address, directory, script, _MASTER_ROLE, (subprocess.PIPE, subprocess.PIPE), errors)
        try:
            yield Connection(address, directory, _read_answer(address, master, errors))
        finally:
            end_process(master)


def end_process(process: subprocess.Popen[bytes], timeout_s: float = END_TIMEOUT_S) -> None:
    """Closes the process's streams, and waits for its end; after the time it is killed."""
    if process.stdin is not None:
        with suppress(BrokenPipeError):
            process.stdin.close()
    if process.stdout is not None:
        process.stdout.close()  # a far end that prints without end would wait for a reader, and not see its input's end
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _start(
    address: Address, directory: Path, script: str, role: str, streams: Streams, errors: Path
) -> subprocess.Popen[bytes]:
    """Starts ssh with a command for the shell there. It shares the control socket, or begins it.

    Signals of the terminal are for this process alone, which ends the work there in order.
    """
    is_master = role == _MASTER_ROLE
    settings = (
        f"ControlPath={directory}/socket",
        "ControlPersist=no",
        role,
        f"ConnectTimeout={CONNECT_TIMEOUT_S}",
        f"ServerAliveInterval={ALIVE_INTERVAL_S}",
        f"ServerAliveCountMax={MOST_UNANSWERED_QUESTIONS}",
        "ClearAllForwardings=yes",
        "RemoteCommand=none",
        "EscapeChar=none",
        "PermitLocalCommand=no",
        *(() if is_master else ("BatchMode=yes",)),
    )
    words = [
        *(_DEAF_TO_TERMINAL if is_master else ()),
        "ssh",
        "-T",
        *(word for setting in settings for word in ("-o", setting)),
        *address.ssh_words,
    ]
    with errors.open("wb") as stderr:
        command = [*words, f"exec sh -c {shlex.quote(script)}"]
        return subprocess.Popen(
            command,
            stdin=streams[0],
            stdout=streams[1],
            stderr=stderr,
            bufsize=0,
            # The master keeps the terminal, on which it asks for passwords and second factors.
            start_new_session=not is_master,
        )


def _read_answer(address: Address, master: subprocess.Popen[bytes], errors: Path) -> list[str]:
    """The words of the line that the first command prints. A `.bashrc` may have printed text before it."""
    assert master.stdout is not None
    text = b""
    while len(text) <= MOST_TEXT_BYTES:
        at = text.find(_MARK)
        if at >= 0 and b"\n" in text[at:]:
            line = text[at:].split(b"\n", 1)[0].decode("utf-8", "replace")
            return line.split(":")[1:]
        piece = master.stdout.read(4096)
        if not piece:
            status = master.wait()
            said = _end_of(errors)
            if status == SSH_FAILED_STATUS:
                raise ssh_failure(address, said)
            raise NoAgent(
                f"{address}: the shell there ended with status {status} and without an answer"
                f"{_after_text(said or text)}: see that `ssh` runs a command there: a log-in shell of the Bourne "
                "family, csh or fish"
            )
        text += piece
    raise NoAgent(
        f"{address}: the shell there prints over {MOST_TEXT_BYTES >> 10} KB before it runs a command"
        f"{_after_text(text[:200])}: let its .bashrc or .profile print in interactive shells alone"
    )


def _after_text(text: bytes) -> str:
    return f" ({shown(text)})" if text.strip() else ""


def _end_of(path: Path) -> bytes:
    """The last bytes of a file of messages; none if it is not there."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MOST_TEXT_BYTES))
            return file.read(MOST_TEXT_BYTES)
    except FileNotFoundError:
        return b""
