"""The run folder of a run with several drivers, without them: rows of each on the run's clock, and who was lost."""

import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import loadgo
import polars as pl
import pytest
from loadgo import _loadgo
from loadgo.hosts.address import Address
from loadgo.hosts.clock import Exchange, FarClock
from loadgo.hosts.fleet import FleetHost, UserRange
from loadgo.measures.run_warnings import facts_in, invalid_warnings, run_warnings
from loadgo.measures.summary import Summary, summarize
from loadgo.records.following import follow
from loadgo.records.tables import Tables
from loadgo.running.elsewhere.driven_run_folder import (
    DrivenRun,
    begin_driven_run,
    complete_driven_run,
    fail_driven_run,
    read_run_toml,
)
from loadgo.running.elsewhere.driving import FarDriving, FarDrivingEnd
from loadgo.running.host import DEFAULT_DRIVER, host_options
from support.places import PROJECT

RECORDED = PROJECT / "tests" / "runs" / "reported" / "live-exact"
"""A run of four users, whose records are also those of each driver here, for its own users."""
USERS = {"ash": UserRange(1, 1), "birch": UserRange(2, 4)}
AHEAD_NS = {"ash": 10**15, "birch": 3 * 10**15}
"""The clock of each driver's host minus the clock here."""
LATER_NS = {"ash": 0, "birch": 700_000_000}
"""Time from the run's beginning to that of the driver's records."""
BOUND_NS = 50_000


@dataclass(frozen=True)
class Driven:
    """A run whose drivers have recorded all."""

    run: DrivenRun
    ends: list[FarDrivingEnd]

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.run.place

    def completed(self, ends: list[FarDrivingEnd] | None = None, **how: Any) -> dict[str, Any]:
        """Completes the run."""
        return complete_driven_run(self.run, ends or self.ends, **{"was_stopped": False, **how})

    def with_loss(self, at_ns: int = 5_000_000_000) -> list[FarDrivingEnd]:
        """The ends of a run whose driver birch was lost at this instant, before its users left."""
        place = self.folder / "drivers" / "birch"
        for table, column in (("interactions", "sent_ns"), ("sessions", "ended_ns"), ("phases", "at_ns")):
            frame = pl.read_parquet(place / f"{table}.parquet")
            frame.filter(pl.col(column) < at_ns - LATER_NS["birch"]).write_parquet(place / f"{table}.parquet")
        ash, birch = self.ends
        lost_ns = self.run.origin_ns + at_ns
        return [
            ash,
            replace(
                birch, outcome="", lost="its network is cut", lost_ns=lost_ns, counts=dict.fromkeys(birch.counts, 0)
            ),
        ]


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Driven]:
    """A run with two drivers."""
    folder = tmp_path / "kept"
    options: dict[str, Any] = {
        **host_options((), None, None, DEFAULT_DRIVER),
        "script": "work.toml",
        "command": [],
        "users": 4,
        "passes": 1,
        "duration_s": None,
        "warm_up_s": None,
        "until": None,
        "arrivals_per_second": None,
        "seed": 1,
        "meters": "none",
        "other_host": '[system]\nkind = "host"\nname = "ssh://far"\nlogin = "ssh far"\n',
        "other_host_users": [(4, "ssh far", None, None)],
    }
    clocks = {name: clock(name) for name in USERS}
    origin_ns = dict.fromkeys(USERS, 0)
    drivings = [
        SimpleNamespace(host=host(name), users=users, origin_ns=0, known_clock=clocks[name])
        for name, users in USERS.items()
    ]
    run = begin_driven_run(
        (RECORDED / "script.toml").read_text(), options, folder, cast("list[FarDriving]", drivings), 0
    )
    run.begins_ns = run.origin_ns + 520_361_031
    for name in USERS:
        origin_ns[name] = run.origin_ns + LATER_NS[name] + AHEAD_NS[name]
        lay_records(folder / "drivers" / name, USERS[name])
    run_toml = read_run_toml(folder)
    for entry in run_toml["drivers"]:
        entry["shift_ns"] = LATER_NS[entry["name"]]
    import tomlkit

    (folder / "run.toml").write_text(tomlkit.dumps(run_toml))
    counts = {"interactions": 0, "logged_in": 2, "done": 2, "died": 0, "refused": 0}
    ends = [
        FarDrivingEnd(
            host(name), users, origin_ns[name], clocks[name], "done", counts, "", 0, ("a note",), ("a thing",)
        )
        for name, users in USERS.items()
    ]
    yield Driven(run, ends)
    run.folder.close()


