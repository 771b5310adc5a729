"""Faults of `run --on ssh://HOST`: a slow network, a full disk, other controllers at the host, a killed loadgo."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loadgo
import polars as pl
import pytest
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, groups_named, nothing_stays, rows_came
from support.outside import COMMAND, NEEDS_ROOT
from support.slow_network import proxy_command
from support.ssh_host import ssh_host

pytestmark = NEEDS_ROOT

SCRIPT = """
name  = "far work"
think = "uniform(0.1s, 0.3s)"
needs = ["true"]
lines = ["true"]
"""
ROUND_TRIP_S = 0.04
"""The clocks are known to half of this: a busy machine may add four times as much before records have no place."""

HOUR_S = 3600
HOUR_NS = HOUR_S * 10**9


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host with process ids of its own, and a script that its users type."""
    with agent_host(tmp_path, apart=True) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        yield host


def run_words(*more: str, users: int = 2) -> list[str]:
    return ["run", "work.toml", "--on", FAR, "--users", str(users), "--out", "kept", *more]


def under_way(far: AgentHost, *words: str, records: str) -> subprocess.Popen[str]:
    """A loadgo whose records of the other host come into the folder `records`."""
    running = far.start(*words)
    eventually(lambda: running.poll() is not None or rows_came(far.folder / records, "time"), "no records come")
    assert running.poll() is None, running.communicate()
    return running


def words_of(text: str) -> str:
    return " ".join(text.split())


def losses(far: AgentHost) -> list[str]:
    """The reasons of lost meters."""
    lost = loadgo.tables(far.folder / "kept").lost.cast({"what": pl.String, "reason": pl.String})
    return lost.filter(what="meters")["reason"].to_list()


def test_a_run_over_a_slow_network_with_losses_is_whole_and_its_clock_is_known_as_well_as_that_allows(
    far: AgentHost,
) -> None:
    far.loadgo("doctor", "--on", FAR, "--format", "json")  # brings the agent, which would take minutes
    far.with_ssh("-o", f"ProxyCommand={proxy_command(far.host.port, round_trip_s=ROUND_TRIP_S, loss=0.05)}")
    far.run(*run_words("--for", "4s")[1:-2])
    run, tables = far.run_toml(), loadgo.tables(far.folder / "kept")
    assert run["outcome"] == "done"
    responses = (tables.interactions["ready_ns"] - tables.interactions["sent_ns"]).drop_nulls()
    assert responses.min() >= ROUND_TRIP_S * 1e9, "the network is part of a response"
    assert run["clock"]["bound_ns"] >= ROUND_TRIP_S * 1e9 / 2, "it is half of a round trip"
    for exchange in run["clock"]["exchanges"]:
        assert abs(exchange["offset_ns"]) <= exchange["bound_ns"], "both ends read the same clock"
    assert len(tables.time) > 0
    assert any("whose clock is known within" in note for note in run["notes"])


def test_a_clock_there_that_is_an_hour_ahead_changes_no_figure(tmp_path: Path) -> None:
    with agent_host(tmp_path, apart=True, clock_ahead_s=HOUR_S) as far:
        (tmp_path / "work.toml").write_text(SCRIPT)
        far.run("work.toml", "--on", FAR, "--users", "2", "--passes", "30")
        run, tables = far.run_toml(), loadgo.tables(far.folder / "kept")
        for exchange in run["clock"]["exchanges"]:
            assert abs(exchange["offset_ns"] - HOUR_NS) <= exchange["bound_ns"], "an hour, as exactly as it is known"
        # What the hour has come into is off by an hour: half of it tells the two apart, however busy the host is.
        length_ns = run["wall_s"] * 1e9
        assert tables.time["at_ns"].n_unique() >= 3
        assert tables.time["at_ns"].max() < length_ns + HOUR_NS / 2, "the meters lie on the clock of the run"
        assert (tables.time["span_ns"] < HOUR_NS / 2).all(), "no span has the hour in it"
        spans = tables.time.unique("at_ns")["span_ns"].sum()
        assert tables.time["time_ns"].sum() == pytest.approx((os.cpu_count() or 1) * spans, rel=0.02)
        lines = tables.interactions
        assert lines["cpu_user_ns"].null_count() < len(lines), "usage is placed by the same clock"
        assert (lines["response_there_ns"].drop_nulls() < HOUR_NS / 2).all()


BALANCER = """#!/bin/sh
exec 9> "$1/lock"
flock 9
turn=$(cat "$1/turn" 2> /dev/null || echo 0)
echo $((turn + 1)) > "$1/turn"
exec 9>&-
[ $((turn % 2)) = 0 ] && exec {first}
exec {second}
"""
"""A name for two hosts: it takes connections to them in turn, the agent's own first."""


