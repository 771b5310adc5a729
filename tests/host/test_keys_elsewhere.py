"""Keys to programs that fill the screen, over ssh: an answer is confirmed by a promise or a mark alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from support import screen_programs
from support.agent_hosts import AgentHost, agent_host
from support.far_programs import sshd
from support.outside import NEEDS_ROOT, Bench
from support.ssh_host import SshHost, ssh_host

pytestmark = [
    NEEDS_ROOT,
    pytest.mark.skipif(sshd() is None, reason="there is no sshd: scripts/setup dev unpacks it"),
]

LINES = f"""
typing = "6 chars/s"
lines = [
    {{ type = "{screen_programs.CALLED}", as = "start", until = "screen", shows = "ready" }},
    {{ keys = "abc", as = "promised", settle = "500ms", shows = "3 keys", cursor = [2, 7] }},
    {{ keys = "de", as = "unpromised" }},
    {{ keys = "<Up>fq", as = "quit", until = "mark" }},
    {{ type = "true", as = "after" }},
]
[files]
"program.py" = '''{screen_programs.COUNTING}'''
"""
"""Keys to the program that counts them: a burst with a promise, two without, and a burst that ends the program."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[SshHost]:
    """A host for ssh."""
    with ssh_host(tmp_path / "far") as host:
        yield host


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host for ssh that an agent takes for another host."""
    with agent_host(tmp_path, other_boot=True) as far:
        yield far


def check_keys(rows: pl.DataFrame) -> None:
    """A promise confirms, a settled screen alone does not, and each key has its response."""
    rows = rows.sort("sent_ns").with_columns(pl.col("command", "outcome").cast(pl.String))
    assert rows["command"].to_list() == ["start", "promised", "unpromised", "unpromised", "quit", "after"]
    # The shell's mark after keys in doubt may be the answer to those; the next line is certain again.
    assert rows["outcome"].to_list() == ["ok", "ok", "unconfirmed", "unconfirmed", "unconfirmed", "ok"]
    assert rows["exit_status"].to_list() == [None, None, None, None, 3, 0]
    assert rows["ready_ns"].null_count() == 0


def test_keys_reach_a_program_behind_a_log_in_by_ssh(bench: Bench, host: SshHost) -> None:
    text = f"login = '{host.login}'\n{LINES}"
    check_keys(bench.run(bench.script(text), "--users", "1", "--meters", "none").interactions)


def test_keys_reach_a_program_on_another_host(far: AgentHost) -> None:
    (far.folder / "keys.toml").write_text(LINES)
    far.run("keys.toml", "--on", "ssh://far", "--users", "1", "--meters", "none")
    check_keys(Bench(far.folder).tables("kept").interactions)


@pytest.mark.skipif(shutil.which("vim") is None, reason="not installed here: vim (apt install vim)")
def test_the_bundled_editor_writes_its_file_on_another_host(far: AgentHost) -> None:
    far.run("editor", "--on", "ssh://far", "--users", "1", "--think", "none", "--meters", "none")
    rows = Bench(far.folder).tables("kept").interactions
    rows = rows.with_columns(pl.col("command", "outcome").cast(pl.String))
    assert set(rows["outcome"]) <= {"ok", "unconfirmed"}
    # The last key of `:w<Enter>` is promised to show that the file is written.
    assert "ok" in rows.filter(pl.col("command") == "vim write")["outcome"].to_list()
    assert rows.filter(pl.col("command") == "search")["exit_status"].to_list() == [0]
    assert rows["ready_ns"].null_count() == 0