def host(name: str) -> FleetHost:
    return FleetHost(name, Address(name), 1)


def clock(name: str) -> FarClock:
    """A clock that is known within `BOUND_NS`."""
    came_ns = BOUND_NS - 1 + AHEAD_NS[name]
    return FarClock((Exchange("beginning", 0, came_ns, came_ns, 2 * (BOUND_NS - 1)),))


def lay_records(place: Path, users: UserRange) -> None:
    """Copies the recorded run, with the rows of these users alone."""
    shutil.copytree(RECORDED, place)
    for table in ("interactions", "sessions"):
        rows = pl.read_parquet(place / f"{table}.parquet").filter(pl.col("user").is_between(users.first, users.last))
        rows.write_parquet(place / f"{table}.parquet")


def recorded(user: int) -> pl.DataFrame:
    return pl.read_parquet(RECORDED / "interactions.parquet").filter(pl.col("user") == user).sort("sent_ns")


def summary_of(folder: Path) -> Summary:
    return summarize(loadgo.tables(folder))


def test_rows_of_all_drivers_are_in_one_folder_on_its_clock(driven: Driven) -> None:
    result = driven.completed()
    tables, run_toml = loadgo.tables(driven.folder), tomllib.loads((driven.folder / "run.toml").read_text())
    assert result["outcome"] == run_toml["outcome"] == "done"
    assert result["interactions"] == len(tables.interactions) == 36
    assert (result["done"], result["died"]) == (4, 0)
    assert result["left_behind"] == ["ash: a thing", "birch: a thing"]
    assert {"ash: a note", "birch: a note"} <= set(result["notes"])
    assert sorted(path.name for path in driven.folder.iterdir() if path.suffix != ".parquet") == [
        "run.toml",
        "script.toml",
    ]
    for name, users in USERS.items():
        for user in range(users.first, users.last + 1):
            own, before = tables.interactions.filter(pl.col("user") == user).sort("sent_ns"), recorded(user)
            assert set(own["driver"].cast(pl.String)) == {name}
            for column in ("planned_ns", "sent_ns", "first_output_ns", "ready_ns"):
                assert (own[column] - before[column]).drop_nulls().unique().to_list() == [LATER_NS[name]], column
            assert own["think_ns"].to_list() == before["think_ns"].to_list()
    assert tables.sessions.sort("user")["user"].to_list() == [1, 2, 3, 4]
    assert tables.lost.is_empty()
    ash, birch = run_toml["drivers"]
    assert birch["steady_s"] == pytest.approx(ash["steady_s"] + 0.7)
    assert birch["clock"]["bound_ns"] == BOUND_NS
    assert ash["lines"] + birch["lines"] == len(tables.interactions.filter(pl.col("phase").cast(pl.String) == "steady"))
    phases = dict(tables.phases.select(pl.col("phase").cast(pl.String), "at_ns").rows())
    assert phases["steady"] == 1_326_025_246 + LATER_NS["birch"] + BOUND_NS
    assert phases["ramp-down"] == 5_141_042_074 - BOUND_NS


def test_the_worst_of_the_drivers_is_judged_and_named(driven: Driven) -> None:
    place = driven.folder / "drivers" / "birch" / "interactions.parquet"
    late = pl.col("planned_ns") - 20_000_000
    pl.read_parquet(place).with_columns(late).write_parquet(place)
    driven.completed()
    summary = summary_of(driven.folder)
    assert not summary.driver.valid
    assert (summary.driver.name, summary.driver.late_names) == ("birch", ("birch",))
    by_name = {driver.name: driver for driver in summary.drivers}
    assert (by_name["birch"].lateness_p99_ns or 0) >= 20_000_000 > (by_name["ash"].lateness_p99_ns or 0)
    (fault,) = invalid_warnings(facts_in(summary))
    assert fault.startswith("INVALID: birch: ")


