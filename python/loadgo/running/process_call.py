"""A function call in a process of its own, which has its own interpreter lock and ignores the terminal's signals.

The function and its arguments are pickled and sent over a pipe; the result or the error returns in the same way. A
process whose caller has ended interrupts itself, so that no process is left running.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from traceback import format_exception
from typing import Any

from loadgo.errors import LoadgoError, Refused

_MODULE = __name__


class ProcessCall:
    """A function call that runs in another process. It starts when this object is created."""

    def __init__(self, function: Callable[..., Any], *, idle: bool = False, **arguments: Any) -> None:
        """Starts `function(**arguments)`. With `idle`, it runs only on processors that no other program wants."""
        self._ours, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        if idle:
            os.sched_setscheduler(self._process.pid, os.SCHED_IDLE, os.sched_param(0))
        self._ours.send((function, arguments))

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def result(self) -> Any:
        """Waits for the call, and returns its result or raises its error. Raises `Refused` if the process died."""
        try:
            succeeded, answer = self._ours.recv()
        except EOFError:
            raise Refused(f"its process ended with status {self._process.wait()}") from None
        self._process.wait()
        if not succeeded:
            raise answer
        return answer

    def end(self) -> None:
        """Interrupts the call if it still runs, and waits until its process has ended."""
        if not self.ended:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()


def _serve(connection: Connection) -> None:
    """Receives a call, executes it, and sends its result or its error back."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    function, arguments = connection.recv()
    threading.Thread(target=_interrupt_without_caller, args=[connection], daemon=True).start()
    try:
        answer = True, function(**arguments)
    except (LoadgoError, ValueError, OSError) as error:
        answer = False, error
    except Exception as error:
        answer = False, Refused("".join(format_exception(error)))
    connection.send(answer)


def _interrupt_without_caller(connection: Connection) -> None:
    """Waits until the caller closes the pipe, on which nothing follows the call, and then interrupts this process."""
    connection.poll(None)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
