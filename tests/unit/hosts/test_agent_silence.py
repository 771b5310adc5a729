"""The silence of an agent: only time in which this side listened counts."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from loadgo import _loadgo
from loadgo.hosts import agent as agent_module
from loadgo.hosts.agent import Agent
from loadgo.hosts.clock import ClockExchanges
from loadgo.hosts.failures import AgentSilent
from support.outside import PATIENCE_S

GREETING_AND_BEAT = r"\0loadgo-agent 1\nB\0\0\0\0"


@pytest.fixture
def last_heard_long_ago() -> Iterator[Any]:
    """An agent that has said nothing for longer than it may, while this side did something else."""
    agent: Any = Agent.__new__(Agent)
    agent.address, agent.left, agent.clock = "ssh://far", threading.Event(), ClockExchanges()
    agent._connection = SimpleNamespace(stop=threading.Event())
    agent._frames, agent._sending = _loadgo.AgentFrames(), threading.Lock()
    agent._heard_s = agent._listening_s = time.monotonic() - 10 * agent_module.SILENCE_S
    agent._beaten_s = time.monotonic() + 1000
    agent.news = None
    yield agent
    agent._process.stdin.close()
    agent._process.stdout.close()
    agent._process.wait()


def saying(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_work_of_this_side_is_no_silence_of_the_agent(
    last_heard_long_ago: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first look finds nothing: the frame comes after it. A busy host takes its time to start a shell.
    monkeypatch.setattr(agent_module, "SILENCE_S", float(PATIENCE_S))
    last_heard_long_ago._heard_s = last_heard_long_ago._listening_s = time.monotonic() - 10 * PATIENCE_S
    last_heard_long_ago._process = saying(f"sleep 0.5; printf '{GREETING_AND_BEAT}'; cat >/dev/null")
    assert next(last_heard_long_ago._received())[0] == "beat"


def test_an_agent_that_says_nothing_while_this_side_listens_is_silent(
    last_heard_long_ago: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "SILENCE_S", 1.0)
    last_heard_long_ago._process = saying("cat >/dev/null")
    began_s = time.monotonic()
    with pytest.raises(AgentSilent, match="has not answered for 1 s"):
        next(last_heard_long_ago._received())
    assert time.monotonic() - began_s >= 1
