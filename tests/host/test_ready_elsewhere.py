"""A command that runs and is metered on another host: its figures, its output, and its end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, nothing_stays
from support.outside import NEEDS_ROOT, wait_until

pytestmark = NEEDS_ROOT

WORK = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done"


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    """A host for ssh, with an agent from the first command on."""
    with agent_host(tmp_path_factory.mktemp("far")) as host:
        yield host


def ready(far: AgentHost, *words: str, status: int = 0) -> dict[str, Any]:
    """The JSON of a ready message from there."""
    told = far.ended(far.start("ready", "--on", FAR, "--format", "json", "-o", "ready.json", *words), status)
    assert "Traceback" not in told.stderr
    found: dict[str, Any] = json.loads((far.folder / "ready.json").read_text())
    return found


def test_the_figures_are_those_of_the_command_there(far: AgentHost) -> None:
    message = ready(far, "-n", "3", "--quiet-output", "--", "sh", "-c", WORK)
    assert (message["host"], len(message["runs"]), message["status"]) == (FAR, 3, 0)
    assert message["sources"]["cpu"].startswith("cgroup")
    for run in message["runs"]:
        by_wait4_ns = run["waited"]["user_ns"] + run["waited"]["system_ns"]
        assert run["cpu_ns"] == pytest.approx(by_wait4_ns, rel=0.1, abs=4_000_000)
        assert run["cpu_ns"] <= run["real_ns"]
        assert run["faults_minor"] > 0
    assert message["figures"]["as it is"]["real_ns"]["least"] > 1_000_000


def test_what_it_prints_comes_on_the_same_streams_and_its_status_is_that_of_loadgo(far: AgentHost) -> None:
    told = far.ended(
        far.start("ready", "--on", FAR, "--", "sh", "-c", "cat; pwd; echo wrong >&2; exit 3"),
        3,
    )
    assert told.stdout == f"{far.host.home}\n"
    first, *message = told.stderr.splitlines()
    assert first == "wrong"
    assert f" on {FAR}: real" in " ".join(message)
    assert "exit 3" in told.stderr


def test_every_byte_of_a_large_output_comes(far: AgentHost) -> None:
    told = far.ended(far.start("ready", "--on", FAR, "--", "seq", "300000"), 0)
    assert told.stdout == "".join(f"{number}\n" for number in range(1, 300_001))


def test_a_program_that_cannot_run_there_is_told_with_a_shell_s_status(far: AgentHost) -> None:
    missing = far.loadgo("ready", "--on", FAR, "--", "no-such-program", status=127)
    assert f"{FAR}: no-such-program: no such program" in missing.stderr
    assert f"{FAR}: /etc/passwd: " in far.loadgo("ready", "--on", FAR, "--", "/etc/passwd", status=126).stderr


def test_a_signal_that_ends_it_there_is_told(far: AgentHost) -> None:
    told = far.ended(far.start("ready", "--on", FAR, "--", "sh", "-c", "kill -SEGV $$"), 128 + signal.SIGSEGV)
    assert "killed by SIGSEGV" in told.stderr


@pytest.mark.parametrize("last", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_the_command_there(last: signal.Signals, far: AgentHost) -> None:
    mark = far.host.home / f"began-{last.name}"
    stopped = far.start("ready", "--on", FAR, "-n", "2", "--", "sh", "-c", f"echo $$ > {mark.name}; exec sleep 1000")
    wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"), stopped)
    stopped.send_signal(last)
    told = far.ended(stopped, 128 + last)
    assert f"{last.name} came: 1 of 2 runs were started" in told.stderr
    assert not _runs(int(mark.read_text()))


def test_a_loadgo_that_is_killed_leaves_no_command_there(far: AgentHost) -> None:
    mark = far.host.home / "began"
    killed = far.start("ready", "--on", FAR, "--", "sh", "-c", f"echo $$ > {mark.name}; exec sleep 1000")
    wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"), killed)
    killed.kill()
    killed.communicate()
    eventually(lambda: not _runs(int(mark.read_text())), "the command still runs")
    nothing_stays(far)


def _runs(pid: int) -> bool:
    """Whether the command of a test still runs there. Its process id is the same here."""
    command = Path(f"/proc/{pid}/cmdline")
    try:
        return command.read_bytes().startswith(b"sleep\x001000")
    except OSError:
        return False


def test_processes_that_it_leaves_behind_do_not_hold_the_message_up(far: AgentHost) -> None:
    mark = far.host.home / "left"
    message = ready(far, "--", "sh", "-c", f"sleep 1000 & echo $! > {mark.name}")
    assert message["runs"][0]["left_running"] == 1
    pid = int(mark.read_text())
    if _runs(pid):
        os.kill(pid, signal.SIGKILL)


def test_a_list_of_hosts_is_refused(far: AgentHost) -> None:
    far.list_hosts("ash", "birch")
    assert "this takes one host" in far.loadgo("ready", "--on", "hosts.toml", "--", "true", status=2).stderr


def test_an_agent_that_is_root_by_sudo_runs_no_command(far: AgentHost) -> None:
    """Else a rule in sudoers that allows the agent would allow every command as root."""
    (far.host.home / ".bashrc").write_text("export SUDO_UID=65534\n")
    try:
        err = far.loadgo("ready", "--on", FAR, "--", "touch", "made", status=2).stderr
    finally:
        (far.host.home / ".bashrc").unlink()
    assert "runs no commands" in err
    assert not (far.host.home / "made").exists()


ANSWERS = {
    "no object": "[]",
    "nothing in it": "{}",
    "a run that is none": '{"runs":[1],"not_run":null,"began_ns":1,"floor_bytes":1,"left_behind":[],"sources":'
    '{"cpu":"","faults":"","waits":"","split":"","groups":true,"cpu_resolution_ns":1,"notes":[]}}',
    "more runs than were asked": '{"runs":[1,2],"not_run":null,"began_ns":1,"floor_bytes":1,"left_behind":[],"sources":'
    '{"cpu":"","faults":"","waits":"","split":"","groups":true,"cpu_resolution_ns":1,"notes":[]}}',
    "a time before the beginning": '{"runs":[],"not_run":null,"began_ns":-1,"floor_bytes":1,"left_behind":[],"sources":'
    '{"cpu":"","faults":"","waits":"","split":"","groups":true,"cpu_resolution_ns":1,"notes":[]}}',
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_none_ends_in_words(name: str, far: AgentHost) -> None:
    far.loadgo("doctor", "--on", FAR)
    (agent,) = far.agents
    real = agent.rename(far.host.home / "real-agent")
    try:
        agent.write_text(f"#!/usr/bin/python3\nREAL, BODY = {str(real)!r}, {ANSWERS[name]!r}\n{FAKE_AGENT}")
        agent.chmod(0o755)
        err = far.loadgo("ready", "--on", FAR, "--", "true", status=2).stderr
    finally:
        real.rename(agent)
    assert "the agent's answer is not in its form" in err


FAKE_AGENT = """
import json, os, struct, subprocess, sys
if sys.argv[1] != "serve":
    os.execv(REAL, [REAL, *sys.argv[1:]])
hash = subprocess.check_output([REAL, "hash"], text=True).strip()
hello = json.dumps({"hash": hash, "pid": os.getpid(), "hostname": "x", "kernel": "y", "is_root": True})
write = os.fdopen(1, "wb", 0).write
write(b"\\0loadgo-agent 1\\n")
def send(kind, body):
    write(kind + struct.pack(">I", len(body)) + body)
send(b"H", hello.encode())
sys.stdin.buffer.read(5)  # the head of the request
send(b"A", BODY.encode())
sys.stdin.buffer.read()
"""