def test_behind_a_balancer_the_usage_of_users_on_the_other_host_is_told_as_not_known(
    tmp_path: Path, far: AgentHost
) -> None:
    with ssh_host(tmp_path / "second", apart=True) as second:
        (tmp_path / "second" / "key.pub").write_text((far.host.config.parent / "key.pub").read_text())
        to_first, to_second = (proxy_command(port, round_trip_s=0.0, loss=0.0) for port in (far.host.port, second.port))
        balancer = tmp_path / "balancer"
        balancer.write_text(BALANCER.format(first=to_first, second=to_second))
        balancer.chmod(0o755)
        far.with_ssh("-o", f"ProxyCommand={balancer} {tmp_path}")
        far.run("work.toml", "--on", FAR, "--users", "4", "--passes", "10")
        lines = loadgo.tables(far.folder / "kept").interactions
        assert len(lines) == 40
        known = (
            lines.group_by("user").agg(pl.col("cpu_user_ns").is_not_null().any()).sort("user")["cpu_user_ns"].to_list()
        )
        assert known.count(False) >= 1, "somebody came to the other host"
        assert known.count(True) >= 1
        assert "loadgo's agent did not follow the session" in " ".join(far.run_toml()["usage"]["notes"])
        assert lines["response_there_ns"].null_count() < len(lines), "the shell measures on either host"


def test_a_full_disk_there_during_a_run_takes_the_last_meters_and_nothing_else(far: AgentHost) -> None:
    running = under_way(far, *run_words("--for", "10min"), records="kept/other-host")
    eventually(lambda: rows_came(far.folder / "kept", "interactions"), "nobody types")
    with suppress(OSError), (far.root / "var/tmp/full").open("wb", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    running.send_signal(signal.SIGINT)
    out = words_of(far.ended(running, 130).stdout)
    (far.root / "var/tmp/full").unlink()
    assert "make room on that host in /var/tmp" in out
    (reason,) = losses(far)
    assert "the agent there cannot write its last records" in reason
    tables = loadgo.tables(far.folder / "kept")
    assert far.run_toml()["outcome"] == "stopped"
    assert len(tables.interactions) > 0
    assert len(tables.time) > 0


def test_controllers_at_one_host_do_not_disturb_each_other_even_if_one_hangs(far: AgentHost) -> None:
    hanging = under_way(far, "meter", "--on", FAR, "--for", "10min", "--out", "hanging", "--quiet", records="hanging")
    (old_agent,) = far.agent_pids()
    hanging.send_signal(signal.SIGSTOP)
    try:
        run = far.start(*run_words("--for", "3s", "--quiet"))
        meter = far.start("meter", "--on", FAR, "--for", "2s", "--out", "metered", "--quiet")
        for running in (run, meter):
            _, err = running.communicate()
            assert running.returncode in (0, 1), err
        assert losses(far) == []
        assert far.run_toml("metered")["outcome"] == "done"
        # The others' agents end with them, and the old one by itself after 30 s without a word.
        eventually(lambda: set(far.agent_pids()) <= {old_agent}, "an agent stays")
    finally:
        hanging.send_signal(signal.SIGCONT)
    hanging.send_signal(signal.SIGINT)
    far.ended(hanging, 130, 2)
    assert len(loadgo.tables(far.folder / "hanging").time) > 0


def test_an_old_agent_that_was_stopped_and_lost_its_loadgo_disturbs_nobody_and_undoes_its_work(far: AgentHost) -> None:
    lost = under_way(far, "meter", "--on", FAR, "--for", "10min", "--out", "old", "--quiet", records="old")
    (old_agent,) = far.agent_pids()
    os.kill(old_agent, signal.SIGSTOP)
    try:
        lost.kill()
        lost.communicate()
        run = far.start(*run_words("--for", "2s", "--quiet"))
        _, err = run.communicate()
        assert run.returncode in (0, 1), err
        assert losses(far) == []
        assert far.run_toml()["outcome"] == "done"
        eventually(lambda: far.agent_pids() == [old_agent], "the new agent ends with its loadgo")
    finally:
        os.kill(old_agent, signal.SIGCONT)
    nothing_stays(far)


def test_a_test_s_host_ends_after_agents_and_sessions_have_undone_what_they_made(tmp_path: Path) -> None:
    with agent_host(tmp_path, apart=True) as far:
        (tmp_path / "work.toml").write_text(SCRIPT)
        killed = f"killed-by-{os.getpid()}"  # a name that no run of a test beside this one has
        words = ["run", "work.toml", "--on", FAR, "--users", "2", "--out", killed, "--for", "10min"]
        running = under_way(far, *words, records=f"{killed}/other-host")
        eventually(lambda: rows_came(tmp_path / killed, "interactions"), "nobody types")
        running.kill()
        running.communicate()
    # The next loadgo on this host undoes what the killed one made on it.
    done = subprocess.run([*COMMAND, "run", "work.toml", "--passes", "1", "--quiet", "--out", "next"], cwd=tmp_path)
    assert done.returncode in (0, 1)
    assert not [*groups_named(killed), *Path("/tmp").glob(f"loadgo-{killed}-*")]


def test_the_report_of_a_killed_run_names_the_records_of_the_other_host_and_they_say_whose_they_are(
    far: AgentHost,
) -> None:
    running = under_way(far, *run_words("--for", "10min"), records="kept/other-host")
    running.kill()
    far.ended(running, -signal.SIGKILL)
    report = words_of(far.loadgo("report", "kept").stdout)
    assert f"The meters of {FAR} are not in these figures: they are in" in report
    assert f"{os.path.join('kept', 'other-host')}" in report
    title = words_of(far.loadgo("report", "kept/other-host").stdout)
    assert f"{FAR}: its meters during the run kept, whose users are not in this report" in title
    assert "without a load" not in title
