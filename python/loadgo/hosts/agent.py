"""An agent at work on another host: asked one thing at a time, and ended with its connection."""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from loadgo import _loadgo
from loadgo.errors import Refused
from loadgo.hosts.address import Address
from loadgo.hosts.clock import ClockExchanges, Stage
from loadgo.hosts.connection import Connection, connect, end_process, raise_if_stopped
from loadgo.hosts.delivery import AgentProgram, deliver, find_agent_program
from loadgo.hosts.failures import (
    SSH_FAILED_STATUS,
    AgentLost,
    AgentSilent,
    NoAgent,
    SudoRefused,
    WrongFrames,
    shown,
    shown_clause,
)

BEAT_EVERY_S = 1.0
SILENCE_S = 15.0
"""Time without a frame after which the agent counts as lost; it beats once a second."""
END_TIMEOUT_S = 25.0
"""Time that an agent has to undo its work; it ends itself after 20 s."""
ANSWER_TIMEOUT_S = 600.0
"""Time from the end of the work, or from a stop, to the answer. A long metering's records become Parquet in it."""
WAKE_TIMEOUT_S = 10.0
CLOCK_EXCHANGES = 8
"""Number of exchanges of times at the beginning and at the end of a run; between them one follows each beat."""
_PIECE_BYTES = 1 << 16
_NEWS_BYTES = 1 << 12
_MOST_PIDS = 1 << 31

Frame = tuple[str, bytes]
"""A kind of frame, by its name in `crates/agent/src/frame.rs`, and the frame's bytes."""


@dataclass(frozen=True)
class FarHost:
    """The identity of an agent and of its host, in its own words."""

    hostname: str
    kernel: str
    is_root: bool
    pid: int


