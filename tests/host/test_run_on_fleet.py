"""`run --on hosts.toml`: users spread over several hosts, which are names of one test host here."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.records.fleet_tables import tables_of_host
from loadgo.records.runs import runs
from loadgo.records.tables import read_stream
from support.agent_hosts import (
    AgentHost,
    agent_host,
    eventually,
    is_lost_in_time,
    keystrokes,
    rows_came,
    rows_now,
    send_to,
)
from support.divided_work import PASSES, SCRIPT, USERS
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

NAMES = ["ash", "birch", "cedar", "damson", "elm"]


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host with process ids of its own, and a script that its users type."""
    with agent_host(tmp_path, apart=True) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        yield host


def options(on: str, *more: str) -> list[str]:
    return ["work.toml", "--on", on, "--users", str(USERS), *more]


def test_every_user_types_the_same_at_the_same_time_however_users_are_split(far: AgentHost) -> None:
    quick = ("--passes", str(PASSES), "--meters", "none", "--quiet")
    far.run(*options("ssh://far", *quick), out="whole")
    whole, words = keystrokes(far.folder / "whole"), far.typed()
    assert len(whole) == USERS * PASSES * 2
    assert len(words) == USERS
    assert len(set("".join(words.values()).split())) > USERS, "users choose words"
    for count in (2, 3, 5):
        on = far.list_hosts(*NAMES[:count], weights={"birch": 2})
        far.run(*options(on, *quick), out=f"split-{count}")
        assert keystrokes(far.folder / f"split-{count}").equals(whole), f"on {count} hosts"
        assert far.typed() == words, f"on {count} hosts"
        assert len(far.run_toml(f"split-{count}")["system"]["hosts"]) == count


def test_a_run_on_several_hosts_is_one_folder_with_the_rows_of_each(far: AgentHost) -> None:
    report = " ".join(
        far.run(*options(far.list_hosts("ash", "birch", weights={"birch": 4}), "--for", "5s")).stdout.split()
    )
    run = far.run_toml()
    assert (run["kind"], run["outcome"], run["system"]["kind"]) == ("run", "done", "fleet")
    ranges = [(host["name"], host["first_user"], host["last_user"]) for host in run["system"]["hosts"]]
    assert ranges == [("ash", 1, 2), ("birch", 3, 10)]
    for host in run["system"]["hosts"]:
        assert [exchange["stage"] for exchange in host["clock"]["exchanges"]] == ["beginning", "middle", "end"]
        assert host["meters"]["tier"] == "cheap"
        assert host["processors"] == os.cpu_count()
    assert run["system"]["processors"] == 2 * (os.cpu_count() or 1)
    assert sorted(path.name for path in (far.folder / "kept").iterdir() if path.suffix != ".parquet") == [
        "run.toml",
        "script.toml",
    ]
    tables = loadgo.tables(far.folder / "kept")
    for name in ("interactions", "sessions", "time", "processes", "session_usage", "lost", "screens"):
        frame = getattr(tables, name)
        assert frame["host"].null_count() == 0, name
        expected = set() if frame.is_empty() else {"ash", "birch"}
        assert set(frame["host"].cast(pl.String)) == expected, name
    by_user = dict(tables.interactions.select("user", pl.col("host").cast(pl.String)).unique().rows())
    assert by_user == {user: "ash" if user <= 2 else "birch" for user in range(1, USERS + 1)}
    assert len(tables.interactions) > 20
    known = tables.interactions.filter(pl.col("cpu_user_ns").is_not_null())
    assert {"ash", "birch"} == set(known["host"].cast(pl.String))
    summary = summarize(tables)
    assert [host.name for host in summary.hosts] == ["ash", "birch"]
    assert sum(host.response.count for host in summary.hosts) == summary.everything.response.count
    assert all(host.busy_share is not None for host in summary.hosts)
    assert summary.total_time is None
    assert "2 hosts of hosts.toml, ash and birch" in report
    assert "Response time by host" in report


def test_the_report_of_one_host_is_that_of_its_users_and_meters(far: AgentHost) -> None:
    far.run(*options(far.list_hosts("ash", "birch"), "--for", "4s", "--meters", "cheap,profile", "--quiet"))
    report = " ".join(far.loadgo("report", "kept", "--host", "birch", "--full").stdout.split())
    assert "5 users" in report
    assert "(ssh://far)" in report
    assert "idle" in report, "the time of the host's processors"
    birch = tables_of_host(loadgo.tables(far.folder / "kept"), "birch")
    assert birch.interactions["user"].unique().sort().to_list() == [6, 7, 8, 9, 10]
    spans = birch.time.unique("at_ns")
    assert birch.time["time_ns"].sum() == pytest.approx((os.cpu_count() or 1) * spans["span_ns"].sum(), rel=0.01)
    wrong = far.loadgo("report", "kept", "--host", "oak", status=2).stderr
    assert "--host oak is no host of the run; these are: ash, birch" in " ".join(wrong.split())
    for command in (["fit", "kept"], ["profile", "--of", "kept"]):
        refused = " ".join(far.loadgo(*command, status=2).stderr.split())
        assert "is of 2 hosts (ash, birch)" in refused, command
        assert "name one with --host" in refused, command
    assert far.loadgo("profile", "--of", "kept", "--host", "birch").stdout
    compared = " ".join(far.loadgo("compare", "kept", "kept").stdout.split())
    assert "What loadgo set is the same." in compared
    assert "A: kept, 2 hosts: far work, 10 users" in compared
    priced = loadgo.cost(far.folder / "kept", tariff="cloud").points[0].use
    assert priced.held.rent_ns == 2 * priced.held.elapsed_ns
    assert priced.machine is not None
    sql = "SELECT host, count(*) AS lines FROM interactions GROUP BY host ORDER BY host"
    assert loadgo.query(sql, run=far.folder / "kept")["host"].to_list() == ["ash", "birch"]


