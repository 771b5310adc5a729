"""Users who log in by `su` and `ssh`: their files and lines arrive byte for byte, and nothing stays in the account."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from support.far_programs import needs_sshd
from support.outside import LOOK_EVERY_S, NEEDS_ROOT, PATIENCE_S, Bench, ended, phase_has_begun, wait_until
from support.ssh_host import SshHost, ssh_host
from support.sweeps import contents

pytestmark = NEEDS_ROOT

FILES = {
    "Makefile": b"all:\n\techo hi\n",
    "prime.c": b"int main(void) {\n\treturn 0;\n}\n",
    'src/it\'s 100% "quoted" !now $HOME `id`': b"'\\n' %s !! ~ $HOME `id` \\\n\\",
    "controls": bytes(range(1, 128)) + b"\0end",
    "-n": b"-e minus\n",
    "empty": b"",
    "\u00e4/\u65e5\u672c": "no newline at the end: \u65e5\u672c\u8a9e".encode(),
    "long": b"\t-%\x16'\n" * 1500,
}
LINES = {
    "tab": ("printf '%s' 'a\tb\t\tc'", b"a\tb\t\tc"),
    "here-document": ("cat <<'END'\n\tindented\n\t\ttwice\nEND", b"\tindented\n\t\ttwice\n"),
    "word": ("printf '%s' /b\tin", b"/bin"),
}
"""Lines that contain tabs, with what they print."""


@dataclass(frozen=True)
class Account:
    """An account that users log in to."""

    login: str
    home: Path | None
    """The account's home, if it has one."""
    shell: str


@pytest.fixture
def host(tmp_path: Path) -> Iterator[SshHost]:
    """A host for ssh."""
    needs_sshd()
    with ssh_host(tmp_path / "far") as host:
        yield host


WAYS = ["su - nobody -s /bin/bash", "su nobody -s /bin/sh", "su -w LANG - nobody -s /bin/zsh"]
"""Log-ins by `su`, each to another shell."""


@pytest.fixture(params=[*WAYS, "ssh to bash", "ssh to sh", "ssh to zsh"])
def account(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Account]:
    """An account reached by each way of logging in."""
    with ExitStack() as stack:
        needs_shell(request.param.split()[-1].split("/")[-1])
        if not request.param.startswith("ssh"):
            yield Account(request.param, None, request.param.split("/")[-1])
            return
        needs_sshd()
        shell = request.param.split()[-1]
        host = stack.enter_context(ssh_host(tmp_path / "far", f"/bin/{shell}"))
        if shell == "zsh":
            # Its line editor takes other characters than ASCII in a locale that has them alone.
            (host.home / ".zshenv").write_text("export LANG=C.UTF-8\n")
        yield Account(host.login, host.home, shell)


def needs_shell(name: str) -> None:
    if not Path("/bin", name).exists():
        pytest.skip(f"there is no /bin/{name}: scripts/setup dev installs zsh and fish")


def toml(text: str) -> str:
    """`text` as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def script(login: str, lines: list[str], files: dict[str, bytes], **keys: str) -> str:
    more = "".join(f"{name} = {toml(value)}\n" for name, value in keys.items())
    laid = "".join(f"{toml(name)} = {toml(content.decode())}\n" for name, content in files.items())
    typed = ", ".join(map(toml, lines))
    return f'login = {toml(login)}\nthink = "none"\nstatus = 0\n{more}lines = [{typed}]\n[files]\n{laid}'


def gives(command: str, printed: bytes) -> str:
    """A line that fails unless `command` gives these bytes."""
    told = subprocess.run(["cksum"], input=printed, capture_output=True, check=True).stdout.decode().strip()
    return f"[ '{told}' = \"$({{ {command}\n}} | cksum)\" ]"


def statuses(bench: Bench, text: str, *options: str) -> list[int | None]:
    """Exit statuses of the lines of a run of this script, in the order of the lines and users."""
    kept = bench.run(bench.script(text), "--meters", "none", *options)
    return kept.interactions.sort("user", "line")["exit_status"].to_list()


ACCOUNT_RUN = f"account-{os.getpid()}"
"""Name of a run that no test beside this one has. All runs share the accounts' place for temporary files."""


def stays(run: str) -> list[Path]:
    """The sessions' own directories that this run has left in the accounts' place for temporary files."""
    return list(Path("/tmp").glob(f"loadgo-*{run}*-*"))


def test_files_arrive_byte_for_byte(account: Account, bench: Bench) -> None:
    lines = [gives(f"cat <{shlex.quote(f'./{name}')}", content) for name, content in FILES.items()]
    assert set(statuses(bench, script(account.login, lines, FILES), "--users", "2")) == {0}