class Agent:
    """An agent that has said who it is."""

    def __init__(self, connection: Connection, program: AgentProgram, *, sudo: bool) -> None:
        """Starts the agent and waits for its first frame. Raises the branches of `NoAgent` and `AgentLost`."""
        self.address = connection.address
        self._connection, self._program, self._sudo = connection, program, sudo
        self._script = program.start_script(sudo=sudo)
        self._process = connection.start(self._script, (subprocess.PIPE, subprocess.PIPE))
        self._frames = _loadgo.AgentFrames()
        self._heard_s = self._listening_s = self._beaten_s = time.monotonic()
        self._far: FarHost | None = None
        self.clock = ClockExchanges()
        self._sending = threading.Lock()
        self.left = threading.Event()
        """Set when nobody wants the frames any more: a thread that waits for them gets `KeyboardInterrupt`."""
        self.news: int | None = None
        """A pipe whose bytes go to the agent as frames `next-lines`, while somebody waits for the agent's frames."""
        try:
            self.host = self._far = self._hello()
        except BaseException:
            self.end()
            raise

    def ask(
        self, request: Mapping[str, Any], stop: threading.Event | None = None, length_s: float | None = None
    ) -> Iterator[Frame]:
        """Sends a request, and yields the frames up to the answer, the beats included. The answer is the last.

        `stop` lets the agent end its work in order; the answer then still comes. Without it a stop signal raises
        `KeyboardInterrupt`. `length_s` is the length of the work, if it has one before a stop.

        Raises `Refused` with the agent's reason, and the branches of `AgentLost`.
        """
        self._send("request", json.dumps(request).encode())
        stopped = False
        due_s = math.inf if length_s is None else time.monotonic() + length_s + ANSWER_TIMEOUT_S
        for kind, body in self._received(can_stop_in_order=stop is not None):
            yield kind, body
            if kind == "answer":
                return
            if kind == "refusal":
                raise self._refusal(body)
            if stop is not None and stop.is_set() and not stopped:
                stopped = True
                due_s = min(due_s, time.monotonic() + ANSWER_TIMEOUT_S)
                self._send("stop")
            if time.monotonic() > due_s:
                raise AgentSilent(
                    f"{self.address}: loadgo's agent still runs and has not answered {ANSWER_TIMEOUT_S:.0f} s after "
                    "the end of its work: see whether a disk or a process hangs there"
                )

    def compare_clocks(self, stage: Stage) -> None:
        """Exchanges times with the agent, which must not be at work. Later questions belong to the stage after it.

        Raises the branches of `AgentLost`, and `KeyboardInterrupt` after a stop signal before the end.
        """
        self.clock.stage = stage
        wanted, give_up_s = self.clock.answered + CLOCK_EXCHANGES, time.monotonic() + SILENCE_S
        self._send("clock", self.clock.question())
        for kind, _ in self._received(can_stop_in_order=stage == "end"):
            if self.clock.answered >= wanted:
                break
            if time.monotonic() > give_up_s:
                raise WrongFrames(f"{self.address}: loadgo's agent does not answer the questions for its clock")
            if kind == "clock":
                self._send("clock", self.clock.question())
        self.clock.stage = "middle"

    def end(self) -> None:
        """Closes the connection, and waits until the agent has undone its work.

        A stopped agent is let run on. After one that was killed, another process there undoes what is left.
        """
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        is_silent = self._silence_s() > SILENCE_S
        if self._far is not None and self._process.poll() is None and is_silent:
            self._run_briefly(self._program.wake_script(self._far.pid, sudo=self._sudo))
        end_process(self._process, WAKE_TIMEOUT_S if is_silent else END_TIMEOUT_S)
        if self._far is not None and self._process.returncode != 0:
            self._run_briefly(self._program.clear_script(sudo=self._sudo))

    def _run_briefly(self, script: str) -> None:
        """Runs a script there, if the connection still allows it."""
        with suppress(subprocess.TimeoutExpired):
            self._connection.run(script, WAKE_TIMEOUT_S)

    def _silence_s(self) -> float:
        """The time without a frame, as far as this side listened: on a busy host its own work may take long."""
        return time.monotonic() - max(self._heard_s, self._listening_s)

    def _hello(self) -> FarHost:
        for kind, body in self._received():
            if kind == "hello":
                hello = parse_json(self.address, body, dict)
                if hello.get("hash") != self._program.sha256:
                    raise WrongFrames(
                        f"{self.address}: another agent answers than the one that loadgo copied there: remove the "
                        "directory loadgo in the account's cache there"
                    )
                pid = hello.get("pid")
                if not isinstance(pid, int) or not 0 < pid < _MOST_PIDS:
                    raise WrongFrames(f"{self.address}: the agent's answer is not in its form")
                return FarHost(
                    shown(str(hello.get("hostname", ""))),
                    shown(str(hello.get("kernel", ""))),
                    hello.get("is_root") is True,
                    pid,
                )
        raise AssertionError("the frames end with an error")

    def _received(self, *, can_stop_in_order: bool = False) -> Iterator[Frame]:
        """All frames, as they come. Sends a beat each second. Its end is an error: the branches of `AgentLost`."""
        assert self._process.stdout is not None
        stdout = self._process.stdout.fileno()
        self._listening_s = time.monotonic()
        while True:
            raise_if_stopped(self.left)
            if not can_stop_in_order:
                raise_if_stopped(self._connection.stop)
            self._beat()
            watched = [stdout] if self.news is None else [stdout, self.news]
            readable, _, _ = select.select(watched, [], [], BEAT_EVERY_S / 4)
            if self.news in readable:
                self._send("next-lines", os.read(self.news, _NEWS_BYTES))
            if stdout not in readable:
                if self._silence_s() > SILENCE_S:
                    raise AgentSilent(
                        f"{self.address}: loadgo's agent has not answered for {SILENCE_S:.0f} s: the network is cut, "
                        "the host hangs, or the agent was stopped there; when it runs again it undoes its work"
                    )
                continue
            piece = os.read(stdout, _PIECE_BYTES)
            back_ns = time.monotonic_ns()
            if not piece:
                raise self._ended()
            try:
                frames = self._frames.feed(piece)
            except Refused as wrong:
                raise WrongFrames(
                    f"{self.address}: {wrong}: see that nothing in the account there prints into ssh's output: let its "
                    ".bashrc print in interactive shells alone"
                ) from None
            if frames:
                self._heard_s = back_ns / 1e9
            for kind, body in frames:
                if kind == "clock":
                    self.clock.take(body, back_ns)
                yield kind, body
                self._listening_s = time.monotonic()

    def _beat(self) -> None:
        if time.monotonic() - self._beaten_s >= BEAT_EVERY_S:
            self._beaten_s = time.monotonic()
            self._send("beat")
            if self.clock.answered:
                self._send("clock", self.clock.question())

    def order(self, order: Mapping[str, Any]) -> None:
        """Gives the driver at work there an order, from any thread."""
        with suppress(ValueError):  # the agent has ended
            self._send("order", json.dumps(order).encode())

    def _send(self, kind: str, body: bytes = b"") -> None:
        assert self._process.stdin is not None
        with self._sending, suppress(BrokenPipeError):  # the end of the output follows, which says why
            self._process.stdin.write(_loadgo.agent_frame(kind, body))

    def _ended(self) -> Refused:
        """The error for an agent whose output has ended before its answer."""
        status = self._process.wait()
        errors, text_before = self._connection.errors(self._script), self._frames.text_before_greeting()
        messages = shown_clause(errors) or shown_clause(text_before)
        if self._far is None and status == SSH_FAILED_STATUS:
            return self._connection.failure(messages)
        if self._far is None and self._sudo and "sudo" in messages:
            return SudoRefused(
                f"{self.address}: {messages}: log in as root, or see docs/hosts-agent.md for a safe rule in sudoers, "
                "or leave out `sudo`"
            ).about("sudo")
        if self._far is None:
            reason = messages or (
                f"it ended with status {status} before an agent's first word: remove the directory loadgo in the "
                "account's cache there, so that it is brought again"
            )
            return NoAgent(f"{self.address}: loadgo's agent could not be started: {reason}")
        cut = "" if self._frames.is_between_frames() else ", in the middle of a frame"
        how = self._connection.end_in_words() if status == SSH_FAILED_STATUS else f"it ended with status {status}"
        return AgentLost(
            f"{self.address}: loadgo's agent was lost before its answer: {how}{cut}"
            f"{f' ({messages})' if messages else ''}. "
            "It undoes its work there. If it was killed, the next loadgo that connects to that host does"
        )

    def _refusal(self, body: bytes) -> Refused:
        refusal = parse_json(self.address, body, dict)
        left_behind = texts_of(refusal.get("left_behind"))
        return Refused("\n".join((f"{self.address}: {shown(str(refusal.get('reason', '')))}", *left_behind)))


