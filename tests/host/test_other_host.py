"""`doctor` and `meter` on another host: an agent over ssh gives what the host itself would, whatever goes wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loadgo
import pytest
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, rows_came
from support.far_programs import sshd
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host that an agent can be brought to."""
    with agent_host(tmp_path) as host:
        yield host


def doctor_names(far: AgentHost, *options: str) -> list[str]:
    """The abilities that `doctor` names of the other host."""
    answer = far.loadgo("doctor", "--on", FAR, "--format", "json", *options).stdout
    return [ability["name"] for ability in json.loads(answer)["abilities"]]


def metering(far: AgentHost, *options: str, start_new_session: bool = False) -> subprocess.Popen[str]:
    """A `meter --on` that has begun to write its records into `kept`."""
    running = far.start("meter", "--on", FAR, "--out", "kept", "--quiet", *options, start_new_session=start_new_session)
    eventually(lambda: running.poll() is not None or rows_came(far.folder / "kept", "time"), "no records come")
    assert running.poll() is None, running.communicate()
    return running


def the_agent(far: AgentHost) -> int:
    (pid,) = far.agent_pids()
    return pid


def broken_off(far: AgentHost) -> str:
    """The notes of a metering that broke off, whose records until then can be read."""
    run = tomllib.loads((far.folder / "kept" / "run.toml").read_text())
    assert (run["outcome"], run["finished"]) == ("killed", False)
    assert len(loadgo.tables(far.folder / "kept").time) > 0
    return "\n".join(run["notes"])


def test_the_agent_needs_no_library_of_the_other_host() -> None:
    program = Path(sys.executable).parent / "loadgo-agent"
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    assert "INTERP" not in headers


def test_doctor_says_of_another_host_what_it_says_there(far: AgentHost) -> None:
    here = [ability.name for ability in loadgo.doctor()]
    there = doctor_names(far)
    assert there == [name for name in here if name in there]
    assert {"terminals", "waits of each user", "meter: total time"} <= set(there)
    of_driver = set(here) - set(there)
    assert {"memory limits", "TLS by the kernel"} <= of_driver
    assert {"timers", "open files"} <= set(there), "a host may drive users, too"
    (first,) = far.agents
    brought_at = first.stat().st_ino
    text = far.loadgo("doctor", "--on", FAR).stdout
    assert all(name in " ".join(text.split()) for name in of_driver), "they are named as left out"
    assert f"on ssh://far ({os.uname().nodename}, Linux {os.uname().release})" in " ".join(text.split())
    assert far.agents == [first]
    assert first.stat().st_ino == brought_at, "it is brought once"


def test_a_metering_of_another_host_is_a_run_folder_here(far: AgentHost) -> None:
    far.loadgo("meter", "--on", FAR, "--for", "3s", "--out", "kept", "--format", "json")
    run = tomllib.loads((far.folder / "kept" / "run.toml").read_text())
    assert (run["kind"], run["id"], run["name"], run["finished"], run["outcome"]) == (
        "meter",
        "kept",
        FAR,
        True,
        "done",
    )
    assert (run["system"]["name"], run["system"]["kernel"]) == (FAR, os.uname().release)
    assert run["command"][:3] == ["loadgo", "meter", "--on"]
    tables = loadgo.tables(far.folder / "kept")
    spans = tables.time.unique("at_ns")["span_ns"]
    assert len(spans) > 1
    assert spans.sum() >= 3e9
    assert tables.time["time_ns"].sum() == pytest.approx((os.cpu_count() or 1) * spans.sum(), rel=0.01)
    assert not list((far.folder / "kept").glob("*.arrows"))
    assert "kept" in far.loadgo("report", "kept").stdout


def test_an_interrupt_ends_the_metering_in_order(far: AgentHost) -> None:
    running = metering(far, "--for", "10min")
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    run = tomllib.loads((far.folder / "kept" / "run.toml").read_text())
    assert (run["outcome"], run["finished"]) == ("stopped", True)


def test_an_interrupt_of_the_whole_terminal_ends_the_metering_in_order(far: AgentHost) -> None:
    running = metering(far, "--for", "10min", start_new_session=True)
    os.killpg(running.pid, signal.SIGINT)
    far.ended(running, 130)
    run = tomllib.loads((far.folder / "kept" / "run.toml").read_text())
    assert (run["outcome"], run["finished"]) == ("stopped", True)


def is_read_by(pid: int, path: Path) -> bool:
    """Whether the process has the file open for reading alone."""
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in between
            facts = Path(f"/proc/{pid}/fdinfo/{fd.name}").read_text().split()
            mode = int(facts[facts.index("flags:") + 1], 8) & os.O_ACCMODE
            if mode == os.O_RDONLY and fd.samefile(path):
                return True
    return False


