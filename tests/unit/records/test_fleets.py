"""A run on several hosts as recorded: the host of each user's rows, tables that are read as they were, and refusals."""

from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument, BadRun
from loadgo.fitting.reading import read_runs
from loadgo.records.fleets import hosts_of_run, with_host_of_user, with_hosts
from loadgo.records.tables import COLUMNS_BY_TABLE, tables
from loadgo.reporting.report import reported_summary
from support.fleets import fleet_run
from support.run_files import written_run
from support.synthetic import closed_loop, frame


def written(folder: Path, **frames: pl.DataFrame) -> Path:
    """A folder with a synthetic run on two hosts, whose tables are `frames` where they are given."""
    return written_run(folder, fleet_run((1.0, 1.0)), frames)


def test_the_column_of_hosts_is_read_and_no_other_run_has_one(tmp_path: Path) -> None:
    read = tables(written(tmp_path / "r"))
    assert set(read.interactions["host"].cast(pl.String)) == {"ash", "birch"}
    assert read.interactions.schema["host"] == pl.Categorical()
    assert read.phases.columns == list(COLUMNS_BY_TABLE["phases"])
    for name, table in closed_loop(3, 3).frames().items():
        assert table.columns == list(COLUMNS_BY_TABLE[name])


def test_rows_of_a_run_that_was_cut_off_have_the_host_of_their_user(tmp_path: Path) -> None:
    interactions = fleet_run((1.0, 1.0)).interactions.drop("host")
    read = tables(written(tmp_path / "r", interactions=interactions)).interactions
    by_user = dict(read.select("user", pl.col("host").cast(pl.String)).unique().rows())
    assert by_user == {user: "ash" if user <= 10 else "birch" for user in range(1, 21)}
    assert read.drop("host").equals(interactions), "in their order"


def test_rows_of_nobody_are_the_driver_s() -> None:
    hosts = hosts_of_run(fleet_run((1.0, 1.0)).conditions)
    rows = [{"at_ns": 1, "user": user, "what": "x", "count": 1, "reason": ""} for user in (None, 11, 99)]
    assert with_host_of_user(frame(rows, "lost"), hosts)["host"].cast(pl.String).to_list() == ["here", "birch", "here"]


def test_frames_of_a_run_on_one_host_stay_as_they_are() -> None:
    run = closed_loop(3, 3)
    assert with_hosts(run.frames(), run.conditions) == run.frames()


def test_a_run_toml_without_its_hosts_is_damaged() -> None:
    with pytest.raises(BadRun, match="does not say which hosts"):
        hosts_of_run({"system": {"kind": "fleet", "hosts": [{"name": "ash"}]}})


@pytest.mark.long
def test_the_report_of_the_fleet_and_of_a_host_come_in_all_formats(tmp_path: Path) -> None:
    run = written(tmp_path / "r")
    for kind in ("text", "html", "json", "csv", "md", "svg"):
        for host in (None, "birch"):
            assert loadgo.report(run, format=kind, host=host, full=True)
    assert "Response time by host" in str(loadgo.report(run, format="md"))
    summary, measured = reported_summary(run)
    assert len(summary.hosts) == 2
    assert measured.time.is_empty(), "charts of the fleet have no meters of single hosts"


def test_a_query_of_two_runs_has_the_hosts_of_the_one_that_has_hosts(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a"), written(tmp_path / "b", interactions=fleet_run((1.0, 1.0)).interactions)
    found = loadgo.query("SELECT DISTINCT host FROM interactions ORDER BY host", run=[first, second])
    assert found["host"].to_list() == ["ash", "birch"]


def test_what_reads_the_meters_of_one_host_asks_which(tmp_path: Path) -> None:
    run = written(tmp_path / "r")
    words = r"is of 2 hosts \(ash, birch\), and `loadgo fit` reads the meters of one: name one with `host`"
    with pytest.raises(BadRun, match=words):
        loadgo.fit(run)
    with pytest.raises(BadRun, match="name one with `host`"):
        loadgo.profile(of=run)
    with pytest.raises(BadArgument, match="these are: ash, birch"):
        loadgo.fit(run, host="oak")
    with pytest.raises(BadArgument, match="`host` is for the run that `of` names"):
        loadgo.profile(["true"], host="ash")


def test_a_machine_is_fitted_to_one_host_with_its_users_alone(tmp_path: Path) -> None:
    (reading,) = read_runs([written(tmp_path / "r")], "birch")
    assert (reading.kind, reading.users) == ("host", 10)
    assert reading.tables.interactions["user"].unique().sort().to_list() == list(range(11, 21))
    assert reading.total is not None
    assert reading.total.processors == ("0", "1")


def test_sides_of_several_hosts_are_compared_and_their_processors_are_summed(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a"), written(tmp_path / "b")
    comparison = loadgo.compare(first, second)
    response = comparison.rows.whole["response"]
    assert response.relative == 0
    (account,) = comparison.a.accounts
    assert account.processors == 4
    assert account.interactions == len(comparison.a.rows)
    assert sum(account.time_ns.values()) == pytest.approx(account.elapsed_ns * account.processors)
    assert not comparison.conditions
    assert "a, 2 hosts: synthetic, 20 users, hosts.toml" in str(comparison.report("text"))


def test_the_rent_is_that_of_all_hosts(tmp_path: Path) -> None:
    fleet, one = written(tmp_path / "a"), written_run(tmp_path / "one", closed_loop(10, 20))
    costs = loadgo.cost(fleet, tariff="cloud")
    (point,) = costs.points
    assert point.use.held.rent_ns == 2 * point.use.held.elapsed_ns
    assert point.use.machine is not None
    assert point.use.machine.total_ns == pytest.approx(4 * point.use.held.elapsed_ns)
    (alone,) = loadgo.cost(one, tariff="cloud").points
    assert alone.use.held.rent_ns == alone.use.held.elapsed_ns
    assert loadgo.cost(fleet, tariff="cloud", by="user").points


def test_the_machine_time_of_a_run_that_lost_a_host_is_not_known(tmp_path: Path) -> None:
    lossy = fleet_run((1.0, 1.0), lost={"birch": "the agent was lost"}, without_lost=1)
    run = written_run(tmp_path / "lossy", lossy)
    (point,) = loadgo.cost(run).points
    assert point.use.machine is None
    assert loadgo.compare(run, written(tmp_path / "b")).a.accounts == ()
