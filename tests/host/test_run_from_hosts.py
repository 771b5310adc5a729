"""`run --from gen1,gen2 --on ssh://HOST`: hosts that drive the users of others. All of them are one test host."""

import json
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from support.agent_hosts import FAR, AgentHost, agent_host, keystrokes
from support.divided_work import PASSES, SCRIPT, USERS
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

NAMES = ["ash", "birch", "here", "damson", "elm"]
"""The drivers; one of them is this host."""


@dataclass(frozen=True)
class SplitRuns:
    """The same run driven by one host and by several, and what its users have typed on the host."""

    far: AgentHost
    words: dict[int, dict[str, str]]
    """By the number of drivers; 0 is the driver here, without an agent."""
    reports: dict[int, str]

    def folder(self, drivers: int) -> Path:
        """The folder of the run with so many drivers."""
        return self.far.folder / f"by-{drivers}"

    def run_toml(self, drivers: int) -> dict[str, Any]:
        """The `run.toml` of that run."""
        return tomllib.loads((self.folder(drivers) / "run.toml").read_text())


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    """A host with process ids of its own, which can log in to itself, and a script that its users type."""
    with agent_host(tmp_path_factory.mktemp("from"), apart=True) as host:
        (host.folder / "work.toml").write_text(SCRIPT)
        host.reaches_itself()
        yield host


@pytest.fixture(scope="module")
def split(far: AgentHost) -> SplitRuns:
    """The run by the driver here, and by 2, 3 and 5 agents."""
    words, reports = {}, {}
    for count in (0, 2, 3, 5):
        names = far.list_hosts(*NAMES[:count], file=f"gens-{count}.toml", weights={"birch": 2})
        driven = ["--from", names] if count else []
        options = ["work.toml", "--on", FAR, *driven, "--users", str(USERS), "--passes", str(PASSES)]
        reports[count] = " ".join(far.run(*options, out=f"by-{count}").stdout.split())
        words[count] = far.typed()
    return SplitRuns(far, words, reports)


def test_every_user_types_the_same_at_the_same_time_however_users_are_split(split: SplitRuns) -> None:
    whole, words = keystrokes(split.folder(0)), split.words[0]
    assert len(whole) == USERS * PASSES * 2
    assert len(words) == USERS
    assert len(set("".join(words.values()).split())) > USERS, "users choose words"
    for count in (2, 3, 5):
        assert keystrokes(split.folder(count)).equals(whole), f"by {count} drivers"
        assert split.words[count] == words, f"by {count} drivers"


def test_a_run_of_several_drivers_is_one_folder_that_says_who_drove_whom(split: SplitRuns) -> None:
    run, tables = split.run_toml(3), loadgo.tables(split.folder(3))
    assert (run["kind"], run["outcome"], run["finished"]) == ("run", "done", True)
    assert run["load"]["users"] == USERS
    assert run["system"]["name"] == FAR
    ranges = [(one["name"], one["address"], one["first_user"], one["last_user"]) for one in run["drivers"]]
    assert ranges == [("ash", FAR, 1, 3), ("birch", FAR, 4, 8), ("here", "here", 9, 10)]
    left = [path.name for path in split.folder(3).iterdir() if path.suffix != ".parquet"]
    assert sorted(left) == ["run.toml", "script.toml"]
    by_user = dict(tables.interactions.select("user", pl.col("driver").cast(pl.String)).unique().rows())
    assert by_user == {user: "ash" if user <= 3 else "birch" if user <= 8 else "here" for user in range(1, USERS + 1)}
    assert tables.sessions.sort("user")["user"].to_list() == list(range(1, USERS + 1))
    assert set(tables.sessions["outcome"].cast(pl.String)) == {"done"}
    assert tables.sessions["driver"].null_count() == 0
    assert len(tables.time) > 0, "the meters are those of the host under test"


def test_run_toml_has_each_driver_s_phases_clock_lateness_and_processors(split: SplitRuns) -> None:
    drivers = split.run_toml(2)["drivers"]
    tables = loadgo.tables(split.folder(2))
    for one in drivers:
        assert [exchange["stage"] for exchange in one["clock"]["exchanges"]] == ["beginning", "middle", "end"]
        assert 0 < one["warm_up_s"] < one["steady_s"] < one["ramp_down_s"]
        assert 0 <= one["lateness_p50_ns"] <= one["lateness_p99_ns"] <= one["lateness_max_ns"]
        assert 0 < one["driver_share"] <= one["busy_share"] <= 1
        assert one["processors"] == os.cpu_count()
        assert one["hostname"]
        assert one["scheduling"]
    bounds = [one["clock"]["bound_ns"] for one in drivers]
    begun = [one["warm_up_s"] for one in drivers]
    within = sum(bounds) + sum(one["begin_bound_ns"] for one in drivers)
    assert abs(begun[0] - begun[1]) * 1e9 <= within + 2, "all begin at one instant, as well as clocks are known"
    phases = dict(tables.phases.select(pl.col("phase").cast(pl.String), "at_ns").rows())
    starts = [one["steady_s"] * 1e9 + one["clock"]["bound_ns"] for one in drivers]
    ends = [one["ramp_down_s"] * 1e9 - one["clock"]["bound_ns"] for one in drivers]
    if max(starts) < min(ends):
        assert phases["steady"] == pytest.approx(max(starts), abs=2)
    assert phases["ramp-down"] == pytest.approx(max(min(ends), phases["warm-up"]), abs=2)
    steady = tables.interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    assert steady["sent_ns"].is_between(phases.get("steady", 0), phases["ramp-down"]).all()


