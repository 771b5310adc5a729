"""The meters of another host during a run, as its agent sends them."""

from __future__ import annotations

import threading
import time
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from loadgo.hosts.agent import Agent, Frame, texts_of
from loadgo.hosts.failures import AgentLost, WrongFrames
from loadgo.hosts.next_lines import NextLinesPipe
from loadgo.running.elsewhere.live_places import HostLoss
from loadgo.running.elsewhere.recording import FarRecording


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


class FarMetering(FarRecording):
    """The metering, from its request on."""

    def __init__(self, agent: Agent, folder: Path, request: dict[str, Any]) -> None:
        """The metering whose records go into `folder`, which lies in the run's folder."""
        super().__init__(agent.address, folder, "loadgo-far-metering")
        self._agent: Agent = agent
        self._request = request
        self._sessions: str | None = None
        self._news = NextLinesPipe()
        self._loss: HostLoss | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, traceback)
        finally:
            self._agent.news = None
            self._news.close()

    @property
    def next_lines(self) -> int | None:
        """The descriptor of a pipe for what users type next, if the agent there follows their sessions."""
        return None if self._sessions is None else self._news.writing

    def _frames(self) -> Generator[Frame]:
        self._agent.news = self._news.reading
        yield from self._agent.ask(self._request, self._stop)
        self._agent.compare_clocks("end")

    def _hear(self, kind: str, body: bytes) -> None:
        if kind == "sessions":
            self._sessions = body.decode("utf-8", "replace")

    def first_toml(self, login: str, stop: threading.Event) -> str:
        """The agent's first `run.toml`, once its meters run, with the users' `login`. Raises why they do not run.

        Raises `KeyboardInterrupt` when `stop` is set.
        """
        text = self.wait_for_first_toml(stop)
        try:
            tomllib.loads(text)["system"]["login"]  # an agent's description has the key, without a value
        except (ValueError, KeyError, TypeError, RecursionError):
            raise WrongFrames(f"{self.address}: the agent's answer is not in its form") from None
        import tomlkit

        described = tomlkit.parse(text)
        described["system"]["login"] = login
        return tomlkit.dumps(described)

    @property
    def sessions(self) -> str | None:
        """The directory there in which sessions announce themselves, once there is a first `run.toml`; else None."""
        return self._sessions

    def loss(self) -> HostLoss | None:
        """The loss of the agent there, if it was lost. An agent that refuses to go on metering is not lost."""
        if self._loss is None and isinstance(self.failure, AgentLost):
            self._loss = HostLoss(str(self.failure), time.monotonic_ns())
        return self._loss

    def end(self) -> FarMeteringEnd:
        """Ends the meters and waits for their last records."""
        self.request_end()
        self._thread.join()
        return FarMeteringEnd(
            origin_ns=self.origin_ns,
            failure="" if self._failure is None else str(self._failure),
            notes=texts_of(self._answer.get("notes")),
            left_behind=texts_of(self._answer.get("left_behind")),
        )
