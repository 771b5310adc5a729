"""Total time: categories are 100 %, and what nobody used is said to be nobody's."""

import dataclasses
from typing import Any

import polars as pl
from loadgo.measures.category_events import events_by_category
from loadgo.measures.meters import meters_of
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.records.phases import Stretch, stretch_of
from loadgo.records.tables import Tables
from support.synthetic import S, empty_run, frame, interaction, run_of
from support.synthetic_meters import FAULTS, PRIMITIVES, SHARES, SPANS, metered_host

CATEGORIES = {"user": 30, "system": 20, "steal": 5, "iowait": 5, "idle": 40}


def run(spans: int = 10, **used: int) -> Tables:
    """Two processors for `spans` seconds, cut as `CATEGORIES` says; `used` is in hundredths of a second a span."""
    time: list[dict[str, Any]] = []
    processes: list[dict[str, Any]] = []
    for i in range(1, spans + 1):
        for processor in (0, 1):
            for name, percent in CATEGORIES.items():
                row = {"at_ns": i * S, "span_ns": S, "processor": processor, "category": name}
                time.append(row | {"time_ns": percent * S // 100})
        processes += [{"at_ns": i * S, "span_ns": S, "who": who, "cpu_ns": n * S // 100} for who, n in used.items()]
    rows = [interaction(1, at, 0.5) for at in range(1, spans)]
    return dataclasses.replace(run_of(rows), time=frame(time, "time"), processes=frame(processes, "processes"))


def total(tables: Tables, stretch: Stretch | None = None) -> TotalTime:
    """The total time of a run that measured it."""
    found = total_time_of(tables, stretch or stretch_of(tables, "all"))
    assert found is not None
    return found


def test_the_categories_are_all_of_every_processors_time() -> None:
    found = total(run(users=50, driver=10, meters=5))
    assert found.total_ns == sum(category.time_ns for category in found.categories)
    assert found.total_ns == found.span_ns * 2
    assert [category.name for category in found.categories] == ["user", "system", "steal", "iowait", "idle"]
    assert found.processors == ("0", "1")


def test_idle_stolen_and_disk_waiting_time_is_not_busy() -> None:
    found = total(run(users=50, driver=10, meters=5))
    assert found.busy_share == 0.5


def test_unattributed_is_what_neither_users_nor_driver_nor_meters_used() -> None:
    account = total(run(users=50, driver=10, meters=5)).account
    spans = account.busy_ns // S
    assert account.unattributed_ns == spans * (100 - 65) * S // 100
    assert account.resolution_ns == 40_000_000


def test_unattributed_is_not_known_when_the_users_were_not_measured() -> None:
    account = total(run(driver=10)).account
    assert account.users_ns is None
    assert account.unattributed_ns is None


def test_only_spans_wholly_in_the_stretch_count() -> None:
    tables = run(spans=10, users=50, driver=10)
    stretch = dataclasses.replace(stretch_of(tables, "all"), start_ns=S // 2, end_ns=4 * S)
    assert total(tables, stretch).span_ns == 3 * S


def test_a_simulated_machine_counts_without_ticks() -> None:
    tables = dataclasses.replace(run(users=50, driver=10), conditions={"system": {"kind": "machine"}})
    assert total(tables).account.resolution_ns == 0


def test_time_that_was_not_measured_is_none() -> None:
    assert total_time_of(empty_run(), stretch_of(empty_run())) is None


def metered(**used: int) -> Tables:
    """A host with everything metered; `used` is who used how many seconds of all of it."""
    host = metered_host()
    processes = [{"at_ns": S, "span_ns": S, "who": who, "cpu_ns": seconds * S} for who, seconds in used.items()]
    return dataclasses.replace(host, processes=frame(processes, "processes"))


def test_the_meters_account_is_exact_and_all_of_the_wall_time() -> None:
    found = total(metered(users=50, driver=2, meters=1))
    assert found.kind == "meters"
    assert found.account.resolution_ns == 0
    assert found.total_ns == found.wall_ns == found.span_ns * 2
    assert sum(category.time_ns for category in found.categories if not category.busy) == found.category_time_ns(
        *(name for name in SHARES if name.startswith("idle"))
    )


def test_the_laboratory_is_the_driver_the_threads_that_sample_and_the_instrument() -> None:
    found = total(metered(users=50, driver=2, meters=1))
    assert found.account.instrument_ns == found.category_time_ns("meters")
    assert found.account.laboratory_ns == 3 * S + found.category_time_ns("meters")


def test_the_instruments_time_is_in_that_of_whoever_it_ran_for() -> None:
    account = total(metered(users=50, driver=2, meters=1)).account
    assert account.unattributed_ns == account.busy_ns - 53 * S


def test_a_machine_has_no_laboratory() -> None:
    tables = dataclasses.replace(run(users=50, supervisor=30), conditions={"system": {"kind": "machine"}})
    assert total(tables).account.laboratory_ns is None


def test_what_is_counted_gives_each_its_time() -> None:
    tables = metered(users=50)
    stretch = stretch_of(tables, "all")
    found = total_time_of(tables, stretch, events_by_category(meters_of(tables, stretch)))
    assert found is not None
    by = {category.name: category for category in found.categories}
    assert by["getwork"].count == SPANS * 5_000
    assert by["getwork"].each_ns == by["getwork"].time_ns / (SPANS * 5_000)
    assert by["segment fault"].count == SPANS * FAULTS["segment"][0]
    assert by["primitive"].count == SPANS * sum(count for count, _, _ in PRIMITIVES.values())
    assert (by["user"].count, by["idle zero"].each_ns) == (None, None)


def test_processes_by_name_are_parts_of_the_busy_time_and_not_more_of_it() -> None:
    tables = run(users=50, driver=10, meters=5)
    named = [{"at_ns": S, "span_ns": S, "who": who, "cpu_ns": S, "user": user} for who, user in (("cc1", 1), ("sh", 2))]
    more = pl.concat([tables.processes, frame(named, "processes")])
    assert total(dataclasses.replace(tables, processes=more)).account == total(tables).account
