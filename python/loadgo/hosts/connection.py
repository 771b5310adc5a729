"""The connection to another host: one log-in of ssh, which all further commands share.

The first ssh is the master of a control socket in a private directory. Its command there waits for the end of its
input. So it ends with this process, however this process ends, and then ssh removes the socket.
"""

from __future__ import annotations

import os
import select
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from loadgo.hosts.address import Address
from loadgo.hosts.control_directory import control_directory
from loadgo.hosts.error_output import ErrorOutput
from loadgo.hosts.failures import (
    SSH_FAILED_STATUS,
    ConnectionDropped,
    LoginUnfinished,
    NoAgent,
    SshMissing,
    command_ended,
    connection_ended,
    master_end,
    shown_clause,
    ssh_failure,
)

CONNECT_TIMEOUT_S = 20
ALIVE_INTERVAL_S, MOST_UNANSWERED_QUESTIONS = 5, 3
"""ssh asks every so many seconds whether the other side is there, and gives up after so many unanswered questions."""
LOGIN_TIMEOUT_S = 150.0
"""Time limit of a log-in. sshd's own is 120 s by default, in which a user types passwords and second factors."""
DROPPED_LOGIN_PAUSES_S = (0.5, 1.0, 2.0)
"""Pauses before the log-in is tried again after sshd has dropped it. A host where many log in at once drops some.

A connection that ends later is not tried again: somebody may have typed a password, and would be asked for it anew.
"""
STOP_LOOK_EVERY_S = 0.1
"""Interval at which a wait looks for a stop signal."""
MOST_TEXT_BYTES = 1 << 16
"""Largest number of bytes that a log-in shell may print before the answer."""
END_TIMEOUT_S = 5.0
_MASTER_END_TIMEOUT_S = 1.0
"""Time in which the master is seen to have ended, once an ssh that shared its connection has."""
_MARK = b"loadgo-far:"
_MASTER_ROLE = "ControlMaster=yes"
_DEAF_TO_TERMINAL = ("sh", "-c", 'trap "" INT HUP; exec "$@"', "ssh")
"""The words before a command that ignores Ctrl-C and the end of its terminal."""

Streams = tuple[int | IO[bytes], int]
"""The standard input and output of an ssh, as `subprocess.Popen` takes them."""


