"""How users of `run --on ssh://HOST` log in: with what the account's own ssh has; and runs that are broken off."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.hosts.agent import Agent
from loadgo.hosts.failures import LoginUnfinished
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, rows_came
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT
OPTIONS = ("work.toml", "--on", FAR, "--users", "2", "--passes", "1")
OF_SHELL = ("PWD", "OLDPWD", "SHLVL", "_")
OF_USER = ("LOADGO_USER", "PS1", "PROMPT_COMMAND")
"""Variables that differ from user to user, and the prompt's: `ssh` reads none of them."""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host with process ids of its own, and a script that its users type."""
    with agent_host(tmp_path, apart=True) as host:
        (tmp_path / "work.toml").write_text('name = "work"\nneeds = ["true"]\nthink = "none"\nlines = ["true"]\n')
        yield host


@pytest.fixture
def in_process(far: AgentHost, monkeypatch: pytest.MonkeyPatch) -> AgentHost:
    """The host, for runs in this process."""
    monkeypatch.setenv("PATH", f"{far.folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(far.folder)
    return far


def ssh_first(far: AgentHost, text: str) -> None:
    """Lets `ssh` run this text of a shell first."""
    ssh = far.folder / "bin" / "ssh"
    ssh.write_text(ssh.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{text}\n"))


@contextmanager
def key_in_agent(far: AgentHost) -> Iterator[Path]:
    """The socket of an agent of keys that alone has the host's key: ssh's configuration names no file of it."""
    socket = far.folder / "keys"
    config = far.host.config.read_text().splitlines()
    kept = [line for line in config if not line.split()[0].startswith("Identit")]
    far.host.config.write_text("\n".join([*kept, "  IdentityFile none", ""]))
    keys = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        eventually(socket.exists, "the agent of keys does not begin")
        key = far.host.config.parent / "key"
        subprocess.run(["ssh-add", "-q", str(key)], env={**os.environ, "SSH_AUTH_SOCK": str(socket)}, check=True)
        yield socket
    finally:
        keys.terminate()
        keys.wait()


def test_users_log_in_with_a_key_that_an_agent_of_keys_alone_has(far: AgentHost) -> None:
    with key_in_agent(far) as socket:
        far.run(*OPTIONS, SSH_AUTH_SOCK=str(socket))
    assert "ControlPath=none" in far.run_toml()["system"]["login"]
    assert len(loadgo.tables(far.folder / "kept").interactions) == 2


def test_a_proxy_command_of_users_has_the_account_s_home_and_shell(far: AgentHost) -> None:
    home = far.folder / "account"
    home.mkdir()
    (home / "way").write_text(f"exec 3<>/dev/tcp/127.0.0.1/{far.host.port}; cat <&3 & cat >&3\n")
    far.with_ssh("-o", 'ProxyCommand=bash "$HOME/way"')
    far.run(*OPTIONS, HOME=str(home))
    assert "ControlPath=none" in far.run_toml()["system"]["login"]


def test_the_trial_of_a_log_in_has_the_environment_of_the_users(far: AgentHost) -> None:
    ssh_first(
        far,
        f'case "$*" in *"exit 0") env -0 >{far.folder}/trial ;; *-tt*) env -0 >{far.folder}/user ;; esac',
    )
    with (far.folder / "work.toml").open("a") as script:
        script.write('[env]\nCOLOUR = "none"\n')
    far.run(*OPTIONS, SSH_AUTH_SOCK="/nowhere", KRB5CCNAME="FILE:/nowhere")
    trial, user = (variables(far.folder / name) for name in ("trial", "user"))
    assert trial == user
    assert trial["HOME"] == os.environ["HOME"]
    assert (trial["SSH_AUTH_SOCK"], trial["KRB5CCNAME"], trial["COLOUR"]) == ("/nowhere", "FILE:/nowhere", "none")


def variables(file: Path) -> dict[str, str]:
    """The environment that `env -0` has written, without what a shell and the prompt add."""
    pairs = (line.split("=", 1) for line in file.read_text().split("\0") if line)
    return {name: value for name, value in pairs if name not in (*OF_SHELL, *OF_USER)}


def test_users_share_the_connection_where_their_own_ssh_cannot_reach_the_host(far: AgentHost) -> None:
    ssh_first(far, 'case "$*" in *ControlPath=none*) set -- -o ProxyCommand=false "$@" ;; esac')
    far.run(*OPTIONS)
    assert "ControlPath=SOCKET" in far.run_toml()["system"]["login"]


def test_users_share_the_connection_where_their_own_ssh_fails_without_a_word(far: AgentHost) -> None:
    """ssh prints nothing with `LogLevel ERROR`, if the other side ends the connection while ssh says who it is."""
    ssh_first(far, 'case "$*" in *ControlPath=none*) exit 255 ;; esac')
    far.run(*OPTIONS)
    described = far.run_toml()
    assert "ControlPath=SOCKET" in described["system"]["login"]
    assert any("ssh ended with its own status, 255, and without a word" in note for note in described["notes"])


@pytest.mark.parametrize("name", ["ann's", "$(touch ran)", "a `touch ran` b!"])
def test_a_run_may_have_any_name(name: str, far: AgentHost) -> None:
    far.run(*OPTIONS, out=name)
    assert loadgo.tables(far.folder / name).sessions["outcome"].cast(pl.String).unique().to_list() == ["done"]
    assert not (far.host.home / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_trial_of_a_log_in_before_an_agent_runs(number: signal.Signals, far: AgentHost) -> None:
    ssh_first(far, f'case "$*" in *"exit 0") touch {far.folder}/tries; exec sleep 900 ;; esac')
    running = far.start("run", *OPTIONS, "--out", "kept")
    eventually(lambda: (far.folder / "tries").exists() or running.poll() is not None, "no log-in is tried")
    assert far.agent_pids() == [], "an agent would leave after 30 s without a word"
    running.send_signal(number)
    assert "interrupted" in far.ended(running, 130).stderr
    assert not (far.folder / "kept").exists()


def test_a_profile_that_hangs_is_told_with_the_remedy(in_process: AgentHost, monkeypatch: pytest.MonkeyPatch) -> None:
    (in_process.host.home / ".bash_profile").write_text("sleep 900\n")
    monkeypatch.setattr("loadgo.running.elsewhere.other_host.LOGIN_TIMEOUT_S", 20.0)
    with pytest.raises(LoginUnfinished, match=r"not come to its end in 20 s: a \.profile or \.bash_profile must not"):
        loadgo.run("work.toml", on=FAR, users=1, passes=1, out="kept")


def test_a_signal_while_the_meters_begin_lets_nobody_log_in(
    in_process: AgentHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = Agent.compare_clocks

    def compare_and_interrupt(agent: Agent, stage: Any) -> None:
        compare(agent, stage)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Agent, "compare_clocks", compare_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        loadgo.run("work.toml", on=FAR, users=1, passes=1, out="kept")
    assert not (in_process.folder / "kept").exists()


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_a_run_that_an_exception_breaks_off_says_where_its_meters_are(
    kind: type[BaseException], in_process: AgentHost
) -> None:
    def progress(_: object) -> None:
        if rows_came(in_process.folder / "kept" / "other-host", "time"):
            raise kind

    with pytest.raises(kind):
        loadgo.run("work.toml", on=FAR, users=1, passes=None, duration="10min", out="kept", progress=progress)
    lost = loadgo.tables(in_process.folder / "kept").lost.cast({"what": pl.String, "reason": pl.String})
    (reason,) = lost.filter(what="meters")["reason"].to_list()
    assert reason == f"the run broke off: the meters of {FAR} are in other-host, by its own clock"
    assert reason in in_process.run_toml()["notes"]
    assert len(loadgo.tables(in_process.folder / "kept" / "other-host").time) > 0