def is_begun(far: AgentHost) -> bool:
    """Whether users of ash and of birch have typed, and the meters of both have sent records."""
    kept = far.folder / "kept"
    lines = rows_now(kept, "interactions")
    users = set(lines["user"]) if len(lines) else set[int]()
    have_typed = bool(users & set(range(1, 6))) and bool(users & set(range(6, 11)))
    return have_typed and all(rows_came(kept / "other-hosts" / name, "time") for name in ("ash", "birch"))


def begun(far: AgentHost, *words: str) -> subprocess.Popen[str]:
    """A run on ash and birch that has begun, unless it is over already."""
    running = far.start("run", *options(far.list_hosts("ash", "birch"), *words), "--out", "kept")
    eventually(lambda: running.poll() is not None or is_begun(far), "no records come")
    return running


def under_way(far: AgentHost, *words: str) -> subprocess.Popen[str]:
    """A run on ash and birch that has begun and goes on."""
    running = begun(far, *words)
    assert running.poll() is None, running.communicate()
    return running


def lose_birch(far: AgentHost, loss: str) -> None:
    """Lets the agent of birch, which began last, be lost; nothing happens to agents that have ended."""
    agents = far.agent_pids()
    if len(agents) == 2:
        pids = far.sshd_above(max(agents)) if loss == "its connection is cut" else [max(agents)]
        send_to(pids, signal.SIGSTOP if loss == "the agent is stopped" else signal.SIGKILL)


def run_without_birch(far: AgentHost, loss: str, *allowed: str) -> subprocess.CompletedProcess[str]:
    """A run that is over, during which birch was lost. On a busy host it takes a longer one to be lost in time."""
    for length in ("30s" if loss == "the agent is stopped" else "12s", "1min", "10min"):
        shutil.rmtree(far.folder / "kept", ignore_errors=True)
        running = begun(far, "--for", length, *allowed)
        lose_birch(far, loss)
        ended = far.ended(running, 0, 1)
        if is_lost_in_time(loadgo.tables(far.folder / "kept"), far.run_toml()["system"]["hosts"][1]):
            return ended
    pytest.fail("each run was nearly over before birch was lost, or its loss was not seen")


@pytest.mark.parametrize(
    ("loss", "reason", "allowed"),
    [
        ("the agent is killed", "loadgo's agent was lost before its answer", ()),
        ("the agent is killed", "loadgo's agent was lost before its answer", ("--without-lost", "1")),
        ("its connection is cut", "loadgo's agent was lost before its answer", ()),
        ("the agent is stopped", "loadgo's agent has not answered for 15 s", ()),
    ],
)
def test_the_users_of_a_lost_host_are_given_up_and_the_others_go_on(
    loss: str, reason: str, allowed: tuple[str, ...], far: AgentHost
) -> None:
    ended, lost = run_without_birch(far, loss, *allowed), "birch"
    assert allowed or ended.returncode == 1
    out = " ".join(ended.stdout.split())
    run, tables = far.run_toml(), loadgo.tables(far.folder / "kept")
    (entry,) = [host for host in run["system"]["hosts"] if "lost" in host]
    assert entry["name"] == lost
    assert reason in entry["lost"]
    sessions = tables.sessions.sort("user").with_columns(pl.col("outcome", "host").cast(pl.String))
    assert sessions.filter(host=lost)["outcome"].to_list() == ["died"] * 5
    assert sessions.filter(pl.col("host") != lost)["outcome"].to_list() == ["done"] * 5
    rows = tables.lost.filter(pl.col("user").is_not_null())
    assert rows["user"].sort().to_list() == list(range(6, 11))
    assert set(rows["host"].cast(pl.String)) == {lost}
    last = tables.interactions.group_by(pl.col("host").cast(pl.String)).agg(pl.col("sent_ns").max())
    ends = dict(last.rows())
    assert ends["ash"] > ends[lost] + 2e9, "the others go on"
    summary = summarize(tables)
    if allowed:
        assert "INVALID: birch" not in out
        assert "The run counts without it" in out
        assert ended.returncode == 0 or not summary.driver.valid
    else:
        assert f"INVALID: {lost} was lost" in out
        assert "--without-lost 1" in out


def picture(far: AgentHost) -> list[str]:
    """The lines that `loadgo watch` shows of the run now."""
    return far.watched("kept").splitlines()