@dataclass(frozen=True)
class Master:
    """The ssh that has logged in, and whose connection all others share."""

    process: subprocess.Popen[bytes]
    errors: ErrorOutput

    def status(self) -> int | None:
        """Returns its exit status; None while it goes on.

        An ssh that shares the connection may notice the end a little before.
        """
        try:
            return self.process.wait(_MASTER_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None


@dataclass(frozen=True)
class Connection:
    """A connection to another host over which commands can be started."""

    address: Address
    directory: Path
    """The private directory of the control socket."""
    answer: list[str]
    """The words that the first command has printed, which was given to `connect`."""

    stop: threading.Event
    """Set by a stop signal: then no wait goes on."""
    master: Master | None = None
    """The ssh that holds the connection. None on this host, which takes none."""
    _errors: dict[str, ErrorOutput] = field(default_factory=dict)

    def start(self, script: str, streams: Streams) -> subprocess.Popen[bytes]:
        """Starts a script of the Bourne shell there. For its standard error, see `errors`."""
        process, self._errors[script] = _start(self.address, self.directory, script, "ControlMaster=no", streams)
        return process

    @property
    def control_socket(self) -> Path:
        """The socket by which another ssh shares this connection."""
        return self.directory / "socket"

    def errors(self, script: str) -> bytes:
        """The last part of what the script and its ssh have printed as errors."""
        return self._errors[script].last_part() if script in self._errors else b""

    def failure(self, messages: bytes | str) -> NoAgent:
        """The error for an ssh that shared this connection, printed `messages` and ended with ssh's own status.

        Such an ssh says nothing if the connection has ended, or if a signal ended its command there.
        """
        if shown_clause(messages) or self.master is None:
            return ssh_failure(self.address, messages)
        status = self.master.status()
        if status is None:
            return command_ended(self.address)
        return connection_ended(self.address, status, self.master.errors.last_part())

    def end_in_words(self) -> str:
        """A clause on why an ssh that shared this connection ended with ssh's own status, and not its command's."""
        status = None if self.master is None else self.master.status()
        if self.master is None or status is None:
            return "a signal ended it, while the connection goes on"
        return f"the connection ended: {master_end(status, self.master.errors.last_part())}"

    def run(self, script: str, timeout_s: float | None = None) -> int:
        """Runs a script there without input. Returns its exit status."""
        process = self.start(script, (subprocess.DEVNULL, subprocess.DEVNULL))
        try:
            return process.wait(timeout_s)
        finally:
            end_process(process)

    def wait(self, process: subprocess.Popen[bytes], is_late: Callable[[], bool] = lambda: False) -> int:
        """Waits for an ssh to this host, and returns its exit status. `is_late` is asked ten times a second.

        Raises `KeyboardInterrupt` after a stop signal, and `subprocess.TimeoutExpired` if `is_late` returns true.
        Both end the process.
        """
        while True:
            try:
                return process.wait(STOP_LOOK_EVERY_S)
            except subprocess.TimeoutExpired:
                if not self.stop.is_set() and not is_late():
                    continue
                process.terminate()
                raise_if_stopped(self.stop)
                raise


@contextmanager
def connect(address: Address, question: str, stop: threading.Event | None = None) -> Iterator[Connection]:
    """Logs in, and yields the connection. It is closed with the context.

    `question` is a script for the shell there, which prints one line: `loadgo-far:` and words between colons.

    Raises the branches of `NoAgent`, and `KeyboardInterrupt` when `stop` is set meanwhile.
    """
    if shutil.which("ssh") is None:
        raise SshMissing("there is no ssh on this host: install OpenSSH's client (openssh-client)")
    stop = stop or threading.Event()
    with control_directory() as directory:
        master, answer = _log_in(address, directory, question, stop)
        try:
            yield Connection(address, directory, answer, stop, master)
        finally:
            end_process(master.process)


def _log_in(address: Address, directory: Path, question: str, stop: threading.Event) -> tuple[Master, list[str]]:
    """The master that has logged in, and the words of its answer. A log-in that is dropped is tried again."""
    for pause_s in DROPPED_LOGIN_PAUSES_S:
        with suppress(ConnectionDropped):
            return _log_in_once(address, directory, question, stop)
        stop.wait(pause_s)
        raise_if_stopped(stop)
    return _log_in_once(address, directory, question, stop)


def _log_in_once(address: Address, directory: Path, question: str, stop: threading.Event) -> tuple[Master, list[str]]:
    script = f"{question}; exec cat >/dev/null"
    master, errors = _start(address, directory, script, _MASTER_ROLE, (subprocess.PIPE, subprocess.PIPE))
    try:
        return Master(master, errors), _read_answer(address, master, errors, stop)
    except BaseException:
        master.terminate()  # its end of input does not reach an ssh that still logs in
        end_process(master)
        raise


def raise_if_stopped(stop: threading.Event) -> None:
    """Raises `KeyboardInterrupt` if `stop` is set."""
    if stop.is_set():
        raise KeyboardInterrupt


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
    address: Address, directory: Path, script: str, role: str, streams: Streams
) -> tuple[subprocess.Popen[bytes], ErrorOutput]:
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
    process = subprocess.Popen(
        [*words, f"exec sh -c {shlex.quote(script)}"],
        stdin=streams[0],
        stdout=streams[1],
        stderr=subprocess.PIPE,
        bufsize=0,
        # The master keeps the terminal, on which it asks for passwords and second factors.
        start_new_session=not is_master,
    )
    assert process.stderr is not None
    return process, ErrorOutput(process.stderr)


def _read_answer(
    address: Address, master: subprocess.Popen[bytes], errors: ErrorOutput, stop: threading.Event
) -> list[str]:
    """The words of the line that the first command prints. A `.bashrc` may have printed text before it."""
    text, give_up_s = b"", time.monotonic() + LOGIN_TIMEOUT_S
    while len(text) <= MOST_TEXT_BYTES:
        at = text.find(_MARK)
        if at >= 0 and b"\n" in text[at:]:
            line = text[at:].split(b"\n", 1)[0].decode("utf-8", "replace")
            return line.split(":")[1:]
        piece = _read_before(give_up_s, master, stop)
        if piece is None:
            raise LoginUnfinished(
                f"{address}: the log-in has not come to its end in {LOGIN_TIMEOUT_S:.0f} s{_after_text(text)}: see "
                "that `ssh` runs a command there without a question: a .bashrc must not wait for input, or for a file "
                "system that hangs"
            )
        if not piece:
            status = master.wait()
            messages = errors.last_part()
            if status == SSH_FAILED_STATUS:
                raise ssh_failure(address, messages)
            raise NoAgent(
                f"{address}: the shell there ended with status {status} and without an answer"
                f"{_after_text(messages or text)}: see that `ssh` runs a command there: a log-in shell of the Bourne "
                "family, csh or fish"
            )
        text += piece
    raise NoAgent(
        f"{address}: the shell there prints over {MOST_TEXT_BYTES >> 10} KB before it runs a command"
        f"{_after_text(text[:200])}: let its .bashrc or .profile print in interactive shells alone"
    )


def _read_before(give_up_s: float, process: subprocess.Popen[bytes], stop: threading.Event) -> bytes | None:
    """The next output of a process; empty at its end. None if nothing has come before this time."""
    assert process.stdout is not None
    while time.monotonic() < give_up_s:
        raise_if_stopped(stop)
        if select.select([process.stdout], [], [], STOP_LOOK_EVERY_S)[0]:
            return os.read(process.stdout.fileno(), 4096)
    return None


def _after_text(text: bytes) -> str:
    return f" ({shown_clause(text)})" if text.strip() else ""
