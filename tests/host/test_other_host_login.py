"""Log-ins on another host that hang or are interrupted, and hosts that print or send without end."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loadgo
import pytest
from loadgo.hosts import connection
from loadgo.hosts.address import Address
from loadgo.hosts.control_directory import PARENT_DIRECTORY, remove_dead_directories
from loadgo.hosts.failures import SSH_FAILED_STATUS, AgentSilent, LoginUnfinished
from support.agent_hosts import FAR, AgentHost, agent_host, eventually
from support.outside import NEEDS_ROOT, PATIENCE_S

pytestmark = NEEDS_ROOT
ASKS = "echo entered >{home}/entered; read -r answer\n"
"""A `.bashrc` that waits for input, which never comes."""
MOST_MEMORY_KB = 400_000
"""Largest memory of a loadgo that a hostile host sends to; loadgo with its libraries has 150 MB."""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host that an agent can be brought to."""
    with agent_host(tmp_path) as host:
        yield host


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in listed.stdout.split()]


def control_directories(pid: int) -> set[Path]:
    """The directories of control sockets that a process holds open."""
    targets = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in between
            targets.add(os.readlink(link))
    return {Path(target) for target in targets if target.startswith(f"{PARENT_DIRECTORY}/loadgo-ssh-")}


@pytest.mark.parametrize("command", [("doctor", "--on", FAR), ("meter", "--on", FAR, "--out", "kept", "--quiet")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_login_that_hangs_and_nothing_stays(
    command: tuple[str, ...], number: signal.Signals, far: AgentHost
) -> None:
    (far.host.home / ".bashrc").write_text(ASKS.format(home=far.host.home))
    running = far.start(*command)
    eventually(lambda: (far.host.home / "entered").exists(), "the shell there does not begin")
    started, directories = children(running.pid), control_directories(running.pid)
    assert started
    assert directories
    running.send_signal(number)
    assert "interrupted" in far.ended(running, 130).stderr
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "ssh stays")
    assert not any(directory.exists() for directory in directories)
    assert not (far.folder / "kept").exists()


def test_a_login_that_hangs_is_told_with_the_remedy(far: AgentHost, monkeypatch: pytest.MonkeyPatch) -> None:
    (far.host.home / ".bashrc").write_text(f"echo Your name?\n{ASKS.format(home=far.host.home)}")
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    # The log-in itself is a part of the time, a large one on a busy host: then it has more.
    for limit_s in (3.0, 30.0, 300.0):
        monkeypatch.setattr(connection, "LOGIN_TIMEOUT_S", limit_s)
        with pytest.raises(LoginUnfinished) as unfinished, connection.connect(Address("far"), "echo never"):
            pass
        told = str(unfinished.value)
        if "Your name?" in told:
            break
    assert f"not come to its end in {limit_s:.0f} s (Your name?)" in told
    assert "must not wait for input" in told


def test_what_another_host_prints_as_errors_takes_no_disk_and_its_end_is_kept(
    far: AgentHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    with connection.connect(Address("far"), 'echo "loadgo-far:x:"') as connected:
        script = "head -c 3000000 /dev/zero >&2; echo the end >&2"
        assert connected.run(script) == 0
        messages = connected.errors(script)
        assert messages.endswith(b"the end\n")
        assert len(messages) == 1 << 16
        assert [path.name for path in connected.directory.iterdir()] == ["socket"]


def test_only_directories_of_killed_loadgos_are_removed(far: AgentHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    with connection.connect(Address("far"), 'echo "loadgo-far:x:"') as connected:
        os.utime(connected.directory, (0, 0))
        remove_dead_directories()
        assert (connected.directory / "socket").exists()
    assert not connected.directory.exists()


HOSTILE_AGENT = """#!{python}
import json, os, subprocess, sys
if sys.argv[1] != "serve":
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
digest = subprocess.run([{real!r}, "hash"], capture_output=True, text=True).stdout.strip()
out = sys.stdout.buffer
def send(kind, body):
    out.write(kind + len(body).to_bytes(4, "big") + body)
out.write(b"\\0loadgo-agent 1\\n")
send(b"H", json.dumps(dict(hash=digest, pid=os.getpid(), hostname="far", kernel="0", is_root=False)).encode())
out.flush()
sys.stdin.buffer.read(5)  # a request begins
send(b"T", b"format = 1\\n")
head = b"\\xff\\xff\\xff\\xff"
{sends}
out.flush()
sys.stdin.buffer.read()
"""
HOSTILE_SENDS = {
    "a lying length": (
        'send(b"M", b"\\x02" + head + (1 << 31).to_bytes(4, "little"))',
        "a message of 2147483656 bytes, of which 33554432 are allowed",
    ),
    "messages without end": (
        "while True:\n"
        "    for table in range(13):\n"
        '        send(b"M", bytes([table]) + head + (1 << 24).to_bytes(4, "little"))\n'
        '        for _ in range(200): send(b"M", bytes([table]) + bytes(1 << 16))\n',
        "several messages have begun, and none is complete",
    ),
    "a batch of 400 MB that is packed into some kilobytes": (
        "import io, polars\n"
        'frame = polars.DataFrame({"at_ns": polars.zeros(50_000_000, dtype=polars.UInt64, eager=True)})\n'
        "stream = io.BytesIO()\n"
        'frame.write_ipc_stream(stream, compression="zstd")\n'
        'send(b"M", bytes([2]) + stream.getvalue())',
        "compress",
    ),
    # On a busy host ssh may need so long for the errors that the agent is given up before its frame comes.
    "errors without end": (
        'os.write(2, b"x" * (1 << 28))\nsend(b"M", b"\\xff")',
        "a frame of an unknown table|has not answered for 15 s",
    ),
}


def replace_agent(far: AgentHost, sends: str) -> None:
    """Puts a hostile program into the place of the agent there."""
    far.loadgo("doctor", "--on", FAR)
    (agent,) = far.agents
    real = agent.rename(far.host.home / "real-agent")
    agent.write_text(HOSTILE_AGENT.format(python=sys.executable, real=str(real), sends=sends))
    agent.chmod(0o755)


@pytest.mark.parametrize("name", HOSTILE_SENDS)
def test_a_hostile_host_costs_bounded_memory_and_ends_in_words(name: str, far: AgentHost) -> None:
    sends, reason = HOSTILE_SENDS[name]
    replace_agent(far, sends)
    running = far.start("meter", "--on", FAR, "--out", "kept", "--quiet")
    peak_kb = [0]
    watcher = threading.Thread(target=watch_memory, args=(running.pid, peak_kb))
    watcher.start()
    err = far.ended(running, 2).stderr
    watcher.join()
    assert any(words in err for words in reason.split("|"))
    assert 0 < peak_kb[0] < MOST_MEMORY_KB


def test_an_agent_that_lives_and_never_answers_is_given_up(far: AgentHost, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_agent(far, 'import time\nwhile True: send(b"B", b""); out.flush(); time.sleep(0.1)')
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr("loadgo.hosts.agent.ANSWER_TIMEOUT_S", 1.0)
    with pytest.raises(AgentSilent, match="still runs and has not answered 1 s after the end of its work"):
        loadgo.meter(on=FAR, duration="1s", out=far.folder / "kept")


def watch_memory(pid: int, peak_kb: list[int]) -> None:
    """Keeps the largest memory of a process in `peak_kb` until it ends."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        lines = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        if not lines:
            return
        peak_kb[0] = int(lines[0].split()[1])
        time.sleep(0.05)


def ended_without_a_word(far: AgentHost, deed: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error for a command on the host that ends without a word, after a deed."""
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    with connection.connect(Address("far"), "echo loadgo-far:x") as shared:
        assert shared.master is not None
        script = "kill -9 $$" if deed == "command" else "echo begun; sleep 900"
        process = shared.start(script, (subprocess.DEVNULL, subprocess.PIPE))
        assert process.stdout is not None
        if deed != "command":
            assert process.stdout.readline() == b"begun\n"
        if deed == "here":
            shared.master.process.kill()
        elif deed == "there":
            for pid in children(far.host.pid):
                os.kill(pid, signal.SIGKILL)
        assert process.wait(PATIENCE_S) == SSH_FAILED_STATUS
        process.stdout.close()
        assert shared.errors(script) == b"", "ssh says nothing of it"
        return str(shared.failure(shared.errors(script)))


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        (
            "command",
            "a command there ended without a status and without a word, while the connection goes on",
        ),
        ("here", "has ended: its ssh was ended by SIGKILL and printed nothing: see who ends processes of this account"),
        ("there", "has ended: its ssh ended with status 255 (Connection to "),
    ],
)
def test_what_ended_without_a_word_is_told(
    deed: str, told: str, far: AgentHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told in ended_without_a_word(far, deed, monkeypatch)