def test_make_reads_a_makefile(account: Account, bench: Bench) -> None:
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    assert statuses(bench, script(account.login, ["make -s"], {"Makefile": FILES["Makefile"]})) == [0]


@pytest.mark.parametrize("typing", ["none", "400 chars/s"])
def test_a_tab_in_a_line_arrives_as_it_stands(account: Account, typing: str, bench: Bench) -> None:
    lines = [gives(command, printed) for command, printed in LINES.values()]
    assert set(statuses(bench, script(account.login, lines, {}), "--typing", typing)) == {0}


@pytest.mark.parametrize("shell", ["bash", "sh", "zsh"])
def test_the_echo_of_a_tab_is_no_output(shell: str, bench: Bench) -> None:
    needs_shell(shell)
    kept = bench.run(bench.script(script(shell, ["printf '%s' 'a\tb\t\tc'"], {})), "--meters", "none")
    assert kept.interactions["bytes_out"].to_list() == [6]


def test_the_account_is_afterwards_as_it_was(host: SshHost, bench: Bench) -> None:
    (host.home / ".bash_history").write_text("ls -l\n")
    (host.home / ".bash_profile").write_text("shopt -s histappend; PROMPT_COMMAND='history -a'; HISTCONTROL=\n")
    before = contents(host.home)
    text = script(host.login, ["ls", "make -s"], FILES)
    kept = bench.run(bench.script(text), "--meters", "none", "--users", "2", out=ACCOUNT_RUN)
    assert kept.sessions["outcome"].to_list() == ["done", "done"]
    assert contents(host.home) == before
    assert stays(ACCOUNT_RUN) == []


@pytest.mark.parametrize("read_only", [False, True])
def test_a_history_that_cannot_be_unset_is_not_written_either(read_only: bool, host: SshHost, bench: Bench) -> None:
    (host.home / ".bash_profile").write_text("readonly HISTFILE\n" if read_only else "")
    bench.run(bench.script(script(host.login, ["ls"], {})), "--meters", "none")
    assert not (host.home / ".bash_history").exists()


def test_a_run_that_is_stopped_leaves_no_files_in_the_account(account: Account, bench: Bench) -> None:
    if account.home and account.shell != "bash":
        pytest.skip("another shell than bash hears of the hang-up when its command ends: docs/scripts.md")
    run = f"stopped-{os.getpid()}"
    running = bench.start("run", bench.script(script(account.login, ["sleep 1000"], FILES)), "--out", run)
    wait_until(lambda: phase_has_begun(bench.folder / run, "steady"), running)
    assert stays(run)
    running.send_signal(signal.SIGINT)
    ended(running, 130)
    give_up = time.monotonic() + PATIENCE_S
    while account.home and stays(run) and time.monotonic() < give_up:
        time.sleep(LOOK_EVERY_S)  # a host for ssh ends its sessions by itself
    assert stays(run) == []


def test_a_file_that_does_not_arrive_is_named_before_the_run(host: SshHost, bench: Bench) -> None:
    (host.home / ".bash_profile").write_text('printf() { builtin printf "${@//hi/ho}"; }\n')
    refused = bench.typed("run", bench.script(script(host.login, ["make"], FILES)), status=2)
    assert "Makefile" in refused.stderr
    assert "is not that of the script" in refused.stderr


def test_a_question_about_the_hosts_key_is_told_with_the_screen_and_the_remedy(host: SshHost, bench: Bench) -> None:
    known = bench.folder / "known"
    login = host.login_with(BatchMode="no", StrictHostKeyChecking="ask", UserKnownHostsFile=str(known))
    refused = bench.typed("run", bench.script(script(login, ["true"], {})), status=2)
    assert "it asks whether the host's key is right" in refused.stderr
    assert "The authenticity of host" in refused.stderr
    assert "(yes/no/[fingerprint])?" in refused.stderr
    assert "StrictHostKeyChecking=accept-new" in refused.stderr
    assert not known.exists()


def test_a_question_for_a_password_is_told_with_the_screen_and_the_remedy(host: SshHost, bench: Bench) -> None:
    login = host.login_with(BatchMode="no", PubkeyAuthentication="no")
    refused = bench.typed("run", bench.script(script(login, ["true"], {})), status=2)
    assert "it asks for a password" in refused.stderr
    assert "root@127.0.0.1's password:" in refused.stderr
    assert "ssh-copy-id" in refused.stderr
    assert "Permission denied" not in refused.stderr, "nothing was typed as a password"


SPIN = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sed -n 1p /etc/passwd >/dev/null"


