"""Rows by command of a run on another host: the agent there is told which line comes, and says when it is too late."""

from collections.abc import Iterator

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.running.elsewhere.typed_commands import UNKNOWN_COMMAND
from support.agent_hosts import FAR, AgentHost, agent_host
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

USERS, PASSES = 2, 4
LINES = [
    {"type": "sleep 0.01; sleep 0.01", "as": "sleep twice"},
    {"type": "sleep 0.02", "as": "sleep"},
    {"type": "grep -c loadgo-is-not-here /usr/bin/* | tail -n 1", "as": "grep"},
]
SLEEPS = {"sleep twice": 2 * USERS * PASSES, "sleep": USERS * PASSES}


def script(think: str) -> str:
    lines = ",".join(f'{{type = "{line["type"]}", as = "{line["as"]}"}}' for line in LINES)
    return f'think = "{think}"\npasses = {PASSES}\nlines = [{lines}]\n'


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    """A host whose agent has every source of usage, and which a driver takes for another host."""
    with agent_host(tmp_path_factory.mktemp("lines"), other_boot=True) as host:
        yield host


def far_run(far: AgentHost, think: str, out: str, *more: str) -> Tables:
    (far.folder / "lines.toml").write_text(script(think))
    far.run("lines.toml", "--on", FAR, "--users", f"{USERS}", "--meters", "exact", *more, out=out)
    return loadgo.tables(far.folder / out)


@pytest.fixture(scope="module")
def thinking(far: AgentHost) -> Tables:
    """Users who think for longer than news take to the host."""
    return far_run(far, "uniform(0.3s, 0.5s)", "thinking")


def calls(tables: Tables, name: str) -> dict[str, int]:
    """How often the users of each command have made the system call."""
    rows = tables.primitives.filter((pl.col("name").cast(pl.String) == name) & pl.col("command").is_not_null())
    sums = rows.group_by(pl.col("command").cast(pl.String)).agg(pl.col("count").sum())
    return dict(sums.rows())


def check_sleeps(tables: Tables) -> None:
    """Each sleep stands with its command. On a busy host news may be late, and then its command is not known."""
    counts = calls(tables, "clock_nanosleep")
    assert sum(counts.values()) == sum(SLEEPS.values()), "nothing is left out"
    assert all(counts.get(name, 0) <= most for name, most in SLEEPS.items()), counts
    assert counts == SLEEPS or notes_by_command(tables), counts


def notes_by_command(tables: Tables) -> list[str]:
    return [note for note in tables.conditions["notes"] if note.startswith("by command: ")]


def test_system_calls_and_faults_of_another_host_stand_with_the_command_that_was_typed(thinking: Tables) -> None:
    told = thinking.session_usage.filter(pl.col("line").is_not_null())
    assert len(told.filter(pl.col("line") > 0)) == USERS * PASSES * len(LINES)
    check_sleeps(thinking)
    faults = thinking.faults.filter(pl.col("command").is_not_null()).group_by(pl.col("command").cast(pl.String))
    by_command = dict(faults.agg(pl.col("count").sum()).rows())
    assert set(by_command) - {UNKNOWN_COMMAND} == {line["as"] for line in LINES}
    assert all(by_command.values())


def test_a_run_there_has_the_rows_by_command_that_a_run_here_has(far: AgentHost, thinking: Tables) -> None:
    here = far.loadgo(
        *("run", "lines.toml", "--users", f"{USERS}", "--meters", "exact", "--out", "here", "--quiet"), status=None
    )
    assert here.returncode in (0, 1)
    local = loadgo.tables(far.folder / "here")
    assert calls(local, "clock_nanosleep") == SLEEPS
    for name in ("faults", "primitives", "stacks"):
        commands = [set(getattr(run, name)["command"].drop_nulls().cast(pl.String)) for run in (local, thinking)]
        assert commands[0] == commands[1] - {UNKNOWN_COMMAND}, name
    by_command = far.loadgo("report", "thinking", "--by", "command").stdout
    assert "sleep twice" in by_command.split("System calls by command")[-1]
    owners = [part.whose for part in summarize(thinking, phases="all", by="user").meters.parts]
    assert sorted(owners) == ["1", "2"], "users have their rows whatever command these are of"


def test_users_who_do_not_think_have_rows_whose_command_is_not_known(far: AgentHost) -> None:
    tables = far_run(far, "none", "hasty")
    check_sleeps(tables)
    assert calls(tables, "clock_nanosleep").get(UNKNOWN_COMMAND, 0) > 0
    assert UNKNOWN_COMMAND in notes_by_command(tables)[0]


def test_drivers_on_other_hosts_tell_the_lines_too(far: AgentHost) -> None:
    far.reaches_itself()
    tables = far_run(far, "uniform(0.3s, 0.5s)", "driven", "--from", far.list_hosts("gen1", "here", file="gen.toml"))
    check_sleeps(tables)
    assert set(SLEEPS) <= set(calls(tables, "clock_nanosleep"))


def test_each_host_of_a_fleet_is_told_the_lines_of_its_own_users(far: AgentHost) -> None:
    (far.folder / "lines.toml").write_text(script("uniform(0.3s, 0.5s)"))
    hosts = far.list_hosts("ash", "birch")
    far.run("lines.toml", "--on", hosts, "--users", f"{USERS}", "--meters", "exact", out="fleet")
    tables = loadgo.tables(far.folder / "fleet")
    check_sleeps(tables)
    told = tables.session_usage.filter(pl.col("line").is_not_null()).select("user", pl.col("host").cast(pl.String))
    assert sorted(told.unique().rows()) == [(1, "ash"), (2, "birch")]
