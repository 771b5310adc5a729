"""`meter` and `watch --on hosts.toml`: several hosts metered at once, which are names of one test host here."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.records.runs import runs
from support.agent_hosts import LEAST_TIME_LEFT_S, AgentHost, agent_host, eventually, rows_now, send_to
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

SPANS = 3
"""Spans of a host of which at least one lies within the metering: others may begin before all hosts are ready."""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    with agent_host(tmp_path, apart=True) as host:
        yield host


def metering(far: AgentHost, length: str) -> subprocess.Popen[str]:
    """A metering of two hosts, of each of which some spans have come, unless it has ended before."""
    running = far.start("meter", "--on", far.list_hosts("ash", "birch"), "--for", length, "--out", "kept")
    for name in ("ash", "birch"):
        eventually(
            lambda at=far.folder / "kept" / "other-hosts" / name: running.poll() is not None or spans_in(at) > SPANS,
            f"{name} sends no records",
        )
    return running


def spans_in(folder: Path) -> int:
    """The number of spans that have come from a host."""
    rows = rows_now(folder, "time")
    return rows["at_ns"].n_unique() if len(rows) else 0


def test_a_metering_of_several_hosts_is_one_folder_with_the_rows_of_each(far: AgentHost) -> None:
    report = " ".join(
        far.loadgo("meter", "--on", far.list_hosts("ash", "birch"), "--for", "4s", "--out", "kept").stdout.split()
    )
    run = far.run_toml()
    assert (run["kind"], run["outcome"], run["finished"], run["system"]["kind"]) == ("meter", "done", True, "fleet")
    assert [host["name"] for host in run["system"]["hosts"]] == ["ash", "birch"]
    for host in run["system"]["hosts"]:
        assert [exchange["stage"] for exchange in host["clock"]["exchanges"]] == ["beginning", "middle", "end"]
        assert host["meters"]["tier"] == "cheap"
    left = {path.name for path in (far.folder / "kept").iterdir() if path.suffix != ".parquet"}
    assert left == {"run.toml"}
    tables = loadgo.tables(far.folder / "kept")
    assert not len(tables.lost)
    for name in ("time", "processes", "queue", "memory"):
        assert set(getattr(tables, name)["host"].cast(pl.String)) == {"ash", "birch"}, name
    for host in run["system"]["hosts"]:
        time = tables.time.filter(pl.col("host").cast(pl.String) == host["name"])
        spans = time.unique("at_ns").sort("at_ns").cast({"at_ns": pl.Int64, "span_ns": pl.Int64})
        metered_ns, bound_ns = spans["span_ns"].sum(), host["clock"]["bound_ns"]
        assert time["time_ns"].sum() == pytest.approx((os.cpu_count() or 1) * metered_ns, rel=0.01)
        covered_ns = spans["at_ns"][-1] - spans["at_ns"][0] + spans["span_ns"][0]
        assert metered_ns == pytest.approx(covered_ns, rel=0.01, abs=2 * bound_ns), "each span begins where one ends"
    assert "2 hosts over" in report
    assert "Processors' time by host" in report
    assert "Processors' time" in far.loadgo("report", "kept", "--phases", "all", "--host", "birch").stdout


def lost_hosts(far: AgentHost) -> dict[str, float]:
    """The hosts of the metering that were lost, each with the time that was left of the metering, in seconds."""
    run = far.run_toml()
    return {host["name"]: run["wall_s"] - host["lost_at_s"] for host in run["system"]["hosts"] if "lost" in host}


def with_a_killed_agent(far: AgentHost) -> subprocess.CompletedProcess[str]:
    """A metering that has ended, one of whose agents was killed before. On a busy host it takes a longer one."""
    for length in ("12s", "1min", "10min"):
        shutil.rmtree(far.folder / "kept", ignore_errors=True)
        running = metering(far, length)
        agents = far.agent_pids()
        if running.poll() is None and len(agents) == 2:
            send_to([min(agents)], signal.SIGKILL)
        told = far.ended(running, 0, 1)
        if any(left_s > LEAST_TIME_LEFT_S for left_s in lost_hosts(far).values()):
            return told
    pytest.fail("each metering was nearly over before an agent was killed, or its loss was not seen")


def test_a_host_that_is_lost_is_told_and_the_others_go_on(far: AgentHost) -> None:
    told = with_a_killed_agent(far)
    assert told.returncode == 1
    run, lost = far.run_toml(), [*lost_hosts(far)]
    assert len(lost) == 1
    assert run["outcome"] == "done"
    assert "loadgo's agent was lost before its answer" in " ".join(run["notes"])
    assert f"Lost before the end, and not compared: {lost[0]}." in " ".join(told.stdout.split())
    tables = loadgo.tables(far.folder / "kept")
    assert set(tables.time["host"].cast(pl.String)) == {"ash", "birch"}, "its records until then are kept"
    last_ns = tables.time.group_by(pl.col("host").cast(pl.String)).agg(pl.col("at_ns").max())
    ends = {str(host): int(at) for host, at in last_ns.rows()}
    assert ends.pop(lost[0]) < min(ends.values())


def test_a_metering_without_any_host_left_ends_early_and_says_so(far: AgentHost) -> None:
    running = metering(far, "10min")
    send_to(far.agent_pids(), signal.SIGKILL)
    err = far.ended(running, 2).stderr
    assert "loadgo's agent was lost before its answer" in err
    assert "the records until then are in kept" in err
    assert set(loadgo.tables(far.folder / "kept").time["host"].cast(pl.String)) == {"ash", "birch"}


def test_an_interrupt_ends_all_meterings_in_order(far: AgentHost) -> None:
    running = metering(far, "10min")
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    assert (far.run_toml()["outcome"], far.run_toml()["finished"]) == ("stopped", True)
    assert set(loadgo.tables(far.folder / "kept").time["host"].cast(pl.String)) == {"ash", "birch"}


def test_a_host_that_cannot_be_reached_is_told_before_anything_is_metered(far: AgentHost) -> None:
    (far.folder / "hosts.toml").write_text(
        '[[hosts]]\naddress = "ssh://far"\n[[hosts]]\nname = "away"\naddress = "ssh://far:1"\n'
    )
    err = far.loadgo("meter", "--on", "hosts.toml", "--for", "1s", status=2).stderr
    assert "ssh://far:1" in err
    assert not len(runs(far.folder / "runs"))


def test_several_hosts_are_watched_on_one_screen(far: AgentHost) -> None:
    picture = far.loadgo("watch", "--on", far.list_hosts("ash", "birch"), "--once").stdout
    assert picture.startswith("2 hosts of hosts.toml")
    assert "of all hosts" in picture
    assert any(line.startswith(("ash ", "birch ")) for line in picture.splitlines())


def test_what_only_this_host_has_is_refused(far: AgentHost) -> None:
    on = far.list_hosts("ash", "birch")
    for words in (("--", "true"), ("--serve", "127.0.0.1:0")):
        assert "alone" in far.loadgo("meter", "--on", on, *words, status=2).stderr


def test_a_profile_of_several_hosts_has_the_host_before_each_process(far: AgentHost) -> None:
    on = far.list_hosts("ash", "birch")
    profile = json.loads(far.loadgo("profile", "--on", on, "--for", "2s", "--format", "json").stdout)
    assert profile["of"] == on
    whose = {stack["process"].partition(": ")[0] for stack in profile["stacks"]}
    assert whose == {"ash", "birch"}