def test_records_that_cannot_be_sent_whole_are_those_of_a_broken_metering(far: AgentHost) -> None:
    running = metering(far)
    (stream,) = (far.root / "var/tmp").glob(f"loadgo-agent-{the_agent(far)}-*/records/time.arrows")
    with stream.open("ab") as file:
        file.write(b"garbage!" * 100_000)
    # The agent writes over the garbage, and its end mark would hide it from a sender that had not come to it yet.
    eventually(lambda: not is_read_by(the_agent(far), stream), "the sender has not met the garbage")
    running.send_signal(signal.SIGINT)
    assert "some records could not be sent" in far.ended(running, 2).stderr
    assert "the metering broke off" in broken_off(far)


def test_a_full_disk_at_the_end_is_told_as_the_other_hosts(far: AgentHost) -> None:
    running = metering(far)
    with suppress(OSError), (far.root / "var/tmp/full").open("wb", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    running.send_signal(signal.SIGINT)
    err = far.ended(running, 2).stderr
    assert "the agent there cannot write its last records" in err
    assert "No space left on device" in err
    assert "make room on that host in /var/tmp" in err
    assert "`out`" not in err, "the folder here has room"
    assert "the metering broke off" in broken_off(far)


def test_an_agent_that_is_killed_is_told_and_its_records_until_then_are_kept(far: AgentHost) -> None:
    running = metering(far)
    os.kill(the_agent(far), signal.SIGKILL)
    err = far.ended(running, 2).stderr
    assert "loadgo's agent was lost before its answer: a signal ended it, while the connection goes on" in err
    assert "the records until then are in kept" in err
    assert "the metering broke off" in broken_off(far)


def test_an_agent_that_is_stopped_is_told_and_undoes_its_work(far: AgentHost) -> None:
    running = metering(far)
    os.kill(the_agent(far), signal.SIGSTOP)
    assert "loadgo's agent has not answered for 15 s" in far.ended(running, 2).stderr
    assert "has not answered" in broken_off(far)


def test_an_agent_ends_with_its_controller(far: AgentHost) -> None:
    running = metering(far)
    listed = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(running.pid)], capture_output=True, text=True, check=True
    ).stdout
    running.kill()
    found = re.search(r"ControlPath=(\S+)/socket", listed)
    assert found is not None, listed
    directory = Path(found[1])
    far.ended(running, -signal.SIGKILL)
    eventually(lambda: not (directory / "socket").exists(), "the connection stays")
    minute_ago_s = time.time() - 61
    os.utime(directory, (minute_ago_s, minute_ago_s))
    doctor_names(far)
    assert not directory.exists(), "the next loadgo removes it"


def test_a_connection_that_is_cut_is_told(far: AgentHost) -> None:
    running = metering(far)
    for pid in sshd_sessions(far):
        os.kill(pid, signal.SIGKILL)
    assert "the connection ended: its ssh ended with status 255" in far.ended(running, 2).stderr
    broken_off(far)