@pytest.mark.parametrize("typing", ["none", "400 chars/s"])
def test_prompt_and_echo_of_zsh_are_no_output(typing: str, bench: Bench) -> None:
    needs_shell("zsh")
    lines = ["printf abc", "false", "sleep 0.1; echo de", "printf 'no end'"]
    kept = bench.run(
        bench.script(script("zsh", lines, {}).replace("status = 0\n", "")), "--meters", "none", "--typing", typing
    )
    lines_by_number = kept.interactions.sort("line")
    assert lines_by_number["bytes_out"].to_list() == [3, 0, 4, 6]
    assert lines_by_number["exit_status"].to_list() == [0, 1, 0, 0]
    assert lines_by_number["first_output_ns"].is_null().to_list() == [False, True, False, False]


def test_an_account_with_a_theme_and_a_history_of_zsh_is_as_it_was(tmp_path: Path, bench: Bench) -> None:
    needs_shell("zsh")
    needs_sshd()
    with ssh_host(tmp_path / "far", "/bin/zsh") as host:
        (host.home / ".zsh_history").write_text(": 1700000000:0;ls -l\n")
        (host.home / ".zshrc").write_text(
            "HISTFILE=~/.zsh_history HISTSIZE=100 SAVEHIST=100 RPROMPT='%T'\nsetopt PROMPT_SUBST\n"
            "precmd() { PS1='themed> '; print 'a theme' }\nadd() { PS1='hook> ' }; precmd_functions+=(add)\n"
        )
        before = contents(host.home)
        text = script(host.login, ["echo hi"], FILES)
        kept = bench.run(bench.script(text), "--meters", "none", "--users", "2", out=ACCOUNT_RUN)
        assert kept.sessions["outcome"].to_list() == ["done", "done"]
        assert kept.interactions["bytes_out"].to_list() == [4, 4]
        assert contents(host.home) == before
    assert stays(ACCOUNT_RUN) == []


@pytest.mark.parametrize("login", ["fish", "su - nobody -s /usr/bin/fish"])
def test_fish_is_refused_in_words(login: str, bench: Bench) -> None:
    if shutil.which("fish") is None:
        pytest.skip("there is no fish: scripts/setup dev installs it")
    refused = bench.typed("run", bench.script(script(login, ["ls"], {})), status=2)
    assert "the account's shell is not of the Bourne family, as fish is not" in refused.stderr
    assert "loadgo sets the prompt of sh, bash, zsh and ksh" in refused.stderr
    assert len(refused.stderr) < 600, "what fish draws is no part of the message"


@pytest.mark.parametrize("shell", ["bash", "sh", "zsh"])
def test_usage_over_ssh_to_this_host_is_that_of_the_same_shell_without_ssh(
    shell: str, tmp_path: Path, bench: Bench
) -> None:
    needs_sshd()
    needs_shell(shell)
    options = ("--users", "2", "--passes", "3")
    with ssh_host(tmp_path / "far", f"/bin/{shell}") as host:
        far = bench.run(bench.script(script(host.login, [SPIN], {})), *options, out="over-ssh")
    near = bench.run(bench.script(script(shell, [SPIN], {})), *options, out="directly")
    for kept in (far, near):
        assert kept.interactions["cpu_user_ns"].null_count() == 0
        assert kept.interactions["faults_minor"].min() > 50, "sed has page faults of its own"
    cpu_far, cpu_near = (median_cpu_ns(kept.interactions) for kept in (far, near))
    assert cpu_near / 2 < cpu_far < cpu_near * 2
    notes = far.conditions["usage"]["notes"]
    assert any("which leads to this host" in note for note in notes), notes
    assert far.conditions["usage"]["cpu"] == near.conditions["usage"]["cpu"] != ""


def test_a_shell_over_ssh_that_lies_about_its_place_is_not_followed(host: SshHost, bench: Bench) -> None:
    other_process = 'builtin printf \'loadgo-place:1:%s:%s:\\n\' "$4" "$5"'
    lie = f'printf() {{ case $2 in place) {other_process};; *) builtin printf "$@";; esac; }}\n'
    (host.home / ".bash_profile").write_text(lie)
    groups = Path("/proc/1/cgroup").read_text()
    kept = bench.run(bench.script(script(host.login, ["true"], {})))
    assert kept.interactions["cpu_user_ns"].to_list() == [None]
    assert any("do not reach" in note for note in kept.conditions["usage"]["notes"])
    assert Path("/proc/1/cgroup").read_text() == groups, "the process that the shell named is in no group of the run"


def median_cpu_ns(interactions: pl.DataFrame) -> float:
    """Median processor time of an interaction."""
    cpu = interactions["cpu_user_ns"] + interactions["cpu_system_ns"]
    return float(cpu.median())
