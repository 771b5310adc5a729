"""The run folder of a run on several hosts, without them: rows of each host on the run's clock, and what is missing."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
import tomlkit
from loadgo.errors import BadArgument
from loadgo.hosts.address import Address
from loadgo.hosts.clock import Exchange, FarClock
from loadgo.hosts.fleet import UserRange
from loadgo.records.fleets import FLEET_FOLDER, METER_TABLES
from loadgo.running.elsewhere.fleet_run_folder import EndedHost, complete_fleet_run, tell_unplaced_hosts
from loadgo.running.elsewhere.live_places import HostLoss
from loadgo.running.elsewhere.metering import FarMeteringEnd
from support.places import PROJECT

RECORDED = PROJECT / "tests" / "runs" / "reported" / "live-exact"
AHEAD_NS = {"ash": 10**15, "birch": 3 * 10**15}
"""The clock of each host minus the clock here."""
ORIGIN_NS = 7 * 10**12
GOOD_BOUND_NS, BAD_BOUND_NS = 50_000, 300_000_000


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The folder of a run whose hosts were metered, with the same records as those of both agents."""
    folder = tmp_path / "kept"
    for name in AHEAD_NS:
        shutil.copytree(RECORDED, folder / FLEET_FOLDER / name)
    shutil.copytree(RECORDED, folder, dirs_exist_ok=True)
    for name in METER_TABLES:
        (folder / f"{name}.parquet").unlink(missing_ok=True)
    run_toml = tomlkit.parse((folder / "run.toml").read_text()).unwrap()
    last = last_user(folder)
    bounds = {"ash": (1, last // 2), "birch": (last // 2 + 1, last)}
    hosts = [
        {"name": name, "address": f"ssh://{name}", "first_user": first, "last_user": end}
        for name, (first, end) in bounds.items()
    ]
    run_toml["system"] = {"kind": "fleet", "name": "hosts.toml", "without_lost": 0, "hosts": hosts}
    (folder / "run.toml").write_text(tomlkit.dumps(run_toml))
    return folder


def last_user(folder: Path) -> int:
    return int(pl.read_parquet(folder / "sessions.parquet")["user"].max())  # type: ignore[arg-type]  # it is a number


def ended(folder: Path, name: str, *, bound_ns: int = GOOD_BOUND_NS, loss: HostLoss | None = None) -> EndedHost:
    half, sent_ns = bound_ns - 1, ORIGIN_NS - bound_ns + 1
    came_ns = sent_ns + half + AHEAD_NS[name]
    clock = FarClock((Exchange("beginning", sent_ns, came_ns, came_ns, sent_ns + 2 * half),))
    end = FarMeteringEnd(ORIGIN_NS + AHEAD_NS[name], "" if loss is None else loss.reason, ("a note",), ("a thing",))
    entry = next(host for host in run_toml(folder)["system"]["hosts"] if host["name"] == name)
    return EndedHost(name, Address(name), UserRange(entry["first_user"], entry["last_user"]), end, clock, loss)


def run_toml(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "run.toml").read_text())


def completed(folder: Path, **birch: Any) -> dict[str, Any]:
    result = {"origin_ns": ORIGIN_NS, "notes": [], "left_behind": []}
    return complete_fleet_run(folder, [ended(folder, "ash"), ended(folder, "birch", **birch)], result)


def test_rows_of_all_hosts_are_placed_by_the_clock_of_each(recorded: Path) -> None:
    metered, typed = pl.read_parquet(RECORDED / "time.parquet"), pl.read_parquet(RECORDED / "interactions.parquet")
    result = completed(recorded)
    assert result["notes"] == ["ash: a note", "ash: a thing", "birch: a note", "birch: a thing"]
    assert result["left_behind"] == ["a thing", "a thing"]
    after = loadgo.tables(recorded)
    for name in AHEAD_NS:
        own = after.time.filter(pl.col("host").cast(pl.String) == name)
        assert own["at_ns"].to_list() == metered["at_ns"].to_list()
        assert own["time_ns"].to_list() == metered["time_ns"].to_list()
    assert after.interactions["sent_ns"].to_list() == typed["sent_ns"].to_list(), "in their order"
    assert not (recorded / FLEET_FOLDER).exists()
    assert [host["clock"]["bound_ns"] for host in run_toml(recorded)["system"]["hosts"]] == [GOOD_BOUND_NS] * 2


def test_a_host_whose_clock_is_not_known_well_has_no_meters_and_the_others_have(recorded: Path) -> None:
    notes = completed(recorded, bound_ns=BAD_BOUND_NS)["notes"]
    reason = "the meters of birch are incomplete: its clock is known to 300 ms only, over a slow network; its records"
    assert any(note.startswith(reason) for note in notes)
    after = loadgo.tables(recorded)
    assert set(after.time["host"].cast(pl.String)) == {"ash"}
    lost = after.lost.filter(pl.col("what").cast(pl.String) == "meters")
    assert lost.filter(pl.col("reason").str.starts_with(reason))["host"].cast(pl.String).to_list() == ["birch"]
    assert len(loadgo.tables(recorded / FLEET_FOLDER / "birch").time) > 0
    assert not (recorded / FLEET_FOLDER / "ash").exists()


def test_a_lost_host_is_in_run_toml_and_its_meters_until_then_in_the_tables(recorded: Path) -> None:
    completed(recorded, loss=HostLoss("the agent was lost", ORIGIN_NS + 2_500_000_000))
    ash, birch = run_toml(recorded)["system"]["hosts"]
    assert "lost" not in ash
    assert (birch["lost"], birch["lost_at_s"]) == ("the agent was lost", 2.5)
    assert set(loadgo.tables(recorded).time["host"].cast(pl.String)) == {"ash", "birch"}


def test_a_run_that_broke_off_says_where_its_meters_are(recorded: Path) -> None:
    shutil.rmtree(recorded / FLEET_FOLDER / "ash")
    tell_unplaced_hosts(recorded, {name: Address(name) for name in AHEAD_NS})
    reason = f"the run broke off: the meters of birch are in {FLEET_FOLDER}, by their own clocks"
    lost = loadgo.tables(recorded).lost.filter(pl.col("reason") == reason)
    assert lost["host"].cast(pl.String).to_list() == ["here"]
    assert run_toml(recorded)["notes"][-1] == reason


@pytest.mark.parametrize(
    ("text", "keywords", "reason"),
    [
        ("", {"limit": "memory=1G"}, "`limit` is for users of this host"),
        ("", {"draws": 3}, "`draws` predicts with a simulated machine"),
        ("", {"without_lost": 2}, "`without_lost=2` of 2 hosts: 0 to 1 are possible"),
        ("", {"without_lost": "one"}, "write it as a whole number, such as 1"),
        ("", {"login": "sh"}, "`login` is for this host"),
        ('login = "ssh other"', {}, "leave out `login` in the script"),
    ],
)
def test_what_a_run_on_several_hosts_does_not_have_is_refused(
    text: str, keywords: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "work.toml").write_text(f'name = "work"\n{text}\nlines = ["true"]\n')
    hosts = tmp_path / "hosts.toml"
    hosts.write_text('[[hosts]]\naddress = "ssh://ash"\n[[hosts]]\naddress = "ssh://birch"\n')
    with pytest.raises(BadArgument, match=reason):
        loadgo.run(tmp_path / "work.toml", on=str(hosts), users=2, out=tmp_path / "kept", **keywords)


def test_a_number_of_hosts_that_may_be_lost_is_for_a_list_of_hosts(tmp_path: Path) -> None:
    (tmp_path / "work.toml").write_text('name = "work"\nlines = ["true"]\n')
    with pytest.raises(BadArgument, match="`without_lost` is for a run on several hosts"):
        loadgo.run(tmp_path / "work.toml", without_lost=1, out=tmp_path / "kept")
