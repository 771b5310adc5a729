"""The table `memory`: who holds it and what is taken from whom, on a simulated machine and on this host short of it."""

import os

import loadgo
import polars as pl
import pytest
from loadgo.records.query import query
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, tables
from support.outside import Bench
from support.paging_host import PAGES, counted, paging_alone
from support.places import TESTS
from support.small_machine import laid

FRAMES, WIRED, PAGE = 64, 16, 4096
LIMIT_BYTES = 20 << 20
DEVICE_BYTES = (256 << 20) + os.getpid() % 1000 * PAGE
"""The size of the paging device, which no run beside this one has."""
HOLDS = """\
name   = "holding"
login  = "sh"
passes = 1
think  = "none"
status = 0
needs  = ["python3"]

[[lines]]
as   = "hold"
type = "python3 hold.py"

[files]
"hold.py" = '''
import os, time
held = bytearray(24 << 20)
for round in range(1, 4):
    for page in range(0, len(held), 4096):
        held[page] = round
    open(f"PLACE/{os.getpid()}", "w").close()
    while len(os.listdir("PLACE")) < 2:
        time.sleep(0.1)
    time.sleep(1.1)
'''
"""
"""A program that writes 24 MB three times, and lives for several spans of the sampler. Two of it exceed the limit.

Each waits for the other to hold its memory, too: on a busy host one could be over before the other begins.
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """Six users on the small machine, which has 64 frames."""
    folder = tmp_path_factory.mktemp("machine")
    script, machine = laid(folder)
    return loadgo.tables(loadgo.run(script, on=str(machine), users=6, out=folder / "run"))


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, dict[str, int]]:
    """Two users of a program with half of its memory, paged to zram; and what the kernel counted meanwhile."""
    bench = Bench(tmp_path_factory.mktemp("memory"))
    bench.homes.mkdir()
    place = bench.folder / "place"
    place.mkdir()
    script = bench.script(HOLDS.replace("PLACE", str(place)))
    with paging_alone():
        before = counted()
        bench.run(script, "--users", "2", "--limit", f"memory={LIMIT_BYTES},swap=zram:{DEVICE_BYTES}")
        return bench, {name: count - before[name] for name, count in counted().items()}


def of_users(run: Tables) -> pl.DataFrame:
    return run.memory.filter(pl.col("user").is_not_null())


def of(run: Tables, who: str) -> pl.DataFrame:
    """The rows of an owner that is not a single user."""
    return run.memory.filter((pl.col("who").cast(pl.String) == who) & pl.col("user").is_null())


def total(frame: pl.DataFrame, column: str) -> int:
    return int(frame[column].sum())


def held_by_users(run: Tables) -> pl.DataFrame:
    """Memory that each user held at the end of each span, by the last reading: on a busy host users take turns."""
    users = of_users(run).select("user", "at_ns", "resident_bytes").sort("at_ns")
    spans = of(run, "free").select("at_ns").sort("at_ns").join(users.select("user").unique(), how="cross")
    return spans.join_asof(users, on="at_ns", by="user", check_sortedness=False)


def sums(run: Tables) -> pl.DataFrame:
    """The memory that all owners hold at the end of each span, and the total memory."""
    owners = [run.memory.filter(pl.col("user").is_null()), held_by_users(run)]
    rows = pl.concat([frame.select("at_ns", "resident_bytes") for frame in owners])
    spans = rows.group_by("at_ns").agg(pl.col("resident_bytes").sum())
    return spans.join(of(run, "free").select("at_ns", "size_bytes"), on="at_ns")


def test_a_simulated_machines_frames_are_all_somebodys_in_each_span(simulated: Tables) -> None:
    span_sums = sums(simulated)
    assert len(span_sums) == simulated.time["at_ns"].n_unique() > 10
    assert set(span_sums["resident_bytes"]) == set(span_sums["size_bytes"]) == {FRAMES * PAGE}
    assert set(of(simulated, "others")["resident_bytes"]) == {WIRED * PAGE}
    assert set(of_users(simulated)["who"]) == {"users"}


def test_what_was_brought_less_what_was_taken_is_what_a_simulated_user_holds(simulated: Tables) -> None:
    taken, brought = (pl.col(name).cast(pl.Int64).cum_sum().over("user") for name in ("taken_pages", "brought_pages"))
    rows = of_users(simulated).sort("user", "at_ns").with_columns(balance=(brought - taken) * PAGE)
    there = rows.filter(pl.col("resident_bytes") > 0)
    assert total(rows, "taken_pages") > 100
    assert len(there) > 50
    assert (there["balance"] == there["resident_bytes"]).all()


def test_the_pages_brought_in_are_the_machines_major_faults(simulated: Tables) -> None:
    faults = simulated.faults.filter((pl.col("kind").cast(pl.String) == "major") & pl.col("bucket_ns").is_null())
    assert total(of_users(simulated), "brought_pages") == total(faults, "count")
    assert total(of_users(simulated), "brought_pages") == total(simulated.interactions, "faults_major")


@PAGES
def test_this_hosts_memory_is_all_somebodys_in_each_span(paged: tuple[Bench, dict[str, int]]) -> None:
    run = paged[0].tables("kept")
    span_sums = sums(run)
    assert len(span_sums) == run.processes["at_ns"].n_unique() > 1
    assert (span_sums["resident_bytes"] == span_sums["size_bytes"]).all()


@PAGES
def test_users_with_too_little_memory_have_the_rest_on_the_paging_device(paged: tuple[Bench, dict[str, int]]) -> None:
    run = paged[0].tables("kept")
    users = of_users(run)
    assert set(users["user"]) == {1, 2}
    together = users.group_by("at_ns").agg(pl.col("resident_bytes", "device_bytes").sum())
    assert together["resident_bytes"].max() <= LIMIT_BYTES  # type: ignore[operator]
    assert together["device_bytes"].max() > LIMIT_BYTES  # type: ignore[operator]
    devices = run.memory.filter(pl.col("size_bytes") == DEVICE_BYTES - PAGE)
    assert all(str(name).startswith("zram") for name in devices["who"])
    both = devices.join(together, on="at_ns", suffix="_of_users").sort("at_ns")
    assert len(both) > 1
    # The device is read before its users, who may page in between; then it has their pages at the next reading.
    held = pl.max_horizontal("device_bytes", pl.col("device_bytes").shift(-1)) + (1 << 20)
    assert both.select((held >= pl.col("device_bytes_of_users") * 0.9).all()).item()


@PAGES
def test_what_is_taken_is_told_of_users_together_and_never_more_than_the_kernel_counts(
    paged: tuple[Bench, dict[str, int]],
) -> None:
    run, grown = paged[0].tables("kept"), paged[1]
    users, others = of(run, "users"), of(run, "others")
    assert of_users(run).select("taken_pages", "brought_pages").null_count().row(0) == (len(of_users(run)),) * 2
    came_back = grown["pswpin"] + grown.get("swpin_zero", 0) + grown.get("zswpin", 0)
    assert 0.5 * came_back < total(users, "brought_pages") <= came_back
    assert 0.3 * grown["pgsteal_anon"] < total(users, "taken_pages")
    assert total(users, "taken_pages") + total(others, "taken_pages") <= grown["pgsteal_anon"] * 1.05 + 256
    assert users["resident_bytes"].null_count() == len(users), "it is in the rows of each"


def test_a_run_of_before_has_an_empty_table_and_a_question_may_be_put_to_it(simulated: Tables) -> None:
    before = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended"
    assert dict(tables(before).memory.schema) == COLUMNS_BY_TABLE["memory"]
    assert tables(before).memory.is_empty()
    assert query("SELECT count(*) AS rows FROM memory", before)["rows"].to_list() == [0]
    assert not simulated.memory.is_empty()
