"""`run --on`: users log in to another host by ssh, which is metered there, and one run folder here has it all."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import loadgo
import pytest
from support.agent_hosts import FAR, AgentHost, agent_host
from support.far_programs import sshd
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

SCRIPT = """
name  = "far work"
think = "uniform(0.2s, 0.5s)"
needs = ["cat"]
lines = ["cat notes", { type = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", as = "spin" }]

[files]
notes = "first\\n\\tsecond\\n"
"""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host that an agent can be brought to."""
    if sshd() is None:
        pytest.skip("there is no sshd: scripts/setup dev unpacks it")
    with agent_host(tmp_path) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        yield host


def run_toml(far: AgentHost) -> dict[str, object]:
    return tomllib.loads((far.folder / "kept" / "run.toml").read_text())


def test_a_run_on_another_host_is_one_folder_with_its_meters(far: AgentHost) -> None:
    ended = far.loadgo("run", "work.toml", "--on", FAR, "--users", "3", "--for", "6s", "--out", "kept", "--quiet")
    print(ended.stdout, ended.stderr)
    print((far.folder / "kept" / "run.toml").read_text())
    tables = loadgo.tables(far.folder / "kept")
    print(tables.time, tables.phases, tables.processes, tables.interactions)
    assert 0