def test_all_that_reads_a_run_reads_that_of_several_drivers(split: SplitRuns) -> None:
    folder = split.folder(2)
    tables = loadgo.tables(folder)
    summary = summarize(tables)
    assert [one.name for one in summary.drivers] == ["ash", "birch"]
    assert summary.driver.name in ("ash", "birch")
    assert summary.driver.lateness_p99_ns == pytest.approx(
        max(one.lateness_p99_ns or 0 for one in summary.drivers), abs=1
    )
    assert summary.total_time is not None
    assert "Drivers driver users lines late at p99" in split.reports[2]
    known = tables.interactions.filter(pl.col("cpu_user_ns").is_not_null())
    assert set(known["driver"].cast(pl.String)) == {"ash", "birch"}, "usage there is known for users of both"
    (began,) = tables.phases.filter(pl.col("phase").cast(pl.String) == "warm-up")["at_ns"]
    followed = tables.session_usage.filter(pl.col("at_ns") > began)["user"].drop_nulls().unique().sort().to_list()
    assert followed == list(range(1, USERS + 1)), (
        "the agent of their host follows them, although drivers are there, too"
    )
    compared = " ".join(split.far.loadgo("compare", str(split.folder(0)), str(folder)).stdout.split())
    assert "A: by-0" in compared
    assert "B: by-2" in compared
    assert loadgo.cost(folder, tariff="cloud").points
    sql = "SELECT driver, count(*) AS lines FROM interactions GROUP BY driver ORDER BY driver"
    assert loadgo.query(sql, run=folder).rows() == [("ash", 3 * 2 * PASSES), ("birch", 7 * 2 * PASSES)]
    # On a busy host the model may miss its own load, and then the status is 1.
    split.far.ended(split.far.start("fit", str(folder), "-o", "fitted.toml"), 0, 1)
    assert (split.far.folder / "fitted.toml").exists()


def test_hosts_drive_a_fleet_and_each_user_has_one_of_both(far: AgentHost) -> None:
    fleet, gens = far.list_hosts("oak", "pine", weights={"pine": 4}), far.list_hosts("ash", "birch", file="gens.toml")
    options = ["work.toml", "--on", fleet, "--from", gens, "--users", str(USERS), "--for", "3s"]
    report = " ".join(far.run(*options, out="fleet").stdout.split())
    run, tables = tomllib.loads((far.folder / "fleet/run.toml").read_text()), loadgo.tables(far.folder / "fleet")
    assert [(host["name"], host["last_user"]) for host in run["system"]["hosts"]] == [("oak", 2), ("pine", 10)]
    assert [(one["name"], one["last_user"]) for one in run["drivers"]] == [("ash", 5), ("birch", 10)]
    pairs = tables.interactions.select("user", pl.col("host", "driver").cast(pl.String)).unique().sort("user").rows()
    assert pairs == [(user, "oak" if user <= 2 else "pine", "ash" if user <= 5 else "birch") for user in range(1, 11)]
    assert set(tables.time["host"].cast(pl.String)) == {"oak", "pine"}
    assert "Response time by host" in report
    assert "Drivers driver" in report
    alone = " ".join(far.loadgo("report", "fleet", "--host", "pine").stdout.split())
    assert "8 users" in alone
    assert far.typed()


def test_an_open_load_has_the_arrivals_of_the_undivided_one(far: AgentHost) -> None:
    gens = far.list_hosts("ash", "birch", "cedar", file="gens.toml")
    planned = {}
    for out, driven in (("open-whole", []), ("open-split", ["--from", gens])):
        options = ["work.toml", "--on", FAR, *driven, "--users", "9", "--arrivals", "4/s"]
        far.run(*options, "--passes", "1", out=out)
        tables = loadgo.tables(far.folder / out)
        (began,) = tables.phases.filter(pl.col("phase").cast(pl.String) == "warm-up")["at_ns"]
        planned[out] = (tables.sessions.sort("user")["planned_ns"] - began).to_list()
        far.typed()
    run = tomllib.loads((far.folder / "open-split" / "run.toml").read_text())
    bound_ns = 2 * max(one["clock"]["bound_ns"] for one in run["drivers"]) + 2
    assert planned["open-split"] == pytest.approx(planned["open-whole"], abs=bound_ns)


def test_what_cannot_be_driven_so_is_told_before_anything_begins(far: AgentHost) -> None:
    work = ["run", "work.toml", "--users", "4", "--out", "refused"]
    for words, message in (
        (["--on", FAR, "--from", "gen1,gen1"], "--from names gen1 twice"),
        (["--on", FAR, "--from", "gen1,-x"], "--from -x is no host"),
        (["--from", "gen1"], "name that host with --on: ssh://HOST"),
        (["--on", "multics-645", "--from", "gen1"], "name that host with --on: ssh://HOST"),
        (["--on", FAR, "--from", "gen1,gen2", "--without-lost", "2"], "0 to 1 are possible"),
        (["--on", FAR, "--from", "a,b,c,d,e"], "--users 4 are too few for 5 hosts"),
        (["--on", FAR, "--from", "gen1", "--until", "interactions=100"], "end the load with --for or --passes"),
    ):
        told = " ".join(far.loadgo(*work, *words, status=2).stderr.split())
        assert message in told, words
    assert not (far.folder / "refused").exists()


def test_the_doctor_of_a_host_tells_what_a_driver_needs_there(far: AgentHost) -> None:
    told = json.loads(far.loadgo("doctor", "--on", FAR, "--format", "json").stdout)
    names = [one["name"] for one in told["abilities"]]
    for name in ("terminals", "open files", "processes", "a driver that is never kept waiting (SCHED_FIFO)", "timers"):
        assert name in names
