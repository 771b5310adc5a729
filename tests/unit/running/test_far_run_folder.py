"""A run on another host, without one: what it refuses, and how records from there come onto the run's clock."""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument
from loadgo.hosts.address import Address
from loadgo.hosts.clock import Exchange, FarClock
from loadgo.records.runs import FAR_FOLDER
from loadgo.running.elsewhere.metering import FarMeteringEnd
from loadgo.running.elsewhere.other_host import log_in_command
from loadgo.running.elsewhere.run_folder import complete_run, tell_unplaced
from support.places import PROJECT

FAR = "ssh://far"
AHEAD_NS = 10**15
"""The clock there minus the clock here."""
ORIGIN_NS = 7 * 10**12
"""The beginning of the run, on the clock here."""
EARLIER_NS = 1_500_000_000
"""The metering began so long before the run."""


def clock(bound_ns: int) -> FarClock:
    """A clock that is known with this bound."""
    half = bound_ns - 1
    sent_ns = ORIGIN_NS - half
    came_ns = sent_ns + half + AHEAD_NS
    return FarClock((Exchange("beginning", sent_ns, came_ns, came_ns, sent_ns + 2 * half),))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The folder of a run whose host was metered, with the same records again as those of an agent."""
    folder = tmp_path / "kept"
    shutil.copytree(RECORDED, folder / FAR_FOLDER)
    shutil.copytree(RECORDED, folder, dirs_exist_ok=True)
    return folder


RECORDED = PROJECT / "tests" / "runs" / "reported" / "live-exact"


def completed(folder: Path, bound_ns: int, failure: str = "") -> dict[str, Any]:
    ended = FarMeteringEnd(ORIGIN_NS + AHEAD_NS - EARLIER_NS, failure, ("a note",), ())
    result = {"origin_ns": ORIGIN_NS, "notes": [], "left_behind": []}
    return complete_run(folder, Address("far"), result, ended, clock(bound_ns))


def test_records_are_placed_on_the_run_s_clock(recorded: Path) -> None:
    before = loadgo.tables(recorded).time
    assert completed(recorded, 50_000)["notes"] == ["a note"]
    after = loadgo.tables(recorded).time
    kept = before.filter(pl.col("at_ns") >= pl.col("span_ns") + EARLIER_NS)
    assert 0 < len(kept) < len(before)
    assert after["at_ns"].to_list() == [at - EARLIER_NS for at in kept["at_ns"]]
    assert after["time_ns"].to_list() == kept["time_ns"].to_list()
    assert not (recorded / FAR_FOLDER).exists()


def test_what_users_did_in_the_first_second_is_kept(recorded: Path) -> None:
    """The span of that second had begun before the run, and no user is there before the run."""
    path = recorded / FAR_FOLDER / "faults.parquet"
    before = pl.read_parquet(path)
    straddles = (pl.col("at_ns") > EARLIER_NS) & (pl.col("at_ns") < pl.col("span_ns") + EARLIER_NS)
    first, whole = (before.filter(straddles & pl.col("user").is_not_null() == owned) for owned in (True, False))
    assert 0 < first["count"].sum() < before["count"].sum()
    assert not whole.filter(straddles).is_empty()
    completed(recorded, 50_000)
    after = loadgo.tables(recorded).faults
    of_first = after.filter(pl.col("at_ns") == pl.col("span_ns"))
    assert of_first["user"].null_count() == 0
    assert of_first["at_ns"].to_list() == [at - EARLIER_NS for at in first["at_ns"]]
    assert of_first["count"].to_list() == first["count"].to_list()


def test_records_have_no_place_by_a_clock_that_is_not_known_well(recorded: Path) -> None:
    before = loadgo.tables(recorded).time
    _, reason = completed(recorded, 300_000_000)["notes"]
    assert "its clock is known to 300 ms only" in reason
    tables = loadgo.tables(recorded)
    assert tables.time.equals(before), "the run's own table stays as it is"
    assert "meters" in tables.lost["what"].cast(pl.String).to_list()
    assert len(loadgo.tables(recorded / FAR_FOLDER).time) == len(before)
    assert tomllib.loads((recorded / "run.toml").read_text())["clock"]["bound_ns"] == 300_000_000


def test_a_clock_that_is_not_known_well_is_the_reason_why_usage_is_not_known(recorded: Path) -> None:
    path = recorded / "run.toml"
    path.write_text(re.sub(r'^cpu = ".*"$', 'cpu = ""', path.read_text(), flags=re.MULTILINE))
    completed(recorded, 300_000_000)
    note, *_ = tomllib.loads(path.read_text())["usage"]["notes"]
    assert note.startswith(f"what each interaction used on {FAR} is not known: its clock is known to 300 ms only")


def test_meters_that_break_off_are_a_loss(recorded: Path) -> None:
    _, reason = completed(recorded, 50_000, "the agent was lost")["notes"]
    assert reason == f"the meters of {FAR} are incomplete: the agent was lost"
    lost = loadgo.tables(recorded).lost
    assert lost.filter(pl.col("reason") == reason)["count"].to_list() == [1]


def test_losses_that_the_agent_could_write_into_its_description_alone_are_the_run_s(recorded: Path) -> None:
    with (recorded / FAR_FOLDER / "run.toml").open("a") as far_toml:
        far_toml.write('\n[[lost]]\nat_ns = 2500000000\nwhat = "meters"\ncount = 7\nreason = "no space left"\n')
    completed(recorded, 50_000)
    lost = loadgo.tables(recorded).lost.filter(pl.col("reason") == "no space left")
    assert (lost["count"].to_list(), lost["at_ns"].to_list()) == ([7], [10**9])


@pytest.mark.parametrize("name", ["at_ns", "span_ns"])
def test_instants_that_no_clock_reaches_are_left_out(name: str, recorded: Path) -> None:
    path = recorded / FAR_FOLDER / "time.parquet"
    before = pl.read_parquet(path)
    wild = before.tail(1).with_columns(pl.lit(2**64 - 1, dtype=before.schema[name]).alias(name))
    pl.concat([before, wild]).write_parquet(path)
    completed(recorded, 50_000)
    kept = before.filter(pl.col("at_ns") >= pl.col("span_ns") + EARLIER_NS)
    assert len(loadgo.tables(recorded).time) == len(kept)


def test_a_run_that_broke_off_says_where_its_meters_are(recorded: Path) -> None:
    tell_unplaced(recorded, Address("far"))
    reason = f"the run broke off: the meters of {FAR} are in {FAR_FOLDER}, by its own clock"
    assert loadgo.tables(recorded).lost.filter(pl.col("reason") == reason)["count"].to_list() == [1]
    assert tomllib.loads((recorded / "run.toml").read_text())["notes"][-1] == reason


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "work.toml"
    path.write_text(f'name = "work"\n{text}\nlines = ["true"]\n')
    return path


@pytest.mark.parametrize(
    ("text", "keywords", "reason"),
    [
        ("", {"limit": "memory=1G"}, "`limit` is for users of this host"),
        ("", {"set": ["a=1"]}, "`set` changes a simulated machine"),
        ("", {"draws": 3}, "`draws` predicts with a simulated machine"),
        ('login = "su - guest"', {}, "leave out `login` in the script"),
        ('login = "/usr/bin/ssh other"', {}, "leave out `login` in the script"),
        ('beside = { SERVER = "server" }', {}, "the script starts programs beside its users"),
    ],
)
def test_what_a_run_on_another_host_does_not_have_is_refused(
    text: str, keywords: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(BadArgument, match=reason):
        loadgo.run(script(tmp_path, text), on=FAR, **keywords)


def test_sudo_and_other_hosts_are_for_the_calls_that_have_them() -> None:
    with pytest.raises(BadArgument, match="`sudo` is for another host"):
        loadgo.run("light", sudo=True)
    with pytest.raises(BadArgument, match="`sudo` is for another host"):
        loadgo.capacity("light", sudo=True, target="p90 < 2s")
    with pytest.raises(BadArgument, match="`limit` is for users of this host"):
        loadgo.capacity("light", on=FAR, limit="cpus=1", target="p90 < 2s")
    with pytest.raises(BadArgument, match="`on` is for a host without a run"), loadgo.watch("last", on=FAR):
        pass


def test_users_log_in_by_a_connection_of_their_own() -> None:
    command = log_in_command(Address("far", "ann", 2222), "sh")
    assert "ControlPath=none" in command
    assert command.endswith("-l ann -p 2222 -- far")
    assert log_in_command(Address("far"), "bash -i").endswith("-- far 'bash -i'")
