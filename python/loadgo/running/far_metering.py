"""The meters of another host during a run: a thread receives their records, and keeps them in the run's folder."""

from __future__ import annotations

import threading
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from loadgo.errors import LoadgoError, Refused
from loadgo.hosts.agent import Agent, Frame, parse_json, texts_of
from loadgo.hosts.connection import raise_if_stopped
from loadgo.hosts.failures import WrongFrames
from loadgo.hosts.far_records import FarRecords

MOST_WAITING_BYTES = 64 << 20
"""Largest number of bytes that wait in memory for the run's folder, which is made some seconds after the first came."""
_LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class FarMeteringEnd:
    """The end of the meters of another host."""

    origin_ns: int | None
    """The beginning of the metering on the monotonic clock there; None if the agent did not send it."""
    failure: str
    """The reason why the records end early; empty if they do not."""
    notes: tuple[str, ...]
    left_behind: tuple[str, ...]
    """Things that stay on the other host, each with its reason and its remedy."""


class FarMetering:
    """The metering, from its request on. It ends with the context.

    Its frames wait in memory until the run's folder exists.
    """

    def __init__(self, agent: Agent, folder: Path, request: dict[str, Any]) -> None:
        """The metering whose records go into `folder`, which lies in the run's folder."""
        self._agent, self._request = agent, request
        self._records = FarRecords(folder)
        self._waiting: list[Frame] = []
        self._waiting_bytes = 0
        self._toml = b""
        self._sessions: str | None = None
        self._has_folder, self._stop = threading.Event(), threading.Event()
        self._answer: dict[str, Any] = {}
        self._failure: LoadgoError | None = None
        self._thread = threading.Thread(target=self._receive, name="loadgo-far-metering", daemon=True)

    def __enter__(self) -> FarMetering:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._agent.left.set()
        self.end()

    def first_toml(self, login: str, stop: threading.Event) -> str:
        """The agent's first `run.toml`, once its meters run, with the users' `login`. Raises why they do not run.

        Raises `KeyboardInterrupt` when `stop` is set.
        """
        while not self._toml and self._thread.is_alive():
            raise_if_stopped(stop)
            time.sleep(_LOOK_EVERY_S)
        raise_if_stopped(stop)
        if self._failure is not None:
            raise self._failure
        text = self._toml.decode("utf-8", "replace")
        try:
            tomllib.loads(text)["system"]["login"]  # an agent's description has the key, without a value
        except (ValueError, KeyError, TypeError, RecursionError):
            raise WrongFrames(f"{self._agent.address}: the agent's answer is not in its form") from None
        import tomlkit

        described = tomlkit.parse(text)
        described["system"]["login"] = login
        return tomlkit.dumps(described)

    @property
    def sessions(self) -> str | None:
        """The directory there in which sessions announce themselves, once there is a first `run.toml`; else None."""
        return self._sessions

    def folder_exists(self) -> None:
        """Says that the run's folder exists, into which the records go."""
        self._has_folder.set()

    @property
    def failure(self) -> LoadgoError | None:
        """Why the records end early; None while they come, and after their planned end."""
        return self._failure

    def request_end(self) -> None:
        """Lets the meters end, without waiting for that."""
        self._stop.set()

    def end(self) -> FarMeteringEnd:
        """Ends the meters and waits for their last records."""
        self.request_end()
        self._thread.join()
        return FarMeteringEnd(
            origin_ns=self._records.origin_ns,
            failure="" if self._failure is None else str(self._failure),
            notes=texts_of(self._answer.get("notes")),
            left_behind=texts_of(self._answer.get("left_behind")),
        )

    def _receive(self) -> None:
        try:
            for kind, body in self._agent.ask(self._request, self._stop):
                self._take(kind, body)
            self._agent.compare_clocks("end")
        except LoadgoError as failure:
            self._failure = failure
            self._break_off(failure)
        except (KeyboardInterrupt, OSError, ValueError):
            if not self._agent.left.is_set():
                raise
            # Here the agent's streams may be closed already.
            self._failure = Refused("the metering was interrupted")
            self._break_off(self._failure)

    def _take(self, kind: str, body: bytes) -> None:
        """Takes a frame into the records, or keeps it until there is a folder for them."""
        if kind == "run.toml" and not self._toml:
            self._toml = body
        if kind == "sessions":
            self._sessions = body.decode("utf-8", "replace")
        if kind == "answer":
            self._answer = parse_json(self._agent.address, body, dict)
        elif kind in ("origin", "run.toml", "table"):
            self._waiting.append((kind, body))
            self._waiting_bytes += len(body)
            if self._waiting_bytes > MOST_WAITING_BYTES and not self._has_folder.is_set():
                raise WrongFrames(f"{self._agent.address}: too many records came before the run")
        if not self._has_folder.is_set():
            return
        waiting, self._waiting = self._waiting, []
        for frame in waiting:
            self._records.take(*frame)
        if kind == "answer":
            self._records.finish()

    def _break_off(self, failure: LoadgoError) -> None:
        try:
            self._records.break_off(f"the metering broke off: {failure}")
        except LoadgoError as damage:
            self._failure = type(failure)(f"{failure}\n{damage}")
