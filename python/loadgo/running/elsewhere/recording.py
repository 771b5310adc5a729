"""Work of an agent during a run: a thread receives its records, and keeps them in the run's folder."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from loadgo.errors import LoadgoError, Refused
from loadgo.hosts.address import Address
from loadgo.hosts.agent import Agent, Frame, parse_json
from loadgo.hosts.connection import raise_if_stopped
from loadgo.hosts.failures import WrongFrames
from loadgo.hosts.far_records import FarRecords, instant_in

MOST_WAITING_BYTES = 64 << 20
"""Largest number of bytes that wait in memory for the run's folder, which is made some seconds after the first came."""
LOOK_EVERY_S = 0.1


class FarRecording(ABC):
    """The work, from the beginning of its thread on. It ends with the context.

    Its frames wait in memory until the run's folder exists.
    """

    def __init__(self, address: Address, folder: Path, thread_name: str) -> None:
        """The work at `address` whose records go into `folder`, which lies in the run's folder."""
        self.address, self.folder = address, folder
        self._records = FarRecords(folder)
        self._waiting: list[Frame] = []
        self._waiting_bytes = 0
        self._toml = b""
        self._origin_ns: int | None = None
        self._has_folder, self._stop, self._left = threading.Event(), threading.Event(), threading.Event()
        self._answer: dict[str, Any] = {}
        self._failure: LoadgoError | None = None
        self._agent: Agent | None = None
        self._thread = threading.Thread(target=self._receive, name=thread_name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.leave()
        self.request_end()
        self._thread.join()

    @abstractmethod
    def _frames(self) -> Generator[Frame]:
        """All frames of the work, up to its answer. Sets `_agent` when there is one."""

    @abstractmethod
    def _hear(self, kind: str, body: bytes) -> None:
        """Takes a frame of another kind than those of all records."""

    def leave(self) -> None:
        """Lets the thread end without the answer."""
        self._left.set()
        if self._agent is not None:
            self._agent.left.set()

    def wait_for_first_toml(self, stop: threading.Event) -> str:
        """The agent's first `run.toml`, once its work has begun. Raises why it has not, and `KeyboardInterrupt`."""
        while not self._toml and self._thread.is_alive():
            raise_if_stopped(stop)
            time.sleep(LOOK_EVERY_S)
        raise_if_stopped(stop)
        if self._failure is not None:
            raise self._failure
        return self._toml.decode("utf-8", "replace")

    def folder_exists(self) -> None:
        """Says that the run's folder exists, into which the records go."""
        self._has_folder.set()

    @property
    def failure(self) -> LoadgoError | None:
        """Why the records end early; None while they come, and after their planned end."""
        return self._failure

    @property
    def is_over(self) -> bool:
        """Whether the work has ended, in whatever way."""
        return not self._thread.is_alive()

    @property
    def origin_ns(self) -> int | None:
        """The beginning of the records on the monotonic clock there; None if the agent has not sent it."""
        return self._origin_ns

    def request_end(self) -> None:
        """Lets the work end, without waiting for that."""
        self._stop.set()

    def _receive(self) -> None:
        try:
            with closing(self._frames()) as frames:
                for kind, body in frames:
                    self._take(kind, body)
        except LoadgoError as failure:
            self._break_off(failure)
        except (KeyboardInterrupt, OSError, ValueError):
            if not self._left.is_set():
                raise
            # Here the agent's streams may be closed already.
            self._break_off(Refused("it was interrupted"))

    def _take(self, kind: str, body: bytes) -> None:
        """Takes a frame into the records, or keeps it until there is a folder for them."""
        if kind == "run.toml" and not self._toml:
            self._toml = body
        if kind == "origin":
            self._origin_ns = instant_in(body)
        if kind == "answer":
            self._answer = parse_json(self.address, body, dict)
        elif kind in ("origin", "run.toml", "table"):
            self._waiting.append((kind, body))
            self._waiting_bytes += len(body)
            if self._waiting_bytes > MOST_WAITING_BYTES and not self._has_folder.is_set():
                raise WrongFrames(f"{self.address}: too many records came before the run")
        else:
            self._hear(kind, body)
        if not self._has_folder.is_set():
            return
        waiting, self._waiting = self._waiting, []
        for frame in waiting:
            self._records.take(*frame)
        if kind == "answer":
            self._records.finish()

    def _break_off(self, failure: LoadgoError) -> None:
        """Keeps what has come. The failure is told after that: then nothing is written any more."""
        try:
            self._records.break_off(f"the records broke off: {failure}")
        except LoadgoError as damage:
            failure = type(failure)(f"{failure}\n{damage}")
        self._failure = failure