def test_users_of_a_lost_driver_are_losses_and_the_run_is_invalid(driven: Driven) -> None:
    result = driven.completed(driven.with_loss())
    tables = loadgo.tables(driven.folder)
    assert result["outcome"] == "done"
    rows = tables.lost.select("user", "at_ns", pl.col("what", "driver").cast(pl.String)).sort("user").rows()
    assert rows == [(user, 5_000_000_000, "session", "birch") for user in (2, 3, 4)]
    assert "birch, which drove the user, is lost: its network is cut" in tables.lost["reason"].to_list()
    stays = tables.sessions.filter(pl.col("outcome").cast(pl.String) == "died").sort("user")
    assert stays.select("user", "ready_ns", "ended_ns").rows() == [
        (user, 520_361_031, 5_000_000_000) for user in (2, 3, 4)
    ]
    summary = summary_of(driven.folder)
    assert [driver.lost is not None for driver in summary.drivers] == [False, True]
    warnings = invalid_warnings(facts_in(summary))
    assert any("INVALID: the driver birch was lost 5.00 s after the run's beginning" in text for text in warnings)
    assert not any(loss.tolerated for loss in summary.losses)


def test_a_run_may_count_without_a_lost_driver(driven: Driven) -> None:
    driven.completed(driven.with_loss())
    path = driven.folder / "run.toml"
    path.write_text(path.read_text().replace("without_lost = 0", "without_lost = 1"))
    summary = summary_of(driven.folder)
    assert all(loss.tolerated for loss in summary.losses)
    assert invalid_warnings(facts_in(summary)) == []
    assert any("The run counts without it" in text for text in run_warnings(facts_in(summary)))


def test_a_run_that_breaks_off_keeps_what_came_and_says_why(driven: Driven) -> None:
    fail_driven_run(driven.run, driven.ends, ValueError("the callback is wrong"))
    tables = loadgo.tables(driven.folder)
    assert tables.outcome == "failed"
    assert "the run failed: the callback is wrong" in tables.conditions["notes"]
    assert len(tables.interactions) == 36


def test_a_run_is_read_while_it_goes_and_the_clocks_are_as_at_its_beginning(driven: Driven) -> None:
    under_way = loadgo.tables(driven.folder)
    assert under_way.outcome == "running"
    driven.run.folder.close()
    killed = loadgo.tables(driven.folder)
    assert killed.outcome == "killed"
    driven.completed()
    after = loadgo.tables(driven.folder)
    assert same_rows(under_way, after)
    assert same_rows(killed, after)


def same_rows(one: Tables, other: Tables) -> bool:
    columns = ["user", "driver", "planned_ns", "sent_ns", "ready_ns"]
    pairs = (
        (one.interactions, other.interactions, columns),
        (one.sessions, other.sessions, ["user", "driver", "ended_ns"]),
    )
    return all(left.select(names).equals(right.select(names)) for left, right, names in pairs)


def test_following_a_run_of_several_drivers_is_reading_it(driven: Driven) -> None:
    for name in USERS:
        place = driven.folder / "drivers" / name
        for path in place.glob("*.parquet"):
            frame = pl.read_parquet(path)
            frame.cast({pl.Categorical: pl.String}).write_ipc_stream(
                path.with_suffix(".arrows"), compat_level=pl.CompatLevel.oldest()
            )
            path.unlink()
    following = follow(driven.folder)
    rows = following.new_rows()
    assert not following.ended
    read = loadgo.tables(driven.folder)
    assert (
        rows["interactions"].sort("user", "sent_ns")["sent_ns"].to_list()
        == read.interactions.sort("user", "sent_ns")["sent_ns"].to_list()
    )
    assert set(rows["interactions"]["driver"].cast(pl.String)) == {"ash", "birch"}
    phases = rows["phases"].select(pl.col("phase").cast(pl.String), "at_ns").rows()
    assert phases == read.phases.select(pl.col("phase").cast(pl.String), "at_ns").rows()
    assert "interactions" not in following.new_rows(), "each row comes once"


def test_a_hostile_driver_s_numbers_do_not_break_the_folder(driven: Driven) -> None:
    place = driven.folder / "drivers" / "birch" / "interactions.parquet"
    wild = pl.read_parquet(place).with_columns(
        pl.lit(2**64 - 1, pl.UInt64).alias("sent_ns"), pl.lit(1, pl.UInt32).alias("user")
    )
    wild.write_parquet(place)
    result = driven.completed()
    tables = loadgo.tables(driven.folder)
    assert set(tables.interactions["user"]) == {1}
    assert any("27 rows of birch are left out" in note for note in result["notes"])


def test_the_folder_is_locked_while_the_run_goes(driven: Driven) -> None:
    assert _loadgo.is_being_written(driven.folder)
    driven.completed()
    assert not _loadgo.is_being_written(driven.folder)