@contextmanager
def open_agent(address: Address, *, sudo: bool = False, stop: threading.Event | None = None) -> Iterator[Agent]:
    """Brings an agent to the host if it is not there, starts it, and ends it with the context.

    Raises the branches of `NoAgent` and of `AgentLost`, and `KeyboardInterrupt` when `stop` is set before its start.
    """
    program = find_agent_program()
    with (
        connect(address, program.question, stop) as connection,
        agent_over(connection, program, sudo=sudo) as agent,
    ):
        yield agent


@contextmanager
def agent_over(connection: Connection, program: AgentProgram, *, sudo: bool = False) -> Iterator[Agent]:
    """Does what `open_agent` does, over a connection whose question was the program's."""
    deliver(connection, program)
    agent = Agent(connection, program, sudo=sudo)
    try:
        yield agent
    finally:
        agent.end()


def parse_json(address: Address, body: bytes, kind: type[Any]) -> Any:
    """The JSON of a frame, which must be of this type. Raises `WrongFrames`."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise WrongFrames(f"{address}: the agent's answer is not in its form")
    return value


def texts_of(values: object) -> tuple[str, ...]:
    """The texts in a list from another host, fit for a terminal."""
    return tuple(shown(value) for value in values if isinstance(value, str)) if isinstance(values, list) else ()
