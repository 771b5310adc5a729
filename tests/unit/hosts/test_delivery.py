"""The agent on its way to another host: one that takes nothing any more is given up, and a slow one is not."""

from __future__ import annotations

import platform
import threading
from pathlib import Path

import pytest
from loadgo.hosts import delivery
from loadgo.hosts.address import Address
from loadgo.hosts.connection import Connection
from loadgo.hosts.delivery import AgentProgram, deliver
from loadgo.hosts.failures import DeliveryStalled

SIZE = 1_000_000


@pytest.fixture
def program(tmp_path: Path) -> AgentProgram:
    (tmp_path / "agent").write_bytes(bytes(SIZE))
    return AgentProgram(tmp_path / "agent", "0" * 64)


def connection(folder: Path, ssh: str, monkeypatch: pytest.MonkeyPatch) -> Connection:
    """A connection to a host without an agent, whose `ssh` is this script of the shell."""
    (folder / "ssh").write_text(f"#!/bin/sh\n{ssh}\n")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return Connection(Address("far"), folder, [f"Linux-{platform.machine()}", "-"], threading.Event())


def test_a_host_that_takes_no_more_of_the_agent_is_given_up_in_words(
    program: AgentProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "MOST_STANDSTILL_S", 0.2)
    hangs = connection(tmp_path, "head -c 1000 >/dev/null; exec sleep 1000", monkeypatch)
    with pytest.raises(DeliveryStalled, match=r"ssh://far: .* of 1,000,000 bytes were sent, and nothing has moved for"):
        deliver(hangs, program)


def test_a_host_that_takes_the_agent_has_it(
    program: AgentProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver(connection(tmp_path, f"exec cat >{tmp_path}/there", monkeypatch), program)
    assert (tmp_path / "there").stat().st_size == SIZE


def test_patience_is_for_the_next_bytes_and_after_the_last_for_those_on_the_way(
    program: AgentProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(delivery.time, "monotonic", lambda: now[0])
    with program.path.open("rb", buffering=0) as content:
        sending = delivery._Sending(content.fileno())

        def stalled_after(seconds: float) -> bool:
            now[0] += seconds
            return sending.has_stalled()

        for _ in range(10):
            content.read(SIZE // 10)
            assert not stalled_after(delivery.MOST_STANDSTILL_S - 1)
        assert sending.sent_bytes == sending.all_bytes
        sent_s = now[0]
        assert not stalled_after(sent_s + delivery.MOST_STANDSTILL_S - 1)
        assert stalled_after(2)
        content.seek(1)
        assert not stalled_after(1000), "something moves again"