def seen(far: AgentHost, running: subprocess.Popen[str], holds: Callable[[list[str]], bool]) -> list[str]:
    """The first picture of a run that goes on of which `holds` is true."""
    pictures: list[list[str]] = []

    def is_seen() -> bool:
        pictures.append(picture(far))
        return holds(pictures[-1])

    eventually(lambda: running.poll() is not None or is_seen(), "it is not shown")
    assert running.poll() is None, running.communicate()
    return pictures[-1]


def host_rows(lines: list[str]) -> dict[str, str]:
    """The rows of the hosts in a picture, by their names."""
    rows = [line for line in lines if line.startswith(("ash ", "birch ")) and ("%" in line or " lost at " in line)]
    return {row.split()[0]: row for row in rows}


def test_the_meters_of_each_host_are_watched_while_the_run_goes_and_after_it(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min")
    lines = seen(far, running, lambda lines: len(host_rows(lines)) == 2)
    assert " live" in lines[0]
    assert "of all hosts " in " ".join(lines[1:4])
    lose_birch(far, "the agent is killed")
    seen(far, running, lambda lines: "Lost: birch at " in " ".join(lines))
    running.send_signal(signal.SIGINT)
    far.ended(running, 1, 130)
    after = picture(far)
    assert " ended" in after[0]
    assert " ".join(after[1:4]).startswith("Lost: birch at ")
    rows = host_rows(after)
    assert "%" in rows["ash"]
    assert " lost at " in rows["birch"]


def test_the_meters_of_the_only_other_host_are_watched_while_the_run_goes(far: AgentHost) -> None:
    running = far.start("run", *options("ssh://far", "--for", "10min"), "--out", "kept")
    eventually((far.folder / "kept" / "run.toml").exists, "the run does not begin")
    seen(far, running, lambda lines: any(line.startswith("busy ") and "%" in line for line in lines))
    seen(far, running, lambda lines: any(line.startswith("memory ") for line in lines))
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    assert " ended" in picture(far)[0]


def test_an_interrupt_logs_the_users_out_of_all_hosts_and_the_folder_is_whole(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min")
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    assert far.run_toml()["outcome"] == "stopped"
    assert set(loadgo.tables(far.folder / "kept").time["host"].cast(pl.String)) == {"ash", "birch"}


def test_the_report_of_a_killed_run_names_the_records_of_the_hosts(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min")
    running.kill()
    far.ended(running, -signal.SIGKILL)
    report = " ".join(far.loadgo("report", "kept").stdout.split())
    assert "they are in kept/other-hosts" in report.replace(f"{far.folder}/", "")
    assert read_stream(far.folder / "kept" / "other-hosts" / "ash" / "time.arrows") is not None
    tables = loadgo.tables(far.folder / "kept")
    assert set(tables.interactions["host"].cast(pl.String)) == {"ash", "birch"}
    title = " ".join(far.loadgo("report", "kept/other-hosts/birch").stdout.split())
    assert "its meters during the run kept, whose users are not in this report" in title
    far.run(*options("ssh://far", "--passes", "1", "--quiet"), out="next")  # undoes what the killed one made here


def test_a_host_that_cannot_be_reached_is_told_before_anybody_logs_in(far: AgentHost) -> None:
    (far.folder / "hosts.toml").write_text(
        '[[hosts]]\naddress = "ssh://far"\n[[hosts]]\nname = "away"\naddress = "ssh://far:1"\n'
    )
    err = " ".join(far.loadgo("run", *options("hosts.toml"), "--out", "kept", status=2).stderr.split())
    assert "ssh://far:1" in err
    assert not (far.folder / "kept").exists()


def test_the_doctor_tries_all_hosts_and_says_which_cannot_be_reached(far: AgentHost) -> None:
    abilities = json.loads(far.loadgo("doctor", "--on", far.list_hosts("ash", "birch"), "--format", "json").stdout)
    names = {host: [one["name"] for one in abilities["abilities"] if one["host"] == host] for host in ("ash", "birch")}
    assert names["ash"] == names["birch"]
    assert "terminals" in names["ash"]
    (far.folder / "hosts.toml").write_text(
        '[[hosts]]\naddress = "ssh://far"\n[[hosts]]\nname = "away"\naddress = "ssh://far:1"\n'
    )
    out = " ".join(far.loadgo("doctor", "--on", "hosts.toml", status=1).stdout.split())
    assert "away cannot be used" in out
    assert "a log-in, and loadgo's agent: not on away why: ssh://far:1: " in out


def test_what_takes_no_list_of_hosts_says_so(far: AgentHost) -> None:
    on = far.list_hosts("ash", "birch")
    assert "hosts" in far.loadgo("simulate", "hosts.toml", status=2).stderr
    err = " ".join(far.loadgo("ready", "--on", on, "--", "true", status=2).stderr.split())
    assert "is a file, and this takes one host" in err
    assert not len(runs(far.folder / "runs"))
    too_few = far.loadgo("run", "work.toml", "--on", on, "--users", "1", status=2).stderr
    assert "--users 1 are too few for 2 hosts" in " ".join(too_few.split())