def sshd_sessions(far: AgentHost) -> list[int]:
    """The sshd processes that serve connections to this host, not the one that listens."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): int(parent) for pid, parent in (line.split() for line in listed.splitlines()[1:])}
    pid, above = the_agent(far), []
    while parents[pid] > 1 and parents[pid] != os.getpid():
        pid = parents[pid]
        above.append(pid)
    return above[:-1]


def test_two_controllers_at_once_do_not_disturb_each_other(far: AgentHost) -> None:
    both = [far.start("meter", "--on", FAR, "--for", "2s", "--out", out, "--quiet") for out in ("one", "two")]
    for running in both:
        out, err = running.communicate()
        # A host may lose records when it is busy, and then the status is 1.
        assert running.returncode == int(len(loadgo.tables(far.folder / out.strip()).lost) > 0), err
        assert tomllib.loads((far.folder / out.strip() / "run.toml").read_text())["outcome"] == "done"
    assert len(far.agents) == 1


def test_a_damaged_or_older_agent_in_the_cache_is_replaced(far: AgentHost) -> None:
    doctor_names(far)
    (agent,) = far.agents
    whole = agent.read_bytes()
    for content in (b"", b"#!/bin/sh\necho older\n", b"\x7fELF cut"):
        agent.write_bytes(content)
        doctor_names(far)
        assert agent.read_bytes() == whole, content


def test_a_shell_that_prints_is_no_obstacle(far: AgentHost) -> None:
    (far.host.home / ".bashrc").write_text(
        "echo Welcome to this host; echo and to its errors >&2\nprintf 'no newline'\n"
    )
    assert doctor_names(far)


def test_a_shell_that_prints_without_end_is_told_with_the_remedy(far: AgentHost) -> None:
    (far.host.home / ".bashrc").write_text("yes Welcome\n")
    err = far.loadgo("doctor", "--on", FAR, status=2).stderr
    assert "prints over 64 KB before it runs a command" in err
    assert "let its .bashrc or .profile print in interactive shells alone" in err


def test_an_unknown_host_key_is_told_with_the_remedy(far: AgentHost) -> None:
    far.with_ssh("-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes")
    err = far.loadgo("doctor", "--on", FAR, status=2).stderr
    assert "Host key verification failed" in err
    assert "log in once with `ssh` and compare the key" in err


def test_a_host_key_that_is_not_the_known_one_is_told_in_a_sentence(far: AgentHost) -> None:
    known = far.folder / "known_hosts"
    another_key = next(far.host.config.parent.glob("key.pub")).read_text()  # the account's own: no key of the host
    known.write_text(f"[127.0.0.1]:{far.host.port} {another_key}")
    far.with_ssh("-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes")
    err = far.loadgo("doctor", "--on", FAR, status=2).stderr
    assert f"its key is another than the one that is known here (ED25519 key in {known}:1); it shows SHA256:" in err
    assert "`ssh-keygen -R HOST`" in err
    assert "@@" not in err


def test_a_refused_login_is_told_with_the_remedy(far: AgentHost) -> None:
    far.with_ssh("-o", "PubkeyAuthentication=no", "-o", "BatchMode=yes")
    err = far.loadgo("meter", "--on", FAR, "--for", "1s", "--out", "kept", status=2).stderr
    assert "Permission denied" in err
    assert "ssh-copy-id" in err
    assert not (far.folder / "kept").exists()


def test_a_host_that_does_not_answer_is_told(far: AgentHost) -> None:
    err = far.loadgo("doctor", "--on", f"{FAR}:1", status=2).stderr
    assert "Connection refused" in err
    assert "no sshd answers at this port: see that one runs there" in err


def test_a_host_without_ssh_here_is_told(far: AgentHost) -> None:
    err = far.loadgo("doctor", "--on", FAR, status=2, PATH=str(far.folder / "empty")).stderr
    assert "there is no ssh on this host: install OpenSSH's client" in err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("size=1m", "there is no room for loadgo's agent"),
        ("noexec", "programs in the account's cache may not be run there"),
    ],
)
def test_a_full_disk_and_one_without_programs_are_told_with_the_remedy(
    options: str, reason: str, tmp_path: Path
) -> None:
    if sshd() is None:
        pytest.skip("there is no sshd: scripts/setup dev unpacks it")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], check=True)
    try:
        with agent_host(tmp_path) as far:
            (far.host.home / ".bashrc").write_text(f"export XDG_CACHE_HOME={place}\n")
            err = far.loadgo("doctor", "--on", FAR, status=2).stderr
        assert list((place / "loadgo").iterdir()) == []
    finally:
        subprocess.run(["umount", place], check=True)
    assert reason in err
    assert "set XDG_CACHE_HOME for the account there" in err


def test_an_account_that_may_not_use_sudo_is_told(far: AgentHost) -> None:
    (far.host.home / "bin").mkdir()
    refuses = far.host.home / "bin" / "sudo"
    refuses.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    refuses.chmod(0o755)
    (far.host.home / ".bashrc").write_text(f"PATH={far.host.home}/bin:$PATH\n")
    err = far.loadgo("doctor", "--on", FAR, "--sudo", status=2).stderr
    assert "sudo: a password is required" in err
    assert "leave out --sudo" in err


FAKE_AGENTS = {
    "a program that does nothing": ("true", "it ended with status 0 before an agent's first word"),
    "garbage": ("head -c 200000 /dev/zero", "65536 bytes came and the agent's greeting is not among them"),
    "cut in a frame": (r"printf '\000loadgo-agent 1\nH\000\000\001'", "could not be started"),
    "an endless frame": (
        r"printf '\000loadgo-agent 1\nH\377\377\377\377'; cat /dev/zero",
        "a frame of 4294967295 bytes",
    ),
    "another agent": (r"""printf '\000loadgo-agent 1\nH\000\000\000\014{"hash":"0"}'""", "another agent answers"),
    "a wrong pid": (
        r"""printf '\000loadgo-agent 1\nH\000\000\000\125{"hash":"%s","pid":"x"}' $("$real" hash)""",
        "not in its form",
    ),
    "no JSON": (r"printf '\000loadgo-agent 1\nH\000\000\000\002[]'", "not in its form"),
}


@pytest.fixture(scope="module")
def without_agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AgentHost, Path]]:
    """A host from whose cache the agent was moved away, and where it is now."""
    with agent_host(tmp_path_factory.mktemp("without-agent")) as far:
        doctor_names(far)
        (agent,) = far.agents
        yield far, agent.rename(far.host.home / agent.name)


@pytest.mark.parametrize("name", FAKE_AGENTS)
def test_a_far_end_that_is_no_agent_is_told(name: str, without_agent: tuple[AgentHost, Path]) -> None:
    program, reason = FAKE_AGENTS[name]
    far, real = without_agent
    agent = far.cache / real.name
    agent.write_text(f'#!/bin/sh\nreal={real}\n[ "$1" = serve ] || exec $real hash\n{program}\n')
    agent.chmod(0o755)
    err = far.loadgo("doctor", "--on", FAR, status=2).stderr
    assert reason in err
